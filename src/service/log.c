/* log.c - an experiment's log as lines of JSON, part by part.
 *
 * A part is read from the store, which is then free for commits; the ids that
 * users gave are looked up after it, as a scan may not ask the store. */
#include <string.h>
#include "base/base.h"
#include "service/inner.h"

enum { PART = 200 }; /* events */

struct tarry__service_stream {
    tarry__service_experiment *experiment;
    uint64_t seq, last; /* what has been told, and is to be told */
};

void tarry__service_stream_free(tarry__service_stream *stream)
{
    tarry__base_free(stream);
}

typedef struct {
    tarry__store_event event[PART];
    char id[PART][TARRY__STORE_ID_ROOM]; /* of choices, "" if generated */
    char *name[PART];                    /* of admitted arms */
    double *features[PART];
    size_t count, dim;
    uint64_t last;
} part;

static void *copy_of(const void *from, size_t size)
{
    void *copy = from != NULL ? tarry__base_alloc(size, 1) : NULL;
    if (copy != NULL)
        memcpy(copy, from, size);
    return copy;
}

static tarry_status take(void *context, const tarry__store_event *e)
{
    part *p = context;
    if (p->count == PART || e->seq > p->last)
        return TARRY_CANCELLED; /* enough */
    const size_t i = p->count++;
    p->event[i] = *e;
    p->id[i][0] = '\0';
    p->name[i] = NULL;
    p->features[i] = NULL;
    if (e->kind == TARRY__STORE_CHOOSE && e->text != NULL)
        strncat(p->id[i], e->text, TARRY__STORE_ID_ROOM - 1);
    else if (e->text != NULL)
        p->name[i] = copy_of(e->text, strlen(e->text) + 1);
    if (e->features != NULL)
        p->features[i] = copy_of(e->features, p->dim * sizeof(double));
    const bool has_name = e->kind != TARRY__STORE_CHOOSE && e->text != NULL;
    return (has_name && p->name[i] == NULL) ||
                   (e->features != NULL && p->features[i] == NULL)
               ? TARRY_NO_MEMORY
               : TARRY_OK;
}

static void clear(part *p)
{
    for (size_t i = 0; i < p->count; i++) {
        tarry__base_free(p->name[i]);
        tarry__base_free(p->features[i]);
    }
    tarry__base_free(p);
}

/* The id of the choice that an outcome or an end belongs to. */
static tarry_status find_id(tarry__service *s,
                            const tarry__service_experiment *e, part *p,
                            size_t i, tarry_error *error)
{
    tarry__store_event choice;
    bool found;
    return p->event[i].kind != TARRY__STORE_CHOOSE && p->event[i].round != 0
               ? tarry__store_look(s->store, e->number, TARRY__STORE_CHOOSE,
                                   p->event[i].round, &choice, p->id[i], &found,
                                   error)
               : TARRY_OK;
}

static void put_arm(tarry__writer *t, const tarry__service_experiment *e,
                    const part *p, size_t i)
{
    const char *name = p->name[i];
    if (name == NULL)
        name = tarry__session_arm_name(e->session, p->event[i].arm);
    tarry__writer_put(t, ",\"arm\":");
    if (name != NULL)
        tarry__writer_quote(t, name);
    else
        tarry__writer_print(t, "%ju", (uintmax_t)p->event[i].arm);
}

static void put_features(tarry__writer *t, const part *p, size_t i)
{
    tarry__writer_put(t, ",\"features\":[");
    for (size_t j = 0; p->features[i] != NULL && j < p->dim; j++) {
        tarry__writer_put(t, j > 0 ? "," : "");
        tarry__writer_real(t, p->features[i][j]);
    }
    tarry__writer_put(t, "]");
}

static void put_id(tarry__writer *t, const tarry__service_experiment *e,
                   const part *p, size_t i)
{
    char generated[TARRY__SESSION_ID_ROOM];
    const char *id = p->id[i];
    if (id[0] == '\0') {
        tarry__session_id(e->session, p->event[i].round, generated);
        id = generated;
    }
    tarry__writer_put(t, ",\"id\":");
    tarry__writer_quote(t, id);
    tarry__writer_print(t, ",\"round\":%ju", (uintmax_t)p->event[i].round);
}

