/* Writes a small profile as Nsight Systems exports it: a convolution of large images on an A100,
 * in chunks over three streams, so that copies in, kernels and copies out overlap. The times are
 * made, not measured: each is a line through published figures with a spread of 1 %, the same in
 * every run, and copies that meet do not slow each other down.
 *
 * With -c a case of its own instead, in which something else than the work takes the time. */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 8192, COLUMNS = 8192, CHUNKS = 16, FILTER = 17, BUFFERS = 3 };

#define ROW_BYTES ((int64_t)COLUMNS * 4)
#define PROCESS (INT64_C(1) << 48 | INT64_C(4711) << 24)
#define THREAD (PROCESS | 4711)
#define ALL_STREAMS INT64_C(4294967295)

enum { COPY_IN = 1, COPY_OUT = 2, COPY_WITHIN = 8 };
enum { PAGEABLE = 0, PINNED = 1, DEVICE = 2 };
enum { WAIT_OF_HOST = 1, WAIT_OF_STREAM = 2, WAIT_FOR_CONTEXT = 4 };

typedef enum engine { ENGINE_IN, ENGINE_OUT, ENGINE_COMPUTE, ENGINES } engine;

/* CUDA's ids; the default stream is 7 */
enum { STREAM_DEFAULT = 7, STREAM_IN = 13, STREAM_COMPUTE, STREAM_OUT, STREAMS };

typedef enum name {
    NAME_MEMCPY = 1,
    NAME_MEMCPY_ASYNC,
    NAME_MEMSET_ASYNC,
    NAME_LAUNCH,
    NAME_EVENT_RECORD,
    NAME_STREAM_WAIT,
    NAME_EVENT_SYNCHRONIZE,
    NAME_DEVICE_SYNCHRONIZE,
    NAME_MALLOC,
    NAME_MEMCPY_TO_SYMBOL,
    NAME_HOST_ALLOC,
    NAME_MODULE_LOAD,
    NAME_CONVOLVE,
    NAME_CONVOLVE_LONG,
    NAME_HISTOGRAM,
    NAME_HISTOGRAM_LONG,
    NAMES
} name;

static const char *const names[NAMES] = {
    [NAME_MEMCPY] = "cudaMemcpy_v3020",
    [NAME_MEMCPY_ASYNC] = "cudaMemcpyAsync_v3020",
    [NAME_MEMSET_ASYNC] = "cudaMemsetAsync_v3020",
    [NAME_LAUNCH] = "cudaLaunchKernel_v7000",
    [NAME_EVENT_RECORD] = "cudaEventRecord_v3020",
    [NAME_STREAM_WAIT] = "cudaStreamWaitEvent_v3020",
    [NAME_EVENT_SYNCHRONIZE] = "cudaEventSynchronize_v3020",
    [NAME_DEVICE_SYNCHRONIZE] = "cudaDeviceSynchronize_v3020",
    [NAME_MALLOC] = "cudaMalloc_v3020",
    [NAME_MEMCPY_TO_SYMBOL] = "cudaMemcpyToSymbol_v3020",
    [NAME_HOST_ALLOC] = "cudaHostAlloc_v3020",
    [NAME_MODULE_LOAD] = "cuModuleLoadData",
    [NAME_CONVOLVE] = "convolve",
    [NAME_CONVOLVE_LONG] = "void convolve<17>(float const *, float *, int, int)",
    [NAME_HISTOGRAM] = "histogram",
    [NAME_HISTOGRAM_LONG] = "histogram(float const *, unsigned int *, int)",
};

