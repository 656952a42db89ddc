/* policy.h - choose an arm now, learn from its loss whenever it comes back.
 *
 * A policy is a deterministic machine: the same name, parameters and sequence
 * of choose and observe calls give the same choices, also after save and
 * restore.  Use each policy from one thread at a time; policies are
 * independent. */
#ifndef TARRY_POLICY_H
#define TARRY_POLICY_H

#include <stddef.h>
#include <stdint.h>
#include "tarry/setting.h"
#include "tarry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NULL where something is needed is TARRY_BAD_ARGUMENT everywhere. */
typedef struct tarry_policy tarry_policy;

/* What a policy is made for; tarry_policy_defaults() gives one to fill. */
typedef struct {
    size_t n_arms, dim;   /* K and n in the paper; n_arms at most 2^24 */
    const double *arms;   /* arm k is arms[k*dim .. k*dim + dim-1]; copied.
                             Its largest entry: 0 or from 1e-100 to 1e100 */
    uint64_t horizon;     /* T, in rounds; 2 to 2^39 - 1; 0: no end, then there
                             must be a confidence */
    double confidence;    /* what is promised holds for ever with this
                             probability, from 0.5 to below 1, whatever the
                             horizon; 0: until the horizon, with 1 - 1/T */
    uint64_t seed;        /* of the policy's own coins, with */
    uint32_t run;         /*   the number of the run in an experiment */
    double low, high;     /* losses are reported in [low, high]; default -1, 1.
                             Their means are affine in the arms' features: in
                             a range that is not around 0 each arm gets a
                             constant as one more feature, unless the features
                             make one up (some sum of them is 1 for all arms).
                             With the setting intercept=no they are linear in
                             the features as they are, in the user's own unit */
    int maximize;         /* not 0: what is reported are rewards */
    int beyond_horizon;   /* not 0: after T rounds the best arm is played on */
    const char *settings; /* more of them, "key=value,key=value"; or NULL */
    /* "VALUE/AFTER" or "VALUE/AFTER/final": a choice for which nothing was
     * reported within AFTER has the outcome VALUE, in the unit of what is
     * reported.  AFTER is in rounds (500r), a time (7d, 12h, 90s) or 0.  Rounds
     * are counted by the policy; times by the caller, who tells by
     * tarry_policy_apply_default.  A report that comes after AFTER replaces the
     * default, or with `final` is not counted.  Policies that cannot take
     * corrections need `final`.  NULL: a missing outcome means nothing. */
    const char *default_outcome;
} tarry_policy_params;

TARRY_API tarry_policy_params tarry_policy_defaults(void);

/* The name of policy i = 0, 1, ...; NULL after the last. */
TARRY_API const char *tarry_policy_name(size_t i);

/* What a policy says of itself; all of it lives for ever. */
typedef struct {
    const char *name;
    const char *source;            /* "Algorithm 1", or who published it */
    const char *summary;           /* which delays it is for */
    int uses_features;             /* 0: each arm is learned by itself */
    const tarry_setting *settings; /* the last one has key NULL */
    const char *stands_for; /* the description that this name is short for;
                               NULL: it is a policy of its own */
} tarry_policy_info;

/* By its name; a colon may stand behind it, as in descriptions.
 * TARRY_BAD_ARGUMENT: no policy has this name. */
TARRY_API tarry_status tarry_policy_describe(const char *name,
                                             tarry_policy_info *info);

/* Creates a policy from its description: its name, or name:key=value,...
 * `recommended` is a good one if nothing is known of the delays.  The caller
 * owns *out and ends it with tarry_policy_free; on failure *out is NULL and
 * `error` (may be NULL) says which parameter is at fault.
 * TARRY_BAD_ARGUMENT, TARRY_NOT_FINITE, TARRY_NO_MEMORY. */
TARRY_API tarry_status tarry_policy_create(const char *description,
                                           const tarry_policy_params *params,
                                           tarry_policy **out,
                                           tarry_error *error);
