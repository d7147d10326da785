/* Rows of a trace. The format nests slices of one row that overlap, as calls nest, but operations
 * of a stream may overlap in any way: each row has lanes, and a slice goes to the first that is
 * free. Short slices that begin close together are one, which says how many it stands for. */
#include "report/perfetto_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/order.h"
#include "report/drawn.h"
#include "workload/op_class.h"

static bool is_recorded(const hl_report_perfetto_rows *self)
{
    return !self->drawn->spans;
}

static bool has_call(const haul_op *op)
{
    return (op->flags & HAUL_OP_HAS_CALL) != 0;
}

/* Where an operation begins for the host. */
static int64_t called_ns(const haul_op *op)
{
    return haul_op_on_host(op) || !has_call(op) ? op->start_ns : op->call_ns;
}

/* A damaged profile may hold times whose sum passes the largest: the end stays there. */
static haul_span add_dur(int64_t start_ns, int64_t dur_ns)
{
    const int64_t most_ns = INT64_MAX - start_ns;
    /* Recorded times start at 0 or later here, so that the subtraction cannot overflow. */
    return (haul_span){start_ns, start_ns + (dur_ns < most_ns ? dur_ns : most_ns)};
}

/* From the timeline's origin. */
static haul_span span_of(const hl_report_perfetto_rows *self, uint32_t i)
{
    const haul_op *op = &self->drawn->workload->ops[i];
    return is_recorded(self) ? add_dur(op->start_ns - self->origin_ns, op->dur_ns)
                             : self->drawn->spans[i];
}

static haul_span call_span_of(const hl_report_perfetto_rows *self, uint32_t i)
{
    const haul_op *op = &self->drawn->workload->ops[i];
    return add_dur(op->call_ns - self->origin_ns, op->call_dur_ns);
}

/* The row after the last stream is that of operations which name none; threads likewise. */
static hl_report_perfetto_row *stream_row(const hl_report_perfetto_rows *self, const haul_op *op)
{
    /* stream_count is one more than the workload's, for this row. */
    const uint32_t none = self->stream_count - 1;
    return &self->items[op->stream < none ? op->stream : none];
}

static hl_report_perfetto_row *thread_row(const hl_report_perfetto_rows *self, const haul_op *op)
{
    const uint32_t none = self->thread_count - 1;
    return &self->items[self->stream_count + (op->thread < none ? op->thread : none)];
}

/* Rows. */

static int name_actor(const char *what, const char *name, uint64_t id, char *text, size_t size)
{
    return name ? snprintf(text, size, "%.100s", name)
                : snprintf(text, size, "%s %" PRIu64, what, id);
}

static void name_thread(const hl_report_perfetto_rows *self, uint32_t row, uint32_t lane,
                        char *text, size_t size)
{
    const haul_workload *workload = self->drawn->workload;
    const bool of_ranges = row >= self->stream_count + self->thread_count;
    const uint32_t thread = row - self->stream_count - (of_ranges ? self->thread_count : 0);
    int length = 0;
    if (of_ranges) {
        length = snprintf(text, size, "ranges of ");
        text += length;
        size -= (size_t)length;
    }
    if (row < workload->stream_count)
        /* Recorders may name streams and threads; otherwise the number from the profile has to
         * do. */
        length = name_actor("stream", workload->streams[row].name, workload->streams[row].id, text,
                            size);
    else if (row >= self->stream_count && thread < workload->thread_count)
        length = name_actor("thread", workload->threads[thread].name, workload->threads[thread].id,
                            text, size);
    else
        length = snprintf(text, size, row < self->stream_count ? "no stream" : "no thread");
    /* Lanes beyond the first exist only where operations of a stream or calls of a thread
     * overlap. */
    if (lane)
        snprintf(text + length, size - (size_t)length, ", at once %" PRIu32, lane + 1);
}

static hl_report_track lane_place(const hl_report_perfetto_row *row, uint32_t lane)
{
    return (hl_report_track){row->at.pid, row->at.tid + lane};
}

/* Processes of the format are the host, then the devices, then that of streams without one. */
static void name_process(const hl_report_perfetto_rows *self, hl_report_track at, char *text,
                         size_t size)
{
    const haul_workload *workload = self->drawn->workload;
    const uint32_t rank = at.pid - self->first_pid;
    const char *label = self->drawn->label ? self->drawn->label : "", *colon = *label ? ": " : "";
    if (!rank || rank > workload->device_count) {
        snprintf(text, size, "%.100s%s%s", label, colon, rank ? "no device" : "host");
        return;
    }
    /* the device that recorded it is not the one of other times */
    const haul_workload_device *device = &workload->devices[rank - 1];
    const char *name = *label && !is_recorded(self) ? NULL : device->name;
    snprintf(text, size, "%.100s%sdevice %" PRIu64 "%s%.100s", label, colon, device->id,
             name ? " " : "", name ? name : "");
}

