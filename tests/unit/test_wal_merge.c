/* A profile with a write-ahead log beside it, whole and damaged, against SQLite's own reading. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "trace/wal_merge.h"

static char folder[] = "/tmp/haul-wal-XXXXXX";
static char path[64], wal[64];

enum { ROWS = 3000 };

/* A database whose log holds most of it, as a writer leaves it that is killed. */
static int begin(void **state)
{
    (void)state;
    char command[200];
    sqlite3 *db;
    strcpy(folder, "/tmp/haul-wal-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/live", folder);
    if (sqlite3_open(path, &db) ||
        sqlite3_exec(
            db,
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF;"
            "CREATE TABLE t (a, b);",
            NULL, NULL, NULL))
        return -1;
    for (int i = 0; i < ROWS; i++)
        sqlite3_exec(db, "INSERT INTO t VALUES (abs(random()), hex(randomblob(50)))", NULL, NULL,
                     NULL);
    snprintf(command, sizeof command, "cd %s && cp live p && cp live-wal p-wal", folder);
    const int failed = system(command);
    sqlite3_close(db);
    snprintf(path, sizeof path, "%s/p", folder);
    snprintf(wal, sizeof wal, "%s/p-wal", folder);
    return failed;
}

static int end(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* Rows, by our merge; -1 where the table is not there. */
static int count_rows(const char **note)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    int rows = -1;
    haul_error error = {0};
    if (hl_trace_wal_open(path, &db, note, &error))
        fail_msg("%s", error.text);
    if (sqlite3_prepare_v2(db, "SELECT count(*) FROM t", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        rows = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return rows;
}

static void change_byte(long at)
{
    FILE *file = fopen(wal, "r+");
    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    const int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
}

static long size_of_log(void)
{
    struct stat facts;
    assert_int_equal(stat(wal, &facts), 0);
    return (long)facts.st_size;
}

static void a_whole_log_is_merged(void **state)
{
    (void)state;
    const char *note;
    assert_int_equal(count_rows(&note), ROWS);
    assert_null(note);
    char name[80]; /* and nothing is made beside it */
    snprintf(name, sizeof name, "%s-shm", path);
    assert_int_equal(access(name, F_OK), -1);
}

static void damage_is_said(void **state)
{
    (void)state;
    const char *note;
    change_byte(size_of_log() / 2);
    const int rows = count_rows(&note);
    assert_in_range(rows, 1, ROWS - 1);
    assert_non_null(strstr(note, "is damaged"));
}

static void a_cut_log_is_said(void **state)
{
    (void)state;
    const char *note;
    assert_int_equal(truncate(wal, size_of_log() - 1000), 0);
    assert_int_equal(count_rows(&note), ROWS - 1);
    assert_non_null(strstr(note, "ends within a transaction"));
}

static void a_foreign_log_is_said(void **state)
{
    (void)state;
    const char *note;
    change_byte(8);
    count_rows(&note);
    assert_non_null(strstr(note, "none of it"));
}

/* Every byte of the first frames, and cuts anywhere: an answer, never more rows than there were. */
static void no_damage_is_missed(void **state)
{
    (void)state;
    const char *note;
    for (long at = 0; at < 24 + 32 + 200; at += 3) {
        change_byte(at);
        const int rows = count_rows(&note);
        assert_true(rows <= ROWS);
        const bool is_salt = at >= 32 + 8 && at < 32 + 16; /* a frame of an earlier round */
        if (rows != ROWS && !is_salt)
            assert_non_null(note);
        change_byte(at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_whole_log_is_merged, begin, end),
        cmocka_unit_test_setup_teardown(damage_is_said, begin, end),
        cmocka_unit_test_setup_teardown(a_cut_log_is_said, begin, end),
        cmocka_unit_test_setup_teardown(a_foreign_log_is_said, begin, end),
        cmocka_unit_test_setup_teardown(no_damage_is_missed, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
