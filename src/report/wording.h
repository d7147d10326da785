/* Figures and names as the reports' tables say them. */
#ifndef HAUL_REPORT_WORDING_H
#define HAUL_REPORT_WORDING_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "haul/workload.h"

enum { HAUL_PAGE_WIDTH = 100 };

/* A short text, returned by value: haul_say_count(n).text lives to the end of the statement. */
typedef struct haul_words {
    char text[64];
} haul_words;

haul_words haul_say_time(int64_t ns);      /* "12.3 ms" */
haul_words haul_say_seconds(double s);     /* the same; "-" where not finite */
haul_words haul_say_bytes(uint64_t bytes); /* "64 MiB" */
haul_words haul_say_rate(double rate_Bps); /* "12.3 GB/s"; "-" where not finite or 0 */
haul_words haul_say_count(uint64_t count); /* "1,234,567" */
haul_words haul_say_share(double share);   /* "12.3 %" for 0.123; "-" where not finite */

/* "1.5x faster (1.3x to 1.9x)" or slower, of two runs and the ends of the second's interval; where
 * they are within 0.5 %, "the same time (-0.4 to +1.2 %)", without ends that are so too. */
haul_words haul_say_change(int64_t from_ns, int64_t to_ns, int64_t low_ns, int64_t high_ns);

/* "1.2 to 3.4 ms", "800 us to 1.2 ms"; ends that look alike: "107.8 to 108.4 ms", or "50 ms" */
haul_words haul_say_interval(double low_s, double high_s);

/* "HtoD pinned"; "unknown" where not even the direction is known. */
haul_words haul_say_copies(haul_direction direction, haul_memory memory);

haul_words haul_say_decade(int decade); /* "10-100 kB": from the first to below the second */

/* The least and the most bytes of a decade of sizes. */
uint64_t haul_decade_least(int decade);
uint64_t haul_decade_most(int decade);

/* "3 copies", "1 copy". `plural` NULL adds an s. */
haul_words haul_say_number_of(uint64_t count, const char *one, const char *plural);

/* `width` (at most 40) signs for a share of 1; "." where the share is too small for one. */
haul_words haul_say_bar(double share, int width);

/* part / whole; NaN where whole is 0. */
double haul_share_of(double part, double whole);
double haul_share_ns(int64_t part_ns, int64_t whole_ns);
haul_words haul_say_share_ns(int64_t part_ns, int64_t whole_ns);

/* A kernel's name in at most `width` characters: where it is longer, the return type "void",
 * namespaces, casts and parameters are left out, then its end. Writes at most `size` bytes, which
 * are more than 4 * width. */
char *haul_shorten_name(const char *name, size_t width, char *buffer, size_t size);

/* Prints a paragraph of any bytes, wrapped to the page; `first` before its first line and as many
 * spaces before the others. */
void haul_print_wrapped(const char *first, const char *text, FILE *out);

/* The same where `indent` columns of the line are printed already. */
void haul_print_hanging(size_t indent, const char *text, FILE *out);

#endif
