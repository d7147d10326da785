/* UTF-8 in names that may hold any bytes. */
#ifndef HAUL_BASE_UTF8_H
#define HAUL_BASE_UTF8_H

#include <stddef.h>
#include <stdio.h>

/* Bytes of the character at `text` (1 to 4), or 0 where it does not start a valid one. `text` ends
 * with NUL. */
int hl_base_utf8_length(const char *text);

/* Characters of a string, each invalid byte counted as one. */
size_t hl_base_utf8_count(const char *text);

/* Prints at most `length` bytes of a string, with what would move a terminal's cursor, and what is
 * no UTF-8, as '?'. */
void hl_base_utf8_print(const char *text, size_t length, FILE *out);

#endif
