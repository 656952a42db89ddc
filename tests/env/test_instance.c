/* test_instance.c - instances: shapes, laws, and the hard sets re-verified. */
#include "env/worlds.h"

static tarry__instance make_of(const char *text, uint64_t seed, uint32_t run)
{
    tarry__instance a;
    tarry_error error = {"no error text"};
    if (tarry__instance_init(&a, in_folder(text),
                             (tarry__instance_place){seed, run},
                             &error) != TARRY_OK)
        fail_msg("%s: %s", text, error.text);
    return a;
}

static tarry__instance make(const char *text)
{
    return make_of(text, 2385, 17);
}

static double product(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static void put_small_files(void)
{
    put_file("a.csv", "x,y,z\n0.1,0.2,0.3\n-0.5,0.25,0\n");
    put_file("b.csv", "1\n-1\n0.5\n");
}

/* What holds for every instance. */
static void check_means(const tarry__instance *a)
{
    for (size_t k = 0; k < a->n_arms; k++) {
        const double error = a->error != NULL ? a->error[k] : 0;
        CHECK_NEAR(a->mean[k],
                   product(a->arms + k * a->dim, a->theta, a->dim) + error,
                   1e-12);
        CHECK_AT_MOST(a->best_mean, a->mean[k]);
    }
    CHECK_NEAR(a->best_mean, a->mean[a->best], 0);
}

static void every_listed_instance_is_made_from_its_defaults(void **state)
{
    (void)state;
    put_small_files();
    for (const tarry__entry *const *e = tarry__instances; *e != NULL; e++) {
        const char *text = strcmp((*e)->name, "file") == 0
                               ? "file:arms=FOLDER/a.csv,theta=FOLDER/b.csv"
                               : (*e)->name;
        tarry__instance a = make(text);
        assert_string_equal(a.type->entry.name, (*e)->name);
        assert_true(strlen((*e)->about) > 0);
        check_means(&a);
        tarry__instance_clear(&a);
        tarry__instance_clear(&a); /* twice is fine */
    }
}

static void same_place_means_same_bits_and_other_runs_differ(void **state)
{
    (void)state;
    const char *const texts[] = {"sphere",     "cube",       "basis",
                                 "orthogonal", "lower-loss", "lower-payoff",
                                 "orthant"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tarry__instance a = make_of(texts[i], 5, 3),
                        b = make_of(texts[i], 5, 3);
        tarry__instance c = make_of(texts[i], 5, 4),
                        d = make_of(texts[i], 6, 3);
        const size_t size = a.dim * sizeof *a.theta;
        assert_memory_equal(a.arms, b.arms, a.n_arms * size);
        assert_memory_equal(a.theta, b.theta, size);
        assert_memory_not_equal(a.theta, c.theta, size);
        assert_memory_not_equal(a.theta, d.theta, size);
        tarry__instance_clear(&a);
        tarry__instance_clear(&b);
        tarry__instance_clear(&c);
        tarry__instance_clear(&d);
    }
}

static void fixed_instances_are_those_of_run_0(void **state)
{
    (void)state;
    const char *const texts[] = {"sphere",     "cube",       "basis",
                                 "orthogonal", "lower-loss", "lower-payoff",
                                 "orthant"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s:fixed=1", texts[i]);
        tarry__instance a = make_of(text, 5, 0), b = make_of(text, 5, 99);
        tarry__instance c = make_of(texts[i], 5, 0);
        const size_t size = a.dim * sizeof *a.theta;
        assert_memory_equal(a.theta, b.theta, size);
        assert_memory_equal(a.theta, c.theta, size);
        assert_memory_equal(a.arms, b.arms, a.n_arms * size);
        tarry__instance_clear(&a);
        tarry__instance_clear(&b);
        tarry__instance_clear(&c);
    }
}

/* Coordinates on the sphere have mean 0 and variance 1/n; over 60 000 numbers
 * both are off by less than 4 standard errors (variance of x^2: 2/n^2 (n-1)/
 * (n+2), below 2/n^2). */
static void sphere_arms_are_unit_vectors_without_a_direction(void **state)
{
    (void)state;
    tarry__instance a = make("sphere:dim=6,arms=1e4,scale=0.5");
    double sum = 0, squares = 0;
    const double count = 6e4, n = 6;
    for (size_t i = 0; i < a.n_arms * a.dim; i++)
        sum += a.arms[i];
    for (size_t k = 0; k < a.n_arms; k++) {
        CHECK_NEAR(product(a.arms + 6 * k, a.arms + 6 * k, 6), 1, 1e-14);
        squares += a.arms[6 * k] * a.arms[6 * k];
    }
    CHECK_NEAR(sum / count, 0, 4 * sqrt(1 / n / count));
    CHECK_NEAR(squares / 1e4, 1 / n, 4 * sqrt(2) / n / 100);
    CHECK_NEAR(product(a.theta, a.theta, 6), 0.25, 1e-14);
    tarry__instance_clear(&a);
}

static void the_orthant_is_the_sphere_without_signs(void **state)
{
    (void)state;
    tarry__instance a = make("sphere:dim=6,arms=300,scale=0.5");
    tarry__instance b = make("orthant:dim=6,arms=300,scale=0.5");
    for (size_t i = 0; i < a.n_arms * a.dim; i++)
        assert_true(b.arms[i] == fabs(a.arms[i]));
    for (size_t i = 0; i < a.dim; i++)
        assert_true(b.theta[i] == fabs(a.theta[i]));
    for (size_t k = 0; k < b.n_arms; k++)
        assert_true(b.mean[k] >= 0 && b.mean[k] <= 0.5);
    tarry__instance_clear(&a);
    tarry__instance_clear(&b);
}

static void check_corners(const char *text, size_t n_arms)
{
    tarry__instance a = make(text);
    assert_int_equal(a.n_arms, n_arms);
    for (size_t i = 0; i < a.n_arms * a.dim; i++)
        CHECK_NEAR(fabs(a.arms[i]), 1 / sqrt((double)a.dim), 0);
    for (size_t j = 0; j < a.n_arms; j++)
        for (size_t k = 0; k < j; k++)
            assert_memory_not_equal(a.arms + j * a.dim, a.arms + k * a.dim,
                                    a.dim * sizeof *a.arms);
    tarry__instance_clear(&a);
}

static void cube_arms_are_distinct_corners(void **state)
{
    (void)state;
    check_corners("cube", 100);
    check_corners("cube:dim=8,arms=0", 256);
    check_corners("cube:dim=1,arms=2", 2);
    check_corners("cube:dim=9,arms=500", 500);
    check_corners("cube:dim=40,arms=300", 300);
    check_corners("cube:dim=100,arms=300", 300);
}

/* Each coordinate of 2000 corners: 4 standard errors of a coin. */
static void cube_corners_have_no_favourite_side(void **state)
{
    static const char *const texts[] = {"cube:dim=30,arms=2000",
                                        "cube:dim=63,arms=2000",
                                        "cube:dim=130,arms=2000"};
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        tarry__instance a = make(texts[t]);
        for (size_t i = 0; i < a.dim; i++) {
            double sum = 0;
            for (size_t k = 0; k < a.n_arms; k++)
                sum += a.arms[k * a.dim + i] > 0 ? 1 : -1;
            CHECK_AT_MOST(fabs(sum), 4 * sqrt(2000));
        }
        tarry__instance_clear(&a);
    }
}

