/* payoff_mab.c - elimination when the delay is the loss.
 *
 * Source: Schlisselberg, Cohen, Lancewicki, Mansour, "Delay as payoff in MAB",
 * 2025: with delay d = D c for a loss c in [0, 1], the price of delay is that
 * of the best arm, d* = D c*, not the longest, D.
 *
 * Idea: a play of round t whose loss is missing when round u begins says
 *     d >= u - t, so c > (u - t - 1) / D,
 * and arms which are long in answering are worse than one which is not.  With
 * m plays of arm a, S the sum of the losses arrived, and A the sum of
 * u - t - 1 over the missing ones,
 *     known(a) = (S + A / D) / m
 * is at most the mean of the m losses, and grows to it.  In round u all terms
 * lie in [0, r], r = min(1, u / D), so they are compared with the width
 *     w(a) = r sqrt(log T / (2 m)):
 * arm a is in good standing iff known(a) - w(a) <= min_b known(b) + w(b).
 * Only arms in good standing are played, in turn.  This is no elimination:
 * losses of the others still arrive, the means of the first may rise, and
 * standing is judged anew each turn.  If all arms but the best take D rounds
 * to answer they lose it after about 2 d* + 8 K log T rounds, however large D
 * is.  An arm is cut for good when its loss is larger for certain, whatever
 * the missing losses are:
 *     known(a) - W(a) > min_b (S(b) + missing(b)) / m(b) + W(b),
 * W being w with r = 1.
 *
 * D: as set, or learnt.  As d >= D c, the ratio of the sums of c and d over
 * all arrivals is at most 1 / D, and stands for it; before there is a delay to
 * learn from, all sums are 0 or ages, the unit is immaterial for standing, and
 * nothing is cut.
 *
 * Losses: the policy sees [-1, 1].  `zero` is the loss without delay and 1 the
 * loss with delay D: c = (loss - zero) / (1 - zero).  In a simulated world, or
 * where losses in [0, 1] are reported as such in the range [-1, 1], that is
 * zero=0; with the range set to 0,1 it is zero=-1.
 *
 * Uncertain: written from the idea and the bound; the text, of which only the
 * beginning was at hand, doubles a guess of d* instead, and the bound is not
 * proved for this rule.  payoff-doubling is after the authors: with a guess B
 * of the best arm's loss, 1 / D at first, an arm is in good standing iff
 *     known(a) - w(a) <= B,
 * and when no arm is, B is doubled.  Arms are cut as above.  Its constants and
 * the order of plays are ours.  Under other delays than payoff neither standing
 * nor cuts mean much.
 *
 * Standing is judged at most once in an eighth of the active arms plays, so a
 * choice costs O(1) on average. */
#include "policy/plain/counts.h"

#include <math.h>
#include <string.h>
#include "base/base.h"

enum { JUDGED_PER_PLAY = 8 };

static const tarry_setting settings[] = {
    TARRY__SPEC_REAL("D", "0", 0, 1e12,
                     "delay of the largest loss, in rounds; 0: learnt"),
    TARRY__SPEC_REAL("zero", "0", -1, 0.999,
                     "the loss without delay, of losses in [-1, 1]"),
    TARRY__SPEC_REAL("scale", "1", 0, 1e6, "factor of the widths"),
    TARRY__SPEC_END,
};

typedef struct {
    tarry__counts counts; /* its sums are of c, not of losses */
    double D, zero;
    uint64_t now;          /* the last round chosen */
    double sum_c, sum_d;   /* over all arrivals */
    double largest;        /* c that arrived */
    double per_round;      /* 1 / D, as far as known */
    double range;          /* r */
    bool may_cut;          /* D is known */
    uint64_t *open_rounds; /* per arm: sum of its missing plays' rounds */
    size_t n_standing;
    uint32_t *standing; /* arms in good standing, increasing */
    size_t plays;       /* made since standing was judged */
    double guess;       /* B, of payoff-doubling */
} payoff;

static tarry_status init(void *state, const tarry__policy_type *type,
                         const tarry__policy_problem *problem,
                         const tarry__spec *spec, tarry_error *error)
{
    payoff *p = state;
    const size_t K = problem->n_arms;
    const tarry_status status =
        tarry__counts_open(&p->counts, type, problem, spec, error);
    if (status != TARRY_OK)
        return status;
    if (tarry__spec_real(spec, "D", &p->D, error) != TARRY_OK ||
        tarry__spec_real(spec, "zero", &p->zero, error) != TARRY_OK)
        return TARRY_BAD_ARGUMENT;
    p->open_rounds = tarry__base_zalloc(K, sizeof *p->open_rounds);
    p->standing = tarry__base_alloc(K, sizeof *p->standing);
    if (p->open_rounds == NULL || p->standing == NULL)
        return TARRY_NO_MEMORY;
    p->n_standing = K;
    for (size_t k = 0; k < K; k++)
        p->standing[k] = (uint32_t)k;
    return TARRY_OK;
}

