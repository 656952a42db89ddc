/* The bounds: a few by hand, how they grow, and runs that keep to them. */
#include "check.h"
#include <stdio.h>
#include <string.h>
#include "bound/bound.h"
#include "bound/tight.h"
#include "sim/sim.h"
#include "tarry/policy.h"

typedef struct {
    const char *instance, *loss, *delay, *policy;
    uint64_t horizon;
} question;

static tarry__bound ask(const question *q)
{
    tarry__world *world;
    tarry__bound bound = {0};
    tarry_error error = {"no error text"};
    tarry_status status = tarry__world_create(q->instance, q->loss, q->delay,
                                              2385, 0, &world, &error);
    if (status == TARRY_OK)
        status =
            tarry__bound_evaluate(world, q->policy, q->horizon, &bound, &error);
    if (status != TARRY_OK)
        fail_msg("%s, %s: %s", q->policy, q->delay, error.text);
    tarry__world_free(world);
    return bound;
}

static double upper(const char *policy, const char *delay, uint64_t horizon)
{
    const question q = {"basis:arms=4", "rademacher", delay, policy, horizon};
    return ask(&q).upper;
}

/* ---- by hand --------------------------------------------------------------*/

static const double log_kt = 12.89921982609012; /* log(4 * 1e5) */

/* n = K = 4 and T = 1e5; four arms of weight 1/4, psi = 16 + 16 * 0.3266 as a
 * whole number: 21. */
static void a_plain_bandit_by_hand(void **state)
{
    (void)state;
    const question q = {"basis:arms=4", "rademacher", "constant:rounds=70",
                        "phased-stochastic", 100000};
    const tarry__bound b = ask(&q);
    assert_string_equal(b.model, "stochastic, equal for all arms");
    CHECK_NEAR(b.support, 4, 0);
    CHECK_NEAR(b.min_weight, 0.25, 1e-6);
    CHECK_NEAR(b.q, 1, 0);
    CHECK_NEAR(b.alpha, 4, 0);
    assert_int_equal(b.n_phases, 4);
    CHECK_NEAR(b.beta, 2 * (log(4 * 4 * 1e5) + 1) * 42 + 70, 1e-6);
    CHECK_NEAR(b.upper, 8 * b.beta + 32 * sqrt(3 * 4 * 4 * 1e5 * log_kt) + 4,
               1e-6);
    CHECK_NEAR(b.phase[0].quota, 64 * 4 * log_kt, 1e-6);
    CHECK_NEAR(b.first_phase, 4 * ceil(64 * log_kt), 4);
}

static void algorithms_3_and_4_by_hand(void **state)
{
    (void)state;
    question q = {"basis:arms=4", "rademacher", "low-late:late=500",
                  "phased-loss-dependent", 100000};
    const tarry__bound three = ask(&q);
    const double wait = 24 * 2 * log(1e5) / (0.5 * 0.25); /* > 256 log(KT) */
    CHECK_NEAR(three.phase[0].quota, wait, 1e-2);
    CHECK_NEAR(three.phase[0].longest, 2 * wait + 500, 2e-2);
    CHECK_NEAR(three.phase[1].quota, 24 * 2 * log(1e5) * 42 / 0.25, 1e-6);
    assert_int_equal(three.n_phases, 4);
    double sum = 4;
    for (size_t m = 0; m < three.n_phases; m++)
        sum += 38.62741699796952 * ldexp(0.5, -(int)m) * three.phase[m].longest;
    CHECK_NEAR(three.upper, sum, 1e-6);
    q.policy = "phased-mab";
    const tarry__bound four = ask(&q);
    CHECK_NEAR(four.phase[0].quota, ceil(96 * log_kt), 0);
    CHECK_NEAR(four.phase[1].longest, 4 * ceil(384 * log_kt) + 500, 0);
    CHECK_NEAR(four.first_phase, 4 * ceil(96 * log_kt), 0);
    sum = 4;
    for (size_t m = 0; m < four.n_phases; m++)
        sum += 20 * ldexp(0.5, -(int)m) * four.phase[m].longest;
    CHECK_NEAR(four.upper, sum, 1e-6);
}

/* The dearest game that the premises of the lemma on regret allow: phases of
 * alpha N + beta rounds at 8 eps each, but no round above 2, until the horizon
 * cuts one short. */
static double dearest_game(double alpha, double beta, double n, double log_kt,
                           double T)
{
    double regret = 0, eps = 0.5;
    for (double left = T; left > 0; eps /= 2) {
        const double rounds =
            fmin(alpha * 16 * n * log_kt / (eps * eps) + beta, left);
        regret += 8 * eps * rounds;
        left -= rounds;
    }
    return regret;
}

