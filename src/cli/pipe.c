/* pipe.c - `tarry pipe`: a policy as a co-process.  What the lines mean is the
 * session's affair (session/lines.h); here are options, reading and writing.
 *
 * All whole lines that have come are one group: they are committed together,
 * and then their answers leave.  So one line at a time costs a flush of the
 * disk each, and a thousand at a time cost one. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "base/spec.h"
#include "cli/cli.h"
#include "policy/default.h"
#include "session/lines.h"
#include "session/session.h"

static const char summary[] =
    "a policy as a co-process: choose, observe, status, save";

typedef struct {
    const char *policy, *arms, *restore, *store, *name, *expire_after;
    const char *intercept, *default_outcome; /* NULL: not given */
    char settings[2000], description[4096];
    char rule[TARRY__DEFAULT_ROOM]; /* default_outcome, as it is printed */
    uint64_t horizon, seed, threads;
    bool maximize, beyond_horizon, json, by_number, no_probability;
    double confidence; /* NAN: not given */
    cli_range range;
} arguments;

/* ---- arguments ------------------------------------------------------------*/

static const uint64_t NONE = UINT64_MAX; /* more than can be typed */

static bool add_setting(void *context, const char *pair)
{
    arguments *a = context;
    const size_t used = strlen(a->settings);
    const size_t left = sizeof a->settings - used;
    const int length =
        snprintf(a->settings + used, left, "%s%s", used > 0 ? "," : "", pair);
    if (length >= 0 && (size_t)length < left)
        return true;
    cli_error(EXIT_USAGE, "--set: too many settings: '%s'", pair);
    return false;
}

static const char usage[] =
    "--arms FILE [--policy NAME] [--horizon T | --confidence C] "
    "[--store FILE] [options]";
static const char about[] =
    "Runs a policy as a co-process.  Each line of standard input is\n"
    "answered by one line on standard output, at once:\n\n"
    "  choose            -> ID ARM       play arm ARM; ID names it\n"
    "  choose --id TEXT  -> TEXT ARM     with an id of your own; again\n"
    "                                    with it: the same answer\n"
    "  choose N          -> N lines ID ARM, then `ok N`\n"
    "  observe ID LOSS   -> ok           the loss of choice ID is in\n"
    "                       late         it was of an earlier phase\n"
    "                       duplicate    it was in already\n"
    "                       corrected    it replaces the default outcome\n"
    "  cancel ID         -> ok           it was never shown\n"
    "  expire ID         -> ok           its loss will never come\n"
    "  admit NAME X...   -> ok           a new arm with its features\n"
    "  withdraw NAME     -> ok           an arm that is no more\n"
    "  pending [N]       -> lines ID ARM SECONDS, the oldest N first,\n"
    "                       then `ok COUNT` of all outstanding\n"
    "  status            -> one line of JSON; `best` is null before\n"
    "                       there is an estimate\n"
    "  save FILE         -> ok           for --restore\n"
    "  quit              -> ok           and ends, as end of input does\n"
    "  (anything else)   -> error WHY    and nothing has changed\n\n"
    "Losses may be reported in any order, any time later, or never.";

static const char examples[] =
    "  printf 'choose\\nobserve 1 0.5\\nstatus\\n' |\n"
    "    tarry pipe --arms arms.csv --store log.db";

