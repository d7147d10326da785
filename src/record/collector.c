/* haul's side of the rings. All of it is read as hostile: a program that runs wild may write over
 * its ring, and then only its own part may suffer. */
#include "record/collector.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/intervals.h"
#include "record/ring_folder.h"

enum {
    LONGEST_PATH = 4096,
    MOST_IDS = 1 << 20, /* a number above is none of our writers' */
    FREE_EVERY = 512,   /* messages, after which the writer gets their room back */
    /* A transaction costs as much as some hundred rows, and on a busy machine that time is the
     * program's: few rows wait for others. */
    PERIOD_MS = 100,
    MANY_PART = 8, /* of a ring, which is read at once */
};

/* --- parts */

/* A program has few parts; the folder is read every 20 ms. */
static bool is_known(const haul_collector *self, const char *file)
{
    for (size_t i = 0; i < self->part_count; i++)
        if (!strcmp(self->parts[i].file, file))
            return true;
    return false;
}

/* A part whose ring is not ready is met again in the next round. */
static int add_part(haul_collector *self, const char *file)
{
    char path[LONGEST_PATH];
    haul_ring_part part = {0};
    snprintf(path, sizeof path, "%s/%s", self->folder, file);
    if (!haul_ring_attach(&part.ring, path))
        return SQLITE_OK; /* not ready: in the next round */
    part.file = strdup(file);
    if (!part.file ||
        !haul_grow(&self->parts, &self->part_capacity, self->part_count + 1, sizeof *self->parts)) {
        free(part.file);
        haul_ring_unmap(&part.ring);
        return SQLITE_NOMEM;
    }
    char program[sizeof part.ring.head->program];
    snprintf(program, sizeof program, "%.*s", (int)sizeof program - 1, part.ring.head->program);
    const int64_t pid = part.ring.head->pid;
    unsigned before = 0;
    for (size_t i = 0; i < self->part_count; i++)
        before += self->parts[i].process.pid == pid;
    part.process = haul_profile_process_of(pid, before);
    self->parts[self->part_count++] = part;
    return haul_profile_tables_process(&self->tables, part.process, program);
}

/* --- numbers of the profile */

/* Makes room for the number `id`, new ones 0. */
static bool reach(uint32_t **items, size_t *capacity, uint32_t id)
{
    const size_t before = *capacity;
    if (id >= MOST_IDS || !haul_grow(items, capacity, (size_t)id + 1, sizeof **items))
        return false;
    if (*capacity > before)
        memset(*items + before, 0, (*capacity - before) * sizeof **items);
    return true;
}

/* Names are united over all parts: the profile has each text once, under one number. */
static int add_name(haul_collector *self, haul_ring_part *part, const haul_message_name *said,
                    size_t length)
{
    const size_t before = self->names.count;
    const uint32_t id = haul_strings_add(&self->names, said->text, length);
    if (id == UINT32_MAX || !reach(&part->names, &part->name_capacity, said->id))
        return SQLITE_NOMEM;
    part->names[said->id] = id + 1;
    return self->names.count == before
               ? SQLITE_OK
               : haul_profile_tables_string(&self->tables, id + 1, self->names.texts[id]);
}

/* A name whose message was dropped has the first text, "(other names)". */
static uint32_t name_of(const haul_ring_part *part, uint32_t id)
{
    if (!id)
        return 0;
    return id < part->name_capacity && part->names[id] ? part->names[id] : 1;
}

/* A device that was never described keeps its writer's number. */
static uint32_t device_of(const haul_ring_part *part, uint32_t id)
{
    return id < part->device_capacity && part->devices[id] ? part->devices[id] - 1 : id;
}

/* The profile's number of a device: that of another process which has described it too, or has a
 * device of that number without a uuid; else the process's own where it is free. */
