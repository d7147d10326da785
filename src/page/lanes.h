/* A timeline as lanes of bars: one lane for each stream and for each thread that waits, and bars
 * that stand for one operation or for many short ones. */
#ifndef HAUL_PAGE_LANES_H
#define HAUL_PAGE_LANES_H

#include <stdbool.h>

#include "haul/page.h"

/* The kind of work that a bar shows; name in the legend. Bars of one stretch of time stand on each
 * other in this order. */
#define HL_PAGE_LOOK_LIST(X)                                                                       \
    X(KERNEL, "kernels")                                                                           \
    X(IN, "HtoD")                                                                                  \
    X(OUT, "DtoH")                                                                                 \
    X(WITHIN, "DtoD")                                                                              \
    X(PEER, "PtoP")                                                                                \
    X(OTHER, "other copies")                                                                       \
    X(SET, "memsets")                                                                              \
    X(WAIT, "waits")                                                                               \
    X(CALL, "calls")

typedef enum hl_page_look {
#define HL_PAGE_LOOK_ENUM(name, text) HL_PAGE_LOOK_##name,
    HL_PAGE_LOOK_LIST(HL_PAGE_LOOK_ENUM)
#undef HL_PAGE_LOOK_ENUM
        HL_PAGE_LOOKS
} hl_page_look;

/* A bar's colour: that of its look, or of one of the kernels that take the most time. */
enum { HL_PAGE_SHADES = 5, HL_PAGE_COLOURS = HL_PAGE_LOOKS + HL_PAGE_SHADES };

const char *hl_page_look_text(hl_page_look look);
hl_page_look hl_page_look_of(const haul_op *op);

typedef struct hl_page_lane {
    bool host;       /* of a thread, not of a stream */
    uint32_t number; /* of the stream or thread; HAUL_NONE where operations name none */
    uint32_t first;  /* into hl_page_lanes.order */
    uint32_t count;
    int64_t time_ns; /* sum of durations */
    int64_t busy_ns; /* their union */
} hl_page_lane;

/* Operations in figures, as the report counts them: its kernels are those that compute. */
typedef struct hl_page_sum {
    uint64_t count;
    int64_t time_ns; /* sum of durations */
    int64_t busy_ns; /* their union, over all lanes */
} hl_page_sum;

/* By device, then stream, then the host's threads. */
typedef struct hl_page_lanes {
    const haul_drawn *drawn;
    hl_page_lane *lanes;
    size_t count;
    size_t hidden;       /* lanes above the limit, those with the least time */
    uint64_t hidden_ops; /* on them */
    uint32_t *order;     /* operations, lane by lane, in order of start */
    int64_t origin_ns;   /* of the first operation of a device; of the host where none has any */
    int64_t window_ns;   /* from there to the last one's end */
    uint8_t *shades;     /* of each string id that names a kernel: 1 to HL_PAGE_SHADES, or 0 */
    size_t shade_ids;    /* of them */
    uint64_t ops[HL_PAGE_LOOKS];     /* collectives are drawn as kernels, */
    hl_page_sum sums[HL_PAGE_LOOKS]; /* and summed apart */
    hl_page_sum collectives;
} hl_page_lanes;

/* The names of the kernels that take the most time, at most HL_PAGE_SHADES; none where all kernels
 * have one name. Names live in the workload. Returns false without memory. */
typedef struct hl_page_shades {
    const char *names[HL_PAGE_SHADES];
    size_t count;
} hl_page_shades;
bool hl_page_shades_find(const haul_workload *workload, hl_page_shades *shades);
/* Gives the lanes' kernels of these names their colours; false without memory. */
bool hl_page_lanes_shade(hl_page_lanes *lanes, const hl_page_shades *shades);

/* Keeps the `most` lanes with the most time. Release with hl_page_lanes_release. */
haul_status hl_page_lanes_make(const haul_drawn *drawn, size_t most, hl_page_lanes *lanes,
                               haul_error *error);
void hl_page_lanes_release(hl_page_lanes *lanes);

/* One operation, or `count` short ones of one colour among several that share a stretch of time. */
typedef struct hl_page_bar {
    hl_page_look look;
    int colour; /* the look, or HL_PAGE_LOOKS and on for kernels with a colour of their own */
    bool shares;
    uint32_t op; /* the first */
    uint64_t count;
    uint64_t bytes;
    int64_t start_ns; /* from the origin on, within the window */
    int64_t end_ns;
    int64_t busy_ns; /* sum of durations, at most the bar's length */
    double base;     /* of the lane's height, taken by bars below this one */
} hl_page_bar;

/* The bar of one operation, cut to the window. */
hl_page_bar hl_page_lane_bar(const hl_page_lanes *lanes, uint32_t number);

/* Calls `visit` for the bars of a lane from left to right. Operations of at least fine_ns have one
 * of their own; of shorter ones those that begin in the same fine_ns share one for each colour. */
typedef void (*hl_page_bar_visitor)(void *state, const hl_page_bar *bar);
void hl_page_lane_bars(const hl_page_lanes *lanes, const hl_page_lane *lane, int64_t fine_ns,
                       hl_page_bar_visitor visit, void *state);

/* Calls `visit` for the stretches of a lane in which operations of the critical path ran, from left
 * to right; those with at most gap_ns between them are one. */
typedef void (*hl_page_stretch_visitor)(void *state, haul_span stretch);
void hl_page_lane_critical(const hl_page_lanes *lanes, const hl_page_lane *lane, int64_t gap_ns,
                           hl_page_stretch_visitor visit, void *state);

/* The smallest fine_ns, from least_ns on, with which there are at most `most` bars; 0 is a bar for
 * each operation. */
int64_t hl_page_lanes_fineness(const hl_page_lanes *lanes, int64_t least_ns, uint64_t most);

#endif
