/* AMD's rocpd databases, of schema versions 3 (made of SQL) and 2 (made, and the one of the data),
 * and rocprofv3's CSV. */
#include <stdlib.h>
#include <unistd.h>

#include "profile_db.h"

/* The columns that are read, of the tables of one process. */
#define TABLES(s)                                                                                  \
    "CREATE TABLE \"rocpd_string" s "\"(id INTEGER PRIMARY KEY, string TEXT);"                     \
    "CREATE TABLE \"rocpd_info_process" s "\"(id INTEGER PRIMARY KEY, pid INT);"                   \
    "CREATE TABLE \"rocpd_info_thread" s "\"(id INTEGER PRIMARY KEY, tid INT);"                    \
    "CREATE TABLE \"rocpd_info_agent" s "\"(id INTEGER PRIMARY KEY, type TEXT, type_index INT, "   \
    "product_name TEXT);"                                                                          \
    "CREATE TABLE \"rocpd_info_kernel_symbol" s "\"(id INTEGER PRIMARY KEY, display_name TEXT);"   \
    "CREATE TABLE \"rocpd_event" s "\"(id INTEGER PRIMARY KEY, category_id INT, stack_id INT);"    \
    "CREATE TABLE \"rocpd_region" s "\"(pid INT, tid INT, start INT, \"end\" INT, name_id INT, "   \
    "event_id INT, extdata TEXT);"                                                                 \
    "CREATE TABLE \"rocpd_memory_copy" s "\"(start INT, \"end\" INT, name_id INT, dst_agent_id "   \
    "INT, dst_address INT, src_agent_id INT, src_address INT, size INT, queue_id INT, stream_id "  \
    "INT, event_id INT);"                                                                          \
    "CREATE TABLE \"rocpd_memory_allocate" s                                                       \
    "\"(agent_id INT, type TEXT, start INT, address INT, "                                         \
    "size INT);"                                                                                   \
    "CREATE TABLE \"rocpd_kernel_dispatch" s "\"(agent_id INT, kernel_id INT, queue_id INT, "      \
    "stream_id INT, start INT, \"end\" INT, workgroup_size_x INT, workgroup_size_y INT, "          \
    "workgroup_size_z INT, grid_size_x INT, grid_size_y INT, grid_size_z INT, group_segment_size " \
    "INT, event_id INT);"

#define ROWS(s)                                                                                    \
    "INSERT INTO \"rocpd_string" s "\" VALUES(1, 'MEMORY_COPY_HOST_TO_DEVICE'), (2, "              \
    "'hipMemcpyAsync'), (3, 'HIP_RUNTIME_API_EXT'), (4, 'MARKER_CORE_RANGE_API'), (5, "            \
    "'roctxRangePushA'), (6, 'hipLaunchKernel'), (7, 'HSA_CORE_API'), (8, "                        \
    "'MEMORY_COPY_DEVICE_TO_HOST');"                                                               \
    "INSERT INTO \"rocpd_info_process" s "\" VALUES(1, 4242);"                                     \
    "INSERT INTO \"rocpd_info_thread" s "\" VALUES(1, 4243);"                                      \
    "INSERT INTO \"rocpd_info_agent" s "\" VALUES(1, 'CPU', 0, 'EPYC'), (2, 'GPU', 0, 'MI300X'), " \
    "(3, 'GPU', 1, 'MI300X');"                                                                     \
    "INSERT INTO \"rocpd_info_kernel_symbol" s "\" VALUES(9, 'k()');"                              \
    "INSERT INTO \"rocpd_event" s "\" VALUES(1, 3, 11), (2, 3, 11), (3, 3, 12), (4, 3, 12), (5, "  \
    "4, 13), (6, 7, 14);"                                                                          \
    "INSERT INTO \"rocpd_region" s                                                                 \
    "\" VALUES(1, 1, 100, 200, 2, 1, '{}'), (1, 1, 210, 220, 6, 3, "                               \
    "'{}'), (1, 1, 90, 400, 5, 5, '{\"message\": \"step 1\"}'), (1, 1, 110, 120, 6, 6, '{}');"     \
    "INSERT INTO \"rocpd_memory_allocate" s                                                        \
    "\" VALUES(1, 'ALLOC', 1, 4096, 4096), (1, 'ALLOC', 1, "                                       \
    "16384, 4096), (NULL, 'FREE', 120, 16384, 0), (2, 'ALLOC', 1, 32768, 4096);"                   \
    "INSERT INTO \"rocpd_memory_copy" s "\" VALUES"                                                \
    "(150, 190, 1, 2, 70000, 1, 5000, 1024, 1, 3, 2),"                                             \
    "(191, 195, 1, 2, 70000, 1, 16400, 1024, 1, 3, NULL),"                                         \
    "(300, 350, 8, 1, 99999, 2, 1, 2048, 1, 3, NULL),"                                             \
    "(360, 370, 0, 3, 1, 2, 1, 512, 1, 3, NULL),"                                                  \
    "(380, 390, 0, 2, 1, 2, 1, 'x', 1, 3, NULL);"                                                  \
    "INSERT INTO \"rocpd_kernel_dispatch" s "\" VALUES(2, 9, 1, 3, 230, 290, 256, 1, 1, 1000, 1, " \
    "1, 64, 4);"

