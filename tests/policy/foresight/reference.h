/* reference.h - the policy `foresight` once more, as plain as can be.
 *
 * Written from the formulas of fit.h, noise.h, silence.h, doubt.h, law.h and
 * worth.h, but for pauses of all reports (waiting.h): each round's
 * fate stands in a log, from which all counts are made anew; arms stay in their
 * own coordinates, in which the prior of theta has the precision
 * lambda G, G = r / K sum of a a'; every variance is a dense solve.  Arms are
 * few and span all dimensions. */
#ifndef FORESIGHT_REFERENCE_H
#define FORESIGHT_REFERENCE_H

#include <stdbool.h>
#include <string.h>
#include "policy/play.h"
#include "tarry/random.h"

enum { R_DIM = 4, R_ARMS = 12, R_BINS = 36, R_ROOM = 2001 };
enum { R_ANY, R_INDEPENDENT, R_PAYOFF };

typedef struct {
    double matrix[R_DIM * R_DIM];
} square;

/* The probabilities of ends, as law.h has them. */
typedef struct {
    double ratio[2][R_BINS], pooled[R_BINS], alike[R_BINS], lost;
    double hazard[R_ARMS][R_BINS]; /* by seat */
} delay_model;

typedef struct {
    size_t n_arms, dim;
    double arms[R_ARMS * R_DIM];
    bool gone[R_ARMS];
    int delays;
    double beta, c;
    uint64_t horizon, seed;
    uint32_t run;
    /* the log */
    uint64_t now, end_of[R_ROOM]; /* now when it ended; 0: it has not */
    size_t arm_of[R_ROOM], seat_of[R_ARMS], n_seats;
    bool played[R_ARMS], cancelled[R_ROOM];
    double loss_of[R_ROOM], high_of[R_ROOM]; /* share that is high */
    /* the estimate */
    double theta[R_DIM], low, high, lambda, p[R_ARMS], silence;
    double noise[R_ARMS]; /* by arm: the bound on the variance */
    square coming;        /* V and what is to come, with all plays since */
    uint64_t renew_at, try_at;
    bool stale;
    delay_model law;
    /* the choice */
    size_t best, other;
    double share;
    bool calm;
    uint64_t until;
    /* counts, made anew with each estimate; by seat */
    double waiting[R_ARMS][R_BINS], ended[R_ARMS][2][R_BINS];
    double made[R_ARMS][R_BINS];
    size_t used;
} reference;

/* ---- small things ---------------------------------------------------------*/

static inline double between(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

/* x with A x = b, by elimination with pivots. */
static inline void solve(const square *A, const double *b, size_t n, double *x)
{
    double M[R_DIM][R_DIM + 1];
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            M[i][j] = A->matrix[i * n + j];
        M[i][n] = b[i];
    }
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k; i < n; i++)
            if (fabs(M[i][k]) > fabs(M[pivot][k]))
                pivot = i;
        for (size_t j = 0; j <= n; j++) {
            const double swap = M[k][j];
            M[k][j] = M[pivot][j];
            M[pivot][j] = swap;
        }
        for (size_t i = 0; i < n; i++) {
            const double factor = i != k ? M[i][k] / M[k][k] : 0;
            for (size_t j = 0; j <= n; j++)
                M[i][j] -= factor * M[k][j];
        }
    }
    for (size_t i = 0; i < n; i++)
        x[i] = M[i][n] / M[i][i];
}

/* x' A^-1 y. */
static inline double form(const square *A, const double *x, const double *y,
                          size_t n)
{
    double solved[R_DIM];
    solve(A, y, n, solved);
    return dot_product(x, solved, n);
}

static inline void add_outer(square *A, double c, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            A->matrix[i * n + j] += c * x[i] * x[j];
}

static inline const double *features(const reference *f, size_t arm)
{
    return f->arms + arm * f->dim;
}

/* The prior: G = r / K sum of a a'. */
static inline square prior_of(const reference *f)
{
    square G = {{0}};
    for (size_t k = 0; k < f->n_arms; k++)
        add_outer(&G, (double)f->dim / (double)f->n_arms, features(f, k),
                  f->dim);
    return G;
}

