/* Operations that wait for the kernels of their device, of any stream: with implicit
 * synchronisation (CCGrid 2014, section III, from the CUDA C Programming Guide, for compute
 * capability 3.0 and lower), and migrations. */
#include <math.h>

#include "base/fail.h"
#include "timeline/engine_parts.h"

/* A stream runs its operations in order, so its head tells which of them have started. */
static bool has_started(const hl_timeline_engine *self, uint32_t op)
{
    const hl_timeline_actor *stream =
        &self->actors[hl_timeline_stream_actor(self, &self->workload->ops[op])];
    return stream->op > op || (stream->op == op && stream->state == HL_TIMELINE_ACTOR_RUNS);
}

/* When the last blocks of a kernel start, with its last wave; INT64_MAX for one that has not
 * started, 0 for one that has ended. */
static int64_t last_blocks_ns(const hl_timeline_engine *self, uint32_t op)
{
    const hl_timeline_actor *stream =
        &self->actors[hl_timeline_stream_actor(self, &self->workload->ops[op])];
    if (!has_started(self, op))
        return INT64_MAX;
    if (stream->op != op)
        return 0;
    return stream->since_ns +
           llround(hl_timeline_occupancy_need(self, op).last_wave * stream->left_ns);
}

/* STARTS: "all thread blocks of all prior kernel launches have started" (CUDA C Programming Guide,
 * Implicit Synchronization, for compute capability 3.0 and lower); of migrations, that the kernel
 * has. CHECKS: an operation right behind a kernel on its stream has not ended; asked of each
 * operation once more until it is not so. */
static bool is_shut(hl_timeline_engine *self, uint32_t op, hl_timeline_gate_kind kind)
{
    hl_timeline_actor *stream =
        &self->actors[hl_timeline_stream_actor(self, &self->workload->ops[op])];
    const bool is_kernel = self->workload->ops[op].kind == HAUL_OP_KERNEL;
    if (kind == HL_TIMELINE_GATE_STARTS)
        return is_kernel &&
               (self->options->device.implicit_sync ? self->now_ns < last_blocks_ns(self, op)
                                                    : !has_started(self, op));
    if (stream->is_behind_kernel && stream->op < op)
        return true;
    stream->is_behind_kernel = is_kernel;
    return false;
}

/* Two a device, side by side. */
static hl_timeline_gate *gate_of(const hl_timeline_engine *self, uint32_t device,
                                 hl_timeline_gate_kind kind)
{
    return &self->gates[(size_t)device * HL_TIMELINE_GATES + kind];
}

/* A marked device is looked at once an instant, however many of its operations start or end. */
void hl_timeline_gates_mark(hl_timeline_engine *self, uint32_t device)
{
    hl_timeline_gate *gate = gate_of(self, device, HL_TIMELINE_GATE_STARTS);
    if (!gate->is_marked)
        self->moved[self->moved_count++] = device;
    gate->is_marked = true;
}

/* A gate that has passed all operations waits at the next. */
void hl_timeline_gates_add(hl_timeline_engine *self, uint32_t op)
{
    const uint32_t device =
        self->actors[hl_timeline_stream_actor(self, &self->workload->ops[op])].device;
    self->device_next[op] = HAUL_NONE;
    if (self->device_last[device] != HAUL_NONE)
        self->device_next[self->device_last[device]] = op;
    self->device_last[device] = op;
    for (int kind = 0; kind < HL_TIMELINE_GATES; kind++) {
        hl_timeline_gate *gate = gate_of(self, device, (hl_timeline_gate_kind)kind);
        if (gate->op == HAUL_NONE)
            gate->op = op;
    }
    hl_timeline_gates_mark(self, device);
}

void hl_timeline_gates_init(hl_timeline_engine *self)
{
    for (uint32_t d = 0; d < self->device_count; d++) {
        self->device_last[d] = HAUL_NONE;
        for (int kind = 0; kind < HL_TIMELINE_GATES; kind++)
            gate_of(self, d, (hl_timeline_gate_kind)kind)->op = HAUL_NONE;
        hl_timeline_gates_mark(self, d);
    }
    for (uint32_t i = 0; i < self->workload->op_count; i++)
        if (!haul_op_on_host(&self->workload->ops[i]))
            hl_timeline_gates_add(self, i);
}

/* Where a gate waits for the last blocks of a kernel that runs, an actor that waits has an event
 * then, for nothing else may happen; where they have started meanwhile, the gate may open. */
