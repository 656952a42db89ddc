/* number.h - decimal text to double, correctly rounded, in every locale. */
#ifndef TARRY_BASE_NUMBER_H
#define TARRY_BASE_NUMBER_H

/* Reads the longest decimal number that text..end starts with: digits with
 * at most one point, perhaps a sign before and an exponent after ("-1.5",
 * ".5", "5.", "1E+5").  Answers where it stops, or NULL if there is none.
 * *value has the bits that strtod would give: infinity when the number is
 * too large for a double, zero or a denormal when it is too small. */
const char *tarry__number_read(const char *text, const char *end,
                               double *value);

/* Whether text..end is, as a whole, one of strtod's words for what is not
 * finite: "nan", "nan(...)", "inf", "infinity", in any case, signed or not. */
int tarry__number_is_word(const char *text, const char *end);

#endif
