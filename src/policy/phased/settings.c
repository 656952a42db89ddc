/* settings.c - what users can say about the phases, and the rule and company
 * that follow from it. */
#include "policy/phased/phased.h"

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
                     "a policy that chooses active arms between "
                     "designated plays; its "
                     "settings follow after /"),
    TARRY__SPEC_REAL("guide_share", "19", 0, 1e9,
                     "plays of the guide per designated play"),
    TARRY__SPEC_CHOICE(
        "design", "near", "near|regret",
        "with tight constants: near, or regret: fewer plays of arms that look "
        "bad"),
    TARRY__SPEC_CHOICE("cuts", "phases", "phases|always",
                       "with a guide: arms are cut when a phase ends, or as "
                       "soon as all data rule them out"),
    TARRY__SPEC_CHOICE("losses", "signed", "signed|nonnegative",
                       "nonnegative: none is below 0, and certificates may "
                       "rest on that"),
    TARRY__SPEC_REAL("width", "1", 0, 1e6,
                     "with tight constants: factor of the widths; below 1 the "
                     "promise is void"),
    TARRY__SPEC_REAL("confidence", "0", 0, 0.999999999999,
                     "probability with which the promise holds for ever, "
                     "whatever the horizon; 0: 1 - 1/T"),
    TARRY__SPEC_END,
};

const tarry_setting tarry__phased_paper_settings[] = {
    TARRY__SPEC_CHOICE("constants", "paper", "paper",
                       "paper: the constants of the paper's proofs"),
    TARRY__SPEC_REAL(
        "rank_tolerance", "1e-11", 1e-15, 0.1,
        "singular values of the active arms below this share count as 0"),
    TARRY__SPEC_END,
};

static tarry_status as_argument(tarry_status status)
{
    return status == TARRY_BAD_INPUT ? TARRY_BAD_ARGUMENT : status;
}

tarry_status
tarry__phased_read_tolerance(const tarry__phased_algorithm *algorithm,
                             const tarry__spec *spec, tarry__phased_choices *c,
                             tarry_error *error)
{
    (void)algorithm;
    *c = (tarry__phased_choices){.width = 1};
    return as_argument(
        tarry__spec_real(spec, "rank_tolerance", &c->tolerance, error));
}

tarry_status tarry__phased_read_paper(const tarry__phased_algorithm *algorithm,
                                      const tarry__spec *spec,
                                      tarry__phased_choices *c,
                                      tarry_error *error)
{
    unsigned paper;
    const tarry_status status =
        tarry__spec_choice(spec, "constants", &paper, error);
    return status == TARRY_OK
               ? tarry__phased_read_tolerance(algorithm, spec, c, error)
               : as_argument(status);
}

tarry_status
tarry__phased_read_practical(const tarry__phased_algorithm *algorithm,
                             const tarry__spec *spec, tarry__phased_choices *c,
                             tarry_error *error)
{
    tarry_status status =
        tarry__phased_read_tolerance(algorithm, spec, c, error);
    if (status == TARRY_OK)
        status = tarry__spec_choice(spec, "constants", &c->tight, error);
    if (status == TARRY_OK)
        status = tarry__spec_choice(spec, "design", &c->regret, error);
    if (status == TARRY_OK && c->regret && !(c->tight && algorithm->linear))
        status = tarry__base_fail(
            error, TARRY_BAD_ARGUMENT, "%s: design=regret needs %s", spec->name,
            algorithm->linear ? "constants=tight" : "features");
    if (status == TARRY_OK)
        status = tarry__spec_choice(spec, "cuts", &c->cuts, error);
    if (status == TARRY_OK)
        status = tarry__spec_choice(spec, "losses", &c->nonnegative, error);
    if (status == TARRY_OK)
        status = tarry__spec_real(spec, "width", &c->width, error);
    if (status == TARRY_OK)
        status = tarry__spec_real(spec, "guide_share", &c->share, error);
    if (status == TARRY_OK)
        status = tarry__spec_real(spec, "confidence", &c->confidence, error);
    c->guided = tarry__guide_is_named(tarry__spec_text(spec, "guide"));
    if (status == TARRY_OK && c->cuts && !(c->tight && c->guided))
        status = tarry__base_fail(
            error, TARRY_BAD_ARGUMENT,
            "%s: cuts=always needs constants=tight and a guide", spec->name);
    return as_argument(status);
}

const tarry__phased_rule *
tarry__phased_rule_of(const tarry__phased_algorithm *algorithm,
                      const tarry__phased_choices *c)
{
    return algorithm->rule[c->tight][c->guided];
}

const tarry__phased_company *
tarry__phased_company_of(const tarry__phased_choices *c)
{
    return c->guided ? &tarry__phased_guided : &tarry__phased_alone;
}
