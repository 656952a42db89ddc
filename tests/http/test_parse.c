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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_taken_apart),
        cmocka_unit_test(its_end_is_found),
        cmocka_unit_test(no_other_line_ends),
        cmocka_unit_test(lengths_are_numbers_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
