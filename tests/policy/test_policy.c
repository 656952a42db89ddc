/* What every policy promises at the public door, whatever is behind it. */
#include "check.h"
#include <float.h>
#include <string.h>
#include "base/base.h"
#include "folder.h"
#include "play.h"
#include "policy/policy_type.h"
#include "tarry/policy.h"

/* But in `make campaign`, twins part earlier, and each so manieth delay and
 * range is tried; other tests pass ends of phases there. */
enum { ROUNDS = 30000, MANY_ARMS = BRIEF ? 20000 : 200000 };

static int twin_rounds(void)
{
    return (int)amount(4000, 10000, ROUNDS);
}

static size_t some_delays(void)
{
    return amount(3, 2, 1);
}
static const uint64_t HORIZON = 100000;

/* The practical settings of the paper's four. */
static const char *const practical[] = {
    "phased-stochastic:constants=tight",
    "phased-adversarial:constants=tight",
    "phased-loss-dependent:constants=tight",
    "phased-mab:constants=tight",
    "phased-stochastic:guide=lints,guide_share=1",
    "phased-stochastic:constants=tight,guide=lints,guide_share=3",
    "phased-adversarial:constants=tight,guide=linucb,guide_share=3,"
    "design=regret",
    "phased-adversarial:constants=tight,guide=otf-linucb,guide_share=2",
    "phased-loss-dependent:constants=tight,guide=lints/v=0.7,guide_share=3,"
    "design=regret",
    "phased-loss-dependent:constants=tight,guide=otf-lints,guide_share=2",
    "phased-mab:constants=tight,guide=linucb-inflated,guide_share=3",
    "phased-mab:guide=greedy,guide_share=1",
    "phased-loss-dependent:constants=tight,guide=foresight,guide_share=3,"
    "design=regret",
    "phased-stochastic:constants=tight,guide=foresight,guide_share=3,"
    "cuts=always",
};
enum { N_PRACTICAL = sizeof practical / sizeof *practical };

static void run_for(const char *name, void (*test)(const char *name))
{
    print_message("    %s\n", name);
    test(name);
}

/* One test, run for every policy there is. */
static void for_each_listed(void (*test)(const char *name))
{
    for (size_t i = 0; tarry_policy_name(i) != NULL; i++)
        run_for(tarry_policy_name(i), test);
}

static void for_each_policy(void (*test)(const char *name))
{
    for_each_listed(test);
    for (size_t i = 0; i < N_PRACTICAL; i++)
        run_for(practical[i], test);
}

/* One test, run for the paper's four, which lead the list. */
static void for_each_phased(void (*test)(const char *name))
{
    for (size_t i = 0; i < 4; i++)
        run_for(tarry_policy_name(i), test);
    for (size_t i = 0; i < N_PRACTICAL; i++)
        run_for(practical[i], test);
}

/* A policy with its game and its losses under way. */
typedef struct {
    game game;
    const delay_law *law;
    mailbox box;
    size_t *arm_of_round;
    tarry_policy *policy;
} match;

static match make_match_with(const char *name, game g, const delay_law *law,
                             uint64_t rounds)
{
    const tarry_policy_params params = params_of(&g, HORIZON);
    match m = {g, law, make_mailbox(rounds),
               calloc(rounds + 1, sizeof *m.arm_of_round),
               make_policy(name, &params)};
    assert_non_null(m.arm_of_round);
    return m;
}

static match make_match(const char *name, const delay_law *law)
{
    return make_match_with(name, make_game(6, 2, 2), law, ROUNDS);
}

/* Starts again with other parameters. */
static void remake(match *m, const char *name,
                   const tarry_policy_params *params)
{
    tarry_policy_free(m->policy);
    m->policy = make_policy(name, params);
}

static void end_match(match *m)
{
    tarry_policy_free(m->policy);
    end_mailbox(&m->box);
    free(m->arm_of_round);
    end_game(&m->game);
}

static choice play_on(match *m)
{
    return play_round(m->policy, &m->game, m->law, &m->box, m->arm_of_round);
}

static void play_until(match *m, uint64_t round)
{
    for (uint64_t t = status_of(m->policy).round; t < round; t++)
        play_on(m);
}

static bytes saved(tarry_policy *p)
{
    const char *path = in_folder("state");
    assert_int_equal(tarry_policy_save(p, path, NULL), TARRY_OK);
    const bytes b = read_bytes(path);
    unlink(path);
    return b;
}

/* ---- a deterministic machine ----------------------------------------------*/

static void twin_repeats_every_choice(const char *name)
{
    for (size_t d = 0; d < N_DELAYS; d += some_delays()) {
        match live = make_match(name, &delay_laws[d]);
        match twin = make_match(name, &delay_laws[d]);
        for (int t = 0; t < twin_rounds(); t++) {
            const choice a = play_on(&live), b = play_on(&twin);
            assert_int_equal(a.round, t + 1);
            assert_int_equal(b.round, t + 1);
            assert_int_equal(a.arm, b.arm);
        }
        check_same_status(live.policy, twin.policy);
        end_match(&live);
        end_match(&twin);
    }
}

static void a_twin_repeats_every_choice(void **state)
{
    (void)state;
    for_each_policy(twin_repeats_every_choice);
}

