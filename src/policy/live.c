/* live.c - what else may become of a choice than an outcome, and arms that come
 * and go. */
#include "tarry/policy.h"

#include <string.h>
#include "base/base.h"
#include "policy/handle.h"
#include "policy/intercept.h"

/* An open round, or why it is none. */
static tarry_status find_open(const tarry_policy *p, uint64_t round,
                              uint32_t *value)
{
    if (p == NULL)
        return TARRY_BAD_ARGUMENT;
    if (round == 0 || round > p->round)
        return TARRY_UNKNOWN_ROUND;
    return tarry__open_find(&p->open, round, value) ? TARRY_OK
                                                    : TARRY_REPORTED_TWICE;
}

/* Rounds beyond the horizon are played without the algorithm. */
static bool is_algorithms(const tarry_policy *p, uint64_t round)
{
    return round <= p->problem.horizon;
}

void tarry__policy_tell_expired(const tarry_policy *p, void *state,
                                uint64_t round, size_t arm, bool gone)
{
    if (p->type->expire != NULL && is_algorithms(p, round))
        p->type->expire(state, round, arm, gone);
}

tarry_status tarry_policy_expire(tarry_policy *p, uint64_t round)
{
    uint32_t value;
    const tarry_status status = find_open(p, round, &value);
    if (status != TARRY_OK)
        return status;
    if (value & TARRY__POLICY_EXPIRED)
        return TARRY_EXPIRED;
    tarry__policy_forget_ahead(p);
    tarry__open_remove(&p->open, round);
    tarry__open_add(&p->open, round, value | TARRY__POLICY_EXPIRED);
    p->expired++;
    tarry__policy_tell_expired(p, p->state, round, value, true);
    return TARRY_OK;
}

tarry_status tarry_policy_apply_default(tarry_policy *p, uint64_t round)
{
    uint32_t value;
    tarry_status status = find_open(p, round, &value);
    if (status != TARRY_OK)
        return status;
    if (!p->edge.rule.declared)
        return TARRY_BAD_ARGUMENT;
    if (value & TARRY__POLICY_EXPIRED)
        return TARRY_EXPIRED;
    status = tarry__held_reserve(&p->held);
    if (status == TARRY_OK)
        status = tarry__open_reserve(&p->defaulted);
    if (status != TARRY_OK)
        return status;
    tarry__policy_forget_ahead(p);
    tarry__open_remove(&p->open, round);
    tarry__open_add(&p->defaulted, round, value);
    p->n_defaulted++;
    tarry__held_add(&p->held, (tarry__held_loss){.round = round,
                                                 .loss = p->edge.rule.value,
                                                 .arm = value});
    return TARRY_OK;
}

tarry_status tarry_policy_cancel(tarry_policy *p, uint64_t round)
{
    uint32_t value;
    tarry_status status = find_open(p, round, &value);
    if (status != TARRY_OK)
        return status;
    const size_t arm = value & ~TARRY__POLICY_EXPIRED;
    const bool expired = value & TARRY__POLICY_EXPIRED;
    if (p->type->cancel != NULL && is_algorithms(p, round))
        status = p->type->cancel(p->state, round, arm);
    if (status != TARRY_OK)
        return status;
    if (expired)
        tarry__policy_tell_expired(p, p->state, round, arm, false);
    tarry__policy_forget_ahead(p);
    tarry__open_remove(&p->open, round);
    p->expired -= expired;
    p->cancelled++;
    p->may_ask = false; /* of what was known then something has been undone */
    return TARRY_OK;
}

tarry_status tarry_policy_probability(tarry_policy *p, double *probability)
{
    if (p == NULL || probability == NULL)
        return TARRY_BAD_ARGUMENT;
    if (!p->may_ask)
        return TARRY_UNKNOWN_ROUND;
    if (p->last_choice.played != p->last_arm) /* a state of before shares */
        p->last_choice = (tarry__shares_choice){-1, (uint32_t)p->last_arm,
                                                (uint32_t)p->last_arm};
    *probability = tarry__shares_probability(
        &p->edge, p->type, p->state, &p->problem, p->round, &p->last_choice);
    return *probability >= 0 && *probability <= 1 ? TARRY_OK
                                                  : TARRY_TARGET_NOT_MET;
}

tarry_status tarry_policy_choose_in(tarry_policy *p, const double *features,
                                    size_t n_arms, uint64_t *round, size_t *arm,
                                    tarry_error *error)
{
    (void)p, (void)features, (void)n_arms, (void)round, (void)arm;
    return tarry__base_fail(
        error, TARRY_BAD_ARGUMENT,
        "decisions with features of their own are not there yet");
}

/* ---- arms -----------------------------------------------------------------*/

/* The problem has changed: the algorithm is told. */
static tarry_status take_list(tarry_policy *p, uint32_t *available,
                              size_t count)
{
    tarry__policy_problem *q = &p->problem;
    const uint32_t *old = q->active;
    const size_t old_count = q->n_active;
    q->active = available;
    q->n_active = count;
    const tarry_status status = p->type->rearranged(p->state);
    if (status != TARRY_OK) {
        q->active = old;
        q->n_active = old_count;
        tarry__base_free(available);
        return status;
    }
    tarry__policy_forget_ahead(p);
    tarry__base_free(p->available);
    p->available = available;
    p->may_ask = false;
    return TARRY_OK;
}

/* Without features it has a feature of its own, which no other arm has.  A
 * constant that was added stays the last one, so there is no place for it. */