/* When it is first used, together with its process: a row without operations is not in the trace.
 */
static void name_lane(hl_report_perfetto_rows *self, hl_report_perfetto_row *row, uint32_t lane,
                      hl_report_drawing *drawing)
{
    char text[HL_REPORT_EVENT_NAME_BYTES / 4];
    const hl_report_track at = lane_place(row, lane);
    bool *pid_named = &self->pid_named[at.pid - self->first_pid];
    if (!*pid_named && drawing->out) {
        name_process(self, at, text, sizeof text);
        hl_report_perfetto_name(at, false, at.pid, text, drawing->out);
    }
    /* From above, whether it is written or only counted: both passes must come to the same
     * number. */
    drawing->bytes += *pid_named ? 0 : 2 * HL_REPORT_EVENT_NAME_BYTES;
    *pid_named = true;
    if (drawing->out) {
        name_thread(self, (uint32_t)(row - self->items), lane, text, sizeof text);
        hl_report_perfetto_name(at, true, at.tid, text, drawing->out);
    }
    drawing->bytes += 400;
    row->named = lane + 1;
}

/* Slices. */

/* In the first lane that is free; one beyond all lanes is left out and counted. */
static void emit(hl_report_perfetto_rows *self, hl_report_perfetto_row *row,
                 const hl_report_slice *slice, hl_report_drawing *drawing)
{
    uint32_t lane = 0;
    /* Lanes fill from the first, so that rows without overlap have one. */
    while (lane < HL_REPORT_LANES && row->lane_end_ns[lane] > slice->start_ns)
        lane++;
    if (lane == HL_REPORT_LANES) {
        drawing->thinned.hidden += slice->count;
        return;
    }
    if (lane >= row->named)
        name_lane(self, row, lane, drawing);
    row->lane_end_ns[lane] = slice->end_ns;
    /* Arrows start and end at single operations: for groups no lane is kept. */
    if (slice->count == 1 && !slice->is_range)
        (slice->is_call ? self->call_lanes : self->lanes)[slice->op] = (uint8_t)lane;
    const hl_report_track at = lane_place(row, lane);
    drawing->bytes += hl_report_perfetto_slice_bytes(&self->names, slice, at);
    drawing->thinned.slices++;
    if (slice->count > 1)
        drawing->thinned.merged += slice->count;
    if (drawing->out)
        hl_report_perfetto_slice(&self->names, slice, at, drawing->full, drawing->out);
}

static void flush(hl_report_perfetto_rows *self, hl_report_perfetto_row *row,
                  hl_report_drawing *drawing)
{
    if (row->group.count)
        emit(self, row, &row->group, drawing);
    row->group.count = 0;
}

/* A short slice waits for others that may be close to it. */
static void add_slice(hl_report_perfetto_rows *self, hl_report_perfetto_row *row,
                      const hl_report_slice *slice, hl_report_drawing *drawing)
{
    drawing->thinned.operations++;
    const bool is_short = slice->busy_ns < drawing->merge_ns;
    hl_report_slice *group = &row->group;
    /* The group counts in 32 bits. */
    if (is_short && group->count && group->count < UINT32_MAX &&
        slice->start_ns >= group->start_ns &&
        slice->start_ns - group->start_ns < drawing->merge_ns) {
        group->count++;
        /* The group's busy time is the sum, and its length includes the gaps between. */
        group->bytes += slice->bytes;
        group->busy_ns += slice->busy_ns;
        if (slice->end_ns > group->end_ns)
            group->end_ns = slice->end_ns;
        return;
    }
    flush(self, row, drawing);
    if (is_short)
        *group = *slice;
    else
        emit(self, row, slice, drawing);
}

static hl_report_slice slice_of(const hl_report_perfetto_rows *self, uint32_t i, bool is_call)
{
    const haul_op *op = &self->drawn->workload->ops[i];
    const haul_span span = is_call ? call_span_of(self, i) : span_of(self, i);
    return (hl_report_slice){
        .start_ns = span.start_ns,
        .end_ns = span.end_ns,
        .busy_ns = span.end_ns - span.start_ns,
        /* A call moves no bytes itself: its operation has them. */
        .bytes = !is_call && haul_op_has_bytes(op) ? op->bytes : 0,
        .op = i,
        .count = 1,
        .is_call = is_call,
    };
}

