/* An overview against what a plain count of the same events says. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "service/overview.h"
#include "service/absent.h"

enum { ARMS = 12, MOST = 20000 };

static const tarry__store_experiment made = {.name = "shop",
                                             .prefix = "s",
                                             .policy = "lints",
                                             .low = 0,
                                             .high = 2,
                                             .created_at = 1000000};

/* What a plain count says. */
typedef struct {
    tarry__overview *o;
    uint64_t seq, rounds;
    int64_t now, at[MOST + 1];
    size_t arm[MOST + 1];
    char state[MOST + 1]; /* p, o, c, e */
    double delay_s[MOST + 1], loss[MOST + 1];
    uint64_t most;
} world;

static uint64_t in_state(const world *w, char state)
{
    uint64_t n = 0;
    for (uint64_t r = 1; r <= w->rounds; r++)
        n += w->state[r] == state;
    return n;
}

static void take(world *w, tarry__store_event e)
{
    e.seq = ++w->seq;
    e.at = w->now;
    assert_int_equal(tarry__overview_take(w->o, &e), TARRY_OK);
}

static void admit(world *w, const char *name)
{
    take(w, (tarry__store_event){.kind = TARRY__STORE_ADMIT, .text = name});
}

static void choose(world *w, size_t arm)
{
    const uint64_t r = ++w->rounds;
    w->arm[r] = arm;
    w->at[r] = w->now;
    w->state[r] = 'p';
    take(w, (tarry__store_event){.kind = TARRY__STORE_CHOOSE,
                                 .round = r,
                                 .arm = arm,
                                 .value = 0.25});
}

static void observe(world *w, uint64_t r, double loss)
{
    w->state[r] = 'o';
    w->loss[r] = loss;
    w->delay_s[r] = (double)(w->now - w->at[r]) / 1000;
    take(w, (tarry__store_event){
                .kind = TARRY__STORE_OBSERVE, .round = r, .value = loss});
}

static void leave(world *w, uint64_t r, bool cancel)
{
    w->state[r] = cancel ? 'c' : 'e';
    take(w, (tarry__store_event){.kind = cancel ? TARRY__STORE_CANCEL
                                                : TARRY__STORE_EXPIRE,
                                 .round = r});
}

static world *make_world(void)
{
    static const char *const names[] = {"red", "blue", NULL};
    world *w = calloc(1, sizeof *w);
    w->o = tarry__overview_create(&made);
    w->now = made.created_at;
    for (size_t k = 0; k < ARMS; k++)
        admit(w, names[k < 2 ? k : 2]);
    return w;
}

static void end_world(world *w)
{
    tarry__overview_free(w->o);
    free(w);
}

/* Low arms are chosen more often; some outcomes never come, some are given up
 * and come all the same. */
static void play(world *w, uint64_t rounds, int64_t pace_ms, uint64_t *seed)
{
    for (uint64_t i = 0; i < rounds; i++) {
        const double u = test_uniform(seed);
        w->now += (int64_t)(2 * (double)pace_ms * test_uniform(seed));
        choose(w, (size_t)(u * u * ARMS));
        const uint64_t r =
            1 + (uint64_t)(test_uniform(seed) * (double)w->rounds);
        const double fate = test_uniform(seed);
        if ((w->state[r] == 'p' || w->state[r] == 'e') && fate < 0.8)
            observe(w, r, 2 * test_uniform(seed));
        else if (w->state[r] == 'p')
            leave(w, r, fate < 0.9);
        const uint64_t out = in_state(w, 'p');
        if (out > w->most)
            w->most = out;
    }
}

static json_t *look(const world *w)
{
    json_t *json = tarry__overview_json(w->o, w->seq, w->now);
    assert_non_null(json);
    return json;
}

static uint64_t whole(const json_t *json, const char *key)
{
    assert_true(json_is_integer(json_object_get(json, key)));
    return (uint64_t)json_integer_value(json_object_get(json, key));
}

static double real(const json_t *json, const char *key)
{
    assert_true(json_is_number(json_object_get(json, key)));
    return json_number_value(json_object_get(json, key));
}

static double sum(const json_t *list)
{
    double total = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        total += json_number_value(json_array_get(list, i));
    return total;
}

