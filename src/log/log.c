/* log.c - the table of decisions: rows are checked here, whatever the format
 * they came in. */
#include "log/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "arms/source.h"
#include "base/base.h"
#include "log/order.h"

/* In place of the arm of a decision that was cancelled later. */
static const uint32_t CANCELLED = TARRY__INDEX_NONE - 1;

/* ---- memory ---------------------------------------------------------------*/

static bool grow_column(void *column, size_t count, size_t room, size_t size)
{
    void **block = column;
    void *larger = tarry__base_grow(*block, count, room, size);
    if (larger != NULL)
        *block = larger;
    return larger != NULL;
}

static bool reserve(tarry__log *log)
{
    if (log->count < log->room)
        return true;
    const size_t n = log->count, room = n > 0 ? n + n / 2 : 1024;
    if (!grow_column(&log->arm, n, room, sizeof *log->arm) ||
        !grow_column(&log->decided, n, room, sizeof *log->decided) ||
        !grow_column(&log->reported, n, room, sizeof *log->reported) ||
        !grow_column(&log->loss, n, room, sizeof *log->loss) ||
        !grow_column(&log->probability, n, room, sizeof *log->probability))
        return false;
    log->room = room;
    return true;
}

void tarry__log_clear(tarry__log *log)
{
    tarry__base_free(log->arm);
    tarry__base_free(log->decided);
    tarry__base_free(log->reported);
    tarry__base_free(log->loss);
    tarry__base_free(log->probability);
    for (size_t k = 0; log->names != NULL && k < log->n_arms; k++)
        tarry__base_free(log->names[k]);
    tarry__base_free(log->names);
    tarry__base_free(log->cost);
    tarry__index_clear(&log->ids);
    tarry__index_clear(&log->arm_index);
    memset(log, 0, sizeof *log);
}

