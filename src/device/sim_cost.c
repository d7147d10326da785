/* How long operations take on the machine. */
#include <math.h>

#include "base/fail.h"
#include "cost/usual.h"
#include "device/sim_device.h"
#include "haul/cost.h"
#include "machine/architectures.h"

/* At most 2^60 ns, so that sums of times stay within 64 bits. */
static int64_t ns_of(double seconds)
{
    return llround(fmin(fmax(seconds * 1e9, 0), 0x1p60));
}

/* One core's copy, where the machine says its rate; else no time. */
static double host_copy_s(const haul_machine *machine, uint64_t bytes)
{
    const haul_parameter *rate = &machine->host.copy_rate_Bps;
    return rate->provenance && rate->value > 0 ? (double)bytes / rate->value : 0;
}

void hl_device_sim_host_until(haul_device *device, int64_t now_ns)
{
    hl_device_sim_node *node = hl_device_sim_node_of(device);
    node->now_ns = now_ns > node->now_ns ? now_ns : node->now_ns;
}

void hl_device_sim_host_copies(haul_device *device, uint64_t bytes)
{
    hl_device_sim_node *node = hl_device_sim_node_of(device);
    node->now_ns += ns_of(host_copy_s(node->machine, bytes));
}

haul_status hl_device_sim_copy_ns(const hl_device_sim_node *node, const haul_transfer *transfer,
                                  haul_memory memory, int64_t *dur_ns, haul_error *error)
{
    const haul_copy copy = {
        .bytes = transfer->size[0] * transfer->size[1] * transfer->size[2],
        .direction = haul_transfer_direction(transfer),
        .memory = memory,
        .locality = HAUL_LOCALITY_NEAR,
    };
    if (copy.direction == HAUL_DIRECTION_HTOH) {
        *dur_ns = ns_of(host_copy_s(node->machine, copy.bytes));
        return HAUL_OK;
    }
    haul_estimate estimate;
    const haul_status status = haul_copy_time(node->machine, NULL, &copy, &estimate, error);
    if (!status)
        *dur_ns = ns_of(estimate.seconds);
    return status;
}

/* A rate is never made up: the message names what the machine file lacks. */
static haul_status need(const haul_machine *machine, const haul_parameter *parameter,
                        const char *path, haul_error *error)
{
    if (parameter->provenance && parameter->value > 0)
        return HAUL_OK;
    return haul_error_set(error, HAUL_STATUS_MISSING, "machine '%.100s' lacks %s", machine->name,
                          path);
}

/* A fill writes each byte once, at the memory's nominal bandwidth. */
haul_status hl_device_sim_fill_ns(const hl_device_sim_node *node, uint64_t bytes, int64_t *dur_ns,
                                  haul_error *error)
{
    const haul_parameter *rate = &node->machine->gpu.memory_bandwidth_Bps;
    const haul_status status = need(node->machine, rate, "gpu.memory_bandwidth", error);
    if (!status)
        *dur_ns = ns_of((double)bytes / rate->value);
    return status;
}

/* Mapped memory crosses the link as pinned copies do. */
haul_status hl_device_sim_mapped_ns(const hl_device_sim_node *node, const haul_launch *launch,
                                    haul_direction direction, int64_t *dur_ns, haul_error *error)
{
    const haul_copy copy = {(uint64_t)fmin(fmax(launch->mapped_bytes[direction], 0), 0x1p61),
                            direction, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR};
    haul_estimate estimate = {.seconds = 0};
    const haul_status status =
        copy.bytes ? haul_copy_time(node->machine, NULL, &copy, &estimate, error) : HAUL_OK;
    if (!status)
        *dur_ns = ns_of(estimate.seconds);
    return status;
}

/* 1/G of large pinned copies, as the model has it: not every machine file gives it. 0: not known.
 */
