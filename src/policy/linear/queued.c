/* queued.c - a policy that knows nothing of delays, made to meet them.
 *
 * Source: Joulani, Gyorgy, Szepesvari, "Online learning under delayed
 * feedback", 2013, the reduction with a queue for each arm (QPM-D); from its
 * statement.
 *
 * The base policy is asked for an arm and gets a loss of that arm at once, as
 * if there were no delay: the oldest that has arrived of it and not been used.
 * While there is none its arm is played again and again.  So the base sees a
 * game without delay, and the delay costs what these plays cost: the base's
 * regret plus the sum over arms of gap(a) times the most of its plays that were
 * outstanding.  For losses whose delay depends on them the base is misled like
 * everybody who takes what comes first.
 *
 * The probability of a choice is that of the base's last one, given what the
 * base has seen, and 1 where an arm is played again. */
#include <string.h>
#include "base/base.h"
#include "policy/linear/linear.h"
#include "policy/phased/guide.h"

typedef struct {
    uint64_t arm;
    double loss;
} arrival;

/* For the loss of the base's last choice. */
enum { NOT_WAITING, WAITING_AGAIN, WAITING_FIRST };

typedef struct {
    const tarry__policy_problem *problem;
    tarry__guide base;
    uint32_t *all;        /* every arm, for the base */
    uint64_t base_round;  /* choices it has made */
    uint64_t wanted;      /* its last choice, */
    uint64_t waiting;     /*   made this round, or played again */
    uint64_t outstanding; /* plays whose loss has not come */
    size_t n_queue, room;
    arrival *queue; /* losses not used, in order of arrival */
    uint64_t last;  /* the round of the last choice, until the next call */
} queued;

static const tarry_setting settings[] = {
    TARRY__SPEC_TEXT("base", "linucb",
                     "any policy; / stands for : and , in it"),
    TARRY__SPEC_END,
};

/* The base may choose every arm. */
static tarry_status open_arms(queued *q)
{
    const size_t K = q->problem->n_arms;
    q->all = tarry__base_alloc(K, sizeof *q->all);
    if (q->all == NULL)
        return TARRY_NO_MEMORY;
    for (size_t k = 0; k < K; k++)
        q->all[k] = (uint32_t)k;
    return TARRY_OK;
}

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__policy_problem *problem,
                         const tarry__spec *spec, tarry_error *error)
{
    queued *q = state;
    (void)type;
    q->problem = problem;
    tarry_status status = open_arms(q);
    if (status == TARRY_OK)
        status = tarry__guide_open(&q->base, problem,
                                   tarry__spec_text(spec, "base"), error);
    if (status == TARRY_OK)
        tarry__guide_narrow(&q->base, q->all, problem->n_arms);
    return status;
}

/* Places for all that may arrive, another play's loss included. */
static tarry_status make_room(queued *q)
{
    const uint64_t needed = q->n_queue + q->outstanding + 1;
    if (needed <= q->room)
        return TARRY_OK;
    const size_t room = (size_t)(2 * needed + 16);
    arrival *more =
        tarry__base_grow(q->queue, q->n_queue, room, sizeof *q->queue);
    if (more == NULL)
        return TARRY_NO_MEMORY;
    memset(more + q->n_queue, 0, (room - q->n_queue) * sizeof *more);
    q->queue = more;
    q->room = room;
    return TARRY_OK;
}

/* The oldest unused loss of the wanted arm goes to the base; false: none. */
static bool feed(queued *q)
{
    size_t i = 0;
    while (i < q->n_queue && q->queue[i].arm != q->wanted)
        i++;
    if (i == q->n_queue)
        return false;
    const double loss = q->queue[i].loss;
    memmove(q->queue + i, q->queue + i + 1,
            (--q->n_queue - i) * sizeof *q->queue);
    tarry__guide_observe(&q->base, q->base_round, (size_t)q->wanted, loss);
    q->waiting = NOT_WAITING;
    return true;
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    queued *q = state;
    q->last = round;
    tarry_status status = make_room(q);
    if (status == TARRY_OK && q->waiting != NOT_WAITING)
        q->waiting = WAITING_AGAIN;
    while (status == TARRY_OK && (q->waiting == NOT_WAITING || feed(q))) {
        size_t next;
        status =
            tarry__guide_choose(&q->base, q->base_round + 1, q->all[0], &next);
        if (status != TARRY_OK)
            break;
        q->base_round++;
        q->wanted = next;
        q->waiting = WAITING_FIRST;
    }
    if (status != TARRY_OK)
        return status;
    *arm = (size_t)q->wanted;
    q->outstanding++;
    return TARRY_OK;
}

