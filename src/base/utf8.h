/* UTF-8 in names that may hold any bytes. */
#ifndef HAUL_BASE_UTF8_H
#define HAUL_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the character at `text` (1 to 4), or 0 where it does not start a valid one. `text` ends
 * with NUL. */
int haul_utf8_length(const char *text);

/* Characters of a string, each invalid byte counted as one. */
size_t haul_utf8_count(const char *text);

#endif
