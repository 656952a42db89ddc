/* first_answer.c - plays the arms in turn and stays for ever with the first
 * that answers at once.
 *
 * Where the delay is the loss, an answer in the round of the play itself means
 * that there was no loss to speak of: if the best arm has delay 0 this finds it
 * in K rounds at most, however long the others take, which is why the lower
 * bound for delay as payoff needs more arms than D/10.  Elsewhere it is a fool:
 * with delays that say nothing of losses it stays with any arm, or none. */
#include "policy/plain/plain.h"

typedef struct {
    const tarry__policy_problem *problem;
    uint64_t last;    /* the round chosen last */
    uint64_t next;    /* whose turn it is */
    uint64_t settled; /* 1: next is the arm for ever */
} first_answer;

static const tarry_setting settings[] = {TARRY__SPEC_END};

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__policy_problem *problem,
                         const tarry__spec *spec, tarry_error *error)
{
    (void)type;
    (void)spec;
    (void)error;
    ((first_answer *)state)->problem = problem;
    return TARRY_OK;
}

/* The arm after the one whose turn it is. */
static size_t next_arm(const first_answer *s)
{
    size_t arm = s->next;
    do
        arm = (arm + 1) % s->problem->n_arms;
    while (!tarry__policy_may_choose(s->problem, arm));
    return arm;
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    first_answer *s = state;
    s->last = round;
    *arm = s->next;
    if (!s->settled)
        s->next = next_arm(s);
    return TARRY_OK;
}

static tarry__policy_use observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    first_answer *s = state;
    (void)loss;
    if (s->settled || round != s->last ||
        !tarry__policy_may_choose(s->problem, arm)) /* withdrawn meanwhile */
        return TARRY__POLICY_IGNORED;
    s->settled = 1;
    s->next = arm;
    return TARRY__POLICY_USED;
}

static tarry_status reserve(void *state, size_t n_arms)
{
    (void)state, (void)n_arms;
    return TARRY_OK;
}

/* If its arm has gone it begins anew. */
static tarry_status rearranged(void *state)
{
    first_answer *s = state;
    if (!tarry__policy_may_choose(s->problem, s->next)) {
        s->settled = 0;
        s->next = next_arm(s);
    }
    return TARRY_OK;
}

static void status(const void *state, tarry_policy_status *status)
{
    status->best = ((const first_answer *)state)->next;
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a)
{
    first_answer *s = state;
    (void)type;
    s->problem = problem;
    tarry__archive_field(a, s->last);
    tarry__archive_field(a, s->next);
    tarry__archive_field(a, s->settled);
    tarry__archive_require(a, a->status == TARRY_OK &&
                                  s->next < problem->n_arms && s->settled <= 1);
}

static void clear(void *state)
{
    (void)state;
}

const tarry__policy_type tarry__plain_first_answer = {
    .name = "first-answer",
    .source = "a counterexample",
    .summary = "in turn, and for ever with the first arm that answers at once",
    .plain = true,
    .settings = settings,
    .state_size = sizeof(first_answer),
    .init = init,
    .choose = choose,
    .observe = observe,
    .reserve = reserve,
    .rearranged = rearranged,
    .status = status,
    .archive = archive,
    .clear = clear,
};
