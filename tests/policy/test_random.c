/* A random program of all operations, against a plain model, for every policy:
 * what the door answers, what it counts, and that saving changes nothing.
 *
 * 4 000 operations for each policy; TARRY_CAMPAIGN=1: a million each;
 * TARRY_SEED=n for other programs. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "folder.h"
#include "programs.h"

enum {
    ARMS = 6,
    MANY_ARMS = 150, /* more than two blocks of 64, the last not full */
    MORE_ARMS = 6,   /* that may be admitted */
    MOST_ARMS = MANY_ARMS + MORE_ARMS,
    DIM = 3,
    HORIZON = 1000000,
    ROOM = 1 << 20
};

/* How long a program is, and of what. */
typedef struct {
    uint64_t steps, horizon;
    size_t n_arms;
    bool restless; /* arms come and go all the time */
} plan;

typedef enum { UNKNOWN, OPEN, REPORTED, CANCELLED, EXPIRED } fate;

/* What a policy should know, in the simplest form. */
typedef struct {
    uint64_t round, pending, pending_max, reported, cancelled, expired;
    uint8_t *fate, *arm; /* per round */
    size_t n_arms;
    bool gone[MOST_ARMS]; /* withdrawn */
    /* since arms have changed, which the next choice will notice: */
    uint64_t changed_at, phase;
    size_t n_active;
} model;

/* The twin is never saved. */
typedef struct {
    program p;
    tarry_policy_params params;
    model m;
    plan plan;
} run;

/* ---- the operations -------------------------------------------------------*/

static bool is_among(const uint32_t *active, size_t count, size_t arm)
{
    for (size_t i = 0; i < count; i++)
        if (active[i] == arm)
            return true;
    return false;
}

/* What it was made with, and the arms there are. */
static void check_made_with(const run *r, const tarry_policy_status *s)
{
    const tarry_policy_params *q = &r->params;
    size_t there = 0;
    assert_true(s->low == q->low && s->high == q->high);
    assert_int_equal(s->maximize, q->maximize != 0);
    assert_int_equal(s->seed, q->seed);
    assert_int_equal(s->horizon, q->horizon);
    CHECK_NEAR(s->confidence,
               q->confidence > 0 ? q->confidence : 1 - 1 / (double)q->horizon,
               1e-15);
    assert_int_equal(s->dim, DIM);
    assert_memory_equal(s->arms, r->p.g->arms,
                        r->m.n_arms * DIM * sizeof *s->arms);
    for (size_t k = 0; k < r->m.n_arms; k++) {
        if (r->m.gone[k])
            continue;
        assert_int_equal(s->available != NULL ? s->available[there] : k, k);
        there++;
    }
    assert_int_equal(s->n_available, there);
    assert_int_equal(s->best_known,
                     s->n_active == 1 ||
                         (s->phase > 0 ? s->n_estimates > 0 : s->used > 0));
}

static void check_status(run *r)
{
    const tarry_policy_status s = status_of(r->p.policy);
    model *m = &r->m;
    check_made_with(r, &s);
    assert_int_equal(s.round, m->round);
    assert_int_equal(s.pending, m->pending);
    assert_int_equal(s.pending_max, m->pending_max);
    assert_int_equal(s.used + s.ignored + s.late, m->reported);
    assert_int_equal(s.cancelled, m->cancelled);
    assert_int_equal(s.expired, m->expired);
    assert_int_equal(s.n_arms, m->n_arms);
    assert_true(s.best < m->n_arms && s.phase >= m->phase);
    if (m->gone[s.best])
        fail_msg("%s, round %ju: the best arm, %zu, is gone", r->p.text,
                 (uintmax_t)m->round, s.best);
    for (size_t i = 0; i < s.n_active; i++) {
        assert_true(s.active[i] < m->n_arms);
        assert_true(i == 0 || s.active[i] > s.active[i - 1]);
    }
    for (size_t i = 0; i < s.n_plan; i++) {
        assert_true(s.plan[i].arm < m->n_arms);
        assert_true(s.plan[i].weight > 0 && s.plan[i].weight <= 1 + 1e-12);
    }
    if (m->round == m->changed_at || m->changed_at >= r->params.horizon)
        return;
    assert_false(m->gone[s.best]);
    if (s.phase > 0) {
        assert_true(s.n_active > 0 && s.n_active <= m->n_active);
        assert_true(is_among(s.active, s.n_active, s.best));
        m->n_active = s.n_active;
    }
    m->phase = s.phase;
}

