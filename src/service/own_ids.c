/* own_ids.c - an id of somebody's own names one request: one choice, which has
 * that id, or a lease of many, of which choice i has that id, a dot and i.
 *
 * All ids of a request are looked at before it runs, since a lease that is
 * refused half-way takes its whole group with it.  What a group has given is
 * not in the store yet: a request that may want the same waits for the next.
 * Many may ask for one id at once, so they must not wait one for another: what
 * is stored holds nobody up, and the same request again finds what the first
 * one was given in the session. */
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "service/inner.h"
#include "session/names.h"

/* ---- in the store ---------------------------------------------------------*/

tarry_status tarry__service_owner_of(tarry__service *s, const char *id,
                                     uint64_t *experiment, tarry_error *error)
{
    uint64_t round;
    bool found;
    *experiment = 0;
    const tarry_status status =
        tarry__store_look_id(s->store, id, experiment, &round, &found, error);
    if (!found)
        *experiment = 0;
    return status;
}

/* The same for choice i of a lease. */
static tarry_status owner_of_part(tarry__service *s, const char *own,
                                  uint64_t i, uint64_t *experiment,
                                  tarry_error *error)
{
    char id[TARRY__SESSION_ID_ROOM + 24];
    snprintf(id, sizeof id, "%s.%ju", own, (uintmax_t)i);
    return tarry__service_owner_of(s, id, experiment, error);
}

/* Who has the id of choice i of a lease that would be new, be it for a choice
 * or for a lease; 0: nobody. */
static tarry_status taker_of_part(tarry__service *s, const char *own,
                                  uint64_t i, uint64_t *experiment,
                                  tarry_error *error)
{
    char id[TARRY__SESSION_ID_ROOM];
    snprintf(id, sizeof id, "%s.%ju", own, (uintmax_t)i);
    const tarry_status status =
        tarry__service_owner_of(s, id, experiment, error);
    return status == TARRY_OK && *experiment == 0
               ? owner_of_part(s, id, 0, experiment, error)
               : status;
}

/* How many choices a lease was asked for: 0 if that was not noted. */
static tarry_status lease_count(const tarry__service_experiment *e,
                                const char *own, uint64_t *count,
                                tarry_error *error)
{
    char first[TARRY__SESSION_ID_ROOM];
    uint64_t round;
    snprintf(first, sizeof first, "%s.0", own);
    const tarry_status status = tarry__session_round(e->session, first, &round);
    return status == TARRY_OK
               ? tarry__session_lease_count(e->session, round, count, error)
               : status;
}

/* All ids of a lease are new, or it was given here with this count. */
static tarry_status compare_lease(tarry__service_call *c, const char *own,
                                  const tarry__service_experiment *e,
                                  uint64_t count, bool *same,
                                  tarry_error *error)
{
    tarry__service *s = c->service;
    uint64_t owner, asked = 0;
    tarry_status status = owner_of_part(s, own, 0, &owner, error);
    c->is_new = owner == 0;
    if (status == TARRY_OK && owner == e->number)
        status = lease_count(e, own, &asked, error);
    for (uint64_t i = 0; status == TARRY_OK && owner == 0 && i < count; i++)
        status = taker_of_part(s, own, i, &owner, error);
    *same = owner == 0 || asked == count;
    return status;
}

/* Whether an id is new, or names this request: the same experiment and the same
 * count. */
static tarry_status compare(tarry__service_call *c, const char *own,
                            const tarry__service_experiment *e, uint64_t count,
                            bool *same, tarry_error *error)
{
    uint64_t one, first = 0; /* experiments */
    tarry_status status = tarry__service_owner_of(c->service, own, &one, error);
    *same = one == 0 || (count == 0 && one == e->number);
    c->is_new = one == 0;
    if (status != TARRY_OK || !*same || one != 0) /* its own answer again */
        return status;
    if (count > 0)
        return compare_lease(c, own, e, count, same, error);
    status = owner_of_part(c->service, own, 0, &first, error);
    *same = first == 0;
    return status;
}

/* ---- in the group ---------------------------------------------------------*/