static double pinned_rate(const haul_machine *machine, haul_direction direction)
{
    haul_estimate one, two;
    const haul_copy large = {UINT64_C(1) << 30, direction, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR};
    haul_copy twice = large;
    twice.bytes *= 2;
    if (haul_copy_time(machine, NULL, &large, &one, NULL) ||
        haul_copy_time(machine, NULL, &twice, &two, NULL) || two.seconds <= one.seconds)
        return 0;
    return (double)large.bytes / (two.seconds - one.seconds);
}

/* Of the rate alone; 0 where the machine does not have the other. */
static double share_of(const haul_parameter *rate, double alone)
{
    return rate->value > 0 && rate->value < alone ? rate->value / alone : 0;
}

/* Mapped memory goes over the link as migrations do: it holds no engine, but slows copies of the
 * other direction, and is slowed by them (CCGrid 2014, section V). */
void hl_device_sim_model_directions(hl_device_sim_node *node)
{
    static const haul_copy_curve nothing;
    node->device.migrations = UINT32_MAX;
    for (int i = 0; i < 2; i++) {
        const haul_copy_curve *own = haul_machine_curve(node->machine, (haul_direction)i,
                                                        HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
        const haul_copy_curve *curve = own ? own : &nothing;
        const double alone = pinned_rate(node->machine, (haul_direction)i);
        const double mapped = share_of(&curve->mapped_rate_Bps, alone);
        const double busy = share_of(&curve->busy_rate_Bps, alone);
        if (curve->latency_s.value > 0 && curve->latency_s.value < 1)
            node->device.latency_ns[i] = llround(1e9 * curve->latency_s.value);
        node->device.mapped_speed[i] = mapped > 0 ? mapped : hl_cost_usual_mapped.median;
        if (busy > 0)
            node->device.busy_speed[i] = busy;
    }
}

/* The roofline (Williams, Waterman and Patterson, CACM 52(4), 2009). */
static haul_status roofline_s(const hl_device_sim_node *node, const haul_launch *launch,
                              double *seconds, haul_error *error)
{
    const haul_machine *machine = node->machine;
    const haul_gpu *gpu = &machine->gpu;
    const haul_parameter *peak = launch->is_double ? &gpu->fp64_flops : &gpu->fp32_flops;
    if (launch->bytes > 0)
        HAUL_TRY(need(machine, &gpu->memory_bandwidth_Bps, "gpu.memory_bandwidth", error));
    if (launch->flops > 0)
        HAUL_TRY(need(machine, peak, launch->is_double ? "gpu.fp64" : "gpu.fp32", error));
    if (launch->shared_bytes > 0) {
        HAUL_TRY(need(machine, &gpu->multiprocessors, "gpu.multiprocessors", error));
        HAUL_TRY(need(machine, &gpu->clock_Hz, "gpu.clock", error));
    }
    const double memory_s = launch->bytes > 0 ? launch->bytes / gpu->memory_bandwidth_Bps.value : 0;
    const double compute_s = launch->flops > 0 ? launch->flops / peak->value : 0;
    const double shared_s =
        launch->shared_bytes > 0 ? launch->shared_bytes / hl_machine_gpu_shared_rate(gpu) : 0;
    *seconds = gpu->launch_latency_s.value + fmax(fmax(memory_s, compute_s), shared_s);
    return HAUL_OK;
}

/* The program's own model goes before the roofline. */
haul_status hl_device_sim_kernel_ns(const haul_device *device, const haul_kernel *kernel,
                                    const haul_launch *launch, int64_t *dur_ns, haul_error *error)
{
    const hl_device_sim_node *node = hl_device_sim_node_of(device);
    const haul_device_options *options = &device->options;
    double seconds;
    if (options->kernel_seconds)
        seconds = options->kernel_seconds(options->kernel_state, node->machine, kernel, launch);
    else
        HAUL_TRY(roofline_s(node, launch, &seconds, error));
    if (!(seconds >= 0))
        return haul_error_set(error, HAUL_STATUS_USAGE, "kernel '%s' was given a time of %g s",
                              kernel->source->name, seconds);
    *dur_ns = ns_of(seconds);
    return HAUL_OK;
}
