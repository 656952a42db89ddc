/* phased.h - what the paper's four algorithms share: phased elimination.
 *
 * Phase m keeps a set of active arms, of which the best is one, and works for
 * accuracy eps = 2^-m.  It plans a number of losses N(b) to be counted for each
 * arm b of a design, plays until enough of them have arrived, estimates, and
 * cuts the arms that cannot be best.
 *
 * An algorithm is a record: the size of N, how plays are made, which of them
 * count.  How a phase is planned and judged is another, a rule, by the paper's
 * constants (paper.c) or by tight ones (tight.c).  Who plays is a third: the
 * algorithm alone (alone.c), or a guide beside it (guided.c).  The settings
 * choose the rule and the company when the policy is made, and nothing asks for
 * the settings afterwards.
 *
 * A phase ends when the next arm is asked for, not while losses are still being
 * reported, just as the paper's loops look at all that has arrived in a round.
 * All record what they count in the same way, so `observe` is shared. */
#ifndef TARRY_POLICY_PHASED_PHASED_H
#define TARRY_POLICY_PHASED_PHASED_H

#include <stdbool.h>
#include "policy/phased/books.h"
#include "policy/phased/guide.h"
#include "policy/phased/plan.h"
#include "policy/policy_type.h"

extern const tarry__policy_type tarry__phased_stochastic,
    tarry__phased_adversarial, tarry__phased_loss_dependent, tarry__phased_mab,
    tarry__phased_nodelay, tarry__phased_spanner, tarry__phased_spanner_waiting;

typedef struct tarry__phased tarry__phased;

/* What a phase says of its arms. */
typedef struct {
    size_t n_kept;      /* arms that stay */
    uint32_t *kept;     /* numbers of the arms that stay; room for all active */
    size_t exploit;     /* the arm with the smallest estimate */
    double certificate; /* bound on the gap of `exploit` */
    bool settled;       /* no missing loss could still make a difference */
} tarry__phased_verdict;

/* How a phase is planned and judged. */
typedef struct {
    bool certifies; /* verdicts have a certificate, and `certify` answers */
    tarry__phased_counting counting;
    double patience; /* brackets up to this share of eps are not waited for */
    /* Arms, weights and N(b) of a plan that has its active arms. */
    tarry_status (*plan)(const tarry__phased_task *task,
                         tarry__phased_plan *plan);
    /* N and all N(b) once more, for the task's accuracy and horizon. */
    void (*measure)(const tarry__phased_task *task, tarry__phased_plan *plan);
    /* Which active arms are kept; fills their estimates unless NULL. */
    tarry_status (*judge)(const tarry__phased *phased,
                          tarry_estimate *estimates,
                          tarry__phased_verdict *verdict);
    /* Whether enough losses are there for the phase to end. */
    tarry_status (*has_enough)(tarry__phased *phased, bool *enough);
} tarry__phased_rule;

extern const tarry__phased_rule tarry__phased_paper, tarry__phased_tight_full,
    tarry__phased_tight_bracketed, tarry__phased_tight_guided;

/* What users can say about the phases. */
typedef struct tarry__phased_choices {
    uint32_t tight;       /* 1: constants=tight, 0: constants=paper */
    uint32_t regret;      /* 1: design=regret, 0: design=near */
    uint32_t cuts;        /* 1: cuts=always, 0: cuts=phases */
    uint32_t nonnegative; /* 1: losses=nonnegative, 0: losses=signed */
    uint32_t guided;      /* 1: a guide is named, 0: none */
    double width;         /* factor of the widths; the promise needs 1 */
    double tolerance;     /* singular values below this share count as 0 */
    double share;         /* most plays of the guide per planned play */
    double confidence;    /* of the promise, for ever; 0: as the problem says */
} tarry__phased_choices;

