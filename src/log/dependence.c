/* dependence.c - see dependence.h.
 *
 * Outcomes are laid out stratum by stratum with two numbers each, a and R, both
 * divided by the size of the stratum: T is then in proportion to it, which
 * weighs strata as their information does. */
#include "log/dependence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "random/special.h"

enum {
    BLOCK = 200,      /* outcomes that a stretch of time has at least */
    MOST_BLOCKS = 32, /* stretches per arm */
    MOST_PERMUTATIONS = 1999,
    LEAST_PERMUTATIONS = 199,
    ENOUGH = 100, /* permutations as extreme as the data: then it is clear */
};
/* p-values are made so much larger: not only is at most 5 % of logs expected to
 * have one of 0.05 or less by chance, a count over thousands says so too. */
static const double margin = 1.4;
static const double most_work = 2e8; /* permutations times outcomes */
static const double z95 = 1.959963984540054;

/* Sums of squares: of a, of R, and of |R| about its mean. */
typedef struct {
    size_t begin, count;
    uint32_t arm;
    double aa, rr, ee;
} stratum;

typedef struct {
    size_t count, n_arms, n_strata;
    double *a, *R;
    stratum *strata;
    uint32_t *order;       /* outcomes by arm */
    double *sorted;        /* three lists of one stratum */
    double *arm_T, *arm_V; /* T and its variance, per arm */
    double *pairs;         /* per arm */
    size_t *arm_begin;     /* n_arms + 1 */
    double V, V_extreme;   /* of the two pooled sums */
} layout;

/* What one arrangement of the losses gives. */
typedef struct {
    double T, extreme, squares;
} sums;

/* ---- the layout -----------------------------------------------------------*/

static void clear_layout(layout *l)
{
    tarry__base_free(l->a);
    tarry__base_free(l->R);
    tarry__base_free(l->strata);
    tarry__base_free(l->order);
    tarry__base_free(l->sorted);
    tarry__base_free(l->arm_T);
    tarry__base_free(l->arm_begin);
}

static size_t blocks_of(size_t count)
{
    const size_t blocks = count / BLOCK;
    return blocks < 1 ? 1 : blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks;
}

/* Counting sort by arm, which keeps the order of time. */
static void group_by_arm(layout *l, const tarry__dependence_pairs *p)
{
    size_t *begin = l->arm_begin;
    memset(begin, 0, (l->n_arms + 1) * sizeof *begin);
    for (size_t i = 0; i < p->count; i++)
        begin[p->arm[i] + 1]++;
    for (size_t k = 0; k < l->n_arms; k++)
        begin[k + 1] += begin[k];
    for (size_t i = 0; i < p->count; i++)
        l->order[begin[p->arm[i]]++] = (uint32_t)i;
    for (size_t k = l->n_arms; k > 0; k--)
        begin[k] = begin[k - 1];
    begin[0] = 0;
}

static void cut_strata(layout *l)
{
    for (uint32_t k = 0; k < l->n_arms; k++) {
        const size_t begin = l->arm_begin[k];
        const size_t count = l->arm_begin[k + 1] - begin;
        const size_t blocks = blocks_of(count);
        for (size_t b = 0; b < blocks && count > 1; b++) {
            const size_t from = begin + count * b / blocks;
            const size_t to = begin + count * (b + 1) / blocks;
            l->strata[l->n_strata++] =
                (stratum){.begin = from, .count = to - from, .arm = k};
        }
    }
}

static bool make_room(layout *l, const tarry__dependence_pairs *p)
{
    const size_t n = p->count, K = p->n_arms;
    *l = (layout){.count = n, .n_arms = K};
    l->a = tarry__base_zalloc(n, sizeof *l->a);
    l->R = tarry__base_zalloc(n, sizeof *l->R);
    l->strata = tarry__base_zalloc(K + n / BLOCK + 1, sizeof *l->strata);
    l->order = tarry__base_alloc(n, sizeof *l->order);
    l->arm_T = tarry__base_zalloc(3 * K, sizeof *l->arm_T);
    l->arm_begin = tarry__base_alloc(K + 1, sizeof *l->arm_begin);
    if (l->a == NULL || l->R == NULL || l->strata == NULL || l->order == NULL ||
        l->arm_T == NULL || l->arm_begin == NULL)
        return false;
    l->arm_V = l->arm_T + K;
    l->pairs = l->arm_V + K;
    group_by_arm(l, p);
    cut_strata(l);
    size_t largest = 1;
    for (size_t s = 0; s < l->n_strata; s++)
        if (l->strata[s].count > largest)
            largest = l->strata[s].count;
    l->sorted = tarry__base_alloc(3 * largest, sizeof *l->sorted);
    return l->sorted != NULL;
}

