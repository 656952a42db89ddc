/* examine_policies.c - the table of policies, and the one to use. */
#include "log/examine_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "log/advise.h"
#include "log/shrink.h"
#include "policy/policy_type.h"

enum {
    LEAST_OUTCOMES = 30, /* fewer do not make a world */
    MOST_ARMS = 200,     /* without features, each is a dimension */
    LEAST_HORIZON = 1000,
    MOST_HORIZON = 100000,
};

static const double least_gain = 0.05; /* of the regret of uniform play */

/* A unit of loss in the log's own unit. */
static double unit_of(const tarry__log *log)
{
    return (log->options.high - log->options.low) / 2;
}

/* `policy` is NULL if none can be recommended. */
static void recommend(tarry__examine_state *x, const char *policy,
                      const char *why)
{
    x->out =
        tarry__json_set(x->out, "recommendation",
                        json_pack("{s:s?, s:s}", "policy", policy, "why", why));
}

static const char *about_delays(const tarry__examine_state *x)
{
    static const char *const texts[][2] = {
        [TARRY__EXAMINE_DEPENDENT] = {"delays depend on losses",
                                      "delays depend on rewards"},
        [TARRY__EXAMINE_INDEPENDENT] = {"delays do not depend on losses",
                                        "delays do not depend on rewards"},
        [TARRY__EXAMINE_CANNOT_TELL] = {
            "one cannot tell whether delays depend on losses",
            "one cannot tell whether delays depend on rewards"}};
    return texts[x->verdict][tarry__log_is_reward(&x->log)];
}

/* Without a simulation the delay model decides alone. */
static void recommend_unseen(tarry__examine_state *x, const char *reason)
{
    char why[600], alike[200] = "";
    const bool safe = x->verdict != TARRY__EXAMINE_INDEPENDENT;
    if (x->differ_p > 0.05)
        snprintf(alike, sizeof alike,
                 "; the log does not show that its arms differ in their %s (p "
                 "= %.2g), so it does not show a gain over uniform play",
                 tarry__log_is_reward(&x->log) ? "rewards" : "losses",
                 x->differ_p);
    snprintf(why, sizeof why,
             "%s, and this policy's promise holds then; it was not tried in "
             "a simulation: %s%s",
             about_delays(x), reason, alike);
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
            list,
            json_pack("{s:s, s:f, s:o, s:o, s:f, s:o, s:o}", "policy",
                      r->policy, "regret", unit * r->regret, "ci95",
                      tarry__json_number(unit * r->ci95), "certificate",
                      tarry__json_number(unit * r->certificate), "best_kept",
                      r->best_kept, "gain", tarry__json_number(unit * r->gain),
                      "gain_ci95", tarry__json_number(unit * r->gain_ci95)));
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

/* Whether the row does better than uniform play by more than chance, which one
 * run cannot show, and by more than the order in which a policy that learns
 * nothing happens to play. */
static bool beats_uniform(const tarry__advise_row *r)
{
    return strcmp(r->policy, "uniform") == 0 ||
           (r->gain > r->gain_ci95 &&
            r->gain > least_gain * (r->regret + r->gain));
}

static const tarry__advise_row *uniform_row(const tarry__advise_result *a)
{
    size_t i = 0;
    while (i + 1 < a->count && strcmp(a->row[i].policy, "uniform") != 0)
        i++;
    return &a->row[i];
}

/* Why no policy is recommended. */
static void recommend_none(tarry__examine_state *x,
                           const tarry__advise_result *a, uint64_t horizon)
{
    const double unit = unit_of(&x->log);
    const tarry__advise_row *r = &a->row[a->pick];
    char why[500], mine[64], theirs[64];
    show_regret(r, unit, mine);
    show_regret(uniform_row(a), unit, theirs);
    if (x->differ_p > 0.05)
        snprintf(why, sizeof why,
                 "the log does not show that its arms differ in their %s (p = "
                 "%.2g), so no policy can be told apart from uniform play",
                 tarry__log_is_reward(&x->log) ? "rewards" : "losses",
                 x->differ_p);
    else
        snprintf(why, sizeof why,
                 "no policy can be told apart from uniform play over the next "
                 "%ju decisions in the world rebuilt from this log: the regret "
                 "of %.*s is %s, that of uniform play %s%s",
                 (uintmax_t)horizon, (int)strcspn(r->policy, ":"), r->policy,
                 mine, theirs,
                 isnan(r->gain_ci95) ? " (one run shows no error bars)" : "");
    recommend(x, NULL, why);
}

static void recommend_seen(tarry__examine_state *x,
                           const tarry__advise_result *a, uint64_t horizon)
{
    const double unit = unit_of(&x->log);
    const tarry__advise_row *r = &a->row[a->pick];
    const tarry__advise_row *other = &a->row[a->pick == 0 ? 1 : 0];
    const bool reward = tarry__log_is_reward(&x->log);
    char why[700], bound[160] = "", mine[64], theirs[64];
    show_regret(r, unit, mine);
    show_regret(other, unit, theirs);
    if (r->certified && isfinite(r->certificate))
        snprintf(bound, sizeof bound,
                 "; by then it can certify that the arm it would settle on is "
                 "within %.3g of the best",
                 unit * r->certificate);
    snprintf(why, sizeof why,
             "%s, and in the world rebuilt from this log it %s %s %s "
             "the best arm over the next %ju decisions, where %.*s %s %s%s",
             about_delays(x), reward ? "earns" : "loses", mine,
             reward ? "less than" : "against", (uintmax_t)horizon,
             (int)strcspn(other->policy, ":"), other->policy,
             reward ? "earns less by" : "loses", theirs, bound);
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
        if (x->differ_p <= 0.05 && beats_uniform(&a->row[a->pick]))
            recommend_seen(x, a, horizon);
        else
            recommend_none(x, a, horizon);
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

/* The mean outcome, and whether arms differ in theirs. */
static bool tell_outcomes(tarry__examine_state *x)
{
    const tarry__log *log = &x->log;
    double sum = 0;
    for (size_t i = 0; i < log->count; i++)
        sum += x->seen[i] ? log->loss[i] : 0;
    x->differ_p = tarry__shrink_chance(log->arm, log->loss, log->count,
                                       log->n_arms, x->options->seed);
    x->out = tarry__json_set(x->out, "outcomes",
                             json_pack("{s:o, s:{s:f}}", "mean",
                                       tarry__json_number(tarry__log_value(
                                           log, sum / (double)x->seen_count)),
                                       "arms_differ", "p_value", x->differ_p));
    return x->differ_p >= 0;
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
    if (!tell_outcomes(x))
        return tarry__examine_no_memory(error);
    if (reason == NULL)
        return simulate(x, horizon, error);
    if (o->world != NULL)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s: no world can be made of it: %s", log->path,
                                reason);
    recommend_unseen(x, reason);
    return TARRY_OK;
}
