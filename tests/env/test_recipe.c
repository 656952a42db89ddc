/* Worlds of one's own: which numbers are taken, and what a look shows. */
#include "env/worlds.h"
#include "env/recipe.h"
#include "tarry/world.h"

static const double plain_arms[] = {1, 0, 0, 1, 0.5, 0.5};

/* Three arms in two dimensions. */
static tarry_world_params three_arms(void)
{
    return (tarry_world_params){.n_arms = 3,
                                .dim = 2,
                                .arms = plain_arms,
                                .loss = "none",
                                .delay = "constant:rounds=3"};
}

static void check_refused(const tarry_world_params *p, tarry_status wanted,
                          const char *says)
{
    tarry_world *world = (tarry_world *)p;
    tarry_error error = {""};
    const tarry_status status = tarry_world_create(p, &world, &error);
    if (status != wanted || world != NULL || strstr(error.text, says) == NULL)
        fail_msg("%s, '%s'; wanted '%s'", tarry_status_name(status), error.text,
                 says);
}

/* In every array, at every place. */
static void numbers_that_are_not_finite_are_refused_by_place(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    static const char *const names[] = {"arms", "theta", "means"};
    static const size_t counts[] = {6, 2, 3};
    for (size_t b = 0; b < 3; b++)
        for (size_t which = 0; which < 3; which++)
            for (size_t at = 0; at < counts[which]; at++) {
                double arms[6], theta[2] = {0.1, 0.2};
                double means[3] = {0.1, 0.2, 0.3};
                double *const all[] = {arms, theta, means};
                char says[60];
                tarry_world_params p = three_arms();
                memcpy(arms, plain_arms, sizeof arms);
                all[which][at] = bad[b];
                p.arms = arms;
                p.theta = which < 2 ? theta : NULL;
                p.means = which < 2 ? NULL : means;
                snprintf(says, sizeof says, "%s: number %zu is not finite",
                         names[which], at);
                check_refused(&p, TARRY_NOT_FINITE, says);
            }
}

static const size_t rows_of[] = {2, 0, 1, 0};
static const uint64_t row_delays[] = {5, 1, TARRY_NEVER, 0};

static tarry_world_params table_of(const size_t *arm, const double *loss)
{
    tarry_world_params p = three_arms();
    p.loss = p.delay = NULL;
    p.n_rows = 4;
    p.row_arm = arm;
    p.row_loss = loss;
    p.row_delay = row_delays;
    return p;
}

static void rows_have_a_known_arm_and_a_loss_in_range(void **state)
{
    (void)state;
    static const double bad[] = {NAN,  INFINITY,    -INFINITY,
                                 1.01, 1 + 0x1p-52, -1 - 0x1p-52};
    for (size_t at = 0; at < 4; at++) {
        double loss[] = {1, -1, 0.5, -0.25};
        size_t arm[4];
        char says[60];
        tarry_world *world;
        memcpy(arm, rows_of, sizeof arm);
        const tarry_world_params p = table_of(arm, loss);
        assert_int_equal(tarry_world_create(&p, &world, NULL), TARRY_OK);
        tarry_world_free(world);
        for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
            const double kept = loss[at];
            loss[at] = bad[b];
            snprintf(says, sizeof says, "row %zu: a loss outside [-1, 1]", at);
            check_refused(&p, TARRY_BAD_ARGUMENT, says);
            loss[at] = kept;
        }
        arm[at] = 3;
        snprintf(says, sizeof says, "row %zu: arm 3 of 3", at);
        check_refused(&p, TARRY_BAD_ARGUMENT, says);
        arm[at] = SIZE_MAX;
        check_refused(&p, TARRY_BAD_ARGUMENT, "row ");
    }
}

static void every_arm_needs_a_row(void **state)
{
    (void)state;
    static const double loss[] = {1, -1, 0.5, -0.25};
    for (size_t missing = 0; missing < 3; missing++) {
        size_t arm[4];
        char says[60];
        for (size_t i = 0; i < 4; i++)
            arm[i] = (missing + 1 + i % 2) % 3;
        const tarry_world_params p = table_of(arm, loss);
        snprintf(says, sizeof says, "arm %zu has no row", missing);
        check_refused(&p, TARRY_BAD_ARGUMENT, says);
    }
}

