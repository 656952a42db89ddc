/* recipe.c - the public tarry_world: checks, copies, and a look at a run. */
#include "env/recipe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "env/report.h"

tarry_world_params tarry_world_defaults(void)
{
    return (tarry_world_params){.instance = "sphere",
                                .loss = "rademacher",
                                .delay = "exponential:mean=100"};
}

/* ---- checks ---------------------------------------------------------------*/

static tarry_status refuse(tarry_error *error, const char *why)
{
    return tarry__base_fail(error, TARRY_BAD_ARGUMENT, "%s", why);
}

static tarry_status check_parts(const tarry_world_params *p, tarry_error *error)
{
    const bool table = p->n_rows > 0;
    if ((p->instance != NULL) == (p->arms != NULL))
        return refuse(error, "either an instance or arrays of arms");
    if (p->instance != NULL && (table || p->theta || p->means))
        return refuse(error, "theta, means and tables go with arrays of arms");
    if (p->arms != NULL && (p->n_arms == 0 || p->dim == 0 ||
                            p->n_arms > TARRY__INSTANCE_MOST_ARMS ||
                            p->dim > TARRY__INSTANCE_MOST_DIM))
        return refuse(error, "n_arms or dim out of range");
    if (p->arms != NULL &&
        (p->theta != NULL) + (p->means != NULL) + (int)table != 1)
        return refuse(error, "either theta, means or a table");
    if (table && (!p->row_arm || !p->row_loss || !p->row_delay))
        return refuse(error, "a table needs row_arm, row_loss and row_delay");
    if (table && (p->loss || p->delay || p->law))
        return refuse(error, "a table has its own losses and delays");
    if (!table && (p->loss == NULL || (p->delay != NULL) == (p->law != NULL)))
        return refuse(error, "a loss, and either a delay or a law");
    return TARRY_OK;
}

static tarry_status check_law(const tarry_delay_law *law, tarry_error *error)
{
    if (law != NULL && (law->name == NULL || law->name[0] == '\0'))
        return refuse(error, "a law without a name");
    if (law != NULL && law->draw == NULL && law->draw_many == NULL &&
        law->draw_arms == NULL)
        return refuse(error, "a law without a function that draws");
    if (law != NULL && (unsigned)law->depends > TARRY_DELAY_BY_LOSS)
        return refuse(error, "a law that depends on nothing known");
    if (law != NULL && law->draw_arms != NULL &&
        law->depends == TARRY_DELAY_BY_NOTHING)
        return refuse(error, "a law that draws by arm and depends on nothing");
    return TARRY_OK;
}

static tarry_status check_numbers(const double *numbers, size_t count,
                                  const char *what, tarry_error *error)
{
    for (size_t i = 0; numbers != NULL && i < count; i++)
        if (!isfinite(numbers[i]))
            return tarry__base_fail(error, TARRY_NOT_FINITE,
                                    "%s: number %zu is not finite", what, i);
    return TARRY_OK;
}

static tarry_status check_rows(const tarry_world_params *p, tarry_error *error)
{
    for (size_t i = 0; i < p->n_rows; i++) {
        if (p->row_arm[i] >= p->n_arms)
            return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                    "row %zu: arm %zu of %zu", i, p->row_arm[i],
                                    p->n_arms);
        if (!(fabs(p->row_loss[i]) <= 1))
            return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                    "row %zu: a loss outside [-1, 1]: %g", i,
                                    p->row_loss[i]);
    }
    return TARRY_OK;
}

static tarry_status check(const tarry_world_params *p, tarry_error *error)
{
    tarry_status status;
    if ((status = check_parts(p, error)) ||
        (status = check_law(p->law, error)) ||
        (status = check_numbers(p->arms, p->n_arms * p->dim, "arms", error)) ||
        (status = check_numbers(p->theta, p->dim, "theta", error)) ||
        (status = check_numbers(p->means, p->n_arms, "means", error)))
        return status;
    return check_rows(p, error);
}

/* ---- copies ---------------------------------------------------------------*/

static bool copy_text(const char *text, char **out)
{
    *out = text != NULL ? tarry__base_alloc(strlen(text) + 1, 1) : NULL;
    if (*out != NULL)
        strcpy(*out, text);
    return text == NULL || *out != NULL;
}

static bool copy_numbers(const double *numbers, size_t count, double **out)
{
    *out = numbers != NULL ? tarry__base_alloc(count, sizeof **out) : NULL;
    if (*out != NULL)
        memcpy(*out, numbers, count * sizeof **out);
    return numbers == NULL || *out != NULL;
}

/* Names for what has no description. */
static bool copy_texts(const tarry_world_params *p, tarry_world *w)
{
    char arrays[80], table[80];
    snprintf(arrays, sizeof arrays, "arrays:arms=%zu,dim=%zu", p->n_arms,
             p->dim);
    snprintf(table, sizeof table, "table:rows=%zu", p->n_rows);
    return copy_text(p->name, &w->name) &&
           copy_text(p->instance != NULL ? p->instance : arrays,
                     &w->instance) &&
           copy_text(p->loss != NULL ? p->loss : table, &w->loss) &&
           copy_text(p->delay != NULL ? p->delay
                     : p->law != NULL ? p->law->name
                                      : table,
                     &w->delay) &&
           copy_text(p->law != NULL ? p->law->name : NULL, &w->law_name) &&
           copy_text(p->law != NULL ? p->law->version : NULL,
                     &w->law_version) &&
           copy_text(p->report, &w->report) &&
           copy_text(p->default_outcome, &w->default_outcome);
}

