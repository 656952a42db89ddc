/* CSV files, good and bad. */
#include "scratch.h"
#include "tarry/arms.h"

#include <math.h>

static tarry_arms *read_text(const char *text, size_t size)
{
    scratch_write(text, size);
    tarry_arms *arms;
    tarry_error error = {""};
    if (tarry_arms_read(scratch_path, &arms, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    return arms;
}

/* ---- good files ---------------------------------------------------------- */

/* All of these hold the arms (1.5, -2) and (0.25, 3e4). */
static void numbers_are_read_in_every_dress(void **unused)
{
    (void)unused;
    static const char *const files[] = {
        "1.5,-2\n0.25,3e4\n",
        "1.5,-2\n0.25,3e4",
        "1.5,-2\r\n0.25,3e4\r\n",
        "1.5,-2\r\n0.25,3e4\r",
        "\xEF\xBB\xBF"
        "1.5,-2\n0.25,3e4\n",
        "1.5,-2\n0.25,3e4\n\n\r\n  \n\t",
        "x,y\n1.5,-2\n0.25,3e4\n",
        "\xEF\xBB\xBF\"x\",\"y\"\r\n1.5,-2\r\n0.25,3e4\r\n",
        "1,y\n1.5,-2\n0.25,3e4\n",
        "x,\"a \"\"y\"\", or z\"\n1.5,-2\n0.25,3e4\n",
        "# x,y\n1.5,-2\n0.25,3e4\n",
        ",y\n1.5,-2\n0.25,3e4\n",
        " 1.5 , -2 \n\t0.25\t,\t3e4\t\n",
        "+1.5,-2.\n.25,3E+4\n",
        "1.5;-2\n0.25;3e4\n",
        "x; y\n1.5 ; -2\n0.25;\t3e4\n",
        "x\ty\r\n1.5\t-2\r\n 0.25 \t3e4\r\n",
        "0000000000000000000001.5,-2.00000000000000000000000000\n25e-2,30000\n",
        "1.500000000000000000e+00,-2.000000000000000000e+00\n"
        "2.500000000000000000e-01,3.000000000000000000e+04\n",
    };
    static const double expected[] = {1.5, -2, 0.25, 3e4};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tarry_arms *arms = read_text(files[i], strlen(files[i]));
        assert_int_equal(arms->n_arms, 2);
        assert_int_equal(arms->dim, 2);
        assert_null(arms->names);
        assert_memory_equal(arms->data, expected, sizeof expected);
        tarry_arms_free(arms);
    }
}

static void a_first_column_of_words_names_the_arms(void **unused)
{
    (void)unused;
    static const char text[] = "arm,x\n"
                               "plain,2.385\n"
                               "  with spaces  , 1\n"
                               "\"say \"\"hi\"\", you\",-7\n"
                               " \"\" ,3\n"
                               "17,4\n"
                               "nan,5\n"
                               "gr\xC3\xBC\xC3\x9F,6";
    static const char *const names[] = {
        "plain", "with spaces", "say \"hi\", you",   "",
        "17",    "nan",         "gr\xC3\xBC\xC3\x9F"};
    tarry_arms *arms = read_text(text, strlen(text));
    assert_int_equal(arms->n_arms, 7);
    assert_int_equal(arms->dim, 1);
    for (size_t k = 0; k < 7; k++)
        assert_string_equal(arms->names[k], names[k]);
    assert_true(arms->data[0] == 2.385 && arms->data[6] == 6);
    tarry_arms_free(arms);
}

/* Numbers can be names, if the header says that they are. */
static void a_column_of_ids_names_the_arms(void **unused)
{
    (void)unused;
    static const char *const files[] = {
        "id,x\n17,2.5\n4,1\n", "ID;x\n17;2.5\n4;1\n",
        "name\tx\n17\t2.5\n4\t1\n", " Name ,x\n17,2.5\n4,1\n"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tarry_arms *arms = read_text(files[i], strlen(files[i]));
        assert_int_equal(arms->n_arms, 2);
        assert_int_equal(arms->dim, 1);
        assert_string_equal(arms->names[0], "17");
        assert_string_equal(arms->names[1], "4");
        assert_true(arms->data[0] == 2.5 && arms->data[1] == 1);
        tarry_arms_free(arms);
    }
    tarry_arms *arms = read_text("arm,x\n17,2.5\n", 13);
    assert_int_equal(arms->dim, 2);
    tarry_arms_free(arms);
}

static void names_need_no_header(void **unused)
{
    (void)unused;
    static const char text[] = "a,1,2\n\"1.5\",3,4\n";
    tarry_arms *arms = read_text(text, strlen(text));
    assert_int_equal(arms->n_arms, 2);
    assert_int_equal(arms->dim, 2);
    assert_string_equal(arms->names[0], "a");
    assert_string_equal(arms->names[1], "1.5");
    assert_true(arms->data[3] == 4);
    tarry_arms_free(arms);
}

static void one_number_is_an_arm(void **unused)
{
    (void)unused;
    tarry_arms *arms = read_text("7", 1);
    assert_int_equal(arms->n_arms, 1);
    assert_int_equal(arms->dim, 1);
    assert_true(arms->data[0] == 7);
    tarry_arms_free(arms);
}

static void a_single_column_may_have_a_header(void **unused)
{
    (void)unused;
    tarry_arms *arms = read_text("x\n1\n2\n", 6);
    assert_int_equal(arms->n_arms, 2);
    assert_int_equal(arms->dim, 1);
    assert_true(arms->data[1] == 2);
    tarry_arms_free(arms);
}

static void numbers_too_small_for_a_double_become_small_or_zero(void **unused)
{
    (void)unused;
    static const char text[] = "1e-400,-1e-400,5e-324\n";
    tarry_arms *arms = read_text(text, strlen(text));
    assert_true(arms->data[0] == 0 && arms->data[1] == 0);
    assert_true(signbit(arms->data[1]));
    assert_true(arms->data[2] == 5e-324);
    tarry_arms_free(arms);
}

/* 3000 arms of 40 coordinates with names of up to 50 letters: the values and
 * the names that come back are the ones written. */
static void what_was_printed_comes_back(void **unused)
{
    (void)unused;
    enum { ARMS = 3000, DIM = 40 };
    uint64_t state = 2385;
    FILE *file = fopen(scratch_path, "w");
    for (int k = 0; k < ARMS; k++) {
        fprintf(file, "%0*d!", 1 + k % 50, k);
        for (int i = 0; i < DIM; i++)
            fprintf(file, ",%.17g", (double)(random_bits(&state) >> 11) / 3);
        fprintf(file, "\n");
    }
    fclose(file);
    tarry_arms *arms;
    assert_int_equal(tarry_arms_read(scratch_path, &arms, NULL), TARRY_OK);
    assert_int_equal(arms->n_arms, ARMS);
    assert_int_equal(arms->dim, DIM);
    state = 2385;
    for (int k = 0; k < ARMS; k++) {
        char name[64];
        snprintf(name, sizeof name, "%0*d!", 1 + k % 50, k);
        assert_string_equal(arms->names[k], name);
        for (int i = 0; i < DIM; i++)
            assert_true(arms->data[k * DIM + i] ==
                        (double)(random_bits(&state) >> 11) / 3);
    }
    tarry_arms_free(arms);
}

static void a_line_of_a_million_numbers_is_fine(void **unused)
{
    (void)unused;
    enum { DIM = 1000000 };
    char *text = malloc(4 * DIM);
    for (size_t i = 0; i < DIM; i++)
        memcpy(text + 4 * i, "-.5,", 4);
    tarry_arms *arms = read_text(text, 4 * DIM - 1);
    free(text);
    assert_int_equal(arms->n_arms, 1);
    assert_int_equal(arms->dim, DIM);
    assert_true(arms->data[DIM - 1] == -.5);
    tarry_arms_free(arms);
}

/* ---- bad files ----------------------------------------------------------- */

typedef struct {
    const char *text;
    size_t size;
    tarry_status status;
    const char *says; /* comes after the file's name in the error line */
} bad_file;

#define BAD(text, status, says)                                                \
    {                                                                          \
        text, sizeof text - 1, TARRY_##status, says                            \
    }

static const bad_file bad_files[] = {
    BAD("", BAD_INPUT, ": the file is empty"),
    BAD("\n", BAD_INPUT, ": the file is empty"),
    BAD(" \r\n\t\n", BAD_INPUT, ": the file is empty"),
    BAD("\xEF\xBB\xBF", BAD_INPUT, ": the file is empty"),
    BAD("x,y\n", BAD_INPUT, ":1:1: a header without arms: 'x,y'"),
    BAD("x,y\n\n\n", BAD_INPUT, ":1:1: a header without arms: 'x,y'"),
    BAD("word", BAD_INPUT, ":1:1: a header without arms: 'word'"),
    BAD("1;2;3\n4;5,6\n", BAD_INPUT, ":2:2: not a number: '5,6'"),
    BAD("1;2\n0,5;1\n", BAD_INPUT, ":2:1: not a number: '0,5'"),
    BAD("1\t2\n3\t\n", BAD_INPUT, ":2:2: empty field: ''"),
    BAD("1 2 3\n4 5 6\n", BAD_INPUT, ":2:1: not a number: '4 5 6'"),
    BAD("1,2\n3\n", BAD_INPUT,
        ":2:1: the number of columns is 1, in the first line it is 2"),
    BAD("1,2\n3,4,5\n", BAD_INPUT,
        ":2:3: the number of columns is 3, in the first "
        "line it is 2: '3,4,5'"),
    BAD("x,y\n3,4,5\n", BAD_INPUT, ":2:3: the number of columns is 3, "),
    BAD("x,y,z\n3,4\n", BAD_INPUT, ":2:2: the number of columns is 2, "),
    BAD("a,1\nb\n", BAD_INPUT, ":2:1: the number of columns is 1, "),
    BAD("a,1\nb,1,2\n", BAD_INPUT, ":2:3: the number of columns is 3, "),
    BAD("1,2,\n3,4,\n", BAD_INPUT, ":1:3: empty field: ''"),
    BAD("1,2\n3,4,\n", BAD_INPUT, ":2:3: the number of columns is 3, "),
    BAD("1,2\n3,\n", BAD_INPUT, ":2:2: empty field: ''"),
    BAD("1,2\n,4\n", BAD_INPUT, ":2:1: empty field: ''"),
    BAD("1, ,2\n", BAD_INPUT, ":1:2: empty field: ''"),
    BAD(",1,2\n", BAD_INPUT, ":1:1: empty field: ''"),
    BAD(",\n", BAD_INPUT, ":1:1: empty field: ''"),
    BAD("a,1\n,2\n", BAD_INPUT, ":2:1: empty field: ''"),
    BAD("1,2\nfoo,3\n", BAD_INPUT, ":2:1: not a number: 'foo'"),
    BAD("1,2\nfoo,3,4\n", BAD_INPUT, ":2:1: not a number: 'foo'"),
    BAD("1,2\n3,foo\n", BAD_INPUT, ":2:2: not a number: 'foo'"),
    BAD("a,1\nb,foo\n", BAD_INPUT, ":2:2: not a number: 'foo'"),
    BAD("1,2,3x\n4,5,6\n", BAD_INPUT, ":1:3: not a number: '3x'"),
    BAD("a\nb\nc\n", BAD_INPUT, ":2:1: not a number: 'b'"),
    BAD("1,2\n3,4 5\n", BAD_INPUT, ":2:2: not a number: '4 5'"),
    BAD("1,2\n3,0x1F\n", BAD_INPUT, ":2:2: not a number: '0x1F'"),
    BAD("1,2\n3,0x1p-3\n", BAD_INPUT, ":2:2: not a number: '0x1p-3'"),
    BAD("1,2\n3,1.2.3\n", BAD_INPUT, ":2:2: not a number: '1.2.3'"),
    BAD("1,2\n3,1e\n", BAD_INPUT, ":2:2: not a number: '1e'"),
    BAD("1,2\n3,1e+\n", BAD_INPUT, ":2:2: not a number: '1e+'"),
    BAD("1,2\n3,.\n", BAD_INPUT, ":2:2: not a number: '.'"),
    BAD("1,2\n3,--4\n", BAD_INPUT, ":2:2: not a number: '--4'"),
    BAD("1,2\n3,- 4\n", BAD_INPUT, ":2:2: not a number: '- 4'"),
    BAD("1,2\n3,1_000\n", BAD_INPUT, ":2:2: not a number: '1_000'"),
    BAD("1,2\n3,\"4\"\n", BAD_INPUT, ":2:2: not a number: '\"4\"'"),
    BAD("1,2\n3,\"4,5\"\n", BAD_INPUT, ":2:2: not a number: '\"4,5\"'"),
    BAD("1,2\r3,4\r", BAD_INPUT, ":1:2: not a number: '2?3'"),
    BAD("1,nan\n", NOT_FINITE, ":1:2: not a finite number: 'nan'"),
    BAD("nan,1\n", NOT_FINITE, ":1:1: not a finite number: 'nan'"),
    BAD("NaN\n1\n", NOT_FINITE, ":1:1: not a finite number: 'NaN'"),
    BAD("1,2\n3,-NAN\n", NOT_FINITE, ":2:2: not a finite number: '-NAN'"),
    BAD("1,2\n3,nan(7)\n", NOT_FINITE, ":2:2: not a finite number: 'nan(7)'"),
    BAD("1,2\n3, inf \n", NOT_FINITE, ":2:2: not a finite number: 'inf'"),
    BAD("-Inf,+INFINITY\n", NOT_FINITE, ":1:1: not a finite number: '-Inf'"),
    BAD("a,infinity\n", NOT_FINITE, ":1:2: not a finite number: 'infinity'"),
    BAD("1,1e999\n", NOT_FINITE, ":1:2: too large a number: '1e999'"),
    BAD("1,-1.8e308\n", NOT_FINITE, ":1:2: too large a number: '-1.8e308'"),
    BAD("1e99999999999999999999\n", NOT_FINITE, ":1:1: too large a number"),
    BAD("1,2\n\n3,4\n", BAD_INPUT, ":2:1: empty line: ''"),
    BAD("1,2\r\n \t\r\n3,4\r\n", BAD_INPUT, ":2:1: empty line: ''"),
    BAD("\n1,2\n", BAD_INPUT, ":1:1: empty line: ''"),
    BAD("x,y\n\n1,2\n", BAD_INPUT, ":2:1: empty line: ''"),
    BAD("1,\0", BAD_INPUT, ":1:2: "),
    BAD("1,2\n3,4\0\n", BAD_INPUT, ":2:2: not a number: '4?'"),
    BAD("1,2\n\0\n", BAD_INPUT, ":2:1: not a number: '?'"),
    BAD("x\0,y\n1,2\n", BAD_INPUT, ":1:1: NUL byte in text: 'x?'"),
    BAD("a,1\nb\0c,2\n", BAD_INPUT, ":2:1: NUL byte in text: 'b?c'"),
    BAD("1\0,2\0\n", BAD_INPUT, ":1:1: "),
    BAD("\"a,1\nb,2\n", BAD_INPUT, ":1:1: misplaced quote: '\"a,1'"),
    BAD("\"\n1\n", BAD_INPUT, ":1:1: misplaced quote: '\"'"),
    BAD("x,\"y\n1,2\n", BAD_INPUT, ":1:2: misplaced quote: '\"y'"),
    BAD("x,y\"\n1,2\n", BAD_INPUT, ":1:2: misplaced quote: 'y\"'"),
    BAD("a,1\n\"b,2\n", BAD_INPUT, ":2:1: misplaced quote: '\"b,2'"),
    BAD("a,1\nb\"\",2\n", BAD_INPUT, ":2:1: misplaced quote: 'b\"\"'"),
    BAD("a,1\n\"b\"c,2\n", BAD_INPUT, ":2:1: misplaced quote: '\"b\"c'"),
    BAD("a,1\n\"b\"cd,2\n", BAD_INPUT, ":2:1: misplaced quote: '\"b\"cd'"),
    BAD("a,1\n\"b\"\",2\n", BAD_INPUT, ":2:1: misplaced quote"),
    BAD("a,1\n\"two\nlines\",2\n", BAD_INPUT, ":2:1: misplaced quote: '\"two'"),
    BAD("1,2\n3,\x1b[31mred\n", BAD_INPUT, ":2:2: not a number: '?[31mred'"),
    BAD("1,2\n3,\xff\xfe\n", BAD_INPUT, ":2:2: not a number: '\?\?'"),
};

static void refuses(const bad_file *file)
{
    scratch_write(file->text, file->size);
    tarry_arms *arms = (tarry_arms *)file;
    tarry_error error = {""};
    const tarry_status status = tarry_arms_read(scratch_path, &arms, &error);
    const size_t name_length = strlen(scratch_path);
    if (status != file->status || arms != NULL ||
        strncmp(error.text, scratch_path, name_length) != 0 ||
        strncmp(error.text + name_length, file->says, strlen(file->says)) != 0)
        fail_msg("wanted %s, '%s'; got %s, '%s'",
                 tarry_status_name(file->status), file->says,
                 tarry_status_name(status), error.text);
}

static void what_is_malformed_is_refused_with_its_place(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++)
        refuses(&bad_files[i]);
}

