/* Whole runs on another machine, held against the same program's profile from there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"
#include "base/fail.h"
#include "haul/project.h"
#include "haul/trace.h"
#include "profile_files.h"

/* Traces of one program on two machines; those of the catalogue that are nearest to them. */
static const struct {
    const char *trace;
    const char *from;
    const char *to;
    const char *reference;
} pairs[] = {
    {"owlv2-h100", "h100-sxm5", "mi300x", "owlv2-mi300x"},
    {"owlv2-mi300x", "mi300x", "h100-sxm5", "owlv2-h100"},
    {"recsys-a100", "a100-sxm4-40gb", "v100-sxm2", "recsys-v100"},
    {"recsys-v100", "v100-sxm2", "a100-sxm4-40gb", "recsys-a100"},
};

enum { PAIRS = sizeof pairs / sizeof *pairs };

typedef struct run {
    haul_workload *workload;
    haul_workload *reference;
    haul_machine *from;
    haul_machine *to;
    haul_projection *projection;
} run;

static haul_status load_trace(const char *data, const char *name, haul_workload **workload,
                              haul_error *error)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/traces/kineto/%s.json.gz", data, name);
    return haul_trace_load(path, workload, error);
}

static haul_status project(const char *data, size_t p, run *self, haul_error *error)
{
    haul_status status = haul_machine_load(pairs[p].from, &self->from, error);
    if (!status)
        status = haul_machine_load(pairs[p].to, &self->to, error);
    if (!status)
        status = load_trace(data, pairs[p].trace, &self->workload, error);
    if (!status)
        status = load_trace(data, pairs[p].reference, &self->reference, error);
    const haul_projection_options options = {
        .to = self->to, .from = self->from, .reference = self->reference};
    if (!status)
        status = haul_project(self->workload, &options, &self->projection, error);
    if (!status && self->projection->run_missing)
        status = haul_fail(error, HAUL_BAD_INPUT, "%s: %s", pairs[p].trace,
                           self->projection->run_missing);
    return status;
}

static void release(run *self)
{
    haul_projection_free(self->projection);
    haul_workload_free(self->reference);
    haul_workload_free(self->workload);
    haul_machine_free(self->to);
    haul_machine_free(self->from);
}

static double ms(int64_t ns)
{
    return 1e-6 * (double)ns;
}

static double off_percent(int64_t predicted_ns, int64_t truth_ns)
{
    return 100 * ((double)predicted_ns / (double)truth_ns - 1);
}

/* What runs on the device at all: kernels, memsets, copies. */
static int64_t busy_ns(const haul_breakdown *of)
{
    return of->makespan_ns - of->idle_ns;
}

static void print_row(size_t p, const run *self, FILE *out)
{
    const haul_projection *of = self->projection;
    const int64_t truth_ns = of->reference_run.makespan_ns;
    const bool inside = truth_ns >= of->low_ns && truth_ns <= of->high_ns;
    fprintf(out,
            "| %s | %s | %llu / %llu | %+.2f | %.1f | %.1f (%.1f to %.1f) | %.1f | %+.1f%s | %+.1f "
            "|\n",
            pairs[p].trace, pairs[p].to, (unsigned long long)self->workload->counts.device_ops,
            (unsigned long long)self->reference->counts.device_ops, of->replay.error,
            ms(of->recorded_run.makespan_ns), ms(of->target_run.makespan_ns), ms(of->low_ns),
            ms(of->high_ns), ms(truth_ns), off_percent(of->target_run.makespan_ns, truth_ns),
            inside ? "" : ", outside", off_percent(of->recorded_run.makespan_ns, truth_ns));
}

static void print_parts(size_t p, const run *self, FILE *out)
{
    const haul_projection *of = self->projection;
    fprintf(out, "| %s | %s | %.1f | %.1f | %.1f | %+.1f | %.1f | %.1f | %.1f | %+.1f |\n",
            pairs[p].trace, pairs[p].to, ms(busy_ns(&of->recorded_run)),
            ms(busy_ns(&of->target_run)), ms(busy_ns(&of->reference_run)),
            off_percent(busy_ns(&of->target_run), busy_ns(&of->reference_run)),
            ms(of->recorded_run.idle_ns), ms(of->target_run.idle_ns), ms(of->reference_run.idle_ns),
            off_percent(of->target_run.idle_ns, of->reference_run.idle_ns));
}

static const char preface[] =
    "## Whole runs on another machine\n\n"
    "What `haul project` says of a program's whole run, against its profile from the target. No "
    "profile of Nsight Systems or nvprof here is of a program that was recorded on two machines; "
    "these are traces of PyTorch's profiler. The hosts differ too, and what the host does between "
    "calls is kept as recorded: of that the "
    "projection says nothing. Replay: the profile replayed. Unchanged: the error of taking the "
    "recorded makespan. Times in ms, errors in percent.\n\n"
    "| trace | to | operations, there | replay | recorded | predicted | reference | error | "
    "unchanged "
    "|\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";

static const char parts_preface[] =
    "\nIn parts: at least one operation on the device, and the host alone.\n\n"
    "| trace | to | device: recorded | predicted | reference | error | host: recorded | predicted "
    "| "
    "reference | error |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";

static const char verdict[] = "\nowlv2 is one program on both machines, with the same 85 copies. "
                              "The two recommendation models "
                              "are not quite: on the V100 there are 4,645 copies within the device "
                              "where the A100 has 18, so the "
                              "reference is another program's by that much; and the host polls for "
                              "events (cudaEventQuery) in place "
                              "of waiting, which a trace does not tell from work, so it does not "
                              "get shorter on the target."
                              " By 'haul compare' 7,248 operations are in both and took 358"
                              " ms on the A100, 503 ms on the V100, 1.41 times as long; the"
                              " V100's run has 8,384 that the A100's lacks, and lacks 2,202"
                              " of its. NCCL's kernels, a quarter to a third of the kernels'"
                              " time, exchange with GPUs that the profile does not show: the"
                              " A100's run has 8 in all, the V100's 2 (world_size), so that the"
                              " two differ in this, too. How much of that time is waiting was"
                              " not measured.\n";

static haul_status write_section(const char *data, FILE *out, haul_error *error)
{
    char *parts = NULL;
    size_t size = 0;
    FILE *second = open_memstream(&parts, &size);
    if (!second)
        return haul_fail_no_memory(error);
    fputs(preface, out);
    haul_status status = HAUL_OK;
    for (size_t p = 0; !status && p < PAIRS; p++) {
        run self = {0};
        status = project(data, p, &self, error);
        if (!status) {
            print_row(p, &self, out);
            print_parts(p, &self, second);
        }
        release(&self);
    }
    fclose(second);
    if (!status)
        fprintf(out, "%s%s%s", parts_preface, parts, verdict);
    free(parts);
    return status;
}

const accuracy_section accuracy_runs = {"runs", write_section};
