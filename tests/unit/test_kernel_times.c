/* Measured kernels: tables of people and of profilers. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/kernel_file.h"
#include "haul/kernel_times.h"

static haul_kernel_times *parsed(const char *text)
{
    char *copy = strdup(text);
    haul_kernel_times *times = NULL;
    haul_error error = {0};
    char said[1200];
    if (haul_kernel_times_parse(copy, strlen(copy), (haul_kernel_csv){.path = "t.csv"}, &times,
                                &error))
        fail_msg("%s", haul_error_format(&error, said, sizeof said));
    free(copy);
    return times;
}

static void times_have_the_unit_of_their_column(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } rows[] = {
        {"n,seconds\n8,1.5\n", 1.5},
        {"n,kernel_s\n8,1.5e-3\n", 1.5e-3},
        {"N,Time (us)\n8,12\n", 12e-6},
        {"size,median_ms,min_ms,max_ms\n8,3,2,4\n", 3e-3},
        {"max_ms,mean_ms,n\n4,3,8\n", 3e-3},
        {"n,time_ns\n8,\"1,500\"\n", 1.5e-6},
        {"n,time_ms\n8,3 ms\n", 3e-3},
        {"n,duration\n8,3 us\n", 3e-6},
        {"Input.Size,Duration\n8,0.25\n", 0.25},
        {"problem_size,elapsed_ms\n8,3\n", 3e-3},
        {"n,min_time_us,median_time_us,runtime_us\n8,1,3,9\n", 3e-6},
        {"Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Name,n\n99,6,2,3,2,k,8\n", 2e-9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        haul_kernel_times *times = parsed(rows[i].text);
        assert_int_equal(times->count, 1);
        CHECK_NEAR(times->rows[0].seconds, rows[i].seconds, 1e-12);
        CHECK_NEAR(times->rows[0].size, 8, 0);
        assert_int_equal(times->rows[0].line, 2);
        assert_string_equal(times->rows[0].file, "t.csv");
        haul_kernel_times_free(times);
    }
}

static void names_come_without_their_parameters(void **state)
{
    (void)state;
    haul_kernel_times *times = parsed("gpu,kernel,n,time_s\n"
                                      "Tesla K40c (0),\"void mul<float>(float*, int) [7]\",8,1\n"
                                      ",plain,9,1\n");
    assert_string_equal(times->rows[0].gpu, "Tesla K40c");
    assert_string_equal(times->rows[0].kernel, "mul");
    assert_null(times->rows[1].gpu);
    assert_string_equal(times->rows[1].kernel, "plain");
    haul_kernel_times_free(times);
}

/* Counters by whatever name, and what BSP makes of them. */
static void counters_give_counts(void **state)
{
    (void)state;
    haul_kernel_times *times =
        parsed("Input.Size,Duration,Grid.X,Grid.Y,Block.X,inst_executed,gld_inst_32bit,"
               "gld_inst_64bit,gst_request,shared_load,Device.Memory.Read.Transactions,"
               "Device.Memory.Write.Transactions,l2_subp0_read_l1_sector_queries,"
               "l2_subp1_read_l1_sector_queries,l2_subp0_read_l1_hit_sectors,"
               "l2_subp1_read_l1_hit_sectors,Texture.Cache.Transactions\n"
               "4096,1e-4,8,2,256,1280,8192,4096,128,128,1000,500,300,100,150,50,NA\n");
    const haul_kernel_measured *row = &times->rows[0];
    assert_true(row->is_counted);
    CHECK_NEAR(row->counts.threads, 4096, 0);
    CHECK_NEAR(row->counts.block, 256, 0);
    CHECK_NEAR(row->counts.loads_global, 3, 1e-12);
    CHECK_NEAR(row->counts.stores_global, 1, 1e-12);
    CHECK_NEAR(row->counts.loads_shared, 1, 1e-12);
    CHECK_NEAR(row->counts.comp, 10 - 5, 1e-12);
    CHECK_NEAR(row->counts.l2_hits, 1.5, 1e-12);
    CHECK_NEAR(row->counts.bytes, 1500 * 32, 1e-12);
    haul_kernel_times_free(times);
}

