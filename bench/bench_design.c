/* How fast designs are solved, measured in one run against what cannot be
 * avoided, one plain read of the matrix, and against the classical method.
 *
 *     bench_design [quick] [FOLDER]
 *
 * `quick` leaves out the sets of 10^7 arms; FOLDER takes a file of 1.6 GB for
 * a while (default: the folder of this program).  Times are the best of
 * several, taken in turns so that a busy moment of the machine meets all of
 * them.  Each line ends with whether its goals were met in this run. */
#define _XOPEN_SOURCE 700
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "base/base.h"
#include "design/arm_set.h"
#include "design/away_step.h"
#include "design/others.h"
#include "design/peak_memory.h"
#include "design/plain.h"
#include "tarry/design.h"

enum { LEAST_REPEATS = 5, SMALL_SOLVES = 4000, SMALL_SETS = 200 };
static const double TOLERANCE = 1e-6;
static const double MAX_DEVIATION = 1e-9;
static const double MEASURE_SECONDS = 3; /* repeat for at least this long */
static const double AWAY_SECONDS = 10;   /* the classical method's limit */
static const double LARGE_SET = 5e6;     /* arms; `quick` leaves them out */

/* ---- goals --------------------------------------------------------------- */

static int n_goals, n_missed;

static const char *verdict(bool met)
{
    n_goals++;
    n_missed += !met;
    return met ? "met" : "missed";
}

/* ---- the rest of the machine --------------------------------------------- */

typedef struct {
    double clock, others;
} moment;

static moment now(void)
{
    return (moment){tarry__base_seconds(), others_seconds()};
}

/* Ends a table: times mean little while others use the processors. */
static void tell_others(moment since)
{
    const moment t = now();
    printf("   other programs took %.2f processors meanwhile\n",
           (t.others - since.others) / (t.clock - since.clock));
}

/* ---- measuring ----------------------------------------------------------- */

static tarry_design_options near_options(void)
{
    tarry_design_options options = tarry_design_defaults();
    options.tolerance = TOLERANCE;
    return options;
}

static tarry_design_options paper_options(void)
{
    tarry_design_options options = tarry_design_defaults();
    options.rule = TARRY_DESIGN_PAPER;
    return options;
}

/* A design that missed its target is handed over like any other. */
static tarry_design *solve(const arm_set *set, tarry_design_options options)
{
    tarry_design *design;
    const tarry_status status =
        tarry_design_solve(set->arms, set->n_arms, set->dim, &options, &design);
    if (design == NULL) {
        fprintf(stderr, "n = %zu, K = %zu: %s\n", set->dim, set->n_arms,
                tarry_status_text(status));
        exit(1);
    }
    return design;
}

/* Arms are to be in memory, as the goals say, for all sizes: what a small set
 * has left in the caches goes. */
static void empty_caches(void)
{
    enum { COUNT = 1 << 25 }; /* 256 MB */
    static double *block;
    static volatile double sink;
    if (block == NULL &&
        (block = tarry__base_zalloc(COUNT, sizeof *block)) == NULL)
        exit(1);
    for (size_t i = 0; i < COUNT; i += 8)
        block[i] += 1;
    sink = block[COUNT / 2];
    (void)sink;
}

static double time_of_solve(const arm_set *set, tarry_design_options options)
{
    const double begin = tarry__base_seconds();
    tarry_design *design = solve(set, options);
    const double seconds = tarry__base_seconds() - begin;
    tarry_design_free(design);
    return seconds;
}

static double time_of_read(const arm_set *set)
{
    static volatile double sink; /* so that the sum must be computed */
    const double begin = tarry__base_seconds();
    sink = plain_sum(set);
    (void)sink;
    return tarry__base_seconds() - begin;
}

/* Best times in seconds. */
typedef struct {
    double read; /* one plain read, all threads */
    double all;  /* the solve, all threads */
    double one;  /* the solve, one thread */
} times;

static times measure(const arm_set *set, tarry_design_options options)
{
    times best = {INFINITY, INFINITY, INFINITY};
    tarry_design_options single = options;
    single.threads = 1;
    const double begin = tarry__base_seconds();
    for (int i = 0;
         i < LEAST_REPEATS || tarry__base_seconds() - begin < MEASURE_SECONDS;
         i++) {
        empty_caches();
        best.read = fmin(best.read, time_of_read(set));
        empty_caches();
        best.all = fmin(best.all, time_of_solve(set, options));
        empty_caches();
        best.one = fmin(best.one, time_of_solve(set, single));
    }
    return best;
}

