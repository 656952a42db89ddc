/* lines.h - a session as lines of text: one line in, its answer out.
 *
 * Lines are gathered in a group: their answers wait in a buffer until what they
 * staged is committed, and leave together.  When that fails, every line that
 * stood on what was lost is answered by `error store: ...`. */
#ifndef TARRY_SESSION_LINES_H
#define TARRY_SESSION_LINES_H

#include "session/session.h"

typedef struct tarry__session_lines tarry__session_lines;

typedef struct {
    bool json;      /* answers are JSON objects */
    bool by_number; /* arms are called by their numbers */
    /* Whether to end soon: a line that asks for many choices makes no more.
     * NULL: never. */
    bool (*is_ending)(void);
} tarry__session_lines_options;

/* The session must outlive it; NULL: out of memory. */
tarry__session_lines *
tarry__session_lines_create(tarry__session *session,
                            tarry__session_lines_options options);
void tarry__session_lines_free(tarry__session_lines *lines);

/* Takes one line, without its end, changes it, and adds its answer to the
 * group.  Answers whether to go on: false after `quit`. */
bool tarry__session_lines_take(tarry__session_lines *lines, char *line,
                               size_t length, int64_t now);

/* How many lines wait in the group. */
size_t tarry__session_lines_waiting(const tarry__session_lines *lines);

/* Commits the group and gives its answers, *size bytes, which live until the
 * next call; NULL: out of memory, and they are lost. */
const char *tarry__session_lines_finish(tarry__session_lines *lines,
                                        size_t *size);

#endif
