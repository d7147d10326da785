/* The rows of a trace: a stream or thread each, with lanes where operations overlap, for slices of
 * the format must not. */
#ifndef HAUL_REPORT_PERFETTO_ROWS_H
#define HAUL_REPORT_PERFETTO_ROWS_H

#include "report/perfetto_events.h"

enum { HL_REPORT_LANES = 16, HL_REPORT_NO_LANE = 0xff };

typedef struct hl_report_perfetto_row {
    hl_report_track at;    /* of its first lane; the others follow */
    unsigned named;        /* lanes that have a name */
    hl_report_slice group; /* that may grow; count 0: none */
    int64_t lane_end_ns[HL_REPORT_LANES];
} hl_report_perfetto_row;

/* One timeline of a trace. Where each operation and its call are drawn alone is kept in `lanes` and
 * `call_lanes`, HL_REPORT_NO_LANE where they are not. */
typedef struct hl_report_perfetto_rows {
    const haul_drawn *drawn;
    hl_report_drawn_names names;
    hl_report_perfetto_row
        *items; /* streams, no stream, threads, no thread, ranges of each of these */
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
} hl_report_perfetto_rows;

/* A pass over the rows: with `out` NULL it only counts. */
typedef struct hl_report_drawing {
    FILE *out;
    int64_t merge_ns; /* operations shorter than this are drawn together */
    bool full;        /* with arrows, and the shapes of kernels */
    uint64_t bytes;
    uint64_t arrows;
    haul_thinned thinned;
} hl_report_drawing;

/* Room for a timeline: its processes and threads are numbered from the given ones, which are
 * advanced. Release it whatever the outcome. Returns BAD_INPUT, NO_MEMORY. */
haul_status hl_report_rows_init(hl_report_perfetto_rows *self, const haul_drawn *drawn,
                                hl_report_track *next, haul_error *error);
void hl_report_rows_release(hl_report_perfetto_rows *self);

/* Draws, or counts, all that the timeline has. */
void hl_report_rows_draw(hl_report_perfetto_rows *self, hl_report_drawing *drawing);

#endif
