/* .npy files, good and bad, written byte by byte. */
#include "scratch.h"
#include "tarry/arms.h"

#include <math.h>
#include <stdint.h>

typedef struct {
    unsigned char bytes[4096];
    size_t size;
} npy_bytes;

static void put(npy_bytes *file, const void *bytes, size_t size)
{
    assert_true(file->size + size <= sizeof file->bytes);
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
}

/* Magic, version, header length, header. */
static npy_bytes npy_start(int major, const char *header)
{
    const size_t length = strlen(header);
    const unsigned char lengths[] = {length & 255, length >> 8 & 255, 0, 0};
    const unsigned char version[] = {(unsigned char)major, 0};
    npy_bytes file = {.size = 0};
    put(&file, "\x93NUMPY", 6);
    put(&file, version, 2);
    put(&file, lengths, major == 1 ? 2 : 4);
    put(&file, header, length);
    return file;
}

/* As NumPy writes it: the data starts at a multiple of 64. */
static npy_bytes npy_padded(int major, const char *dictionary)
{
    const size_t before = major == 1 ? 10 : 12;
    char header[128];
    size_t length = strlen(dictionary);
    memset(header, ' ', sizeof header);
    memcpy(header, dictionary, length);
    while ((before + length + 1) % 64 != 0)
        length++;
    strcpy(header + length, "\n");
    return npy_start(major, header);
}

static tarry_status read_npy(const npy_bytes *file, tarry_arms **arms,
                             tarry_error *error)
{
    scratch_write(file->bytes, file->size);
    return tarry_arms_read(scratch_path, arms, error);
}

static const double six[] = {2.385, -0.0, 1e300, 5e-324, -7, 0.1};
static const float six_floats[] = {2.385f, -0.0f, 1e30f, 1e-45f, -7, 0.1f};

