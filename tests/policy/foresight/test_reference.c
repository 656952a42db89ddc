/* foresight against a plain version of itself (reference.h), play by play: the
 * arm, the probability with which it was chosen, and the arm that looks best.
 */
#include "policy/foresight/reference.h"

typedef struct {
    const char *text;
    int delays;
    double beta, c;
    uint64_t (*delay)(uint64_t round, size_t arm, double loss);
    uint64_t rounds, horizon;
    bool two_valued, changes; /* arms come and go, plays are called off */
} contest;

static uint64_t at_random(uint64_t round, size_t arm, double loss)
{
    (void)arm, (void)loss;
    return exponential_delay(round, 30);
}

static uint64_t low_ones_later(uint64_t round, size_t arm, double loss)
{
    return round % 9 == 0 ? NEVER
           : loss < 0     ? 60 + exponential_delay(round, 20)
                          : exponential_delay(round, 2 + (double)arm);
}

static uint64_t high_ones_later(uint64_t round, size_t arm, double loss)
{
    (void)arm;
    return loss > 0 ? 90 + round % 11 : round % 3;
}

static uint64_t the_loss_itself(uint64_t round, size_t arm, double loss)
{
    (void)round, (void)arm;
    return (uint64_t)(100 * (loss + 1));
}

static const contest contests[] = {
    {"foresight", R_ANY, 0.6, 1.2, no_delay, 900, 900, false, false},
    {"foresight:beta=2,c=0.3", R_ANY, 2, 0.3, no_delay, 500, 4000, true, true},
    {"foresight:delays=independent", R_INDEPENDENT, 0.6, 1.2, at_random, 700,
     1000, false, false},
    {"foresight:delays=independent", R_INDEPENDENT, 0.6, 1.2, low_ones_later,
     700, 100000, true, true},
    {"foresight:delays=payoff", R_PAYOFF, 0.6, 1.2, the_loss_itself, 600, 5000,
     false, false},
    {"foresight:delays=payoff", R_PAYOFF, 0.6, 1.2, the_loss_itself, 600, 5000,
     true, true},
    {"foresight", R_ANY, 0.6, 1.2, at_random, 600, 5000, false, false},
    {"foresight", R_ANY, 0.6, 1.2, low_ones_later, 700, 5000, true, false},
    {"foresight", R_ANY, 0.6, 1.2, high_ones_later, 700, 5000, true, true},
    {"foresight", R_ANY, 0.6, 1.2, low_ones_later, 600, 5000, false, true},
};

typedef struct {
    const contest *c;
    tarry_policy *policy;
    reference f;
    mailbox box;
    double loss[R_ROOM];
} match;

static double some_loss(const contest *c, const game *g, uint64_t round,
                        size_t arm)
{
    const double loss = loss_of(g, round, arm);
    uint64_t seed = round * 2385 + arm;
    if (!c->two_valued)
        return 0.8 * loss;
    return 2 * test_uniform(&seed) < 1 + mean_loss(g, arm) ? 0.9 : -0.7;
}

static void check_choice(match *m, const game *g, uint64_t t)
{
    double expected, probability;
    const size_t arm = reference_choice(&m->f, &expected);
    const choice c = choose(m->policy);
    if (c.arm != arm)
        fail_msg("%s, round %ju: arm %zu, the reference has %zu", m->c->text,
                 (uintmax_t)t, c.arm, arm);
    assert_int_equal(tarry_policy_probability(m->policy, &probability),
                     TARRY_OK);
    if (!(fabs(probability - expected) <= 1e-6))
        fail_msg("%s, round %ju: with probability %.9f, not %.9f", m->c->text,
                 (uintmax_t)t, probability, expected);
    assert_int_equal(status_of(m->policy).best, m->f.best);
    m->loss[t] = some_loss(m->c, g, t, arm);
    post(&m->box, t, m->c->delay(t, arm, m->loss[t]));
}

static void report_due(match *m, uint64_t t)
{
    for (uint64_t r = m->box.first[t]; r != 0; r = m->box.next[r]) {
        if (m->f.cancelled[r])
            continue;
        assert_int_equal(tarry_policy_observe(m->policy, r, m->loss[r]),
                         TARRY_OK);
        book_loss(&m->f, r, m->loss[r]);
    }
}

static void change(match *m, const game *g, uint64_t t)
{
    size_t arm;
    if (t % 50 == 20 && is_waiting(&m->f, t - 4)) {
        assert_int_equal(tarry_policy_cancel(m->policy, t - 4), TARRY_OK);
        book_cancel(&m->f, t - 4);
    }
    if (t == 150 || t == 400) {
        arm = t == 150 ? 2 : status_of(m->policy).best;
        assert_int_equal(tarry_policy_withdraw(m->policy, arm), TARRY_OK);
        reference_withdraw(&m->f, arm);
    }
    if (t == 230) {
        assert_int_equal(
            tarry_policy_admit(m->policy, arm_of(g, m->f.n_arms), &arm),
            TARRY_OK);
        reference_admit(&m->f);
    }
}

/* `more` further features, mixtures of the others, which change nothing. */
static void check_contest(const contest *c, size_t more)
{
    static match m;
    game g = make_game(10, 3, 3), wide = make_game(10, 3 + more, 3);
    for (size_t k = 0; k < g.n_arms; k++)
        for (size_t i = 0; i < wide.dim; i++)
            wide.arms[k * wide.dim + i] =
                i < 3 ? arm_of(&g, k)[i]
                      : 40 * arm_of(&g, k)[0] - arm_of(&g, k)[i % 3];
    tarry_policy_params params = params_of(&wide, c->horizon);
    params.n_arms--; /* one comes later */
    m = (match){.c = c, .policy = make_policy(c->text, &params)};
    m.f = make_reference(&g, &params, c->delays, c->beta, c->c);
    m.box = make_mailbox(R_ROOM - 1);
    for (uint64_t t = 1; t <= c->rounds; t++) {
        check_choice(&m, &g, t);
        report_due(&m, t);
        if (c->changes)
            change(&m, &wide, t);
    }
    end_mailbox(&m.box);
    tarry_policy_free(m.policy);
    end_game(&wide);
    end_game(&g);
}

static void every_choice_is_that_of_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof contests / sizeof *contests; i++)
        check_contest(&contests[i], 0);
}

static void mixtures_of_features_change_nothing(void **state)
{
    (void)state;
    check_contest(&contests[2], 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_choice_is_that_of_the_reference),
        cmocka_unit_test(mixtures_of_features_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
