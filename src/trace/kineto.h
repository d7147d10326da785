/* A Kineto trace being read: what kineto.c and kineto_waits.c share. */
#ifndef HAUL_TRACE_KINETO_H
#define HAUL_TRACE_KINETO_H

#include "base/json_in.h"
#include "trace/kineto_event.h"
#include "trace/trace_builder.h"

/* Processes of a GPU's work are not named: its streams and waits are all of this one. */
enum { HAUL_KINETO_PROCESS = 0 };

/* A call, kept until all that it may have issued is known. */
typedef struct haul_kineto_call {
    haul_call of;
    uint64_t bytes; /* that it copies, 0 where it does not say */
} haul_kineto_call;

/* A copy whose number of bytes its call may tell. */
typedef struct haul_kineto_copy {
    uint64_t key;
    uint32_t op;
} haul_kineto_copy;

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
    haul_kineto_call *calls;
    size_t call_count;
    size_t call_capacity;
    haul_kineto_copy *copies; /* without bytes */
    size_t copy_count;
    size_t copy_capacity;
    haul_workload_device *devices; /* as deviceProperties lists them */
    size_t device_count;
    size_t device_capacity;
    bool has_waits;  /* events of synchronisation */
    bool has_events; /* traceEvents */
    bool has_copies;
    bool has_kernels;
    char version[16];
} haul_kineto;

/* The number of the event's stream. */
uint32_t haul_kineto_stream(haul_kineto *self, int64_t id);

/* Adds the event, one of a synchronisation. */
void haul_kineto_wait(haul_kineto *self);

/* Adds waits that the calls tell of, in a trace without events of synchronisation. The calls are in
 * order of start. */
void haul_kineto_infer_waits(haul_kineto *self);

#endif