/* 32 sqrt(3): no game is dearer, and with 32 or 32 * 1.7 some would be. */
static void phases_add_up_to_the_lemma_on_regret(void **state)
{
    (void)state;
    const double n = 5, K = 70;
    double largest = 0;
    for (double alpha = 1; alpha < 50; alpha *= 2.7)
        for (double beta = 1e-9; beta < 1e7; beta *= 100)
            for (double T = 1e4; T < 1e14; T *= 1.05) {
                const double L = log(K * T);
                const double dear = dearest_game(alpha, beta, n, L, T);
                const double root = sqrt(alpha * n * T * L);
                CHECK_AT_MOST(dear, 8 * beta + 32 * sqrt(3) * root);
                largest = fmax(largest, (dear - 8 * beta) / root);
            }
    CHECK_AT_MOST(32 * 1.71, largest);
}

/* Survivors' gaps: what the cut allows plus twice what an estimate may be off.
 * Algorithm 3: cut 6 eps, an upper estimate is at most eps + 4 sqrt(2) eps off;
 * Algorithm 4: cut 4 eps, at most 3 eps off; the next phase has eps / 2. */
static void gaps_of_survivors_by_hand(void **state)
{
    (void)state;
    const double three = 2 * (6 + 2 * (1 + 4 * sqrt(2)));
    const double four = 2 * (4 + 2 * 3);
    question q = {"basis:arms=4", "rademacher", "constant:rounds=0",
                  "phased-loss-dependent", 100000};
    tarry__bound b = ask(&q);
    double sum = 4;
    for (size_t m = 0; m < b.n_phases; m++)
        sum += three * b.phase[m].epsilon * 2 * b.phase[m].quota;
    CHECK_NEAR(b.upper, sum, 1e-6 * sum);
    q.policy = "phased-mab";
    b = ask(&q);
    sum = 4;
    for (size_t m = 0; m < b.n_phases; m++)
        sum += four * b.phase[m].epsilon * 4 * b.phase[m].quota;
    CHECK_NEAR(b.upper, sum, 1e-6 * sum);
}

/* Half of the losses come at once, the others after more than the game: it is
 * best to wait for the first half alone. */
static void losses_that_are_late_are_not_waited_for(void **state)
{
    (void)state;
    const question q = {"basis:arms=4", "rademacher",
                        "two-point:low=9,high=1e12,p=0.5", "phased-stochastic",
                        100000};
    const tarry__bound b = ask(&q);
    CHECK_NEAR(b.q, 0.5, 0);
    CHECK_NEAR(b.alpha, 8, 0);
    CHECK_NEAR(b.beta, 4 * (log(4 * (double)b.n_phases * 1e5) + 1) * 42 + 9,
               1e-6);
    CHECK_NEAR(b.upper, 8 * b.beta + 32 * sqrt(3 * 8 * 4 * 1e5 * log_kt) + 4,
               1e-6);
}

/* With delays by chance 2 E[d] + 8 log T plays are outstanding at most. */
static void chance_is_an_adversary_with_a_budget(void **state)
{
    (void)state;
    static const char *const delays[] = {"constant:rounds=70",
                                         "uniform:high=140", "poisson:mean=70"};
    const double sigma = 2 * 70 + 8 * log(1e5);
    for (size_t i = 0; i < 3; i++) {
        const question q = {"basis:arms=4", "rademacher", delays[i],
                            "phased-adversarial", 100000};
        const tarry__bound b = ask(&q);
        CHECK_NEAR(b.alpha, 2, 0);
        CHECK_NEAR(b.beta, sigma * (1 + log(sigma)), 1e-6);
    }
}

/* An adversary who sees losses and may hold them for ever leaves nothing. */
static void phases_last_as_long_as_an_adversary_may_hold(void **state)
{
    (void)state;
    question q = {"basis:arms=4", "rademacher", "hold-good",
                  "phased-loss-dependent", 100000};
    tarry__bound b = ask(&q);
    for (size_t m = 0; m < b.n_phases; m++)
        assert_true(isinf(b.phase[m].longest));
    q.delay = "hold-good:longest=30";
    b = ask(&q);
    for (size_t m = 0; m < b.n_phases; m++)
        CHECK_NEAR(b.phase[m].longest, 2 * b.phase[m].quota + 30,
                   1e-12 * b.phase[m].longest);
}