static uint32_t number_of_device(const haul_collector *self, const haul_message_device *said,
                                 bool *known)
{
    uint32_t next = 0;
    bool taken = false;
    for (size_t i = 0; i < self->device_count; i++) {
        const haul_message_device *other = &self->devices[i];
        const uint32_t id = other->device.id;
        *known = said->uuid[0] ? !strcmp(other->uuid, said->uuid)
                               : id == said->device.id && !strcmp(other->name, said->name) &&
                                     !strcmp(other->bus, said->bus);
        if (*known)
            return id;
        taken |= id == said->device.id;
        if (id >= next)
            next = id + 1;
    }
    *known = false;
    return taken ? next : said->device.id;
}

static int add_device(haul_collector *self, haul_ring_part *part, haul_message_device *said)
{
    const uint32_t local = said->device.id;
    said->name[sizeof said->name - 1] = said->bus[sizeof said->bus - 1] = '\0';
    said->uuid[sizeof said->uuid - 1] = '\0';
    if (!reach(&part->devices, &part->device_capacity, local) ||
        !haul_grow(&self->devices, &self->device_capacity, self->device_count + 1,
                   sizeof *self->devices))
        return SQLITE_NOMEM;
    if (part->devices[local])
        return SQLITE_OK; /* described before */
    bool known;
    haul_profile_device *device = &said->device;
    device->id = number_of_device(self, said, &known);
    device->name = said->name[0] ? said->name : NULL;
    device->bus = said->bus[0] ? said->bus : NULL;
    device->uuid = said->uuid[0] ? said->uuid : NULL;
    part->devices[local] = device->id + 1;
    int code = SQLITE_OK;
    if (!known) {
        self->devices[self->device_count++] = *said;
        code = haul_profile_tables_device(&self->tables, device);
    }
    return code == SQLITE_OK ? haul_profile_tables_device_of(&self->tables, part->process, device)
                             : code;
}

/* --- messages */

/* Only numbers that are the writer's own are changed; the rest goes as it is. */
static int add_record(haul_collector *self, const haul_ring_part *part, haul_record *record)
{
    switch (record->kind) {
    case HAUL_RECORD_COPY:
        record->copy.source_device = device_of(part, record->copy.source_device);
        record->copy.target_device = device_of(part, record->copy.target_device);
        break;
    case HAUL_RECORD_KERNEL:
        record->kernel.name = name_of(part, record->kernel.name);
        record->kernel.short_name = name_of(part, record->kernel.short_name);
        break;
    case HAUL_RECORD_CALL:
        record->call.name = name_of(part, record->call.name);
        break;
    case HAUL_RECORD_OVERHEAD:
        record->overhead.name = name_of(part, record->overhead.name);
        break;
    default:
        break;
    }
    record->device = device_of(part, record->device);
    return haul_profile_tables_add(&self->tables, part->process, record);
}

/* Notes of the first part have their plain name, of others the process's number behind it. */
static int add_note(haul_collector *self, const haul_ring_part *part, const char *name,
                    const char *text)
{
    char whole[256];
    if (part == self->parts)
        snprintf(whole, sizeof whole, "%s", name);
    else
        snprintf(whole, sizeof whole, "%s:%" PRId64, name, part->process.pid);
    return haul_profile_tables_note(&self->tables, whole, text);
}

/* Whether a message has the size of its type: the program may have written over its ring. */
static bool has_its_size(const haul_ring_message *message)
{
    static const struct {
        size_t least, most;
    } sizes[] = {
        [HAUL_MESSAGE_RECORD] = {sizeof(haul_record), sizeof(haul_record)},
        [HAUL_MESSAGE_NAME] = {offsetof(haul_message_name, text), sizeof(haul_message_name)},
        [HAUL_MESSAGE_DEVICE] = {sizeof(haul_message_device), sizeof(haul_message_device)},
        [HAUL_MESSAGE_STREAM] = {sizeof(haul_message_stream), sizeof(haul_message_stream)},
        [HAUL_MESSAGE_NOTE] = {sizeof(haul_message_note), sizeof(haul_message_note)},
    };
    return message->type < sizeof sizes / sizeof *sizes &&
           message->bytes >= sizes[message->type].least &&
           message->bytes <= sizes[message->type].most;
}