/* The heir is packed, ended and unpacked; nobody may notice. */
static void succeed(match *heir)
{
    tarry_policy *old = heir->policy;
    void *state;
    size_t size;
    assert_int_equal(tarry_policy_pack(old, &state, &size), TARRY_OK);
    assert_int_equal(tarry_policy_unpack(state, size, &heir->policy, NULL),
                     TARRY_OK);
    tarry_policy_pack_free(state);
    check_same_status(old, heir->policy);
    assert_int_equal(status_of(old).open_bytes,
                     status_of(heir->policy).open_bytes);
    tarry_policy_free(old);
}

static void restored_policy_goes_on(const char *name)
{
    for (size_t d = 0; d < N_DELAYS; d += some_delays()) {
        uint64_t seed = d;
        match live = make_match(name, &delay_laws[d]);
        match heir = make_match(name, &delay_laws[d]);
        for (int t = 0; t < twin_rounds(); t++) {
            if (test_bits(&seed) % 1000 == 0)
                succeed(&heir);
            assert_int_equal(play_on(&live).arm, play_on(&heir).arm);
        }
        check_same_status(live.policy, heir.policy);
        end_match(&live);
        end_match(&heir);
    }
}

static void a_restored_policy_chooses_as_the_saved_one(void **state)
{
    (void)state;
    for_each_policy(restored_policy_goes_on);
}

/* A status copies what a policy knows, which takes time where that is much. */
static int rounds_with_status(const char *name)
{
    const bool large =
        strstr(name, "foresight") != NULL || strcmp(name, "recommended") == 0;
    return large ? ROUNDS / 20 : twin_rounds();
}

static void restored_after_a_change(const char *name)
{
    match live = make_match(name, &delay_laws[1]);
    match heir = make_match(name, &delay_laws[1]);
    for (int t = 0; t < rounds_with_status(name); t++) {
        const uint64_t phase = status_of(live.policy).phase;
        assert_int_equal(play_on(&live).arm, play_on(&heir).arm);
        if (status_of(live.policy).phase != phase)
            succeed(&heir);
    }
    end_match(&live);
    end_match(&heir);
}

/* All losses of the phase are in, and the next choice estimates from them. */
static bool is_full(tarry_policy *p)
{
    const tarry_policy_status s = status_of(p);
    bool full = s.n_plan > 0;
    for (size_t i = 0; i < s.n_plan; i++)
        full = full && s.plan[i].observed >= s.plan[i].target;
    return full;
}

static void restored_before_a_change(const char *name)
{
    match live = make_match(name, &delay_laws[0]);
    match heir = make_match(name, &delay_laws[0]);
    uint64_t times = 0;
    for (int t = 0; t < rounds_with_status(name); t++) {
        assert_int_equal(play_on(&live).arm, play_on(&heir).arm);
        if (is_full(live.policy)) {
            succeed(&heir);
            times++;
        }
    }
    const tarry_policy_status s = status_of(live.policy);
    const bool has_plans = s.first_phase_rounds > 0;
    assert_true(!has_plans || times + 1 >= s.phase);
    end_match(&live);
    end_match(&heir);
}

static void a_policy_can_be_saved_on_both_sides_of_a_phase_change(void **state)
{
    (void)state;
    for_each_policy(restored_after_a_change);
    for_each_policy(restored_before_a_change);
}

/* ---- every answer of observe ----------------------------------------------*/

static void check_answer(tarry_policy *p, uint64_t round, double loss,
                         tarry_status expected)
{
    assert_int_equal(tarry_policy_observe(p, round, loss), expected);
}

/* The state is the one saved before, which this ends. */
static void check_unchanged(tarry_policy *p, bytes before)
{
    const bytes after = saved(p);
    check_same_bytes(before, after);
    free(before.data);
    free(after.data);
}

static tarry_policy *make_ranged(const char *name, const game *g, double low,
                                 double high)
{
    tarry_policy_params params = params_of(g, HORIZON);
    params.low = low;
    params.high = high;
    return make_policy(name, &params);
}

static void answers_of(const char *name, double low, double high)
{
    game g = make_game(6, 2, 2);
    tarry_policy *p = make_ranged(name, &g, low, high);
    const uint64_t unknown[] = {
        0, 11, 1ull << 38, (1ull << 39) + 5, (1ull << 40) + 5, UINT64_MAX};
    const double bad[] = {NAN,
                          -NAN,
                          INFINITY,
                          -INFINITY,
                          -DBL_MAX,
                          DBL_MAX,
                          nextafter(low, -INFINITY),
                          nextafter(high, INFINITY)};
    check_answer(p, 1, low, TARRY_UNKNOWN_ROUND);
    for (int t = 0; t < 10; t++)
        choose(p);
    bytes before = saved(p);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        check_answer(p, unknown[i], low, TARRY_UNKNOWN_ROUND);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_answer(p, 5, bad[i], TARRY_BAD_LOSS);
    check_unchanged(p, before);
    check_answer(p, 5, low, TARRY_OK);
    check_answer(p, 9, high, TARRY_OK);
    before = saved(p);
    check_answer(p, 5, low, TARRY_REPORTED_TWICE);
    check_answer(p, 9, low / 2 + high / 2, TARRY_REPORTED_TWICE);
    check_unchanged(p, before);
    const tarry_policy_status s = status_of(p);
    assert_int_equal(s.used + s.ignored + s.late, 2);
    assert_int_equal(s.pending, 8);
    assert_int_equal(s.pending_max, 10);
    tarry_policy_free(p);
    end_game(&g);
}

