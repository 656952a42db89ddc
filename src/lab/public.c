/* public.c - the experiments of tarry/experiment.h: a batch with copies of all
 * it was told. */
#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/json.h"
#include "env/recipe.h"
#include "lab/results.h"
#include "tarry/experiment.h"

struct tarry_experiment {
    tarry__batch_plan plan;
    size_t n_worlds;
    const tarry_world *world[TARRY__BATCH_MAX_WORLDS];
    /* Copies of descriptions, names and versions, and of one that is refused.
     */
    char *text[2 * TARRY__EXPERIMENT_MAX_POLICIES + 1];
    size_t n_texts;
    tarry_own_policy own[TARRY__EXPERIMENT_MAX_POLICIES];
    size_t n_own;
    char *journal;
    int (*progress)(void *context, double share);
    void *progress_context;
    bool begun;           /* the batch is there */
    bool partial;         /* not all has been run */
    uint64_t done, total; /* rounds, by whole runs before this call and now */
    tarry__batch batch;
};

tarry_experiment_params tarry_experiment_defaults(void)
{
    return (tarry_experiment_params){
        .horizon = 100000, .runs = 10, .seed = 1, .points = 100};
}

/* ---- making ---------------------------------------------------------------*/

static tarry_status refuse(tarry_error *error, const char *why)
{
    return tarry__base_fail(error, TARRY_BAD_ARGUMENT, "%s", why);
}

static tarry_status check(const tarry_experiment_params *p, tarry_error *error)
{
    if (p->horizon < 2 || p->horizon >= 1ull << 39)
        return refuse(error, "the horizon is not from 2 to 2^39 - 1");
    if (p->runs == 0 || p->runs > 1000000)
        return refuse(error, "runs are not from 1 to 1e6");
    if (p->points == 0 || p->points > TARRY__SIM_MAX_GRID)
        return refuse(error, "points are not from 1 to 256");
    if (p->threads < 0 || p->threads > 1024)
        return refuse(error, "threads are not from 0 to 1024");
    if (p->parts > 1 && p->part >= p->parts)
        return refuse(error, "the part is not below the number of parts");
    return TARRY_OK;
}

static char *copy_text(const char *text)
{
    char *copy = tarry__base_alloc(strlen(text) + 1, 1);
    return copy != NULL ? strcpy(copy, text) : NULL;
}

static void set(tarry_experiment *e, const tarry_experiment_params *p)
{
    e->plan.experiment = (tarry__experiment){.horizon = p->horizon,
                                             .runs = p->runs,
                                             .seed = p->seed,
                                             .points = p->points,
                                             .threads = p->threads,
                                             .part = p->part,
                                             .parts = p->parts};
    e->plan.experiment.n_grid =
        tarry__sim_log_grid(p->horizon, p->points, e->plan.experiment.grid);
    e->progress = p->progress;
    e->progress_context = p->progress_context;
}

tarry_status tarry_experiment_create(const tarry_experiment_params *params,
                                     tarry_experiment **out, tarry_error *error)
{
    if (out != NULL)
        *out = NULL;
    if (params == NULL || out == NULL)
        return refuse(error, "no params, or no place for the experiment");
    const tarry_status status = check(params, error);
    if (status != TARRY_OK)
        return status;
    tarry_experiment *e = tarry__base_zalloc(1, sizeof *e);
    if (e != NULL && params->journal != NULL)
        e->journal = copy_text(params->journal);
    if (e == NULL || (params->journal != NULL && e->journal == NULL)) {
        tarry__base_free(e);
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    }
    set(e, params);
    *out = e;
    return TARRY_OK;
}

void tarry_experiment_free(tarry_experiment *e)
{
    if (e == NULL)
        return;
    if (e->begun)
        tarry__batch_clear(&e->batch);
    for (size_t i = 0; i < e->n_texts; i++)
        tarry__base_free(e->text[i]);
    tarry__base_free(e->journal);
    tarry__base_free(e);
}

static tarry_status check_open(const tarry_experiment *e, const void *what,
                               tarry_error *error)
{
    if (e == NULL || what == NULL)
        return refuse(error, "nothing to add, or nothing to add it to");
    return e->begun ? refuse(error, "the experiment has been run already")
                    : TARRY_OK;
}

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

tarry_status tarry_experiment_add_world(tarry_experiment *e,
                                        const tarry_world *world,
                                        tarry_error *error)
{
    const tarry_status status = check_open(e, world, error);
    if (status != TARRY_OK)
        return status;
    if (e->n_worlds == TARRY__BATCH_MAX_WORLDS)
        return refuse(error, "more than 64 worlds");
    for (size_t w = 0; w < e->n_worlds; w++)
        if (same(e->world[w]->name, world->name) || world->name == NULL ||
            e->world[w]->name == NULL)
            return refuse(error, "several worlds need different names");
    e->world[e->n_worlds++] = world;
    return TARRY_OK;
}

