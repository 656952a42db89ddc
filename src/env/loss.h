/* loss.h - laws of the loss of an arm, given its mean.
 *
 * Losses lie in [-1, 1]; a law that could leave it on some arm is refused
 * when made, up to a rounding of 1e-12, which draws clip away. */
#ifndef TARRY_ENV_LOSS_H
#define TARRY_ENV_LOSS_H

#include "env/instance.h"

typedef struct tarry__loss_type tarry__loss_type;

typedef struct {
    const tarry__loss_type *type;
    const double *mean; /* the instance's, which must live on */
    size_t n_arms;
    double low;   /* losses stay in [low, 1]; -1 where it is no setting */
    double width; /* uniform: half-width; normal: standard deviation */
    double *edge; /* normal: per arm P(noise below -reach) */
    double *part; /* mixture: per arm far, p, width */
} tarry__loss;

struct tarry__loss_type {
    tarry__entry entry;
    bool two_valued; /* losses are `lower` or 1 */
    double lower;
    /* Reads settings; NULL: there are none. */
    tarry_status (*init)(tarry__loss *loss, const tarry__spec *spec,
                         tarry_error *error);
    /* The loss of `arm` from one uniform u in (0, 1). */
    double (*draw)(const tarry__loss *loss, size_t arm, double u);
    /* P(l <= x) if inclusive, else P(l < x). */
    double (*cdf)(const tarry__loss *loss, size_t arm, double x,
                  bool inclusive);
    /* The smallest and the largest loss that can be drawn. */
    void (*range)(const tarry__loss *loss, size_t arm, double *low,
                  double *high);
};

extern const tarry__entry *const tarry__loss_losses[];
extern const tarry__loss_type tarry__loss_rademacher, tarry__loss_uniform,
    tarry__loss_normal, tarry__loss_bernoulli, tarry__loss_none,
    tarry__loss_mixture;

/* Makes the law that `text` describes; end it with tarry__loss_clear. */
tarry_status tarry__loss_init(tarry__loss *out, const char *text,
                              const tarry__instance *instance,
                              tarry_error *error);
void tarry__loss_clear(tarry__loss *loss);

/* For records with noise on both sides of the mean: how far it can go, and the
 * setting that limits it. */
double tarry__loss_reach(const tarry__loss *loss, size_t arm);

#define TARRY__LOSS_LOW_SETTING                                                \
    TARRY__SPEC_REAL("low", "-1", -1, 1,                                       \
                     "losses stay in [low, 1]; 0 for delay-as-payoff")

#endif