static void answers(const char *name)
{
    answers_of(name, -1, 1);
    answers_of(name, 2.385, 7.25);
    answers_of(name, -1e-300, 1e300);
}

static void a_refused_loss_changes_nothing(void **state)
{
    (void)state;
    for_each_policy(answers);
}

/* Phase 1 ends, unless one arm is left before: then nothing is planned. */
static bool is_in_phase_1(tarry_policy *p)
{
    const tarry_policy_status s = status_of(p);
    return s.phase == 1 && s.n_active > 1;
}

/* Rounds of phase 1, kept back until phase 2. */
static void late_losses(const char *name)
{
    match m = make_match(name, &delay_laws[0]);
    while (is_in_phase_1(m.policy)) {
        const choice c = choose(m.policy);
        const double loss = loss_of(&m.game, c.round, c.arm);
        if (c.round % 20 != 3) /* one in 20 is kept back */
            tarry_policy_observe(m.policy, c.round, loss);
    }
    choose(m.policy); /* so that all is counted and `before` stays valid */
    const tarry_policy_status before = status_of(m.policy);
    if (before.phase > 1) {
        assert_int_equal(tarry_policy_observe(m.policy, 23, 0.5), TARRY_LATE);
        const tarry_policy_status after = status_of(m.policy);
        assert_int_equal(after.late, before.late + 1);
        assert_int_equal(after.used, before.used);
        assert_int_equal(after.ignored, before.ignored);
        assert_int_equal(after.pending, before.pending - 1);
        check_same_plan(&before, &after);
        const bytes state = saved(m.policy);
        check_answer(m.policy, 23, 0.5, TARRY_REPORTED_TWICE);
        check_answer(m.policy, 43, NAN, TARRY_BAD_LOSS);
        check_unchanged(m.policy, state);
    }
    end_match(&m);
}

static void losses_of_an_earlier_phase_are_late(void **state)
{
    (void)state;
    for_each_phased(late_losses);
}

/* Reported or open: every round ever played is known as one or the other. */
static void duplicates(const char *name)
{
    match m = make_match(name, &delay_laws[5]);
    play_until(&m, ROUNDS);
    uint64_t open = 0;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        const tarry_status bad = tarry_policy_observe(m.policy, round, NAN);
        assert_true(bad == TARRY_BAD_LOSS || bad == TARRY_REPORTED_TWICE);
        open += bad == TARRY_BAD_LOSS;
        if (bad == TARRY_REPORTED_TWICE)
            assert_int_equal(tarry_policy_observe(m.policy, round, 0), bad);
    }
    assert_int_equal(open, status_of(m.policy).pending);
    for (uint64_t round = ROUNDS; round > 0; round--)
        tarry_policy_observe(m.policy, round, 0);
    assert_int_equal(status_of(m.policy).pending, 0);
    for (uint64_t round = 1; round <= ROUNDS; round++)
        assert_int_equal(tarry_policy_observe(m.policy, round, 0),
                         TARRY_REPORTED_TWICE);
    end_match(&m);
}

static void duplicates_are_known_for_every_round_ever_played(void **state)
{
    (void)state;
    for_each_policy(duplicates);
}

/* ---- ranges ---------------------------------------------------------------*/

typedef struct {
    double low, high;
    int maximize;
} range;

static double moved(const range *r, double x)
{
    const double shifted = r->maximize ? -x : x;
    return r->low + (shifted + 1) / 2 * (r->high - r->low);
}

static double in_range(const range *r, double x)
{
    return fmin(fmax(moved(r, x), r->low), r->high);
}

static void plays_alike(const char *name, const range *r)
{
    match plain = make_match(name, &delay_laws[1]);
    match other = make_match(name, &delay_laws[1]);
    tarry_policy_params params = params_of(&other.game, HORIZON);
    params.low = r->low;
    params.high = r->high;
    params.maximize = r->maximize;
    remake(&other, name, &params);
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        const choice c = play_on(&plain);
        assert_int_equal(choose(other.policy).arm, c.arm);
        if (t == ROUNDS / 2)
            succeed(&other);
        for (uint64_t i = plain.box.first[t]; i != 0; i = plain.box.next[i]) {
            const double x = loss_of(&plain.game, i, plain.arm_of_round[i]);
            tarry_policy_observe(other.policy, i, in_range(r, x));
        }
    }
    const tarry_policy_status s = status_of(plain.policy);
    const tarry_policy_status t = status_of(other.policy);
    assert_int_equal(s.used, t.used);
    assert_int_equal(s.best, t.best);
    assert_int_equal(s.n_estimates, t.n_estimates);
    for (size_t i = 0; i < s.n_estimates; i++) {
        const double x = moved(r, s.estimates[i].lower);
        const double y = moved(r, s.estimates[i].upper);
        const double near = 1e-8 * (r->high - r->low);
        CHECK_NEAR(t.estimates[i].lower, fmin(x, y), near);
        CHECK_NEAR(t.estimates[i].upper, fmax(x, y), near);
    }
    end_match(&plain);
    end_match(&other);
}

