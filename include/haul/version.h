/* The version of this library, and the parts that it was built with.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_VERSION_H
#define HAUL_VERSION_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/api.h"

HAUL_BEGIN

/* The version of these headers, for #if; haul_version gives that of the library. CMake reads it
 * here. */
#define HAUL_VERSION_MAJOR 0
#define HAUL_VERSION_MINOR 1
#define HAUL_VERSION_PATCH 0

/* A library that haul uses: its version at run time, or of its headers, or that it is absent; and
 * what haul uses it for. */
typedef struct haul_part {
    const char *name;
    const char *version;
    const char *purpose;
} haul_part;

/* The version as "0.1.0". */
HAUL_API const char *haul_version(void);

/* Writes the part of number `index` (from 0) to *part; returns false past the last. */
HAUL_API bool haul_part_get(size_t index, haul_part *part);

HAUL_END

#endif
