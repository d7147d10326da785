/* Loops of several devices in turns. */
#ifndef HAUL_TILE_TILE_RELAY_H
#define HAUL_TILE_TILE_RELAY_H

#include "tile/tile_run.h"

enum { HL_TILE_RELAY_PARTS = 200 }; /* of an array, at most: messages that may be under way */

/* A device's speed, as the model has it. */
typedef struct hl_tile_relay_speed {
    double loop_s;     /* of all planes, on average */
    double copy_s;     /* of all planes, in and out at once */
    double last_s;     /* out, of all that was written, behind the last loop */
    double loop_reach; /* planes that a loop is behind the one before */
    int reach;         /* planes that loops may be behind in its memory; below 0: not even one */
} hl_tile_relay_speed;

typedef struct hl_tile_relay_task {
    int devices;
    int planes;
    int region;
    size_t loops;
} hl_tile_relay_task;

/* Seconds of all loops, where each device has one pass in each of so many rounds; infinite where
 * that does not fit. The best number of rounds; 0: none fits. */
double hl_tile_relay_predict(const hl_tile_relay_speed *speeds, const hl_tile_relay_task *task,
                             size_t rounds);
size_t hl_tile_relay_rounds(const hl_tile_relay_speed *speeds, const hl_tile_relay_task *task);

/* How many of the steps, from the first on, one run takes, the same on all devices: loops on the
 * host are apart, as are those with others between, which may have no cells here, and a loop that
 * reads a reduction's result is in the next run, as all devices have that at the end of one.
 * Needs: the first one's arrays are relayed. */
size_t hl_tile_relay_count(const hl_tile_step *steps, size_t count);
/* Runs steps whose arrays are relayed; the same on all devices of a team. */
haul_status hl_tile_relay_run(haul_context *context, hl_tile_step *steps, size_t count,
                              haul_error *error);

#endif
