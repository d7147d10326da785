/* Figures and names as the reports' tables say them. */
#ifndef HAUL_REPORT_WORDING_H
#define HAUL_REPORT_WORDING_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "haul/analysis.h"

enum { HL_REPORT_PAGE_WIDTH = 100 };

/* A short text, returned by value: hl_report_say_count(n).text lives to the end of the statement.
 */
typedef struct hl_report_words {
    char text[64];
} hl_report_words;

hl_report_words hl_report_say_time(int64_t ns);      /* "12.3 ms" */
hl_report_words hl_report_say_seconds(double s);     /* the same; "-" where not finite */
hl_report_words hl_report_say_bytes(uint64_t bytes); /* "64 MiB" */
hl_report_words hl_report_say_rate(double rate_Bps); /* "12.3 GB/s"; "-" where not finite or 0 */
hl_report_words hl_report_say_count(uint64_t count); /* "1,234,567" */
hl_report_words hl_report_say_share(double share);   /* "12.3 %" for 0.123; "-" where not finite */

/* "1.5x faster (1.3x to 1.9x)" or slower, of two runs and the ends of the second's interval; where
 * they are within 0.5 %, "the same time (-0.4 to +1.2 %)", without ends that are so too. */
hl_report_words hl_report_say_change(int64_t from_ns, int64_t to_ns, int64_t low_ns,
                                     int64_t high_ns);

/* "1.2 to 3.4 ms", "800 us to 1.2 ms"; ends that look alike: "107.8 to 108.4 ms", or "50 ms" */
hl_report_words hl_report_say_interval(double low_s, double high_s);

/* "2.10 ms (1.80 to 2.30 ms)": a time and its interval, rounded alike; the time alone where the
 * ends are equal. */
hl_report_words hl_report_say_estimate(double at_s, double low_s, double high_s);

/* "HtoD pinned"; "unknown" where not even the direction is known. */
hl_report_words hl_report_say_copies(haul_direction direction, haul_memory memory);

hl_report_words
hl_report_say_decade(int decade); /* "10-100 kB": from the first to below the second */

/* The least and the most bytes of a decade of sizes. */
uint64_t hl_report_decade_least(int decade);
uint64_t hl_report_decade_most(int decade);

/* "3 copies", "1 copy". `plural` NULL adds an s. */
hl_report_words hl_report_say_number_of(uint64_t count, const char *one, const char *plural);

/* `width` (at most 40) signs for a share of 1; "." where the share is too small for one. */
hl_report_words hl_report_say_bar(double share, int width);

/* part / whole; NaN where whole is 0. */
double hl_report_share_of(double part, double whole);
double hl_report_share_ns(int64_t part_ns, int64_t whole_ns);
hl_report_words hl_report_say_share_ns(int64_t part_ns, int64_t whole_ns);

/* "aten::copy_", "aten::copy_ (62 %) in step 3 at train.py:42 in step", in `buffer`; NULL where
 * nothing is known. */
enum { HL_REPORT_PLACE_BYTES = 700 }; /* three names of PLACE_WIDTH characters, and their shares */
const char *hl_report_say_place(const haul_place *place, char buffer[HL_REPORT_PLACE_BYTES]);

/* A kernel's name in at most `width` characters: where it is longer, the return type "void",
 * namespaces, casts and parameters are left out, of a source line its file's folders, then its end.
 * Writes at most `size` bytes, which are more than 4 * width. */
char *hl_report_shorten_name(const char *name, size_t width, char *buffer, size_t size);

/* The same without what says least, of any length that the buffer has room for. */
void hl_report_clean_name(const char *name, char *buffer, size_t size);

/* Prints a paragraph of any bytes, wrapped to `page` columns; `first` before its first line and as
 * many spaces before the others. */
void hl_report_print_wrapped(size_t page, const char *first, const char *text, FILE *out);

/* The same where `indent` columns of the line are printed already. */
void hl_report_print_hanging(size_t page, size_t indent, const char *text, FILE *out);

/* The same for a cell of a table, where a word that is wider than the column goes on in the next
 * line: it would pass the margin. */
void hl_report_print_column(size_t page, size_t indent, const char *text, FILE *out);

#endif
