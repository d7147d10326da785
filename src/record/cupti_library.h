/* Finding NVIDIA's CUPTI on a machine, of whatever version. */
#ifndef HAUL_RECORD_CUPTI_LIBRARY_H
#define HAUL_RECORD_CUPTI_LIBRARY_H

#include <stdbool.h>

#include "haul/status.h"
#include "record/cupti_abi.h"

/* Begin with zero. */
typedef struct haul_cupti_library {
    void *handle;
    haul_cupti_functions functions;
    uint32_t version;
    char path[4096];
    size_t next; /* where the search goes on */
} haul_cupti_library;

/* Opens the next library that is there and has what is needed, the one before it closed: first
 * $CUPTI_PATH alone where that is set (a file or a folder), then what the program has loaded
 * itself, then the newest by name, in the loader's folders and in those of toolkits. Returns
 * ABSENT, with the reason where one was found that cannot be used, when none is left. */
haul_status haul_cupti_library_next(haul_cupti_library *self, haul_error *error);

/* Leaves it loaded, whose threads may be running, and lets the search go on. */
void haul_cupti_library_leave(haul_cupti_library *self);

#endif
