/* A workload: the operations of a program on one or more GPUs, with streams, threads and
 * dependencies. A recorded program is one way to make a workload; it is immutable once finished.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_WORKLOAD_H
#define HAUL_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "haul/status.h"

HAUL_BEGIN

/* Where an operation runs: on a stream of a device, or on the thread that calls it. */
typedef enum haul_op_place { HAUL_OP_PLACE_DEVICE, HAUL_OP_PLACE_HOST } haul_op_place;

/* name in reports, place, whether haul_op.bytes counts.
 * MESSAGE: a part of a message between processes (haul_message_part); its stream is of a node.
 * SYNC: the host waits for an event, stream or context, or a stream for an event.
 * CALL: an API call that started nothing on a device. */
#define HAUL_OP_KIND_LIST(X)                                                                       \
    X(COPY, "copy", HAUL_OP_PLACE_DEVICE, true)                                                    \
    X(MEMSET, "memset", HAUL_OP_PLACE_DEVICE, true)                                                \
    X(KERNEL, "kernel", HAUL_OP_PLACE_DEVICE, false)                                               \
    X(SYNC, "wait", HAUL_OP_PLACE_HOST, false)                                                     \
    X(CALL, "call", HAUL_OP_PLACE_HOST, false)                                                     \
    X(MESSAGE, "message", HAUL_OP_PLACE_DEVICE, true)

typedef enum haul_op_kind {
#define HAUL_OP_ENUM(name, text, place, has_bytes) HAUL_OP_##name,
    HAUL_OP_KIND_LIST(HAUL_OP_ENUM)
#undef HAUL_OP_ENUM
} haul_op_kind;

enum {
#define HAUL_OP_COUNT(name, text, place, has_bytes) +1
    HAUL_OP_KINDS = 0 HAUL_OP_KIND_LIST(HAUL_OP_COUNT)
#undef HAUL_OP_COUNT
};

/* name in reports */
#define HAUL_DIRECTION_LIST(X)                                                                     \
    X(HTOD, "HtoD")                                                                                \
    X(DTOH, "DtoH")                                                                                \
    X(DTOD, "DtoD")                                                                                \
    X(PTOP, "PtoP")                                                                                \
    X(HTOH, "HtoH")                                                                                \
    X(UNKNOWN, "unknown")

typedef enum haul_direction {
#define HAUL_DIRECTION_ENUM(name, text) HAUL_DIRECTION_##name,
    HAUL_DIRECTION_LIST(HAUL_DIRECTION_ENUM)
#undef HAUL_DIRECTION_ENUM
        HAUL_DIRECTIONS
} haul_direction;

/* The memory that decides a copy's cost: the host's side where there is one, "device" where there
 * is none, "managed" for migrations of unified memory, "array" for device arrays. */
#define HAUL_MEMORY_LIST(X)                                                                        \
    X(PAGEABLE, "pageable")                                                                        \
    X(PINNED, "pinned")                                                                            \
    X(DEVICE, "device")                                                                            \
    X(ARRAY, "array")                                                                              \
    X(MANAGED, "managed")                                                                          \
    X(HOST, "host") /* the host's, but the profile does not say which kind */                      \
    X(UNKNOWN, "unknown")

typedef enum haul_memory {
#define HAUL_MEMORY_ENUM(name, text) HAUL_MEMORY_##name,
    HAUL_MEMORY_LIST(HAUL_MEMORY_ENUM)
#undef HAUL_MEMORY_ENUM
        HAUL_MEMORIES
} haul_memory;

/* The parts of a message's way: the process hands it over, the node's network interface carries it,
 * which it does for one message at a time, and it takes its latency to arrive. */
typedef enum haul_message_part {
    HAUL_MESSAGE_SENT,
    HAUL_MESSAGE_CARRIED,
    HAUL_MESSAGE_ARRIVES,
} haul_message_part;

