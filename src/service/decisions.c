/* decisions.c - choices and their ends, run by the keeper. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "service/inner.h"

/* The experiment that a path names, locked until the commit; NULL: a problem
 * has been said. */
static tarry__service_experiment *enter_named(tarry__service_call *c)
{
    tarry_error error = {""};
    tarry_status status;
    tarry__service_experiment *e = tarry__service_named(c);
    if (e == NULL)
        return NULL;
    if (!tarry__service_enter(c->service, e))
        tarry__service_say_problem(c, 503, "out_of_memory", "out of memory");
    else if ((status = tarry__service_hold(c, e, &error)) != TARRY_OK)
        tarry__service_say_refusal(c, status, &error);
    else
        return e;
    return NULL;
}

/* ---- choosing -------------------------------------------------------------*/

static void put_choice(tarry__writer *t, const tarry__session *s,
                       const char *id, const tarry__session_choice_made *made)
{
    const char *arm = tarry__session_arm_name(s, made->arm);
    tarry__writer_put(t, "{\"id\":");
    tarry__writer_quote(t, id);
    tarry__writer_put(t, ",\"arm\":");
    if (arm != NULL)
        tarry__writer_quote(t, arm);
    else
        tarry__writer_count(t, made->arm);
    tarry__writer_put(t, ",\"probability\":");
    tarry__writer_real(t, made->probability);
    tarry__writer_put(t, ",\"round\":");
    tarry__writer_count(t, made->round);
    tarry__writer_put(t, ",\"decided_at\":");
    tarry__writer_time(t, made->at);
    tarry__writer_put(t, "}");
}

static void choose_one(tarry__service_call *c, tarry__service_experiment *e,
                       const char *own)
{
    tarry__session_choice_made made;
    tarry_error error = {""};
    char id[TARRY__SESSION_ID_ROOM];
    const tarry_status status = tarry__session_choose(
        e->session, own, tarry__session_now(), &made, &error);
    if (status != TARRY_OK) {
        tarry__service_say_refusal(c, status, &error);
        return;
    }
    tarry__session_id(e->session, made.round, id);
    put_choice(&c->text, e->session, own != NULL ? own : id, &made);
    e->counts.decisions += !made.repeated;
    tarry__service_say(c, made.repeated ? 200 : 201);
}

/* Choice i of a lease; with an id of the user's own it has that id, a dot and
 * i.  A lease that was given before is told again, and nothing is chosen. */
static tarry_status choose_part(const tarry__service_call *c,
                                tarry__service_experiment *e, uint64_t i,
                                int64_t now, char id[TARRY__SESSION_ID_ROOM],
                                tarry__session_choice_made *made,
                                tarry_error *error)
{
    if (c->own != NULL)
        snprintf(id, TARRY__SESSION_ID_ROOM, "%s.%ju", c->own, (uintmax_t)i);
    if (c->own != NULL && !c->is_new)
        return tarry__session_chosen(e->session, id, made, error);
    if (c->own != NULL)
        return tarry__session_choose_new(e->session, id, now, made, error);
    const tarry_status status =
        tarry__session_choose(e->session, NULL, now, made, error);
    if (status == TARRY_OK)
        tarry__session_id(e->session, made->round, id);
    return status;
}

