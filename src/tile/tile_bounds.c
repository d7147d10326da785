/* The cells of its arrays that a loop's kernel may use, and the error of an access to others. */
#include <stdio.h>
#include <string.h>

#include "tile/tile_queue.h"

haul_bounds hl_tile_bounds_of(const hl_tile_step *step, unsigned use, haul_fault *fault)
{
    const hl_tile_field_use *of = &step->uses[use];
    const hl_tile_field *field = of->field;
    const int more = field->dims - step->outer - 1;
    const bool is_any = more < 0 || of->is_all || (hl_tile_field_is_single(field) && !of->writes);
    haul_bounds bounds = {
        .dims = field->dims,
        .more = more,
        .halo = is_any ? -1 : of->halo,
        .is_within = step->source == field->boundary_kernel, /* its box has no neighbours there */
        .quick = is_any                                           ? -field->dims
                 : more || step->source == field->boundary_kernel ? 0
                                                                  : field->dims,
        .parameter = (int)use,
        .fault = fault,
    };
    for (int d = 0; d < field->dims; d++) {
        const int base = d + 1 == field->dims && hl_tile_is_along(step, of) ? step->first : 0;
        const int beyond = of->is_all && of->writes ? 0 : field->ghost[d];
        const bool is_outer = d + 1 == field->dims;
        bounds.lo[d] = base - (is_outer && !hl_tile_has_edge(field, false) ? field->edge : beyond);
        bounds.hi[d] = base + field->size[d] +
                       (is_outer && !hl_tile_has_edge(field, true) ? field->edge : beyond);
    }
    return bounds;
}

/* "3, 4, 5" */
static void write_cell(char *text, size_t size, const long *cell, int dims)
{
    size_t at = 0;
    text[0] = '\0';
    for (int d = 0; d < 3 && d < dims && at < size; d++)
        at += (size_t)snprintf(text + at, size - at, "%s%ld", d ? ", " : "", cell[d]);
}

const char *hl_tile_name_of(const hl_tile_step *step, unsigned use)
{
    const haul_kernel_source *source = step->source;
    unsigned i = 0;
    for (; i < source->parameter_count; i++)
        if (source->parameters[i].halo >= 0 && !use--)
            break;
    return source->parameters[i].name;
}

size_t hl_tile_name_length(const hl_tile_step *step, unsigned use)
{
    const char *name = hl_tile_name_of(step, use), *end = strrchr(name, '_');
    return end ? (size_t)(end - name) : strlen(name);
}

haul_status hl_tile_fault_tell(const hl_tile_step *step, const haul_fault *fault, haul_error *error)
{
    const haul_kernel_source *source = step->source;
    const unsigned use = (unsigned)fault->parameter;
    const hl_tile_field *field = step->uses[use].field;
    const haul_bounds bounds = hl_tile_bounds_of(step, use, NULL);
    const long own_cell[3] = {fault->own[0], fault->own[1], fault->own[2]};
    char own[80], cell[80], why[120];
    write_cell(own, sizeof own, own_cell, step->outer + 1);
    write_cell(cell, sizeof cell, fault->cell, fault->dims);
    if (fault->dims != field->dims)
        snprintf(why, sizeof why, "its array has %d dimensions, not %d", field->dims, fault->dims);
    else if (bounds.halo < 0)
        snprintf(why, sizeof why, "its array ends before");
    else if (!bounds.halo)
        snprintf(why, sizeof why, "the kernel declares its own cell alone");
    else
        snprintf(why, sizeof why, "the kernel declares %d around its own", bounds.halo);
    const char *slash = strrchr(source->file, '/');
    if (!fault->line)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "kernel '%s' uses an undeclared cell of '%.*s': %s", source->name,
                              (int)hl_tile_name_length(step, use), hl_tile_name_of(step, use), why);
    return haul_error_set(error, HAUL_STATUS_USAGE,
                          "kernel '%s', %s line %d: cell (%s) uses (%s) of '%.*s', but %s",
                          source->name, slash ? slash + 1 : source->file, fault->line, own, cell,
                          (int)hl_tile_name_length(step, use), hl_tile_name_of(step, use), why);
}
