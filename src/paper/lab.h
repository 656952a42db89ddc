/* lab.h - the trials behind the paper's rows.
 *
 * A row is a function that asks the laboratory for cases and makes checks and
 * figures of the answers.  It is called twice with the same questions: the
 * first time the laboratory only notes them down and answers zeros, then all
 * trials are run at once, shared by all workers, and the second time the
 * answers are true.  So a row is written as if trials took no time. */
#ifndef TARRY_PAPER_LAB_H
#define TARRY_PAPER_LAB_H

#include "sim/sim.h"

enum { TARRY__PAPER_CURVE = 32 };

/* Runs of a policy in a world. */
typedef struct {
    const char *instance, *loss, *delay, *policy; /* descriptions */
    uint64_t horizon, runs;
    uint64_t phases; /* a run ends after so many; 0: with the horizon */
    bool brackets;   /* compare the first phase's estimates: see answer */
    double cost;     /* of a round against that of a plain one; 0 means 1 */
} tarry__lab_case;

/* Of one run, plain bytes. */
typedef struct {
    double regret;
    uint64_t rounds, first_seen;
    uint64_t n_phases;
    uint64_t length, designated; /* rounds and planned losses of phase 1 */
    uint64_t best_kept;
    /* With `brackets`: the arms whose lower and upper estimates do not enclose
     * what the same plays give when all their losses are known, and the largest
     * distance of the two in units of eps. */
    uint64_t uncovered, arms;
    double widest;
    double curve[TARRY__PAPER_CURVE]; /* regret on the grid of the horizon */
} tarry__lab_answer;

typedef struct tarry__lab tarry__lab;

/* NULL: out of memory. */
tarry__lab *tarry__lab_create(uint64_t seed, bool full);
void tarry__lab_free(tarry__lab *lab);

uint64_t tarry__lab_seed(const tarry__lab *lab);

/* Whether it is the big job, and which of two values goes with that. */
bool tarry__lab_full(const tarry__lab *lab);
double tarry__lab_pick(const tarry__lab *lab, double quick, double full);

/* Whether answers are true, that is, the second call of a row. */
bool tarry__lab_answers(const tarry__lab *lab);

/* c->runs answers, in the order of runs; valid until the next question.  The
 * same question twice costs trials once. */
const tarry__lab_answer *tarry__lab_ask(tarry__lab *lab,
                                        const tarry__lab_case *c);

/* The rounds at which a case's curves are recorded: *grid has room for
 * PAPER_CURVE; answers how many. */
size_t tarry__lab_grid(const tarry__lab_case *c, uint64_t *grid);

/* Text that lives as long as the laboratory; printf's format. */
const char *tarry__lab_text(tarry__lab *lab, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- running --------------------------------------------------------------*/

/* What is told meanwhile, one at a time. */
typedef struct {
    void *context;
    /* The share of the work that is done; true cancels. */
    bool (*progress)(void *context, double share);
    /* After each trial. */
    tarry_status (*finished)(void *context, size_t index,
                             const tarry__lab_answer *answer,
                             tarry_error *error);
} tarry__lab_observer;

size_t tarry__lab_trials(const tarry__lab *lab);

/* A trial's answer is known from an earlier, interrupted job. */
void tarry__lab_put(tarry__lab *lab, size_t index,
                    const tarry__lab_answer *answer);

/* A number that differs if the questions do. */
uint64_t tarry__lab_digest(const tarry__lab *lab);

/* Runs what has been asked and is not known.  From then on answers are true,
 * on rank 0. */
tarry_status tarry__lab_run(tarry__lab *lab, int threads,
                            const tarry__lab_observer *observer,
                            tarry_error *error);

#endif
