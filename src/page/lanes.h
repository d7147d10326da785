/* A timeline as lanes of bars: one lane for each stream and for each thread that waits, and bars
 * that stand for one operation or for many short ones. */
#ifndef HAUL_PAGE_LANES_H
#define HAUL_PAGE_LANES_H

#include <stdbool.h>

#include "haul/page.h"

/* What a bar shows; name in the legend. Bars of one stretch of time stand on each other in this
 * order. */
#define HAUL_LOOK_LIST(X)                                                                          \
    X(KERNEL, "kernels")                                                                           \
    X(IN, "HtoD")                                                                                  \
    X(OUT, "DtoH")                                                                                 \
    X(WITHIN, "DtoD")                                                                              \
    X(PEER, "PtoP")                                                                                \
    X(OTHER, "other copies")                                                                       \
    X(SET, "memsets")                                                                              \
    X(WAIT, "waits")                                                                               \
    X(CALL, "calls")

typedef enum haul_look {
#define HAUL_LOOK_ENUM(name, text) HAUL_LOOK_##name,
    HAUL_LOOK_LIST(HAUL_LOOK_ENUM)
#undef HAUL_LOOK_ENUM
        HAUL_LOOKS
} haul_look;

/* A bar's colour: that of its look, or of one of the kernels that take the most time. */
enum { HAUL_SHADES = 5, HAUL_COLOURS = HAUL_LOOKS + HAUL_SHADES };

const char *haul_look_text(haul_look look);
haul_look haul_look_of(const haul_op *op);

typedef struct haul_page_lane {
    bool host;       /* of a thread, not of a stream */
    uint32_t number; /* of the stream or thread; HAUL_NONE where operations name none */
    uint32_t first;  /* into haul_lanes.order */
    uint32_t count;
    int64_t time_ns; /* sum of durations */
} haul_page_lane;

/* By device, then stream, then the host's threads. */
typedef struct haul_lanes {
    const haul_drawn *drawn;
    haul_page_lane *lanes;
    size_t count;
    size_t hidden;       /* lanes above the limit, those with the least time */
    uint64_t hidden_ops; /* on them */
    uint32_t *order;     /* operations, lane by lane, in order of start */
    int64_t origin_ns;   /* of the first operation of a device; of the host where none has any */
    int64_t window_ns;   /* from there to the last one's end */
    uint8_t *shades;     /* of each string id that names a kernel: 1 to HAUL_SHADES, or 0 */
    size_t shade_ids;    /* of them */
    int64_t time_ns[HAUL_LOOKS]; /* sums of durations */
    uint64_t ops[HAUL_LOOKS];
} haul_lanes;

/* The names of the kernels that take the most time, at most HAUL_SHADES; none where all kernels
 * have one name. Names live in the workload. Returns false without memory. */
typedef struct haul_shades {
    const char *names[HAUL_SHADES];
    size_t count;
} haul_shades;
bool haul_shades_find(const haul_workload *workload, haul_shades *shades);
/* Gives the lanes' kernels of these names their colours; false without memory. */
bool haul_lanes_shade(haul_lanes *lanes, const haul_shades *shades);

/* Keeps the `most` lanes with the most time. Release with haul_lanes_release. */
haul_status haul_lanes_make(const haul_drawn *drawn, size_t most, haul_lanes *lanes,
                            haul_error *error);
void haul_lanes_release(haul_lanes *lanes);

/* One operation, or `count` short ones of one colour among several that share a stretch of time. */
typedef struct haul_bar {
    haul_look look;
    int colour; /* the look, or HAUL_LOOKS and on for kernels with a colour of their own */
    bool shares;
    uint32_t op; /* the first */
    uint64_t count;
    uint64_t bytes;
    int64_t start_ns; /* from the origin on, within the window */
    int64_t end_ns;
    int64_t busy_ns; /* sum of durations, at most the bar's length */
    double base;     /* of the lane's height, taken by bars below this one */
} haul_bar;

/* The bar of one operation, cut to the window. */
haul_bar haul_lane_bar(const haul_lanes *lanes, uint32_t number);

/* Calls `visit` for the bars of a lane from left to right. Operations of at least fine_ns have one
 * of their own; of shorter ones those that begin in the same fine_ns share one for each colour. */
typedef void (*haul_bar_visitor)(void *state, const haul_bar *bar);
void haul_lane_bars(const haul_lanes *lanes, const haul_page_lane *lane, int64_t fine_ns,
                    haul_bar_visitor visit, void *state);

/* Calls `visit` for the stretches of a lane in which operations of the critical path ran, from left
 * to right; those with at most gap_ns between them are one. */
typedef void (*haul_stretch_visitor)(void *state, haul_span stretch);
void haul_lane_critical(const haul_lanes *lanes, const haul_page_lane *lane, int64_t gap_ns,
                        haul_stretch_visitor visit, void *state);

/* The smallest fine_ns, from least_ns on, with which there are at most `most` bars; 0 is a bar for
 * each operation. */
int64_t haul_lanes_fineness(const haul_lanes *lanes, int64_t least_ns, uint64_t most);

#endif
