/* experiments.c - making experiments, and showing them. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "base/json.h"
#include "policy/default.h"
#include "service/inner.h"

enum { MOST_NAME = 63 };

/* ---- the body of a new experiment -----------------------------------------*/

typedef struct {
    tarry__service_call *call;
    tarry__store_experiment e;
    char prefix[MOST_NAME + 2];
    double *features;
    const char **names; /* or NULL: arms have none */
    bool is_basis;      /* arms have no features: each gets a dimension */
    char policy[4096];  /* its description with what the body says besides */
} plan;

/* `rule` says what is allowed for the field `what`; `given` is what came. */
static bool refuse(const plan *p, const char *what, const char *rule,
                   const json_t *given)
{
    tarry__service_say_problem(p->call, 422, "invalid", "%s %s; got %s", what,
                               rule, tarry__service_show(given).text);
    return false;
}

static bool refuse_field(const plan *p, const char *key, const char *rule,
                         const json_t *given)
{
    char what[40];
    snprintf(what, sizeof what, "\"%s\"", key);
    return refuse(p, what, rule, given);
}

/* Letters, digits, and in between . _ and -. */
static bool is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t length = strlen(name);
    return length > 0 && length <= MOST_NAME &&
           strspn(name, letters) == length && strchr("._-", name[0]) == NULL;
}

static bool read_name(plan *p, const json_t *body)
{
    p->e.name = json_string_value(json_object_get(body, "name"));
    if (p->e.name == NULL || !is_name(p->e.name))
        return refuse(p, "\"name\"",
                      "must be 1 to 63 letters, digits, . _ or -, and begin "
                      "with a letter or digit",
                      json_object_get(body, "name"));
    snprintf(p->prefix, sizeof p->prefix, "%s:", p->e.name);
    p->e.prefix = p->prefix;
    return true;
}

/* A count that is given, or 0. */
static bool read_count(plan *p, const json_t *body, const char *key,
                       uint64_t least, uint64_t *out)
{
    const json_t *value = json_object_get(body, key);
    const double number = json_number_value(value);
    *out = 0;
    if (value == NULL || json_is_null(value))
        return true;
    if (!json_is_number(value) || !(number >= (double)least) ||
        number > 9007199254740992.0 || floor(number) != number ||
        (json_is_real(value) && number == 9007199254740992.0) || /* or 1 more */
        (json_is_integer(value) &&
         json_integer_value(value) != (json_int_t)number))
        return refuse_field(p, key,
                            least > 0 ? "must be a whole number from 1 to 2^53"
                                      : "must be a whole number from 0 to 2^53",
                            value);
    *out = (uint64_t)number;
    return true;
}

static bool read_confidence(plan *p, const json_t *body)
{
    const json_t *value = json_object_get(body, "confidence");
    const bool is_given = value != NULL && !json_is_null(value);
    p->e.confidence = json_number_value(value);
    if (is_given && (!json_is_number(value) || p->e.confidence == 0))
        return refuse(p, "\"confidence\"",
                      "must be a number from 0.5 to below 1", value);
    if (is_given && p->e.horizon != 0)
        return refuse(p, "\"confidence\"",
                      "must not be given together with \"horizon\"", value);
    if (!is_given && p->e.horizon == 0)
        p->e.confidence = 0.99;
    return true;
}

static bool read_range(plan *p, const json_t *body)
{
    const json_t *range = json_object_get(body, "range");
    p->e.low = -1;
    p->e.high = 1;
    if (range == NULL || json_is_null(range))
        return true;
    const json_t *low = json_array_get(range, 0);
    const json_t *high = json_array_get(range, 1);
    p->e.low = json_number_value(low);
    p->e.high = json_number_value(high);
    return (json_array_size(range) == 2 && json_is_number(low) &&
            json_is_number(high) && p->e.low < p->e.high) ||
           refuse(p, "\"range\"", "must be [low, high] with low below high",
                  range);
}

static bool read_objective(plan *p, const json_t *body)
{
    const json_t *value = json_object_get(body, "objective");
    const char *text = json_string_value(value);
    if (value == NULL || json_is_null(value))
        return true;
    p->e.maximize = text != NULL && strcmp(text, "maximize") == 0;
    return p->e.maximize || (text != NULL && strcmp(text, "minimize") == 0) ||
           refuse(p, "\"objective\"", "must be \"minimize\" or \"maximize\"",
                  value);
}