static void do_choose(run *r)
{
    model *m = &r->m;
    uint64_t round, twin_round;
    size_t arm, twin_arm;
    assert_int_equal(tarry_policy_choose(r->p.policy, &round, &arm), TARRY_OK);
    assert_int_equal(tarry_policy_choose(r->p.twin, &twin_round, &twin_arm),
                     TARRY_OK);
    assert_int_equal(round, ++m->round);
    assert_true(arm < m->n_arms && !m->gone[arm]);
    if (arm != twin_arm)
        fail_msg("%s, round %ju: %zu, the twin %zu", r->p.text,
                 (uintmax_t)round, arm, twin_arm);
    const tarry_policy_status s = status_of(r->p.policy);
    if (s.phase > 0 && round <= r->params.horizon &&
        !is_among(s.active, s.n_active, arm))
        fail_msg("%s, round %ju: arm %zu is not active", r->p.text,
                 (uintmax_t)round, arm);
    m->fate[round] = OPEN;
    m->arm[round] = (uint8_t)arm;
    m->pending++;
    if (m->pending > m->pending_max)
        m->pending_max = m->pending;
}

/* Any round, most often one that is open. */
static uint64_t some_round(run *r)
{
    uint64_t round = 0;
    for (int tries = 0; tries < 20; tries++) {
        const uint64_t last = r->m.round;
        round = below(&r->p, 2)
                    ? below(&r->p, last + 3)
                    : last - below(&r->p, last < 50 ? last + 1 : 50);
        if (round <= last && r->m.fate[round] == OPEN)
            return round;
    }
    return below(&r->p, 50) == 0 ? UINT64_MAX - below(&r->p, 3) : round;
}

static double some_loss(run *r, uint64_t round, bool *good)
{
    const double low = r->params.low, high = r->params.high;
    const double bad[] = {NAN,         INFINITY, -INFINITY,
                          high + 1e-6, low - 1,  1e300};
    *good = below(&r->p, 20) != 0;
    if (!*good)
        return bad[below(&r->p, sizeof bad / sizeof *bad)];
    const double x =
        round <= r->m.round ? loss_of(r->p.g, round, r->m.arm[round]) : 0.5;
    return low + (x + 1) / 2 * (high - low);
}

/* It is no longer waited for. */
static void forget(model *m, uint64_t round)
{
    m->pending -= m->fate[round] == OPEN;
    m->expired -= m->fate[round] == EXPIRED;
}

/* Given up a moment before it ends otherwise, which must leave no trace: the
 * twin hears nothing of it. */
static bool give_up_first(run *r, uint64_t round)
{
    return round <= r->m.round && r->m.fate[round] == OPEN &&
           below(&r->p, 10) == 0 &&
           tarry_policy_expire(r->p.policy, round) == TARRY_OK;
}

static void do_observe(run *r)
{
    model *m = &r->m;
    bool good;
    const uint64_t round = some_round(r);
    const double loss = some_loss(r, round, &good);
    const bool given_up = good && give_up_first(r, round);
    tarry_status status = tarry_policy_observe(r->p.policy, round, loss);
    const tarry_status twins = tarry_policy_observe(r->p.twin, round, loss);
    assert_int_equal(status, given_up ? TARRY_EXPIRED : twins);
    status = twins;
    if (round == 0 || round > m->round) {
        assert_int_equal(status, TARRY_UNKNOWN_ROUND);
    } else if (m->fate[round] == REPORTED || m->fate[round] == CANCELLED) {
        assert_int_equal(status, TARRY_REPORTED_TWICE);
    } else if (!good) {
        assert_int_equal(status, TARRY_BAD_LOSS);
    } else {
        if (m->fate[round] == EXPIRED)
            assert_int_equal(status, TARRY_EXPIRED);
        else
            assert_true(status == TARRY_OK || status == TARRY_LATE);
        forget(m, round);
        m->fate[round] = REPORTED;
        m->reported++;
    }
}

static void do_cancel(run *r)
{
    model *m = &r->m;
    const uint64_t round = some_round(r);
    give_up_first(r, round);
    const tarry_status status = tarry_policy_cancel(r->p.policy, round);
    assert_int_equal(tarry_policy_cancel(r->p.twin, round), status);
    if (round == 0 || round > m->round) {
        assert_int_equal(status, TARRY_UNKNOWN_ROUND);
    } else if (m->fate[round] == REPORTED || m->fate[round] == CANCELLED) {
        assert_int_equal(status, TARRY_REPORTED_TWICE);
    } else {
        assert_int_equal(status, TARRY_OK);
        forget(m, round);
        m->fate[round] = CANCELLED;
        m->cancelled++;
    }
}

static void do_expire(run *r)
{
    model *m = &r->m;
    const uint64_t round = some_round(r);
    const tarry_status status = tarry_policy_expire(r->p.policy, round);
    assert_int_equal(tarry_policy_expire(r->p.twin, round), status);
    if (round == 0 || round > m->round) {
        assert_int_equal(status, TARRY_UNKNOWN_ROUND);
    } else if (m->fate[round] == REPORTED || m->fate[round] == CANCELLED) {
        assert_int_equal(status, TARRY_REPORTED_TWICE);
    } else if (m->fate[round] == EXPIRED) {
        assert_int_equal(status, TARRY_EXPIRED);
    } else {
        assert_int_equal(status, TARRY_OK);
        forget(m, round);
        m->fate[round] = EXPIRED;
        m->expired++;
    }
}

