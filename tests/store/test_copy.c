/* test_copy.c - a copy that is not the original is refused, and what lay in its
 * place before does not matter.  Faults and lost power are those of
 * test_faults.c and test_power.c. */
#include "instead.h"
#include "check.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "experiment.h"
#include "store/copy.h"

enum { N_ARMS = 2, MOST_CHOICES = 5 };

static char folder[] = "/tmp/tarry-copy-XXXXXX";

static const char *in_folder(const char *name)
{
    static char paths[8][100];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* ---- somebody else's files in place of the copy ---------------------------*/

static const char *put_there; /* a store; NULL: nobody interferes */
static bool was_put;

static bool ends(const char *text, const char *with)
{
    const size_t length = strlen(text), tail = strlen(with);
    return length >= tail && strcmp(text + length - tail, with) == 0;
}

/* SQLite removes its log when it has closed what was copied; nothing but the
 * check comes after that. */
SHARED int unlink(const char *path)
{
    const int done = REAL(int (*)(const char *), "unlink")(path);
    const int code = errno;
    if (done == 0 && put_there != NULL && ends(path, "-copy-wal")) {
        char from[120];
        snprintf(from, sizeof from, "%s-lock", put_there);
        was_put = rename(put_there, in_folder("to.db-copy")) == 0 &&
                  rename(from, in_folder("to.db-copy-lock")) == 0;
        put_there = NULL;
    }
    errno = code;
    return done;
}

/* ---- no room for the copy itself ------------------------------------------*/

static size_t writes_left = SIZE_MAX; /* into the file, its log aside */

static bool has_room(int fd)
{
    char link[40], path[200] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof path - 1) < 0 || !ends(path, "-copy"))
        return true;
    errno = ENOSPC;
    return writes_left > 0 && writes_left-- > 0;
}

#define WRITE_AT(name)                                                         \
    SHARED ssize_t name(int fd, const void *bytes, size_t size, off_t at)      \
    {                                                                          \
        return has_room(fd)                                                    \
                   ? REAL(ssize_t(*)(int, const void *, size_t, off_t),        \
                          #name)(fd, bytes, size, at)                          \
                   : -1;                                                       \
    }
WRITE_AT(pwrite)
WRITE_AT(pwrite64)

/* Nobody waits for the disk. */
SHARED int fsync(int fd)
{
    (void)fd;
    return 0;
}

SHARED int fdatasync(int fd)
{
    (void)fd;
    return 0;
}

/* ---- stores ---------------------------------------------------------------*/

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static void remove_store(const char *name)
{
    static const char *const tails[] = {"", "-lock", "-wal", "-shm"};
    char path[120];
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        snprintf(path, sizeof path, "%s%s", in_folder(name), tails[i]);
        unlink(path);
    }
}

static int remove_folder(void **state)
{
    (void)state;
    remove_store("from.db");
    remove_store("other.db");
    remove_store("to.db");
    return rmdir(folder); /* nothing else was left behind */
}

