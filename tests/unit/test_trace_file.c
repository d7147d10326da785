/* Files that are no profiles, or no longer. */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "profile_db.h"

static char folder[] = "/tmp/haul-trace-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[sizeof folder + 256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *write_file(const char *name, const void *bytes, size_t size)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    return path;
}

static void expect(const char *path, haul_status status, const char *part)
{
    haul_workload *workload = NULL;
    haul_error error = {0};
    char text[1200];
    assert_int_equal(haul_trace_load(path, &workload, &error), status);
    assert_null(workload);
    haul_error_format(&error, text, sizeof text);
    if (!strstr(text, part) || !strstr(text, path))
        fail_msg("'%s' lacks '%s' or '%s'", text, part, path);
}

/* A small profile as a file's bytes. */
static unsigned char *profile_bytes(size_t *size)
{
    sqlite3 *db = profile_make(
        "PRAGMA page_size = 1024;"
        "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, contextId INT, "
        "streamId INT, correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, "
        "dstKind INT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, "
        "correlationId INT, nameId INT);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT i * 10, i * 10 + 5, 0, 1, 7, i, 1 << 24, "
        "4096, 1, 1, 2 FROM n;"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT start - 8, start - 4, globalPid + 1, "
        "correlationId, 1 + correlationId % 3 FROM CUPTI_ACTIVITY_KIND_MEMCPY;"
        "INSERT INTO StringIds VALUES(1, 'a'), (2, 'b'), (3, 'c');");
    sqlite3_int64 bytes = 0;
    unsigned char *copy = sqlite3_serialize(db, "main", &bytes, 0);
    sqlite3_close(db);
    assert_non_null(copy);
    *size = (size_t)bytes;
    return copy;
}

static void files_of_other_kinds_are_named(void **state)
{
    (void)state;
    static const unsigned char gzip[] = {0x1f, 0x8b, 8, 0, 0, 0};
    static const unsigned char report[] = {'N', 'V', 0, 1, 2, 3};
    expect(write_file("empty.sqlite", "", 0), HAUL_STATUS_BAD_INPUT, "an empty file");
    expect(write_file("notes.sqlite", "some text\n", 10), HAUL_STATUS_BAD_INPUT, "a text file");
    expect(write_file("k.json", "{\"events\": []}", 14), HAUL_STATUS_BAD_INPUT, "a JSON file");
    expect(write_file("k.json.gz", gzip, sizeof gzip), HAUL_STATUS_IO,
           "gzip data cut short at byte 6");
    expect(write_file("r.nsys-rep", report, sizeof report), HAUL_STATUS_ABSENT,
           "nsys export --type sqlite");
    static const unsigned char zeros[200] = {0};
    expect(write_file("zeros.sqlite", zeros, sizeof zeros), HAUL_STATUS_BAD_INPUT,
           "no SQLite database: a report");
    expect(write_file("head.sqlite", "SQLite format 3", 16), HAUL_STATUS_BAD_INPUT,
           "shorter than its header");
    expect(write_file("r.bin", report, sizeof report), HAUL_STATUS_BAD_INPUT, "no SQLite database");
    expect(folder, HAUL_STATUS_IO, "a directory");
    expect("/dev/null", HAUL_STATUS_IO, "device or pipe");
    expect(path_of("absent"), HAUL_STATUS_IO, "cannot open");
}

static void texts_of_wide_characters_are_named(void **state)
{
    (void)state;
    static const char text[] = "{\"traceEvents\":[]}";
    enum { COUNT = sizeof text - 1 };
    for (int form = 0; form < 4; form++) { /* a mark or none, either order of bytes */
        unsigned char wide[2 * COUNT + 2];
        size_t size = 0;
        const bool big = form & 1;
        for (int i = form & 2 ? -1 : 0; i < COUNT; i++) {
            const unsigned unit = i < 0 ? 0xfeff : (unsigned char)text[i];
            wide[size++] = (unsigned char)(big ? unit >> 8 : unit);
            wide[size++] = (unsigned char)(big ? unit : unit >> 8);
        }
        expect(write_file("wide.json", wide, size), HAUL_STATUS_BAD_INPUT, "a text in UTF-16");
    }
}