/* What sets an algorithm apart; tarry__policy_type's `rule` points to it. */
struct tarry__phased_algorithm {
    bool linear;  /* arms have features; else each is learned for itself */
    bool per_arm; /* the quota is that of each arm, not of all together */
    bool drawn;   /* by itself it draws its plays from the plan's weights */
    bool in_turn; /* by itself it plays the plan's arms in turn */
    bool designated_only; /* only the first N(b) plays of arm b count */
    double cut;           /* keep a iff lower(a) - min upper <= cut * eps */
    tarry_status (*lay)(const tarry__phased_task *task,
                        tarry__phased_plan *plan);
    /* N by the paper, the smallest weight of the plan being given. */
    double (*quota)(const tarry__phased_task *task, double min_weight);
    /* The share of N(b) that must have arrived, by the paper. */
    double (*share)(const tarry__phased_task *task);
    /* The arm of a round, by the algorithm alone. */
    tarry_status (*choose)(tarry__phased *phased, uint64_t round, size_t *arm);
    /* By constants (0: the paper's, 1: tight) and guide (0: none, 1: one). */
    const tarry__phased_rule *rule[2][2];
    /* Reads its settings: one of the functions tarry__phased_read_... */
    tarry_status (*read)(const tarry__phased_algorithm *algorithm,
                         const tarry__spec *spec,
                         struct tarry__phased_choices *choices,
                         tarry_error *error);
};

/* Who plays: see alone.c and guided.c. */
typedef struct {
    bool draws; /* plays may be drawn from the plan's weights */
    /* A new plan is in place and its first round is `round`. */
    void (*start)(tarry__phased *phased, uint64_t round);
    tarry_status (*choose)(tarry__phased *phased, uint64_t round, size_t *arm);
    /* A loss has been booked; answers what became of it in all. */
    tarry__policy_use (*observe)(tarry__phased *phased, uint64_t round,
                                 size_t arm, double loss,
                                 tarry__policy_use use);
    /* A loss that was booked is another. */
    void (*revised)(tarry__phased *phased, uint64_t round, size_t arm,
                    double old, double loss);
    /* Somebody outside has chosen the arm of this round. */
    void (*played)(tarry__phased *phased, uint64_t round, size_t arm);
    /* The play of a round is called off; `counted`: the plan wanted it, and
     * wants it again. */
    void (*cancelled)(tarry__phased *phased, uint64_t round, size_t arm,
                      bool counted);
    /* A loss is given up, or comes after all. */
    void (*expired)(tarry__phased *phased, uint64_t round, size_t arm,
                    bool gone);
    /* The arm to stay with. */
    size_t (*best)(const tarry__phased *phased);
} tarry__phased_company;

extern const tarry__phased_company tarry__phased_alone, tarry__phased_guided;

struct tarry__phased {
    const tarry__policy_problem *problem;
    const tarry__phased_algorithm *algorithm;
    const tarry__phased_rule *rule;
    const tarry__phased_company *company;
    tarry__phased_choices choices; /* what it was made with */
    double confidence; /* of the promise, for ever; 0: by the horizon */
    size_t n_known;    /* arms that the problem had when this plan was made */
    uint32_t changed;  /* 1: arms have come or gone since this plan was made */
    uint64_t ordinal;  /* shares of the failures that phases have taken */
    uint64_t tried;    /* directions that plans with the last share can cut */
    uint64_t restarts; /* how often phases have begun anew with phase 1 */
    uint64_t n_bases;  /* how often the books have got new arms */
    uint64_t phase;    /* from 1 */
    double epsilon;    /* accuracy this phase works for */
    uint64_t entered;  /* round in which this phase began */
    uint64_t phase_start;    /* first round of its plan */
    tarry__phased_plan plan; /* of this phase */
    size_t best; /* active arm with the smallest estimate of the last phase */
    size_t n_estimates;          /* n_arms once a phase has ended, else 0 */
    tarry_estimate *estimates;   /* per arm, of the last phase it was in */
    uint64_t first_phase_rounds; /* plays that phase 1 planned */
    double chance; /* probability of the last choice; negative: the guide's */
    bool keeps_books;   /* `books` are kept: they cost time in every round */
    tarry__books books; /* all plays and losses of all phases */
    size_t exploit;     /* the arm with the best certificate of a phase */
    double certificate; /* bound on the gap of `exploit` */
    tarry__guide guide; /* only in the company tarry__phased_guided */
    tarry__phased_pace pace; /* only in the company tarry__phased_guided */
};

/* ---- making plans ---------------------------------------------------------*/