/* It is the first whose first phase fits into it. */
static void the_horizon_that_is_needed_is_exact(void **state)
{
    (void)state;
    static const char *const policies[] = {
        "phased-stochastic", "phased-adversarial", "phased-loss-dependent",
        "phased-mab", "phased-mab:constants=tight"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        question q = {"basis:arms=4", "rademacher", "constant:rounds=70",
                      policies[i], 1000};
        const double needed = ask(&q).horizon_needed;
        q.horizon = (uint64_t)needed;
        CHECK_AT_MOST(ask(&q).first_phase, needed);
        CHECK_NEAR(ask(&q).horizon_needed, needed, 0);
        q.horizon--;
        CHECK_AT_MOST(needed - 0.5, ask(&q).first_phase);
    }
}

/* Names that stand for another policy say for which. */
static void a_bound_says_what_a_name_means(void **state)
{
    (void)state;
    question q = {"basis:arms=4", "rademacher", "constant:rounds=70",
                  "recommended", 100000};
    const tarry__bound b = ask(&q);
    assert_non_null(b.meaning);
    assert_memory_equal(b.meaning, "phased-", 7);
    const double upper_of_name = b.upper;
    q.policy = b.meaning;
    CHECK_NEAR(ask(&q).upper, upper_of_name, 0);
    assert_null(ask(&q).meaning);
}

/* Weights are raised to 1/(5 psi), psi = r (r + 1)/2 = 10. */
static void tight_weights_are_promised_by_rank(void **state)
{
    (void)state;
    const question q = {"basis:arms=4", "rademacher", "constant:rounds=70",
                        "phased-stochastic:constants=tight", 100000};
    const tarry__bound b = ask(&q);
    CHECK_NEAR(b.beta, 2 * (log(4 * (double)b.n_phases * 1e5) + 1) * 50 + 70,
               1e-6);
}

/* What every policy loses: half the games miss the best arm for dbar / q
 * rounds, or for D / 20, or for as many as there are. */
static void lower_bounds_by_hand(void **state)
{
    (void)state;
    static const uint64_t horizons[] = {2, 3, 10, 100, 1000, 1000000};
    const double q = sqrt(8 * log(20 * 1000.0) / 1000);
    for (size_t i = 0; i < sizeof horizons / sizeof *horizons; i++) {
        const uint64_t T = horizons[i];
        const question hard = {"lower-loss:dim=1000,dbar=20", "rademacher",
                               "theorem", "phased-loss-dependent", T};
        tarry__bound b = ask(&hard);
        assert_string_equal(b.lower_by, "Theorem (loss-dependent lower bound)");
        CHECK_NEAR(b.lower, (1 - q) / 2 * fmin(20 / q, (double)T), 1e-9);
        const question payoff = {"lower-payoff:dim=100,arms=2", "none",
                                 "payoff:D=19", "phased-loss-dependent", T};
        b = ask(&payoff);
        assert_string_equal(b.lower_by,
                            "Theorem (delay-as-payoff lower bound)");
        CHECK_NEAR(b.lower, fmin(19.0 / 20, (double)T) / 40, 1e-15);
        const question large = {"lower-payoff:dim=400,arms=50", "none",
                                "payoff:D=500", "phased-loss-dependent", T};
        CHECK_NEAR(ask(&large).lower, fmin(25, (double)T) / 40, 1e-15);
    }
}

/* Where nothing can be chosen, or nothing is known. */
static void there_is_not_always_a_lower_bound(void **state)
{
    (void)state;
    static const question none[] = {
        {"lower-payoff:dim=100,arms=1", "none", "payoff:D=10",
         "phased-loss-dependent", 1000},
        {"basis:arms=3,best=0.1", "none", "payoff:D=10",
         "phased-loss-dependent", 1000},
        {"basis:arms=3", "rademacher", "constant", "phased-stochastic", 1000},
        {"basis:arms=3", "rademacher", "hold-all", "phased-adversarial", 1000}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        const tarry__bound b = ask(&none[i]);
        assert_null(b.lower_by);
        CHECK_NEAR(b.lower, 0, 0);
    }
}

static void other_policies_are_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"", "nobody", "phased", "phased-mab2",
                               "phased-mab:colour=red"};
    tarry__world *world;
    tarry__bound bound = {0};
    assert_int_equal(
        tarry__world_create("basis", "rademacher", "none", 1, 0, &world, NULL),
        TARRY_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(
            tarry__bound_evaluate(world, bad[i], 1000, &bound, NULL),
            TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry__bound_evaluate(world, "phased-mab:constants=paper",
                                           1000, &bound, NULL),
                     TARRY_OK);
    tarry__world_free(world);
}

/* ---- how they grow --------------------------------------------------------*/

