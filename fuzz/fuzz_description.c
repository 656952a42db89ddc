/* fuzz_description.c - descriptions of policies and worlds.
 *
 * A line "p TEXT" is a policy, "i", "l" and "d" an instance, a law of losses
 * and delays; what can be made is made, if it is small. */
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/number.h"
#include "base/spec.h"
#include "env/world.h"
#include "fuzz.h"
#include "tarry/policy.h"

static void try_number(const char *text)
{
    double real;
    uint64_t count;
    if (tarry__base_parse_count(text, &count))
        must(tarry__base_parse_real(text, &real) && real == (double)count);
}

static void try_spec(const char *text)
{
    tarry__spec spec;
    if (tarry__spec_parse(text, &spec, NULL) != TARRY_OK)
        return;
    must(spec.name[0] != '\0');
    for (size_t i = 0; i < spec.count; i++)
        try_number(spec.value[i]);
    tarry__spec_clear(&spec);
}

static void try_policy(const char *text)
{
    static const double arms[] = {1, 0, 0, 1, 0.6, 0.8};
    tarry_policy_params p = tarry_policy_defaults();
    tarry_policy *policy;
    tarry_error error = {""};
    uint64_t round;
    size_t arm;
    p.n_arms = 3;
    p.dim = 2;
    p.arms = arms;
    p.horizon = 100;
    const tarry_status status = tarry_policy_create(text, &p, &policy, &error);
    must((status == TARRY_OK) == (policy != NULL));
    must(status == TARRY_OK || error.text[0] != '\0');
    for (int t = 0; policy != NULL && t < 50; t++) {
        must(tarry_policy_choose(policy, &round, &arm) == TARRY_OK && arm < 3);
        if (t % 3 != 0)
            tarry_policy_observe(policy, round, arm == 0 ? -0.5 : 0.25);
    }
    tarry_policy_free(policy);
}

/* Numbers of up to two digits, and no files. */
static int is_small(const char *text)
{
    size_t digits = 0;
    for (; *text != '\0'; text++) {
        digits = *text >= '0' && *text <= '9' ? digits + 1 : 0;
        if (digits > 2 || *text == '/' || *text == 'e' || *text == 'E')
            return 0;
    }
    return 1;
}

static const char *after_space(const char *text)
{
    return text[0] != '\0' && text[1] == ' ' ? text + 2 : text;
}

static void try_world(const char *instance, const char *loss, const char *delay)
{
    tarry__world *world;
    tarry_error error = {""};
    double value;
    uint64_t rounds;
    const tarry_status status =
        tarry__world_create(instance, loss, delay, 1, 0, &world, &error);
    must((status == TARRY_OK) == (world != NULL));
    must(status == TARRY_OK || error.text[0] != '\0');
    for (uint64_t t = 1; world != NULL && t < 20; t++) {
        tarry__world_draw(world, t, t % world->instance.n_arms, &value,
                          &rounds);
        must(value >= -1 && value <= 1);
    }
    tarry__world_free(world);
}

static void try_line(const char *line)
{
    const char *text = after_space(line);
    try_number(text);
    try_spec(text);
    if (line[0] == 'p')
        try_policy(text);
    if (!is_small(text))
        return;
    const char *const instance = line[0] == 'i' ? text : "sphere:dim=2,arms=4";
    if (line[0] == 'i' || line[0] == 'l' || line[0] == 'd')
        try_world(instance, line[0] == 'l' ? text : "rademacher",
                  line[0] == 'd' ? text : "constant:rounds=1");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    size_t lines = 0;
    for (char *line = text; line != NULL && lines < 8; lines++) {
        char *next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        try_line(line);
        line = next;
    }
    free(text);
    return 0;
}
