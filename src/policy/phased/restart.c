/* restart.c - arms that come and go, see phased.h.
 *
 * Phases begin anew with phase 1 at the next choice, unless only arms have gone
 * that had been cut: no plan knows of those.  What was cut stays cut for as
 * long as the best arm cannot have gone: an arm is cut because it is not the
 * best, and the best is active.  What all data together rule out among the arms
 * that are there now is not tried again.  The guide and the books go on; if
 * arms have come, the books get coordinates in which they have a place. */
#include "policy/phased/phased.h"

#include <math.h>
#include "base/base.h"

bool tarry__phased_has_lost_one(const tarry__phased *ph)
{
    for (size_t i = 0; i < ph->plan.n_active; i++)
        if (!tarry__policy_may_choose(ph->problem, ph->plan.active[i]))
            return true;
    return false;
}

/* ---- the change itself ----------------------------------------------------*/

tarry_status tarry__phased_reserve(void *state, size_t n_arms)
{
    tarry__phased *ph = state;
    const size_t K = ph->problem->n_arms;
    uint32_t *entry_of =
        tarry__base_grow(ph->plan.entry_of, K, n_arms, sizeof *entry_of);
    if (entry_of == NULL)
        return TARRY_NO_MEMORY;
    ph->plan.entry_of = entry_of;
    tarry_estimate *estimates =
        tarry__base_grow(ph->estimates, K, n_arms, sizeof *estimates);
    if (estimates == NULL)
        return TARRY_NO_MEMORY;
    ph->estimates = estimates;
    tarry_status status = TARRY_OK;
    if (ph->keeps_books)
        status = tarry__books_reserve(&ph->books, n_arms);
    if (status == TARRY_OK && ph->choices.guided)
        status = tarry__guide_reserve(&ph->guide, n_arms);
    return status;
}

/* Whether the phase can go on as if nothing had happened. */
static bool is_untouched(const tarry__phased *ph)
{
    const tarry__policy_problem *q = ph->problem;
    return !ph->changed && ph->n_known == q->n_arms &&
           !tarry__phased_has_lost_one(ph) &&
           tarry__policy_may_choose(q, ph->best) &&
           tarry__policy_may_choose(q, ph->exploit);
}

/* Of those that are there and known, the best by all losses, or by what the
 * last phase said of them. */
static size_t next_best(const tarry__phased *ph)
{
    const tarry__policy_problem *q = ph->problem;
    const bool fitted = ph->keeps_books && tarry__books_fit(&ph->books);
    size_t best = tarry__policy_choice(q, 0);
    double least = INFINITY;
    for (size_t i = 0; i < tarry__policy_n_choices(q); i++) {
        const size_t k = tarry__policy_choice(q, i);
        const double mean = fitted                ? ph->books.means[k]
                            : ph->n_estimates > 0 ? ph->estimates[k].upper
                                                  : 0;
        if (k < ph->n_known && mean < least) {
            best = k;
            least = mean;
        }
    }
    return best;
}

/* New arms are in no plan yet, and nothing is known of them. */
tarry_status tarry__phased_rearranged(void *state)
{
    tarry__phased *ph = state;
    const tarry__policy_problem *q = ph->problem;
    if (ph->choices.guided) {
        const tarry_status status = tarry__guide_rearrange(&ph->guide, q);
        if (status != TARRY_OK)
            return status;
    }
    if (is_untouched(ph))
        return TARRY_OK;
    for (size_t k = ph->n_known; k < q->n_arms; k++) {
        ph->plan.entry_of[k] = TARRY__PHASED_NO_ENTRY;
        ph->estimates[k] = (tarry_estimate){-1, 1};
    }
    if (ph->keeps_books)
        tarry__books_extend(&ph->books);
    if (ph->n_estimates > 0)
        ph->n_estimates = q->n_arms;
    if (!tarry__policy_may_choose(q, ph->best))
        ph->best = next_best(ph);
    ph->exploit = ph->best;
    ph->certificate = 2;
    ph->changed = 1;
    return TARRY_OK;
}

/* ---- the new phases -------------------------------------------------------*/

