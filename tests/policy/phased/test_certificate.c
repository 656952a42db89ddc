/* The bounds behind certificates, counted: over thousands of runs an interval
 * fails at some time in a share of them that is consistent with delta, whatever
 * the law of losses and whoever chooses the plays.  Intervals half as wide fail
 * far more often, so the count can fail.
 *
 * With probability at most delta per run, the count over R runs has mean at
 * most delta R and at most its root as standard error; three are allowed. */
#include "check.h"
#include <math.h>
#include <string.h>
#include "policy/handle.h"
#include "policy/phased/ellipsoid.h"
#include "policy/phased/own_mean.h"
#include "policy/phased/phased.h"
#include "tarry/random.h"

enum { RUNS = 1000, ROUNDS = 200 };
static const double DELTA = 0.05;

static double uniform_at(uint32_t run, uint64_t round, uint32_t stream)
{
    const tarry_random at = {
        .seed = 2385, .run = run, .round = round, .stream = stream};
    return tarry_random_uniform(&at);
}

static bool is_consistent(int failed)
{
    return failed <= RUNS * DELTA + 3 * sqrt(RUNS * DELTA);
}

/* ---- an arm's own mean ----------------------------------------------------*/

/* A loss of mean m: +/-1, or uniform around it as wide as the range allows, or
 * one of -1, m/2 + 1/4, 1. */
typedef double (*law)(double m, double u);

static double two_valued(double m, double u)
{
    return u < (1 + m) / 2 ? 1 : -1;
}

static double spread_out(double m, double u)
{
    return m + (1 - fabs(m)) * (2 * u - 1);
}

static double three_valued(double m, double u)
{
    const double middle = m / 2 + 0.25;
    return u < 0.5 ? middle : two_valued(2 * m - middle, 2 * u - 1);
}

/* From [-1, 1] to [low, 1]. */
static double moved(double x, double low)
{
    return low + (1 - low) * (1 + x) / 2;
}

/* Runs in which the interval for losses in [low, 1], made narrower by a factor,
 * misses their mean some time; m is where that would be in [-1, 1]. */
static int count_own(law l, double m, double low, double factor)
{
    const double mean = moved(m, low);
    int failed = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        double sum = 0;
        bool missed = false;
        for (int n = 1; n <= ROUNDS && !missed; n++) {
            sum += moved(l(m, uniform_at(run, (uint64_t)n, 20)), low);
            const double upper = tarry__own_mean_upper(n, sum, low, DELTA);
            const double lower = tarry__own_mean_lower(n, sum, low, DELTA);
            assert_true(lower <= sum / n && sum / n <= upper);
            missed = mean > sum / n + factor * (upper - sum / n) + 1e-12 ||
                     mean < sum / n - factor * (sum / n - lower) - 1e-12;
        }
        failed += missed;
    }
    print_message("    mean %5.2f, factor %.1f: %d of %d\n", mean, factor,
                  failed, RUNS);
    return failed;
}

static void an_arms_own_mean_is_covered_at_all_times(void **state)
{
    (void)state;
    static const double means[] = {-0.9, -0.2, 0.5};
    for (int i = 0; i < 3; i++) {
        assert_true(is_consistent(count_own(two_valued, means[i], -1, 1)));
        assert_true(is_consistent(count_own(two_valued, means[i], 0, 1)));
        assert_true(is_consistent(count_own(spread_out, means[i], -1, 1)));
        assert_true(
            is_consistent(count_own(three_valued, 0.5 * means[i], -1, 1)));
    }
}

static void half_of_an_own_interval_is_found_out(void **state)
{
    (void)state;
    assert_false(is_consistent(count_own(two_valued, -0.9, -1, 0.5)));
    assert_false(is_consistent(count_own(two_valued, -0.2, -1, 0.5)));
    assert_false(is_consistent(count_own(two_valued, -0.2, 0, 0.5)));
}

