/* bound.c - `tarry bound`: what the paper promises, in numbers. */
#include <math.h>
#include <stdio.h>
#include "base/json.h"
#include "base/elementary.h"
#include "cli/cli.h"
#include "bound/bound.h"
#include "bound/limit.h"

static const char summary[] =
    "the paper's bounds in numbers, for a world and a policy";

typedef struct {
    const char *instance, *loss, *delay, *policy;
    uint64_t horizon, seed, threads;
    bool json;
} arguments;

static int parse(arguments *a, int argc, char **argv)
{
    const cli_option options[] = {
        {"policy", CLI_TEXT, &a->policy, "NAME",
         "one of the paper's four, or recommended "
         "(default\nphased-stochastic)"},
        {"instance", CLI_TEXT, &a->instance, "SPEC",
         "arms and theta (default sphere)"},
        {"loss", CLI_TEXT, &a->loss, "SPEC", "default rademacher"},
        {"delay", CLI_TEXT, &a->delay, "SPEC", "default exponential:mean=100"},
        {"horizon", CLI_COUNT, &a->horizon, "T", "rounds (default 1e6)"},
        {"seed", CLI_COUNT, &a->seed, "N", "of the instance (default 1)"},
        {"threads", CLI_COUNT, &a->threads, "N",
         "accepted as in every command"},
        {"json", CLI_FLAG, &a->json, NULL, "print one JSON object"},
    };
    const cli_syntax syntax = {
        .command = "bound",
        .summary = summary,
        .usage = "[options]",
        .about =
            "Evaluates the paper's bounds on the regret for a world and a\n"
            "policy, the phases the policy will have, and the horizon below\n"
            "which its first phase does not end.  A bound above 2T says "
            "nothing\n"
            "and is not printed; the smallest T from which on the bound is at\n"
            "most 2T, for every T up to 2^39 - 1, is printed in its place.",
        .examples = "  tarry bound --policy phased-loss-dependent "
                    "--delay low-late:late=1000 --horizon 1e7",
        .options = options,
        .n_options = sizeof options / sizeof *options,
    };
    return cli_parse(&syntax, argc, argv);
}

static json_t *limit_json(const arguments *a, const tarry__bound_limit *l)
{
    return json_pack(
        "{s:f, s:o, s:o, s:o, s:o}", "R", l->R, "constant",
        tarry__json_number(l->constant), "certified",
        tarry__json_number(l->certified), "by_law",
        tarry__json_number(l->by_law), "regret",
        tarry__json_number(l->certified * tarry__ln((double)a->horizon)));
}

static int print_json(const arguments *a, const tarry__bound *b,
                      const tarry__bound_limit *l)
{
    json_t *phases = json_array();
    for (size_t m = 0; m < b->n_phases; m++)
        phases = tarry__json_add(
            phases,
            json_pack("{s:I, s:f, s:f, s:o}", "phase", (json_int_t)(m + 1),
                      "epsilon", b->phase[m].epsilon, "quota",
                      b->phase[m].quota, "longest",
                      tarry__json_number(b->phase[m].longest)));
    return cli_print_json(json_pack(
        "{s:s, s:s*, s:s, s:I, s:{s:s?, s:o, s:o, s:f, s:o, s:f}, s:{s:s?, "
        "s:o}, "
        "s:o, s:{s:f, s:f}, s:f, s:f, s:b, s:o}",
        "policy", a->policy, "stands_for", b->meaning, "model", b->model,
        "horizon", (json_int_t)a->horizon, "upper", "by", b->upper_by, "regret",
        b->upper_by != NULL && b->useful_from == 0
            ? tarry__json_number(b->upper)
            : json_null(),
        "says_nothing_below",
        b->useful_from > 0 ? tarry__json_number(b->useful_from) : json_null(),
        "alpha", b->alpha, "beta", tarry__json_number(b->beta), "q", b->q,
        "lower", "by", b->lower_by, "regret",
        b->lower_by != NULL ? tarry__json_number(b->lower) : json_null(),
        "limit", limit_json(a, l), "design", "support", b->support,
        "min_weight", b->min_weight, "first_phase_rounds", b->first_phase,
        "horizon_needed", b->horizon_needed, "horizon_too_short",
        b->first_phase > (double)a->horizon, "phases", phases));
}

