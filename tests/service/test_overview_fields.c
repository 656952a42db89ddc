/* Every field of an overview, against the same from the whole list of events:
 * with fewer arms than are drawn, just as many, one more, and more than are
 * listed; from delays of a millisecond to some that are too long to tell. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "log/survival.h"
#include "service/overview.h"

enum { ROUNDS = 600, EVENTS = 2000, LISTED = 100, DRAWN = 8, RECENT = 32 };
enum { MOST_ARMS = 130, LAST_BIN = 159 };

static const tarry__store_experiment made = {.name = "shop",
                                             .prefix = "s:",
                                             .low = -0.5,
                                             .high = 2,
                                             .created_at = 1000000};

typedef struct {
    tarry__overview *o;
    tarry__store_event event[EVENTS];
    size_t n_events, n_arms;
    uint64_t rounds;
    int64_t now, shown_at; /* of the last event, and when it is looked at */
    struct {
        size_t arm;
        int64_t at, ended_at;
        double probability, value;
        char state; /* p, o, c, e */
        bool is_own;
    } made[ROUNDS + 1];
    bool is_gone[MOST_ARMS];
    uint64_t order[MOST_ARMS]; /* of arms, the most chosen first */
    uint64_t seed;
} world;

/* ---- what happens ---------------------------------------------------------*/

static void take(world *w, tarry__store_event e)
{
    e.seq = w->n_events + 1;
    e.at = w->now;
    assert_int_equal(tarry__overview_take(w->o, &e), TARRY_OK);
    w->event[w->n_events++] = e;
}

static void choose(world *w, size_t arm)
{
    const uint64_t t = ++w->rounds;
    char own[24];
    snprintf(own, sizeof own, "own-%d", (int)t);
    w->made[t].arm = arm;
    w->made[t].at = w->now;
    w->made[t].state = 'p';
    w->made[t].is_own = t % 3 == 0;
    w->made[t].probability = t % 7 == 0 ? 0 : 0.25;
    take(w, (tarry__store_event){.kind = TARRY__STORE_CHOOSE,
                                 .round = t,
                                 .arm = arm,
                                 .value = w->made[t].probability,
                                 .text = w->made[t].is_own ? own : NULL});
}

static void end(world *w, uint64_t t, char state, double value)
{
    w->made[t].state = state;
    w->made[t].ended_at = w->now;
    w->made[t].value = value;
    take(w, (tarry__store_event){.kind = state == 'o'   ? TARRY__STORE_OBSERVE
                                         : state == 'c' ? TARRY__STORE_CANCEL
                                                        : TARRY__STORE_EXPIRE,
                                 .round = t,
                                 .value = value});
}

static void end_one(world *w)
{
    const uint64_t t = 1 + test_bits(&w->seed) % w->rounds;
    const double fate = test_uniform(&w->seed);
    const char was = w->made[t].state;
    if ((was == 'p' || was == 'e') && fate < 0.8)
        end(w, t, 'o', 2 * test_uniform(&w->seed) - 0.25);
    else if ((was == 'p' || was == 'e') && fate < 0.9)
        end(w, t, 'c', 0);
    else if (was == 'p')
        end(w, t, 'e', 0);
}

/* Low arms are chosen more often, the last one never. */
static void play(world *w, double pace_ms)
{
    for (size_t k = 0; k < w->n_arms; k++)
        take(w, (tarry__store_event){.kind = TARRY__STORE_ADMIT,
                                     .arm = k,
                                     .text = k == 1 ? "one" : NULL});
    while (w->rounds < ROUNDS) {
        const double u = test_uniform(&w->seed);
        const double x = 2 * test_uniform(&w->seed);
        w->now += (int64_t)(pace_ms * x * x * x * x);
        choose(w, (size_t)(u * u * u * (double)(w->n_arms - 1)));
        if (w->rounds % 4 != 0)
            end_one(w);
        if (w->rounds % 4 == 1)
            end_one(w);
    }
    w->is_gone[1] = true;
    take(w, (tarry__store_event){.kind = TARRY__STORE_WITHDRAW, .arm = 1});
}

