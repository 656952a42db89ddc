/* test_dependence.c - the test of delay against loss: its numbers against
 * counting pairs, its level and its power.  bench/bench_dependence.c counts
 * both over thousands of logs. */
#include "check.h"
#include "log/dependence.h"
#include "log/watch.h"
#include "made_log.h"

enum { SMALL = 150 }; /* one stratum per arm */
enum { LOGS = BRIEF ? 20 : 200 };

/* The rank correlation of one arm by looking at all pairs. */
static double count_pairs(const tarry__dependence_pairs *p, uint32_t arm,
                          double *pairs)
{
    double *a = calloc(p->count, sizeof *a), *R = calloc(p->count, sizeof *R);
    double T = 0, aa = 0, rr = 0;
    *pairs = 0;
    for (size_t i = 0; i < p->count; i++) {
        double rank = 0, n = 0;
        for (size_t j = 0; j < p->count; j++) {
            if (p->arm[i] != arm || p->arm[j] != arm)
                continue;
            n++;
            rank +=
                (p->loss[j] < p->loss[i]) + 0.5 * (p->loss[j] == p->loss[i]);
            if (fmax(p->delay[i], p->delay[j]) > fmin(p->age[i], p->age[j]))
                continue;
            a[i] += (p->delay[i] > p->delay[j]) - (p->delay[i] < p->delay[j]);
            *pairs += p->delay[i] > p->delay[j];
        }
        R[i] = n > 0 ? rank - n / 2 : 0;
    }
    for (size_t i = 0; i < p->count; i++) {
        T += a[i] * R[i];
        aa += a[i] * a[i];
        rr += R[i] * R[i];
    }
    free(a);
    free(R);
    return T / sqrt(aa * rr);
}

static void its_sums_are_those_over_all_comparable_pairs(void **state)
{
    (void)state;
    static const char *const losses[] = {"rademacher", "uniform"};
    for (uint32_t run = 0; run < 20; run++) {
        const log_recipe r = {.instance = "basis:arms=2",
                              .loss = losses[run % 2],
                              .delay = "low-late:late=60,early=30,"
                                       "law=exponential",
                              .count = SMALL,
                              .seed = 7,
                              .run = run};
        made_log m = make_log(&r);
        const tarry__dependence_pairs p = pairs_of(&m, 1);
        tarry__dependence_found f;
        assert_true(tarry__dependence_test(&p, &f));
        for (uint32_t k = 0; k < 2; k++) {
            double pairs;
            CHECK_NEAR(f.by_arm[k].correlation, count_pairs(&p, k, &pairs),
                       1e-12);
            CHECK_NEAR(f.by_arm[k].pairs, pairs, 0);
        }
        tarry__dependence_clear(&f);
        unmake_log(&m);
    }
}

/* How often p <= 0.05, and the largest p. */
static double alarms(log_recipe r, uint32_t logs)
{
    size_t count = 0;
    for (r.run = 0; r.run < logs; r.run++) {
        made_log m = make_log(&r);
        const tarry__dependence_pairs p = pairs_of(&m, r.run);
        tarry__dependence_found f;
        assert_true(tarry__dependence_test(&p, &f));
        count += f.p_value <= 0.05;
        tarry__dependence_clear(&f);
        unmake_log(&m);
    }
    return (double)count / logs;
}

#define SPHERE .instance = "sphere:dim=5,arms=20", .loss = "rademacher"

/* 200 logs: a level of 5 % gives at most 5 % + 2.6 standard errors, 9 %, in
 * all of the worlds with probability 97 %; the seed is fixed. */
static void independent_worlds_raise_few_alarms(void **state)
{
    (void)state;
    static const log_recipe worlds[] = {
        {SPHERE, .delay = "exponential:mean=100"},
        {SPHERE, .delay = "lomax:shape=1.1,scale=200"},
        {SPHERE, .delay = "exponential:mean=300,spread=20"},
        {SPHERE, .delay = "exponential:mean=300,never=0.3"},
        {SPHERE, .delay = "exponential:mean=100", .burst = 500},
        {SPHERE, .delay = "exponential:mean=100", .policy = "lints"},
    };
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        log_recipe r = worlds[i];
        r.count = 2000;
        r.seed = 11;
        CHECK_AT_MOST(alarms(r, LOGS), BRIEF ? 0.2 : 0.09);
    }
}

