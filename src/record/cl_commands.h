/* Commands of OpenCL queues from their call to their record. */
#ifndef HAUL_RECORD_CL_COMMANDS_H
#define HAUL_RECORD_CL_COMMANDS_H

#include <pthread.h>

#include "record/cl_headers.h"
#include "record/event_clock.h"
#include "record/profile_writer.h"

enum { HAUL_CL_MOST_WAITS = 12, HAUL_CL_MOST_DEVICES = 64 };

/* A call and what it started. */
typedef struct haul_cl_command {
    cl_event event;   /* retained; NULL where nothing runs on a device */
    int64_t start_ns; /* of the call */
    int64_t end_ns;
    uint32_t thread;
    uint32_t call_name;
    int32_t result;
    uint32_t number; /* its event's id */
    uint8_t effect;  /* haul_cl_effect */
    bool blocks;     /* the call returned when it had ended */
    uint8_t wait_count;
    uint8_t state; /* of the collector */
    struct {
        uint32_t stream, number;
    } waits[HAUL_CL_MOST_WAITS];
    haul_record record; /* its times are the device's until they are brought to the host's */
} haul_cl_command;

/* Adds a command to wait for; of one stream the later stands for both. */
void haul_cl_command_waits(haul_cl_command *self, uint32_t stream, uint32_t number);

/* What calls gave since the last collection. */
typedef struct haul_cl_batch {
    haul_cl_command *items;
    size_t count;
} haul_cl_batch;

/* Where and when a command ended, for those that waited for it; kept of the last 65536. */
typedef struct haul_cl_ending {
    uint32_t number;
    bool known;   /* it has ended */
    bool written; /* as a record of an event */
    uint32_t device, context, stream;
    int64_t end_ns;
} haul_cl_ending;

/* What the collector keeps, under `lock`. */
typedef struct haul_cl_commands {
    pthread_mutex_t lock;
    haul_cl_command *waiting; /* for their end, in the order of their calls */
    size_t count, capacity;
    haul_cl_ending *endings;
    haul_event_clock clocks[HAUL_CL_MOST_DEVICES];
    int64_t noted_error_ns[HAUL_CL_MOST_DEVICES];
    uint32_t *blocked; /* by stream: the round in which a command of it had not ended */
    size_t blocked_capacity;
    uint32_t round;
    uint64_t dropped, untimed, failed, unknown_ends;
} haul_cl_commands;

void haul_cl_commands_init(haul_cl_commands *self);

/* In a child, where the parent's are none of its own. */
void haul_cl_commands_forget(haul_cl_commands *self);

/* With the lock held: takes the batch and puts the records of all that has ended. */
void haul_cl_commands_collect(haul_cl_commands *self, haul_profile_writer *writer,
                              const haul_cl_batch *batch);

/* At the end: puts the calls of what has not ended, and notes how it went. */
void haul_cl_commands_finish(haul_cl_commands *self, haul_profile_writer *writer);

/* Holds the clock of a device against the host's by markers on a new queue. */
void haul_cl_commands_bracket(haul_cl_commands *self, cl_command_queue queue, uint32_t device);

#endif
