/* A simulated workload: its timeline, what it waits for, and each operation. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "haul/breakdown.h"
#include "report/report_fields.h"
#include "report/report_simulation.h"
#include "report/timeline_text.h"
#include "report/wording.h"

enum { OPS_SHOWN = 40, PATH_SHOWN = 16, NAME_WIDTH = 40 };

typedef struct simulation_page {
    const haul_simulation *simulation;
    const haul_workload *workload;
    haul_breakdown run;
    FILE *out;
} simulation_page;

static const char *const waited_words[] = {
    [HAUL_WAITED_NOTHING] = "nothing",   [HAUL_WAITED_CALL] = "call",
    [HAUL_WAITED_STREAM] = "stream",     [HAUL_WAITED_AFTER] = "after",
    [HAUL_WAITED_RESOURCE] = "resource",
};

static const char *kind_of(const haul_op *op)
{
    if (op->kind == HAUL_OP_COPY)
        return haul_direction_text((haul_direction)op->direction);
    return op->kind == HAUL_OP_CALL ? "host" : haul_op_kind_text((haul_op_kind)op->kind);
}

static const char *name_of(const simulation_page *page, uint32_t op, char *buffer, size_t size)
{
    return haul_schedule_op(page->simulation->schedule, op, buffer, size);
}

static const char *stream_of(const simulation_page *page, const haul_op *op)
{
    return haul_op_on_device(op) ? page->workload->streams[op->stream].name
                                 : page->workload->threads[op->thread].name;
}

static haul_words share_of(const simulation_page *page, int64_t part_ns)
{
    return haul_say_share(haul_share_of((double)part_ns, (double)page->run.makespan_ns));
}

/* --- the page */

static haul_status finish_part(const simulation_page *page, haul_table *table, haul_error *error)
{
    return haul_report_finish(table, HAUL_TABLE, page->out, error);
}

/* The devices that some stream is of: a workload names the last of them. */
static uint64_t count_devices(const haul_workload *workload)
{
    uint64_t count = 0;
    bool *met = calloc(workload->device_count + 1, sizeof *met);
    for (size_t s = 0; met && s < workload->stream_count; s++) {
        bool *is_met = &met[workload->streams[s].device];
        count += !*is_met;
        *is_met = true;
    }
    free(met);
    return count;
}

static bool assumes_company(const haul_simulation *simulation)
{
    return simulation->assumed_busy[HAUL_HTOD] || simulation->assumed_busy[HAUL_DTOH];
}

/* "8 copies' times, 1 kernel's time and what is assumed" */
static void print_doubts(const haul_simulation *simulation, FILE *out)
{
    const uint64_t copies = simulation->priced, kernels = simulation->priced_kernels;
    const bool company = assumes_company(simulation);
    if (copies)
        fputs(haul_say_number_of(copies, "copy's time", "copies' times").text, out);
    if (copies && kernels)
        fputs(company ? ", " : " and ", out);
    if (kernels)
        fputs(haul_say_number_of(kernels, "kernel's time", "kernels' times").text, out);
    if (company)
        fprintf(out, "%swhat is assumed", copies || kernels ? " and " : "");
    fputc('\n', out);
}

/* How sure the makespan is, and on what its prices rest. */
static void print_prices(const haul_simulation *simulation, FILE *out)
{
    const uint64_t copies = simulation->priced, kernels = simulation->priced_kernels;
    if (!simulation->weakest) {
        fputc('\n', out);
        return;
    }
    const double low_s = 1e-9 * (double)simulation->low_ns;
    const double high_s = 1e-9 * (double)simulation->high_ns;
    const char *model = copies ? "several models" : "kernel files";
    fprintf(out, ", %s by the doubt about ", haul_say_interval(low_s, high_s).text);
    print_doubts(simulation, out);
    if (copies || kernels)
        fprintf(out, "priced    by %s%s; the weakest figure is %s\n",
                simulation->model ? simulation->model : model,
                copies && kernels ? " and kernel files" : "",
                haul_provenance_text(simulation->weakest));
    if (assumes_company(simulation))
        fputs("assumed   copies that meet copies go at 86 % of their rate, as on other machines\n",
              out);
}

