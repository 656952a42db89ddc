/* test_adversary.c - adversaries: budgets, order, and what each holds. */
#include "env/worlds.h"

enum { ARMS = 4, ROUNDS = 20000 };

static const size_t plan_arm[ARMS - 1] = {3, 1, 0};
static const double plan_weight[ARMS - 1] = {0.5, 0.1, 0.4};

static const uint64_t plan_target[ARMS - 1] = {50, 10, 40};

static tarry__adversary_view view_of(uint64_t round, uint64_t phase)
{
    return (tarry__adversary_view){.round = round,
                                   .phase = phase,
                                   .n_plan = ARMS - 1,
                                   .plan_arm = plan_arm,
                                   .plan_weight = plan_weight,
                                   .plan_target = plan_target,
                                   .loss = round % 3 == 0 ? 1 : -1};
}

static tarry__world *make(const char *delay)
{
    return make_world("basis:arms=4", "rademacher", delay);
}

/* Plays random arms over many phases; every play comes back at most once, not
 * before it was made, in a round oldest first, and never more than sigma are
 * outstanding.  Answers the delays (NEVER for those still held). */
static void play_long(tarry__adversary *a, uint64_t sigma, uint64_t *delay,
                      size_t *arms)
{
    uint64_t chance = 2385, phase = 1, outstanding = 0;
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        delay[t] = TARRY__DELAY_NEVER;
        arms[t] = test_bits(&chance) % ARMS;
        phase += test_bits(&chance) % 700 == 0;
        const tarry__adversary_view view = view_of(t, phase);
        const uint64_t *released;
        const size_t n = tarry__adversary_play(a, &view, arms[t], &released);
        outstanding++;
        for (size_t i = 0; i < n; i++) {
            assert_true(released[i] > (i > 0 ? released[i - 1] : 0));
            assert_true(released[i] <= t);
            assert_true(delay[released[i]] == TARRY__DELAY_NEVER);
            delay[released[i]] = t - released[i];
            outstanding--;
        }
        assert_true(outstanding <= sigma);
        assert_int_equal(outstanding, tarry__adversary_outstanding(a));
    }
}

static uint64_t delays[ROUNDS + 1];
static size_t arms[ROUNDS + 1];

static void budgets_are_never_exceeded(void **state)
{
    (void)state;
    put_file("a.csv", "5\n0\n90\n17\n90\n90\n3\n");
    const struct {
        const char *text;
        uint64_t sigma;
    } known[] = {
        {"hold-rarest", 100},
        {"hold-rarest:sigma=0", 0},
        {"hold-rarest:sigma=7", 7},
        {"hold-all", 100},
        {"hold-all:sigma=0", 0},
        {"hold-all:sigma=50,burst=3", 50},
        {"hold-all:sigma=50,period=13", 50},
        {"hold-all:sigma=1,period=1", 1},
        {"hold-newest", 100},
        {"hold-newest:sigma=0", 0},
        {"hold-newest:sigma=1", 1},
        {"hold-in-turn", 100},
        {"hold-in-turn:sigma=0", 0},
        {"hold-in-turn:sigma=2", 2},
        {"hold-staggered", 100},
        {"hold-staggered:sigma=0", 0},
        {"hold-staggered:sigma=1", 1},
        {"hold-staggered:sigma=2000", 2000},
        {"hold-late", 100},
        {"hold-late:sigma=0", 0},
        {"hold-late:sigma=7", 7},
        {"hold-good", 100},
        {"hold-good:sigma=0", 0},
        {"hold-good:sigma=9,longest=4", 9},
        {"script:file=FOLDER/a.csv", 90},
        {"script:file=FOLDER/a.csv,sigma=10", 10},
        {"script:file=FOLDER/a.csv,sigma=0", 0},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        tarry__world *world = make(known[i].text);
        assert_int_equal(tarry__adversary_budget(world->adversary),
                         known[i].sigma);
        play_long(world->adversary, known[i].sigma, delays, arms);
        tarry__world_free(world);
    }
}

