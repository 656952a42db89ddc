/* results_json.c - experiments and what they showed, as JSON.
 *
 * A value that could not be made, or added to another, makes the whole NULL:
 * json_pack takes no NULL, and lists pass it on. */
#include <math.h>
#include "base/base.h"
#include "lab/results.h"
#include "tarry/version.h"

/* ---- the plan -------------------------------------------------------------*/

static json_t *names_json(const tarry__experiment *e)
{
    json_t *policies = json_array();
    for (size_t p = 0; p < e->n_policies; p++)
        policies = tarry__json_add(policies, json_string(e->policy[p]));
    return policies;
}

/* A number, or a text where jansson has no number for it. */
static json_t *seed_json(uint64_t seed)
{
    return seed <= INT64_MAX ? json_integer((json_int_t)seed)
                             : json_sprintf("%ju", (uintmax_t)seed);
}

/* Everything but the world. */
static json_t *common_json(const tarry__experiment *e)
{
    return json_pack("{s:o, s:I, s:I, s:o, s:I}", "policy", names_json(e),
                     "horizon", (json_int_t)e->horizon, "runs",
                     (json_int_t)e->runs, "seed", seed_json(e->seed), "points",
                     (json_int_t)e->points);
}

/* The keys of reports that are given. */
static json_t *add_reports(json_t *json, const tarry__sim_reports *r)
{
    if (r->report != NULL)
        json = tarry__json_set(json, "report", json_string(r->report));
    if (r->default_outcome != NULL)
        json = tarry__json_set(json, "default_outcome",
                               json_string(r->default_outcome));
    return json;
}

static json_t *experiment_config(const tarry__experiment *e)
{
    json_t *world = json_pack("{s:s, s:s, s:s}", "instance", e->instance,
                              "loss", e->loss, "delay", e->delay);
    return tarry__json_join(add_reports(world, &e->reports), common_json(e));
}

json_t *tarry__results_config(const tarry__batch_plan *plan)
{
    if (plan->n_worlds == 0)
        return experiment_config(&plan->experiment);
    json_t *worlds = json_array();
    for (size_t i = 0; i < plan->n_worlds; i++) {
        const tarry__batch_world *w = &plan->world[i];
        json_t *world =
            json_pack("{s:s, s:s, s:s, s:s}", "name", w->name, "instance",
                      w->instance, "loss", w->loss, "delay", w->delay);
        worlds = tarry__json_add(worlds, add_reports(world, &w->reports));
    }
    return tarry__json_join(json_pack("{s:o}", "worlds", worlds),
                            common_json(&plan->experiment));
}

/* ---- policies -------------------------------------------------------------*/

static json_t *runs_json(const tarry__experiment_results *r, size_t p,
                         tarry__experiment_pick *pick, double *values)
{
    json_t *list = json_array();
    const size_t count = tarry__experiment_results_pick(r, p, pick, 0, values);
    for (size_t i = 0; i < count; i++)
        list = tarry__json_add(list, json_real(values[i]));
    return list;
}

static json_t *curve_json(const tarry__experiment_results *r, size_t p,
                          double *values)
{
    json_t *list = json_array();
    const tarry__experiment *e = r->experiment;
    for (size_t i = 0; i < e->n_grid; i++) {
        const tarry__experiment_summary s =
            tarry__results_summary(r, p, tarry__results_at_point, i, values);
        list = tarry__json_add(
            list, json_pack("[I, f, f, f]", (json_int_t)e->grid[i], s.mean,
                            s.mean - s.ci95, s.mean + s.ci95));
    }
    return list;
}

/* Per run the finished phases: length, designated, waited, active after. */
static json_t *phases_json(const tarry__experiment_results *r, size_t p)
{
    json_t *list = json_array();
    const size_t runs = r->experiment->runs;
    for (size_t run = 0; run < runs; run++) {
        const tarry__sim_outcome *o = &r->outcome[p * runs + run];
        if (!r->finished[p * runs + run])
            continue;
        json_t *of_run = json_array();
        for (size_t i = 0; i < o->n_phases && i < TARRY__SIM_MAX_PHASES; i++) {
            const tarry__sim_phase *l = &o->phase[i];
            of_run = tarry__json_add(
                of_run, json_pack("{s:I, s:I, s:I, s:I}", "length",
                                  (json_int_t)l->length, "designated",
                                  (json_int_t)l->designated, "waited",
                                  (json_int_t)(l->length - l->designated),
                                  "active_after", (json_int_t)l->active_after));
        }
        list = tarry__json_add(list, of_run);
    }
    return list;
}

/* One run alone has no interval. */
static json_t *half_width(const tarry__experiment_summary *s, size_t count)
{
    return count > 1 ? json_real(s->ci95) : json_null();
}

