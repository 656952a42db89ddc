/* Commits to a store in PostgreSQL: choices per second, in groups as large as
 * clients that wait together.
 *
 * bench_postgres URL [SECONDS]; bench/postgres starts a server for it, and
 * measures bare inserts beside it. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"
#include "store/store.h"

enum { MOST = 1000 };

static void stop(const tarry_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    exit(1);
}

static uint64_t add(tarry__store *store)
{
    static const double features[] = {0.6, 0.8};
    tarry_error error;
    uint64_t number;
    tarry__store_event arm = {.kind = TARRY__STORE_ADMIT, .features = features};
    const tarry__store_experiment e = {.name = "bench",
                                       .prefix = "",
                                       .policy = "lints",
                                       .expire_after = "",
                                       .n_arms = 1,
                                       .dim = 2,
                                       .high = 1};
    if (tarry__store_add(store, &e, &arm, &number, &error) != TARRY_OK)
        stop(&error);
    return number;
}

/* Choices per second with `group` of them in a commit. */
static double measure(tarry__store *store, uint64_t number, size_t group,
                      double seconds, uint64_t *round)
{
    static tarry__store_event event[MOST];
    tarry_error error;
    const tarry__store_batch batch = {number, event, group, 0};
    const double begin = tarry__base_seconds();
    uint64_t done = 0;
    while (tarry__base_seconds() - begin < seconds) {
        for (size_t i = 0; i < group; i++)
            event[i] = (tarry__store_event){.kind = TARRY__STORE_CHOOSE,
                                            .round = ++*round,
                                            .value = 0.5,
                                            .at = 1700000000000};
        if (tarry__store_append(store, &batch, 1, &error) != TARRY_OK)
            stop(&error);
        done += group;
    }
    return (double)done / (tarry__base_seconds() - begin);
}

int main(int argc, char **argv)
{
    static const size_t groups[] = {1, 8, 64, MOST};
    const double seconds = argc > 2 ? strtod(argv[2], NULL) : 3;
    tarry__store *store;
    tarry_error error;
    uint64_t round = 0;
    if (argc < 2) {
        puts("needs the URL of an empty store: bench/postgres has one");
        return 0;
    }
    if (tarry__store_open(argv[1], true, &store, &error) != TARRY_OK)
        stop(&error);
    const uint64_t number = add(store);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        printf("%zu %.0f\n", groups[i],
               measure(store, number, groups[i], seconds, &round));
    tarry__store_close(store);
    return 0;
}
