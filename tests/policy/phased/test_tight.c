/* constants=tight and guides against a plain second version: quotas, which
 * losses count, who is cut and what is certified, recounted from the plays; V^+
 * comes from GSL (follower.h). */
#include "check.h"
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "policy/follower.h"
#include "policy/handle.h"
#include "policy/phased/phased.h"
#include "policy/play.h"

enum { ROUNDS = 60000, ARMS = 9 };
static const uint64_t HORIZON = 100000;

typedef struct {
    game game;
    tarry_policy *policy;
    mailbox box;
    bool plain, designated, all, regret, drawn; /* how it counts; the plan */
    size_t arm_of[ROUNDS + 1];
    uint64_t phase_of[ROUNDS + 1], turn_of[ROUNDS + 1]; /* among the arm's */
    uint64_t phase;
    double epsilon, confidence; /* 0: of the horizon */
    bool active[ARMS];
    uint64_t target[ARMS], played[ARMS], counted[ARMS];
    double sum[ARMS], weight[ARMS];
} record;

/* ---- the second version ---------------------------------------------------*/

static double tight_L(const record *r)
{
    const double K = (double)r->game.n_arms, T = (double)HORIZON;
    const double m = (double)r->phase;
    return r->confidence > 0 ? log(2 * K * m * (m + 1) / (1 - r->confidence))
                             : log(K * ceil(log(T) / log(2)) * T);
}

/* P = V^+ of what the estimate stands on, unit vectors for plain arms. */
static void inverse(const record *r, const double *mass,
                    double P[MAX_FOLLOWED][MAX_FOLLOWED])
{
    if (!r->plain)
        pseudo_inverse(&r->game, mass, P);
}

static double product(const record *r, double P[MAX_FOLLOWED][MAX_FOLLOWED],
                      const double *mass, size_t a, size_t b)
{
    if (!r->plain)
        return form(&r->game, P, a, b);
    return a == b ? 1 / mass[a] : 0;
}

/* Quotas: N = 2 g L / eps^2 with the g of the weights, rounded up.  Where plays
 * are drawn weights have been raised to a quarter of the mean one, which makes
 * g smaller than N stands on. */
static void check_quotas(const record *r)
{
    const size_t K = r->game.n_arms;
    double P[MAX_FOLLOWED][MAX_FOLLOWED], g = 0, planned = 0;
    inverse(r, r->weight, P);
    for (size_t k = 0; k < K; k++) {
        planned += r->weight[k] > 0;
        if (r->active[k])
            g = fmax(g, product(r, P, r->weight, k, k));
    }
    const double N = 2 * g * tight_L(r) / (r->epsilon * r->epsilon);
    for (size_t k = 0; k < K; k++)
        if (r->weight[k] > 0) { /* g is measured up to rounding */
            CHECK_AT_MOST((double)r->target[k],
                          ceil(N * r->weight[k] * 1.0001));
            CHECK_AT_MOST(ceil(N * r->weight[k] * (r->drawn ? 0.75 : 0.9999)),
                          (double)r->target[k]);
            if (r->drawn)
                CHECK_AT_MOST(0.2 / planned, r->weight[k]);
        }
}

/* design=regret: no arm is known worse than 4 eps against the best. */
static void check_widths(const record *r)
{
    const size_t K = r->game.n_arms, best = best_of(&r->game);
    double P[MAX_FOLLOWED][MAX_FOLLOWED], mass[ARMS] = {0};
    for (size_t k = 0; k < K; k++)
        mass[k] = (double)r->target[k];
    inverse(r, mass, P);
    for (size_t k = 0; k < K; k++) {
        const double square = product(r, P, mass, k, k) +
                              product(r, P, mass, best, best) -
                              2 * product(r, P, mass, k, best);
        if (r->active[k])
            CHECK_AT_MOST(sqrt(2 * tight_L(r) * fmax(square, 0)),
                          8 * r->epsilon);
    }
}

