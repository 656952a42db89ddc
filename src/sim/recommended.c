/* recommended.c - see recommended.h.  The paper's algorithm for the delay
 * model, with tight constants and guided by Thompson sampling.  Where delays do
 * not look at losses that is bolder than one would dare alone, since the phases
 * catch what it gets wrong.  docs/regret-lab.md has the measurements behind the
 * settings. */
#include "sim/recommended.h"

#define BOLD ":constants=tight,guide=lints/v=0.7,guide_share=99,design=regret"
#define CALM ":constants=tight,guide=lints,guide_share=299,design=regret"

const char *tarry__recommended(tarry__env_delay_model model)
{
    switch (model) {
    case TARRY__ENV_STOCHASTIC:
    case TARRY__ENV_STOCHASTIC_BY_ARM:
    case TARRY__ENV_ADVERSARIAL:
        return "phased-stochastic" BOLD;
    case TARRY__ENV_ADVERSARIAL_BY_ARM:
        return "phased-adversarial" BOLD;
    case TARRY__ENV_LOSS_DEPENDENT:
        break;
    }
    return "phased-loss-dependent" CALM;
}
