/* A random program of requests to a service with three experiments in one
 * store, against a plain model: ids of one's own, leases, what is said twice,
 * what belongs to another experiment, restarts, and what is told of it all.
 *
 * Some requests come together, so that they are one commit; those of a group
 * ask of what was there before it, and so their order does not matter.
 *
 * 1 500 groups; TARRY_CAMPAIGN=1: 30 000; TARRY_SEED=n for other programs. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/json.h"
#include "service/service.h"

enum {
    EXPERIMENTS = 3,
    GROUP = 5,
    OWN = 60,
    MOST_LEASE = 4,
    MOST_ARMS = 12,
    ROOM = 200000
};

static const char *const names[EXPERIMENTS] = {"e", "e.1", "E"};

typedef enum { WAITING, REPORTED, CANCELLED } fate;

typedef struct {
    char id[40];
    size_t experiment;
    uint64_t round;
    uint64_t lease; /* what it begins was to have so many; 0: nothing */
    char arm[8], decided_at[40];
    double probability;
    fate fate;
    bool was_expired;
    double loss;
} decision;

/* What became of an outcome. */
typedef enum { APPLIED, LATE, DUPLICATE, UNKNOWN, CONFLICT, INVALID } result;
enum { RESULTS = INVALID + 1 };
static const char *const results[RESULTS] = {"applied", "late",     "duplicate",
                                             "unknown", "conflict", "invalid"};

static struct {
    tarry__service *service;
    char folder[40], url[80];
    uint64_t seed;
    decision *made;
    size_t count;
    uint64_t rounds[EXPERIMENTS];
    bool is_paused[EXPERIMENTS];
    uint64_t pauses[EXPERIMENTS], resumes[EXPERIMENTS];
    size_t n_arms[EXPERIMENTS]; /* those that are gone too */
    bool is_gone[EXPERIMENTS][MOST_ARMS];
    struct {
        uint64_t decisions[EXPERIMENTS];
        uint64_t outcomes[EXPERIMENTS + 1][RESULTS]; /* the last: of nobody */
    } since_start;
} world;

static uint64_t below(uint64_t limit)
{
    return test_bits(&world.seed) % limit;
}

static decision *find(const char *id)
{
    for (size_t i = 0; i < world.count; i++)
        if (strcmp(world.made[i].id, id) == 0)
            return &world.made[i];
    return NULL;
}

/* ---- asking ---------------------------------------------------------------*/

typedef enum { DECIDE, OBSERVE, CANCEL, EXPIRE, PAUSE } kind;

typedef struct {
    kind kind;
    size_t experiment;
    char id[40];
    uint64_t count; /* of a lease; 0: one decision */
    double loss;
    bool wrong_key, pauses;
    char path[100], body[300];
    pthread_mutex_t lock;
    pthread_cond_t come;
    bool has_come;
    int status;
    json_t *json;
    char *text;
    const char *query;
    tarry__service_stream *stream;
} request;

static void receive(void *context, const tarry__service_answer *answer)
{
    request *r = context;
    tarry__service_answer mine = *answer;
    pthread_mutex_lock(&r->lock);
    r->status = answer->status;
    r->json = json_loadb(answer->body, answer->size, 0, NULL);
    r->text = strndup(answer->body, answer->size);
    r->stream = answer->stream;
    mine.stream = NULL;
    tarry__service_answer_clear(world.service, &mine);
    r->has_come = true;
    pthread_cond_signal(&r->come);
    pthread_mutex_unlock(&r->lock);
}

static void send(request *r, const char *method)
{
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->come, NULL);
    const tarry__service_request q = {.method = method,
                                      .path = r->path,
                                      .query = r->query != NULL ? r->query : "",
                                      .body = r->body,
                                      .size = strlen(r->body)};
    tarry__service_take(world.service, &q, receive, r);
}

static void wait_for(request *r)
{
    pthread_mutex_lock(&r->lock);
    while (!r->has_come)
        pthread_cond_wait(&r->come, &r->lock);
    pthread_mutex_unlock(&r->lock);
    assert_non_null(r->text);
}

static void clear(request *r)
{
    json_decref(r->json);
    free(r->text);
}

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text != NULL ? text : "";
}

static void expect(const request *r, int status, const char *key,
                   const char *value)
{
    char *told = json_dumps(r->json, JSON_COMPACT);
    if (r->status != status || strcmp(text_of(r->json, key), value) != 0)
        fail_msg("%s %s: %d %s, not %d \"%s\"", r->path, r->body, r->status,
                 told, status, value);
    free(told);
}

