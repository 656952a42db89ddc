/* Every setting of every policy: its default, given in words, changes nothing;
 * another value changes choices, or what is certified, and outlives saving. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "play.h"

enum { ROUNDS = 3000, ARMS = 8, DIM = 3 };

/* What a policy did. */
typedef struct {
    size_t arm[ROUNDS + 1];
    double gap[ROUNDS / 500]; /* certified, if it does */
} story;

static tarry_policy *reborn(tarry_policy *p)
{
    void *bytes;
    size_t size;
    tarry_policy *next;
    assert_int_equal(tarry_policy_pack(p, &bytes, &size), TARRY_OK);
    assert_int_equal(tarry_policy_unpack(bytes, size, &next, NULL), TARRY_OK);
    tarry_policy_pack_free(bytes);
    tarry_policy_free(p);
    return next;
}

/* Losses from 0 to 1 come up to 22 rounds late.  False: it needs other settings
 * too. */
static bool tell(const char *text, bool saved, story *s)
{
    game g = make_game(ARMS, DIM, DIM);
    const tarry_policy_params params = params_of(&g, 4 * ROUNDS);
    tarry_policy *p;
    const tarry_status status = try_policy(text, &params, &p, NULL);
    memset(s, 0, sizeof *s);
    for (uint64_t t = 1; status == TARRY_OK && t <= ROUNDS; t++) {
        s->arm[t] = choose(p).arm;
        for (uint64_t r = t > 22 ? t - 22 : 1; r <= t; r++)
            if (r + r * 7 % 23 == t)
                tarry_policy_observe(p, r, (1 + loss_of(&g, r, s->arm[r])) / 2);
        if (t % 500 == 0) {
            size_t arm;
            tarry_policy_certify(p, &arm, &s->gap[t / 500 - 1]);
        }
        if (saved && t % 700 == 0)
            p = reborn(p);
    }
    tarry_policy_free(p);
    end_game(&g);
    return status == TARRY_OK;
}

static bool is_same(const story *a, const story *b)
{
    for (size_t i = 0; i < ROUNDS / 500; i++)
        if (!(a->gap[i] == b->gap[i] || (isnan(a->gap[i]) && isnan(b->gap[i]))))
            return false;
    return memcmp(a->arm, b->arm, sizeof a->arm) == 0;
}

/* Those that matter only with others, which then have their line below; or,
 * in this game, not within so many rounds. */
static bool may_be_silent(const char *text, const char *key)
{
    static const char *const of_tight[] = {"guide_share", "losses", "width"};
    if (strstr(text, "constants=tight") == NULL)
        for (size_t i = 0; i < 3; i++)
            if (strncmp(text, "phased", 6) == 0 &&
                strcmp(key, of_tight[i]) == 0)
                return true;
    if (strstr(text, "window=") == NULL && strcmp(key, "late") == 0)
        return true;
    if (strstr(text, "phased-mab") == text &&
        strstr("rank_tolerance guide_share cuts", key) != NULL)
        return true;
    return (strcmp(text, "explore-commit") == 0 &&
            strcmp(key, "lambda") == 0) ||
           (strstr(text, "guide=") == NULL && strcmp(key, "guide_share") == 0);
}

/* Another value for a number. */
static void other_number(const tarry_setting *s, char *out, size_t size)
{
    static const struct {
        const char *key, *value;
    } special[] = {
        {"rank_tolerance", "0.09"}, {"window", "5"}, {"scale", "0.05"}};
    const double number = strtod(s->value, NULL);
    snprintf(out, size, "%g", fmin(number > 0 ? 0.4 * number : 0.7, s->most));
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcmp(s->key, special[i].key) == 0)
            snprintf(out, size, "%s", special[i].value);
}

static void check_value(const char *text, const story *plain, const char *key,
                        const char *value)
{
    static story other, again;
    char with[200];
    snprintf(with, sizeof with, "%s%c%s=%s", text,
             strchr(text, ':') != NULL ? ',' : ':', key, value);
    if (!tell(with, false, &other))
        return;
    if (is_same(plain, &other) && !may_be_silent(text, key))
        fail_msg("%s: as without it", with);
    tell(with, true, &again);
    if (!is_same(&other, &again))
        fail_msg("%s is another one after saving", with);
}

static void check_setting(const char *text, const story *plain,
                          const tarry_setting *s)
{
    char value[64], words[100];
    if (s->kind == TARRY_SETTING_REAL || s->kind == TARRY_SETTING_COUNT) {
        other_number(s, value, sizeof value);
        check_value(text, plain, s->key, value);
    } else if (s->kind == TARRY_SETTING_CHOICE) {
        snprintf(words, sizeof words, "%s", s->choices);
        for (char *w = strtok(words, "|"); w != NULL; w = strtok(NULL, "|"))
            if (strcmp(w, s->value) != 0)
                check_value(text, plain, s->key, w);
    }
}

static void check_policy(const char *name, const char *text)
{
    static story plain, same;
    tarry_policy_info info;
    char with[400];
    assert_int_equal(tarry_policy_describe(name, &info), TARRY_OK);
    tell(text, false, &plain);
    for (const tarry_setting *s = info.settings; s->key != NULL; s++) {
        if (strstr(text, s->key) != NULL)
            continue;
        snprintf(with, sizeof with, "%s%c%s=%s", text,
                 strchr(text, ':') != NULL ? ',' : ':', s->key, s->value);
        tell(with, false, &same);
        if (!is_same(&plain, &same))
            fail_msg("%s: not as without it", with);
        check_setting(text, &plain, s);
    }
}

static void every_setting_matters(void **state)
{
    const char *name;
    (void)state;
    for (size_t k = 0; (name = tarry_policy_name(k)) != NULL; k++)
        check_policy(name, name);
    check_policy("phased-stochastic",
                 "phased-stochastic:constants=tight,guide=lints");
    check_policy("phased-loss-dependent",
                 "phased-loss-dependent:constants=tight");
    check_policy("otf-linucb", "otf-linucb:window=5");
    check_policy("otf-lints", "otf-lints:window=5");
    check_policy("phased-mab", "phased-mab:constants=tight,guide=ucb-delayed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_setting_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
