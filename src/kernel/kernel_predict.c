/* A kernel of a profile on another GPU, by its class: the recorded time, scaled by the sustained
 * rate of what bounds kernels of the class (docs/kernel-models.md, "By class").
 *
 * Products, convolutions and attention go by the product rate of their precision and the blocks of
 * the busiest multiprocessor; streaming kernels and those over rows by the sustained bandwidth of
 * the memory; a grid that leaves most of the source GPU empty keeps its latency, in cycles. What
 * the name does not tell lies between the ratios that may bound it. */
#include <math.h>
#include <strings.h>

#include "base/fail.h"
#include "kernel/gpu_rates.h"
#include "kernel/kernel_parts.h"

/* Half widths, in the logarithm, that are to hold 90 of 100 kernels; docs/accuracy.md has what they
 * hold of the operators of PyTorch in fp32 that V100, A100, P100 and T4 ran (NeuSight's data) and
 * an H100 (docs/measured), and what each would be with one of the GPUs left out.
 *
 * Products miss by what a library makes of a GPU. One that has kernels of its own is told apart
 * from one that runs those made for another (maxwell_sgemm on a P100, volta_sgemm on a T4). By
 * names alone both GPUs miss, and most where the grid has layers: products of a batch are small, so
 * that tiles at their edges are empty in part. With the operands' sizes the target alone misses,
 * and the time reaches from the least to the most of its usual tiles, and down to the usual share
 * of a peak that its power holds down.
 *
 * Kernels over rows miss by whether a cache holds a row until it is read again: of the
 * logarithm of what that makes of the bytes that cross the memory, 0.46 each way.
 *
 * No public data was there for the others: products in half precision miss by another quarter,
 * convolutions and attention by a half, apart from the rest, so that squares add; and that is
 * stated, not tested. Unaligned operands take twice the time at the least (kernel_operands.c) and
 * up to a hundred times; of other makers than NVIDIA nobody tells, and no name does. */
static const double width_own_kernels = 0.2;
static const double width_others_kernels = 0.3;
static const double width_in_layers = 0.37;
static const double width_streaming = 0.04;
static const double width_rows = 0.35;
static const double width_rows_once = 0.14;
static const double width_of_reads = 0.46;
static const double width_untested = 0.7;
static const double width_half_precision = 0.25;
static const double width_by_shape = 0.5;
static const double width_unaligned = 0.69; /* log 2 */

/* A product rate that is a usual share of the peak: GPUs sustain 0.49 (T4) to 0.97 (V100) of it.
 * One of a sibling, or of a precision that stands in for one that the GPU lacks: an A100 of PCIe is
 * 0.05 below one of SXM4, FP16 on a P100 0.03 below FP32. Of the memory GPUs sustain 0.73 (MI300X)
 * to 0.93 of the nominal bandwidth; siblings nearly the same share of it: A100s of 40 and 80 GB
 * differ by 0.055, the most of machines/. */
static const double width_assumed = 0.3;
static const double width_of_sibling = 0.1;
static const double width_assumed_memory = 0.12;
static const double width_of_sibling_memory = 0.04;

/* Gathers, scatters and sorts: of a recommendation model on A100 and V100 their launches took 1.05
 * to 1.87 times as long on the V100, the memories' rates 1.67; no operator of the data above is
 * one. Between makers: of a vision model on H100 and MI300X products were 0.21 off and streaming
 * kernels 0.06, in the logarithm; the only program at hand. */
static const double width_scattered = 0.35;
static const double width_of_makers = 0.2;

/* Communication keeps its recorded time: half or twice, whatever the links are. */
static const double width_collective = 0.7;

/* Half of a half width of products is the GPUs' and the library's, and so every product's: a rate
 * that is off, a clock that the power limit holds down. The rest is the product's own: its tile,
 * its waves. A part that no data tests is taken as shared, which makes sums widest; so is the
 * slowness of rows far apart, which always errs to the same side. */
static const double shared_where_tested = 0.5;

typedef struct scaling {
    double ratio; /* of the time beside the launches */
    double down;  /* half widths, in the logarithm */
    double up;
    double shared; /* of them, as haul_kernel_prediction says */
    haul_kernel_class kind;
    haul_kernel_bound bound;
    haul_provenance weakest;
    hl_kernel_tiles tiles; /* of a product of known sizes, on the target */
} scaling;

