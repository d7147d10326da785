#include "record/profile_writer.h"

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
#include "base/grow.h"
#include "base/strings.h"
#include "record/profile_tables.h"

static const size_t most_at_once = 64;

enum {
    DEFAULT_CAPACITY = 65536,
    BATCH_MS = 50,
    PATIENCE_MS = 20,
    MOST_NAMES = 65536,
    LONGEST_NAME = 4096,
    MOST_FACTS = 65536,
};

static const int64_t second_ns = INT64_C(1000000000);
static const int64_t millisecond_ns = 1000000;

/* What is said beside records: of a device, a stream, or a note. */
typedef struct fact {
    enum { FACT_DEVICE, FACT_STREAM, FACT_NOTE } kind;
    haul_profile_device device;
    uint32_t context, stream;
    char name[128]; /* of a device, a note */
    char text[256]; /* a note's value; of a device its uuid */
    char bus[32];
} fact;

typedef struct facts {
    fact *items;
    size_t count, capacity;
} facts;

struct haul_profile_writer {
    haul_profile_options options;
    char *path;
    pthread_t thread;

    /* The queue: filled under `lock`, swapped for `spare` by the thread. */
    pthread_mutex_t lock;
    pthread_cond_t wake; /* the thread: half full, or stopping */
    pthread_cond_t room; /* callers: the queue was swapped */
    haul_record *queue;
    size_t count;
    haul_record *spare;
    bool collecting; /* by the thread `collector` */
    pthread_t collector;
    bool full; /* callers have waited in vain since the last swap */
    bool ending;
    bool woken;          /* by haul_profile_wake */
    bool limited;        /* a limit was met */
    uint64_t operations; /* taken so far, for the limit */
    uint64_t dropped;
    uint64_t beyond_limits;
    int64_t waited_ns;
    facts facts;

    pthread_mutex_t names_lock;
    haul_strings names;

    /* Held by the thread while it uses the database; what follows is its own. */
    pthread_mutex_t writing;
    haul_profile_tables tables;
    size_t names_written;
    uint64_t operations_written;
    uint64_t rows_written;
    haul_error failure;

    atomic_bool recording;
    _Atomic int64_t patience_ms;
};

int64_t haul_profile_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * second_ns + now.tv_nsec;
}

