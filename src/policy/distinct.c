/* distinct.c - arms that differ by rounding alone.
 *
 * All arms are put in order along one direction; near ones in space are near
 * ones there, so only neighbours are compared. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "policy/policy_type.h"

/* What rounding may do to a feature, as a share of its largest value. */
static double rounding(size_t dim)
{
    return 64 * (double)dim * DBL_EPSILON;
}

/* Whether arms differ, but in no feature by more than rounding. */
static bool is_blurred(const double *a, const double *b, size_t dim,
                       const double *column)
{
    bool differs = false;
    for (size_t j = 0; j < dim; j++) {
        if (fabs(a[j] - b[j]) > rounding(dim) * column[j])
            return false;
        differs = differs || a[j] != b[j];
    }
    return differs;
}

typedef struct {
    double at; /* along a direction in which all features have a part */
    size_t arm;
} shadow;

static int by_place(const void *a, const void *b)
{
    const shadow *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at)
                          : (x->arm > y->arm) - (x->arm < y->arm);
}

/* The largest value of each feature, and the arms in their order. */
static void cast(const double *arms, size_t n_arms, size_t dim, double *column,
                 shadow *s)
{
    memset(column, 0, dim * sizeof *column);
    for (size_t k = 0; k < n_arms; k++)
        for (size_t j = 0; j < dim; j++)
            column[j] = fmax(column[j], fabs(arms[k * dim + j]));
    for (size_t k = 0; k < n_arms; k++) {
        s[k] = (shadow){.arm = k};
        for (size_t j = 0; j < dim; j++) /* parts that are not alike */
            if (column[j] > 0)
                s[k].at += arms[k * dim + j] / column[j] *
                           (1 + fmod(0.618 * (double)(j + 1), 1));
    }
    qsort(s, n_arms, sizeof *s, by_place);
}

/* The first such pair; copies of an arm are passed over. */
static bool find_blurred(const double *arms, size_t n_arms, size_t dim,
                         const double *column, const shadow *s, size_t *one,
                         size_t *other)
{
    const double near = 4 * (double)dim * rounding(dim);
    for (size_t i = 0; i < n_arms; i++)
        for (size_t k = i + 1; k < n_arms && s[k].at - s[i].at <= near; k++) {
            const double *a = arms + s[i].arm * dim;
            const double *b = arms + s[k].arm * dim;
            if (is_blurred(a, b, dim, column)) {
                *one = s[i].arm < s[k].arm ? s[i].arm : s[k].arm;
                *other = s[i].arm + s[k].arm - *one;
                return true;
            }
            if (memcmp(a, b, dim * sizeof *a) == 0)
                break; /* the copy looks further */
        }
    return false;
}

tarry_status tarry__policy_check_distinct(const double *arms, size_t n_arms,
                                          size_t dim, tarry_error *error)
{
    double *column = tarry__base_alloc(dim, sizeof *column);
    shadow *s = tarry__base_alloc(n_arms, sizeof *s);
    size_t one, other;
    tarry_status status = TARRY_OK;
    if (column == NULL || s == NULL) {
        status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    } else {
        cast(arms, n_arms, dim, column, s);
        if (find_blurred(arms, n_arms, dim, column, s, &one, &other))
            status = tarry__base_fail(
                error, TARRY_BAD_ARGUMENT,
                "arms %zu and %zu differ by no more than rounding: make them "
                "equal, or drop one",
                one, other);
    }
    tarry__base_free(column);
    tarry__base_free(s);
    return status;
}
