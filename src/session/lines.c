/* lines.c - see lines.h.  A bad line gets an `error` line and changes nothing.
 */
#define _POSIX_C_SOURCE 200809L
#include "session/lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "arms/source.h"
#include "base/base.h"
#include "base/json.h"
#include "base/spec.h"

enum { MOST_CHOICES = 1000000 }; /* per line */

/* An answer that stands only if the commit succeeds. */
typedef struct {
    size_t begin, end; /* in the buffer */
} span;

struct tarry__session_lines {
    tarry__session *session;
    tarry__session_lines_options options;
    char *text; /* the answers */
    size_t size, room;
    bool is_lost; /* there was no memory for an answer */
    span *open;   /* answers that wait for the commit, in order */
    size_t n_open, open_room;
    size_t waiting; /* lines */
};

tarry__session_lines *
tarry__session_lines_create(tarry__session *session,
                            tarry__session_lines_options options)
{
    tarry__session_lines *l = tarry__base_zalloc(1, sizeof *l);
    if (l != NULL) {
        l->session = session;
        l->options = options;
    }
    return l;
}

void tarry__session_lines_free(tarry__session_lines *l)
{
    if (l == NULL)
        return;
    tarry__base_free(l->text);
    tarry__base_free(l->open);
    tarry__base_free(l);
}

/* ---- answers --------------------------------------------------------------*/

static bool reserve(tarry__session_lines *l, size_t more)
{
    if (more <= l->room - l->size)
        return true;
    const size_t room = 2 * l->room + more + 4096;
    char *bigger = tarry__base_grow(l->text, l->size, room, 1);
    if (bigger == NULL) {
        l->is_lost = true;
        return false;
    }
    l->text = bigger;
    l->room = room;
    return true;
}

static void put(tarry__session_lines *l, const char *text, size_t length)
{
    if (length == 0 || !reserve(l, length))
        return;
    memcpy(l->text + l->size, text, length);
    l->size += length;
}