static void a_long_value_is_cut_in_the_error_line(void **unused)
{
    (void)unused;
    enum { SIZE = 1000000 };
    char *text = malloc(SIZE);
    memset(text, 'z', SIZE);
    memcpy(text, "1,2\n3,", 6);
    const bad_file file = {
        text, SIZE, TARRY_BAD_INPUT,
        ":2:2: not a number: 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz...'"};
    refuses(&file);
    free(text);
}

/* 40 letters are shown whole; of more, the first 40. */
static void values_of_just_that_length_are_not_cut(void **unused)
{
    (void)unused;
    for (int length = 38; length <= 42; length++) {
        char text[80], says[120];
        sprintf(text, "1,2\n3,%0*d", length, 0);
        text[4 + 2] = 'z';
        sprintf(says, ":2:2: not a number: 'z%0*d%s'",
                (length < 40 ? length : 40) - 1, 0, length > 40 ? "..." : "");
        const bad_file file = {text, strlen(text), TARRY_BAD_INPUT, says};
        refuses(&file);
    }
}

/* A comma in the first line decides, wherever the other signs stand. */
static void commas_come_before_other_separators(void **unused)
{
    (void)unused;
    static const char *const files[] = {
        "a;b,1.5,-2\nc,0.25,3e4\n", "a\tb,1.5,-2\nc,0.25,3e4\n",
        "x;y,z\n1.5,-2\n0.25,3e4\n", "x,y\tz;\n1.5,-2\n0.25,3e4\n"};
    static const double expected[] = {1.5, -2, 0.25, 3e4};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tarry_arms *arms = read_text(files[i], strlen(files[i]));
        assert_int_equal(arms->n_arms, 2);
        assert_int_equal(arms->dim, 2);
        assert_memory_equal(arms->data, expected, sizeof expected);
        tarry_arms_free(arms);
    }
    tarry_arms *arms = read_text("a\tb;1\nc;2\n", 10);
    assert_int_equal(arms->dim, 1);
    assert_string_equal(arms->names[0], "a\tb");
    tarry_arms_free(arms);
}

