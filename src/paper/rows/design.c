/* design.c - the balanced design: g at most 4r on few arms, none of which has a
 * small weight.
 *
 * Random sets of many shapes; g is evaluated here from the weights alone. */
#include "paper/paper.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "env/world.h"
#include "tarry/design.h"
#include "tarry/random.h"

enum { LARGEST = 48 };

/* V = sum w a a' and its Cholesky factor, lower; false if V is singular. */
static bool factor(const tarry_design *d, const double *arms, size_t n,
                   double *V)
{
    memset(V, 0, n * n * sizeof *V);
    for (size_t k = 0; k < d->n_support; k++) {
        const double *a = arms + d->arm[k] * n;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                V[i * n + j] += d->weight[k] * a[i] * a[j];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = V[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= V[i * n + k] * V[j * n + k];
            if (i == j && !(sum > 0))
                return false;
            V[i * n + j] = i == j ? sqrt(sum) : sum / V[j * n + j];
        }
    return true;
}

/* a' V^-1 a from the factor. */
static double variance(const double *L, const double *a, size_t n)
{
    double y[LARGEST], sum = 0;
    for (size_t i = 0; i < n; i++) {
        y[i] = a[i];
        for (size_t k = 0; k < i; k++)
            y[i] -= L[i * n + k] * y[k];
        y[i] /= L[i * n + i];
        sum += y[i] * y[i];
    }
    return sum;
}

static double largest_variance(const tarry_design *d, const double *arms,
                               size_t K, size_t n)
{
    double V[LARGEST * LARGEST], g = 0;
    if (!factor(d, arms, n, V))
        return INFINITY;
    for (size_t k = 0; k < K; k++)
        g = fmax(g, variance(V, arms + k * n, n));
    return g;
}

typedef struct {
    double g;       /* over r */
    double weight;  /* smallest, times twice the support */
    double support; /* over what the lemma allows */
} worst;

/* Arms of the world's instance, some much longer than others if `uneven`. */
static tarry_status measure(tarry__sheet *s, const char *instance, uint32_t run,
                            bool uneven, worst *w)
{
    tarry__world *world;
    tarry_design *d = NULL;
    tarry_design_options options = tarry_design_defaults();
    tarry_status status = tarry__world_create(
        instance, "none", "none", tarry__lab_seed(s->lab), run, &world, NULL);
    if (status != TARRY_OK)
        return status;
    const size_t K = world->instance.n_arms, n = world->instance.dim;
    double *arms = tarry__base_alloc(K * n, sizeof *arms);
    options.rule = TARRY_DESIGN_PAPER;
    status = arms != NULL ? TARRY_OK : TARRY_NO_MEMORY;
    for (size_t k = 0; status == TARRY_OK && k < K; k++) {
        const tarry_random at = {.seed = tarry__lab_seed(s->lab),
                                 .run = run,
                                 .round = k,
                                 .stream = 7};
        const double scale = uneven ? exp(tarry_random_normal(&at)) : 1;
        for (size_t i = 0; i < n; i++)
            arms[k * n + i] = scale * world->instance.arms[k * n + i];
    }
    if (status == TARRY_OK)
        status = tarry_design_solve(arms, K, n, &options, &d);
    if (status == TARRY_OK) {
        const double r = (double)d->rank, psi = (double)d->n_support;
        const double loglog = r > 2 ? fmax(log(log(r)), 0) : 0;
        w->g = fmax(w->g, largest_variance(d, arms, K, n) / r);
        w->weight = fmin(w->weight, 2 * psi * d->min_weight);
        w->support = fmax(w->support, psi / floor(16 + 4 * r * loglog));
    }
    tarry_design_free(d);
    tarry__base_free(arms);
    tarry__world_free(world);
    return status;
}

static void run(tarry__sheet *s)
{
    static const double sizes[] = {2, 3, 5, 8, 12, 20, 32, LARGEST};
    const uint32_t sets = (uint32_t)tarry__lab_pick(s->lab, 10, 200);
    tarry__fit_sweep g = {.name = "largest g / r"};
    tarry__fit_sweep weight = {.name = "smallest weight × 2 support"};
    worst all = {0, INFINITY, 0};
    uint64_t unsolved = 0;
    if (!tarry__lab_answers(s->lab))
        return;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        worst w = {0, INFINITY, 0};
        const char *instance = tarry__lab_text(s->lab, "sphere:dim=%g,arms=%g",
                                               sizes[i], 50 * sizes[i]);
        for (uint32_t run = 0; run < 2 * sets; run++)
            unsolved +=
                measure(s, instance, run / 2, run % 2 == 1, &w) != TARRY_OK;
        g.point[g.n++] = (tarry__fit_point){.x = sizes[i], .mean = w.g};
        weight.point[weight.n++] =
            (tarry__fit_point){.x = sizes[i], .mean = w.weight};
        json_array_append_new(
            s->data, json_pack("{s:s, s:f, s:i, s:f, s:f, s:f}", "instance",
                               instance, "x", sizes[i], "sets", (int)(2 * sets),
                               "g_over_rank", w.g, "weight_times_2_support",
                               w.weight, "support_share", w.support));
        all.g = fmax(all.g, w.g);
        all.weight = fmin(all.weight, w.weight);
        all.support = fmax(all.support, w.support);
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
                            (tarry__fit_point){.mean = (double)unsolved}, 0,
                            TARRY__FIT_AT_MOST);
    json_t *figure = tarry__sheet_figure(
        s, &(tarry__sheet_drawing){
               "design-balance", "The balanced design over random sets",
               "dimension n", "worst case over the sets",
               "The lemma allows g / r up to 4 and asks for a "
               "smallest weight times twice the support of 1.",
               false, true});
    tarry__sheet_draw_points(figure, &g);
    tarry__sheet_draw_points(figure, &weight);
}

const tarry__paper_row tarry__paper_row_design = {
    .id = "design",
    .title = "The balanced design",
    .claim = "Every set has a design with g ≤ 4r, at most 16 + 4 r log log r "
             "arms, and no weight below half of one over their number.",
    .run = run,
};
