/* Each phased policy side by side with a plain second version of its algorithm
 * (follower.h), over several phases, in many worlds: the same quotas, plays,
 * counts, ends of phases, estimates and eliminations. */
#include "check.h"
#include "policy/walk.h"

typedef struct {
    const char *name;
    size_t n_arms, dim, rank;
} kind;

static const kind kinds[] = {
    {"in the plane", 6, 2, 2},     {"numbers", 5, 1, 1},
    {"a plane in space", 7, 4, 2}, {"fewer arms than dimensions", 3, 5, 3},
    {"many arms", 30, 3, 3},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* Where BRIEF, every kind and every law of delay is met in some worlds. */
enum { PHASES = BRIEF ? 3 : 5 };

static size_t some_worlds(void)
{
    return amount(3, 2, 1);
}

static void walk_one_round(walk *w, const delay_law *law)
{
    const choice c = choose_both(w);
    const double loss = loss_of(&w->game, c.round, c.arm);
    post(&w->box, c.round, law->delay(c.round, c.arm, loss));
    for (uint64_t r = w->box.first[c.round]; r != 0; r = w->box.next[r])
        report_both(w, r, loss_of(&w->game, r, w->arm_of_round[r]));
}

static void walk_side_by_side(int algorithm, const kind *k,
                              const delay_law *law)
{
    walk *w = make_walk(algorithm, make_game(k->n_arms, k->dim, k->rank));
    uint64_t round = 0, alone = 0;
    while (round < ROUNDS && w->f.phase < PHASES && alone < 2000) {
        walk_one_round(w, law);
        round++;
        alone += count_active(&w->f) == 1;
    }
    print_message("    %-26s %-16s %d rounds, phase %d, %zu of %zu left\n",
                  k->name, law->name, (int)round, (int)w->f.phase,
                  count_active(&w->f), k->n_arms);
    assert_true(w->f.phase >= 2);
    if (algorithm > 2 || law->delay != low_losses_late)
        assert_true(w->f.active[best_of(&w->game)]);
    end_walk(w);
}

static void walk_through_all_worlds(int algorithm)
{
    for (size_t k = 0; k < N_KINDS; k++)
        for (size_t d = k % some_worlds(); d < N_DELAYS; d += some_worlds())
            walk_side_by_side(algorithm, &kinds[k], &delay_laws[d]);
}

static void phased_stochastic_is_algorithm_1(void **state)
{
    (void)state;
    walk_through_all_worlds(1);
}

static void phased_adversarial_is_algorithm_2(void **state)
{
    (void)state;
    walk_through_all_worlds(2);
}

static void phased_loss_dependent_is_algorithm_3(void **state)
{
    (void)state;
    walk_through_all_worlds(3);
}

static void phased_mab_is_algorithm_4(void **state)
{
    (void)state;
    walk_through_all_worlds(4);
}

/* ---- feedback that never comes --------------------------------------------*/

/* Plays `rounds` rounds and reports at once, but not the losses of one arm. */
static void starve(walk *w, size_t starved, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        const choice c = choose_both(w);
        if (c.arm != starved)
            report_both(w, c.round, loss_of(&w->game, c.round, c.arm));
    }
}

/* Algorithms 1 and 2 need all N(a) losses, of whichever plays. */
static void keeps_asking(int algorithm)
{
    walk *w = make_walk(algorithm, make_game(6, 2, 2));
    const size_t starved = status_of(w->policy).plan[0].arm;
    const uint64_t target = status_of(w->policy).plan[0].target;
    starve(w, starved, 20000);
    assert_int_equal(w->f.phase, 1);
    assert_true(w->f.played[starved] > 3 * target);
    if (algorithm == 2) /* by now it plays nothing else */
        assert_int_equal(choose_both(w).arm, starved);
    uint64_t reported = 0;
    for (uint64_t r = 20000; reported < target; r--)
        if (w->arm_of_round[r] == starved) {
            assert_int_equal(status_of(w->policy).phase, 1);
            report_both(w, r, 0.385);
            reported++;
        }
    for (uint64_t i = 0; w->f.phase == 1 && i <= target; i++)
        choose_both(w); /* a sweep is played to its end */
    assert_int_equal(w->f.phase, 2);
    end_walk(w);
}

static void a_starved_arm_keeps_phases_1_and_2_open(void **state)
{
    (void)state;
    keeps_asking(1);
    keeps_asking(2);
}

/* Algorithms 3 and 4 go on with the allowed share, and not with one less. */
static void waits_for_its_share(int algorithm)
{
    walk *w = make_walk(algorithm, make_game(6, 2, 2));
    const size_t starved = status_of(w->policy).plan[0].arm;
    const uint64_t target = status_of(w->policy).plan[0].target;
    const uint64_t needed = (uint64_t)ceil(share(&w->f) * (double)target);
    assert_true(needed < target);
    starve(w, starved, 30000);
    assert_int_equal(w->f.phase, 1);
    assert_true(w->f.waited_before_estimates > 1000);
    uint64_t round = 0;
    for (uint64_t i = 0; i < needed; i++) {
        choose_both(w);
        assert_int_equal(status_of(w->policy).phase, 1);
        while (w->arm_of_round[++round] != starved || !w->f.designated[round])
            continue;
        report_both(w, round, 0.385);
    }
    assert_int_equal(status_of(w->policy).phase, 1); /* until it is asked */
    choose_both(w);
    assert_int_equal(status_of(w->policy).phase, 2);
    end_walk(w);
}

static void phases_of_3_and_4_end_with_the_allowed_share(void **state)
{
    (void)state;
    waits_for_its_share(3);
    waits_for_its_share(4);
}

/* Plays made while waiting are no part of the sample. */
static void waiting_plays_do_not_count(void **state)
{
    (void)state;
    for (int algorithm = 3; algorithm <= 4; algorithm++) {
        walk *w = make_walk(algorithm, make_game(6, 2, 2));
        const uint64_t plays = status_of(w->policy).first_phase_rounds;
        for (uint64_t i = 0; i < plays + 500; i++) {
            const choice c = choose_both(w);
            if (c.round > plays)
                report_both(w, c.round, -1);
        }
        const tarry_policy_status s = status_of(w->policy);
        assert_int_equal(s.used, 0);
        assert_int_equal(s.ignored, 500);
        end_walk(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phased_stochastic_is_algorithm_1),
        cmocka_unit_test(phased_adversarial_is_algorithm_2),
        cmocka_unit_test(phased_loss_dependent_is_algorithm_3),
        cmocka_unit_test(phased_mab_is_algorithm_4),
        cmocka_unit_test(a_starved_arm_keeps_phases_1_and_2_open),
        cmocka_unit_test(phases_of_3_and_4_end_with_the_allowed_share),
        cmocka_unit_test(waiting_plays_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
