/* The whole run in a projection's JSON. */
#include "report/report_projection.h"
#include "report/shared_parts.h"

static void haul_analysis_put_cost(haul_json *json, const haul_workload *workload,
                                   const haul_cost_row *row)
{
    haul_json_put_string(json, "kind", haul_op_kind_text(row->kind));
    if (row->kind == HAUL_OP_KERNEL) {
        haul_json_put_string(json, "name", haul_workload_string(workload, row->name));
    } else if (row->kind == HAUL_OP_COPY) {
        haul_json_put_string(json, "direction", haul_direction_text(row->direction));
        haul_json_put_string(json, "memory", haul_memory_text(row->memory));
    }
}

static void put_breakdown(haul_json *json, const char *key, const haul_breakdown *run)
{
    haul_json_key(json, key);
    haul_json_open_object(json);
    haul_json_put_ns(json, "makespan_s", run->makespan_ns);
    haul_json_put_ns(json, "kernels_alone_s", run->kernels_ns);
    haul_json_put_ns(json, "copies_hidden_s", run->hidden_ns);
    haul_json_put_ns(json, "copies_both_ways_s", run->both_ways_ns);
    haul_json_put_ns(json, "copies_exposed_s", run->exposed_ns);
    haul_json_put_ns(json, "host_alone_s", run->idle_ns);
    haul_json_close_object(json);
}

static void put_largest(haul_json *json, const haul_projection_page *page)
{
    const haul_critical_path *path = &page->projection->critical;
    haul_json_key(json, "largest");
    haul_json_open_array(json);
    for (size_t i = 0; i < path->largest_count; i++) {
        haul_json_open_object(json);
        haul_analysis_put_cost(json, page->workload, &path->largest[i]);
        haul_json_put_unsigned(json, "count", path->largest[i].count);
        haul_json_put_ns(json, "time_s", path->largest[i].time_ns);
        haul_json_close_object(json);
    }
    haul_json_close_array(json);
}

static void put_path(haul_json *json, const haul_projection_page *page)
{
    const haul_critical_path *path = &page->projection->critical;
    haul_json_key(json, "critical_path");
    haul_json_open_object(json);
    haul_json_key(json, "copies_s");
    haul_json_open_object(json);
    for (int d = 0; d < HAUL_DIRECTIONS; d++)
        haul_json_put_ns(json, haul_direction_text((haul_direction)d), path->copies_ns[d]);
    haul_json_close_object(json);
    haul_json_put_ns(json, "kernels_s", path->kernels_ns);
    haul_json_put_ns(json, "memsets_s", path->memsets_ns);
    haul_json_put_ns(json, "host_s", path->host_ns);
    put_largest(json, page);
    haul_json_close_object(json);
}

static void put_replay(haul_json *json, const haul_replay *replay)
{
    haul_json_key(json, "identity");
    haul_json_open_object(json);
    haul_json_put_ns(json, "makespan_s", replay->replayed_ns);
    haul_json_put_number(json, "error", replay->error);
    haul_json_put_number(json, "start_median_s", 1e-9 * replay->start_median_ns);
    haul_json_put_number(json, "start_p90_s", 1e-9 * replay->start_p90_ns);
    haul_json_put_number(json, "start_worst_s", 1e-9 * replay->start_worst_ns);
    haul_json_put_unsigned(json, "operations", replay->ops);
    haul_json_put_unsigned(json, "uncalled", replay->unissued);
    haul_json_close_object(json);
}

static void put_room(haul_json *json, const haul_occupancy *room)
{
    haul_json_key(json, "room");
    haul_json_open_object(json);
    haul_json_put_unsigned(json, "multiprocessors", room->multiprocessors);
    haul_json_put_unsigned(json, "blocks", room->blocks);
    haul_json_put_unsigned(json, "threads", room->threads);
    haul_json_put_unsigned(json, "registers", room->registers);
    haul_json_put_unsigned(json, "shared_bytes", room->shared_bytes);
    haul_json_close_object(json);
}

static void put_device(haul_json *json, const haul_timeline_device *device)
{
    haul_json_key(json, "device");
    haul_json_open_object(json);
    haul_json_put_unsigned(json, "copy_engines", device->copy_engines);
    haul_json_put_unsigned(json, "kernels", device->kernels);
    put_room(json, &device->occupancy);
    haul_json_put_bool(json, "implicit_sync", device->implicit_sync);
    haul_json_put_unsigned(json, "queue_depth", device->queue_depth);
    haul_json_put_unsigned(json, "link_devices", device->link_devices);
    haul_json_put_bool(json, "staging", device->staging);
    haul_json_put_unsigned(json, "migrations", device->migrations);
    haul_json_key(json, "busy_speed");
    haul_json_open_object(json);
    for (int d = HAUL_HTOD; d <= HAUL_DTOH; d++)
        haul_json_put_number(json, haul_direction_text((haul_direction)d), device->busy_speed[d]);
    haul_json_close_object(json);
    haul_json_close_object(json);
}

void haul_projection_put_run(haul_json *json, const haul_projection_page *page)
{
    const haul_projection *projection = page->projection;
    haul_json_key(json, "run");
    haul_json_open_object(json);
    if (projection->run_missing) {
        haul_json_put_string(json, "missing", projection->run_missing);
    } else {
        haul_json_put_string(json, "calls",
                             projection->release == HAUL_RELEASE_HOST ? "simulated" : "recorded");
        put_breakdown(json, "recorded", &projection->recorded_run);
        put_breakdown(json, "target", &projection->target_run);
        if (page->options->reference)
            put_breakdown(json, "truth", &projection->reference_run);
        haul_json_key(json, "interval_s");
        haul_json_open_array(json);
        haul_json_number(json, 1e-9 * (double)projection->low_ns);
        haul_json_number(json, 1e-9 * (double)projection->high_ns);
        haul_json_close_array(json);
        put_path(json, page);
        put_replay(json, &projection->replay);
        put_device(json, &projection->device);
    }
    haul_json_close_object(json);
}
