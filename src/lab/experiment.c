/* experiment.c - the trials of an experiment, and what they add up to. */
#include "lab/experiment.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "env/world.h"

tarry_status tarry__experiment_results_create(tarry__experiment_results *r,
                                              const tarry__experiment *e)
{
    memset(r, 0, sizeof *r);
    r->experiment = e;
    r->refused = tarry__base_zalloc(e->n_policies, sizeof *r->refused);
    const tarry_status status = tarry__trials_create(
        &r->trials, e->n_policies * e->runs, sizeof *r->outcome);
    r->outcome = (tarry__sim_outcome *)(void *)r->trials.answer;
    r->finished = r->trials.known;
    return r->refused != NULL ? status : TARRY_NO_MEMORY;
}

void tarry__experiment_results_clear(tarry__experiment_results *r)
{
    tarry__trials_clear(&r->trials);
    tarry__base_free(r->refused);
    memset(r, 0, sizeof *r);
}

/* ---- running --------------------------------------------------------------*/

static tarry__sim_trial trial_of(const tarry__experiment *e, size_t i)
{
    return (tarry__sim_trial){.instance = e->instance,
                              .loss = e->loss,
                              .delay = e->delay,
                              .reports = e->reports,
                              .policy = e->policy[i / e->runs],
                              .own_world = e->own_world,
                              .own_policy = e->own_policy[i / e->runs],
                              .horizon = e->horizon,
                              .seed = e->seed,
                              .run = (uint32_t)(i % e->runs),
                              .n_grid = e->n_grid,
                              .grid = e->grid};
}

const char *tarry__experiment_meaning(const tarry__experiment *e, size_t p)
{
    const tarry__policy_type *type =
        e->own_policy[p] == NULL ? tarry__policy_type_find(e->policy[p]) : NULL;
    tarry__world *world;
    if (type == NULL || type->stands_for == NULL ||
        tarry__world_make(e->own_world, e->instance, e->loss, e->delay, e->seed,
                          0, &world, NULL) != TARRY_OK)
        return NULL;
    const char *meaning =
        type->stands_for(tarry__sim_delays(world, &e->reports));
    tarry__world_free(world);
    return meaning;
}

tarry_status tarry__experiment_check(const tarry__experiment *e,
                                     tarry__experiment_results *results,
                                     tarry_error *error)
{
    tarry__world *world;
    tarry_status status =
        tarry__world_make(e->own_world, e->instance, e->loss, e->delay, e->seed,
                          0, &world, error);
    tarry__world_free(world);
    for (size_t p = 0; status == TARRY_OK && p < e->n_policies; p++) {
        const tarry__sim_trial trial = trial_of(e, p * e->runs);
        tarry_error why = {""};
        const tarry_status opened = tarry__sim_check(&trial, &why);
        if (opened == TARRY_NO_MEMORY || opened == TARRY_IO_ERROR)
            status = tarry__base_fail(error, opened, "%s", why.text);
        else if (opened != TARRY_OK)
            tarry__base_fail(&results->refused[p], opened, "%s",
                             why.text[0] != '\0' ? why.text
                                                 : tarry_status_text(opened));
    }
    return status;
}

/* Trials go run by run, so that an experiment broken off has about as many runs
 * of each policy. */
static size_t order(const tarry__trials *t, size_t i)
{
    const tarry__experiment *e = t->context;
    return i % e->n_policies * e->runs + i / e->n_policies;
}

static tarry_status play(tarry__trials *t, size_t trial, void *answer,
                         tarry_error *error)
{
    tarry__sim_trial one = trial_of(t->context, trial);
    one.tick = tarry__trials_tick;
    one.tick_context = t;
    return tarry__sim_run(&one, answer, error);
}

/* A slip in the last policy need not wait for the runs of the others. */
static tarry_status check_policies(const tarry__experiment *e,
                                   tarry_error *error)
{
    tarry_status status = TARRY_OK;
    for (size_t p = 0; p < e->n_policies && status == TARRY_OK; p++)
        if (e->own_policy[p] == NULL)
            status = tarry__sim_policy_check(e->policy[p], error);
    return status;
}

static bool is_of_part(const tarry__experiment *e, size_t run)
{
    return e->parts < 2 || run % e->parts == e->part;
}

tarry_status tarry__experiment_run(const tarry__experiment *e,
                                   const tarry__trials_observer *observer,
                                   tarry__experiment_results *r,
                                   tarry_error *error)
{
    const tarry_status checked = check_policies(e, error);
    if (checked != TARRY_OK)
        return checked;
    r->trials.context = e;
    r->trials.play = play;
    r->trials.order = order;
    for (size_t i = 0; i < r->trials.count; i++)
        r->trials.skip[i] = r->refused[i / e->runs].text[0] != '\0' ||
                            !is_of_part(e, i % e->runs);
    return tarry__trials_run(&r->trials, e->threads, observer, error);
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
