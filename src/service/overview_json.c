/* overview_json.c - an overview as JSON; docs/service.md lists its keys.
 *
 * How long outcomes take is said by the curve of Kaplan and Meier
 * (log/survival.h), delays and ages being rounded to the middle of their bin,
 * that is by at most an eighth: what is still out has waited for its age and
 * will wait longer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/json.h"
#include "log/survival.h"
#include "service/overview_inner.h"

enum {
    LISTED = 100, /* arms with their figures, the most chosen ones */
    DRAWN = 8,    /* arms with a share and a curve of their own */
};

typedef struct {
    const tarry__overview *o;
    int64_t now;
    size_t n_listed;
    uint32_t listed[LISTED];
    uint64_t (*came)[BINS]; /* by place in the list, the last row for all: */
    uint64_t (*out)[BINS];  /*   outcomes and what is out, by bin */
    uint64_t ages[BINS];    /* of what is pending */
    uint64_t *pending;      /* by place in the list */
} view;

static json_t *count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

/* null for what is not known or not in sight */
static json_t *real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *seconds(int64_t ms)
{
    return json_real((double)ms / 1000);
}

static json_t *arm_name(const view *v, uint64_t k)
{
    return k < v->o->n_arms && v->o->arms[k].name != NULL
               ? json_string(v->o->arms[k].name)
               : count(k);
}

/* ---- which arms, and what is out ------------------------------------------*/

static bool comes_before(const tarry__overview *o, uint32_t a, uint32_t b)
{
    const uint64_t of_a = o->arms[a].decisions, of_b = o->arms[b].decisions;
    return of_a != of_b ? of_a > of_b : a < b;
}

/* The most chosen arms, in this order: insertion into a short list. */
static void list_arms(view *v)
{
    const tarry__overview *o = v->o;
    for (uint32_t k = 0; k < o->n_arms; k++) {
        size_t i = v->n_listed;
        if (i == LISTED && !comes_before(o, k, v->listed[LISTED - 1]))
            continue;
        if (i == LISTED)
            i--;
        else
            v->n_listed++;
        for (; i > 0 && comes_before(o, k, v->listed[i - 1]); i--)
            v->listed[i] = v->listed[i - 1];
        v->listed[i] = k;
    }
}

static void count_came(view *v)
{
    const tarry__overview *o = v->o;
    for (size_t k = 0; k < o->n_arms; k++)
        for (size_t j = 0; o->arms[k].counts != NULL && j < BINS; j++)
            v->came[v->n_listed][j] += o->arms[k].counts[BUCKETS + j];
    for (size_t i = 0; i < v->n_listed; i++) {
        const uint32_t *counts = o->arms[v->listed[i]].counts;
        for (size_t j = 0; counts != NULL && j < BINS; j++)
            v->came[i][j] = counts[BUCKETS + j];
    }
}

static void count_out(view *v, const uint32_t *place)
{
    const tarry__absent *w = &v->o->waiting;
    for (size_t i = 0; i < w->room; i++) {
        const tarry__absent_one *one = &w->place[i];
        if (one->round == 0)
            continue;
        const size_t bin = tarry__overview_bin(v->now - one->at);
        const size_t at = place[one->arm];
        v->out[v->n_listed][bin]++;
        const bool waits = !one->is_expired && !one->is_defaulted;
        v->ages[bin] += waits;
        if (at < v->n_listed) {
            v->out[at][bin]++;
            v->pending[at] += waits;
        }
    }
}

static bool gather(view *v)
{
    list_arms(v);
    const size_t n = v->n_listed + 1;
    v->came = tarry__base_zalloc(n, sizeof *v->came);
    v->out = tarry__base_zalloc(n, sizeof *v->out);
    v->pending = tarry__base_zalloc(n, sizeof *v->pending);
    uint32_t *place = tarry__base_alloc(v->o->n_arms, sizeof *place);
    const bool ok = v->came != NULL && v->out != NULL && v->pending != NULL &&
                    place != NULL;
    if (ok) {
        for (size_t k = 0; k < v->o->n_arms; k++)
            place[k] = LISTED;
        for (size_t i = 0; i < v->n_listed; i++)
            place[v->listed[i]] = (uint32_t)i;
        count_came(v);
        count_out(v, place);
    }
    tarry__base_free(place);
    return ok;
}

static void clear(view *v)
{
    tarry__base_free(v->came);
    tarry__base_free(v->out);
    tarry__base_free(v->pending);
}

/* ---- delays ---------------------------------------------------------------*/

/* The curve of a row; `step` has room for BINS. */
static tarry__survival curve_of(const view *v, size_t row,
                                tarry__survival_step *step)
{
    tarry__survival c = {.step = step};
    uint64_t risk = 0;
    double left = 1, variance = 0;
    for (size_t j = 0; j < BINS; j++)
        risk += v->came[row][j] + v->out[row][j];
    c.count = risk;
    for (size_t j = 0; j < BINS && risk > 0; j++) {
        const double d = (double)v->came[row][j], n = (double)risk;
        const double at = tarry__overview_middle(j) / 1000;
        if (v->came[row][j] + v->out[row][j] > 0)
            c.last = at;
        if (d > 0) {
            left = d < n ? left * (1 - d / n) : 0;
            variance += d / (n * (n - d));
            step[c.n_steps++] = (tarry__survival_step){
                at, left, variance, (uint32_t)v->came[row][j], (uint32_t)risk};
        }
        c.events += v->came[row][j];
        risk -= v->came[row][j] + v->out[row][j];
    }
    return c;
}

