/* serve.c - `tarry serve`: options, environment, one file; signals; sockets and
 * readiness as a system manager wants them. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/input.h"
#include "base/writer.h"
#include "cli/cli.h"
#include "http/page.h"
#include "http/server.h"
#include "service/service.h"
#include "service/keys.h"
#include "session/session.h"

static const char summary[] = "decisions over HTTP, durable before the answer";

typedef struct {
    const char *listen, *store, *public_url, *tokens, *config, *log, *new_token;
    uint64_t connections, body_bytes, experiments, arms, choices, queue;
    double request_seconds, idle_seconds;
    uint64_t seed, threads;
    bool quiet, print_config;
} arguments;

static arguments defaults(void)
{
    const tarry__http_options http = tarry__http_default_options();
    const tarry__service_limits limits = tarry__service_default_limits();
    return (arguments){.listen = "127.0.0.1:8377",
                       .store = "sqlite:tarry.db",
                       .public_url = "",
                       .log = "errors",
                       .connections = http.most_connections,
                       .body_bytes = http.most_body_bytes,
                       .request_seconds = http.request_seconds,
                       .idle_seconds = http.idle_seconds,
                       .experiments = limits.most_experiments,
                       .arms = limits.most_arms,
                       .choices = limits.most_choices,
                       .queue = limits.most_queued};
}

/* ---- options, environment, file -------------------------------------------*/

enum { URL_ROOM = 300 };
enum { N_SETTINGS = 13, N_OPTIONS = 19 };

/* The first N_SETTINGS can also stand in the file and in the environment. */
static void fill_options(arguments *a, cli_option options[N_OPTIONS])
{
    const cli_option table[N_OPTIONS] = {
        {"listen", CLI_TEXT, &a->listen, "ADDRESS:PORT",
         "where to listen (default 127.0.0.1:8377); any address that others\n"
         "can reach needs --tokens"},
        {"store", CLI_TEXT, &a->store, "URL",
         "sqlite:FILE; postgresql://..., which many processes may share; or\n"
         "memory: to try things out (default sqlite:tarry.db)"},
        {"public-url", CLI_TEXT, &a->public_url, "URL",
         "where clients of other processes on the same store reach this one\n"
         "(default http:// and the address it listens at)"},
        {"tokens", CLI_TEXT, &a->tokens, "FILE",
         "requests need a token of this file (see --new-token); it is read\n"
         "again on SIGHUP"},
        {"log", CLI_TEXT, &a->log, "WHAT",
         "lines of JSON on stderr: nothing, errors (the default), requests"},
        {"max-connections", CLI_COUNT, &a->connections, "N",
         "more are turned away (default 10000)"},
        {"max-body", CLI_COUNT, &a->body_bytes, "BYTES",
         "of a request (default 4194304)"},
        {"request-timeout", CLI_REAL, &a->request_seconds, "SECONDS",
         "for a whole request to come in (default 10)"},
        {"idle-timeout", CLI_REAL, &a->idle_seconds, "SECONDS",
         "between two requests of a connection (default 75)"},
        {"max-experiments", CLI_COUNT, &a->experiments, "N",
         "in the store (default 10000)"},
        {"max-arms", CLI_COUNT, &a->arms, "N",
         "of one experiment (default 100000)"},
        {"max-count", CLI_COUNT, &a->choices, "N",
         "decisions in one request (default 10000)"},
        {"max-queue", CLI_COUNT, &a->queue, "N",
         "requests that wait; more are answered with 503 (default 10000)"},
        {"config", CLI_TEXT, &a->config, "FILE",
         "lines NAME = VALUE with the options above; # begins a comment"},
        {"print-config", CLI_FLAG, &a->print_config, NULL,
         "print what holds, as such a file, and end"},
        {"new-token", CLI_TEXT, &a->new_token, "SCOPES",
         "print a new token for scopes among decide,feedback,read,admin,\n"
         "and the line for the file of tokens, and end"},
        {"quiet", CLI_FLAG, &a->quiet, NULL, "the same as --log nothing"},
        {"seed", CLI_COUNT, &a->seed, "N",
         "accepted as in every command; experiments have their own"},
        {"threads", CLI_COUNT, &a->threads, "N",
         "that make choices of different experiments (default: as many as\n"
         "processors)"},
    };
    memcpy(options, table, sizeof table);
}

/* TARRY_MAX_BODY is --max-body. */
static const char *environment_of(const char *name)
{
    char variable[60] = "TARRY_";
    size_t size = strlen(variable);
    for (const char *c = name; *c != '\0' && size + 1 < sizeof variable; c++)
        variable[size++] = (char)(*c == '-'                ? '_'
                                  : *c >= 'a' && *c <= 'z' ? *c - 32
                                                           : *c);
    variable[size] = '\0';
    return getenv(variable);
}

