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
static const int64_t hl_timeline_time_limit_ns = INT64_C(1) << 61;

/* An operation while the engine runs, 16 bytes: it becomes its haul_span. Two facts live in the
 * place of a time that is not known yet, as negative numbers far below any time; the functions
 * below are the only ones that read or write them. */
typedef union hl_timeline_progress {
    haul_span span;
    struct {
        int64_t start_ns; /* until the operation is called, its place on its stream; until it
                           * starts, when it may */
        int64_t end_ns;   /* until the end is known, the first actor that waits for it */
    };
} hl_timeline_progress;

static const int64_t hl_timeline_not_yet = INT64_MIN;

static inline hl_timeline_progress hl_timeline_progress_begin(uint32_t place)
{
    return (hl_timeline_progress){.span = {hl_timeline_not_yet + place, hl_timeline_not_yet}};
}

static inline bool hl_timeline_is_called(const hl_timeline_progress *self)
{
    return self->start_ns >= hl_timeline_not_yet + HAUL_NONE;
}

/* How many operations come before it on its stream. Needs: it is not called. */
static inline uint32_t hl_timeline_place(const hl_timeline_progress *self)
{
    return (uint32_t)(self->start_ns - hl_timeline_not_yet);
}

static inline bool hl_timeline_end_is_known(const hl_timeline_progress *self)
{
    return self->end_ns >= 0;
}

/* The first actor that waits for the end, or HAUL_NONE; the others follow by next_in_list. Needs:
 * the end is not known. */
static inline uint32_t hl_timeline_first_waiter(const hl_timeline_progress *self)
{
    return self->end_ns == hl_timeline_not_yet ? HAUL_NONE
                                               : (uint32_t)(self->end_ns - hl_timeline_not_yet - 1);
}

static inline void hl_timeline_set_first_waiter(hl_timeline_progress *self, uint32_t actor)
{
    self->end_ns = hl_timeline_not_yet + 1 + actor;
}

/* Two facts of an operation of which the second is known when the first is needed no longer. */
typedef union hl_timeline_stream_link {
    uint32_t next;  /* the operation after it on its stream: until it starts */
    uint32_t cause; /* haul_timeline.cause: from its start on */
} hl_timeline_stream_link;

typedef union hl_timeline_call_link {
    uint32_t next;     /* the operation called after it on its thread: until its call returns */
    uint32_t room_for; /* with a launch queue, the operation whose end made room for the call, or
                        * HAUL_NONE: from the return on */
} hl_timeline_call_link;

typedef enum hl_timeline_actor_state {
    HL_TIMELINE_ACTOR_DONE,
    HL_TIMELINE_ACTOR_LOOKS,    /* a stream at its head, or a thread about to make a call */
    HL_TIMELINE_ACTOR_UNCALLED, /* a stream whose head has not been called */
    HL_TIMELINE_ACTOR_WAITS,    /* for the end of `blocker` */
    HL_TIMELINE_ACTOR_GATED,    /* for the start of earlier kernels */
    HL_TIMELINE_ACTOR_HELD,     /* for the end of an earlier kernel that is checked */
    HL_TIMELINE_ACTOR_QUEUED,   /* for its resource */
    HL_TIMELINE_ACTOR_RUNS,
} hl_timeline_actor_state;

typedef struct hl_timeline_actor {
    uint32_t op;     /* the head, or HAUL_NONE */
    uint32_t next;   /* a stream's operation after the one that runs */
    uint32_t before; /* a stream's operation before the head, or HAUL_NONE; a thread's room_for */
    uint32_t edge;   /* of the head, the next to look at; HAUL_NONE: not begun */
    uint32_t blocker;
    uint32_t cause;
    uint32_t next_in_list; /* of actors that wait for one operation, or whose copies share a link */
    uint32_t device;       /* a stream's; the workload's device_count where it has none */
    uint32_t ended;        /* how many of a stream's operations have */
    uint8_t state;         /* hl_timeline_actor_state */
    uint8_t resource;      /* haul_resource_kind, of the head */
    bool is_staged;        /* holds the staging buffer */
    bool is_behind_kernel; /* where HL_TIMELINE_GATE_CHECKS has come to on the stream */
    int64_t since_ns;      /* when the copy that runs was at left_ns; a thread's, of its call */
    int64_t due_ns;        /* a thread's: when its own event is, INT64_MAX where it waits */
    int64_t turn_ns;       /* a thread's: the last instant that its turn has come at */
    uint32_t fetched;      /* a thread's: the last call whose lines were asked for */
    uint32_t first_late;   /* a thread's: streams that it wakes when its turn comes */
    double left_ns;        /* at full speed */
    double speed;
    double steady; /* the share of the copy's time that nothing slows */
} hl_timeline_actor;

/* A resource of one device. */
typedef struct hl_timeline_server {
    hl_base_waiting waiting;
    unsigned capacity;
    unsigned running;
    uint32_t last_op; /* that ended last */
    int64_t last_end_ns;
    int64_t busy_since_ns;
    int64_t busy_ns;
    int64_t used; /* HAUL_RESOURCE_KERNEL_SLOTS: of hl_timeline_occupancy_all */
    uint64_t ops;
    bool is_buffer; /* HAUL_RESOURCE_STAGING, whose operations start on another resource */
    bool is_dirty;  /* may be able to start something */
    struct hl_timeline_server *next_dirty;
} hl_timeline_server;

/* Places for blocks: a device has so many. */
static const int64_t hl_timeline_occupancy_all = INT64_C(1) << 40;

typedef struct hl_timeline_need {
    int64_t block;
    int64_t kernel;
    double last_wave; /* the share of its time after which its last blocks start; 1: not known */
} hl_timeline_need;

