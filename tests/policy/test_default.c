/* The default outcome at the public door: its text, when it is applied, what
 * becomes of a report that comes later, and what a saved state keeps of it. */
#include "policy/default.h"
#include "base/base.h"
#include "policy/play.h"
#include "policy/policy_type.h"

enum { HORIZON = 2000 };

static tarry_status create(const char *text, const game *g, const char *rule,
                           tarry_policy **out, tarry_error *error)
{
    tarry_policy_params p = tarry_policy_defaults();
    p.n_arms = g->n_arms;
    p.dim = g->dim;
    p.arms = g->arms;
    p.horizon = HORIZON;
    p.seed = 2385;
    p.low = -2;
    p.high = 2;
    p.default_outcome = rule;
    return tarry_policy_create(text, &p, out, error);
}

static tarry_policy *make(const char *text, const game *g, const char *rule)
{
    tarry_policy *p;
    tarry_error error = {""};
    if (create(text, g, rule, &p, &error) != TARRY_OK)
        fail_msg("%s, %s: %s", text, rule, error.text);
    return p;
}

/* ---- the text -------------------------------------------------------------*/

static void rule_is_printed_as_it_reads(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"0/500r", "0/500r"},
        {"-0/500rounds", "0/500r"},
        {"0.1/7d", "0.1/7d"},
        {"1e3/36h/final", "1000/36h/final"},
        {"-2.5/90s", "-2.5/90s"},
        {"0/60s", "0/1min"},
        {"0/0", "0/0"},
        {"1/0/final", "1/0/final"},
        {"1/1.5s", "1/1500ms"},
        {"0.30000000000000004/1r", "0.30000000000000004/1r"},
        {"0/2w/final", "0/14d/final"}};
    char text[TARRY__DEFAULT_ROOM];
    tarry__default_rule rule;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(tarry__default_read(texts[i][0], &rule, NULL),
                         TARRY_OK);
        assert_true(rule.declared && tarry__default_is_sound(&rule));
        tarry__default_print(&rule, text);
        assert_string_equal(text, texts[i][1]);
    }
    assert_int_equal(tarry__default_read("", &rule, NULL), TARRY_OK);
    assert_false(rule.declared);
}

static void rule_of_another_form_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",      "0/",      "/500r",    "0/500",       "0/500.",
        "0/-1r",  "0/1.5r",  "0/7d/",    "0/7d/finals", "0/7d/final/",
        "nan/7d", "inf/7d",  "0 /7d",    "0/7d ",       "0/7y",
        "x",      "0/1e99d", "1e999/7d", "0/0r",        "0/600000000000r"};
    tarry__default_rule rule;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tarry_error error = {""};
        if (tarry__default_read(texts[i], &rule, &error) != TARRY_BAD_INPUT)
            fail_msg("'%s' is taken", texts[i]);
        assert_non_null(strstr(error.text, texts[i]));
    }
}

/* ---- what is refused ------------------------------------------------------*/

static void default_outside_range_is_refused(void **state)
{
    (void)state;
    game g = make_game(4, 2, 2);
    tarry_policy *p;
    tarry_error error = {""};
    assert_int_equal(create("lints", &g, "2.5/7d", &p, &error),
                     TARRY_BAD_ARGUMENT);
    assert_string_equal(error.text, "default_outcome: outcomes lie in [-2, 2]; "
                                    "got 2.5");
    assert_int_equal(create("lints", &g, "7d", &p, &error), TARRY_BAD_ARGUMENT);
    assert_int_equal(create("lints:default_outcome=0/7d", &g, "0/7d", &p, NULL),
                     TARRY_BAD_ARGUMENT);
    end_game(&g);
}

