#include "synthetic.h"

#include <sqlite3.h>
#include <stdio.h>

enum { STREAMS = 16, NAMES = 200, CALL_NAMES = 2, STEP_NS = 2000, LATENCY_NS = 9000 };

static const char schema[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
    "CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE META_DATA_EXPORT(name TEXT NOT NULL, value TEXT);"
    "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION', '3.25.0');"
    "CREATE TABLE TARGET_INFO_GPU(vmId INTEGER, id INTEGER, name TEXT, memoryBandwidth INTEGER, "
    "clockRate INTEGER, smCount INTEGER, cuDevice INTEGER, asyncEngines INTEGER, computeMajor "
    "INTEGER, computeMinor INTEGER);"
    "INSERT INTO TARGET_INFO_GPU VALUES(0, 0, 'Synthetic', 2000000000000, 1400000000, 108, 0, 3, "
    "8, 0), (0, 1, 'Synthetic', 2000000000000, 1400000000, 108, 1, 3, 8, 0);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER NOT NULL, end INTEGER NOT NULL, "
    "deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, streamId "
    "INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind "
    "INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId "
    "INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause "
    "INTEGER, graphNodeId INTEGER, virtualAddress INTEGER, copyCount INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL, end INTEGER NOT NULL, "
    "deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, streamId "
    "INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, "
    "shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, "
    "registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ "
    "INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, "
    "staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, "
    "localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT "
    "NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER NOT NULL, end INTEGER NOT NULL, "
    "eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT "
    "NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);";

static const char insert_string[] =
    "INSERT INTO StringIds VALUES(?1, printf('void kernel_%d<float, 4>(float *, float const *, "
    "int)', ?1))";
static const char insert_copy[] =
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(?1, ?2, ?3, 1 + ?3, NULL, ?4, ?5, ?6, ?7, 1 + "
    "?5 "
    "% 2, NULL, 2 - ?5 % 2, 1 + ?5 % 2, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1)";
static const char insert_kernel[] =
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?1, ?2, ?3, 1 + ?3, NULL, ?4, ?5, ?6, ?7, ?7, "
    "?7, "
    "0, 0, 32, 1024 + ?7, 1, 1, 256, 1, 1, 0, 4096, 0, 0, ?5, 32768, NULL, 0)";
static const char insert_call[] =
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?1, ?2, 0, ?3, ?4, ?5, 0, NULL)";

static const int64_t process = INT64_C(281474976710656) + (INT64_C(4321) << 24);

typedef struct writer {
    sqlite3 *db;
    sqlite3_stmt *copy, *kernel, *call, *string;
} writer;

static bool run(sqlite3_stmt *stmt, const int64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        sqlite3_bind_int64(stmt, i + 1, values[i]);
    const bool done = sqlite3_step(stmt) == SQLITE_DONE;
    sqlite3_reset(stmt);
    return done;
}

static uint32_t scramble(int64_t number)
{
    uint64_t value = (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(value >> 40);
}

/* Operation `i` of all: its row, and its call's. Copies take 1 to 4 us, so the largest has 64 KiB:
 * a rate that no link has would make projections keep its recorded time. */
static bool write_operation(writer *self, const synthetic_mix *mix, int64_t i, bool is_copy)
{
    const uint32_t random = scramble(i);
    const int64_t call_ns = 1000000000 + i * STEP_NS;
    const int64_t start_ns = call_ns + LATENCY_NS + random % (4 * STEP_NS);
    const int64_t stream = random % STREAMS;
    const int64_t own = is_copy ? INT64_C(1024) << random % 7 : random % NAMES;
    const int64_t row[] = {
        start_ns, start_ns + 1000 + random % 3000, stream % 2, 7 + stream, i + 1, process, own};
    const int64_t call[] = {call_ns, call_ns + 900, process + 77, i + 1, NAMES + is_copy};
    return run(is_copy ? self->copy : self->kernel, row, 7) &&
           (!mix->calls || run(self->call, call, 5));
}

static bool write_all(writer *self, const synthetic_mix *mix)
{
    const int64_t total = mix->copies + mix->kernels;
    bool good = true;
    for (int64_t i = 0; good && i < NAMES + CALL_NAMES; i++)
        good = run(self->string, &i, 1);
    for (int64_t i = 0, copies = 0; good && i < total; i++) {
        const bool is_copy = copies * total < mix->copies * (i + 1);
        copies += is_copy;
        good = write_operation(self, mix, i, is_copy);
    }
    return good && sqlite3_exec(self->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

static bool prepare(sqlite3 *db, const char *sql, sqlite3_stmt **stmt)
{
    return sqlite3_prepare_v2(db, sql, -1, stmt, NULL) == SQLITE_OK;
}

bool synthetic_write(const char *path, const synthetic_mix *mix)
{
    writer self = {0};
    remove(path);
    const bool good = sqlite3_open(path, &self.db) == SQLITE_OK &&
                      sqlite3_exec(self.db, schema, NULL, NULL, NULL) == SQLITE_OK &&
                      prepare(self.db, insert_copy, &self.copy) &&
                      prepare(self.db, insert_kernel, &self.kernel) &&
                      prepare(self.db, insert_call, &self.call) &&
                      prepare(self.db, insert_string, &self.string) && write_all(&self, mix);
    if (!good)
        fprintf(stderr, "cannot write '%s': %s\n", path, sqlite3_errmsg(self.db));
    sqlite3_finalize(self.copy);
    sqlite3_finalize(self.kernel);
    sqlite3_finalize(self.call);
    sqlite3_finalize(self.string);
    sqlite3_close(self.db);
    return good;
}
