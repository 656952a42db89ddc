/* A server and a client whose calls fail: the server stays, and each request
 * has its whole answer or none; the client says why it has none.
 *
 * The other side is a child process, which asks or answers as it is told. */
#include "calls.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "http/client.h"
#include "http/server.h"

/* ---- the server -----------------------------------------------------------*/

static void addresses_are_understood(void **state)
{
    static const struct {
        const char *text, *begin;
        bool is_local;
    } good[] = {{"127.0.0.1:0", "127.0.0.1:", true},
                {"localhost:0", "127.0.0.1:", true},
                {":0", "0.0.0.0:", false},
                {"[::1]:0", "[::1]:", true},
                {"[::]:0", "[::]:", false}};
    static const char *const bad[] = {
        "8377",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:70000",
        "1.2.3.4:5x",
        "no.such.host:80",
        "[::1:80",
        "[zz]:80",
        "[]:80",
        "a.name.that.is.longer.than.any.of.our.machines.would.ever.have.had:8"};
    tarry_error error = {""};
    char text[80];
    int fd;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (tarry__http_listen(bad[i], &fd, &error) != TARRY_BAD_ARGUMENT)
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(fd, -1);
        assert_non_null(strstr(error.text, bad[i]));
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (tarry__http_listen(good[i].text, &fd, &error) != TARRY_OK) {
            assert_int_equal(good[i].text[0], '['); /* no IPv6 here */
            continue;
        }
        tarry__http_address(fd, text);
        assert_memory_equal(text, good[i].begin, strlen(good[i].begin));
        assert_true(strtoul(text + strlen(good[i].begin), NULL, 10) > 0);
        assert_int_equal(tarry__http_is_local(fd), good[i].is_local);
        int second;
        assert_int_equal(tarry__http_listen(text, &second, &error),
                         TARRY_IO_ERROR); /* it is taken */
        assert_int_equal(second, -1);
        close(fd);
    }
    tarry__http_address(-1, text);
    assert_string_equal(text, "?");
    assert_false(tarry__http_is_local(-1));
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(tarry__http_is_local(fd));
    close(fd);
}

static void a_socket_that_cannot_listen_is_closed(void **state)
{
    bool met = true;
    (void)state;
    for (uint64_t k = 1; met; k++) {
        tarry_error error = {""};
        int fd, next = dup(0);
        close(next);
        calls_begin(CALLS_SERVE, k, EACCES, false);
        const tarry_status status =
            tarry__http_listen("127.0.0.1:0", &fd, &error);
        met = calls_end();
        assert_int_equal(status, met ? TARRY_IO_ERROR : TARRY_OK);
        assert_true(met == (fd < 0));
        if (met)
            assert_non_null(strstr(error.text, strerror(EACCES)));
        else
            close(fd);
        assert_int_equal(dup(0), next); /* nothing was left open */
        close(next);
    }
}

static tarry__service *service;
static int stop[2];

static bool stops(void *context)
{
    (void)context;
    return true;
}

/* Requests, and how a whole answer to each begins and ends. */
static const struct {
    const char *request, *begin, *end;
} talks[] = {
    {"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
     "HTTP/1.1 200 OK\r\n", "}"},
    {"POST /v1/experiments/e/decisions HTTP/1.1\r\nHost: a\r\n"
     "Connection: close\r\nX-Request-Id: a b\r\nContent-Length: 2\r\n\r\n{}",
     "HTTP/1.1 201 Created\r\n", "}"},
    {"GET /v1/experiments/e/log HTTP/1.1\r\nHost: a\r\n"
     "Connection: close\r\n\r\n",
     "HTTP/1.1 200 OK\r\n", "}\n"},
    {"GET /healthz HTTP/1.1\r\nHost: a\r\nSec-Fetch-Site: none\r\n\r\n"
     "BREW /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
     "HTTP/1.1 200 OK\r\n", "}"},
    {"GET /healthz HTTP/2.0\r\n\r\n", "HTTP/1.1 505 HTTP", "}"}};