static void ranges(const char *name)
{
    /* those that are not around 0 last: they add a feature, which policies
     * without features do not see */
    const range list[] = {
        {-1, 1, 1}, {-3.5, 3.5, 0}, {-1e300, 1e300, 0}, {-3e-300, 3e-300, 1},
        {0, 1, 0},  {0, 1, 1},      {2.385, 2.386, 1},  {1e6, 1e6 + 1, 0}};
    char type[64];
    tarry_policy_info info;
    snprintf(type, sizeof type, "%.*s", (int)strcspn(name, ":"), name);
    assert_int_equal(tarry_policy_describe(type, &info), TARRY_OK);
    const bool features = info.uses_features || strstr(name, "guide=") != NULL;
    const size_t count = features ? 4 : sizeof list / sizeof *list;
    for (size_t i = 0; i < count; i += amount(4, 2, 1))
        plays_alike(name, &list[i]);
}

static void ranges_and_rewards_map_to_the_same_game(void **state)
{
    (void)state;
    for_each_policy(ranges);
}

/* ---- the horizon ----------------------------------------------------------*/

static void stops_at_horizon(const char *name)
{
    game g = make_game(6, 2, 2);
    const tarry_policy_params params = params_of(&g, 50);
    tarry_policy *p = make_policy(name, &params);
    uint64_t round = 7;
    size_t arm = 7;
    for (uint64_t t = 1; t <= 50; t++)
        assert_int_equal(choose(p).round, t);
    const bytes before = saved(p);
    for (int i = 0; i < 3; i++)
        assert_int_equal(tarry_policy_choose(p, &round, &arm),
                         TARRY_HORIZON_REACHED);
    check_unchanged(p, before);
    assert_true(round == 7 && arm == 7);
    assert_int_equal(tarry_policy_observe(p, 50, 0.5), TARRY_OK);
    tarry_policy_free(p);
    end_game(&g);
}

static void the_horizon_ends_the_choices_but_not_the_losses(void **state)
{
    (void)state;
    for_each_policy(stops_at_horizon);
}

static void goes_on_beyond(const char *name)
{
    match m = make_match(name, &delay_laws[1]);
    tarry_policy_params params = params_of(&m.game, 8000);
    params.beyond_horizon = 1;
    remake(&m, name, &params);
    play_until(&m, 8000);
    const size_t best = status_of(m.policy).best;
    const uint64_t used = status_of(m.policy).used;
    for (uint64_t t = 8001; t <= 9000; t++) {
        const choice c = choose(m.policy);
        assert_int_equal(c.round, t);
        assert_int_equal(c.arm, best);
        assert_int_equal(tarry_policy_observe(m.policy, t, 0.5), TARRY_OK);
    }
    succeed(&m);
    assert_int_equal(choose(m.policy).round, 9001);
    assert_int_equal(status_of(m.policy).used, used);
    end_match(&m);
}

static void beyond_the_horizon_the_best_arm_is_played(void **state)
{
    (void)state;
    for_each_policy(goes_on_beyond);
}

/* With too short a horizon phase 1 cannot end; that is said and survived. */
static void short_horizon(const char *name)
{
    match m = make_match(name, &delay_laws[0]);
    const uint64_t horizons[] = {2, 3, 300};
    for (size_t i = 0; i < 3; i++) {
        const tarry_policy_params params = params_of(&m.game, horizons[i]);
        remake(&m, name, &params);
        memset(m.box.first, 0, 301 * sizeof *m.box.first);
        play_until(&m, horizons[i]);
        const tarry_policy_status s = status_of(m.policy);
        if (s.phase == 0)
            continue;
        assert_true(s.first_phase_rounds > horizons[i]);
        assert_int_equal(s.phase, 1);
        assert_int_equal(s.n_active, 6);
        assert_int_equal(s.n_estimates, 0);
    }
    end_match(&m);
}

static void too_short_a_horizon_is_played_to_its_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++)
        run_for(tarry_policy_name(i), short_horizon);
}

/* ---- what create refuses --------------------------------------------------*/

typedef struct {
    const char *why; /* a word of the error */
    tarry_status status;
    void (*spoil)(tarry_policy_params *p);
} refusal;

static double spoiled[12];

#define SPOIL(name, change)                                                    \
    static void name(tarry_policy_params *p)                                   \
    {                                                                          \
        (void)p;                                                               \
        change;                                                                \
    }
SPOIL(no_arms, p->n_arms = 0)
SPOIL(too_many_arms, p->n_arms = (1u << 24) + 1)
SPOIL(no_dimension, p->dim = 0)
SPOIL(too_many_dimensions, p->dim = 20001)
SPOIL(null_arms, p->arms = NULL)
SPOIL(no_horizon, p->horizon = 0)
SPOIL(one_round, p->horizon = 1)
SPOIL(too_many_rounds, p->horizon = 1ull << 39)
SPOIL(most_rounds, p->horizon = UINT64_MAX)
SPOIL(empty_range, p->low = p->high = 1)
SPOIL(reversed_range, p->low = 2)
SPOIL(low_is_nan, p->low = NAN)
SPOIL(high_is_nan, p->high = NAN)
SPOIL(low_is_infinite, p->low = -INFINITY)
SPOIL(high_is_infinite, p->high = INFINITY)
SPOIL(range_overflows, (p->low = -DBL_MAX, p->high = DBL_MAX))
SPOIL(nan_in_arms, spoiled[7] = NAN)
SPOIL(infinity_in_arms, spoiled[11] = -INFINITY)
SPOIL(unknown_key, p->settings = "nonsense=1")
SPOIL(no_value, p->settings = "nonsense")
SPOIL(no_key, p->settings = "=1")

