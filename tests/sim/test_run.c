/* One trial against a naive simulation: plain arrays of when each loss is due,
 * the world's own draws, and the policy behind its public door. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "env/world.h"
#include "policy/handle.h"
#include "sim/sim.h"
#include "policy/handle.h"

enum { HORIZON = 12000, N_GRID = 40 };

static const char *const policies[] = {
    "phased-stochastic",
    "phased-adversarial",
    "phased-loss-dependent",
    "phased-mab",
    "phased-stochastic:constants=tight",
    "phased-adversarial:constants=tight,guide=lints,guide_share=2",
    "phased-loss-dependent:constants=tight,guide=linucb,design=regret"};
enum { N_POLICIES = sizeof policies / sizeof *policies };

/* ---- the naive simulation -------------------------------------------------*/

typedef struct {
    tarry__world *world;
    tarry_policy *policy;
    tarry__sim_outcome *outcome;
    uint64_t phase, phase_start, designated;
    uint64_t outstanding;
    size_t n_plan, plan_arm[64]; /* as the adversary sees it */
    double plan_weight[64];
    size_t arm[HORIZON + 1]; /* by round */
    double loss[HORIZON + 1];
    uint64_t due[HORIZON + 1]; /* the round at whose end the loss is seen */
} naive;

static void see(naive *s, uint64_t round, double loss)
{
    const tarry_status status = tarry_policy_observe(s->policy, round, loss);
    assert_true(status == TARRY_OK || status == TARRY_LATE);
    s->outstanding--;
    if (s->outcome->first_seen == 0)
        s->outcome->first_seen = s->outcome->rounds;
}

/* What arrives in the same round is reported newest first: the policy puts it
 * in order of play. */
static void play_delay(naive *s, uint64_t t)
{
    uint64_t delay;
    tarry__world_draw(s->world, t, s->arm[t], &s->loss[t], &delay);
    s->due[t] = delay == TARRY__DELAY_NEVER ? TARRY__DELAY_NEVER : t + delay;
    s->outcome->lost += delay == TARRY__DELAY_NEVER;
    for (uint64_t round = t; round > 0; round--)
        if (s->due[round] == t)
            see(s, round, s->loss[round]);
}

static void play_adversary(naive *s, uint64_t t)
{
    const tarry__adversary_view view = {.round = t,
                                        .phase = s->phase,
                                        .n_plan = s->n_plan,
                                        .plan_arm = s->plan_arm,
                                        .plan_weight = s->plan_weight};
    const uint64_t *released;
    const size_t count =
        tarry__adversary_play(s->world->adversary, &view, s->arm[t], &released);
    for (size_t i = 0; i < count; i++) {
        double loss;
        uint64_t delay;
        tarry__world_draw(s->world, released[i], s->arm[released[i]], &loss,
                          &delay);
        assert_true(i == 0 || released[i] > released[i - 1]);
        see(s, released[i], loss);
    }
}

/* The first choice of a phase has been made. */
static void begin_phase(naive *s, uint64_t t, const tarry_policy_status *status)
{
    tarry__sim_outcome *o = s->outcome;
    if (s->phase > 0)
        o->phase[o->n_phases++] = (tarry__sim_phase){
            t - s->phase_start, s->designated, status->n_active};
    s->phase = status->phase;
    s->phase_start = t;
    s->designated = 0;
    s->n_plan = status->n_plan;
    for (size_t i = 0; i < status->n_plan; i++) {
        s->designated += status->plan[i].target;
        s->plan_arm[i] = status->plan[i].arm;
        s->plan_weight[i] = status->plan[i].weight;
    }
}

static bool is_best(const tarry__instance *in, size_t arm)
{
    return in->mean[arm] <= in->best_mean;
}

