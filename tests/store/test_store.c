/* All kinds of stores give back what was appended, and nothing else.
 *
 * PostgreSQL is tried where TARRY_POSTGRES is set: the beginning of the URLs of
 * empty places for stores, to which 1, 2, ... is added. */
#include "check.h"
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/base.h"
#include "store/copy.h"
#include "store/fates.h"
#include "store/experiment.h"
#include "store/kind.h"
#include "store/store.h"

enum { N_ARMS = 3, DIM = 2 };

static const double features[N_ARMS * DIM] = {1, 0, 0, 1, 0.6, 0.8};
static char folder[64], path[80];

static void make_folder(void)
{
    strcpy(folder, "/tmp/tarry-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/s.db", folder);
}

static void remove_folder(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-lock"};
    for (size_t i = 0; i < 4; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* The next empty place; NULL: there is no server. */
static const char *shared_place(void)
{
    static char url[300];
    static int count;
    const char *begin = getenv("TARRY_POSTGRES");
    if (begin == NULL)
        return NULL;
    snprintf(url, sizeof url, "%s%d", begin, ++count);
    return url;
}

static tarry__store *open_store(const char *url)
{
    tarry__store *s;
    tarry_error error = {""};
    if (tarry__store_open(url, true, &s, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    return s;
}

static uint64_t add(tarry__store *s, const char *name)
{
    tarry__store_event arms[N_ARMS];
    tarry__store_experiment e = small_experiment(name, "uniform", N_ARMS, DIM);
    uint64_t number;
    e.low = -2.385;
    for (size_t k = 0; k < N_ARMS; k++)
        arms[k] = (tarry__store_event){.kind = TARRY__STORE_ADMIT,
                                       .arm = k,
                                       .at = 1,
                                       .text = k == 1 ? "one" : NULL,
                                       .features = features + k * DIM};
    assert_int_equal(tarry__store_add(s, &e, arms, &number, NULL), TARRY_OK);
    return number;
}

/* Rounds 1 to 5; 2 is observed, 3 expires and is observed, 4 is cancelled. */
static tarry__store_event events[] = {
    {.kind = TARRY__STORE_CHOOSE, .round = 1, .arm = 2, .value = 0.25, .at = 5},
    {.kind = TARRY__STORE_CHOOSE, .round = 2, .arm = 0, .value = 1, .at = 7},
    {.kind = TARRY__STORE_OBSERVE, .round = 2, .value = -0.385, .at = 8},
    {.kind = TARRY__STORE_CHOOSE,
     .round = 3,
     .arm = 1,
     .value = 1,
     .at = 9,
     .text = "mine"},
    {.kind = TARRY__STORE_EXPIRE, .round = 3, .at = 10},
    {.kind = TARRY__STORE_CHOOSE, .round = 4, .arm = 1, .value = 1, .at = 10},
    {.kind = TARRY__STORE_OBSERVE, .round = 3, .value = 1, .at = 11},
    {.kind = TARRY__STORE_CANCEL, .round = 4, .at = 12},
    {.kind = TARRY__STORE_DEFAULT, .round = 1, .value = 0.5, .at = 12},
    {.kind = TARRY__STORE_WITHDRAW, .arm = 1, .at = 12},
    {.kind = TARRY__STORE_ADMIT,
     .arm = 3,
     .at = 13,
     .text = "new",
     .features = features},
    {.kind = TARRY__STORE_CHOOSE, .round = 5, .arm = 3, .value = 1, .at = 20}};
enum { N_EVENTS = sizeof events / sizeof *events };

static tarry_status append(tarry__store *s, uint64_t number, size_t first,
                           size_t count)
{
    const tarry__store_batch batch = {number, events + first, count, 0};
    return tarry__store_append(s, &batch, 1, NULL);
}

typedef struct {
    size_t next; /* of the events */
    uint64_t seq;
} expected;

static tarry_status compare(void *context, const tarry__store_event *e)
{
    expected *x = context;
    const tarry__store_event *w = &events[x->next++];
    assert_int_equal(e->seq, ++x->seq);
    assert_int_equal(e->kind, w->kind);
    assert_int_equal(e->round, w->round);
    assert_int_equal(e->arm, w->arm);
    assert_true(e->value == w->value && e->at == w->at);
    assert_true((e->text == NULL) == (w->text == NULL));
    assert_true(e->text == NULL || strcmp(e->text, w->text) == 0);
    assert_true((e->features == NULL) == (w->features == NULL));
    if (e->features != NULL)
        assert_memory_equal(e->features, w->features, DIM * sizeof(double));
    return TARRY_OK;
}

static void check_scan(tarry__store *s, uint64_t number, size_t from)
{
    expected x = {from, N_ARMS + from};
    assert_int_equal(
        tarry__store_scan(s, number, N_ARMS + from, compare, &x, NULL),
        TARRY_OK);
    assert_int_equal(x.next, N_EVENTS);
}

static void check_look(tarry__store *s, uint64_t number,
                       tarry__store_event_kind kind, uint64_t round, bool there,
                       double value)
{
    tarry__store_event e;
    bool found;
    char id[TARRY__STORE_ID_ROOM] = "x";
    assert_int_equal(
        tarry__store_look(s, number, kind, round, &e, id, &found, NULL),
        TARRY_OK);
    assert_int_equal(found, there);
    if (found)
        assert_true(e.value == value);
    if (found && kind == TARRY__STORE_CHOOSE)
        assert_string_equal(id, round == 3 ? "mine" : "");
}

static void check_all(tarry__store *s, uint64_t number)
{
    uint64_t experiment, round;
    bool found;
    for (size_t from = 0; from <= N_EVENTS; from++)
        check_scan(s, number, from);
    check_look(s, number, TARRY__STORE_CHOOSE, 1, true, 0.25);
    check_look(s, number, TARRY__STORE_CHOOSE, 3, true, 1);
    check_look(s, number, TARRY__STORE_CHOOSE, 6, false, 0);
    check_look(s, number, TARRY__STORE_CHOOSE, 0, false, 0);
    check_look(s, number, TARRY__STORE_OBSERVE, 1, false, 0);
    check_look(s, number, TARRY__STORE_OBSERVE, 2, true, -0.385);
    check_look(s, number, TARRY__STORE_OBSERVE, 3, true, 1);
    check_look(s, number, TARRY__STORE_EXPIRE, 3, true, 0);
    check_look(s, number, TARRY__STORE_CANCEL, 4, true, 0);
    check_look(s, number, TARRY__STORE_CANCEL, 3, false, 0);
    check_look(s, number, TARRY__STORE_DEFAULT, 1, true, 0.5);
    assert_int_equal(
        tarry__store_look_id(s, "mine", &experiment, &round, &found, NULL),
        TARRY_OK);
    assert_true(found && experiment == number && round == 3);
    assert_int_equal(
        tarry__store_look_id(s, "min", &experiment, &round, &found, NULL),
        TARRY_OK);
    assert_false(found);
    static const int64_t times[][2] = {{4, 0},  {5, 1},  {6, 1},  {9, 3},
                                       {10, 4}, {19, 4}, {20, 5}, {99, 5}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        assert_int_equal(
            tarry__store_round_at(s, number, times[i][0], &round, NULL),
            TARRY_OK);
        assert_int_equal(round, times[i][1]);
    }
}

static void play(const char *url)
{
    tarry__store *s = open_store(url);
    const uint64_t one = add(s, "one"), two = add(s, "two");
    assert_int_equal(append(s, one, 0, 4), TARRY_OK);
    assert_int_equal(append(s, one, 4, N_EVENTS - 4), TARRY_OK);
    check_all(s, one);
    assert_int_equal(tarry__store_events(s, two, NULL), N_ARMS);
    assert_int_equal(tarry__store_find(s, "two"), two);
    assert_int_equal(tarry__store_find(s, "three"), 0);
    if (strcmp(url, "memory:") != 0) {
        tarry__store_close(s);
        s = open_store(url);
        assert_int_equal(tarry__store_count(s), 2);
        check_all(s, one);
    }
    tarry__store_close(s);
}

static void what_is_appended_comes_back(void **state)
{
    (void)state;
    make_folder();
    play("memory:");
    play(path);
    remove_folder();
    const char *url = shared_place();
    if (url != NULL)
        play(url);
}

static tarry_status has_features(void *context, const tarry__store_event *e)
{
    assert_memory_equal(e->features, context, DIM * sizeof(double));
    return TARRY_OK;
}

/* SQLite keeps no negative zero, and a digest tells it from zero; features are
 * kept bit by bit. */
static void end_ranges_with_zero(const char *url)
{
    static const double zeros[] = {0.0, -0.0}, arm_of_zeros[DIM] = {-0.0, 1};
    tarry__store *s = open_store(url);
    for (int i = 0; i < 2; i++) {
        tarry__store_event arm = {
            .kind = TARRY__STORE_ADMIT, .at = 1, .features = arm_of_zeros};
        tarry__store_experiment e =
            small_experiment(i == 0 ? "low" : "high", "uniform", 1, DIM);
        uint64_t number;
        *(i == 0 ? &e.low : &e.high) = zeros[1];
        assert_int_equal(tarry__store_add(s, &e, &arm, &number, NULL),
                         TARRY_OK);
    }
    for (int again = 0; again < 2; again++) {
        const double low = tarry__store_get(s, 1)->low;
        const double high = tarry__store_get(s, 2)->high;
        assert_memory_equal(&low, &zeros[0], sizeof low);
        assert_memory_equal(&high, &zeros[0], sizeof high);
        for (uint64_t number = 1; number <= 2; number++)
            assert_int_equal(tarry__store_scan_arms(s, number, has_features,
                                                    (void *)arm_of_zeros, NULL),
                             TARRY_OK);
        if (strcmp(url, "memory:") == 0)
            break;
        tarry__store_close(s);
        s = open_store(url);
    }
    tarry__store_close(s);
}

static void a_range_may_end_with_a_negative_zero(void **state)
{
    (void)state;
    make_folder();
    end_ranges_with_zero("memory:");
    end_ranges_with_zero(path);
    remove_folder();
    const char *url = shared_place();
    if (url != NULL)
        end_ranges_with_zero(url);
}

/* ---- many events in one commit --------------------------------------------*/

enum { LONGEST = 66, N_MANY = LONGEST * (LONGEST + 1) };

static const char *own_id(size_t i)
{
    static char id[24];
    snprintf(id, sizeof id, "own-%zu", i);
    return id;
}

/* Runs of choices and of outcomes, of every length up to more than twice the
 * number of rows that a statement adds at once; every third choice has an id of
 * its own. */
static void fill_many(tarry__store_event *e, char (*ids)[24])
{
    uint64_t rounds = 0, seen = 0;
    for (size_t i = 0, length = 1; length <= LONGEST; length++)
        for (size_t k = 0; k < 2 * length; k++, i++) {
            const bool is_choice = k < length;
            strcpy(ids[i], own_id(i));
            e[i] = (tarry__store_event){
                .kind = is_choice ? TARRY__STORE_CHOOSE : TARRY__STORE_OBSERVE,
                .round = is_choice ? ++rounds : ++seen,
                .arm = is_choice ? i % N_ARMS : 0,
                .value = 1 / (1 + (double)i),
                .at = (int64_t)i,
                .text = is_choice && i % 3 == 0 ? ids[i] : NULL};
        }
}

typedef struct {
    const tarry__store_event *next;
    uint64_t seq;
} expected_many;

static tarry_status compare_many(void *context, const tarry__store_event *e)
{
    expected_many *x = context;
    const tarry__store_event *w = x->next++;
    assert_int_equal(e->seq, ++x->seq);
    assert_true(e->kind == w->kind && e->round == w->round && e->arm == w->arm);
    assert_true(e->value == w->value && e->at == w->at);
    assert_true((e->text == NULL) == (w->text == NULL));
    assert_true(e->text == NULL || strcmp(e->text, w->text) == 0);
    return TARRY_OK;
}

static void play_many(const char *url)
{
    static tarry__store_event many[N_MANY];
    static char ids[N_MANY][24];
    tarry__store *s = open_store(url);
    const uint64_t one = add(s, "one");
    fill_many(many, ids);
    tarry__store_event spoilt[N_MANY];
    memcpy(spoilt, many, sizeof spoilt);
    const tarry__store_batch bad = {one, spoilt, N_MANY, 0};
    size_t last = N_MANY - 1;
    while (spoilt[last].text == NULL)
        last--;
    spoilt[last].text = own_id(0); /* given before */
    if (strcmp(url, "memory:") != 0)
        assert_int_not_equal(tarry__store_append(s, &bad, 1, NULL), TARRY_OK);
    assert_int_equal(tarry__store_events(s, one, NULL), N_ARMS);
    const tarry__store_batch good = {one, many, N_MANY, 0};
    assert_int_equal(tarry__store_append(s, &good, 1, NULL), TARRY_OK);
    for (int again = 0; again < 2; again++) {
        expected_many x = {many, N_ARMS};
        assert_int_equal(
            tarry__store_scan(s, one, N_ARMS, compare_many, &x, NULL),
            TARRY_OK);
        assert_int_equal(x.next - many, N_MANY);
        if (strcmp(url, "memory:") == 0)
            break;
        tarry__store_close(s);
        s = open_store(url);
    }
    tarry__store_close(s);
}

static void many_at_once_come_back_in_order_or_not_at_all(void **state)
{
    (void)state;
    make_folder();
    play_many("memory:");
    play_many(path);
    remove_folder();
    const char *url = shared_place();
    if (url != NULL)
        play_many(url);
}

static void snapshots_come_back_whole(void **state)
{
    (void)state;
    enum { SIZE = 20000000 }; /* more than one part */
    char *bytes = malloc(SIZE), *loaded;
    uint64_t seq;
    size_t size;
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)(i * 2385 >> 7);
    make_folder();
    const char *const urls[] = {"memory:", path, shared_place()};
    for (int k = 0; k < 3 && urls[k] != NULL; k++) {
        tarry__store *s = open_store(urls[k]);
        const uint64_t number = add(s, "one");
        assert_int_equal(
            tarry__store_load(s, number, &seq, (void **)&loaded, &size, NULL),
            TARRY_OK);
        assert_null(loaded);
        for (size_t length = 1; length <= SIZE; length *= 271) {
            assert_int_equal(
                tarry__store_save(s, number, 2, bytes, length, NULL), TARRY_OK);
            assert_int_equal(tarry__store_load(s, number, &seq,
                                               (void **)&loaded, &size, NULL),
                             TARRY_OK);
            assert_true(seq == 2 && size == length);
            assert_memory_equal(loaded, bytes, size);
            tarry__base_free(loaded);
        }
        tarry__store_close(s);
    }
    remove_folder();
    free(bytes);
}

/* A commit of several experiments is there as a whole or not at all. */
static void refuse_a_batch(const char *url)
{
    tarry__store *s = open_store(url);
    const uint64_t one = add(s, "one"), two = add(s, "two");
    assert_int_equal(append(s, one, 0, N_EVENTS), TARRY_OK);
    uint64_t before;
    tarry__store_events(s, two, &before);
    tarry__store_event again = events[3]; /* its id is taken */
    const tarry__store_batch batches[] = {{two, events, 2, 0},
                                          {one, &again, 1, 0}};
    assert_int_not_equal(tarry__store_append(s, batches, 2, NULL), TARRY_OK);
    uint64_t after;
    assert_int_equal(tarry__store_events(s, two, &after), N_ARMS);
    assert_int_equal(before, after);
    assert_int_equal(tarry__store_probe(s, NULL), TARRY_OK);
    tarry__store_close(s);
    s = open_store(url);
    check_all(s, one);
    assert_int_equal(tarry__store_events(s, two, NULL), N_ARMS);
    tarry__store_close(s);
}

static void a_batch_that_cannot_be_stored_leaves_nothing(void **state)
{
    (void)state;
    make_folder();
    refuse_a_batch(path);
    remove_folder();
    const char *url = shared_place();
    if (url != NULL)
        refuse_a_batch(url);
}

static void a_password_is_not_shown(void **state)
{
    (void)state;
    static const char *const urls[][2] = {
        {"s.db", "s.db"},
        {"postgresql://h/d", "postgresql://h/d"},
        {"postgresql://u@h:1/d", "postgresql://u@h:1/d"},
        {"postgresql://u:geheim@h:1/d", "postgresql://u:*@h:1/d"},
        {"postgres://u:ge@hei/m@h/d?sslmode=require",
         "postgres://u:*@h/d?sslmode=require"},
        {"postgresql://h/d?password=geheim&user=u&sslpassword=g",
         "postgresql://h/d?password=*&user=u&sslpassword=*"}};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        char shown[100];
        tarry__store_show(urls[i][0], shown);
        assert_string_equal(shown, urls[i][1]);
    }
}

/* Nothing of what was to be appended can be asked for. */
static void check_absent(tarry__store *s, uint64_t number, size_t from)
{
    for (size_t i = from; i < N_EVENTS; i++) {
        const tarry__store_event *e = &events[i];
        tarry__store_event event;
        uint64_t experiment, round;
        bool found = false;
        if (e->kind < TARRY__STORE_ADMIT)
            assert_int_equal(tarry__store_look(s, number, e->kind, e->round,
                                               &event, NULL, &found, NULL),
                             TARRY_OK);
        assert_false(found);
        if (e->kind == TARRY__STORE_CHOOSE && e->text != NULL)
            assert_int_equal(tarry__store_look_id(s, e->text, &experiment,
                                                  &round, &found, NULL),
                             TARRY_OK);
        assert_false(found);
    }
}

static void memory_that_runs_out_leaves_the_log_as_it_was(void **state)
{
    (void)state;
    tarry__store *s = open_store("memory:");
    const uint64_t one = add(s, "one");
    assert_int_equal(append(s, one, 0, 3), TARRY_OK);
    uint64_t k = 1;
    for (tarry_status status = TARRY_NO_MEMORY; status != TARRY_OK; k++) {
        tarry__base_fail_alloc(k);
        status = append(s, one, 3, N_EVENTS - 3);
        tarry__base_fail_alloc(0);
        assert_int_equal(tarry__store_events(s, one, NULL),
                         N_ARMS + (status == TARRY_OK ? N_EVENTS : 3));
        assert_true(status == TARRY_OK || status == TARRY_NO_MEMORY);
        if (status != TARRY_OK)
            check_absent(s, one, 3);
    }
    assert_true(k > 4);
    check_all(s, one);
    tarry__store_close(s);
}

/* Of a policy that was restored the first rounds are not there; an id has up
 * to 64 characters. */
static void begin_late(const char *url)
{
    enum { FIRST = 41, COUNT = 3 };
    tarry__store *s = open_store(url);
    const uint64_t one = add(s, "one");
    tarry__store_event late[COUNT];
    char id[COUNT][TARRY__STORE_ID_ROOM];
    for (size_t i = 0; i < COUNT; i++) {
        memset(id[i], 'a' + (int)i, sizeof id[i]);
        id[i][62 + i] = '\0';
        late[i] = (tarry__store_event){.kind = TARRY__STORE_CHOOSE,
                                       .round = FIRST + i,
                                       .value = 1,
                                       .at = 5 + (int64_t)i,
                                       .text = id[i]};
    }
    const tarry__store_batch batch = {one, late, COUNT, 0};
    assert_int_equal(tarry__store_append(s, &batch, 1, NULL), TARRY_OK);
    for (uint64_t t = FIRST - 1; t <= FIRST + COUNT; t++) {
        const bool is_there = t >= FIRST && t < FIRST + COUNT;
        tarry__store_event e;
        char found_id[TARRY__STORE_ID_ROOM];
        uint64_t round, last = t < FIRST + COUNT ? t : FIRST + COUNT - 1;
        bool found;
        assert_int_equal(tarry__store_look(s, one, TARRY__STORE_CHOOSE, t, &e,
                                           found_id, &found, NULL),
                         TARRY_OK);
        assert_int_equal(found, is_there);
        if (is_there)
            assert_string_equal(found_id, id[t - FIRST]);
        assert_int_equal(
            tarry__store_round_at(s, one, 5 + (int64_t)t - FIRST, &round, NULL),
            TARRY_OK);
        assert_int_equal(round, t < FIRST ? 0 : last);
    }
    for (size_t from = 0; from <= COUNT; from++) {
        expected_many x = {late + from, N_ARMS + from};
        assert_int_equal(
            tarry__store_scan(s, one, N_ARMS + from, compare_many, &x, NULL),
            TARRY_OK);
        assert_int_equal(x.next - late, COUNT);
    }
    tarry__store_close(s);
}

static void a_log_may_begin_with_a_later_round(void **state)
{
    (void)state;
    make_folder();
    begin_late("memory:");
    begin_late(path);
    remove_folder();
}

static void moments_are_written_to_the_millisecond(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } all[] = {{0, "1970-01-01T00:00:00.000Z"},
               {7, "1970-01-01T00:00:00.007Z"},
               {951782399040, "2000-02-28T23:59:59.040Z"},
               {951782400000, "2000-02-29T00:00:00.000Z"},
               {1769903999999, "2026-01-31T23:59:59.999Z"}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_string_equal(tarry__fates_moment(all[i].ms).text, all[i].text);
}

/* ---- what became of choices -----------------------------------------------*/

static void fates_are_whole_or_an_error(void **state)
{
    static const tarry__fates_state wanted[] = {
        TARRY__FATES_DEFAULTED, TARRY__FATES_OBSERVED, TARRY__FATES_OBSERVED,
        TARRY__FATES_CANCELLED, TARRY__FATES_PENDING};
    (void)state;
    tarry__store *s = open_store("memory:");
    const uint64_t one = add(s, "one");
    assert_int_equal(append(s, one, 0, N_EVENTS), TARRY_OK);
    uint64_t k = 1;
    for (tarry_status status = TARRY_NO_MEMORY; status != TARRY_OK; k++) {
        tarry__fates f;
        tarry_error error = {""};
        tarry__base_fail_alloc(k);
        status = tarry__fates_load(&f, s, one, &error);
        tarry__base_fail_alloc(0);
        if (status != TARRY_OK) {
            assert_int_equal(status, TARRY_NO_MEMORY);
            assert_string_equal(error.text, "out of memory");
        } else {
            assert_int_equal(f.count, 5);
            for (size_t i = 0; i < 5; i++)
                assert_int_equal(f.fate[i].state, wanted[i]);
            assert_true(f.fate[1].loss == -0.385 && f.fate[1].at == 8);
            assert_true(f.fate[2].loss == 1 && f.fate[2].at == 11);
            assert_int_equal(f.fate[3].at, 12);
            assert_int_equal(f.n_arms, N_ARMS + 1);
            assert_string_equal(f.names[1], "one");
            assert_string_equal(f.names[3], "new");
            assert_null(f.names[0]);
        }
        tarry__fates_clear(&f);
    }
    assert_true(k > 3);
    tarry__store_close(s);
}

/* ---- what no log can hold -------------------------------------------------
 * Digests are right, as those of a forger are. */

typedef struct {
    tarry__store_event event;
    bool fits; /* behind the events above */
} next_event;

#define NEXT(...)                                                              \
    {                                                                          \
        .event = { __VA_ARGS__ }                                               \
    }
#define FITS(...)                                                              \
    {                                                                          \
        .event = {__VA_ARGS__}, .fits = true                                   \
    }
#define CHOOSE .kind = TARRY__STORE_CHOOSE

static const double not_finite[] = {1, INFINITY};
static const next_event nexts[] = {
    FITS(CHOOSE, .round = 6, .arm = 3, .value = 1, .at = 20,
         .text = "g\xc3\xbcn"),
    FITS(CHOOSE, .round = 6, .at = INT64_C(1) << 53),
    NEXT(CHOOSE, .round = 0, .arm = 3),
    NEXT(CHOOSE, .round = 5, .arm = 3),
    NEXT(CHOOSE, .round = 7, .arm = 3),
    NEXT(CHOOSE, .round = INT64_MAX, .arm = 3),
    NEXT(CHOOSE, .round = 6, .arm = 4),
    NEXT(CHOOSE, .round = 6, .arm = UINT64_C(1) << 32),
    NEXT(CHOOSE, .round = 6, .value = -0.125),
    NEXT(CHOOSE, .round = 6, .value = 1.125),
    NEXT(CHOOSE, .round = 6, .value = INFINITY),
    NEXT(CHOOSE, .round = 6, .at = -1),
    NEXT(CHOOSE, .round = 6, .at = INT64_MIN),
    NEXT(CHOOSE, .round = 6, .at = (INT64_C(1) << 53) + 1),
    NEXT(CHOOSE, .round = 6, .text = ""),
    NEXT(CHOOSE, .round = 6, .text = "\x1b[31m"),
    NEXT(CHOOSE, .round = 6, .text = "a\nb"),
    NEXT(CHOOSE, .round = 6, .text = "\xff"),
    FITS(.kind = TARRY__STORE_OBSERVE, .round = 5, .value = 2.385),
    NEXT(.kind = TARRY__STORE_OBSERVE, .round = 6),
    NEXT(.kind = TARRY__STORE_OBSERVE, .round = 0),
    NEXT(.kind = TARRY__STORE_OBSERVE, .round = 5, .value = -INFINITY),
    NEXT(.kind = TARRY__STORE_CANCEL, .round = 6),
    NEXT(.kind = TARRY__STORE_EXPIRE, .round = 6),
    FITS(.kind = TARRY__STORE_DEFAULT, .round = 5, .value = 2.385),
    NEXT(.kind = TARRY__STORE_DEFAULT, .round = 6, .value = 0.5),
    FITS(.kind = TARRY__STORE_ADMIT, .arm = 4, .features = features),
    NEXT(.kind = TARRY__STORE_ADMIT, .arm = 3, .features = features),
    NEXT(.kind = TARRY__STORE_ADMIT, .arm = 5, .features = features),
    NEXT(.kind = TARRY__STORE_ADMIT, .arm = 4, .features = not_finite),
    NEXT(.kind = TARRY__STORE_ADMIT, .arm = 4, .features = features,
         .text = "\xc2\x80"),
    FITS(.kind = TARRY__STORE_WITHDRAW, .arm = 3),
    NEXT(.kind = TARRY__STORE_WITHDRAW, .arm = 4),
    FITS(.kind = TARRY__STORE_PAUSE, .arm = 1),
    NEXT(.kind = TARRY__STORE_PAUSE, .arm = 2),
    NEXT(.kind = TARRY__STORE_RESUME, .arm = 1),
    NEXT(.kind = TARRY__STORE_RESUME, .arm = 0),
    FITS(.kind = TARRY__STORE_LEASE, .arm = 5, .value = 1),
    NEXT(.kind = TARRY__STORE_LEASE, .arm = 6, .value = 1),
    NEXT(.kind = TARRY__STORE_CUT, .arm = 0, .value = 1)};

static void open_after(const char *url, const next_event *next)
{
    tarry__store *s = open_store(url);
    tarry_error error = {""};
    tarry__store_event e = next->event;
    const tarry__store_batch batch = {add(s, "one"), &e, 1, 0};
    assert_int_equal(append(s, 1, 0, N_EVENTS), TARRY_OK);
    /* a round that is there already goes into no table */
    const bool is_in = tarry__store_append(s, &batch, 1, NULL) == TARRY_OK;
    assert_true(is_in || !next->fits);
    tarry__store_close(s);
    if (!is_in)
        return;
    const tarry_status status = tarry__store_open(url, false, &s, &error);
    if (status != (next->fits ? TARRY_OK : TARRY_BAD_STATE) ||
        (!next->fits && strstr(error.text, "damaged: ") == NULL))
        fail_msg("%s, round %ju, arm %ju: %d %s",
                 tarry__store_event_name(e.kind), (uintmax_t)e.round,
                 (uintmax_t)e.arm, (int)status, error.text);
    tarry__store_close(s);
}

static void events_that_cannot_be_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof nexts / sizeof *nexts; i++) {
        make_folder();
        open_after(path, &nexts[i]);
        remove_folder();
    }
    for (size_t i = 2; i <= 6; i += 4) { /* there are but few places */
        const char *url = shared_place();
        if (url != NULL)
            open_after(url, &nexts[i]);
    }
}

