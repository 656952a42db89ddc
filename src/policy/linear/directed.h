/* directed.h - policies that draw arms from weights which they compute anew
 * now and then: what the baselines of information-directed sampling and of
 * minimum divergence share.
 *
 * Weights are computed anew when there is one per cent more of plays and losses
 * together; computing them in every round would cost ten times as much and
 * changes little.  Two ridges: `seen` has the losses that have arrived, `asked`
 * counts all plays, so that outstanding ones are not asked for again. */
#ifndef TARRY_POLICY_LINEAR_DIRECTED_H
#define TARRY_POLICY_LINEAR_DIRECTED_H

#include "policy/coins.h"
#include "policy/linear/ridge.h"

typedef struct {
    const tarry__policy_problem *problem;
    tarry__ridge seen, asked;
    double alpha;          /* a setting of all: a factor of a width */
    double share[2];       /* settings of a rule; archived */
    double *weights, *sum; /* per arm that may be chosen; running sums */
    double *mean, *cost, *info;
    double *work; /* whatever a policy needs; `room` doubles */
    size_t room;
    uint64_t events, renew_at;
    uint64_t other; /* 0: draws are those of the round, else others that might
                       have been */
    tarry__coins coins;
} tarry__directed;

/* A policy's rule, which type->rule points to. */
typedef struct {
    size_t (*room)(size_t dim, size_t n_arms); /* of work; NULL: none */
    /* Reads the rule's own settings into `share`; NULL: it has none. */
    tarry_status (*read)(tarry__directed *directed, const tarry__spec *spec,
                         tarry_error *error);
    /* What never changes, into work; NULL: nothing. */
    tarry_status (*prepare)(tarry__directed *directed);
    /* Fills `weights`, which are zero, for this round. */
    void (*weigh)(tarry__directed *directed, uint64_t round);
    bool draws; /* by draws, so that chance has a part in the weights too */
} tarry__directed_rule;

/* The mixture of two arms with the least (expected cost)^2 / information, one
 * of them being that with the least cost (Russo and Van Roy 2014). */
void tarry__directed_mix(tarry__directed *directed);

static inline const double *tarry__directed_arm(const tarry__directed *d,
                                                size_t i)
{
    return d->problem->arms +
           tarry__policy_choice(d->problem, i) * d->problem->dim;
}

/* These fit tarry__policy_type, if its state is a pointer to this rule and the
 * record: see ids.c. */
typedef struct {
    const tarry__directed_rule *rule;
    tarry__directed directed;
} tarry__directed_state;

tarry_status tarry__directed_init(void *state, const tarry__policy_type *type,
                                  const tarry__policy_problem *problem,
                                  const tarry__spec *spec, tarry_error *error);
tarry_status tarry__directed_choose(void *state, uint64_t round, size_t *arm);
void tarry__directed_played(void *state, uint64_t round, size_t arm);
tarry__policy_use tarry__directed_observe(void *state, uint64_t round,
                                          size_t arm, double loss);
tarry_status tarry__directed_cancel(void *state, uint64_t round, size_t arm);
double tarry__directed_probability(void *state, uint64_t round, size_t arm);
tarry_status tarry__directed_reserve(void *state, size_t n_arms);
tarry_status tarry__directed_rearranged(void *state);
void tarry__directed_narrowed(void *state);
void tarry__directed_status(const void *state, tarry_policy_status *status);
void tarry__directed_archive(void *state, const tarry__policy_type *type,
                             const tarry__policy_problem *problem,
                             tarry__archive *a);
void tarry__directed_clear(void *state);

#define TARRY__LINEAR_DIRECTED                                                 \
    .state_size = sizeof(tarry__directed_state), .init = tarry__directed_init, \
    .choose = tarry__directed_choose, .observe = tarry__directed_observe,      \
    .status = tarry__directed_status, .archive = tarry__directed_archive,      \
    .clear = tarry__directed_clear, .played = tarry__directed_played,          \
    .narrowed = tarry__directed_narrowed, .cancel = tarry__directed_cancel,    \
    .probability = tarry__directed_probability,                                \
    .reserve = tarry__directed_reserve,                                        \
    .rearranged = tarry__directed_rearranged

#endif
