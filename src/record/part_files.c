#include "record/part_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/strings.h"

enum { BUSY_MS = 2000, LONGEST_PATH = 4096 };

/* --- names */

typedef struct split_path {
    char folder[LONGEST_PATH];
    const char *name;
} split_path;

static void split(const char *path, split_path *parts)
{
    const char *slash = strrchr(path, '/');
    parts->name = slash ? slash + 1 : path;
    const int length = slash ? (int)(slash - path) : 1;
    snprintf(parts->folder, sizeof parts->folder, "%.*s", length ? length : 1,
             slash && length ? path
             : slash         ? "/"
                             : ".");
}

/* NAME-123 or NAME-123.1, and their logs where those are wanted. */
static bool is_part(const char *name, const char *of, bool with_logs)
{
    const size_t length = strlen(of);
    if (strncmp(name, of, length) != 0 || name[length] != '-')
        return false;
    const char *rest = name + length + 1;
    const size_t digits = strspn(rest, "0123456789.");
    rest += digits;
    if (digits && !*rest)
        return true;
    return with_logs && digits && (!strcmp(rest, "-wal") || !strcmp(rest, "-shm"));
}

static void list_parts(const char *path, bool with_logs, haul_strings *found)
{
    split_path parts;
    split(path, &parts);
    DIR *folder = opendir(parts.folder);
    if (!folder)
        return;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char name[2 * LONGEST_PATH];
        if (!is_part(entry->d_name, parts.name, with_logs))
            continue;
        snprintf(name, sizeof name, "%s/%s", parts.folder, entry->d_name);
        haul_strings_add(found, name, strlen(name));
    }
    closedir(folder);
}

/* --- before */

/* Nothing, an empty file or a database: a path that was mistyped must not cost a file. */
static haul_status check_replaceable(const char *path, haul_error *error)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    struct stat facts;
    if (stat(path, &facts))
        return errno == ENOENT ? HAUL_OK : haul_fail_open(error, path);
    if (!S_ISREG(facts.st_mode))
        return haul_fail(error, HAUL_IO, "cannot write '%.300s': not a file", path);
    FILE *file = facts.st_size ? fopen(path, "rbe") : NULL;
    if (!file)
        return facts.st_size ? haul_fail_open(error, path) : HAUL_OK;
    const size_t length = fread(head, 1, sizeof head, file);
    fclose(file);
    if (length == sizeof head && !memcmp(head, magic, sizeof head))
        return HAUL_OK;
    return haul_fail(error, HAUL_IO, "will not replace '%.300s': it is no profile", path);
}

static void remove_beside(const char *path, const char *suffix)
{
    char name[LONGEST_PATH];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    unlink(name);
}

haul_status haul_parts_clear(const char *path, haul_error *error)
{
    const haul_status status = check_replaceable(path, error);
    if (status)
        return status;
    if (unlink(path) && errno != ENOENT)
        return haul_fail_open(error, path);
    remove_beside(path, "-wal");
    remove_beside(path, "-shm");
    remove_beside(path, "-journal");
    haul_strings parts = {0};
    list_parts(path, true, &parts);
    for (size_t i = 0; i < parts.count; i++)
        unlink(parts.texts[i]);
    haul_strings_release(&parts);
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return haul_fail_open(error, path);
    close(file);
    unlink(path);
    return HAUL_OK;
}

/* --- after */

static haul_status fail_sqlite(sqlite3 *db, const char *path, haul_error *error)
{
    haul_fail(error, HAUL_IO, "cannot finish the profile: %s", sqlite3_errmsg(db));
    haul_error_in_file(error, path);
    return HAUL_IO;
}

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

