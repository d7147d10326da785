/* The loop, and the work of streams.
 *
 * All that happens at one instant happens before anything starts, so that the operation that starts
 * is the same whatever the order of the events: the one that came first, of equals the lower
 * number. */
#include "timeline/engine.h"

#include "base/intervals.h"
#include "timeline/engine_parts.h"
#include "timeline/stream_gap.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The end of the gap between the operation before and the one at the head of a stream; 0 where
 * there is none. Where others have calls, an operation without one is of a CUDA graph: between
 * these lie 0.1 to 0.2 us. */
static int64_t gap_end_of(const hl_timeline_engine *self, const hl_timeline_actor *stream)
{
    const haul_op *ops = self->workload->ops, *op = &ops[stream->op];
    const bool of_graph = op->thread == HAUL_NONE && self->workload->thread_count;
    if (of_graph || stream->before == HAUL_NONE)
        return 0;
    const int64_t gap_ns = hl_timeline_gap_of(&self->options->device, &ops[stream->before], op);
    return gap_ns ? hl_base_end_of(self->progress[stream->before].end_ns, gap_ns) : 0;
}

/* When the head of a stream, all of whose edges have ended, may start: `gap_end_ns`, after its own
 * delay, and without a call, such as a migration of unified memory that the host touched, when the
 * recorded time since the host's wait has passed again. Most runs have no delays, most operations a
 * call. */
static int64_t due_of(const hl_timeline_engine *self, const hl_timeline_actor *stream,
                      int64_t gap_end_ns)
{
    const haul_workload *workload = self->workload;
    if (!self->unissued && !self->options->delay_count)
        return gap_end_ns;
    const haul_op *op = &workload->ops[stream->op];
    const bool is_uncalled = op->thread == HAUL_NONE && self->options->release == HAUL_RELEASE_HOST;
    const int64_t delay_ns = hl_timeline_delay_of(self->options, stream->op);
    int64_t due_ns = gap_end_ns, ready_ns = later(gap_end_ns, self->progress[stream->op].start_ns);
    if (stream->before != HAUL_NONE)
        ready_ns = later(ready_ns, self->progress[stream->before].end_ns);
    const uint32_t end = self->edge_begin ? self->edge_begin[stream->op + 1] : 0;
    for (uint32_t e = self->edge_begin ? self->edge_begin[stream->op] : 0; e < end; e++) {
        const uint32_t before = workload->edges[e].before;
        const haul_op *wait = &workload->ops[before];
        const int64_t end_ns = self->progress[before].end_ns;
        const int64_t since_ns = op->start_ns - (wait->start_ns + wait->dur_ns);
        ready_ns = later(ready_ns, end_ns);
        if (is_uncalled && haul_op_on_host(wait) && since_ns > 0)
            due_ns = later(due_ns, hl_base_end_of(end_ns, since_ns));
    }
    return delay_ns > 0 ? later(due_ns, hl_base_end_of(ready_ns, delay_ns)) : due_ns;
}

/* Whether the head of a stream waits for the one before it: that one's end, and the gap behind it.
 * Without a call the pause behind it counts too, for nothing else is known to delay the operation.
 */
static bool waits_behind(const hl_timeline_engine *self, const hl_timeline_actor *stream,
                         int64_t due_ns, int64_t gap_end_ns)
{
    if (due_ns == gap_end_ns || stream->before == HAUL_NONE)
        return due_ns == gap_end_ns && hl_timeline_call_is_made(self, stream->op);
    const int64_t delay_ns = hl_timeline_delay_of(self->options, stream->op);
    return self->workload->ops[stream->op].thread == HAUL_NONE && delay_ns > 0 &&
           due_ns == hl_base_end_of(self->progress[stream->before].end_ns, delay_ns);
}

/* The head of a stream comes to its resource when it has been called, its edges have ended, the gap
 * before it and its own delay have passed and its gates are open; the first of these that is
 * not so wakes the stream. */
static void look_at_head(hl_timeline_engine *self, uint32_t actor)
{
    hl_timeline_actor *stream = &self->actors[actor];
    if (!hl_timeline_is_called(&self->progress[stream->op])) {
        stream->state = HL_TIMELINE_ACTOR_UNCALLED;
        return;
    }
    const int64_t gap_end_ns = gap_end_of(self, stream);
    int64_t due_ns = self->progress[stream->op].start_ns;
    if (due_ns == self->now_ns && !hl_timeline_call_is_made(self, stream->op)) {
        hl_timeline_thread_await(self, actor);
        return;
    }
    if (due_ns <= self->now_ns) {
        if (!hl_timeline_engine_edges_passed(self, actor))
            return;
        due_ns = due_of(self, stream, gap_end_ns);
    }
    if (due_ns > self->now_ns) {
        stream->cause = waits_behind(self, stream, due_ns, gap_end_ns) ? stream->before : HAUL_NONE;
        hl_timeline_engine_schedule(self, actor, due_ns);
    } else if (!self->gates || hl_timeline_gates_passed(self, actor)) {
        hl_timeline_server_enter(self, actor);
    }
}

/* The stream looks at its next operation at once; a resource that became free is given out later,
 * when all events of the instant are through. */
static void finish_op(hl_timeline_engine *self, uint32_t actor)
{
    hl_timeline_actor *stream = &self->actors[actor];
    hl_timeline_server_leave(self, actor);
    hl_timeline_engine_end(self, stream->op, HAUL_OP_PLACE_DEVICE, self->now_ns);
    stream->ended++;
    stream->before = stream->cause = stream->op;
    stream->op = stream->next;
    stream->edge = HAUL_NONE;
    stream->state = stream->op == HAUL_NONE ? HL_TIMELINE_ACTOR_DONE : HL_TIMELINE_ACTOR_LOOKS;
    if (self->gates)
        hl_timeline_gates_mark(self, stream->device);
    if (stream->op != HAUL_NONE)
        look_at_head(self, actor);
}

static void take_events(hl_timeline_engine *self)
{
    while (!self->status && hl_timeline_event_queue_is_due(&self->events, self->now_ns)) {
        const uint32_t actor = hl_timeline_event_queue_take(&self->events);
        if (actor >= self->stream_count)
            hl_timeline_thread_step(self, actor);
        else if (self->actors[actor].state == HL_TIMELINE_ACTOR_RUNS)
            finish_op(self, actor);
        else if (self->actors[actor].state == HL_TIMELINE_ACTOR_GATED)
            hl_timeline_gates_mark(self, self->actors[actor].device);
        else
            look_at_head(self, actor);
    }
}

void hl_timeline_engine_advance(hl_timeline_engine *self, int64_t until_ns, uint32_t until_op)
{
    int64_t next_ns;
    hl_timeline_gates_open(self);
    while (!self->status &&
           (next_ns = hl_timeline_event_queue_next_ns(&self->events)) <= until_ns &&
           next_ns != INT64_MAX) {
        self->is_later_round &= next_ns == self->now_ns;
        self->now_ns = next_ns;
        do
            take_events(self);
        while (self->moved_count && hl_timeline_gates_open(self)); /* most machines have no gates */
        hl_timeline_server_start(self);
        self->is_later_round = true;
        if (self->moved_count)
            hl_timeline_gates_open(self);
        if (until_op != HAUL_NONE && hl_timeline_end_is_known(&self->progress[until_op]))
            until_ns = self->now_ns;
    }
}

haul_status hl_timeline_engine_run(hl_timeline_engine *self)
{
    hl_timeline_engine_advance(self, INT64_MAX, HAUL_NONE);
    if (!self->status && self->finished < self->workload->op_count)
        return hl_timeline_engine_explain(self);
    return self->status;
}
