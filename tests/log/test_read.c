/* test_read.c - the formats of logs, and rows that make no sense. */
#define _GNU_SOURCE
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "log/log.h"

static char path[] = "/tmp/tarry-log-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int drop_file(void **state)
{
    (void)state;
    return unlink(path);
}

static const tarry__log_options plain = {.low = -1, .high = 1};

static tarry_status read_with(const char *text,
                              const tarry__log_options *options,
                              tarry__log *log, tarry_error *error)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return tarry__log_read(log, path, options, error);
}

/* Reads what must be fine as a whole. */
static tarry__log read_log(const char *text)
{
    tarry__log log;
    tarry_error error = {""};
    if (read_with(text, &plain, &log, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    return log;
}

/* Two decisions: arm a, seen after 3 with loss 0.5; arm b, out. */
static void check_two(const char *text)
{
    tarry__log log = read_log(text);
    assert_int_equal(log.count, 2);
    assert_int_equal(log.n_rejected, 0);
    assert_int_equal(log.n_arms, 2);
    assert_string_equal(log.names[log.arm[0]], "a");
    assert_string_equal(log.names[log.arm[1]], "b");
    CHECK_NEAR(log.reported[0] - log.decided[0], 3, 1e-6);
    assert_true(log.loss[0] == 0.5);
    assert_true(isnan(log.loss[1]) && isnan(log.reported[1]));
    CHECK_NEAR(log.now - log.decided[0], 3, 1e-6);
    tarry__log_clear(&log);
}

static void the_same_log_in_many_forms(void **state)
{
    (void)state;
    check_two("id,arm,decided,reported,loss\n1,a,10,13,0.5\n2,b,12,,\n");
    check_two("1,a,10,13,0.5\n2,b,12,,\n");
    check_two("1,a,10,13,0.5,0.25\n2,b,12,,,\n");
    check_two("1;\"a\"; \"10\" ;13;0.5\n2;b;12;;\n");
    check_two("1,a,1970-01-01T00:00:10Z,1970-01-01T00:00:13Z,0.5\n"
              "2,b,1970-01-01T00:00:12Z,,\n");
    check_two("\xef\xbb\xbfloss;arm;decided;reported\r\n0.5;a;10;13\r\n"
              "null;b;12;None\r\n\r\n");
    check_two("id\tarm\tdecided\treported\tloss\n1\t\"a\"\t10\t13\t.5\n"
              "2\tb\t12\t\t\n");
    check_two("Arm,Decided,Reported,Loss,x\n a , 10 ,13, 5e-1 ,9\nb,12,,,9\n");
    check_two("arm,decided,reported,loss\n"
              "a,2026-05-01T10:00:00Z,2026-05-01T10:00:03Z,0.5\n"
              "b,2026-05-01T12:00:02+02:00,,\n");
    check_two("{\"id\":1,\"arm\":\"a\",\"decided\":10,\"reported\":13,"
              "\"loss\":0.5}\n"
              "{\"arm\":\"b\",\"decided\":12,\"reported\":null,\"loss\":null,"
              "\"more\":{\"x\":[1,{\"y\":\"}\"}]}}\n");
    check_two("{\"decided\": 12, \"arm\": \"\\u0062\"}\n"
              "{\"loss\": 0.5, \"reported\": 13, \"decided\": 10, \"arm\": "
              "\"a\"}\n");
}

static void dsjson_joins_outcomes_that_come_later(void **state)
{
    (void)state;
    tarry__log log = read_log(
        "{\"_label_cost\":0,\"_label_probability\":0.8,\"_label_Action\":2,"
        "\"Timestamp\":\"2026-05-01T10:00:00.0000000Z\",\"EventId\":\"x\","
        "\"a\":[2,1],\"p\":[0.8,0.2],\"c\":{\"_multi\":[{},{}]}}\n"
        "{\"_label_cost\":-0.25,\"_label_probability\":0.4,"
        "\"_label_Action\":1,\"o\":[{\"v\":0.25,\"EnqueuedTimeUtc\":"
        "\"2026-05-01T10:00:07Z\"}],\"Timestamp\":\"2026-05-01T10:00:01Z\","
        "\"EventId\":\"y\",\"a\":[1,2],\"p\":[0.4,0.6]}\n"
        "{\"RewardValue\":1,\"EnqueuedTimeUtc\":\"2026-05-01T10:01:00Z\","
        "\"EventId\":\"x\"}\n");
    assert_string_equal(log.format, "dsjson");
    assert_int_equal(log.count, 2);
    assert_string_equal(log.names[log.arm[0]], "2");
    CHECK_NEAR(log.loss[0], -1, 0);
    CHECK_NEAR(log.reported[0] - log.decided[0], 60, 1e-6);
    CHECK_NEAR(log.loss[1], -0.25, 0);
    CHECK_NEAR(log.reported[1] - log.decided[1], 6, 1e-6);
    CHECK_NEAR(log.probability[0], 0.8, 0);
    CHECK_NEAR(log.probability[1], 0.4, 0);
    tarry__log_clear(&log);
}

/* What is outstanding has waited until the last thing that is known. */
static void now_is_the_last_time_of_all(void **state)
{
    static const struct {
        const char *text;
        double now;
    } logs[] = {
        {"arm,decided,reported,loss\na,10,,\nb,12,,\n", 12},
        {"arm,decided,reported,loss\na,10,17,0.5\nb,12,,\n", 17},
        {"arm,decided,reported,loss\nb,12,15,1\na,10,,\n", 15},
        {"arm,decided,reported,loss\nb,12,12,1\na,10,11,0\n", 12},
        {"{\"_label_Action\":2,\"Timestamp\":\"1970-01-01T00:00:10Z\","
         "\"_label_cost\":0,\"_label_probability\":1,\"EventId\":\"x\"}\n"
         "{\"_label_Action\":1,\"Timestamp\":\"1970-01-01T00:00:12Z\","
         "\"_label_cost\":0,\"_label_probability\":1,\"EventId\":\"y\"}\n"
         "{\"RewardValue\":1,\"EnqueuedTimeUtc\":"
         "\"1970-01-01T00:00:19Z\",\"EventId\":\"x\"}\n",
         19}};
    (void)state;
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        tarry__log log = read_log(logs[i].text);
        assert_int_equal(log.count, 2);
        CHECK_NEAR(log.now, logs[i].now, 1e-6);
        tarry__log_clear(&log);
    }
}

static void tables_of_open_bandit_pipeline_are_read(void **state)
{
    (void)state;
    tarry__log log =
        read_log(",timestamp,item_id,position,click,propensity_score\n"
                 "0,2019-11-24 00:00:01.5+00:00,14,1,0,0.0125\n"
                 "1,2019-11-24 00:00:02+00:00,3,2,1,0.0125\n");
    assert_int_equal(log.count, 2);
    assert_false(log.has_delays);
    assert_true(log.n_probabilities == log.count);
    CHECK_NEAR(log.loss[0], 0, 0);
    CHECK_NEAR(log.loss[1], -1, 0);
    CHECK_NEAR(tarry__log_value(&log, log.loss[1]), 1, 0);
    tarry__log_clear(&log);
}

/* Only outcomes may be left out by a word; any text names an arm. */
static void arms_may_be_called_as_nothing_is(void **state)
{
    static const char *const names[] = {"none", "None", "NA", "null", "nan"};
    static const char *const forms[] = {
        "id,arm,decided,reported,loss\n1,%s,1,2,0.5\n",
        "id,arm,decided,reported,loss\n1,\"%s\",1,2,0.5\n",
        "{\"id\":1,\"arm\":\"%s\",\"decided\":1,\"reported\":2,"
        "\"loss\":0.5}\n"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
            char text[200];
            snprintf(text, sizeof text, forms[k], names[i]);
            tarry__log log = read_log(text);
            assert_int_equal(log.n_rejected, 0);
            assert_string_equal(log.names[log.arm[0]], names[i]);
            tarry__log_clear(&log);
        }
}

static void rows_that_make_no_sense_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *row, *why;
    } bad[] = {
        {"1,b,10,13,0.5", "another arm than an earlier row of its id has: 'b'"},
        {"1,a,1,13,0.5",
         "another time of decision than an earlier row of its id has: '1'"},
        {"1,a,10,14,0.5",
         "another outcome than an earlier row of its id has: '1'"},
        {"1,a,10,13,0.25",
         "another outcome than an earlier row of its id has: '1'"},
        {"9,a,,2,0.5", "no time of decision (decided)"},
        {"9,a,x,2,0.5", "not a time: 'x'"},
        {"9,a,-1e291,2,0.5", "not a time: '-1e291'"},
        {"9,a,1,1e291,0.5", "not a time: '1e291'"},
        {"9,a,5,2,0.5", "reported before it was decided: '2'"},
        {"9,a,1,2,", "reported without a loss: '2'"},
        {"9,a,1,,0.5", "a loss without the time it was reported: '0.5'"},
        {"9,a,1,2,1.5", "outside of the range of losses (see --range): '1.5'"},
        {"9,a,1,2,inf", "loss is not a number: 'inf'"},
        {"9,,1,2,0", "no arm"},
        {"9,a,1,2", "fewer fields than columns"},
        {"9,a,1,2,0,7", "more fields than columns"},
        {"9,\"a,1,2,0", "quotes do not close"},
        {"9,a,2026-05-01,2,0", "a time of the calendar among numbers: "
                               "'2026-05-01'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "id,arm,decided,reported,loss\n1,a,10,13,0.5\n%s\n",
                 bad[i].row);
        tarry__log log = read_log(text);
        assert_int_equal(log.count, 1);
        assert_int_equal(log.n_rejected, 1);
        assert_int_equal(log.rejected[0].line, 3);
        assert_string_equal(log.rejected[0].why, bad[i].why);
        tarry__log_clear(&log);
        tarry__log_options strict = plain;
        tarry_error error;
        strict.strict = true;
        assert_int_equal(read_with(text, &strict, &log, &error),
                         TARRY_BAD_INPUT);
        assert_non_null(strstr(error.text, bad[i].why));
        assert_non_null(strstr(error.text, ":3: "));
        tarry__log_clear(&log);
    }
}

