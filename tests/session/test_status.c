/* What a session tells of its policy is what the policy says itself, field by
 * field: for all policies, while losses are late, arms come and go, and phases
 * end. */
#include "check.h"
#include <string.h>
#include "base/json.h"
#include "session/session.h"
#include "store/experiment.h"

enum { ARMS = 5, DIM = 2, ROUNDS = 3000, DELAY = 40 };

/* The first arm is the worst: those that stay are not the first ones. */
static const double features[ARMS * DIM] = {1, 0,    0.8, 0.6, 0,
                                            1, -0.6, 0.8, -1,  0};
static const char *const names[ARMS] = {"a", "b", "c", "d", "e"};

static double loss_of(uint64_t round, size_t arm)
{
    const double noise = (double)(round * 2654435761u >> 7 & 1) - 0.5;
    return 0.75 * (arm < ARMS ? features[DIM * arm] : 1) + 0.25 * noise;
}

/* ---- what the policy says -------------------------------------------------*/

static json_t *arm_json(size_t arm, bool by_number)
{
    return by_number ? json_integer((json_int_t)arm)
                     : json_string(arm < ARMS ? names[arm] : "new");
}

static json_t *active(const tarry_policy_status *p, bool by_number)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_active; i++)
        list = tarry__json_add(list, arm_json(p->active[i], by_number));
    return list;
}

static json_t *available(const tarry_policy_status *p, bool by_number)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_arms; i++) {
        bool there = p->available == NULL;
        for (size_t k = 0; !there && k < p->n_available; k++)
            there = p->available[k] == i;
        if (there)
            list = tarry__json_add(list, arm_json(i, by_number));
    }
    return list;
}

static json_t *plan(const tarry_policy_status *p, bool by_number)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_plan; i++)
        list = tarry__json_add(
            list, json_pack("{s:o, s:f, s:I, s:I}", "arm",
                            arm_json(p->plan[i].arm, by_number), "weight",
                            p->plan[i].weight, "target",
                            (json_int_t)p->plan[i].target, "observed",
                            (json_int_t)p->plan[i].observed));
    return list;
}

static json_t *estimates(const tarry_policy_status *p, bool by_number)
{
    json_t *list = json_array();
    for (size_t i = 0; p->n_estimates > 0 && i < p->n_active; i++) {
        const size_t arm = p->active[i];
        list = tarry__json_add(
            list, json_pack("{s:o, s:f, s:f}", "arm", arm_json(arm, by_number),
                            "lower", p->estimates[arm].lower, "upper",
                            p->estimates[arm].upper));
    }
    return list;
}

static void expect(const json_t *told, const char *key, json_t *wanted)
{
    const json_t *found = json_object_get(told, key);
    if (wanted == NULL || !json_equal(found, wanted))
        fail_msg("%s: \"%s\" is %s", json_dumps(told, 0), key,
                 json_dumps(wanted, JSON_ENCODE_ANY));
    json_decref(wanted);
}