/* The copies of one direction that go over one link. */
typedef struct hl_timeline_lane {
    uint32_t first; /* the actor; the others follow by next_in_list */
    uint32_t running;
} hl_timeline_lane;

/* Where a device's operations wait for its kernels. */
typedef enum hl_timeline_gate_kind {
    HL_TIMELINE_GATE_STARTS, /* until all kernels before have started; with implicit
                              * synchronisation, until all of their blocks have */
    HL_TIMELINE_GATE_CHECKS, /* until all kernels that an operation before is right behind have
                                ended */
    HL_TIMELINE_GATES
} hl_timeline_gate_kind;

/* From a first start to a last end. */
typedef struct hl_timeline_extent {
    int64_t start_ns;
    int64_t end_ns;
    uint32_t last; /* the operation that ends last, of several the first; HAUL_NONE: no end */
} hl_timeline_extent;

typedef struct hl_timeline_gate {
    hl_base_waiting waiting;
    uint32_t
        op; /* the first that keeps it shut, a kernel or an operation behind one; HAUL_NONE: open */
    bool is_marked;
} hl_timeline_gate;

typedef struct hl_timeline_engine {
    const haul_workload *workload;
    const haul_timeline_options *options;
    hl_timeline_progress *progress; /* of each operation */
    hl_timeline_stream_link *streams;
    hl_timeline_call_link *calls;
    uint32_t *edge_begin;      /* NULL where there are no edges */
    hl_timeline_actor *actors; /* streams, one for no stream, threads, one for no thread */
    uint32_t stream_count;     /* with the one for none */
    uint32_t actor_count;
    uint32_t device_count;
    hl_timeline_server *servers; /* HAUL_RESOURCES a device */
    hl_timeline_gate *gates;     /* HL_TIMELINE_GATES a device, or NULL */
    uint32_t *device_next; /* the operation after each on its device; NULL where no gates are */
    uint32_t *device_last; /* the last operation of each device; likewise */
    uint32_t *moved; /* devices whose gates may open; their HL_TIMELINE_GATE_STARTS is marked */
    uint32_t moved_count;
    hl_timeline_need
        *needs; /* by shape, the last without one; NULL where kernels are only counted */
    hl_timeline_lane *lanes;   /* two a link, to the device and from it; device_count links */
    uint32_t *copying;         /* four a device: how many copies run each way, then migrations */
    hl_timeline_server *dirty; /* the first; the others follow by next_dirty */
    hl_timeline_event_queue events;
    int64_t now_ns;
    int64_t origin_ns;
    uint64_t finished;
    hl_timeline_extent extents[2]; /* of what has ended: by haul_op_place */
    uint32_t *ended;               /* the finished operations in the order of their ends, or NULL */
    uint64_t unissued;
    uint32_t queue_depth; /* 0: no limit */
    bool has_faults;      /* migrations are modelled, and some have no call */
    bool calls_ahead;     /* no thread makes another's calls, so that whose turn one is is known */
    bool copies_met;      /* of both directions, on a link */
    bool is_later_round;  /* operations have started at this instant already */
    haul_status status;
    haul_error *error;
} hl_timeline_engine;

/* Checks the workload and makes the lists. Release with hl_timeline_engine_release, whatever the
 * outcome. In setup.c. */
haul_status hl_timeline_engine_init(hl_timeline_engine *self);
void hl_timeline_engine_release(hl_timeline_engine *self);

/* Fills `needs`; hl_timeline_occupancy_need_of gives one shape's, NULL for none. In occupancy.c. */
bool hl_timeline_occupancy_init(hl_timeline_engine *self);
hl_timeline_need hl_timeline_occupancy_need_of(const hl_timeline_engine *self,
                                               const haul_shape *shape);

/* Runs all that happens up to a time or, where that comes first, to the end of an operation. */
void hl_timeline_engine_advance(hl_timeline_engine *self, int64_t until_ns, uint32_t until_op);

/* Runs until nothing happens any more; a cycle is an error. */
haul_status hl_timeline_engine_run(hl_timeline_engine *self);

/* Fails, naming an operation as "operation 12, a kernel,". */
haul_status hl_timeline_engine_fail(hl_timeline_engine *self, haul_status status, uint32_t op,
                                    const char *text);

/* The name of an operation in errors. */
typedef struct hl_timeline_op_title {
    char text[80];
} hl_timeline_op_title;

hl_timeline_op_title hl_timeline_engine_name(const hl_timeline_engine *self, uint32_t op);

/* The cause of an engine that stopped before all was done. In deadlock.c. */
haul_status hl_timeline_engine_explain(hl_timeline_engine *self);

/* A migration that no call of the program made. */
static inline bool hl_timeline_is_fault(const hl_timeline_engine *self, const haul_op *op)
{
    return self->options->device.migrations && op->kind == HAUL_OP_COPY &&
           op->detail == HAUL_MEMORY_MANAGED && op->thread == HAUL_NONE;
}

static inline int64_t hl_timeline_called_ns(const haul_op *op)
{
    return haul_op_on_host(op) || op->thread == HAUL_NONE ? op->start_ns : op->call_ns;
}

static inline uint32_t hl_timeline_stream_actor(const hl_timeline_engine *self, const haul_op *op)
{
    return op->stream == HAUL_NONE ? self->stream_count - 1 : op->stream;
}

static inline uint32_t hl_timeline_thread_actor(const hl_timeline_engine *self, const haul_op *op)
{
    return op->thread == HAUL_NONE ? self->actor_count - 1 : self->stream_count + op->thread;
}

#endif
