/* fuzz_journal.c - journals of trials whose digests always fit.
 *
 * Each line of the input is one of the journal without its digest; the heading
 * comes before them.  A line that begins with ! goes in as it is. */
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "fuzz.h"
#include "lab/journal.h"
#include "sim/sim.h"

static const tarry__journal_field fields[] = {
    TARRY__JOURNAL_FIELD(tarry__sim_outcome, REAL, regret),
    TARRY__JOURNAL_FIELD(tarry__sim_outcome, COUNT, n_phases),
    TARRY__JOURNAL_FIELD(tarry__sim_outcome, REAL, curve),
    TARRY__JOURNAL_FIELD(tarry__sim_outcome, UNKNOWN, certificate),
};

static bool take(void *context, size_t c, size_t run, const void *answer)
{
    const tarry__sim_outcome *o = answer;
    *(size_t *)context += 1;
    must(!(o->regret != o->regret));
    return c < 2 && run < 2;
}

static void put_line(FILE *out, const char *line, size_t size)
{
    if (size > 0 && line[0] == '!') {
        fwrite(line + 1, 1, size - 1, out);
    } else {
        fprintf(out, "{\"sum\":\"%016jx\",",
                (uintmax_t)tarry__base_digest(TARRY__BASE_DIGEST, line, size));
        fwrite(line, 1, size, out);
    }
}

/* Made once: it holds a digest of the whole program. */
static json_t *heading(void)
{
    static json_t *made;
    if (made == NULL)
        made = tarry__journal_heading(2385, json_array());
    return json_deep_copy(made);
}

/* The heading as a journal writes it. */
static char *heading_line(size_t *size)
{
    static char line[100000];
    const char *path = fuzz_file("", 0);
    size_t taken = 0;
    tarry__journal j = {.path = path,
                        .fields = fields,
                        .n_fields = sizeof fields / sizeof *fields,
                        .answer_size = sizeof(tarry__sim_outcome),
                        .context = &taken,
                        .take = take};
    must(tarry__journal_open(&j, heading(), NULL) == TARRY_OK);
    tarry__journal_close(&j);
    FILE *file = fopen(path, "r");
    must(file != NULL);
    *size = fread(line, 1, sizeof line, file);
    fclose(file);
    return line;
}

static size_t open_journal(const char *bytes, size_t size, size_t *dropped)
{
    size_t taken = 0;
    tarry_error error = {""};
    tarry__journal j = {.path = fuzz_file(bytes, size),
                        .fields = fields,
                        .n_fields = sizeof fields / sizeof *fields,
                        .answer_size = sizeof(tarry__sim_outcome),
                        .context = &taken,
                        .take = take};
    const tarry_status status = tarry__journal_open(&j, heading(), &error);
    must(status == TARRY_OK || error.text[0] != '\0');
    tarry__journal_close(&j);
    *dropped = j.n_dropped;
    return taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char first[100000];
    static size_t heading_size, n_dropped;
    if (heading_size == 0)
        memcpy(first, heading_line(&heading_size), sizeof first);
    char *bytes = NULL;
    size_t length = 0, lines = 0;
    FILE *out = open_memstream(&bytes, &length);
    must(out != NULL);
    fwrite(first, 1, heading_size, out);
    for (size_t at = 0; at < size; lines++) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        const size_t next = end != NULL ? (size_t)(end - data) : size;
        put_line(out, (const char *)data + at, next - at);
        if (end != NULL)
            fputc('\n', out);
        at = next + 1;
    }
    fclose(out);
    const size_t taken = open_journal(bytes, length, &n_dropped);
    must(taken + n_dropped <= lines);
    free(bytes);
    return 0;
}
