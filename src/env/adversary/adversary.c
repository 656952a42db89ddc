/* adversary.c - the list of adversaries, what they hold, and the budget.
 *
 * Held plays stand in a heap by (round due, round played): those of a script
 * come out when due; those held until further notice are due never, so they
 * come out oldest first. */
#include "env/adversary.h"

#include "base/base.h"
#include "env/delay.h"

const tarry__entry *const tarry__adversary_adversaries[] = {
    &tarry__adversary_hold_rarest.entry,
    &tarry__adversary_hold_all.entry,
    &tarry__adversary_hold_late.entry,
    &tarry__adversary_hold_in_turn.entry,
    &tarry__adversary_hold_staggered.entry,
    &tarry__adversary_hold_good.entry,
    &tarry__adversary_hold_newest.entry,
    &tarry__adversary_script.entry,
    NULL,
};

typedef struct {
    uint64_t due, round;
    size_t arm;
} held_play;

struct tarry__adversary {
    const tarry__adversary_type *type;
    void *state;
    uint64_t sigma, n_held;
    held_play *held;    /* heap of room sigma */
    uint64_t *released; /* of the last round, room sigma + 1 */
};

/* ---- the heap ------------------------------------------------------------*/

static bool is_before(held_play a, held_play b)
{
    return a.due != b.due ? a.due < b.due : a.round < b.round;
}

static void push(tarry__adversary *a, held_play play)
{
    uint64_t i = a->n_held++;
    for (; i > 0 && is_before(play, a->held[(i - 1) / 2]); i = (i - 1) / 2)
        a->held[i] = a->held[(i - 1) / 2];
    a->held[i] = play;
}

static uint64_t pop(tarry__adversary *a)
{
    const uint64_t round = a->held[0].round;
    const held_play last = a->held[--a->n_held];
    uint64_t i = 0, child;
    while ((child = 2 * i + 1) < a->n_held) {
        if (child + 1 < a->n_held &&
            is_before(a->held[child + 1], a->held[child]))
            child++;
        if (!is_before(a->held[child], last))
            break;
        a->held[i] = a->held[child];
        i = child;
    }
    a->held[i] = last;
    return round;
}

/* ---- a round -------------------------------------------------------------*/

static size_t let_go(tarry__adversary *a, const tarry__adversary_view *view)
{
    uint64_t wanted = a->type->release(a->state, view);
    size_t n = 0;
    for (; a->n_held > 0 && (wanted > 0 || a->held[0].due <= view->round);
         n++) {
        a->released[n] = pop(a);
        wanted -= wanted > 0;
    }
    return n;
}

/* All held plays of an arm, oldest first, after the n released so far.  Who
 * gives arms up holds until further notice and else lets go of all: so the heap
 * is in the order of play. */
static size_t give_up(tarry__adversary *a, size_t arm, size_t n)
{
    const uint64_t count = a->n_held;
    a->n_held = 0;
    for (uint64_t i = 0; i < count; i++) {
        const held_play play = a->held[i];
        if (play.arm == arm)
            a->released[n++] = play.round;
        else
            push(a, play);
    }
    return n;
}

size_t tarry__adversary_play(tarry__adversary *a,
                             const tarry__adversary_view *seen, size_t arm,
                             const uint64_t **released)
{
    tarry__adversary_view view = *seen;
    view.outstanding = a->n_held;
    size_t n = let_go(a, &view);
    view.outstanding = a->n_held;
    if (a->type->give_up != NULL) {
        const size_t lost = a->type->give_up(a->state, &view, arm);
        n = lost != SIZE_MAX ? give_up(a, lost, n) : n;
        view.outstanding = a->n_held;
    }
    const uint64_t due = a->type->hold(a->state, &view, arm);
    if (due <= view.round || a->n_held == a->sigma)
        a->released[n++] = view.round;
    else
        push(a, (held_play){due, view.round, arm});
    *released = a->released;
    return n;
}

/* ---- making --------------------------------------------------------------*/

static tarry_status fill(tarry__adversary *a, const tarry__spec *spec,
                         const tarry__instance *instance, tarry_error *error)
{
    a->state = tarry__base_zalloc(1, a->type->state_size);
    if (a->state == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    tarry_status status = tarry__spec_count(spec, "sigma", &a->sigma, error);
    if (status == TARRY_OK)
        status = a->type->init(a->state, spec, instance, &a->sigma, error);
    if (status != TARRY_OK)
        return status;
    a->held = tarry__base_alloc(a->sigma, sizeof *a->held);
    a->released = tarry__base_alloc(a->sigma + 1, sizeof *a->released);
    if (a->held == NULL || a->released == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    return TARRY_OK;
}

tarry_status tarry__adversary_create(const tarry__entry *entry,
                                     const tarry__spec *spec,
                                     const tarry__instance *instance,
                                     tarry__adversary **out, tarry_error *error)
{
    tarry__adversary *a = tarry__base_zalloc(1, sizeof *a);
    *out = NULL;
    if (a == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    a->type = (const tarry__adversary_type *)entry;
    const tarry_status status = fill(a, spec, instance, error);
    if (status == TARRY_OK)
        *out = a;
    else
        tarry__adversary_free(a);
    return status;
}

void tarry__adversary_free(tarry__adversary *a)
{
    if (a == NULL)
        return;
    if (a->state != NULL && a->type->clear != NULL)
        a->type->clear(a->state);
    tarry__base_free(a->state);
    tarry__base_free(a->held);
    tarry__base_free(a->released);
    tarry__base_free(a);
}

const tarry__adversary_type *tarry__adversary_kind(const tarry__adversary *a)
{
    return a->type;
}

uint64_t tarry__adversary_budget(const tarry__adversary *a)
{
    return a->sigma;
}

uint64_t tarry__adversary_longest(const tarry__adversary *a)
{
    return a->type->longest != NULL ? a->type->longest(a->state) : UINT64_MAX;
}

uint64_t tarry__adversary_outstanding(const tarry__adversary *a)
{
    return a->n_held;
}
