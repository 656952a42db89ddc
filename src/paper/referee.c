/* referee.c - see referee.h.
 *
 * Estimates are by normal equations in an orthonormal basis of the design's
 * span: with V = sum N(b) b b', theta = V^-1 sum b s(b), and the bracket of a
 * is sum sigma(b) |a' V^-1 b| to either side.  The policies use a singular
 * value decomposition instead, so the two have nothing in common but the
 * formula. */
#include "paper/referee.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/elementary.h"
#include "linalg/linalg.h"

static const char *const names[] = {"", "phased-stochastic",
                                    "phased-adversarial",
                                    "phased-loss-dependent", "phased-mab"};
static const double cut_of[] = {0, 2, 2, 6, 4};
enum { ALGORITHMS = sizeof names / sizeof *names };
static const double ROUNDING = 1e-9;
#define NOBODY UINT32_MAX

/* ---- opening --------------------------------------------------------------*/

static bool make_room(tarry__referee *r)
{
    const tarry__instance *in = &r->world->instance;
    const size_t K = in->n_arms, n = in->dim;
    r->active = tarry__base_alloc(K, sizeof *r->active);
    r->entry = tarry__base_alloc(K, sizeof *r->entry);
    r->entry_of = tarry__base_alloc(K, sizeof *r->entry_of);
    r->estimate = tarry__base_zalloc(K, sizeof *r->estimate);
    r->basis = tarry__base_alloc(n * n, sizeof *r->basis);
    r->inverse = tarry__base_alloc(n * n, sizeof *r->inverse);
    r->x = tarry__base_alloc(n * K, sizeof *r->x);
    r->y = tarry__base_alloc(n, sizeof *r->y);
    r->theta = tarry__base_alloc(n, sizeof *r->theta);
    return r->active && r->entry && r->entry_of && r->estimate && r->basis &&
           r->inverse && r->x && r->y && r->theta;
}

tarry_status tarry__referee_open(tarry__referee *r, const char *instance,
                                 const char *loss, const char *policy,
                                 uint64_t horizon, uint64_t seed, uint32_t run,
                                 tarry_error *error)
{
    memset(r, 0, sizeof *r);
    for (int i = 1; i < ALGORITHMS; i++)
        if (strcmp(policy, names[i]) == 0)
            r->algorithm = i;
    if (r->algorithm == 0)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "not one of the paper's algorithms: '%s'",
                                policy);
    r->horizon = (double)horizon;
    const tarry_status status = tarry__world_create(
        instance, loss, "none", seed, run, &r->world, error);
    if (status != TARRY_OK)
        return status;
    return make_room(r)
               ? TARRY_OK
               : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
}

void tarry__referee_close(tarry__referee *r)
{
    tarry__world_free(r->world);
    tarry__base_free(r->active);
    tarry__base_free(r->entry);
    tarry__base_free(r->entry_of);
    tarry__base_free(r->estimate);
    tarry__base_free(r->basis);
    tarry__base_free(r->inverse);
    tarry__base_free(r->x);
    tarry__base_free(r->y);
    tarry__base_free(r->theta);
}

static const double *arm_at(const tarry__referee *r, size_t arm)
{
    return r->world->instance.arms + arm * r->world->instance.dim;
}

/* ---- algebra in the span of the design ------------------------------------*/

/* Gram and Schmidt, twice, over the design's arms. */
static void find_basis(tarry__referee *r)
{
    const size_t n = r->world->instance.dim;
    r->rank = 0;
    for (size_t i = 0; i < r->n_entries && r->rank < n; i++) {
        double *q = r->basis + n * r->rank;
        memcpy(q, arm_at(r, r->entry[i].arm), n * sizeof *q);
        const double whole = tarry__linalg_dot(q, q, n);
        for (size_t k = 0; k < 2 * r->rank; k++) {
            const double *other = r->basis + n * (k % r->rank);
            const double share = tarry__linalg_dot(q, other, n);
            for (size_t j = 0; j < n; j++)
                q[j] -= share * other[j];
        }
        const double rest = tarry__linalg_dot(q, q, n);
        if (rest <= 1e-18 * whole || whole == 0)
            continue;
        for (size_t j = 0; j < n; j++)
            q[j] /= sqrt(rest);
        r->rank++;
    }
}