static void check_set(const haul_workload *workload, size_t first)
{
    static const struct {
        haul_direction direction;
        haul_memory memory;
        uint64_t bytes;
    } copies[] = {
        {HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1024}, /* within what the CPU's agent allocated */
        {HAUL_DIRECTION_HTOD, HAUL_MEMORY_HOST, 1024},   /* which has been freed */
        {HAUL_DIRECTION_DTOH, HAUL_MEMORY_HOST, 2048},
        {HAUL_DIRECTION_PTOP, HAUL_MEMORY_DEVICE, 512},
        {HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE, 0}};
    size_t c = first;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->kind != HAUL_OP_COPY)
            continue;
        assert_int_equal(op->direction, copies[c % 5].direction);
        assert_int_equal(op->detail, copies[c % 5].memory);
        assert_int_equal(op->bytes, copies[c % 5].bytes);
        assert_int_equal((op->flags & HAUL_OP_NO_BYTES) != 0, c % 5 == 4);
        c++;
    }
    assert_int_equal(c - first, 5);
}

/* Stacks that are there are not read, which is said; an empty one is the schema's default. */
static void call_stacks_are_named(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        TABLES("_a1") ROWS("_a1") "ALTER TABLE rocpd_event_a1 ADD COLUMN call_stack DEFAULT '{}';"
                                  "UPDATE rocpd_event_a1 SET call_stack = '{\"frames\":[1]}' "
                                  "WHERE id IN (1, 3);");
    assert_int_equal(profile_note(workload->missing, workload->missing_count, "call stacks"), 2);
    haul_workload_free(workload);
}

static void tables_of_version_3_are_read(void **state)
{
    (void)state;
    haul_workload *workload =
        profile_load(TABLES("_a1") ROWS("_a1") "CREATE TABLE rocpd_info_node_a1(id INT, hostname "
                                               "TEXT); INSERT INTO rocpd_info_node_a1 VALUES(1, "
                                               "'n7');");
    assert_string_equal(workload->format, "rocpd 3");
    check_set(workload, 0);
    const haul_op *copy = &workload->ops[0];
    assert_int_equal(copy->start_ns, 150);
    assert_int_equal(copy->call_ns, 100);
    assert_string_equal(haul_workload_string(workload, copy->name), "hipMemcpyAsync");
    assert_int_equal(workload->threads[copy->thread].process, 4242);
    assert_int_equal(workload->threads[copy->thread].id, 4243);
    assert_int_equal(workload->streams[copy->stream].id, 3);
    const haul_op *kernel = &workload->ops[2];
    assert_int_equal(kernel->kind, HAUL_OP_KERNEL);
    assert_string_equal(haul_workload_string(workload, kernel->name), "k()");
    assert_int_equal(workload->shapes[kernel->shape].grid[0], 4); /* of 1000 work items */
    assert_int_equal(workload->shapes[kernel->shape].block[0], 256);
    assert_int_equal(workload->counts.calls, 2); /* HSA's calls are HIP's own */
    assert_int_equal(workload->range_count, 1);
    assert_string_equal(haul_workload_string(workload, workload->ranges[0].name), "step 1");
    assert_string_equal(workload->devices[0].name, "MI300X");
    assert_string_equal(workload->devices[0].host, "n7");
    assert_int_equal(profile_note(workload->missing, workload->missing_count, "host memory"), 2);
    assert_int_equal(profile_note(workload->missing, workload->missing_count, "of bytes"), 1);
    assert_int_equal(profile_note(workload->missing, workload->missing_count, "call stacks"), -1);
    haul_workload_free(workload);
}

