/* examine_value.c - what other policies would have earned. */
#define _GNU_SOURCE
#include "log/examine_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "env/column.h"
#include "log/order.h"
#include "log/value.h"

enum { ARMS_VALUED = 10, MOST_IN_MODEL = 1000 };
static const double nearly_all = 0.99; /* of the outcomes that come */

static const char *const methods[] = {"ips", "snips", "dr"};

static json_t *tell(json_t *list, json_t *policy, const char *method,
                    const tarry__value *v)
{
    return tarry__json_add(
        list, json_pack("{s:o, s:o, s:o, s:o, s:s, s:b}", "policy", policy,
                        "estimate", tarry__json_number(v->estimate), "low",
                        tarry__json_number(v->low), "high",
                        tarry__json_number(v->high), "method", method,
                        "clipped", v->clipped));
}

static json_t *tell_policy(const tarry__value_basis *b, const double *pi,
                           const char *name, json_t *list)
{
    tarry__value v[TARRY__VALUE_METHODS];
    tarry__value_of(b, pi, v);
    for (int m = 0; m < TARRY__VALUE_METHODS; m++)
        list = tell(list, json_string(name), methods[m], &v[m]);
    return list;
}

/* When a share of the outcomes that ever come has come: decisions younger than
 * that are not ripe. */
static double window_of(const tarry__examine_state *x)
{
    if (x->seen_count == x->log.count || x->curve.n_steps == 0)
        return 0;
    const double left = x->curve.step[x->curve.n_steps - 1].out;
    const double t =
        tarry__survival_quantile(&x->curve, nearly_all * (1 - left)).value;
    return isfinite(t) ? t : 0;
}

static char *name_of_always(const tarry__log *log, size_t arm)
{
    char room[TARRY__EXAMINE_NAME_ROOM], *name;
    const int size =
        asprintf(&name, "always %s", tarry__examine_name(log, arm, room));
    return size < 0 ? NULL : name;
}

/* Arms by the least loss that they promise: by the model of all arms, then, as
 * where that cannot tell them apart, by their own outcomes. */
static bool rank_arms(const tarry__value_basis *b, uint32_t *order)
{
    const size_t K = b->log->n_arms;
    uint32_t *by_own = tarry__base_alloc(K, sizeof *by_own);
    double *promise = tarry__base_alloc(K, sizeof *promise);
    bool ok = by_own != NULL && promise != NULL &&
              tarry__log_order(b->worst, K, by_own);
    for (size_t i = 0; ok && i < K; i++)
        promise[i] = b->promise[by_own[i]];
    ok = ok && tarry__log_order(promise, K, order);
    for (size_t i = 0; ok && i < K; i++)
        order[i] = by_own[order[i]];
    tarry__base_free(by_own);
    tarry__base_free(promise);
    return ok;
}

/* Always one arm, for those that look best. */
static bool tell_arms(const tarry__value_basis *b, double *pi, json_t **list)
{
    const size_t K = b->log->n_arms;
    uint32_t *order = tarry__base_alloc(K, sizeof *order);
    const bool ok = order != NULL && rank_arms(b, order);
    for (size_t i = 0; ok && i < K && i < ARMS_VALUED; i++) {
        char *name = name_of_always(b->log, order[i]);
        memset(pi, 0, K * sizeof *pi);
        pi[order[i]] = 1;
        *list = tell_policy(b, pi, name, *list);
        free(name);
    }
    tarry__base_free(order);
    return ok;
}

/* The probabilities of --target, a number per arm in the order of --arms. */
static tarry_status read_target(const tarry__examine_state *x, double *pi,
                                tarry_error *error)
{
    const char *path = x->options->target;
    double *values, sum = 0;
    size_t count;
    tarry_status status = tarry__column_read(path, &values, &count, error);
    if (status != TARRY_OK)
        return status;
    if (count != x->log.n_arms)
        status = tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "%s: %zu probabilities for %zu arms", path,
                                  count, x->log.n_arms);
    for (size_t k = 0; status == TARRY_OK && k < count; k++) {
        if (!(values[k] >= 0 && values[k] <= 1))
            status =
                tarry__base_fail(error, TARRY_BAD_INPUT,
                                 "%s: number %zu is not a probability: '%.17g'",
                                 path, k + 1, values[k]);
        sum += values[k];
    }
    if (status == TARRY_OK && !(fabs(sum - 1) <= 1e-6))
        status = tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "%s: the probabilities add up to %.9g, not 1",
                                  path, sum);
    if (status == TARRY_OK)
        memcpy(pi, values, count * sizeof *pi);
    tarry__base_free(values);
    return status;
}

