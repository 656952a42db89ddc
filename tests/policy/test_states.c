/* A saved state restores on every machine and chooses on as the program did
 * that wrote it.  Each state here was saved after 1700 rounds; the file beside
 * it holds the arms of the last 23 of these and of the next 400.  With
 * TARRY_WRITE_STATES=1 those that TARRY_STATES does not have are written there,
 * for each policy of the list. */
#include "check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tarry/policy.h"

enum { SAVED = 1700, MORE = 400 };

static double loss_of(uint64_t round, size_t arm)
{
    const int64_t noise = (int64_t)((round * 101 + arm * 37) % 101) - 50;
    return (double)(noise + (int64_t)(arm % 5) * 6) / 100;
}

/* The round after which a loss is reported; 0: never. */
static uint64_t due(uint64_t round)
{
    return round % 10 == 0 ? 0 : round + round * 7 % 23;
}

/* The losses that come after this round, of rounds played since the saving:
 * those of earlier ones are with arms that the state alone knows. */
static void report_due(tarry_policy *p, uint64_t now, const size_t *arm)
{
    for (uint64_t r = now > 23 ? now - 23 : 1; r <= now; r++)
        if (due(r) == now)
            CHECK_AT_MOST(tarry_policy_observe(p, r, loss_of(r, arm[r])),
                          TARRY_LATE);
}

/* Arms of the last rounds before the saving, then of those after it. */
static void read_choices(const char *path, size_t *arm)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (size_t r = SAVED - 22; r <= SAVED + MORE; r++)
        assert_int_equal(fscanf(file, "%zu", &arm[r]), 1);
    fclose(file);
}

static void check_state(const char *folder, const char *name)
{
    char path[1024];
    size_t recorded[SAVED + MORE + 1], arm;
    tarry_policy *p;
    uint64_t round;
    snprintf(path, sizeof path, "%s/%s.choices", folder, name);
    read_choices(path, recorded);
    snprintf(path, sizeof path, "%s/%s.state", folder, name);
    if (tarry_policy_restore(path, &p, NULL) != TARRY_OK)
        fail_msg("%s does not restore", path);
    for (uint64_t t = SAVED + 1; t <= SAVED + MORE; t++) {
        assert_int_equal(tarry_policy_choose(p, &round, &arm), TARRY_OK);
        if (round != t || arm != recorded[t])
            fail_msg("%s: round %ju plays %zu, not %zu", name, (uintmax_t)t,
                     arm, recorded[t]);
        report_due(p, t, recorded);
    }
    tarry_policy_free(p);
}

/* ---- writing them ---------------------------------------------------------*/

enum { ARMS = 12, DIM = 3 };

/* Besides every policy as it is. */
static const char *const written[][2] = {
    {"stochastic-guided", "phased-stochastic:constants=tight,guide=lints"},
    {"loss-dependent-guided",
     "phased-loss-dependent:constants=tight,guide=lints,guide_share=9"},
};

static tarry_policy *create(const char *description)
{
    static double arms[ARMS * DIM];
    tarry_policy_params params = tarry_policy_defaults();
    tarry_policy *p;
    for (size_t i = 0; i < ARMS * DIM; i++)
        arms[i] = (double)(i * i % 17) / 17;
    params.arms = arms;
    params.n_arms = ARMS;
    params.dim = DIM;
    params.confidence = 0.9;
    params.horizon = 3000; /* keeps what some remember small */
    assert_int_equal(tarry_policy_create(description, &params, &p, NULL),
                     TARRY_OK);
    return p;
}

/* One round; some are called off or given up, and arm 7 goes away. */
static void play(tarry_policy *p, uint64_t t, size_t *arm)
{
    uint64_t round;
    assert_int_equal(tarry_policy_choose(p, &round, &arm[t]), TARRY_OK);
    if (t % 100 == 50 && t < SAVED - 50) /* round t - 10 is never reported */
        assert_int_equal(t % 200 == 50 ? tarry_policy_cancel(p, t - 10)
                                       : tarry_policy_expire(p, t - 10),
                         TARRY_OK);
    if (t == 1000) /* BAD_ARGUMENT: the arms of this policy cannot change */
        assert_in_set(
            tarry_policy_withdraw(p, 7),
            ((const LargestIntegralType[]){TARRY_OK, TARRY_BAD_ARGUMENT}), 2);
    report_due(p, t, arm);
}

static void write_state(const char *folder, const char *name,
                        const char *description)
{
    char path[1024];
    size_t arm[SAVED + MORE + 1];
    snprintf(path, sizeof path, "%s/%s.state", folder, name);
    if (access(path, F_OK) == 0)
        return;
    tarry_policy *p = create(description);
    for (uint64_t t = 1; t <= SAVED + MORE; t++) {
        play(p, t, arm);
        if (t == SAVED)
            assert_int_equal(tarry_policy_save(p, path, NULL), TARRY_OK);
    }
    tarry_policy_free(p);
    snprintf(path, sizeof path, "%s/%s.choices", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t r = SAVED - 22; r <= SAVED + MORE; r++)
        fprintf(file, "%zu ", arm[r]);
    assert_int_equal(fclose(file), 0);
}

static void write_states(const char *folder)
{
    const char *name;
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++)
        write_state(folder, written[i][0], written[i][1]);
    for (size_t i = 0; (name = tarry_policy_name(i)) != NULL; i++)
        write_state(folder, name, name);
}

/* ---- from the first round on ----------------------------------------------*/

/* A policy that is made today and meets what the one of the file met. */
static void check_anew(const char *folder, const char *name,
                       const char *description)
{
    char path[1024];
    size_t recorded[SAVED + MORE + 1], arm[SAVED + MORE + 1];
    snprintf(path, sizeof path, "%s/%s.choices", folder, name);
    read_choices(path, recorded);
    tarry_policy *p = create(description);
    for (uint64_t t = 1; t <= SAVED + MORE; t++) {
        play(p, t, arm);
        if (t >= SAVED - 22 && arm[t] != recorded[t])
            fail_msg("%s: round %ju plays %zu, not %zu", name, (uintmax_t)t,
                     arm[t], recorded[t]);
    }
    tarry_policy_free(p);
}

/* What a state holds was set when its policy was made: restored ones alone do
 * not show what policies are made with now. */
static void new_policies_come_to_choose_as_recorded(void **state)
{
    (void)state;
    const char *name, *folder = getenv("TARRY_STATES");
    assert_non_null(folder);
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++)
        check_anew(folder, written[i][0], written[i][1]);
    for (size_t i = 0; (name = tarry_policy_name(i)) != NULL; i++)
        check_anew(folder, name, name);
}

static void states_choose_on_as_recorded(void **state)
{
    (void)state;
    const char *folder = getenv("TARRY_STATES");
    assert_non_null(folder);
    if (getenv("TARRY_WRITE_STATES") != NULL)
        write_states(folder);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    size_t count = 0;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char *dot = strrchr(e->d_name, '.');
        if (dot == NULL || strcmp(dot, ".state") != 0)
            continue;
        *dot = '\0';
        check_state(folder, e->d_name);
        count++;
    }
    closedir(dir);
    assert_true(count >= 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_choose_on_as_recorded),
        cmocka_unit_test(new_policies_come_to_choose_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