enum {
    N_TALKS = sizeof talks / sizeof *talks,
    ANSWERED = 0,
    REFUSED = 1,
    WRONG = 2
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Whether there is less of an answer than it says of itself. */
static bool is_cut(const char *text)
{
    const char *body = strstr(text, "\r\n\r\n");
    const char *length = strstr(text, "Content-Length: ");
    if (body == NULL)
        return true;
    return length != NULL ? strlen(body + 4) < strtoul(length + 16, NULL, 10)
                          : strstr(body, "\r\n0\r\n\r\n") == NULL;
}

/* How a talk ends for the client; in a child process. */
static int talk(const struct sockaddr_in *there, const char *request,
                const char *begin, const char *end)
{
    static char text[200000];
    size_t size = 0;
    ssize_t got;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (const struct sockaddr *)there, sizeof *there) != 0)
        return REFUSED;
    (void)!write(fd, request, strlen(request));
    while ((got = read(fd, text + size, sizeof text - 1 - size)) > 0)
        size += (size_t)got;
    close(fd);
    text[size] = '\0';
    if (is_cut(text) || strstr(text, "HTTP/1.1 503 ") != NULL)
        return REFUSED;
    if (!begins(text, "HTTP/1.1 20") &&
        strstr(text, "Content-Length: 0\r\n") != NULL)
        return REFUSED; /* no memory for the reason */
    return begins(text, begin) && strcmp(text + size - strlen(end), end) == 0
               ? ANSWERED
               : WRONG;
}

/* Serves one such talk with a fault; how it was for the client.  *met: the
 * call that was to fail was made. */
static int serve_one(size_t i, calls_kind kind, uint64_t k, int code, bool *met)
{
    tarry__http_options options = tarry__http_default_options();
    struct sockaddr_in there;
    socklen_t size = sizeof there;
    tarry_error error = {""};
    int fd, how;
    options.log = TARRY__HTTP_LOG_NOTHING;
    options.signal_fd = stop[0];
    options.on_signal = stops;
    assert_int_equal(tarry__http_listen("127.0.0.1:0", &fd, &error), TARRY_OK);
    getsockname(fd, (struct sockaddr *)&there, &size);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        close(fd);
        how = talk(&there, talks[i].request, talks[i].begin, talks[i].end);
        (void)!write(stop[1], "", 1);
        _exit(how);
    }
    calls_begin(kind, k, code, false);
    const tarry_status status =
        tarry__http_serve(service, fd, &options, &error);
    *met = calls_end();
    if (status != TARRY_OK) {
        assert_true(*met && kind == CALLS_SERVE);
        assert_int_equal(status, TARRY_IO_ERROR);
        assert_non_null(strstr(error.text, "sockets: "));
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    char byte;
    assert_int_equal(read(stop[0], &byte, 1), 1);
    assert_true(WIFEXITED(how));
    return status == TARRY_OK ? WEXITSTATUS(how) : REFUSED;
}

static void open_service(void)
{
    const tarry__service_limits limits = tarry__service_default_limits();
    assert_int_equal(pipe(stop), 0);
    assert_int_equal(tarry__service_open("memory:", &limits, &service, NULL),
                     TARRY_OK);
}

static void close_service(void)
{
    tarry__service_close(service);
    close(stop[0]);
    close(stop[1]);
}

/* Makes the experiment that is asked for. */
static void make_experiment(void)
{
    static const char body[] =
        "{\"name\":\"e\",\"policy\":\"uniform\",\"arms\":[{\"name\":\"x\"},"
        "{\"name\":\"y\"}]}";
    tarry__client_url url;
    tarry__client_answer answer;
    tarry_error error = {""};
    tarry__http_options options = tarry__http_default_options();
    char text[100] = "http://";
    int fd, how;
    options.log = TARRY__HTTP_LOG_NOTHING;
    options.signal_fd = stop[0];
    options.on_signal = stops;
    assert_int_equal(tarry__http_listen("127.0.0.1:0", &fd, &error), TARRY_OK);
    tarry__http_address(fd, text + 7);
    const pid_t child = fork();
    if (child == 0) {
        const tarry__client_request request = {.method = "POST",
                                               .path = "/v1/experiments",
                                               .body = body,
                                               .timeout_s = 20};
        alarm(20);
        close(fd);
        how = tarry__client_parse_url(text, &url, &error) != TARRY_OK ||
              tarry__client_ask(&url, &request, &answer, &error) != TARRY_OK ||
              answer.status != 201;
        (void)!write(stop[1], "", 1);
        _exit(how);
    }
    assert_int_equal(tarry__http_serve(service, fd, &options, &error),
                     TARRY_OK);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    assert_int_equal(read(stop[0], text, 1), 1);
}

