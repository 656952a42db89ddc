/* csv.c - reads arms from text whose fields are separated by commas (or
 * semicolons or tabs, if the first line says so).
 *
 * The first line fixes the number of columns.  It is a header if its fields
 * after the first are words, so that a slip of the pen among numbers is an
 * error and not a header.  The first line of numbers then tells whether the
 * first column holds names.  From there on a line is read in one go: numbers
 * straight into their final place, whose size is known from a count of line
 * ends.  Only when a number does not end at a comma or the line's end does
 * anyone look for where the field ends, to say what is wrong with it.
 *
 * A double quote toggles whether commas count, so "" inside quotes passes
 * through; whether the quotes make sense is checked where text is used.
 * Quotes never reach across lines. */
#include "base/number.h"
#include "arms/reader.h"
#include "base/base.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <strings.h>

typedef struct {
    arm_file *file;
    tarry_error *error;
    const char *next, *end;      /* what has not been read yet */
    const char *line, *line_end; /* the line at hand, blanks cut at its start */
    size_t line_number;          /* from 1 */
    size_t width;                /* fields per line */
    char separator;              /* of fields: a comma, semicolon or tab */
    int has_names;
    size_t n_values, value_room;
    size_t name_bytes, name_room;
} csv;

/* One field of the line at hand, blanks around it cut off. */
typedef struct {
    const char *begin, *end;
} field;

/* ---- errors -------------------------------------------------------------- */

static tarry_status fail_at(const csv *r, size_t column, tarry_status status,
                            const char *what, field value)
{
    return tarry__base_fail(r->error, status, "%s:%zu:%zu: %s: '%s'",
                            r->file->from.label, r->line_number, column, what,
                            tarry__arms_show(value.begin, value.end).text);
}

static tarry_status fail_file(const csv *r, tarry_status status,
                              const char *what)
{
    return tarry__base_fail(r->error, status, "%s: %s", r->file->from.label,
                            what);
}

/* ---- lines and fields ---------------------------------------------------- */

static int is_blank(const csv *r, char c)
{
    return (c == ' ' || c == '\t') && c != r->separator;
}

static const char *skip_blanks(const csv *r, const char *p, const char *end)
{
    while (p < end && is_blank(r, *p))
        p++;
    return p;
}

static int rest_is_blank(const csv *r)
{
    const char *p = r->next;
    while (p < r->end && (*p == '\n' || *p == '\r' || *p == ' ' || *p == '\t'))
        p++;
    return p == r->end;
}

/* Steps to the next line.  Stays and answers 0 if only empty ones are left. */
static int next_line(csv *r)
{
    if (rest_is_blank(r))
        return 0;
    const char *newline = memchr(r->next, '\n', (size_t)(r->end - r->next));
    r->line_end = newline != NULL ? newline : r->end;
    if (r->line_end > r->next && r->line_end[-1] == '\r')
        r->line_end--;
    r->line = skip_blanks(r, r->next, r->line_end);
    r->line_number++;
    r->next = newline != NULL ? newline + 1 : r->end;
    return 1;
}

/* The field at *p of the line at hand.  Moves *p to the next field, or makes
 * it NULL after the last. */
static field next_field(const csv *r, const char **p)
{
    const char *stop = skip_blanks(r, *p, r->line_end);
    field f = {.begin = stop};
    int is_quoted = 0;
    for (; stop < r->line_end && (is_quoted || *stop != r->separator); stop++)
        is_quoted ^= *stop == '"';
    *p = stop < r->line_end ? stop + 1 : NULL;
    for (f.end = stop; f.end > f.begin; f.end--)
        if (!is_blank(r, f.end[-1]))
            break;
    return f;
}

static field first_field(const csv *r)
{
    const char *p = r->line;
    return next_field(r, &p);
}

static size_t count_fields(const csv *r)
{
    size_t n = 0;
    for (const char *p = r->line; p != NULL; n++)
        next_field(r, &p);
    return n;
}

/* Numbers that are not finite are numbers here. */
static int is_number(field f)
{
    double value;
    return tarry__number_read(f.begin, f.end, &value) == f.end ||
           tarry__number_is_word(f.begin, f.end);
}

static int is_empty(field f)
{
    return f.begin == f.end;
}

/* ---- text: headers and names --------------------------------------------- */

/* A quoted field has its quotes at its ends, and inside it only pairs. */
static int has_good_quotes(field f)
{
    if (*f.begin != '"')
        return memchr(f.begin, '"', (size_t)(f.end - f.begin)) == NULL;
    for (const char *p = f.begin + 1; p < f.end; p++) {
        if (*p != '"')
            continue;
        if (p + 1 == f.end)
            return 1;
        if (*++p != '"')
            return 0;
    }
    return 0;
}

