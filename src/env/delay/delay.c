/* delay.c - the list of delays; never, factors, quantiles, for all of them.
 *
 * never=P takes the lowest uniforms, u <= P, which become x = infinity; the
 * others are stretched to (0, 1) again, so that one uniform serves both. */
#include "env/delay.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "env/column.h"

const tarry__entry *const tarry__delays[] = {
    &tarry__delay_none.entry,         &tarry__delay_constant.entry,
    &tarry__delay_uniform.entry,      &tarry__delay_geometric.entry,
    &tarry__delay_exponential.entry,  &tarry__delay_poisson.entry,
    &tarry__delay_pareto.entry,       &tarry__delay_lomax.entry,
    &tarry__delay_lognormal.entry,    &tarry__delay_weibull.entry,
    &tarry__delay_two_point.entry,    &tarry__delay_empirical.entry,
    &tarry__delay_low_late.entry,     &tarry__delay_high_late.entry,
    &tarry__delay_threshold.entry,    &tarry__delay_lowest_late.entry,
    &tarry__delay_highest_late.entry, &tarry__delay_shapes.entry,
    &tarry__delay_theorem.entry,      &tarry__delay_payoff.entry,
    &tarry__delay_resampled.entry,    &tarry__delay_outage.entry,
    &tarry__delay_selective.entry,    NULL,
};

/* ---- factors -------------------------------------------------------------*/

static void set_spread(double spread, double *factor, size_t n_arms)
{
    for (size_t k = 0; k < n_arms; k++) {
        const double share =
            n_arms > 1 ? 2.0 * (double)k / (double)(n_arms - 1) - 1 : 0;
        factor[k] = tarry__pow(spread, share);
    }
}

static tarry_status times_file(const char *path, double *factor, size_t n_arms,
                               tarry_error *error)
{
    double *values;
    size_t count;
    tarry_status status = tarry__column_read(path, &values, &count, error);
    if (status != TARRY_OK)
        return status;
    if (count != n_arms)
        status = tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "%s: %zu factors for %zu arms", path, count,
                                  n_arms);
    for (size_t k = 0; status == TARRY_OK && k < n_arms; k++) {
        if (!(values[k] >= 0 && values[k] <= 1e9))
            status =
                tarry__base_fail(error, TARRY_BAD_INPUT,
                                 "%s: the factor of arm %zu is not from 0 to "
                                 "1e9: '%.17g'",
                                 path, k, values[k]);
        factor[k] *= values[k];
    }
    tarry__base_free(values);
    return status;
}

static tarry_status read_factors(tarry__delay *out, const tarry__spec *spec,
                                 size_t n_arms, tarry_error *error)
{
    double spread;
    uint64_t slow;
    const char *path = tarry__spec_text(spec, "factors");
    tarry_status status;
    if ((status = tarry__spec_real(spec, "spread", &spread, error)) ||
        (status = tarry__spec_count(spec, "slow", &slow, error)))
        return status;
    if (slow > n_arms)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s: slow must be at most the number of arms, "
                                "%zu: '%ju'",
                                spec->name, n_arms, (uintmax_t)slow);
    if (spread != 1 || *path != '\0' || slow > 0) {
        double *factor = tarry__base_alloc(n_arms, sizeof *factor);
        if (factor == NULL)
            return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
        set_spread(spread, factor, n_arms);
        for (size_t k = slow > 0 ? slow : n_arms; k < n_arms; k++)
            factor[k] = 0;
        tarry__base_free(out->scale);
        out->scale = factor;
        out->n_scales = n_arms;
    }
    return *path ? times_file(path, out->scale, n_arms, error) : TARRY_OK;
}

/* ---- making --------------------------------------------------------------*/

