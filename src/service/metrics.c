/* metrics.c - counters for Prometheus, in its text format. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "service/inner.h"
#include "tarry/version.h"

/* ---- counting -------------------------------------------------------------*/

const double tarry__service_commit_bounds[] = {
    1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2,
    5e-2, 1e-1, 2e-1, 5e-1, 1,    2,    5,    INFINITY};
const double tarry__service_delay_bounds[] = {
    1,      5,      15,      60,      300,     900,   1800,
    3600,   7200,   14400,   28800,   43200,   86400, 172800,
    345600, 604800, 1209600, 2592000, INFINITY};

void tarry__service_histogram_add(tarry__service_histogram *h,
                                  const double *bounds, double value)
{
    size_t i = 0;
    while (value > bounds[i])
        i++;
    h->bucket[i]++;
    double sum = h->sum;
    while (!atomic_compare_exchange_weak(&h->sum, &sum, sum + value))
        ;
}

static void settle(tarry__service_counts *from, atomic_ullong *decisions,
                   atomic_ullong *feedback, bool has_happened)
{
    if (has_happened && decisions != NULL)
        *decisions += from->decisions;
    for (int r = 0; has_happened && r < TARRY__SERVICE_N_RESULTS; r++)
        feedback[r] += from->feedback[r];
    *from = (tarry__service_counts){0};
}

static void settle_delays(tarry__service_histogram *from,
                          tarry__service_histogram *to, bool has_happened)
{
    for (int i = 0; i <= TARRY__SERVICE_MOST_BUCKETS; i++) {
        if (from->bucket[i] == 0)
            continue;
        if (has_happened)
            to->bucket[i] += from->bucket[i];
        from->bucket[i] = 0;
    }
    if (has_happened)
        to->sum = to->sum + from->sum;
    from->sum = 0;
}

void tarry__service_settle_counts(tarry__service *s, bool has_happened)
{
    for (size_t i = 0; i < s->n_group; i++)
        settle(&s->group[i]->counts, &s->group[i]->decisions,
               s->group[i]->feedback, has_happened);
    settle(&s->counts, NULL, s->strays, has_happened);
    settle_delays(&s->new_delays, &s->delays, has_happened);
}

static const int codes[TARRY__SERVICE_N_CODES] = {
    200, 201, 204, 304, 307, 400, 401, 403, 404, 405, 408, 409,
    413, 414, 417, 422, 431, 500, 501, 502, 503, 505, 0};

void tarry__service_count(tarry__service *s, size_t route, int status)
{
    size_t i = 0;
    while (codes[i] != 0 && codes[i] != status)
        i++;
    s->requests[route][i]++;
}

/* ---- writing --------------------------------------------------------------*/

static void head(tarry__writer *t, const char *name, const char *type,
                 const char *help)
{
    tarry__writer_print(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
                        type);
}

/* A label's value, with what would end it escaped. */
static void label(tarry__writer *t, const char *value)
{
    for (const char *c = value; *c != '\0'; c++)
        if (*c == '\\' || *c == '"')
            tarry__writer_print(t, "\\%c", *c);
        else if (*c == '\n')
            tarry__writer_put(t, "\\n");
        else
            tarry__writer_add(t, c, 1);
}

static void of_experiment(tarry__writer *t, const char *name, const char *value)
{
    tarry__writer_print(t, "%s{experiment=\"", name);
    label(t, value);
    tarry__writer_put(t, "\"");
}

static void histogram(tarry__writer *t, const char *name, const char *help,
                      tarry__service_histogram *h, const double *bounds)
{
    unsigned long long sum = 0;
    head(t, name, "histogram", help);
    for (size_t i = 0;; i++) {
        sum += h->bucket[i];
        if (isinf(bounds[i]))
            break;
        tarry__writer_print(t, "%s_bucket{le=\"%.15g\"} %llu\n", name,
                            bounds[i], sum);
    }
    tarry__writer_print(t,
                        "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.15g\n"
                        "%s_count %llu\n",
                        name, sum, name, (double)h->sum, name, sum);
}

static void decisions(tarry__service *s, tarry__writer *t)
{
    tarry__service_experiment *e;
    head(t, "tarry_decisions_total", "counter",
         "Decisions made since the start.");
    for (size_t i = 0; (e = tarry__service_at(s, i)) != NULL; i++) {
        of_experiment(t, "tarry_decisions_total", e->made->name);
        tarry__writer_print(t, "} %llu\n", (unsigned long long)e->decisions);
    }
}

static void feedback_of(tarry__writer *t, const char *name,
                        atomic_ullong *results, bool all)
{
    for (int r = 0; r < TARRY__SERVICE_N_RESULTS; r++) {
        const unsigned long long count = results[r];
        if (count == 0 && !all)
            continue;
        of_experiment(t, "tarry_feedback_total", name);
        tarry__writer_print(t, ",status=\"%s\"} %llu\n",
                            tarry__service_results[r], count);
    }
}