static const char schema[] =
    "PRAGMA synchronous = OFF; BEGIN;"
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);"
    "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT,"
    " busLocation TEXT, isDiscrete INTEGER, l2CacheSize INTEGER, totalMemory INTEGER,"
    " memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, pwGpuId INTEGER, uuid TEXT,"
    " chipName TEXT, cuDevice INTEGER, asyncEngines INTEGER, computeMajor INTEGER,"
    " computeMinor INTEGER);"
    "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL,"
    " pid INTEGER NOT NULL, uuid TEXT, numMultiprocessors INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,"
    " streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,"
    " bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER,"
    " srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER,"
    " dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER,"
    " virtualAddress INTEGER, copyCount INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,"
    " streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,"
    " value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,"
    " streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,"
    " demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,"
    " launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL,"
    " gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,"
    " blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL,"
    " staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL,"
    " localMemoryPerThread INTEGER NOT NULL DEFAULT 0,"
    " localMemoryTotal INTEGER NOT NULL DEFAULT 0, gridId INTEGER NOT NULL DEFAULT 0,"
    " sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER,"
    " nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL,"
    " end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,"
    " greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER,"
    " globalPid INTEGER, deprecatedSyncType INTEGER, syncType INTEGER NOT NULL,"
    " eventId INTEGER NOT NULL, eventSyncId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp INTEGER, deviceId INTEGER NOT NULL,"
    " contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL,"
    " correlationId INTEGER, globalPid INTEGER, eventId INTEGER NOT NULL, eventSyncId INTEGER);"
    "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'haul test profile'),"
    " ('EXPORT_SCHEMA_VERSION', '3.24.14'), ('EXPORT_SCHEMA_VERSION_MAJOR', '3'),"
    " ('EXPORT_SCHEMA_VERSION_MINOR', '24'), ('EXPORT_SCHEMA_VERSION_MICRO', '14');"
    "INSERT INTO TARGET_INFO_GPU VALUES (281474976710656, 0, 'NVIDIA A100 80GB PCIe',"
    " '0000:41:00.0', 1, 41943040, 85031714816, 1935360000000, 1410000000, 108, 0, NULL,"
    " 'GA100', 0, 3, 8, 0);"
    "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 4711, NULL, 108);";

/* The profiled program while it runs: its host's clock, and when each stream and engine is free. */
typedef struct program {
    sqlite3 *db;
    sqlite3_stmt *copy, *memset, *kernel, *call, *sync, *event;
    int64_t now_ns;
    int64_t call_ns; /* start of the call being made */
    int64_t correlation;
    int64_t stream_free[STREAMS];
    int64_t engine_free[ENGINES];
    int64_t event_id, event_sync_id;
    uint32_t noise;
    int64_t *kernel_ends; /* with a launch queue, of the kernels launched so far */
    int64_t kernels;
    int64_t queue_depth;
    bool launch_blocks;   /* until its kernel has ended */
    int64_t first_lag_ns; /* that an operation starts later, until it is set to 0 */
} program;

/* An event: when it is reached, and its ids in the profile. */
typedef struct event {
    int64_t at_ns, id, sync_id;
} event;

static void check(program *self, int result)
{
    if (result == SQLITE_OK || result == SQLITE_DONE)
        return;
    fprintf(stderr, "make_profile: %s\n", sqlite3_errmsg(self->db));
    exit(1);
}

static sqlite3_stmt *prepare(program *self, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    check(self, sqlite3_prepare_v2(self->db, sql, -1, &statement, NULL));
    return statement;
}

#define COUNT(values) (int)(sizeof(values) / sizeof(int64_t))

static void add_row(program *self, sqlite3_stmt *statement, const int64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        check(self, sqlite3_bind_int64(statement, i + 1, values[i]));
    check(self, sqlite3_step(statement));
    check(self, sqlite3_reset(statement));
}

/* within 1 % of a duration; a linear congruential generator (Numerical Recipes) */
static int64_t spread(program *self, double ns)
{
    self->noise = self->noise * 1664525U + 1013904223U;
    return (int64_t)(ns * (0.99 + 0.02 * (self->noise >> 8) / (1 << 24)));
}

static void begin_call(program *self)
{
    self->now_ns += spread(self, 400);
    self->call_ns = self->now_ns;
    self->correlation++;
}

/* A call ends `ns` after it began, or at `until` where that is later. */
static void end_call(program *self, name called, double ns, int64_t until)
{
    self->now_ns += spread(self, ns);
    if (self->now_ns < until)
        self->now_ns = until;
    const int64_t row[] = {self->call_ns, self->now_ns, 0, THREAD, self->correlation, called, 0};
    add_row(self, self->call, row, COUNT(row));
}

/* Puts work on a stream and an engine, in order; returns its start. */
static int64_t schedule(program *self, int stream, engine on, int64_t dur_ns)
{
    int64_t start = self->call_ns + spread(self, 1800) + self->first_lag_ns;
    if (start < self->stream_free[stream])
        start = self->stream_free[stream] + spread(self, 900);
    if (start < self->engine_free[on])
        start = self->engine_free[on] + spread(self, 900);
    self->stream_free[stream] = self->engine_free[on] = start + dur_ns;
    return start;
}