uint32_t haul_profile_thread(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

bool haul_profile_recording(const haul_profile_writer *self)
{
    return atomic_load_explicit(&self->recording, memory_order_relaxed);
}

static void stop(haul_profile_writer *self)
{
    atomic_store(&self->recording, false);
}

void haul_profile_be_patient(haul_profile_writer *self, int64_t milliseconds)
{
    atomic_store(&self->patience_ms, milliseconds);
}

static struct timespec after_ms(int64_t milliseconds)
{
    const int64_t at = haul_profile_now() + milliseconds * millisecond_ns;
    return (struct timespec){.tv_sec = (time_t)(at / second_ns), .tv_nsec = (long)(at % second_ns)};
}

/* --- putting */

static bool is_operation(const haul_record *record)
{
    return record->kind <= HAUL_RECORD_KERNEL;
}

static uint64_t operations_in(const haul_record *records, size_t count)
{
    uint64_t operations = 0;
    for (size_t i = 0; i < count; i++)
        operations += is_operation(&records[i]);
    return operations;
}

/* With the lock held. Past a limit nothing is taken any more, so that calls do not outlast what
 * they started. */
static bool is_within_limits(haul_profile_writer *self, const haul_record *records,
                             uint64_t operations)
{
    const haul_profile_options *options = &self->options;
    const bool late =
        options->duration_ns && records[0].start_ns - options->start_ns > options->duration_ns;
    const bool many =
        options->max_operations && self->operations + operations > options->max_operations;
    self->limited |= late || many;
    return !self->limited;
}

static bool has_room(const haul_profile_writer *self, size_t count)
{
    return self->count + count <= self->options.capacity;
}

static void write_out(haul_profile_writer *self);

/* With the lock held: waits for a swap, once for all callers until the thread has caught up. Who
 * collects is the one that writes, and waits for nobody. */
static bool wait_for_room(haul_profile_writer *self, size_t count)
{
    if (self->collecting && pthread_equal(self->collector, pthread_self())) {
        pthread_mutex_unlock(&self->lock);
        write_out(self);
        pthread_mutex_lock(&self->lock);
        return has_room(self, count);
    }
    if (self->full)
        return false;
    const struct timespec until = after_ms(atomic_load(&self->patience_ms));
    const int64_t begin = haul_profile_now();
    int late = 0;
    pthread_cond_signal(&self->wake);
    while (!late && !self->full && !has_room(self, count))
        late = pthread_cond_timedwait(&self->room, &self->lock, &until);
    self->waited_ns += haul_profile_now() - begin;
    if (has_room(self, count))
        return true;
    self->full = true;
    return false;
}

static bool put_locked(haul_profile_writer *self, const haul_record *records, size_t count)
{
    const uint64_t operations = operations_in(records, count);
    if (!is_within_limits(self, records, operations)) {
        self->beyond_limits += operations;
        return false;
    }
    if (!has_room(self, count) && !wait_for_room(self, count)) {
        self->dropped += count;
        return false;
    }
    self->operations += operations;
    const size_t half = self->options.capacity / 2;
    const bool was_below = self->count < half;
    memcpy(self->queue + self->count, records, count * sizeof *records);
    self->count += count;
    if (was_below && self->count >= half)
        pthread_cond_signal(&self->wake);
    return true;
}

bool haul_profile_put(haul_profile_writer *self, const haul_record *records, size_t count)
{
    if (!count)
        return true;
    if (count > most_at_once)
        return false;
    pthread_mutex_lock(&self->lock);
    bool taken = false;
    if (haul_profile_recording(self))
        taken = put_locked(self, records, count);
    else
        self->dropped += count;
    pthread_mutex_unlock(&self->lock);
    return taken;
}

void haul_profile_wake(haul_profile_writer *self)
{
    pthread_mutex_lock(&self->lock);
    self->woken = true;
    pthread_cond_signal(&self->wake);
    pthread_mutex_unlock(&self->lock);
}

/* Number 1 is "(other names)": see haul_profile_open. */
uint32_t haul_profile_name(haul_profile_writer *self, const char *text)
{
    const size_t length = text ? strnlen(text, LONGEST_NAME) : 0;
    pthread_mutex_lock(&self->names_lock);
    uint32_t id = 0;
    if (self->names.count < MOST_NAMES)
        id = haul_strings_add(&self->names, text ? text : "", length);
    pthread_mutex_unlock(&self->names_lock);
    return id == UINT32_MAX ? 1 : id + 1;
}

static void say(haul_profile_writer *self, const fact *said)
{
    pthread_mutex_lock(&self->lock);
    facts *all = &self->facts;
    if (haul_profile_recording(self) && all->count < MOST_FACTS &&
        haul_grow(&all->items, &all->capacity, all->count + 1, sizeof *all->items))
        all->items[all->count++] = *said;
    pthread_mutex_unlock(&self->lock);
}

static void copy_text(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "");
}

void haul_profile_describe_device(haul_profile_writer *self, const haul_profile_device *device)
{
    fact said = {.kind = FACT_DEVICE, .device = *device};
    copy_text(said.name, sizeof said.name, device->name);
    copy_text(said.bus, sizeof said.bus, device->bus);
    copy_text(said.text, sizeof said.text, device->uuid);
    say(self, &said);
}

void haul_profile_describe_stream(haul_profile_writer *self, uint32_t context, uint32_t stream)
{
    say(self, &(fact){.kind = FACT_STREAM, .context = context, .stream = stream});
}

void haul_profile_note(haul_profile_writer *self, const char *name, const char *format, ...)
{
    fact said = {.kind = FACT_NOTE};
    copy_text(said.name, sizeof said.name, name);
    va_list args;
    va_start(args, format);
    vsnprintf(said.text, sizeof said.text, format, args);
    va_end(args);
    say(self, &said);
}

/* --- the thread */

static int write_names(haul_profile_writer *self)
{
    int code = SQLITE_OK;
    pthread_mutex_lock(&self->names_lock);
    while (code == SQLITE_OK && self->names_written < self->names.count) {
        const size_t at = self->names_written++;
        code = haul_profile_tables_string(&self->tables, (uint32_t)at + 1, self->names.texts[at]);
    }
    pthread_mutex_unlock(&self->names_lock);
    return code;
}

static const char *or_null(const char *text)
{
    return *text ? text : NULL;
}

