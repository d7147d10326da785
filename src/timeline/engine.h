/* The engine's state while it runs.
 *
 * Actors are streams and threads. Each works on one operation at a time, its head, and has at most
 * one event. A stream's head waits for its call, for edges, for a resource, then runs. A thread
 * calls its head, and may wait in the call. */
#ifndef HAUL_TIMELINE_ENGINE_H
#define HAUL_TIMELINE_ENGINE_H

#include "base/waiting.h"
#include "haul/timeline.h"
#include "timeline/event_queue.h"

/* Every time of the input is at most this, every time of a timeline at most twice this. */
static const int64_t haul_time_limit_ns = INT64_C(1) << 61;

/* An operation while the engine runs, 16 bytes: it becomes its haul_span. Two facts live in the
 * place of a time that is not known yet, as negative numbers far below any time; the functions
 * below are the only ones that read or write them. */
typedef union haul_progress {
    haul_span span;
    struct {
        int64_t start_ns; /* until the operation is called, how many come after it on its stream;
                           * until it starts, when it may */
        int64_t end_ns;   /* until the end is known, the first actor that waits for it */
    };
} haul_progress;

static const int64_t haul_not_yet = INT64_MIN;

static inline haul_progress haul_progress_begin(uint32_t behind)
{
    return (haul_progress){.span = {haul_not_yet + behind, haul_not_yet}};
}

static inline bool haul_is_called(const haul_progress *self)
{
    return self->start_ns >= haul_not_yet + HAUL_NONE;
}

/* How many operations come after it on its stream. Needs: it is not called. */
static inline uint32_t haul_behind(const haul_progress *self)
{
    return (uint32_t)(self->start_ns - haul_not_yet);
}

static inline bool haul_end_is_known(const haul_progress *self)
{
    return self->end_ns >= 0;
}

/* The first actor that waits for the end, or HAUL_NONE; the others follow by next_in_list. Needs:
 * the end is not known. */
static inline uint32_t haul_first_waiter(const haul_progress *self)
{
    return self->end_ns == haul_not_yet ? HAUL_NONE : (uint32_t)(self->end_ns - haul_not_yet - 1);
}

static inline void haul_set_first_waiter(haul_progress *self, uint32_t actor)
{
    self->end_ns = haul_not_yet + 1 + actor;
}

/* Two facts of an operation of which the second is known when the first is needed no longer. */
typedef union haul_stream_link {
    uint32_t next;  /* the operation after it on its stream: until it starts */
    uint32_t cause; /* haul_timeline.cause: from its start on */
} haul_stream_link;

typedef union haul_call_link {
    uint32_t next;     /* the operation called after it on its thread: until its call returns */
    uint32_t room_for; /* with a launch queue, the operation whose end made room for the call, or
                        * HAUL_NONE: from the return on */
} haul_call_link;

typedef enum haul_actor_state {
    HAUL_ACTOR_DONE,
    HAUL_ACTOR_LOOKS,    /* a stream at its head, or a thread about to make a call */
    HAUL_ACTOR_UNCALLED, /* a stream whose head has not been called */
    HAUL_ACTOR_WAITS,    /* for the end of `blocker` */
    HAUL_ACTOR_GATED,    /* for the start of earlier kernels */
    HAUL_ACTOR_HELD,     /* for the end of an earlier kernel that is checked */
    HAUL_ACTOR_QUEUED,   /* for its resource */
    HAUL_ACTOR_RUNS,
} haul_actor_state;

typedef struct haul_actor {
    uint32_t op;     /* the head, or HAUL_NONE */
    uint32_t next;   /* a stream's operation after the one that runs */
    uint32_t before; /* a stream's operation before the head, or HAUL_NONE; a thread's room_for */
    uint32_t edge;   /* of the head, the next to look at; HAUL_NONE: not begun */
    uint32_t blocker;
    uint32_t cause;
    uint32_t next_in_list; /* of actors that wait for one operation, or whose copies share a link */
    uint32_t device;       /* a stream's; the workload's device_count where it has none */
    uint32_t left;         /* a stream's operations that have not ended */
    uint8_t state;         /* haul_actor_state */
    uint8_t resource;      /* haul_resource_kind, of the head */
    bool is_staged;        /* holds the staging buffer */
    bool is_behind_kernel; /* where HAUL_GATE_CHECKS has come to on the stream */
    int64_t since_ns;      /* when the copy that runs was at left_ns; a thread's, of its call */
    double left_ns;        /* at full speed */
    double speed;
    double steady; /* the share of the copy's time that nothing slows */
} haul_actor;

/* A resource of one device. */
typedef struct haul_server {
    haul_waiting waiting;
    unsigned capacity;
    unsigned running;
    uint32_t last_op; /* that ended last */
    int64_t last_end_ns;
    int64_t busy_since_ns;
    int64_t busy_ns;
    int64_t used; /* HAUL_KERNEL_SLOTS: of haul_occupancy_all */
    uint64_t ops;
    bool is_dirty; /* may be able to start something */
} haul_server;

