/* Arrays that a program may ask for. */
#include <limits.h>
#include <unistd.h>

#include "base/fail.h"
#include "tile/tile_field.h"

static haul_status check_boundary_kernel(const haul_array_spec *spec, haul_error *error)
{
    const haul_kernel_source *kernel = spec->boundary_kernel;
    const unsigned dims = spec->size[2] ? 3 : spec->size[1] ? 2 : 1;
    const uint64_t element = spec->element_bytes ? spec->element_bytes : sizeof(double);
    const haul_kernel_parameter *cells = kernel->parameters;
    /* an array and its view */
    if (kernel->parameter_count != 2 || cells->halo < 0 || cells->halo == HAUL_HALO_ALL ||
        (cells->access != HAUL_ACCESS_INOUT && cells->access != HAUL_ACCESS_OUT))
        return haul_error_set(
            error, HAUL_STATUS_USAGE,
            "kernel '%s' cannot set a boundary: its one parameter is to be an array "
            "that it writes",
            kernel->name);
    if (kernel->dimensions != dims || cells->bytes != element)
        return haul_error_set(
            error, HAUL_STATUS_USAGE,
            "boundary kernel '%s' is for arrays of %u dimensions and elements of %u "
            "bytes, not %u and %llu",
            kernel->name, kernel->dimensions, cells->bytes, dims, (unsigned long long)element);
    return HAUL_OK;
}

haul_status hl_tile_spec_check(const haul_array_spec *spec, haul_error *error)
{
    for (int d = 0; d < 3; d++) {
        /* Indices, also those of cells beyond the edges, are ints: half of INT_MAX leaves room for
         * sums of two. */
        const int size = spec->size[d], ghost = spec->ghost[d];
        const haul_boundary boundary = spec->boundary[d];
        if (size < 0 || ghost < 0 || (int64_t)size + 2 * (int64_t)ghost > INT_MAX / 2)
            return haul_error_set(
                error, HAUL_STATUS_USAGE,
                "an array of size %d with %d cells beyond each edge: together they are "
                "0 to %d",
                size, ghost, INT_MAX / 2);
        if (d && size && !spec->size[d - 1])
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "an array of size %d in dimension %d has size 0 in dimension %d",
                                  size, d, d - 1);
        if ((unsigned)boundary > HAUL_BOUNDARY_PERIODIC)
            return haul_error_set(error, HAUL_STATUS_USAGE, "unknown boundary %d", (int)boundary);
        if (boundary == HAUL_BOUNDARY_PERIODIC && size < ghost)
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "a periodic array of size %d has %d cells beyond its edges", size,
                                  ghost);
    }
    if (spec->region < 0)
        return haul_error_set(error, HAUL_STATUS_USAGE, "a region of %d planes", spec->region);
    if ((unsigned)spec->element > HAUL_ELEMENT_STRUCT)
        return haul_error_set(error, HAUL_STATUS_USAGE, "unknown kind of elements %d",
                              (int)spec->element);
    return spec->boundary_kernel ? check_boundary_kernel(spec, error) : HAUL_OK;
}

/* Linux promises more than there is, and ends the program when it is used. */
haul_status hl_tile_memory_check(const hl_tile_memory *memory, uint64_t bytes, const char *what,
                                 haul_error *error)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t there = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    uint64_t used = 0;
    for (const hl_tile_field *other = memory->fields; other; other = other->next)
        used += other->file < 0 ? other->host_bytes : 0;
    if (bytes <= there && used <= there - bytes)
        return HAUL_OK;
    return haul_error_set(
        error, HAUL_STATUS_NO_MEMORY,
        "%.3g GB, beside %.3g GB of other arrays, do not fit the host's %.3g GB of memory: %s",
        (double)bytes * 1e-9, (double)used * 1e-9, (double)there * 1e-9, what);
}