static json_t *ran_json(const tarry__experiment_results *r, size_t p,
                        size_t best, double *values)
{
    const tarry__experiment_summary s =
        tarry__results_summary(r, p, tarry__results_regret, 0, values);
    json_t *runs = runs_json(r, p, tarry__results_regret, values);
    const size_t count =
        tarry__experiment_results_difference(r, p, best, values);
    const tarry__experiment_summary d =
        tarry__experiment_summarise(values, count);
    return json_pack(
        "{s:s, s:{s:f, s:o, s:o, s:f, s:f, s:f}, s:f, s:{s:s, s:f, s:o}, s:o, "
        "s:f, s:o, s:f, s:f, "
        "s:f, s:{s:f, s:f, s:f}, s:{s:f, s:f, s:f, s:f}, s:f}",
        "name", r->experiment->policy[p], "regret", "mean", s.mean, "ci95",
        half_width(&s, json_array_size(runs)), "runs", runs, "median",
        tarry__results_quantile(r, p, tarry__results_regret, 0.5, values),
        "q95",
        tarry__results_quantile(r, p, tarry__results_regret, 0.95, values),
        "worst", tarry__results_largest(r, p, tarry__results_regret, values),
        "stuck", tarry__results_mean(r, p, tarry__results_stuck, values),
        "above_best", "best", r->experiment->policy[best], "mean", d.mean,
        "ci95", half_width(&d, count), "curve", curve_json(r, p, values),
        "phases", tarry__results_mean(r, p, tarry__results_phases, values),
        "phase_log", phases_json(r, p), "active",
        tarry__results_mean(r, p, tarry__results_active, values), "best_kept",
        tarry__results_mean(r, p, tarry__results_best_kept, values),
        "sigma_max",
        tarry__results_largest(r, p, tarry__results_sigma_max, values), "sigma",
        "mean", tarry__results_mean(r, p, tarry__results_sigma_mean, values),
        "max", tarry__results_largest(r, p, tarry__results_sigma_max, values),
        "final", tarry__results_mean(r, p, tarry__results_sigma_final, values),
        "arrivals", "used",
        tarry__results_mean(r, p, tarry__results_used, values), "late",
        tarry__results_mean(r, p, tarry__results_late, values), "ignored",
        tarry__results_mean(r, p, tarry__results_ignored, values), "lost",
        tarry__results_mean(r, p, tarry__results_lost, values),
        "rounds_per_second", tarry__results_speed(r, p, values));
}

static json_t *meaning_json(const tarry__experiment *e, size_t p)
{
    const char *meaning = tarry__experiment_meaning(e, p);
    return meaning != NULL ? json_pack("{s:s}", "stands_for", meaning)
                           : json_object();
}

static json_t *policy_json(const tarry__experiment_results *r, size_t p,
                           size_t best, double *values)
{
    if (r->refused[p].text[0] == '\0') {
        json_t *certificate = json_pack(
            "{s:o}", "certificate", tarry__results_certificate(r, p, values));
        return tarry__json_join(
            tarry__json_join(ran_json(r, p, best, values), certificate),
            meaning_json(r->experiment, p));
    }
    return json_pack("{s:s, s:s}", "name", r->experiment->policy[p], "error",
                     r->refused[p].text);
}

static json_t *policies_json(const tarry__experiment_results *r, double *values)
{
    json_t *policies = json_array();
    const size_t best = tarry__results_best(r, values);
    for (size_t p = 0; p < r->experiment->n_policies; p++)
        if (tarry__results_any(r, p) || r->refused[p].text[0] != '\0')
            policies =
                tarry__json_add(policies, policy_json(r, p, best, values));
    return policies;
}

static json_t *worlds_json(const tarry__batch *b, double *values)
{
    json_t *worlds = json_array();
    for (size_t w = 0; w < b->count; w++)
        worlds = tarry__json_add(
            worlds,
            json_pack("{s:s, s:o, s:o}", "name", b->plan->world[w].name,
                      "config", experiment_config(&b->experiment[w]),
                      "policies", policies_json(&b->results[w], values)));
    return worlds;
}

json_t *tarry__results_json(const tarry__batch *b, bool partial)
{
    const bool list = b->plan->n_worlds > 0;
    double *values =
        tarry__base_alloc(b->plan->experiment.runs, sizeof *values);
    if (values == NULL)
        return NULL;
    json_t *root = json_pack(
        "{s:s, s:b, s:o, s:o}", "version", tarry_version(), "partial", partial,
        "config", tarry__results_config(b->plan), list ? "worlds" : "policies",
        list ? worlds_json(b, values) : policies_json(b->results, values));
    tarry__base_free(values);
    return root;
}