/* ---- making requests ------------------------------------------------------*/

/* An id of one's own: of a decision, of a lease, of one in it, or none. */
static void make_decide(request *r)
{
    const uint64_t n = below(OWN), form = below(10);
    r->experiment = below(EXPERIMENTS);
    if (form < 3)
        snprintf(r->id, sizeof r->id, "own-%d", (int)n);
    else if (form < 4)
        snprintf(r->id, sizeof r->id, "%s-%d.%d", below(2) ? "own" : "lot",
                 (int)n, (int)below(MOST_LEASE + 1));
    else if (form < 7)
        snprintf(r->id, sizeof r->id, "lot-%d", (int)n);
    else if (form < 8 && world.count > 0) /* one that is there */
        strcpy(r->id, world.made[below(world.count)].id);
    r->count = form < 8 ? (form < 4 ? below(8) == 0 : below(MOST_LEASE + 1))
                        : below(3);
    if (strchr(r->id, ':') != NULL || strchr(r->id, '.') != NULL)
        r->count = 0;
    snprintf(r->path, sizeof r->path, "/v1/experiments/%s/decisions",
             names[r->experiment]);
    char id[60] = "", count[40] = "";
    if (r->id[0] != '\0')
        snprintf(id, sizeof id, "\"id\":\"%s\"", r->id);
    if (r->count > 0)
        snprintf(count, sizeof count, "%s\"count\":%d",
                 r->id[0] != '\0' ? "," : "", (int)r->count);
    snprintf(r->body, sizeof r->body, "{%s%s}", id, count);
}

/* An id that was given, most often, and else nearly. */
static void some_id(char id[40])
{
    static const char *const strange[] = {"e:999999", "e.1:0", "nobody:1",
                                          "e:01",     "own-",  "lot-1."};
    if (world.count == 0 || below(10) == 0)
        strcpy(id, strange[below(sizeof strange / sizeof *strange)]);
    else if (below(2))
        strcpy(id, world.made[below(world.count)].id);
    else /* one of the last */
        strcpy(id, world
                       .made[world.count - 1 -
                             below(world.count < 12 ? world.count : 12)]
                       .id);
}

static void make_other(request *r)
{
    static const double losses[] = {0, 0.25, 1, 1.5};
    some_id(r->id);
    r->kind = below(3) ? OBSERVE : below(2) ? CANCEL : EXPIRE;
    if (r->kind != OBSERVE) {
        snprintf(r->path, sizeof r->path, "/v1/decisions/%s/%s", r->id,
                 r->kind == CANCEL ? "cancel" : "expire");
        return;
    }
    const decision *d = find(r->id);
    const bool is_reward =
        d != NULL ? d->experiment == 1 : strncmp(r->id, "e.1:", 4) == 0;
    r->loss = losses[below(sizeof losses / sizeof *losses)];
    r->wrong_key = below(20) == 0;
    strcpy(r->path, "/v1/feedback");
    snprintf(r->body, sizeof r->body, "{\"id\":\"%s\",\"%s\":%g}", r->id,
             is_reward != r->wrong_key ? "reward" : "loss", r->loss);
}

/* ---- what the model says --------------------------------------------------*/

/* The first feature of an arm that comes; exact in a few digits. */
static double feature_of(uint64_t arm)
{
    return 0.5 + (double)arm / 64;
}

/* "x" and "y" are there from the start. */
static void name_of(size_t arm, char name[8])
{
    if (arm < 2)
        strcpy(name, arm == 0 ? "x" : "y");
    else
        snprintf(name, 8, "z%d", (int)arm);
}

static bool has_arm(size_t e, const char *arm)
{
    char name[8];
    for (size_t k = 0; k < world.n_arms[e]; k++) {
        name_of(k, name);
        if (strcmp(arm, name) == 0)
            return !world.is_gone[e][k];
    }
    return false;
}

