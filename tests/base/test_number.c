/* Numbers must have the bits that strtod gives them.  Each text is read from
 * a block of exactly its size, so that a sanitizer sees any step beyond it. */
#include "arms/scratch.h"
#include "base/number.h"

#include <locale.h>
#include <math.h>

enum { MANY = 500000 };

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void check(const char *text)
{
    const size_t length = strlen(text);
    char *exact = malloc(length);
    memcpy(exact, text, length);
    double value = 0;
    const char *stop = tarry__number_read(exact, exact + length, &value);
    const int is_whole = stop == exact + length;
    free(exact);
    if (!is_whole || bits_of(value) != bits_of(strtod(text, NULL)))
        fail_msg("%.60s: %a, strtod says %a", text, value, strtod(text, NULL));
}

static double random_double(uint64_t *state)
{
    for (;;) {
        const uint64_t bits = random_bits(state);
        double x;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x))
            return x;
    }
}

/* In (-1, 1), a few thousand times smaller now and then. */
static double random_coordinate(uint64_t *state)
{
    const double x = ldexp((double)(int64_t)random_bits(state), -63);
    return ldexp(x, -(int)random_below(state, 12));
}

static void doubles_of_every_size_are_read_as_strtod_does(void **unused)
{
    (void)unused;
    uint64_t state = 2385;
    char text[64];
    for (int i = 0; i < MANY / 2; i++) {
        const double x = random_double(&state);
        snprintf(text, sizeof text, "%.17g", x);
        check(text);
        snprintf(text, sizeof text, "%.18e", x);
        check(text);
    }
}

static void coordinates_are_read_as_strtod_does(void **unused)
{
    (void)unused;
    static const char *const formats[] = {"%.17g", "%.18e", "%.3f",
                                          "%.6f",  "%+g",   "%.20f"};
    uint64_t state = 7;
    char text[64];
    for (int i = 0; i < MANY / 2; i++)
        for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
            snprintf(text, sizeof text, formats[k], random_coordinate(&state));
            check(text);
        }
}

/* Up to 40 digits with a point anywhere, often with an exponent. */
static void random_digits_are_read_as_strtod_does(void **unused)
{
    (void)unused;
    uint64_t state = 11;
    char text[80];
    for (int i = 0; i < 2 * MANY; i++) {
        const size_t n = 1 + random_below(&state, i % 2 ? 19 : 40);
        const size_t point = random_below(&state, n + 2);
        size_t length = 0;
        for (size_t k = 0; k < n; k++) {
            if (k == point)
                text[length++] = '.';
            text[length++] = (char)('0' + random_below(&state, 10));
        }
        const int range = i % 3 == 0 ? 700 : 60;
        const int exponent = (int)random_below(&state, range) - range / 2;
        text[length] = '\0';
        if (i % 5 != 0)
            snprintf(text + length, 16, "e%d", exponent);
        check(text);
    }
}

/* M * 2^-j with a 54-bit odd M lies halfway between two doubles; in decimal
 * it is M 5^j / 10^j, of at most 19 digits for j <= 3.  Its neighbours in
 * the last digit must go to different sides. */
static void halfway_cases_below_one_unit_round_to_even(void **unused)
{
    (void)unused;
    uint64_t state = 13, five = 1;
    char text[64];
    for (int j = 0; j <= 3; j++, five *= 5)
        for (int i = 0; i < MANY / 10; i++) {
            const uint64_t odd =
                random_bits(&state) >> 10 | 1 | (uint64_t)1 << 53;
            for (int step = -1; step <= 1; step++) {
                const uint64_t w = odd * five + (uint64_t)step;
                snprintf(text, sizeof text, "%llue-%d", (unsigned long long)w,
                         j);
                check(text);
            }
        }
}

/* Also w 10^q, if w 5^q is odd and of 54 bits. */
static void halfway_cases_with_large_exponents_round_to_even(void **unused)
{
    (void)unused;
    uint64_t state = 17, five = 1;
    char text[64];
    for (int q = 0; q <= 22; q++, five *= 5)
        for (int i = 0; i < MANY / 50; i++) {
            const uint64_t low = ((uint64_t)1 << 53) / five;
            const uint64_t w = (low + random_below(&state, low)) | 1;
            snprintf(text, sizeof text, "%llue%d", (unsigned long long)w, q);
            check(text);
        }
}

/* The exact decimal expansion of a halfway point, then a digit more, some
 * hundred zeros later. */
static void halfway_cases_of_hundreds_of_digits_are_exact(void **unused)
{
    (void)unused;
    uint64_t state = 19;
    char text[2400];
    for (int i = 0; i < 4000; i++) {
        const double x = fabs(random_double(&state));
        const long double above = nextafter(x, INFINITY);
        const int n =
            snprintf(text, sizeof text, "%.1100Lf", x + (above - x) / 2);
        check(text);
        memset(text + n, '0', 500);
        strcpy(text + n + 500, "1");
        check(text);
    }
}

/* One digit far behind a halfway case decides, wherever it stands. */
static void a_digit_anywhere_in_a_long_tail_is_seen(void **unused)
{
    (void)unused;
    static const char halfway[] = /* 1 + 2^-53 */
        "1.00000000000000011102230246251565404236316680908203125";
    enum { LONGEST = 1500, HALF = sizeof halfway - 1 };
    uint64_t state = 77;
    for (int i = 0; i < 2000; i++) {
        char text[LONGEST + 1];
        const size_t length = 700 + random_below(&state, LONGEST - 700);
        memset(text, '0', length);
        text[length] = '\0';
        memcpy(text, halfway, HALF);
        if (i % 8 > 0)
            text[HALF + random_below(&state, length - HALF)] = '1';
        check(text);
    }
}