static const struct {
    const char *policy, *delay[4]; /* longer and longer */
} ladders[] = {
    {"phased-stochastic",
     {"none", "exponential:mean=30", "exponential:mean=300",
      "exponential:mean=300,spread=4"}},
    {"phased-stochastic",
     {"exponential", "exponential:never=0.3", "exponential:never=0.9",
      "exponential:never=0.999"}},
    {"phased-stochastic",
     {"hold-all:sigma=0", "hold-all:sigma=10", "hold-all:sigma=500",
      "hold-all:sigma=5e5"}},
    {"phased-adversarial",
     {"hold-rarest:sigma=0", "hold-rarest:sigma=1", "hold-rarest:sigma=2",
      "hold-rarest:sigma=5000"}},
    {"phased-loss-dependent",
     {"none", "low-late:late=30", "low-late:late=3000",
      "low-late:late=3000,never=0.01"}},
    {"phased-mab",
     {"none", "high-late:late=30", "two-point:high=3000,p=0.4",
      "lomax:shape=0.3,scale=1e4"}},
};
enum { N_LADDERS = sizeof ladders / sizeof *ladders };

static void longer_delays_raise_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_LADDERS; i++)
        for (size_t k = 1; k < 4; k++)
            CHECK_AT_MOST(
                upper(ladders[i].policy, ladders[i].delay[k - 1], 100000),
                upper(ladders[i].policy, ladders[i].delay[k], 100000));
}

static void longer_horizons_raise_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_LADDERS; i++)
        for (uint64_t T = 2; T < 1ull << 36; T *= 7)
            CHECK_AT_MOST(upper(ladders[i].policy, ladders[i].delay[1], T),
                          upper(ladders[i].policy, ladders[i].delay[1], 7 * T));
}

static void phases_grow_and_fill_the_horizon(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_LADDERS; i++) {
        const question q = {"sphere", "rademacher", ladders[i].delay[1],
                            ladders[i].policy, 1ull << 36};
        const tarry__bound b = ask(&q);
        double sum = 0;
        assert_in_range(b.n_phases, 5, TARRY__BOUND_PHASES);
        for (size_t m = 0; m < b.n_phases; m++) {
            CHECK_NEAR(b.phase[m].epsilon, ldexp(0.5, -(int)m), 0);
            CHECK_AT_MOST(b.phase[m].quota, b.phase[m].longest);
            CHECK_AT_MOST(sum, 0x1p36);
            sum += b.phase[m].quota;
        }
    }
}

/* The horizon from which on a bound says something is the same whoever asks for
 * it, and to a thousandth that at which one who asks there is told so. */
static void a_bound_says_from_which_horizon_it_is_useful(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_LADDERS; i++) {
        question q = {"basis:arms=4", "rademacher", ladders[i].delay[1],
                      ladders[i].policy, 10};
        const double from = ask(&q).useful_from;
        assert_true(from > 1000 && from < 0x1p39);
        for (q.horizon = 2; (double)q.horizon < from; q.horizon *= 5)
            CHECK_NEAR(ask(&q).useful_from,
                       ask(&q).upper <= 2 * (double)q.horizon ? 0 : from, 0);
        q.horizon = (uint64_t)from - 1;
        assert_true(ask(&q).upper > 2 * (double)q.horizon);
        CHECK_NEAR(ask(&q).useful_from, from, 0);
        q.horizon = (uint64_t)from;
        CHECK_AT_MOST(ask(&q).upper, 2 * from);
        CHECK_NEAR(ask(&q).useful_from, 0, 0);
    }
}

/* The bounds of Algorithms 3 and 4 leap up where another phase can begin, so
 * that they may say something, then nothing, and then something again. */
static void
from_the_horizon_named_on_a_bound_always_says_something(void **state)
{
    (void)state;
    static const struct {
        const char *policy, *instance, *delay;
    } leaping[] = {
        {"phased-loss-dependent", "sphere", "low-late:late=3000"},
        {"phased-mab", "sphere:dim=2,arms=3", "exponential:mean=141.66"},
        {"phased-mab", "basis:arms=4", "two-point:high=3000,p=0.4"},
    };
    size_t n_below = 0;
    for (size_t i = 0; i < sizeof leaping / sizeof *leaping; i++) {
        question q = {leaping[i].instance, "rademacher", leaping[i].delay,
                      leaping[i].policy, 2};
        const double from = ask(&q).useful_from;
        assert_true(from < 0x1p38);
        for (double T = 100; T < 0x1p39; T *= 1.05) {
            q.horizon = (uint64_t)T;
            const double named = ask(&q).useful_from;
            assert_true(named == 0 || (named == from && named > T));
            n_below += named == 0 && T < from;
        }
        q.horizon = (uint64_t)from - 1;
        CHECK_NEAR(ask(&q).useful_from, from, 0);
    }
    assert_true(n_below > 0); /* also below it, here and there */
}

