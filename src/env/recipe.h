/* recipe.h - what is behind the public tarry_world: the copies it keeps. */
#ifndef TARRY_ENV_RECIPE_H
#define TARRY_ENV_RECIPE_H

#include "env/world.h"

struct tarry_world {
    char *name; /* NULL: it has none */
    char *instance, *loss, *delay;
    char *report, *default_outcome; /* NULL: not given */
    bool has_own;
    tarry__own_world own; /* points to: */
    double *arms, *theta, *means, *row_loss;
    size_t *row_first;
    uint64_t *row_delay;
    tarry_delay_law law;
    char *law_name, *law_version;
};

/* The part that is not described, or NULL. */
static inline const tarry__own_world *
tarry__recipe_own(const tarry_world *world)
{
    return world->has_own ? &world->own : NULL;
}

#endif
