/* A workload as an SQLite file with the tables of Nsight Systems' export that haul and other tools
 * read (schema 3.24). */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compare.h"
#include "base/fail.h"
#include "base/records.h"
#include "base/strings.h"
#include "haul/trace.h"
#include "trace/frames.h"
#include "trace/own_tables.h"
#include "trace/written_calls.h"
#include "trace/written_places.h"

/* Tables that rows are put into. */
typedef enum target {
    COPIES,
    MEMSETS,
    KERNELS,
    WAITS,
    EVENTS,
    CALLS,
    STACKS,
    RANGES,
    STRINGS,
    GPUS,
    EPOCH,
    INFO,
    THREADS,
    LAUNCHES,
    ORIGIN,
    RANKS,
    OPERATORS,
    LOSSES,
    NOTES,
    TARGETS
} target;

#define PLACE_COLUMNS "start,end,deviceId,contextId,streamId,correlationId,globalPid"

/* Columns have no types: SQLite keeps the numbers as numbers without. */
static const struct {
    const char *name;
    const char *columns;
} tables[TARGETS] = {
    [COPIES] = {"CUPTI_ACTIVITY_KIND_MEMCPY", PLACE_COLUMNS ",bytes,copyKind,srcKind,dstKind"},
    [MEMSETS] = {"CUPTI_ACTIVITY_KIND_MEMSET", PLACE_COLUMNS ",bytes"},
    [KERNELS] = {"CUPTI_ACTIVITY_KIND_KERNEL",
                 PLACE_COLUMNS ",demangledName,gridX,gridY,gridZ,blockX,blockY,blockZ,"
                               "registersPerThread,staticSharedMemory,dynamicSharedMemory"},
    [WAITS] = {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
               PLACE_COLUMNS ",syncType,eventId,eventSyncId"},
    [EVENTS] =
        {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
         "timestamp,deviceId,contextId,streamId,correlationId,globalPid,eventId,eventSyncId"},
    [CALLS] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
               "start,end,globalTid,correlationId,nameId,callchainId"},
    [STACKS] = {"CUDA_CALLCHAINS", "id,symbol,module,stackDepth"},
    [RANGES] = {"NVTX_EVENTS", "start,end,eventType,textId,globalTid"},
    [STRINGS] = {"StringIds", "id INTEGER PRIMARY KEY,value"},
    [GPUS] = {"TARGET_INFO_GPU",
              "id,name,memoryBandwidth,clockRate,totalMemory,l2CacheSize,smCount,asyncEngines,"
              "computeMajor,computeMinor,cuDevice"},
    [EPOCH] = {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs"},
    [INFO] = {"META_DATA_EXPORT", "name,value"},
    /* haul's own, for what Nsight Systems' cannot hold */
    [THREADS] = {HL_TRACE_OWN_THREADS, "globalTid,id"},
    [LAUNCHES] = {HL_TRACE_OWN_LAUNCHES,
                  "kernel,collective,dataType,groupName,ranks,elementsIn,elementsOut,batch,"
                  "rowCount,columnCount,inner,bytes,alignment"},
    [ORIGIN] = {HL_TRACE_OWN_ORIGIN, "rank"},
    [RANKS] = {HL_TRACE_OWN_RANKS, "deviceId,rank,host"},
    [OPERATORS] = {HL_TRACE_OWN_OPERATORS, "globalTid,start,operator"},
    [LOSSES] = {HL_TRACE_OWN_LOSSES, "count,text"},
    [NOTES] = {HL_TRACE_OWN_NOTES, "count,text,kind"},
};

typedef struct writer {
    const haul_workload *workload;
    hl_trace_written_calls calls;
    hl_trace_written_places places;
    sqlite3 *db;
    sqlite3_stmt *statements[TARGETS];
    int64_t kernels;  /* written so far */
    int code;         /* the first failure, SQLITE_OK for none */
    bool own_threads; /* ids of threads fit a globalTid and differ; else their numbers do */
    uint32_t launch;  /* id of the name that calls of kernels have; those of frames are behind it */
    hl_base_strings frames;
    hl_base_records stacks; /* string ids of those that were written */
} writer;

#define NOTHING INT64_MIN

