#include "profile_db.h"

#define BASE                                                                                       \
    "CREATE TABLE Version(version INT); INSERT INTO Version VALUES(18);"                           \
    "CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT);"                              \
    "INSERT INTO StringTable VALUES(1, 'Tesla T4'), (2, '_Z3addPf');"
#define MEMCPY                                                                                     \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(_id_ INTEGER PRIMARY KEY, copyKind INT, srcKind "     \
    "INT, dstKind INT, flags INT, bytes INT, start INT, end INT, deviceId INT, contextId INT, "    \
    "streamId INT, correlationId INT, runtimeCorrelationId INT);"
#define KERNEL(name)                                                                               \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_" name                                                       \
    "(_id_ INTEGER PRIMARY KEY, registersPerThread INT, start INT, end INT, completed INT, "       \
    "deviceId INT, contextId INT, streamId INT, gridX INT, gridY INT, gridZ INT, blockX INT, "     \
    "blockY INT, blockZ INT, staticSharedMemory INT, dynamicSharedMemory INT, correlationId INT, " \
    "name INT);"
#define CALLS(name)                                                                                \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_" name                                                       \
    "(_id_ INTEGER PRIMARY KEY, cbid INT, start INT, end INT, processId INT, threadId INT, "       \
    "correlationId INT, returnValue INT);"

static void memory_kinds_are_one_above_nsys(void **state)
{
    (void)state;
    haul_workload *workload =
        profile_load(BASE MEMCPY "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
                                 "(1, 1, 0, 3, 0, 8, 10, 20, 0, 1, 7, 1, 0),"
                                 "(2, 1, 1, 3, 0, 8, 11, 20, 0, 1, 7, 2, 0),"
                                 "(3, 1, 2, 3, 0, 8, 12, 20, 0, 1, 7, 3, 0),"
                                 "(4, 2, 3, 1, 0, 8, 13, 20, 0, 1, 7, 4, 0),"
                                 "(5, 2, 3, 7, 0, 8, 14, 20, 0, 1, 7, 5, 0),"
                                 "(6, 8, 3, 3, 0, 8, 15, 20, 0, 1, 7, 6, 0);");
    const haul_memory expected[] = {HAUL_MEMORY_HOST,     HAUL_MEMORY_PAGEABLE, HAUL_MEMORY_PINNED,
                                    HAUL_MEMORY_PAGEABLE, HAUL_MEMORY_MANAGED,  HAUL_MEMORY_DEVICE};
    assert_int_equal(workload->op_count, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(workload->ops[i].detail, expected[i]);
    assert_string_equal(workload->format, "nvprof 18");
    haul_workload_free(workload);
}

static void calls_and_kernels_are_joined_and_named(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        BASE MEMCPY KERNEL("CONCURRENT_KERNEL") KERNEL("KERNEL") CALLS("RUNTIME")
            CALLS("DRIVER") "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1, 1, 1, 3, 0, 8, 100, "
                            "200, 0, 1, 7, 4, 0);"
                            "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES"
                            "(1, 16, 200, 300, 300, 0, 1, 7, 1, 2, 3, 4, 5, 6, 7, 8, 5, 2);"
                            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
                            "(1, 16, 300, 400, 400, 0, 1, 7, 1, 2, 3, 4, 5, 6, 7, 8, 6, 2);"
                            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1, 31, 10, 20, 99, "
                            "-1500938240, 4, 0),"
                            "(2, 211, 30, 40, 99, -1500938240, 5, 0);"
                            "INSERT INTO CUPTI_ACTIVITY_KIND_DRIVER VALUES(1, 307, 50, 60, 99, "
                            "-1500938240, 6, 0),"
                            "(2, 211, 5, 6, 99, -1500938240, 3, 0);");
    assert_int_equal(workload->op_count, 4);
    assert_int_equal(workload->counts.calls, 4);
    assert_int_equal(workload->counts.orphans, 0);
    assert_int_equal(workload->thread_count, 1);
    assert_int_equal(workload->threads[0].process, 99);
    assert_string_equal(haul_workload_string(workload, workload->ops[0].name), "driver call 211");
    assert_string_equal(haul_workload_string(workload, workload->ops[1].name), "cudaMemcpy");
    /* readable where a C++ runtime is installed */
    const char *const kernel = haul_workload_string(workload, workload->ops[2].name);
    assert_true(!strcmp(kernel, "add(float*)") || !strcmp(kernel, "_Z3addPf"));
    assert_int_equal(workload->ops[2].call_ns, 30);
    assert_int_equal(workload->ops[3].call_ns, 50);
    assert_int_equal(workload->shapes[workload->ops[2].shape].shared_bytes, 15);
    haul_workload_free(workload);
}

