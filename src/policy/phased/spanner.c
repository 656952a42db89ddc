/* spanner.c - phased elimination on a volumetric spanner, for delay as payoff.
 *
 * Source: after Zhang, Wang and Luo, "Contextual linear bandits with delay as
 * payoff", 2025, for a fixed set of arms: confidence from a few arms played
 * alike instead of a design, and phases that wait for nothing.
 *
 * A volumetric spanner of the active arms is a small subset such that every
 * active a is sum_b l_b b over it with |l| <= 1 (Hazan and Karnin,
 * "Volumetric spanners", 2016).  Phase m, eps = 2^-m, plays each of its arms
 * N = ceil(2 log(K T m (m+1)) / eps^2) times in turn.  A delay may depend on
 * its loss, so what comes early misleads: losses that are missing when the last
 * play is made are completed both ways (estimate.c), which brackets the mean of
 * the N losses, and those of an earlier phase no longer count.  The error of
 * every arm's estimate, the least-squares one, is at most eps |l| <= eps; keep
 * a iff lower(a) - min_b upper(b) <= 2 eps.  While delays are longer than a
 * phase little is cut, and the next phase is four times as long.
 *
 * `spanner-waiting` is the same with patience: it waits for all those losses
 * before it judges, playing the best arm so far, in phase 1 the spanner in
 * turn.
 *
 * The spanner: first a basis, by taking the arm farthest from the span of those
 * taken, until the rest lies in it.  In coordinates of that basis M = I, and
 * |l|^2 = c' M c for an arm with coordinates c.  While some arm exceeds 1,
 * the one with the most is taken too, which adds c c' to M^-1.  Each step at
 * least doubles det(M^-1), so there are few.
 *
 * Uncertain: the text was not at hand.  Theirs doubles the plays of a phase
 * (here they grow fourfold, with the width halved), has losses in [0, 1] of
 * which a missing one is at least its age over D (here it is in [-1, 1]), and,
 * to pay for the best arm's delay only, doubles a guess of the best loss (not
 * here); constants. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "linalg/linalg.h"
#include "policy/phased/phased.h"

static double quota(const tarry__phased_task *task, double min_weight)
{
    const double m = (double)task->phase;
    (void)min_weight;
    return 2 * (tarry__phased_log_kt(task) + tarry__ln(m * (m + 1))) /
           (task->epsilon * task->epsilon);
}

/* ---- the spanner ----------------------------------------------------------*/

/* `count` rows of `n` numbers; c has the coordinates, one row per arm. */
typedef struct {
    size_t count, n, rank;
    double *rest, *c, *lengths; /* rest: what is left of the rows */
    double *M, *u, *e;
    size_t *basis, *taken;
    size_t n_taken;
} span;

static tarry_status open_span(span *s, size_t count, size_t n)
{
    *s = (span){.count = count, .n = n};
    s->rest = tarry__base_alloc(count * n, sizeof *s->rest);
    s->c = tarry__base_zalloc(count * n, sizeof *s->c);
    s->lengths = tarry__base_alloc(count, sizeof *s->lengths);
    s->M = tarry__base_zalloc(n * n, sizeof *s->M);
    s->u = tarry__base_alloc(n, sizeof *s->u);
    s->e = tarry__base_alloc(n, sizeof *s->e);
    s->basis = tarry__base_alloc(n, sizeof *s->basis);
    s->taken = tarry__base_alloc(count + n, sizeof *s->taken);
    return s->rest && s->c && s->lengths && s->M && s->u && s->e && s->basis &&
                   s->taken
               ? TARRY_OK
               : TARRY_NO_MEMORY;
}

static void close_span(span *s)
{
    tarry__base_free(s->rest);
    tarry__base_free(s->c);
    tarry__base_free(s->lengths);
    tarry__base_free(s->M);
    tarry__base_free(s->u);
    tarry__base_free(s->e);
    tarry__base_free(s->basis);
    tarry__base_free(s->taken);
}

/* The first row with the largest number, and that. */
static size_t largest(const double *x, size_t count, double *value)
{
    size_t best = 0;
    for (size_t k = 1; k < count; k++)
        if (x[k] > x[best])
            best = k;
    *value = x[best];
    return best;
}

