/* test_rebuild.c - worlds made of logs are like the worlds that made them. */
#define _XOPEN_SOURCE 700
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/base.h"
#include "env/world.h"
#include "log/rebuild.h"
#include "made_log.h"

static char folder[] = "/tmp/tarry-rebuild-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int drop_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"arms.csv", "theta.csv", "pairs.csv"};
    for (size_t i = 0; i < 3; i++) {
        char path[100];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

/* The log as it is read; its columns belong to `m` and `out`. */
static tarry__log log_of(const made_log *m, double *decided, double *reported,
                         double *loss)
{
    for (size_t i = 0; i < m->count; i++) {
        decided[i] = (double)(i + 1);
        reported[i] = m->seen[i] ? decided[i] + m->delay[i] : NAN;
        loss[i] = m->seen[i] ? m->loss[i] : NAN;
    }
    return (tarry__log){.options = {.low = -1, .high = 1},
                        .count = m->count,
                        .n_arms = m->n_arms,
                        .arm = m->arm,
                        .decided = decided,
                        .reported = reported,
                        .loss = loss,
                        .now = (double)m->count,
                        .has_delays = true};
}

static tarry__world *open_world(void)
{
    char instance[200], delay[200];
    tarry__world *w;
    tarry_error error;
    snprintf(instance, sizeof instance,
             "file:arms=%s/arms.csv,theta=%s/"
             "theta.csv",
             folder, folder);
    snprintf(delay, sizeof delay, "resampled:file=%s/pairs.csv", folder);
    if (tarry__world_create(instance, "rademacher", delay, 1, 0, &w, &error) !=
        TARRY_OK)
        fail_msg("%s", error.text);
    return w;
}

/* Mean loss, and mean delay of low and of high losses, of an arm. */
static void measure(const tarry__world *w, size_t arm, double *mean,
                    double *low, double *high)
{
    enum { DRAWS = 40000 };
    double n_low = 0, n_high = 0;
    *mean = *low = *high = 0;
    for (uint64_t t = 1; t <= DRAWS; t++) {
        double loss;
        uint64_t delay;
        tarry__world_draw(w, t, arm, &loss, &delay);
        *mean += loss / DRAWS;
        if (delay == TARRY__DELAY_NEVER)
            continue;
        *(loss < 0 ? low : high) += (double)delay;
        *(loss < 0 ? &n_low : &n_high) += 1;
    }
    *low /= n_low;
    *high /= n_high;
}

/* Low losses take 400, high ones 100 rounds in a log of 4000: what was seen is
 * biased towards the high ones; the rebuilt world is not. */
static void losses_and_delays_come_together(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    const log_recipe r = {.instance = "basis:arms=3,fixed=1",
                          .loss = "rademacher",
                          .delay = "low-late:late=400,early=100,"
                                   "law=exponential",
                          .count = COUNT,
                          .seed = 3};
    made_log m = make_log(&r);
    double *columns = malloc(3 * COUNT * sizeof *columns);
    const tarry__log log =
        log_of(&m, columns, columns + COUNT, columns + 2 * COUNT);
    tarry__rebuild_world world;
    tarry_error error;
    assert_int_equal(tarry__rebuild(&log, NULL, true, &world, &error),
                     TARRY_OK);
    assert_int_equal(tarry__rebuild_write(&world, folder, &error), TARRY_OK);
    tarry__world *truth, *w = open_world();
    assert_int_equal(tarry__world_create(r.instance, r.loss, r.delay, r.seed, 0,
                                         &truth, &error),
                     TARRY_OK);
    for (size_t k = 0; k < 3; k++) {
        double mean, low, high;
        measure(w, k, &mean, &low, &high);
        /* 1333 losses of deviation 1: 0.027; 3 standard errors */
        CHECK_NEAR(mean, truth->instance.mean[k], 0.085);
        CHECK_NEAR(low, 400, 60); /* 600 delays: 16; 3.7 standard errors */
        CHECK_NEAR(high, 100, 15);
    }
    tarry__world_free(w);
    tarry__world_free(truth);
    tarry__rebuild_clear(&world);
    free(columns);
    unmake_log(&m);
}

/* An arm that was never played, and one with two outcomes, borrow. */
static void arms_that_are_hardly_known_borrow(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    double columns[3 * COUNT];
    made_log m;
    room_for_log(&m, COUNT);
    m.n_arms = 4;
    for (size_t i = 0; i < COUNT; i++) {
        m.arm[i] = i < 2 ? 1 : i % 2 == 0 ? 0 : 3;
        m.loss[i] = i % 3 == 0 ? -1 : 1;
        m.delay[i] = (double)(i % 7);
        m.seen[i] = i + (size_t)m.delay[i] < COUNT;
    }
    const tarry__log log =
        log_of(&m, columns, columns + COUNT, columns + 2 * COUNT);
    tarry__rebuild_world world;
    tarry_error error;
    assert_int_equal(tarry__rebuild(&log, NULL, false, &world, &error),
                     TARRY_OK);
    assert_int_equal(tarry__rebuild_write(&world, folder, &error), TARRY_OK);
    tarry__world *w = open_world(); /* checks the means of all four */
    double sum = 0, seen = 0;
    for (size_t i = 0; i < COUNT; i++) {
        sum += m.seen[i] ? m.loss[i] : 0;
        seen += m.seen[i];
    }
    /* the log's own mean, but for late outcomes that are seen less often */
    CHECK_NEAR(w->instance.mean[2], sum / seen, 1e-4);
    CHECK_NEAR(w->instance.mean[1], sum / seen, 0.02);
    tarry__world_free(w);
    tarry__rebuild_clear(&world);
    unmake_log(&m);
}

/* ---- a plain model --------------------------------------------------------*/

enum { MOST_ROWS = 150, MOST_PAIRS = MOST_ROWS + 20 + 100, OWN = 30, DIM = 2 };

/* What rebuild.h says of one arm, each sum taken in full. */
typedef struct {
    size_t own, count; /* outcomes, and pairs */
    tarry__rebuild_pair pair[MOST_PAIRS];
    double mean, squares;
} arm_model;

static double rounds_until(const tarry__log *log, size_t i)
{
    double rounds = 0;
    for (size_t j = i + 1; j < log->count; j++)
        rounds += log->decided[j] <= log->reported[i];
    return rounds;
}

static void model_own(const tarry__log *log, size_t arm, arm_model *m)
{
    for (size_t i = 0; i < log->count; i++) {
        if (log->arm[i] != arm || isnan(log->loss[i]))
            continue;
        const double delay = log->reported[i] - log->decided[i];
        double as_old = 0;
        for (size_t j = 0; j < log->count; j++)
            as_old += log->arm[j] == arm && log->now - log->decided[j] >= delay;
        m->pair[m->count++] = (tarry__rebuild_pair){
            (uint32_t)arm, log->loss[i], rounds_until(log, i), 1 / as_old};
    }
    m->own = m->count;
}

static double sum_of(const arm_model *m, bool losses)
{
    double sum = 0;
    for (size_t i = 0; i < m->count; i++)
        sum += m->pair[i].weight * (losses ? m->pair[i].loss : 1);
    return sum;
}

/* The own pair that is the `late`-th by its delay, 0 the latest. */
static const tarry__rebuild_pair *latest(const arm_model *m, size_t late)
{
    for (size_t i = 0; i < m->own; i++) {
        size_t later = 0;
        for (size_t j = 0; j < m->own; j++)
            later += m->pair[j].delay > m->pair[i].delay ||
                     (m->pair[j].delay == m->pair[i].delay && j > i);
        if (later == late)
            return &m->pair[i];
    }
    return NULL;
}

static double model_tail_delay(const tarry__log *log,
                               const tarry__laws_fit *law, double age, double u)
{
    const double last = log->decided[log->count - 1];
    if (law == NULL)
        return -1;
    const double time =
        tarry__laws_until(law, tarry__laws_tail(law, age) * (1 - u));
    const double rounds =
        floor(time * (double)(log->count - 1) / (last - log->decided[0]));
    return rounds <= TARRY__DELAY_LONGEST ? rounds : -1;
}

static void model_tail(const tarry__log *log, const tarry__laws_fit *law,
                       bool dependent, size_t arm, arm_model *m)
{
    const double left = 1 - sum_of(m, false);
    const size_t among = dependent ? (m->own + 4) / 5 : m->own;
    size_t first = 0;
    if (m->own == 0 || left * (double)m->own < 0.5)
        return;
    while (log->arm[first] != arm)
        first++;
    const double age = log->now - log->decided[first];
    for (size_t i = 0; i < 20; i++)
        m->pair[m->count++] = (tarry__rebuild_pair){
            (uint32_t)arm, latest(m, among * i / 20)->loss,
            model_tail_delay(log, law, age, ((double)i + 0.5) / 20), left / 20};
}

static void scale_to(arm_model *m, double to)
{
    const double sum = sum_of(m, false);
    for (size_t i = 0; i < m->count; i++)
        m->pair[i].weight *= to / sum;
}

static void model_borrow(const tarry__log *log, size_t arm, arm_model *m)
{
    size_t seen[MOST_ROWS], n = 0;
    for (size_t i = 0; i < log->count; i++)
        if (!isnan(log->loss[i]))
            seen[n++] = i;
    const size_t wanted = n < 100 ? n : 100;
    const double share = 1 - (double)m->own / OWN;
    for (size_t t = 0; t < wanted; t++) {
        const size_t i = seen[t * n / wanted];
        m->pair[m->count++] =
            (tarry__rebuild_pair){(uint32_t)arm, log->loss[i],
                                  rounds_until(log, i), share / (double)wanted};
    }
}

static void model_arm(const tarry__log *log, const tarry__laws_fit *law,
                      bool dependent, size_t arm, arm_model *m)
{
    *m = (arm_model){0};
    model_own(log, arm, m);
    model_tail(log, law, dependent, arm, m);
    m->mean = m->own > 0 ? sum_of(m, true) / sum_of(m, false) : 0;
    for (size_t i = 0; i < m->count; i++)
        m->squares += (double)m->own / sum_of(m, false) * m->pair[i].weight *
                      (m->pair[i].loss - m->mean) * (m->pair[i].loss - m->mean);
    if (m->own < OWN) {
        if (m->own > 0)
            scale_to(m, (double)m->own / OWN);
        model_borrow(log, arm, m);
    }
    scale_to(m, 1);
}

/* The means that the model of shrink.h gives arms in the plane, by Cramer's
 * rule; slopes that lead out of [-1, 1] are cut for all arms alike. */
static void model_means(const double *arms, const arm_model *m, size_t K,
                        double mean[])
{
    double N = 0, seen = 0, total = 0, cx = 0, cy = 0, within = 0, most = 1;
    for (size_t k = 0; k < K; k++) {
        const double n = (double)m[k].own;
        N += n;
        seen += n > 0;
        total += n * m[k].mean;
        cx += n * arms[DIM * k];
        cy += n * arms[DIM * k + 1];
        within += m[k].squares;
    }
    const double all = total / N;
    double Q = 0, spread = 0, a = 0, b = 0, d = 0, x = 0, y = 0;
    for (size_t k = 0; k < K; k++) {
        const double n = (double)m[k].own, off = m[k].mean - all;
        const double fx = arms[DIM * k] - cx / N,
                     fy = arms[DIM * k + 1] - cy / N;
        if (n > 1) {
            Q += n * off * off - m[k].squares / (n - 1) * (1 - n / N);
            spread += n * (fx * fx + fy * fy);
        }
        a += n * fx * fx;
        b += n * fx * fy;
        d += n * fy * fy;
        x += n * off * fx;
        y += n * off * fy;
        mean[k] = all;
    }
    if (!(N > seen && Q > 1e-12 * N))
        return;
    const double strength = fmax(1e-3, within / (N - seen) * spread / Q);
    a += strength;
    d += strength;
    const double t0 = (x * d - y * b) / (a * d - b * b),
                 t1 = (y * a - x * b) / (a * d - b * b);
    for (size_t k = 0; k < K; k++) {
        mean[k] =
            t0 * (arms[DIM * k] - cx / N) + t1 * (arms[DIM * k + 1] - cy / N);
        most =
            fmax(most, fabs(mean[k]) / (1 - 1e-9 - (mean[k] > 0 ? all : -all)));
    }
    for (size_t k = 0; k < K; k++)
        mean[k] = all + mean[k] / most;
}

/* Weights are the model's times exp(c loss), of sum 1; one more pair, of +/-1,
 * brings the mean to where it should be. */
static void compare_arm(const tarry__rebuild_world *w, size_t first, size_t end,
                        const arm_model *m, double target)
{
    double sum = 0, mean = 0, c = 0;
    assert_true(end - first == m->count || end - first == m->count + 1);
    const tarry__rebuild_pair *found = w->pair + first, *wanted = m->pair;
    for (size_t i = 1; i < m->count; i++)
        if (fabs(wanted[i].loss - wanted[0].loss) > 0.3)
            c = log(found[i].weight / wanted[i].weight /
                    (found[0].weight / wanted[0].weight)) /
                (wanted[i].loss - wanted[0].loss);
    for (size_t i = 0; i < m->count; i++) {
        assert_true(found[i].arm == wanted[i].arm &&
                    found[i].loss == wanted[i].loss);
        CHECK_NEAR(found[i].delay, wanted[i].delay, 0);
        CHECK_NEAR(found[i].weight / wanted[i].weight /
                       (found[0].weight / wanted[0].weight),
                   exp(c * (wanted[i].loss - wanted[0].loss)), 1e-6);
        sum += found[i].weight;
    }
    CHECK_NEAR(sum, 1, 1e-12);
    if (end - first > m->count) {
        const tarry__rebuild_pair *extra = &w->pair[end - 1];
        assert_true(fabs(extra->loss) == 1 && extra->weight > 0);
        CHECK_NEAR(extra->delay, found[m->count / 2].delay, 0);
        assert_true(extra->weight < 1e-9 || c == 0);
    }
    sum = 0;
    for (size_t i = first; i < end; i++) {
        sum += w->pair[i].weight;
        mean += w->pair[i].weight * w->pair[i].loss;
    }
    CHECK_NEAR(mean / sum, target, 1e-9);
}

static void compare_world(const tarry__log *log, const tarry__laws_fit *law,
                          bool dependent)
{
    static arm_model m[5];
    const double *arms = log->options.arms->data;
    tarry__rebuild_world w;
    double mean[5];
    assert_int_equal(tarry__rebuild(log, law, dependent, &w, NULL), TARRY_OK);
    /* two arms in the plane have a combination of features that is 1, if it
     * can be told from rounding */
    assert_true(w.n_arms == log->n_arms &&
                (w.dim == DIM + 1 || (w.dim == DIM && w.n_arms == 2)));
    for (size_t k = 0; k < w.n_arms; k++) {
        assert_memory_equal(w.arms + k * w.dim, arms + k * DIM,
                            DIM * sizeof *arms);
        assert_true(w.dim == DIM || w.arms[k * w.dim + DIM] == 1);
    }
    for (size_t k = 0; k < w.n_arms; k++)
        model_arm(log, law, dependent, k, &m[k]);
    model_means(arms, m, w.n_arms, mean);
    size_t end = 0;
    for (size_t k = 0; k < w.n_arms; k++) {
        const size_t first = end;
        while (end < w.count && w.pair[end].arm == k)
            end++;
        double found = 0;
        for (size_t i = 0; i < w.dim; i++)
            found += w.arms[k * w.dim + i] * w.theta[i];
        CHECK_NEAR(found, mean[k], 1e-6); /* features may be nearly alike */
        compare_arm(&w, first, end, &m[k], found);
    }
    assert_int_equal(end, w.count);
    tarry__rebuild_clear(&w);
}

static uint64_t below(uint64_t *seed, uint64_t limit)
{
    return test_bits(seed) % limit;
}

/* Few rows and many, times that are equal, arms that nobody played. */
static void worlds_are_as_a_plain_model_says(void **state)
{
    static const double losses[] = {-1, -0.5, 0, 0.25, 1};
    static const tarry__laws_fit law = {
        .name = "exponential", .parameter = {20}, .never = 0.125};
    uint64_t seed = 2385;
    (void)state;
    for (int n = 0; n < 300; n++) {
        uint32_t arm[MOST_ROWS];
        double column[3][MOST_ROWS], features[5 * DIM], time = 7;
        const tarry_arms arms = {
            .n_arms = 2 + below(&seed, 4), .dim = DIM, .data = features};
        for (size_t i = 0; i < 5 * DIM; i++)
            features[i] = (n % 4 == 0 ? 3 : 1) * test_normal(&seed);
        const size_t count = 4 + below(&seed, MOST_ROWS - 4);
        const double mean = 1 + (double)below(&seed, 60);
        for (size_t i = 0; i < count; i++)
            time += (double)below(&seed, 3);
        const double now = time + 1;
        time = 7;
        for (size_t i = 0; i < count; i++) {
            time = i + 1 == count ? now - 1 : fmin(time, now - 1);
            const double left = now - time;
            const double delay = floor(-mean * log(test_uniform(&seed)));
            const bool seen = delay <= left || i == 0;
            arm[i] = (uint32_t)below(&seed, 1 + below(&seed, arms.n_arms));
            column[0][i] = time;
            column[1][i] = seen ? time + fmin(delay, left) : NAN;
            column[2][i] = seen ? losses[below(&seed, 5)] : NAN;
            time += (double)below(&seed, 3);
        }
        const tarry__log made = {
            .options = {.low = -1, .high = 1, .arms = &arms},
            .count = count,
            .n_arms = arms.n_arms,
            .arm = arm,
            .decided = column[0],
            .reported = column[1],
            .loss = column[2],
            .now = now,
            .has_delays = true};
        compare_world(&made, n % 3 == 0 ? NULL : &law, n % 2);
    }
}

/* More outcomes than are kept are thinned out evenly. */
static void of_many_outcomes_every_second_is_kept(void **state)
{
    enum { COUNT = 200000 };
    made_log m;
    double *columns = malloc(3 * COUNT * sizeof *columns);
    tarry__rebuild_world w;
    (void)state;
    room_for_log(&m, COUNT);
    m.n_arms = 1;
    for (size_t i = 0; i < COUNT; i++) {
        m.arm[i] = 0;
        m.loss[i] = i % 4 < 2 ? 0.5 : -0.25;
        m.delay[i] = (double)(i % 2);
        m.seen[i] = i + 1 < COUNT;
    }
    for (int more = 0; more < 2; more++) {
        m.seen[COUNT - 1] = more;
        m.delay[COUNT - 1] = 0;
        const tarry__log log =
            log_of(&m, columns, columns + COUNT, columns + 2 * COUNT);
        assert_int_equal(tarry__rebuild(&log, NULL, false, &w, NULL), TARRY_OK);
        const size_t kept = more ? COUNT / 2 : COUNT - 1;
        assert_true(w.count == kept || w.count == kept + 1);
        for (size_t i = 0; i < kept; i++) {
            assert_true(w.pair[i].loss == m.loss[more ? 2 * i : i]);
            assert_true(w.pair[i].delay == (more ? 0 : (double)(i % 2)));
        }
        tarry__rebuild_clear(&w);
    }
    free(columns);
    unmake_log(&m);
}

/* The k-th allocation fails, until none is left to fail. */
static void a_world_is_whole_or_not_there(void **state)
{
    (void)state;
    const log_recipe r = {.instance = "basis:arms=3,fixed=1",
                          .loss = "rademacher",
                          .delay = "exponential:mean=20",
                          .count = 60,
                          .seed = 3};
    made_log m = make_log(&r);
    double columns[3 * 60];
    const tarry__log log = log_of(&m, columns, columns + 60, columns + 120);
    uint64_t seen, k = 0;
    do {
        tarry__rebuild_world w;
        tarry__base_fail_alloc(++k);
        const tarry_status status = tarry__rebuild(&log, NULL, true, &w, NULL);
        seen = tarry__base_fail_alloc(0);
        assert_int_equal(status, seen >= k ? TARRY_NO_MEMORY : TARRY_OK);
        assert_true((w.pair != NULL) == (status == TARRY_OK));
        tarry__rebuild_clear(&w);
        assert_true(w.pair == NULL && w.arms == NULL && w.theta == NULL);
    } while (seen >= k);
    assert_true(k > 10);
    unmake_log(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_and_delays_come_together),
        cmocka_unit_test(arms_that_are_hardly_known_borrow),
        cmocka_unit_test(worlds_are_as_a_plain_model_says),
        cmocka_unit_test(of_many_outcomes_every_second_is_kept),
        cmocka_unit_test(a_world_is_whole_or_not_there),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
