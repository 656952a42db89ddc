/* resampled.c - pairs of loss and delay drawn again from a list per arm.
 *
 * The file has rows of four numbers: arm, loss, delay in rounds (-1: never) and
 * weight; a pair of an arm is drawn in proportion to its weight.  The mean loss
 * of each arm must be what the instance says, since regret is counted with
 * that. */
#include "env/delay.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "tarry/arms.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_TEXT("file", NULL,
                     "file of pairs: arm, loss, delay in rounds or -1, "
                     "weight"),
    TARRY__SPEC_END,
};

enum { ARM, LOSS, DELAY, WEIGHT, COLUMNS };
static const double rounding = 1e-9;

/* The pairs of arm k are those from begin[k] to begin[k + 1]; `share` adds
 * their weights up to 1. */
typedef struct {
    size_t n_arms, *begin;
    double *loss, *delay, *share;
} law;

static void clear(void *state)
{
    law *l = state;
    tarry__base_free(l->begin);
    tarry__base_free(l->loss);
}

static tarry_status check_row(const double *row, size_t n_arms,
                              const char *path, size_t i, tarry_error *error)
{
    const char *wrong =
        !(row[ARM] >= 0 && row[ARM] < (double)n_arms &&
          row[ARM] == floor(row[ARM]))
            ? "no such arm"
        : !(fabs(row[LOSS]) <= 1) ? "the loss is outside [-1, 1]"
        : !(row[DELAY] >= -1 && row[DELAY] <= TARRY__DELAY_LONGEST &&
            row[DELAY] == floor(row[DELAY]))
            ? "the delay is not a whole number of rounds or -1"
        : !(row[WEIGHT] > 0) ? "the weight is not above 0"
                             : NULL;
    if (wrong == NULL)
        return TARRY_OK;
    return tarry__base_fail(error, TARRY_BAD_INPUT, "%s: pair %zu: %s", path,
                            i + 1, wrong);
}

static tarry_status make_room(law *l, size_t n_arms, size_t count,
                              tarry_error *error)
{
    l->n_arms = n_arms;
    l->begin = tarry__base_zalloc(n_arms + 2, sizeof *l->begin);
    l->loss = tarry__base_alloc(3 * count, sizeof *l->loss);
    if (l->begin == NULL || l->loss == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    l->delay = l->loss + count;
    l->share = l->delay + count;
    return TARRY_OK;
}

/* By arm, as they stand in the file; begin[k + 1] moves from the first pair of
 * arm k to behind its last. */
static void sort_pairs(law *l, const tarry_arms *table)
{
    for (size_t i = 0; i < table->n_arms; i++)
        l->begin[(size_t)table->data[i * COLUMNS + ARM] + 2]++;
    for (size_t k = 0; k < l->n_arms; k++)
        l->begin[k + 2] += l->begin[k + 1];
    for (size_t i = 0; i < table->n_arms; i++) {
        const double *row = table->data + i * COLUMNS;
        const size_t at = l->begin[(size_t)row[ARM] + 1]++;
        l->loss[at] = row[LOSS];
        l->delay[at] = row[DELAY];
        l->share[at] = row[WEIGHT];
    }
}

/* Weights to sums that end at 1; the mean loss must be the instance's. */
static tarry_status add_weights(law *l, size_t k, const tarry__instance *a,
                                const char *path, tarry_error *error)
{
    double sum = 0, mean = 0, all = 0;
    for (size_t i = l->begin[k]; i < l->begin[k + 1]; i++)
        all += l->share[i];
    for (size_t i = l->begin[k]; i < l->begin[k + 1]; i++) {
        mean += l->share[i] / all * l->loss[i];
        sum += l->share[i] / all;
        l->share[i] = sum;
    }
    if (l->begin[k] == l->begin[k + 1])
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s: no pair of arm %zu", path, k);
    if (!(fabs(mean - a->mean[k]) <= rounding))
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s: the losses of arm %zu have mean %.9g, the "
                                "instance says %.9g",
                                path, k, mean, a->mean[k]);
    return TARRY_OK;
}

static tarry_status fill(law *l, const tarry_arms *table, const char *path,
                         const tarry__instance *a, tarry_error *error)
{
    tarry_status status = TARRY_OK;
    if (table->dim != COLUMNS)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s: %zu columns; arm, loss, delay and weight "
                                "are expected",
                                path, table->dim);
    for (size_t i = 0; status == TARRY_OK && i < table->n_arms; i++)
        status =
            check_row(table->data + i * COLUMNS, a->n_arms, path, i, error);
    if (status == TARRY_OK)
        status = make_room(l, a->n_arms, table->n_arms, error);
    if (status != TARRY_OK)
        return status;
    sort_pairs(l, table);
    for (size_t k = 0; status == TARRY_OK && k < a->n_arms; k++)
        status = add_weights(l, k, a, path, error);
    return status;
}

static tarry_status init(void *state, const tarry__spec *spec,
                         const tarry__delay_stage *stage, tarry_error *error)
{
    const char *path = tarry__spec_text(spec, "file");
    tarry_arms *table;
    tarry_status status = tarry_arms_read(path, &table, error);
    if (status == TARRY_OK)
        status = fill(state, table, path, stage->instance, error);
    tarry_arms_free(table);
    return status;
}

/* The pair that x in (0, 1) stands for. */
static size_t pair_at(const law *l, size_t arm, double x)
{
    size_t low = l->begin[arm], high = l->begin[arm + 1] - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (l->share[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double joint_loss(const void *state, size_t arm, double u, double x)
{
    (void)u;
    const law *l = state;
    return l->loss[pair_at(l, arm, x)];
}

static uint64_t finish(const void *state, const tarry__delay_play *play)
{
    const law *l = state;
    const double delay = l->delay[pair_at(l, play->arm, play->x)];
    return delay < 0 ? TARRY__DELAY_NEVER : (uint64_t)delay;
}

/* Adds the weight of pairs, times the delay or not, from a delay on. */
static double add_from(const law *l, size_t arm, double d, bool times_delay)
{
    double sum = 0, before = 0;
    for (size_t i = l->begin[arm]; i < l->begin[arm + 1]; i++) {
        const double delay = l->delay[i] < 0 ? INFINITY : l->delay[i];
        if (delay >= d)
            sum += (l->share[i] - before) * (times_delay ? delay : 1);
        before = l->share[i];
    }
    return sum;
}

static double tail(const void *state, size_t arm, double scale, double d)
{
    (void)scale;
    return add_from(state, arm, d, false);
}

static double mean(const void *state, size_t arm, double scale)
{
    (void)scale;
    return add_from(state, arm, 1, true);
}

const tarry__delay_type tarry__delay_resampled = {
    .entry = {"resampled",
              "pairs of loss and delay drawn from a list per arm,\n"
              "as tarry examine --export-world writes it",
              settings},
    .by_loss = true,
    .state_size = sizeof(law),
    .init = init,
    .clear = clear,
    .finish = finish,
    .tail = tail,
    .mean = mean,
    .joint_loss = joint_loss,
};
