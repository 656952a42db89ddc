/* policy.c - the public door: checks, round numbers, open rounds, the range of
 * losses, saving.  The algorithms behind it see only sound calls. */
#include "tarry/policy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "policy/handle.h"
#include "policy/intercept.h"

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

tarry_status tarry__policy_check_arms(const double *arms, size_t n_arms,
                                      size_t dim, tarry_error *error)
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

static bool is_confidence(double confidence)
{
    return confidence >= 0.5 && confidence < 1;
}

static bool is_horizon(uint64_t horizon)
{
    return horizon >= 2 && horizon <= TARRY__POLICY_MAX_ROUND;
}

static tarry_status check_params(const tarry_policy_params *p,
                                 tarry_error *error)
{
    if (p->n_arms == 0 || p->n_arms > TARRY__POLICY_MAX_ARMS)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "there must be 1 to %zu arms: %zu",
                                TARRY__POLICY_MAX_ARMS, p->n_arms);
    if (p->dim == 0 || p->dim > TARRY__POLICY_MAX_DIM || p->arms == NULL)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "the arms' dimension must be 1 to 20000: %zu",
                                p->dim);
    if (p->confidence != 0 && !is_confidence(p->confidence))
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "the confidence must be 0.5 to below 1: %g",
                                p->confidence);
    if (!is_horizon(p->horizon) && (p->horizon != 0 || p->confidence == 0))
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "the horizon must be 2 to 2^39 - 1 rounds: %ju",
                                (uintmax_t)p->horizon);
    if (!is_range(p->low, p->high))
        return tarry__base_fail(
            error, TARRY_BAD_ARGUMENT,
            "the range of losses must be low < high, of finite "
            "width: %g,%g",
            p->low, p->high);
    const tarry_status status =
        tarry__policy_check_arms(p->arms, p->n_arms, p->dim, error);
    return status == TARRY_OK
               ? tarry__policy_check_distinct(p->arms, p->n_arms, p->dim, error)
               : status;
}

static tarry_status copy_params(tarry_policy *p, const tarry_policy_params *q,
                                const tarry__policy_edge *edge)
{
    const size_t count = q->n_arms * q->dim;
    double *arms = tarry__base_alloc(count, sizeof *arms);
    if (arms == NULL)
        return TARRY_NO_MEMORY;
    memcpy(arms, q->arms, count * sizeof *arms);
    p->edge = *edge;
    p->problem = (tarry__policy_problem){
        .n_arms = q->n_arms,
        .dim = q->dim,
        .arms = arms,
        .horizon = q->horizon > 0 ? q->horizon : TARRY__POLICY_MAX_ROUND,
        .confidence = q->confidence,
        .seed = q->seed,
        .run = q->run};
    p->low = q->low;
    p->high = q->high;
    p->maximize = q->maximize != 0;
    p->beyond_horizon = q->beyond_horizon != 0;
    return TARRY_OK;
}

static double normalised(const tarry_policy *p, double loss);

/* The rule as the algorithm sees it; edge and range are there. */
static void set_default(tarry_policy *p)
{
    const tarry__default_rule *r = &p->edge.rule;
    if (!r->declared)
        return;
    tarry__default_print(r, p->rule_text);
    p->problem.default_outcome =
        (tarry__policy_default){.declared = 1,
                                .final = r->final,
                                .loss = normalised(p, r->value),
                                .after = r->ms > 0 ? UINT64_MAX : r->rounds};
}

/* The arms get a constant, if the range calls for one and they have none. */
static tarry_status add_intercept(tarry_policy *p)
{
    tarry__policy_problem *q = &p->problem;
    if (p->edge.no_intercept || p->low == -p->high)
        return TARRY_OK;
    p->unit = tarry__base_zalloc(q->dim, sizeof *p->unit);
    if (p->unit == NULL)
        return TARRY_NO_MEMORY;
    const tarry_status status = tarry__intercept_find(
        q->arms, q->n_arms, q->dim, &p->constant, p->unit);
    if (status != TARRY_OK || p->constant == 0)
        return status;
    tarry__base_free(p->unit);
    p->unit = NULL;
    double *arms = tarry__base_alloc(q->n_arms * (q->dim + 1), sizeof *arms);
    if (arms == NULL)
        return TARRY_NO_MEMORY;
    tarry__intercept_add(q->arms, q->n_arms, q->dim, p->constant, arms);
    p->given = q->arms;
    q->arms = arms;
    q->dim++;
    return TARRY_OK;
}

