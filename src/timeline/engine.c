/* The loop, and the work of streams.
 *
 * All that happens at one instant happens before anything starts, so that the operation that starts
 * is the same whatever the order of the events: the one that came first, of equals the lower
 * number. */
#include "timeline/engine.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "timeline/engine_parts.h"

haul_op_title haul_engine_name(const haul_engine *self, uint32_t op)
{
    haul_op_title title;
    if (self->options->name)
        self->options->name(self->options->name_state, op, title.text, sizeof title.text);
    else
        snprintf(title.text, sizeof title.text, "%" PRIu32, op);
    return title;
}

/* Names the operation as its caller knows it: a schedule's has a name. */
haul_status haul_engine_fail(haul_engine *self, haul_status status, uint32_t op, const char *text)
{
    const uint8_t kind = self->workload->ops[op].kind;
    return haul_fail(self->error, status, "operation %s, %s%s, %s", haul_engine_name(self, op).text,
                     kind < HAUL_OP_KINDS ? "a " : "", haul_op_kind_text((haul_op_kind)kind), text);
}

void haul_engine_stop(haul_engine *self, haul_status status)
{
    if (!self->status)
        self->status = status;
}

/* The refusal keeps every sum of times within 63 bits, so that the loop need not check each. */
void haul_engine_schedule(haul_engine *self, uint32_t actor, int64_t time_ns)
{
    if (time_ns > 2 * haul_time_limit_ns && !self->status)
        haul_engine_stop(self, haul_engine_fail(self, HAUL_BAD_INPUT, self->actors[actor].op,
                                                "takes the timeline beyond 2^62 ns"));
    else
        haul_event_queue_set(&self->events, actor, time_ns);
}

/* Waiting actors form a list through the place of the end that is not known yet: no memory is
 * needed, however many wait. */
bool haul_engine_passed(haul_engine *self, uint32_t actor, uint32_t before)
{
    haul_actor *waiting = &self->actors[actor];
    haul_progress *of = &self->progress[before];
    const bool is_known = haul_end_is_known(of);
    if (is_known && of->end_ns <= self->now_ns)
        return true;
    waiting->state = HAUL_ACTOR_WAITS;
    waiting->blocker = waiting->cause = before;
    if (is_known) {
        haul_engine_schedule(self, actor, of->end_ns);
        return false;
    }
    waiting->next_in_list = haul_first_waiter(of);
    haul_set_first_waiter(of, actor);
    return false;
}

/* Edges that ended are not looked at again: the actor remembers how far it came. */
bool haul_engine_edges_passed(haul_engine *self, uint32_t actor)
{
    haul_actor *waiting = &self->actors[actor];
    if (!self->edge_begin)
        return true;
    if (waiting->edge == HAUL_NONE)
        waiting->edge = self->edge_begin[waiting->op];
    while (waiting->edge < self->edge_begin[waiting->op + 1]) {
        if (!haul_engine_passed(self, actor, self->workload->edges[waiting->edge].before))
            return false;
        waiting->edge++;
    }
    return true;
}

/* Actors that wait are woken at the present instant: those of an end in the future look at it then.
 */
