/* phased.c - see phased.h.  A phase change builds the next phase beside the
 * old one and puts it in place only when everything has worked. */
#include "policy/phased/phased.h"

#include <math.h>
#include <string.h>
#include "base/base.h"

/* ---- a new phase ----------------------------------------------------------*/

tarry_status tarry__phased_plan_begin(tarry__phased_plan *p, size_t n_arms)
{
    *p = (tarry__phased_plan){.n_active = n_arms,
                              .active =
                                  tarry__base_alloc(n_arms, sizeof *p->active)};
    for (size_t i = 0; p->active != NULL && i < n_arms; i++)
        p->active[i] = (uint32_t)i;
    return p->active != NULL ? TARRY_OK : TARRY_NO_MEMORY;
}

static tarry_status open_scratch(const tarry__phased_rule *rule, size_t dim,
                                 tarry__phased_plan *p)
{
    if (!rule->certifies)
        return TARRY_OK;
    p->scratch = tarry__base_alloc(
        tarry__phased_scratch_size(dim, p->n_entries, p->n_active),
        sizeof *p->scratch);
    return p->scratch != NULL ? TARRY_OK : TARRY_NO_MEMORY;
}

tarry_status tarry__phased_plan_make(const tarry__phased_rule *rule,
                                     const tarry__phased_task *task,
                                     tarry__phased_plan *p)
{
    const size_t K = task->problem->n_arms;
    p->counting = rule->counting;
    p->entry_of = tarry__base_alloc(K, sizeof *p->entry_of);
    if (p->entry_of == NULL)
        return TARRY_NO_MEMORY;
    memset(p->entry_of, 0xff, K * sizeof *p->entry_of);
    if (p->n_active == 1)
        return tarry__phased_plan_open(p, 0);
    tarry_status status = rule->plan(task, p);
    if (status == TARRY_OK && task->drawn)
        status = tarry__phased_plan_make_law(p);
    if (status == TARRY_OK)
        status = open_scratch(rule, task->problem->dim, p);
    if (status != TARRY_OK)
        return status;
    p->n_short = p->n_entries;
    p->missing = tarry__phased_plan_plays(p);
    p->look_at = p->missing / 4;
    return TARRY_OK;
}

tarry__phased_task
tarry__phased_first_task(const tarry__policy_problem *problem,
                         const tarry__phased_algorithm *algorithm,
                         const tarry__phased_choices *choices)
{
    return (tarry__phased_task){
        .problem = problem,
        .algorithm = algorithm,
        .rank_tolerance = choices->tolerance,
        .drawn = algorithm->drawn && tarry__phased_company_of(choices)->draws,
        .confidence =
            choices->confidence > 0 ? choices->confidence : problem->confidence,
        .replans = choices->cuts,
        .phase = 1,
        .ordinal = 1,
        .epsilon = 0.5};
}

tarry__phased_task tarry__phased_task_now(const tarry__phased *ph)
{
    tarry__phased_task task =
        tarry__phased_first_task(ph->problem, ph->algorithm, &ph->choices);
    task.by_regret = ph->choices.regret;
    task.replans = ph->choices.cuts;
    task.confidence = ph->confidence;
    task.ordinal = ph->ordinal;
    task.phase = ph->phase;
    task.epsilon = ph->epsilon;
    task.before = &ph->plan;
    task.books = &ph->books;
    return task;
}

void tarry__phased_adopt(tarry__phased *ph, tarry__phased_plan *next,
                         uint64_t round)
{
    tarry__phased_plan old = ph->plan;
    ph->plan = *next;
    ph->phase_start = round;
    if (ph->phase == 1)
        ph->first_phase_rounds = tarry__phased_plan_plays(next);
    ph->company->start(ph, round);
    tarry__phased_plan_clear(&old);
}

/* ---- the first phase ------------------------------------------------------*/

/* Coordinates are those of the first design. */
static tarry_status open_books(tarry__phased *ph)
{
    const size_t rank =
        ph->algorithm->linear && ph->plan.n_entries > 0 ? ph->plan.rank : 0;
    double *W = tarry__base_alloc(rank * ph->problem->dim, sizeof *W);
    if (W == NULL)
        return TARRY_NO_MEMORY;
    tarry_status status =
        rank > 0 ? tarry__phased_whitening(ph->problem, &ph->plan, W)
                 : TARRY_OK;
    if (status == TARRY_OK)
        status = tarry__books_open(&ph->books, ph->problem, rank, W);
    tarry__base_free(W);
    return status;
}

