/* test_dependence.c - the test of delay against loss: its numbers against
 * counting pairs, its level and its power.  bench/bench_dependence.c counts
 * both over thousands of logs. */
#include "check.h"
#include <gsl/gsl_cdf.h>
#include "log/dependence.h"
#include "log/watch.h"
#include "made_log.h"

enum { SMALL = 150 }; /* one stratum per arm */

static uint32_t some_logs(void)
{
    return (uint32_t)amount(20, 60, 200);
}

/* ---- a plain model --------------------------------------------------------*/

enum { MODEL_ARMS = 3 };

/* Where a stratum lies among the outcomes laid out by arm, and its sums. */
typedef struct {
    uint32_t arm;
    size_t begin, count;
    double aa, rr, ee; /* squares: of a, of R, of |R| about its mean */
} model_stratum;

typedef struct {
    size_t count, n_strata, n_in[MODEL_ARMS];
    size_t *at; /* outcomes by arm, each in order */
    double *a, *R, pairs[MODEL_ARMS];
    model_stratum strata[MODEL_ARMS * 32];
} model;

/* What an arrangement of the ranks gives. */
typedef struct {
    double T[MODEL_ARMS], V[MODEL_ARMS], scale[MODEL_ARMS];
    double all_T, all_V, all_scale, extreme, V_extreme, squares, least_p;
    size_t compared, strata, arms;
} model_sums;

/* A stretch of an arm has 200 outcomes, and there are at most 32. */
static void model_cut(model *m, const tarry__dependence_pairs *p)
{
    for (uint32_t k = 0; k < MODEL_ARMS; k++) {
        const size_t begin = m->count;
        for (size_t i = 0; i < p->count; i++)
            if (p->arm[i] == k)
                m->at[m->count++] = i;
        const size_t n = m->n_in[k] = m->count - begin;
        const size_t blocks = n < 400 ? 1 : n < 6400 ? n / 200 : 32;
        for (size_t b = 0; n > 1 && b < blocks; b++)
            m->strata[m->n_strata++] =
                (model_stratum){.arm = k,
                                .begin = begin + n * b / blocks,
                                .count = n * (b + 1) / blocks - n * b / blocks};
    }
}

/* By looking at all pairs of a stratum. */
static void model_score(model *m, model_stratum *s,
                        const tarry__dependence_pairs *p)
{
    const double n = (double)s->count;
    const size_t end = s->begin + s->count;
    double mean = 0;
    for (size_t x = s->begin; x < end; x++) {
        const size_t i = m->at[x];
        for (size_t y = s->begin; y < end; y++) {
            const size_t j = m->at[y];
            m->R[x] += ((p->loss[j] < p->loss[i]) +
                        0.5 * (p->loss[j] == p->loss[i]) - 0.5) /
                       n;
            if (fmax(p->delay[i], p->delay[j]) > fmin(p->age[i], p->age[j]))
                continue;
            m->a[x] +=
                ((p->delay[i] > p->delay[j]) - (p->delay[i] < p->delay[j])) / n;
            m->pairs[s->arm] += p->delay[i] > p->delay[j];
        }
        mean += fabs(m->R[x]) / n;
    }
    for (size_t x = s->begin; x < end; x++) {
        s->aa += m->a[x] * m->a[x];
        s->rr += m->R[x] * m->R[x];
        s->ee += pow(fabs(m->R[x]) - mean, 2);
    }
    s->ee = s->ee < 1e-9 * s->rr ? 0 : s->ee;
}

static model make_model(const tarry__dependence_pairs *p)
{
    model m = {.at = calloc(p->count, sizeof(size_t)),
               .a = calloc(p->count, sizeof(double)),
               .R = calloc(p->count, sizeof(double))};
    assert_true(m.at != NULL && m.a != NULL && m.R != NULL);
    model_cut(&m, p);
    for (size_t s = 0; s < m.n_strata; s++)
        model_score(&m, &m.strata[s], p);
    return m;
}

static void unmake_model(model *m)
{
    free(m->at);
    free(m->a);
    free(m->R);
}

static double two_sided(double T, double V)
{
    return V > 0 ? erfc(fabs(T) / sqrt(V) / sqrt(2)) : 1;
}

