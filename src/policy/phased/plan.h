/* plan.h - what a phase is going to count, and how far it has come.
 *
 * A plan names arms b, with a weight each, and the number N(b) of losses to
 * count of each.  It is made from a task: which algorithm, which phase, what is
 * known.  The policies and `tarry bound` make their plans here, so that what is
 * promised is what is played. */
#ifndef TARRY_POLICY_PHASED_PLAN_H
#define TARRY_POLICY_PHASED_PLAN_H

#include <stdbool.h>
#include "policy/phased/books.h"
#include "policy/policy_type.h"
#include "tarry/random.h"

typedef struct tarry__phased_algorithm tarry__phased_algorithm;

/* What is kept of one arm of the plan, beside its public tarry_plan_entry. */
typedef struct {
    double sum;      /* of the losses counted */
    uint64_t needed; /* losses that must have been counted to end the phase */
    uint64_t left;   /* planned plays of the arm that are still to be made */
    uint64_t last;   /* round of the N(b)-th play of the arm in this phase, kept
                        only where a guide plays too; UINT64_MAX before it */
    double mean;     /* estimated loss of a play, kept only where a guide plays:
                        of several planned plays the cheapest is made first */
} tarry__phased_tally;

/* Which losses count, and on how many the estimates stand. */
typedef enum {
    TARRY__PHASED_COUNT_FIRST, /* the first N(b); on N(b), missing included */
    TARRY__PHASED_COUNT_SEEN,  /* the first N(b); on those that have come */
    TARRY__PHASED_COUNT_ALL    /* all of the phase; on those that have come */
} tarry__phased_counting;

#define TARRY__PHASED_NO_ENTRY UINT32_MAX

typedef struct {
    size_t n_active;  /* arms that the phase will keep or cut */
    uint32_t *active; /* numbers of the active arms, increasing */
    size_t n_entries; /* arms whose losses are counted; 0 if one is active */
    tarry_plan_entry *entry;    /* arms increasing */
    tarry__phased_tally *tally; /* of each entry */
    uint32_t *entry_of; /* of each arm: its entry or TARRY__PHASED_NO_ENTRY */
    size_t rank;        /* dimension that the entries' arms span */
    double g;           /* largest variance of an active arm by the weights */
    double quota;       /* N: losses to count in all, before rounding up */
    double stretch;     /* factor by which N grew when weights were raised */
    tarry__phased_counting counting;
    size_t n_short;   /* entries that have fewer losses than they need */
    uint64_t missing; /* losses of the N(b) that have not been counted */
    uint64_t look_at; /* while losses are missing the phase is judged again
                         only when `missing` has fallen to this */
    uint64_t designated_end; /* plays from this round on do not count */
    uint64_t *given_up;      /* of each entry: losses that count and that nobody
                                waits for any longer */
    uint64_t n_given_up;     /* sum of given_up over the entries */
    size_t n_extra;      /* planned plays that were made after the others, in
                            place of cancelled ones */
    uint64_t *extra;     /* rounds of the n_extra plays, increasing */
    size_t extra_room;   /* for how many rounds `extra` has memory */
    size_t n_cancelled;  /* plays that were cancelled and planned again */
    size_t cursor;       /* entry whose planned plays are being made */
    size_t turn;         /* entry to play next by plays that only wait */
    tarry_discrete *law; /* the weights, to draw from; NULL: nothing is drawn */
    double *scratch;     /* memory to judge the phase in; NULL: not needed */
} tarry__phased_plan;

/* What a plan is made from. */
typedef struct {
    const tarry__policy_problem *problem;
    const tarry__phased_algorithm *algorithm;
    double rank_tolerance; /* singular values below this share count as 0 */
    bool drawn;            /* plays are drawn from the weights */
    bool by_regret;        /* weights by estimated gaps, once there are any */
    double confidence;     /* of the promise, for ever; 0: by the horizon */
    uint64_t phase;        /* from 1 */
    uint64_t ordinal; /* which share of the failures it has; one more than the
                         last phase's, also when phases begin anew */
    bool replans;     /* phases may be planned anew: there are more shares */
    double epsilon;   /* accuracy that the phase works for */
    const tarry__phased_plan *before; /* an earlier plan, whose arms are likely
                                         to serve again; NULL: none */
    const tarry__books *books;        /* what is known; only for by_regret */
} tarry__phased_task;

/* Lays out arms and weights: rank, g and entries of a plan that has its active
 * arms.  By the paper's balanced design, by a near design on at most n(n+1)/2
 * arms, or every active arm alike.
 * TARRY_TARGET_NOT_MET: no design with g <= 4 rank was found. */
tarry_status tarry__phased_lay_balanced(const tarry__phased_task *task,
                                        tarry__phased_plan *plan);
tarry_status tarry__phased_lay_near(const tarry__phased_task *task,
                                    tarry__phased_plan *plan);
tarry_status tarry__phased_lay_all(const tarry__phased_task *task,
                                   tarry__phased_plan *plan);

