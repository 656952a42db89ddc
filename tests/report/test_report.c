/* test_report.c - the files of a report: least input, failures half-way. */
#define _GNU_SOURCE
#include "each_failure.h"
#include "figure/folder.h"
#include "report/report.h"

static void put(json_t *object, const char *key, json_t *value)
{
    assert_int_equal(json_object_set_new(object, key, value), 0);
}

static json_t *least(void)
{
    return json_pack("{s:[{s:s, s:s, s:[{s:s, s:[{s:s, s:[[i,f]]}]}]}]}",
                     "rows", "id", "r", "verdict", "unresolved", "figures",
                     "id", "f", "series", "kind", "line", "points", 1, 2.385);
}

static void all_but_ids_and_verdicts_may_be_missing(void **state)
{
    (void)state;
    tarry_error error = {""};
    json_t *results = least(), *none = json_pack("{s:[]}", "rows");
    if (tarry__report_write(results, path_of("a/b/c"), &error) != TARRY_OK)
        fail_msg("%s", error.text);
    assert_int_equal(count_files(path_of("a/b/c")), 3);
    assert_int_equal(count_files(path_of("a/b/c/figures")), 4);
    char *page = text_of(path_of("a/b/c/index.html"), NULL);
    assert_non_null(strstr(page, "id=\"figure-f\""));
    assert_non_null(strstr(page, "</html>"));
    free(page);
    char *json = text_of(path_of("a/b/c/results.json"), NULL);
    assert_non_null(strstr(json, "2.3849999999999998"));
    free(json);
    assert_int_equal(tarry__report_write(none, path_of("none/"), &error),
                     TARRY_OK);
    assert_ptr_equal(tarry__report_figure(none, "f"), NULL);
    assert_non_null(tarry__report_figure(results, "f"));
    json_decref(results);
    json_decref(none);
}

/* Relative ones too, however short, and with more slashes than needed. */
static void folders_of_any_name_are_made(void **state)
{
    static const char *const names[] = {"r",   "s/t", "u//v", "w/",
                                        "./x", "x/.", "r/y/z"};
    (void)state;
    tarry_error error = {""};
    char *here = getcwd(NULL, 0);
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[100];
        struct stat about;
        for (int again = 0; again < 2; again++)
            if (tarry__report_folders(names[i], &error) != TARRY_OK)
                fail_msg("%s: %s", names[i], error.text);
        snprintf(path, sizeof path, "%s/figures", names[i]);
        assert_int_equal(stat(path, &about), 0);
        assert_true(S_ISDIR(about.st_mode));
    }
    assert_int_equal(chdir(here), 0);
    free(here);
}

static void a_failure_leaves_the_old_page(void **state)
{
    (void)state;
    tarry_error error;
    json_t *results = least();
    char *path = strdup(getenv("PATH"));
    assert_int_equal(tarry__report_write(results, path_of("d"), &error),
                     TARRY_OK);
    char *before = text_of(path_of("d/index.html"), NULL);
    put(json_array_get(json_object_get(results, "rows"), 0), "title",
        json_string("new"));
    setenv("PATH", folder, 1);
    assert_int_equal(tarry__report_write(results, path_of("d"), &error),
                     TARRY_IO_ERROR);
    setenv("PATH", path, 1);
    assert_non_null(strstr(error.text, "gnuplot"));
    char *after = text_of(path_of("d/index.html"), NULL);
    assert_string_equal(before, after);
    assert_int_equal(count_files(path_of("d")), 3);
    free(before);
    free(after);
    free(path);
    json_decref(results);
}

static void a_file_in_the_way_is_named(void **state)
{
    (void)state;
    tarry_error error;
    json_t *results = least();
    fclose(fopen(path_of("file"), "w"));
    assert_int_equal(tarry__report_write(results, path_of("file/x"), &error),
                     TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, "/file"));
    json_decref(results);
}

/* The page as text; NULL: out of memory, and the old one is there. */
static char *write_page(void *results)
{
    tarry_error error;
    const tarry_status status =
        tarry__report_write(results, path_of("m"), &error);
    char *page = text_of(path_of("m/index.html"), NULL);
    if (status == TARRY_OK)
        return page;
    assert_int_equal(status, TARRY_NO_MEMORY);
    free(page);
    return NULL;
}

static void without_memory_nothing_is_left_out(void **state)
{
    (void)state;
    json_t *results = json_pack(
        "{s:[{s:s, s:s, s:[{s:f, s:[i,i]}, {s:s}]}, {s:s, s:s}]}", "rows", "id",
        "r", "verdict", "unresolved", "data", "x", 2.385, "list", 1, 2, "text",
        "x", "id", "q", "verdict", "supported");
    put(results, "config", json_pack("{s:[i], s:i}", "rows", 1, "seed", 1));
    with_each_failure(write_page, results);
    json_decref(results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_but_ids_and_verdicts_may_be_missing),
        cmocka_unit_test(folders_of_any_name_are_made),
        cmocka_unit_test(a_failure_leaves_the_old_page),
        cmocka_unit_test(a_file_in_the_way_is_named),
        cmocka_unit_test(without_memory_nothing_is_left_out),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
