/* sha256.c - see sha256.h.  Names as in FIPS 180-4, section 6.2. */
#include "base/sha256.h"

#include <stdint.h>
#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotated(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static void schedule(const unsigned char *block, uint32_t W[64])
{
    for (int t = 0; t < 16; t++)
        W[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        const uint32_t x = W[t - 2], y = W[t - 15];
        W[t] = (rotated(x, 17) ^ rotated(x, 19) ^ x >> 10) + W[t - 7] +
               (rotated(y, 7) ^ rotated(y, 18) ^ y >> 3) + W[t - 16];
    }
}

static void take_block(uint32_t H[8], const unsigned char *block)
{
    uint32_t W[64], v[8]; /* v is a, b, ..., h */
    schedule(block, W);
    memcpy(v, H, sizeof v);
    for (int t = 0; t < 64; t++) {
        const uint32_t e = v[4], a = v[0];
        const uint32_t T1 = v[7] +
                            (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
                            ((e & v[5]) ^ (~e & v[6])) + K[t] + W[t];
        const uint32_t T2 = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) +
                            ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += T1;
        v[0] = T1 + T2;
    }
    for (int i = 0; i < 8; i++)
        H[i] += v[i];
}

/* What is left of the message, a one bit, zeros, and the length in bits. */
static void take_last(uint32_t H[8], const unsigned char *rest, size_t left,
                      uint64_t size)
{
    unsigned char last[128] = {0};
    const size_t blocks = left < 56 ? 1 : 2;
    memcpy(last, rest, left);
    last[left] = 0x80;
    for (int i = 0; i < 8; i++)
        last[64 * blocks - 1 - (size_t)i] =
            (unsigned char)(8 * size >> (8 * i));
    for (size_t i = 0; i < blocks; i++)
        take_block(H, last + 64 * i);
}

void tarry__sha256(const void *bytes, size_t size,
                   unsigned char digest[TARRY__SHA256_SIZE])
{
    uint32_t H[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const unsigned char *at = bytes;
    size_t left = size;
    for (; left >= 64; left -= 64, at += 64)
        take_block(H, at);
    take_last(H, at, left, size);
    for (int i = 0; i < TARRY__SHA256_SIZE; i++)
        digest[i] = (unsigned char)(H[i / 4] >> (24 - 8 * (i % 4)));
}