static void start(record *r)
{
    const tarry_policy_status s = status_of(r->policy);
    r->phase = s.phase;
    r->epsilon = s.epsilon;
    memset(r->active, 0, sizeof r->active);
    memset(r->target, 0, sizeof r->target);
    memset(r->weight, 0, sizeof r->weight);
    memset(r->played, 0, sizeof r->played);
    memset(r->counted, 0, sizeof r->counted);
    memset(r->sum, 0, sizeof r->sum);
    for (size_t i = 0; i < s.n_active; i++)
        r->active[s.active[i]] = true;
    for (size_t i = 0; i < s.n_plan; i++) {
        r->target[s.plan[i].arm] = s.plan[i].target;
        r->weight[s.plan[i].arm] = s.plan[i].weight;
    }
    if (s.n_plan > 0 && !r->regret)
        check_quotas(r);
    else if (s.n_plan > 0)
        check_widths(r);
}

/* What V stands on: all losses seen, or exactly N(b). */
static double mass_of(const record *r, size_t k)
{
    return (double)(r->all ? r->counted[k] : r->target[k]);
}

/* Who stays, and the bound on the best one's gap. */
static void judge(const record *r, bool *kept, size_t *best, double *bound)
{
    const size_t K = r->game.n_arms;
    double P[MAX_FOLLOWED][MAX_FOLLOWED], mass[ARMS] = {0}, mean[ARMS];
    for (size_t k = 0; k < K; k++)
        mass[k] = mass_of(r, k);
    inverse(r, mass, P);
    *best = SIZE_MAX;
    for (size_t a = 0; a < K; a++) {
        mean[a] = 0;
        for (size_t c = 0; r->active[a] && c < K; c++)
            if (mass[c] > 0)
                mean[a] += product(r, P, mass, a, c) * r->sum[c];
        if (r->active[a] && (*best == SIZE_MAX || mean[a] < mean[*best]))
            *best = a;
    }
    *bound = 0;
    for (size_t a = 0; a < K; a++) {
        const size_t b = *best;
        double bracket = 0;
        kept[a] = r->active[a];
        if (!r->active[a] || a == b)
            continue;
        const double square = product(r, P, mass, a, a) +
                              product(r, P, mass, b, b) -
                              2 * product(r, P, mass, a, b);
        const double width = sqrt(2 * tight_L(r) * fmax(square, 0));
        for (size_t c = 0; c < K; c++)
            if (mass[c] > 0)
                bracket +=
                    (mass[c] - (double)r->counted[c]) *
                    fabs(product(r, P, mass, a, c) - product(r, P, mass, b, c));
        kept[a] = mean[a] - mean[b] - bracket <= width;
        if (kept[a])
            *bound = fmax(*bound, width + bracket - (mean[a] - mean[b]));
    }
}

static void check_end(const record *r)
{
    const tarry_policy_status s = status_of(r->policy);
    bool kept[ARMS];
    size_t best, arm, count = 0;
    double bound, gap;
    judge(r, kept, &best, &bound);
    for (size_t k = 0; k < r->game.n_arms; k++)
        count += kept[k];
    assert_int_equal(s.n_active, count);
    for (size_t i = 0; i < s.n_active; i++)
        assert_true(kept[s.active[i]]);
    assert_int_equal(tarry_policy_certify(r->policy, &arm, &gap), TARRY_OK);
    CHECK_AT_MOST(gap, fmin(bound, 2) + 1e-9);
}

/* ---- playing --------------------------------------------------------------*/

static uint64_t phase_key(const record *r)
{
    return status_of(r->policy).phase_start;
}

/* A loss is counted if it is of this phase's play of a planned arm, and of its
 * first N(b) plays, or among the first N(b) to come. */
static void count_loss(record *r, uint64_t round, double loss)
{
    const size_t k = r->arm_of[round];
    if (r->regret && phase_key(r) == 1)
        return; /* the guide alone, to learn gaps */
    if (r->phase_of[round] != r->phase || r->target[k] == 0)
        return;
    if (r->designated ? r->turn_of[round] > r->target[k]
                      : !r->all && r->counted[k] == r->target[k])
        return;
    r->counted[k]++;
    r->sum[k] += loss;
}

static void compare_counts(const record *r)
{
    const tarry_policy_status s = status_of(r->policy);
    for (size_t i = 0; i < s.n_plan; i++)
        assert_int_equal(s.plan[i].observed, r->counted[s.plan[i].arm]);
}

