/* haul overlap: its options, --tiles: products and stencils in tiles, and --run. */
#ifndef HAUL_CLI_OVERLAP_TILES_H
#define HAUL_CLI_OVERLAP_TILES_H

#include "cli/command.h"
#include "haul/overlap.h"

typedef struct overlap_request {
    cli_request given;
    haul_machine *machine;
    haul_overlap_work work; /* of the whole, or of a full tile's kernel */
    uint64_t streams;
    int is_stencil; /* with --tiles */
    cli_sides size;
    cli_sides tile;
    uint64_t element;
    uint64_t halo;
    uint64_t queue_depth;
    int back_at_once; /* each tile's, not all at last */
    const char *csv;  /* products in tiles */
    const char *run;  /* a kernel */
    const char *device;
} overlap_request;

/* Predicts a product or stencil and prints. */
haul_status cli_overlap_tiles(const overlap_request *self, haul_error *error);

/* Predicts the products of a table, each in a row. */
haul_status cli_overlap_products(const overlap_request *self, haul_error *error);

/* Runs a kernel by each strategy and prints. */
haul_status cli_overlap_run(const overlap_request *self, haul_error *error);

#endif