/* Classes that the arithmetic of a precision bounds. */
static bool is_product(haul_kernel_class kind)
{
    return kind == HAUL_KERNEL_CLASS_PRODUCT || kind == HAUL_KERNEL_CLASS_CONVOLUTION ||
           kind == HAUL_KERNEL_CLASS_ATTENTION;
}

/* How far a product in tensor cores may go by the memory: from this many flops to a byte on (the
 * sustained rate by the bandwidth) shapes of models lie on both sides. In tensor cores it is 60 to
 * 300, which products of two bytes an element pass from n = 180 to 900 on (2 n^3 flops over 6 n^2
 * bytes). In vector units it is 7 to 20 with HBM, which those of fp32 pass from n = 120 on, and up
 * to 70 with little memory bandwidth (L4): fp32 products go by the arithmetic on all of them. */
static const double ridge_of_both = 40;

static bool has_tensor_ridge(const haul_gpu *gpu, haul_precision precision)
{
    return hl_kernel_gpu_uses_tensor_cores(gpu, precision) &&
           hl_kernel_gpu_product_rate(gpu, precision).value >
               ridge_of_both * hl_kernel_gpu_stream_rate(gpu).value;
}

/* Architectures whose products cuBLAS and cuDNN run with kernels named for an older one. */
static bool runs_others_kernels(const haul_gpu *gpu)
{
    static const char *const names[] = {"pascal", "turing", "ada"};
    for (size_t i = 0; gpu->architecture && i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(gpu->architecture, names[i]))
            return true;
    return false;
}

/* Whether those were made for multiprocessors of another shape: Pascal's kernels are Maxwell's, of
 * 128 cores, which GeForce boards of Pascal have and a P100 with its 64 has not. Turing's are of
 * Volta's shape, Ada's of Ampere's (NVIDIA's tuning guides). */
static bool runs_unlike_kernels(const haul_gpu *gpu)
{
    const hl_machine_architecture *architecture = hl_machine_architecture_of(gpu);
    return architecture && architecture->major == 6 && architecture->cores == 64;
}

/* A small tile of a kernel made for another architecture is the source's own; where the library has
 * its own kernels the product's shape asked for it, and will on the target. */
static double tile_speed(const haul_gpu *from, const haul_gpu *to, const haul_kernel_kind *kind)
{
    return runs_others_kernels(from) && !hl_machine_gpu_same(from, to)
               ? hl_kernel_tile_speed(from, kind)
               : 1;
}

/* A maker's compilers and libraries are its own. */
static double width_between(const haul_gpu *from, const haul_gpu *to)
{
    const hl_machine_architecture *a = hl_machine_architecture_of(from),
                                  *b = hl_machine_architecture_of(to);
    return a && b && !a->major != !b->major ? width_of_makers : 0;
}

/* By a library, on one GPU. */
static double width_of_library(const haul_gpu *gpu, bool is_in_layers)
{
    const double width = runs_others_kernels(gpu) ? width_others_kernels : width_own_kernels;
    return is_in_layers ? fmax(width, width_in_layers) : width;
}

/* How much slower a GPU with kernels made for other multiprocessors is where rows lie far apart, in
 * the logarithm: between not at all, where other work hides that it translates addresses, and as
 * many times as the pages are more than those that it translates beside the arithmetic, where that
 * bounds it; half way. The half width reaches both. 0: rows are near, or nothing tells of them. */
static double far_slowness(const haul_gpu *gpu, const haul_operands *of)
{
    return runs_unlike_kernels(gpu) && of->batch ? log(hl_kernel_pages_ratio(of)) / 2 : 0;
}

/* A product of known sizes on the target, and what rows far apart make of it there, unless products
 * that were measured there tell it. The time of a source that is slowed by them in its own way
 * tells nothing of how much others are: half way, too. */
static hl_kernel_tiles tiles_on_target(const haul_machine *from, const haul_machine *to,
                                       const haul_kernel_work *work)
{
    hl_kernel_tiles tiles = hl_kernel_product_near_s(to, work);
    if (!tiles.is_far || tiles.is_measured)
        return tiles;
    const double slowness = far_slowness(&to->gpu, &work->operands);
    tiles.in_waves_s *= exp(slowness);
    tiles.most_s = fmax(tiles.most_s, tiles.in_waves_s);
    if (runs_unlike_kernels(&from->gpu))
        tiles.most_s = sqrt(tiles.most_s * tiles.in_waves_s);
    tiles.less = hypot(tiles.less, slowness);
    tiles.more = hypot(tiles.more, slowness);
    return tiles;
}

