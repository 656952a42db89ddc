/* instance.h - arms and the unknown theta; the mean losses follow.
 *
 * Every random number is drawn at (seed, run, index, stream), so an instance
 * is a function of its description, the seed and the run. */
#ifndef TARRY_ENV_INSTANCE_H
#define TARRY_ENV_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "env/entry.h"
#include "env/streams.h"
#include "tarry/random.h"

typedef struct tarry__instance_type tarry__instance_type;

typedef struct {
    const tarry__instance_type *type;
    size_t n_arms, dim;
    double *arms;  /* arm k is arms[k*dim .. k*dim + dim-1] */
    double *theta; /* dim numbers */
    double *mean;  /* mean[k] = <arm k, theta>; 1e-12 from +/-1 counts as it;
                      of this round, if means change */
    size_t best;   /* the arm with the smallest mean, the first of them */
    double best_mean;
    double q, dbar; /* of lower-loss, 0 elsewhere */
    double *error;  /* per arm, added to its mean; NULL: none */
    /* Means that change: those of round `until` and later, followed by those at
     * first; NULL: they do not. */
    double *later;
    uint64_t from, until;
} tarry__instance;

/* Whose randomness an instance uses. */
typedef struct {
    uint64_t seed;
    uint32_t run;
} tarry__instance_place;

struct tarry__instance_type {
    tarry__entry entry;
    /* Calls tarry__instance_reserve and fills arms and theta. */
    tarry_status (*make)(const tarry__spec *spec, tarry__instance_place place,
                         tarry__instance *out, tarry_error *error);
};

extern const tarry__entry *const tarry__instances[];

/* Makes the instance that `text` describes.  End it with
 * tarry__instance_clear; after a failure it is empty. */
tarry_status tarry__instance_init(tarry__instance *out, const char *text,
                                  tarry__instance_place place,
                                  tarry_error *error);
void tarry__instance_clear(tarry__instance *instance);

/* Goes on to a round: means, best and best_mean are those of the last multiple
 * of TARRY__INSTANCE_STEP.  Whether they have changed. */
bool tarry__instance_move(tarry__instance *instance, uint64_t round);

/* ---- for the records -----------------------------------------------------*/

extern const tarry__instance_type tarry__instance_sphere, tarry__instance_cube,
    tarry__instance_basis, tarry__instance_file, tarry__instance_orthogonal,
    tarry__instance_lower_loss, tarry__instance_lower_payoff,
    tarry__instance_optimism, tarry__instance_orthant, tarry__instance_circle,
    tarry__instance_listed, tarry__instance_misspecified,
    tarry__instance_copies;

enum {
    TARRY__INSTANCE_STEP = 64,
    TARRY__INSTANCE_MOST_ARMS = 100000000,
    TARRY__INSTANCE_MOST_DIM = 1000000
};

#define TARRY__INSTANCE_FIXED_SETTING                                          \
    TARRY__SPEC_COUNT("fixed", "0", 0, 1,                                      \
                      "1: the instance of run 0 in every run")

/* place.run = 0 if the setting `fixed` is 1. */
tarry_status tarry__instance_place_fix(const tarry__spec *spec,
                                       tarry__instance_place *place,
                                       tarry_error *error);

/* Room for arms, theta and mean. */
tarry_status tarry__instance_reserve(tarry__instance *instance, size_t n_arms,
                                     size_t dim, tarry_error *error);

/* A setting that counts arms or dimensions. */
tarry_status tarry__instance_size(const tarry__spec *spec, const char *key,
                                  size_t *out, tarry_error *error);

/* Vector `index` of a stream, uniform on the unit sphere; `at` gives seed, run,
 * stream and attempt. */
void tarry__instance_unit_vector(tarry_random at, size_t index, size_t dim,
                                 double *out);

/* theta uniform on the sphere of radius `scale`. */
void tarry__instance_sphere_theta(tarry__instance_place place, double scale,
                                  tarry__instance *instance);

/* Uniform on 0..count-1: the arm that is to be the best. */
size_t tarry__instance_drawn_arm(tarry__instance_place place, size_t count);

/* Fills the arms with candidates such that low <= <a_i, a_j> <= high for all
 * pairs: checks every pair, draws those at fault anew with attempt + 1, and
 * refuses after 32 attempts. */
typedef void tarry__instance_candidate(tarry_random at, size_t index,
                                       size_t dim, double *out);
tarry_status tarry__instance_separate(tarry__instance *instance,
                                      tarry_random at,
                                      tarry__instance_candidate *draw,
                                      double low, double high,
                                      tarry_error *error);

/* K unit vectors with all |<a_i, a_j>| <= within. */
tarry_status tarry__instance_nearly_orthogonal(tarry__instance *instance,
                                               tarry__instance_place place,
                                               double within,
                                               tarry_error *error);

/* sqrt(8 log K / n), what Lemma hard_action_set promises for K vectors. */
double tarry__instance_orthogonal_promise(size_t n_arms, size_t dim);

#endif