static int parse(arguments *a, int argc, char **argv)
{
    cli_action setting = {add_setting, a};
    const cli_option options[] = {
        {"policy", CLI_TEXT, &a->policy, "NAME",
         "which policy, NAME or NAME:key=value,...; see tarry list\n"
         "(default recommended)"},
        {"arms", CLI_TEXT, &a->arms, "FILE",
         "the arms, CSV or .npy; not -, where the lines come from"},
        {"horizon", CLI_COUNT, &a->horizon, "T",
         "how many choices to plan for (default: no end)"},
        {"confidence", CLI_REAL, &a->confidence, "C",
         "what is promised holds for ever with this probability (default\n"
         "0.99, or with --horizon 1 - 1/T)"},
        {"store", CLI_TEXT, &a->store, "FILE",
         "keep everything in FILE: each answered line is on the disk before\n"
         "its answer leaves.  If FILE is there, go on where it ends; what is\n"
         "given besides must then be the same, or left out"},
        {"name", CLI_TEXT, &a->name, "NAME",
         "of the experiment in the store (default 'default')"},
        {"seed", CLI_COUNT, &a->seed, "N",
         "of the policy's own coins (default 0)"},
        {"set", CLI_ACTION, &setting, "KEY=VALUE",
         "a setting of the policy; may be repeated"},
        {"range", CLI_RANGE, &a->range, "LOW,HIGH",
         "losses are reported in this range (default -1,1) and mapped to\n"
         "[-1,1]"},
        {"intercept", CLI_TEXT, &a->intercept, "auto|no",
         "auto (default): in a range that is not around 0 the arms get a\n"
         "constant feature, unless their features give one; no: the mean loss\n"
         "is linear in the features, losses are scaled but not moved"},
        {"maximize", CLI_FLAG, &a->maximize, NULL,
         "what is reported are rewards, not losses"},
        {"expire-after", CLI_TEXT, &a->expire_after, "AGE",
         "losses of choices older than this (3d, 90min, 45s, 1000rounds)\n"
         "are taken as never coming; one that comes all the same is `late`"},
        {"default-outcome", CLI_TEXT, &a->default_outcome, "VALUE/AGE",
         "choices for which nothing was reported within AGE (500r for rounds,\n"
         "7d, 12h, 90s, 0) have the outcome VALUE; a later report replaces it\n"
         "and is `corrected`.  VALUE/AGE/final: it is `late`"},
        {"beyond-horizon", CLI_FLAG, &a->beyond_horizon, NULL,
         "after T choices go on with the best arm"},
        {"by-number", CLI_FLAG, &a->by_number, NULL,
         "call arms by their numbers, from 0, also if they have names"},
        {"json", CLI_FLAG, &a->json, NULL,
         "answer every line with one JSON object"},
        {"no-probability", CLI_FLAG, &a->no_probability, NULL,
         "do not work out with which probability each arm was chosen, which\n"
         "takes long for Thompson sampling (null in JSON, 0 in the store)"},
        {"restore", CLI_TEXT, &a->restore, "FILE",
         "go on from a saved state; then --policy, --arms and --horizon\n"
         "are not needed: the state has its own, arms included.  What is\n"
         "given besides must be the same; --set and --beyond-horizon are\n"
         "not looked at"},
        {"threads", CLI_COUNT, &a->threads, "N",
         "accepted as in every command; one is used"},
    };
    const cli_syntax syntax = {
        .command = "pipe",
        .summary = summary,
        .usage = usage,
        .about = about,
        .examples = examples,
        .options = options,
        .n_options = sizeof options / sizeof *options,
    };
    return cli_parse(&syntax, argc, argv);
}

/* Adds settings to the description; false: there is no room. */
static bool text_fits(arguments *a, const char *key, const char *value)
{
    const size_t used = strlen(a->description);
    const size_t left = sizeof a->description - used;
    if (*key == '\0' && *value == '\0')
        return used + 1 < sizeof a->description;
    const int length =
        snprintf(a->description + used, left, "%c%s%s",
                 strchr(a->description, ':') == NULL ? ':' : ',', key, value);
    return length >= 0 && (size_t)length < left;
}

/* The description with all its settings; a name that is short for another is
 * replaced by it, as its meaning may change with the version. */