/* Three of four defaults are corrected; the fourth stays. */
static void corrected_default_is_one_outcome(void **state)
{
    static const double losses[] = {2, 0.5, 1};
    (void)state;
    world *w = make_world();
    for (int i = 0; i < 5; i++)
        choose(w, 0);
    for (uint64_t r = 1; r <= 4; r++)
        take(w, (tarry__store_event){
                    .kind = TARRY__STORE_DEFAULT, .round = r, .value = 0.25});
    for (uint64_t r = 1; r <= 3; r++)
        observe(w, r, losses[r - 1]);
    json_t *json = look(w);
    const json_t *arm = json_array_get(json_object_get(json, "arms"), 0);
    assert_int_equal(whole(json, "outcomes"), 4);
    assert_int_equal(whole(json, "pending"), 1);
    CHECK_NEAR(real(arm, "mean"), 3.75 / 4, 1e-15);
    json_decref(json);
    end_world(w);
}

static void totals_are_those_of_a_plain_count(void **state)
{
    (void)state;
    uint64_t seed = 2385;
    world *w = make_world();
    play(w, 2000, 700, &seed);
    json_t *json = look(w);
    assert_int_equal(whole(json, "decisions"), w->rounds);
    assert_int_equal(whole(json, "outcomes"), in_state(w, 'o'));
    assert_int_equal(whole(json, "cancelled"), in_state(w, 'c'));
    assert_int_equal(whole(json, "expired"), in_state(w, 'e'));
    assert_int_equal(whole(json, "pending"), in_state(w, 'p'));
    /* between a choice and the outcome that follows it is one more */
    assert_in_range(whole(json, "pending_max"), w->most, w->most + 1);
    assert_int_equal(whole(json, "events_read"), w->seq);
    json_decref(json);
    end_world(w);
}

static double item(const json_t *list, size_t i)
{
    return json_number_value(json_array_get(list, i));
}

/* The number of an arm as it is told; ARMS: all others. */
static size_t arm_told(const json_t *one)
{
    const json_t *arm = json_object_get(one, "arm");
    if (json_is_string(arm))
        return strcmp(json_string_value(arm), "blue") == 0;
    return json_is_integer(arm) ? (size_t)json_integer_value(arm) : ARMS;
}

static size_t bucket_of(const json_t *time, double at_s)
{
    return (size_t)((at_s - real(time, "start")) / real(time, "width") + 1e-9);
}

/* Each bucket has the decisions of its time, and each arm its own. */
static void check_buckets(const world *w, const json_t *time, size_t n)
{
    double *made = calloc((ARMS + 1) * n, sizeof *made);
    size_t at;
    json_t *one;
    assert_non_null(made);
    for (uint64_t r = 1; r <= w->rounds; r++) {
        const size_t i = bucket_of(time, (double)w->at[r] / 1000);
        assert_true(i < n);
        made[w->arm[r] * n + i]++;
        made[ARMS * n + i]++;
    }
    for (size_t i = 0; i < n; i++) {
        CHECK_NEAR(item(json_object_get(time, "decisions"), i),
                   made[ARMS * n + i], 0);
        double others = made[ARMS * n + i];
        json_array_foreach(json_object_get(time, "shares"), at, one)
        {
            const size_t k = arm_told(one);
            CHECK_NEAR(item(json_object_get(one, "decisions"), i),
                       k < ARMS ? made[k * n + i] : others, 0);
            others -= k < ARMS ? made[k * n + i] : 0;
        }
    }
    free(made);
}

/* Each bucket has the outcomes that came in its time, and their mean. */
static void check_outcomes(const world *w, const json_t *time, size_t n)
{
    double *count = calloc(2 * n, sizeof *count), *total = count + n;
    assert_non_null(count);
    for (uint64_t r = 1; r <= w->rounds; r++)
        if (w->state[r] == 'o') {
            const size_t i =
                bucket_of(time, (double)w->at[r] / 1000 + w->delay_s[r]);
            assert_true(i < n);
            count[i]++;
            total[i] += w->loss[r];
        }
    const json_t *means = json_object_get(time, "mean");
    for (size_t i = 0; i < n; i++) {
        CHECK_NEAR(item(json_object_get(time, "outcomes"), i), count[i], 0);
        if (count[i] > 0)
            CHECK_NEAR(item(means, i), total[i] / count[i], 1e-9);
        else
            assert_true(json_is_null(json_array_get(means, i)));
    }
    free(count);
}

