/* Stencils fused over steps: u to v, v to u, u to v is one launch that reads u and writes v, and
 * keeps the cells between on chip. For that the second result of u must be of no use: the next loop
 * that uses u overwrites it. Cells beyond the arrays' edges are fixed, and each array's own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_parts.h"

/* Without more on a CPU than two thirds of its second-level cache, as tiles on the host. */
enum { MOST_TILES = 64, MOST_CHUNKS = 64, L2_BYTES = 1 << 20 };

/* --- kernels */

static unsigned cache_bytes(void)
{
    long bytes = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return (unsigned)(bytes > 0 ? bytes : L2_BYTES) / 3 * 2;
}

/* So much that two groups fit a multiprocessor: one computes while the other fetches, without which
 * a launch would take not the largest of its times, but their sum. Every GPU gives a group 48 KB.
 * Where the system takes some of each group, that is 1 KB (CUDA C++ Programming Guide, from compute
 * capability 8.0 on). */
static uint64_t gpu_bytes(const haul_device_properties *device)
{
    const uint64_t usual = 48 << 10, all = device->multiprocessor_bytes;
    const uint64_t most = device->group_bytes ? device->group_bytes : usual;
    const uint64_t half = all ? all / 2 - (all > most ? 1 << 10 : 0) : usual;
    return half < most ? half : most;
}

/* On a CPU a work-item is a group: its loops are vectorised, and it waits for no other. */
static void fit_device(const haul_context *context, haul_kernel_source *source)
{
    const haul_device_properties *device = haul_device_describe(context->device);
    const uint64_t most = device->is_host ? device->group_bytes : gpu_bytes(device);
    if (device->is_host) {
        source->fused_bytes = cache_bytes();
        source->group[0] = source->group[1] = 1;
    }
    if (most && most < source->fused_bytes)
        source->fused_bytes = (unsigned)most;
}

const haul_kernel_source *haul_fused_source(haul_context *context, const haul_kernel_source *source)
{
    haul_kernel *kernel;
    haul_fused_kernel *found = context->fused_kernels;
    while (found && found->of != source)
        found = found->next;
    if (found)
        return found->source.fused_bytes ? &found->source : NULL;
    found = calloc(1, sizeof *found);
    if (!found)
        return NULL;
    *found = (haul_fused_kernel){context->fused_kernels, source, *source->fused};
    fit_device(context, &found->source);
    context->fused_kernels = found;
    if (!haul_context_kernel(context, &found->source, &kernel, NULL))
        return &found->source;
    found->source.fused_bytes = 0; /* not tried again */
    return NULL;
}

/* --- geometry and work */

static int parts_of(int length, int part)
{
    return (length + part - 1) / part;
}

static int extent(const haul_fused *it, int d)
{
    return it->whole.hi[d] - it->whole.lo[d];
}

/* Cells that tiles compute of a dimension with `more` at each side, but not beyond the edges; a
 * group of several threads does so many at once. */
static double with_edges(const haul_fused *it, int d, int more, int lanes)
{
    const int tiles = parts_of(extent(it, d), it->tile[d]);
    const double each = extent(it, d) / (double)tiles + (tiles > 1 ? 2 * more : 0);
    return tiles * ceil(each / lanes) * lanes;
}

/* Each step computes less than the one before it by the halo; the first plane and the last of a
 * launch may be the array's. A cell reads a star of neighbours in shared memory. */
