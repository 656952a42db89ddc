/* lab_design.c - a trial of the balanced design.
 *
 * The arms of the instance, some much longer than others if uneven; g is
 * evaluated here from the weights alone. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "env/world.h"
#include "paper/lab.h"
#include "tarry/design.h"
#include "tarry/random.h"

enum { LARGEST = TARRY__LAB_DESIGN_DIM };

/* V = sum w a a' and its Cholesky factor, lower; false if V is singular. */
static bool factor(const tarry_design *d, const double *arms, size_t n,
                   double *V)
{
    memset(V, 0, n * n * sizeof *V);
    for (size_t k = 0; k < d->n_support; k++) {
        const double *a = arms + d->arm[k] * n;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                V[i * n + j] += d->weight[k] * a[i] * a[j];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = V[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= V[i * n + k] * V[j * n + k];
            if (i == j && !(sum > 0))
                return false;
            V[i * n + j] = i == j ? sqrt(sum) : sum / V[j * n + j];
        }
    return true;
}

/* a' V^-1 a from the factor. */
static double variance(const double *L, const double *a, size_t n)
{
    double y[LARGEST], sum = 0;
    for (size_t i = 0; i < n; i++) {
        y[i] = a[i];
        for (size_t k = 0; k < i; k++)
            y[i] -= L[i * n + k] * y[k];
        y[i] /= L[i * n + i];
        sum += y[i] * y[i];
    }
    return sum;
}

static double largest_variance(const tarry_design *d, const double *arms,
                               size_t K, size_t n)
{
    double V[LARGEST * LARGEST], g = 0;
    if (!factor(d, arms, n, V))
        return INFINITY;
    for (size_t k = 0; k < K; k++)
        g = fmax(g, variance(V, arms + k * n, n));
    return g;
}

/* Each arm times a log-normal number of its own. */
static void stretch(double *arms, size_t K, size_t n, uint64_t seed,
                    uint32_t run)
{
    for (size_t k = 0; k < K; k++) {
        const tarry_random at = {
            .seed = seed, .run = run, .round = k, .stream = 7};
        const double scale = tarry__exp(tarry_random_normal(&at));
        for (size_t i = 0; i < n; i++)
            arms[k * n + i] *= scale;
    }
}

static void look_at(const tarry_design *d, const double *arms, size_t K,
                    size_t n, tarry__lab_answer *answer)
{
    const double r = (double)d->rank, psi = (double)d->n_support;
    const double loglog = r > 2 ? fmax(tarry__ln(tarry__ln(r)), 0) : 0;
    const double g = largest_variance(d, arms, K, n) / r;
    answer->design_g = isfinite(g) ? g : DBL_MAX;
    answer->design_weight = 2 * psi * d->min_weight;
    answer->design_support = psi / floor(16 + 4 * r * loglog);
}

/* A set that has no design leaves zeros. */
tarry_status tarry__lab_design(const tarry__lab_case *c, uint64_t seed,
                               uint32_t run, tarry__lab_answer *answer,
                               tarry_error *error)
{
    tarry__world *world;
    tarry_design *d = NULL;
    tarry_design_options options = tarry_design_defaults();
    tarry_status status = tarry__world_create(c->instance, c->loss, c->delay,
                                              seed, run, &world, error);
    if (status != TARRY_OK)
        return status;
    double *arms = world->instance.arms;
    const size_t K = world->instance.n_arms, n = world->instance.dim;
    if (c->kind == TARRY__LAB_DESIGN_UNEVEN)
        stretch(arms, K, n, seed, run);
    options.rule = TARRY_DESIGN_PAPER;
    status = n <= LARGEST ? tarry_design_solve(arms, K, n, &options, &d)
                          : TARRY_BAD_ARGUMENT;
    if (status == TARRY_OK)
        look_at(d, arms, K, n, answer);
    tarry_design_free(d);
    tarry__world_free(world);
    return status == TARRY_NO_MEMORY
               ? tarry__base_fail(error, status, "out of memory")
               : TARRY_OK;
}
