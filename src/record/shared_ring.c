/* A ring of bytes without locks between its two ends: the writer alone moves `written`, the reader
 * alone `read`, both count up from 0 and never wrap. */
#include "record/shared_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fail.h"

static const char magic[8] = "haulrng2";

enum {
    PREFIX = 8, /* bytes of type and size before a payload */
    LONGEST_PATH = 4096,
};

/* --- the files */

/* The first segment's name is the ring's. Returns false where that is too long. */
static bool name_segment(const hl_record_ring *self, unsigned segment, char name[], size_t size)
{
    const int length = segment ? snprintf(name, size, "%s-%u", self->path, segment)
                               : snprintf(name, size, "%s", self->path);
    return length >= 0 && (size_t)length < size;
}

/* The head and the first segment are one file. */
static size_t file_bytes(unsigned segment)
{
    return hl_record_ring_capacity(segment) + (segment ? 0 : sizeof(hl_record_ring_head));
}

/* Whether a file may take so much: a size above RLIMIT_FSIZE would send the program SIGXFSZ, and
 * the file system's room is wanted by others, such as the program itself in /dev/shm. */
static bool is_modest(int file, size_t bytes)
{
    struct statvfs facts;
    struct rlimit limit;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
        bytes > limit.rlim_cur) {
        errno = EFBIG;
        return false;
    }
    if (!fstatvfs(file, &facts) && bytes / facts.f_frsize > facts.f_bavail / HL_RECORD_RING_SHARE) {
        errno = ENOSPC;
        return false;
    }
    return true;
}

