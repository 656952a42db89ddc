/* fit.h - the estimate: regression that knows how noisy each arm can be.
 *
 * A loss of an arm has the weight 1 / (a bound on its variance), see noise.h.
 * The classes of waiting.h go by a range [low, high]: the extremes seen, the
 * whole range at first.
 *
 * What has not arrived enters with the loss expected of it (waiting.h) and the
 * share of information that is really there: a step of Fisher scoring, or EM
 * with the right step length.
 *
 * With a declared default outcome D the two classes of waiting.h are D and all
 * reported outcomes, not high and low.  p of an arm with mean m is then
 * (m - r) / (D - r), r being the mean of its reported outcomes. */
#ifndef TARRY_POLICY_FORESIGHT_FIT_H
#define TARRY_POLICY_FORESIGHT_FIT_H

#include "policy/foresight/noise.h"
#include "policy/foresight/silence.h"
#include "policy/foresight/view.h"
#include "policy/foresight/waiting.h"
#include "policy/foresight/worth.h"

typedef struct {
    uint64_t plays, arrivals;
    double sum, squares; /* of the losses that have arrived */
    uint64_t defaults;   /* of these, how many are the declared default */
    uint32_t seat;       /* its number among the arms played; NO_SEAT: none */
} tarry__foresight_tally;

#define TARRY__FORESIGHT_NO_SEAT UINT32_MAX

/* What is known of delays. */
typedef enum {
    TARRY__FIT_ANY_DELAYS,
    TARRY__FIT_INDEPENDENT, /* they do not look at losses */
    TARRY__FIT_PAYOFF       /* the wait is the loss */
} tarry__fit_delays;

typedef struct {
    const tarry__view *view;
    tarry__foresight_tally *tally; /* per arm */
    uint32_t *seated; /* the arms that have been played, in order */
    size_t n_seated;
    uint64_t played, arrived;
    double reported, reports; /* sum and number of losses but the default */
    double lowest, highest;   /* losses seen */
    double low, high;         /* the range that the fit assumes */
    double silence;  /* of silence.h: what old plays without a loss are */
    double lambda;   /* regulariser: 1 / variance of theta's entries */
    uint32_t delays; /* what is known of them, a tarry__fit_delays */
    tarry__foresight_worth worth; /* of what waits, if the wait is the loss */
    double *theta;                /* rank */
    double *V;                    /* rank by rank: information that is there; */
    double *V_coming;             /*   the same with what is to come */
    double *p, *step; /* per seat: probability of a high loss; rank */
    tarry__noise noise;
    tarry__foresight_answers *answers; /* per seat, scratch */
} tarry__fit;

tarry_status tarry__fit_open(tarry__fit *fit, const tarry__view *view);
void tarry__fit_clear(tarry__fit *fit);
void tarry__fit_archive(tarry__fit *fit, const tarry__view *view,
                        tarry__archive *a);

/* Books a play or a loss; answers the arm's seat. */
size_t tarry__fit_play(tarry__fit *fit, size_t arm);
size_t tarry__fit_loss(tarry__fit *fit, size_t arm, double loss);

/* A loss that was booked is another. */
size_t tarry__fit_revise(tarry__fit *fit, size_t arm, double old, double loss);

/* A play that was never made; answers the arm's seat. */
size_t tarry__fit_cancel(tarry__fit *fit, size_t arm);

/* What is known of n_arms arms, for a fit that has been opened for more. */
void tarry__fit_copy(tarry__fit *fit, const tarry__fit *from, size_t n_arms);

/* The share of a loss that is high, or that is the declared default. */
double tarry__fit_high_share(const tarry__fit *fit, double loss);

/* Estimates anew, and learns the law of delays; false: it is not there yet,
 * and should be called again. */
bool tarry__fit_renew(tarry__fit *fit, tarry__waiting *waiting);

#endif