/* Memory for so many entries, all zero; replaces the entries there are. */
tarry_status tarry__phased_plan_open(tarry__phased_plan *plan, size_t n);
void tarry__phased_plan_clear(tarry__phased_plan *plan);

/* Entry i is to count N losses, rounded up, of which `share` must arrive. */
void tarry__phased_plan_target(tarry__phased_plan *plan, size_t i, double N,
                               double share);

/* No play is planned: all are drawn, or made in turn. */
void tarry__phased_plan_draw(tarry__phased_plan *plan);

/* The law from which plays are drawn, from the weights. */
tarry_status tarry__phased_plan_make_law(tarry__phased_plan *plan);

/* The sum of all N(b). */
uint64_t tarry__phased_plan_plays(const tarry__phased_plan *plan);

/* The arm of the next planned play, if one is left: of each entry as many as
 * it has left, one entry after the other. */
bool tarry__phased_plan_next(tarry__phased_plan *plan, size_t *arm);

/* Whether the loss of a play counts: of entry i, in this phase. */
bool tarry__phased_plan_counts(const tarry__phased_plan *plan, size_t i,
                               uint64_t round);

/* A play of entry i is to be made once more.  TARRY_NO_MEMORY: nothing has
 * changed. */
tarry_status tarry__phased_plan_again(tarry__phased_plan *plan, size_t i);

/* A planned play is made in this round, though the time of plays that count is
 * over: it replaces a cancelled one. */
void tarry__phased_plan_replace(tarry__phased_plan *plan, uint64_t round);

/* The loss of a play of entry i is given up, or comes after all. */
void tarry__phased_plan_give_up(tarry__phased_plan *plan, size_t i, bool gone);

/* Losses without which entry i keeps the phase from ending. */
static inline uint64_t tarry__phased_plan_wanted(const tarry__phased_plan *plan,
                                                 size_t i)
{
    const uint64_t most = plan->entry[i].target - plan->given_up[i];
    return plan->tally[i].needed < most ? plan->tally[i].needed : most;
}

/* The plan's arms one after the other, for ever. */
size_t tarry__phased_plan_turn(tarry__phased_plan *plan);

/* The number of losses of entry i that the estimate stands on. */
static inline uint64_t tarry__phased_count(const tarry__phased_plan *plan,
                                           size_t i)
{
    return plan->counting == TARRY__PHASED_COUNT_FIRST
               ? plan->entry[i].target
               : plan->entry[i].observed;
}

/* ---- what the counted losses say ------------------------------------------*/

/* theta, W with V^+ = W'W, and the columns sigma(b) V^+ b of those b that miss
 * losses; arms are scaled by `scale`. */
typedef struct {
    double *W, *theta, *missing, *t;
    const double *column; /* largest value of each feature, for spans */
    bool sees_plan;       /* all arms of the plan are in the span */
    double scale;
    size_t n_missing;
} tarry__phased_solution;

/* Doubles it needs for a plan of so many arms, and the solution in such a
 * memory; false: a factorisation failed. */
size_t tarry__phased_solution_size(size_t dim, size_t n_entries);
bool tarry__phased_solution_find(const tarry__policy_problem *problem,
                                 const tarry__phased_plan *plan, double *memory,
                                 tarry__phased_solution *solution);

/* The largest absolute value of each feature, over the arms in `among`; NULL:
 * over all. */
void tarry__phased_columns(const tarry__policy_problem *problem,
                           const uint32_t *among, size_t count, double *column);

/* Whether x lies in the span of the rows of W, rank by n, which are orthogonal:
 * else nothing that was learnt in W's coordinates is about <theta, x>.  What
 * is left of x outside must be rounding in every feature, and little of x;
 * `rest` has room for it, n doubles. */
bool tarry__phased_spans(const double *W, size_t rank, size_t n,
                         const double *column, const double *x, double *rest);

/* The same of an arm, and of all arms with losses that are counted: if one of
 * them is outside, the sums of losses are of no theta in W's coordinates. */
bool tarry__phased_spans_arm(const tarry__policy_problem *problem,
                             const double *W, size_t rank, const double *column,
                             size_t arm, double *rest);
bool tarry__phased_spans_plan(const tarry__policy_problem *problem,
                              const tarry__phased_plan *plan, const double *W,
                              const double *column, double *rest);

/* W, rank by n, with (sum w(b) b b')^+ = W'W for the plan's weights. */
tarry_status tarry__phased_whitening(const tarry__policy_problem *problem,
                                     const tarry__phased_plan *plan, double *W);

/* Lower and upper estimates of the active arms from what was counted: with
 * features, in a solution, and each arm for itself. */
tarry_status tarry__phased_estimate_linear(const tarry__policy_problem *problem,
                                           const tarry__phased_plan *plan,
                                           tarry_estimate *estimates);
void tarry__phased_bracket_all(const tarry__policy_problem *problem,
                               const tarry__phased_plan *plan,
                               const tarry__phased_solution *solution,
                               tarry_estimate *estimates);
void tarry__phased_estimate_mab(const tarry__phased_plan *plan,
                                tarry_estimate *estimates);

#endif
