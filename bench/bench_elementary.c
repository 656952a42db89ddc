/* bench_elementary.c - ns per call of our elementary functions, beside those of
 * the C library in the same run.
 *
 * Arguments come from a table of 1024, results are summed; "each alone" is
 * independent calls, "in a chain" is calls whose argument needs the last
 * result.  The least of 9 measurements. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include "base/elementary.h"

enum { ARGUMENTS = 1024, REPEATS = 200, MEASUREMENTS = 9 };

typedef double (*function)(double);

static double power(double x)
{
    return pow(x, 0.6180339887);
}

static double our_power(double x)
{
    return tarry__pow(x, 0.6180339887);
}

static double cosine(double x)
{
    return cos(6.283185307179586 * x);
}

static double sine(double x)
{
    return sin(6.283185307179586 * x);
}

static const struct {
    const char *name;
    function ours, theirs;
    double low, high;
} rows[] = {
    {"exp", tarry__exp, exp, -20, 20},
    {"expm1", tarry__expm1, expm1, -2, 2},
    {"log", tarry__ln, log, 0, 1},
    {"log, wide", tarry__ln, log, 1, 1e9},
    {"log1p", tarry__log1p, log1p, -0.9, 2},
    {"log2", tarry__log2, log2, 1, 1e9},
    {"log10", tarry__log10, log10, 1, 1e9},
    {"pow", our_power, power, 0, 100},
    {"cbrt", tarry__cbrt, cbrt, 1, 1e9},
    {"cos_turns", tarry__cos_turns, cosine, 0, 1},
    {"sin_turns", tarry__sin_turns, sine, 0, 1},
    {"erfc", tarry__erfc, erfc, -5, 8},
    {"lgamma", tarry__lgamma, lgamma, 0.1, 100},
    {"tgamma", tarry__tgamma, tgamma, 1, 20},
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static volatile double sink;

/* `link`: by how much of the result the next argument is moved, about 0. */
static double time_of(function f, const double *x, double link)
{
    double least = INFINITY;
    for (int m = 0; m < MEASUREMENTS; m++) {
        const double from = now_ns();
        double total = 0, last = 0;
        for (int r = 0; r < REPEATS; r++)
            for (int i = 0; i < ARGUMENTS; i++) {
                const double y = f(link > 0 ? x[i] + last * link : x[i]);
                last = y;
                total += y;
            }
        sink = total;
        least = fmin(least, now_ns() - from);
    }
    return least / (ARGUMENTS * REPEATS);
}

int main(void)
{
    printf("%-12s %24s %24s\n%-12s", "", "each alone, ns", "in a chain, ns",
           "");
    for (int i = 0; i < 2; i++)
        printf(" %8s %7s %7s", "tarry", "libm", "ratio");
    printf("\n");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double x[ARGUMENTS];
        uint64_t state = 2385;
        for (int i = 0; i < ARGUMENTS; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            x[i] = rows[k].low + (rows[k].high - rows[k].low) *
                                     (((double)(state >> 12) + 0.5) * 0x1p-52);
        }
        printf("%-12s", rows[k].name);
        for (int chain = 0; chain < 2; chain++) {
            const double link = chain ? 1e-200 : 0;
            const double ours = time_of(rows[k].ours, x, link),
                         theirs = time_of(rows[k].theirs, x, link);
            printf(" %8.2f %7.2f %7.2f", ours, theirs, ours / theirs);
        }
        printf("\n");
    }
}
