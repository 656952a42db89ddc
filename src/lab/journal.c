/* journal.c - see journal.h. */
#define _DEFAULT_SOURCE
#include "lab/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"
#include "base/json.h"

/* ---- lines ----------------------------------------------------------------*/

/* {"sum":"0123456789abcdef", and the rest of the object. */
enum { SUM_AT = 8, SUM_DIGITS = 16, REST_AT = SUM_AT + SUM_DIGITS + 2 };

enum { KEY_DIGITS = 16 };

static const char FORMAT[] = "tarry trials 2";

static json_t *hex(uint64_t key)
{
    return json_sprintf("%016" PRIx64, key);
}

static uint64_t sum_of(const char *rest, size_t size)
{
    return tarry__base_digest(TARRY__BASE_DIGEST, rest, size);
}

/* An object as a line, with its newline; the caller frees it. */
static char *to_line(const json_t *object, size_t *size)
{
    char *text =
        tarry__json_text(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
    const size_t length = text != NULL ? strlen(text) : 0;
    char *line = text != NULL ? malloc(length + REST_AT + 2) : NULL;
    if (line != NULL) {
        sprintf(line, "{\"sum\":\"%016" PRIx64 "\",",
                sum_of(text + 1, length - 1));
        sprintf(line + REST_AT, "%s\n", text + 1);
        *size = REST_AT + length;
    }
    free(text);
    return line;
}

/* The object of a line without its newline; NULL if it is none, or damaged. */
static json_t *from_line(const char *line, size_t size)
{
    char sum[SUM_DIGITS + 1];
    if (size <= REST_AT)
        return NULL;
    sprintf(sum, "%016" PRIx64, sum_of(line + REST_AT, size - REST_AT));
    if (memcmp(line, "{\"sum\":\"", SUM_AT) != 0 ||
        memcmp(line + SUM_AT, sum, SUM_DIGITS) != 0)
        return NULL;
    return json_loadb(line, size, 0, NULL);
}

/* ---- answers --------------------------------------------------------------*/

static json_t *number_json(const tarry__journal_field *f, const void *at)
{
    if (f->kind == TARRY__JOURNAL_COUNT)
        return json_integer((json_int_t) * (const uint64_t *)at);
    const double x = *(const double *)at;
    return isnan(x) ? json_null() : json_real(x);
}

static json_t *field_json(const tarry__journal_field *f, const void *answer)
{
    static const unsigned char zeros[8];
    const unsigned char *at = (const unsigned char *)answer + f->offset;
    size_t count = f->count;
    if (count == 1)
        return number_json(f, at);
    while (count > 0 && memcmp(at + (count - 1) * 8, zeros, 8) == 0)
        count--;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(list, number_json(f, at + i * 8)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *answer_json(const tarry__journal *j, size_t c, size_t run,
                           const void *answer)
{
    json_t *object = json_pack("{s:o, s:I}", "trial", hex(j->cases[c].key),
                               "run", (json_int_t)run);
    for (size_t i = 0; object != NULL && i < j->n_fields; i++)
        if (json_object_set_new(object, j->fields[i].name,
                                field_json(&j->fields[i], answer)) != 0) {
            json_decref(object);
            object = NULL;
        }
    return object;
}

static bool read_number(const tarry__journal_field *f, const json_t *value,
                        void *at)
{
    double *real = at;
    if (f->kind == TARRY__JOURNAL_COUNT) {
        *(uint64_t *)at = (uint64_t)json_integer_value(value);
        return json_is_integer(value) && json_integer_value(value) >= 0;
    }
    *real = json_is_null(value) ? NAN : json_number_value(value);
    return json_is_number(value) ||
           (json_is_null(value) && f->kind == TARRY__JOURNAL_UNKNOWN);
}

static bool read_field(const tarry__journal_field *f, const json_t *value,
                       void *answer)
{
    unsigned char *at = (unsigned char *)answer + f->offset;
    if (f->count == 1)
        return read_number(f, value, at);
    if (!json_is_array(value) || json_array_size(value) > f->count)
        return false;
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!read_number(f, json_array_get(value, i), at + i * 8))
            return false;
    return true;
}

static bool read_key(const json_t *object, const char *name, uint64_t *key)
{
    const char *text = json_string_value(json_object_get(object, name));
    int end = 0;
    return text != NULL && strlen(text) == KEY_DIGITS &&
           sscanf(text, "%16" SCNx64 "%n", key, &end) == 1 && end == KEY_DIGITS;
}

static bool read_answer(const tarry__journal *j, const json_t *object,
                        void *answer)
{
    bool ok = true;
    memset(answer, 0, j->answer_size);
    for (size_t i = 0; ok && i < j->n_fields; i++)
        ok = read_field(&j->fields[i],
                        json_object_get(object, j->fields[i].name), answer);
    return ok;
}

static bool note_case(tarry__journal *j, uint64_t key)
{
    for (size_t c = 0; c < j->n_cases; c++)
        if (j->cases[c].key == key)
            j->cases[c].written = true;
    return true;
}

/* A trial of no case of this job is another job's. */
static bool take_trial(tarry__journal *j, const json_t *object, uint64_t key,
                       void *answer)
{
    const json_t *run = json_object_get(object, "run");
    bool ok = json_is_integer(run) && json_integer_value(run) >= 0;
    for (size_t c = 0; ok && c < j->n_cases; c++)
        if (j->cases[c].key == key) {
            ok = read_answer(j, object, answer);
            if (ok)
                j->take(j->context, c, (size_t)json_integer_value(run), answer);
        }
    return ok;
}

/* False: the line is damaged. */
static bool take_line(tarry__journal *j, const char *line, size_t size,
                      void *answer)
{
    json_t *object = from_line(line, size);
    uint64_t key;
    const bool ok = read_key(object, "case", &key) ? note_case(j, key)
                    : read_key(object, "trial", &key)
                        ? take_trial(j, object, key, answer)
                        : false;
    json_decref(object);
    return ok;
}

/* ---- cases ----------------------------------------------------------------*/

tarry_status tarry__journal_reserve(tarry__journal *j, size_t n_cases)
{
    j->cases = tarry__base_zalloc(n_cases, sizeof *j->cases);
    j->n_cases = j->cases != NULL ? n_cases : 0;
    return j->cases != NULL ? TARRY_OK : TARRY_NO_MEMORY;
}

/* ---- opening --------------------------------------------------------------*/

static tarry_status io_error(const tarry__journal *j, tarry_error *error)
{
    return tarry__base_fail(error, TARRY_IO_ERROR, "%s: %s", j->path,
                            strerror(errno));
}

/* flock keeps others out, also within this process; the second kind of lock
 * only tells them who we are. */
static tarry_status lock(const tarry__journal *j, tarry_error *error)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (flock(j->file, LOCK_EX | LOCK_NB) == 0) {
        (void)fcntl(j->file, F_SETLK, &whole);
        return TARRY_OK;
    }
    if (errno != EWOULDBLOCK)
        return io_error(j, error);
    if (fcntl(j->file, F_GETLK, &whole) != 0 || whole.l_type == F_UNLCK)
        whole.l_pid = getpid();
    return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                            "%s: another job, in process %jd, is writing this "
                            "journal; wait for its end, or name another file",
                            j->path, (intmax_t)whole.l_pid);
}