static void requests_are_answered_or_not_at_all(void **state)
{
    static const struct {
        calls_kind kind;
        int error;
    } faults[] = {{CALLS_SERVE, EIO}, {CALLS_SERVE, EINTR}, {CALLS_BLOCKS, 0}};
    (void)state;
    open_service();
    make_experiment();
    for (size_t i = 0; i < N_TALKS; i++)
        for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
            bool met = true;
            for (uint64_t k = 1; met && k < 60; k++) {
                const int how =
                    serve_one(i, faults[f].kind, k, faults[f].error, &met);
                if (how != ANSWERED && !(met && how == REFUSED))
                    fail_msg("talk %d, kind %d, call %d: %d", (int)i,
                             (int)faults[f].kind, (int)k, how);
            }
        }
    close_service();
}

/* Few files: as many connections as there is room for. */
static void files_limit_connections(void **state)
{
    struct rlimit before, few;
    bool met;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    open_service();
    make_experiment();
    for (rlim_t most = 100; most <= 1000; most += 900) {
        few = before;
        few.rlim_cur = most;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        assert_int_equal(serve_one(0, CALLS_NONE, 1, 0, &met), ANSWERED);
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &few), 0);
        assert_true(few.rlim_cur > most); /* it was raised */
    }
    setrlimit(RLIMIT_NOFILE, &before);
    close_service();
}

/* ---- memory ---------------------------------------------------------------*/

enum { BODY = 60000, LIMIT = 4 * BODY, TIMES = 12 };

/* Asks for a decision with a body of so many bytes, the last `missing` of which
 * are left out. */
static bool send_body(int fd, size_t size, size_t missing)
{
    static char text[LIMIT + 1000];
    const int head = sprintf(text,
                             "POST /v1/experiments/e/decisions HTTP/1.1\r\n"
                             "Host: a\r\nContent-Length: %zu\r\n\r\n{}",
                             size);
    memset(text + head, ' ', size - 2);
    const char *at = text, *end = text + (size_t)head + size - 2 - missing;
    for (ssize_t n = 0; at < end && n >= 0; at += n > 0 ? n : 0)
        n = send(fd, at, (size_t)(end - at), MSG_NOSIGNAL);
    return at == end;
}

/* The status of the next answer, once all of it is there; 0: there is none. */
static int status_of_answer(int fd)
{
    static char text[4000];
    size_t size = 0;
    ssize_t got;
    do {
        got = recv(fd, text + size, sizeof text - 1 - size, 0);
        size += got > 0 ? (size_t)got : 0;
        text[size] = '\0';
    } while (got > 0 && is_cut(text));
    return begins(text, "HTTP/1.1 ") ? atoi(text + 9) : 0;
}

static int connect_to(const struct sockaddr_in *there)
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    return connect(fd, (const struct sockaddr *)there, sizeof *there) == 0 ? fd
                                                                           : -1;
}

/* One large body after another, of one connection or of many, needs no more
 * than one. */
static bool one_after_another(const struct sockaddr_in *there, bool by_one)
{
    int fd = connect_to(there);
    for (int i = 0; i < TIMES; i++) {
        if (!by_one && i > 0) {
            close(fd);
            fd = connect_to(there);
        }
        if (!send_body(fd, BODY, 0) || status_of_answer(fd) != 201)
            return false;
    }
    close(fd);
    return true;
}

/* Bodies that do not end are held until there is no more room; then others are
 * refused, and when all of them have gone there is room again. */
static bool until_it_is_full(const struct sockaddr_in *there)
{
    struct pollfd open[TIMES];
    int answered = 0;
    for (int i = 0; i < TIMES; i++) {
        open[i] = (struct pollfd){.fd = connect_to(there), .events = POLLIN};
        send_body(open[i].fd, BODY, 1);
    }
    while (answered <= TIMES - LIMIT / BODY) /* a body has a head, too */
        answered = poll(open, TIMES, 1000);
    for (int i = 0; i < TIMES; i++) {
        if (open[i].revents != 0 && status_of_answer(open[i].fd) != 503)
            return false;
        close(open[i].fd);
    }
    return true;
}

