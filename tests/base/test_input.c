/* What never begins and what never ends is read all the same. */
#include "instead.h"
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"
#include "base/input.h"
#include "base/inside.h"

static bool is_endless; /* reading gives as much as is wanted, at once */

SHARED ssize_t read(int fd, void *bytes, size_t size)
{
    return is_endless
               ? (ssize_t)size
               : REAL(ssize_t(*)(int, void *, size_t), "read")(fd, bytes, size);
}

static void check_reads(const char *path, const char *text)
{
    tarry_error error = {""};
    char *bytes;
    size_t size;
    if (tarry__input_read(path, &bytes, &size, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    assert_int_equal(size, strlen(text));
    assert_string_equal(bytes, text);
    tarry__base_free(bytes);
}

static void write_to(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void files_are_read_whole_and_followed_by_a_zero(void **state)
{
    (void)state;
    write_to("a", "");
    check_reads("a", "");
    write_to("a", "2.385\n");
    check_reads("a", "2.385\n");
    check_reads("/dev/null", "");
    unlink("a");
}

static void folders_and_what_is_missing_are_named(void **state)
{
    (void)state;
    tarry_error error;
    char *bytes;
    size_t size;
    assert_int_equal(tarry__input_read(folder, &bytes, &size, &error),
                     TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, folder));
    assert_non_null(strstr(error.text, strerror(EISDIR)));
    assert_int_equal(tarry__input_read("a", &bytes, &size, &error),
                     TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, strerror(ENOENT)));
    assert_null(bytes);
    assert_null(tarry__input_stream(folder));
    assert_int_equal(errno, EISDIR);
}

static void devices_that_never_end_are_refused(void **state)
{
    (void)state;
    tarry_error error;
    char *bytes;
    size_t size;
    assert_int_equal(tarry__input_read("/dev/zero", &bytes, &size, &error),
                     TARRY_BAD_INPUT);
    assert_string_equal(error.text,
                        "/dev/zero: more than 1 MB, and not a file");
    tarry__base_free(bytes);
}

static void pipes_that_never_end_are_refused(void **state)
{
    (void)state;
    tarry_error error;
    char *bytes;
    size_t size;
    int ends[2];
    if (BRIEF)
        skip(); /* it takes a while */
    assert_int_equal(pipe(ends), 0);
    is_endless = true;
    const tarry_status status =
        tarry__input_take(ends[0], "it", &bytes, &size, &error);
    is_endless = false;
    assert_int_equal(status, TARRY_BAD_INPUT);
    assert_string_equal(error.text, "it: more than 1024 MB, and not a file");
    tarry__base_free(bytes);
    close(ends[0]);
    close(ends[1]);
}

static void a_pipe_without_a_writer_is_empty(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    check_reads("pipe", "");
    unlink("pipe");
}

static void *write_late(void *path)
{
    usleep(300000);
    const int fd = open(path, O_WRONLY);
    usleep(100000);
    assert_int_equal(write(fd, "2.3", 3), 3);
    usleep(100000);
    assert_int_equal(write(fd, "85", 2), 2);
    close(fd);
    return NULL;
}

static void a_writer_may_come_later(void **state)
{
    (void)state;
    pthread_t writer;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_late, "pipe"), 0);
    check_reads("pipe", "2.385");
    pthread_join(writer, NULL);
    unlink("pipe");
}

/* As a shell's <(printf 2.385) is: the writer is gone before it is opened. */
static void what_a_writer_left_is_read(void **state)
{
    (void)state;
    char path[40];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "2.385", 5), 5);
    close(ends[1]);
    sprintf(path, "/dev/fd/%d", ends[0]);
    check_reads(path, "2.385");
    close(ends[0]);
}

/* Around the sizes at which room is made, from files and from pipes. */
static void every_size_is_read_whole(void **state)
{
    (void)state;
    static const size_t sizes[] = {1,     4095,  4096,   65535,
                                   65536, 65537, 131072, 200000};
    static char text[200001];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(text, 'x', sizes[i]);
        text[sizes[i]] = '\0';
        text[sizes[i] - 1] = 'y';
        write_to("a", text);
        check_reads("a", text);
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        if (fcntl(ends[1], F_SETPIPE_SZ, 1 << 18) >= (int)sizes[i]) {
            char *bytes;
            size_t size;
            assert_int_equal(write(ends[1], text, sizes[i]), sizes[i]);
            close(ends[1]);
            assert_int_equal(
                tarry__input_take(ends[0], "it", &bytes, &size, NULL),
                TARRY_OK);
            assert_int_equal(size, sizes[i]);
            assert_string_equal(bytes, text);
            tarry__base_free(bytes);
        } else {
            close(ends[1]);
        }
        close(ends[0]);
    }
    unlink("a");
}

/* Whatever the outcome. */
static void no_descriptor_stays_open(void **state)
{
    (void)state;
    const char *const paths[] = {"a", "missing", folder, "/dev/null",
                                 "/dev/zero"};
    const size_t before = open_descriptors();
    write_to("a", "2.385");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (uint64_t k = 0; k < 3; k++) {
            char *bytes;
            size_t size;
            tarry__base_fail_alloc(k);
            tarry__input_read(paths[i], &bytes, &size, NULL);
            tarry__base_fail_alloc(0);
            tarry__base_free(bytes);
            FILE *file = tarry__input_stream(paths[i]);
            if (file != NULL)
                fclose(file);
        }
    assert_int_equal(open_descriptors(), before);
    unlink("a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_whole_and_followed_by_a_zero),
        cmocka_unit_test(folders_and_what_is_missing_are_named),
        cmocka_unit_test(devices_that_never_end_are_refused),
        cmocka_unit_test(pipes_that_never_end_are_refused),
        cmocka_unit_test(a_pipe_without_a_writer_is_empty),
        cmocka_unit_test(a_writer_may_come_later),
        cmocka_unit_test(what_a_writer_left_is_read),
        cmocka_unit_test(every_size_is_read_whole),
        cmocka_unit_test(no_descriptor_stays_open),
    };
    return cmocka_run_group_tests_name("base/input", tests, enter_folder,
                                       leave_folder);
}