static tarry_status check_text(const csv *r, field f, size_t column)
{
    if (is_empty(f))
        return fail_at(r, column, TARRY_BAD_INPUT, "empty field", f);
    if (memchr(f.begin, '\0', (size_t)(f.end - f.begin)) != NULL)
        return fail_at(r, column, TARRY_BAD_INPUT, "NUL byte in text", f);
    if (!has_good_quotes(f))
        return fail_at(r, column, TARRY_BAD_INPUT, "misplaced quote", f);
    return TARRY_OK;
}

static tarry_status check_header(const csv *r)
{
    tarry_status status = TARRY_OK;
    const char *p = r->line;
    for (size_t column = 1; p != NULL && status == TARRY_OK; column++) {
        const field f = next_field(r, &p);
        if (!is_empty(f)) /* a column without a title is fine */
            status = check_text(r, f, column);
    }
    return status;
}

/* Room for `bytes` more of names. */
static tarry_status reserve_names(csv *r, size_t bytes)
{
    if (bytes <= r->name_room - r->name_bytes)
        return TARRY_OK;
    const size_t room = 2 * (r->name_room + bytes);
    char *bigger = tarry__base_grow(r->file->name_text, r->name_bytes, room, 1);
    if (bigger == NULL)
        return fail_file(r, TARRY_NO_MEMORY, "out of memory");
    r->file->name_text = bigger;
    r->name_room = room;
    return TARRY_OK;
}

/* Appends a name and its NUL; without the quotes if it has them. */
static void append_name(csv *r, field f)
{
    char *out = r->file->name_text + r->name_bytes;
    const int is_quoted = *f.begin == '"';
    for (const char *p = f.begin + is_quoted; p < f.end - is_quoted; p++) {
        *out++ = *p;
        p += *p == '"'; /* the second of a pair */
    }
    *out++ = '\0';
    r->name_bytes = (size_t)(out - r->file->name_text);
}

static tarry_status read_name(csv *r, const char **p)
{
    const field f = next_field(r, p);
    tarry_status status = check_text(r, f, 1);
    if (status == TARRY_OK)
        status = reserve_names(r, (size_t)(f.end - f.begin) + 1);
    if (status == TARRY_OK)
        append_name(r, f);
    return status;
}

/* ---- arms ---------------------------------------------------------------- */

static tarry_status bad_number(const csv *r, const char *p, size_t column)
{
    const field f = next_field(r, &p);
    double value;
    if (is_empty(f))
        return fail_at(r, column, TARRY_BAD_INPUT, "empty field", f);
    if (tarry__number_is_word(f.begin, f.end))
        return fail_at(r, column, TARRY_NOT_FINITE, "not a finite number", f);
    if (tarry__number_read(f.begin, f.end, &value) == f.end)
        return fail_at(r, column, TARRY_NOT_FINITE, "too large a number", f);
    return fail_at(r, column, TARRY_BAD_INPUT, "not a number", f);
}

static tarry_status bad_width(const csv *r)
{
    const size_t found = count_fields(r);
    return tarry__base_fail(
        r->error, TARRY_BAD_INPUT,
        "%s:%zu:%zu: the number of columns is %zu, in the first "
        "line it is %zu: '%s'",
        r->file->from.label, r->line_number, found, found, r->width,
        tarry__arms_show(r->line, r->line_end).text);
}

/* Reads the numbers of the line from p, which is in the given column. */
static tarry_status read_numbers(csv *r, const char *p, size_t column)
{
    const char *const end = r->line_end;
    double value;
    for (;; column++) {
        const char *text = skip_blanks(r, p, end);
        p = tarry__number_read(text, end, &value);
        if (p == NULL)
            return bad_number(r, text, column);
        p = skip_blanks(r, p, end);
        if ((p < end && *p != r->separator) || !isfinite(value))
            return bad_number(r, text, column);
        assert(r->n_values < r->value_room);
        r->file->values[r->n_values++] = value;
        if (p == end || column == r->width)
            break;
        p++;
    }
    return p == end && column == r->width ? TARRY_OK : bad_width(r);
}

static tarry_status read_arm(csv *r)
{
    const char *p = r->line;
    if (p == r->line_end)
        return fail_at(r, 1, TARRY_BAD_INPUT, "empty line", (field){p, p});
    if (!r->has_names)
        return read_numbers(r, p, 1);
    const tarry_status status = read_name(r, &p);
    if (status != TARRY_OK)
        return status;
    return p != NULL ? read_numbers(r, p, 2) : bad_width(r);
}

/* ---- the file ------------------------------------------------------------ */