/* What is known of a text: a request of the group has it as its id, and is a
 * lease; one has it with a dot and a number behind.  Above that, the request's
 * count, below all rounds that there can be, and the number of its experiment.
 */
enum { ASKED = 1, LEASE = 2, STEM = 4, FLAGS = 8, COUNT_BITS = 40 };

static uint64_t mark(const tarry__service_experiment *e, uint64_t count)
{
    return FLAGS * (e->number << COUNT_BITS | count) +
           (count > 0 ? ASKED | LEASE : ASKED);
}

/* The lease that an id would be of, or "". */
static void copy_stem(const char *own, char stem[TARRY__SESSION_ID_ROOM])
{
    uint64_t number;
    const char *dot = strrchr(own, '.');
    const bool has = dot != NULL && tarry__names_is_number(dot + 1, &number);
    snprintf(stem, TARRY__SESSION_ID_ROOM, "%.*s", has ? (int)(dot - own) : 0,
             own);
}

static bool add(tarry__texts *ids, const char *text, uint64_t known)
{
    return *text == '\0' ||
           tarry__texts_add(ids, text, known, NULL) == TARRY_OK;
}

static bool must_wait(const tarry__service_call *c, const char *own,
                      const tarry__service_experiment *e, uint64_t count)
{
    const tarry__texts *ids = &c->service->ids;
    char stem[TARRY__SESSION_ID_ROOM];
    uint64_t known = 0, above = 0;
    copy_stem(own, stem);
    tarry__texts_find(ids, own, &known);
    tarry__texts_find(ids, stem, &above);
    const bool is_lease = count > 0;
    const uint64_t others = is_lease ? known : known & ~(uint64_t)STEM;
    return (above & LEASE) != 0 ||
           (others != mark(e, count) &&
            (known & (is_lease ? ASKED | STEM : ASKED)) != 0);
}

static bool remember(tarry__service_call *c, const char *own,
                     const tarry__service_experiment *e, uint64_t count)
{
    tarry__texts *ids = &c->service->ids;
    char stem[TARRY__SESSION_ID_ROOM];
    uint64_t above = 0;
    copy_stem(own, stem);
    tarry__texts_find(ids, stem, &above);
    return add(ids, own, mark(e, count)) && add(ids, stem, above | STEM);
}

bool tarry__service_was_given(const tarry__service_call *c,
                              const tarry__service_experiment *e)
{
    char first[TARRY__SESSION_ID_ROOM];
    uint64_t round;
    snprintf(first, sizeof first, "%s.0", c->own);
    return tarry__session_round(e->session, first, &round) == TARRY_OK;
}

/* ---- both -----------------------------------------------------------------*/

/* Of one choice the session says it. */
static bool fits(const char *own, uint64_t count)
{
    char last[24];
    snprintf(last, sizeof last, ".%ju", (uintmax_t)count - 1);
    return count == 0 || (*own != '\0' &&
                          strlen(own) + strlen(last) <= TARRY__SESSION_MOST_ID);
}

bool tarry__service_id_is_taken(tarry__service_call *c, const char *own,
                                const tarry__service_experiment *e,
                                uint64_t count)
{
    tarry_error error = {""};
    bool same = false;
    if (!fits(own, count)) {
        tarry__service_say_problem(c, 422, "invalid",
                                   "an id must be 1 to %d characters, with "
                                   "\"count\" a dot and the last number "
                                   "included; got \"%.100s\"",
                                   TARRY__SESSION_MOST_ID, own);
        return true;
    }
    c->is_put_off = must_wait(c, own, e, count);
    if (c->is_put_off)
        return true;
    const tarry_status status = compare(c, own, e, count, &same, &error);
    if (status != TARRY_OK)
        tarry__service_say_refusal(c, status, &error);
    else if (!same)
        tarry__service_say_problem(
            c, 409, "conflict",
            "id \"%.100s\" was given for another request "
            "(another experiment or count)",
            own);
    else if (c->is_new && !remember(c, own, e, count))
        tarry__service_say_problem(c, 503, "out_of_memory", "out of memory");
    else
        return false;
    return true;
}