static tarry_status keep_text(tarry_experiment *e, const char *text,
                              char **copy, tarry_error *error)
{
    *copy = copy_text(text);
    if (*copy == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    e->text[e->n_texts++] = *copy;
    return TARRY_OK;
}

static bool is_there(const tarry__experiment *e, const char *name)
{
    for (size_t p = 0; p < e->n_policies; p++)
        if (strcmp(e->policy[p], name) == 0)
            return true;
    return false;
}

static bool is_last(const tarry__experiment *e, const char *text)
{
    return e->n_policies > 0 && e->policy[e->n_policies - 1] == text;
}

/* The list before, if the new one has a policy that cannot be. */
static tarry_status add(tarry_experiment *e, const char *text,
                        tarry_error *error)
{
    tarry__experiment *list = &e->plan.experiment;
    const size_t before = list->n_policies;
    tarry_status status = tarry__experiment_add(list, text, error);
    for (size_t p = before; status == TARRY_OK && p < list->n_policies; p++)
        status = tarry__sim_policy_check(list->policy[p], error);
    if (status != TARRY_OK)
        list->n_policies = before;
    return status;
}

tarry_status tarry_experiment_add_policy(tarry_experiment *e,
                                         const char *description,
                                         tarry_error *error)
{
    char *copy;
    tarry_status status = check_open(e, description, error);
    if (status == TARRY_OK && is_there(&e->plan.experiment, description))
        status = tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                  "policy '%s' is there already", description);
    if (status == TARRY_OK)
        status = keep_text(e, description, &copy, error);
    if (status != TARRY_OK)
        return status;
    status = add(e, copy, error);
    if (!is_last(&e->plan.experiment, copy)) /* refused, or a group's name */
        tarry__base_free(e->text[--e->n_texts]);
    return status;
}

tarry_status tarry_experiment_add_own_policy(tarry_experiment *e,
                                             const tarry_own_policy *policy,
                                             tarry_error *error)
{
    char *copy, *version = NULL;
    tarry_status status = check_open(e, policy, error);
    if (status != TARRY_OK)
        return status;
    tarry__experiment *list = &e->plan.experiment;
    if (policy->name == NULL || policy->name[0] == '\0' ||
        policy->choose == NULL)
        return refuse(error, "a policy without a name or without choose");
    if (is_there(list, policy->name))
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "policy '%s' is there already", policy->name);
    if (list->n_policies == TARRY__EXPERIMENT_MAX_POLICIES)
        return refuse(error, "more than 64 policies");
    status = keep_text(e, policy->name, &copy, error);
    if (status == TARRY_OK && policy->version != NULL &&
        (status = keep_text(e, policy->version, &version, error)) != TARRY_OK)
        tarry__base_free(e->text[--e->n_texts]);
    if (status != TARRY_OK)
        return status;
    tarry_own_policy *own = &e->own[e->n_own++];
    *own = *policy;
    own->name = copy;
    own->version = version;
    list->own_policy[list->n_policies] = own;
    list->policy[list->n_policies++] = copy;
    return TARRY_OK;
}

/* ---- running --------------------------------------------------------------*/

/* A world without a name is the experiment's own, as in `tarry run`. */
static void set_worlds(tarry_experiment *e)
{
    tarry__batch_plan *plan = &e->plan;
    const tarry_world *only = e->world[0];
    plan->n_worlds = e->n_worlds > 1 || only->name != NULL ? e->n_worlds : 0;
    for (size_t w = 0; w < e->n_worlds; w++)
        plan->world[w] = (tarry__batch_world){
            e->world[w]->name,
            e->world[w]->instance,
            e->world[w]->loss,
            e->world[w]->delay,
            tarry__recipe_own(e->world[w]),
            {e->world[w]->report, e->world[w]->default_outcome}};
    plan->experiment.instance = only->instance;
    plan->experiment.loss = only->loss;
    plan->experiment.delay = only->delay;
    plan->experiment.own_world = tarry__recipe_own(only);
    plan->experiment.reports =
        (tarry__sim_reports){only->report, only->default_outcome};
}

static tarry_status begin(tarry_experiment *e, tarry_error *error)
{
    if (e->n_worlds == 0 || e->plan.experiment.n_policies == 0)
        return refuse(error, "an experiment needs a world and a policy");
    set_worlds(e);
    tarry_status status = tarry__batch_create(&e->batch, &e->plan);
    if (status != TARRY_OK)
        tarry__base_fail(error, status, "out of memory");
    else
        status = tarry__batch_check(&e->batch, error);
    e->begun = status == TARRY_OK;
    if (status != TARRY_OK)
        tarry__batch_clear(&e->batch);
    return status;
}

static bool watch(void *context, double share, uint64_t rounds)
{
    tarry_experiment *e = context;
    (void)share;
    e->done += rounds;
    const double part = (double)e->done / (double)e->total;
    return e->progress(e->progress_context, fmin(part, 1)) != 0;
}

