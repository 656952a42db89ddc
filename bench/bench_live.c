/* What durable decisions cost: one line at a time beside the flush time of the
 * disk, in batches, replayed, and with many outstanding.
 *
 * Everything is measured in one run, in the folder given (default .), so that
 * the ratios mean something on a busy machine; times of the processor are of
 * this thread.  bench_live FOLDER [OUTSTANDING] */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "base/base.h"
#include "session/session.h"

enum { DIM = 10, N_ARMS = 100 };

static double arms[N_ARMS * DIM];
static char path[4096];

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void remove_store(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-lock"};
    for (size_t i = 0; i < 4; i++) {
        char name[4200];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

/* ---- one session ----------------------------------------------------------*/

typedef struct {
    tarry__store *store;
    tarry__session *session;
} live;

static live open_live(const char *policy)
{
    live l;
    tarry_error error = {""};
    const tarry__store_experiment e = {.name = "bench",
                                       .prefix = "",
                                       .policy = policy,
                                       .expire_after = "",
                                       .n_arms = N_ARMS,
                                       .dim = DIM,
                                       .low = -1,
                                       .high = 1,
                                       .horizon = 1000000000,
                                       .created_at = 1};
    if (tarry__store_open(path, true, &l.store, &error) != TARRY_OK)
        stop(path, error.text);
    const tarry_status status =
        tarry__store_count(l.store) == 0
            ? tarry__session_create(l.store, &e, arms, NULL, &l.session, &error)
            : tarry__session_open(l.store, 1, false, &l.session, &error);
    if (status != TARRY_OK)
        stop(path, error.text);
    tarry__session_tell_probability(l.session, false);
    return l;
}

static void close_live(live *l)
{
    tarry__session_close(l->session);
    tarry__store_close(l->store);
}

static void choose(live *l)
{
    tarry__session_choice_made c;
    tarry_error error;
    if (tarry__session_choose(l->session, NULL, tarry__session_now(), &c,
                              &error) != TARRY_OK)
        stop("choose", error.text);
}

static void observe(live *l, uint64_t round)
{
    char id[24];
    tarry__session_result result;
    tarry_error error;
    snprintf(id, sizeof id, "%ju", (uintmax_t)round);
    if (tarry__session_observe(l->session, id, round % 3 ? 0.5 : -1,
                               tarry__session_now(), &result,
                               &error) != TARRY_OK)
        stop("observe", error.text);
}

static void commit(live *l)
{
    tarry_error error;
    if (tarry__session_commit(&l->session, 1, &error) != TARRY_OK)
        stop("commit", error.text);
}

/* ---- the measurements -----------------------------------------------------*/

/* One flush of 4 kB appended to a file. */
static double flush_seconds(void)
{
    enum { TIMES = 200 };
    char page[4096] = "x", name[4200];
    snprintf(name, sizeof name, "%s-flush", path);
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const double start = tarry__base_seconds();
    for (int i = 0; i < TIMES; i++)
        if (write(fd, page, sizeof page) < 0 || fdatasync(fd) != 0)
            stop(name, "cannot be flushed");
    const double each = (tarry__base_seconds() - start) / TIMES;
    close(fd);
    unlink(name);
    return each;
}

static void one_at_a_time(const char *policy)
{
    enum { LINES = 1000 };
    remove_store();
    live l = open_live(policy);
    const double flush = flush_seconds(), start = tarry__base_seconds();
    const double cpu = cpu_seconds();
    for (int t = 0; t < LINES; t++) {
        choose(&l);
        commit(&l);
    }
    const double each = (tarry__base_seconds() - start) / LINES;
    printf("one at a time   %-8s %8.0f decisions/s, flush %.3f ms, ratio to "
           "the flush %.2f, processor %.1f us\n",
           policy, 1 / each, 1e3 * flush, each / flush,
           1e6 * (cpu_seconds() - cpu) / LINES);
    close_live(&l);
}

static void in_batches(const char *policy)
{
    enum { BATCH = 10000, BATCHES = 30 };
    remove_store();
    live l = open_live(policy);
    const double start = tarry__base_seconds(), cpu = cpu_seconds();
    uint64_t round = 0;
    for (int b = 0; b < BATCHES; b++) {
        for (int i = 0; i < BATCH; i++)
            choose(&l);
        commit(&l);
        for (int i = 0; i < BATCH; i++)
            observe(&l, ++round);
        commit(&l);
    }
    const double n = (double)BATCH * BATCHES;
    printf("batches         %-8s %8.0f decisions/s with their outcomes, %.0f "
           "by the processor's time\n",
           policy, n / (tarry__base_seconds() - start),
           n / (cpu_seconds() - cpu));
    close_live(&l);
}

/* Of the log that the batches left. */
static void replay(const char *policy)
{
    tarry_error error;
    tarry__store *store;
    tarry__session *session;
    double cpu = cpu_seconds();
    if (tarry__store_open(path, false, &store, &error) != TARRY_OK)
        stop(path, error.text);
    const double verified = cpu_seconds() - cpu;
    const double n = (double)tarry__store_events(store, 1, NULL);
    cpu = cpu_seconds();
    if (tarry__session_open(store, 1, true, &session, &error) != TARRY_OK)
        stop(path, error.text);
    printf("replay          %-8s %8.0f events/s, verified before at %.0f "
           "events/s, by the processor's time\n",
           policy, n / (cpu_seconds() - cpu), n / verified);
    tarry__session_close(session);
    tarry__store_close(store);
}

static void outstanding(uint64_t count)
{
    struct rusage used;
    remove_store();
    live l = open_live("uniform");
    for (uint64_t t = 1; t <= count; t++) {
        choose(&l);
        if (t % 100000 == 0)
            commit(&l);
    }
    commit(&l);
    close_live(&l);
    const double start = tarry__base_seconds(), cpu = cpu_seconds();
    l = open_live("uniform");
    getrusage(RUSAGE_SELF, &used);
    printf("outstanding     %.0e: start in %.2f s (processor %.2f s), at most "
           "%.2f GB\n",
           (double)count, tarry__base_seconds() - start, cpu_seconds() - cpu,
           (double)used.ru_maxrss / 1e6);
    close_live(&l);
}

int main(int argc, char **argv)
{
    snprintf(path, sizeof path, "%s/bench-live.db", argc > 1 ? argv[1] : ".");
    for (size_t i = 0; i < N_ARMS * DIM; i++)
        arms[i] = (double)(i * 2654435761u % 1000) / 1000 - 0.5;
    one_at_a_time("uniform");
    one_at_a_time("lints");
    in_batches("uniform");
    replay("uniform");
    in_batches("lints");
    replay("lints");
    outstanding(argc > 2 ? (uint64_t)atof(argv[2]) : 1000000);
    remove_store();
    return 0;
}