TARRY_API void tarry_policy_free(tarry_policy *policy);

/* Picks the next arm.  *round names this choice: 1, 2, 3, ...
 * TARRY_HORIZON_REACHED: T rounds have been chosen (unless beyond_horizon).
 * TARRY_NO_MEMORY: nothing has happened; calling again is fine. */
TARRY_API tarry_status tarry_policy_choose(tarry_policy *policy,
                                           uint64_t *round, size_t *arm);

/* The probability with which the arm of the last choice was chosen, given all
 * that was known: 1 where chance had no part, the design's weight where the
 * plan draws, and for Thompson sampling the share of the arm among the draw
 * that was played and TARRY_PROBABILITY_DRAWS others, from coins of their own,
 * new ones for every choice: this takes the time of as many choices.
 * `vids` takes the mean of its weights over as many; `queued` says that of its
 * base's choice.  TARRY_UNKNOWN_ROUND: nothing has been chosen since the policy
 * was made, its arms have changed or a choice was cancelled; or the horizon is
 * over.  TARRY_TARGET_NOT_MET: numbers failed, as they may in a policy restored
 * from a state that somebody made up. */
enum { TARRY_PROBABILITY_DRAWS = 300 };
TARRY_API tarry_status tarry_policy_probability(tarry_policy *policy,
                                                double *probability);

/* For choices among arms that come with each round (contextual decisions), one
 * row of features per arm.  Not there yet: refuses, TARRY_BAD_ARGUMENT, and
 * `error` says so. */
TARRY_API tarry_status tarry_policy_choose_in(tarry_policy *policy,
                                              const double *features,
                                              size_t n_arms, uint64_t *round,
                                              size_t *arm, tarry_error *error);

/* Reports the loss of an earlier choice, any time later.  What is reported
 * between two choices is counted when the second is asked for, in the order of
 * the plays: the order of the reports has no effect on anything, even if it
 * goes by the losses.
 * TARRY_OK: taken in.  TARRY_LATE: of an earlier phase, counted and otherwise
 * ignored, as the algorithm says, but for its guide, if it has one; or the
 * choice has the default outcome, which is final: not counted at all.
 * TARRY_CORRECTED: it replaces the default outcome, and what the policy
 * estimates is as if it had been reported instead.  Refused, and the policy is
 * as it was before the call: TARRY_UNKNOWN_ROUND (never chosen),
 * TARRY_REPORTED_TWICE, TARRY_BAD_LOSS (NaN, infinite or outside [low, high]),
 * TARRY_NO_MEMORY. */
TARRY_API tarry_status tarry_policy_observe(tarry_policy *policy,
                                            uint64_t round, double loss);

/* An outstanding choice. */
typedef struct {
    uint64_t round, arm;
} tarry_pending;

/* The oldest outstanding choices that were not given up, oldest first, at most
 * `most` of them: answers how many.  Takes time of the order of all that are
 * outstanding. */
TARRY_API size_t tarry_policy_pending(const tarry_policy *policy,
                                      tarry_pending *out, size_t most);

/* ---- what else may become of a choice -------------------------------------*/

/* The choice was never put into effect: nothing was shown or played, and no
 * loss will come.  It does not count as missing, and what it was planned for is
 * planned again.  Where delays must not depend on losses, cancelling must not
 * either.  Refused, and nothing has changed: TARRY_UNKNOWN_ROUND,
 * TARRY_REPORTED_TWICE (reported or cancelled before), TARRY_NO_MEMORY. */
TARRY_API tarry_status tarry_policy_cancel(tarry_policy *policy,
                                           uint64_t round);

/* The loss is taken as never coming: nobody waits for it any longer.  It stays
 * missing, and whatever it may have been is allowed for; no loss is invented in
 * its place.  Should it come all the same, observe takes it in and answers
 * TARRY_EXPIRED.  Refused: as by cancel; TARRY_EXPIRED: it was given up
 * before. */
