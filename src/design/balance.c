/* balance.c - no supported arm may be rare.
 *
 * The paper (Lemma "design with min") raises every supported weight below
 * 1/psi to 1/psi and scales; the smallest is then at least 1/(2 psi), and no
 * variance more than doubles.  Here the floor f is the least that gives
 * 1/(2 psi) after scaling: f = sum_i max(w_i, f) / (2 psi), found from the
 * sorted weights: with the j smallest raised, f = (rest) / (2 psi - j). */
#include "design/core.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double least_floor(const double *sorted, size_t support)
{
    double rest = 1, floor = 1 / (2 * (double)support);
    for (size_t j = 0; j < support && sorted[j] < floor; j++) {
        rest -= sorted[j];
        floor = rest / (2 * (double)support - (double)(j + 1));
    }
    return floor;
}

bool tarry__core_balance(tarry__core *core)
{
    size_t support = 0;
    for (size_t i = 0; i < core->count; i++)
        if (core->weight[i] > 0)
            core->scratch[support++] = core->weight[i];
    qsort(core->scratch, support, sizeof *core->scratch, by_value);
    const double floor = least_floor(core->scratch, support) * (1 + 1e-12);
    for (size_t i = 0; i < core->count; i++)
        if (core->weight[i] > 0)
            core->weight[i] = fmax(core->weight[i], floor);
    return tarry__core_refresh(core);
}
