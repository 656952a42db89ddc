/* fit.c - see fit.h. */
#include "policy/foresight/fit.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"
#include "policy/foresight/root.h"

static const double PRIOR_RANGE = 10; /* losses, for the range [-1, 1] */
static const double RANGE_LOST = 300; /* the same of what is lost */
static const double RANGE_OUT = 10;   /* of what is out, times its share */
static const double TOP = 0.9;     /* of losses, but for a tenth of the range */
static const double MISFIT = 0.25; /* of the square of summed residuals */
static const double LONGEST_STEP = 3; /* standard deviations */
static const double LEAST_P = 0.01;   /* of a high loss, and of a low one */
static const double LEAST_DEFAULT = 0.0005; /* the same of the default */
static const double PRIOR_REPORTS = 1; /* at the pooled mean, or at an end */
enum { STEPS_ANEW = 3 };               /* from one law of delays to another */

static size_t small_size(size_t r)
{
    return 2 * r * r + 3 * r;
}

static tarry_status open_memory(tarry__fit *f, const tarry__view *view)
{
    const size_t r = view->rank, K = view->problem->n_arms;
    f->view = view;
    f->tally = tarry__base_zalloc(K, sizeof *f->tally);
    f->seated = tarry__base_zalloc(K, sizeof *f->seated);
    f->p = tarry__base_zalloc(K, sizeof *f->p);
    f->answers = tarry__base_zalloc(K, sizeof *f->answers);
    f->theta = tarry__base_zalloc(small_size(r), sizeof *f->theta);
    if (tarry__noise_open(&f->noise, view) != TARRY_OK || f->answers == NULL ||
        f->tally == NULL || f->seated == NULL || f->p == NULL ||
        f->theta == NULL)
        return TARRY_NO_MEMORY;
    f->V = f->theta + r;
    f->V_coming = f->V + r * r;
    f->step = f->V_coming + r * r;
    return TARRY_OK;
}

tarry_status tarry__fit_open(tarry__fit *f, const tarry__view *view)
{
    const tarry_status status = open_memory(f, view);
    f->lowest = 1;
    f->highest = -1;
    f->low = -1;
    f->high = 1;
    f->lambda = 1;
    for (size_t k = 0; status == TARRY_OK && k < view->problem->n_arms; k++)
        f->tally[k].seat = TARRY__FORESIGHT_NO_SEAT;
    return status;
}

void tarry__fit_clear(tarry__fit *f)
{
    tarry__base_free(f->tally);
    tarry__base_free(f->seated);
    tarry__base_free(f->p);
    tarry__base_free(f->answers);
    tarry__base_free(f->theta);
    tarry__noise_clear(&f->noise);
}

/* ---- books ----------------------------------------------------------------*/

size_t tarry__fit_play(tarry__fit *f, size_t arm)
{
    tarry__foresight_tally *t = &f->tally[arm];
    if (t->seat == TARRY__FORESIGHT_NO_SEAT) {
        t->seat = (uint32_t)f->n_seated;
        f->seated[f->n_seated++] = (uint32_t)arm;
    }
    t->plays++;
    f->played++;
    return t->seat;
}

static const tarry__policy_default *rule_of(const tarry__fit *f)
{
    return &f->view->problem->default_outcome;
}

/* Whether what is missing may say something that nobody has told. */
static bool may_depend(const tarry__fit *f)
{
    return f->delays == TARRY__FIT_ANY_DELAYS && !rule_of(f)->declared;
}

static bool is_default(const tarry__fit *f, double loss)
{
    return rule_of(f)->declared && loss == rule_of(f)->loss;
}

/* `sign` losses of this arm. */
static void count_loss(tarry__fit *f, tarry__foresight_tally *t, double loss,
                       int sign)
{
    t->sum += sign * loss;
    t->squares += sign * loss * loss;
    if (is_default(f, loss)) {
        t->defaults += (uint64_t)(int64_t)sign;
        return;
    }
    f->reported += sign * loss;
    f->reports += sign;
}

size_t tarry__fit_loss(tarry__fit *f, size_t arm, double loss)
{
    tarry__foresight_tally *t = &f->tally[arm];
    t->arrivals++;
    f->arrived++;
    count_loss(f, t, loss, 1);
    f->lowest = fmin(f->lowest, loss);
    f->highest = fmax(f->highest, loss);
    return t->seat;
}

size_t tarry__fit_revise(tarry__fit *f, size_t arm, double old, double loss)
{
    tarry__foresight_tally *t = &f->tally[arm];
    count_loss(f, t, old, -1);
    count_loss(f, t, loss, 1);
    f->lowest = fmin(f->lowest, loss);
    f->highest = fmax(f->highest, loss);
    return t->seat;
}