/* The arm in the basis. */
static void project(const tarry__referee *r, size_t arm, double *out)
{
    const size_t n = r->world->instance.dim;
    for (size_t k = 0; k < r->rank; k++)
        out[k] = tarry__linalg_dot(arm_at(r, arm), r->basis + n * k, n);
}

/* V^-1 of sum mass(b) b b'; false: the design does not span its own span. */
static bool invert(tarry__referee *r, bool by_weight)
{
    memset(r->inverse, 0, r->rank * r->rank * sizeof *r->inverse);
    for (size_t i = 0; i < r->n_entries; i++) {
        const tarry__referee_entry *e = &r->entry[i];
        project(r, e->arm, r->y);
        tarry__linalg_rank_one(r->inverse, r->rank,
                               by_weight ? e->weight : (double)e->target, r->y);
    }
    if (!tarry__linalg_cholesky(r->inverse, r->rank))
        return false;
    tarry__linalg_cholesky_inverse(r->inverse, r->rank);
    tarry__linalg_mirror(r->inverse, r->rank);
    return true;
}

/* ---- the plan -------------------------------------------------------------*/

static bool is_active(const tarry__referee *r, uint32_t arm)
{
    for (size_t i = 0; i < r->n_active; i++)
        if (r->active[i] == arm)
            return true;
    return false;
}

static double quota(const tarry__referee *r, double least)
{
    const tarry__instance *in = &r->world->instance;
    const double n = (double)in->dim, eps = r->epsilon, T = r->horizon;
    const double log_kt = tarry__ln((double)in->n_arms * T);
    if (r->algorithm == 4)
        return 24 * log_kt / (eps * eps);
    const double N = 16 * n * log_kt / (eps * eps);
    return r->algorithm == 3
               ? fmax(N, 24 * sqrt(n) * tarry__ln(T) / (eps * least))
               : N;
}

/* Whether g <= 4r over the active arms, on few arms of no small weight. */
static bool is_balanced(tarry__referee *r, double least, double sum)
{
    find_basis(r);
    const double rank = (double)r->rank, psi = (double)r->n_entries;
    if (r->rank == 0 || fabs(sum - 1) > ROUNDING ||
        least < (1 - ROUNDING) / (2 * psi) ||
        psi > 16 + 4 * rank * fmax(0, tarry__ln(tarry__ln(rank))) ||
        !invert(r, true))
        return false;
    for (size_t i = 0; i < r->n_active; i++) {
        project(r, r->active[i], r->y);
        tarry__linalg_times(r->inverse, r->rank, r->rank, r->y, r->x);
        if (tarry__linalg_dot(r->x, r->y, r->rank) > 4 * rank + ROUNDING)
            return false;
    }
    return true;
}

/* Algorithm 4 plays every active arm alike. */
static bool is_right_layout(tarry__referee *r, double least, double sum)
{
    return r->algorithm == 4 ? r->n_entries == r->n_active
                             : is_balanced(r, least, sum);
}

static void set_targets(tarry__referee *r, const tarry_policy_status *status,
                        double N)
{
    r->left = 0;
    for (size_t i = 0; i < r->n_entries; i++) {
        tarry__referee_entry *e = &r->entry[i];
        const double exact = r->algorithm == 4 ? N : N * e->weight;
        e->target = status->plan[i].target;
        r->found.plans += (double)e->target < exact * (1 - ROUNDING) ||
                          (double)e->target >= exact * (1 + ROUNDING) + 1;
        e->left = r->algorithm == 1 ? 0 : e->target;
        r->left += e->left;
    }
    r->designated = r->left;
    r->to_draw = (uint64_t)(N / 2);
}

