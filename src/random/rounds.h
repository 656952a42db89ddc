/* rounds.h - the draws of many rounds at once.
 *
 * The uniforms are bit for bit those of tarry_random_uniform_pair; vectors only
 * make them faster.  The logarithm is one sequence of correctly rounded
 * operations per element, so it too gives the same bits on every machine and
 * whatever the count. */
#ifndef TARRY_RANDOM_ROUNDS_H
#define TARRY_RANDOM_ROUNDS_H

#include <stddef.h>
#include "tarry/random.h"

/* u[i], v[i] = the two uniforms at round at->round + i, for i < count. */
void tarry__random_uniform_rounds(const tarry_random *at, size_t count,
                                  double *u, double *v);

/* x[i] = -log(x[i]) for positive normal x[i]; relative error below 1e-15. */
void tarry__random_minus_log(double *x, size_t count);

/* The draw of a discrete law from the two uniforms of its address. */
size_t tarry__random_discrete_pick(const tarry_discrete *law, double u,
                                   double v);

typedef void tarry__random_uniform_kernel(const tarry_random *, size_t,
                                          double *, double *);
typedef void tarry__random_log_kernel(double *, size_t);
tarry__random_uniform_kernel tarry__random_uniforms_base,
    tarry__random_uniforms_avx2, tarry__random_uniforms_avx512;
tarry__random_log_kernel tarry__random_logs_base, tarry__random_logs_avx2,
    tarry__random_logs_avx512;

#endif
