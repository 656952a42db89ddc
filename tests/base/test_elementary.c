/* test_elementary.c - elementary functions against MPFR, 160 bits.
 *
 * LONG=n multiplies the number of random arguments by n and prints the largest
 * error of each function. */
#include "check.h"
#include <float.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"

enum { BITS = 160, PER_RANGE = BRIEF ? 300 : 3000 };

typedef struct {
    double low, high;
} range;

typedef struct {
    const char *name;
    double (*f)(double);
    int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    double bound; /* in units of the last place */
    range ranges[8];
    double spots[14]; /* neighbours of these, too */
} function;

static int sine(mpfr_t to, const mpfr_t x, mpfr_rnd_t round)
{
    return mpfr_sinu(to, x, 1, round);
}

static int cosine(mpfr_t to, const mpfr_t x, mpfr_rnd_t round)
{
    return mpfr_cosu(to, x, 1, round);
}

static int log_gamma(mpfr_t to, const mpfr_t x, mpfr_rnd_t round)
{
    return mpfr_lngamma(to, x, round);
}

static const double ln2 = 0.69314718055994531, most = DBL_MAX, least = DBL_MIN,
                    tiny = 0x1p-1074;

static const function functions[] = {
    {"exp",
     tarry__exp,
     mpfr_exp,
     0.6,
     {{-708, 709.7}, {-1, 1}, {-1e-3, 1e-3}, {-708, -689}, {689, 709.78}},
     {ln2, -ln2, ln2 / 2, -ln2 / 2, ln2 / 256, 1, -1, 690, -690, 709.78, tiny,
      -least}},
    {"exp to subnormals", tarry__exp, mpfr_exp, 1, {{-745.1, -708}}, {-745}},
    {"expm1",
     tarry__expm1,
     mpfr_expm1,
     0.8,
     {{-45, 709.7}, {-1, 1}, {-0.3, 0.3}, {-1e-6, 1e-6}, {30, 45}},
     {0.25, -0.25, ln2, -ln2, 40, -40, 1, tiny, -least, 0x1p-54, 709.78}},
    {"log",
     tarry__ln,
     mpfr_log,
     1.01,
     {{tiny, least}, {least, most}, {0.5, 2}, {0.98, 1.02}, {1, 1e9}},
     {1, 0.5, 2, 0.70703125, 1.4140625, tiny, least, most, 3, 10}},
    {"log1p",
     tarry__log1p,
     mpfr_log1p,
     1.01,
     {{1e-300, most}, {-1, 1}, {-0.01, 0.01}, {1e-18, 1e-14}, {1, 1e9}},
     {-1 + 0x1p-53, -0.5, 1, 0x1p-54, -0x1p-54, tiny, -least, most, -0.25}},
    {"log2",
     tarry__log2,
     mpfr_log2,
     0.51,
     {{tiny, least}, {least, most}, {0.5, 2}, {0.98, 1.02}},
     {1, 0.5, 2, 1024, tiny, least, most, 3, 10}},
    {"log10",
     tarry__log10,
     mpfr_log10,
     0.51,
     {{tiny, least}, {least, most}, {0.5, 2}, {0.98, 1.02}},
     {1, 0.5, 2, 10, 1e22, tiny, least, most, 3, 0.1}},
    {"cbrt",
     tarry__cbrt,
     mpfr_cbrt,
     0.51,
     {{tiny, least}, {least, most}, {-8, 8}},
     {1, 8, 27, -64, 125, tiny, -least, most, 0.5, 4, 1e9}},
    {"sin_turns",
     tarry__sin_turns,
     sine,
     1.5,
     {{-1, 1}, {-1e6, 1e6}, {1e-300, 0.125}},
     {0.125, 0.25, 0.375, 0.5, -0.5, 1, 0x1p40, least}},
    {"cos_turns",
     tarry__cos_turns,
     cosine,
     1.5,
     {{-1, 1}, {-1e6, 1e6}, {1e-300, 0.125}},
     {0.125, 0.25, 0.375, 0.5, -0.5, 1, 0x1p40, least}},
    {"erfc",
     tarry__erfc,
     mpfr_erfc,
     5,
     {{-7, 7}, {0.7, 1.5}, {5, 26.5}, {1e-300, 1e-3}, {26.5, 28}},
     {0.75, -0.75, 26.54, 1, 3.75, -6, tiny}},
    {"lgamma",
     tarry__lgamma,
     log_gamma,
     8,
     {{tiny, least},
      {1e-300, 1},
      {0.3, 8},
      {0.9, 1.1},
      {1.9, 2.1},
      {7, 200},
      {200, 1e9},
      {1e9, 2e305}},
     {1, 2, 0.5, 1.5, 2.5, 8, 3, 0x1p60, tiny, least, 1e305}},
    {"tgamma",
     tarry__tgamma,
     mpfr_gamma,
     5,
     {{0x1p-1020, 1e-9}, {0.01, 8}, {7, 171.6}, {1, 3}},
     {1, 2, 0.5, 1.5, 2.5, 8, 3, 20, 170}},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static int effort(void)
{
    const char *text = getenv("LONG");
    return text != NULL ? atoi(text) : 1;
}

/* Uniform, or where the range has many powers of 2, in the logarithm. */
static double draw(range r, uint64_t *state)
{
    const double u = test_uniform(state);
    if (r.low > 0 && r.high / r.low > 100)
        return fmin(fmax(r.low * exp2(u * log2(r.high / r.low)), r.low),
                    r.high);
    return r.low + u * (r.high - r.low);
}

/* |y - exact| in units of the last place of a double near `exact`. */
static double error_of(double y, const mpfr_t exact)
{
    const double rounded = mpfr_get_d(exact, MPFR_RNDN);
    if (!isfinite(rounded) || !isfinite(y))
        return y == rounded ? 0 : INFINITY;
    mpfr_t less;
    mpfr_init2(less, BITS);
    mpfr_sub_d(less, exact, y, MPFR_RNDN);
    const mpfr_exp_t e = mpfr_zero_p(exact) ? -1073 : mpfr_get_exp(exact);
    mpfr_mul_2si(less, less, e > -1021 ? 53 - e : 1074, MPFR_RNDN);
    const double error = fabs(mpfr_get_d(less, MPFR_RNDN));
    mpfr_clear(less);
    return error;
}

typedef struct {
    double error, x, y;
} worst;

static void look_at(const function *f, double x, worst *w)
{
    mpfr_t exact, argument;
    mpfr_inits2(BITS, exact, argument, (mpfr_ptr)NULL);
    mpfr_set_d(argument, x, MPFR_RNDN);
    f->exact(exact, argument, MPFR_RNDN);
    const double error = error_of(f->f(x), exact);
    if (error > w->error)
        *w = (worst){error, x, 0};
    mpfr_clears(exact, argument, (mpfr_ptr)NULL);
}

static void look_near(const function *f, double spot, uint64_t *seed, worst *w)
{
    double up = spot, down = spot;
    for (int i = 0; i < 40; i++) {
        look_at(f, up, w);
        look_at(f, down, w);
        up = nextafter(up, INFINITY);
        down = nextafter(down, 0);
    }
    for (int i = 0; i < 200; i++) {
        const double away = ldexp(test_normal(seed), -5 - i % 48);
        look_at(f, spot - spot * fabs(away), w);
    }
}

static void errors_are_below_the_stated_bounds(void **state)
{
    (void)state;
    uint64_t seed = 2385;
    for (const function *f = functions; f < functions + FUNCTIONS; f++) {
        worst w = {0};
        for (const range *r = f->ranges; r->low < r->high; r++)
            for (int i = 0; i < PER_RANGE * effort(); i++)
                look_at(f, draw(*r, &seed), &w);
        for (const double *spot = f->spots; *spot != 0; spot++)
            look_near(f, *spot, &seed, &w);
        if (effort() > 1)
            print_message("%-18s %.4f at %a\n", f->name, w.error, w.x);
        if (!(w.error <= f->bound))
            fail_msg("%s(%a): error %g", f->name, w.x, w.error);
    }
}

static void look_at_power(double x, double y, double bound, worst *w)
{
    mpfr_t exact, base;
    mpfr_inits2(BITS, exact, base, (mpfr_ptr)NULL);
    mpfr_t power;
    mpfr_init2(power, BITS);
    mpfr_set_d(base, x, MPFR_RNDN);
    mpfr_set_d(power, y, MPFR_RNDN);
    mpfr_pow(exact, base, power, MPFR_RNDN);
    const double error = error_of(tarry__pow(x, y), exact);
    const bool small = mpfr_cmp_d(exact, DBL_MIN) < 0;
    if (error > (small ? 1 : bound))
        fail_msg("pow(%a, %a): error %g", x, y, error);
    if (error > w->error && !small)
        *w = (worst){error, x, y};
    mpfr_clears(exact, base, power, (mpfr_ptr)NULL);
}

/* Results over the whole range: y is drawn as log(result) / log(x). */
static void powers_are_below_the_stated_bound(void **state)
{
    (void)state;
    const range ranges[] = {{tiny, most}, {0.5, 2}, {0.99, 1.01}, {1, 1e6}};
    uint64_t seed = 2385;
    worst w = {0};
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
        for (int i = 0; i < PER_RANGE * effort(); i++) {
            const double x = draw(ranges[k], &seed);
            const double to = -744 + 1453 * test_uniform(&seed);
            look_at_power(x, to / log(x), 0.55, &w);
            look_at_power(x, to / 1000 / log(x), 0.55, &w);
            look_at_power(1 + test_normal(&seed) * 0x1p-40, to * 0x1p39, 0.6,
                          &w);
        }
    for (int x = 2; x < 40; x++)
        for (int y = -30; y <= 30; y++)
            look_at_power(x, y, 0.501, &w);
    if (effort() > 1)
        print_message("%-18s %.4f at %a, %a\n", "pow", w.error, w.x, w.y);
}

static void check_same(const char *what, double got, double expected)
{
    if (isnan(expected) ? !isnan(got)
                        : memcmp(&got, &expected, sizeof got) != 0)
        fail_msg("%s: %a, expected %a", what, got, expected);
}
#define SAME(call, expected) check_same(#call, call, expected)

static void special_values_are_those_of_the_standard(void **state)
{
    (void)state;
    const double inf = INFINITY;
    SAME(tarry__exp(0), 1);
    SAME(tarry__exp(-0.0), 1);
    SAME(tarry__exp(inf), inf);
    SAME(tarry__exp(-inf), 0);
    SAME(tarry__exp(710), inf);
    SAME(tarry__exp(709.8), inf);
    SAME(tarry__exp(-745.2), 0);
    SAME(tarry__exp(-1e300), 0);
    SAME(tarry__expm1(-0.0), -0.0);
    SAME(tarry__expm1(inf), inf);
    SAME(tarry__expm1(-inf), -1);
    SAME(tarry__expm1(1e300), inf);
    SAME(tarry__ln(0), -inf);
    SAME(tarry__ln(-0.0), -inf);
    SAME(tarry__ln(1), 0);
    SAME(tarry__ln(-1), NAN);
    SAME(tarry__ln(-inf), NAN);
    SAME(tarry__ln(inf), inf);
    SAME(tarry__log1p(-0.0), -0.0);
    SAME(tarry__log1p(-1), -inf);
    SAME(tarry__log1p(-1.5), NAN);
    SAME(tarry__log1p(inf), inf);
    SAME(tarry__log2(0), -inf);
    SAME(tarry__log2(-1), NAN);
    SAME(tarry__log2(inf), inf);
    SAME(tarry__log10(1), 0);
    SAME(tarry__log10(-0.0), -inf);
    SAME(tarry__cbrt(-0.0), -0.0);
    SAME(tarry__cbrt(-inf), -inf);
    SAME(tarry__sin_turns(-0.0), -0.0);
    SAME(tarry__sin_turns(inf), NAN);
    SAME(tarry__cos_turns(-inf), NAN);
    SAME(tarry__erfc(inf), 0);
    SAME(tarry__erfc(-inf), 2);
    SAME(tarry__erfc(0), 1);
    SAME(tarry__lgamma(1), 0);
    SAME(tarry__lgamma(2), 0);
    SAME(tarry__lgamma(0), inf);
    SAME(tarry__lgamma(-2.5), NAN);
    SAME(tarry__lgamma(inf), inf);
    SAME(tarry__lgamma(1e306), inf);
    SAME(tarry__tgamma(0), inf);
    SAME(tarry__tgamma(-0.0), -inf);
    SAME(tarry__tgamma(-2.5), NAN);
    SAME(tarry__tgamma(172.5), inf);
    SAME(tarry__tgamma(inf), inf);
    SAME(tarry__tgamma(7), 720);
    for (const function *f = functions; f < functions + FUNCTIONS; f++)
        check_same(f->name, f->f(NAN), NAN);
}

static void powers_have_the_special_values_of_the_standard(void **state)
{
    (void)state;
    const double inf = INFINITY;
    const double values[] = {0,    -0.0, 1,     -1,   inf,   -inf,   NAN,
                             0.5,  -0.5, 2,     -2,   3,     -3,     2.5,
                             -2.5, tiny, -tiny, most, -most, 0x1p53, 1e-30};
    enum { COUNT = sizeof values / sizeof *values };
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++) {
            const double got = tarry__pow(values[i], values[j]),
                         expected = pow(values[i], values[j]);
            if (isnan(got) ? !isnan(expected)
                           : fabs(got - expected) > 1e-15 * fabs(expected) ||
                                 signbit(got) != signbit(expected))
                fail_msg("pow(%g, %g) = %g, expected %g", values[i], values[j],
                         got, expected);
        }
}

