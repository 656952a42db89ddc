/* design=regret: the plays it plans keep their constraints, exactly, and cost
 * nearly as little as any that do (regret_design.c has the problem). */
#include "check.h"
#include <string.h>
#include "policy/phased/phased.h"

enum { K = 9, R = 3 };
static const double EPSILON = 0.125;

typedef struct {
    double arms[K * R];
    tarry__policy_problem problem;
    tarry__books books;
    uint32_t active[K];
    tarry_plan_entry entry[K];
    tarry__phased_plan near;
    tarry__phased_task task;
} set_up;

/* Arms around a few directions, losses by a vector, a design on all arms. */
static void begin(set_up *s, uint64_t seed)
{
    static const double W[R * R] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < K * R; i++)
        s->arms[i] = test_normal(&seed) / 2;
    s->problem = (tarry__policy_problem){
        .n_arms = K, .dim = R, .arms = s->arms, .horizon = 5000};
    s->books = (tarry__books){.width = 1, .lowest = -1, .learned = 1};
    assert_int_equal(tarry__books_open(&s->books, &s->problem, R, W), TARRY_OK);
    for (size_t k = 0; k < K; k++) {
        const double mean = 0.5 * s->arms[k * R] - 0.3 * s->arms[k * R + 1];
        s->books.plays[k] = s->books.arrivals[k] = 40;
        s->books.sums[k] = 40 * mean;
        s->active[k] = (uint32_t)k;
        s->entry[k] = (tarry_plan_entry){.arm = k, .weight = 1.0 / K};
    }
    s->near = (tarry__phased_plan){.n_active = K,
                                   .active = s->active,
                                   .n_entries = K,
                                   .entry = s->entry,
                                   .rank = R};
    s->task = (tarry__phased_task){.problem = &s->problem,
                                   .epsilon = EPSILON,
                                   .ordinal = 2,
                                   .confidence = seed % 2 ? 0.9 : 0,
                                   .books = &s->books};
}

/* ---- the problem, once more -----------------------------------------------*/

static size_t best_of(const set_up *s)
{
    size_t best = 0;
    for (size_t k = 1; k < K; k++)
        if (s->books.means[k] < s->books.means[best])
            best = k;
    return best;
}

static double gap_of(const set_up *s, size_t k)
{
    return s->books.means[k] - s->books.means[best_of(s)];
}

/* y = (a - b) / u(a) sqrt(2 L). */
static void question(const set_up *s, size_t k, double *y)
{
    const double L = s->task.confidence > 0
                         ? log(2 * K * 2 * 3 / (1 - s->task.confidence))
                         : log(K * ceil(log(5000) / log(2)) * 5000);
    const double u = fmin(fmax(0.75 * gap_of(s, k), 2 * EPSILON), 4 * EPSILON);
    for (size_t i = 0; i < R; i++)
        y[i] = sqrt(2 * L) / u *
               (s->arms[k * R + i] - s->arms[best_of(s) * R + i]);
}

/* The inverse of sum N a a', of 3 by 3, by cofactors. */
static void inverse_of(const set_up *s, const double *N, double P[R][R])
{
    double V[R][R] = {{0}};
    for (size_t k = 0; k < K; k++)
        for (size_t i = 0; i < R; i++)
            for (size_t j = 0; j < R; j++)
                V[i][j] += N[k] * s->arms[k * R + i] * s->arms[k * R + j];
    double det = 0;
    for (size_t i = 0; i < R; i++)
        for (size_t j = 0; j < R; j++) {
            const size_t a = (i + 1) % R, b = (i + 2) % R;
            const size_t c = (j + 1) % R, d = (j + 2) % R;
            P[j][i] = V[a][c] * V[b][d] - V[a][d] * V[b][c];
            det += V[i][j] * P[j][i] / R;
        }
    for (size_t i = 0; i < R * R; i++)
        P[i / R][i % R] /= det;
}

static double form(double P[R][R], const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < R; i++)
        for (size_t j = 0; j < R; j++)
            sum += x[i] * P[i][j] * y[j];
    return sum;
}

/* The largest y' V(N)^-1 y: at most 1, if all constraints hold. */
static double worst(const set_up *s, const double *N, double *each)
{
    double P[R][R], y[R], most = 0;
    inverse_of(s, N, P);
    for (size_t k = 0; k < K; k++) {
        question(s, k, y);
        each[k] = form(P, y, y);
        most = fmax(most, each[k]);
    }
    return most;
}

static double price(const set_up *s, const double *N, double floor)
{
    double sum = 0;
    for (size_t k = 0; k < K; k++)
        sum += N[k] * (gap_of(s, k) + floor * EPSILON);
    return sum;
}

