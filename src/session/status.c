/* status.c - what a policy knows, as JSON. */
#include <math.h>
#include "base/json.h"
#include "policy/policy_type.h"
#include "policy/reports.h"
#include "session/inner.h"

typedef struct {
    const tarry__session *session;
    tarry_policy_status p;
    bool by_number;
} view;

static json_t *arm(const view *v, size_t k)
{
    return tarry__session_arm_json(v->session, k, v->by_number);
}

static json_t *active(const view *v)
{
    json_t *list = json_array();
    for (size_t i = 0; i < v->p.n_active; i++)
        list = tarry__json_add(list, arm(v, v->p.active[i]));
    return list;
}

/* Those that may be chosen. */
static json_t *available(const view *v)
{
    json_t *list = json_array();
    const tarry_policy_status *p = &v->p;
    for (size_t i = 0; i < (p->available ? p->n_available : p->n_arms); i++)
        list =
            tarry__json_add(list, arm(v, p->available ? p->available[i] : i));
    return list;
}

static json_t *plan(const view *v)
{
    json_t *list = json_array();
    for (size_t i = 0; i < v->p.n_plan; i++) {
        const tarry_plan_entry *e = &v->p.plan[i];
        list = tarry__json_add(list,
                               json_pack("{s:o, s:f, s:I, s:I}", "arm",
                                         arm(v, e->arm), "weight", e->weight,
                                         "target", (json_int_t)e->target,
                                         "observed", (json_int_t)e->observed));
    }
    return list;
}

static json_t *estimates(const view *v)
{
    json_t *list = json_array();
    for (size_t i = 0; i < v->p.n_active && v->p.n_estimates > 0; i++) {
        const tarry_estimate *e = &v->p.estimates[v->p.active[i]];
        list = tarry__json_add(list, json_pack("{s:o, s:f, s:f}", "arm",
                                               arm(v, v->p.active[i]), "lower",
                                               e->lower, "upper", e->upper));
    }
    return list;
}

/* What it would exploit and its bound on that arm's gap, or null. */
static json_t *add_certificate(const view *v, json_t *json)
{
    size_t best;
    double gap;
    if (tarry_policy_certify(v->session->policy, &best, &gap) ==
        TARRY_NO_MEMORY) {
        json_decref(json);
        return NULL;
    }
    json = tarry__json_set(json, "exploit", arm(v, best));
    return tarry__json_set(json, "certificate",
                           isfinite(gap) ? json_real(gap) : json_null());
}

/* What the policy was made with. */
static json_t *add_made_with(const view *v, json_t *json)
{
    const tarry_policy_status *p = &v->p;
    json = tarry__json_set(json, "description",
                           p->description != NULL ? json_string(p->description)
                                                  : json_null());
    json = tarry__json_set(json, "intercept", json_boolean(p->intercept));
    json = tarry__json_set(json, "range", json_pack("[f, f]", p->low, p->high));
    return tarry__json_set(json, "objective",
                           json_string(p->maximize ? "maximize" : "minimize"));
}

json_t *tarry__session_rule(const tarry_policy *policy)
{
    char age[TARRY__DEFAULT_AGE_ROOM];
    const tarry__default_rule *r = tarry__policy_rule(policy);
    tarry__default_print_age(r, age);
    return r->declared ? json_pack("{s:f, s:s, s:b}", "value", r->value,
                                   "after", age, "final", (int)r->final)
                       : json_null();
}

/* What the certificate says of choices that have the default outcome. */
static const char *meaning_of(const view *v)
{
    if (!tarry__policy_type_find(v->p.name)->any_delays)
        return "with a default outcome, delays depend on outcomes; this policy "
               "is for others, and certifies nothing";
    return tarry__policy_rule(v->session->policy)->final
               ? "the certificate takes an outcome as missing until the age of "
                 "the rule, and the default as the outcome from then on"
               : "the certificate takes an outcome as missing until the age of "
                 "the rule, and the default as the outcome from then on, until "
                 "a report corrects it; arms that were eliminated because of "
                 "defaults stay eliminated";
}

/* The declared rule, and what it was applied to; null: there is none. */
static json_t *default_outcome(const view *v)
{
    json_t *json = tarry__session_rule(v->session->policy);
    if (v->p.default_outcome == NULL)
        return json;
    json = tarry__json_set(json, "applied",
                           json_integer((json_int_t)v->p.defaulted));
    json = tarry__json_set(json, "corrected",
                           json_integer((json_int_t)v->p.corrected));
    return tarry__json_set(json, "meaning", json_string(meaning_of(v)));
}

