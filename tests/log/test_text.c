/* test_text.c - numbers, times and nothing, as logs write them. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "log/text.h"

static tarry__text of(const char *s)
{
    return (tarry__text){s, s + strlen(s)};
}

static void moments_are_seconds_since_1970(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } good[] = {
        {"1970-01-01", 0},
        {"1970-01-01T00:00:00Z", 0},
        {"2000-02-29T12:00:00Z", 951825600},
        {"2026-05-01 10:20:30.25+02:00", 1777623630.25},
        {"2026-05-01T10:20:30.25+0200", 1777623630.25},
        {"2026-05-01T08:20", 1777623600},
        {"2026-05-01t06:50z", 1777618200},
        {"1969-12-31T23:59:59-00:30", 1799},
        {"1970-01-01T05:45+05:45", 0},
        {"1970-01-01T00:00-0345", 13500},
        {"1970-01-01T00:30+00:30", 0},
        {"1969-12-31T14:00-10", 0},
        {"1969-12-31T24:00", 0},
        {"1969-12-31T24:00:00.0Z", 0},
        {"2016-12-31T23:59:60Z", 1483228800}, /* a leap second */
        {"2016-12-31T23:59:60.75Z", 1483228800.75},
        {"1970-01-01T23:59+23:59", 0},
        {"1969-12-31T00:01-23:59", 0},
        {"2026-12-31", 1798675200},
        {"2024-02-29", 1709164800},
        {"2017-11-14T13:09:54.8200000Z", 1510664994.82},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double seconds = NAN;
        if (!tarry__text_moment(of(good[i].text), &seconds))
            fail_msg("refused: %s", good[i].text);
        CHECK_NEAR(seconds, good[i].seconds, 1e-6);
    }
}

static void moments_agree_with_the_c_library(void **state)
{
    (void)state;
    for (int64_t day = -200000; day < 200000; day += 97) {
        const time_t t = (time_t)(day * 86400 + 4711);
        struct tm parts;
        char text[40];
        double seconds;
        gmtime_r(&t, &parts);
        if (parts.tm_year + 1900 < 1000)
            continue;
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
        assert_true(tarry__text_moment(of(text), &seconds));
        assert_true(seconds == (double)t);
    }
}

static void a_moment_is_one_number_in_all_zones(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        char here[40], there[40];
        double seconds, same;
        snprintf(here, sizeof here, "1970-01-01T00:01:14.%03dZ", i);
        snprintf(there, sizeof there, "1970-01-01T01:01:14.%03d+01:00", i);
        assert_true(tarry__text_moment(of(here), &seconds));
        assert_true(tarry__text_moment(of(there), &same));
        assert_true(seconds == same);
    }
}

static void what_is_no_moment_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "2026",
                                      "2026-13-01",
                                      "2026-02-29",
                                      "2026-05-01T",
                                      "2026-05-01T25:00",
                                      "2026-05-01T24:01",
                                      "2026-05-01T24:59:59",
                                      "2026-05-01T24:00:00.5",
                                      "2026-05-01T24:00:01Z",
                                      "2026-05-01T10:61",
                                      "2026-05-01T10:20:99",
                                      "2026-05-01T10:20+",
                                      "2026-05-01X10:20",
                                      "2026-05-01T10:20Zjunk",
                                      "26-05-01",
                                      "2026-00-01",
                                      "2026-05-00",
                                      "2026-04-31",
                                      "2026-01-32",
                                      "1900-02-29",
                                      "2026-5-01",
                                      "2026-05-1",
                                      "2026/05/01",
                                      "2026-05-01T1:00",
                                      "2026-05-01T10:60",
                                      "2026-05-01T10",
                                      "2026-05-01T10:20:",
                                      "2026-05-01T10:20:5",
                                      "2026-05-01T10:20:61",
                                      "2026-05-01T10:20:30.5.5",
                                      "2026-05-01T10:20:-1",
                                      "2026-05-01T10:20+24:00",
                                      "2026-05-01T10:20+02:60",
                                      "2026-05-01T10:20+2",
                                      "2026-05-01T10:20+02:",
                                      "2026-05-01T10:20+02:0",
                                      "2026-05-01T10:20 Z",
                                      " 2026-05-01",
                                      "2026-05-01 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double seconds;
        if (tarry__text_moment(of(bad[i]), &seconds))
            fail_msg("taken: %s", bad[i]);
    }
}