static void an_own_interval_knows_the_variance(void **state)
{
    (void)state;
    const double n = 10000, near_end = -0.98;
    const double there =
        tarry__own_mean_upper(n, n * near_end, -1, DELTA) - near_end;
    const double middle = tarry__own_mean_upper(n, 0, -1, DELTA);
    assert_true(there < 0.35 * middle); /* sqrt(1 - m^2) is 0.2 */
    assert_true(tarry__own_mean_upper(0, 0, -1, DELTA) == 1);
    assert_true(tarry__own_mean_lower(0, 0, -1, DELTA) == -1);
    assert_true(tarry__own_mean_lower(5, -5, -1, DELTA) == -1);
    assert_true(tarry__own_mean_lower(5, 0, 0, DELTA) == 0);
}

/* ---- all losses together --------------------------------------------------*/

enum { K = 3, R = 2 };
static const double Z[K * R] = {1, 0, 0.3, 0.9, -0.7, 0.6};
static const double THETA[R] = {0.5, -0.4};

typedef struct {
    uint64_t counts[K];
    double sums[K];
    uint32_t lacking[K];
    double work[R * (R + 3)];
} game;

static double mean_of(size_t k)
{
    return Z[k * R] * THETA[0] + Z[k * R + 1] * THETA[1];
}

/* bounds[a][b] on <theta, z(a) - z(b)>. */
static void all_bounds(game *g, double bounds[K][K], double own[K])
{
    static const uint32_t all[K] = {0, 1, 2};
    const tarry__ellipsoid_data data = {.rank = R,
                                        .n_arms = K,
                                        .Z = Z,
                                        .counts = g->counts,
                                        .seen = g->counts,
                                        .sums = g->sums,
                                        .width = 1};
    for (size_t a = 0; a < K; a++)
        tarry__ellipsoid_bound(&data, DELTA, a, all, K, bounds[a], &own[a],
                               g->lacking, g->work);
}

/* Whoever chooses: here the arm whose losses look worst, so that bad luck is
 * followed up. */
static size_t next_arm(const game *g)
{
    size_t worst = 0;
    for (size_t k = 1; k < K; k++)
        if (g->sums[k] * (double)g->counts[worst] >
            g->sums[worst] * (double)g->counts[k])
            worst = k;
    return worst;
}

static bool misses(game *g, double factor)
{
    double bounds[K][K], own[K];
    all_bounds(g, bounds, own);
    for (size_t a = 0; a < K; a++)
        for (size_t b = 0; b < K; b++) {
            const double middle = (bounds[a][b] - bounds[b][a]) / 2;
            const double width = (bounds[a][b] + bounds[b][a]) / 2;
            if (mean_of(a) - mean_of(b) > middle + factor * width + 1e-12)
                return true;
        }
    for (size_t a = 0; a < K && factor == 1; a++)
        if (mean_of(a) > own[a])
            return true;
    return false;
}

static int count_joint(double factor)
{
    int failed = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        game g = {{0}, {0}, {0}, {0}};
        bool missed = false;
        for (uint64_t t = 0; t < ROUNDS && !missed; t++) {
            const size_t k = t < K ? t : next_arm(&g);
            g.counts[k]++;
            g.sums[k] += two_valued(mean_of(k), uniform_at(run, t, 21));
            missed = t % 8 == 7 && misses(&g, factor);
        }
        failed += missed;
    }
    print_message("    factor %.2f: %d of %d\n", factor, failed, RUNS);
    return failed;
}

static void differences_are_covered_whoever_chooses(void **state)
{
    (void)state;
    assert_true(is_consistent(count_joint(1)));
}

static void a_third_of_the_ellipsoid_is_found_out(void **state)
{
    (void)state;
    assert_false(is_consistent(count_joint(0.33)));
}

/* Missing losses widen a bound by no less than they can do. */
static void missing_losses_are_completed_the_worst_way(void **state)
{
    (void)state;
    static const uint32_t all[K] = {0, 1, 2};
    static const uint64_t plays[K] = {90, 70, 110}, seen[K] = {85, 70, 104};
    double sums[K] = {-30, 20, 11}, bound[K], own, least[K], work[R * (R + 3)];
    uint32_t lacking[K];
    tarry__ellipsoid_data data = {.rank = R,
                                  .n_arms = K,
                                  .Z = Z,
                                  .counts = plays,
                                  .seen = seen,
                                  .sums = sums,
                                  .width = 1};
    tarry__ellipsoid_bound(&data, DELTA, 0, all, K, bound, &own, lacking, work);
    data.seen = plays; /* the same, with what is missing filled in */
    for (int i = 0; i < 4; i++) {
        double filled[K] = {sums[0] + (i & 1 ? 5 : -5), sums[1],
                            sums[2] + (i & 2 ? 6 : -6)};
        data.sums = filled;
        tarry__ellipsoid_bound(&data, DELTA, 0, all, K, least, &own, lacking,
                               work);
        for (size_t k = 1; k < K; k++)
            assert_true(least[k] <= bound[k] + 1e-12);
    }
}

