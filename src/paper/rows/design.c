/* design.c - the balanced design: g at most 4r on few arms, none of which has a
 * small weight.
 *
 * Random sets of many shapes, a trial each. */
#include "paper/paper.h"

#include <math.h>

static const double sizes[] = {2, 3, 5, 8, 12, 20, 32, TARRY__LAB_DESIGN_DIM};

enum { SIZES = sizeof sizes / sizeof *sizes };

/* Series i is size i: sets on the sphere, then uneven ones. */
static void ask(tarry__plan *plan)
{
    for (int i = 0; i < 2 * SIZES; i++) {
        const double n = sizes[i / 2];
        tarry__plan_add(
            plan,
            &(tarry__plan_point){
                .series = i / 2,
                .x = n,
                .c = {.instance = tarry__lab_text(
                          plan->lab, "sphere:dim=%g,arms=%g", n, 50 * n),
                      .loss = "none",
                      .delay = "none",
                      .policy = "balanced design",
                      .horizon = 1,
                      .runs = (uint64_t)tarry__lab_pick(plan->lab, 10, 200),
                      .kind = i % 2 == 0 ? TARRY__LAB_DESIGN
                                         : TARRY__LAB_DESIGN_UNEVEN,
                      .cost = 100 * n * n * n}});
    }
}

typedef struct {
    double g;       /* over r */
    double weight;  /* smallest, times twice the support */
    double support; /* over what the lemma allows */
    uint64_t unsolved;
} worst;

static void worsen(worst *w, double g, double weight, double support)
{
    w->g = fmax(w->g, g);
    w->weight = fmin(w->weight, weight);
    w->support = fmax(w->support, support);
}

static void look_at(tarry__sheet *s, const tarry__lab_case *c, worst *w)
{
    const tarry__lab_answer *runs = tarry__sheet_runs(s, c);
    for (size_t k = 0; k < c->runs; k++) {
        const tarry__lab_answer *a = &runs[k];
        if (a->design_g > 0)
            worsen(w, a->design_g, a->design_weight, a->design_support);
        else
            w->unsolved++;
    }
}

static void append_record(tarry__sheet *s, const tarry__plan_point *p,
                          const worst *w)
{
    json_t *record = json_pack(
        "{s:s, s:f, s:i, s:f, s:f, s:f}", "instance", p->c.instance, "x", p->x,
        "sets", (int)(2 * p->c.runs), "g_over_rank", w->g,
        "weight_times_2_support", w->weight, "support_share", w->support);
    if (json_array_append_new(s->data, record) != 0)
        s->failed = TARRY_NO_MEMORY;
}

static worst worst_of(tarry__sheet *s, int i)
{
    const tarry__plan_point *even = tarry__sheet_planned(s, i);
    worst w = {0, INFINITY, 0, 0};
    look_at(s, &even[0].c, &w);
    look_at(s, &even[1].c, &w);
    append_record(s, even, &w);
    return w;
}

static void judge(tarry__sheet *s)
{
    tarry__fit_series g = {.name = "largest g / r"};
    tarry__fit_series weight = {.name = "smallest weight × 2 support"};
    worst all = {0, INFINITY, 0, 0};
    for (int i = 0; i < SIZES; i++) {
        const worst w = worst_of(s, i);
        g.point[g.n++] = (tarry__fit_point){.x = sizes[i], .mean = w.g};
        weight.point[weight.n++] =
            (tarry__fit_point){.x = sizes[i], .mean = w.weight};
        worsen(&all, w.g, w.weight, w.support);
        all.unsolved += w.unsolved;
    }
    tarry__sheet_check_mean(s, "largest g / r over all sets",
                            (tarry__fit_point){.mean = all.g}, 4,
                            TARRY__FIT_AT_MOST);
    tarry__sheet_check_mean(s, "smallest weight times twice the support",
                            (tarry__fit_point){.mean = all.weight}, 1 - 1e-12,
                            TARRY__FIT_AT_LEAST);
    tarry__sheet_check_mean(s, "largest support over 16 + 4 r log log r",
                            (tarry__fit_point){.mean = all.support}, 1,
                            TARRY__FIT_AT_MOST);
    tarry__sheet_check_mean(s, "sets without a design",
                            (tarry__fit_point){.mean = (double)all.unsolved}, 0,
                            TARRY__FIT_AT_MOST);
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "design-balance", "The balanced design over random sets",
               "dimension n", "worst case over the sets",
               "The lemma allows g / r up to 4 and asks for a "
               "smallest weight times twice the support of 1.",
               false, true});
    tarry__sheet_draw_points(s, figure, &g);
    tarry__sheet_draw_points(s, figure, &weight);
}

const tarry__paper_row tarry__paper_row_design = {
    .id = "design",
    .title = "The balanced design",
    .claim = "Every set has a design with g ≤ 4r, at most 16 + 4 r log log r "
             "arms, and no weight below half of one over their number.",
    .ask = ask,
    .judge = judge,
};
