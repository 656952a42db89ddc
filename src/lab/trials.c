/* trials.c - see trials.h. */
#include "lab/trials.h"

#include <string.h>
#include "base/base.h"
#include "lab/workers.h"

static const double REPORT_SECONDS = 0.1;

tarry_status tarry__trials_create(tarry__trials *t, size_t count,
                                  size_t answer_size)
{
    memset(t, 0, sizeof *t);
    t->count = count;
    t->answer_size = answer_size;
    t->answer = tarry__base_zalloc(count, answer_size);
    t->known = tarry__base_zalloc(count, sizeof *t->known);
    t->skip = tarry__base_zalloc(count, sizeof *t->skip);
    return t->answer && t->known && t->skip ? TARRY_OK : TARRY_NO_MEMORY;
}

void tarry__trials_clear(tarry__trials *t)
{
    tarry__base_free(t->answer);
    tarry__base_free(t->known);
    tarry__base_free(t->skip);
    memset(t, 0, sizeof *t);
}

static double cost_of(const tarry__trials *t, size_t trial)
{
    return t->cost != NULL ? t->cost(t, trial) : 1;
}

static size_t place_of(const tarry__trials *t, size_t task)
{
    return t->order != NULL ? t->order(t, task) : task;
}

void tarry__trials_put(tarry__trials *t, size_t trial, const void *answer)
{
    memcpy(t->answer + trial * t->answer_size, answer, t->answer_size);
    t->n_known += !t->known[trial];
    t->known[trial] = true;
}

/* Whoever comes by after a while reports, if nobody else is at it. */
bool tarry__trials_tick(void *trials, uint64_t rounds)
{
    tarry__trials *t = trials;
    atomic_fetch_add(&t->rounds, rounds);
    if (t->observer->progress == NULL ||
        atomic_flag_test_and_set(&t->reporting))
        return atomic_load(&t->cancelled);
    const double now = tarry__base_seconds();
    if (now - t->reported > REPORT_SECONDS) {
        t->reported = now;
        if (t->observer->progress(t->observer->context,
                                  atomic_load(&t->spent) / t->total,
                                  atomic_exchange(&t->rounds, 0)))
            atomic_store(&t->cancelled, true);
    }
    atomic_flag_clear(&t->reporting);
    return atomic_load(&t->cancelled);
}

static tarry_status work(void *context, size_t task, void *answer,
                         tarry_error *error)
{
    tarry__trials *t = context;
    return t->play(t, place_of(t, task), answer, error);
}

static tarry_status done(void *context, size_t task, const void *answer,
                         tarry_error *error)
{
    tarry__trials *t = context;
    const size_t trial = place_of(t, task);
    tarry__trials_put(t, trial, answer);
    atomic_store(&t->spent, atomic_load(&t->spent) + cost_of(t, trial));
    if (t->observer->finished == NULL)
        return TARRY_OK;
    return t->observer->finished(t->observer->context, trial, answer, error);
}

/* Rank 0 knows what an earlier job has done; fills `skip` by task. */
static void find_tasks(tarry__trials *t, bool *skip)
{
    double spent = 0;
    tarry__workers_share(t->known, t->count * sizeof *t->known);
    t->total = 0;
    for (size_t task = 0; task < t->count; task++) {
        const size_t trial = place_of(t, task);
        skip[task] = t->known[trial] || t->skip[trial];
        t->total += t->skip[trial] ? 0 : cost_of(t, trial);
        spent += t->known[trial] ? cost_of(t, trial) : 0;
    }
    atomic_store(&t->spent, spent);
}

tarry_status tarry__trials_run(tarry__trials *t, int threads,
                               const tarry__trials_observer *observer,
                               tarry_error *error)
{
    static const tarry__trials_observer nobody;
    bool *skip = tarry__base_alloc(t->count, sizeof *skip);
    if (skip == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    find_tasks(t, skip);
    t->observer = observer != NULL ? observer : &nobody;
    atomic_store(&t->cancelled, false);
    atomic_flag_clear(&t->reporting);
    const tarry__workers_job job = {.count = t->count,
                                    .result_size = t->answer_size,
                                    .context = t,
                                    .work = work,
                                    .done = done,
                                    .skip = skip};
    const tarry_status status = tarry__workers_run(&job, threads, error);
    tarry__base_free(skip);
    return status;
}
