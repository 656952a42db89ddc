/* Descriptions "name:key=value,...". */
#include "check.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "base/spec.h"

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("mean", NULL, 0, 99, "mean in rounds"),
    TARRY__SPEC_REAL("spread", "2.385", 0, 99, "ratio"),
    TARRY__SPEC_COUNT("arms", "1e3", 1, 5000, "how many"),
    TARRY__SPEC_TEXT("file", "", "per-arm values"),
    TARRY__SPEC_CHOICE("law", "even", "even|odd", "which"),
    TARRY__SPEC_END,
};

static tarry_status read_spec(const char *text, tarry__spec *spec,
                              tarry_error *error)
{
    tarry_status status = tarry__spec_parse(text, spec, error);
    if (status == TARRY_OK)
        status = tarry__spec_check(spec, settings, error);
    return status;
}

static void values_and_defaults_are_found(void **state)
{
    (void)state;
    tarry__spec spec;
    tarry_error error;
    double mean, spread;
    uint64_t arms;
    assert_int_equal(read_spec("lag:mean=12.5,file=a=b.csv", &spec, &error), 0);
    assert_string_equal(spec.name, "lag");
    assert_int_equal(tarry__spec_real(&spec, "mean", &mean, &error), 0);
    assert_int_equal(tarry__spec_real(&spec, "spread", &spread, NULL), 0);
    assert_int_equal(tarry__spec_count(&spec, "arms", &arms, NULL), 0);
    CHECK_NEAR(mean, 12.5, 0);
    CHECK_NEAR(spread, 2.385, 0);
    assert_int_equal(arms, 1000);
    assert_string_equal(tarry__spec_text(&spec, "file"), "a=b.csv");
    tarry__spec_clear(&spec);
}

static void bad_forms_are_refused_by_name(void **state)
{
    (void)state;
    const char *const bad[][2] = {
        {"", "no name"},
        {":mean=1", "no name"},
        {"lag", "'mean'"},
        {"lag:", "not key=value"},
        {"lag:mean", "'mean'"},
        {"lag:=4", "'=4'"},
        {"lag:mean=1,", "''"},
        {"lag:mean=1,mean=2", "twice"},
        {"lag:mean=1,men=2", "lag: no setting 'men' (it has: mean, spread, "
                             "arms, file, law)"},
        {"lag:mean=1,file=\"", "lag: file: a quote that does not end: '\"'"},
        {"lag:mean=1,file=\"a", "a quote that does not end: '\"a'"},
        {"lag:mean=1,file=\"a\"b", "a quote that does not end: '\"a\"b'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tarry__spec spec = {0};
        tarry_error error;
        assert_int_equal(read_spec(bad[i][0], &spec, &error), TARRY_BAD_INPUT);
        if (strstr(error.text, bad[i][1]) == NULL)
            fail_msg("'%s' gave: %s", bad[i][0], error.text);
        tarry__spec_clear(&spec);
    }
}

static void values_in_quotes_may_have_commas(void **state)
{
    (void)state;
    tarry__spec spec;
    tarry_error error;
    assert_int_equal(
        tarry__spec_parse("file:arms=\"a,b=\"x.csv,theta=\"c,d:e\"", &spec,
                          &error),
        TARRY_BAD_INPUT);
    assert_int_equal(
        tarry__spec_parse("file:arms=\"a,b=x.csv\",theta=\"c,d:e\"", &spec,
                          &error),
        TARRY_OK);
    assert_int_equal(spec.count, 2);
    assert_string_equal(spec.value[0], "a,b=x.csv");
    assert_string_equal(spec.value[1], "c,d:e");
    tarry__spec_clear(&spec);
    assert_int_equal(tarry__spec_parse("file:arms=\"a,b", &spec, &error),
                     TARRY_BAD_INPUT);
    assert_non_null(strstr(error.text, "quote"));
}

static void a_description_is_printed_as_it_was_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "lints",
        "lints:v=0.7",
        "phased-mab:guide=\"lints:v=1,x=2\",c=3",
        "phased-mab:c=3,guide=\"lints:v=1,x=2\"",
        "phased-mab:guide=\"lints:v=1,x=2\"",
        "file:arms=\"a,b\",c=1,theta=\"c,d\"",
        "file:arms=\"a,b\",theta=\",\""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tarry__spec spec;
        assert_int_equal(tarry__spec_parse(texts[i], &spec, NULL), TARRY_OK);
        char *again = tarry__spec_print(&spec);
        assert_string_equal(again, texts[i]);
        tarry__base_free(again);
        tarry__spec_clear(&spec);
    }
}

static void numbers_out_of_range_are_refused_with_the_value(void **state)
{
    (void)state;
    const char *const bad[] = {"lag:mean=100",  "lag:mean=-1", "lag:mean=nan",
                               "lag:mean=0x10", "lag:mean=",   "lag:mean=1 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tarry__spec spec;
        tarry_error error;
        double mean;
        assert_int_equal(read_spec(bad[i], &spec, &error), TARRY_OK);
        assert_int_equal(tarry__spec_real(&spec, "mean", &mean, &error),
                         TARRY_BAD_INPUT);
        assert_non_null(strstr(error.text, strchr(bad[i], '=') + 1));
        tarry__spec_clear(&spec);
    }
}