static void check_look(const tarry_world_params *p, const double *means,
                       size_t best, tarry_world_model model)
{
    tarry_world *world;
    tarry_world_view view;
    assert_int_equal(tarry_world_create(p, &world, NULL), TARRY_OK);
    assert_int_equal(tarry_world_look(world, 5, 7, &view, NULL), TARRY_OK);
    assert_int_equal(view.n_arms, p->n_arms);
    assert_int_equal(view.dim, p->dim);
    assert_memory_equal(view.arms, p->arms, p->n_arms * p->dim * 8);
    for (size_t k = 0; k < p->n_arms; k++)
        CHECK_NEAR(view.means[k], means[k], 1e-15);
    assert_int_equal(view.best, best);
    assert_int_equal(view.model, model);
    tarry_world_view_free(&view);
    tarry_world_free(world);
}

/* Of several best arms the first counts. */
static void a_look_shows_means_and_the_first_of_the_best(void **state)
{
    (void)state;
    static const double all[][3] = {{0.1, 0.2, 0.3},   {0.3, 0.1, 0.2},
                                    {0.3, 0.2, 0.1},   {-0.5, 0.25, -0.5},
                                    {0.5, -0.5, -0.5}, {0, 0, 0},
                                    {0.5, -0.0, 0.0},  {-1, 1, -1}};
    static const size_t best[] = {0, 1, 2, 0, 1, 0, 1, 0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tarry_world_params p = three_arms();
        p.means = all[i];
        check_look(&p, all[i], best[i], TARRY_WORLD_STOCHASTIC);
        const double loss[] = {all[i][2], all[i][0], all[i][1], all[i][0]};
        p = table_of(rows_of, loss);
        check_look(&p, all[i], best[i], TARRY_WORLD_LOSS_DEPENDENT);
    }
    const double theta[] = {0.5, -0.5}, products[] = {0.5, -0.5, 0};
    tarry_world_params p = three_arms();
    p.theta = theta;
    p.delay = "exponential:mean=3,spread=2";
    check_look(&p, products, 1, TARRY_WORLD_STOCHASTIC_BY_ARM);
}

static tarry_status draw_as_told(void *state, uint64_t round, size_t arm,
                                 double loss, const tarry_random *at,
                                 uint64_t *delay)
{
    (void)round;
    (void)arm;
    (void)loss;
    (void)at;
    *delay = *(uint64_t *)state;
    return TARRY_OK;
}

static tarry_status draw_many_as_told(void *state, size_t count,
                                      const tarry_random *at,
                                      const double *loss, uint64_t *delay)
{
    (void)at;
    (void)loss;
    for (size_t i = 0; i < count; i++)
        delay[i] = *(uint64_t *)state;
    return TARRY_OK;
}

/* The delay of round 3 in a world. */
static uint64_t drawn_delay(const tarry_world_params *p)
{
    tarry_world *recipe;
    tarry__world *w;
    double loss;
    uint64_t delay;
    assert_int_equal(tarry_world_create(p, &recipe, NULL), TARRY_OK);
    assert_int_equal(tarry__world_make(tarry__recipe_own(recipe),
                                       recipe->instance, recipe->loss,
                                       recipe->delay, 1, 0, &w, NULL),
                     TARRY_OK);
    tarry__world_draw(w, 3, 0, &loss, &delay);
    assert_int_equal(tarry__world_failure(w), TARRY_OK);
    tarry__world_free(w);
    tarry_world_free(recipe);
    return delay;
}

/* Up to 1e14 rounds; what is longer never comes, however it is drawn. */
static void longest_delays_of_ones_own_are_exact(void **state)
{
    (void)state;
    static const uint64_t delays[] = {
        0, 1, 100000000000000, 100000000000001, UINT64_MAX - 1, TARRY_NEVER};
    static const double means[] = {0.1, 0.2, 0.3};
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
        uint64_t told = delays[i];
        const uint64_t wanted = i < 3 ? told : TARRY__DELAY_NEVER;
        tarry_delay_law law = {
            .name = "told", .context = &told, .draw = draw_as_told};
        tarry_world_params p = three_arms();
        p.means = means;
        p.delay = NULL;
        p.law = &law;
        assert_true(drawn_delay(&p) == wanted);
        law.draw = NULL;
        law.draw_many = draw_many_as_told;
        assert_true(drawn_delay(&p) == wanted);
        const uint64_t rows[] = {told, told, told, told};
        const double loss[] = {0.5, 0.5, 0.5, 0.5};
        p = table_of(rows_of, loss);
        p.row_delay = rows;
        assert_true(drawn_delay(&p) == wanted);
    }
}

