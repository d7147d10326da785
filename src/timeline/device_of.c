/* The devices of a machine, as the engine takes them. A parameter that it lacks costs nothing here,
 * for the commands say what they assumed; only the number of copy engines must be known. */
#include "timeline/device_of.h"

#include <math.h>

#include "base/fail.h"
#include "haul/cost.h"

/* Kernels at once, blocks, threads, registers and shared memory are facts of the architecture; only
 * the number of multiprocessors is the GPU's own. */
void hl_timeline_device_hold(haul_timeline_device *device,
                             const hl_machine_architecture *architecture, unsigned multiprocessors)
{
    device->kernels = architecture->grids;
    device->occupancy = (haul_occupancy){.multiprocessors = multiprocessors,
                                         .blocks = architecture->blocks,
                                         .threads = architecture->threads,
                                         .registers = architecture->registers,
                                         .shared_bytes = architecture->shared_bytes};
    device->queue_depth = HL_TIMELINE_CUDA_QUEUE;
}

/* The rate of large copies alone: the file's, else as the link gives it. */
static double rate_alone(const haul_machine *machine, const haul_copy_curve *curve)
{
    haul_copy copy = {
        .direction = curve->direction, .memory = HAUL_MEMORY_PINNED, .bytes = UINT64_C(1) << 28};
    haul_estimate one, two;
    if (curve->rate_Bps.value > 0)
        return curve->rate_Bps.value;
    if (haul_copy_time(machine, NULL, &copy, &one, NULL))
        return 0;
    copy.bytes *= 2;
    const haul_status status = haul_copy_time(machine, NULL, &copy, &two, NULL);
    return status ? 0 : (double)copy.bytes / 2 / (two.seconds - one.seconds);
}

haul_status haul_timeline_device_of(const haul_machine *machine, haul_timeline_device *device,
                                    haul_error *error)
{
    const haul_gpu *gpu = &machine->gpu;
    if (!gpu->copy_engines.provenance)
        return haul_error_set(error, HAUL_STATUS_MISSING, "machine '%.100s' lacks gpu.copy_engines",
                              machine->name);
    haul_timeline_device made = {
        .copy_engines = (unsigned)fmin(fmax(gpu->copy_engines.value, 0), 1000),
        .implicit_sync = gpu->implicit_sync.value > 0,
        .kernels = 1, /* at a time, where nothing is known */
        .busy_speed = {1, 1},
        .kernel_gap_ns = llround(1e9 * fmin(gpu->kernel_gap_s.value, 1e9)),
        .memory_gap_ns = llround(1e9 * fmin(gpu->memory_gap_s.value, 1e9)),
    };
    const hl_machine_architecture *architecture = hl_machine_architecture_of(gpu);
    if (architecture && architecture->grids) {
        made.queue_depth = HL_TIMELINE_CUDA_QUEUE;
        if (gpu->multiprocessors.provenance)
            hl_timeline_device_hold(&made, architecture,
                                    (unsigned)fmin(fmax(gpu->multiprocessors.value, 0), 1e6));
    }
    if (gpu->queue_depth.provenance)
        made.queue_depth = (unsigned)fmin(gpu->queue_depth.value, 1e9);
    if (gpu->per_link.value > 1)
        made.link_devices = (unsigned)fmin(gpu->per_link.value, 1e6);
    for (int i = 0; i < 2; i++) {
        const haul_copy_curve *staged = haul_machine_curve(
            machine, (haul_direction)i, HAUL_MEMORY_PAGEABLE, HAUL_LOCALITY_NEAR);
        made.staging |= staged && staged->chunk_bytes.provenance;
        const haul_copy_curve *curve =
            haul_machine_curve(machine, (haul_direction)i, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
        if (!curve)
            continue;
        const double busy_rate = curve->busy_rate_Bps.value;
        const double alone_rate = busy_rate > 0 ? rate_alone(machine, curve) : 0;
        if (alone_rate > 0)
            made.busy_speed[i] = fmin(1, busy_rate / alone_rate);
        /* a chained copy pays the gap g for the latency L (CCGrid 2014, section V) */
        const double saved_s = curve->latency_s.value - curve->gap_s.value;
        if (curve->gap_s.provenance && saved_s > 0 && saved_s < 1)
            made.chained_ns[i] = llround(1e9 * saved_s);
    }
    *device = made;
    return HAUL_OK;
}