static void reads_six(const npy_bytes *file, const double *expected)
{
    tarry_arms *arms;
    tarry_error error = {""};
    if (read_npy(file, &arms, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    assert_int_equal(arms->n_arms, 2);
    assert_int_equal(arms->dim, 3);
    assert_null(arms->names);
    assert_int_equal((uintptr_t)arms->data % _Alignof(double), 0);
    assert_memory_equal(arms->data, expected, sizeof six);
    tarry_arms_free(arms);
}

#define DICTIONARY(descr, order, shape)                                        \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

static void float64_is_read_in_versions_1_to_3(void **unused)
{
    (void)unused;
    for (int major = 1; major <= 3; major++) {
        npy_bytes file =
            npy_padded(major, DICTIONARY("'<f8'", "False", "(2, 3)"));
        put(&file, six, sizeof six);
        reads_six(&file, six);
    }
}

static void float32_becomes_double(void **unused)
{
    (void)unused;
    double expected[6];
    for (int i = 0; i < 6; i++)
        expected[i] = six_floats[i];
    npy_bytes file = npy_padded(1, DICTIONARY("'<f4'", "False", "(2, 3)"));
    put(&file, six_floats, sizeof six_floats);
    reads_six(&file, expected);
}

static void fortran_order_is_turned(void **unused)
{
    (void)unused;
    const double turned[] = {six[0], six[3], six[1], six[4], six[2], six[5]};
    npy_bytes file = npy_padded(1, DICTIONARY("'<f8'", "True", "(2, 3)"));
    put(&file, turned, sizeof turned);
    reads_six(&file, six);
}

static void whole_numbers_become_doubles(void **unused)
{
    (void)unused;
    static const double expected[] = {1, -2, 3, 0, 100, -128};
    static const int8_t bytes[] = {1, -2, 3, 0, 100, -128};
    static const int16_t shorts[] = {1, -2, 3, 0, 100, -128};
    static const int32_t ints[] = {1, -2, 3, 0, 100, -128};
    static const int64_t longs[] = {1, -2, 3, 0, 100, -128};
    npy_bytes file = npy_padded(1, DICTIONARY("'|i1'", "False", "(2, 3)"));
    put(&file, bytes, sizeof bytes);
    reads_six(&file, expected);
    file = npy_padded(1, DICTIONARY("'<i2'", "False", "(2, 3)"));
    put(&file, shorts, sizeof shorts);
    reads_six(&file, expected);
    file = npy_padded(1, DICTIONARY("'<i4'", "False", "(2, 3)"));
    put(&file, ints, sizeof ints);
    reads_six(&file, expected);
    file = npy_padded(1, DICTIONARY("'<i8'", "False", "(2, 3)"));
    put(&file, longs, sizeof longs);
    reads_six(&file, expected);
}

/* The largest number of a type is the largest, not -1. */
static void whole_numbers_without_a_sign_have_none(void **unused)
{
    (void)unused;
    static const struct {
        const char *dictionary;
        size_t size;
        double largest;
    } types[] = {
        {DICTIONARY("'|u1'", "False", "(2, 3)"), 1, 255},
        {DICTIONARY("'<u2'", "False", "(2, 3)"), 2, 65535},
        {DICTIONARY("'<u4'", "False", "(2, 3)"), 4, 4294967295},
        {DICTIONARY("'<u8'", "False", "(2, 3)"), 8, 18446744073709551616.0},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        double expected[6];
        npy_bytes file = npy_padded(1, types[i].dictionary);
        for (uint64_t k = 0; k < 6; k++) {
            const uint64_t value = k < 3 ? UINT64_MAX : k;
            put(&file, &value, types[i].size);
            expected[k] = k < 3 ? types[i].largest : (double)k;
        }
        reads_six(&file, expected);
    }
    static const double bits[] = {1, 0, 1, 1, 0, 0};
    npy_bytes file = npy_padded(1, DICTIONARY("'|b1'", "False", "(2, 3)"));
    put(&file, "\1\0\1\1\0\0", 6);
    reads_six(&file, bits);
}

/* Every type in both orders, a number of its own in every place. */
static void every_type_is_read_in_both_orders(void **unused)
{
    (void)unused;
    enum { ROWS = 3, COLUMNS = 4 };
    static const char *const types[] = {"<f8", "<f4", "|i1", "<i2",
                                        "<i4", "<i8", "|u1", "<u2",
                                        "<u4", "<u8", "|b1"};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int fortran = 0; fortran <= 1; fortran++) {
            char header[128];
            snprintf(header, sizeof header,
                     "{'descr': '%s', 'fortran_order': %s, 'shape': (%d, %d), "
                     "}",
                     types[t], fortran ? "True" : "False", ROWS, COLUMNS);
            npy_bytes file = npy_padded(1, header);
            for (size_t i = 0; i < ROWS * COLUMNS; i++) {
                const uint64_t whole = i + 1;
                const double real = (double)whole;
                const float shorter = (float)whole;
                const size_t size = (size_t)(types[t][2] - '0');
                put(&file,
                    types[t][1] != 'f' ? (const void *)&whole
                    : size == 8        ? (const void *)&real
                                       : (const void *)&shorter,
                    size);
            }
            tarry_arms *arms;
            assert_int_equal(read_npy(&file, &arms, NULL), TARRY_OK);
            assert_int_equal(arms->n_arms, ROWS);
            assert_int_equal(arms->dim, COLUMNS);
            for (size_t k = 0; k < ROWS; k++)
                for (size_t i = 0; i < COLUMNS; i++)
                    assert_true(
                        arms->data[k * COLUMNS + i] ==
                        (double)(fortran ? i * ROWS + k : k * COLUMNS + i) + 1);
            tarry_arms_free(arms);
        }
}

/* Their length has more than one byte that is not 0. */
static void headers_may_be_long(void **unused)
{
    (void)unused;
    static const size_t lengths[] = {255, 256, 257, 511, 1000, 3000};
    for (int major = 1; major <= 3; major++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            static const char start[] = DICTIONARY("'<f8'", "False", "(2, 3)");
            char header[3001];
            memset(header, ' ', lengths[i]);
            memcpy(header, start, sizeof start - 1);
            header[lengths[i]] = '\0';
            npy_bytes file = npy_start(major, header);
            put(&file, six, sizeof six);
            reads_six(&file, six);
        }
}

static void one_dimension_is_one_number_per_row(void **unused)
{
    (void)unused;
    npy_bytes file = npy_padded(1, DICTIONARY("'<f8'", "False", "(6,)"));
    tarry_arms *arms;
    put(&file, six, sizeof six);
    assert_int_equal(read_npy(&file, &arms, NULL), TARRY_OK);
    assert_int_equal(arms->n_arms, 6);
    assert_int_equal(arms->dim, 1);
    assert_memory_equal(arms->data, six, sizeof six);
    tarry_arms_free(arms);
}

static void data_without_alignment_is_read(void **unused)
{
    (void)unused;
    static const char *const headers[] = {
        DICTIONARY("'<f8'", "False", "(2, 3)"),
        DICTIONARY("'<f8'", "False", "(2, 3)") " ",
        DICTIONARY("'<f8'", "False", "(2, 3)") "  \n"};
    for (size_t i = 0; i < 3; i++) {
        npy_bytes file = npy_start(1, headers[i]);
        put(&file, six, sizeof six);
        reads_six(&file, six);
    }
}

static void keys_come_in_any_order_and_spacing(void **unused)
{
    (void)unused;
    static const char *const headers[] = {
        "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f8'}\n",
        "{'fortran_order':False,'shape':(2,3),'descr':'<f8',}\n",
        ("  {  'fortran_order' : False , 'descr' : '<f8' , 'shape' : ( 2 , 3 ,"
         " ) , }  \n")};
    for (size_t i = 0; i < 3; i++) {
        npy_bytes file = npy_start(1, headers[i]);
        put(&file, six, sizeof six);
        reads_six(&file, six);
    }
}

/* ---- bad files ----------------------------------------------------------- */

static void refuses(const npy_bytes *file, tarry_status status,
                    const char *says)
{
    tarry_arms *arms = (tarry_arms *)file;
    tarry_error error = {""};
    const tarry_status got = read_npy(file, &arms, &error);
    if (got != status || arms != NULL || strstr(error.text, says) == NULL ||
        strncmp(error.text, scratch_path, strlen(scratch_path)) != 0)
        fail_msg("wanted %s, '%s'; got %s, '%s'", tarry_status_name(status),
                 says, tarry_status_name(got), error.text);
}

static const struct {
    const char *dictionary, *says;
} bad_headers[] = {
    {DICTIONARY("'>f8'", "False", "(2, 3)"), "little-endian"},
    {DICTIONARY("'>f8'", "False", "(2, 3)"), "not '>f8'"},
    {DICTIONARY("'>i8'", "False", "(2, 3)"), "not '>i8'"},
    {DICTIONARY("'<c16'", "False", "(2, 3)"), "not '<c16'"},
    {DICTIONARY("'<f2'", "False", "(2, 3)"), "not '<f2'"},
    {DICTIONARY("'|O'", "False", "(2, 3)"), "not '|O'"},
    {DICTIONARY("''", "False", "(2, 3)"), "not ''"},
    {DICTIONARY("'<f8'", "False", "()"), "not 0"},
    {DICTIONARY("'<f8'", "False", "(7,)"), "cut off: shape (7, 1)"},
    {DICTIONARY("'<f8'", "False", "(1, 2, 3)"), "not 3"},
    {DICTIONARY("'<f8'", "False", "(0, 3)"), "empty: shape (0, 3)"},
    {DICTIONARY("'<f8'", "False", "(2, 0)"), "empty: shape (2, 0)"},
    {DICTIONARY("'<f8'", "False", "(2, 4)"), "cut off: shape (2, 4) needs 64"},
    {DICTIONARY("'<f8'", "False", "(1, 5)"), "too long: shape (1, 5) needs 40"},
    {DICTIONARY("'<f8'", "False", "(4294967296, 4294967296)"), "too large"},
    {DICTIONARY("'<f8'", "False", "(2305843009213693952, 1)"), "too large"},
    {DICTIONARY("'<f8'", "False", "(99999999999999999999, 1)"), "malformed"},
    {DICTIONARY("'<f8'", "False", "(-2, 3)"), "malformed at: '-2, 3)"},
    {DICTIONARY("'<f8'", "False", "(2L, 3L)"), "malformed at: 'L, 3L)"},
    {DICTIONARY("'<f8'", "False", "(2 3)"), "malformed at: '3)"},
    {DICTIONARY("'<f8'", "False", "(,2, 3)"), "malformed at: ',2, 3)"},
    {DICTIONARY("'<f8'", "False", "2, 3"), "malformed at: '2, 3"},
    {DICTIONARY("'<f8'", "False", "(2, 3"), "malformed at: '"},
    {DICTIONARY("'<f8'", "Maybe", "(2, 3)"), "malformed at: 'Maybe"},
    {DICTIONARY("'<f8'", "0", "(2, 3)"), "malformed at: '0"},
    {DICTIONARY("<f8", "False", "(2, 3)"), "malformed at: '<f8"},
    {DICTIONARY("[('x', '<f8')]", "False", "(2, 3)"), "malformed at: '[('x'"},
    {"{'descr': '<f8', 'shape': (2, 3)}", "lacks"},
    {"{'descr': '<f8', 'fortran_order': False}", "lacks"},
    {"{'fortran_order': False, 'shape': (2, 3)}", "lacks"},
    {"{}", "lacks"},
    {"", "malformed"},
    {"{", "malformed"},
    {"[]", "malformed at: '[]"},
    {"{'descr': '<f8", "malformed"},
    {"{'descr': '<f8' 'fortran_order': False, 'shape': (2, 3)}", "malformed"},
    {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, "
     "3)}",
     "malformed"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'x': 1}",
     "malformed at: ''x': 1"},
    {DICTIONARY("'<f8'", "False", "(2, 3)") " junk", "malformed at: 'junk"},
    {DICTIONARY("'<f8'", "False", "(2, 3)") "}", "malformed at: '}"},
};

