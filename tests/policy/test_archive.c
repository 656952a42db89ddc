/* Saved states: what goes in comes out, and nothing else is believed. */
#include "check.h"
#include <string.h>
#include <sys/stat.h>
#include "base/base.h"
#include "policy/archive.h"
#include "policy/held.h"
#include "folder.h"
#include "play.h"

enum { HEADER_BYTES = 32, VERSION_AT = 8, CHECKSUM_AT = 24 };

/* ---- a record of every kind of field --------------------------------------*/

typedef struct {
    uint32_t small;
    double real;
    uint64_t *counts;
    size_t n_counts;
    char *letters;
    size_t n_letters;
} record;

static void archive_record(record *r, tarry__archive *a)
{
    tarry__archive_field(a, r->small);
    tarry__archive_array(a, &r->counts, &r->n_counts, sizeof *r->counts, 1000);
    tarry__archive_field(a, r->real);
    tarry__archive_array(a, &r->letters, &r->n_letters, 1, 1000);
    tarry__archive_require(a, r->n_counts == 0 || r->n_counts == 700);
}

static void save_record(record *r, const char *path)
{
    tarry__archive a = {0};
    archive_record(r, &a);
    assert_int_equal(a.status, TARRY_OK);
    assert_int_equal(tarry__archive_write(&a, path, NULL), TARRY_OK);
    tarry__archive_clear(&a);
}

static tarry_status load_record(record *r, const char *path)
{
    tarry__archive a;
    memset(r, 0, sizeof *r);
    tarry_status status = tarry__archive_read(&a, path, NULL);
    if (status == TARRY_OK) {
        archive_record(r, &a);
        tarry__archive_require(&a, a.at == a.size);
        status = a.status;
    }
    tarry__archive_clear(&a);
    return status;
}

static void end_record(record *r)
{
    tarry__base_free(r->counts);
    tarry__base_free(r->letters);
}

static void fields_and_arrays_come_back(void **state)
{
    (void)state;
    const char *path = in_folder("record");
    uint64_t counts[700];
    char letters[] = "2.385";
    record in = {7, -0.1, counts, 700, letters, sizeof letters}, out;
    for (size_t i = 0; i < 700; i++)
        counts[i] = i * i;
    save_record(&in, path);
    assert_int_equal(load_record(&out, path), TARRY_OK);
    assert_int_equal(out.small, 7);
    assert_true(out.real == -0.1);
    assert_int_equal(out.n_counts, 700);
    assert_memory_equal(out.counts, counts, sizeof counts);
    assert_string_equal(out.letters, letters);
    end_record(&out);
    unlink(path);
}

static void empty_arrays_come_back(void **state)
{
    (void)state;
    const char *path = in_folder("record");
    record in = {.small = 1}, out;
    save_record(&in, path);
    assert_int_equal(load_record(&out, path), TARRY_OK);
    assert_int_equal(out.n_counts + out.n_letters, 0);
    end_record(&out);
    unlink(path);
}

static void arrays_that_are_too_long_are_refused(void **state)
{
    (void)state;
    const char *path = in_folder("record");
    char letters[1001] = "";
    record in = {.letters = letters, .n_letters = 1001}, out;
    save_record(&in, path);
    assert_int_equal(load_record(&out, path), TARRY_BAD_STATE);
    end_record(&out);
    unlink(path);
}

static void what_the_owner_calls_unsound_is_refused(void **state)
{
    (void)state;
    const char *path = in_folder("record");
    uint64_t counts[3] = {0};
    record in = {.counts = counts, .n_counts = 3}, out;
    save_record(&in, path);
    assert_int_equal(load_record(&out, path), TARRY_BAD_STATE);
    end_record(&out);
    unlink(path);
}

/* ---- damaged files --------------------------------------------------------*/

/* A policy in its second phase, if it has phases and gets there, with open
 * rounds, saved. */
