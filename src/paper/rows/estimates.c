/* estimates.c - after each phase: estimates are as good as N_m losses make
 * them, no better and no worse, and no arm survives that may not.
 *
 * Lemma "estimator accuracy": |<theta_hat - theta, a>| <= eps for every active
 * arm; "opt pes accuracy": so for the brackets of Algorithms 3 and 4; "active
 * action": what gaps survivors may have.  These hold with room to spare, so
 * two sharper checks stand beside them: the squared errors against what N_m
 * losses give (audit.c), and the cut arm by arm.  Delays that depend on the
 * loss move the middle of a bracket, so Algorithms 3 and 4 have their errors
 * judged without delay. */
#include "paper/paper.h"

#include <math.h>

typedef struct {
    const char *policy, *words, *instance, *delay;
    int algorithm;
    bool fair; /* nothing is missing: errors can be judged */
} subject;

#define BALL "sphere:dim=4,arms=60,scale=0.8"
#define FEW "sphere:dim=7,arms=5,scale=0.4"
#define ROW "basis:arms=8,best=-0.7,gap=1.4"
#define TRICKY "lowest-late:p=0.2,late=3000,far_p=0.01,far=1e13"

static const subject subjects[] = {
    {"phased-stochastic", "Algorithm 1", BALL, "exponential:mean=300", 1, true},
    {"phased-stochastic", "Algorithm 1, fewer arms than dimensions", FEW,
     "exponential:mean=300", 1, true},
    {"phased-adversarial", "Algorithm 2", BALL, "hold-in-turn:sigma=500", 2,
     true},
    {"phased-loss-dependent", "Algorithm 3", BALL, "none", 3, true},
    {"phased-mab", "Algorithm 4", ROW, "none", 4, true},
    {"phased-loss-dependent", "Algorithm 3, low losses late or lost", BALL,
     TRICKY, 3, false},
    {"phased-mab", "Algorithm 4, low losses late or lost", ROW, TRICKY, 4,
     false},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects, LOOKED_AT = 2 };

static tarry__lab_case case_of(tarry__lab *lab, const subject *a)
{
    return (tarry__lab_case){
        .instance = a->instance,
        .loss = "rademacher",
        .delay = a->delay,
        .policy = a->policy,
        .horizon = 1000000,
        .runs = (uint64_t)tarry__lab_pick(lab, 200, 1000),
        .phases = LOOKED_AT,
        .kind = TARRY__LAB_AUDIT,
        .cost = 0.1,
    };
}

/* ---- of one run, its first phases -----------------------------------------*/

static bool has_ended(const tarry__lab_answer *run)
{
    return run->phase[LOOKED_AT - 1].ended > 0;
}

static double mean_error(const tarry__lab_answer *run,
                         const tarry__lab_answer *base)
{
    (void)base;
    return has_ended(run) ? (run->phase[0].error + run->phase[1].error) / 2
                          : NAN;
}

static double plan_over_asked(const tarry__lab_answer *run,
                              const tarry__lab_answer *base)
{
    (void)base;
    return has_ended(run) ? (run->phase[0].plan + run->phase[1].plan) / 2 : NAN;
}

#define LARGEST_OF(field)                                                      \
    static double largest_##field(const tarry__lab_answer *run,                \
                                  const tarry__lab_answer *base)               \
    {                                                                          \
        (void)base;                                                            \
        return has_ended(run) ? fmax(run->phase[0].field, run->phase[1].field) \
                              : NAN;                                           \
    }
LARGEST_OF(off)
LARGEST_OF(gap)
LARGEST_OF(widest)
LARGEST_OF(misjudged)

enum { ERROR, PLAN, LINES };

static void ask(tarry__plan *plan)
{
    for (int i = 0; i < SUBJECTS; i++) {
        tarry__plan_point p = {.series = LINES * i + ERROR,
                               .x = i + 1,
                               .c = case_of(plan->lab, &subjects[i]),
                               .quantity = mean_error,
                               .what = "squared error of estimates over that "
                                       "of N_m losses"};
        tarry__plan_add(plan, &p);
        p.series = LINES * i + PLAN;
        p.quantity = plan_over_asked;
        p.what = "losses planned over N_m(a) of all arms";
        tarry__plan_add(plan, &p);
    }
}

static void judge_subject(tarry__sheet *s, int i)
{
    const subject *a = &subjects[i];
    const tarry__lab_case c = case_of(s->lab, a);
#define NAME(text) tarry__lab_text(s->lab, "%s: %s", a->words, text)
    tarry__sheet_check_mean_within(
        s, NAME("squared error of estimates over that of N_m losses"),
        tarry__sheet_point(s, LINES * i + ERROR), 1,
        a->fair ? TARRY__FIT_EQUALS : TARRY__FIT_REPORTED, 0.2);
    tarry__sheet_check_mean_within(s, NAME("losses planned over N_m(a)"),
                                   tarry__sheet_point(s, LINES * i + PLAN), 1,
                                   TARRY__FIT_EQUALS, 0.001);
    tarry__sheet_check_largest(s, NAME("a mean outside its bracket, over eps"),
                               &c, largest_off, 1);
    tarry__sheet_check_largest(s, NAME("gap of a survivor, over eps"), &c,
                               largest_gap,
                               tarry__audit_largest_gap(a->algorithm));
    tarry__sheet_check_largest(s, NAME("arms kept or cut against the rule"), &c,
                               largest_misjudged, 0);
    if (a->algorithm >= 3)
        tarry__sheet_check_largest(s, NAME("width of a bracket, over eps"), &c,
                                   largest_widest,
                                   tarry__audit_widest(a->algorithm));
#undef NAME
}

static void judge(tarry__sheet *s)
{
    tarry__fit_series errors = {.name = "measured"};
    tarry__fit_series one = {.name = "what N_m losses give"};
    for (int i = 0; i < SUBJECTS; i++) {
        judge_subject(s, i);
        errors.point[errors.n++] = tarry__sheet_point(s, LINES * i + ERROR);
        one.point[one.n++] = (tarry__fit_point){.x = i + 1, .mean = 1};
    }
    json_t *figure = tarry__sheet_figure(
        s,
        &(tarry__sheet_drawing){
            "estimates-error", "Squared errors of estimates",
            "subject, in the order of the checks", "over what N_m losses give",
            "A quarter would mean four times the losses, 16 a sixteenth; "
            "the last two have losses missing by what they are.",
            true, false});
    tarry__sheet_draw_points(s, figure, &errors);
    tarry__sheet_draw_line(s, figure, &one);
}

const tarry__paper_row tarry__paper_row_estimates = {
    .id = "estimates",
    .title = "Estimates and survivors",
    .claim = "After phase m every active arm's loss is known to eps, and what "
             "survives has a gap of at most 4 eps (Algorithms 1, 2), 19.3 eps "
             "(3), 10 eps (4).",
    .ask = ask,
    .judge = judge,
};
