/* phased.h - what the paper's four algorithms share: phased elimination.
 *
 * Phase m keeps a set of active arms, of which the best is one, and works for
 * accuracy eps = 2^-m.  It plans a number of losses N(b) to be counted for each
 * arm b of a design, plays until enough of them have arrived, estimates, and
 * cuts the arms that cannot be best.  Phases differ between algorithms in the
 * size of N, in how missing losses are played for, in how many must arrive and
 * in the width of the cut; these are the fields of a rule.
 *
 * A phase ends when the next arm is asked for, not while losses are still being
 * reported, just as the paper's loops look at all that has arrived in a round.
 * All four record what they count in the same way, so `observe` is shared. */
#ifndef TARRY_POLICY_PHASED_PHASED_H
#define TARRY_POLICY_PHASED_PHASED_H

#include <stdbool.h>
#include "policy/phased/books.h"
#include "policy/phased/guide.h"
#include "policy/policy_type.h"
#include "tarry/random.h"

extern const tarry__policy_type tarry__phased_stochastic,
    tarry__phased_adversarial, tarry__phased_loss_dependent, tarry__phased_mab,
    tarry__phased_nodelay, tarry__phased_spanner;

typedef struct tarry__phased tarry__phased;

typedef struct {
    bool linear; /* arms have features: design; else each arm for itself */
    bool drawn;  /* plays are drawn from the design: no weight may be tiny */
    bool designated_only; /* only the first N(b) plays of b count */
    double cut;           /* keep a iff lower(a) - min upper <= cut * eps */
    /* N of this phase, the design's smallest weight being given. */
    double (*quota)(const tarry__phased *phased, double min_weight);
    /* The share of N(b) that must have arrived; NULL for all. */
    double (*share)(const tarry__phased *phased);
} tarry__phased_rule;

/* Beside each plan entry. */
typedef struct {
    double sum;      /* of the losses counted */
    uint64_t needed; /* how many must have been counted */
    uint64_t left;   /* plays left in this sweep */
    uint64_t last;   /* with a guide: the round of the last play of N(b) */
    double mean;     /* with a guide: its loss, as far as is known */
} tarry__phased_tally;

/* The practical settings, see tight.c and guided.c. */
typedef struct {
    uint32_t tight;  /* constants=tight */
    uint32_t regret; /* design=regret */
    double width;    /* factor of the widths; 1 for the promise */
} tarry__phased_practice;

struct tarry__phased {
    const tarry__policy_problem *problem;
    const tarry__phased_rule *rule;
    double rank_tolerance;
    tarry__phased_practice practice;
    uint64_t phase;
    double epsilon;
    uint64_t phase_start;    /* its first round */
    uint64_t designated_end; /* one past the last designated round */
    size_t n_active;
    uint32_t *active;    /* increasing */
    size_t n_plan, rank; /* rank of the design */
    tarry_plan_entry *plan;
    tarry__phased_tally *tally;
    uint32_t *entry_of; /* per arm: its plan entry, or TARRY__PHASED_NO_ENTRY */
    size_t n_short;     /* plan entries that need more */
    size_t cursor;      /* the plan entry of this sweep */
    size_t turn;        /* of plays that only wait */
    size_t best;        /* active arm of smallest estimate */
    size_t n_estimates;
    tarry_estimate *estimates; /* per arm */
    uint64_t first_phase_rounds;
    tarry_discrete *law; /* the design, to draw from; only where needed */
    /* tight constants only: */
    double *room; /* working memory of a phase */
    tarry__books books;
    size_t exploit;     /* the arm of the certificate: */
    double certificate; /*   its gap is at most this */
    uint64_t missing;   /* losses of the plan that have not been counted */
    uint64_t look_at;   /* of them, when brackets are looked at next */
    tarry__guide guide; /* guide.type is NULL without one */
    tarry__phased_pace pace;
};

#define TARRY__PHASED_NO_ENTRY UINT32_MAX

/* Estimates, cuts, and starts the next phase, whose first round is `round`.
 * On failure nothing has changed. */
tarry_status tarry__phased_advance(tarry__phased *phased, uint64_t round);

/* The next arm of the sweep, if there is one left: each plan entry `left`
 * times, one after the other. */
bool tarry__phased_sweep(tarry__phased *phased, size_t *arm);

/* Plans the same phase anew from `round` on, with what is known by now. */
tarry_status tarry__phased_replan(tarry__phased *phased, uint64_t round);

/* Whether enough losses are there for the phase to end. */
tarry_status tarry__phased_has_enough(tarry__phased *phased, bool *enough);

/* Books a play; answers TARRY_OK. */
static inline tarry_status tarry__phased_note(tarry__phased *ph, size_t arm)
{
    if (ph->books.plays != NULL)
        ph->books.plays[arm]++;
    return TARRY_OK;
}