/* ---- who may fail how often -----------------------------------------------*/

/* One half of the failures is the phases', the other half is the books': all of
 * it for the first arms with a horizon, else 1/(e (e + 1)) for the e-th set;
 * one arm is admitted to three. */
static double part_of_books(const tarry__phased *ph, double confidence)
{
    const bool first = ph->problem->n_arms == 3;
    const double T = (double)ph->problem->horizon, e = first ? 1 : 2;
    const double failure = confidence > 0 ? 1 - confidence : 1 / T;
    return failure / 2 * (confidence == 0 && first ? 1 : 1 / (e * (e + 1)));
}

/* Every play is booked, and every loss; not what was cancelled. */
static void check_books(const tarry_policy *p)
{
    const tarry__phased *ph = p->state;
    uint64_t plays = 0, arrivals = 0;
    for (size_t k = 0; k < ph->problem->n_arms; k++) {
        plays += ph->books.plays[k];
        arrivals += ph->books.arrivals[k];
    }
    assert_int_equal(plays, p->round - p->cancelled);
    assert_int_equal(arrivals, plays - p->open.count);
    assert_int_equal(ph->books.learned, arrivals);
}

/* Whether the books had a say. */
static bool check_certificate(tarry_policy *p, double confidence)
{
    const tarry__phased *ph = p->state;
    check_books(p);
    size_t arm;
    double gap, books;
    assert_int_equal(tarry_policy_certify(p, &arm, &gap), TARRY_OK);
    tarry__books_certify(&ph->books, part_of_books(ph, confidence),
                         ph->algorithm->designated_only, ph->plan.active,
                         ph->plan.n_active, &arm, &books);
    CHECK_NEAR(gap, fmin(ph->certificate, books), 1e-12);
    if (ph->algorithm->linear) /* they reach as far as the arms do */
        assert_int_equal(ph->books.rank, ph->problem->n_arms == 3 ? 2 : 3);
    return books < ph->certificate;
}

static tarry_policy *with_three_arms(const char *text, double confidence,
                                     const double *arms, size_t dim)
{
    tarry_policy_params params = tarry_policy_defaults();
    tarry_policy *p;
    params.n_arms = 3;
    params.dim = dim;
    params.arms = arms;
    params.horizon = 100000;
    params.confidence = confidence;
    assert_int_equal(tarry_policy_create(text, &params, &p, NULL), TARRY_OK);
    return p;
}

static bool play_and_check(const char *text, double confidence)
{
    static const double arms[] = {1, 0, 0, 0.6, 0.8, 0, 0, 1, 0},
                        out_of_plane[] = {0.48, -0.36, 0.8};
    static const double means[] = {-0.8, 0.1, 0.7, 0.3};
    tarry_policy *p = with_three_arms(text, confidence, arms, 3);
    size_t arm;
    bool told = false;
    for (int t = 1; t <= 3000; t++) {
        uint64_t round;
        if (t == 1500) { /* nothing is known of it */
            double gap;
            assert_int_equal(tarry_policy_admit(p, out_of_plane, &arm),
                             TARRY_OK);
            assert_int_equal(tarry_policy_certify(p, &arm, &gap), TARRY_OK);
            CHECK_NEAR(gap, 2, 0);
        }
        assert_int_equal(tarry_policy_choose(p, &round, &arm), TARRY_OK);
        if (t % 100 == 0) /* with nothing held */
            told |= check_certificate(p, confidence);
        if (t % 7 == 3) {
            assert_int_equal(tarry_policy_cancel(p, round), TARRY_OK);
            continue;
        }
        tarry_policy_observe(p, round,
                             two_valued(means[arm], uniform_at(0, round, 21)));
    }
    tarry_policy_free(p);
    return told;
}

