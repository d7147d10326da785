/* The analysis as JSON (docs/json.md) and as CSV. */
#include <inttypes.h>

#include "base/json_out.h"
#include "base/table.h"
#include "report/report_analysis.h"
#include "report/wording.h"

static const char *const sync_names[HAUL_SYNC_KINDS] = {
    [HAUL_SYNC_UNKNOWN] = "unknown",         [HAUL_SYNC_EVENT] = "event",
    [HAUL_SYNC_STREAM_WAIT] = "stream_wait", [HAUL_SYNC_STREAM] = "stream",
    [HAUL_SYNC_CONTEXT] = "context",
};

/* The members of `totals` that mean something; an object of their own where there is a key. */
static void put_count_and_time(haul_json *json, const haul_totals *totals)
{
    haul_json_put_unsigned(json, "count", totals->count);
    haul_json_put_ns(json, "time_s", totals->time_ns);
}

static void put_sized(haul_json *json, const haul_totals *totals)
{
    haul_json_put_unsigned(json, "count", totals->count);
    haul_json_put_unsigned(json, "bytes", totals->bytes);
    haul_json_put_ns(json, "time_s", totals->time_ns);
}

static void put_totals(haul_json *json, const char *key, const haul_totals *totals, bool sized)
{
    haul_json_key(json, key);
    haul_json_open_object(json);
    if (sized)
        put_sized(json, totals);
    else
        put_count_and_time(json, totals);
    haul_json_close_object(json);
}

static void put_busy(haul_json *json, const haul_busy *busy)
{
    haul_json_key(json, "busy_s");
    haul_json_open_object(json);
    haul_json_put_ns(json, "copy", busy->copy_ns);
    haul_json_put_ns(json, "kernel", busy->kernel_ns);
    haul_json_put_ns(json, "memset", busy->memset_ns);
    haul_json_put_ns(json, "both", busy->both_ns);
    haul_json_put_ns(json, "either", busy->either_ns);
    haul_json_put_ns(json, "any", busy->any_ns);
    haul_json_close_object(json);
}

static void put_device_figures(haul_json *json, const haul_workload_device *device)
{
    haul_json_put_unsigned(json, "id", device->id);
    haul_json_put_string(json, "name", device->name);
    haul_json_put_number(json, "memory_bandwidth_Bps", device->memory_bandwidth_Bps);
    haul_json_put_number(json, "clock_Hz", device->clock_Hz);
    haul_json_put_unsigned(json, "memory_bytes", device->memory_bytes);
    haul_json_put_unsigned(json, "l2_bytes", device->l2_bytes);
    haul_json_put_unsigned(json, "multiprocessors", device->multiprocessors);
    haul_json_put_unsigned(json, "copy_engines", device->copy_engines);
    haul_json_put_unsigned(json, "compute_major", device->compute_major);
    haul_json_put_unsigned(json, "compute_minor", device->compute_minor);
}

static void put_devices(haul_json *json, const haul_workload *workload,
                        const haul_analysis *analysis)
{
    haul_json_key(json, "devices");
    haul_json_open_array(json);
    for (size_t i = 0; i < analysis->device_count; i++) {
        const haul_workload_device_use *use = &analysis->devices[i];
        haul_json_open_object(json);
        if (use->device == HAUL_NONE) {
            haul_json_key(json, "id");
            haul_json_null(json);
        } else {
            put_device_figures(json, &workload->devices[use->device]);
        }
        put_totals(json, "copies", &use->copies, true);
        put_totals(json, "kernels", &use->kernels, false);
        put_totals(json, "memsets", &use->memsets, true);
        put_busy(json, &use->busy);
        haul_json_close_object(json);
    }
    haul_json_close_array(json);
}

static void put_decades(haul_json *json, const haul_copy_group *group)
{
    haul_json_key(json, "decades");
    haul_json_open_array(json);
    for (int k = 0; k < HAUL_DECADES; k++) {
        if (!group->decades[k].count)
            continue;
        haul_json_open_object(json);
        haul_json_put_unsigned(json, "least_bytes", haul_decade_least(k));
        haul_json_put_unsigned(json, "most_bytes", haul_decade_most(k));
        put_sized(json, &group->decades[k]);
        haul_json_close_object(json);
    }
    haul_json_close_array(json);
}

static void put_copies(haul_json *json, const haul_analysis *analysis)
{
    haul_json_key(json, "copies");
    haul_json_open_array(json);
    for (size_t i = 0; i < analysis->group_count; i++) {
        const haul_copy_group *group = &analysis->groups[i];
        const double busy_s = (double)group->busy_ns * 1e-9;
        haul_json_open_object(json);
        haul_json_put_string(json, "direction", haul_direction_text(group->direction));
        haul_json_put_string(json, "memory", haul_memory_text(group->memory));
        put_sized(json, &group->totals);
        haul_json_put_ns(json, "busy_s", group->busy_ns);
        haul_json_put_ns(json, "shortest_s", group->shortest_ns);
        haul_json_put_ns(json, "longest_s", group->longest_ns);
        haul_json_put_number(json, "latency_s", group->latency_s);
        haul_json_put_number(json, "rate_Bps", haul_share_of((double)group->totals.bytes, busy_s));
        haul_json_put_number(json, "median_Bps", group->median_Bps);
        haul_json_put_number(json, "best_Bps", group->best_Bps);
        put_decades(json, group);
        haul_json_close_object(json);
    }
    haul_json_close_array(json);
}

