/* A simulated workload: its timeline, what it waits for, and each operation.
 *
 * A schedule may have ten million operations: the answer and the drawing show the whole, and the
 * rows of the operations are made one by one while they are written. */
#include <stdlib.h>
#include <string.h>

#include "base/numerals.h"
#include "cost/usual.h"
#include "haul/breakdown.h"
#include "haul/report.h"
#include "report/timeline_text.h"
#include "report/wording.h"

enum { OPS_SHOWN = 40, PATH_SHOWN = 16, NAME_WIDTH = 40, NAME_BYTES = 4 * NAME_WIDTH + 8 };

static const char *const waited_words[] = {
    [HAUL_SIMULATION_WAITED_NOTHING] = "nothing",   [HAUL_SIMULATION_WAITED_CALL] = "call",
    [HAUL_SIMULATION_WAITED_STREAM] = "stream",     [HAUL_SIMULATION_WAITED_AFTER] = "after",
    [HAUL_SIMULATION_WAITED_RESOURCE] = "resource",
};

/* An operation's name in `text` of NAME_BYTES. */
static const char *name_of(const haul_simulation *self, uint32_t op, char *text)
{
    char number[24];
    const char *name = haul_schedule_op(self->schedule, op, number, sizeof number);
    return hl_report_shorten_name(name, NAME_WIDTH, text, NAME_BYTES);
}

/* The machine does not say how copies of both directions share the link. */
static bool assumes_contention(const haul_simulation *self)
{
    return self->assumed_busy[HAUL_DIRECTION_HTOD] || self->assumed_busy[HAUL_DIRECTION_DTOH];
}

/* The path's operations in order; of a long one its beginning and its end. */
static void say_critical_path(haul_report *report, const haul_simulation *self,
                              const haul_breakdown *run)
{
    const haul_timeline *timeline = self->timeline;
    char text[PATH_SHOWN * (NAME_BYTES + 2) + 32] = "";
    size_t used = 0;
    for (size_t i = 0; i < timeline->critical_count; i++) {
        char name[NAME_BYTES];
        /* The middle is skipped: the beginning and the end say how the run starts and what it ends
         * with. */
        const bool is_left_out = timeline->critical_count > PATH_SHOWN && i == PATH_SHOWN / 2;
        if (is_left_out)
            i = timeline->critical_count - PATH_SHOWN / 2;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", i ? "," : "",
                                 is_left_out ? " ...," : "",
                                 name_of(self, timeline->critical[i], name));
    }

    /* before the devices' first operation and behind their last */
    const int64_t host_ns = timeline->whole_ns - timeline->makespan_ns;
    haul_report_line(report, "critical path", "%s, %s of the time:%s%s%s%s",
                     hl_report_say_number_of(timeline->critical_count, "operation", NULL).text,
                     hl_report_say_share_ns(timeline->critical_ns, run->makespan_ns).text, text,
                     host_ns > 0 ? "; and " : "",
                     host_ns > 0 ? hl_report_say_time(host_ns).text : "",
                     host_ns > 0 ? " of the host alone" : "");
}

