/* test_loss.c - losses drawn against their exact laws. */
#include "env/worlds.h"
#include "random/statistics.h"

/* Five arms with means from -0.6 to 0.8; for bernoulli from 0 to 1. */
static tarry__world *world_of(const char *loss, const char *theta)
{
    put_file("a.csv",
             "1,0,0,0,0\n0,1,0,0,0\n0,0,1,0,0\n0,0,0,1,0\n0,0,0,0,1\n");
    put_file("b.csv", theta);
    return make_world("file:arms=FOLDER/a.csv,theta=FOLDER/b.csv", loss,
                      "none");
}

static const char *const any_means = "-0.6,-0.2385,0,0.3,0.8\n";

/* KS distance of sorted draws from the law's own cdf, atoms and all: at a jump
 * the empirical step is compared on both sides of it. */
static double distance_to_law(const tarry__loss *loss, size_t arm,
                              const double *sorted)
{
    double distance = 0;
    for (int i = 0, j; i < DRAWS; i = j) {
        for (j = i; j < DRAWS && sorted[j] == sorted[i]; j++)
            ;
        const double below = loss->type->cdf(loss, arm, sorted[i], false);
        const double up_to = loss->type->cdf(loss, arm, sorted[i], true);
        distance = fmax(distance, fabs(below - (double)i / DRAWS));
        distance = fmax(distance, fabs(up_to - (double)j / DRAWS));
    }
    return distance;
}

/* p-value of KS above 1e-3 (for atoms the test is only more cautious), mean
 * within 4 standard errors of the instance's. */
static void check_arm(const tarry__world *world, size_t arm)
{
    static double sample[DRAWS];
    const tarry__loss *loss = &world->loss;
    double sum = 0, squares = 0, low, high;
    loss->type->range(loss, arm, &low, &high);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t delay;
        tarry__world_draw(world, (uint64_t)i + 1, arm, &sample[i], &delay);
        assert_true(sample[i] >= low && sample[i] <= high);
        assert_true(fabs(sample[i]) <= 1 && delay == 0);
        sum += sample[i];
        squares += sample[i] * sample[i];
    }
    const double mean = sum / DRAWS;
    const double variance = fmax(squares / DRAWS - mean * mean, 0);
    CHECK_NEAR(mean, world->instance.mean[arm],
               widest_error * sqrt(variance / DRAWS) + 1e-10);
    qsort(sample, DRAWS, sizeof *sample, compare_doubles);
    const double distance = distance_to_law(loss, arm, sample);
    if (distance > 0 && !(kolmogorov_p(distance, DRAWS) > smallest_p))
        fail_msg("%s, arm %zu: distance %g", world->loss_text, arm, distance);
}

static void losses_follow_their_laws_and_keep_their_means(void **state)
{
    (void)state;
    const char *const losses[] = {
        "rademacher",
        "uniform",
        "uniform:width=0.2",
        "uniform:width=0",
        "normal",
        "normal:sd=0.05",
        "normal:sd=50",
        "none",
        "mixture:far=1/-1,p=0.1/0.05/0,width=0.02/0/0.1"};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        tarry__world *world = world_of(losses[i], any_means);
        for (size_t arm = 0; arm < 5; arm++)
            check_arm(world, arm);
        tarry__world_free(world);
    }
    const char *const from_zero[] = {"bernoulli", "normal:low=0",
                                     "uniform:low=0,width=0"};
    for (size_t i = 0; i < 3; i++) {
        tarry__world *coins = world_of(from_zero[i], "0,0.2385,0.5,0.9,1\n");
        for (size_t arm = 0; arm < 5; arm++)
            check_arm(coins, arm);
        tarry__world_free(coins);
    }
}

static void cdfs_of_atoms_know_their_edges(void **state)
{
    (void)state;
    tarry__world *world = world_of("rademacher", any_means);
    const tarry__loss *loss = &world->loss;
    CHECK_NEAR(loss->type->cdf(loss, 0, -1, false), 0, 0);
    CHECK_NEAR(loss->type->cdf(loss, 0, -1, true), 0.8, 1e-15);
    CHECK_NEAR(loss->type->cdf(loss, 0, 1, false), 0.8, 1e-15);
    CHECK_NEAR(loss->type->cdf(loss, 0, 1, true), 1, 0);
    tarry__world_free(world);
    world = world_of("none", any_means);
    loss = &world->loss;
    CHECK_NEAR(loss->type->cdf(loss, 3, 0.3, false), 0, 0);
    CHECK_NEAR(loss->type->cdf(loss, 3, 0.3, true), 1, 0);
    tarry__world_free(world);
}

static void a_mean_of_one_leaves_no_noise(void **state)
{
    (void)state;
    const char *const losses[] = {"rademacher", "uniform", "normal", "none"};
    for (size_t i = 0; i < 4; i++) {
        tarry__world *world = world_of(losses[i], "-1,1,0,0,0\n");
        for (uint64_t t = 1; t < 1000; t++) {
            double loss;
            uint64_t delay;
            tarry__world_draw(world, t, 0, &loss, &delay);
            CHECK_NEAR(loss, -1, 0);
            tarry__world_draw(world, t, 1, &loss, &delay);
            CHECK_NEAR(loss, 1, 0);
        }
        tarry__world_free(world);
    }
}

static void the_widest_uniform_noise_just_fits(void **state)
{
    (void)state;
    tarry__world *world = world_of("uniform", any_means);
    CHECK_NEAR(world->loss.width, 0.2, 1e-15);
    tarry__world_free(world);
}

static void the_cut_normal_loses_variance_and_keeps_symmetry(void **state)
{
    (void)state;
    tarry__world *world = world_of("normal:sd=0.5", any_means);
    const tarry__loss *loss = &world->loss;
    for (double u = 0.01; u < 0.5; u += 0.0385) {
        const double low = loss->type->draw(loss, 4, u) - 0.8;
        const double high = loss->type->draw(loss, 4, 1 - u) - 0.8;
        CHECK_NEAR(low, -high, 1e-13);
        CHECK_AT_MOST(high, 0.2 + 1e-15);
    }
    tarry__world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_follow_their_laws_and_keep_their_means),
        cmocka_unit_test(cdfs_of_atoms_know_their_edges),
        cmocka_unit_test(a_mean_of_one_leaves_no_noise),
        cmocka_unit_test(the_widest_uniform_noise_just_fits),
        cmocka_unit_test(the_cut_normal_loses_variance_and_keeps_symmetry),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
