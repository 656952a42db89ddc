/* A random program of lines, as `tarry pipe` takes them, against a plain model
 * that says the answer to each, in both forms and with both ways to call arms.
 *
 * Lines come in groups; an answer tells which arm was chosen, all else is known
 * before. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include "check.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "policy/policy_type.h"
#include "session/lines.h"
#include "store/experiment.h"

enum {
    DIM = 2,
    ARMS = 3,
    MOST_ARMS = 10,
    HORIZON = 300,
    OLD = 25, /* rounds until a choice expires */
    GROUP = 6
};

#define OWNER "experiment \"e\""
#define UNKNOWN OWNER " has no decision with id "
#define HORIZON_REACHED OWNER " has made all %d decisions of its horizon"
#define NOT_UNDERSTOOD                                                         \
    "not understood (choose; observe ID LOSS; cancel ID; expire ID; "          \
    "admit NAME X...; withdraw NAME; pending; status; save FILE; quit): "

/* Lines that nobody may write, and why. */
static const struct {
    const char *line, *why;
} nonsense[] = {
    {"", NOT_UNDERSTOOD "''"},
    {" \t ", NOT_UNDERSTOOD "''"},
    {"~!", NOT_UNDERSTOOD "'~!'"},
    {"\x7f\x1f", NOT_UNDERSTOOD "'?\?'"},
    {"Choose", NOT_UNDERSTOOD "'Choose'"},
    {"aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd",
     NOT_UNDERSTOOD "'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd'"},
    {"aaaaaaaaaabbbbbbbbbbccccccccccdddddddddde",
     NOT_UNDERSTOOD "'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...'"},
    {"choose 0",
     "choose N: N must be a whole number from 1 to 1000000; got '0'"},
    {"choose 1000001",
     "choose N: N must be a whole number from 1 to 1000000; got '1000001'"},
    {"choose x",
     "choose N: N must be a whole number from 1 to 1000000; got 'x'"},
    {"choose --id", "choose --id needs an id"},
    {"choose --id 12",
     "an id of your own must not end like those that tarry generates, with a "
     "number alone or behind a colon; got \"12\""},
    {"choose --id a b", NOT_UNDERSTOOD "'choose'"},
    {"choose --ID a", NOT_UNDERSTOOD "'choose'"},
    {"choose-in 1", "decisions with features of their own are not there yet"},
    {"observe 1", NOT_UNDERSTOOD "'observe'"},
    {"observe 1 2 3", NOT_UNDERSTOOD "'observe'"},
    {"observe 1 x",
     "observe ID LOSS: LOSS must be a number; got 'x' for id \"1\""},
    {"cancel", NOT_UNDERSTOOD "'cancel'"},
    {"cancel 1 2", NOT_UNDERSTOOD "'cancel'"},
    {"expire", NOT_UNDERSTOOD "'expire'"},
    {"expire 0", UNKNOWN "\"0\""},
    {"admit", NOT_UNDERSTOOD "'admit'"},
    {"admit 1", "an arm of experiment \"e\" has 2 features; got none for "
                "arm \"1\""},
    {"admit 1 2",
     "an arm's name must be UTF-8 without control characters, not empty; got "
     "\"\""},
    {"admit z 1 x", "admit needs a name and 2 numbers: 'x'"},
    {"admit z x 1", "admit needs a name and 2 numbers: 'x'"},
    {"withdraw", NOT_UNDERSTOOD "'withdraw'"},
    {"withdraw nobody", OWNER " has no arm \"nobody\""},
    {"pending x", "pending N: N must be a whole number; got 'x'"},
    {"pending 1 2", NOT_UNDERSTOOD "'pending'"},
    {"status 1", NOT_UNDERSTOOD "'status'"},
    {"save", NOT_UNDERSTOOD "'save'"},
    {"quit now", NOT_UNDERSTOOD "'quit'"}};

