/* When a session that goes on leaves a snapshot: after 100 000 events, and one
 * more for each 16 bytes of the last.  Else a start after a kill would take
 * longer and longer, or each commit. */
#include "check.h"
#include <stdlib.h>
#include "base/base.h"
#include "session/session.h"
#include "store/experiment.h"

enum { STEP = 2500, LEAST = 100000, PER_EVENT = 16 };

typedef struct {
    uint64_t n_arms, dim, steps;
} shape;

static tarry__session *make(tarry__store *store, const shape *of)
{
    tarry__store_experiment e =
        small_experiment("e", "uniform", of->n_arms, of->dim);
    double *arms = calloc(of->n_arms * of->dim, sizeof *arms);
    tarry__session *s;
    assert_non_null(arms);
    e.horizon = 10000000;
    for (size_t k = 0; k < of->n_arms; k++)
        arms[k * of->dim + k % of->dim] = 1;
    assert_int_equal(tarry__session_create(store, &e, arms, NULL, &s, NULL),
                     TARRY_OK);
    free(arms);
    return s;
}

static void choose_some(tarry__session *s)
{
    for (int i = 0; i < STEP; i++) {
        tarry__session_choice_made made;
        assert_int_equal(tarry__session_choose(s, NULL, 1, &made, NULL),
                         TARRY_OK);
    }
    assert_int_equal(tarry__session_commit(&s, 1, NULL), TARRY_OK);
}

/* The second state is so large that the events between two depend on it. */
static void snapshots_come_in_time_and_not_too_often(void **state)
{
    static const shape shapes[] = {{2, 2, 100}, {2200, 100, 130}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        tarry__store *store;
        uint64_t seq = 0, count = 0;
        size_t size = 0;
        assert_int_equal(tarry__store_open("memory:", true, &store, NULL),
                         TARRY_OK);
        tarry__session *s = make(store, &shapes[i]);
        for (uint64_t k = 0; k < shapes[i].steps; k++) {
            void *bytes;
            const uint64_t last = seq;
            const uint64_t rest = size / PER_EVENT;
            choose_some(s);
            const uint64_t events = tarry__store_events(store, 1, NULL);
            const bool is_due = events - last > LEAST && events - last > rest;
            assert_int_equal(
                tarry__store_load(store, 1, &seq, &bytes, &size, NULL),
                TARRY_OK);
            tarry__base_free(bytes);
            assert_int_equal(seq, is_due ? events : last);
            count += is_due;
        }
        assert_int_equal(count, 2);
        tarry__session_close(s);
        tarry__store_close(store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_come_in_time_and_not_too_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
