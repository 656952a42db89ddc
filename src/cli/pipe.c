/* pipe.c - `tarry pipe`: a policy as a co-process.  One line in, one line out,
 * at once; a bad line gets an `error` line and changes nothing. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "arms/source.h"
#include "base/spec.h"
#include "cli/cli.h"

static const char summary[] =
    "a policy as a co-process: choose, observe, status, save";

typedef struct {
    const char *policy, *arms, *range, *restore, *state;
    char settings[2000];
    uint64_t horizon, seed, run, save_every, threads;
    bool maximize, beyond_horizon, json;
    double low, high;
} arguments;

typedef struct {
    const arguments *arguments;
    tarry_policy *policy;
    uint64_t unsaved; /* lines since the last save to --state */
} session;

/* ---- arguments ------------------------------------------------------------*/

static const uint64_t NO_SEED = UINT64_MAX; /* more than can be typed */

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

static int parse(arguments *a, int argc, char **argv)
{
    cli_action setting = {add_setting, a};
    const cli_option options[] = {
        {"policy", CLI_TEXT, &a->policy, "NAME",
         "which policy, NAME or NAME:key=value,...; see tarry list"},
        {"arms", CLI_TEXT, &a->arms, "FILE",
         "the arms, CSV or .npy; not -, where the lines come from"},
        {"horizon", CLI_COUNT, &a->horizon, "T",
         "how many choices to plan for"},
        {"seed", CLI_COUNT, &a->seed, "N",
         "of the policy's own coins (default 0)"},
        {"set", CLI_ACTION, &setting, "KEY=VALUE",
         "a setting of the policy; may be repeated"},
        {"range", CLI_TEXT, &a->range, "LOW,HIGH",
         "losses are reported in this range (default -1,1) and mapped to\n"
         "[-1,1].  A range around 0 only scales; another one also moves,\n"
         "which is right only if the arms' features include a constant"},
        {"maximize", CLI_FLAG, &a->maximize, NULL,
         "what is reported are rewards, not losses"},
        {"beyond-horizon", CLI_FLAG, &a->beyond_horizon, NULL,
         "after T choices go on with the best arm"},
        {"restore", CLI_TEXT, &a->restore, "FILE",
         "go on from a saved state; then --policy, --arms and --horizon\n"
         "are not needed: the state has its own, arms included.  What is\n"
         "given besides must be the same; --set and --beyond-horizon are\n"
         "not looked at"},
        {"state", CLI_TEXT, &a->state, "FILE",
         "go on from FILE if it exists; save to it on exit and after\n"
         "every --save-every lines"},
        {"save-every", CLI_COUNT, &a->save_every, "N",
         "for --state (default 1000)"},
        {"threads", CLI_COUNT, &a->threads, "N",
         "accepted as in every command; one is used"},
        {"json", CLI_FLAG, &a->json, NULL,
         "accepted as in every command; status is JSON anyway"},
    };
    const cli_syntax syntax = {
        .command = "pipe",
        .summary = summary,
        .usage = "--policy NAME --arms FILE --horizon T [options]",
        .about =
            "Runs a policy as a co-process.  Each line of standard input is\n"
            "answered by one line on standard output, at once:\n\n"
            "  choose            -> ID ARM       play arm ARM; ID names it\n"
            "  observe ID LOSS   -> ok           the loss of choice ID is in\n"
            "                       late         it was of an earlier phase\n"
            "  status            -> one line of JSON; `best` is null before\n"
            "                       there is an estimate\n"
            "  save FILE         -> ok           for --restore\n"
            "  quit              -> ok           and ends, as end of input "
            "does\n"
            "  (anything else)   -> error WHY    and nothing has changed\n\n"
            "Losses may be reported in any order, any time later, or never.",
        .examples =
            "  printf 'choose\\nobserve 1 0.5\\nstatus\\n' |\n"
            "    tarry pipe --policy phased-adversarial --arms arms.csv "
            "--horizon 1e6",
        .options = options,
        .n_options = sizeof options / sizeof *options,
    };
    return cli_parse(&syntax, argc, argv);
}

static int parse_range(arguments *a)
{
    char low[64], high[64];
    if (a->range == NULL)
        return EXIT_DONE;
    if (sscanf(a->range, "%63[^,],%63[^,]", low, high) != 2 ||
        !tarry__base_parse_real(low, &a->low) ||
        !tarry__base_parse_real(high, &a->high) || !(a->low < a->high) ||
        strlen(low) + strlen(high) + 1 != strlen(a->range))
        return cli_error(EXIT_USAGE, "--range: not LOW,HIGH: '%s'", a->range);
    return EXIT_DONE;
}

