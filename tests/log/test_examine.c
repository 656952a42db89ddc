/* What a log says is said as a whole, or not at all. */
#define _GNU_SOURCE
#include "each_failure.h"
#include "figure/folder.h"
#include "log/examine.h"

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
    const tarry__examine_options options = {
        .log = {.low = -1, .high = 1}, .seed = 2385, .threads = 1};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_names_are_told),
        cmocka_unit_test(without_memory_nothing_is_left_out),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
