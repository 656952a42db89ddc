/* survival.c - see survival.h. */
#include "log/survival.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "log/order.h"

static const double z95 = 1.959963984540054;
static const double kolmogorov95 = 1.3580986; /* P(sup |bridge| > it) = 5 % */
static const double rounding = 1e-12;         /* of S, a product */

void tarry__survival_clear(tarry__survival *c)
{
    tarry__base_free(c->step);
    memset(c, 0, sizeof *c);
}

/* ---- making ---------------------------------------------------------------*/

/* Equal times form a step; outcomes at a time come before what is cut off
 * there, since that is out for longer. */
static void add_steps(tarry__survival *c, const double *time, const bool *seen,
                      const uint32_t *order, double *hazard)
{
    double out = 1, variance = 0, sum = 0;
    for (size_t i = 0, next; i < c->count; i = next) {
        const double t = time[order[i]];
        size_t events = 0;
        for (next = i; next < c->count && time[order[next]] == t; next++)
            events += seen[order[next]];
        const double d = (double)events, n = (double)(c->count - i);
        sum += d / n;
        for (size_t k = i; hazard != NULL && k < next; k++)
            hazard[order[k]] = sum;
        if (events == 0)
            continue;
        out = events < c->count - i ? out * (1 - d / n) : 0;
        variance += d / (n * (n - d)); /* infinite where S is 0 */
        c->step[c->n_steps++] = (tarry__survival_step){
            t, out, variance, (uint32_t)events, (uint32_t)(c->count - i)};
    }
}

/* How many steps there will be, at most. */
static size_t count_steps(const double *time, const bool *seen,
                          const uint32_t *order, size_t count)
{
    size_t steps = 0;
    double last = -1;
    for (size_t i = 0; i < count; i++)
        if (seen[order[i]] && time[order[i]] != last) {
            last = time[order[i]];
            steps++;
        }
    return steps;
}

bool tarry__survival_make(tarry__survival *c, const double *time,
                          const bool *seen, size_t count, double *hazard)
{
    *c = (tarry__survival){.count = count};
    uint32_t *order = tarry__base_alloc(count, sizeof *order);
    bool ok = order != NULL && tarry__log_order(time, count, order);
    if (ok) {
        const size_t room = count_steps(time, seen, order, count);
        c->step = tarry__base_alloc(room, sizeof *c->step);
        ok = c->step != NULL;
    }
    if (ok) {
        for (size_t i = 0; i < count; i++)
            c->events += seen[i];
        c->last = count > 0 ? time[order[count - 1]] : 0;
        add_steps(c, time, seen, order, hazard);
    }
    tarry__base_free(order);
    return ok;
}

/* ---- reading --------------------------------------------------------------*/

/* The last step at or before a time; NULL: none. */
static const tarry__survival_step *step_at(const tarry__survival *c,
                                           double time)
{
    size_t low = 0, high = c->n_steps;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (c->step[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &c->step[low - 1] : NULL;
}

/* The interval of S at a step: S^exp(+/- z sqrt(g) / log S). */
static tarry__log_interval interval_of(const tarry__survival_step *s)
{
    if (!(s->out > 0 && s->out < 1))
        return (tarry__log_interval){s->out, s->out, s->out};
    const double reach = z95 * sqrt(s->variance) / -tarry__ln(s->out);
    return (tarry__log_interval){s->out, tarry__pow(s->out, tarry__exp(reach)),
                                 tarry__pow(s->out, tarry__exp(-reach))};
}

tarry__log_interval tarry__survival_at(const tarry__survival *c, double time)
{
    const tarry__survival_step *s = step_at(c, time);
    return s != NULL ? interval_of(s) : (tarry__log_interval){1, 1, 1};
}

tarry__log_interval tarry__survival_band(const tarry__survival *c,
                                         const tarry__survival_step *s)
{
    const double n = (double)c->count;
    if (!(s->out > 0)) { /* the last of those at risk: as before it */
        const tarry__log_interval before = s > c->step
                                               ? tarry__survival_band(c, s - 1)
                                               : (tarry__log_interval){1, 1, 1};
        return (tarry__log_interval){0, 0, before.high};
    }
    const double reach =
        kolmogorov95 / sqrt(n) * (1 + n * s->variance) * s->out;
    return (tarry__log_interval){s->out, fmax(0, s->out - reach),
                                 fmin(1, s->out + reach)};
}

/* The first step at or below a level; n_steps if there is none. */
static size_t first_below(const tarry__survival *c, double level)
{
    size_t low = 0, high = c->n_steps;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (c->step[middle].out > level)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From where the curve meets the level, back and forth to where the ends of
 * its intervals do. */
tarry__log_interval tarry__survival_quantile(const tarry__survival *c, double q)
{
    const double level = 1 - q + rounding;
    const size_t n = c->n_steps, at = first_below(c, level);
    size_t low = at, high = at;
    while (low > 0 && interval_of(&c->step[low - 1]).low <= level)
        low--;
    while (high < n && interval_of(&c->step[high]).high > level)
        high++;
    return (tarry__log_interval){at < n ? c->step[at].time : INFINITY,
                                 low < n ? c->step[low].time : INFINITY,
                                 high < n ? c->step[high].time : INFINITY};
}

/* With A the area under S, P its last value and L the last time,
 * M = (A - P L) / (1 - P); a change of the hazard at step i moves it by
 * (A_i - (L - M) P) / (1 - P), A_i being the area from there on. */
tarry__log_interval tarry__survival_mean(const tarry__survival *c)
{
    if (c->n_steps == 0)
        return (tarry__log_interval){NAN, NAN, NAN};
    const double P = c->step[c->n_steps - 1].out, L = c->last;
    double area = c->step[0].time, variance = 0, after = 0;
    for (size_t i = 0; i < c->n_steps; i++) {
        const double next = i + 1 < c->n_steps ? c->step[i + 1].time : L;
        area += c->step[i].out * (next - c->step[i].time);
    }
    const double M = (area - P * L) / (1 - P);
    for (size_t i = c->n_steps; i-- > 0;) {
        const double next = i + 1 < c->n_steps ? c->step[i + 1].time : L;
        const double g =
            c->step[i].variance - (i > 0 ? c->step[i - 1].variance : 0);
        after += c->step[i].out * (next - c->step[i].time);
        const double slope = (after - (L - M) * P) / (1 - P);
        if (slope != 0 && isfinite(g))
            variance += g * slope * slope;
    }
    const double reach = z95 * sqrt(variance);
    return (tarry__log_interval){M, fmax(0, M - reach), M + reach};
}