/* ---- checking ------------------------------------------------------------ */

/* A design and what the formula says about it. */
typedef struct {
    tarry_design *design;
    double excess;    /* g/r - 1 */
    double deviation; /* |g - g by the formula| / r */
} checked;

static checked solve_and_check(const arm_set *set, tarry_design_options options)
{
    tarry_design *d = solve(set, options);
    const double r = (double)d->rank;
    const double g = plain_worst_variance(set, d->arm, d->weight, d->n_support);
    return (checked){d, d->g / r - 1, fabs(d->g - g) / r};
}

/* Whether g is what the rule promises, and what the formula gives. */
static bool holds(const checked *c, double excess)
{
    return c->excess <= excess && c->deviation <= MAX_DEVIATION;
}

/* ---- 1. near on Gaussian arms -------------------------------------------- */

typedef struct {
    size_t n_arms, dim;
    double passes, ratio; /* goals */
} gaussian_case;

static void gaussian_row(const gaussian_case *goal)
{
    arm_set set = arm_set_create(gaussian, goal->n_arms, goal->dim);
    const times t = measure(&set, near_options());
    const checked c = solve_and_check(&set, near_options());
    const double passes = c.design->passes, ratio = t.all / t.read;
    printf("%3zu %6.0e %7.3f %4.1f %9.2f %9.2f %8.3f %7.2f %5.0f %8zu %8.1e "
           "%8.1e  %s\n",
           set.dim, (double)set.n_arms, passes, goal->passes, 1e3 * t.one,
           1e3 * t.all, 1e3 * t.read, ratio, goal->ratio, c.design->n_support,
           c.excess, c.deviation,
           verdict(passes <= goal->passes && ratio <= goal->ratio &&
                   holds(&c, TOLERANCE)));
    tarry_design_free(c.design);
    arm_set_free(&set);
}

static void gaussian_table(bool quick)
{
    const moment begin = now();
    const gaussian_case cases[] = {{100000, 10, 1.3, 8},
                                   {1000000, 20, 1.3, 5},
                                   {10000000, 20, 1.3, 3},
                                   {100000, 50, 3, 100}};
    printf("\n1. Gaussian arms, rule near, tolerance %.0e\n"
           "   ratio: all threads to one plain read; check: |g - g by the "
           "formula| / r\n\n"
           "%3s %6s %7s %4s %9s %9s %8s %7s %5s %8s %8s %8s\n",
           TOLERANCE, "n", "K", "passes", "goal", "1 thr ms", "all ms",
           "read ms", "ratio", "goal", "support", "g/r-1", "check");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!quick || (double)cases[i].n_arms < LARGE_SET)
            gaussian_row(&cases[i]);
    tell_others(begin);
}

/* ---- 2. the paper's rule ------------------------------------------------- */

static void paper_row(size_t n_arms, size_t dim, double goal)
{
    arm_set set = arm_set_create(gaussian, n_arms, dim);
    const times t = measure(&set, paper_options());
    const checked c = solve_and_check(&set, paper_options());
    const double ratio = t.all / t.read, r = (double)c.design->rank;
    const double room = 16 + 4 * r * log(log(r));
    const size_t support = c.design->n_support;
    printf("%3zu %6.0e %7.3f %9.2f %9.2f %8.3f %7.2f %5.0f %8zu %6.1f %6.3f "
           "%8.1e  %s\n",
           dim, (double)n_arms, c.design->passes, 1e3 * t.one, 1e3 * t.all,
           1e3 * t.read, ratio, goal, support, room, 1 + c.excess, c.deviation,
           verdict(ratio <= goal && (double)support <= room && holds(&c, 3)));
    tarry_design_free(c.design);
    arm_set_free(&set);
}

static void paper_table(bool quick)
{
    const moment begin = now();
    printf("\n2. Gaussian arms, rule paper\n"
           "   room: 16 + 4 r log log r for the support; g/r at most 4\n\n"
           "%3s %6s %7s %9s %9s %8s %7s %5s %8s %6s %6s %8s\n",
           "n", "K", "passes", "1 thr ms", "all ms", "read ms", "ratio", "goal",
           "support", "room", "g/r", "check");
    paper_row(1000000, 20, 3);
    if (!quick)
        paper_row(10000000, 20, 3);
    tell_others(begin);
}

