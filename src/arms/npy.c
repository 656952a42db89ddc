/* npy.c - reads arms from NumPy's .npy format.
 *
 *     bytes    content
 *     6        \x93NUMPY
 *     2        version, major and minor: 1.0, 2.0 or 3.0
 *     2 or 4   length of the header, little endian; 4 from version 2.0 on
 *     length   header, a Python dictionary in text:
 *              {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
 *              then spaces and a line end
 *     rest     the numbers, 3 * 4 of them, row by row
 *
 * NumPy pads the header so that the numbers are aligned; float64 numbers are
 * then used where the file is mapped.  The header is read strictly: the three
 * keys, once each, in any order, and nothing else. */
#include "arms/reader.h"
#include "base/base.h"

#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the data of '<f8' files is used in place");

enum { MAGIC_BYTES = 6, HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4 };

typedef struct {
    arm_file *file;
    tarry_error *error;
    const char *next, *header_end;
    const char *descr, *descr_end; /* '<f8', with its quotes */
    int is_fortran;
    size_t shape[2], n_dims; /* of more dimensions only the number is kept */
} npy;

int tarry__arms_is_npy(const source *from)
{
    return from->size >= MAGIC_BYTES &&
           memcmp(from->bytes, "\x93NUMPY", MAGIC_BYTES) == 0;
}

static tarry_status fail(const npy *r, const char *what)
{
    return tarry__base_fail(r->error, TARRY_BAD_INPUT, "%s: %s",
                            r->file->from.label, what);
}

/* ---- the header's text --------------------------------------------------- */

static tarry_status bad_header(const npy *r)
{
    return tarry__base_fail(
        r->error, TARRY_BAD_INPUT, "%s: the npy header is malformed at: '%s'",
        r->file->from.label, tarry__arms_show(r->next, r->header_end).text);
}

static void skip_space(npy *r)
{
    while (r->next < r->header_end && (*r->next == ' ' || *r->next == '\n'))
        r->next++;
}

/* Steps over `word` and the space before it, if it comes next. */
static int take(npy *r, const char *word)
{
    skip_space(r);
    const size_t length = strlen(word);
    if ((size_t)(r->header_end - r->next) < length ||
        memcmp(r->next, word, length) != 0)
        return 0;
    r->next += length;
    return 1;
}

static int take_descr(npy *r)
{
    skip_space(r);
    r->descr = r->next;
    if (!take(r, "'"))
        return 0;
    while (r->next < r->header_end && *r->next != '\'')
        r->next++;
    const int is_closed = take(r, "'");
    r->descr_end = r->next;
    return is_closed;
}

static int take_order(npy *r)
{
    r->is_fortran = take(r, "True");
    return r->is_fortran || take(r, "False");
}

static int take_size(npy *r, size_t *size)
{
    skip_space(r);
    const char *digits = r->next;
    *size = 0;
    for (; r->next < r->header_end && *r->next >= '0' && *r->next <= '9';
         r->next++)
        if (__builtin_mul_overflow(*size, 10, size) ||
            __builtin_add_overflow(*size, (size_t)(*r->next - '0'), size))
            return 0;
    return r->next > digits;
}

/* After an item of a list: a comma, or the bracket that closes the list. */
static int ends_item(npy *r, char bracket)
{
    return take(r, ",") || (r->next < r->header_end && *r->next == bracket);
}

/* "(3, 4)", or "(3,)" in one dimension. */
static int take_shape(npy *r)
{
    if (!take(r, "("))
        return 0;
    for (r->n_dims = 0; !take(r, ")"); r->n_dims++) {
        size_t size;
        if (!take_size(r, &size) || !ends_item(r, ')'))
            return 0;
        if (r->n_dims < 2)
            r->shape[r->n_dims] = size;
    }
    return 1;
}

/* One "key: value"; answers which key, or 0. */
static int take_entry(npy *r)
{
    if (take(r, "'descr'"))
        return take(r, ":") && take_descr(r) ? HAS_DESCR : 0;
    if (take(r, "'fortran_order'"))
        return take(r, ":") && take_order(r) ? HAS_ORDER : 0;
    if (take(r, "'shape'"))
        return take(r, ":") && take_shape(r) ? HAS_SHAPE : 0;
    return 0;
}