static model_sums model_add(const model *m)
{
    model_sums x = {0};
    for (size_t s = 0; s < m->n_strata; s++) {
        const model_stratum *t = &m->strata[s];
        const double V = t->aa * t->rr / ((double)t->count - 1);
        if (!(V > 0))
            continue;
        x.compared += t->count;
        x.strata++;
        x.V[t->arm] += V;
        x.all_V += V;
        x.scale[t->arm] += sqrt(t->aa * t->rr);
        x.all_scale += sqrt(t->aa * t->rr);
        x.V_extreme += t->aa * t->ee / ((double)t->count - 1);
        for (size_t i = t->begin; i < t->begin + t->count; i++) {
            x.T[t->arm] += m->a[i] * m->R[i];
            x.all_T += m->a[i] * m->R[i];
            x.extreme += t->ee > 0 ? m->a[i] * fabs(m->R[i]) : 0;
        }
    }
    for (size_t k = 0; k < MODEL_ARMS; k++)
        if (x.V[k] > 0) {
            x.squares += x.T[k] * x.T[k] / x.V[k];
            x.arms++;
        }
    x.least_p =
        fmin(two_sided(x.all_T, x.all_V), two_sided(x.extreme, x.V_extreme));
    if (x.arms > 0)
        x.least_p = fmin(x.least_p, gsl_cdf_chisq_Q(x.squares, (double)x.arms));
    return x;
}

/* The share of arrangements whose least p-value is as small. */
static double model_permute(model *m, double least_p, int times)
{
    uint64_t seed = 77;
    int as_small = 0;
    for (int n = 0; n < times; n++) {
        for (size_t s = 0; s < m->n_strata; s++) {
            double *R = m->R + m->strata[s].begin;
            for (size_t i = m->strata[s].count; i > 1; i--) {
                const size_t k = test_bits(&seed) % i;
                const double other = R[k];
                R[k] = R[i - 1];
                R[i - 1] = other;
            }
        }
        as_small += model_add(m).least_p <= least_p * (1 + 1e-6);
    }
    return (double)as_small / times;
}

/* p is 1.4 times a share: of a hundred among those made, or of one more than
 * were as extreme among all 1999 and the log itself. */
static void check_share(const tarry__dependence_found *f, double least_p,
                        double share, int times)
{
    const double made = (double)f->permutations;
    const double found = f->p_value / 1.4;
    assert_in_range(f->permutations, 100, 1999);
    if (f->p_value < 1 && made < 1999)
        CHECK_NEAR(found, 100 / made, 1e-12);
    else if (f->p_value < 1)
        CHECK_NEAR(found * 2000, round(found * 2000), 1e-9);
    if (least_p < 1e-9) /* no arrangement is */
        CHECK_NEAR(found, 1.0 / 2000, 1e-12);
    if (share < 0.6) /* four standard errors of the two */
        CHECK_NEAR(found, share,
                   4 * (sqrt(share / times) + sqrt(share / made)) + 0.001);
    else
        CHECK_AT_MOST(0.6, f->p_value);
}

static void check_by_model(const tarry__dependence_pairs *p)
{
    enum { TIMES = 1000 };
    tarry__dependence_found f;
    model m = make_model(p);
    const model_sums x = model_add(&m);
    size_t grouped = 0;
    assert_int_equal(p->n_arms, MODEL_ARMS);
    assert_true(tarry__dependence_test(p, &f));
    for (size_t k = 0; k < MODEL_ARMS; k++) {
        const tarry__dependence_arm *arm = &f.by_arm[k];
        grouped += m.n_in[k] > 1 ? m.n_in[k] : 0;
        assert_int_equal(arm->count, m.n_in[k]);
        CHECK_NEAR(arm->pairs, m.pairs[k], 0);
        assert_true(isnan(arm->z) == !(x.V[k] > 0));
        if (isnan(arm->z))
            continue;
        CHECK_NEAR(arm->correlation, x.T[k] / x.scale[k], 1e-9);
        CHECK_NEAR(arm->z, x.T[k] / sqrt(x.V[k]), 1e-9);
        CHECK_NEAR(arm->p_value, two_sided(x.T[k], x.V[k]), 1e-9);
    }
    assert_int_equal(f.grouped, grouped);
    assert_int_equal(f.compared, x.compared);
    assert_int_equal(f.strata, x.strata);
    const double correlation = x.all_T / x.all_scale;
    const double reach = 1.959963984540054 * sqrt(x.all_V) / x.all_scale;
    CHECK_NEAR(f.correlation, correlation, 1e-9);
    CHECK_NEAR(f.z, x.all_T / sqrt(x.all_V), 1e-9);
    CHECK_NEAR(f.low, fmax(-1, correlation - reach), 1e-9);
    CHECK_NEAR(f.high, fmin(1, correlation + reach), 1e-9);
    check_share(&f, x.least_p, model_permute(&m, x.least_p, TIMES), TIMES);
    tarry__dependence_clear(&f);
    unmake_model(&m);
}

