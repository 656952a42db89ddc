/* run.c - plays one policy in one world, round by round.
 *
 * The luck of some hundred rounds is drawn at once, as vectors; what follows
 * per round is the choice, a loss and a delay for the arm chosen, and the
 * feedback that is due at the end of the round.  The policy is driven through
 * its type, without the table of open rounds that policy.c keeps: the wheel
 * knows what is outstanding. */
#include "sim/sim.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "env/report.h"
#include "env/world.h"
#include "policy/open_rounds.h"
#include "policy/shares.h"
#include "sim/own_policy.h"
#include "sim/wheel.h"

enum { BLOCK = 256, PAST = 32, ROUND_BITS = 40 };

typedef struct {
    const tarry__sim_trial *trial;
    tarry__sim_outcome *outcome;
    tarry__world *world;
    tarry__report report;
    tarry__default_rule rule; /* of outcomes that are not reported */
    double *gap;              /* per arm, of this round */
    uint64_t best_plays;      /* in the second half */
    const tarry__policy_type *type;
    tarry__policy_problem problem;
    tarry__policy_edge edge;
    void *state;
    const uint64_t *phase; /* the policy's counter; NULL: it has none */
    uint64_t seen_phase, phase_start;
    uint64_t phase_designated;
    bool ended;              /* by the trial's phase_ended */
    tarry__wheel wheel;      /* on its way, with delays */
    tarry__open_rounds held; /* by the adversary: round to arm */
    size_t *plan_arm;        /* the plan as the adversary sees it */
    double *plan_weight;
    uint64_t *plan_target;
    size_t n_plan, room_plan;
    uint64_t uses[3];     /* losses by tarry__policy_use */
    uint64_t outstanding; /* plays whose loss has not been seen */
    double sigma_sum, regret;
    double u[BLOCK], x[BLOCK];
    uint64_t past; /* luck of rounds past .. past + PAST - 1; 0: none */
    double past_u[PAST], past_x[PAST];
} game;

/* ---- opening --------------------------------------------------------------*/

tarry_status tarry__sim_policy_check(const char *text, tarry_error *error)
{
    tarry__policy_description d;
    const tarry_status status =
        tarry__policy_read(text, NULL, TARRY__POLICY_ANY_DELAYS, &d, error);
    if (status == TARRY_OK)
        tarry__policy_description_clear(&d);
    return status;
}

tarry__policy_delays tarry__sim_delays(const tarry__world *world,
                                       const tarry__sim_reports *reports)
{
    if (reports != NULL &&
        (reports->report != NULL || reports->default_outcome != NULL))
        return TARRY__POLICY_ANY_DELAYS;
    if (world->adversary == NULL && world->delay.type == &tarry__delay_payoff)
        return TARRY__POLICY_AS_PAYOFF;
    switch (tarry__world_model(world)) {
    case TARRY__ENV_STOCHASTIC:
    case TARRY__ENV_STOCHASTIC_BY_ARM:
    case TARRY__ENV_ADVERSARIAL:
        return TARRY__POLICY_BY_CHANCE;
    case TARRY__ENV_ADVERSARIAL_BY_ARM:
        return TARRY__POLICY_BY_ADVERSARY;
    case TARRY__ENV_LOSS_DEPENDENT:
        break;
    }
    return TARRY__POLICY_ANY_DELAYS;
}

static tarry_status open_policy(game *g, tarry_error *error)
{
    tarry__policy_description d;
    tarry_status status = tarry__policy_read(
        g->trial->policy, NULL, tarry__sim_delays(g->world, &g->trial->reports),
        &d, error);
    if (status != TARRY_OK)
        return status;
    g->type = d.type;
    g->edge = d.edge;
    status = tarry__shares_check(&d.edge, g->problem.n_arms, error);
    if (d.edge.rule.declared)
        status = tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "%s: default_outcome belongs to the world, "
                                  "which tells it to all policies",
                                  g->trial->policy);
    else if (status == TARRY_OK)
        status = tarry__policy_open(&d, &g->problem, &g->state, error);
    tarry__policy_description_clear(&d);
    return status;
}