static haul_tile_work work_of(const haul_step *step, const haul_fused *it, int planes, int lanes)
{
    const double element = (double)step->uses[0].field->element;
    const int chunks = parts_of(planes, it->tile[2]), last = it->steps * it->halo[2];
    const int beyond = planes < extent(it, 2) ? chunks : chunks - 1;
    const int points = 2 * (it->halo[0] + it->halo[1] + it->halo[2]) + 1;
    const double rows = with_edges(it, 0, last, 1) * with_edges(it, 1, it->steps * it->halo[1], 1);
    const double fetched = rows * (planes + 2.0 * beyond * last);
    const double set = (double)extent(it, 0) * extent(it, 1) * planes;
    double computed = 0, on_lanes = 0;
    for (int s = 1; s <= it->steps; s++) {
        const int more = it->steps - s;
        const double height =
            with_edges(it, 1, more * it->halo[1], 1) * (planes + 2.0 * beyond * more * it->halo[2]);
        computed += with_edges(it, 0, more * it->halo[0], 1) * height;
        on_lanes += with_edges(it, 0, more * it->halo[0], lanes) * height;
    }
    return (haul_tile_work){
        .bytes = element * (fetched + set),
        .shared_bytes = element * (fetched + set + on_lanes * (points + 1)),
        .flops = step->flops * computed,
    };
}

static double seconds_of(const haul_tile_rates *rates, const haul_tile_work *work)
{
    const double compute_s = rates->fp64_flops > 0 ? work->flops / rates->fp64_flops : 0;
    const double shared_s = rates->shared_Bps > 0 ? work->shared_bytes / rates->shared_Bps : 0;
    return fmax(fmax(work->bytes / rates->memory_Bps, compute_s), shared_s);
}

/* The rings of all steps but the last, whose planes have `cells` each. */
static int64_t ring_cells(const haul_fused *it, const haul_step *step, unsigned bytes)
{
    return bytes / (int64_t)step->uses[0].field->element / it->steps / (2 * it->halo[2] + 1);
}

/* As few rows of tiles as fit, all of a height. False where not even one row fits. */
static bool fit_rows(haul_fused *it, int64_t cells)
{
    const int more = 2 * it->steps * it->halo[1], height = extent(it, 1);
    it->width = it->tile[0] + 2 * it->steps * it->halo[0];
    const int64_t rows = cells / it->width - more;
    if (rows < 1)
        return false;
    it->tile[1] = parts_of(height, parts_of(height, rows < height ? (int)rows : height));
    it->height = it->tile[1] + more;
    return true;
}

/* A warp; on a CPU the cells whose time a row's start and end take. */
static int lanes_of(const haul_context *context)
{
    return haul_device_describe(context->device)->is_host ? 64 : 32;
}

/* Takes the tile in which a launch takes least time; planes are cut later. */
static bool choose_tile(const haul_context *context, const haul_step *step,
                        const haul_kernel_source *source, haul_fused *fused)
{
    const haul_tile_rates rates = haul_tile_rates_of(context);
    const int64_t cells = ring_cells(fused, step, source->fused_bytes);
    const int width = extent(fused, 0), planes = extent(fused, 2);
    const int lanes = lanes_of(context);
    double best = INFINITY;
    for (int tiles = 1; tiles <= width && tiles <= MOST_TILES; tiles++) {
        haul_fused it = *fused;
        it.tile[0] = parts_of(width, tiles);
        it.tile[2] = planes;
        if (!fit_rows(&it, cells))
            continue;
        const haul_tile_work work = work_of(step, &it, planes, lanes);
        const double seconds = seconds_of(&rates, &work);
        if (seconds < best)
            *fused = it;
        best = fmin(best, seconds);
    }
    return isfinite(best);
}

/* Planes are cut until all multiprocessors have groups, but no further: each cut computes planes
 * again. */
static int choose_chunk(const haul_context *context, const haul_fused *it, int planes)
{
    const unsigned cores = haul_device_describe(context->device)->multiprocessors;
    const int units = cores ? (int)cores : 1, more = it->steps * it->halo[2];
    const int tiles = parts_of(extent(it, 0), it->tile[0]) * parts_of(extent(it, 1), it->tile[1]);
    int chunk = planes;
    double best = INFINITY;
    for (int chunks = 1; chunks <= planes && chunks <= MOST_CHUNKS; chunks++) {
        const int each = parts_of(planes, chunks);
        const double took = (double)parts_of(tiles * parts_of(planes, each), units) * (each + more);
        if (took < best)
            chunk = each;
        best = fmin(best, took);
    }
    return chunk;
}