static bool ask_much(const struct sockaddr_in *there)
{
    const int fd = connect_to(there);
    send_body(fd, LIMIT, 1);
    if (status_of_answer(fd) != 503)
        return false;
    close(fd);
    return one_after_another(there, true) && one_after_another(there, false) &&
           until_it_is_full(there) && one_after_another(there, true);
}

static void memory_for_bodies_is_limited_and_given_back(void **state)
{
    tarry__http_options options = tarry__http_default_options();
    struct sockaddr_in there;
    socklen_t size = sizeof there;
    int fd, how;
    char byte;
    (void)state;
    open_service();
    make_experiment();
    options.log = TARRY__HTTP_LOG_NOTHING;
    options.signal_fd = stop[0];
    options.on_signal = stops;
    options.most_buffered_bytes = LIMIT;
    assert_int_equal(tarry__http_listen("127.0.0.1:0", &fd, NULL), TARRY_OK);
    getsockname(fd, (struct sockaddr *)&there, &size);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        close(fd);
        how = ask_much(&there);
        (void)!write(stop[1], "", 1);
        _exit(how ? ANSWERED : WRONG);
    }
    assert_int_equal(tarry__http_serve(service, fd, &options, NULL), TARRY_OK);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    assert_int_equal(read(stop[0], &byte, 1), 1);
    close_service();
}

/* ---- the client -----------------------------------------------------------*/