/* Bins start at 0, 1, 2, 3, 4, 6, 8, 12, 16, ... */
static inline size_t bin_at(uint64_t age)
{
    uint64_t start = 1, width = 1;
    for (size_t j = 0; j < R_BINS; j++) {
        if (age < start)
            return j;
        start += width;
        if (j >= 2 && j % 2 == 0)
            width *= 2;
    }
    return R_BINS - 1;
}

/* ---- the log --------------------------------------------------------------*/

static inline reference make_reference(const game *g,
                                       const tarry_policy_params *params,
                                       int delays, double beta, double c)
{
    reference f = {.n_arms = params->n_arms,
                   .dim = g->dim,
                   .delays = delays,
                   .beta = beta,
                   .c = c,
                   .horizon = params->horizon,
                   .seed = params->seed,
                   .run = params->run,
                   .low = -1,
                   .high = 1,
                   .lambda = 1,
                   .stale = true,
                   .law = {.lost = 0.1}};
    assert_true(g->dim <= R_DIM && g->n_arms <= R_ARMS);
    memcpy(f.arms, g->arms, g->n_arms * g->dim * sizeof *f.arms);
    for (size_t k = 0; k < R_ARMS; k++)
        f.noise[k] = 1;
    for (size_t j = 0; j < R_BINS; j++) {
        f.law.ratio[0][j] = f.law.ratio[1][j] = 1;
        f.law.pooled[j] = 0.5;
        f.law.alike[j] = 300;
        for (size_t k = 0; k < R_ARMS; k++)
            f.law.hazard[k][j] = 0.5;
    }
    return f;
}

static inline void book_play(reference *f, size_t arm)
{
    f->arm_of[++f->now] = arm;
    if (!f->played[arm])
        f->seat_of[arm] = f->n_seats++;
    f->played[arm] = true;
}

static inline void book_loss(reference *f, uint64_t round, double loss)
{
    f->end_of[round] = f->now;
    f->loss_of[round] = loss;
    f->high_of[round] = between((loss - f->low) / (f->high - f->low), 0, 1);
}

static inline void book_cancel(reference *f, uint64_t round)
{
    f->end_of[round] = f->now;
    f->cancelled[round] = true;
}

static inline bool is_waiting(const reference *f, uint64_t round)
{
    return f->end_of[round] == 0;
}

static inline void count_ages(reference *f)
{
    memset(f->waiting, 0, sizeof f->waiting);
    memset(f->ended, 0, sizeof f->ended);
    memset(f->made, 0, sizeof f->made);
    for (uint64_t t = 1; t <= f->now; t++) {
        const size_t seat = f->seat_of[f->arm_of[t]];
        const uint64_t last = is_waiting(f, t) ? f->now : f->end_of[t];
        const size_t j = bin_at(last - t);
        if (j >= f->used)
            f->used = j + 1;
        if (!f->cancelled[t])
            f->made[seat][bin_at(f->now - t)]++;
        if (is_waiting(f, t))
            f->waiting[seat][j]++;
        else if (!f->cancelled[t]) {
            f->ended[seat][0][j] += f->high_of[t];
            f->ended[seat][1][j] += 1 - f->high_of[t];
        }
    }
}

typedef struct {
    double plays, losses, sum, squares;
} arm_count;

/* Of one arm, or of all: R_ARMS. */
static inline arm_count count_of(const reference *f, size_t arm)
{
    arm_count c = {0, 0, 0, 0};
    for (uint64_t t = 1; t <= f->now; t++) {
        if (f->cancelled[t] || (arm != R_ARMS && f->arm_of[t] != arm))
            continue;
        c.plays++;
        if (is_waiting(f, t))
            continue;
        c.losses++;
        c.sum += f->loss_of[t];
        c.squares += f->loss_of[t] * f->loss_of[t];
    }
    return c;
}

/* ---- the law of delays ----------------------------------------------------*/

typedef struct {
    double reach[2][R_BINS + 1]; /* shares of plays that reach a bin */
} ways;

static inline ways ways_of(const reference *f, const delay_model *law,
                           const double *hazard, double p)
{
    ways w;
    for (int s = 0; s < 2; s++) {
        w.reach[s][0] = (1 - law->lost) * (s == 0 ? p : 1 - p);
        for (size_t j = 0; j < f->used; j++)
            w.reach[s][j + 1] =
                w.reach[s][j] * (1 - fmin(law->ratio[s][j] * hazard[j], 0.98));
    }
    return w;
}

