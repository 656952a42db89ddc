/* policy_type.h - what one algorithm supplies.  policy.c has already checked
 * each call, knows the open rounds, and maps losses to [-1, 1]. */
#ifndef TARRY_POLICY_POLICY_TYPE_H
#define TARRY_POLICY_POLICY_TYPE_H

#include <stdbool.h>
#include "policy/archive.h"
#include "policy/default.h"
#include "base/spec.h"
#include "tarry/policy.h"

/* Who sets the delays, as far as somebody knows. */
typedef enum {
    TARRY__POLICY_ANY_DELAYS,   /* nothing is known: losses may, too */
    TARRY__POLICY_BY_CHANCE,    /* chance, or an adversary who treats all arms
                                   alike; the losses do not matter */
    TARRY__POLICY_BY_ADVERSARY, /* an adversary who may single out arms */
    TARRY__POLICY_AS_PAYOFF,    /* the wait is the loss */
} tarry__policy_delays;

/* The declared rule of unreported outcomes: after so many rounds without a
 * report the outcome is `loss`, and `observe` is called with it. */
typedef struct {
    uint32_t declared; /* 0: an unreported outcome means nothing */
    uint32_t final;    /* 0: a later report replaces it by `revise` */
    double loss;       /* in [-1, 1] */
    uint64_t after;    /* rounds; UINT64_MAX: a time, unknown in rounds */
} tarry__policy_default;

/* The problem as the algorithm sees it; lives as long as the policy. */
typedef struct {
    size_t n_arms, dim;
    double *arms;
    uint64_t horizon;  /* after it nobody is asked */
    double confidence; /* what is promised holds for ever with this
                          probability; 0: until the horizon T, with 1 - 1/T */
    uint64_t seed;
    uint32_t run;
    const double *means;    /* per arm; NULL outside simulations */
    const uint32_t *active; /* increasing: the arms that may be chosen, of a
                               guide (guide.h) or since arms have been
                               withdrawn; NULL: all */
    size_t n_active;        /* how many these are; 0: all */
    tarry__policy_default default_outcome;
} tarry__policy_problem;

/* The probability with which promises may be broken. */
static inline double tarry__policy_failure(const tarry__policy_problem *p)
{
    return p->confidence > 0 ? 1 - p->confidence : 1 / (double)p->horizon;
}

/* How many arms may be chosen, and the i-th of them. */
static inline size_t tarry__policy_n_choices(const tarry__policy_problem *p)
{
    return p->active != NULL ? p->n_active : p->n_arms;
}

static inline size_t tarry__policy_choice(const tarry__policy_problem *p,
                                          size_t i)
{
    return p->active != NULL ? p->active[i] : i;
}

static inline bool tarry__policy_may_choose(const tarry__policy_problem *p,
                                            size_t arm)
{
    size_t low = 0, high = tarry__policy_n_choices(p);
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (tarry__policy_choice(p, middle) < arm)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tarry__policy_n_choices(p) &&
           tarry__policy_choice(p, low) == arm;
}

/* Streams of the policies' own coins (see random.h); worlds start at 16. */
enum {
    TARRY__POLICY_STREAM_COINS = 0,
    TARRY__POLICY_STREAM_NORMALS = 1,
    TARRY__POLICY_STREAM_OTHERS = 2, /* draws that might have been */
    TARRY__POLICY_STREAM_SHARES = 3  /* for shares that users set */
};

/* What became of a loss. */
typedef enum {
    TARRY__POLICY_USED,
    TARRY__POLICY_IGNORED,
    TARRY__POLICY_LATE
} tarry__policy_use;

