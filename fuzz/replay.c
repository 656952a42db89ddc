/* replay.c - plays a corpus to a target, and mutants of it, without libFuzzer.
 *
 *     fuzz.NAME FOLDER [MUTANTS]      fuzz.NAME FILE
 *
 * Mutants are the same in every run: each is a function of the file's place
 * in the sorted folder and of its own number.  Before each one it is put
 * into the file of TARRY_FUZZ_LAST, if that is set, so that a crash leaves
 * the bytes that did it. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 4096, MOST_BYTES = 1 << 20, DEFAULT_MUTANTS = 100 };

typedef struct {
    uint8_t *data;
    size_t size;
} bytes;

static bytes corpus[MOST_FILES];
static size_t n_corpus;

static bytes read_file(const char *path)
{
    bytes b = {malloc(MOST_BYTES), 0};
    FILE *file = fopen(path, "rb");
    must(file != NULL && b.data != NULL);
    b.size = fread(b.data, 1, MOST_BYTES, file);
    fclose(file);
    return b;
}

static void read_folder(const char *folder)
{
    struct dirent **entries;
    char path[4096];
    const int count = scandir(folder, &entries, NULL, alphasort);
    must(count >= 0);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && n_corpus < MOST_FILES)
            corpus[n_corpus++] = read_file(path);
        free(entries[i]);
    }
    free(entries);
}

/* ---- mutants --------------------------------------------------------------*/

static uint64_t seed;

static size_t below(size_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return limit > 0 ? (size_t)(seed >> 33) % limit : 0;
}

static const uint64_t odd_numbers[] = {0,
                                       1,
                                       UINT64_MAX,
                                       INT64_MAX,
                                       1ull << 63,
                                       0x7ff0000000000000, /* infinity */
                                       0xfff8000000000000, /* NaN */
                                       0x3ff0000000000000, /* 1.0 */
                                       0x7fefffffffffffff,
                                       UINT32_MAX,
                                       1u << 24};
static const char *const odd_texts[] = {
    "nan",  "-1", "1e999", "0",  ",",  "\n",   "\"",     ":",          "=",
    "null", "[]", "{}",    "-0", "\0", "\xff", "1e-320", "99999999999"};

static void put(bytes *b, size_t at, const void *new, size_t size)
{
    for (size_t i = 0; i < size && at + i < b->size; i++)
        b->data[at + i] = ((const uint8_t *)new)[i];
}

static void insert(bytes *b, size_t at, const void *new, size_t size)
{
    if (b->size + size > MOST_BYTES)
        return;
    memmove(b->data + at + size, b->data + at, b->size - at);
    memcpy(b->data + at, new, size);
    b->size += size;
}

static void cut(bytes *b, size_t at, size_t size)
{
    if (size > b->size - at)
        size = b->size - at;
    memmove(b->data + at, b->data + at + size, b->size - at - size);
    b->size -= size;
}

static void change(bytes *b)
{
    const size_t at = below(b->size);
    const bytes *other = &corpus[below(n_corpus)];
    const char *text = odd_texts[below(sizeof odd_texts / sizeof *odd_texts)];
    const uint8_t random = (uint8_t)below(256);
    switch (below(8)) {
    case 0:
        put(b, at, &random, 1);
        break;
    case 1:
        if (b->size > 0)
            b->data[at] ^= (uint8_t)(1u << below(8));
        break;
    case 2: /* numbers stand at multiples of 8, mostly */
        put(b, below(2) ? at / 8 * 8 : at,
            &odd_numbers[below(sizeof odd_numbers / sizeof *odd_numbers)],
            below(2) ? 8 : 4);
        break;
    case 3:
        insert(b, at, text, strlen(text) + (*text == '\0'));
        break;
    case 4:
        put(b, at, text, strlen(text));
        break;
    case 5:
        cut(b, at, 1 + below(16));
        break;
    case 6: /* what comes elsewhere */
        if (other->size > 0) {
            const size_t from = below(other->size);
            const size_t size = 1 + below(32);
            insert(b, at, other->data + from,
                   size < other->size - from ? size : other->size - from);
        }
        break;
    default:
        if (below(4) == 0)
            b->size = at; /* cut short */
    }
}

static void note(const bytes *b)
{
    const char *path = getenv("TARRY_FUZZ_LAST");
    FILE *file = path != NULL ? fopen(path, "wb") : NULL;
    if (file == NULL)
        return;
    fwrite(b->data, 1, b->size, file);
    fclose(file);
}

static void play(const bytes *b)
{
    note(b);
    uint8_t *exact = malloc(b->size > 0 ? b->size : 1); /* ends where it ends */
    must(exact != NULL);
    if (b->size > 0)
        memcpy(exact, b->data, b->size);
    LLVMFuzzerTestOneInput(exact, b->size);
    free(exact);
}

static void play_mutants(size_t i, size_t count)
{
    bytes mutant = {malloc(MOST_BYTES), 0};
    must(mutant.data != NULL);
    for (size_t m = 0; m < count; m++) {
        seed = i * 1000003 + m;
        mutant.size = corpus[i].size;
        memcpy(mutant.data, corpus[i].data, mutant.size);
        for (size_t n = 1 + below(4); n > 0; n--)
            change(&mutant);
        play(&mutant);
    }
    free(mutant.data);
}

int main(int argc, char **argv)
{
    must(argc > 1);
    DIR *folder = opendir(argv[1]);
    size_t mutants = folder != NULL ? DEFAULT_MUTANTS : 0;
    if (folder != NULL)
        closedir(folder);
    if (argc > 2)
        mutants = strtoul(argv[2], NULL, 10);
    if (folder != NULL)
        read_folder(argv[1]);
    else
        corpus[n_corpus++] = read_file(argv[1]);
    must(n_corpus > 0);
    for (size_t i = 0; i < n_corpus; i++)
        play(&corpus[i]);
    for (size_t i = 0; i < n_corpus; i++)
        play_mutants(i, mutants);
    printf("%zu files, %zu mutants\n", n_corpus, n_corpus * mutants);
    for (size_t i = 0; i < n_corpus; i++)
        free(corpus[i].data);
    return 0;
}