/* Choices that are out for longer than outcomes take, as far as they are
 * known. */
static uint64_t overdue_of(const view *v)
{
    const uint64_t patience = tarry__watch_patience(v->session->watch);
    return v->p.round > patience
               ? tarry__policy_n_open(v->session->policy,
                                      v->p.round - patience - 1)
               : 0;
}

static json_t *reports(const view *v)
{
    char text[TARRY__REPORTS_ROOM];
    tarry__reports_print(&v->p, text);
    return json_string(text);
}

static json_t *advice(const view *v)
{
    const char *text = tarry__reports_advice(&v->p);
    return text != NULL ? json_string(text) : json_null();
}

/* Where one value alone is ever reported, and many choices have no report, or
 * the guide finds it by itself: others may be kept silent. */
static json_t *silence(const view *v)
{
    enum { LEAST = 20 };
    const tarry_policy_status *p = &v->p;
    if (p->default_outcome != NULL || p->reported < LEAST ||
        p->least_reported != p->most_reported || overdue_of(v) < LEAST)
        return advice(v);
    const double seen = p->least_reported;
    return json_sprintf("no outcome of %g has ever been reported, and all %ju "
                        "that were are %g: declare default_outcome, or report "
                        "them",
                        seen == p->high ? p->low : p->high,
                        (uintmax_t)p->reported, seen);
}

/* Whether late outcomes differ from early ones, and what that means for this
 * policy. */
static json_t *dependence(const view *v)
{
    const tarry__session *s = v->session;
    const tarry_policy_status *p = &v->p;
    const tarry__watch_found f =
        tarry__watch_look(s->watch, p->round - p->cancelled, overdue_of(v));
    json_t *json = json_pack("{s:s, s:f, s:f, s:I, s:I, s:s}", "verdict",
                             tarry__watch_text(f.verdict), "p_value", f.p_value,
                             "correlation", f.correlation, "outcomes",
                             (json_int_t)f.outcomes, "tested",
                             (json_int_t)f.tested, "why", f.why);
    if (json != NULL && f.verdict == TARRY__WATCH_DEPENDENT &&
        !tarry__policy_type_find(p->name)->any_delays)
        json = tarry__json_set(
            json, "warning",
            json_sprintf("%s is for delays that do not depend on outcomes; "
                         "use recommended or phased-loss-dependent",
                         p->name));
    return json;
}

json_t *tarry__session_status(tarry__session *s, bool by_number)
{
    view v = {.session = s, .by_number = by_number};
    if (s->policy == NULL ||
        tarry_policy_get_status(s->policy, &v.p) != TARRY_OK)
        return NULL;
    const tarry_policy_status *p = &v.p;
    json_t *json = json_pack(
        "{s:s, s:I, s:I, s:I, s:f, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I, "
        "s:I, s:b, s:o, s:o, s:f, s:I, s:I, s:o}",
        "policy", p->name, "round", (json_int_t)p->round, "horizon",
        (json_int_t)p->horizon, "phase", (json_int_t)p->phase, "epsilon",
        p->epsilon, "phase_start", (json_int_t)p->phase_start, "active",
        active(&v), "best", p->best_known ? arm(&v, p->best) : json_null(),
        "pending", (json_int_t)p->pending, "pending_max",
        (json_int_t)p->pending_max, "used", (json_int_t)p->used, "ignored",
        (json_int_t)p->ignored, "late", (json_int_t)p->late,
        "first_phase_rounds", (json_int_t)p->first_phase_rounds,
        "horizon_too_short",
        p->horizon > 0 && p->first_phase_rounds > p->horizon, "plan", plan(&v),
        "estimates", estimates(&v), "confidence", p->confidence, "expired",
        (json_int_t)p->expired, "cancelled", (json_int_t)p->cancelled, "arms",
        available(&v));
    json = add_certificate(&v, json);
    json = add_made_with(&v, json);
    json = tarry__json_set(json, "default_outcome", default_outcome(&v));
    json = tarry__json_set(json, "reports", reports(&v));
    json = tarry__json_set(json, "silence", silence(&v));
    json = tarry__json_set(json, "paused", json_boolean(s->is_paused));
    return tarry__json_set(json, "dependence", dependence(&v));
}
