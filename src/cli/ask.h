/* ask.h - the parts of `tarry ask`. */
#ifndef TARRY_CLI_ASK_H
#define TARRY_CLI_ASK_H

#include <jansson.h>
#include "cli/cli.h"
#include "http/client.h"

enum { ASK_MOST_WORDS = 4096 };

typedef struct {
    const char *words[ASK_MOST_WORDS]; /* URL, what, and more */
    size_t n_words;
    bool json, maximize;
    const char *id, *token;
    const char *arms, *policy, *expire_after, *intercept,
        *default_outcome; /* of create */
    cli_range range;
    uint64_t horizon, seed, threads, retries;
    double confidence, timeout;
    tarry__client_url url;
} ask_arguments;

/* Asks until there is an answer; `again`: also after one was lost.  EXIT_DONE:
 * a success, and the caller ends answer->body. */
int ask_service(const ask_arguments *a, tarry__client_request r, bool again,
                tarry__client_answer *answer);

/* Asks and reads the JSON of the answer; with --json it is printed, and *out
 * is NULL.  Takes the body over. */
int ask_json(const ask_arguments *a, const char *method, const char *path,
             json_t *body, bool again, json_t **out);

/* Pairs ID NUMBER, or "-" for lines of them.  The exit code is that of the
 * first that failed. */
int ask_observe(const ask_arguments *a, const char *const *words, size_t n);
int ask_reward(const ask_arguments *a, const char *const *words, size_t n);

#endif
