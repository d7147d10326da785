/* What profilers count goes by many names and parts: one table of rules turns all of it into the
 * counts of BSP, so that readers know columns and not metrics. */
#include "kernel/counters.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/strings.h"

/* A warp has 32 threads, and L2 and memory move sectors of 32 bytes, on every NVIDIA GPU from
 * Kepler on. NAME is more than the longest name in the table: a longer one is no counter. */
enum { WARP = 32, SECTOR = 32, NAME = 96, WAVEFRONT = 64, MATRIX_OPERATIONS = 512 };

/* nvprof's events and metrics (and the metrics' titles), the trace of Nsight Systems, then Nsight
 * Compute's (and the titles of its sections). Hits of L2 are counted by slice, for requests of L1
 * (Kepler) or of the texture path (Maxwell and later). */
static const haul_counter_rule rules[] = {
    {"n size input_size problem_size", HAUL_COUNTER_SIZE, HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"duration gpu__time_duration_sum", HAUL_COUNTER_SECONDS, HAUL_DIM_SECONDS, 1, HAUL_WHOLE},
    {"grid_x grid_y grid_z grdx grdy grdz", HAUL_COUNTER_GRID, HAUL_DIM_NUMBER, 1, HAUL_FACTOR},
    {"blocks launch__grid_size", HAUL_COUNTER_GRID, HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"block_x blkx", HAUL_COUNTER_BLOCK_X, HAUL_DIM_NUMBER, 1, HAUL_FACTOR},
    {"block_y blky", HAUL_COUNTER_BLOCK_Y, HAUL_DIM_NUMBER, 1, HAUL_FACTOR},
    {"block_z blkz", HAUL_COUNTER_BLOCK_Z, HAUL_DIM_NUMBER, 1, HAUL_FACTOR},
    {"inst_executed instructions_executed smsp__inst_executed_sum "
     "sm__inst_executed_sum executed_instructions",
     HAUL_COUNTER_WARP_INSTRUCTIONS, HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"thread_inst_executed smsp__thread_inst_executed_sum", HAUL_COUNTER_INSTRUCTIONS,
     HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"gld_inst_8bit gld_inst_16bit gld_inst_32bit gld_inst_64bit gld_inst_128bit",
     HAUL_COUNTER_LOADS, HAUL_DIM_NUMBER, 1, HAUL_SUMMAND},
    {"gst_inst_8bit gst_inst_16bit gst_inst_32bit gst_inst_64bit gst_inst_128bit",
     HAUL_COUNTER_STORES, HAUL_DIM_NUMBER, 1, HAUL_SUMMAND},
    {"gld_request inst_executed_global_loads smsp__sass_inst_executed_op_global_ld_sum "
     "smsp__inst_executed_op_global_ld_sum "
     "l1tex__t_requests_pipe_lsu_mem_global_op_ld_sum",
     HAUL_COUNTER_WARP_LOADS, HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"gst_request inst_executed_global_stores "
     "smsp__sass_inst_executed_op_global_st_sum smsp__inst_executed_op_global_st_sum "
     "l1tex__t_requests_pipe_lsu_mem_global_op_st_sum",
     HAUL_COUNTER_WARP_STORES, HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"gld_transactions global_load_transactions "
     "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_sum",
     HAUL_COUNTER_LOAD_TRANSACTIONS, HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"gld_transactions_per_request global_load_transactions_per_request "
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld_ratio",
     HAUL_COUNTER_LOAD_TRANSACTIONS_EACH, HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"gst_transactions global_store_transactions "
     "l1tex__t_sectors_pipe_lsu_mem_global_op_st_sum",
     HAUL_COUNTER_STORE_TRANSACTIONS, HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"gst_transactions_per_request global_store_transactions_per_request "
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st_ratio",
     HAUL_COUNTER_STORE_TRANSACTIONS_EACH, HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"shared_load inst_executed_shared_loads smsp__sass_inst_executed_op_shared_ld_sum "
     "smsp__inst_executed_op_shared_ld_sum",
     HAUL_COUNTER_WARP_SHARED_LOADS, HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"shared_store inst_executed_shared_stores "
     "smsp__sass_inst_executed_op_shared_st_sum smsp__inst_executed_op_shared_st_sum",
     HAUL_COUNTER_WARP_SHARED_STORES, HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"l1_global_load_hit", HAUL_COUNTER_L1_HITS, HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"l1_global_load_miss", HAUL_COUNTER_L1_MISSES, HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"l1_cache_global_hit_rate global_hit_rate l1_tex_hit_rate "
     "l1tex__t_sector_hit_rate_pct",
     HAUL_COUNTER_L1_RATE, HAUL_DIM_NUMBER, 0.01, HAUL_WHOLE},
    {"l2_l1_read_hit_rate l2_tex_read_hit_rate l2_hit_rate lts__t_sector_hit_rate_pct",
     HAUL_COUNTER_L2_RATE, HAUL_DIM_NUMBER, 0.01, HAUL_WHOLE},
    {"dram_read_transactions dram_write_transactions device_memory_read_transactions "
     "device_memory_write_transactions dram__sectors_read_sum dram__sectors_write_sum",
     HAUL_COUNTER_MEMORY_SECTORS, HAUL_DIM_NUMBER, 1, HAUL_SUMMAND},
    {"dram_read_bytes dram_write_bytes", HAUL_COUNTER_MEMORY_BYTES, HAUL_DIM_NUMBER, 1,
     HAUL_SUMMAND},
    {"flop_count_sp smsp__sass_thread_inst_executed_op_fadd_pred_on_sum "
     "smsp__sass_thread_inst_executed_op_fmul_pred_on_sum",
     HAUL_COUNTER_FLOPS, HAUL_DIM_NUMBER, 1, HAUL_SUMMAND},
    {"flop_count_dp smsp__sass_thread_inst_executed_op_dadd_pred_on_sum "
     "smsp__sass_thread_inst_executed_op_dmul_pred_on_sum",
     HAUL_COUNTER_FLOPS_FP64, HAUL_DIM_NUMBER, 1, HAUL_SUMMAND},
    {"launch__block_size", HAUL_COUNTER_BLOCK, HAUL_DIM_NUMBER, 1, HAUL_WHOLE},
    {"dram__bytes_sum", HAUL_COUNTER_MEMORY_BYTES_ALL, HAUL_DIM_BYTES, 1, HAUL_WHOLE},
    {"dram__bytes_read_sum dram__bytes_write_sum", HAUL_COUNTER_MEMORY_BYTES, HAUL_DIM_BYTES, 1,
     HAUL_SUMMAND},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on_sum", HAUL_COUNTER_FLOPS, HAUL_DIM_NUMBER, 2,
     HAUL_SUMMAND},
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on_sum", HAUL_COUNTER_FLOPS_FP64,
     HAUL_DIM_NUMBER, 2, HAUL_SUMMAND},
    /* ROCm's derived counters in kilobytes, instructions of wavefronts of 64, and units of 512
     * operations of the matrix cores (ROCm, "MI300 and MI200 series performance counters") */
    {"fetch_size write_size fetchsize writesize", HAUL_COUNTER_MEMORY_BYTES, HAUL_DIM_NUMBER, 1024,
     HAUL_SUMMAND},
    {"sq_insts_valu_add_f32 sq_insts_valu_mul_f32 sq_insts_valu_trans_f32", HAUL_COUNTER_FLOPS,
     HAUL_DIM_NUMBER, WAVEFRONT, HAUL_SUMMAND},
    {"sq_insts_valu_fma_f32", HAUL_COUNTER_FLOPS, HAUL_DIM_NUMBER, 2 * WAVEFRONT, HAUL_SUMMAND},
    {"sq_insts_valu_mfma_mops_f16 sq_insts_valu_mfma_mops_bf16 sq_insts_valu_mfma_mops_f32",
     HAUL_COUNTER_FLOPS, HAUL_DIM_NUMBER, MATRIX_OPERATIONS, HAUL_SUMMAND},
    {"sq_insts_valu_add_f64 sq_insts_valu_mul_f64 sq_insts_valu_trans_f64", HAUL_COUNTER_FLOPS_FP64,
     HAUL_DIM_NUMBER, WAVEFRONT, HAUL_SUMMAND},
    {"sq_insts_valu_fma_f64", HAUL_COUNTER_FLOPS_FP64, HAUL_DIM_NUMBER, 2 * WAVEFRONT,
     HAUL_SUMMAND},
    {"sq_insts_valu_mfma_mops_f64", HAUL_COUNTER_FLOPS_FP64, HAUL_DIM_NUMBER, MATRIX_OPERATIONS,
     HAUL_SUMMAND},
};

