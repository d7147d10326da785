/* Kernels that the program compiled: the parameters that they have to have, and their errors. */
#ifndef HAUL_DEVICE_KERNEL_GIVEN_H
#define HAUL_DEVICE_KERNEL_GIVEN_H

#include "device/host_work.h"

/* The box, and of each argument one, or in OpenCL at most two. */
enum { HL_DEVICE_SLOTS = 1 + 2 * HL_DEVICE_ARGUMENTS };

/* A parameter as the kernel's compiler has it. */
typedef struct hl_device_slot {
    const char *name; /* in the source */
    const char *what; /* it is of that */
    size_t bytes;
} hl_device_slot;

/* The parameters of the source's kernel, as haul/kernel_source.h declares them. Returns their
 * number. */
unsigned hl_device_slots_of(const haul_kernel_source *source, bool is_opencl,
                            hl_device_slot slots[HL_DEVICE_SLOTS]);

/* USAGE: the program's kernel has more parameters or fewer; one of another size. */
haul_status hl_device_slots_fail(const haul_kernel_source *source, unsigned count,
                                 haul_error *error);
haul_status hl_device_slot_fail(const haul_kernel_source *source, const hl_device_slot *slots,
                                unsigned index, haul_error *error);

/* BAD_INPUT: the kernel does not load from an image. */
haul_status hl_device_image_fail(const haul_kernel_source *source, const char *why,
                                 haul_error *error);

#endif