/* ncu --page raw: a launch a row, the units in the second line. */
static void nsight_computes_raw_page_is_read(void **state)
{
    (void)state;
    haul_kernel_times *times = parsed(
        "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"dram__bytes_read.sum\","
        "\"gpu__time_duration.sum\",\"launch__grid_size\",\"smsp__inst_executed.sum\","
        "\"smsp__inst_executed_op_global_ld.sum\",\"smsp__inst_executed_op_global_st.sum\"\n"
        "\"\",\"\",\"\",\"\",\"\",\"Kbyte\",\"us\",\"\",\"inst\",\"inst\",\"inst\"\n"
        "\"0\",\"mul(float *)\",\"(16, 16, 1)\",\"(2, 2, 1)\",\"0\",\"8.192\",\"12.5\",\"4\","
        "\"320\",\"64\",\"32\"\n");
    const haul_kernel_measured *row = &times->rows[0];
    assert_int_equal(times->count, 1);
    assert_null(row->gpu);
    assert_string_equal(row->kernel, "mul");
    CHECK_NEAR(row->seconds, 12.5e-6, 1e-12);
    assert_true(row->is_counted);
    CHECK_NEAR(row->counts.threads, 1024, 0);
    CHECK_NEAR(row->counts.block, 256, 0);
    CHECK_NEAR(row->counts.bytes, 8192, 1e-12);
    CHECK_NEAR(row->counts.loads_global, 2, 1e-12);
    CHECK_NEAR(row->counts.comp, 7, 1e-12);
    haul_kernel_times_free(times);
}

/* The counters of another set of metrics: requests, sectors, thousands of instructions. Bytes by
 * sectors and by themselves are the same bytes. */
static void requests_and_sectors_are_counted(void **state)
{
    (void)state;
    static const char head[] =
        "ID,Kernel Name,Block Size,Grid Size,Metric Name,Metric Unit,Metric Value\n";
    static const struct {
        const char *name;
        const char *unit;
        const char *value;
    } metrics[] = {
        {"gpu__time_duration.sum", "us", "12.5"},
        {"smsp__inst_executed.sum", "Kinst", "0.32"},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request", "64"},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", "256"},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "request", "32"},
        {"dram__sectors_read.sum", "sector", "200"},
        {"dram__sectors_write.sum", "sector", "56"},
        {"dram__bytes_read.sum", "Kbyte", "6.4"},
        {"dram__bytes_write.sum", "byte", "1,792"},
        {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "inst", "1,024"},
    };
    enum { METRICS = sizeof metrics / sizeof *metrics };
    for (size_t without = METRICS; without >= METRICS - 3; without -= 3) {
        char text[2000];
        size_t length = (size_t)sprintf(text, "%s", head);
        for (size_t i = 0; i < METRICS; i++)
            if (without == METRICS || (i != without && i != without + 1))
                length += (size_t)sprintf(text + length,
                                          "0,mul,\"(256, 1, 1)\",\"(4, 1, 1)\",%s,%s,\"%s\"\n",
                                          metrics[i].name, metrics[i].unit, metrics[i].value);
        haul_kernel_times *times = parsed(text);
        assert_int_equal(times->count, 1);
        const haul_kernel_measured *row = &times->rows[0];
        assert_true(row->is_counted);
        CHECK_NEAR(row->counts.loads_global, 2, 1e-12);
        CHECK_NEAR(row->counts.stores_global, 1, 1e-12);
        CHECK_NEAR(row->counts.comp, 7, 1e-12);
        CHECK_NEAR(row->counts.bytes, 8192, 1e-12);
        CHECK_NEAR(row->counts.flops, 2048, 1e-12);
        haul_kernel_times_free(times);
    }
}

