/* age.c - see age.h. */
#include "base/age.h"

#include <math.h>
#include <string.h>
#include "base/number.h"

static const double MOST_MS = 1e15; /* more than 30 000 years: for ever */

bool tarry__age_parse(const char *text, tarry__age *age)
{
    static const struct {
        const char *unit;
        double ms;
    } units[] = {{"", 1e3},     {"ms", 1},     {"s", 1e3},     {"min", 60e3},
                 {"m", 60e3},   {"h", 3600e3}, {"d", 86400e3}, {"w", 604800e3},
                 {"rounds", 0}, {"round", 0},  {"r", 0}};
    const char *end = text + strlen(text);
    double number;
    *age = (tarry__age){0};
    if (text == end)
        return true;
    const char *unit = tarry__number_read(text, end, &number);
    if (unit == NULL || !(number > 0 && number < 1e12))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].unit) != 0)
            continue;
        if (units[i].ms > 0)
            age->ms = (int64_t)fmin(ceil(number * units[i].ms), MOST_MS);
        else
            age->rounds = (uint64_t)number;
        return units[i].ms > 0 || (double)age->rounds == number;
    }
    return false;
}
