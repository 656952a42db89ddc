/* Ranges that are not around 0: means that are affine in the features get a
 * constant, unless the features give one.  Certificates and cuts are right in
 * the share of runs that is promised; a wrong model breaks nearly all runs. */
#include "check.h"
#include "policy/play.h"
#include "policy/promise.h"

/* The two arms of one feature whose means are .4 and .2 in [0, 1]: through the
 * origin after the range is moved they would be -.2 and -.6. */
static void two_arms_in_0_1_keep_the_promise(void **state)
{
    const double arms[] = {1, 0.5}, means[] = {0.4, 0.2};
    const world w = {.n_arms = 2,
                     .dim = 1,
                     .low = 0,
                     .high = 1,
                     .arms = arms,
                     .means = means};
    (void)state;
    check_promise(&w, "recommended", 0.99, BRIEF ? 2 : 15);
    check_promise(&w, "phased-stochastic:constants=tight", 0.99,
                  BRIEF ? 2 : 15);
    check_promise(&w, "recommended:intercept=no", 0.99, BRIEF ? 2 : 15);
}

/* Affine means in random ranges, on features without a constant. */
static void affine_worlds_in_odd_ranges_keep_the_promise(void **state)
{
    static const double ranges[][2] = {{0, 1},   {-5, 0},  {2, 3},
                                       {-1, 10}, {0, 1e6}, {1e3, 1e3 + 1e-3}};
    uint64_t seed = 7;
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const world w = random_world(6, 2, ranges[i][0], ranges[i][1], &seed);
        check_promise(&w, "recommended", 0.9, BRIEF ? 1 : 4);
        check_promise(&w, "phased-adversarial:constants=tight,guide=lints", 0.9,
                      BRIEF ? 1 : 4);
        end_world(&w);
    }
}

static tarry_policy *make(const double *arms, size_t n_arms, size_t dim,
                          double low, double high, const char *settings)
{
    tarry_policy_params p = tarry_policy_defaults();
    tarry_policy *policy;
    p.n_arms = n_arms;
    p.dim = dim;
    p.arms = arms;
    p.low = low;
    p.high = high;
    p.confidence = 0.9;
    p.settings = settings;
    assert_int_equal(tarry_policy_create("recommended", &p, &policy, NULL),
                     TARRY_OK);
    return policy;
}

static int has_intercept(const double *arms, size_t n_arms, size_t dim,
                         double low, double high, const char *settings)
{
    tarry_policy *p = make(arms, n_arms, dim, low, high, settings);
    tarry_policy_status s;
    tarry_policy_get_status(p, &s);
    assert_int_equal(s.dim, dim);
    assert_memory_equal(s.arms, arms, n_arms * dim * sizeof *arms);
    tarry_policy_free(p);
    return s.intercept;
}

static void constant_is_added_only_where_it_is_needed(void **state)
{
    const double plain[] = {1, 0, 0, 1, 0.5, 0.3};
    const double constant[] = {1, 0.1, 1, 0.7, 1, -2};
    const double sum_to_2[] = {0.5, 1.5, 2, 0, 1, 1};
    const double large[] = {1e15, 1, 2e15, 5, 3e15, 2};
    const double zero[] = {0, 0, 0, 0, 0, 0};
    (void)state;
    assert_int_equal(has_intercept(plain, 3, 2, 0, 1, NULL), 1);
    assert_int_equal(has_intercept(plain, 2, 2, 0, 1, NULL), 0);
    assert_int_equal(has_intercept(plain, 3, 2, -1, 1, NULL), 0);
    assert_int_equal(has_intercept(plain, 3, 2, -7, 7, NULL), 0);
    assert_int_equal(has_intercept(plain, 3, 2, 0, 1, "intercept=auto"), 1);
    assert_int_equal(has_intercept(plain, 3, 2, 0, 1, "intercept=no"), 0);
    assert_int_equal(has_intercept(constant, 3, 2, 0, 1, NULL), 0);
    assert_int_equal(has_intercept(sum_to_2, 3, 2, 0, 1, NULL), 0);
    assert_int_equal(has_intercept(large, 3, 2, 0, 1, NULL), 1);
    assert_int_equal(has_intercept(zero, 3, 2, 0, 1, NULL), 1);
}

static void intercept_is_refused_if_it_is_neither_auto_nor_no(void **state)
{
    const double arm = 1;
    tarry_policy_params p = tarry_policy_defaults();
    tarry_policy *policy;
    tarry_error error;
    (void)state;
    p.n_arms = p.dim = 1;
    p.arms = &arm;
    p.horizon = 10;
    assert_int_equal(
        tarry_policy_create("lints:intercept=yes", &p, &policy, &error),
        TARRY_BAD_ARGUMENT);
    assert_string_equal(error.text,
                        "lints: intercept must be one of auto|no: 'yes'");
    assert_int_equal(
        tarry_policy_create("phased-stochastic:guide=lints/intercept=no", &p,
                            &policy, &error),
        TARRY_BAD_ARGUMENT);
}

