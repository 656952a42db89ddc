/* handle.h - what is behind a tarry_policy, for the files of the public door:
 * policy.c (create, choose, observe, status), live.c (what else may happen to a
 * choice, and to the arms) and state.c (saving). */
#ifndef TARRY_POLICY_HANDLE_H
#define TARRY_POLICY_HANDLE_H

#include "policy/held.h"
#include "policy/open_rounds.h"
#include "policy/shares.h"
#include "policy/policy_type.h"

#define TARRY__POLICY_MAX_ROUND ((1ull << TARRY__OPEN_ROUND_BITS) - 1)
#define TARRY__POLICY_MAX_DIM 20000
#define TARRY__POLICY_MAX_ARMS ((size_t)1 << (TARRY__OPEN_VALUE_BITS - 1))

/* The value of an open round: its arm, and whether it was given up. */
#define TARRY__POLICY_EXPIRED ((uint32_t)1 << (TARRY__OPEN_VALUE_BITS - 1))

/* What became of the losses counted so far. */
typedef struct {
    uint64_t used, ignored, late;
} tarry__policy_uses;

struct tarry_policy {
    const tarry__policy_type *type;
    char *description; /* as it was made, name:key=value,...; NULL: unknown */
    tarry__policy_problem problem; /* owns the arms */
    uint32_t *available;           /* problem.active, to be written */
    double *given;   /* the arms' features as users gave them; NULL: as the
                        problem has them */
    double constant; /* the last feature of all arms in the problem, which was
                        added to them; 0: none was at first */
    double *unit;    /* x of intercept.h, one per feature given; NULL: no
                        constant is needed, or it was added */
    tarry__policy_edge edge;
    double low, high;
    int32_t maximize, beyond_horizon;
    uint64_t round; /* choices so far */
    uint64_t pending_max, expired, cancelled;
    uint64_t oldest; /* no round before it is pending */
    tarry__policy_uses uses;
    tarry__open_rounds open;
    tarry__open_rounds defaulted; /* rounds that have the default outcome, to
                                     their arms */
    uint64_t n_defaulted, n_corrected;
    uint64_t n_reported;
    double least_reported, most_reported;
    char rule_text[TARRY__DEFAULT_ROOM]; /* edge.rule, if it is declared */
    tarry__held held;                    /* reported since the last choice */
    void *state;
    /* The state and the uses as they would be if what is held had been counted;
     * NULL: nobody has asked since the last change. */
    void *ahead;
    tarry__policy_uses ahead_uses;
    bool is_certified; /* since the last change somebody asked and was told: */
    size_t certified_arm;
    double certified_gap;
    tarry_estimate *shown; /* estimates in the user's unit, for a status */
    size_t n_shown;        /* room for so many */
    size_t last_arm;       /* of the last choice */
    tarry__shares_choice last_choice;
    uint32_t may_ask; /* the chance of the last choice can be told */
};

/* Counts losses in the order of play. */
void tarry__policy_count(const tarry_policy *policy, const tarry__held *held,
                         void *state, tarry__policy_uses *uses);

/* Counts what is held, as the next choice will do. */
void tarry__policy_settle(tarry_policy *policy);

/* The state with everything counted that was reported.  TARRY_NO_MEMORY: *state
 * is the one without. */
tarry_status tarry__policy_ahead(tarry_policy *policy, void **state,
                                 tarry__policy_uses *uses);

/* Tells the algorithm that a loss is given up, or is coming after all. */
void tarry__policy_tell_expired(const tarry_policy *policy, void *state,
                                uint64_t round, size_t arm, bool gone);

/* Something has happened: `ahead` and the certificate are of the past. */
void tarry__policy_forget_ahead(tarry_policy *policy);

#endif