static void limits_are_exact(void **state)
{
    static const struct {
        const char *text, *key;
        bool good;
    } all[] = {{"lag:mean=0", "mean", true},
               {"lag:mean=-1e-300", "mean", false},
               {"lag:mean=99", "mean", true},
               {"lag:mean=99.00000000000002", "mean", false},
               {"lag:mean=1,arms=0", "arms", false},
               {"lag:mean=1,arms=1", "arms", true},
               {"lag:mean=1,arms=5000", "arms", true},
               {"lag:mean=1,arms=5001", "arms", false},
               {"lag:mean=1,arms=1e15", "arms", false}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tarry__spec spec;
        tarry_error error = {""};
        double real;
        uint64_t count;
        assert_int_equal(read_spec(all[i].text, &spec, &error), TARRY_OK);
        assert_int_equal(
            strcmp(all[i].key, "mean") == 0
                ? tarry__spec_real(&spec, all[i].key, &real, &error)
                : tarry__spec_count(&spec, all[i].key, &count, &error),
            all[i].good ? TARRY_OK : TARRY_BAD_INPUT);
        assert_true((error.text[0] == '\0') == all[i].good);
        tarry__spec_clear(&spec);
    }
}

static void a_choice_is_one_of_its_words(void **state)
{
    (void)state;
    const char *const bad[] = {"lag:mean=1,law=eve", "lag:mean=1,law=evens",
                               "lag:mean=1,law=", "lag:mean=1,law=even|odd"};
    tarry__spec spec;
    tarry_error error;
    unsigned place;
    assert_int_equal(read_spec("lag:mean=1,law=odd", &spec, &error), TARRY_OK);
    assert_int_equal(tarry__spec_choice(&spec, "law", &place, &error), 0);
    assert_int_equal(place, 1);
    tarry__spec_clear(&spec);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_spec(bad[i], &spec, &error), TARRY_OK);
        assert_int_equal(tarry__spec_choice(&spec, "law", &place, &error),
                         TARRY_BAD_INPUT);
        assert_non_null(strstr(error.text, "one of even|odd"));
        tarry__spec_clear(&spec);
    }
}

static void counts_are_whole(void **state)
{
    (void)state;
    uint64_t count;
    assert_true(tarry__base_parse_count("2.5e3", &count) && count == 2500);
    assert_true(tarry__base_parse_count("9007199254740992", &count));
    assert_false(tarry__base_parse_count("9007199254740993", &count));
    assert_false(tarry__base_parse_count("9007199254740992.5", &count));
    assert_false(tarry__base_parse_count("2.5", &count));
    assert_false(tarry__base_parse_count("-1", &count));
    assert_false(tarry__base_parse_count("1e16", &count));
    assert_false(tarry__base_parse_count("", &count));
    assert_false(tarry__base_parse_count("1e", &count));
}

/* As many settings as there is room for, and names of settings likewise. */
static void lists_of_settings_have_exact_limits(void **state)
{
    (void)state;
    for (int more = 0; more <= 1; more++) {
        char text[4000] = "lag", *at = text + 3;
        tarry__spec spec = {0};
        tarry_error error = {""};
        for (int i = 0; i < TARRY__SPEC_MAX_SETTINGS + more; i++)
            at += sprintf(at, "%ck%d=%d", i == 0 ? ':' : ',', i, i);
        assert_int_equal(tarry__spec_parse(text, &spec, &error),
                         more ? TARRY_BAD_INPUT : TARRY_OK);
        if (more)
            assert_string_equal(error.text, "lag: too many settings");
        tarry__spec_clear(&spec);
    }
    char key[6][60], wanted[400] = "it has: ", *at = wanted + 8;
    tarry_setting listed[7] = {{0}};
    for (int i = 0; i < 6; i++) {
        memset(key[i], 'a' + i, 37);
        key[i][37] = '\0';
        listed[i] = (tarry_setting)TARRY__SPEC_TEXT(key[i], "", "");
        if (i < 5)
            at += sprintf(at, "%s%s", i > 0 ? ", " : "", key[i]);
    }
    strcpy(at, ")");
    tarry__spec spec;
    tarry_error error;
    assert_int_equal(tarry__spec_parse("lag:x=1", &spec, NULL), TARRY_OK);
    assert_int_equal(tarry__spec_check(&spec, listed, &error), TARRY_BAD_INPUT);
    if (strstr(error.text, wanted) == NULL)
        fail_msg("%s", error.text);
    tarry__spec_clear(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_defaults_are_found),
        cmocka_unit_test(bad_forms_are_refused_by_name),
        cmocka_unit_test(values_in_quotes_may_have_commas),
        cmocka_unit_test(a_description_is_printed_as_it_was_read),
        cmocka_unit_test(numbers_out_of_range_are_refused_with_the_value),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(a_choice_is_one_of_its_words),
        cmocka_unit_test(counts_are_whole),
        cmocka_unit_test(lists_of_settings_have_exact_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
