/* Memory that runs out at random moments of random programs, for every policy,
 * and at every one when arms come or go: a call that answers TARRY_NO_MEMORY
 * has not happened.  A twin hears only of the others, and chooses and counts
 * the same all the time.
 *
 * TARRY_SEED=n for other programs. */
#include "check.h"
#include "base/base.h"
#include "programs.h"

enum { ARMS = 5, MOST_ARMS = 9, DIM = 3, STEPS = 1500, MOST_K = 40 };

/* ---- one call, of the policy or its twin ----------------------------------*/

typedef struct {
    int kind;
    uint64_t round;
    double loss;
    size_t arm;
} call;

static tarry_status look(tarry_policy *p)
{
    tarry_policy_status s;
    return tarry_policy_get_status(p, &s);
}

static tarry_status certify(tarry_policy *p)
{
    size_t arm;
    double gap;
    const tarry_status status = tarry_policy_certify(p, &arm, &gap);
    return status == TARRY_NO_MEMORY ? status : TARRY_OK;
}

static tarry_status make(const program *p, tarry_policy *policy, const call *c,
                         size_t *chosen)
{
    uint64_t round;
    size_t arm;
    switch (c->kind) {
    case 0:
        return tarry_policy_choose(policy, &round, chosen);
    case 1:
        return tarry_policy_observe(policy, c->round, c->loss);
    case 2:
        return tarry_policy_cancel(policy, c->round);
    case 3:
        return tarry_policy_expire(policy, c->round);
    case 4:
        return tarry_policy_admit(policy, arm_of(p->g, c->arm), &arm);
    case 5:
        return tarry_policy_withdraw(policy, c->arm);
    case 6:
        return look(policy);
    default:
        return certify(policy);
    }
}

static call some_call(program *p)
{
    static const int kinds[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1,
                                1, 1, 1, 1, 2, 3, 6, 7, 4, 5};
    const tarry_policy_status s = status_of(p->twin);
    call c = {.kind = kinds[below(p, sizeof kinds / sizeof *kinds)]};
    if (c.kind >= 4 && c.kind <= 5 && below(p, 8) != 0)
        c.kind = 0; /* arms change now and then only */
    if (c.kind == 4 && s.n_arms == MOST_ARMS)
        c.kind = 1;
    c.round = s.round - below(p, s.round < 20 ? s.round + 1 : 20);
    c.arm = c.kind == 4 ? s.n_arms : below(p, s.n_arms);
    c.loss = 2 * test_uniform(&p->seed) - 1;
    return c;
}

static void step(program *p)
{
    const call c = some_call(p);
    const bool every = c.kind == 4 || c.kind == 5;
    size_t arm = 0, twin_arm = 0;
    uint64_t k = every ? 1 : below(p, 2) ? 1 + below(p, MOST_K) / 4 : 0;
    tarry_status status;
    do {
        tarry__base_fail_alloc(k++);
        status = make(p, p->policy, &c, &arm);
        tarry__base_fail_alloc(0);
    } while (every && status == TARRY_NO_MEMORY);
    if (status == TARRY_NO_MEMORY)
        return;
    if (make(p, p->twin, &c, &twin_arm) != status || arm != twin_arm)
        fail_msg("%s: call of kind %d: %s, arm %zu, the twin's %zu", p->text,
                 c.kind, tarry_status_text(status), arm, twin_arm);
}

/* ---- states and creation --------------------------------------------------*/

static void check_same(program *p)
{
    const tarry_policy_status a = status_of(p->policy), b = status_of(p->twin);
    assert_true(
        a.round == b.round && a.phase == b.phase && a.pending == b.pending &&
        a.used == b.used && a.ignored == b.ignored && a.late == b.late &&
        a.expired == b.expired && a.cancelled == b.cancelled &&
        a.n_arms == b.n_arms && a.n_active == b.n_active && a.best == b.best);
}

/* Every allocation of packing and unpacking. */
static void check_states(program *p)
{
    void *bytes = NULL;
    size_t size;
    tarry_policy *copy = NULL;
    for (uint64_t k = 1; bytes == NULL; k++) {
        tarry__base_fail_alloc(k);
        const tarry_status status = tarry_policy_pack(p->policy, &bytes, &size);
        tarry__base_fail_alloc(0);
        assert_true((status == TARRY_OK) == (bytes != NULL));
        assert_true(bytes != NULL || status == TARRY_NO_MEMORY);
    }
    for (uint64_t k = 1; copy == NULL; k++) {
        tarry__base_fail_alloc(k);
        const tarry_status status =
            tarry_policy_unpack(bytes, size, &copy, NULL);
        tarry__base_fail_alloc(0);
        assert_true(copy != NULL || status == TARRY_NO_MEMORY);
    }
    tarry_policy_free(p->policy);
    p->policy = copy;
    tarry_policy_pack_free(bytes);
}

/* Every allocation of creating it. */
static tarry_policy *create(const char *text, const tarry_policy_params *params)
{
    tarry_policy *made = NULL;
    for (uint64_t k = 1; made == NULL; k++) {
        tarry__base_fail_alloc(k);
        const tarry_status status =
            tarry_policy_create(text, params, &made, NULL);
        tarry__base_fail_alloc(0);
        if (made == NULL && status != TARRY_NO_MEMORY)
            fail_msg("%s, allocation %ju: %s", text, (uintmax_t)k,
                     tarry_status_text(status));
    }
    return made;
}

static void run_program(const char *text, uint64_t seed)
{
    game g = make_game(MOST_ARMS, DIM, DIM);
    tarry_policy_params params = params_of(&g, 1000000);
    program p = {.text = text, .g = &g, .seed = seed};
    params.n_arms = ARMS;
    p.policy = create(text, &params);
    p.twin = make_policy(text, &params);
    for (int i = 0; i < STEPS; i++) {
        step(&p);
        check_same(&p);
        if (i % 300 == 299)
            check_states(&p);
    }
    tarry_policy_free(p.policy);
    tarry_policy_free(p.twin);
    end_game(&g);
}

static void a_call_without_memory_changes_nothing(void **state)
{
    (void)state;
    for (size_t k = 0; description(k) != NULL; k++)
        run_program(description(k), first_seed() + k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_without_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