/* So many experiments, with so many choices each, the last of an arm. */
static void make_store(const char *name, int experiments, uint64_t choices,
                       uint64_t last_arm)
{
    static const double feature = 1;
    static const char *const names[] = {"a", "b", "c"};
    tarry__store_event arms[N_ARMS] = {0}, choice[MOST_CHOICES];
    tarry__store *s;
    tarry_error error = {""};
    remove_store(name);
    if (tarry__store_open(in_folder(name), true, &s, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    for (size_t k = 0; k < N_ARMS; k++)
        arms[k] = (tarry__store_event){
            .kind = TARRY__STORE_ADMIT, .arm = k, .features = &feature};
    for (int i = 0; i < experiments; i++) {
        tarry__store_experiment e =
            small_experiment(names[i], "uniform", N_ARMS, 1);
        char prefix[8] = "";
        uint64_t number;
        if (i > 0)
            snprintf(prefix, sizeof prefix, "%s:", names[i]);
        e.prefix = prefix;
        assert_int_equal(tarry__store_add(s, &e, arms, &number, &error),
                         TARRY_OK);
        for (uint64_t t = 1; t <= choices; t++)
            choice[t - 1] =
                (tarry__store_event){.kind = TARRY__STORE_CHOOSE,
                                     .round = t,
                                     .arm = t == choices ? last_arm : 0,
                                     .at = (int64_t)t};
        const tarry__store_batch batch = {number, choice, choices, 0};
        assert_int_equal(tarry__store_append(s, &batch, 1, &error), TARRY_OK);
    }
    tarry__store_close(s);
}

static tarry_status copy(tarry_error *error)
{
    uint64_t experiments, events;
    return tarry__store_copy(in_folder("from.db"), in_folder("to.db"),
                             &experiments, &events, error);
}

/* ---- tests ----------------------------------------------------------------*/

static void a_copy_that_is_not_the_same_is_refused(void **state)
{
    static const struct {
        int experiments;
        uint64_t choices, last_arm;
        bool is_same;
    } others[] = {{2, 3, 1, true},  {1, 3, 1, false}, {3, 3, 1, false},
                  {2, 2, 0, false}, {2, 4, 1, false}, {2, 3, 0, false}};
    (void)state;
    make_store("from.db", 2, 3, 1);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        tarry_error error = {""};
        make_store("other.db", others[i].experiments, others[i].choices,
                   others[i].last_arm);
        was_put = false;
        put_there = in_folder("other.db");
        const tarry_status status = copy(&error);
        assert_true(was_put);
        assert_int_equal(status,
                         others[i].is_same ? TARRY_OK : TARRY_BAD_STATE);
        assert_string_equal(
            error.text, others[i].is_same ? "" : "the copy is not the same");
        assert_true((access(in_folder("to.db"), F_OK) == 0) ==
                    others[i].is_same);
        remove_store("to.db");
    }
}

/* Of a store that is gone some files may have stayed; they are not the copy's.
 */
static void files_of_a_store_that_is_gone_do_not_matter(void **state)
{
    static const char *const left[] = {"-lock", "-wal", "-shm"};
    (void)state;
    make_store("from.db", 1, 3, 0);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        char from[120], to[120];
        tarry_error error = {""};
        tarry__store *s;
        make_store("other.db", 2, 5, 1);
        snprintf(from, sizeof from, "%s%s", in_folder("other.db"),
                 i == 0 ? left[i] : "");
        snprintf(to, sizeof to, "%s%s", in_folder("to.db"), left[i]);
        assert_int_equal(rename(from, to), 0);
        if (copy(&error) != TARRY_OK ||
            tarry__store_open(in_folder("to.db"), false, &s, &error) !=
                TARRY_OK)
            fail_msg("%s: %s", left[i], error.text);
        assert_int_equal(tarry__store_count(s), 1);
        tarry__store_close(s);
        remove_store("to.db");
    }
}

/* It stays in the log beside the file then, which must not be left behind when
 * the file moves to its place. */
static void a_copy_that_is_not_whole_is_not_put_in_place(void **state)
{
    tarry_status status = TARRY_IO_ERROR;
    size_t room = 0;
    (void)state;
    make_store("from.db", 2, 3, 1);
    for (; status != TARRY_OK && room < 1000; room++) {
        tarry_error error = {""};
        tarry__store *s;
        writes_left = room;
        status = copy(&error);
        writes_left = SIZE_MAX;
        if (status != TARRY_OK) {
            assert_int_not_equal(access(in_folder("to.db"), F_OK), 0);
            continue;
        }
        if (tarry__store_open(in_folder("to.db"), false, &s, &error) !=
            TARRY_OK)
            fail_msg("room for %zu: %s", room, error.text);
        assert_int_equal(tarry__store_count(s), 2);
        assert_int_equal(tarry__store_events(s, 2, NULL), N_ARMS + 3);
        tarry__store_close(s);
    }
    assert_true(status == TARRY_OK && room > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_copy_that_is_not_the_same_is_refused,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(
            files_of_a_store_that_is_gone_do_not_matter, make_folder,
            remove_folder),
        cmocka_unit_test_setup_teardown(
            a_copy_that_is_not_whole_is_not_put_in_place, make_folder,
            remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