size_t tarry__fit_cancel(tarry__fit *f, size_t arm)
{
    f->tally[arm].plays--;
    f->played--;
    return f->tally[arm].seat;
}

void tarry__fit_copy(tarry__fit *f, const tarry__fit *from, size_t n_arms)
{
    memcpy(f->tally, from->tally, n_arms * sizeof *f->tally);
    memcpy(f->seated, from->seated, from->n_seated * sizeof *f->seated);
    f->n_seated = from->n_seated;
    f->played = from->played;
    f->arrived = from->arrived;
    f->reported = from->reported;
    f->reports = from->reports;
    f->lowest = from->lowest;
    f->highest = from->highest;
    f->low = from->low;
    f->high = from->high;
    f->lambda = from->lambda;
}

double tarry__fit_high_share(const tarry__fit *f, double loss)
{
    if (rule_of(f)->declared)
        return is_default(f, loss);
    return tarry__foresight_clamp((loss - f->low) / (f->high - f->low), 0, 1);
}

/* How much the first class loses more than the second, of one arm: D - r, or
 * the range. */
static double contrast(const tarry__fit *f, const tarry__foresight_tally *t)
{
    const double D = rule_of(f)->loss;
    if (!rule_of(f)->declared)
        return f->high - f->low;
    const double pooled = (f->reported + (D > 0 ? -1 : 1)) / (f->reports + 1);
    const double n = (double)(t->arrivals - t->defaults);
    const double sum = t->sum - (double)t->defaults * D;
    return D - (sum + PRIOR_REPORTS * pooled) / (n + PRIOR_REPORTS);
}

/* The probability of the first class, if this is the arm's mean. */
static double probability(const tarry__fit *f, const tarry__foresight_tally *t,
                          double mean)
{
    const double range = contrast(f, t);
    if (!rule_of(f)->declared)
        return (mean - f->low) / range;
    return range != 0 ? 1 - (rule_of(f)->loss - mean) / range : 0.5;
}

/* ---- the range ------------------------------------------------------------*/

static void find_range(tarry__fit *f, const tarry__waiting *w)
{
    const bool declared = rule_of(f)->declared;
    const double n = (double)f->arrived;
    const double out = declared ? 0 : (double)(f->played - w->n_masked) - n;
    if (f->arrived == 0)
        return;
    const double lost = may_depend(f) ? w->law.lost * (double)f->played : 0;
    const double prior = PRIOR_RANGE + RANGE_OUT * out * out / (n + out) +
                         RANGE_LOST * lost * lost / (n + lost);
    /* where the wait is the loss the lowest come first */
    const double below = f->delays == TARRY__FIT_PAYOFF ? 1 : prior;
    f->low = (n * f->lowest - below) / (n + below);
    f->high = (n * f->highest + prior) / (n + prior);
    if (declared) {
        f->low = fmin(f->low, rule_of(f)->loss);
        f->high = fmax(f->high, rule_of(f)->loss);
    }
}

/* ---- the estimate ---------------------------------------------------------*/

/* V += c z z', lower half. */
static void add(double *V, size_t r, double c, const double *z)
{
    for (size_t j = 0; j < r; j++) {
        const double x = c * z[j];
        for (size_t i = j; i < r; i++)
            V[i + j * r] += x * z[i];
    }
}

static void start(tarry__fit *f)
{
    const size_t r = f->view->rank;
    memset(f->V, 0, 2 * r * r * sizeof *f->V);
    for (size_t i = 0; i < r; i++) {
        f->V[i + i * r] = f->V_coming[i + i * r] = f->lambda;
        f->step[i] = -f->lambda * f->theta[i];
    }
}

/* But for those of silences. */
static uint64_t outstanding_of(const tarry__waiting *w,
                               const tarry__foresight_tally *t)
{
    const uint64_t all = t->plays - t->arrivals;
    return t->seat < w->room ? all - w->masked[t->seat] + w->held[t->seat]
                             : all;
}

/* What outstanding plays of this arm say: nothing yet, if delays do not look
 * at losses. */
static tarry__foresight_hint hint_of(const tarry__fit *f,
                                     const tarry__waiting *w,
                                     const tarry__foresight_tally *t)
{
    const uint64_t outstanding = outstanding_of(w, t);
    if (outstanding == 0 || t->seat >= w->room ||
        (f->delays == TARRY__FIT_INDEPENDENT && !rule_of(f)->declared))
        return (tarry__foresight_hint){0, 0, (double)outstanding, 0, 0};
    if (f->delays == TARRY__FIT_PAYOFF && !rule_of(f)->declared)
        return tarry__worth_hint(&f->worth, w, t->seat, f->p[t->seat]);
    return tarry__law_hint(w, t->seat, f->p[t->seat]);
}

