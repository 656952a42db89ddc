/* Tokens: every bit of a digest counts, and comparing tells nothing by the time
 * it takes (under valgrind, which follows what is not to be known). */
#define _GNU_SOURCE
#include "check.h"
#include <string.h>
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_UNDEFINED(at, size) (void)(at)
#define VALGRIND_MAKE_MEM_DEFINED(at, size) (void)(at)
#endif
#include "base/sha256.h"
#include "figure/folder.h"
#include "service/keys.h"

static tarry__keys *read_keys(const char *text)
{
    tarry__keys *keys;
    tarry_error error = {""};
    FILE *file = fopen(path_of("tokens"), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    if (tarry__keys_read(path_of("tokens"), &keys, &error) != TARRY_OK)
        fail_msg("%s", error.text);
    return keys;
}

static void a_token_is_known_by_every_bit_of_its_digest(void **state)
{
    (void)state;
    char token[TARRY__KEYS_ROOM], digest[TARRY__KEYS_ROOM], line[200];
    tarry_error error;
    assert_int_equal(tarry__keys_make(token, digest, &error), TARRY_OK);
    for (size_t i = 0; i <= strlen(digest); i++) {
        char changed[TARRY__KEYS_ROOM];
        strcpy(changed, digest);
        if (digest[i] != '\0')
            changed[i] = digest[i] == '0' ? '8' : '0';
        snprintf(line, sizeof line, "%s read\n", changed);
        tarry__keys *keys = read_keys(line);
        const int scopes = tarry__keys_scopes(keys, token);
        tarry__keys_free(keys);
        assert_true((scopes > 0) == (digest[i] == '\0'));
    }
    snprintf(line, sizeof line, "%s read\n", digest);
    tarry__keys *keys = read_keys(line);
    for (size_t length = strlen(token); length-- > 0;) {
        token[length] = '\0';
        assert_int_equal(tarry__keys_scopes(keys, token), -1);
    }
    tarry__keys_free(keys);
}

static void comparing_takes_the_same_steps_for_all(void **state)
{
    (void)state;
    char token[TARRY__KEYS_ROOM], digest[TARRY__KEYS_ROOM], line[200];
    unsigned char sum[TARRY__SHA256_SIZE];
    assert_int_equal(tarry__keys_make(token, digest, NULL), TARRY_OK);
    snprintf(line, sizeof line, "%s read\n%.62s00 admin\n", digest, digest);
    tarry__keys *keys = read_keys(line);
    tarry__sha256(token, strlen(token), sum);
    VALGRIND_MAKE_MEM_UNDEFINED(sum, sizeof sum);
    const int scopes = tarry__keys_find(keys, sum);
    VALGRIND_MAKE_MEM_DEFINED(&scopes, sizeof scopes);
    assert_true(scopes > 0);
    tarry__keys_free(keys);
}

static void scopes_have_their_whole_names(void **state)
{
    static const struct {
        const char *text;
        int scopes;
    } texts[] = {{"decide", 1},
                 {"feedback", 2},
                 {"read", 4},
                 {"admin", 8},
                 {"decide,feedback", 3},
                 {"admin,read,decide", 13},
                 {"read,read", 4},
                 {"", 0},
                 {"read,", 0},
                 {",read", 0},
                 {"read,,admin", 0},
                 {"a", 0},
                 {"rea", 0},
                 {"reads", 0},
                 {"read decide", 0},
                 {"Read", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(tarry__keys_parse_scopes(texts[i].text),
                         texts[i].scopes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_known_by_every_bit_of_its_digest),
        cmocka_unit_test(scopes_have_their_whole_names),
        cmocka_unit_test(comparing_takes_the_same_steps_for_all),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
