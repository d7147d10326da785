#include "transfer_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "haul/csv.h"
#include "haul/units.h"

enum { SOURCE, GPU, TOOL, DIRECTION, MEMORY, BYTES, COPIES, MIN, MEDIAN, MAX, COLUMNS };

/* A row's numbers. */
typedef struct row_times {
    double copies;
    double min_us;
    double median_us;
    double max_us;
} row_times;

/* The node of a row of SCOPE on an AC922: its benchmarks are of GPU 0 and name the NUMA node and
 * the GPU ("#0/0", "#0/2": measured by hal000's own files, GPU 2 hangs on the other socket). */
static const char *node_of(const char *source)
{
    const char *mark = strrchr(source, '#');
    if (!mark)
        return "";
    return !strcmp(mark, "#0/0") ? "near" : !strcmp(mark, "#0/2") ? "far" : "";
}

static bool is_of(const transfer_group *group, const char *const *fields, const char *node,
                  const haul_copy *copy)
{
    return !strcmp(group->gpu, fields[GPU]) && !strcmp(group->node, node) &&
           group->samples[0].copy.direction == copy->direction &&
           group->samples[0].copy.memory == copy->memory;
}

static transfer_group *find_group(transfer_groups *groups, const char *const *fields,
                                  const char *node, const haul_copy *copy)
{
    for (size_t i = 0; i < groups->count; i++)
        if (is_of(&groups->items[i], fields, node, copy))
            return &groups->items[i];
    if (!haul_grow(&groups->items, &groups->capacity, groups->count + 1, sizeof *groups->items))
        return NULL;
    transfer_group *group = &groups->items[groups->count++];
    *group = (transfer_group){.gpu = haul_arena_string(&groups->arena, fields[GPU]),
                              .tool = haul_arena_string(&groups->arena, fields[TOOL]),
                              .node = node,
                              .last_source = ""};
    return group->gpu && group->tool ? group : NULL;
}

static haul_status add_row(transfer_groups *groups, const char *const *fields, const char *node,
                           const haul_sample *sample, double range, haul_error *error)
{
    transfer_group *group = find_group(groups, fields, node, &sample->copy);
    if (!group ||
        !haul_grow(&group->samples, &group->capacity, group->count + 1, sizeof *group->samples) ||
        !haul_grow(&group->ranges, &group->range_capacity, group->range_count + 1, sizeof range))
        return haul_fail_no_memory(error);
    if (range >= 0)
        group->ranges[group->range_count++] = range;
    group->samples[group->count++] = *sample;
    if (strcmp(group->last_source, fields[SOURCE]) != 0) {
        group->last_source = haul_arena_string(&groups->arena, fields[SOURCE]);
        group->programs++;
    }
    return group->last_source ? HAUL_OK : haul_fail_no_memory(error);
}

static haul_status read_times(const char *const *fields, row_times *out, haul_error *error)
{
    const struct {
        int column;
        double *value;
    } numbers[] = {{COPIES, &out->copies},
                   {MIN, &out->min_us},
                   {MEDIAN, &out->median_us},
                   {MAX, &out->max_us}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const haul_status status = haul_quantity_parse(fields[numbers[i].column], HAUL_DIM_NUMBER,
                                                       numbers[i].value, error);
        if (status)
            return status;
    }
    return HAUL_OK;
}

static haul_status read_row(const char *const *all, const size_t *columns, transfer_groups *groups,
                            haul_error *error)
{
    const char *fields[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        fields[i] = all[columns[i]];
    haul_sample sample = {0};
    row_times times = {0};
    haul_status status = haul_direction_parse(fields[DIRECTION], &sample.copy.direction, error);
    if (!status)
        status = haul_memory_parse(fields[MEMORY], &sample.copy.memory, error);
    if (!status)
        status = haul_bytes_parse(fields[BYTES], &sample.copy.bytes, error);
    if (!status)
        status = read_times(fields, &times, error);
    if (status)
        return status;
    sample.seconds = times.median_us * 1e-6;
    const double range =
        times.copies > 1 ? 100 * (times.max_us - times.min_us) / times.median_us : -1;
    const char *node = node_of(fields[SOURCE]);
    status = add_row(groups, fields, node, &sample, range, error);
    if (!status && *node)
        status = add_row(groups, fields, "both", &sample, range, error);
    return status;
}

static haul_status read_rows(haul_csv *csv, transfer_groups *groups, haul_error *error)
{
    static const char *const names[] = {"source", "gpu", "tool",   "direction", "host_memory",
                                        "bytes",  "n",   "min_us", "median_us", "max_us"};
    size_t columns[COLUMNS] = {0};
    haul_status status = HAUL_OK;
    for (int i = 0; !status && i < COLUMNS; i++)
        status = haul_csv_find(csv, names[i], &columns[i], error);
    const char *const *fields = NULL;
    while (!status && !(status = haul_csv_next(csv, &fields, error)) && fields)
        if ((status = read_row(fields, columns, groups, error)))
            haul_csv_locate(csv, 0, error);
    return status;
}

haul_status transfer_groups_read(const char *data, transfer_groups *groups, haul_error *error)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/transfers/transfers.csv", data);
    haul_csv *csv;
    haul_status status = haul_csv_open(path, &csv, error);
    if (status)
        return status;
    *groups = (transfer_groups){0};
    status = read_rows(csv, groups, error);
    haul_csv_close(csv);
    if (status)
        transfer_groups_release(groups);
    return status;
}

void transfer_groups_release(transfer_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        free(groups->items[i].samples);
        free(groups->items[i].ranges);
    }
    free(groups->items);
    haul_arena_release(&groups->arena);
    *groups = (transfer_groups){0};
}
