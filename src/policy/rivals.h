/* rivals.h - the policies of others that the paper's are measured against. */
#ifndef TARRY_RIVALS_H
#define TARRY_RIVALS_H

#include "policy_type.h"

extern const tarry__policy_type tarry__linucb, tarry__linucb_inflated,
    tarry__otf_linucb, tarry__lints, tarry__otf_lints, tarry__greedy,
    tarry__uniform, tarry__oracle, tarry__phased_nodelay, tarry__spanner,
    tarry__foresight;

#endif