static void print_head(const simulation_page *page)
{
    const haul_simulation *simulation = page->simulation;
    const haul_schedule *schedule = simulation->schedule;
    const haul_machine *machine = simulation->machine;
    const haul_workload *workload = page->workload;
    FILE *out = page->out;
    fprintf(out, "workload  %s%s%s\n", schedule->name ? schedule->name : workload->source,
            schedule->summary ? ": " : "", schedule->summary ? schedule->summary : "");
    fprintf(out, "          %s on %s of %s\n",
            haul_say_number_of(workload->op_count, "operation", NULL).text,
            haul_say_number_of(workload->stream_count, "stream", NULL).text,
            haul_say_number_of(count_devices(workload), "device", NULL).text);
    fprintf(out, "machine   %s%s%s\n", machine->name, machine->summary ? ": " : "",
            machine->summary ? machine->summary : "");
    fprintf(out, "makespan  %s", haul_say_time(page->run.makespan_ns).text);
    print_prices(simulation, out);
    fputc('\n', out);
}

static void fill_run(const simulation_page *page, haul_table *table)
{
    static const char *const heads[] = {"<Where it goes", "time", "share"};
    const haul_breakdown *run = &page->run;
    const struct {
        const char *name;
        int64_t ns;
    } parts[] = {
        {"kernels alone", run->kernels_ns},      {"copies behind kernels", run->hidden_ns},
        {"copies both ways", run->both_ways_ns}, {"copies alone", run->exposed_ns},
        {"nothing on a device", run->idle_ns},
    };
    haul_table_begin(table, heads, 3);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        haul_table_cell(table, "%s", parts[i].name);
        haul_table_cell(table, "%s", haul_say_time(parts[i].ns).text);
        haul_table_cell(table, "%s", share_of(page, parts[i].ns).text);
    }
}

/* Where there are engines for both directions, "copies" are one of them. */
static const char *resource_name(const simulation_page *page, const haul_resource *resource)
{
    if (resource->kind == HAUL_ENGINE && page->simulation->device.copy_engines > 1)
        return haul_direction_text(HAUL_HTOD);
    return resource->kind == HAUL_NOWHERE ? "no resource" : haul_resource_text(resource->kind);
}

static void fill_resources(const simulation_page *page, haul_table *table)
{
    static const char *const heads[] = {"<Resource", "device", "operations",
                                        "busy",      "share",  "idle"};
    const haul_timeline *timeline = page->simulation->timeline;
    haul_table_begin(table, heads, 6);
    for (size_t i = 0; i < timeline->resource_count; i++) {
        const haul_resource *resource = &timeline->resources[i];
        haul_table_cell(table, "%s", resource_name(page, resource));
        haul_table_cell(table, "%" PRIu64, page->workload->devices[resource->device].id);
        haul_table_cell(table, "%s", haul_say_count(resource->ops).text);
        haul_table_cell(table, "%s", haul_say_time(resource->busy_ns).text);
        haul_table_cell(table, "%s", share_of(page, resource->busy_ns).text);
        haul_table_cell(table, "%s", haul_say_time(resource->idle_ns).text);
    }
}

/* "Critical path, 12 operations, 97.1 % of the makespan: in 0, product 0, ..." */
static void print_path(const simulation_page *page)
{
    const haul_timeline *timeline = page->simulation->timeline;
    char text[PATH_SHOWN * 48 + 200];
    size_t used =
        (size_t)snprintf(text, sizeof text, "Critical path, %s, %s of the makespan:",
                         haul_say_number_of(timeline->critical_count, "operation", NULL).text,
                         share_of(page, timeline->critical_ns).text);
    for (size_t i = 0; i < timeline->critical_count; i++) {
        char buffer[24];
        const bool is_left_out = timeline->critical_count > PATH_SHOWN && i == PATH_SHOWN / 2;
        if (is_left_out)
            i = timeline->critical_count - PATH_SHOWN / 2;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %.40s", i ? "," : "",
                                 is_left_out ? " ...," : "",
                                 name_of(page, timeline->critical[i], buffer, sizeof buffer));
    }
    haul_print_wrapped("", text, page->out);
    fputc('\n', page->out);
}