/* What the settings have chosen. */
static void appoint(tarry__phased *ph)
{
    ph->rule = tarry__phased_rule_of(ph->algorithm, &ph->choices);
    ph->company = tarry__phased_company_of(&ph->choices);
    ph->keeps_books = ph->rule->certifies || ph->choices.guided;
    ph->books.width = ph->choices.width;
    ph->books.lowest = ph->choices.nonnegative ? 0 : -1;
    ph->confidence = ph->choices.confidence > 0 ? ph->choices.confidence
                                                : ph->problem->confidence;
    if (ph->restarts > 0 && ph->confidence == 0)
        ph->confidence = 1 - 1 / (double)ph->problem->horizon;
}

static tarry_status plan_first(tarry__phased *ph)
{
    const size_t K = ph->problem->n_arms;
    const tarry__phased_task task =
        tarry__phased_first_task(ph->problem, ph->algorithm, &ph->choices);
    ph->estimates = tarry__base_zalloc(K, sizeof *ph->estimates);
    if (ph->estimates == NULL)
        return TARRY_NO_MEMORY;
    tarry_status status = tarry__phased_plan_begin(&ph->plan, K);
    if (status == TARRY_OK)
        status = tarry__phased_plan_make(ph->rule, &task, &ph->plan);
    if (status == TARRY_OK && ph->keeps_books)
        status = open_books(ph);
    if (status != TARRY_OK)
        return status;
    ph->certificate = K > 1 ? 2 : 0;
    ph->tried = K - 1;
    ph->phase_start = 1;
    ph->first_phase_rounds = tarry__phased_plan_plays(&ph->plan);
    ph->company->start(ph, 1);
    return TARRY_OK;
}

tarry_status tarry__phased_init(void *state, const tarry__policy_type *type,
                                const tarry__policy_problem *problem,
                                const tarry__spec *spec, tarry_error *error)
{
    tarry__phased *ph = state;
    ph->problem = problem;
    ph->algorithm = type->rule;
    ph->phase = ph->ordinal = 1;
    ph->n_known = problem->n_arms;
    ph->epsilon = 0.5;
    tarry_status status =
        ph->algorithm->read(ph->algorithm, spec, &ph->choices, error);
    if (status == TARRY_OK && ph->choices.guided)
        status = tarry__guide_open(&ph->guide, problem,
                                   tarry__spec_text(spec, "guide"), error);
    if (status != TARRY_OK)
        return status;
    appoint(ph);
    status = plan_first(ph);
    if (status == TARRY_TARGET_NOT_MET)
        tarry__base_fail(error, status, "no design with g <= 4r was found");
    return status;
}

/* ---- the end of a phase ---------------------------------------------------*/

static size_t smallest_estimate(const tarry__phased *ph)
{
    size_t best = ph->plan.active[0];
    double least = INFINITY;
    for (size_t i = 0; i < ph->plan.n_active; i++) {
        const tarry_estimate *e = &ph->estimates[ph->plan.active[i]];
        if (e->lower + e->upper < least) {
            least = e->lower + e->upper;
            best = ph->plan.active[i];
        }
    }
    return best;
}

bool tarry__phased_is_active(const tarry__phased *ph, size_t arm)
{
    for (size_t i = 0; i < ph->plan.n_active; i++)
        if (ph->plan.active[i] == arm)
            return true;
    return false;
}

/* The arm to exploit changes when the new one's bound is better. */
static void note_certificate(tarry__phased *ph, const tarry__phased_verdict *v)
{
    if (v->certificate <= ph->certificate ||
        !tarry__phased_is_active(ph, ph->exploit)) {
        ph->exploit = v->exploit;
        ph->certificate = fmin(v->certificate, 2);
    }
}

static void enter_next(tarry__phased *ph, tarry_estimate *estimates,
                       tarry__phased_plan *next, const tarry__phased_verdict *v,
                       uint64_t round)
{
    ph->phase++;
    ph->ordinal++;
    ph->tried = next->n_active - 1;
    ph->entered = round;
    ph->epsilon /= 2;
    tarry__base_free(ph->estimates);
    ph->estimates = estimates;
    ph->n_estimates = ph->problem->n_arms;
    tarry__phased_adopt(ph, next, round);
    ph->best = smallest_estimate(ph);
    if (ph->rule->certifies)
        note_certificate(ph, v);
}