static void spoil(tarry__store_experiment *e, size_t i)
{
    const char **const texts[] = {&e->name, &e->prefix, &e->policy,
                                  &e->expire_after};
    double *const reals[] = {&e->low, &e->high, &e->confidence};
    static const double values[] = {INFINITY, -INFINITY, 2};
    if (i < 4)
        *texts[i] = "\xff";
    else if (i < 7)
        *texts[i - 4] = "a\x1b"
                        "b";
    else if (i < 16)
        *reals[(i - 7) / 3] = values[(i - 7) % 3];
    else
        e->created_at = i == 16 ? -1 : INT64_MAX;
}

static void experiments_that_cannot_be_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < 18; i++) {
        tarry__store_experiment e =
            small_experiment("one", "uniform", N_ARMS, DIM);
        tarry__store_event arms[N_ARMS];
        tarry_error error = {""};
        uint64_t number;
        if (i == 12) /* a range of -1 to 2 is one */
            continue;
        spoil(&e, i);
        for (size_t k = 0; k < N_ARMS; k++)
            arms[k] = (tarry__store_event){.kind = TARRY__STORE_ADMIT,
                                           .arm = k,
                                           .features = features + k * DIM};
        make_folder();
        tarry__store *s = open_store(path);
        assert_int_equal(tarry__store_add(s, &e, arms, &number, NULL),
                         TARRY_OK);
        tarry__store_close(s);
        if (tarry__store_open(path, false, &s, &error) != TARRY_BAD_STATE ||
            strstr(error.text, "its settings, row 1") == NULL)
            fail_msg("%zu: %s", i, error.text);
        remove_folder();
    }
}