static int describe(arguments *a)
{
    tarry_policy_info info;
    tarry__default_rule rule;
    tarry_error error;
    if (a->default_outcome != NULL) {
        if (a->default_outcome[0] == '\0')
            return cli_error(EXIT_USAGE, "--default-outcome: empty");
        if (tarry__default_read(a->default_outcome, &rule, &error) != TARRY_OK)
            return cli_error(EXIT_USAGE, "%s", error.text);
        tarry__default_print(&rule, a->rule);
    }
    const char *text = a->policy != NULL ? a->policy : "recommended";
    if (a->settings[0] == '\0' &&
        tarry_policy_describe(text, &info) == TARRY_OK &&
        info.stands_for != NULL)
        text = info.stands_for;
    snprintf(a->description, sizeof a->description, "%s", text);
    return text_fits(a, "", a->settings) &&
                   (a->intercept == NULL ||
                    text_fits(a, "intercept=", a->intercept)) &&
                   (a->default_outcome == NULL ||
                    text_fits(a, "default_outcome=", a->rule))
               ? EXIT_DONE
               : cli_error(EXIT_USAGE, "--policy: too long: '%s'", text);
}

/* ---- opening --------------------------------------------------------------*/

/* Everything that is open while lines are answered. */
typedef struct {
    tarry__store *store;
    tarry__session *session;
    tarry__session_lines *lines;
} service;

static int fail(tarry_status status, const tarry_error *error)
{
    return cli_error(status == TARRY_BAD_STATE ? EXIT_USAGE : cli_code(status),
                     "%s", error->text);
}

static int read_arms(const char *path, tarry_arms **arms)
{
    tarry_error error;
    if (strcmp(path, "-") == 0)
        return cli_error(EXIT_USAGE, "--arms: standard input has the lines to "
                                     "answer, arms must come from a file: '-'");
    const tarry_status status = tarry_arms_read(path, arms, &error);
    return status == TARRY_OK ? EXIT_DONE : fail(status, &error);
}

static int create(const arguments *a, service *v)
{
    char prefix[TARRY__SESSION_ID_ROOM] = "";
    tarry_error error;
    tarry_arms *arms;
    if (a->arms == NULL)
        return cli_error(EXIT_USAGE, "pipe: --arms is needed (see --help)");
    const int code = read_arms(a->arms, &arms);
    if (code != EXIT_DONE)
        return code;
    if (tarry__store_count(v->store) > 0) /* where plain numbers are taken */
        snprintf(prefix, sizeof prefix, "%s:", a->name);
    const tarry__store_experiment e = {
        .name = a->name,
        .prefix = prefix,
        .policy = a->description,
        .expire_after = a->expire_after != NULL ? a->expire_after : "",
        .n_arms = arms->n_arms,
        .dim = arms->dim,
        .low = a->range.low,
        .high = a->range.high,
        .maximize = a->maximize,
        .beyond_horizon = a->beyond_horizon,
        .horizon = a->horizon != NONE ? a->horizon : 0,
        .confidence = !isnan(a->confidence) ? a->confidence
                      : a->horizon == NONE  ? 0.99
                                            : 0,
        .seed = a->seed != NONE ? a->seed : 0,
        .created_at = tarry__session_now()};
    const tarry_status status = tarry__session_create(
        v->store, &e, arms->data, arms->names, &v->session, &error);
    tarry_arms_free(arms);
    return status == TARRY_OK ? EXIT_DONE : fail(status, &error);
}

static int restore(const arguments *a, service *v)
{
    tarry_error error;
    tarry_policy *policy;
    tarry_arms *arms = NULL;
    tarry_policy_status p;
    tarry_status status = tarry_policy_restore(a->restore, &policy, &error);
    if (status != TARRY_OK)
        return cli_error(status == TARRY_NO_MEMORY ? EXIT_FAILED : EXIT_USAGE,
                         "%s", error.text);
    const int code = a->arms != NULL ? read_arms(a->arms, &arms) : EXIT_DONE;
    tarry_policy_get_status(policy, &p);
    const bool has_names =
        arms != NULL && arms->n_arms == p.n_arms && arms->names != NULL;
    if (code == EXIT_DONE)
        status = tarry__session_adopt(
            v->store, policy, a->restore, a->name,
            a->expire_after != NULL ? a->expire_after : "",
            has_names ? arms->names : NULL, &v->session, &error);
    else
        tarry_policy_free(policy);
    tarry_arms_free(arms);
    return code != EXIT_DONE    ? code
           : status == TARRY_OK ? EXIT_DONE
                                : fail(status, &error);
}

