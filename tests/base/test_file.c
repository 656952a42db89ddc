/* Files appear whole or not at all, and nobody's link is followed. */
#include "instead.h"
#include "check.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/base.h"
#include "base/file.h"
#include "base/inside.h"

/* The folder that was synced last. */
static struct stat last_synced;

int fsync(int fd)
{
    struct stat what;
    assert_int_equal(fstat(fd, &what), 0);
    if (S_ISDIR(what.st_mode))
        last_synced = what;
    return fdatasync(fd);
}

/* How many names of new files somebody else guesses, and puts a link there. */
static int guesses_left;

static int open_guessed(const char *which, const char *path, int flags,
                        mode_t mode)
{
    if ((flags & O_CREAT) != 0 && guesses_left > 0 && guesses_left--)
        assert_int_equal(symlink("victim", path), 0);
    return open_really(which, path, flags, mode);
}
OPEN_BY(open_guessed)

static int close_error; /* of every file that is closed; 0: none */

SHARED int close(int fd)
{
    struct stat what;
    const bool is_file = fstat(fd, &what) == 0 && S_ISREG(what.st_mode);
    const int answer = REAL(int (*)(int), "close")(fd);
    if (!is_file || close_error == 0)
        return answer;
    errno = close_error;
    return -1;
}

static size_t files_here(void)
{
    size_t count = 0;
    DIR *here = opendir(".");
    assert_non_null(here);
    while (readdir(here) != NULL)
        count++;
    closedir(here);
    return count - 2;
}

