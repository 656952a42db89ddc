/* The recommended policy in worlds that are no zoo: sure arms beside rare
 * successes, outcomes that are never reported, outages. */
#include "check.h"
#include "sim/sim.h"

typedef struct {
    const char *name, *instance, *loss, *delay, *policy;
    uint64_t horizon;
    const char *declared; /* default outcome; NULL: none */
} field_world;

static tarry__sim_outcome outcome_of(const field_world *w, uint32_t run,
                                     void (*played)(void *, uint64_t, size_t),
                                     void *context)
{
    static tarry__sim_outcome o;
    const tarry__sim_trial trial = {.instance = w->instance,
                                    .loss = w->loss,
                                    .delay = w->delay,
                                    .reports.default_outcome = w->declared,
                                    .policy = w->policy,
                                    .horizon = w->horizon,
                                    .seed = 2385,
                                    .run = run,
                                    .n_grid = 1,
                                    .grid = &w->horizon,
                                    .played = played,
                                    .phase_context = context};
    tarry_error error = {""};
    if (tarry__sim_run(&trial, &o, &error) != TARRY_OK)
        fail_msg("%s: %s", w->name, error.text);
    return o;
}

/* The best arms have half of the second half's plays in every run. */
static void check_never_stuck(const field_world *w, uint32_t runs)
{
    double least = 1;
    for (uint32_t run = 0; run < runs; run++)
        least = fmin(least, outcome_of(w, run, NULL, NULL).best_share);
    print_message("    %s: the best arm has at least %.2f\n", w->name, least);
    assert_true(least >= 0.5);
}

static void no_run_is_stuck_on_a_sure_arm(void **state)
{
    (void)state;
    static const field_world worlds[] = {
        {"a coin beside a sure arm", "listed:means=0/0.4",
         "mixture:far=-1/1,p=0.5/0,width=0/0.1", "none", "recommended", 5000,
         NULL},
        {"a rare success beside a sure arm", "listed:means=0.6/0.8",
         "mixture:far=-1/1,p=0.2/0,width=0/0.1", "none", "recommended", 5000,
         NULL},
        {"a coin beside nine sure arms",
         "listed:means=0/0.4/0.45/0.5/0.5/0.55/0.6/0.6/0.65/0.7",
         "mixture:far=-1/1/1/1/1/1/1/1/1/1,p=0.5/0/0/0/0/0/0/0/0/0,"
         "width=0/0.05/0.05/0.05/0.05/0.05/0.05/0.05/0.05/0.05",
         "none", "recommended", 5000, NULL},
    };
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        check_never_stuck(&worlds[i], 20);
}

/* Only sales are reported: the arm that sells most is found, with a declared
 * default and without. */
static void unreported_outcomes_do_not_mislead(void **state)
{
    (void)state;
    static const field_world worlds[] = {
        {"sales alone are reported", "listed:means=0.96/0.9/0.8", "rademacher",
         "selective:mean=300,high=1", "foresight", 20000, NULL},
        {"no sale is declared", "listed:means=0.96/0.9/0.8", "rademacher",
         "selective:mean=300,high=1", "recommended", 10000, "1/500r"},
    };
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        check_never_stuck(&worlds[i], 6);
}

/* ---- outages --------------------------------------------------------------*/

enum { BEFORE = 2000, FROM = 5000, LENGTH = 5000, AFTER = 6000 };

/* Plays of the best arm, and all, before, in and after the outage. */
typedef struct {
    size_t best;
    double hits[3], plays[3];
} shares;

static void count_play(void *context, uint64_t round, size_t arm)
{
    shares *s = context;
    const int part = round <= FROM - BEFORE   ? -1
                     : round <= FROM          ? 0
                     : round <= FROM + LENGTH ? 1
                                              : 2;
    if (part < 0)
        return;
    s->plays[part]++;
    s->hits[part] += arm == s->best;
}

static void shares_stay_in_and_after_an_outage(void **state)
{
    (void)state;
    static const field_world w = {
        "outage",     "listed:means=0.5/0.3/-0.1/0.4/0.2",
        "rademacher", "outage:mean=50,lease=20,from=5000,length=5000",
        "foresight",  FROM + LENGTH + AFTER,
        NULL};
    double share[3] = {0, 0, 0};
    enum { RUNS = 6 };
    for (uint32_t run = 0; run < RUNS; run++) {
        shares s = {.best = 2};
        outcome_of(&w, run, count_play, &s);
        for (int i = 0; i < 3; i++)
            share[i] += s.hits[i] / s.plays[i] / RUNS;
        assert_true(s.hits[2] / s.plays[2] > 0.5);
    }
    print_message("    before %.3f, in %.3f, after %.3f\n", share[0], share[1],
                  share[2]);
    assert_true(share[1] >= share[0] - 0.05);
    assert_true(share[2] >= share[0] - 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_run_is_stuck_on_a_sure_arm),
        cmocka_unit_test(unreported_outcomes_do_not_mislead),
        cmocka_unit_test(shares_stay_in_and_after_an_outage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
