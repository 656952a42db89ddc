/* policy.c - the public door: checks, round numbers, open rounds, the range of
 * losses, saving.  The algorithms behind it see only sound calls. */
#include "tarry/policy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "policy/open_rounds.h"
#include "policy/policy_type.h"

static const uint64_t MAX_ROUND = (1ull << TARRY__OPEN_ROUND_BITS) - 1;
static const size_t MAX_ARMS = 1u << (TARRY__OPEN_VALUE_BITS - 1);

struct tarry_policy {
    const tarry__policy_type *type;
    tarry__policy_problem problem; /* owns the arms */
    double low, high;
    int32_t maximize, beyond_horizon;
    uint64_t round; /* choices so far */
    uint64_t pending_max, used, ignored, late;
    tarry__open_rounds open;
    void *state;
};

tarry_policy_params tarry_policy_defaults(void)
{
    return (tarry_policy_params){.low = -1, .high = 1};
}

/* ---- create ---------------------------------------------------------------*/

static bool is_range(double low, double high)
{
    return low < high && isfinite(low) && isfinite(high) &&
           isfinite(high - low);
}

/* The square of a smaller or larger number is zero or infinite, and whatever
 * is said of such an arm would be made of nothing. */
static const double LEAST_ARM = 1e-100, LARGEST_ARM = 1e100;

static tarry_status check_arms(const double *arms, size_t n_arms, size_t dim,
                               tarry_error *error)
{
    for (size_t k = 0; k < n_arms; k++) {
        double largest = 0;
        for (size_t i = 0; i < dim; i++) {
            const double entry = fabs(arms[k * dim + i]);
            if (!isfinite(entry))
                return tarry__base_fail(
                    error, TARRY_NOT_FINITE,
                    "arm %zu, entry %zu is not a finite number", k, i);
            largest = fmax(largest, entry);
        }
        if (largest != 0 && !(largest >= LEAST_ARM && largest <= LARGEST_ARM))
            return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                    "arm %zu: its largest entry, %g, is not "
                                    "from %g to %g; scale all arms alike",
                                    k, largest, LEAST_ARM, LARGEST_ARM);
    }
    return TARRY_OK;
}

static tarry_status check_params(const tarry_policy_params *p,
                                 tarry_error *error)
{
    if (p->n_arms == 0 || p->n_arms > MAX_ARMS)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "there must be 1 to %zu arms: %zu", MAX_ARMS,
                                p->n_arms);
    if (p->dim == 0 || p->dim > 20000 || p->arms == NULL)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "the arms' dimension must be 1 to 20000: %zu",
                                p->dim);
    if (p->horizon < 2 || p->horizon > MAX_ROUND)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "the horizon must be 2 to 2^39 - 1 rounds: %ju",
                                (uintmax_t)p->horizon);
    if (!is_range(p->low, p->high))
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "the range of losses must be low < high: %g,%g",
                                p->low, p->high);
    return check_arms(p->arms, p->n_arms, p->dim, error);
}

static tarry_status copy_params(tarry_policy *p, const tarry_policy_params *q)
{
    const size_t count = q->n_arms * q->dim;
    double *arms = tarry__base_alloc(count, sizeof *arms);
    if (arms == NULL)
        return TARRY_NO_MEMORY;
    memcpy(arms, q->arms, count * sizeof *arms);
    p->problem = (tarry__policy_problem){.n_arms = q->n_arms,
                                         .dim = q->dim,
                                         .arms = arms,
                                         .horizon = q->horizon,
                                         .seed = q->seed,
                                         .run = q->run};
    p->low = q->low;
    p->high = q->high;
    p->maximize = q->maximize != 0;
    p->beyond_horizon = q->beyond_horizon != 0;
    return TARRY_OK;
}

static tarry_status create(const tarry__policy_description *description,
                           const tarry_policy_params *params,
                           tarry_policy **out, tarry_error *error)
{
    tarry_policy *p = tarry__base_zalloc(1, sizeof *p);
    if (p == NULL || copy_params(p, params) != TARRY_OK) {
        tarry__base_free(p);
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    }
    p->type = description->type;
    const tarry_status status =
        tarry__policy_open(description, &p->problem, &p->state, error);
    if (status == TARRY_OK)
        *out = p;
    else
        tarry_policy_free(p);
    return status;
}

tarry_status tarry_policy_create(const char *description,
                                 const tarry_policy_params *params,
                                 tarry_policy **out, tarry_error *error)
{
    tarry__policy_description d;
    if (out != NULL)
        *out = NULL;
    if (out == NULL || description == NULL || params == NULL)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "an argument is NULL");
    tarry_status status = check_params(params, error);
    if (status == TARRY_OK)
        status = tarry__policy_read(description, params->settings,
                                    TARRY__POLICY_ANY_DELAYS, &d, error);
    if (status != TARRY_OK)
        return status;
    status = create(&d, params, out, error);
    tarry__policy_description_clear(&d);
    return status;
}