static void play_one(record *r, const delay_law *law, uint64_t *key)
{
    const uint64_t phase = r->phase;
    const choice c = choose(r->policy);
    if (phase_key(r) != *key) {
        if (status_of(r->policy).phase != phase)
            check_end(r);
        start(r);
        *key = phase_key(r);
    }
    assert_true(r->active[c.arm]);
    r->arm_of[c.round] = c.arm;
    r->phase_of[c.round] = *key <= c.round ? r->phase : 0;
    r->turn_of[c.round] = ++r->played[c.arm];
    const double loss = loss_of(&r->game, c.round, c.arm);
    post(&r->box, c.round, law->delay(c.round, c.arm, loss));
    for (uint64_t t = r->box.first[c.round]; t != 0; t = r->box.next[t]) {
        const double seen = loss_of(&r->game, t, r->arm_of[t]);
        tarry_policy_observe(r->policy, t, seen);
        if (t >= *key)
            count_loss(r, t, seen);
    }
    if (c.round % 97 == 0)
        compare_counts(r);
}

typedef struct {
    const char *policy;
    bool plain, designated, all, regret;
    uint64_t phases; /* that must have ended */
} kind;

static const kind kinds[] = {
    {"phased-stochastic:constants=tight", .all = true, .phases = 2},
    {"phased-adversarial:constants=tight", .all = true, .phases = 2},
    {"phased-loss-dependent:constants=tight", .designated = true, .phases = 2},
    {"phased-mab:constants=tight", .plain = true, .designated = true,
     .phases = 2},
    {"phased-stochastic:constants=tight,guide=lints,guide_share=2",
     .phases = 1},
    {"phased-adversarial:constants=tight,guide=greedy,guide_share=2",
     .phases = 1},
    {"phased-loss-dependent:constants=tight,guide=linucb,guide_share=2",
     .designated = true, .phases = 1},
    {"phased-mab:constants=tight,guide=lints,guide_share=1", .plain = true,
     .designated = true, .phases = 1},
    {"phased-adversarial:constants=tight,guide=lints,guide_share=2,"
     "design=regret",
     .regret = true, .phases = 2},
    {"phased-loss-dependent:constants=tight,guide=uniform,guide_share=2,"
     "design=regret",
     .regret = true, .designated = true, .phases = 1},
    {"phased-adversarial:constants=tight,guide=phased-loss-dependent,"
     "guide_share=1",
     .phases = 1},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static void follow(const kind *k, game g, double confidence,
                   const delay_law *law)
{
    tarry_policy_params params = params_of(&g, HORIZON);
    record *r = calloc(1, sizeof *r);
    uint64_t key = 1;
    assert_non_null(r);
    r->game = g;
    r->confidence = params.confidence = confidence;
    r->policy = make_policy(k->policy, &params);
    r->box = make_mailbox(ROUNDS);
    r->plain = k->plain;
    r->designated = k->designated;
    r->all = k->all;
    r->regret = k->regret;
    r->drawn = strcmp(k->policy, "phased-stochastic:constants=tight") == 0;
    start(r);
    for (int t = 0; t < ROUNDS; t++)
        play_one(r, law, &key);
    print_message("    %-76s %-14s phase %d, %d left\n", k->policy, law->name,
                  (int)r->phase, (int)status_of(r->policy).n_active);
    assert_true(r->phase > k->phases || law->delay == sometimes_never);
    tarry_policy_free(r->policy);
    end_mailbox(&r->box);
    end_game(&r->game);
    free(r);
}

static void phases_are_as_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_KINDS; i++)
        for (size_t d = 0; d < N_DELAYS; d += BRIEF ? 3 : 1)
            follow(&kinds[i], make_game(ARMS, 3, 3), 0, &delay_laws[d]);
}

static void phases_of_flat_arms_are_as_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_KINDS; i++)
        follow(&kinds[i], make_game(7, 5, 2), 0, &delay_laws[1]);
}

/* Phase m then has the share 1/(m (m + 1)) of half the failures. */
static void phases_with_a_confidence_are_as_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_KINDS; i++)
        follow(&kinds[i], make_game(ARMS, 3, 3), 0.95, &delay_laws[1]);
}

/* The entry with an open quota whose arm looks best; before the others, in the
 * order of the plan, where they look alike. */
