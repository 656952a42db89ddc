/* What a round costs when many losses are outstanding: choose and observe
 * together, with K = 1e5 arms, losses coming back in random order.
 *
 * With R rounds outstanding, rounds 1..R come back, in the order of a random
 * permutation, while rounds R+1..2R are chosen; then those come back, and so
 * on.  Batches are drawn beforehand, so that only the policy is on the clock;
 * batches in which a phase changes are left out.  The floor is one random
 * 8-byte word read and written in an array of the table's size, each place
 * depending on the word before, as an answer is waited for. */
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"
#include "tarry/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DIM = 4, N_ARMS = 100000, BATCH = 1000, MEASURED = 3000000 };
static const double GOAL_NS = 200, GOAL_BYTES = 24;

static uint64_t random_bits(void)
{
    static uint64_t state = 2385;
    uint64_t x = state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Of this thread, so that neighbours on the machine count less. */
static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *take(size_t count, size_t size)
{
    void *block = tarry__base_alloc(count, size); /* in pages as the table's */
    if (block == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return block;
}

static void expect_ok(tarry_status status)
{
    if (status == TARRY_OK || status == TARRY_LATE)
        return;
    fprintf(stderr, "%s\n", tarry_status_text(status));
    exit(1);
}

/* ---- one policy with its outstanding rounds -------------------------------*/

typedef struct {
    tarry_policy *policy;
    uint64_t count;     /* outstanding */
    uint64_t turn;      /* observations so far */
    double worst_bytes; /* per outstanding round, old and new table together */
} load;

static tarry_policy *create(const char *name)
{
    double *arms = take(N_ARMS * DIM, sizeof *arms);
    tarry_policy_params params = tarry_policy_defaults();
    tarry_policy *policy;
    for (size_t i = 0; i < N_ARMS * DIM; i++)
        arms[i] = (double)(random_bits() >> 11) * 0x1p-52 - 1;
    params.n_arms = N_ARMS;
    params.dim = DIM;
    params.arms = arms;
    params.horizon = (1ull << 39) - 1;
    expect_ok(tarry_policy_create(name, &params, &policy, NULL));
    tarry__base_free(arms);
    return policy;
}

static tarry_policy_status status_of(tarry_policy *p)
{
    tarry_policy_status s;
    tarry_policy_get_status(p, &s);
    return s;
}

static load fill(const char *name, uint64_t count)
{
    load l = {create(name), count, 0, 0};
    size_t arm, old_bytes = 0;
    uint64_t round;
    for (uint64_t i = 0; i < count; i++) {
        expect_ok(tarry_policy_choose(l.policy, &round, &arm));
        const size_t bytes = status_of(l.policy).open_bytes;
        if (bytes != old_bytes && i >= 500) {
            const double held = (double)(bytes + old_bytes) / (double)i;
            l.worst_bytes = held > l.worst_bytes ? held : l.worst_bytes;
        }
        old_bytes = bytes;
    }
    return l;
}

/* Place i of a random permutation of 0..count-1, count at most 2^24: scrambles
 * the numbers below the next power of 2 until one is in range. */
static uint64_t permuted(uint64_t i, uint64_t count)
{
    uint64_t mask = 1023;
    while (mask + 1 < count)
        mask = 2 * mask + 1;
    do {
        i = (i * 0x9e3779b1u + 0x385) & mask;
        i ^= i >> 7;
        i = i * 0x85ebca6bu & mask;
        i ^= i >> 5;
    } while (i >= count);
    return i;
}

static uint64_t next_round(load *l)
{
    const uint64_t block = l->turn / l->count, i = l->turn % l->count;
    l->turn++;
    return block * l->count + permuted(i, l->count) + 1;
}

/* ---- the clock ------------------------------------------------------------*/

typedef struct {
    uint64_t round[BATCH];
    double loss[BATCH];
} batch;

static double seconds_of(load *l, const batch *b)
{
    const double start = cpu_seconds();
    uint64_t round;
    size_t arm;
    for (size_t i = 0; i < BATCH; i++) {
        expect_ok(tarry_policy_choose(l->policy, &round, &arm));
        expect_ok(tarry_policy_observe(l->policy, b->round[i], b->loss[i]));
    }
    return cpu_seconds() - start;
}

/* Nanoseconds of choose and observe together. */
static double measure(load *l)
{
    batch b;
    double seconds = 0;
    size_t counted = 0;
    for (size_t done = 0; done < MEASURED; done += BATCH) {
        const uint64_t phase = status_of(l->policy).phase;
        for (size_t i = 0; i < BATCH; i++) {
            b.round[i] = next_round(l);
            b.loss[i] = random_bits() % 2 == 0 ? 0.9 : -0.9;
        }
        const double taken = seconds_of(l, &b);
        if (status_of(l->policy).phase == phase) {
            seconds += taken;
            counted += BATCH;
        }
    }
    return 1e9 * seconds / (double)counted;
}

/* A place among `count`, by the high half of a product. */
static size_t place(uint64_t bits, size_t count)
{
    bits *= 0x9e3779b97f4a7c15u;
    return (size_t)(((unsigned __int128)bits * count) >> 64);
}

static double floor_ns(size_t bytes)
{
    const size_t words = bytes / sizeof(uint64_t);
    uint64_t *array = take(words, sizeof *array), chain = 1;
    for (size_t i = 0; i < words; i++)
        array[i] = i;
    const double start = cpu_seconds();
    for (size_t i = 0; i < MEASURED; i++) {
        uint64_t *word = &array[place(chain + i, words)];
        chain ^= *word;
        *word = chain;
    }
    const double seconds = cpu_seconds() - start;
    tarry__base_free(array);
    return 1e9 * seconds / MEASURED;
}

static const char *verdict(int met)
{
    return met ? "met" : "missed";
}

static void report(const char *name, uint64_t outstanding)
{
    load l = fill(name, outstanding);
    const size_t bytes = status_of(l.policy).open_bytes;
    const double ns = measure(&l), floor = floor_ns(bytes);
    printf("%-22s %8.0e %7.1f %7s %7.1f %6.1f %8.1f %8.1f %7s\n", name,
           (double)outstanding, ns, verdict(ns < GOAL_NS), floor, ns / floor,
           (double)bytes / (double)outstanding, l.worst_bytes,
           verdict(l.worst_bytes < GOAL_BYTES));
    fflush(stdout);
    tarry_policy_free(l.policy);
}

int main(void)
{
    printf(
        "K = %d arms; goals: choose + observe below %.0f ns, the table below "
        "%.0f bytes\nper outstanding round, also while it grows\n\n",
        N_ARMS, GOAL_NS, GOAL_BYTES);
    printf("%-22s %8s %7s %7s %7s %6s %8s %8s %7s\n", "policy", "open", "ns",
           "goal", "floor", "ratio", "bytes", "growing", "goal");
    for (size_t i = 0; i < 4; i++) { /* the paper's lead the list */
        report(tarry_policy_name(i), 1000);
        report(tarry_policy_name(i), 10000000);
    }
    return 0;
}
