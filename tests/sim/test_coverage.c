/* The certificate and the cuts of cuts=always, counted.  In every world of the
 * delay zoo, made small enough to be played often, a run fails if at one of the
 * points in time the certificate is below the true gap of its arm, or if the
 * best arm is cut; with a confidence of 0.95 that may be so in one of twenty
 * runs.  Over R runs the count has mean at most R/20 and at most its root as
 * standard error; three are allowed.  The guide plays nearly alone here, so
 * this rests on the bounds from all data.  Where arms are hard to tell apart,
 * three tenths of the widths are found out.
 *
 * TARRY_CAMPAIGN=1 counts 1000 runs of each world instead of 20. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include "sim/sim.h"

enum { N_GRID = 12, FEW = BRIEF ? 4 : 20, MANY = 1000, HORIZON = 8000 };
static const double FAILURE = 0.05;

typedef struct {
    const char *algorithm, *instance, *loss, *delay;
} world;

#define SPHERE "sphere:dim=5,arms=30", "rademacher"
#define CLOSE "basis:arms=2,best=-0.02,gap=0.04,means=equal", "rademacher"
#define PLANE "sphere:dim=2,arms=3,scale=0.1", "rademacher"
#define END "basis:arms=2,best=-0.98,gap=0.02,means=equal", "rademacher"
#define UNIT "basis:arms=2,best=0.5,gap=0.02,means=equal", "bernoulli"

static const world zoo[] = {
    {"stochastic", SPHERE, "none"},
    {"stochastic", SPHERE, "exponential:mean=100"},
    {"stochastic", SPHERE, "pareto:shape=1.5,mean=100"},
    {"stochastic", SPHERE, "exponential:mean=100,spread=10"},
    {"stochastic", SPHERE, "two-point:high=500,p=0.1"},
    {"adversarial", SPHERE, "hold-rarest:sigma=200"},
    {"adversarial", SPHERE, "hold-all:sigma=200"},
    {"adversarial", SPHERE, "hold-newest:sigma=200"},
    {"loss-dependent", SPHERE, "low-late:late=300,spread=20"},
    {"loss-dependent", SPHERE, "high-late:late=200,law=exponential"},
    {"loss-dependent", SPHERE, "threshold:below=300,above=5,never=0.2"},
    {"loss-dependent", "orthant:dim=5,arms=30", "bernoulli", "payoff:D=500"},
    {"loss-dependent", SPHERE, "exponential:mean=100"},
};
enum { N_ZOO = sizeof zoo / sizeof *zoo };

static const world hard[] = {
    {"stochastic", CLOSE, "none"},
    {"stochastic", PLANE, "exponential:mean=20"},
    {"stochastic", END, "none"},
    {"adversarial", CLOSE, "hold-all:sigma=20"},
    {"loss-dependent", CLOSE, "low-late:late=3"},
    {"loss-dependent", PLANE, "high-late:late=3"},
    {"loss-dependent", UNIT, "payoff:D=3"},
};
enum { N_HARD = sizeof hard / sizeof *hard };

static bool is_covered(const tarry__sim_outcome *o)
{
    for (size_t i = 0; i < N_GRID; i++)
        if (!(o->exploit_gap[i] <= o->certificate[i] + 1e-12))
            return false;
    return true;
}

typedef struct {
    uint64_t runs, failed, left; /* arms left at the ends */
} tally;

static void play(const world *w, const char *settings, uint32_t run, tally *t)
{
    static tarry__sim_outcome o;
    char policy[200];
    uint64_t grid[N_GRID];
    tarry_error error = {""};
    snprintf(policy, sizeof policy, "phased-%s:constants=tight,%s",
             w->algorithm, settings);
    for (size_t i = 0; i < N_GRID; i++)
        grid[i] = (uint64_t)HORIZON >> (N_GRID - 1 - i);
    const tarry__sim_trial trial = {.instance = w->instance,
                                    .loss = w->loss,
                                    .delay = w->delay,
                                    .policy = policy,
                                    .horizon = HORIZON,
                                    .seed = 2385,
                                    .run = run,
                                    .n_grid = N_GRID,
                                    .grid = grid};
    if (tarry__sim_run(&trial, &o, &error) != TARRY_OK)
        fail_msg("%s: %s", policy, error.text);
    t->failed += !o.best_kept || !is_covered(&o);
    t->left += o.active;
    t->runs++;
}

#define GUIDED "guide=foresight,guide_share=1e6,cuts=always,confidence=0.95"

static tally count(const world *w, const char *settings, uint32_t runs)
{
    tally t = {0, 0, 0};
    for (uint32_t run = 0; run < runs; run++)
        play(w, settings, run, &t);
    print_message("    %-14s %-40s failed %d of %d, arms left %.1f\n",
                  w->algorithm, w->delay, (int)t.failed, (int)t.runs,
                  (double)t.left / (double)t.runs);
    return t;
}

static uint32_t n_runs(void)
{
    return getenv("TARRY_CAMPAIGN") != NULL ? MANY : FEW;
}

static bool is_consistent(const tally *t)
{
    const double most = FAILURE * (double)t->runs;
    return (double)t->failed <= most + 3 * sqrt(most);
}

static void certificates_cover_in_every_world(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ZOO; i++) {
        const tally t = count(&zoo[i], GUIDED, n_runs());
        assert_true(is_consistent(&t));
    }
}

static void certificates_cover_where_arms_are_close(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_HARD; i++) {
        const tally t = count(&hard[i], GUIDED, 5 * n_runs());
        assert_true(is_consistent(&t));
    }
}

static void three_tenths_of_the_widths_are_found_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_HARD; i++) {
        const tally t = count(&hard[i], GUIDED ",width=0.3", 120);
        assert_false(is_consistent(&t));
    }
}

/* Without delays there are arms to cut, and no phase ends that could. */
static void arms_are_cut_without_phases(void **state)
{
    (void)state;
    const tally t = count(&zoo[0], GUIDED, FEW);
    assert_true(t.left < 27 * t.runs); /* of 30 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certificates_cover_in_every_world),
        cmocka_unit_test(certificates_cover_where_arms_are_close),
        cmocka_unit_test(three_tenths_of_the_widths_are_found_out),
        cmocka_unit_test(arms_are_cut_without_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
