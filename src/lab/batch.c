/* batch.c - see batch.h. */
#include "lab/batch.h"

#include <string.h>
#include "base/base.h"

tarry_status tarry__batch_create(tarry__batch *b, const tarry__batch_plan *plan)
{
    const size_t count = plan->n_worlds > 0 ? plan->n_worlds : 1;
    *b = (tarry__batch){.plan = plan, .count = count};
    b->experiment = tarry__base_alloc(count, sizeof *b->experiment);
    b->results = tarry__base_zalloc(count, sizeof *b->results);
    if (b->experiment == NULL || b->results == NULL)
        return TARRY_NO_MEMORY;
    for (size_t w = 0; w < count; w++) {
        tarry__experiment *e = &b->experiment[w];
        *e = plan->experiment;
        if (plan->n_worlds > 0) {
            e->instance = plan->world[w].instance;
            e->loss = plan->world[w].loss;
            e->delay = plan->world[w].delay;
            e->own_world = plan->world[w].own;
            e->reports = plan->world[w].reports;
        }
        if (tarry__experiment_results_create(&b->results[w], e) != TARRY_OK)
            return TARRY_NO_MEMORY;
    }
    return TARRY_OK;
}

void tarry__batch_clear(tarry__batch *b)
{
    tarry__journal_clear(&b->journal);
    for (size_t w = 0; b->results != NULL && w < b->count; w++)
        tarry__experiment_results_clear(&b->results[w]);
    tarry__base_free(b->results);
    tarry__base_free(b->experiment);
    memset(b, 0, sizeof *b);
}

static bool is_refused(const tarry__batch *b, size_t w, size_t p)
{
    return b->results[w].refused[p].text[0] != '\0';
}

static bool is_refused_everywhere(const tarry__batch *b, size_t p)
{
    for (size_t w = 0; w < b->count; w++)
        if (!is_refused(b, w, p))
            return false;
    return true;
}

/* Says which world is at fault, where there is more than one. */
static tarry_status fail(const tarry__batch *b, tarry_status status,
                         tarry_error *error)
{
    if (error != NULL && b->plan->n_worlds > 0) {
        const tarry_error why = *error;
        tarry__base_fail(error, status, "world %s: %.400s",
                         b->plan->world[b->current].name, why.text);
    }
    return status;
}

tarry_status tarry__batch_check(tarry__batch *b, tarry_error *error)
{
    if (b->plan->n_worlds == 0)
        return TARRY_OK;
    for (b->current = 0; b->current < b->count; b->current++) {
        const tarry_status status = tarry__experiment_check(
            &b->experiment[b->current], &b->results[b->current], error);
        if (status != TARRY_OK)
            return fail(b, status, error);
    }
    for (size_t p = 0; p < b->plan->experiment.n_policies; p++)
        if (is_refused_everywhere(b, p))
            return tarry__base_fail(error, TARRY_BAD_INPUT, "%s",
                                    b->results[0].refused[p].text);
    return TARRY_OK;
}

/* Runs i of all with i % parts == part. */
static size_t runs_of_part(const tarry__experiment *e)
{
    return e->parts < 2 ? e->runs
                        : (e->runs + e->parts - 1 - e->part) / e->parts;
}

size_t tarry__batch_trials(const tarry__batch *b)
{
    const tarry__experiment *e = &b->plan->experiment;
    size_t count = 0;
    for (size_t w = 0; w < b->count; w++)
        for (size_t p = 0; p < e->n_policies; p++)
            count += is_refused(b, w, p) ? 0 : runs_of_part(e);
    return count;
}

size_t tarry__batch_finished(const tarry__batch *b)
{
    size_t count = 0;
    for (size_t w = 0; w < b->count; w++)
        count += b->results[w].trials.n_known;
    return count;
}

/* ---- the journal ----------------------------------------------------------*/

#define FIELD(kind, name) TARRY__JOURNAL_FIELD(tarry__sim_outcome, kind, name)

static const tarry__journal_field fields[] = {
    FIELD(REAL, regret),         FIELD(REAL, seconds),
    FIELD(REAL, sigma_mean),     FIELD(COUNT, sigma_max),
    FIELD(COUNT, sigma_final),   FIELD(COUNT, used),
    FIELD(COUNT, late),          FIELD(COUNT, ignored),
    FIELD(COUNT, lost),          FIELD(COUNT, rounds),
    FIELD(COUNT, first_seen),    FIELD(COUNT, active),
    FIELD(COUNT, best_kept),     FIELD(COUNT, n_phases),
    FIELD(COUNT, phase),         FIELD(REAL, curve),
    FIELD(UNKNOWN, certificate), FIELD(REAL, exploit_gap),
    FIELD(REAL, best_share),
};

/* Case w * policies + p is policy p in world w. */
static void take(void *context, size_t c, size_t run, const void *outcome)
{
    tarry__batch *b = context;
    const tarry__experiment *e = &b->plan->experiment;
    if (run < e->runs)
        tarry__trials_put(&b->results[c / e->n_policies].trials,
                          c % e->n_policies * e->runs + run, outcome);
}