/* The decision is made when the policy is created, and stays with it. */
static void restored_policy_admits_arms_with_the_constant(void **state)
{
    const double arms[] = {1, 0, 0, 1, 0.5, 0.3}, more[] = {0.2, 0.2};
    tarry_policy *p = make(arms, 3, 2, 0, 1, NULL), *q;
    tarry_policy_status s;
    void *bytes;
    size_t size, arm;
    (void)state;
    for (int i = 0; i < 50; i++)
        tarry_policy_observe(p, choose(p).round, 0.5);
    assert_int_equal(tarry_policy_pack(p, &bytes, &size), TARRY_OK);
    assert_int_equal(tarry_policy_unpack(bytes, size, &q, NULL), TARRY_OK);
    tarry_policy_pack_free(bytes);
    assert_int_equal(tarry_policy_admit(p, more, &arm), TARRY_OK);
    assert_int_equal(tarry_policy_admit(q, more, &arm), TARRY_OK);
    tarry_policy_get_status(q, &s);
    assert_true(s.intercept && s.dim == 2 && s.n_arms == 4);
    assert_memory_equal(s.arms, arms, sizeof arms);
    assert_memory_equal(s.arms + 6, more, sizeof more);
    for (int i = 0; i < 200; i++) {
        const choice c = choose(p), d = choose(q);
        assert_int_equal(c.arm, d.arm);
        tarry_policy_observe(p, c.round, (double)(i % 3) / 2);
        tarry_policy_observe(q, d.round, (double)(i % 3) / 2);
    }
    tarry_policy_free(p);
    tarry_policy_free(q);
}

/* Two arms in two dimensions give a constant, a third one does not keep it:
 * its mean would be far off, if it were taken for linear.  Certificates are
 * right before and after it comes, also in a restored policy. */
static void arms_that_break_the_constant_keep_the_promise(void **state)
{
    const double arms[] = {1, 0, 0, 1}, more[][2] = {{1, 1}, {-1, 0.2}};
    /* means .7 + .1 x - .2 y */
    double means[] = {0.8, 0.5, 0.6, 0.56};
    world w = {.n_arms = 2,
               .dim = 2,
               .low = 0,
               .high = 1,
               .arms = arms,
               .means = means};
    uint64_t wrong = 0, lost = 0;
    enum { RUNS = BRIEF ? 2 : 10 };
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        tarry_policy *p = make(arms, 2, 2, 0, 1, NULL), *q;
        uint64_t seed = (uint64_t)run;
        bool bad = false;
        w.n_arms = 2;
        for (int t = 0; t < 1500; t++) {
            size_t arm, size;
            void *bytes;
            if (t == 300 || t == 600) {
                assert_int_equal(tarry_policy_admit(p, more[t / 300 - 1], &arm),
                                 TARRY_OK);
                w.n_arms++;
                tarry_policy_status s;
                tarry_policy_get_status(p, &s);
                assert_true(s.intercept && s.dim == 2);
                CHECK_NEAR(s.arms[2 * arm], more[t / 300 - 1][0], 0);
                assert_int_equal(tarry_policy_pack(p, &bytes, &size), TARRY_OK);
                assert_int_equal(tarry_policy_unpack(bytes, size, &q, NULL),
                                 TARRY_OK);
                tarry_policy_pack_free(bytes);
                tarry_policy_free(p);
                p = q;
            }
            play_world(p, &w, &seed, &bad);
            bad = bad || (t % 50 == 0 && is_wrong(p, &w));
        }
        choose(p);
        wrong += bad;
        lost += !has_best(p, &w);
        tarry_policy_free(p);
    }
    CHECK_AT_MOST((double)wrong, 0.1 * RUNS + 3 * sqrt(0.1 * RUNS));
    CHECK_AT_MOST((double)lost, 0.1 * RUNS + 3 * sqrt(0.1 * RUNS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_arms_in_0_1_keep_the_promise),
        cmocka_unit_test(affine_worlds_in_odd_ranges_keep_the_promise),
        cmocka_unit_test(constant_is_added_only_where_it_is_needed),
        cmocka_unit_test(intercept_is_refused_if_it_is_neither_auto_nor_no),
        cmocka_unit_test(restored_policy_admits_arms_with_the_constant),
        cmocka_unit_test(arms_that_break_the_constant_keep_the_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
