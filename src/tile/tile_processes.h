/* The seventh layer: steps over processes. */
#ifndef HAUL_TILE_TILE_PROCESSES_H
#define HAUL_TILE_TILE_PROCESSES_H

#include "tile/tile_run.h"

/* Runs steps with exchanges, and tells the other processes of a failure. */
haul_status hl_tile_processes_run(haul_context *context, hl_tile_step *steps, size_t count,
                                  haul_error *error);
/* Brings all other processes' planes to `cells`, which has this one's. */
haul_status hl_tile_planes_gather(hl_tile_field *field, char *cells, haul_error *error);

#endif