typedef enum { WAITING, REPORTED, CANCELLED, EXPIRED } fate;

typedef struct {
    char id[24];
    size_t arm;
    int64_t at;
    fate fate;
    double loss;
} choice;

typedef enum {
    CHOOSE,
    MANY,
    OBSERVE,
    END,
    ADMIT,
    WITHDRAW,
    PENDING,
    STATUS,
    NONSENSE
} kind;

typedef struct {
    kind kind;
    char text[160], id[24];
    uint64_t count;
    double loss;
    bool cancels;
    size_t arm;
    const char *why; /* it is refused */
    int64_t now;
} line;

static struct {
    tarry__session_lines *lines;
    bool json, by_number;
    uint64_t seed;
    int64_t clock;
    choice made[HORIZON + 1]; /* by round */
    uint64_t round;
    size_t n_arms;
    bool gone[MOST_ARMS];
    char *at; /* the answers that have not been looked at */
} world;

static uint64_t below(uint64_t limit)
{
    return test_bits(&world.seed) % limit;
}

static choice *find(const char *id)
{
    for (uint64_t t = 1; t <= world.round; t++)
        if (strcmp(world.made[t].id, id) == 0)
            return &world.made[t];
    return NULL;
}

static void name_of(size_t arm, char name[32])
{
    snprintf(name, 32, "arm no %zu", arm);
}

/* ---- answers --------------------------------------------------------------*/

static const char *next(void)
{
    char *end = strchr(world.at, '\n');
    if (end == NULL)
        fail_msg("no answer");
    const char *answer = world.at;
    *end = '\0';
    world.at = end + 1;
    return answer;
}

static json_t *next_json(void)
{
    json_t *json = json_loads(next(), 0, NULL);
    assert_non_null(json);
    return json;
}

static void expect_json(json_t *wanted)
{
    json_t *json = next_json();
    if (!json_equal(json, wanted))
        fail_msg("%s, not %s", json_dumps(json, 0), json_dumps(wanted, 0));
    json_decref(json);
    json_decref(wanted);
}

static void expect_done(const char *key, const char *value, const char *result)
{
    if (world.json)
        expect_json(json_pack("{s:s, s:s}", key, value, "result", result));
    else
        assert_string_equal(next(), result);
}

/* "WHY", or "WHY: 'VALUE'". */
static void expect_error(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static void expect_error(const char *format, ...)
{
    char text[600] = "error ";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + 6, sizeof text - 6, format, arguments);
    va_end(arguments);
    if (world.json)
        expect_json(json_pack("{s:s}", "error", text + 6));
    else
        assert_string_equal(next(), text);
}

static size_t arm_of_text(const char *text)
{
    char name[32];
    for (size_t k = 0; k < world.n_arms; k++) {
        name_of(k, name);
        if (world.by_number)
            snprintf(name, sizeof name, "%zu", k);
        if (strcmp(text, name) == 0)
            return k;
    }
    fail_msg("no arm: '%s'", text);
    return 0;
}

static json_t *arm_json(size_t arm)
{
    char name[32];
    name_of(arm, name);
    return world.by_number ? json_integer((json_int_t)arm) : json_string(name);
}

static size_t arm_of_json(const json_t *json)
{
    if (!world.by_number)
        return arm_of_text(json_string_value(json));
    assert_true(json_is_integer(json));
    return (size_t)json_integer_value(json);
}

static void append(json_t *list, json_t *value)
{
    assert_int_equal(json_array_append_new(list, value), 0);
}

/* ---- what the model says --------------------------------------------------*/

static void expire_old(void)
{
    for (uint64_t t = 1; t + OLD <= world.round; t++)
        if (world.made[t].fate == WAITING)
            world.made[t].fate = EXPIRED;
}

static void add(const line *l, const char *id, size_t arm)
{
    choice *c = &world.made[++world.round];
    assert_true(arm < world.n_arms && !world.gone[arm]);
    *c = (choice){.arm = arm, .at = l->now};
    strcpy(c->id, id);
}

