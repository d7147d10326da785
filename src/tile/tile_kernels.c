/* Compiled kernels. */
#include "tile/tile_kernels.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "haul/device_backend.h"

/* Sources are static, so their addresses tell them apart. */
haul_status hl_tile_kernel_get(hl_tile_kernels *kernels, const haul_kernel_source *source,
                               haul_kernel **kernel, haul_error *error)
{
    for (size_t i = 0; i < kernels->count; i++)
        if (kernels->compiled[i]->source == source) {
            *kernel = kernels->compiled[i];
            return HAUL_OK;
        }
    if (!hl_base_grow(&kernels->compiled, &kernels->capacity, kernels->count + 1,
                      sizeof(haul_kernel *)))
        return hl_base_fail_no_memory(error);
    HAUL_TRY(haul_kernel_new(kernels->device, source, kernel, error));
    kernels->compiled[kernels->count++] = *kernel;
    return HAUL_OK;
}

void hl_tile_kernels_release(hl_tile_kernels *kernels)
{
    for (size_t i = 0; i < kernels->count; i++)
        haul_kernel_free(kernels->compiled[i]);
    free(kernels->compiled);
}