static void nothing_has_several_names(void **state)
{
    (void)state;
    assert_true(tarry__text_is_empty((tarry__text){NULL, NULL}));
    assert_true(tarry__text_is_empty(of("")));
    assert_true(tarry__text_is_empty(of("NaN")));
    assert_true(tarry__text_is_empty(of("NULL")));
    assert_false(tarry__text_is_empty(of("0")));
    assert_false(tarry__text_is_empty(of("nancy")));
    static const char *const all[] = {"null", "None", "nan",  "NA",
                                      "na",   "NaT",  "<NA>", "\\N"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char more[10];
        assert_true(tarry__text_is_empty(of(all[i])));
        snprintf(more, sizeof more, "%sx", all[i]);
        assert_false(tarry__text_is_empty(of(more)));
        more[1] = '\0';
        assert_false(tarry__text_is_empty(of(more)));
    }
    assert_true(tarry__text_is_empty(of("-")));
    assert_false(tarry__text_is_empty(of("--")));
    assert_false(tarry__text_is_empty(of(" ")));
}

static void words_are_the_same_in_letters_of_either_case(void **state)
{
    (void)state;
    assert_true(tarry__text_is(of("EventId"), "eventid"));
    assert_true(tarry__text_is(of("eventid"), "EventId"));
    assert_true(tarry__text_is(of(""), ""));
    assert_true(tarry__text_is((tarry__text){NULL, NULL}, ""));
    assert_false(tarry__text_is(of("eventid"), "event"));
    assert_false(tarry__text_is(of("event"), "eventid"));
    assert_false(tarry__text_is(of("event_id"), "eventXid"));
}

static void space_around_a_text_is_dropped(void **state)
{
    static const char *const all[][2] = {
        {"a", "a"},  {" \ta b\t ", "a b"}, {" \t ", ""},      {"", ""},
        {"a ", "a"}, {" a", "a"},          {"\na\r", "\na\r"}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const tarry__text t = tarry__text_trim(of(all[i][0]));
        assert_int_equal(tarry__text_size(t), strlen(all[i][1]));
        assert_memory_equal(t.begin, all[i][1], strlen(all[i][1]));
    }
}

/* As a whole, and finite. */
static void numbers_are_decimal_and_finite(void **state)
{
    static const struct {
        const char *text;
        double value; /* NaN: refused */
    } all[] = {{"0", 0},        {"-0.5", -0.5}, {"+.5", 0.5},  {"1e3", 1000},
               {"5.", 5},       {"1E-2", 0.01}, {"", NAN},     {"1e400", NAN},
               {"-1e400", NAN}, {"inf", NAN},   {"nan", NAN},  {"0x10", NAN},
               {"1,5", NAN},    {"1 ", NAN},    {" 1", NAN},   {"1e", NAN},
               {"--1", NAN},    {".", NAN},     {"1_000", NAN}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double value = NAN;
        if (tarry__text_number(of(all[i].text), &value) == isnan(all[i].value))
            fail_msg("'%s'", all[i].text);
        if (!isnan(all[i].value))
            CHECK_NEAR(value, all[i].value, 0);
    }
    double value;
    assert_false(tarry__text_number((tarry__text){NULL, NULL}, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_seconds_since_1970),
        cmocka_unit_test(moments_agree_with_the_c_library),
        cmocka_unit_test(a_moment_is_one_number_in_all_zones),
        cmocka_unit_test(what_is_no_moment_is_refused),
        cmocka_unit_test(nothing_has_several_names),
        cmocka_unit_test(words_are_the_same_in_letters_of_either_case),
        cmocka_unit_test(space_around_a_text_is_dropped),
        cmocka_unit_test(numbers_are_decimal_and_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
