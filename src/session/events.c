/* events.c - what can happen in an experiment, each staged as an event. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "base/json.h"
#include "base/writer.h"
#include "policy/policy_type.h"
#include "session/inner.h"
#include "session/moves.h"
#include "session/refusals.h"

const char *tarry__session_result_name(tarry__session_result result)
{
    static const char *const names[] = {"ok", "late", "duplicate", "corrected"};
    return names[result];
}

/* ---- ids ------------------------------------------------------------------*/

/* Whether a text is an id that this experiment gave. */
static bool is_generated(const tarry__session *s, const char *id,
                         uint64_t *round)
{
    const size_t length = strlen(s->made->prefix);
    return strncmp(id, s->made->prefix, length) == 0 &&
           tarry__names_is_number(id + length, round) && *round > 0;
}

/* A number, or one behind a colon: so generated ids look in any experiment. */
static bool looks_generated(const char *id)
{
    const char *colon = strrchr(id, ':');
    const char *digits = colon != NULL ? colon + 1 : id;
    return *digits != '\0' && digits[strspn(digits, "0123456789")] == '\0';
}

static tarry_status check_own(const char *id, tarry_error *error)
{
    const size_t length = strlen(id);
    size_t good = 0;
    while (id[good] > ' ' && id[good] <= '~')
        good++;
    if (length == 0 || length > TARRY__SESSION_MOST_ID || good != length)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "an id must be 1 to %d printable ASCII "
                                "characters without blanks; got \"%.100s\"",
                                TARRY__SESSION_MOST_ID, id);
    if (looks_generated(id))
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "an id of your own must not end like those "
                                "that tarry generates, with a number alone or "
                                "behind a colon; got \"%.100s\"",
                                id);
    return TARRY_OK;
}

bool tarry__session_may_be_own(const char *id)
{
    return check_own(id, NULL) == TARRY_OK;
}

/* The round of the user's own id, staged or stored; 0: not of here. */
static tarry_status find_own(tarry__session *s, const char *id, uint64_t *round,
                             bool *elsewhere, tarry_error *error)
{
    uint64_t experiment, at;
    bool found;
    *round = 0;
    *elsewhere = false;
    if (tarry__texts_find(&s->own, id, &at)) {
        *round = s->staged[at].round;
        return TARRY_OK;
    }
    const tarry_status status =
        tarry__store_look_id(s->store, id, &experiment, round, &found, error);
    *elsewhere = found && experiment != s->experiment;
    if (!found || *elsewhere)
        *round = 0;
    return status;
}

/* A staged event of a round; NULL: there is none. */
static const tarry__store_event *find_staged(const tarry__session *s,
                                             tarry__store_event_kind kind,
                                             uint64_t round)
{
    size_t i = s->n_staged > 0 ? s->chains[round % s->room] : 0;
    while (i > 0 &&
           (s->staged[i - 1].kind != kind || s->staged[i - 1].round != round))
        i = s->chains[s->room + i - 1];
    return i > 0 ? &s->staged[i - 1] : NULL;
}

/* An event of a round, staged or stored. */
static tarry_status look(tarry__session *s, tarry__store_event_kind kind,
                         uint64_t round, tarry__store_event *event, char *id,
                         bool *found, tarry_error *error)
{
    const tarry__store_event *staged = find_staged(s, kind, round);
    *found = staged != NULL;
    if (staged != NULL)
        *event = *staged;
    if (staged != NULL && id != NULL && staged->text != NULL)
        strcpy(id, staged->text);
    return staged != NULL ? TARRY_OK
                          : tarry__store_look(s->store, s->experiment, kind,
                                              round, event, id, found, error);
}

/* A round that has an id of the user's has no other: *round is 0 then. */
static tarry_status check_generated(tarry__session *s, uint64_t *round,
                                    tarry_error *error)
{
    tarry__store_event e;
    char own[TARRY__STORE_ID_ROOM] = "";
    bool found;
    if (!s->has_own_ids)
        return TARRY_OK;
    const tarry_status status =
        look(s, TARRY__STORE_CHOOSE, *round, &e, own, &found, error);
    if (own[0] != '\0')
        *round = 0;
    return status;
}

