/* The examples of FIPS 180-4, and lengths around a block. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/sha256.h"

static void is_digest(const char *message, size_t size, const char *wanted)
{
    unsigned char digest[TARRY__SHA256_SIZE];
    char hex[2 * TARRY__SHA256_SIZE + 1];
    tarry__sha256(message, size, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(hex, wanted);
}

static void the_standards_examples(void **state)
{
    (void)state;
    static const char two_blocks[] =
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    is_digest("abc", 3,
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f200"
              "15ad");
    is_digest("", 0,
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852"
              "b855");
    is_digest(two_blocks, strlen(two_blocks),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db"
              "06c1");
}

static void a_million_letters(void **state)
{
    (void)state;
    char *message = malloc(1000000);
    assert_non_null(message);
    memset(message, 'a', 1000000);
    is_digest(message, 1000000,
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc711"
              "2cd0");
    free(message);
}

/* Of all lengths up to some blocks: the digest of their digests, as Python's
 * hashlib has it. */
static void every_length_has_its_digest(void **state)
{
    (void)state;
    enum { LONGEST = 300 };
    char message[LONGEST];
    unsigned char all[LONGEST + 1][TARRY__SHA256_SIZE];
    for (int i = 0; i < LONGEST; i++)
        message[i] = (char)(7 * i + 3);
    for (size_t size = 0; size <= LONGEST; size++)
        tarry__sha256(message, size, all[size]);
    is_digest((const char *)all, sizeof all,
              "7d917fbd2cf49ddff9ad0a8706bba32d204e92e71d2e369c5a03d6af29278"
              "c9f");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_standards_examples),
        cmocka_unit_test(a_million_letters),
        cmocka_unit_test(every_length_has_its_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
