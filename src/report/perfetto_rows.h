/* The rows of a trace: a stream or thread each, with lanes where operations overlap, for slices of
 * the format must not. */
#ifndef HAUL_REPORT_PERFETTO_ROWS_H
#define HAUL_REPORT_PERFETTO_ROWS_H

#include "report/perfetto_events.h"

enum { HAUL_LANES = 16, HAUL_NO_LANE = 0xff };

typedef struct haul_perfetto_row {
    haul_track at;    /* of its first lane; the others follow */
    unsigned named;   /* lanes that have a name */
    haul_slice group; /* that may grow; count 0: none */
    int64_t lane_end_ns[HAUL_LANES];
} haul_perfetto_row;

/* One timeline of a trace. Where each operation and its call are drawn alone is kept in `lanes` and
 * `call_lanes`, HAUL_NO_LANE where they are not. */
typedef struct haul_perfetto_rows {
    const haul_drawn *drawn;
    haul_drawn_names names;
    haul_perfetto_row *items; /* streams, no stream, threads, no thread, ranges of each of these */
    uint32_t count;
    uint32_t stream_count; /* with the one for none */
    uint32_t thread_count; /* likewise */
    uint32_t first_pid;    /* the host's; then devices, then that of streams without one */
    bool *pid_named;
    uint32_t *host_order; /* what threads of the host did, in order */
    uint32_t host_count;
    uint8_t *lanes;
    uint8_t *call_lanes;
    int64_t origin_ns;
} haul_perfetto_rows;

/* A pass over the rows: with `out` NULL it only counts. */
typedef struct haul_drawing {
    FILE *out;
    int64_t merge_ns; /* operations shorter than this are drawn together */
    bool full;        /* with arrows, and the shapes of kernels */
    uint64_t bytes;
    uint64_t arrows;
    haul_thinned thinned;
} haul_drawing;

/* Room for a timeline: its processes and threads are numbered from the given ones, which are
 * advanced. Release it whatever the outcome. Returns BAD_INPUT, NO_MEMORY. */
haul_status haul_rows_init(haul_perfetto_rows *self, const haul_drawn *drawn, haul_track *next,
                           haul_error *error);
void haul_rows_release(haul_perfetto_rows *self);

/* Draws, or counts, all that the timeline has. */
void haul_rows_draw(haul_perfetto_rows *self, haul_drawing *drawing);

#endif