/* A name would end there, and be that of another arm. */
static void arms_have_no_nul_byte(void **state)
{
    (void)state;
    tarry__log log = read_log(
        "{\"arm\":\"a\",\"decided\":1,\"reported\":2,\"loss\":0}\n"
        "{\"arm\":\"a\\u0000b\",\"decided\":1,\"reported\":2,\"loss\":0}\n");
    assert_int_equal(log.count, 1);
    assert_int_equal(log.n_arms, 1);
    assert_string_equal(log.rejected[0].why, "NUL byte in an arm: 'a?b'");
    tarry__log_clear(&log);
}

static void files_without_sense_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "empty"},
        {"a,b,c\n1,2,3\n", "no column 'arm'"},
        {"arm,decided,reported\n1,2,3\n", "no column 'loss'"},
        {"arm,reported,loss\n1,2,1\n", "no column 'decided'"},
        {"arm,decided,reported,loss\n", "no decisions"},
        {"arm,decided,reported,loss,loss\n1,1,1,1,1\n", "two columns"},
        {"arm,decided,reported,loss\n1,x,1,1\n", ":2: not a time: 'x'"},
        {"{\"arm\": 1\n", "not a JSON object"},
        /* the first line is no row, hence a header */
        {"1,a,10,13\n2,b,12,\n", ":1: no column 'arm'"},
        {"1,a,10,13,0.5,1,1\n2,b,12,,,1,1\n", ":1: no column 'arm'"},
        {"1,a,x,13,0.5\n2,b,12,,\n", ":1: no column 'arm'"},
        {"1,\"a,10,13,0.5\n2,b,12,,\n", ":1: quotes do not close"},
        {"\"1\"x,a,10,13,0.5\n2,b,12,,\n", ":1: quotes do not close"},
        {"1,a,10,13,\"0.5\n2,b,12,,\n", ":1: quotes do not close"},
        {"1,a,10,13,0.5,\"1\n2,b,12,,,\n", ":1: quotes do not close"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tarry__log log;
        tarry_error error = {""};
        assert_int_equal(read_with(bad[i].text, &plain, &log, &error),
                         TARRY_BAD_INPUT);
        if (strstr(error.text, bad[i].why) == NULL)
            fail_msg("'%s' has no '%s'", error.text, bad[i].why);
        tarry__log_clear(&log);
    }
}

