/* world.c - making worlds and drawing from them. */
#include "env/world.h"

#include <string.h>
#include "base/base.h"
#include "random/rounds.h"

/* ---- making --------------------------------------------------------------*/

static tarry_status keep_text(const char *text, char **out, tarry_error *error)
{
    const size_t size = strlen(text) + 1;
    *out = tarry__base_alloc(size, 1);
    if (*out == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    memcpy(*out, text, size);
    return TARRY_OK;
}

static bool is_delay(const tarry__entry *entry)
{
    for (const tarry__entry *const *d = tarry__delays; *d != NULL; d++)
        if (*d == entry)
            return true;
    return false;
}

static tarry_status make_delay(tarry__world *world, const char *text,
                               tarry_error *error)
{
    const tarry__delay_stage stage = {&world->instance, &world->loss};
    tarry__spec spec;
    const tarry__entry *entry;
    tarry_status status =
        tarry__entry_open(text, "delay or adversary", tarry__delays,
                          tarry__adversary_adversaries, &spec, &entry, error);
    if (status != TARRY_OK)
        return status;
    if (is_delay(entry))
        status = tarry__delay_init(&world->delay, entry, &spec, &stage, error);
    else
        status = tarry__adversary_create(entry, &spec, &world->instance,
                                         &world->adversary, error);
    tarry__spec_clear(&spec);
    return status;
}

static bool has_own_delay(const tarry__own_world *own)
{
    return own != NULL && (own->law != NULL || own->n_rows > 0);
}

static tarry_status make_own_delay(tarry__world *world,
                                   const tarry__own_world *own,
                                   tarry_error *error)
{
    const tarry_problem problem = {.n_arms = world->instance.n_arms,
                                   .dim = world->instance.dim,
                                   .arms = world->instance.arms,
                                   .seed = world->seed,
                                   .run = world->run};
    return tarry__own_delay(own, &problem, &world->delay, &world->loss, error);
}

static tarry_status fill(tarry__world *world, const tarry__own_world *own,
                         const char *instance, const char *loss,
                         const char *delay, tarry_error *error)
{
    const tarry__instance_place place = {world->seed, world->run};
    tarry_status status;
    if ((status = keep_text(instance, &world->instance_text, error)) ||
        (status = keep_text(loss, &world->loss_text, error)) ||
        (status = keep_text(delay, &world->delay_text, error)) ||
        (status = own != NULL && own->n_arms > 0
                      ? tarry__own_instance(own, &world->instance, error)
                      : tarry__instance_init(&world->instance, instance, place,
                                             error)) ||
        (status = tarry__loss_init(
             &world->loss, own != NULL && own->n_rows > 0 ? "none" : loss,
             &world->instance, error)))
        return status;
    return has_own_delay(own) ? make_own_delay(world, own, error)
                              : make_delay(world, delay, error);
}

tarry_status tarry__world_create(const char *instance, const char *loss,
                                 const char *delay, uint64_t seed, uint32_t run,
                                 tarry__world **out, tarry_error *error)
{
    return tarry__world_make(NULL, instance, loss, delay, seed, run, out,
                             error);
}

tarry_status tarry__world_make(const tarry__own_world *own,
                               const char *instance, const char *loss,
                               const char *delay, uint64_t seed, uint32_t run,
                               tarry__world **out, tarry_error *error)
{
    tarry__world *world = tarry__base_zalloc(1, sizeof *world);
    *out = NULL;
    if (world == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    world->seed = seed;
    world->run = run;
    const tarry_status status = fill(world, own, instance, loss, delay, error);
    if (status == TARRY_OK)
        *out = world;
    else
        tarry__world_free(world);
    return status;
}

void tarry__world_free(tarry__world *world)
{
    if (world == NULL)
        return;
    tarry__adversary_free(world->adversary);
    tarry__delay_clear(&world->delay);
    tarry__loss_clear(&world->loss);
    tarry__instance_clear(&world->instance);
    tarry__base_free(world->instance_text);
    tarry__base_free(world->loss_text);
    tarry__base_free(world->delay_text);
    tarry__base_free(world);
}

tarry_status tarry__world_failure(const tarry__world *world)
{
    return tarry__own_failure(&world->delay);
}

tarry__env_delay_model tarry__world_model(const tarry__world *world)
{
    if (world->adversary != NULL) {
        const tarry__adversary_type *kind =
            tarry__adversary_kind(world->adversary);
        return kind->by_loss  ? TARRY__ENV_LOSS_DEPENDENT
               : kind->by_arm ? TARRY__ENV_ADVERSARIAL_BY_ARM
                              : TARRY__ENV_ADVERSARIAL;
    }
    switch (tarry__delay_dependence(&world->delay)) {
    case TARRY__DELAY_BY_LOSS:
        return TARRY__ENV_LOSS_DEPENDENT;
    case TARRY__DELAY_BY_ARM:
        return TARRY__ENV_STOCHASTIC_BY_ARM;
    default:
        return TARRY__ENV_STOCHASTIC;
    }
}

/* ---- drawing -------------------------------------------------------------*/

static tarry_random address(const tarry__world *world, uint64_t round)
{
    return (tarry_random){.seed = world->seed,
                          .run = world->run,
                          .round = round,
                          .stream = TARRY__ENV_STREAM_WORLD};
}

void tarry__world_prepare(const tarry__world *world, uint64_t first,
                          size_t count, double *u, double *x)
{
    const tarry_random at = address(world, first);
    tarry__random_uniform_rounds(&at, count, u, x);
    if (world->adversary != NULL)
        return;
    if (world->delay.type->draw_rounds != NULL)
        world->delay.type->draw_rounds(world->delay.state, &at, count, u);
    tarry__delay_prepare(&world->delay, x, count);
}

double tarry__world_loss(const tarry__world *world, size_t arm, double u,
                         double x)
{
    const tarry__delay *delay = &world->delay;
    if (delay->type != NULL && delay->type->joint_loss != NULL)
        return delay->type->joint_loss(delay->state, arm, u, x);
    return world->loss.type->draw(&world->loss, arm, u);
}

uint64_t tarry__world_delay(const tarry__world *world, uint64_t round,
                            size_t arm, double loss, double x)
{
    const tarry__delay *delay = &world->delay;
    if (delay->type->finish == NULL)
        return tarry__delay_whole_rounds(
            delay->scale[delay->n_scales > 1 ? arm : 0] * x);
    const tarry_random at = address(world, round);
    return tarry__delay_finish(delay, arm, loss, x, &at);
}

void tarry__world_draw(const tarry__world *world, uint64_t round, size_t arm,
                       double *loss, uint64_t *delay)
{
    double u, x;
    tarry__world_prepare(world, round, 1, &u, &x);
    *loss = tarry__world_loss(world, arm, u, x);
    *delay = world->adversary != NULL
                 ? 0
                 : tarry__world_delay(world, round, arm, *loss, x);
}
