/* Finding NVIDIA's CUPTI on a machine, of whatever version. */
#ifndef HAUL_RECORD_CUPTI_LIBRARY_H
#define HAUL_RECORD_CUPTI_LIBRARY_H

#include <stdbool.h>

#include "haul/status.h"
#include "record/cupti_abi.h"

/* Begin with zero. */
typedef struct hl_record_cupti_library {
    void *handle;
    hl_record_cupti_functions functions;
    uint32_t version;
    char path[4096];
    size_t next; /* where the search goes on */
} hl_record_cupti_library;

/* Opens the next library that is there and has what is needed, the one before it closed: first
 * $CUPTI_PATH alone where that is set (a file or a folder), then what the program has loaded
 * itself, then the newest by name, in the loader's folders and in those of toolkits. Returns
 * ABSENT, with the reason where one was found that cannot be used, when none is left. */
haul_status hl_record_cupti_library_next(hl_record_cupti_library *self, haul_error *error);

/* Leaves it loaded, whose threads may be running, and lets the search go on. */
void hl_record_cupti_library_leave(hl_record_cupti_library *self);

#endif