typedef struct {
    double surplus, known, coming, silent, answers;
} news;

/* How old plays of an arm are that have reached a bin: 1 if hardly any loss
 * came later, of its own and of all. */
static inline double oldness(const reference *f, size_t seat, size_t j)
{
    double own = 0, later = 0, all = 0, all_later = 0;
    for (size_t i = 0; i < f->n_seats; i++)
        for (size_t b = 0; b < f->used; b++) {
            const double count = f->ended[i][0][b] + f->ended[i][1][b];
            all += count;
            all_later += b > j ? count : 0;
            own += i == seat ? count : 0;
            later += i == seat && b > j ? count : 0;
        }
    const double tail = (later + 20 * all_later / fmax(all, 1)) / (own + 20);
    return between(1 - tail / 0.05, 0, 1);
}

static inline news news_by_law(const reference *f, size_t seat, double p)
{
    news n = {0, 0, 0, 0, 0};
    const delay_model *law = &f->law;
    const ways w = ways_of(f, law, law->hazard[seat], p);
    const double late = w.reach[0][f->used] + w.reach[1][f->used];
    for (size_t j = 0; j < f->used; j++) {
        const double lost = 1.1 * law->lost;
        const double all = w.reach[0][j] + w.reach[1][j] + lost;
        const double q = (w.reach[0][j] + lost * p) / all;
        const double share = between(1 - q * (1 - q) / (p * (1 - p)), 0, 1);
        const double never = law->lost + (f->used < R_BINS ? 0.5 : 1) * late;
        n.surplus += f->waiting[seat][j] * (q - p);
        n.known += f->waiting[seat][j] * share;
        n.coming += f->waiting[seat][j] * (1 - share) * (1 - never / all);
        const double old = oldness(f, seat, j);
        n.silent += old * f->waiting[seat][j] * (1 - share);
        n.answers += old * (f->made[seat][j] - f->waiting[seat][j]);
    }
    return n;
}

/* Plays of a class that were at risk of ending in bin j. */
static inline double at_risk(const reference *f, const ways *w, double lost,
                             size_t seat, int s, size_t j)
{
    double risk = 0;
    for (size_t i = j; i < f->used; i++) {
        const double part =
            w->reach[s][i] / (w->reach[0][i] + w->reach[1][i] + 1.1 * lost);
        risk += f->ended[seat][s][i] +
                (i == j ? 0.5 : 1) * part * f->waiting[seat][i];
    }
    return risk;
}

/* 1 / variance of factors between counts and what was expected. */
static inline double likeness_of(double excess, double squares, double first,
                                 double weight)
{
    return (squares + weight) / (fmax(excess, 0) + weight / first);
}

/* One step of EM from a law to the next; `free`: arms have their own hazards,
 * and the belief that they are alike gives way. */
static inline delay_model learnt(const reference *f, const delay_model *law,
                                 const double *p, bool free)
{
    delay_model next = *law;
    double ended[2][R_BINS] = {{0}}, risk[2][R_BINS] = {{0}};
    double expected[2][R_BINS] = {{0}}, lost = 0, come = 0;
    double excess = 0, squares = 0;
    for (size_t j = 0; j < f->used; j++) {
        double arm_excess = 0, arm_squares = 0;
        for (size_t i = 0; i < f->n_seats; i++) {
            const double *hazard = free ? law->hazard[i] : law->pooled;
            const ways w = ways_of(f, law, hazard, p[i]);
            const double all = w.reach[0][j] + w.reach[1][j] + 1.1 * law->lost;
            double usual = 0, ends = 0;
            for (int s = 0; s < 2; s++) {
                const double r = at_risk(f, &w, law->lost, i, s, j);
                const double e = f->ended[i][s][j];
                ended[s][j] += e;
                risk[s][j] += r;
                expected[s][j] += r * hazard[j];
                usual += r * law->ratio[s][j] * law->pooled[j];
                ends += e;
                come += e + f->waiting[i][j] * w.reach[s][j] / all;
            }
            lost += f->waiting[i][j] * 1.1 * law->lost / all;
            arm_excess += (ends - usual) * (ends - usual) - usual;
            arm_squares += usual * usual;
            if (free)
                next.hazard[i][j] = law->pooled[j] * (ends + law->alike[j]) /
                                    (usual + law->alike[j]);
        }
        const double alike =
            between(likeness_of(arm_excess, arm_squares, 300, 30), 1, 300);
        if (free)
            next.alike[j] = pow(law->alike[j], 0.9) * pow(alike, 0.1);
        next.pooled[j] =
            (ended[0][j] + ended[1][j] + 0.5) / (risk[0][j] + risk[1][j] + 1);
        for (int s = 0; s < 2; s++) {
            const double far = ended[s][j] - expected[s][j];
            excess += far * far - expected[s][j];
            squares += expected[s][j] * expected[s][j];
        }
    }
    const double prior = between(likeness_of(excess, squares, 10, 100), 2, 50);
    for (size_t j = 0; j < f->used; j++)
        for (int s = 0; s < 2; s++)
            next.ratio[s][j] = (ended[s][j] + prior) / (expected[s][j] + prior);
    next.lost = (lost + 2.5) / (lost + come + 25);
    return next;
}

