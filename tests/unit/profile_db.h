/* Small profiles made of SQL. */
#ifndef HAUL_TESTS_PROFILE_DB_H
#define HAUL_TESTS_PROFILE_DB_H

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "haul/trace.h"
#include "trace/trace_format.h"
#include "workload_check.h"

static inline sqlite3 *profile_make(const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    sqlite3_exec(db, sql, NULL, NULL, &message);
    if (message)
        fail_msg("%s: %s", message, sql);
    return db;
}

/* Reads and closes the database. */
static inline haul_workload *profile_read(sqlite3 *db)
{
    haul_workload *workload = NULL;
    haul_error error = {0};
    char text[1200];
    if (hl_trace_load_database(db, "made", &workload, &error))
        fail_msg("%s", haul_error_format(&error, text, sizeof text));
    workload_check(workload);
    return workload;
}

static inline haul_workload *profile_load(const char *sql)
{
    return profile_read(profile_make(sql));
}

/* The count of the first note that contains `part`, or -1. */
static inline int64_t profile_note(const haul_note *notes, size_t count, const char *part)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(notes[i].text, part))
            return (int64_t)notes[i].count;
    return -1;
}

static inline int64_t profile_missing(const haul_workload *workload, const char *part)
{
    return profile_note(workload->missing, workload->missing_count, part);
}

static inline int64_t profile_repaired(const haul_workload *workload, const char *part)
{
    return profile_note(workload->repairs, workload->repair_count, part);
}

/* The number of the first operation of a kind that starts at `start_ns`, or HAUL_NONE. */
static inline uint32_t profile_find(const haul_workload *workload, haul_op_kind kind,
                                    int64_t start_ns)
{
    for (uint32_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == kind && workload->ops[i].start_ns == start_ns)
            return i;
    return HAUL_NONE;
}

#endif
