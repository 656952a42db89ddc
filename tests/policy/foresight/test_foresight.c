/* foresight: plays age as they should, the law of delays is learnt from what
 * has arrived and what has not, and that pays. */
#include "check.h"
#include <stdlib.h>
#include "policy/foresight/doubt.h"
#include "policy/play.h"
#include "sim/sim.h"

/* ---- plays age ------------------------------------------------------------*/

/* Bins start at 0, 1, 2, 3, 4, 6, 8, 12, ...; found here by search. */
static size_t bin_of_age(uint64_t age)
{
    uint64_t start = 0, next = 1, step = 1;
    for (size_t j = 0; j + 1 < TARRY__FORESIGHT_BINS; j++) {
        if (age < next)
            return j;
        start = next;
        if (j >= 3 && j % 2 == 1)
            step *= 2;
        next = start + step;
    }
    return TARRY__FORESIGHT_BINS - 1;
}

static tarry__policy_problem make_problem(size_t n_arms)
{
    return (tarry__policy_problem){
        .n_arms = n_arms, .dim = 1, .horizon = 10000};
}

enum { SEATS = 3, ROUNDS = 5000 };

static void check_counts(const tarry__waiting *w, const bool *open,
                         uint64_t now)
{
    uint32_t expected[SEATS * TARRY__FORESIGHT_BINS] = {0};
    for (uint64_t t = 1; t <= now; t++)
        if (open[t])
            expected[t % SEATS * TARRY__FORESIGHT_BINS + bin_of_age(now - t)]++;
    for (size_t i = 0; i < SEATS * TARRY__FORESIGHT_BINS; i++)
        assert_int_equal(w->waiting[i], expected[i]);
}

static void plays_age_into_their_bins(void **state)
{
    (void)state;
    static bool open[ROUNDS + 1];
    const tarry__policy_problem problem = make_problem(SEATS);
    tarry__waiting w = {0};
    uint64_t seed = 2385;
    assert_int_equal(tarry__waiting_open(&w, &problem), TARRY_OK);
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        tarry__waiting_play(&w, t, t % SEATS);
        open[t] = true;
        for (int i = 0; i < 2; i++) { /* any two rounds, if they are open */
            const uint64_t s = 1 + test_bits(&seed) % t;
            if (open[s] && s % 7 == 1) /* called off */
                tarry__waiting_cancel(&w, s, s % SEATS);
            else if (open[s] && s % 7 != 0)
                tarry__waiting_end(&w, s, s % SEATS, 0.5);
            open[s] = open[s] && s % 7 == 0;
        }
        if (t % 97 == 0)
            check_counts(&w, open, t);
    }
    tarry__waiting_clear(&w);
}

/* In a game that lasts longer than plays are followed one by one, ends at every
 * power of 2 and next to it hit no play but their own. */
static void plays_of_any_age_end_alone(void **state)
{
    (void)state;
    enum { LONG = 600000, OCTAVES = 20 };
    bool *open = calloc(LONG + 1, sizeof *open);
    tarry__policy_problem problem = make_problem(SEATS);
    tarry__waiting w = {0};
    uint64_t seed = 2385;
    assert_non_null(open);
    problem.horizon = LONG;
    assert_int_equal(tarry__waiting_open(&w, &problem), TARRY_OK);
    for (uint64_t t = 1; t <= LONG; t++) {
        tarry__waiting_play(&w, t, t % SEATS);
        open[t] = true;
        const uint64_t power = UINT64_C(1) << test_bits(&seed) % OCTAVES;
        const uint64_t age = power + test_bits(&seed) % 3 - 1;
        if (age >= t || !open[t - age])
            continue;
        if (t % 2 == 0)
            tarry__waiting_end(&w, t - age, (t - age) % SEATS, 0.5);
        else
            tarry__waiting_cancel(&w, t - age, (t - age) % SEATS);
        open[t - age] = false;
    }
    check_counts(&w, open, LONG);
    tarry__waiting_clear(&w);
    free(open);
}

/* ---- the law --------------------------------------------------------------*/

typedef struct {
    uint64_t due;
    bool high;
} fate;

/* High losses come at once, low ones 300 rounds later, a fifth never; the
 * first arm has many high ones.  What is known of the plays that wait. */
