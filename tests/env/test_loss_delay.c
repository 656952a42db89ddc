/* test_loss_delay.c - delays that see the loss, against their joint laws. */
#include "env/worlds.h"
#include "random/statistics.h"

static const char *const bandit = "basis:arms=4,best=-0.4,gap=0.9";
static const char *const positive = "basis:arms=4,best=0.1,gap=0.6";

typedef struct {
    const char *instance, *loss, *delay;
} joint;

static const joint joints[] = {
    {"basis:arms=4,best=-0.4,gap=0.9", "rademacher", "low-late"},
    {"basis:arms=4,best=-0.4,gap=0.9", "rademacher",
     "high-late:late=30,early=4,spread=3"},
    {"basis:arms=4,best=-0.4,gap=0.9", "normal", "low-late:law=exponential"},
    {"basis:arms=4,best=-0.4,gap=0.9", "uniform", "threshold:threshold=0.1"},
    {"basis:arms=4,best=-0.4,gap=0.9", "uniform:width=0.4",
     "threshold:below=10,above=60,law=constant,threshold=-0.2"},
    {"basis:arms=4,best=0.1,gap=0.6", "bernoulli", "payoff:D=70"},
    {"basis:arms=4,best=0.1,gap=0.6", "none", "payoff:D=70"},
    {"basis:arms=4,best=0.3,gap=0.4", "uniform:low=0", "payoff:D=25.5"},
    {"basis:arms=4,best=0.3,gap=0.4", "normal:sd=0.1,low=0", "payoff:D=1000"},
    {"basis:arms=4,best=-0.4,gap=0.9", "rademacher",
     "lowest-late:p=0.2,late=40,far_p=0.05,far=900"},
    {"basis:arms=4,best=-0.4,gap=0.9", "uniform:width=0.4",
     "highest-late:p=0.4,late=40,early=3,spread=2"},
    {"lower-loss", "rademacher", "theorem"},
};

/* Mean within 4 standard errors, and P(D >= d) too at the quantiles. */
static void check_arm(const tarry__world *world, size_t arm)
{
    enum { POINTS = 5 };
    const tarry__delay *delay = &world->delay;
    const double q[POINTS] = {0.1, 0.3, 0.55, 0.8, 0.99};
    uint64_t point[POINTS];
    double above[POINTS] = {0}, sum = 0, squares = 0, losses = 0;
    for (int i = 0; i < POINTS; i++)
        point[i] = tarry__delay_quantile(delay, arm, q[i]) + 1;
    for (int t = 1; t <= DRAWS; t++) {
        double loss;
        uint64_t d;
        tarry__world_draw(world, (uint64_t)t, arm, &loss, &d);
        sum += (double)d;
        squares += (double)d * (double)d;
        losses += loss;
        for (int i = 0; i < POINTS; i++)
            above[i] += d >= point[i];
    }
    const double mean = sum / DRAWS;
    const double deviation = sqrt(fmax(squares / DRAWS - mean * mean, 0));
    CHECK_NEAR(mean, tarry__delay_mean(delay, arm),
               4 * deviation / sqrt(DRAWS) + 1e-9 * mean);
    CHECK_NEAR(losses / DRAWS, world->instance.mean[arm], 4 / sqrt(DRAWS));
    for (int i = 0; i < POINTS; i++) {
        const double p = tarry__delay_tail(delay, arm, point[i]);
        CHECK_AT_MOST(p, 1 - q[i] + 1e-12);
        CHECK_NEAR(above[i] / DRAWS, p, 4 * sqrt(p * (1 - p) / DRAWS) + 1e-12);
    }
}

static void joint_laws_have_the_stated_tails_and_means(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
        const joint j = joints[i];
        tarry__world *world = make_world(j.instance, j.loss, j.delay);
        assert_int_equal(tarry__world_model(world), TARRY__ENV_LOSS_DEPENDENT);
        for (size_t arm = 0; arm < 4; arm++)
            check_arm(world, arm);
        check_arm(world, world->instance.best);
        tarry__world_free(world);
    }
}

static void means_are_the_sums_of_their_tails(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
        const joint j = joints[i];
        tarry__world *world = make_world(j.instance, j.loss, j.delay);
        double sum = 0;
        for (uint64_t d = 1; d < 20000; d++)
            sum += tarry__delay_tail(&world->delay, 2, d);
        CHECK_NEAR(tarry__delay_mean(&world->delay, 2), sum, 1e-9 * sum);
        tarry__world_free(world);
    }
}

static void late_is_what_the_threshold_says(void **state)
{
    (void)state;
    const char *const delays[] = {"low-late:late=50,early=2",
                                  "high-late:late=50,early=2",
                                  "threshold:below=50,above=2,law=constant"};
    for (int i = 0; i < 3; i++) {
        tarry__world *world = make_world(bandit, "rademacher", delays[i]);
        for (uint64_t t = 1; t < 2000; t++) {
            double loss;
            uint64_t d;
            tarry__world_draw(world, t, t % 4, &loss, &d);
            const bool late = i == 1 ? loss > 0 : loss < 0;
            assert_int_equal(d, late ? 50 : 2);
        }
        tarry__world_free(world);
    }
}

