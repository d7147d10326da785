/* The writer of a profile inside a recorded program.
 *
 * Any thread puts records of one size, which costs it a lock and a copy into a ring that it shares
 * with haul outside (record/shared_ring.h); haul writes the tables (record/collector.h). Nothing of
 * a program that is killed is lost but what was not yet put. Where the ring is full a caller waits
 * up to 2 s for room, 100 ms where haul has ended; after that records are dropped, and counted,
 * until haul has read some.
 *
 * A writer belongs to one process: see record/record_session.h, which is also what injection
 * libraries use to open one. */
#ifndef HAUL_RECORD_PROFILE_WRITER_H
#define HAUL_RECORD_PROFILE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "haul/status.h"
#include "record/losses.h"

typedef struct hl_record_profile_writer hl_record_profile_writer;

/* An id that means "none", as CUPTI writes it: of a stream or context that a wait does not name. */
#define HL_RECORD_PROFILE_NO_ID UINT32_MAX

typedef enum hl_record_kind {
    HL_RECORD_COPY,           /* CUPTI_ACTIVITY_KIND_MEMCPY */
    HL_RECORD_SET,            /* CUPTI_ACTIVITY_KIND_MEMSET */
    HL_RECORD_KERNEL,         /* CUPTI_ACTIVITY_KIND_KERNEL */
    HL_RECORD_CALL,           /* CUPTI_ACTIVITY_KIND_RUNTIME */
    HL_RECORD_SYNC,           /* CUPTI_ACTIVITY_KIND_SYNCHRONIZATION */
    HL_RECORD_EVENT,          /* CUPTI_ACTIVITY_KIND_CUDA_EVENT; its time is `start_ns` */
    HL_RECORD_OVERHEAD,       /* CUPTI_ACTIVITY_KIND_OVERHEAD */
    HL_RECORD_MPI_MESSAGE,    /* MPI_P2P_EVENTS */
    HL_RECORD_MPI_COLLECTIVE, /* MPI_COLLECTIVES_EVENTS */
    HL_RECORD_MPI_WAIT,       /* MPI_START_WAIT_EVENTS: one for each request that it completed */
    HL_RECORD_MPI_OTHER,      /* MPI_OTHER_EVENTS */
    HL_RECORD_MPI_RANK,       /* MPI_RANKS; of no time */
    HL_RECORD_KINDS,
} hl_record_kind;

/* ENUM_CUDA_MEMCPY_OPER: the ones that are met most; any other number of CUPTI's may be given. */
enum {
    HL_RECORD_HTOD = 1,
    HL_RECORD_DTOH = 2,
    HL_RECORD_DTOD = 8,
    HL_RECORD_HTOH = 9,
    HL_RECORD_PTOP = 10,
    HL_RECORD_UNIFIED_HTOD = 11,
    HL_RECORD_UNIFIED_DTOH = 12,
};

/* ENUM_CUDA_MEM_KIND: nsys's numbers, one below those of CUpti_ActivityMemoryKind. */
enum {
    HL_RECORD_PAGEABLE = 0,
    HL_RECORD_PINNED = 1,
    HL_RECORD_DEVICE = 2,
    HL_RECORD_ARRAY = 3,
    HL_RECORD_MANAGED = 4,
    HL_RECORD_UNKNOWN = 7,
};

/* ENUM_CUPTI_SYNC_TYPE. A wait of the host for an event gives no stream, one for a stream no event,
 * one for a context neither: our reader relies on that. */
enum {
    HL_RECORD_WAIT_EVENT = 1,
    HL_RECORD_STREAM_WAITS = 2,
    HL_RECORD_WAIT_STREAM = 3,
    HL_RECORD_WAIT_CONTEXT = 4,
};

/* Whom a call of MPI waits for. */
typedef enum hl_record_mpi_way {
    HL_RECORD_MPI_SENDS,
    HL_RECORD_MPI_RECEIVES,
    HL_RECORD_MPI_ALL,       /* all wait for all */
    HL_RECORD_MPI_FROM_ROOT, /* all wait for the root */
    HL_RECORD_MPI_TO_ROOT,   /* the root waits for all */
} hl_record_mpi_way;

/* One row. Times are CLOCK_MONOTONIC's nanoseconds; the profile has them from the start of the
 * recording on. `correlation` joins a call with what it started, 0 for none. `name` is of
 * hl_record_profile_name. Members that a kind has not are left 0. */
typedef struct hl_record {
    hl_record_kind kind;
    uint32_t correlation;
    int64_t start_ns;
    int64_t end_ns;
    uint32_t device;
    uint32_t context;
    uint32_t stream;
    union {
        struct {
            uint64_t bytes;
            uint32_t source_device, target_device; /* HL_RECORD_PROFILE_NO_ID: `device` */
            uint8_t copy_kind, source_kind, target_kind;
            uint8_t migration_cause; /* ENUM_CUDA_UNIF_MEM_MIGRATION, of unified memory */
        } copy;
        struct {
            uint64_t bytes;
            uint32_t value;
            uint8_t memory_kind;
        } set;
        struct {
            uint32_t name;       /* as it is shown */
            uint32_t short_name; /* 0: as `name` */
            uint32_t grid[3];    /* blocks */
            uint32_t block[3];   /* threads */
            uint32_t registers;  /* a thread */
            uint32_t static_shared_bytes, dynamic_shared_bytes;
        } kernel;
        struct {
            uint32_t name;
            uint32_t thread; /* the system's id of it */
            int32_t result;
            uint32_t stack; /* the number of its text (record/call_stack.h); 0 for none */
        } call;
        struct {
            uint32_t type;
            uint32_t event;   /* HL_RECORD_PROFILE_NO_ID for none */
            uint32_t sync_id; /* names one record of the event; HL_RECORD_PROFILE_NO_ID for none */
        } sync;
        struct {
            uint32_t event;
            uint32_t sync_id;
        } event;
        struct {
            uint32_t name;
            uint32_t thread;
            uint32_t type; /* CUpti_ActivityOverheadKind */
        } overhead;
        struct {
            uint64_t bytes; /* of a collective, what this process gives or gets, the larger */
            uint32_t name;
            uint32_t thread;
            uint32_t request;   /* what completes it, numbered by the process; 0: it blocked */
            uint32_t comm;      /* a number that all its processes have of it */
            uint32_t comm_size; /* 0: not known, so that nothing is matched */
            int32_t rank, peer; /* in MPI_COMM_WORLD; the peer of a collective is its root, or -1 */
            int32_t tag;
            uint32_t way; /* hl_record_mpi_way */
        } mpi;
    };
} hl_record;