/* The logarithm of the likelihood of what all plays did. */
static inline double explained(const reference *f, const delay_model *law,
                               const double *p, bool free)
{
    double sum = 0;
    for (size_t i = 0; i < f->n_seats; i++) {
        const ways w =
            ways_of(f, law, free ? law->hazard[i] : law->pooled, p[i]);
        double plays = 0;
        for (size_t j = 0; j < f->used; j++) {
            double middle = law->lost;
            for (int s = 0; s < 2; s++) {
                const double here = w.reach[s][j], next = w.reach[s][j + 1];
                plays += f->ended[i][s][j];
                if (f->ended[i][s][j] > 0)
                    sum += f->ended[i][s][j] * log(here - next);
                middle += (here + next) / 2;
            }
            sum += f->waiting[i][j] * log(middle);
        }
        const double q = between(p[i], 1 / (plays + 2), 1 - 1 / (plays + 2));
        sum += log(2 * 3.14159265358979323846 * q * (1 - q) / (plays + 1)) / 2;
    }
    return sum;
}

/* Which share of an arm's losses is high, if what is missing is like the rest
 * (0), low (1), or high (2). */
static inline double supposed(const reference *f, size_t seat, int missing)
{
    double high = 1, plays = 2;
    for (size_t j = 0; j < f->used; j++) {
        high += f->ended[seat][0][j];
        plays += f->ended[seat][0][j] + f->ended[seat][1][j];
        if (missing == 2)
            high += f->waiting[seat][j];
        if (missing != 0)
            plays += f->waiting[seat][j];
    }
    return high / plays;
}

static inline delay_model led_from(const reference *f, int missing, double *p)
{
    static const double ratios[] = {1, 1.8, 0.2};
    delay_model law = {.lost = 0.02};
    for (size_t j = 0; j < R_BINS; j++) {
        law.ratio[0][j] = ratios[missing];
        law.ratio[1][j] = 2 - ratios[missing];
        law.pooled[j] = 0.5;
        law.alike[j] = 300;
    }
    for (size_t i = 0; i < f->n_seats; i++)
        p[i] = supposed(f, i, missing);
    for (int step = 0; step < 4; step++)
        law = learnt(f, &law, p, false);
    return law;
}

/* True: a law that explains more than the one there is has been taken. */
static inline bool try_other_laws(reference *f)
{
    double p[R_ARMS], most = explained(f, &f->law, f->p, true) + 5;
    delay_model best = f->law;
    bool found = false;
    for (int missing = 0; missing < 3; missing++) {
        const delay_model law = led_from(f, missing, p);
        const double now = explained(f, &law, p, false);
        if (now <= most)
            continue;
        most = now;
        best = law;
        found = true;
        memcpy(f->p, p, sizeof p);
    }
    f->law = best;
    /* arms are alike: also those that have not been played */
    for (size_t i = 0; found && i < f->n_arms; i++)
        memcpy(f->law.hazard[i], best.pooled, sizeof best.pooled);
    return found;
}

/* Whether the law is another than before. */
static inline bool learn_law(reference *f)
{
    if (f->now >= f->try_at) {
        f->try_at = (uint64_t)(1.1 * (double)f->now) + 1;
        if (try_other_laws(f))
            return true;
    }
    f->law = learnt(f, &f->law, f->p, true);
    return false;
}

