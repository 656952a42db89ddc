/* identity.c - the keys of a journal's cases: which program, which texts, which
 * bytes of files. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/base.h"
#include "base/spec.h"
#include "env/adversary.h"
#include "env/delay.h"
#include "lab/journal.h"
#include "tarry/version.h"

/* False: it cannot be read, or only once. */
static bool digest_file(const char *path, uint64_t *digest)
{
    struct stat what;
    FILE *file = stat(path, &what) == 0 && S_ISREG(what.st_mode)
                     ? fopen(path, "rb")
                     : NULL;
    char bytes[4096];
    size_t count;
    *digest = TARRY__BASE_DIGEST;
    while (file != NULL && (count = fread(bytes, 1, sizeof bytes, file)) > 0)
        *digest = tarry__base_digest(*digest, bytes, count);
    const bool ok = file != NULL && !ferror(file);
    if (file != NULL)
        fclose(file);
    return ok;
}

uint64_t tarry__journal_add_text(uint64_t key, const char *text)
{
    return tarry__base_digest(key, text, strlen(text) + 1);
}

uint64_t tarry__journal_begin(void)
{
    return tarry__journal_add_text(
        tarry__journal_add_text(TARRY__BASE_DIGEST, tarry_version()),
        tarry__journal_build);
}

/* Of a world's settings those that are texts name files. */
static bool is_file(const tarry_setting *setting)
{
    return setting->kind == TARRY_SETTING_TEXT;
}

static const tarry__entry *find(const tarry__entry *const *list,
                                const char *name)
{
    for (; *list != NULL; list++)
        if (strcmp((*list)->name, name) == 0)
            return *list;
    return NULL;
}

static uint64_t add_file(uint64_t key, const char *path)
{
    uint64_t digest;
    if (*path == '\0' || strcmp(path, "-") == 0 || !digest_file(path, &digest))
        return key; /* nothing to read, or refused when it is */
    return tarry__base_digest(key, &digest, sizeof digest);
}

static const tarry__entry *entry_of(const char *name)
{
    const tarry__entry *entry = find(tarry__instances, name);
    if (entry == NULL)
        entry = find(tarry__delays, name);
    return entry != NULL ? entry : find(tarry__adversary_adversaries, name);
}

tarry_status tarry__journal_add_part(uint64_t *key, const char *description)
{
    tarry__spec spec;
    *key = tarry__journal_add_text(*key, description);
    const tarry_status parsed = tarry__spec_parse(description, &spec, NULL);
    if (parsed != TARRY_OK) /* a bad one is refused when the world is made */
        return parsed == TARRY_NO_MEMORY ? parsed : TARRY_OK;
    const tarry__entry *entry = entry_of(spec.name);
    if (entry != NULL &&
        tarry__spec_check(&spec, entry->settings, NULL) == TARRY_OK)
        for (const tarry_setting *s = entry->settings; s->key; s++)
            if (is_file(s))
                *key = add_file(*key, tarry__spec_text(&spec, s->key));
    tarry__spec_clear(&spec);
    return TARRY_OK;
}

char *tarry__journal_words(const char *instance, const char *loss,
                           const char *delay, const char *policy,
                           uint64_t horizon)
{
    static const char format[] = "%s, %s, %s, %s, %ju rounds";
    const int size = snprintf(NULL, 0, format, instance, loss, delay, policy,
                              (uintmax_t)horizon) +
                     1;
    char *words = tarry__base_alloc((size_t)size, 1);
    if (words != NULL)
        snprintf(words, (size_t)size, format, instance, loss, delay, policy,
                 (uintmax_t)horizon);
    return words;
}