/* As many as there are: the horizon may be nearer, or the policy not go on. */
static void choose_many(tarry__service_call *c, tarry__service_experiment *e)
{
    tarry__session_choice_made made = {0};
    tarry_error error = {""};
    char id[TARRY__SESSION_ID_ROOM];
    const int64_t now = tarry__session_now();
    tarry_status status = TARRY_OK;
    if (c->own != NULL && c->is_new && tarry__service_was_given(c, e))
        c->is_new = false; /* to another of this group */
    const bool is_again = c->own != NULL && !c->is_new;
    uint64_t done = 0, first = 0;
    tarry__writer_put(&c->text, "{\"decisions\":[");
    for (; done < c->count; done++) {
        status = choose_part(c, e, done, now, id, &made, &error);
        if (status != TARRY_OK)
            break;
        tarry__writer_put(&c->text, done > 0 ? "," : "");
        put_choice(&c->text, e->session, id, &made);
        first = done == 0 ? made.round : first;
    }
    tarry__writer_put(&c->text, "]}");
    if (!tarry__service_is_broken(status) && done > 0 && c->own != NULL &&
        c->is_new)
        status =
            tarry__session_note_lease(e->session, first, c->count, now, &error);
    e->counts.decisions += is_again ? 0 : done;
    const bool is_broken = tarry__service_is_broken(status);
    if (done > 0 && is_broken)
        c->service->broken = status;
    if (done == 0 || is_broken)
        tarry__service_say_refusal(c, status, &error);
    else
        tarry__service_say(c, is_again ? 200 : 201);
}

/* Reads "id" and "count", 0 if it is not given. */
static bool read_request(tarry__service_call *c, const char **own,
                         uint64_t *count)
{
    static const char *const keys[] = {"id", "count", "arms", NULL};
    const uint64_t most = c->service->limits.most_choices;
    if (!tarry__service_has_only(c, c->json, keys))
        return false;
    const json_t *id = json_object_get(c->json, "id");
    const json_t *number = json_object_get(c->json, "count");
    *own = json_string_value(id);
    *count = 0;
    if (json_object_get(c->json, "arms") != NULL) {
        tarry__service_say_problem(c, 422, "contextual",
                                   "\"arms\": decisions with arms of their own "
                                   "are not supported");
        return false;
    }
    if (id != NULL && !json_is_null(id) && *own == NULL) {
        tarry__service_say_problem(c, 422, "invalid",
                                   "\"id\" must be a string; got %s",
                                   tarry__service_show(id).text);
        return false;
    }
    if (number == NULL || json_is_null(number))
        return true;
    const double value = json_number_value(number);
    if (!json_is_number(number) || !(value >= 1) || value > (double)most ||
        floor(value) != value) {
        tarry__service_say_problem(c, 422, "invalid",
                                   "\"count\" must be a whole number from 1 "
                                   "to %ju; got %s",
                                   (uintmax_t)most,
                                   tarry__service_show(number).text);
        return false;
    }
    *count = (uint64_t)value;
    return true;
}

void tarry__service_decide(tarry__service_call *c)
{
    const char *own;
    uint64_t count;
    c->is_new = false;
    if (!read_request(c, &own, &count))
        return;
    tarry__service_experiment *e = enter_named(c);
    if (e == NULL ||
        (own != NULL && tarry__service_id_is_taken(c, own, e, count)))
        return;
    c->own = own;
    c->count = count;
    c->next_later = NULL;
    if (e->last_later != NULL)
        e->last_later->next_later = c;
    else
        e->first_later = c;
    e->last_later = c;
    e->n_later += count > 0 ? count : 1;
}

void tarry__service_choose(tarry__service_call *c, tarry__service_experiment *e)
{
    if (c->count > 0)
        choose_many(c, e);
    else
        choose_one(c, e, c->own);
}

/* ---- ends without an outcome ----------------------------------------------*/

