/* experiment.h - policies side by side in worlds, over many runs.
 *
 * All policies of a run meet the same arms and the same luck, so that their
 * differences have small errors.  Results depend on the seed alone: not on
 * threads, on the order of calls, or on an earlier, interrupted experiment that
 * this one continues.
 *
 * Use each experiment from one thread at a time.  A function of this header
 * that is given NULL where something must be refuses: TARRY_BAD_ARGUMENT where
 * it answers a status, else 0 or NULL. */
#ifndef TARRY_EXPERIMENT_H
#define TARRY_EXPERIMENT_H

#include "tarry/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- policies of one's own ------------------------------------------------*/

/* A policy.  Functions are called from many threads, those of one run from one
 * at a time; what differs from TARRY_OK ends the experiment with that status.
 * For results that do not depend on threads, a run must depend on nothing but
 * what its functions are told; tarry_random at (seed, run, round, streams 0 to
 * 15) are its coins. */
typedef struct {
    const char *name; /* in results, like "mine:width=2" */
    /* For experiments with a journal, which cannot see the code behind the
     * functions: a text that changes whenever that code or its data do.  NULL:
     * with a journal the policy is refused. */
    const char *version;
    void *context;
    /* Begins a run: *state is given to the other functions.  NULL: they are
     * given the context, which all runs then share.  A run may end without a
     * choice: policies are tried in each of several worlds first. */
    tarry_status (*start)(void *context, const tarry_problem *problem,
                          void **state);
    /* The arm to play in round 1, 2, ... */
    tarry_status (*choose)(void *state, uint64_t round, size_t *arm);
    /* The loss, in [-1, 1], of the arm played in an earlier round, or in this
     * one, has come; in the order of arrival.  NULL: it need not know. */
    tarry_status (*observe)(void *state, uint64_t round, size_t arm,
                            double loss);
    /* The arm it would play if it had to stop, and a bound on how much worse
     * than the best it is.  NULL: it states none.  Asked at the points of the
     * curves; *gap may be NaN. */
    tarry_status (*certify)(void *state, size_t *arm, double *gap);
    /* Ends a run that was begun; NULL: nothing to do. */
    void (*end)(void *state);
} tarry_own_policy;

/* ---- making ---------------------------------------------------------------*/

/* tarry_experiment_defaults() gives one to fill. */
typedef struct {
    uint64_t horizon; /* rounds, 2 to 2^39 - 1; default 1e5 */
    uint64_t runs;    /* 1 to 1e6; default 10 */
    uint64_t seed;    /* default 1 */
    uint64_t points;  /* on the curves, 1 to 256; default 100 */
    int threads;      /* 0: all cores; default 0 */
    /* Finished runs are kept in this file, and those in it are not repeated;
     * NULL: they are not kept.  A run is known by all that decides its result:
     * world with the bytes of its files, policy, horizon, seed, points, run and
     * the build of the library.  So an experiment may come back with more
     * policies, worlds or runs.  tarry_experiment_run locks the file until it
     * returns. */
    const char *journal;
    /* One of several processes, each with a journal of its own: only runs i
     * with i % parts == part are played.  The lines of their journals below
     * the first, which is the same in all, then make one journal.  parts 0 or
     * 1: all runs. */
    uint64_t part, parts;
    /* Several times a second, from one thread at a time: the share of the
     * runs' rounds that is done, 0 to 1.  Not 0 cancels.  May be NULL. */
    int (*progress)(void *context, double share);
    void *progress_context;
} tarry_experiment_params;

TARRY_API tarry_experiment_params tarry_experiment_defaults(void);

typedef struct tarry_experiment tarry_experiment;

/* Makes an experiment without worlds and policies.  Texts are copied.  The
 * caller owns *out and ends it with tarry_experiment_free; on failure *out is
 * NULL.  TARRY_BAD_ARGUMENT, TARRY_NO_MEMORY. */
TARRY_API tarry_status
tarry_experiment_create(const tarry_experiment_params *params,
                        tarry_experiment **out, tarry_error *error);

/* NULL is fine. */
TARRY_API void tarry_experiment_free(tarry_experiment *experiment);

/* Adds a world, up to 64; several need different names.  It must outlive the
 * experiment.  Policies are added by description, `recommended` and the groups
 * all, linear and mab included, or as one's own, whose record is copied and
 * whose context must outlive the experiment; up to 64, no two with the same
 * name.  Only before tarry_experiment_run.  After a failure nothing was added:
 * TARRY_BAD_ARGUMENT, TARRY_BAD_INPUT, TARRY_NO_MEMORY. */