/* `missing`: the share that no outcome is in sight for. */
static json_t *delay(const tarry__survival *c)
{
    const tarry__log_interval half = tarry__survival_quantile(c, 0.5);
    const tarry__log_interval most = tarry__survival_quantile(c, 0.9);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "median", real(half.value),
                     "low", real(half.low), "high", real(half.high), "q90",
                     real(most.value), "missing",
                     real(c->n_steps > 0 ? c->step[c->n_steps - 1].out : NAN));
}

static json_t *curve(const tarry__survival *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->n_steps; i++)
        list = tarry__json_add(
            list, json_pack("[f, f]", c->step[i].time, c->step[i].out));
    return list;
}

/* The most chosen arms and, as null, all together. */
static json_t *delays(const view *v)
{
    tarry__survival_step step[BINS];
    json_t *list = json_array();
    for (size_t i = 0; i <= v->n_listed; i++) {
        if (i >= DRAWN && i < v->n_listed)
            continue;
        const tarry__survival c = curve_of(v, i, step);
        if (c.events > 0)
            list = tarry__json_add(
                list, json_pack("{s:o, s:o, s:f}", "arm",
                                i < v->n_listed ? arm_name(v, v->listed[i])
                                                : json_null(),
                                "curve", curve(&c), "last", c.last));
    }
    return list;
}

/* Ages of what is pending: from, to (in seconds) and how many. */
static json_t *ages(const view *v)
{
    json_t *list = json_array();
    for (size_t j = 0; j < BINS; j++)
        if (v->ages[j] > 0)
            list = tarry__json_add(
                list,
                json_pack("[f, f, I]",
                          ldexp(4 + (double)(j % 4), (int)(j / 4) - 2) / 1000,
                          ldexp(5 + (double)(j % 4), (int)(j / 4) - 2) / 1000,
                          (json_int_t)v->ages[j]));
    return list;
}

/* ---- arms -----------------------------------------------------------------*/

/* The mean of the outcomes, its 95 % interval by the normal law, and between
 * what it would be if all that is missing were at an end of the range. */
static json_t *add_mean(json_t *json, const view *v,
                        const tarry__overview_arm *a)
{
    const double n = (double)a->outcomes;
    const double out = (double)(a->decisions - a->cancelled - a->outcomes);
    const double reach =
        n > 1 ? 1.959963984540054 * sqrt(a->squares / (n - 1) / n) : NAN;
    const double low = (n * a->mean + out * v->o->made->low) / (n + out);
    const double high = (n * a->mean + out * v->o->made->high) / (n + out);
    json = tarry__json_set(json, "mean", real(n > 0 ? a->mean : NAN));
    json = tarry__json_set(json, "low", real(a->mean - reach));
    json = tarry__json_set(json, "high", real(a->mean + reach));
    return tarry__json_set(json, "if_missing",
                           json_pack("[o, o]", real(low), real(high)));
}

static json_t *arm(const view *v, size_t i)
{
    tarry__survival_step step[BINS];
    const tarry__overview_arm *a = &v->o->arms[v->listed[i]];
    const tarry__survival c = curve_of(v, i, step);
    json_t *json = json_pack(
        "{s:o, s:b, s:I, s:I, s:I, s:o}", "arm", arm_name(v, v->listed[i]),
        "available", !a->is_withdrawn, "decisions", (json_int_t)a->decisions,
        "outcomes", (json_int_t)a->outcomes, "pending",
        (json_int_t)v->pending[i], "delay", delay(&c));
    return add_mean(json, v, a);
}

static json_t *arms(const view *v)
{
    json_t *list = json_array();
    for (size_t i = 0; i < v->n_listed; i++)
        list = tarry__json_add(list, arm(v, i));
    return list;
}

/* ---- time -----------------------------------------------------------------*/

/* Choices of one arm by bucket; of all that are not drawn, for `arm` NULL. */
static json_t *share(const view *v, const tarry__overview_arm *arm)
{
    json_t *list = json_array();
    for (size_t b = 0; b <= v->o->bucket; b++) {
        uint64_t n = 0;
        if (arm != NULL)
            n = arm->counts != NULL ? arm->counts[b] : 0;
        else
            n = v->o->buckets[b].decisions;
        for (size_t i = 0; arm == NULL && i < DRAWN && i < v->n_listed; i++) {
            const uint32_t *counts = v->o->arms[v->listed[i]].counts;
            n -= counts != NULL ? counts[b] : 0;
        }
        list = tarry__json_add(list, count(n));
    }
    return list;
}