/* What an operation started behind. */
static void put_waited(const simulation_page *page, haul_table *table, uint32_t op)
{
    static const char *const hows[] = {
        [HAUL_WAITED_CALL] = "called behind ",
        [HAUL_WAITED_STREAM] = "",
        [HAUL_WAITED_AFTER] = "",
        [HAUL_WAITED_RESOURCE] = "engine, held by ",
    };
    char buffer[24], name[4 * NAME_WIDTH + 8];
    uint32_t cause = HAUL_NONE;
    const haul_waited waited = haul_simulation_waited(page->simulation, op, &cause);
    if (waited == HAUL_WAITED_NOTHING) {
        haul_table_cell(table, "-");
        return;
    }
    const bool is_room =
        waited == HAUL_WAITED_RESOURCE && page->workload->ops[op].kind == HAUL_OP_KERNEL;
    haul_table_cell(table, "%s%s%s", is_room ? "room, held by " : hows[waited],
                    haul_shorten_name(name_of(page, cause, buffer, sizeof buffer), NAME_WIDTH, name,
                                      sizeof name),
                    waited == HAUL_WAITED_STREAM ? " on its stream" : "");
}

static void fill_ops(const simulation_page *page, haul_table *table)
{
    static const char *const heads[] = {"<Operation", "<",   "<stream", "bytes",
                                        "start",      "end", "takes",   "<behind"};
    const haul_workload *workload = page->workload;
    const size_t shown = workload->op_count > OPS_SHOWN ? OPS_SHOWN : workload->op_count;
    haul_table_begin(table, heads, 8);
    for (uint32_t i = 0; i < shown; i++) {
        const haul_op *op = &workload->ops[i];
        const haul_span span = page->simulation->timeline->ops[i];
        char buffer[24], name[4 * NAME_WIDTH + 8];
        haul_table_cell(table, "%s",
                        haul_shorten_name(name_of(page, i, buffer, sizeof buffer), NAME_WIDTH, name,
                                          sizeof name));
        haul_table_cell(table, "%s", kind_of(op));
        haul_table_cell(table, "%s", stream_of(page, op));
        haul_table_cell(table, "%s",
                        haul_op_has_bytes(op) && op->bytes ? haul_say_bytes(op->bytes).text : "");
        haul_table_cell(table, "%s", haul_say_time(span.start_ns).text);
        haul_table_cell(table, "%s", haul_say_time(span.end_ns).text);
        haul_table_cell(table, "%s", haul_say_time(span.end_ns - span.start_ns).text);
        put_waited(page, table, i);
    }
}

static haul_status print_ops(const simulation_page *page, haul_error *error)
{
    haul_table table;
    fill_ops(page, &table);
    const haul_status status = finish_part(page, &table, error);
    const size_t count = page->workload->op_count;
    if (!status && count > OPS_SHOWN)
        fprintf(page->out, "and %s more; --format csv has them all\n",
                haul_say_count(count - OPS_SHOWN).text);
    return status;
}

static haul_status print_page(const simulation_page *page, unsigned width, haul_error *error)
{
    print_head(page);
    if (!haul_timeline_draw(page->workload, page->simulation->timeline->ops, width, page->out))
        return haul_fail_no_memory(error);
    fputc('\n', page->out);
    haul_table table;
    fill_run(page, &table);
    haul_status status = finish_part(page, &table, error);
    fputc('\n', page->out);
    fill_resources(page, &table);
    if (status)
        haul_table_release(&table);
    else
        status = finish_part(page, &table, error);
    fputc('\n', page->out);
    print_path(page);
    return status ? status : print_ops(page, error);
}

/* --- CSV: a row an operation */

