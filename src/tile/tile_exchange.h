/* An exchange of ghost planes, as a process has it: the arrays whose planes are to come, and the
 * messages from and to its two neighbours. */
#ifndef HAUL_TILE_TILE_EXCHANGE_H
#define HAUL_TILE_TILE_EXCHANGE_H

#include "tile/tile_run.h"

/* Of messages, as haul/tile.h has them. */
enum { HL_TILE_LABELS = 16384 };

typedef struct hl_tile_exchange {
    haul_context *context;
    const haul_processes *processes;
    hl_tile_field *fields[HL_TILE_USES];
    bool is_untold[HL_TILE_USES];
    unsigned turns[HL_TILE_USES];
    unsigned count;
    /* Of the exchange before, while devices may be copying from each other's memory. */
    const hl_tile_field *lent[HL_TILE_USES];
    unsigned lent_count;
    /* Of one that ends while a pass runs: the arrays, and the end that the pass begins with. */
    hl_tile_field *early[HL_TILE_USES];
    unsigned early_count;
    bool begins_high;
} hl_tile_exchange;

/* Messages from and to one neighbour. */
typedef struct hl_tile_side {
    int peer; /* -1: none */
    int sent; /* planes from this one on */
    int received;
} hl_tile_side;

hl_tile_side hl_tile_side_of(const hl_tile_exchange *self, const hl_tile_field *field,
                             bool is_high);
haul_process_message hl_tile_side_message(const hl_tile_field *field, const hl_tile_side *with,
                                          bool is_send);
/* The planes that come from there, and the part that they belong to. */
int hl_tile_side_part(const hl_tile_field *field, const hl_tile_side *from);
hl_tile_planes hl_tile_side_planes(const hl_tile_field *field, const hl_tile_side *from);

/* Devices of one program copy from each other's memory, without the host. */
bool hl_tile_exchange_is_direct(const hl_tile_exchange *self);
/* Until the device has the planes of the exchange before, and the others have this one's: their
 * memory may change from here on. */
haul_status hl_tile_exchange_settle(hl_tile_exchange *self, haul_error *error);

/* Begins an exchange that a pass over the steps need not wait for, if it can be one. */
haul_status hl_tile_early_begin(hl_tile_exchange *self, hl_tile_step *steps, size_t count,
                                bool *is_begun, haul_error *error);
/* Ends it where no pass did. */
haul_status hl_tile_early_end(hl_tile_exchange *self, haul_error *error);

#endif
