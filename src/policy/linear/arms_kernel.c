/* arms_kernel.c - compiled once per vector width, see arms_kernel.h. */
#include "policy/linear/arms_kernel.h"

#include "base/lanes.h"

enum { PER_TILE = TARRY__LINEAR_TILE / LANES };

/* ---- the square matrix ----------------------------------------------------*/

static void transposed(const double *S, size_t n, const double *x, double *y)
{
    const size_t stride = tarry__linear_stride(n);
    for (size_t i = 0; i < stride; i += LANES) {
        reals sum = {0};
        for (size_t j = 0; j < n; j++)
            sum += x[j] * load(S + j * stride + i);
        store(y + i, sum);
    }
}

static void times(const double *S, size_t n, const double *x, double *y)
{
    const size_t stride = tarry__linear_stride(n);
    for (size_t j = 0; j < n; j++) {
        eight sum = {{{0}}};
        for (size_t i = 0; i < stride; i += 8)
            for (size_t k = 0; k < PARTS; k++)
                sum.part[k] += load(S + j * stride + i + k * LANES) *
                               load(x + i + k * LANES);
        y[j] = sum_eight(sum);
    }
}

static void shrink(double *S, size_t n, double c, const double *u,
                   const double *p)
{
    const size_t stride = tarry__linear_stride(n);
    for (size_t j = 0; j < n; j++) {
        const double factor = c * u[j];
        for (size_t i = 0; i < stride; i += LANES)
            store(S + j * stride + i,
                  load(S + j * stride + i) - factor * load(p + i));
    }
}

/* ---- all arms -------------------------------------------------------------*/

/* The smallest value so far in each place of a tile, and in which tile: a
 * whole number, exact in a double. */
typedef struct {
    reals least[PER_TILE], tile[PER_TILE];
} leaders;

static inline void open_leaders(leaders *l)
{
    for (int v = 0; v < PER_TILE; v++) {
        l->least[v] = (reals){0} + (double)INFINITY;
        l->tile[v] = (reals){0};
    }
}

static inline void enter(leaders *l, int v, reals value, size_t tile)
{
    const integers below = value < l->least[v];
    l->least[v] = pick(below, value, l->least[v]);
    l->tile[v] = pick(below, (reals){0} + (double)tile, l->tile[v]);
}

/* The smallest of all, and of equals the first; without branches, as nobody can
 * foretell which lane it will be. */
static inline size_t winner(const leaders *l, double *value)
{
    reals least = l->least[0], first = (reals){0} + (double)INFINITY, lane;
    for (int v = 1; v < PER_TILE; v++)
        least = smaller(l->least[v], least);
    const double smallest = min_lanes(least);
    for (int i = 0; i < LANES; i++)
        lane[i] = i;
    for (int v = 0; v < PER_TILE; v++) {
        const reals at = l->tile[v] * TARRY__LINEAR_TILE + (lane + v * LANES);
        first = pick(l->least[v] == smallest, smaller(at, first), first);
    }
    *value = smallest;
    return (size_t)min_lanes(first);
}

static inline __attribute__((always_inline)) void
products(reals w[PER_TILE], const double *tile, size_t n, const double *x)
{
    for (int v = 0; v < PER_TILE; v++)
        w[v] = (reals){0};
#pragma GCC unroll 5
    for (size_t j = 0; j < n; j++)
        for (int v = 0; v < PER_TILE; v++)
            w[v] += x[j] * load(tile + j * TARRY__LINEAR_TILE + v * LANES);
}

static size_t lowest(const double *tiles, size_t n_tiles, size_t n,
                     const double *x, double *value)
{
    leaders l;
    open_leaders(&l);
    for (size_t t = 0; t < n_tiles; t++) {
        reals w[PER_TILE];
        products(w, tiles + t * n * TARRY__LINEAR_TILE, n, x);
        for (int v = 0; v < PER_TILE; v++)
            enter(&l, v, w[v], t);
    }
    return winner(&l, value);
}

static size_t advance(const tarry__linear_advance *a, double *value)
{
    leaders l;
    open_leaders(&l);
    for (size_t t = 0; t < a->n_tiles; t++) {
        double *m = a->m + t * TARRY__LINEAR_TILE,
               *q = a->q + t * TARRY__LINEAR_TILE;
        for (size_t i = 0; i < a->n_changes; i++) {
            reals w[PER_TILE];
            products(w, a->tiles + t * a->n * TARRY__LINEAR_TILE, a->n,
                     a->u + i * a->n);
            for (int v = 0; v < PER_TILE; v++) {
                store(m + v * LANES, load(m + v * LANES) + a->c[i] * w[v]);
                store(q + v * LANES,
                      load(q + v * LANES) - a->d[i] * (w[v] * w[v]));
            }
        }
        for (int v = 0; v < PER_TILE; v++) {
            const reals zero = {0}, var = load(q + v * LANES);
            const reals positive = pick(var > zero, var, zero);
            const reals spread = a->squared ? positive : root(positive);
            enter(&l, v, load(m + v * LANES) - a->width * spread, t);
        }
    }
    return winner(&l, value);
}

const tarry__arms_kernels PASTE(tarry__arms_, KERNEL) = {
    transposed, times, shrink, lowest, advance};
