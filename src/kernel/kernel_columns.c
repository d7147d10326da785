/* Profilers give one count many names, or several parts: one table of rules turns all of it into
 * the counts of BSP, so that readers know columns and not metrics. */
#include "kernel/kernel_columns.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/strings.h"

/* NAME is more than the longest name in the table: a longer one is no column of it. */
enum { NAME = 96, WAVEFRONT = 64, MATRIX_OPERATIONS = 512 };

/* Names as profilers and people give them; "Avg" is a metric's value, but in a summary the time,
 * which the reader sees to. Then counters: nvprof's events and metrics (and the metrics' titles),
 * the trace of Nsight Systems, Nsight Compute's (and the titles of its sections). */
static const hl_kernel_column_rule rules[] = {
    {"gpu|device|board|gpu_name|device_name|machine", .kind = HL_KERNEL_COLUMN_GPU},
    {"kernel|program|name|kernel name|kernel_name|kernelname|application",
     .kind = HL_KERNEL_COLUMN_KERNEL},
    {"type", .kind = HL_KERNEL_COLUMN_ACTIVITY},
    {"id|dispatch_id", .kind = HL_KERNEL_COLUMN_LAUNCH},
    {"metric name|event name|counter_name", .kind = HL_KERNEL_COLUMN_METRIC},
    {"metric unit", .kind = HL_KERNEL_COLUMN_METRIC_UNIT},
    {"metric value|avg|counter_value", .kind = HL_KERNEL_COLUMN_METRIC_VALUE},
    {"grid size", .kind = HL_KERNEL_COLUMN_GRID_SIZE},
    {"block size|workgroup_size|wgr", .kind = HL_KERNEL_COLUMN_BLOCK_SIZE},
    {"grid_size|grd", .kind = HL_KERNEL_COLUMN_WORK_ITEMS},
    {"n|size|input_size|problem_size", .counter = HL_KERNEL_COUNTER_SIZE},
    {"duration|gpu__time_duration_sum", .counter = HL_KERNEL_COUNTER_SECONDS,
     .dimension = HAUL_DIM_SECONDS},
    {"grid_x|grid_y|grid_z|grdx|grdy|grdz", .counter = HL_KERNEL_COUNTER_GRID,
     .part = HL_KERNEL_FACTOR},
    {"blocks|launch__grid_size", .counter = HL_KERNEL_COUNTER_GRID},
    {"block_x|blkx", .counter = HL_KERNEL_COUNTER_BLOCK_X, .part = HL_KERNEL_FACTOR},
    {"block_y|blky", .counter = HL_KERNEL_COUNTER_BLOCK_Y, .part = HL_KERNEL_FACTOR},
    {"block_z|blkz", .counter = HL_KERNEL_COUNTER_BLOCK_Z, .part = HL_KERNEL_FACTOR},
    {"inst_executed|instructions_executed|smsp__inst_executed_sum|sm__inst_executed_sum|executed_"
     "instructions",
     .counter = HL_KERNEL_COUNTER_WARP_INSTRUCTIONS},
    {"thread_inst_executed|smsp__thread_inst_executed_sum",
     .counter = HL_KERNEL_COUNTER_INSTRUCTIONS},
    {"gld_inst_8bit|gld_inst_16bit|gld_inst_32bit|gld_inst_64bit|gld_inst_128bit",
     .counter = HL_KERNEL_COUNTER_LOADS, .part = HL_KERNEL_SUMMAND},
    {"gst_inst_8bit|gst_inst_16bit|gst_inst_32bit|gst_inst_64bit|gst_inst_128bit",
     .counter = HL_KERNEL_COUNTER_STORES, .part = HL_KERNEL_SUMMAND},
    {"gld_request|inst_executed_global_loads|smsp__sass_inst_executed_op_global_ld_sum|smsp__inst_"
     "executed_op_global_ld_sum|l1tex__t_requests_pipe_lsu_mem_global_op_ld_sum",
     .counter = HL_KERNEL_COUNTER_WARP_LOADS},
    {"gst_request|inst_executed_global_stores|smsp__sass_inst_executed_op_global_st_sum|smsp__inst_"
     "executed_op_global_st_sum|l1tex__t_requests_pipe_lsu_mem_global_op_st_sum",
     .counter = HL_KERNEL_COUNTER_WARP_STORES},
    {"gld_transactions|global_load_transactions|l1tex__t_sectors_pipe_lsu_mem_global_op_ld_sum",
     .counter = HL_KERNEL_COUNTER_LOAD_TRANSACTIONS},
    {"gld_transactions_per_request|global_load_transactions_per_request|l1tex__average_t_sectors_"
     "per_request_pipe_lsu_mem_global_op_ld_ratio",
     .counter = HL_KERNEL_COUNTER_LOAD_TRANSACTIONS_EACH},
    {"gst_transactions|global_store_transactions|l1tex__t_sectors_pipe_lsu_mem_global_op_st_sum",
     .counter = HL_KERNEL_COUNTER_STORE_TRANSACTIONS},
    {"gst_transactions_per_request|global_store_transactions_per_request|l1tex__average_t_sectors_"
     "per_request_pipe_lsu_mem_global_op_st_ratio",
     .counter = HL_KERNEL_COUNTER_STORE_TRANSACTIONS_EACH},
    {"shared_load|inst_executed_shared_loads|smsp__sass_inst_executed_op_shared_ld_sum|smsp__inst_"
     "executed_op_shared_ld_sum",
     .counter = HL_KERNEL_COUNTER_WARP_SHARED_LOADS},
    {"shared_store|inst_executed_shared_stores|smsp__sass_inst_executed_op_shared_st_sum|smsp__"
     "inst_executed_op_shared_st_sum",
     .counter = HL_KERNEL_COUNTER_WARP_SHARED_STORES},
    {"l1_global_load_hit", .counter = HL_KERNEL_COUNTER_L1_HITS},
    {"l1_global_load_miss", .counter = HL_KERNEL_COUNTER_L1_MISSES},
    {"l1_cache_global_hit_rate|global_hit_rate|l1_tex_hit_rate|l1tex__t_sector_hit_rate_pct",
     .counter = HL_KERNEL_COUNTER_L1_RATE, .scale = 0.01},
    {"l2_l1_read_hit_rate|l2_tex_read_hit_rate|l2_hit_rate|lts__t_sector_hit_rate_pct",
     .counter = HL_KERNEL_COUNTER_L2_RATE, .scale = 0.01},
    {"dram_read_transactions|dram_write_transactions|device_memory_read_transactions|device_memory_"
     "write_transactions|dram__sectors_read_sum|dram__sectors_write_sum",
     .counter = HL_KERNEL_COUNTER_MEMORY_SECTORS, .part = HL_KERNEL_SUMMAND},
    {"dram_read_bytes|dram_write_bytes", .counter = HL_KERNEL_COUNTER_MEMORY_BYTES,
     .part = HL_KERNEL_SUMMAND},
    {"flop_count_sp|smsp__sass_thread_inst_executed_op_fadd_pred_on_sum|smsp__sass_thread_inst_"
     "executed_op_fmul_pred_on_sum",
     .counter = HL_KERNEL_COUNTER_FLOPS, .part = HL_KERNEL_SUMMAND},
    {"flop_count_dp|smsp__sass_thread_inst_executed_op_dadd_pred_on_sum|smsp__sass_thread_inst_"
     "executed_op_dmul_pred_on_sum",
     .counter = HL_KERNEL_COUNTER_FLOPS_FP64, .part = HL_KERNEL_SUMMAND},
    {"launch__block_size", .counter = HL_KERNEL_COUNTER_BLOCK},
    {"dram__bytes_sum", .counter = HL_KERNEL_COUNTER_MEMORY_BYTES_ALL, .dimension = HAUL_DIM_BYTES},
    {"dram__bytes_read_sum|dram__bytes_write_sum", .counter = HL_KERNEL_COUNTER_MEMORY_BYTES,
     .part = HL_KERNEL_SUMMAND, .dimension = HAUL_DIM_BYTES},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on_sum", .counter = HL_KERNEL_COUNTER_FLOPS,
     .part = HL_KERNEL_SUMMAND, .scale = 2},
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on_sum", .counter = HL_KERNEL_COUNTER_FLOPS_FP64,
     .part = HL_KERNEL_SUMMAND, .scale = 2},
    /* ROCm's derived counters in kilobytes, instructions of wavefronts of 64, and units of 512
     * operations of the matrix cores (ROCm, "MI300 and MI200 series performance counters") */
    {"fetch_size|write_size|fetchsize|writesize", .counter = HL_KERNEL_COUNTER_MEMORY_BYTES,
     .part = HL_KERNEL_SUMMAND, .scale = 1024},
    {"sq_insts_valu_add_f32|sq_insts_valu_mul_f32|sq_insts_valu_trans_f32",
     .counter = HL_KERNEL_COUNTER_FLOPS, .part = HL_KERNEL_SUMMAND, .scale = WAVEFRONT},
    {"sq_insts_valu_fma_f32", .counter = HL_KERNEL_COUNTER_FLOPS, .part = HL_KERNEL_SUMMAND,
     .scale = 2 * WAVEFRONT},
    {"sq_insts_valu_mfma_mops_f16|sq_insts_valu_mfma_mops_bf16|sq_insts_valu_mfma_mops_f32",
     .counter = HL_KERNEL_COUNTER_FLOPS, .part = HL_KERNEL_SUMMAND, .scale = MATRIX_OPERATIONS},
    {"sq_insts_valu_add_f64|sq_insts_valu_mul_f64|sq_insts_valu_trans_f64",
     .counter = HL_KERNEL_COUNTER_FLOPS_FP64, .part = HL_KERNEL_SUMMAND, .scale = WAVEFRONT},
    {"sq_insts_valu_fma_f64", .counter = HL_KERNEL_COUNTER_FLOPS_FP64, .part = HL_KERNEL_SUMMAND,
     .scale = 2 * WAVEFRONT},
    {"sq_insts_valu_mfma_mops_f64", .counter = HL_KERNEL_COUNTER_FLOPS_FP64,
     .part = HL_KERNEL_SUMMAND, .scale = MATRIX_OPERATIONS},
};

