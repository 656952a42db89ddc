/* Outcomes that are never reported, in worlds: which ones, and the default
 * outcome that all policies are told. */
#include "check.h"
#include <string.h>
#include "lab/experiment.h"
#include "sim/sim.h"
#include "tarry/policy.h"

enum { HORIZON = 3000, GRID = 1 };

static const uint64_t grid[GRID] = {HORIZON};

static tarry__sim_trial trial_of(const char *policy, const char *delay,
                                 tarry__sim_reports reports)
{
    return (tarry__sim_trial){.instance = "basis:arms=4",
                              .loss = "rademacher",
                              .delay = delay,
                              .policy = policy,
                              .reports = reports,
                              .horizon = HORIZON,
                              .seed = 2385,
                              .run = 3,
                              .n_grid = GRID,
                              .grid = grid};
}

/* ---- the same policy behind the public door -------------------------------*/

static void check_twin(const char *policy, tarry__sim_reports reports)
{
    static const char delay[] = "low-late:late=60,law=exponential";
    static size_t arm[HORIZON + 1];
    static uint64_t due[HORIZON + 1];
    static double loss[HORIZON + 1];
    const tarry__sim_trial trial = trial_of(policy, delay, reports);
    tarry__sim_outcome outcome;
    tarry__world *world;
    tarry_policy *twin;
    tarry_error error = {""};
    if (tarry__sim_run(&trial, &outcome, &error) != TARRY_OK)
        fail_msg("%s: %s", policy, error.text);
    assert_int_equal(tarry__world_create(trial.instance, trial.loss, delay,
                                         trial.seed, trial.run, &world, NULL),
                     TARRY_OK);
    tarry_policy_params p = tarry_policy_defaults();
    p.n_arms = world->instance.n_arms;
    p.dim = world->instance.dim;
    p.arms = world->instance.arms;
    p.horizon = HORIZON;
    p.seed = trial.seed;
    p.run = trial.run;
    p.default_outcome = reports.default_outcome;
    assert_int_equal(tarry_policy_create(policy, &p, &twin, NULL), TARRY_OK);
    double regret = 0;
    uint64_t round, corrected = 0;
    for (uint64_t t = 1; t <= HORIZON; t++) {
        assert_int_equal(tarry_policy_choose(twin, &round, &arm[t]), TARRY_OK);
        tarry__world_draw(world, t, arm[t], &loss[t], &due[t]);
        regret += world->instance.mean[arm[t]] - world->instance.best_mean;
        for (uint64_t s = 1; s <= t; s++)
            if (due[s] == t - s && (reports.report == NULL || loss[s] < 0))
                corrected +=
                    tarry_policy_observe(twin, s, loss[s]) == TARRY_CORRECTED;
    }
    if (regret != outcome.regret)
        fail_msg("%s, %s: regret %.17g and %.17g", policy,
                 reports.default_outcome, outcome.regret, regret);
    assert_int_equal(corrected > 100,
                     strstr(reports.default_outcome, "final") == NULL);
    tarry_policy_free(twin);
    tarry__world_free(world);
}

static void simulated_policy_is_the_public_one(void **state)
{
    (void)state;
    static const char *const rules[] = {"1/40r", "1/40r/final", "1/0"};
    static const char *const policies[] = {"lints", "foresight", "ucb-delayed"};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            check_twin(policies[k], (tarry__sim_reports){NULL, rules[i]});
            check_twin(policies[k], (tarry__sim_reports){"only-low", rules[i]});
        }
    check_twin("phased-loss-dependent:constants=tight,guide=foresight",
               (tarry__sim_reports){"only-low", "1/40r"});
}

/* ---- which outcomes are seen ----------------------------------------------*/

typedef struct {
    uint64_t low, high, latest, round;
} seen;

static void note_play(void *context, uint64_t round, size_t arm)
{
    (void)arm;
    ((seen *)context)->round = round;
}

static void note(void *context, uint64_t round, size_t arm, double loss)
{
    seen *s = context;
    (void)arm;
    s->low += loss < 0;
    s->high += loss > 0;
    if (s->round - round > s->latest)
        s->latest = s->round - round;
}

static seen watch(const char *report)
{
    seen s = {0};
    tarry__sim_outcome outcome;
    tarry__sim_trial trial = trial_of("uniform", "uniform:high=100",
                                      (tarry__sim_reports){report, NULL});
    trial.played = note_play;
    trial.seen = note;
    trial.phase_context = &s;
    assert_int_equal(tarry__sim_run(&trial, &outcome, NULL), TARRY_OK);
    assert_int_equal(s.low + s.high + outcome.sigma_final, HORIZON);
    return s;
}