/* However often the buckets double, nothing is lost or counted twice. */
static void buckets_hold_everything(void **state)
{
    (void)state;
    static const int64_t paces[] = {1, 40, 700, 100000};
    for (size_t i = 0; i < 4; i++) {
        uint64_t seed = 17 + i;
        world *w = make_world();
        play(w, 1500, paces[i], &seed);
        json_t *json = look(w), *time = json_object_get(json, "time");
        const json_t *pending = json_object_get(time, "pending");
        const size_t n = json_array_size(pending);
        CHECK_AT_MOST(n, TARRY__OVERVIEW_BUCKETS);
        CHECK_NEAR(sum(json_object_get(time, "decisions")), 1500, 0);
        CHECK_NEAR(sum(json_object_get(time, "outcomes")),
                   (double)in_state(w, 'o'), 0);
        assert_int_equal(json_integer_value(json_array_get(pending, n - 1)),
                         in_state(w, 'p'));
        double shares = 0;
        size_t at;
        json_t *one;
        json_array_foreach(json_object_get(time, "shares"), at, one) shares +=
            sum(json_object_get(one, "decisions"));
        CHECK_NEAR(shares, 1500, 0);
        check_buckets(w, time, n);
        check_outcomes(w, time, n);
        const double end =
            real(time, "start") + (double)n * real(time, "width");
        CHECK_AT_MOST((double)w->now / 1000, end);
        json_decref(json);
        end_world(w);
    }
}

/* What was out in a bucket where nothing happened is what was out before. */
static void quiet_times_have_what_was_out(void **state)
{
    (void)state;
    world *w = make_world();
    for (int i = 0; i < 7; i++)
        choose(w, 0);
    w->now += 50000;
    choose(w, 1);
    w->now += 400000; /* buckets double twice */
    observe(w, 3, 1);
    json_t *json = look(w);
    const json_t *time = json_object_get(json, "time");
    const json_t *pending = json_object_get(time, "pending");
    const double width = real(time, "width");
    CHECK_NEAR(width, 4, 0);
    for (size_t b = 0; b < json_array_size(pending); b++) {
        const double end = (double)(b + 1) * width;
        const json_int_t expected = end <= 50 ? 7 : end <= 450 ? 8 : 7;
        assert_int_equal(json_integer_value(json_array_get(pending, b)),
                         expected);
    }
    assert_int_equal(whole(json, "pending_max"), 8);
    json_decref(json);
    end_world(w);
}

static void arms_have_their_means(void **state)
{
    (void)state;
    uint64_t seed = 5;
    world *w = make_world();
    play(w, 3000, 300, &seed);
    json_t *json = look(w), *arms = json_object_get(json, "arms"), *arm;
    size_t i;
    assert_int_equal(json_array_size(arms), ARMS);
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(arms, 0), "arm")),
        "red");
    json_array_foreach(arms, i, arm)
    {
        const json_t *name = json_object_get(arm, "arm");
        const size_t k = json_is_integer(name)
                             ? (size_t)json_integer_value(name)
                             : strcmp(json_string_value(name), "red") != 0;
        double n = 0, chosen = 0, total = 0, squares = 0, out = 0;
        for (uint64_t r = 1; r <= w->rounds; r++)
            if (w->arm[r] == k) {
                chosen++;
                n += w->state[r] == 'o';
                out += w->state[r] == 'p' || w->state[r] == 'e';
                total += w->state[r] == 'o' ? w->loss[r] : 0;
                squares += w->state[r] == 'o' ? w->loss[r] * w->loss[r] : 0;
            }
        const double mean = total / n;
        const double se = sqrt((squares / n - mean * mean) / (n - 1));
        assert_int_equal(whole(arm, "decisions"), (uint64_t)chosen);
        assert_int_equal(whole(arm, "outcomes"), (uint64_t)n);
        CHECK_NEAR(real(arm, "mean"), mean, 1e-12);
        CHECK_NEAR(real(arm, "high") - real(arm, "mean"), 1.96 * se, 1e-4);
        CHECK_NEAR(real(arm, "mean") - real(arm, "low"), 1.96 * se, 1e-4);
        const json_t *bounds = json_object_get(arm, "if_missing");
        CHECK_NEAR(json_number_value(json_array_get(bounds, 0)),
                   total / (n + out), 1e-12);
        CHECK_NEAR(json_number_value(json_array_get(bounds, 1)),
                   (total + 2 * out) / (n + out), 1e-12);
    }
    json_decref(json);
    end_world(w);
}