/* Shared, so that what is written outlives the writer. Returns NULL for failure. */
static void *map(int file, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Makes the file of a segment and maps it; NULL and errno for failure. */
static void *create(const hl_record_ring *self, unsigned segment)
{
    char name[LONGEST_PATH];
    const size_t bytes = file_bytes(segment);
    if (!name_segment(self, segment, name, sizeof name)) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    const int file = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return NULL;
    void *at = NULL;
    if (is_modest(file, bytes) && !(errno = posix_fallocate(file, 0, (off_t)bytes)))
        at = map(file, bytes);
    const int reason = errno;
    close(file);
    if (!at)
        unlink(name);
    errno = reason;
    return at;
}

uint64_t hl_record_ring_pid_space(void)
{
    struct stat facts;
    return stat("/proc/self/ns/pid", &facts) ? 0 : facts.st_ino;
}

static void begin_first(hl_record_ring *self, void *at)
{
    self->head = at;
    self->data = self->head->data;
    self->capacity = hl_record_ring_capacity(0);
}

/* Goes on in the next segment, which lies at `at`. */
static void begin_next(hl_record_ring *self, void *at)
{
    if (self->segment)
        munmap(self->data, self->capacity);
    self->segment++;
    self->data = at;
    self->capacity = hl_record_ring_capacity(self->segment);
    self->begin = self->position;
}

haul_status hl_record_ring_create(hl_record_ring *self, const char *path, const char *program,
                                  bool has_calls_only, haul_error *error)
{
    *self = (hl_record_ring){.path = strdup(path)};
    if (!self->path)
        return hl_base_fail_no_memory(error);
    void *at = create(self, 0);
    if (!at) {
        hl_base_fail_open(error, path);
        hl_record_ring_unmap(self);
        return HAUL_STATUS_IO;
    }
    begin_first(self, at);
    hl_record_ring_head *head = self->head;
    memcpy(head->magic, magic, sizeof magic);
    head->pid = getpid();
    head->pid_space = hl_record_ring_pid_space();
    head->has_calls_only = has_calls_only;
    snprintf(head->program, sizeof head->program, "%s", program ? program : "");
    atomic_store_explicit(&head->ready, 1, memory_order_release);
    return HAUL_OK;
}

/* The end of the left segment is there before any message behind it. */
bool hl_record_ring_grow(hl_record_ring *self)
{
    if (self->segment + 1 >= HL_RECORD_RING_SEGMENTS)
        return false;
    void *at = create(self, self->segment + 1);
    if (!at)
        return false;
    atomic_store_explicit(&self->head->ends[self->segment], self->position, memory_order_release);
    begin_next(self, at);
    return true;
}

/* The size is checked against the file's, for what is mapped beyond it would raise SIGBUS; without
 * a name nobody can cut the file. */
static void *attach(const hl_record_ring *self, unsigned segment)
{
    char name[LONGEST_PATH];
    struct stat facts;
    const int file = name_segment(self, segment, name, sizeof name)
                         ? open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
                         : -1;
    if (file < 0)
        return NULL;
    const bool fits = !fstat(file, &facts) && S_ISREG(facts.st_mode) &&
                      (size_t)facts.st_size == file_bytes(segment);
    void *at = fits ? map(file, file_bytes(segment)) : NULL;
    close(file);
    return at;
}

bool hl_record_ring_attach(hl_record_ring *self, const char *path)
{
    *self = (hl_record_ring){.path = strdup(path)};
    void *at = self->path ? attach(self, 0) : NULL;
    if (at)
        begin_first(self, at);
    if (at && atomic_load_explicit(&self->head->ready, memory_order_acquire) &&
        !memcmp(self->head->magic, magic, sizeof magic)) {
        atomic_store(&self->head->reader, getpid());
        unlink(path);
        return true;
    }
    hl_record_ring_unmap(self);
    return false;
}

void hl_record_ring_unmap(hl_record_ring *self)
{
    if (self->head && self->segment)
        munmap(self->data, self->capacity);
    if (self->head)
        munmap(self->head, file_bytes(0));
    free(self->path);
    *self = (hl_record_ring){0};
}

/* The writer may have made the next one, which the reader has not met. */
void hl_record_ring_remove(const hl_record_ring *self)
{
    char name[LONGEST_PATH];
    for (unsigned i = 0; i < HL_RECORD_RING_SEGMENTS; i++)
        if (name_segment(self, i, name, sizeof name))
            unlink(name);
}

/* --- bytes, around the end of the ring */

/* Capacities are powers of two, so the place in the segment is the position's low bits. */
static void put_bytes(hl_record_ring *self, const void *from, size_t bytes)
{
    const size_t at = self->position & (self->capacity - 1);
    const size_t first = bytes < self->capacity - at ? bytes : self->capacity - at;
    memcpy(self->data + at, from, first);
    memcpy(self->data, (const unsigned char *)from + first, bytes - first);
    self->position += bytes;
}

/* As put_bytes, of the other end. */
static void get_bytes(hl_record_ring *self, void *to, size_t bytes)
{
    const size_t at = self->position & (self->capacity - 1);
    const size_t first = bytes < self->capacity - at ? bytes : self->capacity - at;
    memcpy(to, self->data + at, first);
    memcpy((unsigned char *)to + first, self->data, bytes - first);
    self->position += bytes;
}

/* --- messages */

size_t hl_record_ring_space(size_t payload_bytes)
{
    return PREFIX + (payload_bytes + 7) / 8 * 8;
}

/* The reader may have read more by now: the answer errs on the safe side. Of what it has not read
 * some may lie in the segments before. */
bool hl_record_ring_has_room(const hl_record_ring *self, size_t space)
{
    const uint64_t read = atomic_load_explicit(&self->head->read, memory_order_acquire);
    const uint64_t from = read > self->begin ? read : self->begin;
    return self->position + space - from <= self->capacity;
}

void hl_record_ring_add(hl_record_ring *self, uint32_t type, const void *payload, size_t bytes)
{
    const uint32_t prefix[2] = {type, (uint32_t)bytes};
    const uint64_t end = self->position + hl_record_ring_space(bytes);
    put_bytes(self, prefix, sizeof prefix);
    put_bytes(self, payload, bytes);
    self->position = end;
}

/* Pairs with the acquire in hl_record_ring_next: bytes are there before their count. */
void hl_record_ring_publish(hl_record_ring *self)
{
    atomic_store_explicit(&self->head->written, self->position, memory_order_release);
}

/* The position up to which this segment has messages; goes on to the next one at its end.
 * `damaged` where there is none. */
static uint64_t readable_end(hl_record_ring *self, bool *damaged)
{
    for (;;) {
        char name[LONGEST_PATH];
        const uint64_t written = atomic_load_explicit(&self->head->written, memory_order_acquire);
        const uint64_t end =
            atomic_load_explicit(&self->head->ends[self->segment], memory_order_acquire);
        if (!end || end != self->position)
            return end ? end : written;
        if (written == end)
            return end;
        void *at =
            self->segment + 1 < HL_RECORD_RING_SEGMENTS ? attach(self, self->segment + 1) : NULL;
        *damaged = !at;
        if (!at)
            return self->position;
        begin_next(self, at);
        if (name_segment(self, self->segment, name, sizeof name))
            unlink(name);
    }
}

/* `damaged` wherever the numbers cannot be the writer's: nothing is read past what is mapped,
 * nothing is copied past the message. */
bool hl_record_ring_next(hl_record_ring *self, hl_record_ring_message *message, bool *damaged)
{
    *damaged = false;
    const uint64_t end = readable_end(self, damaged);
    const uint64_t begin = self->position, left = end - begin;
    if (!left)
        return false;
    uint32_t prefix[2];
    if (left >= PREFIX)
        get_bytes(self, prefix, sizeof prefix);
    *damaged = left < PREFIX || left > self->capacity ||
               prefix[1] > HL_RECORD_RING_LONGEST_MESSAGE || hl_record_ring_space(prefix[1]) > left;
    if (*damaged)
        return false;
    message->type = prefix[0];
    message->bytes = prefix[1];
    get_bytes(self, message->payload, message->bytes);
    self->position = begin + hl_record_ring_space(message->bytes);
    return true;
}

/* Released after the bytes were copied out: the writer may overwrite them at once. */
void hl_record_ring_free_read(hl_record_ring *self)
{
    atomic_store_explicit(&self->head->read, self->position, memory_order_release);
}
