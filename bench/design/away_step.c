/* away_step.c - Frank-Wolfe with away steps for the D-optimal design (Wolfe
 * 1970, Atwood 1973; Todd and Yildirim 2007; Ahipasaoglu, Sun and Todd 2008).
 *
 * With V = sum w_k a_k a_k' and the variances d_k = a_k' V^-1 a_k, each step
 * takes the arm with the largest d or the supported arm with the smallest,
 * whichever is further from n, and moves w <- (1-t) w + t e_j with the t that
 * makes log det V largest:
 *     t = (d_j - n) / (n (d_j - 1)),    t >= -w_j / (1 - w_j).
 * V^-1 and all d follow by the rank-one formula, with u = V^-1 a_j and
 * c = t / (1-t):
 *     V^-1 <- (V^-1 - c/(1 + c d_j) u u') / (1-t)
 *     d_k  <- (d_k - c/(1 + c d_j) (a_k' u)^2) / (1-t),
 * one read of the matrix per step.  Everything is computed from scratch now
 * and then, and before the method ends.  The start is uniform on n arms chosen
 * by Gram-Schmidt with pivoting, n more reads.
 *
 * With elimination (Harman and Pronzato 2007), an arm with
 *     d < n (1 + E/2 - sqrt(E (4 + E - 4/n)) / 2),    E = g - n,
 * has no weight in any optimal design and is not looked at again. */
#define _POSIX_C_SOURCE 200809L
#include "away_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/base.h"
#include "linalg/linalg.h"

enum { REFRESH_EVERY = 1000, ELIMINATE_EVERY = 50 };

typedef struct {
    const arm_set *set;
    away_step_options options;
    size_t n;
    size_t n_active, *active;   /* arms still in play, increasing */
    double *d;                  /* d[i] belongs to arm active[i] */
    double *weight;             /* per arm of the set */
    size_t n_support, *support; /* places in `active` */
    double *inverse;            /* n by n: V^-1 */
    double *u;                  /* n */
    size_t best;                /* place of the largest d */
    size_t steps;
    double touched; /* arms read so far */
} away;

/* ---- memory -------------------------------------------------------------- */

static void fail(const char *why)
{
    fprintf(stderr, "away steps: %s\n", why);
    exit(1);
}

static void *must_alloc(size_t count, size_t size)
{
    void *block = tarry__base_zalloc(count, size);
    if (block == NULL)
        fail("out of memory");
    return block;
}

static void open_away(away *s, const arm_set *set, away_step_options options)
{
    const size_t K = set->n_arms, n = set->dim;
    *s = (away){.set = set, .options = options, .n = n, .n_active = K};
    s->active = must_alloc(K, sizeof *s->active);
    s->d = must_alloc(K, sizeof *s->d);
    s->weight = must_alloc(K, sizeof *s->weight);
    s->support = must_alloc(K, sizeof *s->support);
    s->inverse = must_alloc(n * n, sizeof *s->inverse);
    s->u = must_alloc(n, sizeof *s->u);
    for (size_t k = 0; k < K; k++)
        s->active[k] = k;
}

static void close_away(away *s)
{
    tarry__base_free(s->u);
    tarry__base_free(s->inverse);
    tarry__base_free(s->support);
    tarry__base_free(s->weight);
    tarry__base_free(s->d);
    tarry__base_free(s->active);
}

/* ---- passes over the arms ------------------------------------------------ */

static const double *arm_at(const away *s, size_t place)
{
    return s->set->arms + s->active[place] * s->n;
}