/* Half of the outcomes come after 10 s, half after 1000 s, and the clock stops
 * 500 s after the last decision: of what has come the median is 10 s, but half
 * of the last decisions are still out.  Counting them, the share out between
 * 10 s and 500 s is a half. */
static void what_is_out_counts_in_the_delays(void **state)
{
    (void)state;
    world *w = make_world();
    const int64_t from = w->now;
    for (int i = 0; i < 4000; i++) {
        w->now = from + 100 * i;
        choose(w, 0);
    }
    for (uint64_t r = 2; r <= w->rounds; r += 2) {
        w->now = from + 100 * (int64_t)w->rounds + 10000;
        observe(w, r, 1);
        w->at[r] = w->now;
    }
    w->now += 500000;
    json_t *json = look(w);
    const json_t *delay = json_object_get(
        json_array_get(json_object_get(json, "arms"), 0), "delay");
    CHECK_NEAR(real(delay, "missing"), 0.5, 1e-9);
    assert_true(json_is_null(json_object_get(delay, "q90")));
    json_decref(json);
    end_world(w);
}

/* The median of the curve, where nothing is missing, is that of the delays, but
 * for the width of a bin. */
static void delays_are_right_to_an_eighth(void **state)
{
    (void)state;
    static const int64_t delays_ms[] = {3, 77, 5000, 3600000, 864000000};
    for (size_t i = 0; i < 5; i++) {
        world *w = make_world();
        for (int k = 0; k < 200; k++) {
            choose(w, 0);
            w->now += delays_ms[i];
            observe(w, w->rounds, 0.5);
        }
        json_t *json = look(w);
        const double median = real(json_object_get(json, "delay"), "median");
        CHECK_NEAR(median / ((double)delays_ms[i] / 1000), 1, 0.1251);
        json_decref(json);
        end_world(w);
    }
}

static void recent_decisions_are_the_last(void **state)
{
    (void)state;
    uint64_t seed = 3;
    world *w = make_world();
    play(w, 100, 100, &seed);
    json_t *json = look(w), *recent = json_object_get(json, "recent"), *one;
    size_t i;
    assert_int_equal(json_array_size(recent), 32);
    json_array_foreach(recent, i, one)
    {
        static const char *const names[] = {"pending", "observed", "cancelled",
                                            "expired"};
        const uint64_t r = w->rounds - i;
        char id[30];
        sprintf(id, "s%ju", (uintmax_t)r);
        assert_string_equal(json_string_value(json_object_get(one, "id")), id);
        const size_t of = (size_t)(strchr("poce", w->state[r]) - "poce");
        assert_string_equal(json_string_value(json_object_get(one, "state")),
                            names[of]);
    }
    json_decref(json);
    end_world(w);
}

/* Also when the events of that time have yet to be read. */
static void certificates_stand_where_they_were_seen(void **state)
{
    (void)state;
    world *w = make_world();
    tarry__overview_certify(w->o, w->now + 1500, 0.75);
    tarry__overview_certify(w->o, w->now + 3500, 0.5);
    tarry__overview_certify(w->o, w->now + 3600, NAN);
    json_t *json = look(w);
    const json_t *found = json_object_get(json, "certificates");
    const json_t *list = json_object_get(found, "gap");
    assert_int_equal(json_array_size(list), 4);
    CHECK_NEAR(json_number_value(json_array_get(list, 1)), 0.75, 0);
    CHECK_NEAR(json_number_value(json_array_get(list, 3)), 0.5, 0);
    assert_true(json_is_null(json_array_get(list, 2)));
    json_decref(json);
    tarry__overview_certify(w->o, w->now + 240000, 0.25);
    json = look(w);
    found = json_object_get(json, "certificates");
    list = json_object_get(found, "gap");
    CHECK_NEAR(real(found, "width"), 4, 0);
    assert_int_equal(json_array_size(list), 61);
    CHECK_NEAR(json_number_value(json_array_get(list, 0)), 0.5, 0);
    CHECK_NEAR(json_number_value(json_array_get(list, 60)), 0.25, 0);
    json_decref(json);
    end_world(w);
}