/* n = K = 4, T = 1e5: L = log(4 * 17 * 1e5), near design with g = 4. */
static void tight_constants_by_hand(void **state)
{
    (void)state;
    const double L = log(4 * 17 * 1e5), N = 2 * 4 * L * 4;
    question q = {"basis:arms=4", "rademacher", "hold-all:sigma=50",
                  "phased-adversarial:constants=tight", 100000};
    tarry__bound b = ask(&q);
    const double held = 50 * (1 + log(50));
    CHECK_NEAR(b.phase[0].quota, N, 1e-6);
    CHECK_NEAR(b.first_phase, 4 * ceil(8 * L), 4);
    CHECK_NEAR(b.phase[0].longest, N + 4 + held, 1e-6);
    q.horizon = 1000; /* phase 1, and 64 rounds of phase 2 */
    const double first = 2 * 4 * log(4 * 10 * 1e3) * 4 + 4 + held;
    CHECK_NEAR(ask(&q).upper, 2 + 2 * first + 8 * 0.25 * (1000 - first), 1e-6);
    q.policy = "phased-adversarial:constants=tight,guide=lints,guide_share=9";
    q.horizon = 100000;
    b = ask(&q);
    CHECK_NEAR(b.phase[0].longest, 2 * 10 * (N + 4) + 10 * held, 1e-6);
    CHECK_NEAR(b.alpha, 10, 0);
}

/* The promise of constants=tight on four unit vectors once more, phase by
 * phase: what is lost if it is broken, and in each phase the largest gap times
 * the rounds that it may last, `wait` of them for losses that are missing. */
static double tight_promise(int algorithm, double confidence, double T,
                            double wait)
{
    double sum = confidence > 0 ? 2 * T * (1 - confidence) : 2, left = T;
    for (int m = 1; left > 0; m++) {
        const double eps = ldexp(1, -m);
        const double L = confidence > 0
                             ? log(2 * 4 * m * (m + 1) / (1 - confidence))
                             : log(4 * ceil(log2(T)) * T);
        const double g = m == 1 || algorithm == 4 ? 4 : 1.001 * 4;
        const double longest = 2 * g * L / (eps * eps) + 4 + wait;
        const double gap = (algorithm > 2 ? 14 : 8) * eps;
        const double rounds = fmin(longest, left);
        sum += rounds * (m == 1 ? 2 : fmin(gap, 2));
        left -= rounds;
    }
    return sum;
}

static void a_confidence_is_paid_for_in_full(void **state)
{
    static const struct {
        int algorithm;
        const char *policy, *delay;
        double wait;
    } cases[] = {{2, "phased-adversarial", "hold-all:sigma=50", 245.60115027},
                 {3, "phased-loss-dependent", "constant:rounds=70", 70},
                 {4, "phased-mab", "constant:rounds=70", 70}};
    static const double confidences[] = {0, 0.5, 0.95, 0.999};
    static const uint64_t horizons[] = {100, 1000, 20000, 5000000};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 16; k++) {
            const double c = confidences[k / 4];
            char policy[80];
            snprintf(policy, sizeof policy, "%s:constants=tight,confidence=%g",
                     cases[i].policy, c);
            const question q = {"basis:arms=4", "rademacher", cases[i].delay,
                                policy, horizons[k % 4]};
            const double hand = tight_promise(
                cases[i].algorithm, c, (double)horizons[k % 4], cases[i].wait);
            CHECK_NEAR(ask(&q).upper, hand, 1e-6 * hand);
        }
}

/* The same with a guide that plays `share` times as often: a phase may have its
 * plan twice, or three times if arms are cut at any time, and then 28 plans
 * more are paid for; and in each phase a delay may be longer than is waited
 * for, at a cost of 2.  A design that counts regret may need twice the plays,
 * leaves gaps of 32 eps, and phase 1 may have its plan once more. */
static double guided_promise(int algorithm, double T, double share,
                             double plans, double wait, bool regret)
{
    double sum = 2, left = T;
    for (int m = 1; left > 0; m++) {
        const double eps = ldexp(1, -m);
        const double M = ceil(log2(T)) + (plans > 2 ? 56 : 0);
        const double L = log(4 * M * T);
        const double g = m == 1 || algorithm == 4 ? 4 : 1.001 * 4;
        const double N = (regret ? 2 : 1) * 2 * g * L / (eps * eps);
        const double plan = (1 + share) * (N + 4);
        const double more = regret && m == 1 ? plan : 0;
        const double rounds = fmin(more + plans * plan + wait, left);
        const double gap = (regret ? 33.5 : 9.5) * eps;
        sum += 2 + rounds * (m == 1 ? 2 : fmin(gap, 2));
        left -= rounds;
    }
    return sum;
}

