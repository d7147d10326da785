/* Staging is seen in the calls: their time before a copy to the device starts, and after one to the
 * host has ended. */
#include "project/staging.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "base/stats.h"

/* In B/s: the least host.copy_rate of the catalogue (titan-xk7, an Opteron 6274). */
static const double slowest_copy_rate = 2.4e9;

/* Copies to the device of up to 64 KiB return when they are staged, before the DMA (CUDA Driver
 * API, "API synchronization behavior"). */
enum { STAGED_AT_ONCE = 65536 };

/* The operations whose calls show how long one takes that returns at once, the best first. */
typedef enum witness { WITNESS_COPY, WITNESS_SMALL_COPY, WITNESS_LAUNCH, WITNESSES } witness;

static bool is_witness(const haul_op *op, witness kind)
{
    if (!(op->flags & HAUL_OP_HAS_CALL) || op->flags & HAUL_OP_BLOCKS)
        return false;
    if (kind == WITNESS_LAUNCH || op->kind != HAUL_OP_COPY)
        return kind == WITNESS_LAUNCH && op->kind == HAUL_OP_KERNEL;
    return kind == WITNESS_COPY
               ? op->detail == HAUL_MEMORY_PINNED || op->detail == HAUL_MEMORY_DEVICE
               : op->detail == HAUL_MEMORY_PAGEABLE && op->direction == HAUL_DIRECTION_HTOD &&
                     op->bytes <= STAGED_AT_ONCE;
}

haul_status hl_project_free_call(const haul_workload *workload, int64_t *call_ns, haul_error *error)
{
    double *calls_ns = malloc((workload->op_count + 1) * sizeof *calls_ns);
    if (!calls_ns)
        return hl_base_fail_no_memory(error);
    size_t count = 0;
    for (witness kind = WITNESS_COPY; kind < WITNESSES && !count; kind++)
        for (size_t i = 0; i < workload->op_count; i++)
            if (is_witness(&workload->ops[i], kind))
                calls_ns[count++] = (double)workload->ops[i].call_dur_ns;
    *call_ns = count ? (int64_t)hl_base_median_of_many(calls_ns, count) : 0;
    free(calls_ns);
    return HAUL_OK;
}

/* The part of a copy's call that its device record does not cover, on the side that stages. */
static double beside_ns(const haul_op *op)
{
    if (!(op->flags & HAUL_OP_HAS_CALL))
        return 0;
    const int64_t returned_ns = hl_base_end_of(op->call_ns, op->call_dur_ns);
    const int64_t ended_ns = hl_base_end_of(op->start_ns, op->dur_ns);
    const int64_t first_ns = op->start_ns < returned_ns ? op->start_ns : returned_ns;
    const int64_t last_ns = ended_ns > op->call_ns ? ended_ns : op->call_ns;
    return op->direction == HAUL_DIRECTION_HTOD ? (double)first_ns - (double)op->call_ns
                                                : (double)returned_ns - (double)last_ns;
}

haul_status hl_project_staging_find(const haul_workload *workload,
                                    const hl_project_size_classes *classes, int64_t free_call_ns,
                                    uint32_t *staged_ns, haul_error *error)
{
    double *times_ns = malloc((classes->op_count + 1) * sizeof *times_ns);
    if (!times_ns)
        return hl_base_fail_no_memory(error);
    for (size_t c = 0; c < classes->count; c++) {
        const hl_project_size_class *one = &classes->items[c];
        staged_ns[c] = 0;
        if (one->memory != HAUL_MEMORY_PAGEABLE || !haul_direction_crosses_link(one->direction) ||
            !one->count || !free_call_ns)
            continue;
        for (uint32_t k = 0; k < one->count; k++)
            times_ns[k] = beside_ns(&workload->ops[classes->ops[one->first + k]]);
        const double own_ns = hl_base_median_of_many(times_ns, one->count) - (double)free_call_ns;
        const double most_ns = fmin(1e9 * (double)one->bytes / slowest_copy_rate, UINT32_MAX);
        staged_ns[c] = (uint32_t)fmax(0, fmin(own_ns, most_ns));
    }
    free(times_ns);
    return HAUL_OK;
}

double hl_project_staging_device_share(const hl_project_size_class *one, uint32_t staged_ns,
                                       const haul_estimate *predicted)
{
    const double device_ns = one->time_ns / one->count;
    if (!staged_ns || predicted->weakest != HAUL_PROVENANCE_MEASURED)
        return 1;
    return device_ns / (device_ns + staged_ns);
}