/* After a quiet time nearly all that is out comes. */
static void tell_most(world *w)
{
    w->now += (w->now - made.created_at) / 10;
    for (uint64_t t = 1; t <= w->rounds; t++)
        if ((w->made[t].state == 'p' || w->made[t].state == 'e') && t % 16 != 0)
            end(w, t, 'o', 0.5);
}

/* ---- what should be told --------------------------------------------------*/

static uint64_t chosen(const world *w, size_t arm)
{
    uint64_t n = 0;
    for (uint64_t t = 1; t <= w->rounds; t++)
        n += w->made[t].arm == arm;
    return n;
}

static void sort_arms(world *w)
{
    for (size_t k = 0; k < w->n_arms; k++) {
        size_t i = k;
        for (; i > 0 && chosen(w, w->order[i - 1]) < chosen(w, k); i--)
            w->order[i] = w->order[i - 1];
        w->order[i] = k;
    }
}

static json_t *arm_json(size_t arm)
{
    return arm == 1 ? json_string("one") : json_integer((json_int_t)arm);
}

static json_t *real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* Numbers may differ in their last digits. */
static bool is_same(const json_t *a, const json_t *b)
{
    if (json_is_real(a) && json_is_real(b))
        return fabs(json_real_value(a) - json_real_value(b)) <=
               1e-9 * (1 + fabs(json_real_value(b)));
    if (!json_is_array(a) && !json_is_object(a))
        return json_equal(a, b);
    bool same = json_typeof(a) == json_typeof(b) &&
                json_array_size(a) == json_array_size(b) &&
                json_object_size(a) == json_object_size(b);
    for (size_t i = 0; same && i < json_array_size(a); i++)
        same = is_same(json_array_get(a, i), json_array_get(b, i));
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)a, key, value)
    {
        const json_t *other = json_object_get(b, key);
        same = same && other != NULL && is_same(value, other);
    }
    return same;
}

static void expect(const json_t *told, const char *key, json_t *wanted)
{
    const json_t *found = json_object_get(told, key);
    if (wanted == NULL || found == NULL || !is_same(found, wanted))
        fail_msg("\"%s\": %.1500s, not %.1500s", key,
                 json_dumps(found, JSON_ENCODE_ANY | JSON_COMPACT),
                 json_dumps(wanted, JSON_ENCODE_ANY | JSON_COMPACT));
    json_decref(wanted);
}

/* Four bins per octave, the middle of each in seconds. */
static double middle(int64_t ms)
{
    int bits;
    const double x = frexp(ms > 1 ? (double)ms : 1, &bits);
    const double quarter = floor(8 * x);
    if (4 * (bits - 1) + quarter - 4 > LAST_BIN)
        return ldexp(7.5, LAST_BIN / 4 - 2) / 1000;
    return ldexp(quarter + 0.5, bits - 3) / 1000;
}

/* The curve of an arm, or of all. */
static tarry__survival curve_of(const world *w, size_t arm)
{
    static double time[ROUNDS];
    static bool seen[ROUNDS];
    size_t n = 0;
    tarry__survival c;
    for (uint64_t t = 1; t <= w->rounds; t++)
        if (w->made[t].state != 'c' &&
            (arm == w->n_arms || w->made[t].arm == arm)) {
            seen[n] = w->made[t].state == 'o';
            time[n] = middle((seen[n] ? w->made[t].ended_at : w->shown_at) -
                             w->made[t].at);
            n++;
        }
    assert_true(tarry__survival_make(&c, time, seen, n, NULL));
    return c;
}

static json_t *delay(const world *w, size_t arm)
{
    tarry__survival c = curve_of(w, arm);
    const tarry__log_interval half = tarry__survival_quantile(&c, 0.5);
    json_t *json =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "median", real(half.value),
                  "low", real(half.low), "high", real(half.high), "q90",
                  real(tarry__survival_quantile(&c, 0.9).value), "missing",
                  real(c.n_steps > 0 ? c.step[c.n_steps - 1].out : NAN));
    tarry__survival_clear(&c);
    return json;
}

