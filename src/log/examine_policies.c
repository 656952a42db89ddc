/* examine_policies.c - the table of policies, and the one to use. */
#include "log/examine_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "log/advise.h"
#include "policy/policy_type.h"

enum {
    LEAST_OUTCOMES = 30, /* fewer do not make a world */
    MOST_ARMS = 200,     /* without features, each is a dimension */
    LEAST_HORIZON = 1000,
    MOST_HORIZON = 100000,
};

/* A unit of loss in the log's own unit. */
static double unit_of(const tarry__log *log)
{
    return (log->options.high - log->options.low) / 2;
}

static void recommend(tarry__examine_state *x, const char *policy,
                      const char *why)
{
    x->out =
        tarry__json_set(x->out, "recommendation",
                        json_pack("{s:s, s:s}", "policy", policy, "why", why));
}

static const char *about_delays(const tarry__examine_state *x)
{
    return x->verdict == TARRY__EXAMINE_DEPENDENT ? "delays depend on losses"
           : x->verdict == TARRY__EXAMINE_INDEPENDENT
               ? "delays do not depend on losses"
               : "one cannot tell whether delays depend on losses";
}

/* Without a simulation the delay model decides alone. */
static void recommend_unseen(tarry__examine_state *x, const char *reason)
{
    char why[400];
    const bool safe = x->verdict != TARRY__EXAMINE_INDEPENDENT;
    snprintf(why, sizeof why,
             "%s, and this policy's promise holds then; it was not tried in "
             "a simulation: %s",
             about_delays(x), reason);
    recommend(x,
              tarry__policy_recommended.stands_for(
                  safe ? TARRY__POLICY_ANY_DELAYS : TARRY__POLICY_BY_CHANCE),
              why);
    x->out = tarry__json_set(x->out, "simulation", json_array());
}

/* ---- with a simulation ----------------------------------------------------*/

static json_t *tell_rows(const tarry__examine_state *x,
                         const tarry__advise_result *a)
{
    const double unit = unit_of(&x->log);
    json_t *list = json_array();
    for (size_t i = 0; i < a->count; i++) {
        const tarry__advise_row *r = &a->row[i];
        list = tarry__json_add(
            list, json_pack("{s:s, s:f, s:o, s:o, s:f}", "policy", r->policy,
                            "regret", unit * r->regret, "ci95",
                            tarry__json_number(unit * r->ci95), "certificate",
                            tarry__json_number(unit * r->certificate),
                            "best_kept", r->best_kept));
    }
    return list;
}

/* Regret with its error bar, for people: no powers of ten. */
static void show_regret(const tarry__advise_row *r, double unit, char text[64])
{
    const double most = unit * fmax(r->regret, r->ci95);
    const int places = most >= 100 ? 0 : most >= 1 ? 1 : 3;
    const int length = snprintf(text, 64, "%.*f", places, unit * r->regret);
    if (!isnan(r->ci95))
        snprintf(text + length, 64 - (size_t)length, " ± %.*f", places,
                 unit * r->ci95);
}

static void recommend_seen(tarry__examine_state *x,
                           const tarry__advise_result *a, uint64_t horizon)
{
    const double unit = unit_of(&x->log);
    const tarry__advise_row *r = &a->row[a->pick];
    const tarry__advise_row *other = &a->row[a->pick == 0 ? 1 : 0];
    char why[700], bound[160] = "", mine[64], theirs[64];
    show_regret(r, unit, mine);
    show_regret(other, unit, theirs);
    if (r->certified && isfinite(r->certificate))
        snprintf(bound, sizeof bound,
                 "; by then it can certify that the arm it would settle on is "
                 "within %.3g of the best",
                 unit * r->certificate);
    snprintf(why, sizeof why,
             "%s, and in the world rebuilt from this log it loses %s against "
             "the best arm over the next %ju decisions, where %.*s loses %s%s",
             about_delays(x), mine, (uintmax_t)horizon,
             (int)strcspn(other->policy, ":"), other->policy, theirs, bound);
    recommend(x, r->policy, why);
}

static tarry_status simulate(tarry__examine_state *x, uint64_t horizon,
                             tarry_error *error)
{
    const tarry__examine_options *o = x->options;
    const tarry__advise_options options = {
        .horizon = horizon,
        .runs = o->runs,
        .seed = o->seed,
        .threads = o->threads,
        .folder = o->world,
        .observer = o->observer,
    };
    tarry__rebuild_world world;
    tarry_status status =
        tarry__rebuild(&x->log, tarry__examine_law(x),
                       x->verdict == TARRY__EXAMINE_DEPENDENT, &world, error);
    if (status != TARRY_OK)
        return status;
    tarry__advise_result *a = tarry__base_zalloc(1, sizeof *a);
    status = a != NULL ? tarry__advise(&world, x->log.options.arms != NULL,
                                       x->verdict != TARRY__EXAMINE_INDEPENDENT,
                                       &options, a, error)
                       : tarry__examine_no_memory(error);
    tarry__rebuild_clear(&world);
    if (status == TARRY_OK) {
        x->out = tarry__json_set(x->out, "simulation", tell_rows(x, a));
        x->out = tarry__json_set(x->out, "horizon",
                                 json_integer((json_int_t)horizon));
        recommend_seen(x, a, horizon);
    }
    if (status == TARRY_OK && o->world != NULL)
        x->out = tarry__json_set(x->out, "world",
                                 json_pack("{s:s, s:s, s:s}", "instance",
                                           a->instance, "loss", a->loss,
                                           "delay", a->delay));
    tarry__base_free(a);
    return status;
}

/* As many decisions as the log has, within reason: a round costs about the
 * square of the dimension. */
static uint64_t horizon_of(const tarry__log *log)
{
    const double dim =
        (double)(log->options.arms != NULL ? log->options.arms->dim
                                           : log->n_arms);
    const double most = fmin(MOST_HORIZON, 1e8 / (dim * dim));
    return (uint64_t)fmax(LEAST_HORIZON, fmin((double)log->count, most));
}

/* Whether the log shows no two outcomes that differ. */
static bool is_constant(const tarry__log *log)
{
    double first = NAN;
    for (size_t i = 0; i < log->count; i++) {
        if (isnan(log->loss[i]))
            continue;
        if (!isnan(first) && log->loss[i] != first)
            return false;
        first = log->loss[i];
    }
    return true;
}

tarry_status tarry__examine_policies(tarry__examine_state *x,
                                     tarry_error *error)
{
    const tarry__examine_options *o = x->options;
    const tarry__log *log = &x->log;
    const uint64_t horizon = o->horizon != 0 ? o->horizon : horizon_of(log);
    const char *reason =
        o->runs == 0                     ? "it was not asked for"
        : x->seen_count < LEAST_OUTCOMES ? "there are too few outcomes"
        : !log->has_delays               ? "the log has no delays"
        : log->n_arms < 2                ? "there is one arm"
        : is_constant(log)
            ? "all outcomes are alike (log those that came to nothing too)"
        : log->options.arms == NULL && log->n_arms > MOST_ARMS
            ? "there are too many arms without features (give --arms)"
            : NULL;
    if (reason == NULL)
        return simulate(x, horizon, error);
    if (o->world != NULL)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s: no world can be made of it: %s", log->path,
                                reason);
    recommend_unseen(x, reason);
    return TARRY_OK;
}