static double cosine(const double *a, const double *b, size_t n)
{
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < n; i++) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return ab / sqrt(aa * bb);
}

/* In 50 dimensions no two draws are near each other: 6 standard deviations of
 * a cosine are 0.85.  So theta is no arm, and no arm of another seed or run. */
static void theta_and_arms_have_luck_of_their_own(void **state)
{
    static const char *const texts[] = {"sphere:dim=50,arms=30",
                                        "cube:dim=50,arms=30",
                                        "orthogonal:dim=50,arms=30"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tarry__instance a = make_of(texts[i], 5, 1);
        for (uint64_t seed = 5; seed <= 6; seed++)
            for (uint32_t run = 1; run <= 2; run++) {
                tarry__instance b = make_of(texts[i], seed, run);
                for (size_t k = 0; k < b.n_arms; k++)
                    CHECK_AT_MOST(
                        fabs(cosine(a.theta, b.arms + k * b.dim, b.dim)), 0.85);
                if (seed > 5 || run > 1)
                    CHECK_AT_MOST(fabs(cosine(a.theta, b.theta, b.dim)), 0.85);
                tarry__instance_clear(&b);
            }
        tarry__instance_clear(&a);
    }
}

/* Which arm is the best says nothing of the first losses. */
static void the_best_arm_and_the_losses_have_luck_of_their_own(void **state)
{
    (void)state;
    enum { RUNS = 2000, ARMS = 16 };
    double sum = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        tarry__instance a = make_of("basis:arms=16", 5, run);
        const double place = ((double)a.best + 0.5) / ARMS - 0.5;
        for (uint64_t round = 0; round < 2; round++) {
            const tarry_random at = {.seed = 5,
                                     .run = run,
                                     .round = round,
                                     .stream = TARRY__ENV_STREAM_WORLD};
            sum += place * (tarry_random_uniform(&at) - 0.5);
        }
        tarry__instance_clear(&a);
    }
    /* products of uniforms have a variance of 1/144 */
    CHECK_AT_MOST(fabs(sum), 4 * sqrt(2 * RUNS) / 12);
}