static void phases_and_books_have_half_of_the_failures_each(void **state)
{
    static const char *const policies[] = {
        "phased-stochastic:constants=tight",
        "phased-adversarial:constants=tight,guide=lints",
        "phased-loss-dependent:constants=tight", "phased-mab:constants=tight"};
    (void)state;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        for (int k = 0; k < 2; k++)
            assert_true(play_and_check(policies[i], k == 0 ? 0 : 0.95));
}

/* A choice; whether it has cut the arm to exploit, within a phase.  The arm
 * that follows has the bound of the books of that moment, among all there
 * were. */
static bool cuts_exploited(tarry_policy *p, double confidence, uint64_t *round,
                           size_t *arm)
{
    const tarry__phased *ph = p->state;
    const uint64_t ordinal = ph->ordinal;
    const size_t exploited = ph->exploit, n = ph->plan.n_active;
    uint32_t active[3];
    size_t follows;
    double gap;
    memcpy(active, ph->plan.active, n * sizeof *active);
    assert_int_equal(tarry_policy_choose(p, round, arm), TARRY_OK);
    if (ph->ordinal != ordinal || ph->exploit == exploited)
        return false;
    assert_false(tarry__phased_is_active(ph, exploited));
    tarry__books_certify(&ph->books, part_of_books(ph, confidence), false,
                         active, n, &follows, &gap);
    assert_int_equal(ph->exploit, follows);
    CHECK_NEAR(ph->certificate, fmin(gap, 2), 1e-12);
    return true;
}

/* At first it is arm 0 that is exploited, which is a bad one. */
static int count_cuts(const char *text, double confidence, uint32_t run)
{
    static const double arms[] = {1, 0, 0.6, 0.8, 0, 1};
    static const double means[] = {0.8, 0, -0.6};
    tarry_policy_params params = tarry_policy_defaults();
    tarry_policy *p;
    int cuts = 0;
    params.n_arms = 3;
    params.dim = 2;
    params.arms = arms;
    params.horizon = 100000;
    params.confidence = confidence;
    assert_int_equal(tarry_policy_create(text, &params, &p, NULL), TARRY_OK);
    for (int t = 1; t <= 1000; t++) {
        uint64_t round;
        size_t arm;
        cuts += cuts_exploited(p, confidence, &round, &arm);
        tarry_policy_observe(
            p, round, two_valued(means[arm], uniform_at(run, round, 23)));
    }
    tarry_policy_free(p);
    return cuts;
}

static void an_arm_that_follows_one_cut_has_a_bound_of_its_own(void **state)
{
    static const char *const policies[] = {
        "phased-stochastic:constants=tight,guide=lints,guide_share=3,"
        "cuts=always",
        "phased-adversarial:constants=tight,guide=uniform,guide_share=99,"
        "cuts=always"};
    (void)state;
    int cuts = 0;
    for (uint32_t i = 0; i < 20; i++)
        cuts += count_cuts(policies[i % 2], i % 4 < 2 ? 0 : 0.95, i);
    print_message("    %d cuts\n", cuts);
    assert_true(cuts >= 10);
}

/* ---- arms come and go -----------------------------------------------------*/

enum { MOST_ARMS = 24 };

/* Who would be tried anew if nothing were known of them: those that are there
 * and were active or are new, or all, if an active one has gone. */
static size_t candidates_of(const tarry__phased *ph, uint32_t *list)
{
    const bool all = tarry__phased_has_lost_one(ph);
    size_t count = 0;
    for (size_t k = 0; k < ph->problem->n_arms; k++)
        if (tarry__policy_may_choose(ph->problem, k) &&
            (all || k >= ph->n_known || tarry__phased_is_active(ph, k)))
            list[count++] = (uint32_t)k;
    return count;
}

/* The first choice after a change: of the candidates those go that the books
 * rule out, with the failures that belong to the arms there are now, `bases`
 * sets having come before.  Answers how many went. */
