/* Heads of requests: found where they end however they come, and read the same
 * way. */
#include "check.h"
#include <stdio.h>
#include <string.h>
#include "http/parse.h"

static const char whole[] =
    "POST /v1/a%20b?limit=3 HTTP/1.1\r\nHost: here\r\ncontent-length:  17 \r\n"
    "Authorization: Bearer t\r\nConnection: x, close\r\nOrigin: http://o\r\n"
    "Sec-Fetch-Site: none\r\nX-Request-Id: r\r\nExpect: 100-Continue\r\n\r\n";

static void a_head_is_taken_apart(void **state)
{
    (void)state;
    char bytes[sizeof whole];
    tarry__http_head h;
    memcpy(bytes, whole, sizeof whole);
    assert_int_equal(tarry__http_parse(bytes, strlen(whole), &h).status, 0);
    assert_string_equal(h.method, "POST");
    assert_string_equal(h.path, "/v1/a%20b");
    assert_string_equal(h.query, "limit=3");
    assert_string_equal(h.host, "here");
    assert_string_equal(h.authorization, "Bearer t");
    assert_string_equal(h.origin, "http://o");
    assert_string_equal(h.site, "none");
    assert_string_equal(h.request_id, "r");
    assert_int_equal(h.length, 17);
    assert_true(h.has_length && !h.keeps_alive && h.expects_continue);
    assert_false(h.is_old);
}

/* However the bytes come: byte by byte, or with the next request behind. */
static void its_end_is_found(void **state)
{
    (void)state;
    char bytes[sizeof whole + 40];
    size_t searched = 0;
    const size_t size = strlen(whole);
    snprintf(bytes, sizeof bytes, "%sGET / HTTP/1.1\r\n\r\n", whole);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(tarry__http_head_size(bytes, i, &searched), 0);
    assert_int_equal(tarry__http_head_size(bytes, size, &searched), size);
    searched = 0;
    assert_int_equal(tarry__http_head_size(bytes, strlen(bytes), &searched),
                     size);
}

/* Every prefix that is cut short by a bare LF is refused, and so is every head
 * with a control character in any place. */
static void no_other_line_ends(void **state)
{
    (void)state;
    static const char controls[] = {'\n', '\r', '\0', '\x01', '\x7f', '\v'};
    for (size_t i = 0; i < strlen(whole); i++) {
        for (size_t k = 0; k < sizeof controls; k++) {
            char bytes[sizeof whole];
            tarry__http_head h;
            size_t searched = 0;
            memcpy(bytes, whole, sizeof whole);
            if (bytes[i] == controls[k])
                continue;
            bytes[i] = controls[k];
            const size_t end =
                tarry__http_head_size(bytes, strlen(whole), &searched);
            if (end == 0) /* its end was spoilt: it waits, and times out */
                continue;
            const int status = tarry__http_parse(bytes, end, &h).status;
            if (status == 0)
                fail_msg("byte %zu replaced by %d is accepted", i, controls[k]);
        }
    }
}

/* Up to 15 digits; longer ones would not fit everywhere. */
static void lengths_are_numbers_or_refused(void **state)
{
    (void)state;
    for (size_t digits = 1; digits <= 40; digits++) {
        char bytes[200];
        tarry__http_head h;
        const int size =
            snprintf(bytes, sizeof bytes,
                     "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %.*s\r\n"
                     "\r\n",
                     (int)digits, "1844674407370955161618446744073709551616");
        const int code = tarry__http_parse(bytes, (size_t)size, &h).status;
        uint64_t wanted = 0;
        for (size_t i = 0; digits <= 15 && i < digits; i++)
            wanted = 10 * wanted + (uint64_t)("184467440737095516"[i] - '0');
        assert_int_equal(code, digits <= 15 ? 0 : 400);
        assert_true(digits > 15 || h.length == wanted);
    }
}

/* ---- what is refused, and why ---------------------------------------------*/

#define LINE "GET / HTTP/1.1\r\n"
#define HOST "Host: x\r\n"

static tarry__http_verdict verdict_of(const char *head, tarry__http_head *h)
{
    static char bytes[2 * TARRY__HTTP_MOST_HEAD];
    const size_t size = strlen(head);
    assert_true(size < sizeof bytes);
    memcpy(bytes, head, size);
    return tarry__http_parse(bytes, size, h);
}

