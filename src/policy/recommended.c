/* recommended.c - the policy to take if one does not want to choose.
 *
 * The paper's algorithm for the delays at hand, with tight constants and guided
 * by foresight, which needs not be told what delays depend on.  If nothing is
 * known of them, losses may set them; knowing better changes what the
 * certificate may rest on, and nothing else, but for one case: where the wait
 * is the loss, as a latency is, that is worth knowing.  docs/regret-lab.md has
 * the measurements behind the settings. */
#include "policy/policy_type.h"

#define GUIDED_BY(guide)                                                       \
    ":constants=tight,guide=" guide ",guide_share=999,design=regret,cuts="     \
    "always"
#define PRACTICE GUIDED_BY("foresight")

static const char *stands_for(tarry__policy_delays delays)
{
    switch (delays) {
    case TARRY__POLICY_BY_CHANCE:
        return "phased-stochastic" PRACTICE;
    case TARRY__POLICY_BY_ADVERSARY:
        return "phased-adversarial" PRACTICE;
    case TARRY__POLICY_AS_PAYOFF:
        return "phased-loss-dependent" GUIDED_BY(
            "foresight/delays=payoff") ",losses=nonnegative";
    case TARRY__POLICY_ANY_DELAYS:
        break;
    }
    return "phased-loss-dependent" PRACTICE;
}

static const tarry_setting settings[] = {TARRY__SPEC_END};

const tarry__policy_type tarry__policy_recommended = {
    .name = "recommended",
    .source = "this project",
    .summary = "the best certified policy: phased-loss-dependent" PRACTICE
               ",\nor in simulations whose delays do not depend on losses "
               "phased-stochastic\nor phased-adversarial" PRACTICE
               ",\nor where the delay is the payoff with "
               "guide=foresight/delays=payoff,losses=nonnegative",
    .settings = settings,
    .stands_for = stands_for,
};
