/* A kernel's time by the sizes of its operands: of a matrix product its whole tiles, of a
 * kernel over rows whether a cache holds those at work. */
#include <math.h>

#include "kernel/gpu_rates.h"
#include "kernel/kernel_parts.h"

/* Tiles of the result, their sides along the columns and the rows of a row-major one, that a
 * library may take; the usual one first. It chooses among some, from 32 x 32 to 256 x 128, by rules
 * of its own. In fp32 a time is the least of four that cuBLAS's kernels are named for from Pascal
 * to Hopper, in tensor cores that of 128 x 128; intervals reach from the least to the most of
 * three.
 *
 * A block of 16 x 16 threads shares a tile: each loads 16/a + 16/b operands from shared memory a
 * multiply-add, and a load takes as long as a multiply-add. The sustained rate is that of 128 x
 * 128.
 *
 * A tile's pipeline is filled before its first multiply-add, and its result stored behind the last:
 * two steps more along the inner dimension, of 8 each in kernels for fp32 (CUTLASS's and cuBLAS's
 * names have it: "128x128_8x5", "tilesize128x128x8"), on multiprocessors of 64 cores. Both wait for
 * memory, which takes cycles: as many in which twice the cores go twice as far. In tensor cores
 * that is not known. */
enum { CHOICES = 3, TRIES = HL_KERNEL_TILE_RULES - 1 };
typedef struct tiling {
    double sides[CHOICES][2];
    double tried[TRIES][2]; /* by the library, which takes the fastest */
    int tries;
    double threads; /* along a side of a tile; 0: loads are not counted */
    double filling;
    double slower; /* than the tiles' time at most, where the source's was as slow */
} tiling;
static const tiling fp32_tiling = {
    .sides = {{128, 64}, {64, 64}, {128, 128}},
    .tried = {{256, 128}, {128, 128}, {128, 64}, {64, 64}},
    .tries = 4,
    .threads = 16,
    .filling = 2 * 8,
    .slower = 1,
};
static const tiling tensor_tiling = {
    .sides = {{128, 128}, {64, 64}, {256, 128}},
    .tried = {{128, 128}},
    .tries = 1,
    .slower = 1.1,
};

static const tiling *tiling_of(haul_precision precision)
{
    return precision > HAUL_PRECISION_FP32 ? &tensor_tiling : &fp32_tiling;
}

/* Operands whose rows begin at odd elements of two bytes: tensor cores are fed by loads of 16
 * bytes, and without alignment each element is loaded by itself. "Over 2x" slower for one odd size
 * of 2047 (H. He, "What Shapes Do Matrix Multiplications Like?", answer key, thonking.ai, 2024); a
 * hundred times in the worst case (pytorch issue 146817). NVIDIA's: of AMD's there is no such
 * figure. */
static const double slower_unaligned = 2;

bool hl_kernel_product_is_unaligned(const haul_kernel_work *work)
{
    const haul_precision precision = work->kind.precision;
    return work->operands.alignment == 2 &&
           (precision == HAUL_PRECISION_FP16 || precision == HAUL_PRECISION_BF16);
}

double hl_kernel_filled(const haul_gpu *gpu, double blocks)
{
    const double count = gpu->multiprocessors.value;
    return ceil(blocks / count) * count;
}

/* Pages of 2 MiB that the rows of a tile of operands in fp32 lie in, which begin anywhere in one.
 * From more than three on address translation slows products: by a sixth at most on V100, A100, T4
 * and H100 (docs/accuracy/operators.md: by two thirds on a P100), and the source's time tells by
 * how much. */
static const double pages_at_once = 3;
static const double slower_far = 1.2;

static double pages_of(const haul_operands *of)
{
    static const double page = 2 * 1024 * 1024;
    return 1 + fp32_tiling.sides[0][0] * 4 * (double)of->inner / page;
}

double hl_kernel_pages_ratio(const haul_operands *of)
{
    return fmax(1, pages_of(of) / pages_at_once);
}

static double blocks_of(const haul_operands *of, const double tile[2])
{
    return (double)of->batch * ceil((double)of->columns / tile[0]) *
           ceil((double)of->rows / tile[1]);
}

