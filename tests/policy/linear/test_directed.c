/* ids, ids-asymptotic, vids and linmed draw with the probabilities of their
 * definitions, written down once more with dense matrices.
 *
 * Information-directed sampling against alternatives asks until the evidence
 * against every other arm is enough, and not longer.  With three arms of one
 * dimension each, gaps g and n plays of a bad arm, evidence is about g^2 n / 2
 * and enough is beta^2 / 2: so a bad arm is played beta^2 / g^2 times. */
#include "check.h"
#include <math.h>
#include <string.h>
#include "policy/linear/ridge.h"
#include "policy/play.h"
#include "sim/sim.h"
#include "tarry/design.h"
#include "tarry/random.h"

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

/* ---- definitions ----------------------------------------------------------*/

/* More arms than ids-asymptotic weighs. */
enum { ARMS = 20, DIM = 3, LENGTH = 600 };

/* I lambda + sum of a a' over some plays. */
typedef struct {
    double V[DIM][DIM];
} moments;

typedef struct {
    game g;
    double alpha, lambda, failure;
    tarry__ridge seen_ridge; /* for its root of V^-1, which is not unique */
    size_t arm_of[LENGTH + 1];
    double loss_of[LENGTH + 1];
    bool seen[LENGTH + 1], gone[ARMS], cancelled[LENGTH + 1];
    uint64_t now, events, renew_at;
    double weight[ARMS];
    double chance[ARMS]; /* what is to be told, */
    bool has_chance;     /*   if it was worked out */
    uint64_t other;      /* 0: draws of the round; else that might have been */
} reference;

static moments moments_of(const reference *f, bool seen_only)
{
    moments m = {{{0}}};
    for (size_t i = 0; i < DIM; i++)
        m.V[i][i] = f->lambda;
    for (uint64_t t = 1; t <= f->now; t++) {
        const double *a = arm_of(&f->g, f->arm_of[t]);
        if (seen_only ? !f->seen[t] : f->cancelled[t])
            continue;
        for (size_t i = 0; i < DIM; i++)
            for (size_t j = 0; j < DIM; j++)
                m.V[i][j] += a[i] * a[j];
    }
    return m;
}

/* y = V^-1 x; the logarithm of the determinant. */
static double eliminate(moments m, const double *x, double *y)
{
    double log_det = 0;
    memcpy(y, x, DIM * sizeof *y);
    for (size_t k = 0; k < DIM; k++) {
        log_det += log(m.V[k][k]);
        for (size_t i = 0; i < DIM; i++) {
            const double factor = i != k ? m.V[i][k] / m.V[k][k] : 0;
            for (size_t j = 0; j < DIM; j++)
                m.V[i][j] -= factor * m.V[k][j];
            y[i] -= factor * y[k];
        }
    }
    for (size_t i = 0; i < DIM; i++)
        y[i] /= m.V[i][i];
    return log_det;
}

static double covariance(moments m, const double *x, const double *y)
{
    double solved[DIM];
    eliminate(m, y, solved);
    return dot_product(x, solved, DIM);
}

/* Estimates from what has arrived; answers alpha beta. */
static double estimate(const reference *f, double *mean)
{
    double b[DIM] = {0}, theta[DIM];
    for (uint64_t t = 1; t <= f->now; t++)
        for (size_t i = 0; f->seen[t] && i < DIM; i++)
            b[i] += f->loss_of[t] * arm_of(&f->g, f->arm_of[t])[i];
    const double log_det = eliminate(moments_of(f, true), b, theta);
    for (size_t k = 0; k < ARMS; k++)
        mean[k] = dot_product(theta, arm_of(&f->g, k), DIM);
    return f->alpha *
           (sqrt(2 * log(1 / f->failure) + log_det - DIM * log(f->lambda)) +
            sqrt(f->lambda));
}

/* Of the arms that may be chosen. */
static size_t least_of(const reference *f, const double *x)
{
    size_t least = ARMS;
    for (size_t k = 0; k < ARMS; k++)
        if (!f->gone[k] && (least == ARMS || x[k] < x[least]))
            least = k;
    return least;
}

