/* window.c - see window.h.  The sum is taken afresh every m rounds, so that it
 * does not gather rounding errors. */
#include "policy/linear/window.h"

#include "base/base.h"
#include <string.h>

static const uint64_t MOST = 100000000;

/* A window longer than the horizon is the same as one that long. */
static tarry_status open_memory(tarry__window *w, uint64_t horizon)
{
    if (w->size > horizon)
        w->size = horizon;
    w->terms = tarry__base_zalloc(w->size, sizeof *w->terms);
    return w->terms != NULL ? TARRY_OK : TARRY_NO_MEMORY;
}

tarry_status tarry__window_init(tarry__window *w,
                                const tarry__policy_problem *problem,
                                const tarry__spec *spec, tarry_error *error)
{
    tarry_status status =
        tarry__spec_choice(spec, "late", &w->ignores_late, error);
    if (status == TARRY_OK)
        status = tarry__spec_choice(spec, "width", &w->outstanding, error);
    if (status == TARRY_OK)
        status = tarry__spec_count(spec, "window", &w->size, error);
    return status == TARRY_OK ? open_memory(w, problem->horizon)
                              : TARRY_BAD_ARGUMENT;
}

void tarry__window_clear(tarry__window *w)
{
    tarry__base_free(w->terms);
}

void tarry__window_add(tarry__window *w, uint64_t round, double term)
{
    double *place = &w->terms[round % w->size];
    w->now = round;
    w->sum += term - *place;
    *place = term;
    if (round % w->size != 0)
        return;
    w->sum = 0;
    for (uint64_t i = 0; i < w->size; i++)
        w->sum += w->terms[i];
}

void tarry__window_archive(tarry__window *w,
                           const tarry__policy_problem *problem,
                           tarry__archive *a)
{
    size_t count = w->size;
    tarry__archive_array(a, &w->terms, &count, sizeof *w->terms, MOST);
    w->size = count;
    tarry__archive_field(a, w->now);
    tarry__archive_field(a, w->sum);
    tarry__archive_field(a, w->outstanding);
    tarry__archive_field(a, w->ignores_late);
    tarry__archive_require(a, count > 0 && w->now <= problem->horizon);
}
