/* haul's side of the rings. All of it is read as hostile: a program that runs wild may write over
 * its ring, and then only its own part may suffer. */
#include "record/collector.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/intervals.h"
#include "record/collector_notes.h"
#include "record/ring_folder.h"
#include "record/stack_tables.h"

enum {
    LONGEST_PATH = 4096,
    MOST_IDS = 1 << 20, /* a number above is none of our writers' */
    FREE_EVERY = 512,   /* messages, after which the writer gets their room back */
    /* A transaction costs as much as some hundred rows, and on a busy machine that time is the
     * program's: few rows wait for others. */
    PERIOD_MS = 100,
    MANY_PART = 8,  /* of a ring, which is read at once */
    SWEEP_MS = 200, /* between two looks for parts whose process has ended */
    IDLE_MS = 200,  /* a part that has written since is not one */
};

/* --- parts */

/* A program has few parts; the folder is read every 20 ms. */
static bool is_known(const hl_record_collector *self, const char *file)
{
    for (size_t i = 0; i < self->part_count; i++)
        if (self->parts[i].file && !strcmp(self->parts[i].file, file))
            return true;
    return false;
}

/* Recorders of devices are told apart, for each numbers its own. One that records the calls of the
 * process's threads alone has the number of the others, whose calls come from the same threads. */
static hl_record_profile_process process_of(const hl_record_collector *self, int64_t pid,
                                            bool has_calls_only, bool *is_told)
{
    unsigned of_devices = 0;
    for (size_t i = 0; i < self->part_count; i++)
        of_devices += self->parts[i].process.pid == pid && !self->parts[i].has_calls_only;
    const hl_record_profile_process process =
        hl_record_profile_process_of(pid, of_devices - (has_calls_only && of_devices));
    *is_told = false;
    for (size_t i = 0; i < self->part_count; i++)
        *is_told |= self->parts[i].process.id == process.id;
    return process;
}

/* A part whose ring is not ready is met again in the next round. */
static int add_part(hl_record_collector *self, const char *file)
{
    char path[LONGEST_PATH];
    hl_record_ring_part part = {0};
    snprintf(path, sizeof path, "%s/%s", self->folder, file);
    if (!hl_record_ring_attach(&part.ring, path))
        return SQLITE_OK; /* not ready: in the next round */
    part.file = strdup(file);
    part.moved_ns = hl_record_profile_now();
    if (!part.file || !hl_base_grow(&self->parts, &self->part_capacity, self->part_count + 1,
                                    sizeof *self->parts)) {
        free(part.file);
        hl_record_ring_unmap(&part.ring);
        return SQLITE_NOMEM;
    }
    char program[sizeof part.ring.head->program];
    snprintf(program, sizeof program, "%.*s", (int)sizeof program - 1, part.ring.head->program);
    const int64_t pid = part.ring.head->pid;
    part.has_calls_only = part.ring.head->has_calls_only;
    bool is_told;
    part.process = process_of(self, pid, part.has_calls_only, &is_told);
    self->parts[self->part_count++] = part;
    return is_told ? SQLITE_OK
                   : hl_record_profile_tables_process(&self->tables, part.process, program);
}

/* --- numbers of the profile */

/* Makes room for the number `id`, new ones 0. */
static bool reach(uint32_t **items, size_t *capacity, uint32_t id)
{
    const size_t before = *capacity;
    if (id >= MOST_IDS || !hl_base_grow(items, capacity, (size_t)id + 1, sizeof **items))
        return false;
    if (*capacity > before)
        memset(*items + before, 0, (*capacity - before) * sizeof **items);
    return true;
}

/* Names are united over all parts: the profile has each text once, under one number. */
static int add_name(hl_record_collector *self, hl_record_ring_part *part,
                    const hl_record_message_name *said, size_t length)
{
    const size_t before = self->names.count;
    const uint32_t id = hl_base_strings_add(&self->names, said->text, length);
    if (id == UINT32_MAX || !reach(&part->names, &part->name_capacity, said->id))
        return SQLITE_NOMEM;
    part->names[said->id] = id + 1;
    return self->names.count == before
               ? SQLITE_OK
               : hl_record_profile_tables_string(&self->tables, id + 1, self->names.texts[id]);
}