static void play_round(naive *s, uint64_t t)
{
    const tarry__instance *in = &s->world->instance;
    tarry__sim_outcome *o = s->outcome;
    tarry_policy_status status;
    uint64_t round;
    o->sigma_mean += (double)s->outstanding;
    if (s->outstanding > o->sigma_max)
        o->sigma_max = s->outstanding;
    assert_int_equal(tarry_policy_choose(s->policy, &round, &s->arm[t]),
                     TARRY_OK);
    assert_int_equal(round, t);
    tarry_policy_get_status(s->policy, &status);
    if (status.phase != s->phase)
        begin_phase(s, t, &status);
    o->regret += in->mean[s->arm[t]] - in->best_mean;
    if (t > HORIZON / 2)
        o->best_share += is_best(in, s->arm[t]);
    o->rounds = t;
    s->outstanding++;
    if (s->world->adversary != NULL)
        play_adversary(s, t);
    else
        play_delay(s, t);
}

static void conclude(naive *s)
{
    tarry__sim_outcome *o = s->outcome;
    tarry_policy_status status;
    tarry_policy_get_status(s->policy, &status);
    o->sigma_mean /= HORIZON;
    o->best_share /= HORIZON - HORIZON / 2;
    o->sigma_final = status.pending;
    o->used = status.used;
    o->late = status.late;
    o->ignored = status.ignored;
    o->active = status.n_active;
    for (size_t i = 0; i < status.n_active; i++)
        if (is_best(&s->world->instance, status.active[i]))
            o->best_kept = 1;
}

static void mark_curve(naive *s, size_t mark)
{
    const tarry__instance *in = &s->world->instance;
    tarry__sim_outcome *o = s->outcome;
    size_t arm;
    o->curve[mark] = o->regret;
    tarry__policy_settle(s->policy); /* a round's outcomes are whole */
    if (tarry_policy_certify(s->policy, &arm, &o->certificate[mark]) ==
        TARRY_OK)
        o->exploit_gap[mark] = in->mean[arm] - in->best_mean;
}

/* The settings of a description, for params; its name stays. */
static const char *cut_settings(char *policy)
{
    char *colon = strchr(policy, ':');
    if (colon == NULL)
        return NULL;
    *colon = '\0';
    return colon + 1;
}

static void simulate_naively(const tarry__sim_trial *t, tarry__sim_outcome *o)
{
    naive *s = calloc(1, sizeof *s);
    tarry_policy_params params = tarry_policy_defaults();
    char policy[200];
    size_t mark = 0;
    memset(o, 0, sizeof *o);
    s->outcome = o;
    assert_int_equal(tarry__world_create(t->instance, t->loss, t->delay,
                                         t->seed, t->run, &s->world, NULL),
                     TARRY_OK);
    params.n_arms = s->world->instance.n_arms;
    params.dim = s->world->instance.dim;
    params.arms = s->world->instance.arms;
    params.horizon = t->horizon;
    params.seed = t->seed;
    params.run = t->run;
    snprintf(policy, sizeof policy, "%s", t->policy);
    params.settings = cut_settings(policy);
    assert_int_equal(tarry_policy_create(policy, &params, &s->policy, NULL),
                     TARRY_OK);
    for (uint64_t round = 1; round <= t->horizon; round++) {
        play_round(s, round);
        if (round == t->grid[mark])
            mark_curve(s, mark++);
    }
    conclude(s);
    tarry_policy_free(s->policy);
    tarry__world_free(s->world);
    free(s);
}

/* ---- comparisons ----------------------------------------------------------*/

static tarry__sim_outcome simulate(const tarry__sim_trial *trial)
{
    tarry__sim_outcome outcome;
    tarry_error error = {"no error text"};
    const tarry_status status = tarry__sim_run(trial, &outcome, &error);
    if (status != TARRY_OK)
        fail_msg("%s, %s: %s", trial->policy, trial->delay, error.text);
    outcome.seconds = 0;
    return outcome;
}

static void check_alike(const tarry__sim_outcome *a,
                        const tarry__sim_outcome *b)
{
    CHECK_NEAR(a->regret, b->regret, 0);
    CHECK_NEAR(a->sigma_mean, b->sigma_mean, 0);
    assert_int_equal(a->sigma_max, b->sigma_max);
    assert_int_equal(a->sigma_final, b->sigma_final);
    assert_int_equal(a->used, b->used);
    assert_int_equal(a->late, b->late);
    assert_int_equal(a->ignored, b->ignored);
    assert_int_equal(a->lost, b->lost);
    assert_int_equal(a->rounds, b->rounds);
    assert_int_equal(a->first_seen, b->first_seen);
    assert_int_equal(a->active, b->active);
    assert_int_equal(a->best_kept, b->best_kept);
    assert_int_equal(a->n_phases, b->n_phases);
    assert_memory_equal(a, b, sizeof *a); /* phases and curves */
}

