/* A ring of bytes without locks between its two ends: the writer alone moves `written`, the reader
 * alone `read`, both count up from 0 and never wrap. */
#include "record/shared_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

static const char magic[8] = "haulrng1";

enum { PREFIX = 8 }; /* bytes of type and size before a payload */

/* --- the file */

/* Allocates the room for a ring of at most the usual size; returns its capacity, 0 for failure. A
 * size above RLIMIT_FSIZE is not tried: the attempt would send the program SIGXFSZ. */
static size_t allocate(int file)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &limit);
    for (size_t capacity = HAUL_RING_BYTES; capacity >= HAUL_RING_LEAST_BYTES; capacity /= 2) {
        const size_t bytes = sizeof(haul_ring_head) + capacity;
        if (limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
            errno = EFBIG;
            continue;
        }
        errno = posix_fallocate(file, 0, (off_t)bytes);
        if (!errno)
            return capacity;
    }
    return 0;
}

/* Shared, so that what is written outlives the writer. */
static bool map(haul_ring *self, int file, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED)
        return false;
    *self = (haul_ring){.head = at, .mapped_bytes = bytes};
    return true;
}

haul_status haul_ring_create(haul_ring *self, const char *path, const char *program,
                             haul_error *error)
{
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return haul_fail_open(error, path);
    const size_t capacity = allocate(file);
    if (!capacity || !map(self, file, sizeof(haul_ring_head) + capacity)) {
        haul_fail_open(error, path);
        close(file);
        unlink(path);
        return HAUL_IO;
    }
    close(file);
    haul_ring_head *head = self->head;
    memcpy(head->magic, magic, sizeof magic);
    head->capacity = capacity;
    head->pid = getpid();
    snprintf(head->program, sizeof head->program, "%s", program ? program : "");
    atomic_store_explicit(&head->ready, 1, memory_order_release);
    return HAUL_OK;
}

/* The size is checked against the file's, for what is mapped beyond it would raise SIGBUS. */
bool haul_ring_attach(haul_ring *self, const char *path)
{
    struct stat facts;
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return false;
    const bool fits = !fstat(file, &facts) && S_ISREG(facts.st_mode) &&
                      (size_t)facts.st_size >= sizeof(haul_ring_head) + HAUL_RING_LEAST_BYTES;
    const bool mapped = fits && map(self, file, (size_t)facts.st_size);
    close(file);
    if (!mapped)
        return false;
    const haul_ring_head *head = self->head;
    if (atomic_load_explicit(&head->ready, memory_order_acquire) &&
        !memcmp(head->magic, magic, sizeof magic) &&
        head->capacity == self->mapped_bytes - sizeof *head &&
        !(head->capacity & (head->capacity - 1))) {
        atomic_store(&self->head->reader, getpid());
        return true;
    }
    haul_ring_unmap(self);
    return false;
}

void haul_ring_unmap(haul_ring *self)
{
    if (self->head)
        munmap(self->head, self->mapped_bytes);
    *self = (haul_ring){0};
}

/* --- bytes, around the end of the ring */

/* Capacities are powers of two, so the place in the ring is the position's low bits. */
static void put_bytes(haul_ring *self, const void *from, size_t bytes)
{
    haul_ring_head *head = self->head;
    const size_t at = self->position & (head->capacity - 1);
    const size_t first = bytes < head->capacity - at ? bytes : head->capacity - at;
    memcpy(head->data + at, from, first);
    memcpy(head->data, (const unsigned char *)from + first, bytes - first);
    self->position += bytes;
}

/* As put_bytes, of the other end. */
static void get_bytes(haul_ring *self, void *to, size_t bytes)
{
    const haul_ring_head *head = self->head;
    const size_t capacity = self->mapped_bytes - sizeof *head; /* the writer cannot change it */
    const size_t at = self->position & (capacity - 1);
    const size_t first = bytes < capacity - at ? bytes : capacity - at;
    memcpy(to, head->data + at, first);
    memcpy((unsigned char *)to + first, head->data, bytes - first);
    self->position += bytes;
}

/* --- messages */

size_t haul_ring_space(size_t payload_bytes)
{
    return PREFIX + (payload_bytes + 7) / 8 * 8;
}

/* The reader may have read more by now: the answer errs on the safe side. */
bool haul_ring_has_room(const haul_ring *self, size_t space)
{
    const uint64_t read = atomic_load_explicit(&self->head->read, memory_order_acquire);
    return self->position + space - read <= self->head->capacity;
}

void haul_ring_add(haul_ring *self, uint32_t type, const void *payload, size_t bytes)
{
    const uint32_t prefix[2] = {type, (uint32_t)bytes};
    const uint64_t end = self->position + haul_ring_space(bytes);
    put_bytes(self, prefix, sizeof prefix);
    put_bytes(self, payload, bytes);
    self->position = end;
}

/* Pairs with the acquire in haul_ring_next: bytes are there before their count. */
void haul_ring_publish(haul_ring *self)
{
    atomic_store_explicit(&self->head->written, self->position, memory_order_release);
}

/* `damaged` wherever the numbers cannot be the writer's: nothing is read past what is mapped,
 * nothing is copied past the message. */
bool haul_ring_next(haul_ring *self, haul_ring_message *message, bool *damaged)
{
    const uint64_t begin = self->position;
    const uint64_t left = atomic_load_explicit(&self->head->written, memory_order_acquire) - begin;
    *damaged = false;
    if (!left)
        return false;
    uint32_t prefix[2];
    if (left >= PREFIX)
        get_bytes(self, prefix, sizeof prefix);
    *damaged = left < PREFIX || left > self->mapped_bytes - sizeof *self->head ||
               prefix[1] > HAUL_RING_LONGEST_MESSAGE || haul_ring_space(prefix[1]) > left;
    if (*damaged)
        return false;
    message->type = prefix[0];
    message->bytes = prefix[1];
    get_bytes(self, message->payload, message->bytes);
    self->position = begin + haul_ring_space(message->bytes);
    return true;
}

/* Released after the bytes were copied out: the writer may overwrite them at once. */
void haul_ring_free_read(haul_ring *self)
{
    atomic_store_explicit(&self->head->read, self->position, memory_order_release);
}
