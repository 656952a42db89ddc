/* JSON is walked over as a library that makes something of it reads it. */
#include "check.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "log/tokens.h"

/* A string between quotes, read by both; false: it is refused. */
static bool read_both(const char *inside, bool *refused_there)
{
    char text[200], whole[220];
    snprintf(text, sizeof text, "\"%s\"", inside);
    snprintf(whole, sizeof whole, "[%s]", text);
    json_t *json = json_loads(whole, 0, NULL);
    const char *wanted = json_string_value(json_array_get(json, 0));
    tarry__tokens t = {text, text + strlen(text), false};
    const tarry__text found = tarry__tokens_value(&t);
    const bool is_read = !t.failed && found.begin != NULL;
    *refused_there = wanted == NULL;
    if (wanted != NULL &&
        (!is_read || (size_t)(found.end - found.begin) != strlen(wanted) ||
         memcmp(found.begin, wanted, strlen(wanted)) != 0))
        fail_msg("%s is read as '%.*s', not '%s'", whole,
                 is_read ? (int)(found.end - found.begin) : 0,
                 is_read ? found.begin : "", wanted);
    json_decref(json);
    return is_read;
}

/* Every code unit by itself; halves of pairs are nobody's business. */
static void every_character_may_be_escaped(void **state)
{
    bool refused;
    (void)state;
    for (unsigned c = 1; c < 0x10000; c++) {
        char text[20];
        snprintf(text, sizeof text, c % 2 ? "a\\u%04xb" : "\\u%04X", c);
        read_both(text, &refused);
        assert_true(refused == (c >= 0xD800 && c < 0xE000));
    }
}

/* A high half is followed by a low one, to the last of them. */
static void pairs_have_two_halves(void **state)
{
    static const unsigned high[] = {0xD800, 0xD801, 0xDABC, 0xDBFE, 0xDBFF};
    static const unsigned low[] = {0xD7FF, 0xD800, 0xDBFF, 0xDC00,
                                   0xDC01, 0xDFFE, 0xDFFF, 0xE000};
    (void)state;
    for (size_t i = 0; i < sizeof high / sizeof *high; i++)
        for (size_t k = 0; k < sizeof low / sizeof *low; k++) {
            char text[40];
            bool refused;
            snprintf(text, sizeof text, "x\\u%04x\\u%04xy", high[i], low[k]);
            const bool is_read = read_both(text, &refused);
            if (is_read != (low[k] >= 0xDC00 && low[k] < 0xE000))
                fail_msg("%s", text);
        }
}

/* All that may follow a backslash, and what may not. */
static void escapes_are_those_of_json(void **state)
{
    bool refused;
    (void)state;
    for (int c = 1; c < 128; c++) {
        const char text[] = {'a', '\\', (char)c, 'b', '\0'};
        if (c == '"' || c == '\\' || c == '\n')
            continue; /* it ends the string, or the line */
        const bool is_read = read_both(text, &refused);
        assert_true(is_read == (strchr("/bfnrt", c) != NULL));
        assert_true(refused == !is_read);
    }
    static const char *const bad[] = {"\\u",     "\\u1",    "\\u12",  "\\u123",
                                      "\\u123g", "\\u-123", "\\u 123"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(read_both(bad[i], &refused));
    assert_true(read_both("\\\\ \\\" \\/ \\b\\f\\n\\r\\t", &refused));
}

/* Whether a text is one value and nothing else. */
static bool is_value(const char *text)
{
    char copy[400];
    snprintf(copy, sizeof copy, "%s", text);
    tarry__tokens t = {copy, copy + strlen(copy), false};
    tarry__tokens_value(&t);
    return !t.failed && tarry__tokens_peek(&t) == '\0';
}

static void values_are_those_of_json(void **state)
{
    static const char *const all[] = {"0",
                                      "-1.5e3",
                                      "true",
                                      "false",
                                      "null",
                                      "\"\"",
                                      "[]",
                                      "{}",
                                      "[1]",
                                      "[1,2]",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "[",
                                      "]",
                                      "{\"a\":1}",
                                      "{\"a\":1,}",
                                      "{\"a\" 1}",
                                      "{\"a\"}",
                                      "{a:1}",
                                      "{\"a\":}",
                                      "{,}",
                                      "{\"a\":1 ",
                                      "{\"a\":[1}]",
                                      "[{]}",
                                      "\"a",
                                      "word",
                                      "1x",
                                      "",
                                      "1 2",
                                      " [ 1 , {\"a\" : [ ] , \"b\":\"]\"} ] ",
                                      "[[],[[]]]",
                                      "[1]]",
                                      "{\"a\":1}}",
                                      "[\"a\",\"b\\\"\"]",
                                      "{1:2}",
                                      "[tru]"};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        json_t *json = json_loads(all[i], JSON_DECODE_ANY, NULL);
        if (is_value(all[i]) != (json != NULL))
            fail_msg("%s", all[i]);
        json_decref(json);
    }
}

/* 64 brackets inside each other, and no more. */
static void the_depth_has_a_limit(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int depth = 60; depth <= 70; depth++) {
            char text[1000] = "";
            for (int i = 0; i < depth; i++)
                strcat(text, kind ? "{\"a\":" : "[");
            strcat(text, "1");
            for (int i = 0; i < depth; i++)
                strcat(text, kind ? "}" : "]");
            tarry__tokens t = {text, text + strlen(text), false};
            tarry__tokens_value(&t);
            assert_true(t.failed == (depth > 64));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_json),
        cmocka_unit_test(the_depth_has_a_limit),
        cmocka_unit_test(every_character_may_be_escaped),
        cmocka_unit_test(pairs_have_two_halves),
        cmocka_unit_test(escapes_are_those_of_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