static void basis_means_are_as_described(void **state)
{
    (void)state;
    size_t places[5] = {0};
    for (uint32_t run = 0; run < 500; run++) {
        tarry__instance a =
            make_of("basis:arms=5,best=0.1,gap=0.3,means=equal", 7, run);
        for (size_t k = 0; k < 5; k++)
            CHECK_NEAR(a.mean[k], k == a.best ? 0.1 : 0.4, 1e-15);
        places[a.best]++;
        tarry__instance_clear(&a);
    }
    for (int k = 0; k < 5; k++) /* 4 standard errors of 500 draws */
        CHECK_NEAR((double)places[k], 100, 4 * sqrt(500 * 0.2 * 0.8));
    tarry__instance b = make("basis:arms=1000,best=-0.2,gap=0.5");
    double sum = 0;
    for (size_t k = 0; k < 1000; k++) {
        CHECK_AT_MOST(b.mean[k], 0.3);
        sum += b.mean[k];
    }
    CHECK_NEAR(b.best_mean, -0.2, 0);
    CHECK_NEAR(sum / 1000, 0.05, 4 * 0.5 / sqrt(12 * 1000.0));
    tarry__instance_clear(&b);
}

static void files_are_taken_as_they_are(void **state)
{
    (void)state;
    put_small_files();
    put_file("c.csv", "1,-1,0.5\n");
    const char *const texts[] = {"file:arms=FOLDER/a.csv,theta=FOLDER/b.csv",
                                 "file:arms=FOLDER/a.csv,theta=FOLDER/c.csv"};
    for (int i = 0; i < 2; i++) {
        tarry__instance a = make(texts[i]);
        assert_int_equal(a.n_arms, 2);
        assert_int_equal(a.dim, 3);
        CHECK_NEAR(a.mean[0], 0.05, 1e-15);
        CHECK_NEAR(a.mean[1], -0.75, 0);
        assert_int_equal(a.best, 1);
        tarry__instance_clear(&a);
    }
}

static double largest_product(const tarry__instance *a)
{
    double largest = 0;
    for (size_t j = 0; j < a->n_arms; j++) {
        const double *x = a->arms + j * a->dim;
        CHECK_NEAR(product(x, x, a->dim), 1, 1e-13);
        for (size_t k = 0; k < j; k++)
            largest =
                fmax(largest, fabs(product(x, a->arms + k * a->dim, a->dim)));
    }
    return largest;
}

