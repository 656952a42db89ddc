/* recommended.h - the policy to take if one does not want to choose. */
#ifndef TARRY_SIM_RECOMMENDED_H
#define TARRY_SIM_RECOMMENDED_H

#include "env/world.h"

/* What users write in place of a policy's description. */
#define TARRY__RECOMMENDED "recommended"

/* The description it stands for in a delay model. */
const char *tarry__recommended(tarry__env_delay_model model);

#endif
