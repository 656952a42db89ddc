/* special.c - see special.h.
 *
 * Normal quantile: algorithm AS 241, routine PPND16, of M. J. Wichura, "The
 * percentage points of the normal distribution", Applied Statistics 37 (1988)
 * 477-484.  Incomplete gamma function: the power series below x = s + 1, the
 * continued fraction above (Abramowitz and Stegun 6.5.29 and 6.5.31, the latter
 * by Lentz's method).  Near a large s these take sqrt(s) terms and more; there,
 * N. M. Temme, "The asymptotic expansion of the incomplete gamma functions",
 * SIAM J. Math. Anal. 10 (1979) 757-766. */
#define _DEFAULT_SOURCE /* M_PI */
#include "base/elementary.h"
#include "random/special.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

static const double sqrt_half = 0.70710678118654752440;

double tarry__random_normal_tail(double z)
{
    return 0.5 * tarry__erfc(z * sqrt_half);
}

/* ---- AS 241 --------------------------------------------------------------*/

typedef struct {
    double above[8], below[8]; /* coefficients of numerator, denominator */
} rational;

static const rational central = {
    {3.3871328727963666080e0, 1.3314166789178437745e+2,
     1.9715909503065514427e+3, 1.3731693765509461125e+4,
     4.5921953931549871457e+4, 6.7265770927008700853e+4,
     3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1, 4.2313330701600911252e+1, 6.8718700749205790830e+2,
     5.3941960214247511077e+3, 2.1213794301586595867e+4,
     3.9307895800092710610e+4, 2.8729085735721942674e+4,
     5.2264952788528545610e+3}};
static const rational middle = {
    {1.42343711074968357734e0, 4.63033784615654529590e0,
     5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1, 2.05319162663775882187e0, 1.67638483018380384940e0,
     6.89767334985100004550e-1, 1.48103976427480074590e-1,
     1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};
static const rational outer = {
    {6.65790464350110377720e0, 5.46378491116411436990e0,
     1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
     1.48753612908506148525e-2, 7.86869131145613259100e-4,
     1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

static double value(const rational *f, double x)
{
    double above = f->above[7], below = f->below[7];
    for (int i = 6; i >= 0; i--) {
        above = above * x + f->above[i];
        below = below * x + f->below[i];
    }
    return above / below;
}

double tarry__random_normal_quantile(double p)
{
    const double q = p - 0.5;
    if (fabs(q) <= 0.425)
        return q * value(&central, 0.180625 - q * q);
    const double r = sqrt(-tarry__ln(q < 0 ? p : 1 - p));
    const double z = r <= 5 ? value(&middle, r - 1.6) : value(&outer, r - 5);
    return q < 0 ? -z : z;
}

/* ---- incomplete gamma ----------------------------------------------------*/

/* x^s exp(-x) / Gamma(s) */
static double front(double s, double x)
{
    return tarry__exp(s * tarry__ln(x) - x - tarry__lgamma(s));
}

static double by_series(double s, double x)
{
    double term = 1 / s, sum = term;
    for (double k = s + 1; term > sum * DBL_EPSILON / 4; k++) {
        term *= x / k;
        sum += term;
    }
    return sum * front(s, x);
}

static double by_fraction(double s, double x)
{
    const double tiny = 1e-300;
    double b = x + 1 - s, c = 1 / tiny, d = 1 / b, h = d, step = 0;
    for (double k = 1; fabs(step - 1) > DBL_EPSILON && k < 1e7; k++) {
        const double a = k * (s - k);
        b += 2;
        d = a * d + b;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = b + a / c;
        c = fabs(c) < tiny ? tiny : c;
        step = c * d;
        h *= step;
    }
    return h * front(s, x);
}

/* Where the terms below leave out less than 1e-13 of the tail. */
static bool is_near_large(double s, double x)
{
    return s >= 1e4 && fabs(x - s) < 0.05 * s;
}

static double polynomial(const double *c, int degree, double x)
{
    double sum = c[degree];
    for (int i = degree - 1; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* With eta^2 / 2 = m - log(1 + m), m = x / s - 1, and the sign of m,
 *     Q(s, x) = P(Z > eta sqrt(s))
 *               + exp(-s eta^2 / 2) / sqrt(2 pi s) sum c_k(eta) / s^k
 * where the c_k are taken as power series; P has -eta and minus the sum. */
static double by_temme(double s, double x, double side)
{
    static const double c0[] = {-1.0 / 3,    1.0 / 12,          -2.0 / 135,
                                1.0 / 864,   1.0 / 2835,        -139.0 / 777600,
                                1.0 / 25515, -571.0 / 261273600},
                        c1[] = {-1.0 / 540, -1.0 / 288, 1.0 / 378,
                                -77.0 / 77760, 1.0 / 4860},
                        c2[] = {25.0 / 6048, -139.0 / 51840};
    const double m = (x - s) / s, half_square = fmax(0, m - tarry__log1p(m));
    const double eta = copysign(sqrt(2 * half_square), m);
    const double sum = polynomial(c0, 7, eta) + polynomial(c1, 4, eta) / s +
                       polynomial(c2, 1, eta) / (s * s);
    return tarry__random_normal_tail(side * eta * sqrt(s)) +
           side * sum * tarry__exp(-s * half_square) / sqrt(2 * M_PI * s);
}

double tarry__random_gamma_lower(double s, double x)
{
    if (x <= 0)
        return 0;
    if (is_near_large(s, x))
        return by_temme(s, x, -1);
    return x < s + 1 ? by_series(s, x) : 1 - by_fraction(s, x);
}

double tarry__random_gamma_upper(double s, double x)
{
    if (x <= 0)
        return 1;
    if (is_near_large(s, x))
        return by_temme(s, x, 1);
    return x < s + 1 ? 1 - by_series(s, x) : by_fraction(s, x);
}