/* The arm of `ID ARM`, or of an object with these. */
static size_t read_choice(const json_t *json, const char *id, bool repeated)
{
    if (json == NULL) {
        const char *text = next();
        const size_t length = strlen(id);
        assert_true(strncmp(text, id, length) == 0 && text[length] == ' ');
        return arm_of_text(text + length + 1);
    }
    assert_string_equal(json_string_value(json_object_get(json, "id")), id);
    assert_true(json_real_value(json_object_get(json, "probability")) > 0);
    assert_true(json_is_true(json_object_get(json, "repeated")) == repeated);
    assert_int_equal(json_object_size(json), repeated ? 4 : 3);
    return arm_of_json(json_object_get(json, "arm"));
}

static void check_choose(const line *l)
{
    const choice *before = l->id[0] != '\0' ? find(l->id) : NULL;
    char id[24];
    snprintf(id, sizeof id, "%ju", (uintmax_t)world.round + 1);
    if (before == NULL)
        expire_old();
    if (before == NULL && world.round == HORIZON) {
        expect_error(HORIZON_REACHED, HORIZON);
        return;
    }
    json_t *json = world.json ? next_json() : NULL;
    const size_t arm =
        read_choice(json, l->id[0] != '\0' ? l->id : id, before != NULL);
    json_decref(json);
    if (before != NULL)
        assert_int_equal(arm, before->arm);
    else
        add(l, l->id[0] != '\0' ? l->id : id, arm);
}

/* As many as the horizon leaves. */
static void check_many(const line *l)
{
    const uint64_t left = HORIZON - world.round;
    const uint64_t count = l->count < left ? l->count : left;
    char text[32];
    expire_old();
    if (count == 0) {
        expect_error(HORIZON_REACHED, HORIZON);
        return;
    }
    json_t *json = world.json ? next_json() : NULL;
    const json_t *list = json_object_get(json, "choices");
    for (uint64_t i = 0; i < count; i++) {
        expire_old();
        snprintf(text, sizeof text, "%ju", (uintmax_t)world.round + 1);
        add(l, text, read_choice(json_array_get(list, i), text, false));
    }
    if (l->count > count)
        expire_old(); /* by the one that was refused */
    snprintf(text, sizeof text, "ok %ju", (uintmax_t)count);
    if (world.json)
        assert_int_equal(json_array_size(list), count);
    else
        assert_string_equal(next(), text);
    json_decref(json);
}

static void check_observe(const line *l)
{
    choice *c = find(l->id);
    if (c == NULL) {
        expect_error(UNKNOWN "\"%s\"", l->id);
    } else if (l->loss > 1 || l->loss < -1) {
        expect_error("losses of " OWNER " lie in [-1, 1]; got %s for id \"%s\"",
                     strrchr(l->text, ' ') + 1, l->id);
    } else if (c->fate == REPORTED && c->loss == l->loss) {
        expect_done("id", l->id, "duplicate");
    } else if (c->fate == REPORTED) {
        expect_error("decision \"%s\" of " OWNER
                     " has the loss %g, the first one reported; got %g",
                     l->id, c->loss + 0.0, l->loss + 0.0);
    } else if (c->fate == CANCELLED) {
        expect_error("decision \"%s\" of " OWNER
                     " was cancelled: it takes no outcome",
                     l->id);
    } else {
        expect_done("id", l->id, c->fate == EXPIRED ? "late" : "ok");
        c->fate = REPORTED;
        c->loss = l->loss;
    }
}

static void check_end(const line *l)
{
    choice *c = find(l->id);
    if (c == NULL) {
        expect_error(UNKNOWN "\"%s\"", l->id);
    } else if (c->fate == REPORTED || c->fate == CANCELLED) {
        expect_error("decision \"%s\" of " OWNER
                     " has been reported or cancelled",
                     l->id);
    } else if (c->fate == EXPIRED && !l->cancels) {
        expect_error("decision \"%s\" of " OWNER " has expired already", l->id);
    } else {
        expect_done("id", l->id, "ok");
        c->fate = l->cancels ? CANCELLED : EXPIRED;
    }
}