tarry_status tarry__phased_advance(tarry__phased *ph, uint64_t round)
{
    const size_t K = ph->problem->n_arms;
    tarry__phased_plan next = {
        .active = tarry__base_alloc(ph->plan.n_active, sizeof *next.active)};
    tarry__phased_verdict v = {.kept = next.active};
    tarry_estimate *estimates = tarry__base_alloc(K, sizeof *estimates);
    tarry_status status = next.active && estimates ? TARRY_OK : TARRY_NO_MEMORY;
    if (status == TARRY_OK) {
        memcpy(estimates, ph->estimates, K * sizeof *estimates);
        status = ph->rule->judge(ph, estimates, &v);
        next.n_active = v.n_kept;
    }
    if (status == TARRY_OK) {
        tarry__phased_task task = tarry__phased_task_now(ph);
        task.phase++;
        task.ordinal++;
        task.epsilon /= 2;
        status = tarry__phased_plan_make(ph->rule, &task, &next);
    }
    if (status == TARRY_OK) {
        enter_next(ph, estimates, &next, &v, round);
        return TARRY_OK;
    }
    tarry__phased_plan_clear(&next);
    tarry__base_free(estimates);
    return status;
}

/* A plan for n active arms that takes the place of another one can cut in n - 1
 * directions.  A share pays for K of them; if too few are left, the plan has
 * the next share. */
static void take_share(const tarry__phased *ph, size_t n, uint64_t *ordinal,
                       uint64_t *tried)
{
    *tried += n - 1;
    if (*tried <= ph->problem->n_arms)
        return;
    ++*ordinal;
    *tried = n - 1;
}

tarry_status tarry__phased_replan(tarry__phased *ph, uint64_t round,
                                  bool (*stays)(const tarry__phased *, size_t))
{
    const size_t n = ph->plan.n_active;
    tarry__phased_task task = tarry__phased_task_now(ph);
    uint64_t tried = ph->tried;
    tarry__phased_plan next = {.active =
                                   tarry__base_alloc(n, sizeof *next.active)};
    tarry_status status = TARRY_NO_MEMORY;
    if (next.active != NULL) {
        for (size_t i = 0; i < n; i++)
            if (stays == NULL || stays(ph, i))
                next.active[next.n_active++] = ph->plan.active[i];
        if (stays != NULL)
            take_share(ph, next.n_active, &task.ordinal, &tried);
        status = tarry__phased_plan_make(ph->rule, &task, &next);
    }
    if (status != TARRY_OK) {
        tarry__phased_plan_clear(&next);
        return status;
    }
    ph->entered = stays == NULL ? round : ph->entered;
    ph->ordinal = task.ordinal;
    ph->tried = tried;
    tarry__phased_adopt(ph, &next, round);
    return TARRY_OK;
}

/* ---- within a phase -------------------------------------------------------*/

tarry_status tarry__phased_choose(void *state, uint64_t round, size_t *arm)
{
    tarry__phased *ph = state;
    tarry_status status = TARRY_OK;
    ph->chance = 1;
    if (ph->changed)
        status = tarry__phased_restart(ph, round);
    if (status == TARRY_OK)
        status = ph->company->choose(ph, round, arm);
    if (status == TARRY_OK && ph->keeps_books)
        ph->books.plays[*arm]++;
    return status;
}

/* Counts the losses that the plan asks for. */
static tarry__policy_use count_loss(tarry__phased *ph, uint64_t round,
                                    size_t arm, double loss)
{
    tarry__phased_plan *p = &ph->plan;
    if (round < ph->phase_start)
        return TARRY__POLICY_LATE;
    const uint32_t i = p->entry_of[arm];
    if (i == TARRY__PHASED_NO_ENTRY || !tarry__phased_plan_counts(p, i, round))
        return TARRY__POLICY_IGNORED;
    tarry_plan_entry *e = &p->entry[i];
    const bool full = e->observed >= e->target;
    if (full && p->counting != TARRY__PHASED_COUNT_ALL)
        return TARRY__POLICY_IGNORED;
    p->tally[i].sum += loss;
    p->missing -= !full;
    p->n_short -= ++e->observed == tarry__phased_plan_wanted(p, i);
    return TARRY__POLICY_USED;
}

