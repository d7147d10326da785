/* Timeline: when each operation of a workload starts and ends on a machine.
 *
 * Resources:
 *   stream        runs its operations in the order of the workload
 *   copy engine   runs one copy between host and device at a time, first come, first served; one
 *                 engine serves both directions, two serve one each. With two, a peer copy uses the
 *                 device-to-host engine; each further engine takes one peer copy. A peer copy
 *                 holds nothing of the other device: an operation names its stream's device alone
 *   GPU           runs so many kernels, memsets and copies within its memory at once, and kernels
 *                 as far as occupancy allows
 *   network       a node's interface: carries one message at a time, first come, first served; the
 *                 node is a device of its own
 *   host thread   makes its calls in the order of the workload; a call returns after call_dur_ns,
 *                 or, where it blocks, when its operation has ended
 * Copies within the host, and of unknown direction, hold nothing but their stream.
 *
 * An operation starts when its call has been made, the operation before it on its stream and all
 * that its edges name have ended, and its resource is free. Each resource serves waiting operations
 * first come, first served, ties by operation number. At one instant all ends come first, then all
 * starts that they allow. So equal inputs give equal timelines on every computer.
 *
 * Times are nanoseconds since the earliest start or call of the workload.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_TIMELINE_H
#define HAUL_TIMELINE_H

#include "haul/machine.h"
#include "haul/workload.h"

HAUL_BEGIN

/* Limits of one multiprocessor; 0: none. */
typedef struct haul_occupancy {
    unsigned multiprocessors; /* of the device; 0: kernels are only counted */
    unsigned blocks;
    unsigned threads;
    unsigned registers;
    unsigned shared_bytes;
} haul_occupancy;

/* The same for every device of the machine. Members from `occupancy` on are not modelled where 0.
 */
typedef struct haul_timeline_device {
    unsigned copy_engines; /* 0: copies between host and device are an error */
    unsigned kernels;      /* at once; 0: kernels, memsets and copies within it are an error */
    /* Implicit synchronisation: an operation that follows a kernel on its stream waits until every
     * earlier kernel of the device, of any stream, has started; every later kernel waits until the
     * followed kernel has ended (CUDA C Programming Guide, for devices of compute capability 3.0
     * and lower; CCGrid 2014, section III). */
    bool implicit_sync;
    /* By HAUL_DIRECTION_HTOD and HAUL_DIRECTION_DTOH: the share of its speed that a copy keeps
     * while the device copies the other way, in (0, 1]. */
    double busy_speed[2];
    /* The same beside migrations, and of a migration beside copies; 0: as busy_speed. */
    double mapped_speed[2];
    /* Time that a copy saves where it follows one of its direction on its engine without a pause:
     * latency less gap, (L+o) - g (CCGrid 2014, section V). */
    int64_t chained_ns[2];
    /* Of a copy's time, what contention and a shared link do not slow, L+o: they slow its bytes (0:
     * all of it is slowed). */
    int64_t latency_ns[2];
    /* From a call to the earliest start of its operation, by haul_op_kind (0 for the host's): from
     * the call's start, or, where issue_on_return and the call does not block, from its return. */
    int64_t issue_ns[HAUL_OP_KINDS];
    bool issue_on_return[HAUL_OP_KINDS];
    /* From a kernel's end to the earliest start of the kernel behind it in its stream; 0 for one
     * without a call where the workload has threads, as of a CUDA graph. */
    int64_t kernel_gap_ns;
    /* The same where one of the two, or both, is a memset or a copy within the device: the GPU goes
     * over to another of its units. */
    int64_t memory_gap_ns;
    /* A kernel starts when one of its blocks fits, and then holds the places of all its blocks, at
     * most the device, until it ends: the blocks of the first kernel are assigned before any of the
     * next (Amert et al., GPU Scheduling on the NVIDIA TX2: Hidden Details Revealed, RTSS 2017).
     * The kernel's shape gives the blocks that a multiprocessor holds; a kernel without a shape
     * takes the whole device, memsets and copies within the device take nothing. */
    haul_occupancy occupancy;
    /* Launch queue: the most operations of one stream that have been called and have not ended.
     * With HAUL_RELEASE_HOST a call that finds the queue full waits until the oldest operation
     * ends. CUDA takes 1022 for each stream in public profiles; OpenCL names no limit. */
    unsigned queue_depth;
    /* Devices that share one link to the host: the first so many of the workload, the next so many,
     * ... A link carries `link_copies` of one direction (0 is 1) at full speed; of more, each has
     * min(its own speed, link_copies / copies of its direction on the link). */
    unsigned link_devices;
    double link_copies;
    /* One staging buffer: a pageable copy holds it from before it waits for its engine until its
     * end, so pageable copies of a device exclude each other in both directions. */
    bool staging;
    /* Migrations of unified memory (HAUL_MEMORY_MANAGED) at once. The driver has its own channels
     * for them (nvidia-uvm, uvm_channel.c): they wait for no copy engine, but share the link with
     * copies of their direction as above, and slow those of the other. A migration without a call
     * answers a kernel's faults: it waits until the earlier kernels of its device have started. */
    unsigned migrations;
} haul_timeline_device;

