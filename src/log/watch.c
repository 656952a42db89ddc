/* watch.c - see watch.h.  The sample is a reservoir: outcome n takes the place
 * of a random one with probability 4096/n. */
#include "log/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "tarry/random.h"

enum { ROOM = 4096, FIRST_TEST = 64, TESTS = 25, LEAST_OUTCOMES = 325 };
enum { STREAM = 40 }; /* of the reservoir's coins */
static const double level = 0.05, tolerance = 0.05, patience_share = 0.99;

typedef struct {
    double decided, delay, loss;
    uint32_t arm;
} outcome;

struct tarry__watch {
    uint64_t seed, count, next_test;
    size_t kept;
    double now;
    tarry__watch_found found;
    outcome sample[ROOM];
    /* For a test: the sample in order of time, column by column. */
    outcome sorted[ROOM];
    uint32_t arm[ROOM];
    double loss[ROOM], delay[ROOM], age[ROOM];
};

tarry_status tarry__watch_create(uint64_t seed, tarry__watch **out)
{
    *out = tarry__base_zalloc(1, sizeof **out);
    if (*out == NULL)
        return TARRY_NO_MEMORY;
    (*out)->seed = seed;
    (*out)->next_test = FIRST_TEST;
    (*out)->now = -INFINITY;
    (*out)->found.p_value = 1;
    return TARRY_OK;
}

void tarry__watch_free(tarry__watch *w)
{
    tarry__base_free(w);
}

/* ---- the sample -----------------------------------------------------------*/

static void keep(tarry__watch *w, const outcome *o)
{
    if (w->kept < ROOM) {
        w->sample[w->kept++] = *o;
        return;
    }
    const tarry_random at = {
        .seed = w->seed, .round = w->count, .stream = STREAM};
    const double place = tarry_random_uniform(&at) * (double)w->count;
    if (place < ROOM)
        w->sample[(size_t)place] = *o;
}

static int by_time(const void *a, const void *b)
{
    const outcome *x = a, *y = b;
    if (x->decided != y->decided)
        return x->decided < y->decided ? -1 : 1;
    if (x->delay != y->delay)
        return x->delay < y->delay ? -1 : 1;
    return (x->arm > y->arm) - (x->arm < y->arm);
}

/* Arms as 0, 1, 2, ... in order of their numbers, which may be anything. */
static size_t number_arms(tarry__watch *w)
{
    uint32_t known[ROOM];
    size_t count = 0;
    for (size_t i = 0; i < w->kept; i++) {
        size_t at = 0;
        while (at < count && known[at] != w->sorted[i].arm)
            at++;
        if (at == count)
            known[count++] = w->sorted[i].arm;
        w->arm[i] = (uint32_t)at;
    }
    return count;
}

/* ---- tests ----------------------------------------------------------------*/

static bool test(tarry__watch *w)
{
    tarry__dependence_found f;
    memcpy(w->sorted, w->sample, w->kept * sizeof *w->sorted);
    qsort(w->sorted, w->kept, sizeof *w->sorted, by_time);
    for (size_t i = 0; i < w->kept; i++) {
        w->loss[i] = w->sorted[i].loss;
        w->delay[i] = w->sorted[i].delay;
        w->age[i] = w->now - w->sorted[i].decided;
    }
    const tarry__dependence_pairs pairs = {
        .count = w->kept,
        .n_arms = number_arms(w),
        .arm = w->arm,
        .loss = w->loss,
        .delay = w->delay,
        .age = w->age,
        .seed = w->seed ^ w->count,
    };
    if (!tarry__dependence_test(&pairs, &f))
        return false;
    w->found.p_value = f.p_value;
    w->found.correlation = f.correlation;
    w->found.z = f.z;
    w->found.tested = w->count;
    if (f.p_value <= level / TESTS)
        w->found.verdict = TARRY__WATCH_DEPENDENT;
    tarry__dependence_clear(&f);
    return true;
}

tarry_status tarry__watch_observe(tarry__watch *w, uint32_t arm, double decided,
                                  double now, double loss)
{
    const outcome o = {decided, now - decided, loss, arm};
    w->now = fmax(w->now, now);
    w->count++;
    keep(w, &o);
    if (w->count < w->next_test || w->found.verdict == TARRY__WATCH_DEPENDENT)
        return TARRY_OK;
    if (!test(w))
        return TARRY_NO_MEMORY;
    w->next_test = 2 * w->count;
    return TARRY_OK;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double tarry__watch_patience(const tarry__watch *w)
{
    double delay[ROOM];
    if (w->kept == 0)
        return INFINITY;
    for (size_t i = 0; i < w->kept; i++)
        delay[i] = w->sample[i].delay;
    qsort(delay, w->kept, sizeof *delay, by_size);
    return delay[(size_t)(patience_share * (double)(w->kept - 1))];
}

tarry__watch_found tarry__watch_look(const tarry__watch *w, uint64_t decisions,
                                     uint64_t overdue)
{
    tarry__watch_found f = w->found;
    f.outcomes = w->count;
    if (f.verdict == TARRY__WATCH_DEPENDENT) {
        f.why = f.z > 2 ? "high losses come later than low ones of the same arm"
                : f.z < -2
                    ? "low losses come later than high ones of the same arm"
                    : "late losses of an arm differ from its early ones";
    } else if (f.tested < LEAST_OUTCOMES) {
        f.why = "too few outcomes have come";
    } else if ((double)overdue > tolerance * (double)decisions) {
        f.why = "too many decisions that should have an outcome have none";
    } else {
        f.verdict = TARRY__WATCH_INDEPENDENT;
        f.why = "late losses of an arm look like its early ones";
    }
    return f;
}

const char *tarry__watch_text(tarry__watch_verdict verdict)
{
    static const char *const texts[] = {"cannot tell", "independent",
                                        "dependent"};
    return texts[verdict];
}
