/* report.c - see report.h. */
#include "env/report.h"

#include <math.h>

static const tarry_setting none[] = {TARRY__SPEC_END};
static const tarry_setting low[] = {
    TARRY__SPEC_REAL("below", "0", -1, 1, "losses below this are reported"),
    TARRY__SPEC_END};
static const tarry_setting high[] = {
    TARRY__SPEC_REAL("above", "0", -1, 1, "losses above this are reported"),
    TARRY__SPEC_END};
static const tarry_setting rounds[] = {
    TARRY__SPEC_COUNT("rounds", NULL, 0, 1e14,
                      "losses that come within so many rounds are reported"),
    TARRY__SPEC_END};

static const tarry__entry all_entry = {"all", "every outcome is reported",
                                       none};
static const tarry__entry low_entry = {
    "only-low", "only low losses are ever reported, such as sales", low};
static const tarry__entry high_entry = {
    "only-high", "only high losses are ever reported, such as complaints",
    high};
static const tarry__entry window_entry = {
    "window", "only outcomes that come within a window are ever reported",
    rounds};

const tarry__entry *const tarry__reports[] = {&all_entry, &low_entry,
                                              &high_entry, &window_entry, NULL};

static tarry_status fill(const tarry__spec *spec, const tarry__entry *entry,
                         tarry__report *out, tarry_error *error)
{
    if (entry == &low_entry)
        return tarry__spec_real(spec, "below", &out->below, error);
    if (entry == &high_entry)
        return tarry__spec_real(spec, "above", &out->above, error);
    if (entry == &window_entry)
        return tarry__spec_count(spec, "rounds", &out->rounds, error);
    return TARRY_OK;
}

tarry_status tarry__report_read(const char *text, tarry__report *out,
                                tarry_error *error)
{
    const tarry__entry *entry;
    tarry__spec spec;
    *out = (tarry__report){
        .below = INFINITY, .above = -INFINITY, .rounds = UINT64_MAX};
    if (text == NULL)
        return TARRY_OK;
    tarry_status status = tarry__entry_open(text, "report", tarry__reports,
                                            NULL, &spec, &entry, error);
    if (status != TARRY_OK)
        return status;
    status = fill(&spec, entry, out, error);
    tarry__spec_clear(&spec);
    return status;
}

bool tarry__report_is_all(const tarry__report *r)
{
    return r->below == INFINITY && r->above == -INFINITY &&
           r->rounds == UINT64_MAX;
}

bool tarry__report_passes(const tarry__report *r, double loss, uint64_t delay)
{
    return loss < r->below && loss > r->above && delay <= r->rounds;
}
