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

/* The call returns at `end_ns`; the thread makes its next one when that is due. */
static void return_at(hl_timeline_engine *self, uint32_t actor, int64_t end_ns)
{
    hl_timeline_actor *thread = &self->actors[actor];
    const uint32_t next = self->calls[thread->op].next;
    if (self->queue_depth) {
        self->calls[thread->op].room_for = thread->before;
        thread->before = HAUL_NONE;
    }
    if (next == HAUL_NONE) {
        thread->state = HL_TIMELINE_ACTOR_DONE;
        return;
    }
    const haul_op *op = &self->workload->ops[thread->op];
    const uint32_t after = self->calls[next].next;
    if (after != HAUL_NONE) { /* by the time of its call its lines have come from memory */
        __builtin_prefetch(&self->workload->ops[after]);
        __builtin_prefetch(&self->workload->ops[after].thread);
        __builtin_prefetch(&self->progress[after], 1);
    }
    int64_t due_ns =
        hl_timeline_due_ns(self->options, op, &self->workload->ops[next], thread->since_ns, end_ns);
    if (self->options->release == HAUL_RELEASE_RECORDED) {
        due_ns = hl_timeline_called_ns(&self->workload->ops[next]) - self->origin_ns;
        due_ns = op->kind == HAUL_OP_SYNC && end_ns > due_ns ? end_ns : due_ns;
    }
    thread->op = next;
    thread->edge = HAUL_NONE;
    thread->state = HL_TIMELINE_ACTOR_LOOKS;
    hl_timeline_engine_schedule(self, actor, due_ns > self->now_ns ? due_ns : self->now_ns);
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
    hl_timeline_engine_end(self, op, end_ns);
    return_at(self, actor, end_ns);
}

/* Calls an operation; where it is the head of its stream, the stream goes on when the operation is
 * issued, which counts from the call's return where the profile shows that, but not of calls that
 * block: those return when the operation has ended. */
static void issue(hl_timeline_engine *self, uint32_t op)
{
    const haul_timeline_device *device = &self->options->device;
    const haul_op *called = &self->workload->ops[op];
    const bool on_return =
        device->issue_on_return[called->kind] && !(called->flags & HAUL_OP_BLOCKS);
    const int64_t delay_ns = on_return ? 0 : hl_timeline_delay_of(self->options, op);
    const int64_t issue_ns = device->issue_ns[called->kind] + (delay_ns < 0 ? delay_ns : 0);
    const int64_t release_ns =
        hl_base_end_of(self->now_ns + (on_return ? asked_dur_ns(self, op) : 0), positive(issue_ns));
    const uint32_t actor = hl_timeline_stream_actor(self, called);
    hl_timeline_actor *stream = &self->actors[actor];
    self->progress[op].start_ns = release_ns;
    if (stream->op != op || stream->state != HL_TIMELINE_ACTOR_UNCALLED)
        return;
    stream->state = HL_TIMELINE_ACTOR_LOOKS;
    stream->cause = HAUL_NONE;
    hl_timeline_engine_schedule(self, actor, release_ns);
}

/* Whether earlier operations fill the queue of an operation's stream; then the thread waits for the
 * one at its head. Where that one has not been called itself, the wait might never end. Operations
 * that another thread called ahead of their turn come behind, and take no place. */
static bool queue_is_full(hl_timeline_engine *self, uint32_t actor)
{
    hl_timeline_actor *thread = &self->actors[actor];
    const haul_op *op = &self->workload->ops[thread->op];
    const hl_timeline_actor *stream = &self->actors[hl_timeline_stream_actor(self, op)];
    if (haul_op_on_host(op) || stream->state == HL_TIMELINE_ACTOR_UNCALLED ||
        hl_timeline_place(&self->progress[thread->op]) - stream->ended < self->queue_depth)
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
    issue(self, thread->op);
    const bool blocks =
        self->options->release == HAUL_RELEASE_HOST && (op->flags & HAUL_OP_BLOCKS) != 0;
    if (!blocks || hl_timeline_engine_passed(self, actor, thread->op))
        return_at(self, actor, self->now_ns + asked_dur_ns(self, thread->op));
}

/* A thread that waits for a place in a queue has not made its call yet; one whose call blocks
 * returns, as recorded, so long after the end of the operation. */
void hl_timeline_thread_step(hl_timeline_engine *self, uint32_t actor)
{
    const uint32_t at = self->actors[actor].op;
    const haul_op *op = &self->workload->ops[at];
    if (self->actors[actor].state != HL_TIMELINE_ACTOR_WAITS ||
        !hl_timeline_is_called(&self->progress[at])) {
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
