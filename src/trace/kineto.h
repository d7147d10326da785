/* A Kineto trace being read: what kineto.c and kineto_waits.c share. */
#ifndef HAUL_TRACE_KINETO_H
#define HAUL_TRACE_KINETO_H

#include "base/json_in.h"
#include "trace/call_operators.h"
#include "trace/kineto_event.h"
#include "trace/source_lines.h"
#include "trace/trace_builder.h"

/* Processes of a GPU's work are not named: its streams and waits are all of process 0. 'haul
 * convert' numbers those of joined profiles, whose contexts have ids in common; no process of the
 * host has such a number. */
static inline uint64_t hl_trace_kineto_owner(int64_t number)
{
    return number > 0 ? UINT64_C(1) << 62 | (uint32_t)number : 0;
}

/* A number by the key of a call: the bytes that a call names, the copy that names none. */
typedef struct hl_trace_kineto_size {
    uint64_t key;
    uint64_t value;
} hl_trace_kineto_size;

typedef struct hl_trace_kineto_sizes {
    hl_trace_kineto_size *items;
    size_t count;
    size_t capacity;
} hl_trace_kineto_sizes;

/* The number of a name met lately, and of a thread and stream: events repeat each other's. */
typedef struct hl_trace_kineto_name {
    const char *text;
    size_t length;
    uint32_t number;
} hl_trace_kineto_name;

typedef struct hl_trace_kineto_place {
    int64_t ids[4];
    uint32_t number;
    bool known;
} hl_trace_kineto_place;

enum { HL_TRACE_KINETO_NAMES = 1024 };

/* The line of a function of Python as the profiler names it. */
typedef struct hl_trace_kineto_frame_line {
    uint32_t line; /* a string; HAUL_NONE where it is not the program's own */
    uint8_t length;
    char text[155];
} hl_trace_kineto_frame_line;

/* One end of a flow, by which Kineto links a call ('s') to what it issued ('f'). */
typedef struct hl_trace_kineto_flow {
    int64_t id;
    int64_t start_ns; /* of the call, or of the operation */
    int64_t tid;      /* the thread, or the stream */
    char phase;
} hl_trace_kineto_flow;

/* One end of a flow by which Kineto links a forward operator to that of its gradient. */
typedef struct hl_trace_kineto_link {
    int64_t id;
    int64_t start_ns;
    haul_workload_thread of;
    uint32_t thread; /* its number, once all calls are joined */
    uint32_t caller; /* of the backward end, a number of the lines' callers */
    bool is_forward;
} hl_trace_kineto_link;

/* An operator that a thread ran, and what it said of its tensors. */
typedef struct hl_trace_kineto_span {
    int64_t start_ns;
    int64_t dur_ns;
    uint32_t thread;
    uint32_t operands; /* as in haul_shape */
    uint32_t issued;   /* the first operation that it issued, once that is known */
} hl_trace_kineto_span;

/* A range in which PyTorch calls a collective: older versions write its arguments there, not with
 * the kernel. */
typedef struct hl_trace_kineto_collective {
    int64_t start_ns;
    int64_t end_ns;
    uint32_t thread;
    uint32_t name; /* as haul_collective */
    uint32_t data_type;
    uint64_t elements;
} hl_trace_kineto_collective;

/* A call as it is kept: a large trace has millions. */
typedef struct hl_trace_kineto_kept_call {
    uint32_t start_ns[2]; /* the low and the high half: one of 64 bits would take 4 bytes more */
    uint32_t dur_ns;
    uint32_t key;
    uint32_t from; /* the number of its caller */
} hl_trace_kineto_kept_call;

typedef struct hl_trace_kineto_caller {
    uint32_t name;
    uint32_t thread;
} hl_trace_kineto_caller;

typedef struct hl_trace_kineto_reader {
    hl_trace_builder *builder;
    hl_base_json_in in;
    hl_trace_kineto_keys keys;
    hl_trace_kineto_event event;
    hl_trace_kineto_name names[HL_TRACE_KINETO_NAMES];
    hl_trace_kineto_place thread;
    hl_trace_kineto_place stream;
    haul_shape shape; /* of the last kernel */
    uint32_t shape_number;
    hl_trace_kineto_kept_call *calls; /* by start, once all are read */
    size_t call_count;
    size_t call_capacity;
    hl_trace_host_call *wide_calls; /* those that do not fit there */
    size_t wide_call_count;
    size_t wide_call_capacity;
    hl_base_records callers;
    hl_trace_kineto_caller caller; /* of the last call, and its number: calls repeat theirs */
    uint32_t caller_number;
    hl_trace_kineto_sizes call_bytes; /* of calls that say what they copy */
    hl_trace_kineto_sizes copies;     /* operations without bytes, which their calls may tell */
    hl_trace_kineto_sizes item_calls; /* that start kernels by their work items, not their blocks */
    hl_trace_kineto_span *operators;  /* whose sizes are known */
    size_t operator_count;
    size_t operator_capacity;
    hl_workload_spans scopes; /* every operator */
    haul_named_range *frames; /* functions of Python that are the program's: `name` is a string,
                               * `thread` a number of frame_threads */
    size_t frame_count;
    size_t frame_capacity;
    hl_trace_kineto_frame_line *frame_lines; /* of functions met lately, by their names' hash */
    hl_base_records frame_threads;           /* haul_workload_thread; some call for nothing */
    hl_trace_source_lines lines;
    hl_trace_kineto_link *links;
    size_t link_count;
    size_t link_capacity;
    bool flows;                 /* they are what is read now */
    bool keyless;               /* an operation has no correlation id */
    hl_trace_kineto_flow *ends; /* of flows */
    size_t end_count;
    size_t end_capacity;
    hl_trace_kineto_collective *collectives;
    size_t collective_count;
    size_t collective_capacity;
    uint32_t world_size;           /* of distributedInfo; 0: not known */
    haul_workload_device *devices; /* as deviceProperties lists them */
    size_t device_count;
    size_t device_capacity;
    bool is_own;     /* written by 'haul convert': whole, with each event once */
    bool has_waits;  /* events of synchronisation */
    bool has_events; /* traceEvents */
    bool has_copies;
    bool has_kernels;
    char version[16];
} hl_trace_kineto_reader;