static void read_all(const char *end, char *bytes, size_t room, size_t *size)
{
    char name[96];
    snprintf(name, sizeof name, "%s%s", path, end);
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    *size = fread(bytes, 1, room, file);
    assert_true(*size > 0 && *size < room);
    fclose(file);
}

/* Also its log, which SQLite would like to tidy up. */
static void what_is_refused_stays_as_it_was(void **state)
{
    enum { ROOM = 1 << 20 };
    static const char *const ends[] = {"", "-wal"};
    static char before[2][ROOM], after[ROOM];
    size_t size[2], now;
    (void)state;
    make_folder();
    const pid_t child = fork();
    if (child == 0) { /* ends without closing */
        tarry__store *s = open_store(path);
        tarry__store_event bad = {CHOOSE, .round = 9};
        const tarry__store_batch batch = {add(s, "one"), &bad, 1, 0};
        append(s, 1, 0, N_EVENTS);
        tarry__store_append(s, &batch, 1, NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    for (int i = 0; i < 2; i++)
        read_all(ends[i], before[i], ROOM, &size[i]);
    for (int i = 0; i < 2; i++) {
        tarry__store *s;
        assert_int_equal(tarry__store_open(path, false, &s, NULL),
                         TARRY_BAD_STATE);
    }
    for (int i = 0; i < 2; i++) {
        read_all(ends[i], after, ROOM, &now);
        assert_int_equal(now, size[i]);
        assert_memory_equal(after, before[i], now);
    }
    remove_folder();
}

/* ---- files that are not what they were ------------------------------------*/

static void write_at(long place, int byte)
{
    const int fd = open(path, O_WRONLY);
    const char c = (char)byte;
    assert_int_equal(pwrite(fd, &c, 1, place), 1);
    close(fd);
}

static void check_refused(const char *url, tarry_status wanted,
                          const char *naming)
{
    tarry__store *s;
    tarry_error error = {""};
    assert_int_equal(tarry__store_open(url, false, &s, &error), wanted);
    assert_null(s);
    if (strstr(error.text, naming) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, naming);
}

static void a_file_that_was_changed_says_how(void **state)
{
    char name[100];
    (void)state;
    make_folder();
    tarry__store_close(open_store(path));
    write_at(63, 2);
    check_refused(path, TARRY_BAD_STATE, "version 2");
    write_at(63, 1);
    write_at(18, 1);
    check_refused(path, TARRY_BAD_STATE, "journal mode");
    write_at(18, 2);
    write_at(19, 1);
    check_refused(path, TARRY_BAD_STATE, "journal mode");
    write_at(19, 2);
    snprintf(name, sizeof name, "%s-wal", path);
    assert_int_equal(mkdir(name, 0700), 0);
    check_refused(path, TARRY_IO_ERROR, "-wal");
    assert_int_equal(rmdir(name), 0);
    tarry__store_close(open_store(path));
    remove_folder();
}

/* Another store, sound in itself, in the place of the one whose lock file is
 * there: only one with more events can be the same. */
static void a_file_of_another_history_is_refused(void **state)
{
    static const size_t counts[] = {N_EVENTS - 1, N_EVENTS, N_EVENTS + 1};
    char other[100];
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        make_folder();
        snprintf(other, sizeof other, "%s-other", path);
        tarry__store *s = open_store(path);
        const uint64_t one = add(s, "one");
        assert_int_equal(append(s, one, 0, N_EVENTS), TARRY_OK);
        tarry__store_close(s);
        s = open_store(other);
        add(s, "two");
        for (uint64_t round = 1; round <= counts[i]; round++) {
            tarry__store_event e = {
                .kind = TARRY__STORE_CHOOSE, .round = round, .value = 1};
            const tarry__store_batch batch = {one, &e, 1, 0};
            assert_int_equal(tarry__store_append(s, &batch, 1, NULL), TARRY_OK);
        }
        tarry__store_close(s);
        assert_int_equal(rename(other, path), 0);
        if (counts[i] <= N_EVENTS)
            check_refused(path, TARRY_BAD_STATE, "another file");
        else
            tarry__store_close(open_store(path));
        strcat(other, "-lock");
        assert_int_equal(unlink(other), 0);
        remove_folder();
    }
}

/* With digests that are right: nothing else would tell. */
static void a_snapshot_beyond_the_log_is_refused(void **state)
{
    (void)state;
    make_folder();
    for (uint64_t beyond = 0; beyond <= 1; beyond++) {
        tarry__store *s = open_store(path);
        const uint64_t number = beyond == 0 ? add(s, "one") : 1;
        assert_int_equal(
            tarry__store_save(s, number, N_ARMS + beyond, "state", 5, NULL),
            TARRY_OK);
        tarry__store_close(s);
    }
    check_refused(path, TARRY_BAD_STATE, "a snapshot, but no event");
    remove_folder();
}

/* What is not in the digest could be changed unseen. */
static void digests_cover_every_field(void **state)
{
    const tarry__store_experiment e = small_experiment("one", "uniform", 2, 2);
    const tarry__store_event v = events[0];
    const uint64_t made = tarry__store_experiment_digest(&e);
    const uint64_t passed = tarry__store_event_digest(made, &v, DIM);
    (void)state;
#define COVERED(field, other)                                                  \
    do {                                                                       \
        tarry__store_experiment x = e;                                         \
        x.field = other;                                                       \
        assert_true(tarry__store_experiment_digest(&x) != made);               \
    } while (0)
    COVERED(name, "two");
    COVERED(prefix, "p:");
    COVERED(policy, "lints");
    COVERED(expire_after, "3d");
    COVERED(n_arms, e.n_arms + 1);
    COVERED(dim, e.dim + 1);
    COVERED(low, e.low - 1);
    COVERED(high, e.high + 1);
    COVERED(maximize, !e.maximize);
    COVERED(horizon, e.horizon + 1);
    COVERED(confidence, e.confidence + 0.125);
    COVERED(beyond_horizon, !e.beyond_horizon);
    COVERED(seed, e.seed + 1);
    COVERED(created_at, e.created_at + 1);
#undef COVERED
#define COVERED(field, other)                                                  \
    do {                                                                       \
        tarry__store_event x = v;                                              \
        x.field = other;                                                       \
        assert_true(tarry__store_event_digest(made, &x, DIM) != passed);       \
    } while (0)
    COVERED(kind, TARRY__STORE_OBSERVE);
    COVERED(seq, v.seq + 1);
    COVERED(round, v.round + 1);
    COVERED(arm, v.arm + 1);
    COVERED(value, v.value / 2);
    COVERED(at, v.at + 1);
    COVERED(text, "mine");
    COVERED(features, features);
#undef COVERED
    assert_true(tarry__store_event_digest(made + 1, &v, DIM) != passed);
}

/* More than there are events in one commit of a copy. */
static void a_copy_has_all_of_many_arms(void **state)
{
    enum { MANY = 10001 };
    tarry__store_event *arms = calloc(MANY, sizeof *arms);
    const tarry__store_experiment e =
        small_experiment("many", "uniform", MANY, DIM);
    char copied[100];
    uint64_t number, experiments, events;
    (void)state;
    assert_non_null(arms);
    for (size_t k = 0; k < MANY; k++)
        arms[k] = (tarry__store_event){
            .kind = TARRY__STORE_ADMIT, .arm = k, .features = features};
    make_folder();
    tarry__store *s = open_store(path);
    assert_int_equal(tarry__store_add(s, &e, arms, &number, NULL), TARRY_OK);
    tarry__store_close(s);
    snprintf(copied, sizeof copied, "%s/copy.db", folder);
    assert_int_equal(
        tarry__store_copy(path, copied, &experiments, &events, NULL), TARRY_OK);
    assert_int_equal(experiments, 1);
    assert_int_equal(events, MANY);
    unlink(copied);
    strcat(copied, "-lock");
    unlink(copied);
    remove_folder();
    free(arms);
}

static void a_path_may_be_relative(void **state)
{
    char here[1000], copied[100];
    uint64_t experiments, events;
    tarry_error error = {""};
    (void)state;
    make_folder();
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    tarry__store *s = open_store("s.db");
    add(s, "one");
    tarry__store_close(s);
    check_refused("nowhere/s.db", TARRY_IO_ERROR, "nowhere");
    assert_int_equal(tarry__store_open("no/folder/", true, &s, &error),
                     TARRY_IO_ERROR);
    assert_int_equal(tarry__store_open("./", true, &s, &error), TARRY_IO_ERROR);
    assert_int_equal(
        tarry__store_copy("s.db", "sqlite:t.db", &experiments, &events, &error),
        TARRY_OK);
    assert_true(experiments == 1 && events == N_ARMS);
    s = open_store("sqlite:t.db");
    assert_int_equal(tarry__store_count(s), 1);
    tarry__store_close(s);
    assert_int_equal(
        tarry__store_copy("s.db", "t.db", &experiments, &events, &error),
        TARRY_BAD_ARGUMENT);
    for (int i = 0; i < 2; i++)
        assert_int_equal(tarry__store_copy(i ? "memory:" : "s.db",
                                           i ? "u.db" : "memory:", &experiments,
                                           &events, &error),
                         TARRY_BAD_ARGUMENT);
    assert_int_equal(chdir(here), 0);
    snprintf(copied, sizeof copied, "%s/t.db", folder);
    unlink(copied);
    strcat(copied, "-lock");
    unlink(copied);
    remove_folder();
}

/* Another process tries to open the store, and may not write more than so many
 * bytes into a file. */
static tarry_status open_elsewhere(rlim_t size)
{
    int code = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit limit = {size, size};
        tarry__store *s;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit((int)tarry__store_open(path, true, &s, NULL));
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code));
    return (tarry_status)WEXITSTATUS(code);
}

