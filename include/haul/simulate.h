/* Workloads written by hand, on a machine's timeline. docs/simulate.md is the form of their files.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_SIMULATE_H
#define HAUL_SIMULATE_H

#include "haul/cost.h"
#include "haul/timeline.h"

HAUL_BEGIN

/* A workload as its file has it. Operations are in the order of the file, which is that of each
 * stream and thread; every one is called by a thread of the host. dur_ns is what the file says, 0
 * for copies and kernels that it leaves to a machine. All is the schedule's own. */
typedef struct haul_schedule {
    const char *name;    /* NULL where not said */
    const char *summary; /* likewise */
    const haul_workload *workload;
} haul_schedule;

enum { HAUL_SCHEDULE_OPS = 10 * 1000 * 1000 /* at most, loops unrolled */ };

/* Reads a workload file: CSV where `path` ends in ".csv" or ".csv.gz", else YAML, gzipped or not.
 * Returns IO, or BAD_INPUT with file, line and column, naming the operation. On success the caller
 * owns *schedule. */
HAUL_API haul_status haul_schedule_load(const char *path, haul_schedule **schedule,
                                        haul_error *error);

/* The same from `size` bytes in memory, which end with a NUL behind them; `file` names them. */
HAUL_API haul_status haul_schedule_parse(const char *text, size_t size, const char *file,
                                         haul_schedule **schedule, haul_error *error);
HAUL_API void haul_schedule_free(haul_schedule *schedule);

/* The title of an operation: its name, or "#12", counted from 1. Returns `buffer` or the name. */
HAUL_API const char *haul_schedule_op(const haul_schedule *schedule, uint32_t op, char *buffer,
                                      size_t size);

/* Why an operation started no earlier. */
typedef enum haul_waited {
    HAUL_SIMULATION_WAITED_NOTHING, /* the beginning, or what the host did before its call */
    HAUL_SIMULATION_WAITED_CALL,   /* its call, which came late: behind a wait or a blocking call */
    HAUL_SIMULATION_WAITED_STREAM, /* the operation before it on its stream */
    HAUL_SIMULATION_WAITED_AFTER,  /* what the file says */
    HAUL_SIMULATION_WAITED_RESOURCE, /* what held its copy engine, or room for kernels */
} haul_waited;

typedef struct haul_simulation {
    const haul_schedule *schedule; /* the caller's, as is the machine */
    const haul_machine *machine;
    const int64_t *durations_ns; /* of each operation */
    haul_timeline_device device;
    haul_timeline *timeline;
    int64_t low_ns;             /* timeline->whole_ns with every predicted time at its low end */
    int64_t high_ns;            /* likewise at the high end */
    uint64_t predicted_copies;  /* by the machine's models; the others' times are given */
    uint64_t predicted_kernels; /* by kernel files */
    uint64_t predicted_messages;
    /* By HAUL_DIRECTION_HTOD and HAUL_DIRECTION_DTOH: the machine lacks its bidirectional
     * contention, which is then taken from other machines (docs/overlap.md). Never where all copies
     * go one way. */
    bool assumed_busy[2];
    haul_provenance weakest; /* of the parameters behind all that; NOT_GIVEN where there is none */
    const char *model;       /* that predicted the copies; NULL for several, or none */
} haul_simulation;

/* Predicts the copies on `machine` by `model` (NULL: auto), and kernels by their files, and
 * schedules all. Returns BAD_INPUT, MISSING or ABSENT, with the place of the operation that cannot
 * be: one of a device that the machine does not have, without a copy engine, a copy that no
 * parameter covers. The simulation points to the schedule and the machine, which have to live as
 * long. Free with haul_simulation_free. */
HAUL_API haul_status haul_simulation_make(const haul_schedule *schedule,
                                          const haul_machine *machine, const haul_copy_model *model,
                                          haul_simulation **simulation, haul_error *error);
HAUL_API void haul_simulation_free(haul_simulation *simulation);

/* Why an operation started when it did, and, for all but NOTHING, behind which in *cause. */
HAUL_API haul_waited haul_simulation_waited(const haul_simulation *simulation, uint32_t op,
                                            uint32_t *cause);

HAUL_END

#endif