static size_t cheapest_open(const tarry__phased_plan *p)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < p->n_entries; i++)
        if (p->tally[i].left > 0 &&
            (best == SIZE_MAX || p->tally[i].mean < p->tally[best].mean))
            best = i;
    return best;
}

/* With no share for the guide every play of a phase is the plan's. */
static void quotas_are_played_cheapest_first(void **state)
{
    (void)state;
    game g = make_game(ARMS, 3, 3);
    const tarry_policy_params params = params_of(&g, HORIZON);
    tarry_policy *p = make_policy(
        "phased-adversarial:constants=tight,guide=greedy,guide_share=0",
        &params);
    const tarry__phased *ph = p->state;
    uint64_t checked = 0, changes = 0;
    for (int t = 0; t < 20000; t++) {
        const uint64_t start = ph->pace.start;
        const size_t i = cheapest_open(&ph->plan);
        const size_t wanted = i != SIZE_MAX ? ph->plan.entry[i].arm : SIZE_MAX;
        const choice c = choose(p);
        tarry_policy_observe(p, c.round, loss_of(&g, c.round, c.arm));
        changes += ph->pace.start != start;
        if (ph->pace.start != start || wanted == SIZE_MAX)
            continue; /* new quotas: the order is another */
        assert_int_equal(c.arm, wanted);
        checked++;
    }
    assert_true(checked > 10000 && changes > 0);
    tarry_policy_free(p);
    end_game(&g);
}

/* ---- design=regret --------------------------------------------------------*/

/* r(r+1)/2 = 6 of 1000 arms suffice, and drawing them takes not much longer
 * than playing them would. */
static void regret_plans_are_thin_and_soon_drawn(void **state)
{
    (void)state;
    game g = make_game(1000, 3, 3);
    const tarry_policy_params params = params_of(&g, HORIZON);
    tarry_policy *p =
        make_policy("phased-stochastic:constants=tight,design=regret", &params);
    uint64_t phase = 1, since = 1, planned = 0;
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        const choice c = choose(p);
        const tarry_policy_status s = status_of(p);
        if (s.phase != phase) {
            CHECK_AT_MOST((double)(t - since), 1.7 * (double)planned);
            phase = s.phase;
            since = t;
        }
        CHECK_AT_MOST((double)s.n_plan, 6);
        planned = 0;
        for (size_t i = 0; i < s.n_plan; i++)
            planned += s.plan[i].target;
        tarry_policy_observe(p, c.round, loss_of(&g, c.round, c.arm));
    }
    assert_true(phase >= 4);
    tarry_policy_free(p);
    end_game(&g);
}

/* ---- guides ---------------------------------------------------------------*/

/* Plays both for some rounds, with no delay; answers how many choices differ.
 */
static uint64_t count_differences(const char *one, const char *other,
                                  uint64_t horizon)
{
    game g = make_game(ARMS, 3, 3);
    const tarry_policy_params params = params_of(&g, horizon);
    tarry_policy *p = make_policy(one, &params),
                 *q = make_policy(other, &params);
    uint64_t differences = 0;
    for (uint64_t t = 0; t < horizon; t++) {
        const choice a = choose(p), b = choose(q);
        differences += a.arm != b.arm;
        tarry_policy_observe(p, a.round, loss_of(&g, a.round, a.arm));
        tarry_policy_observe(q, b.round, loss_of(&g, b.round, b.arm));
    }
    tarry_policy_free(p);
    tarry_policy_free(q);
    end_game(&g);
    return differences;
}

/* With too short a horizon for a phase the guide is left alone. */
static void a_guide_that_nobody_disturbs_plays_as_alone(void **state)
{
    (void)state;
    static const char *const guides[] = {"lints",      "linucb",
                                         "greedy",     "otf-lints",
                                         "otf-linucb", "linucb-inflated"};
    for (size_t i = 0; i < sizeof guides / sizeof *guides; i++) {
        char text[100];
        snprintf(text, sizeof text,
                 "phased-loss-dependent:constants=tight,guide=%s", guides[i]);
        assert_int_equal(count_differences(text, guides[i], 3000), 0);
        strcat(text, ",guide_share=1");
        assert_true(count_differences(text, guides[i], 3000) > 100);
    }
}

/* One play in 1 + c has a quota, no more are forced, and quotas of the arms the
 * guide likes fill by themselves: without delay phase 1 takes at most (1 + c)
 * times its plays. */
