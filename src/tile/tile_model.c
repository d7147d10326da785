/* What the runtime chooses by a model: how many planes a region has. Of the device's memory, thin
 * regions leave more for the planes between the front and the last step, so that more steps run in
 * a pass; but they take more launches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "device/sim_device.h"
#include "haul/cost.h"
#include "haul/timeline.h"
#include "machine/architectures.h"
#include "tile/tile_parts.h"

/* Where neither a model of the machine nor the device says more: PoCL's copies, and its launches as
 * its threads take them up (20 to 65 us), and those of a GPU on PCIe 3.0. */
static const haul_tile_rates host_rates = {
    .copy_Bps = {8e9, 8e9},
    .copy_latency_s = 5e-5,
    .busy = {1, 1},
    .memory_Bps = HAUL_HOST_BPS,
    /* so that fused steps take 1.2 times as long as others, as measured on PoCL: its last-level
     * cache feeds both */
    .shared_Bps = 4e10,
    .launch_s = 5e-5,
    .source = "assumed of a CPU",
};
static const haul_tile_rates gpu_rates = {
    .copy_Bps = {1.2e10, 1.2e10},
    .copy_latency_s = 1e-5,
    .busy = {1, 1},
    .memory_Bps = 3e11,
    .launch_s = 5e-6,
    .source = "assumed of a GPU",
};

/* 0 where the machine's models give no time. */
static double copy_s(const haul_machine *machine, haul_direction direction, uint64_t bytes)
{
    const haul_copy copy = {
        .bytes = bytes, .direction = direction, .memory = HAUL_PINNED, .locality = HAUL_NEAR};
    haul_estimate estimate;
    return haul_copy_time(machine, NULL, &copy, &estimate, NULL) ? 0 : estimate.seconds;
}

haul_tile_rates haul_tile_rates_of(const haul_context *context)
{
    const haul_device_properties *properties = haul_device_describe(context->device);
    const haul_machine *machine = context->options.machine;
    haul_tile_rates rates = properties->is_host ? host_rates : gpu_rates;
    if (!machine && properties->is_simulated)
        machine = haul_sim_node_of(context->device)->machine;
    if (properties->memory_bandwidth_Bps > 0)
        rates.memory_Bps = properties->memory_bandwidth_Bps;
    if (!properties->is_host)
        rates.shared_Bps = 128.0 * properties->multiprocessors * properties->clock_Hz;
    if (!machine)
        return rates;
    rates.source = machine->name;
    for (int d = 0; d < 2; d++) {
        const double seconds = copy_s(machine, d ? HAUL_DTOH : HAUL_HTOD, 1 << 26);
        rates.copy_Bps[d] = seconds > 0 ? (1 << 26) / seconds : rates.copy_Bps[d];
    }
    rates.copy_latency_s = copy_s(machine, HAUL_HTOD, 1);
    haul_timeline_device device;
    if (!haul_timeline_device_of(machine, &device, NULL)) {
        rates.busy[0] = device.busy_speed[HAUL_HTOD];
        rates.busy[1] = device.busy_speed[HAUL_DTOH];
        rates.one_engine = device.copy_engines == 1;
    }
    if (machine->gpu.memory_bandwidth_Bps.provenance)
        rates.memory_Bps = machine->gpu.memory_bandwidth_Bps.value;
    if (machine->gpu.fp64_flops.provenance)
        rates.fp64_flops = machine->gpu.fp64_flops.value;
    if (machine->gpu.launch_latency_s.provenance)
        rates.launch_s = machine->gpu.launch_latency_s.value;
    rates.shared_Bps = haul_gpu_shared_rate(&machine->gpu);
    return rates;
}

static double cells_of(const haul_step *step)
{
    double cells = 1;
    for (int d = 0; d <= step->outer; d++)
        cells *= step->box.hi[d] - step->box.lo[d];
    return cells;
}

double haul_step_bytes(const haul_step *step)
{
    double bytes = 0;
    for (unsigned i = 0; i < step->use_count; i++)
        bytes += (double)(step->uses[i].reads + step->uses[i].writes) *
                 (double)step->uses[i].field->element;
    return bytes * cells_of(step);
}