/* Half widths down and up. `is_told`: the launch tells sizes, and so whether rows lie far apart. */
static void product_widths(const haul_gpu *from, const haul_gpu *to, const haul_kernel_work *work,
                           bool is_told, const hl_kernel_tiles *tiles, scaling *out)
{
    const haul_kernel_kind *kind = &work->kind;
    const bool is_sized = tiles->in_waves_s > 0, is_in_layers = work->launches.grid[2] > 1;
    const bool is_tested =
        kind->kind == HAUL_KERNEL_CLASS_PRODUCT && kind->precision == HAUL_PRECISION_FP32;
    const bool is_unlike = runs_unlike_kernels(from) || runs_unlike_kernels(to);
    const double by_name =
        is_tested ? hypot(width_of_library(from, is_in_layers), width_of_library(to, is_in_layers))
                  : width_untested;
    const double sized = tiles->is_measured ? width_own_kernels : width_of_library(to, false);
    const double held_down = hl_kernel_gpu_held_down(to, kind->precision);
    out->down = is_sized ? fmax(hypot(sized, tiles->less), held_down) : by_name;
    out->up = is_sized ? hypot(sized, tiles->more) : by_name;
    if (is_unlike && !is_sized && !is_told)
        out->down = out->up = fmax(by_name, width_untested);
    out->shared = is_tested && !is_unlike ? shared_where_tested : 1;
}

/* Multiprocessors' time that the blocks take, target by source; 1 where waves are not known. */
static double waves_ratio(const haul_gpu *from, const haul_gpu *to, double blocks)
{
    if (!(from->multiprocessors.value > 0) || !(to->multiprocessors.value > 0) || !(blocks > 0))
        return 1;
    return hl_kernel_filled(to, blocks) / hl_kernel_filled(from, blocks);
}

static double flops_of(const haul_operands *of)
{
    return 2 * (double)of->batch * (double)of->rows * (double)of->columns * (double)of->inner;
}

/* The ratio of the times that a kernel's flops and bytes take at the sustained rates, whichever is
 * longer, of convolutions and attention; 0 where their sizes are not known. The share of the rates
 * that the kernel reached on the source is kept. */
static double by_roofline(const haul_gpu *from, const haul_gpu *to, const haul_kernel_work *work,
                          double waves, bool *is_memory)
{
    const haul_precision precision = work->kind.precision;
    const double flops = flops_of(&work->operands);
    const double a = flops / hl_kernel_gpu_product_rate(from, precision).value;
    const double b = flops / hl_kernel_gpu_product_rate(to, precision).value * waves;
    const double a_memory = hl_kernel_gpu_stream_s(from, (double)work->operands.bytes);
    const double b_memory = hl_kernel_gpu_stream_s(to, (double)work->operands.bytes);
    const double ratio = fmax(b, b_memory) / fmax(a, a_memory);
    *is_memory = b_memory > b;
    return work->kind.kind != HAUL_KERNEL_CLASS_PRODUCT && isfinite(ratio) ? ratio : 0;
}

/* Where a batch's result is one tile wide, of a library with few: its sides are anything up to
 * that, half of it on average, and the target's library may have smaller tiles, or not. So the
 * whole tile, or what half of it takes on the target, one of four; in the logarithm, at most 0. */
static double open_edges(const haul_machine *to, const haul_kernel_work *told)
{
    haul_kernel_work half = *told;
    haul_operands *of = &half.operands;
    const double *grid = told->launches.grid;
    of->columns /= grid[0] > 1 ? 1 : 2;
    of->rows /= grid[1] > 1 ? 1 : 2;
    of->bytes = 0;
    if (!told->kind.has_few_tiles || !(grid[2] > 1) || !of->columns || !of->rows)
        return 0;
    const double whole_s = hl_kernel_product_near_s(to, told).in_waves_s;
    return whole_s > 0 ? fmin(0, log(hl_kernel_product_near_s(to, &half).in_waves_s / whole_s)) / 4
                       : 0;
}

/* The ratio by arithmetic, in the same tiles or, of few blocks, in those that a library would
 * choose anew on the target: what whole tiles and waves make of a time falls with the waves, and so
 * goes the share of the latter, one over the waves. Where flops and bytes are not known and a GPU's
 * ridge leaves open what bounds it, half way, in the logarithm, to the ratio by memory, and the
 * interval reaches both; within what the launch and the time allow, where they tell that. */
