/* libhaul-record-cuda.so over a libcupti that delivers known records: the profile has to hold them.
 * tests/driver/cupti_known.c says which, inject.c stands for the CUDA driver. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "haul/trace.h"
#include "record/kernel_names.h"

static char folder[32];
static char profile[64];
static char said[64]; /* what the program printed */

static int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/haul-cuda-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(profile, sizeof profile, "%s/profile.sqlite", folder);
    snprintf(said, sizeof said, "%s/said", folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* Runs the program with the fake `mode`; its exit code, or 128 and its signal. */
static int record_with(const char *mode, const char *how, const char *cupti, const char *limits)
{
    char command[2048];
    snprintf(command, sizeof command,
             "FAKE_CUPTI=%s CUPTI_PATH=%s exec %s record --force -o %s %s -- %s %s >%s 2>&1", mode,
             cupti, HAUL_PROGRAM, profile, limits, INJECT, how, said);
    const int status = system(command);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int record_as(const char *mode, const char *how, const char *cupti)
{
    return record_with(mode, how, cupti, "");
}

static void expect_said(const char *part)
{
    char text[1024] = "";
    FILE *file = fopen(said, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    if (!strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text);
}

/* The first value of a query, as text. */
static const char *ask(const char *query)
{
    static char answer[256];
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open_v2(profile, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, query, -1, &statement, NULL))
        fail_msg("%s", sqlite3_errmsg(db));
    snprintf(answer, sizeof answer, "none");
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
        snprintf(answer, sizeof answer, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return answer;
}

#define MEMCPY " FROM CUPTI_ACTIVITY_KIND_MEMCPY "
#define SYNC " FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION "
#define EVENT " FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT "
#define ROW(columns) "SELECT group_concat(" columns ", ' ')"
#define IN(table) " FROM CUPTI_ACTIVITY_KIND_" table " "
#define AND " || ',' || "

static void check_copies(void)
{
    /* CUPTI's kinds of memory are one above those of Nsight Systems */
    assert_string_equal(ask(ROW("copyKind" AND "srcKind" AND "dstKind" AND "bytes" AND
                                "(end - start)") MEMCPY "WHERE copyKind != 10"),
                        "1,0,2,1048576,100000 2,2,1,4096,2000 8,2,2,512,1000 11,4,4,65536,5000");
    assert_string_equal(ask(ROW("srcDeviceId" AND "dstDeviceId" AND "correlationId" AND "streamId")
                                MEMCPY "WHERE copyKind = 10"),
                        "1,2,105,7");
    assert_string_equal(ask("SELECT migrationCause" MEMCPY "WHERE copyKind = 11"), "2");
    assert_string_equal(ask(ROW("value" AND "bytes" AND "memKind" AND "deviceId") IN("MEMSET")),
                        "255,65536,2,1");
}

static void check_work(void)
{
    assert_string_equal(
        ask(ROW("gridX" AND "gridY" AND "blockX" AND "registersPerThread" AND
                "staticSharedMemory" AND "dynamicSharedMemory" AND "correlationId" AND
                "(start - (SELECT min(start)" MEMCPY "))") IN("KERNEL")),
        "64,2,128,32,1024,512,102,110000");
    assert_string_equal(ask(ROW("value" AND "(globalTid & 16777215)" AND "correlationId" AND
                                "returnValue") IN("RUNTIME") "JOIN StringIds ON id = nameId"),
                        "cudaMemcpyAsync_v3020,77,101,0 cuLaunchKernel,77,102,0 "
                        "runtime call 1999,77,109,2");
    assert_string_equal(
        ask("SELECT value || ' ' || (end - start)" IN("OVERHEAD") "JOIN StringIds ON id = nameId"),
        "command buffer full 10000");
    assert_string_equal(ask("SELECT name || ' ' || memoryBandwidth || ' ' || clockRate || ' ' ||"
                            " smCount || ' ' || asyncEngines || ' ' || uuid FROM TARGET_INFO_GPU"),
                        "Fake V100 900000000000 1530000000 80 3 "
                        "ab010203-0405-0607-0809-0a0b0c0d0ecd");
}

static void test_records(void **state)
{
    (void)state;
    assert_int_equal(record_as("new", "wait", FAKE_CUPTI), 0);
    expect_said("the program's own output");
    check_copies();
    check_work();
    assert_string_equal(
        ask(ROW("syncType" AND "streamId" AND "eventId" AND "eventSyncId" AND "deviceId") SYNC),
        "2,8,3,11,1 3,7,4294967295,4294967295,1 "
        "4,4294967295,4294967295,4294967295,1");
    assert_string_equal(ask(ROW("streamId" AND "eventId" AND "eventSyncId" AND "deviceId") EVENT),
                        "7,3,11,1");
    assert_string_equal(ask("SELECT value FROM META_DATA_CAPTURE WHERE name ="
                            " 'HAUL:RECORDS_WITHOUT_TIMES'"),
                        "1");
    assert_string_equal(ask("SELECT value FROM META_DATA_CAPTURE WHERE name ="
                            " 'HAUL:DROPPED_BY_CUPTI'"),
                        "3");
}

/* Before CUDA 12.8: no ids of an event's records, and devices only through contexts; before 11.6 no
 * clock but CUPTI's, CLOCK_REALTIME, of which the difference is taken. */
static void test_old_versions(void **state)
{
    (void)state;
    assert_int_equal(record_as("old", "wait", FAKE_CUPTI), 0);
    check_copies();
    check_work();
    assert_string_equal(
        ask(ROW("syncType" AND "streamId" AND "eventId" AND "eventSyncId" AND "deviceId") SYNC),
        "2,8,3,4294967295,1 3,7,4294967295,4294967295,1 "
        "4,4294967295,4294967295,4294967295,1");
    assert_string_equal(ask(ROW("streamId" AND "eventId" AND "eventSyncId" AND "deviceId") EVENT),
                        "7,3,4294967295,1");
    assert_string_equal(ask("SELECT min(start) > 0 AND max(end) < 60000000000" MEMCPY), "1");
}

/* Our own reader reads it. */
static void test_reads_back(void **state)
{
    (void)state;
    haul_workload *workload = NULL;
    haul_error error = {0};
    size_t kinds[HAUL_OP_CALL + 1] = {0};
    assert_int_equal(record_as("new", "exit", FAKE_CUPTI), 0);
    if (haul_trace_load(profile, &workload, &error))
        fail_msg("%s", error.text);
    for (size_t i = 0; i < workload->op_count; i++)
        kinds[workload->ops[i].kind]++;
    assert_int_equal(kinds[HAUL_OP_COPY], 5);
    assert_int_equal(kinds[HAUL_OP_KERNEL], 1);
    assert_int_equal(kinds[HAUL_OP_MEMSET], 1);
    assert_int_equal(kinds[HAUL_OP_SYNC], 3);
    haul_workload_free(workload);
}

static void test_many_from_threads(void **state)
{
    (void)state;
    assert_int_equal(record_as("many", "exit", FAKE_CUPTI), 0);
    assert_string_equal(ask("SELECT count(*) || ' ' || sum(bytes)" MEMCPY "WHERE streamId = 9"),
                        "40000 320000");
}

/* CUPTI may complete nothing until it has to, in any order, drop records, refuse kinds. */
static void test_hostile(void **state)
{
    (void)state;
    assert_int_equal(record_as("late,shuffle=3", "wait", FAKE_CUPTI), 0);
    assert_string_equal(ask("SELECT count(*) || ' ' || sum(bytes)" MEMCPY), "5 1120768");
    assert_string_equal(ask("SELECT count(*)" IN("KERNEL")), "1");
    remove(profile);
    assert_int_equal(record_as("many,drop=10", "exit", FAKE_CUPTI), 0);
    const int copies = atoi(ask("SELECT count(*)" MEMCPY "WHERE streamId = 9"));
    const int dropped = atoi(ask("SELECT value FROM META_DATA_CAPTURE WHERE name ="
                                 " 'HAUL:DROPPED_BY_CUPTI'"));
    assert_in_range(copies, 35000, 37000);
    assert_in_range(copies + dropped, 40000, 40025); /* the set has 25 records more */
    remove(profile);
    assert_int_equal(record_as("refuse=38,refuse=22", "exit", FAKE_CUPTI), 0);
    assert_string_equal(ask("SELECT count(*)" MEMCPY), "4");
    assert_string_equal(ask("SELECT count(*)" SYNC), "0");
    remove(profile);
    assert_int_equal(record_as("refuse=10", "exit", FAKE_CUPTI), 0);
    expect_said("CUPTI refuses: '");
    expect_said("CUPTI_ERROR_NOT_COMPATIBLE");
    assert_int_equal(access(profile, F_OK), -1);
}

/* 16 threads, each with a context that it destroys before its records are fetched. */
static int record_threads(const char *cupti, const char *driver, const char *how)
{
    char command[2048];
    snprintf(command, sizeof command,
             "LD_LIBRARY_PATH=%s FAKE_CUDA=%s FAKE_CUPTI=driver%s CUPTI_PATH=%s exec %s record "
             "--force -o %s -- %s %s >%s 2>&1",
             FAKE_CUDA_FOLDER, driver, cupti, FAKE_CUPTI, HAUL_PROGRAM, profile, CUDA_THREADS, how,
             said);
    const int status = system(command);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void test_threads_on_a_hostile_driver(void **state)
{
    static const struct {
        const char *cupti, *driver, *how;
        int code;
    } cases[] = {
        {"", "eager", "", 0},           {"", "late", "fork", 0},
        {",late", "random=1", "", 0},   {",shuffle=5", "random=2", "fork", 0},
        {"", "eager", "kill", 128 + 9},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(record_threads(cases[i].cupti, cases[i].driver, cases[i].how),
                         cases[i].code);
        const char *counted = ask("SELECT count(*) || ' ' || sum(bytes) || ' ' ||"
                                  " count(DISTINCT contextId)" MEMCPY);
        if (strcmp(counted, "3200 13107200 16") != 0)
            fail_msg("case %zu: %s", i, counted);
    }
    assert_int_equal(record_threads(",drop=10", "eager", ""), 0);
    const int copies = atoi(ask("SELECT count(*)" MEMCPY));
    const int dropped =
        atoi(ask("SELECT value FROM META_DATA_CAPTURE WHERE name = 'HAUL:DROPPED_BY_CUPTI'"));
    assert_in_range(copies, 2700, 3100);
    assert_true(copies + dropped >= 3200); /* calls are dropped, too */
    expect_said("records were dropped");
}

/* PyTorch's profiler registers for CUPTI's records itself, and then has all of them. */
static void test_another_tool_takes_the_records(void **state)
{
    (void)state;
    assert_int_equal(record_threads("", "eager", ""), 0);
    assert_string_equal(ask("SELECT count(*) FROM META_DATA_CAPTURE WHERE name ="
                            " 'HAUL:RECORDERS_TAKEN_OVER'"),
                        "0");
    assert_string_equal(
        ask("SELECT count(*)" IN("RUNTIME") "JOIN StringIds ON id = nameId"
                                            " WHERE value LIKE 'cuDeviceGetCount%'"),
        "0");
    /* Where it takes them before the recorder's own first record came, nobody can know. */
    const char *taken = "0";
    for (int tries = 0; tries < 20 && atoi(taken) == 0; tries++) {
        assert_int_equal(record_threads(",taken", "eager", ""), 0);
        taken = ask("SELECT value FROM META_DATA_CAPTURE WHERE name ="
                    " 'HAUL:RECORDERS_TAKEN_OVER'");
    }
    assert_string_equal(taken, "1");
    expect_said("incomplete: 1 recorder lost CUPTI to another profiler in the program");
}

static void test_ends(void **state)
{
    static const struct {
        const char *how;
        int code;
    } ends[] = {{"kill", 128 + 9}, {"fork", 5}, {"thread", 7}};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        assert_int_equal(record_as("new", ends[i].how, FAKE_CUPTI), ends[i].code);
        check_copies();
        remove(profile);
    }
}

/* The program goes on, without a profile. */
static void test_without_cupti(void **state)
{
    static const struct {
        const char *mode, *cupti, *words;
    } cases[] = {
        {"new", "/nowhere/libcupti.so", "there is no libcupti.so: it comes with the CUDA toolkit"},
        {"ancient", FAKE_CUPTI, "is CUPTI 9; CUDA 10's, 12, is the oldest known"},
        {"new", INJECT, "there is no libcupti.so"},
        {"refuses", FAKE_CUPTI, "no permission; NVIDIA's driver gives it to administrators alone"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(record_as(cases[i].mode, "exit", cases[i].cupti), 0);
        expect_said("the program's own output");
        expect_said("haul: CUDA is not recorded");
        expect_said(cases[i].words);
        assert_int_equal(access(profile, F_OK), -1);
    }
}

static void test_limits(void **state)
{
    (void)state;
    assert_int_equal(record_with("many", "exit", FAKE_CUPTI, "--max-ops 1000"), 0);
    const int copies = atoi(ask("SELECT count(*)" MEMCPY));
    assert_true(copies > 900 && copies <= 1000);
}

static void test_names(void **state)
{
    static const char *const names[][2] = {
        {"scale", "scale"},
        {"void lib::scale<float>(float*, int)", "scale"},
        {"lib::tile<float, (lib::kind)2>::run(int)", "run"},
        {"void (anonymous namespace)::copy<int>(int*)", "copy"},
        {"(anonymous namespace)::copy(int*)", "copy"},
        {"void a<b<c> >::d<e<f> >(g<h>)", "d"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char base[64];
        assert_string_equal(hl_record_kernel_base_name(names[i][0], base, sizeof base),
                            names[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_records, begin, end),
        cmocka_unit_test_setup_teardown(test_old_versions, begin, end),
        cmocka_unit_test_setup_teardown(test_reads_back, begin, end),
        cmocka_unit_test_setup_teardown(test_many_from_threads, begin, end),
        cmocka_unit_test_setup_teardown(test_hostile, begin, end),
        cmocka_unit_test_setup_teardown(test_threads_on_a_hostile_driver, begin, end),
        cmocka_unit_test_setup_teardown(test_another_tool_takes_the_records, begin, end),
        cmocka_unit_test_setup_teardown(test_ends, begin, end),
        cmocka_unit_test_setup_teardown(test_without_cupti, begin, end),
        cmocka_unit_test_setup_teardown(test_limits, begin, end),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
