/* Every public function refuses NULL and nonsense; none crashes.  Which ones
 * there are is compared with the library's symbols by tests/system. */
#include "check.h"
#include <string.h>
#include "tarry/tarry.h"

static const double two_arms[] = {1, 0, 0, 1};

static tarry_policy_params params(void)
{
    tarry_policy_params p = tarry_policy_defaults();
    p.n_arms = p.dim = 2;
    p.arms = two_arms;
    p.horizon = 1000;
    return p;
}

static void words_answer_anything(void **state)
{
    (void)state;
    assert_non_null(tarry_status_name((tarry_status)-1));
    assert_non_null(tarry_status_text((tarry_status)9999));
    assert_non_null(tarry_version());
    assert_null(tarry_policy_name(SIZE_MAX));
}

static void draws_without_an_address_are_nothing(void **state)
{
    (void)state;
    const tarry_random at = {.seed = 2385};
    uint32_t words[4] = {7, 7, 7, 7};
    double u[2] = {7, 7};
    tarry_random_bits(NULL, words);
    tarry_random_bits(&at, NULL);
    tarry_random_uniform_pair(NULL, u);
    tarry_random_uniform_pair(&at, NULL);
    assert_true(words[0] == 7 && u[0] == 7);
    assert_true(isnan(tarry_random_uniform(NULL)));
    assert_true(isnan(tarry_random_normal(NULL)));
    assert_true(isnan(tarry_random_exponential(NULL, 1)));
    assert_true(isnan(tarry_random_lognormal(NULL, 0, 1)));
    assert_true(isnan(tarry_random_weibull(NULL, 1, 1)));
    assert_true(isnan(tarry_random_pareto(NULL, 1, 1)));
    assert_true(isnan(tarry_random_lomax(NULL, 1, 1)));
    assert_true(tarry_random_geometric(NULL, 0.5) == UINT64_MAX);
    assert_true(tarry_random_poisson(NULL, 1) == UINT64_MAX);
    assert_true(tarry_random_poisson(NULL, 100) == UINT64_MAX);
}

