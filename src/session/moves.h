/* moves.h - what a session asks of a policy: one call per event. */
#ifndef TARRY_SESSION_MOVES_H
#define TARRY_SESSION_MOVES_H

#include <stdbool.h>
#include "tarry/policy.h"

tarry_status tarry__move_choose(tarry_policy *p, uint64_t *round, size_t *arm);
tarry_status tarry__move_probability(tarry_policy *p, double *probability);
tarry_status tarry__move_observe(tarry_policy *p, uint64_t round, double loss);
tarry_status tarry__move_cancel(tarry_policy *p, uint64_t round);
tarry_status tarry__move_expire(tarry_policy *p, uint64_t round);
tarry_status tarry__move_admit(tarry_policy *p, const double *features,
                               size_t *arm);
tarry_status tarry__move_withdraw(tarry_policy *p, size_t arm);

/* A loss was taken in, but it came late. */
bool tarry__move_is_late(tarry_status status);

/* Whether an arm is there and has not been withdrawn. */
bool tarry__move_has_arm(tarry_policy *p, size_t arm);

/* Why a move was refused. */
const char *tarry__move_refusal(tarry_status status);

#endif