/* Places for blocks: a device has so many. */
static const int64_t haul_occupancy_all = INT64_C(1) << 40;

typedef struct haul_need {
    int64_t block;
    int64_t kernel;
    double last_wave; /* the share of its time after which its last blocks start; 1: not known */
} haul_need;

/* The copies of one direction that go over one link. */
typedef struct haul_lane {
    uint32_t first; /* the actor; the others follow by next_in_list */
    uint32_t running;
} haul_lane;

/* Where a device's operations wait for its kernels. */
typedef enum haul_gate_kind {
    HAUL_GATE_STARTS, /* until all kernels before have started; with implicit synchronisation, until
                       * all of their blocks have */
    HAUL_GATE_CHECKS, /* until all kernels that an operation before is right behind have ended */
    HAUL_GATES
} haul_gate_kind;

typedef struct haul_gate {
    haul_waiting waiting;
    uint32_t
        op; /* the first that keeps it shut, a kernel or an operation behind one; HAUL_NONE: open */
    bool is_marked;
} haul_gate;

typedef struct haul_engine {
    const haul_workload *workload;
    const haul_timeline_options *options;
    haul_progress *progress; /* of each operation */
    haul_stream_link *streams;
    haul_call_link *calls;
    uint32_t *edge_begin;  /* NULL where there are no edges */
    haul_actor *actors;    /* streams, one for no stream, threads, one for no thread */
    uint32_t stream_count; /* with the one for none */
    uint32_t actor_count;
    uint32_t device_count;
    haul_server *servers;  /* HAUL_RESOURCES a device */
    haul_gate *gates;      /* HAUL_GATES a device, or NULL */
    uint32_t *device_next; /* the operation after each on its device; NULL where no gates are */
    uint32_t *device_last; /* the last operation of each device; likewise */
    uint32_t *moved;       /* devices whose gates may open; their HAUL_GATE_STARTS is marked */
    uint32_t moved_count;
    haul_need *needs;  /* by shape, the last without one; NULL where kernels are only counted */
    haul_lane *lanes;  /* two a link, to the device and from it; device_count links */
    uint32_t *copying; /* four a device: how many copies run each way, then migrations */
    uint32_t *dirty;
    uint32_t dirty_count;
    haul_event_queue events;
    int64_t now_ns;
    int64_t origin_ns;
    uint64_t finished;
    uint32_t *ended; /* the finished operations in the order of their ends, or NULL */
    uint64_t unissued;
    uint32_t queue_depth; /* 0: no limit */
    bool has_faults;      /* migrations are modelled, and some have no call */
    haul_status status;
    haul_error *error;
} haul_engine;

/* Checks the workload and makes the lists. Release with haul_engine_release, whatever the outcome.
 * In setup.c. */
haul_status haul_engine_init(haul_engine *self);
void haul_engine_release(haul_engine *self);

/* Fills `needs`; haul_occupancy_need_of gives one shape's, NULL for none. In occupancy.c. */
bool haul_occupancy_init(haul_engine *self);
haul_need haul_occupancy_need_of(const haul_engine *self, const haul_shape *shape);

/* Runs all that happens up to a time or, where that comes first, to the end of an operation. */
void haul_engine_advance(haul_engine *self, int64_t until_ns, uint32_t until_op);

/* Runs until nothing happens any more; a cycle is an error. */
haul_status haul_engine_run(haul_engine *self);

/* Fails, naming an operation as "operation 12, a kernel,". */
haul_status haul_engine_fail(haul_engine *self, haul_status status, uint32_t op, const char *text);

/* What errors call an operation. */
typedef struct haul_op_title {
    char text[80];
} haul_op_title;

haul_op_title haul_engine_name(const haul_engine *self, uint32_t op);

/* The cause of an engine that stopped before all was done. In deadlock.c. */
haul_status haul_engine_explain(haul_engine *self);

/* A migration that no call of the program made. */
static inline bool haul_is_fault(const haul_engine *self, const haul_op *op)
{
    return self->options->device.migrations && op->kind == HAUL_OP_COPY &&
           op->detail == HAUL_MANAGED && op->thread == HAUL_NONE;
}

static inline int64_t haul_called_ns(const haul_op *op)
{
    return haul_op_on_host(op) || op->thread == HAUL_NONE ? op->start_ns : op->call_ns;
}

static inline uint32_t haul_stream_actor(const haul_engine *self, const haul_op *op)
{
    return op->stream == HAUL_NONE ? self->stream_count - 1 : op->stream;
}

static inline uint32_t haul_thread_actor(const haul_engine *self, const haul_op *op)
{
    return op->thread == HAUL_NONE ? self->actor_count - 1 : self->stream_count + op->thread;
}

#endif