static void check_admit(const line *l)
{
    char name[32];
    name_of(l->arm, name);
    if (l->arm < world.n_arms) {
        expect_error("arm \"%s\" of " OWNER " is there already", name);
        return;
    }
    expect_done("arm", name, "ok");
    world.n_arms++;
}

static void check_withdraw(const line *l)
{
    char name[32];
    size_t there = 0;
    name_of(l->arm, name);
    for (size_t k = 0; k < world.n_arms; k++)
        there += !world.gone[k];
    if (l->arm >= world.n_arms) {
        expect_error(OWNER " has no arm \"%s\"", name);
    } else if (world.gone[l->arm]) {
        expect_error("arm \"%s\" of " OWNER " has been withdrawn already",
                     name);
    } else if (there == 1) {
        expect_error("arm \"%s\" of " OWNER " cannot be withdrawn: it is the "
                     "last one, or the policy keeps its arms",
                     name);
    } else {
        expect_done("arm", name, "ok");
        world.gone[l->arm] = true;
    }
}

static void expect_waiting(const choice *c, uint64_t round, int64_t now,
                           json_t *list)
{
    const double seconds = (double)(now - c->at) / 1000;
    char text[100], name[32];
    name_of(c->arm, name);
    if (world.by_number)
        snprintf(name, sizeof name, "%zu", c->arm);
    snprintf(text, sizeof text, "%s %s %.3f", c->id, name, seconds);
    if (world.json)
        append(list, json_pack("{s:s, s:o, s:I, s:f}", "id", c->id, "arm",
                               arm_json(c->arm), "rounds",
                               (json_int_t)(world.round - round), "seconds",
                               seconds));
    else
        assert_string_equal(next(), text);
}

static void check_pending(const line *l)
{
    uint64_t count = 0;
    char text[32];
    json_t *list = json_array();
    expire_old();
    for (uint64_t t = 1; t <= world.round; t++)
        if (world.made[t].fate == WAITING && count++ < l->count)
            expect_waiting(&world.made[t], t, l->now, list);
    snprintf(text, sizeof text, "ok %ju", (uintmax_t)count);
    if (world.json)
        expect_json(json_pack("{s:O, s:I}", "pending", list, "count",
                              (json_int_t)count));
    else
        assert_string_equal(next(), text);
    json_decref(list);
}

static void check_status(void)
{
    json_t *json = next_json(), *arms = json_array();
    json_int_t of[EXPIRED + 1] = {0};
    expire_old();
    for (uint64_t t = 1; t <= world.round; t++)
        of[world.made[t].fate]++;
    for (size_t k = 0; k < world.n_arms; k++)
        if (!world.gone[k])
            append(arms, arm_json(k));
    json_t *wanted = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:O, s:b}", "policy", "lints", "round",
        (json_int_t)world.round, "horizon", (json_int_t)HORIZON, "pending",
        of[WAITING], "expired", of[EXPIRED], "cancelled", of[CANCELLED], "arms",
        arms, "paused", 0);
    const char *key;
    json_t *value;
    json_object_foreach(wanted, key, value)
    {
        if (!json_equal(json_object_get(json, key), value))
            fail_msg("%s: %s", key, json_dumps(json, 0));
    }
    json_decref(arms);
    json_decref(wanted);
    json_decref(json);
}

static void check_line(const line *l)
{
    switch (l->kind) {
    case CHOOSE:
        check_choose(l);
        break;
    case MANY:
        check_many(l);
        break;
    case OBSERVE:
        check_observe(l);
        break;
    case END:
        check_end(l);
        break;
    case ADMIT:
        check_admit(l);
        break;
    case WITHDRAW:
        check_withdraw(l);
        break;
    case PENDING:
        check_pending(l);
        break;
    case STATUS:
        check_status();
        break;
    case NONSENSE:
        expect_error("%s", l->why);
        break;
    }
}

