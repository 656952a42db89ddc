/* test_uniform.c - the generator: its bits, its addresses, its uniforms. */
#include "random/statistics.h"
#include "random/philox.h"

static void bits_equal(tarry_random at, const uint32_t expected[4])
{
    uint32_t words[4];
    tarry_random_bits(&at, words);
    assert_memory_equal(words, expected, sizeof words);
}

/* The vectors of kat_vectors in Random123's distribution.  All their bits can
 * be reached through an address, so they pin its layout as well. */
static void published_answers_of_philox_come_out(void **state)
{
    (void)state;
    bits_equal((tarry_random){0},
               (uint32_t[]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    bits_equal((tarry_random){.seed = UINT64_MAX,
                              .round = UINT64_MAX,
                              .run = UINT32_MAX,
                              .stream = UINT16_MAX,
                              .attempt = UINT16_MAX},
               (uint32_t[]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    bits_equal((tarry_random){.seed = 0x299f31d0a4093822,
                              .round = 0x85a308d3243f6a88,
                              .run = 0x13198a2e,
                              .stream = 0x7344,
                              .attempt = 0x0370},
               (uint32_t[]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

static double unit_of(uint32_t low, uint32_t high)
{
    const uint64_t k = ((uint64_t)high << 32 | low) >> 12;
    return ldexp((double)(2 * k + 1), -53);
}

static void uniforms_are_the_top_52_bits_of_word_pairs(void **state)
{
    (void)state;
    for (uint64_t t = 0; t < 1000; t++) {
        const tarry_random at = at_round(t);
        uint32_t w[4];
        double u[2];
        tarry_random_bits(&at, w);
        tarry_random_uniform_pair(&at, u);
        assert_true(u[0] == unit_of(w[0], w[1]));
        assert_true(u[1] == unit_of(w[2], w[3]));
        assert_true(tarry_random_uniform(&at) == u[0]);
    }
}

static void uniforms_reach_neither_0_nor_1(void **state)
{
    (void)state;
    const uint32_t all = UINT32_MAX;
    const philox4x32_ctr_t empty = {{0}}, full = {{all, all, all, all}};
    for (int i = 0; i < 2; i++) {
        assert_true(tarry__random_unit(empty, i) == 0x1p-53);
        assert_true(tarry__random_unit(full, i) == 1 - 0x1p-53);
    }
}

static void draws_do_not_depend_on_their_order(void **state)
{
    (void)state;
    enum { N = 1000 };
    double forward[N];
    for (int t = 0; t < N; t++) {
        const tarry_random at = at_round(t);
        forward[t] = tarry_random_uniform(&at);
    }
    for (int t = N - 1; t >= 0; t--) {
        const tarry_random at = at_round(t), other = at_round(7 * t);
        tarry_random_uniform(&other);
        assert_true(tarry_random_uniform(&at) == forward[t]);
    }
}

static void every_field_of_the_address_changes_the_bits(void **state)
{
    (void)state;
    enum { FIELDS = 8 };
    tarry_random at[FIELDS];
    for (int i = 0; i < FIELDS; i++)
        at[i] = at_round(5);
    at[1].seed++;
    at[2].seed += 0x100000000;
    at[3].round++;
    at[4].round += 0x100000000;
    at[5].run++;
    at[6].stream++;
    at[7].attempt++;
    for (int i = 0; i < FIELDS; i++)
        for (int j = 0; j < i; j++) {
            uint32_t a[4], b[4];
            tarry_random_bits(&at[i], a);
            tarry_random_bits(&at[j], b);
            for (int word = 0; word < 4; word++)
                assert_true(a[word] != b[word]);
        }
}

/* The sample correlation of DRAWS independent pairs has standard deviation
 * 1 / sqrt(DRAWS); uniforms have variance 1/12. */
static void uncorrelated(tarry_random step)
{
    double sum = 0;
    for (uint64_t t = 0; t < DRAWS; t++) {
        const tarry_random a = at_round(t);
        const tarry_random b = {.seed = a.seed + step.seed,
                                .round = a.round + step.round,
                                .run = a.run + step.run,
                                .stream = a.stream + step.stream,
                                .attempt = a.attempt + step.attempt};
        sum +=
            (tarry_random_uniform(&a) - 0.5) * (tarry_random_uniform(&b) - 0.5);
    }
    const double correlation = 12 * sum / DRAWS;
    assert_true(fabs(correlation) < widest_error / sqrt(DRAWS));
}

static void neighbouring_addresses_are_uncorrelated(void **state)
{
    (void)state;
    uncorrelated((tarry_random){.seed = 1});
    uncorrelated((tarry_random){.round = 1});
    uncorrelated((tarry_random){.run = 1});
    uncorrelated((tarry_random){.stream = 1});
    uncorrelated((tarry_random){.attempt = 1});
}

static double draw_first(const tarry_random *at, const double *parameters)
{
    (void)parameters;
    return tarry_random_uniform(at);
}

static double draw_second(const tarry_random *at, const double *parameters)
{
    (void)parameters;
    double u[2];
    tarry_random_uniform_pair(at, u);
    return u[1];
}

static double cdf(double x, const double *parameters)
{
    (void)parameters;
    return gsl_cdf_flat_P(x, 0, 1);
}

static void both_uniforms_of_a_block_are_uniform(void **state)
{
    (void)state;
    check_continuous(
        &(continuous_law){draw_first, cdf, {0}, 0.5, sqrt(1. / 12)});
    check_continuous(
        &(continuous_law){draw_second, cdf, {0}, 0.5, sqrt(1. / 12)});
}

static double draw_bent(const tarry_random *at, const double *parameters)
{
    (void)parameters;
    return pow(tarry_random_uniform(at), 1.02);
}

/* The judge itself: a power of 1.02 is off by at most 0.0074, while the
 * largest distance by luck at p = 1e-3 is 1.95 / sqrt(DRAWS) = 0.0044. */
static void a_slightly_bent_uniform_is_found_out(void **state)
{
    (void)state;
    const continuous_law bent = {.draw = draw_bent, .cdf = cdf};
    double sum;
    assert_true(continuous_p(&bent, &sum) < smallest_p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_answers_of_philox_come_out),
        cmocka_unit_test(uniforms_are_the_top_52_bits_of_word_pairs),
        cmocka_unit_test(uniforms_reach_neither_0_nor_1),
        cmocka_unit_test(draws_do_not_depend_on_their_order),
        cmocka_unit_test(every_field_of_the_address_changes_the_bits),
        cmocka_unit_test(neighbouring_addresses_are_uncorrelated),
        cmocka_unit_test(both_uniforms_of_a_block_are_uniform),
        cmocka_unit_test(a_slightly_bent_uniform_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
