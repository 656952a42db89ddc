/* moves.h - what a policy's answers mean to a session. */
#ifndef TARRY_SESSION_MOVES_H
#define TARRY_SESSION_MOVES_H

#include <stdbool.h>
#include "tarry/policy.h"

/* A loss was taken in, but it came late. */
bool tarry__moves_is_late(tarry_status status);

/* Whether an outcome was taken: in time, late, or in place of the default. */
bool tarry__moves_is_taken(tarry_status status);

/* Whether an arm is there and has not been withdrawn. */
bool tarry__moves_has_arm(tarry_policy *p, size_t arm);

#endif