/* What q says, so that others can compute the same. */
static json_t *tell_model(const tarry__value_basis *b)
{
    json_t *halves[2] = {json_array(), json_array()};
    for (int half = 0; half < 2; half++)
        for (size_t k = 0; k < b->log->n_arms; k++)
            halves[half] = tarry__json_add(
                halves[half],
                json_real(tarry__log_value(b->log, b->model[half][k])));
    return json_pack("{s:[f, f], s:[o, o], s:o, s:o}", "mean",
                     tarry__log_value(b->log, b->mean[0]),
                     tarry__log_value(b->log, b->mean[1]), "strength",
                     tarry__json_number(b->strength[0]),
                     tarry__json_number(b->strength[1]), "even", halves[0],
                     "odd", halves[1]);
}

static tarry_status tell_values(const tarry__examine_state *x,
                                const tarry__value_basis *b, double *pi,
                                json_t **list, tarry_error *error)
{
    const size_t K = x->log.n_arms;
    const tarry__value logged = tarry__value_logged(b);
    *list = tell(*list, json_string("as logged"), "mean", &logged);
    for (size_t k = 0; k < K; k++)
        pi[k] = 1 / (double)K;
    *list = tell_policy(b, pi, "uniform", *list);
    if (x->options->target != NULL) {
        const tarry_status status = read_target(x, pi, error);
        if (status != TARRY_OK)
            return status;
        *list = tell_policy(b, pi, "target", *list);
    }
    return tell_arms(b, pi, list) ? TARRY_OK : tarry__examine_no_memory(error);
}

static tarry_status value(tarry__examine_state *x, json_t **list,
                          tarry_error *error)
{
    const double window = window_of(x);
    tarry__value_basis b;
    double *pi = tarry__base_alloc(x->log.n_arms, sizeof *pi);
    const bool ok = tarry__value_prepare(&b, &x->log, window) && pi != NULL;
    tarry_status status = ok ? TARRY_OK : tarry__examine_no_memory(error);
    if (ok && b.used > 0)
        status = tell_values(x, &b, pi, list, error);
    if (ok)
        x->out = tarry__json_set(
            x->out, "ripe",
            json_pack("{s:f, s:I, s:I, s:I}", "window", window, "decisions",
                      (json_int_t)b.used, "missing", (json_int_t)b.missing,
                      "without_probability", (json_int_t)(b.count - b.used)));
    if (ok && x->log.n_arms <= MOST_IN_MODEL)
        x->out = tarry__json_set(x->out, "model", tell_model(&b));
    tarry__value_clear(&b);
    tarry__base_free(pi);
    return status;
}

/* Why nothing can be valued; empty: something can. */
static void find_obstacle(const tarry__examine_state *x, char *why, size_t size)
{
    const tarry__log *log = &x->log;
    const size_t without = log->count - log->n_probabilities;
    *why = '\0';
    if (log->n_probabilities == 0)
        snprintf(why, size, "the log has no probabilities of its decisions");
    else if ((double)without > x->options->max_refused * (double)log->count)
        snprintf(why, size,
                 "%zu of %zu decisions have no probability (more than "
                 "--max-refused %g allows)",
                 without, log->count, x->options->max_refused);
    else if (x->seen_count == 0)
        snprintf(why, size, "the log has no outcomes");
}

tarry_status tarry__examine_value(tarry__examine_state *x, tarry_error *error)
{
    json_t *list = json_array();
    char why[160];
    tarry_status status = TARRY_OK;
    find_obstacle(x, why, sizeof why);
    if (x->options->target != NULL && *why != '\0')
        status = tarry__base_fail(error, TARRY_BAD_INPUT, "--target: %s: %s",
                                  x->log.path, why);
    else if (*why == '\0')
        status = value(x, &list, error);
    x->out = tarry__json_set(x->out, "value", list);
    x->out = tarry__json_set(x->out, "no_value",
                             *why != '\0' ? json_string(why) : json_null());
    return status;
}
