/* sim.h - one policy in one world: a trial and its outcome.
 *
 * Policies meet worlds only here.  An outcome is a function of the trial alone
 * (but for `seconds`): not of threads, ranks or earlier trials.
 *
 * Losses that are seen at the end of the same round come in order of play, as
 * tarry_policy counts what is reported between two choices: a policy behind
 * that door does the same to the last bit. */
#ifndef TARRY_SIM_SIM_H
#define TARRY_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "env/world.h"
#include "policy/policy_type.h"
#include "tarry/experiment.h"

enum { TARRY__SIM_MAX_PHASES = 48, TARRY__SIM_MAX_GRID = 256 };

/* Which outcomes are ever reported (env/report.h), and the outcome of those
 * that are not (policy/default.h), which all policies are told. */
typedef struct {
    const char *report;          /* NULL: all */
    const char *default_outcome; /* in [-1, 1] and in rounds; NULL: none */
} tarry__sim_reports;

/* Four arguments for "%s%s%s%s": what follows the delay, for people. */
#define TARRY__SIM_REPORTS_TEXT(r)                                             \
    (r).report != NULL ? ", reports " : "",                                    \
        (r).report != NULL ? (r).report : "",                                  \
        (r).default_outcome != NULL ? ", default " : "",                       \
        (r).default_outcome != NULL ? (r).default_outcome : ""

/* What to simulate.  Texts are descriptions name:key=value,..., or names of
 * what is not described. */
typedef struct {
    const char *instance, *loss, *delay, *policy;
    tarry__sim_reports reports;
    const tarry__own_world *own_world;  /* NULL: as described */
    const tarry_own_policy *own_policy; /* NULL: as described */
    uint64_t horizon, seed;
    uint32_t run;
    size_t n_grid;        /* rounds at which the regret is recorded: */
    const uint64_t *grid; /*   increasing, the last one the horizon */
    /* Called every some hundred rounds with how many have been played since
     * the last call; true cancels the trial.  NULL for none. */
    bool (*tick)(void *context, uint64_t rounds);
    void *tick_context;
    /* Called when a phase has ended, with what the policy knows then, before
     * anything of the next phase is played; true ends the trial there.  NULL
     * for none. */
    bool (*phase_ended)(void *context, const tarry_policy_status *status);
    /* Called when a phase has begun, the first too.  NULL for none. */
    void (*phase_began)(void *context, const tarry_policy_status *status);
    /* Called with every play, after these two, and with every loss that is
     * seen.  NULL for none. */
    void (*played)(void *context, uint64_t round, size_t arm);
    void (*seen)(void *context, uint64_t round, size_t arm, double loss);
    void *phase_context; /* of these four */
} tarry__sim_trial;

/* A finished phase. */
typedef struct {
    uint64_t length;       /* rounds it took */
    uint64_t designated;   /* losses it planned to count */
    uint64_t active_after; /* arms that were left */
} tarry__sim_phase;

/* Plain bytes, so that it can be sent and stored. */
typedef struct {
    double regret;     /* sum of the gaps of the arms played */
    double best_share; /* of best arms among the plays of the second half */
    double seconds;
    double sigma_mean; /* of the plays outstanding at the start of a round */
    uint64_t sigma_max, sigma_final;
    uint64_t used, late, ignored; /* losses, as in the policy's status */
    uint64_t lost;                /* plays whose loss never comes */
    uint64_t rounds;              /* played: the horizon, or fewer */
    uint64_t first_seen;          /* round of the first loss seen; 0: none */
    uint64_t active;              /* arms at the end */
    uint64_t best_kept;           /* 1 if a best arm is among them */
    uint64_t n_phases;            /* finished; the first MAX_PHASES are below */
    tarry__sim_phase phase[TARRY__SIM_MAX_PHASES];
    double curve[TARRY__SIM_MAX_GRID]; /* regret after round grid[i] */
    /* The policy's bound on the gap of the arm it would exploit after round
     * grid[i]; NaN if it states none; and that gap. */
    double certificate[TARRY__SIM_MAX_GRID], exploit_gap[TARRY__SIM_MAX_GRID];
} tarry__sim_outcome;

/* TARRY_CANCELLED, TARRY_BAD_INPUT (a description), TARRY_NO_MEMORY, ... */
tarry_status tarry__sim_run(const tarry__sim_trial *trial,
                            tarry__sim_outcome *outcome, tarry_error *error);

/* Whether such a trial can begin: makes its world and policy and ends them.
 * Fails as tarry__sim_run would before the first round. */
tarry_status tarry__sim_check(const tarry__sim_trial *trial,
                              tarry_error *error);

/* Whether a policy's description has a known name and settings; their values
 * are read when a trial begins.  TARRY_BAD_INPUT, TARRY_NO_MEMORY. */
tarry_status tarry__sim_policy_check(const char *description,
                                     tarry_error *error);

/* What a policy may be told of a world's delays.  Where some outcomes are not
 * reported, or have a default, delays depend on losses; NULL: all are
 * reported. */
tarry__policy_delays tarry__sim_delays(const tarry__world *world,
                                       const tarry__sim_reports *reports);

/* About `wanted` rounds from 1 to the horizon, evenly spaced on a logarithmic
 * scale and all different; `grid` has room for MAX_GRID.  Answers how many. */
size_t tarry__sim_log_grid(uint64_t horizon, size_t wanted, uint64_t *grid);

#endif