static void peers_and_migrations_are_copies(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        BASE "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY2(_id_ INTEGER PRIMARY KEY, copyKind INT, "
             "srcKind INT, dstKind INT, bytes INT, start INT, end INT, deviceId INT, contextId "
             "INT, streamId INT, srcDeviceId INT, dstDeviceId INT, correlationId INT);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY2 VALUES"
             "(1, 10, 3, 3, 64, 1, 2, 0, 1, 7, 0, 1, 1), (2, 8, 3, 3, 64, 2, 3, 0, 1, 7, 0, 1, 2);"
             "CREATE TABLE CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER(_id_ INTEGER PRIMARY KEY, "
             "counterKind INT, value INT, start INT, end INT, address INT, srcId INT, dstId INT, "
             "streamId INT, processId INT, flags INT);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER VALUES"
             "(1, 1, 4096, 10, 20, 0, -1, 3, 0, 99, 0), (2, 2, 8192, 20, 30, 0, 3, -1, 0, 99, 0),"
             "(3, 8, 512, 30, 40, 0, 2, 3, 0, 99, 0), (4, 3, 1, 40, 50, 0, -1, 3, 0, 99, 0),"
             "(5, 4, 1, 50, 60, 0, -1, 3, 0, 99, 0);");
    assert_int_equal(workload->op_count, 5);
    assert_int_equal(workload->ops[0].direction, HAUL_DIRECTION_PTOP);
    assert_int_equal(workload->ops[1].direction, HAUL_DIRECTION_PTOP);
    const haul_direction expected[] = {HAUL_DIRECTION_HTOD, HAUL_DIRECTION_DTOH,
                                       HAUL_DIRECTION_DTOD};
    const uint64_t bytes[] = {4096, 8192, 512};
    for (int i = 0; i < 3; i++) {
        const haul_op *op = &workload->ops[2 + i];
        assert_int_equal(op->direction, expected[i]);
        assert_int_equal(op->detail, HAUL_MEMORY_MANAGED);
        assert_int_equal(op->bytes, bytes[i]);
        assert_int_equal(workload->devices[workload->streams[op->stream].device].id, 3);
    }
    haul_workload_free(workload);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(BASE MEMCPY KERNEL("KERNEL") KERNEL("CDP_KERNEL") CALLS(
        "RUNTIME") "INSERT INTO CUPTI_ACTIVITY_KIND_CDP_KERNEL(start, end) VALUES(1, 2), (2, 3);"
                   "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1, 31, 10, 20, 98, 1, 4, 0),"
                   "(2, 211, 30, 40, 99, 1, 5, 0);");
    assert_int_equal(profile_missing(workload, "the copy table is empty"), 0);
    assert_int_equal(profile_missing(workload, "the kernel table is empty"), 0);
    assert_int_equal(profile_missing(workload, "kernels launched by kernels"), 2);
    assert_int_equal(profile_missing(workload, "several processes"), 0);
    assert_int_equal(profile_missing(workload, "RUNTIME"), -1);
    haul_workload_free(workload);
    workload = profile_load(BASE CALLS("RUNTIME"));
    assert_int_equal(profile_missing(workload, "the RUNTIME table is empty"), 0);
    assert_int_equal(profile_missing(workload, "a copy table"), 0);
    haul_workload_free(workload);
}

static void devices_are_in_base_units(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        BASE MEMCPY
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1, 1, 1, 3, 0, 8, 1, 2, 0, 1, 7, 4, 0);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_DEVICE(_id_ INTEGER PRIMARY KEY, globalMemoryBandwidth "
        "INT, globalMemorySize INT, l2CacheSize INT, coreClockRate INT, numMemcpyEngines INT, "
        "numMultiprocessors INT, computeCapabilityMajor INT, computeCapabilityMinor INT, id INT, "
        "name INT);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_DEVICE VALUES"
        "(1, 320064000, 15642329088, 4194304, 1590000, 3, 40, 7, 5, 0, 1);");
    const haul_workload_device *device = &workload->devices[0];
    assert_string_equal(device->name, "Tesla T4");
    CHECK_NEAR(device->memory_bandwidth_Bps, 320.064e9, 1e-12);
    CHECK_NEAR(device->clock_Hz, 1.59e9, 1e-12);
    assert_int_equal(device->copy_engines, 3);
    assert_int_equal(device->multiprocessors, 40);
    assert_int_equal(device->compute_minor, 5);
    haul_workload_free(workload);
}

static void waits_find_streams_by_their_contexts(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(BASE MEMCPY CALLS(
        "RUNTIME") "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
                   "(1, 1, 1, 3, 0, 8, 100, 200, 2, 1, 7, 1, 0), (2, 1, 1, 3, 0, 8, 200, 300, 2, "
                   "1, 8, 3, 0);"
                   "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1, 41, 10, 20, 9, 9, 1, 0),"
                   "(2, 135, 30, 40, 9, 9, 2, 0), (3, 41, 50, 60, 9, 9, 3, 0);"
                   "CREATE TABLE CUPTI_ACTIVITY_KIND_CONTEXT(_id_ INTEGER PRIMARY KEY, contextId "
                   "INT, "
                   "deviceId INT); INSERT INTO CUPTI_ACTIVITY_KIND_CONTEXT VALUES(1, 1, 2);"
                   "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(_id_ INTEGER PRIMARY KEY, "
                   "type INT, "
                   "start INT, end INT, correlationId INT, contextId INT, streamId INT, "
                   "cudaEventId INT);"
                   "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
                   "(1, 3, 70, 310, 4, 1, 7, -1), (2, 4, 80, 320, 5, 1, -1, -1), (3, 2, 45, 46, 6, "
                   "1, 8, 5);"
                   "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(_id_ INTEGER PRIMARY KEY, "
                   "correlationId INT, "
                   "contextId INT, streamId INT, eventId INT);"
                   "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES(1, 2, 1, 7, 5);");
    assert_int_equal(workload->stream_count, 2);
    assert_int_equal(workload->edge_count, 4);
    const uint32_t first = profile_find(workload, HAUL_OP_COPY, 100);
    const uint32_t second = profile_find(workload, HAUL_OP_COPY, 200);
    const haul_edge between = {first, second};
    assert_memory_equal(&workload->edges[3], &between, sizeof between);
    haul_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_kinds_are_one_above_nsys),
        cmocka_unit_test(calls_and_kernels_are_joined_and_named),
        cmocka_unit_test(peers_and_migrations_are_copies),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(devices_are_in_base_units),
        cmocka_unit_test(waits_find_streams_by_their_contexts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