/* Kernels alone, of nvprof's summary and of the traces of Nsight Systems. */
static void summaries_and_traces_are_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "==1== Profiling result:\n"
        "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"
        ",%,ms,,us,us,us,\n"
        "\"GPU activities\",99,4.0,2,2000,1999,2001,\"mul(float*)\"\n"
        "\"GPU activities\",1,0.1,2,50,49,51,\"[CUDA memcpy HtoD]\"\n"
        "\"API calls\",80,120.2,3,40,1,100,\"cudaMalloc\"\n",
        "==1== Profiling result:\n"
        "\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"
        "%,s,,ms,ms,ms,\n"
        "99,4.0,2,2,1,3,\"mul(float*)\"\n",
        "Start (ns),Duration (ns),GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Name\n"
        "1,1000,,,,,,,Tesla K40 (0),[CUDA memcpy Host-to-Device]\n"
        "2,2000000,4,2,1,16,8,1,Tesla K40 (0),\"mul(float *)\"\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        haul_kernel_times *times = parsed(texts[i]);
        assert_int_equal(times->count, 1);
        assert_string_equal(times->rows[0].kernel, "mul");
        CHECK_NEAR(times->rows[0].seconds, 2e-3, 1e-12);
        if (times->rows[0].block[0])
            CHECK_NEAR(times->rows[0].counts.threads, 1024, 0);
        haul_kernel_times_free(times);
    }
}

/* nvprof --print-gpu-trace --metrics: a launch a row, with no time. */
static void metrics_of_a_trace_take_their_times_from_another(void **state)
{
    (void)state;
    haul_kernel_times *times =
        parsed("\"Start\",\"Duration\",\"Grid X\",\"Block X\",\"Device\",\"Name\"\n"
               "s,ms,,,,\n"
               "1,2,4,64,\"K40 (0)\",\"mul(int) [1]\"\n"
               "2,4,4,64,\"K40 (0)\",\"mul(int) [2]\"\n"
               "\"Device\",\"Context\",\"Stream\",\"Kernel\",\"gld_request\",\"gst_request\","
               "\"inst_executed\",\"l2_l1_read_hit_rate\"\n"
               "\"K40 (0)\",\"1\",\"7\",\"mul(int) [1]\",16,8,80,25.000000%\n");
    assert_int_equal(times->count, 1);
    const haul_kernel_measured *row = &times->rows[0];
    assert_true(row->is_counted);
    assert_int_equal(row->line, 6);
    CHECK_NEAR(row->seconds, 3e-3, 1e-12);
    CHECK_NEAR(row->counts.threads, 256, 0);
    CHECK_NEAR(row->counts.loads_global, 2, 1e-12);
    CHECK_NEAR(row->counts.l2_hits, 0.5, 1e-12);
    haul_kernel_times_free(times);
}

/* Two launches that were counted apart each have the time of those that were timed; a name that one
 * side does not say fits any. */
static void counters_take_the_times_that_fit(void **state)
{
    (void)state;
    haul_kernel_times *times = parsed("Device,Kernel,n,time_ms,grid_x,block_x\n"
                                      "a,mul,8,2,4,64\n"
                                      "a,mul,9,5,4,64\n"
                                      ",mul,8,4,4,64\n"
                                      "b,mul,8,7,4,64\n"
                                      "a,add,8,9,4,64\n"
                                      "a,mix,8,1,4,64\n"
                                      "a,mix,8,1,8,64\n"
                                      "Device,Kernel,n,gld_request\n"
                                      "a,mul,8,16\n"
                                      "a,mul,8,17\n"
                                      ",mul,9,18\n"
                                      "c,add,8,19\n"
                                      "a,mix,8,20\n"
                                      "b,,8,21\n");
    static const struct {
        int line;
        double seconds;
    } rows[] = {{6, 9e-3},  {7, 1e-3}, {8, 1e-3}, {10, 3e-3},  {11, 3e-3},
                {12, 5e-3}, {13, 0},   {14, 0},   {15, 5.5e-3}};
    assert_int_equal(times->count, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < times->count; i++) {
        assert_int_equal(times->rows[i].line, rows[i].line);
        CHECK_NEAR(times->rows[i].seconds, rows[i].seconds, 1e-12);
    }
    assert_string_equal(times->rows[5].gpu, "a");
    haul_kernel_times_free(times);
}

