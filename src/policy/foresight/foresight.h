/* foresight.h - the policy that learns from what has not arrived. */
#ifndef TARRY_POLICY_FORESIGHT_FORESIGHT_H
#define TARRY_POLICY_FORESIGHT_FORESIGHT_H

#include "policy/policy_type.h"

extern const tarry__policy_type tarry__foresight;

#endif
