/* phased.c - see phased.h.  A phase change builds the next phase beside the
 * old one and puts it in place only when everything has worked. */
#include "policy/phased/phased.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "tarry/design.h"

double tarry__phased_log_kt(const tarry__phased *ph)
{
    return log((double)ph->problem->n_arms * (double)ph->problem->horizon);
}

double tarry__phased_quota(const tarry__phased *ph, double min_weight)
{
    (void)min_weight;
    return 16 * (double)ph->problem->dim * tarry__phased_log_kt(ph) /
           (ph->epsilon * ph->epsilon);
}

/* ---- a new phase ----------------------------------------------------------*/

/* What a phase change computes. */
typedef struct {
    size_t n_active, n_plan, rank;
    double g, quota; /* of the design; with tight constants, N */
    uint32_t *active, *entry_of;
    tarry_plan_entry *plan;
    tarry__phased_tally *tally;
    tarry_discrete *law;
    double *room;
} draft;

static void clear_draft(draft *d)
{
    tarry__base_free(d->active);
    tarry__base_free(d->entry_of);
    tarry__base_free(d->plan);
    tarry__base_free(d->tally);
    tarry_discrete_free(d->law);
    tarry__base_free(d->room);
}

static tarry_status open_plan(draft *d, size_t n_plan)
{
    d->n_plan = n_plan;
    d->plan = tarry__base_zalloc(n_plan, sizeof *d->plan);
    d->tally = tarry__base_zalloc(n_plan, sizeof *d->tally);
    return d->plan != NULL && d->tally != NULL ? TARRY_OK : TARRY_NO_MEMORY;
}