/* A new plan is in place: its pace, and the guide's arms. */
void tarry__phased_guided_start(tarry__phased *phased, uint64_t round);

/* With a guide the plays are chosen here instead. */
tarry_status tarry__phased_guided_choose(tarry__phased *phased, uint64_t round,
                                         size_t *arm);
static inline bool tarry__phased_is_guided(const tarry__phased *ph)
{
    return ph->guide.type != NULL;
}

/* Losses of plan entry i that the estimate stands on. */
uint64_t tarry__phased_count(const tarry__phased *phased, size_t i);

/* These fit tarry__policy_type, whose `rule` is a tarry__phased_rule. */
extern const tarry_setting tarry__phased_settings[];
extern const tarry_setting tarry__phased_paper_settings[]; /* for baselines */
/* Reads either list of settings; opens the guide. */
tarry_status tarry__phased_read(tarry__phased *phased, const tarry__spec *spec,
                                tarry_error *error);
tarry_status tarry__phased_init(void *state, const tarry__policy_type *type,
                                const tarry__policy_problem *problem,
                                const tarry__spec *spec, tarry_error *error);
tarry_status tarry__phased_choose_designated(void *state, uint64_t round,
                                             size_t *arm);
tarry__policy_use tarry__phased_observe(void *state, uint64_t round, size_t arm,
                                        double loss);
void tarry__phased_played(void *state, uint64_t round, size_t arm);
const uint64_t *tarry__phased_phase(const void *state);
void tarry__phased_status(const void *state, tarry_policy_status *status);
tarry_status tarry__phased_certify(const void *state, size_t *arm, double *gap);
void tarry__phased_archive(void *state, const tarry__policy_type *type,
                           const tarry__policy_problem *problem,
                           tarry__archive *a);
void tarry__phased_clear(void *state);

/* The quota of Algorithms 1 and 2: 16 n log(KT) / eps^2. */
double tarry__phased_quota(const tarry__phased *phased, double min_weight);

/* What the counted losses say: theta, W with V^+ = W'W, and the columns
 * sigma(b) V^+ b of those b that miss losses; arms are scaled by `scale`. */
typedef struct {
    double *W, *theta, *missing, *t;
    double scale;
    size_t n_missing;
} tarry__phased_solution;

/* Doubles it needs for a plan of so many arms, and the solution in such a
 * memory; false: a factorisation failed. */
size_t tarry__phased_solution_size(size_t dim, size_t n_plan);
bool tarry__phased_solution_find(const tarry__phased *phased, double *memory,
                                 tarry__phased_solution *solution);

/* W, rank by n, with (sum w(b) b b')^+ = W'W for the plan's weights. */
tarry_status tarry__phased_whitening(const tarry__phased *phased, double *W);

/* Lower and upper estimates of the active arms from what was counted. */
tarry_status tarry__phased_estimate_linear(const tarry__phased *phased,
                                           tarry_estimate *estimates);
void tarry__phased_bracket_all(const tarry__phased *phased,
                               const tarry__phased_solution *solution,
                               tarry_estimate *estimates);
void tarry__phased_estimate_mab(const tarry__phased *phased,
                                tarry_estimate *estimates);

/* log(K T), which all quotas contain. */
double tarry__phased_log_kt(const tarry__phased *phased);

/* ---- constants=tight ------------------------------------------------------*/

/* L = log(K M T), M = ceil(log2 T). */
double tarry__phased_tight_log(double n_arms, double horizon);

/* What a phase says of its arms. */
typedef struct {
    size_t n_kept;
    uint32_t *kept;     /* in the working memory */
    size_t exploit;     /* the empirically best, and */
    double certificate; /*   a bound on its gap */
    bool settled;       /* no bracket that matters exceeds eps */
} tarry__phased_verdict;

/* Judges the active arms, in the phase's working memory, and fills their
 * estimates (NULL: none wanted).  TARRY_TARGET_NOT_MET: a factorisation
 * failed. */
tarry_status tarry__phased_tight_judge(const tarry__phased *phased,
                                       tarry_estimate *estimates,
                                       tarry__phased_verdict *verdict);

/* Doubles of working memory that it needs. */
size_t tarry__phased_tight_room(size_t dim, size_t n_plan, size_t n_active);

/* Whether the missing losses of designated plays no longer matter.  Looks only
 * now and then: when their number has fallen by a tenth. */
tarry_status tarry__phased_tight_is_settled(tarry__phased *phased,
                                            bool *settled);

/* design=regret: N(b) of the active arms, in their order, given the near design
 * as plan.  Not better: nothing is known yet, or it needs more than `most`. */
tarry_status tarry__phased_regret_plan(const tarry__phased *phased, double most,
                                       double *N, bool *better);

#endif