/* The round that an id stands for. */
static tarry_status resolve(tarry__session *s, const char *id, uint64_t *round,
                            tarry_error *error)
{
    bool elsewhere;
    tarry_status status = TARRY_OK;
    if (is_generated(s, id, round))
        status = check_generated(s, round, error);
    else if (check_own(id, NULL) == TARRY_OK)
        status = find_own(s, id, round, &elsewhere, error);
    else
        *round = 0;
    return status == TARRY_OK && *round == 0
               ? tarry__refusals_unknown(s->made, id, error)
               : status;
}

void tarry__session_id(const tarry__session *s, uint64_t round,
                       char id[TARRY__SESSION_ID_ROOM])
{
    const size_t most = TARRY__SESSION_ID_ROOM - TARRY__WRITER_DIGITS - 1;
    const size_t length = strnlen(s->made->prefix, most);
    memcpy(id, s->made->prefix, length);
    id[length + tarry__writer_digits(round, id + length)] = '\0';
}

/* ---- choosing -------------------------------------------------------------*/

/* The same answer as before. */
static tarry_status repeat(tarry__session *s, uint64_t round,
                           tarry__session_choice_made *out, tarry_error *error)
{
    tarry__store_event e;
    bool found;
    const tarry_status status =
        look(s, TARRY__STORE_CHOOSE, round, &e, NULL, &found, error);
    if (status == TARRY_OK && !found)
        return tarry__base_fail(error, TARRY_BAD_STATE,
                                "experiment \"%.100s\": the store has lost "
                                "decision %ju",
                                s->made->name, (uintmax_t)round);
    if (status == TARRY_OK)
        *out = (tarry__session_choice_made){round, e.arm, e.value, e.at, true};
    return status;
}

static tarry_status choose(tarry__session *s, const char *id, int64_t now,
                           tarry__session_choice_made *out, tarry_error *error)
{
    const char *kept = NULL;
    if (id != NULL &&
        tarry__texts_add(&s->own, id, s->n_staged, &kept) != TARRY_OK)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    out->repeated = false;
    const tarry_status status =
        tarry_policy_choose(s->policy, &out->round, &out->arm);
    if (status != TARRY_OK) {
        if (id != NULL)
            tarry__texts_remove(&s->own, id);
        return tarry__refusals_choice(s->made, status, error);
    }
    if (s->is_silent)
        out->probability = 0;
    else if (tarry_policy_probability(s->policy, &out->probability) != TARRY_OK)
        out->probability = 1; /* chance has no part after the horizon */
    s->has_own_ids = s->has_own_ids || id != NULL;
    tarry__session_stage(s,
                         (tarry__store_event){.kind = TARRY__STORE_CHOOSE,
                                              .round = out->round,
                                              .arm = out->arm,
                                              .value = out->probability,
                                              .text = kept},
                         now);
    out->at = s->last_at;
    return TARRY_OK;
}

/* The default outcome, if the round is outstanding; after ready. */
static tarry_status apply_default(tarry__session *s, uint64_t round,
                                  int64_t now, tarry_error *error)
{
    if (!tarry__policy_is_pending(s->policy, round))
        return TARRY_OK;
    const tarry_status status = tarry_policy_apply_default(s->policy, round);
    if (status != TARRY_OK)
        return tarry__base_fail(error, status, "%s", tarry_status_text(status));
    tarry__session_stage(
        s,
        (tarry__store_event){.kind = TARRY__STORE_DEFAULT,
                             .round = round,
                             .value = tarry__policy_rule(s->policy)->value},
        now);
    return TARRY_OK;
}

/* A rule of rounds: what the policy would do by itself becomes an event. */
static tarry_status apply_due_default(tarry__session *s, int64_t now,
                                      tarry_error *error)
{
    const uint64_t round = tarry__policy_due_default(s->policy);
    const tarry_status status =
        round > 0 ? apply_default(s, round, now, error) : TARRY_OK;
    return status == TARRY_OK ? tarry__session_ready(s, error) : status;
}