/* Pinned: nvbandwidth's README, A100 on PCIe 4. Pageable: a host thread that fills a staging
 * buffer; the rate is of that order on servers of the A100's time. Within: HBM, read and written.
 */
static double copy_ns(int kind, int host_memory, int64_t bytes)
{
    const double rate_Bps = kind == COPY_WITHIN       ? 1.2e12 / 2
                            : host_memory == PAGEABLE ? 11.0e9
                            : kind == COPY_IN         ? 26.0e9
                                                      : 26.3e9;
    return (host_memory == PAGEABLE ? 4200 : 1400) + 1e9 * (double)bytes / rate_Bps;
}

/* A copy whose call spends `first_ns` before it starts anything, as one that starts the driver. */
static void copy_called(program *self, name called, double first_ns, int kind, int host_memory,
                        int64_t bytes, int stream)
{
    static const engine engines[] = {
        [COPY_IN] = ENGINE_IN, [COPY_OUT] = ENGINE_OUT, [COPY_WITHIN] = ENGINE_COMPUTE};
    const bool waits = kind != COPY_WITHIN && host_memory == PAGEABLE;
    begin_call(self);
    const int64_t called_ns = self->call_ns;
    self->now_ns = self->call_ns += (int64_t)first_ns;
    const int64_t dur = spread(self, copy_ns(kind, host_memory, bytes));
    const int64_t start = schedule(self, stream, engines[kind], dur);
    self->call_ns = called_ns;
    const int64_t row[] = {start,
                           start + dur,
                           0,
                           1,
                           stream,
                           self->correlation,
                           PROCESS,
                           bytes,
                           kind,
                           kind == COPY_IN ? host_memory : DEVICE,
                           kind == COPY_OUT ? host_memory : DEVICE,
                           1};
    add_row(self, self->copy, row, COUNT(row));
    end_call(self, called, 4300, waits ? start + dur : 0);
}

static void copy(program *self, int kind, int host_memory, int64_t bytes, int stream)
{
    const bool waits = kind != COPY_WITHIN && host_memory == PAGEABLE;
    copy_called(self, waits ? NAME_MEMCPY : NAME_MEMCPY_ASYNC, 0, kind, host_memory, bytes, stream);
}

static void set(program *self, int64_t bytes, int stream)
{
    begin_call(self);
    const int64_t dur = spread(self, 1300 + (double)bytes / 1.5e3);
    const int64_t start = schedule(self, stream, ENGINE_COMPUTE, dur);
    const int64_t row[] = {start,   start + dur, 0,     1,     stream, self->correlation,
                           PROCESS, 0,           bytes, DEVICE};
    add_row(self, self->memset, row, COUNT(row));
    end_call(self, NAME_MEMSET_ASYNC, 3900, 0);
}

/* When a call into a full launch queue returns: 5 us after the end of the oldest of its operations.
 */
static int64_t room_at(program *self, int64_t end_ns)
{
    int64_t room_ns = 0;
    if (!self->queue_depth)
        return 0;
    if (self->kernels >= self->queue_depth &&
        self->kernel_ends[self->kernels - self->queue_depth] > self->call_ns)
        room_ns = self->kernel_ends[self->kernels - self->queue_depth] + spread(self, 5000);
    self->kernel_ends[self->kernels++] = end_ns;
    return room_ns;
}

/* `called` is the short name, the next one the long one. */
static void launch(program *self, name called, int64_t blocks, int64_t shared, double ns,
                   int stream)
{
    begin_call(self);
    const int64_t dur = spread(self, ns);
    const int64_t start = schedule(self, stream, ENGINE_COMPUTE, dur);
    const int64_t row[] = {start,   start + dur, 0,      1,      stream, self->correlation,
                           PROCESS, called + 1,  called, called, 1,      1,
                           40,      blocks,      1,      1,      32,     8,
                           1,       shared,      0};
    add_row(self, self->kernel, row, COUNT(row));
    const int64_t room_ns = room_at(self, start + dur);
    end_call(self, NAME_LAUNCH, 3600, self->launch_blocks ? start + dur + 3000 : room_ns);
}