/* Puts a row of numbers, with texts in the columns that have one. */
static void put_texts(writer *self, target to, const int64_t *values, const char *const *texts)
{
    sqlite3_stmt *const statement = self->statements[to];
    const int columns = sqlite3_bind_parameter_count(statement);
    for (int i = 0; self->code == SQLITE_OK && i < columns; i++)
        if (texts[i])
            self->code = sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_STATIC);
        else
            // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): one each
            self->code = values[i] == NOTHING ? sqlite3_bind_null(statement, i + 1)
                                              : sqlite3_bind_int64(statement, i + 1, values[i]);
    if (self->code != SQLITE_OK)
        return;
    const int code = sqlite3_step(statement);
    self->code = code == SQLITE_DONE ? sqlite3_reset(statement) : code;
}

/* The same with a text as its second column, where there is one. */
static void put(writer *self, target to, const int64_t *values, const char *text)
{
    const char *texts[HL_TRACE_ROW_COLUMNS] = {[1] = text};
    put_texts(self, to, values, texts);
}

/* Strings are numbered from 1; an empty one is NULL, as nsys has it. */
static int64_t string_id(const writer *self, uint32_t name)
{
    return haul_workload_string(self->workload, name)[0] ? (int64_t)name + 1 : NOTHING;
}

static int64_t pid_of_stream(const writer *self, uint32_t stream)
{
    return (int64_t)hl_trace_written_process_of_stream(&self->places, stream) << 24;
}

static int64_t pid_of_thread(const writer *self, uint32_t thread)
{
    return (int64_t)hl_trace_written_process_of_thread(&self->places, thread) << 24;
}

/* The process in the upper bits, the thread in the lower 24, as nsys serialises them. */
static int64_t global_tid(const writer *self, uint32_t thread)
{
    if (thread == HAUL_NONE)
        return NOTHING;
    return pid_of_thread(self, thread) |
           (self->own_threads ? (int64_t)self->workload->threads[thread].id : (int64_t)thread + 1);
}

static int64_t device_id(const writer *self, uint32_t device)
{
    return (int64_t)hl_trace_written_device(&self->places, device);
}

enum { PLACE = 7 };

/* The columns that operations share. */
static void put_place(const writer *self, const haul_op *op, uint32_t call, int64_t *values)
{
    const haul_workload *const w = self->workload;
    values[0] = op->start_ns;
    values[1] = op->start_ns + op->dur_ns;
    values[2] = values[3] = values[4] = NOTHING;
    values[5] = call;
    values[6] = op->thread != HAUL_NONE ? pid_of_thread(self, op->thread)
                : w->stream_count       ? pid_of_stream(self, 0)
                                        : INT64_C(1) << 24;
    if (op->stream == HAUL_NONE)
        return;
    const haul_workload_stream *const stream = &w->streams[op->stream];
    values[2] = stream->device == HAUL_NONE ? NOTHING : device_id(self, stream->device);
    values[3] = (int64_t)stream->context;
    values[4] = (int64_t)stream->id;
    values[6] = pid_of_stream(self, op->stream);
}

/* ENUM_CUDA_MEMCPY_OPER */
static int64_t copy_kind(const haul_op *op)
{
    static const int64_t kinds[HAUL_DIRECTIONS] = {
        [HAUL_DIRECTION_HTOD] = 1,  [HAUL_DIRECTION_DTOH] = 2, [HAUL_DIRECTION_DTOD] = 8,
        [HAUL_DIRECTION_PTOP] = 10, [HAUL_DIRECTION_HTOH] = 9, [HAUL_DIRECTION_UNKNOWN] = 0};
    if (op->direction == HAUL_DIRECTION_DTOD && op->detail == HAUL_MEMORY_ARRAY)
        return 5;
    if (op->direction == HAUL_DIRECTION_DTOD && op->detail == HAUL_MEMORY_MANAGED)
        return 13;
    return kinds[op->direction];
}

/* NULL is what a number that is not known reads back as. */
static int64_t bytes_of(const haul_op *op)
{
    return op->flags & HAUL_OP_NO_BYTES ? NOTHING : (int64_t)op->bytes;
}

