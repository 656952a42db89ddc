/* overview.c - see overview.h: taking events in. */
#define _POSIX_C_SOURCE 200809L
#include "service/overview_inner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "policy/default.h"

enum { FIRST_WIDTH = 1000 }; /* of a bucket, in milliseconds */

tarry__overview *tarry__overview_create(const tarry__store_experiment *made)
{
    tarry__overview *o = tarry__base_zalloc(1, sizeof *o);
    if (o == NULL)
        return NULL;
    o->made = made;
    o->start = o->last = made->created_at;
    o->width = o->gap_width = FIRST_WIDTH;
    for (size_t i = 0; i < BUCKETS; i++)
        o->gap[i] = NAN;
    return o;
}

void tarry__overview_free(tarry__overview *o)
{
    if (o == NULL)
        return;
    for (size_t k = 0; k < o->n_arms; k++) {
        tarry__base_free(o->arms[k].name);
        tarry__base_free(o->arms[k].counts);
    }
    tarry__base_free(o->arms);
    tarry__absent_clear(&o->waiting);
    tarry__base_free(o);
}

uint64_t tarry__overview_seq(const tarry__overview *o)
{
    return o->seq;
}

uint64_t tarry__overview_pending(const tarry__overview *o)
{
    return o->waiting.count - o->expired - o->defaulted;
}

/* ---- bins of delays -------------------------------------------------------*/

/* With b the place of the highest bit, 4 b and the two bits behind it. */
size_t tarry__overview_bin(int64_t ms)
{
    const uint64_t x = ms > 1 ? (uint64_t)ms : 1;
    const unsigned b = 63 - (unsigned)__builtin_clzll(x);
    const size_t bin = 4 * b + ((b >= 2 ? x >> (b - 2) : x << (2 - b)) & 3);
    return bin < BINS ? bin : BINS - 1;
}

double tarry__overview_middle(size_t bin)
{
    return ldexp(4.5 + (double)(bin % 4), (int)(bin / 4) - 2);
}

/* ---- buckets of time ------------------------------------------------------*/

static void merge(tarry__overview_bucket *a, const tarry__overview_bucket *b)
{
    a->decisions += b->decisions;
    a->outcomes += b->outcomes;
    a->sum += b->sum;
    a->pending = b->pending;
    if (b->pending_max > a->pending_max)
        a->pending_max = b->pending_max;
}

/* Buckets of twice the width: two become one. */
static void widen(tarry__overview *o)
{
    for (size_t i = 0; i < BUCKETS / 2; i++) {
        tarry__overview_bucket both = o->buckets[2 * i];
        merge(&both, &o->buckets[2 * i + 1]);
        o->buckets[i] = both;
    }
    for (size_t i = BUCKETS / 2; i < BUCKETS; i++)
        o->buckets[i] = (tarry__overview_bucket){0};
    for (size_t k = 0; k < o->n_arms; k++) {
        uint32_t *share = o->arms[k].counts;
        for (size_t i = 0; share != NULL && i < BUCKETS; i++)
            share[i] = i < BUCKETS / 2 ? share[2 * i] + share[2 * i + 1] : 0;
    }
    o->bucket /= 2;
    o->width *= 2;
}

/* Goes on to the bucket of a time.  Those that are passed have what is out
 * now.  The clock of a log never goes back. */
static tarry__overview_bucket *reach(tarry__overview *o, int64_t at)
{
    if (at > o->last)
        o->last = at;
    while ((o->last - o->start) / o->width >= BUCKETS) {
        if ((o->bucket & 1) == 0) /* its other half was quiet */
            o->buckets[o->bucket + 1].pending = o->buckets[o->bucket].pending;
        widen(o);
    }
    const size_t to = (size_t)((o->last - o->start) / o->width);
    const uint64_t pending = tarry__overview_pending(o);
    while (o->bucket < to) {
        tarry__overview_bucket *next = &o->buckets[++o->bucket];
        next->pending = next->pending_max = pending;
    }
    return &o->buckets[to];
}

static void note_pending(tarry__overview *o, tarry__overview_bucket *bucket)
{
    const uint64_t pending = tarry__overview_pending(o);
    bucket->pending = pending;
    if (pending > bucket->pending_max)
        bucket->pending_max = pending;
    if (pending > o->pending_max)
        o->pending_max = pending;
}