static event record(program *self, int stream)
{
    begin_call(self);
    const int64_t idle = self->call_ns + 1500;
    const int64_t reached = self->stream_free[stream] > idle ? self->stream_free[stream] : idle;
    const event made = {reached, self->event_id++, self->event_sync_id++};
    const int64_t row[] = {reached,           0,       1,       stream,
                           self->correlation, PROCESS, made.id, made.sync_id};
    add_row(self, self->event, row, COUNT(row));
    end_call(self, NAME_EVENT_RECORD, 2100, 0);
    return made;
}

static void add_wait(program *self, int64_t type, int64_t stream, int64_t event_id, int64_t sync_id)
{
    const int64_t row[] = {self->call_ns,     self->now_ns, 0,    1,        stream,
                           self->correlation, PROCESS,      type, event_id, sync_id};
    add_row(self, self->sync, row, COUNT(row));
}

static void stream_waits(program *self, int stream, event waited)
{
    begin_call(self);
    if (self->stream_free[stream] < waited.at_ns)
        self->stream_free[stream] = waited.at_ns;
    end_call(self, NAME_STREAM_WAIT, 1700, 0);
    add_wait(self, WAIT_OF_STREAM, stream, waited.id, waited.sync_id);
}

static void host_waits(program *self, event waited)
{
    begin_call(self);
    end_call(self, NAME_EVENT_SYNCHRONIZE, 1900, waited.at_ns + 1200);
    add_wait(self, WAIT_OF_HOST, ALL_STREAMS, waited.id, waited.sync_id);
}

static void device_synchronize(program *self)
{
    int64_t last = 0;
    for (int i = 0; i < STREAMS; i++)
        if (self->stream_free[i] > last)
            last = self->stream_free[i];
    begin_call(self);
    end_call(self, NAME_DEVICE_SYNCHRONIZE, 2500, last + 1500);
    add_wait(self, WAIT_FOR_CONTEXT, ALL_STREAMS, ALL_STREAMS, ALL_STREAMS);
}

/* One chunk: in with its halo, convolve, out; the streams wait for each other through events.
 * The arithmetic is at 60 % of the A100's 19.5 Tflop/s. */
static event run_chunk(program *self, int chunk)
{
    const int64_t rows = ROWS / CHUNKS;
    const int64_t halo = (chunk ? FILTER / 2 : 0) + (chunk < CHUNKS - 1 ? FILTER / 2 : 0);
    const double flop = 2.0 * FILTER * FILTER * (double)rows * COLUMNS;
    copy(self, COPY_IN, PINNED, (rows + halo) * ROW_BYTES, STREAM_IN);
    stream_waits(self, STREAM_COMPUTE, record(self, STREAM_IN));
    launch(self, NAME_CONVOLVE, rows * COLUMNS / 256, 48 * 24 * 4, 3000 + 1e9 * flop / 11.7e12,
           STREAM_COMPUTE);
    stream_waits(self, STREAM_OUT, record(self, STREAM_COMPUTE));
    copy(self, COPY_OUT, PINNED, rows * ROW_BYTES, STREAM_OUT);
    return record(self, STREAM_OUT);
}

static void run_frames(program *self, int frames)
{
    event done[BUFFERS] = {{0}};
    for (int i = 0; i < frames * CHUNKS; i++) {
        if (i >= BUFFERS)
            host_waits(self, done[i % BUFFERS]);
        done[i % BUFFERS] = run_chunk(self, i % CHUNKS);
        if (i % CHUNKS == CHUNKS - 1)
            copy(self, COPY_WITHIN, DEVICE, FILTER / 2 * ROW_BYTES, STREAM_COMPUTE);
    }
    device_synchronize(self);
}

static void run_program(program *self, int frames)
{
    const int64_t bins = 65536;
    for (int i = 0; i < 3; i++) {
        begin_call(self);
        end_call(self, NAME_MALLOC, 110e3, 0);
    }
    copy(self, COPY_IN, PAGEABLE, FILTER * FILTER * 4, STREAM_DEFAULT);
    copy(self, COPY_IN, PAGEABLE, INT64_C(8) << 20, STREAM_DEFAULT);
    set(self, bins * 4, STREAM_DEFAULT);
    run_frames(self, frames);
    for (int i = 0; i < frames; i++) {
        launch(self, NAME_HISTOGRAM, (int64_t)ROWS * COLUMNS / 4096, 4096, 182e3, STREAM_DEFAULT);
        copy(self, COPY_OUT, PAGEABLE, bins * 4, STREAM_DEFAULT);
    }
    device_synchronize(self);
}