tarry__service_experiment *tarry__service_enter_id(tarry__service_call *c,
                                                   const char *id,
                                                   tarry_status *status,
                                                   tarry_error *error)
{
    tarry__service *s = c->service;
    const char *colon = strrchr(id, ':');
    const size_t length = colon != NULL ? (size_t)(colon - id) + 1 : 0;
    const char *digits = id + length;
    char prefix[TARRY__SESSION_ID_ROOM];
    uint64_t owner = 0;
    tarry__service_experiment *e = NULL;
    *status = TARRY_OK;
    if (length < sizeof prefix && *digits != '\0' &&
        digits[strspn(digits, "0123456789")] == '\0') {
        memcpy(prefix, id, length);
        prefix[length] = '\0';
        *status = tarry__service_find_prefix(s, prefix, &e, error);
    } else if (tarry__session_may_be_own(id)) { /* a path has any bytes */
        *status = tarry__service_owner_of(s, id, &owner, error);
        if (*status == TARRY_OK && owner != 0)
            *status = tarry__service_meet(s, error);
        if (*status == TARRY_OK && owner != 0)
            e = tarry__service_at(s, owner - 1);
    }
    if (*status == TARRY_OK && e == NULL)
        *status = tarry__base_fail(error, TARRY_UNKNOWN_ROUND,
                                   "no experiment has a decision with id "
                                   "\"%.100s\"",
                                   id);
    if (e != NULL && !tarry__service_enter(s, e))
        *status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    if (*status == TARRY_OK)
        *status = tarry__service_hold(c, e, error);
    return *status == TARRY_OK ? e : NULL;
}

/* The same end may be told again. */
static void settle(tarry__service_call *c, bool is_cancel)
{
    tarry_error error = {""};
    tarry_status status;
    const char *id = c->name[0];
    const int64_t now = tarry__session_now();
    tarry__service_experiment *e =
        tarry__service_enter_id(c, id, &status, &error);
    if (e != NULL)
        status = is_cancel ? tarry__session_cancel(e->session, id, now, &error)
                           : tarry__session_expire(e->session, id, now, &error);
    if ((status == TARRY_REPORTED_TWICE || status == TARRY_EXPIRED) &&
        tarry__session_has_ended(e->session, id, is_cancel))
        status = TARRY_OK;
    if (status != TARRY_OK) {
        tarry__service_say_refusal(c, status, &error);
        return;
    }
    tarry__writer_put(&c->text, "{\"id\":");
    tarry__writer_quote(&c->text, id);
    tarry__writer_print(&c->text, ",\"status\":\"%s\"}",
                        is_cancel ? "cancelled" : "expired");
    tarry__service_say(c, 200);
}

void tarry__service_cancel(tarry__service_call *c)
{
    settle(c, true);
}

void tarry__service_expire(tarry__service_call *c)
{
    settle(c, false);
}

/* ---- arms -----------------------------------------------------------------*/

/* Whether an arm of that name may be chosen. */
static bool has_arm(tarry__session *s, const char *name)
{
    tarry_policy_status p;
    char number[24];
    tarry_policy_get_status(tarry__session_policy(s), &p);
    const size_t count = p.available != NULL ? p.n_available : p.n_arms;
    for (size_t i = 0; i < count; i++) {
        const size_t arm = p.available != NULL ? p.available[i] : i;
        const char *own = tarry__session_arm_name(s, arm);
        snprintf(number, sizeof number, "%zu", arm);
        if (strcmp(name, own != NULL ? own : number) == 0)
            return true;
    }
    return false;
}

static void say_arm(tarry__service_call *c, int code, const char *name,
                    const char *what)
{
    tarry__writer_put(&c->text, "{\"arm\":");
    tarry__writer_quote(&c->text, name);
    tarry__writer_print(&c->text, ",\"status\":\"%s\"}", what);
    tarry__service_say(c, code);
}

static bool read_features(tarry__service_call *c, const json_t *list,
                          double *features, size_t dim, const char *name)
{
    bool good = json_array_size(list) == dim;
    for (size_t i = 0; good && i < dim; i++) {
        good = json_is_number(json_array_get(list, i));
        features[i] = json_number_value(json_array_get(list, i));
    }
    if (!good)
        tarry__service_say_problem(c, 422, "invalid",
                                   "\"features\" of arm \"%.100s\" must be a "
                                   "list of %zu numbers; got %s",
                                   name, dim, tarry__service_show(list).text);
    return good;
}