static void put_row(const simulation_page *page, haul_table *table, uint32_t i)
{
    const haul_workload *workload = page->workload;
    const haul_op *op = &workload->ops[i];
    const haul_span span = page->simulation->timeline->ops[i];
    uint32_t cause = HAUL_NONE;
    const haul_waited waited = haul_simulation_waited(page->simulation, i, &cause);
    haul_table_cell(table, "%" PRIu32, i + 1);
    haul_table_cell(table, "%s",
                    op->name == HAUL_NONE ? "" : haul_workload_string(workload, op->name));
    haul_table_cell(table, "%s", kind_of(op));
    if (haul_op_on_device(op)) {
        const haul_workload_stream *stream = &workload->streams[op->stream];
        haul_table_cell(table, "%" PRIu64, workload->devices[stream->device].id);
        haul_table_cell(table, "%s", stream->name);
    } else {
        haul_table_cell(table, "%s", "");
        haul_table_cell(table, "%s", "");
    }
    haul_table_cell(table, "%s", workload->threads[op->thread].name);
    haul_table_cell(table, "%" PRIu64, haul_op_has_bytes(op) ? op->bytes : 0);
    haul_table_cell(table, "%.9f", 1e-9 * (double)span.start_ns);
    haul_table_cell(table, "%.9f", 1e-9 * (double)span.end_ns);
    haul_table_cell(table, "%s", waited_words[waited]);
    if (cause == HAUL_NONE)
        haul_table_cell(table, "%s", "");
    else
        haul_table_cell(table, "%" PRIu32, cause + 1);
}

static haul_status print_csv(const simulation_page *page, haul_error *error)
{
    enum { ROWS_AT_ONCE = 4096 };
    static const char *const heads[] = {"operation", "name",   "op",    "device",
                                        "stream",    "thread", "bytes", "start_s",
                                        "end_s",     "waited", "behind"};
    haul_table table = {0};
    haul_table_begin(&table, heads, sizeof heads / sizeof *heads);
    for (uint32_t i = 0; i < page->workload->op_count && !table.failed; i++) {
        put_row(page, &table, i);
        if (i % ROWS_AT_ONCE == ROWS_AT_ONCE - 1)
            table.failed |= !haul_table_flush_csv(&table, page->out);
    }
    return haul_report_finish(&table, HAUL_CSV, page->out, error);
}

/* --- JSON */

static void put_head(haul_json *json, const simulation_page *page)
{
    const haul_simulation *simulation = page->simulation;
    const haul_workload *workload = page->workload;
    haul_json_put_string(json, "report", "simulation");
    haul_json_put_unsigned(json, "schema", HAUL_REPORT_SCHEMA);
    haul_json_put_string(json, "workload", simulation->schedule->name);
    haul_json_put_string(json, "source", workload->source);
    haul_json_put_string(json, "machine", simulation->machine->name);
    haul_json_put_ns(json, "makespan_s", page->run.makespan_ns);
    haul_json_key(json, "interval_s");
    haul_json_open_array(json);
    haul_json_number(json, 1e-9 * (double)simulation->low_ns);
    haul_json_number(json, 1e-9 * (double)simulation->high_ns);
    haul_json_close_array(json);
    haul_json_put_unsigned(json, "priced_copies", simulation->priced);
    haul_json_put_unsigned(json, "priced_kernels", simulation->priced_kernels);
    haul_json_put_string(json, "model", simulation->model);
    haul_json_put_string(json, "weakest",
                         simulation->weakest ? haul_provenance_text(simulation->weakest) : NULL);
    haul_json_key(json, "assumed");
    haul_json_open_array(json);
    if (assumes_company(simulation))
        haul_json_string(json, "busy_rate");
    haul_json_close_array(json);
    haul_json_put_ns(json, "kernels_alone_s", page->run.kernels_ns);
    haul_json_put_ns(json, "copies_hidden_s", page->run.hidden_ns);
    haul_json_put_ns(json, "copies_both_ways_s", page->run.both_ways_ns);
    haul_json_put_ns(json, "copies_exposed_s", page->run.exposed_ns);
    haul_json_put_ns(json, "idle_s", page->run.idle_ns);
}