static void check_holds(const char *path, const char *text)
{
    char bytes[100] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    bytes[fread(bytes, 1, sizeof bytes - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(bytes, text);
}

static void save(const char *path, const char *text)
{
    tarry_error error = {""};
    if (tarry__file_save(path, text, strlen(text), &error) != TARRY_OK)
        fail_msg("%s", error.text);
}

static mode_t mode_of(const char *path)
{
    struct stat what;
    assert_int_equal(lstat(path, &what), 0);
    return what.st_mode;
}

static void a_new_file_has_the_mode_that_the_umask_says(void **state)
{
    (void)state;
    const mode_t old = umask(027);
    save("a", "2.385");
    umask(old);
    assert_int_equal(mode_of("a") & 07777, 0640);
    check_holds("a", "2.385");
    assert_int_equal(files_here(), 1);
    unlink("a");
}

static void a_file_that_is_replaced_keeps_its_mode(void **state)
{
    (void)state;
    static const mode_t modes[] = {0600, 0640, 0666, 0400, 0755};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        save("a", "old");
        assert_int_equal(chmod("a", modes[i]), 0);
        save("a", "new");
        assert_int_equal(mode_of("a") & 07777, modes[i]);
        assert_int_equal(chmod("a", 0600), 0);
        check_holds("a", "new");
        unlink("a");
    }
}

static void what_is_not_ended_well_leaves_the_old_file(void **state)
{
    (void)state;
    tarry__file f;
    save("a", "old");
    assert_int_equal(tarry__file_begin(&f, "a", NULL), TARRY_OK);
    fputs("new", f.stream);
    fflush(f.stream);
    check_holds("a", "old");
    assert_int_equal(tarry__file_end(&f, TARRY_BAD_INPUT, NULL),
                     TARRY_BAD_INPUT);
    check_holds("a", "old");
    assert_int_equal(files_here(), 1);
    unlink("a");
}

/* Links at every name that a writer might guess. */
static void links_beside_the_file_are_not_followed(void **state)
{
    (void)state;
    static const char *const guesses[] = {"a.new", "a.tmp", "a~", ".a.swp"};
    save("victim", "precious");
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(symlink("victim", guesses[i]), 0);
    save("a", "2.385");
    check_holds("victim", "precious");
    for (size_t i = 0; i < 4; i++)
        unlink(guesses[i]);
    unlink("victim");
    unlink("a");
}

static void names_that_somebody_guesses_are_not_taken(void **state)
{
    (void)state;
    save("victim", "precious");
    guesses_left = 3;
    save("a", "2.385");
    assert_int_equal(guesses_left, 0);
    check_holds("victim", "precious");
    check_holds("a", "2.385");
    assert_true(S_ISREG(mode_of("a")));
    assert_int_equal(files_here(), 2 + 3);
    assert_int_equal(system("rm .tarry-* a victim"), 0);
}

static void a_file_that_cannot_be_closed_is_not_put_in_place(void **state)
{
    (void)state;
    save("a", "old");
    close_error = EIO;
    const tarry_status status = tarry__file_save("a", "new", 3, NULL);
    close_error = EINTR; /* it is closed all the same */
    save("b", "new");
    close_error = 0;
    assert_int_equal(status, TARRY_IO_ERROR);
    check_holds("a", "old");
    check_holds("b", "new");
    assert_int_equal(files_here(), 2);
    unlink("a");
    unlink("b");
}

static void a_link_at_the_path_stays_a_link(void **state)
{
    (void)state;
    save("real", "old");
    assert_int_equal(symlink("real", "link"), 0);
    save("link", "new");
    assert_true(S_ISLNK(mode_of("link")));
    check_holds("real", "new");
    unlink("link");
    unlink("real");
}

static void check_refused(const char *path, const char *why)
{
    tarry_error error = {""};
    assert_int_equal(tarry__file_save(path, "x", 1, &error), TARRY_IO_ERROR);
    assert_true(strstr(error.text, path) == error.text);
    assert_non_null(strstr(error.text, why));
    assert_int_equal(tarry__file_check(path, NULL), TARRY_IO_ERROR);
}

static void folders_and_what_is_missing_are_called_so(void **state)
{
    (void)state;
    assert_int_equal(mkdir("d", 0700), 0);
    check_refused("d", "Is a directory");
    check_refused("missing/a", "No such file");
    rmdir("d");
}

static void a_check_leaves_nothing(void **state)
{
    (void)state;
    assert_int_equal(tarry__file_check("a", NULL), TARRY_OK);
    assert_int_equal(files_here(), 0);
}

static void what_is_no_regular_file_is_written_to(void **state)
{
    (void)state;
    char text[6] = "";
    int ends[2];
    char path[64];
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    save(path, "2.385");
    assert_int_equal(read(ends[0], text, 5), 5);
    assert_string_equal(text, "2.385");
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(tarry__file_save("/dev/full", "x", 1, NULL),
                     TARRY_IO_ERROR);
}

/* A limit on the size of files stands for a full disk. */
static void a_full_disk_leaves_the_old_file(void **state)
{
    (void)state;
    static char many[100000];
    struct rlimit old, little = {1000, 1000};
    save("a", "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    little.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    tarry_error error = {""};
    const tarry_status status =
        tarry__file_save("a", many, sizeof many, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, "File too large"));
    check_holds("a", "old");
    assert_int_equal(files_here(), 1);
    unlink("a");
}

/* Two writers at once: the file is always one of theirs, whole. */
static void writers_at_once_leave_a_whole_file(void **state)
{
    (void)state;
    enum { WRITERS = 4, TIMES = 50, SIZE = 20000 };
    static char bytes[SIZE];
    for (int w = 0; w < WRITERS; w++)
        if (fork() == 0) {
            memset(bytes, 'a' + w, SIZE);
            for (int i = 0; i < TIMES; i++)
                if (tarry__file_save("a", bytes, SIZE, NULL) != TARRY_OK)
                    _exit(1);
            _exit(0);
        }
    for (int w = 0, code; w < WRITERS; w++) {
        assert_true(wait(&code) > 0);
        assert_int_equal(code, 0);
    }
    FILE *file = fopen("a", "r");
    assert_int_equal(fread(bytes, 1, SIZE, file), SIZE);
    fclose(file);
    for (size_t i = 1; i < SIZE; i++)
        assert_int_equal(bytes[i], bytes[0]);
    assert_int_equal(files_here(), 1);
    unlink("a");
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    tarry_status status = TARRY_NO_MEMORY;
    uint64_t k = 0;
    save("a", "old");
    while (status != TARRY_OK && k < 100) {
        tarry__base_fail_alloc(++k);
        status = tarry__file_save("a", "new", 3, NULL);
        if (status == TARRY_NO_MEMORY)
            check_holds("a", "old");
    }
    tarry__base_fail_alloc(0);
    assert_true(k > 3 && k < 100);
    check_holds("a", "new");
    assert_int_equal(files_here(), 1);
    unlink("a");
}

/* In another process: one that has not written this path before. */
static void in_a_child(void (*work)(void))
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        work();
        _exit(0); /* nothing is tidied up */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void begin_and_die(void)
{
    tarry__file f;
    if (tarry__file_begin(&f, "a", NULL) != TARRY_OK)
        _exit(1);
}

static void save_a(void)
{
    if (tarry__file_save("a", "new", 3, NULL) != TARRY_OK)
        _exit(1);
}

/* As if they had been written long ago. */
static void make_old(void)
{
    const struct timespec past[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    DIR *here = opendir(".");
    assert_non_null(here);
    for (const struct dirent *e; (e = readdir(here)) != NULL;)
        if (e->d_name[0] == '.' && e->d_name[1] == 't')
            assert_int_equal(utimensat(AT_FDCWD, e->d_name, past, 0), 0);
    closedir(here);
}

/* What is young may be of somebody who has not locked it yet, and what is
 * locked is at work. */
static void what_the_dead_have_left_is_removed(void **state)
{
    (void)state;
    tarry__file living;
    in_a_child(begin_and_die);
    assert_int_equal(files_here(), 1);
    in_a_child(save_a);
    assert_int_equal(files_here(), 2);
    assert_int_equal(tarry__file_begin(&living, "a", NULL), TARRY_OK);
    assert_int_equal(files_here(), 3);
    assert_int_equal(tarry__file_check("b", NULL), TARRY_OK);
    make_old(); /* and "a" is not what was written last */
    in_a_child(save_a);
    assert_int_equal(files_here(), 2);
    assert_int_equal(tarry__file_end(&living, TARRY_OK, NULL), TARRY_OK);
    check_holds("a", "");
    assert_int_equal(files_here(), 1);
    unlink("a");
}

static void save_b(void)
{
    if (tarry__file_save("b", "new", 3, NULL) != TARRY_OK)
        _exit(1);
}

/* Who writes another file removes nothing of those who wrote this one. */
static void what_was_for_another_file_stays(void **state)
{
    (void)state;
    in_a_child(begin_and_die); /* for "a" */
    assert_int_equal(tarry__file_check("c", NULL), TARRY_OK);
    make_old();
    in_a_child(save_b);
    assert_int_equal(files_here(), 2);
    in_a_child(save_a);
    assert_int_equal(files_here(), 2);
    unlink("a");
    unlink("b");
}

static void write_word(const void *word, FILE *file)
{
    fputs(word, file);
}

static void files_are_put_into_folders_that_need_not_exist(void **state)
{
    (void)state;
    tarry_error error = {""};
    char many[4200];
    for (int i = 0; i < 2; i++) {
        const char *word = i == 0 ? "first" : "second";
        assert_int_equal(tarry__file_put("d", "f", write_word, word, NULL),
                         TARRY_OK);
        check_holds("d/f", word);
    }
    memset(many, 'x', sizeof many);
    many[4093] = '\0'; /* with d/ and its end it would just fit */
    assert_int_equal(tarry__file_put("d", many, write_word, "x", &error),
                     TARRY_IO_ERROR);
    memset(many, 'x', sizeof many);
    for (size_t length = 4094; length < 4100; length++) {
        many[length] = '\0';
        assert_int_equal(tarry__file_put("d", many, write_word, "x", &error),
                         TARRY_IO_ERROR);
        assert_string_equal(error.text, "d: name too long");
        many[length] = 'x';
    }
    memset(many, '/', 4097); /* many slashes are one: cut, it would be d/f */
    strcpy(many + 4092, "fg");
    assert_int_equal(tarry__file_put("d", many, write_word, "x", &error),
                     TARRY_IO_ERROR);
    check_holds("d/f", "second");
    assert_int_equal(tarry__file_put("d/f", "g", write_word, "x", &error),
                     TARRY_IO_ERROR);
    assert_int_equal(tarry__file_put("no/d", "f", write_word, "x", &error),
                     TARRY_IO_ERROR);
    assert_string_equal(error.text, "no/d: No such file or directory");
    unlink("d/f");
    rmdir("d");
}

/* Whatever the outcome. */
static void no_descriptor_stays_open(void **state)
{
    (void)state;
    tarry__file f;
    const size_t before = open_descriptors();
    save("a", "new");
    assert_int_equal(tarry__file_check("a", NULL), TARRY_OK);
    assert_int_equal(tarry__file_check("/dev/null", NULL), TARRY_OK);
    assert_int_equal(tarry__file_save("/dev/full", "x", 1, NULL),
                     TARRY_IO_ERROR);
    assert_int_equal(tarry__file_save("/", "x", 1, NULL), TARRY_IO_ERROR);
    assert_int_equal(tarry__file_begin(&f, "a", NULL), TARRY_OK);
    tarry__file_end(&f, TARRY_CANCELLED, NULL);
    for (uint64_t k = 1; k < 10; k++) {
        tarry__base_fail_alloc(k);
        tarry__file_save("a", "new", 3, NULL);
    }
    tarry__base_fail_alloc(0);
    assert_int_equal(open_descriptors(), before);
    unlink("a");
}

/* Root may write everywhere: then there is nothing to see. */
static void what_may_not_be_written_is_told_by_a_check(void **state)
{
    (void)state;
    tarry_error error = {""};
    assert_int_equal(mkfifo("pipe", 0400), 0);
    if (access("pipe", W_OK) != 0) {
        assert_int_equal(tarry__file_check("pipe", &error), TARRY_IO_ERROR);
        assert_string_equal(error.text, "pipe: Permission denied");
    }
    unlink("pipe");
}

/* A new name is on the disk when its folder is, however the path names it. */
static void the_folder_of_a_new_file_is_synced(void **state)
{
    (void)state;
    char absolute[4200];
    assert_int_equal(mkdir("sub", 0700), 0);
    assert_non_null(getcwd(absolute, 4096));
    strcat(absolute, "/sub/a");
    const char *const paths[][2] = {{"a", "."},        {"./a", "."},
                                    {"sub/../a", "."}, {"sub/a", "sub"},
                                    {"sub//a", "sub"}, {absolute, "sub"}};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (int again = 0; again < 2; again++) {
            struct stat folder;
            last_synced = (struct stat){0};
            save(paths[i][0], "2.385");
            assert_int_equal(stat(paths[i][1], &folder), 0);
            assert_int_equal(last_synced.st_ino, folder.st_ino);
            assert_int_equal(last_synced.st_dev, folder.st_dev);
            if (again)
                unlink(paths[i][0]);
        }
    rmdir("sub");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_file_has_the_mode_that_the_umask_says),
        cmocka_unit_test(a_file_that_is_replaced_keeps_its_mode),
        cmocka_unit_test(what_is_not_ended_well_leaves_the_old_file),
        cmocka_unit_test(links_beside_the_file_are_not_followed),
        cmocka_unit_test(names_that_somebody_guesses_are_not_taken),
        cmocka_unit_test(a_file_that_cannot_be_closed_is_not_put_in_place),
        cmocka_unit_test(a_link_at_the_path_stays_a_link),
        cmocka_unit_test(folders_and_what_is_missing_are_called_so),
        cmocka_unit_test(a_check_leaves_nothing),
        cmocka_unit_test(what_is_no_regular_file_is_written_to),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(writers_at_once_leave_a_whole_file),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(what_the_dead_have_left_is_removed),
        cmocka_unit_test(what_was_for_another_file_stays),
        cmocka_unit_test(files_are_put_into_folders_that_need_not_exist),
        cmocka_unit_test(no_descriptor_stays_open),
        cmocka_unit_test(the_folder_of_a_new_file_is_synced),
        cmocka_unit_test(what_may_not_be_written_is_told_by_a_check),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
