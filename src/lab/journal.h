/* journal.h - finished trials, kept in a file as they come, so that an
 * interrupted job goes on and a job that has grown plays only what is new.
 *
 * The file is lines of JSON.  Each line begins with a digest of the rest of it.
 *
 *   {"sum":"..","journal":"tarry trials 2"}                    the first line
 *   {"sum":"..","case":"KEY","words":".."}                     once per case
 *   {"sum":"..","trial":"KEY","run":3,"regret":17.2, ..}       per trial
 *
 * KEY, 16 hexadecimal digits, is a digest of all that decides the answers of a
 * case, the run aside: version and build of the library, world with the bytes
 * of its files and arrays, policy, and settings such as horizon and seed.  A
 * trial is found by its key and its run alone.  So one file serves jobs that
 * share some cases and not others, and lines of a case that no job asks for any
 * more (another build, an edited policy) do no harm.  "words" is for readers.
 *
 * The numbers of an answer stand by name, reals with 17 digits, "null" for NaN,
 * arrays without the zeros at their end.  A line that does not fit its digest
 * is left out, and its trial is run again; a last line cut short by a crash is
 * removed.  Lines are only appended.  The file is locked while it is open: a
 * job opens it when it begins to play and closes it when it has played. */
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

/* What trials of a job have in common. */
typedef struct {
    uint64_t key; /* a digest begun with tarry__journal_begin */
    char *words;  /* what the key stands for; from tarry__base_alloc */
    bool written; /* the file has its line */
} tarry__journal_case;

typedef struct {
    const char *path; /* NULL: nothing is kept */
    const tarry__journal_field *fields;
    size_t n_fields, answer_size;
    tarry__journal_case *cases; /* n_cases; two may have the same key */
    size_t n_cases;
    void *context;
    /* Takes in a trial of the file; one with a run that is not asked for is
     * ignored. */
    void (*take)(void *context, size_t c, size_t run, const void *answer);
    int file;         /* -1: not open */
    size_t n_dropped; /* lines that were damaged */
    bool failed;      /* a trial could not be added */
} tarry__journal;

/* A digest of the sources and flags that the program or library is made of, as
 * hexadecimal digits: another build may play otherwise. */
extern const char tarry__journal_build[];

/* Begins the key of a case: version and build. */
uint64_t tarry__journal_begin(void);

uint64_t tarry__journal_add_text(uint64_t key, const char *text);

/* Adds the description of an instance, a delay or an adversary, and the bytes
 * of the files that it names.  TARRY_NO_MEMORY. */
tarry_status tarry__journal_add_part(uint64_t *key, const char *description);

/* A case in words: the four descriptions and the horizon, from
 * tarry__base_alloc; NULL: out of memory. */
char *tarry__journal_words(const char *instance, const char *loss,
                           const char *delay, const char *policy,
                           uint64_t horizon);

/* Makes places for the cases; the caller fills their keys and words.
 * TARRY_NO_MEMORY. */
tarry_status tarry__journal_reserve(tarry__journal *journal, size_t n_cases);

/* Opens the file, made if need be, and takes in the trials of its cases.  The
 * caller has filled path, fields, cases and take.  On failure the file is as it
 * was: TARRY_IO_ERROR, TARRY_BAD_INPUT (no journal), TARRY_BAD_ARGUMENT
 * (another job has it open), TARRY_NO_MEMORY. */
tarry_status tarry__journal_open(tarry__journal *journal, tarry_error *error);

/* Adds a trial of case c.  TARRY_IO_ERROR, TARRY_NO_MEMORY: then `failed` is
 * set. */
tarry_status tarry__journal_add(tarry__journal *journal, size_t c, size_t run,
                                const void *answer, tarry_error *error);

/* Ends the lock; the journal can be opened again.  Also of one that was not
 * opened. */
void tarry__journal_close(tarry__journal *journal);

/* Closes it and frees the cases; also of one filled with zeros. */
void tarry__journal_clear(tarry__journal *journal);

#endif