static bool scale_product(const haul_machine *from, const haul_machine *to,
                          const haul_kernel_work *work, double work_s, scaling *out)
{
    const haul_precision precision = work->kind.precision;
    const haul_parameter a = hl_kernel_gpu_product_rate(&from->gpu, precision);
    const haul_parameter b = hl_kernel_gpu_product_rate(&to->gpu, precision);
    const double by_memory =
        hl_kernel_gpu_stream_rate(&from->gpu).value / hl_kernel_gpu_stream_rate(&to->gpu).value;
    if (!precision || !(a.value > 0) || !(b.value > 0))
        return false;
    const double waves = waves_ratio(&from->gpu, &to->gpu, work->launches.blocks);
    haul_kernel_work told = *work;
    told.operands = hl_kernel_product_told(&from->gpu, &to->gpu, work, work_s);
    const double filling =
        told.operands.batch ? hl_kernel_filling_ratio(&from->gpu, &to->gpu, &told.operands) : 1;
    const double kept =
        a.value / b.value * waves * filling * tile_speed(&from->gpu, &to->gpu, &work->kind);
    const double anew = hl_kernel_product_near_s(to, &told).in_waves_s / work_s;
    const double most = fmax(from->gpu.multiprocessors.value, to->gpu.multiprocessors.value);
    const double share = fmin(1, most / work->launches.blocks);
    const double arithmetic = anew > 0 ? pow(kept, 1 - share) * pow(anew, share) : kept;
    const hl_kernel_tiles tiles = tiles_on_target(from, to, work);
    bool is_memory = false;
    const double known = by_roofline(&from->gpu, &to->gpu, work, waves, &is_memory);
    const bool is_both =
        !tiles.is_full && by_memory > 0 && isfinite(by_memory) && !(known > 0) &&
        (has_tensor_ridge(&from->gpu, precision) || has_tensor_ridge(&to->gpu, precision));
    /* of the ratio by arithmetic, in the logarithm */
    const double apart = is_both ? log(by_memory / arithmetic) / 2 : 0;
    const bool is_named = !(tiles.in_waves_s > 0);
    const double edges = is_named * open_edges(to, &told);
    const double far = is_named * (far_slowness(&to->gpu, &told.operands) -
                                   far_slowness(&from->gpu, &told.operands));
    double middle = apart + far + edges, ratios[2];
    double down = hypot(apart + far, 3 * edges), up = hypot(apart + far, edges);
    if (is_both && hl_kernel_product_ratios_told(&from->gpu, &to->gpu, work, work_s, ratios)) {
        const double lowest = log(fmin(ratios[0], ratios[1]) / arithmetic);
        const double highest = log(fmax(ratios[0], ratios[1]) / arithmetic);
        middle = fmin(fmax(apart, lowest), highest);
        down = middle - lowest;
        up = highest - middle;
    }
    const double more = hypot((precision > HAUL_PRECISION_FP32) * width_half_precision,
                              (work->kind.kind != HAUL_KERNEL_CLASS_PRODUCT) * width_by_shape);
    const double unaligned = hl_kernel_product_is_unaligned(work) ? width_unaligned : 0;
    const haul_provenance weakest = haul_provenance_weaker(a.provenance, b.provenance);
    const double of_rates = hypot(weakest > HAUL_PROVENANCE_SCALED    ? width_assumed
                                  : weakest == HAUL_PROVENANCE_SCALED ? width_of_sibling
                                                                      : 0,
                                  width_between(&from->gpu, &to->gpu));
    scaling width;
    product_widths(&from->gpu, &to->gpu, work, told.operands.batch > 0, &tiles, &width);
    *out = (scaling){.ratio = known > 0 ? known : arithmetic * exp(middle),
                     .down = hypot(hypot(width.down, of_rates), hypot(more, down)),
                     .up = hypot(hypot(width.up, of_rates), hypot(more, hypot(up, unaligned))),
                     .shared = width.shared,
                     .kind = work->kind.kind,
                     .bound = is_both || is_memory ? HAUL_KERNEL_BOUND_MEMORY
                                                   : HAUL_KERNEL_BOUND_ARITHMETIC,
                     .weakest = weakest,
                     .tiles = tiles};
    return true;
}

/* A kernel over rows whose reads are known: each GPU by what its own L2 leaves to the memory. One
 * that keeps less than half of the bandwidth busy is bound by what goes on inside the
 * multiprocessors as well: half way, in the logarithm, and the interval reaches both. */
