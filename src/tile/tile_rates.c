/* The machine's rates, and what steps take with them. Where the program or the device names a
 * machine, they are cost/'s times of copies and timeline/'s contention; else they are assumed.
 *
 * The model keeps a formula of its own in place of a run of the timeline. It is asked for each size
 * of regions with each number of loops a launch: some 100 times before a program's first pass, and
 * four times before each later run of the queue. The formula is a sum over passes; the engine would
 * schedule each launch and copy of each, thousands a pass, while the device waits. test_tile_runs
 * holds the two together: on simulated devices, which are the engine, predicted times are within
 * 5 % of those that the run takes. */
#include <math.h>

#include "device/sim_device.h"
#include "haul/cost.h"
#include "haul/timeline.h"
#include "machine/architectures.h"
#include "tile/tile_choice.h"

/* Where neither a model of the machine nor the device says more: PoCL's copies, and its launches as
 * its threads take them up (20 to 65 us), and those of a GPU on PCIe 3.0. */
static const hl_tile_rates host_rates = {
    .copy_Bps = {8e9, 8e9},
    .copy_latency_s = 5e-5,
    .busy = {1, 1},
    .memory_Bps = HL_TILE_HOST_BPS,
    /* so that fused steps take 1.2 times as long as others, as measured on PoCL: its last-level
     * cache feeds both */
    .shared_Bps = 4e10,
    .launch_s = 5e-5,
    .source = "assumed of a CPU",
};
static const hl_tile_rates gpu_rates = {
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
    const haul_copy copy = {.bytes = bytes,
                            .direction = direction,
                            .memory = HAUL_MEMORY_PINNED,
                            .locality = HAUL_LOCALITY_NEAR};
    haul_estimate estimate;
    return haul_copy_time(machine, NULL, &copy, &estimate, NULL) ? 0 : estimate.seconds;
}

hl_tile_rates hl_tile_rates_of(const hl_tile_choice *choice)
{
    const haul_device_properties *properties = haul_device_describe(choice->memory->device);
    const haul_machine *machine = choice->options->machine;
    hl_tile_rates rates = properties->is_host ? host_rates : gpu_rates;
    if (!machine && properties->is_simulated)
        machine = hl_device_sim_node_of(choice->memory->device)->machine;
    if (properties->memory_bandwidth_Bps > 0)
        rates.memory_Bps = properties->memory_bandwidth_Bps;
    if (!properties->is_host)
        rates.shared_Bps = 128.0 * properties->multiprocessors * properties->clock_Hz;
    if (!machine)
        return rates;
    rates.source = machine->name;
    for (int d = 0; d < 2; d++) {
        const double seconds =
            copy_s(machine, d ? HAUL_DIRECTION_DTOH : HAUL_DIRECTION_HTOD, 1 << 26);
        rates.copy_Bps[d] = seconds > 0 ? (1 << 26) / seconds : rates.copy_Bps[d];
    }
    rates.copy_latency_s = copy_s(machine, HAUL_DIRECTION_HTOD, 1);
    haul_timeline_device device;
    if (!haul_timeline_device_of(machine, &device, NULL)) {
        rates.busy[0] = device.busy_speed[HAUL_DIRECTION_HTOD];
        rates.busy[1] = device.busy_speed[HAUL_DIRECTION_DTOH];
        rates.one_engine = device.copy_engines == 1;
    }
    if (machine->gpu.memory_bandwidth_Bps.provenance)
        rates.memory_Bps = machine->gpu.memory_bandwidth_Bps.value;
    if (machine->gpu.fp64_flops.provenance)
        rates.fp64_flops = machine->gpu.fp64_flops.value;
    if (machine->gpu.launch_latency_s.provenance)
        rates.launch_s = machine->gpu.launch_latency_s.value;
    if (machine->gpu.kernel_gap_s.provenance) /* launches are queued in a row */
        rates.launch_s += machine->gpu.kernel_gap_s.value;
    rates.shared_Bps = hl_machine_gpu_shared_rate(&machine->gpu);
    return rates;
}

static double cells_of(const hl_tile_step *step)
{
    double cells = 1;
    for (int d = 0; d <= step->outer; d++)
        cells *= step->box.hi[d] - step->box.lo[d];
    return cells;
}

double hl_tile_step_bytes(const hl_tile_step *step)
{
    double bytes = 0;
    for (unsigned i = 0; i < step->use_count; i++)
        bytes += (double)(step->uses[i].reads + step->uses[i].writes) *
                 (double)step->uses[i].field->element;
    return bytes * cells_of(step);
}

/* The roofline (Williams, Waterman and Patterson, CACM 52(4), 2009). */
double hl_tile_step_seconds(const hl_tile_rates *rates, const hl_tile_step *step)
{
    const double flops = step->flops * cells_of(step);
    const double compute_s = rates->fp64_flops > 0 ? flops / rates->fp64_flops : 0;
    return step->source ? fmax(hl_tile_step_bytes(step) / rates->memory_Bps, compute_s) : 0;
}
