/* elementary.c - see elementary.h.
 *
 * exp: x = k log(2) / 128 + r with a whole k, so exp(x) is a power of two times
 * 2^(i/128) of a table times exp(r), |r| < 0.0028.
 * log: x = 2^k m, and a table has a number c near m: log(x) = k log(2) + log(c)
 * + log(1 + r), r = (m - c) / c, |r| < 0.004.  About x = 1, c is 1 and its
 * logarithm 0: nothing cancels.
 * Both come also with results and arguments as sums of two doubles, a pair, of
 * which the other functions are made: pow(x, y) = exp(y log(x)), and so on.
 *
 * Coefficients: the polynomial that interpolates the function named beside it
 * at the zeros of Chebyshev's polynomial, computed with 800 bits and rounded;
 * the error named is the largest found on 2000 points, rounding included. */
#include "base/elementary.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/elementary_tables.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* log(2) = high + low; k high is exact for the exponent k of any double. */
static const double log2_high = 0x1.62e42fefa38p-1,
                    log2_low = 0x1.ef35793c7673p-45;

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* c[0] + c[1] x + ..., even and odd powers apart. */
static double polynomial(const double *c, size_t count, double x)
{
    const double z = x * x;
    double even = 0, odd = 0;
    for (size_t i = (count + 1) / 2; i-- > 0;) {
        even = even * z + c[2 * i];
        odd = odd * z + (2 * i + 1 < count ? c[2 * i + 1] : 0);
    }
    return even + x * odd;
}

/* ---- pairs -------------------------------------------------------------- */

typedef struct {
    double high, low; /* the sum of both, high being the sum rounded */
} pair;

/* a + b exactly; |a| >= |b|, or a = 0 */
static inline pair sum_ordered(double a, double b)
{
    const double sum = a + b;
    return (pair){sum, (a - sum) + b};
}

/* a + b exactly */
static inline pair sum(double a, double b)
{
    return fabs(a) < fabs(b) ? sum_ordered(b, a) : sum_ordered(a, b);
}

/* Without the last 27 of 53 bits. */
static inline double first_half(double x)
{
    return of_bits(bits_of(x) & ~(uint64_t)0x7ffffff);
}

