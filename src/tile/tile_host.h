/* The fifth layer: loops on the host's memory. */
#ifndef HAUL_TILE_TILE_HOST_H
#define HAUL_TILE_TILE_HOST_H

#include "tile/tile_pass.h"

/* Runs blocks of the steps on the host's memory. */
haul_status hl_tile_host_run(haul_context *context, hl_tile_step *steps, size_t count,
                             haul_error *error);

#endif
