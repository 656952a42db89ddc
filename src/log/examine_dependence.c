/* examine_dependence.c - the verdict: do delays depend on losses?
 *
 * Dependent, if the test says so at 5 %.  Otherwise what is still out may hide
 * a dependence: if more than 5 % of decisions are out at the oldest age that
 * enough of them have reached, or if so few outcomes can be compared that a
 * rank correlation of 0.2 would be missed more often than in 5 % of logs, one
 * cannot tell. */
#include "log/examine_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"

static const double level = 0.05, tolerance = 0.05;
/* (1.96 + 1.645)^2 / 0.2^2: outcomes that find a correlation of 0.2 in 95 % of
 * logs */
enum { ENOUGH = 325 };

typedef struct {
    uint32_t *arm;
    double *loss, *delay, *age;
} columns;

static bool lay_out(const tarry__examine_state *x, columns *c)
{
    const size_t n = x->seen_count;
    size_t k = 0;
    c->arm = tarry__base_alloc(n, sizeof *c->arm);
    c->loss = tarry__base_alloc(n, sizeof *c->loss);
    c->delay = tarry__base_alloc(n, sizeof *c->delay);
    c->age = tarry__base_alloc(n, sizeof *c->age);
    if (c->arm == NULL || c->loss == NULL || c->delay == NULL || c->age == NULL)
        return false;
    for (size_t i = 0; i < x->log.count; i++) {
        if (!x->seen[i])
            continue;
        c->arm[k] = x->log.arm[i];
        c->loss[k] = x->log.loss[i];
        c->delay[k] = x->time[i];
        c->age[k++] = tarry__log_age(&x->log, i);
    }
    return true;
}

static void clear_columns(columns *c)
{
    tarry__base_free(c->arm);
    tarry__base_free(c->loss);
    tarry__base_free(c->delay);
    tarry__base_free(c->age);
}

/* ---- the verdict ----------------------------------------------------------*/

typedef struct {
    tarry__examine_verdict verdict;
    double wait; /* that would help; NaN: no waiting would */
    char why[700];
} judgement;

