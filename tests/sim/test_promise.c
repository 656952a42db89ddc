/* The promise of constants=tight, counted: over thousands of runs in worlds
 * whose arms are hard to tell apart, the best arm is lost, and the certificate
 * fails, in a share of the runs that is consistent with 1/T.  With widths a
 * quarter as large the same count fails, so it can.
 *
 * With at most 1/T per run, the count over R runs has mean at most R/T and at
 * most its root as standard error; three of them are allowed. */
#include "check.h"
#include <stdio.h>
#include "sim/sim.h"

enum { N_GRID = 8 };

/* Of `runs` a fifth, all in `make campaign`. */
static uint64_t some(uint64_t runs)
{
    return runs / amount(40, 5, 1);
}

typedef struct {
    const char *policy; /* with a place for further settings */
    const char *instance, *loss, *delay;
} world;

/* Two arms and one dimension each, nearly alike; or three in the plane. */
#define CLOSE "basis:arms=2,best=-0.01,gap=0.02,means=equal"
#define PLANE "sphere:dim=2,arms=3,scale=0.05"
#define PAYOFF "basis:arms=2,best=0.5,gap=0.01,means=equal"

static const world worlds[] = {
    {"phased-stochastic:%s", CLOSE, "rademacher", "none"},
    {"phased-stochastic:%s", PLANE, "rademacher", "exponential:mean=20"},
    {"phased-stochastic:%s", CLOSE, "rademacher",
     "exponential:mean=20,spread=4"},
    {"phased-stochastic:%s", CLOSE, "rademacher", "hold-all:sigma=20"},
    {"phased-adversarial:%s", PLANE, "rademacher", "hold-rarest:sigma=20"},
    {"phased-adversarial:%s", CLOSE, "rademacher", "hold-newest:sigma=20"},
    {"phased-loss-dependent:%s", CLOSE, "rademacher", "low-late:late=30"},
    {"phased-loss-dependent:%s", PLANE, "rademacher", "high-late:late=30"},
    {"phased-loss-dependent:%s", PAYOFF, "bernoulli", "payoff:D=5"},
    {"phased-mab:%s", CLOSE, "rademacher", "low-late:late=30"},
    {"phased-mab:%s", CLOSE, "rademacher",
     "threshold:below=30,above=3,never=0.001"},
};
enum { N_WORLDS = sizeof worlds / sizeof *worlds };

static const world guided[] = {
    {"phased-stochastic:%s,guide=lints,guide_share=1", CLOSE, "rademacher",
     "exponential:mean=20"},
    {"phased-adversarial:%s,guide=greedy,guide_share=1,design=regret", PLANE,
     "rademacher", "hold-rarest:sigma=20"},
    {"phased-adversarial:%s,guide=linucb,guide_share=1,design=regret", CLOSE,
     "rademacher", "none"},
    {"phased-loss-dependent:%s,guide=lints,guide_share=1,design=regret", CLOSE,
     "rademacher", "low-late:late=30"},
    {"phased-loss-dependent:%s,guide=greedy,guide_share=1", PLANE, "rademacher",
     "high-late:late=30"},
    {"phased-loss-dependent:%s,guide=foresight,guide_share=1,design=regret",
     PLANE, "rademacher", "low-late:late=30"},
    {"phased-mab:%s,guide=lints,guide_share=1", CLOSE, "rademacher",
     "low-late:late=30"},
};
enum { N_GUIDED = sizeof guided / sizeof *guided };

typedef struct {
    uint64_t runs, lost, uncovered, phases;
} tally;

static bool is_covered(const tarry__sim_outcome *o)
{
    for (size_t i = 0; i < N_GRID; i++)
        if (!(o->exploit_gap[i] <= o->certificate[i] + 1e-12))
            return false;
    return true;
}

static bool is_consistent(uint64_t count, uint64_t runs, uint64_t horizon)
{
    const double most = (double)runs / (double)horizon;
    return (double)count <= most + 3 * sqrt(most);
}

/* Whether both counts are too large for one failure in `allowed` runs; more
 * runs cannot change that. */