static const refusal refusals[] = {
    {"arms", TARRY_BAD_ARGUMENT, no_arms},
    {"16777217", TARRY_BAD_ARGUMENT, too_many_arms},
    {"dimension", TARRY_BAD_ARGUMENT, no_dimension},
    {"20001", TARRY_BAD_ARGUMENT, too_many_dimensions},
    {"arms", TARRY_BAD_ARGUMENT, null_arms},
    {"horizon", TARRY_BAD_ARGUMENT, no_horizon},
    {"horizon", TARRY_BAD_ARGUMENT, one_round},
    {"549755813888", TARRY_BAD_ARGUMENT, too_many_rounds},
    {"horizon", TARRY_BAD_ARGUMENT, most_rounds},
    {"range", TARRY_BAD_ARGUMENT, empty_range},
    {"range", TARRY_BAD_ARGUMENT, reversed_range},
    {"range", TARRY_BAD_ARGUMENT, low_is_nan},
    {"range", TARRY_BAD_ARGUMENT, high_is_nan},
    {"range", TARRY_BAD_ARGUMENT, low_is_infinite},
    {"range", TARRY_BAD_ARGUMENT, high_is_infinite},
    {"range", TARRY_BAD_ARGUMENT, range_overflows},
    {"arm 3, entry 1", TARRY_NOT_FINITE, nan_in_arms},
    {"arm 5, entry 1", TARRY_NOT_FINITE, infinity_in_arms},
    {"nonsense", TARRY_BAD_ARGUMENT, unknown_key},
    {"nonsense", TARRY_BAD_ARGUMENT, no_value},
    {"=1", TARRY_BAD_ARGUMENT, no_key},
};

static void check_create_refused(const char *name,
                                 const tarry_policy_params *params,
                                 tarry_status expected, const char *why)
{
    tarry_error error = {""};
    tarry_policy *p = (tarry_policy *)&error;
    const tarry_status status = try_policy(name, params, &p, &error);
    if (status != expected || p != NULL || !strstr(error.text, why))
        fail_msg("%s: '%s' for '%s'", tarry_status_name(status), error.text,
                 why);
    assert_int_equal(try_policy(name, params, &p, NULL), expected);
}

static void create_refuses(const char *name)
{
    game g = make_game(6, 2, 2);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        tarry_policy_params params = params_of(&g, HORIZON);
        memcpy(spoiled, g.arms, sizeof spoiled);
        params.arms = spoiled;
        refusals[i].spoil(&params);
        check_create_refused(name, &params, refusals[i].status,
                             refusals[i].why);
    }
    end_game(&g);
}

static void bad_parameters_are_refused_by_name(void **state)
{
    (void)state;
    for_each_listed(create_refuses);
}

static void settings_of_the_phased_policies_are_checked(void **state)
{
    (void)state;
    game g = make_game(6, 2, 2);
    const char *bad[][2] = {
        {"constants=nonsense", "nonsense"},
        {"rank_tolerance=x", "rank_tolerance"},
        {"rank_tolerance=0", "rank_tolerance"},
        {"rank_tolerance=2", "rank_tolerance"},
        {"rank_tolerance=1e-9,rank_tolerance=1e-9", "rank_tolerance"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tarry_policy_params params = params_of(&g, HORIZON);
        params.settings = bad[i][0];
        check_create_refused("phased-stochastic", &params, TARRY_BAD_ARGUMENT,
                             bad[i][1]);
    }
    end_game(&g);
}

static void an_unknown_policy_is_refused_by_name(void **state)
{
    (void)state;
    game g = make_game(6, 2, 2);
    const tarry_policy_params params = params_of(&g, HORIZON);
    const char *names[] = {"phased", "Phased-mab", "phased-mab "};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char says[64];
        snprintf(says, sizeof says, "no policy '%s'", names[i]);
        check_create_refused(names[i], &params, TARRY_BAD_ARGUMENT, says);
    }
    check_create_refused("", &params, TARRY_BAD_ARGUMENT, "no policy ''");
    end_game(&g);
}

/* The list says enough to build a form from. */
static void every_policy_describes_itself(void **state)
{
    (void)state;
    tarry_policy_info info;
    for (size_t i = 0; tarry_policy_name(i) != NULL; i++) {
        assert_int_equal(tarry_policy_describe(tarry_policy_name(i), &info),
                         TARRY_OK);
        assert_string_equal(info.name, tarry_policy_name(i));
        for (const tarry_setting *s = info.settings; s->key != NULL; s++) {
            assert_non_null(s->help);
            if (s->kind == TARRY_SETTING_REAL || s->kind == TARRY_SETTING_COUNT)
                assert_true(s->least < s->most);
            if (s->kind == TARRY_SETTING_CHOICE)
                assert_non_null(strstr(s->choices, s->value));
        }
    }
    assert_int_equal(tarry_policy_describe("recommended", &info), TARRY_OK);
    assert_non_null(strstr(info.stands_for, "phased-loss-dependent"));
    assert_int_equal(tarry_policy_describe("recommended:", &info), TARRY_OK);
    assert_non_null(info.stands_for);
    assert_int_equal(tarry_policy_describe("recommended:x=1", &info),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_describe("nobody", &info),
                     TARRY_BAD_ARGUMENT);
    assert_int_equal(tarry_policy_describe(NULL, &info), TARRY_BAD_ARGUMENT);
}