const hl_kernel_column_rule hl_kernel_time_column = {
    .names = "", .counter = HL_KERNEL_COUNTER_SECONDS, .dimension = HAUL_DIM_SECONDS};

/* Hits and queries of L2 are counted by slice, for requests of L1 (Kepler) or of the texture path
 * (Maxwell and later). A slice's number is part of their names, so find_slice looks at both ends.
 */
static const hl_kernel_column_rule l2_queries = {
    .names = "", .counter = HL_KERNEL_COUNTER_L2_QUERIES, .part = HL_KERNEL_SUMMAND};
static const hl_kernel_column_rule l2_hits = {
    .names = "", .counter = HL_KERNEL_COUNTER_L2_HITS, .part = HL_KERNEL_SUMMAND};

/* Whether one of the names is `name`. */
static bool has_name(const char *names, const char *name)
{
    const size_t length = strlen(name);
    while (*names) {
        const size_t one = strcspn(names, "|");
        if (one == length && !memcmp(names, name, length))
            return true;
        names += one + (names[one] == '|');
    }
    return false;
}

/* Both forms in which a table may have a name: in lower case, and with '_' for all punctuation, for
 * nvprof writes "gld_transactions" or the title "Global Load Transactions", Nsight Compute
 * "dram__bytes.sum", and tables of others have "Global.Load.Transactions". */
