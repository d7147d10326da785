#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cost/samples.h"

static haul_status parse(const char *text, haul_samples *samples, haul_error *error)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    *error = (haul_error){0};
    const haul_status status = hl_cost_samples_parse(copy, strlen(text), "s", samples, error);
    free(copy);
    return status;
}

static haul_samples parsed(const char *text)
{
    haul_samples samples = {0};
    haul_error error;
    const haul_status status = parse(text, &samples, &error);
    if (status)
        print_error("%d:%d: %s\n", error.line, error.column, error.text);
    assert_int_equal(status, HAUL_OK);
    return samples;
}

static void check_sample(const haul_sample *sample, haul_direction direction, haul_memory memory,
                         uint64_t bytes, double seconds)
{
    assert_int_equal(sample->copy.direction, direction);
    assert_int_equal(sample->copy.memory, memory);
    assert_int_equal(sample->copy.bytes, bytes);
    CHECK_NEAR(sample->seconds, seconds, 1e-12);
}

static void csv_is_read(void **state)
{
    (void)state;
    haul_samples samples = parsed("gpu,Seconds,bytes,host_memory,direction,locality\r\n"
                                  "\"K40, old\",1.5e-05,4096,Pinned,htod,far\r\n"
                                  "x,12 us,64 KiB,pageable,DtoH,near\r\n");
    assert_int_equal(samples.count, 2);
    check_sample(&samples.items[0], HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 4096, 1.5e-5);
    assert_int_equal(samples.items[0].copy.locality, HAUL_LOCALITY_FAR);
    check_sample(&samples.items[1], HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, 65536, 12e-6);
    assert_int_equal(samples.items[1].copy.locality, HAUL_LOCALITY_NEAR);
    haul_samples_free(&samples);
    assert_null(samples.items);
}

/* Tabs, characters beyond U+FFFF, repetitions beside their aggregates, rows of other benchmarks. */
static const char comm_scope[] =
    "{\n\t\"context\": {\"executable\": \"\\u00e9 \\ud83d\\ude00 \\\\ud83d \\/x\", \"caches\": "
    "[]},\n"
    "\t\"benchmarks\": [\n"
    "\t\t{\"name\": \"Comm_cudaMemcpyAsync_PinnedToGPU/0/0/log2(N):20/manual_time\",\n"
    "\t\t \"run_type\": \"iteration\", \"real_time\": 8.6912e+04, \"time_unit\": \"ns\",\n"
    "\t\t \"bytes\": 1.0485760000000000e+06, \"bytes_per_second\": 1.2e+10},\n"
    "\t\t{\"name\": \"Comm_cudaMemcpyAsync_GPUToHost/0/0/log2(N):10/manual_time\",\n"
    "\t\t \"real_time\": 2, \"time_unit\": \"us\", \"bytes_per_second\": 5.12e8},\n"
    "\t\t{\"name\": \"Comm_cudaMemcpyAsync_PinnedToGPU/0/0/log2(N):20/manual_time_median\",\n"
    "\t\t \"run_type\": \"aggregate\", \"real_time\": 1, \"time_unit\": \"ns\", \"bytes\": 1},\n"
    "\t\t{\"name\": \"Comm_3d_cudaMemcpy2DAsync_PinnedToGPU/0\", \"real_time\": \"?\"},\n"
    "\t\t{\"name\": \"Comm_UM_Prefetch_HostToGPU/0\"},\n"
    "\t\t{\"name\": \"NUMA_Memcpy_HostToGPU/9/0/0\", \"error_occurred\": true}\n"
    "\t]\n}\n";

static void google_benchmark_is_read(void **state)
{
    (void)state;
    haul_samples samples = parsed(comm_scope);
    assert_int_equal(samples.count, 2);
    check_sample(&samples.items[0], HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1048576, 8.6912e-5);
    check_sample(&samples.items[1], HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, 1024, 2e-6);
    haul_samples_free(&samples);

    /* SCOPE keeps aggregates only where it is told to: then the medians are the samples */
    samples =
        parsed("{\"benchmarks\":[{\"name\":\"NUMA_Memcpy_GPUToPinned/8/0/2/manual_time_mean\","
               "\"real_time\":9,\"bytes\":256},{\"name\":"
               "\"NUMA_Memcpy_GPUToPinned/8/0/2/manual_time_median\",\"real_time\":7000,"
               "\"bytes\":256}]}");
    assert_int_equal(samples.count, 1);
    check_sample(&samples.items[0], HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 256, 7e-6);
    haul_samples_free(&samples);
}