static tarry_status create(const tarry__policy_description *description,
                           const tarry_policy_params *params,
                           tarry_policy **out, tarry_error *error)
{
    const tarry_status possible =
        tarry__shares_check(&description->edge, params->n_arms, error);
    if (possible != TARRY_OK)
        return possible;
    tarry_policy *p = tarry__base_zalloc(1, sizeof *p);
    if (p == NULL || copy_params(p, params, &description->edge) != TARRY_OK) {
        tarry__base_free(p);
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    }
    p->type = description->type;
    p->description = tarry__policy_description_print(description);
    set_default(p);
    tarry_status status =
        p->description != NULL ? add_intercept(p) : TARRY_NO_MEMORY;
    if (status != TARRY_OK)
        tarry__base_fail(error, status, "%s", tarry_status_text(status));
    else
        status = tarry__policy_open(description, &p->problem, &p->state, error);
    if (status == TARRY_OK)
        *out = p;
    else
        tarry_policy_free(p);
    return status;
}

/* The rule of the parameters joins those settings of the description. */
static tarry_status take_default(tarry__policy_description *d,
                                 const tarry_policy_params *params,
                                 tarry_error *error)
{
    tarry__default_rule *rule = &d->edge.rule;
    tarry_status status = TARRY_OK;
    if (params->default_outcome != NULL && rule->declared)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "default_outcome is given twice: '%s'",
                                params->default_outcome);
    if (params->default_outcome != NULL)
        status = tarry__default_read(params->default_outcome, rule, error);
    if (status == TARRY_BAD_INPUT)
        return TARRY_BAD_ARGUMENT;
    return tarry__policy_check_default(d->type, d->type->name, rule,
                                       params->low, params->high, error);
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
    status = take_default(&d, params, error);
    if (status == TARRY_OK)
        status = create(&d, params, out, error);
    tarry__policy_description_clear(&d);
    return status;
}

void tarry_policy_free(tarry_policy *p)
{
    if (p == NULL)
        return;
    tarry__policy_forget_ahead(p);
    tarry__policy_close(p->type, p->state);
    tarry__held_clear(&p->held);
    tarry__open_clear(&p->open);
    tarry__open_clear(&p->defaulted);
    tarry__base_free(p->problem.arms);
    tarry__base_free(p->given);
    tarry__base_free(p->unit);
    tarry__base_free(p->available);
    tarry__base_free(p->shown);
    tarry__base_free(p->description);
    tarry__base_free(p);
}

/* ---- choose and observe ---------------------------------------------------*/

static bool is_past_horizon(const tarry_policy *p, uint64_t round)
{
    return round > p->problem.horizon;
}

static size_t best_arm(const tarry_policy *p, const void *state)
{
    tarry_policy_status status = {0};
    p->type->status(state, &status);
    return status.best;
}

/* The loss that is 0 to the algorithm, and how far from it 1 and -1 are.
 * Without an intercept losses are not moved. */
static double middle_of(const tarry_policy *p)
{
    return p->edge.no_intercept ? 0 : p->low / 2 + p->high / 2;
}

static double unit_of(const tarry_policy *p)
{
    return p->edge.no_intercept ? fmax(fabs(p->low), fabs(p->high))
                                : p->high / 2 - p->low / 2;
}

/* [low, high] to [-1, 1], rewards to losses; exact for [-1, 1]. */
static double normalised(const tarry_policy *p, double loss)
{
    const double scaled = (loss - middle_of(p)) / unit_of(p);
    const double inside = fmin(fmax(scaled, -1), 1); /* rounding only */
    return p->maximize ? -inside : inside;
}

static void note_use(tarry__policy_use use, tarry__policy_uses *uses)
{
    uses->used += use == TARRY__POLICY_USED;
    uses->ignored += use == TARRY__POLICY_IGNORED;
    uses->late += use == TARRY__POLICY_LATE;
}

static void correct(const tarry_policy *p, const tarry__held_loss *l,
                    void *state)
{
    if (!is_past_horizon(p, l->round))
        p->type->revise(state, l->round, l->arm,
                        p->problem.default_outcome.loss,
                        normalised(p, l->loss));
}

