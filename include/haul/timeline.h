/* The timeline: when each operation of a workload starts and ends on a machine's resources.
 *
 * Resources. A stream runs its operations one after another, in the order of the workload. A copy
 * between host and device holds a copy engine, a FIFO server: one for both directions, or one for
 * each; with two a peer copy leaves through the device to host's, with more each of the rest takes
 * one. A peer copy holds nothing of the other device: an operation names the device of its stream
 * alone. Kernels, memsets and copies within a device take room there, so many at once, and kernels
 * as many as their blocks find room for. Copies within the host, and of unknown direction, hold
 * nothing but their stream. A thread of the host makes its calls in the order of the workload; a
 * call starts an operation, and returns after call_dur_ns, or, where it blocks, when the operation
 * has ended.
 *
 * An operation starts as soon as its call was made, the operation before it on its stream and all
 * that its edges name have ended, and its resource is free. Who waits for a resource is served in
 * the order in which it came, by time, then by number, and nobody overtakes. At one instant all
 * that ends ends first, then what may start starts, then what those starts allow follows, in the
 * same way. So the same input has one timeline, whatever the machine that computes it.
 *
 * Times are nanoseconds. The timeline begins at 0, the earliest start or call of the workload. */
#ifndef HAUL_TIMELINE_H
#define HAUL_TIMELINE_H

#include "haul/machine.h"
#include "haul/workload.h"

HAUL_BEGIN

/* What one multiprocessor holds at once; a limit that is 0 is none. */
typedef struct haul_occupancy {
    unsigned multiprocessors; /* of the device; 0: kernels are only counted */
    unsigned blocks;
    unsigned threads;
    unsigned registers;
    unsigned shared_bytes;
} haul_occupancy;

/* What every device of the machine has. What is 0 from `room` on is not modelled. */
typedef struct haul_timeline_device {
    unsigned copy_engines; /* 0: copies between host and device are an error */
    unsigned kernels;      /* at once; 0: kernels, memsets and copies within it are an error */
    /* Of the device's operations, in the order of the workload: what follows a kernel on its stream
     * waits until every kernel before it, of any stream, has started, and every kernel after it
     * until the one that it follows has ended (CUDA C Programming Guide, of devices of compute
     * capability 3.0 and lower; CCGrid 2014, section III). */
    bool implicit_sync;
    /* By HAUL_HTOD and HAUL_DTOH: what a copy keeps of its speed while the device copies the other
     * way, in (0, 1]. */
    double busy_speed[2];
    /* What a copy saves where it follows one of its direction on its engine without a pause: the
     * latency less the gap, (L+o) - g (CCGrid 2014, section V). */
    int64_t chained_ns[2];
    /* From a call to the earliest start of what it issued, by haul_op_kind, 0 for those of the
     * host: from the call's start, or, unless it blocks, from when it would return. */
    int64_t issue_ns[HAUL_OP_KINDS];
    bool issue_on_return[HAUL_OP_KINDS];
    /* A kernel starts when one of its blocks finds room, and holds room for all of them, at most
     * the device, until it ends: blocks are assigned for the kernel that came first, and for the
     * next once all of its are (Amert et al., GPU Scheduling on the NVIDIA TX2: Hidden Details
     * Revealed, RTSS 2017). So one that fills the device keeps others out until its end. The blocks
     * that a multiprocessor holds follow from the kernel's shape; a kernel without one takes the
     * whole device, memsets and copies within the device nothing. */
    haul_occupancy room;
    /* Operations of one stream that have been called and have not ended, at most: with
     * HAUL_RELEASE_HOST a call whose operation has as many before it is put off until the first of
     * them ends. CUDA takes about 1000 a stream, of each stream
     * (forums.developer.nvidia.com/t/68937); OpenCL names no limit. */
    unsigned queue_depth;
    /* Devices that share one link to the host: the first so many of the workload, the next so many,
     * ... `link_copies` of one direction go over a link at full speed (0 is 1), more share it: a
     * copy has min(its own speed, link_copies / copies of its direction on the link). */
    unsigned link_devices;
    double link_copies;
    /* One staging buffer: a pageable copy holds it from before it waits for its engine until its
     * end, so pageable copies of a device exclude each other, of whatever direction. */
    bool staging;
    /* Migrations of unified memory (HAUL_MANAGED) at once: the driver has channels of its own for
     * them (nvidia-uvm, uvm_channel.c), so they wait for no copy engine, but share the link with
     * copies of their direction as above, and slow those of the other. One without a call answers
     * a kernel's faults: it waits until the kernels of its device before it have started. */
    unsigned migrations;
} haul_timeline_device;