/* a b, up to 2^-104 of it; halves of 26 and 27 bits (Dekker 1971) */
static inline pair product(double a, double b)
{
    const double p = a * b, a1 = first_half(a), b1 = first_half(b);
    const double a2 = a - a1, b2 = b - b1;
    return (pair){p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

static inline pair times(pair a, pair b)
{
    const pair p = product(a.high, b.high);
    return sum_ordered(p.high, p.low + (a.high * b.low + a.low * b.high));
}

/* ---- exp, expm1 --------------------------------------------------------- */

typedef struct {
    double scale, rest; /* exp(x) = 2^k scale (1 + rest) */
    int64_t k;
} exponential;

/* Of x + low, |x| < 1000. */
static inline exponential exponential_of(double x, double low)
{
    const double magic = 0x1.8p52; /* whole numbers by their bits */
    const double shifted = x * 0x1.71547652b82fep7 + magic;
    const double n = shifted - magic;
    const int64_t k = (int64_t)(bits_of(shifted) - bits_of(magic));
    const double r =
        ((x - n * 0x1.62e42fefcp-8) - n * -0x1.c610ca86c3899p-44) + low;
    /* (exp(r) - 1 - r) / r^2; times r^2, 2^-63 */
    const double q = (0.4999999999999907 + r * 0.16666666666666533) +
                     r * r * (0.04166667684879449 + r * 0.008333334787922985);
    const size_t i = (size_t)k % COUNT(exp_table);
    return (exponential){exp_table[i].value,
                         exp_table[i].rest + (r + r * r * q), k >> EXP_BITS};
}

/* 2^k, -1022 <= k < 1024 */
static inline double power_of_2(int64_t k)
{
    return of_bits((uint64_t)(k + 1023) << 52);
}

/* exp(x + low) where the result, or what it is the sum of, may be infinite or
 * subnormal. */
static double exp_far(double x, double low)
{
    if (isnan(x))
        return x;
    if (x > 710)
        return INFINITY;
    if (x < -746)
        return 0;
    const exponential e = exponential_of(x, low);
    const int64_t half = e.k / 2;
    return (e.scale + e.scale * e.rest) * power_of_2(half) *
           power_of_2(e.k - half);
}

static inline double exp_of(double x, double low)
{
    if (!(fabs(x) < 690))
        return exp_far(x, low);
    const exponential e = exponential_of(x, low);
    const double scale = of_bits(bits_of(e.scale) + ((uint64_t)e.k << 52));
    return scale + scale * e.rest;
}

double tarry__exp(double x)
{
    return exp_of(x, 0);
}

double tarry__expm1(double x)
{
    /* (exp(x) - 1 - x - x^2/2) / x^3; times x^2, 2^-58 */
    static const double c[] = {
        0.16666666666666666,   0.04166666666666555,    0.008333333333333246,
        0.0013888888891279828, 0.00019841269843108843, 2.4801573530729414e-05,
        2.755730863197483e-06, 2.758669229104366e-07,  2.507470150047575e-08};
    if (fabs(x) < 0x1p-54)
        return x;
    if (fabs(x) < 0.25)
        return x + x * x * (0.5 + x * polynomial(c, COUNT(c), x));
    if (!(x < 40))
        return tarry__exp(x);
    if (x < -40)
        return -1;
    const exponential e = exponential_of(x, 0);
    const double scale = e.scale * power_of_2(e.k);
    const pair less = sum(scale, -1);
    return less.high + (less.low + scale * e.rest);
}

/* ---- logarithms --------------------------------------------------------- */

/* log(x) = high + low + log(1 + away inverse) */
typedef struct {
    double high, low, away, inverse;
} logarithm;

/* `bits` are those of positive finite x; for subnormal x those of 2^52 x, less
 * 52 in the exponent. */
static inline logarithm logarithm_of(uint64_t bits)
{
    const uint64_t from_first = bits - log_first;
    const size_t i = from_first >> (52 - LOG_BITS) & (COUNT(log_table) - 1);
    const int64_t k = (int64_t)from_first >> 52;
    const double m = of_bits(bits - ((uint64_t)k << 52)), n = (double)k;
    return (logarithm){n * log2_high + log_table[i].high, /* exact */
                       n * log2_low + log_table[i].low,
                       m - log_table[i].center, /* exact */
                       log_table[i].inverse};
}

/* (log(1 + r) - r + r^2/2) / r^3; times r^2, 2^-62 */
static inline double log_cubic(double r)
{
    const double z = r * r;
    return (0.3333333333333333 + r * -0.24999999999015518) +
           z * ((0.19999999999124904 + r * -0.16666914720506695) +
                z * 0.14285934778080178);
}

static inline double log_rounded(logarithm l)
{
    const double r = l.away * l.inverse;
    const pair s = sum_ordered(l.high, r);
    return s.high + ((s.low + l.low) + r * r * (r * log_cubic(r) - 0.5));
}

/* Up to 2^-66 of the logarithm; the polynomial as above, 2^-71. */
static pair log_rounded_twice(logarithm l)
{
    static const double cubic[] = {0.3333333333333333,  -0.25000000000000006,
                                   0.20000000000000004, -0.16666666664461416,
                                   0.1428571428370951,  -0.12500277821366707,
                                   0.11111363676054248};
    const pair p = product(l.away, l.inverse);
    const double r = p.high, r1 = first_half(r);
    const pair s = sum_ordered(l.high, r),
               t = sum_ordered(s.high, -0.5 * r1 * r1);
    const double rest = p.low * (1 - r) - 0.5 * (r - r1) * (r + r1) +
                        r * r * r * polynomial(cubic, COUNT(cubic), r);
    return sum_ordered(t.high, (l.low + s.low + t.low) + rest);
}

static inline bool is_positive_normal(uint64_t bits)
{
    return bits - bits_of(DBL_MIN) < bits_of(INFINITY) - bits_of(DBL_MIN);
}

static uint64_t bits_of_subnormal(double x)
{
    return bits_of(x * 0x1p52) - ((uint64_t)52 << 52);
}

static bool has_logarithm(double x)
{
    return x > 0 && x <= DBL_MAX;
}

static double log_special(double x)
{
    return x == 0 ? -INFINITY : x > 0 ? x : NAN;
}

static pair log_pair(double x)
{
    return log_rounded_twice(
        logarithm_of(x < DBL_MIN ? bits_of_subnormal(x) : bits_of(x)));
}

static double log_far(double x)
{
    return has_logarithm(x) ? log_rounded(logarithm_of(bits_of_subnormal(x)))
                            : log_special(x);
}

double tarry__ln(double x)
{
    const uint64_t bits = bits_of(x);
    return is_positive_normal(bits) ? log_rounded(logarithm_of(bits))
                                    : log_far(x);
}

/* With u + low = 1 + x exactly, log(1 + x) = log(u) + low / u. */
double tarry__log1p(double x)
{
    if (fabs(x) < 0x1p-54)
        return x;
    const pair u = sum(1, x);
    if (!has_logarithm(u.high))
        return log_special(u.high);
    logarithm l = logarithm_of(bits_of(u.high));
    l.low += u.low / u.high;
    return log_rounded(l);
}

/* log(x) / log(base), of which inverse is 1 / log(base) */
static double log_to_base(double x, pair inverse)
{
    return has_logarithm(x) ? times(log_pair(x), inverse).high : log_special(x);
}

double tarry__log2(double x)
{
    return log_to_base(x, (pair){0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56});
}

double tarry__log10(double x)
{
    return log_to_base(x, (pair){0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57});
}

/* ---- powers ------------------------------------------------------------- */

static bool is_even(double y) /* whole and even */
{
    return floor(y / 2) == y / 2;
}

double tarry__pow(double x, double y)
{
    if (y == 0 || x == 1)
        return 1;
    if (isnan(x) || isnan(y) || (x < 0 && isfinite(x) && floor(y) != y))
        return NAN;
    const double size = fabs(x);
    const double sign = signbit(x) && floor(y) == y && !is_even(y) ? -1 : 1;
    if (size == 1)
        return sign;
    const bool grows = (size > 1) == (y > 0);
    if (!has_logarithm(size) || fabs(y) > 0x1p64)
        return sign * (grows ? INFINITY : 0);
    if (fabs(y) < 0x1p-64)
        return sign;
    const pair l = log_pair(size), p = product(y, l.high);
    return sign * exp_of(p.high, p.low + y * l.low);
}

/* x = 8^k m; Halley's method from a line, then one step of Newton's whose
 * residue m - y^3 is computed in pairs. */
double tarry__cbrt(double x)
{
    if (x == 0 || !isfinite(x))
        return x;
    int k;
    double m = frexp(fabs(x), &k);
    for (; k % 3 != 0; k--)
        m *= 2;
    double y = 0.7 + 0.25 * m;
    for (int i = 0; i < 3; i++) {
        const double cube = y * y * y;
        y *= (cube + 2 * m) / (2 * cube + m);
    }
    const pair cube = times(product(y, y), (pair){y, 0});
    y += ((m - cube.high) - cube.low) / (3 * y * y);
    return copysign(ldexp(y, k / 3), x);
}

/* ---- angles ------------------------------------------------------------- */

/* x less the nearest multiple of a quarter, which is *quarters, from -2 to 2
 * after whole turns; exact */
static double from_quarter(double x, int *quarters)
{
    const double part = x - rint(x), nearest = rint(4 * part);
    *quarters = (int)nearest;
    return part - nearest / 4;
}

/* sin(2 pi y), |y| <= 1/8: 2 pi = high + low, where high times the first half
 * of y is exact, and (sin(2 pi y) / y - 2 pi) / y^2 as a polynomial in y^2; of
 * the sine, 2^-57 */
static double small_sine(double y)
{
    const double high = 0x1.921fb5p2, low = 0x1.110b4611a6263p-24,
                 y1 = first_half(y);
    static const double c[] = {-41.34170224039976,  81.60524927607504,
                               -76.70585975304292,  42.0586939378057,
                               -15.094641279579799, 3.8198307439800163,
                               -0.7124440626783193};
    const double z = y * y;
    return y1 * high +
           ((y - y1) * high + y * (low + z * polynomial(c, COUNT(c), z)));
}

/* cos(2 pi y), |y| <= 1/8: (cos(2 pi y) - 1 + 2 pi^2 y^2) / y^4 as a polynomial
 * in y^2; times y^4, 2^-58 */
static double small_cosine(double y)
{
    static const double c[] = {64.9393940226683,  -85.45681720668455,
                               60.24464136502278, -26.426254911246687,
                               7.903305164742355, -1.7012215232036352};
    const double z = y * y;
    return 1 - z * (0x1.3bd3cc9be45dep4 - z * polynomial(c, COUNT(c), z));
}

double tarry__sin_turns(double x)
{
    int quarters;
    const double y = from_quarter(x, &quarters);
    if (quarters % 2 != 0)
        return quarters > 0 ? small_cosine(y) : -small_cosine(y);
    if (y == 0)
        return copysign(0, x);
    return quarters == 0 ? small_sine(y) : -small_sine(y);
}

double tarry__cos_turns(double x)
{
    int quarters;
    const double y = from_quarter(x, &quarters);
    if (quarters % 2 == 0)
        return quarters == 0 ? small_cosine(y) : -small_cosine(y);
    return quarters > 0 ? 0 - small_sine(y) : small_sine(y) + 0;
}

/* ---- error function ----------------------------------------------------- */

/* Near 0: 1 - x p(x^2), p of erf(x) / x, up to 2^-56.  Above 0.75:
 * exp(-x^2) p(t) / (x + 1/2), p of the rest in t = (x - a) / (x + a), a = 3.75,
 * for x up to 28, where erfc is 0; up to 2^-53. */
double tarry__erfc(double x)
{
    static const double near[] = {
        1.1283791670955126,     -0.37612638903183715,
        0.11283791670952596,    -0.026866170644428485,
        0.005223977615420539,   -0.0008548326188759752,
        0.00012055289567541706, -1.4924196305569617e-05,
        1.643068417974155e-06,  -1.5940066854661717e-07,
        1.1472499701094691e-08};
    static const double far[] = {
        0.6187563154189137,      -0.0701202992927735,
        0.0017927077427331059,   0.041138369245074274,
        -0.0544019650709445,     0.046152160580145214,
        -0.029346699292728796,   0.014181138709863665,
        -0.004873289810304416,   0.0008778129270971917,
        0.0001468571013368596,   -0.00014507707715516864,
        2.5823136552285355e-05,  1.1192418791758993e-05,
        -5.717384753799609e-06,  -4.879985433924022e-07,
        8.660390604379284e-07,   -2.5827703164921788e-08,
        -1.1700638923052828e-07, 8.20264639716795e-09,
        1.0818761875422359e-08};
    const double size = fabs(x);
    if (isnan(x))
        return x;
    if (size < 0.75)
        return 1 - x * polynomial(near, COUNT(near), x * x);
    if (size > 28)
        return x < 0 ? 2 : 0;
    const pair square = product(size, size);
    const double t = (size - 3.75) / (size + 3.75);
    const double tail = exp_of(-square.high, -square.low) *
                        (polynomial(far, COUNT(far), t) / (size + 0.5));
    return x < 0 ? 2 - tail : tail;
}

/* ---- gamma function ----------------------------------------------------- */

enum { STIRLING_FROM = 8 };

/* log Gamma(2 + t), |t| <= 1/2: the polynomial is of its share in t, 2^-55 */
static double log_gamma_near_2(double t)
{
    static const double c[] = {0.42278433509846713,     0.3224670334241132,
                               -0.06735230105319814,    0.02058080842778457,
                               -0.0073855510286681535,  0.002890510330738737,
                               -0.0011927539120010226,  0.0005096695248853096,
                               -0.00022315475074520367, 9.945750909889392e-05,
                               -4.4926351103833334e-05, 2.050726741605779e-05,
                               -9.438458716242811e-06,  4.374374916915131e-06,
                               -2.0449201467015115e-06, 9.578663334114758e-07,
                               -4.303558760359961e-07,  2.0304806751615227e-07,
                               -1.3412819758517287e-07, 6.379047507619774e-08};
    return t * polynomial(c, COUNT(c), t);
}

/* log Gamma(x), 8 <= x < 2^64, by Stirling's series; what it leaves out is
 * below 1e-16. */
static pair stirling(double x)
{
    static const double c[] = {1.0 / 12,    -1.0 / 360,      1.0 / 1260,
                               -1.0 / 1680, 1.0 / 1188,      -691.0 / 360360,
                               1.0 / 156,   -3617.0 / 122400};
    const double half_log_2_pi = 0x1.d67f1c864beb5p-1;
    const pair p = times((pair){x - 0.5, 0}, log_pair(x)), q = sum(p.high, -x),
               r = sum(q.high, half_log_2_pi);
    return sum_ordered(r.high, (p.low + q.low + r.low) +
                                   polynomial(c, COUNT(c), 1 / (x * x)) / x);
}

/* The argument moved to 2 + t by Gamma(x + 1) = x Gamma(x), 0 < x < 8:
 * Gamma(x) = above / below Gamma(2 + t) */
typedef struct {
    double t, above, below;
} moved;

static moved move_to_2(double x)
{
    if (x < 0.5)
        return (moved){x, 1, x * (x + 1)};
    if (x < 1.5)
        return (moved){x - 1, 1, x};
    double above = 1;
    for (; x >= 2.5; above *= x)
        x--;
    return (moved){x - 2, above, 1};
}

double tarry__lgamma(double x)
{
    if (!(x > 0))
        return x == 0 ? INFINITY : NAN;
    if (x > 0x1p60)
        return x * (tarry__ln(x) - 1);
    if (x >= STIRLING_FROM)
        return stirling(x).high;
    const moved m = move_to_2(x);
    if (x >= 0.5 && x < 1.5)
        return log_gamma_near_2(m.t) - tarry__log1p(m.t);
    return log_gamma_near_2(m.t) +
           (m.below == 1 ? tarry__ln(m.above) : -tarry__ln(m.below));
}

double tarry__tgamma(double x)
{
    if (!(x > 0))
        return x == 0 ? copysign(INFINITY, x) : NAN;
    if (x > 172)
        return INFINITY;
    if (x >= STIRLING_FROM) {
        const pair log = stirling(x);
        return exp_of(log.high, log.low);
    }
    const moved m = move_to_2(x);
    return m.above * tarry__exp(log_gamma_near_2(m.t)) / m.below;
}