/* ---- opening --------------------------------------------------------------*/

static int read_arms(const char *path, tarry_arms **arms)
{
    tarry_error error;
    if (strcmp(path, "-") == 0)
        return cli_error(EXIT_USAGE, "--arms: standard input has the lines to "
                                     "answer, arms must come from a file: '-'");
    const tarry_status status = tarry_arms_read(path, arms, &error);
    return status == TARRY_OK ? EXIT_DONE
                              : cli_error(cli_code(status), "%s", error.text);
}

static int create(arguments *a, tarry_policy **policy)
{
    tarry_error error;
    tarry_arms *arms;
    if (a->policy == NULL || a->arms == NULL || a->horizon == 0)
        return cli_error(EXIT_USAGE, "pipe: --policy, --arms and --horizon "
                                     "are needed (see --help)");
    const int code = read_arms(a->arms, &arms);
    if (code != EXIT_DONE)
        return code;
    tarry_policy_params p = tarry_policy_defaults();
    p.n_arms = arms->n_arms;
    p.dim = arms->dim;
    p.arms = arms->data;
    p.horizon = a->horizon;
    p.seed = a->seed != NO_SEED ? a->seed : 0;
    p.low = a->low;
    p.high = a->high;
    p.maximize = a->maximize;
    p.beyond_horizon = a->beyond_horizon;
    p.settings = a->settings;
    const tarry_status status =
        tarry_policy_create(a->policy, &p, policy, &error);
    tarry_arms_free(arms);
    return status == TARRY_OK ? EXIT_DONE
                              : cli_error(cli_code(status), "%s", error.text);
}

static int compare_arms(const arguments *a, const char *path,
                        const tarry_policy_status *s)
{
    tarry_arms *arms;
    const int code = a->arms != NULL ? read_arms(a->arms, &arms) : EXIT_DONE;
    if (a->arms == NULL || code != EXIT_DONE)
        return code;
    bool same = arms->n_arms == s->n_arms && arms->dim == s->dim;
    for (size_t i = 0; same && i < s->n_arms * s->dim; i++)
        same = arms->data[i] == s->arms[i];
    tarry_arms_free(arms);
    return same ? EXIT_DONE
                : cli_error(EXIT_USAGE, "%s: saved for other arms than '%s'",
                            path, a->arms);
}

static int restore(const arguments *a, const char *path, tarry_policy **policy)
{
    tarry_error error;
    tarry_policy_status s;
    const tarry_status status = tarry_policy_restore(path, policy, &error);
    if (status != TARRY_OK)
        return cli_error(status == TARRY_NO_MEMORY ? EXIT_FAILED : EXIT_USAGE,
                         "%s", error.text);
    tarry_policy_get_status(*policy, &s);
    const size_t length = strlen(s.name);
    tarry_policy_info info;
    const char *wanted = a->policy;
    if (wanted != NULL && tarry_policy_describe(wanted, &info) == TARRY_OK &&
        info.stands_for != NULL)
        wanted = info.stands_for;
    if (wanted != NULL && (strncmp(wanted, s.name, length) != 0 ||
                           strchr(":", wanted[length]) == NULL))
        return cli_error(EXIT_USAGE, "%s: a state of %s, not of '%s'", path,
                         s.name, a->policy);
    if (a->horizon != 0 && a->horizon != s.horizon)
        return cli_error(EXIT_USAGE, "%s: the horizon is %ju, not '%ju'", path,
                         (uintmax_t)s.horizon, (uintmax_t)a->horizon);
    if (a->range != NULL && (a->low != s.low || a->high != s.high))
        return cli_error(EXIT_USAGE, "%s: the range is %.17g,%.17g, not '%s'",
                         path, s.low, s.high, a->range);
    if (a->maximize && !s.maximize)
        return cli_error(EXIT_USAGE,
                         "%s: a state of losses, not of rewards "
                         "(--maximize)",
                         path);
    if (a->seed != NO_SEED && a->seed != s.seed)
        return cli_error(EXIT_USAGE, "%s: the seed is %ju, not '%ju'", path,
                         (uintmax_t)s.seed, (uintmax_t)a->seed);
    return compare_arms(a, path, &s);
}