static void phases_last_as_long_as_the_share_says(void **state)
{
    (void)state;
    static const double shares[] = {0, 1, 4.5, 10};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        game g = make_game(ARMS, 3, 3);
        const tarry_policy_params params = params_of(&g, HORIZON);
        char text[100];
        snprintf(text, sizeof text,
                 "phased-adversarial:constants=tight,guide=greedy,"
                 "guide_share=%g",
                 shares[i]);
        tarry_policy *p = make_policy(text, &params);
        const double plays = (double)status_of(p).first_phase_rounds;
        while (status_of(p).phase == 1) {
            const choice c = choose(p);
            tarry_policy_observe(p, c.round, loss_of(&g, c.round, c.arm));
        }
        const double rounds = (double)status_of(p).phase_start - 1;
        CHECK_AT_MOST(rounds, (1 + shares[i]) * plays + 1);
        CHECK_AT_MOST(plays, rounds);
        if (shares[i] > 4) /* the best arm's quota needed no force */
            CHECK_AT_MOST(1.2 * plays, rounds);
        tarry_policy_free(p);
        end_game(&g);
    }
}

static bool is_among(const tarry_policy_status *s, size_t arm)
{
    for (size_t i = 0; i < s->n_active; i++)
        if (s->active[i] == arm)
            return true;
    return false;
}

/* So many that linucb looks at some only now and then. */
static void guides_of_many_arms_keep_to_the_active_ones(void **state)
{
    (void)state;
    static const char *const guides[] = {"linucb", "lints", "greedy", "uniform",
                                         "otf-linucb"};
    for (size_t i = 0; i < sizeof guides / sizeof *guides; i++) {
        game g = make_game(700, 2, 2);
        const tarry_policy_params params = params_of(&g, 20000);
        char text[100];
        snprintf(text, sizeof text,
                 "phased-adversarial:constants=tight,guide=%s,guide_share=2",
                 guides[i]);
        tarry_policy *p = make_policy(text, &params);
        for (int t = 0; t < 6000; t++) {
            const choice c = choose(p);
            const tarry_policy_status s = status_of(p);
            assert_true(is_among(&s, c.arm));
            tarry_policy_observe(p, c.round, loss_of(&g, c.round, c.arm));
        }
        print_message("    %s: %d left\n", guides[i],
                      (int)status_of(p).n_active);
        assert_true(status_of(p).n_active < 600);
        tarry_policy_free(p);
        end_game(&g);
    }
}

/* Admits an arm although at first each allocation fails in its turn, and looks
 * whether that has left a trace; how often it failed. */
static uint64_t admit_at_last(tarry_policy *p, const double *features)
{
    void *before, *after;
    size_t size, new_size, arm;
    uint64_t k = 0;
    tarry_status status = TARRY_NO_MEMORY;
    assert_int_equal(tarry_policy_pack(p, &before, &size), TARRY_OK);
    while (status == TARRY_NO_MEMORY) {
        tarry__base_fail_alloc(++k);
        status = tarry_policy_admit(p, features, &arm);
        tarry__base_fail_alloc(0);
        if (status == TARRY_OK)
            break;
        const tarry__guide *guide = &((tarry__phased *)p->state)->guide;
        assert_int_equal(guide->problem->n_arms, p->problem.n_arms);
        assert_ptr_equal(guide->problem->arms, p->problem.arms);
        assert_int_equal(tarry_policy_pack(p, &after, &new_size), TARRY_OK);
        assert_int_equal(new_size, size);
        assert_memory_equal(after, before, size);
        tarry_policy_pack_free(after);
    }
    assert_int_equal(status, TARRY_OK);
    tarry_policy_pack_free(before);
    return k - 1;
}