static void nvbandwidth_is_read(void **state)
{
    (void)state;
    static const char text[] =
        "{\n  \"nvbandwidth\" : \n  {\n    \"CUDA Runtime Version\" : 12040,\n"
        "    \"testcases\" : [\n"
        "      {\"name\" : \"host_to_device_memcpy_ce\", \"status\" : \"Passed\", \"sum\" : 51.2,\n"
        "       \"bandwidth_matrix\" : [ [ \"25.6\", \"N/A\", \"0\" ] ]},\n"
        "      {\"name\" : \"host_to_device_bidirectional_memcpy_ce\",\n"
        "       \"bandwidth_matrix\" : [ [ \"18\" ] ]},\n"
        "      {\"name\" : \"device_to_host_memcpy_ce\", \"status\" : \"Waived\"},\n"
        "      {\"name\" : \"device_to_device_memcpy_read_ce\",\n"
        "       \"bandwidth_matrix\" : [ [ \"N/A\", \"276\" ], [ \"277\", \"N/A\" ] ]}\n"
        "    ]\n  }\n}\n";
    haul_samples samples = parsed(text);
    assert_int_equal(samples.count, 4);
    check_sample(&samples.items[0], HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 536870912,
                 536870912 / 25.6e9);
    check_sample(&samples.items[1], HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 536870912,
                 536870912 / 18e9);
    check_sample(&samples.items[3], HAUL_DIRECTION_PTOP, HAUL_MEMORY_DEVICE, 536870912,
                 536870912 / 277e9);
    assert_int_equal(samples.items[0].condition, HAUL_CONDITION_ALONE);
    assert_int_equal(samples.items[1].condition, HAUL_CONDITION_BUSY);
    assert_int_equal(samples.items[3].condition, HAUL_CONDITION_ALONE);
    haul_samples_free(&samples);
    samples = parsed("{\"nvbandwidth\":{\"bufferSize\":64,\"testcases\":[{\"name\":"
                     "\"device_to_host_memcpy_ce\",\"bandwidth_matrix\":[[10]]}]}}");
    check_sample(&samples.items[0], HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 67108864,
                 67108864 / 10e9);
    haul_samples_free(&samples);
}

static void wrong_input_is_located(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *says;
    } wrong[] = {
        {"", 1, 1, "empty"},
        {"direction,host_memory,bytes\n", 1, 1, "'seconds'"},
        {"direction,host_memory,bytes,seconds\n", 0, 0, "no measured copies"},
        {"direction,host_memory,bytes,seconds\nup,pinned,1,1\n", 2, 1, "up"},
        {"direction,host_memory,bytes,seconds,condition\nHtoD,pinned,1,1,late\n", 2, 17, "late"},
        {"direction,host_memory,bytes,seconds\nHtoD,soft,1,1\n", 2, 6, "soft"},
        {"direction,host_memory,bytes,seconds\nHtoD,pinned,-1,1\n", 2, 13, "bytes"},
        {"direction,host_memory,bytes,seconds\nHtoD,pinned,1,nan\n", 2, 15, "expected seconds"},
        {"direction,host_memory,bytes,seconds\nHtoD,pinned,1,-2\n", 2, 15, "duration"},
        {"direction,host_memory,bytes,seconds\nHtoD,pinned,1,\n", 2, 15, "expected seconds"},
        {"direction,host_memory,bytes,seconds\nHtoD,pinned,1,5 km\n", 2, 15, "expected seconds"},
        {"direction,host_memory,bytes,seconds,locality\nHtoD,pinned,1,1,here\n", 2, 17, "near"},
        {"{\"a\": [1, 2}", 1, 12, "not JSON"},
        {"{\"a\": \"\\q\"}", 1, 8, "not JSON"},
        {"{\"a\": 1}", 1, 1, "neither"},
        {"[1]", 1, 1, "neither"},
        {"{\"benchmarks\": []}", 1, 16, "no benchmark"},
        {"{\"benchmarks\":\n [{\"name\": \"X_Memcpy_GPUToHost/1\"}]}", 2, 3, "real_time"},
        {"{\"benchmarks\":\n [{\"name\": \"X_Memcpy_GPUToHost/1\", \"real_time\": 1}]}", 2, 3,
         "counter"},
        {"{\"benchmarks\":\n [{\"name\": \"X_Memcpy_GPUToHost/1\", \"real_time\": 1,\n"
         "\"time_unit\": \"h\"}]}",
         3, 14, "time_unit"},
        {"{\"benchmarks\":\n [{\"name\": \"X_Memcpy_GPUToHost/1\", \"real_time\": 1,\n"
         "\"bytes\": 1e30}]}",
         3, 10, "2^63"},
        {"{\"nvbandwidth\": {\"testcases\": [{\"name\": \"host_to_device_memcpy_ce\",\n"
         "\"bandwidth_matrix\": [[\"fast\"]]}]}}",
         2, 23, "GB/s"},
        {"{\"nvbandwidth\": {\"testcases\": 7}}", 1, 17, "no test case"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        haul_samples samples = {.count = 7};
        haul_error error;
        assert_int_equal(parse(wrong[i].text, &samples, &error), HAUL_STATUS_BAD_INPUT);
        assert_int_equal(samples.count, 7);
        assert_string_equal(error.file, "s");
        if (!strstr(error.text, wrong[i].says) || error.line != wrong[i].line ||
            error.column != wrong[i].column)
            fail_msg("case %zu: %d:%d: %s", i, error.line, error.column, error.text);
    }
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    char *text = malloc(1000001);
    assert_non_null(text);
    memset(text, '[', 1000000);
    text[1000000] = '\0';
    haul_samples samples;
    haul_error error;
    assert_int_equal(parse(text, &samples, &error), HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "deep"));
    assert_int_equal(error.column, 2049);
    free(text);
}

static void files_are_found_by_content(void **state)
{
    (void)state;
    char path[] = "/tmp/haul-samples-XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    gzFile file = gzdopen(descriptor, "wb");
    assert_non_null(file);
    gzputs(file, comm_scope);
    gzclose(file);
    haul_samples samples;
    haul_error error = {0};
    assert_int_equal(haul_samples_load(path, &samples, &error), HAUL_OK);
    assert_int_equal(samples.count, 2);
    haul_samples_free(&samples);
    unlink(path);
    assert_int_equal(haul_samples_load(path, &samples, &error), HAUL_STATUS_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_is_read),
        cmocka_unit_test(google_benchmark_is_read),
        cmocka_unit_test(nvbandwidth_is_read),
        cmocka_unit_test(wrong_input_is_located),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(files_are_found_by_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
