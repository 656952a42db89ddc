/* What status says in words of reports. */
#include "policy/reports.h"
#include "check.h"
#include <string.h>

static void advice_needs_half_the_evidence_and_no_default(void **state)
{
    tarry_policy_status s = {.silence = 0.5};
    (void)state;
    assert_non_null(strstr(tarry__reports_advice(&s), "the high losses seem"));
    s.silence = -0.5;
    assert_non_null(strstr(tarry__reports_advice(&s), "the low losses seem"));
    s.maximize = 1;
    assert_non_null(strstr(tarry__reports_advice(&s), "the high rewards seem"));
    s.silence = 1;
    assert_non_null(strstr(tarry__reports_advice(&s), "the low rewards seem"));
    s.default_outcome = "0/500r";
    assert_null(tarry__reports_advice(&s));
    s.default_outcome = NULL;
    s.silence = 0.49;
    assert_null(tarry__reports_advice(&s));
    s.silence = NAN;
    assert_null(tarry__reports_advice(&s));
}

static void check_text(tarry_policy_status s, const char *wanted)
{
    char text[TARRY__REPORTS_ROOM];
    tarry__reports_print(&s, text);
    assert_string_equal(text, wanted);
}

static void text_tells_of_reports_and_of_silence(void **state)
{
    tarry_policy_status s = {.round = 9, .expired = 3, .defaulted = 3};
    (void)state;
    check_text(s, "none yet");
    s.reported = 1;
    check_text(s, "flowing");
    s.silent_since = UINT64_MAX;
    check_text(s, "silent since round 18446744073709551615");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advice_needs_half_the_evidence_and_no_default),
        cmocka_unit_test(text_tells_of_reports_and_of_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
