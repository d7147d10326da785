/* Lanes of a timeline. A profile has millions of operations and a page thousands of pixels: bars
 * that would be thinner than a pixel are gathered, by what they show, into one that is as high as
 * the share of its time in which they ran. */
#include "page/lanes.h"
#include <stdlib.h>

#include "base/compare.h"
#include "base/fail.h"
#include "base/intervals.h"
#include "base/order.h"
#include "report/drawn.h"

const char *hl_page_look_text(hl_page_look look)
{
    static const char *const texts[] = {HL_PAGE_LOOK_LIST(HAUL_ROW_TEXT)};
    return (unsigned)look < HL_PAGE_LOOKS ? texts[look] : "unknown";
}

hl_page_look hl_page_look_of(const haul_op *op)
{
    static const hl_page_look directions[HAUL_DIRECTIONS] = {
        [HAUL_DIRECTION_HTOD] = HL_PAGE_LOOK_IN,     [HAUL_DIRECTION_DTOH] = HL_PAGE_LOOK_OUT,
        [HAUL_DIRECTION_DTOD] = HL_PAGE_LOOK_WITHIN, [HAUL_DIRECTION_PTOP] = HL_PAGE_LOOK_PEER,
        [HAUL_DIRECTION_HTOH] = HL_PAGE_LOOK_OTHER,  [HAUL_DIRECTION_UNKNOWN] = HL_PAGE_LOOK_OTHER};
    switch ((haul_op_kind)op->kind) {
    case HAUL_OP_COPY:
        return directions[op->direction];
    case HAUL_OP_MEMSET:
        return HL_PAGE_LOOK_SET;
    case HAUL_OP_KERNEL:
        return HL_PAGE_LOOK_KERNEL;
    case HAUL_OP_MESSAGE:
        return HL_PAGE_LOOK_PEER;
    case HAUL_OP_SYNC:
        return HL_PAGE_LOOK_WAIT;
    case HAUL_OP_CALL:
        break;
    }
    return HL_PAGE_LOOK_CALL;
}

static haul_span span_of(const hl_page_lanes *self, uint32_t op)
{
    if (self->drawn->spans)
        return self->drawn->spans[op];
    const haul_op *recorded = &self->drawn->workload->ops[op];
    return (haul_span){recorded->start_ns, recorded->start_ns + recorded->dur_ns};
}

/* From one time to another; what is beyond half of all times stays there. */
static int64_t time_between(int64_t from_ns, int64_t to_ns)
{
    const uint64_t most = INT64_MAX / 2;
    const bool forward = to_ns >= from_ns;
    const uint64_t apart =
        forward ? (uint64_t)to_ns - (uint64_t)from_ns : (uint64_t)from_ns - (uint64_t)to_ns;
    const int64_t kept = (int64_t)(apart < most ? apart : most);
    return forward ? kept : -kept;
}

/* An operation's start from the origin on, and its end. */
static haul_span drawn_span(const hl_page_lanes *lanes, uint32_t op)
{
    const haul_span span = span_of(lanes, op);
    return (haul_span){time_between(lanes->origin_ns, span.start_ns),
                       time_between(lanes->origin_ns, span.end_ns)};
}

/* The window is that of the devices: what the host does long before or after is not drawn. */
static void find_window(hl_page_lanes *self)
{
    const haul_workload *workload = self->drawn->workload;
    bool devices = false;
    for (size_t i = 0; i < workload->op_count && !devices; i++)
        devices = !haul_op_on_host(&workload->ops[i]);
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < workload->op_count; i++) {
        if ((devices && haul_op_on_host(&workload->ops[i])) ||
            hl_report_drawn_leaves_out(self->drawn, (uint32_t)i))
            continue;
        const haul_span span = span_of(self, (uint32_t)i);
        first = span.start_ns < first ? span.start_ns : first;
        last = span.end_ns > last ? span.end_ns : last;
    }
    self->origin_ns = first <= last ? first : 0;
    self->window_ns = first <= last ? time_between(first, last) : 0;
}

static bool is_shown(const hl_page_lanes *self, uint32_t op)
{
    const haul_span span = drawn_span(self, op);
    const bool is_device = !haul_op_on_host(&self->drawn->workload->ops[op]);
    return !hl_report_drawn_leaves_out(self->drawn, op) &&
           (is_device || (span.end_ns > 0 && span.start_ns < self->window_ns));
}

