/* bench_advise.c - does the policy that `tarry examine` recommends do well in
 * the world that made the log?
 *
 *     bench_advise [TRIALS [RUNS]]      default 200 trials, 100 runs
 *
 * Each trial makes a log in one of the worlds below with a new instance, has it
 * examined, and runs the same policies in the true world: the pick should pay
 * at most 10 % more than the best of them. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "lab/experiment.h"
#include "log/examine.h"
#include "log/made_log.h"

enum { COUNT = 5000, HORIZON = 5000 };

static const struct {
    const char *instance, *loss, *delay;
    bool features;
} worlds[] = {
    {"sphere:dim=5,arms=20,fixed=1", "rademacher", "exponential:mean=100",
     true},
    {"sphere:dim=5,arms=20,fixed=1", "rademacher", "lomax:shape=1.3,scale=50",
     true},
    {"sphere:dim=5,arms=20,fixed=1", "uniform",
     "exponential:mean=100,spread=10", true},
    {"sphere:dim=5,arms=20,fixed=1", "rademacher",
     "low-late:late=500,law=exponential", true},
    {"sphere:dim=5,arms=20,fixed=1", "rademacher",
     "high-late:late=500,law=exponential", true},
    {"orthant:dim=5,arms=20,fixed=1", "bernoulli", "payoff:D=300", true},
    {"basis:arms=5,fixed=1", "rademacher", "exponential:mean=200", false},
    {"basis:arms=5,fixed=1", "rademacher", "low-late:late=300", false},
};
enum { WORLDS = sizeof worlds / sizeof *worlds };

static void write_log(const made_log *m, const char *path)
{
    FILE *file = fopen(path, "w");
    fprintf(file, "id,arm,decided,reported,loss\n");
    for (size_t i = 0; i < m->count; i++) {
        fprintf(file, "%zu,%u,%zu,", i, m->arm[i], i + 1);
        if (m->seen[i])
            fprintf(file, "%.0f,%.17g\n", (double)(i + 1) + m->delay[i],
                    m->loss[i]);
        else
            fprintf(file, ",\n");
    }
    fclose(file);
}

/* Mean regrets of the policies of a result in the true world. */
static void run_truth(const json_t *rows, size_t world, uint64_t seed,
                      uint64_t runs, double *regret)
{
    static tarry__experiment e;
    tarry__experiment_results r;
    tarry_error error;
    e = (tarry__experiment){.instance = worlds[world].instance,
                            .loss = worlds[world].loss,
                            .delay = worlds[world].delay,
                            .n_policies = json_array_size(rows),
                            .horizon = HORIZON,
                            .runs = runs,
                            .seed = seed,
                            .n_grid = 1,
                            .grid = {HORIZON}};
    for (size_t p = 0; p < e.n_policies; p++)
        e.policy[p] = json_string_value(
            json_object_get(json_array_get(rows, p), "policy"));
    if (tarry__experiment_results_create(&r, &e) != TARRY_OK ||
        tarry__experiment_run(&e, NULL, &r, &error) != TARRY_OK)
        abort();
    for (size_t p = 0; p < e.n_policies; p++) {
        regret[p] = 0;
        for (uint64_t i = 0; i < runs; i++)
            regret[p] += r.outcome[p * runs + i].regret / (double)runs;
    }
    tarry__experiment_results_clear(&r);
}

static json_t *examine(const char *path, const made_log *m, size_t world,
                       uint64_t seed)
{
    tarry__world *w = NULL;
    tarry_error error;
    if (tarry__world_create(worlds[world].instance, worlds[world].loss,
                            worlds[world].delay, seed, 0, &w,
                            &error) != TARRY_OK)
        abort();
    const tarry_arms arms = {w->instance.n_arms, w->instance.dim,
                             w->instance.arms, NULL};
    const tarry__examine_options options = {
        .log = {.low = -1,
                .high = 1,
                .arms = worlds[world].features ? &arms : NULL},
        .horizon = HORIZON,
        .runs = 20,
        .seed = 1};
    json_t *result;
    write_log(m, path);
    if (tarry__examine(path, &options, &result, &error) != TARRY_OK) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    tarry__world_free(w);
    return result;
}

/* "none" if no policy is recommended. */
static const char *pick_of(const json_t *result)
{
    const char *pick = json_string_value(
        json_object_get(json_object_get(result, "recommendation"), "policy"));
    return pick != NULL ? pick : "none";
}

/* The regret of the pick over the least regret. */
static double ratio_of(const json_t *result, size_t world, uint64_t seed,
                       uint64_t runs)
{
    const json_t *rows = json_object_get(result, "simulation");
    const char *pick = pick_of(result);
    double regret[16], least = INFINITY, mine = INFINITY;
    run_truth(rows, world, seed, runs, regret);
    for (size_t p = 0; p < json_array_size(rows); p++) {
        const char *name = json_string_value(
            json_object_get(json_array_get(rows, p), "policy"));
        least = fmin(least, regret[p]);
        mine = strcmp(name, pick) == 0 ? regret[p] : mine;
    }
    return mine / least;
}

int main(int argc, char **argv)
{
    const size_t trials = argc > 1 ? (size_t)atof(argv[1]) : 200;
    const uint64_t runs = argc > 2 ? (uint64_t)atof(argv[2]) : 100;
    char path[] = "/tmp/tarry-advise-XXXXXX";
    size_t good[WORLDS] = {0}, tried[WORLDS] = {0}, all = 0;
    close(mkstemp(path));
    for (size_t i = 0; i < trials; i++) {
        const size_t world = i % WORLDS;
        const log_recipe r = {.instance = worlds[world].instance,
                              .loss = worlds[world].loss,
                              .delay = worlds[world].delay,
                              .count = COUNT,
                              .seed = 1000 + i};
        made_log m = make_log(&r);
        json_t *result = examine(path, &m, world, r.seed);
        const double ratio = ratio_of(result, world, r.seed, runs);
        tried[world]++;
        good[world] += ratio <= 1.1;
        all += ratio <= 1.1;
        if (ratio > 1.1)
            printf("trial %zu, %s: %.2f times the best with %.30s\n", i,
                   worlds[world].delay, ratio, pick_of(result));
        fflush(stdout);
        json_decref(result);
        unmake_log(&m);
    }
    unlink(path);
    for (size_t w = 0; w < WORLDS; w++)
        printf("%-36s %4zu of %4zu within 10 %%\n", worlds[w].delay, good[w],
               tried[w]);
    printf("%-36s %4zu of %4zu\n", "all", all, trials);
    return 0;
}
