/* tests of normals.h: pairs of normals by vectors. */
#include "check.h"
#include "random/normals.h"
#include "base/machine.h"

enum { ROUNDS = 1000 };

static void a_pair_is_that_of_box_and_muller(void **state)
{
    (void)state;
    double z[2 * ROUNDS];
    tarry_random at = {.seed = 2385, .run = 3, .round = 77, .stream = 1};
    tarry__random_normal_rounds(&at, ROUNDS, z);
    for (size_t i = 0; i < ROUNDS; i++, at.round++) {
        double u[2];
        tarry_random_uniform_pair(&at, u);
        const double radius = sqrt(-2 * log(u[0]));
        CHECK_NEAR(z[2 * i], tarry_random_normal(&at), 1e-14);
        CHECK_NEAR(z[2 * i + 1], radius * sin(6.283185307179586477 * u[1]),
                   1e-14);
    }
}

static void the_count_and_the_machine_change_no_bit(void **state)
{
    (void)state;
    double z[2 * ROUNDS], part[2 * ROUNDS], base[2 * ROUNDS];
    tarry_random at = {.seed = 1, .round = 5, .stream = 1};
    tarry__random_normal_rounds(&at, ROUNDS, z);
    tarry__normals_base(&at, ROUNDS, base);
    assert_memory_equal(z, base, sizeof z);
#ifdef __x86_64__
    if (tarry__base_vector_lanes() >= 4) {
        tarry__normals_avx2(&at, ROUNDS, part);
        assert_memory_equal(part, base, sizeof base);
    }
    if (tarry__base_vector_lanes() >= 8) {
        tarry__normals_avx512(&at, ROUNDS, part);
        assert_memory_equal(part, base, sizeof base);
    }
#endif
    for (size_t i = 0; i < ROUNDS; i += 7) {
        tarry_random here = at;
        here.round += i;
        const size_t count = ROUNDS - i < 13 ? ROUNDS - i : 13;
        tarry__random_normal_rounds(&here, count, part);
        assert_memory_equal(part, z + 2 * i, 2 * count * sizeof *z);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_is_that_of_box_and_muller),
        cmocka_unit_test(the_count_and_the_machine_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