static void malformed_or_unfit_headers_are_refused(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof bad_headers / sizeof *bad_headers; i++) {
        npy_bytes file = npy_start(2, bad_headers[i].dictionary);
        put(&file, six, sizeof six);
        refuses(&file, TARRY_BAD_INPUT, bad_headers[i].says);
    }
}

static void unknown_versions_are_refused(void **unused)
{
    (void)unused;
    npy_bytes file = npy_padded(1, DICTIONARY("'<f8'", "False", "(2, 3)"));
    put(&file, six, sizeof six);
    file.bytes[6] = 4;
    refuses(&file, TARRY_BAD_INPUT, "version 4.0");
    file.bytes[6] = 0;
    refuses(&file, TARRY_BAD_INPUT, "version 0.0");
    file.bytes[6] = 255;
    refuses(&file, TARRY_BAD_INPUT, "version 255.0");
    file.bytes[6] = 1;
    file.bytes[7] = 1;
    refuses(&file, TARRY_BAD_INPUT, "version 1.1");
}

static void a_header_longer_than_the_file_is_refused(void **unused)
{
    (void)unused;
    npy_bytes file = npy_start(2, DICTIONARY("'<f8'", "False", "(2, 3)"));
    memset(file.bytes + 8, 255, 4);
    refuses(&file, TARRY_BAD_INPUT, "header is cut off");
}

