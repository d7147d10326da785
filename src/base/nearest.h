/* Guessing what was meant by a misspelt word. */
#ifndef HAUL_BASE_NEAREST_H
#define HAUL_BASE_NEAREST_H

#include <stddef.h>

/* Insertions, deletions, replacements and swaps of neighbours that make the second of the
 * first, in any case;
 * words longer than 64 bytes are compared by their first 64. */
size_t hl_base_edit_distance(const char *first, const char *second);

/* True where `known` may be what was meant by `word`: one to three slips away, by length, or one
 * holds the other. */
int hl_base_is_near(const char *word, const char *known);

/* The index of the nearest of `count` words, in any case, or `count` where none is near. */
size_t hl_base_nearest(const char *word, const char *const *known, size_t count);

#endif