/* A copy of 72 bytes to a symbol whose call takes 77 ms, with kernels one after another behind it:
 * the driver starts in it, before the first operation of the device, or loads a module between
 * kernels. */
static void run_late_driver(program *self, bool is_first)
{
    if (!is_first)
        launch(self, NAME_CONVOLVE, 4096, 0, 1.27e6, STREAM_DEFAULT);
    copy_called(self, NAME_MEMCPY_TO_SYMBOL, 77e6, COPY_IN, PAGEABLE, 72, STREAM_DEFAULT);
    for (int i = 0; i < 8; i++) {
        copy(self, COPY_IN, PAGEABLE, INT64_C(1) << 20, STREAM_DEFAULT);
        for (int k = 0; k < 10; k++)
            launch(self, NAME_CONVOLVE, 4096, 0, 1.27e6, STREAM_DEFAULT);
        device_synchronize(self);
    }
}

/* Calls of the driver between kernels of 1 ms: 20 ms of page-locking, 5 ms of cudaMalloc, 10 ms of
 * a module's loading and 5 ms of the program's own, four times. */
static void run_driver_calls(program *self)
{
    for (int i = 0; i < 4; i++) {
        launch(self, NAME_CONVOLVE, 4096, 0, 1e6, STREAM_COMPUTE);
        device_synchronize(self);
        begin_call(self);
        end_call(self, NAME_HOST_ALLOC, 20e6, 0);
        begin_call(self);
        end_call(self, NAME_MALLOC, 5e6, 0);
        begin_call(self);
        end_call(self, NAME_MODULE_LOAD, 10e6, 0);
        self->now_ns += 5000000;
    }
    launch(self, NAME_CONVOLVE, 4096, 0, 1e6, STREAM_COMPUTE);
    device_synchronize(self);
}

/* Short kernels of which nearly half start late for no reason that the profile records, as behind a
 * program of another process: no schedule gives the recorded times. */
static void run_uneven(program *self)
{
    for (int i = 0; i < 400; i++) {
        copy(self, COPY_IN, PINNED, 4096, STREAM_IN);
        launch(self, NAME_CONVOLVE, 4096, 0, 25e3, STREAM_COMPUTE);
        if (i % 9 < 4)
            self->stream_free[STREAM_COMPUTE] += 11000;
    }
    device_synchronize(self);
}

/* Between 0 and 1. */
static double chance(program *self)
{
    self->noise = self->noise * 1664525U + 1013904223U;
    return (double)(self->noise >> 8) / (1 << 24);
}

enum { LAUNCHES = 5000 };

/* Short kernels, launched by a host that is faster than the GPU until the queue is full: from then
 * on each launch waits for the end of a kernel. With `jitter` the host takes now less and now more
 * between two launches, and 100 us at times. */
static void fill_queue(program *self, int64_t depth, bool jitter)
{
    self->queue_depth = depth;
    for (int i = 0; i < LAUNCHES; i++) {
        if (jitter)
            self->now_ns += (int64_t)(chance(self) < 0.01 ? 100e3 : 3e3 * chance(self));
        launch(self, NAME_HISTOGRAM, 4096, 4096, jitter ? 20e3 * (0.5 + chance(self)) : 20e3,
               STREAM_COMPUTE);
    }
    device_synchronize(self);
}

/* As many launches without a limit, and now and then a call that takes long for its own reasons. */
static void fill_no_queue(program *self)
{
    for (int i = 0; i < LAUNCHES; i++) {
        launch(self, NAME_HISTOGRAM, 4096, 4096, 20e3, STREAM_COMPUTE);
        if (i % 100 == 99) {
            begin_call(self);
            end_call(self, NAME_MALLOC, 1e5 * chance(self), 0);
        }
        if (i % 500 == 499)
            device_synchronize(self);
    }
}

/* A memset whose code is loaded at its first call, 40 ms; later ones follow kernels. */
static void load_module(program *self)
{
    self->first_lag_ns = 40000000;
    set(self, 4096, STREAM_COMPUTE);
    self->first_lag_ns = 0;
    device_synchronize(self);
    for (int i = 0; i < 50; i++) {
        launch(self, NAME_HISTOGRAM, 4096, 4096, 1e6, STREAM_COMPUTE);
        set(self, 4096, STREAM_COMPUTE);
        device_synchronize(self);
    }
}

