#include "nsys_tables.h"

static void copies_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        int kind, source, target;
        haul_direction direction;
        haul_memory memory;
    } rows[] = {
        {1, 0, 2, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE},
        {1, 1, 2, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED},
        {1, 4, 2, HAUL_DIRECTION_HTOD, HAUL_MEMORY_MANAGED},
        {1, 7, 2, HAUL_DIRECTION_HTOD, HAUL_MEMORY_HOST},
        {1, 99, 2, HAUL_DIRECTION_HTOD, HAUL_MEMORY_HOST},
        {2, 2, 0, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE},
        {2, 2, 1, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED},
        {2, 2, 6, HAUL_DIRECTION_DTOH, HAUL_MEMORY_MANAGED},
        {3, 1, 3, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED},
        {4, 3, 0, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE},
        {5, 3, 3, HAUL_DIRECTION_DTOD, HAUL_MEMORY_ARRAY},
        {6, 3, 2, HAUL_DIRECTION_DTOD, HAUL_MEMORY_ARRAY},
        {7, 2, 3, HAUL_DIRECTION_DTOD, HAUL_MEMORY_ARRAY},
        {8, 2, 2, HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE},
        {9, 1, 1, HAUL_DIRECTION_HTOH, HAUL_MEMORY_PINNED},
        {9, 1, 0, HAUL_DIRECTION_HTOH, HAUL_MEMORY_PAGEABLE},
        {10, 2, 2, HAUL_DIRECTION_PTOP, HAUL_MEMORY_DEVICE},
        {11, 4, 2, HAUL_DIRECTION_HTOD, HAUL_MEMORY_MANAGED},
        {12, 2, 4, HAUL_DIRECTION_DTOH, HAUL_MEMORY_MANAGED},
        {13, 2, 2, HAUL_DIRECTION_DTOD, HAUL_MEMORY_MANAGED},
        {0, 0, 0, HAUL_DIRECTION_UNKNOWN, HAUL_MEMORY_UNKNOWN},
        {14, 0, 0, HAUL_DIRECTION_UNKNOWN, HAUL_MEMORY_UNKNOWN},
        {-1, 0, 0, HAUL_DIRECTION_UNKNOWN, HAUL_MEMORY_UNKNOWN},
    };
    const size_t count = sizeof rows / sizeof *rows;
    sqlite3 *db = profile_make(MEMCPY);
    for (size_t i = 0; i < count; i++) {
        char sql[256];
        snprintf(sql, sizeof sql,
                 "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(%zu, %zu, 0, 1, 7, 0, " PID
                 ", %zu, %d, %d, %d, NULL, NULL)",
                 100 + i, 150 + i, i * 1000, rows[i].kind, rows[i].source, rows[i].target);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    haul_workload *workload = profile_read(db);
    assert_int_equal(workload->op_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(workload->ops[i].bytes, i * 1000);
        assert_int_equal(workload->ops[i].dur_ns, 50);
        assert_int_equal(workload->ops[i].direction, rows[i].direction);
        assert_int_equal(workload->ops[i].detail, rows[i].memory);
    }
    assert_int_equal(profile_missing(workload, "direction is not known"), 3);
    assert_int_equal(profile_missing(workload, "host memory is not known"), 2);
    assert_int_equal(profile_missing(workload, "a kernel table"), 0);
    assert_int_equal(profile_missing(workload, "there is no RUNTIME table"), 0);
    assert_int_equal(profile_missing(workload, "a copy table"), -1);
    assert_int_equal(profile_missing(workload, "a device table"), 0);
    assert_int_equal(workload->counts.orphans, count);
    assert_string_equal(workload->format, "nsys");
    assert_string_equal(workload->source, "made");
    haul_workload_free(workload);
}

