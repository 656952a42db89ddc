/* horizon.h - from which horizon on a bound says something. */
#ifndef TARRY_BOUND_HORIZON_H
#define TARRY_BOUND_HORIZON_H

#include "bound/tight.h"

/* `useful_from` of a bound that is above 2T at the question's T. */
double tarry__bound_useful_from(const tarry__bound_question *question,
                                const tarry__bound *bound);

#endif
