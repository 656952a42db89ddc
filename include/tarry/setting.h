/* setting.h - what can be set about a policy or a part of a world.
 *
 * Policies, instances, losses, delays and adversaries are described as
 * "name:key=value,key=value"; each lists its keys as settings. */
#ifndef TARRY_SETTING_H
#define TARRY_SETTING_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    TARRY_SETTING_TEXT,   /* a file's name, or as its help says */
    TARRY_SETTING_REAL,   /* a number */
    TARRY_SETTING_COUNT,  /* a whole number; 1e6 is fine */
    TARRY_SETTING_CHOICE, /* one of some words */
} tarry_setting_kind;

typedef struct {
    const char *key;
    const char *value; /* the default as text; NULL: must be given; "": what
                          happens without it is said in the help */
    const char *help;
    tarry_setting_kind kind;
    double least, most;  /* of a number, both included */
    const char *choices; /* the words, separated by | */
} tarry_setting;         /* a list of them ends with key NULL */

#ifdef __cplusplus
}
#endif
#endif
