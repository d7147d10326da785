/* The operations that the program itself knows it made, their bytes, and their times as its events
 * tell them. */
#ifndef CONVOLUTION_EVENT_TALLY_H
#define CONVOLUTION_EVENT_TALLY_H

#include <haul/device.h>

typedef enum made {
    MADE_HTOD, /* from pageable memory */
    MADE_HTOD_PINNED,
    MADE_DTOH,
    MADE_DTOH_PINNED,
    MADE_KERNEL,
    MADE_KINDS
} made;

typedef struct tally_sum {
    uint64_t count;
    uint64_t bytes;
    uint64_t time_ns;
} tally_sum;

typedef struct tally_item {
    haul_event *event;
    made kind;
} tally_item;

typedef struct tally {
    tally_sum sums[MADE_KINDS];
    tally_item *items; /* events whose times are not summed yet */
    size_t count;
    size_t capacity;
} tally;

const char *made_name(made kind);
const char *made_memory(made kind); /* of the host's side; empty where there is none */

/* Counts an operation, and returns the event to queue it with. */
haul_event *tally_add(tally *self, haul_device *device, made kind, size_t bytes);

/* Sums the times of events, whose operations have ended, and frees them. */
void tally_settle(tally *self);
void tally_end(tally *self);

/* Ends the program where `status` is a failure. */
void must(haul_status status, const haul_error *error);

#endif
