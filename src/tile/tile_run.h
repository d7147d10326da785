/* The sixth layer: who runs the steps, the host, the device, or both. */
#ifndef HAUL_TILE_TILE_RUN_H
#define HAUL_TILE_TILE_RUN_H

#include "tile/tile_host.h"

/* Runs steps without exchanges. */
haul_status hl_tile_steps_run(haul_context *context, hl_tile_step *steps, size_t count,
                              haul_error *error);

/* Runs a block on the device and the host together, where the host has a share. */
haul_status hl_tile_share_run(haul_context *context, const hl_tile_block *block, bool *is_shared,
                              haul_error *error);

/* Runs the first steps, and as many of those that follow as can go with them, in columns of rows.
 */
haul_status hl_tile_columns_run(haul_context *context, hl_tile_step *steps, size_t count,
                                size_t *taken, haul_error *error);

#endif