/* The arrays are not looked at: they would have to be large. */
static void sizes_and_dependences_have_limits(void **state)
{
    (void)state;
    static const double theta[] = {0.1, 0.2};
    static const size_t sizes[][2] = {{0, 2},
                                      {3, 0},
                                      {TARRY__INSTANCE_MOST_ARMS + 1, 2},
                                      {3, TARRY__INSTANCE_MOST_DIM + 1},
                                      {SIZE_MAX, SIZE_MAX}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tarry_world_params p = three_arms();
        p.theta = theta;
        p.n_arms = sizes[i][0];
        p.dim = sizes[i][1];
        check_refused(&p, TARRY_BAD_ARGUMENT, "n_arms or dim out of range");
    }
    for (int depends = -1; depends <= 4; depends++) {
        uint64_t told = 1;
        const tarry_delay_law law = {.name = "told",
                                     .context = &told,
                                     .depends = (tarry_delay_dependence)depends,
                                     .draw = draw_as_told};
        tarry_world_params p = three_arms();
        p.theta = theta;
        p.delay = NULL;
        p.law = &law;
        if (depends >= 0 && depends <= 2)
            assert_int_equal(drawn_delay(&p), 1);
        else
            check_refused(&p, TARRY_BAD_ARGUMENT, "depends on nothing known");
    }
}

/* Seed and run are those that were asked for. */
static void a_look_shows_the_run_that_is_asked_for(void **state)
{
    (void)state;
    tarry_world_params p = tarry_world_defaults();
    tarry_world *recipe;
    assert_int_equal(tarry_world_create(&p, &recipe, NULL), TARRY_OK);
    for (uint64_t seed = 0; seed < 3; seed++)
        for (uint32_t run = 0; run < 3; run++) {
            tarry_world_view view;
            tarry__world *w =
                make_world_of(p.instance, p.loss, p.delay, seed, run);
            const tarry__instance *a = &w->instance;
            assert_int_equal(tarry_world_look(recipe, seed, run, &view, NULL),
                             TARRY_OK);
            assert_memory_equal(view.arms, a->arms, a->n_arms * a->dim * 8);
            assert_memory_equal(view.means, a->mean, a->n_arms * 8);
            assert_int_equal(view.best, a->best);
            tarry_world_view_free(&view);
            tarry__world_free(w);
        }
    tarry_world_free(recipe);
}

/* Nothing of what was given is needed any longer. */
static void a_world_keeps_copies(void **state)
{
    (void)state;
    double arms[6], means[] = {0.3, 0.1, 0.2};
    char loss[] = "none", delay[] = "constant:rounds=3", name[] = "mine";
    tarry_world_params p = three_arms();
    tarry_world *world;
    tarry_world_view view;
    memcpy(arms, plain_arms, sizeof arms);
    p.name = name;
    p.arms = arms;
    p.means = means;
    p.loss = loss;
    p.delay = delay;
    assert_int_equal(tarry_world_create(&p, &world, NULL), TARRY_OK);
    memset(arms, 0, sizeof arms);
    memset(means, 0, sizeof means);
    memset(loss, 'x', sizeof loss - 1);
    memset(delay, 'x', sizeof delay - 1);
    assert_int_equal(tarry_world_look(world, 0, 0, &view, NULL), TARRY_OK);
    assert_memory_equal(view.arms, plain_arms, sizeof plain_arms);
    CHECK_NEAR(view.means[0], 0.3, 0);
    assert_int_equal(view.best, 1);
    tarry_world_view_free(&view);
    tarry_world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_are_not_finite_are_refused_by_place),
        cmocka_unit_test(rows_have_a_known_arm_and_a_loss_in_range),
        cmocka_unit_test(every_arm_needs_a_row),
        cmocka_unit_test(a_look_shows_means_and_the_first_of_the_best),
        cmocka_unit_test(longest_delays_of_ones_own_are_exact),
        cmocka_unit_test(sizes_and_dependences_have_limits),
        cmocka_unit_test(a_look_shows_the_run_that_is_asked_for),
        cmocka_unit_test(a_world_keeps_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
