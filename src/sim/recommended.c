/* recommended.c - see recommended.h.  The paper's algorithm for the delay model,
 * with tight constants, guided by Thompson sampling that is bolder than it would
 * be alone, since the phases catch what it gets wrong.  docs/regret-lab.md has
 * the measurements behind the settings. */
#include "recommended.h"

#define PRACTICE                                                               \
    ":constants=tight,guide=lints/v=0.7,guide_share=99,design=regret"

const char *tarry__recommended(tarry__delay_model model)
{
    switch (model) {
    case TARRY__STOCHASTIC:
    case TARRY__STOCHASTIC_BY_ARM:
    case TARRY__ADVERSARIAL:
        return "phased-stochastic" PRACTICE;
    case TARRY__ADVERSARIAL_BY_ARM:
        return "phased-adversarial" PRACTICE;
    case TARRY__LOSS_DEPENDENT:
        break;
    }
    return "phased-loss-dependent" PRACTICE;
}
