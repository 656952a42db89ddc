/* world.h - a world: an instance, a law of losses, and delays or an adversary.
 *
 * Everything random in a world is a function of (seed, run, round): in round t
 * one block of tarry_random at (seed, run, t, TARRY__ENV_STREAM_WORLD) gives
 * u[0] for the loss and u[1] for the delay, whichever arm is played.  So
 * policies in the same run meet the same luck.  A world with delays is
 * read-only once made and may be shared by threads; an adversary keeps books,
 * so one policy per world. */
#ifndef TARRY_ENV_WORLD_H
#define TARRY_ENV_WORLD_H

#include "env/adversary.h"
#include "env/delay.h"
#include "env/instance.h"
#include "env/loss.h"
#include "env/own.h"
#include "env/streams.h"

/* The delay models of the paper. */
typedef enum {
    TARRY__ENV_STOCHASTIC,         /* i.i.d., one law for all arms */
    TARRY__ENV_STOCHASTIC_BY_ARM,  /* i.i.d., a law per arm */
    TARRY__ENV_ADVERSARIAL,        /* one delay per round for all arms */
    TARRY__ENV_ADVERSARIAL_BY_ARM, /* may depend on the arm */
    TARRY__ENV_LOSS_DEPENDENT,     /* joint law, or set by who sees losses */
} tarry__env_delay_model;

typedef struct {
    char *instance_text, *loss_text, *delay_text; /* the descriptions */
    uint64_t seed;
    uint32_t run;
    tarry__instance instance;
    tarry__loss loss;
    tarry__delay delay;          /* delay.type is NULL with an adversary */
    tarry__adversary *adversary; /* NULL with a delay */
} tarry__world;

/* Makes a world; where `own` (NULL: nowhere) has arrays, a table or a law, the
 * description is only a name.  Otherwise as tarry__world_create. */
tarry_status tarry__world_make(const tarry__own_world *own,
                               const char *instance, const char *loss,
                               const char *delay, uint64_t seed, uint32_t run,
                               tarry__world **out, tarry_error *error);

/* Makes a world of three descriptions; `delay` names a delay or an adversary.
 * The caller ends *out with tarry__world_free.  On failure *out is NULL and
 * `error` names the setting, arm, value or inequality at fault:
 * TARRY_BAD_INPUT, TARRY_NOT_FINITE and TARRY_IO_ERROR (files),
 * TARRY_NO_MEMORY. */
tarry_status tarry__world_create(const char *instance, const char *loss,
                                 const char *delay, uint64_t seed, uint32_t run,
                                 tarry__world **out, tarry_error *error);
void tarry__world_free(tarry__world *world);

/* What a law of one's own has answered that was not TARRY_OK. */
tarry_status tarry__world_failure(const tarry__world *world);

tarry__env_delay_model tarry__world_model(const tarry__world *world);

/* Rounds first .. first + count - 1: u[i] for the loss and x[i] for the delay
 * of round first + i, for the two functions below. */
void tarry__world_prepare(const tarry__world *world, uint64_t first,
                          size_t count, double *u, double *x);

/* The loss of an arm, and its delay in rounds or TARRY__DELAY_NEVER.  The delay
 * is not for worlds with an adversary: see tarry__adversary_play. */
double tarry__world_loss(const tarry__world *world, size_t arm, double u,
                         double x);
uint64_t tarry__world_delay(const tarry__world *world, uint64_t round,
                            size_t arm, double loss, double x);

/* The three above for one round.  *delay is 0 with an adversary. */
void tarry__world_draw(const tarry__world *world, uint64_t round, size_t arm,
                       double *loss, uint64_t *delay);

/* Writes arms.csv, theta.csv (a column) and world.json (descriptions, seed,
 * run, sizes, best arm, means) into a folder, made if need be; numbers have 17
 * digits, enough to read back the same bits.  TARRY_IO_ERROR. */
tarry_status tarry__world_export(const tarry__world *world, const char *folder,
                                 tarry_error *error);

#endif
