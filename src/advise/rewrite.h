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
    HAUL_EDIT_TOUCHED = 1,  /* a change is about this copy */
    HAUL_EDIT_CLAIMED = 2,  /* and no other change may be */
    HAUL_EDIT_PINNED = 4,   /* its host memory is, now */
    HAUL_EDIT_FREE = 8,     /* its call returns at once */
    HAUL_EDIT_MOVED = 16,   /* to another stream */
    HAUL_EDIT_GONE = 32,    /* left out */
    HAUL_EDIT_ANCHOR = 64,  /* something is inserted beside its call */
    HAUL_EDIT_INNER = 128,  /* only its stream waits for its end */
    HAUL_EDIT_BLOCKS = 256, /* its call returns when it has ended */
    HAUL_EDIT_LOCKED = 512, /* the buffer of its class is page-locked */
};

typedef struct haul_edit {
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
} haul_edit;

/* `after` waits for `before`; numbers beyond the workload's operations are those of inserts. */
typedef struct haul_rewrite_edge {
    uint32_t before;
    uint32_t after;
    uint8_t before_part; /* or HAUL_ALL_PARTS */
    uint8_t after_part;
} haul_rewrite_edge;

enum { HAUL_ALL_PARTS = UINT8_MAX, HAUL_MOST_PARTS = 16 };

/* Where a new call is made: just before that of the anchor, in its place, or just after. */
typedef enum haul_insert_place {
    HAUL_BEFORE_CALL,
    HAUL_AS_CALL,
    HAUL_AFTER_CALL
} haul_insert_place;

typedef struct haul_insert {
    haul_op op; /* kind, stream, direction, detail, bytes, flags; the rest is set */
    int64_t dur_ns;
    int64_t call_dur_ns;
    uint32_t anchor;
    haul_insert_place place;
} haul_insert;

typedef struct haul_rewrite {
    const haul_workload *workload;
    const int64_t *durations_ns;      /* NULL: the workload's own */
    const int64_t *call_durations_ns; /* likewise */
    const haul_start_delay *delays;   /* of the workload's run */
    size_t delay_count;
    int64_t free_call_ns; /* how long a call takes that returns at once */
    haul_edit *edits;
    haul_rewrite_edge *edges;
    size_t edge_count;
    size_t edge_capacity;
    haul_insert *inserts;
    size_t insert_count;
    size_t insert_capacity;
    uint32_t *stream_like; /* of each new stream, the one whose device it has */
    size_t stream_count;
    size_t stream_capacity;
    uint64_t extra_parts;
    bool conflict; /* two changes claimed one operation */
    bool failed;   /* no memory */
} haul_rewrite;

haul_status haul_rewrite_init(haul_rewrite *self, const haul_workload *workload,
                              const int64_t *durations_ns, const int64_t *call_durations_ns,
                              haul_error *error);
void haul_rewrite_release(haul_rewrite *self);

/* Removes all edits. */
void haul_rewrite_clear(haul_rewrite *self);

/* Duration of an operation before any change. */
int64_t haul_rewrite_old_dur(const haul_rewrite *self, uint32_t op);

/* The same of its call, where it is the device's. */
int64_t haul_rewrite_old_call_dur(const haul_rewrite *self, uint32_t op);

/* Marks an operation as a change's own; where it is another's already, that is a conflict. */
haul_edit *haul_rewrite_claim(haul_rewrite *self, uint32_t op);

/* The number of the first of `count` new streams of the device of stream `like`. */
uint32_t haul_rewrite_streams(haul_rewrite *self, uint32_t like, unsigned count);

void haul_rewrite_edge_add(haul_rewrite *self, uint32_t before, uint32_t after);
void haul_rewrite_edge_parts(haul_rewrite *self, haul_rewrite_edge edge);

/* Its number, for edges. */
uint32_t haul_rewrite_insert(haul_rewrite *self, const haul_insert *insert);

/* Leaves out a claimed operation; where `waits`, its call, if it blocked, becomes a wait for what
 * came before it on its stream. */
void haul_rewrite_leave_out(haul_rewrite *self, uint32_t op, bool waits);

/* Leaves out the waits of the host for nothing but inner operations. */
void haul_rewrite_leave_out_waits(haul_rewrite *self);

/* Removes all edits but the marks of pinned memory. */
void haul_rewrite_keep_pins(haul_rewrite *self);

/* What the plan makes. Its strings are the first workload's. */
typedef struct haul_rewritten {
    haul_workload *workload;
    int64_t *durations_ns;
    int64_t *call_durations_ns;
    haul_start_delay *delays;
    size_t delay_count;
} haul_rewritten;

haul_status haul_rewrite_build(const haul_rewrite *self, haul_rewritten *draft, haul_error *error);
void haul_rewritten_release(haul_rewritten *self);

/* From the workload's 0 to the last end of a device's operation. */
int64_t haul_timeline_end_ns(const haul_workload *workload, const haul_timeline *timeline);

#endif