/* Both ways of writing counters, a hundred thousand launches each. */
static void many_launches_are_joined(void **state)
{
    (void)state;
    enum { LAUNCHES = 100000, LINE = 96 };
    char *text = malloc((size_t)LAUNCHES * 2 * LINE);
    assert_non_null(text);
    size_t length = (size_t)sprintf(text, "Device,Kernel,n,time_ms,grid_x,block_x\n");
    for (int i = 1; i <= LAUNCHES; i++)
        length += (size_t)sprintf(text + length, "a,mul%d,%d,%d,4,64\n", i % 7, i, i);
    length += (size_t)sprintf(text + length, "Device,Kernel,n,gld_request\n");
    for (int i = LAUNCHES; i > 0; i--)
        length += (size_t)sprintf(text + length, "%s,mul%d,%d,16\n", i % 2 ? "a" : "", i % 7, i);
    haul_kernel_times *times = parsed(text);
    assert_int_equal(times->count, LAUNCHES);
    for (int i = 0; i < LAUNCHES; i++)
        CHECK_NEAR(times->rows[i].seconds, (LAUNCHES - i) * 1e-3, 1e-12);
    haul_kernel_times_free(times);
    length = (size_t)sprintf(text, "ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n");
    for (int i = 0; i < 2 * LAUNCHES; i++) /* all of one metric, then all of the other */
        length +=
            (size_t)sprintf(text + length, "%d,mul,%s\n", i % LAUNCHES,
                            i < LAUNCHES ? "gpu__time_duration.sum,ms,2" : "launch__grid_size,,4");
    times = parsed(text);
    assert_int_equal(times->count, LAUNCHES);
    CHECK_NEAR(times->rows[LAUNCHES - 1].seconds, 2e-3, 1e-12);
    haul_kernel_times_free(times);
    free(text);
}

static void sizes_have_their_place(void **state)
{
    (void)state;
    haul_kernel_times *times = parsed("time_ms,n\n1.5,8\n2,\n");
    assert_int_equal(times->rows[0].column, 5);
    assert_int_equal(times->rows[1].line, 3);
    assert_int_equal(times->rows[1].column, 3);
    haul_kernel_times_free(times);
    times = parsed("time_ms\n1.5\n");
    assert_int_equal(times->rows[0].column, 1);
    haul_kernel_times_free(times);
}