void tarry__policy_count(const tarry_policy *p, const tarry__held *held,
                         void *state, tarry__policy_uses *uses)
{
    for (size_t i = 0; i < held->count; i++) {
        const tarry__held_loss *l = &held->loss[i];
        if (l->kind == TARRY__HELD_CORRECTION) {
            correct(p, l, state);
            continue;
        }
        if (l->kind == TARRY__HELD_EXPIRED)
            tarry__policy_tell_expired(p, state, l->round, l->arm, false);
        note_use(is_past_horizon(p, l->round)
                     ? TARRY__POLICY_IGNORED
                     : p->type->observe(state, l->round, l->arm,
                                        normalised(p, l->loss)),
                 uses);
    }
}

/* What was reported since the last choice is counted, in order of play. */
void tarry__policy_settle(tarry_policy *p)
{
    tarry__policy_forget_ahead(p);
    tarry__held_sort(&p->held);
    tarry__policy_count(p, &p->held, p->state, &p->uses);
    p->held.count = 0;
}

uint64_t tarry__policy_due_default(const tarry_policy *p)
{
    const tarry__default_rule *r = &p->edge.rule;
    return r->declared && r->ms == 0 && p->round > r->rounds
               ? p->round - r->rounds
               : 0;
}

/* The default outcome of the round that reaches its age now; a round that was
 * reported, cancelled or given up has none. */
static tarry_status apply_due_default(tarry_policy *p)
{
    const uint64_t round = tarry__policy_due_default(p);
    return round > 0 && tarry_policy_apply_default(p, round) == TARRY_NO_MEMORY
               ? TARRY_NO_MEMORY
               : TARRY_OK;
}

tarry_status tarry_policy_choose(tarry_policy *p, uint64_t *round, size_t *arm)
{
    if (p == NULL || round == NULL || arm == NULL)
        return TARRY_BAD_ARGUMENT;
    const uint64_t next = p->round + 1;
    const bool past = is_past_horizon(p, next);
    if ((past && !p->beyond_horizon) || next > TARRY__POLICY_MAX_ROUND)
        return TARRY_HORIZON_REACHED;
    tarry_status status = tarry__open_reserve(&p->open);
    if (status == TARRY_OK)
        status = apply_due_default(p);
    if (status != TARRY_OK)
        return status;
    tarry__policy_settle(p);
    if (past)
        *arm = best_arm(p, p->state);
    else
        status = tarry__shares_choose(&p->edge, p->type, p->state, &p->problem,
                                      next, &p->last_choice, arm);
    if (status != TARRY_OK)
        return status;
    tarry__open_add(&p->open, next, (uint32_t)*arm);
    if (p->open.count - p->expired > p->pending_max)
        p->pending_max = p->open.count - p->expired;
    p->last_arm = *arm;
    p->may_ask = !past;
    *round = p->round = next;
    return TARRY_OK;
}

/* Whether the loss of a round will be counted as one of an earlier phase. */
static bool is_late(const tarry_policy *p, uint64_t round)
{
    return p->type->is_late != NULL && !is_past_horizon(p, round) &&
           p->type->is_late(p->state, round);
}

static void note_report(tarry_policy *p, double loss)
{
    const bool is_first = p->n_reported++ == 0;
    if (is_first || loss < p->least_reported)
        p->least_reported = loss;
    if (is_first || loss > p->most_reported)
        p->most_reported = loss;
}

/* A report for a round that is no longer outstanding. */
static tarry_status observe_again(tarry_policy *p, uint64_t round, double loss)
{
    uint32_t arm;
    if (!tarry__open_find(&p->defaulted, round, &arm))
        return TARRY_REPORTED_TWICE;
    if (!(loss >= p->low && loss <= p->high))
        return TARRY_BAD_LOSS;
    if (!p->edge.rule.final && tarry__held_reserve(&p->held) != TARRY_OK)
        return TARRY_NO_MEMORY;
    tarry__open_remove(&p->defaulted, round);
    if (p->edge.rule.final)
        return TARRY_LATE;
    tarry__policy_forget_ahead(p);
    p->n_corrected++;
    note_report(p, loss);
    tarry__held_add(&p->held,
                    (tarry__held_loss){.round = round,
                                       .loss = loss,
                                       .arm = arm,
                                       .kind = TARRY__HELD_CORRECTION});
    return TARRY_CORRECTED;
}