/* Reads the settings of a description: those of the paper's algorithms, of
 * baselines with the paper's constants, the tolerance alone.
 * TARRY_BAD_ARGUMENT. */
tarry_status tarry__phased_read_practical(
    const tarry__phased_algorithm *algorithm, const tarry__spec *spec,
    tarry__phased_choices *choices, tarry_error *error);
tarry_status tarry__phased_read_paper(const tarry__phased_algorithm *algorithm,
                                      const tarry__spec *spec,
                                      tarry__phased_choices *choices,
                                      tarry_error *error);
tarry_status tarry__phased_read_tolerance(
    const tarry__phased_algorithm *algorithm, const tarry__spec *spec,
    tarry__phased_choices *choices, tarry_error *error);

/* The rule and the company that these settings ask for. */
const tarry__phased_rule *
tarry__phased_rule_of(const tarry__phased_algorithm *algorithm,
                      const tarry__phased_choices *choices);
const tarry__phased_company *
tarry__phased_company_of(const tarry__phased_choices *choices);

/* The task of phase 1. */
tarry__phased_task
tarry__phased_first_task(const tarry__policy_problem *problem,
                         const tarry__phased_algorithm *algorithm,
                         const tarry__phased_choices *choices);

/* Makes the plan of a task, for its active arms; one arm needs none.  After a
 * failure the plan is still to be cleared. */
tarry_status tarry__phased_plan_make(const tarry__phased_rule *rule,
                                     const tarry__phased_task *task,
                                     tarry__phased_plan *plan);

/* All arms as the active ones of an empty plan. */
tarry_status tarry__phased_plan_begin(tarry__phased_plan *plan, size_t n_arms);

/* log T and log(K T), which the quotas of the paper contain; with a confidence
 * 1/T is the phase's share of 1 - confidence. */
double tarry__phased_log_t(const tarry__phased_task *task);
double tarry__phased_log_kt(const tarry__phased_task *task);

/* The quota of Algorithms 1 and 2, 16 n log(KT) / eps^2, and a share of 1. */
double tarry__phased_quota(const tarry__phased_task *task, double min_weight);
double tarry__phased_share_all(const tarry__phased_task *task);

/* Plans that are made anew (cuts=always) share the directions of one phase, K
 * each; no more further shares than this are ever taken (docs/algorithms.md,
 * "Cuts at any time"). */
enum { TARRY__PHASED_MORE_SHARES = 28 };

/* Tight constants: L = log(K M T), M = ceil(log2 T); with a confidence
 * log(2 K m (m + 1) / (1 - confidence)) for the m-th share; and N = 2 g L /
 * eps^2.  `replans`: phases may be planned anew; then M counts the further
 * shares twice. */
double tarry__phased_tight_log(const tarry__policy_problem *problem,
                               double confidence, uint64_t ordinal,
                               bool replans);
double tarry__phased_tight_quota(double g, double L, double epsilon);

/* Doubles of scratch in which tight constants judge a phase. */
size_t tarry__phased_scratch_size(size_t dim, size_t n_entries,
                                  size_t n_active);

/* design=regret: N(b) of the active arms, in their order, given the near design
 * as plan, with no more than r(r+1)/2 of them above 0.  Not better: nothing is
 * known yet, or it needs more than `most` plays. */
tarry_status tarry__phased_regret_plan(const tarry__phased_task *task,
                                       const tarry__phased_plan *near,
                                       double most, double *N, bool *better);

/* ---- phases ---------------------------------------------------------------*/

/* Estimates, cuts, and starts the next phase, whose first round is `round`.
 * On failure nothing has changed. */
tarry_status tarry__phased_advance(tarry__phased *phased, uint64_t round);

/* Whether an active arm may no longer be chosen. */
bool tarry__phased_has_lost_one(const tarry__phased *ph);

/* Begins anew with phase 1 after arms have come or gone.  If an active arm has
 * gone, those that were cut may have been cut because of it: all that are
 * available are active; else the active ones and the new; less those that all
 * data together rule out.  On failure nothing has changed. */
tarry_status tarry__phased_restart(tarry__phased *phased, uint64_t round);

