/* exchange_kernel.c - compiled once per vector width, see exchange_kernel.h. */
#include "design/exchange_kernel.h"

#include "base/lanes.h"

enum { BLOCK = 4 }; /* vectors of points at a time */

/* u = A x and v = A y for symmetric r by r A. */
static void times_two(const double *A, size_t r, const double *x,
                      const double *y, double *u, double *v)
{
    for (size_t i = 0; i < r; i++)
        u[i] = v[i] = 0;
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < r; i++) {
            u[i] += A[i + j * r] * x[j];
            v[i] += A[i + j * r] * y[j];
        }
}

/* c and e of `vectors` vectors of points from i on. */
static inline __attribute__((always_inline)) void
correlate(const tarry__exchange *ex, size_t i, size_t vectors)
{
    reals c[BLOCK], e[BLOCK];
    for (size_t b = 0; b < vectors; b++)
        c[b] = e[b] = (reals){0};
    const double *row = ex->rows + i;
    for (size_t j = 0; j < ex->rank; j++, row += ex->stride)
        for (size_t b = 0; b < vectors; b++) {
            const reals x = load(row + b * LANES);
            c[b] += ex->u[j] * x;
            e[b] += ex->v[j] * x;
        }
    for (size_t b = 0; b < vectors; b++) {
        store(ex->c + i + b * LANES, c[b]);
        store(ex->e + i + b * LANES, e[b]);
    }
}

void PASTE(tarry__exchange_look_, KERNEL)(tarry__exchange *ex, size_t k,
                                          size_t l)
{
    const size_t r = ex->rank;
    times_two(ex->inverse, r, ex->x + k * r, ex->x + l * r, ex->u, ex->v);
    size_t i = 0;
    for (; i + BLOCK * LANES <= ex->count; i += BLOCK * LANES)
        correlate(ex, i, BLOCK);
    for (; i < ex->count; i += LANES)
        correlate(ex, i, 1);
}

static void change_inverse(tarry__exchange *ex, tarry__exchange_change by)
{
    const size_t r = ex->rank;
    for (size_t j = 0; j < r; j++)
        ex->v[j] -= by.f * ex->u[j];
    for (size_t j = 0; j < r; j++) {
        const double s = by.s * ex->u[j], t = by.t * ex->v[j];
        double *column = ex->inverse + j * r;
        for (size_t i = 0; i < r; i++)
            column[i] = by.scale * (column[i] - (s * ex->u[i] + t * ex->v[i]));
    }
}

/* The place of the smallest value, the first of several. */
static size_t place_of_least(reals value, integers place)
{
    size_t best = 0;
    for (size_t i = 1; i < LANES; i++)
        if (value[i] < value[best] ||
            (value[i] == value[best] && place[i] < place[best]))
            best = i;
    return (size_t)place[best];
}

void PASTE(tarry__exchange_make_, KERNEL)(tarry__exchange *ex,
                                          tarry__exchange_change by)
{
    change_inverse(ex, by);
    const reals none = (reals){0} + INFINITY;
    reals least = none, most = none; /* most: of the opposites */
    integers here, at_least = {0}, at_most = {0};
    for (int i = 0; i < LANES; i++)
        here[i] = i;
    for (size_t i = 0; i < ex->count; i += LANES, here += LANES) {
        const reals c = load(ex->c + i), e = load(ex->e + i) - by.f * c;
        const reals d =
            by.scale * (load(ex->variance + i) - (by.s * c * c + by.t * e * e));
        const reals w = by.keep * load(ex->weight + i);
        store(ex->variance + i, d);
        store(ex->weight + i, w);
        const integers higher = -d < most;
        const reals supported = pick(w > 0, d, none);
        const integers lower = supported < least;
        most = pick(higher, -d, most);
        at_most = (higher & here) | (~higher & at_most);
        least = pick(lower, supported, least);
        at_least = (lower & here) | (~lower & at_least);
    }
    ex->most = place_of_least(most, at_most);
    ex->least = place_of_least(least, at_least);
}