static bool read_environment(const cli_option *options)
{
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const char *value = environment_of(options[i].name);
        if (value != NULL &&
            !cli_set(&options[i], "in the environment, ", value))
            return false;
    }
    return true;
}

/* One line of the file, which lives on. */
static bool take_line(const cli_option *options, const char *path,
                      size_t number, char *line)
{
    char *rest, where[300];
    snprintf(where, sizeof where, "%.250s:%zu: ", path, number);
    line[strcspn(line, "#\r")] = '\0';
    char *name = strtok_r(line, " \t=", &rest);
    if (name == NULL)
        return true;
    char *value = rest + strspn(rest, " \t=");
    size_t size = strlen(value);
    while (size > 0 && strchr(" \t", value[size - 1]) != NULL)
        value[--size] = '\0';
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (strcmp(options[i].name, name) == 0)
            return cli_set(&options[i], where, value);
    cli_error(EXIT_USAGE, "%s:%zu: not a setting: '%s'", path, number, name);
    return false;
}

static bool read_file(const cli_option *options, const char *path)
{
    static char text[65536]; /* values stay in it */
    FILE *file = tarry__input_stream(path);
    if (file == NULL) {
        cli_error(EXIT_USAGE, "%s: %s", path, strerror(errno));
        return false;
    }
    const size_t size = fread(text, 1, sizeof text - 1, file);
    const bool is_whole = !ferror(file) && size < sizeof text - 1;
    fclose(file);
    if (!is_whole) {
        cli_error(EXIT_USAGE, "%s: cannot be read, or has 64 kB or more", path);
        return false;
    }
    size_t number = 0;
    bool good = true;
    for (char *line = text, *next; good && line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        good = take_line(options, path, ++number, line);
    }
    return good;
}

static int parse_options(const cli_option *options, int argc, char **argv)
{
    const cli_syntax syntax = {
        .command = "serve",
        .summary = summary,
        .usage = "[--listen ADDRESS:PORT] [--store URL] [--tokens FILE] "
                 "[options]",
        .about =
            "Answers decisions and takes outcomes over HTTP.  Nothing is\n"
            "answered with success before it is on the disk.  Many\n"
            "experiments live in one store; docs/service.md has the calls.\n"
            "Every option above --config may also be set by the environment\n"
            "(TARRY_MAX_BODY for --max-body) and in a file; options come\n"
            "before the environment, and that before the file.\n\n"
            "SIGTERM and SIGINT: what has been accepted is answered, then it\n"
            "ends.  SIGHUP: the tokens are read again.",
        .examples =
            "  tarry serve\n"
            "  curl -d '{\"name\":\"button\",\"arms\":[{\"name\":\"red\"},"
            "{\"name\":\"blue\"}]}' \\\n"
            "    http://127.0.0.1:8377/v1/experiments\n"
            "  curl -d '{}' "
            "http://127.0.0.1:8377/v1/experiments/button/decisions",
        .options = options,
        .n_options = N_OPTIONS,
    };
    return cli_parse(&syntax, argc, argv);
}

/* The options are parsed twice: to find the file, and to come after it. */
static int parse(arguments *a, int argc, char **argv)
{
    cli_option options[N_OPTIONS];
    fill_options(a, options);
    const int code = parse_options(options, argc, argv);
    if (code != -1)
        return code;
    const char *config = a->config != NULL ? a->config : getenv("TARRY_CONFIG");
    *a = defaults();
    if ((config != NULL && !read_file(options, config)) ||
        !read_environment(options))
        return EXIT_USAGE;
    return parse_options(options, argc, argv);
}

/* In as few digits as read back as the same number. */
static void print_seconds(const char *name, double value)
{
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    printf("%s = %s\n", name, text);
}

static int print_config(const arguments *a)
{
    char *store = strdup(a->store);
    if (store == NULL)
        return cli_error(EXIT_FAILED, "out of memory");
    tarry__store_show(a->store, store);
    printf("listen = %s\nstore = %s\n", a->listen, store);
    free(store);
    printf("%spublic-url = %s\n", a->public_url[0] == '\0' ? "# " : "",
           a->public_url);
    printf("%stokens = %s\n", a->tokens == NULL ? "# " : "",
           a->tokens != NULL ? a->tokens : "");
    printf("log = %s\nmax-connections = %ju\nmax-body = %ju\n", a->log,
           (uintmax_t)a->connections, (uintmax_t)a->body_bytes);
    print_seconds("request-timeout", a->request_seconds);
    print_seconds("idle-timeout", a->idle_seconds);
    printf("max-experiments = %ju\nmax-arms = %ju\nmax-count = %ju\n"
           "max-queue = %ju\n",
           (uintmax_t)a->experiments, (uintmax_t)a->arms, (uintmax_t)a->choices,
           (uintmax_t)a->queue);
    return cli_flush();
}

