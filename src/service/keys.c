/* keys.c - see keys.h. */
#define _GNU_SOURCE
#include "service/keys.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include "base/base.h"
#include "base/input.h"
#include "base/sha256.h"
#include "service/service.h"

enum { MOST_BYTES = 16 << 20 };

typedef struct {
    unsigned char digest[TARRY__SHA256_SIZE];
    int scopes;
} entry;

struct tarry__keys {
    entry *entry;
    size_t count, room;
};

static const char *const names[] = {"decide", "feedback", "read", "admin"};

const char *tarry__keys_scope_name(int scope)
{
    int i = 0;
    while (i < 3 && scope != 1 << i)
        i++;
    return names[i];
}

int tarry__keys_parse_scopes(const char *text)
{
    int scopes = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        int i = 0;
        while (i < 4 && (strncmp(at, names[i], length) != 0 ||
                         strlen(names[i]) != length))
            i++;
        if (i == 4)
            return 0;
        scopes |= 1 << i;
        at += length;
        if (*at == '\0')
            return scopes;
    }
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool read_digest(const char *hex, unsigned char *digest)
{
    if (strlen(hex) != 2 * TARRY__SHA256_SIZE)
        return false;
    for (size_t i = 0; i < TARRY__SHA256_SIZE; i++) {
        const int high = hex_value(hex[2 * i]), low = hex_value(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        digest[i] = (unsigned char)(16 * high + low);
    }
    return true;
}

static tarry_status add(tarry__keys *t, const entry *e, tarry_error *error)
{
    if (t->count == t->room) {
        const size_t room = 2 * t->room + 8;
        entry *bigger =
            tarry__base_grow(t->entry, t->count, room, sizeof *t->entry);
        if (bigger == NULL)
            return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
        t->entry = bigger;
        t->room = room;
    }
    t->entry[t->count++] = *e;
    return TARRY_OK;
}

static tarry_status read_line(tarry__keys *t, char *line, char *end,
                              const char *path, size_t number,
                              tarry_error *error)
{
    entry e;
    char *rest;
    *end = '\0';
    line[strcspn(line, "#\r")] = '\0';
    const char *hex = strtok_r(line, " \t", &rest);
    if (hex == NULL)
        return TARRY_OK;
    const char *scopes = strtok_r(NULL, " \t", &rest);
    if (!read_digest(hex, e.digest))
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s:%zu: not a SHA-256 in hex (a token itself "
                                "does not belong here)",
                                path, number);
    e.scopes = scopes != NULL ? tarry__keys_parse_scopes(scopes) : 0;
    if (e.scopes == 0)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s:%zu: not scopes (decide, feedback, read, "
                                "admin, with commas between): '%s'",
                                path, number, scopes != NULL ? scopes : "");
    return add(t, &e, error);
}

/* A pipe could keep the service waiting, and a device need not end. */
static tarry_status check_file(const char *path, tarry_error *error)
{
    struct stat what;
    if (stat(path, &what) != 0 || S_ISDIR(what.st_mode))
        return TARRY_OK; /* to open it tells why not */
    if (!S_ISREG(what.st_mode) || what.st_size > MOST_BYTES)
        return tarry__base_fail(error, TARRY_BAD_INPUT,
                                "%s: not a file, or larger than 16 MB", path);
    return TARRY_OK;
}

tarry_status tarry__keys_read(const char *path, tarry__keys **out,
                              tarry_error *error)
{
    char *text;
    size_t size, number = 0;
    *out = NULL;
    if (check_file(path, error) != TARRY_OK)
        return TARRY_BAD_INPUT;
    tarry_status status = tarry__input_read(path, &text, &size, error);
    tarry__keys *t =
        status == TARRY_OK ? tarry__base_zalloc(1, sizeof *t) : NULL;
    if (status == TARRY_OK && t == NULL)
        status = tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    char *end;
    for (char *line = text; status == TARRY_OK && line < text + size;
         line = end + 1) {
        end = line + strcspn(line, "\n");
        number++;
        status = *end == '\0' && end < text + size
                     ? tarry__base_fail(error, TARRY_BAD_INPUT,
                                        "%s:%zu: a zero byte", path, number)
                     : read_line(t, line, end, path, number, error);
    }
    tarry__base_free(text);
    if (status == TARRY_OK)
        *out = t;
    else
        tarry__keys_free(t);
    return status;
}

void tarry__keys_free(tarry__keys *t)
{
    if (t != NULL)
        tarry__base_free(t->entry);
    tarry__base_free(t);
}

int tarry__keys_find(const tarry__keys *t, const unsigned char digest[32])
{
    int scopes = -1;
    for (size_t i = 0; i < t->count; i++) {
        unsigned difference = 0;
        for (size_t j = 0; j < TARRY__SHA256_SIZE; j++)
            difference |= (unsigned)(digest[j] ^ t->entry[i].digest[j]);
        const int mask = (int)((difference - 1) >> 8 & 1); /* 1: the same */
        scopes = mask * t->entry[i].scopes + (1 - mask) * scopes;
    }
    return scopes;
}

int tarry__keys_scopes(const tarry__keys *t, const char *token)
{
    unsigned char digest[TARRY__SHA256_SIZE];
    tarry__sha256(token, strlen(token), digest);
    return tarry__keys_find(t, digest);
}

static void write_hex(const unsigned char *bytes, size_t size, char *out)
{
    for (size_t i = 0; i < size; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

tarry_status tarry__keys_make(char token[TARRY__KEYS_ROOM],
                              char digest[TARRY__KEYS_ROOM], tarry_error *error)
{
    static const char prefix[] = "tarry_";
    unsigned char bytes[32], sum[TARRY__SHA256_SIZE];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return tarry__base_fail(error, TARRY_IO_ERROR, "random bytes: %s",
                                strerror(errno));
    strcpy(token, prefix);
    write_hex(bytes, sizeof bytes, token + strlen(prefix));
    tarry__sha256(token, strlen(token), sum);
    write_hex(sum, sizeof sum, digest);
    return TARRY_OK;
}