static void copies_between_devices_are_peer_copies(void **state)
{
    (void)state;
    haul_workload *workload =
        profile_load(MEMCPY "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
                            "(1, 2, 0, 1, 7, 0, " PID ", 8, 8, 2, 2, 0, 1),"
                            "(2, 3, 0, 1, 7, 0, " PID ", 8, 8, 2, 2, 1, 1),"
                            "(3, 4, 0, 1, 7, 0, " PID ", 8, 8, 2, 2, NULL, 1);");
    assert_int_equal(workload->ops[0].direction, HAUL_DIRECTION_PTOP);
    assert_int_equal(workload->ops[1].direction, HAUL_DIRECTION_DTOD);
    assert_int_equal(workload->ops[2].direction, HAUL_DIRECTION_DTOD);
    haul_workload_free(workload);
}

static void kernels_have_shapes_and_names(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        STRINGS KERNEL
        "INSERT INTO StringIds VALUES(5, 'void f<int>(int *)'), (6, 'f'), (9, x'ff00fe'),"
        "(10, CAST(x'c328ff0a' AS TEXT)), (11, NULL);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
        "(10, 20, 0, 1, 7, 1, " PID ", 5, 6, 32, 1, 2, 3, 4, 5, 6, 100, 28),"
        "(20, 30, 0, 1, 7, 2, " PID ", 5, 6, 32, 1, 2, 3, 4, 5, 6, 100, 28),"
        "(30, 40, 0, 1, 7, 3, " PID ", 9, 6, 32, -1, 2, 3, 4, 5, 6, 0, 0),"
        "(40, 50, 0, 1, 7, 4, " PID ", 10, 6, 32, 1, 2, 3, 4, 5, 6, 0, 0),"
        "(50, 60, 0, 1, 7, 5, " PID ", 77, 6, 32, 1, 2, 3, 4, 5, 6, 0, 0),"
        "(60, 70, 0, 1, 7, 6, " PID ", NULL, 6, 32, 1, 2, 3, 4, 5, 6, 0, 0);");
    assert_int_equal(workload->op_count, 6);
    assert_int_equal(workload->shape_count, 3);
    const haul_shape *shape = &workload->shapes[workload->ops[0].shape];
    assert_int_equal(shape->grid[2], 3);
    assert_int_equal(shape->block[0], 4);
    assert_int_equal(shape->registers_per_thread, 32);
    assert_int_equal(shape->shared_bytes, 128);
    assert_int_equal(workload->ops[1].shape, workload->ops[0].shape);
    assert_int_equal(workload->ops[1].name, workload->ops[0].name);
    assert_int_equal(workload->ops[1].stream_prev, 0);
    assert_string_equal(haul_workload_string(workload, workload->ops[0].name),
                        "void f<int>(int *)");
    assert_string_equal(haul_workload_string(workload, workload->ops[2].name), "\xff");
    assert_string_equal(haul_workload_string(workload, workload->ops[3].name), "\xc3\x28\xff\n");
    assert_string_equal(haul_workload_string(workload, workload->ops[4].name), "");
    assert_int_equal(workload->ops[4].name, HAUL_NONE);
    assert_int_equal(workload->ops[5].name, HAUL_NONE);
    assert_int_equal(profile_missing(workload, "names that no string table gives"), 1);
    assert_int_equal(profile_repaired(workload, "figure of a kernel's launch"), 1);
    haul_workload_free(workload);
}

static void old_columns_may_be_absent(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, streamId INT, "
                "shortName INT);"
                "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, bytes INT, "
                "copyKind INT);"
                "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(end INT, bytes INT);"
                "INSERT INTO StringIds VALUES(1, 'f');"
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(5, 6, 7, 1);"
                "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1, 2, 64, 1);"
                "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(1, 2);");
    assert_int_equal(workload->op_count, 2);
    assert_int_equal(workload->ops[0].detail, HAUL_MEMORY_HOST);
    assert_int_equal(workload->ops[0].bytes, 64);
    assert_int_equal(workload->ops[0].stream, HAUL_NONE);
    assert_string_equal(haul_workload_string(workload, workload->ops[1].name), "f");
    assert_int_equal(workload->streams[workload->ops[1].stream].device, HAUL_NONE);
    assert_int_equal(profile_missing(workload, "stream is not known"), 1);
    assert_int_equal(profile_missing(workload, "device is not known"), 1);
    assert_int_equal(profile_repaired(workload, "rows without a start or an end"), 1);
    haul_workload_free(workload);
}

