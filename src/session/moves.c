/* moves.c - see moves.h. */
#include "session/moves.h"

tarry_status tarry__move_choose(tarry_policy *p, uint64_t *round, size_t *arm)
{
    return tarry_policy_choose(p, round, arm);
}

tarry_status tarry__move_probability(tarry_policy *p, double *probability)
{
    (void)p;
    *probability = 1;
    return TARRY_OK;
}

tarry_status tarry__move_observe(tarry_policy *p, uint64_t round, double loss)
{
    return tarry_policy_observe(p, round, loss);
}

bool tarry__move_is_late(tarry_status status)
{
    return status == TARRY_LATE;
}

bool tarry__move_has_arm(tarry_policy *p, size_t arm)
{
    (void)p, (void)arm;
    return true;
}

const char *tarry__move_refusal(tarry_status status)
{
    return status == TARRY_BAD_ARGUMENT ? "this policy cannot do that"
                                        : tarry_status_text(status);
}

tarry_status tarry__move_cancel(tarry_policy *p, uint64_t round)
{
    (void)p, (void)round;
    return TARRY_BAD_ARGUMENT;
}

tarry_status tarry__move_expire(tarry_policy *p, uint64_t round)
{
    (void)p, (void)round;
    return TARRY_BAD_ARGUMENT;
}

tarry_status tarry__move_admit(tarry_policy *p, const double *features,
                               size_t *arm)
{
    (void)p, (void)features, (void)arm;
    return TARRY_BAD_ARGUMENT;
}

tarry_status tarry__move_withdraw(tarry_policy *p, size_t arm)
{
    (void)p, (void)arm;
    return TARRY_BAD_ARGUMENT;
}