static double filling_of(const haul_gpu *gpu, haul_precision precision)
{
    static const double cores = 64;
    const hl_machine_architecture *of = hl_machine_architecture_of(gpu);
    const bool is_known = precision == HAUL_PRECISION_FP32 && of && of->major;
    return tiling_of(precision)->filling * (is_known ? of->cores / cores : 1);
}

/* Tiles at the edges cost as much as whole ones, and so do the last wave's missing ones. */
static double tiled_s(const haul_gpu *gpu, const haul_kernel_work *work, const double tile[2])
{
    const haul_operands *of = &work->operands;
    const double rate = hl_kernel_gpu_product_rate(gpu, work->kind.precision).value;
    return 2 * ((double)of->inner + filling_of(gpu, work->kind.precision)) * tile[0] * tile[1] /
           rate * hl_kernel_filled(gpu, blocks_of(of, tile));
}

/* By how much loads make a tile slower than one of 128 x 128. */
static double slower_by_loads(const tiling *by, const double tile[2])
{
    return (1 + by->threads / tile[0] + by->threads / tile[1]) / (1 + 2 * by->threads / 128);
}

/* Operands that do not fit the L2 cross the memory once at the least. Convolutions and attention
 * are tiled in ways of their own. */
hl_kernel_tiles hl_kernel_product_s(const haul_gpu *gpu, const haul_kernel_work *work)
{
    const haul_operands *of = &work->operands;
    const haul_precision precision = work->kind.precision;
    const tiling *by = tiling_of(precision);
    if (!of->batch || work->kind.kind != HAUL_KERNEL_CLASS_PRODUCT ||
        !(hl_kernel_gpu_product_rate(gpu, precision).value > 0) ||
        !(gpu->multiprocessors.value > 0))
        return (hl_kernel_tiles){0};
    const double stream = hl_kernel_gpu_stream_rate(gpu).value;
    const double bytes = fmax(0, (double)of->bytes - gpu->l2_bytes.value);
    const double by_memory = stream > 0 ? bytes / stream : 0;
    double of_rule_s[HL_KERNEL_TILE_RULES], fastest_s = HUGE_VAL;
    for (int i = 0; i < by->tries; i++) {
        const double tile_s = tiled_s(gpu, work, by->tried[i]) * slower_by_loads(by, by->tried[i]);
        of_rule_s[i + 1] = fmax(tile_s, by_memory);
        fastest_s = fmin(fastest_s, tile_s);
    }
    const double seconds = fmax(fastest_s, by_memory);
    double least_s = seconds, most_s = seconds;
    for (int i = 0; i < CHOICES; i++) {
        const double of_tiles_s = fmax(tiled_s(gpu, work, by->sides[i]), by_memory);
        least_s = fmin(least_s, of_tiles_s);
        most_s = fmax(most_s, of_tiles_s);
    }
    const hl_machine_architecture *architecture = hl_machine_architecture_of(gpu);
    const double slower =
        hl_kernel_product_is_unaligned(work) && architecture && architecture->major
            ? slower_unaligned
            : 1;
    const double in_waves_s = seconds * slower;
    const bool is_far = by == &fp32_tiling && pages_of(of) > pages_at_once;
    hl_kernel_tiles out = {
        .in_waves_s = in_waves_s,
        .most_s = in_waves_s * (is_far ? slower_far : by->slower),
        .less = log(seconds / least_s),
        .more = log(most_s / seconds),
        .is_full = blocks_of(of, by->sides[0]) >= gpu->multiprocessors.value,
        .is_far = is_far,
    };
    for (int rule = 0; rule < HL_KERNEL_TILE_RULES; rule++)
        out.of_rule_s[rule] = rule && rule <= by->tries ? of_rule_s[rule] * slower : in_waves_s;
    return out;
}

