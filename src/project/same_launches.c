/* Launches of one kernel, grid and block that take as long do the same work. */
#include "project/same_launches.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"

typedef struct launch {
    hl_project_launch_group *group;
    const haul_shape *shape;
} launch;

/* All of a shape but its operands, which are the last in it. */
static int by_launch(const void *a, const void *b)
{
    const launch *x = a, *y = b;
    if (x->group->name != y->group->name)
        return x->group->name < y->group->name ? -1 : 1;
    return memcmp(x->shape, y->shape, offsetof(haul_shape, operands));
}

/* Launches of other inner dimensions take other times: a tenth is the spread of equal kernels. */
static bool takes_as_long(const hl_project_launch_group *a, const hl_project_launch_group *b)
{
    const double x = a->seconds / (double)a->count, y = b->seconds / (double)b->count;
    return fabs(x - y) <= 0.1 * fmin(x, y);
}

/* Only one group of a kernel and launch is without operands: those are what tells the others
 * apart. */
haul_status hl_project_same_launches_share(hl_project_launch_groups *groups, haul_error *error)
{
    size_t count = 0;
    launch *launches = malloc((groups->count + 1) * sizeof *launches);
    if (!launches)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < groups->count; i++) {
        hl_project_launch_group *group = &groups->items[i];
        if (group->shape == HAUL_NONE)
            continue;
        launches[count] = (launch){group, &groups->workload->shapes[group->shape]};
        group->operands = launches[count++].shape->operands;
    }
    qsort(launches, count, sizeof *launches, by_launch);
    for (size_t first = 0, next; first < count; first = next) {
        hl_project_launch_group *without = NULL;
        const hl_project_launch_group *alike = NULL;
        bool is_one = true;
        for (next = first; next < count && !by_launch(&launches[first], &launches[next]); next++)
            without = launches[next].group->operands ? without : launches[next].group;
        for (size_t i = first; without && i < next; i++) {
            const hl_project_launch_group *of = launches[i].group;
            if (!of->operands || !takes_as_long(of, without))
                continue;
            is_one = !alike;
            alike = of;
        }
        if (alike && is_one)
            without->operands = alike->operands;
    }
    free(launches);
    return HAUL_OK;
}