static void the_ends_of_the_range_are_exact(void **unused)
{
    (void)unused;
    static const char *const texts[] = {
        "0",
        "-0",
        "0.0e999",
        "-.0",
        "5.",
        ".5",
        "+1.5",
        "1E5",
        "1e+5",
        "1e-5",
        "00000000000000000000000000000000.25",
        "0.00000000000000000000000000001",
        "18446744073709551615",
        "18446744073709551616",
        "9999999999999999999",
        "9007199254740993",
        "9007199254740992.5",
        "9007199254740993e27",
        "1e22",
        "1e23",
        "1e27",
        "1e28",
        "1e-27",
        "1e-28",
        "1e308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e309",
        "-1e999",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "1e18446744073709551617", /* 2^64 + 1 */
        "1e-18446744073709551617",
        "1e9223372036854775809",
        "1e-4294967297",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "4.9406564584124654e-324",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-400",
        "0e-99999999999999999999",
        "00000000000000000000000000000000000000000",
        "9223372036854775807e-1",
        "1e0000000000000000000000000000000000000001",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check(texts[i]);
}

/* 0.000...1 and 1000...0 with exponents that undo the zeros. */
static void zeros_and_exponents_cancel(void **unused)
{
    (void)unused;
    enum { ZEROS = 100000 };
    char *text = malloc(ZEROS + 32);
    memset(text, '0', ZEROS);
    text[1] = '.';
    sprintf(text + ZEROS, "2385e%d", ZEROS + 1);
    check(text);
    memset(text, '0', ZEROS);
    text[0] = '7';
    sprintf(text + ZEROS, "e-%d", ZEROS + 3);
    check(text);
    free(text);
}

static void reading_stops_where_the_number_does(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        int length; /* -1: no number */
    } cases[] = {
        {"1.5,2", 3}, {"1e", 1},    {"1e+", 1},  {"1.5e-x", 3}, {"0x10", 1},
        {"1.2.3", 3}, {"1_000", 1}, {"--1", -1}, {"+-1", -1},   {".", -1},
        {"-", -1},    {"", -1},     {"e5", -1},  {".e5", -1},   {"nan", -1},
        {"inf", -1},  {" 1", -1},   {"1 ", 1},   {"1e5.5", 3},  {"1d5", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        double value;
        const char *stop =
            tarry__number_read(text, text + strlen(text), &value);
        assert_int_equal(stop == NULL ? -1 : stop - text, cases[i].length);
    }
}

static int is_word(const char *text)
{
    return tarry__number_is_word(text, text + strlen(text));
}

static void words_for_what_is_not_finite_are_known(void **unused)
{
    (void)unused;
    static const char *const words[] = {
        "nan", "NaN", "NAN",  "-nan", "+nan",     "nan(0x7ff)", "NAN()",
        "inf", "Inf", "-INF", "+inf", "infinity", "-Infinity",  "iNfInItY"};
    static const char *const others[] = {
        "",      "na", "nano", "nan(", "nan)",      "infi",   "i",
        "--inf", "in", "1",    "-",    "infinity1", "n.a.n.", "inf nf"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_true(is_word(words[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(is_word(others[i]));
}

/* Where such a locale is installed. */
static void a_decimal_comma_locale_changes_nothing(void **unused)
{
    (void)unused;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL &&
        setlocale(LC_ALL, "fr_FR.UTF-8") == NULL)
        skip();
    static const char text[] = "1.50000000000000000000000001e-30";
    double value = 0;
    const char *stop = tarry__number_read(text, text + strlen(text), &value);
    setlocale(LC_ALL, "C");
    assert_true(stop == text + strlen(text));
    assert_true(value == 1.5e-30);
}

/* Under a sanitizer: every beginning of a text, with nothing behind it. */
static void nothing_behind_the_end_is_read(void **state)
{
    (void)state;
    static const char *const texts[] = {"-12.5e+30", "1e-7x", "+.5E", "nan(x)",
                                        "-Infinity"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t n = 1; n <= strlen(texts[i]); n++) {
            double value;
            char *block = malloc(n);
            assert_non_null(block);
            memcpy(block, texts[i], n);
            const char *end = tarry__number_read(block, block + n, &value);
            assert_true(end == NULL || (end > block && end <= block + n));
            tarry__number_is_word(block, block + n);
            free(block);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_of_every_size_are_read_as_strtod_does),
        cmocka_unit_test(coordinates_are_read_as_strtod_does),
        cmocka_unit_test(random_digits_are_read_as_strtod_does),
        cmocka_unit_test(halfway_cases_below_one_unit_round_to_even),
        cmocka_unit_test(halfway_cases_with_large_exponents_round_to_even),
        cmocka_unit_test(halfway_cases_of_hundreds_of_digits_are_exact),
        cmocka_unit_test(a_digit_anywhere_in_a_long_tail_is_seen),
        cmocka_unit_test(the_ends_of_the_range_are_exact),
        cmocka_unit_test(zeros_and_exponents_cancel),
        cmocka_unit_test(reading_stops_where_the_number_does),
        cmocka_unit_test(words_for_what_is_not_finite_are_known),
        cmocka_unit_test(a_decimal_comma_locale_changes_nothing),
        cmocka_unit_test(nothing_behind_the_end_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