static void wake_at_last_blocks(hl_timeline_engine *self, uint32_t device)
{
    const hl_timeline_gate *gate = gate_of(self, device, HL_TIMELINE_GATE_STARTS);
    if (!gate->waiting.count || gate->op == HAUL_NONE)
        return;
    const int64_t time_ns = last_blocks_ns(self, gate->op);
    if (time_ns <= self->now_ns)
        hl_timeline_gates_mark(self, device);
    else if (time_ns != INT64_MAX)
        hl_timeline_engine_schedule(self, gate->waiting.heap[0].actor, time_ns);
}

/* Whether an operation goes through. Its cause is the kernel's start, or the end before a check. */
static bool open_gate(hl_timeline_engine *self, uint32_t device, hl_timeline_gate_kind kind)
{
    hl_timeline_gate *gate = gate_of(self, device, kind);
    const uint32_t shut_by = gate->op;
    while (gate->op != HAUL_NONE && !is_shut(self, gate->op, kind))
        gate->op = self->device_next[gate->op];
    bool opened = false;
    for (; gate->waiting.count && gate->waiting.heap[0].op <= gate->op; opened = true) {
        const uint32_t actor = hl_base_waiting_take(&gate->waiting).actor;
        const haul_op *op = &self->workload->ops[shut_by];
        self->actors[actor].state = HL_TIMELINE_ACTOR_LOOKS;
        self->actors[actor].cause = kind == HL_TIMELINE_GATE_STARTS
                                        ? shut_by
                                        : self->actors[hl_timeline_stream_actor(self, op)].before;
        hl_timeline_engine_schedule(self, actor, self->now_ns);
    }
    return opened;
}

/* Operations that go through may start kernels, which moves gates again: the caller repeats this
 * until nothing moves. */
bool hl_timeline_gates_open(hl_timeline_engine *self)
{
    bool opened = false;
    const bool is_implicit = self->options->device.implicit_sync;
    while (self->moved_count) {
        const uint32_t device = self->moved[--self->moved_count];
        gate_of(self, device, HL_TIMELINE_GATE_STARTS)->is_marked = false;
        opened |= open_gate(self, device, HL_TIMELINE_GATE_STARTS);
        if (is_implicit) {
            wake_at_last_blocks(self, device);
            opened |= open_gate(self, device, HL_TIMELINE_GATE_CHECKS);
        }
    }
    return opened;
}

/* With implicit synchronisation, an operation that needs to know that a kernel is complete waits
 * until all blocks of all kernels before it have started, and later kernels wait until that kernel
 * is. A migration without a call was caused by a kernel's faults. */
static bool needs(const hl_timeline_engine *self, const hl_timeline_actor *stream,
                  hl_timeline_gate_kind kind)
{
    const haul_op *ops = self->workload->ops, *op = &ops[stream->op];
    if (!self->options->device.implicit_sync)
        return kind == HL_TIMELINE_GATE_STARTS && hl_timeline_is_fault(self, op);
    if (kind == HL_TIMELINE_GATE_CHECKS)
        return op->kind == HAUL_OP_KERNEL;
    return hl_timeline_is_fault(self, op) ||
           (stream->before != HAUL_NONE && ops[stream->before].kind == HAUL_OP_KERNEL);
}

/* An operation that waits at a gate is taken from its stream's event, and gets one when the gate
 * opens. */
bool hl_timeline_gates_passed(hl_timeline_engine *self, uint32_t actor)
{
    hl_timeline_actor *stream = &self->actors[actor];
    for (int kind = 0; kind < HL_TIMELINE_GATES; kind++) {
        hl_timeline_gate *gate = gate_of(self, stream->device, (hl_timeline_gate_kind)kind);
        if (!needs(self, stream, (hl_timeline_gate_kind)kind) || gate->op >= stream->op)
            continue;
        stream->state =
            kind == HL_TIMELINE_GATE_STARTS ? HL_TIMELINE_ACTOR_GATED : HL_TIMELINE_ACTOR_HELD;
        const hl_base_waiting_item item = {.op = stream->op, .actor = actor};
        if (!hl_base_waiting_add(&gate->waiting, item))
            hl_timeline_engine_stop(self, hl_base_fail_no_memory(self->error));
        else if (kind == HL_TIMELINE_GATE_STARTS && self->options->device.implicit_sync)
            wake_at_last_blocks(self, stream->device);
        return false;
    }
    return true;
}

uint32_t hl_timeline_gate_blocker(const hl_timeline_engine *self, uint32_t device,
                                  hl_timeline_gate_kind kind)
{
    const uint32_t op = gate_of(self, device, kind)->op;
    if (kind == HL_TIMELINE_GATE_STARTS)
        return op;
    return self->actors[hl_timeline_stream_actor(self, &self->workload->ops[op])].op;
}
