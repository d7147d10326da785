/* What the sizes of operands say of a kernel's time: of a matrix product its whole tiles, of a
 * kernel over rows whether a cache holds those at work. */
#include <math.h>

#include "kernel/gpu_rates.h"
#include "kernel/kernel_parts.h"

/* Sides of a tile, along the columns and the rows of a row-major result. Libraries choose among
 * some, from 32 x 32 to 256 x 128: in fp32 128 x 64 is the usual one of cuBLAS from Pascal to
 * Ampere, in tensor cores 128 x 128. Chosen with
 * the operators of docs/accuracy.md at hand, none left out. */
static const double fp32_tile[2] = {128, 64};
static const double tensor_tile[2] = {128, 128};

static const double *usual_tile(haul_precision precision)
{
    return precision > HAUL_PRECISION_FP32 ? tensor_tile : fp32_tile;
}

/* Operands whose rows begin at odd elements of two bytes: tensor cores are fed by loads of 16
 * bytes, and without alignment each element is loaded by itself. "Over 2x" slower for one odd size
 * of 2047 (H. He, "What Shapes Do Matrix Multiplications Like?", answer key, thonking.ai, 2024); a
 * hundred times in the worst case (pytorch issue 146817). NVIDIA's: of AMD's there is no such
 * figure. */
static const double slower_unaligned = 2;

static bool is_unaligned(const haul_gpu *gpu, const haul_kernel_work *work)
{
    const haul_architecture *architecture = haul_architecture_of(gpu);
    const haul_precision precision = work->kind.precision;
    return work->operands.alignment == 2 && architecture && architecture->major &&
           (precision == HAUL_PRECISION_FP16 || precision == HAUL_PRECISION_BF16);
}

double haul_kernel_filled(const haul_gpu *gpu, double blocks)
{
    const double count = gpu->multiprocessors.value;
    return ceil(blocks / count) * count;
}

/* Tiles at the edges cost as much as whole ones, and so do the last wave's missing ones. Operands
 * that do not fit the L2 cross the memory once at the least. */
haul_kernel_tiles haul_kernel_product_s(const haul_gpu *gpu, const haul_kernel_work *work)
{
    const haul_operands *of = &work->operands;
    const haul_precision precision = work->kind.precision;
    const double rate = haul_gpu_product_rate(gpu, precision).value;
    const double *tile = usual_tile(precision);
    if (!of->batch || !(rate > 0) || !(gpu->multiprocessors.value > 0))
        return (haul_kernel_tiles){0};
    const double across = ceil((double)of->columns / tile[0]);
    const double down = ceil((double)of->rows / tile[1]);
    const double blocks = (double)of->batch * across * down;
    const double of_tile_s = 2 * (double)of->inner * tile[0] * tile[1] / rate;
    const double stream = haul_gpu_stream_rate(gpu).value;
    const double bytes = fmax(0, (double)of->bytes - gpu->l2_bytes.value);
    const double by_memory = stream > 0 ? bytes / stream : 0;
    const double seconds = fmax(of_tile_s * haul_kernel_filled(gpu, blocks), by_memory);
    return (haul_kernel_tiles){
        .in_waves_s = seconds * (is_unaligned(gpu, work) ? slower_unaligned : 1),
        .is_full = blocks >= gpu->multiprocessors.value,
    };
}

/* Seconds that L2 takes for the operands of a tile by those that its arithmetic takes: a step along
 * the inner dimension loads a column of one side and a row of the other for as many multiply-adds
 * as the tile has elements. */
static double feeding(const haul_gpu *gpu, haul_precision precision, double across, double down)
{
    const double bytes = precision == HAUL_PRECISION_FP64   ? 8
                         : precision <= HAUL_PRECISION_TF32 ? 4
                         : precision <= HAUL_PRECISION_BF16 ? 2
                                                            : 1;
    const double rate = haul_gpu_product_rate(gpu, precision).value;
    return bytes * rate * (1 / across + 1 / down) / 2 / haul_gpu_l2_rate(gpu).value;
}

double haul_kernel_tile_speed(const haul_gpu *gpu, const haul_kernel_kind *kind)
{
    const double *usual = usual_tile(kind->precision);
    if (!kind->tile[0] || !kind->tile[1] || !(haul_gpu_l2_rate(gpu).value > 0))
        return 1;
    return fmin(1, (1 + feeding(gpu, kind->precision, usual[0], usual[1])) /
                       (1 + feeding(gpu, kind->precision, kind->tile[0], kind->tile[1])));
}

/* L1 of a multiprocessor that keeps loads from global memory: 24 KB on GP100 (Pascal Tuning Guide;
 * Jia and others, arXiv 1804.06826). Since Volta L1 and shared memory are one store, of which the
 * table has the part that may be shared, 0.67 to 0.89 (CUDA C++ Programming Guide). Not known of
 * AMD and Intel: 0. */
static double l1_bytes(const haul_architecture *of)
{
    enum { OF_GP100 = 24 * 1024 };
    return of->major >= 7 ? of->shared_bytes : of->major == 6 && !of->minor ? OF_GP100 : 0;
}

/* An A100's L2 is two that keep copies of the same data (Ampere white paper). H100's and B200's are
 * two as well ("Nvidia's H100: Funny L2" and "Nvidia's B200", chipsandcheese.com, 2023 and 2025),
 * and taken alike. */
static bool is_l2_halved(const haul_architecture *of)
{
    return (of->major == 8 && !of->minor) || of->major == 9 || of->major == 10;
}

/* Bytes that keep a row until it is read again, in a multiprocessor's L1 or in L2. */
static double row_cache(const haul_gpu *gpu)
{
    const haul_architecture *of = haul_architecture_of(gpu);
    const double l2 = gpu->l2_bytes.value;
    return of ? l2 / (is_l2_halved(of) ? 2 : 1) + l1_bytes(of) * gpu->multiprocessors.value : l2;
}

/* Rows at work: a block has one, of which a multiprocessor holds as many as its threads allow. The
 * result takes as much room as what is read; half of the caches hold both surely, one and a half
 * are surely too many. */
double haul_kernel_row_passes(const haul_gpu *gpu, const haul_kernel_work *work, double row_bytes)
{
    enum { USUAL_THREADS = 2048 };
    const haul_architecture *architecture = haul_architecture_of(gpu);
    const double threads = architecture ? architecture->threads : USUAL_THREADS;
    const double most = architecture && architecture->blocks ? architecture->blocks : threads;
    const double block = fmax(work->launches.block, 1);
    const double resident = fmin(fmax(floor(threads / block), 1), most);
    const double at_work = fmin(work->launches.blocks, resident * gpu->multiprocessors.value);
    const double cache = row_cache(gpu);
    const double again = cache > 0 ? fmin(fmax(2 * at_work * row_bytes / cache - 0.5, 0), 1) : 0;
    return 2 + again * (work->kind.reads - 1);
}

double haul_kernel_row_bytes(const haul_gpu *gpu, const haul_kernel_work *work, double each_s)
{
    enum { STEPS = 8 };
    const double rows = work->launches.blocks;
    if (work->operands.bytes) /* read and written once each */
        return (double)work->operands.bytes / 2 / rows;
    /* its passes follow from its size, and its size from its time and passes: halfway each time,
     * which settles since fewer passes make a longer row */
    const double of_all = each_s * haul_gpu_stream_rate(gpu).value / rows;
    double passes = 2;
    for (int i = 0; i < STEPS; i++)
        passes = (passes + haul_kernel_row_passes(gpu, work, of_all / passes)) / 2;
    return of_all / passes;
}