/* The kind of memory of one side: ENUM_CUDA_MEM_KIND, where 7 is unknown. */
static void put_copy(writer *self, const haul_op *op, int64_t *values)
{
    enum { DEVICE = 2, UNKNOWN = 7 };
    static const int64_t kinds[HAUL_MEMORIES] = {
        [HAUL_MEMORY_PAGEABLE] = 0,     [HAUL_MEMORY_PINNED] = 1,  [HAUL_MEMORY_DEVICE] = DEVICE,
        [HAUL_MEMORY_ARRAY] = 3,        [HAUL_MEMORY_MANAGED] = 4, [HAUL_MEMORY_HOST] = UNKNOWN,
        [HAUL_MEMORY_UNKNOWN] = UNKNOWN};
    const int64_t memory = kinds[op->detail];
    values[PLACE] = bytes_of(op);
    values[PLACE + 1] = copy_kind(op);
    values[PLACE + 2] = op->direction == HAUL_DIRECTION_DTOH ? DEVICE : memory;
    values[PLACE + 3] = op->direction == HAUL_DIRECTION_HTOD ? DEVICE : memory;
    put(self, COPIES, values, NULL);
}

/* Writes the data of a collective and the operands of an operator, by the number of the kernel's
 * row. */
static void put_launch(writer *self, const haul_shape *shape)
{
    const haul_workload *const w = self->workload;
    const haul_collective *const moved =
        shape->collective ? &w->collectives[shape->collective - 1] : NULL;
    const haul_operands *const read = shape->operands ? &w->operands[shape->operands - 1] : NULL;
    int64_t values[HL_TRACE_LAUNCH_COUNT];
    const char *texts[HL_TRACE_LAUNCH_COUNT] = {NULL};
    if (!moved && !read)
        return;
    for (int i = 0; i < HL_TRACE_LAUNCH_COUNT; i++)
        values[i] = NOTHING;
    values[HL_TRACE_LAUNCH_KERNEL] = self->kernels;
    if (moved) {
        texts[HL_TRACE_LAUNCH_COLLECTIVE] = haul_workload_string(w, moved->name);
        texts[HL_TRACE_LAUNCH_DATA_TYPE] = haul_workload_string(w, moved->data_type);
        texts[HL_TRACE_LAUNCH_GROUP] = haul_workload_string(w, moved->group);
        values[HL_TRACE_LAUNCH_RANKS] = moved->group_size;
        values[HL_TRACE_LAUNCH_ELEMENTS_IN] = (int64_t)moved->elements_in;
        values[HL_TRACE_LAUNCH_ELEMENTS_OUT] = (int64_t)moved->elements_out;
    }
    if (read) {
        values[HL_TRACE_LAUNCH_BATCH] = (int64_t)read->batch;
        values[HL_TRACE_LAUNCH_ROWS] = (int64_t)read->rows;
        values[HL_TRACE_LAUNCH_COLUMNS] = (int64_t)read->columns;
        values[HL_TRACE_LAUNCH_INNER] = (int64_t)read->inner;
        values[HL_TRACE_LAUNCH_BYTES] = (int64_t)read->bytes;
        values[HL_TRACE_LAUNCH_ALIGNMENT] = (int64_t)read->alignment;
    }
    put_texts(self, LAUNCHES, values, texts);
}

/* Static and dynamic shared memory are one figure here: the sum is what a block takes. */
static void put_kernel(writer *self, const haul_op *op, int64_t *values)
{
    static const haul_shape none = {0};
    const haul_shape *const shape =
        op->shape == HAUL_NONE ? &none : &self->workload->shapes[op->shape];
    values[PLACE] = string_id(self, op->name);
    for (int i = 0; i < 3; i++) {
        values[PLACE + 1 + i] = shape->grid[i];
        values[PLACE + 4 + i] = shape->block[i];
    }
    values[PLACE + 7] = shape->registers_per_thread;
    values[PLACE + 8] = shape->shared_bytes;
    values[PLACE + 9] = 0;
    put(self, KERNELS, values, NULL);
    self->kernels++;
    put_launch(self, shape);
}

/* An event that is waited for is written as reached when what is waited for had just started: a
 * reader takes the last operation that had. */
