/* rebuild.c - see rebuild.h. */
#include "log/rebuild.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "base/file.h"
#include "env/delay.h"
#include "linalg/linalg.h"
#include "log/order.h"
#include "log/shrink.h"

enum {
    MOST_PAIRS = 200000, /* kept in all; more are thinned out evenly */
    LEAST_OWN = 30,      /* outcomes of an arm that stands for itself */
    BORROWED = 100,
    TAIL = 20, /* pairs for what lies beyond the oldest age */
};
static const double rounding = 1e-9; /* means stay so far inside the range */

typedef struct {
    const tarry__log *log;
    const tarry__laws_fit *law;
    bool dependent;
    size_t *begin;   /* n_arms + 1: decisions by arm, */
    uint32_t *order; /* in order of time */
    size_t n_seen, room;
    double *weight, *mean; /* per arm: outcomes, their mean loss, */
    double *squares;       /*   and their squares about it */
    tarry__rebuild_world *out;
} work;

/* ---- decisions by arm -----------------------------------------------------*/

static void group(work *w)
{
    const tarry__log *log = w->log;
    size_t *begin = w->begin;
    for (size_t i = 0; i < log->count; i++)
        begin[log->arm[i] + 1]++;
    for (size_t k = 0; k < log->n_arms; k++)
        begin[k + 1] += begin[k];
    for (size_t i = 0; i < log->count; i++)
        w->order[begin[log->arm[i]]++] = (uint32_t)i;
    for (size_t k = log->n_arms; k > 0; k--)
        begin[k] = begin[k - 1];
    begin[0] = 0;
}

