/* fuzz.h - what the fuzz targets share.
 *
 * A target is a file with the one function that libFuzzer calls (clang); with
 * replay.c it is a plain program that plays its corpus, and mutants of it, to
 * the same function (any compiler).  A target must not crash, leak, hang or
 * read outside its memory, whatever the bytes; `must` states what else holds.
 */
#ifndef TARRY_FUZZ_FUZZ_H
#define TARRY_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The path of a file in memory that holds these bytes, until the next call. */
const char *fuzz_file(const void *data, size_t size);

/* The bytes as a text, ended with free; they may hold zeros. */
char *fuzz_text(const uint8_t *data, size_t size);

#define must(claim) fuzz_must((claim), #claim, __FILE__, __LINE__)
void fuzz_must(int holds, const char *claim, const char *file, int line);

#endif
