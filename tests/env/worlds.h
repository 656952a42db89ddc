/* worlds.h - what the tests of worlds share. */
#ifndef TARRY_TEST_WORLDS_H
#define TARRY_TEST_WORLDS_H

#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "env/world.h"

static char folder[] = "/tmp/tarry-env-XXXXXX";
static char path[64]; /* the file that put_file made last */

/* Group setup and teardown for cmocka. */
static inline int open_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static inline int close_folder(void **state)
{
    (void)state;
    const char *const names[] = {"a.csv",    "b.csv",     "c.csv",
                                 "arms.csv", "theta.csv", "world.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static inline void put_file(const char *name, const char *text)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* A description with FOLDER for the test's folder. */
static inline const char *in_folder(const char *text)
{
    static char out[3][512];
    static int turn;
    char *to = out[turn = (turn + 1) % 3];
    size_t used = 0;
    to[0] = '\0';
    for (const char *at; (at = strstr(text, "FOLDER")) != NULL; text = at + 6)
        used += (size_t)snprintf(to + used, sizeof *out - used, "%.*s%s",
                                 (int)(at - text), text, folder);
    snprintf(to + used, sizeof *out - used, "%s", text);
    return to;
}

static inline tarry__world *make_world_of(const char *instance,
                                          const char *loss, const char *delay,
                                          uint64_t seed, uint32_t run)
{
    tarry__world *world;
    tarry_error error = {"no error text"};
    const tarry_status status =
        tarry__world_create(in_folder(instance), in_folder(loss),
                            in_folder(delay), seed, run, &world, &error);
    if (status != TARRY_OK)
        fail_msg("%s %s %s: %s", instance, loss, delay, error.text);
    return world;
}

static inline tarry__world *make_world(const char *instance, const char *loss,
                                       const char *delay)
{
    return make_world_of(instance, loss, delay, 2385, 17);
}

#endif