static uint64_t grid[N_GRID];
static size_t n_grid;

static tarry__sim_trial trial_of(const char *policy, const char *loss,
                                 const char *delay)
{
    n_grid = tarry__sim_log_grid(HORIZON, N_GRID, grid);
    return (tarry__sim_trial){.instance = "sphere:dim=2,arms=5",
                              .loss = loss,
                              .delay = delay,
                              .policy = policy,
                              .horizon = HORIZON,
                              .seed = 2385,
                              .run = 3,
                              .n_grid = n_grid,
                              .grid = grid};
}

/* All policies; answers how many phases they finished. */
static uint64_t compare(const char *loss, const char *delay)
{
    uint64_t phases = 0;
    for (size_t i = 0; i < N_POLICIES; i++) {
        const tarry__sim_trial trial = trial_of(policies[i], loss, delay);
        const tarry__sim_outcome fast = simulate(&trial);
        tarry__sim_outcome slow;
        simulate_naively(&trial, &slow);
        check_alike(&fast, &slow);
        phases += fast.n_phases;
    }
    return phases;
}

static void without_delay_it_is_as_the_naive_one(void **state)
{
    (void)state;
    assert_true(compare("rademacher", "none") >= 4);
    assert_true(compare("normal:sd=0.3", "none") >= 4);
    assert_true(compare("none", "constant:rounds=0") >= 4);
}

static void with_stochastic_delays_it_is_as_the_naive_one(void **state)
{
    (void)state;
    assert_true(compare("rademacher", "exponential:mean=100") >= 4);
    assert_true(compare("rademacher", "lognormal:median=30,spread=3") >= 4);
    assert_true(compare("uniform", "geometric:mean=40") >= 4);
    compare("rademacher", "two-point:low=3,high=900,never=0.05");
}

static void with_long_delays_it_is_as_the_naive_one(void **state)
{
    (void)state;
    compare("rademacher", "constant:rounds=4095");
    compare("rademacher", "constant:rounds=4096");
    compare("rademacher", "constant:rounds=11999");
    compare("rademacher", "constant:rounds=12000");
    compare("uniform", "uniform:high=9000");
    compare("uniform", "pareto:shape=1.2,mean=300");
}

/* Counts phases and ends the trial after the first. */
static bool after_one(void *context, const tarry_policy_status *status)
{
    int *count = context;
    assert_int_equal(status->phase, ++*count + 1);
    assert_int_equal(status->n_estimates, 5);
    return *count == 1;
}

static void a_trial_can_end_with_a_phase(void **state)
{
    (void)state;
    tarry__sim_trial trial =
        trial_of("phased-stochastic", "rademacher", "constant:rounds=50");
    const tarry__sim_outcome whole = simulate(&trial);
    int count = 0;
    assert_true(whole.n_phases > 1);
    trial.phase_ended = after_one;
    trial.phase_context = &count;
    const tarry__sim_outcome part = simulate(&trial);
    assert_int_equal(count, 1);
    assert_int_equal(part.n_phases, 1);
    assert_int_equal(part.rounds, whole.phase[0].length);
    assert_memory_equal(part.phase, whole.phase, sizeof *part.phase);
    size_t mark = 0;
    while (grid[mark + 1] <= part.rounds)
        mark++;
    assert_true(part.regret >= whole.curve[mark]);
    assert_true(part.regret <= whole.curve[mark + 1]);
    CHECK_NEAR(part.curve[mark], whole.curve[mark], 0);
    CHECK_NEAR(part.curve[mark + 1], 0, 0);
}

