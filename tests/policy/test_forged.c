/* A state whose checksum fits and four of whose bytes are anything: restore
 * refuses it, or the policy bears all operations and keeps the door's promises:
 * arms that may be chosen, probabilities, bounds that are none below 0.
 *
 * TARRY_SEED=n for other values and programs. */
#include "check.h"
#include <string.h>
#include "base/base.h"
#include "policy/open_rounds.h"
#include "policy/handle.h"
#include "programs.h"

enum { ARMS = 4, MOST_ARMS = 8, DIM = 3, HORIZON = 500, HEADER_BYTES = 32 };

/* ---- all operations -------------------------------------------------------*/

static void check_status(tarry_policy *p, const char *text)
{
    const tarry_policy_status s = status_of(p);
    double sum = 0;
    size_t arm;
    double gap;
    assert_true(s.best < s.n_arms);
    for (size_t i = 0; i < s.n_active; i++)
        if (s.active[i] >= s.n_arms ||
            (i > 0 && s.active[i] <= s.active[i - 1]))
            fail_msg("%s: active arm %ju", text, (uintmax_t)s.active[i]);
    for (size_t i = 0; i < s.n_plan; i++)
        assert_true(s.plan[i].arm < s.n_arms);
    for (size_t i = 0; i < s.n_estimates; i++)
        sum += s.estimates[i].lower + s.estimates[i].upper;
    if (tarry_policy_certify(p, &arm, &gap) == TARRY_OK &&
        (arm >= s.n_arms || !(gap >= 0)))
        fail_msg("%s: certifies %g of arm %zu (%g)", text, gap, arm, sum);
}

static void do_choose(program *p, tarry_policy *policy)
{
    uint64_t round;
    size_t arm;
    double chance;
    if (tarry_policy_choose(policy, &round, &arm) != TARRY_OK)
        return;
    if (arm >= status_of(policy).n_arms ||
        !tarry__policy_may_choose(&policy->problem, arm))
        fail_msg("%s: chose arm %zu", p->text, arm);
    if (tarry_policy_probability(policy, &chance) == TARRY_OK &&
        !(chance >= 0 && chance <= 1))
        fail_msg("%s: probability %g", p->text, chance);
}

static void do_something(program *p, tarry_policy *policy)
{
    const tarry_policy_status s = status_of(policy);
    const uint64_t round = s.round - below(p, s.round < 20 ? s.round + 1 : 20);
    tarry_pending pending[4];
    size_t arm;
    switch (below(p, 24)) {
    case 0:
        tarry_policy_cancel(policy, round);
        break;
    case 1:
        tarry_policy_expire(policy, round);
        break;
    case 2:
        if (s.n_arms < MOST_ARMS)
            tarry_policy_admit(policy, arm_of(p->g, s.n_arms), &arm);
        break;
    case 3:
        tarry_policy_withdraw(policy, below(p, MOST_ARMS));
        break;
    case 4:
        check_status(policy, p->text);
        break;
    case 5:
        assert_true(tarry_policy_pending(policy, pending, 4) <= 4);
        break;
    default:
        if (below(p, 2) == 0)
            do_choose(p, policy);
        else
            tarry_policy_observe(policy, round, 2 * test_uniform(&p->seed) - 1);
    }
}

static void do_many(program *p, tarry_policy *policy, int count)
{
    for (int i = 0; i < count; i++)
        do_something(p, policy);
}

/* ---- forging --------------------------------------------------------------*/

static void mend_checksum(unsigned char *bytes, size_t size)
{
    const uint64_t start =
        tarry__base_digest(TARRY__BASE_DIGEST, bytes + 8, sizeof start);
    const uint64_t sum =
        tarry__base_digest(start, bytes + HEADER_BYTES, size - HEADER_BYTES);
    memcpy(bytes + 24, &sum, sizeof sum);
}

/* Small and large numbers, places that are none, halves of doubles. */
static uint32_t some_word(program *p)
{
    static const uint32_t words[] = {
        0,          1,          2,          ARMS,       UINT32_MAX,
        1u << 31,   1u << 10,   0x7ff80000, 0x7ff00000, 0xfff00000,
        0x3ff00000, 0xbff00000, 0x7fe00000, 0x00100000, 0x43300000};
    return words[below(p, sizeof words / sizeof *words)];
}

