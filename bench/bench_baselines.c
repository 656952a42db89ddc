/* bench_baselines.c - rounds per second of the linear baselines.
 *
 * Small: n = 10, K = 100, exponential delays, the whole laboratory included.
 * Large: n = 20, K = 1e5; the policy alone (its calls in a loop, a loss comes
 * back after a few rounds), in units of one read of the arms: the time a plain
 * sum over the K n numbers takes, which no policy that looks at every arm in
 * every round can beat.  Seconds are those of one core's work. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/base.h"
#include "policy/policy_type.h"
#include "sim/sim.h"
#include "tarry/random.h"

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void give_up(const char *text)
{
    fprintf(stderr, "%s\n", text);
    exit(1);
}

/* ---- small ----------------------------------------------------------------*/

/* Rounds per second; best of two. */
static double small_speed(const char *policy, uint64_t horizon)
{
    double best = INFINITY;
    for (int repeat = 0; repeat < 2; repeat++) {
        const tarry__sim_trial trial = {.instance = "sphere:dim=10,arms=100",
                                        .loss = "rademacher",
                                        .delay = "exponential:mean=1000",
                                        .policy = policy,
                                        .horizon = horizon,
                                        .seed = 1,
                                        .n_grid = 1,
                                        .grid = &horizon};
        tarry__sim_outcome outcome;
        tarry_error error;
        const double start = cpu_seconds();
        if (tarry__sim_run(&trial, &outcome, &error) != TARRY_OK)
            give_up(error.text);
        best = fmin(best, cpu_seconds() - start);
    }
    return (double)horizon / best;
}

static void small_row(const char *policy, uint64_t horizon, double goal)
{
    const double speed = small_speed(policy, horizon);
    printf("  %-16s %9.3g rounds/s", policy, speed);
    if (goal > 0)
        printf("   goal %.2g: %s", goal, speed >= goal ? "met" : "missed");
    putchar('\n');
    fflush(stdout);
}

/* A guided policy's time over its guide's; the best of five pairs, as the
 * machine's noise only adds. */
static void guided_row(const char *policy, const char *guide, uint64_t horizon,
                       double goal)
{
    char text[200];
    double alone = 0, guided = 0;
    snprintf(text, sizeof text, "%s:constants=tight,guide=%s,design=regret",
             policy, guide);
    for (int repeat = 0; repeat < 5; repeat++) {
        alone = fmax(alone, small_speed(guide, horizon));
        guided = fmax(guided, small_speed(text, horizon));
    }
    printf("  %-22s guided by %-8s %9.3g rounds/s  %5.2f times the guide's "
           "time   goal %g: %s\n",
           policy, guide, guided, alone / guided, goal,
           alone / guided <= goal ? "met" : "missed");
    fflush(stdout);
}

/* ---- large ----------------------------------------------------------------*/

enum { DIM = 20, ARMS = 100000, LATER = 50 };

/* Unit vectors; the first dimension's negative is the loss. */
static double *make_arms(void)
{
    double *arms = malloc(sizeof *arms * DIM * ARMS);
    if (arms == NULL)
        give_up("out of memory");
    for (size_t k = 0; k < ARMS; k++) {
        double length = 0;
        for (size_t j = 0; j < DIM; j++) {
            const tarry_random at = {.seed = 7, .round = k * DIM + j};
            arms[k * DIM + j] = tarry_random_normal(&at);
            length += arms[k * DIM + j] * arms[k * DIM + j];
        }
        for (size_t j = 0; j < DIM; j++)
            arms[k * DIM + j] /= sqrt(length);
    }
    return arms;
}

/* Seconds of one read; best of many. */
static double read_seconds(const double *arms)
{
    double best = INFINITY, total = 0;
    for (int repeat = 0; repeat < 30; repeat++) {
        double sum[8] = {0};
        const double start = cpu_seconds();
        for (size_t i = 0; i < (size_t)DIM * ARMS; i += 8)
            for (size_t v = 0; v < 8; v++)
                sum[v] += arms[i + v];
        best = fmin(best, cpu_seconds() - start);
        for (size_t v = 0; v < 8; v++)
            total += sum[v];
    }
    return isfinite(total) ? best : 0;
}

static double play(const tarry__policy_type *type, void *state,
                   const double *arms, uint64_t rounds)
{
    size_t *played = malloc(sizeof *played * (rounds + 1));
    if (played == NULL)
        give_up("out of memory");
    const double start = cpu_seconds();
    for (uint64_t t = 1; t <= rounds; t++) {
        if (type->choose(state, t, &played[t]) != TARRY_OK)
            give_up("no choice");
        if (t <= LATER)
            continue;
        const tarry_random at = {.seed = 8, .round = t - LATER, .stream = 16};
        const double mean = -arms[played[t - LATER] * DIM];
        const double loss = tarry_random_uniform(&at) < 0.5 + mean / 2 ? 1 : -1;
        type->observe(state, t - LATER, played[t - LATER], loss);
    }
    const double seconds = cpu_seconds() - start;
    free(played);
    return seconds;
}

static void large_row(const char *name, double *arms, double read,
                      uint64_t rounds, double goal)
{
    const tarry__policy_type *type = tarry__policy_type_find(name);
    const tarry__policy_problem problem = {
        .n_arms = ARMS, .dim = DIM, .arms = arms, .horizon = rounds, .seed = 1};
    double best = INFINITY;
    for (int repeat = 0; repeat < 2; repeat++) {
        tarry__spec spec;
        tarry_error error;
        void *state = tarry__base_zalloc(1, type->state_size);
        if (state == NULL ||
            tarry__spec_parse(name, &spec, &error) != TARRY_OK ||
            tarry__spec_check(&spec, type->settings, &error) != TARRY_OK ||
            type->init(state, type, &problem, &spec, &error) != TARRY_OK)
            give_up("cannot start");
        best = fmin(best, play(type, state, arms, rounds));
        type->clear(state);
        tarry__base_free(state);
        tarry__spec_clear(&spec);
    }
    const double ratio = best / (double)rounds / read;
    printf("  %-16s %9.3g rounds/s  %6.3f reads a round over %.0e rounds", name,
           (double)rounds / best, ratio, (double)rounds);
    if (goal > 0)
        printf("   goal %g: %s", goal, ratio <= goal ? "met" : "missed");
    putchar('\n');
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const bool quick = argc > 1 && strcmp(argv[1], "quick") == 0;
    const uint64_t T = quick ? 1000000 : 10000000;
    printf("n = 10, K = 100, T = %.0e, exponential delays\n", (double)T);
    small_row("linucb", T, 1.5e6);
    small_row("lints", T, 2.5e6);
    static const char *const others[] = {"greedy", "otf-linucb", "otf-lints",
                                         "linucb-inflated", "uniform"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (tarry__policy_type_find(others[i]) != NULL)
            small_row(others[i], T / 10, 0);
    puts("\nguided phases, tight constants, the same world");
    guided_row("phased-stochastic", "lints", T / 10, 1.5);
    guided_row("phased-adversarial", "lints", T / 10, 1.5);
    guided_row("phased-loss-dependent", "lints", T / 10, 1.5);
    guided_row("phased-adversarial", "linucb", T / 10, 1.5);
    double *arms = make_arms();
    const double read = read_seconds(arms);
    printf("\nn = %d, K = %d; a read takes %.3g ms\n", DIM, ARMS, 1e3 * read);
    large_row("lints", arms, read, quick ? 500 : 2000, 2);
    large_row("linucb", arms, read, 2000, 0);
    large_row("linucb", arms, read, quick ? 10000 : 100000, 1);
    free(arms);
    return 0;
}