static void every_refusal_has_its_status_and_reason(void **state)
{
    static const struct {
        const char *head;
        int status;
        const char *detail;
    } all[] = {
        {LINE HOST "\r\n", 0, NULL},
        {"GET / HTTP/1.0\r\n\r\n", 0, NULL},
        {"GET /\x7e HTTP/1.1\r\n" HOST "\r\n", 0, NULL},
        {"G!#$%&'*+-.^_`|~9z / HTTP/1.1\r\n" HOST "\r\n", 0, NULL},
        {"ABCDEFGHIJKLMNOPQRST / HTTP/1.1\r\n" HOST "\r\n", 0, NULL},
        {"ABCDEFGHIJKLMNOPQRSTU / HTTP/1.1\r\n" HOST "\r\n", 400, "method"},
        {" / HTTP/1.1\r\n" HOST "\r\n", 400, "method"},
        {"G(T / HTTP/1.1\r\n" HOST "\r\n", 400, "method"},
        {"GET / HTTP/1.2\r\n" HOST "\r\n", 505, "HTTP/1.1"},
        {"GET / HTTP/2.0\r\n" HOST "\r\n", 505, "HTTP/1.1"},
        {"GET / HTTP/1.10\r\n" HOST "\r\n", 400, "request line"},
        {"GET / HTTP/1\r\n" HOST "\r\n", 400, "request line"},
        {"GET / HTTP/x.1\r\n" HOST "\r\n", 400, "request line"},
        {"GET / HTTP/1-1\r\n" HOST "\r\n", 400, "request line"},
        {"GET / HTTP/1.x\r\n" HOST "\r\n", 400, "request line"},
        {"GET / http/1.1\r\n" HOST "\r\n", 400, "request line"},
        {"GET / XTTP/1.1\r\n" HOST "\r\n", 400, "request line"},
        {"GET /\r\n" HOST "\r\n", 400, "request line"},
        {"GET\r\n" HOST "\r\n", 400, "request line"},
        {"GET  / HTTP/1.1\r\n" HOST "\r\n", 400, "target"},
        {"GET x HTTP/1.1\r\n" HOST "\r\n", 400, "target"},
        {"GET http://x/ HTTP/1.1\r\n" HOST "\r\n", 400, "target"},
        {"GET /\x80 HTTP/1.1\r\n" HOST "\r\n", 400, "target"},
        {"GET /\x7f HTTP/1.1\r\n" HOST "\r\n", 400, "target"},
        {LINE "\r\n", 400, "Host"},
        {LINE HOST HOST "\r\n", 400, "Host"},
        {"GET / HTTP/1.0\r\n" HOST HOST "\r\n", 400, "Host"},
        {LINE HOST "A : b\r\n\r\n", 400, "name of a header"},
        {LINE HOST ": b\r\n\r\n", 400, "name of a header"},
        {LINE HOST "A b\r\n\r\n", 400, "colon"},
        {LINE HOST " A: b\r\n\r\n", 400, "folded"},
        {LINE HOST "\tA: b\r\n\r\n", 400, "folded"},
        {LINE HOST "A: \x80\tb\r\n\r\n", 0, NULL},
        {LINE HOST "A: \x01\r\n\r\n", 400, "control"},
        {LINE HOST "A: \x7f\r\n\r\n", 400, "control"},
        {LINE HOST "Content-Length: 0\r\n\r\n", 0, NULL},
        {LINE HOST "Content-Length:\r\n\r\n", 400, "1 to 15 digits"},
        {LINE HOST "Content-Length: -1\r\n\r\n", 400, "1 to 15 digits"},
        {LINE HOST "Content-Length: 1x\r\n\r\n", 400, "1 to 15 digits"},
        {LINE HOST "Content-Length: 1, 1\r\n\r\n", 400, "1 to 15 digits"},
        {LINE HOST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", 400,
         "more than one Content-Length"},
        {LINE HOST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
         400, "both"},
        {LINE HOST "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
         400, "both"},
        {LINE HOST "Transfer-Encoding: Chunked \r\n\r\n", 0, NULL},
        {LINE HOST "Transfer-Encoding: gzip\r\n\r\n", 501, "chunked"},
        {LINE HOST "Transfer-Encoding: chunked, chunked\r\n\r\n", 501,
         "chunked"},
        {LINE HOST "Transfer-Encoding: xchunked\r\n\r\n", 501, "chunked"},
        {LINE HOST "Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n\r\n",
         400, "more than one Transfer-Encoding"},
        {LINE HOST "Transfer-Encoding: x\r\nContent-Length: 1\r\n\r\n", 400,
         "both"},
        {"GET / HTTP/1.0\r\nTransfer-Encoding: x\r\n\r\n", 400, "HTTP/1.0"},
        {LINE HOST "Authorization: a\r\nAuthorization: b\r\n\r\n", 400,
         "Authorization"},
        {LINE HOST "Expect: 100-continue\r\n\r\n", 0, NULL},
        {LINE HOST "Expect: a miracle\r\n\r\n", 417, "100-continue"},
        {LINE HOST, 400, "CR LF"},
        {"", 400, "CR LF"}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tarry__http_head h;
        const tarry__http_verdict v = verdict_of(all[i].head, &h);
        if (v.status != all[i].status ||
            (v.status != 0 && strstr(v.detail, all[i].detail) == NULL))
            fail_msg("%s: %d %s", all[i].head, v.status,
                     v.status != 0 ? v.detail : "");
    }
}

