/* journal.h - finished trials, kept in a file as they come, so that an
 * interrupted job can go on.
 *
 * The file is lines of JSON.  The first says what job it is: version and build
 * of the program, digests of the questions and of every file they read, and the
 * cases in words.  Then a line per finished trial: its case, its run, and the
 * numbers of its answer by name, reals with 17 digits, "null" for NaN, arrays
 * without the zeros at their end.  Each line begins with a digest of the rest
 * of it.  A line that does not fit its digest is left out, and its trial is run
 * again; a last line cut short by a crash is removed.  A heading alone keeps
 * nothing, whatever job it is of: the next job writes its own.
 *
 * Lines are only appended.  The file is locked while it is open. */
#ifndef TARRY_LAB_JOURNAL_H
#define TARRY_LAB_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/json.h"
#include "tarry/status.h"

typedef enum {
    TARRY__JOURNAL_REAL,    /* double, never NaN */
    TARRY__JOURNAL_UNKNOWN, /* double, may be NaN */
    TARRY__JOURNAL_COUNT,   /* uint64_t */
} tarry__journal_kind;

/* A number, or an array of them, in an answer. */
typedef struct {
    const char *name;
    tarry__journal_kind kind;
    size_t offset, count;
} tarry__journal_field;

/* A field of a struct: its name there is its name in the file. */
#define TARRY__JOURNAL_FIELD(type, kind, field)                                \
    {                                                                          \
#field, TARRY__JOURNAL_##kind, offsetof(type, field),                  \
            sizeof((type *)0)->field / 8                                       \
    }

typedef struct {
    const char *path; /* NULL: nothing is kept */
    const tarry__journal_field *fields;
    size_t n_fields, answer_size;
    void *context;
    /* Takes in a trial of the file; false: there is no such trial any more. */
    bool (*take)(void *context, size_t c, size_t run, const void *answer);
    int file;         /* -1: not open */
    size_t n_dropped; /* lines that were damaged */
    bool failed;      /* a trial could not be added */
} tarry__journal;

/* A digest of the sources and flags that the program or library is made of, as
 * hexadecimal digits: another build may play otherwise. */
extern const char tarry__journal_build[];

/* Begins the heading of a job: `questions` is a digest of all that decides an
 * answer save the run; `cases` says them in words and is taken over.  NULL: out
 * of memory. */
json_t *tarry__journal_heading(uint64_t questions, json_t *cases);

/* Adds the files that the description of an instance, a delay or an adversary
 * names; false: out of memory. */
bool tarry__journal_add_files(json_t *heading, const char *description);

/* Opens the file, made if need be, and takes in its trials.  The caller has
 * filled path, fields and take; `heading` is released.  On failure the file is
 * as it was: TARRY_IO_ERROR, TARRY_BAD_INPUT (of another job or build, or no
 * journal), TARRY_BAD_ARGUMENT (somebody else has it open), TARRY_NO_MEMORY. */
tarry_status tarry__journal_open(tarry__journal *journal, json_t *heading,
                                 tarry_error *error);

/* Adds a trial.  TARRY_IO_ERROR, TARRY_NO_MEMORY: then `failed` is set. */
tarry_status tarry__journal_add(tarry__journal *journal, size_t c, size_t run,
                                const void *answer, tarry_error *error);

/* Also of a journal that has not been opened. */
void tarry__journal_close(tarry__journal *journal);

#endif