/* A journal knows functions of the caller's by their version alone. */
static tarry_status check_versions(const tarry__batch *b, tarry_error *error)
{
    static const char why[] =
        "a journal cannot see the code of '%s'; give its record a `version`, a "
        "text that changes whenever its code or data do";
    for (size_t w = 0; w < b->count; w++) {
        const tarry__own_world *own = b->experiment[w].own_world;
        if (own != NULL && own->law != NULL && own->law->version == NULL)
            return tarry__base_fail(error, TARRY_BAD_ARGUMENT, why,
                                    own->law->name);
    }
    const tarry__experiment *e = &b->plan->experiment;
    for (size_t p = 0; p < e->n_policies; p++)
        if (e->own_policy[p] != NULL && e->own_policy[p]->version == NULL)
            return tarry__base_fail(error, TARRY_BAD_ARGUMENT, why,
                                    e->policy[p]);
    return TARRY_OK;
}

static uint64_t add_reports(uint64_t key, const tarry__sim_reports *r)
{
    if (r->report != NULL)
        key = tarry__journal_add_text(tarry__journal_add_text(key, "report"),
                                      r->report);
    if (r->default_outcome != NULL)
        key = tarry__journal_add_text(tarry__journal_add_text(key, "default"),
                                      r->default_outcome);
    return key;
}

/* All that decides an outcome save policy and run. */
static tarry_status key_of_world(const tarry__experiment *e, uint64_t *key)
{
    const uint64_t numbers[] = {
        e->horizon, e->seed, e->points,
        e->own_world != NULL ? tarry__own_digest(e->own_world) : 0};
    *key = tarry__base_digest(tarry__journal_begin(), numbers, sizeof numbers);
    *key = tarry__journal_add_text(*key, e->loss);
    *key = add_reports(*key, &e->reports);
    const tarry_status status = tarry__journal_add_part(key, e->instance);
    return status != TARRY_OK ? status : tarry__journal_add_part(key, e->delay);
}

static uint64_t add_policy(uint64_t key, const tarry__experiment *e, size_t p)
{
    const tarry_own_policy *own = e->own_policy[p];
    key = tarry__journal_add_text(key, e->policy[p]);
    return own != NULL ? tarry__journal_add_text(key, own->version) : key;
}

static tarry_status fill_cases(tarry__batch *b)
{
    const size_t n_policies = b->plan->experiment.n_policies;
    tarry_status status =
        tarry__journal_reserve(&b->journal, b->count * n_policies);
    tarry__journal_case *c = b->journal.cases;
    for (size_t w = 0; status == TARRY_OK && w < b->count; w++) {
        const tarry__experiment *e = &b->experiment[w];
        uint64_t key;
        status = key_of_world(e, &key);
        for (size_t p = 0; status == TARRY_OK && p < n_policies; p++, c++) {
            c->key = add_policy(key, e, p);
            c->words = tarry__journal_words(e->instance, e->loss, e->delay,
                                            e->policy[p], e->horizon);
            status = c->words != NULL ? TARRY_OK : TARRY_NO_MEMORY;
        }
    }
    return status;
}

tarry_status tarry__batch_open_journal(tarry__batch *b, const char *path,
                                       tarry_error *error)
{
    tarry__journal_clear(&b->journal);
    b->journal = (tarry__journal){.path = path,
                                  .fields = fields,
                                  .n_fields = sizeof fields / sizeof *fields,
                                  .answer_size = sizeof(tarry__sim_outcome),
                                  .context = b,
                                  .take = take,
                                  .file = -1};
    if (path == NULL)
        return TARRY_OK;
    const tarry_status status = check_versions(b, error);
    if (status != TARRY_OK)
        return status;
    if (fill_cases(b) != TARRY_OK)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    return tarry__journal_open(&b->journal, error);
}

/* ---- running --------------------------------------------------------------*/

static tarry_status keep(void *context, size_t trial, const void *outcome,
                         tarry_error *error)
{
    tarry__batch *b = context;
    const tarry__experiment *e = &b->plan->experiment;
    return tarry__journal_add(&b->journal,
                              b->current * e->n_policies + trial / e->runs,
                              trial % e->runs, outcome, error);
}

static bool watch(void *context, double share, uint64_t rounds)
{
    const tarry__batch *b = context;
    return b->observer->progress(b->observer->context, share, rounds);
}

tarry_status tarry__batch_run(tarry__batch *b,
                              const tarry__trials_observer *observer,
                              tarry_error *error)
{
    const bool watched = observer != NULL && observer->progress != NULL;
    const tarry__trials_observer mine = {b, watched ? watch : NULL, keep};
    b->observer = observer;
    for (b->current = 0; b->current < b->count; b->current++) {
        const tarry_status status = tarry__experiment_run(
            &b->experiment[b->current], &mine, &b->results[b->current], error);
        if (status != TARRY_OK)
            return fail(b, status, error);
    }
    return TARRY_OK;
}
