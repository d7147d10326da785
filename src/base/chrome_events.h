/* Events of Chrome's Trace Event Format, which Perfetto, Chrome and PyTorch's tools read. */
#ifndef HAUL_BASE_CHROME_EVENTS_H
#define HAUL_BASE_CHROME_EVENTS_H

#include <stdint.h>
#include <stdio.h>

/* A complete event ("X"): start and duration in one. */
typedef struct hl_base_chrome_slice {
    const char *category; /* a plain word */
    const char *name;     /* of any bytes */
    int64_t pid;
    int64_t tid;
    int64_t start_ns;
    int64_t dur_ns;
} hl_base_chrome_slice;

/* Writes a slice up to the brace that opens its "args": the caller adds those, and "}}". */
void hl_base_chrome_slice_open(const hl_base_chrome_slice *slice, FILE *out);

/* A string of JSON; bytes that are not UTF-8 become U+FFFD. */
void hl_base_chrome_text(const char *text, FILE *out);

/* A time after another member: microseconds, as the format has them, with all digits of the
 * nanoseconds. */
void hl_base_chrome_us(const char *key, int64_t ns, FILE *out);

#endif