static inline double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* d_i <- scale (d_i - factor (a_i' u)^2) for all active arms; finds the
 * largest. */
static void update_variances(away *s, double scale, double factor)
{
    double largest = -INFINITY;
    for (size_t i = 0; i < s->n_active; i++) {
        const double product = dot(arm_at(s, i), s->u, s->n);
        s->d[i] = scale * (s->d[i] - factor * product * product);
        if (s->d[i] > largest) {
            largest = s->d[i];
            s->best = i;
        }
    }
    s->touched += (double)s->n_active;
}

static double variance(const double *inverse, const double *arm, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += arm[j] * dot(inverse + j * n, arm, n);
    return sum;
}

static void evaluate_variances(away *s)
{
    s->best = 0;
    for (size_t i = 0; i < s->n_active; i++) {
        s->d[i] = variance(s->inverse, arm_at(s, i), s->n);
        if (s->d[i] > s->d[s->best])
            s->best = i;
    }
    s->touched += (double)s->n_active;
}

/* V^-1 and all variances from the weights. */
static void refresh(away *s)
{
    const size_t n = s->n;
    memset(s->inverse, 0, n * n * sizeof *s->inverse);
    for (size_t i = 0; i < s->n_support; i++)
        tarry__linalg_rank_one(s->inverse, n,
                               s->weight[s->active[s->support[i]]],
                               arm_at(s, s->support[i]));
    if (!tarry__linalg_cholesky(s->inverse, n))
        fail("the arms do not span the space");
    tarry__linalg_cholesky_inverse(s->inverse, n);
    tarry__linalg_mirror(s->inverse, n);
    evaluate_variances(s);
}

/* ---- start --------------------------------------------------------------- */

/* u <- arm minus its projection on the m columns of Q, scaled to length 1. */
static void orthogonalise(const double *Q, size_t m, const double *arm,
                          double *u, size_t n)
{
    memcpy(u, arm, n * sizeof *u);
    for (size_t j = 0; j < m; j++) {
        const double product = dot(Q + j * n, u, n);
        for (size_t i = 0; i < n; i++)
            u[i] -= product * Q[i + j * n];
    }
    const double length = sqrt(dot(u, u, n));
    if (!(length > 0))
        fail("the arms do not span the space");
    for (size_t i = 0; i < n; i++)
        u[i] /= length;
}

/* n arms, each the furthest from the span of those before; meanwhile d holds
 * the squared distances and `inverse` the directions. */
static void start(away *s)
{
    const size_t n = s->n;
    for (size_t i = 0; i < n; i++)
        s->inverse[i + i * n] = 1;
    evaluate_variances(s);
    for (size_t j = 0; j < n; j++) {
        s->support[s->n_support++] = s->best;
        s->weight[s->active[s->best]] = 1 / (double)n;
        orthogonalise(s->inverse, j, arm_at(s, s->best), s->u, n);
        memcpy(s->inverse + j * n, s->u, n * sizeof *s->u);
        update_variances(s, 1, 1);
    }
    refresh(s);
}

/* ---- steps --------------------------------------------------------------- */

/* Index in `support` of the supported arm with the smallest variance. */
static size_t least_supported(const away *s)
{
    size_t least = 0;
    for (size_t i = 1; i < s->n_support; i++)
        if (s->d[s->support[i]] < s->d[s->support[least]])
            least = i;
    return least;
}

/* w <- (1-t) w + t e_j for the arm at `place`, and all that follows. */
static void move(away *s, size_t place, double t)
{
    const size_t n = s->n;
    const double c = t / (1 - t), scale = 1 / (1 - t);
    const double factor = c / (1 + c * s->d[place]);
    tarry__linalg_times(s->inverse, n, n, arm_at(s, place), s->u);
    tarry__linalg_rank_one(s->inverse, n, -factor, s->u);
    for (size_t i = 0; i < n * n; i++)
        s->inverse[i] *= scale;
    for (size_t i = 0; i < s->n_support; i++)
        s->weight[s->active[s->support[i]]] *= 1 - t;
    s->weight[s->active[place]] += t;
    update_variances(s, scale, factor);
    s->steps++;
}

static void increase(away *s, size_t place)
{
    const double d = s->d[place], n = (double)s->n;
    if (s->weight[s->active[place]] == 0)
        s->support[s->n_support++] = place;
    move(s, place, (d - n) / (n * (d - 1)));
}

static void decrease(away *s, size_t index)
{
    const size_t place = s->support[index];
    const double d = s->d[place], n = (double)s->n;
    const double w = s->weight[s->active[place]], drop = -w / (1 - w);
    const double t = d > 1 ? (d - n) / (n * (d - 1)) : drop;
    move(s, place, fmax(t, drop));
    if (t > drop)
        return;
    s->weight[s->active[place]] = 0;
    s->support[index] = s->support[--s->n_support];
}

static void step(away *s)
{
    const size_t index = least_supported(s);
    const double n = (double)s->n;
    if (s->d[s->best] - n >= n - s->d[s->support[index]])
        increase(s, s->best);
    else
        decrease(s, index);
}

/* ---- elimination --------------------------------------------------------- */

/* Moves the arms that may matter, and those with weight, to the front. */
static void eliminate(away *s)
{
    const double n = (double)s->n, E = s->d[s->best] - n;
    const double least = n * (1 + E / 2 - sqrt(E * (4 + E - 4 / n)) / 2);
    const size_t best_arm = s->active[s->best];
    size_t kept = 0;
    s->n_support = 0;
    for (size_t i = 0; i < s->n_active; i++) {
        const size_t k = s->active[i];
        if (s->d[i] < least && s->weight[k] == 0)
            continue;
        if (s->weight[k] > 0)
            s->support[s->n_support++] = kept;
        if (k == best_arm)
            s->best = kept;
        s->active[kept] = k;
        s->d[kept++] = s->d[i];
    }
    s->n_active = kept;
}

/* ---- all of it ----------------------------------------------------------- */

static bool is_done(away *s)
{
    const double target = (1 + s->options.tolerance) * (double)s->n;
    if (s->d[s->best] > target)
        return false;
    refresh(s);
    return s->d[s->best] <= target;
}

static away_step_design result_of(const away *s)
{
    away_step_design out = {.n_support = s->n_support, .steps = s->steps};
    out.reads = s->touched / (double)s->set->n_arms;
    out.arm = must_alloc(s->n_support, sizeof *out.arm);
    out.weight = must_alloc(s->n_support, sizeof *out.weight);
    for (size_t i = 0; i < s->n_support; i++) {
        out.arm[i] = s->active[s->support[i]];
        out.weight[i] = s->weight[out.arm[i]];
    }
    return out;
}

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

away_step_design away_step_solve(const arm_set *set, away_step_options options)
{
    const double begin = tarry__base_seconds(), used = processor_seconds();
    bool converged;
    away s;
    open_away(&s, set, options);
    start(&s);
    while (!(converged = is_done(&s)) &&
           tarry__base_seconds() - begin < options.limit_seconds) {
        step(&s);
        if (s.steps % REFRESH_EVERY == 0)
            refresh(&s);
        if (options.eliminates && s.steps % ELIMINATE_EVERY == 0)
            eliminate(&s);
    }
    away_step_design out = result_of(&s);
    out.converged = converged;
    out.seconds = processor_seconds() - used;
    close_away(&s);
    return out;
}

void away_step_free(away_step_design *design)
{
    tarry__base_free(design->weight);
    tarry__base_free(design->arm);
}
