/* inside.h - a group of tests inside a folder of its own, which must be empty
 * again at the end. */
#ifndef INSIDE_H
#define INSIDE_H

#include <dirent.h>
#include <stddef.h>
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

/* How many descriptors this process has open. */
static inline size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *all = opendir("/proc/self/fd");
    while (all != NULL && readdir(all) != NULL)
        count++;
    if (all != NULL)
        closedir(all);
    return count;
}

#endif
