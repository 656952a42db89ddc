/* refusals.c - see refusals.h.  Texts of users are cut, so that the sentence
 * has room for its end. */
#include "session/refusals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"

typedef struct {
    char text[40];
} shown;

/* The shortest decimal that is this number. */
static shown show(double x)
{
    shown s;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(s.text, sizeof s.text, "%.*g", digits, x);
        if (strtod(s.text, NULL) == x)
            break;
    }
    return s;
}

static const char *outcome_of(const tarry__store_experiment *e)
{
    return e->maximize ? "reward" : "loss";
}

tarry_status tarry__refusals_unknown(const tarry__store_experiment *e,
                                     const char *id, tarry_error *error)
{
    return tarry__base_fail(error, TARRY_UNKNOWN_ROUND,
                            "experiment \"%.100s\" has no decision with id "
                            "\"%.100s\"",
                            e->name, id);
}

tarry_status tarry__refusals_range(const tarry__store_experiment *e,
                                   const char *id, double outcome,
                                   tarry_error *error)
{
    return tarry__base_fail(error, TARRY_BAD_LOSS,
                            "%s of experiment \"%.100s\" lie in [%s, %s]; got "
                            "%s for id \"%.100s\"",
                            e->maximize ? "rewards" : "losses", e->name,
                            show(e->low).text, show(e->high).text,
                            show(outcome).text, id);
}

tarry_status tarry__refusals_other(const tarry__store_experiment *e,
                                   const char *id, double reported,
                                   double outcome, tarry_error *error)
{
    return tarry__base_fail(error, TARRY_REPORTED_TWICE,
                            "decision \"%.100s\" of experiment \"%.100s\" has "
                            "the %s %s, the first one reported; got %s",
                            id, e->name, outcome_of(e), show(reported).text,
                            show(outcome).text);
}

tarry_status tarry__refusals_decision(const tarry__store_experiment *e,
                                      tarry_status status, const char *id,
                                      const char *why, tarry_error *error)
{
    return tarry__base_fail(error, status,
                            "decision \"%.100s\" of experiment \"%.100s\" %s",
                            id, e->name, why);
}

tarry_status tarry__refusals_arm(const tarry__store_experiment *e,
                                 tarry_status status, const char *name,
                                 const char *why, tarry_error *error)
{
    return tarry__base_fail(error, status,
                            "arm \"%.100s\" of experiment \"%.100s\" %s", name,
                            e->name, why);
}

tarry_status tarry__refusals_choice(const tarry__store_experiment *e,
                                    tarry_status status, tarry_error *error)
{
    if (status == TARRY_HORIZON_REACHED && e->horizon > 0)
        return tarry__base_fail(error, status,
                                "experiment \"%.100s\" has made all %" PRIu64
                                " decisions of its horizon",
                                e->name, e->horizon);
    return tarry__base_fail(error, status, "experiment \"%.100s\": %s", e->name,
                            tarry_status_text(status));
}