/* ---- what is known --------------------------------------------------------*/

/* A, the rounds that missing plays have waited for certain; modulo 2^64, which
 * the sum itself never reaches. */
static double waited(const payoff *p, const tarry__plain_count *arm)
{
    const size_t k = (size_t)(arm - p->counts.count);
    return (double)(tarry__plain_missing(arm) * p->now - p->open_rounds[k]);
}

/* known(a); feedback later than D, or never, counts as a loss of 1. */
static double known(const payoff *p, const tarry__plain_count *arm)
{
    const double missing = (double)tarry__plain_missing(arm);
    if (arm->played == 0) /* all its plays have been called off */
        return 0;
    return (arm->sum + fmin(missing, waited(p, arm) * p->per_round)) /
           (double)arm->played;
}

static double width(const payoff *p, const tarry__plain_count *arm)
{
    const double m = (double)arm->played;
    return p->counts.scale * sqrt(tarry__counts_log(&p->counts, m) / (2 * m));
}

/* As long as D is not known, what is missing may be nothing. */
static tarry_estimate bracket(const void *state, const tarry__plain_count *arm)
{
    const payoff *p = state;
    const double m = (double)arm->played;
    const double W = width(p, arm), missing = (double)tarry__plain_missing(arm);
    if (arm->played == 0)
        return (tarry_estimate){-INFINITY, INFINITY};
    return (tarry_estimate){(p->may_cut ? known(p, arm) : arm->sum / m) - W,
                            (arm->sum + missing) / m + W};
}

static void learn_D(payoff *p)
{
    const double round = (double)p->now + 1;
    p->may_cut = p->D > 0 || (p->sum_d > 0 && p->sum_c > 0);
    p->per_round = p->D > 0     ? 1 / p->D
                   : p->may_cut ? p->sum_c / p->sum_d
                                : 1 / round;
    p->range = fmin(1, fmax(p->largest, round * p->per_round));
}

/* Fills `standing` from the active arms: known(a) - w(a) <= most.  One whose
 * plays have all been called off stands well. */
static void stand(payoff *p, double most)
{
    const tarry__counts *c = &p->counts;
    p->n_standing = 0;
    for (size_t i = 0; i < c->n_active; i++) {
        const tarry__plain_count *arm = &c->count[c->active[i]];
        if (arm->played == 0 ||
            known(p, arm) - p->range * width(p, arm) <= most)
            p->standing[p->n_standing++] = c->active[i];
    }
}

static void judge(payoff *p)
{
    const tarry__counts *c = &p->counts;
    double least = INFINITY;
    for (size_t i = 0; i < c->n_active; i++) {
        const tarry__plain_count *arm = &c->count[c->active[i]];
        least = fmin(least, known(p, arm) + p->range * width(p, arm));
    }
    stand(p, least);
}

/* With a guess that some arm meets.  All are met by a guess of 1. */
static void judge_by_guess(payoff *p)
{
    p->guess = fmax(p->guess, fmin(p->per_round, 1));
    for (stand(p, p->guess); p->n_standing == 0; stand(p, p->guess))
        p->guess *= 2;
}

static const bool by_guess = true; /* the `rule` of payoff-doubling */

/* ---- choose and observe ---------------------------------------------------*/

/* Before the first play of round now + 1. */
static void begin_turn(payoff *p)
{
    tarry__counts *c = &p->counts;
    c->cursor = 0;
    if (c->n_active == 1 || p->plays < c->n_active / JUDGED_PER_PLAY)
        return;
    learn_D(p);
    if (p->may_cut || c->rule == &by_guess)
        tarry__counts_cut(c, bracket, p);
    if (c->rule == &by_guess)
        judge_by_guess(p);
    else
        judge(p);
    p->plays = 0;
}

static void played(void *state, uint64_t round, size_t arm)
{
    payoff *p = state;
    p->counts.count[arm].played++;
    p->open_rounds[arm] += round;
    p->now = round;
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    payoff *p = state;
    if (p->counts.cursor >= p->n_standing)
        begin_turn(p);
    *arm = p->standing[p->counts.cursor++];
    played(p, round, *arm);
    p->plays++;
    return TARRY_OK;
}

static tarry__policy_use observe(void *state, uint64_t round, size_t arm,
                                 double loss)
{
    payoff *p = state;
    const double c = (loss - p->zero) / (1 - p->zero);
    p->open_rounds[arm] -= round;
    p->sum_c += c;
    p->sum_d += (double)(p->now - round);
    p->largest = fmax(p->largest, c);
    return tarry__counts_add(&p->counts, arm, c);
}

static tarry_status cancel(void *state, uint64_t round, size_t arm)
{
    payoff *p = state;
    p->open_rounds[arm] -= round;
    p->counts.count[arm].played--;
    return TARRY_OK;
}