static tarry_status no_memory(tarry_error *error)
{
    return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

/* ---- rejecting ------------------------------------------------------------*/

static void count_reason(tarry__log *log, const char *why, size_t line)
{
    size_t i = 0;
    while (i < log->n_reasons && strcmp(log->reason[i].why, why) != 0)
        i++;
    if (i == TARRY__LOG_REASONS)
        return;
    if (i == log->n_reasons)
        log->reason[log->n_reasons++] = (tarry__log_reason){why, 0, line};
    log->reason[i].count++;
}

const tarry__log_reason *tarry__log_main_reason(const tarry__log *log)
{
    const tarry__log_reason *most = NULL;
    for (size_t i = 0; i < log->n_reasons; i++)
        if (most == NULL || log->reason[i].count > most->count)
            most = &log->reason[i];
    return most;
}

tarry_status tarry__log_reject_row(tarry__log *log, size_t line,
                                   const char *why, tarry__text value,
                                   tarry_error *error)
{
    char text[sizeof log->rejected[0].why];
    if (value.begin != NULL)
        snprintf(text, sizeof text, "%s: '%s'", why,
                 tarry__arms_show(value.begin, value.end).text);
    else
        snprintf(text, sizeof text, "%s", why);
    if (log->options.strict)
        return tarry__base_fail(error, TARRY_BAD_INPUT, "%s:%zu: %s", log->path,
                                line, text);
    if (log->n_rejected < TARRY__LOG_SHOWN) {
        log->rejected[log->n_rejected].line = line;
        strcpy(log->rejected[log->n_rejected].why, text);
    }
    log->n_rejected++;
    count_reason(log, why, line);
    return TARRY_OK;
}

/* ---- fields ---------------------------------------------------------------*/

/* A row while it is read; `why` is set once it makes no sense.  What was known
 * of the log before it: a row that is rejected has no say in that. */
typedef struct {
    double decided, reported, loss, probability;
    double cost, pdrop; /* of dsjson */
    uint32_t arm;
    const char *why;
    tarry__text value;
    bool is_out_of_range;
    bool had_time, had_delays, had_reward, had_loss;
} fields;

static fields begin_row(const tarry__log *log)
{
    return (fields){.had_time = log->has_time,
                    .had_delays = log->has_delays,
                    .had_reward = log->any_reward,
                    .had_loss = log->any_loss};
}

static bool refuse(fields *f, const char *why, tarry__text value)
{
    f->why = why;
    f->value = value;
    return false;
}

/* The first time of the log says which kind its times are.  Sums of delays
 * stay finite. */
static bool read_time(tarry__log *log, tarry__text t, double *time, fields *f)
{
    const bool number = tarry__text_number(t, time);
    if ((!number && !tarry__text_moment(t, time)) || fabs(*time) > 1e290)
        return refuse(f, "not a time", t);
    if (!log->has_time)
        log->is_calendar = !number;
    log->has_time = true;
    if (number == log->is_calendar)
        return refuse(f,
                      log->is_calendar ? "a number among times of the calendar"
                                       : "a time of the calendar among numbers",
                      t);
    return true;
}

/* The loss in [-1, 1], from a loss or a reward in [low, high]. */
static bool read_loss(tarry__log *log, const tarry__log_row *row, fields *f)
{
    const tarry__log_options *o = &log->options;
    const bool is_reward = tarry__text_is_empty(row->loss);
    const tarry__text t = is_reward ? row->reward : row->loss;
    double v;
    if (!tarry__text_number(t, &v))
        return refuse(
            f, is_reward ? "reward is not a number" : "loss is not a number",
            t);
    f->is_out_of_range = v < o->low || v > o->high;
    if (f->is_out_of_range)
        return refuse(f,
                      is_reward || o->maximize
                          ? "outside of the range of rewards (see --range)"
                          : "outside of the range of losses (see --range)",
                      t);
    f->loss = o->low == -1 && o->high == 1
                  ? v
                  : 2 * ((v - o->low) / (o->high - o->low)) - 1;
    log->any_reward = log->any_reward || is_reward;
    log->any_loss = log->any_loss || (!is_reward && !row->is_dsjson);
    if (is_reward || o->maximize)
        f->loss = -f->loss;
    return true;
}

static bool read_outcome(tarry__log *log, const tarry__log_row *row, fields *f)
{
    const bool has_loss =
        !tarry__text_is_empty(row->loss) || !tarry__text_is_empty(row->reward);
    const bool has_time = !tarry__text_is_empty(row->reported);
    f->reported = f->loss = NAN;
    if (!has_loss && !has_time)
        return true;
    if (!has_loss)
        return refuse(f, "reported without a loss", row->reported);
    if (!has_time && !row->at_once)
        return refuse(f, "a loss without the time it was reported",
                      tarry__text_is_empty(row->loss) ? row->reward
                                                      : row->loss);
    if (!read_loss(log, row, f))
        return false;
    if (!has_time) {
        f->reported = f->decided;
        return true;
    }
    log->has_delays = true;
    return read_time(log, row->reported, &f->reported, f);
}

static bool read_probability(const tarry__log_row *row, fields *f)
{
    f->probability = NAN;
    if (tarry__text_is_empty(row->probability))
        return true;
    if (!tarry__text_number(row->probability, &f->probability) ||
        !(f->probability > 0 && f->probability <= 1))
        return refuse(f, "probability is not in (0, 1]", row->probability);
    return true;
}

/* ---- arms -----------------------------------------------------------------*/

static bool keep_name(tarry__log *log, tarry__text t)
{
    if (log->n_arms == log->n_names) {
        const size_t room = log->n_names > 0 ? 2 * log->n_names : 16;
        if (!grow_column(&log->names, log->n_arms, room, sizeof *log->names))
            return false;
        log->n_names = room;
    }
    const size_t size = tarry__text_size(t);
    char *name = tarry__base_alloc(size + 1, 1);
    if (name == NULL)
        return false;
    memcpy(name, t.begin, size);
    name[size] = '\0';
    log->names[log->n_arms++] = name;
    return true;
}

/* The number of an arm, a new one if the log may have any; NONE if not.
 * False: out of memory. */
static bool find_arm(tarry__log *log, tarry__text t, uint32_t *arm)
{
    *arm = tarry__index_find(&log->arm_index, t);
    if (*arm != TARRY__INDEX_NONE || log->options.arms != NULL)
        return true;
    *arm = (uint32_t)log->n_arms;
    return keep_name(log, t) && tarry__index_add(&log->arm_index, t, arm);
}

/* The arms of a file by name, or by number where they have none. */
static bool take_arms(tarry__log *log, const tarry_arms *arms)
{
    for (size_t k = 0; k < arms->n_arms; k++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", k);
        const char *name = arms->names != NULL ? arms->names[k] : number;
        const tarry__text t = {name, name + strlen(name)};
        uint32_t id = (uint32_t)k;
        if (!keep_name(log, t) || !tarry__index_add(&log->arm_index, t, &id))
            return false;
    }
    return true;
}

/* ---- rows -----------------------------------------------------------------*/

static tarry_status reject(tarry__log *log, size_t line, const fields *f,
                           tarry_error *error)
{
    log->has_time = f->had_time;
    log->has_delays = f->had_delays;
    log->any_reward = f->had_reward;
    log->any_loss = f->had_loss;
    log->n_out_of_range += f->is_out_of_range;
    return tarry__log_reject_row(log, line, f->why, f->value, error);
}

static void see_time(tarry__log *log, double time)
{
    if (time > log->last_time)
        log->last_time = time;
}

/* Whether a field of a joined row is another than the decision has. */
static bool differs(double known, double given)
{
    return !isnan(known) && !isnan(given) && known != given;
}

/* What a later row says again must be what the earlier one said. */
static bool agrees(tarry__log *log, const tarry__log_row *row, uint32_t i,
                   fields *f)
{
    const bool has_time =
        !row->is_numbered && !tarry__text_is_empty(row->decided);
    if (row->arm.begin < row->arm.end &&
        tarry__index_find(&log->arm_index, row->arm) != log->arm[i])
        return refuse(f, "another arm than an earlier row of its id has",
                      row->arm);
    if (has_time && !read_time(log, row->decided, &f->decided, f))
        return false;
    if (f->decided != log->decided[i])
        return refuse(f,
                      "another time of decision than an earlier row of its id "
                      "has",
                      row->decided);
    if (!read_outcome(log, row, f) || !read_probability(row, f))
        return false;
    if (f->reported < f->decided)
        return refuse(f, "reported before it was decided", row->reported);
    if (differs(log->probability[i], f->probability))
        return refuse(f,
                      "another probability than an earlier row of its id has",
                      row->probability);
    if (differs(log->loss[i], f->loss) ||
        differs(log->reported[i], f->reported))
        return refuse(f, "another outcome than an earlier row of its id has",
                      row->id);
    return true;
}

/* A later row of decision i: it completes the earlier one, or repeats it. */
static tarry_status join(tarry__log *log, const tarry__log_row *row, uint32_t i,
                         size_t line, tarry_error *error)
{
    fields f = begin_row(log);
    f.decided = log->decided[i];
    if (log->arm[i] == CANCELLED)
        return TARRY_OK;
    if (!agrees(log, row, i, &f))
        return reject(log, line, &f, error);
    log->n_rows++;
    if (!isnan(f.probability))
        log->probability[i] = f.probability;
    if (isnan(f.loss))
        return TARRY_OK;
    log->reported[i] = f.reported;
    log->loss[i] = f.loss;
    see_time(log, f.reported);
    return TARRY_OK;
}

static void cancel(tarry__log *log, uint32_t i)
{
    log->n_cancelled += log->arm[i] != CANCELLED;
    log->arm[i] = CANCELLED;
}

/* What only dsjson has. */
static bool read_dsjson(tarry__log *log, const tarry__log_row *row, fields *f)
{
    const tarry__log_row label = {.loss = row->cost, .is_dsjson = true};
    const double loss = f->loss;
    f->cost = NAN;
    f->pdrop = 0;
    if (!tarry__text_is_empty(row->pdrop) &&
        (!tarry__text_number(row->pdrop, &f->pdrop) ||
         !(f->pdrop >= 0 && f->pdrop < 1)))
        return refuse(f, "pdrop is not in [0, 1)", row->pdrop);
    if (tarry__text_is_empty(row->cost))
        return true;
    const bool ok = read_loss(log, &label, f);
    f->cost = f->loss;
    f->loss = loss;
    return ok;
}

/* Everything but the arm and the id. */
static bool read_fields(tarry__log *log, const tarry__log_row *row, fields *f)
{
    if (row->arm.begin == row->arm.end) /* one may be called none, or NA */
        return refuse(f, "no arm", (tarry__text){NULL, NULL});
    if (memchr(row->arm.begin, '\0', tarry__text_size(row->arm)) != NULL)
        return refuse(f, "NUL byte in an arm", row->arm);
    if (tarry__text_is_empty(row->decided))
        return refuse(f,
                      row->is_dsjson ? "no Timestamp"
                                     : "no time of decision (decided)",
                      (tarry__text){NULL, NULL});
    if (!read_time(log, row->decided, &f->decided, f) ||
        !read_outcome(log, row, f) || !read_probability(row, f) ||
        !read_dsjson(log, row, f))
        return false;
    if (f->reported < f->decided)
        return refuse(f, "reported before it was decided", row->reported);
    return true;
}

static void append(tarry__log *log, const fields *f)
{
    const size_t i = log->count++;
    log->arm[i] = f->arm;
    log->decided[i] = f->decided;
    log->reported[i] = f->reported;
    log->loss[i] = f->loss;
    log->probability[i] = f->probability;
    log->unordered += i > 0 && log->decided[i - 1] > f->decided;
    see_time(log, f->decided);
    if (!isnan(f->reported))
        see_time(log, f->reported);
}

/* A label without an outcome is kept until all lines were read. */
static tarry_status keep_cost(tarry__log *log, const tarry__log_row *row,
                              double loss, size_t line, tarry_error *error)
{
    double value;
    if (isnan(loss))
        return TARRY_OK;
    if (log->n_costs == log->costs_room) {
        const size_t room = 2 * log->n_costs + 64;
        if (!grow_column(&log->cost, log->n_costs, room, sizeof *log->cost))
            return no_memory(error);
        log->costs_room = room;
    }
    tarry__text_number(row->cost, &value);
    log->cost[log->n_costs++] =
        (tarry__log_cost){(uint32_t)log->count - 1, value == 0, line, loss};
    return TARRY_OK;
}

/* If outcomes have times, a cost of 0 says that none has come so far, and
 * another cost lacks its time.  Else the cost is the outcome. */
static tarry_status settle_costs(tarry__log *log, tarry_error *error)
{
    tarry_status status = TARRY_OK;
    for (size_t c = 0; c < log->n_costs && status == TARRY_OK; c++) {
        const tarry__log_cost *cost = &log->cost[c];
        const uint32_t i = cost->decision;
        if (!isnan(log->loss[i]) || log->arm[i] == CANCELLED ||
            (log->has_delays && cost->is_zero))
            continue;
        if (log->has_delays) {
            cancel(log, i);
            log->n_rows--;
            status = tarry__log_reject_row(
                log, cost->line,
                "a _label_cost without the time of its outcome",
                (tarry__text){NULL, NULL}, error);
        } else {
            log->loss[i] = cost->loss;
            log->reported[i] = log->decided[i];
        }
    }
    return status;
}

/* Lines that stand for different numbers of decisions cannot be averaged. */
static tarry_status check_pdrop(tarry__log *log, double pdrop, size_t line,
                                tarry_error *error)
{
    if (log->count == 1)
        log->pdrop = pdrop;
    if (pdrop == log->pdrop)
        return TARRY_OK;
    return tarry__base_fail(error, TARRY_BAD_INPUT,
                            "%s:%zu: pdrop is %g here and %g before: lines "
                            "stand for different numbers of decisions; give a "
                            "log whose lines were all kept with the same "
                            "probability",
                            log->path, line, pdrop, log->pdrop);
}

static tarry_status add_decision(tarry__log *log, const tarry__log_row *row,
                                 bool has_id, size_t line, tarry_error *error)
{
    fields f = begin_row(log);
    uint32_t number = (uint32_t)log->count;
    if (!read_fields(log, row, &f))
        return reject(log, line, &f, error);
    if (log->count >= CANCELLED || !reserve(log) ||
        !find_arm(log, row->arm, &f.arm))
        return no_memory(error);
    if (f.arm == TARRY__INDEX_NONE) {
        refuse(&f, "no such arm", row->arm);
        return reject(log, line, &f, error);
    }
    if (has_id && !tarry__index_add(&log->ids, row->id, &number))
        return no_memory(error);
    append(log, &f);
    log->n_rows++;
    const tarry_status status = check_pdrop(log, f.pdrop, line, error);
    return status == TARRY_OK ? keep_cost(log, row, f.cost, line, error)
                              : status;
}

static tarry_status add_row(tarry__log *log, const tarry__log_row *row,
                            size_t line, tarry_error *error)
{
    const bool has_id = !tarry__text_is_empty(row->id);
    const uint32_t known =
        has_id ? tarry__index_find(&log->ids, row->id) : TARRY__INDEX_NONE;
    if (tarry__text_is(row->state, "cancelled")) {
        if (known != TARRY__INDEX_NONE)
            cancel(log, known);
        return TARRY_OK;
    }
    if (known != TARRY__INDEX_NONE)
        return join(log, row, known, line, error);
    if (row->only_outcome)
        return tarry__log_reject_row(
            log, line, "the outcome of an unknown decision", row->id, error);
    return add_decision(log, row, has_id, line, error);
}

tarry_status tarry__log_add(tarry__log *log, const tarry__log_row *row,
                            size_t line, tarry_error *error)
{
    const tarry_status status = add_row(log, row, line, error);
    if (status == TARRY_OK && log->any_loss && log->any_reward)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s:%zu: the log has losses and rewards: keep "
                                "the column that holds the outcome",
                                log->path, line);
    return status;
}

