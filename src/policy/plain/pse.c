/* pse.c - phased successive elimination: plays only the arms that are behind.
 *
 * Source: after Lancewicki, Segal, Koren, Mansour, "Stochastic multi-armed
 * bandits with unrestricted delay distributions", 2021, their algorithm for
 * delays that depend on the arm.
 *
 * Phase l = 1, 2, .., with eps = 2^-l: the active arms of which fewer than
 * 16 log T / eps^2 losses have arrived are played in turn, until there are
 * none; arms that answer fast are left alone meanwhile.  After every turn arm a
 * is cut iff mean(a) - w(a) > min_b (mean(b) + w(b)), w(a) = sqrt(2 log T /
 * n(a)), over all losses that have arrived.  So an arm waits for its own delay
 * only, and the regret is the best over a quantile for each arm.
 *
 * Uncertain: written from the statement of the algorithm and its bound in later
 * papers, not from the text; on the width see se_delayed.c. */
#include "policy/plain/counts.h"

#include <math.h>

typedef struct {
    tarry__counts counts; /* its cursor runs over the active arms */
    uint64_t phase;
} pse;

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__policy_problem *problem,
                         const tarry__spec *spec, tarry_error *error)
{
    ((pse *)state)->phase = 1;
    return tarry__counts_open(&((pse *)state)->counts, type, problem, spec,
                              error);
}

static tarry_estimate bracket(const void *state, const tarry__plain_count *arm)
{
    const tarry__counts *c = state;
    const double n = (double)arm->arrived;
    if (arm->arrived == 0)
        return (tarry_estimate){-INFINITY, INFINITY};
    const double mean = arm->sum / n;
    const double width = c->scale * sqrt(2 * tarry__counts_log(c, n) / n);
    return (tarry_estimate){mean - width, mean + width};
}

static bool is_behind(const pse *s, size_t i)
{
    const tarry__counts *c = &s->counts;
    const double needed = fmax(16 * c->log_horizon, 1) *
                          ldexp(1, 2 * (int)fmin((double)s->phase, 400));
    return (double)c->count[c->active[i]].arrived < needed;
}

/* The next active arm that is behind, from the cursor on; false: none. */
static bool find_behind(pse *s)
{
    tarry__counts *c = &s->counts;
    while (c->cursor < c->n_active && !is_behind(s, c->cursor))
        c->cursor++;
    return c->cursor < c->n_active;
}

/* A turn is over: cuts, and goes on to the first phase that wants something. */
static void begin_turn(pse *s)
{
    tarry__counts *c = &s->counts;
    if (c->n_active > 1)
        tarry__counts_cut(c, bracket, c);
    for (c->cursor = 0; !find_behind(s); c->cursor = 0)
        s->phase++;
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    pse *s = state;
    (void)round;
    if (!find_behind(s))
        begin_turn(s);
    *arm = s->counts.active[s->counts.cursor++];
    s->counts.count[*arm].played++;
    return TARRY_OK;
}

static tarry__policy_use observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    (void)round;
    return tarry__counts_add(&((pse *)state)->counts, arm, loss);
}

static tarry_status cancel(void *state, uint64_t round, size_t arm)
{
    (void)round;
    ((pse *)state)->counts.count[arm].played--;
    return TARRY_OK;
}

static tarry_status reserve(void *state, size_t n_arms)
{
    return tarry__counts_reserve(&((pse *)state)->counts, n_arms);
}

/* A new arm is behind in every phase. */
static tarry_status rearranged(void *state)
{
    pse *s = state;
    tarry__counts_rearrange(&s->counts);
    s->phase = 1;
    return TARRY_OK;
}

static const uint64_t *phase(const void *state)
{
    return &((const pse *)state)->phase;
}

static void status(const void *state, tarry_policy_status *status)
{
    status->phase = ((const pse *)state)->phase;
    status->epsilon = ldexp(1, -(int)fmin((double)status->phase, 1000));
    tarry__counts_status(&((const pse *)state)->counts, status);
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a)
{
    pse *s = state;
    tarry__counts_archive(&s->counts, type, problem, a);
    tarry__archive_field(a, s->phase);
    tarry__archive_require(a, s->phase > 0);
}

static void clear(void *state)
{
    tarry__counts_clear(&((pse *)state)->counts);
}

const tarry__policy_type tarry__plain_pse = {
    .name = "pse",
    .source = "after Lancewicki et al. 2021",
    .summary = "phased successive elimination: plays the arms that are behind; "
               "delays\nby arm that do not depend on losses",
    .plain = true,
    .settings = tarry__plain_elimination_settings,
    .state_size = sizeof(pse),
    .init = init,
    .choose = choose,
    .observe = observe,
    .cancel = cancel,
    .played = tarry__counts_played,
    .reserve = reserve,
    .rearranged = rearranged,
    .phase = phase,
    .status = status,
    .archive = archive,
    .clear = clear,
};