static double length(const double *x, size_t n)
{
    return sqrt(tarry__linalg_dot(x, x, n));
}

/* Takes direction e out of all rows; what it was there is their coordinate. */
static void take_out(span *s, const double *e)
{
    for (size_t k = 0; k < s->count; k++) {
        double *row = s->rest + k * s->n;
        const double part = tarry__linalg_dot(row, e, s->n);
        for (size_t j = 0; j < s->n; j++)
            row[j] -= part * e[j];
        s->c[k * s->n + s->rank] = part;
        s->lengths[k] = length(row, s->n);
    }
}

/* The basis, and c with respect to orthonormal directions. */
static void find_basis(span *s, double tolerance)
{
    double first = 0, longest;
    for (size_t k = 0; k < s->count; k++)
        s->lengths[k] = length(s->rest + k * s->n, s->n);
    for (; s->rank < s->n; s->rank++) {
        const size_t k = largest(s->lengths, s->count, &longest);
        first = fmax(first, longest);
        if (!(longest > tolerance * first))
            return;
        for (size_t j = 0; j < s->n; j++)
            s->e[j] = s->rest[k * s->n + j] / longest;
        s->basis[s->rank] = k;
        take_out(s, s->e);
    }
}

/* c with respect to the basis: sum_i l_i c(b_i) = c, where c(b_i) ends at i. */
static void change_coordinates(span *s)
{
    const size_t n = s->n, r = s->rank;
    for (size_t i = 0; i < r; i++) /* c(b_i) for all i, as rows of M */
        memcpy(s->M + i * n, s->c + s->basis[i] * n, r * sizeof *s->M);
    for (size_t k = 0; k < s->count; k++) {
        double *l = s->c + k * n;
        for (size_t j = r; j-- > 0;) {
            for (size_t i = j + 1; i < r; i++)
                l[j] -= l[i] * s->M[i * n + j];
            l[j] /= s->M[j * n + j];
        }
    }
}

/* Takes the arms with |l| > 1 besides the basis; lengths hold |l|^2. */
static void fill_up(span *s)
{
    const size_t n = s->n, r = s->rank;
    double most;
    memset(s->M, 0, n * n * sizeof *s->M);
    for (size_t i = 0; i < r; i++) {
        s->M[i + i * n] = 1;
        s->taken[s->n_taken++] = s->basis[i];
    }
    for (size_t k = 0; k < s->count; k++)
        s->lengths[k] = tarry__linalg_dot(s->c + k * n, s->c + k * n, r);
    for (size_t steps = 0; steps < s->count; steps++) {
        const size_t k = largest(s->lengths, s->count, &most);
        if (!(most > 1 + 1e-9))
            return;
        s->taken[s->n_taken++] = k;
        for (size_t i = 0; i < r; i++)
            s->u[i] = tarry__linalg_dot(s->M + i * n, s->c + k * n, r);
        for (size_t i = 0; i < r; i++)
            for (size_t j = 0; j < r; j++)
                s->M[i * n + j] -= s->u[i] * s->u[j] / (1 + most);
        for (size_t i = 0; i < s->count; i++) {
            const double w = tarry__linalg_dot(s->c + i * n, s->u, r);
            s->lengths[i] -= w * w / (1 + most);
        }
    }
}