const hl_kernel_column_rule *hl_kernel_column_find(const char *name)
{
    char lower[NAME], plain[NAME];
    const size_t length = strlen(name);
    if (length >= NAME)
        return NULL;
    for (size_t i = 0; i <= length; i++) {
        lower[i] = (char)tolower((unsigned char)name[i]);
        plain[i] = isalnum((unsigned char)name[i]) || !name[i] ? lower[i] : '_';
    }
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (has_name(rules[i].names, rules[i].kind == HL_KERNEL_COLUMN_COUNTER ? plain : lower))
            return &rules[i];
    /* l2_subp0_read_l1_hit_sectors, l2_subp3_read_tex_sector_queries: as many as there are slices.
     */
    if (strncmp(plain, "l2_subp", 7) != 0)
        return NULL;
    if (hl_base_ends_with(plain, "_read_l1_sector_queries") ||
        hl_base_ends_with(plain, "_read_tex_sector_queries"))
        return &l2_queries;
    if (hl_base_ends_with(plain, "_read_l1_hit_sectors") ||
        hl_base_ends_with(plain, "_read_tex_hit_sectors"))
        return &l2_hits;
    return NULL;
}

/* nvprof and Nsight Compute spell units out ("nsecond", "Kbyte"); the rest is as everywhere in
 * haul. */
