/* How many blocks of a kernel a device has room for. */
#include <stdlib.h>

#include "timeline/engine_parts.h"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* x * y * z, or `most` where that is less. */
static uint64_t product(const uint32_t dimensions[3], uint64_t most)
{
    uint64_t all = 1;
    for (int i = 0; i < 3; i++)
        all = dimensions[i] && all > most / dimensions[i] ? most : all * dimensions[i];
    return all;
}

/* How often a need fits into a limit, where there is one. */
static uint64_t times(uint64_t limit, uint64_t need, uint64_t most)
{
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the need is not zero here
    return limit && need ? least(limit / need, most) : most;
}

/* The blocks that a multiprocessor has room for are the fewest by any of its limits, at most 2^20,
 * and at least one, for the kernel has run ("CUDA Occupancy Calculator"). */
hl_timeline_need hl_timeline_occupancy_need_of(const hl_timeline_engine *self,
                                               const haul_shape *shape)
{
    if (!shape)
        return (hl_timeline_need){hl_timeline_occupancy_all, hl_timeline_occupancy_all, 1};
    const haul_occupancy *room = &self->options->device.occupancy;
    const uint64_t threads = product(shape->block, UINT32_MAX);
    const uint64_t registers = least(threads * shape->registers_per_thread, INT64_MAX);
    uint64_t each = times(room->blocks, 1, UINT64_C(1) << 20);
    each = times(room->threads, threads, each);
    each = times(room->registers, registers, each);
    each = times(room->shared_bytes, shape->shared_bytes, each);
    const uint64_t slots = (each ? each : 1) * least(room->multiprocessors, UINT64_C(1) << 20);
    const uint64_t grid = product(shape->grid, UINT64_C(1) << 62);
    const uint64_t blocks = least(grid, slots);
    const uint64_t waves = (grid + slots - 1) / slots;
    const int64_t block = hl_timeline_occupancy_all / (int64_t)slots;
    return (hl_timeline_need){
        .block = block,
        .kernel = blocks == slots ? hl_timeline_occupancy_all : (int64_t)blocks * block,
        .last_wave = waves ? (double)(waves - 1) / (double)waves : 0,
    };
}

bool hl_timeline_occupancy_init(hl_timeline_engine *self)
{
    const size_t shapes = self->workload->shape_count;
    if (!self->options->device.occupancy.multiprocessors)
        return true;
    self->needs = malloc((shapes + 1) * sizeof *self->needs);
    if (!self->needs)
        return false;
    for (size_t i = 0; i < shapes; i++)
        self->needs[i] = hl_timeline_occupancy_need_of(self, &self->workload->shapes[i]);
    self->needs[shapes] = hl_timeline_occupancy_need_of(self, NULL);
    return true;
}
