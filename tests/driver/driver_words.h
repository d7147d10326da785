/* Options of the stand-ins: words with a number or without, separated by commas, in an environment
 * variable. */
#ifndef HAUL_TESTS_DRIVER_WORDS_H
#define HAUL_TESTS_DRIVER_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes a word, and its number where it has one; false if it knows no such word. */
typedef bool driver_take_word(const char *word, const uint64_t *number);

/* An unknown word ends the program. */
static inline void driver_read_words(const char *variable, const char *usual,
                                     driver_take_word *take)
{
    const char *given = getenv(variable);
    char words[256];
    char *rest = words;
    snprintf(words, sizeof words, "%s", given ? given : usual);
    for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *end = "";
        char *value = strchr(word, '=');
        if (value)
            *value++ = '\0';
        const uint64_t number = value ? strtoull(value, &end, 10) : 0;
        if (!*end && end != value && take(word, value ? &number : NULL))
            continue;
        fprintf(stderr, "driver: %s has the unknown word '%s'\n", variable, word);
        abort();
    }
}

#endif