void haul_engine_end(haul_engine *self, uint32_t op, int64_t end_ns)
{
    uint32_t actor = haul_first_waiter(&self->progress[op]);
    self->progress[op].end_ns = end_ns;
    if (self->ended)
        self->ended[self->finished] = op;
    self->finished++;
    for (; actor != HAUL_NONE; actor = self->actors[actor].next_in_list)
        haul_engine_schedule(self, actor, self->now_ns);
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Delays are few and sorted by operation: most runs have none. */
int64_t haul_delay_of(const haul_timeline_options *options, uint32_t op)
{
    size_t low = 0, high = options->delay_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (options->delays[middle].op < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low < options->delay_count && options->delays[low].op == op
               ? options->delays[low].delay_ns
               : 0;
}

/* The end of the gap between the kernel before and the kernel at the head of a stream; 0 where
 * there is none. Where others have calls, a kernel without one is of a CUDA graph: between these
 * lie 0.1 to 0.2 us. */
static int64_t gap_end_of(const haul_engine *self, const haul_actor *stream)
{
    const haul_op *ops = self->workload->ops, *op = &ops[stream->op];
    const int64_t gap_ns = self->options->device.kernel_gap_ns;
    const bool of_graph = op->thread == HAUL_NONE && self->workload->thread_count;
    if (!gap_ns || of_graph || stream->before == HAUL_NONE || op->kind != HAUL_OP_KERNEL ||
        ops[stream->before].kind != HAUL_OP_KERNEL)
        return 0;
    return haul_end_of(self->progress[stream->before].end_ns, gap_ns);
}

/* When the head of a stream, all of whose edges have ended, may start: `gap_end_ns`, after its own
 * delay, and without a call, such as a migration of unified memory that the host touched, when the
 * recorded time since the host's wait has passed again. Most runs have no delays, most operations a
 * call. */
static int64_t due_of(const haul_engine *self, const haul_actor *stream, int64_t gap_end_ns)
{
    const haul_workload *workload = self->workload;
    if (!self->unissued && !self->options->delay_count)
        return gap_end_ns;
    const haul_op *op = &workload->ops[stream->op];
    const bool is_uncalled = op->thread == HAUL_NONE && self->options->release == HAUL_RELEASE_HOST;
    const int64_t delay_ns = haul_delay_of(self->options, stream->op);
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
            due_ns = later(due_ns, haul_end_of(end_ns, since_ns));
    }
    return delay_ns > 0 ? later(due_ns, haul_end_of(ready_ns, delay_ns)) : due_ns;
}

/* The head of a stream comes to its resource when it has been called, its edges have ended, the gap
 * behind a kernel and its own delay have passed and its gates are open; the first of these that is
 * not so wakes the stream. */
static void look(haul_engine *self, uint32_t actor)
{
    haul_actor *stream = &self->actors[actor];
    if (!haul_is_called(&self->progress[stream->op])) {
        stream->state = HAUL_ACTOR_UNCALLED;
        return;
    }
    const int64_t gap_end_ns = gap_end_of(self, stream);
    int64_t due_ns = self->progress[stream->op].start_ns;
    if (due_ns <= self->now_ns) {
        if (!haul_engine_edges_passed(self, actor))
            return;
        due_ns = due_of(self, stream, gap_end_ns);
    }
    if (due_ns > self->now_ns) {
        stream->cause = due_ns == gap_end_ns ? stream->before : HAUL_NONE;
        haul_engine_schedule(self, actor, due_ns);
    } else if (!self->gates || haul_gates_passed(self, actor)) {
        haul_server_enter(self, actor);
    }
}

/* The stream looks at its next operation at once; a resource that became free is given out later,
 * when all events of the instant are through. */
static void finish(haul_engine *self, uint32_t actor)
{
    haul_actor *stream = &self->actors[actor];
    haul_server_leave(self, actor);
    haul_engine_end(self, stream->op, self->now_ns);
    stream->left--;
    stream->before = stream->cause = stream->op;
    stream->op = stream->next;
    stream->edge = HAUL_NONE;
    stream->state = stream->op == HAUL_NONE ? HAUL_ACTOR_DONE : HAUL_ACTOR_LOOKS;
    if (self->gates)
        haul_gates_mark(self, stream->device);
    if (stream->op != HAUL_NONE)
        look(self, actor);
}

static void take_events(haul_engine *self)
{
    while (!self->status && haul_event_queue_next_ns(&self->events) <= self->now_ns) {
        const uint32_t actor = haul_event_queue_take(&self->events);
        if (actor >= self->stream_count)
            haul_thread_step(self, actor);
        else if (self->actors[actor].state == HAUL_ACTOR_RUNS)
            finish(self, actor);
        else if (self->actors[actor].state == HAUL_ACTOR_GATED)
            haul_gates_mark(self, self->actors[actor].device);
        else
            look(self, actor);
    }
}

void haul_engine_advance(haul_engine *self, int64_t until_ns, uint32_t until_op)
{
    int64_t next_ns;
    haul_gates_open(self);
    while (!self->status && (next_ns = haul_event_queue_next_ns(&self->events)) <= until_ns &&
           next_ns != INT64_MAX) {
        self->now_ns = next_ns;
        do
            take_events(self);
        while (self->moved_count && haul_gates_open(self)); /* most machines have no gates */
        haul_server_start(self);
        if (self->moved_count)
            haul_gates_open(self);
        if (until_op != HAUL_NONE && haul_end_is_known(&self->progress[until_op]))
            until_ns = self->now_ns;
    }
}

haul_status haul_engine_run(haul_engine *self)
{
    haul_engine_advance(self, INT64_MAX, HAUL_NONE);
    if (!self->status && self->finished < self->workload->op_count)
        return haul_engine_explain(self);
    return self->status;
}