tarry__policy_use tarry__phased_observe(void *state, uint64_t round, size_t arm,
                                        double loss)
{
    tarry__phased *ph = state;
    const tarry__policy_use use = count_loss(ph, round, arm, loss);
    if (!ph->keeps_books)
        return use;
    ph->books.arrivals[arm]++;
    ph->books.learned++;
    ph->books.sums[arm] += loss;
    return ph->company->observe(ph, round, arm, loss, use);
}

/* As a guide: it books the plays of others, and their losses, with its own. */
void tarry__phased_played(void *state, uint64_t round, size_t arm)
{
    tarry__phased *ph = state;
    if (ph->keeps_books)
        ph->books.plays[arm]++;
    ph->company->played(ph, round, arm);
}

/* The entry of a play of this phase whose loss counts. */
static uint32_t entry_of_play(const tarry__phased *ph, uint64_t round,
                              size_t arm)
{
    const uint32_t i = ph->plan.entry_of[arm];
    return i != TARRY__PHASED_NO_ENTRY && round >= ph->phase_start &&
                   tarry__phased_plan_counts(&ph->plan, i, round)
               ? i
               : TARRY__PHASED_NO_ENTRY;
}

/* Only for Algorithms 3 and 4, where the play decides which losses count: the
 * others do not know any more whether this one did. */
void tarry__phased_revise(void *state, uint64_t round, size_t arm, double old,
                          double loss)
{
    tarry__phased *ph = state;
    const uint32_t i = entry_of_play(ph, round, arm);
    if (i != TARRY__PHASED_NO_ENTRY)
        ph->plan.tally[i].sum += loss - old;
    if (!ph->keeps_books)
        return;
    ph->books.sums[arm] += loss - old;
    ph->company->revised(ph, round, arm, old, loss);
}

tarry_status tarry__phased_cancel(void *state, uint64_t round, size_t arm)
{
    tarry__phased *ph = state;
    const uint32_t i = entry_of_play(ph, round, arm);
    tarry_status status = TARRY_OK;
    if (i != TARRY__PHASED_NO_ENTRY && ph->plan.law == NULL)
        status = tarry__phased_plan_again(&ph->plan, i);
    if (status != TARRY_OK)
        return status;
    ph->company->cancelled(ph, round, arm, i != TARRY__PHASED_NO_ENTRY);
    if (ph->keeps_books)
        ph->books.plays[arm]--;
    return TARRY_OK;
}

/* Where others are played in place of what does not come, nobody waits. */
void tarry__phased_expire(void *state, uint64_t round, size_t arm, bool gone)
{
    tarry__phased *ph = state;
    const uint32_t i = entry_of_play(ph, round, arm);
    if (i != TARRY__PHASED_NO_ENTRY && ph->algorithm->designated_only)
        tarry__phased_plan_give_up(&ph->plan, i, gone);
    ph->company->expired(ph, round, arm, gone);
}

double tarry__phased_probability(void *state, uint64_t round, size_t arm)
{
    tarry__phased *ph = state;
    if (ph->chance < 0)
        return tarry__guide_probability(&ph->guide, round, arm);
    const uint32_t i = ph->plan.entry_of[arm];
    return ph->chance == 1               ? 1
           : i == TARRY__PHASED_NO_ENTRY ? 0
                                         : ph->plan.entry[i].weight;
}

bool tarry__phased_is_late(const void *state, uint64_t round)
{
    return round < ((const tarry__phased *)state)->phase_start;
}

const uint64_t *tarry__phased_phase(const void *state)
{
    return &((const tarry__phased *)state)->phase;
}

/* A plan that has lost an arm will not be gone on with: until phases begin anew
 * with the next choice, or for ever beyond the horizon, all arms that are there
 * may be the best. */