/* ---- where the wait is the loss -------------------------------------------*/

/* Of a play that reaches bin j: its loss on average, by Kaplan and Meier. */
static inline double worth_of(const reference *f, size_t j, int power)
{
    double reach = 1, sum = 0;
    for (size_t i = j; i < f->used; i++) {
        double risk = 0, ended = 0, high = 0;
        for (size_t k = 0; k < f->n_seats; k++) {
            ended += f->ended[k][0][i] + f->ended[k][1][i];
            high += f->ended[k][0][i];
            for (size_t l = i; l < f->used; l++)
                risk += f->ended[k][0][l] + f->ended[k][1][l] +
                        (l == i ? 0.5 : 1) * f->waiting[k][l];
        }
        if (ended == 0)
            continue;
        sum += reach * ended / risk * pow(high / ended, power);
        reach *= 1 - ended / risk;
    }
    return sum + reach;
}

static inline news news_by_wait(const reference *f, size_t seat, double p)
{
    news n = {0, 0, 0, 0, 0};
    for (size_t j = 0; j < f->used; j++) {
        const double mean = worth_of(f, j + 1, 1);
        const double rest = worth_of(f, j + 1, 2) - mean * mean;
        const double share = between(1 - rest / (p * (1 - p)), 0, 1);
        n.surplus += f->waiting[seat][j] * share * (mean - p);
        n.known += f->waiting[seat][j] * share;
        n.coming += f->waiting[seat][j] * (1 - share);
    }
    return n;
}

/* ---- the estimate ---------------------------------------------------------*/

static inline double mean_by(const reference *f, size_t arm)
{
    return dot_product(features(f, arm), f->theta, f->dim);
}

static inline void set_range(reference *f)
{
    double lowest = 1, highest = -1;
    const arm_count all = count_of(f, R_ARMS);
    const double n = all.losses, out = all.plays - n;
    if (n == 0)
        return;
    for (uint64_t t = 1; t <= f->now; t++)
        if (!is_waiting(f, t) && !f->cancelled[t]) {
            lowest = fmin(lowest, f->loss_of[t]);
            highest = fmax(highest, f->loss_of[t]);
        }
    const double lost = f->delays == R_ANY ? f->law.lost * all.plays : 0;
    const double prior =
        10 + 10 * out * out / (n + out) + 300 * lost * lost / (n + lost);
    const double below = f->delays == R_PAYOFF ? 1 : prior;
    f->low = (n * lowest - below) / (n + below);
    f->high = (n * highest + prior) / (n + prior);
}

static inline news news_of(const reference *f, size_t arm)
{
    const size_t seat = f->seat_of[arm];
    const arm_count c = count_of(f, arm);
    const double outstanding = c.plays - c.losses;
    if (f->delays == R_INDEPENDENT || outstanding == 0)
        return (news){0, 0, outstanding, 0, 0};
    news n = f->delays == R_PAYOFF ? news_by_wait(f, seat, f->p[seat])
                                   : news_by_law(f, seat, f->p[seat]);
    n.surplus +=
        fabs(f->silence) * n.silent * ((f->silence > 0 ? 1 : 0) - f->p[seat]);
    n.known += fabs(f->silence) * n.silent;
    return n;
}

/* ---- the noise, and what silence means ------------------------------------*/

static inline double variance_bound(const reference *f, const square *N,
                                    const square *Q, size_t arm, double out,
                                    double misfit)
{
    const double *a = features(f, arm);
    double y[R_DIM], square_of = 0;
    solve(N, a, f->dim, y);
    const double h = dot_product(a, y, f->dim);
    for (size_t i = 0; i < f->dim; i++)
        square_of += y[i] * dot_product(Q->matrix + i * f->dim, y, f->dim);
    const double off =
        fmax(0, (1 - out) * fabs(mean_by(f, arm)) - out - sqrt(h));
    const double most = off < 1 ? 1 - off * off : 0;
    return fmax(0.00025, fmin(square_of / h + 12 * h, most + misfit));
}