/* Sorts the rows by arm, those of an arm in their order. */
static tarry_status copy_rows(const tarry_world_params *p, tarry_world *w,
                              tarry_error *error)
{
    size_t *first = w->row_first =
        tarry__base_zalloc(p->n_arms + 2, sizeof *first);
    w->row_loss = tarry__base_alloc(p->n_rows, sizeof *w->row_loss);
    w->row_delay = tarry__base_alloc(p->n_rows, sizeof *w->row_delay);
    if (first == NULL || w->row_loss == NULL || w->row_delay == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < p->n_rows; i++)
        first[p->row_arm[i] + 2]++;
    for (size_t k = 0; k < p->n_arms; k++) {
        if (first[k + 2] == 0)
            return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                    "arm %zu has no row", k);
        first[k + 2] += first[k + 1];
    }
    for (size_t i = 0; i < p->n_rows; i++) {
        const size_t at = first[p->row_arm[i] + 1]++;
        w->row_loss[at] = p->row_loss[i];
        w->row_delay[at] = p->row_delay[i];
    }
    return TARRY_OK;
}

static tarry_status copy(const tarry_world_params *p, tarry_world *w,
                         tarry_error *error)
{
    if (!copy_texts(p, w) ||
        !copy_numbers(p->arms, p->n_arms * p->dim, &w->arms) ||
        !copy_numbers(p->theta, p->dim, &w->theta) ||
        !copy_numbers(p->means, p->n_arms, &w->means))
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    const tarry_status status =
        p->n_rows > 0 ? copy_rows(p, w, error) : TARRY_OK;
    if (p->law != NULL) {
        w->law = *p->law;
        w->law.name = w->law_name;
        w->law.version = w->law_version;
    }
    w->has_own = p->arms != NULL || p->law != NULL;
    w->own = (tarry__own_world){.n_arms = p->arms != NULL ? p->n_arms : 0,
                                .dim = p->arms != NULL ? p->dim : 0,
                                .arms = w->arms,
                                .theta = w->theta,
                                .means = w->means,
                                .n_rows = p->n_rows,
                                .row_first = w->row_first,
                                .row_loss = w->row_loss,
                                .row_delay = w->row_delay,
                                .law = p->law != NULL ? &w->law : NULL};
    return status;
}

/* ---- making ---------------------------------------------------------------*/

/* As run 0 of seed 0 meets it: what can be refused, is refused now, but not
 * means of an instance that do not go with the losses: others may. */
static tarry_status try(const tarry_world *w, tarry_error *error)
{
    tarry_world_view view;
    tarry__report report;
    tarry_error why = {""};
    const tarry_status read = tarry__report_read(w->report, &report, error);
    if (read != TARRY_OK)
        return read;
    const tarry_status status = tarry_world_look(w, 0, 0, &view, &why);
    tarry_world_view_free(&view);
    if (status == TARRY_BAD_ARGUMENT && w->arms == NULL)
        return TARRY_OK;
    if (status != TARRY_OK && error != NULL)
        *error = why;
    return status;
}

tarry_status tarry_world_create(const tarry_world_params *params,
                                tarry_world **out, tarry_error *error)
{
    if (out != NULL)
        *out = NULL;
    if (params == NULL || out == NULL)
        return refuse(error, "no params, or no place for the world");
    tarry_status status = check(params, error);
    if (status != TARRY_OK)
        return status;
    tarry_world *w = tarry__base_zalloc(1, sizeof *w);
    if (w == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    status = copy(params, w, error);
    if (status == TARRY_OK)
        status = try(w, error);
    if (status == TARRY_OK)
        *out = w;
    else
        tarry_world_free(w);
    return status;
}

void tarry_world_free(tarry_world *w)
{
    if (w == NULL)
        return;
    void *const parts[] = {w->name,      w->instance,       w->loss,
                           w->delay,     w->law_name,       w->law_version,
                           w->arms,      w->theta,          w->means,
                           w->row_first, w->row_loss,       w->row_delay,
                           w->report,    w->default_outcome};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        tarry__base_free(parts[i]);
    tarry__base_free(w);
}

/* ---- looking --------------------------------------------------------------*/

tarry_status tarry_world_look(const tarry_world *w, uint64_t seed, uint32_t run,
                              tarry_world_view *view, tarry_error *error)
{
    tarry__world *world;
    if (view != NULL)
        memset(view, 0, sizeof *view);
    if (w == NULL || view == NULL)
        return refuse(error, "no world, or no place for the view");
    const tarry_status status =
        tarry__world_make(tarry__recipe_own(w), w->instance, w->loss, w->delay,
                          seed, run, &world, error);
    if (status != TARRY_OK)
        return status;
    const tarry__instance *instance = &world->instance;
    *view = (tarry_world_view){.model =
                                   (tarry_world_model)tarry__world_model(world),
                               .n_arms = instance->n_arms,
                               .dim = instance->dim,
                               .arms = instance->arms,
                               .means = instance->mean,
                               .best = instance->best,
                               .hidden = world};
    return TARRY_OK;
}

void tarry_world_view_free(tarry_world_view *view)
{
    if (view == NULL)
        return;
    tarry__world_free(view->hidden);
    memset(view, 0, sizeof *view);
}