void tarry__phased_status(const void *state, tarry_policy_status *status)
{
    const tarry__phased *ph = state;
    const bool is_void = ph->changed && tarry__phased_has_lost_one(ph);
    status->phase = ph->phase;
    status->epsilon = ph->epsilon;
    status->phase_start = ph->phase_start;
    status->n_active = is_void ? ph->problem->n_active : ph->plan.n_active;
    status->active = is_void ? ph->problem->active : ph->plan.active;
    status->n_plan = is_void ? 0 : ph->plan.n_entries;
    status->plan = ph->plan.entry;
    status->best = ph->company->best(ph);
    status->first_phase_rounds = ph->first_phase_rounds;
    status->n_estimates = ph->n_estimates;
    status->estimates = ph->estimates;
    if (tarry__guide_is_open(&ph->guide))
        tarry__guide_report(&ph->guide, status);
}

/* Each set of arms has its share; without a confidence the first, which is
 * mostly the only one, has all of it. */
static double share_of_books(const tarry__phased *ph, uint64_t n_bases)
{
    const double e = (double)n_bases + 1;
    const bool by_horizon =
        ph->choices.confidence == 0 && ph->problem->confidence == 0;
    return by_horizon && n_bases == 0 ? 1 : 1 / (e * (e + 1));
}

/* Half of the probability of failure is for the phases, half for all data
 * together. */
void tarry__phased_books_bound_of(const tarry__phased *ph, double confidence,
                                  uint64_t n_bases,
                                  const tarry__phased_plan *plan, size_t *arm,
                                  double *gap)
{
    const double failure =
        confidence > 0 ? 1 - confidence : 1 / (double)ph->problem->horizon;
    tarry__books_certify(&ph->books, failure / 2 * share_of_books(ph, n_bases),
                         ph->algorithm->designated_only, plan->active,
                         plan->n_active, arm, gap);
}

void tarry__phased_books_bound(const tarry__phased *ph, size_t *arm,
                               double *gap)
{
    tarry__phased_books_bound_of(ph, ph->confidence, ph->n_bases, &ph->plan,
                                 arm, gap);
}

tarry_status tarry__phased_certify(const void *state, size_t *arm, double *gap)
{
    const tarry__phased *ph = state;
    const tarry__phased_plan *p = &ph->plan;
    if (!ph->rule->certifies)
        return TARRY_BAD_ARGUMENT;
    const bool one = p->n_active == 1 && !ph->changed;
    *arm = one ? p->active[0] : ph->exploit;
    *gap = one ? 0 : ph->certificate;
    if (one ||
        ph->changed) /* the arms will be judged from the next choice on */
        return TARRY_OK;
    size_t other;
    double bound;
    tarry__phased_books_bound(ph, &other, &bound);
    if (bound < *gap) {
        *arm = other;
        *gap = bound;
    }
    return TARRY_OK;
}

void tarry__phased_clear(void *state)
{
    tarry__phased *ph = state;
    tarry__guide_clear(&ph->guide);
    tarry__books_clear(&ph->books);
    tarry__phased_plan_clear(&ph->plan);
    tarry__base_free(ph->estimates);
}

/* ---- saving ---------------------------------------------------------------*/

static bool is_sound_plan(const tarry__phased_plan *p, size_t K, size_t dim)
{
    bool sound = p->n_active > 0 && p->n_active <= K && p->rank <= dim &&
                 p->cursor <= p->n_entries &&
                 (p->turn < p->n_entries || p->turn == 0) &&
                 (p->n_entries > 0 || p->n_active == 1);
    for (size_t i = 0; sound && i < p->n_active; i++)
        sound = p->active[i] < K && (i == 0 || p->active[i - 1] < p->active[i]);
    size_t n_short = 0;
    for (size_t i = 0; sound && i < p->n_entries; i++) {
        const tarry_plan_entry *e = &p->entry[i];
        sound = e->arm < K && e->weight > 0 && p->tally[i].needed <= e->target;
        sound = sound && p->given_up[i] <= e->target;
        n_short += sound && e->observed < tarry__phased_plan_wanted(p, i);
    }
    for (size_t i = 0; sound && i < K; i++)
        sound = p->entry_of[i] == TARRY__PHASED_NO_ENTRY ||
                p->entry_of[i] < p->n_entries;
    return sound && p->n_short == n_short;
}

/* Entries and arms name each other, and what is planned is active; a plan that
 * forces no plays may have entries of arms that were cut since. */