static inline void set_noise(reference *f)
{
    const arm_count all = count_of(f, R_ARMS);
    square N = prior_of(f), Q = N;
    double misfit = 0;
    for (size_t k = 0; k < f->n_arms; k++) {
        if (!f->played[k])
            continue;
        const arm_count c = count_of(f, k);
        const double p = f->p[f->seat_of[k]], range = f->high - f->low;
        const news w = news_of(f, k);
        const double m = mean_by(f, k);
        double squares = 0, sum = range * w.surplus;
        for (uint64_t t = 1; t <= f->now; t++)
            if (f->arm_of[t] == k && !is_waiting(f, t) && !f->cancelled[t]) {
                squares += (f->loss_of[t] - m) * (f->loss_of[t] - m);
                sum += f->loss_of[t] - m;
            }
        const double more = fmax(0.25 * sum * sum - squares, 0);
        const double out = f->delays == R_ANY ? c.plays - c.losses : w.known;
        const double each =
            f->delays == R_ANY ? 1 : p * (1 - p) * range * range;
        misfit += more;
        add_outer(&N, c.losses + out, features(f, k), f->dim);
        add_outer(&Q, squares + more + each * out, features(f, k), f->dim);
    }
    const double out = f->delays == R_ANY ? all.plays - all.losses : 0;
    for (size_t k = 0; k < f->n_arms; k++)
        f->noise[k] = variance_bound(f, &N, &Q, k, out / fmax(all.plays, 1),
                                     misfit / fmax(all.losses, 1));
}

static inline double x_log_y(double x, double y)
{
    return x > 0 ? x * log(y) : 0;
}

/* Silence of one arm by a law, see silence.h: `part` are the losses of the kind
 * that may be silent, `rest` the others; and the same of all arms. */
static inline double silence_by(double s, double part, double rest,
                                double all_s, double all_part, double *off)
{
    const double lost = all_s / (all_s + all_part), n = s + part;
    const double q = between(lost, 1e-9, 1 - 1e-9);
    const double variance = lost * n * (1 - q);
    if (variance > 0.5)
        *off += (s - lost * n) * (s - lost * n) / variance;
    return x_log_y(s, q) + x_log_y(part, 1 - q) +
           x_log_y(rest, rest / (n + rest)) + x_log_y(n, n / (n + rest));
}

/* How much the ages of losses differ between arms. */
static inline double unlikeness(const reference *f)
{
    double count = 0, sum = 0, squares = 0, between_arms = 0, arms = 0;
    for (size_t i = 0; i < f->n_seats; i++)
        for (size_t j = 0; j < f->used; j++) {
            const double e = f->ended[i][0][j] + f->ended[i][1][j];
            count += e;
            sum += e * (double)j;
            squares += e * (double)j * (double)j;
        }
    const double mean = sum / count, variance = squares / count - mean * mean;
    if (!(count > 1) || !(variance > 0))
        return 0;
    for (size_t i = 0; i < f->n_seats; i++) {
        double n = 0, off = 0;
        for (size_t j = 0; j < f->used; j++) {
            const double e = f->ended[i][0][j] + f->ended[i][1][j];
            n += e;
            off += e * ((double)j - mean);
        }
        if (n > 1) {
            between_arms += off * off / n / variance;
            arms++;
        }
    }
    return arms > 1 ? between_arms / (arms - 1) : 0;
}

static inline void set_silence(reference *f)
{
    double high[R_ARMS], low[R_ARMS], silent[R_ARMS], H = 0, L = 0, S = 0;
    double lowest = 1, highest = -1, arms = 0;
    f->silence = 0;
    if (f->delays != R_ANY)
        return;
    for (uint64_t t = 1; t <= f->now; t++)
        if (!is_waiting(f, t) && !f->cancelled[t]) {
            lowest = fmin(lowest, f->loss_of[t]);
            highest = fmax(highest, f->loss_of[t]);
        }
    for (size_t k = 0, i; k < f->n_arms; k++) {
        if (!f->played[k])
            continue;
        const arm_count c = count_of(f, k);
        const news w = news_of(f, k);
        i = f->seat_of[k];
        double share = lowest > 0.9;
        if (c.losses > 0 && highest > lowest)
            share = (c.sum / c.losses - lowest) / (highest - lowest);
        H += high[i] = w.answers * share;
        L += low[i] = w.answers * (1 - share);
        S += silent[i] = w.silent;
    }
    double by_chance = 0, by_high = 0, by_low = 0, off[3] = {0, 0, 0};
    for (size_t i = 0; i < f->n_seats && S > 1; i++) {
        const double h = high[i], l = low[i], s = silent[i];
        if (!(h + l + s > 1))
            continue;
        by_chance += silence_by(s, h + l, 0, S, H + L, &off[0]);
        if (h + l > 0)
            by_chance += x_log_y(h, h / (h + l)) + x_log_y(l, l / (h + l));
        by_high += silence_by(s, h, l, S, H, &off[1]);
        by_low += silence_by(s, l, h, S, L, &off[2]);
        arms++;
    }
    if (arms < 2)
        return;
    const bool is_high = by_high >= by_low;
    const double more = ((is_high ? by_high : by_low) - by_chance) /
                        fmax(1, off[is_high ? 1 : 2] / (arms - 1));
    f->silence = (is_high ? 1 : -1) * between(more / 15 - 1, 0, 1) *
                 between(2 - unlikeness(f) / 2, 0, 1);
}

