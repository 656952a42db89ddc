/* value.c - see value.h. */
#include "log/value.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "linalg/linalg.h"
#include "log/rebuild.h"

static const double alpha = 0.025; /* of each end */
static const double largest_bet = 0.5;

/* ---- a low end ------------------------------------------------------------*/

/* X >= 0 one by one; the bets follow the variance seen so far. */
typedef struct {
    double n;                  /* how many there will be */
    double seen, sum, squares; /* of what has been, with a first guess */
    double bet, cost;          /* the bet, and -log(1 - bet) - bet */
    unsigned until;            /* it is to change */
    double bets, gains, price;
} low_end;

static low_end begin_low_end(size_t n)
{
    return (low_end){.n = (double)n, .seen = 1, .sum = 0.5, .squares = 0.25};
}

/* At first after each X, later after every 64. */
static void change_bet(low_end *e)
{
    const double variance = e->squares / e->seen;
    e->bet =
        fmin(largest_bet, sqrt(2 * tarry__ln(1 / alpha) / (e->n * variance)));
    e->cost = -tarry__log1p(-e->bet) - e->bet;
    e->until = e->seen < 4096 ? 1 : 64;
}

static void add_low_end(low_end *e, double x)
{
    if (e->until == 0)
        change_bet(e);
    e->until--;
    const double guess = fmin(e->sum / e->seen, 1);
    const double square = (x - guess) * (x - guess);
    e->bets += e->bet;
    e->gains += e->bet * x;
    e->price += square * e->cost;
    e->squares += square;
    e->sum += x;
    e->seen += 1;
}

static double end_low_end(const low_end *e)
{
    return e->bets > 0 ? (e->gains - tarry__ln(1 / alpha) - e->price) / e->bets
                       : 0;
}

/* ---- the basis ------------------------------------------------------------*/

/* Sums and counts of losses per arm: all, even decisions, odd ones. */
typedef struct {
    double *sum[3], *count[3];
} tallies;

static void tally(const tarry__value_basis *v, tallies *t)
{
    const tarry__log *log = v->log;
    for (size_t i = 0; i < v->count; i++) {
        const size_t k = log->arm[i];
        if (isnan(log->loss[i]))
            continue;
        for (int part = 0; part < 3; part++)
            if (part == 0 || (size_t)(part - 1) == i % 2) {
                t->sum[part][k] += log->loss[i];
                t->count[part][k] += 1;
            }
    }
}

/* The model for one half of the decisions comes from the other. */
static bool fit(tarry__value_basis *v, const tallies *t, int half)
{
    const tarry_arms *arms = v->log->options.arms;
    const size_t K = v->log->n_arms;
    const double *sum = t->sum[2 - half], *count = t->count[2 - half];
    double *q = v->model[half];
    if (arms == NULL) { /* the standard basis */
        for (size_t k = 0; k < K; k++)
            q[k] = sum[k] / (count[k] + 1);
        return true;
    }
    double *mean = tarry__base_zalloc(K, sizeof *mean);
    double *theta = tarry__base_alloc(arms->dim, sizeof *theta);
    bool ok = mean != NULL && theta != NULL;
    for (size_t k = 0; ok && k < K; k++)
        mean[k] = count[k] > 0 ? sum[k] / count[k] : 0;
    ok = ok &&
         tarry__rebuild_ridge(arms->data, K, arms->dim, count, mean, 1, theta);
    for (size_t k = 0; ok && k < K; k++) {
        const double *a = arms->data + k * arms->dim;
        q[k] = fmax(-1, fmin(1, tarry__linalg_dot(a, theta, arms->dim)));
    }
    tarry__base_free(mean);
    tarry__base_free(theta);
    return ok;
}

static void set_means(tarry__value_basis *v, const tallies *t)
{
    double sum = 0, count = 0;
    for (size_t k = 0; k < v->log->n_arms; k++) {
        sum += t->sum[0][k];
        count += t->count[0][k];
    }
    for (size_t k = 0; k < v->log->n_arms; k++)
        v->arm_mean[k] = t->count[0][k] > 0 ? t->sum[0][k] / t->count[0][k]
                         : count > 0        ? sum / count
                                            : 0;
}

static void count_ripe(tarry__value_basis *v, double window)
{
    const tarry__log *log = v->log;
    while (v->count < log->count && tarry__log_age(log, v->count) >= window) {
        v->missing += isnan(log->loss[v->count]);
        v->largest = fmax(v->largest, 1 / log->probability[v->count]);
        v->count++;
    }
}