static bool write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t count = write(file, bytes, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        bytes += count;
        size -= (size_t)count;
    }
    return true;
}

static tarry_status read_file(const tarry__journal *j, char **bytes,
                              size_t *size, tarry_error *error)
{
    struct stat about;
    if (fstat(j->file, &about) != 0)
        return io_error(j, error);
    if (!S_ISREG(about.st_mode))
        return tarry__base_fail(error, TARRY_BAD_INPUT, "%s: not a file",
                                j->path);
    *size = 0;
    *bytes = tarry__base_alloc((size_t)about.st_size, 1);
    if (*bytes == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    while (*size < (size_t)about.st_size) {
        const ssize_t count =
            pread(j->file, *bytes + *size, (size_t)about.st_size - *size,
                  (off_t)*size);
        if (count < 0 && errno != EINTR)
            return io_error(j, error);
        if (count == 0)
            break;
        *size += count > 0 ? (size_t)count : 0;
    }
    return TARRY_OK;
}

/* Takes in the lines after the first; answers where the whole ones end. */
static size_t take_lines(tarry__journal *j, const char *bytes, size_t from,
                         size_t size, void *answer)
{
    const char *end;
    while ((end = memchr(bytes + from, '\n', size - from)) != NULL) {
        const size_t length = (size_t)(end - bytes) - from;
        j->n_dropped += !take_line(j, bytes + from, length, answer);
        from += length + 1;
    }
    return from;
}

/* Removes what a crash has left of the last line; a first line cut short is
 * written anew. */
static tarry_status settle(const tarry__journal *j, size_t end, size_t size,
                           const char *first, size_t first_size,
                           tarry_error *error)
{
    if ((end < size && ftruncate(j->file, (off_t)end) != 0) ||
        (end == 0 && !write_all(j->file, first, first_size)))
        return io_error(j, error);
    return TARRY_OK;
}

static char *first_line(size_t *size)
{
    json_t *object = json_pack("{s:s}", "journal", FORMAT);
    char *line = object != NULL ? to_line(object, size) : NULL;
    json_decref(object);
    return line;
}

static tarry_status take_all(tarry__journal *j, const char *bytes, size_t size,
                             tarry_error *error)
{
    size_t first_size = 0, end = 0;
    char *first = first_line(&first_size);
    void *answer = tarry__base_alloc(1, j->answer_size);
    tarry_status status = TARRY_OK;
    if (first == NULL || answer == NULL)
        status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    else if (memcmp(bytes, first, size < first_size ? size : first_size) != 0)
        status = tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "%s:1: not a journal of trials of this "
                                  "format; remove it, or name another file",
                                  j->path);
    else if (size >= first_size)
        end = take_lines(j, bytes, first_size, size, answer);
    if (status == TARRY_OK)
        status = settle(j, end, size, first, first_size, error);
    tarry__base_free(answer);
    free(first);
    return status;
}

