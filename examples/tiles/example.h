/* What the examples of tiles share: the device's name from the command line, errors, and the check
 * against plain loops. */
#ifndef EXAMPLES_TILES_EXAMPLE_H
#define EXAMPLES_TILES_EXAMPLE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/tile.h"

static haul_error error;

static inline void must(haul_status status)
{
    char text[1200];
    if (!status)
        return;
    fprintf(stderr, "%s\n", haul_error_format(&error, text, sizeof text));
    exit(status == HAUL_ABSENT ? 77 : 1);
}

/* program [DEVICE [MEGABYTES]]: with little device memory, arrays stream through it. */
static inline haul_context *open_context(int argc, char **argv)
{
    haul_context *context;
    const haul_context_options options = {
        .memory_bytes = argc > 2 ? (uint64_t)(atof(argv[2]) * 1e6) : 0,
    };
    must(haul_context_open(argc > 1 ? argv[1] : NULL, &options, &context, &error));
    return context;
}

static inline haul_array *make_array(haul_context *context, haul_array_spec spec)
{
    haul_array *array;
    must(haul_array_new(context, &spec, &array, &error));
    return array;
}

/* Says what was done, and ends the program with 1 where results differ by more than `most`. */
static inline int report(haul_context *context, const char *what, double difference, double most)
{
    const haul_context_counts counts = haul_context_count(context);
    printf("%s on %s: %llu loops in %llu passes, %.1f MB in, %.1f MB out; differs from plain loops "
           "by %.1g\n",
           what, haul_device_describe(haul_context_device(context))->name,
           (unsigned long long)counts.loops, (unsigned long long)counts.passes,
           (double)counts.bytes_up * 1e-6, (double)counts.bytes_down * 1e-6, difference);
    haul_context_close(context);
    return !(difference <= most);
}

static inline double largest_difference(const double *a, const double *b, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

#endif
