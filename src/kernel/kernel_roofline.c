/* A kernel on another GPU: what bounds it on the source GPU bounds it there, and the time follows
 * that resource's ratio; the efficiency reached on the source GPU is kept (docs/kernel-models.md).
 *
 * Two resources divide kernels. The device's memory, where the bytes that must cross it take half
 * of the time or more at the nominal rate: kernels that stream reach 70 to 90 %. Else what goes on
 * inside the multiprocessors: arithmetic where it comes near its peak; mostly the waits between
 * instructions, for registers, shared memory and caches, which take cycles, not seconds. Blocks are
 * whole: the time is that of the multiprocessor with the most of them. */
#include <math.h>

#include "kernel/gpu_rates.h"
#include "kernel/kernel_models.h"
#include "kernel/kernel_parts.h"

/* Shares of a nominal rate from which, and up to which, the bound passes over: around half. 0.2 and
 * 0.8, 0.3 and 0.5 or 0.5 and 0.7 move the means of accuracy.md by 0.1 points within an
 * architecture, 2 between two. */
static const double bound_from = 0.4;
static const double bound_full = 0.6;

/* Half widths, in the logarithm, of kernels bound by memory and by what is inside the
 * multiprocessors, for GPUs that nothing was fitted to. The interval that holds 90 of 100 from and
 * to the hardest of five GPUs (gpuperfpredict; docs/accuracy/kernels.md, "widths from GPUs left
 * out"): 0.11 and 0.22 within an architecture, 0.24 and 0.38 between two. That of memory between
 * two is wider: 0.42 holds 90 of 100 durations of its counters, where blocks have other shapes.
 *
 * Their clocks are data sheets', so that what heat and power make of a clock is in those widths:
 * the counters of the GTX 970, which is one of them, say 0.9 to 1.38 GHz where its sheet has 1.05
 * to 1.178. Of the memory GPUs sustain 0.73 to 0.93 of the bandwidth that a sheet has: the floor
 * where one of the two was not measured. Those of one architecture sustain nearly one share, which
 * two sheets miss alike: A100s of 40 and 80 GB differ by 0.055. */
static const double uncertainty_alike[] = {0.11, 0.22};
static const double uncertainty_across[] = {0.42, 0.38};
static const double of_sheet_memory = 0.12;
static const double of_siblings_memory = 0.055;

typedef struct scaled_kernel {
    double source_s;
    double launch_s;        /* on the target */
    double work_s;          /* on the target, beside the launch */
    double memory;          /* weight of the memory's ratio, 0 to 1 */
    haul_kernel_bound roof; /* MEMORY or ARITHMETIC: what the work cannot be faster than there;
                               LAUNCH: none */
    double half_width;
    bool same;
} scaled_kernel;

/* Rises from 0 to 1 between the two shares: a step would make two alike kernels scale
 * differently. */
double hl_kernel_bound_weight(double share)
{
    return fmin(1, fmax(0, (share - bound_from) / (bound_full - bound_from)));
}

static double blocks_of(const haul_kernel_counts *counts)
{
    return ceil(counts->threads / counts->block);
}

/* Blocks are whole: the last wave takes as long as a full one. */
static double busiest(const haul_gpu *gpu, double blocks)
{
    return ceil(blocks / gpu->multiprocessors.value);
}

/* A stride that is a multiple of a large power of two falls on a number of partitions by this one:
 * on one of 4, on three of 6, on all of 5. */
static unsigned power_of_two_in(double partitions)
{
    const unsigned count = (unsigned)fmin(partitions, 1 << 20);
    return count & (~count + 1);
}

/* How many times as long the counted flops take as all in single precision would: those in double
 * precision have a peak of their own. */
static double slowed_by_fp64(const haul_gpu *gpu, const haul_kernel_counts *counts)
{
    return counts->flops > 0
               ? hl_kernel_gpu_arithmetic_s(gpu, counts) * hl_kernel_gpu_flops(gpu) / counts->flops
               : 1;
}

/* In place of the ratio of the waits of instructions. A multiprocessor that issues all that it can
 * gains nothing from shorter ones; lone warps wait for their loads as well, which nothing hides. */