/* Tiles at the edges are taken as full: a library with smaller ones would have taken those. */
haul_operands hl_kernel_product_told(const haul_gpu *from, const haul_gpu *to,
                                     const haul_kernel_work *work, double each_s)
{
    static const double most = 1e12; /* far beyond any size, so that bytes stay a number */
    const hl_machine_architecture *a = hl_machine_architecture_of(from),
                                  *b = hl_machine_architecture_of(to);
    const double tile[2] = {work->kind.tile[0], work->kind.tile[1]};
    const double *grid = work->launches.grid;
    const double blocks = grid[0] * grid[1] * grid[2];
    if (!a || !a->major || !b || !b->major || !(tile[0] * tile[1] > 0) || !(blocks > 0) ||
        work->operands.batch || work->kind.precision != HAUL_PRECISION_FP32 ||
        !(from->multiprocessors.value > 0))
        return (haul_operands){0};
    const tiling *by = &fp32_tiling;
    const double step_s = 2 * tile[0] * tile[1] * hl_kernel_filled(from, blocks) *
                          slower_by_loads(by, tile) /
                          hl_kernel_gpu_product_rate(from, HAUL_PRECISION_FP32).value;
    const double filling = filling_of(from, HAUL_PRECISION_FP32);
    const double inner = fmin(fmax(each_s / step_s - filling, by->filling / 2), most);
    const double columns = fmin(grid[0] * tile[0], most), rows = fmin(grid[1] * tile[1], most);
    const double batch = fmin(grid[2], most);
    const double bytes = 4 * batch * (rows * inner + inner * columns + rows * columns);
    return (haul_operands){.batch = (uint64_t)batch,
                           .rows = (uint64_t)rows,
                           .columns = (uint64_t)columns,
                           .inner = (uint64_t)inner,
                           .bytes = (uint64_t)fmin(bytes, 1e18)};
}

double hl_kernel_filling_ratio(const haul_gpu *from, const haul_gpu *to, const haul_operands *of)
{
    const double inner = (double)of->inner;
    return (inner + filling_of(to, HAUL_PRECISION_FP32)) /
           (inner + filling_of(from, HAUL_PRECISION_FP32));
}

static double element_bytes(haul_precision precision)
{
    return precision == HAUL_PRECISION_FP64   ? 8
           : precision <= HAUL_PRECISION_TF32 ? 4
           : precision <= HAUL_PRECISION_BF16 ? 2
                                              : 1;
}

/* The inner dimension is the longest that the source's time allows. Each block reads the operands
 * of its tile: from the memory at the most; at the least each batch's once, the fewest where its
 * tiles make a square, and L2 holds some of them. Of fewer blocks than multiprocessors a library
 * takes other tiles; since Hopper a block computes tile after tile, so that its grid does not tell
 * the result. */
bool hl_kernel_product_ratios_told(const haul_gpu *from, const haul_gpu *to,
                                   const haul_kernel_work *work, double each_s, double ratios[2])
{
    enum { HOPPER = 9 };
    const hl_machine_architecture *a = hl_machine_architecture_of(from),
                                  *b = hl_machine_architecture_of(to);
    const double *grid = work->launches.grid;
    const double area = (double)work->kind.tile[0] * work->kind.tile[1];
    const double blocks = grid[0] * grid[1] * grid[2], result = blocks * area;
    if (!a || !a->major || a->major >= HOPPER || !b || !b->major || !(area > 0) ||
        !(blocks >= fmax(from->multiprocessors.value, to->multiprocessors.value)) ||
        !isfinite(result * grid[2]) || work->kind.kind != HAUL_KERNEL_CLASS_PRODUCT)
        return false;
    const haul_gpu *const gpus[] = {from, to};
    const double bytes = element_bytes(work->kind.precision);
    const double reads[] = {blocks * (work->kind.tile[0] + work->kind.tile[1]),
                            2 * sqrt(result * grid[2])};
    for (int reused = 0; reused < 2; reused++) {
        double inner = HUGE_VAL, seconds[2];
        for (int i = 0; i < 2; i++) {
            const haul_gpu *gpu = gpus[i];
            const double step_s = 2 * area * hl_kernel_filled(gpu, blocks) /
                                  hl_kernel_gpu_product_rate(gpu, work->kind.precision).value;
            const double rate = hl_kernel_gpu_stream_rate(gpu).value;
            const double held = reused ? gpu->l2_bytes.value : 0;
            if (i == 0)
                inner = fmax(1, fmin(each_s / step_s,
                                     ((each_s * rate + held) / bytes - result) / reads[reused]));
            seconds[i] =
                fmax(step_s * inner, (bytes * (reads[reused] * inner + result) - held) / rate);
        }
        ratios[reused] = seconds[1] / seconds[0];
    }
    return isfinite(log(ratios[0])) && isfinite(log(ratios[1]));
}