static void weigh_linmed_by(reference *f, double share, double on_best)
{
    double mean[ARMS];
    size_t count = 0;
    tarry_design *design;
    const double beta = estimate(f, mean);
    const size_t best = least_of(f, mean);
    assert_int_equal(tarry_design_solve(f->g.arms, ARMS, DIM, NULL, &design),
                     TARRY_OK);
    for (size_t k = 0; k < ARMS; k++)
        count += !f->gone[k];
    for (size_t k = 0; k < ARMS; k++) {
        double x[DIM], q = (1 - share - on_best) / (double)count +
                           (k == best ? on_best : 0);
        for (size_t i = 0; i < design->n_support; i++)
            q += design->arm[i] == k ? share * design->weight[i] : 0;
        for (size_t i = 0; i < DIM; i++)
            x[i] = arm_of(&f->g, k)[i] - arm_of(&f->g, best)[i];
        const double gap = mean[k] - mean[best];
        const double spread =
            beta * beta * covariance(moments_of(f, true), x, x);
        f->weight[k] =
            f->gone[k] ? 0 : q * (gap > 0 ? exp(-gap * gap / spread) : 1);
    }
    tarry_design_free(design);
}

static void weigh_linmed(reference *f)
{
    weigh_linmed_by(f, 0.5, 0.495);
}

static void weigh_linmed_90(reference *f)
{
    weigh_linmed_by(f, 0.05, 0.9);
}

/* The mixture of the cheapest arm and another with the least cost squared by
 * information, looked for among ten thousand shares. */
static void mix(reference *f, const double *cost, const double *info)
{
    const size_t cheap = least_of(f, cost);
    double least = INFINITY;
    for (size_t k = 0; k < ARMS; k++)
        for (int i = 0; !f->gone[k] && i <= 10000; i++) {
            const double share = i / 10000.0;
            const double c = (1 - share) * cost[cheap] + share * cost[k];
            const double known = (1 - share) * info[cheap] + share * info[k];
            if (c * c / known >= least * (1 - 1e-12))
                continue;
            least = c * c / known;
            memset(f->weight, 0, sizeof f->weight);
            f->weight[cheap] = 1 - share;
            f->weight[k] += share;
        }
}

static void weigh_ids(reference *f)
{
    double mean[ARMS], cost[ARMS], info[ARMS], lower[ARMS];
    const double beta = estimate(f, mean);
    const moments seen = moments_of(f, true), asked = moments_of(f, false);
    for (size_t k = 0; k < ARMS; k++) {
        const double *a = arm_of(&f->g, k);
        const double off = beta * sqrt(covariance(seen, a, a));
        cost[k] = mean[k] + off;
        lower[k] = mean[k] - off;
    }
    const double *u = arm_of(&f->g, least_of(f, lower));
    for (size_t k = 0; k < ARMS; k++) {
        const double *a = arm_of(&f->g, k);
        const double cov = covariance(asked, a, u);
        cost[k] -= lower[least_of(f, lower)];
        info[k] = -log(
            1 - cov * cov /
                    ((1 + covariance(asked, a, a)) * covariance(asked, u, u)));
    }
    mix(f, cost, info);
}

/* Of the 16 alternatives with the least evidence each says what an arm's loss
 * tells about it, unless it is out of the question beside the first. */
static void inform(const reference *f, size_t best, const double *mean,
                   const double *evidence, double beta, double *info)
{
    const moments asked = moments_of(f, false);
    const double *b = arm_of(&f->g, best);
    for (size_t z = 0; z < ARMS; z++) {
        size_t before = 0;
        double x[DIM], least = INFINITY;
        for (size_t k = 0; k < ARMS; k++) {
            before += evidence[k] < evidence[z] ||
                      (evidence[k] == evidence[z] && k < z);
            least = fmin(least, evidence[k]);
        }
        const double q = exp(least - evidence[z]);
        for (size_t i = 0; i < DIM; i++)
            x[i] = b[i] - arm_of(&f->g, z)[i];
        for (size_t k = 0; before < 16 && q > 1e-6 && k < ARMS; k++) {
            const double *a = arm_of(&f->g, k);
            const double nu = (mean[z] - mean[best]) * covariance(asked, a, x) /
                              covariance(asked, x, x);
            const double off = fabs(nu) + beta * sqrt(covariance(asked, a, a));
            info[k] += q * off * off / 2;
        }
    }
}

static void weigh_ids_asymptotic(reference *f)
{
    double mean[ARMS], evidence[ARMS], lower[ARMS], cost[ARMS];
    double info[ARMS] = {0};
    const double t = (double)f->now + 1;
    const moments seen = moments_of(f, true);
    f->failure = 1 / (t * log(t + 2));
    const double beta = estimate(f, mean);
    const size_t best = least_of(f, mean);
    for (size_t k = 0; k < ARMS; k++) {
        const double *a = arm_of(&f->g, k), *b = arm_of(&f->g, best);
        const double gap = mean[k] - mean[best];
        double x[DIM];
        for (size_t i = 0; i < DIM; i++)
            x[i] = b[i] - a[i];
        evidence[k] = f->gone[k] || k == best
                          ? INFINITY
                          : gap * gap / covariance(seen, x, x) / 2;
        lower[k] = mean[k] - beta * sqrt(covariance(seen, a, a));
    }
    if (evidence[least_of(f, evidence)] >= beta * beta / 2) {
        memset(f->weight, 0, sizeof f->weight);
        f->weight[best] = 1;
        return;
    }
    for (size_t k = 0; k < ARMS; k++)
        cost[k] = mean[k] - lower[least_of(f, lower)];
    inform(f, best, mean, evidence, beta, info);
    mix(f, cost, info);
}