static void wrong_rows_are_repaired_and_counted(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        MEMCPY "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
               "(100, 50, 0, 1, 7, 0, " PID ", 8, 1, 1, 2, NULL, NULL),"    /* ends before */
               "(NULL, 50, 0, 1, 7, 0, " PID ", 8, 1, 1, 2, NULL, NULL),"   /* no start */
               "('soon', 50, 0, 1, 7, 0, " PID ", 8, 1, 1, 2, NULL, NULL)," /* no number */
               "(5, 1.5, 0, 1, 7, 0, " PID ", 8, 1, 1, 2, NULL, NULL),"     /* no integer */
               "(0, 0, 0, 1, 7, 0, " PID ", 8, 1, 1, 2, NULL, NULL),"       /* not taken */
               "(110, 120, 0, 1, 7, 0, " PID ", -8, 1, 1, 2, NULL, NULL),"
               "(120, 130, 0, 1, 7, 0, " PID ", NULL, 1, 1, 2, NULL, NULL),"
               "(130, 140, -1, 1, 7, 0, " PID ", 8, 1, 1, 2, NULL, NULL),"
               "(140, 150, 99999999999, 1, 7, 0, " PID ", 8, 1, 1, 2, NULL, NULL),"
               "(150, 160, 0, 1, -1, 0, " PID ", 8, 1, 1, 2, NULL, NULL),"
               "(160, 170, 0, 1, 7, 99999999999, " PID ", 8, 1, 1, 2, NULL, NULL);");
    assert_int_equal(workload->op_count, 7);
    assert_int_equal(profile_repaired(workload, "rows without a start or an end"), 4);
    assert_int_equal(profile_repaired(workload, "duration negative"), 1);
    assert_int_equal(profile_repaired(workload, "bytes missing, negative"), 1);
    assert_int_equal(profile_missing(workload, "number of bytes is not known"), 1);
    assert_int_equal(workload->ops[2].flags & HAUL_OP_NO_BYTES, HAUL_OP_NO_BYTES);
    assert_int_equal(profile_repaired(workload, "correlation id out of range"), 1);
    assert_int_equal(profile_missing(workload, "stream is not known"), 1);
    assert_int_equal(profile_missing(workload, "device is not known"), 2);
    assert_int_equal(workload->streams[workload->ops[3].stream].device, HAUL_NONE);
    haul_workload_free(workload);
}

/* One such time would make the profile as long as decades. */
static void times_of_no_recording_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *row, *said;
    } wrong[] = {
        {"-2305843009213693952, -2305843009213693947", "start is -2305843009213693952 ns"},
        {"9223372036854775807, -9223372036854775808", "start is 9223372036854775807 ns"},
        {"100, 2305843009213693953", "end is 2305843009213693953 ns"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char sql[1000], text[1200];
        haul_workload *workload = NULL;
        haul_error error = {0};
        snprintf(sql, sizeof sql,
                 MEMCPY RUNTIME "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(5, 6, 2, " PID
                                ", 1, 1), (%s, 2, " PID ", 1, 1);",
                 wrong[i].row);
        assert_int_equal(hl_trace_load_database(profile_make(sql), "made", &workload, &error),
                         HAUL_STATUS_BAD_INPUT);
        haul_error_format(&error, text, sizeof text);
        assert_non_null(strstr(text, "CUPTI_ACTIVITY_KIND_RUNTIME"));
        assert_non_null(strstr(text, wrong[i].said));
        assert_non_null(strstr(text, "row 2"));
    }
}

/* Losses that profilers report: Nsight Systems in warnings, haul record in a note.
 */