static void expect_counts(const json_t *told, const tarry_policy_status *p)
{
    const struct {
        const char *key;
        uint64_t value;
    } all[] = {
        {"round", p->round},     {"horizon", p->horizon},
        {"phase", p->phase},     {"phase_start", p->phase_start},
        {"pending", p->pending}, {"pending_max", p->pending_max},
        {"used", p->used},       {"ignored", p->ignored},
        {"late", p->late},       {"first_phase_rounds", p->first_phase_rounds},
        {"expired", p->expired}, {"cancelled", p->cancelled}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        expect(told, all[i].key, json_integer((json_int_t)all[i].value));
}

static void check(tarry__session *s, bool by_number)
{
    tarry_policy *policy = tarry__session_policy(s);
    tarry_policy_status p;
    size_t best;
    double gap;
    json_t *told = tarry__session_status(s, by_number);
    assert_int_equal(tarry_policy_get_status(policy, &p), TARRY_OK);
    tarry_policy_certify(policy, &best, &gap);
    expect_counts(told, &p);
    expect(told, "policy", json_string(p.name));
    expect(told, "description", json_string(p.description));
    expect(told, "intercept", json_boolean(p.intercept));
    expect(told, "default_outcome", json_null());
    expect(told, "silence", json_null());
    expect(told, "objective",
           json_string(p.maximize ? "maximize" : "minimize"));
    expect(told, "range", json_pack("[f, f]", p.low, p.high));
    expect(told, "epsilon", json_real(p.epsilon));
    expect(told, "confidence", json_real(p.confidence));
    expect(told, "active", active(&p, by_number));
    expect(told, "arms", available(&p, by_number));
    expect(told, "plan", plan(&p, by_number));
    expect(told, "estimates", estimates(&p, by_number));
    expect(told, "best",
           p.best_known ? arm_json(p.best, by_number) : json_null());
    expect(told, "exploit", arm_json(best, by_number));
    expect(told, "certificate", isfinite(gap) ? json_real(gap) : json_null());
    expect(told, "horizon_too_short",
           json_boolean(p.horizon > 0 && p.first_phase_rounds > p.horizon));
    expect(told, "paused", json_false());
    assert_true(json_is_object(json_object_get(told, "dependence")));
    assert_true(json_is_string(json_object_get(told, "reports")));
    assert_int_equal(json_object_size(told), 32);
    json_decref(told);
}

/* ---- a session of which there is much to tell
 * ------------------------------*/

/* Most losses come after a while, some never; some choices end otherwise. */
static void report(tarry__session *s, uint64_t round, size_t arm)
{
    char id[24];
    tarry__session_result result;
    snprintf(id, sizeof id, "%ju", (uintmax_t)round);
    if (round % 50 == 7)
        assert_int_equal(tarry__session_cancel(s, id, 1, NULL), TARRY_OK);
    else if (round % 50 == 8)
        assert_int_equal(tarry__session_expire(s, id, 1, NULL), TARRY_OK);
    else if (round % 50 != 9)
        assert_int_equal(tarry__session_observe(s, id, loss_of(round, arm), 1,
                                                &result, NULL),
                         TARRY_OK);
}

static void play(tarry__session *s, bool arms_change)
{
    static const double more[DIM] = {0.9, 0.1};
    size_t arm[ROUNDS + 1];
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        tarry__session_choice_made made;
        assert_int_equal(tarry__session_choose(s, NULL, 1, &made, NULL),
                         TARRY_OK);
        arm[t] = made.arm;
        if (t > DELAY)
            report(s, t - DELAY, arm[t - DELAY]);
        if (t % 500 == 17)
            check(s, t % 1000 == 17);
        if (arms_change && t == ROUNDS / 2) {
            tarry__session_withdraw(s, "b", 1, NULL);
            tarry__session_admit(s, "new", more, DIM, 1, NULL);
        }
    }
    check(s, true);
    check(s, false);
}

static void every_field_is_what_the_policy_says(void **state)
{
    const char *policy;
    (void)state;
    for (size_t k = 0; (policy = tarry_policy_name(k)) != NULL; k++)
        for (int form = 0; form < 2; form++) {
            tarry__store_experiment e =
                small_experiment("e", policy, ARMS, DIM);
            tarry__store *store;
            tarry__session *s;
            if (strcmp(policy, "oracle") == 0) /* must be told the means */
                continue;
            e.low = -1.25;
            e.high = 1.5;
            e.horizon = form == 0 ? 20000 : 0;
            e.confidence = form == 0 ? 0 : 0.875;
            e.maximize = form == 1;
            assert_int_equal(tarry__store_open("memory:", true, &store, NULL),
                             TARRY_OK);
            assert_int_equal(
                tarry__session_create(store, &e, features, names, &s, NULL),
                TARRY_OK);
            tarry__session_tell_probability(s, false);
            check(s, false);
            play(s, form == 1);
            tarry__session_close(s);
            tarry__store_close(store);
        }
}

/* Just as long as the first phase is long enough. */
static void a_horizon_is_too_short_below_the_first_phase(void **state)
{
    uint64_t wanted = 0;
    (void)state;
    for (int tries = 0; tries < 40; tries++) {
        tarry__store_experiment e =
            small_experiment("e", "phased-stochastic", ARMS, DIM);
        tarry__store *store;
        tarry__session *s;
        tarry_policy_status p;
        e.horizon = wanted > 0 ? wanted - (tries % 2) : 1000;
        assert_int_equal(tarry__store_open("memory:", true, &store, NULL),
                         TARRY_OK);
        assert_int_equal(
            tarry__session_create(store, &e, features, names, &s, NULL),
            TARRY_OK);
        check(s, false);
        tarry_policy_get_status(tarry__session_policy(s), &p);
        wanted = p.first_phase_rounds;
        tarry__session_close(s);
        tarry__store_close(store);
    }
}

