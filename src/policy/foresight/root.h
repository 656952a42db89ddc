/* root.h - Cholesky factors of small matrices in plain loops.  Matrices are r
 * by r, column-major, lower half. */
#ifndef TARRY_POLICY_FORESIGHT_ROOT_H
#define TARRY_POLICY_FORESIGHT_ROOT_H

#include <stdbool.h>
#include <stddef.h>

/* L L' = A in the place of A; false: A is not positive definite. */
bool tarry__root_factor(double *A, size_t r);

/* x = L^-1 x, x = L'^-1 x. */
void tarry__root_solve(const double *L, size_t r, double *x);
void tarry__root_solve_back(const double *L, size_t r, double *x);

/* P = (L L')^-1, both halves. */
void tarry__root_inverse(const double *L, size_t r, double *P);

#endif