/* ---- the whole ------------------------------------------------------------*/

tarry_status tarry__log_begin(tarry__log *log, const char *path,
                              const tarry__log_options *options,
                              tarry_error *error)
{
    memset(log, 0, sizeof *log);
    log->options = *options;
    log->path = strcmp(path, "-") == 0 ? "<stdin>" : path;
    log->last_time = -INFINITY;
    if (options->arms != NULL && !take_arms(log, options->arms))
        return no_memory(error);
    return TARRY_OK;
}

/* Decisions without those that were cancelled. */
static void drop_cancelled(tarry__log *log)
{
    size_t n = 0;
    for (size_t i = 0; log->n_cancelled > 0 && i < log->count; i++) {
        if (log->arm[i] == CANCELLED)
            continue;
        log->arm[n] = log->arm[i];
        log->decided[n] = log->decided[i];
        log->reported[n] = log->reported[i];
        log->loss[n] = log->loss[i];
        log->probability[n++] = log->probability[i];
    }
    log->count -= log->n_cancelled;
}

static void count_probabilities(tarry__log *log)
{
    for (size_t i = 0; i < log->count; i++)
        log->n_probabilities += !isnan(log->probability[i]);
}

static void permute(void *column, size_t size, const uint32_t *order,
                    size_t count, char *work)
{
    for (size_t i = 0; i < count; i++)
        memcpy(work + i * size, (char *)column + order[i] * size, size);
    memcpy(column, work, count * size);
}

