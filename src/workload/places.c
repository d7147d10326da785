/* The operator, the range, the line and the stack with the most time of each group: one pass over
 * the operations for each. */
#include "workload/places.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/records.h"

typedef struct origin_key {
    uint32_t group;
    uint32_t name;
} origin_key;

typedef struct group_time {
    double all_ns;
    double most_ns;
    uint32_t name; /* with the most */
    uint32_t line; /* of stacks: operations of other lines do not count; HAUL_NONE: all do */
} group_time;

bool hl_workload_has_origins(const haul_workload *workload)
{
    return workload->operators || workload->lines || workload->range_count;
}

haul_status hl_workload_origins_make(const haul_workload *workload, hl_workload_origins *self,
                                     haul_error *error)
{
    *self = (hl_workload_origins){.workload = workload};
    if (workload->range_count)
        HAUL_TRY(hl_workload_op_origins(workload, HAUL_GROUP_BY_RANGE, &self->ranges, error));
    return HAUL_OK;
}

void hl_workload_origins_release(hl_workload_origins *self)
{
    free(self->ranges);
    *self = (hl_workload_origins){0};
}

/* Sums each name's time in each group; of equal ones the first met has the most. */
static bool sum_names(const haul_workload *workload, const uint32_t *names, const uint32_t *groups,
                      group_time *times)
{
    hl_base_records keys = {.size = sizeof(origin_key)};
    double *sums = NULL;
    size_t capacity = 0;
    bool enough = true;
    for (size_t i = 0; enough && i < workload->op_count; i++) {
        if (groups[i] == HAUL_NONE)
            continue;
        group_time *const of = &times[groups[i]];
        if (of->line != HAUL_NONE && of->line != haul_op_line(workload, i))
            continue;
        const double dur_ns = (double)workload->ops[i].dur_ns;
        of->all_ns += dur_ns;
        if (names[i] == HAUL_NONE)
            continue;
        const origin_key key = {groups[i], names[i]};
        const size_t before = keys.count;
        const uint32_t number = hl_base_records_add(&keys, &key);
        enough = number != UINT32_MAX && hl_base_grow(&sums, &capacity, keys.count, sizeof *sums);
        if (!enough)
            break;
        sums[number] = (number == before ? 0 : sums[number]) + dur_ns;
        if (of->name == HAUL_NONE || sums[number] > of->most_ns) {
            of->most_ns = sums[number];
            of->name = names[i];
        }
    }
    free(sums);
    hl_base_records_release(&keys);
    return enough;
}

/* One of what tells a place; the stack comes behind the line whose most frequent one it is, and has
 * no share of its own. */
typedef enum place_part { PART_OPERATOR, PART_RANGE, PART_LINE, PART_STACK, PARTS } place_part;

static void set_part(haul_place *place, place_part part, const char *text, const group_time *of)
{
    const char **const texts[PARTS] = {&place->operator_name, &place->range, &place->line,
                                       &place->stack};
    double *const shares[PARTS] = {&place->operator_share, &place->range_share, &place->line_share,
                                   NULL};
    *texts[part] = text;
    if (shares[part])
        *shares[part] = of->all_ns > 0 ? of->most_ns / of->all_ns : 1;
}

haul_status hl_workload_places_find(const hl_workload_origins *self, const uint32_t *groups,
                                    size_t count, haul_place *places, haul_error *error)
{
    const haul_workload *const workload = self->workload;
    const uint32_t *const names[PARTS] = {workload->operators, self->ranges, workload->lines,
                                          workload->stacks};
    group_time *times = calloc(count + 1, sizeof *times);
    bool enough = times != NULL;
    for (size_t g = 0; g < count; g++)
        places[g] = (haul_place){.operator_name = NULL};
    for (int part = 0; enough && part < PARTS; part++) {
        if (!names[part])
            continue;
        for (size_t g = 0; g < count; g++)
            times[g] = (group_time){.name = HAUL_NONE,
                                    .line = part == PART_STACK ? times[g].name : HAUL_NONE};
        enough = sum_names(workload, names[part], groups, times);
        for (size_t g = 0; enough && g < count; g++)
            if (times[g].name != HAUL_NONE)
                set_part(&places[g], (place_part)part,
                         haul_workload_string(workload, times[g].name), &times[g]);
    }
    free(times);
    return enough ? HAUL_OK : hl_base_fail_no_memory(error);
}

haul_status haul_places_find(const haul_workload *workload, const uint32_t *groups, size_t count,
                             haul_place *places, haul_error *error)
{
    hl_workload_origins origins;
    haul_status status = hl_workload_origins_make(workload, &origins, error);
    if (!status)
        status = hl_workload_places_find(&origins, groups, count, places, error);
    hl_workload_origins_release(&origins);
    return status;
}
