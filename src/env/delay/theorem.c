/* theorem.c - the joint law of loss and delay of Theorem lowerBoundGeneral.
 *
 * On the instance lower-loss, for an arm of mean mu other than the best:
 *     (+1, 0) and (-1, 0)     with probability (1 - q) / 2 each,
 *     (+1, dbar / q)          with probability (q + mu) / 2,
 *     (-1, dbar / q)          with probability (q - mu) / 2.
 * So the delay comes with probability q whatever the arm, and a loss that
 * comes at once is a fair coin.  For the best arm mu = -1 < -q and the formula
 * is no probability: it returns -1 at once.  Losses are +/-1 with mean mu, as
 * `rademacher` has them.  dbar / q is rounded down, so no mean exceeds dbar. */
#include "env/delay.h"

#include "base/base.h"

static const tarry_setting settings[] = {TARRY__SPEC_END};

typedef struct {
    const tarry__instance *instance;
    uint64_t late;
} law;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__delay_stage *stage, tarry_error *error)
{
    (void)spec;
    law *l = state;
    if (stage->instance->type != &tarry__instance_lower_loss)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "theorem: needs the instance lower-loss: '%s'",
                                stage->instance->type->entry.name);
    if (stage->loss->type != &tarry__loss_rademacher)
        return tarry__base_fail(
            error, TARRY_BAD_INPUT,
            "theorem: its losses are +1 and -1, so the loss "
            "must be rademacher: '%s'",
            stage->loss->type->entry.name);
    l->instance = stage->instance;
    l->late = tarry__delay_whole_rounds(l->instance->dbar / l->instance->q);
    return TARRY_OK;
}

static bool is_late(const law *l, size_t arm, double x)
{
    return arm != l->instance->best && x < l->instance->q;
}

static double joint_loss(const void *state, size_t arm, double u, double x)
{
    const law *l = state;
    const double q = l->instance->q, mu = l->instance->mean[arm];
    if (arm == l->instance->best)
        return -1;
    return u < (is_late(l, arm, x) ? (q + mu) / (2 * q) : 0.5) ? 1 : -1;
}

static uint64_t finish(const void *state, const tarry__delay_play *play)
{
    const law *l = state;
    return is_late(l, play->arm, play->x) ? l->late : 0;
}

static double tail(const void *state, size_t arm, double scale, double d)
{
    (void)scale;
    const law *l = state;
    const bool reached = arm != l->instance->best && d <= (double)l->late;
    return reached ? l->instance->q : 0;
}

static double mean(const void *state, size_t arm, double scale)
{
    (void)scale;
    const law *l = state;
    return arm == l->instance->best ? 0 : l->instance->q * (double)l->late;
}

static double lower_bound(const void *state, double horizon, const char **by)
{
    const tarry__instance *in = ((const law *)state)->instance;
    *by = "Theorem (loss-dependent lower bound)";
    return (1 - in->q) / 2 * fmin(in->dbar / in->q, horizon);
}

const tarry__delay_type tarry__delay_theorem = {
    .entry = {"theorem",
              "loss and delay of the loss-dependent lower bound, on\n"
              "the instance lower-loss",
              settings},
    .by_loss = true,
    .state_size = sizeof(law),
    .init = init,
    .finish = finish,
    .tail = tail,
    .mean = mean,
    .joint_loss = joint_loss,
    .lower_bound = lower_bound,
};