static void orthogonal_arms_are_nearly_so_in_every_pair(void **state)
{
    (void)state;
    tarry__instance a = make("orthogonal:dim=60,arms=700");
    CHECK_AT_MOST(largest_product(&a), sqrt(8 * log(700) / 60));
    tarry__instance_clear(&a);
    /* tight enough that many a draw has a pair at fault, whose arms are far
     * apart in the list */
    for (uint64_t seed = 0; seed < 6; seed++) {
        tarry__instance many =
            make_of("orthogonal:dim=60,arms=700,within=0.5", seed, 0);
        CHECK_AT_MOST(largest_product(&many), 0.5);
        tarry__instance_clear(&many);
    }
    /* tight enough that nearly every draw has a pair at fault */
    for (uint64_t seed = 0; seed < 60; seed++) {
        tarry__instance few =
            make_of("orthogonal:dim=8,arms=12,within=0.8", seed, 0);
        CHECK_AT_MOST(largest_product(&few), 0.8);
        tarry__instance_clear(&few);
    }
    tarry__instance b = make("orthogonal:dim=60,arms=100,within=0.45");
    tarry__instance c = make("orthogonal:dim=60,arms=100,within=1");
    CHECK_AT_MOST(largest_product(&b), 0.45);
    CHECK_AT_MOST(0.45, largest_product(&c));
    tarry__instance_clear(&b);
    tarry__instance_clear(&c);
}

static void the_loss_dependent_hard_instance_keeps_its_promises(void **state)
{
    (void)state;
    size_t other_best = 0, first_best = 0;
    for (uint32_t run = 0; run < 6; run++) {
        tarry__instance a = make_of("lower-loss:dim=320,dbar=50", 11, run);
        const double q = sqrt(8 * log(50 * 320.0) / 320);
        CHECK_NEAR(a.q, q, 1e-15);
        CHECK_AT_MOST(a.q, 0.5);
        assert_int_equal(a.n_arms, (size_t)ceil(2 * 50 / q));
        CHECK_AT_MOST(largest_product(&a),
                      sqrt(8 * log((double)a.n_arms) / 320));
        CHECK_NEAR(a.best_mean, -1, 0);
        for (size_t i = 0; i < a.dim; i++)
            CHECK_NEAR(a.theta[i], -a.arms[a.best * a.dim + i], 0);
        for (size_t k = 0; k < a.n_arms; k++)
            if (k != a.best)
                CHECK_AT_MOST(fabs(a.mean[k]), q);
        first_best = run == 0 ? a.best : first_best;
        other_best += a.best != first_best;
        tarry__instance_clear(&a);
    }
    assert_true(other_best > 0);
}

static void the_payoff_hard_instance_keeps_its_promises(void **state)
{
    (void)state;
    tarry__instance a = make("lower-payoff:dim=500,arms=140");
    const size_t n = 500;
    for (size_t j = 0; j < a.n_arms; j++) {
        const double *x = a.arms + j * n;
        size_t size = 0;
        for (size_t i = 0; i < n; i++) {
            assert_true(x[i] == 0 || x[i] == 1 / sqrt(500));
            size += x[i] > 0;
        }
        assert_int_equal(size, n / 2);
        for (size_t k = 0; k < a.n_arms; k++) {
            size_t only_first = 0;
            for (size_t i = 0; i < n; i++)
                only_first += x[i] > 0 && a.arms[k * n + i] == 0;
            assert_true(j == k ? only_first == 0 : 20 * only_first >= n);
        }
        if (j != a.best)
            CHECK_AT_MOST(0.05 - 1e-12, a.mean[j]);
    }
    CHECK_NEAR(a.best_mean, 0, 0);
    for (size_t i = 0; i < n; i++)
        assert_true((a.theta[i] > 0) != (a.arms[a.best * n + i] > 0));
    tarry__instance_clear(&a);
}

static void the_optimism_instance_is_the_published_one(void **state)
{
    (void)state;
    tarry__instance a = make("optimism:eps=0.02,alpha=1.5");
    const double arms[] = {1, 0, 0, 1, 0.98, 0.24};
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(a.arms[i], arms[i], 1e-15);
    assert_int_equal(a.best, 0);
    CHECK_NEAR(a.mean[0], -1, 0);
    CHECK_NEAR(a.mean[1], 0, 0);
    CHECK_NEAR(a.mean[2], -0.98, 1e-15);
    tarry__instance_clear(&a);
}