/* The time, the workload, what decides the time, and on what its interval rests. */
static void say_answer(haul_report *report, const haul_simulation *self, const haul_breakdown *run)
{
    const haul_schedule *schedule = self->schedule;
    const haul_workload *workload = schedule->workload;
    char range[100] = "", copies[200] = "", kernels[100] = "", messages[100] = "";
    /* Without a provenance nothing was predicted, so there is no interval. */
    if (self->weakest)
        (void)snprintf(
            range, sizeof range, " (%s)",
            hl_report_say_interval(1e-9 * (double)self->low_ns, 1e-9 * (double)self->high_ns).text);
    haul_report_say(report, "%.300s takes %s%s on %.100s",
                    schedule->name ? schedule->name : workload->source,
                    hl_report_say_time(run->makespan_ns).text, range, self->machine->name);
    /* devices of a stream: a machine has more than a schedule uses */
    uint64_t devices = 0;
    /* Without memory the number is 0, and the report still holds. */
    bool *met = calloc(workload->device_count + 1, sizeof *met);
    for (size_t s = 0; met && s < workload->stream_count; s++) {
        bool *is_met = &met[workload->streams[s].device];
        devices += !*is_met;
        *is_met = true;
    }
    free(met);
    /* Summaries come from files and may be of any length. */
    haul_report_line(report, "workload", "%s on %s of %s%s%.600s",
                     hl_report_say_number_of(workload->op_count, "operation", NULL).text,
                     hl_report_say_number_of(workload->stream_count, "stream", NULL).text,
                     hl_report_say_number_of(devices, "device", NULL).text,
                     schedule->summary ? ": " : "", schedule->summary ? schedule->summary : "");
    say_critical_path(report, self, run);
    if (self->predicted_copies)
        (void)snprintf(copies, sizeof copies, "%s predicted by %.60s",
                       hl_report_say_number_of(self->predicted_copies, "copy", "copies").text,
                       /* Copies may differ in model where a machine lacks parameters for some of
                        * them. */
                       self->model ? self->model : "several models");
    if (self->predicted_kernels)
        (void)snprintf(kernels, sizeof kernels, "%s by kernel files",
                       hl_report_say_number_of(self->predicted_kernels, "kernel", NULL).text);
    if (self->predicted_messages)
        (void)snprintf(messages, sizeof messages, "%s%s as fitted", *copies || *kernels ? ", " : "",
                       hl_report_say_number_of(self->predicted_messages, "message", NULL).text);
    if (*copies || *kernels || *messages)
        haul_report_line(report, "uncertainty", "%s%s%s%s; the weakest parameter is %s", copies,
                         *copies && *kernels ? ", " : "", kernels, messages,
                         haul_provenance_text(self->weakest));
    if (assumes_contention(self))
        haul_report_line(report, "assumed",
                         "copies keep %.0f %% of their rate while the other direction is busy, as "
                         "on other machines: '%.100s' does not say",
                         100 * hl_cost_usual_busy.median, self->machine->name);
}

/* The keys of JSON; people read the same in the answer. */
static void add_head(haul_report *report, const haul_simulation *self, const haul_breakdown *run)
{
    static const haul_column head[] = {
        {"workload", .unit = HAUL_UNIT_TEXT},
        {"source", .unit = HAUL_UNIT_TEXT},
        {"machine", .unit = HAUL_UNIT_TEXT},
        {"makespan_s", .unit = HAUL_UNIT_TIME},
        {"interval_s", .unit = HAUL_UNIT_INTERVAL},
        {"predicted_copies", .unit = HAUL_UNIT_COUNT},
        {"predicted_kernels", .unit = HAUL_UNIT_COUNT},
        {"model", .unit = HAUL_UNIT_TEXT},
        {"provenance", .unit = HAUL_UNIT_TEXT},
        {"kernels_alone_s", .unit = HAUL_UNIT_TIME},
        {"copies_hidden_s", .unit = HAUL_UNIT_TIME},
        {"copies_both_ways_s", .unit = HAUL_UNIT_TIME},
        {"copies_exposed_s", .unit = HAUL_UNIT_TIME},
        {"idle_s", .unit = HAUL_UNIT_TIME},
        {0},
    };
    static const haul_column assumed[] = {{"", .unit = HAUL_UNIT_TEXT}, {0}};
    haul_report_object(
        report, NULL, head,
        HAUL_CELLS(haul_cell_text(self->schedule->name),
                   haul_cell_text(self->schedule->workload->source),
                   haul_cell_text(self->machine->name), haul_cell_time(run->makespan_ns),
                   haul_cell_interval(1e-9 * (double)self->low_ns, 1e-9 * (double)self->high_ns),
                   haul_cell_count(self->predicted_copies),
                   haul_cell_count(self->predicted_kernels), haul_cell_text(self->model),
                   haul_cell_text(self->weakest ? haul_provenance_text(self->weakest) : NULL),
                   haul_cell_time(run->kernels_ns), haul_cell_time(run->hidden_ns),
                   haul_cell_time(run->both_ways_ns), haul_cell_time(run->exposed_ns),
                   haul_cell_time(run->idle_ns)));
    haul_table *list = haul_report_list(report, "assumed", assumed);
    if (assumes_contention(self))
        haul_table_row(list, HAUL_CELLS(haul_cell_text("busy_rate")));
}

/* The parts add up to the makespan. */
static void add_breakdown(haul_report *report, const haul_breakdown *run)
{
    static const haul_column columns[] = {{NULL, HAUL_UNIT_TEXT, .head = "Where the time goes"},
                                          {NULL, HAUL_UNIT_TIME, .head = "time"},
                                          {NULL, HAUL_UNIT_SHARE, .head = "share"},
                                          {0}};
    const struct {
        const char *name;
        int64_t ns;
    } parts[] = {
        {"kernels, no copy", run->kernels_ns},   {"copies hidden by kernels", run->hidden_ns},
        {"copies both ways", run->both_ways_ns}, {"copies exposed", run->exposed_ns},
        {"nothing on a device", run->idle_ns},
    };
    haul_table *table = haul_report_table(report, NULL, columns);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        haul_table_row(
            table, HAUL_CELLS(haul_cell_text(parts[i].name), haul_cell_time(parts[i].ns),
                              haul_cell_number(hl_report_share_ns(parts[i].ns, run->makespan_ns))));
}

