/* root.c - see root.h. */
#include "policy/foresight/root.h"

#include <math.h>
#include <string.h>

bool tarry__root_factor(double *A, size_t r)
{
    for (size_t j = 0; j < r; j++) {
        double *l = A + j * r;
        if (!(l[j] > 0) || !isfinite(l[j]))
            return false;
        const double root = 1 / sqrt(l[j]);
        for (size_t i = j; i < r; i++)
            l[i] *= root;
        for (size_t k = j + 1; k < r; k++)
            for (size_t i = k; i < r; i++)
                A[i + k * r] -= l[k] * l[i];
    }
    return true;
}

void tarry__root_solve(const double *L, size_t r, double *x)
{
    for (size_t j = 0; j < r; j++) {
        x[j] /= L[j + j * r];
        for (size_t i = j + 1; i < r; i++)
            x[i] -= L[i + j * r] * x[j];
    }
}

void tarry__root_solve_back(const double *L, size_t r, double *x)
{
    for (size_t j = r; j-- > 0;) {
        for (size_t i = j + 1; i < r; i++)
            x[j] -= L[i + j * r] * x[i];
        x[j] /= L[j + j * r];
    }
}

void tarry__root_inverse(const double *L, size_t r, double *P)
{
    memset(P, 0, r * r * sizeof *P);
    for (size_t j = 0; j < r; j++) {
        P[j + j * r] = 1;
        tarry__root_solve(L, r, P + j * r);
        tarry__root_solve_back(L, r, P + j * r);
    }
}