/* ---- making lines ---------------------------------------------------------*/

/* An id that was given, most often. */
static void some_id(char id[24])
{
    const uint64_t t = world.round > 40 && below(3)
                           ? world.round - below(40)
                           : 1 + below(world.round + 1);
    if (t <= world.round && world.round > 0)
        strcpy(id, world.made[t].id);
    else
        snprintf(id, 24, below(2) ? "%d" : "own-%d", 1000 + (int)t);
}

static void make_choose(line *l)
{
    if (below(3) == 0) {
        l->kind = MANY;
        l->count = 1 + below(4);
        snprintf(l->text, sizeof l->text, "choose %d", (int)l->count);
    } else if (below(2)) {
        snprintf(l->id, sizeof l->id, "own-%d", (int)below(60));
        snprintf(l->text, sizeof l->text, " choose\t--id %s ", l->id);
    } else {
        strcpy(l->text, "choose");
    }
}

static void make_fate(line *l)
{
    static const char *const losses[] = {"-1", "1.0",  "0.25", "-0",
                                         "0",  "1.01", "-1.5"};
    const char *loss = losses[below(sizeof losses / sizeof *losses)];
    some_id(l->id);
    l->kind = below(3) ? OBSERVE : END;
    l->loss = strtod(loss, NULL);
    l->cancels = below(2);
    if (l->kind == OBSERVE)
        snprintf(l->text, sizeof l->text, "observe %s %s", l->id, loss);
    else
        snprintf(l->text, sizeof l->text, "%s %s",
                 l->cancels ? "cancel" : "expire", l->id);
}

/* A name that is there, but gone, is not given again. */
static void make_arm(line *l)
{
    char name[32];
    l->kind = below(3) && world.n_arms < MOST_ARMS ? ADMIT : WITHDRAW;
    l->arm =
        l->kind == ADMIT && below(4) ? world.n_arms : below(world.n_arms + 1);
    if (l->kind == ADMIT && l->arm < world.n_arms && world.gone[l->arm])
        l->kind = WITHDRAW;
    name_of(l->arm, name);
    if (l->kind == ADMIT)
        snprintf(l->text, sizeof l->text, "admit %s  0.%d -0.25 ", name,
                 (int)l->arm);
    else
        snprintf(l->text, sizeof l->text, "  withdraw  %s\t", name);
}

static void make_question(line *l)
{
    l->kind = below(2) ? PENDING : STATUS;
    l->count = UINT64_MAX;
    strcpy(l->text, l->kind == STATUS ? "status" : "pending");
    if (l->kind == PENDING && below(2)) {
        l->count = below(12);
        snprintf(l->text, sizeof l->text, "pending %d", (int)l->count);
    }
}

static void make_line(line *l)
{
    const uint64_t what = below(100);
    if (what < 40) {
        make_choose(l);
    } else if (what < 75) {
        make_fate(l);
    } else if (what < 80) {
        make_arm(l);
    } else if (what < 90) {
        make_question(l);
    } else {
        const size_t i = below(sizeof nonsense / sizeof *nonsense);
        l->kind = NONSENSE;
        l->why = nonsense[i].why;
        strcpy(l->text, nonsense[i].line);
    }
}

/* ---- programs -------------------------------------------------------------*/

static void take(line *l)
{
    char copy[sizeof l->text];
    strcpy(copy, l->text);
    l->now = world.clock += (int64_t)below(3000);
    assert_true(
        tarry__session_lines_take(world.lines, copy, strlen(copy), l->now));
}

/* Lines of one group; only the last may change arms, as the others are made
 * for those that are there. */
