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
    {"HtoD", HAUL_HTOD, HAUL_HOST},
    {"DtoH", HAUL_DTOH, HAUL_HOST},
    {"DtoD", HAUL_DTOD, HAUL_DEVICE},
    {"PtoP", HAUL_PTOP, HAUL_DEVICE},
    {"HtoH", HAUL_HTOH, HAUL_HOST},
    {"HtoA", HAUL_HTOD, HAUL_HOST},
    {"AtoH", HAUL_DTOH, HAUL_HOST},
    {"AtoA", HAUL_DTOD, HAUL_ARRAY},
    {"AtoD", HAUL_DTOD, HAUL_ARRAY},
    {"DtoA", HAUL_DTOD, HAUL_ARRAY},
    {"HostToDevice", HAUL_HTOD, HAUL_HOST},
    {"DeviceToHost", HAUL_DTOH, HAUL_HOST},
    {"DeviceToDevice", HAUL_DTOD, HAUL_DEVICE},
    {"PeerToPeer", HAUL_PTOP, HAUL_DEVICE},
    {"HostToHost", HAUL_HTOH, HAUL_HOST},
    {"HOST_TO_DEVICE", HAUL_HTOD, HAUL_HOST},
    {"DEVICE_TO_HOST", HAUL_DTOH, HAUL_HOST},
    {"DEVICE_TO_DEVICE", HAUL_DTOD, HAUL_DEVICE},
    {"HOST_TO_HOST", HAUL_HTOH, HAUL_HOST},
};

/* NULL, where the name has no such side, begins with nothing. */
static bool begins(const char *text, const char *word)
{
    return text && !strncmp(text, word, strlen(word));
}

/* The host's memory of "(Pinned -> Device)" or "(Device -> Pinned)". */
static haul_memory host_memory(const char *source, const char *target, haul_direction direction)
{
    const char *const side = direction == HAUL_DTOH ? target : source;
    const bool both = direction == HAUL_HTOH;
    if (begins(side, "Pageable") || (both && begins(target, "Pageable")))
        return HAUL_PAGEABLE; /* of two hosts' memories the slower decides */
    if (begins(side, "Pinned"))
        return HAUL_PINNED;
    return begins(side, "Managed") ? HAUL_MANAGED : HAUL_HOST;
}

/* A name of 128 bytes or more is none of a profiler's: it tells nothing. */
void haul_copy_name_read(const char *name, size_t length, haul_direction *direction,
                         haul_memory *memory)
{
    char text[NAME_BYTES];
    (void)snprintf(text, sizeof text, "%.*s", length < sizeof text ? (int)length : 0, name);
    *direction = HAUL_UNKNOWN;
    *memory = HAUL_MEMORY_UNKNOWN;
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (strstr(text, directions[i].word)) {
            *direction = directions[i].direction;
            *memory = directions[i].memory;
            break;
        }
    const char *const source = strchr(text, '('), *const target = strstr(text, "-> ");
    if (*memory == HAUL_HOST)
        *memory = host_memory(source ? source + 1 : NULL, target ? target + 3 : NULL, *direction);
}
