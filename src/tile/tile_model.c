/* The model of a program of steps: blocks as the run will take them, each with kernels, copies in
 * and copies out at once. tile_rates.c says why it is a formula. */
#include <math.h>

#include "tile/tile_choice.h"

/* Planes that steps may be behind the front where regions have so many planes: the ring holds
 * those, the region that they run on, the one that comes and the one that goes. Negative: not even
 * one. An array that is wholly on the device sets no limit. */
static int reach_of(const hl_tile_choice *choice, const hl_tile_step *steps, size_t count,
                    int region)
{
    int reach = INT32_MAX;
    for (size_t s = 0; s < count; s++)
        for (unsigned u = 0; u < steps[s].use_count; u++) {
            const hl_tile_field *field = steps[s].uses[u].field;
            const int planes =
                field->ring ? field->planes : hl_tile_ring_planes(choice->memory, field);
            if (planes >= field->length + 2 * field->edge)
                continue;
            const int regions = (planes - 2 * field->edge) / region - 3;
            reach = regions * region < reach ? regions * region : reach;
        }
    return reach;
}

hl_tile_block_limits hl_tile_limits_of(const hl_tile_choice *choice, const hl_tile_step *steps,
                                       size_t count, int region)
{
    hl_tile_block_limits limits = {
        .steps = choice->options->steps ? choice->options->steps : SIZE_MAX,
        .reach = reach_of(choice, steps, count, region),
        .region = region,
        .wraps = hl_tile_step_goes_round(steps, region),
    };
    if (limits.wraps && limits.reach > steps->length / 2) /* the ends are not the same regions */
        limits.reach = steps->length / 2;
    if (limits.wraps)
        limits.reach -= hl_tile_planes_missing(steps->length, region);
    return limits;
}

/* Copies in and out of a pass: slower while both directions are busy. */
static double both_ways(const hl_tile_rates *rates, const double alone_s[2])
{
    if (rates->one_engine)
        return alone_s[0] + alone_s[1];
    const double both_s = fmin(alone_s[0] / rates->busy[0], alone_s[1] / rates->busy[1]);
    return both_s +
           fmax(alone_s[0] - both_s * rates->busy[0], alone_s[1] - both_s * rates->busy[1]);
}

static int planes_on_device(const hl_tile_field *field)
{
    int planes = 0;
    for (int p = 0; field->parts && p < field->part_count; p++)
        planes += field->parts[p].on_device ? field->region : 0;
    return planes < field->length ? planes : field->length;
}

/* Planes that a pass round the array comes to twice: it copies them in and out both times. */
static int planes_again(const hl_tile_block *block, int region)
{
    const int behind = block->reach + hl_tile_planes_missing(block->length, region);
    return block->wraps ? (behind + region - 1) / region * region : 0;
}

/* Planes that a pass copies in and out: the last one left those on the device that fit, but for
 * passes round the array, which all begin at one end. An array that the host waits for goes home as
 * a whole. */
static void count_copies(const hl_tile_choice *self, const hl_tile_block *block,
                         const hl_tile_block_field *of, int again, double planes[2])
{
    const hl_tile_field *field = of->field;
    if (again) {
        planes[0] = (of->is_fresh ? 0 : field->length) + again;
        planes[1] = !of->is_written ? 0 : of->is_dead ? again : field->length + again;
        return;
    }
    const double rest = fmax(field->length - hl_tile_ring_planes(self->memory, field), 0);
    planes[0] = of->is_fresh ? 0 : block->is_first ? field->length - planes_on_device(field) : rest;
    planes[1] = !of->is_written || of->is_dead            ? 0
                : block->is_last && self->wanted == field ? field->length
                                                          : rest;
}

/* The model: kernels, copies in and copies out go on at once, at their rates, behind the first
 * region that comes in and before the last that the host waits for. After a pass round the array
 * that are the planes that it came to twice, as the next pass begins with them. */
static void predict_block(const hl_tile_choice *self, const hl_tile_block *block, int region,
                          const hl_tile_rates *rates, hl_tile_pass_time *out)
{
    double copied[2] = {0}, plane_bytes = 0, last_bytes = 0;
    const int again = planes_again(block, region);
    const int regions = (block->length + region - 1) / region;
    bool is_resident = true;
    *out = (hl_tile_pass_time){.steps = block->loops, .region = region};
    for (unsigned i = 0; i < block->field_count; i++) {
        const hl_tile_block_field *of = &block->fields[i];
        double planes[2];
        count_copies(self, block, of, again, planes);
        for (int d = 0; d < 2; d++)
            copied[d] += planes[d] * (double)of->field->plane_bytes;
        if (again && planes[1] > again)
            last_bytes += (again + region) * (double)of->field->plane_bytes;
        else if (block->is_last && of->field == self->wanted)
            last_bytes = region * (double)of->field->plane_bytes;
        plane_bytes += planes[0] > 0 ? (double)of->field->plane_bytes : 0;
        is_resident =
            is_resident && planes[0] <= 0 &&
            hl_tile_ring_planes(self->memory, of->field) >= of->field->length + 2 * of->field->edge;
    }
    is_resident = is_resident || (hl_tile_step_turns(block->steps) && !block->wraps);
    const int launches = is_resident ? 1 : regions + (block->reach + region - 1) / region;
    for (size_t i = 0; i < block->count; i++)
        out->run_s += (block->steps[i].fused.steps
                           ? hl_tile_fused_seconds(self, rates, &block->steps[i], region)
                           : hl_tile_step_seconds(rates, &block->steps[i])) +
                      launches * rates->launch_s;
    for (int d = 0; d < 2; d++)
        out->copy_s[d] =
            copied[d] / rates->copy_Bps[d] + (copied[d] > 0 ? regions * rates->copy_latency_s : 0);
    /* one place of the ring is copied out, in, and used, while two others are used */
    const double chain_s = (out->run_s + out->copy_s[0] + out->copy_s[1]) / 3;
    out->bound_s = fmax(out->run_s, both_ways(rates, out->copy_s));
    out->total_s = fmax(out->bound_s, chain_s) + last_bytes / rates->copy_Bps[1];
    out->fill_s = region * plane_bytes / rates->copy_Bps[0];
}

/* Takes the same blocks as the run will, so that the prediction is of the passes that are made. */
hl_tile_pass_time hl_tile_predict(const hl_tile_choice *self, hl_tile_step *steps, size_t count,
                                  int region)
{
    const hl_tile_rates rates = hl_tile_rates_of(self);
    const hl_tile_pass_time never = {.total_s = INFINITY};
    hl_tile_pass_time sum = never;
    for (size_t done = 0; done < count;) {
        hl_tile_block block;
        hl_tile_pass_time pass;
        if (steps[done].is_exchange) {
            done++;
            continue;
        }
        const hl_tile_block_limits limits =
            hl_tile_limits_of(self, steps + done, count - done, region);
        if (limits.reach < 0)
            return never;
        hl_tile_block_take(&block, steps + done, count - done, &limits);
        if (block.reach > limits.reach)
            return never;
        block.is_first = !sum.passes;
        block.is_last = done + block.count == count;
        predict_block(self, &block, region, &rates, &pass);
        if (!sum.passes) {
            sum = pass;
            sum.total_s = 0;
            sum.bound_s = pass.fill_s;
        }
        sum.total_s += pass.fill_s + pass.total_s;
        sum.bound_s += pass.bound_s;
        sum.passes++;
        done += block.count;
    }
    return sum;
}