/* Twice the derivative of sum l y' V^-1 y by the cost that goes to an arm. */
static double use_of(const set_up *s, double P[R][R], const double *l,
                     size_t arm, double cost)
{
    double sum = 0, y[R];
    for (size_t k = 0; k < K; k++) {
        question(s, k, y);
        const double x = form(P, s->arms + arm * R, y);
        sum += l[k] * x * x;
    }
    return sum / cost;
}

static void normalise(double *x)
{
    double sum = 0;
    for (size_t k = 0; k < K; k++)
        sum += x[k];
    for (size_t k = 0; k < K; k++)
        x[k] /= sum;
}

/* The least price of a plan that keeps the constraints, found from all arms
 * alike in many more steps. */
static double least_price(const set_up *s, double floor)
{
    double p[K], l[K], N[K], each[K], P[R][R], least = INFINITY;
    for (size_t k = 0; k < K; k++)
        p[k] = l[k] = 1.0 / K;
    for (int i = 0; i < 3000; i++) {
        for (size_t k = 0; k < K; k++)
            N[k] = p[k] / (gap_of(s, k) + floor * EPSILON);
        least = fmin(least, worst(s, N, each));
        inverse_of(s, N, P);
        for (size_t k = 0; k < K; k++)
            l[k] *= each[k];
        normalise(l);
        for (size_t k = 0; k < K; k++)
            p[k] *= sqrt(use_of(s, P, l, k, gap_of(s, k) + floor * EPSILON));
        normalise(p);
    }
    return least;
}

/* ---- plans ----------------------------------------------------------------*/

/* A plan of at most so many plays, if there is one. */
static bool make_plan(const set_up *s, double most, double *N)
{
    bool better;
    size_t support = 0;
    double sum = 0, each[K];
    assert_int_equal(
        tarry__phased_regret_plan(&s->task, &s->near, most, N, &better),
        TARRY_OK);
    if (!better)
        return false;
    CHECK_NEAR(worst(s, N, each), 1, 1e-9);
    for (size_t k = 0; k < K; k++) {
        assert_true(N[k] >= 0);
        support += N[k] > 0;
        sum += N[k];
    }
    CHECK_AT_MOST((double)support, R * (R + 1) / 2);
    CHECK_AT_MOST(sum, most);
    return true;
}

static double plays_of(const double *N)
{
    double sum = 0;
    for (size_t k = 0; k < K; k++)
        sum += N[k];
    return sum;
}

/* A few steps come within a twentieth of the best plan, most of them within a
 * hundredth. */
static void plans_keep_their_constraints_at_least_cost(void **state)
{
    (void)state;
    double sum = 0, N[K];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        set_up s;
        begin(&s, seed);
        assert_true(make_plan(&s, 1e12, N));
        const double ratio = price(&s, N, 1.0 / 32) / least_price(&s, 1.0 / 32);
        CHECK_AT_MOST(ratio, 1.05);
        sum += ratio / 20;
        tarry__books_clear(&s.books);
    }
    CHECK_AT_MOST(sum, 1.01);
}

/* Plays that cost more are fewer; at some length there is no plan any more. */
static void
plans_that_would_be_long_are_made_shorter_or_not_at_all(void **state)
{
    (void)state;
    int shorter = 0, none = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        double N[K], fewer[K];
        set_up s;
        begin(&s, seed);
        assert_true(make_plan(&s, 1e12, N));
        assert_true(make_plan(&s, plays_of(N) * (1 + 1e-9), fewer));
        assert_true(plays_of(fewer) == plays_of(N));
        shorter += make_plan(&s, 0.99 * plays_of(N), fewer);
        none += !make_plan(&s, 0.3 * plays_of(N), fewer);
        tarry__books_clear(&s.books);
    }
    print_message("    %d shorter, %d not at all\n", shorter, none);
    assert_true(shorter > 5 && none > 5);
}

static void without_a_loss_there_is_no_plan(void **state)
{
    (void)state;
    double N[K];
    set_up s;
    begin(&s, 1);
    s.books.learned = 0;
    assert_false(make_plan(&s, 1e12, N));
    s.books.learned = 1;
    s.near.rank = 0;
    assert_false(make_plan(&s, 1e12, N));
    tarry__books_clear(&s.books);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_keep_their_constraints_at_least_cost),
        cmocka_unit_test(
            plans_that_would_be_long_are_made_shorter_or_not_at_all),
        cmocka_unit_test(without_a_loss_there_is_no_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
