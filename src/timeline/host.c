/* The work of host threads: call, wait, return. Between a return and the next call passes the
 * recorded time, for that is the program's own work, whatever the device's speed. */
#include "base/intervals.h"
#include "timeline/engine_parts.h"
#include "workload/op_class.h"

/* How long a call takes in this run. */
static int64_t asked_dur_ns(const hl_timeline_engine *self, uint32_t op)
{
    return hl_timeline_call_ns(self->options, self->workload, op);
}

static int64_t positive(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

/* How long the host's own operation goes on after its edges have ended: a wait as long as it did,
 * recorded, after its operations had. */
static int64_t tail_ns(const hl_timeline_engine *self, uint32_t at)
{
    const haul_workload *workload = self->workload;
    const haul_op *wait = &workload->ops[at];
    int64_t met_ns = wait->start_ns;
    if (wait->kind != HAUL_OP_SYNC || !self->edge_begin ||
        self->edge_begin[at] == self->edge_begin[at + 1])
        return asked_dur_ns(self, at);
    for (uint32_t e = self->edge_begin[at]; e < self->edge_begin[at + 1]; e++) {
        const haul_op *before = &workload->ops[workload->edges[e].before];
        const int64_t end_ns = before->start_ns + before->dur_ns;
        met_ns = end_ns > met_ns ? end_ns : met_ns;
    }
    return hl_timeline_host_ns(self->options, positive(wait->start_ns + wait->dur_ns - met_ns));
}

/* How long after its call an operation is issued: from the call's return where the profile shows
 * that, but not of calls that block, which return when the operation has ended. */
static int64_t issue_lag_ns(const hl_timeline_engine *self, uint32_t op)
{
    const haul_timeline_device *device = &self->options->device;
    const haul_op *called = &self->workload->ops[op];
    const bool on_return =
        device->issue_on_return[called->kind] && !(called->flags & HAUL_OP_BLOCKS);
    const bool is_delayed = self->options->delay_count && !on_return;
    const int64_t delay_ns = is_delayed ? hl_timeline_delay_of(self->options, op) : 0;
    const int64_t issue_ns = device->issue_ns[called->kind] + (delay_ns < 0 ? delay_ns : 0);
    return hl_base_end_of(positive(issue_ns), on_return ? asked_dur_ns(self, op) : 0);
}

/* Calls an operation; where it is the head of its stream, the stream goes on when the operation is
 * issued. */
static void issue(hl_timeline_engine *self, uint32_t op, int64_t called_ns)
{
    const int64_t release_ns = hl_base_end_of(called_ns, issue_lag_ns(self, op));
    const uint32_t actor = hl_timeline_stream_actor(self, &self->workload->ops[op]);
    hl_timeline_actor *stream = &self->actors[actor];
    self->progress[op].start_ns = release_ns;
    if (stream->op != op || stream->state != HL_TIMELINE_ACTOR_UNCALLED)
        return;
    stream->state = HL_TIMELINE_ACTOR_LOOKS;
    stream->cause = HAUL_NONE;
    hl_timeline_engine_schedule(self, actor, release_ns);
}

/* An operation's release is known from its call on, so calls are made ahead of their time and most
 * need no event. That shows only where a stream comes to an operation at the instant of its call:
 * threads have their turns behind all streams then. */
bool hl_timeline_call_is_made(const hl_timeline_engine *self, uint32_t op)
{
    const haul_op *called = &self->workload->ops[op];
    if (!self->calls_ahead || called->thread == HAUL_NONE)
        return true;
    const int64_t called_ns = self->progress[op].start_ns - issue_lag_ns(self, op);
    const hl_timeline_actor *thread = &self->actors[hl_timeline_thread_actor(self, called)];
    return called_ns < self->now_ns ||
           (called_ns == self->now_ns && (self->is_later_round || thread->turn_ns == called_ns));
}

/* The thread gets an event, beside its own, at which it wakes the stream. */
void hl_timeline_thread_await(hl_timeline_engine *self, uint32_t stream)
{
    hl_timeline_actor *waiting = &self->actors[stream];
    const uint32_t actor = hl_timeline_thread_actor(self, &self->workload->ops[waiting->op]);
    hl_timeline_actor *thread = &self->actors[actor];
    waiting->state = HL_TIMELINE_ACTOR_UNCALLED;
    waiting->next_in_list = thread->first_late;
    thread->first_late = stream;
    hl_timeline_event_queue_set(&self->events, actor, self->now_ns);
}

static void wake_late(hl_timeline_engine *self, hl_timeline_actor *thread)
{
    uint32_t late = thread->first_late;
    thread->first_late = HAUL_NONE;
    while (late != HAUL_NONE) {
        hl_timeline_actor *stream = &self->actors[late];
        const uint32_t next = stream->next_in_list;
        stream->state = HL_TIMELINE_ACTOR_LOOKS;
        stream->cause = HAUL_NONE;
        hl_timeline_engine_schedule(self, late, self->now_ns);
        late = next;
    }
}

/* By the time of a call its lines have come from memory: those of the one so many calls later are
 * asked for now. */
static void fetch_call(const hl_timeline_engine *self, hl_timeline_actor *thread)
{
    const uint32_t next = self->calls[thread->fetched].next;
    if (next == HAUL_NONE)
        return;
    thread->fetched = next;
    __builtin_prefetch(&self->workload->ops[next]);
    __builtin_prefetch(&self->workload->ops[next].thread);
    __builtin_prefetch(&self->progress[next], 1);
}

/* The call returns at `end_ns`; the next one, where there is one, is due then or later, and not
 * before `now_ns`. */
static bool has_next(hl_timeline_engine *self, hl_timeline_actor *thread, int64_t end_ns,
                     int64_t now_ns, int64_t *due_ns)
{
    const uint32_t next = self->calls[thread->op].next;
    if (self->queue_depth) {
        self->calls[thread->op].room_for = thread->before;
        thread->before = HAUL_NONE;
    }
    thread->state = next == HAUL_NONE ? HL_TIMELINE_ACTOR_DONE : HL_TIMELINE_ACTOR_LOOKS;
    if (next == HAUL_NONE)
        return false;
    const haul_op *op = &self->workload->ops[thread->op], *call = &self->workload->ops[next];
    int64_t next_ns = 0;
    if (self->options->release == HAUL_RELEASE_HOST) {
        next_ns = hl_timeline_due_ns(self->options, op, call, thread->since_ns, end_ns);
    } else {
        next_ns = hl_timeline_called_ns(call) - self->origin_ns;
        next_ns = op->kind == HAUL_OP_SYNC && end_ns > next_ns ? end_ns : next_ns;
    }
    fetch_call(self, thread);
    thread->op = next;
    thread->edge = HAUL_NONE;
    *due_ns = next_ns > now_ns ? next_ns : now_ns;
    return true;
}

/* Whether earlier operations leave room in the queue of one that is not called yet. */
static bool has_room(const hl_timeline_engine *self, uint32_t op)
{
    const hl_timeline_actor *stream =
        &self->actors[hl_timeline_stream_actor(self, &self->workload->ops[op])];
    return hl_timeline_place(&self->progress[op]) - stream->ended < self->queue_depth;
}

/* Whether nothing that happens before the call, which is due at `due_ns`, changes it: it neither
 * waits nor blocks, and its queue has room, of which there is only more by then. */
static bool is_sure(const hl_timeline_engine *self, uint32_t op, int64_t due_ns)
{
    const haul_op *called = &self->workload->ops[op];
    const bool blocks =
        self->options->release == HAUL_RELEASE_HOST && (called->flags & HAUL_OP_BLOCKS) != 0;
    return self->calls_ahead && !haul_op_on_host(called) && !blocks &&
           due_ns <= hl_timeline_time_limit_ns && (!self->queue_depth || has_room(self, op));
}

/* So many calls of a thread are made at one event: of 8 to 64 as good as any, and their operations'
 * lines are in the caches still when these run. */
enum { CALLS_AHEAD = 16 };

static void return_at(hl_timeline_engine *self, uint32_t actor, int64_t end_ns)
{
    hl_timeline_actor *thread = &self->actors[actor];
    int64_t due_ns = 0;
    bool goes_on = has_next(self, thread, end_ns, self->now_ns, &due_ns);
    for (int i = 0; goes_on && i < CALLS_AHEAD && is_sure(self, thread->op, due_ns); i++) {
        thread->since_ns = due_ns;
        issue(self, thread->op, due_ns);
        goes_on = has_next(self, thread, hl_base_end_of(due_ns, asked_dur_ns(self, thread->op)),
                           due_ns, &due_ns);
    }
    if (goes_on)
        hl_timeline_engine_schedule(self, actor, due_ns);
}

/* The end is known before it comes, so operations that wait for the host need no event of its own.
 */
static void go_on_waiting(hl_timeline_engine *self, uint32_t actor)
{
    hl_timeline_actor *thread = &self->actors[actor];
    const uint32_t op = thread->op;
    if (!hl_timeline_engine_edges_passed(self, actor))
        return;
    const int64_t end_ns = self->now_ns + tail_ns(self, op);
    self->streams[op].cause = thread->cause;
    hl_timeline_engine_end(self, op, HAUL_OP_PLACE_HOST, end_ns);
    return_at(self, actor, end_ns);
}

/* Whether the head of a stream is called only after a thread's turn now. */
static bool is_uncalled(const hl_timeline_engine *self, uint32_t op, uint32_t actor)
{
    const haul_op *head = &self->workload->ops[op];
    if (!hl_timeline_is_called(&self->progress[op]) || !self->calls_ahead ||
        head->thread == HAUL_NONE)
        return !hl_timeline_is_called(&self->progress[op]);
    const int64_t called_ns = self->progress[op].start_ns - issue_lag_ns(self, op);
    return called_ns > self->now_ns || (called_ns == self->now_ns && !self->is_later_round &&
                                        hl_timeline_thread_actor(self, head) > actor);
}

/* Whether earlier operations fill the queue of an operation's stream; then the thread waits for the
 * one at its head. Where that one has not been called itself, the wait might never end. Operations
 * that another thread called ahead of their turn come behind, and take no place. */
static bool queue_is_full(hl_timeline_engine *self, uint32_t actor)
{
    hl_timeline_actor *thread = &self->actors[actor];
    const haul_op *op = &self->workload->ops[thread->op];
    const hl_timeline_actor *stream = &self->actors[hl_timeline_stream_actor(self, op)];
    if (haul_op_on_host(op) || has_room(self, thread->op) || is_uncalled(self, stream->op, actor))
        return false;
    thread->before = stream->op;
    return !hl_timeline_engine_passed(self, actor, stream->op);
}

/* The start of the call is kept: a call within it keeps its distance from that. */
static void call(hl_timeline_engine *self, uint32_t actor)
{
    hl_timeline_actor *thread = &self->actors[actor];
    const haul_op *op = &self->workload->ops[thread->op];
    if (self->queue_depth && queue_is_full(self, actor))
        return;
    thread->since_ns = self->now_ns;
    thread->cause = HAUL_NONE;
    if (haul_op_on_host(op)) {
        self->progress[thread->op].start_ns = self->now_ns;
        go_on_waiting(self, actor);
        return;
    }
    issue(self, thread->op, self->now_ns);
    const bool blocks =
        self->options->release == HAUL_RELEASE_HOST && (op->flags & HAUL_OP_BLOCKS) != 0;
    if (!blocks || hl_timeline_engine_passed(self, actor, thread->op))
        return_at(self, actor, self->now_ns + asked_dur_ns(self, thread->op));
}

/* A thread that waits for a place in a queue has not made its call yet; one whose call blocks
 * returns, as recorded, so long after the end of the operation. */
void hl_timeline_thread_step(hl_timeline_engine *self, uint32_t actor)
{
    hl_timeline_actor *thread = &self->actors[actor];
    const uint32_t at = thread->op;
    thread->turn_ns = self->now_ns;
    if (thread->first_late != HAUL_NONE)
        wake_late(self, thread);
    if (thread->due_ns > self->now_ns) {
        hl_timeline_event_queue_set(&self->events, actor, thread->due_ns);
        return;
    }
    thread->due_ns = INT64_MAX;
    const haul_op *op = &self->workload->ops[at];
    if (thread->state != HL_TIMELINE_ACTOR_WAITS || !hl_timeline_is_called(&self->progress[at])) {
        call(self, actor);
    } else if (haul_op_on_host(op)) {
        go_on_waiting(self, actor);
    } else {
        const int64_t returned_ns = op->call_ns + op->call_dur_ns;
        const int64_t since_ns = positive(returned_ns - (op->start_ns + op->dur_ns));
        return_at(self, actor,
                  hl_base_end_of(self->now_ns, hl_timeline_host_ns(self->options, since_ns)));
    }
}