/* The usual program, in two frames, on a GPU whose clock is a day and two hours ahead. */
static void shift_clock(program *self)
{
    run_program(self, 2);
    check(self, sqlite3_exec(self->db,
                             "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start + 93600000000000,"
                             " end = end + 93600000000000;"
                             "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET start = start + 93600000000000,"
                             " end = end + 93600000000000;"
                             "UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET start = start + 93600000000000,"
                             " end = end + 93600000000000;"
                             "UPDATE CUPTI_ACTIVITY_KIND_CUDA_EVENT SET timestamp = timestamp +"
                             " 93600000000000",
                             NULL, NULL, NULL));
}

/* The usual program, in two frames, with the call stacks that --cudabacktrace=all records: of
 * copies, of launches and of waits; the frames of CUDA's own libraries among them. */
static void add_stacks(program *self)
{
    run_program(self, 2);
    check(self,
          sqlite3_exec(
              self->db,
              "CREATE TABLE CUDA_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL,"
              " module INTEGER NOT NULL, kernelMode INTEGER, thumbCode INTEGER,"
              " unresolved INTEGER, specialEntry INTEGER, originalIP INTEGER,"
              " unwindMethod INTEGER, stackDepth INTEGER NOT NULL, PRIMARY KEY (id, stackDepth));"
              "INSERT INTO StringIds VALUES (101, '0x7f72b45f088f'),"
              " (102, '/usr/lib64/libcuda.so.525.105.17'),"
              " (103, '/usr/local/cuda/lib64/libcudart.so.12'), (104, 'cudaMemcpyAsync'),"
              " (105, 'copy_chunk(float*, float const*, unsigned long)'),"
              " (106, '/home/user/convolve/libimage.so'), (107, 'run_chunk(frame&, int)'),"
              " (108, '/home/user/convolve/convolve'), (109, 'main'),"
              " (110, '__libc_start_main'), (111, '/lib64/libc-2.31.so'),"
              " (112, 'cudaLaunchKernel'), (113, 'wait_for_chunk(frame&, int)');"
              "INSERT INTO CUDA_CALLCHAINS (id, symbol, module, unresolved, stackDepth) VALUES"
              " (1, 101, 102, 1, 0), (1, 104, 103, NULL, 1), (1, 105, 106, NULL, 2),"
              " (1, 107, 108, NULL, 3), (1, 109, 108, NULL, 4), (1, 110, 111, NULL, 5),"
              " (2, 101, 102, 1, 0), (2, 112, 103, NULL, 1), (2, 107, 108, NULL, 2),"
              " (2, 109, 108, NULL, 3), (2, 110, 111, NULL, 4),"
              " (3, 113, 108, NULL, 0), (3, 109, 108, NULL, 1);"
              "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET callchainId = CASE nameId WHEN 2 THEN 1"
              " WHEN 4 THEN 2 WHEN 7 THEN 3 ELSE 0 END",
              NULL, NULL, NULL));
}

/* How the host comes to wait for a long kernel. */
typedef enum long_wait { WAIT_IN_SYNCHRONIZE, WAIT_IN_MEMCPY, WAIT_IN_LAUNCH } long_wait;

/* One kernel that is the whole run, three times, each within a call that blocks, and a small copy
 * of its result: by cudaDeviceSynchronize; by the copy, on the default stream, which waits for
 * other streams; by the launch itself (CUDA_LAUNCH_BLOCKING). */
static void run_long_kernel(program *self, long_wait how)
{
    for (int i = 0; i < 3; i++) {
        self->launch_blocks = how == WAIT_IN_LAUNCH;
        launch(self, NAME_HISTOGRAM, 4096, 4096, 100e6, STREAM_COMPUTE);
        if (how == WAIT_IN_SYNCHRONIZE)
            device_synchronize(self);
        if (how == WAIT_IN_MEMCPY)
            self->stream_free[STREAM_DEFAULT] = self->stream_free[STREAM_COMPUTE];
        copy(self, COPY_OUT, PAGEABLE, 4096, STREAM_DEFAULT);
    }
}

