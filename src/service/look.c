/* look.c - the overview of an experiment, for the dashboard.
 *
 * Nothing is kept while decisions are made: whoever asks makes the overview
 * read what the log has got since, in parts, so that commits come in between,
 * and for a quarter of a second at most.  What is left is read when it is
 * asked for again. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <time.h>
#include "base/base.h"
#include "service/inner.h"

enum {
    PART = 500,         /* events that are read at a time */
    REST_NS = 1000000,  /* between two parts: who waits for the store has it */
    EVERY_MS = 1000,    /* at most, a certificate is noted */
    AT_ONCE = 4,        /* experiments that are looked at in a tick */
    CHEAP = 4 * 1000000 /* arms times dim^2: what the keeper may spend */
};
static const double BUDGET_SECONDS = 0.25;

typedef struct {
    tarry__overview *overview;
    size_t left;
} reading;

static tarry_status read_event(void *context, const tarry__store_event *e)
{
    reading *r = context;
    if (r->left == 0)
        return TARRY_CANCELLED;
    r->left--;
    return tarry__overview_take(r->overview, e);
}

/* Reads on; with the overview's lock. */
static tarry_status catch_up(tarry__service *s, tarry__service_experiment *e,
                             uint64_t *events, tarry_error *error)
{
    const double end = tarry__base_seconds() + BUDGET_SECONDS;
    tarry_status status;
    *events = tarry__store_events(s->store, e->number, NULL);
    do {
        reading r = {e->overview, PART};
        status = tarry__store_scan(s->store, e->number,
                                   tarry__overview_seq(e->overview), read_event,
                                   &r, error);
        if (status == TARRY_CANCELLED)
            nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
    } while (status == TARRY_CANCELLED && tarry__base_seconds() < end);
    return status == TARRY_CANCELLED ? TARRY_OK : status;
}

/* With both locks. */
static void note(tarry__service_experiment *e)
{
    size_t arm;
    double gap = NAN;
    tarry_policy *policy =
        e->session != NULL ? tarry__session_policy(e->session) : NULL;
    if (policy != NULL && tarry_policy_certify(policy, &arm, &gap) == TARRY_OK)
        tarry__overview_certify(e->overview, tarry__session_now(), gap);
}

static bool has_overview(tarry__service_experiment *e)
{
    if (e->overview == NULL)
        e->overview = tarry__overview_create(e->made);
    return e->overview != NULL;
}

/* An experiment that another process owns is looked at there. */
static tarry_status hold_and_note(tarry__service_call *c,
                                  tarry__service_experiment *e,
                                  tarry_error *error)
{
    pthread_mutex_lock(&e->lock);
    const tarry_status status = tarry__service_hold(c, e, error);
    if (status == TARRY_OK)
        note(e);
    pthread_mutex_unlock(&e->lock);
    return status;
}

static void answer(tarry__service_call *c, tarry__service_experiment *e)
{
    tarry_error error = {""};
    uint64_t events;
    tarry_status status =
        has_overview(e) ? hold_and_note(c, e, &error) : TARRY_NO_MEMORY;
    if (status == TARRY_OK)
        status = catch_up(c->service, e, &events, &error);
    if (status != TARRY_OK) {
        tarry__service_say_refusal(c, status, &error);
        return;
    }
    tarry__service_say_json(
        c, 200,
        tarry__overview_json(e->overview, events, tarry__session_now()));
}

void tarry__service_overview(tarry__service_call *c)
{
    tarry__service_experiment *e = tarry__service_named(c);
    if (e == NULL)
        return;
    tarry_error error = {""};
    pthread_mutex_lock(&e->lock);
    const tarry_status status = tarry__service_hold(c, e, &error);
    pthread_mutex_unlock(&e->lock);
    if (status != TARRY_OK) {
        tarry__service_say_refusal(c, status, &error);
        return;
    }
    pthread_mutex_lock(&e->overview_lock);
    answer(c, e);
    pthread_mutex_unlock(&e->overview_lock);
}

/* Certificates are noted now and then, whether or not somebody looks. */
static void look_at(tarry__service_experiment *e)
{
    const int64_t now = tarry__session_now();
    const double dim = (double)e->made->dim, arms = (double)e->made->n_arms;
    if (now - e->noted_at < EVERY_MS || arms * dim * dim > CHEAP ||
        pthread_mutex_trylock(&e->overview_lock) != 0)
        return;
    if (pthread_mutex_trylock(&e->lock) == 0) {
        if (has_overview(e))
            note(e);
        e->noted_at = now;
        pthread_mutex_unlock(&e->lock);
    }
    pthread_mutex_unlock(&e->overview_lock);
}

void tarry__service_look_around(tarry__service *s)
{
    for (size_t i = 0; i < AT_ONCE; i++) {
        tarry__service_experiment *e = tarry__service_at(s, s->looked_at++);
        if (e == NULL) {
            s->looked_at = 0;
            return;
        }
        look_at(e);
    }
}