typedef enum haul_sync_kind {
    HAUL_SYNC_UNKNOWN,
    HAUL_SYNC_EVENT,       /* the host waits for an event */
    HAUL_SYNC_STREAM_WAIT, /* a stream waits for an event */
    HAUL_SYNC_STREAM,      /* the host waits for a stream */
    HAUL_SYNC_CONTEXT,     /* the host waits for all streams of a context */
} haul_sync_kind;

enum {
    HAUL_OP_HAS_CALL = 1,   /* call_ns, call_dur_ns and thread are known */
    HAUL_OP_NO_BYTES = 4,   /* a copy or memset whose `bytes`, 0, are not known */
    HAUL_OP_BLOCKS = 2,     /* its call returns when it has ended */
    HAUL_OP_COLLECTIVE = 8, /* a kernel that moves data between GPUs (haul/collective.h) */
};

#define HAUL_NONE UINT32_MAX

/* One operation, 64 bytes. Times are nanoseconds on the workload's one clock. */
typedef struct haul_op {
    int64_t start_ns; /* on the device; of the call for SYNC and CALL */
    int64_t dur_ns;   /* never negative */
    union {
        uint64_t bytes; /* COPY, MEMSET and MESSAGE */
        uint32_t shape; /* KERNEL: index into haul_workload.shapes, or HAUL_NONE */
        uint64_t wait;  /* SYNC: 0; for those who make the workload, what it waits for */
    };
    int64_t call_ns;      /* start of the host call that issued it */
    int64_t call_dur_ns;  /* the call's own duration */
    uint32_t name;        /* string id: the kernel's, else the call's; HAUL_NONE where unknown */
    uint32_t stream;      /* index into streams, or HAUL_NONE */
    uint32_t thread;      /* index into threads, or HAUL_NONE */
    uint32_t stream_prev; /* the device operation before it on its stream, or HAUL_NONE; a SYNC or
                           * CALL is on no stream's chain */
    uint32_t thread_prev; /* the operation called before it on its thread, or on the one that takes
                           * turns with it (forward and backward passes); else HAUL_NONE */
    uint8_t kind;         /* haul_op_kind */
    uint8_t direction;    /* COPY: haul_direction; MESSAGE: haul_message_part */
    uint8_t detail;       /* COPY, MESSAGE: haul_memory; SYNC: haul_sync_kind */
    uint8_t flags;
} haul_op;

/* Where operations of a kind run; HAUL_OP_PLACE_HOST for what is no kind. */
static inline haul_op_place haul_op_kind_place(haul_op_kind kind)
{
#define HAUL_OP_PLACE(name, text, place, has_bytes) place,
    static const haul_op_place places[HAUL_OP_KINDS] = {HAUL_OP_KIND_LIST(HAUL_OP_PLACE)};
#undef HAUL_OP_PLACE
    return (unsigned)kind < HAUL_OP_KINDS ? places[kind] : HAUL_OP_PLACE_HOST;
}

/* A copy, memset, kernel or message: it runs in the order of its stream. */
static inline bool haul_op_on_device(const haul_op *op)
{
    return haul_op_kind_place((haul_op_kind)op->kind) == HAUL_OP_PLACE_DEVICE;
}

/* Whether copies of a direction are between host and device: they cross the host's link. */
static inline bool haul_direction_crosses_link(haul_direction direction)
{
    return direction == HAUL_DIRECTION_HTOD || direction == HAUL_DIRECTION_DTOH;
}

/* A copy between host and device. */
static inline bool haul_op_crosses_link(const haul_op *op)
{
    return op->kind == HAUL_OP_COPY && haul_direction_crosses_link((haul_direction)op->direction);
}

/* A kernel that moves data between GPUs: communication, not computation. */
static inline bool haul_op_is_collective(const haul_op *op)
{
    return op->kind == HAUL_OP_KERNEL && (op->flags & HAUL_OP_COLLECTIVE);
}

/* A wait or a call: it is its thread's own work, from start_ns for dur_ns. */
static inline bool haul_op_on_host(const haul_op *op)
{
    return haul_op_kind_place((haul_op_kind)op->kind) == HAUL_OP_PLACE_HOST;
}

