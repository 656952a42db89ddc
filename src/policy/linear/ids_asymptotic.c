/* ids_asymptotic.c - information-directed sampling against alternatives.
 *
 * Source: Kirschner, Lattimore, Vernade and Szepesvari, "Asymptotically optimal
 * information-directed sampling", 2021; from the stated idea, their text was
 * not at hand.  b is the empirically best arm.  The nearest parameter under
 * which another arm z is as good differs from the estimate by
 *     nu(z) = g(z) V^-1 (b - z) / |b - z|^2,   g(z) the gap, norm of V^-1,
 * and the evidence against z is e(z) = g(z)^2 / |b - z|^2 / 2.  Once all
 * evidence exceeds beta^2 / 2 at a failure of 1/(t log t), b is played.  Else
 * the cost of an arm is its gap plus the most by which b may be improved on,
 * its information the mean of (|<nu(z), a>| + beta |a|)^2 / 2 over alternatives
 * with weights exp(-e(z)), and arms are drawn from the mixture of two with the
 * least cost^2 / information.
 *
 * Departures: all plays count in V, not those of exploring rounds alone; only
 * the MOST alternatives with the least evidence are weighed; beta is that of
 * linucb.c times alpha, whose square is two to three times 2 log t at everyday
 * horizons: so much above the limit c log T it stays there.
 *
 * Delays: estimate and evidence from what has arrived; outstanding plays count
 * in V where information is concerned. */
#include <math.h>
#include "linalg/linalg.h"
#include "base/elementary.h"
#include "policy/linear/directed.h"
#include "policy/linear/linear.h"

enum { MOST = 16 };

/* Evidence per arm; a vector, its image, and one between. */
static size_t room(size_t dim, size_t n_arms)
{
    return n_arms + 3 * tarry__linear_stride(dim);
}

static double *vector(const tarry__directed *d, size_t i)
{
    return d->work + d->problem->n_arms +
           i * tarry__linear_stride(d->problem->dim);
}

static void find_difference(const tarry__directed *d, size_t b, size_t z)
{
    double *x = vector(d, 0);
    for (size_t j = 0; j < d->problem->dim; j++)
        x[j] = tarry__directed_arm(d, b)[j] - tarry__directed_arm(d, z)[j];
}

static size_t find_best(const tarry__directed *d)
{
    size_t b = 0;
    for (size_t i = 1; i < tarry__policy_n_choices(d->problem); i++)
        if (d->mean[i] < d->mean[b])
            b = i;
    return b;
}

/* Mean less the least lower bound: the gap, and what may be below b. */
static void find_costs(tarry__directed *d, double width)
{
    const size_t count = tarry__policy_n_choices(d->problem);
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double *a = tarry__directed_arm(d, i);
        const double off = width * sqrt(tarry__ridge_variance(&d->seen, a));
        least = fmin(least, d->mean[i] - off);
    }
    for (size_t i = 0; i < count; i++)
        d->cost[i] = d->mean[i] - least;
}

/* Evidence against all arms, infinite for b and its copies; the least. */
static double find_evidence(tarry__directed *d, size_t b)
{
    double least = INFINITY;
    for (size_t i = 0; i < tarry__policy_n_choices(d->problem); i++) {
        const double gap = d->mean[i] - d->mean[b];
        find_difference(d, b, i);
        const double w = tarry__ridge_variance(&d->seen, vector(d, 0));
        d->work[i] = w > 1e-300 ? gap * gap / w / 2 : INFINITY;
        least = fmin(least, d->work[i]);
    }
    return least;
}

/* Adds what each arm's loss says about the alternative z. */
static void add_information(tarry__directed *d, size_t b, size_t z, double q,
                            double width)
{
    const size_t n = d->problem->dim;
    double *x = vector(d, 0), *y = vector(d, 1);
    find_difference(d, b, z);
    d->asked.kernels->transposed(d->asked.S, n, x, vector(d, 2));
    d->asked.kernels->times(d->asked.S, n, vector(d, 2), y); /* V^-1 x */
    const double scale = (d->mean[z] - d->mean[b]) / tarry__linalg_dot(x, y, n);
    for (size_t i = 0; i < tarry__policy_n_choices(d->problem); i++) {
        const double *a = tarry__directed_arm(d, i);
        const double off = fabs(scale * tarry__linalg_dot(a, y, n)) +
                           width * sqrt(tarry__ridge_variance(&d->asked, a));
        d->info[i] += q * off * off / 2;
    }
}

/* The alternatives in the order of evidence; each is taken out. */
static void find_information(tarry__directed *d, size_t b, double least,
                             double width)
{
    const size_t count = tarry__policy_n_choices(d->problem);
    for (size_t i = 0; i < count; i++)
        d->info[i] = 0;
    for (int k = 0; k < MOST; k++) {
        size_t z = 0;
        for (size_t i = 1; i < count; i++)
            if (d->work[i] < d->work[z])
                z = i;
        const double q = tarry__exp(least - d->work[z]);
        if (!(q > 1e-6))
            return;
        add_information(d, b, z, q, width);
        d->work[z] = INFINITY;
    }
}

static void weigh(tarry__directed *d, uint64_t round)
{
    const double t = (double)round;
    const double width =
        d->alpha * tarry__ridge_radius(&d->seen, 1 / (t * tarry__ln(t + 2)));
    const size_t b = find_best(d);
    const double least = find_evidence(d, b);
    if (least >= width * width / 2) {
        d->weights[b] = 1;
        return;
    }
    find_costs(d, width);
    find_information(d, b, least, width);
    tarry__directed_mix(d);
}

static const tarry__directed_rule rule = {.room = room, .weigh = weigh};

static const tarry_setting settings[] = {
    TARRY__RIDGE_SETTING,
    TARRY__SPEC_REAL("alpha", "1", 0, 1e6,
                     "width, as a share of the one that is valid"),
    TARRY__SPEC_END,
};

const tarry__policy_type tarry__linear_ids_asymptotic = {
    .name = "ids-asymptotic",
    .costly = true,
    .source = "Kirschner, Lattimore, Vernade, Szepesvari 2021",
    .summary = "information against the alternatives that are left",
    .settings = settings,
    .rule = &rule,
    TARRY__LINEAR_DIRECTED,
};