static void late_and_lost_losses_are_told_apart(void **state)
{
    (void)state;
    static fate fates[ROUNDS + 1];
    static const double p[2] = {0.7, 0.3};
    const tarry__policy_problem problem = make_problem(2);
    tarry__waiting w = {0};
    uint64_t seed = 2385;
    double waiting[2] = {0, 0}, high[2] = {0, 0};
    assert_int_equal(tarry__waiting_open(&w, &problem), TARRY_OK);
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        const bool is_high = test_uniform(&seed) < p[t % 2];
        const bool lost = test_uniform(&seed) < 0.2;
        fates[t] = (fate){lost ? UINT64_MAX : t + (is_high ? 0 : 300), is_high};
        tarry__waiting_play(&w, t, t % 2);
        for (uint64_t s = t > 300 ? t - 300 : 1; s <= t; s++)
            if (fates[s].due == t)
                tarry__waiting_end(&w, s, s % 2, fates[s].high);
        double known[2] = {p[0], p[1]};
        if (t % 20 == 0)
            tarry__law_learn(&w, 2, known);
    }
    for (uint64_t t = 1; t <= ROUNDS; t++)
        if (fates[t].due > ROUNDS) {
            waiting[t % 2]++;
            high[t % 2] += fates[t].high;
        }
    CHECK_NEAR(w.law.lost, 0.2, 0.04);
    for (size_t k = 0; k < 2; k++) {
        const double error = sqrt(waiting[k] * p[k] * (1 - p[k]));
        const tarry__foresight_hint hint = tarry__law_hint(&w, k, p[k]);
        CHECK_NEAR(hint.surplus, high[k] - p[k] * waiting[k], 4 * error);
        assert_true(hint.surplus < -error); /* the late ones are low */
    }
    tarry__waiting_clear(&w);
}

/* High losses come at once and low ones not yet.  A law that takes what is
 * missing for lost is left, though no small step leads away from it, and with
 * it the belief that all losses are high. */
static void what_has_not_come_yet_is_suspected(void **state)
{
    (void)state;
    enum { ARMS = 8 };
    const tarry__policy_problem problem = make_problem(ARMS);
    double p[ARMS], waiting[ARMS] = {0};
    tarry__waiting w = {0};
    uint64_t seed = 2385;
    bool another = false;
    assert_int_equal(tarry__waiting_open(&w, &problem), TARRY_OK);
    for (size_t k = 0; k < ARMS; k++)
        p[k] = 0.97;
    for (uint64_t t = 1; t <= ARMS * 100; t++) {
        const size_t k = t % ARMS;
        tarry__waiting_play(&w, t, k);
        if (test_uniform(&seed) < (double)(k + 1) / (ARMS + 1))
            tarry__waiting_end(&w, t, k, 1);
        else
            waiting[k]++;
        if (t % 100 == 0 && tarry__law_learn(&w, ARMS, p))
            another = true;
    }
    assert_true(another);
    for (size_t k = 0; k < ARMS; k++) { /* four deviations of 100 plays */
        CHECK_NEAR(p[k], (double)(k + 1) / (ARMS + 1), 0.2);
        /* each that waits is up to p below the mean */
        assert_true(tarry__law_hint(&w, k, p[k]).surplus <
                    -0.4 * p[k] * waiting[k]);
    }
    tarry__waiting_clear(&w);
}

/* Losses 0 come at once, 0.5 after 10 rounds and 1 after 40, of which one is
 * not yet in.  By hand: of 10 plays 4 ended at age 0, and 3 of the 5 others
 * that have been there long enough at age 10. */
static void waits_are_worth_what_others_came_to(void **state)
{
    (void)state;
    enum { NOW = 47 };
    static const char kind[NOW + 1] = {[1] = 'a', 'b', 'c', 'a',        'b',
                                       'c',       'a', 'b', [44] = 'a', 'c'};
    static const uint64_t delay[] = {0, 10, 40};
    const tarry__policy_problem problem = make_problem(1);
    tarry__waiting w = {0};
    tarry__foresight_worth worth;
    assert_int_equal(tarry__waiting_open(&w, &problem), TARRY_OK);
    for (uint64_t t = 1; t <= NOW; t++) {
        tarry__waiting_play(&w, t, kind[t] != 0 ? 0 : w.room); /* or nobody */
        for (uint64_t s = 1; s <= t; s++)
            if (kind[s] != 0 && s + delay[kind[s] - 'a'] == t)
                tarry__waiting_end(&w, s, 0, (kind[s] - 'a') / 2.0);
    }
    tarry__worth_learn(&worth, &w, 1);
    CHECK_NEAR(worth.mean[bin_of_age(41)], 1, 0);
    CHECK_NEAR(worth.mean[bin_of_age(12)], 1, 0);
    CHECK_NEAR(worth.mean[bin_of_age(4)], 0.6 * 0.5 + 0.4, 1e-15);
    CHECK_NEAR(worth.square[bin_of_age(4)], 0.6 * 0.25 + 0.4, 1e-15);
    CHECK_NEAR(worth.mean[0], 0.6 * 0.7, 1e-15);
    const tarry__foresight_hint hint = tarry__worth_hint(&worth, &w, 0, 0.4);
    const double share = 1 - (0.55 - 0.7 * 0.7) / (0.4 * 0.6);
    CHECK_NEAR(hint.known, share, 1e-12);
    CHECK_NEAR(hint.coming, 1 - share, 1e-12);
    CHECK_NEAR(hint.surplus, share * (0.7 - 0.4), 1e-12);
    tarry__waiting_clear(&w);
}