static void dependent_worlds_are_found(void **state)
{
    (void)state;
    static const log_recipe worlds[] = {
        {SPHERE, .delay = "low-late:late=100"},
        {SPHERE, .delay = "high-late:late=2000,law=exponential"},
        {SPHERE, .delay = "threshold:below=3000,above=50,never=0.2"},
        {.instance = "orthant:dim=5,arms=20",
         .loss = "bernoulli",
         .delay = "payoff:D=1000"},
    };
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        log_recipe r = worlds[i];
        r.count = 10000;
        r.seed = 12;
        CHECK_AT_MOST(0.95, alarms(r, LOGS / 10));
    }
}

/* Losses and delays that both drift with time look dependent to a test that
 * compares across time. */
static void slow_drift_of_both_is_no_dependence(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    size_t found = 0;
    for (uint64_t run = 0; run < LOGS / 5; run++) {
        uint64_t coins = run;
        static uint32_t arm[COUNT];
        static double loss[COUNT], delay[COUNT], age[COUNT];
        for (size_t i = 0; i < COUNT; i++) {
            const double t = (double)i / COUNT;
            loss[i] = test_uniform(&coins) < 0.4 + 0.2 * t ? 1 : -1;
            delay[i] = -log(test_uniform(&coins)) * (50 + 50 * t);
            age[i] = 1e6;
        }
        const tarry__dependence_pairs p = {COUNT, 1, arm, loss, delay, age, 1};
        tarry__dependence_found f;
        assert_true(tarry__dependence_test(&p, &f));
        found += f.p_value <= 0.05;
        tarry__dependence_clear(&f);
    }
    CHECK_AT_MOST((double)found, 6); /* 2 expected, 2.9 standard errors */
}

static void without_variation_there_is_nothing_to_say(void **state)
{
    (void)state;
    static const uint32_t arm[] = {0, 0, 0, 2};
    static const double same[] = {1, 1, 1, 1}, age[] = {9, 8, 7, 6},
                        other[] = {1, 2, 3, 4};
    tarry__dependence_found f;
    tarry__dependence_pairs p = {4, 3, arm, same, other, age, 1};
    assert_true(tarry__dependence_test(&p, &f));
    CHECK_NEAR(f.p_value, 1, 0);
    assert_int_equal(f.compared, 0);
    tarry__dependence_clear(&f);
    p.loss = other;
    p.delay = same;
    assert_true(tarry__dependence_test(&p, &f));
    CHECK_NEAR(f.p_value, 1, 0);
    tarry__dependence_clear(&f);
    p.count = 0;
    assert_true(tarry__dependence_test(&p, &f));
    CHECK_NEAR(f.p_value, 1, 0);
    tarry__dependence_clear(&f);
}

/* ---- live -----------------------------------------------------------------*/

typedef struct {
    size_t i;
    double due;
} arrival;

