/* linmed.c - linear minimum empirical divergence.
 *
 * Source: Balagopalan and Jun, "Minimum empirical divergence for sub-Gaussian
 * linear bandits", 2024; from the stated idea, their text was not at hand.  An
 * arm with the gap g(a) to the empirically best arm b is drawn with weight
 *     q(a) exp(-g(a)^2 / (beta^2 |a - b|^2_{V^-1})),
 * q being half a near-optimal design, 0.495 on b, and the rest uniform; beta is
 * that of linucb.c times alpha.
 *
 * Delays: all from what has arrived.  The weights are random enough not to
 * depend on single losses. */
#include <math.h>
#include "linalg/linalg.h"
#include "base/elementary.h"
#include "policy/linear/directed.h"
#include "policy/linear/linear.h"
#include "tarry/design.h"

static const double DESIGN = 0.5, BEST = 0.495;

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
        const double q = DESIGN * d->work[tarry__policy_choice(d->problem, i)] +
                         (i == best ? BEST : 0) +
                         (1 - DESIGN - BEST) / (double)count;
        d->weights[i] = gap > 0 ? q * tarry__exp(-gap * gap / width) : q;
    }
}

static const tarry__directed_rule rule = {
    .room = room, .prepare = prepare, .weigh = weigh};

static const tarry_setting settings[] = {
    TARRY__RIDGE_SETTING,
    TARRY__SPEC_REAL("alpha", "1", 0, 1e6,
                     "width, as a share of the one that is valid"),
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
