/* text.c - see text.h. */
#include "log/text.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include "base/number.h"

bool tarry__text_is(tarry__text t, const char *word)
{
    const char *c = t.begin;
    for (; c < t.end && *word != '\0'; c++, word++)
        if (tolower((unsigned char)*c) != tolower((unsigned char)*word))
            return false;
    return c == t.end && *word == '\0';
}

tarry__text tarry__text_trim(tarry__text t)
{
    while (t.begin < t.end && (*t.begin == ' ' || *t.begin == '\t'))
        t.begin++;
    while (t.begin < t.end && (t.end[-1] == ' ' || t.end[-1] == '\t'))
        t.end--;
    return t;
}

bool tarry__text_is_empty(tarry__text t)
{
    static const char *const words[] = {"null", "none", "nan", "na",
                                        "nat",  "<na>", "\\N", "-"};
    if (t.begin == t.end)
        return true;
    if (tarry__text_size(t) > 4)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (tarry__text_is(t, words[i]))
            return true;
    return false;
}

bool tarry__text_number(tarry__text t, double *value)
{
    return t.begin != NULL &&
           tarry__number_read(t.begin, t.end, value) == t.end &&
           isfinite(*value);
}

/* ---- times ----------------------------------------------------------------*/

/* Exactly `digits` digits; NULL if they are not there. */
static const char *read_digits(const char *at, const char *end, int digits,
                               int *value)
{
    *value = 0;
    for (int i = 0; i < digits; i++, at++) {
        if (at == NULL || at == end || !isdigit((unsigned char)*at))
            return NULL;
        *value = 10 * *value + (*at - '0');
    }
    return at;
}

static const char *skip(const char *at, const char *end, char c)
{
    return at != NULL && at < end && *at == c ? at + 1 : NULL;
}

/* Days since 1970-01-01 of a date in the Gregorian calendar: years begin in
 * March, so that the leap day is their last. */
static int64_t days_of(int year, int month, int day)
{
    const int64_t y = month > 2 ? year : year - 1;
    const int64_t era = (y >= 0 ? y : y - 399) / 400, in_era = y - era * 400;
    const int64_t in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year -
           719468;
}

static int days_in(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static const char *read_date(const char *at, const char *end, double *seconds)
{
    int year, month, day;
    at = skip(read_digits(at, end, 4, &year), end, '-');
    at = skip(read_digits(at, end, 2, &month), end, '-');
    at = read_digits(at, end, 2, &day);
    if (at == NULL || month < 1 || month > 12 || day < 1 ||
        day > days_in(year, month))
        return NULL;
    *seconds = 86400.0 * (double)days_of(year, month, day);
    return at;
}

/* ":SS.fff", if it is there. */
static const char *read_seconds(const char *at, const char *end,
                                double *seconds)
{
    if (at == end || *at != ':')
        return at;
    at++;
    if (end - at < 2 || !isdigit((unsigned char)at[0]) ||
        !isdigit((unsigned char)at[1]))
        return NULL;
    const char *stop = at;
    while (stop < end && (isdigit((unsigned char)*stop) || *stop == '.'))
        stop++;
    return tarry__number_read(at, stop, seconds) == stop && *seconds < 61
               ? stop
               : NULL;
}

/* Adds hours and minutes to the whole; the seconds stay for themselves. */
static const char *read_clock(const char *at, const char *end, double *whole,
                              double *seconds)
{
    int hours, minutes;
    at = skip(read_digits(at, end, 2, &hours), end, ':');
    at = read_digits(at, end, 2, &minutes);
    if (at == NULL || hours > 24 || minutes > 59)
        return NULL;
    *whole += 3600.0 * hours + 60.0 * minutes;
    at = read_seconds(at, end, seconds);
    return hours < 24 || (minutes == 0 && *seconds == 0) ? at : NULL;
}

/* "Z", "+02:00", "-0130", "+02" or nothing. */
static const char *read_zone(const char *at, const char *end, double *whole)
{
    int hours, minutes = 0;
    if (at == end)
        return at;
    if (*at == 'Z' || *at == 'z')
        return at + 1;
    if (*at != '+' && *at != '-')
        return NULL;
    const int sign = *at == '-' ? 1 : -1;
    at = read_digits(at + 1, end, 2, &hours);
    if (at != NULL && at < end)
        at = read_digits(*at == ':' ? at + 1 : at, end, 2, &minutes);
    if (at == NULL || hours > 23 || minutes > 59)
        return NULL;
    *whole += sign * (3600.0 * hours + 60.0 * minutes);
    return at;
}

/* Rounded once: the same moment is the same number in every zone. */
bool tarry__text_moment(tarry__text t, double *seconds)
{
    double whole = 0, rest = 0;
    const char *at = read_date(t.begin, t.end, &whole);
    if (at != NULL && at < t.end) {
        if (*at != 'T' && *at != 't' && *at != ' ')
            return false;
        at = read_clock(at + 1, t.end, &whole, &rest);
        if (at != NULL)
            at = read_zone(at, t.end, &whole);
    }
    *seconds = whole + rest;
    return at == t.end && at != NULL;
}
