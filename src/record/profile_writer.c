/* The program's side of a ring. Two locks, of names before the ring's: a name is in the ring before
 * the first record that uses its number. */
#include "record/profile_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/strings.h"
#include "record/profile_messages.h"
#include "record/shared_ring.h"

enum {
    MOST_AT_ONCE = 64, /* records */
    PATIENCE_MS = 2000,
    DOUBT_MS = 100, /* after which a reader that has ended is not waited for */
    MOST_NAMES = 65536,
};

static const int64_t second_ns = INT64_C(1000000000);
static const int64_t millisecond_ns = 1000000;

struct hl_record_profile_writer {
    hl_record_profile_options options;

    pthread_mutex_t lock; /* of the ring's writing end and what follows */
    hl_record_ring ring;
    bool limited;        /* a limit was met */
    uint64_t operations; /* taken so far, for the limit */
    bool full;           /* a caller has waited in vain, when the reader was at `full_at` */
    uint64_t full_at;

    pthread_mutex_t names_lock;
    hl_base_strings names;

    atomic_bool recording;
    _Atomic int64_t patience_ms;
};

int64_t hl_record_profile_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * second_ns + now.tv_nsec;
}

uint32_t hl_record_profile_thread(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

/* Relaxed: a record more or less at the moment of the end does not matter, the cost of a call does.
 * */
bool hl_record_profile_recording(const hl_record_profile_writer *self)
{
    return atomic_load_explicit(&self->recording, memory_order_relaxed) &&
           !atomic_load_explicit(&self->ring.head->stopped, memory_order_relaxed);
}

void hl_record_profile_be_patient(hl_record_profile_writer *self, int64_t milliseconds)
{
    atomic_store(&self->patience_ms, milliseconds);
}

static void add_count(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

void hl_record_profile_count_issued(hl_record_profile_writer *self, uint64_t commands)
{
    add_count(&self->ring.head->issued, commands);
}

void hl_record_profile_count_settled(hl_record_profile_writer *self, uint64_t commands)
{
    add_count(&self->ring.head->settled, commands);
}

/* The first of two threads that lose something at once gives the time: they are close. */
void hl_record_profile_lost(hl_record_profile_writer *self, hl_record_loss loss, uint64_t lost)
{
    if (lost)
        hl_record_profile_lost_since(self, loss, lost, hl_record_profile_now());
}

void hl_record_profile_lost_since(hl_record_profile_writer *self, hl_record_loss loss,
                                  uint64_t lost, int64_t since_ns)
{
    hl_record_ring_head *head = self->ring.head;
    add_count(&head->losses[loss].count, lost);
    if (!atomic_load_explicit(&head->losses[loss].since_ns, memory_order_relaxed))
        atomic_store(&head->losses[loss].since_ns, since_ns);
}

void hl_record_profile_fetched(hl_record_profile_writer *self, int64_t time_ns)
{
    atomic_store_explicit(&self->ring.head->fetched_ns, time_ns, memory_order_relaxed);
}

/* --- room in the ring, with the lock held */

/* A reader that is behind is not waited for while the ring may grow. One that cannot, for want of
 * memory or because the program has changed its root, is tried again only after a wait. */
static bool has_room(hl_record_profile_writer *self, size_t space)
{
    while (!hl_record_ring_has_room(&self->ring, space))
        /* somebody has waited for just this in vain: do not wait again, the program would crawl */
        if (self->full && self->full_at == atomic_load(&self->ring.head->read))
            return false;
        else if (!hl_record_ring_grow(&self->ring)) {
            /* A wait for the reader, once for all callers until it has read some. The lock is kept:
             * the others would wait for the same. */
            static const struct timespec a_while = {.tv_nsec = 200000};
            hl_record_ring_head *head = self->ring.head;
            const int64_t begin = hl_record_profile_now();
            const int64_t until = begin + atomic_load(&self->patience_ms) * millisecond_ns;
            bool room = false;
            for (int64_t now = begin; !room && hl_record_profile_recording(self) && now < until;) {
                nanosleep(&a_while, NULL);
                now = hl_record_profile_now();
                room = hl_record_ring_has_room(&self->ring, space);
                const pid_t reader = (pid_t)atomic_load(&head->reader);
                if (now - begin > DOUBT_MS * millisecond_ns &&
                    (!reader || (kill(reader, 0) && errno == ESRCH)))
                    break;
            }
            atomic_fetch_add(&head->waited_ns, hl_record_profile_now() - begin);
            self->full = !room;
            self->full_at = atomic_load(&head->read);
            return room;
        }
    return true;
}

/* --- putting */

/* Past a limit nothing is taken any more, so that calls do not outlast what they started. */
bool hl_record_profile_put(hl_record_profile_writer *self, const hl_record *records,
                           size_t count_of)
{
    const hl_record_profile_options *limits = &self->options;
    uint64_t operations = 0;
    bool taken = false;
    if (!count_of || count_of > MOST_AT_ONCE)
        return !count_of;
    for (size_t i = 0; i < count_of; i++)
        operations += hl_record_is_operation(&records[i]);
    pthread_mutex_lock(&self->lock);
    self->limited |=
        (limits->duration_ns && records[0].start_ns - limits->start_ns > limits->duration_ns) ||
        (limits->max_operations && self->operations + operations > limits->max_operations);
    if (self->limited) {
        hl_record_profile_lost(self, HL_RECORD_LOSS_BEYOND_LIMITS, operations);
    } else if (hl_record_profile_recording(self) &&
               has_room(self, count_of * hl_record_ring_space(sizeof *records))) {
        self->operations += operations;
        for (size_t i = 0; i < count_of; i++)
            hl_record_ring_add(&self->ring, HL_RECORD_MESSAGE_RECORD, &records[i],
                               sizeof records[i]);
        hl_record_ring_publish(&self->ring);
        taken = true;
    } else {
        hl_record_profile_lost(self, HL_RECORD_LOSS_DROPPED_RECORDS, count_of);
    }
    pthread_mutex_unlock(&self->lock);
    return taken;
}

/* Names, devices and notes are few and cannot be sent again, so no limit holds them back. A reader
 * that has stopped lacks the records that they speak of too, which are counted. */
static void put_message(hl_record_profile_writer *self, hl_record_message_type type,
                        const void *payload, size_t bytes)
{
    pthread_mutex_lock(&self->lock);
    if (hl_record_profile_recording(self) && has_room(self, hl_record_ring_space(bytes))) {
        hl_record_ring_add(&self->ring, type, payload, bytes);
        hl_record_ring_publish(&self->ring);
    } else if (!atomic_load(&self->ring.head->stopped)) {
        hl_record_profile_lost(self, HL_RECORD_LOSS_DROPPED_RECORDS, 1);
    }
    pthread_mutex_unlock(&self->lock);
}

/* Number 1 is "(other names)": see hl_record_profile_open. */
uint32_t hl_record_profile_name(hl_record_profile_writer *self, const char *text)
{
    hl_record_message_name said;
    /* longer names are cut: C++ has some of 100 KB */
    const size_t length = text ? strnlen(text, sizeof said.text) : 0;
    pthread_mutex_lock(&self->names_lock);
    const size_t before = self->names.count;
    uint32_t id = UINT32_MAX;
    if (before < MOST_NAMES)
        id = hl_base_strings_add(&self->names, text ? text : "", length);
    if (self->names.count > before) {
        said.id = id + 1;
        memcpy(said.text, text ? text : "", length);
        put_message(self, HL_RECORD_MESSAGE_NAME, &said,
                    offsetof(hl_record_message_name, text) + length);
    }
    pthread_mutex_unlock(&self->names_lock);
    return id == UINT32_MAX ? 1 : id + 1;
}

static void copy_text(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "");
}

void hl_record_profile_describe_device(hl_record_profile_writer *self,
                                       const hl_record_profile_device *device)
{
    hl_record_message_device said = {.device = *device};
    copy_text(said.name, sizeof said.name, device->name);
    copy_text(said.bus, sizeof said.bus, device->bus);
    copy_text(said.uuid, sizeof said.uuid, device->uuid);
    put_message(self, HL_RECORD_MESSAGE_DEVICE, &said, sizeof said);
}

void hl_record_profile_describe_stream(hl_record_profile_writer *self, uint32_t context,
                                       uint32_t stream)
{
    const hl_record_message_stream said = {.context = context, .stream = stream};
    put_message(self, HL_RECORD_MESSAGE_STREAM, &said, sizeof said);
}

void hl_record_profile_note(hl_record_profile_writer *self, const char *name, const char *format,
                            ...)
{
    hl_record_message_note said = {0};
    copy_text(said.name, sizeof said.name, name);
    va_list args;
    va_start(args, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): the line before begins it
    vsnprintf(said.text, sizeof said.text, format, args);
    va_end(args);
    put_message(self, HL_RECORD_MESSAGE_NOTE, &said, sizeof said);
}

void hl_record_profile_note_count(hl_record_profile_writer *self, const char *name,
                                  uint64_t count_of)
{
    if (count_of)
        hl_record_profile_note(self, name, "%" PRIu64, count_of);
}

/* --- beginning and end */

/* The ring's file stays: haul reads it after the process is gone. */
static void release(hl_record_profile_writer *self)
{
    hl_record_ring_unmap(&self->ring);
    hl_base_strings_release(&self->names);
    pthread_mutex_destroy(&self->lock);
    pthread_mutex_destroy(&self->names_lock);
    free(self);
}

haul_status hl_record_profile_open(const hl_record_profile_options *options,
                                   hl_record_profile_writer **writer, haul_error *error)
{
    hl_record_profile_writer *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->options = *options;
    pthread_mutex_init(&self->lock, NULL);
    pthread_mutex_init(&self->names_lock, NULL);
    const haul_status status = hl_record_ring_create(&self->ring, options->path, options->program,
                                                     options->has_calls_only, error);
    if (status) {
        release(self);
        return status;
    }
    atomic_store(&self->recording, true);
    atomic_store(&self->patience_ms, PATIENCE_MS);
    hl_record_profile_name(self, "(other names)");
    *writer = self;
    return HAUL_OK;
}

/* `closed` is set last: haul takes a part that is closed as complete. */
void hl_record_profile_close(hl_record_profile_writer *self, hl_record_profile_result *result)
{
    hl_record_ring_head *head = self->ring.head;
    atomic_store(&self->recording, false);
    if (result)
        *result = (hl_record_profile_result){
            .operations = self->operations,
            .dropped = atomic_load(&head->losses[HL_RECORD_LOSS_DROPPED_RECORDS].count),
            .beyond_limits = atomic_load(&head->losses[HL_RECORD_LOSS_BEYOND_LIMITS].count),
            .waited_ns = atomic_load(&head->waited_ns),
        };
    atomic_store_explicit(&head->closed, 1, memory_order_release);
    release(self);
}

void hl_record_profile_hold(hl_record_profile_writer *self)
{
    pthread_mutex_lock(&self->names_lock);
    pthread_mutex_lock(&self->lock);
}

void hl_record_profile_release(hl_record_profile_writer *self)
{
    pthread_mutex_unlock(&self->lock);
    pthread_mutex_unlock(&self->names_lock);
}

/* Locks and names stay as they are: the child cannot know who held them, and never uses this writer
 * again. */
void hl_record_profile_forget(hl_record_profile_writer *self)
{
    hl_record_ring_unmap(&self->ring);
}