/* Words after the first column and no number; in a single column, a word. */
static int is_header(const csv *r)
{
    const char *p = r->line;
    int has_word = 0;
    if (r->width > 1)
        next_field(r, &p);
    while (p != NULL) {
        const field f = next_field(r, &p);
        if (is_number(f))
            return 0;
        has_word |= !is_empty(f);
    }
    return has_word;
}

static int has(const csv *r, char c)
{
    return memchr(r->line, c, (size_t)(r->line_end - r->line)) != NULL;
}

/* A tab with something behind it. */
static int has_inner_tab(const csv *r)
{
    const char *end = r->line_end;
    while (end > r->line && is_blank(r, end[-1]))
        end--;
    return memchr(r->line, '\t', (size_t)(end - r->line)) != NULL;
}

/* Commas, unless the first line has none and others instead. */
static void find_separator(csv *r)
{
    if (has(r, ','))
        return;
    if (has(r, ';'))
        r->separator = ';';
    else if (has_inner_tab(r))
        r->separator = '\t';
}

/* Whether the first column's title says that it holds names. */
static int is_named(const csv *r)
{
    static const char *const titles[] = {"id", "name"};
    const field f = first_field(r);
    const size_t length = (size_t)(f.end - f.begin);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strlen(titles[i]) == length &&
            strncasecmp(f.begin, titles[i], length) == 0)
            return r->width > 1;
    return 0;
}

/* Learns the columns from the first line or two, and leaves the first arm's
 * line at hand. */
static tarry_status read_layout(csv *r)
{
    if (!next_line(r))
        return fail_file(r, TARRY_BAD_INPUT, "the file is empty");
    find_separator(r);
    r->width = count_fields(r);
    if (is_header(r)) {
        r->has_names = is_named(r);
        const tarry_status status = check_header(r);
        if (status != TARRY_OK)
            return status;
        if (!next_line(r))
            return fail_at(r, 1, TARRY_BAD_INPUT, "a header without arms",
                           (field){r->line, r->line_end});
    }
    r->has_names |= r->width > 1 && !is_number(first_field(r));
    return TARRY_OK;
}

static size_t count_lines(const csv *r)
{
    const char *p = r->line;
    size_t n = 1;
    for (; (p = memchr(p, '\n', (size_t)(r->end - p))) != NULL; p++)
        n++;
    return n;
}

/* Takes memory for the values.  There are no more than lines times columns,
 * and, as each has a digit and a comma or line end, none without two bytes;
 * this bounds what a file of one wide line and many short ones can ask for. */
static tarry_status take_values(csv *r)
{
    const size_t dim = r->width - (size_t)r->has_names;
    const size_t most = ((size_t)(r->end - r->line) + 1) / 2;
    if (__builtin_mul_overflow(count_lines(r), dim, &r->value_room) ||
        r->value_room > most)
        r->value_room = most;
    r->file->values = tarry__base_alloc(r->value_room, sizeof(double));
    if (r->file->values == NULL)
        return fail_file(r, TARRY_NO_MEMORY, "out of memory");
    r->file->arms.dim = dim;
    return TARRY_OK;
}

static tarry_status read_arms(csv *r)
{
    tarry_status status;
    do
        status = read_arm(r);
    while (status == TARRY_OK && next_line(r));
    r->file->arms.n_arms = r->n_values / r->file->arms.dim;
    r->file->arms.data = r->file->values;
    return status;
}

/* Points names[k] at the k-th name of the block. */
static tarry_status point_at_names(csv *r)
{
    tarry_arms *arms = &r->file->arms;
    arms->names = tarry__base_alloc(arms->n_arms, sizeof *arms->names);
    if (arms->names == NULL)
        return fail_file(r, TARRY_NO_MEMORY, "out of memory");
    const char *name = r->file->name_text;
    for (size_t k = 0; k < arms->n_arms; k++) {
        arms->names[k] = name;
        name += strlen(name) + 1;
    }
    return TARRY_OK;
}

static void skip_byte_order_mark(csv *r)
{
    if (r->end - r->next >= 3 && memcmp(r->next, "\xEF\xBB\xBF", 3) == 0)
        r->next += 3;
}

tarry_status tarry__arms_csv_read(arm_file *file, tarry_error *error)
{
    csv r = {.file = file,
             .separator = ',',
             .error = error,
             .next = file->from.bytes,
             .end = file->from.bytes + file->from.size};
    skip_byte_order_mark(&r);
    tarry_status status = read_layout(&r);
    if (status == TARRY_OK)
        status = take_values(&r);
    if (status == TARRY_OK)
        status = read_arms(&r);
    if (status == TARRY_OK && r.has_names)
        status = point_at_names(&r);
    return status;
}