/* In order of decided; most logs are already. */
static tarry_status put_in_order(tarry__log *log, tarry_error *error)
{
    const size_t n = log->count;
    if (log->unordered == 0)
        return TARRY_OK;
    uint32_t *order = tarry__base_alloc(n, sizeof *order);
    char *work = tarry__base_alloc(n, sizeof(double));
    const bool ok = order != NULL && work != NULL &&
                    tarry__log_order(log->decided, n, order);
    if (ok) {
        permute(log->arm, sizeof *log->arm, order, n, work);
        permute(log->reported, sizeof(double), order, n, work);
        permute(log->loss, sizeof(double), order, n, work);
        permute(log->probability, sizeof(double), order, n, work);
        permute(log->decided, sizeof(double), order, n, work);
    }
    tarry__base_free(order);
    tarry__base_free(work);
    return ok ? TARRY_OK : no_memory(error);
}

/* Arms that are numbers come in their order, not in that of the file. */
static tarry_status sort_arms(tarry__log *log, tarry_error *error)
{
    const size_t K = log->n_arms;
    double *number = tarry__base_alloc(K, sizeof *number);
    uint32_t *order = tarry__base_alloc(2 * K, sizeof *order);
    char **names = tarry__base_alloc(K, sizeof *names);
    bool ok = number != NULL && order != NULL && names != NULL;
    bool numbers = true;
    for (size_t k = 0; ok && k < K; k++) {
        const char *name = log->names[k];
        const tarry__text text = {name, name + strlen(name)};
        numbers = numbers && tarry__text_number(text, &number[k]);
    }
    if (ok && numbers && (ok = tarry__log_order(number, K, order))) {
        uint32_t *place = order + K;
        for (size_t k = 0; k < K; k++) {
            names[k] = log->names[order[k]];
            place[order[k]] = (uint32_t)k;
        }
        memcpy(log->names, names, K * sizeof *names);
        for (size_t i = 0; i < log->count; i++)
            log->arm[i] = place[log->arm[i]];
    }
    tarry__base_free(number);
    tarry__base_free(order);
    tarry__base_free(names);
    return ok ? TARRY_OK : no_memory(error);
}