static void scale_rows(const haul_machine *from, const haul_machine *to,
                       const haul_kernel_work *work, double each_s, scaling *out)
{
    static const double busy = 0.5;
    const haul_kernel_launches *by = &work->launches;
    if (!work->kind.reads || !(by->blocks > 0))
        return;
    const double row_bytes = hl_kernel_row_bytes(&from->gpu, work, each_s);
    const double passes = hl_kernel_row_passes(&from->gpu, work, row_bytes);
    out->ratio *= hl_kernel_row_passes(&to->gpu, work, row_bytes) / passes;
    const double used =
        passes * row_bytes * by->blocks / (each_s * hl_kernel_gpu_stream_rate(&from->gpu).value);
    const double inside = hl_kernel_gpu_inside_ratio(&from->gpu, &to->gpu, by);
    if (!(used < busy) || !(inside > 0) || !isfinite(inside))
        return;
    const double apart = log(inside / out->ratio) / 2;
    out->ratio *= exp(apart);
    out->down = hypot(out->down, apart);
    out->up = hypot(out->up, apart);
    out->bound = HAUL_KERNEL_BOUND_LATENCY;
}

/* Whether a launch of `work_s` seconds keeps the source's memory busy, by bytes that are known. */
static bool fills_memory(const haul_gpu *from, const haul_kernel_work *work, double bytes,
                         double work_s)
{
    return bytes > 0 && hl_kernel_bound_weight(
                            hl_kernel_memory_share(from, &work->launches, work_s, bytes)) > 0.5;
}

/* A product of so few rows or columns that its operands take longer to come out of the memory than
 * its flops do, on both GPUs, and that filled the source's: it streams them, whatever its tiles. */
static bool streams_operands(const haul_machine *from, const haul_machine *to,
                             const haul_kernel_work *work, double work_s)
{
    const double flops = flops_of(&work->operands);
    const haul_gpu *gpus[] = {&from->gpu, &to->gpu};
    bool is_memory = work->kind.kind == HAUL_KERNEL_CLASS_PRODUCT && work->operands.batch > 0 &&
                     fills_memory(&from->gpu, work, work->bytes, work_s);
    for (int i = 0; i < 2; i++)
        is_memory &= hl_kernel_gpu_stream_s(gpus[i], work->bytes) *
                         hl_kernel_gpu_product_rate(gpus[i], work->kind.precision).value >
                     flops;
    return is_memory;
}

/* By the bandwidth of the memory, and of L2 for data that it holds: the kernel before left them
 * there. Where bytes are known the source's time tells whether it did; else the interval reaches
 * the memory's ratio, too. */
static bool scale_streaming(const haul_machine *from, const haul_machine *to,
                            const haul_kernel_work *work, double work_s, scaling *out)
{
    const haul_parameter a = hl_kernel_gpu_stream_rate(&from->gpu);
    const haul_parameter b = hl_kernel_gpu_stream_rate(&to->gpu);
    if (!(a.value > 0) || !(b.value > 0))
        return false;
    const bool is_rows = work->kind.kind == HAUL_KERNEL_CLASS_ROWS;
    const double bytes =
        work->bytes > 0 ? work->bytes : hl_kernel_gpu_stream_bytes(&from->gpu, work_s);
    const double by_memory = a.value / b.value;
    const double by_l2 =
        hl_kernel_gpu_stream_s(&to->gpu, bytes) / hl_kernel_gpu_stream_s(&from->gpu, bytes);
    const bool is_known = work->bytes > 0;
    const bool is_in_l2 = !is_known || work_s * a.value < work->bytes;
    const double apart = is_known ? 0 : log(by_memory / by_l2);
    const bool is_measured = a.provenance == HAUL_PROVENANCE_MEASURED;
    const haul_provenance weakest = haul_provenance_weaker(a.provenance, b.provenance);
    const double of_reads = log((1 + work->kind.most_reads) / 2.0);
    const double of_class = is_rows && work->kind.reads
                                ? hypot(width_rows_once, width_of_reads * of_reads)
                            : is_rows                     ? width_rows
                            : work->kind.is_scattered     ? width_scattered
                            : is_product(work->kind.kind) ? width_own_kernels
                                                          : width_streaming;
    const double of_rates = weakest > HAUL_PROVENANCE_SCALED ? width_assumed_memory
                            : weakest == HAUL_PROVENANCE_SCALED ||
                                    is_measured != (b.provenance == HAUL_PROVENANCE_MEASURED)
                                ? width_of_sibling_memory
                                : 0;
    const double width = hypot(hypot(of_class, of_rates), width_between(&from->gpu, &to->gpu));
    *out = (scaling){.ratio = is_in_l2 ? by_l2 : by_memory,
                     .down = width + fmax(-apart, 0),
                     .up = width + fmax(apart, 0),
                     .shared = 1,
                     .kind = work->kind.kind,
                     .bound = HAUL_KERNEL_BOUND_MEMORY,
                     .weakest = weakest};
    if (is_rows)
        scale_rows(from, to, work, work_s, out);
    return true;
}

