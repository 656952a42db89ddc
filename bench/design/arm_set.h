/* arm_set.h - invented arms, the same in every run. */
#ifndef BENCH_ARM_SET_H
#define BENCH_ARM_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    size_t n_arms, dim; /* K and n */
    double *arms;       /* arm k is arms[k*dim .. k*dim + dim-1] */
} arm_set;

/* Writes arm k; `random` is the state of its own generator. */
typedef void arm_kind(uint64_t *random, size_t k, double *arm, size_t dim);

arm_kind gaussian;      /* N(0,1) in each coordinate */
arm_kind unit_sphere;   /* uniform on it */
arm_kind uniform_ball;  /* uniform inside the unit sphere */
arm_kind cube_corners;  /* each coordinate -1 or 1 */
arm_kind grid;          /* rounded Gaussian: a lattice, many arms twice */
arm_kind one_hot;       /* coordinate k mod n is 1, the others 0 */
arm_kind student_three; /* Student t with 3 degrees of freedom */

/* Ends the program if there is not enough memory. */
arm_set arm_set_create(arm_kind *kind, size_t n_arms, size_t dim);
void arm_set_free(arm_set *set);

/* Writes a NumPy .npy file; false if that failed. */
bool arm_set_save(const arm_set *set, const char *path);

#endif
