/* html.h - a little writing of HTML: text is escaped, markup is not. */
#ifndef TARRY_REPORT_HTML_H
#define TARRY_REPORT_HTML_H

#include <stdio.h>
#include "base/json.h"

/* Writes `markup`, in which each %s stands for an escaped text, each %f for one
 * with formulas and each %m for markup; %% is a percent sign.  A text that is
 * NULL is empty.  In formulas σ_max, max_a, n^2 and n^{3/2} have their indices
 * and exponents set as such. */
void tarry__html(FILE *out, const char *markup, ...);

/* The text at `key`, "" if there is none. */
const char *tarry__html_text(const json_t *object, const char *key);

/* A number for people: "0.98 ± 0.03", with as many digits as the interval
 * allows, "0.981" without one, "–" if there is none. */
void tarry__html_number(FILE *out, const json_t *value, const json_t *ci95);

/* Any JSON value as text: numbers short, texts as they are.  False: out of
 * memory. */
bool tarry__html_value(FILE *out, const json_t *value);

#endif