void haul_analysis_put_cost(haul_json *json, const haul_workload *workload,
                            const haul_cost_row *row)
{
    haul_json_put_string(json, "kind", haul_op_kind_text((haul_op_kind)row->kind));
    if (row->kind == HAUL_OP_KERNEL) {
        haul_json_put_string(json, "name", haul_workload_string(workload, row->name));
    } else if (row->kind == HAUL_OP_COPY) {
        haul_json_put_string(json, "direction", haul_direction_text(row->direction));
        haul_json_put_string(json, "memory", haul_memory_text(row->memory));
    }
}

static void put_largest(haul_json *json, const haul_workload *workload,
                        const haul_analysis *analysis)
{
    haul_json_key(json, "largest");
    haul_json_open_array(json);
    for (size_t i = 0; i < analysis->largest_count; i++) {
        const haul_cost_row *row = &analysis->largest[i];
        haul_json_open_object(json);
        haul_analysis_put_cost(json, workload, row);
        if (row->kind != HAUL_OP_KERNEL)
            haul_json_put_unsigned(json, "bytes_each", row->bytes);
        haul_json_put_unsigned(json, "count", row->count);
        haul_json_put_ns(json, "time_s", row->time_ns);
        haul_json_put_ns(json, "shortest_s", row->shortest_ns);
        haul_json_close_object(json);
    }
    haul_json_close_array(json);
}

static void put_host(haul_json *json, const haul_workload *workload, const haul_analysis *analysis)
{
    const haul_host_use *host = &analysis->host;
    haul_json_key(json, "host");
    haul_json_open_object(json);
    haul_json_put_unsigned(json, "threads", host->threads);
    haul_json_put_unsigned(json, "calls", workload->counts.calls);
    haul_json_put_ns(json, "call_s", host->call_ns);
    haul_json_put_ns(json, "copy_call_s", host->copy_call_ns);
    haul_json_put_ns(json, "launch_call_s", host->launch_call_ns);
    haul_json_put_ns(json, "wait_s", host->wait_ns);
    haul_json_key(json, "syncs");
    haul_json_open_object(json);
    for (int i = 0; i < HAUL_SYNC_KINDS; i++)
        put_totals(json, sync_names[i], &analysis->syncs[i], false);
    haul_json_close_object(json);
    haul_json_close_object(json);
}

static void put_notes(haul_json *json, const haul_workload *workload)
{
    haul_json_key(json, "missing");
    haul_json_open_array(json);
    for (size_t i = 0; i < workload->missing_count; i++)
        haul_json_string(json, workload->missing[i].text);
    haul_json_close_array(json);
    haul_json_key(json, "repairs");
    haul_json_open_array(json);
    for (size_t i = 0; i < workload->repair_count; i++) {
        haul_json_open_object(json);
        haul_json_put_string(json, "text", workload->repairs[i].text);
        haul_json_put_unsigned(json, "count", workload->repairs[i].count);
        haul_json_close_object(json);
    }
    haul_json_close_array(json);
}

bool haul_analysis_json(const haul_workload *workload, const haul_analysis *analysis, FILE *out)
{
    haul_json json = haul_json_begin(out);
    haul_json_open_object(&json);
    haul_json_put_string(&json, "report", "analysis");
    haul_json_put_unsigned(&json, "schema", 1);
    haul_json_put_string(&json, "source", workload->source);
    haul_json_put_string(&json, "format", workload->format);
    haul_json_put_unsigned(&json, "streams", workload->stream_count);
    haul_json_put_unsigned(&json, "operations", workload->counts.device_ops);
    haul_json_put_unsigned(&json, "orphans", workload->counts.orphans);
    haul_json_put_ns(&json, "span_s", analysis->span_ns);
    put_busy(&json, &analysis->busy);
    haul_json_put_ns(&json, "idle_s", analysis->idle_ns);
    haul_json_put_number(&json, "overlap_share", analysis->overlap_share);
    haul_json_put_number(&json, "copy_share", analysis->copy_share);
    haul_json_put_number(&json, "latency_share", analysis->latency_share);
    put_copies(&json, analysis);
    put_totals(&json, "kernels", &analysis->kernels, false);
    put_totals(&json, "memsets", &analysis->memsets, true);
    put_devices(&json, workload, analysis);
    put_largest(&json, workload, analysis);
    put_host(&json, workload, analysis);
    put_notes(&json, workload);
    haul_json_close_object(&json);
    return haul_json_end(&json);
}

bool haul_analysis_csv(const haul_analysis *analysis, FILE *out)
{
    static const char *const heads[] = {"direction", "memory", "least_bytes", "most_bytes",
                                        "count",     "bytes",  "time_s"};
    haul_table table;
    haul_table_begin(&table, heads, 7);
    for (size_t i = 0; i < analysis->group_count; i++)
        for (int k = 0; k < HAUL_DECADES; k++) {
            const haul_copy_group *group = &analysis->groups[i];
            const haul_totals *decade = &group->decades[k];
            if (!decade->count)
                continue;
            haul_table_cell(&table, "%s", haul_direction_text(group->direction));
            haul_table_cell(&table, "%s", haul_memory_text(group->memory));
            haul_table_cell(&table, "%" PRIu64, haul_decade_least(k));
            haul_table_cell(&table, "%" PRIu64, haul_decade_most(k));
            haul_table_cell(&table, "%" PRIu64, decade->count);
            haul_table_cell(&table, "%" PRIu64, decade->bytes);
            haul_table_cell(&table, "%" PRId64 ".%09" PRId64, decade->time_ns / 1000000000,
                            decade->time_ns % 1000000000);
        }
    const bool written = haul_table_print_csv(&table, out);
    haul_table_release(&table);
    return written;
}