static void put_wait(writer *self, size_t number, const haul_op *op, int64_t *values)
{
    enum { WAIT_EVENT = 1, STREAM_WAITS = 2, WAIT_STREAM = 3, WAIT_CONTEXT = 4 };
    static const int64_t types[] = {[HAUL_SYNC_UNKNOWN] = 0,
                                    [HAUL_SYNC_EVENT] = WAIT_EVENT,
                                    [HAUL_SYNC_STREAM_WAIT] = STREAM_WAITS,
                                    [HAUL_SYNC_STREAM] = WAIT_STREAM,
                                    [HAUL_SYNC_CONTEXT] = WAIT_CONTEXT};
    const haul_workload *const w = self->workload;
    const bool of_event = op->detail == HAUL_SYNC_EVENT || op->detail == HAUL_SYNC_STREAM_WAIT;
    const uint32_t waited = self->calls.waited[number];
    const int64_t event = of_event ? (int64_t)number + 1 : NOTHING;
    values[PLACE] = types[op->detail];
    values[PLACE + 1] = values[PLACE + 2] = event;
    /* a wait for a context: that of what it waits for; none, where nothing was left to wait for */
    const uint32_t stream = waited == HAUL_NONE ? HAUL_NONE : w->ops[waited].stream;
    if (op->stream == HAUL_NONE && stream < w->stream_count) {
        values[3] = (int64_t)w->streams[stream].context;
        values[6] = pid_of_stream(self, stream);
    }
    put(self, WAITS, values, NULL);
    if (!of_event || waited == HAUL_NONE)
        return;
    int64_t where[PLACE];
    put_place(self, &w->ops[waited], 0, where);
    const int64_t record[] = {where[0] + 1, where[2], where[3], where[4], 0,
                              where[6],     event,    event};
    put(self, EVENTS, record, NULL);
}

/* A call that issued nothing is written as a call alone. */
static void put_op(writer *self, size_t number)
{
    const haul_op *const op = &self->workload->ops[number];
    int64_t values[PLACE + 10];
    put_place(self, op, self->calls.ids[number], values);
    switch ((haul_op_kind)op->kind) {
    case HAUL_OP_COPY:
        put_copy(self, op, values);
        break;
    case HAUL_OP_MEMSET:
        values[PLACE] = bytes_of(op);
        put(self, MEMSETS, values, NULL);
        break;
    case HAUL_OP_KERNEL:
        put_kernel(self, op, values);
        break;
    case HAUL_OP_SYNC:
        put_wait(self, number, op, values);
        break;
    default: /* a call alone */
        break;
    }
}

/* Strings that operations and ranges name, each once, and the name that calls of kernels have,
 * since an operation's name is the kernel's. */
static void put_strings(writer *self)
{
    const haul_workload *const w = self->workload;
    uint32_t largest = 0;
    for (size_t i = 0; i < w->op_count + w->range_count; i++) {
        const uint32_t name = i < w->op_count ? w->ops[i].name : w->ranges[i - w->op_count].name;
        if (name == HAUL_NONE)
            continue;
        largest = name > largest ? name : largest;
        put(self, STRINGS, &(int64_t){(int64_t)name + 1}, haul_workload_string(w, name));
    }
    self->launch = largest + 2;
    put(self, STRINGS, &(int64_t){self->launch}, "cudaLaunchKernel");
}

/* The id of a frame's text, written where it is new. */
static int64_t frame_id(writer *self, const char *text, size_t length)
{
    const size_t before = self->frames.count;
    const uint32_t number = hl_base_strings_add(&self->frames, text, length);
    if (number == UINT32_MAX) {
        self->code = SQLITE_NOMEM;
        return NOTHING;
    }
    const int64_t id = (int64_t)self->launch + 1 + number;
    if (number == before)
        put(self, STRINGS, &id, self->frames.texts[number]);
    return id;
}

/* The number of the stack of an operation's call, NOTHING where it has none; each is written once,
 * a row a frame. */
static int64_t stack_id(writer *self, uint32_t op)
{
    const uint32_t stack = haul_op_stack(self->workload, op);
    const size_t before = self->stacks.count;
    if (stack == HAUL_NONE || self->code != SQLITE_OK)
        return NOTHING;
    const uint32_t number = hl_base_records_add(&self->stacks, &stack);
    if (number == UINT32_MAX) {
        self->code = SQLITE_NOMEM;
        return NOTHING;
    }
    const char *at = haul_workload_string(self->workload, stack);
    for (int64_t depth = 0; number == before && at; depth++) {
        const char *const end = strstr(at, HL_TRACE_STACK_JOINT);
        const size_t length = end ? (size_t)(end - at) : strlen(at);
        put(self, STACKS, (const int64_t[]){number + 1, frame_id(self, at, length), NOTHING, depth},
            NULL);
        at = end ? end + strlen(HL_TRACE_STACK_JOINT) : NULL;
    }
    return (int64_t)number + 1;
}

