/* Stencils fused over steps: their kernels, the tiles that these work in, and the work of a launch.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "haul/device_backend.h"
#include "tile/tile_choice.h"

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

const haul_kernel_source *hl_tile_fused_source(hl_tile_choice *choice,
                                               const haul_kernel_source *source)
{
    haul_kernel *kernel;
    hl_tile_fused_kernel *found = choice->fused_kernels;
    if (hl_tile_kernel_is_given(choice->kernels, source))
        return NULL;
    while (found && found->of != source)
        found = found->next;
    if (found)
        return found->source.fused_bytes ? &found->source : NULL;
    found = calloc(1, sizeof *found);
    if (!found)
        return NULL;
    *found = (hl_tile_fused_kernel){choice->fused_kernels, source, *source->fused};
    /* On a CPU a work-item is a group: its loops are vectorised, and it waits for no other. */
    const haul_device_properties *device = haul_device_describe(choice->memory->device);
    const uint64_t most = device->is_host ? device->group_bytes : gpu_bytes(device);
    if (device->is_host) {
        found->source.fused_bytes = cache_bytes();
        found->source.group[0] = found->source.group[1] = 1;
    }
    if (most && most < found->source.fused_bytes)
        found->source.fused_bytes = (unsigned)most;
    choice->fused_kernels = found;
    if (!hl_tile_kernel_get(choice->kernels, &found->source, &kernel, NULL))
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

static bool is_periodic(const haul_fused *it, int d)
{
    return it->edges[d] == HAUL_EDGE_PERIODIC;
}

/* Cells that tiles compute of a dimension with `more` at each side, but not beyond the edges, if
 * these are not periodic: there they are runs of their own. A group of several threads does so many
 * at once. */
static double with_edges(const haul_fused *it, int d, int more, int lanes)
{
    const int tiles = parts_of(extent(it, d), it->tile[d]);
    const double tile = extent(it, d) / (double)tiles;
    const double each = ceil((tile + (tiles > 1 ? 2 * more : 0)) / lanes) * lanes;
    if (!is_periodic(it, d))
        return tiles * each;
    const double at_edge = ceil((tile + more) / lanes) + ceil((double)more / lanes);
    const double alone = ceil(tile / lanes) + 2 * ceil((double)more / lanes);
    return tiles > 1 ? (tiles - 2) * each + 2 * at_edge * lanes : alone * lanes;
}

/* Bytes a cell of arrays that are read beside: once a launch, as the last-level cache has them for
 * the later steps, a few planes behind. */
static double beside_bytes(const hl_tile_step *step)
{
    double bytes = 0;
    for (unsigned u = 2; u < step->use_count; u++)
        bytes += hl_tile_is_along(step, &step->uses[u]) ? (double)step->uses[u].field->element : 0;
    return bytes;
}

/* Each step computes less than the one before it by the halo; the first plane and the last of a
 * launch may be the array's, behind which a periodic one goes on. A cell reads a star of neighbours
 * in shared memory. */
static hl_tile_work work_of(const hl_tile_step *step, const haul_fused *it, int planes, int lanes)
{
    const double element = (double)step->uses[0].field->element;
    const int chunks = parts_of(planes, it->tile[2]), last = it->steps * it->halo[2];
    const int beyond = planes < extent(it, 2) || is_periodic(it, 2) ? chunks : chunks - 1;
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
    return (hl_tile_work){
        .bytes = element * (fetched + set) + beside_bytes(step) * fetched,
        .shared_bytes = element * (fetched + set + on_lanes * (points + 1)),
        .flops = step->flops * computed,
    };
}

