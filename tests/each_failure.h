/* each_failure.h - JSON whose k-th allocation fails, for every k. */
#ifndef TARRY_EACH_FAILURE_H
#define TARRY_EACH_FAILURE_H

#include "base/base.h"
#include "base/json.h"
#include "check.h"

/* Makes something with each allocation failing once: it is the same text as
 * without a failure, or NULL; `make` answers a text that base.h ends, and looks
 * itself at what else must hold.  Allocations of JSON are base.h's from here
 * on. */
static inline void with_each_failure(char *(*make)(void *), void *context)
{
    tarry__json_use_base();
    char *whole = make(context);
    assert_non_null(whole);
    bool failed = true;
    uint64_t refused = 0;
    for (uint64_t k = 1; failed; k++) {
        tarry__base_fail_alloc(k);
        char *text = make(context);
        failed = tarry__base_fail_alloc(0) >= k;
        if (text != NULL)
            assert_string_equal(text, whole);
        assert_true(failed || text != NULL);
        refused += text == NULL;
        tarry__base_free(text);
    }
    assert_true(refused > 0);
    tarry__base_free(whole);
}

#endif