/* Where the times of calls come from. */
typedef enum haul_release {
    /* Threads are simulated: a call is made when the one before it has returned and the recorded
     * time between the two has passed. An operation without a call may start at time 0. A call
     * blocks where its operation has HAUL_OP_BLOCKS. */
    HAUL_RELEASE_HOST,
    /* No call is made earlier than recorded, and only waits block. An operation without a call does
     * not start earlier than recorded. */
    HAUL_RELEASE_RECORDED,
} haul_release;

/* An operation that starts `delay_ns` after it could, for a reason that the workload does not hold:
 * its call, its stream and its edges would let it start earlier. A compiler that runs at a kernel's
 * first launch is one. Negative: an operation that takes so much less from its call to its start
 * than others of its kind, where that counts from the call; never does it start before the call. */
typedef struct haul_start_delay {
    uint32_t op;
    int64_t delay_ns;
} haul_start_delay;

/* Gives an operation's duration on its device; called once for each, when it starts. */
typedef haul_status (*haul_duration)(void *state, const haul_workload *workload, size_t op,
                                     int64_t *dur_ns, haul_error *error);

typedef struct haul_timeline_options {
    haul_timeline_device device;
    haul_release release;
    /* Durations of the device's operations: by a function, else by an array of op_count, else the
     * workload's own. */
    haul_duration duration;
    void *duration_state;
    const int64_t *durations_ns;
    /* Durations of calls: by an array of op_count, else the workload's own. A wait returns when it
     * may, whatever its duration. The recorded time between two calls stays. */
    const int64_t *call_durations_ns;
    /* The host's work between its calls, and after their waits, takes so many times as
     * long as recorded; so do calls, where no array gives their durations. 0: 1. */
    double host_time;
    const haul_start_delay *delays; /* in order of `op`, each once */
    size_t delay_count;
    /* Writes what errors call an operation; NULL: its number. */
    void (*name)(void *state, uint32_t op, char *buffer, size_t size);
    void *name_state;
    uint64_t reserved[4]; /* zeros: see haul/api.h */
} haul_timeline_options;

typedef struct haul_span {
    int64_t start_ns;
    int64_t end_ns;
} haul_span;

/* name in reports */
#define HAUL_RESOURCE_LIST(X)                                                                      \
    X(KERNEL_SLOTS, "kernels") /* kernels, memsets, copies within the device */                    \
    X(ENGINE, "copies")        /* the only copy engine, or host to device's */                     \
    X(ENGINE_OUT, "DtoH")      /* device to host's */                                              \
    X(ENGINE_PEER, "PtoP")                                                                         \
    X(STAGING, "staging")                                                                          \
    X(MIGRATION, "migrations")                                                                     \
    X(NETWORK, "network")                                                                          \
    X(NOWHERE, "none") /* nothing is held */

typedef enum haul_resource_kind {
#define HAUL_RESOURCE_ENUM(name, text) HAUL_RESOURCE_##name,
    HAUL_RESOURCE_LIST(HAUL_RESOURCE_ENUM)
#undef HAUL_RESOURCE_ENUM
        HAUL_RESOURCES
} haul_resource_kind;

/* A resource that was used. busy_ns + idle_ns is the makespan. */
typedef struct haul_resource {
    uint32_t device; /* index into the workload's devices, or HAUL_NONE */
    haul_resource_kind kind;
    uint64_t ops;
    int64_t busy_ns; /* at least one operation was running; staging: held, or waited to run */
    int64_t idle_ns;
} haul_resource;

