/* The work of host threads: call, wait, return. */
#include "base/intervals.h"
#include "timeline/engine_parts.h"
#include "workload/op_class.h"

/* How long a call takes in this run. */
static int64_t asked_dur_ns(const haul_engine *self, uint32_t op)
{
    return self->options->call_durations_ns ? self->options->call_durations_ns[op]
                                            : haul_call_dur_ns(&self->workload->ops[op]);
}

/* When the thread makes its next call: the recorded time between the two passes again. A call
 * within another keeps its distance from the start of the outer one. */
static int64_t next_call_ns(const haul_engine *self, const haul_op *op, const haul_op *next,
                            int64_t start_ns, int64_t end_ns)
{
    const int64_t called_ns = haul_called_ns(op), next_ns = haul_called_ns(next);
    if (self->options->release == HAUL_RELEASE_RECORDED) {
        const int64_t due_ns = next_ns - self->origin_ns;
        return op->kind == HAUL_OP_SYNC && end_ns > due_ns ? end_ns : due_ns;
    }
    const int64_t returned_ns = called_ns + haul_call_dur_ns(op);
    return next_ns >= returned_ns ? haul_end_of(end_ns, next_ns - returned_ns)
                                  : start_ns + (next_ns - called_ns);
}

static void return_at(haul_engine *self, uint32_t actor, int64_t end_ns)
{
    haul_actor *thread = &self->actors[actor];
    const uint32_t next = self->calls[thread->op].next;
    if (self->queue_depth) {
        self->calls[thread->op].room_for = thread->before;
        thread->before = HAUL_NONE;
    }
    if (next == HAUL_NONE) {
        thread->state = HAUL_ACTOR_DONE;
        return;
    }
    const haul_op *ops = self->workload->ops;
    const int64_t due_ns =
        next_call_ns(self, &ops[thread->op], &ops[next], thread->since_ns, end_ns);
    thread->op = next;
    thread->edge = HAUL_NONE;
    thread->state = HAUL_ACTOR_LOOKS;
    haul_engine_schedule(self, actor, due_ns > self->now_ns ? due_ns : self->now_ns);
}

static int64_t positive(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

/* How long a wait went on, as recorded, after its operations had ended. */
static int64_t wait_tail_ns(const haul_engine *self, uint32_t at)
{
    const haul_workload *workload = self->workload;
    const haul_op *wait = &workload->ops[at];
    int64_t met_ns = wait->start_ns;
    for (uint32_t e = self->edge_begin[at]; e < self->edge_begin[at + 1]; e++) {
        const haul_op *before = &workload->ops[workload->edges[e].before];
        const int64_t end_ns = before->start_ns + before->dur_ns;
        met_ns = end_ns > met_ns ? end_ns : met_ns;
    }
    return positive(wait->start_ns + wait->dur_ns - met_ns);
}

static bool waits(const haul_engine *self, uint32_t op)
{
    return self->workload->ops[op].kind == HAUL_OP_SYNC && self->edge_begin &&
           self->edge_begin[op] < self->edge_begin[op + 1];
}

static void go_on_waiting(haul_engine *self, uint32_t actor)
{
    haul_actor *thread = &self->actors[actor];
    const uint32_t op = thread->op;
    if (!haul_engine_edges_passed(self, actor))
        return;
    const int64_t end_ns =
        self->now_ns + (waits(self, op) ? wait_tail_ns(self, op) : asked_dur_ns(self, op));
    self->streams[op].cause = thread->cause;
    haul_engine_end(self, op, end_ns);
    return_at(self, actor, end_ns);
}

static int64_t release_of(const haul_engine *self, uint32_t op)
{
    const haul_timeline_device *device = &self->options->device;
    const haul_op *called = &self->workload->ops[op];
    const bool on_return =
        device->issue_on_return[called->kind] && !(called->flags & HAUL_OP_BLOCKS);
    const int64_t returned_ns = self->now_ns + (on_return ? asked_dur_ns(self, op) : 0);
    return haul_end_of(returned_ns, device->issue_ns[called->kind]);
}

/* Calls an operation; where it is the head of its stream, the stream goes on. */
static void issue(haul_engine *self, uint32_t op)
{
    const haul_op *called = &self->workload->ops[op];
    const int64_t release_ns = release_of(self, op);
    const uint32_t actor = haul_stream_actor(self, called);
    haul_actor *stream = &self->actors[actor];
    self->progress[op].start_ns = release_ns;
    if (stream->op != op || stream->state != HAUL_ACTOR_UNCALLED)
        return;
    stream->state = HAUL_ACTOR_LOOKS;
    stream->cause = HAUL_NONE;
    haul_engine_schedule(self, actor, release_ns);
}

/* Whether earlier operations fill the queue of an operation's stream; then the thread waits for the
 * one at its head. Where that one has not been called itself, the wait might never end. Operations
 * that another thread called ahead of their turn come behind, and take no place. */
static bool queue_is_full(haul_engine *self, uint32_t actor)
{
    haul_actor *thread = &self->actors[actor];
    const haul_op *op = &self->workload->ops[thread->op];
    const haul_actor *stream = &self->actors[haul_stream_actor(self, op)];
    if (haul_op_on_host(op) || stream->state == HAUL_ACTOR_UNCALLED ||
        stream->left - 1 - haul_behind(&self->progress[thread->op]) < self->queue_depth)
        return false;
    thread->before = stream->op;
    return !haul_engine_passed(self, actor, stream->op);
}

static void call(haul_engine *self, uint32_t actor)
{
    haul_actor *thread = &self->actors[actor];
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
    if (!blocks || haul_engine_passed(self, actor, thread->op))
        return_at(self, actor, self->now_ns + asked_dur_ns(self, thread->op));
}

static void resume(haul_engine *self, uint32_t actor)
{
    const uint32_t at = self->actors[actor].op;
    const haul_op *op = &self->workload->ops[at];
    if (!haul_is_called(&self->progress[at])) {
        call(self, actor);
        return;
    }
    if (haul_op_on_host(op)) {
        go_on_waiting(self, actor);
        return;
    }
    const int64_t returned_ns = op->call_ns + op->call_dur_ns;
    const int64_t since_ns = positive(returned_ns - (op->start_ns + op->dur_ns));
    return_at(self, actor, haul_end_of(self->now_ns, since_ns));
}

void haul_thread_step(haul_engine *self, uint32_t actor)
{
    if (self->actors[actor].state == HAUL_ACTOR_WAITS)
        resume(self, actor);
    else
        call(self, actor);
}