static int print_token(const char *scopes)
{
    char token[TARRY__KEYS_ROOM], digest[TARRY__KEYS_ROOM];
    tarry_error error;
    if (tarry__keys_parse_scopes(scopes) == 0)
        return cli_error(EXIT_USAGE,
                         "--new-token: not scopes among decide, feedback, "
                         "read, admin, with commas between: '%s'",
                         scopes);
    if (tarry__keys_make(token, digest, &error) != TARRY_OK)
        return cli_error(EXIT_FAILED, "%s", error.text);
    printf("token: %s\nline for the file: %s %s\n", token, digest, scopes);
    return cli_flush();
}

/* ---- lines on stderr ------------------------------------------------------*/

static void tell(const arguments *a, const char *event, const char *detail)
{
    tarry__writer line = {0};
    if (strcmp(a->log, "nothing") == 0)
        return;
    tarry__writer_put(&line, "{\"time\":");
    tarry__writer_time(&line, tarry__session_now());
    tarry__writer_put(&line, ",\"level\":\"info\",\"event\":");
    tarry__writer_quote(&line, event);
    tarry__writer_put(&line, ",\"detail\":");
    tarry__writer_quote(&line, detail);
    tarry__writer_put(&line, "}\n");
    tarry__http_tell(&line);
    tarry__writer_clear(&line);
}

/* ---- the system manager ---------------------------------------------------*/

/* The socket that it has opened for us, or -1. */
static int given_socket(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    const bool is_ours =
        pid != NULL && count != NULL && strtol(pid, NULL, 10) == getpid();
    return is_ours && strcmp(count, "1") == 0 ? 3 : -1;
}

/* A word to the socket it listens at. */
static void notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (path == NULL || strlen(path) >= sizeof to.sun_path)
        return;
    strcpy(to.sun_path, path);
    const socklen_t size =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (to.sun_path[0] == '@')
        to.sun_path[0] = '\0';
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL,
                  (const struct sockaddr *)&to, size);
    close(fd);
}

/* ---- running --------------------------------------------------------------*/

typedef struct {
    const arguments *arguments;
    tarry__service *service;
    int signals;
} running;

/* A server that can no longer be told to stop, stops. */
static bool on_signal(void *context)
{
    running *r = context;
    struct signalfd_siginfo info;
    tarry_error error;
    bool stops = false;
    ssize_t got;
    while ((got = read(r->signals, &info, sizeof info)) ==
           (ssize_t)sizeof info) {
        if (info.ssi_signo != SIGHUP) {
            stops = true;
        } else if (r->arguments->tokens == NULL) {
            continue;
        } else if (tarry__service_read_tokens(r->service, r->arguments->tokens,
                                              &error) == TARRY_OK) {
            tell(r->arguments, "tokens read", r->arguments->tokens);
        } else {
            tell(r->arguments, "tokens not read", error.text);
        }
    }
    stops |= got >= 0 || (errno != EAGAIN && errno != EINTR);
    if (stops) {
        tell(r->arguments, "stopping", "");
        notify("STOPPING=1");
    }
    return stops;
}

/* Before any thread is there, so that none of them takes the signals. */
static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int fail(tarry_status status, const tarry_error *error)
{
    return cli_error(status == TARRY_BAD_STATE ? EXIT_USAGE : cli_code(status),
                     "%s", error->text);
}

static int listen_at(const arguments *a, int *fd)
{
    tarry_error error;
    *fd = given_socket();
    if (*fd < 0) {
        const tarry_status status = tarry__http_listen(a->listen, fd, &error);
        if (status != TARRY_OK)
            return cli_error(status == TARRY_BAD_ARGUMENT ? EXIT_USAGE
                                                          : EXIT_FAILED,
                             "--listen: %s", error.text);
    }
    if (a->tokens != NULL || tarry__http_is_local(*fd))
        return EXIT_DONE;
    close(*fd);
    return cli_error(EXIT_USAGE,
                     "--listen: others can reach this address, so --tokens is "
                     "needed: '%s'",
                     a->listen);
}

/* Others send their clients there, in a line of HTTP. */
static int check_public_url(const char *url)
{
    size_t length = 0;
    while (url[length] > ' ' && url[length] <= '~')
        length++;
    const bool has_scheme =
        strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
    return url[0] == '\0' ||
                   (has_scheme && url[length] == '\0' && length < URL_ROOM)
               ? EXIT_DONE
               : cli_error(EXIT_USAGE,
                           "--public-url: not http:// or https:// and at most "
                           "%d characters: '%.60s'",
                           URL_ROOM - 1, url);
}

