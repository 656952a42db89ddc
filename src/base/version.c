/* version.c - the version that the build gives. */
#include "tarry/version.h"

const char *tarry_version(void)
{
    return TARRY_VERSION;
}