bool tarry__value_prepare(tarry__value_basis *v, const tarry__log *log,
                          double window)
{
    const size_t K = log->n_arms;
    double *sums = tarry__base_zalloc(6 * K, sizeof *sums);
    *v = (tarry__value_basis){.log = log, .largest = 1};
    v->arm_mean = tarry__base_zalloc(3 * K, sizeof *v->arm_mean);
    bool ok = sums != NULL && v->arm_mean != NULL;
    if (ok) {
        tallies t;
        for (size_t part = 0; part < 3; part++) {
            t.sum[part] = sums + 2 * part * K;
            t.count[part] = sums + (2 * part + 1) * K;
        }
        v->model[0] = v->arm_mean + K;
        v->model[1] = v->arm_mean + 2 * K;
        count_ripe(v, window);
        tally(v, &t);
        set_means(v, &t);
        ok = fit(v, &t, 0) && fit(v, &t, 1);
    }
    tarry__base_free(sums);
    return ok;
}

void tarry__value_clear(tarry__value_basis *v)
{
    tarry__base_free(v->arm_mean);
    memset(v, 0, sizeof *v);
}

/* ---- values ---------------------------------------------------------------*/

static double loss_of(const tarry__value_basis *v, size_t i)
{
    const double loss = v->log->loss[i];
    return isnan(loss) ? v->arm_mean[v->log->arm[i]] : loss;
}

/* A loss in [-1, 1] as u in [0, 1]; what is missing is `otherwise`. */
static double unit_of(const tarry__value_basis *v, size_t i, double otherwise)
{
    const double loss = v->log->loss[i];
    return isnan(loss) ? otherwise : (loss + 1) / 2;
}

/* From the ends of E[u] to those of the value. */
static void set_ends(const tarry__value_basis *v, double low_u, double high_u,
                     tarry__value *out)
{
    const double a = tarry__log_value(v->log, 2 * fmax(0, fmin(1, low_u)) - 1);
    const double b = tarry__log_value(v->log, 2 * fmax(0, fmin(1, high_u)) - 1);
    out->low = fmin(a, b);
    out->high = fmax(a, b);
}

static void weigh(const tarry__value_basis *v, const double *pi,
                  tarry__value *ips, tarry__value *snips)
{
    const tarry__log *log = v->log;
    double weights = 0, sum = 0;
    low_end low = begin_low_end(v->count), high = low;
    for (size_t i = 0; i < v->count; i++) {
        const double w = pi[log->arm[i]] / log->probability[i];
        weights += w;
        sum += w * tarry__log_value(log, loss_of(v, i));
        add_low_end(&low, w * unit_of(v, i, 0));
        add_low_end(&high, w * (1 - unit_of(v, i, 1)));
    }
    ips->estimate = sum / (double)v->count;
    set_ends(v, end_low_end(&low), 1 - end_low_end(&high), ips);
    *snips = *ips;
    snips->estimate = sum / weights;
}

/* X = q(pi) + w (u - q(a)) lies above -B, B = largest 1/p: (X + B) / (1 + B)
 * is at least 0, and its guess at most 1. */
static void correct(const tarry__value_basis *v, const double *pi,
                    tarry__value *out)
{
    const tarry__log *log = v->log;
    const double B = v->largest;
    double plan[2] = {0, 0}, sum = 0;
    for (size_t k = 0; k < log->n_arms; k++)
        for (int half = 0; half < 2; half++)
            plan[half] += pi[k] * v->model[half][k];
    low_end low = begin_low_end(v->count), high = low;
    for (size_t i = 0; i < v->count; i++) {
        const size_t half = i % 2;
        const double w = pi[log->arm[i]] / log->probability[i];
        const double q = v->model[half][log->arm[i]];
        const double u = (q + 1) / 2, base = (plan[half] + 1) / 2;
        sum += tarry__log_value(log, plan[half]) +
               w * (tarry__log_value(log, loss_of(v, i)) -
                    tarry__log_value(log, q));
        const double x = base + w * (unit_of(v, i, 0) - u);
        const double y = 1 - base - w * (unit_of(v, i, 1) - u);
        add_low_end(&low, (x + B) / (1 + B));
        add_low_end(&high, (y + B) / (1 + B));
    }
    out->estimate = sum / (double)v->count;
    set_ends(v, end_low_end(&low) * (1 + B) - B,
             1 - (end_low_end(&high) * (1 + B) - B), out);
}

void tarry__value_of(const tarry__value_basis *v, const double *pi,
                     tarry__value out[TARRY__VALUE_METHODS])
{
    weigh(v, pi, &out[TARRY__VALUE_IPS], &out[TARRY__VALUE_SNIPS]);
    correct(v, pi, &out[TARRY__VALUE_DR]);
}

tarry__value tarry__value_logged(const tarry__value_basis *v)
{
    tarry__value out;
    double sum = 0;
    low_end low = begin_low_end(v->count), high = low;
    for (size_t i = 0; i < v->count; i++) {
        sum += tarry__log_value(v->log, loss_of(v, i));
        add_low_end(&low, unit_of(v, i, 0));
        add_low_end(&high, 1 - unit_of(v, i, 1));
    }
    out.estimate = sum / (double)v->count;
    set_ends(v, end_low_end(&low), 1 - end_low_end(&high), &out);
    return out;
}
