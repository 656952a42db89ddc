/* sapo_delayed.c - successive elimination by draws: the stochastic side of
 * Delayed SAPO.
 *
 * Source: Schlisselberg, Lancewicki, Auer, Mansour, "Improved
 * best-of-both-worlds regret for bandits with delayed feedback", 2025, from
 * their text (Algorithm 5).  Where losses are by chance and delays by an
 * adversary it pays sum log T / gap + sigma_max times the mean gap (and log K).
 *
 * With c = (1 + loss) / 2 in [0, 1], n(a) losses of arm a arrived and w(a) =
 * min(1, sqrt(2 log T / n(a))), an arm is cut as soon as
 *     mean(a) - 9 w(a) > the smallest mean(b) + w(b) there has ever been.
 * The nine widths make arms go in the order of their gaps, nearly, which is
 * why the mean gap and not the largest stands in the bound.  Active arms are
 * drawn all alike, so that of sigma_max plays outstanding none of them has more
 * than its share.  A cut arm is drawn on, for losses might not be by chance:
 * with probability p = 1/(2K) + n(a)/(2T) at first, which is halved each time
 * that 1280 / (p (8 w)^2) rounds with it have been seen, w that of the cut.
 *
 * Left out: the checks that find out losses which are not by chance, the switch
 * to another algorithm then, and the second, importance-weighted interval that
 * serves these checks.  Where losses are by chance the switch happens with
 * probability 9/T at most.  Cuts are looked for once in as many losses as there
 * are active arms. */
#include "policy/plain/counts.h"

#include <math.h>
#include "base/base.h"
#include "policy/coins.h"

/* Of an arm that has been cut. */
typedef struct {
    double p;       /* with which it is drawn */
    double rounds;  /* to be seen with this p */
    uint64_t since; /* the first round with this p */
    uint64_t seen;
} leftover;

typedef struct {
    tarry__counts counts; /* its sums are of c, not of losses */
    double least;         /* mean(b) + w(b), the smallest ever */
    uint64_t arrived;     /* since cuts were looked for */
    uint64_t now;         /* the last round chosen */
    size_t n_out;
    uint32_t *out;  /* arms that have been cut and may be chosen, increasing */
    leftover *left; /* per arm */
    double share;   /* with which one of these is drawn */
    tarry__coins coins;
} sapo;

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__policy_problem *problem,
                         const tarry__spec *spec, tarry_error *error)
{
    sapo *s = state;
    const tarry_status status =
        tarry__counts_open(&s->counts, type, problem, spec, error);
    if (status != TARRY_OK)
        return status;
    s->least = INFINITY;
    s->out = tarry__base_alloc(problem->n_arms, sizeof *s->out);
    s->left = tarry__base_zalloc(problem->n_arms, sizeof *s->left);
    return s->out != NULL && s->left != NULL ? TARRY_OK : TARRY_NO_MEMORY;
}

/* ---- cuts -----------------------------------------------------------------*/

static double width(const sapo *s, const tarry__plain_count *arm)
{
    const double n = (double)arm->arrived;
    return fmin(1, s->counts.scale *
                       sqrt(2 * tarry__counts_log(&s->counts, n) / n));
}

static double mean(const tarry__plain_count *arm)
{
    return arm->sum / (double)arm->arrived;
}

static bool is_worse(const sapo *s, const tarry__plain_count *arm)
{
    return arm->arrived > 0 && mean(arm) - 9 * width(s, arm) > s->least;
}

static void sum_shares(sapo *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->n_out; i++)
        sum += s->left[s->out[i]].p;
    s->share = fmin(sum, 1);
}

static void list_out(sapo *s)
{
    const tarry__policy_problem *p = s->counts.problem;
    s->n_out = 0;
    for (size_t i = 0; i < tarry__policy_n_choices(p); i++) {
        const size_t k = tarry__policy_choice(p, i);
        if (s->counts.count[k].cut)
            s->out[s->n_out++] = (uint32_t)k;
    }
    sum_shares(s);
}

static void cut(sapo *s, uint32_t arm, uint64_t round)
{
    tarry__plain_count *count = &s->counts.count[arm];
    const double gap = 8 * width(s, count);
    const tarry__policy_problem *problem = s->counts.problem;
    const double p =
        1 / (2 * (double)problem->n_arms) +
        (double)count->arrived / (2 * fmax((double)problem->horizon, 1));
    count->cut = 1;
    s->left[arm] = (leftover){
        .p = fmin(p, 0.5), .rounds = 1280 / (p * gap * gap), .since = round};
}

/* Before the choice of `round`.  All arms may look worse than one did earlier,
 * if losses are not by chance: then that of the smallest upper end stays. */
static void look_for_cuts(sapo *s, uint64_t round)
{
    tarry__counts *c = &s->counts;
    uint32_t stays = c->active[0];
    double least = INFINITY;
    size_t kept = 0;
    s->arrived = 0;
    for (size_t i = 0; i < c->n_active; i++) {
        const tarry__plain_count *arm = &c->count[c->active[i]];
        if (arm->arrived > 0 && mean(arm) + width(s, arm) < least) {
            stays = c->active[i];
            least = mean(arm) + width(s, arm);
        }
    }
    s->least = fmin(s->least, least);
    for (size_t i = 0; i < c->n_active; i++)
        if (c->active[i] != stays && is_worse(s, &c->count[c->active[i]]))
            cut(s, c->active[i], round);
        else
            c->active[kept++] = c->active[i];
    if (kept < c->n_active) {
        c->n_active = kept;
        list_out(s);
    }
}