static int open_policy(arguments *a, tarry_policy **policy)
{
    if (a->restore != NULL)
        return restore(a, a->restore, policy);
    if (a->state != NULL && access(a->state, F_OK) == 0)
        return restore(a, a->state, policy);
    return create(a, policy);
}

/* ---- status ---------------------------------------------------------------*/

static json_t *active_json(const tarry_policy_status *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_active; i++)
        json_array_append_new(list, json_integer(s->active[i]));
    return list;
}

static json_t *plan_json(const tarry_policy_status *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_plan; i++)
        json_array_append_new(
            list,
            json_pack("{s:I, s:f, s:I, s:I}", "arm", (json_int_t)s->plan[i].arm,
                      "weight", s->plan[i].weight, "target",
                      (json_int_t)s->plan[i].target, "observed",
                      (json_int_t)s->plan[i].observed));
    return list;
}

/* Back from losses in [-1, 1] to the user's range. */
static double in_range(const tarry_policy_status *s, double loss)
{
    return s->low / 2 + s->high / 2 +
           (s->maximize ? -loss : loss) * (s->high / 2 - s->low / 2);
}

static json_t *estimates_json(const tarry_policy_status *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_active && s->n_estimates > 0; i++) {
        const tarry_estimate *e = &s->estimates[s->active[i]];
        const double x = in_range(s, e->lower), y = in_range(s, e->upper);
        json_array_append_new(list, json_pack("{s:I, s:f, s:f}", "arm",
                                              (json_int_t)s->active[i], "lower",
                                              fmin(x, y), "upper", fmax(x, y)));
    }
    return list;
}

static json_t *best_json(const tarry_policy_status *s)
{
    return s->best_known ? json_integer((json_int_t)s->best) : json_null();
}

/* What it would exploit and its bound on that arm's gap, or null. */
static void add_certificate(tarry_policy *policy, json_t *json)
{
    size_t arm;
    double gap;
    tarry_policy_certify(policy, &arm, &gap);
    json_object_set_new(json, "exploit", json_integer((json_int_t)arm));
    json_object_set_new(json, "certificate",
                        isnan(gap) ? json_null() : json_real(gap));
}

static json_t *status_json(const session *s)
{
    tarry_policy_status t;
    tarry_policy_get_status(s->policy, &t);
    json_t *json = json_pack(
        "{s:s, s:I, s:I, s:I, s:f, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I, "
        "s:I, s:b, s:o, s:o}",
        "policy", t.name, "round", (json_int_t)t.round, "horizon",
        (json_int_t)t.horizon, "phase", (json_int_t)t.phase, "epsilon",
        t.epsilon, "phase_start", (json_int_t)t.phase_start, "active",
        active_json(&t), "best", best_json(&t), "pending",
        (json_int_t)t.pending, "pending_max", (json_int_t)t.pending_max, "used",
        (json_int_t)t.used, "ignored", (json_int_t)t.ignored, "late",
        (json_int_t)t.late, "first_phase_rounds",
        (json_int_t)t.first_phase_rounds, "horizon_too_short",
        t.horizon > 0 && t.first_phase_rounds > t.horizon, "plan",
        plan_json(&t), "estimates", estimates_json(&t));
    add_certificate(s->policy, json);
    return json;
}

/* ---- lines ----------------------------------------------------------------*/

/* Part of a line as an answer may repeat it: short, printable. */
static shown_value show(const char *word)
{
    return tarry__arms_show(word, word + strlen(word));
}

/* Each answers one line and tells whether to go on. */

static bool answer_choose(session *s)
{
    uint64_t round;
    size_t arm;
    const tarry_status status = tarry_policy_choose(s->policy, &round, &arm);
    if (status == TARRY_OK)
        printf("%ju %zu\n", (uintmax_t)round, arm);
    else
        printf("error %s\n", tarry_status_text(status));
    return true;
}

static bool answer_observe(session *s, const char *id, const char *loss)
{
    uint64_t round;
    double value;
    if (!tarry__base_parse_count(id, &round)) {
        printf("error not a choice: '%s'\n", show(id).text);
        return true;
    }
    if (!tarry__base_parse_real(loss, &value)) {
        printf("error not a number: '%s'\n", show(loss).text);
        return true;
    }
    const tarry_status status = tarry_policy_observe(s->policy, round, value);
    if (status == TARRY_OK)
        puts("ok");
    else if (status == TARRY_LATE)
        puts("late");
    else
        printf("error %s: '%s'\n", tarry_status_text(status),
               show(status == TARRY_BAD_LOSS ? loss : id).text);
    return true;
}