void tarry_policy_free(tarry_policy *p)
{
    if (p == NULL)
        return;
    tarry__policy_close(p->type, p->state);
    tarry__open_clear(&p->open);
    tarry__base_free(p->problem.arms);
    tarry__base_free(p);
}

/* ---- choose and observe ---------------------------------------------------*/

static bool is_past_horizon(const tarry_policy *p, uint64_t round)
{
    return round > p->problem.horizon;
}

static size_t best_arm(const tarry_policy *p)
{
    tarry_policy_status status = {0};
    p->type->status(p->state, &status);
    return status.best;
}

tarry_status tarry_policy_choose(tarry_policy *p, uint64_t *round, size_t *arm)
{
    if (p == NULL || round == NULL || arm == NULL)
        return TARRY_BAD_ARGUMENT;
    const uint64_t next = p->round + 1;
    const bool past = is_past_horizon(p, next);
    if ((past && !p->beyond_horizon) || next > MAX_ROUND)
        return TARRY_HORIZON_REACHED;
    tarry_status status = tarry__open_reserve(&p->open);
    if (status == TARRY_OK && past)
        *arm = best_arm(p);
    else if (status == TARRY_OK)
        status = p->type->choose(p->state, next, arm);
    if (status != TARRY_OK)
        return status;
    tarry__open_add(&p->open, next, (uint32_t)*arm);
    if (p->open.count > p->pending_max)
        p->pending_max = p->open.count;
    *round = p->round = next;
    return TARRY_OK;
}

/* [low, high] to [-1, 1], rewards to losses; exact for [-1, 1]. */
static double normalised(const tarry_policy *p, double loss)
{
    const double middle = p->low / 2 + p->high / 2;
    const double scaled = (loss - middle) / (p->high / 2 - p->low / 2);
    const double inside = fmin(fmax(scaled, -1), 1); /* rounding only */
    return p->maximize ? -inside : inside;
}

static tarry_status note_use(tarry_policy *p, tarry__policy_use use)
{
    switch (use) {
    case TARRY__POLICY_USED:
        p->used++;
        return TARRY_OK;
    case TARRY__POLICY_IGNORED:
        p->ignored++;
        return TARRY_OK;
    case TARRY__POLICY_LATE:
        p->late++;
        return TARRY_LATE;
    }
    return TARRY_OK;
}

tarry_status tarry_policy_observe(tarry_policy *p, uint64_t round, double loss)
{
    uint32_t arm;
    if (p == NULL)
        return TARRY_BAD_ARGUMENT;
    if (round == 0 || round > p->round)
        return TARRY_UNKNOWN_ROUND;
    if (!tarry__open_find(&p->open, round, &arm))
        return TARRY_REPORTED_TWICE;
    if (!(loss >= p->low && loss <= p->high))
        return TARRY_BAD_LOSS;
    tarry__open_remove(&p->open, round);
    const tarry__policy_use use =
        is_past_horizon(p, round)
            ? TARRY__POLICY_IGNORED
            : p->type->observe(p->state, round, arm, normalised(p, loss));
    return note_use(p, use);
}

/* ---- status ---------------------------------------------------------------*/

/* Phased policies estimate at the end of a phase, others at each loss. */
static bool knows_best(const tarry_policy_status *s)
{
    return s->n_active == 1 ||
           (s->phase > 0 ? s->n_estimates > 0 : s->used > 0);
}

void tarry_policy_get_status(const tarry_policy *p, tarry_policy_status *status)
{
    if (status == NULL)
        return;
    *status = (tarry_policy_status){0};
    if (p == NULL)
        return;
    *status = (tarry_policy_status){
        .name = p->type->name,
        .round = p->round,
        .horizon = p->problem.horizon,
        .low = p->low,
        .high = p->high,
        .maximize = p->maximize,
        .pending = p->open.count,
        .pending_max = p->pending_max,
        .used = p->used,
        .ignored = p->ignored,
        .late = p->late,
        .open_bytes = p->open.room * sizeof *p->open.slot,
        .n_arms = p->problem.n_arms,
        .dim = p->problem.dim,
        .arms = p->problem.arms,
        .seed = p->problem.seed,
    };
    p->type->status(p->state, status);
    status->best_known = knows_best(status);
}

tarry_status tarry_policy_certify(const tarry_policy *p, size_t *arm,
                                  double *gap)
{
    if (p == NULL || arm == NULL || gap == NULL)
        return TARRY_BAD_ARGUMENT;
    *arm = best_arm(p);
    *gap = NAN;
    if (p->type->certify == NULL)
        return TARRY_BAD_ARGUMENT;
    const tarry_status status = p->type->certify(p->state, arm, gap);
    *gap = status == TARRY_OK ? *gap * (p->high / 2 - p->low / 2) : NAN;
    return status;
}

/* ---- save and restore -----------------------------------------------------*/