static void widen_gaps(tarry__overview *o)
{
    for (size_t i = 0; i < BUCKETS / 2; i++)
        o->gap[i] =
            isnan(o->gap[2 * i + 1]) ? o->gap[2 * i] : o->gap[2 * i + 1];
    for (size_t i = BUCKETS / 2; i < BUCKETS; i++)
        o->gap[i] = NAN;
    o->n_gaps = (o->n_gaps + 1) / 2;
    o->gap_width *= 2;
}

void tarry__overview_certify(tarry__overview *o, int64_t at, double gap)
{
    if (isnan(gap) || at < o->start)
        return;
    while ((at - o->start) / o->gap_width >= BUCKETS)
        widen_gaps(o);
    const size_t i = (size_t)((at - o->start) / o->gap_width);
    o->gap[i] = gap;
    if (i >= o->n_gaps)
        o->n_gaps = i + 1;
}

/* ---- events ---------------------------------------------------------------*/

static char *copy(const char *text)
{
    char *out = tarry__base_alloc(strlen(text) + 1, 1);
    if (out != NULL)
        strcpy(out, text);
    return out;
}

static tarry_status admit(tarry__overview *o, const tarry__store_event *e)
{
    if (o->n_arms == o->arms_room) {
        const size_t room = 2 * o->arms_room + 16;
        tarry__overview_arm *bigger =
            tarry__base_grow(o->arms, o->n_arms, room, sizeof *bigger);
        if (bigger == NULL)
            return TARRY_NO_MEMORY;
        o->arms = bigger;
        o->arms_room = room;
    }
    char *name = e->text != NULL ? copy(e->text) : NULL;
    if (e->text != NULL && name == NULL)
        return TARRY_NO_MEMORY;
    o->arms[o->n_arms++] = (tarry__overview_arm){.name = name};
    return TARRY_OK;
}

/* The arm, with its counts. */
static tarry__overview_arm *chosen_arm(tarry__overview *o, uint64_t arm)
{
    tarry__overview_arm *a = &o->arms[arm];
    if (a->counts == NULL)
        a->counts = tarry__base_zalloc(BUCKETS + BINS, sizeof *a->counts);
    return a->counts != NULL ? a : NULL;
}

static void list(tarry__overview *o, const tarry__store_event *e)
{
    tarry__overview_decision *d = &o->recent[e->round % RECENT];
    *d = (tarry__overview_decision){.round = e->round,
                                    .arm = e->arm,
                                    .at = e->at,
                                    .probability = e->value,
                                    .state = TARRY__STORE_CHOOSE};
    if (e->text != NULL)
        snprintf(d->id, sizeof d->id, "%s", e->text);
    else
        snprintf(d->id, sizeof d->id, "%s%ju", o->made->prefix,
                 (uintmax_t)e->round);
}

/* The buckets are reached first: those that are passed do not have it yet. */
static tarry_status choose(tarry__overview *o, const tarry__store_event *e)
{
    const tarry__absent_one one = {
        .round = e->round, .at = e->at, .arm = (uint32_t)e->arm};
    tarry__overview_arm *arm =
        e->arm < o->n_arms ? chosen_arm(o, e->arm) : NULL;
    if (arm == NULL)
        return TARRY_NO_MEMORY;
    tarry__overview_bucket *bucket = reach(o, e->at);
    if (!tarry__absent_add(&o->waiting, one))
        return TARRY_NO_MEMORY;
    arm->counts[o->bucket]++;
    arm->decisions++;
    bucket->decisions++;
    o->decisions++;
    list(o, e);
    note_pending(o, bucket);
    return TARRY_OK;
}

static void note_end(tarry__overview *o, const tarry__store_event *e)
{
    tarry__overview_decision *d = &o->recent[e->round % RECENT];
    if (d->round != e->round)
        return;
    d->state = e->kind;
    d->ended_at = e->at;
    d->value = e->value;
}

static void add_value(tarry__overview_arm *arm, double value)
{
    const double off = value - arm->mean;
    arm->mean += off / (double)++arm->outcomes;
    arm->squares += off * (value - arm->mean);
}

