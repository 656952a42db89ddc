/* fuzz_journal.c - journals of trials whose digests always fit.
 *
 * Each line of the input is one of the journal without its digest; the first
 * line comes before them.  A line that begins with ! goes in as it is. */
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

static void take(void *context, size_t c, size_t run, const void *answer)
{
    const tarry__sim_outcome *o = answer;
    *(size_t *)context += 1;
    must(!(o->regret != o->regret));
    (void)run;
    must(c < 2);
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

/* As a journal writes it. */
static const char first[] = "\"journal\":\"tarry trials 2\"}\n";

static size_t open_journal(const char *bytes, size_t size, size_t *dropped)
{
    size_t taken = 0;
    tarry_error error = {""};
    tarry__journal_case cases[2] = {{.key = 0, .words = "zero"},
                                    {.key = 1, .words = "one"}};
    tarry__journal j = {.path = fuzz_file(bytes, size),
                        .fields = fields,
                        .n_fields = sizeof fields / sizeof *fields,
                        .answer_size = sizeof(tarry__sim_outcome),
                        .cases = cases,
                        .n_cases = 2,
                        .context = &taken,
                        .take = take};
    must(tarry__journal_open(&j, &error) == TARRY_OK);
    tarry__journal_close(&j);
    *dropped = j.n_dropped;
    return taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n_dropped;
    char *bytes = NULL;
    size_t length = 0, lines = 0;
    FILE *out = open_memstream(&bytes, &length);
    must(out != NULL);
    put_line(out, first, sizeof first - 2);
    fputc('\n', out);
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