static size_t find_active(const draft *d, uint32_t arm)
{
    size_t low = 0, high = d->n_active;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (d->active[middle] < arm)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The old plan's arms that are still active, as numbers among the active. */
static size_t warm_arms(const tarry__phased *ph, const draft *d, size_t *warm)
{
    size_t count = 0;
    for (size_t i = 0; i < ph->n_plan; i++) {
        const uint32_t arm = (uint32_t)ph->plan[i].arm;
        const size_t at = find_active(d, arm);
        if (at < d->n_active && d->active[at] == arm)
            warm[count++] = at;
    }
    return count;
}

static tarry_status solve_design(const tarry__phased *ph, const draft *d,
                                 const double *rows, const size_t *warm,
                                 size_t n_warm, tarry_design **design)
{
    tarry_design_options options = tarry_design_defaults();
    options.rule = ph->practice.tight ? TARRY_DESIGN_NEAR : TARRY_DESIGN_PAPER;
    options.rank_tolerance = ph->rank_tolerance;
    if (ph->practice.tight) /* as many suffice (Caratheodory) */
        options.max_support = ph->problem->dim * (ph->problem->dim + 1) / 2;
    options.threads = 1;
    options.warm_arms = warm;
    options.warm_count = n_warm;
    const tarry_status status = tarry_design_solve(
        rows, d->n_active, ph->problem->dim, &options, design);
    if (status != TARRY_TARGET_NOT_MET || *design == NULL)
        return status;
    /* the proofs need g <= 4r or, tight, any; the solver aims lower */
    return ph->practice.tight || (*design)->g <= 4 * (double)(*design)->rank
               ? TARRY_OK
               : status;
}

/* The arms with N > 0 become the plan. */
static tarry_status replan(draft *d, const double *N)
{
    size_t count = 0;
    tarry__base_free(d->plan);
    tarry__base_free(d->tally);
    for (size_t i = 0; i < d->n_active; i++)
        count += N[i] > 0;
    const tarry_status status = open_plan(d, count);
    if (status != TARRY_OK)
        return status;
    d->quota = 0;
    for (size_t i = 0; i < d->n_active; i++)
        d->quota += N[i];
    count = 0;
    for (size_t i = 0; i < d->n_active; i++)
        if (N[i] > 0)
            d->plan[count++] = (tarry_plan_entry){.arm = d->active[i],
                                                  .weight = N[i] / d->quota};
    return TARRY_OK;
}

/* design=regret; the quota is that of the near design, and stays if the other
 * needs more than twice as much. */
static tarry_status plan_by_gaps(const tarry__phased *ph, draft *d)
{
    tarry__phased view = *ph; /* only to be read */
    bool better;
    double *N = tarry__base_alloc(d->n_active, sizeof *N);
    if (N == NULL)
        return TARRY_NO_MEMORY;
    view.active = d->active;
    view.n_active = d->n_active;
    view.plan = d->plan;
    view.n_plan = d->n_plan;
    view.rank = d->rank;
    tarry_status status =
        tarry__phased_regret_plan(&view, 2 * d->quota, N, &better);
    if (status == TARRY_OK && better)
        status = replan(d, N);
    tarry__base_free(N);
    return status;
}

/* Raises weights to 1/(4 psi), so that all arms are drawn soon.  What is added,
 * at most 1/4, takes as large a share from the others; N grows as much. */
static void balance(draft *d)
{
    const double floor = 0.25 / (double)d->n_plan;
    double sum = 0;
    for (size_t i = 0; i < d->n_plan; i++)
        sum += fmax(d->plan[i].weight, floor);
    for (size_t i = 0; i < d->n_plan; i++)
        d->plan[i].weight = fmax(d->plan[i].weight, floor) / sum;
    d->quota *= sum;
}

static double tight_quota(const tarry__phased *ph, const draft *d)
{
    return 2 * d->g *
           tarry__phased_tight_log((double)ph->problem->n_arms,
                                   (double)ph->problem->horizon) /
           (ph->epsilon * ph->epsilon);
}

/* The plan's arms and weights from a design over the active arms. */
static tarry_status plan_by_design(const tarry__phased *ph, draft *d)
{
    const size_t n = ph->problem->dim;
    double *rows = tarry__base_alloc(d->n_active * n, sizeof *rows);
    size_t *warm = tarry__base_alloc(ph->n_plan, sizeof *warm);
    tarry_design *design = NULL;
    tarry_status status = rows && warm ? TARRY_OK : TARRY_NO_MEMORY;
    if (status == TARRY_OK) {
        for (size_t i = 0; i < d->n_active; i++)
            memcpy(rows + i * n, ph->problem->arms + d->active[i] * n,
                   n * sizeof *rows);
        status =
            solve_design(ph, d, rows, warm, warm_arms(ph, d, warm), &design);
    }
    if (status == TARRY_OK)
        status = open_plan(d, design->n_support);
    if (status == TARRY_OK) {
        d->rank = design->rank;
        d->g = design->g;
        for (size_t i = 0; i < d->n_plan; i++) {
            d->plan[i].arm = d->active[design->arm[i]];
            d->plan[i].weight = design->weight[i];
        }
    }
    tarry_design_free(design);
    tarry__base_free(warm);
    tarry__base_free(rows);
    return status;
}

/* Every active arm alike. */
static tarry_status plan_all(draft *d)
{
    const tarry_status status = open_plan(d, d->n_active);
    d->g = (double)d->n_active;
    for (size_t i = 0; status == TARRY_OK && i < d->n_plan; i++) {
        d->plan[i].arm = d->active[i];
        d->plan[i].weight = 1 / (double)d->n_active;
    }
    return status;
}

static double smallest_weight(const draft *d)
{
    double smallest = 1;
    for (size_t i = 0; i < d->n_plan; i++)
        smallest = fmin(smallest, d->plan[i].weight);
    return smallest;
}

/* ceil of a positive real; far beyond any horizon is the same as never. */
static uint64_t ceiling(double x)
{
    return x < 0x1p60 ? (uint64_t)ceil(x) : 1ull << 60;
}

/* The promise counts on M / 2 phases, M = ceil(log2 T): more do not fit into
 * the horizon, unless design=regret plans very few plays. */
static bool is_beyond(const tarry__phased *ph)
{
    return (double)ph->phase > ceil(log2((double)ph->problem->horizon)) / 2;
}

/* N(b) = ceil(N w(b)), or N itself without a design, and what must arrive. */
static void set_targets(const tarry__phased *ph, draft *d)
{
    const bool tight = ph->practice.tight;
    const double N = tight ? d->quota : ph->rule->quota(ph, smallest_weight(d));
    const double share =
        ph->rule->share != NULL && !tight ? ph->rule->share(ph) : 1;
    for (size_t i = 0; i < d->n_plan; i++) {
        tarry_plan_entry *e = &d->plan[i];
        e->target = ceiling(ph->rule->linear || tight ? N * e->weight : N);
        e->target += e->target == 0; /* arms that are all zero have g = 0 */
        if (tight && is_beyond(ph))
            e->target = 1ull << 40; /* longer than any game */
        d->tally[i].needed = ceiling(share * (double)e->target);
        d->tally[i].left = e->target;
        d->tally[i].last = UINT64_MAX;
        d->entry_of[e->arm] = (uint32_t)i;
    }
}

static tarry_status make_law(const tarry_plan_entry *plan, size_t n_plan,
                             tarry_discrete **law)
{
    double *weights = tarry__base_alloc(n_plan, sizeof *weights);
    if (weights == NULL)
        return TARRY_NO_MEMORY;
    for (size_t i = 0; i < n_plan; i++)
        weights[i] = plan[i].weight;
    const tarry_status status = tarry_discrete_create(weights, n_plan, law);
    tarry__base_free(weights);
    return status;
}

static bool is_drawn(const tarry__phased *ph)
{
    return ph->rule->drawn && !tarry__phased_is_guided(ph);
}

static tarry_status open_room(const tarry__phased *ph, size_t n_plan,
                              size_t n_active, double **room)
{
    *room = tarry__base_alloc(
        tarry__phased_tight_room(ph->problem->dim, n_plan, n_active),
        sizeof **room);
    return *room != NULL ? TARRY_OK : TARRY_NO_MEMORY;
}

/* Plans phase `ph->phase` for the draft's active arms.  One arm needs none. */
static tarry_status plan_phase(const tarry__phased *ph, draft *d)
{
    const size_t K = ph->problem->n_arms;
    d->entry_of = tarry__base_alloc(K, sizeof *d->entry_of);
    if (d->entry_of == NULL)
        return TARRY_NO_MEMORY;
    memset(d->entry_of, 0xff, K * sizeof *d->entry_of);
    if (d->n_active == 1)
        return open_plan(d, 0);
    tarry_status status =
        ph->rule->linear ? plan_by_design(ph, d) : plan_all(d);
    d->quota = tight_quota(ph, d);
    if (status == TARRY_OK && ph->practice.regret)
        status = plan_by_gaps(ph, d);
    if (status == TARRY_OK && ph->practice.tight && is_drawn(ph))
        balance(d);
    if (status == TARRY_OK && is_drawn(ph))
        status = make_law(d->plan, d->n_plan, &d->law);
    if (status == TARRY_OK && ph->practice.tight)
        status = open_room(ph, d->n_plan, d->n_active, &d->room);
    if (status == TARRY_OK)
        set_targets(ph, d);
    return status;
}

static void adopt(tarry__phased *ph, draft *d, uint64_t round)
{
    draft old = {.active = ph->active,
                 .entry_of = ph->entry_of,
                 .plan = ph->plan,
                 .tally = ph->tally,
                 .law = ph->law,
                 .room = ph->room};
    ph->n_active = d->n_active;
    ph->active = d->active;
    ph->entry_of = d->entry_of;
    ph->n_plan = d->n_plan;
    ph->rank = d->rank;
    ph->plan = d->plan;
    ph->tally = d->tally;
    ph->law = d->law;
    ph->room = d->room;
    ph->phase_start = round;
    ph->designated_end = UINT64_MAX;
    ph->cursor = ph->turn = 0;
    ph->n_short = d->n_plan;
    uint64_t plays = 0;
    for (size_t i = 0; i < ph->n_plan; i++)
        plays += ph->plan[i].target;
    if (ph->rule->designated_only && !tarry__phased_is_guided(ph))
        ph->designated_end = round + plays;
    if (ph->phase == 1)
        ph->first_phase_rounds = plays;
    ph->missing = plays;
    ph->look_at = plays / 4;
    tarry__phased_guided_start(ph, round);
    clear_draft(&old);
}

/* Coordinates are those of the first design. */
static tarry_status open_books(tarry__phased *ph)
{
    const size_t rank = ph->rule->linear && ph->n_plan > 0 ? ph->rank : 0;
    ph->certificate = ph->n_active > 1 ? 2 : 0;
    if (!ph->practice.tight && !tarry__phased_is_guided(ph))
        return TARRY_OK;
    double *W = tarry__base_alloc(rank * ph->problem->dim, sizeof *W);
    if (W == NULL)
        return TARRY_NO_MEMORY;
    tarry_status status = rank > 0 ? tarry__phased_whitening(ph, W) : TARRY_OK;
    if (status == TARRY_OK)
        status = tarry__books_open(&ph->books, ph->problem, rank, W);
    tarry__base_free(W);
    return status;
}

tarry_status tarry__phased_init(void *state, const tarry__policy_type *type,
                                const tarry__policy_problem *problem,
                                const tarry__spec *spec, tarry_error *error)
{
    tarry__phased *ph = state;
    const size_t K = problem->n_arms;
    ph->problem = problem;
    ph->rule = type->rule;
    ph->phase = 1;
    ph->epsilon = 0.5;
    tarry_status status = tarry__phased_read(ph, spec, error);
    if (status != TARRY_OK)
        return status;
    draft d = {.n_active = K, .active = tarry__base_alloc(K, sizeof *d.active)};
    ph->estimates = tarry__base_zalloc(K, sizeof *ph->estimates);
    if (d.active == NULL || ph->estimates == NULL)
        status = TARRY_NO_MEMORY;
    for (size_t i = 0; status == TARRY_OK && i < K; i++)
        d.active[i] = (uint32_t)i;
    if (status == TARRY_OK)
        status = plan_phase(ph, &d);
    if (status == TARRY_OK)
        adopt(ph, &d, 1);
    else
        clear_draft(&d);
    if (status == TARRY_OK && type->settings == tarry__phased_settings)
        status = open_books(ph);
    if (status == TARRY_TARGET_NOT_MET)
        tarry__base_fail(error, status, "no design with g <= 4r was found");
    return status;
}

/* ---- the end of a phase ---------------------------------------------------*/

/* Keeps a iff lower(a) - min_b upper(b) <= cut eps. */
static tarry_status cut_arms(const tarry__phased *ph,
                             const tarry_estimate *estimates, draft *d)
{
    double least = INFINITY;
    for (size_t i = 0; i < ph->n_active; i++)
        least = fmin(least, estimates[ph->active[i]].upper);
    d->active = tarry__base_alloc(ph->n_active, sizeof *d->active);
    if (d->active == NULL)
        return TARRY_NO_MEMORY;
    for (size_t i = 0; i < ph->n_active; i++)
        if (estimates[ph->active[i]].lower - least <=
            ph->rule->cut * ph->epsilon)
            d->active[d->n_active++] = ph->active[i];
    return TARRY_OK;
}

static size_t smallest_estimate(const tarry__phased *ph)
{
    size_t best = ph->active[0];
    double least = INFINITY;
    for (size_t i = 0; i < ph->n_active; i++) {
        const tarry_estimate *e = &ph->estimates[ph->active[i]];
        if (e->lower + e->upper < least) {
            least = e->lower + e->upper;
            best = ph->active[i];
        }
    }
    return best;
}

/* By the paper: estimates, then the cut. */
static tarry_status judge_paper(const tarry__phased *ph,
                                tarry_estimate *estimates, draft *d)
{
    tarry_status status = TARRY_OK;
    if (ph->rule->linear)
        status = tarry__phased_estimate_linear(ph, estimates);
    else
        tarry__phased_estimate_mab(ph, estimates);
    return status == TARRY_OK ? cut_arms(ph, estimates, d) : status;
}

static tarry_status judge_tight(const tarry__phased *ph,
                                tarry_estimate *estimates, draft *d,
                                tarry__phased_verdict *v)
{
    const tarry_status status = tarry__phased_tight_judge(ph, estimates, v);
    if (status != TARRY_OK)
        return status;
    d->n_active = v->n_kept;
    d->active = tarry__base_alloc(v->n_kept, sizeof *d->active);
    if (d->active == NULL)
        return TARRY_NO_MEMORY;
    memcpy(d->active, v->kept, v->n_kept * sizeof *d->active);
    return TARRY_OK;
}

static bool is_active(const tarry__phased *ph, size_t arm)
{
    for (size_t i = 0; i < ph->n_active; i++)
        if (ph->active[i] == arm)
            return true;
    return false;
}

/* The arm to exploit changes when the new one's bound is better. */
static void note_certificate(tarry__phased *ph, const tarry__phased_verdict *v)
{
    if (ph->practice.tight &&
        (v->certificate <= ph->certificate || !is_active(ph, ph->exploit))) {
        ph->exploit = v->exploit;
        ph->certificate = fmin(v->certificate, 2);
    }
}

static void enter_next(tarry__phased *ph, tarry_estimate *estimates, draft *d,
                       const tarry__phased_verdict *v, uint64_t round)
{
    ph->phase++;
    ph->epsilon /= 2;
    tarry__base_free(ph->estimates);
    ph->estimates = estimates;
    ph->n_estimates = ph->problem->n_arms;
    adopt(ph, d, round);
    ph->best = smallest_estimate(ph);
    note_certificate(ph, v);
}

tarry_status tarry__phased_advance(tarry__phased *ph, uint64_t round)
{
    const size_t K = ph->problem->n_arms;
    draft d = {0};
    tarry__phased_verdict v = {0};
    tarry_estimate *estimates = tarry__base_alloc(K, sizeof *estimates);
    if (estimates == NULL)
        return TARRY_NO_MEMORY;
    memcpy(estimates, ph->estimates, K * sizeof *estimates);
    tarry_status status = ph->practice.tight
                              ? judge_tight(ph, estimates, &d, &v)
                              : judge_paper(ph, estimates, &d);
    if (status == TARRY_OK) {
        tarry__phased next = *ph; /* only its numbers change here */
        next.phase++;
        next.epsilon /= 2;
        status = plan_phase(&next, &d);
    }
    if (status == TARRY_OK) {
        enter_next(ph, estimates, &d, &v, round);
        return TARRY_OK;
    }
    clear_draft(&d);
    tarry__base_free(estimates);
    return status;
}

/* The same phase anew, with what is known by now. */
tarry_status tarry__phased_replan(tarry__phased *ph, uint64_t round)
{
    draft d = {.n_active = ph->n_active,
               .active = tarry__base_alloc(ph->n_active, sizeof *d.active)};
    tarry_status status = TARRY_NO_MEMORY;
    if (d.active != NULL) {
        memcpy(d.active, ph->active, ph->n_active * sizeof *d.active);
        status = plan_phase(ph, &d);
    }
    if (status == TARRY_OK)
        adopt(ph, &d, round);
    else
        clear_draft(&d);
    return status;
}

/* ---- within a phase -------------------------------------------------------*/

bool tarry__phased_sweep(tarry__phased *ph, size_t *arm)
{
    while (ph->cursor < ph->n_plan && ph->tally[ph->cursor].left == 0)
        ph->cursor++;
    if (ph->cursor == ph->n_plan)
        return false;
    ph->tally[ph->cursor].left--;
    *arm = ph->plan[ph->cursor].arm;
    return true;
}

/* An active arm to play while waiting: the best so far, or the plan in turn
 * while there are no estimates. */
static size_t waiting_arm(tarry__phased *ph)
{
    if (ph->n_estimates > 0)
        return ph->best;
    const size_t arm = ph->plan[ph->turn].arm;
    ph->turn = ph->turn + 1 < ph->n_plan ? ph->turn + 1 : 0;
    return arm;
}

/* Whether what is missing no longer matters. */
tarry_status tarry__phased_has_enough(tarry__phased *ph, bool *enough)
{
    if (ph->practice.tight &&
        (ph->rule->designated_only || tarry__phased_is_guided(ph)))
        return tarry__phased_tight_is_settled(ph, enough);
    *enough = ph->n_short == 0;
    return TARRY_OK;
}

/* Algorithms 3 and 4: one sweep of designated plays, then wait. */
tarry_status tarry__phased_choose_designated(void *state, uint64_t round,
                                             size_t *arm)
{
    tarry__phased *ph = state;
    bool enough;
    if (tarry__phased_is_guided(ph))
        return tarry__phased_guided_choose(ph, round, arm);
    while (ph->n_active > 1) {
        if (tarry__phased_sweep(ph, arm))
            return tarry__phased_note(ph, *arm);
        tarry_status status = tarry__phased_has_enough(ph, &enough);
        if (status == TARRY_OK && !enough) {
            *arm = waiting_arm(ph);
            return tarry__phased_note(ph, *arm);
        }
        if (status == TARRY_OK)
            status = tarry__phased_advance(ph, round);
        if (status != TARRY_OK)
            return status;
    }
    *arm = ph->active[0];
    return tarry__phased_note(ph, *arm);
}

/* Without a guide, and if delays do not look at losses, all losses count: how
 * many there are does not depend on what they are. */
static bool counts_all(const tarry__phased *ph)
{
    return ph->practice.tight && !ph->rule->designated_only &&
           !tarry__phased_is_guided(ph);
}

uint64_t tarry__phased_count(const tarry__phased *ph, size_t i)
{
    return counts_all(ph) ? ph->plan[i].observed : ph->plan[i].target;
}

/* Counts the first N(b) losses of arm b, of designated plays where only those
 * count. */
static tarry__policy_use count_loss(tarry__phased *ph, uint64_t round,
                                    size_t arm, double loss)
{
    if (round < ph->phase_start)
        return TARRY__POLICY_LATE;
    const uint32_t i = ph->entry_of[arm];
    if (i == TARRY__PHASED_NO_ENTRY || round >= ph->designated_end ||
        ph->pace.warm ||
        (ph->rule->designated_only && round > ph->tally[i].last))
        return TARRY__POLICY_IGNORED;
    tarry_plan_entry *e = &ph->plan[i];
    const bool full = e->observed >= e->target;
    if (full && !counts_all(ph))
        return TARRY__POLICY_IGNORED;
    ph->tally[i].sum += loss;
    ph->missing -= !full;
    ph->n_short -= ++e->observed == ph->tally[i].needed;
    return TARRY__POLICY_USED;
}

tarry__policy_use tarry__phased_observe(void *state, uint64_t round, size_t arm,
                                        double loss)
{
    tarry__phased *ph = state;
    const tarry__policy_use use = count_loss(ph, round, arm, loss);
    if (ph->books.arrivals == NULL)
        return use;
    ph->books.arrivals[arm]++;
    ph->books.learned++;
    ph->books.sums[arm] += loss;
    if (!tarry__phased_is_guided(ph))
        return use;
    tarry__guide_observe(&ph->guide, round, arm, loss);
    return use == TARRY__POLICY_IGNORED ? TARRY__POLICY_USED : use;
}

/* As a guide: it books the plays of others, and their losses, with its own. */
void tarry__phased_played(void *state, uint64_t round, size_t arm)
{
    tarry__phased *ph = state;
    tarry__phased_note(ph, arm);
    if (tarry__phased_is_guided(ph))
        tarry__guide_played(&ph->guide, round, arm);
}

const uint64_t *tarry__phased_phase(const void *state)
{
    return &((const tarry__phased *)state)->phase;
}

void tarry__phased_status(const void *state, tarry_policy_status *status)
{
    const tarry__phased *ph = state;
    status->phase = ph->phase;
    status->epsilon = ph->epsilon;
    status->phase_start = ph->phase_start;
    status->n_active = ph->n_active;
    status->active = ph->active;
    status->n_plan = ph->n_plan;
    status->plan = ph->plan;
    status->best = tarry__phased_is_guided(ph) && ph->n_active > 1
                       ? tarry__guide_best(&ph->guide, ph->best)
                       : ph->best;
    status->first_phase_rounds = ph->first_phase_rounds;
    status->n_estimates = ph->n_estimates;
    status->estimates = ph->estimates;
}

/* Half of 1/T is for the phases, half for all data together. */
tarry_status tarry__phased_certify(const void *state, size_t *arm, double *gap)
{
    const tarry__phased *ph = state;
    if (!ph->practice.tight)
        return TARRY_BAD_ARGUMENT;
    *arm = ph->n_active == 1 ? ph->active[0] : ph->exploit;
    *gap = ph->n_active == 1 ? 0 : ph->certificate;
    if (ph->n_active == 1)
        return TARRY_OK;
    size_t other;
    double bound;
    const tarry_status status = tarry__books_certify(
        &ph->books, 0.5 / (double)ph->problem->horizon,
        ph->rule->designated_only, ph->active, ph->n_active, &other, &bound);
    if (status == TARRY_OK && bound < *gap) {
        *arm = other;
        *gap = bound;
    }
    return status;
}

void tarry__phased_clear(void *state)
{
    tarry__phased *ph = state;
    tarry__guide_clear(&ph->guide);
    tarry__books_clear(&ph->books);
    draft all = {.active = ph->active,
                 .entry_of = ph->entry_of,
                 .plan = ph->plan,
                 .tally = ph->tally,
                 .law = ph->law,
                 .room = ph->room};
    clear_draft(&all);
    tarry__base_free(ph->estimates);
}

/* ---- saving ---------------------------------------------------------------*/

static bool is_sound(const tarry__phased *ph)
{
    const size_t K = ph->problem->n_arms;
    bool sound = ph->exploit < K && ph->pace.share >= 0 && ph->n_active > 0 &&
                 ph->n_active <= K && ph->phase > 0 && ph->epsilon > 0 &&
                 ph->best < K && ph->cursor <= ph->n_plan &&
                 (ph->n_estimates == 0 || ph->n_estimates == K) &&
                 (ph->turn < ph->n_plan || ph->turn == 0) &&
                 ph->rank <= ph->problem->dim &&
                 (ph->n_plan > 0 || ph->n_active == 1);
    for (size_t i = 0; sound && i < ph->n_active; i++)
        sound = ph->active[i] < K;
    size_t n_short = 0;
    for (size_t i = 0; sound && i < ph->n_plan; i++) {
        const tarry_plan_entry *e = &ph->plan[i];
        sound = e->arm < K && e->weight > 0 &&
                (e->observed <= e->target || counts_all(ph)) &&
                ph->tally[i].needed <= e->target;
        n_short += e->observed < ph->tally[i].needed;
    }
    sound = sound && ph->n_short == n_short;
    for (size_t i = 0; sound && i < K; i++)
        sound = ph->entry_of[i] == TARRY__PHASED_NO_ENTRY ||
                ph->entry_of[i] < ph->n_plan;
    return sound;
}

/* The law to draw from follows from the plan. */
static void remake_law(tarry__phased *ph, tarry__archive *a)
{
    if (!a->loading || a->status != TARRY_OK || !is_drawn(ph) ||
        ph->n_plan == 0)
        return;
    const tarry_status status = make_law(ph->plan, ph->n_plan, &ph->law);
    a->status = status == TARRY_BAD_ARGUMENT ? TARRY_BAD_STATE : status;
}

static void archive_practice(tarry__phased *ph, tarry__archive *a)
{
    uint32_t has_books = ph->books.plays != NULL;
    tarry__archive_field(a, has_books);
    if (has_books)
        tarry__books_archive(&ph->books, ph->problem, a);
    if (has_books && a->status == TARRY_OK)
        tarry__guide_archive(&ph->guide, ph->problem, ph->active, ph->n_active,
                             a);
    tarry__archive_require(a, has_books || !ph->practice.tight);
}

void tarry__phased_archive(void *state, const tarry__policy_type *type,
                           const tarry__policy_problem *problem,
                           tarry__archive *a)
{
    tarry__phased *ph = state;
    size_t K = problem->n_arms, n_tally = ph->n_plan, n_entries = K;
    ph->rule = type->rule;
    ph->problem = problem;
    tarry__archive_field(a, ph->rank_tolerance);
    tarry__archive_field(a, ph->practice);
    tarry__archive_field(a, ph->exploit);
    tarry__archive_field(a, ph->certificate);
    tarry__archive_field(a, ph->missing);
    tarry__archive_field(a, ph->look_at);
    tarry__archive_field(a, ph->pace);
    tarry__archive_field(a, ph->phase);
    tarry__archive_field(a, ph->epsilon);
    tarry__archive_field(a, ph->phase_start);
    tarry__archive_field(a, ph->designated_end);
    tarry__archive_field(a, ph->rank);
    tarry__archive_field(a, ph->n_short);
    tarry__archive_field(a, ph->cursor);
    tarry__archive_field(a, ph->turn);
    tarry__archive_field(a, ph->best);
    tarry__archive_field(a, ph->n_estimates);
    tarry__archive_field(a, ph->first_phase_rounds);
    tarry__archive_array(a, &ph->active, &ph->n_active, sizeof *ph->active, K);
    tarry__archive_array(a, &ph->plan, &ph->n_plan, sizeof *ph->plan, K);
    tarry__archive_array(a, &ph->tally, &n_tally, sizeof *ph->tally, K);
    tarry__archive_array(a, &ph->entry_of, &n_entries, sizeof *ph->entry_of, K);
    tarry__archive_array(a, &ph->estimates, &K, sizeof *ph->estimates, K);
    /* checked before the guide, which relies on the active arms */
    tarry__archive_require(a, a->status == TARRY_OK && n_tally == ph->n_plan &&
                                  n_entries == problem->n_arms &&
                                  K == problem->n_arms && is_sound(ph));
    if (a->status == TARRY_OK)
        archive_practice(ph, a);
    if (a->loading && a->status == TARRY_OK && ph->practice.tight)
        a->status = open_room(ph, ph->n_plan, ph->n_active, &ph->room);
    remake_law(ph, a);
}
