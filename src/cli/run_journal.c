/* run_journal.c - the journal of `tarry run`: trials of all worlds. */
#include "cli/run.h"

static bool take(void *context, size_t index, const void *outcome)
{
    run_batch *b = context;
    const tarry__experiment *e = &b->plan->experiment;
    const size_t per_world = e->n_policies * e->runs;
    if (index >= b->count * per_world)
        return false;
    tarry__experiment_results *r = &b->results[index / per_world];
    const size_t i = index % per_world;
    r->outcome[i] = *(const tarry__sim_outcome *)outcome;
    r->n_finished += !r->finished[i];
    r->finished[i] = true;
    return true;
}

int run_journal_open(cli_journal *journal, const char *path, run_batch *b)
{
    json_t *heading = json_pack("{s:s, s:o}", "tarry", tarry_version(),
                                "config", run_config(b->plan));
    return cli_journal_open(journal, path, heading, sizeof(tarry__sim_outcome),
                            take, b);
}