/* Blocks that leave most of the GPU empty take one block's time after another: cycles, whatever the
 * number of multiprocessors. Not where they are seen to fill the memory all the same. */
static bool scale_latency(const haul_machine *from, const haul_machine *to,
                          const haul_kernel_work *work, double work_s, scaling *out)
{
    const haul_gpu *a = &from->gpu, *b = &to->gpu;
    if (fills_memory(a, work, work->bytes, work_s) ||
        !hl_kernel_gpu_has_low_occupancy(a, work->launches.blocks, work->launches.block) ||
        !(a->clock_Hz.value > 0) || !(b->clock_Hz.value > 0) || !(b->multiprocessors.value > 0))
        return false;
    const double width = hl_kernel_uncertainty_inside(a, b);
    *out = (scaling){.ratio = hl_kernel_gpu_inside_ratio(a, b, &work->launches),
                     .down = width,
                     .up = width,
                     .shared = 1,
                     .kind = HAUL_KERNEL_CLASS_LATENCY,
                     .bound = HAUL_KERNEL_BOUND_LOW_OCCUPANCY,
                     .weakest = HAUL_PROVENANCE_SCALED};
    return true;
}

/* A time that one launch cannot fall below, and by what. */
typedef struct limit {
    double seconds;
    haul_kernel_bound bound;
} limit;

static limit least_of(const haul_gpu *gpu, const haul_kernel_work *work)
{
    const double peak = hl_kernel_gpu_product_peak(gpu, work->kind.precision);
    const double rate = hl_kernel_gpu_memory_rate(gpu);
    const double of_flops = peak > 0 ? work->flops / peak : 0;
    const double of_bytes = rate > 0 ? fmax(0, work->bytes - gpu->l2_bytes.value) / rate : 0;
    return of_flops > of_bytes ? (limit){of_flops, HAUL_KERNEL_BOUND_ARITHMETIC}
                               : (limit){of_bytes, HAUL_KERNEL_BOUND_MEMORY};
}

/* Known bytes and flops hold on the target too: no kernel is faster than its memory and
 * its arithmetic allow, unless the source's own time belies them (tensor cores, data never read).
 */
static limit limit_on_target(const haul_machine *from, const haul_machine *to,
                             const haul_kernel_work *work, double each_s)
{
    haul_kernel_work flops = *work, bytes = *work;
    flops.bytes = bytes.flops = 0;
    const limit none = {0, HAUL_KERNEL_BOUNDS};
    const limit by_flops =
        least_of(&from->gpu, &flops).seconds <= each_s ? least_of(&to->gpu, &flops) : none;
    const limit by_bytes =
        least_of(&from->gpu, &bytes).seconds <= each_s ? least_of(&to->gpu, &bytes) : none;
    return by_flops.seconds > by_bytes.seconds ? by_flops : by_bytes;
}

/* A launch takes at most half of a kernel's time, as in fits, so that no work becomes negative. */
static double launch_of(const haul_gpu *gpu, double each_s)
{
    return fmin(hl_kernel_gpu_launch(gpu), each_s / 2);
}

/* Scales a kernel that no rate fits by the ratios of the whole GPU, with their wide interval. */
static haul_status scale_unknown(const haul_machine *from, const haul_machine *to,
                                 const haul_kernel_work *work, haul_kernel_prediction *out,
                                 haul_error *error)
{
    haul_kernel_prediction made = {
        .kind = HAUL_KERNEL_CLASS_UNKNOWN, .bound = HAUL_KERNEL_BOUNDS, .shared = 1};
    haul_estimate *of = &made.estimate;
    HAUL_TRY(hl_kernel_scale_unknown(from, to, work, of, error));
    const double count = fmax(work->launches.count, 1), each_s = work->seconds / count;
    const double share = hl_kernel_memory_share(
        &from->gpu, &work->launches, each_s - launch_of(&from->gpu, each_s), work->bytes);
    if (hl_kernel_bound_weight(share) > 0.5)
        made.bound = HAUL_KERNEL_BOUND_MEMORY;
    const limit least = limit_on_target(from, to, work, work->seconds / count);
    const double least_s = count * least.seconds;
    if (least_s > of->seconds) {
        made.bound = least.bound;
        of->high_s *= least_s / of->seconds;
        of->seconds = least_s;
    }
    of->low_s = fmax(of->low_s, least_s);
    *out = made;
    return HAUL_OK;
}