static void with_loss_dependent_delays_it_is_as_the_naive_one(void **state)
{
    (void)state;
    assert_true(compare("rademacher", "low-late:late=300") >= 3);
    assert_true(compare("rademacher", "threshold:below=50,above=200") >= 3);
}

static void with_adversaries_it_is_as_the_naive_one(void **state)
{
    (void)state;
    assert_true(compare("rademacher", "hold-rarest:sigma=60") >= 4);
    assert_true(compare("rademacher", "hold-all:sigma=200") >= 4);
    assert_true(compare("rademacher", "hold-all:sigma=99,period=40,burst=30") >=
                4);
    assert_true(compare("normal", "hold-newest:sigma=150") >= 4);
}

/* ---- one trial ------------------------------------------------------------*/

static void curves_do_not_change_the_outcome(void **state)
{
    (void)state;
    tarry__sim_trial trial =
        trial_of("phased-stochastic", "rademacher", "exponential");
    const tarry__sim_outcome fine = simulate(&trial);
    trial.n_grid = 0;
    const tarry__sim_outcome none = simulate(&trial);
    CHECK_NEAR(none.regret, fine.regret, 0);
    assert_int_equal(none.used, fine.used);
    assert_memory_equal(none.phase, fine.phase, sizeof none.phase);
    CHECK_NEAR(fine.curve[n_grid - 1], fine.regret, 0);
}

/* What `recommended` goes by. */
static void policies_are_told_what_delays_go_by(void **state)
{
    static const struct {
        const char *instance, *loss, *delay;
        tarry__policy_delays told;
    } all[] = {
        {"basis", "rademacher", "none", TARRY__POLICY_BY_CHANCE},
        {"basis", "rademacher", "exponential:spread=3",
         TARRY__POLICY_BY_CHANCE},
        {"basis", "rademacher", "shapes", TARRY__POLICY_BY_CHANCE},
        {"basis", "rademacher", "hold-all", TARRY__POLICY_BY_CHANCE},
        {"basis", "rademacher", "hold-newest", TARRY__POLICY_BY_CHANCE},
        {"basis", "rademacher", "hold-late", TARRY__POLICY_BY_CHANCE},
        {"basis", "rademacher", "hold-rarest", TARRY__POLICY_BY_ADVERSARY},
        {"basis", "rademacher", "hold-in-turn", TARRY__POLICY_BY_ADVERSARY},
        {"basis", "rademacher", "hold-staggered", TARRY__POLICY_BY_ADVERSARY},
        {"basis", "rademacher", "hold-good", TARRY__POLICY_ANY_DELAYS},
        {"basis", "rademacher", "low-late", TARRY__POLICY_ANY_DELAYS},
        {"basis", "rademacher", "lowest-late", TARRY__POLICY_ANY_DELAYS},
        {"basis:best=0.1", "none", "payoff", TARRY__POLICY_AS_PAYOFF},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tarry__world *world;
        assert_int_equal(tarry__world_create(all[i].instance, all[i].loss,
                                             all[i].delay, 1, 0, &world, NULL),
                         TARRY_OK);
        if (tarry__sim_delays(world, NULL) != all[i].told)
            fail_msg("%s: %d", all[i].delay,
                     (int)tarry__sim_delays(world, NULL));
        tarry__world_free(world);
    }
}

/* Where all arms are as good as the best, one of them always stays. */
static void any_of_the_best_arms_will_do(void **state)
{
    (void)state;
    uint64_t left = 0;
    for (uint32_t run = 0; run < 20; run++) {
        tarry__sim_trial trial =
            trial_of("phased-mab:constants=tight,width=0.05", "normal", "none");
        trial.instance = "basis:arms=6,gap=0,means=equal";
        trial.horizon = 20000;
        trial.n_grid = 0;
        trial.run = run;
        const tarry__sim_outcome o = simulate(&trial);
        assert_int_equal(o.best_kept, 1);
        CHECK_NEAR(o.regret, 0, 0);
        left += o.active;
    }
    assert_true(left < 20 * 6); /* some were dropped */
}