/* The rules of reports; a default replaces what an adversary holds only if
 * there is none. */
static tarry_status open_reports(game *g, tarry_error *error)
{
    const tarry__sim_reports *r = &g->trial->reports;
    const char *text = r->default_outcome != NULL ? r->default_outcome : "";
    tarry_status status = tarry__report_read(r->report, &g->report, error);
    if (status == TARRY_OK)
        status = tarry__default_read(text, &g->rule, error);
    if (status == TARRY_OK && g->rule.ms > 0)
        status = tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "default_outcome: worlds have rounds and no "
                                  "clock, as in 0/500r: '%s'",
                                  text);
    if (status == TARRY_OK && g->world->adversary != NULL &&
        (g->rule.declared || !tarry__report_is_all(&g->report)))
        status = tarry__base_fail(error, TARRY_BAD_INPUT,
                                  "report and default_outcome go with a delay, "
                                  "not with an adversary: '%s'",
                                  g->trial->delay);
    g->problem.default_outcome =
        (tarry__policy_default){.declared = g->rule.declared,
                                .final = g->rule.final,
                                .loss = g->rule.value,
                                .after = g->rule.rounds};
    return status;
}

static void find_gaps(game *g)
{
    const tarry__instance *instance = &g->world->instance;
    for (size_t k = 0; k < instance->n_arms; k++)
        g->gap[k] = instance->mean[k] - instance->best_mean;
}

static tarry_status open_game(game *g, tarry_error *error)
{
    const tarry__sim_trial *t = g->trial;
    tarry_status status =
        tarry__world_make(t->own_world, t->instance, t->loss, t->delay, t->seed,
                          t->run, &g->world, error);
    if (status != TARRY_OK)
        return status;
    const tarry__instance *instance = &g->world->instance;
    g->gap = tarry__base_alloc(instance->n_arms, sizeof *g->gap);
    if (g->gap == NULL)
        return TARRY_NO_MEMORY;
    find_gaps(g);
    g->problem = (tarry__policy_problem){.n_arms = instance->n_arms,
                                         .dim = instance->dim,
                                         .arms = instance->arms,
                                         .horizon = t->horizon,
                                         .seed = t->seed,
                                         .run = t->run,
                                         .means = instance->mean};
    status = tarry__wheel_create(&g->wheel);
    if (status == TARRY_OK)
        status = open_reports(g, error);
    if (status == TARRY_OK)
        status = t->own_policy != NULL
                     ? tarry__own_policy_open(t->own_policy, &g->problem,
                                              &g->type, &g->state, error)
                     : open_policy(g, error);
    if (status == TARRY_OK)
        status = tarry__policy_check_default(g->type, t->policy, &g->rule, -1,
                                             1, error);
    if (status == TARRY_OK && g->type->phase != NULL)
        g->phase = g->type->phase(g->state);
    return status;
}

static void close_game(game *g)
{
    tarry__policy_close(g->type, g->state);
    tarry__base_free(g->plan_weight);
    tarry__base_free(g->plan_target);
    tarry__base_free(g->plan_arm);
    tarry__open_clear(&g->held);
    tarry__wheel_clear(&g->wheel);
    tarry__base_free(g->gap);
    tarry__world_free(g->world);
}

/* ---- phases ---------------------------------------------------------------*/

static uint64_t planned(const tarry_policy_status *status)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < status->n_plan; i++)
        sum += status->plan[i].target;
    return sum;
}

/* The plan as arrays, for the adversary. */
static tarry_status show_plan(game *g, const tarry_policy_status *status)
{
    if (status->n_plan > g->room_plan) {
        tarry__base_free(g->plan_arm);
        tarry__base_free(g->plan_weight);
        tarry__base_free(g->plan_target);
        g->plan_target =
            tarry__base_alloc(status->n_plan, sizeof *g->plan_target);
        g->plan_arm = tarry__base_alloc(status->n_plan, sizeof *g->plan_arm);
        g->plan_weight =
            tarry__base_alloc(status->n_plan, sizeof *g->plan_weight);
        g->room_plan = status->n_plan;
        if (g->plan_arm == NULL || g->plan_weight == NULL ||
            g->plan_target == NULL)
            return TARRY_NO_MEMORY;
    }
    g->n_plan = status->n_plan;
    for (size_t i = 0; i < status->n_plan; i++) {
        g->plan_arm[i] = status->plan[i].arm;
        g->plan_weight[i] = status->plan[i].weight;
        g->plan_target[i] = status->plan[i].target;
    }
    return TARRY_OK;
}