/* Some take memory only when the arms are there already. */
static void an_arm_without_memory_is_none_of_the_guides(void **state)
{
    (void)state;
    static const char *const guides[] = {"vids", "ids", "foresight", "lints"};
    for (size_t i = 0; i < sizeof guides / sizeof *guides; i++) {
        game g = make_game(ARMS, 3, 3);
        tarry_policy_params params = params_of(&g, HORIZON);
        char text[100];
        snprintf(text, sizeof text,
                 "phased-adversarial:constants=tight,guide=%s", guides[i]);
        params.n_arms = ARMS - 1;
        tarry_policy *p = make_policy(text, &params);
        for (int t = 0; t < 400; t++) {
            if (t == 200)
                assert_true(admit_at_last(p, arm_of(&g, ARMS - 1)) > 2);
            const choice c = choose(p);
            tarry_policy_observe(p, c.round, loss_of(&g, c.round, c.arm));
        }
        tarry_policy_free(p);
        end_game(&g);
    }
}

static void odd_settings_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "phased-stochastic:constants=loose",
        "phased-stochastic:constants=tight,guide=nobody",
        "phased-stochastic:constants=tight,guide=lints/w=2",
        "phased-stochastic:constants=tight,guide=oracle",
        "phased-stochastic:constants=tight,guide=lints,guide_share=-1",
        "phased-stochastic:constants=tight,design=best",
        "phased-stochastic:design=regret",
        "phased-mab:constants=tight,design=regret",
        "phased-stochastic:constants=tight,width=-1",
        "phased-nodelay:constants=tight",
    };
    game g = make_game(ARMS, 3, 3);
    const tarry_policy_params params = params_of(&g, HORIZON);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tarry_error error = {""};
        tarry_policy *p;
        print_message("    %s\n", texts[i]);
        assert_int_equal(try_policy(texts[i], &params, &p, &error),
                         TARRY_BAD_ARGUMENT);
        assert_true(strlen(error.text) > 10);
    }
    end_game(&g);
}

/* With its end cut off, this guide would be one that there is. */
static void a_guide_that_is_too_long_is_refused(void **state)
{
    (void)state;
    char text[700] = "phased-stochastic:constants=tight,guide=lints/v=0.7";
    memset(text + strlen(text), '0', 600);
    game g = make_game(ARMS, 3, 3);
    const tarry_policy_params params = params_of(&g, HORIZON);
    tarry_error error = {""};
    tarry_policy *p;
    assert_int_equal(try_policy(text, &params, &p, &error), TARRY_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "characters"));
    end_game(&g);
}

/* Others have none; the unit is the user's. */
static void certificates_are_in_the_unit_of_losses(void **state)
{
    (void)state;
    game g = make_game(ARMS, 3, 3);
    tarry_policy_params params = params_of(&g, HORIZON);
    size_t arm;
    double gap;
    params.low = -3;
    params.high = 3;
    tarry_policy *p = make_policy("phased-stochastic", &params);
    assert_int_equal(tarry_policy_certify(p, &arm, &gap), TARRY_BAD_ARGUMENT);
    assert_true(isnan(gap));
    tarry_policy_free(p);
    p = make_policy("phased-stochastic:constants=tight", &params);
    assert_int_equal(tarry_policy_certify(p, &arm, &gap), TARRY_OK);
    CHECK_NEAR(gap, 6, 1e-12);
    for (int t = 0; t < 20000; t++) {
        const choice c = choose(p);
        tarry_policy_observe(p, c.round, 3 * loss_of(&g, c.round, c.arm));
    }
    assert_int_equal(tarry_policy_certify(p, &arm, &gap), TARRY_OK);
    CHECK_AT_MOST(3 * (mean_loss(&g, arm) - mean_loss(&g, best_of(&g))), gap);
    CHECK_AT_MOST(gap, 1.5);
    tarry_policy_free(p);
    end_game(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_are_as_written),
        cmocka_unit_test(phases_of_flat_arms_are_as_written),
        cmocka_unit_test(phases_with_a_confidence_are_as_written),
        cmocka_unit_test(quotas_are_played_cheapest_first),
        cmocka_unit_test(regret_plans_are_thin_and_soon_drawn),
        cmocka_unit_test(a_guide_that_nobody_disturbs_plays_as_alone),
        cmocka_unit_test(phases_last_as_long_as_the_share_says),
        cmocka_unit_test(guides_of_many_arms_keep_to_the_active_ones),
        cmocka_unit_test(an_arm_without_memory_is_none_of_the_guides),
        cmocka_unit_test(odd_settings_are_refused),
        cmocka_unit_test(a_guide_that_is_too_long_is_refused),
        cmocka_unit_test(certificates_are_in_the_unit_of_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
