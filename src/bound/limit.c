/* limit.c - see limit.h.
 *
 * Arms of gap 0 cost nothing, so their span is as good as known: coordinates
 * are taken in what is left of the space without it.  With p(a) = N(a) gap(a),
 * x = a / sqrt(gap) and y = a sqrt(2) R / gap the question is
 *     min sum p  such that  y' (sum p x x')^-1 y <= 1 for all y.
 * Few arms matter in the end: a small set is solved (limit_solve.c), all arms
 * are looked at, and those that break a condition, or would make the plan
 * cheaper, are added.
 *
 * The certificate.  For prices l >= 0 with sum 1 and A = sum l(y) y y', every
 * plan q with sum 1 has max_y y' V(q)^-1 y >= tr(A V(q)^-1) >= t^2 / h, where
 * t = tr(A V^-1) and h = max_x x' V^-1 A V^-1 x for any V (the trace is convex
 * in q and falls like 1/s along s V).  So t^2 / h is a lower bound of c. */
#include "bound/limit.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "linalg/linalg.h"

static const double GAP = 1e-12;  /* smaller gaps count as none */
static const double RANK = 1e-9;  /* smaller remainders as none */
static const double CLOSE = 1e-3; /* of constant and certificate */
enum { ROUNDS = 30 };

typedef struct {
    const tarry__instance *in;
    double R;
    size_t m, r;   /* arms with gaps, and dimensions they have left */
    size_t *arm;   /* their numbers */
    double *gap;   /* and gaps */
    double *Z;     /* r by m: coordinates */
    bool *chosen;  /* in the small set */
    double *worth; /* per arm: scratch */
    tarry__limit_problem small;
    size_t *member; /* of the small set: place in arm[] */
    double constant, certified;
} search;

/* ---- coordinates ----------------------------------------------------------*/

/* Takes the direction of column k out of all columns of A; coordinates go to
 * `out`, one per column, if not NULL. */
static void take_out(double *A, size_t n, size_t m, const double *e,
                     double *out)
{
    for (size_t j = 0; j < m; j++) {
        const double c = tarry__linalg_dot(A + j * n, e, n);
        for (size_t i = 0; i < n; i++)
            A[j * n + i] -= c * e[i];
        if (out != NULL)
            out[j] = c;
    }
}

/* Column k with length 1; false: it was nothing to speak of. */
static bool unit(const double *A, size_t n, size_t k, double scale, double *e)
{
    const double length = sqrt(tarry__linalg_dot(A + k * n, A + k * n, n));
    for (size_t i = 0; i < n; i++)
        e[i] = A[k * n + i] / length;
    return length > RANK * scale;
}

static size_t longest(const double *A, size_t n, size_t m)
{
    size_t best = 0;
    double most = -1;
    for (size_t j = 0; j < m; j++) {
        const double length = tarry__linalg_dot(A + j * n, A + j * n, n);
        if (length > most) {
            most = length;
            best = j;
        }
    }
    return best;
}

/* Splits the arms by gap; A gets those with gaps, then the others. */
static size_t split(search *s, double *A)
{
    const tarry__instance *in = s->in;
    size_t n_free = 0;
    for (size_t k = 0; k < in->n_arms; k++) {
        const double gap = in->mean[k] - in->best_mean;
        double *to = gap > GAP ? A + s->m * in->dim
                               : A + (in->n_arms - ++n_free) * in->dim;
        memcpy(to, in->arms + k * in->dim, in->dim * sizeof *A);
        if (gap > GAP) {
            s->arm[s->m] = k;
            s->gap[s->m++] = gap;
        }
    }
    return n_free;
}

/* Z by rows first, r at most `most`; false: more are needed. */
static bool coordinates(search *s, double *A, size_t n_free, double *rows,
                        size_t most)
{
    const size_t n = s->in->dim, all = s->in->n_arms;
    double *e = rows + most * s->m;
    double scale = 0;
    for (size_t k = 0; k < all; k++)
        scale = fmax(scale, sqrt(tarry__linalg_dot(A + k * n, A + k * n, n)));
    for (size_t i = 0; i < n_free; i++) {
        const size_t k = s->m + longest(A + s->m * n, n, n_free);
        if (!unit(A, n, k, scale, e))
            break;
        take_out(A, n, all, e, NULL);
    }
    while (s->r < most && unit(A, n, longest(A, n, s->m), scale, e))
        take_out(A, n, s->m, e, rows + s->r++ * s->m);
    return s->r < most || !unit(A, n, longest(A, n, s->m), scale, e);
}