/* Arms by the place of an outcome: stretches have 200 outcomes, so that 400 of
 * an arm are two and 399 are one; 6600 are no more than 32.  Or one arm is seen
 * once. */
static void deal(made_log *m, uint32_t run)
{
    size_t of_last = 0;
    for (size_t i = 0; i < m->n_seen; i++)
        if (run % 4 == 3)
            m->seen_arm[i] = i < 400 ? 0 : i < 799 ? 1 : 2;
        else if (run % 3 == 0 && m->seen_arm[i] == 2)
            m->seen_arm[i] = of_last++ == 0 ? 2 : (uint32_t)i % 2;
}

static void all_its_numbers_are_those_of_a_plain_model(void **state)
{
    static const char *const losses[] = {"rademacher", "uniform"};
    static const char *const delays[] = {
        "low-late:late=60,early=30,law=exponential", "exponential:mean=40"};
    (void)state;
    for (uint32_t run = 0; run < (BRIEF ? 8 : 24); run++) {
        const log_recipe r = {.instance = "basis:arms=3",
                              .loss = losses[run % 2],
                              .delay = delays[run / 3 % 2],
                              .count = run == 7       ? 7600
                                       : run % 4 == 3 ? 1500
                                                      : SMALL,
                              .seed = 7,
                              .run = run};
        made_log m = make_log(&r);
        const tarry__dependence_pairs p = pairs_of(&m, 1);
        deal(&m, run);
        check_by_model(&p);
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

/* A level of 5 % gives at most 5 % + 2.6 standard errors, 9 % of 200 logs, in
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
    const double most = 0.05 + 2.6 * sqrt(0.05 * 0.95 / some_logs());
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        log_recipe r = worlds[i];
        r.count = 2000;
        r.seed = 11;
        CHECK_AT_MOST(alarms(r, some_logs()), most);
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
        CHECK_AT_MOST(0.95, alarms(r, some_logs() / 10));
    }
}

/* Losses and delays that both drift with time look dependent to a test that
 * compares across time. */
static void slow_drift_of_both_is_no_dependence(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    size_t found = 0;
    for (uint64_t run = 0; run < some_logs() / 5; run++) {
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
    const double expected = 0.05 * (some_logs() / 5);
    CHECK_AT_MOST((double)found, expected + 2.9 * sqrt(0.95 * expected));
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

/* Looked at after every 16th outcome.  The six tests of each log at 0.002
 * should make a rate below 0.012; 5 standard errors more, of 200 logs that is
 * 10, are allowed. */
static void who_looks_often_is_rarely_told_wrong(void **state)
{
    (void)state;
    const double expected = 0.012 * some_logs();
    size_t alarms = 0;
    for (uint32_t run = 0; run < some_logs(); run++) {
        const log_recipe r = {SPHERE,
                              .delay = run % 2 == 0
                                           ? "exponential:mean=100"
                                           : "lomax:shape=1.1,scale=20",
                              .count = 2600, .seed = 9, .run = run};
        bool cried = false;
        watch_log(&r, 16, &cried);
        alarms += cried;
    }
    CHECK_AT_MOST((double)alarms, expected + 5 * sqrt(expected));
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
        cmocka_unit_test(all_its_numbers_are_those_of_a_plain_model),
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
