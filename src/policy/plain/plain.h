/* plain.h - policies that learn each arm by itself, or nothing. */
#ifndef TARRY_POLICY_PLAIN_PLAIN_H
#define TARRY_POLICY_PLAIN_PLAIN_H

#include "policy/policy_type.h"

extern const tarry__policy_type tarry__plain_ucb_delayed,
    tarry__plain_se_delayed, tarry__plain_opse, tarry__plain_payoff_mab,
    tarry__plain_uniform, tarry__plain_oracle, tarry__plain_first_answer,
    tarry__plain_pse, tarry__plain_sapo_delayed, tarry__plain_payoff_doubling;

#endif
