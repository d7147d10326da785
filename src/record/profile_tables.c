/* The profile as SQLite: its schema, one prepared insert for each kind of row, and the rows. Other
 * tools read these files as exports of Nsight Systems, so names and units are Nvidia's, not ours.
 * */
#include "record/profile_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "record/output_file.h"

/* Columns, their order and types as exports of schema 3.24 have them: see the SQLite Export Schema
 * Reference in the documentation of Nsight Systems. */
#define DEVICE_COLUMNS                                                                             \
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,"                     \
    " contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL,"              \
    " correlationId INTEGER, globalPid INTEGER,"

static const char schema[] =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);"
    "CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT,"
    " localTime TEXT, systemClockNs INTEGER);"
    "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
    "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT,"
    " busLocation TEXT, isDiscrete INTEGER, l2CacheSize INTEGER, totalMemory INTEGER,"
    " memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, pwGpuId INTEGER, uuid TEXT,"
    " chipName TEXT, cuDevice INTEGER, asyncEngines INTEGER, computeMajor INTEGER,"
    " computeMinor INTEGER);"
    "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL,"
    " pid INTEGER NOT NULL, uuid TEXT, numMultiprocessors INTEGER);"
    "CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INTEGER NOT NULL, hwId INTEGER NOT NULL,"
    " vmId INTEGER NOT NULL, processId INTEGER NOT NULL, contextId INTEGER NOT NULL,"
    " priority INTEGER NOT NULL, flag INTEGER NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (" DEVICE_COLUMNS
    " bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER,"
    " srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER,"
    " dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER,"
    " virtualAddress INTEGER, copyCount INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (" DEVICE_COLUMNS
    " value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (" DEVICE_COLUMNS
    " demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,"
    " launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL,"
    " gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,"
    " blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL,"
    " staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL,"
    " localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL,"
    " gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER,"
    " sharedMemoryLimitConfig INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER,"
    " nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (" DEVICE_COLUMNS
    " deprecatedSyncType INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL,"
    " eventSyncId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp INTEGER, deviceId INTEGER NOT NULL,"
    " contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL,"
    " correlationId INTEGER, globalPid INTEGER, eventId INTEGER NOT NULL, eventSyncId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER,"
    " overheadType INTEGER NOT NULL);"
    "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'haul record'),"
    " ('EXPORT_PRODUCT_VERSION', '" HAUL_VERSION "'), ('EXPORT_SCHEMA_VERSION', '3.24.14'),"
    " ('EXPORT_SCHEMA_VERSION_MAJOR', '3'), ('EXPORT_SCHEMA_VERSION_MINOR', '24'),"
    " ('EXPORT_SCHEMA_VERSION_MICRO', '14');";

/* Beside Nsight's own, what tells of a call of MPI which calls of other processes it met: their
 * ranks and this one are of MPI_COMM_WORLD, the communicator has one number on all. */
#define MPI_COLUMNS " haulWay INTEGER, haulCommSize INTEGER, haulRank INTEGER"

static const char mpi_schema[] =
    "CREATE TABLE MPI_P2P_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " globalTid INTEGER, textId INTEGER, commHandle INTEGER, tag INTEGER, remoteRank INTEGER,"
    " size INTEGER, requestHandle INTEGER," MPI_COLUMNS ");"
    "CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " globalTid INTEGER, textId INTEGER, commHandle INTEGER, rootRank INTEGER, size INTEGER,"
    " requestHandle INTEGER," MPI_COLUMNS ");"
    "CREATE TABLE MPI_START_WAIT_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " globalTid INTEGER, textId INTEGER, requestHandle INTEGER);"
    "CREATE TABLE MPI_OTHER_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " globalTid INTEGER, textId INTEGER);"
    "CREATE TABLE MPI_RANKS (globalPid INTEGER, rank INTEGER);";