/* ---- doubts ---------------------------------------------------------------*/

/* What is in doubt, and how it is asked, if losses are `unit` times as large:
 * the range, the means, and the variances with them. */
static double share_asked(double unit, uint64_t round)
{
    double arms[] = {1, 0, 0.9, 0.45, 0, 1};
    const tarry__policy_problem problem = {
        .n_arms = 3, .dim = 2, .arms = arms, .horizon = 1000000};
    tarry__view view = {0};
    tarry__fit fit = {0};
    tarry__doubt doubt = {.beta = 0.6, .c = 0.7};
    assert_int_equal(tarry__view_open(&view, &problem), TARRY_OK);
    assert_int_equal(tarry__fit_open(&fit, &view), TARRY_OK);
    assert_int_equal(tarry__doubt_open(&doubt, &fit), TARRY_OK);
    fit.noise.variance[0] = 0.75 * unit * unit;
    fit.noise.variance[1] = 0.7 * unit * unit;
    fit.noise.variance[2] = 0.9 * unit * unit;
    fit.low = -unit;
    fit.high = unit;
    fit.theta[0] = -0.5 * unit;
    fit.theta[1] = -0.1 * unit;
    fit.V_coming[0] = 800 / (unit * unit);
    fit.V_coming[1] = fit.V_coming[2] = 10 / (unit * unit);
    fit.V_coming[3] = 30 / (unit * unit);
    tarry__doubt_renew(&doubt);
    tarry__doubt_choose(&doubt, round, 0.5);
    const double share = doubt.calm ? -1 : doubt.share;
    tarry__doubt_clear(&doubt);
    tarry__fit_clear(&fit);
    tarry__view_clear(&view);
    return share;
}

static void the_unit_of_losses_does_not_matter(void **state)
{
    (void)state;
    int calm = 0;
    for (uint64_t round = 1; round < 500000; round += 1 + round / 4) {
        const double share = share_asked(1, round);
        CHECK_NEAR(share_asked(0.01, round), share, 1e-9);
        calm += share < 0;
    }
    print_message("    %d without doubt\n", calm);
    assert_true(calm > 5 && calm < 40);
}

/* ---- regret ---------------------------------------------------------------*/

static double regret_of(const char *policy, const char *delay, uint32_t run)
{
    static tarry__sim_outcome o;
    const uint64_t horizon = 20000;
    const bool payoff = strncmp(delay, "payoff", 6) == 0;
    const tarry__sim_trial trial = {.instance = payoff ? "orthant:dim=8,arms=60"
                                                       : "sphere:dim=8,arms=60",
                                    .loss = payoff ? "bernoulli" : "rademacher",
                                    .delay = delay,
                                    .policy = policy,
                                    .horizon = horizon,
                                    .seed = 2385,
                                    .run = run,
                                    .n_grid = 1,
                                    .grid = &horizon};
    tarry_error error = {""};
    if (tarry__sim_run(&trial, &o, &error) != TARRY_OK)
        fail_msg("%s: %s", policy, error.text);
    return o.regret;
}

/* The first policy pays less than `factor` times the second: by three standard
 * errors of the difference, run by run. */
static void check_cheaper(const char *one, const char *two, double factor,
                          const char *delay)
{
    enum { RUNS = 24 };
    double sum = 0, squares = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        const double difference =
            regret_of(one, delay, run) - factor * regret_of(two, delay, run);
        sum += difference;
        squares += difference * difference;
    }
    const double mean = sum / RUNS;
    const double error = sqrt((squares / RUNS - mean * mean) / (RUNS - 1));
    print_message("    %s: %s - %g %s = %.0f +/- %.0f\n", delay, one, factor,
                  two, mean, error);
    assert_true(mean < -3 * error);
}