static tarry_status place_arms(search *s)
{
    const size_t n = s->in->dim, all = s->in->n_arms;
    const size_t most = n < TARRY__LIMIT_MOST_DIM ? n : TARRY__LIMIT_MOST_DIM;
    double *A = tarry__base_alloc(n * all, sizeof *A);
    double *rows = tarry__base_alloc(most * all + n, sizeof *rows);
    s->arm = tarry__base_alloc(all, sizeof *s->arm);
    s->gap = tarry__base_alloc(all, sizeof *s->gap);
    tarry_status status = TARRY_NO_MEMORY;
    if (A != NULL && rows != NULL && s->arm != NULL && s->gap != NULL) {
        const size_t n_free = split(s, A);
        status = s->m == 0 || coordinates(s, A, n_free, rows, most)
                     ? TARRY_OK
                     : TARRY_BAD_INPUT;
        s->Z = tarry__base_alloc(s->r * s->m, sizeof *s->Z);
        if (s->Z == NULL)
            status = TARRY_NO_MEMORY;
        for (size_t i = 0; status == TARRY_OK && i < s->r; i++)
            for (size_t j = 0; j < s->m; j++)
                s->Z[j * s->r + i] = rows[i * s->m + j];
    }
    tarry__base_free(A);
    tarry__base_free(rows);
    return status;
}

/* ---- the small set --------------------------------------------------------*/

static void choose(search *s, size_t j)
{
    s->chosen[j] = true;
    s->member[s->small.w++] = j;
}

/* The arm that is worth most and not chosen; SIZE_MAX: none is worth more than
 * `least`. */
static size_t most_worth(const search *s, double least)
{
    size_t best = SIZE_MAX;
    for (size_t j = 0; j < s->m; j++)
        if (!s->chosen[j] && s->worth[j] > least) {
            least = s->worth[j];
            best = j;
        }
    return best;
}

static size_t add_worthy(search *s, double least)
{
    size_t added = 0;
    for (; added < s->r + 8; added++) {
        const size_t j = most_worth(s, least);
        if (j == SIZE_MAX)
            break;
        choose(s, j);
    }
    return added;
}

/* Arms of small gap, and some that span. */
static tarry_status begin(search *s)
{
    double *A = tarry__base_alloc(s->r * s->m + s->r, sizeof *A);
    if (A == NULL)
        return TARRY_NO_MEMORY;
    memcpy(A, s->Z, s->r * s->m * sizeof *A);
    double *e = A + s->r * s->m;
    for (size_t i = 0; i < s->r; i++) {
        const size_t j = longest(A, s->r, s->m);
        unit(A, s->r, j, 0, e);
        take_out(A, s->r, s->m, e, NULL);
        if (!s->chosen[j])
            choose(s, j);
    }
    for (size_t j = 0; j < s->m; j++)
        s->worth[j] = 1 / s->gap[j];
    add_worthy(s, 0);
    tarry__base_free(A);
    return TARRY_OK;
}

static tarry_status open_small(search *s)
{
    tarry__limit_problem *o = &s->small;
    tarry__base_free(o->X);
    o->r = s->r;
    o->X = tarry__base_alloc(2 * s->r * o->w + 2 * o->w + s->r * s->r,
                             sizeof *o->X);
    if (o->X == NULL)
        return TARRY_NO_MEMORY;
    o->Y = o->X + s->r * o->w;
    o->p = o->Y + s->r * o->w;
    o->dual = o->p + o->w;
    o->V = o->dual + o->w;
    for (size_t i = 0; i < o->w; i++) {
        const size_t j = s->member[i];
        for (size_t k = 0; k < s->r; k++) {
            const double z = s->Z[j * s->r + k];
            o->X[i * s->r + k] = z / sqrt(s->gap[j]);
            o->Y[i * s->r + k] = z * sqrt(2) * s->R / s->gap[j];
        }
    }
    return TARRY_OK;
}

/* z' M z of every arm times factor / gap^power, into worth; the largest. */
static double weigh(search *s, const double *M, double factor, double power)
{
    const size_t r = s->r;
    double largest = 0;
    for (size_t j = 0; j < s->m; j++) {
        double sum = 0;
        for (size_t i = 0; i < r; i++)
            sum +=
                s->Z[j * r + i] * tarry__linalg_dot(M + i * r, s->Z + j * r, r);
        s->worth[j] = factor * sum / tarry__pow(s->gap[j], power);
        largest = fmax(largest, s->worth[j]);
    }
    return largest;
}

/* B = V^-1 A V^-1 with A = sum l y y', and t = tr(A V^-1). */
static double price_matrix(const search *s, double *A, double *B)
{
    const tarry__limit_problem *o = &s->small;
    const size_t r = s->r;
    double sum = 0, t = 0;
    for (size_t i = 0; i < o->w; i++)
        sum += o->dual[i];
    memset(A, 0, r * r * sizeof *A);
    for (size_t i = 0; i < o->w; i++)
        tarry__linalg_rank_one(A, r, o->dual[i] / sum, o->Y + i * r);
    tarry__linalg_multiply(A, o->V, r, r, r, B);
    for (size_t i = 0; i < r; i++)
        t += B[i * r + i];
    tarry__linalg_multiply(o->V, B, r, r, r, A);
    memcpy(B, A, r * r * sizeof *B);
    return t;
}

/* Solves for the small set, bounds c by all arms, and adds what is missing;
 * answers how many that were. */