/* In all formats a cut at any byte is noticed; so is one byte too many. */
static void a_file_of_any_other_length_is_refused(void **unused)
{
    (void)unused;
    for (int major = 1; major <= 2; major++) {
        npy_bytes file =
            npy_padded(major, DICTIONARY("'<f8'", "False", "(2, 3)"));
        put(&file, six, sizeof six);
        for (size_t size = 6; size < file.size; size++) {
            npy_bytes cut = file;
            cut.size = size;
            refuses(&cut, TARRY_BAD_INPUT, "cut off");
        }
        put(&file, "", 1);
        refuses(&file, TARRY_BAD_INPUT, "too long");
    }
}

static void
values_that_are_not_finite_are_refused_with_their_place(void **unused)
{
    (void)unused;
    static const double bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (size_t at = 0; at < 6; at++)
        for (size_t b = 0; b < 4; b++) {
            double values[6];
            memcpy(values, six, sizeof six);
            values[at] = bad[b];
            npy_bytes file =
                npy_padded(1, DICTIONARY("'<f8'", "False", "(2, 3)"));
            put(&file, values, sizeof values);
            char says[96];
            snprintf(says, sizeof says,
                     "row %zu, column %zu, counted from 0: not a finite "
                     "number: '%g'",
                     at / 3, at % 3, bad[b]);
            refuses(&file, TARRY_NOT_FINITE, says);
        }
}

static void a_float32_infinity_is_refused(void **unused)
{
    (void)unused;
    const float values[] = {1, 2, 3, 4, INFINITY, 6};
    npy_bytes file = npy_padded(1, DICTIONARY("'<f4'", "False", "(2, 3)"));
    put(&file, values, sizeof values);
    refuses(&file, TARRY_NOT_FINITE, "row 1, column 1,");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float64_is_read_in_versions_1_to_3),
        cmocka_unit_test(float32_becomes_double),
        cmocka_unit_test(fortran_order_is_turned),
        cmocka_unit_test(whole_numbers_become_doubles),
        cmocka_unit_test(whole_numbers_without_a_sign_have_none),
        cmocka_unit_test(every_type_is_read_in_both_orders),
        cmocka_unit_test(headers_may_be_long),
        cmocka_unit_test(one_dimension_is_one_number_per_row),
        cmocka_unit_test(data_without_alignment_is_read),
        cmocka_unit_test(keys_come_in_any_order_and_spacing),
        cmocka_unit_test(malformed_or_unfit_headers_are_refused),
        cmocka_unit_test(unknown_versions_are_refused),
        cmocka_unit_test(a_header_longer_than_the_file_is_refused),
        cmocka_unit_test(a_file_of_any_other_length_is_refused),
        cmocka_unit_test(
            values_that_are_not_finite_are_refused_with_their_place),
        cmocka_unit_test(a_float32_infinity_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
