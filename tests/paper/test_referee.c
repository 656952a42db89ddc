/* test_referee.c - the referee finds nothing in an honest game, and everything
 * that is done to one. */
#include "check.h"

#include <string.h>
#include "paper/referee.h"
#include "sim/sim.h"

typedef enum {
    HONEST,
    OTHER_ARM,     /* one play was of another arm */
    UNSEEN,        /* one loss did not come */
    CHANGED,       /* one loss was another */
    EARLY,         /* a phase ended while losses were wanting */
    OTHER_TARGET,  /* a plan had a loss more */
    OTHER_WEIGHTS, /* a plan had other weights */
    KEPT,          /* an arm was kept that was cut */
    SHIFTED,       /* an estimate was another */
} change;

typedef struct {
    tarry__referee referee;
    change change;
    uint64_t plays, losses;
    tarry_plan_entry plan[64];
    uint32_t active[64];
    tarry_estimate estimates[64];
} table;

static void began(void *context, const tarry_policy_status *status)
{
    table *t = context;
    tarry_policy_status shown = *status;
    memcpy(t->plan, status->plan, status->n_plan * sizeof *t->plan);
    shown.plan = t->plan;
    if (t->change == OTHER_TARGET && status->phase == 2)
        t->plan[0].target++;
    if (t->change == OTHER_WEIGHTS && status->phase == 2)
        t->plan[0].weight *= 1.01;
    tarry__referee_began(&t->referee, &shown);
}

static bool ended(void *context, const tarry_policy_status *status)
{
    table *t = context;
    tarry_policy_status shown = *status;
    memcpy(t->active, status->active, status->n_active * sizeof *t->active);
    memcpy(t->estimates, status->estimates,
           status->n_estimates * sizeof *t->estimates);
    shown.active = t->active;
    shown.estimates = t->estimates;
    if (t->change == KEPT) /* instead of another one */
        t->active[0] = (t->active[0] + 1) % (uint32_t)status->n_estimates;
    if (t->change == SHIFTED)
        t->estimates[t->active[0]].upper += 1e-5;
    tarry__referee_ended(&t->referee, &shown);
    return status->phase > 3;
}

static void played(void *context, uint64_t round, size_t arm)
{
    table *t = context;
    const size_t K = t->referee.world->instance.n_arms;
    if (t->change == OTHER_ARM && ++t->plays == 1000)
        while (arm = (arm + 1) % K, t->referee.entry_of[arm] != UINT32_MAX)
            ;
    tarry__referee_played(&t->referee, round, arm);
}

static void seen(void *context, uint64_t round, size_t arm, double loss)
{
    table *t = context;
    t->losses++;
    if ((t->change == UNSEEN && t->losses == 1000) ||
        (t->change == EARLY && t->losses % 2 == 0))
        return;
    if (t->change == CHANGED && t->losses == 1000)
        loss = -loss;
    tarry__referee_seen(&t->referee, round, arm, loss);
}

static tarry__referee_findings follow(const char *policy, const char *instance,
                                      const char *delay, change what)
{
    static tarry__sim_outcome o;
    static table t;
    memset(&t, 0, sizeof t);
    t.change = what;
    tarry_error error = {""};
    const tarry__sim_trial trial = {.instance = instance,
                                    .loss = "rademacher",
                                    .delay = delay,
                                    .policy = policy,
                                    .horizon = 60000,
                                    .seed = 2385,
                                    .phase_ended = ended,
                                    .phase_began = began,
                                    .played = played,
                                    .seen = seen,
                                    .phase_context = &t};
    if (tarry__referee_open(&t.referee, instance, "rademacher", policy,
                            trial.horizon, trial.seed, 0, &error) != TARRY_OK ||
        tarry__sim_run(&trial, &o, &error) != TARRY_OK)
        fail_msg("%s: %s", policy, error.text);
    const tarry__referee_findings found = tarry__referee_conclude(&t.referee);
    tarry__referee_close(&t.referee);
    return found;
}

static const struct {
    const char *policy, *instance, *delay;
} games[] = {
    {"phased-stochastic", "sphere:dim=2,arms=40", "exponential:mean=300"},
    {"phased-adversarial", "sphere:dim=2,arms=40", "hold-in-turn:sigma=90"},
    {"phased-loss-dependent", "sphere:dim=2,arms=40", "low-late:late=400"},
    {"phased-mab", "basis:arms=5", "low-late:late=400"},
};
enum { GAMES = sizeof games / sizeof *games };

static double faults(const tarry__referee_findings *f)
{
    return f->plans + f->plays + f->early + f->late + f->cuts +
           (f->estimates > 1e-9);
}

static void nothing_is_found_in_an_honest_game(void **state)
{
    (void)state;
    for (int i = 0; i < GAMES; i++) {
        const tarry__referee_findings f =
            follow(games[i].policy, games[i].instance, games[i].delay, HONEST);
        CHECK_AT_MOST(1, f.phases);
        CHECK_NEAR(faults(&f), 0, 0);
        CHECK_AT_MOST(f.estimates, 1e-10);
        if (i == 0) {
            CHECK_AT_MOST(f.draws, 3);
            CHECK_AT_MOST(0.1, f.draws);
        }
    }
}

static void one_wrong_thing_is_found(void **state)
{
    (void)state;
    for (int i = 0; i < GAMES; i++) {
        const char *policy = games[i].policy, *instance = games[i].instance;
        const char *delay = games[i].delay;
#define FOUND(what) follow(policy, instance, delay, what)
        if (i < 3) /* Algorithm 4 plans every arm, and has no weights */
            CHECK_AT_MOST(1, FOUND(OTHER_ARM).plays);
        if (i >= 2) /* where the sample is fixed, no other takes its place */
            CHECK_AT_MOST(1e-6, FOUND(UNSEEN).estimates);
        CHECK_AT_MOST(1e-6, FOUND(CHANGED).estimates);
        CHECK_AT_MOST(1, FOUND(EARLY).early);
        CHECK_AT_MOST(1, FOUND(OTHER_TARGET).plans);
        if (i < 3)
            CHECK_AT_MOST(1, FOUND(OTHER_WEIGHTS).plans);
        CHECK_AT_MOST(1e-5, FOUND(SHIFTED).estimates);
#undef FOUND
    }
    CHECK_AT_MOST(
        1,
        follow(games[0].policy, games[0].instance, games[0].delay, KEPT).cuts);
}

static void others_have_no_referee(void **state)
{
    (void)state;
    tarry__referee r;
    tarry_error error = {""};
    assert_int_equal(tarry__referee_open(&r, "sphere", "rademacher", "lints",
                                         1000, 1, 0, &error),
                     TARRY_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "'lints'"));
    tarry__referee_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_found_in_an_honest_game),
        cmocka_unit_test(one_wrong_thing_is_found),
        cmocka_unit_test(others_have_no_referee),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
