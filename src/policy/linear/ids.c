/* ids.c - information-directed sampling with confidence bounds.
 *
 * Source: Kirschner and Krause, "Information directed sampling and bandits with
 * heteroscedastic noise", 2018; from the stated idea, their text was not at
 * hand.  With m(a) -/+ beta |a|_{V^-1} as bounds, the cost of an arm is its
 * upper bound minus the least lower bound, and its information what its loss
 * says about the arm u with the least lower bound,
 *     -log(1 - (a' V^-1 u)^2 / ((1 + |a|^2) |u|^2)).
 * Arms are drawn from the mixture of two with the least cost^2 / information,
 * one of them being the cheapest; the paper searches all pairs.
 *
 * Delays: bounds from what has arrived; outstanding plays count in V where
 * information is concerned.  beta is that of linucb.c times alpha. */
#include <math.h>
#include "linalg/linalg.h"
#include "base/elementary.h"
#include "policy/linear/directed.h"
#include "policy/linear/linear.h"

static size_t room(size_t dim, size_t n_arms)
{
    (void)n_arms;
    return 2 * tarry__linear_stride(dim);
}

/* The place of the arm with the least lower bound; costs in passing. */
static size_t find_costs(tarry__directed *d)
{
    const double width =
        d->alpha *
        tarry__ridge_radius(&d->seen, tarry__policy_failure(d->problem));
    double least = INFINITY;
    size_t u = 0;
    for (size_t i = 0; i < tarry__policy_n_choices(d->problem); i++) {
        const double off =
            width *
            sqrt(tarry__ridge_variance(&d->seen, tarry__directed_arm(d, i)));
        d->cost[i] = d->mean[i] + off;
        if (d->mean[i] - off < least) {
            least = d->mean[i] - off;
            u = i;
        }
    }
    for (size_t i = 0; i < tarry__policy_n_choices(d->problem); i++)
        d->cost[i] -= least;
    return u;
}

static void weigh(tarry__directed *d, uint64_t round)
{
    const size_t n = d->problem->dim, u = find_costs(d);
    const double *arm = tarry__directed_arm(d, u);
    double *p = d->work, *y = d->work + tarry__linear_stride(n);
    (void)round;
    d->asked.kernels->transposed(d->asked.S, n, arm, p);
    d->asked.kernels->times(d->asked.S, n, p, y); /* V^-1 u */
    const double own = tarry__linalg_dot(arm, y, n);
    for (size_t i = 0; i < tarry__policy_n_choices(d->problem); i++) {
        const double *a = tarry__directed_arm(d, i);
        const double cov = tarry__linalg_dot(a, y, n);
        const double both = (1 + tarry__ridge_variance(&d->asked, a)) * own;
        d->info[i] = both > 0 ? -tarry__log1p(-cov * cov / both) : 0;
    }
    tarry__directed_mix(d);
}

static const tarry__directed_rule rule = {.room = room, .weigh = weigh};

static const tarry_setting settings[] = {
    TARRY__RIDGE_SETTING,
    TARRY__SPEC_REAL("alpha", "1", 0, 1e6,
                     "width, as a share of the one that is valid"),
    TARRY__SPEC_END,
};

const tarry__policy_type tarry__linear_ids = {
    .name = "ids",
    .source = "Kirschner and Krause 2018",
    .summary = "information about the arm with the least lower bound",
    .costly = true,
    .settings = settings,
    .rule = &rule,
    TARRY__LINEAR_DIRECTED,
};
