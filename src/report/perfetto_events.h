/* Single events of Chrome's Trace Event Format, each on a line of its own, and how many bytes they
 * take: at least what is written, so that a sum of them is known before anything is. */
#ifndef HAUL_REPORT_PERFETTO_EVENTS_H
#define HAUL_REPORT_PERFETTO_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "haul/report.h"

/* Where an event is drawn: processes and threads of the format are devices and streams. */
typedef struct hl_report_track {
    uint32_t pid;
    uint32_t tid;
} hl_report_track;

/* One operation or range, or several close together. */
typedef struct hl_report_slice {
    int64_t start_ns;
    int64_t end_ns;
    int64_t busy_ns; /* the sum of their durations */
    uint64_t bytes;
    uint32_t op; /* the first, or the first range */
    uint32_t count;
    bool is_call;  /* the call that issued it */
    bool is_range; /* a named one */
} hl_report_slice;

/* The names of a workload's operations as they are drawn: short, each made once. */
typedef struct hl_report_drawn_name {
    const char *text;
    uint32_t bytes; /* in JSON, quotes included */
} hl_report_drawn_name;

typedef struct hl_report_drawn_names {
    const haul_drawn *drawn;
    hl_report_drawn_name *items; /* by string id */
    uint32_t count;
    hl_base_arena arena;
} hl_report_drawn_names;

bool hl_report_drawn_names_init(hl_report_drawn_names *self, const haul_drawn *drawn);
void hl_report_drawn_names_release(hl_report_drawn_names *self);

/* Writes a slice; with `shape` also what a kernel was launched with. */
void hl_report_perfetto_slice(hl_report_drawn_names *names, const hl_report_slice *slice,
                              hl_report_track at, bool shape, FILE *out);
uint64_t hl_report_perfetto_slice_bytes(hl_report_drawn_names *names, const hl_report_slice *slice,
                                        hl_report_track at);

/* An arrow from inside one slice to inside another. */
typedef struct hl_report_arrow {
    const char *what;
    uint64_t id;
    hl_report_track from;
    int64_t from_ns;
    hl_report_track to;
    int64_t to_ns;
} hl_report_arrow;

void hl_report_perfetto_arrow(const hl_report_arrow *arrow, FILE *out);

/* Gives a process (`of_thread` false) or thread its name and its place among the others. */
void hl_report_perfetto_name(hl_report_track at, bool of_thread, uint32_t rank, const char *name,
                             FILE *out);

enum {
    HL_REPORT_ARROW_BYTES = 320,
    HL_REPORT_EVENT_NAME_BYTES = 1000 /* a process or thread, named */
};

#endif
