/* The GPU that recorded a profile: by name from the catalogue, whose parameters are sourced, else
 * from the profile's own device table, which has the memory's rate but no kernel's. */
#include <limits.h>
#include <math.h>

#include "base/fail.h"
#include "machine/gpu_names.h"
#include "project/own_slot.h"
#include "project/recording.h"

/* The device that the operations ran on; NULL, with the cause, where it is not one kind. */
static const haul_workload_device *common_device(const haul_workload *workload, haul_error *error)
{
    const haul_workload_device *first = NULL;
    for (size_t i = 0; i < workload->device_count; i++) {
        const haul_workload_device *device = &workload->devices[i];
        if (!device->name)
            continue;
        if (first && !hl_machine_gpu_names_same(first->name, device->name)) {
            haul_error_set(error, HAUL_STATUS_MISSING,
                           "the profile has two kinds of GPU, '%.80s' and '%.80s'", first->name,
                           device->name);
            return NULL;
        }
        first = first ? first : device;
    }
    if (!first)
        haul_error_set(
            error, HAUL_STATUS_MISSING,
            "the profile does not name its GPU; give the machine that recorded it with --from");
    return first;
}

enum { SAME_GPU = INT_MAX - 1 };

/* How well a machine of the catalogue stands for the GPU of the profile; 0: not at all. A cluster
 * comes after a single machine with the same GPU. */
static unsigned standing(const haul_machine *machine, const haul_workload_device *device)
{
    const haul_gpu *gpu = &machine->gpu;
    const unsigned family = hl_machine_gpu_names_family(gpu->name, device->name);
    if (hl_machine_gpu_names_same(gpu->name, device->name))
        return machine->message_count ? SAME_GPU : SAME_GPU + 1U;
    /* As many multiprocessors say more than any name. */
    const bool as_many = gpu->multiprocessors.value == device->multiprocessors;
    return family ? family + (as_many ? 4U : 0U) : 0;
}

static haul_status find_in_catalogue(const haul_workload_device *device, hl_project_recording *self,
                                     haul_error *error)
{
    char **names = NULL;
    size_t count = 0;
    unsigned best = 0;
    haul_status status = haul_catalogue_list(&names, &count, error);
    for (size_t i = 0; !status && i < count && best <= SAME_GPU; i++) {
        haul_machine *entry = NULL;
        const haul_status loaded = haul_machine_load(names[i], &entry, NULL);
        /* a broken file of the catalogue is no reason to stop: it is not asked for */
        const unsigned found = loaded ? 0 : standing(entry, device);
        if (loaded == HAUL_STATUS_NO_MEMORY)
            status = hl_base_fail_no_memory(error);
        if (found > best) {
            haul_machine_free(self->like);
            self->like = entry;
            best = found;
        } else {
            haul_machine_free(entry);
        }
    }
    haul_names_free(names, count);
    self->is_family = best > 0 && best < SAME_GPU;
    return status;
}

static void replace(haul_parameter *old, double value)
{
    if (value > 0) /* profilers write 0 for what they do not know */
        *old = (haul_parameter){value, HAUL_PROVENANCE_DATASHEET, "the profile's device table"};
}

static void scale(haul_parameter *parameter, double ratio)
{
    if (!parameter->value || ratio == 1)
        return;
    parameter->value *= ratio;
    parameter->provenance = haul_provenance_weaker(parameter->provenance, HAUL_PROVENANCE_SCALED);
}

/* The GPU of `like`, of the same family, with what the profile's device table knows better; rates
 * go with what they are made of. */
static haul_gpu of_family(const haul_gpu *like, const haul_workload_device *device)
{
    haul_gpu gpu = *like;
    gpu.name = device->name;
    replace(&gpu.multiprocessors, device->multiprocessors);
    replace(&gpu.clock_Hz, device->clock_Hz);
    replace(&gpu.memory_bytes, (double)device->memory_bytes);
    replace(&gpu.memory_bandwidth_Bps, device->memory_bandwidth_Bps);
    replace(&gpu.l2_bytes, (double)device->l2_bytes);
    replace(&gpu.copy_engines, device->copy_engines);
    const double compute = gpu.multiprocessors.value * gpu.clock_Hz.value /
                           (like->multiprocessors.value * like->clock_Hz.value);
    const double memory = gpu.memory_bandwidth_Bps.value / like->memory_bandwidth_Bps.value;
    if (isfinite(compute) && compute > 0) {
        scale(&gpu.fp32_flops, compute);
        scale(&gpu.fp64_flops, compute);
        for (size_t p = 0; p < HAUL_PRECISIONS; p++) {
            scale(&gpu.product_flops[p], compute);
            scale(&gpu.tensor_flops[p], compute);
        }
        scale(&gpu.l2_Bps, compute);
    }
    if (isfinite(memory) && memory > 0)
        scale(&gpu.stream_Bps, memory);
    return gpu;
}

haul_status hl_project_recording_gpu(const haul_workload *workload, hl_project_recording *self,
                                     haul_error *error)
{
    const haul_workload_device *device = common_device(workload, error);
    haul_machine described = {.name = "the recording machine",
                              .summary = "the machine that recorded the profile"};
    if (!device)
        return HAUL_STATUS_MISSING;
    HAUL_TRY(find_in_catalogue(device, self, error));
    haul_machine *slotted = NULL;
    if (self->like && !self->is_family) {
        HAUL_TRY(hl_project_own_slot(self->like, &self->classes, &slotted, error));
        if (slotted) {
            self->catalogue_generation = (int)self->like->link.generation.value;
            haul_machine_free(self->like);
            self->like = slotted;
            self->has_slot = true;
        }
    }
    /* A clock alone does not scale a kernel: a CPU that plays the GPU, as PoCL's does, has one. */
    if (!self->like && !(device->memory_bandwidth_Bps > 0))
        return haul_error_set(
            error, HAUL_STATUS_MISSING,
            "no machine of the catalogue has the GPU '%.80s' and the profile does not "
            "say how fast its memory is; give the recording machine, for example --from "
            "here.yaml of 'haul measure'",
            device->name);
    const haul_gpu unknown = {.name = NULL};
    described.gpu = self->like && !self->is_family
                        ? self->like->gpu
                        : of_family(self->like ? &self->like->gpu : &unknown, device);
    return haul_machine_with_copies(&described, NULL, 0, &self->gpu, error);
}

/* Names differ in spelling between profilers, so the comparison is that of the catalogue. */
const char *hl_project_recording_other_gpu(const haul_workload *workload,
                                           const haul_machine *machine)
{
    const haul_workload_device *device = common_device(workload, NULL);
    const bool differs =
        device && machine->gpu.name && !hl_machine_gpu_names_same(device->name, machine->gpu.name);
    return differs ? device->name : NULL;
}
