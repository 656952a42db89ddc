/* Chunked bodies: the same data however the bytes come, and nothing that two
 * programs could read in two ways. */
#include "check.h"
#include <stdio.h>
#include <string.h>
#include "http/chunked.h"

enum { MOST = 20 };

typedef struct {
    int status; /* 0: fine */
    bool has_ended;
    char data[100], rest[100];
} outcome;

/* Takes the bytes in pieces of at most `piece`. */
static outcome take(const char *bytes, size_t size, size_t piece)
{
    tarry__chunked c = {0};
    outcome o = {0};
    char buffer[1000];
    size_t have = 0, there = 0, data;
    for (size_t at = 0; at < size; at += piece) {
        const size_t more = size - at < piece ? size - at : piece;
        memcpy(buffer + have + there, bytes + at, more);
        there += more;
        const tarry__http_verdict v =
            tarry__chunked_take(&c, buffer + have, &there, MOST, &data);
        if (v.status != 0)
            return (outcome){.status = v.status};
        have += data;
        there -= data;
        if (c.state != TARRY__CHUNKED_ENDED)
            assert_int_equal(there, 0);
    }
    o.has_ended = c.state == TARRY__CHUNKED_ENDED;
    memcpy(o.data, buffer, have);
    memcpy(o.rest, buffer + have, there);
    return o;
}

/* As take in one piece, in pieces of any size. */
static outcome take_all(const char *bytes)
{
    const size_t size = strlen(bytes);
    const outcome whole = take(bytes, size, size);
    for (size_t piece = 1; piece < size; piece++) {
        const outcome o = take(bytes, size, piece);
        assert_int_equal(o.status, whole.status);
        assert_int_equal(o.has_ended, whole.has_ended);
        assert_string_equal(o.data, whole.data);
    }
    return whole;
}

static void data_is_what_the_chunks_hold(void **state)
{
    static const struct {
        const char *bytes, *data, *rest;
    } all[] = {{"0\r\n\r\n", "", ""},
               {"2\r\n{}\r\n0\r\n\r\n", "{}", ""},
               {"1\r\n{\r\n1\r\n}\r\n000\r\n\r\n", "{}", ""},
               {"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n",
                "01234567890123456789", ""},
               {"2;a=b;c=\"d\"\r\n\r\n\r\n0;e\r\n\r\n", "\r\n", ""},
               {"1\r\nx\r\n0\r\nA: b\r\nContent-Length: 9\r\n\r\n", "x", ""},
               {"1\r\nx\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n", "x",
                "GET / HTTP/1.1\r\n\r\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const outcome o = take_all(all[i].bytes);
        if (o.status != 0 || !o.has_ended || strcmp(o.data, all[i].data) != 0 ||
            strcmp(o.rest, all[i].rest) != 0)
            fail_msg("%s: %d '%s' '%s'", all[i].bytes, o.status, o.data,
                     o.rest);
    }
}

static void body_that_is_cut_does_not_end(void **state)
{
    static const char whole[] = "3;x\r\nabc\r\n0\r\nA: b\r\n\r\n";
    (void)state;
    for (size_t size = 0; size < strlen(whole); size++) {
        const outcome o = take(whole, size, 1);
        assert_int_equal(o.status, 0);
        assert_false(o.has_ended);
    }
    assert_true(take(whole, strlen(whole), 1).has_ended);
}

static void body_that_can_be_read_in_two_ways_is_refused(void **state)
{
    static const struct {
        const char *bytes;
        int status;
    } all[] = {{"\r\n\r\n", 400},
               {"x\r\n", 400},
               {" 1\r\nx\r\n0\r\n\r\n", 400},
               {"1 \r\nx\r\n0\r\n\r\n", 400},
               {"+1\r\nx\r\n0\r\n\r\n", 400},
               {"-1\r\n", 400},
               {"0x1\r\nx\r\n0\r\n\r\n", 400},
               {"1\nx\r\n0\r\n\r\n", 400},
               {"1\rx\r\n0\r\n\r\n", 400},
               {"1\r\nx0\r\n\r\n", 400},
               {"1\r\nxy\r\n0\r\n\r\n", 400},
               {"1\r\nx\n0\r\n\r\n", 400},
               {"1\r\nx\r0\r\n\r\n", 400},
               {"1\r\nx\r\n\r\n\r\n", 400},
               {"2\r\nx\r\n0\r\n\r\n", 400},
               {"1;a\nb\r\nx\r\n0\r\n\r\n", 400},
               {"1;a\x01\r\nx\r\n0\r\n\r\n", 400},
               {"0\r\n\n", 400},
               {"0\r\n\rx", 400},
               {"0\r\nA: b\n\r\n", 400},
               {"0\r\nA: b\rc\r\n\r\n", 400},
               {"0\r\n\x01\r\n\r\n", 400},
               {"10000000000000000\r\n", 400},
               {"ffffffffffffffffffffff\r\n", 400},
               {"fffffffffffffff\r\n", 413},
               {"15\r\n", 413},
               {"a\r\n0123456789\r\nb\r\n", 413}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const outcome o = take_all(all[i].bytes);
        if (o.status != all[i].status || o.has_ended)
            fail_msg("%s: %d", all[i].bytes, o.status);
    }
}

/* Extensions and trailers have a limit of their own. */
static void ignored_text_has_a_limit(void **state)
{
    static const char *const starts[] = {"1;", "0\r\nA: "};
    static const size_t most[] = {TARRY__HTTP_MOST_EXTENSION,
                                  TARRY__HTTP_MOST_TRAILERS};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tarry__chunked c = {0};
        char bytes[100];
        size_t size = strlen(starts[i]), data, count = 0;
        memcpy(bytes, starts[i], size);
        assert_int_equal(
            tarry__chunked_take(&c, bytes, &size, MOST, &data).status, 0);
        tarry__http_verdict v = {0};
        for (; v.status == 0 && count <= most[i]; count++) {
            bytes[0] = 'x';
            size = 1;
            v = tarry__chunked_take(&c, bytes, &size, MOST, &data);
        }
        assert_int_equal(v.status, 431);
        assert_in_range(count, most[i] - 20, most[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_is_what_the_chunks_hold),
        cmocka_unit_test(body_that_is_cut_does_not_end),
        cmocka_unit_test(body_that_can_be_read_in_two_ways_is_refused),
        cmocka_unit_test(ignored_text_has_a_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