/* ---- 3. small problems --------------------------------------------------- */

static int increasing(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median seconds over many solves of different sets, slices of `pool`. */
static double median_time(const arm_set *pool, tarry_design_options options)
{
    static double seconds[SMALL_SOLVES];
    arm_set slice = {pool->n_arms / SMALL_SETS, pool->dim, NULL};
    for (size_t i = 0; i < SMALL_SOLVES; i++) {
        slice.arms = pool->arms + i % SMALL_SETS * slice.n_arms * slice.dim;
        seconds[i] = time_of_solve(&slice, options);
    }
    qsort(seconds, SMALL_SOLVES, sizeof *seconds, increasing);
    return seconds[SMALL_SOLVES / 2];
}

static void small_row(const char *name, const arm_set *pool,
                      tarry_design_options options, double goal)
{
    const double all = 1e6 * median_time(pool, options);
    options.threads = 1;
    const double one = 1e6 * median_time(pool, options);
    printf("%-10s %9.1f %9.1f %5.0f  %s\n", name, one, all, goal,
           verdict(all <= goal));
}

static void small_table(void)
{
    const moment begin = now();
    arm_set pool = arm_set_create(gaussian, SMALL_SETS * 1000, 5);
    printf("\n3. Small: Gaussian, n = 5, K = 1000, median of %d solves of %d "
           "sets\n\n%-10s %9s %9s %5s\n",
           SMALL_SOLVES, SMALL_SETS, "rule", "1 thr us", "all us", "goal");
    small_row("near 1e-6", &pool, near_options(), 250);
    small_row("paper", &pool, paper_options(), 60);
    arm_set_free(&pool);
    tell_others(begin);
}

/* ---- 4. hard sets -------------------------------------------------------- */

typedef struct {
    const char *name;
    arm_kind *kind;
    size_t dim;
    double ms; /* goal; infinite for none */
} hard_case;

static void hard_row(const hard_case *goal)
{
    arm_set set = arm_set_create(goal->kind, 100000, goal->dim);
    const times t = measure(&set, near_options());
    const checked c = solve_and_check(&set, near_options());
    const bool met = 1e3 * t.all <= goal->ms && holds(&c, TOLERANCE);
    char ms[16] = "-";
    if (isfinite(goal->ms))
        snprintf(ms, sizeof ms, "%.0f", goal->ms);
    printf("%-13s %3zu %9.2f %9.2f %5s %7.3f %8zu %8.1e %8.1e  %s\n",
           goal->name, set.dim, 1e3 * t.one, 1e3 * t.all, ms, c.design->passes,
           c.design->n_support, c.excess, c.deviation,
           isinf(goal->ms) && met ? "-" : verdict(met));
    tarry_design_free(c.design);
    arm_set_free(&set);
}

static void hard_table(void)
{
    const moment begin = now();
    const hard_case cases[] = {
        {"uniform ball", uniform_ball, 10, 40},
        {"uniform ball", uniform_ball, 20, 600},
        {"unit sphere", unit_sphere, 20, 150},
        {"cube corners", cube_corners, 20, INFINITY},
        {"grid", grid, 20, INFINITY},
        {"one-hot", one_hot, 20, INFINITY},
        {"Student t3", student_three, 20, INFINITY},
    };
    printf("\n4. Other sets, K = 1e5, rule near, tolerance %.0e\n\n"
           "%-13s %3s %9s %9s %5s %7s %8s %8s %8s\n",
           TOLERANCE, "arms", "n", "1 thr ms", "all ms", "goal", "passes",
           "support", "g/r-1", "check");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        hard_row(&cases[i]);
    tell_others(begin);
}

/* ---- 5. the classical method --------------------------------------------- */

static void away_row(const arm_set *set, double ours, bool eliminates,
                     double goal)
{
    away_step_design d = away_step_solve(
        set, (away_step_options){TOLERANCE, AWAY_SECONDS, eliminates});
    const double g = plain_worst_variance(set, d.arm, d.weight, d.n_support);
    const double speed_up = d.seconds / ours;
    char shown[32];
    snprintf(shown, sizeof shown, "%s%.0f", d.converged ? "" : "> ", speed_up);
    printf("%3zu %6.0e %-11s %7zu %8.1f %8.0f %9.2e %9.2f %9s %5.0f  %s\n",
           set->dim, (double)set->n_arms, eliminates ? "yes" : "no", d.steps,
           d.reads, 1e3 * d.seconds, g / (double)set->dim - 1, 1e3 * ours,
           shown, goal, verdict(speed_up >= goal));
    away_step_free(&d);
}

static void away_rows(size_t n_arms, size_t dim, double goal)
{
    arm_set set = arm_set_create(gaussian, n_arms, dim);
    const double ours = measure(&set, near_options()).one;
    away_row(&set, ours, false, goal);
    away_row(&set, ours, true, goal);
    arm_set_free(&set);
}

static void away_table(void)
{
    const moment begin = now();
    printf(
        "\n5. Classical away steps, Gaussian arms, tolerance %.0e, one thread "
        "each\n"
        "   with and without elimination (Harman and Pronzato); \">\": "
        "stopped after %.0f s\n"
        "   ms: its processor time in one run; tarry ms: best wall time\n\n"
        "%3s %6s %-11s %7s %8s %8s %9s %9s %9s %5s\n",
        TOLERANCE, AWAY_SECONDS, "n", "K", "elimination", "steps", "reads",
        "ms", "g/r-1", "tarry ms", "speed-up", "goal");
    away_rows(100000, 10, 10);
    away_rows(1000000, 20, 50);
    tell_others(begin);
}

/* ---- 6. memory ----------------------------------------------------------- */

static bool has_room(const char *folder, double bytes)
{
    struct statvfs disk;
    return statvfs(folder, &disk) == 0 &&
           (double)disk.f_bavail * (double)disk.f_frsize > bytes;
}

static void run_program(const char *build, char *file, double matrix_bytes)
{
    peak_use use;
    char program[PATH_MAX + 32];
    snprintf(program, sizeof program, "%s/tarry", build);
    char *const argv[] = {program, "design", file, "--tol",
                          "1e-6",  "--json", NULL};
    if (!peak_memory_of(argv, &use)) {
        printf("%s: %s\n", program, verdict(false));
        return;
    }
    const double share = (double)use.bytes / matrix_bytes;
    printf("%11s %8s %14s %5s %9s\n%11.0f %8.0f %14.3f %5.1f %9.2f  %s\n",
           "matrix MB", "peak MB", "peak / matrix", "goal", "seconds",
           matrix_bytes / 1e6, (double)use.bytes / 1e6, share, 1.6, use.seconds,
           verdict(share <= 1.6));
}

static void memory_table(const char *build, const char *folder)
{
    const size_t n_arms = 10000000, dim = 20;
    const double bytes = (double)(n_arms * dim * sizeof(double));
    char file[PATH_MAX + 32];
    printf(
        "\n6. Peak memory of `tarry design FILE --tol 1e-6 --json`, n = %zu, "
        "K = %.0e\n   pages of the mapped file count once touched\n\n",
        dim, (double)n_arms);
    if (!has_room(folder, 1.1 * bytes)) {
        printf("left out: %s has no room for %.1f GB\n", folder, bytes / 1e9);
        return;
    }
    snprintf(file, sizeof file, "%s/bench-design.npy", folder);
    arm_set set = arm_set_create(gaussian, n_arms, dim);
    const bool wrote = arm_set_save(&set, file);
    arm_set_free(&set);
    if (wrote)
        run_program(build, file, bytes);
    else
        printf("left out: %s cannot be written\n", file);
    unlink(file);
}

/* ---- all of it ----------------------------------------------------------- */

/* The folder of this program. */
static void find_folder(char folder[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
    else
        strcpy(folder, ".");
}

int main(int argc, char **argv)
{
    char here[PATH_MAX], build[PATH_MAX + 4];
    find_folder(here);
    snprintf(build, sizeof build, "%s/..", here);
    const bool quick = argc > 1 && strcmp(argv[1], "quick") == 0;
    const char *folder = argc > 1 + quick ? argv[1 + quick] : here;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%d threads\n", omp_get_max_threads());
    const double begin = tarry__base_seconds();
    gaussian_table(quick);
    paper_table(quick);
    small_table();
    hard_table();
    away_table();
    if (!quick)
        memory_table(build, folder);
    printf("\n%d of %d goals met, %.0f s\n", n_goals - n_missed, n_goals,
           tarry__base_seconds() - begin);
    return 0;
}
