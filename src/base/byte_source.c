/* One thread unpacks into a ring of four blocks while the reader empties them: zlib alone takes
 * about as long as parsing what it gives, and both together no longer than the slower one. */
#include "base/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fail.h"

/* Four, so that both sides go on while the other is a block ahead or behind. */
enum { BLOCKS = 4, BLOCK_BYTES = 256 * 1024, PACKED_BYTES = 128 * 1024 };

/* Unpacked bytes, of which the reader has taken `taken`. */
typedef struct block {
    unsigned char bytes[BLOCK_BYTES];
    size_t length;
    size_t taken;
} block;

/* The blocks go round between the thread, which fills, and the reader, which empties. */
typedef struct unpacker {
    block blocks[BLOCKS];
    unsigned char packed[PACKED_BYTES];
    z_stream stream;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* The counters may wrap: BLOCKS is a power of two, so their remainders and difference stay
     * right. */
    unsigned filled;  /* blocks, since the beginning */
    unsigned emptied; /* likewise */
    bool ended;       /* no block comes any more */
    bool stop;        /* none is wanted */
    haul_status status;
    haul_error error;
} unpacker;

struct hl_base_byte_source {
    const char *path;
    int file;
    unpacker *unpacker; /* NULL where the file is not gzipped */
};

bool hl_base_byte_source_is_gzipped(const hl_base_byte_source *self)
{
    return self->unpacker;
}

/* As many bytes as there are, up to `size`; -1 where the file cannot be read. */
static ssize_t read_fully(int file, void *buffer, size_t size)
{
    size_t count = 0;
    while (count < size) {
        const ssize_t got = read(file, (char *)buffer + count, size - count);
        /* The progress line's alarm interrupts reads. */
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (!got)
            break;
        count += (size_t)got;
    }
    return (ssize_t)count;
}

/* The position of the damage in the file is what a user can compare with a fresh copy. zlib has
 * read ahead of it: the bytes that it has not used yet are taken off. */
static haul_status fail_gzip(const hl_base_byte_source *self, const char *what)
{
    unpacker *const u = self->unpacker;
    const long long at = (long long)lseek(self->file, 0, SEEK_CUR) - u->stream.avail_in;
    haul_error_set(&u->error, HAUL_STATUS_IO,
                   "gzip data %s at byte %lld of the file, %llu unpacked", what, at,
                   (unsigned long long)u->stream.total_out);
    hl_base_error_in_file(&u->error, self->path);
    return HAUL_STATUS_IO;
}

/* Fills a block. A file may hold several members, one behind the other (RFC 1952, section 2.2);
 * other bytes behind the last are not read. */
static haul_status unpack(hl_base_byte_source *self, block *into, bool *in_member, bool *ended)
{
    unpacker *const u = self->unpacker;
    u->stream.next_out = into->bytes;
    u->stream.avail_out = sizeof into->bytes;
    /* The block is filled to the end: the reader takes few large pieces. */
    while (u->stream.avail_out) {
        bool more = true;
        if (!u->stream.avail_in) {
            const ssize_t got = read_fully(self->file, u->packed, sizeof u->packed);
            if (got < 0)
                return hl_base_fail_read(&u->error, self->path);
            u->stream.next_in = u->packed;
            u->stream.avail_in = (unsigned)got;
            more = got > 0;
        }
        if (!more && *in_member)
            return fail_gzip(self, "cut short");
        /* 0x1f begins a member. Other bytes, such as zeros that pad the file to full blocks, are no
         * error. */
        if (!more || (!*in_member && u->stream.next_in[0] != 0x1f)) {
            *ended = true;
            break;
        }
        *in_member = true;
        /* Z_BUF_ERROR: no progress without more input, which the next round brings. */
        const int code = inflate(&u->stream, Z_NO_FLUSH);
        if (code == Z_STREAM_END) {
            *in_member = false;
            /* The next member starts with a header of its own; the window of the last one is
             * void. */
            (void)inflateReset(&u->stream);
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            return code == Z_MEM_ERROR ? hl_base_fail_no_memory(&u->error)
                                       : fail_gzip(self, "damaged");
        }
    }
    into->length = sizeof into->bytes - u->stream.avail_out;
    into->taken = 0;
    return HAUL_OK;
}

/* Waits for an empty block; NULL where none is wanted any more. */
static block *take_empty(unpacker *u)
{
    pthread_mutex_lock(&u->lock);
    while (!u->stop && u->filled - u->emptied == BLOCKS)
        pthread_cond_wait(&u->changed, &u->lock);
    /* The lock guards the counters alone. Blocks from `emptied` up to `filled` are the reader's,
     * the others this thread's, so nobody else touches the bytes meanwhile. */
    block *const found = u->stop ? NULL : &u->blocks[u->filled % BLOCKS];
    pthread_mutex_unlock(&u->lock);
    return found;
}

