/* age.h - "3d", "90min", "45s", "1.5h", "1000rounds", "500r": how old is too
 * old. */
#ifndef TARRY_BASE_AGE_H
#define TARRY_BASE_AGE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t ms;      /* by the clock; 0: no such age */
    uint64_t rounds; /* 0: no such age */
} tarry__age;

/* A number and ms, s, min, h, d, w, rounds or r; a number alone is in seconds;
 * "" is no age.  False: none of these, or not above zero. */
bool tarry__age_parse(const char *text, tarry__age *age);

#endif
