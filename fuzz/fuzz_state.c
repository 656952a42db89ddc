/* fuzz_state.c - saved states whose size and checksum always fit, so that what
 * lies behind them is reached.  The first byte is the version of the format,
 * the others are the state without its header of 32 bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "fuzz.h"
#include "tarry/policy.h"

enum { MOST_ARMS = 1000, MOST_DIM = 50 };

/* From version 3 on the checksum covers the version number too. */
static const char *with_header(uint64_t version, const uint8_t *data,
                               size_t size)
{
    uint64_t start = TARRY__BASE_DIGEST;
    if (version > 2)
        start = tarry__base_digest(start, &version, sizeof version);
    const uint64_t numbers[] = {version, size,
                                tarry__base_digest(start, data, size)};
    uint8_t *whole = malloc(32 + size);
    must(whole != NULL);
    memcpy(whole, "tarrysav", 8);
    memcpy(whole + 8, numbers, sizeof numbers);
    if (size > 0)
        memcpy(whole + 32, data, size);
    const char *path = fuzz_file(whole, 32 + size);
    free(whole);
    return path;
}

/* Reads all there is to read. */
static void look(tarry_policy *p)
{
    tarry_policy_status s;
    size_t arm;
    double gap, sum = 0;
    tarry_policy_get_status(p, &s);
    must(s.low < s.high && isfinite(s.high - s.low));
    must(s.best < s.n_arms);
    for (size_t i = 0; i < s.n_active; i++)
        must(s.active[i] < s.n_arms);
    for (size_t i = 0; i < s.n_plan; i++)
        must(s.plan[i].arm < s.n_arms);
    for (size_t i = 0; i < s.n_estimates; i++)
        sum += s.estimates[i].lower + s.estimates[i].upper;
    (void)sum;
    if (tarry_policy_certify(p, &arm, &gap) == TARRY_OK)
        must(arm < s.n_arms && gap >= 0);
}

/* What else may happen to a policy in service. */
static void live(tarry_policy *p, uint64_t round)
{
    static const double features[MOST_DIM] = {0.5, -0.25};
    tarry_pending pending[3];
    double chance;
    size_t arm;
    if (tarry_policy_probability(p, &chance) == TARRY_OK)
        must(chance >= 0 && chance <= 1);
    must(tarry_policy_pending(p, pending, 3) <= 3);
    tarry_policy_cancel(p, round - round % 5);
    tarry_policy_expire(p, round - round % 3);
    if (round % 11 == 0)
        tarry_policy_withdraw(p, round % 7);
    if (round % 13 == 0)
        tarry_policy_admit(p, features, &arm);
}

static void play(tarry_policy *p)
{
    tarry_policy_status s;
    uint64_t round;
    size_t arm;
    tarry_policy_get_status(p, &s);
    for (int t = 0; t < 30; t++) {
        if (tarry_policy_choose(p, &round, &arm) != TARRY_OK)
            return;
        must(arm < s.n_arms + (size_t)t);
        live(p, round);
        tarry_policy_observe(p, round, s.low);
        if (round > 7)
            tarry_policy_observe(p, round - 7, s.high);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarry_policy *p;
    tarry_error error = {""};
    tarry_policy_status s;
    if (size == 0)
        return 0;
    const tarry_status status = tarry_policy_restore(
        with_header(data[0], data + 1, size - 1), &p, &error);
    must((status == TARRY_OK) == (p != NULL));
    must(status == TARRY_OK || error.text[0] != '\0');
    if (p == NULL)
        return 0;
    tarry_policy_get_status(p, &s);
    if (s.n_arms <= MOST_ARMS && s.dim <= MOST_DIM) {
        look(p);
        play(p);
        look(p);
    }
    tarry_policy_free(p);
    return 0;
}
