/* A ring of messages in memory that two processes share: the recorder inside a program writes it,
 * haul outside reads it.
 *
 * The ring is a file that both map and neither keeps open: a program may close every descriptor
 * that it did not open itself, and what is mapped stays readable when its writer dies. Messages are
 * published by one store each, after their bytes, so a writer that is killed leaves no half of one.
 * One thread writes at a time, one process reads.
 *
 * The memory that it lies in is the program's too, so a ring begins small. A writer that finds it
 * full leaves its segment for one of twice the size, in a file of its own (PATH-1, PATH-2 ...). The
 * reader takes a file's name away once it has mapped it: what has no name nobody can cut, which
 * would raise SIGBUS in both processes, and nothing is left of it when both have ended. */
#ifndef HAUL_RECORD_SHARED_RING_H
#define HAUL_RECORD_SHARED_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "haul/status.h"
#include "record/losses.h"

enum {
    HL_RECORD_RING_FIRST_BYTES = 1 << 16,  /* 680 records: of the first segment */
    HL_RECORD_RING_SEGMENTS = 8,           /* the last has 8 MiB: 87,000 records */
    HL_RECORD_RING_SHARE = 16,             /* of the free room, that a segment takes at most */
    HL_RECORD_RING_LONGEST_MESSAGE = 8192, /* bytes */
};

/* Bytes of a segment, from 0 on. */
static inline size_t hl_record_ring_capacity(unsigned segment)
{
    return (size_t)HL_RECORD_RING_FIRST_BYTES << segment;
}

/* The begin of the first file. Counters are the writer's but for `read`, `reader` and `stopped`. */
typedef struct hl_record_ring_head {
    char magic[8];
    int64_t pid;        /* of the writer */
    uint64_t pid_space; /* the namespace of that number */
    char program[64];
    uint32_t has_calls_only;  /* no record names a device */
    _Atomic uint32_t ready;   /* what stands above is set */
    _Atomic uint32_t closed;  /* the writer ended the recording itself */
    _Atomic int64_t reader;   /* its process; 0 before it has come */
    _Atomic uint32_t stopped; /* the reader wants no more: a failure, or its end */
    _Atomic uint64_t issued;  /* commands that calls gave to devices */
    _Atomic uint64_t settled; /* those of them that are written, dropped or failed */
    struct {
        _Atomic uint64_t count;
        _Atomic int64_t since_ns; /* of the first; 0 for none yet */
    } losses[HL_RECORD_LOSSES];
    _Atomic int64_t waited_ns;  /* for room */
    _Atomic int64_t fetched_ns; /* when records were last fetched from the devices' driver, where
                                 * that is late; 0 where it is not */
    _Atomic uint64_t ends[HL_RECORD_RING_SEGMENTS]; /* of each segment that the writer has left: the
                                                     * position there; 0 of the others */
    _Alignas(64) _Atomic uint64_t written;          /* bytes since the beginning */
    _Alignas(64) _Atomic uint64_t read;
    _Alignas(64) unsigned char data[];
} hl_record_ring_head;

typedef struct hl_record_ring {
    hl_record_ring_head *head; /* NULL: not mapped */
    unsigned char *data;       /* of the segment in use */
    size_t capacity;
    unsigned segment;
    uint64_t begin;    /* the position where it begins */
    uint64_t position; /* of the writer, not yet published; of the reader */
    char *path;
} hl_record_ring;

typedef struct hl_record_ring_message {
    uint32_t type;
    uint32_t bytes;
    _Alignas(8) unsigned char payload[HL_RECORD_RING_LONGEST_MESSAGE];
} hl_record_ring_message;

/* --- the writer */

/* Makes the file at `path`, which must not exist, for this process. All of a segment's room is
 * allocated with it: a file system that fills up later cannot raise SIGBUS. Returns IO; also where
 * the segment would take more than its share of the free room. */
haul_status hl_record_ring_create(hl_record_ring *self, const char *path, const char *program,
                                  bool has_calls_only, haul_error *error);

/* Bytes that a message takes. */
size_t hl_record_ring_space(size_t payload_bytes);

bool hl_record_ring_has_room(const hl_record_ring *self, size_t space);

/* Goes on in a segment of twice the size, when all that was added is published. Returns false where
 * there is none: it is the largest, or the file cannot be made. */
bool hl_record_ring_grow(hl_record_ring *self);

/* Adds a message, for which there is room; the reader sees it when it is published. */
void hl_record_ring_add(hl_record_ring *self, uint32_t type, const void *payload, size_t bytes);
void hl_record_ring_publish(hl_record_ring *self);

/* --- the reader */

/* Maps the file and removes its name. Returns false where it is not ready, or is none. */
bool hl_record_ring_attach(hl_record_ring *self, const char *path);

/* The next message; returns false where there is none. *damaged where the bytes are none that
 * hl_record_ring_add wrote: nothing can be read of the ring from there on. */
bool hl_record_ring_next(hl_record_ring *self, hl_record_ring_message *message, bool *damaged);

/* Gives the room of what was read back to the writer. */
void hl_record_ring_free_read(hl_record_ring *self);

/* Removes the files that still have names; what is mapped stays. */
void hl_record_ring_remove(const hl_record_ring *self);

/* --- both */

/* The namespace in which this process has its number; 0 where it is not known. */
uint64_t hl_record_ring_pid_space(void);

void hl_record_ring_unmap(hl_record_ring *self);

#endif