static double number_of(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

static void check_decision(const request *r, const json_t *told,
                           const char *own, decision *before)
{
    const json_int_t round = json_integer_value(json_object_get(told, "round"));
    char id[40];
    snprintf(id, sizeof id, "%s:%d", names[r->experiment], (int)round);
    assert_string_equal(text_of(told, "id"), own[0] != '\0' ? own : id);
    if (before != NULL) { /* the same again */
        assert_int_equal(round, before->round);
        assert_string_equal(text_of(told, "arm"), before->arm);
        assert_string_equal(text_of(told, "decided_at"), before->decided_at);
        assert_true(number_of(told, "probability") == before->probability);
        return;
    }
    assert_true(round > 0 && world.count < ROOM);
    for (size_t i = 0; i < world.count; i++)
        assert_false(world.made[i].experiment == r->experiment &&
                     world.made[i].round == (uint64_t)round);
    decision *d = &world.made[world.count++];
    *d = (decision){.experiment = r->experiment, .round = (uint64_t)round};
    strcpy(d->id, text_of(told, "id"));
    snprintf(d->arm, sizeof d->arm, "%s", text_of(told, "arm"));
    assert_true(has_arm(r->experiment, d->arm));
    snprintf(d->decided_at, sizeof d->decided_at, "%s",
             text_of(told, "decided_at"));
    d->probability = number_of(told, "probability");
    assert_true(d->probability > 0 && d->probability <= 1);
    world.rounds[r->experiment]++;
    world.since_start.decisions[r->experiment]++;
}

static void id_in_lease(const char *own, uint64_t i, char id[60])
{
    snprintf(id, 60, "%s.%d", own, (int)i);
}

static decision *find_part(const char *own, uint64_t i)
{
    char id[60];
    id_in_lease(own, i, id);
    return find(id);
}

static bool are_free(const char *own, uint64_t count)
{
    bool are = true;
    for (uint64_t i = 0; i < count; i++)
        are &= find_part(own, i) == NULL;
    return are;
}

/* Whether it is what was asked for before. */
static bool is_repeated(const request *r)
{
    const decision *first = find_part(r->id, 0);
    return first != NULL && first->experiment == r->experiment &&
           first->lease == r->count;
}

static void check_lease(const request *r)
{
    char id[60];
    const bool is_own = r->id[0] != '\0';
    const bool is_new = !is_own || are_free(r->id, r->count);
    if (is_own && (find(r->id) != NULL || (!is_new && !is_repeated(r)))) {
        expect(r, 409, "code", "conflict");
        return;
    }
    if (is_new && world.is_paused[r->experiment]) {
        expect(r, 409, "code", "paused");
        return;
    }
    expect(r, is_new ? 201 : 200, "code", "");
    const json_t *list = json_object_get(r->json, "decisions");
    assert_int_equal(json_array_size(list), r->count);
    for (uint64_t i = 0; i < r->count; i++) {
        id_in_lease(r->id, i, id);
        check_decision(r, json_array_get(list, i), is_own ? id : "",
                       is_new ? NULL : find(id));
    }
    if (is_new && is_own)
        find_part(r->id, 0)->lease = r->count;
}

static void check_decide(const request *r)
{
    decision *before = r->id[0] != '\0' ? find(r->id) : NULL;
    if (r->count > 0)
        check_lease(r);
    else if (strchr(r->id, ':') != NULL) /* it looks like a generated one */
        expect(r, 422, "code", "invalid");
    else if ((before == NULL &&
              find_part(r->id, 0) != NULL) || /* maybe a lease's */
             (before != NULL && before->experiment != r->experiment))
        expect(r, 409, "code", "conflict");
    else if (before == NULL && world.is_paused[r->experiment])
        expect(r, 409, "code", "paused");
    else {
        expect(r, before != NULL ? 200 : 201, "code", "");
        check_decision(r, r->json, r->id, before);
    }
}

static result what_becomes_of(const request *r, const decision *d)
{
    if (d == NULL)
        return r->wrong_key && r->status == 422 ? INVALID : UNKNOWN;
    if (r->loss > 1 || r->wrong_key)
        return INVALID;
    if (d->fate == REPORTED && d->loss == r->loss)
        return DUPLICATE;
    return d->fate != WAITING ? CONFLICT : d->was_expired ? LATE : APPLIED;
}

static void check_observe(const request *r, decision *d)
{
    const result result = what_becomes_of(r, d);
    world.since_start
        .outcomes[d != NULL ? d->experiment : EXPERIMENTS][result]++;
    if (result == UNKNOWN)
        expect(r, 404, "code", "unknown_id");
    else if (result == INVALID)
        expect(r, 422, "code", "invalid");
    else if (result == CONFLICT)
        expect(r, 409, "code", "conflict");
    else
        expect(r, 200, "status", results[result]);
    if (result == APPLIED || result == LATE) {
        d->fate = REPORTED;
        d->loss = r->loss;
    }
}

static void check_end(const request *r, decision *d)
{
    const bool cancels = r->kind == CANCEL;
    if (d == NULL)
        expect(r, 404, "code", "unknown_id");
    else if (d->fate == WAITING ||
             (cancels ? d->fate == CANCELLED : d->was_expired))
        expect(r, 200, "status", cancels ? "cancelled" : "expired");
    else
        expect(r, 409, "code", "conflict");
    if (d != NULL && d->fate == WAITING) {
        d->was_expired |= !cancels;
        d->fate = cancels ? CANCELLED : WAITING;
    }
}

static void check_answer(const request *r)
{
    if (r->kind == DECIDE)
        check_decide(r);
    else if (r->kind == OBSERVE)
        check_observe(r, find(r->id));
    else if (r->kind == PAUSE)
        expect(r, 200, "experiment", names[r->experiment]);
    else
        check_end(r, find(r->id));
}

/* ---- programs -------------------------------------------------------------*/

static void ask_all(request *all, size_t count, const char *method)
{
    for (size_t i = 0; i < count; i++)
        send(&all[i], method);
    tarry__service_flush(world.service);
    for (size_t i = 0; i < count; i++)
        wait_for(&all[i]);
}

/* Whether an id is another one with a dot and more behind. */
static bool is_part_of(const char *id, const char *own)
{
    const size_t length = strlen(own);
    return length > 0 && strncmp(id, own, length) == 0 && id[length] == '.';
}

/* Whether one before it has the same id with a number, or the other way round:
 * which comes first decides. */
static bool may_be_its_lease(const request *all, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (all[k].kind == DECIDE && (is_part_of(all[i].id, all[k].id) ||
                                      is_part_of(all[k].id, all[i].id)))
            return true;
    return false;
}

static void do_group(void)
{
    request all[GROUP] = {{0}};
    const size_t count = 1 + below(GROUP);
    for (size_t i = 0; i < count; i++)
        if (below(2))
            do {
                all[i] = (request){0};
                make_decide(&all[i]);
            } while (may_be_its_lease(all, i));
        else if (i > 0 && all[i - 1].kind != DECIDE && below(3) == 0)
            all[i] = all[i - 1]; /* the very same, together */
        else
            make_other(&all[i]);
    ask_all(all, count, "POST");
    for (int decides = 0; decides < 2; decides++)
        for (size_t i = 0; i < count; i++)
            if ((all[i].kind == DECIDE) == decides)
                check_answer(&all[i]);
    for (size_t i = 0; i < count; i++)
        clear(&all[i]);
}

static void do_pause(void)
{
    request r = {.kind = PAUSE, .experiment = below(EXPERIMENTS)};
    const bool pauses = below(3) == 0;
    snprintf(r.path, sizeof r.path, "/v1/experiments/%s/%s",
             names[r.experiment], pauses ? "pause" : "resume");
    ask_all(&r, 1, "POST");
    check_answer(&r);
    assert_true(json_is_true(json_object_get(r.json, "paused")) == pauses);
    clear(&r);
    if (pauses != world.is_paused[r.experiment])
        (pauses ? world.pauses : world.resumes)[r.experiment]++;
    world.is_paused[r.experiment] = pauses;
}

/* An arm comes, under a new name, or goes. */
static void do_arm(void)
{
    request r = {.kind = PAUSE, .experiment = below(EXPERIMENTS)};
    const size_t e = r.experiment, count = world.n_arms[e];
    const bool comes = below(2) != 0;
    const size_t arm = below(count + (comes && count < MOST_ARMS));
    size_t there = 0;
    char name[8];
    for (size_t k = 0; k < count; k++)
        there += !world.is_gone[e][k];
    name_of(arm, name);
    if (comes && arm < count && world.is_gone[e][arm])
        return; /* that would be another arm of the name */
    snprintf(r.path, sizeof r.path, "/v1/experiments/%s/arms%s%s", names[e],
             comes ? "" : "/", comes ? "" : name);
    if (comes)
        snprintf(r.body, sizeof r.body,
                 "{\"name\":\"%s\",\"features\":[%.17g,0.25]}", name,
                 feature_of(arm));
    ask_all(&r, 1, comes ? "POST" : "DELETE");
    if (comes && arm < count)
        expect(&r, 409, "code", "exists");
    else if (comes)
        expect(&r, 201, "status", "admitted");
    else if (world.is_gone[e][arm])
        expect(&r, 404, "code", "unknown_arm");
    else if (there == 1)
        assert_int_equal(r.status, 422);
    else
        expect(&r, 200, "status", "withdrawn");
    world.n_arms[e] += r.status == 201;
    if (r.status == 200)
        world.is_gone[e][arm] = true;
    clear(&r);
}

/* ---- what is told of them all ---------------------------------------------*/

static decision *find_round(size_t e, uint64_t round)
{
    for (size_t i = 0; i < world.count; i++)
        if (world.made[i].experiment == e && world.made[i].round == round)
            return &world.made[i];
    return NULL;
}

static uint64_t n_waiting(size_t e)
{
    uint64_t count = 0;
    for (size_t i = 0; i < world.count; i++)
        count += world.made[i].experiment == e &&
                 world.made[i].fate == WAITING && !world.made[i].was_expired;
    return count;
}

/* The oldest first, as many as were asked for. */
static void do_pending(size_t e)
{
    char query[32];
    const uint64_t most = below(20);
    request r = {.experiment = e, .query = query};
    size_t listed = 0;
    snprintf(query, sizeof query, "limit=%d", (int)most);
    snprintf(r.path, sizeof r.path, "/v1/experiments/%s/pending", names[e]);
    ask_all(&r, 1, "GET");
    const json_t *list = json_object_get(r.json, "pending");
    assert_true(number_of(r.json, "count") == (double)n_waiting(e));
    for (uint64_t t = 1; t <= world.rounds[e] && listed < most; t++) {
        const decision *d = find_round(e, t);
        if (d->fate != WAITING || d->was_expired)
            continue;
        const json_t *told = json_array_get(list, listed++);
        assert_string_equal(text_of(told, "id"), d->id);
        assert_string_equal(text_of(told, "arm"), d->arm);
        assert_true(number_of(told, "rounds") == (double)(world.rounds[e] - t));
    }
    assert_int_equal(json_array_size(list), listed);
    clear(&r);
}

/* How many events of a kind the log has. */
typedef struct {
    uint64_t choose, observe, cancel, expire, admit, withdraw, pause, resume,
        lease;
} counts;

static void check_event(size_t e, const json_t *told, counts *n)
{
    const char *event = text_of(told, "event");
    const decision *d = find_round(e, (uint64_t)number_of(told, "round"));
    const bool is_lease = strcmp(event, "lease") == 0;
    const bool of_choice = d != NULL && !is_lease;
    if (of_choice)
        assert_string_equal(text_of(told, "id"), d->id);
    if (strcmp(event, "choose") == 0) {
        n->choose++;
        assert_true(of_choice && d->round == n->choose);
        assert_string_equal(text_of(told, "arm"), d->arm);
        assert_string_equal(text_of(told, "at"), d->decided_at);
        assert_true(number_of(told, "probability") == d->probability);
    } else if (strcmp(event, "observe") == 0) {
        n->observe++;
        assert_true(of_choice && d->fate == REPORTED);
        assert_true(number_of(told, e == 1 ? "reward" : "loss") == d->loss);
    } else if (strcmp(event, "cancel") == 0) {
        n->cancel++;
        assert_true(of_choice && d->fate == CANCELLED);
    } else if (strcmp(event, "expire") == 0) {
        n->expire++;
        assert_true(of_choice && d->was_expired);
    } else if (strcmp(event, "admit") == 0) {
        char name[8];
        const json_t *features = json_object_get(told, "features");
        name_of(n->admit, name);
        assert_string_equal(text_of(told, "arm"), name);
        assert_int_equal(json_array_size(features), 2);
        if (n->admit++ >= 2)
            assert_true(json_number_value(json_array_get(features, 0)) ==
                            feature_of(n->admit - 1) &&
                        json_number_value(json_array_get(features, 1)) == 0.25);
    } else if (strcmp(event, "withdraw") == 0) {
        n->withdraw++;
        assert_false(has_arm(e, text_of(told, "arm")));
    } else if (is_lease) {
        n->lease++;
        assert_true(d != NULL && number_of(told, "count") == (double)d->lease);
    } else {
        n->pause += strcmp(event, "pause") == 0;
        n->resume += strcmp(event, "resume") == 0;
    }
}

static void check_counts(size_t e, const counts *n)
{
    counts w = {.choose = world.rounds[e],
                .admit = world.n_arms[e],
                .pause = world.pauses[e],
                .resume = world.resumes[e]};
    for (size_t i = 0; i < world.count; i++) {
        const decision *d = &world.made[i];
        w.observe += d->experiment == e && d->fate == REPORTED;
        w.cancel += d->experiment == e && d->fate == CANCELLED;
        w.expire += d->experiment == e && d->was_expired;
        w.lease += d->experiment == e && d->lease > 0;
    }
    for (size_t k = 0; k < world.n_arms[e]; k++)
        w.withdraw += world.is_gone[e][k];
    assert_memory_equal(n, &w, sizeof w);
}

/* Every event once, in order, with all that is known of it. */
static void do_log(size_t e)
{
    request r = {.experiment = e};
    counts n = {0};
    uint64_t seq = 0;
    char last_at[40] = "";
    snprintf(r.path, sizeof r.path, "/v1/experiments/%s/log", names[e]);
    ask_all(&r, 1, "GET");
    for (;;) {
        assert_int_equal(r.status, 200);
        char *rest, *line = strtok_r(r.text, "\n", &rest);
        for (; line != NULL; line = strtok_r(NULL, "\n", &rest)) {
            json_t *told = json_loads(line, 0, NULL);
            assert_true(number_of(told, "seq") == (double)++seq);
            assert_true(strcmp(text_of(told, "at"), last_at) >= 0);
            snprintf(last_at, sizeof last_at, "%s", text_of(told, "at"));
            check_event(e, told, &n);
            json_decref(told);
        }
        tarry__service_stream *stream = r.stream;
        clear(&r);
        if (stream == NULL)
            break;
        r.has_come = false;
        tarry__service_next(world.service, stream, receive, &r);
        wait_for(&r);
    }
    check_counts(e, &n);
}

/* The value of a line of the metrics, which must be there. */
static double metric(const char *text, const char *line)
{
    const char *at = strstr(text, line);
    if (at == NULL)
        fail_msg("no %s", line);
    return strtod(at + strlen(line), NULL);
}

static void do_metrics(void)
{
    request r = {.path = "/metrics"};
    char line[200];
    uint64_t delays = 0;
    ask_all(&r, 1, "GET");
    for (size_t e = 0; e < EXPERIMENTS; e++) {
        snprintf(line, sizeof line,
                 "\ntarry_decisions_total{experiment=\"%s\"}", names[e]);
        assert_true(metric(r.text, line) ==
                    (double)world.since_start.decisions[e]);
        snprintf(line, sizeof line, "\ntarry_pending{experiment=\"%s\"}",
                 names[e]);
        assert_true(metric(r.text, line) == (double)n_waiting(e));
        for (size_t k = 0; k < RESULTS; k++) {
            snprintf(line, sizeof line,
                     "\ntarry_feedback_total{experiment=\"%s\",status=\"%s\"}",
                     names[e], results[k]);
            const double told = metric(r.text, line);
            const double known = (double)world.since_start.outcomes[e][k];
            /* an id nobody has may be of an experiment by its looks */
            assert_true(k == UNKNOWN || k == INVALID ? told >= known
                                                     : told == known);
        }
        delays += world.since_start.outcomes[e][APPLIED] +
                  world.since_start.outcomes[e][LATE];
    }
    assert_true(metric(r.text, "\ntarry_feedback_delay_seconds_count") ==
                (double)delays);
    assert_true(metric(r.text, "\ntarry_store_writable") == 1);
    clear(&r);
}

static const char *state_of(const decision *d)
{
    return d->fate == REPORTED    ? "observed"
           : d->fate == CANCELLED ? "cancelled"
           : d->was_expired       ? "expired"
                                  : "pending";
}

/* The last decisions, newest first. */
static void check_recent(size_t e, const json_t *list)
{
    const size_t count = world.rounds[e] < 32 ? world.rounds[e] : 32;
    assert_int_equal(json_array_size(list), count);
    for (size_t i = 0; i < count; i++) {
        const json_t *told = json_array_get(list, i);
        const decision *d = find_round(e, world.rounds[e] - i);
        assert_string_equal(text_of(told, "id"), d->id);
        assert_string_equal(text_of(told, "arm"), d->arm);
        assert_string_equal(text_of(told, "state"), state_of(d));
        assert_true(number_of(told, "round") == (double)d->round);
        assert_true(number_of(told, "probability") == d->probability);
        assert_true(json_is_null(json_object_get(told, "ended")) ==
                    (d->fate == WAITING && !d->was_expired));
        assert_true(json_is_null(json_object_get(told, "value")) ==
                    (d->fate != REPORTED));
        if (d->fate == REPORTED)
            assert_true(number_of(told, "value") == d->loss);
    }
}

static void check_arms(size_t e, const json_t *list)
{
    assert_int_equal(json_array_size(list), world.n_arms[e]);
    for (size_t i = 0; i < world.n_arms[e]; i++) {
        const json_t *told = json_array_get(list, i);
        const char *arm = text_of(told, "arm");
        double decisions = 0, outcomes = 0, pending = 0, sum = 0;
        for (size_t k = 0; k < world.count; k++) {
            const decision *d = &world.made[k];
            if (d->experiment != e || strcmp(d->arm, arm) != 0)
                continue;
            decisions++;
            outcomes += d->fate == REPORTED;
            sum += d->fate == REPORTED ? d->loss : 0;
            pending += d->fate == WAITING && !d->was_expired;
        }
        assert_true(json_is_true(json_object_get(told, "available")) ==
                    has_arm(e, arm));
        assert_true(number_of(told, "decisions") == decisions);
        assert_true(number_of(told, "outcomes") == outcomes);
        assert_true(number_of(told, "pending") == pending);
        assert_true(json_is_null(json_object_get(told, "mean")) ==
                    (outcomes == 0));
        CHECK_NEAR(number_of(told, "mean"), outcomes > 0 ? sum / outcomes : 0,
                   1e-9);
    }
}

static void do_overview(size_t e)
{
    request r = {.experiment = e};
    double outcomes = 0, cancelled = 0, aged = 0;
    snprintf(r.path, sizeof r.path, "/v1/experiments/%s/overview", names[e]);
    ask_all(&r, 1, "GET");
    expect(&r, 200, "experiment", names[e]);
    for (size_t i = 0; i < world.count; i++) {
        const decision *d = &world.made[i];
        outcomes += d->experiment == e && d->fate == REPORTED;
        cancelled += d->experiment == e && d->fate == CANCELLED;
    }
    assert_true(number_of(r.json, "events") ==
                number_of(r.json, "events_read"));
    assert_true(number_of(r.json, "n_arms") == (double)world.n_arms[e]);
    assert_true(number_of(r.json, "decisions") == (double)world.rounds[e]);
    assert_true(number_of(r.json, "outcomes") == outcomes);
    assert_true(number_of(r.json, "cancelled") == cancelled);
    assert_true(number_of(r.json, "pending") == (double)n_waiting(e));
    size_t i;
    json_t *bin;
    json_array_foreach(json_object_get(r.json, "ages"), i, bin)
    {
        assert_true(json_real_value(json_array_get(bin, 0)) <
                    json_real_value(json_array_get(bin, 1)));
        aged += (double)json_integer_value(json_array_get(bin, 2));
    }
    assert_true(aged == (double)n_waiting(e));
    bool has_curve = false; /* of all arms together */
    json_array_foreach(json_object_get(r.json, "delays"), i, bin) has_curve |=
        json_is_null(json_object_get(bin, "arm"));
    assert_true(has_curve == (outcomes > 0));
    check_arms(e, json_object_get(r.json, "arms"));
    check_recent(e, json_object_get(r.json, "recent"));
    clear(&r);
}

/* What is asked of an experiment that is not there. */
static void do_stranger(void)
{
    static const struct {
        const char *method, *path;
    } routes[] = {{"GET", ""},           {"GET", "/status"},
                  {"GET", "/pending"},   {"GET", "/log"},
                  {"GET", "/overview"},  {"POST", "/pause"},
                  {"POST", "/resume"},   {"POST", "/arms"},
                  {"DELETE", "/arms/x"}, {"POST", "/decisions"}};
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        request r = {.body = "{}"};
        snprintf(r.path, sizeof r.path, "/v1/experiments/nobody%s",
                 routes[i].path);
        ask_all(&r, 1, routes[i].method);
        expect(&r, 404, "code", "unknown_experiment");
        clear(&r);
    }
}