static void losses_of_profilers_are_kept(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        MEMCPY "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
               "(10, 20, 0, 1, 7, 1, " PID ", 8, 1, 1, 2, NULL, NULL);"
               "CREATE TABLE DIAGNOSTIC_EVENT(timestamp INT, source INT, severity INT, text TEXT);"
               "INSERT INTO DIAGNOSTIC_EVENT VALUES(1, 1, 1, 'Profiling has started.'),"
               "(2, 1, 2, 'Not all CUDA events might have been' || char(10) || 'collected.'),"
               "(3, 1, 2, 'CUPTI dropped 12 records.');"
               "CREATE TABLE META_DATA_CAPTURE(name TEXT, value TEXT);"
               "INSERT INTO META_DATA_CAPTURE VALUES('HAUL:CLOCK_ERROR_NS:0', '12'),"
               "('HAUL:INCOMPLETE', '3 commands were in flight and are missing');");
    static const char *const losses[] = {"3 commands were in flight and are missing",
                                         "Not all CUDA events might have been collected.",
                                         "CUPTI dropped 12 records."};
    assert_int_equal(workload->loss_count, 3);
    for (size_t i = 0; i < 3; i++) {
        bool found = false;
        for (size_t k = 0; k < 3; k++)
            found |= !strcmp(workload->losses[k].text, losses[i]);
        if (!found)
            fail_msg("not '%s'", losses[i]);
    }
    haul_workload_free(workload);
}

static void row_numbers_promise_nothing(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(id INTEGER PRIMARY KEY, start INT, end INT, "
        "globalPid INT); INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
        "(9223372036854775807, 1, 2, 1), (-5, 2, 3, 1);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INT PRIMARY KEY, end INT) WITHOUT ROWID;"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(5, 6);");
    assert_int_equal(workload->op_count, 3);
    haul_workload_free(workload);
}

static void calls_join_within_their_process(void **state)
{
    (void)state;
    /* Two processes, 1 and 2, with the same correlation ids; a graph's two kernels of one call; a
     * call that started nothing; a correlation id called twice. */
    haul_workload *workload = profile_load(
        STRINGS MEMCPY KERNEL RUNTIME
        "INSERT INTO StringIds VALUES(1, 'cudaMemcpyAsync_v3020'), (2, 'cudaGraphLaunch'),"
        "(3, 'cudaMalloc'), (4, 'f');"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
        "(1000, 1100, 0, 1, 7, 5, 16777216, 8, 1, 1, 2, NULL, NULL),"
        "(1001, 1101, 0, 1, 7, 5, 33554432, 8, 1, 1, 2, NULL, NULL),"
        "(1002, 1102, 0, 1, 7, 6, 33554432, 8, 1, 1, 2, NULL, NULL);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
        "(1200, 1300, 0, 1, 7, 9, 16777216, 4, 4, 0, 1, 1, 1, 1, 1, 1, 0, 0),"
        "(1300, 1400, 0, 1, 7, 9, 16777216, 4, 4, 0, 1, 1, 1, 1, 1, 1, 0, 0);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
        "(500, 600, 0, 16777216 + 11, 5, 1), (700, 800, 0, 33554432 + 12, 5, 1),"
        "(810, 820, 0, 16777216 + 11, 9, 2), (830, 840, 0, 16777216 + 11, 10, 3),"
        "(850, 860, 0, 16777216 + 11, 9, 2), (870, 880, 0, 16777216 + 11, NULL, 3);");
    assert_int_equal(workload->counts.calls, 6);
    assert_int_equal(workload->counts.orphans, 1);
    assert_int_equal(workload->thread_count, 2);
    const haul_op *first = &workload->ops[profile_find(workload, HAUL_OP_COPY, 1000)];
    const haul_op *second = &workload->ops[profile_find(workload, HAUL_OP_COPY, 1001)];
    assert_int_equal(first->call_ns, 500);
    assert_int_equal(second->call_ns, 700);
    assert_int_equal(workload->threads[first->thread].id, 11);
    assert_int_equal(workload->threads[second->thread].id, 12);
    assert_int_equal(workload->threads[second->thread].process, 33554432);
    assert_int_equal(workload->streams[first->stream].process, 16777216);
    assert_string_equal(haul_workload_string(workload, first->name), "cudaMemcpyAsync_v3020");
    assert_int_equal(workload->ops[profile_find(workload, HAUL_OP_KERNEL, 1200)].call_ns, 810);
    assert_int_equal(workload->ops[profile_find(workload, HAUL_OP_KERNEL, 1300)].call_ns, 810);
    assert_int_equal(profile_repaired(workload, "second call of one correlation id"), 1);
    const uint32_t call = profile_find(workload, HAUL_OP_CALL, 830);
    assert_int_equal(workload->ops[call].thread_prev, profile_find(workload, HAUL_OP_KERNEL, 1300));
    assert_string_equal(haul_workload_string(workload, workload->ops[call].name), "cudaMalloc");
    haul_workload_free(workload);
}

static void many_streams_are_kept(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        MEMCPY "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 299999) "
               "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT 1000 + i, 1001 + i, 0, 1, "
               "i * 7919 % 100000, i, " PID ", 4096, 1, 1, 2, NULL, NULL FROM n;" NEW_SYNC
               "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) "
               "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SELECT 400000 + i, 400001 + i, 0, "
               "1, " NO ", NULL, " PID ", 4, " NO ", " NO " FROM n;");
    assert_int_equal(workload->stream_count, 100000);
    assert_int_equal(workload->counts.device_ops, 300000);
    assert_int_equal(workload->edge_count, 100000);
    assert_true(profile_missing(workload, "contexts of too many streams") > 0);
    haul_workload_free(workload);
}