static size_t files_in(const char *path)
{
    size_t count = 0;
    DIR *const dir = opendir(path);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* A gzipped database whose header says that it has so many pages, and so many bytes of zeros. */
static const char *packed(const char *name, uint32_t pages, size_t zeros)
{
    size_t size;
    static const char nothing[1 << 16];
    unsigned char *const bytes = profile_bytes(&size);
    for (int i = 0; i < 4; i++)
        bytes[28 + i] = (unsigned char)(pages >> (24 - 8 * i));
    const char *const path = path_of(name);
    const gzFile file = gzopen(path, "wb1");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)size), (int)size);
    for (size_t done = 0; done < zeros; done += sizeof nothing)
        assert_int_equal(gzwrite(file, nothing, sizeof nothing), sizeof nothing);
    assert_int_equal(gzclose(file), Z_OK);
    sqlite3_free(bytes);
    return path;
}

/* No more is unpacked than the header says and than there is room for, and nothing is left: neither
 * by a reader that refuses nor by one that is ended meanwhile. */
static void unpacked_databases_are_bounded(void **state)
{
    (void)state;
    enum { MILLION = 1 << 20, LONG_MS = 10 };
    char temporary[sizeof folder + 16];
    snprintf(temporary, sizeof temporary, "%s/tmp", folder);
    assert_int_equal(mkdir(temporary, 0700), 0);
    setenv("TMPDIR", temporary, 1);
    expect(packed("more.gz", 10, 4 * MILLION), HAUL_STATUS_BAD_INPUT,
           "unpacks to more bytes than its header says");
    expect(packed("huge.gz", UINT32_C(1) << 31, 0), HAUL_STATUS_IO, "TMPDIR");
    assert_int_equal(files_in(temporary), 0);
    const char *const path = packed("long.gz", UINT32_C(1) << 19, (size_t)100 * MILLION);
    const pid_t child = fork();
    if (!child) {
        haul_workload *workload = NULL;
        _exit(haul_trace_load(path, &workload, NULL) != HAUL_OK);
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = LONG_MS * 1000000}, NULL);
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    assert_int_equal(files_in(temporary), 0);
    unsetenv("TMPDIR");
    assert_int_equal(rmdir(temporary), 0);
}

static void truncated_files_are_refused(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = profile_bytes(&size);
    for (size_t kept = 16; kept < size; kept += 509)
        expect(write_file("cut.sqlite", bytes, kept), HAUL_STATUS_BAD_INPUT, "truncated");
    haul_workload *workload = NULL;
    assert_int_equal(haul_trace_load(write_file("whole.sqlite", bytes, size), &workload, NULL),
                     HAUL_OK);
    assert_int_equal(workload->op_count, 200);
    assert_int_equal(workload->counts.orphans, 0);
    haul_workload_free(workload);
    sqlite3_free(bytes);
}

static void files_are_left_alone(void **state)
{
    (void)state;
    /* Last written with a write-ahead log, and under a name that is no plain URI. */
    const char *path = path_of("what?%41 #now.sqlite");
    char side[300];
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "PRAGMA journal_mode = WAL; CREATE TABLE StringIds(id, value);"
                                  "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, streamId);"
                                  "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1, 2, 3)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    haul_workload *workload = NULL;
    assert_int_equal(haul_trace_load(path, &workload, NULL), HAUL_OK);
    assert_int_equal(workload->op_count, 1);
    haul_workload_free(workload);
    snprintf(side, sizeof side, "%s-shm", path);
    assert_int_equal(access(side, F_OK), -1);
    /* With a log beside it that was not folded in, the log is read. */
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(2, 3, 3)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(haul_trace_load(path, &workload, NULL), HAUL_OK);
    assert_int_equal(workload->op_count, 2);
    haul_workload_free(workload);
    sqlite3_close(db);
    remove(path);
}