static uint64_t events_in_lock_file(void)
{
    char name[96];
    uintmax_t events = 0;
    snprintf(name, sizeof name, "%s-lock", path);
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    assert_int_equal(
        fscanf(file, "tarry store process %*u events %ju", &events), 1);
    fclose(file);
    return events;
}

static void expect_all_noted(tarry__store *s)
{
    uint64_t events = 0;
    for (uint64_t i = 1; i <= tarry__store_count(s); i++)
        events += tarry__store_events(s, i, NULL);
    assert_int_equal(events_in_lock_file(), events);
}

/* As soon as it has happened: else it could be lost without a trace. */
static void every_commit_is_noted_beside_the_store(void **state)
{
    (void)state;
    make_folder();
    tarry__store *s = open_store(path);
    for (uint64_t k = 1; k <= 3; k++) {
        char name[] = {(char)('a' + k), '\0'};
        assert_int_equal(add(s, name), k);
        expect_all_noted(s);
        for (size_t i = 0; i < 3; i++) { /* none of them has an id */
            assert_int_equal(append(s, k, i, 1), TARRY_OK);
            expect_all_noted(s);
        }
        tarry__store_close(s);
        s = open_store(path);
        expect_all_noted(s);
    }
    static tarry__store_event pauses[3];
    tarry__store_batch batches[3];
    for (uint64_t k = 1; k <= 3; k++) {
        pauses[k - 1] = (tarry__store_event){
            .kind = TARRY__STORE_PAUSE, .arm = 1, .at = 30};
        batches[k - 1] = (tarry__store_batch){k, &pauses[k - 1], 1, 0};
    }
    assert_int_equal(tarry__store_append(s, batches, 3, NULL), TARRY_OK);
    expect_all_noted(s);
    tarry__store_close(s);
    remove_folder();
}