double haul_fused_seconds(const haul_context *context, const haul_tile_rates *rates,
                          const haul_step *step, int planes)
{
    haul_fused it = step->fused;
    const int all = extent(&it, 2);
    planes = planes < all ? planes : all;
    it.tile[2] = choose_chunk(context, &it, planes);
    const haul_tile_work work = work_of(step, &it, planes, lanes_of(context));
    return seconds_of(rates, &work) * all / planes;
}

/* As the kernel has it, where an array of two dimensions has one row. */
static haul_box as_planes(const haul_box *box, int outer)
{
    haul_box made = {{box->lo[0], box->lo[1], box->lo[2]}, {box->hi[0], box->hi[1], box->hi[2]}};
    if (outer == 1) {
        made.lo[2] = box->lo[1];
        made.hi[2] = box->hi[1];
        made.lo[1] = 0;
        made.hi[1] = 1;
    }
    return made;
}

haul_box haul_fused_launch(const haul_context *context, const haul_step *step, const haul_box *part,
                           haul_fused *fused, haul_tile_work *work)
{
    haul_box groups = {{0}, {0}};
    *fused = step->fused;
    fused->part = as_planes(part, step->outer);
    const int planes = fused->part.hi[2] - fused->part.lo[2];
    fused->tile[2] = choose_chunk(context, fused, planes);
    for (int d = 0; d < 3; d++)
        groups.hi[d] = parts_of(fused->part.hi[d] - fused->part.lo[d], fused->tile[d]);
    *work = work_of(step, fused, planes, lanes_of(context));
    const double share = (fused->part.hi[1] - fused->part.lo[1]) / (double)extent(fused, 1);
    work->bytes *= share; /* a column of rows */
    work->flops *= share;
    work->shared_bytes *= share;
    return groups;
}

/* --- which steps */

static bool has_fixed_edges(const haul_field *field)
{
    if (haul_is_divided(field)) /* over processes */
        return false;
    for (int d = 0; d < field->dims; d++)
        if (field->ghost[d] && field->boundary[d] != HAUL_BOUNDARY_FIXED)
            return false;
    return !field->boundary_kernel;
}

/* A step that reads one array and overwrites another of its kind. */
static bool is_stencil(const haul_step *step)
{
    const haul_field_use *in = &step->uses[0], *out = &step->uses[1];
    if (!step->source || !step->source->fused || step->use_count != 2 || !in->reads || in->writes ||
        !in->halo || !out->writes || !haul_is_along(step, in) ||
        !haul_step_overwrites(step, out->field))
        return false;
    for (int d = 0; d < 3; d++)
        if (in->field->size[d] != out->field->size[d] || step->box.lo[d] ||
            (d <= step->outer && step->box.hi[d] != in->field->size[d]))
            return false;
    return in->field->dims == out->field->dims && has_fixed_edges(in->field) &&
           has_fixed_edges(out->field) && !in->field->ghosts_written;
}

/* Whether the first `fused` steps are one loop back and forth, whose result but the last is of no
 * use. */
static bool can_fuse(const haul_step *steps, size_t count, unsigned fused)
{
    haul_field *const ends[2] = {steps->uses[0].field, steps->uses[1].field};
    if (count < fused || !is_stencil(steps))
        return false;
    for (unsigned i = 1; i < fused; i++)
        if (steps[i].source != steps->source || steps[i].uses[0].field != ends[i % 2] ||
            steps[i].uses[1].field != ends[(i + 1) % 2] || !is_stencil(&steps[i]) ||
            steps[i].flops != steps->flops ||
            memcmp(steps[i].values, steps->values, sizeof steps->values) != 0)
            return false;
    for (size_t i = fused; i < count; i++)
        if (haul_step_uses(&steps[i], ends[0]))
            return haul_step_overwrites(&steps[i], ends[0]);
    return ends[0]->is_discarded;
}