/* 4096 columns are read, one more is refused. */
static void the_limit_of_columns_is_exact(void **state)
{
    (void)state;
    enum { MOST = 4096, NEEDED = 4 };
    for (int more = -1; more <= 1; more++) {
        char text[16 * MOST], *at = text;
        at += sprintf(at, "arm,decided,reported,loss");
        for (int i = NEEDED; i < MOST + more; i++)
            at += sprintf(at, ",c%d", i);
        at += sprintf(at, "\na,1,2,0");
        for (int i = NEEDED; i < MOST + more; i++)
            at += sprintf(at, ",");
        sprintf(at, "\n");
        tarry__log log;
        tarry_error error = {""};
        assert_int_equal(read_with(text, &plain, &log, &error),
                         more > 0 ? TARRY_BAD_INPUT : TARRY_OK);
        tarry__log_clear(&log);
    }
}

/* A process of its own writes into a pipe, so that lines come in pieces. */
static int write_slowly(const char *text)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    if (fork() == 0) {
        close(ends[0]);
        size_t left = strlen(text);
        for (ssize_t n; left > 0 && (n = write(ends[1], text, left)) > 0;) {
            text += n;
            left -= (size_t)n;
        }
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

/* A line of 2^24 - 1 bytes is read, a longer one is refused, whether it comes
 * from a file or in pieces. */
static void the_limit_of_lines_is_exact(void **state)
{
    (void)state;
    enum { MOST = (1 << 24) - 1 };
    static const char head[] = "arm,decided,reported,loss,note\n",
                      row[] = "a,1,2,0,";
    char *text = malloc(MOST + 100);
    assert_non_null(text);
    for (int more = 0; more <= 1; more++) {
        const size_t notes = MOST + (size_t)more - strlen(row);
        strcpy(stpcpy(text, head), row);
        memset(text + strlen(text), 'x', notes);
        strcpy(text + strlen(head) + MOST + more, "\n");
        for (int slowly = 0; slowly <= 1; slowly++) {
            tarry__log log;
            tarry_error error = {""};
            const int fd = slowly ? write_slowly(text) : -1;
            char pieces[40];
            snprintf(pieces, sizeof pieces, "/dev/fd/%d", fd);
            assert_int_equal(slowly
                                 ? tarry__log_read(&log, pieces, &plain, &error)
                                 : read_with(text, &plain, &log, &error),
                             more > 0 ? TARRY_BAD_INPUT : TARRY_OK);
            if (more > 0)
                assert_non_null(strstr(error.text, ":2: a line of more than"));
            tarry__log_clear(&log);
            if (slowly)
                close(fd);
        }
    }
    free(text);
}

static void ranges_and_rewards_become_losses(void **state)
{
    (void)state;
    const tarry__log_options options = {.low = 0, .high = 10, .maximize = true};
    tarry__log log;
    tarry_error error;
    assert_int_equal(read_with("arm,decided,reported,loss\nx,1,2,7.5\n",
                               &options, &log, &error),
                     TARRY_OK);
    CHECK_NEAR(log.loss[0], -0.5, 1e-15);
    CHECK_NEAR(tarry__log_value(&log, log.loss[0]), 7.5, 1e-12);
    tarry__log_clear(&log);
    const tarry__log_options wide = {.low = -0.5e308, .high = 1.2e308};
    assert_int_equal(read_with("arm,decided,reported,loss\nx,1,2,1.2e308\n",
                               &wide, &log, &error),
                     TARRY_OK);
    CHECK_NEAR(log.loss[0], 1, 1e-15);
    tarry__log_clear(&log);
}

/* What is known of a log, whatever its losses are. */
static void check_alike(const tarry__log *a, const tarry__log *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->n_arms, b->n_arms);
    assert_int_equal(a->is_calendar, b->is_calendar);
    assert_int_equal(a->has_delays, b->has_delays);
    assert_int_equal(a->n_probabilities, b->n_probabilities);
    CHECK_NEAR(a->now, b->now, 0);
    CHECK_NEAR(tarry__log_value(a, 0.5), tarry__log_value(b, 0.5), 0);
    for (size_t i = 0; i < a->count; i++)
        assert_true(a->loss[i] == b->loss[i] ||
                    (isnan(a->loss[i]) && isnan(b->loss[i])));
}

/* Rows that are rejected, before or behind the others, are as if they were not
 * there: they decide neither what times are, nor whether there are delays, nor
 * on which side outcomes are good. */