/* Whether it is work of a device, of which a recording may be limited to so many. */
static inline bool hl_record_is_operation(const hl_record *self)
{
    return self->kind == HL_RECORD_COPY || self->kind == HL_RECORD_SET ||
           self->kind == HL_RECORD_KERNEL;
}

typedef struct hl_record_profile_options {
    bool has_calls_only;     /* of the process's own threads: its records name no device */
    const char *path;        /* of the ring; made, it must not exist */
    const char *program;     /* name of the process, NULL for none */
    int64_t start_ns;        /* time 0 of the profile on CLOCK_MONOTONIC, for `duration_ns` */
    int64_t duration_ns;     /* records that start later are left out; 0 for no limit */
    uint64_t max_operations; /* copies, sets and kernels beyond are left out; 0 for no limit */
} hl_record_profile_options;

/* The fate of the records that were put. */
typedef struct hl_record_profile_result {
    uint64_t operations;    /* taken: copies, sets and kernels */
    uint64_t dropped;       /* records that found the ring full, or came after a failure */
    uint64_t beyond_limits; /* left out for max_operations or duration_ns */
    int64_t waited_ns;      /* that callers waited for room, summed */
} hl_record_profile_result;

/* A device as the profile describes it; 0 and NULL where not known. */
typedef struct hl_record_profile_device {
    uint32_t id; /* as records name it */
    const char *name;
    const char *bus; /* "0000:41:00.0" */
    const char *uuid;
    bool discrete;
    uint64_t memory_bytes;
    uint64_t l2_bytes;
    uint64_t memory_bandwidth_Bps;
    uint64_t clock_Hz;
    uint32_t multiprocessors;
    uint32_t copy_engines;
    uint32_t compute_major;
    uint32_t compute_minor;
} hl_record_profile_device;

/* Makes the ring. Returns IO where it cannot be made. */
haul_status hl_record_profile_open(const hl_record_profile_options *options,
                                   hl_record_profile_writer **writer, haul_error *error);

/* Says that the recording is complete and frees the writer; `result` may be NULL. No other thread
 * may still use the writer. */
void hl_record_profile_close(hl_record_profile_writer *self, hl_record_profile_result *result);

/* Whether records are still taken: no limit reached, and haul reads on. Any thread, cheap. */
bool hl_record_profile_recording(const hl_record_profile_writer *self);

/* Puts all `count` records, at most 64, or none. Any thread; may wait, see above. Returns false
 * where they were left out. */
bool hl_record_profile_put(hl_record_profile_writer *self, const hl_record *records, size_t count);

/* How long a put waits for room: 2 s to begin with, longer where no thread of the program waits.
 */
void hl_record_profile_be_patient(hl_record_profile_writer *self, int64_t milliseconds);

/* Counts commands that a call gave to a device, and those whose fate is known: where the process is
 * killed, the difference is what was in flight. Any thread. */
void hl_record_profile_count_issued(hl_record_profile_writer *self, uint64_t commands);
void hl_record_profile_count_settled(hl_record_profile_writer *self, uint64_t commands);

/* Counts what is not in the profile. Any thread. */
void hl_record_profile_lost(hl_record_profile_writer *self, hl_record_loss loss, uint64_t lost);
void hl_record_profile_lost_since(hl_record_profile_writer *self, hl_record_loss loss,
                                  uint64_t lost, int64_t since_ns);

/* Says that all that had ended by `time_ns` has been put, of a driver that tells late. */
void hl_record_profile_fetched(hl_record_profile_writer *self, int64_t time_ns);

/* The number of a name, added where new; up to 65536 names of 4 KiB, then that of "(other names)".
 * Any thread. */
uint32_t hl_record_profile_name(hl_record_profile_writer *self, const char *text);

/* Says more of the recording; any thread. A device or stream that was described before is described
 * anew, a note (a row of META_DATA_CAPTURE) replaced. */
void hl_record_profile_describe_device(hl_record_profile_writer *self,
                                       const hl_record_profile_device *device);
void hl_record_profile_describe_stream(hl_record_profile_writer *self, uint32_t context,
                                       uint32_t stream);
void hl_record_profile_note(hl_record_profile_writer *self, const char *name, const char *format,
                            ...) HAUL_PRINTF(3, 4);
void hl_record_profile_note_count(hl_record_profile_writer *self, const char *name,
                                  uint64_t count); /* none for 0 */

/* Around fork(): holds the writer still, and lets it go on in the parent. The child forgets it: its
 * view of the ring goes, so that nothing there can write into the parent's. */
void hl_record_profile_hold(hl_record_profile_writer *self);
void hl_record_profile_release(hl_record_profile_writer *self);
void hl_record_profile_forget(hl_record_profile_writer *self);

/* CLOCK_MONOTONIC in nanoseconds, and the system's id of the calling thread. */
int64_t hl_record_profile_now(void);
uint32_t hl_record_profile_thread(void);

#endif
