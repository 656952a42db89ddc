/* refusals.h - the sentences with which a session refuses: what was given, for
 * which experiment, what is allowed. */
#ifndef TARRY_SESSION_REFUSALS_H
#define TARRY_SESSION_REFUSALS_H

#include "session/session.h"

/* All of them fill `error` and answer `status`, or the status in their name. */

/* TARRY_UNKNOWN_ROUND: no decision has this id. */
tarry_status tarry__refusals_unknown(const tarry__store_experiment *e,
                                     const char *id, tarry_error *error);

/* TARRY_BAD_LOSS: an outcome out of range, or not a number. */
tarry_status tarry__refusals_range(const tarry__store_experiment *e,
                                   const char *id, double outcome,
                                   tarry_error *error);

/* TARRY_REPORTED_TWICE: another outcome was reported. */
tarry_status tarry__refusals_other(const tarry__store_experiment *e,
                                   const char *id, double reported,
                                   double outcome, tarry_error *error);

/* `why` a decision or arm cannot be changed, behind its name: "was
 * cancelled". */
tarry_status tarry__refusals_decision(const tarry__store_experiment *e,
                                      tarry_status status, const char *id,
                                      const char *why, tarry_error *error);
tarry_status tarry__refusals_arm(const tarry__store_experiment *e,
                                 tarry_status status, const char *name,
                                 const char *why, tarry_error *error);

/* Why the policy made no decision. */
tarry_status tarry__refusals_choice(const tarry__store_experiment *e,
                                    tarry_status status, tarry_error *error);

#endif