static bool is_sound_list(const tarry__phased *ph)
{
    const tarry__phased_plan *p = &ph->plan;
    const bool idle = ph->choices.guided && ph->pace.idle;
    size_t listed = 0, at = 0; /* in the list of active arms */
    for (size_t k = 0; k < ph->problem->n_arms; k++) {
        const uint32_t i = p->entry_of[k];
        while (at < p->n_active && p->active[at] < k)
            at++;
        const bool is_active = at < p->n_active && p->active[at] == k;
        if (i == TARRY__PHASED_NO_ENTRY)
            continue;
        if (p->entry[i].arm != k || !(is_active || idle))
            return false;
        listed++;
    }
    return listed == p->n_entries;
}

/* Whether only arms that may be chosen can be: after a change arms are sorted
 * out at the next choice, and a guide's are by those who ask it. */
static bool is_sound_choice(const tarry__phased *ph, bool guides)
{
    const bool best_is_active = tarry__phased_is_active(ph, ph->best);
    if (guides)
        return ph->changed || best_is_active;
    return tarry__policy_may_choose(ph->problem, ph->best) &&
           tarry__policy_may_choose(ph->problem, ph->exploit) &&
           (ph->changed || (best_is_active && !tarry__phased_has_lost_one(ph)));
}

static bool is_sound(const tarry__phased *ph)
{
    const size_t K = ph->problem->n_arms;
    return ph->choices.cuts <= ph->choices.tight && ph->choices.regret <= 1 &&
           ph->algorithm->rule[ph->choices.tight][0] != NULL &&
           ph->exploit < K && ph->certificate >= 0 && ph->choices.share >= 0 &&
           ph->phase > 0 && ph->epsilon > 0 && ph->best < K &&
           (ph->n_estimates == 0 || ph->n_estimates == K) &&
           is_sound_plan(&ph->plan, K, ph->problem->dim);
}

/* Whether no entry has counted more than it may. */
static bool is_within_targets(const tarry__phased_plan *p)
{
    bool within = true;
    for (size_t i = 0; i < p->n_entries; i++)
        within = within && p->entry[i].observed <= p->entry[i].target;
    return within || p->counting == TARRY__PHASED_COUNT_ALL;
}

/* What follows from what was saved. */
static void derive(tarry__phased *ph, tarry__archive *a)
{
    const tarry__phased_task task =
        tarry__phased_first_task(ph->problem, ph->algorithm, &ph->choices);
    appoint(ph);
    ph->plan.counting = ph->rule->counting;
    tarry__archive_require(a, is_within_targets(&ph->plan) &&
                                  ph->keeps_books == (ph->books.plays != NULL));
    if (a->status != TARRY_OK)
        return;
    a->status = open_scratch(ph->rule, ph->problem->dim, &ph->plan);
    if (a->status == TARRY_OK && task.drawn && ph->plan.n_entries > 0)
        a->status = tarry__phased_plan_make_law(&ph->plan);
    if (a->status == TARRY_BAD_ARGUMENT)
        a->status = TARRY_BAD_STATE;
}

/* Constants, cuts and losses are in one word, which has long been there. */
static void archive_constants(tarry__phased_choices *c, tarry__archive *a)
{
    uint32_t word = c->tight + 2 * c->cuts + 4 * c->nonnegative;
    tarry__archive_field(a, word);
    tarry__archive_require(a, word < 8);
    c->tight = word & 1;
    c->cuts = word >> 1 & 1;
    c->nonnegative = word >> 2;
}

static void archive_numbers(tarry__phased *ph, tarry__archive *a)
{
    tarry__phased_plan *p = &ph->plan;
    tarry__archive_field(a, ph->choices.tolerance);
    archive_constants(&ph->choices, a);
    tarry__archive_field(a, ph->choices.regret);
    tarry__archive_field(a, ph->choices.width);
    tarry__archive_field(a, ph->exploit);
    tarry__archive_field(a, ph->certificate);
    tarry__archive_field(a, p->missing);
    tarry__archive_field(a, p->look_at);
    tarry__archive_field(a, ph->choices.share);
    tarry__archive_field(a, ph->pace);
    tarry__archive_field(a, ph->phase);
    tarry__archive_field(a, ph->epsilon);
    tarry__archive_field(a, ph->phase_start);
    tarry__archive_field(a, p->designated_end);
    tarry__archive_field(a, p->rank);
    tarry__archive_field(a, p->n_short);
    tarry__archive_field(a, p->cursor);
    tarry__archive_field(a, p->turn);
    tarry__archive_field(a, ph->best);
    tarry__archive_field(a, ph->n_estimates);
    tarry__archive_field(a, ph->first_phase_rounds);
}