/* Figures that are not known are 0, as in a workload. */
static void put_devices(writer *self)
{
    const double most = 0x1p62;
    for (size_t i = 0; i < self->workload->device_count; i++) {
        const haul_workload_device *const d = &self->workload->devices[i];
        const int64_t id = device_id(self, (uint32_t)i);
        const int64_t values[] = {id,
                                  NOTHING,
                                  d->memory_bandwidth_Bps < most ? (int64_t)d->memory_bandwidth_Bps
                                                                 : 0,
                                  d->clock_Hz < most ? (int64_t)d->clock_Hz : 0,
                                  (int64_t)d->memory_bytes,
                                  (int64_t)d->l2_bytes,
                                  d->multiprocessors,
                                  d->copy_engines,
                                  d->compute_major,
                                  d->compute_minor,
                                  id};
        put(self, GPUS, values, d->name);
        const int64_t place[] = {id, d->rank >= 0 ? d->rank : NOTHING, NOTHING};
        if (d->rank >= 0 || d->host)
            put_texts(self, RANKS, place, (const char *[]){NULL, NULL, d->host});
    }
}

static void put_notes(writer *self, const char *kind, const haul_note *notes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int64_t values[HL_TRACE_ROW_COLUMNS] = {(int64_t)notes[i].count};
        const char *const of[HL_TRACE_ROW_COLUMNS] = {[1] = notes[i].text, [2] = kind};
        put_texts(self, NOTES, values, of);
    }
}

static void put_default_streams(writer *self)
{
    put_notes(self, HL_TRACE_NOTE_DEFAULT, &(haul_note){.text = ""}, 1);
    for (size_t i = 0; i < self->workload->stream_count; i++) {
        char text[HL_TRACE_STREAM_TEXT];
        if (hl_trace_written_default(&self->places, i, text))
            put_notes(self, HL_TRACE_NOTE_DEFAULT, &(haul_note){.text = text}, 1);
    }
}

/* Strings first, since calls need the number of the name that kernels' calls get. */
static void put_all(writer *self)
{
    enum { PUSH_POP = 59 };
    const haul_workload *const w = self->workload;
    put_strings(self);
    put_devices(self);
    if (w->epoch_ns)
        put(self, EPOCH, &w->epoch_ns, NULL);
    if (w->rank >= 0)
        put(self, ORIGIN, &w->rank, NULL);
    for (size_t i = 0; i < w->loss_count; i++)
        put(self, LOSSES, &(int64_t){(int64_t)w->losses[i].count}, w->losses[i].text);
    put_notes(self, "converted", &(haul_note){.text = "haul"}, 1);
    put_notes(self, HL_TRACE_NOTE_MISSING, w->missing, w->missing_count);
    put_notes(self, HL_TRACE_NOTE_REPAIR, w->repairs, w->repair_count);
    put_default_streams(self);
    for (uint32_t i = 0; !self->own_threads && i < w->thread_count; i++)
        put(self, THREADS, (const int64_t[]){global_tid(self, i), (int64_t)w->threads[i].id}, NULL);
    for (size_t i = 0; self->code == SQLITE_OK && i < w->op_count; i++)
        put_op(self, i);
    for (uint32_t i = 0; i < self->calls.count; i++) {
        const haul_op *const op = &w->ops[self->calls.first[i]];
        const int64_t values[] = {op->call_ns,
                                  op->call_ns + op->call_dur_ns,
                                  global_tid(self, op->thread),
                                  (int64_t)i + 1,
                                  op->kind == HAUL_OP_KERNEL ? (int64_t)self->launch
                                                             : string_id(self, op->name),
                                  stack_id(self, self->calls.first[i])};
        put(self, CALLS, values, NULL);
        const uint32_t called_by = haul_op_operator(w, self->calls.first[i]);
        if (called_by != HAUL_NONE)
            put_texts(self, OPERATORS, (const int64_t[]){values[2], op->call_ns, NOTHING},
                      (const char *[]){NULL, NULL, haul_workload_string(w, called_by)});
    }
    for (size_t i = 0; i < w->range_count; i++) {
        const haul_named_range *const range = &w->ranges[i];
        const int64_t values[] = {range->start_ns, range->start_ns + range->dur_ns, PUSH_POP,
                                  string_id(self, range->name), global_tid(self, range->thread)};
        put(self, RANGES, values, NULL);
    }
}

