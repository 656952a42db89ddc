/* linmed.c - linear minimum empirical divergence.
 *
 * Source: Balagopalan and Jun, "Minimum empirical divergence for sub-Gaussian
 * linear bandits", 2024; from the stated idea, their text was not at hand.  An
 * arm with the gap g(a) to the empirically best arm b is drawn with weight
 *     q(a) exp(-g(a)^2 / (beta^2 |a - b|^2_{V^-1})),
 * q being `design` times a near-optimal design, `best` on b, and the rest
 * uniform over the arms; beta is that of linucb.c times alpha.  The two
 * settings are the source's mixing weights: their sum is at most 1, and `best`
 * near 1 explores least.
 *
 * Delays: all from what has arrived.  The weights are random enough not to
 * depend on single losses. */
#include <math.h>
#include "base/base.h"
#include "linalg/linalg.h"
#include "base/elementary.h"
#include "policy/linear/directed.h"
#include "policy/linear/linear.h"
#include "tarry/design.h"

enum { DESIGN, BEST };

static tarry_status read_shares(tarry__directed *d, const tarry__spec *spec,
                                tarry_error *error)
{
    tarry_status status =
        tarry__spec_real(spec, "design", &d->share[DESIGN], error);
    if (status == TARRY_OK)
        status = tarry__spec_real(spec, "best", &d->share[BEST], error);
    if (status == TARRY_OK && d->share[DESIGN] + d->share[BEST] > 1)
        status = tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "linmed: design=%g and best=%g are shares "
                                  "whose sum is above 1",
                                  d->share[DESIGN], d->share[BEST]);
    return status;
}

/* Per arm its weight in the design; a difference. */
static size_t room(size_t dim, size_t n_arms)
{
    return n_arms + dim;
}

static tarry_status prepare(tarry__directed *d)
{
    const tarry__policy_problem *p = d->problem;
    tarry_design *design = NULL;
    const tarry_status status =
        tarry_design_solve(p->arms, p->n_arms, p->dim, NULL, &design);
    for (size_t i = 0; design != NULL && i < design->n_support; i++)
        d->work[design->arm[i]] = design->weight[i];
    tarry_design_free(design);
    return status == TARRY_TARGET_NOT_MET ? TARRY_OK : status;
}

static double variance(const tarry__directed *d, size_t i, size_t best)
{
    const size_t n = d->problem->dim;
    double *x = d->work + d->problem->n_arms;
    for (size_t j = 0; j < n; j++)
        x[j] = tarry__directed_arm(d, i)[j] - tarry__directed_arm(d, best)[j];
    return tarry__ridge_variance(&d->seen, x);
}

static void weigh(tarry__directed *d, uint64_t round)
{
    const size_t count = tarry__policy_n_choices(d->problem);
    const double *share = d->share, rest = 1 - share[DESIGN] - share[BEST];
    const double beta =
        d->alpha *
        tarry__ridge_radius(&d->seen, tarry__policy_failure(d->problem));
    size_t best = 0;
    (void)round;
    for (size_t i = 1; i < count; i++)
        if (d->mean[i] < d->mean[best])
            best = i;
    for (size_t i = 0; i < count; i++) {
        const double gap = d->mean[i] - d->mean[best];
        const double width = beta * beta * variance(d, i, best);
        const double q =
            share[DESIGN] * d->work[tarry__policy_choice(d->problem, i)] +
            (i == best ? share[BEST] : 0) + fmax(rest, 0) / (double)count;
        d->weights[i] = gap > 0 ? q * tarry__exp(-gap * gap / width) : q;
    }
}

static const tarry__directed_rule rule = {
    .room = room, .read = read_shares, .prepare = prepare, .weigh = weigh};

static const tarry_setting settings[] = {
    TARRY__RIDGE_SETTING,
    TARRY__SPEC_REAL("alpha", "1", 0, 1e6,
                     "width, as a share of the one that is valid"),
    TARRY__SPEC_REAL("design", "0.5", 0, 1, "weight of the optimal design"),
    TARRY__SPEC_REAL("best", "0.495", 1e-6, 1,
                     "weight of the empirically best arm"),
    TARRY__SPEC_END,
};

const tarry__policy_type tarry__linear_linmed = {
    .name = "linmed",
    .source = "Balagopalan and Jun 2024",
    .summary = "arms drawn by how unlikely it is that they are best",
    .costly = true,
    .settings = settings,
    .rule = &rule,
    TARRY__LINEAR_DIRECTED,
};