/* Without names of their own: a slice's number is part of them, so find_slice looks at both
 * ends. */
static const haul_counter_rule l2_queries = {"", HAUL_COUNTER_L2_QUERIES, HAUL_DIM_NUMBER, 1,
                                             HAUL_SUMMAND};
static const haul_counter_rule l2_hits = {"", HAUL_COUNTER_L2_HITS, HAUL_DIM_NUMBER, 1,
                                          HAUL_SUMMAND};

/* Whether one of the words is `name`. */
static bool has_word(const char *words, const char *name)
{
    const size_t length = strlen(name);
    while (*words) {
        const size_t word = strcspn(words, " ");
        if (word == length && !memcmp(words, name, length))
            return true;
        words += word + (words[word] == ' ');
    }
    return false;
}

/* l2_subp0_read_l1_hit_sectors, l2_subp3_read_tex_sector_queries: as many as there are slices. */
static const haul_counter_rule *find_slice(const char *name)
{
    if (strncmp(name, "l2_subp", 7) != 0)
        return NULL;
    if (haul_ends_with(name, "_read_l1_sector_queries") ||
        haul_ends_with(name, "_read_tex_sector_queries"))
        return &l2_queries;
    if (haul_ends_with(name, "_read_l1_hit_sectors") ||
        haul_ends_with(name, "_read_tex_hit_sectors"))
        return &l2_hits;
    return NULL;
}