/* One step of scoring; V is left for lambda.  `anew`: what is expected of the
 * plays that wait is taken as if it had come.  False: the step was cut. */
static inline bool score(reference *f, bool anew, bool careful, square *V)
{
    const size_t n = f->dim;
    double step[R_DIM] = {0}, move[R_DIM];
    const square G = prior_of(f);
    for (size_t i = 0; i < n * n; i++)
        V->matrix[i] = f->lambda * G.matrix[i];
    f->coming = *V;
    for (size_t i = 0; i < n; i++)
        step[i] = -dot_product(V->matrix + i * n, f->theta, n);
    for (size_t k = 0; k < f->n_arms; k++) {
        if (!f->played[k])
            continue;
        const arm_count c = count_of(f, k);
        const double raw = mean_by(f, k), range = f->high - f->low;
        const double mean = between(raw, f->low, f->high);
        const double weight = 1 / f->noise[k];
        const double outstanding = c.plays - c.losses;
        double *p = &f->p[f->seat_of[k]];
        if (!anew)
            *p = between((mean - f->low) / range, 0.01, 0.99);
        news w = news_of(f, k);
        if (anew)
            w = (news){w.surplus + outstanding * (*p - (raw - f->low) / range),
                       outstanding, 0, 0, 0};
        add_outer(V, weight * (c.losses + w.known), features(f, k), n);
        add_outer(&f->coming, weight * (c.losses + w.known + w.coming),
                  features(f, k), n);
        for (size_t i = 0; i < n; i++)
            step[i] += weight * (c.sum - c.losses * raw + range * w.surplus) *
                       features(f, k)[i];
    }
    solve(V, step, n, move);
    const double length = sqrt(dot_product(move, step, n));
    const double part = careful && length > 3 ? 3 / length : 1;
    for (size_t i = 0; i < n; i++)
        f->theta[i] += part * move[i];
    return part == 1;
}

/* 1 / variance of theta's entries, in coordinates in which G is the identity.
 */
static inline void set_lambda(reference *f, const square *V)
{
    const size_t n = f->dim;
    const square G = prior_of(f);
    double sum = 1;
    for (size_t i = 0; i < n; i++) {
        double x[R_DIM];
        solve(V, G.matrix + i * n, n, x); /* trace of V^-1 G */
        sum += x[i] + f->theta[i] * dot_product(G.matrix + i * n, f->theta, n);
    }
    f->lambda = between((double)(n + 1) / sum, 0.3, 100);
}

static inline bool set_estimate(reference *f)
{
    square V;
    double waiting = 0;
    for (uint64_t t = 1; t <= f->now; t++)
        waiting += is_waiting(f, t);
    set_range(f);
    count_ages(f);
    const bool settled = score(f, false, f->delays == R_ANY && waiting > 0, &V);
    set_noise(f);
    set_lambda(f, &V);
    set_silence(f);
    if (f->delays != R_ANY || f->used <= 1 || !learn_law(f))
        return settled;
    for (int i = 0; i < 3; i++)
        score(f, true, false, &V);
    return false;
}

/* ---- the choice -----------------------------------------------------------*/

static inline double clipped_mean(const reference *f, size_t arm)
{
    return between(mean_by(f, arm), f->low, f->high);
}

static inline double gap_of(const reference *f, size_t arm)
{
    return clipped_mean(f, arm) - clipped_mean(f, f->best);
}