typedef struct tarry__policy_type {
    const char *name;    /* as users type it: "phased-stochastic" */
    const char *source;  /* "Algorithm 1", or the baseline's reference */
    const char *summary; /* one line: the delay model it is for */
    bool plain;          /* a plain MAB: the arms' features are ignored */
    bool any_delays;     /* it allows for losses that set their own delays */
    bool costly;         /* a round takes a time of the order of K n^2 */
    const tarry_setting *settings;
    /* The description that this name stands for; NULL: it is a policy itself,
     * and what follows is filled. */
    const char *(*stands_for)(tarry__policy_delays delays);
    bool needs_means; /* only for simulations; tarry_policy_name skips it */
    const void *rule; /* what sets it apart from others of its family */
    size_t state_size;
    tarry_status (*init)(void *state, const struct tarry__policy_type *type,
                         const tarry__policy_problem *problem,
                         const tarry__spec *spec, tarry_error *error);
    /* The arm of round `round` = 1, 2, ...; on failure nothing has changed. */
    tarry_status (*choose)(void *state, uint64_t round, size_t *arm);
    tarry__policy_use (*observe)(void *state, uint64_t round, size_t arm,
                                 double loss);
    /* The loss of this round, which was observed as `old`, is `loss`: the state
     * is as if that had been observed.  Called in the order of the other calls,
     * between two choices like `observe`.  NULL: this policy cannot. */
    void (*revise)(void *state, uint64_t round, size_t arm, double old,
                   double loss);
    /* Whether `observe` would call a loss of this round late, until the next
     * choice; NULL: never. */
    bool (*is_late)(const void *state, uint64_t round);
    /* The play of this round was never made: it is as if it had not been
     * chosen, and what it was planned for is planned again.  On failure nothing
     * has changed.  NULL: plays whose loss does not come leave no trace. */
    tarry_status (*cancel)(void *state, uint64_t round, size_t arm);
    /* The loss of this round is given up (`gone`), or is about to be observed
     * after all.  NULL: nothing is waited for. */
    void (*expire)(void *state, uint64_t round, size_t arm, bool gone);
    /* The probability with which `choose` picked this arm in the last round it
     * was asked for, given all it knew; where that of the arm it chose is below
     * 1, also of every other arm.  NULL: 1. */
    double (*probability)(void *state, uint64_t round, size_t arm);
    /* Where the state keeps the number of its phase; NULL: it has none. */
    const uint64_t *(*phase)(const void *state);
    /* Fills the fields that policy.c does not know. */
    void (*status)(const void *state, tarry_policy_status *status);
    /* Saves the state, or fills a cleared one. */
    void (*archive)(void *state, const struct tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a);
    void (*clear)(void *state); /* also of a half-filled state */
    /* Somebody else has chosen the arm of this round, in place of `choose`;
     * NULL: it need not know. */
    void (*played)(void *state, uint64_t round, size_t arm);
    /* Makes room for so many arms, of which there are fewer yet.  NULL: the
     * arms of this policy cannot change. */
    tarry_status (*reserve)(void *state, size_t n_arms);
    /* The problem has another arm (the last), after `reserve`, and perhaps one
     * more feature (the last), which is 0 for all other arms; or another list
     * of arms that may be chosen, which cannot fail.  On failure nothing has
     * changed, and the problem will be as it was. */
    tarry_status (*rearranged)(void *state);
    /* problem->active has lost some arms; NULL: it does not look there. */
    void (*narrowed)(void *state);
    /* The arm it would exploit, and a bound on its gap that holds with
     * probability 1 - 1/T; NULL: it has none. */
    tarry_status (*certify)(const void *state, size_t *arm, double *gap);
} tarry__policy_type;

/* All of them; NULL ends the list. */
extern const tarry__policy_type *const tarry__policy_types[];
extern const tarry__policy_type tarry__policy_recommended;

/* The arm of a round that is outstanding, given up or not, or has the default
 * outcome; false: of any other. */
bool tarry__policy_open_arm(const tarry_policy *policy, uint64_t round,
                            size_t *arm);

/* How many rounds up to this one are outstanding, given up or not; the more
 * quickly, the nearer it is to that of the call before. */
uint64_t tarry__policy_n_open(tarry_policy *policy, uint64_t last);

/* The oldest round that is outstanding and not given up; 0: none. */
uint64_t tarry__policy_oldest(tarry_policy *policy);

/* Whether a round is outstanding and not given up; the last round, and how many
 * are outstanding: at no cost. */
bool tarry__policy_is_pending(const tarry_policy *policy, uint64_t round);
uint64_t tarry__policy_round(const tarry_policy *policy);
uint64_t tarry__policy_n_pending(const tarry_policy *policy);

/* `silent_since` of its status, at little cost; 0 too if a loss was reported
 * since the last choice. */
uint64_t tarry__policy_silent_since(const tarry_policy *policy);

/* Whether a round has the default outcome and no report; the round that will
 * get it before the next choice, by a rule of rounds, if nothing else becomes
 * of it, or 0; and the rule. */
