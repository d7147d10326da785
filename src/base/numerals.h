/* Numbers with a point, whatever the locale of the program that uses the library: a program that
 * calls setlocale may read and print 1,5 elsewhere, and go on to. */
#ifndef HAUL_BASE_NUMERALS_H
#define HAUL_BASE_NUMERALS_H

#include <locale.h>

typedef struct hl_base_numerals {
    locale_t c;
    locale_t before;
} hl_base_numerals;

/* Sets the calling thread's locale to C's. Where memory is lacking for that it stays. */
hl_base_numerals hl_base_numerals_begin(void);
void hl_base_numerals_end(const hl_base_numerals *self);

/* For the top of a public function that reads or writes numbers: to the end of the function, by
 * whatever return. */
#define HL_PLAIN_NUMERALS                                                                          \
    const hl_base_numerals plain_numerals __attribute__((cleanup(hl_base_numerals_end), unused)) = \
        hl_base_numerals_begin()

#endif