/* The policy has begun a new phase with the choice of this round. */
static tarry_status log_phase(game *g, uint64_t round)
{
    tarry_policy_status status = {0};
    tarry__sim_outcome *o = g->outcome;
    g->type->status(g->state, &status);
    if (g->seen_phase > 0) {
        if (o->n_phases++ < TARRY__SIM_MAX_PHASES)
            o->phase[o->n_phases - 1] = (tarry__sim_phase){
                round - g->phase_start, g->phase_designated, status.n_active};
        g->ended = g->trial->phase_ended != NULL &&
                   g->trial->phase_ended(g->trial->phase_context, &status);
    }
    if (g->trial->phase_began != NULL)
        g->trial->phase_began(g->trial->phase_context, &status);
    g->seen_phase = *g->phase;
    g->phase_start = round;
    g->phase_designated = planned(&status);
    return g->world->adversary != NULL ? show_plan(g, &status) : TARRY_OK;
}

/* ---- feedback -------------------------------------------------------------*/

/* What is seen when the default was seen before replaces it. */
static void see(game *g, uint64_t round, size_t arm, double loss)
{
    if (g->rule.declared && g->outcome->rounds - round > g->rule.rounds) {
        g->type->revise(g->state, round, arm, g->rule.value, loss);
        return;
    }
    g->outstanding--;
    if (g->outcome->first_seen == 0)
        g->outcome->first_seen = g->outcome->rounds;
    if (g->trial->seen != NULL)
        g->trial->seen(g->trial->phase_context, round, arm, loss);
    g->uses[g->type->observe(g->state, round, arm, loss)]++;
}

/* What is due at the end of this round. */
static tarry_status see_due(game *g)
{
    const uint64_t mask = (1ull << ROUND_BITS) - 1;
    uint32_t i, last = 0;
    uint64_t count = 0;
    const tarry_status status = tarry__wheel_step(&g->wheel, &i);
    for (; i != 0; count++) {
        const tarry__wheel_node *node = tarry__wheel_at(&g->wheel, i);
        see(g, node->event.round & mask, node->event.round >> ROUND_BITS,
            node->event.loss);
        last = i;
        i = node->next;
    }
    if (count > 0)
        tarry__wheel_done(&g->wheel, last, count);
    return status;
}

/* What would come after the end of the game is not kept. */
static tarry_status send(game *g, uint64_t round, size_t arm, double loss,
                         uint64_t delay)
{
    if (delay == 0 || delay > g->trial->horizon - round)
        return TARRY_OK;
    return tarry__wheel_add(
        &g->wheel,
        (tarry__wheel_event){round + delay, round | (uint64_t)arm << ROUND_BITS,
                             loss});
}

/* Delays: the loss goes on its way, then what is due is seen, that of this very
 * round last.  A loss that takes longer than the age of the default comes
 * behind it, as a correction. */
static tarry_status deliver(game *g, uint64_t round, size_t arm, double u,
                            double x)
{
    double loss = tarry__world_loss(g->world, arm, u, x);
    uint64_t delay = tarry__world_delay(g->world, round, arm, loss, x);
    tarry_status status = TARRY_OK;
    if (!tarry__report_passes(&g->report, loss, delay))
        delay = TARRY__DELAY_NEVER;
    g->outcome->lost += delay == TARRY__DELAY_NEVER;
    if (g->rule.declared && delay > g->rule.rounds) {
        if (!g->rule.final)
            status = send(g, round, arm, loss, delay);
        loss = g->rule.value;
        delay = g->rule.rounds;
    }
    if (status == TARRY_OK)
        status = send(g, round, arm, loss, delay);
    if (status == TARRY_OK)
        status = see_due(g);
    if (delay == 0)
        see(g, round, arm, loss);
    return status;
}