TARRY_API tarry_status tarry_experiment_add_world(tarry_experiment *experiment,
                                                  const tarry_world *world,
                                                  tarry_error *error);
TARRY_API tarry_status tarry_experiment_add_policy(tarry_experiment *experiment,
                                                   const char *description,
                                                   tarry_error *error);
TARRY_API tarry_status tarry_experiment_add_own_policy(
    tarry_experiment *experiment, const tarry_own_policy *policy,
    tarry_error *error);

/* Runs it, all of it or what the journal does not have.  With several worlds a
 * policy that cannot run in one of them is left out there.  TARRY_CANCELLED and
 * failures on the way leave the runs finished so far; calling again goes on.
 * TARRY_BAD_ARGUMENT (no world, no policy, another process has the journal
 * open, or a policy or law has no version for it), TARRY_BAD_INPUT,
 * TARRY_IO_ERROR, TARRY_NO_MEMORY, and what functions of one's own answer. */
TARRY_API tarry_status tarry_experiment_run(tarry_experiment *experiment,
                                            tarry_error *error);

/* ---- results --------------------------------------------------------------*/

/* How many there are; known from the first tarry_experiment_run on, as are all
 * results. */
TARRY_API size_t tarry_experiment_n_worlds(const tarry_experiment *experiment);
TARRY_API size_t
tarry_experiment_n_policies(const tarry_experiment *experiment);

/* Damaged lines of the journal that were left out; their runs were run again.
 */
TARRY_API size_t
tarry_experiment_journal_dropped(const tarry_experiment *experiment);

/* What a policy did in a world.  Pointers live as long as the experiment. */
typedef struct {
    const char *world;   /* its name; NULL if it has none */
    const char *policy;  /* description, or name */
    const char *refused; /* why it cannot run in this world; NULL: it can */
    uint64_t runs, finished;
    double regret, ci95;  /* mean over finished runs, and the half-width of its
                             95 % interval; 0 for one run */
    size_t n_points;      /* of the curves: */
    const uint64_t *grid; /*   after which rounds */
} tarry_experiment_summary;

/* TARRY_BAD_ARGUMENT: no such world or policy, or nothing has been run. */
TARRY_API tarry_status
tarry_experiment_get_summary(const tarry_experiment *experiment, size_t world,
                             size_t policy, tarry_experiment_summary *summary);

/* A finished phase. */
typedef struct {
    uint64_t length;       /* rounds it took */
    uint64_t designated;   /* losses it planned to count */
    uint64_t active_after; /* arms that were left */
} tarry_experiment_phase;

/* One run.  Pointers live until the experiment is run again or ended. */
typedef struct {
    double regret; /* sum over rounds of mean loss less the best arm's */
    double seconds;
    double sigma_mean; /* plays outstanding at the start of a round */
    uint64_t sigma_max, sigma_final;
    uint64_t used, late, ignored; /* losses: counted, of an earlier phase, not
                                     needed */
    uint64_t lost;                /* plays whose loss never comes */
    uint64_t first_seen;          /* round of the first loss seen; 0: none */
    uint64_t active;              /* arms at the end */
    int best_kept;                /* not 0: a best arm is among them */
    uint64_t n_phases;            /* finished; of which listed: */
    size_t n_listed;              /*   the first, at most 48 */
    const tarry_experiment_phase *phases;
    size_t n_points;
    const double *curve;       /* regret after round grid[i] */
    const double *certificate; /* bound the policy then states on the gap of the
                                  arm it would exploit; NaN: none */
    const double *exploit_gap; /* that gap */
} tarry_experiment_outcome;

/* TARRY_BAD_ARGUMENT: no such world, policy or run; TARRY_UNKNOWN_ROUND: the
 * run has not finished. */
TARRY_API tarry_status tarry_experiment_get_outcome(
    const tarry_experiment *experiment, size_t world, size_t policy,
    uint64_t run, tarry_experiment_outcome *outcome);

/* All results as the text of one JSON object, the same that `tarry run --json`
 * prints; the caller ends it with tarry_experiment_free_json.  NULL: nothing
 * has been run, or out of memory. */
TARRY_API char *tarry_experiment_json(const tarry_experiment *experiment);
TARRY_API void tarry_experiment_free_json(char *text);

#ifdef __cplusplus
}
#endif
#endif