/* The roofline (Williams, Waterman and Patterson, CACM 52(4), 2009). */
double haul_step_seconds(const haul_tile_rates *rates, const haul_step *step)
{
    const double flops = step->flops * cells_of(step);
    const double compute_s = rates->fp64_flops > 0 ? flops / rates->fp64_flops : 0;
    return step->source ? fmax(haul_step_bytes(step) / rates->memory_Bps, compute_s) : 0;
}

/* Copies in and out of a pass: slower while both directions are busy. */
static double both_ways(const haul_tile_rates *rates, const double alone_s[2])
{
    if (rates->one_engine)
        return alone_s[0] + alone_s[1];
    const double both_s = fmin(alone_s[0] / rates->busy[0], alone_s[1] / rates->busy[1]);
    return both_s +
           fmax(alone_s[0] - both_s * rates->busy[0], alone_s[1] - both_s * rates->busy[1]);
}

static double step_seconds(const haul_context *self, const haul_tile_rates *rates,
                           const haul_step *step, int region)
{
    return step->fused.steps ? haul_fused_seconds(self, rates, step, region)
                             : haul_step_seconds(rates, step);
}

static int planes_on_device(const haul_field *field)
{
    int planes = 0;
    for (int p = 0; field->parts && p < field->part_count; p++)
        planes += field->parts[p].on_device ? field->region : 0;
    return planes < field->length ? planes : field->length;
}

/* Planes that a pass copies in and out: the last one left those on the device that fit. What the
 * host waits for goes home as a whole. */
static void count_copies(const haul_context *self, const haul_block *block,
                         const haul_block_field *of, double planes[2])
{
    const haul_field *field = of->field;
    const double rest = fmax(field->length - haul_ring_planes(self, field), 0);
    planes[0] = of->is_fresh ? 0 : block->is_first ? field->length - planes_on_device(field) : rest;
    planes[1] = !of->is_written || of->is_dead            ? 0
                : block->is_last && self->wanted == field ? field->length
                                                          : rest;
}

/* The model: kernels, copies in and copies out go on at once, at their rates, behind the first
 * region that comes in and before the last that the host waits for. */