static tarry_status allocate(tarry__delay *out, tarry_error *error)
{
    out->state = tarry__base_zalloc(1, out->type->state_size);
    out->scale = tarry__base_alloc(1, sizeof *out->scale);
    if (out->state == NULL || out->scale == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    out->scale[0] = 1;
    out->n_scales = 1;
    return TARRY_OK;
}

static tarry_status read_common(tarry__delay *out, const tarry__spec *spec,
                                size_t n_arms, tarry_error *error)
{
    if (!tarry__entry_has(&out->type->entry, "never"))
        return TARRY_OK;
    const tarry_status status =
        tarry__spec_real(spec, "never", &out->never, error);
    return status != TARRY_OK ? status : read_factors(out, spec, n_arms, error);
}

static tarry_status set_scales(tarry__delay *out, tarry_error *error)
{
    const tarry__delay_type *type = out->type;
    for (size_t k = 0; k < out->n_scales; k++) {
        if (type->per_arm != NULL)
            out->scale[k] = type->per_arm(out->state, out->scale[k]);
        if (type->largest_scale > 0 && out->scale[k] > type->largest_scale)
            return tarry__base_fail(error, TARRY_BAD_INPUT,
                                    "%s: the scale of arm %zu, %g, is above %g",
                                    type->entry.name, k, out->scale[k],
                                    type->largest_scale);
    }
    return TARRY_OK;
}

tarry_status tarry__delay_init(tarry__delay *out, const tarry__entry *entry,
                               const tarry__spec *spec,
                               const tarry__delay_stage *stage,
                               tarry_error *error)
{
    memset(out, 0, sizeof *out);
    out->type = (const tarry__delay_type *)entry;
    tarry_status status;
    if ((status = allocate(out, error)) ||
        (status = out->type->init(out->state, spec, stage, error)) ||
        (status = read_common(out, spec, stage->instance->n_arms, error)) ||
        (status = set_scales(out, error)))
        tarry__delay_clear(out);
    return status;
}

void tarry__delay_clear(tarry__delay *delay)
{
    if (delay->state != NULL && delay->type->clear != NULL)
        delay->type->clear(delay->state);
    tarry__base_free(delay->state);
    tarry__base_free(delay->scale);
    memset(delay, 0, sizeof *delay);
}

tarry__env_dependence tarry__delay_dependence(const tarry__delay *delay)
{
    if (delay->type->by_loss)
        return TARRY__DELAY_BY_LOSS;
    return delay->n_scales > 1 || delay->type->crossing
               ? TARRY__DELAY_BY_ARM
               : TARRY__DELAY_BY_NOTHING;
}

/* ---- drawing -------------------------------------------------------------*/

static double scale_of(const tarry__delay *delay, size_t arm)
{
    return delay->scale[delay->n_scales > 1 ? arm : 0];
}

/* A uniform above `never` to (0, 1). */
static double stretch(double u, double never)
{
    return fmin((u - never) / (1 - never), 1 - 0x1p-53);
}

static void prepare_with_never(const tarry__delay *delay, double *u,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (u[i] <= delay->never) {
            u[i] = INFINITY;
            continue;
        }
        u[i] = stretch(u[i], delay->never);
        if (delay->type->prepare != NULL)
            delay->type->prepare(delay->state, u + i, 1);
    }
}

void tarry__delay_prepare(const tarry__delay *delay, double *u, size_t count)
{
    if (delay->never > 0)
        prepare_with_never(delay, u, count);
    else if (delay->type->prepare != NULL)
        delay->type->prepare(delay->state, u, count);
}

uint64_t tarry__delay_finish(const tarry__delay *delay, size_t arm, double loss,
                             double x, const tarry_random *at)
{
    if (x == INFINITY)
        return TARRY__DELAY_NEVER;
    const double scale = scale_of(delay, arm);
    if (delay->type->finish == NULL)
        return tarry__delay_whole_rounds(scale * x);
    tarry__delay_play play = {arm, scale, loss, x, *at};
    play.at.attempt = 1;
    return delay->type->finish(delay->state, &play);
}

/* ---- what is known of the law --------------------------------------------*/

static double law_tail(const tarry__delay *delay, size_t arm, double d)
{
    if (d < 1)
        return 1;
    return delay->type->tail(delay->state, arm, scale_of(delay, arm), d);
}

double tarry__delay_tail(const tarry__delay *delay, size_t arm, uint64_t d)
{
    const double tail = law_tail(delay, arm, (double)d);
    return delay->never + (1 - delay->never) * tail;
}

double tarry__delay_mean(const tarry__delay *delay, size_t arm)
{
    if (delay->never > 0)
        return INFINITY;
    return delay->type->mean(delay->state, arm, scale_of(delay, arm));
}

/* Bisection for the smallest d whose tail(d + 1) is at most `excess`. */
static uint64_t first_below(const tarry__delay *delay, size_t arm,
                            double excess)
{
    uint64_t high = 1;
    while (high < TARRY__DELAY_LONGEST &&
           law_tail(delay, arm, (double)high) > excess)
        high *= 2;
    if (law_tail(delay, arm, (double)high) > excess)
        return TARRY__DELAY_NEVER;
    uint64_t low = high / 2; /* tail(low) > excess >= tail(high), or low = 0 */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (law_tail(delay, arm, (double)middle) > excess)
            low = middle;
        else
            high = middle;
    }
    return low <= TARRY__DELAY_LONGEST ? low : TARRY__DELAY_NEVER;
}

uint64_t tarry__delay_quantile(const tarry__delay *delay, size_t arm, double q)
{
    return tarry__delay_quantile_above(delay, arm, q, 0);
}

uint64_t tarry__delay_quantile_above(const tarry__delay *delay, size_t arm,
                                     double q, uint64_t least)
{
    if (q <= 0)
        return least;
    const double excess = 1 - q / (1 - delay->never); /* never = 1: below 0 */
    if (!(excess >= 0) || (excess == 0 && delay->type->unbounded))
        return TARRY__DELAY_NEVER;
    return law_tail(delay, arm, (double)least + 1) > excess
               ? first_below(delay, arm, excess)
               : least;
}