static inline void renew_reference(reference *f)
{
    f->stale = !set_estimate(f);
    const arm_count all = count_of(f, R_ARMS);
    const double count = all.plays + all.losses;
    f->renew_at = (uint64_t)(count + fmax(floor(0.01 * count), 1));
    f->best = R_ARMS;
    for (size_t k = 0; k < f->n_arms; k++)
        if (!f->gone[k] &&
            (f->best == R_ARMS || mean_by(f, k) < mean_by(f, f->best)))
            f->best = k;
    f->other = f->best;
    f->calm = false;
    f->until = 0;
}

static inline double covariance(const reference *f, size_t k, size_t one,
                                size_t other)
{
    return form(&f->coming, features(f, k), features(f, one), f->dim) -
           form(&f->coming, features(f, k), features(f, other), f->dim);
}

/* Variance of the difference of an arm and the best one. */
static inline double doubt_variance(const reference *f, size_t k)
{
    return covariance(f, k, k, f->best) - covariance(f, f->best, k, f->best);
}

static inline double doubt_of(const reference *f, size_t k, uint64_t round)
{
    const double ahead = fmin((double)round, (double)(f->horizon - round + 1));
    const double w = doubt_variance(f, k);
    const double repaid = f->c * ahead * w / f->noise[k];
    const double L = repaid > 1 ? 2 * f->beta * log(repaid) : 0;
    return sqrt(L * w) - gap_of(f, k);
}

/* The share of the variance of u - best that a loss of k removes. */
static inline double told_by(const reference *f, size_t k, size_t u)
{
    const double t = covariance(f, k, u, f->best);
    const double own = form(&f->coming, features(f, k), features(f, k), f->dim);
    return t * t / ((own + f->noise[k]) * doubt_variance(f, u));
}

static inline void mix_best_with_another(reference *f, size_t u, double doubt)
{
    const double own = told_by(f, f->best, u);
    double least = INFINITY;
    for (size_t k = 0; k < f->n_arms; k++) {
        if (f->gone[k])
            continue;
        const double more = told_by(f, k, u) - own, gap = gap_of(f, k);
        double share = 0;
        if (more > 0)
            share = gap > 0 ? between(doubt / gap - 2 * own / more, 0, 1) : 1;
        const double cost = share * gap + doubt;
        const double ratio = cost * cost / (own + share * more);
        if (ratio < least) {
            least = ratio;
            f->other = k;
            f->share = share;
        }
    }
}

static inline void settle_question(reference *f, uint64_t round)
{
    double most = 0;
    size_t u = R_ARMS;
    for (size_t k = 0; k < f->n_arms; k++) {
        const double doubt =
            f->gone[k] || k == f->best ? 0 : doubt_of(f, k, round);
        if (doubt > most) {
            most = doubt;
            u = k;
        }
    }
    f->calm = u == R_ARMS;
    f->until = round + 1 + round / 200;
    if (!f->calm)
        mix_best_with_another(f, u, most);
}

/* The next arm, and the probability of that. */
static inline size_t reference_choice(reference *f, double *probability)
{
    const uint64_t round = f->now + 1;
    const arm_count all = count_of(f, R_ARMS);
    const tarry_random at = {.seed = f->seed, .run = f->run, .round = round};
    if (f->stale || all.plays + all.losses >= (double)f->renew_at)
        renew_reference(f);
    if (!f->calm && round >= f->until)
        settle_question(f, round);
    const bool asks = !f->calm && tarry_random_uniform(&at) < f->share;
    const size_t arm = asks ? f->other : f->best;
    *probability = f->calm || f->other == f->best ? 1
                   : arm == f->other              ? f->share
                                                  : 1 - f->share;
    add_outer(&f->coming, 1 / f->noise[arm], features(f, arm), f->dim);
    book_play(f, arm);
    return arm;
}

/* ---- arms come and go -----------------------------------------------------*/

static inline void reference_withdraw(reference *f, size_t arm)
{
    f->gone[arm] = true;
    f->stale = true;
}

/* The estimate begins anew, from what was seen. */
static inline void reference_admit(reference *f)
{
    f->n_arms++;
    f->stale = true;
    f->silence = 0;
    memset(f->theta, 0, sizeof f->theta);
    for (size_t k = 0; k < R_ARMS; k++)
        f->noise[k] = 1;
}

#endif