/* All arrays are the timeline's. */
typedef struct haul_timeline {
    const haul_span *ops; /* of each operation, on the device; of calls and waits, on the host */
    /* The operation that each waited for last: one that it depends on or that held its resource;
     * HAUL_NONE where it waited for its call. */
    const uint32_t *cause;
    size_t op_count;
    int64_t origin_ns;   /* 0 on the workload's clock */
    int64_t start_ns;    /* of the first operation of a device; of the host where none has any */
    int64_t makespan_ns; /* from there to the last one's end */
    int64_t whole_ns;    /* the same of all operations, the host's too */
    const haul_resource *resources;
    size_t resource_count;
    /* The critical path, the first operation first: each is the one that the next waited for, on a
     * device or, where its call came late, in a wait of its thread or for a full queue. */
    const uint32_t *critical;
    size_t critical_count;
    int64_t critical_ns; /* time of these operations; the rest of the makespan is the host's */
    uint64_t unissued;   /* device operations without a call */
} haul_timeline;

/* Sets *device to a device of `machine`: copy engines, implicit synchronisation, bidirectional
 * contention and chained copies (of pinned memory), a staging buffer where the machine gives its
 * chunk, shared links; for NVIDIA's architectures occupancy (CUDA C++ Programming Guide, technical
 * specifications per compute capability) and CUDA's launch queue, where the file gives no depth,
 * for others one kernel at a time. A parameter that the machine lacks costs nothing, but without
 * gpu.copy_engines returns MISSING.
 */
HAUL_API haul_status haul_timeline_device_of(const haul_machine *machine,
                                             haul_timeline_device *device, haul_error *error);

/* Schedules `workload` and sets *timeline, which the caller frees with haul_timeline_free.
 *
 * Time O(n log(streams + threads)) for n operations and edges. Needs 28 bytes an operation, of
 * which the result keeps 20, and 4 more where operations wait for kernels of other streams
 * (implicit_sync, migrations).
 *
 * Returns BAD_INPUT, naming the operation, for a stream, thread or edge that does not exist, a time
 * that is negative or beyond 2^61 ns, or a dependency cycle; ABSENT where the device lacks a
 * resource that an operation needs; what `duration` returns. */
HAUL_API haul_status haul_timeline_run(const haul_workload *workload,
                                       const haul_timeline_options *options,
                                       haul_timeline **timeline, haul_error *error);
HAUL_API void haul_timeline_free(haul_timeline *timeline);

HAUL_API const char *haul_resource_text(haul_resource_kind kind);

/* The error of replaying a profile: its own durations scheduled on its own machine. */
typedef struct haul_replay {
    haul_timeline_device device; /* that it was scheduled on */
    uint64_t ops;                /* of devices */
    uint64_t unissued;
    uint64_t delayed;    /* operations with a delay that is kept, */
    int64_t delays_ns;   /* and the sum of these delays */
    int64_t recorded_ns; /* makespan */
    int64_t replayed_ns;
    double error; /* of the makespan, in percent */
    /* |start - recorded start| over the device's operations; with threads simulated, an early error
     * goes on to all that follows */
    double start_median_ns;
    double start_p90_ns;
    double start_worst_ns;
} haul_replay;

/* Schedules a recorded workload with its own durations, on:
 * - the copy engines of its devices (two where the profile does not say);
 * - the occupancy and launch queue of their compute capability, where it is known and all have the
 *   same (the queue as deep as calls show that waited for it, else at least as deep as was seen);
 * - as many migrations at once as were seen;
 * - the usual time from call to start of the operations that found their stream and their resource
 *   idle, by kind, from the call's return where those times spread less: the median, of fewer than
 * 8 the smallest that agree (docs/timeline.md);
 * - the median time from a kernel to the next of its stream that was queued, where there are 20 or
 *   more and it is at most 10 us;
 * - delays of operations that start later than their call, stream, edges and resource explain, by
 *   more than a thousandth of the run: they are kept.
 * Returns what haul_timeline_run does. */
HAUL_API haul_status haul_timeline_replay(const haul_workload *workload, haul_release release,
                                          haul_replay *replay, haul_error *error);

HAUL_END

#endif