/* An id that nobody has, or NULL. */
static tarry_status choose_next(tarry__session *s, const char *id, int64_t now,
                                tarry__session_choice_made *out,
                                tarry_error *error)
{
    if (s->is_paused)
        return tarry__base_fail(error, TARRY_CANCELLED,
                                "experiment \"%.100s\" is paused; resume it "
                                "first",
                                s->made->name);
    tarry_status status = tarry__session_expire_old(s, now, error);
    if (status == TARRY_OK)
        status = tarry__session_ready(s, error); /* room again */
    if (status == TARRY_OK)
        status = apply_due_default(s, now, error);
    return status == TARRY_OK ? choose(s, id, now, out, error) : status;
}

tarry_status tarry__session_choose(tarry__session *s, const char *id,
                                   int64_t now, tarry__session_choice_made *out,
                                   tarry_error *error)
{
    uint64_t round = 0;
    bool elsewhere = false;
    tarry_status status = tarry__session_ready(s, error);
    if (status == TARRY_OK && id != NULL)
        status = check_own(id, error);
    if (status == TARRY_OK && id != NULL)
        status = find_own(s, id, &round, &elsewhere, error);
    if (status == TARRY_OK && elsewhere)
        status = tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                  "id \"%.100s\" belongs to a decision of "
                                  "another experiment in this store",
                                  id);
    if (status != TARRY_OK)
        return status;
    return round != 0 ? repeat(s, round, out, error)
                      : choose_next(s, id, now, out, error);
}

tarry_status tarry__session_choose_new(tarry__session *s, const char *id,
                                       int64_t now,
                                       tarry__session_choice_made *out,
                                       tarry_error *error)
{
    tarry_status status = tarry__session_ready(s, error);
    if (status == TARRY_OK)
        status = check_own(id, error);
    return status == TARRY_OK ? choose_next(s, id, now, out, error) : status;
}

tarry_status tarry__session_chosen(tarry__session *s, const char *id,
                                   tarry__session_choice_made *out,
                                   tarry_error *error)
{
    uint64_t round;
    tarry_status status = tarry__session_ready(s, error);
    if (status == TARRY_OK)
        status = resolve(s, id, &round, error);
    return status == TARRY_OK ? repeat(s, round, out, error) : status;
}

/* ---- the fates of a choice ------------------------------------------------*/

/* A round whose fate is known: the same loss again is harmless. */
static tarry_status compare(tarry__session *s, const char *id, uint64_t round,
                            double loss, tarry__session_result *result,
                            tarry_error *error)
{
    tarry__store_event e;
    bool found;
    if (!(loss >= s->made->low && loss <= s->made->high))
        return tarry__refusals_range(s->made, id, loss, error);
    tarry_status status =
        look(s, TARRY__STORE_OBSERVE, round, &e, NULL, &found, error);
    if (status == TARRY_OK && found && e.value == loss) {
        *result = TARRY__SESSION_DUPLICATE;
        return TARRY_OK;
    }
    if (status == TARRY_OK && found)
        return tarry__refusals_other(s->made, id, e.value, loss, error);
    if (status == TARRY_OK)
        status = look(s, TARRY__STORE_CANCEL, round, &e, NULL, &found, error);
    if (status != TARRY_OK)
        return status;
    return tarry__refusals_decision(s->made, TARRY_REPORTED_TWICE, id,
                                    found ? "was cancelled: it takes no outcome"
                                          : "has been reported or cancelled",
                                    error);
}

tarry_status tarry__session_tell(tarry__session *s, uint64_t round, double loss)
{
    size_t arm = 0;
    tarry__policy_open_arm(s->policy, round, &arm);
    const tarry_status status = tarry_policy_observe(s->policy, round, loss);
    if (tarry__moves_is_taken(status))
        tarry__watch_observe(s->watch, arm, round,
                             tarry__policy_round(s->policy), loss);
    return status;
}

/* What the policy has said to an id that was found. */
static tarry_status refuse_id(const tarry__session *s, tarry_status status,
                              const char *id, tarry_error *error)
{
    if (status == TARRY_UNKNOWN_ROUND) /* a number that is yet to come */
        return tarry__refusals_unknown(s->made, id, error);
    if (status == TARRY_NO_MEMORY)
        return tarry__base_fail(error, status, "out of memory");
    return tarry__refusals_decision(
        s->made, status, id,
        status == TARRY_REPORTED_TWICE ? "has been reported or cancelled"
        : status == TARRY_EXPIRED      ? "has expired already"
                                       : tarry_status_text(status),
        error);
}

