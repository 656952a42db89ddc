/* Information-directed sampling against alternatives asks until the evidence
 * against every other arm is enough, and not longer.  With three arms of one
 * dimension each, gaps g and n plays of a bad arm, evidence is about g^2 n / 2
 * and enough is beta^2 / 2: so a bad arm is played beta^2 / g^2 times. */
#include "check.h"
#include <math.h>
#include "sim/sim.h"

enum { RUNS = 8, HORIZON = 100000 };
static const double GAP = 0.5;

static double mean_regret(const char *policy, const char *delay)
{
    static tarry__sim_outcome o;
    static const uint64_t grid[] = {HORIZON};
    double mean = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        const tarry__sim_trial trial = {
            .instance = "basis:arms=3,best=-0.5,gap=0.5,means=equal",
            .loss = "rademacher",
            .delay = delay,
            .policy = policy,
            .horizon = HORIZON,
            .seed = 2385,
            .run = run,
            .n_grid = 1,
            .grid = grid};
        assert_int_equal(tarry__sim_run(&trial, &o, NULL), TARRY_OK);
        mean += o.regret / RUNS;
    }
    return mean;
}

/* What two bad arms cost at the end, beta being alpha times the radius of V,
 * 1 + the plays of each arm, at a failure of 1/(t log t). */
static double expected(double alpha)
{
    const double T = HORIZON;
    double n = 100;
    for (int i = 0; i < 50; i++) {
        const double log_det = log(T) + 2 * log(1 + n);
        const double beta = alpha * (sqrt(2 * log(T * log(T)) + log_det) + 1);
        n = beta * beta / (GAP * GAP);
    }
    return 2 * GAP * n;
}

/* The estimate of a gap from n plays is off by about n^-1/2, so a run's n by a
 * share of 2 / (g sqrt(n)), 0.25 or 0.5, and the mean of 16 by a quarter of
 * that; rules that never stop, or stop at once, are off by far more. */
static void asking_ends_with_enough_evidence(void **state)
{
    (void)state;
    static const double alphas[] = {1, 0.5};
    static const char *const policies[] = {"ids-asymptotic",
                                           "ids-asymptotic:alpha=0.5"};
    for (int i = 0; i < 2; i++) {
        const double paid = mean_regret(policies[i], "none");
        print_message("    %s: %.0f, expected %.0f\n", policies[i], paid,
                      expected(alphas[i]));
        CHECK_NEAR(paid, expected(alphas[i]), 0.35 * expected(alphas[i]));
    }
}

/* While losses are outstanding their plays count as information. */
static void outstanding_plays_are_not_asked_for_again(void **state)
{
    (void)state;
    const double paid = mean_regret("ids-asymptotic", "constant:rounds=500");
    print_message("    constant delays: %.0f\n", paid);
    CHECK_AT_MOST(paid, 1.35 * expected(1) + 500 * 2 * GAP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asking_ends_with_enough_evidence),
        cmocka_unit_test(outstanding_plays_are_not_asked_for_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
