/* empirical.c - delays drawn with equal chances from a file.
 *
 * A factor scales each and rounds it down.  The list is kept in order. */
#include "env/delay.h"

#include <stdlib.h>
#include "base/base.h"
#include "env/column.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_TEXT("file", NULL,
                     "file of delays in rounds, a row or a column"),
    TARRY__DELAY_COMMON_SETTINGS,
    TARRY__SPEC_END,
};

typedef struct {
    double *delay; /* increasing */
    size_t count;
} law;

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__delay_stage *stage, tarry_error *error)
{
    (void)stage;
    law *l = state;
    const tarry_status status = tarry__column_read_delays(
        tarry__spec_text(spec, "file"), &l->delay, &l->count, error);
    if (status == TARRY_OK)
        qsort(l->delay, l->count, sizeof *l->delay, by_size);
    return status;
}

static void clear(void *state)
{
    tarry__base_free(((law *)state)->delay);
}

static uint64_t finish(const void *state, const tarry__delay_play *play)
{
    const law *l = state;
    const size_t i = (size_t)(play->x * (double)l->count);
    return tarry__delay_whole_rounds(play->scale * l->delay[i]);
}

/* Bisection: entries below `low` fall short of d, from `high` on they reach
 * it. */
static double tail(const void *state, size_t arm, double scale, double d)
{
    (void)arm;
    const law *l = state;
    size_t low = 0, high = l->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (tarry__delay_real_rounds(scale * l->delay[middle]) < d)
            low = middle + 1;
        else
            high = middle;
    }
    return (double)(l->count - high) / (double)l->count;
}

static double mean(const void *state, size_t arm, double scale)
{
    (void)arm;
    const law *l = state;
    double sum = 0;
    for (size_t i = 0; i < l->count; i++)
        sum += tarry__delay_real_rounds(scale * l->delay[i]);
    return sum / (double)l->count;
}

const tarry__delay_type tarry__delay_empirical = {
    .entry = {"empirical", "drawn from a file of delays", settings},
    .state_size = sizeof(law),
    .init = init,
    .clear = clear,
    .finish = finish,
    .tail = tail,
    .mean = mean,
};
