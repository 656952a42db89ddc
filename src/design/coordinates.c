/* coordinates.c - between arms and the core: points, panels, references.
 *
 * Arms enter the core as x = T a.  T is renewed (whitening) when new arms are
 * far out of scale, and before the exact solve: variances do not depend on it,
 * but their rounding does. */
#include "design/solver.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"

/* ---- the core's arms and coordinates --------------------------------------*/

static bool is_same(const double *x, const double *y, size_t r)
{
    const double sign = x[0] == y[0] ? 1 : -1;
    for (size_t i = 0; i < r; i++)
        if (x[i] != sign * y[i])
            return false;
    return true;
}

static bool is_in_core(const tarry__core *core, const double *x)
{
    const size_t r = core->rank;
    for (size_t i = 0; i < core->count; i++)
        if (fabs(core->x[i * r]) == fabs(x[0]) &&
            is_same(core->x + i * r, x, r))
            return true;
    return false;
}

tarry_status tarry__solver_add_arm(tarry__solver *s, size_t k)
{
    tarry__core *core = &s->core;
    if (core->count == core->room) {
        const tarry_status status = tarry__core_reserve(core, 2 * core->room);
        if (status != TARRY_OK)
            return status;
    }
    double *x = core->x + core->count * s->r;
    tarry__linalg_times(s->T, s->r, s->n, s->arms + k * s->n, x);
    if (is_in_core(core, x))
        return TARRY_OK;
    core->weight[core->count] = 0;
    core->variance[core->count] = 0;
    core->arm[core->count++] = k;
    return TARRY_OK;
}

tarry_status tarry__solver_add_hits(tarry__solver *s, size_t *added)
{
    const size_t before = s->core.count;
    const tarry__design_hits *hits = &s->scan.hits[0];
    tarry_status status = TARRY_OK;
    for (size_t i = 0; status == TARRY_OK && i < hits->count; i++)
        status = tarry__solver_add_arm(s, hits->hit[i].arm);
    *added = s->core.count - before;
    return status;
}

/* ---- panels and coordinates -----------------------------------------------*/

static double norm2(const double *A, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += A[i] * A[i];
    return sum;
}

static void transpose(double *A, size_t r)
{
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < j; i++) {
            const double swapped = A[i + j * r];
            A[i + j * r] = A[j + i * r];
            A[j + i * r] = swapped;
        }
}

/* M is in square order r = n and lower triangular; square[1] is overwritten.
 * Norms are those of the arms brought to about 1. */
static double inverse_norm2(tarry__solver *s)
{
    double *inverse = s->square[1];
    for (size_t i = 0; i < s->r * s->r; i++)
        inverse[i] = s->M[i] / s->scale;
    tarry__linalg_lower_inverse(inverse, s->r);
    return norm2(inverse, s->r * s->r);
}

/* With L in square[0]: M = L^-1 T, turned to lower triangular form by an
 * orthogonal map, which no variance notices and which saves half the work. */
tarry_status tarry__solver_panel(tarry__solver *s)
{
    double *L = s->square[0];
    memcpy(L, s->core.V, s->r * s->r * sizeof *L);
    if (!tarry__linalg_cholesky(L, s->r))
        return TARRY_TARGET_NOT_MET;
    memcpy(s->M, s->T, s->r * s->n * sizeof *s->M);
    tarry__linalg_lower_solve(L, s->r, s->M, s->n);
    tarry__linalg_ql(s->M, s->r, s->n);
    tarry__design_panel_pack(&s->panel, s->M, s->r, s->n);
    s->panel_norm2 = norm2(s->M, s->r * s->n) / (s->scale * s->scale);
    return TARRY_OK;
}

tarry_status tarry__solver_refer(tarry__solver *s, uint16_t *index)
{
    if (s->n_references == s->room_references) {
        const size_t room = 2 * s->room_references + 8;
        tarry__design_reference *bigger = tarry__base_grow(
            s->references, s->n_references, room, sizeof *bigger);
        if (bigger == NULL)
            return TARRY_NO_MEMORY;
        s->references = bigger;
        s->room_references = room;
    }
    tarry__design_reference *new = &s->references[s->n_references];
    new->V = tarry__base_alloc(s->r * s->r, sizeof *new->V);
    if (new->V == NULL)
        return TARRY_NO_MEMORY;
    memcpy(new->V, s->core.V, s->r * s->r * sizeof *new->V);
    new->inverse_norm2 = s->thorough ? 0 : inverse_norm2(s);
    *index = (uint16_t)s->n_references++;
    return TARRY_OK;
}

/* L^-1 V_c L'^-1 has the eigenvalues of V^-1 V_c.  The margin covers
 * rounding. */
static bool ratio(tarry__solver *s, const double *V, double *rho)
{
    const size_t r = s->r;
    double *A = s->square[1];
    memcpy(A, V, r * r * sizeof *A);
    for (int side = 0; side < 2; side++) {
        tarry__linalg_lower_solve(s->square[0], r, A, r);
        transpose(A, r);
    }
    if (!tarry__linalg_largest_eigenvalue(A, r, s->values, s->work, rho))
        return false;
    *rho *= 1 + 1e-9;
    return true;
}

tarry_status tarry__solver_ratios(tarry__solver *s, double *rho)
{
    for (size_t c = 0; c < s->n_references; c++)
        rho[c] = 0;
    for (size_t b = 0; b < s->scan.n_blocks; b++) {
        const size_t c = s->scan.reference[b]; /* few are still in use */
        if (rho[c] == 0 && !ratio(s, s->references[c].V, &rho[c]))
            return TARRY_TARGET_NOT_MET;
    }
    return TARRY_OK;
}

/* R of the core's points as rows, scaled by the roots of w + 1/m, so that new
 * points count too; r by r at the top of `rows`. */
static void factor_core(const tarry__core *core, double *rows)
{
    const size_t m = core->count, r = core->rank;
    for (size_t i = 0; i < m; i++) {
        const double root = sqrt(core->weight[i] + 1 / (double)m);
        for (size_t j = 0; j < r; j++)
            rows[i + j * m] = root * core->x[j + i * r];
    }
    tarry__linalg_qr(rows, m, r);
}

/* V = R'^-1 V R^-1. */
static void transform(const double *R, size_t stride, size_t r, double *V)
{
    for (int side = 0; side < 2; side++) {
        tarry__linalg_upper_transposed_solve(R, stride, r, V, r);
        transpose(V, r);
    }
}

tarry_status tarry__solver_whiten(tarry__solver *s)
{
    tarry__core *core = &s->core;
    const size_t m = core->count, r = s->r;
    double *rows = tarry__base_alloc(m * r, sizeof *rows);
    if (rows == NULL)
        return TARRY_NO_MEMORY;
    factor_core(core, rows);
    tarry__linalg_upper_transposed_solve(rows, m, r, s->T, s->n);
    for (size_t i = 0; i < s->n_references; i++)
        transform(rows, m, r, s->references[i].V);
    for (size_t i = 0; i < m; i++)
        tarry__linalg_times(s->T, r, s->n, s->arms + core->arm[i] * s->n,
                            core->x + i * r);
    tarry__base_free(rows);
    return tarry__core_refresh(core) ? TARRY_OK : TARRY_TARGET_NOT_MET;
}
