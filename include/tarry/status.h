/* status.h - what can go wrong, in one list.
 *
 * What can fail returns a tarry_status; TARRY_OK is 0.  The library never
 * prints and never ends the process. */
#ifndef TARRY_STATUS_H
#define TARRY_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#define TARRY_API __attribute__((visibility("default")))

/* One line per status: code, text for people. */
#define TARRY_STATUS_LIST(X)                                                   \
    X(OK, "ok")                                                                \
    X(NO_MEMORY, "out of memory")                                              \
    X(BAD_ARGUMENT, "bad argument")                                            \
    X(BAD_INPUT, "malformed input")                                            \
    X(IO_ERROR, "input or output failed")                                      \
    X(NOT_FINITE, "a value is not a finite number")                            \
    X(TARGET_NOT_MET, "the target could not be met")                           \
    X(CANCELLED, "cancelled")                                                  \
    X(LATE, "feedback of an earlier phase: counted, not used")                 \
    X(UNKNOWN_ROUND, "no such round has been chosen")                          \
    X(REPORTED_TWICE, "this round has been reported already")                  \
    X(BAD_LOSS, "the loss is not a number in range")                           \
    X(HORIZON_REACHED, "the horizon is reached")                               \
    X(BAD_STATE, "not a saved state, or damaged")                              \
    X(EXPIRED, "feedback of a round that had been given up: taken in")         \
    X(NO_SUCH_ARM, "no such arm is available")                                 \
    X(CORRECTED, "feedback that replaces the default outcome: taken in")

typedef enum {
#define TARRY_STATUS_CODE(code, text) TARRY_##code,
    TARRY_STATUS_LIST(TARRY_STATUS_CODE)
#undef TARRY_STATUS_CODE
} tarry_status;

/* The name ("NO_MEMORY") and the sentence of a status; any value will do. */
TARRY_API const char *tarry_status_name(tarry_status status);
TARRY_API const char *tarry_status_text(tarry_status status);

/* Room for one line that says what is wrong with some input: file, line,
 * column and value where they apply.  Functions that take a tarry_error fill
 * it when they fail and leave it alone otherwise; NULL is fine. */
typedef struct {
    char text[512];
} tarry_error;

#ifdef __cplusplus
}
#endif
#endif