static void devices_are_described(void **state)
{
    (void)state;
    /* Other adapters are CUDA's device 0 too; id and CUDA's number differ. */
    haul_workload *workload = profile_load(
        MEMCPY
        "CREATE TABLE TARGET_INFO_GPU(vmId INT, id INT, name TEXT, l2CacheSize INT, totalMemory "
        "INT, memoryBandwidth INT, clockRate INT, smCount INT, cuDevice INT, asyncEngines INT, "
        "computeMajor INT, computeMinor INT);"
        "INSERT INTO TARGET_INFO_GPU VALUES(0, 1, 'Intel HD', 0, 0, 0, 0, 0, 0, 0, 0, 0),"
        "(0, 2, 'B', 40, 80, 2039040000000, 1410000000, 108, 0, 5, 8, 0),"
        "(0, 0, 'A', 4, 8, 192192000000, 1341500000, 10, 1, 2, 6, 1);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
        "(1, 2, 0, 1, 7, 0, 16777216, 8, 1, 1, 2, NULL, NULL),"
        "(2, 3, 1, 2, 7, 0, 16777216, 8, 1, 1, 2, NULL, NULL),"
        "(3, 4, 9, 3, 7, 0, 16777216, 8, 1, 1, 2, NULL, NULL);");
    assert_int_equal(workload->device_count, 3);
    assert_string_equal(workload->devices[0].name, "B");
    CHECK_NEAR(workload->devices[0].memory_bandwidth_Bps, 2.03904e12, 1e-12);
    CHECK_NEAR(workload->devices[0].clock_Hz, 1.41e9, 1e-12);
    assert_int_equal(workload->devices[0].memory_bytes, 80);
    assert_int_equal(workload->devices[0].l2_bytes, 40);
    assert_int_equal(workload->devices[0].multiprocessors, 108);
    assert_int_equal(workload->devices[0].copy_engines, 5);
    assert_int_equal(workload->devices[0].compute_major, 8);
    assert_string_equal(workload->devices[1].name, "A");
    assert_null(workload->devices[2].name);
    assert_int_equal(workload->devices[2].id, 9);
    assert_int_equal(profile_missing(workload, "that the device table does not describe"), 1);
    haul_workload_free(workload);
}