/* Lanes before they are chosen: each stream, operations without one, each thread, likewise. */
static size_t lane_of(const hl_page_lanes *self, const haul_op *op)
{
    const size_t streams = self->drawn->workload->stream_count + 1;
    if (haul_op_on_host(op))
        return streams +
               (op->thread == HAUL_NONE ? self->drawn->workload->thread_count : (size_t)op->thread);
    return op->stream == HAUL_NONE ? streams - 1 : op->stream;
}

/* Of each lane and look; the lanes' arrays get their sizes from it. */
static void count_ops(hl_page_lanes *self)
{
    for (size_t i = 0; i < self->drawn->workload->op_count; i++) {
        const haul_op *op = &self->drawn->workload->ops[i];
        const haul_span span = span_of(self, (uint32_t)i);
        if (!is_shown(self, (uint32_t)i))
            continue;
        hl_page_lane *lane = &self->lanes[lane_of(self, op)];
        lane->count++;
        lane->time_ns += span.end_ns - span.start_ns;
        self->ops[hl_page_look_of(op)]++;
    }
}

/* Of an operation of the host the part within the window. */
static void add_busy(const hl_page_lanes *self, hl_base_union *busy, uint32_t op)
{
    const haul_span span = drawn_span(self, op);
    hl_base_union_add(busy, span.start_ns > 0 ? span.start_ns : 0,
                      span.end_ns < self->window_ns ? span.end_ns : self->window_ns);
}

/* In order of start, for the unions; `order` is filled anew afterwards. */
static bool sum_looks(hl_page_lanes *self, const hl_base_keys *keys)
{
    enum { COLLECTIVES = HL_PAGE_LOOKS };
    const haul_op *ops = self->drawn->workload->ops;
    hl_base_union unions[HL_PAGE_LOOKS + 1];
    size_t count = 0;
    for (size_t i = 0; i < self->drawn->workload->op_count; i++)
        if (is_shown(self, (uint32_t)i))
            self->order[count++] = (uint32_t)i;
    if (!hl_base_order_sort(self->order, count, keys))
        return false;
    for (int k = 0; k <= COLLECTIVES; k++)
        unions[k] = hl_base_union_begin();
    for (size_t i = 0; i < count; i++) {
        const haul_op *op = &ops[self->order[i]];
        const int k = haul_op_is_collective(op) ? COLLECTIVES : (int)hl_page_look_of(op);
        const haul_span span = span_of(self, self->order[i]);
        hl_page_sum *sum = k == COLLECTIVES ? &self->collectives : &self->sums[k];
        sum->count++;
        sum->time_ns += span.end_ns - span.start_ns;
        add_busy(self, &unions[k], self->order[i]);
        sum->busy_ns = hl_base_clamp_ns(unions[k].covered);
    }
    return true;
}

/* Sorts a lane's operations by their start, and finds the union of their times. */
static bool sort_lane(const hl_page_lanes *self, hl_page_lane *lane, const hl_base_keys *keys)
{
    uint32_t *order = self->order + lane->first;
    hl_base_union busy = hl_base_union_begin();
    if (!hl_base_order_sort(order, lane->count, keys))
        return false;
    for (size_t i = 0; i < lane->count; i++)
        add_busy(self, &busy, order[i]);
    lane->busy_ns = hl_base_clamp_ns(busy.covered);
    return true;
}

/* Names the lanes, and gives each its operations; `count` is the number of those placed so far. */
static void sort_into_lanes(hl_page_lanes *self)
{
    const haul_workload *workload = self->drawn->workload;
    const size_t streams = workload->stream_count + 1;
    uint32_t next = 0;
    for (size_t i = 0; i < self->count; i++) {
        hl_page_lane *lane = &self->lanes[i];
        lane->host = i >= streams;
        const size_t number = lane->host ? i - streams : i;
        const size_t none = lane->host ? workload->thread_count : streams - 1;
        lane->number = number == none ? HAUL_NONE : (uint32_t)number;
        lane->first = next;
        next += lane->count;
        lane->count = 0;
    }
    for (size_t i = 0; i < workload->op_count; i++) {
        hl_page_lane *lane = &self->lanes[lane_of(self, &workload->ops[i])];
        if (is_shown(self, (uint32_t)i))
            self->order[lane->first + lane->count++] = (uint32_t)i;
    }
}

static int by_time(const void *a, const void *b)
{
    const hl_page_lane *one = a, *other = b;
    if (one->time_ns != other->time_ns)
        return one->time_ns > other->time_ns ? -1 : 1;
    return hl_base_compare_unsigned(one->first, other->first);
}

static int by_place(const void *a, const void *b)
{
    const hl_page_lane *one = a, *other = b;
    return hl_base_compare_unsigned(one->first, other->first);
}

