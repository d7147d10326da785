/* Databases out of a fuzzer's bytes: which tables of a format are there, which of their columns,
 * and what is in their rows; then, for some, bytes of the file itself are changed. */
#ifndef HAUL_FUZZ_PROFILE_FUZZ_H
#define HAUL_FUZZ_PROFILE_FUZZ_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert_fuzz.h"
#include "trace/trace_format.h"

enum { FUZZ_COLUMNS = 20, FUZZ_MOST_ROWS = 40 };

typedef struct fuzz_table {
    const char *name;
    const char *columns[FUZZ_COLUMNS];
} fuzz_table;

typedef struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
} fuzz_bytes;

static inline uint8_t fuzz_byte(fuzz_bytes *bytes)
{
    if (!bytes->left)
        return 0;
    bytes->left--;
    return *bytes->at++;
}

static inline int64_t fuzz_int64(fuzz_bytes *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | fuzz_byte(bytes);
    return (int64_t)value;
}

/* Most cells are small numbers, so that rows join each other; some are what no file should hold. */
static inline void fuzz_cell(fuzz_bytes *bytes, sqlite3_str *sql)
{
    static const int64_t edges[] = {INT64_MIN,        INT64_MAX,        -1,
                                    UINT32_MAX,       INT32_MAX,        INT32_MIN,
                                    INT64_C(1) << 61, INT64_C(1) << 62, 16777216};
    static const char *const words[9] = {"EXPORT_SCHEMA_VERSION",
                                         "CopyHostToDevice",
                                         "KernelExecution",
                                         "MEMORY_COPY_DEVICE_TO_HOST",
                                         "MARKER_CORE_RANGE_API",
                                         "GPU",
                                         "ALLOC",
                                         "{\"message\": \"m\"}",
                                         "Hostname"};
    const uint8_t kind = fuzz_byte(bytes);
    if (kind < 176)
        sqlite3_str_appendf(sql, "%d", kind % 16);
    else if (kind < 200)
        sqlite3_str_appendf(sql, "%d", fuzz_byte(bytes) * 100);
    else if (kind < 216)
        sqlite3_str_appendf(sql, "%lld", (long long)edges[fuzz_byte(bytes) % 9]);
    else if (kind < 226)
        sqlite3_str_appendall(sql, "NULL");
    else if (kind < 236)
        sqlite3_str_appendf(sql, "%lld", (long long)fuzz_int64(bytes));
    else if (kind < 241)
        sqlite3_str_appendf(sql, "x'%02x00%02x'", fuzz_byte(bytes), fuzz_byte(bytes));
    else if (kind < 246)
        sqlite3_str_appendf(sql, "CAST(x'%02x%02x' AS TEXT)", fuzz_byte(bytes), fuzz_byte(bytes));
    else if (kind < 251)
        sqlite3_str_appendf(sql, "%d.5", fuzz_byte(bytes));
    else
        sqlite3_str_appendf(sql, "'%s'", words[fuzz_byte(bytes) % 9]);
}

static inline void fuzz_rows(fuzz_bytes *bytes, const fuzz_table *table, int columns,
                             sqlite3_str *sql)
{
    for (int rows = fuzz_byte(bytes) % FUZZ_MOST_ROWS; rows > 0 && bytes->left; rows--) {
        sqlite3_str_appendf(sql, "INSERT OR IGNORE INTO \"%s\" VALUES(", table->name);
        for (int i = 0; i < columns; i++) {
            sqlite3_str_appendall(sql, i ? "," : "");
            fuzz_cell(bytes, sql);
        }
        sqlite3_str_appendall(sql, ");");
    }
}

static inline void fuzz_make_table(fuzz_bytes *bytes, const fuzz_table *table, sqlite3 *db)
{
    const uint8_t there = fuzz_byte(bytes);
    if (there % 8 == 0)
        return;
    uint32_t dropped = 0;
    if (there % 8 == 1)
        dropped = (uint32_t)(fuzz_byte(bytes) | fuzz_byte(bytes) << 8 | fuzz_byte(bytes) << 16);
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "CREATE TABLE \"%s\"(", table->name);
    int columns = 0;
    for (int i = 0; i < FUZZ_COLUMNS && table->columns[i]; i++)
        if (!(dropped >> i & 1))
            sqlite3_str_appendf(sql, "%s\"%s\"", columns++ ? "," : "", table->columns[i]);
    sqlite3_str_appendall(sql, columns ? ");" : "nothing);");
    fuzz_rows(bytes, table, columns ? columns : 1, sql);
    char *text = sqlite3_str_finish(sql);
    sqlite3_exec(db, text, NULL, NULL, NULL);
    sqlite3_free(text);
}

static inline sqlite3 *fuzz_deserialize(unsigned char *file, sqlite3_int64 size)
{
    sqlite3 *db = NULL;
    HOLDS(sqlite3_open(":memory:", &db) == SQLITE_OK);
    if (sqlite3_deserialize(db, "main", file, size, size,
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) !=
        SQLITE_OK) {
        sqlite3_close(db);
        return NULL;
    }
    return db;
}

/* The rest of the bytes are places in the file and what to write there. */
static inline sqlite3 *fuzz_patch(fuzz_bytes *bytes, sqlite3 *db)
{
    sqlite3_int64 size = 0;
    unsigned char *file = sqlite3_serialize(db, "main", &size, 0);
    sqlite3_close(db);
    if (!file)
        return NULL;
    while (bytes->left) {
        const uint32_t high = fuzz_byte(bytes);
        const uint32_t place = high << 8 | fuzz_byte(bytes);
        file[place % (uint64_t)size] = fuzz_byte(bytes);
    }
    return fuzz_deserialize(file, size);
}

static inline sqlite3 *fuzz_database(fuzz_bytes *bytes, const fuzz_table *tables, int count)
{
    const uint8_t mode = fuzz_byte(bytes);
    if (mode == 255) {
        unsigned char *file = sqlite3_malloc64(bytes->left + 1);
        HOLDS(file != NULL);
        memcpy(file, bytes->at, bytes->left);
        return fuzz_deserialize(file, (sqlite3_int64)bytes->left);
    }
    sqlite3 *db = NULL;
    HOLDS(sqlite3_open(":memory:", &db) == SQLITE_OK);
    sqlite3_exec(db, "PRAGMA page_size = 512; BEGIN", NULL, NULL, NULL);
    fuzz_bytes rows = *bytes;
    if (mode & 1)
        rows.left /= 2;
    bytes->at += rows.left;
    bytes->left -= rows.left;
    for (int i = 0; i < count; i++)
        fuzz_make_table(&rows, &tables[i], db);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    return mode & 1 ? fuzz_patch(bytes, db) : db;
}

/* Whatever the file, it is refused with a reason or read into a workload that holds. */
static inline void fuzz_read(const uint8_t *data, size_t size, const fuzz_table *tables, int count)
{
    fuzz_bytes bytes = {data, size};
    sqlite3 *db = fuzz_database(&bytes, tables, count);
    if (!db)
        return;
    haul_workload *workload = NULL;
    haul_error error = {0};
    if (hl_trace_load_database(db, "fuzz", &workload, &error)) {
        HOLDS(error.status == HAUL_STATUS_BAD_INPUT || error.status == HAUL_STATUS_IO);
        HOLDS(error.text[0] && error.file[0] && !workload);
        return;
    }
    workload_check(workload);
    fuzz_cut(workload);
    if (size % 8 == 0) /* a file takes longer than all else */
        fuzz_converted(workload, 1);
    haul_workload_free(workload);
}

#endif
