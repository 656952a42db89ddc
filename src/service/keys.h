/* keys.h - who may do what.
 *
 * A file of tokens has a line for each: the SHA-256 of the token in hex, its
 * scopes (decide, feedback, read, admin; with commas between), and perhaps a
 * note; # begins a comment.  A token is 32 random bytes, so its digest need not
 * be slow. */
#ifndef TARRY_SERVICE_KEYS_H
#define TARRY_SERVICE_KEYS_H

#include "tarry/status.h"

typedef struct tarry__keys tarry__keys;

/* TARRY_IO_ERROR; TARRY_BAD_INPUT: `error` names the line, or it is no regular
 * file of at most 16 MB. */
tarry_status tarry__keys_read(const char *path, tarry__keys **out,
                              tarry_error *error);
void tarry__keys_free(tarry__keys *tokens);

/* The scopes of a token, or -1: unknown.  Takes the same time for every token
 * of a length. */
int tarry__keys_scopes(const tarry__keys *tokens, const char *token);

/* The same for the SHA-256 of a token. */
int tarry__keys_find(const tarry__keys *tokens, const unsigned char digest[32]);

/* Scopes by their names with commas between; 0: not understood. */
int tarry__keys_parse_scopes(const char *text);

/* The name of one scope. */
const char *tarry__keys_scope_name(int scope);

/* A new token, and its digest in hex. */
enum { TARRY__KEYS_ROOM = 80 };
tarry_status tarry__keys_make(char token[TARRY__KEYS_ROOM],
                              char digest[TARRY__KEYS_ROOM],
                              tarry_error *error);

#endif
