/* shapes.c - a law of another shape for each arm, all of the same mean.
 *
 * By the arm's number modulo 5: constant; uniform from 0 to 2 mean;
 * exponential; Lomax with shape 3/2, of infinite variance; a tenth of the
 * losses 10 mean late, the others at once.  Rounded down. */
#include "base/elementary.h"
#include "env/delay.h"

#include <float.h>
#include <math.h>

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("mean", "100", 0, TARRY__DELAY_LONGEST,
                     "mean of every arm before rounding down, rounds"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

typedef struct {
    double mean;
} law;

enum { CONSTANT, UNIFORM, EXPONENTIAL, LOMAX, TWO_POINT, SHAPES };

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
    const double mean = play->scale, x = play->x;
    (void)state;
    switch (play->arm % SHAPES) {
    case CONSTANT:
        return tarry__delay_whole_rounds(mean);
    case UNIFORM:
        return tarry__delay_whole_rounds(2 * mean * x);
    case EXPONENTIAL:
        return tarry__delay_whole_rounds(-mean * tarry__ln(x));
    case LOMAX: /* (1 + y / scale)^-3/2 = x, of mean 2 scale */
        return tarry__delay_whole_rounds(mean / 2 *
                                         tarry__expm1(-tarry__ln(x) / 1.5));
    default:
        return tarry__delay_whole_rounds(x < 0.1 ? 10 * mean : 0);
    }
}

static double tail(const void *state, size_t arm, double mean, double d)
{
    (void)state;
    if (mean == 0)
        return 0;
    switch (arm % SHAPES) {
    case CONSTANT:
        return d <= tarry__delay_real_rounds(mean);
    case UNIFORM:
        return fmax(0, 1 - d / (2 * mean));
    case EXPONENTIAL:
        return fmax(tarry__exp(-d / mean), DBL_MIN);
    case LOMAX:
        return tarry__exp(-1.5 * tarry__log1p(2 * d / mean));
    default:
        return d <= tarry__delay_real_rounds(10 * mean) ? 0.1 : 0;
    }
}

static double lomax_tail(const void *state, size_t arm, double mean, double d)
{
    (void)arm;
    return tail(state, LOMAX, mean, d);
}

static double lomax_beyond(const void *state, double mean, double y)
{
    return (mean + 2 * y) * tail(state, LOMAX, mean, y);
}

/* The sum of the tail over d = 1, 2, .. */
static double mean_of(const void *state, size_t arm, double mean)
{
    const double whole = floor(2 * mean);
    if (mean == 0)
        return 0;
    switch (arm % SHAPES) {
    case CONSTANT:
        return tarry__delay_real_rounds(mean);
    case UNIFORM:
        return whole - whole * (whole + 1) / (4 * mean);
    case EXPONENTIAL:
        return 1 / tarry__expm1(1 / mean);
    case LOMAX:
        return tarry__delay_sum_tail(1, lomax_tail, lomax_beyond, state, mean);
    default:
        return 0.1 * tarry__delay_real_rounds(10 * mean);
    }
}

const tarry__delay_type tarry__delay_shapes = {
    .entry = {"shapes",
              "a law of another shape for each arm, by its number:\n"
              "constant, uniform, exponential, Lomax, two-point",
              settings},
    .crossing = true,
    .unbounded = true,
    .state_size = sizeof(law),
    .init = init,
    .per_arm = per_arm,
    .finish = finish,
    .tail = tail,
    .mean = mean_of,
};