/* The new plan takes the place of the old. */
void tarry__phased_adopt(tarry__phased *phased, tarry__phased_plan *next,
                         uint64_t round);

/* The task of this phase, if it were planned now. */
tarry__phased_task tarry__phased_task_now(const tarry__phased *phased);

bool tarry__phased_is_active(const tarry__phased *phased, size_t arm);

/* cuts=always: cuts what all data together rule out (cut.c). */
tarry_status tarry__phased_cut(tarry__phased *phased, uint64_t round);

/* The bound of books.h for the active arms, and its arm; and for those of
 * another plan, with a confidence and a number of changes to come. */
void tarry__phased_books_bound(const tarry__phased *phased, size_t *arm,
                               double *gap);
void tarry__phased_books_bound_of(const tarry__phased *phased,
                                  double confidence, uint64_t n_bases,
                                  const tarry__phased_plan *plan, size_t *arm,
                                  double *gap);

/* Plans the same phase anew from `round` on, with what is known by now, for
 * the active arms that stay; NULL: all, and the phase begins there.  On failure
 * nothing has changed. */
tarry_status tarry__phased_replan(tarry__phased *phased, uint64_t round,
                                  bool (*stays)(const tarry__phased *phased,
                                                size_t i));

/* Whether every entry of the plan has what it needs. */
tarry_status tarry__phased_is_full(tarry__phased *phased, bool *enough);

/* The plays of Algorithms 3 and 4. */
tarry_status tarry__phased_choose_designated(tarry__phased *phased,
                                             uint64_t round, size_t *arm);

/* By the paper: lower(a) - min_b upper(b) <= cut eps. */
tarry_status tarry__phased_paper_plan(const tarry__phased_task *task,
                                      tarry__phased_plan *plan);
void tarry__phased_paper_measure(const tarry__phased_task *task,
                                 tarry__phased_plan *plan);
tarry_status tarry__phased_paper_judge(const tarry__phased *phased,
                                       tarry_estimate *estimates,
                                       tarry__phased_verdict *verdict);

/* ---- for tarry__policy_type -----------------------------------------------*/

extern const tarry_setting tarry__phased_settings[];
extern const tarry_setting tarry__phased_paper_settings[]; /* for baselines */

tarry_status tarry__phased_init(void *state, const tarry__policy_type *type,
                                const tarry__policy_problem *problem,
                                const tarry__spec *spec, tarry_error *error);
tarry_status tarry__phased_choose(void *state, uint64_t round, size_t *arm);
tarry__policy_use tarry__phased_observe(void *state, uint64_t round, size_t arm,
                                        double loss);
void tarry__phased_revise(void *state, uint64_t round, size_t arm, double old,
                          double loss);
tarry_status tarry__phased_cancel(void *state, uint64_t round, size_t arm);
void tarry__phased_expire(void *state, uint64_t round, size_t arm, bool gone);
double tarry__phased_probability(void *state, uint64_t round, size_t arm);
tarry_status tarry__phased_reserve(void *state, size_t n_arms);
tarry_status tarry__phased_rearranged(void *state);
bool tarry__phased_is_late(const void *state, uint64_t round);
void tarry__phased_played(void *state, uint64_t round, size_t arm);
const uint64_t *tarry__phased_phase(const void *state);
void tarry__phased_status(const void *state, tarry_policy_status *status);
tarry_status tarry__phased_certify(const void *state, size_t *arm, double *gap);
void tarry__phased_archive(void *state, const tarry__policy_type *type,
                           const tarry__policy_problem *problem,
                           tarry__archive *a);
void tarry__phased_clear(void *state);

/* What all records of this folder have in common. */
#define TARRY__PHASED_SHARED                                                   \
    .init = tarry__phased_init, .choose = tarry__phased_choose,                \
    .observe = tarry__phased_observe, .is_late = tarry__phased_is_late,        \
    .reserve = tarry__phased_reserve, .rearranged = tarry__phased_rearranged,  \
    .probability = tarry__phased_probability, .cancel = tarry__phased_cancel,  \
    .expire = tarry__phased_expire, .phase = tarry__phased_phase,              \
    .status = tarry__phased_status, .archive = tarry__phased_archive,          \
    .clear = tarry__phased_clear

#endif
