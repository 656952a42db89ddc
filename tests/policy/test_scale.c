/* Arms of any scale that is let in: the same game, the same choices.  Powers
 * of two keep every digit, so policies that do not measure arms against a
 * number of their own must agree to the last bit. */
#include "check.h"
#include "play.h"

enum { ROUNDS = 6000 };

static tarry_policy *scaled_policy(const char *text, const game *g, int power)
{
    game other = *g;
    other.arms = malloc(g->n_arms * g->dim * sizeof *other.arms);
    assert_non_null(other.arms);
    for (size_t i = 0; i < g->n_arms * g->dim; i++)
        other.arms[i] = ldexp(g->arms[i], power);
    const tarry_policy_params params = params_of(&other, ROUNDS);
    tarry_policy *p = make_policy(text, &params);
    free(other.arms);
    return p;
}

static double gap_of(const game *g, size_t arm)
{
    return mean_loss(g, arm) - mean_loss(g, best_of(g));
}

static void check_twins(const char *text, int power)
{
    game g = make_game(5, 2, 2);
    tarry_policy *one = scaled_policy(text, &g, 0);
    tarry_policy *two = scaled_policy(text, &g, power);
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        const choice a = choose(one), b = choose(two);
        if (a.arm != b.arm)
            fail_msg("%s, 2^%d, round %ju: %zu, not %zu", text, power,
                     (uintmax_t)t, b.arm, a.arm);
        tarry_policy_observe(one, t, loss_of(&g, t, a.arm));
        tarry_policy_observe(two, t, loss_of(&g, t, a.arm));
    }
    size_t arm;
    double gap;
    if (tarry_policy_certify(two, &arm, &gap) == TARRY_OK)
        assert_true(gap_of(&g, arm) <= gap);
    tarry_policy_free(one);
    tarry_policy_free(two);
    end_game(&g);
}

static void scale_does_not_matter_to_our_policies(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "foresight", "phased-stochastic", "phased-loss-dependent",
        "phased-stochastic:constants=tight",
        "phased-adversarial:constants=tight,design=regret"};
    static const int powers[] = {-330, -100, -20, 20, 100, 330};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < sizeof powers / sizeof *powers; k++)
            check_twins(texts[i], powers[k]);
}

/* A ridge of weight 1 hides tiny arms, and designs of two arms play each half
 * of the time; but nothing plays the worst arm nearly always. */
static void no_policy_clings_to_the_worst_arm(void **state)
{
    (void)state;
    static const int powers[] = {-330, -30, 0, 30, 330};
    game g = make_game(5, 2, 2);
    size_t worst = 0;
    for (size_t k = 1; k < g.n_arms; k++)
        if (mean_loss(&g, k) > mean_loss(&g, worst))
            worst = k;
    for (size_t i = 0; tarry_policy_name(i) != NULL; i++)
        for (size_t k = 0; k < sizeof powers / sizeof *powers; k++) {
            const char *name = tarry_policy_name(i);
            tarry_policy *p = scaled_policy(name, &g, powers[k]);
            size_t plays = 0;
            for (uint64_t t = 1; t <= ROUNDS; t++) {
                const choice c = choose(p);
                plays += c.arm == worst;
                tarry_policy_observe(p, t, loss_of(&g, t, c.arm));
            }
            if (plays > 0.9 * ROUNDS)
                fail_msg("%s, 2^%d: the worst arm %zu times", name, powers[k],
                         plays);
            tarry_policy_free(p);
        }
    end_game(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scale_does_not_matter_to_our_policies),
        cmocka_unit_test(no_policy_clings_to_the_worst_arm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