static void a_circle_is_even_and_its_first_arm_best(void **state)
{
    (void)state;
    tarry__instance a = make("circle:arms=12,scale=0.5");
    const double root = sqrt(0.75);
    const double gaps[] = {0, 1 - root, 0.5, 1, 1.5, 1 + root, 2};
    assert_int_equal(a.dim, 2);
    assert_int_equal(a.best, 0);
    for (size_t k = 0; k < 12; k++)
        CHECK_NEAR(a.mean[k] - a.mean[0], gaps[k <= 6 ? k : 12 - k] / 2, 1e-15);
    tarry__instance_clear(&a);
}

static void listed_means_move_to_the_later_ones(void **state)
{
    (void)state;
    tarry__world *world =
        make_world("listed:means=-0.2/0/0.2,later=0.2/0/-0.2,from=128,"
                   "until=640",
                   "none", "none");
    tarry__instance *x = &world->instance;
    assert_false(tarry__instance_move(x, 127));
    assert_true(tarry__instance_move(x, 128));
    assert_int_equal(x->best, 0);
    CHECK_NEAR(x->mean[0], -0.2, 1e-15);
    assert_true(tarry__instance_move(x, 512));
    assert_int_equal(x->best, 2);
    CHECK_NEAR(x->mean[2], -0.1, 1e-15);
    assert_true(tarry__instance_move(x, 6400));
    CHECK_NEAR(x->best_mean, -0.2, 1e-15);
    CHECK_NEAR(x->mean[0], 0.2, 1e-15);
    tarry__world_free(world);
}

static void copies_have_one_mean_and_errors_stay_in_range(void **state)
{
    (void)state;
    tarry__world *world =
        make_world("copies:dim=4,arms=6,copies=3", "none", "none");
    for (size_t k = 0; k < 18; k++)
        CHECK_NEAR(world->instance.mean[k], world->instance.mean[k / 3 * 3], 0);
    tarry__world_free(world);
    world = make_world("misspecified:dim=4,arms=200,error=0.3", "none", "none");
    const tarry__instance *x = &world->instance;
    double most = 0;
    for (size_t k = 0; k < x->n_arms; k++) {
        double linear = 0;
        for (size_t i = 0; i < x->dim; i++)
            linear += x->arms[k * x->dim + i] * x->theta[i];
        most = fmax(most, fabs(x->mean[k] - linear));
    }
    assert_true(most <= 0.3 && most > 0.28);
    tarry__world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_circle_is_even_and_its_first_arm_best),
        cmocka_unit_test(every_listed_instance_is_made_from_its_defaults),
        cmocka_unit_test(same_place_means_same_bits_and_other_runs_differ),
        cmocka_unit_test(fixed_instances_are_those_of_run_0),
        cmocka_unit_test(sphere_arms_are_unit_vectors_without_a_direction),
        cmocka_unit_test(the_orthant_is_the_sphere_without_signs),
        cmocka_unit_test(cube_arms_are_distinct_corners),
        cmocka_unit_test(cube_corners_have_no_favourite_side),
        cmocka_unit_test(theta_and_arms_have_luck_of_their_own),
        cmocka_unit_test(the_best_arm_and_the_losses_have_luck_of_their_own),
        cmocka_unit_test(basis_means_are_as_described),
        cmocka_unit_test(files_are_taken_as_they_are),
        cmocka_unit_test(listed_means_move_to_the_later_ones),
        cmocka_unit_test(copies_have_one_mean_and_errors_stay_in_range),
        cmocka_unit_test(orthogonal_arms_are_nearly_so_in_every_pair),
        cmocka_unit_test(the_loss_dependent_hard_instance_keeps_its_promises),
        cmocka_unit_test(the_payoff_hard_instance_keeps_its_promises),
        cmocka_unit_test(the_optimism_instance_is_the_published_one),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