static void powers_of_bases_and_cubes_come_out_whole(void **state)
{
    (void)state;
    for (int k = -1074; k < 1024; k++)
        SAME(tarry__log2(ldexp(1, k)), k);
    for (int k = 0; k <= 22; k++) {
        const double power = tarry__pow(10, k);
        SAME(tarry__log10(power), k);
        CHECK_NEAR(power,
                   strtod((char[]){'1', 'e', '0' + (char)(k / 10),
                                   '0' + (char)(k % 10), 0},
                          NULL),
                   0);
    }
    for (int k = 1; k < 200000; k += BRIEF ? 997 : 7)
        SAME(tarry__cbrt((double)k * k * k), k);
    for (int k = -9; k < 9; k++) {
        SAME(tarry__cos_turns(k + 0.25), 0);
        SAME(tarry__cos_turns(k + 0.5), -1);
        SAME(tarry__cos_turns(k), 1);
        SAME(fabs(tarry__sin_turns(k + 0.5)), 0);
        SAME(tarry__sin_turns(k - 0.25), -1);
    }
}

static void neighbours_are_in_order(void **state)
{
    (void)state;
    uint64_t seed = 2385;
    for (int i = 0; i < PER_RANGE * 10; i++) {
        const double x = 40 * test_uniform(&seed), y = nextafter(x, 99);
        CHECK_AT_MOST(tarry__exp(x), tarry__exp(y));
        CHECK_AT_MOST(tarry__exp(-y), tarry__exp(-x));
        CHECK_AT_MOST(tarry__expm1(x), tarry__expm1(y));
        CHECK_AT_MOST(tarry__ln(x), tarry__ln(y));
        CHECK_AT_MOST(tarry__log1p(x), tarry__log1p(y));
        CHECK_AT_MOST(tarry__pow(x, 1.5), tarry__pow(y, 1.5));
    }
}