static void archive_live(tarry__phased_plan *p, tarry__archive *a)
{
    size_t n_given_up = p->n_entries;
    tarry__archive_field(a, p->n_given_up);
    tarry__archive_field(a, p->n_extra);
    tarry__archive_array(a, &p->given_up, &n_given_up, sizeof *p->given_up,
                         p->n_entries);
    tarry__archive_array(a, &p->extra, &p->n_cancelled, sizeof *p->extra,
                         SIZE_MAX);
    if (a->loading)
        p->extra_room = p->n_cancelled;
    tarry__archive_require(a, n_given_up == p->n_entries &&
                                  p->n_extra <= p->n_cancelled);
}

static void archive_arrays(tarry__phased *ph, tarry__archive *a)
{
    tarry__phased_plan *p = &ph->plan;
    const size_t K = ph->problem->n_arms;
    size_t n_tally = p->n_entries, n_entries = K, n_estimates = K;
    tarry__archive_array(a, &p->active, &p->n_active, sizeof *p->active, K);
    tarry__archive_array(a, &p->entry, &p->n_entries, sizeof *p->entry, K);
    tarry__archive_array(a, &p->tally, &n_tally, sizeof *p->tally, K);
    tarry__archive_array(a, &p->entry_of, &n_entries, sizeof *p->entry_of, K);
    tarry__archive_array(a, &ph->estimates, &n_estimates, sizeof *ph->estimates,
                         K);
    archive_live(p, a);
    tarry__archive_require(a, n_tally == p->n_entries && n_entries == K &&
                                  n_estimates == K);
}

static void archive_books(tarry__phased *ph, tarry__archive *a)
{
    uint32_t keeps_books = ph->keeps_books;
    tarry__archive_field(a, keeps_books);
    if (a->status != TARRY_OK || !keeps_books)
        return;
    tarry__books_archive(&ph->books, ph->problem, a);
    if (a->status == TARRY_OK)
        tarry__guide_archive(&ph->guide, ph->problem, ph->plan.active,
                             ph->plan.n_active, a);
    ph->choices.guided = tarry__guide_is_open(&ph->guide);
    tarry__archive_require(
        a, tarry__phased_rule_of(ph->algorithm, &ph->choices) != NULL);
}

void tarry__phased_archive(void *state, const tarry__policy_type *type,
                           const tarry__policy_problem *problem,
                           tarry__archive *a)
{
    tarry__phased *ph = state;
    ph->algorithm = type->rule;
    ph->problem = problem;
    archive_numbers(ph, a);
    archive_arrays(ph, a);
    /* checked before the guide, which relies on the active arms */
    tarry__archive_require(a, a->status == TARRY_OK && is_sound(ph));
    if (a->status == TARRY_OK)
        archive_books(ph, a);
    tarry__archive_field(a, ph->chance);
    tarry__archive_field(a, ph->choices.confidence);
    tarry__archive_field(a, ph->n_known);
    tarry__archive_field(a, ph->changed);
    tarry__archive_field(a, ph->ordinal);
    tarry__archive_field(a, ph->restarts);
    tarry__archive_field(a, ph->n_bases);
    tarry__archive_field(a, ph->tried);
    tarry__archive_field(a, ph->entered);
    tarry__archive_require(
        a, ph->n_known <= problem->n_arms && ph->ordinal >= ph->phase &&
               (ph->changed || ph->n_known == problem->n_arms));
    if (a->loading && a->status == TARRY_OK)
        tarry__archive_require(a, ph->changed <= 1 && is_sound_list(ph) &&
                                      is_sound_choice(ph, a->depth > 0));
    tarry__archive_require(a, ph->choices.confidence >= 0 &&
                                  ph->choices.confidence < 1);
    tarry__archive_require(a, ph->chance <= 1 &&
                                  (ph->chance >= 0 || ph->choices.guided));
    if (a->loading && a->status == TARRY_OK)
        derive(ph, a);
}
