/* Rows of kernels come first, then those of copies: one search finds the places of all. */
#include "project/row_places.h"

#include <stdlib.h>

#include "base/fail.h"
#include "haul/analysis.h"

/* By direction and memory the row of all sizes. */
static uint32_t copy_row(const haul_projection *out, const haul_op *op)
{
    for (size_t r = 0; r < out->row_count; r++)
        if (out->rows[r].decade == HAUL_ANALYSIS_DECADES &&
            out->rows[r].direction == (haul_direction)op->direction &&
            out->rows[r].memory == (haul_memory)op->detail)
            return (uint32_t)r;
    return HAUL_NONE;
}

haul_status hl_project_row_places_find(const haul_workload *workload, uint32_t *rows,
                                       haul_projection *out, haul_error *error)
{
    const size_t count = out->kernel_row_count + out->row_count;
    haul_place *places = malloc((count + 1) * sizeof *places);
    if (!places)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        const uint32_t row = op->kind == HAUL_OP_COPY ? copy_row(out, op) : HAUL_NONE;
        if (op->kind != HAUL_OP_KERNEL)
            rows[i] = row == HAUL_NONE ? HAUL_NONE : (uint32_t)out->kernel_row_count + row;
    }
    const haul_status status = haul_places_find(workload, rows, count, places, error);
    for (size_t r = 0; !status && r < out->kernel_row_count; r++)
        out->kernel_rows[r].place = places[r];
    for (size_t r = 0; !status && r < out->row_count; r++)
        out->rows[r].place = places[out->kernel_row_count + r];
    free(places);
    return status;
}