tarry_status tarry__journal_open(tarry__journal *j, tarry_error *error)
{
    char *bytes = NULL;
    size_t size = 0;
    j->file = -1;
    j->n_dropped = 0;
    if (j->path == NULL)
        return TARRY_OK;
    j->file = open(j->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    tarry_status status = j->file < 0 ? io_error(j, error) : lock(j, error);
    if (status == TARRY_OK)
        status = read_file(j, &bytes, &size, error);
    if (status == TARRY_OK)
        status = take_all(j, bytes, size, error);
    tarry__base_free(bytes);
    if (status != TARRY_OK)
        tarry__journal_close(j);
    return status;
}

/* ---- adding ---------------------------------------------------------------*/

static tarry_status write_line(tarry__journal *j, json_t *object,
                               tarry_error *error)
{
    size_t size = 0;
    char *line = object != NULL ? to_line(object, &size) : NULL;
    tarry_status status = TARRY_OK;
    if (line == NULL)
        status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    else if (!write_all(j->file, line, size))
        status = tarry__base_fail(error, TARRY_IO_ERROR, "%s: cannot write: %s",
                                  j->path, strerror(errno));
    j->failed = j->failed || status != TARRY_OK;
    json_decref(object);
    free(line);
    return status;
}

static tarry_status write_case(tarry__journal *j, const tarry__journal_case *c,
                               tarry_error *error)
{
    const tarry_status status = write_line(
        j, json_pack("{s:o, s:s}", "case", hex(c->key), "words", c->words),
        error);
    if (status == TARRY_OK)
        note_case(j, c->key);
    return status;
}

tarry_status tarry__journal_add(tarry__journal *j, size_t c, size_t run,
                                const void *answer, tarry_error *error)
{
    if (j->path == NULL || j->file < 0)
        return TARRY_OK;
    tarry_status status =
        j->cases[c].written ? TARRY_OK : write_case(j, &j->cases[c], error);
    return status != TARRY_OK
               ? status
               : write_line(j, answer_json(j, c, run, answer), error);
}

void tarry__journal_close(tarry__journal *j)
{
    if (j->path != NULL && j->file >= 0)
        close(j->file);
    j->file = -1;
}

void tarry__journal_clear(tarry__journal *j)
{
    tarry__journal_close(j);
    for (size_t c = 0; c < j->n_cases; c++)
        tarry__base_free(j->cases[c].words);
    tarry__base_free(j->cases);
    j->cases = NULL;
    j->n_cases = 0;
}
