/* adversarial_losses.c - delays that depend on the loss and are set by an
 * adversary: the paper's open question.
 *
 * Nothing in the proofs for Algorithms 3 and 4 asks where a delay comes from:
 * the sample is fixed before its losses exist, and what is missing is completed
 * both ways (docs/bounds.md).  The adversary knows the best arm and holds every
 * loss that speaks for it, as long as it may; a phase then lasts 2 N_m rounds
 * and that long at most.  Algorithm 1 in the same world, to see that the
 * adversary has teeth. */
#include "paper/paper.h"

#include <math.h>

enum { LONGEST = 60000, LOOKED_AT = 2 };
#define HELD "hold-good:sigma=1e6,longest=60000"

typedef struct {
    const char *policy, *words, *instance;
    int algorithm;
} subject;

static const subject subjects[] = {
    {"phased-loss-dependent", "Algorithm 3", "sphere:dim=4,arms=40,scale=0.8",
     3},
    {"phased-mab", "Algorithm 4", "basis:arms=6,best=-0.7,gap=1.4", 4},
    {"phased-stochastic", "for comparison, Algorithm 1",
     "sphere:dim=4,arms=40,scale=0.8", 1},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static tarry__lab_case case_of(tarry__lab *lab, const subject *a)
{
    return (tarry__lab_case){
        .instance = a->instance,
        .loss = "rademacher",
        .delay = HELD,
        .policy = a->policy,
        .horizon = 1000000,
        .runs = (uint64_t)tarry__lab_pick(lab, 60, 600),
        .phases = LOOKED_AT,
        .kind = TARRY__LAB_AUDIT,
        .cost = 0.3,
    };
}

static double lost(const tarry__lab_answer *run, const tarry__lab_answer *base)
{
    (void)base;
    return run->n_phases > 0 ? run->best_kept == 0 : NAN;
}

/* Rounds of the longer of two phases over what it may last: twice N_m, for
 * Algorithm 4 six arms of N_m, and the longest delay. */
static double late_of(const tarry__lab_answer *run, double plays)
{
    double most = 0;
    for (int m = 0; m < LOOKED_AT; m++) {
        const tarry__audit_phase *p = &run->phase[m];
        if (p->ended == 0)
            return NAN;
        most = fmax(most, p->length / (plays * p->quota + LONGEST));
    }
    return most;
}

static double late_linear(const tarry__lab_answer *run,
                          const tarry__lab_answer *base)
{
    (void)base;
    return late_of(run, 2);
}

static double late_plain(const tarry__lab_answer *run,
                         const tarry__lab_answer *base)
{
    (void)base;
    return late_of(run, 6);
}

#define LARGEST_OF(field)                                                      \
    static double largest_##field(const tarry__lab_answer *run,                \
                                  const tarry__lab_answer *base)               \
    {                                                                          \
        (void)base;                                                            \
        return fmax(run->phase[0].field, run->phase[1].field);                 \
    }
LARGEST_OF(off)
LARGEST_OF(gap)
LARGEST_OF(misjudged)

/* Brackets of the first phase against the same plays with nothing missing. */
enum { BRACKETS = SUBJECTS };

static tarry__lab_case bracketed(tarry__lab *lab, const subject *a)
{
    tarry__lab_case c = case_of(lab, a);
    c.kind = TARRY__LAB_BRACKETS;
    c.runs = (uint64_t)tarry__lab_pick(lab, 10, 100);
    c.phases = 1;
    return c;
}

static double uncovered(const tarry__lab_answer *run,
                        const tarry__lab_answer *base)
{
    (void)base;
    return run->arms > 0 ? (double)run->uncovered : NAN;
}

static void ask(tarry__plan *plan)
{
    for (int i = 0; i < 2; i++)
        tarry__plan_add(
            plan, &(tarry__plan_point){.series = BRACKETS + i,
                                       .x = i,
                                       .c = bracketed(plan->lab, &subjects[i]),
                                       .quantity = uncovered,
                                       .what = "arms not bracketed"});
    for (int i = 0; i < SUBJECTS; i++)
        tarry__plan_add(
            plan, &(tarry__plan_point){.series = i,
                                       .x = i,
                                       .c = case_of(plan->lab, &subjects[i]),
                                       .quantity = lost,
                                       .what = "share of runs without the best "
                                               "arm"});
}

static void judge_subject(tarry__sheet *s, const subject *a)
{
    const tarry__lab_case c = case_of(s->lab, a);
    const tarry__lab_case first = bracketed(s->lab, a);
#define NAME(text) tarry__lab_text(s->lab, "%s: %s", a->words, text)
    tarry__sheet_check_largest(s, NAME("the best arm is lost"), &c, lost, 0);
    tarry__sheet_check_largest(
        s, NAME("arms whose bracket does not hold the full-sample estimate"),
        &first, uncovered, 0);
    tarry__sheet_check_largest(
        s, NAME("rounds of a phase over what it may last"), &c,
        a->algorithm == 4 ? late_plain : late_linear, 1);
    tarry__sheet_check_largest(s, NAME("a mean outside its bracket, over eps"),
                               &c, largest_off, 1);
    tarry__sheet_check_largest(s, NAME("gap of a survivor, over eps"), &c,
                               largest_gap,
                               tarry__audit_largest_gap(a->algorithm));
    tarry__sheet_check_largest(s, NAME("arms kept or cut against the rule"), &c,
                               largest_misjudged, 0);
#undef NAME
}

static void judge(tarry__sheet *s)
{
    judge_subject(s, &subjects[0]);
    judge_subject(s, &subjects[1]);
    tarry__sheet_check_mean(s,
                            "for comparison, Algorithm 1: the best arm is lost",
                            tarry__sheet_point(s, 2), 0, TARRY__FIT_REPORTED);
}

const tarry__paper_row tarry__paper_row_adversarial_losses = {
    .id = "adversarial-losses",
    .title = "Loss-dependent delays set by an adversary",
    .claim = "Beyond the paper: Algorithms 3 and 4 keep their promises on arms "
             "and phases when an adversary who sees losses sets the delays.",
    .ask = ask,
    .judge = judge,
};
