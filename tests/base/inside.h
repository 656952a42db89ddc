/* inside.h - a group of tests inside a folder of its own, which must be empty
 * again at the end. */
#ifndef INSIDE_H
#define INSIDE_H

#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/tarry-base-XXXXXX";

static inline int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? chdir(folder) : -1;
}

/* Fails if a test left anything behind. */
static inline int leave_folder(void **state)
{
    (void)state;
    return chdir("/") != 0 ? -1 : rmdir(folder);
}

#endif