static bytes saved_policy(const char *name, const char *path)
{
    static size_t arm_of_round[20001];
    game g = make_game(5, 2, 2);
    const tarry_policy_params params = params_of(&g, 20000);
    tarry_policy *p = make_policy(name, &params);
    mailbox box = make_mailbox(20000);
    do
        play_round(p, &g, &delay_laws[1], &box, arm_of_round);
    while (status_of(p).round < (status_of(p).phase == 1 ? 15000 : 1000));
    assert_true(status_of(p).pending > 100);
    assert_int_equal(tarry_policy_save(p, path, NULL), TARRY_OK);
    end_mailbox(&box);
    tarry_policy_free(p);
    end_game(&g);
    return read_bytes(path);
}

static void check_refused(const char *path)
{
    tarry_error error = {""};
    tarry_policy *p;
    assert_int_equal(tarry_policy_restore(path, &p, &error), TARRY_BAD_STATE);
    assert_null(p);
    assert_true(strstr(error.text, path) == error.text);
}

static void a_file_cut_at_any_byte_is_refused(void **state)
{
    (void)state;
    const char *path = in_folder("saved");
    bytes b = saved_policy(tarry_policy_name(0), path);
    for (size_t size = 0; size < b.size; size++) {
        write_bytes(path, b.data, size);
        check_refused(path);
    }
    free(b.data);
    unlink(path);
}

static void a_file_with_more_bytes_is_refused(void **state)
{
    (void)state;
    const char *path = in_folder("saved");
    bytes b = saved_policy(tarry_policy_name(0), path);
    b.data[b.size] = 0; /* read_bytes left room */
    write_bytes(path, b.data, b.size + 1);
    check_refused(path);
    free(b.data);
    unlink(path);
}

static void a_file_with_any_byte_changed_is_refused(void **state)
{
    (void)state;
    const char *path = in_folder("saved");
    bytes b = saved_policy(tarry_policy_name(0), path);
    uint64_t seed = 1;
    for (size_t i = 0; i < b.size; i++) {
        const int changes = i < HEADER_BYTES ? 255 : 1;
        const unsigned char old = b.data[i];
        for (int c = 1; c <= changes; c++) {
            b.data[i] =
                (unsigned char)(old + (changes > 1
                                           ? (unsigned)c
                                           : 1 + test_bits(&seed) % 255));
            write_bytes(path, b.data, b.size);
            check_refused(path);
        }
        b.data[i] = old;
    }
    write_bytes(path, b.data, b.size);
    tarry_policy *p;
    assert_int_equal(tarry_policy_restore(path, &p, NULL), TARRY_OK);
    tarry_policy_free(p);
    free(b.data);
    unlink(path);
}

static void another_version_is_refused_by_number(void **state)
{
    (void)state;
    const char *path = in_folder("saved");
    bytes b = saved_policy(tarry_policy_name(0), path);
    tarry_policy *p;
    tarry_error error = {""};
    const uint64_t version = 385;
    memcpy(b.data + VERSION_AT, &version, sizeof version);
    write_bytes(path, b.data, b.size);
    assert_int_equal(tarry_policy_restore(path, &p, &error), TARRY_BAD_STATE);
    assert_non_null(strstr(error.text, "version 385"));
    free(b.data);
    unlink(path);
}

/* Reads all there is to read, and plays a little. */
static void try_out(tarry_policy *p)
{
    const tarry_policy_status s = status_of(p);
    double sum = 0;
    uint64_t round;
    size_t arm = 0;
    for (size_t i = 0; i < s.n_estimates; i++)
        sum += s.estimates[i].lower + s.estimates[i].upper;
    for (size_t i = 0; i < s.n_plan; i++)
        sum += s.plan[i].weight;
    for (size_t i = 0; i < s.n_active; i++)
        sum += s.active[i];
    for (uint64_t r = 1; r <= 20; r++)
        if (tarry_policy_choose(p, &round, &arm) == TARRY_OK)
            tarry_policy_observe(p, s.round - r, sum > 0 ? 0.1 : 0);
    if (arm >= 5)
        fail_msg("%s chose arm %zu", s.name, arm);
}