/* W of a near design over all arms there have been. */
static tarry_status find_coordinates(const tarry__phased_task *task,
                                     size_t *rank, double *W)
{
    tarry__phased_plan all;
    tarry_status status = tarry__phased_plan_begin(&all, task->problem->n_arms);
    if (status == TARRY_OK)
        status = tarry__phased_lay_near(task, &all);
    *rank = all.rank;
    if (status == TARRY_OK && all.rank > 0)
        status = tarry__phased_whitening(task->problem, &all, W);
    tarry__phased_plan_clear(&all);
    return status;
}

/* Coordinates that were fixed before the first loss stay if they reach
 * everywhere. */
static tarry_status renew_books(tarry__phased *ph,
                                const tarry__phased_task *task)
{
    const size_t n = task->problem->dim;
    size_t rank;
    if (ph->books.rank == n)
        return tarry__books_change(&ph->books, n, ph->books.W);
    double *W = tarry__base_alloc(n * n, sizeof *W);
    if (W == NULL)
        return TARRY_NO_MEMORY;
    tarry_status status = find_coordinates(task, &rank, W);
    if (status == TARRY_OK)
        status = tarry__books_change(&ph->books, rank, W);
    tarry__base_free(W);
    return status;
}

/* Who is active now. */
static void fill_active(const tarry__phased *ph, tarry__phased_plan *next)
{
    const tarry__policy_problem *q = ph->problem;
    const tarry__phased_plan *old = &ph->plan;
    const bool all = tarry__phased_has_lost_one(ph);
    size_t at = 0; /* in the old list */
    for (size_t i = 0; i < tarry__policy_n_choices(q); i++) {
        const size_t k = tarry__policy_choice(q, i);
        while (at < old->n_active && old->active[at] < k)
            at++;
        const bool was_active = at < old->n_active && old->active[at] == k;
        if (all || was_active || k >= ph->n_known)
            next->active[next->n_active++] = (uint32_t)k;
    }
}

/* Goes without what the books rule out. */
static void drop_bad(const tarry__phased *ph, double confidence,
                     uint64_t n_bases, tarry__phased_plan *next)
{
    size_t arm, n = 0;
    double gap;
    if (!ph->rule->certifies || next->n_active == 1)
        return;
    tarry__phased_books_bound_of(ph, confidence, n_bases, next, &arm, &gap);
    for (size_t i = 0; i < next->n_active; i++)
        if (ph->books.bounds[i] >= 0)
            next->active[n++] = next->active[i];
    next->n_active = n;
}

static void enter(tarry__phased *ph, tarry__phased_plan *next, uint64_t round)
{
    bool kept = false;
    for (size_t i = 0; i < next->n_active; i++)
        kept = kept || next->active[i] == ph->best;
    if (!kept)
        ph->best = next->active[0];
    ph->exploit = ph->best;
    ph->certificate = next->n_active > 1 ? 2 : 0;
    ph->n_estimates = 0;
    ph->n_known = ph->problem->n_arms;
    ph->changed = 0;
    ph->phase = 1;
    ph->epsilon = 0.5;
    ph->entered = round;
    tarry__phased_adopt(ph, next, round);
    if (ph->choices.guided)
        tarry__guide_rearrange(&ph->guide, ph->problem);
}

tarry_status tarry__phased_restart(tarry__phased *ph, uint64_t round)
{
    const bool grows = ph->n_known < ph->problem->n_arms && ph->keeps_books;
    const uint64_t n_bases = ph->n_bases + grows;
    tarry__phased_plan next = {
        .active = tarry__base_alloc(tarry__policy_n_choices(ph->problem),
                                    sizeof *next.active)};
    tarry__phased_task task = tarry__phased_task_now(ph);
    tarry_status status = TARRY_NO_MEMORY;
    task.phase = 1;
    task.epsilon = 0.5;
    task.ordinal++;
    if (task.confidence == 0)
        task.confidence = 1 - 1 / (double)ph->problem->horizon;
    if (next.active != NULL) {
        fill_active(ph, &next);
        status =
            grows && ph->algorithm->linear ? renew_books(ph, &task) : TARRY_OK;
    }
    if (status == TARRY_OK) {
        drop_bad(ph, task.confidence, n_bases, &next);
        status = tarry__phased_plan_make(ph->rule, &task, &next);
    }
    if (status != TARRY_OK) {
        tarry__phased_plan_clear(&next);
        return status;
    }
    ph->n_bases = n_bases;
    ph->restarts++;
    ph->ordinal++;
    ph->tried = next.n_active - 1;
    ph->confidence = task.confidence;
    enter(ph, &next, round);
    return TARRY_OK;
}