static json_t *delays(const world *w)
{
    json_t *list = json_array();
    for (size_t i = 0; i <= w->n_arms; i++) {
        tarry__survival c =
            curve_of(w, i < w->n_arms ? w->order[i] : w->n_arms);
        json_t *steps = json_array();
        for (size_t k = 0; k < c.n_steps; k++)
            steps = tarry__json_add(
                steps, json_pack("[f, f]", c.step[k].time, c.step[k].out));
        if (c.n_steps > 0 && (i < DRAWN || i == w->n_arms))
            list = tarry__json_add(
                list,
                json_pack("{s:o, s:O, s:f}", "arm",
                          i < w->n_arms ? arm_json(w->order[i]) : json_null(),
                          "curve", steps, "last", c.last));
        json_decref(steps);
        tarry__survival_clear(&c);
    }
    return list;
}

static json_t *arms(const world *w)
{
    json_t *list = json_array();
    for (size_t i = 0; i < w->n_arms && i < LISTED; i++) {
        const size_t arm = w->order[i];
        double n = 0, out = 0, sum = 0, squares = 0;
        json_int_t pending = 0;
        for (uint64_t t = 1; t <= w->rounds; t++) {
            const char state = w->made[t].state;
            if (w->made[t].arm != arm)
                continue;
            n += state == 'o';
            sum += state == 'o' ? w->made[t].value : 0;
            out += state == 'p' || state == 'e';
            pending += state == 'p';
        }
        const double mean = sum / n;
        for (uint64_t t = 1; t <= w->rounds; t++)
            if (w->made[t].arm == arm && w->made[t].state == 'o')
                squares += pow(w->made[t].value - mean, 2);
        const double reach = 1.959963984540054 * sqrt(squares / (n - 1) / n);
        list = tarry__json_add(
            list,
            json_pack("{s:o, s:b, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:[o, o]}",
                      "arm", arm_json(arm), "available", !w->is_gone[arm],
                      "decisions", (json_int_t)chosen(w, arm), "outcomes",
                      (json_int_t)n, "pending", pending, "delay", delay(w, arm),
                      "mean", real(mean), "low",
                      real(n > 1 ? mean - reach : NAN), "high",
                      real(n > 1 ? mean + reach : NAN), "if_missing",
                      real((sum + out * made.low) / (n + out)),
                      real((sum + out * made.high) / (n + out))));
    }
    return list;
}

/* ---- over time ------------------------------------------------------------*/

/* Choices in a bucket: of an arm, of all that are not drawn, of all. */
static json_t *choices(const world *w, int64_t width, size_t n, size_t place)
{
    json_t *list = json_array();
    for (size_t b = 0; b < n; b++) {
        json_int_t count = 0;
        for (uint64_t t = 1; t <= w->rounds; t++) {
            size_t i = 0;
            while (w->order[i] != w->made[t].arm)
                i++;
            count += (size_t)((w->made[t].at - made.created_at) / width) == b &&
                     (place > DRAWN || place == (i < DRAWN ? i : DRAWN));
        }
        list = tarry__json_add(list, json_integer(count));
    }
    return list;
}

static json_t *shares(const world *w, int64_t width, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < DRAWN && i < w->n_arms; i++)
        if (chosen(w, w->order[i]) > 0)
            list = tarry__json_add(
                list, json_pack("{s:o, s:o}", "arm", arm_json(w->order[i]),
                                "decisions", choices(w, width, n, i)));
    if (w->n_arms > DRAWN)
        list = tarry__json_add(list, json_pack("{s:n, s:o}", "arm", "decisions",
                                               choices(w, width, n, DRAWN)));
    return list;
}