/* ---- scores ---------------------------------------------------------------*/

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many of the sorted values are below x; or not above it. */
static size_t below(const double *sorted, size_t count, double x, bool or_equal)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sorted[middle] < x || (or_equal && sorted[middle] == x))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const double *sort_into(double *to, const double *from,
                               const uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[order[i]];
    qsort(to, count, sizeof *to, by_size);
    return to;
}

/* a and R of the outcomes of a stratum. */
static void score(layout *l, stratum *s, const tarry__dependence_pairs *p)
{
    const size_t n = s->count;
    const uint32_t *order = l->order + s->begin;
    const double *d = sort_into(l->sorted, p->delay, order, n);
    const double *A = sort_into(l->sorted + n, p->age, order, n);
    const double *loss = sort_into(l->sorted + 2 * n, p->loss, order, n);
    const double size = (double)n, middle = size / 2;
    for (size_t i = 0; i < n; i++) {
        const size_t k = order[i];
        const double delay = p->delay[k], mine = p->loss[k];
        /* #{A_j >= d_i} - #{d_j >= d_i}: earlier ones to compare with */
        const size_t earlier =
            below(d, n, delay, false) - below(A, n, delay, false);
        const size_t later =
            below(d, n, p->age[k], true) - below(d, n, delay, true);
        const size_t ranks =
            below(loss, n, mine, false) + below(loss, n, mine, true);
        l->a[s->begin + i] = ((double)earlier - (double)later) / size;
        l->R[s->begin + i] = ((double)ranks / 2 - middle) / size;
        l->pairs[s->arm] += (double)earlier;
    }
}

/* Sums of squares, and what they give for the variances of T. */
static void weigh(layout *l, stratum *s)
{
    const double n = (double)s->count;
    double mean = 0;
    for (size_t i = s->begin; i < s->begin + s->count; i++) {
        s->aa += l->a[i] * l->a[i];
        s->rr += l->R[i] * l->R[i];
        mean += fabs(l->R[i]) / n;
    }
    s->ee = fmax(0, s->rr - n * mean * mean);
    if (s->ee < 1e-9 * s->rr) /* all alike but for rounding */
        s->ee = 0;
    const double V = s->aa * s->rr / (n - 1);
    l->arm_V[s->arm] += V;
    l->V += V;
    l->V_extreme += s->aa * s->ee / (n - 1);
}

/* ---- the statistics -------------------------------------------------------*/

static sums add_up(layout *l)
{
    sums all = {0};
    memset(l->arm_T, 0, l->n_arms * sizeof *l->arm_T);
    for (size_t s = 0; s < l->n_strata; s++) {
        const stratum *x = &l->strata[s];
        if (!(x->aa > 0 && x->rr > 0))
            continue;
        double T = 0, extreme = 0;
        for (size_t i = x->begin; i < x->begin + x->count; i++) {
            T += l->a[i] * l->R[i];
            extreme += l->a[i] * fabs(l->R[i]);
        }
        l->arm_T[x->arm] += T;
        all.T += T;
        all.extreme += x->ee > 0 ? extreme : 0;
    }
    for (size_t k = 0; k < l->n_arms; k++)
        if (l->arm_V[k] > 0)
            all.squares += l->arm_T[k] * l->arm_T[k] / l->arm_V[k];
    return all;
}

static size_t arms_compared(const layout *l)
{
    size_t count = 0;
    for (size_t k = 0; k < l->n_arms; k++)
        count += l->arm_V[k] > 0;
    return count;
}

static double normal_p(double T, double V)
{
    return V > 0 ? 2 * tarry__random_normal_tail(fabs(T) / sqrt(V)) : 1;
}

static double chi_square_p(double x, size_t freedom)
{
    return freedom > 0 ? tarry__random_gamma_upper((double)freedom / 2, x / 2)
                       : 1;
}

/* The chi-square value whose tail is p, from below. */
static double chi_square_at(double p, size_t freedom)
{
    double low = 0, high = (double)freedom + 10;
    while (chi_square_p(high, freedom) > p && high < 1e9)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        if (chi_square_p(middle, freedom) > p)
            low = middle;
        else
            high = middle;
    }
    return high * (1 - 1e-9);
}

/* ---- permutations ---------------------------------------------------------*/

static uint64_t next_bits(uint64_t *state) /* splitmix64 */
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void tarry__dependence_shuffle(double *x, size_t count, uint64_t *state)
{
    for (size_t i = count; i > 1; i--) {
        const size_t k = (size_t)((next_bits(state) >> 32) * (uint64_t)i >> 32);
        const double other = x[k];
        x[k] = x[i - 1];
        x[i - 1] = other;
    }
}

