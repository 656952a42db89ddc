/* The door: which files can be opened, what happens without memory, and that
 * no bytes at all bring the reader down. */
#include "scratch.h"
#include "base/base.h"
#include "tarry/arms.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>

typedef struct {
    const char *bytes;
    size_t size;
} sample;

#define SAMPLE(text)                                                           \
    {                                                                          \
        text, sizeof text - 1                                                  \
    }

/* 'f8' data starts at a multiple of 8, so it is mapped. */
static const sample samples[] = {
    SAMPLE("1.5,-2,3e4\n0.25,7,1e-30\n-1,2.385,.5\n"),
    SAMPLE("\xEF\xBB\xBFname,\"x, y\",z\r\nfirst,1,2\r\n\"the \"\"2nd\"\"\",3,"
           "4.123456789012345678901\r\n\r\n"),
    SAMPLE("\x93NUMPY\1\0\x46\0{'descr': '<f8', 'fortran_order': False, "
           "'shape': (2, 1), }          \n"
           "\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\0\xc0"),
    SAMPLE("\x93NUMPY\3\0\x46\0\0\0{'descr': '<f4', 'fortran_order': False, "
           "'shape': (1, 2), }          \n"
           "\0\0\xc0\x3f\0\0\0\xc0"),
};
enum { N_SAMPLES = sizeof samples / sizeof *samples };

/* ---- opening ------------------------------------------------------------- */

static void fails_to_open(const char *path, const char *says)
{
    tarry_arms *arms = (tarry_arms *)path;
    tarry_error error = {""};
    assert_int_equal(tarry_arms_read(path, &arms, &error), TARRY_IO_ERROR);
    assert_null(arms);
    assert_string_equal(error.text, says);
    assert_int_equal(tarry_arms_read(path, &arms, NULL), TARRY_IO_ERROR);
}

static void what_cannot_be_read_is_an_io_error(void **unused)
{
    (void)unused;
    fails_to_open("/no/such/file", "/no/such/file: No such file or directory");
    fails_to_open("/tmp", "/tmp: Is a directory");
    fails_to_open("/proc/self/mem", "/proc/self/mem: Input/output error");
    fails_to_open("two\nlines", "two?lines: No such file or directory");
}

static void a_long_file_name_leaves_room_for_the_reason(void **unused)
{
    (void)unused;
    char path[2000];
    memset(path, 'p', sizeof path);
    strcpy(path + sizeof path - 9, "/end.csv");
    tarry_arms *arms;
    tarry_error error;
    assert_int_equal(tarry_arms_read(path, &arms, &error), TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, "/end.csv: File name too long"));
    assert_memory_equal(error.text, "...ppp", 6);
}

/* A name of as many letters as there is room for is whole, of longer ones the
 * end is there. */
static void file_names_are_cut_at_one_length_only(void **unused)
{
    (void)unused;
    char path[400] = "/";
    size_t room = 0;
    for (size_t length = 1; length < 300; length++) {
        tarry_arms *arms;
        tarry_error error;
        path[length] = (char)('a' + length % 26);
        path[length + 1] = '\0';
        assert_int_equal(tarry_arms_read(path, &arms, &error), TARRY_IO_ERROR);
        const size_t shown = (size_t)(strchr(error.text, ':') - error.text);
        const bool is_whole = shown == length + 1;
        if (is_whole) {
            assert_memory_equal(error.text, path, shown);
            assert_int_equal(room, length - 1); /* none before was cut */
            room = length;
        } else {
            assert_int_equal(shown, room + 1);
            assert_memory_equal(error.text, "...", 3);
            assert_memory_equal(error.text + 3, path + length + 4 - shown,
                                shown - 3);
        }
    }
    assert_true(room > 30 && room < 299);
}

static void missing_arguments_are_refused(void **unused)
{
    (void)unused;
    tarry_arms *arms = (tarry_arms *)samples;
    assert_int_equal(tarry_arms_read(NULL, &arms, NULL), TARRY_BAD_ARGUMENT);
    assert_null(arms);
    assert_int_equal(tarry_arms_read("x", NULL, NULL), TARRY_BAD_ARGUMENT);
    tarry_arms_free(NULL);
}