static void feedback(tarry__service *s, tarry__writer *t)
{
    tarry__service_experiment *e;
    head(t, "tarry_feedback_total", "counter",
         "Outcomes that came in since the start, by what became of them.");
    feedback_of(t, "", s->strays, false);
    for (size_t i = 0; (e = tarry__service_at(s, i)) != NULL; i++)
        feedback_of(t, e->made->name, e->feedback, true);
}

/* How many are outstanding, the age of the oldest, and how long reports have
 * been silent. */
static uint64_t pending_of(tarry__service_experiment *e, double *oldest,
                           double *silent)
{
    const int64_t now = tarry__session_now();
    uint64_t count = 0;
    *oldest = *silent = 0;
    pthread_mutex_lock(&e->lock);
    if (e->session != NULL) {
        count = tarry__session_outstanding(e->session, now, oldest);
        *silent = tarry__session_silent_seconds(e->session, now);
    }
    pthread_mutex_unlock(&e->lock);
    return count;
}

static void seconds(tarry__writer *t, const char *name, const char *value,
                    double time)
{
    of_experiment(t, name, value);
    tarry__writer_print(t, "} %.3f\n", time);
}

/* Adds the text of another writer, which ends. */
static void append(tarry__writer *t, tarry__writer *end)
{
    t->failed |= end->failed;
    if (!end->failed)
        tarry__writer_add(t, end->bytes, end->size);
    tarry__writer_clear(end);
}

/* One text after the other: the lines of a metric must stand together. */
static void pending(tarry__service *s, tarry__writer *t)
{
    tarry__service_experiment *e;
    tarry__writer ages = {0}, silences = {0};
    double oldest, silent;
    head(t, "tarry_pending", "gauge",
         "Decisions whose outcome is outstanding.");
    head(&ages, "tarry_pending_oldest_seconds", "gauge",
         "Age of the oldest decision whose outcome is outstanding.");
    head(&silences, "tarry_reports_silent_seconds", "gauge",
         "Age of the first decision after the last outcome, if outcomes have "
         "stopped for all arms; else 0.");
    for (size_t i = 0; (e = tarry__service_at(s, i)) != NULL; i++) {
        const char *name = e->made->name;
        of_experiment(t, "tarry_pending", name);
        tarry__writer_print(t, "} %ju\n",
                            (uintmax_t)pending_of(e, &oldest, &silent));
        seconds(&ages, "tarry_pending_oldest_seconds", name, oldest);
        seconds(&silences, "tarry_reports_silent_seconds", name, silent);
    }
    append(t, &ages);
    append(t, &silences);
}

static void requests(tarry__service *s, tarry__writer *t)
{
    head(t, "tarry_http_requests_total", "counter",
         "Requests answered since the start.");
    for (size_t r = 0; r <= tarry__service_n_routes; r++)
        for (size_t i = 0; i < TARRY__SERVICE_N_CODES; i++) {
            const unsigned long long count = s->requests[r][i];
            if (count == 0)
                continue;
            const bool known = r < tarry__service_n_routes;
            tarry__writer_print(
                t,
                "tarry_http_requests_total{route=\"%s%s%s\",code=\"%d\"} "
                "%llu\n",
                known ? tarry__service_routes[r].method : "other",
                known ? " " : "", known ? tarry__service_routes[r].pattern : "",
                codes[i], count);
        }
}

/* Memory in bytes, by the system's account. */
static double resident_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*s %ld", &pages) != 1)
        pages = 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void process(tarry__service *s, tarry__writer *t)
{
    head(t, "process_resident_memory_bytes", "gauge", "Memory in use.");
    tarry__writer_print(t, "process_resident_memory_bytes %.0f\n",
                        resident_bytes());
    head(t, "process_start_time_seconds", "gauge",
         "When the process started, in seconds since 1970.");
    tarry__writer_print(t, "process_start_time_seconds %.3f\n",
                        (double)s->started_at / 1000);
    head(t, "tarry_queue_requests", "gauge", "Requests that wait.");
    tarry__writer_print(t, "tarry_queue_requests %zu\n", (size_t)s->waiting);
    head(t, "tarry_store_writable", "gauge",
         "1, or 0 after a commit that failed.");
    tarry__writer_print(t, "tarry_store_writable %d\n", !s->is_failing);
    head(t, "tarry_build_info", "gauge", "The version, as a label.");
    tarry__writer_print(t, "tarry_build_info{version=\"%s\"} 1\n",
                        tarry_version());
}

void tarry__service_metrics(tarry__service_call *c)
{
    tarry__service *s = c->service;
    tarry__writer *t = &c->text;
    decisions(s, t);
    feedback(s, t);
    pending(s, t);
    histogram(t, "tarry_feedback_delay_seconds",
              "Time from a decision to its outcome.", &s->delays,
              tarry__service_delay_bounds);
    histogram(t, "tarry_store_commit_seconds",
              "Time that a commit to the store took.", &s->commits,
              tarry__service_commit_bounds);
    requests(s, t);
    process(s, t);
    c->answer.type = "text/plain; version=0.0.4; charset=utf-8";
    tarry__service_say(c, 200);
}