static void do_group(line *all, size_t count)
{
    size_t size;
    for (size_t i = 0; i < count; i++)
        take(&all[i]);
    assert_int_equal(tarry__session_lines_waiting(world.lines), count);
    const char *answers = tarry__session_lines_finish(world.lines, &size);
    assert_int_equal(tarry__session_lines_waiting(world.lines), 0);
    char *copy = strndup(answers, size);
    world.at = copy;
    for (size_t i = 0; i < count; i++)
        check_line(&all[i]);
    assert_string_equal(world.at, "");
    free(copy);
}

static void run_program(tarry__session *session, int groups)
{
    for (int n = 0; n < groups; n++) {
        line all[GROUP] = {{0}};
        size_t count = 0;
        const size_t most = 1 + below(GROUP);
        do
            make_line(&all[count]);
        while (all[count].kind != ADMIT && all[count].kind != WITHDRAW &&
               ++count < most);
        do_group(all, count < most ? count + 1 : count);
    }
    line rest = {.kind = MANY, .count = 1000000, .text = "choose 1e6"};
    do_group(&rest, 1);
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        line l = {.kind = NONSENSE, .why = nonsense[i].why};
        strcpy(l.text, nonsense[i].line);
        do_group(&l, 1);
    }
    assert_int_equal(tarry__policy_round(tarry__session_policy(session)),
                     HORIZON);
}

static tarry__session *open_session(tarry__store **store)
{
    static const double features[] = {1, 0, 0, 1, 0.6, 0.8};
    static const char *const names[] = {"arm no 0", "arm no 1", "arm no 2"};
    tarry__store_experiment e = small_experiment("e", "lints", ARMS, DIM);
    tarry__session *session;
    e.horizon = HORIZON;
    e.expire_after = "25rounds";
    assert_int_equal(tarry__store_open("memory:", true, store, NULL), TARRY_OK);
    assert_int_equal(
        tarry__session_create(*store, &e, features, names, &session, NULL),
        TARRY_OK);
    return session;
}

static void lines_are_answered_as_the_model_says(void **state)
{
    const char *seed = getenv("TARRY_SEED");
    (void)state;
    for (int form = 0; form < 4; form++) {
        tarry__store *store;
        memset(&world, 0, sizeof world);
        world.seed =
            (seed != NULL ? strtoull(seed, NULL, 10) : 2385) + (uint64_t)form;
        world.clock = 1000;
        world.n_arms = ARMS;
        world.json = form % 2;
        world.by_number = form / 2;
        tarry__session *session = open_session(&store);
        world.lines = tarry__session_lines_create(
            session, (tarry__session_lines_options){
                         .json = world.json, .by_number = world.by_number});
        run_program(session, 200);
        tarry__session_lines_free(world.lines);
        tarry__session_close(session);
        tarry__store_close(store);
    }
}

static bool at_once(void)
{
    return true;
}

/* It is asked for after each 64 choices, and never before the first. */
static void many_choices_end_when_they_should(void **state)
{
    static const struct {
        const char *line, *last;
    } tries[] = {{"choose 63", "\nok 63\n"},
                 {"choose 64", "\nok 64\n"},
                 {"choose 65", "\nok 64\n"}};
    tarry__store *store;
    tarry__session *session = open_session(&store);
    tarry__session_lines *lines = tarry__session_lines_create(
        session, (tarry__session_lines_options){.is_ending = at_once});
    (void)state;
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        char copy[32];
        size_t size;
        strcpy(copy, tries[i].line);
        assert_true(tarry__session_lines_take(lines, copy, strlen(copy), 1000));
        const char *answers = tarry__session_lines_finish(lines, &size);
        const size_t length = strlen(tries[i].last);
        assert_true(size > length);
        assert_memory_equal(answers + size - length, tries[i].last, length);
    }
    tarry__session_lines_free(lines);
    tarry__session_close(session);
    tarry__store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_answered_as_the_model_says),
        cmocka_unit_test(many_choices_end_when_they_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