/* Every policy, then phased ones with their practical settings and a guide
 * that keeps numbers per active arm. */
static const char *description(size_t k)
{
    static const char *const guided[] = {
        "phased-loss-dependent:constants=tight,guide=lints,guide_share=9",
        "phased-stochastic:constants=tight,guide=otf-lints,design=regret",
        "phased-adversarial:constants=tight,guide=greedy",
        "phased-adversarial:guide=linucb",
    };
    size_t names = 0;
    while (tarry_policy_name(names) != NULL)
        names++;
    if (k < names)
        return tarry_policy_name(k);
    k -= names;
    return k < sizeof guided / sizeof *guided ? guided[k] : NULL;
}

/* Restores the bytes after their checksum has been made to fit. */
static tarry_status restore_forged(const char *path, const bytes *b,
                                   tarry_policy **p)
{
    const uint64_t start = tarry__base_digest(
        TARRY__BASE_DIGEST, b->data + VERSION_AT, sizeof start);
    const uint64_t sum = tarry__base_digest(start, b->data + HEADER_BYTES,
                                            b->size - HEADER_BYTES);
    memcpy(b->data + CHECKSUM_AT, &sum, sizeof sum);
    write_bytes(path, b->data, b->size);
    return tarry_policy_restore(path, p, NULL);
}

/* Where these bytes stand in the file; they must be there. */
static size_t place_of(const bytes *b, const void *field, size_t size)
{
    for (size_t i = HEADER_BYTES; i + size <= b->size; i++)
        if (memcmp(b->data + i, field, size) == 0)
            return i;
    fail_msg("no such bytes in the file");
    return 0;
}

/* Bytes whose checksum is right but whose state is not: a refusal says so of
 * the file or of the packed state, and leaves no policy. */
static void check_refusal(const char *path, const bytes *b)
{
    tarry_error error = {""};
    tarry_policy *p = (tarry_policy *)&error;
    char says[300];
    snprintf(says, sizeof says, "%s: %s", path,
             tarry_status_text(TARRY_BAD_STATE));
    assert_int_equal(tarry_policy_restore(path, &p, &error), TARRY_BAD_STATE);
    assert_string_equal(error.text, says);
    assert_null(p);
    error.text[0] = '\0';
    p = (tarry_policy *)&error;
    snprintf(says, sizeof says, "a packed state: %s",
             tarry_status_text(TARRY_BAD_STATE));
    assert_int_equal(tarry_policy_unpack(b->data, b->size, &p, &error),
                     TARRY_BAD_STATE);
    assert_string_equal(error.text, says);
    assert_null(p);
}

static void a_range_that_is_none_is_refused(void **state)
{
    (void)state;
    static const double ranges[][2] = {
        {-INFINITY, INFINITY}, {1, -1}, {NAN, 1}, {-1, NAN},
        {-1e308, 1e308},       {2, 2}};
    const char *path = in_folder("saved");
    const double range[2] = {-2.385, 7.25};
    game g = make_game(5, 2, 2);
    tarry_policy_params params = params_of(&g, 20000);
    params.low = range[0];
    params.high = range[1];
    tarry_policy *p = make_policy("uniform", &params);
    assert_int_equal(tarry_policy_save(p, path, NULL), TARRY_OK);
    tarry_policy_free(p);
    bytes b = read_bytes(path);
    const size_t at = place_of(&b, range, sizeof range);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        memcpy(b.data + at, ranges[i], sizeof range);
        assert_int_equal(restore_forged(path, &b, &p), TARRY_BAD_STATE);
        check_refusal(path, &b);
    }
    memcpy(b.data + at, range, sizeof range);
    assert_int_equal(restore_forged(path, &b, &p), TARRY_OK);
    tarry_policy_free(p);
    free(b.data);
    end_game(&g);
    unlink(path);
}