/* Operations stand in `order` by number of the stream; those of one device belong together. */
static void group_by_device(hl_page_lanes *self)
{
    for (size_t i = 1; i < self->count; i++)
        for (size_t k = i; k; k--) {
            const hl_page_lane *lane = &self->lanes[k], *before = lane - 1;
            const bool streams = !lane->host && lane->number != HAUL_NONE && !before->host &&
                                 before->number != HAUL_NONE;
            if (!streams || self->drawn->workload->streams[before->number].device <=
                                self->drawn->workload->streams[lane->number].device)
                break;
            const hl_page_lane moved = *lane;
            self->lanes[k] = *before;
            self->lanes[k - 1] = moved;
        }
}

haul_status hl_page_lanes_make(const haul_drawn *drawn, size_t most, hl_page_lanes *lanes,
                               haul_error *error)
{
    const haul_workload *workload = drawn->workload;
    *lanes = (hl_page_lanes){.drawn = drawn};
    if (!workload->op_count)
        return HAUL_OK;
    const hl_base_keys keys = {
        .first = drawn->spans ? (const void *)&drawn->spans->start_ns : &workload->ops->start_ns,
        .stride = drawn->spans ? sizeof *drawn->spans : sizeof *workload->ops,
        .flip = HL_KEYS_SIGNED};
    hl_page_lanes made = {.drawn = drawn};
    made.count = workload->stream_count + workload->thread_count + 2;
    made.lanes = calloc(made.count, sizeof *made.lanes);
    made.order = malloc((workload->op_count + 1) * sizeof *made.order);
    bool done = made.lanes && made.order;
    if (done) {
        find_window(&made);
        count_ops(&made);
        done = sum_looks(&made, &keys);
    }
    if (done)
        sort_into_lanes(&made);
    for (size_t i = 0; done && i < made.count; i++)
        done = sort_lane(&made, &made.lanes[i], &keys);
    if (!done) {
        hl_page_lanes_release(&made);
        return hl_base_fail_no_memory(error);
    }
    /* those with the most time, in their places again */
    size_t used = 0;
    for (size_t i = 0; i < made.count; i++)
        if (made.lanes[i].count)
            made.lanes[used++] = made.lanes[i];
    qsort(made.lanes, used, sizeof *made.lanes, by_time);
    made.count = used < most ? used : most;
    made.hidden = used - made.count;
    for (size_t i = made.count; i < used; i++)
        made.hidden_ops += made.lanes[i].count;
    qsort(made.lanes, made.count, sizeof *made.lanes, by_place);
    group_by_device(&made);
    *lanes = made;
    return HAUL_OK;
}

void hl_page_lanes_release(hl_page_lanes *lanes)
{
    free(lanes->lanes);
    free(lanes->order);
    free(lanes->shades);
    *lanes = (hl_page_lanes){0};
}

/* The short operations that are gathered: a bar for each colour, drawn when the next one begins
 * elsewhere. */
typedef struct gathering {
    const hl_page_lanes *lanes;
    hl_page_bar_visitor visit;
    void *state;
    int64_t fine_ns;
    int64_t cell; /* number of the fine_ns in which they begin */
    int64_t end_ns;
    uint64_t count;
    hl_page_bar bars[HL_PAGE_COLOURS];
} gathering;

/* The bars of what was gathered stand on each other. Operations that overlap may have been busy for
 * longer than their stretch of time lasts: what does not fit is cut off at the top. */
static void draw_gathered(gathering *self)
{
    if (!self->count)
        return;
    int64_t start_ns = INT64_MAX;
    for (int k = 0; k < HL_PAGE_COLOURS; k++)
        if (self->bars[k].count && self->bars[k].start_ns < start_ns)
            start_ns = self->bars[k].start_ns;
    const int64_t length_ns = self->end_ns - start_ns;
    int64_t below_ns = 0;
    for (int k = 0; k < HL_PAGE_COLOURS; k++) {
        hl_page_bar *bar = &self->bars[k];
        if (!bar->count)
            continue;
        bar->shares = self->count > 1;
        bar->start_ns = start_ns;
        bar->end_ns = self->end_ns;
        if (bar->busy_ns > length_ns - below_ns)
            bar->busy_ns = length_ns - below_ns;
        bar->base = length_ns ? (double)below_ns / (double)length_ns : 0;
        below_ns += bar->busy_ns;
        self->visit(self->state, bar);
        bar->count = 0;
    }
    self->count = 0;
}