/* What is outstanding is as much as is listed. */
static void check_pending(tarry_policy *policy)
{
    static tarry_pending list[4096];
    tarry_policy_status s;
    if (tarry_policy_get_status(policy, &s) == TARRY_OK)
        assert_int_equal(tarry_policy_pending(policy, list, 4096), s.pending);
}

static bool try_forged(program *p, unsigned char *bytes, size_t size, int count)
{
    tarry_policy *policy;
    mend_checksum(bytes, size);
    const tarry_status status = tarry_policy_unpack(bytes, size, &policy, NULL);
    if (status != TARRY_OK) {
        assert_int_equal(status, TARRY_BAD_STATE);
        assert_null(policy);
        return false;
    }
    check_pending(policy);
    do_many(p, policy, count);
    check_status(policy, p->text);
    check_pending(policy);
    tarry_policy_free(policy);
    return true;
}

/* Fields begin at any byte: a text stands before them. */
static void forge_words(program *p, unsigned char *bytes, size_t size)
{
    const size_t most = 2 * (1 + size / amount(1000, 3000, 20000)) - 1;
    size_t refused = 0;
    for (size_t at = HEADER_BYTES; at + 4 <= size; at += 1 + below(p, most)) {
        const uint32_t word = some_word(p);
        uint32_t old;
        memcpy(&old, bytes + at, sizeof old);
        memcpy(bytes + at, &word, sizeof word);
        refused += !try_forged(p, bytes, size, 30);
        memcpy(bytes + at, &old, sizeof old);
    }
    assert_true(refused > 0);
    assert_true(try_forged(p, bytes, size, 30));
}

/* Leaves out `cut` bytes at a place; the header tells the size. */
static void try_shorter(program *p, const unsigned char *bytes, size_t size,
                        size_t at, uint64_t count, size_t cut)
{
    unsigned char *less = malloc(size);
    const uint64_t rest = size - cut - HEADER_BYTES;
    assert_non_null(less);
    memcpy(less, bytes, at);
    memcpy(less + at, &count, sizeof count);
    memcpy(less + at + 8, bytes + at + 8 + cut, size - at - 8 - cut);
    memcpy(less + 16, &rest, sizeof rest);
    try_forged(p, less, size - cut, 30);
    free(less);
}

/* Whatever may be the count of an array before it: the array is empty, or has
 * an entry less.  But in `make campaign`, at some places. */
static void forge_arrays(program *p, const unsigned char *bytes, size_t size)
{
    static const size_t sizes[] = {1, 4, 8, 16, 24};
    const size_t most = 2 * amount(8, 4, 1) - 1;
    for (size_t at = HEADER_BYTES; at + 8 <= size; at += 1 + below(p, most)) {
        uint64_t count;
        memcpy(&count, bytes + at, sizeof count);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (count > 0 && count <= (size - at - 8) / sizes[i]) {
                try_shorter(p, bytes, size, at, 0, count * sizes[i]);
                try_shorter(p, bytes, size, at, count - 1, sizes[i]);
            }
    }
}

static tarry_policy *begin(const program *p)
{
    tarry_policy_params params = params_of(p->g, HORIZON);
    params.n_arms = ARMS;
    params.beyond_horizon = 1;
    return make_policy(p->text, &params);
}

/* Nor do arrays that end before they should. */
static void a_forged_word_does_no_harm(void **state)
{
    (void)state;
    game g = make_game(MOST_ARMS, DIM, DIM);
    for (size_t k = 0; description(k) != NULL; k++) {
        program p = {.text = description(k), .g = &g, .seed = first_seed() + k};
        tarry_policy *policy = begin(&p);
        void *bytes;
        size_t size;
        do_many(&p, policy, 300);
        assert_int_equal(tarry_policy_pack(policy, &bytes, &size), TARRY_OK);
        tarry_policy_free(policy);
        forge_arrays(&p, bytes, size);
        forge_words(&p, bytes, size);
        tarry_policy_pack_free(bytes);
    }
    end_game(&g);
}

/* ---- a table without an end
 * ------------------------------------------------*/

/* Where the table of open rounds stands, its room before it: so many slots, of
 * which eight are rounds. */
