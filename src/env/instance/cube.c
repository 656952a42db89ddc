/* cube.c - corners of the hypercube, scaled to length 1.
 *
 * All 2^n in binary order, or K that are distinct and look random: corner k is
 * the image of k under a random one-to-one map of the numbers of b = min(n, 63)
 * bits, six rounds of "times an odd number, plus a number, fold the upper half
 * onto the lower"; coordinates beyond 63 are coins. */
#include "env/instance.h"

#include <math.h>
#include "base/base.h"

enum { CODE_BITS = 63, ROUNDS = 6, MOST_ALL = 24 };

static const tarry_setting settings[] = {
    TARRY__SPEC_COUNT("dim", "10", 1, TARRY__INSTANCE_MOST_DIM, "dimension n"),
    TARRY__SPEC_COUNT("arms", "100", 0, TARRY__INSTANCE_MOST_ARMS,
                      "number of arms K; 0: all 2^n corners, n <= 24"),
    TARRY__SPEC_REAL("scale", "1", 0, 1e6,
                     "length of theta, uniform on the sphere"),
    TARRY__INSTANCE_FIXED_SETTING,
    TARRY__SPEC_END,
};

typedef struct {
    uint64_t odd[ROUNDS], plus[ROUNDS], mask;
    unsigned shift;
} code_map;

static code_map draw_map(tarry_random at, unsigned bits)
{
    code_map map = {.mask = (UINT64_C(1) << bits) - 1, .shift = (bits + 1) / 2};
    for (at.round = 0; at.round < ROUNDS; at.round++) {
        uint32_t w[4];
        tarry_random_bits(&at, w);
        map.odd[at.round] = (w[0] | (uint64_t)w[1] << 32) | 1;
        map.plus[at.round] = w[2] | (uint64_t)w[3] << 32;
    }
    return map;
}

static uint64_t code_of(const code_map *map, uint64_t k)
{
    for (int r = 0; r < ROUNDS; r++) {
        k = (k * map->odd[r] + map->plus[r]) & map->mask;
        k ^= k >> map->shift;
    }
    return k;
}

static void set_corner(uint64_t code, tarry_random at, size_t k, size_t dim,
                       double *out)
{
    const double length = sqrt((double)dim);
    for (size_t i = 0; i < dim; i++) {
        int up = i < CODE_BITS && (code >> i & 1);
        if (i >= CODE_BITS) {
            at.round = ROUNDS + (uint64_t)k * dim + i;
            up = tarry_random_uniform(&at) < 0.5;
        }
        out[i] = (up ? 1 : -1) / length;
    }
}

static tarry_status corner_count(const tarry__spec *spec, size_t dim,
                                 size_t *n_arms, tarry_error *error)
{
    const tarry_status status =
        tarry__instance_size(spec, "arms", n_arms, error);
    if (status != TARRY_OK)
        return status;
    const uint64_t all = dim < CODE_BITS ? UINT64_C(1) << dim : UINT64_MAX;
    if (*n_arms == 0 && dim > MOST_ALL)
        return tarry__base_fail(
            error, TARRY_BAD_INPUT,
            "cube: all corners (arms=0) need dim <= %d: '%zu'", MOST_ALL, dim);
    if (*n_arms == 0)
        *n_arms = (size_t)all;
    if (*n_arms > all)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "cube: arms must be at most 2^dim = %ju: '%zu'",
                                (uintmax_t)all, *n_arms);
    return TARRY_OK;
}

static tarry_status make(const tarry__spec *spec, tarry__instance_place place,
                         tarry__instance *out, tarry_error *error)
{
    size_t dim, n_arms;
    double scale;
    tarry_status status;
    if ((status = tarry__instance_size(spec, "dim", &dim, error)) ||
        (status = corner_count(spec, dim, &n_arms, error)) ||
        (status = tarry__spec_real(spec, "scale", &scale, error)) ||
        (status = tarry__instance_place_fix(spec, &place, error)) ||
        (status = tarry__instance_reserve(out, n_arms, dim, error)))
        return status;
    const tarry_random at = {
        .seed = place.seed, .run = place.run, .stream = TARRY__ENV_STREAM_ARMS};
    const int all = dim <= MOST_ALL && n_arms == (size_t)1 << dim;
    const code_map map =
        draw_map(at, dim < CODE_BITS ? (unsigned)dim : CODE_BITS);
    for (size_t k = 0; k < n_arms; k++)
        set_corner(all ? k : code_of(&map, k), at, k, dim, out->arms + k * dim);
    tarry__instance_sphere_theta(place, scale, out);
    return TARRY_OK;
}

const tarry__instance_type tarry__instance_cube = {
    {"cube", "distinct corners of the hypercube, scaled to length 1", settings},
    make};
