/* The kernels that a context's device has compiled. */
#ifndef HAUL_TILE_TILE_KERNELS_H
#define HAUL_TILE_TILE_KERNELS_H

#include "haul/device.h"

typedef struct hl_tile_kernels {
    haul_device *device;
    haul_kernel **compiled;
    size_t count;
    size_t capacity;
} hl_tile_kernels;

/* Compiles a kernel at its first use and keeps it. */
haul_status hl_tile_kernel_get(hl_tile_kernels *kernels, const haul_kernel_source *source,
                               haul_kernel **kernel, haul_error *error);
/* Keeps a kernel that runs its source's loops from now on, in place of the one before. */
haul_status hl_tile_kernel_put(hl_tile_kernels *kernels, haul_kernel *kernel, haul_error *error);
/* Whether the program compiled the source's kernel; NULL: any. */
bool hl_tile_kernel_is_given(const hl_tile_kernels *kernels, const haul_kernel_source *source);
void hl_tile_kernels_release(hl_tile_kernels *kernels);

#endif