/* What they were made with, in the order they were made. */
static void do_list(void)
{
    request r = {.path = "/v1/experiments"};
    ask_all(&r, 1, "GET");
    const json_t *list = json_object_get(r.json, "experiments");
    assert_int_equal(json_array_size(list), EXPERIMENTS);
    for (size_t e = 0; e < EXPERIMENTS; e++) {
        const json_t *told = json_array_get(list, e);
        const json_t *range = json_object_get(told, "range");
        assert_string_equal(text_of(told, "name"), names[e]);
        assert_string_equal(text_of(told, "policy"), "lints");
        assert_string_equal(text_of(told, "objective"),
                            e == 1 ? "maximize" : "minimize");
        assert_true(json_number_value(json_array_get(range, 0)) == 0 &&
                    json_number_value(json_array_get(range, 1)) == 1);
        assert_true(number_of(told, "seed") == 2385 + (double)e);
        assert_true(json_is_null(json_object_get(told, "horizon")));
        assert_true(number_of(told, "confidence") == 0.99);
        assert_true(number_of(told, "dim") == 2);
        assert_true(number_of(told, "arms") == 2);
        assert_string_equal(text_of(told, "expire_after"), e == 2 ? "7d" : "");
        assert_true(number_of(told, "decisions") == (double)world.rounds[e]);
        assert_true(number_of(told, "pending") == (double)n_waiting(e));
    }
    clear(&r);
}

