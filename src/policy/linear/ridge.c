/* ridge.c - see ridge.h.  Factors are computed by plain loops: they are rare
 * and small. */
#include "policy/linear/ridge.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "linalg/linalg.h"

enum { FRESH_EVERY = 1024 };

static size_t memory_size(size_t n)
{
    const size_t stride = tarry__linear_stride(n);
    return 3 * n * (n + 1) + n * n + n * stride + 2 * n + stride;
}

static tarry_status open_memory(tarry__ridge *r, size_t n)
{
    const size_t stride = tarry__linear_stride(n);
    r->kernels = tarry__arms_kernel();
    r->n = n;
    r->memory = tarry__base_zalloc(memory_size(n), sizeof *r->memory);
    if (r->memory == NULL)
        return TARRY_NO_MEMORY;
    r->S = r->memory;
    r->p = r->S + n * stride;
    r->V = r->p + stride; /* b follows V, as recent_b does recent_V */
    r->b = r->V + n * n;
    r->recent_V = r->b + n;
    r->recent_b = r->recent_V + n * n;
    r->carry = r->recent_b + n;
    r->L = r->carry + n * (n + 1);
    r->theta = r->L + n * n;
    r->u = r->theta + n;
    return TARRY_OK;
}

tarry_status tarry__ridge_init(tarry__ridge *r, size_t n, double lambda)
{
    const size_t stride = tarry__linear_stride(n);
    const tarry_status status = open_memory(r, n);
    r->lambda = lambda;
    for (size_t i = 0; status == TARRY_OK && i < n; i++) {
        r->V[i + i * n] = lambda;
        r->S[i + i * stride] = 1 / sqrt(lambda);
    }
    return status;
}

tarry_status tarry__ridge_init_by(tarry__ridge *ridge, size_t n,
                                  const tarry__spec *spec, tarry_error *error)
{
    double lambda;
    const tarry_status status =
        tarry__spec_real(spec, "lambda", &lambda, error);
    return status == TARRY_OK ? tarry__ridge_init(ridge, n, lambda)
                              : TARRY_BAD_ARGUMENT;
}

void tarry__ridge_clear(tarry__ridge *r)
{
    tarry__base_free(r->memory);
}

/* The n by n matrix at `from` into the upper left of one of `to_n` columns. */
static void place(const double *from, size_t n, size_t step, double *to,
                  size_t to_step)
{
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * to_step, from + i * step, n * sizeof *to);
}

tarry_status tarry__ridge_widen(const tarry__ridge *r, size_t n,
                                tarry__ridge *wider)
{
    const size_t m = r->n;
    *wider = (tarry__ridge){0};
    const tarry_status status = tarry__ridge_init(wider, n, r->lambda);
    if (status != TARRY_OK)
        return status;
    place(r->V, m, m, wider->V, n);
    place(r->recent_V, m, m, wider->recent_V, n);
    place(r->carry, m, m, wider->carry, n);
    place(r->S, m, tarry__linear_stride(m), wider->S, tarry__linear_stride(n));
    memcpy(wider->b, r->b, m * sizeof *r->b);
    memcpy(wider->recent_b, r->recent_b, m * sizeof *r->b);
    memcpy(wider->carry + n * n, r->carry + m * m, m * sizeof *r->carry);
    memcpy(wider->theta, r->theta, m * sizeof *r->theta);
    wider->log_det = r->log_det;
    wider->added = r->added;
    wider->since = r->since;
    return TARRY_OK;
}

/* ---- afresh ---------------------------------------------------------------*/

/* V += recent_V, b += recent_b, which are then zero. */
static void join(tarry__ridge *r)
{
    for (size_t i = 0; i < r->n * (r->n + 1); i++) {
        const double term = r->recent_V[i] + r->carry[i];
        const double sum = r->V[i] + term, part = sum - r->V[i];
        r->carry[i] = (r->V[i] - (sum - part)) + (term - part);
        r->V[i] = sum;
        r->recent_V[i] = 0;
    }
}

/* V = L L' in rows of L; false if V is not positive definite in doubles. */
static bool factor(const double *V, size_t n, double *L)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            const double rest =
                V[i * n + j] - tarry__linalg_dot(L + i * n, L + j * n, j);
            if (j < i)
                L[i * n + j] = rest / L[j * n + j];
            else if (rest > 0 && isfinite(rest))
                L[i * n + i] = sqrt(rest);
            else
                return false;
        }
    return true;
}

/* S = L'^-1, so that S S' = V^-1: row i of L S' = I from above, S' being lower
 * triangular with rows in place of S's columns. */
static void invert(const double *L, size_t n, double *S)
{
    const size_t stride = tarry__linear_stride(n);
    memset(S, 0, n * stride * sizeof *S);
    for (size_t j = 0; j < n; j++) { /* row j of S, column j of L^-1 */
        double *column = S + j * stride;
        column[j] = 1 / L[j * n + j];
        for (size_t i = j + 1; i < n; i++)
            column[i] = -tarry__linalg_dot(L + i * n + j, column + j, i - j) /
                        L[i * n + i];
    }
}