/* Phases begin anew. */
static void change_arms(model *m)
{
    m->phase = 0;
    m->n_active = MOST_ARMS;
    m->changed_at = m->round;
}

static void do_admit(run *r)
{
    model *m = &r->m;
    size_t arm = 0, twin_arm = 0;
    if (m->n_arms == r->plan.n_arms + MORE_ARMS)
        return;
    const double *features = arm_of(r->p.g, m->n_arms);
    const tarry_status status = tarry_policy_admit(r->p.policy, features, &arm);
    assert_int_equal(tarry_policy_admit(r->p.twin, features, &twin_arm),
                     status);
    if (status == TARRY_BAD_ARGUMENT)
        return; /* this policy cannot */
    assert_int_equal(status, TARRY_OK);
    assert_int_equal(arm, m->n_arms++);
    change_arms(m);
}

static void do_withdraw(run *r)
{
    model *m = &r->m;
    size_t left = 0;
    const size_t arm = below(&r->p, r->plan.n_arms + MORE_ARMS);
    const tarry_status status = tarry_policy_withdraw(r->p.policy, arm);
    assert_int_equal(tarry_policy_withdraw(r->p.twin, arm), status);
    for (size_t k = 0; k < m->n_arms; k++)
        left += !m->gone[k];
    if (status == TARRY_BAD_ARGUMENT)
        return; /* the last one, or this policy cannot */
    if (arm >= m->n_arms || m->gone[arm]) {
        assert_int_equal(status, TARRY_NO_SUCH_ARM);
        return;
    }
    assert_int_equal(status, TARRY_OK);
    assert_true(left > 1);
    m->gone[arm] = true;
    change_arms(m);
}

/* The states of two policies are the same in every byte: also what only later
 * choices would show, such as counters. */
static void check_same_state(run *r, tarry_policy *a, tarry_policy *b)
{
    void *one, *other;
    size_t size, other_size, at = 32; /* behind the header */
    status_of(a); /* puts losses that wait to be counted in order */
    status_of(b);
    assert_int_equal(tarry_policy_pack(a, &one, &size), TARRY_OK);
    assert_int_equal(tarry_policy_pack(b, &other, &other_size), TARRY_OK);
    assert_int_equal(size, other_size);
    while (at < size && ((char *)one)[at] == ((char *)other)[at])
        at++;
    if (at < size)
        fail_msg("%s, round %ju: states differ from byte %zu of %zu on",
                 r->p.text, (uintmax_t)r->m.round, at, size);
    tarry_policy_pack_free(one);
    tarry_policy_pack_free(other);
}

/* Nothing is outstanding, and a choice has counted what was held: so states do
 * not tell in which order rounds came to be open. */
static void end_all(run *r)
{
    for (uint64_t round = 1; round <= r->m.round; round++)
        if (r->m.fate[round] == OPEN || r->m.fate[round] == EXPIRED) {
            tarry_policy_observe(r->p.policy, round, r->params.low);
            tarry_policy_observe(r->p.twin, round, r->params.low);
        }
    do_choose(r);
}

/* What was the last choice's probability can be asked until arms change. */
static void check_probability(run *r)
{
    double one = 0, other = 0;
    assert_int_equal(tarry_policy_probability(r->p.policy, &one),
                     tarry_policy_probability(r->p.twin, &other));
    assert_true(one == other);
}

static void do_save(run *r)
{
    const char *path = in_folder("state");
    tarry_policy *restored;
    assert_int_equal(tarry_policy_save(r->p.policy, path, NULL), TARRY_OK);
    assert_int_equal(tarry_policy_restore(path, &restored, NULL), TARRY_OK);
    check_same_state(r, r->p.policy, restored);
    tarry_policy_free(r->p.policy);
    r->p.policy = restored;
    check_probability(r);
    unlink(path);
}

/* As do_save, without a file. */
static void do_pack(run *r)
{
    tarry_policy *restored;
    void *bytes;
    size_t size;
    assert_int_equal(tarry_policy_pack(r->p.policy, &bytes, &size), TARRY_OK);
    assert_int_equal(tarry_policy_unpack(bytes, size, &restored, NULL),
                     TARRY_OK);
    tarry_policy_pack_free(bytes);
    tarry_policy_free(r->p.policy);
    r->p.policy = restored;
}

/* Many losses between two choices, and a new start among them. */
static void do_burst(run *r)
{
    for (int i = 0; i < 40; i++) {
        do_observe(r);
        if (i % 16 == 15)
            do_pack(r);
    }
}