/* Decisions in the whole log made up to a time. */
static size_t decided_by(const tarry__log *log, double time)
{
    size_t low = 0, high = log->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (log->decided[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Decisions of an arm that are at least so old. */
static size_t older(const work *w, size_t arm, double age)
{
    size_t low = w->begin[arm], high = w->begin[arm + 1];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (tarry__log_age(w->log, w->order[middle]) >= age)
            low = middle + 1;
        else
            high = middle;
    }
    return low - w->begin[arm];
}

/* ---- pairs of an arm ------------------------------------------------------*/

static void add(work *w, size_t arm, double loss, double delay, double weight)
{
    w->out->pair[w->out->count++] =
        (tarry__rebuild_pair){(uint32_t)arm, loss, delay, weight};
}

/* Every stride-th outcome of the arm, weighed against being seen less. */
static void add_own(work *w, size_t arm, size_t stride)
{
    const tarry__log *log = w->log;
    size_t seen = 0;
    for (size_t i = w->begin[arm]; i < w->begin[arm + 1]; i++) {
        const size_t k = w->order[i];
        if (isnan(log->loss[k]) || seen++ % stride != 0)
            continue;
        const double delay = log->reported[k] - log->decided[k];
        const double rounds =
            (double)(decided_by(log, log->reported[k]) - 1 - k);
        add(w, arm, log->loss[k], fmin(rounds, TARRY__DELAY_LONGEST),
            (double)stride / (double)older(w, arm, delay));
    }
}

/* The delay, in rounds, that a share u of those beyond an age do not reach. */
static double tail_delay(const work *w, double age, double u)
{
    const tarry__log *log = w->log;
    if (w->law == NULL)
        return -1;
    const double beyond = tarry__laws_tail(w->law, age);
    const double time = tarry__laws_until(w->law, beyond * (1 - u));
    const double span = log->decided[log->count - 1] - log->decided[0];
    const double rounds =
        floor(time * (double)(log->count - 1) / (span > 0 ? span : 1));
    return rounds <= TARRY__DELAY_LONGEST ? rounds : -1;
}

/* What the arm's own pairs leave: a share of decisions beyond its oldest age.
 */
static bool add_tail(work *w, size_t arm, size_t first)
{
    tarry__rebuild_world *o = w->out;
    const size_t own = o->count - first;
    double seen = 0;
    for (size_t i = first; i < o->count; i++)
        seen += o->pair[i].weight;
    const double left = 1 - seen;
    if (own == 0 || left * (double)own < 0.5)
        return true;
    uint32_t *by_delay = tarry__base_alloc(own, sizeof *by_delay);
    double *delay = tarry__base_alloc(own, sizeof *delay);
    bool ok = by_delay != NULL && delay != NULL;
    for (size_t i = 0; ok && i < own; i++)
        delay[i] = o->pair[first + i].delay;
    ok = ok && tarry__log_order(delay, own, by_delay);
    const double age = tarry__log_age(w->log, w->order[w->begin[arm]]);
    const size_t among = w->dependent ? (own + 4) / 5 : own;
    for (size_t i = 0; ok && i < TAIL; i++) {
        const size_t from = first + by_delay[own - 1 - among * i / TAIL];
        add(w, arm, o->pair[from].loss,
            tail_delay(w, age, ((double)i + 0.5) / TAIL), left / TAIL);
    }
    tarry__base_free(by_delay);
    tarry__base_free(delay);
    return ok;
}

static void scale_weights(tarry__rebuild_world *o, size_t first, double to)
{
    double sum = 0;
    for (size_t i = first; i < o->count; i++)
        sum += o->pair[i].weight;
    for (size_t i = first; i < o->count && sum > 0; i++)
        o->pair[i].weight *= to / sum;
}

/* Pairs of all arms, evenly spread, for an arm with few of its own. */
static void borrow(work *w, size_t arm, size_t own)
{
    const tarry__log *log = w->log;
    const double share = 1 - (double)own / LEAST_OWN;
    const size_t wanted = w->n_seen < BORROWED ? w->n_seen : BORROWED;
    size_t seen = 0, taken = 0;
    for (size_t k = 0; k < log->count && taken < wanted; k++) {
        if (isnan(log->loss[k]))
            continue;
        if (seen++ < taken * w->n_seen / wanted)
            continue;
        taken++;
        add(w, arm, log->loss[k],
            (double)(decided_by(log, log->reported[k]) - 1 - k),
            share / (double)wanted);
    }
}

static bool add_arm(work *w, size_t arm, size_t stride)
{
    tarry__rebuild_world *o = w->out;
    const size_t first = o->count;
    double sum = 0, mean = 0, squares = 0;
    add_own(w, arm, stride);
    const size_t own = (o->count - first) * stride;
    if (!add_tail(w, arm, first))
        return false;
    for (size_t i = first; i < o->count; i++) {
        sum += o->pair[i].weight;
        mean += o->pair[i].weight * o->pair[i].loss;
    }
    w->weight[arm] = (double)own;
    w->mean[arm] = own > 0 ? mean / sum : 0;
    for (size_t i = first; i < o->count; i++) {
        const double off = o->pair[i].loss - w->mean[arm];
        squares += o->pair[i].weight * off * off;
    }
    w->squares[arm] = own > 0 ? (double)own * squares / sum : 0;
    if (own < LEAST_OWN) {
        scale_weights(o, first, (double)own / LEAST_OWN);
        borrow(w, arm, own);
    }
    scale_weights(o, first, 1);
    return true;
}

/* ---- theta ----------------------------------------------------------------*/

bool tarry__rebuild_ridge(const double *arms, size_t n_arms, size_t dim,
                          const double *weight, const double *mean,
                          double lambda, double *theta)
{
    double *V = tarry__base_zalloc(dim * dim, sizeof *V);
    if (V == NULL)
        return false;
    memset(theta, 0, dim * sizeof *theta);
    for (size_t i = 0; i < dim; i++)
        V[i * dim + i] = lambda;
    for (size_t k = 0; k < n_arms; k++) {
        const double *a = arms + k * dim;
        if (!(weight[k] > 0))
            continue;
        tarry__linalg_rank_one(V, dim, weight[k], a);
        for (size_t i = 0; i < dim; i++)
            theta[i] += weight[k] * mean[k] * a[i];
    }
    const bool ok = tarry__linalg_cholesky(V, dim);
    if (ok)
        tarry__linalg_cholesky_solve(V, dim, theta);
    tarry__base_free(V);
    return ok;
}

/* <a_k, theta>, as an instance computes it. */
static double mean_of(const tarry__rebuild_world *o, size_t k)
{
    return tarry__linalg_dot(o->arms + k * o->dim, o->theta, o->dim);
}

/* How much of the slopes leaves every mean within the range of losses. */
static double share_in_range(const tarry__rebuild_world *o,
                             const tarry__shrink *s)
{
    double share = 1, at_centre = 0;
    for (size_t i = 0; i < o->dim; i++)
        at_centre += s->slope[i] * s->centre[i];
    for (size_t k = 0; k < o->n_arms; k++) {
        const double off =
            tarry__linalg_dot(o->arms + k * o->dim, s->slope, o->dim) -
            at_centre;
        const double room = 1 - rounding - (off > 0 ? s->mean : -s->mean);
        if (fabs(off) * share > fmax(0, room))
            share = fmax(0, room) / fabs(off);
    }
    return share;
}

/* One more coordinate, 1 for every arm. */
static bool append_constant(tarry__rebuild_world *o, double value)
{
    const size_t K = o->n_arms, n = o->dim;
    double *arms = tarry__base_alloc(K * (n + 1), sizeof *arms);
    double *theta = tarry__base_alloc(n + 1, sizeof *theta);
    if (arms == NULL || theta == NULL) {
        tarry__base_free(arms);
        tarry__base_free(theta);
        return false;
    }
    for (size_t k = 0; k < K; k++) {
        memcpy(arms + k * (n + 1), o->arms + k * n, n * sizeof *arms);
        arms[k * (n + 1) + n] = 1;
    }
    memcpy(theta, o->theta, n * sizeof *theta);
    theta[n] = value;
    tarry__base_free(o->arms);
    tarry__base_free(o->theta);
    o->arms = arms;
    o->theta = theta;
    o->dim = n + 1;
    return true;
}

/* Adds `value` to the mean of every arm: by the features, if a combination of
 * them is 1 for every arm. */
static bool add_constant(tarry__rebuild_world *o, double value)
{
    const size_t K = o->n_arms, n = o->dim;
    double *ones = tarry__base_alloc(2 * K + n, sizeof *ones), size = 0;
    if (ones == NULL)
        return false;
    double *equal = ones + K, *one = equal + K, worst = 0;
    for (size_t i = 0; i < K * n; i++)
        size = fmax(size, fabs(o->arms[i]));
    for (size_t k = 0; k < K; k++)
        ones[k] = equal[k] = 1;
    const bool ok = tarry__rebuild_ridge(o->arms, K, n, equal, ones,
                                         1e-12 * size * size, one);
    for (size_t k = 0; ok && k < K; k++)
        worst =
            fmax(worst, fabs(1 - tarry__linalg_dot(o->arms + k * n, one, n)));
    const bool is_spanned = ok && worst < 1e-6;
    for (size_t i = 0; is_spanned && i < n; i++)
        o->theta[i] += value * one[i];
    tarry__base_free(ones);
    return is_spanned || append_constant(o, value);
}

/* The means of shrink.h as <a_k, theta>. */
static bool set_theta(work *w)
{
    tarry__rebuild_world *o = w->out;
    const bool has_features = w->log->options.arms != NULL;
    const tarry__shrink_arms arms = {.n_arms = o->n_arms,
                                     .dim = o->dim,
                                     .features = has_features ? o->arms : NULL,
                                     .count = w->weight,
                                     .mean = w->mean,
                                     .squares = w->squares};
    tarry__shrink s;
    bool ok = tarry__shrink_fit(&arms, &s);
    for (size_t k = 0; ok && !has_features && k < o->n_arms; k++)
        o->theta[k] = tarry__shrink_mean(&s, &arms, k);
    if (ok && has_features) {
        const double share = share_in_range(o, &s);
        double at_centre = 0;
        for (size_t i = 0; i < o->dim; i++) {
            o->theta[i] = share * s.slope[i];
            at_centre += o->theta[i] * s.centre[i];
        }
        ok = add_constant(o, s.mean - at_centre);
    }
    tarry__shrink_clear(&s);
    return ok;
}

/* ---- means ----------------------------------------------------------------*/

static double tilted_mean(const tarry__rebuild_pair *p, size_t count, double c)
{
    double sum = 0, mean = 0;
    for (size_t i = 0; i < count; i++) {
        const double weight = p[i].weight * tarry__exp(c * p[i].loss);
        sum += weight;
        mean += weight * p[i].loss;
    }
    return mean / sum;
}

/* One more pair, of a loss of +/-1, brings the rest of the way. */
static void add_extreme(tarry__rebuild_world *o, size_t first, double mean,
                        double target)
{
    const size_t count = o->count - first;
    const double loss = target > mean ? 1 : -1;
    const tarry__rebuild_pair like = o->pair[first + count / 2];
    scale_weights(o, first, 1);
    if (mean != target)
        o->pair[o->count++] = (tarry__rebuild_pair){
            like.arm, loss, like.delay, (target - mean) / (loss - target)};
}

/* Weights exp(c loss) for the mean wanted: bisection, since the mean grows
 * with c. */
static void tilt(tarry__rebuild_world *o, size_t first, double target)
{
    tarry__rebuild_pair *p = o->pair + first;
    const size_t count = o->count - first;
    double low = -50, high = 50;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        if (tilted_mean(p, count, middle) < target)
            low = middle;
        else
            high = middle;
    }
    const double c = fabs(low) < 49 ? low : 0; /* out of reach: leave them */
    for (size_t i = 0; i < count; i++)
        p[i].weight *= tarry__exp(c * p[i].loss);
    scale_weights(o, first, 1);
    add_extreme(o, first, tilted_mean(p, count, 0), target);
}

/* ---- the whole ------------------------------------------------------------*/

static bool copy_arms(work *w)
{
    const tarry_arms *arms = w->log->options.arms;
    tarry__rebuild_world *o = w->out;
    o->n_arms = w->log->n_arms;
    o->dim = arms != NULL ? arms->dim : o->n_arms;
    o->arms = tarry__base_zalloc(o->n_arms * o->dim, sizeof *o->arms);
    o->theta = tarry__base_zalloc(o->dim, sizeof *o->theta);
    if (o->arms == NULL || o->theta == NULL)
        return false;
    for (size_t k = 0; arms == NULL && k < o->n_arms; k++)
        o->arms[k * o->dim + k] = 1;
    if (arms != NULL)
        memcpy(o->arms, arms->data, o->n_arms * o->dim * sizeof *o->arms);
    return true;
}

static bool make_room(work *w)
{
    const size_t K = w->log->n_arms;
    for (size_t i = 0; i < w->log->count; i++)
        w->n_seen += !isnan(w->log->loss[i]);
    const size_t own = w->n_seen < MOST_PAIRS ? w->n_seen : 2 * MOST_PAIRS;
    w->begin = tarry__base_zalloc(K + 2, sizeof *w->begin);
    w->order = tarry__base_alloc(w->log->count, sizeof *w->order);
    w->weight = tarry__base_zalloc(3 * K, sizeof *w->weight);
    w->out->pair = tarry__base_alloc(own + K * (TAIL + BORROWED + 2),
                                     sizeof *w->out->pair);
    if (w->begin == NULL || w->order == NULL || w->weight == NULL ||
        w->out->pair == NULL)
        return false;
    w->mean = w->weight + K;
    w->squares = w->mean + K;
    return copy_arms(w);
}

/* Pairs arm by arm; then theta, and the means that follow from it, for which
 * each arm's list is copied behind the others with one place more. */
static bool fill(work *w)
{
    tarry__rebuild_world *o = w->out;
    const size_t stride = w->n_seen / MOST_PAIRS + 1;
    const size_t K = o->n_arms;
    tarry__rebuild_world raw = {0};
    group(w);
    for (size_t k = 0; k < K; k++)
        if (!add_arm(w, k, stride))
            return false;
    if (!set_theta(w))
        return false;
    raw.count = o->count;
    raw.pair = o->pair;
    o->pair = tarry__base_alloc(raw.count + K, sizeof *o->pair);
    o->count = 0;
    for (size_t k = 0, i = 0; o->pair != NULL && k < K; k++) {
        const size_t first = o->count;
        for (; i < raw.count && raw.pair[i].arm == k; i++)
            o->pair[o->count++] = raw.pair[i];
        tilt(o, first, mean_of(o, k));
    }
    tarry__base_free(raw.pair);
    return o->pair != NULL;
}

tarry_status tarry__rebuild(const tarry__log *log, const tarry__laws_fit *law,
                            bool dependent, tarry__rebuild_world *world,
                            tarry_error *error)
{
    work w = {.log = log, .law = law, .dependent = dependent, .out = world};
    *world = (tarry__rebuild_world){0};
    const bool ok = make_room(&w) && fill(&w);
    tarry__base_free(w.begin);
    tarry__base_free(w.order);
    tarry__base_free(w.weight);
    if (!ok)
        tarry__rebuild_clear(world);
    return ok ? TARRY_OK
              : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

void tarry__rebuild_clear(tarry__rebuild_world *world)
{
    tarry__base_free(world->arms);
    tarry__base_free(world->theta);
    tarry__base_free(world->pair);
    memset(world, 0, sizeof *world);
}

/* ---- files ----------------------------------------------------------------*/

static void write_arms(const void *context, FILE *file)
{
    const tarry__rebuild_world *o = context;
    for (size_t k = 0; k < o->n_arms; k++)
        for (size_t i = 0; i < o->dim; i++)
            fprintf(file, "%.17g%c", o->arms[k * o->dim + i],
                    i + 1 < o->dim ? ',' : '\n');
}

static void write_theta(const void *context, FILE *file)
{
    const tarry__rebuild_world *o = context;
    for (size_t i = 0; i < o->dim; i++)
        fprintf(file, "%.17g\n", o->theta[i]);
}

static void write_pairs(const void *context, FILE *file)
{
    const tarry__rebuild_world *o = context;
    fprintf(file, "arm,loss,delay,weight\n");
    for (size_t i = 0; i < o->count; i++)
        if (o->pair[i].weight > 0)
            fprintf(file, "%u,%.17g,%.17g,%.17g\n", o->pair[i].arm,
                    o->pair[i].loss, o->pair[i].delay, o->pair[i].weight);
}

tarry_status tarry__rebuild_write(const tarry__rebuild_world *o,
                                  const char *folder, tarry_error *error)
{
    tarry_status status =
        tarry__file_put(folder, "arms.csv", write_arms, o, error);
    if (status == TARRY_OK)
        status = tarry__file_put(folder, "theta.csv", write_theta, o, error);
    return status == TARRY_OK
               ? tarry__file_put(folder, "pairs.csv", write_pairs, o, error)
               : status;
}
