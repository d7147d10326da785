#include "report/analysis_tables.h"

#include "report/wording.h"

enum { NAME_WIDTH = 60 };

static void add_time_row(haul_table *table, const char *what, const haul_totals *totals,
                         int64_t busy_ns, int64_t span_ns)
{
    haul_table_cell(table, "%s", what);
    haul_table_cell(table, "%s", totals ? haul_say_count(totals->count).text : "");
    haul_table_cell(table, "%s", totals ? haul_say_time(totals->time_ns).text : "");
    haul_table_cell(table, "%s", haul_say_time(busy_ns).text);
    haul_table_cell(table, "%s",
                    haul_say_share(haul_share_of((double)busy_ns, (double)span_ns)).text);
}

void haul_fill_times(haul_table *table, const haul_analysis *analysis)
{
    static const char *const heads[] = {"<Time on the devices", "count", "summed", "busy",
                                        "of the span"};
    const haul_busy *busy = &analysis->busy;
    const int64_t span_ns = analysis->span_ns;
    haul_table_begin(table, heads, 5);
    add_time_row(table, "kernels", &analysis->kernels, busy->kernel_ns, span_ns);
    add_time_row(table, "copies", &analysis->copies, busy->copy_ns, span_ns);
    if (analysis->memsets.count)
        add_time_row(table, "memsets", &analysis->memsets, busy->memset_ns, span_ns);
    add_time_row(table, "copies and kernels at once", NULL, busy->both_ns, span_ns);
    add_time_row(table, "copies or kernels", NULL, busy->either_ns, span_ns);
    add_time_row(table, "idle", NULL, analysis->idle_ns, span_ns);
}

void haul_fill_copies(haul_table *table, const haul_analysis *analysis)
{
    static const char *const heads[] = {"<Copies", "<memory", "count",  "bytes", "summed",
                                        "busy",    "rate",    "median", "best",  "latency"};
    haul_table_begin(table, heads, 10);
    for (size_t i = 0; i < analysis->group_count; i++) {
        const haul_copy_group *group = &analysis->groups[i];
        haul_table_cell(table, "%s", haul_direction_text(group->direction));
        haul_table_cell(table, "%s", haul_memory_text(group->memory));
        haul_table_cell(table, "%s", haul_say_count(group->totals.count).text);
        haul_table_cell(table, "%s", haul_say_bytes(group->totals.bytes).text);
        haul_table_cell(table, "%s", haul_say_time(group->totals.time_ns).text);
        haul_table_cell(table, "%s", haul_say_time(group->busy_ns).text);
        const double busy_s = (double)group->busy_ns * 1e-9;
        haul_table_cell(table, "%s",
                        haul_say_rate(haul_share_of((double)group->totals.bytes, busy_s)).text);
        haul_table_cell(table, "%s", haul_say_rate(group->median_Bps).text);
        haul_table_cell(table, "%s", haul_say_rate(group->best_Bps).text);
        haul_table_cell(table, "%s", haul_say_seconds(group->latency_s).text);
    }
}

static void add_cost_name(haul_table *table, const haul_workload *workload,
                          const haul_cost_row *row)
{
    char text[4 * NAME_WIDTH + 8];
    if (row->kind == HAUL_OP_COPY)
        haul_table_cell(table, "copy %s of %s", haul_say_copies(row->direction, row->memory).text,
                        haul_say_bytes(row->bytes).text);
    else if (row->kind == HAUL_OP_MEMSET)
        haul_table_cell(table, "memset of %s", haul_say_bytes(row->bytes).text);
    else {
        const char *name = haul_workload_string(workload, row->name);
        haul_table_cell(table, "%s",
                        *name ? haul_shorten_name(name, NAME_WIDTH, text, sizeof text)
                              : "kernel without a name");
    }
}

void haul_fill_largest(haul_table *table, const haul_workload *workload,
                       const haul_analysis *analysis)
{
    static const char *const heads[] = {"<Largest costs", "count", "mean", "time", "share"};
    const double all = (double)analysis->copies.time_ns + (double)analysis->kernels.time_ns +
                       (double)analysis->memsets.time_ns;
    haul_table_begin(table, heads, 5);
    for (size_t i = 0; i < analysis->largest_count; i++) {
        const haul_cost_row *row = &analysis->largest[i];
        add_cost_name(table, workload, row);
        haul_table_cell(table, "%s", haul_say_count(row->count).text);
        haul_table_cell(table, "%s",
                        haul_say_seconds((double)row->time_ns * 1e-9 / (double)row->count).text);
        haul_table_cell(table, "%s", haul_say_time(row->time_ns).text);
        haul_table_cell(table, "%s", haul_say_share(haul_share_of((double)row->time_ns, all)).text);
    }
}