hl_page_bar hl_page_lane_bar(const hl_page_lanes *lanes, uint32_t number)
{
    const haul_op *op = &lanes->drawn->workload->ops[number];
    haul_span span = drawn_span(lanes, number);
    if (span.start_ns < 0)
        span.start_ns = 0;
    if (span.end_ns > lanes->window_ns)
        span.end_ns = lanes->window_ns;
    const bool has_bytes = op->kind == HAUL_OP_COPY || op->kind == HAUL_OP_MEMSET;
    const int look = (int)hl_page_look_of(op);
    const bool is_shaded = look == HL_PAGE_LOOK_KERNEL && op->name < lanes->shade_ids;
    const int shade = is_shaded ? lanes->shades[op->name] : 0;
    return (hl_page_bar){.look = hl_page_look_of(op),
                         .colour = shade ? HL_PAGE_LOOKS + shade - 1 : look,
                         .op = number,
                         .count = 1,
                         .bytes = has_bytes ? op->bytes : 0,
                         .start_ns = span.start_ns,
                         .end_ns = span.end_ns,
                         .busy_ns = span.end_ns - span.start_ns};
}

/* Bytes that do not fit into a count stay at the most that it holds. */
static void gather_bar(gathering *self, const hl_page_bar *bar)
{
    const int64_t cell = bar->start_ns / self->fine_ns;
    if (self->count && cell != self->cell)
        draw_gathered(self);
    hl_page_bar *sum = &self->bars[bar->colour];
    if (!self->count || bar->end_ns > self->end_ns)
        self->end_ns = bar->end_ns;
    self->cell = cell;
    self->count++;
    if (!sum->count) {
        *sum = *bar;
        return;
    }
    sum->count++;
    sum->bytes = sum->bytes + bar->bytes < sum->bytes ? UINT64_MAX : sum->bytes + bar->bytes;
    sum->busy_ns += bar->busy_ns;
}

void hl_page_lane_bars(const hl_page_lanes *lanes, const hl_page_lane *lane, int64_t fine_ns,
                       hl_page_bar_visitor visit, void *state)
{
    gathering self = {.lanes = lanes, .visit = visit, .state = state, .fine_ns = fine_ns};
    for (uint32_t i = 0; i < lane->count; i++) {
        const hl_page_bar bar = hl_page_lane_bar(lanes, lanes->order[lane->first + i]);
        if (bar.end_ns - bar.start_ns < fine_ns) {
            gather_bar(&self, &bar);
            continue;
        }
        draw_gathered(&self);
        visit(state, &bar);
    }
    draw_gathered(&self);
}

void hl_page_lane_critical(const hl_page_lanes *lanes, const hl_page_lane *lane, int64_t gap_ns,
                           hl_page_stretch_visitor visit, void *state)
{
    const haul_drawn *drawn = lanes->drawn;
    haul_span open = {0};
    bool has = false;
    for (size_t i = 0; i < drawn->critical_count; i++) {
        const uint32_t number = drawn->critical[i];
        const haul_op *op = &drawn->workload->ops[number];
        if (lane->host != haul_op_on_host(op) ||
            lane->number != (lane->host ? op->thread : op->stream) || !is_shown(lanes, number))
            continue;
        const hl_page_bar bar = hl_page_lane_bar(lanes, number);
        if (has && bar.start_ns - open.end_ns <= gap_ns) {
            open.end_ns = bar.end_ns > open.end_ns ? bar.end_ns : open.end_ns;
            continue;
        }
        if (has)
            visit(state, open);
        open = (haul_span){bar.start_ns, bar.end_ns};
        has = true;
    }
    if (has)
        visit(state, open);
}

static void count_bar(void *state, const hl_page_bar *bar)
{
    (void)bar;
    ++*(uint64_t *)state;
}

static bool has_at_most(const hl_page_lanes *lanes, int64_t fine_ns, uint64_t most)
{
    uint64_t count = 0;
    for (size_t i = 0; i < lanes->count && count <= most; i++)
        hl_page_lane_bars(lanes, &lanes->lanes[i], fine_ns, count_bar, &count);
    return count <= most;
}

/* By halves and doubles, from where each lane would have its share if it were full. */
int64_t hl_page_lanes_fineness(const hl_page_lanes *lanes, int64_t least_ns, uint64_t most)
{
    if (has_at_most(lanes, least_ns, most))
        return least_ns;
    const uint64_t share = most / (lanes->count + 1) + 1;
    int64_t fine_ns = lanes->window_ns / (int64_t)share + least_ns + 1;
    while (fine_ns <= lanes->window_ns && !has_at_most(lanes, fine_ns, most))
        fine_ns *= 2;
    while (fine_ns / 2 > least_ns && has_at_most(lanes, fine_ns / 2, most))
        fine_ns /= 2;
    return fine_ns;
}