static void archive_name(tarry__archive *a, char name[64])
{
    tarry__archive_bytes(a, name, 64);
    tarry__archive_require(a, memchr(name, '\0', 64) != NULL);
}

static void archive_problem(tarry_policy *p, tarry__archive *a)
{
    tarry__policy_problem *q = &p->problem;
    size_t count = q->n_arms * q->dim;
    tarry__archive_field(a, q->n_arms);
    tarry__archive_field(a, q->dim);
    tarry__archive_field(a, q->horizon);
    tarry__archive_field(a, q->seed);
    tarry__archive_field(a, q->run);
    tarry__archive_array(a, &q->arms, &count, sizeof *q->arms, SIZE_MAX);
    tarry__archive_require(a, q->n_arms > 0 && q->n_arms <= MAX_ARMS &&
                                  q->dim > 0 && q->dim <= 20000 &&
                                  count == q->n_arms * q->dim &&
                                  q->horizon >= 2 && q->horizon <= MAX_ROUND);
    if (a->loading && a->status == TARRY_OK)
        tarry__archive_require(
            a, check_arms(q->arms, q->n_arms, q->dim, NULL) == TARRY_OK);
}

static void archive_open(tarry_policy *p, tarry__archive *a)
{
    tarry__open_rounds *o = &p->open;
    tarry__archive_array(a, &o->slot, &o->room, sizeof *o->slot, SIZE_MAX / 8);
    if (!a->loading || a->status != TARRY_OK)
        return;
    o->count = 0;
    for (size_t i = 0; i < o->room; i++) {
        const uint64_t round = o->slot[i] >> TARRY__OPEN_VALUE_BITS;
        const uint64_t arm = o->slot[i] & ((1u << TARRY__OPEN_VALUE_BITS) - 1);
        o->count += o->slot[i] != 0;
        tarry__archive_require(a, round <= p->round && arm < p->problem.n_arms);
    }
    tarry__archive_require(a, o->room % 8 == 0 &&
                                  (o->count < o->room || o->room == 0));
    tarry__archive_require(a, a->status == TARRY_OK && tarry__open_is_sound(o));
}

static void archive_policy(tarry_policy *p, tarry__archive *a)
{
    archive_problem(p, a);
    tarry__archive_field(a, p->low);
    tarry__archive_field(a, p->high);
    tarry__archive_field(a, p->maximize);
    tarry__archive_field(a, p->beyond_horizon);
    tarry__archive_field(a, p->round);
    tarry__archive_field(a, p->pending_max);
    tarry__archive_field(a, p->used);
    tarry__archive_field(a, p->ignored);
    tarry__archive_field(a, p->late);
    tarry__archive_require(a,
                           is_range(p->low, p->high) && p->round <= MAX_ROUND);
    archive_open(p, a);
    if (a->status == TARRY_OK)
        p->type->archive(p->state, p->type, &p->problem, a);
}

tarry_status tarry_policy_save(tarry_policy *p, const char *path,
                               tarry_error *error)
{
    if (p == NULL || path == NULL)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "an argument is NULL");
    tarry__archive a = {0};
    char name[64] = "";
    snprintf(name, sizeof name, "%s", p->type->name);
    archive_name(&a, name);
    archive_policy(p, &a);
    tarry_status status = a.status;
    if (status == TARRY_OK)
        status = tarry__archive_write(&a, path, error);
    else
        tarry__base_fail(error, status, "%s: %s", path,
                         tarry_status_text(status));
    tarry__archive_clear(&a);
    return status;
}

static tarry_policy *allocate(const tarry__policy_type *type)
{
    tarry_policy *p = tarry__base_zalloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->type = type;
    p->state = tarry__base_zalloc(1, type->state_size);
    if (p->state == NULL) {
        tarry__base_free(p);
        return NULL;
    }
    return p;
}

static tarry_status restore(tarry__archive *a, tarry_policy **out)
{
    char name[64];
    archive_name(a, name);
    if (a->status != TARRY_OK)
        return a->status;
    const tarry__policy_type *type = tarry__policy_type_find(name);
    if (type == NULL || type->stands_for != NULL)
        return TARRY_BAD_STATE;
    tarry_policy *p = allocate(type);
    if (p == NULL)
        return TARRY_NO_MEMORY;
    archive_policy(p, a);
    tarry__archive_require(a, a->at == a->size);
    if (a->status == TARRY_OK)
        *out = p;
    else
        tarry_policy_free(p);
    return a->status;
}

tarry_status tarry_policy_restore(const char *path, tarry_policy **out,
                                  tarry_error *error)
{
    tarry__archive a;
    if (out != NULL)
        *out = NULL;
    if (path == NULL || out == NULL)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "an argument is NULL");
    tarry_status status = tarry__archive_read(&a, path, error);
    if (status != TARRY_OK)
        return status;
    status = restore(&a, out);
    tarry__archive_clear(&a);
    if (status != TARRY_OK)
        tarry__base_fail(error, status, "%s: %s", path,
                         tarry_status_text(status));
    return status;
}