/* Seconds that L2 takes for the operands of a tile by those that its arithmetic takes: a step along
 * the inner dimension loads a column of one side and a row of the other for as many multiply-adds
 * as the tile has elements. */
static double feeding(const haul_gpu *gpu, haul_precision precision, double across, double down)
{
    const double rate = hl_kernel_gpu_product_rate(gpu, precision).value;
    return element_bytes(precision) * rate * (1 / across + 1 / down) / 2 /
           hl_kernel_gpu_l2_rate(gpu).value;
}

double hl_kernel_tile_speed(const haul_gpu *gpu, const haul_kernel_kind *kind)
{
    const double *usual = tiling_of(kind->precision)->sides[0];
    if (!kind->tile[0] || !kind->tile[1] || !(hl_kernel_gpu_l2_rate(gpu).value > 0))
        return 1;
    return fmin(1, (1 + feeding(gpu, kind->precision, usual[0], usual[1])) /
                       (1 + feeding(gpu, kind->precision, kind->tile[0], kind->tile[1])));
}

/* Rows at work: a block has one, of which a multiprocessor holds as many as its threads allow. The
 * result takes as much room as what is read; half of the caches hold both surely, one and a half
 * are surely too many. */
double hl_kernel_row_passes(const haul_gpu *gpu, const haul_kernel_work *work, double row_bytes)
{
    enum { USUAL_THREADS = 2048 };
    const hl_machine_architecture *architecture = hl_machine_architecture_of(gpu);
    const double threads = architecture ? architecture->threads : USUAL_THREADS;
    const double most = architecture && architecture->blocks ? architecture->blocks : threads;
    const double block = fmax(work->launches.block, 1);
    const double resident = fmin(fmax(floor(threads / block), 1), most);
    const double at_work = fmin(work->launches.blocks, resident * gpu->multiprocessors.value);
    /* Bytes that keep a row until it is read again, in a multiprocessor's L1 or in L2. */
    const hl_machine_architecture *of = hl_machine_architecture_of(gpu);
    /* An A100's L2 is two that keep copies of the same data (Ampere white paper). H100's and
     * B200's are two as well ("Nvidia's H100: Funny L2" and "Nvidia's B200", chipsandcheese.com,
     * 2023 and 2025), and taken alike. */
    const int copies =
        of && ((of->major == 8 && !of->minor) || of->major == 9 || of->major == 10) ? 2 : 1;
    const double l2 = gpu->l2_bytes.value / copies;
    /* L1 of a multiprocessor that keeps loads from global memory: 24 KB on GP100 (Pascal Tuning
     * Guide; Jia and others, arXiv 1804.06826). Since Volta L1 and shared memory are one store, of
     * which the table has the part that may be shared, 0.67 to 0.89 (CUDA C++ Programming Guide).
     * Not known of AMD and Intel: 0. */
    enum { OF_GP100 = 24 * 1024 };
    const double l1 = !of                            ? 0
                      : of->major >= 7               ? of->shared_bytes
                      : of->major == 6 && !of->minor ? OF_GP100
                                                     : 0;
    const double cache = l2 + l1 * gpu->multiprocessors.value;
    const double again = cache > 0 ? fmin(fmax(2 * at_work * row_bytes / cache - 0.5, 0), 1) : 0;
    return 2 + again * (work->kind.reads - 1);
}

double hl_kernel_row_bytes(const haul_gpu *gpu, const haul_kernel_work *work, double each_s)
{
    enum { STEPS = 8 };
    const double rows = work->launches.blocks;
    if (work->operands.bytes) /* read and written once each */
        return (double)work->operands.bytes / 2 / rows;
    /* its passes follow from its size, and its size from its time and passes: halfway each time,
     * which settles since fewer passes make a longer row */
    const double of_all = each_s * hl_kernel_gpu_stream_rate(gpu).value / rows;
    double passes = 2;
    for (int i = 0; i < STEPS; i++)
        passes = (passes + hl_kernel_row_passes(gpu, work, of_all / passes)) / 2;
    return of_all / passes;
}