/* An event that met no memory is taken when it comes again. */
static void without_memory_nothing_is_taken(void **state)
{
    (void)state;
    tarry__store_event e = {.kind = TARRY__STORE_ADMIT, .seq = 1, .text = "a"};
    for (uint64_t k = 1; k <= 2; k++) {
        tarry__overview *o = tarry__overview_create(&made);
        tarry__base_fail_alloc(k);
        assert_int_equal(tarry__overview_take(o, &e), TARRY_NO_MEMORY);
        assert_int_equal(tarry__overview_seq(o), 0);
        tarry__base_fail_alloc(0);
        assert_int_equal(tarry__overview_take(o, &e), TARRY_OK);
        const tarry__store_event c = {
            .kind = TARRY__STORE_CHOOSE, .seq = 2, .round = 1, .at = 2000000};
        tarry__base_fail_alloc(k);
        assert_int_equal(tarry__overview_take(o, &c), TARRY_NO_MEMORY);
        assert_int_equal(tarry__overview_seq(o), 1);
        tarry__base_fail_alloc(0);
        assert_int_equal(tarry__overview_take(o, &c), TARRY_OK);
        json_t *json = tarry__overview_json(o, 2, 2000000);
        assert_int_equal(whole(json, "decisions"), 1);
        json_decref(json);
        tarry__overview_free(o);
    }
}

/* Whoever asks without memory gets nothing, and the next gets all. */
static void without_memory_nothing_is_said(void **state)
{
    (void)state;
    uint64_t seed = 11;
    world *w = make_world();
    play(w, 200, 100, &seed);
    for (uint64_t k = 1; k <= 4; k++) {
        tarry__base_fail_alloc(k);
        assert_null(tarry__overview_json(w->o, w->seq, w->now));
        tarry__base_fail_alloc(0);
    }
    json_decref(look(w));
    end_world(w);
}

static void table_of_the_absent_keeps_what_is_in_it(void **state)
{
    (void)state;
    enum { ROUNDS = 3000 };
    static bool in[ROUNDS + 1];
    uint64_t seed = 99, count = 0;
    tarry__absent w = {0};
    for (int step = 0; step < 100000; step++) {
        const uint64_t r = 1 + test_bits(&seed) % ROUNDS;
        tarry__absent_one *one = tarry__absent_find(&w, r);
        assert_int_equal(one != NULL, in[r]);
        if (in[r]) {
            assert_int_equal(one->at, (int64_t)r * 7);
            tarry__absent_remove(&w, one);
        } else {
            assert_true(tarry__absent_add(
                &w, (tarry__absent_one){.round = r, .at = (int64_t)r * 7}));
        }
        in[r] = !in[r];
        count += in[r] ? 1 : (uint64_t)-1;
        assert_int_equal(w.count, count);
    }
    for (uint64_t r = 1; r <= ROUNDS; r++)
        assert_int_equal(tarry__absent_find(&w, r) != NULL, in[r]);
    tarry__absent_clear(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corrected_default_is_one_outcome),
        cmocka_unit_test(totals_are_those_of_a_plain_count),
        cmocka_unit_test(buckets_hold_everything),
        cmocka_unit_test(quiet_times_have_what_was_out),
        cmocka_unit_test(arms_have_their_means),
        cmocka_unit_test(what_is_out_counts_in_the_delays),
        cmocka_unit_test(delays_are_right_to_an_eighth),
        cmocka_unit_test(recent_decisions_are_the_last),
        cmocka_unit_test(certificates_stand_where_they_were_seen),
        cmocka_unit_test(without_memory_nothing_is_taken),
        cmocka_unit_test(without_memory_nothing_is_said),
        cmocka_unit_test(table_of_the_absent_keeps_what_is_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