/* Asking for lines times columns would be 8 terabytes here. */
static void one_wide_line_and_many_short_ones_ask_for_little(void **unused)
{
    (void)unused;
    enum { SIZE = 4000000 };
    char *text = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i += 2)
        memcpy(text + i, i < SIZE / 2 ? "1," : "1\n", 2);
    const bad_file file = {
        text, SIZE, TARRY_BAD_INPUT,
        ":2:1: the number of columns is 1, in the first line it is 1000001"};
    refuses(&file);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_in_every_dress),
        cmocka_unit_test(a_first_column_of_words_names_the_arms),
        cmocka_unit_test(a_column_of_ids_names_the_arms),
        cmocka_unit_test(names_need_no_header),
        cmocka_unit_test(one_number_is_an_arm),
        cmocka_unit_test(a_single_column_may_have_a_header),
        cmocka_unit_test(numbers_too_small_for_a_double_become_small_or_zero),
        cmocka_unit_test(what_was_printed_comes_back),
        cmocka_unit_test(a_line_of_a_million_numbers_is_fine),
        cmocka_unit_test(what_is_malformed_is_refused_with_its_place),
        cmocka_unit_test(a_long_value_is_cut_in_the_error_line),
        cmocka_unit_test(values_of_just_that_length_are_not_cut),
        cmocka_unit_test(commas_come_before_other_separators),
        cmocka_unit_test(one_wide_line_and_many_short_ones_ask_for_little),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