static void remove_value(tarry__overview_arm *arm, double value)
{
    const double off = value - arm->mean;
    arm->mean -= --arm->outcomes > 0 ? off / (double)arm->outcomes : arm->mean;
    arm->squares -= off * (value - arm->mean);
    if (arm->outcomes == 0 || arm->squares < 0)
        arm->squares = 0;
}

static void add_outcome(tarry__overview_arm *arm, double value, int64_t delay)
{
    add_value(arm, value);
    arm->counts[BUCKETS + tarry__overview_bin(delay)]++;
}

/* Whether the experiment's default outcome is never corrected. */
static bool is_final(const tarry__overview *o)
{
    static const char key[] = "default_outcome=";
    const char *at = strstr(o->made->policy, key);
    char text[TARRY__DEFAULT_ROOM] = "";
    tarry__default_rule rule = {0};
    if (at == NULL)
        return false;
    at += strlen(key);
    snprintf(text, sizeof text, "%.*s", (int)strcspn(at, ","), at);
    return tarry__default_read(text, &rule, NULL) == TARRY_OK && rule.final;
}

/* A default is an outcome without a delay. */
static void take_default(tarry__overview *o, const tarry__store_event *e,
                         tarry__absent_one *one, tarry__overview_bucket *bucket)
{
    add_value(&o->arms[one->arm], e->value);
    bucket->outcomes++;
    bucket->sum += e->value;
    o->outcomes++;
    o->default_value = e->value;
    one->is_defaulted = !is_final(o);
    o->defaulted += one->is_defaulted;
    if (!one->is_defaulted)
        tarry__absent_remove(&o->waiting, one);
}

/* The report that replaces a default. */
static void correct(tarry__overview *o, const tarry__store_event *e,
                    tarry__absent_one *one, tarry__overview_bucket *bucket)
{
    tarry__overview_arm *arm = &o->arms[one->arm];
    remove_value(arm, o->default_value);
    add_outcome(arm, e->value, e->at - one->at);
    bucket->sum += e->value - o->default_value;
    o->defaulted--;
    tarry__absent_remove(&o->waiting, one);
}

/* What becomes of a decision. */
static void end(tarry__overview *o, const tarry__store_event *e)
{
    tarry__absent_one *one = tarry__absent_find(&o->waiting, e->round);
    if (one == NULL)
        return;
    tarry__overview_arm *arm = &o->arms[one->arm];
    tarry__overview_bucket *bucket = reach(o, e->at);
    if (e->kind == TARRY__STORE_EXPIRE) {
        o->expired += !one->is_expired;
        one->is_expired = true;
    } else if (e->kind == TARRY__STORE_DEFAULT) {
        take_default(o, e, one, bucket);
    } else if (one->is_defaulted) {
        correct(o, e, one, bucket);
    } else {
        if (e->kind == TARRY__STORE_OBSERVE) {
            add_outcome(arm, e->value, e->at - one->at);
            bucket->outcomes++;
            bucket->sum += e->value;
            o->outcomes++;
        } else {
            arm->cancelled++;
            o->cancelled++;
        }
        o->expired -= one->is_expired;
        tarry__absent_remove(&o->waiting, one);
    }
    note_end(o, e);
    note_pending(o, bucket);
}

tarry_status tarry__overview_take(tarry__overview *o,
                                  const tarry__store_event *e)
{
    tarry_status status = TARRY_OK;
    switch (e->kind) {
    case TARRY__STORE_ADMIT:
        status = admit(o, e);
        break;
    case TARRY__STORE_WITHDRAW:
        if (e->arm < o->n_arms)
            o->arms[e->arm].is_withdrawn = true;
        break;
    case TARRY__STORE_CHOOSE:
        status = choose(o, e);
        break;
    case TARRY__STORE_OBSERVE:
    case TARRY__STORE_CANCEL:
    case TARRY__STORE_EXPIRE:
    case TARRY__STORE_DEFAULT:
        end(o, e);
        break;
    default: /* kinds that say nothing about decisions */
        break;
    }
    if (status == TARRY_OK)
        o->seq = e->seq;
    return status;
}
