/* bench_sim.c - rounds of the laboratory against a floor.
 *
 * The floor is a plain scalar loop that draws one Philox block per round, turns
 * it into a loss and an exponential delay (one log) and adds them up: no
 * policy, no queue.  Everything is measured in one run, in seconds of one
 * core's work. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include "base/base.h"
#include "random/philox.h"
#include "lab/experiment.h"

/* Seconds of this thread's work: what else the machine does matters less. */
static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double floor_ns(uint64_t rounds)
{
    double best = INFINITY;
    for (int repeat = 0; repeat < 3; repeat++) {
        double losses = 0, delays = 0;
        const double start = cpu_seconds();
        for (uint64_t t = 1; t <= rounds; t++) {
            const tarry_random at = {.seed = 1, .round = t, .stream = 16};
            const philox4x32_ctr_t block = tarry__random_block(&at);
            losses += tarry__random_unit(block, 0) < 0.6 ? 1 : -1;
            delays += -1000 * log(tarry__random_unit(block, 1));
        }
        const double ns = (cpu_seconds() - start) / (double)rounds * 1e9;
        if (losses + delays != 0 && ns < best)
            best = ns;
    }
    return best;
}

/* Nanoseconds per round of a trial; best of two. */
static double trial_ns(const char *policy, const char *delay, uint64_t horizon)
{
    double best = INFINITY;
    for (int repeat = 0; repeat < 2; repeat++) {
        uint64_t grid[TARRY__SIM_MAX_GRID];
        const size_t n_grid = tarry__sim_log_grid(horizon, 100, grid);
        const tarry__sim_trial trial = {.instance = "sphere:dim=10,arms=100",
                                        .loss = "rademacher",
                                        .delay = delay,
                                        .policy = policy,
                                        .horizon = horizon,
                                        .seed = 1,
                                        .n_grid = n_grid,
                                        .grid = grid};
        tarry__sim_outcome outcome;
        tarry_error error;
        const double start = cpu_seconds();
        if (tarry__sim_run(&trial, &outcome, &error) != TARRY_OK) {
            fprintf(stderr, "%s\n", error.text);
            exit(1);
        }
        best = fmin(best, (cpu_seconds() - start) / (double)horizon * 1e9);
    }
    return best;
}

static void row(const char *policy, const char *delay, uint64_t horizon,
                double floor, double goal)
{
    const double ns = trial_ns(policy, delay, horizon);
    printf("%-22s  %-32s %8.1f ns  %5.2f x", policy, delay, ns, ns / floor);
    if (goal > 0)
        printf("   goal %.1f x: %s", goal,
               ns <= goal * floor ? "met" : "missed");
    putchar('\n');
    fflush(stdout);
}

/* Wall seconds of eight runs on some threads. */
static double sweep_seconds(int threads, uint64_t horizon)
{
    tarry__experiment e = {.instance = "sphere",
                           .loss = "rademacher",
                           .delay = "exponential:mean=1000",
                           .n_policies = 1,
                           .policy = {"phased-adversarial"},
                           .horizon = horizon,
                           .runs = 8,
                           .seed = 1,
                           .threads = threads};
    tarry__experiment_results results;
    tarry_error error;
    e.n_grid = tarry__sim_log_grid(horizon, 100, e.grid);
    if (tarry__experiment_results_create(&results, &e) != TARRY_OK)
        exit(1);
    const double start = tarry__base_seconds();
    if (tarry__experiment_run(&e, NULL, &results, &error) != TARRY_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    const double seconds = tarry__base_seconds() - start;
    tarry__experiment_results_clear(&results);
    return seconds;
}

static void compare_threads(uint64_t horizon)
{
    const double one = sweep_seconds(1, horizon);
    const double two = sweep_seconds(2, horizon);
    printf(
        "\nTwo threads: %.2f x as fast as one (wall time, eight runs)   goal "
        "1.8 x: %s\n",
        one / two, one >= 1.8 * two ? "met" : "missed");
}

int main(int argc, char **argv)
{
    const bool quick = argc > 1 && strcmp(argv[1], "quick") == 0;
    const uint64_t T = quick ? 10000000 : 100000000;
    static const char *const policies[] = {
        "phased-stochastic", "phased-adversarial", "phased-loss-dependent",
        "phased-mab"};
    const double floor = floor_ns(20000000);
    printf("n = 10, K = 100, T = %.0e, one core; the floor is %.1f ns a "
           "round\n\n",
           (double)T, floor);
    for (size_t i = 0; i < 4; i++)
        row(policies[i], "exponential:mean=1000", T, floor, i < 3 ? 1.5 : 0);
    for (size_t i = 0; i < 3; i++)
        row(policies[i], "pareto:shape=1.5,mean=1000", T / 10, floor, 2);
    puts("\nGrowth with the mean delay:");
    double first = 0, last = 0;
    for (double mean = 1; mean < 2e6; mean *= 10) {
        char delay[64];
        snprintf(delay, sizeof delay, "exponential:mean=%g", mean);
        last = trial_ns("phased-adversarial", delay, T / 5);
        first = first > 0 ? first : last;
        printf("  mean %8g  %6.1f ns\n", mean, last);
    }
    printf("  from 1 to 1e6: %.2f x   goal 2.5 x: %s\n", last / first,
           last <= 2.5 * first ? "met" : "missed");
    compare_threads(T / 10);
    if (!quick) {
        const double ns =
            trial_ns("phased-adversarial", "exponential:mean=1000", 1000000000);
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        printf("\nT = 1e9, phased-adversarial: %.1f s   goal 60 s: %s; peak "
               "of all the above %.0f MB\n",
               ns, ns < 60 ? "met" : "missed", (double)usage.ru_maxrss / 1024);
    }
    return 0;
}
