/* A Kineto trace being read: what kineto.c and kineto_waits.c share. */
#ifndef HAUL_TRACE_KINETO_H
#define HAUL_TRACE_KINETO_H

#include "base/json_in.h"
#include "trace/kineto_event.h"
#include "trace/trace_builder.h"

/* Processes of a GPU's work are not named: its streams and waits are all of this one. */
enum { HAUL_KINETO_PROCESS = 0 };

/* A number by the key of a call: the bytes that a call names, the copy that names none. */
typedef struct haul_kineto_size {
    uint64_t key;
    uint64_t value;
} haul_kineto_size;

typedef struct haul_kineto_sizes {
    haul_kineto_size *items;
    size_t count;
    size_t capacity;
} haul_kineto_sizes;

/* The number of a name met lately, and of a thread and stream: events repeat each other's. */
typedef struct haul_kineto_name {
    const char *text;
    size_t length;
    uint32_t number;
} haul_kineto_name;

typedef struct haul_kineto_place {
    int64_t ids[3];
    uint32_t number;
    bool known;
} haul_kineto_place;

enum { HAUL_KINETO_NAMES = 256 };

/* One end of a flow, by which Kineto links a call ('s') to what it issued ('f'). */
typedef struct haul_kineto_flow {
    int64_t id;
    int64_t start_ns; /* of the call, or of the operation */
    int64_t tid;      /* the thread, or the stream */
    char phase;
} haul_kineto_flow;

/* An operator that a thread ran, and what it said of its tensors. */
typedef struct haul_kineto_span {
    int64_t start_ns;
    int64_t dur_ns;
    uint32_t thread;
    uint32_t operands; /* as in haul_shape */
    uint32_t issued;   /* the first operation that it issued, once that is known */
} haul_kineto_span;

/* A range in which PyTorch calls a collective: older versions write its arguments there, not with
 * the kernel. */
typedef struct haul_kineto_collective {
    int64_t start_ns;
    int64_t end_ns;
    uint32_t thread;
    uint32_t name; /* as haul_collective */
    uint32_t data_type;
    uint64_t elements;
} haul_kineto_collective;

/* A call as it is kept: a large trace has millions. */
typedef struct haul_kineto_kept_call {
    uint32_t start_ns[2]; /* the low and the high half: one of 64 bits would take 4 bytes more */
    uint32_t dur_ns;
    uint32_t key;
    uint32_t from; /* the number of its caller */
} haul_kineto_kept_call;

typedef struct haul_kineto_caller {
    uint32_t name;
    uint32_t thread;
} haul_kineto_caller;

typedef struct haul_kineto {
    haul_trace_builder *builder;
    haul_json_in in;
    haul_kineto_keys keys;
    haul_kineto_event event;
    haul_kineto_name names[HAUL_KINETO_NAMES];
    haul_kineto_place thread;
    haul_kineto_place stream;
    haul_shape shape; /* of the last kernel */
    uint32_t shape_number;
    haul_kineto_kept_call *calls; /* by start, once all are read */
    size_t call_count;
    size_t call_capacity;
    haul_call *wide_calls; /* those that do not fit there */
    size_t wide_call_count;
    size_t wide_call_capacity;
    haul_records callers;
    haul_kineto_sizes call_bytes; /* of calls that say what they copy */
    haul_kineto_sizes copies;     /* operations without bytes, which their calls may tell */
    haul_kineto_sizes item_calls; /* that start kernels by their work items, not their blocks */
    haul_kineto_span *operators;  /* whose sizes are known */
    size_t operator_count;
    size_t operator_capacity;
    bool flows;             /* they are what is read now */
    bool keyless;           /* an operation has no correlation id */
    haul_kineto_flow *ends; /* of flows */
    size_t end_count;
    size_t end_capacity;
    haul_kineto_collective *collectives;
    size_t collective_count;
    size_t collective_capacity;
    uint32_t world_size;           /* of distributedInfo; 0: not known */
    haul_workload_device *devices; /* as deviceProperties lists them */
    size_t device_count;
    size_t device_capacity;
    bool has_waits;  /* events of synchronisation */
    bool has_events; /* traceEvents */
    bool has_copies;
    bool has_kernels;
    char version[16];
} haul_kineto;

/* The number of the event's thread. */
uint32_t haul_kineto_thread(haul_kineto *self);

/* The number of the event's stream. */
uint32_t haul_kineto_stream(haul_kineto *self, int64_t id);

/* The number of the stream that the event, a wait, waits for. */
uint32_t haul_kineto_waited_stream(haul_kineto *self, int64_t id);

/* Keeps a call; takes it out again, by its place; gives it a key. */
void haul_kineto_keep_call(haul_kineto *self, const haul_call *call);
haul_call haul_kineto_call_at(const haul_kineto *self, size_t place);
void haul_kineto_give_key(haul_kineto *self, size_t place, uint64_t key);

/* Puts the calls in order of start. Then: the place of the first that starts at that time or later.
 */
void haul_kineto_sort_calls(haul_kineto *self);
size_t haul_kineto_first_call(const haul_kineto *self, int64_t start_ns);

/* Adds the event, one of a synchronisation. */
void haul_kineto_wait(haul_kineto *self);

/* Joins operations and calls without correlation ids by the flows that were read. The calls are in
 * order of start. */
void haul_kineto_join_flows(haul_kineto *self);

/* Keeps the event, an operator, where its sizes tell what it does. */
void haul_kineto_keep_operator(haul_kineto *self);

/* Gives kernels the sizes of the operators within which they were launched. Once all is read. */
void haul_kineto_join_operators(haul_kineto *self);

/* Keeps the event, a range, where it is of a collective: "nccl:all_to_all". */
void haul_kineto_keep_collective(haul_kineto *self, uint32_t thread);

/* Gives kernels of collectives, joined to their calls, the arguments of the ranges that they were
 * called in, where they have none of their own. */
void haul_kineto_join_collectives(haul_kineto *self);

/* Adds waits that the calls tell of, in a trace without events of synchronisation. The calls are in
 * order of start. */
void haul_kineto_infer_waits(haul_kineto *self);

#endif