static void hold_newest_is_a_constant_delay_of_sigma(void **state)
{
    (void)state;
    tarry__world *world = make("hold-newest:sigma=23");
    play_long(world->adversary, 23, delays, arms);
    for (uint64_t t = 1; t <= ROUNDS; t++)
        assert_true(delays[t] == (t + 23 <= ROUNDS ? 23 : TARRY__DELAY_NEVER));
    tarry__world_free(world);
}

static void hold_all_releases_everything_when_full(void **state)
{
    (void)state;
    tarry__world *world = make("hold-all:sigma=10");
    play_long(world->adversary, 10, delays, arms);
    for (uint64_t t = 1; t + 10 <= ROUNDS; t++)
        assert_int_equal(delays[t], 10 - (t - 1) % 10);
    tarry__world_free(world);
}

/* With room enough the period decides: all go at its multiples. */
static void hold_all_keeps_its_period(void **state)
{
    (void)state;
    tarry__world *world = make("hold-all:sigma=100,period=16");
    play_long(world->adversary, 100, delays, arms);
    for (uint64_t t = 1; t + 32 <= ROUNDS; t++)
        assert_int_equal((t + delays[t]) % 16, 0);
    tarry__world_free(world);
}

static void hold_rarest_holds_one_arm_until_the_phase_ends(void **state)
{
    (void)state;
    tarry__world *world = make("hold-rarest:sigma=3");
    tarry__adversary *a = world->adversary;
    const uint64_t *released;
    const size_t played[] = {1, 3, 1, 0, 1, 1};
    const size_t held[] = {1, 1, 2, 2, 3, 3};
    for (uint64_t t = 1; t <= 6; t++) { /* arm 1 is the rarest */
        const tarry__adversary_view view = view_of(t, 1);
        const size_t n =
            tarry__adversary_play(a, &view, played[t - 1], &released);
        assert_int_equal(tarry__adversary_outstanding(a), held[t - 1]);
        const bool goes = played[t - 1] != 1 || t == 6;
        assert_int_equal(n, goes ? 1 : 0);
        assert_true(!goes || released[0] == t);
    }
    const tarry__adversary_view next = view_of(7, 2);
    assert_int_equal(tarry__adversary_play(a, &next, 2, &released), 4);
    const uint64_t expected[] = {1, 3, 5, 7};
    assert_memory_equal(released, expected, sizeof expected);
    tarry__world_free(world);
}

static void hold_rarest_leaves_policies_without_a_plan_alone(void **state)
{
    (void)state;
    tarry__world *world = make("hold-rarest");
    for (uint64_t t = 1; t < 100; t++) {
        const tarry__adversary_view view = {.round = t};
        const uint64_t *released;
        assert_int_equal(
            tarry__adversary_play(world->adversary, &view, t % 4, &released),
            1);
        assert_int_equal(released[0], t);
    }
    tarry__world_free(world);
}

static void scripts_are_followed_and_repeat_or_end(void **state)
{
    (void)state;
    const uint64_t script[] = {5, 0, 90, 17, 90, 90, 3};
    put_file("a.csv", "5\n0\n90\n17\n90\n90\n3\n");
    tarry__world *world = make("script:file=FOLDER/a.csv");
    play_long(world->adversary, 90, delays, arms);
    for (uint64_t t = 1; t + 90 <= ROUNDS; t++)
        assert_int_equal(delays[t], script[(t - 1) % 7]);
    tarry__world_free(world);
    world = make("script:file=FOLDER/a.csv,repeat=0");
    play_long(world->adversary, 90, delays, arms);
    for (uint64_t t = 1; t <= ROUNDS; t++)
        assert_int_equal(delays[t], t <= 7 ? script[t - 1] : 0);
    tarry__world_free(world);
}

/* Over the budget a scripted play comes at once; the others keep their time. */
static void a_script_over_budget_lets_plays_go_at_once(void **state)
{
    (void)state;
    put_file("a.csv", "4\n");
    tarry__world *world = make("script:file=FOLDER/a.csv,sigma=2");
    play_long(world->adversary, 2, delays, arms);
    for (uint64_t t = 1; t + 4 <= ROUNDS; t++)
        assert_int_equal(delays[t], (t - 1) % 4 < 2 ? 4 : 0);
    tarry__world_free(world);
}

