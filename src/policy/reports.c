/* reports.c - see reports.h. */
#include "policy/reports.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const double SURE = 0.5; /* of |silence| */

void tarry__reports_print(const tarry_policy_status *s,
                          char text[TARRY__REPORTS_ROOM])
{
    if (s->silent_since > 0)
        snprintf(text, TARRY__REPORTS_ROOM, "silent since round %" PRIu64,
                 s->silent_since);
    else
        snprintf(text, TARRY__REPORTS_ROOM, "%s",
                 s->reported > 0 ? "flowing" : "none yet");
}

#define ADVICE(kind)                                                           \
    "declare default_outcome, or report every outcome: the " kind              \
    " seem never to be reported"

const char *tarry__reports_advice(const tarry_policy_status *s)
{
    if (s->default_outcome != NULL || !(fabs(s->silence) >= SURE))
        return NULL;
    if (s->maximize)
        return s->silence > 0 ? ADVICE("low rewards") : ADVICE("high rewards");
    return s->silence > 0 ? ADVICE("high losses") : ADVICE("low losses");
}