static void take_plan(tarry__referee *r, const tarry_policy_status *status)
{
    double least = 1, sum = 0;
    memset(r->entry_of, 0xff, r->world->instance.n_arms * sizeof *r->entry_of);
    r->n_entries = status->n_plan;
    for (size_t i = 0; i < status->n_plan; i++) {
        const tarry_plan_entry *p = &status->plan[i];
        r->entry[i] = (tarry__referee_entry){.arm = (uint32_t)p->arm,
                                             .weight = p->weight};
        r->found.plans +=
            !is_active(r, (uint32_t)p->arm) || r->entry_of[p->arm] != NOBODY;
        r->entry_of[p->arm] = (uint32_t)i;
        least = fmin(least, p->weight);
        sum += p->weight;
    }
    r->found.plans += !is_right_layout(r, least, sum);
    set_targets(r, status, quota(r, least));
}

void tarry__referee_began(tarry__referee *r, const tarry_policy_status *status)
{
    const double root = sqrt((double)r->world->instance.dim);
    r->epsilon = ldexp(0.5, -(int)r->found.phases);
    r->share = r->algorithm == 4   ? 1 - r->epsilon
               : r->algorithm == 3 ? 1 - r->epsilon / root
                                   : 1;
    r->n_active = status->n_active;
    memcpy(r->active, status->active, r->n_active * sizeof *r->active);
    r->n_entries = 0;
    r->drawn = r->left = 0;
    r->fresh = true;
    if (r->n_active > 1)
        take_plan(r, status);
}

/* ---- plays and losses -----------------------------------------------------*/

static bool is_over(const tarry__referee *r)
{
    if (r->left > 0 || r->n_active < 2)
        return false;
    for (size_t i = 0; i < r->n_entries; i++) {
        const tarry__referee_entry *e = &r->entry[i];
        if ((double)e->counted < r->share * (double)e->target - ROUNDING)
            return false;
    }
    return true;
}

/* Algorithm 2: each short arm as often as it is short. */
static void begin_sweep(tarry__referee *r)
{
    for (size_t i = 0; i < r->n_entries; i++) {
        tarry__referee_entry *e = &r->entry[i];
        e->left = e->target - e->counted;
        r->left += e->left;
    }
}

/* Algorithms 3 and 4: the best arm so far, in phase 1 any of the plan. */
static bool may_wait_with(const tarry__referee *r, size_t arm)
{
    const tarry_estimate *e = &r->estimate[arm];
    return r->found.phases == 0
               ? r->entry_of[arm] != NOBODY
               : is_active(r, (uint32_t)arm) &&
                     e->lower + e->upper <= r->least + ROUNDING;
}

static bool is_due(tarry__referee *r, size_t arm)
{
    const uint32_t i = r->entry_of[arm];
    if (r->algorithm == 1) {
        if (i != NOBODY && r->drawn < r->to_draw)
            r->entry[i].drawn++;
        r->drawn++;
        return i != NOBODY;
    }
    if (r->left == 0 && r->algorithm > 2)
        return may_wait_with(r, arm);
    if (r->left == 0)
        begin_sweep(r);
    if (i == NOBODY || r->entry[i].left == 0)
        return false;
    r->entry[i].left--;
    r->left--;
    return true;
}

void tarry__referee_played(tarry__referee *r, uint64_t round, size_t arm)
{
    if (r->fresh)
        r->start = round;
    r->fresh = false;
    if (r->n_active == 1) {
        r->found.plays += r->active[0] != arm;
        return;
    }
    r->found.late += is_over(r);
    r->found.plays += !is_due(r, arm);
}

/* The first N_m(a) losses to arrive of plays of this phase; for Algorithms 3
 * and 4 of its first plays, which were due. */
void tarry__referee_seen(tarry__referee *r, uint64_t round, size_t arm,
                         double loss)
{
    const uint32_t i = r->entry_of[arm];
    if (r->n_active < 2 || round < r->start || i == NOBODY ||
        (r->algorithm > 2 && round >= r->start + r->designated))
        return;
    tarry__referee_entry *e = &r->entry[i];
    if (e->counted < e->target) {
        e->counted++;
        e->sum += loss;
    }
}

/* ---- the end of a phase ---------------------------------------------------*/