static int by_arrival(const void *a, const void *b)
{
    const arrival *x = a, *y = b;
    if (x->due != y->due)
        return x->due < y->due ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

static tarry__watch *new_watch(void)
{
    tarry__watch *w;
    assert_int_equal(tarry__watch_create(5, &w), TARRY_OK);
    return w;
}

/* A watch that was saved and loaded goes on as the one it was. */
static tarry__watch *reborn(tarry__watch *w)
{
    tarry__archive a = {0};
    tarry__watch *other = new_watch();
    tarry__watch_archive(w, &a);
    tarry__archive_turn(&a);
    tarry__watch_archive(other, &a);
    assert_int_equal(a.status, TARRY_OK);
    tarry__archive_clear(&a);
    tarry__watch_free(w);
    return other;
}

/* Feeds a log as its outcomes come, looking after every one that is a multiple
 * of `often`; answers what is found at the end, and whether there was ever a
 * cry. */
static tarry__watch_found watch_log(const log_recipe *r, size_t often,
                                    bool *cried)
{
    made_log m = make_log(r);
    tarry__watch *w = new_watch();
    arrival *order = calloc(m.count, sizeof *order);
    size_t n = 0, overdue = 0;
    for (size_t i = 0; i < m.count; i++)
        if (m.seen[i])
            order[n++] = (arrival){i, (double)(i + 1) + m.delay[i]};
    qsort(order, n, sizeof *order, by_arrival);
    for (size_t k = 0; k < n; k++) {
        const size_t i = order[k].i;
        tarry__watch_observe(w, m.arm[i], i + 1, (uint64_t)order[k].due,
                             m.loss[i]);
        if ((k + 1) % often == 0) {
            *cried |= tarry__watch_look(w, m.count, 0).verdict ==
                      TARRY__WATCH_DEPENDENT;
            w = often > 1000 ? reborn(w) : w;
        }
    }
    for (size_t i = 0; i < m.count; i++)
        overdue += !m.seen[i] && m.age[i] > (double)tarry__watch_patience(w);
    const tarry__watch_found f = tarry__watch_look(w, m.count, overdue);
    free(order);
    tarry__watch_free(w);
    unmake_log(&m);
    return f;
}

static void the_watch_says_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *delay;
        tarry__watch_verdict verdict;
    } cases[] = {
        {"exponential:mean=50", TARRY__WATCH_INDEPENDENT},
        {"exponential:mean=50,never=0.3", TARRY__WATCH_CANNOT_TELL},
        {"low-late:late=100", TARRY__WATCH_DEPENDENT},
        {"high-late:late=100", TARRY__WATCH_DEPENDENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t run = 0; run < 5; run++) {
            const log_recipe r = {SPHERE, .delay = cases[i].delay,
                                  .count = 9000, .seed = 3, .run = run};
            bool cried = false;
            const tarry__watch_found f = watch_log(&r, 3000, &cried);
            if (f.verdict != cases[i].verdict)
                fail_msg("%s: %s", cases[i].delay,
                         tarry__watch_text(f.verdict));
            assert_true(cried == (f.verdict == TARRY__WATCH_DEPENDENT));
        }
}

/* Looked at after every 16th outcome.  Of 200 logs 5 % are 10; the six tests
 * of each at 0.002 should make less than 3, and more than 10 would be a rate
 * above 0.012 by 5 standard errors. */
static void who_looks_often_is_rarely_told_wrong(void **state)
{
    (void)state;
    size_t alarms = 0;
    for (uint32_t run = 0; run < LOGS; run++) {
        const log_recipe r = {SPHERE,
                              .delay = run % 2 == 0
                                           ? "exponential:mean=100"
                                           : "lomax:shape=1.1,scale=20",
                              .count = 2600, .seed = 9, .run = run};
        bool cried = false;
        watch_log(&r, 16, &cried);
        alarms += cried;
    }
    assert_true(alarms <= 10);
}

/* What comes between two choices comes at one time: the order in which it is
 * reported, here by size, says nothing. */
static void the_order_of_reports_says_nothing(void **state)
{
    (void)state;
    tarry__watch *w = new_watch();
    for (uint64_t t = 1; t <= 4000; t++)
        if (t % 100 == 0)
            for (uint64_t k = 0; k < 100; k++)
                tarry__watch_observe(w, 0, t - 99 + (k * 37) % 100, t,
                                     (double)k / 100);
    assert_int_equal(tarry__watch_look(w, 4000, 0).verdict,
                     TARRY__WATCH_INDEPENDENT);
    tarry__watch_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_sums_are_those_over_all_comparable_pairs),
        cmocka_unit_test(independent_worlds_raise_few_alarms),
        cmocka_unit_test(dependent_worlds_are_found),
        cmocka_unit_test(slow_drift_of_both_is_no_dependence),
        cmocka_unit_test(without_variation_there_is_nothing_to_say),
        cmocka_unit_test(the_watch_says_the_same),
        cmocka_unit_test(who_looks_often_is_rarely_told_wrong),
        cmocka_unit_test(the_order_of_reports_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