static int take(haul_collector *self, haul_ring_part *part, haul_ring_message *message)
{
    void *payload = message->payload;
    haul_message_note *note = payload;
    const haul_message_stream *stream = payload;
    const haul_record *record = payload;
    part->damaged = !has_its_size(message) ||
                    (message->type == HAUL_MESSAGE_RECORD &&
                     !(haul_is_recorded_time(record->start_ns) && /* readers refuse others */
                       haul_is_recorded_time(record->end_ns)));
    if (part->damaged)
        return SQLITE_OK;
    switch ((haul_message_type)message->type) {
    case HAUL_MESSAGE_RECORD:
        return add_record(self, part, payload);
    case HAUL_MESSAGE_NAME:
        return add_name(self, part, payload, message->bytes - offsetof(haul_message_name, text));
    case HAUL_MESSAGE_DEVICE:
        return add_device(self, part, payload);
    case HAUL_MESSAGE_STREAM:
        return haul_profile_tables_stream(&self->tables, part->process, stream->context,
                                          stream->stream);
    case HAUL_MESSAGE_NOTE:
        note->name[sizeof note->name - 1] = note->text[sizeof note->text - 1] = '\0';
        return add_note(self, part, note->name, note->text);
    }
    return SQLITE_OK;
}

/* --- a round */

/* The first failure stands. Writers are told, so that the program never waits for a reader that
 * writes no more. */
static void fail(haul_collector *self, int code)
{
    haul_profile_tables_fail(&self->tables, code, &self->failure);
    if (self->tables.db && !sqlite3_get_autocommit(self->tables.db))
        haul_profile_tables_run(&self->tables, "ROLLBACK");
    for (size_t i = 0; i < self->part_count; i++)
        atomic_store(&self->parts[i].ring.head->stopped, 1);
}

/* Reads what the ring held when it began, so that every part has its turn. */
/* Room is given back within the round too: a writer that is faster than a round does not wait for
 * its end. */
static int read_part(haul_collector *self, haul_ring_part *part)
{
    haul_ring_message message;
    const uint64_t end = atomic_load(&part->ring.head->written);
    int code = SQLITE_OK;
    for (unsigned i = 1; code == SQLITE_OK && !part->damaged && part->ring.position < end; i++) {
        const uint64_t begin = part->ring.position;
        if (!haul_ring_next(&part->ring, &message, &part->damaged))
            break;
        code = take(self, part, &message);
        self->bytes_read += part->ring.position - begin;
        if (i % FREE_EVERY == 0)
            haul_ring_free_read(&part->ring);
    }
    haul_ring_free_read(&part->ring);
    return code;
}

/* Rings are named PROCESS.NUMBER; what else is in the folder does not begin with a digit. */
static int find_parts(haul_collector *self)
{
    int code = SQLITE_OK;
    DIR *folder = opendir(self->folder);
    if (!folder)
        return code;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own
    for (const struct dirent *entry; code == SQLITE_OK && (entry = readdir(folder));) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || is_known(self, entry->d_name))
            continue;
        if (!self->tables.db &&
            haul_profile_tables_open(&self->tables, self->path, self->start_ns, &self->failure))
            break;
        code = add_part(self, entry->d_name);
    }
    closedir(folder);
    return code;
}

/* In one transaction. A process may have ended a part and begun another since the last round. */
void haul_collector_read(haul_collector *self, bool at_once)
{
    self->bytes_read = 0;
    if (self->failure.status)
        return;
    int code = find_parts(self);
    if (code != SQLITE_OK)
        fail(self, code);
    const int64_t now_ns = haul_profile_now();
    bool any = false, due = at_once || now_ns - self->read_ns >= PERIOD_MS * INT64_C(1000000);
    for (size_t i = 0; i < self->part_count; i++) {
        const haul_ring *ring = &self->parts[i].ring;
        const uint64_t waiting = atomic_load(&ring->head->written) - ring->position;
        any |= waiting > 0;
        due |= waiting > ring->mapped_bytes / MANY_PART;
    }
    if (self->failure.status || !any || !due)
        return;
    self->read_ns = now_ns;
    code = haul_profile_tables_run(&self->tables, "BEGIN");
    for (size_t i = 0; code == SQLITE_OK && i < self->part_count; i++)
        code = read_part(self, &self->parts[i]);
    if (code == SQLITE_OK)
        code = haul_profile_tables_run(&self->tables, "COMMIT");
    if (code != SQLITE_OK)
        fail(self, code);
}