/* A loss that equals the threshold counts as above it. */
static void a_loss_on_the_threshold_is_high(void **state)
{
    (void)state;
    tarry__world *world = make_world("basis:arms=3,best=0,gap=0.5,means=equal",
                                     "none", "low-late:late=50,threshold=0.5");
    const size_t best = world->instance.best, other = (best + 1) % 3;
    CHECK_NEAR(tarry__delay_mean(&world->delay, best), 50, 0);
    CHECK_NEAR(tarry__delay_mean(&world->delay, other), 0, 0);
    tarry__world_free(world);
}

/* The four atoms of the theorem, each within 4 standard errors. */
static void the_theorem_draws_its_four_atoms(void **state)
{
    (void)state;
    tarry__world *world = make_world("lower-loss", "rademacher", "theorem");
    const tarry__instance *a = &world->instance;
    const uint64_t late = (uint64_t)floor(a->dbar / a->q);
    for (size_t arm = 0; arm < 6; arm++) {
        const double q = a->q, mu = a->mean[arm];
        const double p[4] = {(1 - q) / 2, (1 - q) / 2, (q + mu) / 2,
                             (q - mu) / 2};
        double seen[4] = {0};
        if (arm == a->best)
            continue;
        for (int t = 1; t <= DRAWS; t++) {
            double loss;
            uint64_t d;
            tarry__world_draw(world, (uint64_t)t, arm, &loss, &d);
            assert_true(fabs(loss) == 1 && (d == 0 || d == late));
            seen[(d == late) * 2 + (loss < 0)]++;
        }
        for (int i = 0; i < 4; i++)
            CHECK_NEAR(seen[i] / DRAWS, p[i],
                       4 * sqrt(p[i] * (1 - p[i]) / DRAWS));
        CHECK_AT_MOST(tarry__delay_mean(&world->delay, arm), a->dbar);
        CHECK_AT_MOST(a->dbar - q, tarry__delay_mean(&world->delay, arm));
    }
    for (uint64_t t = 1; t < 1000; t++) {
        double loss;
        uint64_t d;
        tarry__world_draw(world, t, a->best, &loss, &d);
        assert_true(loss == -1 && d == 0);
    }
    tarry__world_free(world);
}

static void payoff_delays_are_losses_times_d_rounded_up(void **state)
{
    (void)state;
    tarry__world *world =
        make_world(positive, "uniform:low=0", "payoff:D=37.5");
    for (uint64_t t = 1; t < 5000; t++) {
        double loss;
        uint64_t d;
        tarry__world_draw(world, t, t % 4, &loss, &d);
        assert_int_equal(d, (uint64_t)ceil(37.5 * loss));
    }
    tarry__world_free(world);
}

/* On the lower-bound instance means are whole multiples of 1/n, and with D = n
 * the delays are these whole numbers, rounding or not. */
static void the_payoff_lower_bound_has_whole_delays(void **state)
{
    (void)state;
    tarry__world *world =
        make_world("lower-payoff:dim=500,arms=100", "none", "payoff:D=500");
    const tarry__instance *a = &world->instance;
    for (size_t arm = 0; arm < 100; arm++) {
        size_t apart = 0;
        for (size_t i = 0; i < 500; i++)
            apart += a->arms[arm * 500 + i] > 0 && a->theta[i] > 0;
        double loss;
        uint64_t d;
        tarry__world_draw(world, 1, arm, &loss, &d);
        assert_int_equal(d, apart);
        assert_true(arm == a->best ? d == 0 : d >= 25);
        CHECK_NEAR(tarry__delay_mean(&world->delay, arm), (double)apart, 1e-9);
        assert_int_equal(tarry__delay_quantile(&world->delay, arm, 0.5), apart);
    }
    tarry__world_free(world);
}

/* All late losses are at most those that are not. */
static void late_losses_are_the_lowest_or_the_highest(void **state)
{
    (void)state;
    const char *const texts[] = {"lowest-late:p=0.3,late=9",
                                 "highest-late:p=0.3,late=9"};
    for (size_t i = 0; i < 2; i++) {
        tarry__world *world = make_world(bandit, "uniform:width=0.4", texts[i]);
        double late[2] = {1, -1}, early[2] = {1, -1}; /* least, largest */
        for (uint64_t t = 1; t < 5000; t++) {
            double loss, *range;
            uint64_t d;
            tarry__world_draw(world, t, 2, &loss, &d);
            range = d == 9 ? late : early;
            range[0] = fmin(range[0], loss);
            range[1] = fmax(range[1], loss);
        }
        assert_true(i == 0 ? late[1] <= early[0] : early[1] <= late[0]);
        tarry__world_free(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_losses_are_the_lowest_or_the_highest),
        cmocka_unit_test(joint_laws_have_the_stated_tails_and_means),
        cmocka_unit_test(means_are_the_sums_of_their_tails),
        cmocka_unit_test(late_is_what_the_threshold_says),
        cmocka_unit_test(a_loss_on_the_threshold_is_high),
        cmocka_unit_test(the_theorem_draws_its_four_atoms),
        cmocka_unit_test(payoff_delays_are_losses_times_d_rounded_up),
        cmocka_unit_test(the_payoff_lower_bound_has_whole_delays),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