/* The name that all rows give; a file of two machines does not say which GPU is in which. */
static void machines_are_named(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"('Hostname', 'n7'), ('Kernel', '6.1'), ('Hostname', 'n7')", "n7"},
        {"('Hostname', 'n7'), ('Hostname', 'n8'), ('Hostname', 'n8')", NULL},
        {"('Hostname', ''), ('hostname', 'n9')", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char sql[1200];
        (void)snprintf(sql, sizeof sql,
                       MEMCPY "CREATE TABLE TARGET_INFO_SYSTEM_ENV(name TEXT, value TEXT);"
                              "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES%s;"
                              "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
                              "(1, 2, 0, 1, 7, 0, 16777216, 8, 1, 1, 2, NULL, NULL);",
                       rows[i][0]);
        haul_workload *workload = profile_load(sql);
        assert_int_equal(workload->device_count, 1);
        if (rows[i][1])
            assert_string_equal(workload->devices[0].host, rows[i][1]);
        else
            assert_null(workload->devices[0].host);
        haul_workload_free(workload);
    }
}

static void processes_may_number_devices_alike(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        MEMCPY "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INT, cudaId INT, pid INT);"
               "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(4, 0, 1), (5, 0, 2);"
               "CREATE TABLE TARGET_INFO_CUDA_GPU(deviceId INT, id INT, name TEXT, coreClockRate "
               "INT, globalMemoryBandwidth INT);"
               "INSERT INTO TARGET_INFO_CUDA_GPU VALUES(0, 4, 'four', 1590000, 320064000),"
               "(0, 5, 'five', 0, -1);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
               "(1, 2, 0, 1, 7, 0, 16777216, 8, 1, 1, 2, NULL, NULL),"
               "(2, 3, 0, 1, 7, 0, 33554432, 8, 1, 1, 2, NULL, NULL);");
    assert_int_equal(workload->device_count, 2);
    assert_string_equal(workload->devices[0].name, "four");
    CHECK_NEAR(workload->devices[0].clock_Hz, 1.59e9, 1e-12);
    CHECK_NEAR(workload->devices[0].memory_bandwidth_Bps, 320.064e9, 1e-12);
    assert_string_equal(workload->devices[1].name, "five");
    haul_workload_free(workload);
}

static void version_and_graphs_are_said(void **state)
{
    (void)state;
    haul_workload *workload =
        profile_load(MEMCPY "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
                            "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PRODUCT_NAME', 'x'),"
                            "('EXPORT_SCHEMA_VERSION', '3.24.14');"
                            "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INT, end INT);"
                            "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(1, 2), (3, 4);");
    assert_string_equal(workload->format, "nsys 3.24.14");
    assert_int_equal(profile_missing(workload, "graphs recorded whole"), 2);
    assert_int_equal(workload->op_count, 0);
    haul_workload_free(workload);
}

static void only_real_tables_are_read(void **state)
{
    (void)state;
    /* An endless view, an endless virtual column, and a table that is neither. */
    haul_workload *workload = profile_load(
        STRINGS MEMCPY
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
        "(1, 2, 0, 1, 7, 0, " PID ", 8, 1, 1, 2, NULL, NULL);"
        "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL "
        "SELECT start + 1 FROM n) SELECT start, start + 1 AS end, 7 AS streamId FROM n;"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INT, end INT, bytes INT AS "
        "(length(hex(zeroblob(16000000)))), streamId INT);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET(start, end, streamId) VALUES(5, 6, 7);");
    assert_int_equal(workload->op_count, 2);
    assert_int_equal(profile_missing(workload, "a kernel table"), 0);
    assert_int_equal(workload->ops[1].flags & HAUL_OP_NO_BYTES, HAUL_OP_NO_BYTES);
    haul_workload_free(workload);
}