/* Where V is too ill-conditioned for a factor, what we have must do. */
static bool compute_afresh(tarry__ridge *r)
{
    const size_t n = r->n;
    r->since = 0;
    join(r);
    if (!factor(r->V, n, r->L))
        return false;
    invert(r->L, n, r->S);
    r->log_det = -(double)n * tarry__ln(r->lambda);
    for (size_t i = 0; i < n; i++)
        r->log_det += 2 * tarry__ln(r->L[i * n + i]);
    r->kernels->transposed(r->S, n, r->b, r->p);
    r->kernels->times(r->S, n, r->p, r->theta);
    return true;
}

/* At doublings, but not among the first n / 8 terms, which cost less than
 * this. */
static bool is_time(const tarry__ridge *r)
{
    const uint64_t every = r->n < FRESH_EVERY / 4 ? FRESH_EVERY : 4 * r->n;
    return r->since >= every || (r->added < every && r->added >= r->n / 8 &&
                                 (r->added & (r->added - 1)) == 0);
}

/* ---- changes --------------------------------------------------------------*/

static void move_theta(tarry__ridge *r, double c)
{
    for (size_t i = 0; i < r->n; i++)
        r->theta[i] += c * r->u[i];
}

/* V += a a', and b += loss a has been done. */
static tarry__ridge_change add_term(tarry__ridge *r, const double *a,
                                    double loss)
{
    const size_t n = r->n;
    r->kernels->transposed(r->S, n, a, r->p);
    r->kernels->times(r->S, n, r->p, r->u);
    const double s = 1 + tarry__linalg_dot(a, r->u, n), root = sqrt(s);
    tarry__ridge_change change = {
        .c = (loss - tarry__linalg_dot(a, r->theta, n)) / s, .d = 1 / s};
    r->kernels->shrink(r->S, n, 1 / (root * (root + 1)), r->u, r->p);
    tarry__linalg_rank_one(r->recent_V, n, 1, a);
    r->log_det += tarry__ln(s);
    move_theta(r, change.c);
    r->added++;
    r->since++;
    change.fresh = is_time(r) && compute_afresh(r);
    return change;
}

static void add_loss(tarry__ridge *r, const double *a, double loss)
{
    for (size_t i = 0; i < r->n; i++)
        r->recent_b[i] += loss * a[i];
}

tarry__ridge_change tarry__ridge_learn(tarry__ridge *r, const double *a,
                                       double loss)
{
    add_loss(r, a, loss);
    return add_term(r, a, loss);
}

tarry__ridge_change tarry__ridge_count(tarry__ridge *r, const double *a)
{
    return add_term(r, a, 0);
}

void tarry__ridge_uncount(tarry__ridge *r, const double *a)
{
    tarry__linalg_rank_one(r->recent_V, r->n, -1, a);
    compute_afresh(r);
}

tarry__ridge_change tarry__ridge_credit(tarry__ridge *r, const double *a,
                                        double loss)
{
    add_loss(r, a, loss);
    r->kernels->transposed(r->S, r->n, a, r->p);
    r->kernels->times(r->S, r->n, r->p, r->u);
    move_theta(r, loss);
    return (tarry__ridge_change){.c = loss};
}

/* ---- answers --------------------------------------------------------------*/

double tarry__ridge_square(const tarry__ridge *r, const double *x)
{
    const size_t n = r->n;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double row = 0;
        for (size_t j = 0; j < n; j++)
            row += (r->V[i * n + j] + r->recent_V[i * n + j]) * x[j];
        sum += row * x[i];
    }
    return sum;
}

double tarry__ridge_variance(const tarry__ridge *r, const double *a)
{
    r->kernels->transposed(r->S, r->n, a, r->p);
    return tarry__linalg_dot(r->p, r->p, r->n);
}

double tarry__ridge_radius(const tarry__ridge *r, double delta)
{
    return sqrt(fmax(0, -2 * tarry__ln(delta) + r->log_det)) + sqrt(r->lambda);
}

size_t tarry__ridge_best(const tarry__ridge *r,
                         const tarry__policy_problem *problem)
{
    size_t best = tarry__policy_choice(problem, 0);
    double least = INFINITY;
    for (size_t i = 0; i < tarry__policy_n_choices(problem); i++) {
        const size_t k = tarry__policy_choice(problem, i);
        const double value =
            tarry__linalg_dot(problem->arms + k * r->n, r->theta, r->n);
        if (value < least) {
            least = value;
            best = k;
        }
    }
    return best;
}

void tarry__ridge_archive(tarry__ridge *r, size_t n, tarry__archive *a)
{
    if (a->loading && a->status == TARRY_OK) /* room only if the file has it */
        a->status = (a->size - a->at) / sizeof(double) < memory_size(n)
                        ? TARRY_BAD_STATE
                        : open_memory(r, n);
    if (a->status != TARRY_OK)
        return;
    tarry__archive_bytes(a, r->memory, memory_size(n) * sizeof *r->memory);
    tarry__archive_field(a, r->lambda);
    tarry__archive_field(a, r->log_det);
    tarry__archive_field(a, r->added);
    tarry__archive_field(a, r->since);
    tarry__archive_require(a, r->lambda > 0);
}