bool tarry__policy_has_default(const tarry_policy *policy, uint64_t round);
uint64_t tarry__policy_due_default(const tarry_policy *policy);
const tarry__default_rule *tarry__policy_rule(const tarry_policy *policy);

/* Whether a policy, of that name to users, can follow a rule: the value is in
 * the range, and corrections can be taken.  TARRY_BAD_ARGUMENT. */
tarry_status tarry__policy_check_default(const tarry__policy_type *type,
                                         const char *name,
                                         const tarry__default_rule *rule,
                                         double low, double high,
                                         tarry_error *error);

/* Whether these arms can be used: TARRY_OK, TARRY_NOT_FINITE or
 * TARRY_BAD_ARGUMENT: too small or large. */
tarry_status tarry__policy_check_arms(const double *arms, size_t n_arms,
                                      size_t dim, tarry_error *error);

/* Whether no two of them differ by rounding alone: TARRY_OK, TARRY_NO_MEMORY or
 * TARRY_BAD_ARGUMENT. */
tarry_status tarry__policy_check_distinct(const double *arms, size_t n_arms,
                                          size_t dim, tarry_error *error);

/* Features of an arm as the user gives them, without a constant that was
 * added. */
size_t tarry__policy_dim(const tarry_policy *policy);

/* Its arms among others; lives as long as the policy. */
const tarry__policy_problem *
tarry__policy_problem_of(const tarry_policy *policy);

/* Whether it plays on after its horizon. */
bool tarry__policy_goes_beyond(const tarry_policy *policy);

/* The type of a name, or NULL. */
const tarry__policy_type *tarry__policy_type_find(const char *name);

/* ---- descriptions ---------------------------------------------------------*/

/* Settings that every policy takes, whatever its own are: what is done around
 * it with losses and choices. */
enum { TARRY__POLICY_MOST_CAPS = 8 };

typedef struct {
    double floor;   /* least share of each arm that may be chosen */
    double control; /* share of control_arm; 0: there is none */
    double cap[TARRY__POLICY_MOST_CAPS]; /* most shares of the arms cap_arm */
    uint32_t cap_arm[TARRY__POLICY_MOST_CAPS];
    uint32_t control_arm, n_caps;
    uint32_t no_intercept;    /* 1: intercept=no, 0: intercept=auto */
    uint32_t unused;          /* fills the last word */
    tarry__default_rule rule; /* default_outcome */
} tarry__policy_edge;

static inline bool tarry__policy_has_shares(const tarry__policy_edge *e)
{
    return e->floor > 0 || e->control > 0 || e->n_caps > 0;
}

extern const tarry_setting tarry__policy_edge_settings[];

/* Takes the settings of the edge out of a spec that is not yet checked.
 * TARRY_BAD_INPUT. */
tarry_status tarry__policy_edge_read(tarry__spec *spec,
                                     tarry__policy_edge *edge,
                                     tarry_error *error);

/* Whether one of them is given and says other than its default. */
bool tarry__policy_edge_is_set(const tarry__policy_edge *edge);

/* A policy as somebody described it, name:key=value,... */
typedef struct {
    const tarry__policy_type *type;
    tarry__spec spec; /* its settings: known keys, each once */
    tarry__policy_edge edge;
} tarry__policy_description;

/* The one place where descriptions are read.  `more` has further settings,
 * "key=value,..."; NULL for none.  A name that stands for another description
 * is replaced by it, as fits the delays.  Values are looked at when the policy
 * is opened.  After success the caller ends it with
 * tarry__policy_description_clear.  TARRY_BAD_ARGUMENT, TARRY_NO_MEMORY. */
tarry_status tarry__policy_read(const char *text, const char *more,
                                tarry__policy_delays delays,
                                tarry__policy_description *out,
                                tarry_error *error);
void tarry__policy_description_clear(tarry__policy_description *description);

/* The description as one text; the caller ends it with tarry__base_free.  NULL:
 * out of memory. */
char *tarry__policy_description_print(const tarry__policy_description *d);

/* Makes the state of a described policy; the problem must live as long as it.
 * The caller ends *state with tarry__policy_close; on failure it is NULL. */
tarry_status tarry__policy_open(const tarry__policy_description *description,
                                const tarry__policy_problem *problem,
                                void **state, tarry_error *error);
void tarry__policy_close(const tarry__policy_type *type, void *state);

#endif
