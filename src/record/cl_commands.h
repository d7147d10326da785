/* Commands of OpenCL queues from their call to their record. */
#ifndef HAUL_RECORD_CL_COMMANDS_H
#define HAUL_RECORD_CL_COMMANDS_H

#include <pthread.h>

#include "record/cl_headers.h"
#include "record/event_clock.h"
#include "record/profile_writer.h"

enum { HL_RECORD_CL_MOST_WAITS = 12, HL_RECORD_CL_MOST_DEVICES = 64 };

/* Whether an event was asked for its times after its end: `record` and `queued_ns` have them then.
 */
typedef enum hl_record_cl_times {
    HL_RECORD_CL_UNASKED,
    HL_RECORD_CL_TIMED,
    HL_RECORD_CL_TIMELESS
} hl_record_cl_times;

/* A call and what it started. */
typedef struct hl_record_cl_command {
    cl_event event;    /* retained; NULL where nothing has to be asked of it any more */
    bool issued;       /* to a device */
    uint8_t times;     /* hl_record_cl_times */
    int64_t queued_ns; /* by the device's clock; INT64_MIN where not known */
    int64_t start_ns;  /* of the call */
    int64_t end_ns;
    uint32_t thread;
    uint32_t call_name;
    uint32_t stack;
    int32_t result;
    uint32_t number; /* its event's id */
    uint8_t effect;  /* hl_record_cl_effect */
    bool blocks;     /* the call returned when it had ended */
    uint8_t wait_count;
    uint8_t state; /* of the collector */
    struct {
        uint32_t stream, number;
    } waits[HL_RECORD_CL_MOST_WAITS];
    hl_record record; /* its times are the device's until they are brought to the host's */
} hl_record_cl_command;

/* Asks the event of a call that has waited for its times, without the lock. Leaves `times` alone
 * where the command failed or has not ended yet: it is to be asked again. */
void hl_record_cl_command_time(hl_record_cl_command *self, cl_event event);

/* Adds a command to wait for; of one stream the later stands for both. */
void hl_record_cl_command_waits(hl_record_cl_command *self, uint32_t stream, uint32_t number);

/* Commands handed over by calls since the last collection. */
typedef struct hl_record_cl_batch {
    hl_record_cl_command *items;
    size_t count;
} hl_record_cl_batch;

/* Where and when a command ended, for those that waited for it; kept of the last 65536. */
typedef struct hl_record_cl_ending {
    uint32_t number;
    bool known;   /* it has ended */
    bool written; /* as a record of an event */
    uint32_t device, context, stream;
    int64_t end_ns;
} hl_record_cl_ending;

typedef struct hl_record_cl_stream {
    uint32_t blocked; /* the round in which a command of it had not ended */
    hl_record_event_end last;
} hl_record_cl_stream;

/* The collector's own state, under `lock`. */
typedef struct hl_record_cl_commands {
    pthread_mutex_t lock;
    hl_record_cl_command *waiting; /* for their end, in the order of their calls */
    size_t count, capacity;
    hl_record_cl_ending *endings;
    hl_record_event_clock clocks[HL_RECORD_CL_MOST_DEVICES];
    unsigned clock_count; /* those before it are in use */
    int64_t noted_error_ns[HL_RECORD_CL_MOST_DEVICES];
    hl_record_cl_stream *streams; /* by number */
    size_t stream_capacity;
    uint32_t round;
    uint64_t unknown_ends;
} hl_record_cl_commands;

void hl_record_cl_commands_init(hl_record_cl_commands *self);

/* In a child, where the parent's are none of its own. */
void hl_record_cl_commands_forget(hl_record_cl_commands *self);

/* With the lock held: takes the batch and puts the records of all that has ended. */
void hl_record_cl_commands_collect(hl_record_cl_commands *self, hl_record_profile_writer *writer,
                                   const hl_record_cl_batch *batch);

/* At the end, when the runtime may be gone: puts the calls of what is not known to have ended, and
 * of the batch, and notes how it went. With the lock held. */
void hl_record_cl_commands_finish(hl_record_cl_commands *self, hl_record_profile_writer *writer,
                                  const hl_record_cl_batch *batch);

/* In a child that may have been made while another thread changed these: lets go of all. */
void hl_record_cl_commands_abandon(hl_record_cl_commands *self);

/* Holds the clock of a device against the host's by markers on a new queue. */
void hl_record_cl_commands_bracket(hl_record_cl_commands *self, cl_command_queue queue,
                                   uint32_t device);

#endif