/* Such a policy takes a final rule; a guide must take corrections, too. */
static void policy_without_revise_refuses_rule_that_is_not_final(void **state)
{
    (void)state;
    game g = make_game(4, 2, 2);
    tarry_policy *p;
    size_t count = 0;
    for (size_t i = 0; tarry_policy_name(i) != NULL; i++) {
        const char *name = tarry_policy_name(i);
        const tarry__policy_type *type = tarry__policy_type_find(name);
        tarry_error error = {""};
        if (type->revise != NULL || type->stands_for != NULL)
            continue;
        assert_int_equal(create(name, &g, "0/10r", &p, &error),
                         TARRY_BAD_ARGUMENT);
        assert_non_null(strstr(error.text, name));
        assert_non_null(strstr(error.text, "or use recommended, "));
        tarry_policy_free(make(name, &g, "0/10r/final"));
        count++;
    }
    assert_true(count > 3);
    tarry_error error = {""};
    assert_int_equal(create("phased-loss-dependent:constants=tight,"
                            "guide=otf-lints",
                            &g, "0/10r", &p, &error),
                     TARRY_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "guide=foresight"));
    end_game(&g);
}

/* ---- rounds ---------------------------------------------------------------*/

/* Choice 1 has its default when choice 1 + 3 has been made and the next one is
 * asked for. */
static void rule_of_rounds_is_applied_at_its_age(void **state)
{
    (void)state;
    game g = make_game(4, 2, 2);
    tarry_policy *p = make("lints", &g, "1.5/3r");
    for (int t = 0; t < 4; t++)
        choose(p);
    assert_int_equal(status_of(p).defaulted, 0);
    assert_int_equal(status_of(p).pending, 4);
    assert_int_equal(tarry_policy_observe(p, 2, 1), TARRY_OK);
    choose(p);
    const tarry_policy_status s = status_of(p);
    assert_string_equal(s.default_outcome, "1.5/3r");
    assert_int_equal(s.defaulted, 1);
    assert_int_equal(s.pending, 3);
    assert_int_equal(s.used, 2);
    choose(p); /* 2 was reported in time */
    assert_int_equal(status_of(p).defaulted, 1);
    assert_int_equal(tarry_policy_observe(p, 1, 3), TARRY_BAD_LOSS);
    assert_int_equal(tarry_policy_cancel(p, 1), TARRY_REPORTED_TWICE);
    assert_int_equal(tarry_policy_observe(p, 1, 1.5), TARRY_CORRECTED);
    assert_int_equal(tarry_policy_observe(p, 1, 1.5), TARRY_REPORTED_TWICE);
    assert_int_equal(status_of(p).corrected, 1);
    assert_int_equal(tarry_policy_expire(p, 3), TARRY_OK);
    assert_int_equal(tarry_policy_apply_default(p, 3), TARRY_EXPIRED);
    assert_int_equal(tarry_policy_cancel(p, 4), TARRY_OK);
    choose(p);
    choose(p);
    assert_int_equal(status_of(p).defaulted, 1);
    assert_int_equal(tarry_policy_apply_default(p, 99), TARRY_UNKNOWN_ROUND);
    tarry_policy_free(p);
    p = make("lints", &g, NULL);
    choose(p);
    assert_null(status_of(p).default_outcome);
    assert_int_equal(tarry_policy_apply_default(p, 1), TARRY_BAD_ARGUMENT);
    tarry_policy_free(p);
    end_game(&g);
}

static void report_after_final_default_is_late_and_not_counted(void **state)
{
    (void)state;
    game g = make_game(4, 2, 2);
    tarry_policy *p = make("phased-stochastic", &g, "1.5/0/final");
    choose(p);
    choose(p);
    const uint64_t used = status_of(p).used + status_of(p).ignored;
    assert_int_equal(tarry_policy_observe(p, 1, -2), TARRY_LATE);
    assert_int_equal(tarry_policy_observe(p, 1, -2), TARRY_REPORTED_TWICE);
    assert_int_equal(status_of(p).used + status_of(p).ignored, used);
    assert_int_equal(status_of(p).late, 0);
    assert_int_equal(status_of(p).corrected, 0);
    tarry_policy_free(p);
    end_game(&g);
}