static void a_guide_is_paid_for_in_full(void **state)
{
    static const struct {
        int algorithm;
        const char *policy, *delay;
        double wait; /* for each play of the plan or of the guide */
    } cases[] = {{2, "phased-adversarial", "hold-all:sigma=50", 245.60115027},
                 {3, "phased-loss-dependent", "constant:rounds=70", 70},
                 {4, "phased-mab", "constant:rounds=70", 70}};
    static const double shares[] = {1, 9, 99};
    static const uint64_t horizons[] = {1000, 20000, 5000000};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 36; k++) {
            const double share = shares[k % 3], plans = k % 18 < 9 ? 2 : 3;
            const uint64_t T = horizons[k / 3 % 3];
            char policy[120];
            if (k >= 18 && cases[i].algorithm == 4)
                break; /* it has no design */
            snprintf(policy, sizeof policy,
                     "%s:constants=tight,guide=lints,guide_share=%g%s%s",
                     cases[i].policy, share, plans < 3 ? "" : ",cuts=always",
                     k < 18 ? "" : ",design=regret");
            const question q = {"basis:arms=4", "rademacher", cases[i].delay,
                                policy, T};
            const double hand = guided_promise(
                cases[i].algorithm, (double)T, share, plans,
                cases[i].wait * (cases[i].algorithm == 2 ? 1 + share : 1),
                k >= 18);
            CHECK_NEAR(ask(&q).upper, hand, 1e-6 * hand);
        }
}

/* A delay is waited for up to a probability of 2^-50 at most: 1 less that is
 * still a number below 1. */
static void the_longest_games_wait_for_finite_times(void **state)
{
    (void)state;
    const question q = {
        "basis:arms=4", "rademacher", "exponential:mean=10",
        "phased-loss-dependent:constants=tight,guide=lints,guide_share=9",
        (1ull << 39) - 1};
    const tarry__bound b = ask(&q);
    assert_true(isfinite(b.upper));
    for (size_t m = 0; m < b.n_phases; m++) {
        const double plays = b.phase[m].quota + 4;
        const double wait =
            10 * fmin(log((double)q.horizon * plays), 50 * log(2));
        CHECK_NEAR(b.phase[m].longest, 20 * plays + wait,
                   1 + 1e-12 * b.phase[m].longest);
    }
}

/* Algorithm 1 by itself: no q gives a smaller bound than the one that is named,
 * and none is named where losses that come are too few. */
static void tight_constants_take_the_best_quantile(void **state)
{
    (void)state;
    question q = {"basis:arms=4", "rademacher", "lomax:shape=1.5,mean=300",
                  "phased-stochastic:constants=tight", 1000000};
    tarry__world *world;
    const tarry__bound b = ask(&q);
    const double w = 0.02; /* 0.4 / (4 * 5) */
    assert_int_equal(
        tarry__world_create(q.instance, q.loss, q.delay, 2385, 0, &world, NULL),
        TARRY_OK);
    double least = INFINITY;
    for (int i = 1; i < 200; i++) {
        const double share = i / 200.0;
        const double beta =
            2 / share * (log(4 * (double)b.n_phases * 1e6) + 1) / w +
            tarry__bound_largest_quantile(world, share);
        double left = 1e6, sum = 2;
        for (size_t m = 0; m < b.n_phases; m++) {
            const tarry__bound_phase *p = &b.phase[m];
            const double rounds = fmin(4 / share * (p->quota + 4) + beta, left);
            sum += fmin(m == 0 ? 2 : 8 * p->epsilon, 2) * rounds;
            left -= rounds;
        }
        least = fmin(least, sum);
    }
    CHECK_NEAR(b.upper, least, 1e-6 * least);
    tarry__world_free(world);
    q.delay = "exponential:never=0.999";
    assert_true(isinf(ask(&q).upper) || ask(&q).upper > 2e6);
    assert_true(isnan(ask(&q).useful_from));
}