static size_t check_restart(tarry_policy *p, double confidence, uint64_t bases,
                            uint64_t *round, size_t *arm)
{
    tarry__phased *ph = p->state;
    const double e = (double)bases + 1;
    const double failure =
        confidence > 0 ? 1 - confidence : 1 / (double)ph->problem->horizon;
    const double share = confidence == 0 && bases == 0 ? 1 : 1 / (e * (e + 1));
    uint32_t list[MOST_ARMS];
    size_t best, left = 0;
    double gap;
    tarry__policy_settle(p);
    const size_t count = candidates_of(ph, list);
    assert_int_equal(tarry_policy_choose(p, round, arm), TARRY_OK);
    ph->books.plays[*arm]--; /* as it was when they were asked */
    tarry__books_certify(&ph->books, failure / 2 * share,
                         ph->algorithm->designated_only, list, count, &best,
                         &gap);
    ph->books.plays[*arm]++;
    for (size_t i = 0; i < count; i++)
        if (ph->books.bounds[i] >= 0)
            assert_int_equal(ph->plan.active[left++], list[i]);
    assert_int_equal(ph->plan.n_active, left);
    return count - left;
}

/* Every hundred rounds an arm comes, or the best one goes, or both. */
static size_t play_changes(const char *text, double confidence, uint32_t run)
{
    double arms[2 * MOST_ARMS];
    uint64_t seed = run, bases = 0, round;
    size_t went = 0, n_arms = 3, arm;
    for (size_t i = 0; i < MOST_ARMS; i++) {
        const double angle = 3 * test_uniform(&seed);
        arms[2 * i] = cos(angle), arms[2 * i + 1] = sin(angle);
    }
    tarry_policy *p = with_three_arms(text, confidence, arms, 2);
    for (int t = 1; t <= 2000; t++) {
        const bool changes = t % 100 == 0, comes = t / 100 % 3 != 0;
        const tarry__phased *ph = p->state;
        if (changes && comes)
            assert_int_equal(tarry_policy_admit(p, arms + 2 * n_arms++, &arm),
                             TARRY_OK);
        if (changes && t / 100 % 3 != 1)
            assert_int_equal(tarry_policy_withdraw(p, ph->plan.active[0]),
                             TARRY_OK);
        bases += changes && comes;
        if (changes)
            went += check_restart(p, confidence, bases, &round, &arm);
        else
            assert_int_equal(tarry_policy_choose(p, &round, &arm), TARRY_OK);
        const double mean = 0.8 * arms[2 * arm];
        tarry_policy_observe(p, round,
                             two_valued(mean, uniform_at(run, round, 24)));
    }
    tarry_policy_free(p);
    return went;
}

static void who_is_not_tried_again_is_ruled_out_by_all_data(void **state)
{
    static const char *const policies[] = {
        "phased-stochastic:constants=tight",
        "phased-adversarial:constants=tight,guide=lints",
        "phased-loss-dependent:constants=tight,guide=uniform",
        "phased-mab:constants=tight"};
    size_t went = 0;
    (void)state;
    for (uint32_t i = 0; i < 24; i++)
        went += play_changes(policies[i % 4], i % 8 < 4 ? 0 : 0.95, i);
    print_message("    %zu went\n", went);
    assert_true(went > 200);
}

/* The phases begun so far, as its status tells them. */
typedef struct {
    uint64_t phase, restarts, begun;
} phases;

/* A phase that has begun has the next share, m (m + 1) parts of it for the
 * m-th, and plans as many plays as that asks for. */
static void check_share(const tarry__phased *ph, phases *seen)
{
    const bool anew = ph->restarts != seen->restarts;
    const uint64_t more = ph->phase - (anew ? 0 : seen->phase);
    const tarry__phased_plan *plan = &ph->plan;
    if (more == 0)
        return;
    *seen = (phases){ph->phase, ph->restarts, seen->begun + more};
    assert_int_equal(ph->ordinal, seen->begun);
    if (plan->n_active == 1)
        return;
    const double L = tarry__phased_tight_log(ph->problem, ph->confidence,
                                             seen->begun, false);
    const double N =
        tarry__phased_tight_quota(plan->g, L, ph->epsilon) * plan->stretch;
    CHECK_NEAR(plan->quota, N, 1e-9 * N);
}

static bool has_seen_all(const tarry__phased_plan *plan)
{
    for (size_t i = 0; i < plan->n_entries; i++)
        if (plan->entry[i].observed == 0)
            return false;
    return plan->n_active > 1;
}

