#include "device/kernel_given.h"

#include "base/fail.h"

unsigned hl_device_slots_of(const haul_kernel_source *source, bool is_opencl,
                            hl_device_slot slots[HL_DEVICE_SLOTS])
{
    unsigned count = 0;
    slots[count++] = (hl_device_slot){"box", "the indices", sizeof(haul_box)};
    for (unsigned i = 0; i < source->parameter_count && i < HL_DEVICE_ARGUMENTS; i++) {
        const haul_kernel_parameter *parameter = &source->parameters[i];
        if (parameter->access == HAUL_ACCESS_SHARED)
            continue;
        if (parameter->access == HAUL_ACCESS_VALUE) {
            slots[count++] = (hl_device_slot){parameter->name, "the value", parameter->bytes};
            continue;
        }
        slots[count++] = (hl_device_slot){parameter->name, "the address", sizeof(void *)};
        if (is_opencl)
            slots[count++] = (hl_device_slot){parameter->name, "the offset", sizeof(uint64_t)};
    }
    return count;
}

haul_status hl_device_slots_fail(const haul_kernel_source *source, unsigned count,
                                 haul_error *error)
{
    return haul_error_set(error, HAUL_STATUS_USAGE,
                          "the program's kernel for '%s' has not the %u parameters that a launch "
                          "sets",
                          source->name, count);
}

haul_status hl_device_slot_fail(const haul_kernel_source *source, const hl_device_slot *slots,
                                unsigned index, haul_error *error)
{
    return haul_error_set(error, HAUL_STATUS_USAGE,
                          "parameter %u of the program's kernel for '%s' has not the %zu bytes of "
                          "%s of '%s'",
                          index, source->name, slots[index].bytes, slots[index].what,
                          slots[index].name);
}

haul_status hl_device_image_fail(const haul_kernel_source *source, const char *why,
                                 haul_error *error)
{
    return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "kernel '%s' does not load: %s",
                          source->name, why);
}