static void print_upper(const arguments *a, const tarry__bound *b)
{
    if (b->upper_by == NULL) {
        printf("upper bound   none: the paper promises nothing for %s in this "
               "delay model\n",
               a->policy);
        return;
    }
    if (b->useful_from == 0)
        printf("upper bound   %.5g\n", b->upper);
    else if (isfinite(b->useful_from))
        printf("upper bound   says nothing at this T; from T = %.0f on it "
               "says something\n",
               b->useful_from);
    else
        printf("upper bound   says nothing %s\n",
               isinf(b->useful_from) ? "at any horizon" : "at this horizon");
    printf("              %s\n", b->upper_by);
    if (b->alpha > 0)
        printf("              phases last at most %.4g N + %.5g rounds\n",
               b->alpha, b->beta);
}

/* The limit for large T, and what proves it. */
static void print_limit(const arguments *a, const tarry__bound_limit *l)
{
    const double log_t = tarry__ln((double)a->horizon);
    if (isnan(l->constant)) {
        printf("limit         not known: arms in more than %d dimensions\n",
               TARRY__LIMIT_MOST_DIM);
        return;
    }
    printf("limit         %.5g log T = %.5g for large T, for every policy\n"
           "              Graves and Lai; Gaussian losses, R = %.3g; a plan "
           "costs %.6g,\n              none less than %.6g\n",
           l->certified, l->certified * log_t, l->R, l->constant, l->certified);
    if (!isnan(l->by_law))
        printf("              these two-valued losses: %.5g log T = %.5g at "
               "least\n",
               l->by_law, l->by_law * log_t);
}

static int print_text(const arguments *a, const tarry__bound *b,
                      const tarry__bound_limit *l)
{
    printf("%s in %s, %s, %s; %ju rounds\n", a->policy, a->instance, a->loss,
           a->delay, (uintmax_t)a->horizon);
    if (b->meaning != NULL)
        printf("policy        %s\n", b->meaning);
    printf("delay model   %s\n", b->model);
    print_upper(a, b);
    if (b->lower_by != NULL)
        printf("lower bound   %.5g, for every policy\n              %s\n",
               b->lower, b->lower_by);
    print_limit(a, l);
    printf("first phase   %.0f plays on %.0f arms, smallest weight %.3g\n",
           b->first_phase, b->support, b->min_weight);
    printf("              it fits into horizons from %.0f on%s\n",
           b->horizon_needed,
           b->first_phase > (double)a->horizon
               ? ": with this one nothing is ever eliminated"
               : "");
    printf("\n%6s %12s %14s %14s\n", "phase", "epsilon", "N", "at most");
    for (size_t m = 0; m < b->n_phases; m++)
        printf("%6zu %12.6g %14.6g %14.6g\n", m + 1, b->phase[m].epsilon,
               b->phase[m].quota, b->phase[m].longest);
    return cli_flush();
}

static int run(int argc, char **argv)
{
    arguments a = {.instance = "sphere",
                   .loss = "rademacher",
                   .delay = "exponential:mean=100",
                   .policy = "phased-stochastic",
                   .horizon = 1000000,
                   .seed = 1};
    const int code = parse(&a, argc, argv);
    if (code >= 0)
        return code;
    if (a.horizon < 2 || a.horizon >= 1ull << 39)
        return cli_error(EXIT_USAGE, "--horizon: not from 2 to 2^39 - 1: '%ju'",
                         (uintmax_t)a.horizon);
    tarry__world *world;
    tarry__bound bound;
    tarry__bound_limit limit;
    tarry_error error;
    tarry_status status = tarry__world_create(a.instance, a.loss, a.delay,
                                              a.seed, 0, &world, &error);
    if (status == TARRY_OK)
        status =
            tarry__bound_evaluate(world, a.policy, a.horizon, &bound, &error);
    if (status == TARRY_OK) {
        status = tarry__bound_limit_find(world, &limit, &error);
        if (status == TARRY_BAD_INPUT) /* not known, and said so */
            status = TARRY_OK;
    }
    tarry__world_free(world);
    if (status != TARRY_OK)
        return cli_error(cli_code(status), "%s", error.text);
    return a.json ? print_json(&a, &bound, &limit)
                  : print_text(&a, &bound, &limit);
}

const cli_command cli_bound = {"bound", summary, run};
