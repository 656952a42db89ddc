/* own_policy.h - a policy of functions from outside, as the simulator drives
 * policies. */
#ifndef TARRY_SIM_OWN_POLICY_H
#define TARRY_SIM_OWN_POLICY_H

#include "policy/policy_type.h"
#include "tarry/experiment.h"

/* Begins a run of it.  The caller ends *state with the type's clear and
 * tarry__base_free; on failure it is NULL. */
tarry_status tarry__own_policy_open(const tarry_own_policy *own,
                                    const tarry__policy_problem *problem,
                                    const tarry__policy_type **type,
                                    void **state, tarry_error *error);

/* What one of its functions has answered that was not TARRY_OK; the error then
 * says so. */
tarry_status tarry__own_policy_failure(const void *state, tarry_error *error);

#endif
