/* Numbers with a point, whatever the locale of the program that uses the library: a program that
 * calls setlocale may read and print 1,5 elsewhere, and go on to. */
#ifndef HAUL_BASE_NUMERALS_H
#define HAUL_BASE_NUMERALS_H

#include <locale.h>

typedef struct haul_numerals {
    locale_t c;
    locale_t before;
} haul_numerals;

/* Sets the calling thread's locale to C's. Where memory is lacking for that it stays. */
haul_numerals haul_numerals_begin(void);
void haul_numerals_end(const haul_numerals *self);

/* For the top of a public function that reads or writes numbers: to the end of the function, by
 * whatever return. */
#define HAUL_PLAIN_NUMERALS                                                                        \
    const haul_numerals plain_numerals __attribute__((cleanup(haul_numerals_end), unused)) =       \
        haul_numerals_begin()

#endif