/* A phase is judged by its share too: as the first one would be with widths
 * that are as much wider as sqrt(L) is larger.  Whether it could be told. */
static bool check_verdict(const tarry__phased *ph, uint64_t begun)
{
    tarry__phased first = *ph;
    uint32_t kept[2][16];
    tarry__phased_verdict v = {.kept = kept[0]}, w = {.kept = kept[1]};
    first.phase = first.ordinal = 1;
    first.choices.width *= sqrt(
        tarry__phased_tight_log(ph->problem, ph->confidence, begun, false) /
        tarry__phased_tight_log(ph->problem, ph->confidence, 1, false));
    if (!has_seen_all(&ph->plan) || ph->rule->judge(ph, NULL, &v) != TARRY_OK)
        return false;
    assert_int_equal(ph->rule->judge(&first, NULL, &w), TARRY_OK);
    CHECK_NEAR(v.certificate, w.certificate, 1e-9);
    assert_int_equal(v.n_kept, w.n_kept);
    return ph->phase < begun;
}

/* Arms come and go in turn; how many phases there were. */
static phases play_phases(const char *text, double confidence)
{
    static const double arms[] = {1, 0, 0, 1, 0.6, 0.8};
    tarry_policy *p = with_three_arms(text, confidence, arms, 2);
    phases seen = {0};
    size_t arm, told = 0;
    uint64_t round;
    for (size_t t = 1; t <= 6000; t++) {
        if (t % 2000 == 900)
            assert_int_equal(tarry_policy_admit(p, arms + 2, &arm), TARRY_OK);
        if (t % 2000 == 1800)
            assert_int_equal(tarry_policy_withdraw(p, t / 2000), TARRY_OK);
        assert_int_equal(tarry_policy_choose(p, &round, &arm), TARRY_OK);
        check_share(p->state, &seen);
        told += check_verdict(p->state, seen.begun);
        tarry_policy_observe(p, round, uniform_at(0, round, 22));
    }
    tarry_policy_free(p);
    assert_true(told > 100);
    return seen;
}

static void every_phase_has_a_share_of_the_failures_of_its_own(void **state)
{
    static const char *const policies[] = {
        "phased-stochastic:constants=tight",
        "phased-adversarial:constants=tight",
        "phased-loss-dependent:constants=tight", "phased-mab:constants=tight"};
    (void)state;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        for (int k = 0; k < 2; k++) {
            const phases seen = play_phases(policies[i], k == 0 ? 0 : 0.95);
            assert_true(seen.restarts > 3 && seen.begun > seen.restarts + 4);
        }
}

/* Sixty arms of which most are bad: plans are made anew again and again.  All
 * plans with one share together can cut in no more than K directions, and
 * there are no more shares than the proof counts on. */
static void plans_made_anew_pay_for_their_directions(void **state)
{
    enum { K = 60, T = 20000 };
    static const double confidences[] = {0, 0.95};
    double arms[2 * K];
    (void)state;
    for (size_t k = 0; k < K; k++) {
        arms[2 * k] = cos(0.02 * (double)(k * k % 211));
        arms[2 * k + 1] = sin(0.02 * (double)(k * k % 211));
    }
    for (size_t c = 0; c < 2; c++) {
        tarry_policy_params params = tarry_policy_defaults();
        params.n_arms = K;
        params.dim = 2;
        params.arms = arms;
        params.horizon = T;
        params.confidence = confidences[c];
        params.settings = "constants=tight,guide=lints,guide_share=0,"
                          "cuts=always";
        tarry_policy *p;
        size_t arm;
        uint64_t round, plans = 0, directions = 0, ordinal = 0, start = 0;
        assert_int_equal(tarry_policy_create("phased-mab", &params, &p, NULL),
                         TARRY_OK);
        for (uint64_t t = 1; t <= T; t++) {
            assert_int_equal(tarry_policy_choose(p, &round, &arm), TARRY_OK);
            const tarry__phased *ph = p->state;
            if (ph->phase_start != start || t == 1) {
                directions = ph->ordinal == ordinal ? directions : 0;
                directions += ph->plan.n_active - 1;
                ordinal = ph->ordinal;
                start = ph->phase_start;
                plans++;
                assert_true(directions <= K && directions <= ph->tried);
                assert_true(ordinal <= ph->phase + TARRY__PHASED_MORE_SHARES);
                if (ph->plan.n_active > 1) {
                    const double L = tarry__phased_tight_log(
                        ph->problem, ph->confidence, ordinal, true);
                    CHECK_NEAR(
                        ph->plan.quota,
                        tarry__phased_tight_quota(ph->plan.g, L, ph->epsilon) *
                            ph->plan.stretch,
                        1e-9 * ph->plan.quota);
                }
            }
            const double mean = -0.9 * arms[2 * arm];
            tarry_policy_observe(p, round,
                                 two_valued(mean, uniform_at(0, round, 24)));
        }
        const tarry__phased *ph = p->state;
        print_message("    %d plans in %d phases, %d shares\n", (int)plans,
                      (int)ph->phase, (int)ph->ordinal);
        assert_true(plans > ph->phase && ph->ordinal > ph->phase);
        tarry_policy_free(p);
    }
}