static double other_waits(const haul_gpu *from, const haul_gpu *to, const haul_kernel_case *what)
{
    const double waits = hl_kernel_gpu_wait_ratio(from, to);
    if (hl_kernel_gpu_has_lone_warps(from, &what->counts) &&
        hl_kernel_gpu_has_lone_warps(to, &what->counts))
        return hl_kernel_lone_wait_ratio(from, to, &what->counts) / waits;
    return pow(waits, -hl_kernel_bound_weight(what->fit->issue_share));
}

/* By the memory, and by what is inside: where arithmetic is near its peak, cycles go by cores; else
 * by how long instructions wait. */
static double across_ratio(const haul_kernel_case *what, double memory)
{
    const haul_gpu *from = &what->source->gpu;
    const haul_gpu *to = &what->target->gpu;
    const double blocks = blocks_of(&what->counts);
    const haul_kernel_launches launches = {
        .blocks = blocks, .block = what->counts.block, .shared_bytes = what->counts.shared_bytes};
    const double arithmetic = hl_kernel_bound_weight(what->fit->arithmetic_share);
    const double peak = hl_kernel_gpu_clock_ratio(from, to) * from->cores.value / to->cores.value *
                        busiest(to, blocks) / busiest(from, blocks) *
                        slowed_by_fp64(to, &what->counts) / slowed_by_fp64(from, &what->counts);
    const double inside =
        pow(hl_kernel_gpu_inside_ratio(from, to, &launches) * other_waits(from, to, what),
            1 - arithmetic) *
        pow(peak, arithmetic);
    if (memory <= 0)
        return inside;
    return pow(hl_kernel_gpu_memory_rate(from) / hl_kernel_gpu_memory_rate(to), memory) *
           pow(inside, 1 - memory);
}

/* Shorter waits are of no use to what a multiprocessor does a fixed number of a cycle (accesses to
 * shared memory and L1: 32 lanes from Kepler to Hopper): the interval reaches as far. */
double hl_kernel_uncertainty_inside(const haul_gpu *from, const haul_gpu *to)
{
    const double alike = uncertainty_alike[1];
    if (hl_machine_gpu_alike(from, to))
        return alike;
    return fmax(uncertainty_across[1], hypot(log(hl_kernel_gpu_wait_ratio(from, to)), alike));
}

/* Seconds that a resource takes at its nominal rate: of the memory what the L2 cannot hold from one
 * launch to the next. */
static double least_of(const haul_gpu *gpu, const haul_kernel_counts *counts,
                       haul_kernel_bound bound)
{
    if (bound == HAUL_KERNEL_BOUND_ARITHMETIC)
        return hl_kernel_gpu_arithmetic_s(gpu, counts);
    const double rate = hl_kernel_gpu_memory_rate(gpu);
    return rate > 0 ? fmax(0, counts->bytes - gpu->l2_bytes.value) / rate : 0;
}

/* A resource that did not bound the kernel on the source GPU may on the target. Counts that the
 * source time itself belies (tensor cores, data that are never read) bound nothing. */
static void keep_under_roof(const haul_kernel_case *what, double source_work_s, scaled_kernel *self)
{
    static const haul_kernel_bound roofs[] = {HAUL_KERNEL_BOUND_MEMORY,
                                              HAUL_KERNEL_BOUND_ARITHMETIC};
    for (int i = 0; i < 2; i++) {
        const double least_s = least_of(&what->target->gpu, &what->counts, roofs[i]);
        if (least_s <= self->work_s ||
            least_of(&what->source->gpu, &what->counts, roofs[i]) > source_work_s)
            continue;
        self->work_s = least_s;
        self->roof = roofs[i];
    }
}

/* Serves time_of and haul_kernel_explain. On the source GPU itself, or one of the same name,
 * the fit is read and nothing is scaled. */