static void say(tarry__session_lines *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(tarry__session_lines *l, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    put(l, line,
        (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

/* Adds and ends a JSON value as a line. */
static void say_json(tarry__session_lines *l, json_t *json)
{
    char *text = tarry__json_text(json, JSON_REAL_PRECISION(17));
    json_decref(json);
    if (text == NULL) {
        l->is_lost = true;
        return;
    }
    put(l, text, strlen(text));
    put(l, "\n", 1);
    tarry__base_free(text);
}

/* `error WHY`, on one line of printable characters. */
static void refuse(tarry__session_lines *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void refuse(tarry__session_lines *l, const char *format, ...)
{
    char why[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    for (char *c = why; *c != '\0'; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    if (l->options.json)
        say_json(l, json_pack("{s:s}", "error", why));
    else
        say(l, "error %s\n", why);
}

/* Why the session refused a line. */
static void refuse_line(tarry__session_lines *l, tarry_status status,
                        const tarry_error *error)
{
    refuse(l, status == TARRY_IO_ERROR ? "store: %s" : "%s", error->text);
}

static void say_done(tarry__session_lines *l, const char *key,
                     const char *value, const char *result)
{
    if (l->options.json)
        say_json(l, json_pack("{s:s, s:s}", key, value, "result", result));
    else
        say(l, "%s\n", result);
}

/* ---- commits --------------------------------------------------------------*/

/* Answers from `begin` on stand only if the commit succeeds. */
static void hold(tarry__session_lines *l, size_t begin)
{
    if (l->n_open == l->open_room) {
        const size_t room = 2 * l->open_room + 64;
        span *bigger =
            tarry__base_grow(l->open, l->n_open, room, sizeof *l->open);
        if (bigger == NULL) {
            l->is_lost = true;
            return;
        }
        l->open = bigger;
        l->open_room = room;
    }
    l->open[l->n_open++] = (span){begin, l->size};
}

/* Puts an error in place of each answer that has no ground now. */
static void take_back(tarry__session_lines *l, const tarry_error *error)
{
    char *old = l->text;
    const size_t size = l->size;
    size_t at = 0;
    l->text = NULL;
    l->size = l->room = 0;
    for (size_t i = 0; i < l->n_open; i++) {
        put(l, old + at, l->open[i].begin - at);
        refuse(l, "store: %s", error->text);
        at = l->open[i].end;
    }
    put(l, old + at, size - at);
    tarry__base_free(old);
}

static void settle(tarry__session_lines *l)
{
    tarry_error error = {""};
    if (tarry__session_is_staged(l->session) &&
        tarry__session_commit(&l->session, 1, &error) != TARRY_OK &&
        !l->is_lost)
        take_back(l, &error);
    l->n_open = 0;
}

const char *tarry__session_lines_finish(tarry__session_lines *l, size_t *size)
{
    settle(l);
    *size = l->size;
    l->size = l->waiting = 0;
    return l->is_lost ? NULL : l->text != NULL ? l->text : "";
}

size_t tarry__session_lines_waiting(const tarry__session_lines *l)
{
    return l->waiting;
}

/* ---- choose ---------------------------------------------------------------*/

static json_t *choice_json(const tarry__session_lines *l, const char *id,
                           const tarry__session_choice_made *c)
{
    return json_pack(
        "{s:s, s:o, s:o}", "id", id, "arm",
        tarry__session_arm_json(l->session, c->arm, l->options.by_number),
        "probability",
        c->probability > 0 ? json_real(c->probability) : json_null());
}

/* `ID ARM`, without the end of a line; a name may be long. */
static void put_choice(tarry__session_lines *l, const char *id, size_t arm)
{
    const char *name =
        l->options.by_number ? NULL : tarry__session_arm_name(l->session, arm);
    put(l, id, strlen(id));
    if (name == NULL) {
        say(l, " %zu", arm);
        return;
    }
    put(l, " ", 1);
    put(l, name, strlen(name));
}

static void say_choice(tarry__session_lines *l, const char *id,
                       const tarry__session_choice_made *c)
{
    put_choice(l, id, c->arm);
    put(l, "\n", 1);
}

static void choose_one(tarry__session_lines *l, const char *own, int64_t now)
{
    tarry__session_choice_made c;
    tarry_error error;
    char generated[TARRY__SESSION_ID_ROOM];
    const tarry_status status =
        tarry__session_choose(l->session, own, now, &c, &error);
    if (status != TARRY_OK) {
        refuse_line(l, status, &error);
        return;
    }
    tarry__session_id(l->session, c.round, generated);
    const char *id = own != NULL ? own : generated;
    if (!l->options.json) {
        say_choice(l, id, &c);
        return;
    }
    json_t *json = choice_json(l, id, &c);
    if (c.repeated)
        json = tarry__json_set(json, "repeated", json_true());
    say_json(l, json);
}

/* Looked at now and then: it may be a call of the system. */
static bool is_ending(const tarry__session_lines *l, uint64_t done)
{
    return done > 0 && done % 64 == 0 && l->options.is_ending != NULL &&
           l->options.is_ending();
}

/* As many as there are before the horizon, if that is nearer, or before the
 * end. */
static void choose_many(tarry__session_lines *l, uint64_t count, int64_t now)
{
    tarry__session_choice_made c;
    tarry_error error = {""};
    char id[TARRY__SESSION_ID_ROOM];
    json_t *list = l->options.json ? json_array() : NULL;
    uint64_t done = 0;
    tarry_status status = TARRY_OK;
    while (done < count && !is_ending(l, done) &&
           (status = tarry__session_choose(l->session, NULL, now, &c,
                                           &error)) == TARRY_OK) {
        tarry__session_id(l->session, c.round, id);
        if (l->options.json)
            list = tarry__json_add(list, choice_json(l, id, &c));
        else
            say_choice(l, id, &c);
        done++;
    }
    if (done == 0)
        refuse_line(l, status, &error);
    else if (l->options.json)
        say_json(l, json_pack("{s:O}", "choices", list));
    else
        say(l, "ok %ju\n", (uintmax_t)done);
    json_decref(list);
}

static void choose_count(tarry__session_lines *l, const char *text, int64_t now)
{
    uint64_t count;
    if (tarry__base_parse_count(text, &count) && count >= 1 &&
        count <= MOST_CHOICES)
        choose_many(l, count, now);
    else if (strcmp(text, "--id") == 0)
        refuse(l, "choose --id needs an id");
    else
        refuse(l, "choose N: N must be a whole number from 1 to %d; got '%s'",
               MOST_CHOICES, tarry__arms_show(text, text + strlen(text)).text);
}

/* ---- the fates of a choice ------------------------------------------------*/

static void observe(tarry__session_lines *l, const char *id, const char *loss,
                    int64_t now)
{
    double value;
    tarry__session_result result;
    tarry_error error;
    if (!tarry__base_parse_real(loss, &value)) {
        refuse(l,
               "observe ID LOSS: LOSS must be a number; got '%s' for id "
               "\"%.100s\"",
               tarry__arms_show(loss, loss + strlen(loss)).text, id);
        return;
    }
    const tarry_status status =
        tarry__session_observe(l->session, id, value, now, &result, &error);
    if (status != TARRY_OK)
        refuse_line(l, status, &error);
    else
        say_done(l, "id", id, tarry__session_result_name(result));
}

static void settle_choice(tarry__session_lines *l, const char *id,
                          bool is_cancel, int64_t now)
{
    tarry_error error;
    const tarry_status status =
        is_cancel ? tarry__session_cancel(l->session, id, now, &error)
                  : tarry__session_expire(l->session, id, now, &error);
    if (status != TARRY_OK)
        refuse_line(l, status, &error);
    else
        say_done(l, "id", id, "ok");
}

/* ---- arms -----------------------------------------------------------------*/

static const char BLANKS[] = " \t\r\n";

static bool is_blank(char c)
{
    return c != '\0' && strchr(BLANKS, c) != NULL;
}

/* Cuts the last word off a text; NULL: there is none. */
static char *last_word(char *text)
{
    char *end = text + strlen(text);
    while (end > text && is_blank(end[-1]))
        end--;
    *end = '\0';
    while (end > text && !is_blank(end[-1]))
        end--;
    return *end != '\0' ? end : NULL;
}

/* The numbers at the end of a line, which is cut before them. */
static bool read_features(tarry__session_lines *l, char *rest, double *features,
                          size_t dim)
{
    for (size_t i = dim; i-- > 0;) {
        char *word = last_word(rest);
        if (word == NULL || !tarry__base_parse_real(word, &features[i])) {
            refuse(l, "admit needs a name and %zu numbers: '%s'", dim,
                   word != NULL
                       ? tarry__arms_show(word, word + strlen(word)).text
                       : "");
            return false;
        }
        *word = '\0';
    }
    return true;
}

static void admit(tarry__session_lines *l, char *rest, int64_t now)
{
    const size_t dim = tarry__session_dim(l->session);
    tarry_error error;
    double *features = tarry__base_alloc(dim, sizeof *features);
    if (features == NULL) {
        refuse(l, "out of memory");
        return;
    }
    const bool is_name = *rest != '\0' && strpbrk(rest, " \t") == NULL;
    if (is_name || read_features(l, rest, features, dim)) {
        if (!is_name)
            last_word(rest); /* cuts the blanks */
        const tarry_status status = tarry__session_admit(
            l->session, rest, is_name ? NULL : features, dim, now, &error);
        if (status != TARRY_OK)
            refuse_line(l, status, &error);
        else
            say_done(l, "arm", rest, "ok");
    }
    tarry__base_free(features);
}

static void withdraw(tarry__session_lines *l, char *name, int64_t now)
{
    tarry_error error;
    last_word(name); /* cuts the blanks */
    const tarry_status status =
        tarry__session_withdraw(l->session, name, now, &error);
    if (status != TARRY_OK)
        refuse_line(l, status, &error);
    else
        say_done(l, "arm", name, "ok");
}

/* ---- asking ---------------------------------------------------------------*/

static void say_waiting(tarry__session_lines *l, const tarry_pending *w,
                        const tarry__session_description *d, json_t **list)
{
    if (l->options.json) {
        *list = tarry__json_add(
            *list,
            json_pack("{s:s, s:o, s:I, s:f}", "id", d->id, "arm",
                      tarry__session_arm_json(l->session, w->arm,
                                              l->options.by_number),
                      "rounds", (json_int_t)d->rounds, "seconds", d->seconds));
        return;
    }
    put_choice(l, d->id, w->arm);
    say(l, " %.3f\n", d->seconds);
}

static void list_pending(tarry__session_lines *l, tarry_pending *rounds,
                         size_t most, int64_t now)
{
    size_t listed;
    uint64_t count;
    tarry_error error;
    json_t *list = l->options.json ? json_array() : NULL;
    const size_t before = l->size;
    tarry_status status = tarry__session_pending(l->session, most, rounds,
                                                 &listed, &count, &error);
    for (size_t i = 0; status == TARRY_OK && i < listed; i++) {
        tarry__session_description d;
        status = tarry__session_describe(l->session, rounds[i].round, now, &d,
                                         &error);
        if (status == TARRY_OK)
            say_waiting(l, &rounds[i], &d, &list);
    }
    if (status != TARRY_OK) {
        l->size = before;
        refuse_line(l, status, &error);
    } else if (l->options.json) {
        say_json(l, json_pack("{s:O, s:I}", "pending", list, "count",
                              (json_int_t)count));
    } else {
        say(l, "ok %ju\n", (uintmax_t)count);
    }
    json_decref(list);
}

static void pending(tarry__session_lines *l, const char *number, int64_t now)
{
    uint64_t most = UINT64_MAX, count;
    size_t listed;
    tarry_error error;
    if (number != NULL && !tarry__base_parse_count(number, &most)) {
        refuse(l, "pending N: N must be a whole number; got '%s'",
               tarry__arms_show(number, number + strlen(number)).text);
        return;
    }
    const tarry_status status =
        tarry__session_pending(l->session, 0, NULL, &listed, &count, &error);
    if (status != TARRY_OK) {
        refuse_line(l, status, &error);
        return;
    }
    most = most < count ? most : count;
    tarry_pending *rounds = tarry__base_alloc(most, sizeof *rounds);
    if (rounds != NULL)
        list_pending(l, rounds, most, now);
    else
        refuse(l, "out of memory");
    tarry__base_free(rounds);
}

static void status(tarry__session_lines *l)
{
    json_t *json = tarry__session_status(l->session, l->options.by_number);
    if (json != NULL)
        say_json(l, json);
    else
        refuse(l, "store: it cannot be read");
}

static void save(tarry__session_lines *l, const char *path)
{
    tarry_error error;
    if (tarry__session_policy(l->session) == NULL)
        refuse(l, "store: it cannot be read");
    else if (l->options.json && !tarry__json_is_text(path))
        refuse(l, "not UTF-8, as JSON must be: '%s'",
               tarry__arms_show(path, path + strlen(path)).text);
    else if (tarry__session_save(l->session, path, &error) != TARRY_OK)
        refuse(l, "%s", error.text);
    else
        say_done(l, "file", path, "ok");
}

/* ---- lines ----------------------------------------------------------------*/

/* What follows a word at the start of a line, blanks cut; NULL: the line does
 * not begin with that word, or ends with it. */
static char *behind(char *line, const char *word)
{
    char *at = line + strspn(line, BLANKS);
    const size_t length = strlen(word);
    if (strncmp(at, word, length) != 0 || !is_blank(at[length]))
        return NULL;
    at += length + strspn(at + length, BLANKS);
    last_word(at);
    return *at != '\0' ? at : NULL;
}

/* Cuts a line into words.  Answers how many, `most` + 1 if there are more. */
static size_t split(char *line, char **word, size_t most)
{
    size_t count = 0;
    char *rest;
    for (char *at = strtok_r(line, BLANKS, &rest); at != NULL;
         at = strtok_r(NULL, BLANKS, &rest)) {
        if (count == most)
            return most + 1;
        word[count++] = at;
    }
    return count;
}

static bool is(const char *word, const char *what)
{
    return strcmp(word, what) == 0;
}

/* Lines that stage events; false: it is none of them. */
static bool take_event(tarry__session_lines *l, char **word, size_t count,
                       int64_t now)
{
    if (count == 1 && is(word[0], "choose"))
        choose_one(l, NULL, now);
    else if (count == 3 && is(word[0], "choose") && is(word[1], "--id"))
        choose_one(l, word[2], now);
    else if (count == 2 && is(word[0], "choose"))
        choose_count(l, word[1], now);
    else if (count == 3 && is(word[0], "observe"))
        observe(l, word[1], word[2], now);
    else if (count == 2 && (is(word[0], "cancel") || is(word[0], "expire")))
        settle_choice(l, word[1], word[0][0] == 'c', now);
    else
        return false;
    return true;
}

/* Lines that ask: what happened before them is committed first, and what is
 * too old has expired, if that can be written. */
static bool take_question(tarry__session_lines *l, char **word, size_t count,
                          int64_t now)
{
    tarry_error error;
    const bool is_status = count == 1 && is(word[0], "status");
    const bool is_pending = count <= 2 && is(word[0], "pending");
    if (!is_status && !is_pending)
        return false;
    tarry__session_expire_old(l->session, now, &error);
    settle(l);
    if (is_status)
        status(l);
    else
        pending(l, count == 2 ? word[1] : NULL, now);
    return true;
}

static bool take_words(tarry__session_lines *l, char *line, size_t begin,
                       int64_t now)
{
    char *word[3] = {"", NULL, NULL};
    const size_t count = split(line, word, 3);
    if (count == 1 && is(word[0], "quit")) {
        settle(l);
        say_done(l, "line", "quit", "ok");
        return false;
    }
    if (take_event(l, word, count, now))
        hold(l, begin);
    else if (is(word[0], "choose-in"))
        refuse(l, "decisions with features of their own are not there yet");
    else if (count == 0 || !take_question(l, word, count, now))
        refuse(l,
               "not understood (choose; observe ID LOSS; cancel ID; expire ID; "
               "admit NAME X...; withdraw NAME; pending; status; save FILE; "
               "quit): '%s'",
               tarry__arms_show(word[0], word[0] + strlen(word[0])).text);
    return true;
}

bool tarry__session_lines_take(tarry__session_lines *l, char *line,
                               size_t length, int64_t now)
{
    const size_t begin = l->size;
    char *rest;
    l->waiting++;
    if (strlen(line) != length) {
        refuse(l, "a zero byte in the line");
        return true;
    }
    if ((rest = behind(line, "save")) != NULL) {
        settle(l);
        save(l, rest);
    } else if ((rest = behind(line, "admit")) != NULL) {
        admit(l, rest, now);
        hold(l, begin);
    } else if ((rest = behind(line, "withdraw")) != NULL) {
        withdraw(l, rest, now);
        hold(l, begin);
    } else {
        return take_words(l, line, begin, now);
    }
    return true;
}