/* The first eight parameters are common where a table has them: see bind_place. */
static const char *const inserts[HL_RECORD_TABLE_STATEMENTS] = {
    [HL_RECORD_COPY] =
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId,"
        " correlationId, globalPid, bytes, copyKind, srcKind, dstKind, srcDeviceId, dstDeviceId,"
        " migrationCause, copyCount) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"
        " ?13, ?14, 1)",
    [HL_RECORD_SET] =
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId,"
        " correlationId, globalPid, bytes, value, memKind) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
        " ?9, ?10)",
    [HL_RECORD_KERNEL] =
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId,"
        " correlationId, globalPid, demangledName, shortName, mangledName, launchType,"
        " registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory,"
        " dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId) VALUES (?1, ?2, ?3,"
        " ?4, ?5, ?6, ?7, ?8, ?9, ?8, 1, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, 0, 0, 0)",
    [HL_RECORD_CALL] =
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId,"
        " nameId, returnValue, callchainId) VALUES (?1, ?2, 0, ?3, ?6, ?4, ?5, ?7)",
    [HL_RECORD_SYNC] =
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId,"
        " streamId, correlationId, globalPid, syncType, eventId, eventSyncId) VALUES (?1, ?2, ?3,"
        " ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [HL_RECORD_EVENT] =
        "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp, deviceId, contextId, streamId,"
        " correlationId, globalPid, eventId, eventSyncId) VALUES (?1, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [HL_RECORD_OVERHEAD] =
        "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD (start, end, eventClass, globalTid,"
        " correlationId, nameId, overheadType) VALUES (?1, ?2, 0, ?3, ?6, ?4, ?5)",
    [HL_RECORD_MPI_MESSAGE] =
        "INSERT INTO MPI_P2P_EVENTS (start, end, globalTid, textId, commHandle, tag, remoteRank,"
        " size, requestHandle, haulWay, haulCommSize, haulRank) VALUES (?1, ?2, ?3, ?4, ?5, ?6,"
        " ?7, ?8, ?9, ?10, ?11, ?12)",
    [HL_RECORD_MPI_COLLECTIVE] =
        "INSERT INTO MPI_COLLECTIVES_EVENTS (start, end, globalTid, textId, commHandle, rootRank,"
        " size, requestHandle, haulWay, haulCommSize, haulRank) VALUES (?1, ?2, ?3, ?4, ?5, ?7,"
        " ?8, ?9, ?10, ?11, ?12)",
    [HL_RECORD_MPI_WAIT] =
        "INSERT INTO MPI_START_WAIT_EVENTS (start, end, globalTid, textId, requestHandle)"
        " VALUES (?1, ?2, ?3, ?4, ?9)",
    [HL_RECORD_MPI_OTHER] =
        "INSERT INTO MPI_OTHER_EVENTS (start, end, globalTid, textId) VALUES (?1, ?2, ?3, ?4)",
    [HL_RECORD_MPI_RANK] = "INSERT INTO MPI_RANKS VALUES (?1, ?2)",
    [HL_RECORD_TABLE_STRING] = "INSERT OR REPLACE INTO StringIds VALUES (?1, ?2)",
    [HL_RECORD_TABLE_PROCESS] = "INSERT INTO PROCESSES VALUES (?1, ?2, ?3)",
    [HL_RECORD_TABLE_DEVICE] =
        "INSERT INTO TARGET_INFO_GPU (vmId, id, name, busLocation, isDiscrete, l2CacheSize,"
        " totalMemory, memoryBandwidth, clockRate, smCount, uuid, cuDevice, asyncEngines,"
        " computeMajor, computeMinor) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?2,"
        " ?12, ?13, ?14)",
    [HL_RECORD_TABLE_DEVICE_MAP] =
        "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (?1, ?1, ?2, ?3, ?4)",
    [HL_RECORD_TABLE_STREAM] =
        "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (?1, 0, ?2, ?3, ?4, 0, 0)",
    [HL_RECORD_TABLE_NOTE] = "INSERT INTO META_DATA_CAPTURE VALUES (?1, ?2)",
};

enum {
    FIRST_OWN = 8, /* parameter after the common ones */
    MOST_OWN = 11, /* a kernel's */
};

/* Nsight's number of this machine, above the process's 24 bits and the thread's. */
static const uint64_t machine = UINT64_C(1) << 48;

/* SQLite's words, and the system's behind them: "disk I/O error" alone does not tell a full disk.
 * */
