/* test_advise.c - which of the policies that were tried is advised. */
#include "check.h"
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "log/advise.h"

/* Nobody waits for the disk: the world's files do not stay. */
int fsync(int fd)
{
    (void)fd;
    return 0;
}

enum { MOST_ARMS = 4, PAIRS = 2 };

/* The standard basis; losses are +1 or -1, each with a delay of its own. */
static void advise(uint64_t *seed, bool has_features, bool safe,
                   tarry__advise_result *out)
{
    const size_t K = 2 + test_bits(seed) % (MOST_ARMS - 1);
    double arms[MOST_ARMS * MOST_ARMS] = {0}, theta[MOST_ARMS];
    tarry__rebuild_pair pairs[MOST_ARMS * PAIRS];
    tarry_error error = {""};
    for (uint32_t k = 0; k < K; k++) {
        arms[k * K + k] = 1;
        theta[k] = 2 * test_uniform(seed) - 1;
        for (uint32_t i = 0; i < PAIRS; i++) {
            const double loss = i == 0 ? 1 : -1;
            pairs[PAIRS * k + i] =
                (tarry__rebuild_pair){.arm = k,
                                      .loss = loss,
                                      .delay = (double)(test_bits(seed) % 5),
                                      .weight = (1 + loss * theta[k]) / 2};
        }
    }
    const tarry__rebuild_world world = {.n_arms = K,
                                        .dim = K,
                                        .arms = arms,
                                        .theta = theta,
                                        .count = PAIRS * K,
                                        .pair = pairs};
    const tarry__advise_options options = {.horizon = 2 + test_bits(seed) % 20,
                                           .runs = 1 + test_bits(seed) % 4,
                                           .seed = test_bits(seed),
                                           .threads = 1};
    if (tarry__advise(&world, has_features, safe, &options, out, &error) !=
        TARRY_OK)
        fail_msg("%s", error.text);
}

static bool is_uniform(const tarry__advise_row *row)
{
    return strcmp(row->policy, "uniform") == 0;
}

static bool has_policy(const tarry__advise_result *a, const char *policy)
{
    bool has = false;
    for (size_t i = 0; i < a->count; i++)
        has |= strcmp(a->row[i].policy, policy) == 0;
    return has;
}

/* How often the advice came about in each way. */
typedef struct {
    int promise, best, uniform, not_uniform;
} ways;

/* The row to use, found another way: all that pay at most 5 % more and promise
 * something, and of these the one that promises most. */
static size_t expected(const tarry__advise_result *a, ways *w)
{
    size_t pick = a->count;
    for (size_t i = a->count; i-- > 0;)
        if (strncmp(a->row[i].policy, "phased-", 7) == 0 &&
            isfinite(a->row[i].certificate) &&
            !(a->row[i].regret > 1.05 * a->row[0].regret) &&
            (pick == a->count ||
             a->row[i].certificate <= a->row[pick].certificate))
            pick = i;
    if (pick < a->count) {
        w->promise++;
        return pick;
    }
    if (!is_uniform(&a->row[0])) {
        w->best++;
        return 0;
    }
    const double by = a->row[1].regret - a->row[0].regret;
    if (by > a->row[0].ci95 + a->row[1].ci95) {
        w->uniform++;
        return 0;
    }
    w->not_uniform++;
    return 1;
}

static void check_advice(const tarry__advise_result *a, ways *w)
{
    for (size_t i = 0; i < a->count; i++) {
        assert_true(a->row[i].certified ==
                    (strncmp(a->row[i].policy, "phased-", 7) == 0));
        if (i > 0)
            CHECK_AT_MOST(a->row[i - 1].regret, a->row[i].regret);
    }
    const size_t pick = expected(a, w);
    assert_int_equal(a->pick, pick);
    assert_true(a->certified == a->row[pick].certified);
}

/* Many small worlds and short games, in which chance decides who is best. */
static void what_is_advised_follows_from_the_rows(void **state)
{
    uint64_t seed = 6;
    ways w = {0};
    (void)state;
    for (int n = 0; n < 1000; n++) {
        const bool has_features = n % 2, safe = n / 2 % 2;
        tarry__advise_result a;
        advise(&seed, has_features, safe, &a);
        assert_int_equal(a.count, 4 + !has_features + !safe);
        assert_true(has_policy(&a, "lints") && has_policy(&a, "uniform"));
        assert_true(has_policy(&a, "linucb") == has_features);
        assert_true(has_policy(&a, "ucb-delayed") == !has_features);
        assert_true(has_policy(&a, "phased-mab:constants=tight") ==
                    !has_features);
        check_advice(&a, &w);
    }
    assert_true(w.promise > 0 && w.best > 0 && w.uniform > 0 &&
                w.not_uniform > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_advised_follows_from_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