/* Answers connections with this text until it is killed. */
static pid_t answer_with(const char *text, tarry__client_url *url)
{
    struct sockaddr_in here = {.sin_family = AF_INET};
    socklen_t size = sizeof here;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&here, sizeof here), 0);
    assert_int_equal(listen(fd, 100), 0);
    getsockname(fd, (struct sockaddr *)&here, &size);
    memset(url, 0, sizeof *url);
    strcpy(url->host, "127.0.0.1");
    snprintf(url->port, sizeof url->port, "%d", ntohs(here.sin_port));
    const pid_t child = fork();
    if (child != 0) {
        close(fd);
        return child;
    }
    alarm(60);
    for (;;) {
        static char request[100000];
        const int to = accept(fd, NULL, NULL);
        ssize_t got = read(to, request, sizeof request);
        while (got > 0 && request[got - 1] != '!' && /* how a body ends here */
               memcmp(request + got - 4, "\r\n\r\n", 4) != 0)
            got = read(to, request, sizeof request);
        (void)!write(to, text, strlen(text));
        close(to);
    }
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static const char whole[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

static void a_client_has_the_whole_answer_or_says_why(void **state)
{
    static const int errors[] = {EIO, EINTR, EAGAIN};
    static char body[300000];
    const tarry__client_request request = {
        .method = "POST", .path = "/", .body = body, .timeout_s = 20};
    tarry__client_url url;
    (void)state;
    memset(body, 'x', sizeof body - 2);
    body[sizeof body - 2] = '!';
    const pid_t child = answer_with(whole, &url);
    for (size_t i = 0; i <= sizeof errors / sizeof *errors; i++) {
        const bool is_memory = i == sizeof errors / sizeof *errors;
        bool met = true;
        for (uint64_t k = 1; met; k++) {
            tarry__client_answer answer;
            tarry_error error = {""};
            calls_begin(is_memory ? CALLS_BLOCKS : CALLS_ASK, k,
                        is_memory ? 0 : errors[i], false);
            const tarry_status status =
                tarry__client_ask(&url, &request, &answer, &error);
            met = calls_end();
            if (status == TARRY_OK) {
                assert_int_equal(answer.status, 200);
                assert_string_equal(answer.body, "hello");
                assert_false(answer.was_not_reached);
            } else {
                assert_true(met);
                assert_true(status == TARRY_IO_ERROR ||
                            (is_memory && status == TARRY_NO_MEMORY));
                assert_null(answer.body);
                assert_true(is_memory || error.text[0] != '\0');
            }
            tarry__base_free(answer.body);
        }
    }
    end(child);
}

/* Only then may it be asked again whatever it is. */
static void a_client_knows_whether_it_was_heard(void **state)
{
    static const char cut[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel";
    const tarry__client_request request = {
        .method = "POST", .path = "/", .body = "!", .timeout_s = 20};
    tarry__client_url url;
    tarry__client_answer answer;
    tarry_error error = {""};
    (void)state;
    const pid_t child = answer_with(cut, &url);
    assert_int_equal(tarry__client_ask(&url, &request, &answer, &error),
                     TARRY_IO_ERROR);
    assert_false(answer.was_not_reached);
    end(child);
    assert_int_equal(tarry__client_ask(&url, &request, &answer, &error),
                     TARRY_IO_ERROR);
    assert_true(answer.was_not_reached);
}

static void a_redirection_leads_somewhere(void **state)
{
    static const char *const nowhere[] = {
        "", "elsewhere", "http://a b/", "ftp://h/x", "/\x80", "http://h"};
    const tarry__client_request request = {
        .method = "GET", .path = "/", .timeout_s = 20};
    (void)state;
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        char text[300];
        tarry__client_url url;
        tarry__client_answer answer;
        tarry_error error = {""};
        snprintf(text, sizeof text,
                 "HTTP/1.1 307 Away\r\nLocation: %s\r\nContent-Length: 0\r\n"
                 "\r\n",
                 nowhere[i]);
        const pid_t child = answer_with(text, &url);
        assert_int_equal(tarry__client_ask(&url, &request, &answer, &error),
                         TARRY_IO_ERROR);
        assert_string_not_equal(error.text, "");
        assert_null(answer.body);
        end(child);
    }
}

static void what_does_not_fit_is_not_sent(void **state)
{
    static char path[5000], base[700] = "http://h/";
    tarry__client_request request = {
        .method = "GET", .path = path, .timeout_s = 20};
    tarry__client_url url;
    tarry__client_answer answer;
    tarry_error error = {""};
    (void)state;
    memset(path, '/', sizeof path - 1);
    memset(base + 9, 'b', sizeof base - 10);
    assert_int_equal(tarry__client_parse_url(base, &url, &error),
                     TARRY_BAD_ARGUMENT);
    const pid_t child = answer_with(whole, &url);
    assert_int_equal(tarry__client_ask(&url, &request, &answer, &error),
                     TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, strerror(EMSGSIZE)));
    end(child);
}

static void an_answer_that_cannot_be_kept_is_an_error(void **state)
{
    static char many[9000] = "HTTP/1.1 200 OK\r\n";
    FILE *full = fopen("/dev/full", "w");
    tarry__client_url url;
    tarry__client_answer answer;
    tarry_error error = {""};
    (void)state;
    assert_non_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    tarry__client_request request = {
        .method = "GET", .path = "/", .timeout_s = 20, .sink = full};
    pid_t child = answer_with(whole, &url);
    assert_int_equal(tarry__client_ask(&url, &request, &answer, &error),
                     TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, "written"));
    end(child);
    fclose(full);
    for (int i = 0; i < 300; i++)
        strcat(many, "A: b\r\n");
    child = answer_with(many, &url);
    request.sink = NULL;
    assert_int_equal(tarry__client_ask(&url, &request, &answer, &error),
                     TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, "too many headers"));
    end(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_understood),
        cmocka_unit_test(a_socket_that_cannot_listen_is_closed),
        cmocka_unit_test(requests_are_answered_or_not_at_all),
        cmocka_unit_test(files_limit_connections),
        cmocka_unit_test(memory_for_bodies_is_limited_and_given_back),
        cmocka_unit_test(a_client_has_the_whole_answer_or_says_why),
        cmocka_unit_test(a_client_knows_whether_it_was_heard),
        cmocka_unit_test(a_redirection_leads_somewhere),
        cmocka_unit_test(what_does_not_fit_is_not_sent),
        cmocka_unit_test(an_answer_that_cannot_be_kept_is_an_error),
    };
    signal(SIGPIPE, SIG_IGN);
    calls_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
