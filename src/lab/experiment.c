/* experiment.c - the trials of an experiment, and what they add up to. */
#include "lab/experiment.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include "base/base.h"
#include "env/world.h"
#include "lab/workers.h"

static const double REPORT_SECONDS = 0.1;

tarry_status tarry__experiment_results_create(tarry__experiment_results *r,
                                              const tarry__experiment *e)
{
    const size_t count = e->n_policies * e->runs;
    memset(r, 0, sizeof *r);
    r->experiment = e;
    r->outcome = tarry__base_zalloc(count, sizeof *r->outcome);
    r->finished = tarry__base_zalloc(count, sizeof *r->finished);
    r->refused = tarry__base_zalloc(e->n_policies, sizeof *r->refused);
    return r->outcome && r->finished && r->refused ? TARRY_OK : TARRY_NO_MEMORY;
}

void tarry__experiment_results_clear(tarry__experiment_results *r)
{
    tarry__base_free(r->outcome);
    tarry__base_free(r->finished);
    tarry__base_free(r->refused);
    memset(r, 0, sizeof *r);
}

/* ---- running --------------------------------------------------------------*/

typedef struct {
    const tarry__experiment *experiment;
    const tarry__experiment_observer *observer;
    tarry__experiment_results *results;
    atomic_uint_fast64_t rounds; /* played and not yet reported */
    atomic_bool cancel;
    atomic_flag reporting;
    double reported; /* when */
} sweep;

/* Whoever comes by after a while reports, if nobody else is at it. */
static bool tick(void *context, uint64_t rounds)
{
    sweep *s = context;
    atomic_fetch_add(&s->rounds, rounds);
    if (s->observer->progress == NULL ||
        atomic_flag_test_and_set(&s->reporting))
        return atomic_load(&s->cancel);
    const double now = tarry__base_seconds();
    if (now - s->reported > REPORT_SECONDS) {
        s->reported = now;
        if (s->observer->progress(s->observer->context,
                                  atomic_exchange(&s->rounds, 0)))
            atomic_store(&s->cancel, true);
    }
    atomic_flag_clear(&s->reporting);
    return atomic_load(&s->cancel);
}

static tarry__sim_trial trial_of(const tarry__experiment *e, size_t i)
{
    return (tarry__sim_trial){.instance = e->instance,
                              .loss = e->loss,
                              .delay = e->delay,
                              .policy = e->policy[i / e->runs],
                              .horizon = e->horizon,
                              .seed = e->seed,
                              .run = (uint32_t)(i % e->runs),
                              .n_grid = e->n_grid,
                              .grid = e->grid};
}

tarry_status tarry__experiment_check(const tarry__experiment *e,
                                     tarry__experiment_results *results,
                                     tarry_error *error)
{
    tarry__world *world;
    tarry_status status = tarry__world_create(e->instance, e->loss, e->delay,
                                              e->seed, 0, &world, error);
    tarry__world_free(world);
    for (size_t p = 0; status == TARRY_OK && p < e->n_policies; p++) {
        const tarry__sim_trial trial = trial_of(e, p * e->runs);
        tarry_error why = {""};
        const tarry_status opened = tarry__sim_check(&trial, &why);
        if (opened == TARRY_NO_MEMORY)
            status = tarry__base_fail(error, opened, "%s", why.text);
        else if (opened != TARRY_OK)
            tarry__base_fail(&results->refused[p], opened, "%s",
                             why.text[0] != '\0' ? why.text
                                                 : tarry_status_text(opened));
    }
    return status;
}

/* Tasks go run by run, so that an experiment broken off has about as many runs
 * of each policy.  This is the place of a task's outcome. */
static size_t place_of(const tarry__experiment *e, size_t task)
{
    return task % e->n_policies * e->runs + task / e->n_policies;
}

static tarry_status work(void *context, size_t task, void *result,
                         tarry_error *error)
{
    sweep *s = context;
    tarry__sim_trial trial =
        trial_of(s->experiment, place_of(s->experiment, task));
    trial.tick = tick;
    trial.tick_context = s;
    return tarry__sim_run(&trial, result, error);
}

