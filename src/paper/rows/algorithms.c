/* algorithms.c - the four algorithms, followed play by play.
 *
 * Everything else on the page is about what they promise; here it is whether
 * they are what is written: designs, N_m(a), which plays are due, which losses
 * count, when a phase ends, estimates, cuts.  A referee (referee.h) with its
 * own copy of them watches three phases, in worlds where losses of a phase come
 * in the next, where arms are fewer than dimensions, and where delays look at
 * losses. */
#include "paper/paper.h"

#include <math.h>

enum { FOLLOWED = 3 };

typedef struct {
    const char *policy, *words, *instance, *delay;
    double runs; /* of the quick job; draws are judged by their frequency */
} subject;

#define BALL "sphere:dim=4,arms=60,scale=0.8"
#define FEW "sphere:dim=7,arms=5,scale=0.4"
#define LINE "basis:arms=8,best=-0.7,gap=1.4"
#define TRICKY "lowest-late:p=0.2,late=3000,far_p=0.01,far=1e13"
#define HELD "hold-good:sigma=1e6,longest=20000"

static const subject subjects[] = {
    {"phased-stochastic", "Algorithm 1, random delays", BALL,
     "exponential:mean=3000", 60},
    {"phased-stochastic", "Algorithm 1, held when a phase is about to end", FEW,
     "hold-late:sigma=2000", 60},
    {"phased-adversarial", "Algorithm 2, held in turn", BALL,
     "hold-in-turn:sigma=800", 20},
    {"phased-adversarial", "Algorithm 2, random delays", FEW,
     "exponential:mean=3000", 20},
    {"phased-loss-dependent", "Algorithm 3, low losses late or lost", BALL,
     TRICKY, 20},
    {"phased-loss-dependent", "Algorithm 3, good losses held", FEW, HELD, 20},
    {"phased-mab", "Algorithm 4, low losses late or lost", LINE, TRICKY, 20},
    {"phased-mab", "Algorithm 4, good losses held", LINE, HELD, 20},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static tarry__lab_case case_of(tarry__lab *lab, const subject *a)
{
    return (tarry__lab_case){
        .instance = a->instance,
        .loss = "rademacher",
        .delay = a->delay,
        .policy = a->policy,
        .horizon = 1000000,
        .runs = (uint64_t)tarry__lab_pick(lab, a->runs, 10 * a->runs),
        .phases = FOLLOWED,
        .kind = TARRY__LAB_REFEREE,
        .cost = 0.5,
    };
}

/* ---- of one run -----------------------------------------------------------*/

#define FINDING(field)                                                         \
    static double field(const tarry__lab_answer *run,                          \
                        const tarry__lab_answer *base)                         \
    {                                                                          \
        (void)base;                                                            \
        return run->referee.phases > 0 ? run->referee.field : NAN;             \
    }
FINDING(plans)
FINDING(plays)
FINDING(early)
FINDING(late)
FINDING(estimates)
FINDING(cuts)
FINDING(draws)
FINDING(phases)

static const struct {
    const char *text;
    tarry__plan_quantity *quantity;
    double limit;
} checks[] = {
    {"weights, g, arms or N_m(a) of a plan that are wrong", plans, 0},
    {"plays of an arm that was not due", plays, 0},
    {"phases that ended while losses were wanting", early, 0},
    {"plays in a phase that should have ended", late, 0},
    {"error of an estimate, over eps", estimates, 1e-6},
    {"arms kept or cut against the rule", cuts, 0},
};
enum { CHECKS = sizeof checks / sizeof *checks };

enum { PHASES, DRAWS, LINES };

static void ask(tarry__plan *plan)
{
    for (int i = 0; i < SUBJECTS; i++) {
        tarry__plan_point p = {.series = LINES * i + PHASES,
                               .x = i + 1,
                               .c = case_of(plan->lab, &subjects[i]),
                               .quantity = phases,
                               .what = "phases followed"};
        tarry__plan_add(plan, &p);
        p.series = LINES * i + DRAWS;
        p.quantity = draws;
        p.what = "chi square of the arms drawn over its degrees of freedom";
        if (i < 2)
            tarry__plan_add(plan, &p);
    }
}

static void judge(tarry__sheet *s)
{
    for (int i = 0; i < SUBJECTS; i++) {
        const subject *a = &subjects[i];
        const tarry__lab_case c = case_of(s->lab, a);
        for (int k = 0; k < CHECKS; k++)
            tarry__sheet_check_largest(
                s, tarry__lab_text(s->lab, "%s: %s", a->words, checks[k].text),
                &c, checks[k].quantity, checks[k].limit);
        if (i < 2)
            tarry__sheet_check_mean_within(
                s,
                tarry__lab_text(s->lab,
                                "%s: chi square of the arms drawn over its "
                                "degrees of freedom",
                                a->words),
                tarry__sheet_point(s, LINES * i + DRAWS), 1, TARRY__FIT_EQUALS,
                0.3);
        tarry__sheet_check_mean(
            s, tarry__lab_text(s->lab, "%s: phases followed", a->words),
            tarry__sheet_point(s, LINES * i + PHASES), 1.5,
            TARRY__FIT_AT_LEAST);
    }
}

const tarry__paper_row tarry__paper_row_algorithms = {
    .id = "algorithms",
    .title = "The algorithms, play by play",
    .claim = "Each of the four algorithms plans, plays, waits, counts, "
             "estimates and cuts as it is written.",
    .ask = ask,
    .judge = judge,
};
