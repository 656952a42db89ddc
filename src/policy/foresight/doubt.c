/* doubt.c - see doubt.h. */
#include "policy/foresight/doubt.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "linalg/linalg.h"
#include "policy/foresight/root.h"

enum { HOLD = 200 }; /* a mixture stays for 1/200 of the rounds so far */

static size_t memory_size(size_t r, size_t K)
{
    return 2 * r * r + 2 * r + 6 * K;
}

static tarry_status open_memory(tarry__doubt *d, const tarry__fit *fit)
{
    const size_t r = fit->view->rank, K = fit->view->problem->n_arms;
    d->fit = fit;
    d->P = tarry__base_zalloc(memory_size(r, K), sizeof *d->P);
    if (d->P == NULL)
        return TARRY_NO_MEMORY;
    d->R = d->P + r * r;
    d->y = d->R + r * r;
    d->x = d->y + r;
    d->mean = d->x + r;
    d->gap = d->mean + K;
    d->w = d->gap + K;
    d->s = d->w + K;
    d->t = d->s + K;
    d->noise = d->t + K;
    return TARRY_OK;
}

tarry_status tarry__doubt_open(tarry__doubt *d, const tarry__fit *fit)
{
    return open_memory(d, fit);
}

void tarry__doubt_clear(tarry__doubt *d)
{
    tarry__base_free(d->P);
}

/* y = P x. */
static void times(const double *P, size_t r, const double *x, double *y)
{
    memset(y, 0, r * sizeof *y);
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < r; i++)
            y[i] += P[i + j * r] * x[j];
}

/* ---- a new estimate -------------------------------------------------------*/

static void find_gaps(tarry__doubt *d)
{
    const tarry__view *v = d->fit->view;
    const double low = d->fit->low, high = d->fit->high;
    tarry__view_times(v, d->fit->theta, d->mean);
    d->best = 0;
    for (size_t i = 1; i < v->count; i++)
        if (d->mean[i] < d->mean[d->best])
            d->best = i;
    const double least = tarry__foresight_clamp(d->mean[d->best], low, high);
    for (size_t i = 0; i < v->count; i++) {
        const double mean = tarry__foresight_clamp(d->mean[i], low, high);
        d->gap[i] = mean - least;
        d->noise[i] =
            d->fit->noise.variance[tarry__policy_choice(v->problem, i)];
    }
}

static const double *arm_at(const tarry__doubt *d, size_t place)
{
    const tarry__view *v = d->fit->view;
    return tarry__view_arm(v, tarry__policy_choice(v->problem, place));
}

/* With P = R R', R = L'^-1: variances are |R' z|^2. */
static void find_variances(tarry__doubt *d, const double *L)
{
    const tarry__view *v = d->fit->view;
    const size_t r = v->rank;
    memset(d->R, 0, r * r * sizeof *d->R);
    for (size_t j = 0; j < r; j++) {
        d->R[j + j * r] = 1;
        tarry__root_solve_back(L, r, d->R + j * r);
        d->x[j] = tarry__linalg_dot(arm_at(d, d->best), d->R + j * r, r);
    }
    tarry__view_squares(v, d->R, d->x, d->s, d->w);
}

void tarry__doubt_renew(tarry__doubt *d)
{
    const size_t r = d->fit->view->rank;
    double *L = d->fit->V_coming; /* made anew with each estimate */
    find_gaps(d);
    if (tarry__root_factor(L, r)) {
        tarry__root_inverse(L, r, d->P);
        find_variances(d, L);
    }
    d->calm = 0;
    d->until = 0;
    d->plays_best = d->plays_other = 0;
    d->other = d->best;
}

/* ---- a play ---------------------------------------------------------------*/

/* `count` plays of an arm, of which P, s and w are to know. */
static void add_plays(tarry__doubt *d, size_t arm, double count)
{
    const tarry__view *v = d->fit->view;
    const size_t r = v->rank;
    const double *z = tarry__view_arm(v, arm);
    const double weight = count / d->fit->noise.variance[arm];
    times(d->P, r, z, d->y);
    const double c = weight / (1 + weight * tarry__linalg_dot(z, d->y, r));
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < r; i++)
            d->P[i + j * r] -= c * d->y[i] * d->y[j];
    tarry__view_times(v, d->y, d->t);
    const double b = d->t[d->best];
    for (size_t i = 0; i < v->count; i++) {
        d->s[i] -= c * d->t[i] * d->t[i];
        d->w[i] -= c * (d->t[i] - b) * (d->t[i] - b);
    }
}

void tarry__doubt_play(tarry__doubt *d, size_t arm)
{
    const tarry__policy_problem *p = d->fit->view->problem;
    if (d->calm)
        return;
    if (arm == tarry__policy_choice(p, d->best))
        d->plays_best++;
    else if (arm == tarry__policy_choice(p, d->other))
        d->plays_other++;
    else
        add_plays(d, arm, 1);
}

