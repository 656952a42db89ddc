/* arms_kernel.h - the hottest loops of the linear baselines: all arms against
 * one vector, and the small square matrix that follows the design matrix.
 *
 * Arms lie in tiles of 16: entry j of arm 16 t + i is tiles[(t n + j) 16 + i],
 * so that a vector holds the same entry of several arms.  The last tile is
 * filled up with copies of the last arm; results are then equal too, and ties
 * go to the lowest position, so a copy never wins.  An arm's numbers do not
 * depend on its place. */
#ifndef TARRY_POLICY_LINEAR_ARMS_KERNEL_H
#define TARRY_POLICY_LINEAR_ARMS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

enum {
    TARRY__LINEAR_TILE = 16,
    TARRY__LINEAR_STRIDE = 8,
    TARRY__LINEAR_MOST_CHANGES = 8
};

/* Square matrices here have n rows of `stride` doubles, a multiple of 8, zeros
 * beyond n; so have vectors that multiply them from the right. */
static inline size_t tarry__linear_stride(size_t n)
{
    return (n + TARRY__LINEAR_STRIDE - 1) / TARRY__LINEAR_STRIDE *
           TARRY__LINEAR_STRIDE;
}

static inline size_t tarry__linear_n_tiles(size_t count)
{
    return (count + TARRY__LINEAR_TILE - 1) / TARRY__LINEAR_TILE;
}

/* Copies arms (of rows[arm] or, if rows is NULL, 0..count-1) to tile places
 * from.. from + count - 1 and fills up the last tile. */
void tarry__linear_tiles_fill(double *tiles, const double *arms, size_t n,
                              const unsigned *rows, size_t from, size_t count);

/* One round of a bracket per arm: mean m, variance q.  A change moves theta by
 * c u and V^-1 by -d u u'. */
typedef struct {
    const double *tiles;
    size_t n, n_tiles;
    double *m, *q; /* per place */
    size_t n_changes;
    const double *u; /* n per change */
    const double *c, *d;
    double width; /* index = m - width sqrt(q), */
    bool squared; /*   or m - width q */
} tarry__linear_advance;

typedef struct {
    /* y = S' x and y = S x. */
    void (*transposed)(const double *S, size_t n, const double *x, double *y);
    void (*times)(const double *S, size_t n, const double *x, double *y);
    /* S -= c u p'. */
    void (*shrink)(double *S, size_t n, double c, const double *u,
                   const double *p);
    /* The place of the arm a with the smallest <a, x>, and that. */
    size_t (*lowest)(const double *tiles, size_t n_tiles, size_t n,
                     const double *x, double *value);
    /* Makes the changes; then the place of the smallest index, and that. */
    size_t (*advance)(const tarry__linear_advance *a, double *value);
} tarry__arms_kernels;

extern const tarry__arms_kernels tarry__arms_base, tarry__arms_avx2,
    tarry__arms_avx512;

/* Those for this machine. */
const tarry__arms_kernels *tarry__arms_kernel(void);

#endif
