/* guide.h - a policy inside another: it chooses among the arms that are still
 * active, and learns from every loss. */
#ifndef TARRY_POLICY_PHASED_GUIDE_H
#define TARRY_POLICY_PHASED_GUIDE_H

#include "policy/policy_type.h"

typedef struct {
    const tarry__policy_type *type; /* NULL: there is none */
    tarry__policy_problem
        *problem; /* with the active arms; of its own so that the */
    void *state;  /*   guide may keep a pointer */
} tarry__guide;

/* When plays are forced, see guided.c. */
typedef struct {
    double share;   /* c: at most so many plays of the guide per forced one */
    uint32_t idle;  /* the phase would end too late to be of use */
    uint32_t warm;  /* the plan is still to come, at round `start` */
    uint64_t start; /* first round of this sweep */
    uint64_t made;  /* plays of this sweep that had a quota */
    uint64_t left;  /* quotas still open in it */
} tarry__phased_pace;

/* Opens the guide of a description in which / stands for : and , ("lints/v=2");
 * "none" and "" open none. */
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

/* A play that was not its choice, and a loss, of whichever play. */
void tarry__guide_played(tarry__guide *guide, uint64_t round, size_t arm);
void tarry__guide_observe(tarry__guide *guide, uint64_t round, size_t arm,
                          double loss);

/* The active arms must be there already. */
void tarry__guide_archive(tarry__guide *guide,
                          const tarry__policy_problem *problem,
                          const uint32_t *active, size_t n_active,
                          tarry__archive *a);

#endif