static void a_row_that_is_rejected_decides_nothing(void **state)
{
    static const char head[] = "id,arm,decided,reported,loss,probability\n";
    static const char *const good[] = {
        "1,a,10,13,0.5,0.5\n2,b,12,,,0.5\n", "1,a,10,,,\n2,b,12,,,\n",
        "1,a,10,13,0.5,0.5\n2,b,12,14,0.25,0.5\n",
        "1,a,2026-05-01T10:00:00Z,2026-05-01T10:00:03Z,0.5,\n"};
    static const char *const bad[] = {
        "9,a,99,98,0.7,0.5\n",
        "9,a,9,98,0.7,2\n",
        "9,c,9,98,7,\n",
        "9,c,9,98,,0.5\n",
        "9,c,9,,0.7,0.5\n",
        "9,,9,98,0.7,0.5\n",
        "9,a,2026-05-02T10:00:00Z,2026-05-01T10:00:00Z,0.7,0.5\n",
        "9,a,2026-05-02T10:00:00Z,2026-05-02T11:00:00Z,0.7,-1\n"};
    static const char twice[] = "1,new,11,98,0.7,0.5\n";
    (void)state;
    for (size_t g = 0; g < 3; g++) { /* an id that has occurred */
        char text[400];
        snprintf(text, sizeof text, "%s%s", head, good[g]);
        tarry__log without = read_log(text);
        snprintf(text, sizeof text, "%s%s%s", head, good[g], twice);
        tarry__log with = read_log(text);
        assert_int_equal(with.n_rejected, 1);
        assert_string_equal(with.rejected[0].why,
                            "another arm than an earlier row of its id has: "
                            "'new'");
        check_alike(&with, &without);
        tarry__log_clear(&with);
        tarry__log_clear(&without);
    }
    for (size_t g = 0; g < sizeof good / sizeof *good; g++)
        for (size_t b = 0; b < 2 * sizeof bad / sizeof *bad; b++) {
            char text[400];
            snprintf(text, sizeof text, "%s%s", head, good[g]);
            tarry__log without = read_log(text);
            snprintf(text, sizeof text, "%s%s%s", head,
                     b % 2 ? good[g] : bad[b / 2],
                     b % 2 ? bad[b / 2] : good[g]);
            tarry__log with = read_log(text);
            assert_int_equal(with.n_rejected, 1);
            check_alike(&with, &without);
            tarry__log_clear(&with);
            tarry__log_clear(&without);
        }
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    const char *text =
        "id,arm,decided,reported,loss\n2,b,12,,\n1,a,10,13,0.5\n";
    for (uint64_t k = 1;; k++) {
        tarry__log log;
        tarry_error error;
        tarry__base_fail_alloc(k);
        const tarry_status status = read_with(text, &plain, &log, &error);
        const bool done = tarry__base_fail_alloc(0) < k;
        tarry__log_clear(&log);
        if (done)
            break;
        assert_int_equal(status, TARRY_NO_MEMORY);
    }
}

/* ---- random logs, and what they must be read as
 * ----------------------------*/

enum { ROWS = 60, BAD = 25, COLUMNS = 7 };

typedef struct {
    size_t line;
    int arm;
    double decided, reported, value, probability; /* NaN: not there */
} decision;

typedef struct {
    bool json, reward, words; /* words: arms have names, not numbers */
    tarry__log_options options;
    decision row[ROWS];
    size_t count, bad, bad_line[BAD];
    char text[1 << 16], *at;
    size_t line;
} made_log;

static const char *arm_name(const made_log *m, int arm)
{
    static const char *const words[] = {"red", "blue, dark", "a \"b\"", "Z"},
                             *const numbers[] = {"30", "4", "100", "7"};
    return m->words ? words[arm] : numbers[arm];
}

/* A field as text: what is not there is empty, or null. */
static void put_number(made_log *m, double x)
{
    if (isnan(x))
        m->at += sprintf(m->at, m->json ? "null" : "");
    else
        m->at += sprintf(m->at, "%.17g", x);
}

static void put_quoted(made_log *m, const char *text)
{
    *m->at++ = '"';
    for (; *text != '\0'; text++) {
        if (*text == '"')
            *m->at++ = m->json ? '\\' : '"';
        *m->at++ = *text;
    }
    *m->at++ = '"';
    *m->at = '\0';
}

/* Columns in an order that the seed decides. */
static void put_row(made_log *m, size_t turn, const char *id, const decision *d,
                    const char *state)
{
    const char *const names[COLUMNS] = {
        "id",     "arm",  "decided", "reported", m->reward ? "reward" : "loss",
        "pscore", "state"};
    for (size_t i = 0; i < COLUMNS; i++) {
        const size_t column = (i + turn) % COLUMNS;
        m->at += sprintf(m->at, "%s", i > 0 ? "," : m->json ? "{" : "");
        if (m->json || d == NULL)
            m->at += sprintf(m->at, m->json ? "\"%s\":" : "%s", names[column]);
        if (d == NULL)
            continue;
        if (column == 0)
            put_quoted(m, id);
        else if (column == 1)
            put_quoted(m, arm_name(m, d->arm));
        else if (column == COLUMNS - 1)
            put_quoted(m, state);
        else
            put_number(m, column == 2   ? d->decided
                          : column == 3 ? d->reported
                          : column == 4 ? d->value
                                        : d->probability);
    }
    m->at += sprintf(m->at, m->json ? "}\n" : "\n");
    m->line++;
}

static decision any_decision(const made_log *m, uint64_t *seed)
{
    const tarry__log_options *o = &m->options;
    decision d = {.line = m->line + 1,
                  .arm = (int)(test_bits(seed) % 4),
                  .decided = (double)(test_bits(seed) % 40),
                  .reported = NAN,
                  .value = NAN,
                  .probability = (double)(test_bits(seed) % 64 + 1) / 64};
    if (test_bits(seed) % 3 > 0) {
        d.reported = d.decided + (double)(test_bits(seed) % 50);
        d.value =
            o->low + (o->high - o->low) * ((double)(test_bits(seed) % 9) / 8);
    }
    return d;
}

/* Every field may be the one that makes no sense. */
static void spoil(const made_log *m, decision *d, uint64_t *seed)
{
    switch (test_bits(seed) % 4) {
    case 0:
        d->value = m->options.high + 0.5;
        d->reported = 99;
        break;
    case 1:
        d->value = m->options.low;
        d->reported = d->decided - 1;
        break;
    case 2:
        d->probability = test_bits(seed) % 2 ? 0 : 1.5;
        break;
    default:
        d->decided = NAN;
    }
}