static void *unpack_all(void *argument)
{
    hl_base_byte_source *const self = argument;
    unpacker *const u = self->unpacker;
    bool in_member = false, ended = false;
    haul_status status = HAUL_OK;
    /* Ends at the end of the file, at an error, or when the source is closed. */
    for (block *next; !status && !ended && (next = take_empty(u));) {
        status = unpack(self, next, &in_member, &ended);
        pthread_mutex_lock(&u->lock);
        /* A block that failed is not counted: the reader gets all good bytes before it, then the
         * error. */
        u->filled += !status;
        u->ended = status || ended;
        u->status = status;
        pthread_cond_broadcast(&u->changed);
        pthread_mutex_unlock(&u->lock);
    }
    return NULL;
}

static haul_status start_unpacking(hl_base_byte_source *self, haul_error *error)
{
    unpacker *const u = calloc(1, sizeof *u);
    if (!u)
        return hl_base_fail_no_memory(error);
    pthread_mutex_init(&u->lock, NULL);
    pthread_cond_init(&u->changed, NULL);
    self->unpacker = u;
    /* zlib's way to ask for gzip members and no bare zlib streams: 16 more than the window's
     * bits. */
    enum { GZIP_ONLY = 16 };
    bool started = inflateInit2(&u->stream, MAX_WBITS + GZIP_ONLY) == Z_OK;
    if (started && pthread_create(&u->thread, NULL, unpack_all, self)) {
        inflateEnd(&u->stream);
        started = false;
    }
    if (started)
        return HAUL_OK;
    pthread_cond_destroy(&u->changed);
    pthread_mutex_destroy(&u->lock);
    free(u);
    self->unpacker = NULL;
    /* A thread that cannot start (EAGAIN) is a want of resources, which users know as memory. */
    return hl_base_fail_no_memory(error);
}

haul_status hl_base_byte_source_open(const char *path, hl_base_byte_source **source,
                                     haul_error *error)
{
    hl_base_byte_source *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->path = path;
    self->file = open(path, O_RDONLY | O_CLOEXEC);
    haul_status status = self->file < 0 ? hl_base_fail_open(error, path) : HAUL_OK;
    /* By its first two bytes and not by its name: users rename profiles. */
    unsigned char head[2];
    if (!status) {
        const ssize_t got = read_fully(self->file, head, sizeof head);
        if (got < 0 || lseek(self->file, 0, SEEK_SET) < 0)
            status = hl_base_fail_read(error, path);
        else if (got == sizeof head && head[0] == 0x1f && head[1] == 0x8b)
            status = start_unpacking(self, error);
    }
    if (status) {
        hl_base_byte_source_close(self);
        return status;
    }
    *source = self;
    return HAUL_OK;
}

/* Waits for a block with bytes; NULL behind the last. */
static block *take_filled(unpacker *u)
{
    pthread_mutex_lock(&u->lock);
    while (!u->ended && u->filled == u->emptied)
        pthread_cond_wait(&u->changed, &u->lock);
    block *const found = u->filled == u->emptied ? NULL : &u->blocks[u->emptied % BLOCKS];
    pthread_mutex_unlock(&u->lock);
    return found;
}

static haul_status read_unpacked(unpacker *u, char *buffer, size_t size, size_t *got,
                                 haul_error *error)
{
    for (block *from; *got < size && (from = take_filled(u));) {
        const size_t left = from->length - from->taken;
        const size_t count = left < size - *got ? left : size - *got;
        memcpy(buffer + *got, from->bytes + from->taken, count);
        *got += count;
        from->taken += count;
        /* The buffer is full and the block is not empty: it waits for the next call. */
        if (from->taken < from->length)
            break;
        pthread_mutex_lock(&u->lock);
        u->emptied++;
        /* One condition serves both directions, so that all who wait are woken. */
        pthread_cond_broadcast(&u->changed);
        pthread_mutex_unlock(&u->lock);
    }
    if (*got == size || !u->status)
        return HAUL_OK;
    /* The thread has ended when this is read, so its error needs no lock. */
    if (error)
        *error = u->error;
    return u->status;
}

haul_status hl_base_byte_source_read(void *self, char *buffer, size_t size, size_t *got,
                                     haul_error *error)
{
    const hl_base_byte_source *const from = self;
    *got = 0;
    if (from->unpacker)
        return read_unpacked(from->unpacker, buffer, size, got, error);
    const ssize_t count = read_fully(from->file, buffer, size);
    if (count < 0)
        return hl_base_fail_read(error, from->path);
    *got = (size_t)count;
    return HAUL_OK;
}

void hl_base_byte_source_close(hl_base_byte_source *self)
{
    if (!self)
        return;
    unpacker *const u = self->unpacker;
    if (u) {
        /* The thread may wait for an empty block that nobody will give back: it is woken to end. */
        pthread_mutex_lock(&u->lock);
        u->stop = true;
        pthread_cond_broadcast(&u->changed);
        pthread_mutex_unlock(&u->lock);
        pthread_join(u->thread, NULL);
        inflateEnd(&u->stream);
        pthread_cond_destroy(&u->changed);
        pthread_mutex_destroy(&u->lock);
        free(u);
    }
    if (self->file >= 0)
        /* After the thread, which reads from it. */
        close(self->file);
    free(self);
}
