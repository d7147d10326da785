/* The profiles of ../shared/data against plain SQL over the same tables, and what must hold of
 * every workload. */
#include "check.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/trace.h"
#include "profile_files.h"
#include "workload_check.h"

typedef struct totals {
    int64_t count, bytes, time_ns;
} totals;

static char paths[MOST_PROFILES][LONGEST_PATH];
static int path_count;

static totals from_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    totals result = {0};
    /* A table that the file lacks has no rows. */
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        result = (totals){sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1),
                          sqlite3_column_int64(stmt, 2)};
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return result;
}

static totals of_copies(const haul_workload *workload, haul_direction direction, int memory)
{
    totals result = {0};
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->kind != HAUL_OP_COPY || op->direction != direction ||
            (memory >= 0 && op->detail != memory))
            continue;
        result.count++;
        result.bytes += (int64_t)op->bytes;
        result.time_ns += op->dur_ns;
    }
    return result;
}

static totals of_kind(const haul_workload *workload, haul_op_kind kind)
{
    totals result = {0};
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->kind != kind)
            continue;
        result.count++;
        result.bytes += kind == HAUL_OP_MEMSET ? (int64_t)op->bytes : 0;
        result.time_ns += op->dur_ns;
    }
    return result;
}

static void check_equal(totals got, totals expected, const char *path, const char *what)
{
    if (memcmp(&got, &expected, sizeof got) != 0)
        fail_msg("%s: %s: %lld, %lld bytes, %lld ns against %lld, %lld bytes, %lld ns", path, what,
                 (long long)got.count, (long long)got.bytes, (long long)got.time_ns,
                 (long long)expected.count, (long long)expected.bytes, (long long)expected.time_ns);
}

static void check_copies(const haul_workload *workload, const char *path, bool nvprof)
{
    static const struct {
        haul_direction direction;
        const char *kinds;
        const char *side;
    } groups[] = {{HAUL_DIRECTION_HTOD, "1, 3, 11", "srcKind"},
                  {HAUL_DIRECTION_DTOH, "2, 4, 12", "dstKind"},
                  {HAUL_DIRECTION_DTOD, "5, 6, 7, 8, 13", NULL},
                  {HAUL_DIRECTION_HTOH, "9", NULL},
                  {HAUL_DIRECTION_PTOP, "10", NULL}};
    char sql[512];
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        static const char select[] = "SELECT count(*), sum(bytes), sum(end - start) FROM "
                                     "CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind IN";
        snprintf(sql, sizeof sql, "%s (%s)", select, groups[i].kinds);
        check_equal(of_copies(workload, groups[i].direction, -1), from_sql(path, sql), path,
                    haul_direction_text(groups[i].direction));
        for (int kind = 0; groups[i].side && kind < 2; kind++) {
            snprintf(sql, sizeof sql, "%s (%s) AND %s = %d", select, groups[i].kinds,
                     groups[i].side, kind + nvprof);
            check_equal(of_copies(workload, groups[i].direction,
                                  kind ? HAUL_MEMORY_PINNED : HAUL_MEMORY_PAGEABLE),
                        from_sql(path, sql), path, kind ? "pinned" : "pageable");
        }
    }
}

static void check_file(const char *path)
{
    haul_workload *workload = NULL;
    haul_error error = {0};
    assert_int_equal(haul_trace_load(path, &workload, &error), HAUL_OK);
    workload_check(workload);
    const bool nvprof = !strncmp(workload->format, "nvprof", 6);
    check_copies(workload, path, nvprof);
    check_equal(of_kind(workload, HAUL_OP_KERNEL),
                from_sql(path, nvprof ? "SELECT count(*), 0, sum(end - start) FROM "
                                        "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"
                                      : "SELECT count(*), 0, sum(end - start) FROM "
                                        "CUPTI_ACTIVITY_KIND_KERNEL"),
                path, "kernels");
    check_equal(of_kind(workload, HAUL_OP_MEMSET),
                from_sql(path, "SELECT count(*), sum(bytes), sum(end - start) FROM "
                               "CUPTI_ACTIVITY_KIND_MEMSET"),
                path, "memsets");
    check_equal(of_kind(workload, HAUL_OP_SYNC),
                from_sql(path, "SELECT count(*), 0, sum(end - start) FROM "
                               "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"),
                path, "synchronisations");
    const int64_t calls =
        from_sql(path, "SELECT count(*), 0, 0 FROM CUPTI_ACTIVITY_KIND_RUNTIME").count +
        from_sql(path, "SELECT count(*), 0, 0 FROM CUPTI_ACTIVITY_KIND_DRIVER").count;
    assert_int_equal(workload->counts.calls, calls);
    haul_workload_free(workload);
}

static void real_profiles_equal_sql(void **state)
{
    (void)state;
    for (int i = 0; i < path_count; i++)
        check_file(paths[i]);
}

/* Device operations of h100-2gpu-training-1s whose call is not in its window, by SQL:
 * SELECT count(*) FROM (kernels, copies and memsets) AS d WHERE NOT EXISTS (SELECT 1 FROM
 * CUPTI_ACTIVITY_KIND_RUNTIME AS r WHERE r.correlationId = d.correlationId AND r.globalTid >> 24 =
 * d.globalPid >> 24). */
static void orphans_are_kept(void **state)
{
    (void)state;
    for (int i = 0; i < path_count; i++) {
        if (!strstr(paths[i], "h100-2gpu-training-1s"))
            continue;
        haul_workload *workload = NULL;
        assert_int_equal(haul_trace_load(paths[i], &workload, NULL), HAUL_OK);
        assert_int_equal(workload->counts.device_ops, 4368);
        assert_int_equal(workload->counts.orphans, 1810 + 466);
        haul_workload_free(workload);
    }
}

int main(void)
{
    path_count = find_profiles(paths);
    if (!path_count)
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_profiles_equal_sql),
        cmocka_unit_test(orphans_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
