/* Quantities with units, as people write them: "64MiB", "12.3 GB/s", "1.4 GHz".
 *
 * Parsed values are in base units: bytes, seconds, bytes per second, hertz, flop per second, or a
 * plain number (a percent sign divides by 100). k, M, G, T are powers of 1000; Ki, Mi, Gi, Ti
 * powers of 1024.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_UNITS_H
#define HAUL_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "haul/status.h"

HAUL_BEGIN

typedef enum haul_dimension {
    HAUL_DIM_NUMBER,
    HAUL_DIM_BYTES,
    HAUL_DIM_SECONDS,
    HAUL_DIM_RATE, /* bytes per second */
    HAUL_DIM_HERTZ,
    HAUL_DIM_FLOPS, /* floating-point operations per second */
} haul_dimension;

/* Reads a quantity of dimension `dimension` from the whole of `text`. A bare number is taken in
 * the base unit only for NUMBER and BYTES; elsewhere a unit is required. Returns BAD_INPUT for
 * anything else, with the expected unit in `error`, and leaves *value alone. Values are finite. */
HAUL_API haul_status haul_quantity_parse(const char *text, haul_dimension dimension, double *value,
                                         haul_error *error);

/* Reads a whole number of bytes, 0 to 2^63-1: "0", "4096", "64MiB", "1.5 GB". */
HAUL_API haul_status haul_bytes_parse(const char *text, uint64_t *bytes, haul_error *error);

/* Writes `value` with a readable prefix and at most `digits` significant digits: "12.3 GB/s".
 * Returns `buffer`. With digits 17 what haul_quantity_parse reads back is the value written, to
 * within one unit in the last place. */
HAUL_API char *haul_quantity_format(double value, haul_dimension dimension, int digits,
                                    char *buffer, size_t size);

/* Writes a count with a comma before every three digits, "1,234,567", in at most 27 bytes. Returns
 * `buffer`. */
HAUL_API char *haul_count_format(uint64_t count, char *buffer, size_t size);

/* Writes "3 copies" or "1 copy" in at most `size` bytes; `plural` NULL adds an s. Returns `buffer`.
 */
HAUL_API char *haul_number_of(uint64_t count, const char *one, const char *plural, char *buffer,
                              size_t size);

/* The base unit of a dimension as it is written: "B/s"; "" for a number. */
HAUL_API const char *haul_dimension_unit(haul_dimension dimension);

/* A dimension's values in words, for messages: "a rate such as 12.3 GB/s". */
HAUL_API const char *haul_dimension_text(haul_dimension dimension);

HAUL_END

#endif
