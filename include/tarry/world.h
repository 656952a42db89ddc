/* world.h - worlds to try policies in: arms and their mean losses, a law of the
 * losses, and delays.
 *
 * A world here is a recipe: the same for all runs, read-only once made, and
 * shared by threads.  Each run of an experiment (experiment.h) makes of it what
 * its seed and number say.  Everything random is a function of (seed, run,
 * round), whichever arm is played, so that policies in the same run meet the
 * same luck.
 *
 * Each part is a description "name:key=value,...", as `tarry list` has them, or
 * one's own: arms and means from arrays, outcomes from a table, a law of delays
 * as functions.  Losses lie in [-1, 1], less is better; delays are whole
 * rounds, 0 is seen at the end of the play's own round. */
#ifndef TARRY_WORLD_H
#define TARRY_WORLD_H

#include <stddef.h>
#include <stdint.h>
#include "tarry/random.h"
#include "tarry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A delay: the loss never comes.  So do delays above 1e14 rounds. */
#define TARRY_NEVER UINT64_MAX

/* What a run is about, as policies and laws of one's own are told.  Lives until
 * their `end`. */
typedef struct {
    size_t n_arms, dim; /* K and n in the paper */
    const double *arms; /* arm k is arms[k*dim .. k*dim + dim-1] */
    uint64_t horizon;   /* rounds 1 .. horizon are played; 0 for delays */
    uint64_t seed;      /* of the experiment */
    uint32_t run;       /* from 0 */
} tarry_problem;

/* ---- delays of one's own --------------------------------------------------*/

typedef enum {
    TARRY_DELAY_BY_NOTHING, /* one law for all arms */
    TARRY_DELAY_BY_ARM,
    TARRY_DELAY_BY_LOSS, /* a joint law of loss and delay; also by arm */
} tarry_delay_dependence;

/* A law of delays.  Functions are called from many threads, those of one run
 * from one at a time; what differs from TARRY_OK ends the experiment with that
 * status.  For results that do not depend on threads, a delay must be a
 * function of its arguments and of what was drawn before in the same run. */
typedef struct {
    const char *name; /* in results, like "my-law:mean=30" */
    /* For experiments with a journal, which cannot see the code behind the
     * functions: a text that changes whenever that code or its data do.  NULL:
     * with a journal the law is refused. */
    const char *version;
    tarry_delay_dependence depends;
    void *context;
    /* Begins a run: *state is given to the other functions.  NULL: they are
     * given the context.  A run may end without a draw: worlds are tried when
     * they are made. */
    tarry_status (*start)(void *context, const tarry_problem *problem,
                          void **state);
    /* Ends a run that was begun; NULL: nothing to do. */
    void (*end)(void *state);
    /* The delay of the play of a round, in rounds, or TARRY_NEVER.  `at` is an
     * address of tarry_random for this round that nothing else uses; stream
     * and attempt may be changed for more draws, streams from 32 on. */
    tarry_status (*draw)(void *state, uint64_t round, size_t arm, double loss,
                         const tarry_random *at, uint64_t *delay);
    /* In place of `draw`, which may then be NULL: many rounds at once, from
     * at->round on, before it is known which arms will be played.  By nothing:
     * delay[i] for round at->round + i.  By arm: delay[i * n_arms + k] if arm
     * k is played.  By loss: the same, where loss[i * n_arms + k] is its loss
     * (else NULL).  Some rounds after the horizon may be asked for. */
    tarry_status (*draw_many)(void *state, size_t count, const tarry_random *at,
                              const double *loss, uint64_t *delay);
    /* In place of both, by arm or loss: as draw_many, for the n arms listed
     * and no others, delay[i * n + j] if arm[j] is played and loss[i * n + j]
     * its loss.  Arms that have not been played for long are asked for when
     * they are, so that it matters little how many there are; a delay must be
     * a function of round, arm, loss and draws alone. */
    tarry_status (*draw_arms)(void *state, size_t count, const tarry_random *at,
                              size_t n, const size_t *arm, const double *loss,
                              uint64_t *delay);
} tarry_delay_law;

