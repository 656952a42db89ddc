/* delay.h - laws of the delay of a play, in whole rounds.
 *
 * Delay 0 is seen at the end of the play's own round.  Delays above
 * TARRY__DELAY_LONGEST rounds count as TARRY__DELAY_NEVER.
 *
 * A draw has two steps, so that many rounds can be made at once.  `prepare`
 * turns uniforms into numbers x that do not depend on the arm; `finish` makes a
 * delay of x for the arm that was played and, in loss-dependent laws, its
 * loss.  The mean and the quantiles are those of the delay so drawn: rounded,
 * per arm, with never and with the law of the losses taken into account.
 *
 * Common settings, in the records that list them:
 *   never=P       feedback is lost with probability P
 *   spread=S      arm k of K has its scale times S^(2k/(K-1) - 1): 1/S to S
 *   factors=FILE  arm k has its scale times number k of the file
 *   slow=N        arms from the N-th on have scale 0; N = 0: none has
 * The scale of a law is what its mean grows with in proportion, rounding
 * aside: `mean`, `median`, `scale`, or every delay that is listed. */
#ifndef TARRY_ENV_DELAY_H
#define TARRY_ENV_DELAY_H

#include <math.h>
#include "env/loss.h"

#define TARRY__DELAY_NEVER UINT64_MAX
#define TARRY__DELAY_LONGEST 1e14 /* rounds; setting values too */

/* What a delay may depend on. */
typedef enum {
    TARRY__DELAY_BY_NOTHING, /* one law for all arms */
    TARRY__DELAY_BY_ARM,
    TARRY__DELAY_BY_LOSS, /* joint law of loss and delay */
} tarry__env_dependence;

/* One play, as `finish` sees it. */
typedef struct {
    size_t arm;
    double scale;    /* per_arm's answer for this arm */
    double loss, x;  /* x from `prepare` */
    tarry_random at; /* for laws that need more draws; attempt is 1 */
} tarry__delay_play;

/* What a law is made for; both live as long as the delay. */
typedef struct {
    const tarry__instance *instance;
    const tarry__loss *loss;
} tarry__delay_stage;

/* Functions that take `scale` get per_arm's answer. */
typedef struct {
    tarry__entry entry;
    bool by_loss;   /* `finish` looks at the loss */
    bool crossing;  /* arms' laws may cross: none is always the later one */
    bool unbounded; /* every delay has a longer one of positive probability */
    double largest_scale; /* an arm with a larger one is refused; 0: none is */
    size_t state_size;
    tarry_status (*init)(void *state, const tarry__spec *spec,
                         const tarry__delay_stage *stage, tarry_error *error);
    void (*clear)(void *state); /* NULL: nothing to do */
    /* Scale of an arm with this factor; NULL: the factor itself. */
    double (*per_arm)(const void *state, double factor);
    /* Uniforms in (0, 1) to x, in place; NULL: leaves them. */
    void (*prepare)(const void *state, double *u, size_t count);
    /* The delay of a play; NULL: whole rounds of scale * x. */
    uint64_t (*finish)(const void *state, const tarry__delay_play *play);
    /* P(delay >= d) for whole d >= 1, and the mean, of an arm. */
    double (*tail)(const void *state, size_t arm, double scale, double d);
    double (*mean)(const void *state, size_t arm, double scale);
    /* Draws the loss too, from u and x; NULL: the loss law does. */
    double (*joint_loss)(const void *state, size_t arm, double u, double x);
    /* What every policy loses within so many rounds, on average, and *by which
     * theorem, which is NULL if none is known; NULL: none ever is. */
    double (*lower_bound)(const void *state, double horizon, const char **by);
    /* Told the rounds from at->round on, and their u for the loss, before they
     * are played; NULL: need not know. */
    void (*draw_rounds)(void *state, const tarry_random *at, size_t count,
                        const double *u);
} tarry__delay_type;

typedef struct {
    const tarry__delay_type *type;
    void *state;
    double never;
    size_t n_scales; /* 1 if all arms are alike, else n_arms */
    double *scale;
} tarry__delay;