/* ---- what is given besides must be the same -------------------------------*/

static int compare_arms(const arguments *a, const char *path, service *v)
{
    tarry_arms *arms;
    tarry_policy_status s;
    const int code = read_arms(a->arms, &arms);
    if (code != EXIT_DONE)
        return code;
    tarry_policy_get_status(tarry__session_policy(v->session), &s);
    const tarry__store_experiment *e = tarry__session_experiment(v->session);
    bool same = arms->n_arms == e->n_arms && arms->dim == e->dim;
    for (size_t i = 0; same && i < e->n_arms * e->dim; i++)
        same = arms->data[i] == s.arms[i / e->dim * s.dim + i % e->dim];
    for (size_t k = 0; same && k < e->n_arms; k++) {
        const char *name = tarry__session_arm_name(v->session, k);
        same = (arms->names != NULL) == (name != NULL) &&
               (name == NULL || strcmp(name, arms->names[k]) == 0);
    }
    tarry_arms_free(arms);
    return same ? EXIT_DONE
                : cli_error(EXIT_USAGE, "%s: saved for other arms than '%s'",
                            path, a->arms);
}

/* A state knows the name of its policy, a store the whole description. */
static bool is_same_policy(const arguments *a, const char *made)
{
    const char *wanted = a->description;
    const size_t length = strcspn(made, ":");
    if (a->restore == NULL)
        return strcmp(wanted, made) == 0;
    return strncmp(wanted, made, length) == 0 &&
           strchr(":", wanted[length]) != NULL;
}

static int compare(const arguments *a, const char *path, service *v)
{
    const tarry__store_experiment *e = tarry__session_experiment(v->session);
    const bool is_given = a->policy != NULL || a->intercept != NULL ||
                          (a->store != NULL && a->settings[0] != '\0');
    if (is_given && !is_same_policy(a, e->policy))
        return cli_error(EXIT_USAGE, "%s: a state of %s, not of '%s%s%s'", path,
                         e->policy, a->policy != NULL ? a->policy : "",
                         a->settings[0] != '\0' ? " with " : "", a->settings);
    tarry_policy_status s;
    tarry_policy_get_status(tarry__session_policy(v->session), &s);
    if (a->default_outcome != NULL &&
        (s.default_outcome == NULL || strcmp(s.default_outcome, a->rule) != 0))
        return cli_error(EXIT_USAGE, "%s: the default outcome is %s, not '%s'",
                         path, s.default_outcome ? s.default_outcome : "none",
                         a->rule);
    if (a->horizon != NONE && a->horizon != e->horizon)
        return cli_error(EXIT_USAGE, "%s: the horizon is %ju, not '%ju'", path,
                         (uintmax_t)e->horizon, (uintmax_t)a->horizon);
    if (!isnan(a->confidence) && a->confidence != e->confidence)
        return cli_error(EXIT_USAGE, "%s: the confidence is %.17g, not '%.17g'",
                         path, e->confidence, a->confidence);
    if (a->range.is_given &&
        (a->range.low != e->low || a->range.high != e->high))
        return cli_error(EXIT_USAGE,
                         "%s: the range is %.17g,%.17g, not '%.17g,%.17g'",
                         path, e->low, e->high, a->range.low, a->range.high);
    if (a->maximize && !e->maximize)
        return cli_error(EXIT_USAGE,
                         "%s: a state of losses, not of rewards "
                         "(--maximize)",
                         path);
    if (a->seed != NONE && a->seed != e->seed)
        return cli_error(EXIT_USAGE, "%s: the seed is %ju, not '%ju'", path,
                         (uintmax_t)e->seed, (uintmax_t)a->seed);
    if (a->store != NULL && a->expire_after != NULL &&
        strcmp(a->expire_after, e->expire_after) != 0)
        return cli_error(EXIT_USAGE, "%s: choices expire after '%s', not '%s'",
                         path, e->expire_after, a->expire_after);
    if (a->store != NULL && a->beyond_horizon && !e->beyond_horizon)
        return cli_error(EXIT_USAGE,
                         "%s: it ends at its horizon "
                         "(--beyond-horizon)",
                         path);
    return a->arms != NULL ? compare_arms(a, path, v) : EXIT_DONE;
}

