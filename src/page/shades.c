/* Colours of their own for the kernels that take the most time. */
#include <stdlib.h>
#include <string.h>

#include "page/lanes.h"

static bool is_named_kernel(const haul_op *op)
{
    return op->kind == HAUL_OP_KERNEL && op->name != HAUL_NONE;
}

/* Ids above the kernels' are not asked for. */
static size_t kernel_ids(const haul_workload *workload)
{
    size_t ids = 0;
    for (size_t i = 0; i < workload->op_count; i++)
        if (is_named_kernel(&workload->ops[i]) && workload->ops[i].name >= ids)
            ids = (size_t)workload->ops[i].name + 1;
    return ids;
}

bool hl_page_shades_find(const haul_workload *workload, hl_page_shades *shades)
{
    const size_t ids = kernel_ids(workload);
    int64_t *times_ns = calloc(ids + 1, sizeof *times_ns);
    size_t names = 0;
    if (!times_ns)
        return false;
    *shades = (hl_page_shades){.count = 0};
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (!is_named_kernel(op))
            continue;
        names += times_ns[op->name] == 0;
        times_ns[op->name] += op->dur_ns;
    }
    while (names > 1 && shades->count < HL_PAGE_SHADES) {
        size_t most = 0;
        for (size_t id = 1; id < ids; id++)
            if (times_ns[id] > times_ns[most])
                most = id;
        if (!ids || times_ns[most] <= 0)
            break;
        shades->names[shades->count++] = haul_workload_string(workload, (uint32_t)most);
        times_ns[most] = 0;
    }
    free(times_ns);
    return true;
}

/* By name, for a changed workload has ids of its own. */
bool hl_page_lanes_shade(hl_page_lanes *lanes, const hl_page_shades *shades)
{
    const haul_workload *workload = lanes->drawn->workload;
    const size_t ids = kernel_ids(workload);
    uint8_t *asked = calloc(ids + 1, 1);
    lanes->shades = calloc(ids + 1, 1);
    lanes->shade_ids = lanes->shades ? ids : 0;
    for (size_t i = 0; asked && lanes->shades && i < workload->op_count; i++) {
        const uint32_t id = workload->ops[i].name;
        if (!is_named_kernel(&workload->ops[i]) || asked[id])
            continue;
        asked[id] = 1;
        for (size_t s = 0; s < shades->count; s++)
            if (!strcmp(haul_workload_string(workload, id), shades->names[s]))
                lanes->shades[id] = (uint8_t)(s + 1);
    }
    const bool done = asked && lanes->shades;
    free(asked);
    return done;
}