enum { DRAWS = 100 };

/* A draw of the round to come, without theta: alpha S z. */
static void draw_off(const reference *f, size_t j, double *off)
{
    const tarry__ridge *r = &f->seen_ridge;
    const uint64_t half = (DIM + 1) / 2, round = f->now + 1;
    const uint64_t number =
        f->other > 0 ? round * TARRY_PROBABILITY_DRAWS + f->other - 1 : round;
    double z[DIM];
    for (size_t i = 0; i < DIM; i += 2) {
        const tarry_random at = {.seed = 2385,
                                 .run = 7,
                                 .round = (number * DRAWS + j) * half + i / 2,
                                 .stream = f->other > 0
                                               ? TARRY__POLICY_STREAM_OTHERS
                                               : TARRY__POLICY_STREAM_NORMALS};
        double u[2];
        tarry_random_uniform_pair(&at, u);
        z[i] = tarry_random_normal(&at);
        if (i + 1 < DIM)
            z[i + 1] = sqrt(-2 * log(u[0])) * sin(6.283185307179586477 * u[1]);
    }
    for (size_t i = 0; i < DIM; i++)
        off[i] = f->alpha *
                 dot_product(r->S + i * tarry__linear_stride(DIM), z, DIM);
}

/* S S' V a = a for what has been seen, by the reference's own V. */
static void check_root(const reference *f)
{
    const moments m = moments_of(f, true);
    for (size_t k = 0; k < ARMS; k++) {
        const double *a = arm_of(&f->g, k);
        CHECK_NEAR(tarry__ridge_variance(&f->seen_ridge, a),
                   covariance(m, a, a), 1e-12);
    }
}

/* What knowing the best arm would explain: the variance of the means of draws
 * that agree on it. */
static void weigh_by_draws(reference *f)
{
    double mean[ARMS], cost[ARMS], info[ARMS] = {0}, least = 0;
    double off[ARMS][DIM] = {{0}}, count[ARMS] = {0};
    estimate(f, mean);
    check_root(f);
    for (size_t j = 0; j < DRAWS; j++) {
        double x[DIM], drawn[ARMS];
        draw_off(f, j, x);
        for (size_t k = 0; k < ARMS; k++)
            drawn[k] = mean[k] + dot_product(x, arm_of(&f->g, k), DIM);
        const size_t best = least_of(f, drawn);
        least += drawn[best] / DRAWS;
        count[best]++;
        for (size_t i = 0; i < DIM; i++)
            off[best][i] += x[i];
    }
    for (size_t k = 0; k < ARMS; k++) {
        cost[k] = fmax(mean[k] - least, 1e-12);
        for (size_t z = 0; z < ARMS; z++) {
            const double sum = dot_product(off[z], arm_of(&f->g, k), DIM);
            info[k] += count[z] > 0 ? sum * sum / count[z] / DRAWS : 0;
        }
    }
    mix(f, cost, info);
}

static void add_chances(reference *f, double share)
{
    double sum = 0;
    for (size_t k = 0; k < ARMS; k++)
        sum += f->weight[k];
    for (size_t k = 0; k < ARMS; k++)
        f->chance[k] += share * f->weight[k] / sum;
}

/* Chances are the mean over the draws and others, looked at now and then. */
static void weigh_vids(reference *f)
{
    enum { OTHERS = TARRY_PROBABILITY_DRAWS };
    f->has_chance = f->now < 5 || f->now % 32 == 0;
    memset(f->chance, 0, sizeof f->chance);
    for (uint64_t i = f->has_chance ? 0 : OTHERS; i <= OTHERS; i++) {
        f->other = OTHERS - i;
        weigh_by_draws(f);
        add_chances(f, 1.0 / (OTHERS + 1));
    }
}

/* ---- choices --------------------------------------------------------------*/

/* By the policy's coin; probabilities agree up to `off`, and arms unless the
 * coin falls that near an edge. */
