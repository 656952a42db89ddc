/* logrank.c - see logrank.h.
 *
 * V has a sum over times of n_k n_l; with C(t) the sum of
 * d (n - d) / ((n - 1) n^2) up to t it is the sum over pairs of decisions, one
 * of each group, of C at the shorter of their two times.  So one walk from the
 * longest time to the shortest, counting decisions by group, gives all of V in
 * decisions times groups. */
#include "log/logrank.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"
#include "log/order.h"
#include "random/special.h"

enum { FEW = 5, MOST_GROUPS = 101 };

/* Sums over the steps of the curve up to a time. */
typedef struct {
    double expected; /* of d / n */
    double single;   /* of d (n - d) / ((n - 1) n) */
    double paired;   /* of d (n - d) / ((n - 1) n^2) */
} hazards;

typedef struct {
    const tarry__survival *curve;
    hazards *up_to; /* by step */
    uint32_t *order;
    uint32_t *place; /* of each group among those compared */
    double *expected;
    size_t n; /* compared */
    double seen[MOST_GROUPS], sum[MOST_GROUPS], met[MOST_GROUPS];
    double V[MOST_GROUPS * MOST_GROUPS];
} work;

static void add_steps(work *w)
{
    hazards h = {0, 0, 0};
    for (size_t i = 0; i < w->curve->n_steps; i++) {
        const double d = w->curve->step[i].events,
                     n = w->curve->step[i].at_risk;
        const double v = n > 1 ? d * (n - d) / (n - 1) : 0;
        h.expected += d / n;
        h.single += v / n;
        h.paired += v / (n * n);
        w->up_to[i] = h;
    }
}

/* The hazards up to a time; *step, the steps at or before it, only falls. */
static hazards hazards_at(const work *w, double time, size_t *step)
{
    while (*step > 0 && w->curve->step[*step - 1].time > time)
        (*step)--;
    return *step > 0 ? w->up_to[*step - 1] : (hazards){0, 0, 0};
}

static void expect(work *w, const double *time, const uint32_t *group,
                   size_t count)
{
    size_t step = w->curve->n_steps;
    for (size_t i = count; i-- > 0;) {
        const size_t at = w->order[i];
        w->expected[group[at]] += hazards_at(w, time[at], &step).expected;
    }
}

/* Large groups each have a place, the small ones share the last. */
static bool place_groups(work *w, size_t groups)
{
    uint32_t *by_size = tarry__base_alloc(groups, sizeof *by_size);
    const bool ok =
        by_size != NULL && tarry__log_order(w->expected, groups, by_size);
    double small = 0;
    for (size_t i = groups; ok && i-- > 0;) {
        const uint32_t k = by_size[i];
        const bool is_large = w->expected[k] >= FEW && w->n + 1 < MOST_GROUPS;
        w->place[k] = is_large ? (uint32_t)w->n : MOST_GROUPS;
        w->n += is_large;
        small += is_large ? 0 : w->expected[k];
    }
    w->n += small >= FEW || w->n == 0;
    for (size_t k = 0; ok && k < groups; k++)
        if (w->place[k] == MOST_GROUPS)
            w->place[k] = (uint32_t)w->n - 1;
    tarry__base_free(by_size);
    return ok;
}

static void add_up(work *w, const double *time, const bool *seen,
                   const uint32_t *group, size_t count)
{
    size_t step = w->curve->n_steps;
    for (size_t i = count; i-- > 0;) {
        const size_t at = w->order[i], k = w->place[group[at]];
        const hazards h = hazards_at(w, time[at], &step);
        double *row = w->V + k * w->n;
        w->seen[k] += seen[at];
        w->sum[k] += h.expected;
        row[k] += (h.single - h.paired) / 2; /* the pair with itself is one */
        for (size_t l = 0; l < w->n; l++)
            row[l] -= h.paired * w->met[l];
        w->met[k]++;
    }
    for (size_t k = 0; k < w->n; k++) /* pairs in either order */
        for (size_t l = 0; l <= k; l++)
            w->V[k * w->n + l] = w->V[l * w->n + k] =
                w->V[k * w->n + l] + w->V[l * w->n + k];
}

/* Without the last group, which follows from the others. */
static double p_of(const work *w)
{
    const size_t n = w->n, m = n - 1;
    double L[MOST_GROUPS * MOST_GROUPS], z[MOST_GROUPS], x[MOST_GROUPS];
    double sum = 0;
    for (size_t k = 0; k < m; k++) {
        z[k] = x[k] = w->seen[k] - w->sum[k];
        for (size_t l = 0; l < m; l++)
            L[k * m + l] = w->V[k * n + l];
    }
    if (m == 0 || !tarry__linalg_cholesky(L, m))
        return NAN;
    tarry__linalg_cholesky_solve(L, m, x);
    for (size_t k = 0; k < m; k++)
        sum += z[k] * x[k];
    return tarry__random_gamma_upper((double)m / 2, fmax(0, sum) / 2);
}

bool tarry__logrank(const tarry__survival *curve, const double *time,
                    const bool *seen, const uint32_t *group, size_t count,
                    size_t groups, double *p_value)
{
    work *w = tarry__base_zalloc(1, sizeof *w);
    bool ok = w != NULL;
    if (ok) {
        w->curve = curve;
        w->up_to = tarry__base_alloc(curve->n_steps + 1, sizeof *w->up_to);
        w->order = tarry__base_alloc(count, sizeof *w->order);
        w->place = tarry__base_alloc(groups, sizeof *w->place);
        w->expected = tarry__base_zalloc(groups, sizeof *w->expected);
        ok = w->up_to != NULL && w->order != NULL && w->place != NULL &&
             w->expected != NULL && tarry__log_order(time, count, w->order);
    }
    if (ok) {
        add_steps(w);
        expect(w, time, group, count);
        ok = place_groups(w, groups);
    }
    if (ok) {
        add_up(w, time, seen, group, count);
        *p_value = p_of(w);
    }
    if (w != NULL) {
        tarry__base_free(w->up_to);
        tarry__base_free(w->order);
        tarry__base_free(w->place);
        tarry__base_free(w->expected);
    }
    tarry__base_free(w);
    return ok;
}