static int open_store(const arguments *a, service *v)
{
    tarry_error error;
    const char *url = a->store != NULL ? a->store : "memory:";
    tarry_status status = tarry__store_open(url, true, &v->store, &error);
    if (status != TARRY_OK)
        return fail(status, &error);
    const uint64_t number = tarry__store_find(v->store, a->name);
    if (number == 0 && a->restore == NULL)
        return create(a, v);
    if (a->restore != NULL) {
        const int code = restore(a, v);
        return code == EXIT_DONE ? compare(a, a->restore, v) : code;
    }
    status = tarry__session_open(v->store, number, false, &v->session, &error);
    return status == TARRY_OK ? compare(a, a->store, v) : fail(status, &error);
}

static volatile sig_atomic_t caught; /* the signal that asked for the end */

static void note(int number)
{
    caught = number;
}

/* A signal has come, or is waiting. */
static bool is_ending(void)
{
    sigset_t waiting;
    sigemptyset(&waiting);
    sigpending(&waiting);
    return caught || sigismember(&waiting, SIGINT) == 1 ||
           sigismember(&waiting, SIGTERM) == 1;
}

static int open_all(const arguments *a, service *v)
{
    if (a->confidence == 0) /* none at all, in a description */
        return cli_error(EXIT_USAGE,
                         "the confidence must be 0.5 to below 1: 0");
    if (a->restore != NULL && a->store != NULL)
        return cli_error(EXIT_USAGE, "--restore and --store: one of them");
    int code = open_store(a, v);
    if (code != EXIT_DONE)
        return code;
    tarry__session_tell_probability(v->session, !a->no_probability);
    v->lines = tarry__session_lines_create(
        v->session,
        (tarry__session_lines_options){a->json, a->by_number, is_ending});
    return v->lines != NULL ? EXIT_DONE
                            : cli_error(EXIT_FAILED, "out of memory");
}

static void close_all(service *v)
{
    tarry__session_lines_free(v->lines);
    tarry__session_close(v->session);
    tarry__store_close(v->store);
}

/* ---- reading and writing --------------------------------------------------*/

/* Signals come only while the program waits for input, or for its reader. */
static void block_signals(sigset_t *before)
{
    struct sigaction action = {.sa_handler = note};
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigprocmask(SIG_BLOCK, &both, before);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* so that the end is a clean one */
}

typedef struct {
    char *bytes; /* what was read and not yet taken */
    size_t begin, end, room;
    sigset_t mask; /* while waiting */
} input;

/* Reads more.  Answers read's answer; -1 with EINTR after a signal, with
 * EMSGSIZE if the end of a line does not come. */
