/* A ring of messages in memory that two processes share: the recorder inside a program writes it,
 * haul outside reads it.
 *
 * The ring is a file that both map and neither keeps open: a program may close every descriptor
 * that it did not open itself, and what is mapped stays readable when its writer dies. Messages are
 * published by one store each, after their bytes, so a writer that is killed leaves no half of one.
 * One thread writes at a time, one process reads. */
#ifndef HAUL_RECORD_SHARED_RING_H
#define HAUL_RECORD_SHARED_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "haul/status.h"

enum {
    HAUL_RING_BYTES = 1 << 23,        /* 87,000 records */
    HAUL_RING_LEAST_BYTES = 1 << 16,  /* where the file system or a limit allows no more */
    HAUL_RING_LONGEST_MESSAGE = 8192, /* bytes */
};

/* The begin of the file. Counters are the writer's but for `read`,
 * `reader` and `stopped`. */
typedef struct haul_ring_head {
    char magic[8];
    uint64_t capacity; /* of `data`, a power of two */
    int64_t pid;       /* of the writer */
    char program[64];
    _Atomic uint32_t ready;   /* what stands above is set */
    _Atomic uint32_t closed;  /* the writer ended the recording itself */
    _Atomic int64_t reader;   /* its process; 0 before it has come */
    _Atomic uint32_t stopped; /* the reader wants no more: a failure, or its end */
    _Atomic uint64_t issued;  /* commands that calls gave to devices */
    _Atomic uint64_t settled; /* those of them that are written, dropped or failed */
    _Atomic uint64_t dropped; /* records that found no room */
    _Atomic uint64_t beyond_limits;
    _Atomic int64_t waited_ns;  /* for room */
    _Atomic int64_t fetched_ns; /* when records were last fetched from the devices' driver, where
                                 * that is late; 0 where it is not */
    _Alignas(64) _Atomic uint64_t written; /* bytes since the beginning */
    _Alignas(64) _Atomic uint64_t read;
    _Alignas(64) unsigned char data[];
} haul_ring_head;

typedef struct haul_ring {
    haul_ring_head *head; /* NULL: not mapped */
    size_t mapped_bytes;
    uint64_t position; /* of the writer, not yet published; of the reader */
} haul_ring;

typedef struct haul_ring_message {
    uint32_t type;
    uint32_t bytes;
    _Alignas(8) unsigned char payload[HAUL_RING_LONGEST_MESSAGE];
} haul_ring_message;

/* --- the writer */

/* Makes the file at `path`, which must not exist, for this process. All of its room is allocated
 * now: a file system that fills up later cannot raise SIGBUS. Returns IO. */
haul_status haul_ring_create(haul_ring *self, const char *path, const char *program,
                             haul_error *error);

/* Bytes that a message takes. */
size_t haul_ring_space(size_t payload_bytes);

bool haul_ring_has_room(const haul_ring *self, size_t space);

/* Adds a message, for which there is room; the reader sees it when it is published. */
void haul_ring_add(haul_ring *self, uint32_t type, const void *payload, size_t bytes);
void haul_ring_publish(haul_ring *self);

/* --- the reader */

/* Maps the file. Returns false where it is not ready, or is none. */
bool haul_ring_attach(haul_ring *self, const char *path);

/* The next message; returns false where there is none. *damaged where the bytes are none that
 * haul_ring_add wrote: nothing can be read of the ring from there on. */
bool haul_ring_next(haul_ring *self, haul_ring_message *message, bool *damaged);

/* Gives the room of what was read back to the writer. */
void haul_ring_free_read(haul_ring *self);

/* --- both */

void haul_ring_unmap(haul_ring *self);

#endif