/* Ranges are recorded ones: nothing predicts how long they take. */
static void draw_ranges(hl_report_perfetto_rows *self, hl_report_drawing *drawing)
{
    const haul_workload *workload = self->drawn->workload;
    const bool drawn = is_recorded(self) && workload->op_count;
    for (uint32_t i = 0; drawn && i < workload->range_count; i++) {
        const haul_named_range *range = &workload->ranges[i];
        /* one that began before the first operation is drawn from there on */
        const int64_t before_ns =
            range->start_ns < self->origin_ns ? self->origin_ns - range->start_ns : 0;
        if (before_ns > range->dur_ns)
            continue;
        const haul_span span =
            add_dur(range->start_ns + before_ns - self->origin_ns, range->dur_ns - before_ns);
        const hl_report_slice slice = {.start_ns = span.start_ns,
                                       .end_ns = span.end_ns,
                                       .busy_ns = span.end_ns - span.start_ns,
                                       .op = i,
                                       .count = 1,
                                       .is_range = true};
        const haul_op on_thread = {.thread = range->thread};
        add_slice(self, thread_row(self, &on_thread) + self->thread_count, &slice, drawing);
    }
}

/* Arrows go forward in time; one against it would be drawn around the whole page. */
static void draw_arrow(hl_report_arrow *arrow, hl_report_drawing *drawing)
{
    /* Clocks of host and device may differ by more than a launch takes. */
    if (arrow->to_ns < arrow->from_ns)
        return;
    arrow->id = ++drawing->arrows;
    drawing->bytes += HL_REPORT_ARROW_BYTES;
    if (drawing->out)
        hl_report_perfetto_arrow(arrow, drawing->out);
}

/* The last moment inside a slice. */
static int64_t last_ns(haul_span span)
{
    return span.end_ns > span.start_ns ? span.end_ns - 1 : span.start_ns;
}

static hl_report_track op_place(const hl_report_perfetto_rows *self, uint32_t i)
{
    const haul_op *op = &self->drawn->workload->ops[i];
    return lane_place(haul_op_on_host(op) ? thread_row(self, op) : stream_row(self, op),
                      self->lanes[i]);
}

/* From each call to what it issued, and along the dependencies. */
static void draw_arrows(hl_report_perfetto_rows *self, hl_report_drawing *drawing)
{
    const haul_workload *workload = self->drawn->workload;
    const uint8_t *lanes = self->lanes, *calls = self->call_lanes;
    for (uint32_t i = 0; i < workload->op_count; i++) {
        /* Not drawn alone: merged, hidden, or without a call. */
        if (lanes[i] == HL_REPORT_NO_LANE || calls[i] == HL_REPORT_NO_LANE)
            continue;
        hl_report_arrow arrow = {
            .what = "launch",
            .from = lane_place(thread_row(self, &workload->ops[i]), calls[i]),
            .from_ns = call_span_of(self, i).start_ns,
            .to = op_place(self, i),
            .to_ns = span_of(self, i).start_ns,
        };
        draw_arrow(&arrow, drawing);
    }
    for (size_t e = 0; e < workload->edge_count; e++) {
        const haul_edge edge = workload->edges[e];
        if (edge.before >= workload->op_count || edge.after >= workload->op_count ||
            lanes[edge.before] == HL_REPORT_NO_LANE || lanes[edge.after] == HL_REPORT_NO_LANE)
            continue;
        const haul_span before = span_of(self, edge.before), after = span_of(self, edge.after);
        /* A wait begins before what it waits for ends: its arrow goes to the wait's end. */
        const bool is_wait = haul_op_on_host(&workload->ops[edge.after]);
        hl_report_arrow arrow = {
            .what = "dependency",
            .from = op_place(self, edge.before),
            .from_ns = last_ns(before),
            .to = op_place(self, edge.after),
            .to_ns = is_wait ? last_ns(after) : after.start_ns,
        };
        /* clocks of hosts and devices differ by a little */
        if (arrow.from_ns > arrow.to_ns && before.start_ns <= arrow.to_ns)
            arrow.from_ns = arrow.to_ns;
        draw_arrow(&arrow, drawing);
    }
}

/* Operations first: arrows end only where an operation was drawn alone. */
void hl_report_rows_draw(hl_report_perfetto_rows *self, hl_report_drawing *drawing)
{
    const haul_workload *workload = self->drawn->workload;
    for (uint32_t r = 0; r < self->count; r++) {
        hl_report_perfetto_row *row = &self->items[r];
        row->named = 0;
        row->group.count = 0;
        for (int lane = 0; lane < HL_REPORT_LANES; lane++)
            row->lane_end_ns[lane] = INT64_MIN;
    }
    memset(self->pid_named, 0, (workload->device_count + 2) * sizeof *self->pid_named);
    memset(self->lanes, HL_REPORT_NO_LANE, workload->op_count);
    memset(self->call_lanes, HL_REPORT_NO_LANE, workload->op_count);
    /* Operations of devices in their recorded order, then those of the host in the order of their
     * calls, ranges, then the groups that wait for company. */
    for (uint32_t i = 0; i < workload->op_count; i++) {
        if (haul_op_on_host(&workload->ops[i]) || hl_report_drawn_leaves_out(self->drawn, i))
            continue;
        const hl_report_slice slice = slice_of(self, i, false);
        add_slice(self, stream_row(self, &workload->ops[i]), &slice, drawing);
    }
    for (uint32_t i = 0; i < self->host_count; i++) {
        const haul_op *op = &workload->ops[self->host_order[i]];
        if (haul_op_on_host(op) && hl_report_drawn_leaves_out(self->drawn, self->host_order[i]))
            continue;
        const hl_report_slice slice = slice_of(self, self->host_order[i], !haul_op_on_host(op));
        add_slice(self, thread_row(self, op), &slice, drawing);
    }
    draw_ranges(self, drawing);
    for (uint32_t r = 0; r < self->count; r++)
        flush(self, &self->items[r], drawing);
    if (drawing->full)
        draw_arrows(self, drawing);
}

