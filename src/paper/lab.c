/* lab.c - notes questions down, runs their trials, hands out answers. */
#include "paper/lab.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"

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
    bool full, closed;
    tarry_status failed; /* to note something down */
    size_t n_questions, room;
    question *questions;
    size_t n_trials;
    text *texts;
    tarry__trials trials; /* once closed */
    tarry__journal *journal;
    void *context; /* of the one who watches */
    bool (*progress)(void *context, double share, uint64_t rounds);
};

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
    tarry__trials_clear(&lab->trials);
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
           a->runs == b->runs && a->phases == b->phases && a->kind == b->kind;
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

void tarry__lab_ask(tarry__lab *lab, const tarry__lab_case *c)
{
    if (!lab->closed && find(lab, c) == NULL && note(lab, c) != TARRY_OK)
        lab->failed = TARRY_NO_MEMORY;
}

const tarry__lab_answer *tarry__lab_answers(const tarry__lab *lab,
                                            const tarry__lab_case *c)
{
    const question *q = find(lab, c);
    const tarry__lab_answer *all = (const void *)lab->trials.answer;
    return q != NULL && lab->closed ? &all[q->first] : NULL;
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

/* ---- one trial ------------------------------------------------------------*/

/* Ends a trial after some phases and keeps what the first one estimated. */
typedef struct {
    uint64_t left; /* phases; 0: all */
    bool wanted;   /* the estimates of the first */
    size_t n_estimates;
    tarry_estimate *estimate;
    double epsilon;
    tarry__audit *audit;     /* NULL: none */
    tarry__referee *referee; /* NULL: none */
} observer_of_phases;

static void phase_began(void *context, const tarry_policy_status *status)
{
    observer_of_phases *o = context;
    if (o->audit != NULL)
        tarry__audit_began(o->audit, status);
    if (o->referee != NULL)
        tarry__referee_began(o->referee, status);
}

static bool phase_ended(void *context, const tarry_policy_status *status)
{
    observer_of_phases *o = context;
    if (o->audit != NULL)
        tarry__audit_ended(o->audit, status);
    if (o->referee != NULL)
        tarry__referee_ended(o->referee, status);
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
    a->sigma_max = o->sigma_max;
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

/* A run whose phases are looked at. */
static tarry_status audit(tarry__sim_trial trial, tarry__sim_outcome *o,
                          tarry__lab_answer *a, tarry_error *error)
{
    tarry__audit audit;
    observer_of_phases *observer = trial.phase_context;
    tarry_status status =
        tarry__audit_open(&audit, trial.instance, trial.loss, trial.policy,
                          trial.horizon, trial.seed, trial.run, error);
    observer->audit = &audit;
    if (status == TARRY_OK)
        status = tarry__sim_run(&trial, o, error);
    if (status == TARRY_OK) {
        keep(a, o);
        memcpy(a->phase, audit.phase, sizeof a->phase);
        for (size_t m = 0; m < audit.n_phases; m++)
            a->phase[m].length = (double)o->phase[m].length;
    }
    tarry__audit_close(&audit);
    return status;
}

static void played(void *context, uint64_t round, size_t arm)
{
    const observer_of_phases *o = context;
    tarry__referee_played(o->referee, round, arm);
}

static void seen(void *context, uint64_t round, size_t arm, double loss)
{
    const observer_of_phases *o = context;
    tarry__referee_seen(o->referee, round, arm, loss);
}

/* A run that is followed play by play. */
static tarry_status follow(tarry__sim_trial trial, tarry__sim_outcome *o,
                           tarry__lab_answer *a, tarry_error *error)
{
    tarry__referee referee;
    observer_of_phases *observer = trial.phase_context;
    tarry_status status =
        tarry__referee_open(&referee, trial.instance, trial.loss, trial.policy,
                            trial.horizon, trial.seed, trial.run, error);
    observer->referee = &referee;
    trial.played = played;
    trial.seen = seen;
    if (status == TARRY_OK)
        status = tarry__sim_run(&trial, o, error);
    if (status == TARRY_OK) {
        keep(a, o);
        a->referee = tarry__referee_conclude(&referee);
    }
    tarry__referee_close(&referee);
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

static double cost_of(const tarry__trials *t, size_t trial)
{
    const tarry__lab_case *c = &question_of(t->context, trial)->c;
    return (double)c->horizon * (c->cost > 0 ? c->cost : 1);
}

static tarry_status play_case(tarry__trials *t, const tarry__lab_case *c,
                              uint64_t seed, uint32_t run,
                              tarry__lab_answer *answer, tarry_error *error)
{
    uint64_t grid[TARRY__PAPER_CURVE];
    observer_of_phases phases = {.left = c->phases};
    tarry__sim_outcome *o = tarry__base_alloc(1, sizeof *o);
    if (o == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    const tarry__sim_trial trial = {.instance = c->instance,
                                    .loss = c->loss,
                                    .delay = c->delay,
                                    .policy = c->policy,
                                    .horizon = c->horizon,
                                    .seed = seed,
                                    .run = run,
                                    .n_grid = tarry__lab_grid(c, grid),
                                    .grid = grid,
                                    .tick = tarry__trials_tick,
                                    .tick_context = t,
                                    .phase_ended = phase_ended,
                                    .phase_began = phase_began,
                                    .phase_context = &phases};
    tarry_status status = TARRY_OK;
    if (c->kind == TARRY__LAB_AUDIT) {
        status = audit(trial, o, answer, error);
    } else if (c->kind == TARRY__LAB_REFEREE) {
        status = follow(trial, o, answer, error);
    } else if (c->kind == TARRY__LAB_BRACKETS) {
        status = compare_brackets(trial, o, answer, error);
    } else {
        status = tarry__sim_run(&trial, o, error);
        keep(answer, o);
    }
    tarry__base_free(o);
    return status;
}

static tarry_status play(tarry__trials *t, size_t trial, void *answer,
                         tarry_error *error)
{
    const tarry__lab *lab = t->context;
    const question *q = question_of(lab, trial);
    const uint32_t run = (uint32_t)(trial - q->first);
    if (q->c.kind <= TARRY__LAB_BRACKETS)
        return play_case(t, &q->c, lab->seed, run, answer, error);
    if (tarry__trials_tick(t, 1))
        return tarry__base_fail(error, TARRY_CANCELLED, "cancelled");
    return tarry__lab_design(&q->c, lab->seed, run, answer, error);
}

tarry_status tarry__lab_close(tarry__lab *lab, tarry_error *error)
{
    if (lab->failed == TARRY_OK)
        lab->failed = tarry__trials_create(&lab->trials, lab->n_trials,
                                           sizeof(tarry__lab_answer));
    if (lab->failed != TARRY_OK)
        return tarry__base_fail(error, lab->failed, "out of memory");
    lab->trials.context = lab;
    lab->trials.play = play;
    lab->trials.cost = cost_of;
    lab->closed = true;
    return TARRY_OK;
}

static tarry_status finished(void *context, size_t trial, const void *answer,
                             tarry_error *error)
{
    const tarry__lab *lab = context;
    const question *q = question_of(lab, trial);
    return lab->journal == NULL
               ? TARRY_OK
               : tarry__journal_add(lab->journal, (size_t)(q - lab->questions),
                                    trial - q->first, answer, error);
}

static bool watch(void *context, double share, uint64_t rounds)
{
    const tarry__lab *lab = context;
    return lab->progress(lab->context, share, rounds);
}

tarry_status
tarry__lab_run(tarry__lab *lab, int threads,
               bool (*progress)(void *context, double share, uint64_t rounds),
               void *context, tarry__journal *journal, tarry_error *error)
{
    const tarry__trials_observer observer = {
        lab, progress != NULL ? watch : NULL, finished};
    lab->journal = journal;
    lab->progress = progress;
    lab->context = context;
    return tarry__trials_run(&lab->trials, threads, &observer, error);
}

/* ---- the journal ----------------------------------------------------------*/

#define FIELD(kind, name) TARRY__JOURNAL_FIELD(tarry__lab_answer, kind, name)

static const tarry__journal_field fields[] = {
    FIELD(REAL, regret),         FIELD(COUNT, rounds),
    FIELD(COUNT, first_seen),    FIELD(COUNT, n_phases),
    FIELD(COUNT, length),        FIELD(COUNT, designated),
    FIELD(COUNT, best_kept),     FIELD(COUNT, uncovered),
    FIELD(COUNT, arms),          FIELD(REAL, widest),
    FIELD(REAL, design_g),       FIELD(REAL, design_weight),
    FIELD(REAL, design_support), FIELD(REAL, curve),
    FIELD(COUNT, sigma_max),     FIELD(REAL, phase),
    FIELD(REAL, referee),
};

static void take(void *context, size_t c, size_t run, const void *answer)
{
    tarry__lab *lab = context;
    if (run < lab->questions[c].c.runs)
        tarry__trials_put(&lab->trials, lab->questions[c].first + run, answer);
}

/* All that decides an answer save the run. */
static tarry_status key_of(const tarry__lab *lab, const tarry__lab_case *c,
                           uint64_t *key)
{
    const uint64_t numbers[] = {lab->seed, c->horizon, c->phases, c->kind};
    *key = tarry__base_digest(tarry__journal_begin(), numbers, sizeof numbers);
    *key = tarry__journal_add_text(*key, c->loss);
    *key = tarry__journal_add_text(*key, c->policy);
    const tarry_status status = tarry__journal_add_part(key, c->instance);
    return status != TARRY_OK ? status : tarry__journal_add_part(key, c->delay);
}

static tarry_status fill_cases(const tarry__lab *lab, tarry__journal *journal)
{
    tarry_status status = tarry__journal_reserve(journal, lab->n_questions);
    for (size_t i = 0; status == TARRY_OK && i < lab->n_questions; i++) {
        const tarry__lab_case *c = &lab->questions[i].c;
        tarry__journal_case *made = &journal->cases[i];
        status = key_of(lab, c, &made->key);
        made->words = tarry__journal_words(c->instance, c->loss, c->delay,
                                           c->policy, c->horizon);
        if (made->words == NULL)
            status = TARRY_NO_MEMORY;
    }
    return status;
}

tarry_status tarry__lab_open_journal(tarry__lab *lab, const char *path,
                                     tarry__journal *journal,
                                     tarry_error *error)
{
    *journal = (tarry__journal){.path = path,
                                .fields = fields,
                                .n_fields = sizeof fields / sizeof *fields,
                                .answer_size = sizeof(tarry__lab_answer),
                                .context = lab,
                                .take = take,
                                .file = -1};
    if (fill_cases(lab, journal) != TARRY_OK)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    return tarry__journal_open(journal, error);
}