tarry_status tarry_experiment_run(tarry_experiment *e, tarry_error *error)
{
    if (e == NULL)
        return refuse(error, "no experiment");
    tarry_status status = e->begun ? TARRY_OK : begin(e, error);
    e->partial = true;
    if (status == TARRY_OK)
        status = tarry__batch_open_journal(&e->batch, e->journal, error);
    if (status != TARRY_OK)
        return status;
    const uint64_t horizon = e->plan.experiment.horizon;
    const tarry__trials_observer observer = {
        e, e->progress != NULL ? watch : NULL, NULL};
    e->done = tarry__batch_finished(&e->batch) * horizon;
    e->total = tarry__batch_trials(&e->batch) * horizon;
    status = tarry__batch_run(&e->batch, &observer, error);
    tarry__journal_close(&e->batch.journal);
    e->partial = status != TARRY_OK || e->plan.experiment.parts > 1;
    return status;
}

/* ---- results --------------------------------------------------------------*/

size_t tarry_experiment_n_worlds(const tarry_experiment *e)
{
    return e != NULL && e->begun ? e->batch.count : 0;
}

size_t tarry_experiment_n_policies(const tarry_experiment *e)
{
    return e != NULL && e->begun ? e->plan.experiment.n_policies : 0;
}

size_t tarry_experiment_journal_dropped(const tarry_experiment *e)
{
    return e != NULL && e->begun ? e->batch.journal.n_dropped : 0;
}

/* The figures of `tarry run --json`; NaN when out of memory. */
static tarry__experiment_summary regret_of(const tarry__experiment_results *r,
                                           size_t p)
{
    tarry__experiment_summary s = {.count = 0};
    double *values = tarry__base_alloc(r->experiment->runs, sizeof *values);
    s.mean = s.ci95 = NAN;
    if (values != NULL)
        s = tarry__results_summary(r, p, tarry__results_regret, 0, values);
    tarry__base_free(values);
    return s;
}

tarry_status tarry_experiment_get_summary(const tarry_experiment *e,
                                          size_t world, size_t policy,
                                          tarry_experiment_summary *out)
{
    if (out == NULL || world >= tarry_experiment_n_worlds(e) ||
        policy >= tarry_experiment_n_policies(e))
        return TARRY_BAD_ARGUMENT;
    const tarry__experiment_results *r = &e->batch.results[world];
    const tarry__experiment_summary s = regret_of(r, policy);
    if (isnan(s.mean))
        return TARRY_NO_MEMORY;
    *out = (tarry_experiment_summary){
        .world = e->world[world]->name,
        .policy = r->experiment->policy[policy],
        .refused =
            r->refused[policy].text[0] != '\0' ? r->refused[policy].text : NULL,
        .runs = r->experiment->runs,
        .finished = s.count,
        .regret = s.mean,
        .ci95 = s.ci95,
        .n_points = r->experiment->n_grid,
        .grid = r->experiment->grid};
    return TARRY_OK;
}

tarry_status tarry_experiment_get_outcome(const tarry_experiment *e,
                                          size_t world, size_t policy,
                                          uint64_t run,
                                          tarry_experiment_outcome *out)
{
    _Static_assert(sizeof(tarry_experiment_phase) == sizeof(tarry__sim_phase),
                   "phases are handed out as they are");
    if (out == NULL || world >= tarry_experiment_n_worlds(e) ||
        policy >= tarry_experiment_n_policies(e) ||
        run >= e->plan.experiment.runs)
        return TARRY_BAD_ARGUMENT;
    const tarry__experiment_results *r = &e->batch.results[world];
    const size_t i = policy * r->experiment->runs + run;
    const tarry__sim_outcome *o = &r->outcome[i];
    if (!r->finished[i])
        return TARRY_UNKNOWN_ROUND;
    *out = (tarry_experiment_outcome){
        .regret = o->regret,
        .seconds = o->seconds,
        .sigma_mean = o->sigma_mean,
        .sigma_max = o->sigma_max,
        .sigma_final = o->sigma_final,
        .used = o->used,
        .late = o->late,
        .ignored = o->ignored,
        .lost = o->lost,
        .first_seen = o->first_seen,
        .active = o->active,
        .best_kept = o->best_kept != 0,
        .n_phases = o->n_phases,
        .n_listed = o->n_phases < TARRY__SIM_MAX_PHASES ? o->n_phases
                                                        : TARRY__SIM_MAX_PHASES,
        .phases = (const tarry_experiment_phase *)(const void *)o->phase,
        .n_points = r->experiment->n_grid,
        .curve = o->curve,
        .certificate = o->certificate,
        .exploit_gap = o->exploit_gap};
    return TARRY_OK;
}

char *tarry_experiment_json(const tarry_experiment *e)
{
    if (tarry_experiment_n_worlds(e) == 0)
        return NULL;
    json_t *json = tarry__results_json(&e->batch, e->partial);
    char *text = tarry__json_text(json, JSON_REAL_PRECISION(17));
    json_decref(json);
    return text;
}

void tarry_experiment_free_json(char *text)
{
    tarry__base_free(text);
}