/* Where the times of calls come from. */
typedef enum haul_release {
    /* Threads are simulated: a call is made when the one before it has returned and what lay
     * between the two in the workload has passed. An operation without a call is there from the
     * beginning. A call blocks where its operation has HAUL_OP_BLOCKS. */
    HAUL_RELEASE_HOST,
    /* No call is made earlier than the workload says, and none of them blocks but a wait. An
     * operation without a call does not start earlier than the workload says. */
    HAUL_RELEASE_RECORDED,
} haul_release;

/* Gives an operation's duration on its device; asked once each, when it starts. */
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
    /* Durations of calls, until they return: by an array of op_count, else the workload's own. A
     * call that waits returns when it may. What lay between two calls in the workload stays. */
    const int64_t *call_durations_ns;
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
    X(NOWHERE, "none") /* nothing is held */

typedef enum haul_resource_kind {
#define HAUL_RESOURCE_ENUM(name, text) HAUL_##name,
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
    /* What each operation waited for last: one that it depends on or that held its resource, or
     * HAUL_NONE where it was its call. */
    const uint32_t *cause;
    size_t op_count;
    int64_t origin_ns;   /* 0 on the workload's clock */
    int64_t start_ns;    /* of the first operation of a device; of the host where none has any */
    int64_t makespan_ns; /* from there to the last one's end */
    const haul_resource *resources;
    size_t resource_count;
    /* The operations that decide the makespan, the first first: each is the one that the next
     * waited for, on a device or, where its call came late, in a wait of its thread or for a queue
     * that was full. */
    const uint32_t *critical;
    size_t critical_count;
    int64_t critical_ns; /* the sum of their times; the rest of the makespan is the host's */
    uint64_t unissued;   /* device operations without a call */
} haul_timeline;

/* A device of `machine`: copy engines, implicit synchronisation, of pinned copies the speed while
 * both directions are busy and what chained copies save, a staging buffer where the machine says
 * its chunk, links shared as it says; of NVIDIA's architectures the room for kernels (CUDA C++
 * Programming Guide, technical specifications per compute capability) and CUDA's launch queue, of
 * others kernels one at a time. Figures that the machine lacks leave what costs nothing; without
 * gpu.copy_engines, MISSING. */
HAUL_API haul_status haul_timeline_device_of(const haul_machine *machine,
                                             haul_timeline_device *device, haul_error *error);

/* Schedules `workload`. n log(streams + threads) steps for n operations and edges; needs 28 bytes
 * an operation, the result's 20 among them, and 4 more where operations wait for kernels of other
 * streams (implicit_sync, migrations). Returns BAD_INPUT naming the operation for a stream,
 * thread or edge that does not exist, a time that is negative or beyond 2^61 ns, and dependencies
 * that form a cycle; ABSENT where the device lacks what an operation needs; what `duration`
 * returns. Free with haul_timeline_free. */
HAUL_API haul_status haul_timeline_run(const haul_workload *workload,
                                       const haul_timeline_options *options,
                                       haul_timeline **timeline, haul_error *error);
HAUL_API void haul_timeline_free(haul_timeline *timeline);

HAUL_API const char *haul_resource_text(haul_resource_kind kind);

/* A recorded timeline, rebuilt from its own durations. */
typedef struct haul_replay {
    haul_timeline_device device; /* that it was rebuilt on */
    uint64_t ops;                /* of devices */
    uint64_t unissued;
    int64_t recorded_ns; /* makespan */
    int64_t replayed_ns;
    double error; /* of the makespan, in percent */
    /* |start - recorded start| over the device's operations; with threads simulated, an early error
     * goes on to all that follows */
    double start_median_ns;
    double start_p90_ns;
    double start_worst_ns;
} haul_replay;

/* The identity check: schedules a recorded workload with its own durations, on the copy engines
 * that its devices have (two where the profile does not say), with the room for kernels and the
 * launch queue of their compute capability, where it is known and that of all (a queue as deep as
 * it was seen at least), as many migrations at once as were seen, and the median time from call to
 * start of the operations that found their stream and their device's resource idle; from the call's
 * return where those times spread less. Returns what haul_timeline_run does. */
HAUL_API haul_status haul_timeline_replay(const haul_workload *workload, haul_release release,
                                          haul_replay *replay, haul_error *error);

HAUL_END

#endif