static void a_status_tells_what_the_policy_was_made_with(void **state)
{
    (void)state;
    const double arms[] = {1, 0, 0, 1};
    tarry_policy_params params = tarry_policy_defaults();
    tarry_policy *p, *again;
    void *bytes;
    size_t size;
    params.arms = arms;
    params.n_arms = params.dim = 2;
    params.confidence = 0.9;
    params.settings = "v=0.5";
    assert_int_equal(tarry_policy_create("lints", &params, &p, NULL), TARRY_OK);
    assert_string_equal(status_of(p).description, "lints:v=0.5");
    assert_int_equal(tarry_policy_pack(p, &bytes, &size), TARRY_OK);
    assert_int_equal(tarry_policy_unpack(bytes, size, &again, NULL), TARRY_OK);
    assert_string_equal(status_of(again).description, "lints:v=0.5");
    tarry_policy_pack_free(bytes);
    tarry_policy_free(again);
    tarry_policy_free(p);
}

/* ---- odd sets of arms -----------------------------------------------------*/

static void one_arm(const char *name)
{
    match m = make_match_with(name, make_game(1, 3, 1), &delay_laws[1], ROUNDS);
    for (int t = 0; t < 5000; t++)
        assert_int_equal(play_on(&m).arm, 0);
    const tarry_policy_status s = status_of(m.policy);
    assert_int_equal(s.n_active, 1);
    assert_int_equal(s.n_plan, 0);
    assert_int_equal(s.best, 0);
    succeed(&m);
    assert_int_equal(play_on(&m).arm, 0);
    end_match(&m);
}

static void one_arm_is_played_for_ever(void **state)
{
    (void)state;
    for_each_phased(one_arm);
}

/* Plays arms whose losses are all `loss`: there is nothing to eliminate. */
static void play_all_alike(const char *name, game g, double loss)
{
    match m = make_match_with(name, g, &delay_laws[0], ROUNDS);
    for (int t = 0; t < ROUNDS; t++) {
        const choice c = choose(m.policy);
        assert_true(c.arm < g.n_arms);
        tarry_policy_observe(m.policy, c.round, loss);
    }
    const tarry_policy_status s = status_of(m.policy);
    assert_true(s.phase == 0 || s.phase > 1);
    assert_int_equal(s.n_active, g.n_arms);
    end_match(&m);
}

static void equal_arms(const char *name)
{
    game g = make_game(5, 3, 3);
    for (size_t k = 1; k < 5; k++)
        memcpy(g.arms + 3 * k, g.arms, 3 * sizeof *g.arms);
    play_all_alike(name, g, 0.3);
}

static void equal_arms_are_all_kept(void **state)
{
    (void)state;
    for_each_phased(equal_arms);
}

static void zero_arms(const char *name)
{
    game g = make_game(4, 3, 3);
    memset(g.arms, 0, 12 * sizeof *g.arms);
    play_all_alike(name, g, 0);
}

static void arms_that_are_all_zero_are_all_kept(void **state)
{
    (void)state;
    for_each_phased(zero_arms);
}

/* The best arm survives, and so does what cannot be told from it. */
static void play_fairly(const char *name, game g)
{
    match m = make_match_with(name, g, &delay_laws[1], ROUNDS);
    play_until(&m, ROUNDS);
    const tarry_policy_status s = status_of(m.policy);
    const size_t best = best_of(&g);
    bool kept = false;
    for (size_t i = 0; i < s.n_active; i++)
        kept = kept || s.active[i] == best;
    assert_true(kept);
    end_match(&m);
}

static void flat_arms(const char *name)
{
    play_fairly(name, make_game(7, 5, 2));
    play_fairly(name, make_game(3, 5, 3)); /* fewer arms than dimensions */
    play_fairly(name, make_game(9, 4, 1)); /* on a line */
    game g = make_game(6, 2, 2);
    memset(g.arms + 4, 0, 2 * sizeof *g.arms); /* arm 2 is zero */
    play_fairly(name, g);
}

static void arms_may_span_less_than_the_space(void **state)
{
    (void)state;
    for_each_phased(flat_arms);
}

static void many_arms(const char *name)
{
    const bool phased = strncmp(name, "phased-", 7) == 0;
    const uint64_t rounds = phased ? ROUNDS : 30; /* baselines read all arms */
    match m = make_match_with(name, make_game(MANY_ARMS, 3, 3), &delay_laws[1],
                              rounds);
    play_until(&m, rounds);
    const tarry_policy_status s = status_of(m.policy);
    assert_true(!phased || s.first_phase_rounds > rounds || s.phase != 1);
    succeed(&m);
    end_match(&m);
}

static void two_hundred_thousand_arms_can_be_played(void **state)
{
    (void)state;
    for_each_listed(many_arms);
}