/* A report that comes after the time of the default, which was not applied yet,
 * comes behind it. */
static tarry_status apply_if_old(tarry__session *s, uint64_t round, int64_t now,
                                 tarry_error *error)
{
    tarry__store_event e;
    bool found;
    const tarry__default_rule *rule = tarry__policy_rule(s->policy);
    if (rule->ms == 0 || !tarry__policy_is_pending(s->policy, round))
        return TARRY_OK;
    tarry_status status =
        look(s, TARRY__STORE_CHOOSE, round, &e, NULL, &found, error);
    if (status != TARRY_OK || !found || now - e.at < rule->ms)
        return status;
    status = apply_default(s, round, now, error);
    return status == TARRY_OK ? tarry__session_ready(s, error) : status;
}

tarry_status tarry__session_observe(tarry__session *s, const char *id,
                                    double loss, int64_t now,
                                    tarry__session_result *result,
                                    tarry_error *error)
{
    uint64_t round;
    tarry_status status = tarry__session_ready(s, error);
    if (status == TARRY_OK)
        status = resolve(s, id, &round, error);
    if (status != TARRY_OK)
        return status;
    loss += 0.0; /* no negative zero, which a database does not keep */
    if ((status = apply_if_old(s, round, now, error)) != TARRY_OK)
        return status;
    status = tarry__session_tell(s, round, loss);
    if (status == TARRY_REPORTED_TWICE)
        return compare(s, id, round, loss, result, error);
    if (status == TARRY_BAD_LOSS)
        return tarry__refusals_range(s->made, id, loss, error);
    if (!tarry__moves_is_taken(status))
        return refuse_id(s, status, id, error);
    *result = status == TARRY_OK          ? TARRY__SESSION_OK
              : status == TARRY_CORRECTED ? TARRY__SESSION_CORRECTED
                                          : TARRY__SESSION_LATE;
    tarry__session_stage(s,
                         (tarry__store_event){.kind = TARRY__STORE_OBSERVE,
                                              .round = round,
                                              .value = loss},
                         now);
    return TARRY_OK;
}

static tarry_status settle(tarry__session *s, const char *id,
                           tarry__store_event_kind kind, int64_t now,
                           tarry_error *error)
{
    uint64_t round;
    tarry_status status = tarry__session_ready(s, error);
    if (status == TARRY_OK)
        status = resolve(s, id, &round, error);
    if (status != TARRY_OK)
        return status;
    status = kind == TARRY__STORE_CANCEL
                 ? tarry_policy_cancel(s->policy, round)
                 : tarry_policy_expire(s->policy, round);
    if (status == TARRY_REPORTED_TWICE &&
        tarry__policy_has_default(s->policy, round))
        return tarry__refusals_decision(
            s->made, status, id, "has the default outcome already", error);
    if (status != TARRY_OK)
        return refuse_id(s, status, id, error);
    tarry__session_stage(s, (tarry__store_event){.kind = kind, .round = round},
                         now);
    return TARRY_OK;
}

tarry_status tarry__session_cancel(tarry__session *s, const char *id,
                                   int64_t now, tarry_error *error)
{
    return settle(s, id, TARRY__STORE_CANCEL, now, error);
}

tarry_status tarry__session_expire(tarry__session *s, const char *id,
                                   int64_t now, tarry_error *error)
{
    return settle(s, id, TARRY__STORE_EXPIRE, now, error);
}

/* ---- old choices ----------------------------------------------------------*/

/* The last round that is too old; asking the clock's way takes a search in the
 * store, so it is done at most once a second, by a clock that may go back. */
static tarry_status last_old(tarry__session *s, int64_t now, uint64_t *last,
                             tarry_error *error)
{
    const uint64_t round = tarry__policy_round(s->policy);
    *last = 0;
    if (s->old.rounds > 0 && round >= s->old.rounds)
        *last = round - s->old.rounds;
    const int64_t since = now - s->expiry_checked_at;
    if (s->old.ms == 0 || (since >= 0 && since < 1000))
        return TARRY_OK;
    s->expiry_checked_at = now;
    return tarry__store_round_at(s->store, s->experiment, now - s->old.ms, last,
                                 error);
}