tarry_status tarry_policy_observe(tarry_policy *p, uint64_t round, double loss)
{
    uint32_t value;
    if (p == NULL)
        return TARRY_BAD_ARGUMENT;
    if (round == 0 || round > p->round)
        return TARRY_UNKNOWN_ROUND;
    if (!tarry__open_find(&p->open, round, &value))
        return observe_again(p, round, loss);
    if (!(loss >= p->low && loss <= p->high))
        return TARRY_BAD_LOSS;
    const tarry_status status = tarry__held_reserve(&p->held);
    if (status != TARRY_OK)
        return status;
    const bool expired = value & TARRY__POLICY_EXPIRED;
    tarry__policy_forget_ahead(p);
    tarry__open_remove(&p->open, round);
    p->expired -= expired;
    note_report(p, loss);
    tarry__held_add(&p->held,
                    (tarry__held_loss){.round = round,
                                       .loss = loss,
                                       .arm = value & ~TARRY__POLICY_EXPIRED,
                                       .kind = expired ? TARRY__HELD_EXPIRED
                                                       : TARRY__HELD_LOSS});
    return expired ? TARRY_EXPIRED : is_late(p, round) ? TARRY_LATE : TARRY_OK;
}

size_t tarry_policy_pending(const tarry_policy *p, tarry_pending *out,
                            size_t most)
{
    if (p == NULL || (out == NULL && most > 0))
        return 0;
    return tarry__open_oldest(&p->open, TARRY__POLICY_EXPIRED, out, most);
}

bool tarry__policy_open_arm(const tarry_policy *p, uint64_t round, size_t *arm)
{
    uint32_t value;
    if (!tarry__open_find(&p->open, round, &value) &&
        !tarry__open_find(&p->defaulted, round, &value))
        return false;
    *arm = value & ~TARRY__POLICY_EXPIRED;
    return true;
}

uint64_t tarry__policy_n_open(tarry_policy *p, uint64_t last)
{
    return tarry__open_count(&p->open, last);
}

uint64_t tarry__policy_oldest(tarry_policy *p)
{
    if (tarry__policy_n_pending(p) == 0)
        return 0;
    p->oldest = tarry__open_first(&p->open, TARRY__POLICY_EXPIRED, p->oldest);
    return p->oldest;
}

bool tarry__policy_is_pending(const tarry_policy *p, uint64_t round)
{
    uint32_t value;
    return tarry__open_find(&p->open, round, &value) &&
           (value & TARRY__POLICY_EXPIRED) == 0;
}

bool tarry__policy_has_default(const tarry_policy *p, uint64_t round)
{
    uint32_t value;
    return tarry__open_find(&p->defaulted, round, &value);
}

const tarry__default_rule *tarry__policy_rule(const tarry_policy *p)
{
    return &p->edge.rule;
}

uint64_t tarry__policy_round(const tarry_policy *p)
{
    return p->round;
}

size_t tarry__policy_dim(const tarry_policy *p)
{
    return p->problem.dim - (p->given != NULL);
}

const tarry__policy_problem *tarry__policy_problem_of(const tarry_policy *p)
{
    return &p->problem;
}

bool tarry__policy_goes_beyond(const tarry_policy *p)
{
    return p->beyond_horizon != 0;
}

uint64_t tarry__policy_n_pending(const tarry_policy *p)
{
    return p->open.count - p->expired;
}

uint64_t tarry__policy_silent_since(const tarry_policy *p)
{
    tarry_policy_status status = {0};
    if (p->held.count == 0)
        p->type->status(p->state, &status);
    return status.silent_since;
}

/* ---- status ---------------------------------------------------------------*/

/* Phased policies estimate at the end of a phase, others at each loss. */
static bool knows_best(const tarry_policy_status *s)
{
    return s->n_active == 1 ||
           (s->phase > 0 ? s->n_estimates > 0 : s->used > 0);
}

/* ---- as if everything had been counted ------------------------------------*/

void tarry__policy_forget_ahead(tarry_policy *p)
{
    if (p->ahead != NULL)
        tarry__policy_close(p->type, p->ahead);
    p->ahead = NULL;
    p->is_certified = false;
}

