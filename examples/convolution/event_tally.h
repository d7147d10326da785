/* What the program itself knows that it made: operations, their bytes, and their times as its
 * events tell them. */
#ifndef CONVOLUTION_EVENT_TALLY_H
#define CONVOLUTION_EVENT_TALLY_H

#include <CL/cl.h>
#include <stddef.h>
#include <stdint.h>

typedef enum made {
    MADE_HTOD, /* from pageable memory */
    MADE_HTOD_PINNED,
    MADE_DTOH,
    MADE_DTOH_PINNED,
    MADE_KERNEL,
    MADE_MAP,
    MADE_UNMAP,
    MADE_KINDS
} made;

typedef struct tally_sum {
    uint64_t count;
    uint64_t bytes;
    uint64_t time_ns;
} tally_sum;

typedef struct tally_item {
    cl_event event;
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

/* Takes the event over. */
void tally_add(tally *self, made kind, size_t bytes, cl_event event);

/* Sums the times of events, which have completed, and lets them go. */
void tally_settle(tally *self);
void tally_end(tally *self);

#endif