/* The share of arrangements that have a p-value as small as `p` by the limits;
 * these bound the three sums from below. */
static double permute(layout *l, double p, uint64_t seed, uint64_t most,
                      uint64_t *done)
{
    const size_t arms = arms_compared(l);
    const double z = p < 1 ? tarry__random_normal_quantile(1 - p / 2) : 0;
    const double z_low = isfinite(z) ? z * (1 - 1e-9) : 38;
    const double T = z_low * sqrt(l->V), E = z_low * sqrt(l->V_extreme);
    const double squares = chi_square_at(p, arms);
    uint64_t state = seed, extreme = 0, i = 0;
    while (i < most && extreme < ENOUGH) {
        for (size_t s = 0; s < l->n_strata; s++)
            tarry__dependence_shuffle(l->R + l->strata[s].begin,
                                      l->strata[s].count, &state);
        const sums x = add_up(l);
        i++;
        extreme += fabs(x.T) >= T || x.squares >= squares ||
                   (l->V_extreme > 0 && fabs(x.extreme) >= E);
    }
    *done = i;
    return extreme == ENOUGH ? (double)extreme / (double)i
                             : (double)(extreme + 1) / (double)(i + 1);
}

/* ---- the test -------------------------------------------------------------*/

static void tell_arms(const layout *l, tarry__dependence_found *f)
{
    for (size_t s = 0; s < l->n_strata; s++) /* of the correlation: its scale */
        f->by_arm[l->strata[s].arm].correlation +=
            sqrt(l->strata[s].aa * l->strata[s].rr);
    for (size_t k = 0; k < l->n_arms; k++) {
        const double V = l->arm_V[k], T = l->arm_T[k];
        f->by_arm[k] = (tarry__dependence_arm){
            .count = l->arm_begin[k + 1] - l->arm_begin[k],
            .pairs = l->pairs[k],
            .correlation = V > 0 ? T / f->by_arm[k].correlation : NAN,
            .z = V > 0 ? T / sqrt(V) : NAN,
            .p_value = V > 0 ? normal_p(T, V) : NAN};
    }
}

static void tell_all(const layout *l, const sums *x, tarry__dependence_found *f)
{
    double scale = 0;
    for (size_t s = 0; s < l->n_strata; s++) {
        const stratum *t = &l->strata[s];
        const bool compared = t->aa > 0 && t->rr > 0;
        scale += compared ? sqrt(t->aa * t->rr) : 0;
        f->compared += compared ? t->count : 0;
        f->grouped += t->count;
        f->strata += compared;
    }
    if (f->compared == 0)
        return;
    f->correlation = x->T / scale;
    f->z = x->T / sqrt(l->V);
    const double reach = z95 * sqrt(l->V) / scale;
    f->low = fmax(-1, f->correlation - reach);
    f->high = fmin(1, f->correlation + reach);
}

static void test(layout *l, const tarry__dependence_pairs *pairs,
                 tarry__dependence_found *f)
{
    for (size_t s = 0; s < l->n_strata; s++) {
        score(l, &l->strata[s], pairs);
        weigh(l, &l->strata[s]);
    }
    const sums x = add_up(l);
    tell_arms(l, f);
    tell_all(l, &x, f);
    if (f->compared == 0)
        return;
    double p =
        fmin(normal_p(x.T, l->V), chi_square_p(x.squares, arms_compared(l)));
    p = fmin(p, normal_p(x.extreme, l->V_extreme));
    const double most =
        fmin(MOST_PERMUTATIONS, most_work / (double)pairs->count);
    p = most < LEAST_PERMUTATIONS
            ? 3 * p
            : permute(l, p, pairs->seed, (uint64_t)most, &f->permutations);
    f->p_value = fmin(1, margin * p);
}

bool tarry__dependence_test(const tarry__dependence_pairs *pairs,
                            tarry__dependence_found *found)
{
    layout l;
    *found = (tarry__dependence_found){.p_value = 1};
    found->by_arm = tarry__base_zalloc(pairs->n_arms, sizeof *found->by_arm);
    const bool ok = make_room(&l, pairs) && found->by_arm != NULL;
    if (ok)
        test(&l, pairs, found);
    else
        tarry__dependence_clear(found);
    clear_layout(&l);
    return ok;
}

void tarry__dependence_clear(tarry__dependence_found *found)
{
    tarry__base_free(found->by_arm);
    memset(found, 0, sizeof *found);
}