static void it_pays_less_than_thompson_sampling(void **state)
{
    (void)state;
    check_cheaper("foresight", "lints", 1, "none");
    check_cheaper("foresight", "lints", 0.4, "low-late:late=1000");
}

static void what_is_missing_is_news(void **state)
{
    (void)state;
    check_cheaper("foresight", "foresight:delays=independent", 0.4,
                  "low-late:late=1000");
    check_cheaper("foresight", "foresight:delays=independent", 0.35,
                  "high-late:late=1000");
}

static void that_the_wait_is_the_loss_is_worth_knowing(void **state)
{
    (void)state;
    check_cheaper("foresight:delays=payoff", "foresight", 0.6, "payoff:D=2000");
    check_cheaper("recommended", "lints:v=0.7", 0.3, "payoff:D=2000");
}

/* ---- silence --------------------------------------------------------------*/

/* Arms sell to 5, 15 and 30 %; sales are reported at once, and after round
 * `last` nothing. */
static tarry_policy *sell(uint64_t rounds, uint64_t last, bool report_all)
{
    double arms[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double rate[] = {0.05, 0.15, 0.3};
    const game g = {3, 3, arms, NULL};
    const tarry_policy_params params = params_of(&g, 10000);
    tarry_policy *p = make_policy("recommended", &params);
    uint64_t seed = 2385;
    for (uint64_t t = 1; t <= rounds; t++) {
        const choice c = choose(p);
        const bool sale = test_uniform(&seed) < rate[c.arm];
        if (t <= last && (sale || report_all))
            tarry_policy_observe(p, t, sale ? -1 : 1);
    }
    return p;
}

static void status_tells_of_silence(void **state)
{
    (void)state;
    tarry_policy *p = sell(3000, 3000, false);
    print_message("    silence %.2f\n", status_of(p).silence);
    assert_true(status_of(p).silence > 0.2);
    assert_int_equal(status_of(p).silent_since, 0);
    tarry_policy_free(p);
    p = sell(3000, 2000, true);
    assert_true(fabs(status_of(p).silence) < 0.1);
    assert_int_equal(status_of(p).silent_since, 2000);
    tarry_policy_free(p);
}

/* ---- odd arms -------------------------------------------------------------*/

static void check_odd(const char *what, double *arms, size_t n_arms, size_t dim)
{
    const game g = {n_arms, dim, arms, NULL};
    const tarry_policy_params params = params_of(&g, 4000);
    tarry_policy *p = make_policy("foresight", &params);
    uint64_t seed = 2385;
    print_message("    %s\n", what);
    for (uint64_t t = 1; t <= 300; t++) {
        const choice c = choose(p);
        assert_true(c.arm < n_arms);
        if (t % 3 != 0)
            tarry_policy_observe(p, t, 2 * test_uniform(&seed) - 1);
    }
    tarry_policy_free(p);
}

static void odd_arms_do_no_harm(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    double one[3] = {0.3, 0, -2}, zero[8] = {0};
    double same[8] = {0.5, 1, 0.5, 1, 0.5, 1, 0.5, 1};
    double line[12] = {1, 2, 0, 2, 4, 0, -1, -2, 0, 3, 6, 0};
    double *many = malloc(2 * MANY * sizeof *many);
    assert_non_null(many);
    for (size_t i = 0; i < MANY; i++) {
        many[2 * i] = cos((double)i);
        many[2 * i + 1] = 1e-9 * sin((double)i);
    }
    check_odd("one arm", one, 1, 3);
    check_odd("all zero", zero, 4, 2);
    check_odd("all the same", same, 4, 2);
    check_odd("on a line", line, 4, 3);
    check_odd("many, one feature tiny", many, MANY, 2);
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plays_age_into_their_bins),
        cmocka_unit_test(plays_of_any_age_end_alone),
        cmocka_unit_test(late_and_lost_losses_are_told_apart),
        cmocka_unit_test(what_has_not_come_yet_is_suspected),
        cmocka_unit_test(waits_are_worth_what_others_came_to),
        cmocka_unit_test(the_unit_of_losses_does_not_matter),
        cmocka_unit_test(it_pays_less_than_thompson_sampling),
        cmocka_unit_test(what_is_missing_is_news),
        cmocka_unit_test(that_the_wait_is_the_loss_is_worth_knowing),
        cmocka_unit_test(status_tells_of_silence),
        cmocka_unit_test(odd_arms_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
