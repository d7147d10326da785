/* Profilers without a column for a copy's direction write it into its name, each in its own words.
 * The table below is looked through for every such copy: it is short, and names are not kept. */
#include "trace/copy_name.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 128 };

/* Kineto's words, then roctracer's, then rocprofiler-sdk's. Copies of arrays go by the sides that
 * they lie on. */
static const struct {
    const char *word;
    haul_direction direction;
    haul_memory memory; /* where no host's memory decides */
} directions[] = {
    {"HtoD", HAUL_DIRECTION_HTOD, HAUL_MEMORY_HOST},
    {"DtoH", HAUL_DIRECTION_DTOH, HAUL_MEMORY_HOST},
    {"DtoD", HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE},
    {"PtoP", HAUL_DIRECTION_PTOP, HAUL_MEMORY_DEVICE},
    {"HtoH", HAUL_DIRECTION_HTOH, HAUL_MEMORY_HOST},
    {"HtoA", HAUL_DIRECTION_HTOD, HAUL_MEMORY_HOST},
    {"AtoH", HAUL_DIRECTION_DTOH, HAUL_MEMORY_HOST},
    {"AtoA", HAUL_DIRECTION_DTOD, HAUL_MEMORY_ARRAY},
    {"AtoD", HAUL_DIRECTION_DTOD, HAUL_MEMORY_ARRAY},
    {"DtoA", HAUL_DIRECTION_DTOD, HAUL_MEMORY_ARRAY},
    {"HostToDevice", HAUL_DIRECTION_HTOD, HAUL_MEMORY_HOST},
    {"DeviceToHost", HAUL_DIRECTION_DTOH, HAUL_MEMORY_HOST},
    {"DeviceToDevice", HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE},
    {"PeerToPeer", HAUL_DIRECTION_PTOP, HAUL_MEMORY_DEVICE},
    {"HostToHost", HAUL_DIRECTION_HTOH, HAUL_MEMORY_HOST},
    {"HOST_TO_DEVICE", HAUL_DIRECTION_HTOD, HAUL_MEMORY_HOST},
    {"DEVICE_TO_HOST", HAUL_DIRECTION_DTOH, HAUL_MEMORY_HOST},
    {"DEVICE_TO_DEVICE", HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE},
    {"HOST_TO_HOST", HAUL_DIRECTION_HTOH, HAUL_MEMORY_HOST},
};

/* NULL, where the name has no such side, begins with nothing. */
static bool begins(const char *text, const char *word)
{
    return text && !strncmp(text, word, strlen(word));
}

/* The host's memory of "(Pinned -> Device)" or "(Device -> Pinned)". */
static haul_memory host_memory(const char *source, const char *target, haul_direction direction)
{
    const char *const side = direction == HAUL_DIRECTION_DTOH ? target : source;
    const bool both = direction == HAUL_DIRECTION_HTOH;
    if (begins(side, "Pageable") || (both && begins(target, "Pageable")))
        return HAUL_MEMORY_PAGEABLE; /* of two hosts' memories the slower decides */
    if (begins(side, "Pinned"))
        return HAUL_MEMORY_PINNED;
    return begins(side, "Managed") ? HAUL_MEMORY_MANAGED : HAUL_MEMORY_HOST;
}

/* A name of 128 bytes or more is none of a profiler's: it tells nothing. */
void hl_trace_copy_name_read(const char *name, size_t length, haul_direction *direction,
                             haul_memory *memory)
{
    char text[NAME_BYTES];
    (void)snprintf(text, sizeof text, "%.*s", length < sizeof text ? (int)length : 0, name);
    *direction = HAUL_DIRECTION_UNKNOWN;
    *memory = HAUL_MEMORY_UNKNOWN;
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (strstr(text, directions[i].word)) {
            *direction = directions[i].direction;
            *memory = directions[i].memory;
            break;
        }
    const char *const source = strchr(text, '('), *const target = strstr(text, "-> ");
    if (*memory == HAUL_MEMORY_HOST)
        *memory = host_memory(source ? source + 1 : NULL, target ? target + 3 : NULL, *direction);
}
