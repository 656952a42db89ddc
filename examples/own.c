/* own.c - a policy and a law of delays of one's own, beside ours.
 *
 * The policy plays the arm of smallest mean so far, and now and then any arm;
 * the law makes the reports of high losses wait for the next full thousand
 * rounds.  Both are functions of what they are told, so the results are the
 * same on any number of threads.  The README beside this file says how to
 * compile it; `own 2 file` uses two threads and keeps finished runs in a file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tarry/tarry.h>

/* ---- a policy -------------------------------------------------------------*/

typedef struct {
    tarry_problem problem;
    double *sum;   /* of losses, per arm */
    double *count; /* of losses */
} greedy;

static void greedy_end(void *state)
{
    greedy *g = state;
    free(g->sum);
    free(g->count);
    free(g);
}

static tarry_status greedy_start(void *context, const tarry_problem *problem,
                                 void **state)
{
    greedy *g = calloc(1, sizeof *g);
    (void)context;
    if (g == NULL)
        return TARRY_NO_MEMORY;
    g->problem = *problem;
    g->sum = calloc(problem->n_arms, sizeof *g->sum);
    g->count = calloc(problem->n_arms, sizeof *g->count);
    if (g->sum == NULL || g->count == NULL) {
        greedy_end(g);
        return TARRY_NO_MEMORY;
    }
    *state = g;
    return TARRY_OK;
}

static tarry_status greedy_choose(void *state, uint64_t round, size_t *arm)
{
    const greedy *g = state;
    const tarry_random coin = {
        .seed = g->problem.seed, .run = g->problem.run, .round = round};
    double u[2], best = 2;
    tarry_random_uniform_pair(&coin, u);
    *arm = (size_t)(u[1] * (double)g->problem.n_arms);
    if (u[0] < 0.05)
        return TARRY_OK;
    for (size_t k = 0; k < g->problem.n_arms; k++) {
        const double mean = g->count[k] > 0 ? g->sum[k] / g->count[k] : -1;
        if (mean < best) {
            best = mean;
            *arm = k;
        }
    }
    return TARRY_OK;
}

static tarry_status greedy_observe(void *state, uint64_t round, size_t arm,
                                   double loss)
{
    greedy *g = state;
    (void)round;
    g->sum[arm] += loss;
    g->count[arm]++;
    return TARRY_OK;
}

/* ---- a law of delays ------------------------------------------------------*/

/* One report in a hundred is lost. */
static tarry_status batched(void *context, uint64_t round, size_t arm,
                            double loss, const tarry_random *at,
                            uint64_t *delay)
{
    (void)context;
    (void)arm;
    *delay = loss > 0 ? 1000 - round % 1000 : 0;
    if (tarry_random_uniform(at) < 0.01)
        *delay = TARRY_NEVER;
    return TARRY_OK;
}

/* ---- the experiment -------------------------------------------------------*/

static void check(tarry_status status, const tarry_error *error)
{
    if (status == TARRY_OK)
        return;
    fprintf(stderr, "own: %s\n", error->text);
    exit(1);
}

int main(int argc, char **argv)
{
    const tarry_own_policy policy = {.name = "greedy:explore=0.05",
                                     .version = "1",
                                     .start = greedy_start,
                                     .choose = greedy_choose,
                                     .observe = greedy_observe,
                                     .end = greedy_end};
    const tarry_delay_law law = {.name = "batched:every=1000",
                                 .version = "1",
                                 .depends = TARRY_DELAY_BY_LOSS,
                                 .draw = batched};
    tarry_world_params where = tarry_world_defaults();
    tarry_experiment_params how = tarry_experiment_defaults();
    tarry_world *world;
    tarry_experiment *e;
    tarry_error error;
    where.instance = "sphere:dim=3,arms=12";
    where.delay = NULL;
    where.law = &law;
    how.horizon = 20000;
    how.runs = 6;
    how.threads = argc > 1 ? atoi(argv[1]) : 0;
    how.journal = argc > 2 ? argv[2] : NULL;
    check(tarry_world_create(&where, &world, &error), &error);
    check(tarry_experiment_create(&how, &e, &error), &error);
    check(tarry_experiment_add_world(e, world, &error), &error);
    check(tarry_experiment_add_own_policy(e, &policy, &error), &error);
    check(tarry_experiment_add_policy(e, "lints", &error), &error);
    check(tarry_experiment_add_policy(e, "recommended", &error), &error);
    check(tarry_experiment_run(e, &error), &error);
    for (size_t p = 0; p < tarry_experiment_n_policies(e); p++) {
        tarry_experiment_summary s;
        if (tarry_experiment_get_summary(e, 0, p, &s) == TARRY_OK)
            printf("%-24s %10.3f +/- %.3f\n", s.policy, s.regret, s.ci95);
    }
    tarry_experiment_free(e);
    tarry_world_free(world);
    return 0;
}