/* Only parts that were not closed: a process whose recorder is through may run on, and haul does
 * not wait for it. */
bool haul_collector_has_writer(const haul_collector *self, long *pid)
{
    for (size_t i = 0; i < self->part_count; i++) {
        const haul_ring_part *part = &self->parts[i];
        char process[24], path[LONGEST_PATH];
        snprintf(process, sizeof process, "%" PRId64, part->process.pid);
        snprintf(path, sizeof path, "%s/%s", self->folder, part->file);
        /* A number of a process may be given again, and exec ends a recorder: neither has its ring
         * mapped. */
        if (!atomic_load(&part->ring.head->closed) &&
            haul_process_mentions(process, "maps", '\n', path)) {
            *pid = (long)part->process.pid;
            return true;
        }
    }
    return false;
}

/* Between its recorder's last word and its end a process still takes its time. */
bool haul_collector_has_finished(const void *collector, long pid)
{
    const haul_collector *self = collector;
    for (size_t i = 0; i < self->part_count; i++)
        if ((long)self->parts[i].process.pid == pid &&
            atomic_load(&self->parts[i].ring.head->closed))
            return true;
    return false;
}

/* --- the end */

/* What a part lost: in flight where its process ended without a word. */
static int note_part(haul_collector *self, const haul_ring_part *part, int64_t ended_ns)
{
    haul_ring_head *head = part->ring.head;
    const bool closed = atomic_load(&head->closed);
    const uint64_t issued = atomic_load(&head->issued), settled = atomic_load(&head->settled);
    const int64_t fetched_ns = atomic_load(&head->fetched_ns);
    const bool late = !closed && fetched_ns && ended_ns > fetched_ns;
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        {"HAUL:COMMANDS_IN_FLIGHT", closed || settled > issued ? 0 : issued - settled},
        {"HAUL:UNFETCHED_NS", late ? (uint64_t)(ended_ns - fetched_ns) : 0},
        {"HAUL:DROPPED_RECORDS", atomic_load(&head->dropped)},
        {"HAUL:DAMAGED_PARTS", part->damaged},
        {"HAUL:OPERATIONS_BEYOND_LIMITS", atomic_load(&head->beyond_limits)},
        {"HAUL:WAITED_FOR_ROOM_NS", (uint64_t)atomic_load(&head->waited_ns)},
    };
    int code = SQLITE_OK;
    for (size_t i = 0; code == SQLITE_OK && i < sizeof counts / sizeof *counts; i++) {
        char text[32];
        snprintf(text, sizeof text, "%" PRIu64, counts[i].value);
        if (counts[i].value)
            code = add_note(self, part, counts[i].name, text);
    }
    return code;
}

/* What cannot be asked, of a full disk for one, has the value `none`. */
static int64_t ask(sqlite3 *db, const char *sql, int64_t none)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = none;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/* Sums, or the largest, of what processes noted: a name, or the name with the process behind it. */
#define NOTES(function, name)                                                                      \
    "SELECT " function "(CAST(value AS INTEGER)) FROM META_DATA_CAPTURE WHERE name GLOB '" name "*'"

