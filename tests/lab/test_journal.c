/* A journal of trials, byte by byte: what is taken in are its whole lines, no
 * more and no less, wherever it was cut and whatever was changed. */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "journal_file.h"
#include "lab/journal.h"

enum { TRIALS = 4, ROOM = 100000 };

typedef struct {
    uint64_t count;
    double regret, unknown;
} answer;

static const tarry__journal_field fields[] = {
    TARRY__JOURNAL_FIELD(answer, COUNT, count),
    TARRY__JOURNAL_FIELD(answer, REAL, regret),
    TARRY__JOURNAL_FIELD(answer, UNKNOWN, unknown),
};

static answer answer_of(size_t c, size_t run)
{
    return (answer){c * 1000 + run, 2.385 / (double)(run + 1) - (double)c,
                    run == 0 ? NAN : 0.1};
}

/* ---- taking in ------------------------------------------------------------*/

typedef struct {
    size_t taken;
    bool seen[TRIALS];
} taken;

static void take(void *context, size_t c, size_t run, const void *given)
{
    taken *t = context;
    const answer *a = given, wanted = answer_of(c, run);
    assert_true(c == 1 && run < TRIALS);
    assert_true(a->count == wanted.count && a->regret == wanted.regret);
    assert_true(isnan(a->unknown) ? isnan(wanted.unknown)
                                  : a->unknown == wanted.unknown);
    t->taken += !t->seen[run];
    t->seen[run] = true;
}

/* Two cases; the second has all trials. */
static tarry__journal journal_of(taken *t, uint64_t key)
{
    static tarry__journal_case cases[2];
    cases[0] = (tarry__journal_case){.key = 6, .words = "none"};
    cases[1] = (tarry__journal_case){.key = key, .words = "four trials"};
    *t = (taken){0};
    return (tarry__journal){.path = path,
                            .fields = fields,
                            .n_fields = sizeof fields / sizeof *fields,
                            .answer_size = sizeof(answer),
                            .cases = cases,
                            .n_cases = 2,
                            .context = t,
                            .take = take,
                            .file = -1};
}

static tarry_status open_journal(tarry__journal *j, taken *t)
{
    *j = journal_of(t, 7);
    return tarry__journal_open(j, NULL);
}

static size_t read_all(char *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, ROOM, file);
    fclose(file);
    return size;
}

