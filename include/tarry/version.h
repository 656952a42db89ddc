/* version.h - which tarry this is. */
#ifndef TARRY_VERSION_H
#define TARRY_VERSION_H

#include "tarry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is running, "0.1.0"; lives for ever. */
TARRY_API const char *tarry_version(void);

#ifdef __cplusplus
}
#endif
#endif