/* ---- worlds ---------------------------------------------------------------*/

/* tarry_world_defaults() gives one to fill; NULL and 0 are "not given". */
typedef struct {
    const char *name;     /* in results; NULL is fine for the only world */
    const char *instance; /* arms and means by description; or arrays: */
    size_t n_arms, dim;   /*   both at least 1 */
    const double *arms;   /*   arm k is arms[k*dim .. k*dim + dim-1] */
    const double *theta;  /*   dim numbers, the mean loss of an arm is its */
    const double *means;  /*   product with it; or n_arms mean losses */
    const char *loss;     /* law of the losses by description */
    const char *delay;    /* delay or adversary by description, or a law: */
    const tarry_delay_law *law;
    /* Arrays of arms may have a table of outcomes in place of theta or means,
     * loss and delay: a play of an arm has the loss and delay of one of the
     * arm's rows, all with equal chances.  Each arm needs a row; its mean loss
     * is that of its rows. */
    size_t n_rows;
    const size_t *row_arm;
    const double *row_loss;
    const uint64_t *row_delay; /* rounds, or TARRY_NEVER */
    /* Which outcomes are ever reported, by description: all, only-low,
     * only-high, window:rounds=N; NULL: all.  And the outcome of those that are
     * not, as in tarry_policy_params, in [-1, 1] and in rounds: all policies
     * are told; those that cannot take corrections need `final`. */
    const char *report, *default_outcome;
} tarry_world_params;

/* 100 arms in 10 dimensions on the sphere, losses +1 or -1, exponential delays
 * of mean 100 rounds: the defaults of `tarry run`. */
TARRY_API tarry_world_params tarry_world_defaults(void);

typedef struct tarry_world tarry_world;

/* Makes a world.  Arrays, texts and the law's record are copied; the law's
 * context must outlive the world.  The caller owns *out and ends it with
 * tarry_world_free; on failure *out is NULL and `error` (may be NULL) says what
 * is at fault: TARRY_BAD_ARGUMENT (params or out is NULL, parts missing or
 * given twice, sizes, a mean or loss out of range, an arm without a row),
 * TARRY_NOT_FINITE, TARRY_BAD_INPUT and TARRY_IO_ERROR (descriptions and their
 * files), TARRY_NO_MEMORY.  Means that are drawn, and may be right with one
 * seed and wrong with another, are refused by what needs them: a look or an
 * experiment. */
TARRY_API tarry_status tarry_world_create(const tarry_world_params *params,
                                          tarry_world **out,
                                          tarry_error *error);

/* NULL is fine. */
TARRY_API void tarry_world_free(tarry_world *world);

/* Which delays it has: what `recommended` goes by. */
typedef enum {
    TARRY_WORLD_STOCHASTIC,         /* by chance, one law for all arms */
    TARRY_WORLD_STOCHASTIC_BY_ARM,  /* by chance, a law per arm */
    TARRY_WORLD_ADVERSARIAL,        /* one delay per round for all arms */
    TARRY_WORLD_ADVERSARIAL_BY_ARM, /* may depend on the arm */
    TARRY_WORLD_LOSS_DEPENDENT,     /* joint law of loss and delay */
} tarry_world_model;

/* What a run meets.  Pointers live until tarry_world_view_free. */
typedef struct {
    tarry_world_model model;
    size_t n_arms, dim;
    const double *arms;  /* as in tarry_problem */
    const double *means; /* per arm */
    size_t best;         /* the arm of smallest mean, the first of them */
    void *hidden;
} tarry_world_view;

/* Looks at the world as run `run` of an experiment with this seed meets it.
 * The caller ends the view with tarry_world_view_free; after a failure it is
 * empty.  Fails as tarry_world_create does. */
TARRY_API tarry_status tarry_world_look(const tarry_world *world, uint64_t seed,
                                        uint32_t run, tarry_world_view *view,
                                        tarry_error *error);
TARRY_API void tarry_world_view_free(tarry_world_view *view);

#ifdef __cplusplus
}
#endif
#endif