static void rule_of_reports_says_which_outcomes_are_seen(void **state)
{
    (void)state;
    const seen all = watch("all"), none = watch(NULL);
    const seen low = watch("only-low"), high = watch("only-high");
    const seen window = watch("window:rounds=30");
    assert_memory_equal(&all, &none, sizeof all);
    assert_true(low.low == all.low && low.high == 0);
    assert_true(high.high == all.high && high.low == 0);
    assert_true(all.latest > 90 && window.latest == 30);
    assert_true(watch("only-low:below=-1").low == 0);
}

/* ---- what is refused ------------------------------------------------------*/

static void check_refused(const char *policy, const char *delay,
                          tarry__sim_reports reports, const char *why)
{
    const tarry__sim_trial trial = trial_of(policy, delay, reports);
    tarry_error error = {""};
    if (tarry__sim_check(&trial, &error) == TARRY_OK)
        fail_msg("%s is taken, not refused for '%s'", policy, why);
    if (strstr(error.text, why) == NULL)
        fail_msg("'%s' is not in '%s'", why, error.text);
}

static void world_without_such_a_rule_is_refused(void **state)
{
    (void)state;
    check_refused("lints", "none", (tarry__sim_reports){"only", NULL},
                  "no report 'only'");
    check_refused("lints", "none", (tarry__sim_reports){NULL, "1/7d"},
                  "worlds have rounds and no clock");
    check_refused("lints", "none", (tarry__sim_reports){NULL, "2/5r"},
                  "outcomes lie in [-1, 1]; got 2");
    check_refused("lints", "none", (tarry__sim_reports){NULL, "1"},
                  "VALUE/AFTER");
    check_refused("lints", "hold-rarest:sigma=5",
                  (tarry__sim_reports){NULL, "1/5r"}, "adversary");
    check_refused("lints", "hold-rarest:sigma=5",
                  (tarry__sim_reports){"only-low", NULL}, "adversary");
    check_refused("otf-lints", "none", (tarry__sim_reports){NULL, "1/5r"},
                  "otf-lints cannot take corrections");
    check_refused("lints:default_outcome=1/5r", "none",
                  (tarry__sim_reports){NULL, NULL}, "belongs to the world");
    const tarry__sim_trial trial =
        trial_of("otf-lints", "none", (tarry__sim_reports){NULL, "1/5r/final"});
    assert_int_equal(tarry__sim_check(&trial, NULL), TARRY_OK);
}

/* ---- what it is good for --------------------------------------------------*/

static double mean_regret(const char *policy, tarry__sim_reports reports)
{
    enum { RUNS = BRIEF ? 3 : 12 };
    double sum = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        tarry__sim_outcome outcome;
        tarry__sim_trial trial = trial_of(
            policy, "threshold:below=100,above=500,law=constant", reports);
        trial.run = run;
        assert_int_equal(tarry__sim_run(&trial, &outcome, NULL), TARRY_OK);
        sum += outcome.regret / RUNS;
    }
    return sum;
}

/* High losses come 500 rounds late, or never and are declared so. */
static void declared_silence_costs_what_late_reports_cost(void **state)
{
    (void)state;
    const double reported =
        mean_regret("recommended", (tarry__sim_reports){"all", NULL});
    const double declared =
        mean_regret("recommended", (tarry__sim_reports){"only-low", "1/500r"});
    const double silent =
        mean_regret("recommended", (tarry__sim_reports){"only-low", NULL});
    print_message("    reported %.0f, declared %.0f, undeclared %.0f\n",
                  reported, declared, silent);
    assert_true(declared <= 1.2 * reported);
    assert_true(silent > declared);
}

/* `recommended` and the identity of journals know of the rules. */
static void rule_makes_delays_depend_on_losses(void **state)
{
    (void)state;
    tarry__experiment e = {.instance = "basis:arms=3",
                           .loss = "rademacher",
                           .delay = "constant:rounds=5",
                           .n_policies = 1,
                           .policy = {"recommended"},
                           .horizon = 200,
                           .runs = 1};
    assert_non_null(
        strstr(tarry__experiment_meaning(&e, 0), "phased-stochastic"));
    e.reports.report = "only-low";
    assert_non_null(
        strstr(tarry__experiment_meaning(&e, 0), "phased-loss-dependent"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simulated_policy_is_the_public_one),
        cmocka_unit_test(rule_of_reports_says_which_outcomes_are_seen),
        cmocka_unit_test(world_without_such_a_rule_is_refused),
        cmocka_unit_test(declared_silence_costs_what_late_reports_cost),
        cmocka_unit_test(rule_makes_delays_depend_on_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
