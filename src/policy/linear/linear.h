/* linear.h - policies that fit one linear model to all arms. */
#ifndef TARRY_POLICY_LINEAR_LINEAR_H
#define TARRY_POLICY_LINEAR_LINEAR_H

#include "policy/policy_type.h"

extern const tarry__policy_type tarry__linear_linucb,
    tarry__linear_linucb_inflated, tarry__linear_otf_linucb,
    tarry__linear_lints, tarry__linear_otf_lints, tarry__linear_greedy,
    tarry__linear_ids, tarry__linear_ids_asymptotic, tarry__linear_vids,
    tarry__linear_linmed, tarry__linear_explore_commit, tarry__linear_queued;

#endif