static void laws_of_nothing_are_refused(void **state)
{
    (void)state;
    const double weights[] = {1, 2};
    const tarry_random at = {.seed = 2385};
    tarry_discrete *law;
    assert_int_equal(tarry_discrete_create(NULL, 2, &law), TARRY_BAD_ARGUMENT);
    assert_null(law);
    assert_int_equal(tarry_discrete_create(weights, 0, &law),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_discrete_create(weights, 2, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_true(tarry_discrete_draw(NULL, &at) == SIZE_MAX);
    assert_int_equal(tarry_discrete_create(weights, 2, &law), TARRY_OK);
    assert_true(tarry_discrete_draw(law, NULL) == SIZE_MAX);
    tarry_discrete_free(law);
    tarry_discrete_free(NULL);
}

static void arms_from_nowhere_are_refused(void **state)
{
    (void)state;
    tarry_arms *arms;
    tarry_error error = {""};
    assert_int_equal(tarry_arms_read(NULL, &arms, NULL), TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_arms_read("/", NULL, NULL), TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_arms_read("/", &arms, &error), TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, "directory"));
    assert_null(arms);
    tarry_arms_free(NULL);
}

static void designs_of_nothing_are_refused(void **state)
{
    (void)state;
    tarry_design_options o = tarry_design_defaults();
    tarry_design *d;
    assert_non_null(tarry_design_options_check(NULL, 2, 2));
    assert_null(tarry_design_options_check(&o, 2, 2));
    o.warm_count = 3;
    assert_non_null(tarry_design_options_check(&o, 2, 2));
    o = tarry_design_defaults();
    o.tolerance = NAN;
    assert_non_null(tarry_design_options_check(&o, 2, 2));
    assert_int_equal(tarry_design_solve(NULL, 2, 2, NULL, &d),
                     TARRY_BAD_ARGUMENT);
    assert_null(d);
    assert_int_equal(tarry_design_solve(two_arms, 2, 2, NULL, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_design_solve(two_arms, 0, 2, NULL, &d),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_design_solve(two_arms, SIZE_MAX, 2, NULL, &d),
                     TARRY_BAD_ARGUMENT);
    tarry_design_free(NULL);
}

/* Each way to spoil the parameters of a policy. */
static void spoil(tarry_policy_params *p, size_t way)
{
    static const double not_finite[] = {1, 0, NAN, 1},
                        tiny[] = {1, 0, 0, 1e-308}, huge[] = {1e160, 0, 0, 1};
    switch (way) {
    case 0:
        p->n_arms = 0;
        break;
    case 1:
        p->n_arms = SIZE_MAX;
        break;
    case 2:
        p->dim = 0;
        break;
    case 3:
        p->dim = SIZE_MAX;
        break;
    case 4:
        p->arms = NULL;
        break;
    case 5:
        p->arms = not_finite;
        break;
    case 6:
        p->arms = tiny;
        break;
    case 7:
        p->arms = huge;
        break;
    case 8:
        p->horizon = 0;
        break;
    case 9:
        p->horizon = UINT64_MAX;
        break;
    case 10:
        p->low = NAN;
        break;
    case 11:
        p->high = INFINITY;
        break;
    case 12:
        p->low = 2;
        break;
    case 13:
        p->low = -1e308, p->high = 1e308;
        break;
    case 14:
        p->settings = "nonsense";
        break;
    case 15:
        p->settings = "=,,=:";
        break;
    case 16:
        p->settings = "\x1b[31m=\xff";
        break;
    }
}

static void policies_of_nonsense_are_refused(void **state)
{
    (void)state;
    tarry_policy_params p = params();
    tarry_policy *policy;
    tarry_policy_info info;
    assert_int_equal(tarry_policy_create(NULL, &p, &policy, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_create("lints", NULL, &policy, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_create("lints", &p, NULL, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_describe(NULL, &info), TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_describe("lints", NULL), TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_describe("\xff", &info), TARRY_BAD_ARGUMENT);
    for (size_t k = 0; tarry_policy_name(k) != NULL; k++)
        for (size_t way = 0; way < 17; way++) {
            tarry_error error = {""};
            p = params();
            spoil(&p, way);
            const tarry_status status =
                tarry_policy_create(tarry_policy_name(k), &p, &policy, &error);
            if (status != TARRY_BAD_ARGUMENT && status != TARRY_NOT_FINITE)
                fail_msg("%s, way %zu: %d", tarry_policy_name(k), way, status);
            assert_null(policy);
            assert_true(error.text[0] != '\0');
        }
    tarry_policy_free(NULL);
}

static void calls_without_a_policy_are_refused(void **state)
{
    (void)state;
    const tarry_policy_params p = params();
    tarry_policy *policy;
    tarry_policy_status status;
    uint64_t round;
    size_t arm;
    double gap;
    tarry_policy_get_status(NULL, &status);
    assert_null(status.name);
    tarry_policy_get_status(NULL, NULL);
    assert_int_equal(tarry_policy_choose(NULL, &round, &arm),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_choose_in(NULL, NULL, 1, NULL, NULL, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_observe(NULL, 1, 0), TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_certify(NULL, &arm, &gap),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_cancel(NULL, 1), TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_expire(NULL, 1), TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_apply_default(NULL, 1), TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_admit(NULL, two_arms, &arm),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_withdraw(NULL, 0), TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_probability(NULL, &gap), TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_save(NULL, "/dev/null", NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_restore(NULL, &policy, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_restore("/dev/null", NULL, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_create("lints", &p, &policy, NULL), TARRY_OK);
    assert_int_equal(tarry_policy_choose(policy, NULL, &arm),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_choose(policy, &round, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_certify(policy, NULL, &gap),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_certify(policy, &arm, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_save(policy, NULL, NULL), TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_choose(policy, &round, &arm), TARRY_OK);
    assert_int_equal(round, 1);
    void *bytes;
    size_t size;
    tarry_policy *other;
    assert_int_equal(tarry_policy_pending(NULL, NULL, 0), 0);
    assert_int_equal(tarry_policy_pending(policy, NULL, 1), 0);
    assert_int_equal(tarry_policy_pack(NULL, &bytes, &size),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_pack(policy, NULL, &size),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_pack(policy, &bytes, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_unpack(NULL, 9, &other, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_unpack("nonsense", 8, NULL, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_unpack("nonsense", 8, &other, NULL),
                     TARRY_BAD_STATE);
    assert_null(other);
    tarry_policy_pack_free(NULL);
    tarry_policy_free(policy);
}

static tarry_status try_world(tarry_world_params p)
{
    tarry_world *world;
    tarry_error error = {""};
    const tarry_status status = tarry_world_create(&p, &world, &error);
    assert_true((status == TARRY_OK) == (world != NULL));
    assert_true(status == TARRY_OK || error.text[0] != '\0');
    tarry_world_free(world);
    return status;
}

static void worlds_of_nonsense_are_refused(void **state)
{
    (void)state;
    static const double means[] = {0.5, -0.5}, wild[] = {2, NAN},
                        not_finite[] = {1, 0, NAN, 1};
    static const size_t rows[] = {0, 7};
    static const uint64_t delays[] = {1, TARRY_NEVER};
    const tarry_delay_law empty = {0};
    tarry_world *world;
    tarry_world_view view;
    tarry_world_params p = tarry_world_defaults();
    assert_int_equal(try_world(p), TARRY_OK);
    assert_int_equal(tarry_world_create(NULL, &world, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_world_create(&p, NULL, NULL), TARRY_BAD_ARGUMENT);
    p.instance = "\xff:";
    assert_int_not_equal(try_world(p), TARRY_OK);
    p = tarry_world_defaults();
    p.delay = "constant:rounds=nan";
    assert_int_not_equal(try_world(p), TARRY_OK);
    p = tarry_world_defaults();
    p.loss = ",";
    assert_int_not_equal(try_world(p), TARRY_OK);
    p = tarry_world_defaults();
    p.law = &empty;
    assert_int_not_equal(try_world(p), TARRY_OK);
    p = tarry_world_defaults();
    p.instance = NULL;
    p.n_arms = p.dim = 2;
    p.means = means;
    assert_int_not_equal(try_world(p), TARRY_OK); /* no arms */
    p.arms = not_finite;
    assert_int_not_equal(try_world(p), TARRY_OK);
    p.arms = two_arms;
    p.means = wild;
    assert_int_not_equal(try_world(p), TARRY_OK);
    p.means = NULL;
    p.n_rows = 2;
    assert_int_not_equal(try_world(p), TARRY_OK); /* no table */
    p.row_arm = rows;
    p.row_loss = means;
    p.row_delay = delays;
    assert_int_not_equal(try_world(p), TARRY_OK); /* no arm 7 */
    p.n_arms = SIZE_MAX;
    assert_int_not_equal(try_world(p), TARRY_OK);
    assert_int_equal(tarry_world_look(NULL, 1, 0, &view, NULL),
                     TARRY_BAD_ARGUMENT);
    tarry_world_view_free(NULL);
    tarry_world_free(NULL);
}

static void experiments_of_nothing_are_refused(void **state)
{
    (void)state;
    tarry_experiment_params p = tarry_experiment_defaults();
    const tarry_own_policy empty = {0};
    tarry_experiment *e;
    tarry_experiment_summary summary;
    tarry_experiment_outcome outcome;
    assert_int_equal(tarry_experiment_create(NULL, &e, NULL),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_experiment_create(&p, NULL, NULL),
                     TARRY_BAD_ARGUMENT);
    p.runs = 0;
    assert_int_equal(tarry_experiment_create(&p, &e, NULL), TARRY_BAD_ARGUMENT);
    p = tarry_experiment_defaults();
    p.threads = -1;
    assert_int_equal(tarry_experiment_create(&p, &e, NULL), TARRY_BAD_ARGUMENT);
    p = tarry_experiment_defaults();
    for (int given = 0; given < 2; given++) {
        e = NULL;
        if (given)
            assert_int_equal(tarry_experiment_create(&p, &e, NULL), TARRY_OK);
        assert_int_equal(tarry_experiment_add_world(e, NULL, NULL),
                         TARRY_BAD_ARGUMENT);
        assert_int_not_equal(tarry_experiment_add_policy(e, NULL, NULL),
                             TARRY_OK);
        assert_int_equal(tarry_experiment_add_own_policy(e, NULL, NULL),
                         TARRY_BAD_ARGUMENT);
        assert_int_not_equal(tarry_experiment_add_own_policy(e, &empty, NULL),
                             TARRY_OK);
        assert_int_equal(tarry_experiment_run(e, NULL), TARRY_BAD_ARGUMENT);
        assert_int_equal(tarry_experiment_n_worlds(e), 0);
        assert_int_equal(tarry_experiment_n_policies(e), 0);
        assert_int_equal(tarry_experiment_journal_dropped(e), 0);
        assert_int_equal(tarry_experiment_get_summary(e, 0, 0, &summary),
                         TARRY_BAD_ARGUMENT);
        assert_int_equal(tarry_experiment_get_summary(e, 0, 0, NULL),
                         TARRY_BAD_ARGUMENT);
        assert_int_equal(tarry_experiment_get_outcome(e, 9, 9, 9, &outcome),
                         TARRY_BAD_ARGUMENT);
        assert_int_equal(tarry_experiment_get_outcome(e, 0, 0, 0, NULL),
                         TARRY_BAD_ARGUMENT);
        assert_null(tarry_experiment_json(e));
        tarry_experiment_free(e);
    }
    tarry_experiment_free_json(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_answer_anything),
        cmocka_unit_test(draws_without_an_address_are_nothing),
        cmocka_unit_test(laws_of_nothing_are_refused),
        cmocka_unit_test(arms_from_nowhere_are_refused),
        cmocka_unit_test(designs_of_nothing_are_refused),
        cmocka_unit_test(policies_of_nonsense_are_refused),
        cmocka_unit_test(calls_without_a_policy_are_refused),
        cmocka_unit_test(worlds_of_nonsense_are_refused),
        cmocka_unit_test(experiments_of_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