/* The same with what silence says. */
static tarry__foresight_hint news_of(const tarry__fit *f,
                                     const tarry__waiting *w,
                                     const tarry__foresight_tally *t)
{
    tarry__foresight_hint hint = hint_of(f, w, t);
    const double told = fabs(f->silence) * hint.silent;
    hint.surplus += told * ((f->silence > 0) - f->p[t->seat]);
    hint.known += told;
    return hint;
}

/* The same with the losses that the law expects taken as if they had come. */
static tarry__foresight_hint presume(tarry__foresight_hint hint, double p,
                                     double outstanding, double share)
{
    return (tarry__foresight_hint){hint.surplus + outstanding * (p - share),
                                   outstanding, 0, 0, 0};
}

/* One arm's part of V and of the score, which is in `step`.  `anew`: the law of
 * delays is another than before, and p belongs to it, not to theta. */
static void add_arm(tarry__fit *f, const tarry__waiting *w, size_t arm,
                    bool anew)
{
    const size_t r = f->view->rank;
    const double *z = tarry__view_arm(f->view, arm);
    const tarry__foresight_tally *t = &f->tally[arm];
    const double n = (double)t->arrivals;
    const double raw = tarry__linalg_dot(z, f->theta, r);
    const double mean = tarry__foresight_clamp(raw, f->low, f->high);
    const double weight = 1 / f->noise.variance[arm];
    const double least = rule_of(f)->declared ? LEAST_DEFAULT : LEAST_P;
    if (!anew)
        f->p[t->seat] =
            tarry__foresight_clamp(probability(f, t, mean), least, 1 - least);
    tarry__foresight_hint hint = news_of(f, w, t);
    if (anew && t->seat < w->room)
        hint = presume(hint, f->p[t->seat], (double)outstanding_of(w, t),
                       probability(f, t, raw));
    const double score =
        weight * (t->sum - n * raw + contrast(f, t) * hint.surplus);
    add(f->V, r, weight * (n + hint.known), z);
    add(f->V_coming, r, weight * (n + hint.known + hint.coming), z);
    for (size_t i = 0; i < r; i++)
        f->step[i] += score * z[i];
}

/* theta += V^-1 score, but not too far at once: false if that was cut. */
static bool move(tarry__fit *f, bool careful)
{
    const size_t r = f->view->rank;
    if (!tarry__root_factor(f->V, r))
        return true;
    tarry__root_solve(f->V, r, f->step);
    const double length = sqrt(tarry__linalg_dot(f->step, f->step, r));
    tarry__root_solve_back(f->V, r, f->step);
    const bool far = careful && length > LONGEST_STEP;
    for (size_t i = 0; i < r; i++)
        f->theta[i] += (far ? LONGEST_STEP / length : 1) * f->step[i];
    return !far;
}

/* The length of theta as the data have it, by one step of EM: an unknown vector
 * with entries of variance 1/lambda has a square of r/lambda on average.  One
 * entry of variance 1 is added as a prior.  f->V holds its factor. */
static void find_lambda(tarry__fit *f)
{
    const size_t r = f->view->rank;
    double square = 1 + tarry__linalg_dot(f->theta, f->theta, r);
    for (size_t j = 0; j < r; j++) {
        memset(f->step, 0, r * sizeof *f->step);
        f->step[j] = 1;
        tarry__root_solve(f->V, r, f->step);
        square += tarry__linalg_dot(f->step, f->step, r);
    }
    f->lambda = tarry__foresight_clamp((double)(r + 1) / square, 0.3, 100);
}

/* Residuals of what has come; of what has not, the largest there can be, or,
 * where it is known what silence means, those of what is known. */
static void find_noise(tarry__fit *f, const tarry__waiting *w)
{
    double misfit = 0;
    tarry__noise_start(&f->noise, f->view);
    for (size_t i = 0; i < f->n_seated; i++) {
        const size_t arm = f->seated[i];
        const tarry__foresight_tally *t = &f->tally[arm];
        const double n = (double)t->arrivals;
        const double m = tarry__linalg_dot(tarry__view_arm(f->view, arm),
                                           f->theta, f->view->rank);
        const double p = f->p[i], range = contrast(f, t);
        const double out = may_depend(f) ? (double)outstanding_of(w, t)
                                         : hint_of(f, w, t).known;
        const double each = may_depend(f) ? 1 : p * (1 - p) * range * range;
        const double squares = fmax(t->squares - 2 * m * t->sum + n * m * m, 0);
        const double off = t->sum - n * m + range * news_of(f, w, t).surplus;
        const double more = fmax(MISFIT * off * off - squares, 0);
        misfit += more;
        tarry__noise_add(&f->noise, f->view, arm, n + out,
                         squares + more + each * out);
    }
    const double played = (double)(f->played - w->n_masked);
    const double out = may_depend(f) ? played - (double)f->arrived : 0;
    tarry__noise_find(&f->noise, f->view, f->theta, out / fmax(played, 1),
                      misfit / fmax((double)f->arrived, 1));
}