static void say(judgement *j, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(judgement *j, const char *format, ...)
{
    const size_t used = strlen(j->why);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(j->why + used, sizeof j->why - used, format, arguments);
    va_end(arguments);
}

static const char *outcomes(const tarry__examine_state *x)
{
    return tarry__log_is_reward(&x->log) ? "rewards" : "losses";
}

static void judge_dependent(const tarry__examine_state *x,
                            const tarry__dependence_found *f, judgement *j)
{
    j->verdict = TARRY__EXAMINE_DEPENDENT;
    if (fabs(f->z) < 2)
        say(j, "late %s of an arm differ from its early ones", outcomes(x));
    else
        say(j,
            "%s %s come later than %s ones of the same arm (rank "
            "correlation %.2f, from %.2f to %.2f)",
            f->z > 0 ? "high" : "low", outcomes(x), f->z > 0 ? "low" : "high",
            f->correlation, f->low, f->high);
    say(j, "; chance alone does that in a share of %.2g of logs", f->p_value);
}

/* Too much is out: is it late, or will it never come? */
static void judge_hidden(const tarry__examine_state *x, judgement *j)
{
    const tarry__laws_fit *law = tarry__examine_law(x);
    const double until =
        law != NULL ? tarry__laws_until(law, tolerance) : INFINITY;
    char age[32], wait[32];
    const bool calendar = x->log.is_calendar;
    tarry__examine_duration(x->left_age, calendar, age, sizeof age);
    say(j,
        "%.0f %% of decisions have no outcome %s after them; if those are "
        "the good ones, or the bad ones, this log cannot show it. ",
        100 * x->left.value, age);
    j->wait = until - tarry__log_age(&x->log, 0);
    if (j->wait > 0 && until <= TARRY__EXAMINE_FAR * x->curve.last &&
        tarry__laws_tail(law, x->left_age) > tolerance) {
        tarry__examine_duration(j->wait, calendar, wait, sizeof wait);
        say(j,
            "By the law that fits best, waiting for another %s would bring "
            "that below 5 %%",
            wait);
    } else {
        j->wait = NAN;
        say(j,
            "Waiting will not help: log an outcome for these too, for "
            "instance the %s of a decision that came to nothing when its "
            "time is over",
            tarry__log_is_reward(&x->log) ? "reward" : "loss");
    }
}

/* How much longer the log must be for enough outcomes to compare. */
static void judge_few(const tarry__examine_state *x,
                      const tarry__dependence_found *f, judgement *j)
{
    const double span = x->log.now - x->log.decided[0];
    char wait[32];
    say(j,
        "only %zu outcomes can be compared with others of their arm; to "
        "find a rank correlation of 0.2 in 95 %% of logs takes %d",
        f->compared, ENOUGH);
    j->wait = f->compared > 0 ? span * (ENOUGH / (double)f->compared - 1) : NAN;
    if (isfinite(j->wait)) {
        tarry__examine_duration(j->wait, x->log.is_calendar, wait, sizeof wait);
        say(j, ": at this pace another %s of logging", wait);
    }
}

static judgement judge(const tarry__examine_state *x,
                       const tarry__dependence_found *f)
{
    judgement j = {TARRY__EXAMINE_CANNOT_TELL, NAN, ""};
    const bool constant = f->compared == 0 && f->grouped >= ENOUGH;
    if (x->has_no_times)
        say(&j, "the log does not say when outcomes were reported: log the "
                "time of each");
    else if (f->p_value <= level)
        judge_dependent(x, f, &j);
    else if (x->left.value > tolerance)
        judge_hidden(x, &j);
    else if (f->compared < ENOUGH && !constant)
        judge_few(x, f, &j);
    else
        j.verdict = TARRY__EXAMINE_INDEPENDENT;
    if (j.verdict == TARRY__EXAMINE_INDEPENDENT && constant)
        say(&j,
            "within each arm all %s are alike, or all delays: delays can "
            "depend on the arm only",
            outcomes(x));
    else if (j.verdict == TARRY__EXAMINE_INDEPENDENT)
        say(&j,
            "late %s of an arm look like its early ones (rank "
            "correlation %.2f, from %.2f to %.2f), and %.1f %% of "
            "decisions at most are out long enough to hide anything",
            outcomes(x), f->correlation, f->low, f->high, 100 * x->left.value);
    return j;
}

/* ---- telling --------------------------------------------------------------*/

static json_t *tell_arms(const tarry__examine_state *x,
                         const tarry__dependence_found *f)
{
    json_t *list = json_array();
    for (size_t k = 0; k < x->log.n_arms; k++) {
        const tarry__dependence_arm *a = &f->by_arm[k];
        list = tarry__json_add(
            list, json_pack("{s:o, s:I, s:f, s:o, s:o}", "arm",
                            tarry__examine_arm(&x->log, k), "reported",
                            (json_int_t)a->count, "pairs", a->pairs,
                            "correlation", tarry__json_number(a->correlation),
                            "p_value", tarry__json_number(a->p_value)));
    }
    return list;
}

/* Correlations are those of the log's own numbers. */
static void turn_to_rewards(const tarry__log *log, tarry__dependence_found *f)
{
    const double low = f->low;
    if (!tarry__log_is_reward(log))
        return;
    f->low = 0 - f->high; /* not -0 */
    f->high = 0 - low;
    f->correlation = 0 - f->correlation;
    f->z = 0 - f->z;
    for (size_t k = 0; k < log->n_arms; k++)
        f->by_arm[k].correlation = 0 - f->by_arm[k].correlation;
}

static void tell(tarry__examine_state *x, const tarry__dependence_found *f)
{
    static const char *const texts[] = {"cannot tell", "independent",
                                        "dependent"};
    const judgement j = judge(x, f);
    x->verdict = j.verdict;
    x->p_value = f->p_value;
    x->correlation = f->correlation;
    x->out = tarry__json_set(
        x->out, "dependence",
        json_pack("{s:s, s:f, s:f, s:[f, f], s:I, s:I, s:I, s:{s:f, s:f}, "
                  "s:o, s:o, s:s}",
                  "verdict", texts[j.verdict], "p_value", f->p_value,
                  "correlation", f->correlation, "correlation_ci95", f->low,
                  f->high, "compared", (json_int_t)f->compared, "strata",
                  (json_int_t)f->strata, "permutations",
                  (json_int_t)f->permutations, "out", "share", x->left.value,
                  "age", x->left_age, "wait", tarry__json_number(j.wait),
                  "by_arm", tell_arms(x, f), "why", j.why));
}

tarry_status tarry__examine_dependence(tarry__examine_state *x,
                                       tarry_error *error)
{
    columns c = {0};
    tarry__dependence_found found;
    bool ok = lay_out(x, &c);
    const tarry__dependence_pairs pairs = {
        .count = x->seen_count,
        .n_arms = x->log.n_arms,
        .arm = c.arm,
        .loss = c.loss,
        .delay = c.delay,
        .age = c.age,
        .seed = x->options->seed,
    };
    ok = ok && tarry__dependence_test(&pairs, &found);
    clear_columns(&c);
    if (!ok)
        return tarry__examine_no_memory(error);
    turn_to_rewards(&x->log, &found);
    tell(x, &found);
    tarry__dependence_clear(&found);
    return TARRY_OK;
}
