/* Operations of devices grouped by where in the program they were called for. */
#include "workload/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"
#include "base/grow.h"
#include "base/intervals.h"
#include "base/records.h"
#include "workload/range_track.h"

typedef struct origin_finder {
    const haul_workload *workload;
    haul_group_by by;
    hl_workload_range_track own; /* ranges of each thread */
    hl_workload_range_track any; /* of all threads as one */
} origin_finder;

/* An operation without a call, or called outside of its thread's ranges, fits any thread's. */
static uint32_t range_of(const origin_finder *self, const haul_op *op)
{
    const bool has_call = op->flags & HAUL_OP_HAS_CALL;
    const int64_t time_ns = has_call ? op->call_ns : op->start_ns;
    const uint32_t own = has_call && op->thread != HAUL_NONE
                             ? hl_workload_range_track_name(&self->own, op->thread, time_ns)
                             : HAUL_NONE;
    return own != HAUL_NONE ? own : hl_workload_range_track_name(&self->any, HAUL_NONE, time_ns);
}

static uint32_t origin_of(const origin_finder *self, size_t number)
{
    const haul_op *const op = &self->workload->ops[number];
    switch (self->by) {
    case HAUL_GROUP_BY_OPERATOR:
        return haul_op_operator(self->workload, number);
    case HAUL_GROUP_BY_RANGE:
        return range_of(self, op);
    case HAUL_GROUP_BY_LINE:
        return haul_op_line(self->workload, number);
    case HAUL_GROUP_BY_STACK:
        return haul_op_stack(self->workload, number);
    default:
        return op->name;
    }
}

haul_status hl_workload_op_origins(const haul_workload *workload, haul_group_by by,
                                   uint32_t **names, haul_error *error)
{
    origin_finder self = {.workload = workload, .by = by};
    uint32_t *const made = malloc((workload->op_count + 1) * sizeof *made);
    const bool enough =
        made && (by != HAUL_GROUP_BY_RANGE ||
                 (hl_workload_range_track_fill(&self.any, self.workload, NULL, true) &&
                  hl_workload_range_track_fill(&self.own, self.workload, NULL, false)));
    for (size_t i = 0; enough && i < workload->op_count; i++)
        made[i] = origin_of(&self, i);
    free(self.own.changes);
    free(self.any.changes);
    if (!enough) {
        free(made);
        return hl_base_fail_no_memory(error);
    }
    *names = made;
    return HAUL_OK;
}

static int64_t time_of(const haul_work_group *group)
{
    return hl_base_add_ns(group->kernels_ns, group->copies_ns);
}

static int compare_groups(const void *a, const void *b)
{
    const haul_work_group *x = a, *y = b;
    if (time_of(x) != time_of(y))
        return time_of(x) < time_of(y) ? 1 : -1;
    return hl_base_compare_unsigned(x->name, y->name);
}

haul_status haul_work_groups(const haul_workload *workload, haul_group_by by,
                             haul_work_group **groups, size_t *count, haul_error *error)
{
    uint32_t *names = NULL;
    haul_work_group *made = NULL;
    size_t capacity = 0;
    hl_base_records keys = {.size = sizeof *names};
    HAUL_TRY(hl_workload_op_origins(workload, by, &names, error));
    bool enough = true;
    for (size_t i = 0; enough && names && i < workload->op_count; i++) {
        const haul_op *const op = &workload->ops[i];
        if (op->kind != HAUL_OP_KERNEL && op->kind != HAUL_OP_COPY)
            continue;
        const size_t before = keys.count;
        const uint32_t number = hl_base_records_add(&keys, &names[i]);
        enough = number != UINT32_MAX && hl_base_grow(&made, &capacity, keys.count, sizeof *made);
        if (enough && number == before)
            made[number] = (haul_work_group){.name = names[i]};
        haul_work_group *const group = enough ? &made[number] : NULL;
        if (enough && op->kind == HAUL_OP_KERNEL) {
            group->kernels++;
            group->kernels_ns = hl_base_add_ns(group->kernels_ns, op->dur_ns);
        } else if (enough) {
            group->copies++;
            group->bytes = hl_base_add_bytes(group->bytes, op->bytes);
            group->copies_ns = hl_base_add_ns(group->copies_ns, op->dur_ns);
        }
    }
    const size_t total = keys.count;
    free(names);
    hl_base_records_release(&keys);
    if (!enough) {
        free(made);
        return hl_base_fail_no_memory(error);
    }
    if (total)
        qsort(made, total, sizeof *made, compare_groups);
    *groups = made;
    *count = total;
    return HAUL_OK;
}
