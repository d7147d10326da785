/* A plan: edits of a workload's operations that make another workload.
 *
 * An operation without an edit stays. One that is left out keeps its place on its stream, empty, so
 * that operations that wait for it wait for the one before it; the time of its call goes, the
 * host's time between calls stays. An operation in parts becomes so many, of `dur_ns` each, the
 * first on its stream and the others on streams of their own; the operation before it on the stream
 * ends before any part starts, and all parts end before the one after it starts. */
#ifndef HAUL_ADVISE_REWRITE_H
#define HAUL_ADVISE_REWRITE_H

#include "haul/timeline.h"

/* Marks of an edit. */
enum {
    HL_ADVISE_EDIT_TOUCHED = 1,  /* a change is about this copy */
    HL_ADVISE_EDIT_CLAIMED = 2,  /* and no other change may be */
    HL_ADVISE_EDIT_PINNED = 4,   /* its host memory is, now */
    HL_ADVISE_EDIT_FREE = 8,     /* its call returns at once */
    HL_ADVISE_EDIT_MOVED = 16,   /* to another stream */
    HL_ADVISE_EDIT_GONE = 32,    /* left out */
    HL_ADVISE_EDIT_ANCHOR = 64,  /* something is inserted beside its call */
    HL_ADVISE_EDIT_INNER = 128,  /* only its stream waits for its end */
    HL_ADVISE_EDIT_BLOCKS = 256, /* its call returns when it has ended */
    HL_ADVISE_EDIT_LOCKED = 512, /* the buffer of its class is page-locked */
};

typedef struct hl_advise_edit {
    int64_t dur_ns; /* of each part */
    uint64_t bytes; /* of all parts; a copy's or memset's */
    uint32_t
        stream;    /* of one part; of more the first of the new ones, for the parts after the first
                    */
    uint32_t into; /* the operation that stands for this one where others wait for it, or HAUL_NONE
                    */
    uint32_t staged_ns; /* of its call, which pinned memory spares */
    uint16_t marks;
    uint8_t parts; /* at least 1 */
} hl_advise_edit;

/* `after` waits for `before`; numbers beyond the workload's operations are those of inserts. */
typedef struct hl_advise_rewrite_edge {
    uint32_t before;
    uint32_t after;
    uint8_t before_part; /* or HL_ADVISE_ALL_PARTS */
    uint8_t after_part;
} hl_advise_rewrite_edge;

enum { HL_ADVISE_ALL_PARTS = UINT8_MAX, HL_ADVISE_MOST_PARTS = 16 };

/* Where a new call is made: just before that of the anchor, in its place, or just after. */
typedef enum hl_advise_insert_place {
    HL_ADVISE_BEFORE_CALL,
    HL_ADVISE_AS_CALL,
    HL_ADVISE_AFTER_CALL
} hl_advise_insert_place;

typedef struct hl_advise_insert {
    haul_op op; /* kind, stream, direction, detail, bytes, flags; the rest is set */
    int64_t dur_ns;
    int64_t call_dur_ns;
    uint32_t anchor;
    hl_advise_insert_place place;
} hl_advise_insert;

typedef struct hl_advise_rewrite {
    const haul_workload *workload;
    const int64_t *durations_ns;      /* NULL: the workload's own */
    const int64_t *call_durations_ns; /* likewise */
    const haul_start_delay *delays;   /* of the workload's run */
    size_t delay_count;
    const int64_t *issue_ns; /* usual time from call to start, by kind; NULL: none */
    int64_t spread_ns;       /* what differs from the usual by more has a cause of its own */
    int64_t free_call_ns;    /* how long a call took that returns at once */
    double host_time;        /* of the run's host, by the recorded one's */
    hl_advise_edit *edits;
    hl_advise_rewrite_edge *edges;
    size_t edge_count;
    size_t edge_capacity;
    hl_advise_insert *inserts;
    size_t insert_count;
    size_t insert_capacity;
    uint32_t *stream_like; /* of each new stream, the one whose device it has */
    size_t stream_count;
    size_t stream_capacity;
    uint64_t extra_parts;
    int64_t lock_ns; /* of page-locking, which it adds */
    bool conflict;   /* two changes claimed one operation */
    bool failed;     /* no memory */
} hl_advise_rewrite;

haul_status hl_advise_rewrite_init(hl_advise_rewrite *self, const haul_workload *workload,
                                   const int64_t *durations_ns, const int64_t *call_durations_ns,
                                   haul_error *error);
void hl_advise_rewrite_release(hl_advise_rewrite *self);

/* Removes all edits. */
void hl_advise_rewrite_clear(hl_advise_rewrite *self);

/* Duration of an operation before any change. */
int64_t hl_advise_rewrite_old_dur(const hl_advise_rewrite *self, uint32_t op);

/* The same of its call, or of the host's own operation. */
int64_t hl_advise_rewrite_old_call_dur(const hl_advise_rewrite *self, uint32_t op);

/* How long a call takes, at the speed of the run's host, whose work took so long as recorded. */
static inline int64_t hl_advise_rewrite_host_ns(const hl_advise_rewrite *self, int64_t recorded_ns)
{
    return (int64_t)(self->host_time * (double)recorded_ns);
}

/* Marks an operation as a change's own; where it is another's already, that is a conflict. */
hl_advise_edit *hl_advise_rewrite_claim(hl_advise_rewrite *self, uint32_t op);

/* The part of a call's time that its operation does not explain, as of a driver that allocates
 * memory. */
int64_t hl_advise_call_unexplained_ns(const hl_advise_rewrite *self, uint32_t i);

/* The number of the first of `count` new streams of the device of stream `like`. */
uint32_t hl_advise_rewrite_streams(hl_advise_rewrite *self, uint32_t like, unsigned count);

void hl_advise_rewrite_edge_add(hl_advise_rewrite *self, uint32_t before, uint32_t after);
void hl_advise_rewrite_edge_parts(hl_advise_rewrite *self, hl_advise_rewrite_edge edge);

/* Its number, for edges. */
uint32_t hl_advise_rewrite_insert(hl_advise_rewrite *self, const hl_advise_insert *insert);

/* Leaves out a claimed operation; where `waits`, its call, if it blocked, becomes a wait for what
 * came before it on its stream. */
void hl_advise_rewrite_leave_out(hl_advise_rewrite *self, uint32_t op, bool waits);

/* Leaves out the waits of the host for nothing but inner operations. */
void hl_advise_rewrite_leave_out_waits(hl_advise_rewrite *self);

/* Removes all edits but the marks of pinned memory. */
void hl_advise_rewrite_keep_pins(hl_advise_rewrite *self);

/* Two numbers of 64 bits that plans share which make the same workload. */
typedef struct hl_advise_rewrite_key {
    uint64_t words[2];
} hl_advise_rewrite_key;

hl_advise_rewrite_key hl_advise_rewrite_key_of(const hl_advise_rewrite *self);

/* The workload that a plan makes. Its strings are the first workload's. */
typedef struct hl_advise_rewritten {
    haul_workload *workload;
    int64_t *durations_ns;
    int64_t *call_durations_ns;
    haul_start_delay *delays;
    size_t delay_count;
} hl_advise_rewritten;

haul_status hl_advise_rewrite_build(const hl_advise_rewrite *self, hl_advise_rewritten *draft,
                                    haul_error *error);
void hl_advise_rewritten_release(hl_advise_rewritten *self);

/* From the workload's 0 to the last end of a device's operation. */
int64_t hl_advise_timeline_end_ns(const haul_workload *workload, const haul_timeline *timeline);

#endif
