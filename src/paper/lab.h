/* lab.h - the trials behind the paper's rows.
 *
 * A row first says its trials as data, by asking for cases; then all trials of
 * all rows are run at once, shared by all workers; then each row judges the
 * answers.  The same case twice costs its trials once. */
#ifndef TARRY_PAPER_LAB_H
#define TARRY_PAPER_LAB_H

#include "lab/journal.h"
#include "lab/trials.h"
#include "paper/audit.h"
#include "paper/referee.h"
#include "sim/sim.h"

enum { TARRY__PAPER_CURVE = 32, TARRY__LAB_DESIGN_DIM = 48 };

/* What a trial is. */
typedef enum {
    TARRY__LAB_PLAY,          /* a run of the policy in the world */
    TARRY__LAB_AUDIT,         /* the same, its phases looked at (audit.h) */
    TARRY__LAB_REFEREE,       /* the same, followed play by play (referee.h) */
    TARRY__LAB_BRACKETS,      /* its first phase, and the same without delays */
    TARRY__LAB_DESIGN,        /* the balanced design of the instance's arms */
    TARRY__LAB_DESIGN_UNEVEN, /* of these arms, each stretched by chance */
} tarry__lab_kind;

/* Runs of a policy in a world, or of a design for its arms. */
typedef struct {
    const char *instance, *loss, *delay, *policy; /* descriptions */
    uint64_t horizon, runs;
    uint64_t phases; /* a run ends after so many; 0: with the horizon */
    tarry__lab_kind kind;
    double cost; /* of a round against that of a plain one; 0 means 1 */
} tarry__lab_case;

/* Of one run, plain bytes. */
typedef struct {
    double regret;
    uint64_t rounds, first_seen;
    uint64_t n_phases;
    uint64_t length, designated; /* rounds and planned losses of phase 1 */
    uint64_t best_kept;
    uint64_t sigma_max;                            /* most plays outstanding */
    tarry__audit_phase phase[TARRY__AUDIT_PHASES]; /* of TARRY__LAB_AUDIT */
    tarry__referee_findings referee;               /* of TARRY__LAB_REFEREE */
    /* Of TARRY__LAB_BRACKETS: the arms whose lower and upper estimates do not
     * enclose what the same plays give when all their losses are known, and the
     * largest distance of the two in units of eps. */
    uint64_t uncovered, arms;
    double widest;
    /* Of a design: g over the rank; the smallest weight times twice the
     * support; the support over what the lemma allows.  All 0: not solved. */
    double design_g, design_weight, design_support;
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

/* Notes a case down.  Only before tarry__lab_run; a failure is told there. */
void tarry__lab_ask(tarry__lab *lab, const tarry__lab_case *c);

/* c->runs answers, in the order of runs, after tarry__lab_run; NULL: the case
 * has not been asked for.  They live as long as the laboratory. */
const tarry__lab_answer *tarry__lab_answers(const tarry__lab *lab,
                                            const tarry__lab_case *c);

/* The rounds at which a case's curves are recorded: *grid has room for
 * PAPER_CURVE; answers how many. */
size_t tarry__lab_grid(const tarry__lab_case *c, uint64_t *grid);

/* Text that lives as long as the laboratory; printf's format. */
const char *tarry__lab_text(tarry__lab *lab, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- running --------------------------------------------------------------*/

size_t tarry__lab_trials(const tarry__lab *lab);

/* Makes places for all answers; from now on nothing can be asked. */
tarry_status tarry__lab_close(tarry__lab *lab, tarry_error *error);

/* Opens a journal and takes in the answers it has; after tarry__lab_close.  The
 * journal is filled by this call and cleared by the caller. */
tarry_status tarry__lab_open_journal(tarry__lab *lab, const char *path,
                                     tarry__journal *journal,
                                     tarry_error *error);

/* Runs what is not known yet, and keeps it in the journal (may be NULL).
 * Answers are then there on rank 0. */
tarry_status
tarry__lab_run(tarry__lab *lab, int threads,
               bool (*progress)(void *context, double share, uint64_t rounds),
               void *context, tarry__journal *journal, tarry_error *error);

/* One trial of a design, in at most TARRY__LAB_DESIGN_DIM dimensions. */
tarry_status tarry__lab_design(const tarry__lab_case *c, uint64_t seed,
                               uint32_t run, tarry__lab_answer *answer,
                               tarry_error *error);

#endif