static void admit(tarry__service_call *c, tarry__service_experiment *e,
                  const char *name, const double *features)
{
    tarry_error error = {""};
    const size_t dim = e->made->dim;
    tarry_policy_status p;
    tarry_policy *policy = tarry__session_policy(e->session);
    if (policy != NULL && has_arm(e->session, name)) {
        tarry__service_say_problem(c, 409, "exists",
                                   "arm \"%.100s\" of experiment \"%.100s\" is "
                                   "there already",
                                   name, e->made->name);
        return;
    }
    if (tarry_policy_get_status(policy, &p) == TARRY_OK &&
        p.n_arms >= c->service->limits.most_arms) {
        tarry__service_say_problem(c, 422, "invalid",
                                   "experiment \"%.100s\" has %zu arms, the "
                                   "most that --max-arms allows, withdrawn "
                                   "ones included",
                                   e->made->name, p.n_arms);
        return;
    }
    const tarry_status status = tarry__session_admit(
        e->session, name, features, dim, tarry__session_now(), &error);
    if (status == TARRY_OK)
        say_arm(c, 201, name, "admitted");
    else
        tarry__service_say_refusal(c, status, &error);
}

void tarry__service_admit(tarry__service_call *c)
{
    static const char *const keys[] = {"name", "features", NULL};
    if (!tarry__service_has_only(c, c->json, keys))
        return;
    const json_t *given = json_object_get(c->json, "name");
    const char *name = json_string_value(given);
    tarry__service_experiment *e = enter_named(c);
    if (e == NULL)
        return;
    double *features = tarry__base_alloc(e->made->dim, sizeof *features);
    if (features == NULL)
        tarry__service_say_problem(c, 503, "out_of_memory", "out of memory");
    else if (name == NULL || strlen(name) >= TARRY__SERVICE_NAME_ROOM)
        tarry__service_say_problem(c, 422, "invalid",
                                   "\"name\" must be a string of at most %d "
                                   "bytes; got %s",
                                   TARRY__SERVICE_NAME_ROOM - 1,
                                   tarry__service_show(given).text);
    else if (json_object_get(c->json, "features") == NULL)
        admit(c, e, name, NULL);
    else if (read_features(c, json_object_get(c->json, "features"), features,
                           e->made->dim, name))
        admit(c, e, name, features);
    tarry__base_free(features);
}

void tarry__service_withdraw(tarry__service_call *c)
{
    tarry_error error = {""};
    const char *name = c->name[1];
    tarry__service_experiment *e = enter_named(c);
    if (e == NULL)
        return;
    if (tarry__session_policy(e->session) != NULL &&
        !has_arm(e->session, name)) {
        tarry__service_say_problem(c, 404, "unknown_arm",
                                   "experiment \"%.100s\" has no arm "
                                   "\"%.100s\"",
                                   e->made->name, name);
        return;
    }
    const tarry_status status =
        tarry__session_withdraw(e->session, name, tarry__session_now(), &error);
    if (status == TARRY_OK)
        say_arm(c, 200, name, "withdrawn");
    else
        tarry__service_say_refusal(c, status, &error);
}

/* ---- pauses ---------------------------------------------------------------*/

static void pause_or_resume(tarry__service_call *c, bool pauses)
{
    tarry_error error = {""};
    tarry__service_experiment *e = enter_named(c);
    if (e == NULL)
        return;
    const tarry_status status =
        tarry__session_pause(e->session, pauses, tarry__session_now(), &error);
    if (status != TARRY_OK) {
        tarry__service_say_refusal(c, status, &error);
        return;
    }
    tarry__writer_put(&c->text, "{\"experiment\":");
    tarry__writer_quote(&c->text, e->made->name);
    tarry__writer_print(&c->text, ",\"paused\":%s}", pauses ? "true" : "false");
    tarry__service_say(c, 200);
}

void tarry__service_pause(tarry__service_call *c)
{
    pause_or_resume(c, true);
}

void tarry__service_resume(tarry__service_call *c)
{
    pause_or_resume(c, false);
}
