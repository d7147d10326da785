/* Compiled kernels. */
#include "tile/tile_kernels.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "haul/device_backend.h"

/* Sources are static, so their addresses tell them apart. */
static haul_kernel **find(const hl_tile_kernels *kernels, const haul_kernel_source *source)
{
    for (size_t i = 0; i < kernels->count; i++)
        if (kernels->compiled[i]->source == source)
            return &kernels->compiled[i];
    return NULL;
}

static haul_status make_room(hl_tile_kernels *kernels, haul_error *error)
{
    return hl_base_grow(&kernels->compiled, &kernels->capacity, kernels->count + 1,
                        sizeof(haul_kernel *))
               ? HAUL_OK
               : hl_base_fail_no_memory(error);
}

haul_status hl_tile_kernel_get(hl_tile_kernels *kernels, const haul_kernel_source *source,
                               haul_kernel **kernel, haul_error *error)
{
    haul_kernel *const *found = find(kernels, source);
    if (found) {
        *kernel = *found;
        return HAUL_OK;
    }
    HAUL_TRY(make_room(kernels, error));
    HAUL_TRY(haul_kernel_new(kernels->device, source, kernel, error));
    kernels->compiled[kernels->count++] = *kernel;
    return HAUL_OK;
}

haul_status hl_tile_kernel_put(hl_tile_kernels *kernels, haul_kernel *kernel, haul_error *error)
{
    haul_kernel **found = find(kernels, kernel->source);
    if (found && *found != kernel)
        haul_kernel_free(*found);
    if (!found) {
        HAUL_TRY(make_room(kernels, error));
        found = &kernels->compiled[kernels->count++];
    }
    *found = kernel;
    return HAUL_OK;
}

bool hl_tile_kernel_is_given(const hl_tile_kernels *kernels, const haul_kernel_source *source)
{
    for (size_t i = 0; i < kernels->count; i++)
        if (kernels->compiled[i]->is_given && (!source || kernels->compiled[i]->source == source))
            return true;
    return false;
}

void hl_tile_kernels_release(hl_tile_kernels *kernels)
{
    for (size_t i = 0; i < kernels->count; i++)
        haul_kernel_free(kernels->compiled[i]);
    free(kernels->compiled);
}