static void put_event(tarry__writer *t, const tarry__service_experiment *e,
                      const part *p, size_t i)
{
    const tarry__store_event *v = &p->event[i];
    tarry__writer_print(t, "{\"seq\":%ju,\"event\":\"%s\"", (uintmax_t)v->seq,
                        tarry__store_event_name(v->kind));
    if (v->round != 0)
        put_id(t, e, p, i);
    if (v->kind == TARRY__STORE_CHOOSE || v->kind == TARRY__STORE_ADMIT ||
        v->kind == TARRY__STORE_WITHDRAW)
        put_arm(t, e, p, i);
    if (v->kind == TARRY__STORE_ADMIT && p->features[i] != NULL)
        put_features(t, p, i);
    if (v->kind == TARRY__STORE_CHOOSE || v->kind == TARRY__STORE_OBSERVE ||
        v->kind == TARRY__STORE_DEFAULT) {
        tarry__writer_put(t, v->kind == TARRY__STORE_CHOOSE
                                 ? ",\"probability\":"
                             : e->made->maximize ? ",\"reward\":"
                                                 : ",\"loss\":");
        tarry__writer_real(t, v->value);
    }
    if (v->kind == TARRY__STORE_CUT || v->kind == TARRY__STORE_LEASE)
        tarry__writer_print(t, ",\"round\":%ju,\"count\":%.0f",
                            (uintmax_t)v->arm, v->value);
    tarry__writer_put(t, ",\"at\":");
    tarry__writer_time(t, v->at);
    tarry__writer_put(t, "}\n");
}

/* Reads the next part; all of it, or an error. */
static tarry_status read_part(tarry__service *s, tarry__service_stream *stream,
                              part *p, tarry_error *error)
{
    const tarry__service_experiment *e = stream->experiment;
    p->count = 0;
    p->dim = e->made->dim;
    p->last = stream->last;
    tarry_status status =
        tarry__store_scan(s->store, e->number, stream->seq, take, p, error);
    if (status == TARRY_NO_MEMORY)
        return tarry__base_fail(error, status, "out of memory");
    if (status == TARRY_CANCELLED) /* enough */
        status = TARRY_OK;
    for (size_t i = 0; status == TARRY_OK && i < p->count; i++)
        status = find_id(s, e, p, i, error);
    return status;
}

/* Says a part; *stream moves past it, or ends. */
static void say_part(tarry__service_call *c, tarry__service_stream *stream,
                     const part *p)
{
    tarry__service_experiment *e = stream->experiment;
    pthread_mutex_lock(&e->lock); /* for the names of arms */
    for (size_t i = 0; i < p->count; i++) {
        put_event(&c->text, e, p, i);
        stream->seq = p->event[i].seq;
    }
    pthread_mutex_unlock(&e->lock);
    const bool is_last = p->count == 0 || stream->seq == stream->last;
    c->answer.type = "application/x-ndjson";
    tarry__service_say(c, 200);
    if (is_last)
        tarry__service_stream_free(stream);
    else
        c->answer.stream = stream;
}

/* What cannot be read is refused; behind the first part that cuts the answer
 * short. */
static void tell(tarry__service_call *c, tarry__service_stream *stream)
{
    tarry_error error = {"out of memory"};
    part *p = tarry__base_zalloc(1, sizeof *p);
    const tarry_status status =
        p != NULL ? read_part(c->service, stream, p, &error) : TARRY_NO_MEMORY;
    if (status == TARRY_OK) {
        say_part(c, stream, p);
    } else {
        tarry__service_say_refusal(c, status, &error);
        tarry__service_stream_free(stream);
    }
    if (p != NULL)
        clear(p);
}

void tarry__service_log_part(tarry__service_call *c)
{
    tell(c, c->stream);
}

void tarry__service_log(tarry__service_call *c)
{
    tarry__service_experiment *e = tarry__service_named(c);
    tarry_error error = {""};
    if (e == NULL)
        return;
    pthread_mutex_lock(&e->lock);
    const tarry_status status = tarry__service_hold(c, e, &error);
    pthread_mutex_unlock(&e->lock);
    if (status != TARRY_OK) {
        tarry__service_say_refusal(c, status, &error);
        return;
    }
    tarry__service_stream *stream = tarry__base_zalloc(1, sizeof *stream);
    if (stream == NULL) {
        tarry__service_say_problem(c, 503, "out_of_memory", "out of memory");
        return;
    }
    stream->experiment = e;
    stream->last = tarry__store_events(c->service->store, e->number, NULL);
    tell(c, stream);
}