/* A second state, by way of its archive. */
static tarry_status copy_state(tarry_policy *p, void **copy)
{
    tarry__archive a = {.round = p->round};
    *copy = tarry__base_zalloc(1, p->type->state_size);
    if (*copy == NULL)
        return TARRY_NO_MEMORY;
    p->type->archive(p->state, p->type, &p->problem, &a);
    if (a.status == TARRY_OK) {
        tarry__archive_turn(&a);
        p->type->archive(*copy, p->type, &p->problem, &a);
    }
    const tarry_status status = a.status;
    tarry__archive_clear(&a);
    if (status != TARRY_OK)
        tarry__policy_close(p->type, *copy);
    return status;
}

tarry_status tarry__policy_ahead(tarry_policy *p, void **state,
                                 tarry__policy_uses *uses)
{
    *state = p->state;
    *uses = p->uses;
    if (p->held.count == 0)
        return TARRY_OK;
    if (p->ahead == NULL) {
        const tarry_status status = copy_state(p, &p->ahead);
        if (status != TARRY_OK) {
            p->ahead = NULL;
            return TARRY_NO_MEMORY;
        }
        p->ahead_uses = p->uses;
        tarry__held_sort(&p->held);
        tarry__policy_count(p, &p->held, p->ahead, &p->ahead_uses);
    }
    *state = p->ahead;
    *uses = p->ahead_uses;
    return TARRY_OK;
}

static bool is_endless(const tarry_policy *p)
{
    return p->problem.confidence > 0 &&
           p->problem.horizon == TARRY__POLICY_MAX_ROUND;
}

/* From losses in [-1, 1] back to what users report. */
static double in_range(const tarry_policy *p, double loss)
{
    return middle_of(p) + (p->maximize ? -loss : loss) * unit_of(p);
}

/* The estimates in the user's unit; nothing to do for losses in [-1, 1]. */
static tarry_status show_estimates(tarry_policy *p, tarry_policy_status *s)
{
    if (s->n_estimates == 0 || (p->low == -1 && p->high == 1 && !p->maximize))
        return TARRY_OK;
    if (p->n_shown < s->n_estimates) {
        tarry__base_free(p->shown);
        p->shown = tarry__base_alloc(s->n_estimates, sizeof *p->shown);
        p->n_shown = p->shown != NULL ? s->n_estimates : 0;
    }
    for (size_t k = 0; p->shown != NULL && k < s->n_estimates; k++) {
        const double x = in_range(p, s->estimates[k].lower);
        const double y = in_range(p, s->estimates[k].upper);
        p->shown[k] = (tarry_estimate){fmin(x, y), fmax(x, y)};
    }
    s->estimates = p->shown;
    if (p->shown == NULL)
        s->n_estimates = 0;
    return p->shown != NULL ? TARRY_OK : TARRY_NO_MEMORY;
}

tarry_status tarry_policy_get_status(tarry_policy *p,
                                     tarry_policy_status *status)
{
    void *state;
    tarry__policy_uses uses;
    if (status != NULL)
        *status = (tarry_policy_status){0};
    if (p == NULL || status == NULL)
        return TARRY_BAD_ARGUMENT;
    const tarry_status result = tarry__policy_ahead(p, &state, &uses);
    *status = (tarry_policy_status){
        .name = p->type->name,
        .round = p->round,
        .horizon = is_endless(p) ? 0 : p->problem.horizon,
        .confidence = 1 - tarry__policy_failure(&p->problem),
        .low = p->low,
        .high = p->high,
        .maximize = p->maximize,
        .pending = p->open.count - p->expired,
        .pending_max = p->pending_max,
        .used = uses.used,
        .ignored = uses.ignored,
        .late = uses.late,
        .open_bytes = (p->open.room + p->defaulted.room) * sizeof *p->open.slot,
        .n_arms = p->problem.n_arms,
        .dim = tarry__policy_dim(p),
        .arms = p->given != NULL ? p->given : p->problem.arms,
        .intercept = p->given != NULL,
        .seed = p->problem.seed,
        .n_available = tarry__policy_n_choices(&p->problem),
        .available = p->problem.active,
        .expired = p->expired,
        .cancelled = p->cancelled,
        .description = p->description,
        .beyond_horizon = p->beyond_horizon,
        .default_outcome = p->edge.rule.declared ? p->rule_text : NULL,
        .defaulted = p->n_defaulted,
        .corrected = p->n_corrected,
        .reported = p->n_reported,
        .least_reported = p->least_reported,
        .most_reported = p->most_reported,
    };
    p->type->status(state, status);
    status->best_known = knows_best(status);
    const tarry_status shown = show_estimates(p, status);
    return result != TARRY_OK ? result : shown;
}

