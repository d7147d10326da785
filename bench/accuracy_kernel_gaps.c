/* What a GPU takes from the end of a kernel to the start of the next, where that was queued. */
#include <stdlib.h>

#include "accuracy.h"
#include "base/fail.h"
#include "base/stats.h"
#include "haul/trace.h"
#include "profile_files.h"
#include "project/recording.h"

/* A call that returned this long before has surely put its kernel in the queue. */
enum { QUEUED_NS = 10000, LEAST_PAIRS = 20 };

/* The time between two kernels in a row of one stream, or -1 where the second was not queued yet.
 */
static double gap_us(const haul_workload *workload, const haul_op *op)
{
    const haul_op *before = op->stream_prev == HAUL_NONE ? NULL : &workload->ops[op->stream_prev];
    if (op->kind != HAUL_OP_KERNEL || !before || before->kind != HAUL_OP_KERNEL ||
        op->thread == HAUL_NONE)
        return -1;
    const int64_t end_ns = before->start_ns + before->dur_ns;
    if (op->call_ns + op->call_dur_ns + QUEUED_NS > end_ns)
        return -1;
    return 1e-3 * (double)(op->start_ns - end_ns);
}

/* From the first operation's start to the last one's end. */
static double run_us(const haul_workload *workload)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        first_ns = op->start_ns < first_ns ? op->start_ns : first_ns;
        last_ns = op->start_ns + op->dur_ns > last_ns ? op->start_ns + op->dur_ns : last_ns;
    }
    return 1e-3 * (double)(last_ns - first_ns);
}

/* The GPU, and what the machine file of the catalogue says of it. */
static void write_gpu(const haul_workload *workload, FILE *out)
{
    haul_recording recording = {0};
    const haul_status status = haul_recording_gpu(workload, &recording, NULL);
    const haul_gpu *gpu = !status && recording.like ? &recording.like->gpu : NULL;
    fprintf(out, " %s |", gpu ? gpu->name : "");
    if (gpu && gpu->kernel_gap_s.provenance)
        fprintf(out, " %.2f |", 1e6 * gpu->kernel_gap_s.value);
    else
        fputs(" |", out);
    haul_recording_release(&recording);
}

static haul_status write_profile(const char *path, FILE *out, haul_error *error)
{
    haul_workload *workload = NULL;
    HAUL_TRY(haul_trace_load(path, &workload, error));
    double *gaps = calloc(workload->op_count + 1, sizeof *gaps);
    const haul_status status = gaps ? HAUL_OK : haul_fail_no_memory(error);
    size_t count = 0;
    for (size_t i = 0; gaps && i < workload->op_count; i++) {
        const double gap = gap_us(workload, &workload->ops[i]);
        if (gap >= 0)
            gaps[count++] = gap;
    }
    haul_sort_doubles(gaps, count);
    if (count >= LEAST_PAIRS) {
        const double median_us = haul_quantile_sorted(gaps, count, 0.5);
        fprintf(out, "| %s |", profile_name(path));
        write_gpu(workload, out);
        fprintf(out, " %zu | %.2f | %.2f | %.2f | %.1f %% |\n", count,
                haul_quantile_sorted(gaps, count, 0.1), median_us,
                haul_quantile_sorted(gaps, count, 0.9),
                100 * median_us * (double)count / run_us(workload));
    }
    free(gaps);
    haul_workload_free(workload);
    return status;
}

static haul_status write(const char *data, FILE *out, haul_error *error)
{
    haul_status (*const lists[])(const char *, profile_files *, haul_error *) = {profile_files_list,
                                                                                 kineto_files_list};
    haul_status status = HAUL_OK;
    fprintf(out,
            "## Kernels of profiles: from one to the next\n\n"
            "Time from the end of a kernel to the start of the next in its stream, us, where the "
            "call of the second returned %d us or more before the first ended, so that the GPU "
            "alone delays it; profiles with at least %d such pairs. Some wait for another stream "
            "as well, so the 10th percentile and the median say most. Clocks of profilers tick "
            "in 1 us or less. A replay takes the profile's own median, a prediction `kernel_gap` "
            "of the machine's file, which is from other sources than these profiles. The last "
            "column, the median of all pairs as a share of the run, is what a replay without gaps "
            "can be too short by.\n\n"
            "| profile | GPU | machine file | pairs | 10th percentile | median | 90th percentile | "
            "of the run |\n"
            "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
            QUEUED_NS / 1000, LEAST_PAIRS);
    for (int l = 0; !status && l < 2; l++) {
        profile_files files = {0};
        status = lists[l](data, &files, error);
        for (size_t i = 0; !status && i < files.count; i++)
            status = write_profile(files.paths[i], out, error);
        profile_files_release(&files);
    }
    return status;
}

const accuracy_section accuracy_kernel_gaps = {"kernel-gaps", write};