static void estimate_plain(tarry__referee *r)
{
    for (size_t i = 0; i < r->n_entries; i++) {
        const tarry__referee_entry *e = &r->entry[i];
        const double N = (double)e->target, missing = N - (double)e->counted;
        r->estimate[e->arm] =
            (tarry_estimate){(e->sum - missing) / N, (e->sum + missing) / N};
    }
}

static void estimate_linear(tarry__referee *r)
{
    const size_t rank = r->rank;
    if (!invert(r, false))
        return;
    memset(r->theta, 0, rank * sizeof *r->theta);
    for (size_t i = 0; i < r->n_entries; i++) {
        project(r, r->entry[i].arm, r->y);
        double *x = r->x + rank * i; /* V^-1 b */
        tarry__linalg_times(r->inverse, rank, rank, r->y, x);
        for (size_t j = 0; j < rank; j++)
            r->theta[j] += r->entry[i].sum * x[j];
    }
    for (size_t k = 0; k < r->n_active; k++) {
        project(r, r->active[k], r->y);
        const double middle = tarry__linalg_dot(r->y, r->theta, rank);
        double width = 0;
        for (size_t i = 0; i < r->n_entries; i++)
            width += (double)(r->entry[i].target - r->entry[i].counted) *
                     fabs(tarry__linalg_dot(r->y, r->x + rank * i, rank));
        r->estimate[r->active[k]] =
            (tarry_estimate){middle - width, middle + width};
    }
}

static void compare_estimates(tarry__referee *r,
                              const tarry_policy_status *status)
{
    for (size_t i = 0; i < r->n_active; i++) {
        const tarry_estimate mine = r->estimate[r->active[i]];
        const tarry_estimate theirs = status->estimates[r->active[i]];
        const double off = fmax(fabs(mine.lower - theirs.lower),
                                fabs(mine.upper - theirs.upper));
        r->found.estimates = fmax(r->found.estimates, off / r->epsilon);
    }
}

static bool is_kept(const tarry_policy_status *status, uint32_t arm)
{
    for (size_t i = 0; i < status->n_active; i++)
        if (status->active[i] == arm)
            return true;
    return false;
}

/* Keep a iff lower(a) - min upper <= cut eps; the smallest of those kept. */
static void compare_cuts(tarry__referee *r, const tarry_policy_status *status)
{
    double smallest = INFINITY;
    r->least = INFINITY;
    for (size_t i = 0; i < r->n_active; i++)
        smallest = fmin(smallest, r->estimate[r->active[i]].upper);
    for (size_t i = 0; i < r->n_active; i++) {
        const tarry_estimate e = r->estimate[r->active[i]];
        const double over =
            e.lower - smallest - cut_of[r->algorithm] * r->epsilon;
        const bool kept = is_kept(status, r->active[i]);
        r->found.cuts += fabs(over) > ROUNDING && kept != (over < 0);
        if (kept)
            r->least = fmin(r->least, e.lower + e.upper);
    }
}

/* The arms drawn in the first half of the phase, whose number is not chance. */
static void add_draws(tarry__referee *r)
{
    const double draws = (double)r->to_draw;
    if (r->algorithm != 1 || r->drawn < r->to_draw)
        return;
    for (size_t i = 0; i < r->n_entries; i++) {
        const double expected = r->entry[i].weight * draws;
        const double off = (double)r->entry[i].drawn - expected;
        r->chi_square += off * off / expected;
    }
    r->freedom += (double)r->n_entries - 1;
}

void tarry__referee_ended(tarry__referee *r, const tarry_policy_status *status)
{
    r->found.early += !is_over(r);
    add_draws(r);
    if (r->algorithm == 4)
        estimate_plain(r);
    else
        estimate_linear(r);
    compare_estimates(r, status);
    compare_cuts(r, status);
    r->found.phases++;
}

tarry__referee_findings tarry__referee_conclude(const tarry__referee *r)
{
    tarry__referee_findings found = r->found;
    found.draws = r->freedom > 0 ? r->chi_square / r->freedom : 0;
    return found;
}