static void put_resources(haul_json *json, const simulation_page *page)
{
    const haul_timeline *timeline = page->simulation->timeline;
    haul_json_key(json, "resources");
    haul_json_open_array(json);
    for (size_t i = 0; i < timeline->resource_count; i++) {
        const haul_resource *resource = &timeline->resources[i];
        haul_json_open_object(json);
        haul_json_put_string(json, "resource", resource_name(page, resource));
        haul_json_put_unsigned(json, "device", page->workload->devices[resource->device].id);
        haul_json_put_unsigned(json, "operations", resource->ops);
        haul_json_put_ns(json, "busy_s", resource->busy_ns);
        haul_json_put_ns(json, "idle_s", resource->idle_ns);
        haul_json_close_object(json);
    }
    haul_json_close_array(json);
}

static void put_path(haul_json *json, const simulation_page *page)
{
    const haul_timeline *timeline = page->simulation->timeline;
    haul_json_put_ns(json, "critical_s", timeline->critical_ns);
    haul_json_key(json, "critical_path");
    haul_json_open_array(json);
    for (size_t i = 0; i < timeline->critical_count; i++)
        haul_json_unsigned(json, timeline->critical[i] + 1);
    haul_json_close_array(json);
}

static void put_op(haul_json *json, const simulation_page *page, uint32_t i)
{
    const haul_workload *workload = page->workload;
    const haul_op *op = &workload->ops[i];
    const haul_span span = page->simulation->timeline->ops[i];
    uint32_t cause = HAUL_NONE;
    const haul_waited waited = haul_simulation_waited(page->simulation, i, &cause);
    haul_json_open_object(json);
    haul_json_put_unsigned(json, "operation", i + 1);
    haul_json_put_string(json, "name",
                         op->name == HAUL_NONE ? NULL : haul_workload_string(workload, op->name));
    haul_json_put_string(json, "op", kind_of(op));
    if (haul_op_on_device(op)) {
        const haul_workload_stream *stream = &workload->streams[op->stream];
        haul_json_put_unsigned(json, "device", workload->devices[stream->device].id);
        haul_json_put_string(json, "stream", stream->name);
    }
    haul_json_put_string(json, "thread", workload->threads[op->thread].name);
    if (haul_op_has_bytes(op) && op->bytes)
        haul_json_put_unsigned(json, "bytes", op->bytes);
    haul_json_put_ns(json, "start_s", span.start_ns);
    haul_json_put_ns(json, "end_s", span.end_ns);
    haul_json_put_string(json, "waited", waited_words[waited]);
    if (cause != HAUL_NONE)
        haul_json_put_unsigned(json, "behind", cause + 1);
    haul_json_close_object(json);
}

static haul_status print_json(const simulation_page *page, haul_error *error)
{
    haul_json json = haul_json_begin(page->out);
    haul_json_open_object(&json);
    put_head(&json, page);
    put_resources(&json, page);
    put_path(&json, page);
    haul_json_key(&json, "operations");
    haul_json_open_array(&json);
    for (uint32_t i = 0; i < page->workload->op_count; i++)
        put_op(&json, page, i);
    haul_json_close_array(&json);
    haul_json_close_object(&json);
    return haul_report_finish_json(&json, error);
}

static haul_status begin(const haul_simulation *simulation, FILE *out, simulation_page *page,
                         haul_error *error)
{
    *page = (simulation_page){
        .simulation = simulation, .workload = simulation->schedule->workload, .out = out};
    return haul_breakdown_make(page->workload, simulation->timeline->ops, &page->run, error);
}

bool haul_fill_simulation(haul_simulation_tables *tables, const haul_simulation *simulation)
{
    simulation_page page;
    if (begin(simulation, NULL, &page, NULL))
        return false;
    fill_run(&page, &tables->run);
    fill_resources(&page, &tables->resources);
    fill_ops(&page, &tables->first_operations);
    return true;
}

haul_status haul_report_simulation(const haul_simulation *simulation, unsigned width,
                                   haul_format format, FILE *out, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    simulation_page page;
    const haul_status status = begin(simulation, out, &page, error);
    if (status)
        return status;
    if (format == HAUL_JSON)
        return print_json(&page, error);
    return format == HAUL_CSV ? print_csv(&page, error) : print_page(&page, width, error);
}
