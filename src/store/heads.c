/* heads.c - the experiments of a store in memory, digests, and what can be in a
 * log at all. */
#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/json.h"
#include "store/kind.h"

/* ---- kinds of events ------------------------------------------------------*/

static const char *const kinds[] = {"choose", "observe",  "cancel", "expire",
                                    "admit",  "withdraw", "pause",  "resume",
                                    "cut",    "lease",    "default"};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

const char *tarry__store_event_name(tarry__store_event_kind kind)
{
    return kinds[kind];
}

bool tarry__store_event_kind_of(const char *name, tarry__store_event_kind *kind)
{
    for (int i = 0; i < N_KINDS; i++)
        if (strcmp(kinds[i], name) == 0) {
            *kind = (tarry__store_event_kind)i;
            return true;
        }
    return false;
}

/* ---- digests --------------------------------------------------------------*/

static uint64_t add_text(uint64_t sum, const char *text)
{
    return tarry__base_digest(sum, text, strlen(text));
}

uint64_t tarry__store_experiment_digest(const tarry__store_experiment *e)
{
    const uint64_t counts[] = {e->n_arms,
                               e->dim,
                               e->horizon,
                               e->seed,
                               e->maximize,
                               e->beyond_horizon,
                               (uint64_t)e->created_at};
    const double numbers[] = {e->low, e->high, e->confidence};
    uint64_t sum = TARRY__BASE_DIGEST;
    sum = add_text(sum, e->name);
    sum = add_text(sum, e->prefix);
    sum = add_text(sum, e->policy);
    sum = add_text(sum, e->expire_after);
    sum = tarry__base_digest(sum, counts, sizeof counts);
    return tarry__base_digest(sum, numbers, sizeof numbers);
}

uint64_t tarry__store_event_digest(uint64_t sum, const tarry__store_event *e,
                                   uint64_t dim)
{
    uint64_t fields[] = {e->seq, e->kind, e->round, e->arm, 0, (uint64_t)e->at};
    memcpy(&fields[4], &e->value, sizeof e->value);
    sum = tarry__base_digest(sum, fields, sizeof fields);
    if (e->text != NULL)
        sum = add_text(sum, e->text);
    if (e->features != NULL)
        sum = tarry__base_digest(sum, e->features, dim * sizeof(double));
    return sum;
}

void tarry__store_head_pass(tarry__store_head *h, const tarry__store_event *e)
{
    h->end.events++;
    h->end.sum = tarry__store_event_digest(h->end.sum, e, h->made.dim);
    h->end.arms += e->kind == TARRY__STORE_ADMIT;
    h->end.pauses += e->kind == TARRY__STORE_PAUSE;
    if (e->kind == TARRY__STORE_CHOOSE) {
        h->end.round = e->round;
        h->has_own_ids |= e->text != NULL;
    }
}

/* ---- what can be ----------------------------------------------------------*/

#define MOST                                                                   \
    (UINT64_C(1) << 53) /* of rounds, and of milliseconds since 1970           \
                         */

static bool is_moment(int64_t at)
{
    return at >= 0 && (uint64_t)at <= MOST;
}

static bool are_finite(const double *x, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

bool tarry__store_experiment_fits(const tarry__store_experiment *e)
{
    return tarry__json_is_name(e->name) &&
           (e->prefix[0] == '\0' || tarry__json_is_name(e->prefix)) &&
           tarry__json_is_name(e->policy) &&
           tarry__json_is_text(e->expire_after) && e->dim <= 1000000 &&
           isfinite(e->low) && isfinite(e->high) && e->low < e->high &&
           e->confidence >= 0 && e->confidence < 1 && is_moment(e->created_at);
}

/* The rounds of a policy that was restored do not begin with 1, and outcomes of
 * those before may come. */
static bool is_known_round(const tarry__store_end *end, uint64_t round)
{
    return round >= 1 && round <= (end->round != 0 ? end->round : MOST);
}

static bool is_next_round(const tarry__store_end *end, uint64_t round)
{
    return end->round != 0 ? round == end->round + 1
                           : is_known_round(end, round);
}

bool tarry__store_event_fits(const tarry__store_head *h,
                             const tarry__store_event *e)
{
    const tarry__store_end *end = &h->end;
    if (!is_moment(e->at) || !isfinite(e->value) ||
        (e->text != NULL && !tarry__json_is_name(e->text)))
        return false;
    switch (e->kind) {
    case TARRY__STORE_CHOOSE:
        return is_next_round(end, e->round) && e->arm < end->arms &&
               e->value >= 0 && e->value <= 1;
    case TARRY__STORE_OBSERVE:
    case TARRY__STORE_CANCEL:
    case TARRY__STORE_EXPIRE:
    case TARRY__STORE_DEFAULT:
        return is_known_round(end, e->round);
    case TARRY__STORE_ADMIT:
        return e->arm == end->arms &&
               (e->features == NULL || are_finite(e->features, h->made.dim));
    case TARRY__STORE_WITHDRAW:
        return e->arm < end->arms;
    case TARRY__STORE_PAUSE:
        return e->arm == end->pauses + 1;
    case TARRY__STORE_RESUME:
        return e->arm == end->pauses && end->pauses > 0;
    case TARRY__STORE_CUT:
    case TARRY__STORE_LEASE:
        return is_known_round(end, e->arm);
    }
    return false;
}

/* ---- the list -------------------------------------------------------------*/

/* Copies the four texts one after another, into one block. */
static tarry_status copy_texts(tarry__store_experiment *e)
{
    const char **texts[] = {&e->name, &e->prefix, &e->policy, &e->expire_after};
    size_t size = 0;
    for (size_t i = 0; i < 4; i++)
        size += strlen(*texts[i]) + 1;
    char *block = tarry__base_alloc(size, 1);
    if (block == NULL)
        return TARRY_NO_MEMORY;
    for (size_t i = 0; i < 4; i++) {
        const size_t length = strlen(*texts[i]) + 1;
        memcpy(block, *texts[i], length);
        *texts[i] = block;
        block += length;
    }
    return TARRY_OK;
}

static void free_head(tarry__store_head *h)
{
    tarry__base_free((void *)h->made.name); /* the block begins with it */
    tarry__base_free(h);
}

static tarry__store_head *make_head(const tarry__store_experiment *e)
{
    tarry__store_head *h = tarry__base_alloc(1, sizeof *h);
    if (h == NULL)
        return NULL;
    *h = (tarry__store_head){
        .made = *e, .end.sum = tarry__store_experiment_digest(e), .epoch = 1};
    if (copy_texts(&h->made) == TARRY_OK)
        return h;
    tarry__base_free(h);
    return NULL;
}

tarry_status tarry__store_heads_add(tarry__store_heads *heads,
                                    const tarry__store_experiment *e)
{
    if (heads->count == heads->room) {
        const size_t room = 2 * heads->room + 8;
        tarry__store_head **bigger = tarry__base_grow(
            heads->head, heads->count, room, sizeof *heads->head);
        if (bigger == NULL)
            return TARRY_NO_MEMORY;
        heads->head = bigger;
        heads->room = room;
    }
    tarry__store_head *h = make_head(e);
    if (h == NULL)
        return TARRY_NO_MEMORY;
    heads->head[heads->count++] = h;
    return TARRY_OK;
}

void tarry__store_heads_drop_last(tarry__store_heads *heads)
{
    free_head(heads->head[--heads->count]);
}

void tarry__store_heads_clear(tarry__store_heads *heads)
{
    while (heads->count > 0)
        tarry__store_heads_drop_last(heads);
    tarry__base_free(heads->head);
    *heads = (tarry__store_heads){0};
}
