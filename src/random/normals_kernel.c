/* normals_kernel.c - compiled once per vector width, see normals.h.
 *
 * radius = sqrt(-2 log u), angle = 2 pi v.  With k the whole number nearest to
 * 4v, the angle is k quarter turns and y = 2 pi (v - k/4), |y| <= pi/4, where
 * Taylor's series for sine and cosine end at y^17 and y^18: what is left out is
 * below 1e-17.  Contraction is off for this file: all variants round alike. */
#include "random/normals.h"

#include "base/lanes.h"
#include "random/rounds.h"

enum { CHUNK = 64, LAST = 17 };

static inline void sine_cosine(reals v, reals *sine, reals *cosine)
{
    const reals magic = (reals){0} + 0x1.8p52; /* integers by their bits */
    const reals shifted = 4 * v + magic;
    const integers k = (integers)shifted - (integers)magic;
    const reals y = (v - (shifted - magic) * 0.25) * 6.283185307179586477;
    const reals z = y * y;
    reals s = (reals){0} + 1, c = s;
    for (int i = LAST; i > 1; i -= 2) { /* 1 - z/(i(i-1)) (1 - z/...) */
        s = 1 - z * (1.0 / (i * (i - 1))) * s;
        c = 1 - z * (1.0 / ((i + 1) * i)) * c;
    }
    s *= y;
    c = 1 - z * 0.5 * c;
    const integers odd = -(k & 1), negative_s = (k & 2) << 62,
                   negative_c = ((k + 1) & 2) << 62;
    *sine = (reals)((integers)pick(odd, c, s) ^ negative_s);
    *cosine = (reals)((integers)pick(odd, s, c) ^ negative_c);
}

void PASTE(tarry__normals_, KERNEL)(const tarry_random *at, size_t count,
                                    double *z)
{
    double u[CHUNK], v[CHUNK], first[CHUNK], second[CHUNK];
    for (size_t from = 0; from < count; from += CHUNK) {
        const size_t size = count - from < CHUNK ? count - from : CHUNK;
        tarry_random here = *at;
        here.round += from;
        PASTE(tarry__random_uniforms_, KERNEL)(&here, CHUNK, u, v);
        PASTE(tarry__random_logs_, KERNEL)(u, CHUNK);
        for (size_t i = 0; i < CHUNK; i += LANES) {
            const reals radius = root(2 * load(u + i));
            reals sine, cosine;
            sine_cosine(load(v + i), &sine, &cosine);
            store(first + i, radius * cosine);
            store(second + i, radius * sine);
        }
        for (size_t i = 0; i < size; i++) {
            z[2 * (from + i)] = first[i];
            z[2 * (from + i) + 1] = second[i];
        }
    }
}
