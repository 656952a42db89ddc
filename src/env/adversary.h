/* adversary.h - adaptive adversaries: they hold feedback back.
 *
 * An adversary sees every choice, the policy's plan and what it holds itself,
 * and never a loss, unless its record says so: then delays are loss-dependent.
 * It has a budget sigma: at the end of every round at most
 * sigma plays are outstanding.  adversary.c keeps the books and the budget; a
 * play that would exceed it is let go at once. */
#ifndef TARRY_ENV_ADVERSARY_H
#define TARRY_ENV_ADVERSARY_H

#include <stddef.h>
#include <stdint.h>
#include "env/instance.h"

/* What the adversary sees of the policy after its choice of a round. */
typedef struct {
    uint64_t round; /* from 1, one higher at each call */
    uint64_t phase; /* 0 for policies without phases */
    size_t n_plan;  /* the design of this phase, 0 if there is none */
    const size_t *plan_arm;
    const double *plan_weight;
    const uint64_t *plan_target; /* losses to be counted */
    double loss;                 /* of this play, for records that see it */
    uint64_t outstanding; /* filled in by adversary.c: plays held so far */
} tarry__adversary_view;

typedef struct {
    tarry__entry entry;
    bool by_arm;  /* whether the delay of a round depends on the arm */
    bool by_loss; /* whether it sees losses */
    size_t state_size;
    /* *sigma is the budget read from the settings; may be lowered.  The
     * instance lives on. */
    tarry_status (*init)(void *state, const tarry__spec *spec,
                         const tarry__instance *instance, uint64_t *sigma,
                         tarry_error *error);
    void (*clear)(void *state); /* NULL: nothing to do */
    /* How many of the held plays, oldest first, to let go now. */
    uint64_t (*release)(void *state, const tarry__adversary_view *view);
    /* An arm all of whose held plays to let go now, before `arm` is judged;
     * SIZE_MAX for none.  NULL: never. */
    size_t (*give_up)(void *state, const tarry__adversary_view *view,
                      size_t arm);
    /* The end of which round brings this play's feedback: view->round to let
     * it go, TARRY__DELAY_NEVER to hold it until released.  Called after
     * release. */
    uint64_t (*hold)(void *state, const tarry__adversary_view *view,
                     size_t arm);
    /* The most rounds that it holds a play; NULL: any number. */
    uint64_t (*longest)(const void *state);
} tarry__adversary_type;

typedef struct tarry__adversary tarry__adversary;

extern const tarry__entry *const tarry__adversary_adversaries[];

/* Makes the adversary of an entry of tarry__adversary_adversaries; *out is
 * ended by tarry__adversary_free, and NULL after a failure. */
tarry_status tarry__adversary_create(const tarry__entry *entry,
                                     const tarry__spec *spec,
                                     const tarry__instance *instance,
                                     tarry__adversary **out,
                                     tarry_error *error);
void tarry__adversary_free(tarry__adversary *adversary);

/* One round: the policy plays `arm`.  Answers how many plays have their
 * feedback delivered at the end of this round, and in *released which rounds
 * these were, in order of play; the list lives until the next call.  Does not
 * allocate. */
size_t tarry__adversary_play(tarry__adversary *adversary,
                             const tarry__adversary_view *view, size_t arm,
                             const uint64_t **released);

const tarry__adversary_type *
tarry__adversary_kind(const tarry__adversary *adversary);
uint64_t tarry__adversary_budget(const tarry__adversary *adversary);
/* Rounds after which every play has come back, or UINT64_MAX. */
uint64_t tarry__adversary_longest(const tarry__adversary *adversary);
uint64_t tarry__adversary_outstanding(const tarry__adversary *adversary);

/* ---- for the records -----------------------------------------------------*/

extern const tarry__adversary_type tarry__adversary_hold_rarest,
    tarry__adversary_hold_all, tarry__adversary_hold_newest,
    tarry__adversary_script, tarry__adversary_hold_in_turn,
    tarry__adversary_hold_staggered, tarry__adversary_hold_good,
    tarry__adversary_hold_late;

enum { TARRY__ADVERSARY_MOST_HELD = 100000000 };

#define TARRY__ADVERSARY_BUDGET_SETTING                                        \
    TARRY__SPEC_COUNT("sigma", "100", 0, TARRY__ADVERSARY_MOST_HELD,           \
                      "budget: most plays outstanding at any time")

#endif
