/* elementary.h - elementary functions with the same bits on every machine.
 *
 * Those of the C library have variants for processors with and without FMA.
 * These use + - * / and integers only, in one order, and the build forbids the
 * compiler to contract a product and a sum; so the result is a function of the
 * argument alone, for all compilers, levels of optimization and processors that
 * compute doubles as IEEE 754 says and round to nearest.
 *
 * Behind each function: the largest error in units of the last place of the
 * exact result, of subnormal results in units of 2^-1074.  Special values are
 * those of C17, annex F; errno and the flags of floating point are not
 * part of the interface.  The logarithm is called tarry__ln, since tarry__log
 * is a log. */
#ifndef TARRY_BASE_ELEMENTARY_H
#define TARRY_BASE_ELEMENTARY_H

double tarry__exp(double x);           /* 0.55; in subnormals 1 */
double tarry__expm1(double x);         /* 0.8 */
double tarry__ln(double x);            /* natural logarithm; 1.01 */
double tarry__log1p(double x);         /* 1.01 */
double tarry__log2(double x);          /* 0.51; exact for powers of 2 */
double tarry__log10(double x);         /* 0.51; exact for powers of 10 */
double tarry__pow(double x, double y); /* 0.55; in subnormals 1 */
double tarry__cbrt(double x);          /* 0.51; exact for cubes */

/* Sine and cosine of an angle in turns, sin(2 pi x) and cos(2 pi x); exact for
 * multiples of a quarter turn. */
double tarry__sin_turns(double x); /* 1.5 */
double tarry__cos_turns(double x); /* 1.5 */

double tarry__erfc(double x); /* 5 */

/* For x > 0, and 0 as the limit from above; NaN for x < 0. */
double tarry__lgamma(double x); /* 8; exact for 1 and 2 */
double tarry__tgamma(double x); /* 5 */

#endif
