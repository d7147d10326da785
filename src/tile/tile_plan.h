/* The plan of a context: operations queued on its device, and messages between processes. */
#ifndef HAUL_TILE_TILE_PLAN_H
#define HAUL_TILE_TILE_PLAN_H

#include "tile/tile_pass.h"

/* Streams: the context's four, messages that are sent, and those of either side, each of which
 * arrives on its own. */
enum { SENDS = 4, RECEIVES, STREAMS = RECEIVES + 2 };

/* The number of each stream's last operation, from 1; 0: none. */
typedef struct moment {
    uint32_t at[STREAMS];
} moment;

typedef struct planned {
    const char *op;
    const char *kernel; /* NULL: a copy */
    int stream;
    int peer;        /* of a message */
    uint32_t number; /* of it among those from the sender to the receiver, from 1 */
    uint64_t bytes;
    int64_t dur_ns;
    moment after; /* on other streams; 0: nothing new */
} planned;

typedef struct known_event {
    const haul_event *event;
    moment when;
} known_event;

enum { UNDER_WAY = 8, TIMED = 16 };

/* A launch that is timed, until its time is known. The event is made once. */
typedef struct timed_launch {
    haul_event *done;
    double bytes; /* 0: none is under way */
} timed_launch;

/* The last of a kernel's launches that were timed. A program may queue many before the first one
 * ends, so that several are timed at once. */
typedef struct timed_kernel {
    const haul_kernel_source *source;
    timed_launch under_way[UNDER_WAY];
    size_t launches;
    double byte_s[TIMED]; /* seconds a byte */
} timed_kernel;

struct hl_tile_plan {
    planned *ops;
    size_t count;
    size_t capacity;
    known_event *events;
    size_t event_count;
    size_t event_capacity;
    timed_kernel *kernels;
    size_t kernel_count;
    size_t kernel_capacity;
    moment seen[STREAMS]; /* what each stream's operations come after; its own last is its own */
    moment awaited[STREAMS];
    moment host;        /* what the host has waited for: messages begin behind it */
    moment received;    /* of that the messages: what is queued later is behind them */
    uint32_t *messages; /* received from each process and sent to it */
};

#endif