static int write_fact(haul_profile_writer *self, fact *said)
{
    switch (said->kind) {
    case FACT_DEVICE:
        said->device.name = or_null(said->name);
        said->device.bus = or_null(said->bus);
        said->device.uuid = or_null(said->text);
        return haul_profile_tables_device(&self->tables, &said->device);
    case FACT_STREAM:
        return haul_profile_tables_stream(&self->tables, said->context, said->stream);
    default:
        return haul_profile_tables_note(&self->tables, said->name, said->text);
    }
}

static int write_facts(haul_profile_writer *self, const facts *said)
{
    int code = SQLITE_OK;
    for (size_t i = 0; code == SQLITE_OK && i < said->count; i++)
        code = write_fact(self, &said->items[i]);
    return code;
}

static int write_count(haul_profile_writer *self, const char *name, uint64_t count)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, count);
    return count ? haul_profile_tables_note(&self->tables, name, text) : SQLITE_OK;
}

/* What the queue held, taken in one go. */
typedef struct batch {
    const haul_record *records;
    size_t count;
    facts facts;
    uint64_t dropped;
    uint64_t beyond_limits;
    int64_t waited_ns;
} batch;

static int write_batch(haul_profile_writer *self, const batch *taken)
{
    int code = haul_profile_tables_begin(&self->tables);
    if (code == SQLITE_OK)
        code = write_names(self);
    if (code == SQLITE_OK)
        code = write_facts(self, &taken->facts);
    for (size_t i = 0; code == SQLITE_OK && i < taken->count; i++)
        code = haul_profile_tables_add(&self->tables, &taken->records[i]);
    if (code == SQLITE_OK)
        code = write_count(self, "HAUL:DROPPED_RECORDS", taken->dropped);
    if (code == SQLITE_OK)
        code = write_count(self, "HAUL:OPERATIONS_BEYOND_LIMITS", taken->beyond_limits);
    if (code == SQLITE_OK)
        code = write_count(self, "HAUL:WAITED_FOR_WRITER_NS", (uint64_t)taken->waited_ns);
    return code == SQLITE_OK ? haul_profile_tables_commit(&self->tables) : code;
}

/* With `lock` held. */
static void take(haul_profile_writer *self, batch *taken)
{
    *taken = (batch){
        .records = self->queue,
        .count = self->count,
        .facts = self->facts,
        .dropped = self->dropped,
        .beyond_limits = self->beyond_limits,
        .waited_ns = self->waited_ns,
    };
    haul_record *filled = self->queue;
    self->queue = self->spare;
    self->spare = filled;
    self->count = 0;
    self->full = false;
    self->facts = (facts){0};
    pthread_cond_broadcast(&self->room);
}

static void fail(haul_profile_writer *self, int code)
{
    haul_profile_tables_fail(&self->tables, code, &self->failure);
    haul_profile_tables_rollback(&self->tables);
    stop(self);
}

/* Takes and writes what there is. After a failure it only throws away. */
static void write_out(haul_profile_writer *self)
{
    batch taken;
    pthread_mutex_lock(&self->writing);
    pthread_mutex_lock(&self->lock);
    take(self, &taken);
    pthread_mutex_unlock(&self->lock);
    const uint64_t operations = operations_in(taken.records, taken.count);
    const bool anything = taken.count || taken.facts.count || taken.dropped;
    const int code = self->failure.status || !anything ? SQLITE_OK : write_batch(self, &taken);
    if (code != SQLITE_OK)
        fail(self, code);
    if (self->failure.status) {
        pthread_mutex_lock(&self->lock);
        self->dropped += taken.count;
        pthread_mutex_unlock(&self->lock);
    } else {
        self->operations_written += operations;
        self->rows_written += taken.count;
    }
    free(taken.facts.items);
    pthread_mutex_unlock(&self->writing);
}

static void collect(haul_profile_writer *self, bool last)
{
    if (!self->options.collect)
        return;
    pthread_mutex_lock(&self->lock);
    self->collecting = true;
    self->collector = pthread_self();
    pthread_mutex_unlock(&self->lock);
    self->options.collect(self->options.context, last);
    pthread_mutex_lock(&self->lock);
    self->collecting = false;
    pthread_mutex_unlock(&self->lock);
}

static bool wait_for_work(haul_profile_writer *self)
{
    const struct timespec until = after_ms(BATCH_MS);
    int late = 0;
    pthread_mutex_lock(&self->lock);
    while (!late && !self->ending && !self->woken && self->count < self->options.capacity / 2)
        late = pthread_cond_timedwait(&self->wake, &self->lock, &until);
    self->woken = false;
    const bool ending = self->ending;
    pthread_mutex_unlock(&self->lock);
    return !ending;
}