static bool read_text(plan *p, const json_t *body, const char *key,
                      const char *otherwise, const char **out)
{
    const json_t *value = json_object_get(body, key);
    *out = otherwise;
    if (value == NULL || json_is_null(value))
        return true;
    *out = json_string_value(value);
    return *out != NULL || refuse_field(p, key, "must be a string", value);
}

/* A name that is short for another is replaced by it, as its meaning may change
 * with the version. */
static bool read_policy(plan *p, const json_t *body)
{
    tarry_policy_info info;
    if (!read_text(p, body, "policy", "recommended", &p->e.policy))
        return false;
    if (tarry_policy_describe(p->e.policy, &info) == TARRY_OK &&
        info.stands_for != NULL)
        p->e.policy = info.stands_for;
    return true;
}

/* A setting that all policies take goes into the description. */
static bool add_setting(plan *p, const char *key, const char *value)
{
    char all[sizeof p->policy];
    const int length =
        snprintf(all, sizeof all, "%s%c%s=%s", p->e.policy,
                 strchr(p->e.policy, ':') == NULL ? ':' : ',', key, value);
    memcpy(p->policy, all, sizeof all);
    p->e.policy = p->policy;
    if (length >= 0 && (size_t)length < sizeof p->policy)
        return true;
    tarry__service_say_problem(p->call, 422, "invalid",
                               "\"policy\" with \"%s\" must have less than %zu "
                               "bytes; got %d",
                               key, sizeof p->policy, length);
    return false;
}

static bool read_intercept(plan *p, const json_t *body)
{
    const char *text;
    return read_text(p, body, "intercept", NULL, &text) &&
           (text == NULL || strcmp(text, "auto") == 0 ||
            (strcmp(text, "no") == 0 && add_setting(p, "intercept", text)) ||
            refuse(p, "\"intercept\"", "must be \"auto\" or \"no\"",
                   json_object_get(body, "intercept")));
}

static bool read_default(plan *p, const json_t *body)
{
    static const char rule[] =
        "must be {\"value\": number, \"after\": \"7d\", \"12h\", \"500r\" or "
        "\"0\", \"final\"?: true or false}";
    const json_t *given = json_object_get(body, "default_outcome");
    const json_t *value = json_object_get(given, "value");
    const json_t *final = json_object_get(given, "final");
    const char *after = json_string_value(json_object_get(given, "after"));
    char text[TARRY__DEFAULT_ROOM];
    tarry__default_rule read;
    if (given == NULL || json_is_null(given))
        return true;
    if (!json_is_object(given) || !json_is_number(value) || after == NULL ||
        strlen(after) >= TARRY__DEFAULT_AGE_ROOM || strchr(after, '/') ||
        (final != NULL && !json_is_boolean(final)) ||
        json_object_size(given) != 2 + (size_t)(final != NULL))
        return refuse(p, "\"default_outcome\"", rule, given);
    snprintf(text, sizeof text, "0/%s", after);
    if (tarry__default_read(text, &read, NULL) != TARRY_OK)
        return refuse(p, "\"default_outcome\"", rule, given);
    read.value = json_number_value(value) + 0.0;
    read.final = json_is_true(final);
    tarry__default_print(&read, text);
    return add_setting(p, "default_outcome", text);
}

static bool read_flag(plan *p, const json_t *body, const char *key, bool *out)
{
    const json_t *value = json_object_get(body, key);
    *out = json_is_true(value);
    return value == NULL || json_is_null(value) || json_is_boolean(value) ||
           refuse_field(p, key, "must be true or false", value);
}

/* ---- its arms -------------------------------------------------------------*/