/* The policy counts rounds as a caller would who applies a rule of time. */
static void rule_of_rounds_is_that_of_a_caller_who_counts(void **state)
{
    (void)state;
    game g = make_game(6, 3, 3);
    tarry_policy *counts = make("lints", &g, "0.5/20r");
    tarry_policy *told = make("lints", &g, "0.5/7d");
    for (uint64_t t = 1; t <= 600; t++) {
        if (t > 21)
            tarry_policy_apply_default(told, t - 21);
        assert_int_equal(choose(counts).arm, choose(told).arm);
        for (uint64_t s = t > 40 ? t - 40 : 1; s <= t; s++)
            if (s + s * 7 % 41 == t)
                assert_int_equal(tarry_policy_observe(counts, s, -1.25),
                                 tarry_policy_observe(told, s, -1.25));
    }
    assert_int_equal(status_of(counts).defaulted, status_of(told).defaulted);
    assert_true(status_of(counts).corrected > 100);
    tarry_policy_free(counts);
    tarry_policy_free(told);
    end_game(&g);
}

/* ---- corrections ----------------------------------------------------------*/

/* A default that is corrected before the next choice has never been, for every
 * policy that takes corrections. */
static void check_correction(const char *text)
{
    game g = make_game(6, 3, 3);
    tarry_policy *corrected = make(text, &g, "1.5/7d");
    tarry_policy *plain = make(text, &g, "1.5/7d");
    for (uint64_t t = 1; t <= 500; t++) {
        const size_t arm = choose(corrected).arm;
        if (choose(plain).arm != arm)
            fail_msg("%s differs in round %ju", text, (uintmax_t)t);
        if (t <= 15)
            continue;
        const uint64_t s = t - 15;
        const double loss = 2 * cos((double)s);
        const bool is_wrong = s % 3 == 0;
        if (is_wrong)
            assert_int_equal(tarry_policy_apply_default(corrected, s),
                             TARRY_OK);
        assert_int_equal(tarry_policy_observe(corrected, s, loss) ==
                             TARRY_CORRECTED,
                         is_wrong);
        tarry_policy_observe(plain, s, loss);
    }
    tarry_policy_free(corrected);
    tarry_policy_free(plain);
    end_game(&g);
}

static void corrected_default_has_never_been(void **state)
{
    (void)state;
    size_t count = 0;
    for (size_t i = 0; tarry_policy_name(i) != NULL; i++)
        if (tarry__policy_type_find(tarry_policy_name(i))->revise != NULL) {
            check_correction(tarry_policy_name(i));
            count++;
        }
    check_correction("recommended");
    assert_true(count >= 10);
}

/* ---- states ---------------------------------------------------------------*/

/* What is due comes in the same way whether or not the policy was packed. */
static void deliver(tarry_policy *p, uint64_t t)
{
    for (uint64_t s = t > 60 ? t - 60 : 1; s <= t; s++)
        if (s % 2 == 0 && s + s * 7 % 61 == t)
            tarry_policy_observe(p, s, -1);
}

static tarry_policy *packed(tarry_policy *p)
{
    void *bytes;
    size_t size;
    tarry_policy *copy;
    assert_int_equal(tarry_policy_pack(p, &bytes, &size), TARRY_OK);
    assert_int_equal(tarry_policy_unpack(bytes, size, &copy, NULL), TARRY_OK);
    tarry_policy_pack_free(bytes);
    tarry_policy_free(p);
    return copy;
}

static void check_states(const char *text, const char *rule)
{
    game g = make_game(6, 3, 3);
    tarry_policy *saved = make(text, &g, rule), *live = make(text, &g, rule);
    for (uint64_t t = 1; t <= 400; t++) {
        assert_int_equal(choose(saved).arm, choose(live).arm);
        deliver(saved, t);
        deliver(live, t);
        if (t % 37 == 0)
            saved = packed(saved);
    }
    const tarry_policy_status a = status_of(saved), b = status_of(live);
    assert_string_equal(a.default_outcome, rule);
    assert_int_equal(a.defaulted, b.defaulted);
    assert_int_equal(a.corrected, b.corrected);
    assert_int_equal(a.pending, b.pending);
    assert_true(a.defaulted > 100);
    assert_int_equal(a.corrected > 0, strstr(rule, "final") == NULL);
    tarry_policy_free(saved);
    tarry_policy_free(live);
    end_game(&g);
}

