/* moves.c - see moves.h. */
#include "session/moves.h"

bool tarry__moves_is_late(tarry_status status)
{
    return status == TARRY_LATE || status == TARRY_EXPIRED;
}

bool tarry__moves_is_taken(tarry_status status)
{
    return status == TARRY_OK || status == TARRY_CORRECTED ||
           tarry__moves_is_late(status);
}

bool tarry__moves_has_arm(tarry_policy *p, size_t arm)
{
    tarry_policy_status s;
    tarry_policy_get_status(p, &s);
    if (s.available == NULL)
        return arm < s.n_arms;
    size_t i = 0;
    while (i < s.n_available && s.available[i] != arm)
        i++;
    return i < s.n_available;
}
