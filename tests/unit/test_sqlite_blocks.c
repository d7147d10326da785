/* Large tables, stepped by several threads, read as by one: a database that is open already is read
 * by one, a file by as many as there are cores. */
#include <stdlib.h>
#include <unistd.h>

#include "nsys_tables.h"

static char path[] = "/tmp/haul-blocks-XXXXXX";

/* The profile at `path`, by one thread. */
static haul_status load_alone(haul_workload **workload, haul_error *error)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    return hl_trace_load_database(db, path, workload, error);
}

/* Both ways of reading have one outcome. */
static void check_alike(size_t ops)
{
    haul_workload *alone = NULL, *together = NULL;
    haul_error error = {0}, other = {0};
    char text[1200], other_text[1200];
    const haul_status status = load_alone(&alone, &error);
    assert_int_equal(haul_trace_load(path, &together, &other), status);
    if (status) {
        assert_string_equal(haul_error_format(&error, text, sizeof text),
                            haul_error_format(&other, other_text, sizeof other_text));
        return;
    }
    workload_check(together);
    assert_int_equal(together->op_count, ops ? ops : alone->op_count);
    assert_int_equal(together->op_count, alone->op_count);
    assert_memory_equal(together->ops, alone->ops, alone->op_count * sizeof *alone->ops);
    assert_int_equal(together->repair_count, alone->repair_count);
    assert_int_equal(together->shape_count, alone->shape_count);
    haul_workload_free(alone);
    haul_workload_free(together);
}

/* Kernels, copies and their calls, 80,000 of each, with what `change` makes of them. */
static void write_profile(const char *change)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    assert_int_equal(remove(path), 0);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    char *sql = sqlite3_mprintf(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" STRINGS MEMCPY KERNEL RUNTIME
        "INSERT INTO StringIds VALUES(1, 'one'), (2, 'other');"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80000) INSERT "
        "INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 1000, i * 1000 + 400 + i %% 7, 0, 1, 7 + i %% "
        "3, 2 * i, " PID ", 1 + i %% 2, 1, 32, 1 + i %% 50, 1, 1, 128, 1, 1, 0, 0 FROM n;"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT start + 500, start + 900, 0, 1, 7, "
        "correlationId + 1, " PID ", gridX * 4096, 1, 1, 2, NULL, NULL FROM "
        "CUPTI_ACTIVITY_KIND_KERNEL;"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT start - 300, start - 200, 0, " PID " + 5, "
        "correlationId, 1 FROM CUPTI_ACTIVITY_KIND_KERNEL;%s",
        change);
    assert_non_null(sql);
    sqlite3_exec(db, sql, NULL, NULL, &message);
    if (message)
        fail_msg("%s", message);
    sqlite3_free(sql);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void rows_are_alike(void **state)
{
    (void)state;
    write_profile("");
    check_alike(160000);
}

/* Rows that were deleted, alone and by whole blocks; numbers that are no count of rows; a column
 * that has the name of the number, and a table without numbers. */
static void numbers_with_holes_are_alike(void **state)
{
    (void)state;
    write_profile(
        "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid % 3 = 1 OR rowid BETWEEN 9000 "
        "AND 30000; DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid > 60000;");
    check_alike(0);
    write_profile("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET rowid = 1 << 40 WHERE rowid = 80000;"
                  "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET rowid = -7 WHERE rowid = 5;");
    check_alike(160000);
    write_profile("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN rowid INT DEFAULT 4;");
    check_alike(160000);
    write_profile(
        "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME; CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME("
        "start INT, end INT, globalTid INT, correlationId INT PRIMARY KEY, nameId INT) "
        "WITHOUT ROWID; INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT start - 300, start "
        "- 200, " PID " + 5, correlationId, 1 FROM CUPTI_ACTIVITY_KIND_KERNEL;");
    check_alike(160000);
}

/* A fault is found at the same row, and told in the same words. */
static void faults_are_alike(void **state)
{
    (void)state;
    write_profile("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 1 << 62 WHERE rowid = 71234;");
    check_alike(0);
    write_profile("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = NULL WHERE rowid % 1000 = 1;");
    check_alike(160000);
    write_profile("");
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    unsigned char bytes[4096];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(37 * i);
    for (long place = 2; place < 40; place++) {
        assert_int_equal(fseek(file, place * 160000 / 4096 * 4096, SEEK_SET), 0);
        assert_int_equal(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
    }
    assert_int_equal(fclose(file), 0);
    check_alike(0);
}

static int make_file(void **state)
{
    (void)state;
    const int file = mkstemp(path);
    return file < 0 || close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_alike),
        cmocka_unit_test(numbers_with_holes_are_alike),
        cmocka_unit_test(faults_are_alike),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