/* Recorded calls are drawn; predicted times have no calls. */
static bool on_host_row(const hl_report_perfetto_rows *self, const haul_op *op)
{
    return haul_op_on_host(op) || (is_recorded(self) && has_call(op));
}

/* In order of their calls, as threads made them. */
static bool order_host(hl_report_perfetto_rows *self)
{
    const haul_workload *workload = self->drawn->workload;
    for (size_t i = 0; i < workload->op_count; i++)
        self->host_count += on_host_row(self, &workload->ops[i]);
    int64_t *times = malloc((workload->op_count + 1) * sizeof *times);
    self->host_order = malloc(((size_t)self->host_count + 1) * sizeof *self->host_order);
    bool ok = times && self->host_order;
    uint32_t count = 0;
    /* Times of all operations, so that an order by number can look them up. */
    for (uint32_t i = 0; ok && i < workload->op_count; i++) {
        times[i] =
            is_recorded(self) ? called_ns(&workload->ops[i]) : self->drawn->spans[i].start_ns;
        if (on_host_row(self, &workload->ops[i]))
            self->host_order[count++] = i;
    }
    const hl_base_keys keys = {times, sizeof *times, HL_KEYS_SIGNED};
    ok = ok && hl_base_order_sort(self->host_order, self->host_count, &keys);
    free(times);
    return ok;
}

/* Numbers of threads stay below 2^32 for all lanes of all rows: 2^20 streams of 16 lanes. */
haul_status hl_report_rows_init(hl_report_perfetto_rows *self, const haul_drawn *drawn,
                                hl_report_track *next, haul_error *error)
{
    const haul_workload *workload = drawn->workload;
    const size_t limit = (1U << 20) - 8;
    if (workload->op_count >= HAUL_NONE || workload->range_count >= HAUL_NONE ||
        workload->stream_count > limit || workload->thread_count > limit ||
        workload->device_count > limit)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "more operations, streams, threads or devices than can be drawn");
    *self = (hl_report_perfetto_rows){
        .drawn = drawn,
        .stream_count = (uint32_t)workload->stream_count + 1,
        .thread_count = (uint32_t)workload->thread_count + 1,
        .first_pid = next->pid,
    };
    self->count = self->stream_count + 2 * self->thread_count;
    self->items = calloc(self->count, sizeof *self->items);
    self->pid_named = malloc((workload->device_count + 2) * sizeof *self->pid_named);
    self->lanes = malloc(workload->op_count + 1);
    self->call_lanes = malloc(workload->op_count + 1);
    if (!self->items || !self->pid_named || !self->lanes || !self->call_lanes ||
        !hl_report_drawn_names_init(&self->names, drawn) || !order_host(self))
        return hl_base_fail_no_memory(error);
    /* the trace begins with the first call, which is before the first operation of a device */
    self->origin_ns = INT64_MAX;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        const int64_t first_ns = called_ns(op) < op->start_ns ? called_ns(op) : op->start_ns;
        self->origin_ns = first_ns < self->origin_ns ? first_ns : self->origin_ns;
    }
    for (uint32_t r = 0; r < self->count; r++) {
        const haul_op on_stream = {.stream = r};
        const bool is_stream = r < self->stream_count;
        const uint32_t rank =
            is_stream ? 1 + (uint32_t)hl_workload_device_of(workload, &on_stream) : 0;
        self->items[r].at =
            (hl_report_track){self->first_pid + rank, next->tid + r * HL_REPORT_LANES};
    }
    next->pid += (uint32_t)workload->device_count + 2;
    next->tid += self->count * HL_REPORT_LANES;
    return HAUL_OK;
}

void hl_report_rows_release(hl_report_perfetto_rows *self)
{
    hl_report_drawn_names_release(&self->names);
    free(self->items);
    free(self->pid_named);
    free(self->host_order);
    free(self->lanes);
    free(self->call_lanes);
}
