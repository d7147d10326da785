/* Calls that must succeed, in tests of tiles. */
#ifndef HAUL_TESTS_TILE_MUST_H
#define HAUL_TESTS_TILE_MUST_H

#include "check.h"

#include "haul/tile.h"

static haul_error error; /* of the last call */

static inline void must(haul_status status)
{
    if (status)
        fail_msg("%s", error.text);
}

/* Elements have 4 bytes where the spec does not say. */
static inline haul_array *array_of(haul_context *context, haul_array_spec spec)
{
    haul_array *array;
    spec.element_bytes = spec.element_bytes ? spec.element_bytes : 4;
    must(haul_array_new(context, &spec, &array, &error));
    return array;
}

#endif