/* Algorithm 2 by hand: targets 50, 10, 40, then sweeps of one replay of each
 * short arm.  A budget of 6 lasts for 2 plays of each arm; then arm 3, of the
 * largest target, gets all that is held of it. */
static void hold_in_turn_keeps_one_of_each_and_gives_up_in_turn(void **state)
{
    (void)state;
    tarry__world *world = make("hold-in-turn:sigma=6");
    tarry__adversary *a = world->adversary;
    const uint64_t *released;
    uint64_t t = 0;
    for (size_t i = 0; i < ARMS - 1; i++)
        for (uint64_t k = 1; k <= plan_target[i]; k++) {
            const tarry__adversary_view view = view_of(++t, 1);
            assert_int_equal(
                tarry__adversary_play(a, &view, plan_arm[i], &released),
                k < plan_target[i]);
        }
    for (size_t i = 0; i < ARMS - 1; i++) { /* the first sweep */
        const tarry__adversary_view view = view_of(++t, 1);
        assert_int_equal(
            tarry__adversary_play(a, &view, plan_arm[i], &released), 0);
    }
    assert_int_equal(tarry__adversary_outstanding(a), 6);
    const tarry__adversary_view view = view_of(++t, 1);
    assert_int_equal(tarry__adversary_play(a, &view, 3, &released), 3);
    const uint64_t expected[] = {50, 101, 104};
    assert_memory_equal(released, expected, sizeof expected);
    assert_int_equal(tarry__adversary_outstanding(a), 4);
    tarry__world_free(world);
}

/* What is kept adds up to the budget, most of the arm given up first. */
static void hold_staggered_spends_its_budget_at_once(void **state)
{
    (void)state;
    tarry__world *world = make("hold-staggered:sigma=36");
    tarry__adversary *a = world->adversary;
    const uint64_t *released;
    const uint64_t kept[] = {30, 1, 5}; /* 36 (1 - 1/6), last, 6 (1 - 1/6) */
    uint64_t t = 0, held = 0;
    for (size_t i = 0; i < ARMS - 1; i++) {
        for (uint64_t k = 0; k < plan_target[i]; k++) {
            const tarry__adversary_view view = view_of(++t, 1);
            tarry__adversary_play(a, &view, plan_arm[i], &released);
        }
        assert_int_equal(tarry__adversary_outstanding(a), held += kept[i]);
    }
    tarry__world_free(world);
}

/* Arm 0 is the best of a basis: its low losses are held, the others' high. */
static void hold_good_holds_what_speaks_for_the_best(void **state)
{
    (void)state;
    tarry__world *world =
        make_world("basis:arms=4,best=-0.5,gap=0.5,means=equal", "rademacher",
                   "hold-good:sigma=50,longest=7");
    const uint64_t *released;
    for (uint64_t t = 1; t < 200; t++) {
        const tarry__adversary_view view = view_of(t, 1);
        const size_t arm = t % ARMS;
        const bool goes = (arm == world->instance.best) != (view.loss < 0);
        const size_t n =
            tarry__adversary_play(world->adversary, &view, arm, &released);
        bool gone = false;
        for (size_t i = 0; i < n; i++) {
            gone |= released[i] == t;
            assert_true(released[i] == t || released[i] + 7 == t);
        }
        assert_true(gone == goes);
    }
    assert_int_equal(tarry__adversary_longest(world->adversary), 7);
    tarry__world_free(world);
}

/* ---- a plain list beside them ----------------------------------------------
 * What is held stands in a list in order of play.  Of each adversary there is
 * how many go at first in a round, and whether its play is held. */

enum { LENGTH = 3000 };

typedef struct {
    uint64_t sigma, period, burst, longest; /* its settings */
    size_t best;
    uint64_t held[64]; /* rounds, the oldest first */
    size_t n_held;
    bool anew; /* a phase has begun with this round */
    uint64_t needed[ARMS], wanted;
} plain_list;

typedef struct {
    const char *name;
    uint64_t (*goes)(plain_list *l, const tarry__adversary_view *view);
    bool (*holds)(plain_list *l, const tarry__adversary_view *view, size_t arm);
} plain_rule;