/* Losses that are held may be those of a batch that were reported first because
 * of what they are.  A policy that allows for any delays takes the others as
 * missing; every other one takes a batch as a whole, at the next choice. */
static tarry_status certify(tarry_policy *p, size_t *arm, double *gap)
{
    void *state = p->state;
    tarry__policy_uses uses;
    tarry_status status =
        p->type->any_delays ? tarry__policy_ahead(p, &state, &uses) : TARRY_OK;
    *arm = best_arm(p, state);
    *gap = NAN;
    if (status != TARRY_OK)
        return status;
    if (p->type->certify == NULL ||
        (p->edge.rule.declared && !p->type->any_delays))
        return TARRY_BAD_ARGUMENT;
    status = p->type->certify(state, arm, gap);
    *gap = status == TARRY_OK ? fmin(*gap * unit_of(p), p->high - p->low) : NAN;
    return status;
}

/* With many arms this takes long: it is done once between two changes. */
tarry_status tarry_policy_certify(tarry_policy *p, size_t *arm, double *gap)
{
    if (p == NULL || arm == NULL || gap == NULL)
        return TARRY_BAD_ARGUMENT;
    tarry_status status = TARRY_OK;
    if (!p->is_certified) {
        status = certify(p, &p->certified_arm, &p->certified_gap);
        p->is_certified = status == TARRY_OK;
    }
    *arm = p->certified_arm;
    *gap = p->certified_gap;
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
    tarry__archive_require(
        a, q->n_arms > 0 && q->n_arms <= TARRY__POLICY_MAX_ARMS && q->dim > 0 &&
               q->dim <= TARRY__POLICY_MAX_DIM + 1 &&
               count == q->n_arms * q->dim && q->horizon >= 2 &&
               q->horizon <= TARRY__POLICY_MAX_ROUND);
    if (a->loading && a->status == TARRY_OK)
        tarry__archive_require(a, tarry__policy_check_arms(q->arms, q->n_arms,
                                                           q->dim,
                                                           NULL) == TARRY_OK);
}

/* Rounds and their arms, which may have the bits `marks` besides. */
static void archive_rounds(tarry_policy *p, tarry__open_rounds *o,
                           uint32_t marks, tarry__archive *a)
{
    tarry__archive_array(a, &o->slot, &o->room, sizeof *o->slot, SIZE_MAX / 8);
    if (!a->loading || a->status != TARRY_OK)
        return;
    o->count = 0;
    for (size_t i = 0; i < o->room; i++) {
        const uint64_t round = o->slot[i] >> TARRY__OPEN_VALUE_BITS;
        const uint64_t arm =
            o->slot[i] & ((1u << TARRY__OPEN_VALUE_BITS) - 1) & ~marks;
        o->count += o->slot[i] != 0;
        tarry__archive_require(a, round <= p->round && arm < p->problem.n_arms);
    }
    tarry__archive_require(a, o->room % 8 == 0 &&
                                  (o->count < o->room || o->room == 0));
    tarry__archive_require(a, a->status == TARRY_OK && tarry__open_is_sound(o));
}

/* A correction needs a rule that allows for it. */
static bool takes_corrections(const tarry_policy *p)
{
    return p->edge.rule.declared && !p->edge.rule.final &&
           p->type->revise != NULL;
}

/* What the default outcome has been applied to. */
static void archive_default(tarry_policy *p, tarry__archive *a)
{
    const tarry__default_rule *r = &p->edge.rule; /* with the other settings */
    tarry__archive_field(a, p->n_defaulted);
    tarry__archive_field(a, p->n_corrected);
    tarry__archive_field(a, p->n_reported);
    tarry__archive_field(a, p->least_reported);
    tarry__archive_field(a, p->most_reported);
    archive_rounds(p, &p->defaulted, 0, a);
    if (!a->loading || a->status != TARRY_OK)
        return;
    tarry__archive_require(
        a, tarry__default_is_sound(r) && isfinite(p->least_reported) &&
               isfinite(p->most_reported) &&
               tarry__policy_check_default(p->type, p->type->name, r, p->low,
                                           p->high, NULL) == TARRY_OK &&
               (r->declared || p->defaulted.count == 0));
    if (a->status == TARRY_OK)
        set_default(p);
}