static size_t find_table(const unsigned char *bytes, size_t size)
{
    for (size_t at = HEADER_BYTES; at + 8 <= size; at++) {
        uint64_t room, slot, used = 0;
        memcpy(&room, bytes + at, sizeof room);
        if (room < 8 || room > 64 || room > (size - at - 8) / 8)
            continue;
        for (size_t i = 1; i <= room; i++) {
            memcpy(&slot, bytes + at + 8 * i, sizeof slot);
            const uint64_t round = slot >> TARRY__OPEN_VALUE_BITS;
            used += slot == 0 ? 0 : round >= 1 && round <= 8 ? 1 : 100;
        }
        if (used == 8)
            return at;
    }
    fail_msg("there is no table");
    return 0;
}

/* A search for a round that is not in it would never end. */
static void a_full_table_of_open_rounds_is_refused(void **state)
{
    (void)state;
    game g = make_game(MOST_ARMS, DIM, DIM);
    program p = {.text = "uniform", .g = &g};
    tarry_policy *policy = begin(&p);
    uint64_t slots[8] = {0}, room, round;
    tarry__open_rounds full = {.slot = slots, .room = 8};
    unsigned char *bytes;
    size_t size, arm;
    for (int t = 0; t < 8; t++) {
        assert_int_equal(tarry_policy_choose(policy, &round, &arm), TARRY_OK);
        tarry__open_add(&full, round, (uint32_t)arm);
    }
    assert_int_equal(tarry_policy_pack(policy, (void **)&bytes, &size),
                     TARRY_OK);
    tarry_policy_free(policy);
    const size_t at = find_table(bytes, size);
    memcpy(&room, bytes + at, sizeof room);
    const size_t cut = 8 * (room - 8);
    memmove(bytes + at + 72, bytes + at + 72 + cut, size - at - 72 - cut);
    memcpy(bytes + at, &full.room, sizeof full.room);
    memcpy(bytes + at + 8, slots, sizeof slots);
    const uint64_t rest = size - cut - HEADER_BYTES;
    memcpy(bytes + 16, &rest, sizeof rest);
    assert_false(try_forged(&p, bytes, size - cut, 0));
    tarry_policy_pack_free(bytes);
    end_game(&g);
}

/* ---- arms that are gone ---------------------------------------------------*/

enum { GONE = 1 };

/* The number of an arm that is gone, wherever numbers stand. */
static void name_the_gone(program *p, unsigned char *bytes, size_t size)
{
    const uint32_t word = GONE;
    const size_t most = 2 * (1 + size / amount(60, 200, 800)) - 1;
    for (size_t at = HEADER_BYTES; at + 4 <= size; at += 1 + below(p, most)) {
        uint32_t old;
        memcpy(&old, bytes + at, sizeof old);
        memcpy(bytes + at, &word, sizeof word);
        try_forged(p, bytes, size, 15);
        memcpy(bytes + at, &old, sizeof old);
    }
}

static void play_on(program *p, tarry_policy *policy, int rounds)
{
    uint64_t round;
    size_t arm;
    for (int t = 0; t < rounds; t++) {
        assert_int_equal(tarry_policy_choose(policy, &round, &arm), TARRY_OK);
        tarry_policy_observe(policy, round, 2 * test_uniform(&p->seed) - 1);
    }
}

static void forge_now(program *p, tarry_policy *policy)
{
    void *bytes;
    size_t size;
    assert_int_equal(tarry_policy_pack(policy, &bytes, &size), TARRY_OK);
    name_the_gone(p, bytes, size);
    tarry_policy_pack_free(bytes);
}

static void no_forged_state_chooses_an_arm_that_is_gone(void **state)
{
    (void)state;
    game g = make_game(MOST_ARMS, DIM, DIM);
    for (size_t k = 0; description(k) != NULL; k++) {
        program p = {.text = description(k), .g = &g, .seed = first_seed() + k};
        tarry_policy *policy = begin(&p);
        play_on(&p, policy, 40);
        if (tarry_policy_withdraw(policy, GONE) == TARRY_OK) {
            forge_now(&p, policy);
            play_on(&p, policy, 40);
            forge_now(&p, policy);
        }
        tarry_policy_free(policy);
    }
    end_game(&g);
}

/* Of many arms only some are looked at, by an estimate that stands before what
 * is known of each; it may be made of numbers that are none. */
