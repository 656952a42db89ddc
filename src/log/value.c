/* value.c - see value.h. */
#include "log/value.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "log/shrink.h"

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

enum { ALL, EVEN, ODD, PARTS };

/* Counts, means and sums of squares of losses per arm, by part. */
typedef struct {
    double *count[PARTS], *mean[PARTS], *squares[PARTS];
} tallies;

static bool is_used(const tarry__value_basis *v, size_t i)
{
    return !isnan(v->log->probability[i]);
}

static void add_loss(tallies *t, int part, size_t k, double loss)
{
    const double n = t->count[part][k] += 1, off = loss - t->mean[part][k];
    t->mean[part][k] += off / n;
    t->squares[part][k] += off * (loss - t->mean[part][k]);
}

static void tally(const tarry__value_basis *v, tallies *t)
{
    const tarry__log *log = v->log;
    for (size_t i = 0; i < v->count; i++) {
        if (isnan(log->loss[i]) || !is_used(v, i))
            continue;
        add_loss(t, ALL, log->arm[i], log->loss[i]);
        add_loss(t, i % 2 == 0 ? EVEN : ODD, log->arm[i], log->loss[i]);
    }
}

static tarry__shrink_arms arms_of(const tarry__value_basis *v, const tallies *t,
                                  int part)
{
    const tarry_arms *arms = v->log->options.arms;
    return (tarry__shrink_arms){
        .n_arms = v->log->n_arms,
        .dim = arms != NULL ? arms->dim : 0,
        .features = arms != NULL ? arms->data : NULL,
        .count = t->count[part],
        .mean = t->mean[part],
        .squares = t->squares[part],
    };
}

/* The model for one half of the decisions comes from the other. */
static bool fit(tarry__value_basis *v, const tallies *t, int half)
{
    const tarry__shrink_arms arms = arms_of(v, t, half == 0 ? ODD : EVEN);
    tarry__shrink s;
    const bool ok = tarry__shrink_fit(&arms, &s);
    for (size_t k = 0; ok && k < arms.n_arms; k++)
        v->model[half][k] = tarry__shrink_mean(&s, &arms, k);
    v->mean[half] = s.mean;
    v->strength[half] = s.strength;
    tarry__shrink_clear(&s);
    return ok;
}

/* The high end of Wilson's interval (1927) for a mean loss in [-1, 1]. */
static double wilson(double n, double mean)
{
    const double z2 = 1.96 * 1.96, u = (mean + 1) / 2;
    if (!(n > 0))
        return 1;
    const double reach = sqrt(z2 * (u * (1 - u) / n + z2 / (4 * n * n)));
    return 2 * (u + z2 / (2 * n) + reach) / (1 + z2 / n) - 1;
}

/* An arm of which little is known promises little. */
static bool set_promises(tarry__value_basis *v, const tallies *t)
{
    const tarry__shrink_arms arms = arms_of(v, t, ALL);
    tarry__shrink s;
    const bool ok = tarry__shrink_fit(&arms, &s);
    for (size_t k = 0; ok && k < arms.n_arms; k++) {
        const double n = arms.count[k] + tarry__shrink_prior(&s, &arms, k);
        v->promise[k] =
            tarry__shrink_mean(&s, &arms, k) + 1.96 * sqrt(s.within / n);
        v->worst[k] = wilson(arms.count[k], arms.mean[k]);
    }
    tarry__shrink_clear(&s);
    return ok;
}

static void set_means(tarry__value_basis *v, const tallies *t)
{
    double sum = 0, count = 0;
    for (size_t k = 0; k < v->log->n_arms; k++) {
        sum += t->count[ALL][k] * t->mean[ALL][k];
        count += t->count[ALL][k];
    }
    for (size_t k = 0; k < v->log->n_arms; k++)
        v->arm_mean[k] = t->count[ALL][k] > 0 ? t->mean[ALL][k]
                         : count > 0          ? sum / count
                                              : 0;
}

static void count_ripe(tarry__value_basis *v, double window)
{
    const tarry__log *log = v->log;
    for (; v->count < log->count && tarry__log_age(log, v->count) >= window;
         v->count++) {
        if (!is_used(v, v->count))
            continue;
        v->used++;
        v->missing += isnan(log->loss[v->count]);
        v->largest = fmax(v->largest, 1 / log->probability[v->count]);
    }
}

bool tarry__value_prepare(tarry__value_basis *v, const tarry__log *log,
                          double window)
{
    const size_t K = log->n_arms;
    double *work = tarry__base_zalloc(3 * PARTS * K, sizeof *work);
    *v = (tarry__value_basis){.log = log, .largest = 1};
    v->arm_mean = tarry__base_zalloc(5 * K, sizeof *v->arm_mean);
    bool ok = work != NULL && v->arm_mean != NULL;
    if (ok) {
        tallies t;
        for (size_t part = 0; part < PARTS; part++) {
            t.count[part] = work + 3 * part * K;
            t.mean[part] = t.count[part] + K;
            t.squares[part] = t.mean[part] + K;
        }
        v->model[0] = v->arm_mean + K;
        v->model[1] = v->arm_mean + 2 * K;
        v->promise = v->arm_mean + 3 * K;
        v->worst = v->arm_mean + 4 * K;
        count_ripe(v, window);
        tally(v, &t);
        set_means(v, &t);
        ok = fit(v, &t, 0) && fit(v, &t, 1) && set_promises(v, &t);
    }
    tarry__base_free(work);
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

/* The formula's number, or the end of the interval that is nearest to it. */
static void set_estimate(const tarry__value_basis *v, double estimate,
                         tarry__value *out)
{
    const tarry__log_options *o = &v->log->options;
    const double rounding = 1e-12 * (o->high - o->low);
    out->clipped =
        estimate < out->low - rounding || estimate > out->high + rounding;
    out->estimate =
        isnan(estimate) ? NAN : fmax(out->low, fmin(out->high, estimate));
}

static void weigh(const tarry__value_basis *v, const double *pi,
                  tarry__value *ips, tarry__value *snips)
{
    const tarry__log *log = v->log;
    double weights = 0, sum = 0;
    low_end low = begin_low_end(v->used), high = low;
    for (size_t i = 0; i < v->count; i++) {
        if (!is_used(v, i))
            continue;
        const double w = pi[log->arm[i]] / log->probability[i];
        weights += w;
        sum += w * tarry__log_value(log, loss_of(v, i));
        add_low_end(&low, w * unit_of(v, i, 0));
        add_low_end(&high, w * (1 - unit_of(v, i, 1)));
    }
    set_ends(v, end_low_end(&low), 1 - end_low_end(&high), ips);
    *snips = *ips;
    set_estimate(v, sum / (double)v->used, ips);
    set_estimate(v, sum / weights, snips); /* NaN: never played */
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
    low_end low = begin_low_end(v->used), high = low;
    for (size_t i = 0; i < v->count; i++) {
        if (!is_used(v, i))
            continue;
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
    set_ends(v, end_low_end(&low) * (1 + B) - B,
             1 - (end_low_end(&high) * (1 + B) - B), out);
    set_estimate(v, sum / (double)v->used, out);
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
    low_end low = begin_low_end(v->used), high = low;
    for (size_t i = 0; i < v->count; i++) {
        if (!is_used(v, i))
            continue;
        sum += tarry__log_value(v->log, loss_of(v, i));
        add_low_end(&low, unit_of(v, i, 0));
        add_low_end(&high, 1 - unit_of(v, i, 1));
    }
    set_ends(v, end_low_end(&low), 1 - end_low_end(&high), &out);
    set_estimate(v, sum / (double)v->used, &out);
    return out;
}
