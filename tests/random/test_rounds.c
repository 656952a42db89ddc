/* Many rounds at once: the same numbers as one by one. */
#include "check.h"
#include <math.h>
#include <string.h>
#include "base/machine.h"
#include "random/rounds.h"

enum { COUNT = 1003 };

static const tarry_random start = {.seed = 0x2385238523852385u,
                                   .round = 0xfffffe00u, /* low word wraps */
                                   .run = 77,
                                   .stream = 16,
                                   .attempt = 3};

static void check_uniforms(tarry__random_uniform_kernel *kernel)
{
    static double u[COUNT], v[COUNT];
    kernel(&start, COUNT, u, v);
    for (size_t i = 0; i < COUNT; i++) {
        tarry_random at = start;
        double pair[2];
        at.round += i;
        tarry_random_uniform_pair(&at, pair);
        assert_true(u[i] == pair[0] && v[i] == pair[1]);
    }
}

static void every_kernel_gives_the_uniforms_of_single_draws(void **state)
{
    (void)state;
    check_uniforms(tarry__random_uniform_rounds);
    check_uniforms(tarry__random_uniforms_base);
#ifdef __x86_64__
    if (tarry__base_vector_lanes() >= 4)
        check_uniforms(tarry__random_uniforms_avx2);
    if (tarry__base_vector_lanes() >= 8)
        check_uniforms(tarry__random_uniforms_avx512);
#endif
}

static void fill(double *x)
{
    uint64_t seed = 5;
    for (size_t i = 0; i < COUNT; i++)
        x[i] =
            i % 2 ? test_uniform(&seed) : exp(1400 * test_uniform(&seed) - 700);
    x[0] = 1;
    x[1] = 0x1p-53;
    x[2] = 1 - 0x1p-53;
    x[3] = sqrt(0.5);
}

static void the_logarithm_is_accurate_to_the_last_digits(void **state)
{
    (void)state;
    double x[COUNT], y[COUNT];
    fill(x);
    memcpy(y, x, sizeof x);
    tarry__random_minus_log(y, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        CHECK_NEAR(y[i], -log(x[i]), 1e-15 * fabs(log(x[i])));
}

static void every_kernel_gives_the_same_logarithms(void **state)
{
    (void)state;
    double x[COUNT], y[COUNT], one;
    fill(x);
    memcpy(y, x, sizeof x);
    tarry__random_logs_base(y, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        one = x[i];
        tarry__random_minus_log(&one, 1);
        assert_true(one == y[i]);
    }
#ifdef __x86_64__
    double z[COUNT];
    memcpy(z, x, sizeof x);
    if (tarry__base_vector_lanes() >= 4) {
        tarry__random_logs_avx2(z, COUNT);
        assert_memory_equal(y, z, sizeof z);
    }
    memcpy(z, x, sizeof x);
    if (tarry__base_vector_lanes() >= 8) {
        tarry__random_logs_avx512(z, COUNT);
        assert_memory_equal(y, z, sizeof z);
    }
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_gives_the_uniforms_of_single_draws),
        cmocka_unit_test(the_logarithm_is_accurate_to_the_last_digits),
        cmocka_unit_test(every_kernel_gives_the_same_logarithms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