/* What is packed is what a file holds, byte for byte, and any change of it is
 * refused. */
static void a_packed_policy_comes_back(void **state)
{
    (void)state;
    const char *path = in_folder("saved");
    bytes b = saved_policy(description(0), path);
    tarry_policy *p, *q;
    void *packed;
    size_t size;
    tarry_error error;
    assert_int_equal(tarry_policy_restore(path, &p, NULL), TARRY_OK);
    assert_int_equal(tarry_policy_pack(p, &packed, &size), TARRY_OK);
    assert_int_equal(size, b.size);
    assert_memory_equal(packed, b.data, size);
    for (size_t i = 0; i < size; i += 7) {
        ((unsigned char *)packed)[i] ^= 16;
        memset(&error, 0, sizeof error);
        assert_int_equal(tarry_policy_unpack(packed, size, &q, &error),
                         TARRY_BAD_STATE);
        assert_non_null(strstr(error.text, "a packed state: "));
        assert_null(q);
        ((unsigned char *)packed)[i] ^= 16;
        assert_int_equal(tarry_policy_unpack(packed, i, &q, NULL),
                         TARRY_BAD_STATE);
    }
    assert_int_equal(tarry_policy_unpack(packed, size, &q, NULL), TARRY_OK);
    try_out(q);
    tarry_policy_free(p);
    tarry_policy_free(q);
    tarry_policy_pack_free(packed);
    free(b.data);
    unlink(path);
}

/* Somebody who repairs the checksum gets a policy or a refusal; no crash, no
 * leak, no read outside the file. */
static void a_forged_file_does_no_harm(void **state)
{
    (void)state;
    const char *path = in_folder("saved");
    uint64_t seed = 3;
    for (size_t k = 0; description(k) != NULL; k++) {
        bytes b = saved_policy(description(k), path);
        size_t refused = 0;
        /* every byte of a small state, some thousand of a large one */
        const size_t step = 1 + b.size / 3000;
        for (size_t i = HEADER_BYTES; i < b.size;
             i += 1 + test_bits(&seed) % (2 * step - 1)) {
            const unsigned char old = b.data[i];
            b.data[i] = (unsigned char)test_bits(&seed);
            tarry_policy *p;
            const tarry_status s = restore_forged(path, &b, &p);
            assert_true(s == TARRY_OK ? p != NULL
                                      : s == TARRY_BAD_STATE && p == NULL);
            refused += s == TARRY_BAD_STATE;
            if (p != NULL)
                try_out(p);
            tarry_policy_free(p);
            b.data[i] = old;
        }
        assert_true(refused > 100);
        free(b.data);
    }
    unlink(path);
}

/* ---- files that cannot be read or written ---------------------------------*/

static void a_missing_file_is_an_io_error(void **state)
{
    (void)state;
    tarry_error error = {""};
    tarry_policy *p;
    const char *path = in_folder("missing");
    assert_int_equal(tarry_policy_restore(path, &p, &error), TARRY_IO_ERROR);
    assert_null(p);
    assert_non_null(strstr(error.text, path));
}

/* Tries to save a record where that must fail. */
static void check_cannot_save(const char *path)
{
    tarry__archive a = {0};
    tarry_error error = {""};
    record r = {.small = 2385};
    archive_record(&r, &a);
    assert_int_equal(tarry__archive_write(&a, path, &error), TARRY_IO_ERROR);
    assert_true(strstr(error.text, path) == error.text);
    tarry__archive_clear(&a);
}

static void a_missing_folder_is_an_io_error(void **state)
{
    (void)state;
    check_cannot_save(in_folder("missing/record"));
}

static void a_folder_in_the_way_is_an_io_error(void **state)
{
    (void)state;
    const char *path = in_folder("record");
    assert_int_equal(mkdir(path, 0700), 0);
    check_cannot_save(path);
    assert_int_equal(rmdir(path), 0);
}