static bool read_arm(plan *p, const json_t *arm, size_t k)
{
    const json_t *features = json_object_get(arm, "features");
    const json_t *name = json_object_get(arm, "name");
    char what[60];
    snprintf(what, sizeof what, "arm %zu", k);
    if (!json_is_object(arm) ||
        json_object_size(arm) != (size_t)(features != NULL) + (name != NULL))
        return refuse(p, what,
                      "must be an object with \"name\" and \"features\"", arm);
    if ((name != NULL) != (p->names != NULL) ||
        (name != NULL && !json_is_string(name)))
        return refuse(p, what,
                      "must have a \"name\", a string, like all arms, or none "
                      "like all arms",
                      arm);
    if (json_string_length(name) >= TARRY__SERVICE_NAME_ROOM)
        return refuse(p, what, "must have a name of at most 511 bytes", name);
    if (name != NULL)
        p->names[k] = json_string_value(name);
    if (p->is_basis)
        return true;
    if (json_array_size(features) != p->e.dim)
        return refuse(p, what,
                      "must have a list of as many \"features\" as the first",
                      features);
    for (size_t i = 0; i < p->e.dim; i++) {
        const json_t *x = json_array_get(features, i);
        if (!json_is_number(x))
            return refuse(p, what, "must have numbers as features", x);
        p->features[k * p->e.dim + i] = json_number_value(x);
    }
    return true;
}

/* Arms without features have nothing in common: each gets a dimension. */
static bool make_basis(plan *p, const json_t *arms)
{
    for (size_t k = 0; k < p->e.n_arms; k++) {
        if (json_object_get(json_array_get(arms, k), "features") != NULL)
            return refuse(p, "\"arms\"", "must all have features, or none",
                          json_array_get(arms, k));
        p->features[k * p->e.dim + k] = 1;
    }
    return true;
}

static bool refuse_sizes(const plan *p)
{
    const tarry__service_limits *most = &p->call->service->limits;
    tarry__service_say_problem(p->call, 422, "invalid",
                               "an experiment must have at most %ju arms "
                               "(--max-arms) with at most %ju features; got "
                               "%ju arms with %ju",
                               (uintmax_t)most->most_arms,
                               (uintmax_t)most->most_dim,
                               (uintmax_t)p->e.n_arms, (uintmax_t)p->e.dim);
    return false;
}

static bool check_sizes(plan *p, const json_t *arms)
{
    const tarry__service_limits *most = &p->call->service->limits;
    if (!json_is_array(arms) || json_array_size(arms) == 0)
        return refuse(p, "\"arms\"",
                      "must be a list of objects with \"name\" and "
                      "\"features\", not empty",
                      arms);
    if (p->e.n_arms > most->most_arms || p->e.dim > most->most_dim)
        return refuse_sizes(p);
    return p->e.dim > 0 ||
           refuse(p, "arm 0",
                  "must have a list of numbers as \"features\", or none of the "
                  "arms has features",
                  json_object_get(json_array_get(arms, 0), "features"));
}

static bool read_arms(plan *p, const json_t *body)
{
    const json_t *arms = json_object_get(body, "arms");
    const json_t *first = json_array_get(arms, 0);
    const json_t *features = json_object_get(first, "features");
    p->e.n_arms = json_array_size(arms);
    p->is_basis = features == NULL;
    p->e.dim = p->is_basis ? p->e.n_arms : json_array_size(features);
    if (!check_sizes(p, arms))
        return false;
    p->features = tarry__base_zalloc(p->e.n_arms * p->e.dim, sizeof(double));
    const bool has_names = json_object_get(first, "name") != NULL;
    if (has_names)
        p->names = tarry__base_zalloc(p->e.n_arms, sizeof *p->names);
    if (p->features == NULL || (has_names && p->names == NULL)) {
        tarry__service_say_problem(p->call, 503, "out_of_memory",
                                   "out of memory");
        return false;
    }
    if (p->is_basis && !make_basis(p, arms))
        return false;
    for (size_t k = 0; k < p->e.n_arms; k++)
        if (!read_arm(p, json_array_get(arms, k), k))
            return false;
    return true;
}

static bool read_floor(plan *p, const json_t *body)
{
    char text[40];
    const json_t *value = json_object_get(body, "floor");
    if (value == NULL || json_is_null(value))
        return true;
    snprintf(text, sizeof text, "%.17g", json_number_value(value));
    return json_is_number(value)
               ? add_setting(p, "floor", text)
               : refuse(p, "\"floor\"", "must be a number", value);
}

