/* Answers of HTTP as a socket may bring them: whole, in pieces, broken. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/base.h"
#include "http/client.h"

/* What becomes of these bytes, the connection being closed behind them. */
static tarry_status read_text(const char *text, size_t size,
                              tarry__client_answer *answer, tarry_error *error)
{
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    assert_int_equal(write(fd[1], text, size), (ssize_t)size);
    close(fd[1]);
    const tarry_status status = tarry__client_read(
        fd[0], tarry__base_seconds() + 5, NULL, answer, error);
    close(fd[0]);
    return status;
}

static void check_body(const char *text, int status, const char *body)
{
    tarry__client_answer answer;
    tarry_error error;
    assert_int_equal(read_text(text, strlen(text), &answer, &error), TARRY_OK);
    assert_int_equal(answer.status, status);
    assert_string_equal(answer.body, body);
    assert_int_equal(answer.size, strlen(body));
    tarry__base_free(answer.body);
}

static void a_body_ends_by_its_length(void **state)
{
    (void)state;
    check_body("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more",
               200, "hello");
    check_body("HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", 200, "");
    check_body("HTTP/1.1 404 Not Found\nContent-Length: 2\n\n{}", 404, "{}");
    check_body("HTTP/1.1 204 No Content\r\n\r\n", 204, "");
}

static void a_body_ends_by_chunks_or_with_the_connection(void **state)
{
    (void)state;
    check_body("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
               "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n",
               200, "abc0123456789");
    check_body("HTTP/1.0 200 OK\r\n\r\nall of it", 200, "all of it");
    check_body("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n"
               "Content-Length: 1\r\n\r\nx",
               201, "x");
}

static void what_comes_before_an_answer_is_no_part_of_it(void **state)
{
    (void)state;
    static const char text[] =
        "HTTP/1.1 103 Early\r\nRetry-After: 7\r\nLocation: /a\r\n\r\n"
        "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
    tarry__client_answer answer;
    tarry_error error;
    assert_int_equal(read_text(text, sizeof text - 1, &answer, &error),
                     TARRY_OK);
    assert_int_equal(answer.status, 503);
    assert_true(answer.retry_after == 0);
    assert_string_equal(answer.location, "");
    tarry__base_free(answer.body);
}

/* Whatever is said of its length, and though the connection stays open. */
static void an_answer_without_a_body_ends_with_its_head(void **state)
{
    static const char *const said[] = {"", "Content-Length: 5\r\n",
                                       "Transfer-Encoding: chunked\r\n"};
    static const int statuses[] = {204, 304};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        char text[100];
        int fd[2];
        tarry__client_answer answer;
        tarry_error error = {""};
        const int size = sprintf(text, "HTTP/1.1 %d None\r\n%s\r\n",
                                 statuses[i % 2], said[i / 2]);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
        assert_int_equal(write(fd[1], text, (size_t)size), size);
        assert_int_equal(tarry__client_read(fd[0], tarry__base_seconds() + 5,
                                            NULL, &answer, &error),
                         TARRY_OK);
        assert_int_equal(answer.status, statuses[i % 2]);
        assert_string_equal(answer.body, "");
        tarry__base_free(answer.body);
        close(fd[0]);
        close(fd[1]);
    }
}

static void headers_are_found(void **state)
{
    (void)state;
    static const char text[] =
        "HTTP/1.1 503 Busy\r\nRETRY-AFTER: 7\r\nLocation: http://a:1/b\r\n"
        "Content-Length: 0\r\n\r\n";
    tarry__client_answer answer;
    tarry_error error;
    assert_int_equal(read_text(text, strlen(text), &answer, &error), TARRY_OK);
    assert_int_equal(answer.status, 503);
    CHECK_NEAR(answer.retry_after, 7, 0);
    assert_string_equal(answer.location, "http://a:1/b");
    tarry__base_free(answer.body);
}

static void broken_answers_are_errors(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "\r\n",
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length:5\r\nContent-Length:4\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tarry__client_answer answer;
        tarry_error error = {{0}};
        assert_int_equal(read_text(texts[i], strlen(texts[i]), &answer, &error),
                         TARRY_IO_ERROR);
        assert_null(answer.body);
        assert_true(error.text[0] != '\0');
    }
}

/* So many headers, and so long a Location. */
static tarry_status read_head(size_t headers, size_t location,
                              tarry__client_answer *answer, tarry_error *error)
{
    static char text[20000];
    char *at = text + sprintf(text, "HTTP/1.1 204 None\r\n");
    for (size_t i = 1; i < headers; i++)
        at += sprintf(at, "A: b\r\n");
    at += sprintf(at, "Location: ");
    memset(at, '/', location);
    strcpy(at + location, "\r\n\r\n");
    const tarry_status status = read_text(text, strlen(text), answer, error);
    tarry__base_free(answer->body);
    return status;
}