static void another_run_is_another_outcome(void **state)
{
    (void)state;
    tarry__sim_trial trial =
        trial_of("phased-mab", "rademacher", "exponential");
    const tarry__sim_outcome one = simulate(&trial);
    trial.run++;
    assert_true(simulate(&trial).regret != one.regret);
    trial.run--;
    trial.seed++;
    assert_true(simulate(&trial).regret != one.regret);
}

typedef struct {
    uint64_t played, enough;
} counter;

static bool count_rounds(void *context, uint64_t rounds)
{
    counter *c = context;
    c->played += rounds;
    return c->played >= c->enough;
}

static void ticks_count_every_round_and_may_cancel(void **state)
{
    (void)state;
    tarry__sim_outcome outcome;
    counter c = {.enough = UINT64_MAX};
    tarry__sim_trial trial = trial_of("phased-mab", "rademacher", "none");
    trial.tick = count_rounds;
    trial.tick_context = &c;
    simulate(&trial);
    assert_int_equal(c.played, HORIZON);
    c = (counter){.enough = 5000};
    assert_int_equal(tarry__sim_run(&trial, &outcome, NULL), TARRY_CANCELLED);
    CHECK_AT_MOST((double)c.played, 5000 + 256);
}

static void bad_descriptions_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *policy, *loss, *delay, *says;
    } bad[] = {
        {"nobody", "none", "none", "nobody"},
        {"phased-mab:x=1", "none", "none", "'x'"},
        {"phased-mab", "nothing", "none", "nothing"},
        {"phased-mab", "none", "nowhere", "nowhere"},
        {"phased-mab", "none", "constant:rounds=-1", "rounds"},
        {":", "none", "none", ""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const tarry__sim_trial trial =
            trial_of(bad[i].policy, bad[i].loss, bad[i].delay);
        tarry__sim_outcome outcome;
        tarry_error error = {"untouched"};
        const tarry_status status = tarry__sim_run(&trial, &outcome, &error);
        assert_true(status == TARRY_BAD_INPUT || status == TARRY_BAD_ARGUMENT);
        assert_non_null(strstr(error.text, bad[i].says));
        assert_null(strstr(error.text, "untouched"));
    }
}

/* Whichever allocation fails, it says so and leaves nothing behind. */
static void fail_everywhere(const char *policy, const char *delay)
{
    tarry__sim_trial trial = trial_of(policy, "rademacher", delay);
    tarry_status status = TARRY_NO_MEMORY;
    tarry__sim_outcome outcome;
    uint64_t k = 1;
    trial.horizon = 4500;
    trial.n_grid = 0;
    for (; status == TARRY_NO_MEMORY; k++) {
        tarry_error error = {"untouched"};
        tarry__base_fail_alloc(k);
        status = tarry__sim_run(&trial, &outcome, &error);
        tarry__base_fail_alloc(0);
        if (status != TARRY_OK)
            assert_non_null(strstr(error.text, "out of memory"));
    }
    assert_int_equal(status, TARRY_OK);
    assert_true(k > 20);
}

static void out_of_memory_is_told_wherever_it_happens(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_POLICIES; i++) {
        fail_everywhere(policies[i], "lognormal:median=800");
        fail_everywhere(policies[i], "hold-rarest:sigma=100");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_delay_it_is_as_the_naive_one),
        cmocka_unit_test(with_stochastic_delays_it_is_as_the_naive_one),
        cmocka_unit_test(with_long_delays_it_is_as_the_naive_one),
        cmocka_unit_test(with_loss_dependent_delays_it_is_as_the_naive_one),
        cmocka_unit_test(a_trial_can_end_with_a_phase),
        cmocka_unit_test(with_adversaries_it_is_as_the_naive_one),
        cmocka_unit_test(curves_do_not_change_the_outcome),
        cmocka_unit_test(policies_are_told_what_delays_go_by),
        cmocka_unit_test(any_of_the_best_arms_will_do),
        cmocka_unit_test(another_run_is_another_outcome),
        cmocka_unit_test(ticks_count_every_round_and_may_cancel),
        cmocka_unit_test(bad_descriptions_are_refused_by_name),
        cmocka_unit_test(out_of_memory_is_told_wherever_it_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