/* ---- memory ---------------------------------------------------------------*/

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    const char *path = in_folder("record");
    char letters[1000] = "2.385";
    uint64_t counts[700] = {0}, k = 0;
    record r = {7, -0.1, counts, 700, letters, 1000};
    tarry_status status = TARRY_NO_MEMORY;
    while (status == TARRY_NO_MEMORY) {
        tarry__archive a = {0};
        tarry__base_fail_alloc(++k);
        archive_record(&r, &a);
        status = a.status;
        if (status == TARRY_OK)
            status = tarry__archive_write(&a, path, NULL);
        tarry__archive_clear(&a);
        assert_true(is_there(path) == (status == TARRY_OK));
    }
    assert_true(k > 2);
    for (k = 0, status = TARRY_NO_MEMORY; status == TARRY_NO_MEMORY;) {
        record out;
        tarry__base_fail_alloc(++k);
        status = load_record(&out, path);
        end_record(&out);
    }
    tarry__base_fail_alloc(0);
    assert_int_equal(status, TARRY_OK);
    assert_int_equal(k, 4); /* the file, two arrays; then all went well */
    unlink(path);
}

/* ---- losses that are held -------------------------------------------------*/

static tarry_status load_held(tarry__held_loss one, uint64_t last,
                              size_t n_arms)
{
    tarry__held held = {&one, 1, 1}, out = {0};
    tarry__archive a = {0}, back;
    void *bytes;
    size_t size;
    tarry__held_archive(&held, last, n_arms, &a);
    assert_int_equal(tarry__archive_pack(&a, &bytes, &size), TARRY_OK);
    tarry__archive_clear(&a);
    assert_int_equal(tarry__archive_unpack(&back, bytes, size, NULL), TARRY_OK);
    tarry__held_archive(&out, last, n_arms, &back);
    const tarry_status status = back.status;
    tarry__held_clear(&out);
    tarry__base_free(bytes);
    return status;
}

static void a_held_loss_is_of_a_round_and_an_arm_that_are_there(void **state)
{
    (void)state;
    enum { LAST = 9, ARMS = 4 };
    static const tarry__held_loss good[] = {
        {1, 0.5, 0, 0},
        {LAST, -1e300, ARMS - 1, 1},
        {2, 0.5, 1, TARRY__HELD_CORRECTION}};
    static const tarry__held_loss bad[] = {
        {0, 0.5, 0, 0},          {LAST + 1, 0.5, 0, 0}, {1, 0.5, ARMS, 0},
        {1, 0.5, UINT32_MAX, 0}, {1, NAN, 0, 0},        {1, INFINITY, 0, 0},
        {UINT64_MAX, 1, 1, 1},   {1, -INFINITY, 0, 0},  {1, 0.5, 0, 3}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(load_held(good[i], LAST, ARMS), TARRY_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(load_held(bad[i], LAST, ARMS), TARRY_BAD_STATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_and_arrays_come_back),
        cmocka_unit_test(empty_arrays_come_back),
        cmocka_unit_test(arrays_that_are_too_long_are_refused),
        cmocka_unit_test(what_the_owner_calls_unsound_is_refused),
        cmocka_unit_test(a_file_cut_at_any_byte_is_refused),
        cmocka_unit_test(a_file_with_more_bytes_is_refused),
        cmocka_unit_test(a_file_with_any_byte_changed_is_refused),
        cmocka_unit_test(another_version_is_refused_by_number),
        cmocka_unit_test(a_packed_policy_comes_back),
        cmocka_unit_test(a_forged_file_does_no_harm),
        cmocka_unit_test(a_range_that_is_none_is_refused),
        cmocka_unit_test(a_missing_file_is_an_io_error),
        cmocka_unit_test(a_missing_folder_is_an_io_error),
        cmocka_unit_test(a_folder_in_the_way_is_an_io_error),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(a_held_loss_is_of_a_round_and_an_arm_that_are_there),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
