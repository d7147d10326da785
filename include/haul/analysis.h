/* A recorded program in figures: copies by direction, memory and size, kernels, overlap, idle.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_ANALYSIS_H
#define HAUL_ANALYSIS_H

#include "haul/workload.h"

HAUL_BEGIN

enum {
    HAUL_ANALYSIS_DECADES = 20,
    HAUL_ANALYSIS_LARGEST = 10,
    HAUL_SYNC_KINDS = HAUL_SYNC_CONTEXT + 1
};

/* Counts and sums over operations. A sum that passes the largest integer stays there. */
typedef struct haul_totals {
    uint64_t count;
    uint64_t bytes;
    int64_t time_ns; /* sum of durations */
} haul_totals;

/* The copies of one direction and memory. */
typedef struct haul_copy_group {
    haul_direction direction;
    haul_memory memory;
    haul_totals totals;
    /* by decade of size: [0] is 0 to 9 bytes, [k] is 10^k to 10^(k+1)-1 (AHEAD, Figure 1) */
    haul_totals decades[HAUL_ANALYSIS_DECADES];
    int64_t busy_ns;     /* union of the copies' intervals */
    int64_t shortest_ns; /* of those that took time, 0 where none did */
    int64_t longest_ns;
    /* The time of a copy of no bytes, by the straight line under the copies, from the fastest of
     * all to those of at least 4 times its size, taken to 0 bytes. NaN where that cannot be told:
     * no such copies, or the latency is below a quarter of the fastest copy's time. A copy of up to
     * 64 bytes costs its latency. */
    double latency_s;
    double median_Bps; /* of the rates of the copies that have bytes and a duration; NaN if none */
    double best_Bps;   /* the largest of those rates */
} haul_copy_group;

/* Calls of MPI of one name, or of one rank. Of a call that waited, the time until its messages
 * could go on is that for late ranks, the rest is transfer; one whose other side the profile lacks
 * has neither. */
typedef struct haul_mpi_use {
    uint32_t name; /* the workload's string id; HAUL_NONE: of a rank */
    int64_t rank;  /* -1: of a name */
    uint64_t calls;
    uint64_t bytes; /* sent by calls that send, received by others */
    int64_t time_ns;
    int64_t late_ns;
    int64_t transfer_ns;
    int64_t caused_ns; /* of a rank: late_ns of others' calls for which it was the last */
    int64_t span_ns;   /* of a rank: from its first call, of any kind, to the end of its last */
} haul_mpi_use;

/* Where the time goes: operations that share name, direction, memory and size. */
typedef struct haul_cost_row {
    haul_op_kind kind;
    haul_direction direction;
    haul_memory memory;
    uint32_t name;  /* of kernels: the workload's string id; else HAUL_NONE */
    uint64_t bytes; /* of one copy or memset */
    uint64_t count;
    int64_t time_ns;
    int64_t shortest_ns; /* of those that took time, 0 where none did */
} haul_cost_row;

/* Unions of intervals over streams (and over devices, for the whole workload), never sums of
 * overlapping durations: either = copy + kernel - both, any = span - idle. Kernels are those that
 * compute: collectives' are communication. */
typedef struct haul_busy {
    int64_t copy_ns;
    int64_t kernel_ns;
    int64_t memset_ns;
    int64_t both_ns;                 /* a copy and a kernel at once */
    int64_t either_ns;               /* a copy or a kernel */
    int64_t any_ns;                  /* a copy, a kernel, a collective or a memset */
    int64_t communication_ns;        /* collectives */
    int64_t hidden_communication_ns; /* of it, beside a kernel; over devices of any of them */
} haul_busy;

typedef struct haul_workload_device_use {
    uint32_t device; /* index into the workload's devices; HAUL_NONE: the workload does not say */
    haul_totals copies;
    haul_totals kernels;
    haul_totals communication; /* collectives; bytes: what the device sent, as far as known */
    haul_totals memsets;
    haul_busy busy;
} haul_workload_device_use;

/* The host's side. Times are unions on each thread (a call inside a call counts once), summed over
 * threads. Only calls that the profile holds and that can be told from their thread count. */
typedef struct haul_host_use {
    uint32_t threads; /* that made calls */
    int64_t call_ns;
    int64_t copy_call_ns;   /* in calls that issued copies */
    int64_t launch_call_ns; /* in calls that launched kernels */
    int64_t wait_ns;        /* waiting for a device in synchronisations */
} haul_host_use;

typedef struct haul_analysis {
    haul_copy_group *groups; /* those met, by direction, then memory */
    size_t group_count;
    haul_workload_device_use *devices; /* those with operations, in the workload's order */
    size_t device_count;
    size_t stream_count; /* those with operations */
    haul_totals copies;
    haul_totals kernels;
    haul_totals communication;
    uint64_t unsized; /* collectives whose bytes the profile does not tell */
    haul_totals memsets;
    haul_totals calls;                  /* calls that started nothing on a device */
    haul_totals syncs[HAUL_SYNC_KINDS]; /* by haul_sync_kind */
    haul_host_use host;
    int64_t span_ns; /* from the first start to the last end of device work */
    haul_busy busy;
    int64_t idle_ns;      /* of the span: nothing on any device */
    double hidden_share;  /* of the collectives' busy time, likewise */
    double overlap_share; /* of the copies' busy time, under kernels of the same device; NaN if 0 */
    double copy_share;    /* copies' time / (copies' + kernels'), sums (AHEAD, Table I); NaN if 0 */
    double latency_share; /* of the time of groups whose latency is known; NaN if none is */
    haul_cost_row largest[HAUL_ANALYSIS_LARGEST]; /* by time, the largest first */
    size_t largest_count;
    struct haul_idle_cause *idle; /* why nothing ran: they add up to idle_ns */
    size_t idle_count;
} haul_analysis;