/* Where the operands' sizes are known: the time of whole tiles in whole waves; the source's time
 * where it is longer, up to `most_s`. Of fewer tiles than multiprocessors libraries take smaller
 * ones, and slices of the inner dimension: from the sustained rate up to a whole wave. The source's
 * time counts up to a launch whatever the tiles: tiny products wait, which no size tells. Where a
 * counter alone tells flops: no faster than the target's sustained rate. They are no upper limit,
 * for counters do not count tensor cores' flops. */
static double with_flops(const haul_machine *to, const haul_kernel_work *work,
                         const hl_kernel_tiles *tiles, double each_s)
{
    const haul_parameter rate = hl_kernel_gpu_product_rate(&to->gpu, work->kind.precision);
    if (!is_product(work->kind.kind) || !(work->flops > 0) || !(rate.value > 0))
        return each_s;
    const double best_s = work->flops / rate.value;
    if (!(tiles->in_waves_s > 0))
        return fmax(each_s, best_s);
    const double least_s = tiles->is_full ? tiles->in_waves_s : best_s;
    const double most_s = fmax(tiles->most_s, best_s);
    return fmin(fmax(each_s, least_s), fmax(most_s, hl_kernel_gpu_launch(&to->gpu)));
}

/* Launch and work are scaled apart. */
static haul_kernel_prediction finish(const haul_machine *from, const haul_machine *to,
                                     const haul_kernel_work *work, const scaling *by)
{
    const double count = fmax(work->launches.count, 1), each_s = work->seconds / count;
    const double launch_s = launch_of(&from->gpu, each_s);
    const double new_launch_s =
        launch_s * hl_kernel_gpu_launch(&to->gpu) / fmax(hl_kernel_gpu_launch(&from->gpu), 1e-9);
    const limit least = limit_on_target(from, to, work, each_s);
    double work_s = (each_s - launch_s) * by->ratio;
    if (!streams_operands(from, to, work, each_s - launch_s))
        work_s = with_flops(to, work, &by->tiles, work_s);
    haul_kernel_prediction out = {.kind = by->kind, .bound = by->bound, .shared = by->shared};
    if (least.seconds > work_s) {
        work_s = least.seconds;
        out.bound = least.bound;
    }
    if (new_launch_s > work_s)
        out.bound = HAUL_KERNEL_BOUND_LAUNCH;
    const double seconds = count * (new_launch_s + work_s);
    out.estimate = (haul_estimate){
        .seconds = seconds,
        .low_s = fmax(seconds * exp(-by->down), count * least.seconds),
        .high_s = seconds * exp(by->up),
        .weakest = haul_provenance_weaker(by->weakest, HAUL_PROVENANCE_SCALED),
        .model = "class",
    };
    return out;
}

/* On the same GPU the recorded time is the answer, whatever its rates would make of the counters
 * and operands; and of nothing nothing is scaled. */
static haul_kernel_prediction kept(const haul_kernel_work *work)
{
    return (haul_kernel_prediction){
        .estimate = {.seconds = work->seconds,
                     .low_s = work->seconds,
                     .high_s = work->seconds,
                     .weakest = HAUL_PROVENANCE_SCALED,
                     .model = "class"},
        .kind = work->kind.kind,
        .bound = HAUL_KERNEL_BOUNDS,
        .shared = 1,
    };
}

/* Operands tell flops and bytes where no counter does: those of products, convolutions and
 * attention for the kernels that are such, the others for kernels over rows. An operator's other
 * kernels are told nothing, but one that streams what would fill the memory: a product with a
 * vector. Neither is one, but a product, that took less time than the source's peaks allow: it
 * computes in another way (Winograd's, Fourier's), or reads other data. */