/* Views, and tables of several processes, beside each other; a suffix is no SQL. */
static void suffixes_are_taken_as_they_are(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        TABLES("_a\"\"; DROP TABLE x; --") ROWS("_a\"\"; DROP TABLE x; --") "CREATE TABLE x(y);");
    check_set(workload, 0);
    haul_workload_free(workload);
    sqlite3 *db = profile_make(TABLES("_a") ROWS("_a"));
    assert_int_equal(sqlite3_exec(db, TABLES("_b"), NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, ROWS("_b"), NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE VIEW rocpd_string AS SELECT * FROM rocpd_string_a;",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    workload = profile_read(db);
    assert_int_equal(workload->op_count, 12);
    assert_int_equal(workload->counts.orphans, 8);
    assert_int_equal(workload->stream_count, 4);
    haul_workload_free(workload);
}

/* The ROCm Systems Profiler has functions and samples of the host among its regions. */
static void regions_of_the_host_are_no_calls(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(TABLES("_s") ROWS(
        "_s") "INSERT INTO rocpd_string_s VALUES(20, 'timer_sampling'), (21, "
              "'cputime_sampling'), (22, 'mpi'), (23, 'MPI_Waitall'), (24, 'main'), (25, "
              "'rocm_hsa_api'), (26, 'rocm_hip_api'), (27, 'rocm_marker_api');"
              "INSERT INTO rocpd_event_s VALUES(20, 20, 0), (21, 21, 0), (22, 22, 0), "
              "(23, 25, 0), (24, 26, 0), (25, 27, 0);"
              "INSERT INTO rocpd_region_s VALUES(1, 1, 95, 205, 24, 20, '{}'), (1, 1, 0, "
              "60, 24, 21, '{}'), (1, 1, 300, 350, 23, 22, '{}'), (1, 1, 301, 302, 24, "
              "23, '{}'), (1, 1, 360, 365, 2, 24, '{}'), (1, 1, 80, 500, 24, 25, '{}');");
    assert_int_equal(workload->counts.calls, 3); /* one more of HIP's */
    assert_int_equal(workload->range_count, 3);
    assert_string_equal(haul_workload_string(workload, workload->ranges[2].name), "MPI_Waitall");
    assert_int_equal(profile_note(workload->repairs, workload->repair_count, "sampled"), 2);
    haul_workload_free(workload);
}

static void tables_of_version_2_are_read(void **state)
{
    (void)state;
    haul_workload *workload = profile_load(
        "CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT);"
        "CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid INT, tid INT, start INT, \"end\" INT, "
        "apiName_id INT, args_id INT);"
        "CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId INT, queueId INT, start INT, \"end\" "
        "INT, description_id INT, opType_id INT);"
        "CREATE TABLE rocpd_api_ops(api_id INT, op_id INT);"
        "CREATE TABLE rocpd_copyapi(api_ptr_id INT, stream TEXT, size INT, pinned INT);"
        "CREATE TABLE rocpd_kernelapi(api_ptr_id INT, stream TEXT, kernelName_id INT, gridX INT, "
        "workgroupX INT);"
        "INSERT INTO rocpd_string VALUES(1, ''), (2, 'hipMemcpyAsync'), (3, 'CopyHostToDevice'), "
        "(4, 'KernelExecution'), (5, 'k'), (6, 'UserMarker'), (7, 'step'), (8, 'Barrier'), "
        "(9, 'hipLaunchKernel');"
        "INSERT INTO rocpd_api VALUES(1, 8, 9, 10, 20, 2, 1), (2, 8, 9, 25, 30, 9, 1), (3, 8, 9, "
        "5, "
        "60, 6, 7), (4, 8, 9, 31, 33, 2, 1);"
        "INSERT INTO rocpd_op VALUES(1, 2, 0, 15, 19, 1, 3), (2, 2, 1, 28, 40, 1, 4), (3, 2, 1, "
        "41, "
        "42, 1, 8), (4, 2, 0, 45, 50, 1, 3);"
        "INSERT INTO rocpd_api_ops VALUES(1, 1), (2, 2), (4, 4);"
        "INSERT INTO rocpd_copyapi VALUES(1, '0x1f', 4096, 0), (4, '0x1f', '', 0);"
        "INSERT INTO rocpd_kernelapi VALUES(2, '0x1f', 5, 7, 64);");
    assert_string_equal(workload->format, "rocpd 2");
    assert_int_equal(workload->op_count, 3);
    assert_int_equal(workload->ops[0].bytes, 4096);
    assert_int_equal(workload->ops[0].call_ns, 10);
    assert_int_equal(workload->streams[workload->ops[0].stream].id, 0x1f);
    assert_int_equal(workload->stream_count, 1);
    assert_string_equal(haul_workload_string(workload, workload->ops[1].name), "k");
    assert_int_equal(workload->shapes[workload->ops[1].shape].grid[0], 7);
    assert_int_equal(workload->ops[2].flags & HAUL_OP_NO_BYTES, HAUL_OP_NO_BYTES);
    assert_string_equal(haul_workload_string(workload, workload->ranges[0].name), "step");
    assert_int_equal(profile_note(workload->missing, workload->missing_count, "other types"), 1);
    haul_workload_free(workload);
}

static const char *data_path(const char *name)
{
    static char path[1024];
    const char *data = getenv("HAUL_DATA");
    snprintf(path, sizeof path, "%s/traces/rocpd/%s", data && *data ? data : "../shared/data",
             name);
    return path;
}

/* Sums by SQL: SELECT s.string, count(*), sum(end - start), ... FROM rocpd_op and its like. */
static void the_file_of_the_data_is_read(void **state)
{
    (void)state;
    if (access(data_path("matmul-v2.rpd"), R_OK)) {
        skip();
    }
    haul_workload *workload = NULL;
    assert_int_equal(haul_trace_load(data_path("matmul-v2.rpd"), &workload, NULL), HAUL_OK);
    workload_check(workload);
    uint64_t bytes = 0;
    int64_t copies_ns = 0, kernels_ns = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        bytes += op->kind == HAUL_OP_COPY ? op->bytes : 0;
        copies_ns += op->kind == HAUL_OP_COPY ? op->dur_ns : 0;
        kernels_ns += op->kind == HAUL_OP_KERNEL ? op->dur_ns : 0;
    }
    assert_int_equal(workload->counts.device_ops, 85);
    assert_int_equal(workload->counts.calls, 125);
    assert_int_equal(bytes, 2032000296);
    assert_int_equal(copies_ns, 334758 + 157178063);
    assert_int_equal(kernels_ns, 26399795);
    haul_workload_free(workload);
}