/* Every place at which a write of the lock file may be cut short. */
static void a_limit_on_files_leaves_the_lock_as_it_was(void **state)
{
    (void)state;
    make_folder();
    tarry__store *s = open_store(path);
    add(s, "a");
    tarry__store_close(s);
    for (rlim_t size = 1; size < 120; size++) {
        assert_int_equal(open_elsewhere(size), TARRY_IO_ERROR);
        tarry__store_close(open_store(path));
    }
    remove_folder();
}

static void a_folder_is_called_one(void **state)
{
    (void)state;
    tarry__store *s;
    tarry_error error = {""};
    make_folder();
    assert_int_equal(tarry__store_open(folder, true, &s, &error),
                     TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, "Is a directory"));
    remove_folder();
}

/* Also where nobody writes to it: nothing would ever come. */
static void a_pipe_is_no_store(void **state)
{
    (void)state;
    tarry__store *s;
    tarry_error error = {""};
    make_folder();
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(60);
    for (int create = 0; create < 2; create++) {
        assert_int_equal(tarry__store_open(path, create, &s, &error),
                         TARRY_BAD_STATE);
        assert_non_null(strstr(error.text, "not a store of tarry"));
    }
    alarm(0);
    remove_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_appended_comes_back),
        cmocka_unit_test(a_range_may_end_with_a_negative_zero),
        cmocka_unit_test(many_at_once_come_back_in_order_or_not_at_all),
        cmocka_unit_test(snapshots_come_back_whole),
        cmocka_unit_test(a_batch_that_cannot_be_stored_leaves_nothing),
        cmocka_unit_test(a_password_is_not_shown),
        cmocka_unit_test(memory_that_runs_out_leaves_the_log_as_it_was),
        cmocka_unit_test(a_log_may_begin_with_a_later_round),
        cmocka_unit_test(moments_are_written_to_the_millisecond),
        cmocka_unit_test(fates_are_whole_or_an_error),
        cmocka_unit_test(events_that_cannot_be_are_refused),
        cmocka_unit_test(experiments_that_cannot_be_are_refused),
        cmocka_unit_test(what_is_refused_stays_as_it_was),
        cmocka_unit_test(a_file_that_was_changed_says_how),
        cmocka_unit_test(a_file_of_another_history_is_refused),
        cmocka_unit_test(a_snapshot_beyond_the_log_is_refused),
        cmocka_unit_test(digests_cover_every_field),
        cmocka_unit_test(a_copy_has_all_of_many_arms),
        cmocka_unit_test(a_path_may_be_relative),
        cmocka_unit_test(every_commit_is_noted_beside_the_store),
        cmocka_unit_test(a_limit_on_files_leaves_the_lock_as_it_was),
        cmocka_unit_test(a_folder_is_called_one),
        cmocka_unit_test(a_pipe_is_no_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