haul_status hl_record_profile_tables_fail(hl_record_profile_tables *self, int code,
                                          haul_error *error)
{
    const char *what = self->db ? sqlite3_errmsg(self->db) : sqlite3_errstr(code);
    const int system = self->db ? sqlite3_system_errno(self->db) : 0;
    char reason[128] = "";
    if (system && strerror_r(system, reason, sizeof reason))
        reason[0] = '\0';
    haul_error_set(error, (code & 0xff) == SQLITE_NOMEM ? HAUL_STATUS_NO_MEMORY : HAUL_STATUS_IO,
                   "cannot write: %s%s%s", what, reason[0] ? ", " : "", reason);
    hl_base_error_in_file(error, self->path);
    return error ? error->status : HAUL_STATUS_IO;
}

/* The bindings stay: every insert binds all that it has. */
static int step_row(sqlite3_stmt *statement)
{
    const int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code;
}

/* The text is used up by the step that follows, so it is not copied. */
static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC); /* NULL binds NULL */
}

/* A figure that is 0 is not known. */
static void bind_figure(sqlite3_stmt *statement, int at, uint64_t value)
{
    if (value)
        sqlite3_bind_int64(statement, at, (sqlite3_int64)value);
    else
        sqlite3_bind_null(statement, at);
}

int hl_record_profile_tables_run(hl_record_profile_tables *self, const char *sql)
{
    return sqlite3_exec(self->db, sql, NULL, NULL, NULL);
}

/* Time 0 in universal time, from both clocks at this moment: readers put recordings of several
 * machines side by side by it. */
static int say_start(hl_record_profile_tables *self)
{
    struct timespec utc, now;
    char text[32] = "";
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &utc);
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t since_ns =
        (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec - self->start_ns;
    const int64_t utc_ns = (int64_t)utc.tv_sec * INT64_C(1000000000) + utc.tv_nsec - since_ns;
    const time_t seconds = (time_t)(utc_ns / INT64_C(1000000000));
    if (!gmtime_r(&seconds, &parts) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts))
        text[0] = '\0';
    char sql[256];
    snprintf(sql, sizeof sql,
             "INSERT INTO TARGET_INFO_SESSION_START_TIME (utcEpochNs, utcTime, systemClockNs)"
             " VALUES (%" PRId64 ", '%s', %" PRId64 ")",
             utc_ns, text, self->start_ns);
    return hl_record_profile_tables_run(self, sql);
}

/* The machine's name, as Nsight Systems says it; a machine without one is no reason to stop. */
static int say_host(hl_record_profile_tables *self)
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) || !*host)
        return SQLITE_OK;
    char *const sql =
        sqlite3_mprintf("CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT,"
                        " name TEXT, nameEnum INTEGER, value TEXT);"
                        "INSERT INTO TARGET_INFO_SYSTEM_ENV (devStateName, name, value)"
                        " VALUES ('Local (CLI)', 'Hostname', %Q)",
                        host);
    const int code = sql ? hl_record_profile_tables_run(self, sql) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