/* nvprof writes "gld_transactions" or the title "Global Load Transactions", Nsight Compute
 * "dram__bytes.sum", and tables of others have "Global.Load.Transactions": all punctuation
 * becomes '_' here. */
const haul_counter_rule *haul_counter_find(const char *name)
{
    char plain[NAME];
    size_t length = strlen(name);
    if (length >= sizeof plain)
        return NULL;
    for (size_t i = 0; i <= length; i++)
        plain[i] = isalnum((unsigned char)name[i]) || !name[i]
                       ? (char)tolower((unsigned char)name[i])
                       : '_';
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (has_word(rules[i].names, plain))
            return &rules[i];
    return find_slice(plain);
}

void haul_counters_clear(haul_counters *counters)
{
    for (int i = 0; i < HAUL_COUNTER_COUNT; i++)
        counters->values[i] = (double)NAN;
}

/* Parts of one counter (loads by width, sides of a grid) are put together; a counter that a file
 * gives twice under two names counts once. */
void haul_counters_add(haul_counters *counters, const haul_counter_rule *rule, double value)
{
    double *at = &counters->values[rule->counter];
    if (isnan(*at))
        *at = value * rule->scale;
    else if (rule->part == HAUL_FACTOR)
        *at *= value * rule->scale;
    else if (rule->part == HAUL_SUMMAND)
        *at += value * rule->scale;
}

/* The first of them that is known. */
static double first_of(double a, double b, double c)
{
    return !isnan(a) ? a : !isnan(b) ? b : c;
}

