/* poisson.c - Poisson delays.
 *
 * Drawn by tarry_random_poisson from blocks of their own, attempts 1 and up of
 * the round's address.  P(D >= d) is the incomplete gamma function P(d, mean).
 */
#include "env/delay.h"

#include "base/base.h"
#include "random/special.h"

#define LARGEST_MEAN 1e9 /* of tarry_random_poisson */

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("mean", "100", 0, LARGEST_MEAN,
                     "mean in rounds, at most 1e9 with its factor"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

typedef struct {
    double mean;
} law;

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__delay_stage *stage, tarry_error *error)
{
    (void)stage;
    return tarry__spec_real(spec, "mean", &((law *)state)->mean, error);
}

static double per_arm(const void *state, double factor)
{
    return factor * ((const law *)state)->mean;
}

static uint64_t finish(const void *state, const tarry__delay_play *play)
{
    (void)state;
    return tarry_random_poisson(&play->at, play->scale);
}

static double tail(const void *state, size_t arm, double scale, double d)
{
    (void)state;
    (void)arm;
    return tarry__random_gamma_lower(d, scale);
}

static double mean(const void *state, size_t arm, double scale)
{
    (void)state;
    (void)arm;
    return scale;
}

const tarry__delay_type tarry__delay_poisson = {
    .entry = {"poisson", "Poisson", settings},
    .unbounded = true,
    .largest_scale = LARGEST_MEAN,
    .state_size = sizeof(law),
    .init = init,
    .per_arm = per_arm,
    .finish = finish,
    .tail = tail,
    .mean = mean,
};