static haul_status scale_kernel(const haul_kernel_case *what, scaled_kernel *out, haul_error *error)
{
    const haul_gpu *from = &what->source->gpu;
    const haul_gpu *to = &what->target->gpu;
    HAUL_TRY(hl_kernel_gpu_check(what->source, error));
    HAUL_TRY(hl_kernel_gpu_check(what->target, error));
    scaled_kernel self = {.launch_s = what->fit->launch_s, .roof = HAUL_KERNEL_BOUND_LAUNCH};
    if (hl_kernel_gpu_memory_rate(from) > 0 && hl_kernel_gpu_memory_rate(to) > 0)
        self.memory = hl_kernel_bound_weight(what->fit->memory_share);
    self.same = what->source == what->target || hl_kernel_gpu_keeps_times(from, to);
    const double a = from->memory_partitions.value, b = to->memory_partitions.value;
    const bool calm = !self.same && a > 0 && b > 0 && power_of_two_in(b) < power_of_two_in(a);
    const hl_kernel_reading reading = hl_kernel_read(what->fit, what->size, calm);
    const double bsp = hl_kernel_cycles(&what->counts) / hl_kernel_issue(from);
    const double source_work_s = bsp * exp(-reading.log_calibration);
    self.source_s = what->fit->launch_s + source_work_s;
    self.work_s = source_work_s;
    self.half_width = reading.half_width;
    if (!self.same) {
        self.work_s *= across_ratio(what, self.memory);
        keep_under_roof(what, source_work_s, &self);
        self.launch_s *= hl_kernel_gpu_launch(to) / fmax(hl_kernel_gpu_launch(from), 1e-9);
        /* A bandwidth that was measured under streaming kernels is none of a data sheet's. */
        const int of_sheets = !from->stream_Bps.provenance + !to->stream_Bps.provenance;
        const double floor = of_sheets > 1 ? hypot(of_sheet_memory, of_siblings_memory)
                             : of_sheets   ? of_sheet_memory
                                           : 0;
        const double of_memory = hl_machine_gpu_alike(from, to) ? fmax(uncertainty_alike[0], floor)
                                                                : uncertainty_across[0];
        const double uncertainty =
            self.memory * of_memory + (1 - self.memory) * hl_kernel_uncertainty_inside(from, to);
        /* independent misses, of the ratio and of lambda at this size: their squares add */
        self.half_width = hypot(uncertainty, reading.half_width);
    }
    *out = self;
    return HAUL_OK;
}

/* The interval is symmetric in the logarithm: half and twice are as far off. */
static haul_status time_of(const haul_kernel_case *what, haul_estimate *out, haul_error *error)
{
    scaled_kernel self;
    HAUL_TRY(scale_kernel(what, &self, error));
    const double seconds = self.launch_s + self.work_s;
    *out = (haul_estimate){
        .seconds = seconds,
        .low_s = seconds * exp(-self.half_width),
        .high_s = seconds * exp(self.half_width),
        .weakest = self.same ? HAUL_PROVENANCE_FITTED : HAUL_PROVENANCE_SCALED,
        .model = hl_kernel_model_roofline.name,
    };
    return HAUL_OK;
}

const haul_kernel_model hl_kernel_model_roofline = {
    .abi = HAUL_KERNEL_MODEL_ABI,
    .name = "roofline",
    .summary = "the source time scaled by what bounds it: memory, or the busiest multiprocessor",
    .time = time_of,
};

/* The first that applies: a launch hides all else, and a roof is a bound whatever bound the source.
 * Few blocks and latency are what is left, told apart by the occupancy. */
static haul_kernel_bound bound_of(const haul_kernel_case *what, const scaled_kernel *self,
                                  double seconds)
{
    if (self->launch_s > seconds / 2)
        return HAUL_KERNEL_BOUND_LAUNCH;
    if (self->roof != HAUL_KERNEL_BOUND_LAUNCH)
        return self->roof;
    if (self->memory > 0.5)
        return HAUL_KERNEL_BOUND_MEMORY;
    if (hl_kernel_bound_weight(what->fit->arithmetic_share) > 0.5)
        return HAUL_KERNEL_BOUND_ARITHMETIC;
    const bool few = hl_kernel_gpu_has_low_occupancy(&what->target->gpu, blocks_of(&what->counts),
                                                     what->counts.block);
    return few ? HAUL_KERNEL_BOUND_LOW_OCCUPANCY : HAUL_KERNEL_BOUND_LATENCY;
}

