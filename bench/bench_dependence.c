/* bench_dependence.c - level and power of the test of dependence between delay
 * and loss, counted over simulated logs.
 *
 *     bench_dependence [LOGS [DECISIONS [POWER]]]
 *
 * LOGS (2000) of DECISIONS (10000) each in every independent world, and POWER
 * (200) in every dependent one. */
#include <math.h>
#include <stdio.h>
#include "log/made_log.h"

typedef struct {
    const char *name;
    log_recipe recipe;
} world;

#define SPHERE .instance = "sphere:dim=10,arms=100", .loss = "rademacher"
#define PLAIN .instance = "basis:arms=5", .loss = "uniform"
#define ORTHANT .instance = "orthant:dim=10,arms=100"

static const world independent[] = {
    {"exponential", {SPHERE, .delay = "exponential:mean=100"}},
    {"exponential, short", {SPHERE, .delay = "exponential:mean=2"}},
    {"two-point", {SPHERE, .delay = "two-point"}},
    {"lomax, infinite variance",
     {SPHERE, .delay = "lomax:shape=1.1,scale=200"}},
    {"pareto, infinite mean", {SPHERE, .delay = "pareto:shape=0.7,scale=50"}},
    {"log-normal, sigma 2", {SPHERE, .delay = "lognormal:median=100,sigma=2"}},
    {"a law per arm", {SPHERE, .delay = "exponential:mean=300,spread=20"}},
    {"30 % never", {SPHERE, .delay = "exponential:mean=300,never=0.3"}},
    {"bursts", {SPHERE, .delay = "exponential:mean=100", .burst = 500}},
    {"longer than the log", {SPHERE, .delay = "exponential:mean=10000"}},
    {"plain, heavy tail", {PLAIN, .delay = "lomax:shape=1.1,scale=200"}},
    {"plain, per arm, never", {PLAIN, .delay = "weibull:spread=10,never=0.3"}},
    {"decided by lints",
     {SPHERE, .delay = "exponential:mean=100", .policy = "lints"}},
    {"decided by lints, per arm",
     {SPHERE, .delay = "exponential:mean=300,spread=20", .policy = "lints"}},
    {"decided by linucb, heavy",
     {SPHERE, .delay = "lomax:shape=1.1,scale=200", .policy = "linucb"}},
    {"plain, decided by ucb",
     {PLAIN, .delay = "exponential:mean=300", .policy = "ucb-delayed"}},
};

static const world dependent[] = {
    {"low-late", {SPHERE, .delay = "low-late:late=100"}},
    {"low-late, per arm", {SPHERE, .delay = "low-late:late=3000,spread=20"}},
    {"high-late", {SPHERE, .delay = "high-late:late=2000,law=exponential"}},
    {"threshold", {SPHERE, .delay = "threshold:below=3000,above=50,never=0.2"}},
    {"threshold, mild", {SPHERE, .delay = "threshold:below=130,above=100"}},
    {"payoff", {ORTHANT, .loss = "bernoulli", .delay = "payoff:D=5000"}},
    {"payoff, small",
     {ORTHANT, .loss = "uniform:low=0", .delay = "payoff:D=50"}},
    {"theorem",
     {.instance = "lower-loss", .loss = "rademacher", .delay = "theorem"}},
    {"low-late, decided by lints",
     {SPHERE, .delay = "low-late:late=100", .policy = "lints"}},
    {"payoff, decided by lints",
     {ORTHANT, .loss = "bernoulli", .delay = "payoff:D=1000",
      .policy = "lints"}},
};

static void count(const world *w, size_t logs, size_t decisions)
{
    size_t at5 = 0, at1 = 0;
    double compared = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : at5, at1, compared)
    for (size_t i = 0; i < logs; i++) {
        log_recipe r = w->recipe;
        tarry__dependence_found found;
        r.count = decisions;
        r.seed = 2385;
        r.run = (uint32_t)i;
        made_log m = make_log(&r);
        const tarry__dependence_pairs pairs = pairs_of(&m, i);
        if (!tarry__dependence_test(&pairs, &found))
            abort();
        at5 += found.p_value <= 0.05;
        at1 += found.p_value <= 0.01;
        compared += (double)found.compared;
        tarry__dependence_clear(&found);
        unmake_log(&m);
    }
    const double n = (double)logs;
    printf("%-28s %10.4f %10.4f %10.0f\n", w->name, (double)at5 / n,
           (double)at1 / n, compared / n);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const size_t logs = argc > 1 ? (size_t)atof(argv[1]) : 2000;
    const size_t decisions = argc > 2 ? (size_t)atof(argv[2]) : 10000;
    const size_t power = argc > 3 ? (size_t)atof(argv[3]) : 200;
    printf("%zu logs of %zu decisions each\n%-28s %10s %10s %10s\n", logs,
           decisions, "independent", "p <= 0.05", "p <= 0.01", "compared");
    for (size_t i = 0; i < sizeof independent / sizeof *independent; i++)
        count(&independent[i], logs, decisions);
    printf("dependent, %zu logs\n", power);
    for (size_t i = 0; i < sizeof dependent / sizeof *dependent; i++)
        count(&dependent[i], power, decisions);
    return 0;
}