extern const tarry__entry *const tarry__delays[];

/* Makes the law of an entry of tarry__delays from its checked description; end
 * it with tarry__delay_clear. */
tarry_status tarry__delay_init(tarry__delay *out, const tarry__entry *entry,
                               const tarry__spec *spec,
                               const tarry__delay_stage *stage,
                               tarry_error *error);
void tarry__delay_clear(tarry__delay *delay);

tarry__env_dependence tarry__delay_dependence(const tarry__delay *delay);

void tarry__delay_prepare(const tarry__delay *delay, double *u, size_t count);
uint64_t tarry__delay_finish(const tarry__delay *delay, size_t arm, double loss,
                             double x, const tarry_random *at);

/* P(delay >= d), d from 0; infinite delays included. */
double tarry__delay_tail(const tarry__delay *delay, size_t arm, uint64_t d);

/* May be infinite. */
double tarry__delay_mean(const tarry__delay *delay, size_t arm);

/* The smallest d with P(delay <= d) >= q, for q in [0, 1]. */
uint64_t tarry__delay_quantile(const tarry__delay *delay, size_t arm, double q);

/* That, or `least` if that is below it, which takes one look at the law. */
uint64_t tarry__delay_quantile_above(const tarry__delay *delay, size_t arm,
                                     double q, uint64_t least);

/* ---- for the records -----------------------------------------------------*/

extern const tarry__delay_type tarry__delay_none, tarry__delay_constant,
    tarry__delay_uniform, tarry__delay_geometric, tarry__delay_exponential,
    tarry__delay_poisson, tarry__delay_pareto, tarry__delay_lomax,
    tarry__delay_lognormal, tarry__delay_weibull, tarry__delay_two_point,
    tarry__delay_empirical, tarry__delay_low_late, tarry__delay_high_late,
    tarry__delay_threshold, tarry__delay_lowest_late, tarry__delay_highest_late,
    tarry__delay_shapes, tarry__delay_theorem, tarry__delay_payoff,
    tarry__delay_resampled, tarry__delay_outage, tarry__delay_selective;

#define TARRY__DELAY_COMMON_SETTINGS                                           \
    TARRY__SPEC_REAL("never", "0", 0, 1,                                       \
                     "probability that feedback never comes"),                 \
        TARRY__SPEC_REAL(                                                      \
            "spread", "1", 1, 1e6,                                             \
            "S: arms have scales from 1/S to S times the stated"),             \
        TARRY__SPEC_TEXT("factors", "",                                        \
                         "file with a factor for the scale of each arm"),      \
        TARRY__SPEC_COUNT("slow", "0", 0, TARRY__INSTANCE_MOST_ARMS,           \
                          "only so many arms, the first, are delayed; 0: all")

/* Real time to whole rounds, rounded down; a relative 2^-50 below a whole
 * number counts as it, lest 49 * (1/49) be 0 rounds. */
static inline uint64_t tarry__delay_whole_rounds(double time)
{
    if (!(time <= TARRY__DELAY_LONGEST))
        return TARRY__DELAY_NEVER;
    return (uint64_t)(time * (1 + 0x1p-50));
}

/* The same as a real number, infinite for never. */
static inline double tarry__delay_real_rounds(double time)
{
    const uint64_t rounds = tarry__delay_whole_rounds(time);
    return rounds == TARRY__DELAY_NEVER ? INFINITY : (double)rounds;
}

/* A share of delays that are so long: their part of the mean, nothing of what
 * never is. */
static inline double tarry__delay_part(double share, double rounds)
{
    return share > 0 ? share * rounds : 0;
}

/* u to -log u, an exponential of mean 1. */
void tarry__delay_prepare_log(const void *state, double *u, size_t count);

/* The sum over whole d >= from of tail(d), the mean of a rounded delay if from
 * is 1.  `beyond(y)` is the integral of the tail above y. */
double tarry__delay_sum_tail(double from,
                             double (*tail)(const void *, size_t, double,
                                            double),
                             double (*beyond)(const void *, double, double),
                             const void *state, double scale);

#endif
