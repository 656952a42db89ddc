/* tarry.h - all of tarry. */
#ifndef TARRY_H
#define TARRY_H

#include "tarry/arms.h"
#include "tarry/design.h"
#include "tarry/experiment.h"
#include "tarry/policy.h"
#include "tarry/random.h"
#include "tarry/setting.h"
#include "tarry/status.h"
#include "tarry/version.h"
#include "tarry/world.h"

#endif