static uint64_t count_expired(const tarry__open_rounds *o)
{
    uint64_t count = 0;
    for (size_t i = 0; i < o->room; i++)
        count += (o->slot[i] & TARRY__POLICY_EXPIRED) != 0;
    return count;
}

/* The arms that may be chosen; none are listed while all may. */
static void archive_available(tarry_policy *p, tarry__archive *a)
{
    tarry__policy_problem *q = &p->problem;
    tarry__archive_array(a, &p->available, &q->n_active, sizeof *p->available,
                         q->n_arms);
    if (!a->loading || a->status != TARRY_OK)
        return;
    q->active = q->n_active > 0 ? p->available : NULL;
    for (size_t i = 0; i < q->n_active; i++)
        tarry__archive_require(
            a, p->available[i] < q->n_arms &&
                   (i == 0 || p->available[i - 1] < p->available[i]));
}

static void archive_live(tarry_policy *p, tarry__archive *a)
{
    tarry__archive_field(a, p->problem.confidence);
    tarry__archive_require(a, p->problem.confidence == 0 ||
                                  is_confidence(p->problem.confidence));
    archive_available(p, a);
    tarry__archive_field(a, p->expired);
    tarry__archive_field(a, p->cancelled);
    tarry__archive_field(a, p->last_arm);
    tarry__archive_field(a, p->may_ask);
    tarry__archive_require(a, p->last_arm < p->problem.n_arms);
    tarry__held_archive(&p->held, p->round, p->problem.n_arms, a);
    for (size_t i = 0; a->loading && i < p->held.count; i++)
        tarry__archive_require(a,
                               p->held.loss[i].kind != TARRY__HELD_CORRECTION ||
                                   takes_corrections(p));
}

/* `size` bytes of printable ASCII, the last of them the end. */
static bool is_plain_text(const char *text, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return text[size - 1] == '\0';
}

static void archive_description(tarry_policy *p, tarry__archive *a)
{
    size_t count = p->description != NULL ? strlen(p->description) + 1 : 0;
    tarry__archive_array(a, &p->description, &count, 1, 100000);
    if (a->loading && a->status == TARRY_OK && count > 0)
        tarry__archive_require(a, is_plain_text(p->description, count));
}

/* The arms as users gave them, from those of the problem. */
static void load_given(tarry_policy *p, tarry__archive *a)
{
    const tarry__policy_problem *q = &p->problem;
    tarry__archive_require(a, q->dim > 1 && isfinite(p->constant));
    for (size_t k = 0;
         a->status == TARRY_OK && p->constant != 0 && k < q->n_arms; k++)
        tarry__archive_require(a, q->arms[(k + 1) * q->dim - 1] == p->constant);
    if (a->status != TARRY_OK)
        return;
    p->given = tarry__base_alloc(q->n_arms * (q->dim - 1), sizeof *p->given);
    if (p->given == NULL)
        a->status = TARRY_NO_MEMORY;
    else
        tarry__intercept_drop(q->arms, q->n_arms, q->dim - 1, p->given);
}

static bool is_share(double x)
{
    return x >= 0 && x <= 1;
}

/* More arms may have come than the shares were made for. */
static bool is_sound_edge(const tarry__policy_edge *e, size_t n_arms)
{
    bool sound = is_share(e->floor) && is_share(e->control) &&
                 e->control_arm < n_arms &&
                 e->n_caps <= TARRY__POLICY_MOST_CAPS;
    for (size_t i = 0; sound && i < e->n_caps; i++)
        sound = is_share(e->cap[i]) && e->cap_arm[i] < n_arms;
    return sound;
}

static void archive_edge(tarry_policy *p, tarry__archive *a)
{
    tarry__archive_field(a, p->edge);
    tarry__archive_field(a, p->last_choice);
    tarry__archive_require(a, p->edge.no_intercept <= 1 &&
                                  is_sound_edge(&p->edge, p->problem.n_arms) &&
                                  p->last_choice.proposed < p->problem.n_arms &&
                                  p->last_choice.played < p->problem.n_arms &&
                                  p->last_choice.chance <= 1);
    uint32_t has_given = p->given != NULL;
    size_t n_unit = p->unit != NULL ? tarry__policy_dim(p) : 0;
    tarry__archive_field(a, p->constant);
    tarry__archive_field(a, has_given);
    tarry__archive_array(a, &p->unit, &n_unit, sizeof *p->unit,
                         TARRY__POLICY_MAX_DIM + 1);
    if (!a->loading || a->status != TARRY_OK)
        return;
    if (n_unit == 0) {
        tarry__base_free(p->unit);
        p->unit = NULL;
    }
    tarry__archive_require(
        a, has_given <= 1 && (p->constant == 0 || has_given) &&
               (n_unit == 0 ||
                (p->constant == 0 && n_unit + has_given == p->problem.dim)));
    if (a->status == TARRY_OK && has_given)
        load_given(p, a);
}

