/* guide.h - a policy inside another: it chooses among the arms that are still
 * active, and learns from every loss. */
#ifndef TARRY_POLICY_PHASED_GUIDE_H
#define TARRY_POLICY_PHASED_GUIDE_H

#include "policy/policy_type.h"

typedef struct {
    const tarry__policy_type *type; /* NULL: there is none */
    tarry__policy_problem *problem; /* as the guide sees it: the arms that may
                                       be chosen are the active ones */
    void *state;                    /* the guide's own */
} tarry__guide;

/* When plays are forced, see guided.c. */
typedef struct {
    uint32_t idle;    /* 1: nothing is forced, the phase would end too late */
    uint32_t prelude; /* 1: the guide plays alone until there is a plan */
    uint64_t start;   /* round from which plays of the plan are counted */
    uint64_t made;    /* plays since `start` that the plan had asked for */
    uint64_t left;    /* plays that the plan still asks for */
} tarry__phased_pace;

/* Whether a description names a guide: "none" and "" do not. */
bool tarry__guide_is_named(const char *text);
bool tarry__guide_is_open(const tarry__guide *guide);

/* Opens the guide of a description in which / stands for : and , ("lints/v=2").
 */
tarry_status tarry__guide_open(tarry__guide *guide,
                               const tarry__policy_problem *problem,
                               const char *text, tarry_error *error);
void tarry__guide_clear(tarry__guide *guide);

/* From now on only these arms; `active` must live until the next call. */
void tarry__guide_narrow(tarry__guide *guide, const uint32_t *active,
                         size_t n_active);

/* Its choice, or `otherwise` if it insists on an arm that is not active. */
tarry_status tarry__guide_choose(tarry__guide *guide, uint64_t round,
                                 size_t otherwise, size_t *arm);

/* The arm it would stay with, or `otherwise` as above. */
size_t tarry__guide_best(const tarry__guide *guide, size_t otherwise);

/* What the guide makes of outcomes that are not reported. */
void tarry__guide_report(const tarry__guide *guide,
                         tarry_policy_status *status);

/* A play that was not its choice, and a loss, of whichever play. */
void tarry__guide_played(tarry__guide *guide, uint64_t round, size_t arm);
void tarry__guide_observe(tarry__guide *guide, uint64_t round, size_t arm,
                          double loss);

void tarry__guide_revise(tarry__guide *guide, uint64_t round, size_t arm,
                         double old, double loss);

/* The probability of its last choice. */
double tarry__guide_probability(tarry__guide *guide, uint64_t round,
                                size_t arm);

/* Room for so many arms; the problem has other arms, or the active arms are
 * others.  TARRY_BAD_ARGUMENT: the guide's arms cannot change. */
tarry_status tarry__guide_reserve(tarry__guide *guide, size_t n_arms);
tarry_status tarry__guide_rearrange(tarry__guide *guide,
                                    const tarry__policy_problem *problem);

/* A play that is called off, and a loss that is given up or comes after all.
 * Guides that need memory for it go without. */
void tarry__guide_cancel(tarry__guide *guide, uint64_t round, size_t arm);
void tarry__guide_expire(tarry__guide *guide, uint64_t round, size_t arm,
                         bool gone);

/* The active arms must be there already. */
void tarry__guide_archive(tarry__guide *guide,
                          const tarry__policy_problem *problem,
                          const uint32_t *active, size_t n_active,
                          tarry__archive *a);

#endif