/* The rank tells the files of one job from those of a program that ran twice. */
static int say_rank(hl_record_profile_tables *self)
{
    const char *const rank = hl_record_mpi_rank();
    if (!rank)
        return SQLITE_OK;
    char *const sql = sqlite3_mprintf("CREATE TABLE HAUL_ORIGIN (rank INTEGER);"
                                      "INSERT INTO HAUL_ORIGIN VALUES (CAST(%Q AS INTEGER))",
                                      rank);
    const int code = sql ? hl_record_profile_tables_run(self, sql) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

static int prepare(hl_record_profile_tables *self, int row)
{
    return sqlite3_prepare_v3(self->db, inserts[row], -1, SQLITE_PREPARE_PERSISTENT,
                              &self->insert[row], NULL);
}

static bool is_of_mpi(int row)
{
    return row >= HL_RECORD_MPI_MESSAGE && row <= HL_RECORD_MPI_RANK;
}

/* With the first row: other profiles have no such tables. */
static int make_mpi_tables(hl_record_profile_tables *self)
{
    int code = hl_record_profile_tables_run(self, mpi_schema);
    for (int i = HL_RECORD_MPI_MESSAGE; code == SQLITE_OK && i <= HL_RECORD_MPI_RANK; i++)
        code = prepare(self, i);
    return code;
}

/* The page cache survives a killed process, so nothing needs to wait for the disk. The log stays
 * beside the file while it is written; exclusive, so that it works on file systems of a network,
 * without shared memory. */
static int make_file(hl_record_profile_tables *self)
{
    int code =
        sqlite3_open_v2(self->path, &self->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = hl_record_profile_tables_run(
            self, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
                  "PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 4000; BEGIN");
    if (code == SQLITE_OK)
        code = hl_record_profile_tables_run(self, schema);
    if (code == SQLITE_OK) /* until the recording has ended in order */
        code = hl_record_profile_tables_run(
            self, "INSERT INTO META_DATA_CAPTURE VALUES ('HAUL:INCOMPLETE', 'haul was ended"
                  " before the program')");
    if (code == SQLITE_OK)
        code = say_start(self);
    if (code == SQLITE_OK)
        code = say_host(self);
    if (code == SQLITE_OK)
        code = say_rank(self);
    if (code == SQLITE_OK)
        code = hl_record_profile_tables_run(self, "COMMIT");
    for (int i = 0; code == SQLITE_OK && i < HL_RECORD_TABLE_STATEMENTS; i++)
        code = is_of_mpi(i) ? SQLITE_OK : prepare(self, i);
    return code;
}

haul_status hl_record_profile_tables_open(hl_record_profile_tables *self, const char *path,
                                          int64_t start_ns, haul_error *error)
{
    *self = (hl_record_profile_tables){.path = path, .start_ns = start_ns};
    const int code = make_file(self);
    if (code == SQLITE_OK)
        return HAUL_OK;
    const haul_status status = hl_record_profile_tables_fail(self, code, error);
    hl_record_profile_tables_close(self);
    return status;
}

void hl_record_profile_tables_close(hl_record_profile_tables *self)
{
    for (int i = 0; i < HL_RECORD_TABLE_STATEMENTS; i++)
        sqlite3_finalize(self->insert[i]);
    if (self->db)
        hl_record_profile_tables_run(self, "PRAGMA journal_mode = DELETE");
    sqlite3_close(self->db);
    *self = (hl_record_profile_tables){0};
}

#define COUNT(values) (int)(sizeof(values) / sizeof(values)[0])

/* SQLite's integers are signed: NO_ID and sizes fit, and a value above is none of a profile's. */
static void bind_numbers(sqlite3_stmt *statement, int at, const uint64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        sqlite3_bind_int64(statement, at + i, (sqlite3_int64)values[i]);
}

/* A kind's own values, in the order of its insert's parameters; returns how many. */
static int own_values(const hl_record *record, uint64_t *to)
{
    const uint32_t device = record->device;
    switch (record->kind) {
    case HL_RECORD_COPY: {
        const uint32_t source = record->copy.source_device, target = record->copy.target_device;
        to[0] = record->copy.bytes;
        to[1] = record->copy.copy_kind;
        to[2] = record->copy.source_kind;
        to[3] = record->copy.target_kind;
        to[4] = source == HL_RECORD_PROFILE_NO_ID ? device : source;
        to[5] = target == HL_RECORD_PROFILE_NO_ID ? device : target;
        return 6;
    }
    case HL_RECORD_SET:
        to[0] = record->set.bytes;
        to[1] = record->set.value;
        to[2] = record->set.memory_kind;
        return 3;
    case HL_RECORD_KERNEL:
        to[0] = record->kernel.name;
        to[1] = record->kernel.short_name ? record->kernel.short_name : record->kernel.name;
        to[2] = record->kernel.registers;
        for (int i = 0; i < 3; i++) {
            to[3 + i] = record->kernel.grid[i];
            to[6 + i] = record->kernel.block[i];
        }
        to[9] = record->kernel.static_shared_bytes;
        to[10] = record->kernel.dynamic_shared_bytes;
        return 11;
    case HL_RECORD_SYNC:
        to[0] = record->sync.type;
        to[1] = record->sync.event;
        to[2] = record->sync.sync_id;
        return 3;
    case HL_RECORD_EVENT:
        to[0] = record->event.event;
        to[1] = record->event.sync_id;
        return 2;
    default:
        return 0;
    }
}

/* Rows of a host thread. */
static void bind_on_thread(sqlite3_stmt *statement, hl_record_profile_process process,
                           uint32_t thread, uint32_t name, int64_t last)
{
    sqlite3_bind_int64(statement, 3, process.id | (thread & 0xffffff));
    bind_figure(statement, 4, name);
    sqlite3_bind_int64(statement, 5, last);
}

static int add_mpi_call(hl_record_profile_tables *self, hl_record_profile_process process,
                        const hl_record *record)
{
    sqlite3_stmt *const statement = self->insert[record->kind];
    const int64_t own[] = {record->mpi.comm,           record->mpi.tag,     record->mpi.peer,
                           (int64_t)record->mpi.bytes, record->mpi.request, record->mpi.way,
                           record->mpi.comm_size,      record->mpi.rank};
    sqlite3_bind_int64(statement, 1, record->start_ns - self->start_ns);
    sqlite3_bind_int64(statement, 2, record->end_ns - self->start_ns);
    sqlite3_bind_int64(statement, 3, process.id | (record->mpi.thread & 0xffffff));
    bind_figure(statement, 4, record->mpi.name);
    for (int i = 0; i < COUNT(own); i++)
        sqlite3_bind_int64(statement, 5 + i, own[i]);
    return step_row(statement);
}

static int add_mpi_row(hl_record_profile_tables *self, hl_record_profile_process process,
                       const hl_record *record)
{
    const int code = self->insert[record->kind] ? SQLITE_OK : make_mpi_tables(self);
    if (code != SQLITE_OK)
        return code;
    if (record->kind != HL_RECORD_MPI_RANK)
        return add_mpi_call(self, process, record);
    sqlite3_bind_int64(self->insert[record->kind], 1, process.id);
    sqlite3_bind_int64(self->insert[record->kind], 2, record->mpi.rank);
    return step_row(self->insert[record->kind]);
}

int hl_record_profile_tables_add(hl_record_profile_tables *self, hl_record_profile_process process,
                                 const hl_record *record)
{
    if ((unsigned)record->kind >= HL_RECORD_KINDS)
        return SQLITE_OK;
    sqlite3_stmt *statement = self->insert[record->kind];
    if (is_of_mpi(record->kind))
        return add_mpi_row(self, process, record);
    /* An event without a time has 0, which readers take as unknown. */
    const bool timed = record->kind != HL_RECORD_EVENT || record->start_ns;
    sqlite3_bind_int64(statement, 1, timed ? record->start_ns - self->start_ns : 0);
    if (record->kind != HL_RECORD_EVENT)
        sqlite3_bind_int64(statement, 2, record->end_ns - self->start_ns);
    bind_figure(statement, 6, record->correlation);
    if (record->kind == HL_RECORD_CALL) {
        bind_on_thread(statement, process, record->call.thread, record->call.name,
                       record->call.result);
        bind_figure(statement, 7, record->call.stack);
    } else if (record->kind == HL_RECORD_OVERHEAD)
        bind_on_thread(statement, process, record->overhead.thread, record->overhead.name,
                       record->overhead.type);
    else {
        /* Rows of a device. The migration's cause is the one own value that may be unknown, which
         * is NULL.
         */
        uint64_t values[MOST_OWN];
        const int count = own_values(record, values);
        sqlite3_bind_int64(statement, 3, record->device);
        sqlite3_bind_int64(statement, 4, record->context);
        sqlite3_bind_int64(statement, 5, record->stream);
        sqlite3_bind_int64(statement, 7, process.id);
        bind_numbers(statement, FIRST_OWN, values, count);
        if (record->kind == HL_RECORD_COPY)
            bind_figure(statement, FIRST_OWN + count, record->copy.migration_cause);
    }
    return step_row(statement);
}

/* As nsys makes it: the machine's number above 24 bits of the process and 24 of a thread. */
hl_record_profile_process hl_record_profile_process_of(int64_t pid, unsigned before)
{
    return (hl_record_profile_process){
        .id = (1 + (int64_t)before) << 48 | (pid & 0xffffff) << 24,
        .pid = pid,
    };
}

int hl_record_profile_tables_string(hl_record_profile_tables *self, uint32_t id, const char *text)
{
    sqlite3_bind_int64(self->insert[HL_RECORD_TABLE_STRING], 1, id);
    bind_text(self->insert[HL_RECORD_TABLE_STRING], 2, text);
    return step_row(self->insert[HL_RECORD_TABLE_STRING]);
}

/* Units are nsys's: bytes, bytes a second, Hz. */
int hl_record_profile_tables_device(hl_record_profile_tables *self,
                                    const hl_record_profile_device *device)
{
    const uint64_t figures[] = {device->l2_bytes, device->memory_bytes,
                                device->memory_bandwidth_Bps, device->clock_Hz,
                                device->multiprocessors};
    bind_numbers(self->insert[HL_RECORD_TABLE_DEVICE], 1, (const uint64_t[]){machine, device->id},
                 2);
    bind_text(self->insert[HL_RECORD_TABLE_DEVICE], 3, device->name);
    bind_text(self->insert[HL_RECORD_TABLE_DEVICE], 4, device->bus);
    sqlite3_bind_int(self->insert[HL_RECORD_TABLE_DEVICE], 5, device->discrete);
    for (int i = 0; i < COUNT(figures); i++)
        bind_figure(self->insert[HL_RECORD_TABLE_DEVICE], 6 + i, figures[i]);
    bind_text(self->insert[HL_RECORD_TABLE_DEVICE], 11, device->uuid);
    bind_figure(self->insert[HL_RECORD_TABLE_DEVICE], 12, device->copy_engines);
    bind_figure(self->insert[HL_RECORD_TABLE_DEVICE], 13, device->compute_major);
    bind_figure(self->insert[HL_RECORD_TABLE_DEVICE], 14, device->compute_minor);
    return step_row(self->insert[HL_RECORD_TABLE_DEVICE]);
}

int hl_record_profile_tables_device_of(hl_record_profile_tables *self,
                                       hl_record_profile_process process,
                                       const hl_record_profile_device *device)
{
    bind_numbers(self->insert[HL_RECORD_TABLE_DEVICE_MAP], 1,
                 (const uint64_t[]){device->id, (uint64_t)process.pid & 0xffffff}, 2);
    bind_text(self->insert[HL_RECORD_TABLE_DEVICE_MAP], 3, device->uuid);
    bind_figure(self->insert[HL_RECORD_TABLE_DEVICE_MAP], 4, device->multiprocessors);
    return step_row(self->insert[HL_RECORD_TABLE_DEVICE_MAP]);
}

/* Hardware queues, priorities and flags are not known: 0. */
int hl_record_profile_tables_stream(hl_record_profile_tables *self,
                                    hl_record_profile_process process, uint32_t context,
                                    uint32_t stream)
{
    const uint64_t values[] = {stream, machine, (uint64_t)process.pid, context};
    bind_numbers(self->insert[HL_RECORD_TABLE_STREAM], 1, values, COUNT(values));
    return step_row(self->insert[HL_RECORD_TABLE_STREAM]);
}

int hl_record_profile_tables_process(hl_record_profile_tables *self,
                                     hl_record_profile_process process, const char *program)
{
    bind_numbers(self->insert[HL_RECORD_TABLE_PROCESS], 1,
                 (const uint64_t[]){(uint64_t)process.id, (uint64_t)process.pid}, 2);
    bind_text(self->insert[HL_RECORD_TABLE_PROCESS], 3, program);
    return step_row(self->insert[HL_RECORD_TABLE_PROCESS]);
}

/* Notes may be said again with other values, so the old one goes first. The name is the program's
 * to choose, hence quoted. */
int hl_record_profile_tables_note(hl_record_profile_tables *self, const char *name,
                                  const char *value)
{
    char *sql = sqlite3_mprintf("DELETE FROM META_DATA_CAPTURE WHERE name = %Q", name);
    const int code = sql ? hl_record_profile_tables_run(self, sql) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (code != SQLITE_OK || !value)
        return code;
    bind_text(self->insert[HL_RECORD_TABLE_NOTE], 1, name);
    bind_text(self->insert[HL_RECORD_TABLE_NOTE], 2, value);
    return step_row(self->insert[HL_RECORD_TABLE_NOTE]);
}
