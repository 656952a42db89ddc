/* number.c - decimal text to the nearest double.
 *
 * A number is w * 10^q with an integer w.  If w has at most 19 digits and
 * |q| <= 27, then w and 5^|q| both fit in 64 bits, and since 10^q = 5^q 2^q
 * what is left is one exact integer product or one integer division.  The
 * quotient is made 62 or 63 bits long; its lowest bit is set when there is a
 * remainder.  That bit lies below the one that decides the rounding to 53
 * bits, so the conversion to double sees on which side of a halfway case the
 * exact value is, and rounds right.  The last step, a power of two, is exact.
 *
 * Everything else goes to strtod, rewritten as DIGITSeEXPONENT.  Without a
 * point this means the same in every locale.  Points halfway between two
 * doubles have at most 767 digits, so of longer numbers only the first 800
 * are kept, and one more digit to say whether any of the rest was not zero.
 *
 * Long double arithmetic would serve as well on x86, but neither on other
 * machines nor under valgrind, which computes it with 64 bits. */
#include "base/number.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXACT_DIGITS = 19,   /* 10^19 < 2^64 */
    EXACT_POWER = 27,    /* 5^27 < 2^63 */
    KEPT_DIGITS = 800,   /* for strtod */
    FAR_EXPONENT = 20000 /* zero or infinity with up to 801 digits */
};

/* clang-format off */
static const uint64_t power_of_5[EXACT_POWER + 1] = {
    1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125,
    244140625, 1220703125, 6103515625, 30517578125, 152587890625, 762939453125,
    3814697265625, 19073486328125, 95367431640625, 476837158203125,
    2384185791015625, 11920928955078125, 59604644775390625, 298023223876953125,
    1490116119384765625, 7450580596923828125,
};
/* clang-format on */

/* A number as written, without its sign. */
typedef struct {
    const char *begin, *end; /* its digits, and the point if there is one */
    size_t n_digits;         /* how many digits those are */
    uint64_t w;              /* the digits as an integer, modulo 2^64 */
    int64_t q;               /* the value is digits * 10^q */
} decimal;

static int is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static const char *read_digits(const char *p, const char *end, uint64_t *w)
{
    uint64_t sum = *w;
    for (; p < end && is_digit(*p); p++)
        sum = 10 * sum + (uint64_t)(*p - '0');
    *w = sum;
    return p;
}

/* Reads the digits and the point; NULL if there is no digit. */
static const char *read_mantissa(const char *p, const char *end, decimal *d)
{
    *d = (decimal){.begin = p};
    p = read_digits(p, end, &d->w);
    d->n_digits = (size_t)(p - d->begin);
    if (p < end && *p == '.') {
        const char *fraction = p + 1;
        p = read_digits(fraction, end, &d->w);
        d->q = fraction - p;
        d->n_digits += (size_t)(p - fraction);
    }
    d->end = p;
    return d->n_digits > 0 ? p : NULL;
}

/* Reads "e-12" if it is there.  Exponents beyond 10^17, which no number of
 * digits in memory can make up for, stay at some value beyond it. */
static const char *read_exponent(const char *text, const char *end, int64_t *q)
{
    const char *p = text;
    if (p == end || (*p != 'e' && *p != 'E'))
        return text;
    p++;
    const int is_negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end || !is_digit(*p))
        return text;
    int64_t exponent = 0;
    for (; p < end && is_digit(*p); p++)
        if (exponent < 100000000000000000)
            exponent = 10 * exponent + (*p - '0');
    *q += is_negative ? -exponent : exponent;
    return p;
}

static double power_of_2(int e)
{
    const uint64_t bits = (uint64_t)(1023 + e) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* w * 10^q for 0 <= q <= 27. */
static double product(uint64_t w, int q)
{
    return (double)((unsigned __int128)w * power_of_5[q]) * power_of_2(q);
}

/* w / 10^k for w > 0 and 1 <= k <= 27.  With top bits moved to bit 63 the
 * ratio of w to 5^k is between 1/2 and 2, times 2^62 thus fits in 63 bits. */
static double quotient(uint64_t w, int k)
{
    const int up_w = __builtin_clzll(w);
    const int up_d = __builtin_clzll(power_of_5[k]);
    const uint64_t divisor = power_of_5[k] << up_d;
    const unsigned __int128 dividend = (unsigned __int128)(w << up_w) << 62;
    const uint64_t ratio = (uint64_t)(dividend / divisor);
    const int is_inexact = (uint64_t)dividend != ratio * divisor;
    return (double)(int64_t)(ratio | (uint64_t)is_inexact) *
           power_of_2(up_d - up_w - 62 - k);
}

/* Moves the start of the digits past leading zeros, which do not count. */
static void drop_leading_zeros(decimal *d)
{
    for (; d->begin < d->end && (*d->begin == '0' || *d->begin == '.');
         d->begin++)
        d->n_digits -= *d->begin == '0';
}

static double by_strtod(decimal d)
{
    char text[KEPT_DIGITS + 32];
    size_t kept = 0;
    const char *p = d.begin;
    for (; p < d.end && kept < KEPT_DIGITS; p++)
        if (*p != '.')
            text[kept++] = *p;
    int rest_is_zero = 1;
    for (; p < d.end; p++)
        rest_is_zero &= *p == '0' || *p == '.';
    text[kept] = rest_is_zero ? '0' : '1';
    int64_t exponent = d.q + (int64_t)(d.n_digits - kept) - 1;
    if (exponent > FAR_EXPONENT)
        exponent = FAR_EXPONENT;
    if (exponent < -FAR_EXPONENT)
        exponent = -FAR_EXPONENT;
    snprintf(text + kept + 1, sizeof text - kept - 1, "e%d", (int)exponent);
    return strtod(text, NULL);
}

static double nearest(decimal *d)
{
    if (d->n_digits > EXACT_DIGITS)
        drop_leading_zeros(d);
    if (d->n_digits > EXACT_DIGITS)
        return by_strtod(*d);
    if (d->w == 0)
        return 0;
    if (d->q < 0 && d->q >= -EXACT_POWER)
        return quotient(d->w, (int)-d->q);
    if (d->q >= 0 && d->q <= EXACT_POWER)
        return product(d->w, (int)d->q);
    return by_strtod(*d);
}

const char *tarry__number_read(const char *text, const char *end, double *value)
{
    const char *p = text;
    const int is_negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    decimal d;
    p = read_mantissa(p, end, &d);
    if (p == NULL)
        return NULL;
    p = read_exponent(p, end, &d.q);
    const double magnitude = nearest(&d);
    *value = is_negative ? -magnitude : magnitude;
    return p;
}

/* Whether text starts with the lower-case `word`, in whatever case; unlike
 * strncasecmp this asks no locale what an i is. */
static int starts_with(const char *text, const char *end, const char *word)
{
    for (; *word != '\0'; word++, text++)
        if (text == end || (*text | ' ') != *word)
            return 0;
    return 1;
}

int tarry__number_is_word(const char *text, const char *end)
{
    if (text < end && (*text == '-' || *text == '+'))
        text++;
    const size_t n = (size_t)(end - text);
    if (starts_with(text, end, "nan"))
        return n == 3 || (text[3] == '(' && end[-1] == ')');
    if (starts_with(text, end, "inf"))
        return n == 3 || (n == 8 && starts_with(text + 3, end, "inity"));
    return 0;
}