/* Also where all arms have the same mean and laws of other shapes. */
static void the_largest_quantile_is_that_of_all_arms(void **state)
{
    (void)state;
    static const char *const delays[] = {
        "shapes:mean=50",           "shapes:mean=50,spread=3",
        "exponential:mean=50",      "exponential:mean=50,spread=3",
        "constant:rounds=7,slow=2", "uniform:high=9,never=0.25"};
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
        tarry__world *world;
        assert_int_equal(tarry__world_create("basis:arms=7", "rademacher",
                                             delays[i], 2385, 0, &world, NULL),
                         TARRY_OK);
        for (double p = 0.05; p < 1; p += 0.05) {
            double largest = 0;
            for (size_t a = 0; a < 7; a++) {
                const uint64_t d = tarry__delay_quantile(&world->delay, a, p);
                largest = fmax(largest,
                               d == TARRY__DELAY_NEVER ? INFINITY : (double)d);
            }
            assert_true(tarry__bound_largest_quantile(world, p) == largest);
        }
        tarry__world_free(world);
    }
}

/* Laws of five shapes cross: at any age another arm is the latest, and what may
 * be outstanding is the sum of the largest tails, whether the arms have
 * factors or not. */
static void laws_that_cross_leave_more_than_the_largest_mean(void **state)
{
    (void)state;
    static const char *const delays[] = {"shapes:mean=50",
                                         "shapes:mean=50,spread=1.0000001"};
    double bound[2];
    for (size_t i = 0; i < 2; i++) {
        const question q = {"basis:arms=5", "rademacher", delays[i],
                            "phased-adversarial", 100000000};
        tarry__world *world;
        double sum = 0;
        assert_int_equal(tarry__world_create(q.instance, q.loss, q.delay, 2385,
                                             0, &world, NULL),
                         TARRY_OK);
        for (uint64_t d = 1; d <= 4000000; d++) {
            double largest = 0;
            for (size_t a = 0; a < 5; a++)
                largest = fmax(largest, tarry__delay_tail(&world->delay, a, d));
            sum += largest;
        }
        const double sigma = 2 * sum + 8 * log(1e8);
        bound[i] = ask(&q).beta;
        CHECK_NEAR(bound[i], sigma * (1 + log(sigma)), 0.01 * bound[i]);
        tarry__world_free(world);
    }
    CHECK_NEAR(bound[0], bound[1], 0.01 * bound[1]);
}

/* What may be outstanding is bounded by the mean, if there is one. */
static void losses_that_never_come_leave_no_bound(void **state)
{
    (void)state;
    static const char *const delays[] = {
        "shapes:mean=50,never=0.01", "shapes:mean=50,spread=3,never=0.01",
        "exponential:never=0.01", "pareto:shape=1,scale=3"};
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++)
        assert_true(isinf(upper("phased-adversarial", delays[i], 100000)));
}

/* The first phase of a bound is the one that the policy begins with. */
static void bounds_describe_the_plan_that_is_played(void **state)
{
    static const char *const policies[] = {
        "phased-stochastic",
        "phased-stochastic:constants=tight",
        "phased-adversarial:constants=tight",
        "phased-loss-dependent",
        "phased-loss-dependent:constants=tight,guide=lints,design=regret",
        "phased-mab",
        "phased-mab:constants=tight"};
    (void)state;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        const question q = {"sphere:dim=3,arms=1000", "rademacher",
                            "exponential:mean=50", policies[i], 100000};
        tarry__world *world;
        assert_int_equal(tarry__world_create(q.instance, q.loss, q.delay, 2385,
                                             0, &world, NULL),
                         TARRY_OK);
        tarry_policy_params params = tarry_policy_defaults();
        params.n_arms = world->instance.n_arms;
        params.dim = world->instance.dim;
        params.arms = world->instance.arms;
        params.horizon = q.horizon;
        tarry_policy *policy;
        tarry_policy_status s;
        assert_int_equal(tarry_policy_create(q.policy, &params, &policy, NULL),
                         TARRY_OK);
        tarry_policy_get_status(policy, &s);
        const tarry__bound b = ask(&q);
        double least = 1;
        for (size_t k = 0; k < s.n_plan; k++)
            least = fmin(least, s.plan[k].weight);
        CHECK_NEAR(b.support, (double)s.n_plan, 0);
        CHECK_NEAR(b.min_weight, least, 0);
        CHECK_NEAR(b.first_phase, (double)s.first_phase_rounds, 0);
        tarry_policy_free(policy);
        tarry__world_free(world);
    }
}

/* ---- runs keep to them ----------------------------------------------------*/

