/* The horizon from which on a bound says something, against the bounds
 * themselves at thousands of horizons: at the one before it the bound is above
 * 2T, and at none after it, and not where another phase begins either.
 *
 * TARRY_CAMPAIGN=1: a finer grid, and all policies in all worlds.
 */
#include "check.h"
#include <stdlib.h>
#include "bound/bound.h"

static const double longest = 0x1p39 - 1;

typedef struct {
    const char *instance, *delay;
} world;

static const world worlds[] = {
    {"sphere:dim=3,arms=7", "exponential:mean=100"},
    {"sphere:dim=2,arms=3", "exponential:mean=141.66,spread=4"},
    {"sphere:dim=5,arms=12", "low-late:late=3000"},
    {"basis:arms=4", "two-point:high=3000,p=0.4"},
    {"sphere:dim=4,arms=9", "hold-all:sigma=500"},
    {"sphere:dim=3,arms=5", "hold-rarest:sigma=2000"},
    {"cube:dim=3,arms=6", "none"},
    {"basis:arms=2", "uniform:high=1e5,spread=3"},
    {"sphere:dim=2,arms=40", "lomax:shape=1.5,scale=50"},
    {"sphere:dim=6,arms=8", "geometric:mean=30,never=0.3"},
    {"basis:arms=11", "exponential:mean=20,never=1e-3"},
    {"sphere:dim=3,arms=6", "poisson:mean=700"},
    {"sphere:dim=7,arms=15", "weibull:shape=0.5,scale=300"},
    {"sphere:dim=3,arms=4", "pareto:shape=1.1,scale=10,spread=2"},
    {"optimism", "constant:rounds=1e7"},
    {"sphere:dim=1,arms=2", "lognormal"},
    {"basis:arms=30", "high-late:late=200"},
    {"sphere:dim=4,arms=4", "shapes:mean=50,spread=3"},
    {"sphere:dim=8,arms=20", "exponential:mean=1e9"},
    {"sphere:dim=2,arms=5", "lomax:shape=0.4,scale=10"},
    {"basis:arms=1", "exponential:mean=5"},
};
enum { N_WORLDS = sizeof worlds / sizeof *worlds };

static const char *const policies[] = {
    "phased-stochastic",
    "phased-adversarial",
    "phased-loss-dependent",
    "phased-mab",
    "phased-mab:confidence=0.99",
    "phased-stochastic:constants=tight",
    "phased-adversarial:constants=tight",
    "phased-loss-dependent:constants=tight",
    "phased-mab:constants=tight",
    "phased-stochastic:constants=tight,confidence=0.9",
    "phased-stochastic:constants=tight,guide=lints,guide_share=4",
    "phased-adversarial:constants=tight,guide=lints,guide_share=99,cuts=always",
    "phased-loss-dependent:constants=tight,guide=uniform,design=regret",
    "phased-mab:constants=tight,guide=lints,guide_share=9",
    "recommended",
};
enum { N_PAPER = 4, N_POLICIES = sizeof policies / sizeof *policies };

static bool is_long(void)
{
    return getenv("TARRY_CAMPAIGN") != NULL;
}

static tarry__bound bound_at(const tarry__world *w, const char *policy,
                             double T)
{
    tarry__bound b;
    tarry_error error;
    if (tarry__bound_evaluate(w, policy, (uint64_t)T, &b, &error) != TARRY_OK)
        fail_msg("%s: %s", policy, error.text);
    return b;
}

/* How many phases there are at T, where the bound must say something. */
static size_t check(const tarry__world *w, const char *policy, double T)
{
    const tarry__bound b = bound_at(w, policy, fmin(T, longest));
    if (T <= longest && !(b.upper <= 2 * T && b.useful_from == 0))
        fail_msg("%s, %s, %s at T = %.0f: %.17g", policy, w->instance_text,
                 w->delay_text, T, b.upper);
    return b.n_phases;
}

/* Where as many phases as at `high` can begin first, after `low`. */
static double leap_between(const tarry__world *w, const char *policy,
                           double low, double high)
{
    const size_t n_phases = bound_at(w, policy, high).n_phases;
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        if (bound_at(w, policy, middle).n_phases < n_phases)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* All whole numbers from there on to a hundred, those about powers of 2, and
 * those about the next places where another phase can begin. */
static void check_near(const tarry__world *w, const char *policy, double from)
{
    for (int i = 0; i < (is_long() ? 2000 : 100); i++)
        check(w, policy, from + i);
    for (double k = exp2(ceil(log2(from + 1))); k < 0x1p39; k *= 2)
        for (int i = 0; i <= 2; i++)
            check(w, policy, k + i);
}

static void check_from(const tarry__world *w, const char *policy, double from)
{
    int leaps = is_long() ? 50 : 2;
    double before = from;
    size_t n_phases = check(w, policy, from), now;
    check_near(w, policy, from);
    for (double T = from; T < longest; T = ceil(T * (is_long() ? 1.01 : 1.1))) {
        now = check(w, policy, T);
        if (now > n_phases && leaps-- > 0) {
            const double leap = leap_between(w, policy, before, T);
            for (int i = -5; i <= 5; i++)
                check(w, policy, fmax(leap + i, from));
        }
        n_phases = now;
        before = T;
    }
}

/* The bound says nothing at the longest horizon; where it is said that it never
 * does, at no other. */
static void check_never(const tarry__world *w, const char *policy, bool at_none)
{
    assert_true(bound_at(w, policy, longest).upper > 2 * longest);
    for (double T = 2; at_none && T < 0x1p39; T = ceil(T * 1.1))
        assert_true(bound_at(w, policy, T).upper > 2 * T);
}

/* Whether a horizon is named. */
static bool check_policy(const tarry__world *w, const char *policy)
{
    const tarry__bound b = bound_at(w, policy, 2);
    if (b.upper_by == NULL)
        return false;
    assert_true(b.useful_from != 0); /* 2T = 4 is what failure costs */
    if (!isfinite(b.useful_from)) {
        check_never(w, policy, isinf(b.useful_from));
        return false;
    }
    const tarry__bound before = bound_at(w, policy, b.useful_from - 1);
    if (!(before.upper > 2 * (b.useful_from - 1)) ||
        before.useful_from != b.useful_from)
        fail_msg("%s, %s, %s: from %.0f, before it %.17g", policy,
                 w->instance_text, w->delay_text, b.useful_from, before.upper);
    check_from(w, policy, b.useful_from);
    return true;
}

static void
the_horizon_named_is_the_smallest_from_which_on_all_hold(void **state)
{
    size_t named[N_POLICIES] = {0};
    (void)state;
    for (size_t i = 0; i < N_WORLDS; i++) {
        tarry__world *w;
        tarry_error error;
        if (tarry__world_create(worlds[i].instance, "rademacher",
                                worlds[i].delay, 1, 0, &w, &error) != TARRY_OK)
            fail_msg("%s: %s", worlds[i].delay, error.text);
        for (size_t k = 0; k < N_POLICIES && (!BRIEF || i % 4 == 0); k++)
            if (k < N_PAPER || i % 5 == k % 5 || is_long())
                named[k] += check_policy(w, policies[k]);
        tarry__world_free(w);
    }
    for (size_t k = 0; k < N_POLICIES && !BRIEF; k++)
        if (named[k] < (k < N_PAPER ? 10 : 1))
            fail_msg("%s: named in %zu worlds only", policies[k], named[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_horizon_named_is_the_smallest_from_which_on_all_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