static void do_status(size_t e)
{
    request r = {.experiment = e};
    json_int_t pending = 0, expired = 0, cancelled = 0;
    snprintf(r.path, sizeof r.path, "/v1/experiments/%s/status", names[e]);
    ask_all(&r, 1, "GET");
    for (size_t i = 0; i < world.count; i++) {
        const decision *d = &world.made[i];
        const bool waits = d->experiment == e && d->fate == WAITING;
        pending += waits && !d->was_expired;
        expired += waits && d->was_expired;
        cancelled += d->experiment == e && d->fate == CANCELLED;
    }
    expect(&r, 200, "policy", "lints");
    const struct {
        const char *key;
        json_int_t value;
    } wanted[] = {{"round", (json_int_t)world.rounds[e]},
                  {"pending", pending},
                  {"expired", expired},
                  {"cancelled", cancelled}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_int_equal(
            json_integer_value(json_object_get(r.json, wanted[i].key)),
            wanted[i].value);
    clear(&r);
}

static void open_service(void)
{
    const tarry__service_limits limits = tarry__service_default_limits();
    tarry_error error = {""};
    if (tarry__service_open(world.url, &limits, &world.service, &error) !=
        TARRY_OK)
        fail_msg("%s", error.text);
    tarry__service_gather(world.service);
}

static void do_restart(void)
{
    tarry__service_close(world.service);
    memset(&world.since_start, 0, sizeof world.since_start);
    open_service();
}

static void make_experiments(void)
{
    for (size_t e = 0; e < EXPERIMENTS; e++) {
        request r = {.experiment = e, .path = "/v1/experiments"};
        snprintf(r.body, sizeof r.body,
                 "{\"name\":\"%s\",\"policy\":\"lints\",\"range\":[0,1],"
                 "\"objective\":\"%s\",\"seed\":%d,%s\"arms\":"
                 "[{\"name\":\"x\"},{\"name\":\"y\"}]}",
                 names[e], e == 1 ? "maximize" : "minimize", 2385 + (int)e,
                 e == 2 ? "\"expire_after\":\"7d\"," : "");
        world.n_arms[e] = 2;
        ask_all(&r, 1, "POST");
        expect(&r, 201, "name", names[e]);
        clear(&r);
    }
}

static void services_do_as_the_model_says(void **state)
{
    const char *seed = getenv("TARRY_SEED");
    const int steps = (int)amount(1500, 1500, 30000);
    (void)state;
    world.seed = seed != NULL ? strtoull(seed, NULL, 10) : 2385;
    world.made = calloc(ROOM, sizeof *world.made);
    assert_non_null(world.made);
    open_service();
    make_experiments();
    for (int i = 0; i < steps; i++) {
        const uint64_t what = below(100);
        if (what < 86)
            do_group();
        else if (what < 89)
            do_pause();
        else if (what < 91)
            do_arm();
        else if (what < 93)
            do_status(below(EXPERIMENTS));
        else if (what < 94)
            do_overview(below(EXPERIMENTS));
        else if (what < 95)
            do_pending(below(EXPERIMENTS));
        else if (what < 96)
            do_metrics();
        else if (what < 97)
            do_list();
        else if (what < 98)
            do_log(below(EXPERIMENTS));
        else
            do_restart();
    }
    for (size_t e = 0; e < EXPERIMENTS; e++)
        do_log(e);
    do_stranger();
    tarry__service_close(world.service);
    free(world.made);
    print_message("%zu decisions\n", world.count);
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(world.folder, "/dev/shm/tarry-service-XXXXXX"); /* quick flushes */
    if (mkdtemp(world.folder) == NULL) {
        strcpy(world.folder, "/tmp/tarry-service-XXXXXX");
        if (mkdtemp(world.folder) == NULL)
            return -1;
    }
    snprintf(world.url, sizeof world.url, "sqlite:%s/s.db", world.folder);
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-lock"};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char path[100];
        snprintf(path, sizeof path, "%s/s.db%s", world.folder, ends[i]);
        unlink(path);
    }
    return rmdir(world.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(services_do_as_the_model_says),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