/* By the version and the words of Connection. */
static void a_connection_is_kept_as_both_sides_wish(void **state)
{
    static const struct {
        const char *head;
        bool keeps;
    } all[] = {{LINE HOST "\r\n", true},
               {LINE HOST "Connection: close\r\n\r\n", false},
               {LINE HOST "Connection: Close\r\n\r\n", false},
               {LINE HOST "Connection: x,close\r\n\r\n", false},
               {LINE HOST "Connection: close , x\r\n\r\n", false},
               {LINE HOST "Connection: closer\r\n\r\n", true},
               {LINE HOST "Connection: clos\r\n\r\n", true},
               {LINE HOST "Connection: keep-alive\r\n\r\n", true},
               {LINE HOST "Connection: keep-alive, close\r\n\r\n", false},
               {LINE HOST "Connection: close, keep-alive\r\n\r\n", false},
               {"GET / HTTP/1.0\r\n\r\n", false},
               {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true},
               {"GET / HTTP/1.0\r\nConnection: keep-alives\r\n\r\n", false},
               {"GET / HTTP/1.0\r\nConnection: keep-aliva\r\n\r\n", false},
               {"GET / HTTP/1.0\r\nConnection: close\r\n\r\n", false}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tarry__http_head h;
        assert_int_equal(verdict_of(all[i].head, &h).status, 0);
        if (h.keeps_alive != all[i].keeps)
            fail_msg("%s", all[i].head);
        assert_true(h.is_old == (strstr(all[i].head, "HTTP/1.0") != NULL));
        assert_false(h.has_length || h.expects_continue);
        assert_null(h.authorization);
    }
}

/* As many fields, and as long a path, as may be; and one more. */
static void limits_of_a_request_are_exact(void **state)
{
    static char head[2 * TARRY__HTTP_MOST_HEAD];
    (void)state;
    for (int more = 0; more < 2; more++) {
        tarry__http_head h;
        strcpy(head, LINE HOST);
        for (int i = 1; i < TARRY__HTTP_MOST_FIELDS + more; i++)
            strcat(head, "A: b\r\n");
        strcat(head, "\r\n");
        assert_int_equal(verdict_of(head, &h).status, more ? 431 : 0);
        snprintf(head, sizeof head, "GET /%0*d HTTP/1.1\r\n" HOST "\r\n",
                 TARRY__HTTP_MOST_LINE - 1 + more, 0);
        assert_int_equal(verdict_of(head, &h).status, more ? 414 : 0);
    }
}

/* Whatever its port; names that others could make lead here are not ours. */
static void a_host_is_an_address_or_ours(void **state)
{
    static const struct {
        const char *host, *own;
        bool is_own;
    } all[] = {
        {"localhost", "", true},
        {"LOCALHOST:80", "", true},
        {"localhost:", "", true},
        {"localhost:8x", "", false},
        {"localhost.", "", false},
        {"localhos", "", false},
        {"127.0.0.1", "", true},
        {"10.1.2.3:99999", "", true},
        {"127.0.0.1.", "", false},
        {"127.0.0.1/", "", false},
        {"127.1", "", false},
        {"[::1]", "", true},
        {"[::1]:80", "", true},
        {"[0:0:0:0:0:0:0:1]", "", true},
        {"[::1]x", "", false},
        {"[::1", "", false},
        {"[127.0.0.1]", "", false},
        {"[]", "", false},
        {"[", "", false},
        {"::1", "", false},
        {"", "", false},
        {":80", "", false},
        {"", ":80", false},
        {"a.b", "", false},
        {"a.b", "a.b", true},
        {"A.b:1", "a.B:80/c", true},
        {"a.b", "a.b/c", true},
        {"a.bc", "a.b", false},
        {"a.b/c", "a.b/c", false},
        {"a.b", "a.bc", false},
        {"[::g]", "[::g]:1", true},
        {"x", "?", false},
        {"1111111111111111111111111111111111111111111111111", "", false},
        {"[11111111111111111111111111111111111111111111111]", "", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (tarry__http_is_own_host(all[i].host, all[i].own) != all[i].is_own)
            fail_msg("%s at %s", all[i].host, all[i].own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_taken_apart),
        cmocka_unit_test(its_end_is_found),
        cmocka_unit_test(no_other_line_ends),
        cmocka_unit_test(lengths_are_numbers_or_refused),
        cmocka_unit_test(every_refusal_has_its_status_and_reason),
        cmocka_unit_test(a_connection_is_kept_as_both_sides_wish),
        cmocka_unit_test(limits_of_a_request_are_exact),
        cmocka_unit_test(a_host_is_an_address_or_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
