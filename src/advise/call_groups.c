#include "advise/call_groups.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "base/records.h"

typedef struct group_key {
    uint64_t bytes;
    uint32_t name;
    uint16_t direction;
    uint16_t memory;
} group_key;

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_groups(const void *a, const void *b)
{
    const haul_call_group *x = a, *y = b;
    int order = compare_numbers(x->name, y->name);
    order = order ? order : compare_numbers(x->direction, y->direction);
    order = order ? order : compare_numbers(x->memory, y->memory);
    return order ? order : compare_numbers(x->bytes, y->bytes);
}

/* Numbers the keys as they come; number_of[k] is that of the k-th copy. */
static bool number_copies(const haul_workload *workload, haul_records *keys, uint32_t *number_of)
{
    size_t copies = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->kind != HAUL_OP_COPY)
            continue;
        const group_key key = {op->bytes, op->name, op->direction, op->detail};
        const uint32_t number = haul_records_add(keys, &key);
        if (number == UINT32_MAX)
            return false;
        number_of[copies++] = number;
    }
    return true;
}

static void list_groups(const haul_records *keys, haul_call_groups *groups)
{
    const group_key *items = keys->items;
    groups->count = keys->count;
    for (uint32_t g = 0; g < keys->count; g++)
        groups->items[g] = (haul_call_group){.bytes = items[g].bytes,
                                             .name = items[g].name,
                                             .direction = items[g].direction,
                                             .memory = items[g].memory,
                                             .first = g};
    qsort(groups->items, groups->count, sizeof *groups->items, compare_groups);
}

/* Counts first, then places: `sorted` gives each number its group. */
static void place_copies(const haul_workload *workload, const int64_t *durations_ns,
                         const uint32_t *number_of, uint32_t *sorted, haul_call_groups *groups)
{
    for (uint32_t g = 0; g < groups->count; g++)
        sorted[groups->items[g].first] = g;
    size_t copies = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        if (workload->ops[i].kind != HAUL_OP_COPY)
            continue;
        haul_call_group *group = &groups->items[sorted[number_of[copies++]]];
        group->count++;
        group->time_ns =
            haul_add_ns(group->time_ns, durations_ns ? durations_ns[i] : workload->ops[i].dur_ns);
    }
    uint32_t first = 0;
    for (size_t g = 0; g < groups->count; g++) {
        groups->items[g].first = first;
        first += groups->items[g].count;
        groups->items[g].count = 0;
    }
    copies = 0;
    for (uint32_t i = 0; i < workload->op_count; i++) {
        if (workload->ops[i].kind != HAUL_OP_COPY)
            continue;
        haul_call_group *group = &groups->items[sorted[number_of[copies++]]];
        groups->ops[group->first + group->count++] = i;
    }
}

haul_status haul_call_groups_make(const haul_workload *workload, const int64_t *durations_ns,
                                  haul_call_groups *groups, haul_error *error)
{
    haul_records keys = {.size = sizeof(group_key)};
    haul_call_groups made = {0};
    uint32_t *sorted = NULL;
    uint32_t *number_of = malloc((workload->op_count + 1) * sizeof *number_of);
    bool done = number_of && number_copies(workload, &keys, number_of);
    if (done) {
        made.items = calloc(keys.count + 1, sizeof *made.items);
        made.ops = malloc((workload->op_count + 1) * sizeof *made.ops);
        sorted = malloc((keys.count + 1) * sizeof *sorted);
        done = made.items && made.ops && sorted;
    }
    if (done) {
        list_groups(&keys, &made);
        place_copies(workload, durations_ns, number_of, sorted, &made);
        *groups = made;
    } else {
        haul_call_groups_release(&made);
    }
    haul_records_release(&keys);
    free(number_of);
    free(sorted);
    return done ? HAUL_OK : haul_fail_no_memory(error);
}

void haul_call_groups_release(haul_call_groups *groups)
{
    free(groups->items);
    free(groups->ops);
    *groups = (haul_call_groups){0};
}

size_t haul_call_family(const haul_call_groups *groups, size_t begin)
{
    const haul_call_group *first = &groups->items[begin];
    size_t end = begin;
    while (end < groups->count && groups->items[end].name == first->name &&
           groups->items[end].direction == first->direction &&
           groups->items[end].memory == first->memory)
        end++;
    return end;
}
