/* The GPU that recorded a profile: by name from the catalogue, whose parameters are sourced, else
 * from the profile's own device table, which has the memory's rate but no kernel's. */
#include "base/fail.h"
#include "machine/gpu_names.h"
#include "project/recording.h"

/* The device that the operations ran on; NULL, with the cause, where it is not one kind. */
static const haul_workload_device *common_device(const haul_workload *workload, haul_error *error)
{
    const haul_workload_device *first = NULL;
    for (size_t i = 0; i < workload->device_count; i++) {
        const haul_workload_device *device = &workload->devices[i];
        if (!device->name)
            continue;
        if (first && !haul_gpu_names_same(first->name, device->name)) {
            haul_fail(error, HAUL_MISSING, "the profile has two kinds of GPU, '%.80s' and '%.80s'",
                      first->name, device->name);
            return NULL;
        }
        first = first ? first : device;
    }
    if (!first)
        haul_fail(error, HAUL_MISSING,
                  "the profile does not name its GPU; give the recording machine with --from");
    return first;
}

/* Profilers write 0 for what they do not know. */
static haul_parameter from_table(double value)
{
    if (!(value > 0))
        return (haul_parameter){0};
    return (haul_parameter){value, HAUL_DATASHEET, "the profile's device table"};
}

haul_status haul_recording_gpu(const haul_workload *workload, haul_recording *self,
                               haul_error *error)
{
    const haul_workload_device *device = common_device(workload, error);
    haul_machine described = {.name = "the recording machine",
                              .summary = "the machine that recorded the profile"};
    char **names = NULL;
    size_t count = 0;
    if (!device)
        return HAUL_MISSING;
    const haul_status status = haul_catalogue_list(&names, &count, error);
    for (size_t i = 0; !status && i < count && !self->like; i++) {
        haul_machine *entry = NULL;
        /* a broken file of the catalogue is no reason to stop: it is not asked for */
        if (!haul_machine_load(names[i], &entry, NULL) &&
            haul_gpu_names_same(entry->gpu.name, device->name))
            self->like = entry;
        else
            haul_machine_free(entry);
    }
    haul_names_free(names, count);
    if (status)
        return status;
    /* A clock alone does not scale a kernel: a CPU that plays the GPU, as PoCL's does, has one. */
    if (!self->like && !(device->memory_bandwidth_Bps > 0))
        return haul_fail(error, HAUL_MISSING,
                         "no machine of the catalogue has the GPU '%.80s' and the profile does not "
                         "say how fast its memory is; give the recording machine with --from",
                         device->name);
    described.gpu =
        self->like ? self->like->gpu
                   : (haul_gpu){.name = device->name,
                                .multiprocessors = from_table(device->multiprocessors),
                                .clock_Hz = from_table(device->clock_Hz),
                                .memory_bytes = from_table((double)device->memory_bytes),
                                .memory_bandwidth_Bps = from_table(device->memory_bandwidth_Bps),
                                .l2_bytes = from_table((double)device->l2_bytes),
                                .copy_engines = from_table(device->copy_engines)};
    return haul_machine_with_copies(&described, NULL, 0, &self->gpu, error);
}

/* Names differ in spelling between profilers, so the comparison is that of the catalogue. */
const char *haul_recording_other_gpu(const haul_workload *workload, const haul_machine *machine)
{
    const haul_workload_device *device = common_device(workload, NULL);
    const bool differs =
        device && machine->gpu.name && !haul_gpu_names_same(device->name, machine->gpu.name);
    return differs ? device->name : NULL;
}