/* A globalTid has 24 bits for a thread: where an id does not fit, or two threads of a process have
 * one, all are numbered anew. */
static haul_status choose_threads(writer *self, haul_error *error)
{
    enum { THREAD_BITS = 24 };
    const haul_workload *const w = self->workload;
    uint64_t *const ids = malloc((w->thread_count + 1) * sizeof *ids);
    if (!ids)
        return hl_base_fail_no_memory(error);
    self->own_threads = true;
    for (uint32_t i = 0; i < w->thread_count; i++) {
        ids[i] = (uint64_t)pid_of_thread(self, i) | w->threads[i].id;
        self->own_threads &= w->threads[i].id < UINT64_C(1) << THREAD_BITS;
    }
    if (w->thread_count)
        qsort(ids, w->thread_count, sizeof *ids, hl_base_compare_unsigned_items);
    for (size_t i = 1; i < w->thread_count; i++)
        self->own_threads &= ids[i] != ids[i - 1];
    free(ids);
    return HAUL_OK;
}

/* Makes the tables, and for each the statement that puts a row into it. */
static void open_database(writer *self, const char *path)
{
    (void)unlink(path);
    self->code = sqlite3_open_v2(path, &self->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (self->code == SQLITE_OK)
        self->code =
            sqlite3_exec(self->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN",
                         NULL, NULL, NULL);
    for (int i = 0; self->code == SQLITE_OK && i < TARGETS; i++) {
        char sql[512], marks[64] = "?";
        for (const char *at = tables[i].columns; (at = strchr(at, ',')); at++)
            (void)snprintf(marks + strlen(marks), sizeof marks - strlen(marks), ",?");
        (void)snprintf(sql, sizeof sql, "CREATE TABLE %s(%s)", tables[i].name, tables[i].columns);
        self->code = sqlite3_exec(self->db, sql, NULL, NULL, NULL);
        (void)snprintf(sql, sizeof sql, "INSERT OR IGNORE INTO %s VALUES(%s)", tables[i].name,
                       marks);
        if (self->code == SQLITE_OK)
            self->code = sqlite3_prepare_v2(self->db, sql, -1, &self->statements[i], NULL);
    }
    if (self->code == SQLITE_OK)
        self->code = sqlite3_exec(
            self->db,
            "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PRODUCT_NAME', 'haul convert'),"
            " ('EXPORT_SCHEMA_VERSION', '3.24.14')",
            NULL, NULL, NULL);
}

/* A file that could not be written whole is no profile: it is removed. */
static haul_status close_database(writer *self, const char *path, haul_error *error)
{
    for (int i = 0; i < TARGETS; i++)
        sqlite3_finalize(self->statements[i]);
    if (self->code == SQLITE_OK)
        self->code = sqlite3_exec(self->db, "COMMIT", NULL, NULL, NULL);
    haul_status status = HAUL_OK;
    if ((self->code & 0xff) == SQLITE_NOMEM) {
        status = hl_base_fail_no_memory(error);
    } else if (self->code != SQLITE_OK) {
        status = haul_error_set(error, HAUL_STATUS_IO, "cannot write: %s",
                                self->db ? sqlite3_errmsg(self->db) : sqlite3_errstr(self->code));
        hl_base_error_in_file(error, path);
    }
    /* SQLite makes the file before it finds that it has no memory for more */
    if (sqlite3_close(self->db) == SQLITE_OK && status)
        (void)unlink(path);
    return status;
}

/* A file that is there is replaced: SQLite would add to it. */
haul_status haul_trace_write_sqlite(const haul_workload *workload, const char *path,
                                    haul_error *error)
{
    writer self = {.workload = workload, .stacks.size = sizeof(uint32_t)};
    HAUL_TRY(hl_trace_written_places_make(&self.places, workload, error));
    haul_status status = choose_threads(&self, error);
    if (!status)
        status = hl_trace_written_calls_make(&self.calls, workload, error);
    if (!status) {
        open_database(&self, path);
        if (self.code == SQLITE_OK)
            put_all(&self);
        status = close_database(&self, path, error);
        hl_trace_written_calls_release(&self.calls);
        hl_base_strings_release(&self.frames);
        hl_base_records_release(&self.stacks);
    }
    hl_trace_written_places_release(&self.places);
    return status;
}