static void write_all(const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static size_t lines_in(const char *bytes, size_t size)
{
    size_t lines = 0;
    for (size_t i = 0; i < size; i++)
        lines += bytes[i] == '\n';
    return lines;
}

/* A journal with all trials, as bytes. */
static size_t full(char *bytes)
{
    tarry__journal j;
    taken t;
    write_all("", 0);
    assert_int_equal(open_journal(&j, &t), TARRY_OK);
    for (size_t run = 0; run < TRIALS; run++) {
        const answer a = answer_of(1, run);
        assert_int_equal(tarry__journal_add(&j, 1, run, &a, NULL), TARRY_OK);
    }
    tarry__journal_close(&j);
    return read_all(bytes);
}

/* ---- tests ----------------------------------------------------------------*/

/* Also just before a newline, where the line would read well. */
static void what_is_cut_off_is_not_obeyed(void **state)
{
    (void)state;
    static char bytes[ROOM], after[ROOM];
    const size_t size = full(bytes);
    for (size_t cut = 0; cut <= size; cut++) {
        tarry__journal j;
        taken t;
        write_all(bytes, cut);
        const size_t lines = lines_in(bytes, cut);
        assert_int_equal(open_journal(&j, &t), TARRY_OK);
        assert_int_equal(t.taken, lines > 2 ? lines - 2 : 0);
        assert_int_equal(j.n_dropped, 0);
        for (size_t run = 0; run < TRIALS; run++) {
            const answer a = answer_of(1, run);
            if (!t.seen[run])
                assert_int_equal(tarry__journal_add(&j, 1, run, &a, NULL),
                                 TARRY_OK);
        }
        tarry__journal_close(&j);
        assert_int_equal(read_all(after), size);
        assert_memory_equal(after, bytes, size);
    }
}

static void a_changed_byte_costs_its_line_at_most(void **state)
{
    (void)state;
    static char bytes[ROOM];
    const size_t size = full(bytes);
    const size_t first = (size_t)((char *)memchr(bytes, '\n', size) - bytes);
    const char *rest = bytes + first + 1;
    const size_t second =
        (size_t)((char *)memchr(rest, '\n', size - first - 1) - bytes);
    for (size_t at = 0; at < size; at++) {
        tarry__journal j;
        taken t;
        const char old = bytes[at];
        bytes[at] = (char)(old ^ 1 << at % 7);
        write_all(bytes, size);
        bytes[at] = old;
        const tarry_status status = open_journal(&j, &t);
        if (at <= first) {
            assert_int_not_equal(status, TARRY_OK);
            continue;
        }
        assert_int_equal(status, TARRY_OK);
        /* a newline lost joins two lines; one more splits a line */
        assert_true(t.taken >= TRIALS - (old == '\n' ? 2 : 1));
        assert_true(t.taken < TRIALS || at < second);
        assert_true(j.n_dropped > 0 || at == size - 1);
        tarry__journal_close(&j);
    }
}

static void a_trial_said_twice_is_one_trial(void **state)
{
    (void)state;
    static char bytes[ROOM];
    const size_t size = full(bytes);
    const char *rest = (char *)memchr(bytes, '\n', size) + 1;
    memcpy(bytes + size, rest, size - (size_t)(rest - bytes));
    tarry__journal j;
    taken t;
    write_all(bytes, 2 * size - (size_t)(rest - bytes));
    assert_int_equal(open_journal(&j, &t), TARRY_OK);
    assert_int_equal(t.taken, TRIALS);
    tarry__journal_close(&j);
}

/* Another job's trials are neither taken in nor lost. */
static void trials_of_another_key_stay_in_the_file(void **state)
{
    (void)state;
    static char bytes[ROOM], after[ROOM];
    const size_t size = full(bytes);
    taken t;
    tarry__journal j = journal_of(&t, 8);
    assert_int_equal(tarry__journal_open(&j, NULL), TARRY_OK);
    assert_int_equal(t.taken + j.n_dropped, 0);
    for (size_t run = 0; run < TRIALS; run++) {
        const answer a = answer_of(1, run);
        assert_int_equal(tarry__journal_add(&j, 1, run, &a, NULL), TARRY_OK);
    }
    tarry__journal_close(&j);
    assert_true(read_all(after) > size);
    assert_memory_equal(after, bytes, size);
    for (uint64_t key = 7; key <= 8; key++) {
        j = journal_of(&t, key);
        assert_int_equal(tarry__journal_open(&j, NULL), TARRY_OK);
        assert_int_equal(t.taken, TRIALS);
        tarry__journal_close(&j);
    }
}

static void a_file_that_is_no_journal_is_refused_and_left_alone(void **state)
{
    (void)state;
    static const char text[] = "arm,loss\n1,0.5\n";
    static char after[ROOM];
    taken t;
    tarry_error error = {""};
    tarry__journal j = journal_of(&t, 7);
    write_all(text, sizeof text);
    assert_int_equal(tarry__journal_open(&j, &error), TARRY_BAD_INPUT);
    assert_non_null(strstr(error.text, "not a journal of trials"));
    assert_int_equal(read_all(after), sizeof text);
    assert_memory_equal(after, text, sizeof text);
}

/* ---- fields of another kind or size ---------------------------------------*/

typedef struct {
    uint64_t word[3];
} words;

static void take_words(void *context, size_t c, size_t run, const void *given)
{
    (void)c, (void)run;
    *(words *)context = *(const words *)given;
}

/* Writes words as one kind and reads them as another; false: refused. */
static bool read_as(tarry__journal_kind written, size_t n_written, words *w,
                    tarry__journal_kind kind, size_t count)
{
    const tarry__journal_field put = {"w", written, 0, n_written},
                               get = {"w", kind, 0, count};
    words found = {{0}};
    tarry__journal_case only = {.key = 7, .words = "words"};
    tarry__journal j = {.path = path,
                        .fields = &put,
                        .n_fields = 1,
                        .answer_size = sizeof(words),
                        .cases = &only,
                        .n_cases = 1,
                        .context = &found,
                        .take = take_words};
    write_all("", 0);
    assert_int_equal(tarry__journal_open(&j, NULL), TARRY_OK);
    assert_int_equal(tarry__journal_add(&j, 0, 0, w, NULL), TARRY_OK);
    tarry__journal_close(&j);
    j.fields = &get;
    assert_int_equal(tarry__journal_open(&j, NULL), TARRY_OK);
    tarry__journal_close(&j);
    *w = found;
    return j.n_dropped == 0;
}

static void numbers_of_another_kind_are_damage(void **state)
{
    (void)state;
    words w = {{UINT64_MAX}}; /* -1 in the file */
    assert_false(read_as(TARRY__JOURNAL_COUNT, 1, &w, TARRY__JOURNAL_COUNT, 1));
    w = (words){{INT64_MAX}};
    assert_true(read_as(TARRY__JOURNAL_COUNT, 1, &w, TARRY__JOURNAL_COUNT, 1));
    assert_int_equal(w.word[0], INT64_MAX);
    const double one = 1, nan = NAN;
    memcpy(w.word, &one, sizeof one);
    assert_false(read_as(TARRY__JOURNAL_REAL, 1, &w, TARRY__JOURNAL_COUNT, 1));
    memcpy(w.word, &nan, sizeof nan);
    assert_false(
        read_as(TARRY__JOURNAL_UNKNOWN, 1, &w, TARRY__JOURNAL_REAL, 1));
    memcpy(w.word, &nan, sizeof nan);
    assert_true(
        read_as(TARRY__JOURNAL_UNKNOWN, 1, &w, TARRY__JOURNAL_UNKNOWN, 1));
    w = (words){{5, 6, 7}};
    assert_false(read_as(TARRY__JOURNAL_COUNT, 3, &w, TARRY__JOURNAL_COUNT, 2));
    w = (words){{5, 6, 7}};
    assert_true(read_as(TARRY__JOURNAL_COUNT, 2, &w, TARRY__JOURNAL_COUNT, 3));
    assert_true(w.word[0] == 5 && w.word[1] == 6 && w.word[2] == 0);
}

/* Not just of somebody: of the process that has it open. */
static void who_has_it_open_is_told(void **state)
{
    (void)state;
    int ready[2], over[2], status;
    char byte, wanted[60];
    tarry__journal j;
    taken t;
    write_all("", 0);
    assert_int_equal(pipe(ready) + pipe(over), 0);
    const pid_t child = fork();
    if (child == 0) {
        const bool ok = open_journal(&j, &t) == TARRY_OK &&
                        write(ready[1], "", 1) == 1 &&
                        read(over[0], &byte, 1) == 1;
        _exit(!ok);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    tarry_error error = {""};
    j = journal_of(&t, 7);
    assert_int_equal(tarry__journal_open(&j, &error), TARRY_BAD_ARGUMENT);
    snprintf(wanted, sizeof wanted, "in process %jd,", (intmax_t)child);
    assert_non_null(strstr(error.text, wanted));
    assert_int_equal(write(over[1], "", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(open_journal(&j, &t), TARRY_OK);
    tarry__journal_close(&j);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(over[i]);
    }
}

/* A limit on the size of files stands for a full disk. */
static void a_journal_that_cannot_be_written_says_so(void **state)
{
    (void)state;
    const answer a = answer_of(1, 0);
    struct rlimit old, little;
    tarry_error error = {""};
    tarry__journal j;
    taken t;
    write_all("", 0);
    assert_int_equal(open_journal(&j, &t), TARRY_OK);
    assert_int_equal(tarry__journal_add(&j, 1, 0, &a, NULL), TARRY_OK);
    assert_false(j.failed);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    little = (struct rlimit){10, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    const tarry_status status = tarry__journal_add(&j, 1, 1, &a, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, "cannot write: File too large"));
    assert_true(j.failed);
    const answer next = answer_of(1, 2);
    assert_int_equal(tarry__journal_add(&j, 1, 2, &next, NULL), TARRY_OK);
    assert_true(j.failed); /* it lacks one all the same */
    tarry__journal_close(&j);
    assert_int_equal(open_journal(&j, &t), TARRY_OK);
    assert_int_equal(t.taken, 2);
    tarry__journal_close(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_cut_off_is_not_obeyed),
        cmocka_unit_test(a_changed_byte_costs_its_line_at_most),
        cmocka_unit_test(a_trial_said_twice_is_one_trial),
        cmocka_unit_test(trials_of_another_key_stay_in_the_file),
        cmocka_unit_test(a_file_that_is_no_journal_is_refused_and_left_alone),
        cmocka_unit_test(numbers_of_another_kind_are_damage),
        cmocka_unit_test(who_has_it_open_is_told),
        cmocka_unit_test(a_journal_that_cannot_be_written_says_so),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