/* An arm's number; false: no arm has this name. */
static bool find_arm(const plan *p, const char *name, size_t *arm)
{
    char number[24];
    for (*arm = 0; *arm < p->e.n_arms; ++*arm) {
        snprintf(number, sizeof number, "%zu", *arm);
        if (strcmp(p->names != NULL ? p->names[*arm] : number, name) == 0)
            return true;
    }
    return false;
}

/* {"name":share,...} as settings have it, with numbers for names. */
static bool read_shares(plan *p, json_t *body, const char *key)
{
    char text[500] = "";
    const char *name;
    json_t *shares = json_object_get(body, key), *share;
    size_t used = 0, arm;
    if (shares == NULL || json_is_null(shares))
        return true;
    if (!json_is_object(shares) || json_object_size(shares) == 0)
        return refuse_field(
            p, key, "must be an object of arms and their shares", shares);
    json_object_foreach(shares, name, share)
    {
        if (!json_is_number(share) || !find_arm(p, name, &arm) ||
            used + 60 > sizeof text)
            return refuse_field(
                p, key, "must be an object of arms and their shares", shares);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu:%.17g",
                                 used > 0 ? "+" : "", arm,
                                 json_number_value(share));
    }
    return add_setting(p, key, text);
}

static bool is_contextual(plan *p, const json_t *body)
{
    if (json_object_get(body, "dim") == NULL)
        return false;
    tarry__service_say_problem(p->call, 422, "contextual",
                               "\"dim\": contextual experiments are not "
                               "supported; give \"arms\" with features");
    return true;
}

static bool read_plan(plan *p, json_t *body)
{
    static const char *const keys[] = {"name",
                                       "arms",
                                       "policy",
                                       "range",
                                       "objective",
                                       "horizon",
                                       "confidence",
                                       "seed",
                                       "expire_after",
                                       "dim",
                                       "beyond_horizon",
                                       "intercept",
                                       "floor",
                                       "control",
                                       "cap",
                                       "default_outcome",
                                       NULL};
    return tarry__service_has_only(p->call, body, keys) && read_name(p, body) &&
           !is_contextual(p, body) && read_policy(p, body) &&
           read_intercept(p, body) && read_default(p, body) &&
           read_range(p, body) && read_objective(p, body) &&
           read_count(p, body, "horizon", 1, &p->e.horizon) &&
           read_confidence(p, body) &&
           read_count(p, body, "seed", 0, &p->e.seed) &&
           read_flag(p, body, "beyond_horizon", &p->e.beyond_horizon) &&
           read_text(p, body, "expire_after", "", &p->e.expire_after) &&
           read_arms(p, body) && read_floor(p, body) &&
           read_shares(p, body, "control") && read_shares(p, body, "cap");
}

/* ---- showing --------------------------------------------------------------*/

static json_t *settings(const tarry__store_experiment *e)
{
    tarry__writer at = {0};
    tarry__writer_time(&at, e->created_at);
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:[f,f], s:I, s:o, s:I, s:o, s:I, s:b}", "name",
        e->name, "policy", e->policy, "objective",
        e->maximize ? "maximize" : "minimize", "range", e->low, e->high, "seed",
        (json_int_t)e->seed, "horizon",
        e->horizon > 0 ? json_integer((json_int_t)e->horizon) : json_null(),
        "dim", (json_int_t)e->dim, "expire_after",
        e->expire_after[0] != '\0' ? json_string(e->expire_after) : json_null(),
        "arms", (json_int_t)e->n_arms, "beyond_horizon", e->beyond_horizon);
    json = tarry__json_set(
        json, "created_at",
        at.failed ? NULL : json_loads(at.bytes, JSON_DECODE_ANY, NULL));
    if (e->horizon == 0)
        json = tarry__json_set(json, "confidence", json_real(e->confidence));
    tarry__writer_clear(&at);
    return json;
}