static void limits_of_a_head_are_exact(void **state)
{
    (void)state;
    tarry__client_answer answer;
    tarry_error error = {""};
    assert_int_equal(read_head(200, 1023, &answer, &error), TARRY_OK);
    assert_int_equal(strlen(answer.location), 1023);
    assert_int_equal(read_head(201, 1, &answer, &error), TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, "too many headers"));
    assert_int_equal(read_head(1, 1024, &answer, &error), TARRY_OK);
    assert_string_equal(answer.location, ""); /* it leads nowhere */
    assert_int_equal(
        read_head(1, 8191 - strlen("Location: \r"), &answer, &error), TARRY_OK);
    assert_int_equal(
        read_head(1, 8192 - strlen("Location: \r"), &answer, &error),
        TARRY_IO_ERROR);
    assert_non_null(strstr(error.text, "a line that is none"));
}

static void a_long_answer_is_whole(void **state)
{
    (void)state;
    enum { SIZE = 100000 };
    static char text[SIZE + 100];
    const int head = sprintf(text,
                             "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n"
                             "\r\n",
                             SIZE);
    for (int i = 0; i < SIZE; i++)
        text[head + i] = (char)('a' + i % 26);
    tarry__client_answer answer;
    tarry_error error;
    assert_int_equal(read_text(text, (size_t)head + SIZE, &answer, &error),
                     TARRY_OK);
    assert_int_equal(answer.size, SIZE);
    assert_memory_equal(answer.body, text + head, SIZE);
    tarry__base_free(answer.body);
}

static void who_does_not_answer_is_given_up(void **state)
{
    (void)state;
    int fd[2];
    tarry__client_answer answer;
    tarry_error error;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    const double start = tarry__base_seconds();
    assert_int_equal(
        tarry__client_read(fd[0], start + 0.2, NULL, &answer, &error),
        TARRY_IO_ERROR);
    assert_true(strstr(error.text, "timed out") != NULL);
    assert_true(tarry__base_seconds() - start >= 0.2);
    close(fd[0]);
    close(fd[1]);
}

static void addresses_are_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host, *port, *base;
    } good[] = {
        {"http://localhost", "localhost", "80", ""},
        {"http://127.0.0.1:8377", "127.0.0.1", "8377", ""},
        {"HTTP://h:1/a/b//", "h", "1", "/a/b"},
        {"http://[::1]:8377/", "::1", "8377", ""},
        {"http://[::1]", "::1", "80", ""},
    };
    static const char *const bad[] = {
        "",           "localhost:8377",  "https://h",      "http://",
        "http://:80", "http://h:0",      "http://h:65536", "http://h:x",
        "http://h:",  "http://h /",      "http://h\r\nX:", "http://u@h",
        "http://h?a", "http://[::1]80/", "http://[::1",    "ftp://h"};
    tarry__client_url url;
    tarry_error error;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(tarry__client_parse_url(good[i].text, &url, &error),
                         TARRY_OK);
        assert_string_equal(url.host, good[i].host);
        assert_string_equal(url.port, good[i].port);
        assert_string_equal(url.base, good[i].base);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (tarry__client_parse_url(bad[i], &url, &error) != TARRY_BAD_ARGUMENT)
            fail_msg("'%s' was taken", bad[i]);
}

static void names_are_quoted(void **state)
{
    (void)state;
    char out[64];
    assert_true(tarry__client_quote("a/b c?\xc3\xa9~", out, sizeof out));
    assert_string_equal(out, "a%2Fb%20c%3F%C3%A9~");
    assert_false(tarry__client_quote("aaaaaaaaaa", out, 10));
}

/* Letters, digits and -._~ stand for themselves. */
static void every_byte_is_quoted_or_not(void **state)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789-._~";
    (void)state;
    for (int c = 1; c < 256; c++) {
        const char text[] = {'a', (char)c, '\0'};
        char out[16], wanted[16];
        snprintf(wanted, sizeof wanted,
                 strchr(plain, c) != NULL ? "a%c" : "a%%%02X", c);
        assert_true(tarry__client_quote(text, out, sizeof out));
        assert_string_equal(out, wanted);
    }
}

/* It fits, or it is refused; nothing is written behind the room. */
static void what_is_quoted_stays_in_its_room(void **state)
{
    static const char wanted[] = "a%2Fb%20c%3F";
    char out[32];
    (void)state;
    for (size_t room = 1; room < sizeof out; room++) {
        memset(out, 'x', sizeof out);
        if (tarry__client_quote("a/b c?", out, room))
            assert_string_equal(out, wanted);
        else
            assert_true(room < sizeof wanted + 3);
        for (size_t i = room; i < sizeof out; i++)
            assert_int_equal(out[i], 'x');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_ends_by_its_length),
        cmocka_unit_test(a_body_ends_by_chunks_or_with_the_connection),
        cmocka_unit_test(an_answer_without_a_body_ends_with_its_head),
        cmocka_unit_test(what_comes_before_an_answer_is_no_part_of_it),
        cmocka_unit_test(headers_are_found),
        cmocka_unit_test(broken_answers_are_errors),
        cmocka_unit_test(limits_of_a_head_are_exact),
        cmocka_unit_test(a_long_answer_is_whole),
        cmocka_unit_test(who_does_not_answer_is_given_up),
        cmocka_unit_test(addresses_are_taken_apart),
        cmocka_unit_test(names_are_quoted),
        cmocka_unit_test(every_byte_is_quoted_or_not),
        cmocka_unit_test(what_is_quoted_stays_in_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