/* Whether `bytes` is what the operation copies or sets. */
static inline bool haul_op_has_bytes(const haul_op *op)
{
#define HAUL_OP_BYTES(name, text, place, has_bytes) has_bytes,
    static const bool of_kind[HAUL_OP_KINDS] = {HAUL_OP_KIND_LIST(HAUL_OP_BYTES)};
#undef HAUL_OP_BYTES
    return op->kind < HAUL_OP_KINDS && of_kind[op->kind];
}

typedef struct haul_workload_stream {
    uint32_t device;  /* index into devices, or HAUL_NONE */
    uint64_t process; /* the profile's id */
    uint64_t context;
    uint64_t id;
    const char *name; /* NULL where it has none but its id */
    bool is_default;  /* CUDA's default stream */
} haul_workload_stream;

typedef struct haul_workload_thread {
    uint64_t process;
    uint64_t id;
    const char *name; /* likewise */
} haul_workload_thread;

/* A device as the profile describes it; a parameter that is absent is 0. */
typedef struct haul_workload_device {
    uint64_t id;      /* as the operations name it */
    const char *name; /* NULL where the profile has no device table */
    double memory_bandwidth_Bps;
    double clock_Hz;
    uint64_t memory_bytes;
    uint64_t l2_bytes;
    uint32_t multiprocessors;
    uint32_t copy_engines;
    uint32_t compute_major;
    uint32_t compute_minor;
    int64_t rank;     /* of the process that used it, in a workload of several; else -1 */
    const char *host; /* the machine that it is in; NULL where the profile does not name it */
} haul_workload_device;

typedef struct haul_shape {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t registers_per_thread;
    uint32_t shared_bytes; /* static and dynamic, a block */
    uint32_t collective;   /* 1 + index into haul_workload.collectives; 0 for other kernels */
    uint32_t operands;     /* 1 + index into haul_workload.operands; 0 where not known */
} haul_shape;

/* Sizes of what the operator that launched a kernel reads and writes, as PyTorch records them. For
 * `batch` matrix products of rows x inner by inner x columns each; batch 0: another operator. A
 * convolution is the product of its filter with what it reads: batch (groups), rows (places of the
 * result), columns and inner (channels); attention has rows (queries), columns (keys) and inner
 * (the widths of keys and values, times 2.5 for gradients); of these `bytes` are not a product's.
 */
typedef struct haul_operands {
    uint64_t batch;
    uint64_t rows;
    uint64_t columns;
    uint64_t inner;
    uint64_t bytes;     /* of operands and result, each once */
    uint64_t alignment; /* at multiples of how many bytes all their rows begin, at most 16; 0: not
                         * known */
} haul_operands;

/* The data that a kernel of a collective operation moves between GPUs, as PyTorch records it. */
typedef struct haul_collective {
    uint32_t name;      /* string ids: "allreduce", */
    uint32_t data_type; /* "Float", */
    uint32_t group;     /* the group's name; HAUL_NONE where not known */
    uint32_t group_size;
    uint64_t elements_in; /* of each rank */
    uint64_t elements_out;
} haul_collective;

/* A span of a thread that the program named: an NVTX or roctx range, a user annotation. A mark has
 * no duration. */
typedef struct haul_named_range {
    int64_t start_ns;
    int64_t dur_ns;
    uint32_t name;   /* string id */
    uint32_t thread; /* index into threads, or HAUL_NONE */
} haul_named_range;

/* `after` may not start before `before` has ended: an event, a synchronisation. Where `after` is a
 * SYNC, a wait of the host, it may not end before. `before` is a SYNC where the host asked for a
 * migration of unified memory: what it touches it touches after its last wait. It is a CALL or a
 * SYNC, too, where a MESSAGE waited for another process to enter a call of MPI. Recorded times
 * agree with that to within 20 us, by which clocks of hosts and devices may differ. The order on
 * one stream and on one thread is in the operations themselves. */