/* At most the predicted work: what takes longer at the nominal rate is held by the L2 in part, or
 * the source's time belies it. `least_s`: of a resource, as in keep_under_roof. */
static double term_of(double nominal_s, double least_s, double work_s, bool is_bound)
{
    if (is_bound || nominal_s <= work_s)
        return fmin(nominal_s, work_s);
    return least_s <= work_s ? least_s : 0;
}

/* The least time in the device's memory and in arithmetic; inside the multiprocessors, all that the
 * launch leaves, where that is the bound. */
static void fill_terms(const haul_kernel_case *what, const scaled_kernel *self,
                       haul_kernel_explanation *out)
{
    const haul_gpu *gpu = &what->target->gpu;
    const double rate = hl_kernel_gpu_memory_rate(gpu), work_s = self->work_s;
    const double arithmetic_s =
        what->counts.flops > 0 ? hl_kernel_gpu_arithmetic_s(gpu, &what->counts)
                               : what->counts.threads * what->counts.comp / hl_kernel_issue(gpu);
    for (int i = 0; i < HAUL_KERNEL_BOUNDS; i++)
        out->terms[i].bound = (haul_kernel_bound)i;
    out->terms[HAUL_KERNEL_BOUND_LAUNCH].seconds = self->launch_s;
    out->terms[HAUL_KERNEL_BOUND_MEMORY].seconds =
        term_of(rate > 0 ? what->counts.bytes / rate : 0,
                least_of(gpu, &what->counts, HAUL_KERNEL_BOUND_MEMORY), work_s,
                out->bound == HAUL_KERNEL_BOUND_MEMORY);
    out->terms[HAUL_KERNEL_BOUND_ARITHMETIC].seconds =
        term_of(arithmetic_s, arithmetic_s, work_s, out->bound == HAUL_KERNEL_BOUND_ARITHMETIC);
    if (out->bound == HAUL_KERNEL_BOUND_LATENCY || out->bound == HAUL_KERNEL_BOUND_LOW_OCCUPANCY)
        out->terms[out->bound].seconds = out->estimate.seconds - self->launch_s;
    for (int i = 0; i < HAUL_KERNEL_BOUNDS; i++)
        out->terms[i].share = out->terms[i].seconds / out->estimate.seconds;
}

/* Explains this model's estimate, whichever model a report uses. */
haul_status haul_kernel_explain(const haul_kernel_case *what, haul_kernel_explanation *out,
                                haul_error *error)
{
    haul_kernel_explanation self = {0};
    scaled_kernel scaled;
    HAUL_TRY(hl_kernel_estimate(&hl_kernel_model_roofline, what, &self.estimate, error));
    HAUL_TRY(scale_kernel(what, &scaled, error));
    self.bound = bound_of(what, &scaled, self.estimate.seconds);
    self.source_s = scaled.source_s;
    self.ratio = scaled.work_s / (scaled.source_s - what->fit->launch_s);
    self.blocks = blocks_of(&what->counts);
    self.busiest = busiest(&what->target->gpu, self.blocks);
    self.idle = 1 - self.blocks / (self.busiest * what->target->gpu.multiprocessors.value);
    fill_terms(what, &scaled, &self);
    /* twice as fast, down to the next term */
    const double launch_s = self.terms[HAUL_KERNEL_BOUND_LAUNCH].seconds;
    double next = 0;
    for (int i = HAUL_KERNEL_BOUND_MEMORY; i < HAUL_KERNEL_BOUNDS; i++)
        if (i != (int)self.bound)
            next = fmax(next, self.terms[i].seconds);
    self.if_rate = self.bound == HAUL_KERNEL_BOUND_LAUNCH
                       ? self.estimate.seconds - launch_s / 2
                       : launch_s + fmax((self.estimate.seconds - launch_s) / 2, next);
    *out = self;
    return HAUL_OK;
}

const char *haul_kernel_bound_text(haul_kernel_bound bound)
{
    static const char *const texts[] = {HAUL_KERNEL_BOUND_LIST(HAUL_ROW_TEXT)};
    return bound >= 0 && bound < HAUL_KERNEL_BOUNDS ? texts[bound] : "unknown";
}
