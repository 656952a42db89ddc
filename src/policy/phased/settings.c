/* settings.c - what users can say about the phases, and the rule and company
 * that follow from it. */
#include "policy/phased/phased.h"

#include <string.h>
#include "base/base.h"

const tarry__spec_setting tarry__phased_settings[] = {
    {"constants", "paper",
     "paper: those of the paper's proofs; tight: the same promise, exact "
     "widths"},
    {"rank_tolerance", "1e-11",
     "singular values of the active arms below this share count as 0"},
    {"guide", "none",
     "a linear policy that chooses active arms between designated plays; its "
     "settings follow after /"},
    {"guide_share", "19", "plays of the guide per designated play"},
    {"design", "near",
     "with tight constants: near, or regret: fewer plays of arms that look "
     "bad"},
    {"width", "1",
     "with tight constants: factor of the widths; below 1 the promise is void"},
    {NULL, NULL, NULL},
};

const tarry__spec_setting tarry__phased_paper_settings[] = {
    {"constants", "paper", "paper: the constants of the paper's proofs"},
    {"rank_tolerance", "1e-11",
     "singular values of the active arms below this share count as 0"},
    {NULL, NULL, NULL},
};

static tarry_status read_real(const tarry__spec *spec, const char *key,
                              double least, double most, double *value,
                              tarry_error *error)
{
    return tarry__spec_real(spec, key, least, most, value, error) == TARRY_OK
               ? TARRY_OK
               : TARRY_BAD_ARGUMENT;
}

/* One of two words, 0 or 1. */
static tarry_status read_word(const tarry__spec *spec, const char *key,
                              const char *zero, const char *one,
                              uint32_t *value, tarry_error *error)
{
    const char *text = tarry__spec_text(spec, key);
    *value = strcmp(text, one) == 0;
    if (*value || strcmp(text, zero) == 0)
        return TARRY_OK;
    return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                            "%s: %s must be %s or %s: '%s'", spec->name, key,
                            zero, one, text);
}

tarry_status
tarry__phased_read_tolerance(const tarry__phased_algorithm *algorithm,
                             const tarry__spec *spec, tarry__phased_choices *c,
                             tarry_error *error)
{
    (void)algorithm;
    *c = (tarry__phased_choices){.width = 1};
    return read_real(spec, "rank_tolerance", 1e-15, 0.1, &c->tolerance, error);
}

tarry_status tarry__phased_read_paper(const tarry__phased_algorithm *algorithm,
                                      const tarry__spec *spec,
                                      tarry__phased_choices *c,
                                      tarry_error *error)
{
    const char *constants = tarry__spec_text(spec, "constants");
    if (strcmp(constants, "paper") != 0)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "%s: constants must be paper: '%s'", spec->name,
                                constants);
    return tarry__phased_read_tolerance(algorithm, spec, c, error);
}

tarry_status
tarry__phased_read_practical(const tarry__phased_algorithm *algorithm,
                             const tarry__spec *spec, tarry__phased_choices *c,
                             tarry_error *error)
{
    tarry_status status =
        tarry__phased_read_tolerance(algorithm, spec, c, error);
    if (status == TARRY_OK)
        status =
            read_word(spec, "constants", "paper", "tight", &c->tight, error);
    if (status == TARRY_OK)
        status = read_word(spec, "design", "near", "regret", &c->regret, error);
    if (status == TARRY_OK && c->regret && !(c->tight && algorithm->linear))
        status = tarry__base_fail(
            error, TARRY_BAD_ARGUMENT, "%s: design=regret needs %s", spec->name,
            algorithm->linear ? "constants=tight" : "features");
    if (status == TARRY_OK)
        status = read_real(spec, "width", 0, 1e6, &c->width, error);
    if (status == TARRY_OK)
        status = read_real(spec, "guide_share", 0, 1e9, &c->share, error);
    c->guided = tarry__guide_is_named(tarry__spec_text(spec, "guide"));
    return status;
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