/* ---- reports --------------------------------------------------------------*/

enum { SELLERS = 3 };

typedef struct {
    uint64_t rounds, last; /* after round `last` nothing is reported */
    int delay;
    bool zeros; /* decisions without a sale are reported too */
    const char *policy;
    bool maximize;
} shop;

/* Arms sell to 5, 15 and 30 %; a sale is the reward 1, or the loss 0. */
static void report_sale(tarry__session *s, const shop *x, uint64_t round,
                        size_t arm)
{
    static const uint64_t rate[SELLERS] = {5, 15, 30};
    const bool sale = (round * 0x9e3779b97f4a7c15u >> 33) % 100 < rate[arm];
    tarry__session_result result;
    char id[24];
    snprintf(id, sizeof id, "%ju", (uintmax_t)round);
    if (sale || x->zeros)
        tarry__session_observe(s, id, sale == x->maximize, 1000, &result, NULL);
}

static tarry__session *open_shop(const shop *x, tarry__store **store)
{
    static const double basis[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    tarry__store_experiment e =
        small_experiment("e", x->policy, SELLERS, SELLERS);
    tarry__session *s;
    e.low = 0;
    e.high = 1;
    e.horizon = 20000;
    e.maximize = x->maximize;
    assert_int_equal(tarry__store_open("memory:", true, store, NULL), TARRY_OK);
    assert_int_equal(tarry__session_create(*store, &e, basis, names, &s, NULL),
                     TARRY_OK);
    tarry__session_tell_probability(s, false);
    return s;
}

/* Decision t is made at t milliseconds. */
static tarry__session *sell(const shop *x, tarry__store **store)
{
    static size_t arm[20001];
    tarry__session *s = open_shop(x, store);
    for (uint64_t t = 1; t <= x->rounds; t++) {
        tarry__session_choice_made made;
        assert_int_equal(
            tarry__session_choose(s, NULL, (int64_t)t, &made, NULL), TARRY_OK);
        arm[t] = made.arm;
        if (t > (uint64_t)x->delay && t <= x->last)
            report_sale(s, x, t - (uint64_t)x->delay,
                        arm[t - (uint64_t)x->delay]);
    }
    return s;
}

/* The texts of status, and at 9 s how long reports have been silent. */
static void check_shop(const shop *x, const char *reports, const char *silence,
                       double seconds)
{
    tarry__store *store;
    tarry__session *s = sell(x, &store);
    json_t *told = tarry__session_status(s, false);
    expect(told, "reports", json_string(reports));
    const char *said = json_string_value(json_object_get(told, "silence"));
    if (silence == NULL)
        assert_null(said);
    else
        assert_non_null(strstr(said, silence));
    CHECK_NEAR(tarry__session_silent_seconds(s, 9000), seconds, 1e-12);
    json_decref(told);
    tarry__session_close(s);
    tarry__store_close(store);
}

static void status_tells_that_outcomes_are_never_reported(void **state)
{
    (void)state;
    shop x = {3000, 3000, 0, false, "recommended", true};
    check_shop(&x, "flowing", "no outcome of 0 has ever been reported", 0);
    x.maximize = false;
    check_shop(&x, "flowing", "no outcome of 1 has ever been reported", 0);
    x.policy = "recommended:default_outcome=1/500r";
    check_shop(&x, "flowing", NULL, 0);
}

static void status_tells_that_reports_have_stopped(void **state)
{
    (void)state;
    shop x = {2000, 1500, 5, true, "recommended", true};
    check_shop(&x, "silent since round 1500", NULL, 7.499);
    x.last = 0;
    check_shop(&x, "none yet", NULL, 0);
}

static void reports_that_are_late_are_flowing(void **state)
{
    (void)state;
    const shop x = {2000, 2000, 300, true, "recommended", true};
    check_shop(&x, "flowing", NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_what_the_policy_says),
        cmocka_unit_test(a_horizon_is_too_short_below_the_first_phase),
        cmocka_unit_test(status_tells_that_outcomes_are_never_reported),
        cmocka_unit_test(status_tells_that_reports_have_stopped),
        cmocka_unit_test(reports_that_are_late_are_flowing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
