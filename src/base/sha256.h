/* sha256.h - the digest of FIPS 180-4, for tokens. */
#ifndef TARRY_BASE_SHA256_H
#define TARRY_BASE_SHA256_H

#include <stddef.h>

enum { TARRY__SHA256_SIZE = 32 };

void tarry__sha256(const void *bytes, size_t size,
                   unsigned char digest[TARRY__SHA256_SIZE]);

#endif
