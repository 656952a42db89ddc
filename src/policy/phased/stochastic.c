/* stochastic.c - Algorithm 1, for delays that do not depend on losses:
 * stochastic, per arm if they like, or adversarial but equal for all arms.
 *
 * Phase m: N = 16 n log(KT) / eps^2 losses, N(b) = ceil(N w(b)) of arm b by the
 * balanced design w.  Each round draws an arm from w; S(b) keeps the first N(b)
 * losses of b that arrive; the phase ends when all S(b) are full.  Keep a iff
 * <theta, a> - min_b <theta, b> <= 2 eps.
 *
 * Theorem (loss-independent stochastic): regret O(min_q sqrt(n T log(KT) / q) +
 * max_a Q(q; a)), so O(sqrt(n T log(KT)) + max_a E[d(a)]); with delays set by
 * an adversary, the same for all arms, O(sqrt(n T log(KT)) + sigma_max).
 *
 * Departures from the printed text: g is with the squared norm; S(b) stops at
 * N(b) losses, because V assumes exactly N(b) of them; log log n, undefined for
 * small n, is replaced by the measured support of the design. */
#include "policy/phased/phased.h"

#include "random/rounds.h"

/* The coins of some rounds, drawn together for speed; each is a function of
 * (seed, run, round), so they need not be saved. */
enum { COINS = 256 };
typedef struct {
    tarry__phased phased; /* first, so that shared functions see it */
    bool has_coins;       /* u and v are filled */
    uint64_t from;        /* the round of the first coins */
    double u[COINS], v[COINS];
} stochastic;

static size_t draw_entry(stochastic *s, uint64_t round)
{
    const uint64_t from = round / COINS * COINS;
    if (!s->has_coins || s->from != from) {
        const tarry_random coins = {.seed = s->phased.problem->seed,
                                    .run = s->phased.problem->run,
                                    .round = from,
                                    .stream = TARRY__POLICY_STREAM_COINS};
        tarry__random_uniform_rounds(&coins, COINS, s->u, s->v);
        s->from = from;
        s->has_coins = true;
    }
    return tarry__random_discrete_pick(s->phased.plan.law, s->u[round - from],
                                       s->v[round - from]);
}

static tarry_status choose(tarry__phased *ph, uint64_t round, size_t *arm)
{
    if (ph->plan.n_short == 0 && ph->plan.n_active > 1) {
        const tarry_status status = tarry__phased_advance(ph, round);
        if (status != TARRY_OK)
            return status;
    }
    if (ph->plan.n_active == 1)
        *arm = ph->plan.active[0];
    else if (!tarry__phased_plan_next(&ph->plan, arm)) {
        const tarry_plan_entry *e =
            &ph->plan.entry[draw_entry((stochastic *)ph, round)];
        *arm = e->arm;
        ph->chance = e->weight;
    }
    return TARRY_OK;
}

static const tarry__phased_algorithm algorithm = {
    .linear = true,
    .drawn = true,
    .cut = 2,
    .lay = tarry__phased_lay_balanced,
    .quota = tarry__phased_quota,
    .share = tarry__phased_share_all,
    .choose = choose,
    .rule = {{&tarry__phased_paper, &tarry__phased_paper},
             {&tarry__phased_tight_full, &tarry__phased_tight_guided}},
    .read = tarry__phased_read_practical,
};

const tarry__policy_type tarry__phased_stochastic = {
    .name = "phased-stochastic",
    .source = "Algorithm 1",
    .summary = "delays by chance, or by an adversary but equal for all arms",
    .settings = tarry__phased_settings,
    .rule = &algorithm,
    .state_size = sizeof(stochastic),
    TARRY__PHASED_SHARED,
    .played = tarry__phased_played,
    .certify = tarry__phased_certify,
};