/* Runs tarry_arms_read("-") with the scratch file as standard input. */
static tarry_status read_stdin(int start, tarry_arms **arms, tarry_error *error)
{
    const int saved = dup(STDIN_FILENO);
    const int fd = open(scratch_path, O_RDONLY);
    assert_int_equal(lseek(fd, start, SEEK_SET), start);
    dup2(fd, STDIN_FILENO);
    close(fd);
    const tarry_status status = tarry_arms_read("-", arms, error);
    dup2(saved, STDIN_FILENO);
    close(saved);
    return status;
}

static void a_dash_reads_standard_input_from_where_it_is(void **unused)
{
    (void)unused;
    scratch_write("words to skip\n1,2\n3,4", 21);
    tarry_arms *arms;
    assert_int_equal(read_stdin(14, &arms, NULL), TARRY_OK);
    assert_int_equal(arms->n_arms, 2);
    assert_true(arms->data[3] == 4);
    tarry_arms_free(arms);
}

static void errors_in_standard_input_say_so(void **unused)
{
    (void)unused;
    scratch_write("1,2\n3,x", 7);
    tarry_arms *arms;
    tarry_error error;
    assert_int_equal(read_stdin(0, &arms, &error), TARRY_BAD_INPUT);
    assert_string_equal(error.text, "<stdin>:2:2: not a number: 'x'");
}