/* The loss of a play that an adversary gives free.  Those that were held often
 * come one after the other. */
static double held_loss(game *g, uint64_t round, size_t arm)
{
    const uint64_t from = g->outcome->rounds / BLOCK * BLOCK;
    if (round >= from)
        return tarry__world_loss(g->world, arm, g->u[round - from],
                                 g->x[round - from]);
    if (g->past == 0 || round < g->past || round >= g->past + PAST) {
        g->past = round;
        tarry__world_prepare(g->world, round, PAST, g->past_u, g->past_x);
    }
    return tarry__world_loss(g->world, arm, g->past_u[round - g->past],
                             g->past_x[round - g->past]);
}

/* An adversary: it sees the choice and the plan, the loss only if its record
 * says so, and names the rounds whose losses are seen now. */
static tarry_status deliver_held(game *g, uint64_t round, size_t arm)
{
    const bool sees = tarry__adversary_kind(g->world->adversary)->by_loss;
    const tarry__adversary_view view = {.round = round,
                                        .phase = g->seen_phase,
                                        .n_plan = g->n_plan,
                                        .plan_arm = g->plan_arm,
                                        .plan_weight = g->plan_weight,
                                        .plan_target = g->plan_target,
                                        .loss = sees ? held_loss(g, round, arm)
                                                     : NAN};
    const uint64_t *released;
    bool held = true; /* this very play */
    if (tarry__open_reserve(&g->held) != TARRY_OK)
        return TARRY_NO_MEMORY;
    const size_t count =
        tarry__adversary_play(g->world->adversary, &view, arm, &released);
    for (size_t i = 0; i < count; i++) {
        uint32_t played = (uint32_t)arm;
        if (released[i] == round) {
            held = false;
        } else {
            tarry__open_find(&g->held, released[i], &played);
            tarry__open_remove(&g->held, released[i]);
        }
        see(g, released[i], played, held_loss(g, released[i], played));
    }
    if (held)
        tarry__open_add(&g->held, round, (uint32_t)arm);
    return TARRY_OK;
}

/* ---- rounds ---------------------------------------------------------------*/

static tarry_status play(game *g, uint64_t round, double u, double x)
{
    size_t arm;
    if (tarry__instance_move(&g->world->instance, round))
        find_gaps(g);
    g->sigma_sum += (double)g->outstanding;
    if (g->outstanding > g->outcome->sigma_max)
        g->outcome->sigma_max = g->outstanding;
    tarry__shares_choice last;
    tarry_status status = tarry__shares_choose(&g->edge, g->type, g->state,
                                               &g->problem, round, &last, &arm);
    if (status != TARRY_OK)
        return status;
    if (g->phase != NULL && *g->phase != g->seen_phase &&
        ((status = log_phase(g, round)) != TARRY_OK || g->ended))
        return status;
    if (g->trial->played != NULL)
        g->trial->played(g->trial->phase_context, round, arm);
    g->outcome->rounds = round;
    g->regret += g->gap[arm];
    g->best_plays += g->gap[arm] <= 0 && round > g->trial->horizon / 2;
    g->outstanding++;
    return g->world->adversary == NULL ? deliver(g, round, arm, u, x)
                                       : deliver_held(g, round, arm);
}