static uint64_t oldest_if_full(plain_list *l, const tarry__adversary_view *view)
{
    (void)view;
    return l->n_held == l->sigma;
}

static uint64_t all_of_a_phase(plain_list *l, const tarry__adversary_view *view)
{
    (void)view;
    return l->anew ? l->n_held : 0;
}

static uint64_t a_burst(plain_list *l, const tarry__adversary_view *view)
{
    const bool now = l->n_held == l->sigma ||
                     (l->period > 0 && view->round % l->period == 0);
    return now ? l->burst > 0 ? l->burst : l->n_held : 0;
}

static uint64_t all_at_a_time(plain_list *l, const tarry__adversary_view *view)
{
    for (size_t i = 0; l->anew && i < ARMS; i++)
        l->needed[i] = 0;
    l->wanted = l->anew ? 0 : l->wanted;
    for (size_t i = 0; l->anew && i < view->n_plan; i++)
        l->wanted += l->needed[view->plan_arm[i]] = view->plan_target[i];
    return l->anew || l->n_held == l->sigma ? l->n_held : 0;
}

static bool everything(plain_list *l, const tarry__adversary_view *view,
                       size_t arm)
{
    (void)l, (void)view, (void)arm;
    return true;
}

/* Low losses of arms like the best, high ones of the others: unit vectors. */
static bool what_speaks(plain_list *l, const tarry__adversary_view *view,
                        size_t arm)
{
    return arm == l->best ? view->loss < 0 : view->loss >= 0;
}

static bool the_rarest(plain_list *l, const tarry__adversary_view *view,
                       size_t arm)
{
    size_t rarest = SIZE_MAX;
    double least = INFINITY;
    (void)l;
    for (size_t i = 0; i < view->n_plan; i++)
        if (view->plan_weight[i] > 0 && view->plan_weight[i] < least) {
            least = view->plan_weight[i];
            rarest = view->plan_arm[i];
        }
    return arm == rarest;
}

static bool the_last(plain_list *l, const tarry__adversary_view *view,
                     size_t arm)
{
    const bool holds = view->n_plan > 0 && l->wanted <= l->sigma;
    if (l->needed[arm] > 0) {
        l->needed[arm]--;
        l->wanted--;
    }
    return holds;
}

static const plain_rule plain_rules[] = {
    {"hold-newest", oldest_if_full, everything},
    {"hold-all", a_burst, everything},
    {"hold-good", oldest_if_full, what_speaks},
    {"hold-rarest", all_of_a_phase, the_rarest},
    {"hold-late", all_at_a_time, the_last},
};

/* The rounds that come in this one, in order; how many. */
static size_t plain_play(plain_list *l, const plain_rule *rule,
                         const tarry__adversary_view *view, size_t arm,
                         uint64_t *out)
{
    uint64_t goes = rule->goes(l, view);
    size_t n = 0;
    while (n < l->n_held &&
           (n < goes ||
            (l->longest > 0 && l->held[n] + l->longest <= view->round))) {
        out[n] = l->held[n];
        n++;
    }
    l->n_held -= n;
    memmove(l->held, l->held + n, l->n_held * sizeof *l->held);
    if (rule->holds(l, view, arm) && l->n_held < l->sigma)
        l->held[l->n_held++] = view->round;
    else
        out[n++] = view->round;
    return n;
}

/* Phases of any length with any plans, or none, and losses on every side of
 * 0. */