/* Of equal steps the geometry is found once. */
static bool make_one(haul_context *context, haul_step *step, const haul_step *before,
                     unsigned fused)
{
    const haul_kernel_source *source = haul_fused_source(context, step->source);
    if (!source)
        return false;
    haul_fused it = {.whole = as_planes(&step->box, step->outer), .tile = {0}, .steps = (int)fused};
    for (int d = 0; d < 3; d++)
        it.halo[d] = step->outer == 1 && d == 1 ? 0 : step->uses[0].halo;
    if (before && before->fused.steps && before->source == step->source &&
        !memcmp(&before->fused.whole, &it.whole, sizeof it.whole))
        it = before->fused;
    else if (!choose_tile(context, step, source, &it))
        return false;
    step->fused = it;
    step->uses[0].halo *= (int)fused;
    return true;
}

/* In place; returns how many are left. */
static size_t fuse(haul_context *context, haul_step *steps, size_t count, unsigned fused)
{
    size_t to = 0;
    for (size_t at = 0; at < count; to++) {
        const bool is_one = fused > 1 && can_fuse(steps + at, count - at, fused);
        steps[to] = steps[at];
        at +=
            is_one && make_one(context, &steps[to], to ? &steps[to - 1] : NULL, fused) ? fused : 1;
    }
    return to;
}

static haul_pass_time predict(haul_context *context, haul_step *steps, size_t count, unsigned fused,
                              int region)
{
    if (fused == 1)
        return haul_tile_predict(context, steps, count, region);
    haul_pass_time time = {.total_s = INFINITY};
    haul_step *copy = malloc(count * sizeof *copy);
    if (copy) {
        memcpy(copy, steps, count * sizeof *copy);
        const size_t left = fuse(context, copy, count, fused);
        if (left < count)
            time = haul_tile_predict(context, copy, left, region);
    }
    free(copy);
    return time;
}

/* Where the program chose, that unless nothing fits. */
unsigned haul_fuse_choose(haul_context *context, haul_step *steps, size_t count, int region,
                          haul_pass_time *time)
{
    const haul_context_options *options = &context->options;
    unsigned best = 1;
    *time = (haul_pass_time){.total_s = INFINITY};
    for (unsigned i = 0; i < HAUL_FUSED_CHOICES; i++) {
        const unsigned fused = 1 + 2 * i;
        context->fused_s[i] = INFINITY;
        if (fused > 1 && (options->host_share > 0 || (options->fused && options->fused != fused) ||
                          (options->steps && options->steps < fused)))
            continue;
        const haul_pass_time one = predict(context, steps, count, fused, region);
        const bool is_told = options->fused == fused && isfinite(one.total_s);
        context->fused_s[i] = one.total_s;
        if (one.total_s < time->total_s || is_told) {
            *time = one;
            best = fused;
        }
    }
    return best;
}

size_t haul_fuse(haul_context *context, haul_step *steps, size_t count, int region)
{
    haul_pass_time time;
    bool can = false;
    for (size_t i = 0; i + 2 < count && !can; i++)
        can = can_fuse(steps + i, count - i, 3);
    if (!can)
        return count;
    const unsigned fused = haul_fuse_choose(context, steps, count, region, &time);
    context->has_chosen_fused = true;
    return fuse(context, steps, count, fused);
}

/* Returns the characters written; 0 where no loops could be fused. */
size_t haul_fuse_explain(const haul_context *context, char *at, size_t room)
{
    const haul_fused *it = &context->fused;
    char times[200] = "", chosen[80] = "none fused";
    size_t used = 0;
    if (!context->has_chosen_fused)
        return 0;
    for (unsigned i = 0; i < HAUL_FUSED_CHOICES; i++)
        if (isfinite(context->fused_s[i]))
            used += (size_t)snprintf(times + used, sizeof times - used, "%s%.4g ms with %u",
                                     used ? ", " : "", context->fused_s[i] * 1e3, 1 + 2 * i);
    if (it->steps)
        snprintf(chosen, sizeof chosen, "%d fused on chip, in tiles of %d by %d cells", it->steps,
                 it->tile[0], it->tile[1]);
    return (size_t)snprintf(at, room, "stencil's steps a launch: %s: %s\n", times, chosen);
}