TARRY_API tarry_status tarry_policy_expire(tarry_policy *policy,
                                           uint64_t round);

/* The choice has reached the age of the default outcome: that is its outcome
 * from now on.  For rules whose AFTER is a time; where it is in rounds, choose
 * does this by itself.  Keeps 9 to 14 bytes for each such choice until a report
 * replaces it.  Refused: as by cancel; TARRY_EXPIRED: it was given up, and its
 * outcome stays missing; TARRY_BAD_ARGUMENT: no default was declared. */
TARRY_API tarry_status tarry_policy_apply_default(tarry_policy *policy,
                                                  uint64_t round);

/* ---- arms that come and go ------------------------------------------------*/

/* A new arm with these features (dim of them, copied) may be chosen from the
 * next choice on; *arm is its number, the next one.  NULL: it has nothing in
 * common with other arms; it gets a feature of its own, 0 for all others, and
 * dim grows by 1 (not in a policy that has added a constant).  Numbers of arms
 * never change.
 *
 * The promises of a policy with phases are, since the last change, about the
 * arms that are available: its phases begin anew with the next choice, with the
 * active arms and the new one, less those that all losses so far rule out.
 * TARRY_BAD_ARGUMENT (there are 2^24 arms, this policy cannot, or the arm
 * differs from another one by rounding alone),
 * TARRY_NOT_FINITE, TARRY_NO_MEMORY: nothing has changed. */
TARRY_API tarry_status tarry_policy_admit(tarry_policy *policy,
                                          const double *features, size_t *arm);

/* This arm is never chosen again; losses of its plays still count, where they
 * tell something of other arms.  If it was active, arms that were cut because
 * of it may be good now: phases begin anew with all available ones, less those
 * that all losses so far rule out.
 * TARRY_NO_SUCH_ARM: it is not available; TARRY_BAD_ARGUMENT: it is the last
 * one, or this policy cannot; TARRY_NO_MEMORY. */
TARRY_API tarry_status tarry_policy_withdraw(tarry_policy *policy, size_t arm);

/* ---- what it knows --------------------------------------------------------*/

/* One arm of this phase's plan. */
typedef struct {
    size_t arm;
    double weight;     /* in the design */
    uint64_t target;   /* losses to count, N_m(a) */
    uint64_t observed; /* losses counted so far, |S_m(a)| */
} tarry_plan_entry;

/* What the last finished phase said of an arm, in the unit of what is reported:
 * the true value lies between, up to epsilon.  Without missing losses both are
 * equal. */
typedef struct {
    double lower, upper;
} tarry_estimate;

/* Pointers are valid until the next call that changes the policy. */
typedef struct {
    const char *name;
    uint64_t round;       /* choices made so far */
    uint64_t horizon;     /* 0: no end */
    double low, high;     /* the range of reported losses */
    int maximize;         /* not 0: what is reported are rewards */
    uint64_t phase;       /* from 1; 0 for policies without phases */
    double epsilon;       /* accuracy this phase works for; the range of losses
                             counts as [-1, 1] here */
    uint64_t phase_start; /* first round of this phase */
    size_t n_active;      /* arms that may still be best */
    const uint32_t *active; /* numbers of the active arms, increasing */
    size_t n_plan;
    const tarry_plan_entry *plan; /* arms increasing; empty with one arm left */
    size_t best;                  /* the arm it would play if it had to stop */
    uint64_t pending, pending_max; /* choices whose loss is outstanding */
    uint64_t used, ignored, late;  /* losses counted, not needed, of an earlier
                                      phase */
    uint64_t first_phase_rounds; /* plays that phase 1 needs at least; if above
                                    the horizon nothing is ever eliminated */
    size_t n_estimates;          /* n_arms after phase 1, else 0 */
    const tarry_estimate *estimates; /* per arm; of arms eliminated earlier,
                                        their last */
    size_t open_bytes;               /* memory of the table of open rounds */
    int best_known;     /* 0 before there is an estimate: `best` is then
                           only the first active arm */
    size_t n_arms, dim; /* what it was made for, without an added constant */
    const double *arms;
    uint64_t seed;
    size_t n_available;        /* arms that may be chosen */
    const uint32_t *available; /* increasing; NULL: all arms */
    double confidence; /* with this probability all that was promised holds */
    uint64_t expired;  /* choices given up, whose loss has not come after all */
    uint64_t cancelled;      /* choices called off so far */
    const char *description; /* the policy and the settings it was made with,
                                name:key=value,...; NULL: restored from a state
                                that does not tell (before version 4) */
    int beyond_horizon;      /* as it was made */
    int intercept;           /* 1: a constant was added to the features */
    const char *default_outcome;   /* the declared rule; NULL: none */
    uint64_t defaulted, corrected; /* choices that got the default outcome, and
                                      those of them whose report came later */
    /* What the guide makes of outcomes that are never reported: near 1 they
     * seem to be the worse ones, near -1 the better ones (declare a default
     * outcome, or report them), near 0 they are lost by chance, or there are
     * none. */
    double silence;
    uint64_t silent_since; /* round of the last report, if reports have stopped
                              for all arms; else 0 */
    uint64_t reported;     /* losses that were reported, and counted */
    double least_reported, most_reported; /* of these; 0 if there are none */
} tarry_policy_status;