static void check_list(const plain_rule *rule, plain_list l, const char *text)
{
    static const double losses[] = {-1, -0.25, -0.0, 0, 0.25, 1};
    size_t plan[ARMS], n_plan = 0;
    double weight[ARMS];
    uint64_t target[ARMS], seed = l.sigma, phase = 0, out[65];
    tarry__world *world = make_world(
        "basis:arms=4,best=-0.5,gap=0.5,means=equal", "rademacher", text);
    l.best = world->instance.best;
    for (uint64_t t = 1; t <= LENGTH; t++) {
        const uint64_t *released;
        const size_t arm = test_bits(&seed) % ARMS;
        l.anew = t == 1 || test_bits(&seed) % 40 == 0;
        phase += l.anew;
        n_plan = l.anew ? test_bits(&seed) % (ARMS + 1) : n_plan;
        for (size_t i = 0; l.anew && i < n_plan; i++) {
            plan[i] = i;
            weight[i] = (double)(test_bits(&seed) % 4) / 4;
            target[i] = test_bits(&seed) % 20;
        }
        const tarry__adversary_view view = {.round = t,
                                            .phase = phase,
                                            .n_plan = n_plan,
                                            .plan_arm = plan,
                                            .plan_weight = weight,
                                            .plan_target = target,
                                            .loss =
                                                losses[test_bits(&seed) % 6]};
        const size_t n =
            tarry__adversary_play(world->adversary, &view, arm, &released);
        if (n != plain_play(&l, rule, &view, arm, out) ||
            memcmp(released, out, n * sizeof *out) != 0)
            fail_msg("%s: round %ju", text, (uintmax_t)t);
    }
    tarry__world_free(world);
}

static void adversaries_are_as_a_plain_list_says(void **state)
{
    static const uint64_t sigmas[] = {0, 1, 2, 7, 60};
    static const plain_list settings[] = {
        {.period = 0}, {.period = 9, .burst = 2}, {.burst = 3, .longest = 4}};
    (void)state;
    for (size_t k = 0; k < sizeof plain_rules / sizeof *plain_rules; k++)
        for (size_t i = 0; i < 15; i++) {
            const plain_rule *r = &plain_rules[k];
            plain_list l = settings[i / 5];
            char text[100], more[60] = "";
            l.sigma = sigmas[i % 5];
            if (strcmp(r->name, "hold-all") == 0)
                snprintf(more, sizeof more, ",period=%ju,burst=%ju",
                         (uintmax_t)l.period, (uintmax_t)l.burst);
            if (strcmp(r->name, "hold-good") == 0)
                snprintf(more, sizeof more, ",longest=%ju",
                         (uintmax_t)l.longest);
            else
                l.longest = 0;
            snprintf(text, sizeof text, "%s:sigma=%ju%s", r->name,
                     (uintmax_t)l.sigma, more);
            check_list(r, l, text);
        }
}

static void models_tell_who_depends_on_the_arm(void **state)
{
    (void)state;
    put_file("a.csv", "4\n");
    for (const tarry__entry *const *e = tarry__adversary_adversaries;
         *e != NULL; e++) {
        char text[64];
        const char *name = (*e)->name;
        snprintf(text, sizeof text, "%s%s", name,
                 strcmp(name, "script") == 0 ? ":file=FOLDER/a.csv" : "");
        tarry__world *world = make(text);
        assert_string_equal(tarry__adversary_kind(world->adversary)->entry.name,
                            name);
        assert_int_equal(tarry__world_model(world),
                         strcmp(name, "hold-good") == 0
                             ? TARRY__ENV_LOSS_DEPENDENT
                         : strcmp(name, "hold-rarest") == 0 ||
                                 strcmp(name, "hold-in-turn") == 0 ||
                                 strcmp(name, "hold-staggered") == 0
                             ? TARRY__ENV_ADVERSARIAL_BY_ARM
                             : TARRY__ENV_ADVERSARIAL);
        tarry__world_free(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budgets_are_never_exceeded),
        cmocka_unit_test(hold_newest_is_a_constant_delay_of_sigma),
        cmocka_unit_test(hold_all_releases_everything_when_full),
        cmocka_unit_test(hold_all_keeps_its_period),
        cmocka_unit_test(hold_rarest_holds_one_arm_until_the_phase_ends),
        cmocka_unit_test(hold_rarest_leaves_policies_without_a_plan_alone),
        cmocka_unit_test(hold_in_turn_keeps_one_of_each_and_gives_up_in_turn),
        cmocka_unit_test(hold_staggered_spends_its_budget_at_once),
        cmocka_unit_test(hold_good_holds_what_speaks_for_the_best),
        cmocka_unit_test(scripts_are_followed_and_repeat_or_end),
        cmocka_unit_test(a_script_over_budget_lets_plays_go_at_once),
        cmocka_unit_test(adversaries_are_as_a_plain_list_says),
        cmocka_unit_test(models_tell_who_depends_on_the_arm),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