static tarry_status give_up(tarry__session *s, uint64_t round, int64_t now,
                            tarry_error *error)
{
    if (tarry__policy_rule(s->policy)->declared)
        return apply_default(s, round, now, error);
    if (tarry__policy_is_pending(s->policy, round) &&
        tarry_policy_expire(s->policy, round) == TARRY_OK)
        tarry__session_stage(
            s,
            (tarry__store_event){.kind = TARRY__STORE_EXPIRE, .round = round},
            now);
    return TARRY_OK;
}

/* Getting ready may bring back what is stored, and the first old round: only
 * then it is said which one is next. */
tarry_status tarry__session_expire_old(tarry__session *s, int64_t now,
                                       tarry_error *error)
{
    uint64_t last;
    if ((s->old.ms == 0 && s->old.rounds == 0) || s->policy == NULL)
        return TARRY_OK;
    tarry_status status = last_old(s, now, &last, error);
    while (status == TARRY_OK && s->expired_to < last) {
        if (tarry__policy_is_pending(s->policy, s->expired_to + 1))
            status = tarry__session_ready(s, error);
        if (status == TARRY_OK)
            status = give_up(s, s->expired_to + 1, now, error);
        s->expired_to += status == TARRY_OK;
    }
    return status;
}

/* ---- arms -----------------------------------------------------------------*/

/* Whether arms have no features: each has a dimension of its own. */
static bool is_basis(const tarry__session *s)
{
    const tarry__policy_problem *q = tarry__policy_problem_of(s->policy);
    bool is = q->n_arms == q->dim;
    for (size_t i = 0; is && i < q->n_arms * q->dim; i++)
        is = q->arms[i] == (i % (q->dim + 1) == 0 ? 1 : 0);
    return is;
}

static tarry_status check_arm(const tarry__session *s, const char *name,
                              const double *features, size_t count,
                              tarry_error *error)
{
    size_t arm;
    if (!tarry__json_is_name(name))
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "an arm's name must be UTF-8 without control "
                                "characters, not empty; got \"%.100s\"",
                                name);
    if (tarry__names_find(&s->names, name, &arm) &&
        tarry__moves_has_arm(s->policy, arm))
        return tarry__refusals_arm(s->made, TARRY_BAD_ARGUMENT, name,
                                   "is there already", error);
    if (features == NULL)
        return is_basis(s)
                   ? TARRY_OK
                   : tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                      "an arm of experiment \"%.100s\" has %ju "
                                      "features; got none for arm \"%.100s\"",
                                      s->made->name, (uintmax_t)s->made->dim,
                                      name);
    if (tarry__policy_dim(s->policy) != s->made->dim)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "arms of experiment \"%.100s\" have no "
                                "features since one was admitted without; got "
                                "%zu for arm \"%.100s\"",
                                s->made->name, count, name);
    if (count != s->made->dim)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "an arm of experiment \"%.100s\" has %ju "
                                "features; got %zu for arm \"%.100s\"",
                                s->made->name, (uintmax_t)s->made->dim, count,
                                name);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(features[i]))
            return tarry__base_fail(error, TARRY_NOT_FINITE,
                                    "feature %zu of arm \"%.100s\" is not a "
                                    "finite number",
                                    i, name);
    if (tarry__policy_check_arms(features, 1, count, NULL) != TARRY_OK)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "the largest feature of arm \"%.100s\" is too "
                                "small or too large; scale all arms alike",
                                name);
    return TARRY_OK;
}

static void *copy_of(const void *from, size_t size)
{
    void *copy = tarry__base_alloc(size, 1);
    if (copy != NULL)
        memcpy(copy, from, size);
    return copy;
}

/* With copies of name and features, if there are any, which go to the event. */
static tarry_status admit(tarry__session *s, char *name, double *features,
                          int64_t now, tarry_error *error)
{
    size_t arm;
    if (name == NULL || tarry__names_add(&s->names, name) != TARRY_OK)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    const tarry_status status = tarry_policy_admit(s->policy, features, &arm);
    if (status != TARRY_OK) {
        tarry__names_drop_last(&s->names);
        return tarry__refusals_arm(
            s->made, status, name,
            status == TARRY_BAD_ARGUMENT
                ? "cannot be admitted: the policy takes no new arms, or it "
                  "would differ from another arm by rounding alone"
                : tarry_status_text(status),
            error);
    }
    tarry__session_stage(s,
                         (tarry__store_event){.kind = TARRY__STORE_ADMIT,
                                              .arm = arm,
                                              .text = name,
                                              .features = features},
                         now);
    return TARRY_OK;
}