static void predict(const haul_context *self, const haul_block *block, int region,
                    const haul_tile_rates *rates, haul_pass_time *out)
{
    double copied[2] = {0}, plane_bytes = 0, last_bytes = 0;
    const int regions = (block->length + region - 1) / region;
    bool is_resident = true;
    *out = (haul_pass_time){.steps = block->loops, .region = region};
    for (unsigned i = 0; i < block->field_count; i++) {
        const haul_block_field *of = &block->fields[i];
        double planes[2];
        count_copies(self, block, of, planes);
        for (int d = 0; d < 2; d++)
            copied[d] += planes[d] * (double)of->field->plane_bytes;
        if (block->is_last && of->field == self->wanted)
            last_bytes = region * (double)of->field->plane_bytes;
        plane_bytes += planes[0] > 0 ? (double)of->field->plane_bytes : 0;
        is_resident = is_resident && planes[0] <= 0 &&
                      haul_ring_planes(self, of->field) >= of->field->length + 2 * of->field->edge;
    }
    const int launches = is_resident ? 1 : regions + (block->reach + region - 1) / region;
    for (size_t i = 0; i < block->count; i++)
        out->run_s +=
            step_seconds(self, rates, &block->steps[i], region) + launches * rates->launch_s;
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
haul_pass_time haul_tile_predict(const haul_context *self, haul_step *steps, size_t count,
                                 int region)
{
    const haul_tile_rates rates = haul_tile_rates_of(self);
    const haul_pass_time never = {.total_s = INFINITY};
    haul_pass_time sum = never;
    for (size_t done = 0; done < count;) {
        haul_block block;
        haul_pass_time pass;
        const haul_block_limits limits = haul_limits_of(self, steps + done, count - done, region);
        if (limits.reach < 0)
            return never;
        haul_block_take(&block, steps + done, count - done, &limits);
        if (block.reach > limits.reach)
            return never;
        block.is_first = !done;
        block.is_last = done + block.count == count;
        predict(self, &block, region, &rates, &pass);
        if (!done) {
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

/* Regions are what they were where the program said so. */
void haul_tile_choose(haul_context *self, haul_step *steps, size_t count)
{
    int longest = 1, given = 0;
    haul_pass_time best = {.total_s = INFINITY};
    for (const haul_field *field = self->fields; field; field = field->next) {
        if (!field->region_given)
            longest = field->length > longest ? field->length : longest;
        else if (field->length > 1)
            given = field->region;
    }
    const int first = longest == 1 && given ? given : 1;
    longest = longest > first ? longest : first;
    /* a fifth larger each time: the time changes slowly with the size, and few sizes are tried */
    for (int region = first; region <= longest; region += 1 + region / 5) {
        haul_pass_time time;
        (void)haul_fuse_choose(self, steps, count, region, &time);
        if (time.total_s < best.total_s)
            best = time;
    }
    self->predicted = best;
    if (!best.region)
        return;
    self->region = best.region;
    for (haul_field *field = self->fields; field; field = field->next)
        if (!field->region_given) {
            free(field->parts);
            field->parts = NULL;
            field->region = 0;
        }
}

haul_status haul_explain(const haul_context *context, char **text, haul_error *error)
{
    enum { SIZE = 2048 };
    const haul_pass_time *time = &context->predicted;
    const haul_tile_rates rates = haul_tile_rates_of(context);
    char *lines = malloc(SIZE), *at = lines;
    if (!lines)
        return haul_fail_no_memory(error);
#define ADD(...) at += snprintf(at, (size_t)(SIZE - (at - lines)), __VA_ARGS__)
    if (context->is_host) {
        ADD("%s: %u steps a pass in tiles of %d rows, which stay in the second-level cache\n",
            context->device->name, context->steps_chosen, context->rows_chosen);
        *text = lines;
        return HAUL_OK;
    }
    ADD("%s: %.3g MB for arrays, %.3g MB in use; 3 streams: in, kernels, out; one for the host's "
        "own reads\n",
        context->device->name, (double)context->budget * 1e-6,
        (double)context->counts.device_bytes * 1e-6);
    if (context->ran_out_at)
        ADD("the device had no %.3g MB: the arrays have less, and fewer steps run a pass\n",
            (double)context->ran_out_at * 1e-6);
    ADD("rates (%s): %.3g GB/s in, %.3g GB/s out, %.3g GB/s memory, %.3g us a launch\n",
        rates.source, rates.copy_Bps[0] * 1e-9, rates.copy_Bps[1] * 1e-9, rates.memory_Bps * 1e-9,
        rates.launch_s * 1e6);
    for (const haul_field *field = context->fields; field; field = field->next)
        if (field->ring)
            ADD("array of %d planes in %d regions of %d: %s, %d slots\n", field->length,
                field->part_count, field->region,
                field->planes >= field->length + 2 * field->edge ? "stays on the device"
                                                                 : "streams through it",
                field->planes / field->region);
    if (time->passes)
        ADD("first program: %zu steps a pass, %zu passes; predicted %.4g ms, %.4g ms if all copies "
            "but the first region's were hidden; a pass: kernels %.3g ms, copies in %.3g ms, out "
            "%.3g ms\n",
            time->steps, time->passes, time->total_s * 1e3, time->bound_s * 1e3, time->run_s * 1e3,
            time->copy_s[0] * 1e3, time->copy_s[1] * 1e3);
    if (context->rows_chosen)
        ADD("planes are too large for the device: they are cut in columns of %d rows\n",
            context->rows_chosen);
    if (context->host_parts)
        ADD("last shared pass: the host's threads took %d regions while the device worked on the "
            "others\n",
            context->host_parts);
    at += haul_fuse_explain(context, at, (size_t)(SIZE - (at - lines)));
    ADD("last pass: %u steps\n", context->steps_chosen);
#undef ADD
    *text = lines;
    return HAUL_OK;
}