static void run_keeps_to_it(const question *q)
{
    const tarry__bound b = ask(q);
    assert_non_null(b.upper_by);
    for (uint32_t run = 0; run < 3; run++) {
        const tarry__sim_trial trial = {.instance = q->instance,
                                        .loss = q->loss,
                                        .delay = q->delay,
                                        .policy = q->policy,
                                        .horizon = q->horizon,
                                        .seed = 2385,
                                        .run = run};
        tarry__sim_outcome o;
        assert_int_equal(tarry__sim_run(&trial, &o, NULL), TARRY_OK);
        CHECK_AT_MOST(o.regret, b.upper);
        assert_true(o.n_phases > 0);
        assert_int_equal(o.best_kept, 1);
        for (size_t m = 0; m < o.n_phases && m < b.n_phases; m++)
            CHECK_AT_MOST((double)o.phase[m].length, b.phase[m].longest);
    }
}

static void measured_regret_and_phases_lie_below(void **state)
{
    (void)state;
    const char *const sphere = "sphere:dim=3,arms=8,fixed=1";
    const question questions[] = {
        {sphere, "rademacher", "exponential:mean=500", "phased-stochastic",
         200000},
        {sphere, "rademacher", "lomax:shape=1.5,mean=300,never=0.2",
         "phased-stochastic", 200000},
        {sphere, "rademacher", "hold-all:sigma=2000", "phased-stochastic",
         200000},
        {sphere, "rademacher", "hold-rarest:sigma=900", "phased-adversarial",
         200000},
        {sphere, "rademacher", "uniform:high=2000", "phased-adversarial",
         200000},
        {sphere, "rademacher", "low-late:late=900", "phased-loss-dependent",
         200000},
        {sphere, "rademacher", "two-point:high=5000,p=0.08",
         "phased-loss-dependent", 200000},
        {"basis:arms=6,gap=1,fixed=1", "rademacher", "high-late:late=700",
         "phased-mab", 200000},
        {sphere, "rademacher", "exponential:mean=500",
         "phased-stochastic:constants=tight", 200000},
        {sphere, "rademacher", "hold-rarest:sigma=900",
         "phased-adversarial:constants=tight", 200000},
        {sphere, "rademacher", "low-late:late=900",
         "phased-loss-dependent:constants=tight", 200000},
        {"basis:arms=6,gap=1,fixed=1", "rademacher", "high-late:late=700",
         "phased-mab:constants=tight", 200000},
        {sphere, "rademacher", "exponential:mean=500",
         "phased-stochastic:constants=tight,guide=lints,guide_share=4", 200000},
        {sphere, "rademacher", "hold-rarest:sigma=900",
         "phased-adversarial:constants=tight,guide=lints,guide_share=4,"
         "design=regret",
         200000},
        {sphere, "rademacher", "low-late:late=900",
         "phased-loss-dependent:constants=tight,guide=uniform,guide_share=4,"
         "design=regret",
         200000},
    };
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        run_keeps_to_it(&questions[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_bandit_by_hand),
        cmocka_unit_test(algorithms_3_and_4_by_hand),
        cmocka_unit_test(phases_add_up_to_the_lemma_on_regret),
        cmocka_unit_test(gaps_of_survivors_by_hand),
        cmocka_unit_test(losses_that_are_late_are_not_waited_for),
        cmocka_unit_test(chance_is_an_adversary_with_a_budget),
        cmocka_unit_test(phases_last_as_long_as_an_adversary_may_hold),
        cmocka_unit_test(the_horizon_that_is_needed_is_exact),
        cmocka_unit_test(a_bound_says_what_a_name_means),
        cmocka_unit_test(tight_weights_are_promised_by_rank),
        cmocka_unit_test(lower_bounds_by_hand),
        cmocka_unit_test(there_is_not_always_a_lower_bound),
        cmocka_unit_test(other_policies_are_refused),
        cmocka_unit_test(longer_delays_raise_them),
        cmocka_unit_test(longer_horizons_raise_them),
        cmocka_unit_test(phases_grow_and_fill_the_horizon),
        cmocka_unit_test(a_bound_says_from_which_horizon_it_is_useful),
        cmocka_unit_test(
            from_the_horizon_named_on_a_bound_always_says_something),
        cmocka_unit_test(tight_constants_by_hand),
        cmocka_unit_test(a_confidence_is_paid_for_in_full),
        cmocka_unit_test(a_guide_is_paid_for_in_full),
        cmocka_unit_test(the_longest_games_wait_for_finite_times),
        cmocka_unit_test(tight_constants_take_the_best_quantile),
        cmocka_unit_test(the_largest_quantile_is_that_of_all_arms),
        cmocka_unit_test(laws_that_cross_leave_more_than_the_largest_mean),
        cmocka_unit_test(losses_that_never_come_leave_no_bound),
        cmocka_unit_test(bounds_describe_the_plan_that_is_played),
        cmocka_unit_test(measured_regret_and_phases_lie_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
