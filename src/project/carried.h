/* What a target took over from the machine that recorded a trace. */
#ifndef HAUL_PROJECT_CARRIED_H
#define HAUL_PROJECT_CARRIED_H

#include <stddef.h>

#include "haul/machine.h"
#include "project/size_class.h"

typedef struct haul_carried_text {
    char text[600];
    size_t used;
} haul_carried_text;

/* Names the figures for copies like those of `alike` that `completed`, made by haul_machine_carry,
 * has and `to` lacks: "latency of
 * HtoD pinned, DtoH pinned; staging of HtoD pageable". Returns how many there are. */
size_t haul_carried_describe(const haul_machine *to, const haul_machine *completed,
                             const haul_size_class *alike, haul_carried_text *out);

#endif