static json_t *shares(const view *v)
{
    json_t *list = json_array();
    for (size_t i = 0; i < DRAWN && i < v->n_listed; i++) {
        const tarry__overview_arm *a = &v->o->arms[v->listed[i]];
        if (a->decisions > 0)
            list = tarry__json_add(list, json_pack("{s:o, s:o}", "arm",
                                                   arm_name(v, v->listed[i]),
                                                   "decisions", share(v, a)));
    }
    if (v->o->n_arms > DRAWN)
        list = tarry__json_add(
            list, json_pack("{s:n, s:o}", "arm", "decisions", share(v, NULL)));
    return list;
}

typedef enum { DECISIONS, OUTCOMES, MEAN, PENDING, MOST } column;

static json_t *cell(const tarry__overview_bucket *b, column c)
{
    switch (c) {
    case DECISIONS:
        return count(b->decisions);
    case OUTCOMES:
        return count(b->outcomes);
    case MEAN:
        return real(b->outcomes > 0 ? b->sum / (double)b->outcomes : NAN);
    case PENDING:
        return count(b->pending);
    case MOST:
        return count(b->pending_max);
    }
    return NULL;
}

static json_t *series(const view *v, column c)
{
    json_t *list = json_array();
    for (size_t b = 0; b <= v->o->bucket; b++)
        list = tarry__json_add(list, cell(&v->o->buckets[b], c));
    return list;
}

static json_t *over_time(const view *v)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "start",
                     seconds(v->o->start), "width", seconds(v->o->width),
                     "decisions", series(v, DECISIONS), "outcomes",
                     series(v, OUTCOMES), "mean", series(v, MEAN), "pending",
                     series(v, PENDING), "pending_max", series(v, MOST),
                     "shares", shares(v));
}

static json_t *certificates(const view *v)
{
    json_t *list = json_array();
    for (size_t b = 0; b < v->o->n_gaps; b++)
        list = tarry__json_add(list, real(v->o->gap[b]));
    return json_pack("{s:o, s:o, s:o}", "start", seconds(v->o->start), "width",
                     seconds(v->o->gap_width), "gap", list);
}

/* ---- recent decisions -----------------------------------------------------*/

static const char *state_name(tarry__store_event_kind kind)
{
    switch (kind) {
    case TARRY__STORE_OBSERVE:
        return "observed";
    case TARRY__STORE_CANCEL:
        return "cancelled";
    case TARRY__STORE_EXPIRE:
        return "expired";
    case TARRY__STORE_DEFAULT:
        return "defaulted";
    default:
        return "pending";
    }
}

static json_t *decision(const view *v, const tarry__overview_decision *d)
{
    const bool is_over = d->state != TARRY__STORE_CHOOSE;
    return json_pack(
        "{s:s, s:I, s:o, s:o, s:o, s:s, s:o, s:o}", "id", d->id, "round",
        (json_int_t)d->round, "arm", arm_name(v, d->arm), "probability",
        real(d->probability > 0 ? d->probability : NAN), "decided",
        seconds(d->at), "state", state_name(d->state), "ended",
        is_over ? seconds(d->ended_at) : json_null(), "value",
        d->state == TARRY__STORE_OBSERVE || d->state == TARRY__STORE_DEFAULT
            ? real(d->value)
            : json_null());
}

/* The last ones, newest first. */
static json_t *recent(const view *v)
{
    uint64_t last = 0;
    json_t *list = json_array();
    for (size_t i = 0; i < RECENT; i++)
        if (v->o->recent[i].round > last)
            last = v->o->recent[i].round;
    for (uint64_t r = last; r > 0 && last - r < RECENT; r--) {
        const tarry__overview_decision *d = &v->o->recent[r % RECENT];
        if (d->round == r)
            list = tarry__json_add(list, decision(v, d));
    }
    return list;
}

/* ---- all of it ------------------------------------------------------------*/

static json_t *whole(const view *v, uint64_t events)
{
    const tarry__overview *o = v->o;
    json_t *json = json_pack(
        "{s:s, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "experiment",
        o->made->name, "events", (json_int_t)events, "events_read",
        (json_int_t)o->seq, "now", (double)v->now / 1000, "n_arms",
        (json_int_t)o->n_arms, "decisions", (json_int_t)o->decisions,
        "outcomes", (json_int_t)o->outcomes, "cancelled",
        (json_int_t)o->cancelled, "expired", (json_int_t)o->expired, "pending",
        (json_int_t)tarry__overview_pending(o), "pending_max",
        (json_int_t)o->pending_max);
    tarry__survival_step step[BINS];
    const tarry__survival c = curve_of(v, v->n_listed, step);
    json = tarry__json_set(json, "delay", delay(&c));
    json = tarry__json_set(json, "arms", arms(v));
    json = tarry__json_set(json, "time", over_time(v));
    json = tarry__json_set(json, "certificates", certificates(v));
    json = tarry__json_set(json, "delays", delays(v));
    json = tarry__json_set(json, "ages", ages(v));
    return tarry__json_set(json, "recent", recent(v));
}

json_t *tarry__overview_json(const tarry__overview *o, uint64_t events,
                             int64_t now)
{
    view v = {.o = o, .now = now > o->last ? now : o->last};
    json_t *json = gather(&v) ? whole(&v, events) : NULL;
    clear(&v);
    return json;
}
