/* Texts and numbers of JSON. For json_in.c. */
#ifndef HAUL_BASE_JSON_SCALARS_H
#define HAUL_BASE_JSON_SCALARS_H

#include "base/json_in.h"

/* The character of an escape of `*length` bytes at `p`, which 12 bytes may be looked at from; -1
 * where it is none. Halves of surrogate pairs are no characters. */
long hl_base_json_escaped(const char *p, int *length);

/* The text with its escapes, which are known to be right, replaced, in `to`: as many bytes as the
 * text has, and one more. */
hl_base_json_text hl_base_json_unescape(hl_base_json_text text, char *to);

/* The end of the number at `p`, and its value times 10^places, if it is like nearly every number of
 * a profile: no sign, no exponent, at most 15 digits before the point and `places`, of which there
 * are 3 at most, behind it; else NULL. 32 bytes may be looked at. */
const char *hl_base_json_short_number(const char *p, int places, int64_t *value);

#endif