static void check_refused(const char *text, int line, int column, const char *why)
{
    char *copy = strdup(text);
    haul_kernel_times *times = NULL;
    haul_error error = {0};
    assert_int_equal(haul_kernel_times_parse(copy, strlen(copy), (haul_kernel_csv){.path = "t.csv"},
                                             &times, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_null(times);
    assert_string_equal(error.text, why);
    if (error.line != line || error.column != column)
        fail_msg("%s: at %d:%d", why, error.line, error.column);
    free(copy);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    check_refused("", 1, 1, "empty: expected a header line with the columns' names");
    check_refused("== no table\n", 2, 1, "empty: expected a header line with the columns' names");
    check_refused("n,time_ms\n8,1e400\n", 2, 3, "expected a value above 0, not '1e400'");
    check_refused("n,time_ms\n8,nan\n", 2, 3, "expected a time, not 'nan'");
    check_refused("n,time_ms\n8,\n", 2, 3, "expected a time, not ''");
    check_refused("n,time_ms\n8,1 parsec\n", 2, 3, "unknown unit 'parsec' in '1 parsec'");
    check_refused("n,time_ms\n4K,1\n", 2, 1, "unknown unit 'K' in '4K'");
    check_refused("n,time_ms\n1 GB,1\n", 2, 1, "unknown unit 'GB' in '1 GB'");
    check_refused("n,time_ms,gld_request\n8,1,4M\n", 2, 5, "unknown unit 'M' in '4M'");
    check_refused("Start,Duration,Name\nms,us,\n1,2,k\n3 ms,4 s,k\n,m,k\n", 5, 2,
                  "expected a time, not 'm'");
    check_refused("Device,Kernel,Metric Name\nx,k,gld_request\n", 2, 5,
                  "expected a column of values, 'Avg' or 'Metric Value', beside the metrics");
}

/* Counters of two sizes tell those between and beyond them. */
static void counted_kernels_are_kept_and_read_back(void **state)
{
    (void)state;
    const haul_kernel_counts small = {.threads = 1024, .block = 128, .comp = 10, .loads_global = 4};
    haul_kernel_sample samples[] = {{.size = 4096, .seconds = 4e-3, .counts = small},
                                    {.size = 1024, .seconds = 1e-3, .counts = small}};
    samples[0].counts.threads = 16384;
    const haul_kernel_samples all = {samples, 2};
    char *text = NULL;
    size_t size = 0;
    haul_error error = {0};
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(
        haul_kernel_file_write(NULL, "my \"kernel\"", "./m\xc3\xbc\\k40.yaml", &all, out, &error),
        HAUL_OK);
    assert_int_equal(fclose(out), 0);
    haul_kernel_file *kernel = NULL;
    assert_int_equal(haul_kernel_file_parse(text, size, "k.yaml", &kernel, &error), HAUL_OK);
    assert_string_equal(kernel->name, "my \"kernel\"");
    assert_string_equal(kernel->machine, "./m\xc3\xbc\\k40.yaml");
    assert_int_equal(kernel->sample_count, 2);
    CHECK_NEAR(kernel->samples[0].size, 1024, 0);
    CHECK_NEAR(kernel->samples[1].counts.threads, 16384, 0);
    haul_kernel_counts counts;
    assert_int_equal(haul_kernel_file_at(kernel, 2048, &counts, &error), HAUL_OK);
    CHECK_NEAR(counts.threads, 4096, 1e-9);
    CHECK_NEAR(counts.loads_global, 4, 1e-9);
    assert_int_equal(haul_kernel_file_at(kernel, 8192, &counts, &error), HAUL_OK);
    CHECK_NEAR(counts.threads, 65536, 1e-9);
    assert_int_equal(haul_kernel_file_at(kernel, 512, &counts, &error), HAUL_OK);
    CHECK_NEAR(counts.threads, 256, 1e-9);
    assert_int_equal(haul_kernel_file_at(kernel, 4096, &counts, &error), HAUL_OK);
    CHECK_NEAR(counts.threads, 16384, 0);
    haul_kernel_file_free(kernel);
    free(text);
}

static void one_counted_size_says_nothing_of_others(void **state)
{
    (void)state;
    static const char yaml[] =
        "haul_kernel: 1\nname: k\nsummary: s\nvariable: {from: 1, to: 100}\nmeasured:\n"
        "  machine: k40\n  sizes:\n"
        "    - {size: 10, seconds: 1, threads: 1, block: 1, comp: 1, loads_global: 1, "
        "stores_global: 1}\n"
        "    - {size: 10, seconds: 2, threads: 1, block: 1, comp: 1, loads_global: 1, "
        "stores_global: 1}\n";
    haul_kernel_file *kernel = NULL;
    haul_error error = {0};
    haul_kernel_counts counts;
    assert_int_equal(haul_kernel_file_parse(yaml, strlen(yaml), "k.yaml", &kernel, &error),
                     HAUL_OK);
    assert_int_equal(haul_kernel_file_at(kernel, 10, &counts, &error), HAUL_OK);
    static const double others[] = {5, 20};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(haul_kernel_file_at(kernel, others[i], &counts, &error),
                         HAUL_STATUS_BAD_INPUT);
        assert_int_equal(error.line, 8);
    }
    haul_kernel_file_free(kernel);
}

static void rows_without_a_grid_are_kept(void **state)
{
    (void)state;
    haul_kernel_times *times = parsed("kernel,n,time_ms,grid_x,block_x\n"
                                      "mul,8,1,4,64\n"
                                      "mul,9,2,,\n"
                                      "[CUDA memset],,3,,\n");
    assert_int_equal(times->count, 2);
    CHECK_NEAR(times->rows[1].seconds, 2e-3, 1e-12);
    haul_kernel_times_free(times);
}

/* All threads along the first side where the sides are not told. */
static void blocks_have_their_shape(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int block[3];
    } rows[] = {
        {"n,time_ms,block_x,block_y\n8,1,16,8\n", {16, 8, 1}},
        {"n,time_ms,block_z,block_y,block_x\n8,1,2,4,8\n", {8, 4, 2}},
        {"n,time_ms,Block Size\n8,1,\"(32, 2, 1)\"\n", {32, 2, 1}},
        {"n,time_ms,launch__block_size\n8,1,256\n", {256, 1, 1}},
        {"n,time_ms\n8,1\n", {0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        haul_kernel_times *times = parsed(rows[i].text);
        assert_memory_equal(times->rows[0].block, rows[i].block, sizeof rows[i].block);
        haul_kernel_times_free(times);
    }
}

/* As many threads in all, and in a block: whose time is the counters' is not known. */
/* A table may have a launch as a whole and by its sides, in any order. */
static void launches_that_are_told_twice_count_once(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "n,time_ms,blocks,grid_x,grid_y,block_x\n8,1,12,4,3,256\n",
        "n,time_ms,grid_x,grid_y,block_x,blocks\n8,1,4,3,256,12\n",
        "n,time_ms,Grid Size,grid_x,grid_y,Block Size,block_x\n"
        "8,1,\"(4, 3, 1)\",4,3,\"(256, 1, 1)\",256\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        haul_kernel_times *times = parsed(texts[i]);
        CHECK_NEAR(times->rows[0].counts.threads, 12 * 256, 0);
        assert_int_equal(times->rows[0].block[0], 256);
        haul_kernel_times_free(times);
    }
}

static void counters_take_no_time_of_mixed_blocks(void **state)
{
    (void)state;
    static const char head[] = "Device,Kernel,n,inst_executed,gld_request,gst_request\n"
                               "a,mul,8,9,1,1\n"
                               "Device,Kernel,n,grid_x,block_x,block_y,time_ms\n";
    static const struct {
        const char *timed;
        double seconds;
    } rows[] = {
        {"a,mul,8,8,8,8,1\na,mul,8,8,8,8,3\n", 2e-3},
        {"a,mul,8,8,8,8,1\na,mul,8,8,16,4,3\n", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s", head, rows[i].timed);
        haul_kernel_times *times = parsed(text);
        CHECK_NEAR(times->rows[0].seconds, rows[i].seconds, 1e-12);
        haul_kernel_times_free(times);
    }
}

static void flops_and_bytes_are_found_by_name_and_launch(void **state)
{
    (void)state;
    haul_kernel_times *times = parsed(
        "Name,Grid Size,Block Size,dram__bytes_read.sum,dram__bytes_write.sum,flop_count_sp,"
        "flop_count_dp,time_us\n"
        "\"void ns::mul<float>(float*)\",\"(8, 1, 1)\",\"(64, 1, 1)\",100 B,20 B,1000,500,1\n"
        "\"void ns::mul<float>(float*)\",\"(8, 1, 1)\",\"(64, 1, 1)\",140 B,20 B,1000,700,1\n"
        "\"void ns::mul<float>(float*)\",\"(9, 1, 1)\",\"(64, 1, 1)\",9 B,9 B,9,9,1\n");
    const haul_kernel_launches launch = {.count = 1, .blocks = 8, .block = 64}, any = {.count = 1};
    double flops = -1, bytes = -1;
    haul_kernel_times_find(times, "void ns::mul<double>(double*)", &launch, &flops, &bytes);
    CHECK_NEAR(flops, 1600, 1e-12);
    CHECK_NEAR(bytes, 140, 1e-12);
    haul_kernel_times_find(times, "ns::mul", &any, &flops, &bytes);
    CHECK_NEAR(flops, (1500 + 1700 + 18) / 3.0, 1e-12);
    haul_kernel_times_find(times, "ns::multiply", &launch, &flops, &bytes);
    assert_true(flops == 0 && bytes == 0);
    haul_kernel_times_free(times);
}

/* Nsight Compute writes "<unnamed>" and leaves inline namespaces out. */
static void counters_are_found_whatever_namespaces_are_written(void **state)
{
    (void)state;
    haul_kernel_times *times =
        parsed("Name,Grid Size,Block Size,flop_count_sp,time_us\n"
               "\"void at::<unnamed>::norm<float>(T1)\",\"(8, 1, 1)\",\"(64, 1, 1)\",700,1\n"
               "\"void at::<unnamed>::sum<float>(T1)\",\"(8, 1, 1)\",\"(64, 1, 1)\",900,1\n");
    assert_string_equal(times->rows[0].kernel, "at::<unnamed>::norm");
    const haul_kernel_launches launch = {.count = 1, .blocks = 8, .block = 64};
    const char *name = "void at::native::(anonymous namespace)::norm<float, false>(float*)";
    double flops = -1, bytes = -1;
    haul_kernel_times_find(times, name, &launch, &flops, &bytes);
    CHECK_NEAR(flops, 700, 1e-12);
    haul_kernel_times_find(times, "at::native::(anonymous namespace)::", &launch, &flops, &bytes);
    assert_true(flops == 0);
    haul_kernel_times_free(times);
}

/* A metric a row, a grid of work items, kilobytes, and instructions of wavefronts. */
/* All work items alone tell no block, which BSP needs. */
static void work_items_without_a_block_are_no_counts(void **state)
{
    (void)state;
    haul_kernel_times *times =
        parsed("Input.Size,Duration,grd,inst_executed,gld_inst_32bit,gst_request\n"
               "4096,1e-4,256,1280,8192,128\n");
    assert_int_equal(times->count, 1);
    assert_false(times->rows[0].is_counted);
    CHECK_NEAR(times->rows[0].counts.threads, 256, 0);
    CHECK_NEAR(times->rows[0].counts.block, 0, 0);
    haul_kernel_times_free(times);
}

static void rocprofs_counters_are_read(void **state)
{
    (void)state;
    haul_kernel_times *times =
        parsed("\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Grid_Size\",\"Kernel_Name\","
               "\"Workgroup_Size\",\"Counter_Name\",\"Counter_Value\"\n"
               "1,1,\"Agent 1\",1024,\"void add<float>(float*)\",64,\"FETCH_SIZE\",8.0\n"
               "1,1,\"Agent 1\",1024,\"void add<float>(float*)\",64,\"WRITE_SIZE\",4.0\n"
               "1,1,\"Agent 1\",1024,\"void add<float>(float*)\",64,\"SQ_INSTS_VALU_FMA_F32\",16\n"
               "1,1,\"Agent 1\",1024,\"void add<float>(float*)\",64,\"SQ_WAVES\",16\n"
               "2,2,\"Agent 1\",1024,\"gemm\",64,\"SQ_INSTS_VALU_MFMA_MOPS_BF16\",3\n");
    const haul_kernel_launches launch = {.blocks = 16, .block = 64},
                               other = {.blocks = 8, .block = 64};
    double flops, bytes;
    haul_kernel_times_find(times, "void add<float>(float*)", &launch, &flops, &bytes);
    CHECK_NEAR(bytes, 12 * 1024, 1e-12);
    CHECK_NEAR(flops, 16 * 64 * 2, 1e-12);
    haul_kernel_times_find(times, "void add<float>(float*)", &other, &flops, &bytes);
    CHECK_NEAR(flops, 0, 0);
    haul_kernel_times_find(times, "gemm", &launch, &flops, &bytes);
    CHECK_NEAR(flops, 3 * 512, 1e-12);
    haul_kernel_times_free(times);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_have_the_unit_of_their_column),
        cmocka_unit_test(names_come_without_their_parameters),
        cmocka_unit_test(counters_give_counts),
        cmocka_unit_test(nsight_computes_raw_page_is_read),
        cmocka_unit_test(requests_and_sectors_are_counted),
        cmocka_unit_test(summaries_and_traces_are_read),
        cmocka_unit_test(metrics_of_a_trace_take_their_times_from_another),
        cmocka_unit_test(counters_take_the_times_that_fit),
        cmocka_unit_test(many_launches_are_joined),
        cmocka_unit_test(sizes_have_their_place),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(counted_kernels_are_kept_and_read_back),
        cmocka_unit_test(one_counted_size_says_nothing_of_others),
        cmocka_unit_test(rows_without_a_grid_are_kept),
        cmocka_unit_test(blocks_have_their_shape),
        cmocka_unit_test(launches_that_are_told_twice_count_once),
        cmocka_unit_test(counters_take_no_time_of_mixed_blocks),
        cmocka_unit_test(flops_and_bytes_are_found_by_name_and_launch),
        cmocka_unit_test(counters_are_found_whatever_namespaces_are_written),
        cmocka_unit_test(rocprofs_counters_are_read),
        cmocka_unit_test(work_items_without_a_block_are_no_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