static void make_log(made_log *m, uint64_t *seed)
{
    const uint64_t kind = test_bits(seed);
    const size_t turn = test_bits(seed) % COLUMNS;
    memset(m, 0, sizeof *m);
    m->at = m->text;
    m->json = kind & 1;
    m->reward = kind & 2;
    m->words = kind & 4;
    m->options = kind & 8 ? (tarry__log_options){.low = -1, .high = 1}
                          : (tarry__log_options){.low = 2, .high = 10};
    m->options.maximize = kind & 16;
    if (!m->json)
        put_row(m, turn, NULL, NULL, NULL);
    while (m->count < ROWS) {
        char id[20];
        decision d = any_decision(m, seed);
        const uint64_t fate = test_bits(seed) % 10;
        snprintf(id, sizeof id, "i%zu", m->line);
        if (fate == 0) { /* cancelled */
            put_row(m, turn, id, &d, "cancelled");
        } else if (fate <= 2 && m->bad < BAD) {
            spoil(m, &d, seed);
            m->bad_line[m->bad++] = d.line;
            put_row(m, turn, id, &d, "");
        } else {
            m->row[m->count++] = d;
            put_row(m, turn, id, &d, "");
        }
    }
}

/* By time, then as in the file. */
static int earlier_first(const void *a, const void *b)
{
    const decision *x = a, *y = b;
    return x->decided != y->decided ? (x->decided > y->decided) * 2 - 1
                                    : (x->line > y->line) * 2 - 1;
}

static bool same(double x, double y)
{
    return x == y || (isnan(x) && isnan(y));
}

static void check_log(const made_log *m, const tarry__log *log)
{
    const tarry__log_options *o = &m->options;
    double now = 0, number = -1;
    assert_int_equal(log->count, m->count);
    assert_int_equal(log->n_rejected, m->bad);
    for (size_t i = 0; i < m->bad && i < TARRY__LOG_SHOWN; i++)
        assert_int_equal(log->rejected[i].line, m->bad_line[i]);
    for (size_t i = 0; i < m->count; i++) {
        const decision *d = &m->row[i];
        const double share = (d->value - o->low) / (o->high - o->low);
        const double loss =
            m->reward || o->maximize ? 1 - 2 * share : 2 * share - 1;
        assert_string_equal(log->names[log->arm[i]], arm_name(m, d->arm));
        assert_true(log->decided[i] == d->decided);
        assert_true(log->probability[i] == d->probability);
        assert_true(same(log->reported[i], d->reported));
        assert_true(same(log->loss[i], loss));
        assert_true(same(tarry__log_value(log, log->loss[i]), d->value));
        now = fmax(now, isnan(d->reported) ? d->decided : d->reported);
    }
    assert_true(log->now == now);
    assert_int_equal(log->n_probabilities, log->count);
    assert_true(log->has_delays && !log->is_calendar);
    for (size_t k = 0; !m->words && k < log->n_arms; k++) {
        assert_true(atof(log->names[k]) > number);
        number = atof(log->names[k]);
    }
}

static void random_logs_are_read_as_they_were_made(void **state)
{
    (void)state;
    static made_log m;
    uint64_t seed = 2385;
    for (int i = 0; i < 300; i++) {
        tarry__log log;
        tarry_error error = {""};
        make_log(&m, &seed);
        if (read_with(m.text, &m.options, &log, &error) != TARRY_OK)
            fail_msg("%s", error.text);
        qsort(m.row, m.count, sizeof *m.row, earlier_first);
        check_log(&m, &log);
        tarry__log_clear(&log);
    }
}