/* The same bits on every machine: this digest holds for all of them. */
static void results_have_the_bits_of_every_machine(void **state)
{
    (void)state;
    uint64_t seed = 2385, digest = TARRY__BASE_DIGEST;
    for (int i = 0; i < 100000; i++) {
        const function *f = &functions[i % FUNCTIONS];
        double x; /* any bits, or an ordinary number */
        const uint64_t bits = test_bits(&seed);
        memcpy(&x, &bits, sizeof x);
        if (i / FUNCTIONS % 4 != 0)
            x = (test_uniform(&seed) - 0.25) * 30;
        const double y = f->f(x), power = tarry__pow(fabs(x), y);
        const double result[] = {isnan(y) ? 0 : y, isnan(power) ? 0 : power};
        digest = tarry__base_digest(digest, result, sizeof result);
    }
    assert_int_equal(digest, 0x2d5c2e0b8647d6f2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_below_the_stated_bounds),
        cmocka_unit_test(powers_are_below_the_stated_bound),
        cmocka_unit_test(special_values_are_those_of_the_standard),
        cmocka_unit_test(powers_have_the_special_values_of_the_standard),
        cmocka_unit_test(powers_of_bases_and_cubes_come_out_whole),
        cmocka_unit_test(neighbours_are_in_order),
        cmocka_unit_test(results_have_the_bits_of_every_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