static tarry_status done(void *context, size_t task, const void *result,
                         tarry_error *error)
{
    sweep *s = context;
    const size_t i = place_of(s->experiment, task);
    memcpy(&s->results->outcome[i], result, sizeof *s->results->outcome);
    s->results->finished[i] = true;
    s->results->n_finished++;
    if (s->observer->finished == NULL)
        return TARRY_OK;
    return s->observer->finished(s->observer->context, i, result, error);
}

/* A slip in the last policy need not wait for the runs of the others. */
static tarry_status check_policies(const tarry__experiment *e,
                                   tarry_error *error)
{
    tarry_status status = TARRY_OK;
    for (size_t p = 0; p < e->n_policies && status == TARRY_OK; p++)
        status = tarry__sim_policy_check(e->policy[p], error);
    return status;
}

tarry_status tarry__experiment_run(const tarry__experiment *e,
                                   const tarry__experiment_observer *observer,
                                   tarry__experiment_results *results,
                                   tarry_error *error)
{
    static const tarry__experiment_observer nobody;
    const size_t count = e->n_policies * e->runs;
    const tarry_status checked = check_policies(e, error);
    if (checked != TARRY_OK)
        return checked;
    bool *skip = tarry__base_alloc(count, sizeof *skip);
    if (skip == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    for (size_t task = 0; task < count; task++) {
        const size_t i = place_of(e, task);
        skip[task] = results->finished[i] ||
                     results->refused[i / e->runs].text[0] != '\0';
    }
    tarry__workers_share(skip, count * sizeof *skip);
    sweep s = {.experiment = e,
               .observer = observer != NULL ? observer : &nobody,
               .results = results,
               .reporting = ATOMIC_FLAG_INIT};
    const tarry__workers_job job = {.count = count,
                                    .result_size = sizeof(tarry__sim_outcome),
                                    .context = &s,
                                    .work = work,
                                    .done = done,
                                    .skip = skip};
    const tarry_status status = tarry__workers_run(&job, e->threads, error);
    tarry__base_free(skip);
    return status;
}

/* ---- summaries ------------------------------------------------------------*/

/* The 97.5 % point of Student's t: exact to four digits up to 10 degrees of
 * freedom, then by the expansion of Fisher and Cornish around the normal. */
double tarry__experiment_student(size_t freedom)
{
    static const double small[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                                   2.4469,  2.3646, 2.3060, 2.2622, 2.2281};
    if (freedom <= 10)
        return small[freedom - 1];
    const double z = 1.959963985, v = (double)freedom, z2 = z * z;
    return z + z * (z2 + 1) / (4 * v) +
           z * (5 * z2 * z2 + 16 * z2 + 3) / (96 * v * v);
}

tarry__experiment_summary tarry__experiment_summarise(const double *values,
                                                      size_t count)
{
    tarry__experiment_summary s = {.count = count};
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    s.mean = count > 0 ? sum / (double)count : 0;
    sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (values[i] - s.mean) * (values[i] - s.mean);
    if (count > 1)
        s.ci95 = tarry__experiment_student(count - 1) *
                 sqrt(sum / (double)(count - 1) / (double)count);
    return s;
}

size_t tarry__experiment_results_pick(const tarry__experiment_results *r,
                                      size_t p, tarry__experiment_pick *pick,
                                      size_t i, double *values)
{
    const size_t runs = r->experiment->runs;
    size_t count = 0;
    for (size_t run = 0; run < runs; run++)
        if (r->finished[p * runs + run])
            values[count++] = pick(&r->outcome[p * runs + run], i);
    return count;
}

size_t tarry__experiment_results_difference(const tarry__experiment_results *r,
                                            size_t p, size_t q, double *values)
{
    const size_t runs = r->experiment->runs;
    size_t count = 0;
    for (size_t run = 0; run < runs; run++)
        if (r->finished[p * runs + run] && r->finished[q * runs + run])
            values[count++] = r->outcome[p * runs + run].regret -
                              r->outcome[q * runs + run].regret;
    return count;
}