/* The baselines have no phases to check there; they play, and that is all. */
static void plays_odd_arms(const char *name)
{
    for (int kind = 0; kind < 3; kind++) {
        game g = make_game(kind == 0 ? 1 : 6, 3, 3);
        for (size_t i = 3; kind > 0 && i < 18; i++)
            g.arms[i] = kind == 1 ? 0 : g.arms[i % 3];
        match m = make_match_with(name, g, &delay_laws[1], 500);
        play_until(&m, 500);
        succeed(&m);
        end_match(&m);
    }
}

static void odd_arms_can_be_played(void **state)
{
    (void)state;
    for_each_policy(plays_odd_arms);
}

/* ---- memory ---------------------------------------------------------------*/

static void create_without_memory(const char *name)
{
    game g = make_game(6, 2, 2);
    const tarry_policy_params params = params_of(&g, HORIZON);
    tarry_status status = TARRY_NO_MEMORY;
    uint64_t k = 0;
    while (status == TARRY_NO_MEMORY) {
        tarry_policy *p;
        tarry_error error = {""};
        tarry__base_fail_alloc(++k);
        status = try_policy(name, &params, &p, &error);
        assert_true((p == NULL) == (status != TARRY_OK));
        assert_string_equal(error.text, p == NULL ? "out of memory" : "");
        tarry_policy_free(p);
    }
    tarry__base_fail_alloc(0);
    assert_int_equal(status, TARRY_OK);
    assert_true(k > 3);
    end_game(&g);
}

static void create_survives_every_failed_allocation(void **state)
{
    (void)state;
    for_each_policy(create_without_memory);
}

/* Fails the 1st, 2nd, ... allocation of this choice until it needs no more;
 * answers how many failed. */
static uint64_t choose_short_of_memory(match *m, tarry_policy *twin, choice *c)
{
    tarry_status status = TARRY_NO_MEMORY;
    uint64_t k = 0;
    while (status == TARRY_NO_MEMORY) {
        tarry__base_fail_alloc(++k);
        status = tarry_policy_choose(m->policy, &c->round, &c->arm);
        if (status == TARRY_NO_MEMORY)
            check_same_status(m->policy, twin);
    }
    tarry__base_fail_alloc(0);
    assert_int_equal(status, TARRY_OK);
    return k - 1;
}

static void choose_without_memory(const char *name)
{
    match live = make_match(name, &delay_laws[1]);
    match twin = make_match(name, &delay_laws[1]);
    uint64_t failures = 0;
    for (int t = 0; t < ROUNDS; t++) {
        choice c;
        failures += choose_short_of_memory(&live, twin.policy, &c);
        assert_int_equal(play_on(&twin).arm, c.arm);
        for (uint64_t r = twin.box.first[c.round]; r; r = twin.box.next[r])
            tarry_policy_observe(live.policy, r,
                                 loss_of(&twin.game, r, twin.arm_of_round[r]));
    }
    const tarry_policy_status s = status_of(live.policy);
    const uint64_t phase = s.first_phase_rounds > 0 ? s.phase : 0; /* plans */
    print_message("        %d failures, phase %d\n", (int)failures, (int)phase);
    assert_true(failures > 5 && failures + 5 >= 5 * phase);
    check_same_status(live.policy, twin.policy);
    end_match(&live);
    end_match(&twin);
}

static void choose_goes_on_after_every_failed_allocation(void **state)
{
    (void)state;
    for_each_policy(choose_without_memory);
}

static void save_without_memory(const char *name)
{
    match m = make_match(name, &delay_laws[1]);
    const char *path = in_folder("old");
    tarry_status status = TARRY_NO_MEMORY;
    uint64_t k = 0;
    assert_int_equal(tarry_policy_save(m.policy, path, NULL), TARRY_OK);
    const bytes old = read_bytes(path);
    play_until(&m, 5000);
    const bytes before = saved(m.policy);
    while (status == TARRY_NO_MEMORY) {
        tarry_error error = {""};
        tarry__base_fail_alloc(++k);
        status = tarry_policy_save(m.policy, path, &error);
        tarry__base_fail_alloc(0);
        const bytes now = read_bytes(path);
        check_same_bytes(now, status == TARRY_OK ? before : old);
        assert_true((*error.text != '\0') == (status != TARRY_OK));
        free(now.data);
    }
    assert_int_equal(status, TARRY_OK);
    assert_true(k > 2);
    check_unchanged(m.policy, before);
    free(old.data);
    unlink(path);
    end_match(&m);
}

static void save_survives_every_failed_allocation(void **state)
{
    (void)state;
    for_each_policy(save_without_memory);
}

static void restore_without_memory(const char *name)
{
    match m = make_match(name, &delay_laws[1]);
    const char *path = in_folder("old");
    tarry_status status = TARRY_NO_MEMORY;
    uint64_t k = 0;
    play_until(&m, 5000);
    assert_int_equal(tarry_policy_save(m.policy, path, NULL), TARRY_OK);
    while (status == TARRY_NO_MEMORY) {
        tarry_policy *p;
        tarry_error error = {""};
        tarry__base_fail_alloc(++k);
        status = tarry_policy_restore(path, &p, &error);
        assert_true((p == NULL) == (status != TARRY_OK));
        assert_true((*error.text != '\0') == (status != TARRY_OK));
        tarry__base_fail_alloc(0);
        if (p != NULL)
            check_same_status(p, m.policy);
        tarry_policy_free(p);
    }
    assert_int_equal(status, TARRY_OK);
    assert_true(k > 5);
    unlink(path);
    end_match(&m);
}