/* Opens the file, which also takes in the log of a process that was killed. */
static int open_database(const char *path, sqlite3 **db)
{
    int code = sqlite3_open_v2(path, db, SQLITE_OPEN_READWRITE, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_busy_timeout(*db, BUSY_MS);
    return code == SQLITE_OK ? sqlite3_exec(*db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL)
                             : code;
}

/* A device of the other process that is one of ours by all that is known keeps its number; another
 * gets a new one. */
static const char join_devices[] =
    "CREATE TEMP TABLE device_of AS SELECT p.id AS old, coalesce("
    "  (SELECT m.id FROM main.TARGET_INFO_GPU m WHERE m.id = p.id AND m.name IS p.name AND m.uuid "
    "IS"
    "   p.uuid AND m.busLocation IS p.busLocation),"
    "  (SELECT m.id FROM main.TARGET_INFO_GPU m WHERE m.uuid = p.uuid),"
    "  (SELECT p.id WHERE NOT EXISTS (SELECT 1 FROM main.TARGET_INFO_GPU m WHERE m.id = p.id)),"
    "  (SELECT 1 + max(id) FROM main.TARGET_INFO_GPU) + p.id) AS new FROM part.TARGET_INFO_GPU p;"
    "INSERT INTO main.TARGET_INFO_GPU SELECT vmId, new, name, busLocation, isDiscrete, l2CacheSize,"
    " totalMemory, memoryBandwidth, clockRate, smCount, pwGpuId, uuid, chipName, new,"
    " asyncEngines, computeMajor, computeMinor FROM part.TARGET_INFO_GPU JOIN device_of ON old = id"
    " WHERE new NOT IN (SELECT id FROM main.TARGET_INFO_GPU);"
    "INSERT INTO main.TARGET_INFO_CUDA_DEVICE SELECT new, new, pid, uuid, numMultiprocessors"
    " FROM part.TARGET_INFO_CUDA_DEVICE JOIN device_of ON old = gpuId;";

/* Two recorders of one process, of OpenCL and of CUDA, write a file each, and a process's number
 * may be given again: such are told apart by what is above it. */
static const char join_processes[] =
    "CREATE TEMP TABLE process_of AS SELECT globalPid AS old, globalPid + (SELECT count(*) FROM"
    " main.PROCESSES m WHERE m.pid = p.pid) * (1 << 48) AS new FROM part.PROCESSES p;"
    "UPDATE part.PROCESSES SET globalPid = (SELECT new FROM process_of);";

/* What names a device, a process. */
static const struct {
    const char *table;
    bool has_place, is_copy; /* columns of devices; of a copy's two */
    const char *process;
} joined[] = {
    {"CUPTI_ACTIVITY_KIND_MEMCPY", true, true, "globalPid"},
    {"CUPTI_ACTIVITY_KIND_MEMSET", true, false, "globalPid"},
    {"CUPTI_ACTIVITY_KIND_KERNEL", true, false, "globalPid"},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", true, false, "globalPid"},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT", true, false, "globalPid"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", false, false, "globalTid"},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD", false, false, "globalTid"},
};

