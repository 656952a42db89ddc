/* lab.c - notes questions down, runs their trials, hands out answers. */
#include "paper/lab.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "lab/workers.h"

typedef struct {
    tarry__lab_case c;
    size_t first; /* its first trial */
} question;

typedef struct text {
    struct text *next;
    char characters[];
} text;

struct tarry__lab {
    uint64_t seed;
    bool full, answers;
    tarry_status failed; /* to note something down */
    size_t n_questions, room;
    question *questions;
    size_t n_trials;
    tarry__lab_answer
        *answer; /* per trial; while asking, zeros of one question */
    size_t n_zeros;
    bool *known;
    text *texts;
    /* while trials run: */
    const tarry__lab_observer *observer;
    double total, reported;
    _Atomic double played;
    atomic_bool cancel;
    atomic_flag reporting;
};

static const double REPORT_SECONDS = 0.1;

tarry__lab *tarry__lab_create(uint64_t seed, bool full)
{
    tarry__lab *lab = tarry__base_zalloc(1, sizeof *lab);
    if (lab == NULL)
        return NULL;
    lab->seed = seed;
    lab->full = full;
    return lab;
}

void tarry__lab_free(tarry__lab *lab)
{
    if (lab == NULL)
        return;
    for (text *t = lab->texts, *next; t != NULL; t = next) {
        next = t->next;
        tarry__base_free(t);
    }
    tarry__base_free(lab->questions);
    tarry__base_free(lab->answer);
    tarry__base_free(lab->known);
    tarry__base_free(lab);
}

uint64_t tarry__lab_seed(const tarry__lab *lab)
{
    return lab->seed;
}

bool tarry__lab_full(const tarry__lab *lab)
{
    return lab->full;
}

double tarry__lab_pick(const tarry__lab *lab, double quick, double full)
{
    return lab->full ? full : quick;
}

bool tarry__lab_answers(const tarry__lab *lab)
{
    return lab->answers;
}

const char *tarry__lab_text(tarry__lab *lab, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const size_t size = (size_t)vsnprintf(NULL, 0, format, list) + 1;
    text *t = tarry__base_alloc(1, sizeof *t + size);
    if (t != NULL) {
        vsnprintf(t->characters, size, format, again);
        t->next = lab->texts;
        lab->texts = t;
    } else {
        lab->failed = TARRY_NO_MEMORY;
    }
    va_end(again);
    va_end(list);
    return t != NULL ? t->characters : "";
}

/* ---- asking ---------------------------------------------------------------*/

static bool same(const tarry__lab_case *a, const tarry__lab_case *b)
{
    return strcmp(a->instance, b->instance) == 0 &&
           strcmp(a->loss, b->loss) == 0 && strcmp(a->delay, b->delay) == 0 &&
           strcmp(a->policy, b->policy) == 0 && a->horizon == b->horizon &&
           a->runs == b->runs && a->phases == b->phases &&
           a->brackets == b->brackets;
}

static const question *find(const tarry__lab *lab, const tarry__lab_case *c)
{
    for (size_t i = 0; i < lab->n_questions; i++)
        if (same(&lab->questions[i].c, c))
            return &lab->questions[i];
    return NULL;
}

static tarry_status note(tarry__lab *lab, const tarry__lab_case *c)
{
    if (lab->n_questions == lab->room) {
        const size_t room = 2 * lab->room + 16;
        question *more = tarry__base_grow(lab->questions, lab->n_questions,
                                          room, sizeof *more);
        if (more == NULL)
            return TARRY_NO_MEMORY;
        lab->questions = more;
        lab->room = room;
    }
    lab->questions[lab->n_questions++] = (question){*c, lab->n_trials};
    lab->n_trials += c->runs;
    return TARRY_OK;
}

/* Room for as many zeros as somebody wants to see. */
static const tarry__lab_answer *zeros(tarry__lab *lab, size_t count)
{
    if (count > lab->n_zeros) {
        tarry__lab_answer *more = tarry__base_zalloc(count, sizeof *more);
        if (more == NULL) {
            lab->failed = TARRY_NO_MEMORY;
            return NULL;
        }
        tarry__base_free(lab->answer);
        lab->answer = more;
        lab->n_zeros = count;
    }
    return lab->answer;
}

const tarry__lab_answer *tarry__lab_ask(tarry__lab *lab,
                                        const tarry__lab_case *c)
{
    const question *q = find(lab, c);
    if (lab->answers)
        return q != NULL ? &lab->answer[q->first] : NULL;
    if (q == NULL && note(lab, c) != TARRY_OK)
        lab->failed = TARRY_NO_MEMORY;
    return zeros(lab, c->runs);
}

