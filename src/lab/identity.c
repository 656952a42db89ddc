/* identity.c - what a journal's job is: which program, which questions, which
 * files. */
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

static json_t *hex(uint64_t digest)
{
    return json_sprintf("%016" PRIx64, digest);
}

json_t *tarry__journal_heading(uint64_t questions, json_t *cases)
{
    return json_pack("{s:s, s:s, s:o, s:{}, s:o}", "tarry", tarry_version(),
                     "build", tarry__journal_build, "questions", hex(questions),
                     "files", "cases", cases);
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

static bool add_file(json_t *files, const char *path)
{
    uint64_t digest;
    if (*path == '\0' || strcmp(path, "-") == 0 || !digest_file(path, &digest))
        return true; /* nothing to read, or refused when it is */
    return json_object_set_new(files, path, hex(digest)) == 0;
}

bool tarry__journal_add_files(json_t *heading, const char *description)
{
    json_t *files = json_object_get(heading, "files");
    tarry__spec spec;
    if (heading == NULL)
        return false;
    if (tarry__spec_parse(description, &spec, NULL) != TARRY_OK)
        return true; /* refused when the world is made */
    const tarry__entry *entry = find(tarry__instances, spec.name);
    if (entry == NULL)
        entry = find(tarry__delays, spec.name);
    if (entry == NULL)
        entry = find(tarry__adversary_adversaries, spec.name);
    bool ok = true;
    if (entry != NULL &&
        tarry__spec_check(&spec, entry->settings, NULL) == TARRY_OK)
        for (const tarry_setting *s = entry->settings; s->key; s++)
            if (ok && is_file(s))
                ok = add_file(files, tarry__spec_text(&spec, s->key));
    tarry__spec_clear(&spec);
    return ok;
}