static void do_certify(run *r)
{
    size_t arm = MOST_ARMS, twin_arm = MOST_ARMS;
    double gap = 0, twin_gap = 0;
    const tarry_status status = tarry_policy_certify(r->p.policy, &arm, &gap);
    assert_int_equal(tarry_policy_certify(r->p.twin, &twin_arm, &twin_gap),
                     status);
    assert_true(arm < r->m.n_arms && arm == twin_arm);
    assert_true(status == TARRY_OK ? gap >= 0 && gap == twin_gap : isnan(gap));
}

/* ---- programs -------------------------------------------------------------*/

static void step(run *r)
{
    if (r->plan.restless && below(&r->p, 20) == 0) {
        (below(&r->p, 2) == 0 ? do_admit : do_withdraw)(r);
        return;
    }
    const uint64_t kind = below(&r->p, 1000);
    if (kind < 480)
        do_choose(r);
    else if (kind < 940)
        do_observe(r);
    else if (kind < 965)
        do_cancel(r);
    else if (kind < 983)
        do_expire(r);
    else if (kind < 984)
        do_admit(r);
    else if (kind < 985)
        do_withdraw(r);
    else if (kind < 990)
        do_certify(r);
    else if (kind < 991)
        do_save(r);
    else if (kind < 992)
        do_pack(r);
    else if (kind < 993)
        do_burst(r);
    else
        check_status(r);
}

/* Every other program has its own of each of these. */
static tarry_policy_params some_params(const game *g, const plan *plan,
                                       uint64_t seed)
{
    tarry_policy_params params = params_of(g, plan->horizon);
    params.n_arms = plan->n_arms;
    params.seed = seed;
    params.beyond_horizon = (seed & 1) || plan->horizon < plan->steps;
    params.maximize = seed & 2; /* any number but 0 */
    params.low = seed & 4 ? -3 : -1;
    params.high = seed & 4 ? 5 : 1;
    params.confidence = seed & 8 ? 0.95 : 0;
    return params;
}

static void run_program(const char *text, uint64_t seed, plan plan)
{
    game g = make_game(plan.n_arms + MORE_ARMS, DIM, DIM);
    run r = {.p = {.text = text, .g = &g, .seed = seed},
             .params = some_params(&g, &plan, seed),
             .plan = plan};
    r.m.n_arms = plan.n_arms;
    r.p.policy = make_policy(text, &r.params);
    r.p.twin = make_policy(text, &r.params);
    r.m.fate = calloc(ROOM, 1);
    r.m.arm = calloc(ROOM, 1);
    r.m.n_active = MOST_ARMS;
    assert_true(r.m.fate != NULL && r.m.arm != NULL && plan.steps < ROOM);
    for (uint64_t i = 0; i < plan.steps; i++)
        step(&r);
    check_status(&r);
    end_all(&r);
    check_same_state(&r, r.p.policy, r.p.twin);
    free(r.m.fate);
    free(r.m.arm);
    tarry_policy_free(r.p.policy);
    tarry_policy_free(r.p.twin);
    end_game(&g);
}

static void policies_do_as_the_model_says(void **state)
{
    (void)state;
    const uint64_t steps = amount(4000, 4000, 1000000);
    for (size_t k = 0; description(k) != NULL; k++)
        run_program(description(k), first_seed() + k,
                    (plan){steps, HORIZON, ARMS, false});
}

static void so_do_those_of_many_arms(void **state)
{
    (void)state;
    for (size_t k = 0; description(k) != NULL; k++)
        run_program(description(k), first_seed() + 500 + k,
                    (plan){3000, HORIZON, MANY_ARMS, false});
}

/* A guide hears of plays and losses that are not its own. */
static void so_do_those_with_any_guide(void **state)
{
    (void)state;
    const char *name;
    char text[100];
    for (size_t k = 0; (name = tarry_policy_name(k)) != NULL; k++) {
        snprintf(text, sizeof text, "phased-adversarial:guide=%s", name);
        if (strcmp(name, "recommended") != 0)
            run_program(text, first_seed() + 2385 + k,
                        (plan){4000, HORIZON, ARMS, false});
    }
}

/* Also when the horizon is over. */
static void so_do_those_whose_arms_come_and_go(void **state)
{
    (void)state;
    for (size_t k = 0; description(k) != NULL; k++)
        for (uint64_t i = 0; i < 10; i++)
            run_program(description(k), first_seed() + 16 * k + i,
                        (plan){400, i % 2 == 0 ? HORIZON : 100, ARMS, true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_do_as_the_model_says),
        cmocka_unit_test(so_do_those_of_many_arms),
        cmocka_unit_test(so_do_those_with_any_guide),
        cmocka_unit_test(so_do_those_whose_arms_come_and_go),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
