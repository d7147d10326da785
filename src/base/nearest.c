/* Optimal string alignment (Damerau 1964, with swaps of neighbours alone): three rows of the table
 * are enough. */
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "haul/status.h"

/* Shorter words than three letters are inside nearly every other one and suggest nothing. */
enum { LONGEST = 64, HOLDS_AT_LEAST = 3 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the length. Longer names are cut: their beginnings tell enough, and the rows are fixed
 * arrays. */
static size_t copy_lower(const char *text, char lower[LONGEST + 1])
{
    size_t length = 0;
    for (; text[length] && length < LONGEST; length++)
        lower[length] = (char)tolower((unsigned char)text[length]);
    lower[length] = '\0';
    return length;
}

size_t hl_base_edit_distance(const char *first, const char *second)
{
    char a[LONGEST + 1], b[LONGEST + 1];
    const size_t a_length = copy_lower(first, a), b_length = copy_lower(second, b);
    /* The table of distances between the beginnings of a and b (optimal string alignment), of
     * which three rows are needed at once. */
    size_t rows[3][LONGEST + 1] = {{0}};
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        /* Of row i, (i + 2) % 3 is the row before and (i + 1) % 3 the one before that. */
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            const size_t replaced = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(replaced, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

int hl_base_is_near(const char *word, const char *known)
{
    /* One slip below 4 letters, two below 8, three above: more and any short word is near any
     * other. */
    const size_t allowed = 1 + least(strnlen(word, LONGEST) / 4, 2);
    const bool is_long = strlen(word) >= HOLDS_AT_LEAST && strlen(known) >= HOLDS_AT_LEAST;
    return hl_base_edit_distance(word, known) <= allowed ||
           (is_long && (strstr(known, word) || strstr(word, known)));
}

size_t hl_base_nearest(const char *word, const char *const *known, size_t count)
{
    size_t best = count;
    size_t best_distance = 0;
    for (size_t i = 0; i < count; i++) {
        if (!hl_base_is_near(word, known[i]))
            continue;
        const size_t distance = hl_base_edit_distance(word, known[i]);
        if (best == count || distance < best_distance) {
            best = i;
            best_distance = distance;
        }
    }
    return best;
}

char *haul_name_suggest(const char *word, const char *const *names, size_t count, char *buffer,
                        size_t size)
{
    const size_t near = hl_base_nearest(word, names, count);
    if (near < count)
        (void)snprintf(buffer, size, "; did you mean '%s'?", names[near]);
    else
        buffer[0] = '\0';
    return buffer;
}
