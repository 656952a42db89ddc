/* embed.c - a policy inside a C program.
 *
 * The packets and routes of loop.sh, but now the report of a slow packet
 * itself takes long: the delay depends on the loss.  What has come back is then
 * too rosy a sample, worst for the worst routes; phased-loss-dependent is made
 * for that.  The README beside this file says how to compile it. */
#include <stdio.h>
#include <stdlib.h>
#include <tarry/tarry.h>

enum { PACKETS = 2000000, SOON = 5, LATE = 900, WINDOW = 1024 };

/* How often a packet is slow on cable, radio, satellite: what is to be found
 * out, route by route. */
static const double theta[3] = {0.05, 0.50, 0.95};

static double slow_rate(const tarry_arms *routes, size_t route)
{
    double rate = 0;
    for (size_t i = 0; i < routes->dim; i++)
        rate += routes->data[route * routes->dim + i] * theta[i];
    return rate;
}

static void check(tarry_status status, const char *text)
{
    if (status == TARRY_OK || status == TARRY_LATE)
        return;
    fprintf(stderr, "embed: %s\n", text ? text : tarry_status_text(status));
    exit(1);
}

static void print_phase(const tarry_arms *routes, const tarry_policy_status *s)
{
    printf("packet %7ju  phase %ju  routes still in:", (uintmax_t)s->round,
           (uintmax_t)s->phase);
    for (size_t i = 0; i < s->n_active; i++) {
        printf(" %s", routes->names[s->active[i]]);
        if (s->n_estimates == 0)
            continue;
        const tarry_estimate *e = &s->estimates[s->active[i]];
        printf(" [%.3f, %.3f]", e->lower, e->upper);
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    static char is_slow[WINDOW]; /* of the last packets */
    tarry_arms *routes;
    tarry_policy *policy;
    tarry_policy_status now;
    tarry_error error;
    uint64_t phase = 0, n_slow = 0, t;
    size_t route;

    check(tarry_arms_read(argc > 1 ? argv[1] : "examples/arms.csv", &routes,
                          &error),
          error.text);
    tarry_policy_params params = tarry_policy_defaults();
    params.n_arms = routes->n_arms;
    params.dim = routes->dim;
    params.arms = routes->data;
    params.horizon = PACKETS;
    params.low = 0; /* losses are 0 and 1 */
    check(
        tarry_policy_create("phased-loss-dependent", &params, &policy, &error),
        error.text);
    for (;;) {
        const tarry_status status = tarry_policy_choose(policy, &t, &route);
        if (status == TARRY_HORIZON_REACHED)
            break;
        check(status, NULL);
        const tarry_random coin = {.seed = 2385, .round = t, .stream = 16};
        const int slow = tarry_random_uniform(&coin) < slow_rate(routes, route);
        is_slow[t % WINDOW] = (char)slow;
        n_slow += (uint64_t)slow;
        if (t > SOON && !is_slow[(t - SOON) % WINDOW])
            check(tarry_policy_observe(policy, t - SOON, 0), NULL);
        if (t > LATE && is_slow[(t - LATE) % WINDOW])
            check(tarry_policy_observe(policy, t - LATE, 1), NULL);
        tarry_policy_get_status(policy, &now);
        if (now.phase != phase)
            print_phase(routes, &now);
        phase = now.phase;
    }
    tarry_policy_get_status(policy, &now);
    printf("%.1f%% of the packets were slow; %ju reports are still out\n",
           100.0 * (double)n_slow / PACKETS, (uintmax_t)now.pending);
    tarry_policy_free(policy);
    tarry_arms_free(routes);
    return 0;
}