typedef struct haul_edge {
    uint32_t before;
    uint32_t after;
} haul_edge;

/* A lack of the source or a repair, noted once, with how often it was met. */
typedef struct haul_note {
    const char *text;
    uint64_t count; /* 0 where counting means nothing */
} haul_note;

/* All arrays are the workload's. Operations are in order of start_ns (equal starts keep the order
 * of the source); edges in order of `after`. Starts lie in [-2^61, 2^61], and the sums of all
 * durations, of all calls' durations and of all bytes are at most 2^62. Devices are those that some
 * operation or wait names. */
typedef struct haul_workload {
    const char *source; /* the file it was read from */
    const char *format; /* "nsys 3.24.14", "nvprof 22", ... */
    const haul_op *ops;
    size_t op_count;
    const uint32_t *operators; /* of each operation: haul_op_operator; NULL: the profile has none */
    const uint32_t *lines;     /* likewise: haul_op_line */
    const uint32_t *stacks;    /* likewise: haul_op_stack */
    const haul_edge *edges;
    size_t edge_count;
    const haul_workload_stream *streams;
    size_t stream_count;
    const haul_workload_thread *threads;
    size_t thread_count;
    const haul_workload_device *devices;
    size_t device_count;
    const haul_shape *shapes;
    size_t shape_count;
    const haul_note *losses; /* what the profiler could not keep: the profile is incomplete */
    size_t loss_count;
    const haul_named_range *ranges; /* in order of start, equal starts the longest first */
    size_t range_count;
    const haul_collective *collectives;
    size_t collective_count;
    const haul_operands *operands;
    size_t operand_count;
    int64_t epoch_ns; /* what to add to a time for nanoseconds since 1970; 0 where not known */
    int64_t rank;     /* of the program's processes, -1 where not known */
    const haul_note *missing; /* what the file lacks */
    size_t missing_count;
    const haul_note *repairs; /* what was wrong in it and what was done */
    size_t repair_count;
    struct {
        uint64_t device_ops; /* copies, memsets and kernels */
        uint64_t orphans;    /* of those, without a host call in the profile */
        uint64_t calls;      /* host calls in the profile */
    } counts;
} haul_workload;

/* Frees a workload and all it owns. */
HAUL_API void haul_workload_free(haul_workload *workload);

/* The text of a string id; "" for HAUL_NONE. Any bytes but NUL. */
HAUL_API const char *haul_workload_string(const haul_workload *workload, uint32_t id);

/* The operator of PyTorch, the innermost, that called for an operation: a string id, or HAUL_NONE
 * where the profile tells none. */
static inline uint32_t haul_op_operator(const haul_workload *workload, size_t op)
{
    return workload->operators ? workload->operators[op] : HAUL_NONE;
}

/* The source line that called for an operation, of the program's own code: a string id, or
 * HAUL_NONE. "train.py:42 in step"; where a profile has functions alone "step (libmodel.so)". */
static inline uint32_t haul_op_line(const haul_workload *workload, size_t op)
{
    return workload->lines ? workload->lines[op] : HAUL_NONE;
}

/* That line and those that led to it, the caller behind the called: a string id, or HAUL_NONE.
 * "train.py:42 in step <- train.py:80 in main". */
static inline uint32_t haul_op_stack(const haul_workload *workload, size_t op)
{
    return workload->stacks ? workload->stacks[op] : HAUL_NONE;
}

HAUL_API const char *haul_op_kind_text(haul_op_kind kind);
HAUL_API const char *haul_direction_text(haul_direction direction);
HAUL_API const char *haul_memory_text(haul_memory memory);

/* Reads "HtoD" or "pinned", in any case. Returns BAD_INPUT with the list of names in `error`. */
HAUL_API haul_status haul_direction_parse(const char *text, haul_direction *direction,
                                          haul_error *error);
HAUL_API haul_status haul_memory_parse(const char *text, haul_memory *memory, haul_error *error);

HAUL_END

#endif