tarry_status tarry__session_admit(tarry__session *s, const char *name,
                                  const double *features, size_t count,
                                  int64_t now, tarry_error *error)
{
    tarry_status status = tarry__session_ready(s, error);
    if (status == TARRY_OK)
        status = check_arm(s, name, features, count, error);
    if (status != TARRY_OK)
        return status;
    char *name_copy = copy_of(name, strlen(name) + 1);
    double *copy =
        features != NULL ? copy_of(features, count * sizeof *features) : NULL;
    status = (copy == NULL) == (features == NULL)
                 ? admit(s, name_copy, copy, now, error)
                 : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    if (status != TARRY_OK) {
        tarry__base_free(name_copy);
        tarry__base_free(copy);
    }
    return status;
}

tarry_status tarry__session_withdraw(tarry__session *s, const char *name,
                                     int64_t now, tarry_error *error)
{
    size_t arm;
    tarry_status status = tarry__session_ready(s, error);
    if (status != TARRY_OK)
        return status;
    if (!tarry__names_find(&s->names, name, &arm))
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "experiment \"%.100s\" has no arm \"%.100s\"",
                                s->made->name, name);
    status = tarry_policy_withdraw(s->policy, arm);
    if (status != TARRY_OK)
        return tarry__refusals_arm(
            s->made, status, name,
            status == TARRY_NO_SUCH_ARM ? "has been withdrawn already"
            : status == TARRY_BAD_ARGUMENT
                ? "cannot be withdrawn: it is the last one, or the policy "
                  "keeps its arms"
                : tarry_status_text(status),
            error);
    tarry__session_stage(
        s, (tarry__store_event){.kind = TARRY__STORE_WITHDRAW, .arm = arm},
        now);
    return TARRY_OK;
}

/* ---- pauses ---------------------------------------------------------------*/

tarry_status tarry__session_pause(tarry__session *s, bool pause, int64_t now,
                                  tarry_error *error)
{
    const tarry_status status = tarry__session_ready(s, error);
    if (status != TARRY_OK || s->is_paused == pause)
        return status;
    s->is_paused = pause;
    s->pauses += pause;
    tarry__session_stage(s,
                         (tarry__store_event){.kind = pause
                                                          ? TARRY__STORE_PAUSE
                                                          : TARRY__STORE_RESUME,
                                              .arm = s->pauses},
                         now);
    return TARRY_OK;
}

bool tarry__session_is_paused(const tarry__session *s)
{
    return s->is_paused;
}

/* ---- leases ---------------------------------------------------------------*/

tarry_status tarry__session_note_lease(tarry__session *s, uint64_t first,
                                       uint64_t count, int64_t now,
                                       tarry_error *error)
{
    const tarry_status status = tarry__session_ready(s, error);
    if (status == TARRY_OK)
        tarry__session_stage(s,
                             (tarry__store_event){.kind = TARRY__STORE_LEASE,
                                                  .arm = first,
                                                  .value = (double)count},
                             now);
    return status;
}

tarry_status tarry__session_lease_count(tarry__session *s, uint64_t first,
                                        uint64_t *count, tarry_error *error)
{
    static const tarry__store_event_kind kinds[] = {TARRY__STORE_LEASE,
                                                    TARRY__STORE_CUT};
    tarry__store_event e;
    bool found = false;
    tarry_status status = TARRY_OK;
    for (int i = 0; status == TARRY_OK && !found && i < 2; i++)
        status = tarry__store_look(s->store, s->experiment, kinds[i], first, &e,
                                   NULL, &found, error);
    *count = found ? (uint64_t)e.value : 0;
    return status;
}

/* ---- asking ---------------------------------------------------------------*/