/* A name whose message was dropped has the first text, "(other names)". */
static uint32_t name_of(const hl_record_ring_part *part, uint32_t id)
{
    if (!id)
        return 0;
    return id < part->name_capacity && part->names[id] ? part->names[id] : 1;
}

/* A device that was never described keeps its writer's number. */
static uint32_t device_of(const hl_record_ring_part *part, uint32_t id)
{
    return id < part->device_capacity && part->devices[id] ? part->devices[id] - 1 : id;
}

/* The profile's number of a device: that of another process which has described it too, or has a
 * device of that number without a uuid; else the process's own where it is free. */
static uint32_t number_of_device(const hl_record_collector *self,
                                 const hl_record_message_device *said, bool *known)
{
    uint32_t next = 0;
    bool taken = false;
    for (size_t i = 0; i < self->device_count; i++) {
        const hl_record_message_device *other = &self->devices[i];
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

static int add_device(hl_record_collector *self, hl_record_ring_part *part,
                      hl_record_message_device *said)
{
    const uint32_t local = said->device.id;
    said->name[sizeof said->name - 1] = said->bus[sizeof said->bus - 1] = '\0';
    said->uuid[sizeof said->uuid - 1] = '\0';
    if (!reach(&part->devices, &part->device_capacity, local) ||
        !hl_base_grow(&self->devices, &self->device_capacity, self->device_count + 1,
                      sizeof *self->devices))
        return SQLITE_NOMEM;
    if (part->devices[local])
        return SQLITE_OK; /* described before */
    bool known;
    hl_record_profile_device *device = &said->device;
    device->id = number_of_device(self, said, &known);
    device->name = said->name[0] ? said->name : NULL;
    device->bus = said->bus[0] ? said->bus : NULL;
    device->uuid = said->uuid[0] ? said->uuid : NULL;
    part->devices[local] = device->id + 1;
    int code = SQLITE_OK;
    if (!known) {
        self->devices[self->device_count++] = *said;
        code = hl_record_profile_tables_device(&self->tables, device);
    }
    return code == SQLITE_OK
               ? hl_record_profile_tables_device_of(&self->tables, part->process, device)
               : code;
}

/* --- messages */

/* Only numbers that are the writer's own are changed; the rest goes as it is. */
static int add_record(hl_record_collector *self, const hl_record_ring_part *part, hl_record *record)
{
    switch (record->kind) {
    case HL_RECORD_COPY:
        record->copy.source_device = device_of(part, record->copy.source_device);
        record->copy.target_device = device_of(part, record->copy.target_device);
        break;
    case HL_RECORD_KERNEL:
        record->kernel.name = name_of(part, record->kernel.name);
        record->kernel.short_name = name_of(part, record->kernel.short_name);
        break;
    case HL_RECORD_CALL:
        record->call.name = name_of(part, record->call.name);
        record->call.stack = name_of(part, record->call.stack);
        break;
    case HL_RECORD_OVERHEAD:
        record->overhead.name = name_of(part, record->overhead.name);
        break;
    case HL_RECORD_MPI_MESSAGE:
    case HL_RECORD_MPI_COLLECTIVE:
    case HL_RECORD_MPI_WAIT:
    case HL_RECORD_MPI_OTHER:
        record->mpi.name = name_of(part, record->mpi.name);
        break;
    default:
        break;
    }
    record->device = device_of(part, record->device);
    self->adding++;
    return hl_record_profile_tables_add(&self->tables, part->process, record);
}

/* Whether a message has the size of its type: the program may have written over its ring. */
static bool has_its_size(const hl_record_ring_message *message)
{
    static const struct {
        size_t least, most;
    } sizes[] = {
        [HL_RECORD_MESSAGE_RECORD] = {sizeof(hl_record), sizeof(hl_record)},
        [HL_RECORD_MESSAGE_NAME] = {offsetof(hl_record_message_name, text),
                                    sizeof(hl_record_message_name)},
        [HL_RECORD_MESSAGE_DEVICE] = {sizeof(hl_record_message_device),
                                      sizeof(hl_record_message_device)},
        [HL_RECORD_MESSAGE_STREAM] = {sizeof(hl_record_message_stream),
                                      sizeof(hl_record_message_stream)},
        [HL_RECORD_MESSAGE_NOTE] = {sizeof(hl_record_message_note), sizeof(hl_record_message_note)},
    };
    return message->type < sizeof sizes / sizeof *sizes &&
           message->bytes >= sizes[message->type].least &&
           message->bytes <= sizes[message->type].most;
}

static void lose(hl_record_collector *self, hl_record_loss loss, uint64_t count)
{
    hl_record_lost_add(&self->lost[loss], &(hl_record_lost){count, hl_record_profile_now()});
}

static int take_message(hl_record_collector *self, hl_record_ring_part *part,
                        hl_record_ring_message *message)
{
    void *payload = message->payload;
    hl_record_message_note *note = payload;
    const hl_record_message_stream *stream = payload;
    const hl_record *record = payload;
    part->damaged = !has_its_size(message) ||
                    (message->type == HL_RECORD_MESSAGE_RECORD &&
                     !(hl_base_is_recorded_time(record->start_ns) && /* readers refuse others */
                       hl_base_is_recorded_time(record->end_ns)));
    if (part->damaged)
        return SQLITE_OK;
    switch ((hl_record_message_type)message->type) {
    case HL_RECORD_MESSAGE_RECORD:
        return add_record(self, part, payload);
    case HL_RECORD_MESSAGE_NAME:
        return add_name(self, part, payload,
                        message->bytes - offsetof(hl_record_message_name, text));
    case HL_RECORD_MESSAGE_DEVICE:
        return add_device(self, part, payload);
    case HL_RECORD_MESSAGE_STREAM:
        return hl_record_profile_tables_stream(&self->tables, part->process, stream->context,
                                               stream->stream);
    case HL_RECORD_MESSAGE_NOTE:
        note->name[sizeof note->name - 1] = note->text[sizeof note->text - 1] = '\0';
        /* Notes of the first part have their plain name, of others the process's number behind it.
         */
        char whole[256];
        if (part == self->parts)
            snprintf(whole, sizeof whole, "%s", note->name);
        else
            snprintf(whole, sizeof whole, "%s:%" PRId64, note->name, part->process.pid);
        return hl_record_profile_tables_note(&self->tables, whole, note->text);
    }
    return SQLITE_OK;
}

/* --- a round */

/* The first failure stands. Writers are told, so that the program never waits for a reader that
 * writes no more. */
static void fail_all(hl_record_collector *self, int code)
{
    hl_record_profile_tables_fail(&self->tables, code, &self->failure);
    if (self->tables.db && !sqlite3_get_autocommit(self->tables.db))
        hl_record_profile_tables_run(&self->tables, "ROLLBACK");
    lose(self, HL_RECORD_LOSS_DROPPED_RECORDS, self->adding);
    self->adding = 0;
    for (size_t i = 0; i < self->part_count; i++)
        if (self->parts[i].ring.head)
            atomic_store(&self->parts[i].ring.head->stopped, 1);
}

/* So that every part has its turn, reads what the ring held when it began. Room is given back
 * within the round too: a writer that is faster than a round does not wait for its end. */
static int read_part(hl_record_collector *self, hl_record_ring_part *part)
{
    hl_record_ring_message message;
    int code = SQLITE_OK;
    if (!part->ring.head)
        return code;
    const uint64_t end = part->damaged ? 0 : atomic_load(&part->ring.head->written);
    for (unsigned i = 1; code == SQLITE_OK && !part->damaged && part->ring.position < end; i++) {
        const uint64_t begin = part->ring.position;
        if (!hl_record_ring_next(&part->ring, &message, &part->damaged))
            break;
        if (!self->failure.status)
            code = take_message(self, part, &message);
        else /* what still comes is counted */
            lose(self, HL_RECORD_LOSS_DROPPED_RECORDS, message.type == HL_RECORD_MESSAGE_RECORD);
        self->bytes_read += part->ring.position - begin;
        part->moved_ns = self->read_ns;
        if (i % FREE_EVERY == 0)
            hl_record_ring_free_read(&part->ring);
    }
    hl_record_ring_free_read(&part->ring);
    return code;
}

/* Rings are named PROCESS.TIME, their further segments have a dash behind; what else is in the
 * folder does not begin with a digit. */
static bool is_ring(const char *name)
{
    return name[0] >= '0' && name[0] <= '9' && !strchr(name, '-');
}

static int find_parts(hl_record_collector *self)
{
    int code = SQLITE_OK;
    DIR *folder = opendir(self->folder);
    self->folder_gone |= !folder && errno == ENOENT;
    if (!folder)
        return code;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own
    for (const struct dirent *entry; code == SQLITE_OK && (entry = readdir(folder));) {
        if (!is_ring(entry->d_name) || is_known(self, entry->d_name))
            continue;
        if (!self->tables.db && hl_record_profile_tables_open(&self->tables, self->path,
                                                              self->start_ns, &self->failure))
            break;
        code = add_part(self, entry->d_name);
    }
    closedir(folder);
    return code;
}

/* --- a round over all parts */

/* Whether there is something to read, and enough of it, or long enough ago. */
static bool is_due(const hl_record_collector *self, int64_t now_ns)
{
    bool any = false, due = now_ns - self->read_ns >= PERIOD_MS * INT64_C(1000000);
    for (size_t i = 0; i < self->part_count; i++) {
        const hl_record_ring *ring = &self->parts[i].ring;
        if (!ring->head || self->parts[i].damaged)
            continue;
        const uint64_t waiting = atomic_load(&ring->head->written) - ring->position;
        any |= waiting > 0;
        due |= waiting > ring->capacity / MANY_PART;
    }
    return any && due;
}

/* --- parts that have ended */

/* The ring as /proc/PROCESS/maps has it: below what the process may have in another place. */
static bool is_mapped_by(const hl_record_collector *self, const hl_record_ring_part *part,
                         bool *known)
{
    char process[24], text[LONGEST_PATH];
    const char *slash = strrchr(self->folder, '/');
    snprintf(process, sizeof process, "%" PRId64, part->process.pid);
    snprintf(text, sizeof text, "%s/%s", slash ? slash + 1 : self->folder, part->file);
    *known = hl_record_process_lacks(process, "maps", '\n', text);
    return !*known && hl_record_process_mentions(process, "maps", '\n', text);
}

/* A number of a process may be given again, and exec ends a recorder: neither has its ring mapped.
 * One with a namespace of its own is not to be found by its number. */
static bool has_writer_gone(const hl_record_collector *self, const hl_record_ring_part *part)
{
    bool gone;
    return part->ring.head->pid_space == hl_record_ring_pid_space() &&
           !is_mapped_by(self, part, &gone) && gone;
}

/* Adds what the part lost, and gives its memory back: in flight is what a process that ended
 * without a word had given to a device. Writers that go on, of processes that nobody waited for,
 * see `stopped` and put nothing more. */
static void end_part(hl_record_collector *self, hl_record_ring_part *part, int64_t ended_ns)
{
    hl_record_ring_head *head = part->ring.head;
    if (!head)
        return;
    part->closed = atomic_load(&head->closed);
    const uint64_t issued = atomic_load(&head->issued), settled = atomic_load(&head->settled);
    const int64_t late_ns = ended_ns - atomic_load(&head->fetched_ns);
    if (!part->closed && issued > settled)
        self->lost[HL_RECORD_LOSS_IN_FLIGHT].count += issued - settled;
    if (!part->closed && late_ns < ended_ns && late_ns > self->unfetched_ns)
        self->unfetched_ns = late_ns;
    for (int i = 0; i < HL_RECORD_LOSSES; i++)
        hl_record_lost_add(&self->lost[i],
                           &(hl_record_lost){atomic_load(&head->losses[i].count),
                                             atomic_load(&head->losses[i].since_ns)});
    if (part->damaged)
        lose(self, HL_RECORD_LOSS_DAMAGED_RECORDERS, 1);
    self->waited_ns += atomic_load(&head->waited_ns);
    atomic_store(&head->stopped, 1);
    hl_record_ring_remove(&part->ring);
    hl_record_ring_unmap(&part->ring);
    free(part->file);
    free(part->names);
    free(part->devices);
    part->file = NULL;
    part->names = part->devices = NULL;
    part->name_capacity = part->device_capacity = 0;
}

/* In one transaction. After a failure what comes is read and counted. */
static int read_parts(hl_record_collector *self)
{
    int code = SQLITE_OK;
    const bool writes = !self->failure.status;
    if (writes)
        code = hl_record_profile_tables_run(&self->tables, "BEGIN");
    for (size_t i = 0; code == SQLITE_OK && i < self->part_count; i++)
        code = read_part(self, &self->parts[i]);
    if (code == SQLITE_OK && writes)
        code = hl_record_profile_tables_run(&self->tables, "COMMIT");
    if (code == SQLITE_OK) {
        self->records += self->adding;
        self->adding = 0;
    }
    return code;
}

/* A process may have ended a part and begun another since the last round. */
void hl_record_collector_read(hl_record_collector *self, bool at_once)
{
    self->bytes_read = 0;
    int code = self->failure.status ? SQLITE_OK : find_parts(self);
    if (code != SQLITE_OK)
        fail_all(self, code);
    const int64_t now_ns = hl_record_profile_now();
    if (at_once || is_due(self, now_ns)) {
        self->read_ns = now_ns;
        code = self->part_count && (self->tables.db || self->failure.status) ? read_parts(self)
                                                                             : SQLITE_OK;
        if (code != SQLITE_OK)
            fail_all(self, code);
    }
    if (now_ns - self->swept_ns >= SWEEP_MS * INT64_C(1000000)) {
        self->swept_ns = now_ns;
        /* So that the rings of many short processes do not add up. Of CUDA's recorder it matters
         * when the program ended, which is known at the end. */
        for (size_t i = 0; i < self->part_count; i++) {
            hl_record_ring_part *part = &self->parts[i];
            const hl_record_ring_head *head = part->ring.head;
            if (!head || part->damaged ||
                self->read_ns - part->moved_ns < IDLE_MS * INT64_C(1000000))
                continue;
            const bool ended = atomic_load(&head->closed) ||
                               (!atomic_load(&head->fetched_ns) && has_writer_gone(self, part));
            if (ended && atomic_load(&head->written) == part->ring.position)
                end_part(self, part, 0);
        }
    }
}

/* Only parts that were not closed: a process whose recorder is through may run on, and haul does
 * not wait for it. */
bool hl_record_collector_has_writer(const hl_record_collector *self, long *pid)
{
    bool known;
    for (size_t i = 0; i < self->part_count; i++) {
        const hl_record_ring_part *part = &self->parts[i];
        if (part->ring.head && !atomic_load(&part->ring.head->closed) &&
            is_mapped_by(self, part, &known)) {
            *pid = (long)part->process.pid;
            return true;
        }
    }
    return false;
}

/* Between its recorder's last word and its end a process still takes its time. */
bool hl_record_collector_has_finished(const void *collector, long pid)
{
    const hl_record_collector *self = collector;
    for (size_t i = 0; i < self->part_count; i++)
        if ((long)self->parts[i].process.pid == pid &&
            (self->parts[i].ring.head ? atomic_load(&self->parts[i].ring.head->closed) != 0
                                      : self->parts[i].closed))
            return true;
    return false;
}

/* --- the end */

void hl_record_collector_finish(hl_record_collector *self, const char *cause, int64_t ended_ns,
                                haul_recording *recording)
{
    do {
        hl_record_collector_read(self, true);
    } while (self->bytes_read);
    /* A file that still has a name was never fit to be read. */
    DIR *folder = opendir(self->folder);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_ring(entry->d_name) && !is_known(self, entry->d_name))
            lose(self, HL_RECORD_LOSS_DAMAGED_RECORDERS, 1);
    if (folder)
        closedir(folder);
    for (size_t i = 0; i < self->part_count; i++)
        end_part(self, &self->parts[i], ended_ns);
    recording->clock_error_ns = -1;
    recording->has_profile = self->part_count > 0;
    if (self->tables.db) {
        int code = hl_record_stack_tables_write(&self->tables, &self->names);
        if (code == SQLITE_OK)
            code = hl_record_collector_note(self, cause, recording);
        if (code != SQLITE_OK && !self->failure.status)
            fail_all(self, code);
        hl_record_profile_tables_close(&self->tables);
    }
    if (self->failure.status && !recording->failure[0]) {
        char text[1200];
        snprintf(recording->failure, sizeof recording->failure, "%s",
                 haul_error_format(&self->failure, text, sizeof text));
    }
    free(self->parts);
    free(self->devices);
    hl_base_strings_release(&self->names);
}