/* Any single byte may be wrong: the file is read, with what is wrong repaired, or refused with a
 * place. */
static void corrupt_files_never_crash(void **state)
{
    (void)state;
    size_t size, refused = 0;
    unsigned char *bytes = profile_bytes(&size);
    srand(1);
    for (int i = 0; i < SWEEP(1500); i++) {
        const size_t at = i < 100 ? (size_t)i : (size_t)rand() % size;
        const unsigned char kept = bytes[at];
        bytes[at] ^= (unsigned char)(1 + rand() % 255);
        haul_workload *workload = NULL;
        haul_error error = {0};
        const char *path = write_file("bent.sqlite", bytes, size);
        const haul_status status = haul_trace_load(path, &workload, &error);
        bytes[at] = kept;
        if (status) {
            refused++;
            assert_true(status == HAUL_STATUS_BAD_INPUT || status == HAUL_STATUS_IO);
            assert_string_equal(error.file, path);
            assert_true(error.text[0] != '\0');
        } else {
            workload_check(workload);
        }
        haul_workload_free(workload);
    }
    assert_true(refused > 50);
    sqlite3_free(bytes);
}

static void put_big_endian(unsigned char *at, size_t value, int count)
{
    for (int i = count; i-- > 0; value >>= 8)
        at[i] = (unsigned char)value;
}

/* An inner page of a table (fileformat2, section 1.6), all of whose children are one page. */
static void write_inner_page(unsigned char *page, size_t size, size_t child)
{
    enum { CELLS = 40, CELL_BYTES = 5 };
    const size_t cells = size - (size_t)CELLS * CELL_BYTES;
    memset(page, 0, size);
    page[0] = 5;
    put_big_endian(page + 3, CELLS, 2);
    put_big_endian(page + 5, cells, 2);
    put_big_endian(page + 8, child, 4);
    for (size_t i = 0; i < CELLS; i++) {
        put_big_endian(page + 12 + 2 * i, cells + i * CELL_BYTES, 2);
        put_big_endian(page + cells + i * CELL_BYTES, child, 4);
        page[cells + i * CELL_BYTES + 4] = (unsigned char)(i + 1);
    }
}

/* 20 kB that hold 40^17 rows: each level of the tree has one page, 40 times the child of the next.
 */
static void endless_tables_are_refused(void **state)
{
    (void)state;
    enum { PAGE = 512, LEVELS = 17 };
    sqlite3 *db = profile_make(
        "PRAGMA page_size = 512;"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, streamId INT, globalPid INT);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1, 2, 7, 1);"
        "CREATE TABLE pad(x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
        "i < 40) INSERT INTO pad SELECT zeroblob(400) FROM n;");
    sqlite3_int64 size = 0;
    unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
    sqlite3_close(db);
    const size_t root = 2, last = (size_t)size / PAGE; /* the table was made first */
    memcpy(bytes + (last - 1) * PAGE, bytes + (root - 1) * PAGE, PAGE);
    for (size_t level = 0; level < LEVELS; level++) {
        const size_t page = level ? last - level : root;
        const size_t child = level + 1 < LEVELS ? last - level - 1 : last;
        write_inner_page(bytes + (page - 1) * PAGE, PAGE, child);
    }
    expect(write_file("bent.sqlite", bytes, (size_t)size), HAUL_STATUS_BAD_INPUT,
           "more rows than fit it");
    sqlite3_free(bytes);
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *directory = opendir(folder);
    if (!directory)
        return 1;
    for (struct dirent *entry; (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove(path_of(entry->d_name));
    closedir(directory);
    return rmdir(folder);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_other_kinds_are_named),
        cmocka_unit_test(texts_of_wide_characters_are_named),
        cmocka_unit_test(unpacked_databases_are_bounded),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(files_are_left_alone),
        cmocka_unit_test(corrupt_files_never_crash),
        cmocka_unit_test(endless_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