/* A pipe gives fewer bytes than asked for, and more than the first room. */
static void a_pipe_is_read_to_its_end(void **unused)
{
    (void)unused;
    enum { ARMS = 50000 };
    char path[64];
    snprintf(path, sizeof path, "%s/pipe", scratch_folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    const pid_t writer = fork();
    if (writer == 0) {
        FILE *pipe = fopen(path, "w");
        for (int k = 0; k < ARMS; k++)
            fprintf(pipe, "arm%d,%d,%d.5\n", k, k, -k);
        fclose(pipe);
        _exit(0);
    }
    tarry_arms *arms;
    assert_int_equal(tarry_arms_read(path, &arms, NULL), TARRY_OK);
    unlink(path);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    assert_int_equal(arms->n_arms, ARMS);
    assert_int_equal(arms->dim, 2);
    assert_string_equal(arms->names[ARMS - 1], "arm49999");
    assert_true(arms->data[2 * ARMS - 1] == -49999.5);
    tarry_arms_free(arms);
}

static void npy_is_read_from_standard_input_too(void **unused)
{
    (void)unused;
    scratch_write(samples[2].bytes, samples[2].size);
    tarry_arms *arms;
    assert_int_equal(read_stdin(0, &arms, NULL), TARRY_OK);
    assert_int_equal(arms->n_arms, 2);
    assert_true(arms->data[0] == 1.5 && arms->data[1] == -2);
    tarry_arms_free(arms);
}

/* ---- without memory ------------------------------------------------------ */

typedef tarry_status read_function(tarry_arms **arms, tarry_error *error);

static tarry_status read_file(tarry_arms **arms, tarry_error *error)
{
    return tarry_arms_read(scratch_path, arms, error);
}

static tarry_status read_all_stdin(tarry_arms **arms, tarry_error *error)
{
    return read_stdin(0, arms, error);
}

/* Fails each allocation in turn until none is left to fail.  That nothing
 * leaks is for the sanitizer and valgrind to see. */
static void fails_cleanly(read_function *read, uint64_t fewest_allocations)
{
    for (uint64_t k = 1;; k++) {
        tarry_arms *arms = (tarry_arms *)samples;
        tarry_error error = {""};
        tarry__base_fail_alloc(k);
        const tarry_status status = read(&arms, &error);
        tarry__base_fail_alloc(0);
        if (status == TARRY_OK) {
            tarry_arms_free(arms);
            assert_true(k > fewest_allocations);
            return;
        }
        assert_int_equal(status, TARRY_NO_MEMORY);
        assert_null(arms);
        assert_non_null(strstr(error.text, "out of memory"));
    }
}

static void any_allocation_may_fail(void **unused)
{
    (void)unused;
    static const uint64_t fewest[N_SAMPLES] = {2, 4, 1, 2};
    for (size_t i = 0; i < N_SAMPLES; i++) {
        scratch_write(samples[i].bytes, samples[i].size);
        fails_cleanly(read_file, fewest[i]);
        fails_cleanly(read_all_stdin, fewest[i] + 1);
    }
}

static void any_growth_may_fail(void **unused)
{
    (void)unused;
    FILE *file = fopen(scratch_path, "w");
    for (int k = 0; k < 20000; k++)
        fprintf(file, "arm %d,%d\n", k, k);
    fclose(file);
    fails_cleanly(read_all_stdin, 15);
}

/* ---- any bytes ----------------------------------------------------------- */

/* One change somewhere: a byte replaced, dropped or doubled, or the rest cut
 * off.  Half of the new bytes are ones that mean something. */
static size_t mutate(char *bytes, size_t size, uint64_t *state)
{
    static const char special[] = "\n\r,\"\0 .eE+-09xn{}()':<f8\xff\x93";
    const size_t at = random_below(state, size);
    switch (random_below(state, 8)) {
    case 0:
        memmove(bytes + at, bytes + at + 1, size - at - 1);
        return size - 1;
    case 1:
        memmove(bytes + at + 1, bytes + at, size - at);
        return size + 1;
    case 2:
        return random_below(state, 4) == 0 ? at : size;
    case 3:
    case 4:
        bytes[at] = (char)random_bits(state);
        return size;
    default:
        bytes[at] = special[random_below(state, sizeof special)];
        return size;
    }
}

/* Whatever comes out must keep the promises of the header. */
static void check_promises(void)
{
    tarry_arms *arms = NULL;
    tarry_error error = {""};
    const tarry_status status = tarry_arms_read(scratch_path, &arms, &error);
    if (status != TARRY_OK) {
        assert_null(arms);
        assert_true(status == TARRY_BAD_INPUT || status == TARRY_NOT_FINITE);
        assert_memory_equal(error.text, scratch_path, strlen(scratch_path));
        assert_null(strpbrk(error.text, "\n\r"));
        return;
    }
    assert_true(arms->n_arms > 0 && arms->dim > 0);
    for (size_t i = 0; i < arms->n_arms * arms->dim; i++)
        assert_true(isfinite(arms->data[i]));
    for (size_t k = 0; arms->names != NULL && k < arms->n_arms; k++)
        assert_true(strlen(arms->names[k]) < 200);
    tarry_arms_free(arms);
}

static void no_bytes_bring_the_reader_down(void **unused)
{
    (void)unused;
    uint64_t state = 2385;
    for (int i = 0; i < 20000; i++) {
        const sample *from = &samples[i % N_SAMPLES];
        char bytes[256];
        size_t size = from->size;
        memcpy(bytes, from->bytes, size);
        const size_t changes = 1 + random_below(&state, 6);
        for (size_t k = 0; k < changes && size > 0; k++)
            size = mutate(bytes, size, &state);
        scratch_write(bytes, size);
        check_promises();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_read_is_an_io_error),
        cmocka_unit_test(a_long_file_name_leaves_room_for_the_reason),
        cmocka_unit_test(file_names_are_cut_at_one_length_only),
        cmocka_unit_test(missing_arguments_are_refused),
        cmocka_unit_test(a_dash_reads_standard_input_from_where_it_is),
        cmocka_unit_test(errors_in_standard_input_say_so),
        cmocka_unit_test(a_pipe_is_read_to_its_end),
        cmocka_unit_test(npy_is_read_from_standard_input_too),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(any_growth_may_fail),
        cmocka_unit_test(no_bytes_bring_the_reader_down),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
