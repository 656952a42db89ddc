/* Histograms: a value is counted where Prometheus says, at or below a bound. */
#include "check.h"
#include <math.h>
#include <string.h>
#include "service/inner.h"

static size_t bucket_of(const double *bounds, double value)
{
    tarry__service_histogram h = {.sum = 0};
    size_t at = 0;
    tarry__service_histogram_add(&h, bounds, value);
    CHECK_NEAR(h.sum, value, 0);
    while (h.bucket[at] == 0)
        at++;
    assert_int_equal(h.bucket[at], 1);
    for (size_t i = at + 1; i <= TARRY__SERVICE_MOST_BUCKETS; i++)
        assert_int_equal(h.bucket[i], 0);
    return at;
}

static void a_bound_is_in_its_bucket(void **state)
{
    const double *const all[] = {tarry__service_commit_bounds,
                                 tarry__service_delay_bounds};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const double *bounds = all[k];
        size_t i = 0;
        assert_int_equal(bucket_of(bounds, 0), 0);
        for (; isfinite(bounds[i]); i++) {
            assert_true(i == 0 || bounds[i] > bounds[i - 1]);
            assert_int_equal(bucket_of(bounds, nextafter(bounds[i], 0)), i);
            assert_int_equal(bucket_of(bounds, bounds[i]), i);
            assert_int_equal(bucket_of(bounds, nextafter(bounds[i], 1e9)),
                             i + 1);
        }
        assert_int_equal(bucket_of(bounds, 1e300), i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_is_in_its_bucket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