static tarry_status improve(search *s, double *A, double *B, size_t *added)
{
    double sum = 0;
    tarry_status status = open_small(s);
    if (status != TARRY_OK || (status = tarry__limit_solve(&s->small)))
        return status;
    for (size_t i = 0; i < s->small.w; i++)
        sum += s->small.p[i];
    const double t = price_matrix(s, A, B);
    const double h = weigh(s, B, 1, 1);
    s->certified = t * t / h;
    /* at the optimum x' B x is t / sum for all that is played */
    *added = add_worthy(s, t / sum * (1 + CLOSE / 4));
    const double q = weigh(s, s->small.V, 2 * s->R * s->R, 2);
    s->constant = sum * q;
    *added += add_worthy(s, 1 + CLOSE / 4);
    return TARRY_OK;
}

/* ---- the losses' own law --------------------------------------------------*/

/* Arm a is made as good as the best in the direction that is seen least. */
static void shift_means(const search *s, size_t i, double *shift)
{
    const size_t r = s->r;
    const double *z = s->Z + s->member[i] * r, *V = s->small.V;
    double q = 0;
    for (size_t k = 0; k < r; k++)
        q += z[k] * tarry__linalg_dot(V + k * r, z, r);
    memset(shift, 0, s->in->n_arms * sizeof *shift);
    for (size_t j = 0; j < s->m; j++) {
        double product = 0;
        for (size_t k = 0; k < r; k++)
            product += s->Z[j * r + k] * tarry__linalg_dot(V + k * r, z, r);
        shift[s->arm[j]] = -s->gap[s->member[i]] * product / q;
    }
}

static tarry_status find_by_law(const search *s, const tarry__world *world,
                                double *constant)
{
    const size_t n = s->in->n_arms;
    double most = 0;
    tarry__limit_alternatives o = {0};
    o.shift = tarry__base_alloc((n + 1) * s->small.w, sizeof *o.shift);
    if (o.shift == NULL)
        return TARRY_NO_MEMORY;
    o.price = o.shift + n * s->small.w;
    for (size_t i = 0; i < s->small.w; i++)
        most = fmax(most, s->small.dual[i]);
    for (size_t i = 0; i < s->small.w; i++)
        if (s->small.dual[i] > 1e-6 * most) {
            shift_means(s, i, o.shift + o.count * n);
            o.price[o.count++] = s->small.dual[i];
        }
    const tarry_status status = tarry__limit_by_law(world, &o, constant);
    tarry__base_free(o.shift);
    return status;
}

/* ---- all together ---------------------------------------------------------*/

static double proxy(const tarry__loss *loss)
{
    return loss->type->two_valued ? (1 - loss->type->lower) / 2 : loss->width;
}

static tarry_status run(search *s)
{
    double *A = tarry__base_alloc(2 * s->r * s->r, sizeof *A);
    size_t added = 1;
    tarry_status status = A == NULL ? TARRY_NO_MEMORY : begin(s);
    for (int i = 0; status == TARRY_OK && added > 0 && i < ROUNDS; i++)
        status = improve(s, A, A + s->r * s->r, &added);
    tarry__base_free(A);
    return status;
}

static tarry_status find(search *s, const tarry__world *world,
                         tarry__bound_limit *limit)
{
    tarry_status status = place_arms(s);
    if (status != TARRY_OK || s->m == 0 || s->r == 0 || s->R == 0)
        return status;
    s->chosen = tarry__base_zalloc(s->m, sizeof *s->chosen);
    s->worth = tarry__base_alloc(s->m, sizeof *s->worth);
    s->member = tarry__base_alloc(s->m, sizeof *s->member);
    if (s->chosen == NULL || s->worth == NULL || s->member == NULL)
        return TARRY_NO_MEMORY;
    if ((status = run(s)) || (status = find_by_law(s, world, &limit->by_law)))
        return status;
    limit->constant = s->constant;
    limit->certified = s->certified;
    for (size_t i = 0; i < s->small.w; i++)
        limit->support += s->small.p[i] > CLOSE * s->constant;
    return TARRY_OK;
}

tarry_status tarry__bound_limit_find(const tarry__world *world,
                                     tarry__bound_limit *limit,
                                     tarry_error *error)
{
    search s = {.in = &world->instance, .R = proxy(&world->loss)};
    *limit = (tarry__bound_limit){.R = s.R, .by_law = NAN};
    tarry_status status = find(&s, world, limit);
    if (status != TARRY_OK)
        *limit = (tarry__bound_limit){
            .R = s.R, .constant = NAN, .certified = NAN, .by_law = NAN};
    if (status == TARRY_BAD_INPUT || status == TARRY_TARGET_NOT_MET)
        status = tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "no limit for arms like these: they span "
                                  "more than %d dimensions, or next to none",
                                  TARRY__LIMIT_MOST_DIM);
    else if (status != TARRY_OK)
        tarry__base_fail(error, status, "%s", tarry_status_text(status));
    tarry__base_free(s.arm);
    tarry__base_free(s.gap);
    tarry__base_free(s.Z);
    tarry__base_free(s.chosen);
    tarry__base_free(s.worth);
    tarry__base_free(s.member);
    tarry__base_free(s.small.X);
    return status;
}