/* Where there are engines for both directions, "copies" are those to the device. */
static void add_resources(haul_report *report, const haul_simulation *self,
                          const haul_breakdown *run)
{
    static const haul_column columns[] = {
        {"resource", HAUL_UNIT_TEXT, .head = "Resource"},
        {"device", HAUL_UNIT_ID, .head = "device"},
        {"operations", HAUL_UNIT_COUNT, .head = "operations"},
        {"busy_s", HAUL_UNIT_TIME, .head = "busy"},
        {NULL, HAUL_UNIT_SHARE, .head = "share"},
        {"idle_s", HAUL_UNIT_TIME, .head = "idle"},
        {0},
    };
    haul_table *table = haul_report_table(report, "resources", columns);
    for (size_t i = 0; i < self->timeline->resource_count; i++) {
        const haul_resource *resource = &self->timeline->resources[i];
        const bool is_one_way =
            resource->kind == HAUL_RESOURCE_ENGINE && self->device.copy_engines > 1;
        const char *name = is_one_way ? haul_direction_text(HAUL_DIRECTION_HTOD)
                           : resource->kind == HAUL_RESOURCE_NOWHERE
                               ? "no resource"
                               : haul_resource_text(resource->kind);
        haul_table_row(
            table,
            HAUL_CELLS(haul_cell_text(name),
                       haul_cell_count(self->schedule->workload->devices[resource->device].id),
                       haul_cell_count(resource->ops), haul_cell_time(resource->busy_ns),
                       haul_cell_number(hl_report_share_ns(resource->busy_ns, run->makespan_ns)),
                       haul_cell_time(run->makespan_ns - resource->busy_ns)));
    }
}

/* "engine: in 0" */
static void say_waited(const haul_simulation *self, uint32_t op, haul_waited waited, uint32_t cause,
                       char *text, size_t size)
{
    const bool is_kernel = self->schedule->workload->ops[op].kind == HAUL_OP_KERNEL;
    const char *const hows[] = {
        [HAUL_SIMULATION_WAITED_CALL] = "its call, after ",
        [HAUL_SIMULATION_WAITED_STREAM] = "",
        [HAUL_SIMULATION_WAITED_AFTER] = "",
        /* A kernel waits for free multiprocessors, a copy for its engine. */
        [HAUL_SIMULATION_WAITED_RESOURCE] = is_kernel ? "occupancy, by " : "engine, by ",
    };
    char name[NAME_BYTES];
    if (waited == HAUL_SIMULATION_WAITED_NOTHING)
        (void)snprintf(text, size, "-");
    else
        (void)snprintf(text, size, "%s%s%s", hows[waited], name_of(self, cause, name),
                       waited == HAUL_SIMULATION_WAITED_STREAM ? " on its stream" : "");
}

/* Schedules have up to ten million operations: rows are made as they are written. */
static void make_operation(haul_table *table, const void *state, size_t row)
{
    const haul_simulation *self = state;
    const haul_workload *workload = self->schedule->workload;
    const uint32_t i = (uint32_t)row;
    const haul_op *op = &workload->ops[i];
    const haul_span span = self->timeline->ops[i];
    const haul_workload_stream *stream =
        haul_op_on_device(op) ? &workload->streams[op->stream] : NULL;
    /* Every operation was issued by some thread of the schedule. */
    const char *thread = workload->threads[op->thread].name;
    uint32_t cause = HAUL_NONE;
    const haul_waited waited = haul_simulation_waited(self, i, &cause);
    char name[NAME_BYTES], behind[2 * NAME_BYTES];
    say_waited(self, i, waited, cause, behind, sizeof behind);
    const char *kind = haul_op_kind_text((haul_op_kind)op->kind);
    if (op->kind == HAUL_OP_COPY)
        kind = haul_direction_text((haul_direction)op->direction);
    else if (op->kind == HAUL_OP_MESSAGE)
        kind = op->direction == HAUL_MESSAGE_SENT ? "send" : "receive";
    else if (op->kind == HAUL_OP_CALL)
        kind = "host";
    /* Numbered from 1 in every report and in the trace. */
    haul_table_row(
        table,
        HAUL_CELLS(
            haul_cell_count((uint64_t)i + 1), haul_cell_text(name_of(self, i, name)),
            haul_cell_text(op->name == HAUL_NONE ? NULL : haul_workload_string(workload, op->name)),
            haul_cell_text(kind), haul_cell_text(stream ? stream->name : thread),
            haul_cell_count(stream ? workload->devices[stream->device].id : HAUL_NO_COUNT),
            haul_cell_text(stream ? stream->name : NULL), haul_cell_text(thread),
            haul_cell_count(haul_op_has_bytes(op) && op->bytes ? op->bytes : HAUL_NO_COUNT),
            haul_cell_time(span.start_ns), haul_cell_time(span.end_ns),
            haul_cell_time(span.end_ns - span.start_ns), haul_cell_text(waited_words[waited]),
            haul_cell_count(cause == HAUL_NONE ? HAUL_NO_COUNT : (uint64_t)cause + 1),
            haul_cell_text(behind)));
}