/* With what it has come to, if that can be read. */
static json_t *shown(tarry__service_experiment *e, bool with_status)
{
    pthread_mutex_lock(&e->lock);
    json_t *json = settings(e->made);
    const bool is_there = tarry__session_policy(e->session) != NULL;
    json_t *status = is_there ? tarry__session_status(e->session, false) : NULL;
    json_t *rule = is_there
                       ? tarry__session_rule(tarry__session_policy(e->session))
                       : NULL;
    pthread_mutex_unlock(&e->lock);
    if (is_there) {
        json = tarry__json_set(json, "default_outcome", rule);
        json = tarry__json_set(json, "decisions",
                               json_incref(json_object_get(status, "round")));
        json = tarry__json_set(json, "pending",
                               json_incref(json_object_get(status, "pending")));
    }
    if (is_there && with_status)
        json = tarry__json_set(json, "status", json_incref(status));
    json_decref(status);
    return json;
}

void tarry__service_list_experiments(tarry__service_call *c)
{
    tarry__service_experiment *e;
    json_t *list = json_array();
    for (size_t i = 0; (e = tarry__service_at(c->service, i)) != NULL; i++)
        list = tarry__json_add(list, shown(e, false));
    tarry__service_say_json(c, 200, json_pack("{s:o}", "experiments", list));
}

void tarry__service_show_experiment(tarry__service_call *c)
{
    tarry__service_experiment *e = tarry__service_named(c);
    tarry_error error = {""};
    if (e == NULL)
        return;
    pthread_mutex_lock(&e->lock);
    const tarry_status status = tarry__service_hold(c, e, &error);
    pthread_mutex_unlock(&e->lock);
    if (status != TARRY_OK)
        tarry__service_say_refusal(c, status, &error);
    else
        tarry__service_say_json(c, 200, shown(e, true));
}

/* ---- making ---------------------------------------------------------------*/

/* It is in the table by now.  Who comes first opens it: that may be somebody
 * who asks for it already, or another process. */
static void say_made(tarry__service_call *c, const char *name)
{
    const size_t room = strlen("/v1/experiments/") + MOST_NAME + 1;
    char *location = tarry__base_alloc(room, 1);
    if (location != NULL)
        snprintf(location, room, "/v1/experiments/%s", name);
    c->answer.location = location;
    tarry__service_experiment *e;
    tarry__service_find(c->service, name, &e, NULL);
    pthread_mutex_lock(&e->lock);
    tarry__service_hold(c, e, NULL);
    pthread_mutex_unlock(&e->lock);
    tarry__service_say_json(c, 201, shown(e, false));
}

static void create(plan *p)
{
    tarry__service *s = p->call->service;
    tarry_error error = {""};
    tarry_status status = tarry__session_create(s->store, &p->e, p->features,
                                                p->names, NULL, &error);
    if (status == TARRY_BAD_ARGUMENT &&
        tarry__store_find(s->store, p->e.name) != 0) {
        tarry__service_say_problem(p->call, 409, "exists",
                                   "experiment \"%.100s\" is there already",
                                   p->e.name);
        return;
    }
    if (status == TARRY_OK)
        status = tarry__service_meet(s, &error);
    if (status != TARRY_OK) {
        tarry__service_say_refusal(p->call, status, &error);
        return;
    }
    say_made(p->call, p->e.name);
}

static void create_if_free(plan *p)
{
    tarry__service *s = p->call->service;
    tarry__service_experiment *other;
    tarry_error error = {""};
    pthread_mutex_lock(&s->creating);
    const tarry_status status =
        tarry__service_find(s, p->e.name, &other, &error);
    if (status != TARRY_OK)
        tarry__service_say_refusal(p->call, status, &error);
    else if (other != NULL)
        tarry__service_say_problem(p->call, 409, "exists",
                                   "experiment \"%.100s\" is there already",
                                   p->e.name);
    else if (tarry__store_count(s->store) >= s->limits.most_experiments)
        tarry__service_say_problem(p->call, 409, "too_many_experiments",
                                   "the store has %ju experiments, the most "
                                   "that --max-experiments allows",
                                   (uintmax_t)s->limits.most_experiments);
    else
        create(p);
    pthread_mutex_unlock(&s->creating);
}

void tarry__service_create_experiment(tarry__service_call *c)
{
    plan p = {.call = c, .e.created_at = tarry__session_now()};
    if (read_plan(&p, c->json))
        create_if_free(&p);
    tarry__base_free(p.features);
    tarry__base_free((void *)p.names);
}