size_t tarry__lab_trials(const tarry__lab *lab)
{
    return lab->n_trials;
}

size_t tarry__lab_grid(const tarry__lab_case *c, uint64_t *grid)
{
    uint64_t all[TARRY__SIM_MAX_GRID];
    const size_t count =
        tarry__sim_log_grid(c->horizon, TARRY__PAPER_CURVE, all);
    const size_t skip =
        count > TARRY__PAPER_CURVE ? count - TARRY__PAPER_CURVE : 0;
    memcpy(grid, all + skip, (count - skip) * sizeof *grid);
    return count - skip;
}

uint64_t tarry__lab_digest(const tarry__lab *lab)
{
    uint64_t h =
        tarry__base_digest(TARRY__BASE_DIGEST, &lab->seed, sizeof lab->seed);
    for (size_t i = 0; i < lab->n_questions; i++) {
        const tarry__lab_case *c = &lab->questions[i].c;
        const char *const words[] = {c->instance, c->loss, c->delay, c->policy};
        const uint64_t numbers[] = {c->horizon, c->runs, c->phases,
                                    c->brackets};
        for (size_t k = 0; k < 4; k++)
            h = tarry__base_digest(h, words[k], strlen(words[k]) + 1);
        h = tarry__base_digest(h, numbers, sizeof numbers);
    }
    return h;
}

/* ---- one trial ------------------------------------------------------------*/

/* Ends a trial after some phases and keeps what the first one estimated. */
typedef struct {
    uint64_t left; /* phases; 0: all */
    bool wanted;   /* the estimates of the first */
    size_t n_estimates;
    tarry_estimate *estimate;
    double epsilon;
} observer_of_phases;

static bool phase_ended(void *context, const tarry_policy_status *status)
{
    observer_of_phases *o = context;
    if (o->wanted) {
        o->wanted = false;
        o->n_estimates = status->n_estimates;
        o->estimate =
            tarry__base_alloc(status->n_estimates, sizeof *o->estimate);
        if (o->estimate != NULL)
            memcpy(o->estimate, status->estimates,
                   status->n_estimates * sizeof *o->estimate);
        o->epsilon = 2 * status->epsilon; /* of the phase before */
    }
    return o->left > 0 && --o->left == 0;
}

static void keep(tarry__lab_answer *a, const tarry__sim_outcome *o)
{
    a->regret = o->regret;
    a->rounds = o->rounds;
    a->first_seen = o->first_seen;
    a->n_phases = o->n_phases;
    a->best_kept = o->best_kept;
    if (o->n_phases > 0) {
        a->length = o->phase[0].length;
        a->designated = o->phase[0].designated;
    }
    memcpy(a->curve, o->curve, sizeof a->curve);
}

/* The first phase with delays against the same plays without: designated plays
 * and their losses are the same, so the second one's estimates are what the
 * first would know if nothing were missing. */
static tarry_status compare_brackets(tarry__sim_trial trial,
                                     tarry__sim_outcome *o,
                                     tarry__lab_answer *a, tarry_error *error)
{
    static const double ROUNDING = 1e-9;
    observer_of_phases seen = {.left = 1, .wanted = true}, whole = seen;
    trial.phase_ended = phase_ended;
    trial.phase_context = &seen;
    tarry_status status = tarry__sim_run(&trial, o, error);
    keep(a, o);
    trial.delay = "none";
    trial.phase_context = &whole;
    if (status == TARRY_OK)
        status = tarry__sim_run(&trial, o, error);
    const bool ended = !seen.wanted && !whole.wanted;
    if (status == TARRY_OK && ended &&
        (seen.estimate == NULL || whole.estimate == NULL))
        status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    if (status == TARRY_OK && ended) {
        a->arms = seen.n_estimates;
        for (size_t k = 0; k < seen.n_estimates; k++) {
            const double middle = whole.estimate[k].lower;
            const tarry_estimate *e = &seen.estimate[k];
            a->uncovered +=
                middle < e->lower - ROUNDING || middle > e->upper + ROUNDING;
            if (e->upper - e->lower > a->widest * seen.epsilon)
                a->widest = (e->upper - e->lower) / seen.epsilon;
        }
    }
    tarry__base_free(seen.estimate);
    tarry__base_free(whole.estimate);
    return status;
}

/* ---- running --------------------------------------------------------------*/

static const question *question_of(const tarry__lab *lab, size_t trial)
{
    size_t low = 0, high = lab->n_questions;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (lab->questions[middle].first <= trial)
            low = middle;
        else
            high = middle;
    }
    return &lab->questions[low];
}

