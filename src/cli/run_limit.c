/* run_limit.c - `tarry run --limit`: what no policy can do better than for
 * long, c log T (bound/limit.h), beside what was paid.
 *
 * Instances differ from run to run, so c is the mean over the first runs. */
#include <math.h>
#include "base/json.h"
#include "base/elementary.h"
#include "bound/limit.h"
#include "cli/run.h"

enum { MOST_INSTANCES = 10 };

run_limit run_find_limit(const tarry__experiment *e)
{
    run_limit limit = {0};
    const uint64_t most = e->runs < MOST_INSTANCES ? e->runs : MOST_INSTANCES;
    for (uint32_t run = 0; run < most; run++) {
        tarry__bound_limit found = {.constant = NAN};
        tarry__world *world;
        if (tarry__world_create(e->instance, e->loss, e->delay, e->seed, run,
                                &world, NULL) != TARRY_OK)
            return (run_limit){NAN, 0};
        if (tarry__bound_limit_find(world, &found, NULL) != TARRY_OK)
            found.constant = NAN;
        tarry__world_free(world);
        limit.constant += found.constant / (double)most;
        limit.instances++;
    }
    return limit;
}

/* c, and c log t at the rounds of the curves; null if c is not known. */
static json_t *limit_json(const tarry__experiment *e)
{
    const run_limit limit = run_find_limit(e);
    json_t *curve = json_array();
    if (!isfinite(limit.constant)) {
        json_decref(curve);
        return json_null();
    }
    for (size_t i = 0; i < e->n_grid; i++)
        curve = tarry__json_add(
            curve, json_pack("[I, f]", (json_int_t)e->grid[i],
                             limit.constant * tarry__ln((double)e->grid[i])));
    return json_pack("{s:f, s:I, s:f, s:o}", "constant", limit.constant,
                     "instances", (json_int_t)limit.instances, "at_horizon",
                     limit.constant * tarry__ln((double)e->horizon), "curve",
                     curve);
}

json_t *run_add_limits(const tarry__batch *b, json_t *result)
{
    if (b->plan->n_worlds == 0)
        return tarry__json_set(result, "limit", limit_json(b->experiment));
    json_t *worlds = json_object_get(result, "worlds");
    for (size_t w = 0; w < b->count; w++)
        if (json_object_set_new(json_array_get(worlds, w), "limit",
                                limit_json(&b->experiment[w])) != 0) {
            json_decref(result);
            return NULL;
        }
    return result;
}

void run_print_limit(const tarry__experiment *e, const char *name)
{
    const run_limit limit = run_find_limit(e);
    if (!isfinite(limit.constant)) {
        cli_put("%s not known: arms in too many dimensions", name);
    } else {
        cli_put("%s %.5g log T = %.5g for every policy as T grows; %s", name,
                limit.constant, limit.constant * tarry__ln((double)e->horizon),
                limit.instances > 1 ? "mean over instances" : "one instance");
    }
    cli_put_end();
}
