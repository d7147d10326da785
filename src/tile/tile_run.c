/* Splits steps among those that run them: the host, the device, or both, in blocks that one pass
 * takes. */
#include "tile/tile_run.h"

/* Steps of the queue that follow, up to one that the host runs: it finds arrays in its memory. */
static size_t steps_ahead(const hl_tile_queue *queue, const hl_tile_step *end)
{
    const hl_tile_step *last = queue->steps + queue->count;
    size_t ahead = 0;
    if (end < queue->steps || end >= last)
        return 0;
    while (end + ahead < last && !end[ahead].on_host)
        ahead++;
    return ahead;
}

/* On a failure device copies are given up. */
static haul_status run_on_device(haul_context *context, hl_tile_step *steps, size_t count,
                                 haul_error *error)
{
    const hl_tile_queue *queue = &context->queue;
    const bool ends_queue = steps + count == queue->steps + queue->count;
    unsigned fused;
    haul_status status = hl_tile_rings_ensure(context, steps, count, &fused, error);
    const size_t asked = count;
    if (!status)
        count = hl_tile_fuse(&context->choice, steps, count, (hl_tile_fusing){.loops = fused});
    const size_t ahead = count == asked ? steps_ahead(queue, steps + count) : 0;
    for (size_t done = 0; done < count && !status;) {
        if (hl_tile_needs_columns(&steps[done])) {
            size_t taken;
            status = hl_tile_columns_run(context, steps + done, count - done, &taken, error);
            done += taken;
            continue;
        }
        hl_tile_block block;
        const size_t left = count - done;
        hl_tile_block_limits limits = hl_tile_limits_of(&context->choice, steps + done, left,
                                                        hl_tile_step_region(&steps[done]));
        limits.ahead = ahead;
        hl_tile_block_take(&block, steps + done, left, &limits);
        block.is_last = ends_queue && block.count == left;
        bool is_shared;
        status = hl_tile_share_run(context, &block, &is_shared, error);
        if (!status && !is_shared)
            status = hl_tile_block_run(context, &block, error);
        done += block.count;
    }
    return status;
}

/* Runs of steps on one side go together, as blocks are made within them. */
haul_status hl_tile_steps_run(haul_context *context, hl_tile_step *steps, size_t count,
                              haul_error *error)
{
    haul_status status = HAUL_OK;
    size_t done = 0;
    while (!status && done < count) {
        const bool on_host = context->memory.is_host || steps[done].on_host;
        size_t end = done + 1;
        while (end < count && (context->memory.is_host || steps[end].on_host == on_host))
            end++;
        status = on_host ? hl_tile_host_run(context, steps + done, end - done, error)
                         : run_on_device(context, steps + done, end - done, error);
        done = end;
    }
    return status;
}