/* What others are told: all addresses of this machine are those of its name. */
static void find_url(const arguments *a, int fd, char url[URL_ROOM])
{
    char address[80], host[200] = "";
    tarry__http_address(fd, address);
    const bool is_any = strncmp(address, "0.0.0.0:", 8) == 0 ||
                        strncmp(address, "[::]:", 5) == 0;
    gethostname(host, sizeof host - 1);
    if (a->public_url[0] != '\0')
        snprintf(url, URL_ROOM, "%s", a->public_url);
    else if (is_any)
        snprintf(url, URL_ROOM, "http://%s%s", host, strrchr(address, ':'));
    else
        snprintf(url, URL_ROOM, "http://%s", address);
    const size_t length = strlen(url);
    if (length > 0 && url[length - 1] == '/')
        url[length - 1] = '\0';
}

static int open_service(const arguments *a, const char *url,
                        tarry__service **service)
{
    tarry_error error;
    tarry__service_limits limits = tarry__service_default_limits();
    limits.most_queued = a->queue;
    limits.most_experiments = a->experiments;
    limits.most_arms = a->arms;
    limits.most_choices = a->choices;
    limits.address = url;
    if (a->tokens != NULL)
        limits.tokens = a->tokens;
    if (a->threads > 0)
        limits.threads = a->threads;
    const tarry_status status =
        tarry__service_open(a->store, &limits, service, &error);
    if (status != TARRY_OK)
        return fail(status, &error);
    tarry__service_serve_files(*service, tarry__http_files);
    return EXIT_DONE;
}

/* Behind the scheme: what requests must be for where nobody needs a token. */
static const char *own_host(const arguments *a, const char *url)
{
    const char *scheme = strstr(url, "://");
    return a->tokens != NULL ? NULL : scheme != NULL ? scheme + 3 : url;
}

static bool parse_log(const char *text, tarry__http_log *log)
{
    static const char *const words[] = {"nothing", "errors", "requests"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, words[i]) == 0) {
            *log = (tarry__http_log)i;
            return true;
        }
    return false;
}

static int serve(const arguments *a, tarry__http_options options)
{
    running r = {.arguments = a, .signals = open_signals()};
    tarry_error error;
    char address[80], url[URL_ROOM];
    int fd;
    int code = check_public_url(a->public_url);
    if (code == EXIT_DONE)
        code = listen_at(a, &fd);
    if (code != EXIT_DONE)
        return code;
    find_url(a, fd, url);
    code = open_service(a, url, &r.service);
    if (code != EXIT_DONE) {
        close(fd);
    } else {
        options.own_host = own_host(a, url);
        options.signal_fd = r.signals;
        options.on_signal = on_signal;
        options.context = &r;
        tarry__http_address(fd, address);
        tell(a, "listening", address);
        notify("READY=1");
        if (tarry__http_serve(r.service, fd, &options, &error) != TARRY_OK)
            code = cli_error(EXIT_FAILED, "%s", error.text);
        tarry__service_close(r.service);
        tell(a, "stopped", "");
    }
    close(r.signals);
    return code;
}

/* With 0 for one of these nobody would ever be answered; a name of no file,
 * which an unset variable makes, would let everybody in. */
static int check(const arguments *a)
{
    const struct {
        const char *name;
        double value;
    } all[] = {{"request-timeout", a->request_seconds},
               {"idle-timeout", a->idle_seconds},
               {"max-connections", (double)a->connections},
               {"max-queue", (double)a->queue}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(all[i].value > 0))
            return cli_error(EXIT_USAGE, "--%s: not above 0: '%g'", all[i].name,
                             all[i].value);
    if (a->tokens != NULL && a->tokens[0] == '\0')
        return cli_error(EXIT_USAGE, "--tokens: no file is named: ''");
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    arguments a = defaults();
    const int code = parse(&a, argc, argv);
    if (code != -1)
        return code;
    if (a.quiet)
        a.log = "nothing";
    tarry__http_options options = tarry__http_default_options();
    options.most_connections = a.connections;
    options.most_body_bytes = a.body_bytes;
    options.request_seconds = a.request_seconds;
    options.idle_seconds = a.idle_seconds;
    if (!parse_log(a.log, &options.log))
        return cli_error(EXIT_USAGE,
                         "--log: not one of nothing, errors, requests: '%s'",
                         a.log);
    if (check(&a) != EXIT_DONE)
        return EXIT_USAGE;
    if (a.new_token != NULL)
        return print_token(a.new_token);
    return a.print_config ? print_config(&a) : serve(&a, options);
}

const cli_command cli_serve = {"serve", summary, run};