static void *write_on(void *argument)
{
    haul_profile_writer *self = argument;
    while (wait_for_work(self)) {
        collect(self, false);
        write_out(self);
    }
    return NULL;
}

/* --- beginning and end */

static void release(haul_profile_writer *self)
{
    haul_profile_tables_close(&self->tables);
    haul_strings_release(&self->names);
    free(self->facts.items);
    free(self->queue);
    free(self->spare);
    free(self->path);
    pthread_cond_destroy(&self->wake);
    pthread_cond_destroy(&self->room);
    pthread_mutex_destroy(&self->lock);
    pthread_mutex_destroy(&self->names_lock);
    pthread_mutex_destroy(&self->writing);
    free(self);
}

static haul_profile_writer *make(const haul_profile_options *options)
{
    haul_profile_writer *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->options = *options;
    if (!self->options.capacity)
        self->options.capacity = DEFAULT_CAPACITY;
    if (self->options.capacity < 2 * most_at_once)
        self->options.capacity = 2 * most_at_once;
    if (!self->options.start_ns)
        self->options.start_ns = haul_profile_now();
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->wake, &monotonic);
    pthread_cond_init(&self->room, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&self->lock, NULL);
    pthread_mutex_init(&self->names_lock, NULL);
    pthread_mutex_init(&self->writing, NULL);
    self->queue = calloc(self->options.capacity, sizeof *self->queue);
    self->spare = calloc(self->options.capacity, sizeof *self->spare);
    self->path = strdup(options->path);
    static const char others[] = "(other names)";
    if (self->queue && self->spare && self->path &&
        haul_strings_add(&self->names, others, sizeof others - 1) == 0)
        return self;
    release(self);
    return NULL;
}

/* All signals are the program's: also SIGXFSZ, which a write past RLIMIT_FSIZE sends its thread. */
static haul_status start_thread(haul_profile_writer *self, haul_error *error)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&self->thread, NULL, write_on, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? haul_fail(error, HAUL_NO_MEMORY, "cannot start a thread") : HAUL_OK;
}

haul_status haul_profile_open(const haul_profile_options *options, haul_profile_writer **writer,
                              haul_error *error)
{
    haul_profile_writer *self = make(options);
    if (!self)
        return haul_fail_no_memory(error);
    haul_status status = haul_profile_tables_open(&self->tables, self->path, self->options.start_ns,
                                                  options->program, error);
    if (!status) {
        atomic_store(&self->recording, true);
        atomic_store(&self->patience_ms, PATIENCE_MS);
        status = start_thread(self, error);
    }
    if (status) {
        release(self);
        return status;
    }
    *writer = self;
    return HAUL_OK;
}

/* The last transactions: the thread has ended, so it is the caller that writes; blocked signals as
 * in the thread. */
static void write_rest(haul_profile_writer *self)
{
    sigset_t size, before;
    sigemptyset(&size);
    sigaddset(&size, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &size, &before);
    collect(self, true);
    stop(self);
    write_out(self);
    pthread_mutex_lock(&self->writing);
    haul_profile_tables_close(&self->tables);
    pthread_mutex_unlock(&self->writing);
    const struct timespec now = {0};
    if (self->failure.status && !sigismember(&before, SIGXFSZ))
        sigtimedwait(&size, NULL, &now); /* the one that our own write may have raised */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void haul_profile_close(haul_profile_writer *self, haul_profile_result *result)
{
    pthread_mutex_lock(&self->lock);
    self->ending = true;
    pthread_cond_signal(&self->wake);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    write_rest(self);
    if (result)
        *result = (haul_profile_result){
            .operations = self->operations_written,
            .rows = self->rows_written,
            .dropped = self->dropped,
            .beyond_limits = self->beyond_limits,
            .waited_ns = self->waited_ns,
            .failure = self->failure,
        };
    release(self);
}

void haul_profile_hold(haul_profile_writer *self)
{
    pthread_mutex_lock(&self->writing);
    pthread_mutex_lock(&self->names_lock);
    pthread_mutex_lock(&self->lock);
}

void haul_profile_release(haul_profile_writer *self)
{
    pthread_mutex_unlock(&self->lock);
    pthread_mutex_unlock(&self->names_lock);
    pthread_mutex_unlock(&self->writing);
}