static void other_databases_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *part;
    } cases[] = {{"", "without tables of a profile"},
                 {"CREATE TABLE people(name TEXT)", "without tables of a profile"},
                 {"CREATE TABLE rocpd_api(id INT)", "rocpd"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        haul_workload *workload = NULL;
        haul_error error = {0};
        assert_int_equal(
            hl_trace_load_database(profile_make(cases[i].sql), "made", &workload, &error),
            HAUL_STATUS_BAD_INPUT);
        assert_null(workload);
        assert_non_null(strstr(error.text, cases[i].part));
        assert_string_equal(error.file, "made");
    }
}

static void nvtx_ranges_are_kept(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
        "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, textId INT, "
        "globalTid INT);"
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INT);"
        "INSERT INTO StringIds VALUES(7, 'step');"
        "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1700000000000000000);"
        "INSERT INTO NVTX_EVENTS VALUES(50, 60, 60, 'inner', NULL, 16777219), (10, 90, 59, NULL, "
        "7, "
        "16777219), (20, NULL, 34, 'mark', NULL, 16777219), (1, 2, 75, 'a domain', NULL, 0);");
    static const struct {
        const char *name;
        int64_t start_ns, dur_ns;
    } expected[] = {{"step", 10, 80}, {"mark", 20, 0}, {"inner", 50, 10}};
    assert_int_equal(workload->range_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const haul_named_range *range = &workload->ranges[i];
        assert_string_equal(haul_workload_string(workload, range->name), expected[i].name);
        assert_int_equal(range->start_ns, expected[i].start_ns);
        assert_int_equal(range->dur_ns, expected[i].dur_ns);
        assert_int_equal(workload->threads[range->thread].id, 3);
    }
    assert_int_equal(workload->epoch_ns, INT64_C(1700000000000000000));
    haul_workload_free(workload);
}

/* Calls of one operator have one name; what only looks like their numbers stays. */
static void numbers_of_pytorchs_calls_are_cut_off(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
        "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, textId INT, "
        "globalTid INT);"
        "INSERT INTO StringIds VALUES(7, 'aten::add, seq = 3, op_id = 7, sizes = [[2, 2]]');"
        "INSERT INTO NVTX_EVENTS VALUES(10, 20, 59, NULL, 7, 1), (20, 30, 59, 'aten::add, op_id = "
        "9', NULL, 1), (30, 40, 59, 'aten::add', NULL, 1), (40, 50, 59, 'step, op_id = none', "
        "NULL, 1), (50, 60, 59, 'step, seq = ', NULL, 1);");
    static const char *const expected[] = {"aten::add", "aten::add", "aten::add",
                                           "step, op_id = none", "step, seq = "};
    assert_int_equal(workload->range_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(haul_workload_string(workload, workload->ranges[i].name), expected[i]);
    assert_int_equal(workload->ranges[0].name, workload->ranges[2].name);
    haul_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nvtx_ranges_are_kept),
        cmocka_unit_test(numbers_of_pytorchs_calls_are_cut_off),
        cmocka_unit_test(copies_are_told_apart),
        cmocka_unit_test(copies_between_devices_are_peer_copies),
        cmocka_unit_test(kernels_have_shapes_and_names),
        cmocka_unit_test(old_columns_may_be_absent),
        cmocka_unit_test(wrong_rows_are_repaired_and_counted),
        cmocka_unit_test(times_of_no_recording_are_refused),
        cmocka_unit_test(losses_of_profilers_are_kept),
        cmocka_unit_test(row_numbers_promise_nothing),
        cmocka_unit_test(calls_join_within_their_process),
        cmocka_unit_test(many_streams_are_kept),
        cmocka_unit_test(devices_are_described),
        cmocka_unit_test(machines_are_named),
        cmocka_unit_test(processes_may_number_devices_alike),
        cmocka_unit_test(version_and_graphs_are_said),
        cmocka_unit_test(only_real_tables_are_read),
        cmocka_unit_test(other_databases_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