static tarry_status set_now(tarry__log *log, tarry_error *error)
{
    const char *now = log->options.now;
    fields f = {0};
    log->now = log->last_time;
    if (now == NULL)
        return TARRY_OK;
    const tarry__text t = {now, now + strlen(now)};
    if (!read_time(log, t, &log->now, &f))
        return tarry__base_fail(error, TARRY_BAD_INPUT, "--now: %s: '%s'",
                                f.why, now);
    if (log->now < log->last_time)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "--now: before the last time in %s: '%s'",
                                log->path, now);
    return TARRY_OK;
}

tarry_status tarry__log_end(tarry__log *log, tarry_error *error)
{
    tarry__index_clear(&log->ids);
    const tarry_status settled = settle_costs(log, error);
    if (settled != TARRY_OK)
        return settled;
    drop_cancelled(log);
    count_probabilities(log);
    if (log->count == 0 && log->n_rejected > 0)
        return tarry__base_fail(
            error, TARRY_BAD_INPUT, "%s:%zu: %s (and no row makes sense)",
            log->path, log->rejected[0].line, log->rejected[0].why);
    if (log->count == 0)
        return tarry__base_fail(error, TARRY_BAD_INPUT, "%s: no decisions",
                                log->path);
    tarry_status status = set_now(log, error);
    if (status == TARRY_OK && log->options.arms == NULL)
        status = sort_arms(log, error);
    return status == TARRY_OK ? put_in_order(log, error) : status;
}

double tarry__log_value(const tarry__log *log, double loss)
{
    const tarry__log_options *o = &log->options;
    const double l = tarry__log_is_reward(log) ? -loss : loss;
    return o->low == -1 && o->high == 1
               ? l
               : o->low + (l + 1) / 2 * (o->high - o->low);
}