static void restore_survives_every_failed_allocation(void **state)
{
    (void)state;
    for_each_policy(restore_without_memory);
}

static void a_save_that_fails_changes_nothing(void **state)
{
    (void)state;
    match m = make_match(tarry_policy_name(0), &delay_laws[1]);
    tarry_error error = {""};
    const char *path = in_folder("missing/state");
    play_until(&m, 1000);
    const bytes before = saved(m.policy);
    assert_int_equal(tarry_policy_save(m.policy, path, &error), TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, path));
    check_unchanged(m.policy, before);
    end_match(&m);
}

/* Working memory is taken when a phase starts; later only the table of open
 * rounds grows. */
static void takes_no_memory(const char *name)
{
    match m = make_match(name, &delay_laws[1]);
    const int rounds = rounds_with_status(name);
    int quiet = 0;
    for (int t = 0; t < rounds; t++) {
        const tarry_policy_status before = status_of(m.policy);
        tarry__base_fail_alloc(0);
        play_on(&m);
        const uint64_t taken = tarry__base_fail_alloc(0);
        const tarry_policy_status after = status_of(m.policy);
        if (before.phase_start == after.phase_start) {
            /* the table of open rounds, or that of losses to be counted */
            assert_true(taken <= (before.open_bytes != after.open_bytes) + 1u);
            quiet += taken == 0;
        }
    }
    assert_true(quiet > rounds - 40);
    end_match(&m);
}

static void within_a_phase_no_memory_is_taken(void **state)
{
    (void)state;
    for_each_policy(takes_no_memory);
}

/* ---- the list -------------------------------------------------------------*/

static void names_are_listed_once_and_end(void **state)
{
    (void)state;
    size_t count = 0;
    while (tarry_policy_name(count) != NULL)
        count++;
    assert_true(count >= 4);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(tarry_policy_name(i), tarry_policy_name(k));
    assert_null(tarry_policy_name(count + 1));
    assert_null(tarry_policy_name(SIZE_MAX));
    tarry_policy_free(NULL);
}

static tarry_status fail_silently(void *state, const tarry__policy_type *type,
                                  const tarry__policy_problem *problem,
                                  const tarry__spec *spec, tarry_error *error)
{
    (void)state, (void)type, (void)problem, (void)spec, (void)error;
    return TARRY_TARGET_NOT_MET;
}

static void clear_nothing(void *state)
{
    (void)state;
}

static void a_policy_that_cannot_begin_says_why(void **unused)
{
    const tarry__policy_type silent = {
        .state_size = 1, .init = fail_silently, .clear = clear_nothing};
    const tarry__policy_description d = {.type = &silent};
    const tarry__policy_problem problem = {.n_arms = 1};
    tarry_error error = {.text = "of an earlier failure"};
    void *state = &error;
    (void)unused;
    assert_int_equal(tarry__policy_open(&d, &problem, &state, &error),
                     TARRY_TARGET_NOT_MET);
    assert_null(state);
    assert_string_equal(error.text, tarry_status_text(TARRY_TARGET_NOT_MET));
    assert_int_equal(tarry__policy_open(&d, &problem, &state, NULL),
                     TARRY_TARGET_NOT_MET);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_status_tells_what_the_policy_was_made_with),
        cmocka_unit_test(a_policy_that_cannot_begin_says_why),
        cmocka_unit_test(names_are_listed_once_and_end),
        cmocka_unit_test(a_twin_repeats_every_choice),
        cmocka_unit_test(a_restored_policy_chooses_as_the_saved_one),
        cmocka_unit_test(a_policy_can_be_saved_on_both_sides_of_a_phase_change),
        cmocka_unit_test(a_refused_loss_changes_nothing),
        cmocka_unit_test(losses_of_an_earlier_phase_are_late),
        cmocka_unit_test(duplicates_are_known_for_every_round_ever_played),
        cmocka_unit_test(ranges_and_rewards_map_to_the_same_game),
        cmocka_unit_test(the_horizon_ends_the_choices_but_not_the_losses),
        cmocka_unit_test(beyond_the_horizon_the_best_arm_is_played),
        cmocka_unit_test(too_short_a_horizon_is_played_to_its_end),
        cmocka_unit_test(bad_parameters_are_refused_by_name),
        cmocka_unit_test(settings_of_the_phased_policies_are_checked),
        cmocka_unit_test(an_unknown_policy_is_refused_by_name),
        cmocka_unit_test(every_policy_describes_itself),
        cmocka_unit_test(one_arm_is_played_for_ever),
        cmocka_unit_test(equal_arms_are_all_kept),
        cmocka_unit_test(arms_that_are_all_zero_are_all_kept),
        cmocka_unit_test(arms_may_span_less_than_the_space),
        cmocka_unit_test(odd_arms_can_be_played),
        cmocka_unit_test(two_hundred_thousand_arms_can_be_played),
        cmocka_unit_test(create_survives_every_failed_allocation),
        cmocka_unit_test(choose_goes_on_after_every_failed_allocation),
        cmocka_unit_test(save_survives_every_failed_allocation),
        cmocka_unit_test(restore_survives_every_failed_allocation),
        cmocka_unit_test(a_save_that_fails_changes_nothing),
        cmocka_unit_test(within_a_phase_no_memory_is_taken),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