static void restored_policy_goes_on_with_its_defaults(void **state)
{
    (void)state;
    check_states("recommended", "2/20r");
    check_states("foresight", "2/0");
    check_states("lints", "2/20r");
    check_states("ucb-delayed", "2/20r/final");
    check_states("phased-adversarial", "2/5r/final");
}

/* ---- certificates ---------------------------------------------------------*/

/* With a default, when an outcome comes depends on what it is. */
static void policy_for_independent_delays_certifies_nothing(void **state)
{
    (void)state;
    game g = make_game(4, 2, 2);
    size_t arm;
    double gap;
    tarry_policy *p = make("phased-stochastic", &g, "2/20r/final");
    choose(p);
    assert_int_equal(tarry_policy_certify(p, &arm, &gap), TARRY_BAD_ARGUMENT);
    tarry_policy_free(p);
    p = make("recommended", &g, "2/20r");
    choose(p);
    assert_int_equal(tarry_policy_certify(p, &arm, &gap), TARRY_OK);
    assert_true(gap >= 0 && gap <= 4);
    tarry_policy_free(p);
    end_game(&g);
}

/* An outcome of 2 for each arm but the last, whose reports correct the defaults
 * of 2: the certificate ends with the truth. */
static void certificate_takes_corrections_in(void **state)
{
    (void)state;
    double arms[] = {1, 0, 0, 1};
    const game g = {2, 2, arms, NULL};
    tarry_policy *p = make("recommended", &g, "2/0");
    size_t arm[HORIZON], best;
    double gap;
    for (uint64_t t = 0; t < HORIZON; t++) {
        arm[t] = choose(p).arm;
        if (t >= 5 && arm[t - 5] == 1)
            assert_int_equal(tarry_policy_observe(p, t - 4, -2),
                             TARRY_CORRECTED);
    }
    assert_int_equal(tarry_policy_certify(p, &best, &gap), TARRY_OK);
    assert_int_equal(best, 1);
    assert_true(gap < 0.5);
    tarry_policy_free(p);
}

/* ---- memory ---------------------------------------------------------------*/

static void choice_without_memory_can_be_made_again(void **state)
{
    (void)state;
    game g = make_game(4, 2, 2);
    tarry_policy *p = make("lints", &g, "1/1r"),
                 *twin = make("lints", &g, "1/1r");
    size_t failures = 0, arm;
    uint64_t round;
    for (int t = 0; t < 200; t++) {
        for (size_t k = 1;; k++) {
            tarry__base_fail_alloc(k);
            const tarry_status status = tarry_policy_choose(p, &round, &arm);
            tarry__base_fail_alloc(0);
            if (status == TARRY_OK)
                break;
            assert_int_equal(status, TARRY_NO_MEMORY);
            failures++;
        }
        assert_int_equal(arm, choose(twin).arm);
    }
    assert_int_equal(status_of(p).defaulted, status_of(twin).defaulted);
    assert_true(failures > 5);
    tarry_policy_free(p);
    tarry_policy_free(twin);
    end_game(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_is_printed_as_it_reads),
        cmocka_unit_test(rule_of_another_form_is_refused),
        cmocka_unit_test(default_outside_range_is_refused),
        cmocka_unit_test(policy_without_revise_refuses_rule_that_is_not_final),
        cmocka_unit_test(rule_of_rounds_is_applied_at_its_age),
        cmocka_unit_test(report_after_final_default_is_late_and_not_counted),
        cmocka_unit_test(rule_of_rounds_is_that_of_a_caller_who_counts),
        cmocka_unit_test(corrected_default_has_never_been),
        cmocka_unit_test(restored_policy_goes_on_with_its_defaults),
        cmocka_unit_test(policy_for_independent_delays_certifies_nothing),
        cmocka_unit_test(certificate_takes_corrections_in),
        cmocka_unit_test(choice_without_memory_can_be_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