static tarry_status read_dictionary(npy *r)
{
    int seen = 0;
    if (!take(r, "{"))
        return bad_header(r);
    while (!take(r, "}")) {
        const int key = take_entry(r);
        if (key == 0 || (seen & key) != 0 || !ends_item(r, '}'))
            return bad_header(r);
        seen |= key;
    }
    skip_space(r);
    if (r->next < r->header_end)
        return bad_header(r);
    if (seen != (HAS_DESCR | HAS_ORDER | HAS_SHAPE))
        return fail(r, "the npy header lacks 'descr', 'fortran_order' or "
                       "'shape'");
    return TARRY_OK;
}

/* ---- from the first byte to the numbers ---------------------------------- */

static size_t little_endian(const char *bytes, size_t n)
{
    size_t value = 0;
    while (n-- > 0)
        value = value << 8 | (unsigned char)bytes[n];
    return value;
}

/* Finds where the header begins and ends. */
static tarry_status find_header(npy *r)
{
    const char *bytes = r->file->from.bytes;
    const size_t size = r->file->from.size, after_version = MAGIC_BYTES + 2;
    if (size < after_version)
        return fail(r, "the npy header is cut off");
    const int major = bytes[MAGIC_BYTES], minor = bytes[MAGIC_BYTES + 1];
    if (major < 1 || major > 3 || minor != 0)
        return tarry__base_fail(r->error, TARRY_BAD_INPUT,
                                "%s: npy version %d.%d is not 1.0, 2.0 or 3.0",
                                r->file->from.label, major & 255, minor & 255);
    const size_t length_bytes = major == 1 ? 2 : 4;
    const size_t start = after_version + length_bytes;
    if (size < start ||
        size - start < little_endian(bytes + after_version, length_bytes))
        return fail(r, "the npy header is cut off");
    r->next = bytes + start;
    r->header_end =
        r->next + little_endian(bytes + after_version, length_bytes);
    return TARRY_OK;
}

static int has_type(const npy *r, const char *quoted)
{
    const size_t length = (size_t)(r->descr_end - r->descr);
    return length == strlen(quoted) && memcmp(r->descr, quoted, length) == 0;
}

/* Numbers as NumPy stores them, and how they become doubles. */
typedef struct {
    const char *descr;
    size_t bytes;
    double (*value)(const char *item); /* NULL: it is one */
} item_type;

#define AS_DOUBLE(name, type)                                                  \
    static double name(const char *item)                                       \
    {                                                                          \
        type value;                                                            \
        memcpy(&value, item, sizeof value);                                    \
        return (double)value;                                                  \
    }
AS_DOUBLE(from_float, float)
AS_DOUBLE(from_int8, int8_t)
AS_DOUBLE(from_int16, int16_t)
AS_DOUBLE(from_int32, int32_t)
AS_DOUBLE(from_int64, int64_t)
AS_DOUBLE(from_uint8, uint8_t)
AS_DOUBLE(from_uint16, uint16_t)
AS_DOUBLE(from_uint32, uint32_t)
AS_DOUBLE(from_uint64, uint64_t)

static const item_type item_types[] = {
    {"'<f8'", 8, NULL},        {"'<f4'", 4, from_float},
    {"'|i1'", 1, from_int8},   {"'<i2'", 2, from_int16},
    {"'<i4'", 4, from_int32},  {"'<i8'", 8, from_int64},
    {"'|u1'", 1, from_uint8},  {"'<u2'", 2, from_uint16},
    {"'<u4'", 4, from_uint32}, {"'<u8'", 8, from_uint64},
    {"'|b1'", 1, from_uint8}};

static const item_type *type_of(const npy *r)
{
    for (size_t i = 0; i < sizeof item_types / sizeof *item_types; i++)
        if (has_type(r, item_types[i].descr))
            return &item_types[i];
    return NULL;
}

static tarry_status check_kind(npy *r)
{
    if (type_of(r) == NULL)
        return tarry__base_fail(
            r->error, TARRY_BAD_INPUT,
            "%s: numbers must be little-endian float64 '<f8', float32 '<f4', "
            "or "
            "whole numbers, not %s; NumPy's a.astype('<f8') converts",
            r->file->from.label, tarry__arms_show(r->descr, r->descr_end).text);
    if (r->n_dims == 1) { /* one number per row */
        r->n_dims = 2;
        r->shape[1] = 1;
    }
    if (r->n_dims != 2)
        return tarry__base_fail(
            r->error, TARRY_BAD_INPUT,
            "%s: the numbers must have 1 or 2 dimensions, not %zu",
            r->file->from.label, r->n_dims);
    if (r->shape[0] == 0 || r->shape[1] == 0)
        return tarry__base_fail(r->error, TARRY_BAD_INPUT,
                                "%s: the array is empty: shape (%zu, %zu)",
                                r->file->from.label, r->shape[0], r->shape[1]);
    return TARRY_OK;
}

