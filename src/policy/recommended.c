/* recommended.c - the policy to take if one does not want to choose.
 *
 * The paper's algorithm for the delays at hand, with tight constants and guided
 * by Thompson sampling.  Where delays do not look at losses that is bolder than
 * one would dare alone, since the phases catch what it gets wrong.  If nothing
 * is known of the delays, losses may set them.  docs/regret-lab.md has the
 * measurements behind the settings. */
#include "policy/policy_type.h"

#define BOLD ":constants=tight,guide=lints/v=0.7,guide_share=99,design=regret"
#define CALM ":constants=tight,guide=lints,guide_share=299,design=regret"

static const char *stands_for(tarry__policy_delays delays)
{
    switch (delays) {
    case TARRY__POLICY_BY_CHANCE:
        return "phased-stochastic" BOLD;
    case TARRY__POLICY_BY_ADVERSARY:
        return "phased-adversarial" BOLD;
    case TARRY__POLICY_ANY_DELAYS:
        break;
    }
    return "phased-loss-dependent" CALM;
}

static const tarry_setting settings[] = {TARRY__SPEC_END};

const tarry__policy_type tarry__policy_recommended = {
    .name = "recommended",
    .source = "this project",
    .summary = "the best certified policy: phased-loss-dependent" CALM
               ",\nor in simulations whose delays do not depend on losses "
               "phased-stochastic\nor phased-adversarial" BOLD,
    .settings = settings,
    .stands_for = stands_for,
};
