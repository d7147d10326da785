/* haul overlap --tiles: products and stencils in tiles. */
#ifndef HAUL_CLI_OVERLAP_TILES_H
#define HAUL_CLI_OVERLAP_TILES_H

#include "cli/command.h"
#include "haul/machine.h"

/* The options as they were given; NULL where they were not. */
typedef struct tiles_options {
    const char *tiles;  /* "product" or "stencil" */
    const char *size;   /* "MxNxK", or "ROWSxCOLUMNS" */
    const char *tile;   /* "T", or "ROWSxCOLUMNS" */
    const char *kernel; /* of a full tile */
    const char *element;
    const char *halo;
    const char *queue;
    const char *order; /* "depth" or "breadth" */
} tiles_options;

/* Predicts and prints. Returns USAGE for an option that is wrong, and what the prediction does. */
haul_status cli_overlap_tiles(const tiles_options *options, const haul_machine *machine,
                              const cli_results *results, haul_error *error);

#endif