static void now_may_be_the_last_time_and_no_earlier_one(void **state)
{
    (void)state;
    static const struct {
        const char *now, *why;
    } all[] = {{"17", NULL},
               {"17.5", NULL},
               {"16.5", "--now: before the last time in "},
               {"x", "--now: not a time: 'x'"},
               {"2026-05-01", "--now: a time of the calendar among numbers"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tarry__log_options options = plain;
        tarry__log log;
        tarry_error error = {""};
        options.now = all[i].now;
        const tarry_status status =
            read_with("arm,decided,reported,loss\na,10,17,0.5\nb,12,,\n",
                      &options, &log, &error);
        assert_int_equal(status, all[i].why ? TARRY_BAD_INPUT : TARRY_OK);
        if (all[i].why != NULL)
            assert_non_null(strstr(error.text, all[i].why));
        else
            CHECK_NEAR(log.now, atof(all[i].now), 0);
        tarry__log_clear(&log);
    }
}

/* What a log does not say: the number of a row is its time, and an outcome is
 * seen at once. */
static void rows_without_times_come_one_after_another(void **state)
{
    (void)state;
    tarry__log log = read_log("arm,loss\na,0.5\n\nb,\na,7\nb,-1\n");
    assert_int_equal(log.count, 3);
    assert_int_equal(log.n_rejected, 1);
    assert_int_equal(log.rejected[0].line, 5);
    for (size_t i = 0; i < 3; i++)
        CHECK_NEAR(log.decided[i], (double)i, 0);
    CHECK_NEAR(log.reported[2], 2, 0);
    assert_true(isnan(log.reported[1]) && !log.has_delays);
    tarry__log_clear(&log);
}

/* A label's own words go before those of its lists, and the last of several
 * outcomes before the first. */
static void dsjson_prefers_labels_and_the_last_outcome(void **state)
{
    (void)state;
    tarry__log log =
        read_log("{\"_label_cost\":0.5,\"_label_probability\":0.25,"
                 "\"_label_Action\":7,\"Timestamp\":\"2026-05-01T10:00:00Z\","
                 "\"EventId\":\"x\",\"a\":[3,7],\"p\":[0.75,0.25],\"o\":["
                 "{\"EnqueuedTimeUtc\":\"2026-05-01T10:00:05Z\"},"
                 "{\"EnqueuedTimeUtc\":\"2026-05-01T10:00:09Z\"}]}\n"
                 "{\"_label_cost\":0.5,\"Timestamp\":\"2026-05-01T10:00:01Z\","
                 "\"EventId\":\"y\",\"a\":[3,7],\"p\":[0.75,0.25]}\n"
                 "{\"_label_cost\":0,\"Timestamp\":\"2026-05-01T10:00:02Z\","
                 "\"EventId\":\"z\",\"a\":[3,7],\"p\":[0.75,0.25]}\n");
    assert_int_equal(log.count, 2);
    assert_int_equal(log.n_rejected, 1); /* a cost whose outcome has no time */
    assert_int_equal(log.rejected[0].line, 2);
    assert_string_equal(log.names[log.arm[0]], "7");
    assert_string_equal(log.names[log.arm[1]], "3");
    CHECK_NEAR(log.probability[0], 0.25, 0);
    CHECK_NEAR(log.probability[1], 0.75, 0);
    CHECK_NEAR(log.reported[0] - log.decided[0], 9, 1e-6);
    CHECK_NEAR(log.loss[0], 0.5, 0);
    assert_true(isnan(log.loss[1]));
    tarry__log_clear(&log);
}

static void decisions_with_a_probability_are_counted(void **state)
{
    (void)state;
    for (int lacks = 0; lacks <= 3; lacks++) {
        char text[200] = "arm,decided,reported,loss,probability\n", *at = text;
        at += strlen(at);
        for (int i = 0; i < 3; i++)
            at += sprintf(at, "a,%d,%d,0,%s\n", i, i, i == lacks ? "" : "1");
        tarry__log log = read_log(text);
        assert_int_equal(log.n_rejected, 0);
        assert_int_equal(log.n_probabilities, lacks == 3 ? 3 : 2);
        tarry__log_clear(&log);
    }
}

/* Both ends of what may be are in it. */
static void limits_of_values_are_exact(void **state)
{
    static const tarry__log_options options = {.low = 2, .high = 10};
    static const struct {
        const char *row;
        bool is_good;
    } all[] = {
        {"a,1,1,2,1", true},         {"a,1,1,10,1", true},
        {"a,1,1,1.999999,1", false}, {"a,1,1,10.000001,1", false},
        {"a,1,1,5,0", false},        {"a,1,1,5,-0.5", false},
        {"a,1,1,5,1e-300", true},    {"a,1,1,5,1.0000001", false},
        {"a,1,0.999,5,1", false},    {"a,-1e290,1e290,5,1", true},
        {"a,1,1,nan,1", false},      {"a,1,nan,5,1", false},
        {"a,nan,1,5,1", false},      {"a,1,1,5,nan", true},
        {"a,-5,-5,5,1", true},       {"a,1,,,1", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[200];
        tarry__log log;
        tarry_error error = {""};
        snprintf(text, sizeof text,
                 "arm,decided,reported,loss,probability\nx,0,0,2,1\n%s\n",
                 all[i].row);
        assert_int_equal(read_with(text, &options, &log, &error), TARRY_OK);
        if (log.count != 1 + (size_t)all[i].is_good)
            fail_msg("%s", all[i].row);
        tarry__log_clear(&log);
    }
}

/* Every name of a column, in letters of either case, and in JSON too. */
static void columns_have_the_names_that_are_told(void **state)
{
    static const char *const names[][4] = {
        {"arm", "action", "ITEM_ID", NULL},
        {"decided", "decided_at", "Timestamp", NULL},
        {"reported", "reported_at", NULL},
        {"loss", "COST", NULL},
        {"probability", "propensity_score", "pscore", NULL},
        {"id", "EventId", "event_id", "decision_id"}};
    (void)state;
    for (size_t k = 0; k < 6; k++)
        for (size_t i = 0; i < 4 && names[k][i] != NULL; i++)
            for (int json = 0; json <= 1; json++) {
                const char *n[6],
                    *format = json ? "{\"%s\":7,\"%s\":3,\"%s\":8,\"%s\":0.25,"
                                     "\"%s\":0.5,\"%s\":\"u\"}\n"
                                   : "%s,%s,%s,%s,%s,%s\n";
                char text[400], *at = text;
                for (size_t c = 0; c < 6; c++)
                    n[c] = names[c][c == k ? i : 0];
                for (int twice = 0; twice < 1 + json; twice++)
                    at +=
                        sprintf(at, format, n[0], n[1], n[2], n[3], n[4], n[5]);
                if (!json)
                    sprintf(at, "7,3,8,0.25,0.5,u\n7,3,8,0.25,0.5,u\n");
                tarry__log log = read_log(text);
                assert_int_equal(log.count, 1);
                assert_int_equal(log.n_rejected, 0); /* said twice */
                assert_string_equal(log.names[0], "7");
                CHECK_NEAR(log.decided[0], 3, 0);
                CHECK_NEAR(log.reported[0], 8, 0);
                CHECK_NEAR(log.loss[0], 0.25, 0);
                CHECK_NEAR(log.probability[0], 0.5, 0);
                tarry__log_clear(&log);
            }
}

/* Arms by number, -3 before 10; equal numbers as they came. */
static void arms_that_are_numbers_come_in_their_order(void **state)
{
    static const char *const wanted[] = {"-3", "0", "1", "1.0", "9", "10"};
    (void)state;
    tarry__log log = read_log("arm,decided,reported,loss\n10,1,1,1\n9,2,2,0.9\n"
                              "1,3,3,0.1\n-3,4,4,-0.3\n1.0,5,5,0.11\n"
                              "0,6,6,0\n9,7,7,0.9\n");
    static const double losses[] = {-0.3, 0, 0.1, 0.11, 0.9, 1};
    assert_int_equal(log.n_arms, 6);
    for (size_t k = 0; k < 6; k++)
        assert_string_equal(log.names[k], wanted[k]);
    for (size_t i = 0; i < log.count; i++)
        CHECK_NEAR(log.loss[i], losses[log.arm[i]], 0);
    tarry__log_clear(&log);
    log = read_log("arm,decided,reported,loss\n10,1,1,1\nx,2,2,0\n9,3,3,0\n");
    assert_string_equal(log.names[0], "10"); /* one word, and all are words */
    assert_string_equal(log.names[2], "9");
    tarry__log_clear(&log);
}

/* Logs that are only appended to: the outcome is in a later row. */
static void rows_of_one_id_are_one_decision(void **state)
{
    static const char *const logs[] = {
        "id,arm,decided,reported,loss,probability\n"
        "1,a,1,,,0.5\n2,b,2,,,\n1,a,1,5,1,0.5\n2,b,2,,,0.25\n1,a,1,,,\n",
        "id,arm,decided,reported,loss,probability\n"
        "1,a,1,5,1,0.5\n2,b,2,,,0.25\n1,,,,,0.5\n1,,,5,1,\n",
        "{\"id\":1,\"arm\":\"a\",\"decided\":1,\"probability\":0.5}\n"
        "{\"id\":2,\"arm\":\"b\",\"decided\":2,\"probability\":0.25}\n"
        "{\"id\":1,\"reported\":5,\"loss\":1}\n"};
    (void)state;
    for (size_t k = 0; k < sizeof logs / sizeof *logs; k++) {
        tarry__log log = read_log(logs[k]);
        assert_int_equal(log.n_rejected, 0);
        assert_int_equal(log.count, 2);
        CHECK_NEAR(log.reported[0], 5, 0);
        CHECK_NEAR(log.loss[0], 1, 0);
        assert_true(isnan(log.loss[1]));
        CHECK_NEAR(log.probability[0] + log.probability[1], 0.75, 0);
        tarry__log_clear(&log);
    }
    tarry__log log = read_log("id,arm,decided,reported,loss,state\n"
                              "1,a,1,,,\n2,b,2,3,0,\n1,,,,,cancelled\n"
                              "1,a,1,4,1,\nNaN,a,5,6,1,\nNaN,b,7,8,0,\n");
    assert_int_equal(log.n_rejected, 0);
    assert_int_equal(log.count, 3); /* NaN is no id */
    CHECK_NEAR(log.decided[0], 2, 0);
    tarry__log_clear(&log);
    log = read_log("id,arm,loss\n1,a,\n2,b,0\n1,a,0.5\n");
    assert_int_equal(log.count, 2);
    CHECK_NEAR(log.loss[0], 0.5, 0);
    tarry__log_clear(&log);
}

static void fields_in_quotes_go_on_in_the_next_line(void **state)
{
    (void)state;
    tarry__log log = read_log(
        "arm,decided,\"a\nnote\",reported,loss\n\"a\r\nb\",1,x,2,0.5\n"
        "\"a\r\nb\",2,\"1\n\n\"\"2\"\"\n3,\",3,0\nb,9,\"x,3,1\nb,4,,5,1");
    assert_int_equal(log.n_arms, 2);
    assert_string_equal(log.names[0], "a\r\nb");
    assert_int_equal(log.count, 3);
    assert_int_equal(log.n_rejected, 1); /* alone: the next rows are read */
    assert_int_equal(log.rejected[0].line, 10);
    assert_string_equal(log.rejected[0].why, "quotes do not close");
    tarry__log_clear(&log);
    log = read_log("1,\"a\"\"\nb\",1,2,0.5\n2,c,3,4,1\n");
    assert_int_equal(log.count, 2); /* without a header */
    assert_string_equal(log.names[0], "a\"\nb");
    tarry__log_clear(&log);
}

/* A quote that never closes costs its own row; 100 lines are looked at. */
static void a_quote_that_stays_open_costs_one_row(void **state)
{
    enum { ROWS_AFTER = 300 };
    (void)state;
    char text[ROWS_AFTER * 20 + 100] = "arm,decided,reported,loss\n\"a,1,2,0\n";
    char *at = text + strlen(text);
    for (int i = 0; i < ROWS_AFTER; i++)
        at += sprintf(at, "b,%d,%d,1\n", i, i + 1);
    sprintf(at, "\"c\",1,2,0\n");
    tarry__log log = read_log(text);
    assert_int_equal(log.count, ROWS_AFTER + 1);
    assert_int_equal(log.n_rejected, 1);
    assert_int_equal(log.rejected[0].line, 2);
    tarry__log_clear(&log);
}

#define DSJSON(id, more)                                                       \
    "{\"EventId\":\"" id "\",\"Timestamp\":\"2026-05-01T10:00:00Z\","          \
    "\"_label_Action\":1,\"_label_probability\":0.5,\"a\":[1,2],"              \
    "\"p\":[0.5,0.5]" more "}\n"

/* Joined files often have no "o": the cost is the outcome. */
static void dsjson_without_times_of_outcomes_has_costs(void **state)
{
    (void)state;
    tarry__log log = read_log(DSJSON("x", ",\"_label_cost\":-1")
                                  DSJSON("y", ",\"_label_cost\":0"));
    assert_int_equal(log.n_rejected, 0);
    assert_false(log.has_delays);
    CHECK_NEAR(log.loss[0], -1, 0);
    CHECK_NEAR(log.loss[1], 0, 0);
    tarry__log_clear(&log);
    log = read_log(DSJSON("x", ",\"_label_cost\":-1,\"o\":[{\"v\":1}]")
                       DSJSON("y", ",\"_label_cost\":0"));
    CHECK_NEAR(log.loss[1], 0, 0);
    tarry__log_clear(&log);
    log = read_log(DSJSON("x", ",\"_label_cost\":0") "{\"EventId\":\"x\","
                                                     "\"RewardValue\":1}\n");
    assert_int_equal(log.n_rejected, 0);
    CHECK_NEAR(log.loss[0], -1, 0);
    tarry__log_clear(&log);
    log = read_log("{\"EventId\":\"x\",\"_label_Action\":1,\"_label_cost\":0,"
                   "\"a\":[1],\"p\":[1]}\n" DSJSON("y", ",\"_label_cost\":0"));
    assert_string_equal(log.rejected[0].why, "no Timestamp");
    tarry__log_clear(&log);
}

/* Lines that were dropped with one probability change nothing. */
static void dsjson_must_have_one_pdrop(void **state)
{
    static const struct {
        const char *text;
        bool is_read;
    } all[] = {
        {DSJSON("x", ",\"_label_cost\":0,\"pdrop\":0.5")
             DSJSON("y", ",\"_label_cost\":-1,\"pdrop\":0.5"),
         true},
        {DSJSON("x", ",\"_label_cost\":0,\"pdrop\":0")
             DSJSON("y", ",\"_label_cost\":-1"),
         true},
        {DSJSON("x", ",\"_label_cost\":0,\"pdrop\":0.5")
             DSJSON("y", ",\"_label_cost\":-1"),
         false},
        {DSJSON("x", ",\"_label_cost\":0")
             DSJSON("y", ",\"_label_cost\":-1,\"pdrop\":0.5"),
         false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tarry__log log;
        tarry_error error = {""};
        const tarry_status status =
            read_with(all[i].text, &plain, &log, &error);
        assert_int_equal(status, all[i].is_read ? TARRY_OK : TARRY_BAD_INPUT);
        assert_true(all[i].is_read || strstr(error.text, ":2: pdrop is"));
        tarry__log_clear(&log);
    }
}

static void losses_and_rewards_in_one_log_are_refused(void **state)
{
    static const char *const all[] = {
        "arm,decided,reported,loss,reward\na,1,2,0,\n",
        "{\"arm\":1,\"decided\":1,\"reported\":2,\"loss\":0}\n"
        "{\"arm\":1,\"decided\":1,\"reported\":2,\"reward\":0}\n"};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tarry__log log;
        tarry_error error = {""};
        assert_int_equal(read_with(all[i], &plain, &log, &error),
                         TARRY_BAD_INPUT);
        assert_non_null(strstr(error.text, "losses and rewards"));
        tarry__log_clear(&log);
    }
}

static void rejected_rows_are_counted_by_reason(void **state)
{
    (void)state;
    tarry__log log = read_log("arm,decided,reported,reward\na,1,2,0\na,x,2,0\n"
                              "a,1,2,7\na,1,2,8\na,1,2\na,1,2,9\n");
    const tarry__log_reason *most = tarry__log_main_reason(&log);
    assert_int_equal(log.n_rejected, 5);
    assert_int_equal(log.n_reasons, 3);
    assert_string_equal(most->why,
                        "outside of the range of rewards (see --range)");
    assert_int_equal(most->count, 3);
    assert_int_equal(most->line, 4);
    tarry__log_clear(&log);
    log = read_log("arm,decided,reported,loss\na,1,2,0\n");
    assert_null(tarry__log_main_reason(&log));
    tarry__log_clear(&log);
}

/* Of rows that are rejected the first are told, all are counted; blank lines
 * count as lines. */
static void lines_are_counted_from_the_first(void **state)
{
    (void)state;
    for (int bad = TARRY__LOG_SHOWN - 1; bad <= TARRY__LOG_SHOWN + 1; bad++) {
        char text[4000] = "\n\r\n";
        char *at = text + 3;
        at += sprintf(at, "arm,decided,reported,loss\r\na,1,2,0\n\n");
        for (int i = 0; i < bad; i++)
            at += sprintf(at, "a,x%d,2,0%s", i, i + 1 < bad ? "\n" : "");
        tarry__log log = read_log(text);
        assert_int_equal(log.count, 1);
        assert_int_equal(log.n_rejected, bad);
        for (int i = 0; i < bad && i < TARRY__LOG_SHOWN; i++) {
            char why[40];
            snprintf(why, sizeof why, "not a time: 'x%d'", i);
            assert_int_equal(log.rejected[i].line, 6 + i);
            assert_string_equal(log.rejected[i].why, why);
        }
        tarry__log_clear(&log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions_with_a_probability_are_counted),
        cmocka_unit_test(limits_of_values_are_exact),
        cmocka_unit_test(rows_of_one_id_are_one_decision),
        cmocka_unit_test(fields_in_quotes_go_on_in_the_next_line),
        cmocka_unit_test(a_quote_that_stays_open_costs_one_row),
        cmocka_unit_test(dsjson_without_times_of_outcomes_has_costs),
        cmocka_unit_test(dsjson_must_have_one_pdrop),
        cmocka_unit_test(losses_and_rewards_in_one_log_are_refused),
        cmocka_unit_test(rejected_rows_are_counted_by_reason),
        cmocka_unit_test(columns_have_the_names_that_are_told),
        cmocka_unit_test(arms_that_are_numbers_come_in_their_order),
        cmocka_unit_test(lines_are_counted_from_the_first),
        cmocka_unit_test(the_same_log_in_many_forms),
        cmocka_unit_test(dsjson_joins_outcomes_that_come_later),
        cmocka_unit_test(now_is_the_last_time_of_all),
        cmocka_unit_test(tables_of_open_bandit_pipeline_are_read),
        cmocka_unit_test(arms_may_be_called_as_nothing_is),
        cmocka_unit_test(rows_that_make_no_sense_are_named),
        cmocka_unit_test(arms_have_no_nul_byte),
        cmocka_unit_test(files_without_sense_are_refused),
        cmocka_unit_test(the_limit_of_columns_is_exact),
        cmocka_unit_test(the_limit_of_lines_is_exact),
        cmocka_unit_test(ranges_and_rewards_become_losses),
        cmocka_unit_test(a_row_that_is_rejected_decides_nothing),
        cmocka_unit_test(random_logs_are_read_as_they_were_made),
        cmocka_unit_test(now_may_be_the_last_time_and_no_earlier_one),
        cmocka_unit_test(rows_without_times_come_one_after_another),
        cmocka_unit_test(dsjson_prefers_labels_and_the_last_outcome),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, make_file, drop_file);
}
