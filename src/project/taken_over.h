/* The parameters that a target takes from the machine that recorded a profile. */
#ifndef HAUL_PROJECT_TAKEN_OVER_H
#define HAUL_PROJECT_TAKEN_OVER_H

#include "base/arena.h"
#include "project/size_class.h"

/* Names the parameters for copies like those of `classes` that `completed`, made by
 * haul_machine_complete, has and `to` lacks: "latency of HtoD pinned, DtoH pinned; staging of HtoD
 * pageable". NULL where there are none, or no memory. */
const char *hl_project_taken_over_text(const haul_machine *to, const haul_machine *completed,
                                       const hl_project_size_classes *classes,
                                       hl_base_arena *arena);

#endif
