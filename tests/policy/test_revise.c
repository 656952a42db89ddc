/* An outcome that is corrected counts as if it had been reported so at once, in
 * every policy whose record has `revise`. */
#include "policy/play.h"
#include "policy/policy_type.h"

enum { ROUNDS = 600, HORIZON = 3000 };

typedef struct {
    const tarry__policy_type *type;
    tarry__policy_problem problem;
    void *state;
} player;

static void open_player(player *p, const char *text, const game *g,
                        tarry__policy_default rule, uint32_t run)
{
    p->problem = (tarry__policy_problem){.n_arms = g->n_arms,
                                         .dim = g->dim,
                                         .arms = g->arms,
                                         .horizon = HORIZON,
                                         .seed = 2385,
                                         .run = run,
                                         .default_outcome = rule};
    tarry__policy_description d;
    tarry_error error = {""};
    if (tarry__policy_read(text, NULL, TARRY__POLICY_ANY_DELAYS, &d, &error) !=
            TARRY_OK ||
        tarry__policy_open(&d, &p->problem, &p->state, &error) != TARRY_OK)
        fail_msg("%s: %s", text, error.text);
    p->type = d.type;
    tarry__policy_description_clear(&d);
}

/* Losses come ten rounds late, and of the first player's one in three is wrong
 * at first. */
static void check_revisions(const char *text)
{
    game g = make_game(8, 3, 3);
    const tarry__policy_default none = {0};
    player corrected, plain;
    size_t arm[ROUNDS + 1], other;
    open_player(&corrected, text, &g, none, 0);
    open_player(&plain, text, &g, none, 0);
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        assert_int_equal(corrected.type->choose(corrected.state, t, &arm[t]),
                         TARRY_OK);
        assert_int_equal(plain.type->choose(plain.state, t, &other), TARRY_OK);
        if (arm[t] != other)
            fail_msg("%s, round %ju: %zu and %zu", text, (uintmax_t)t, arm[t],
                     other);
        const uint64_t s = t - 10;
        if (t <= 10)
            continue;
        const double loss = loss_of(&g, s, arm[s]), wrong = 0.1 - 0.5 * loss;
        corrected.type->observe(corrected.state, s, arm[s],
                                s % 3 == 0 ? wrong : loss);
        if (s % 3 == 0)
            corrected.type->revise(corrected.state, s, arm[s], wrong, loss);
        plain.type->observe(plain.state, s, arm[s], loss);
    }
    tarry__policy_close(corrected.type, corrected.state);
    tarry__policy_close(plain.type, plain.state);
    end_game(&g);
}

static void correction_counts_as_first_report(void **state)
{
    (void)state;
    size_t count = 0;
    for (size_t i = 0; tarry__policy_types[i] != NULL; i++)
        if (tarry__policy_types[i]->revise != NULL &&
            !tarry__policy_types[i]->needs_means) {
            check_revisions(tarry__policy_types[i]->name);
            count++;
        }
    check_revisions("phased-loss-dependent:constants=tight,guide=lints");
    assert_true(count >= 10);
}

/* ---- a declared default ---------------------------------------------------*/

enum { SHOPPERS = 8000, ARMS = 3 };

/* Arms sell to 2, 5 and 10 %, sales are reported 300 rounds later on average,
 * no sale never is: it is the declared default.  Answers the share of the best
 * arm in the second half. */
static double share_of_best(const char *text, tarry__policy_default rule,
                            uint32_t run)
{
    static const double rate[ARMS] = {0.02, 0.05, 0.1};
    static size_t arm[SHOPPERS + 1];
    static uint64_t due[SHOPPERS + 1];
    double arms[ARMS * ARMS] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const game g = {ARMS, ARMS, arms, NULL};
    size_t best = 0;
    player p;
    open_player(&p, text, &g, rule, run);
    for (uint64_t t = 1; t <= SHOPPERS; t++) {
        uint64_t seed = t * 2385 + run;
        assert_int_equal(p.type->choose(p.state, t, &arm[t]), TARRY_OK);
        due[t] = test_uniform(&seed) < rate[arm[t]]
                     ? t + exponential_delay(t, 300)
                     : NEVER;
        best += t > SHOPPERS / 2 && arm[t] == 2;
        for (uint64_t s = 1; s <= t; s++) {
            const bool settled = t - s > rule.after;
            if (due[s] == t && settled && !rule.final)
                p.type->revise(p.state, s, arm[s], rule.loss, -1);
            else if (due[s] == t && !settled)
                p.type->observe(p.state, s, arm[s], -1);
            else if (t - s == rule.after && due[s] > t)
                p.type->observe(p.state, s, arm[s], rule.loss);
        }
    }
    tarry__policy_close(p.type, p.state);
    return 2.0 * (double)best / SHOPPERS;
}

static void declared_default_leads_to_best_arm(void **state)
{
    (void)state;
    static const tarry__policy_default rules[] = {
        {1, 0, 1, 0}, {1, 0, 1, 300}, {1, 0, 1, 2000}, {1, 1, 1, 2000}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (uint32_t run = 0; run < 3; run++) {
            const double share = share_of_best("foresight", rules[i], run);
            const double whole = share_of_best("recommended", rules[i], run);
            print_message("    after %ju: %.2f, %.2f\n",
                          (uintmax_t)rules[i].after, share, whole);
            assert_true(share > 0.7 && whole > 0.7);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correction_counts_as_first_report),
        cmocka_unit_test(declared_default_leads_to_best_arm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
