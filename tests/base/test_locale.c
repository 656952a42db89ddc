/* Numbers mean the same where the host program has a comma for a point.  Such
 * a locale need not be installed: this program has its own strtod, which
 * stops at a point as the C library's would. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/spec.h"
#include "tarry/arms.h"
#include "tarry/policy.h"

double strtod(const char *text, char **end)
{
    static locale_t c;
    char copy[2000] = "", *stop;
    memcpy(copy, text, strnlen(text, sizeof copy - 1));
    copy[strcspn(copy, ".")] = '\0';
    if (c == NULL)
        c = newlocale(LC_ALL_MASK, "C", NULL);
    const double value = strtod_l(copy, &stop, c);
    if (end != NULL)
        *end = (char *)text + (stop - copy);
    return value;
}

static void this_is_such_a_place(void **state)
{
    (void)state;
    char *end;
    assert_true(strtod("0.5", &end) == 0);
    assert_string_equal(end, ".5");
}

static void numbers_are_read_whole(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"0.5", 0.5},
        {"-2.385e-3", -2.385e-3},
        {".25", .25},
        {"1e6", 1e6},
        {"+7.", 7},
        {"1.7976931348623157e308", 0x1.fffffffffffffp1023},
        {"4.9e-324", 0x1p-1074},
        {"3.14159265358979323846264338327950288", 0x1.921fb54442d18p+1}};
    static const char *const bad[] = {"",      "0,5", "1e999", "nan", "inf",
                                      "0x10",  " 1",  "1 ",    "1e",  "--1",
                                      "1.2.3", ".",   "e5",    "+"};
    double value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(tarry__base_parse_real(good[i].text, &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(tarry__base_parse_real(bad[i], &value));
}

static void a_policy_reads_its_settings(void **state)
{
    (void)state;
    const double arms[] = {1, 0, 0, 1};
    tarry_policy_params p = tarry_policy_defaults();
    tarry_policy *policy;
    tarry_error error = {""};
    p.n_arms = p.dim = 2;
    p.arms = arms;
    p.horizon = 1000;
    p.settings = "v=0.5,lambda=1.25";
    if (tarry_policy_create("lints", &p, &policy, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    tarry_policy_free(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_is_such_a_place),
        cmocka_unit_test(numbers_are_read_whole),
        cmocka_unit_test(a_policy_reads_its_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