static int renumber_device(sqlite3 *db, const char *table, const char *column)
{
    char *sql = sqlite3_mprintf("UPDATE part.%w SET %w = (SELECT new FROM device_of WHERE old = %w)"
                                " WHERE %w IN (SELECT old FROM device_of WHERE old <> new)",
                                table, column, column, column);
    const int code = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

static int renumber_process(sqlite3 *db, const char *table, const char *column)
{
    char *sql = sqlite3_mprintf("UPDATE part.%w SET %w = %w + (SELECT new - old FROM process_of)"
                                " WHERE (SELECT new <> old FROM process_of)",
                                table, column, column);
    const int code = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

static int renumber(sqlite3 *db)
{
    int code = SQLITE_OK;
    for (size_t i = 0; code == SQLITE_OK && i < sizeof joined / sizeof joined[0]; i++) {
        const char *table = joined[i].table;
        code = renumber_process(db, table, joined[i].process);
        if (code == SQLITE_OK && joined[i].has_place)
            code = renumber_device(db, table, "deviceId");
        if (code == SQLITE_OK && joined[i].is_copy)
            code = renumber_device(db, table, "srcDeviceId");
        if (code == SQLITE_OK && joined[i].is_copy)
            code = renumber_device(db, table, "dstDeviceId");
    }
    return code == SQLITE_OK
               ? sqlite3_exec(db, "DROP TABLE device_of; DROP TABLE process_of", NULL, NULL, NULL)
               : code;
}

/* Names of the other process come after ours. */
static const char join_rows[] =
    "CREATE TEMP TABLE shift AS SELECT coalesce(max(id), 0) AS by FROM main.StringIds;"
    "INSERT INTO main.StringIds SELECT id + by, value FROM part.StringIds, shift;"
    "UPDATE part.CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = demangledName + (SELECT by FROM"
    " shift), shortName = shortName + (SELECT by FROM shift), mangledName = mangledName + (SELECT"
    " by FROM shift);"
    "UPDATE part.CUPTI_ACTIVITY_KIND_RUNTIME SET nameId = nameId + (SELECT by FROM shift);"
    "UPDATE part.CUPTI_ACTIVITY_KIND_OVERHEAD SET nameId = nameId + (SELECT by FROM shift);"
    "INSERT INTO main.CUPTI_ACTIVITY_KIND_MEMCPY SELECT * FROM part.CUPTI_ACTIVITY_KIND_MEMCPY;"
    "INSERT INTO main.CUPTI_ACTIVITY_KIND_MEMSET SELECT * FROM part.CUPTI_ACTIVITY_KIND_MEMSET;"
    "INSERT INTO main.CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM part.CUPTI_ACTIVITY_KIND_KERNEL;"
    "INSERT INTO main.CUPTI_ACTIVITY_KIND_RUNTIME SELECT * FROM part.CUPTI_ACTIVITY_KIND_RUNTIME;"
    "INSERT INTO main.CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SELECT * FROM"
    " part.CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;"
    "INSERT INTO main.CUPTI_ACTIVITY_KIND_CUDA_EVENT SELECT * FROM"
    " part.CUPTI_ACTIVITY_KIND_CUDA_EVENT;"
    "INSERT INTO main.CUPTI_ACTIVITY_KIND_OVERHEAD SELECT * FROM"
    " part.CUPTI_ACTIVITY_KIND_OVERHEAD;"
    "INSERT INTO main.TARGET_INFO_CUDA_STREAM SELECT * FROM part.TARGET_INFO_CUDA_STREAM;"
    "INSERT INTO main.META_DATA_CAPTURE SELECT name || ':' || (SELECT pid FROM part.PROCESSES),"
    " value FROM part.META_DATA_CAPTURE;"
    "INSERT INTO main.PROCESSES SELECT * FROM part.PROCESSES;"
    "DROP TABLE shift;";

static haul_status join_part(sqlite3 *db, const char *part, haul_error *error)
{
    sqlite3 *own = NULL; /* so that its log is taken in first */
    int code = open_database(part, &own);
    haul_status status = code == SQLITE_OK ? HAUL_OK : fail_sqlite(own, part, error);
    sqlite3_close(own);
    if (status)
        return status;
    char *attach = sqlite3_mprintf("ATTACH %Q AS part; BEGIN", part);
    code = attach ? sqlite3_exec(db, attach, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(attach);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, join_devices, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, join_processes, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = renumber(db);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, join_rows, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    if (code != SQLITE_OK)
        status = fail_sqlite(db, part, error);
    if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_exec(db, "DETACH part", NULL, NULL, NULL);
    if (!status)
        unlink(part);
    return status;
}

static void count(sqlite3 *db, haul_recording *recording)
{
    recording->operations =
        (uint64_t)ask(db,
                      "SELECT (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY) +"
                      " (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMSET) +"
                      " (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL)",
                      0);
    recording->processes = (unsigned)ask(db, "SELECT count(*) FROM PROCESSES", 0);
    recording->clock_error_ns = ask(db,
                                    "SELECT max(CAST(value AS INTEGER)) FROM META_DATA_CAPTURE"
                                    " WHERE name LIKE 'HAUL:CLOCK\\_ERROR\\_NS:%' ESCAPE '\\'",
                                    -1);
    recording->dropped = (uint64_t)ask(db,
                                       "SELECT sum(CAST(value AS INTEGER)) FROM META_DATA_CAPTURE"
                                       " WHERE name LIKE 'HAUL:DROPPED%' OR name LIKE"
                                       " 'HAUL:COMMANDS_NOT_KEPT%'",
                                       0);
    recording->beyond_limits =
        (uint64_t)ask(db,
                      "SELECT sum(CAST(value AS INTEGER)) FROM META_DATA_CAPTURE WHERE name LIKE"
                      " 'HAUL:OPERATIONS_BEYOND_LIMITS%'",
                      0);
}

haul_status haul_parts_join(const char *path, haul_recording *recording, haul_error *error)
{
    sqlite3 *db = NULL;
    recording->clock_error_ns = -1;
    recording->has_profile = !access(path, F_OK);
    if (!recording->has_profile)
        return HAUL_OK;
    haul_status status = HAUL_OK;
    if (open_database(path, &db) != SQLITE_OK)
        status = fail_sqlite(db, path, error);
    haul_strings parts = {0};
    list_parts(path, false, &parts);
    for (size_t i = 0; !status && i < parts.count; i++)
        status = join_part(db, parts.texts[i], error);
    haul_strings_release(&parts);
    if (db)
        count(db, recording);
    sqlite3_close(db);
    return status;
}
