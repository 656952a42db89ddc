/* status.c - names and texts of the status list. */
#include "tarry/status.h"

static const struct {
    const char *name, *text;
} entries[] = {
#define ENTRY(code, text) {#code, text},
    TARRY_STATUS_LIST(ENTRY)
#undef ENTRY
};

static int is_known(tarry_status status)
{
    return (unsigned)status < sizeof entries / sizeof *entries;
}

const char *tarry_status_name(tarry_status status)
{
    return is_known(status) ? entries[status].name : "UNKNOWN";
}

const char *tarry_status_text(tarry_status status)
{
    return is_known(status) ? entries[status].text : "unknown status";
}