static void check_draw(reference *f, tarry_policy *p, double off)
{
    double probability, sum = 0, upto = 0;
    const choice c = choose(p);
    const tarry_random at = {.seed = 2385, .run = 7, .round = c.round};
    const double u = tarry_random_uniform(&at);
    for (size_t k = 0; k < ARMS; k++)
        sum += f->weight[k];
    for (size_t k = 0; k <= c.arm; k++)
        upto += f->weight[k] / sum;
    if (f->has_chance) {
        assert_int_equal(tarry_policy_probability(p, &probability), TARRY_OK);
        CHECK_NEAR(probability, f->chance[c.arm], off);
    }
    CHECK_AT_MOST(u, upto + off);
    CHECK_AT_MOST(upto - f->weight[c.arm] / sum - off, u);
    f->arm_of[++f->now] = c.arm;
    f->events++;
}

static void check_definition(const char *text, void (*weigh)(reference *),
                             double confidence, double off)
{
    static reference f;
    f = (reference){.g = make_game(ARMS, DIM, DIM),
                    .alpha = 0.3,
                    .lambda = 0.8,
                    .failure = confidence > 0 ? 1 - confidence : 1.0 / 5000};
    tarry_policy_params params = params_of(&f.g, 5000);
    params.confidence = confidence;
    tarry_policy *p = make_policy(text, &params);
    assert_int_equal(tarry__ridge_init(&f.seen_ridge, DIM, f.lambda), TARRY_OK);
    for (uint64_t t = 1; t <= LENGTH; t++) {
        const bool is_new = f.events >= f.renew_at;
        if (is_new) {
            weigh(&f);
            f.renew_at = f.events + 1 + f.events / 100;
        }
        if (!is_new || weigh != weigh_vids) {
            memset(f.chance, 0, sizeof f.chance);
            add_chances(&f, 1);
            f.has_chance = true;
        }
        check_draw(&f, p, off);
        f.loss_of[t] = loss_of(&f.g, t, f.arm_of[t]);
        for (uint64_t r = t > 22 ? t - 22 : 1; r <= t; r++)
            if (r + r * 7 % 23 == t && !f.cancelled[r]) {
                assert_int_equal(tarry_policy_observe(p, r, f.loss_of[r]),
                                 TARRY_OK);
                tarry__ridge_learn(&f.seen_ridge, arm_of(&f.g, f.arm_of[r]),
                                   f.loss_of[r]);
                f.seen[r] = true;
                f.events++;
            }
        if (t % 40 == 3 && !f.seen[t]) {
            assert_int_equal(tarry_policy_cancel(p, t), TARRY_OK);
            f.cancelled[t] = true;
            f.events++;
        }
        if (t == 300) {
            assert_int_equal(tarry_policy_withdraw(p, 2), TARRY_OK);
            f.gone[2] = true;
            f.renew_at = 0;
        }
    }
    tarry__ridge_clear(&f.seen_ridge);
    tarry_policy_free(p);
    end_game(&f.g);
}

static void arms_are_drawn_as_defined(void **state)
{
    (void)state;
    check_definition("linmed:alpha=0.3,lambda=0.8", weigh_linmed, 0, 1e-9);
    check_definition("linmed:alpha=0.3,lambda=0.8", weigh_linmed, 0.9, 1e-9);
    check_definition("linmed:alpha=0.3,lambda=0.8,design=0.05,best=0.9",
                     weigh_linmed_90, 0, 1e-9);
    check_definition("ids:alpha=0.3,lambda=0.8", weigh_ids, 0, 2e-4);
    check_definition("ids:alpha=0.3,lambda=0.8", weigh_ids, 0.9, 2e-4);
    check_definition("ids-asymptotic:alpha=0.3,lambda=0.8",
                     weigh_ids_asymptotic, 0, 2e-4);
    check_definition("vids:alpha=0.3,lambda=0.8", weigh_vids, 0, 2e-4);
}

/* Above 1 together; or none for the best arm, so that all weights can be 0. */
static void linmed_refuses_shares_that_are_no_mixture(void **state)
{
    (void)state;
    static const char *const bad[] = {"design=0.6,best=0.5", "best=0",
                                      "design=1.5"};
    game g = make_game(ARMS, DIM, DIM);
    tarry_policy_params params = params_of(&g, 5000);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tarry_policy *p;
        tarry_error error = {""};
        params.settings = bad[i];
        assert_int_not_equal(tarry_policy_create("linmed", &params, &p, &error),
                             TARRY_OK);
        assert_non_null(strstr(error.text, i == 2 ? "design" : "best"));
    }
    end_game(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arms_are_drawn_as_defined),
        cmocka_unit_test(linmed_refuses_shares_that_are_no_mixture),
        cmocka_unit_test(asking_ends_with_enough_evidence),
        cmocka_unit_test(outstanding_plays_are_not_asked_for_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