static ssize_t read_more(input *in)
{
    enum { LEAST = 1 << 16, LONGEST_LINE = 1 << 24 };
    struct pollfd standard = {.fd = STDIN_FILENO, .events = POLLIN};
    if (in->begin > 0)
        memmove(in->bytes, in->bytes + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
    if (in->end > LONGEST_LINE) {
        errno = EMSGSIZE;
        return -1;
    }
    if (in->room - in->end < LEAST) {
        const size_t room = 2 * in->room + 2 * LEAST;
        char *bigger = tarry__base_grow(in->bytes, in->end, room, 1);
        if (bigger == NULL) {
            errno = ENOMEM;
            return -1;
        }
        in->bytes = bigger;
        in->room = room;
    }
    if (caught || ppoll(&standard, 1, NULL, &in->mask) < 0)
        return -1;
    const ssize_t got =
        read(STDIN_FILENO, in->bytes + in->end, in->room - in->end);
    in->end += got > 0 ? (size_t)got : 0;
    return got;
}

/* Waits until somebody can take what is written.  Who has not read by a while
 * after the signal to end is not waited for. */
static bool is_read(const sigset_t *mask)
{
    static const struct timespec patience = {.tv_sec = 1};
    struct pollfd standard = {.fd = STDOUT_FILENO, .events = POLLOUT};
    int ready;
    while ((ready = ppoll(&standard, 1, caught ? &patience : NULL, mask)) < 0 &&
           errno == EINTR)
        ;
    return ready != 0;
}

/* In pieces that a pipe takes at once, if it takes any. */
static int write_all(const char *text, size_t size, const sigset_t *mask)
{
    while (size > 0) {
        if (!is_read(mask))
            return cli_error(EXIT_FAILED, "nobody reads standard output");
        const ssize_t n =
            write(STDOUT_FILENO, text, size < PIPE_BUF ? size : PIPE_BUF);
        if (n < 0 && errno != EINTR)
            return cli_error(EXIT_FAILED, "cannot write to standard output: %s",
                             strerror(errno));
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return EXIT_DONE;
}

static int answer(service *v, const sigset_t *mask)
{
    size_t size;
    if (tarry__session_lines_waiting(v->lines) == 0)
        return EXIT_DONE;
    const char *text = tarry__session_lines_finish(v->lines, &size);
    return text != NULL ? write_all(text, size, mask)
                        : cli_error(EXIT_FAILED, "out of memory");
}

/* Takes the whole lines of the input, in groups. */
static int take_lines(service *v, input *in, bool *on)
{
    enum { MOST_LINES = 4096 };
    char *end;
    int code = EXIT_DONE;
    while (*on && code == EXIT_DONE &&
           (end = memchr(in->bytes + in->begin, '\n', in->end - in->begin)) !=
               NULL) {
        char *line = in->bytes + in->begin;
        *end = '\0';
        *on = tarry__session_lines_take(v->lines, line, (size_t)(end - line),
                                        tarry__session_now());
        in->begin += (size_t)(end - line) + 1;
        if (tarry__session_lines_waiting(v->lines) == MOST_LINES)
            code = answer(v, &in->mask);
    }
    return code == EXIT_DONE ? answer(v, &in->mask) : code;
}

/* A line whose end did not come may be half of another one. */
static int refuse_rest(input *in, const arguments *a)
{
    static const char plain[] = "error the input ended inside a line\n";
    static const char json[] =
        "{\"error\": \"the input ended inside a line\"}\n";
    if (in->begin == in->end)
        return EXIT_DONE;
    return a->json ? write_all(json, strlen(json), &in->mask)
                   : write_all(plain, strlen(plain), &in->mask);
}

static int serve(service *v, const arguments *a)
{
    input in = {0};
    ssize_t got = 0;
    int code = EXIT_DONE;
    bool on = true;
    block_signals(&in.mask);
    while (on && code == EXIT_DONE && (got = read_more(&in)) > 0)
        code = take_lines(v, &in, &on);
    if (on && code == EXIT_DONE && got == 0)
        code = refuse_rest(&in, a);
    if (got < 0 && !caught && errno == EMSGSIZE)
        code = cli_error(EXIT_USAGE, "<stdin>: a line of more than 16 MB");
    else if (got < 0 && !caught)
        code = cli_error(EXIT_FAILED, "cannot read standard input: %s",
                         strerror(errno));
    if (caught == SIGINT && code == EXIT_DONE)
        code = cli_error(EXIT_FAILED, "interrupted");
    tarry__base_free(in.bytes);
    return code;
}

static int run(int argc, char **argv)
{
    arguments given = {.range = {.low = -1, .high = 1},
                       .horizon = NONE,
                       .confidence = NAN,
                       .seed = NONE,
                       .name = "default"};
    service v = {0};
    int code = parse(&given, argc, argv);
    if (code >= 0)
        return code;
    code = describe(&given);
    if (code == EXIT_DONE)
        code = open_all(&given, &v);
    if (code == EXIT_DONE)
        code = serve(&v, &given);
    close_all(&v);
    return code;
}

const cli_command cli_pipe = {"pipe", summary, run};
