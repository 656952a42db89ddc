/* audit.h - what a phase of the paper's four algorithms has done, judged from
 * outside: by the world's true means and the paper's formulas, not by what the
 * policy says of itself, but for its estimates and its plan. */
#ifndef TARRY_PAPER_AUDIT_H
#define TARRY_PAPER_AUDIT_H

#include "env/world.h"
#include "tarry/policy.h"

enum { TARRY__AUDIT_PHASES = 3 };

/* Of a finished phase; eps is its accuracy. */
typedef struct {
    double quota;     /* N_m of the paper's formula */
    double plan;      /* losses it planned to count, over those N_m asks for */
    double error;     /* squared errors of estimates over those that N_m losses
                         give on average: 1 if all is well */
    double off;       /* the farthest a true mean lies outside the bracket, over
                         eps; at most 1 */
    double widest;    /* the widest bracket, over eps */
    double gap;       /* the largest gap of an arm that was kept, over eps */
    double misjudged; /* arms whose keeping contradicts the rule of the cut */
    double length;    /* rounds; filled in by who counts them */
    double ended;     /* 1; 0: there was no such phase */
} tarry__audit_phase;

typedef struct {
    tarry__world *world;
    int algorithm; /* 1 to 4; 0: none of them, nothing is judged */
    double horizon;
    size_t n_active, n_plan; /* of the phase that is being played */
    uint32_t *active;
    tarry_plan_entry *plan;
    double epsilon;
    size_t n_phases;
    tarry__audit_phase phase[TARRY__AUDIT_PHASES];
    tarry_status failed;
} tarry__audit;

/* The world is one of its own, with the same instance. */
tarry_status tarry__audit_open(tarry__audit *audit, const char *instance,
                               const char *loss, const char *policy,
                               uint64_t horizon, uint64_t seed, uint32_t run,
                               tarry_error *error);
void tarry__audit_close(tarry__audit *audit);

/* When a phase has begun, and when it has ended: what the policy knows. */
void tarry__audit_began(tarry__audit *audit, const tarry_policy_status *status);
void tarry__audit_ended(tarry__audit *audit, const tarry_policy_status *status);

/* Proven of survivors and brackets, over eps of the phase: docs/bounds.md. */
double tarry__audit_largest_gap(int algorithm);
double tarry__audit_widest(int algorithm);

#endif
