/* rebuild.h - a world made of a log, to try policies in.
 *
 * Arms are those of the features given, or the standard basis; features get a
 * further coordinate of 1 unless it is a combination of theirs.  The arms' mean
 * losses are those of shrink.h: an arm of which the log says little is close to
 * the log's own mean.  Losses and delays are the log's own pairs, drawn again
 * per arm.  Delays are counted in decisions made meanwhile.  Four things are
 * put right:
 *   - late outcomes are seen less often than early ones: a pair with delay d
 *     counts 1 / (share of the arm's decisions that are at least d old);
 *   - what is still out beyond the oldest age gets delays of the fitted law
 *     beyond it, or never, with losses of the arm's pairs; of its latest ones
 *     if delays depend on losses;
 *   - arms with fewer than 30 outcomes borrow pairs of all arms;
 *   - pairs are weighed by exp(c loss), which leaves delays given losses as
 *     they are, so that each arm has the mean that theta says. */
#ifndef TARRY_LOG_REBUILD_H
#define TARRY_LOG_REBUILD_H

#include "log/laws.h"
#include "log/log.h"

typedef struct {
    uint32_t arm;
    double loss, delay, weight; /* delay in rounds, -1: never */
} tarry__rebuild_pair;

typedef struct {
    size_t n_arms, dim;
    double *arms, *theta; /* arm k is arms[k*dim .. k*dim + dim-1] */
    size_t count;
    tarry__rebuild_pair *pair; /* by arm */
} tarry__rebuild_world;

/* Makes the world; end it with tarry__rebuild_clear.  `law` is the law of the
 * delays in the log's unit, NULL if there is none.  TARRY_NO_MEMORY. */
tarry_status tarry__rebuild(const tarry__log *log, const tarry__laws_fit *law,
                            bool dependent, tarry__rebuild_world *world,
                            tarry_error *error);
void tarry__rebuild_clear(tarry__rebuild_world *world);

/* Writes arms.csv, theta.csv and pairs.csv into a folder, made if need be.
 * TARRY_IO_ERROR. */
tarry_status tarry__rebuild_write(const tarry__rebuild_world *world,
                                  const char *folder, tarry_error *error);

/* The ridge estimate: theta minimises sum_k weight_k (mean_k - <a_k, theta>)^2
 * + lambda |theta|^2.  False: out of memory. */
bool tarry__rebuild_ridge(const double *arms, size_t n_arms, size_t dim,
                          const double *weight, const double *mean,
                          double lambda, double *theta);

#endif
