/* postgres_none.c - in place of the PostgreSQL store where libpq was not found
 * when the program was built. */
#include "base/base.h"
#include "store/kind.h"

static tarry_status open_none(const char *url, bool create,
                              tarry__store_heads *heads, void **state,
                              tarry_error *error)
{
    (void)url, (void)create, (void)heads, (void)state;
    return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                            "this program was built without PostgreSQL "
                            "(libpq-dev)");
}

const tarry__store_kind tarry__store_postgres = {.open = open_none};