static void add_held(tarry__doubt *d)
{
    const tarry__policy_problem *p = d->fit->view->problem;
    if (d->plays_best > 0)
        add_plays(d, tarry__policy_choice(p, d->best), (double)d->plays_best);
    if (d->plays_other > 0)
        add_plays(d, tarry__policy_choice(p, d->other), (double)d->plays_other);
    d->plays_best = d->plays_other = 0;
}

/* ---- a choice -------------------------------------------------------------*/

/* L of a difference with an arm, w being its variance over the noise of that
 * arm: 0 if `left` rounds cannot repay it. */
static double width(const tarry__doubt *d, double left, double w)
{
    const double repaid = d->c * left * w;
    return repaid > 1 ? 2 * d->beta * tarry__ln(repaid) : 0;
}

/* As many rounds as have passed, or as are left. */
static double rounds_ahead(const tarry__doubt *d, uint64_t round)
{
    const uint64_t left = d->fit->view->problem->horizon - round + 1;
    return (double)(round < left ? round : left);
}

static double largest(const double *x, const double *y, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, x[i] / y[i]);
    return most;
}

/* The place of the most doubtful difference, and how doubtful. */
static size_t most_doubtful(const tarry__doubt *d, uint64_t round, double *most)
{
    const size_t count = d->fit->view->count;
    const double left = rounds_ahead(d, round);
    /* no doubt is wider than the widest */
    const double widest = width(d, left, largest(d->w, d->noise, count));
    size_t u = d->best;
    *most = 0;
    for (size_t i = 0; i < count; i++) {
        const double reach = *most + d->gap[i];
        if (!(d->w[i] * widest > reach * reach))
            continue;
        const double L = width(d, left, d->w[i] / d->noise[i]);
        if (L * d->w[i] > reach * reach) {
            *most = sqrt(L * d->w[i]) - d->gap[i];
            u = i;
        }
    }
    return u;
}

/* Of playing the arm at place i: the share of the question's variance that
 * its loss will remove. */
static double information(const tarry__doubt *d, size_t i, double w)
{
    const double r = d->t[i] * d->t[i] / ((d->s[i] + d->noise[i]) * w);
    return r;
}

/* The best mixture of b and arm i: its probability, and its ratio. */
static double mix(double gap, double doubt, double own, double info,
                  double *share)
{
    const double more = info - own;
    *share = 0;
    if (more > 0)
        *share =
            gap > 0 ? tarry__foresight_clamp(doubt / gap - 2 * own / more, 0, 1)
                    : 1;
    const double cost = *share * gap + doubt;
    return cost * cost / (own + *share * more);
}

/* t(i) = the covariance of arm i's mean with the question. */
static void ask(tarry__doubt *d, size_t u)
{
    const tarry__view *v = d->fit->view;
    for (size_t j = 0; j < v->rank; j++)
        d->x[j] = arm_at(d, u)[j] - arm_at(d, d->best)[j];
    times(d->P, v->rank, d->x, d->y);
    tarry__view_times(v, d->y, d->t);
}

/* The mixture that answers the question about the arm at place u best. */
static void find_mixture(tarry__doubt *d, size_t u, double doubt)
{
    double share, least = INFINITY;
    ask(d, u);
    const double own = information(d, d->best, d->w[u]);
    for (size_t i = 0; i < d->fit->view->count; i++) {
        const double ratio =
            mix(d->gap[i], doubt, own, information(d, i, d->w[u]), &share);
        if (ratio < least) {
            least = ratio;
            d->other = i;
            d->share = share;
        }
    }
}

size_t tarry__doubt_choose(tarry__doubt *d, uint64_t round, double coin)
{
    if (!d->calm && round >= d->until) {
        double doubt;
        add_held(d);
        const size_t u = most_doubtful(d, round, &doubt);
        d->calm = doubt <= 0;
        d->until = round + 1 + round / HOLD;
        if (!d->calm)
            find_mixture(d, u, doubt);
    }
    return !d->calm && coin < d->share ? d->other : d->best;
}

/* ---- saving ---------------------------------------------------------------*/

void tarry__doubt_archive(tarry__doubt *d, const tarry__fit *fit,
                          tarry__archive *a)
{
    const size_t r = fit->view->rank, K = fit->view->problem->n_arms;
    if (a->loading && a->status == TARRY_OK)
        a->status = open_memory(d, fit);
    if (a->status != TARRY_OK)
        return;
    tarry__archive_bytes(a, d->P, memory_size(r, K) * sizeof *d->P);
    tarry__archive_field(a, d->beta);
    tarry__archive_field(a, d->c);
    tarry__archive_field(a, d->best);
    tarry__archive_field(a, d->calm);
    tarry__archive_field(a, d->other);
    tarry__archive_field(a, d->share);
    tarry__archive_field(a, d->until);
    tarry__archive_field(a, d->plays_best);
    tarry__archive_field(a, d->plays_other);
    tarry__archive_require(a, d->best < fit->view->count &&
                                  d->other < fit->view->count);
}