/* What was out, at the end of each bucket and at most in it. */
static void check_pending(const world *w, const json_t *time, int64_t width,
                          size_t n)
{
    json_t *at_end = json_array(), *most = json_array();
    json_t *outcomes = json_array(), *means = json_array();
    char state[ROUNDS + 1] = {0};
    json_int_t pending = 0, all_time = 0;
    size_t i = 0;
    for (size_t b = 0; b < n; b++) {
        json_int_t highest = pending, count = 0;
        double sum = 0;
        for (; i < w->n_events &&
               (size_t)((w->event[i].at - made.created_at) / width) == b;
             i++) {
            const tarry__store_event *e = &w->event[i];
            const bool was_out = state[e->round] == 'p';
            if (e->kind == TARRY__STORE_CHOOSE)
                state[e->round] = 'p', pending++;
            else if (e->round > 0)
                state[e->round] = 'x', pending -= was_out;
            count += e->kind == TARRY__STORE_OBSERVE;
            sum += e->kind == TARRY__STORE_OBSERVE ? e->value : 0;
            highest = pending > highest ? pending : highest;
        }
        all_time = highest > all_time ? highest : all_time;
        at_end = tarry__json_add(at_end, json_integer(pending));
        most = tarry__json_add(most, json_integer(highest));
        outcomes = tarry__json_add(outcomes, json_integer(count));
        means = tarry__json_add(means, real(sum / (double)count));
    }
    assert_int_equal(i, w->n_events);
    expect(time, "pending", at_end);
    expect(time, "pending_max", most);
    expect(time, "outcomes", outcomes);
    expect(time, "mean", means);
}

static void check_time(const world *w, const json_t *told)
{
    const json_t *time = json_object_get(told, "time");
    const double seconds = json_real_value(json_object_get(time, "width"));
    const int64_t width = (int64_t)(1000 * seconds);
    int64_t least = 1000;
    while ((w->now - made.created_at) / least >= TARRY__OVERVIEW_BUCKETS)
        least *= 2;
    assert_int_equal(width, least);
    const size_t n = (size_t)((w->now - made.created_at) / width) + 1;
    expect(time, "start", json_real((double)made.created_at / 1000));
    expect(time, "decisions", choices(w, width, n, DRAWN + 1));
    expect(time, "shares", shares(w, width, n));
    check_pending(w, time, width, n);
}

/* ---- ages, and the last ---------------------------------------------------*/

/* Each of what is pending is in its bin, and no bin is empty; the last one has
 * no end. */
static void check_ages(const world *w, const json_t *list)
{
    size_t i;
    json_t *bin;
    json_int_t all = 0;
    double last = 0;
    json_array_foreach(list, i, bin)
    {
        const double from = json_real_value(json_array_get(bin, 0));
        const double to = json_real_value(json_array_get(bin, 1));
        const bool is_last = to >= ldexp(1, LAST_BIN / 4 + 1) / 1000;
        json_int_t count = 0;
        for (uint64_t t = 1; t <= w->rounds; t++) {
            const int64_t age = w->shown_at - w->made[t].at;
            const double s = (double)(age > 1 ? age : 1) / 1000;
            count += w->made[t].state == 'p' && s >= from * (1 - 1e-12) &&
                     (is_last || s < to * (1 - 1e-12));
        }
        CHECK_NEAR((from + to) / 2, middle((int64_t)round(1000 * from)),
                   1e-12 * to);
        assert_true(from >= last && count > 0);
        assert_int_equal(json_integer_value(json_array_get(bin, 2)), count);
        all += count;
        last = to;
    }
    for (uint64_t t = 1; t <= w->rounds; t++)
        all -= w->made[t].state == 'p';
    assert_int_equal(all, 0);
}

static json_t *recent(const world *w)
{
    json_t *list = json_array();
    for (uint64_t t = w->rounds; t > w->rounds - RECENT; t--) {
        const char state = w->made[t].state;
        char id[24];
        snprintf(id, sizeof id, w->made[t].is_own ? "own-%d" : "s:%d", (int)t);
        list = tarry__json_add(
            list,
            json_pack(
                "{s:s, s:I, s:o, s:o, s:f, s:s, s:o, s:o}", "id", id, "round",
                (json_int_t)t, "arm", arm_json(w->made[t].arm), "probability",
                real(t % 7 == 0 ? NAN : w->made[t].probability), "decided",
                (double)w->made[t].at / 1000, "state",
                state == 'p'   ? "pending"
                : state == 'o' ? "observed"
                : state == 'c' ? "cancelled"
                               : "expired",
                "ended",
                real(state == 'p' ? NAN : (double)w->made[t].ended_at / 1000),
                "value", real(state == 'o' ? w->made[t].value : NAN)));
    }
    return list;
}

/* ---- all of it ------------------------------------------------------------*/