static haul_kernel_work with_sizes(const haul_gpu *from, const haul_kernel_work *given)
{
    haul_kernel_work work = *given;
    const haul_operands *of = &work.operands;
    const haul_kernel_class kind = work.kind.kind;
    const double each_s = work.seconds / fmax(work.launches.count, 1);
    const bool is_streamed =
        kind == HAUL_KERNEL_CLASS_STREAMING && fills_memory(from, given, (double)of->bytes, each_s);
    if (of->batch ? !is_product(kind) && !is_streamed : kind != HAUL_KERNEL_CLASS_ROWS)
        work.operands = (haul_operands){0};
    if (of->batch && !(work.flops > 0))
        work.flops = flops_of(of);
    if (!(work.bytes > 0))
        work.bytes = (double)of->bytes;
    if (of->batch && kind != HAUL_KERNEL_CLASS_PRODUCT && least_of(from, &work).seconds > each_s) {
        work = *given;
        work.operands = (haul_operands){0};
    }
    return work;
}

/* The slope from a copy inside the GPU to the next larger one, each byte of it read and written,
 * where L2 holds neither. */
static double copied_rate(const haul_machine *machine)
{
    double most = 0;
    for (size_t i = 0; i < machine->copy_count; i++) {
        const haul_copy_curve *curve = &machine->copies[i];
        const haul_point *of = curve->points;
        for (int k = 1;
             curve->direction == HAUL_DIRECTION_DTOD && k < (int)curve->points_from.value; k++)
            if (2 * of[k - 1].bytes > machine->gpu.l2_bytes.value)
                most = fmax(most, 2 * (of[k].bytes - of[k - 1].bytes) /
                                      (of[k].seconds - of[k - 1].seconds));
    }
    return most;
}

/* A triad that was measured tells the least that the memory sustains: with too few bytes in flight
 * it does not fill it. What copies were measured to move it sustains, too. */
static haul_machine with_copied_rate(const haul_machine *given)
{
    haul_machine machine = *given;
    haul_parameter *const rates[] = {&machine.gpu.stream_Bps, &machine.gpu.memory_bandwidth_Bps};
    for (int i = 0; i < 2; i++)
        if (rates[i]->provenance == HAUL_PROVENANCE_MEASURED)
            rates[i]->value = fmax(rates[i]->value, copied_rate(given));
    return machine;
}

/* A small grid comes before the class for streaming and rows: it never fills the memory's
 * bandwidth. Products have whole blocks counted already, in `filled`. */
haul_status haul_kernel_predict(const haul_machine *from, const haul_machine *to,
                                const haul_kernel_work *given, haul_kernel_prediction *out,
                                haul_error *error)
{
    const haul_machine source = with_copied_rate(from), target = with_copied_rate(to);
    from = &source;
    to = &target;
    const haul_kernel_work sized = with_sizes(&from->gpu, given);
    const haul_kernel_work *work = &sized;
    const haul_kernel_class kind = work->kind.kind;
    const double each_s = work->seconds / fmax(work->launches.count, 1);
    const double work_s = each_s - launch_of(&from->gpu, each_s);
    scaling by = {.kind = kind, .bound = HAUL_KERNEL_BOUNDS, .shared = 1};
    if (!(work->seconds >= 0 && isfinite(work->seconds)))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected a duration, not %g s",
                              work->seconds);
    if (hl_kernel_gpu_keeps_times(&from->gpu, &to->gpu) || !(work->seconds > 0)) {
        *out = kept(work);
        return HAUL_OK;
    }
    if (kind == HAUL_KERNEL_CLASS_COLLECTIVE) {
        by.ratio = 1;
        by.down = by.up = width_collective;
        by.weakest = HAUL_PROVENANCE_ASSUMED;
    } else if (streams_operands(from, to, work, work_s) || kind == HAUL_KERNEL_CLASS_STREAMING ||
                       kind == HAUL_KERNEL_CLASS_ROWS
                   ? !scale_latency(from, to, work, work_s, &by) &&
                         !scale_streaming(from, to, work, work_s, &by)
                   : !is_product(kind) || !scale_product(from, to, work, work_s, &by)) {
        return scale_unknown(from, to, work, out, error);
    }
    *out = finish(from, to, work, &by);
    return HAUL_OK;
}

void haul_kernel_sum_add(haul_kernel_sum *self, const haul_kernel_prediction *one)
{
    const haul_estimate *of = &one->estimate;
    self->seconds += of->seconds;
    for (int up = 0; up < 2; up++) {
        const double width = up ? of->high_s - of->seconds : of->seconds - of->low_s;
        const double shared = one->shared * width;
        self->shared_s[up] += shared;
        self->own_squared[up] += width * width - shared * shared;
    }
}

double haul_kernel_sum_squared(const haul_kernel_sum *self, int up)
{
    return self->shared_s[up] * self->shared_s[up] + self->own_squared[up];
}