static void no_forged_estimate_lets_in_an_arm_that_is_gone(void **state)
{
    enum { MANY = 600, SOME_BYTES = 900, BEHIND_BYTES = MANY * 16 + 700 };
    static const uint32_t words[] = {0x7ff80000, 0x7ff00000, 0xfff00000};
    (void)state;
    game g = make_game(MANY, DIM, DIM);
    program p = {.text = "linucb:alpha=0.01", .g = &g, .seed = first_seed()};
    const tarry_policy_params params = params_of(&g, HORIZON);
    tarry_policy *policy = make_policy(p.text, &params);
    uint64_t round;
    size_t arm, size;
    unsigned char *bytes;
    for (int t = 0; t < 200; t++) {
        if (t == 100)
            assert_int_equal(tarry_policy_withdraw(policy, 0), TARRY_OK);
        assert_int_equal(tarry_policy_choose(policy, &round, &arm), TARRY_OK);
        tarry_policy_observe(policy, round, mean_loss(&g, arm));
    }
    assert_int_equal(tarry_policy_pack(policy, (void **)&bytes, &size),
                     TARRY_OK);
    assert_true(size > HEADER_BYTES + BEHIND_BYTES + SOME_BYTES);
    const size_t from = size - BEHIND_BYTES - SOME_BYTES;
    for (size_t at = from; at < from + SOME_BYTES; at++)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            uint32_t old;
            memcpy(&old, bytes + at, sizeof old);
            memcpy(bytes + at, &words[i], sizeof old);
            try_forged(&p, bytes, size, 30);
            memcpy(bytes + at, &old, sizeof old);
        }
    tarry_policy_pack_free(bytes);
    tarry_policy_free(policy);
    end_game(&g);
}

/* ---- clocks ---------------------------------------------------------------*/

/* Whether no other number is taken where the last round stands. */
static bool is_clock(program *p, unsigned char *bytes, size_t size, size_t at,
                     uint64_t round)
{
    const uint64_t others[] = {0, round / 2, round - 1, round + 1, HORIZON};
    bool is = true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        memcpy(bytes + at, &others[i], sizeof round);
        is = !try_forged(p, bytes, size, 15) && is;
    }
    memcpy(bytes + at, &round, sizeof round);
    return is;
}

/* The door's, and that of what waits. */
static void check_clocks(program *p, unsigned char *bytes, size_t size,
                         uint64_t round)
{
    size_t clocks = 0;
    for (size_t at = HEADER_BYTES; at + 8 <= size; at++)
        if (memcmp(bytes + at, &round, sizeof round) == 0)
            clocks += is_clock(p, bytes, size, at, round);
    if (clocks < 2)
        fail_msg("%s: %zu clocks are looked at", p->text, clocks);
    assert_true(try_forged(p, bytes, size, 15));
}

static void a_clock_that_is_not_the_policys_is_refused(void **state)
{
    static const char *const texts[] = {
        "foresight", "recommended",
        "phased-loss-dependent:constants=tight,guide=foresight"};
    (void)state;
    game g = make_game(MOST_ARMS, DIM, DIM);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        program p = {.text = texts[k], .g = &g, .seed = first_seed()};
        tarry_policy_params params = params_of(&g, HORIZON);
        params.n_arms = ARMS;
        tarry_policy *policy = make_policy(p.text, &params);
        void *bytes;
        size_t size, arm;
        uint64_t round;
        for (int t = 0; t < 301; t++) {
            assert_int_equal(tarry_policy_choose(policy, &round, &arm),
                             TARRY_OK);
            if (t % 50 == 20)
                assert_int_equal(tarry_policy_cancel(policy, round), TARRY_OK);
            else if (t % 3 == 0)
                tarry_policy_observe(policy, round, loss_of(&g, round, arm));
        }
        assert_int_equal(tarry_policy_pack(policy, &bytes, &size), TARRY_OK);
        check_clocks(&p, bytes, size, round);
        tarry_policy_pack_free(bytes);
        tarry_policy_free(policy);
    }
    end_game(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_forged_state_chooses_an_arm_that_is_gone),
        cmocka_unit_test(no_forged_estimate_lets_in_an_arm_that_is_gone),
        cmocka_unit_test(a_clock_that_is_not_the_policys_is_refused),
        cmocka_unit_test(a_forged_word_does_no_harm),
        cmocka_unit_test(a_full_table_of_open_rounds_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