static tarry_status check_arm(const tarry_policy *p, const double *features)
{
    const tarry__policy_problem *q = &p->problem;
    if (p->type->reserve == NULL || q->n_arms == TARRY__POLICY_MAX_ARMS)
        return TARRY_BAD_ARGUMENT;
    if (features == NULL)
        return p->given == NULL && q->dim < TARRY__POLICY_MAX_DIM
                   ? TARRY_OK
                   : TARRY_BAD_ARGUMENT;
    return tarry__policy_check_arms(features, 1, tarry__policy_dim(p), NULL);
}

/* The last feature of a new arm: the constant, or what keeps the means affine
 * in the features where those gave a constant at first; 0: there is none. */
static double last_feature(const tarry_policy *p, const double *features)
{
    if (features == NULL)
        return 1; /* its own */
    return p->unit != NULL
               ? tarry__intercept_rest(features, p->unit, tarry__policy_dim(p))
               : p->constant;
}

/* The features of all arms and the new one as the user gives them; NULL: out of
 * memory. */
static double *give(const tarry_policy *p, const double *features)
{
    const size_t K = p->problem.n_arms, n = tarry__policy_dim(p);
    double *given = tarry__base_alloc((K + 1) * n, sizeof *given);
    if (given == NULL)
        return NULL;
    memcpy(given, p->given != NULL ? p->given : p->problem.arms,
           K * n * sizeof *given);
    memcpy(given + K * n, features, n * sizeof *given);
    return given;
}

/* The arms of the problem and one more, in n dimensions. */
static tarry_status fill_arms(const tarry_policy *p, const double *features,
                              size_t n, double *arms)
{
    const tarry__policy_problem *q = &p->problem;
    const size_t K = q->n_arms, own = tarry__policy_dim(p);
    memset(arms, 0, (K + 1) * n * sizeof *arms);
    for (size_t k = 0; k < K; k++)
        memcpy(arms + k * n, q->arms + k * q->dim, q->dim * sizeof *arms);
    if (features != NULL)
        memcpy(arms + K * n, features, own * sizeof *arms);
    if (n > own)
        arms[K * n + own] = last_feature(p, features);
    return tarry__policy_check_distinct(arms, K + 1, n, NULL);
}

/* Tells the algorithm of the wider problem; it owns `arms` and `available`
 * then. */
static tarry_status take_arms(tarry_policy *p, double *arms, size_t n,
                              uint32_t *available)
{
    tarry__policy_problem *q = &p->problem;
    const tarry__policy_problem old = *q;
    const size_t count = tarry__policy_n_choices(q);
    for (size_t i = 0; i < count; i++)
        available[i] = (uint32_t)tarry__policy_choice(q, i);
    available[count] = (uint32_t)q->n_arms;
    q->arms = arms;
    q->dim = n;
    q->n_arms++;
    const tarry_status status = take_list(p, available, count + 1);
    if (status == TARRY_OK)
        tarry__base_free(old.arms);
    else
        *q = old;
    return status;
}

static void replace(double **old, double *now)
{
    tarry__base_free(*old);
    *old = now;
}

tarry_status tarry_policy_admit(tarry_policy *p, const double *features,
                                size_t *arm)
{
    if (p == NULL || arm == NULL)
        return TARRY_BAD_ARGUMENT;
    const tarry__policy_problem *q = &p->problem;
    tarry_status status = check_arm(p, features);
    if (status != TARRY_OK)
        return status;
    const bool grows =
        features == NULL ||
        (p->unit != NULL && p->given == NULL && last_feature(p, features) != 0);
    const bool gives = features != NULL && (grows || p->given != NULL);
    const size_t K = q->n_arms, n = q->dim + grows;
    double *unit = NULL, *given = gives ? give(p, features) : NULL;
    if (features == NULL && p->unit != NULL)
        unit = tarry__base_zalloc(n, sizeof *unit);
    double *arms = tarry__base_alloc((K + 1) * n, sizeof *arms);
    uint32_t *available =
        tarry__base_alloc(tarry__policy_n_choices(q) + 1, sizeof *available);
    status = arms != NULL && available != NULL && (given != NULL || !gives) &&
                     (unit != NULL || features != NULL || p->unit == NULL)
                 ? TARRY_OK
                 : TARRY_NO_MEMORY;
    if (status == TARRY_OK)
        status = fill_arms(p, features, n, arms);
    if (status == TARRY_OK)
        status = p->type->reserve(p->state, K + 1);
    if (status == TARRY_OK)
        status = take_arms(p, arms, n, available); /* ends `available` */
    else
        tarry__base_free(available);
    if (status != TARRY_OK) {
        tarry__base_free(arms);
        tarry__base_free(given);
        tarry__base_free(unit);
        return status;
    }
    if (gives)
        replace(&p->given, given);
    if (unit != NULL) { /* the arm's own feature makes up a constant, too */
        memcpy(unit, p->unit, (n - 1) * sizeof *unit);
        unit[n - 1] = 1;
        replace(&p->unit, unit);
    }
    *arm = K;
    return TARRY_OK;
}

tarry_status tarry_policy_withdraw(tarry_policy *p, size_t arm)
{
    if (p == NULL || p->type->rearranged == NULL)
        return TARRY_BAD_ARGUMENT;
    const tarry__policy_problem *q = &p->problem;
    const size_t count = tarry__policy_n_choices(q);
    uint32_t *available = tarry__base_alloc(count, sizeof *available);
    size_t left = 0;
    if (available == NULL)
        return TARRY_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (tarry__policy_choice(q, i) != arm)
            available[left++] = (uint32_t)tarry__policy_choice(q, i);
    if (left == count || left == 0) {
        tarry__base_free(available);
        return left == 0 ? TARRY_BAD_ARGUMENT : TARRY_NO_SUCH_ARM;
    }
    return take_list(p, available, left);
}
