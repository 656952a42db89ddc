/* own_law.h - laws of delays that are functions of the caller's. */
#ifndef TARRY_ENV_OWN_LAW_H
#define TARRY_ENV_OWN_LAW_H

#include "env/own.h"

/* Delays whose state is a law's run; the second kind looks at the loss. */
extern const tarry__delay_type tarry__own_law, tarry__own_law_by_loss;

/* Begins a run in a state of zeros; fails as the law's `start` does. */
tarry_status tarry__own_law_begin(void *state, const tarry_delay_law *law,
                                  const tarry_problem *problem,
                                  const tarry__loss *loss, tarry_error *error);

/* What a function of the law has answered that was not TARRY_OK. */
tarry_status tarry__own_law_failed(const void *state);

#endif
