/* walk.h - a phased policy and its follower, walking side by side. */
#ifndef WALK_H
#define WALK_H

#include "follower.h"
#include "play.h"
#include "tarry/policy.h"

static const uint64_t HORIZON = 3000000;
enum { ROUNDS = 200000 };

/* By number of the algorithm. */
static const char *const names[] = {NULL, "phased-stochastic",
                                    "phased-adversarial",
                                    "phased-loss-dependent", "phased-mab"};

/* The policy, its follower, and the losses under way. */
typedef struct {
    game game;
    tarry_policy *policy;
    follower f;
    mailbox box;
    size_t *arm_of_round;
} walk;

static inline walk *make_walk(int algorithm, game g)
{
    const tarry_policy_params params = params_of(&g, HORIZON);
    walk *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->game = g;
    w->policy = make_policy(names[algorithm], &params);
    w->f = make_follower(algorithm, &w->game, HORIZON, ROUNDS, w->policy);
    w->box = make_mailbox(ROUNDS);
    w->arm_of_round = calloc(ROUNDS + 1, sizeof *w->arm_of_round);
    assert_non_null(w->arm_of_round);
    const tarry_policy_status s = status_of(w->policy);
    check_plan(&w->f, &s);
    return w;
}

static inline void end_walk(walk *w)
{
    tarry_policy_free(w->policy);
    end_mailbox(&w->box);
    free(w->f.designated);
    free(w->arm_of_round);
    end_game(&w->game);
    free(w);
}

/* One choice of both; a phase that is over ends now, not before. */
static inline choice choose_both(walk *w)
{
    follower *f = &w->f;
    tarry_policy_status s = status_of(w->policy);
    check_counts(f, &s);
    const uint64_t round = s.round + 1;
    const bool ended = is_over(f);
    if (ended && f->algorithm == 1)
        check_draws(f, round);
    if (ended)
        end_phase(f);
    const choice c = choose(w->policy);
    s = status_of(w->policy);
    assert_int_equal(c.round, round);
    if (ended) {
        check_outcome(f, &s);
        start_phase(f, round, &s);
        check_plan(f, &s);
    }
    follow_choice(f, c);
    w->arm_of_round[c.round] = c.arm;
    return c;
}

static inline void report_both(walk *w, uint64_t round, double loss)
{
    const choice c = {round, w->arm_of_round[round]};
    const tarry_status expected = follow_loss(&w->f, c, loss);
    assert_int_equal(tarry_policy_observe(w->policy, round, loss), expected);
}

#endif