/* The first rows for people; CSV has all. */
static void add_operations(haul_report *report, const haul_simulation *self)
{
    static const haul_column columns[] = {
        {"operation", .unit = HAUL_UNIT_ID},
        {NULL, HAUL_UNIT_TEXT, .head = "Operation"},
        {"name", .unit = HAUL_UNIT_TEXT},
        {"op", HAUL_UNIT_TEXT, .head = ""},
        {NULL, HAUL_UNIT_TEXT, .head = "stream"},
        {"device", HAUL_UNIT_ID, .optional = true},
        {"stream", HAUL_UNIT_TEXT, .optional = true},
        {"thread", .unit = HAUL_UNIT_TEXT},
        {"bytes", HAUL_UNIT_BYTES, .head = "bytes", .optional = true},
        {"start_s", HAUL_UNIT_TIME, .head = "start"},
        {"end_s", HAUL_UNIT_TIME, .head = "end"},
        {NULL, HAUL_UNIT_TIME, .head = "takes"},
        {"waited", .unit = HAUL_UNIT_TEXT},
        {"waited_for", HAUL_UNIT_ID, .optional = true},
        {NULL, HAUL_UNIT_TEXT, .head = "waits for"},
        {0},
    };
    haul_table *table = haul_report_table(report, "operations", columns);
    /* Made row by row while they are written; people see the first 40. */
    haul_table_rows(table, self->schedule->workload->op_count, make_operation, self);
    haul_table_limit(table, OPS_SHOWN);
    haul_table_csv(table);
}

/* A drawing needs a terminal's width: 0 leaves it out. */
haul_report *haul_report_simulation(const haul_simulation *simulation, unsigned width)
{
    static const haul_column sum[] = {{"critical_s", .unit = HAUL_UNIT_TIME}, {0}};
    static const haul_column number[] = {{"", .unit = HAUL_UNIT_ID}, {0}};
    HL_PLAIN_NUMERALS;
    const haul_workload *workload = simulation->schedule->workload;
    const haul_timeline *timeline = simulation->timeline;
    haul_breakdown run;
    /* The only cause of failure is a lack of memory, which NULL stands for. */
    if (haul_breakdown_make(workload, timeline->ops, &run, NULL))
        return NULL;
    /* A schedule's time is that of all of it: what the host does before the devices' first
     * operation and behind their last is time with nothing on a device. */
    const int64_t around_ns = timeline->whole_ns - run.makespan_ns;
    run.makespan_ns += around_ns;
    run.idle_ns += around_ns;
    haul_report *report = haul_report_new("simulation");
    say_answer(report, simulation, &run);

    add_head(report, simulation, &run);
    if (width) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        const bool is_drawn = out && hl_report_timeline_draw(workload, timeline->ops, width, out);
        /* The text is complete only once the stream is closed. */
        const bool is_kept = out && !fclose(out) && text;
        haul_report_drawing(report, is_drawn && is_kept ? text : NULL);
        free(text);
    }
    haul_report_section(report, "simulation", "The whole run");
    add_breakdown(report, &run);
    add_resources(report, simulation, &run);
    haul_report_object(report, NULL, sum, HAUL_CELLS(haul_cell_time(timeline->critical_ns)));
    haul_table *path = haul_report_list(report, "critical_path", number);
    for (size_t i = 0; i < timeline->critical_count; i++)
        haul_table_row(path, HAUL_CELLS(haul_cell_count((uint64_t)timeline->critical[i] + 1)));
    add_operations(report, simulation);
    return report;
}