static int by_number(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* The numbers of a spanner's rows in s->taken, increasing. */
static void find_spanner(span *s, double tolerance)
{
    find_basis(s, tolerance);
    change_coordinates(s);
    fill_up(s);
    if (s->n_taken == 0) /* all arms are zero: any will do */
        s->taken[s->n_taken++] = 0;
    qsort(s->taken, s->n_taken, sizeof *s->taken, by_number);
    size_t kept = 1; /* each once */
    for (size_t i = 1; i < s->n_taken; i++)
        if (s->taken[i] != s->taken[kept - 1])
            s->taken[kept++] = s->taken[i];
    s->n_taken = kept;
}

/* ---- phases ---------------------------------------------------------------*/

/* The active arms, brought to about 1 by a power of two. */
static void fill_rows(const tarry__policy_problem *problem,
                      const tarry__phased_plan *p, double *rows)
{
    const size_t n = problem->dim;
    double largest_entry = 0;
    for (size_t i = 0; i < p->n_active; i++)
        memcpy(rows + i * n, problem->arms + p->active[i] * n,
               n * sizeof *rows);
    for (size_t i = 0; i < p->n_active * n; i++)
        largest_entry = fmax(largest_entry, fabs(rows[i]));
    if (largest_entry == 0)
        return;
    const int exponent = -ilogb(largest_entry);
    for (size_t i = 0; i < p->n_active * n; i++)
        rows[i] = scalbn(rows[i], exponent);
}

/* The spanner's arms, all alike. */
static tarry_status lay(const tarry__phased_task *task, tarry__phased_plan *p)
{
    span s;
    tarry_status status = open_span(&s, p->n_active, task->problem->dim);
    if (status == TARRY_OK) {
        fill_rows(task->problem, p, s.rest);
        find_spanner(&s, task->rank_tolerance);
        status = tarry__phased_plan_open(p, s.n_taken);
        p->rank = s.rank;
    }
    for (size_t i = 0; status == TARRY_OK && i < p->n_entries; i++)
        p->entry[i] = (tarry_plan_entry){.arm = p->active[s.taken[i]],
                                         .weight = 1 / (double)s.n_taken};
    close_span(&s);
    return status;
}

/* The planned plays in turn, and those that replace what was called off. */
static bool is_planned(tarry__phased *ph, uint64_t round, size_t *arm)
{
    if (round < ph->plan.designated_end) {
        *arm = tarry__phased_plan_turn(&ph->plan);
        return true;
    }
    if (!tarry__phased_plan_next(&ph->plan, arm))
        return false;
    tarry__phased_plan_replace(&ph->plan, round);
    return true;
}

static tarry_status choose(tarry__phased *ph, uint64_t round, size_t *arm)
{
    while (ph->plan.n_active > 1 && !is_planned(ph, round, arm)) {
        const tarry_status status = tarry__phased_advance(ph, round);
        if (status != TARRY_OK)
            return status;
    }
    if (ph->plan.n_active == 1)
        *arm = ph->plan.active[0];
    return TARRY_OK;
}

static tarry_status choose_waiting(tarry__phased *ph, uint64_t round,
                                   size_t *arm)
{
    if (ph->plan.n_active > 1 && ph->plan.n_short == 0) {
        const tarry_status status = tarry__phased_advance(ph, round);
        if (status != TARRY_OK)
            return status;
    }
    if (ph->plan.n_active == 1)
        *arm = ph->plan.active[0];
    else if (!is_planned(ph, round, arm))
        *arm = ph->n_estimates == 0 ? tarry__phased_plan_turn(&ph->plan)
                                    : ph->best;
    return TARRY_OK;
}

#define ALGORITHM(how)                                                         \
    {                                                                          \
        .linear = true, .per_arm = true, .in_turn = true,                      \
        .designated_only = true, .cut = 2, .lay = lay, .quota = quota,         \
        .share = tarry__phased_share_all, .choose = (how),                     \
        .rule = {{&tarry__phased_paper, NULL}, {NULL, NULL}},                  \
        .read = tarry__phased_read_tolerance,                                  \
    }
static const tarry__phased_algorithm completing = ALGORITHM(choose),
                                     waiting = ALGORITHM(choose_waiting);

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL(
        "rank_tolerance", "1e-11", 1e-15, 0.1,
        "what is left of arms below this share of the longest counts as 0"),
    TARRY__SPEC_END,
};

#define SPANNER(title, told, algorithm)                                        \
    {                                                                          \
        .name = (title), .source = "after Zhang et al. 2025",                  \
        .any_delays = true, .summary = (told), .settings = settings,           \
        .rule = &(algorithm), .state_size = sizeof(tarry__phased),             \
        TARRY__PHASED_SHARED,                                                  \
    }

const tarry__policy_type tarry__phased_spanner =
    SPANNER("spanner", "phased elimination on a spanner, for delay as payoff",
            completing);
const tarry__policy_type tarry__phased_spanner_waiting =
    SPANNER("spanner-waiting", "as spanner, but waits for every loss", waiting);
