/* How a block of several steps on the host goes through the caches. A front of a few planes of a
 * tile stays in the second-level cache while a step writes it and the next step reads it. The tile,
 * all planes between the front and the last step, stays there too (near), or in the third-level
 * cache (far), where it has more rows and steps. Sizes alone do not tell which is faster: that
 * depends on how fast the third-level cache is. So both are tried on the first blocks of a loop. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tile/tile_host.h"

enum {
    ROWS = 16,      /* of a tile, at least: caches are filled ahead within a plane's rows */
    HALOS = 4,      /* planes of a front: with more, fewer planes come from outside per plane */
    TILES = 2,      /* of a thread, at least */
    TRIALS = 2,     /* of each way: the first one may also be the first to use the memory */
    TRIED_FROM = 8, /* steps of a block: with fewer, both ways are much the same */
    NEAR_STEPS = 16,
    FAR_STEPS = 24
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* CPUs in a list such as "0-3,8". */
static int count_cpus(const char *list)
{
    int count = 0;
    for (char *end; *list; list = *end ? end + 1 : end) {
        const long first = strtol(list, &end, 10);
        const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        count += (int)(last - first + 1);
        if (*end != ',')
            break;
    }
    return most(1, count);
}

static bool read_line(const char *name, char *line, int size)
{
    char path[80];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index3/%s", name);
    FILE *file = fopen(path, "re");
    const bool has_line = file && fgets(line, size, file);
    if (file)
        fclose(file);
    return has_line;
}

/* A thread's share. The C library's number may be that of all caches of a processor. 0: not known,
 * or none. */
static uint64_t level3_share(int threads)
{
    char size[32], cpus[256];
    if (!read_line("size", size, sizeof size) || !read_line("shared_cpu_list", cpus, sizeof cpus))
        return 0;
    return strtoull(size, NULL, 10) * 1024 / (unsigned)least(threads, count_cpus(cpus));
}

static void read_caches(haul_context *context, int threads)
{
    hl_tile_waves *waves = &context->waves;
    const uint64_t *given = context->device_options.cache_bytes;
    long level2 = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    level2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    waves->cache[0] = given[0] ? given[0] : level2 > 0 ? (uint64_t)level2 : 1 << 20;
    waves->cache[1] = given[1] ? given[1] : level3_share(threads);
}

/* A third is left to what else goes through the cache. */
static uint64_t usable(uint64_t cache)
{
    return cache / 3 * 2;
}

static uint64_t row_bytes_of(const hl_tile_field *field)
{
    return field->dims == 3 ? (uint64_t)field->row * field->element : field->element;
}

/* Steps of a tile that stays in the third-level cache: the planes that they are behind the front,
 * beside a front in the second-level cache. */
static int far_steps(const hl_tile_waves *waves)
{
    const uint64_t fronts = waves->cache[1] / waves->cache[0];
    return fronts > 1 ? least(FAR_STEPS, (int)(fronts < 100 ? fronts - 1 : 100) * (HALOS + 1)) : 0;
}

/* Times of blocks that begin with such a step; the oldest make room for new ones. */
static hl_tile_wave *find_wave(hl_tile_waves *self, const hl_tile_step *step)
{
    uint64_t row_bytes = 0;
    for (unsigned u = 0; u < step->use_count; u++)
        row_bytes += row_bytes_of(step->uses[u].field);
    for (size_t i = 0; i < HL_TILE_WAVES; i++)
        if (self->known[i].source == step->source && self->known[i].row_bytes == row_bytes)
            return &self->known[i];
    hl_tile_wave *wave = &self->known[self->next++ % HL_TILE_WAVES];
    *wave = (hl_tile_wave){.source = step->source, .row_bytes = row_bytes};
    return wave;
}

hl_tile_way hl_tile_way_choose(haul_context *context, const hl_tile_step *steps, size_t count,
                               size_t loops, int threads)
{
    const haul_context_options *options = &context->options;
    hl_tile_waves *waves = &context->waves;
    hl_tile_way self = {.is_far = false};
    size_t first = 0;
    if (!waves->cache[0])
        read_caches(context, threads);
    while (first + 1 < count && !steps[first].source)
        first++;
    const bool is_free = !options->rows && !options->steps && !context->is_checking;
    if (is_free && loops >= TRIED_FROM && far_steps(waves) >= TRIED_FROM) {
        hl_tile_wave *wave = find_wave(waves, &steps[first]);
        if (wave->trials[1] < TRIALS)
            self.trial = wave;
        self.is_far =
            self.trial ? wave->trials[1] < wave->trials[0] : wave->cell_s[1] < wave->cell_s[0];
    }
    const size_t limit = options->steps ? options->steps
                         : self.is_far  ? (size_t)most(1, far_steps(waves))
                                        : NEAR_STEPS;
    const size_t blocks = loops ? (loops + limit - 1) / limit : 1;
    self.steps = blocks > 1 ? (loops + blocks - 1) / blocks : limit;
    return self;
}

void hl_tile_way_note(const hl_tile_way *self, size_t steps, double cell_s)
{
    hl_tile_wave *wave = self->trial;
    if (!wave || steps < TRIED_FROM)
        return;
    if (!wave->trials[self->is_far]++ || cell_s < wave->cell_s[self->is_far])
        wave->cell_s[self->is_far] = cell_s;
}

/* Rows such that a front, or all planes up to the last step, stay in the second-level cache, and
 * all threads have tiles. */
hl_tile_shape hl_tile_shape_choose(const haul_context *context, const hl_tile_block *block,
                                   bool is_far, const hl_tile_extent *of)
{
    uint64_t row_bytes = 1;
    int halo = 1;
    for (unsigned i = 0; i < block->field_count; i++)
        row_bytes += row_bytes_of(block->fields[i].field);
    for (size_t i = 0; i < block->count; i++)
        for (unsigned u = 0; u < block->steps[i].use_count; u++)
            halo = most(halo, block->steps[i].uses[u].halo);
    const int64_t fits = (int64_t)(usable(context->waves.cache[0]) / row_bytes);
    const int planes = is_far ? (HALOS + 1) * halo : block->reach + 2;
    const int shared = (of->rows + of->threads * TILES - 1) / (of->threads * TILES);
    hl_tile_shape self = {.rows = context->options.rows};
    if (!self.rows)
        self.rows = fits / planes > shared ? most(1, shared) : most(ROWS, (int)(fits / planes));
    self.planes = (int)(fits / self.rows) - halo;
    self.planes = most(1, least(self.planes, HALOS * halo));
    self.planes =
        most(self.planes, HL_TILE_FRONT_CELLS / most(1, least(self.rows, of->rows) * of->cells));
    return self;
}