static double known_or(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

/* Hits and queries may be counted in different passes over the kernel: more hits than queries are
 * all. */
static double share_of(double hits, double whole)
{
    return whole > 0 ? fmin(hits / whole, 1) : 0;
}

/* Sides go before the whole; a side that is not told is 1. */
double haul_counters_block(const haul_counters *counters)
{
    const double *v = counters->values;
    const double x = v[HAUL_COUNTER_BLOCK_X], y = v[HAUL_COUNTER_BLOCK_Y],
                 z = v[HAUL_COUNTER_BLOCK_Z];
    if (isnan(x) && isnan(y) && isnan(z))
        return v[HAUL_COUNTER_BLOCK];
    return known_or(x, 1) * known_or(y, 1) * known_or(z, 1);
}

/* Per thread, as BSP counts: totals over the threads of the launch. What only the roofline needs
 * (bytes, flops) is 0 where it is not known, and so bounds nothing; what BSP needs makes the counts
 * unknown. */
bool haul_counters_counts(const haul_counters *counters, haul_kernel_counts *out)
{
    const double *v = counters->values;
    const double block = haul_counters_block(counters);
    const double threads =
        first_of(v[HAUL_COUNTER_GRID] * block, v[HAUL_COUNTER_WORK_ITEMS], (double)NAN);
    if (!(threads >= 1))
        return false;
    *out = (haul_kernel_counts){.threads = threads, .block = block};
    out->bytes = known_or(first_of(v[HAUL_COUNTER_MEMORY_BYTES_ALL], v[HAUL_COUNTER_MEMORY_BYTES],
                                   v[HAUL_COUNTER_MEMORY_SECTORS] * SECTOR),
                          0);
    out->flops_fp64 = known_or(v[HAUL_COUNTER_FLOPS_FP64], 0);
    out->flops = known_or(v[HAUL_COUNTER_FLOPS], 0) + out->flops_fp64;
    /* Counts by thread are exact. Those by warp times 32 take every lane as active, and so do the
     * requests that transactions and transactions per request give: they are an upper limit where
     * warps diverge. */
    const double loads =
        first_of(v[HAUL_COUNTER_LOADS], v[HAUL_COUNTER_WARP_LOADS] * WARP,
                 v[HAUL_COUNTER_LOAD_TRANSACTIONS] / v[HAUL_COUNTER_LOAD_TRANSACTIONS_EACH] * WARP);
    const double stores = first_of(v[HAUL_COUNTER_STORES], v[HAUL_COUNTER_WARP_STORES] * WARP,
                                   v[HAUL_COUNTER_STORE_TRANSACTIONS] /
                                       v[HAUL_COUNTER_STORE_TRANSACTIONS_EACH] * WARP);
    const double instructions = first_of(v[HAUL_COUNTER_INSTRUCTIONS],
                                         v[HAUL_COUNTER_WARP_INSTRUCTIONS] * WARP, (double)NAN);
    if (!isfinite(loads) || !isfinite(stores) || !isfinite(instructions))
        return false;
    out->loads_global = loads / threads;
    out->stores_global = stores / threads;
    out->loads_shared = known_or(v[HAUL_COUNTER_WARP_SHARED_LOADS], 0) * WARP / threads;
    out->stores_shared = known_or(v[HAUL_COUNTER_WARP_SHARED_STORES], 0) * WARP / threads;
    /* Profilers count accesses among the instructions; BSP takes them apart (eq. 3). */
    const double moved =
        out->loads_global + out->stores_global + out->loads_shared + out->stores_shared;
    out->comp = fmax(instructions / threads - moved, 0); /* a cycle each */
    /* The rate where the profiler gives one, else hits over queries; neither known: no hits, the
     * cautious choice of BSP's 500 cycles for each access. */
    const double l1_rate =
        known_or(v[HAUL_COUNTER_L1_RATE],
                 share_of(known_or(v[HAUL_COUNTER_L1_HITS], 0),
                          known_or(v[HAUL_COUNTER_L1_HITS] + v[HAUL_COUNTER_L1_MISSES], 0)));
    const double l2_rate =
        known_or(v[HAUL_COUNTER_L2_RATE], share_of(known_or(v[HAUL_COUNTER_L2_HITS], 0),
                                                   known_or(v[HAUL_COUNTER_L2_QUERIES], 0)));
    out->l1_hits = fmin(l1_rate, 1) * out->loads_global;
    out->l2_hits = fmin(l2_rate, 1) * (out->loads_global - out->l1_hits);
    return true;
}
