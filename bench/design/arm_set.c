/* arm_set.c - see arm_set.h.  Each arm is drawn by its own splitmix64, which
 * starts from the arm's number, so threads can share the work. */
#define _GNU_SOURCE /* sincos */
#include "arm_set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"

/* ---- numbers ------------------------------------------------------------- */

static uint64_t next(uint64_t *random)
{
    uint64_t x = *random += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static double uniform(uint64_t *random) /* in (0, 1) */
{
    return ((double)(next(random) >> 12) + 0.5) * 0x1p-52;
}

/* Two of N(0,1), by Box and Muller. */
static void normal_pair(uint64_t *random, double *x, double *y)
{
    const double radius = sqrt(-2 * log(uniform(random)));
    const double angle = 6.283185307179586 * uniform(random);
    sincos(angle, y, x);
    *x *= radius;
    *y *= radius;
}

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static void scale(double *arm, size_t n, double factor)
{
    for (size_t i = 0; i < n; i++)
        arm[i] *= factor;
}

/* ---- kinds --------------------------------------------------------------- */

void gaussian(uint64_t *random, size_t k, double *arm, size_t dim)
{
    (void)k;
    double spare;
    for (size_t i = 0; i + 1 < dim; i += 2)
        normal_pair(random, &arm[i], &arm[i + 1]);
    if (dim % 2 == 1)
        normal_pair(random, &arm[dim - 1], &spare);
}

void unit_sphere(uint64_t *random, size_t k, double *arm, size_t dim)
{
    gaussian(random, k, arm, dim);
    scale(arm, dim, 1 / sqrt(dot(arm, arm, dim)));
}

void uniform_ball(uint64_t *random, size_t k, double *arm, size_t dim)
{
    unit_sphere(random, k, arm, dim);
    scale(arm, dim, pow(uniform(random), 1 / (double)dim));
}

void cube_corners(uint64_t *random, size_t k, double *arm, size_t dim)
{
    (void)k;
    for (size_t i = 0; i < dim; i++)
        arm[i] = next(random) >> 63 ? 1 : -1;
}

void grid(uint64_t *random, size_t k, double *arm, size_t dim)
{
    gaussian(random, k, arm, dim);
    for (size_t i = 0; i < dim; i++)
        arm[i] = round(arm[i]);
}

void one_hot(uint64_t *random, size_t k, double *arm, size_t dim)
{
    (void)random;
    for (size_t i = 0; i < dim; i++)
        arm[i] = i == k % dim;
}

void student_three(uint64_t *random, size_t k, double *arm, size_t dim)
{
    (void)k;
    for (size_t i = 0; i < dim; i++) {
        double z[4];
        normal_pair(random, &z[0], &z[1]);
        normal_pair(random, &z[2], &z[3]);
        arm[i] = z[0] / sqrt(dot(z + 1, z + 1, 3) / 3);
    }
}

/* ---- sets ---------------------------------------------------------------- */

arm_set arm_set_create(arm_kind *kind, size_t n_arms, size_t dim)
{
    arm_set set = {n_arms, dim,
                   tarry__base_alloc(n_arms * dim, sizeof(double))};
    if (set.arms == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < n_arms; k++) {
        uint64_t random = 2385 + k;
        random = next(&random); /* far from the neighbours' states */
        kind(&random, k, set.arms + k * dim, dim);
    }
    return set;
}

void arm_set_free(arm_set *set)
{
    tarry__base_free(set->arms);
    set->arms = NULL;
}

/* 128 bytes: what the file is, the length of the rest, a dictionary. */
static bool write_npy_header(const arm_set *set, FILE *out)
{
    const char start[10] = "\x93NUMPY\x01\x00\x76\x00"; /* 0x76 = 118 */
    char text[118];
    snprintf(text, sizeof text,
             "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu, %zu), }",
             set->n_arms, set->dim);
    return fwrite(start, 1, sizeof start, out) == sizeof start &&
           fprintf(out, "%-117s\n", text) == 118;
}

bool arm_set_save(const arm_set *set, const char *path)
{
    FILE *out = fopen(path, "wb");
    if (out == NULL)
        return false;
    const size_t count = set->n_arms * set->dim;
    const bool wrote = write_npy_header(set, out) &&
                       fwrite(set->arms, sizeof(double), count, out) == count;
    return fclose(out) == 0 && wrote;
}
