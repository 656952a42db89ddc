/* reports.h - what status says in words of the reports of a policy's decisions.
 */
#ifndef TARRY_POLICY_REPORTS_H
#define TARRY_POLICY_REPORTS_H

#include "tarry/policy.h"

enum { TARRY__REPORTS_ROOM = 48 };

/* "flowing", "none yet" or "silent since round N". */
void tarry__reports_print(const tarry_policy_status *status,
                          char text[TARRY__REPORTS_ROOM]);

/* What to do about outcomes that are never reported; NULL: nothing, as they
 * are few or lost by chance, or a default outcome is declared.  |silence| must
 * be 0.5 or more: that one kind of outcome is missing explains the reports
 * better than chance does by 22.5 in the log-likelihood (silence.h). */
const char *tarry__reports_advice(const tarry_policy_status *status);

#endif