tarry_status tarry__session_pending(tarry__session *s, size_t most,
                                    tarry_pending *out, size_t *listed,
                                    uint64_t *count, tarry_error *error)
{
    if (s->policy == NULL)
        return tarry__base_fail(error, TARRY_IO_ERROR,
                                "the store cannot be read");
    *count = tarry__policy_n_pending(s->policy);
    *listed = tarry_policy_pending(s->policy, out, most);
    return TARRY_OK;
}

uint64_t tarry__session_outstanding(tarry__session *s, int64_t now,
                                    double *oldest_seconds)
{
    tarry__store_event e;
    bool found;
    *oldest_seconds = 0;
    const uint64_t round =
        s->policy != NULL ? tarry__policy_oldest(s->policy) : 0;
    if (round == 0)
        return 0;
    if (round != s->oldest &&
        look(s, TARRY__STORE_CHOOSE, round, &e, NULL, &found, NULL) ==
            TARRY_OK &&
        found) {
        s->oldest = round;
        s->oldest_at = e.at;
    }
    if (round == s->oldest && now > s->oldest_at)
        *oldest_seconds = (double)(now - s->oldest_at) / 1000;
    return tarry__policy_n_pending(s->policy);
}

tarry_status tarry__session_describe(tarry__session *s, uint64_t round,
                                     int64_t now,
                                     tarry__session_description *out,
                                     tarry_error *error)
{
    tarry__store_event e = {0};
    char own[TARRY__STORE_ID_ROOM] = "";
    bool found;
    const tarry_status status =
        look(s, TARRY__STORE_CHOOSE, round, &e, own, &found, error);
    tarry__session_id(s, round, out->id);
    if (own[0] != '\0')
        snprintf(out->id, sizeof out->id, "%s", own);
    out->rounds = tarry__policy_round(s->policy) - round;
    out->seconds = found && now > e.at ? (double)(now - e.at) / 1000 : 0;
    return status;
}

double tarry__session_silent_seconds(tarry__session *s, int64_t now)
{
    tarry__session_description first = {.seconds = 0};
    if (s->policy == NULL || tarry__policy_n_pending(s->policy) == 0)
        return 0;
    const uint64_t since = tarry__policy_silent_since(s->policy);
    if (since > 0 &&
        tarry__session_describe(s, since + 1, now, &first, NULL) != TARRY_OK)
        return 0;
    return first.seconds;
}

tarry_status tarry__session_round(tarry__session *s, const char *id,
                                  uint64_t *round)
{
    return resolve(s, id, round, NULL);
}

tarry_status tarry__session_decided_at(tarry__session *s, const char *id,
                                       int64_t *at)
{
    tarry__store_event e;
    uint64_t round;
    bool found;
    tarry_status status = resolve(s, id, &round, NULL);
    if (status == TARRY_OK)
        status = look(s, TARRY__STORE_CHOOSE, round, &e, NULL, &found, NULL);
    if (status == TARRY_OK && !found)
        status = TARRY_UNKNOWN_ROUND;
    if (status == TARRY_OK)
        *at = e.at;
    return status;
}

bool tarry__session_has_ended(tarry__session *s, const char *id, bool cancelled)
{
    const tarry__store_event_kind kind =
        cancelled ? TARRY__STORE_CANCEL : TARRY__STORE_EXPIRE;
    tarry__store_event e;
    uint64_t round;
    bool found = false;
    return resolve(s, id, &round, NULL) == TARRY_OK &&
           look(s, kind, round, &e, NULL, &found, NULL) == TARRY_OK && found;
}

const char *tarry__session_arm_name(const tarry__session *s, size_t arm)
{
    return arm < s->names.count ? s->names.name[arm] : NULL;
}

json_t *tarry__session_arm_json(const tarry__session *s, size_t arm,
                                bool by_number)
{
    const char *name = by_number ? NULL : tarry__session_arm_name(s, arm);
    return name != NULL ? json_string(name) : json_integer((json_int_t)arm);
}

void tarry__session_tell_probability(tarry__session *s, bool tell)
{
    s->is_silent = !tell;
}

size_t tarry__session_dim(const tarry__session *s)
{
    return s->made->dim;
}

tarry_policy *tarry__session_policy(tarry__session *s)
{
    return s != NULL ? s->policy : NULL;
}

const tarry__store_experiment *
tarry__session_experiment(const tarry__session *s)
{
    return s->made;
}
