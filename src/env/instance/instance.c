/* instance.c - the list of instances and what they share. */
#include "env/instance.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"

const tarry__entry *const tarry__instances[] = {
    &tarry__instance_sphere.entry,     &tarry__instance_orthant.entry,
    &tarry__instance_cube.entry,       &tarry__instance_basis.entry,
    &tarry__instance_file.entry,       &tarry__instance_orthogonal.entry,
    &tarry__instance_lower_loss.entry, &tarry__instance_lower_payoff.entry,
    &tarry__instance_circle.entry,     &tarry__instance_optimism.entry,
    &tarry__instance_listed.entry,     &tarry__instance_misspecified.entry,
    &tarry__instance_copies.entry,     NULL,
};

/* Unit vectors have products of 1 up to rounding; those count as 1, lest a
 * loss of +/-1 seem out of range. */
static const double rounding = 1e-12;

static double mean_of(const tarry__instance *instance, size_t arm)
{
    const size_t n = instance->dim;
    const double mu =
        tarry__linalg_dot(instance->arms + arm * n, instance->theta, n) +
        (instance->error != NULL ? instance->error[arm] : 0);
    return fabs(fabs(mu) - 1) <= rounding ? copysign(1, mu) : mu;
}

static void find_best(tarry__instance *instance)
{
    instance->best = 0;
    for (size_t k = 0; k < instance->n_arms; k++)
        if (instance->mean[k] < instance->mean[instance->best])
            instance->best = k;
    instance->best_mean = instance->mean[instance->best];
}

static void find_means(tarry__instance *instance)
{
    const size_t K = instance->n_arms;
    for (size_t k = 0; k < K; k++)
        instance->mean[k] = mean_of(instance, k);
    find_best(instance);
    if (instance->later != NULL)
        memcpy(instance->later + K, instance->mean, K * sizeof(double));
}

static double share_moved(const tarry__instance *instance, uint64_t round)
{
    const uint64_t now = round - round % TARRY__INSTANCE_STEP;
    if (now < instance->from)
        return 0;
    return now >= instance->until
               ? 1
               : (double)(now - instance->from) /
                     (double)(instance->until - instance->from);
}

bool tarry__instance_move(tarry__instance *instance, uint64_t round)
{
    const size_t K = instance->n_arms;
    if (instance->later == NULL || round % TARRY__INSTANCE_STEP != 0)
        return false;
    const double share = share_moved(instance, round);
    const double *first = instance->later + K;
    for (size_t k = 0; k < K; k++)
        instance->mean[k] = first[k] + share * (instance->later[k] - first[k]);
    find_best(instance);
    return true;
}

tarry_status tarry__instance_init(tarry__instance *out, const char *text,
                                  tarry__instance_place place,
                                  tarry_error *error)
{
    tarry__spec spec;
    const tarry__entry *entry;
    memset(out, 0, sizeof *out);
    tarry_status status = tarry__entry_open(text, "instance", tarry__instances,
                                            NULL, &spec, &entry, error);
    if (status != TARRY_OK)
        return status;
    out->type = (const tarry__instance_type *)entry;
    status = out->type->make(&spec, place, out, error);
    tarry__spec_clear(&spec);
    if (status == TARRY_OK)
        find_means(out);
    else
        tarry__instance_clear(out);
    return status;
}

void tarry__instance_clear(tarry__instance *instance)
{
    tarry__base_free(instance->arms);
    tarry__base_free(instance->theta);
    tarry__base_free(instance->mean);
    tarry__base_free(instance->error);
    tarry__base_free(instance->later);
    memset(instance, 0, sizeof *instance);
}

tarry_status tarry__instance_reserve(tarry__instance *instance, size_t n_arms,
                                     size_t dim, tarry_error *error)
{
    size_t numbers;
    assert(instance->arms == NULL);
    instance->n_arms = n_arms;
    instance->dim = dim;
    if (!__builtin_mul_overflow(n_arms, dim, &numbers)) {
        instance->arms = tarry__base_zalloc(numbers, sizeof(double));
        instance->theta = tarry__base_zalloc(dim, sizeof(double));
        instance->mean = tarry__base_zalloc(n_arms, sizeof(double));
    }
    if (instance->arms && instance->theta && instance->mean)
        return TARRY_OK;
    return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

tarry_status tarry__instance_place_fix(const tarry__spec *spec,
                                       tarry__instance_place *place,
                                       tarry_error *error)
{
    uint64_t fixed;
    const tarry_status status = tarry__spec_count(spec, "fixed", &fixed, error);
    if (status == TARRY_OK && fixed)
        place->run = 0;
    return status;
}

tarry_status tarry__instance_size(const tarry__spec *spec, const char *key,
                                  size_t *out, tarry_error *error)
{
    uint64_t count = 0;
    const tarry_status status = tarry__spec_count(spec, key, &count, error);
    *out = (size_t)count;
    return status;
}

/* ---- random parts --------------------------------------------------------*/

void tarry__instance_unit_vector(tarry_random at, size_t index, size_t dim,
                                 double *out)
{
    for (size_t i = 0; i < dim; i++) {
        at.round = (uint64_t)index * dim + i;
        out[i] = tarry_random_normal(&at);
    }
    const double length = sqrt(tarry__linalg_dot(out, out, dim));
    for (size_t i = 0; i < dim; i++)
        out[i] /= length;
}

void tarry__instance_sphere_theta(tarry__instance_place place, double scale,
                                  tarry__instance *instance)
{
    const tarry_random at = {.seed = place.seed,
                             .run = place.run,
                             .stream = TARRY__ENV_STREAM_THETA};
    tarry__instance_unit_vector(at, 0, instance->dim, instance->theta);
    for (size_t i = 0; i < instance->dim; i++)
        instance->theta[i] *= scale;
}

size_t tarry__instance_drawn_arm(tarry__instance_place place, size_t count)
{
    const tarry_random at = {
        .seed = place.seed, .run = place.run, .stream = TARRY__ENV_STREAM_BEST};
    return (size_t)(tarry_random_uniform(&at) * (double)count);
}
