/* settings.c - what users can say about the phases. */
#include "policy/phased/phased.h"

#include <string.h>
#include "base/base.h"

const tarry_setting tarry__phased_settings[] = {
    TARRY__SPEC_CHOICE(
        "constants", "paper", "paper|tight",
        "paper: those of the paper's proofs; tight: the same promise, exact "
        "widths"),
    TARRY__SPEC_REAL(
        "rank_tolerance", "1e-11", 1e-15, 0.1,
        "singular values of the active arms below this share count as 0"),
    TARRY__SPEC_TEXT("guide", "none",
                     "a linear policy that chooses active arms between "
                     "designated plays; its "
                     "settings follow after /"),
    TARRY__SPEC_REAL("guide_share", "19", 0, 1e9,
                     "plays of the guide per designated play"),
    TARRY__SPEC_CHOICE(
        "design", "near", "near|regret",
        "with tight constants: near, or regret: fewer plays of arms that look "
        "bad"),
    TARRY__SPEC_REAL("width", "1", 0, 1e6,
                     "with tight constants: factor of the widths; below 1 the "
                     "promise is void"),
    TARRY__SPEC_END,
};

const tarry_setting tarry__phased_paper_settings[] = {
    TARRY__SPEC_CHOICE("constants", "paper", "paper|tight",
                       "paper: the constants of the paper's proofs"),
    TARRY__SPEC_REAL(
        "rank_tolerance", "1e-11", 1e-15, 0.1,
        "singular values of the active arms below this share count as 0"),
    TARRY__SPEC_END,
};

static tarry_status read_constants(tarry__phased *ph, const tarry__spec *spec,
                                   tarry_error *error)
{
    const char *constants = tarry__spec_text(spec, "constants");
    const bool may_be_tight = spec->settings == tarry__phased_settings;
    ph->practice.tight = may_be_tight && strcmp(constants, "tight") == 0;
    ph->practice.width = 1;
    if (!ph->practice.tight && strcmp(constants, "paper") != 0)
        return tarry__base_fail(
            error, TARRY_BAD_ARGUMENT, "%s: constants must be paper%s: '%s'",
            spec->name, may_be_tight ? " or tight" : "", constants);
    return tarry__spec_real(spec, "rank_tolerance", &ph->rank_tolerance,
                            error) == TARRY_OK
               ? TARRY_OK
               : TARRY_BAD_ARGUMENT;
}

static tarry_status read_practice(tarry__phased *ph, const tarry__spec *spec,
                                  tarry_error *error)
{
    const char *design = tarry__spec_text(spec, "design");
    ph->practice.regret = strcmp(design, "regret") == 0;
    if (!ph->practice.regret && strcmp(design, "near") != 0)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "%s: design must be near or regret: '%s'",
                                spec->name, design);
    if (ph->practice.regret && (!ph->practice.tight || !ph->rule->linear))
        return tarry__base_fail(
            error, TARRY_BAD_ARGUMENT, "%s: design=regret needs %s", spec->name,
            ph->rule->linear ? "constants=tight" : "features");
    if (tarry__spec_real(spec, "width", &ph->practice.width, error) !=
            TARRY_OK ||
        tarry__spec_real(spec, "guide_share", &ph->pace.share, error) !=
            TARRY_OK)
        return TARRY_BAD_ARGUMENT;
    return tarry__guide_open(&ph->guide, ph->problem,
                             tarry__spec_text(spec, "guide"), error);
}

tarry_status tarry__phased_read(tarry__phased *ph, const tarry__spec *spec,
                                tarry_error *error)
{
    const tarry_status status = read_constants(ph, spec, error);
    return status == TARRY_OK && spec->settings == tarry__phased_settings
               ? read_practice(ph, spec, error)
               : status;
}
