/* A random program of requests to a service with three experiments in one
 * store, against a plain model: ids of one's own, leases, what is said twice,
 * what belongs to another experiment, restarts.
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

enum { EXPERIMENTS = 3, GROUP = 5, OWN = 60, MOST_LEASE = 4, ROOM = 200000 };

static const char *const names[EXPERIMENTS] = {"e", "e.1", "E"};

typedef enum { WAITING, REPORTED, CANCELLED } fate;

typedef struct {
    char id[40];
    size_t experiment;
    uint64_t round;
    char arm[8];
    fate fate;
    bool was_expired;
    double loss;
} decision;

static struct {
    tarry__service *service;
    char folder[40], url[80];
    uint64_t seed;
    decision *made;
    size_t count;
    uint64_t rounds[EXPERIMENTS];
    bool is_paused[EXPERIMENTS];
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
    char path[100], body[200];
    pthread_mutex_t lock;
    pthread_cond_t come;
    bool has_come;
    int status;
    json_t *json;
} request;

static void receive(void *context, const tarry__service_answer *answer)
{
    request *r = context;
    tarry__service_answer mine = *answer;
    pthread_mutex_lock(&r->lock);
    r->status = answer->status;
    r->json = json_loadb(answer->body, answer->size, 0, NULL);
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
                                      .query = "",
                                      .body = r->body,
                                      .size = strlen(r->body),
                                      .has_length = true};
    tarry__service_take(world.service, &q, receive, r);
}

static void wait_for(request *r)
{
    pthread_mutex_lock(&r->lock);
    while (!r->has_come)
        pthread_cond_wait(&r->come, &r->lock);
    pthread_mutex_unlock(&r->lock);
    assert_non_null(r->json);
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
        snprintf(r->id, sizeof r->id, "own-%d.0", (int)n);
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
    assert_true(strcmp(d->arm, "x") == 0 || strcmp(d->arm, "y") == 0);
    world.rounds[r->experiment]++;
}

static void id_in_lease(const char *own, uint64_t i, char id[60])
{
    snprintf(id, 60, "%s.%d", own, (int)i);
}

/* How many decisions a lease has; 0: there is none of that id.  A decision
 * whose own id ends with .0 cannot be told from a lease of one. */
static uint64_t size_of_lease(const char *own, size_t *experiment)
{
    uint64_t size = 0;
    char id[60];
    const decision *d;
    for (id_in_lease(own, 0, id); (d = find(id)) != NULL; size++) {
        *experiment = d->experiment;
        id_in_lease(own, size + 1, id);
    }
    return size;
}

static void check_lease(const request *r)
{
    size_t owner = 0;
    char id[60];
    const uint64_t size = size_of_lease(r->id, &owner);
    const bool is_new = size == 0 && (r->id[0] == '\0' || find(r->id) == NULL);
    id_in_lease(r->id, 0, id);
    if (r->id[0] != '\0' &&
        (find(r->id) != NULL || (size == 0 && find(id) != NULL) ||
         (size > 0 && (owner != r->experiment || size != r->count)))) {
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
        check_decision(r, json_array_get(list, i), r->id[0] != '\0' ? id : "",
                       is_new ? NULL : find(id));
    }
}

static void check_decide(const request *r)
{
    decision *before = r->id[0] != '\0' ? find(r->id) : NULL;
    char first[60];
    id_in_lease(r->id, 0, first);
    if (r->count > 0)
        check_lease(r);
    else if (strchr(r->id, ':') != NULL) /* it looks like a generated one */
        expect(r, 422, "code", "invalid");
    else if ((before == NULL && find(first) != NULL) || /* maybe a lease's */
             (before != NULL && before->experiment != r->experiment))
        expect(r, 409, "code", "conflict");
    else if (before == NULL && world.is_paused[r->experiment])
        expect(r, 409, "code", "paused");
    else {
        expect(r, before != NULL ? 200 : 201, "code", "");
        check_decision(r, r->json, r->id, before);
    }
}

static void check_observe(const request *r, decision *d)
{
    const bool is_good = r->loss <= 1 && !r->wrong_key;
    if (d == NULL && !(r->wrong_key && r->status == 422))
        expect(r, 404, "code", "unknown_id");
    else if (!is_good)
        expect(r, 422, "code", "invalid");
    else if (d->fate == REPORTED && d->loss == r->loss)
        expect(r, 200, "status", "duplicate");
    else if (d->fate != WAITING)
        expect(r, 409, "code", "conflict");
    else {
        expect(r, 200, "status", d->was_expired ? "late" : "applied");
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

static void do_group(void)
{
    request all[GROUP] = {{0}};
    const size_t count = 1 + below(GROUP);
    for (size_t i = 0; i < count; i++)
        if (below(2))
            make_decide(&all[i]);
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
        json_decref(all[i].json);
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
    json_decref(r.json);
    world.is_paused[r.experiment] = pauses;
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
    json_decref(r.json);
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
    open_service();
}

static void make_experiments(void)
{
    for (size_t e = 0; e < EXPERIMENTS; e++) {
        request r = {.experiment = e, .path = "/v1/experiments"};
        snprintf(r.body, sizeof r.body,
                 "{\"name\":\"%s\",\"policy\":\"lints\",\"range\":[0,1],"
                 "\"objective\":\"%s\",\"arms\":[{\"name\":\"x\"},"
                 "{\"name\":\"y\"}]}",
                 names[e], e == 1 ? "maximize" : "minimize");
        ask_all(&r, 1, "POST");
        expect(&r, 201, "name", names[e]);
        json_decref(r.json);
    }
}

static void services_do_as_the_model_says(void **state)
{
    const char *seed = getenv("TARRY_SEED");
    const int steps = getenv("TARRY_CAMPAIGN") != NULL ? 30000 : 1500;
    (void)state;
    world.seed = seed != NULL ? strtoull(seed, NULL, 10) : 2385;
    world.made = calloc(ROOM, sizeof *world.made);
    assert_non_null(world.made);
    open_service();
    make_experiments();
    for (int i = 0; i < steps; i++) {
        const uint64_t what = below(100);
        if (what < 90)
            do_group();
        else if (what < 93)
            do_pause();
        else if (what < 98)
            do_status(below(EXPERIMENTS));
        else
            do_restart();
    }
    for (size_t e = 0; e < EXPERIMENTS; e++)
        do_status(e);
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
