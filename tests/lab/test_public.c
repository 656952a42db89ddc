/* test_public.c - worlds and experiments as users of the library make them. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "tarry/tarry.h"

/* ---- helpers --------------------------------------------------------------*/

static tarry_experiment_params small(void)
{
    tarry_experiment_params p = tarry_experiment_defaults();
    p.horizon = 3000;
    p.runs = 4;
    p.points = 7;
    p.threads = 1;
    return p;
}

static tarry_world *make(const tarry_world_params *params)
{
    tarry_world *world;
    tarry_error error = {""};
    if (tarry_world_create(params, &world, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    return world;
}

static tarry_experiment *experiment_in(const tarry_world *world,
                                       const tarry_experiment_params *p)
{
    tarry_experiment *e;
    assert_int_equal(tarry_experiment_create(p, &e, NULL), TARRY_OK);
    assert_int_equal(tarry_experiment_add_world(e, world, NULL), TARRY_OK);
    return e;
}

static void run(tarry_experiment *e)
{
    tarry_error error = {""};
    if (tarry_experiment_run(e, &error) != TARRY_OK)
        fail_msg("%s", error.text);
}

static tarry_experiment_outcome outcome(const tarry_experiment *e, size_t p,
                                        uint64_t i)
{
    tarry_experiment_outcome o;
    assert_int_equal(tarry_experiment_get_outcome(e, 0, p, i, &o), TARRY_OK);
    return o;
}

/* Two experiments saw the same, but for the time it took. */
static void check_same(const tarry_experiment *a, const tarry_experiment *b,
                       uint64_t runs)
{
    const size_t n = tarry_experiment_n_policies(a);
    assert_int_equal(n, tarry_experiment_n_policies(b));
    for (size_t p = 0; p < n; p++)
        for (uint64_t i = 0; i < runs; i++) {
            const tarry_experiment_outcome x = outcome(a, p, i);
            const tarry_experiment_outcome y = outcome(b, p, i);
            CHECK_NEAR(x.regret, y.regret, 0);
            assert_int_equal(x.sigma_max, y.sigma_max);
            assert_int_equal(x.lost, y.lost);
            assert_memory_equal(x.curve, y.curve, x.n_points * sizeof *x.curve);
        }
}

/* ---- functions of one's own -----------------------------------------------*/

/* Plays arms in turn, but sticks to one whose last loss was below 0. */
typedef struct {
    tarry_problem problem;
    size_t next;
    uint64_t seen;
} walker;

static tarry_status walk_start(void *context, const tarry_problem *problem,
                               void **state)
{
    walker *w = calloc(1, sizeof *w);
    if (context != NULL) /* it counts the runs that are open */
        __atomic_add_fetch((int *)context, 1, __ATOMIC_SEQ_CST);
    w->problem = *problem;
    *state = w;
    return TARRY_OK;
}

static tarry_status walk_choose(void *state, uint64_t round, size_t *arm)
{
    walker *w = state;
    assert_true(round >= 1 && round <= w->problem.horizon);
    *arm = w->next;
    return TARRY_OK;
}

static tarry_status walk_observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    walker *w = state;
    assert_true(round >= 1 && fabs(loss) <= 1);
    w->seen++;
    if (loss > 0)
        w->next = (arm + 1) % w->problem.n_arms;
    return TARRY_OK;
}

static int open_walks;

static void walk_end(void *state)
{
    __atomic_sub_fetch(&open_walks, 1, __ATOMIC_SEQ_CST);
    free(state);
}

static const tarry_own_policy walks = {.name = "walker",
                                       .version = "1",
                                       .context = &open_walks,
                                       .start = walk_start,
                                       .choose = walk_choose,
                                       .observe = walk_observe,
                                       .end = walk_end};

/* A delay by round and chance; with `arm` and `loss` as the law depends. */
static uint64_t law_of(const tarry_random *at, tarry_delay_dependence depends,
                       size_t arm, double loss)
{
    const double u = tarry_random_uniform(at);
    uint64_t delay = (uint64_t)(40 * u);
    if (depends >= TARRY_DELAY_BY_ARM)
        delay += 7 * arm;
    if (depends == TARRY_DELAY_BY_LOSS)
        delay += loss > 0 ? 31 : 0;
    return u < 0.02 ? TARRY_NEVER : delay;
}

typedef struct {
    tarry_delay_dependence depends;
    size_t n_arms;
} law_context;

static tarry_status law_start(void *context, const tarry_problem *problem,
                              void **state)
{
    law_context *own = malloc(sizeof *own);
    *own = *(law_context *)context;
    own->n_arms = problem->n_arms;
    *state = own;
    return TARRY_OK;
}

static tarry_status draw(void *state, uint64_t round, size_t arm, double loss,
                         const tarry_random *at, uint64_t *delay)
{
    const law_context *l = state;
    assert_int_equal(at->round, round);
    *delay = law_of(at, l->depends, arm, loss);
    return TARRY_OK;
}

static tarry_status draw_many(void *state, size_t count, const tarry_random *at,
                              const double *loss, uint64_t *delay)
{
    const law_context *l = state;
    const size_t arms = l->depends == TARRY_DELAY_BY_NOTHING ? 1 : l->n_arms;
    assert_true((loss != NULL) == (l->depends == TARRY_DELAY_BY_LOSS));
    assert_true(at->round >= 1);
    for (size_t i = 0; i < count; i++) {
        tarry_random there = *at;
        there.round += i;
        for (size_t k = 0; k < arms; k++)
            delay[i * arms + k] = law_of(&there, l->depends, k,
                                         loss != NULL ? loss[i * arms + k] : 0);
    }
    return TARRY_OK;
}

static tarry_status draw_arms(void *state, size_t count, const tarry_random *at,
                              size_t n, const size_t *arm, const double *loss,
                              uint64_t *delay)
{
    const law_context *l = state;
    assert_true(n >= 1 && n <= l->n_arms && at->round >= 1);
    assert_true((loss != NULL) == (l->depends == TARRY_DELAY_BY_LOSS));
    for (size_t i = 0; i < count * n; i++) {
        tarry_random there = *at;
        there.round += i / n;
        delay[i] =
            law_of(&there, l->depends, arm[i % n], loss != NULL ? loss[i] : 0);
    }
    return TARRY_OK;
}

/* ---- the tests ------------------------------------------------------------*/

/* The text is what the program prints, but for the speed. */
static void results_do_not_depend_on_threads(void **state)
{
    (void)state;
    const tarry_world_params where = {.instance = "sphere:dim=3,arms=8",
                                      .loss = "rademacher",
                                      .delay = "exponential:mean=30"};
    tarry_world *world = make(&where);
    tarry_experiment *e[2];
    for (int i = 0; i < 2; i++) {
        tarry_experiment_params p = small();
        p.threads = i + 1;
        e[i] = experiment_in(world, &p);
        assert_int_equal(tarry_experiment_add_own_policy(e[i], &walks, NULL),
                         TARRY_OK);
        assert_int_equal(tarry_experiment_add_policy(e[i], "linear", NULL),
                         TARRY_OK);
        run(e[i]);
        assert_int_equal(open_walks, 0);
    }
    assert_true(tarry_experiment_n_policies(e[0]) > 5);
    check_same(e[0], e[1], 4);
    assert_true(outcome(e[0], 0, 0).used > 2000);
    for (int i = 0; i < 2; i++)
        tarry_experiment_free(e[i]);
    tarry_world_free(world);
}

/* In another policy's company nothing changes, and own policies meet the luck
 * that ours do: one that plays arm 0 for ever has the regret of its gap. */
static tarry_status play_zero(void *context, uint64_t round, size_t *arm)
{
    (void)context;
    (void)round;
    *arm = 0;
    return TARRY_OK;
}

static void a_constant_policy_pays_its_gap(void **state)
{
    (void)state;
    const double arms[] = {1, 0, 0, 1, 0.6, 0.6};
    const double theta[] = {0.4, -0.25};
    const tarry_own_policy zero = {.name = "zero", .choose = play_zero};
    const tarry_world_params where = {.n_arms = 3,
                                      .dim = 2,
                                      .arms = arms,
                                      .theta = theta,
                                      .loss = "uniform:width=0.3",
                                      .delay = "constant:rounds=5"};
    tarry_world *world = make(&where);
    const tarry_experiment_params p = small();
    tarry_experiment *e = experiment_in(world, &p);
    assert_int_equal(tarry_experiment_add_own_policy(e, &zero, NULL), TARRY_OK);
    run(e);
    tarry_experiment_outcome none;
    tarry_experiment_summary of_none;
    for (int which = 0; which < 3; which++) /* one too many */
        assert_int_equal(tarry_experiment_get_outcome(e, which == 0, which == 1,
                                                      which == 2 ? 4 : 0,
                                                      &none),
                         TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_experiment_get_summary(e, 1, 0, &of_none),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_experiment_get_summary(e, 0, 1, &of_none),
                     TARRY_BAD_ARGUMENT);
    const tarry_experiment_outcome o = outcome(e, 0, 1);
    CHECK_NEAR(o.regret, 3000 * 0.65, 1e-9);
    assert_int_equal(o.sigma_max, 5);
    assert_int_equal(o.ignored, 3000 - 5);
    assert_true(isnan(o.certificate[0]));
    tarry_experiment_free(e);
    tarry_world_free(world);
}

/* Round by round or many at once, a law is the same law; and by nothing it is
 * one of ours in disguise. */
static void laws_may_draw_many_rounds_at_once(void **state)
{
    (void)state;
    for (int d = TARRY_DELAY_BY_NOTHING; d <= TARRY_DELAY_BY_LOSS; d++) {
        law_context context = {.depends = (tarry_delay_dependence)d};
        tarry_delay_law law = {.name = "law",
                               .depends = context.depends,
                               .context = &context,
                               .start = law_start,
                               .end = free};
        const int ways = d == TARRY_DELAY_BY_NOTHING ? 2 : 3;
        tarry_experiment *e[3];
        tarry_world *world[3];
        for (int i = 0; i < ways; i++) {
            const tarry_world_params where = {.instance = "sphere:dim=3,arms=8",
                                              .loss = "rademacher",
                                              .law = &law};
            tarry_experiment_params p = small();
            p.threads = 2;
            law.draw = i == 0 ? draw : NULL;
            law.draw_many = i == 1 ? draw_many : NULL;
            law.draw_arms = i == 2 ? draw_arms : NULL;
            world[i] = make(&where);
            e[i] = experiment_in(world[i], &p);
            assert_int_equal(tarry_experiment_add_policy(e[i], "lints", NULL),
                             TARRY_OK);
            assert_int_equal(
                tarry_experiment_add_policy(e[i], "recommended", NULL),
                TARRY_OK);
            run(e[i]);
            check_same(e[0], e[i], 4);
        }
        assert_true(outcome(e[0], 0, 0).lost > 20);
        tarry_world_view view;
        assert_int_equal(tarry_world_look(world[0], 1, 0, &view, NULL),
                         TARRY_OK);
        assert_int_equal(view.model, d == 0   ? TARRY_WORLD_STOCHASTIC
                                     : d == 1 ? TARRY_WORLD_STOCHASTIC_BY_ARM
                                              : TARRY_WORLD_LOSS_DEPENDENT);
        tarry_world_view_free(&view);
        for (int i = 0; i < ways; i++) {
            tarry_experiment_free(e[i]);
            tarry_world_free(world[i]);
        }
    }
}

/* Rows of an arm come with equal chances: 4 standard errors. */
static void tables_are_drawn_row_by_row(void **state)
{
    (void)state;
    const double arms[] = {1, 0};
    const size_t arm[] = {1, 0, 1, 0, 0};
    const double loss[] = {0.5, -1, 0.25, 0.5, 0.125};
    const uint64_t delay[] = {3, TARRY_NEVER, 9, 2, 0};
    const tarry_own_policy zero = {.name = "zero", .choose = play_zero};
    const tarry_world_params where = {.n_arms = 2,
                                      .dim = 1,
                                      .arms = arms,
                                      .n_rows = 5,
                                      .row_arm = arm,
                                      .row_loss = loss,
                                      .row_delay = delay};
    tarry_world *world = make(&where);
    tarry_world_view view;
    assert_int_equal(tarry_world_look(world, 1, 0, &view, NULL), TARRY_OK);
    CHECK_NEAR(view.means[0], -0.125, 1e-15);
    CHECK_NEAR(view.means[1], 0.375, 1e-15);
    assert_int_equal(view.best, 0);
    tarry_world_view_free(&view);
    tarry_experiment_params p = small();
    p.horizon = 30000;
    tarry_experiment *e = experiment_in(world, &p);
    assert_int_equal(tarry_experiment_add_own_policy(e, &zero, NULL), TARRY_OK);
    run(e);
    const tarry_experiment_outcome o = outcome(e, 0, 0);
    CHECK_NEAR((double)o.lost, 10000, 4 * sqrt(30000 * 2.0 / 9));
    CHECK_NEAR(o.regret, 0, 0);
    tarry_experiment_free(e);
    tarry_world_free(world);
}

/* ---- failures -------------------------------------------------------------*/

static tarry_status choose_badly(void *context, uint64_t round, size_t *arm)
{
    (void)context;
    *arm = round < 100 ? 0 : 8;
    return TARRY_OK;
}

static tarry_status give_up(void *context, uint64_t round, size_t arm,
                            double loss)
{
    (void)context;
    (void)arm;
    (void)loss;
    return round < 3000 ? TARRY_OK : TARRY_IO_ERROR; /* the very last */
}

static tarry_status draw_badly(void *context, uint64_t round, size_t arm,
                               double loss, const tarry_random *at,
                               uint64_t *delay)
{
    (void)context;
    (void)arm;
    (void)loss;
    (void)at;
    *delay = 0;
    return round < 500 ? TARRY_OK : TARRY_IO_ERROR;
}

static void check_failure(const tarry_world_params *where,
                          const tarry_own_policy *policy, tarry_status expected,
                          const char *says)
{
    tarry_error error = {""};
    tarry_world *world = make(where);
    const tarry_experiment_params p = small();
    tarry_experiment *e = experiment_in(world, &p);
    assert_int_equal(tarry_experiment_add_own_policy(e, policy, NULL),
                     TARRY_OK);
    assert_int_equal(tarry_experiment_run(e, &error), expected);
    assert_non_null(strstr(error.text, says));
    tarry_experiment_free(e);
    tarry_world_free(world);
}

/* Losses of three rounds come at the end of the third; it takes in one. */
static int observed;

static tarry_status fail_each_time(void *context, uint64_t round, size_t arm,
                                   double loss)
{
    (void)context;
    (void)arm;
    (void)loss;
    observed++;
    return round == 1 ? TARRY_IO_ERROR : TARRY_BAD_INPUT;
}

static tarry_status until_round_3(void *state, uint64_t round, size_t arm,
                                  double loss, const tarry_random *at,
                                  uint64_t *delay)
{
    (void)state;
    (void)arm;
    (void)loss;
    (void)at;
    *delay = round < 3 ? 3 - round : 0;
    return TARRY_OK;
}

static void the_first_failure_is_told_and_nothing_follows(void **state)
{
    (void)state;
    const tarry_delay_law law = {.name = "third", .draw = until_round_3};
    const tarry_own_policy fails = {
        .name = "fails", .choose = play_zero, .observe = fail_each_time};
    const tarry_world_params where = {
        .instance = "sphere:dim=3,arms=8", .loss = "rademacher", .law = &law};
    observed = 0;
    check_failure(&where, &fails, TARRY_IO_ERROR,
                  "fails: observe of round 1: input or output failed");
    assert_int_equal(observed, 1);
}

static void functions_that_fail_end_the_experiment(void **state)
{
    (void)state;
    const tarry_delay_law law = {.name = "bad-law", .draw = draw_badly};
    const tarry_own_policy bad = {.name = "bad-arm", .choose = choose_badly};
    const tarry_own_policy quits = {
        .name = "quits", .choose = play_zero, .observe = give_up};
    const tarry_own_policy fine = {.name = "fine", .choose = play_zero};
    tarry_world_params where = {.instance = "sphere:dim=3,arms=8",
                                .loss = "rademacher",
                                .delay = "none"};
    check_failure(&where, &bad, TARRY_BAD_ARGUMENT,
                  "bad-arm: arm 8 of 8 chosen in round 100");
    check_failure(&where, &quits, TARRY_IO_ERROR, "quits: observe of round");
    where.delay = NULL;
    where.law = &law;
    check_failure(&where, &fine, TARRY_IO_ERROR, "bad-law: ");
}

/* What a run was told, by its number. */
typedef struct {
    tarry_problem policy[4], law[4];
    double arms[4][4];
} told;

static tarry_status note_policy(void *context, const tarry_problem *problem,
                                void **state)
{
    told *t = context;
    t->policy[problem->run] = *problem;
    memcpy(t->arms[problem->run], problem->arms, sizeof *t->arms);
    *state = t;
    return TARRY_OK;
}

static tarry_status note_law(void *context, const tarry_problem *problem,
                             void **state)
{
    told *t = context;
    t->law[problem->run] = *problem;
    *state = t;
    return TARRY_OK;
}

static tarry_status at_once(void *state, uint64_t round, size_t arm,
                            double loss, const tarry_random *at,
                            uint64_t *delay)
{
    (void)state;
    (void)round;
    (void)arm;
    (void)loss;
    (void)at;
    *delay = 0;
    return TARRY_OK;
}

static void functions_are_told_their_problem(void **state)
{
    (void)state;
    told t = {0};
    const tarry_delay_law law = {
        .name = "now", .context = &t, .start = note_law, .draw = at_once};
    const tarry_own_policy zero = {.name = "zero",
                                   .context = &t,
                                   .start = note_policy,
                                   .choose = play_zero};
    const tarry_world_params where = {
        .instance = "sphere:dim=2,arms=2", .loss = "rademacher", .law = &law};
    tarry_experiment_params p = small();
    p.seed = UINT64_MAX - 2385;
    tarry_world *world = make(&where);
    tarry_experiment *e = experiment_in(world, &p);
    assert_int_equal(tarry_experiment_add_own_policy(e, &zero, NULL), TARRY_OK);
    run(e);
    for (uint32_t i = 0; i < 4; i++) {
        const tarry_problem *both[] = {&t.policy[i], &t.law[i]};
        tarry_world_view view;
        for (int k = 0; k < 2; k++) {
            assert_int_equal(both[k]->n_arms, 2);
            assert_int_equal(both[k]->dim, 2);
            assert_true(both[k]->seed == p.seed);
            assert_int_equal(both[k]->run, i);
            assert_int_equal(both[k]->horizon, k == 0 ? p.horizon : 0);
        }
        assert_int_equal(tarry_world_look(world, p.seed, i, &view, NULL), 0);
        assert_memory_equal(t.arms[i], view.arms, sizeof *t.arms);
        tarry_world_view_free(&view);
    }
    tarry_experiment_free(e);
    tarry_world_free(world);
}

/* Which answer it gives: a bound, no number, an arm that is not, a failure. */
static tarry_status certify_so(void *state, size_t *arm, double *gap)
{
    const int way = *(int *)state;
    *arm = way == 2 ? 3 : 2;
    *gap = way == 1 ? NAN : 0.75;
    return way == 3 ? TARRY_BAD_ARGUMENT : TARRY_OK;
}

static void policies_of_ones_own_state_bounds(void **state)
{
    (void)state;
    const double arms[] = {1, 0, 0, 1, 0.5, 0.5}, means[] = {0.5, -0.25, 0.25};
    const tarry_world_params where = {.n_arms = 3,
                                      .dim = 2,
                                      .arms = arms,
                                      .means = means,
                                      .loss = "rademacher",
                                      .delay = "none"};
    tarry_world *world = make(&where);
    for (int way = 0; way < 4; way++) {
        const tarry_own_policy zero = {.name = "zero",
                                       .context = &way,
                                       .choose = play_zero,
                                       .certify = certify_so};
        const tarry_experiment_params p = small();
        tarry_experiment *e = experiment_in(world, &p);
        assert_int_equal(tarry_experiment_add_own_policy(e, &zero, NULL),
                         TARRY_OK);
        run(e);
        for (uint64_t i = 0; i < p.runs; i++) {
            const tarry_experiment_outcome o = outcome(e, 0, i);
            assert_int_equal(o.n_points, p.points);
            for (size_t k = 0; k < o.n_points; k++) {
                assert_true(way == 0 ? o.certificate[k] == 0.75
                                     : isnan(o.certificate[k]));
                assert_true(o.exploit_gap[k] == (way < 2 ? 0.5 : 0));
            }
        }
        tarry_experiment_free(e);
    }
    tarry_world_free(world);
}

static void check_refused(const tarry_world_params *where, const char *says)
{
    tarry_error error = {""};
    tarry_world *world = (tarry_world *)&error;
    assert_int_not_equal(tarry_world_create(where, &world, &error), TARRY_OK);
    assert_null(world);
    if (strstr(error.text, says) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, says);
}

static void bad_worlds_are_refused(void **state)
{
    (void)state;
    const double arms[] = {1, 0, 0, 1}, means[] = {0.5, 1.5};
    const double wrong[] = {1, NAN, 0, 1}, fine[] = {0.5, -0.5};
    const size_t row_arm[] = {0, 2}, one_arm[] = {0, 0};
    const uint64_t row_delay[] = {0, 0};
    const tarry_delay_law nameless = {.draw = draw}, drawless = {.name = "x"};
    tarry_world_params w = tarry_world_defaults();
    w.arms = arms;
    check_refused(&w, "either an instance or arrays");
    w.instance = NULL;
    check_refused(&w, "n_arms or dim");
    w.n_arms = w.dim = 2;
    check_refused(&w, "either theta, means or a table");
    w.means = means;
    check_refused(&w, "arm 1 of mean 1.5");
    w.means = fine;
    w.law = &nameless;
    check_refused(&w, "either a delay or a law");
    w.delay = NULL;
    check_refused(&w, "without a name");
    w.law = &drawless;
    check_refused(&w, "function that draws");
    w.law = NULL;
    w.delay = "no-such";
    check_refused(&w, "no delay or adversary 'no-such'");
    w.delay = "theorem";
    check_refused(&w, "theorem");
    w.arms = wrong;
    check_refused(&w, "arms: number 1 is not finite");
    w = (tarry_world_params){.n_arms = 2,
                             .dim = 2,
                             .arms = arms,
                             .n_rows = 2,
                             .row_arm = row_arm,
                             .row_loss = fine,
                             .row_delay = row_delay};
    check_refused(&w, "row 1: arm 2 of 2");
    w.row_arm = one_arm;
    check_refused(&w, "arm 1 has no row");
    w.row_loss = means;
    check_refused(&w, "row 1: a loss outside");
}

/* A list may be of several; if one of them cannot be, none is there. */
static void policies_that_are_refused_are_not_there(void **state)
{
    (void)state;
    tarry_world_params where = tarry_world_defaults();
    const tarry_experiment_params p = small();
    tarry_world *world = make(&where);
    tarry_experiment *e = experiment_in(world, &p);
    static const char *const bad[] = {"no-such", "lints:w=1", "uniform:v=1"};
    assert_int_equal(tarry_experiment_add_policy(e, "lints", NULL), TARRY_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (tarry_experiment_add_policy(e, bad[i], NULL) != TARRY_BAD_ARGUMENT)
            fail_msg("%s is not refused", bad[i]);
    assert_int_equal(tarry_experiment_add_policy(e, "uniform", NULL), TARRY_OK);
    run(e);
    assert_int_equal(tarry_experiment_n_policies(e), 2);
    tarry_experiment_free(e);
    tarry_world_free(world);
}

/* Uniform means from 0 to 2 are losses of 0 and 1 with some seeds only. */
static void means_that_another_seed_draws_do_not_make_a_world_bad(void **state)
{
    (void)state;
    tarry_world_params where = tarry_world_defaults();
    tarry_world_view view;
    where.instance = "basis:arms=3,best=0,gap=2";
    where.loss = "bernoulli";
    tarry_world *world = make(&where);
    assert_int_equal(tarry_world_look(world, 0, 0, &view, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_world_look(world, 2, 0, &view, NULL), TARRY_OK);
    tarry_world_view_free(&view);
    tarry_world_free(world);
}

static void null_is_refused_not_followed(void **state)
{
    (void)state;
    tarry_world_params where = tarry_world_defaults();
    tarry_experiment_params how = small();
    tarry_world *world = make(&where);
    tarry_experiment *e = experiment_in(world, &how), *other;
    tarry_experiment_summary s;
    tarry_experiment_outcome o;
    tarry_world_view view;
    tarry_world *none = world;
    assert_int_not_equal(tarry_world_create(NULL, &none, NULL), TARRY_OK);
    assert_null(none);
    assert_int_not_equal(tarry_world_create(&where, NULL, NULL), TARRY_OK);
    assert_int_not_equal(tarry_world_look(NULL, 1, 0, &view, NULL), TARRY_OK);
    assert_int_not_equal(tarry_world_look(world, 1, 0, NULL, NULL), TARRY_OK);
    assert_int_not_equal(tarry_experiment_create(NULL, &other, NULL), TARRY_OK);
    assert_int_not_equal(tarry_experiment_create(&how, NULL, NULL), TARRY_OK);
    assert_int_not_equal(tarry_experiment_add_world(NULL, world, NULL), 0);
    assert_int_not_equal(tarry_experiment_add_world(e, NULL, NULL), 0);
    assert_int_not_equal(tarry_experiment_add_policy(e, NULL, NULL), 0);
    assert_int_not_equal(tarry_experiment_add_policy(NULL, "lints", NULL), 0);
    assert_int_not_equal(tarry_experiment_add_own_policy(e, NULL, NULL), 0);
    assert_int_not_equal(tarry_experiment_add_own_policy(
                             e, &(tarry_own_policy){.name = "x"}, NULL),
                         0);
    assert_int_not_equal(tarry_experiment_run(NULL, NULL), TARRY_OK);
    assert_int_not_equal(tarry_experiment_run(e, NULL), TARRY_OK);
    assert_int_equal(tarry_experiment_n_worlds(NULL), 0);
    assert_int_equal(tarry_experiment_n_policies(e), 0);
    assert_int_equal(tarry_experiment_journal_dropped(NULL), 0);
    assert_int_not_equal(tarry_experiment_get_summary(NULL, 0, 0, &s), 0);
    assert_int_not_equal(tarry_experiment_get_summary(e, 0, 0, &s), 0);
    assert_int_not_equal(tarry_experiment_get_outcome(NULL, 0, 0, 0, &o), 0);
    assert_null(tarry_experiment_json(NULL));
    assert_null(tarry_experiment_json(e));
    tarry_experiment_free_json(NULL);
    tarry_experiment_free(NULL);
    tarry_world_free(NULL);
    tarry_world_view_free(NULL);
    tarry_experiment_free(e);
    tarry_world_free(world);
}

static void check_params(const tarry_experiment_params *p, const char *says)
{
    tarry_experiment *e;
    tarry_error error = {""};
    const tarry_status status = tarry_experiment_create(p, &e, &error);
    assert_int_equal(status, says == NULL ? TARRY_OK : TARRY_BAD_ARGUMENT);
    if (says != NULL && strstr(error.text, says) == NULL)
        fail_msg("'%s' has no '%s'", error.text, says);
    tarry_experiment_free(e);
}

/* As much as is allowed is taken, one more is refused. */
static void limits_are_exact(void **state)
{
    (void)state;
    for (int more = 0; more <= 1; more++) {
        tarry_experiment_params p = small();
        p.horizon = (1ull << 39) - 1 + (uint64_t)more;
        check_params(&p, more ? "the horizon" : NULL);
        p = small();
        p.horizon = (uint64_t)(2 - more);
        check_params(&p, more ? "the horizon" : NULL);
        p = small();
        p.runs = 1000000 + (uint64_t)more;
        check_params(&p, more ? "runs" : NULL);
        p = small();
        p.points = 256 + (uint64_t)more;
        check_params(&p, more ? "points" : NULL);
        p = small();
        p.threads = 1024 + more;
        check_params(&p, more ? "threads" : NULL);
        p = small();
        p.runs = (uint64_t)(1 - more);
        check_params(&p, more ? "runs" : NULL);
        p = small();
        p.points = (uint64_t)(1 - more);
        check_params(&p, more ? "points" : NULL);
        p = small();
        p.threads = -more;
        check_params(&p, more ? "threads" : NULL);
        p = small();
        p.parts = 3;
        p.part = (uint64_t)(2 + more);
        check_params(&p, more ? "the part" : NULL);
    }
}

static void lists_have_64_places(void **state)
{
    (void)state;
    enum { MOST = 64 };
    const tarry_experiment_params how = small();
    tarry_world_params where = tarry_world_defaults();
    tarry_world *world[MOST + 1];
    tarry_experiment *e, *own;
    tarry_own_policy policy = walks;
    tarry_error error = {""};
    assert_int_equal(tarry_experiment_create(&how, &e, NULL), TARRY_OK);
    assert_int_equal(tarry_experiment_create(&how, &own, NULL), TARRY_OK);
    for (int i = 0; i <= MOST; i++) {
        const tarry_status wanted = i < MOST ? TARRY_OK : TARRY_BAD_ARGUMENT;
        char name[40];
        snprintf(name, sizeof name, "linucb:lambda=%d", i + 1);
        where.name = policy.name = name;
        world[i] = make(&where);
        assert_int_equal(tarry_experiment_add_world(e, world[i], &error),
                         wanted);
        assert_int_equal(tarry_experiment_add_policy(e, name, &error), wanted);
        assert_int_equal(tarry_experiment_add_own_policy(own, &policy, &error),
                         wanted);
    }
    assert_non_null(strstr(error.text, "more than 64 policies"));
    tarry_experiment_free(e);
    tarry_experiment_free(own);
    for (int i = 0; i <= MOST; i++)
        tarry_world_free(world[i]);
}

/* However often one is refused, or a group has nothing new. */
static void what_was_refused_takes_no_place(void **state)
{
    (void)state;
    const tarry_experiment_params how = small();
    tarry_experiment *e;
    tarry_error error;
    assert_int_equal(tarry_experiment_create(&how, &e, NULL), TARRY_OK);
    for (int i = 0; i < 100; i++) {
        char name[40];
        snprintf(name, sizeof name, "linucb:lamda=%d", i + 1);
        assert_int_equal(tarry_experiment_add_policy(e, name, &error),
                         TARRY_BAD_ARGUMENT);
        assert_non_null(strstr(error.text, "lamda"));
        assert_int_equal(tarry_experiment_add_policy(e, "mab", NULL), TARRY_OK);
    }
    assert_int_equal(tarry_experiment_add_policy(e, "linucb:lambda=2", NULL),
                     TARRY_OK);
    tarry_experiment_free(e);
}

/* ---- journals -------------------------------------------------------------*/

static int cancel_soon(void *context, double share)
{
    assert_true(share >= 0 && share <= 1);
    return ++*(int *)context > 1;
}

static tarry_experiment *kept(const tarry_world *world, const char *path,
                              uint64_t runs, int threads, int *ticks)
{
    tarry_experiment_params p = small();
    p.horizon = ticks != NULL ? 1000000 : 3000;
    p.journal = path;
    p.runs = runs;
    p.threads = threads;
    p.progress = ticks != NULL ? cancel_soon : NULL;
    p.progress_context = ticks;
    tarry_experiment *e = experiment_in(world, &p);
    assert_int_equal(tarry_experiment_add_own_policy(e, &walks, NULL),
                     TARRY_OK);
    assert_int_equal(tarry_experiment_add_policy(e, "uniform", NULL), TARRY_OK);
    return e;
}

static void an_experiment_goes_on_from_its_journal(void **state)
{
    (void)state;
    char path[] = "/tmp/tarry-public-XXXXXX";
    close(mkstemp(path));
    const tarry_world_params where = tarry_world_defaults();
    tarry_world *world = make(&where);
    tarry_experiment *first = kept(world, path, 3, 2, NULL);
    tarry_experiment *more = kept(world, path, 6, 1, NULL);
    tarry_experiment *whole = kept(world, NULL, 6, 2, NULL);
    run(first);
    run(more); /* while the first still has its results */
    run(whole);
    check_same(first, whole, 3);
    check_same(more, whole, 6);
    tarry_experiment_free(first);
    tarry_experiment_free(more);
    tarry_experiment_free(whole);
    tarry_world_free(world);
    remove(path);
}

static int run_another(void *context, double share)
{
    tarry_error error = {""};
    (void)share;
    assert_int_equal(tarry_experiment_run(context, &error), TARRY_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "is writing this journal"));
    return 1;
}

static void a_journal_is_locked_while_an_experiment_runs(void **state)
{
    (void)state;
    char path[] = "/tmp/tarry-public-XXXXXX";
    close(mkstemp(path));
    const tarry_world_params where = tarry_world_defaults();
    tarry_world *world = make(&where);
    tarry_experiment *other = kept(world, path, 1, 1, NULL);
    tarry_experiment_params p = small();
    p.horizon = 1000000;
    p.journal = path;
    p.progress = run_another;
    p.progress_context = other;
    tarry_experiment *e = experiment_in(world, &p);
    assert_int_equal(tarry_experiment_add_policy(e, "uniform", NULL), TARRY_OK);
    assert_int_equal(tarry_experiment_run(e, NULL), TARRY_CANCELLED);
    run(other);
    tarry_experiment_free(e);
    tarry_experiment_free(other);
    tarry_world_free(world);
    remove(path);
}

/* Of functions in C nothing can be seen but the version they are given. */
static void a_journal_refuses_functions_without_a_version(void **state)
{
    (void)state;
    char path[] = "/tmp/tarry-public-XXXXXX";
    close(mkstemp(path));
    for (int i = 0; i < 3; i++) {
        const tarry_delay_law law = {.name = "law",
                                     .version = i == 0 ? NULL : "1",
                                     .draw = until_round_3};
        tarry_world_params where = tarry_world_defaults();
        where.delay = NULL;
        where.law = &law;
        tarry_world *world = make(&where);
        tarry_experiment_params p = small();
        tarry_own_policy own = walks;
        tarry_error error = {""};
        p.journal = path;
        p.horizon = 2;
        own.version = i == 1 ? NULL : "1";
        tarry_experiment *e = experiment_in(world, &p);
        assert_int_equal(tarry_experiment_add_own_policy(e, &own, NULL),
                         TARRY_OK);
        assert_int_equal(tarry_experiment_run(e, &error),
                         i == 2 ? TARRY_OK : TARRY_BAD_ARGUMENT);
        if (i < 2)
            assert_non_null(strstr(error.text, i == 0 ? "'law'; give its record"
                                                      : "'walker'; give"));
        tarry_experiment_free(e);
        tarry_world_free(world);
    }
    remove(path);
}

static int note_share(void *context, double share)
{
    double *first = context;
    *first = isnan(*first) ? share : *first;
    return 0;
}

/* What a journal has is done: the first thing that is told. */
static void progress_goes_on_from_a_journal(void **state)
{
    (void)state;
    char path[] = "/tmp/tarry-public-XXXXXX";
    close(mkstemp(path));
    const tarry_world_params where = tarry_world_defaults();
    tarry_world *world = make(&where);
    for (uint64_t runs = 3; runs <= 4; runs++) {
        double first = NAN;
        tarry_experiment_params p = small();
        p.runs = runs;
        p.journal = path;
        p.progress = note_share;
        p.progress_context = &first;
        tarry_experiment *e = experiment_in(world, &p);
        assert_int_equal(tarry_experiment_add_policy(e, "uniform", NULL),
                         TARRY_OK);
        run(e);
        if (runs == 3)
            assert_true(first > 0 && first <= 1);
        else
            assert_true(first > 0.75 && first <= 1);
        tarry_experiment_free(e);
    }
    tarry_world_free(world);
    remove(path);
}

static void cancelling_leaves_what_can_go_on(void **state)
{
    (void)state;
    int ticks = 0;
    const tarry_world_params where = tarry_world_defaults();
    tarry_world *world = make(&where);
    tarry_experiment *e = kept(world, NULL, 2, 1, &ticks);
    assert_int_equal(tarry_experiment_run(e, NULL), TARRY_CANCELLED);
    tarry_experiment_summary s;
    assert_int_equal(tarry_experiment_get_summary(e, 0, 1, &s), TARRY_OK);
    assert_true(s.finished < 2);
    char *json = tarry_experiment_json(e);
    assert_non_null(strstr(json, "\"partial\": true"));
    tarry_experiment_free_json(json);
    ticks = -1000000;
    run(e);
    assert_int_equal(tarry_experiment_get_summary(e, 0, 1, &s), TARRY_OK);
    assert_int_equal(s.finished, 2);
    tarry_experiment_free(e);
    tarry_world_free(world);
}

/* Any allocation of the library may fail: a clean status, nothing lost. */
static void memory_may_run_out(void **state)
{
    (void)state;
    const double arms[] = {1, 0, 0, 1}, means[] = {0.5, -0.5};
    const tarry_world_params where = {.n_arms = 2,
                                      .dim = 2,
                                      .arms = arms,
                                      .means = means,
                                      .loss = "rademacher",
                                      .delay = "constant:rounds=3"};
    tarry_experiment_params how = small();
    how.horizon = 50;
    how.runs = 1;
    tarry_status status = TARRY_NO_MEMORY;
    for (uint64_t k = 1; status != TARRY_OK; k++) {
        tarry_world *world = NULL;
        tarry_experiment *e = NULL;
        tarry__base_fail_alloc(k);
        status = tarry_world_create(&where, &world, NULL);
        if (status == TARRY_OK)
            status = tarry_experiment_create(&how, &e, NULL);
        if (status == TARRY_OK)
            status = tarry_experiment_add_world(e, world, NULL);
        if (status == TARRY_OK)
            status = tarry_experiment_add_own_policy(e, &walks, NULL);
        if (status == TARRY_OK)
            status = tarry_experiment_run(e, NULL);
        tarry__base_fail_alloc(0);
        assert_true(status == TARRY_OK || status == TARRY_NO_MEMORY);
        assert_int_equal(open_walks, 0);
        tarry_experiment_free(e);
        tarry_world_free(world);
        assert_true(k < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(a_constant_policy_pays_its_gap),
        cmocka_unit_test(laws_may_draw_many_rounds_at_once),
        cmocka_unit_test(tables_are_drawn_row_by_row),
        cmocka_unit_test(functions_that_fail_end_the_experiment),
        cmocka_unit_test(the_first_failure_is_told_and_nothing_follows),
        cmocka_unit_test(functions_are_told_their_problem),
        cmocka_unit_test(policies_of_ones_own_state_bounds),
        cmocka_unit_test(bad_worlds_are_refused),
        cmocka_unit_test(policies_that_are_refused_are_not_there),
        cmocka_unit_test(means_that_another_seed_draws_do_not_make_a_world_bad),
        cmocka_unit_test(null_is_refused_not_followed),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(lists_have_64_places),
        cmocka_unit_test(what_was_refused_takes_no_place),
        cmocka_unit_test(an_experiment_goes_on_from_its_journal),
        cmocka_unit_test(a_journal_is_locked_while_an_experiment_runs),
        cmocka_unit_test(a_journal_refuses_functions_without_a_version),
        cmocka_unit_test(progress_goes_on_from_a_journal),
        cmocka_unit_test(cancelling_leaves_what_can_go_on),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