/* Summarises a workload. Needs at most 16 bytes an operation while it runs, and 80 bytes for each
 * distinct kernel name and size of copy. Returns NO_MEMORY. Free with haul_analysis_free. */
HAUL_API haul_status haul_analysis_make(const haul_workload *workload, haul_analysis **analysis,
                                        haul_error *error);
HAUL_API void haul_analysis_free(haul_analysis *analysis);

/* How much of busy.communication_ns no kernel of its own device hides: what hidden_share leaves. */
HAUL_API int64_t haul_analysis_exposed_ns(const haul_analysis *analysis);

/* Why no device works, by what the thread that issues the next operation does until it starts: its
 * text in JSON, and in reports */
#define HAUL_IDLE_LIST(X)                                                                          \
    X(HOST, "host", "host work")                 /* outside of API calls: nothing is queued */     \
    X(CALL, "call", "other API calls")           /* cudaMalloc, a module's load ... */             \
    X(WAIT, "wait", "waits")                     /* a synchronisation, with nothing running */     \
    X(COPY, "copy", "copy calls")                /* what stages a copy, or blocks after it */      \
    X(LAUNCH, "launch", "launch calls")          /* of a kernel or memset */                       \
    X(START, "start", "launch latency")          /* the call has returned, the work begins */      \
    X(UNKNOWN, "unknown", "no call is recorded") /* the next operation has none */

typedef enum haul_idle_kind {
#define HAUL_IDLE_ENUM(name, text, phrase) HAUL_IDLE_##name,
    HAUL_IDLE_LIST(HAUL_IDLE_ENUM)
#undef HAUL_IDLE_ENUM
        HAUL_IDLE_KINDS
} haul_idle_kind;

HAUL_API const char *haul_idle_text(haul_idle_kind kind);

/* One cause: of HOST the innermost named range, or the operator whose operation comes next; of CALL
 * and WAIT the call. */
typedef struct haul_idle_cause {
    haul_idle_kind kind;
    uint32_t name; /* string id, HAUL_NONE where not known */
    uint64_t count;
    int64_t time_ns;
} haul_idle_cause;

/* Operations issued while threads were in ranges of one name; of ranges within each other, each
 * name has all of it. */
typedef struct haul_range_use {
    uint32_t name; /* string id */
    uint64_t count;
    int64_t time_ns;    /* sum of the ranges' durations */
    uint64_t ops;       /* of devices, called in one of them */
    int64_t kernels_ns; /* sums of durations */
    int64_t copies_ns;
} haul_range_use;

/* Sums operations by the ranges in which they were called, those with the most device time first;
 * `durations_ns` of op_count replaces recorded durations, or is NULL. Sets *uses, which the caller
 * frees, to *count of them. Needs 10 bytes an operation, 4 a range and 72 a name while it runs.
 * Returns NO_MEMORY. */
HAUL_API haul_status haul_range_uses(const haul_workload *workload, const int64_t *durations_ns,
                                     haul_range_use **uses, size_t *count, haul_error *error);

/* Where in the program operations come from: the operator of PyTorch; the innermost named range in
 * which its thread called for it, else any thread's; the kernel, or the call of a copy; the source
 * line, alone or with its callers. */
typedef enum haul_group_by {
    HAUL_GROUP_BY_NOTHING,
    HAUL_GROUP_BY_OPERATOR,
    HAUL_GROUP_BY_RANGE,
    HAUL_GROUP_BY_KERNEL,
    HAUL_GROUP_BY_LINE,
    HAUL_GROUP_BY_STACK,
} haul_group_by;

/* Kernels, collectives' too, and copies of one origin. */
typedef struct haul_work_group {
    uint32_t name; /* string id, HAUL_NONE where the profile tells none */
    uint64_t kernels;
    uint64_t copies;
    uint64_t bytes;     /* of copies */
    int64_t kernels_ns; /* sums of durations */
    int64_t copies_ns;
} haul_work_group;

/* Sums operations by their origin, those with the most time first. Sets *groups, which the caller
 * frees, to *count of them. Returns NO_MEMORY. */
HAUL_API haul_status haul_work_groups(const haul_workload *workload, haul_group_by by,
                                      haul_work_group **groups, size_t *count, haul_error *error);

/* Where in the program most of the time of a group of operations was called for. Its texts are the
 * workload's. */
typedef struct haul_place {
    const char *operator_name; /* of PyTorch; NULL: the profile tells none */
    const char *range;         /* the innermost named range; likewise */
    const char *line;          /* haul_op_line; likewise */
    const char *stack;         /* haul_op_stack; likewise */
    double operator_share;     /* of the group's time */
    double range_share;
    double line_share;
} haul_place;

/* Fills the places of `count` groups; groups[i], of op_count, is that of an operation, below
 * `count`, or HAUL_NONE. Returns NO_MEMORY. */
HAUL_API haul_status haul_places_find(const haul_workload *workload, const uint32_t *groups,
                                      size_t count, haul_place *places, haul_error *error);

/* Sums the calls of MPI: by name, those of the most time first, then by rank. The caller frees
 * *uses; NULL and 0 where there are none. Returns NO_MEMORY. */
HAUL_API haul_status haul_mpi_uses(const haul_workload *workload, haul_mpi_use **uses,
                                   size_t *count, haul_error *error);

HAUL_END

#endif
