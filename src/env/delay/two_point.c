/* two_point.c - delays with one or two values: none, constant, two-point.
 *
 * `high` with probability p, else `low`; a factor scales both and rounds them
 * down. */
#include "env/delay.h"

static const tarry_setting no_settings[] = {TARRY__SPEC_END};

static const tarry_setting constant_settings[] = {
    TARRY__SPEC_COUNT("rounds", "100", 0, TARRY__DELAY_LONGEST, "the delay"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

static const tarry_setting two_point_settings[] = {
    TARRY__SPEC_COUNT("low", "0", 0, TARRY__DELAY_LONGEST,
                      "the delay that comes with probability 1 - p"),
    TARRY__SPEC_COUNT("high", "1000", 0, TARRY__DELAY_LONGEST,
                      "the delay that comes with probability p"),
    TARRY__SPEC_REAL("p", "0.1", 0, 1, "probability of `high`"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

typedef struct {
    double low, high, p;
} law;

static tarry_status init_none(void *state, const tarry__spec *spec,
                              const tarry__delay_stage *stage,
                              tarry_error *error)
{
    (void)state; /* all zero */
    (void)spec;
    (void)stage;
    (void)error;
    return TARRY_OK;
}

static tarry_status read_rounds(const tarry__spec *spec, const char *key,
                                double *out, tarry_error *error)
{
    uint64_t rounds = 0;
    const tarry_status status = tarry__spec_count(spec, key, &rounds, error);
    *out = (double)rounds;
    return status;
}

static tarry_status init_constant(void *state, const tarry__spec *spec,
                                  const tarry__delay_stage *stage,
                                  tarry_error *error)
{
    (void)stage;
    return read_rounds(spec, "rounds", &((law *)state)->low, error);
}

static tarry_status init_two_point(void *state, const tarry__spec *spec,
                                   const tarry__delay_stage *stage,
                                   tarry_error *error)
{
    (void)stage;
    law *l = state;
    tarry_status status;
    if ((status = read_rounds(spec, "low", &l->low, error)) ||
        (status = read_rounds(spec, "high", &l->high, error)))
        return status;
    return tarry__spec_real(spec, "p", &l->p, error);
}

static uint64_t finish(const void *state, const tarry__delay_play *play)
{
    const law *l = state;
    return tarry__delay_whole_rounds(play->scale *
                                     (play->x < l->p ? l->high : l->low));
}

static double tail(const void *state, size_t arm, double scale, double d)
{
    (void)arm;
    const law *l = state;
    return l->p * (d <= tarry__delay_real_rounds(scale * l->high)) +
           (1 - l->p) * (d <= tarry__delay_real_rounds(scale * l->low));
}

static double mean(const void *state, size_t arm, double scale)
{
    (void)arm;
    const law *l = state;
    return tarry__delay_part(l->p, tarry__delay_real_rounds(scale * l->high)) +
           tarry__delay_part(1 - l->p,
                             tarry__delay_real_rounds(scale * l->low));
}

const tarry__delay_type tarry__delay_none = {
    .entry = {"none", "feedback in the round of its play", no_settings},
    .state_size = sizeof(law),
    .init = init_none,
    .finish = finish,
    .tail = tail,
    .mean = mean,
};

const tarry__delay_type tarry__delay_constant = {
    .entry = {"constant", "always the same", constant_settings},
    .state_size = sizeof(law),
    .init = init_constant,
    .finish = finish,
    .tail = tail,
    .mean = mean,
};

const tarry__delay_type tarry__delay_two_point = {
    .entry = {"two-point", "one of two", two_point_settings},
    .state_size = sizeof(law),
    .init = init_two_point,
    .finish = finish,
    .tail = tail,
    .mean = mean,
};
