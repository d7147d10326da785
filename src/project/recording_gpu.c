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

static haul_parameter from_table(double value)
{
    if (!(value > 0))
        return (haul_parameter){0};
    return (haul_parameter){value, HAUL_DATASHEET, "the profile's device table"};
}

/* The machine as the profile's device table describes it. */
static haul_status from_device(const haul_workload_device *device, haul_machine *described,
                               haul_error *error)
{
    /* A clock alone does not scale a kernel: a CPU that plays the GPU, as PoCL's does, has one. */
    if (!(device->memory_bandwidth_Bps > 0))
        return haul_fail(error, HAUL_MISSING,
                         "no machine of the catalogue has the GPU '%.80s' and the profile does not "
                         "say how fast its memory is; give the recording machine with --from",
                         device->name);
    described->gpu = (haul_gpu){.name = device->name,
                                .multiprocessors = from_table(device->multiprocessors),
                                .clock_Hz = from_table(device->clock_Hz),
                                .memory_bytes = from_table((double)device->memory_bytes),
                                .memory_bandwidth_Bps = from_table(device->memory_bandwidth_Bps),
                                .l2_bytes = from_table((double)device->l2_bytes),
                                .copy_engines = from_table(device->copy_engines)};
    return HAUL_OK;
}

/* The first machine of the catalogue with the GPU; *like stays NULL where there is none. */
static haul_status from_catalogue(const char *gpu_name, haul_machine **like, haul_error *error)
{
    char **names = NULL;
    size_t count = 0;
    const haul_status status = haul_catalogue_list(&names, &count, error);
    for (size_t i = 0; !status && i < count && !*like; i++) {
        haul_machine *entry = NULL;
        /* a broken file of the catalogue is no reason to stop: it is not asked for */
        if (haul_machine_load(names[i], &entry, NULL))
            continue;
        if (haul_gpu_names_same(entry->gpu.name, gpu_name))
            *like = entry;
        else
            haul_machine_free(entry);
    }
    haul_names_free(names, count);
    return status;
}

haul_status haul_recording_gpu(const haul_workload *workload, haul_recording *self,
                               haul_error *error)
{
    const haul_workload_device *device = common_device(workload, error);
    if (!device)
        return HAUL_MISSING;
    haul_machine described = {.name = "the recording machine",
                              .summary = "the machine that recorded the profile"};
    haul_status status = from_catalogue(device->name, &self->like, error);
    if (!status && self->like)
        described.gpu = self->like->gpu;
    else if (!status)
        status = from_device(device, &described, error);
    return status ? status : haul_machine_with_copies(&described, NULL, 0, &self->gpu, error);
}

const char *haul_recording_other_gpu(const haul_workload *workload, const haul_machine *machine)
{
    const haul_workload_device *device = common_device(workload, NULL);
    const bool differs =
        device && machine->gpu.name && !haul_gpu_names_same(device->name, machine->gpu.name);
    return differs ? device->name : NULL;
}
