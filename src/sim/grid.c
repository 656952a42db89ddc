/* grid.c - rounds at which curves are recorded. */
#include "base/elementary.h"
#include "sim/sim.h"

#include <math.h>

size_t tarry__sim_log_grid(uint64_t horizon, size_t wanted, uint64_t *grid)
{
    size_t count = 0;
    for (size_t i = 0; i < wanted && count < TARRY__SIM_MAX_GRID; i++) {
        const double share = wanted > 1 ? (double)i / (double)(wanted - 1) : 1;
        const uint64_t round =
            i + 1 == wanted
                ? horizon
                : (uint64_t)llround(tarry__pow((double)horizon, share));
        if (count == 0 || round > grid[count - 1])
            grid[count++] = round < horizon ? round : horizon;
    }
    return count;
}