/* Arms that span fewer dimensions than they have features: rounding does not
 * take their differences out of the span, and what is a hundred million times
 * as small as the arms is seen to lie outside. */
static void span_knows_rounding_from_a_difference(void **state)
{
    enum { MOST = 40, K = 60 };
    static const size_t sizes[][2] = {{2, 1}, {5, 3}, {MOST, 7}, {MOST, 39}};
    uint64_t seed = 5;
    (void)state;
    for (size_t s = 0; s < 4; s++) {
        const size_t n = sizes[s][0], rank = sizes[s][1];
        double basis[MOST * MOST], arms[K * MOST] = {0}, x[MOST], rest[MOST];
        double column[MOST], W[MOST * MOST];
        uint32_t active[K];
        for (size_t i = 0; i < rank * n; i++)
            basis[i] = test_normal(&seed);
        for (size_t k = 0; k < K; k++)
            for (size_t j = 0; j < rank; j++) {
                const double c = test_normal(&seed);
                for (size_t i = 0; i < n; i++)
                    arms[k * n + i] += c * basis[j * n + i];
            }
        for (size_t k = 0; k < K; k++)
            active[k] = (uint32_t)k;
        const tarry__policy_problem problem = {
            .n_arms = K, .dim = n, .arms = arms, .horizon = 1000};
        const tarry__phased_task task = {.problem = &problem,
                                         .rank_tolerance = 1e-11};
        tarry__phased_plan plan = {.n_active = K, .active = active};
        assert_int_equal(tarry__phased_lay_near(&task, &plan), TARRY_OK);
        assert_int_equal(plan.rank, rank);
        assert_int_equal(tarry__phased_whitening(&problem, &plan, W), TARRY_OK);
        tarry__phased_columns(&problem, NULL, K, column);
        for (size_t k = 1; k < K; k++) {
            for (size_t i = 0; i < n; i++)
                x[i] = arms[k * n + i] - arms[i];
            assert_true(tarry__phased_spans(W, rank, n, column, x, rest));
            x[k % n] += 1e-8 * column[k % n];
            assert_false(tarry__phased_spans(W, rank, n, column, x, rest));
        }
        plan.active = NULL;
        tarry__phased_plan_clear(&plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arms_own_mean_is_covered_at_all_times),
        cmocka_unit_test(half_of_an_own_interval_is_found_out),
        cmocka_unit_test(an_own_interval_knows_the_variance),
        cmocka_unit_test(differences_are_covered_whoever_chooses),
        cmocka_unit_test(a_third_of_the_ellipsoid_is_found_out),
        cmocka_unit_test(missing_losses_are_completed_the_worst_way),
        cmocka_unit_test(phases_and_books_have_half_of_the_failures_each),
        cmocka_unit_test(every_phase_has_a_share_of_the_failures_of_its_own),
        cmocka_unit_test(plans_made_anew_pay_for_their_directions),
        cmocka_unit_test(span_knows_rounding_from_a_difference),
        cmocka_unit_test(an_arm_that_follows_one_cut_has_a_bound_of_its_own),
        cmocka_unit_test(who_is_not_tried_again_is_ruled_out_by_all_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