/* Best is the arm of smallest known loss: missing ones must not flatter. */
static void status(const void *state, tarry_policy_status *status)
{
    payoff p = *(const payoff *)state; /* its memory is only read */
    const tarry__counts *c = &p.counts;
    double least = INFINITY;
    learn_D(&p);
    tarry__counts_status(c, status);
    for (size_t i = 0; i < c->n_active; i++) {
        const tarry__plain_count *arm = &c->count[c->active[i]];
        if (arm->played > 0 && known(&p, arm) < least) {
            least = known(&p, arm);
            status->best = c->active[i];
        }
    }
}

/* ---- arms that come and go ------------------------------------------------*/

static tarry_status reserve(void *state, size_t n_arms)
{
    payoff *p = state;
    const size_t K = p->counts.problem->n_arms;
    uint64_t *open_rounds =
        tarry__base_grow(p->open_rounds, K, n_arms, sizeof *open_rounds);
    if (open_rounds == NULL)
        return TARRY_NO_MEMORY;
    p->open_rounds = open_rounds;
    uint32_t *standing =
        tarry__base_grow(p->standing, p->n_standing, n_arms, sizeof *standing);
    if (standing == NULL)
        return TARRY_NO_MEMORY;
    p->standing = standing;
    return tarry__counts_reserve(&p->counts, n_arms);
}

/* All active arms are played once before they are judged again. */
static tarry_status rearranged(void *state)
{
    payoff *p = state;
    tarry__counts *c = &p->counts;
    for (size_t k = c->n_known; k < c->problem->n_arms; k++)
        p->open_rounds[k] = 0;
    tarry__counts_rearrange(c);
    p->n_standing = c->n_active;
    memcpy(p->standing, c->active, c->n_active * sizeof *p->standing);
    p->plays = 0;
    return TARRY_OK;
}

/* ---- saving ---------------------------------------------------------------*/

/* Those in good standing are active. */
static bool is_sound(const payoff *p)
{
    bool sound = p->n_standing > 0 && p->counts.cursor <= p->n_standing &&
                 p->D >= 0 && isfinite(p->D) && p->zero >= -1 && p->zero < 1 &&
                 isfinite(p->sum_c) && isfinite(p->sum_d) &&
                 isfinite(p->largest) && p->guess >= 0 && p->guess <= 2;
    for (size_t i = 0; sound && i < p->n_standing; i++)
        sound = p->standing[i] < p->counts.problem->n_arms &&
                !p->counts.count[p->standing[i]].cut;
    return sound;
}

static void archive(void *state, const tarry__policy_type *type,
                    const tarry__policy_problem *problem, tarry__archive *a)
{
    payoff *p = state;
    size_t K = problem->n_arms;
    tarry__counts_archive(&p->counts, type, problem, a);
    tarry__archive_field(a, p->D);
    tarry__archive_field(a, p->zero);
    tarry__archive_field(a, p->now);
    tarry__archive_field(a, p->sum_c);
    tarry__archive_field(a, p->sum_d);
    tarry__archive_field(a, p->largest);
    tarry__archive_field(a, p->plays);
    if (p->counts.rule == &by_guess)
        tarry__archive_field(a, p->guess);
    tarry__archive_array(a, &p->open_rounds, &K, sizeof *p->open_rounds, K);
    tarry__archive_array(a, &p->standing, &p->n_standing, sizeof *p->standing,
                         problem->n_arms);
    tarry__archive_room(a, &p->standing, p->n_standing, problem->n_arms,
                        sizeof *p->standing);
    tarry__archive_require(a, a->status == TARRY_OK && K == problem->n_arms &&
                                  is_sound(p));
}

static void clear(void *state)
{
    payoff *p = state;
    tarry__counts_clear(&p->counts);
    tarry__base_free(p->open_rounds);
    tarry__base_free(p->standing);
}

const tarry__policy_type tarry__plain_payoff_mab = {
    .name = "payoff-mab",
    .source = "idea of Schlisselberg et al. 2025",
    .any_delays = true,
    .summary = "the delay is the loss: arms that are long in answering wait",
    .plain = true,
    .settings = settings,
    .state_size = sizeof(payoff),
    .init = init,
    .choose = choose,
    .observe = observe,
    .cancel = cancel,
    .played = played,
    .status = status,
    .archive = archive,
    .clear = clear,
    .reserve = reserve,
    .rearranged = rearranged,
};

const tarry__policy_type tarry__plain_payoff_doubling = {
    .name = "payoff-doubling",
    .source = "after Schlisselberg et al. 2025",
    .any_delays = true,
    .summary =
        "the delay is the loss: the best one is guessed, and the guess doubled",
    .plain = true,
    .settings = settings,
    .rule = &by_guess,
    .state_size = sizeof(payoff),
    .init = init,
    .choose = choose,
    .observe = observe,
    .cancel = cancel,
    .played = played,
    .status = status,
    .archive = archive,
    .clear = clear,
    .reserve = reserve,
    .rearranged = rearranged,
};