/* Rounds first .. last, all within one block of luck. */
static tarry_status play_rounds(game *g, uint64_t first, uint64_t last)
{
    const uint64_t from = first / BLOCK * BLOCK;
    tarry_status status = TARRY_OK;
    for (uint64_t t = first; status == TARRY_OK && !g->ended && t <= last; t++)
        status = play(g, t, g->u[t - from], g->x[t - from]);
    return status;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void mark_curve(game *g, size_t mark)
{
    tarry__sim_outcome *o = g->outcome;
    size_t arm = 0;
    o->curve[mark] = g->regret;
    o->certificate[mark] = NAN;
    if (g->type->certify == NULL ||
        g->type->certify(g->state, &arm, &o->certificate[mark]) != TARRY_OK)
        return;
    o->exploit_gap[mark] = g->gap[arm];
}

/* Blocks of luck start at multiples of their size, so that a round's luck does
 * not depend on where curves are recorded. */
static tarry_status play_all(game *g)
{
    const tarry__sim_trial *trial = g->trial;
    tarry_status status = TARRY_OK;
    size_t mark = 0; /* in the grid */
    for (uint64_t t = 1;
         status == TARRY_OK && !g->ended && t <= trial->horizon;) {
        const uint64_t from = t / BLOCK * BLOCK;
        if (t == 1 || t == from)
            tarry__world_prepare(g->world, from, BLOCK, g->u, g->x);
        uint64_t last = least(from + BLOCK - 1, trial->horizon);
        if (mark < trial->n_grid)
            last = least(last, trial->grid[mark]);
        status = play_rounds(g, t, last);
        if (status == TARRY_OK)
            status = tarry__world_failure(g->world);
        if (mark < trial->n_grid && last == trial->grid[mark] && !g->ended)
            mark_curve(g, mark++);
        if (status == TARRY_OK && trial->tick != NULL &&
            trial->tick(trial->tick_context, last - t + 1))
            status = TARRY_CANCELLED;
        t = last + 1;
    }
    return status;
}

/* ---- the outcome ----------------------------------------------------------*/

/* Whether an arm as good as the best is still active. */
static bool keeps_best(const game *g, const tarry_policy_status *status)
{
    if (status->n_active == 0) /* the policy never eliminates */
        return true;
    for (size_t i = 0; i < status->n_active; i++)
        if (g->gap[status->active[i]] <= 0)
            return true;
    return false;
}

static void conclude(game *g)
{
    tarry__sim_outcome *o = g->outcome;
    tarry_policy_status status = {0};
    g->type->status(g->state, &status);
    o->regret = g->regret;
    o->best_share =
        (double)g->best_plays / (double)(o->rounds - g->trial->horizon / 2);
    o->sigma_mean = g->sigma_sum / (double)o->rounds;
    o->sigma_final = g->outstanding;
    o->used = g->uses[TARRY__POLICY_USED];
    o->ignored = g->uses[TARRY__POLICY_IGNORED];
    o->late = g->uses[TARRY__POLICY_LATE];
    o->active = status.n_active > 0 ? status.n_active : g->problem.n_arms;
    o->best_kept = keeps_best(g, &status);
}

/* Whose fault it is. */
static void explain(const game *g, tarry_status status, tarry_error *error)
{
    const tarry__sim_trial *t = g->trial;
    if (t->own_policy != NULL &&
        tarry__own_policy_failure(g->state, error) != TARRY_OK)
        return;
    tarry__base_fail(error, status, "%s: %s",
                     tarry__world_failure(g->world) != TARRY_OK ? t->delay
                                                                : t->policy,
                     tarry_status_text(status));
}

tarry_status tarry__sim_run(const tarry__sim_trial *trial,
                            tarry__sim_outcome *outcome, tarry_error *error)
{
    const double start = tarry__base_seconds();
    game *g = tarry__base_zalloc(1, sizeof *g);
    memset(outcome, 0, sizeof *outcome);
    if (g == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    g->trial = trial;
    g->outcome = outcome;
    tarry_status status = open_game(g, error);
    if (status == TARRY_NO_MEMORY) /* not all say so */
        tarry__base_fail(error, status, "out of memory");
    if (status == TARRY_OK) {
        status = play_all(g);
        if (status == TARRY_OK && trial->own_policy != NULL)
            status = tarry__own_policy_failure(g->state, error);
        if (status == TARRY_OK)
            conclude(g);
        else
            explain(g, status, error);
    }
    close_game(g);
    tarry__base_free(g);
    outcome->seconds = tarry__base_seconds() - start;
    return status;
}

tarry_status tarry__sim_check(const tarry__sim_trial *trial, tarry_error *error)
{
    game *g = tarry__base_zalloc(1, sizeof *g);
    if (g == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    g->trial = trial;
    const tarry_status status = open_game(g, error);
    if (status == TARRY_NO_MEMORY)
        tarry__base_fail(error, status, "out of memory");
    close_game(g);
    tarry__base_free(g);
    return status;
}
