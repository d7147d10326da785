/* Rows are found by a hash of what their operations share: a profile of millions of operations has
 * some hundreds of them. */
#include "workload/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/intervals.h"

/* Operations of a row share these. Without padding, since keys are compared byte for byte. */
typedef struct tally_key {
    uint64_t bytes;
    uint32_t name;
    uint8_t kind;
    uint8_t direction;
    uint8_t memory;
    uint8_t none;
} tally_key;

/* Kernels are told apart by name, copies and memsets by size. The sum of times stays at the largest
 * integer once it is there. */
haul_cost_row *hl_workload_tally_add(hl_workload_tally *tally, const haul_op *op)
{
    const bool is_copy = op->kind == HAUL_OP_COPY, is_kernel = op->kind == HAUL_OP_KERNEL;
    const tally_key key = {.bytes = is_kernel ? 0 : op->bytes,
                           .name = is_kernel ? op->name : HAUL_NONE,
                           .kind = op->kind,
                           .direction = is_copy ? op->direction : 0,
                           .memory = is_copy ? op->detail : 0};
    tally->keys.size = sizeof key;
    const uint32_t number = hl_base_records_add(&tally->keys, &key);
    if (number == UINT32_MAX ||
        !hl_base_grow(&tally->rows, &tally->capacity, tally->keys.count, sizeof *tally->rows))
        return NULL;
    haul_cost_row *row = &tally->rows[number];
    if (number == tally->count) {
        tally->count++;
        *row = (haul_cost_row){.bytes = key.bytes,
                               .name = key.name,
                               .kind = key.kind,
                               .direction = key.direction,
                               .memory = key.memory};
    }
    row->count++;
    row->time_ns = hl_base_add_ns(row->time_ns, op->dur_ns);
    if (op->dur_ns > 0 && (!row->shortest_ns || op->dur_ns < row->shortest_ns))
        row->shortest_ns = op->dur_ns;
    return row;
}

/* By insertion: a report shows a few rows of many. */
size_t hl_workload_tally_largest(const hl_workload_tally *tally, haul_cost_row *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < tally->count; i++) {
        const haul_cost_row *row = &tally->rows[i];
        size_t at = count;
        while (at && rows[at - 1].time_ns < row->time_ns)
            at--;
        if (at == HAUL_ANALYSIS_LARGEST)
            continue;
        if (count < HAUL_ANALYSIS_LARGEST)
            count++;
        memmove(&rows[at + 1], &rows[at], (count - at - 1) * sizeof *rows);
        rows[at] = *row;
    }
    return count;
}

/* The tally may be used again afterwards. */
void hl_workload_tally_release(hl_workload_tally *tally)
{
    free(tally->rows);
    hl_base_records_release(&tally->keys);
    *tally = (hl_workload_tally){0};
}