static void count(sqlite3 *db, haul_recording *recording)
{
    recording->operations =
        (uint64_t)ask(db,
                      "SELECT (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY) +"
                      " (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMSET) +"
                      " (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL)",
                      0);
    recording->processes = (unsigned)ask(db, "SELECT count(*) FROM PROCESSES", 0);
    recording->clock_error_ns = ask(db, NOTES("max", "HAUL:CLOCK_ERROR_NS:"), -1);
    recording->dropped = (uint64_t)ask(db, NOTES("sum", "HAUL:DROPPED_"), 0) +
                         (uint64_t)ask(db, NOTES("sum", "HAUL:COMMANDS_NOT_KEPT"), 0);
    recording->in_flight = (uint64_t)ask(db, NOTES("sum", "HAUL:COMMANDS_IN_FLIGHT"), 0);
    recording->unfetched_ns = ask(db, NOTES("max", "HAUL:UNFETCHED_NS"), 0);
    recording->beyond_limits = (uint64_t)ask(db, NOTES("sum", "HAUL:OPERATIONS_BEYOND_LIMITS"), 0);
    recording->damaged_parts = (unsigned)ask(db, NOTES("sum", "HAUL:DAMAGED_PARTS"), 0);
}

/* Appends "; " and the text. */
static void HAUL_PRINTF(2, 3) add_cause(haul_recording *recording, const char *format, ...)
{
    const size_t at = strlen(recording->incomplete), size = sizeof recording->incomplete;
    const int gap = snprintf(recording->incomplete + at, size - at, "%s", at ? "; " : "");
    if (gap < 0 || at + (size_t)gap >= size)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(recording->incomplete + at + gap, size - at - (size_t)gap, format, args);
    va_end(args);
}

/* The order is that of what the user wants to know first: why, then how much. */
static void tell(const haul_collector *self, const char *cause, haul_recording *recording)
{
    if (cause[0])
        add_cause(recording, "%s", cause);
    if (recording->in_flight)
        add_cause(recording, "%" PRIu64 " commands were in flight and are missing",
                  recording->in_flight);
    if (recording->unfetched_ns)
        add_cause(recording, "CUDA's last %.0f ms are missing",
                  1e-6 * (double)recording->unfetched_ns);
    if (recording->dropped)
        add_cause(recording, "%" PRIu64 " records were dropped", recording->dropped);
    if (recording->damaged_parts)
        add_cause(recording, "the program overwrote the memory of %u recorders",
                  recording->damaged_parts);
    if (self->failure.status)
        add_cause(recording, "%.300s", self->failure.text);
}

static int note_all(haul_collector *self, const char *cause, int64_t ended_ns,
                    haul_recording *recording)
{
    int code = haul_profile_tables_run(&self->tables, "BEGIN");
    for (size_t i = 0; code == SQLITE_OK && i < self->part_count; i++)
        code = note_part(self, &self->parts[i], ended_ns);
    count(self->tables.db, recording);
    tell(self, cause, recording);
    if (code == SQLITE_OK)
        code = haul_profile_tables_note(&self->tables, "HAUL:INCOMPLETE",
                                        recording->incomplete[0] ? recording->incomplete : NULL);
    return code == SQLITE_OK ? haul_profile_tables_run(&self->tables, "COMMIT") : code;
}

/* Writers that go on, of processes that nobody waited for, see `stopped` and put nothing more. */
static void release(haul_collector *self)
{
    for (size_t i = 0; i < self->part_count; i++) {
        haul_ring_part *part = &self->parts[i];
        atomic_store(&part->ring.head->stopped, 1);
        haul_ring_unmap(&part->ring);
        free(part->file);
        free(part->names);
        free(part->devices);
    }
    free(self->parts);
    free(self->devices);
    haul_strings_release(&self->names);
}

void haul_collector_finish(haul_collector *self, const char *cause, int64_t ended_ns,
                           haul_recording *recording)
{
    do {
        haul_collector_read(self, true);
    } while (self->bytes_read);
    recording->clock_error_ns = -1;
    recording->has_profile = self->part_count > 0;
    if (self->tables.db) {
        const int code = note_all(self, cause, ended_ns, recording);
        if (code != SQLITE_OK && !self->failure.status)
            fail(self, code);
        haul_profile_tables_close(&self->tables);
    }
    if (self->failure.status && !recording->failure[0]) {
        char text[1200];
        snprintf(recording->failure, sizeof recording->failure, "%s",
                 haul_error_format(&self->failure, text, sizeof text));
    }
    release(self);
}