static bool run_case(program *self, const char *only)
{
    if (!strcmp(only, "full-queue"))
        fill_queue(self, 1022, false);
    else if (!strcmp(only, "full-queue-1000"))
        fill_queue(self, 1000, false);
    else if (!strcmp(only, "full-queue-jitter"))
        fill_queue(self, 1022, true);
    else if (!strcmp(only, "no-queue"))
        fill_no_queue(self);
    else if (!strcmp(only, "late-driver"))
        run_late_driver(self, true);
    else if (!strcmp(only, "late-module"))
        run_late_driver(self, false);
    else if (!strcmp(only, "driver-calls"))
        run_driver_calls(self);
    else if (!strcmp(only, "uneven"))
        run_uneven(self);
    else if (!strcmp(only, "long-synchronize"))
        run_long_kernel(self, WAIT_IN_SYNCHRONIZE);
    else if (!strcmp(only, "long-memcpy"))
        run_long_kernel(self, WAIT_IN_MEMCPY);
    else if (!strcmp(only, "long-launch"))
        run_long_kernel(self, WAIT_IN_LAUNCH);
    else if (!strcmp(only, "clock-off"))
        shift_clock(self);
    else if (!strcmp(only, "stacks"))
        add_stacks(self);
    else if (!strcmp(only, "module-load"))
        load_module(self);
    else
        return false;
    return true;
}

static void open_profile(program *self, const char *path)
{
    remove(path);
    check(self, sqlite3_open(path, &self->db));
    check(self, sqlite3_exec(self->db, schema, NULL, NULL, NULL));
    sqlite3_stmt *string = prepare(self, "INSERT INTO StringIds VALUES (?, ?)");
    for (int i = 1; i < NAMES; i++) {
        check(self, sqlite3_bind_int(string, 1, i));
        check(self, sqlite3_bind_text(string, 2, names[i], -1, SQLITE_STATIC));
        check(self, sqlite3_step(string));
        check(self, sqlite3_reset(string));
    }
    sqlite3_finalize(string);
    self->copy = prepare(
        self, "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId,"
              " correlationId, globalPid, bytes, copyKind, srcKind, dstKind, copyCount)"
              " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    self->memset = prepare(
        self, "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId,"
              " correlationId, globalPid, value, bytes, memKind)"
              " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    self->kernel = prepare(
        self, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId,"
              " correlationId, globalPid, demangledName, shortName, mangledName, launchType,"
              " cacheConfig, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ,"
              " staticSharedMemory, dynamicSharedMemory)"
              " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    self->call =
        prepare(self, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid,"
                      " correlationId, nameId, returnValue) VALUES (?, ?, ?, ?, ?, ?, ?)");
    self->sync = prepare(
        self, "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId,"
              " streamId, correlationId, globalPid, syncType, eventId, eventSyncId)"
              " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    self->event =
        prepare(self, "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp, deviceId, contextId,"
                      " streamId, correlationId, globalPid, eventId, eventSyncId)"
                      " VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
}

static void close_profile(program *self, int drop_count, char *const *drop)
{
    sqlite3_stmt *const statements[] = {self->copy, self->memset, self->kernel,
                                        self->call, self->sync,   self->event};
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++)
        sqlite3_finalize(statements[i]);
    for (int i = 0; i < drop_count; i++) {
        char *sql = sqlite3_mprintf("DROP TABLE \"%w\"", drop[i]);
        check(self, sqlite3_exec(self->db, sql, NULL, NULL, NULL));
        sqlite3_free(sql);
    }
    check(self, sqlite3_exec(self->db, "COMMIT", NULL, NULL, NULL));
    check(self, sqlite3_close(self->db));
}

int main(int argc, char **argv)
{
    int frames = 8;
    const char *only = NULL;
    for (; argc > 3 && argv[1][0] == '-'; argv += 2, argc -= 2) {
        if (!strcmp(argv[1], "-n"))
            frames = atoi(argv[2]);
        else if (!strcmp(argv[1], "-c"))
            only = argv[2];
        else
            break;
    }
    if (argc < 2 || argv[1][0] == '-' || frames < 1 || frames > 100000) {
        fputs("usage: make_profile [-n FRAMES | -c CASE] FILE [TABLE_TO_LEAVE_OUT...]\n", stderr);
        return 2;
    }
    int64_t kernel_ends[LAUNCHES];
    program self = {.now_ns = 250000000,
                    .correlation = 100,
                    .event_id = 1,
                    .event_sync_id = 1,
                    .kernel_ends = kernel_ends};
    open_profile(&self, argv[1]);
    if (!only) {
        run_program(&self, frames);
    } else if (!run_case(&self, only)) {
        fprintf(stderr, "make_profile: no case '%s'\n", only);
        return 2;
    }
    close_profile(&self, argc - 2, argv + 2);
    return 0;
}