/* What is old of an arm.  Losses count as high and low by the extremes seen;
 * if there is only one value, as low, unless nothing can be higher. */
static tarry__foresight_answers answers_of(const tarry__fit *f,
                                           const tarry__waiting *w,
                                           const tarry__foresight_tally *t)
{
    const tarry__foresight_hint hint = hint_of(f, w, t);
    const double n = (double)t->arrivals, range = f->highest - f->lowest;
    double high = f->lowest > TOP;
    if (n > 0 && range > 0)
        high = (t->sum / n - f->lowest) / range;
    return (tarry__foresight_answers){hint.answers * high,
                                      hint.answers * (1 - high), hint.silent};
}

/* Where arms' losses come at different ages, the law of delays knows more. */
static void find_silence(tarry__fit *f, const tarry__waiting *w)
{
    f->silence = 0;
    if (!may_depend(f))
        return;
    for (size_t i = 0; i < f->n_seated; i++)
        f->answers[i] = answers_of(f, w, &f->tally[f->seated[i]]);
    f->silence = tarry__foresight_clamp(2 - tarry__law_unlike(w) / 2, 0, 1) *
                 tarry__silence_judge(f->answers, f->n_seated);
}

static void add_all(tarry__fit *f, const tarry__waiting *w, bool anew)
{
    start(f);
    for (size_t k = 0; k < f->n_seated; k++)
        add_arm(f, w, f->seated[k], anew);
}

bool tarry__fit_renew(tarry__fit *f, tarry__waiting *w)
{
    const bool learns =
        f->delays == TARRY__FIT_ANY_DELAYS || rule_of(f)->declared;
    const bool careful = learns && tarry__waiting_any(w);
    if (learns)
        tarry__waiting_listen(w, f->n_seated, f->p);
    find_range(f, w);
    if (!learns && f->delays == TARRY__FIT_PAYOFF)
        tarry__worth_learn(&f->worth, w, f->n_seated);
    add_all(f, w, false);
    const bool settled = move(f, careful);
    find_noise(f, w);
    find_lambda(f);
    find_silence(f, w);
    if (w->used <= 1 || !learns || w->silent ||
        !tarry__law_learn(w, f->n_seated, f->p))
        return settled;
    for (int i = 0; i < STEPS_ANEW; i++) {
        add_all(f, w, true);
        move(f, false);
    }
    return false;
}

/* ---- saving ---------------------------------------------------------------*/

/* Arms and seats name each other, and no arm has two. */
static bool is_seated_well(const tarry__fit *f, size_t n_arms)
{
    bool sound = f->n_seated <= n_arms;
    for (size_t k = 0; sound && k < n_arms; k++) {
        const uint32_t seat = f->tally[k].seat;
        sound = f->seated[k] < n_arms &&
                (seat == TARRY__FORESIGHT_NO_SEAT ||
                 (seat < f->n_seated && f->seated[seat] == k));
    }
    for (size_t i = 0; sound && i < f->n_seated; i++)
        sound = f->tally[f->seated[i]].seat == i;
    return sound;
}

void tarry__fit_archive(tarry__fit *f, const tarry__view *view,
                        tarry__archive *a)
{
    const size_t K = view->problem->n_arms, r = view->rank;
    if (a->loading && a->status == TARRY_OK)
        a->status = open_memory(f, view);
    if (a->status != TARRY_OK)
        return;
    tarry__archive_bytes(a, f->tally, K * sizeof *f->tally);
    tarry__archive_bytes(a, f->seated, K * sizeof *f->seated);
    tarry__archive_bytes(a, f->p, K * sizeof *f->p);
    tarry__archive_bytes(a, f->theta, small_size(r) * sizeof *f->theta);
    tarry__archive_field(a, f->n_seated);
    tarry__archive_field(a, f->played);
    tarry__archive_field(a, f->arrived);
    tarry__archive_field(a, f->reported);
    tarry__archive_field(a, f->reports);
    tarry__archive_field(a, f->lowest);
    tarry__archive_field(a, f->highest);
    tarry__archive_field(a, f->low);
    tarry__archive_field(a, f->high);
    tarry__archive_bytes(a, f->noise.variance, K * sizeof *f->noise.variance);
    tarry__archive_field(a, f->lambda);
    tarry__archive_field(a, f->silence);
    tarry__archive_field(a, f->delays);
    tarry__archive_require(a, a->status == TARRY_OK && f->low < f->high &&
                                  f->delays <= TARRY__FIT_PAYOFF &&
                                  is_seated_well(f, K));
}