static bool is_found_out(const tally *t, uint64_t allowed)
{
    return !is_consistent(t->lost, t->runs, allowed) &&
           !is_consistent(t->uncovered, t->runs, allowed);
}

/* Counts `runs` runs, or until one failure in `allowed` is found out. */
static tally count(const world *w, const char *settings, uint64_t horizon,
                   uint64_t runs, uint64_t allowed)
{
    static tarry__sim_outcome o;
    char policy[200];
    uint64_t grid[N_GRID];
    tally t = {.runs = runs};
    uint32_t run = 0;
    snprintf(policy, sizeof policy, w->policy, settings);
    for (size_t i = 0; i < N_GRID; i++)
        grid[i] = horizon * (i + 1) / N_GRID;
    for (; run < runs && !is_found_out(&t, allowed); run++) {
        const tarry__sim_trial trial = {.instance = w->instance,
                                        .loss = w->loss,
                                        .delay = w->delay,
                                        .policy = policy,
                                        .horizon = horizon,
                                        .seed = 2385,
                                        .run = run,
                                        .n_grid = N_GRID,
                                        .grid = grid};
        tarry_error error = {""};
        if (tarry__sim_run(&trial, &o, &error) != TARRY_OK)
            fail_msg("%s: %s", policy, error.text);
        t.lost += !o.best_kept;
        t.uncovered += !is_covered(&o);
        t.phases += o.n_phases;
    }
    print_message("    %-66s T = %5d: lost %d, uncovered %d of %d\n", policy,
                  (int)horizon, (int)t.lost, (int)t.uncovered, (int)run);
    return t;
}

static void check_worlds(const world *list, size_t n, uint64_t horizon,
                         uint64_t runs)
{
    for (size_t i = 0; i < n; i++) {
        const tally t =
            count(&list[i], "constants=tight", horizon, some(runs), horizon);
        assert_true(t.phases >= t.runs / 2); /* else nothing was tried */
        assert_true(is_consistent(t.lost, t.runs, horizon));
        assert_true(is_consistent(t.uncovered, t.runs, horizon));
    }
}

static void the_best_arm_is_kept_in_short_games(void **state)
{
    (void)state;
    check_worlds(worlds, N_WORLDS, 1000, 3000);
    check_worlds(guided, N_GUIDED, 1000, 3000);
}

static void the_best_arm_is_kept_in_longer_games(void **state)
{
    (void)state;
    check_worlds(worlds, N_WORLDS, 10000, 2000);
    check_worlds(guided, N_GUIDED, 10000, 500);
}

/* With a confidence of 0.99 a run may fail with probability 1/100, whatever the
 * horizon; by the horizon that would be one of 100 rounds. */
static void confidences_are_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_WORLDS + N_GUIDED; i++) {
        const world *w = i < N_WORLDS ? &worlds[i] : &guided[i - N_WORLDS];
        const tally t =
            count(w, "constants=tight,confidence=0.99", 3000, some(1000), 100);
        assert_true(t.phases >= t.runs / 2);
        assert_true(is_consistent(t.lost, t.runs, 100));
        assert_true(is_consistent(t.uncovered, t.runs, 100));
    }
}

static void narrow_confidences_are_found_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_WORLDS; i++) {
        const tally t =
            count(&worlds[i], "constants=tight,confidence=0.99,width=0.2", 3000,
                  500, 100);
        assert_false(is_consistent(t.lost, t.runs, 100));
    }
}

static void quarter_widths_are_found_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_WORLDS + N_GUIDED; i++) {
        const world *w = i < N_WORLDS ? &worlds[i] : &guided[i - N_WORLDS];
        const tally t =
            count(w, "constants=tight,width=0.25", 1000, 2000, 1000);
        assert_false(is_consistent(t.lost, t.runs, 1000));
        assert_false(is_consistent(t.uncovered, t.runs, 1000));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_arm_is_kept_in_short_games),
        cmocka_unit_test(the_best_arm_is_kept_in_longer_games),
        cmocka_unit_test(confidences_are_kept),
        cmocka_unit_test(narrow_confidences_are_found_out),
        cmocka_unit_test(quarter_widths_are_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
