/* discrete.c - draws by weight in constant time: the alias method.
 *
 * Scale the weights to mean 1 and see each as a column of that height.  Fill
 * every column below height 1 from one above it, until all stand at 1 and none
 * holds more than two indices: its own up to `keep`, its alias above.  A draw
 * picks a column with one uniform and a height in it with the other.
 * A. J. Walker (1977); built in the order of M. D. Vose, "A linear algorithm
 * for generating random numbers with a given distribution", IEEE Transactions
 * on Software Engineering 17 (1991) 972-975. */
#include "random/philox.h"

#include <math.h>
#include "base/base.h"
#include "random/rounds.h"

typedef struct {
    double keep; /* share of the column that is its own index */
    size_t alias;
} column;

struct tarry_discrete {
    size_t count;
    column *columns;
};

/* The largest weight; 0 unless all are numbers >= 0 and some are positive. */
static double largest_weight(const double *weights, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(weights[i] >= 0 && isfinite(weights[i])))
            return 0;
        largest = fmax(largest, weights[i]);
    }
    return largest;
}

/* Heights of mean 1; the division by the largest keeps the sum finite. */
static void set_heights(const double *weights, double largest,
                        tarry_discrete *law)
{
    double sum = 0;
    for (size_t i = 0; i < law->count; i++)
        sum += weights[i] / largest;
    for (size_t i = 0; i < law->count; i++)
        law->columns[i].keep = weights[i] / largest / sum * (double)law->count;
}

/* Turns heights into `keep` and `alias`.  Two stacks share `work`, count
 * indices long: low columns from its left end, high ones from its right. */
static void fill_columns(tarry_discrete *law, size_t *work)
{
    column *columns = law->columns;
    size_t low_end = 0, high_begin = law->count;
    for (size_t i = 0; i < law->count; i++)
        work[columns[i].keep < 1 ? low_end++ : --high_begin] = i;

    while (low_end > 0 && high_begin < law->count) {
        const size_t low = work[--low_end], high = work[high_begin];
        columns[low].alias = high;
        columns[high].keep -= 1 - columns[low].keep;
        if (columns[high].keep < 1) {
            high_begin++;
            work[low_end++] = high;
        }
    }
    /* What is left on either stack stands at 1 but for rounding, which adds up
     * to less than count^2 2^-52: no empty column is left below 2^26. */
    while (low_end > 0)
        columns[work[--low_end]].keep = 1;
    while (high_begin < law->count)
        columns[work[high_begin++]].keep = 1;
}

static tarry_discrete *allocate(size_t count)
{
    tarry_discrete *law = tarry__base_alloc(1, sizeof *law);
    if (law == NULL)
        return NULL;
    law->count = count;
    law->columns = tarry__base_zalloc(count, sizeof *law->columns);
    if (law->columns != NULL)
        return law;
    tarry__base_free(law);
    return NULL;
}

tarry_status tarry_discrete_create(const double *weights, size_t count,
                                   tarry_discrete **out)
{
    if (out == NULL)
        return TARRY_BAD_ARGUMENT;
    *out = NULL;
    const double largest = weights ? largest_weight(weights, count) : 0;
    if (largest == 0)
        return TARRY_BAD_ARGUMENT;

    tarry_discrete *law = allocate(count);
    size_t *work = tarry__base_alloc(count, sizeof *work);
    if (law == NULL || work == NULL) {
        tarry_discrete_free(law);
        tarry__base_free(work);
        return TARRY_NO_MEMORY;
    }
    set_heights(weights, largest, law);
    fill_columns(law, work);
    tarry__base_free(work);
    *out = law;
    return TARRY_OK;
}

/* u * count stays below count: u <= 1 - 2^-53, so the product lies more than
 * half a spacing of doubles below it, or on a double. */
size_t tarry__random_discrete_pick(const tarry_discrete *law, double u,
                                   double v)
{
    const size_t i = (size_t)(u * (double)law->count);
    const column *drawn = &law->columns[i];
    return v < drawn->keep ? i : drawn->alias;
}

size_t tarry_discrete_draw(const tarry_discrete *law, const tarry_random *at)
{
    if (law == NULL || at == NULL)
        return SIZE_MAX;
    const philox4x32_ctr_t block = tarry__random_block(at);
    return tarry__random_discrete_pick(law, tarry__random_unit(block, 0),
                                       tarry__random_unit(block, 1));
}

void tarry_discrete_free(tarry_discrete *law)
{
    if (law == NULL)
        return;
    tarry__base_free(law->columns);
    tarry__base_free(law);
}