/* Who looks with a clock that is behind sees the time of the last event. */
static void check(world *w, int64_t now)
{
    json_t *told = tarry__overview_json(w->o, w->n_events + 5, now);
    json_int_t of[128] = {0};
    assert_non_null(told);
    w->shown_at = now > w->now ? now : w->now;
    for (uint64_t t = 1; t <= w->rounds; t++)
        of[(int)w->made[t].state]++;
    expect(told, "experiment", json_string("shop"));
    expect(told, "now", json_real((double)w->shown_at / 1000));
    expect(told, "events", json_integer((json_int_t)w->n_events + 5));
    expect(told, "events_read", json_integer((json_int_t)w->n_events));
    expect(told, "n_arms", json_integer((json_int_t)w->n_arms));
    expect(told, "decisions", json_integer((json_int_t)w->rounds));
    expect(told, "outcomes", json_integer(of['o']));
    expect(told, "cancelled", json_integer(of['c']));
    expect(told, "expired", json_integer(of['e']));
    expect(told, "pending", json_integer(of['p']));
    expect(told, "delay", delay(w, w->n_arms));
    expect(told, "delays", delays(w));
    expect(told, "arms", arms(w));
    expect(told, "recent", recent(w));
    check_time(w, told);
    check_ages(w, json_object_get(told, "ages"));
    json_decref(told);
}

static void every_field_is_what_the_events_say(void **state)
{
    static const struct {
        size_t n_arms;
        double pace_ms;
    } all[] = {{3, 1},       {8, 30},     {9, 2000}, {12, 5e6},
               {100, 10000}, {101, 1000}, {130, 100}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        world *w = calloc(1, sizeof *w);
        assert_non_null(w);
        w->seed = 2385 + i;
        w->n_arms = all[i].n_arms;
        w->now = made.created_at;
        w->o = tarry__overview_create(&made);
        play(w, all[i].pace_ms);
        sort_arms(w);
        check(w, w->now + 12345);
        check(w, w->now - 5000);
        tell_most(w);
        check(w, w->now + 1);
        check(w, w->now + (INT64_C(1) << 42)); /* too long to tell */
        tarry__overview_free(w->o);
        free(w);
    }
}

/* A delay of a century is in the last bin, and in no other memory. */
static void the_longest_delays_are_counted_together(void **state)
{
    world *w = calloc(1, sizeof *w);
    (void)state;
    assert_non_null(w);
    w->n_arms = 2;
    w->now = made.created_at;
    w->o = tarry__overview_create(&made);
    for (size_t k = 0; k < w->n_arms; k++)
        take(w, (tarry__store_event){.kind = TARRY__STORE_ADMIT, .arm = k});
    for (int i = 0; i < 40; i++)
        choose(w, 0);
    w->now += INT64_C(1) << 42;
    for (uint64_t t = 1; t <= 30; t++)
        end(w, t, 'o', 1);
    json_t *told = tarry__overview_json(w->o, w->n_events, w->now);
    w->shown_at = w->now;
    w->order[1] = 1;
    expect(told, "delay", delay(w, w->n_arms));
    json_decref(told);
    tarry__overview_free(w->o);
    free(w);
}

/* Of a time before the experiment nothing can be known. */
static void no_certificate_is_older_than_its_experiment(void **state)
{
    tarry__overview *o = tarry__overview_create(&made);
    (void)state;
    tarry__overview_certify(o, made.created_at - 1, 0.5);
    json_t *told = tarry__overview_json(o, 0, made.created_at);
    const json_t *found = json_object_get(told, "certificates");
    assert_int_equal(json_array_size(json_object_get(found, "gap")), 0);
    json_decref(told);
    tarry__overview_certify(o, made.created_at, 0.25);
    tarry__overview_certify(o, made.created_at + 999, 0.125);
    told = tarry__overview_json(o, 0, made.created_at);
    expect(told, "certificates",
           json_pack("{s:f, s:f, s:[f]}", "start", 1000.0, "width", 1.0, "gap",
                     0.125));
    json_decref(told);
    tarry__overview_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_what_the_events_say),
        cmocka_unit_test(the_longest_delays_are_counted_together),
        cmocka_unit_test(no_certificate_is_older_than_its_experiment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
