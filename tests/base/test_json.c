/* What JSON is made of: text is UTF-8, and nothing is half said. */
#include "check.h"
#include <string.h>
#include "base/base.h"
#include "base/json.h"

/* The grammar of RFC 3629, range by range. */
static const unsigned char forms[][9] = {
    {1, 0x01, 0x7f},
    {2, 0xc2, 0xdf, 0x80, 0xbf},
    {3, 0xe0, 0xe0, 0xa0, 0xbf, 0x80, 0xbf},
    {3, 0xe1, 0xec, 0x80, 0xbf, 0x80, 0xbf},
    {3, 0xed, 0xed, 0x80, 0x9f, 0x80, 0xbf},
    {3, 0xee, 0xef, 0x80, 0xbf, 0x80, 0xbf},
    {4, 0xf0, 0xf0, 0x90, 0xbf, 0x80, 0xbf, 0x80, 0xbf},
    {4, 0xf1, 0xf3, 0x80, 0xbf, 0x80, 0xbf, 0x80, 0xbf},
    {4, 0xf4, 0xf4, 0x80, 0x8f, 0x80, 0xbf, 0x80, 0xbf},
};

static bool is_form(const unsigned char *form, const unsigned char *text,
                    size_t size)
{
    bool ok = form[0] <= size;
    for (size_t i = 0; ok && i < form[0]; i++)
        ok = text[i] >= form[1 + 2 * i] && text[i] <= form[2 + 2 * i];
    return ok;
}

static bool is_utf8(const unsigned char *text, size_t size)
{
    while (size > 0) {
        size_t f = 0;
        while (f < sizeof forms / sizeof *forms &&
               !is_form(forms[f], text, size))
            f++;
        if (f == sizeof forms / sizeof *forms)
            return false;
        text += forms[f][0];
        size -= forms[f][0];
    }
    return true;
}

static void check(unsigned char *text, size_t size)
{
    text[size] = '\0';
    if (tarry__json_is_text((const char *)text) != is_utf8(text, size))
        fail_msg("%02x %02x %02x %02x", text[0], text[1], text[2], text[3]);
}

/* All texts of up to four of the bytes at which something changes. */
static void text_is_utf8(void **state)
{
    static const unsigned char edges[] = {
        0x01, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf,
        0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    enum { N = sizeof edges };
    (void)state;
    for (size_t i = 0; i < (size_t)N * N * N * N; i++) {
        unsigned char text[5] = {edges[i % N], edges[i / N % N],
                                 edges[i / N / N % N], edges[i / N / N / N]};
        check(text, 4);
        if (i < (size_t)N * N * N)
            check(text, 3);
        if (i < (size_t)N * N)
            check(text, 2);
        if (i < N)
            check(text, 1);
    }
    assert_true(tarry__json_is_text(""));
}

/* A value that could not be made takes its container with it. */
static void what_cannot_be_made_is_not_left_out(void **state)
{
    (void)state;
    assert_null(tarry__json_add(json_array(), NULL));
    assert_null(tarry__json_add(NULL, json_true()));
    assert_null(tarry__json_set(json_object(), "key", NULL));
    assert_null(tarry__json_set(NULL, "key", json_true()));
    assert_null(tarry__json_join(json_object(), NULL));
    assert_null(tarry__json_join(NULL, json_object()));
    json_t *joined = tarry__json_join(json_pack("{s:i, s:i}", "a", 1, "b", 2),
                                      json_pack("{s:i, s:i}", "b", 3, "c", 4));
    char *text = tarry__json_text(joined, JSON_COMPACT);
    assert_string_equal(text, "{\"a\":1,\"b\":3,\"c\":4}");
    tarry__base_free(text);
    json_decref(joined);
    assert_null(tarry__json_text(NULL, 0));
}

/* Memory that ends while a text is read is not taken for a bad text. */
static void what_cannot_be_read_is_told_from_what_is_no_json(void **state)
{
    static const char good[] = "{\"a\": [1, 2.5, \"text\", {\"b\": null}]}";
    static const char bad[] = "{\"a\": [1, 2.5, \"text\", {\"b\": nul}]}";
    json_error_t error;
    json_t *json = NULL;
    bool has_memory = false;
    uint64_t k = 0;
    (void)state;
    tarry__json_use_base();
    while (!has_memory) {
        tarry__base_fail_alloc(++k);
        json = tarry__json_load(good, strlen(good), 0, &error, &has_memory);
        tarry__base_fail_alloc(0);
        assert_true(has_memory == (json != NULL));
    }
    assert_in_range(k, 9, 1000); /* a block or more for each value and key */
    json_decref(json);
    assert_null(tarry__json_load(bad, strlen(bad), 0, &error, &has_memory));
    assert_true(has_memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_utf8),
        cmocka_unit_test(what_cannot_be_made_is_not_left_out),
        cmocka_unit_test(what_cannot_be_read_is_told_from_what_is_no_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