static void archive_policy(tarry_policy *p, tarry__archive *a)
{
    archive_problem(p, a);
    archive_description(p, a);
    archive_edge(p, a);
    tarry__archive_field(a, p->low);
    tarry__archive_field(a, p->high);
    tarry__archive_field(a, p->maximize);
    tarry__archive_field(a, p->beyond_horizon);
    tarry__archive_field(a, p->round);
    tarry__archive_field(a, p->pending_max);
    tarry__archive_field(a, p->uses);
    tarry__archive_require(a, is_range(p->low, p->high) &&
                                  p->round <= TARRY__POLICY_MAX_ROUND);
    a->round = p->round;
    archive_rounds(p, &p->open, TARRY__POLICY_EXPIRED, a);
    archive_default(p, a);
    archive_live(p, a);
    if (a->loading && a->status == TARRY_OK)
        tarry__archive_require(a, p->expired == count_expired(&p->open));
    if (a->status == TARRY_OK)
        p->type->archive(p->state, p->type, &p->problem, a);
}

/* Fills an archive, which is to be cleared also after a failure. */
static tarry_status archive_all(tarry_policy *p, tarry__archive *a)
{
    char name[64] = "";
    snprintf(name, sizeof name, "%s", p->type->name);
    archive_name(a, name);
    archive_policy(p, a);
    return a->status;
}

tarry_status tarry_policy_save(tarry_policy *p, const char *path,
                               tarry_error *error)
{
    if (p == NULL || path == NULL)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "an argument is NULL");
    tarry__archive a = {0};
    tarry_status status = archive_all(p, &a);
    if (status == TARRY_OK)
        status = tarry__archive_write(&a, path, error);
    else
        tarry__base_fail(error, status, "%s: %s", path,
                         tarry_status_text(status));
    tarry__archive_clear(&a);
    return status;
}

tarry_status tarry_policy_pack(tarry_policy *p, void **bytes, size_t *size)
{
    tarry__archive a = {0};
    if (p == NULL || bytes == NULL || size == NULL)
        return TARRY_BAD_ARGUMENT;
    *bytes = NULL;
    *size = 0;
    tarry_status status = archive_all(p, &a);
    if (status == TARRY_OK)
        status = tarry__archive_pack(&a, bytes, size);
    tarry__archive_clear(&a);
    return status;
}

void tarry_policy_pack_free(void *bytes)
{
    tarry__base_free(bytes);
}

static tarry_policy *allocate(const tarry__policy_type *type)
{
    tarry_policy *p = tarry__base_zalloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->type = type;
    p->last_choice.chance = -1;
    p->state = tarry__base_zalloc(1, type->state_size);
    if (p->state == NULL) {
        tarry__base_free(p);
        return NULL;
    }
    return p;
}

/* Whether what its status will say can be: the best arm is there, and the
 * active ones are arms, in order. */
static bool is_presentable(const tarry_policy *p)
{
    tarry_policy_status s = {0};
    p->type->status(p->state, &s);
    bool sound = tarry__policy_may_choose(&p->problem, s.best);
    for (size_t i = 0; i < s.n_active; i++)
        sound = sound && s.active[i] < p->problem.n_arms &&
                (i == 0 || s.active[i - 1] < s.active[i]);
    return sound;
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
    tarry__archive_require(a, a->status == TARRY_OK && is_presentable(p));
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

tarry_status tarry_policy_unpack(const void *bytes, size_t size,
                                 tarry_policy **out, tarry_error *error)
{
    tarry__archive a;
    if (out != NULL)
        *out = NULL;
    if (bytes == NULL || out == NULL)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "an argument is NULL");
    tarry_status status = tarry__archive_unpack(&a, bytes, size, error);
    if (status != TARRY_OK)
        return status;
    status = restore(&a, out);
    if (status != TARRY_OK)
        tarry__base_fail(error, status, "a packed state: %s",
                         tarry_status_text(status));
    return status;
}