static double seconds_of(const hl_tile_rates *rates, const hl_tile_work *work)
{
    const double compute_s = rates->fp64_flops > 0 ? work->flops / rates->fp64_flops : 0;
    const double shared_s = rates->shared_Bps > 0 ? work->shared_bytes / rates->shared_Bps : 0;
    return fmax(fmax(work->bytes / rates->memory_Bps, compute_s), shared_s);
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
static int lanes_of(const hl_tile_choice *choice)
{
    return haul_device_describe(choice->memory->device)->is_host ? 64 : 32;
}

/* Takes the tile in which a launch takes least time; planes are cut later. */
static bool choose_tile(const hl_tile_choice *choice, const hl_tile_step *step,
                        const haul_kernel_source *source, haul_fused *fused)
{
    const hl_tile_rates rates = hl_tile_rates_of(choice);
    /* The rings of all steps but the last, whose planes have `cells` each. */
    const int64_t cells = source->fused_bytes / (int64_t)step->uses[0].field->element /
                          fused->steps / (2 * fused->halo[2] + 1);
    const int width = extent(fused, 0), planes = extent(fused, 2);
    const int lanes = lanes_of(choice);
    double best = INFINITY;
    for (int tiles = 1; tiles <= width && tiles <= MOST_TILES; tiles++) {
        haul_fused it = *fused;
        it.tile[0] = parts_of(width, tiles);
        it.tile[2] = planes;
        if (!fit_rows(&it, cells))
            continue;
        const hl_tile_work work = work_of(step, &it, planes, lanes);
        const double seconds = seconds_of(&rates, &work);
        if (seconds < best)
            *fused = it;
        best = fmin(best, seconds);
    }
    return isfinite(best);
}

/* Planes are cut until all multiprocessors have groups, but no further: each cut computes planes
 * again. */
static int choose_chunk(const hl_tile_choice *choice, const haul_fused *it, int planes)
{
    const unsigned cores = haul_device_describe(choice->memory->device)->multiprocessors;
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

double hl_tile_fused_seconds(const hl_tile_choice *choice, const hl_tile_rates *rates,
                             const hl_tile_step *step, int planes)
{
    haul_fused it = step->fused;
    const int all = extent(&it, 2);
    planes = planes < all ? planes : all;
    it.tile[2] = choose_chunk(choice, &it, planes);
    const hl_tile_work work = work_of(step, &it, planes, lanes_of(choice));
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

haul_box hl_tile_fused_launch(const hl_tile_choice *choice, const hl_tile_step *step,
                              const haul_box *part, haul_fused *fused, hl_tile_work *work)
{
    haul_box groups = {{0}, {0}};
    *fused = step->fused;
    fused->part = as_planes(part, step->outer);
    const int planes = fused->part.hi[2] - fused->part.lo[2];
    fused->is_round = hl_tile_step_turns(step) && !hl_tile_field_is_all_there(step->uses[0].field);
    fused->tile[2] = choose_chunk(choice, fused, planes);
    for (int d = 0; d < 3; d++)
        groups.hi[d] = parts_of(fused->part.hi[d] - fused->part.lo[d], fused->tile[d]);
    *work = work_of(step, fused, planes, lanes_of(choice));
    const double share = (fused->part.hi[1] - fused->part.lo[1]) / (double)extent(fused, 1);
    work->bytes *= share; /* a column of rows */
    work->flops *= share;
    work->shared_bytes *= share;
    return groups;
}

/* Arrays that are used beside the first: first steps go beyond what the last one sets. Of the
 * second, cells beyond the box are read, if there are some in the array. */
static void widen_uses(hl_tile_step *step, int more)
{
    bool is_part = false;
    for (int d = 0; d <= step->outer; d++)
        is_part = is_part || step->box.lo[d] > 0 || step->box.hi[d] < step->uses[0].field->size[d];
    for (unsigned u = 1; u < step->use_count; u++)
        if (hl_tile_is_along(step, &step->uses[u]) && (u > 1 || is_part)) {
            step->uses[u].halo += more;
            step->uses[u].reads = true;
        }
}

/* Whether the device has all planes that the step uses at once: it holds a part of the array, or
 * all, or, of one that it goes round, a ring. */
static bool has_room(const hl_tile_choice *choice, const hl_tile_step *step, int region)
{
    bool are_all = true, is_one = true, are_along = true;
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field *field = step->uses[u].field;
        const int planes = field->ring ? field->planes : hl_tile_ring_planes(choice->memory, field);
        const int lag = parts_of(step->uses[0].halo, region);
        const bool is_all = planes >= field->length + 2 * field->edge;
        are_along = are_along && hl_tile_is_along(step, &step->uses[u]);
        are_all = are_all && is_all;
        is_one = is_one && (is_all || planes >= (lag + 3) * region + 2 * field->edge);
    }
    return are_all ||
           (hl_tile_step_turns(step) ? are_along && hl_tile_step_goes_round(step, region) : is_one);
}

/* Of equal steps the geometry is found once. */
bool hl_tile_fused_make(hl_tile_choice *choice, hl_tile_step *step, const hl_tile_step *before,
                        hl_tile_fusing fusing)
{
    const haul_kernel_source *source = hl_tile_fused_source(choice, step->source);
    if (!source)
        return false;
    haul_fused it = {
        .whole = as_planes(&step->box, step->outer), .tile = {0}, .steps = (int)fusing.loops};
    for (int d = 0; d < 3; d++) {
        const bool is_row = step->outer == 1 && d == 1; /* the one of an array's plane */
        it.halo[d] = is_row ? 0 : step->uses[0].halo;
        const int from = d < step->outer ? d : step->outer;
        const hl_tile_field *field = step->uses[0].field;
        /* cells beyond a part of the array are the array's, which do not change */
        const bool is_all = !step->box.lo[from] && step->box.hi[from] == field->size[from];
        it.edges[d] = is_row || !is_all ? HAUL_EDGE_FIXED : (int)field->boundary[from];
    }
    if (before && before->fused.steps && before->source == step->source &&
        !memcmp(&before->fused.whole, &it.whole, sizeof it.whole) &&
        !memcmp(before->fused.edges, it.edges, sizeof it.edges))
        it = before->fused;
    else if (!choose_tile(choice, step, source, &it))
        return false;
    hl_tile_step made = *step;
    made.fused = it;
    widen_uses(&made, step->uses[0].halo * ((int)fusing.loops - 1));
    made.uses[0].halo *= (int)fusing.loops;
    if (!has_room(choice, &made, fusing.region))
        return false;
    *step = made;
    return true;
}

void hl_tile_choice_release(hl_tile_choice *choice)
{
    for (hl_tile_fused_kernel *next, *one = choice->fused_kernels; one; one = next) {
        next = one->next;
        free(one);
    }
}
