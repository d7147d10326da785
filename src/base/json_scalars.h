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

#endif