/* The file must end with the last number. */
static tarry_status check_size(const npy *r, size_t item_bytes)
{
    const source *from = &r->file->from;
    const size_t has = (size_t)(from->bytes + from->size - r->header_end);
    size_t needs;
    if (__builtin_mul_overflow(r->shape[0], r->shape[1], &needs) ||
        __builtin_mul_overflow(needs, item_bytes, &needs))
        return tarry__base_fail(r->error, TARRY_BAD_INPUT,
                                "%s: shape (%zu, %zu) is too large",
                                from->label, r->shape[0], r->shape[1]);
    if (has != needs)
        return tarry__base_fail(
            r->error, TARRY_BAD_INPUT,
            "%s: %s: shape (%zu, %zu) needs %zu bytes of data, "
            "not %zu",
            from->label, has < needs ? "cut off" : "too long", r->shape[0],
            r->shape[1], needs, has);
    return TARRY_OK;
}

static int is_aligned(const void *data)
{
    return (uintptr_t)data % _Alignof(double) == 0;
}

/* Copies the numbers, arm by arm; in Fortran order a file has them feature by
 * feature. */
static void convert(const npy *r, const item_type *type, double *out)
{
    const size_t K = r->file->arms.n_arms, n = r->file->arms.dim;
    for (size_t k = 0; k < K; k++)
        for (size_t i = 0; i < n; i++) {
            const size_t place = r->is_fortran ? i * K + k : k * n + i;
            const char *item = r->header_end + place * type->bytes;
            if (type->value != NULL)
                *out++ = type->value(item);
            else
                memcpy(out++, item, sizeof *out);
        }
}

/* Sets arms.data: in place if it can be, else a copy. */
static tarry_status place_values(npy *r)
{
    tarry_arms *arms = &r->file->arms;
    const item_type *type = type_of(r);
    if (type->value == NULL && !r->is_fortran && is_aligned(r->header_end)) {
        arms->data = (const double *)(const void *)r->header_end;
        return TARRY_OK;
    }
    double *values =
        tarry__base_alloc(arms->n_arms * arms->dim, sizeof *values);
    if (values == NULL)
        return tarry__base_fail(r->error, TARRY_NO_MEMORY, "%s: out of memory",
                                r->file->from.label);
    convert(r, type, values);
    arms->data = r->file->values = values;
    return TARRY_OK;
}

/* Whether NaN or infinity is among x: their exponent is all ones, and adding
 * one to it reaches the top bit.  Plain integer steps, made for vectors. */
static int has_not_finite(const double *x, size_t n)
{
    const uint64_t exponent = (uint64_t)0x7FF << 52, one = (uint64_t)1 << 52;
    uint64_t any = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, x + i, sizeof bits);
        any |= (bits & exponent) + one;
    }
    return (int)(any >> 63);
}

static tarry_status check_finite(const npy *r)
{
    const tarry_arms *arms = &r->file->arms;
    for (size_t k = 0; k < arms->n_arms; k++) {
        const double *arm = arms->data + k * arms->dim;
        if (!has_not_finite(arm, arms->dim))
            continue;
        size_t i = 0;
        while (!has_not_finite(arm + i, 1))
            i++;
        return tarry__base_fail(
            r->error, TARRY_NOT_FINITE,
            "%s: row %zu, column %zu, counted from 0: not a "
            "finite number: '%g'",
            r->file->from.label, k, i, arm[i]);
    }
    return TARRY_OK;
}

tarry_status tarry__arms_npy_read(arm_file *file, tarry_error *error)
{
    npy r = {.file = file, .error = error};
    tarry_status status = find_header(&r);
    if (status == TARRY_OK)
        status = read_dictionary(&r);
    if (status == TARRY_OK)
        status = check_kind(&r);
    if (status == TARRY_OK)
        status = check_size(&r, type_of(&r)->bytes);
    if (status != TARRY_OK)
        return status;
    file->arms.n_arms = r.shape[0];
    file->arms.dim = r.shape[1];
    status = place_values(&r);
    return status == TARRY_OK ? check_finite(&r) : status;
}