static bool answer_status(const session *s)
{
    json_t *json = status_json(s);
    char *text =
        json != NULL ? json_dumps(json, JSON_REAL_PRECISION(17)) : NULL;
    puts(text != NULL ? text : "error out of memory");
    free(text);
    json_decref(json);
    return true;
}

static bool answer_save(session *s, const char *path)
{
    tarry_error error;
    if (tarry_policy_save(s->policy, path, &error) == TARRY_OK)
        puts("ok");
    else
        printf("error %s\n", error.text);
    return true;
}

static const char BLANKS[] = " \t\r\n";

/* Cuts a line into words.  Answers how many, `most` + 1 if there are more. */
static size_t split(char *line, char **word, size_t most)
{
    size_t count = 0;
    for (char *at = strtok(line, BLANKS); at != NULL;
         at = strtok(NULL, BLANKS)) {
        if (count == most)
            return most + 1;
        word[count++] = at;
    }
    return count;
}

/* The file of `save FILE`, blanks inside and all; NULL for another line. */
static const char *file_to_save(char *line)
{
    char *at = line + strspn(line, BLANKS), *end = line + strlen(line);
    if (strncmp(at, "save", 4) != 0 || strspn(at + 4, BLANKS) == 0)
        return NULL;
    at += 4 + strspn(at + 4, BLANKS);
    while (end > at && strchr(BLANKS, end[-1]) != NULL)
        end--;
    *end = '\0';
    return end > at ? at : NULL;
}

static bool answer(session *s, char *line, size_t length)
{
    char *word[3];
    if (strlen(line) != length) {
        puts("error a zero byte in the line");
        return true;
    }
    const char *file = file_to_save(line);
    if (file != NULL)
        return answer_save(s, file);
    const size_t count = split(line, word, 3);
    if (count == 1 && strcmp(word[0], "choose") == 0)
        return answer_choose(s);
    if (count == 3 && strcmp(word[0], "observe") == 0)
        return answer_observe(s, word[1], word[2]);
    if (count == 1 && strcmp(word[0], "status") == 0)
        return answer_status(s);
    if (count == 1 && strcmp(word[0], "quit") == 0) {
        puts("ok");
        return false;
    }
    printf("error not understood (choose; observe ID LOSS; status; save FILE; "
           "quit): '%s'\n",
           show(count > 0 ? word[0] : "").text);
    return true;
}

/* ---- the loop -------------------------------------------------------------*/

static int save_state(session *s)
{
    tarry_error error;
    s->unsaved = 0;
    if (s->arguments->state == NULL ||
        tarry_policy_save(s->policy, s->arguments->state, &error) == TARRY_OK)
        return EXIT_DONE;
    return cli_error(EXIT_FAILED, "%s", error.text);
}

static int serve(session *s)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length = 0;
    int code = EXIT_DONE;
    bool on = true;
    while (on && code == EXIT_DONE && !cli_interrupted() &&
           (length = getline(&line, &room, stdin)) >= 0) {
        on = answer(s, line, (size_t)length);
        code = cli_flush();
        if (code == EXIT_DONE && ++s->unsaved >= s->arguments->save_every)
            code = save_state(s);
    }
    if (length < 0 && !feof(stdin) && !cli_interrupted())
        code = cli_error(EXIT_FAILED, "cannot read standard input: %s",
                         strerror(errno));
    free(line);
    const int saved = save_state(s);
    if (cli_interrupted())
        return cli_error(EXIT_FAILED, "interrupted");
    return code != EXIT_DONE ? code : saved;
}

static int run(int argc, char **argv)
{
    arguments given = {
        .low = -1, .high = 1, .seed = NO_SEED, .save_every = 1000};
    session s = {.arguments = &given};
    int code = parse(&given, argc, argv);
    if (code >= 0)
        return code;
    if ((code = parse_range(&given)) != EXIT_DONE)
        return code;
    code = open_policy(&given, &s.policy);
    if (code == EXIT_DONE) {
        cli_catch_interrupt();
        signal(SIGPIPE, SIG_IGN); /* so that the state is saved */
        code = save_state(&s);    /* what cannot be saved fails now */
    }
    if (code == EXIT_DONE)
        code = serve(&s);
    tarry_policy_free(s.policy);
    return code;
}

const cli_command cli_pipe = {"pipe", summary, run};