/* ---- choose and observe ---------------------------------------------------*/

/* With u in [0, 1). */
static size_t draw(const sapo *s, double u)
{
    const tarry__counts *c = &s->counts;
    const double rest = 1 - s->share;
    if (u < rest) {
        const size_t i = (size_t)(u / rest * (double)c->n_active);
        return c->active[i < c->n_active ? i : c->n_active - 1];
    }
    u -= rest;
    size_t i = 0;
    while (i + 1 < s->n_out && u >= s->left[s->out[i]].p)
        u -= s->left[s->out[i++]].p;
    return s->out[i];
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    sapo *s = state;
    double u, v;
    if (s->arrived >= s->counts.n_active && s->counts.n_active > 1)
        look_for_cuts(s, round);
    tarry__coins_of(&s->coins, s->counts.problem, round, &u, &v);
    *arm = draw(s, u);
    s->counts.count[*arm].played++;
    s->now = round;
    return TARRY_OK;
}

static double probability(void *state, uint64_t round, size_t arm)
{
    const sapo *s = state;
    (void)round;
    return s->counts.count[arm].cut
               ? s->left[arm].p
               : (1 - s->share) / (double)s->counts.n_active;
}

/* A round has been seen: it counts for every arm that was out by then. */
static void count_round(sapo *s, uint64_t round)
{
    bool halved = false;
    for (size_t i = 0; i < s->n_out; i++) {
        leftover *l = &s->left[s->out[i]];
        if (round < l->since || (double)++l->seen < floor(l->rounds))
            continue;
        *l = (leftover){
            .p = l->p / 2, .rounds = 2 * l->rounds, .since = s->now + 1};
        halved = true;
    }
    if (halved)
        sum_shares(s);
}

static tarry__policy_use observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    sapo *s = state;
    count_round(s, round);
    s->arrived++;
    return tarry__counts_add(&s->counts, arm, (1 + loss) / 2);
}

static tarry_status cancel(void *state, uint64_t round, size_t arm)
{
    (void)round;
    ((sapo *)state)->counts.count[arm].played--;
    return TARRY_OK;
}

static void status(const void *state, tarry_policy_status *status)
{
    tarry__counts_status(&((const sapo *)state)->counts, status);
}

/* ---- arms that come and go ------------------------------------------------*/

static tarry_status reserve(void *state, size_t n_arms)
{
    sapo *s = state;
    const size_t K = s->counts.problem->n_arms;
    uint32_t *out = tarry__base_grow(s->out, s->n_out, n_arms, sizeof *out);
    if (out == NULL)
        return TARRY_NO_MEMORY;
    s->out = out;
    leftover *left = tarry__base_grow(s->left, K, n_arms, sizeof *left);
    if (left == NULL)
        return TARRY_NO_MEMORY;
    s->left = left;
    return tarry__counts_reserve(&s->counts, n_arms);
}

/* The smallest upper end may have been that of an arm that has gone. */
static tarry_status rearranged(void *state)
{
    sapo *s = state;
    for (size_t k = s->counts.n_known; k < s->counts.problem->n_arms; k++)
        s->left[k] = (leftover){0};
    tarry__counts_rearrange(&s->counts);
    s->least = INFINITY;
    list_out(s);
    return TARRY_OK;
}

/* ---- saving ---------------------------------------------------------------*/

static bool is_sound(const sapo *s)
{
    bool sound = !isnan(s->least);
    for (size_t i = 0; sound && i < s->counts.n_active; i++)
        sound = !s->counts.count[s->counts.active[i]].cut;
    for (size_t k = 0; sound && k < s->counts.problem->n_arms; k++)
        sound =
            s->left[k].p >= 0 && s->left[k].p <= 0.5 && s->left[k].rounds >= 0;
    return sound;
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a)
{
    sapo *s = state;
    size_t K = problem->n_arms;
    tarry__counts_archive(&s->counts, type, problem, a);
    tarry__archive_field(a, s->least);
    tarry__archive_field(a, s->arrived);
    tarry__archive_field(a, s->now);
    tarry__archive_array(a, &s->left, &K, sizeof *s->left, K);
    tarry__archive_require(a, a->status == TARRY_OK && K == problem->n_arms &&
                                  is_sound(s));
    if (!a->loading || a->status != TARRY_OK)
        return;
    s->out = tarry__base_alloc(K, sizeof *s->out);
    if (s->out == NULL)
        a->status = TARRY_NO_MEMORY;
    else
        list_out(s);
}

static void clear(void *state)
{
    sapo *s = state;
    tarry__counts_clear(&s->counts);
    tarry__base_free(s->out);
    tarry__base_free(s->left);
}

const tarry__policy_type tarry__plain_sapo_delayed = {
    .name = "sapo-delayed",
    .source = "Schlisselberg et al. 2025, improved",
    .summary = "successive elimination by draws; delays by an adversary, equal "
               "for all arms",
    .plain = true,
    .settings = tarry__plain_elimination_settings,
    .state_size = sizeof(sapo),
    .init = init,
    .choose = choose,
    .observe = observe,
    .cancel = cancel,
    .played = tarry__counts_played,
    .probability = probability,
    .reserve = reserve,
    .rearranged = rearranged,
    .status = status,
    .archive = archive,
    .clear = clear,
};