static void csv_of_kernels_is_read_and_of_copies_refused(void **state)
{
    (void)state;
    if (access(data_path("rocprofv3-csv/kernel_trace.csv"), R_OK)) {
        skip();
    }
    haul_workload *workload = NULL;
    haul_error error = {0};
    assert_int_equal(
        haul_trace_load(data_path("rocprofv3-csv/kernel_trace.csv"), &workload, &error), HAUL_OK);
    workload_check(workload);
    assert_string_equal(workload->format, "rocprofv3 CSV");
    assert_string_equal(
        haul_workload_string(workload, workload->ops[0].name),
        "void addition_kernel<float>(float*, float const*, float const*, int, int)");
    assert_int_equal(workload->ops[0].dur_ns, 12800);
    assert_int_equal(workload->shapes[workload->ops[0].shape].grid[0], 16);
    haul_workload_free(workload);
    workload = NULL;
    assert_int_equal(
        haul_trace_load(data_path("rocprofv3-csv/memory_copy_trace.csv"), &workload, &error),
        HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "--output-format rocpd"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_version_3_are_read),
        cmocka_unit_test(call_stacks_are_named),
        cmocka_unit_test(suffixes_are_taken_as_they_are),
        cmocka_unit_test(regions_of_the_host_are_no_calls),
        cmocka_unit_test(tables_of_version_2_are_read),
        cmocka_unit_test(the_file_of_the_data_is_read),
        cmocka_unit_test(csv_of_kernels_is_read_and_of_copies_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
