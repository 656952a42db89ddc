/* payoff.c - delay as payoff: d = ceil(D * loss), losses in [0, 1].
 *
 * A product within a relative 1e-12 above a whole number counts as it: means
 * like 3/10 carry rounding.  Mean and tail follow exactly from the law of the
 * losses; the mean is a sum over the D possible delays, halved again and again
 * where the tail does not change. */
#include "env/delay.h"

#include <math.h>
#include "base/base.h"

static const double rounding = 1e-12;

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("D", "100", 0, 1e9, "delay of a loss of 1, in rounds"),
    TARRY__SPEC_END,
};

typedef struct {
    double D;
    const tarry__loss *loss;
    bool is_hard; /* the theorem's instance, with something to choose */
} law;

static tarry_status check_losses(const tarry__loss *loss, tarry_error *error)
{
    for (size_t k = 0; k < loss->n_arms; k++) {
        double low, high;
        loss->type->range(loss, k, &low, &high);
        if (low < -rounding)
            return tarry__base_fail(
                error, TARRY_BAD_ARGUMENT,
                "payoff: losses must be in [0, 1], but arm %zu "
                "of mean %g could lose %g with loss %s",
                k, loss->mean[k], low, loss->type->entry.name);
    }
    return TARRY_OK;
}

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__delay_stage *stage, tarry_error *error)
{
    law *l = state;
    const double n_arms = (double)stage->instance->n_arms;
    const tarry_status status = tarry__spec_real(spec, "D", &l->D, error);
    if (status != TARRY_OK)
        return status;
    const bool is_theorems =
        stage->instance->type == &tarry__instance_lower_payoff;
    if (is_theorems && l->D > 10 * n_arms)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "payoff: on lower-payoff D <= 10 arms = %g is "
                                "needed: '%g'",
                                10 * n_arms, l->D);
    l->loss = stage->loss;
    l->is_hard = is_theorems && n_arms > 1;
    return check_losses(l->loss, error);
}

static uint64_t finish(const void *state, const tarry__delay_play *play)
{
    const law *l = state;
    return (uint64_t)ceil(l->D * play->loss * (1 - rounding));
}

/* d is reached when D * loss > d - 1. */
static double tail(const void *state, size_t arm, double scale, double d)
{
    (void)scale;
    const law *l = state;
    const double most = (d - 1) / (l->D * (1 - rounding));
    return d > l->D + 1 || l->D == 0
               ? 0
               : 1 - l->loss->type->cdf(l->loss, arm, most, true);
}

/* Sum of the tail over first..last; it never rises. */
static double sum_tail(const void *state, size_t arm, double first, double last)
{
    const double high = tail(state, arm, 1, first);
    if (high == tail(state, arm, 1, last))
        return high * (last - first + 1);
    const double middle = floor((first + last) / 2);
    return sum_tail(state, arm, first, middle) +
           sum_tail(state, arm, middle + 1, last);
}

static double mean(const void *state, size_t arm, double scale)
{
    (void)scale;
    const double longest = ceil(((const law *)state)->D);
    return longest < 1 ? 0 : sum_tail(state, arm, 1, longest);
}

static double lower_bound(const void *state, double horizon, const char **by)
{
    const law *l = state;
    *by = l->is_hard ? "Theorem (delay-as-payoff lower bound)" : NULL;
    return l->is_hard ? fmin(l->D / 20, horizon) / 20 / 2 : 0;
}

const tarry__delay_type tarry__delay_payoff = {
    .entry = {"payoff", "delay as payoff: ceil(D * loss), losses in [0, 1]",
              settings},
    .by_loss = true,
    .state_size = sizeof(law),
    .init = init,
    .finish = finish,
    .tail = tail,
    .mean = mean,
    .lower_bound = lower_bound,
};