double hl_kernel_unit_scale(const char *unit, haul_dimension dimension)
{
    static const struct {
        const char *name;
        const char *usual;
    } others[] = {{"nsecond", "ns"}, {"usecond", "us"}, {"msecond", "ms"}, {"second", "s"},
                  {"sec", "s"},      {"seconds", "s"},  {"msec", "ms"},    {"usec", "us"},
                  {"nsec", "ns"},    {"byte", "B"},     {"Kbyte", "kB"},   {"Mbyte", "MB"},
                  {"Gbyte", "GB"},   {"Tbyte", "TB"}};
    char one[48];
    double value = 0;
    if (dimension == HAUL_DIM_NUMBER) {
        /* "inst", "sector" and "%": what is counted, as the name says too; "Kinst" and "Msector"
         * are thousands and millions of it; a prefix of nothing is no unit */
        static const char prefixes[] = "KMGT";
        const char *prefix = *unit ? strchr(prefixes, *unit) : NULL;
        if ((prefix || *unit == 'k') && !unit[1])
            return 0;
        return prefix && islower((unsigned char)unit[1]) ? pow(1e3, (double)(prefix - prefixes + 1))
                                                         : 1;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(unit, others[i].name))
            unit = others[i].usual;
    snprintf(one, sizeof one, "1 %.30s", unit);
    return *unit && !haul_quantity_parse(one, dimension, &value, NULL) ? value : 0;
}

/* Of several columns of times the median is the best, for means hold the first, cold launch.
 * "time_ms" is a stem and a unit behind the last '_'; "ms" is a unit alone. The list's order is the
 * rank: times of the kernel, medians, means, then whatever else was timed, the minimum last. */
int hl_kernel_time_rank(const char *name, double *scale)
{
    static const char *const stems[] = {
        "",        "kernel",       "time",      "kernel_time", "gpu_time", "median",  "median_time",
        "med",     "mean",         "mean_time", "avg",         "avg_time", "average", "duration",
        "elapsed", "elapsed_time", "runtime",   "min",         "min_time"};
    char plain[64];
    size_t length = 0;
    for (; name[length] && length < sizeof plain - 1; length++)
        plain[length] =
            isalnum((unsigned char)name[length]) ? (char)tolower((unsigned char)name[length]) : '_';
    while (length && plain[length - 1] == '_')
        length--;
    plain[length] = '\0';
    char *unit = strrchr(plain, '_');
    const char *stem = unit ? plain : "";
    *scale = hl_kernel_unit_scale(unit ? unit + 1 : plain, HAUL_DIM_SECONDS);
    if (*scale <= 0)
        return -1;
    while (unit && unit >= plain && *unit == '_')
        *unit-- = '\0';
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        if (!strcmp(stem, stems[i]))
            return (int)i;
    return -1;
}
