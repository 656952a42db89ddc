/* test_html.c - text and numbers of the page. */
#define _GNU_SOURCE
#include "check.h"
#include "report/html.h"
#include <stdlib.h>
#include <string.h>

static FILE *out;
static char *written;
static size_t size;

static void begin(void)
{
    out = open_memstream(&written, &size);
}

static void expect(const char *text)
{
    fclose(out);
    if (strcmp(written, text) != 0)
        fail_msg("'%s', expected '%s'", written, text);
    free(written);
}

static void texts_are_escaped_and_markup_is_not(void **state)
{
    (void)state;
    begin();
    tarry__html(out, "<b a=\"%s\">%m %% %s</b>", "x\"'<&>\x01y", "<i>",
                (char *)NULL);
    expect("<b a=\"x&quot;&#39;&lt;&amp;&gt; y\"><i> % </b>");
}

static void formulas_have_indices_and_exponents(void **state)
{
    static const char *const cases[][2] = {
        {"σ_max log σ_max", "σ<sub>max</sub> log σ<sub>max</sub>"},
        {"max_a E[d(a)]", "max<sub>a</sub> E[d(a)]"},
        {"n^{3/2} E[d]", "n<sup>3/2</sup> E[d]"},
        {"n^2<m", "n<sup>2</sup>&lt;m"},
        {"x_{<b>}", "x<sub>&lt;b&gt;</sub>"},
        {"mean_delay", "mean_delay"},
        {"a_b_c", "a_b<sub>c</sub>"},
        {"_a ^{", "_a ^{"},
        {"n^{3/2", "n^{3/2"},
        {"n_", "n_"},
        {"x_abc", "x<sub>abc</sub>"},
        {"x_abcd", "x_abcd"},
        {"x^{}y", "x<sup></sup>y"},
        {"x^{12345678901234567890123456789}",
         "x<sup>12345678901234567890123456789</sup>"},
        {"x^{123456789012345678901234567890}",
         "x^{123456789012345678901234567890}"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        tarry__html(out, "%f", cases[i][0]);
        expect(cases[i][1]);
    }
}

static void number(const char *value, const char *ci95, const char *text)
{
    json_t *v = json_loads(value, JSON_DECODE_ANY, NULL);
    json_t *c = json_loads(ci95, JSON_DECODE_ANY, NULL);
    begin();
    tarry__html_number(out, v, c);
    expect(text);
    json_decref(v);
    json_decref(c);
}

static void numbers_have_the_digits_that_their_interval_allows(void **state)
{
    (void)state;
    number("0.98213", "0.0311", "0.982 ± 0.031");
    number("-0.00412", "0.05", "−0.004 ± 0.050");
    number("2385.4", "120.7", "2385 ± 121");
    number("31.26", "2.385", "31.3 ± 2.4");
    number("0", "3.1e-5", "0 ± 3.1 × 10<sup>−5</sup>");
    number("1", "0", "1");
    number("2.385e9", "1e7", "2.385 × 10<sup>9</sup> ± 1 × 10<sup>7</sup>");
    number("0.5", "null", "0.5");
    number("1", "null", "1");
    number("123456", "null", "123456");
    number("null", "0.5", "–");
    number("9999999", "null", "9999999"); /* up to here in full */
    number("1e7", "null", "1 × 10<sup>7</sup>");
    number("-9999999", "null", "−9999999");
    number("-1.23456e-7", "null", "−1.235 × 10<sup>−7</sup>");
    number("1.5", "0.0001", "1.50000 ± 0.00010");
    number("1.5", "0.00009", "1.5 ± 9 × 10<sup>−5</sup>");
    number("999999", "9", "999999.0 ± 9.0");
    number("999999", "10", "999999 ± 10");
    number("1000000", "10", "1000000 ± 10");
    number("12345678.25", "10", "1.235 × 10<sup>7</sup> ± 10");
    number("3", "1000000", "3 ± 1000000");
    number("3", "\"x\"", "3");
}

static void values_of_any_kind_are_shown(void **state)
{
    (void)state;
    json_t *list = json_pack("[s, i, f, b, n, [i]]", "<x>", 12, 2.385, 1, 3);
    begin();
    for (size_t i = 0; i < json_array_size(list); i++) {
        tarry__html_value(out, json_array_get(list, i));
        fputc('|', out);
    }
    tarry__html_value(out, NULL);
    expect("&lt;x&gt;|12|2.385|true||[3]|");
    json_decref(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_escaped_and_markup_is_not),
        cmocka_unit_test(formulas_have_indices_and_exponents),
        cmocka_unit_test(numbers_have_the_digits_that_their_interval_allows),
        cmocka_unit_test(values_of_any_kind_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