static inline int64_t hl_trace_kineto_number(const hl_trace_kineto_reader *self,
                                             hl_trace_kineto_field field)
{
    return hl_trace_kineto_has(&self->event, field) ? self->event.numbers[field] : 0;
}

/* The first of two numbers that the event has. */
static inline int64_t hl_trace_kineto_either(const hl_trace_kineto_reader *self,
                                             hl_trace_kineto_field first,
                                             hl_trace_kineto_field second)
{
    return hl_trace_kineto_number(self, hl_trace_kineto_has(&self->event, first) ? first : second);
}

/* The number of the event's thread. */
uint32_t hl_trace_kineto_thread(hl_trace_kineto_reader *self);

/* The number of the event's stream. */
uint32_t hl_trace_kineto_stream(hl_trace_kineto_reader *self, int64_t id);

/* The number of the stream that the event, a wait, waits for. */
uint32_t hl_trace_kineto_waited_stream(hl_trace_kineto_reader *self, int64_t id);

/* Keeps a call; takes it out again, by its place; gives it a key. */
void hl_trace_kineto_keep_call(hl_trace_kineto_reader *self, const hl_trace_host_call *call);
hl_trace_host_call hl_trace_kineto_call_at(const hl_trace_kineto_reader *self, size_t place);
void hl_trace_kineto_give_key(hl_trace_kineto_reader *self, size_t place, uint64_t key);

/* Puts the calls in order of start. Then: the place of the first that starts at that time or later.
 */
void hl_trace_kineto_sort_calls(hl_trace_kineto_reader *self);
size_t hl_trace_kineto_first_call(const hl_trace_kineto_reader *self, int64_t start_ns);

/* Adds the event, one of a synchronisation. */
void hl_trace_kineto_wait(hl_trace_kineto_reader *self);

/* Joins operations and calls without correlation ids by the flows that were read. The calls are in
 * order of start. */
void hl_trace_kineto_join_flows(hl_trace_kineto_reader *self);

/* Keeps the event, an operator of that name, and its sizes where they tell what it does. */
void hl_trace_kineto_keep_operator(hl_trace_kineto_reader *self, uint32_t name);

/* Keeps the operator of the event, a call that 'haul convert' wrote. */
void hl_trace_kineto_keep_call_operator(hl_trace_kineto_reader *self, uint32_t name);

/* Keeps the event, a function of Python, where it is the program's own. */
void hl_trace_kineto_keep_frame(hl_trace_kineto_reader *self);

/* Keeps the event's call stack, of an operator or a call, where it has one. */
void hl_trace_kineto_keep_stack(hl_trace_kineto_reader *self);

/* Keeps the event, an end of a flow from a forward operator to its gradient's. */
void hl_trace_kineto_keep_link(hl_trace_kineto_reader *self);

/* Gives the operators of the backward pass the lines of the forward ones. Once all lines are known,
 * and before operations get theirs. */
void hl_trace_kineto_name_backward(hl_trace_kineto_reader *self);

/* Gives operations the lines that called for them. Once all calls are joined. */
void hl_trace_kineto_name_lines(hl_trace_kineto_reader *self);

/* Gives kernels the sizes of the operators within which they were launched. Once all is read. */
void hl_trace_kineto_join_operators(hl_trace_kineto_reader *self);

/* Keeps the event, a range, where it is of a collective: "nccl:all_to_all". */
void hl_trace_kineto_keep_collective(hl_trace_kineto_reader *self, uint32_t thread);

/* Gives kernels of collectives, joined to their calls, the arguments of the ranges that they were
 * called in, where they have none of their own. */
void hl_trace_kineto_join_collectives(hl_trace_kineto_reader *self);

/* Adds waits that the calls tell of, in a trace without events of synchronisation. The calls are in
 * order of start. */
void hl_trace_kineto_infer_waits(hl_trace_kineto_reader *self);

#endif