static double probability(void *state, uint64_t round, size_t arm)
{
    queued *q = state;
    (void)round;
    return q->waiting == WAITING_FIRST
               ? tarry__guide_probability(&q->base, q->base_round, arm)
               : 1;
}

/* A play that was not this policy's.  Its loss has a place if one is free;
 * more are made with the next choice. */
static void played(void *state, uint64_t round, size_t arm)
{
    queued *q = state;
    (void)arm;
    if (round != q->last && q->n_queue + q->outstanding < q->room)
        q->outstanding++;
}

static tarry__policy_use observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    queued *q = state;
    (void)round;
    if (q->outstanding == 0) /* there was no place for it */
        return TARRY__POLICY_IGNORED;
    q->queue[q->n_queue++] = (arrival){arm, loss};
    q->outstanding--;
    return TARRY__POLICY_USED;
}

static tarry_status cancel(void *state, uint64_t round, size_t arm)
{
    queued *q = state;
    (void)round, (void)arm;
    q->outstanding -= q->outstanding > 0;
    return TARRY_OK;
}

static void status(const void *state, tarry_policy_status *status)
{
    const queued *q = state;
    status->best = tarry__guide_best(&q->base, q->all[0]);
}

static bool is_sound(const queued *q)
{
    bool sound = q->wanted < q->problem->n_arms &&
                 q->waiting <= WAITING_FIRST && tarry__guide_is_open(&q->base);
    for (size_t i = 0; sound && i < q->n_queue; i++)
        sound = q->queue[i].arm < q->problem->n_arms;
    return sound;
}

/* The base's clock goes by its own choices: no more than there were plays, as
 * each but the first had the loss of one before it. */
static void archive_base(queued *q, tarry__archive *a)
{
    const uint64_t round = a->round;
    tarry__archive_require(a, q->base_round <= round);
    a->round = q->base_round;
    if (a->status == TARRY_OK)
        tarry__guide_archive(&q->base, q->problem, q->all, q->problem->n_arms,
                             a);
    a->round = round;
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a)
{
    queued *q = state;
    (void)type;
    q->problem = problem;
    if (a->loading && open_arms(q) != TARRY_OK)
        a->status = TARRY_NO_MEMORY;
    tarry__archive_field(a, q->base_round);
    tarry__archive_field(a, q->wanted);
    tarry__archive_field(a, q->waiting);
    tarry__archive_field(a, q->outstanding);
    tarry__archive_field(a, q->n_queue);
    tarry__archive_array(a, &q->queue, &q->room, sizeof *q->queue, SIZE_MAX);
    tarry__archive_require(a, a->status == TARRY_OK && q->n_queue <= q->room &&
                                  q->outstanding <= q->room - q->n_queue);
    archive_base(q, a);
    tarry__archive_require(a, a->status == TARRY_OK && is_sound(q));
}

static void clear(void *state)
{
    queued *q = state;
    tarry__guide_clear(&q->base);
    tarry__base_free(q->all);
    tarry__base_free(q->queue);
}

const tarry__policy_type tarry__linear_queued = {
    .name = "queued",
    .source = "Joulani et al. 2013",
    .summary = "a base policy that is shown a game without delay",
    .settings = settings,
    .state_size = sizeof(queued),
    .init = init,
    .choose = choose,
    .observe = observe,
    .cancel = cancel,
    .probability = probability,
    .status = status,
    .archive = archive,
    .clear = clear,
    .played = played,
};