static double cost_of(const tarry__lab_case *c)
{
    return (double)c->horizon * (c->cost > 0 ? c->cost : 1);
}

/* Whoever comes by after a while reports, if nobody else is at it. */
static bool tick(void *context, uint64_t rounds)
{
    tarry__lab *lab = context;
    (void)rounds;
    if (lab->observer->progress == NULL ||
        atomic_flag_test_and_set(&lab->reporting))
        return atomic_load(&lab->cancel);
    const double now = tarry__base_seconds();
    if (now - lab->reported > REPORT_SECONDS) {
        lab->reported = now;
        if (lab->observer->progress(lab->observer->context,
                                    atomic_load(&lab->played) / lab->total))
            atomic_store(&lab->cancel, true);
    }
    atomic_flag_clear(&lab->reporting);
    return atomic_load(&lab->cancel);
}

static tarry_status work(void *context, size_t i, void *result,
                         tarry_error *error)
{
    tarry__lab *lab = context;
    const question *q = question_of(lab, i);
    uint64_t grid[TARRY__PAPER_CURVE];
    observer_of_phases phases = {.left = q->c.phases};
    tarry__sim_outcome *o = tarry__base_alloc(1, sizeof *o);
    if (o == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    const tarry__sim_trial trial = {.instance = q->c.instance,
                                    .loss = q->c.loss,
                                    .delay = q->c.delay,
                                    .policy = q->c.policy,
                                    .horizon = q->c.horizon,
                                    .seed = lab->seed,
                                    .run = (uint32_t)(i - q->first),
                                    .n_grid = tarry__lab_grid(&q->c, grid),
                                    .grid = grid,
                                    .tick = tick,
                                    .tick_context = lab,
                                    .phase_ended = phase_ended,
                                    .phase_context = &phases};
    tarry_status status = TARRY_OK;
    if (q->c.brackets) {
        status = compare_brackets(trial, o, result, error);
    } else {
        status = tarry__sim_run(&trial, o, error);
        keep(result, o);
    }
    tarry__base_free(o);
    return status;
}

static tarry_status done(void *context, size_t i, const void *result,
                         tarry_error *error)
{
    tarry__lab *lab = context;
    tarry__lab_put(lab, i, result);
    if (lab->observer->finished == NULL)
        return TARRY_OK;
    return lab->observer->finished(lab->observer->context, i, result, error);
}

/* The zeros give way to places for all answers. */
static tarry_status make_places(tarry__lab *lab)
{
    if (lab->known != NULL)
        return TARRY_OK;
    tarry__base_free(lab->answer);
    lab->answer = tarry__base_zalloc(lab->n_trials, sizeof *lab->answer);
    lab->known = tarry__base_zalloc(lab->n_trials, sizeof *lab->known);
    return lab->answer != NULL && lab->known != NULL ? TARRY_OK
                                                     : TARRY_NO_MEMORY;
}

void tarry__lab_put(tarry__lab *lab, size_t index,
                    const tarry__lab_answer *answer)
{
    if (make_places(lab) != TARRY_OK) {
        lab->failed = TARRY_NO_MEMORY;
        return;
    }
    const double cost = cost_of(&question_of(lab, index)->c);
    lab->answer[index] = *answer;
    lab->known[index] = true;
    atomic_store(&lab->played, atomic_load(&lab->played) + cost);
}

tarry_status tarry__lab_run(tarry__lab *lab, int threads,
                            const tarry__lab_observer *observer,
                            tarry_error *error)
{
    static const tarry__lab_observer nobody;
    if (make_places(lab) != TARRY_OK || lab->failed != TARRY_OK)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    tarry__workers_share(lab->known, lab->n_trials * sizeof *lab->known);
    bool *skip = tarry__base_alloc(lab->n_trials, sizeof *skip);
    if (skip == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    memcpy(skip, lab->known, lab->n_trials * sizeof *skip);
    lab->observer = observer != NULL ? observer : &nobody;
    atomic_flag_clear(&lab->reporting);
    lab->total = 0;
    for (size_t i = 0; i < lab->n_questions; i++)
        lab->total +=
            cost_of(&lab->questions[i].c) * (double)lab->questions[i].c.runs;
    const tarry__workers_job job = {.count = lab->n_trials,
                                    .result_size = sizeof(tarry__lab_answer),
                                    .context = lab,
                                    .work = work,
                                    .done = done,
                                    .skip = skip};
    const tarry_status status = tarry__workers_run(&job, threads, error);
    tarry__base_free(skip);
    lab->answers = status == TARRY_OK;
    return status;
}