/* What it knows, with everything counted that was reported.  Asking has no
 * effect on later choices.  It takes memory, and time of the order of the
 * state's size, if something was reported since the last choice.
 * TARRY_NO_MEMORY: *status is what was known at the last choice. */
TARRY_API tarry_status tarry_policy_get_status(tarry_policy *policy,
                                               tarry_policy_status *status);

/* The arm it would exploit now, and a bound on how much worse than the best arm
 * it is, in the unit of the reported losses.  All bounds it ever states hold
 * together with probability 1 - 1/T, or the confidence, if delays are of the
 * kind the policy is for, whenever they are asked for, also between the reports
 * of a batch: a policy for delays that do not depend on losses counts what was
 * reported since the last choice only from the next choice on.  A default
 * outcome is missing until its age is reached, and from then on the outcome,
 * until it is corrected; arms that were eliminated because of it stay
 * eliminated.  Before there is anything to say the bound is high - low.  Takes
 * time of the order n_arms dim^2, once between two changes. TARRY_BAD_ARGUMENT:
 * the policy (or its setting constants) states no bounds, or a default outcome
 * is declared, which makes delays depend on losses, and the policy is for
 * others; *arm is its best and *gap is NaN; TARRY_TARGET_NOT_MET: numbers
 * failed, *gap is NaN. */
TARRY_API tarry_status tarry_policy_certify(tarry_policy *policy, size_t *arm,
                                            double *gap);

/* ---- saving ---------------------------------------------------------------*/

/* Writes the complete state, arms included, to a file: first beside it, then
 * moved into place, so that a crash leaves the old or the new one.  Restore
 * makes a policy from it that will choose as the saved one would have.
 * TARRY_IO_ERROR, TARRY_NO_MEMORY; restore also TARRY_BAD_STATE (not such a
 * file, another version, or damaged). */
TARRY_API tarry_status tarry_policy_save(tarry_policy *policy, const char *path,
                                         tarry_error *error);
TARRY_API tarry_status tarry_policy_restore(const char *path,
                                            tarry_policy **out,
                                            tarry_error *error);

/* The same bytes in memory.  The caller ends *bytes with
 * tarry_policy_pack_free; on failure it is NULL. */
TARRY_API tarry_status tarry_policy_pack(tarry_policy *policy, void **bytes,
                                         size_t *size);
TARRY_API void tarry_policy_pack_free(void *bytes);
TARRY_API tarry_status tarry_policy_unpack(const void *bytes, size_t size,
                                           tarry_policy **out,
                                           tarry_error *error);

#ifdef __cplusplus
}
#endif
#endif
