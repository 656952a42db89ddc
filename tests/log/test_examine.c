/* What a log says is said as a whole, or not at all. */
#define _GNU_SOURCE
#include "each_failure.h"
#include "figure/folder.h"
#include "log/examine.h"
#include "log/examine_parts.h"

/* Two arms, days, probabilities, rows that make no sense, some outstanding. */
static const char *write_log(const char *a, const char *b)
{
    const char *path = path_of("log.csv");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("id,arm,decided,reported,loss,probability\n", file);
    for (int i = 0; i < 120; i++) {
        fprintf(file, "%d,%s,%d,", i, i % 3 ? a : b, 20000 * i);
        if (i % 7)
            fprintf(file, "%d,%.3g", 20000 * i + 300 * (i % 11), i % 5 / 4.0);
        else
            fputc(',', file);
        fputs(",0.5\n", file);
    }
    fputs("121,a,x,y,z,0.5\n", file);
    fclose(file);
    return path;
}

static char *examine(void *path)
{
    const tarry__examine_options options = {.log = {.low = -1, .high = 1},
                                            .seed = 2385,
                                            .threads = 1,
                                            .max_refused = 1};
    tarry_error error;
    json_t *out;
    const tarry_status status = tarry__examine(path, &options, &out, &error);
    if (status != TARRY_OK) {
        assert_int_equal(status, TARRY_NO_MEMORY);
        assert_null(out);
        return NULL;
    }
    assert_non_null(out);
    char *text = tarry__json_text(out, JSON_REAL_PRECISION(17));
    json_decref(out);
    return text;
}

static void without_memory_nothing_is_left_out(void **state)
{
    (void)state;
    with_each_failure(examine, (void *)write_log("a", "b"));
}

/* Names longer than any buffer, of two bytes each, and what is no UTF-8. */
static void odd_names_are_told(void **state)
{
    char name[602], wanted[620];
    (void)state;
    for (int i = 0; i < 600; i += 2)
        memcpy(name + i, "\xc3\xa9", 2);
    memcpy(name + 600, "x", 2);
    char *text = examine((void *)write_log(name, "b\xff"));
    assert_non_null(text);
    snprintf(wanted, sizeof wanted, "\"always %s\"", name);
    assert_non_null(strstr(text, wanted));
    assert_non_null(strstr(text, "\"always 0\""));
    tarry__base_free(text);
}

/* From two of a unit on in that unit. */
static void durations_have_the_unit_that_fits(void **state)
{
    static const struct {
        double time;
        bool is_calendar;
        const char *text;
    } all[] = {{0, true, "0 s"},
               {119, true, "119 s"},
               {120, true, "2 min"},
               {7199, true, "120 min"},
               {7200, true, "2 h"},
               {172799, true, "48 h"},
               {172800, true, "2 d"},
               {1e6, true, "11.6 d"},
               {172800, false, "1.728e+05"},
               {2.385, false, "2.385"},
               {NAN, true, "-"},
               {INFINITY, false, "-"}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[32];
        tarry__examine_duration(all[i].time, all[i].is_calendar, text,
                                sizeof text);
        assert_string_equal(text, all[i].text);
    }
}

/* Only what reads back as the same text. */
static void arms_are_numbers_where_they_look_like_it(void **state)
{
    static const struct {
        const char *name;
        long long number; /* -1: it stays a text */
    } all[] = {{"0", 0},   {"7", 7},
               {"10", 10}, {"123456789012345", 123456789012345},
               {"00", -1}, {"07", -1},
               {"", -1},   {"1234567890123456", -1},
               {"-1", -1}, {"1.5", -1},
               {"1 ", -1}, {"a", -1}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *names[] = {(char *)all[i].name};
        const tarry__log log = {.n_arms = 1, .names = names};
        json_t *arm = tarry__examine_arm(&log, 0);
        assert_true(json_is_integer(arm) == (all[i].number >= 0));
        if (all[i].number >= 0)
            assert_int_equal(json_integer_value(arm), all[i].number);
        else
            assert_string_equal(json_string_value(arm), all[i].name);
        json_decref(arm);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_have_the_unit_that_fits),
        cmocka_unit_test(arms_are_numbers_where_they_look_like_it),
        cmocka_unit_test(odd_names_are_told),
        cmocka_unit_test(without_memory_nothing_is_left_out),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
