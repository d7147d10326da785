/* The functions of the engine's parts that other parts call. */
#ifndef HAUL_TIMELINE_ENGINE_PARTS_H
#define HAUL_TIMELINE_ENGINE_PARTS_H

#include "base/intervals.h"
#include "timeline/engine.h"
#include "workload/op_class.h"

/* From here to hl_timeline_engine_end in actors.c, as hl_timeline_engine_fail and _name.
 *
 * Gives an actor its event; a time beyond what a timeline holds stops the engine. */
void hl_timeline_engine_schedule(hl_timeline_engine *self, uint32_t actor, int64_t time_ns);

/* Keeps the first failure. */
void hl_timeline_engine_stop(hl_timeline_engine *self, haul_status status);

/* Whether an operation has ended; else the actor will be woken when it has. */
bool hl_timeline_engine_passed(hl_timeline_engine *self, uint32_t actor, uint32_t before);

/* Whether all edges of an operation have ended; else the actor waits for the next of them. */
bool hl_timeline_engine_edges_passed(hl_timeline_engine *self, uint32_t actor);

/* Of the options' delays, an operation's; 0 where it has none. */
int64_t hl_timeline_delay_of(const haul_timeline_options *options, uint32_t op);

/* Sets the end of an operation, now or later, and wakes the actors that wait for it. */
void hl_timeline_engine_end(hl_timeline_engine *self, uint32_t op, haul_op_place place,
                            int64_t end_ns);

/* In host.c: a thread's event; whether the call of a stream's head has been made; a stream whose
 * head is called at this very instant waits for the thread's turn. */
void hl_timeline_thread_step(hl_timeline_engine *self, uint32_t actor);
bool hl_timeline_call_is_made(const hl_timeline_engine *self, uint32_t op);
void hl_timeline_thread_await(hl_timeline_engine *self, uint32_t stream);

/* In servers.c: what an operation holds while it runs; the head of a stream comes to its resource;
 * all operations that may start do; an operation that ran leaves. */
haul_resource_kind hl_timeline_resource_of(const haul_op *op, const haul_timeline_device *device);
void hl_timeline_server_enter(hl_timeline_engine *self, uint32_t actor);
void hl_timeline_server_start(hl_timeline_engine *self);
void hl_timeline_server_leave(hl_timeline_engine *self, uint32_t actor);

/* Refuses options and counts that are out of range, and an operation. In input_check.c. */
haul_status hl_timeline_engine_check(hl_timeline_engine *self);
haul_status hl_timeline_engine_check_op(hl_timeline_engine *self, uint32_t i);

/* In setup.c: an actor that does nothing. */
hl_timeline_actor hl_timeline_actor_idle(uint32_t device);

/* In gates.c, where there are gates: makes their lists; puts an operation behind the others of its
 * device; whether the head of a stream may come to its resource, else it waits; an operation of the
 * device has started or ended; opens the gates, and whether that let an operation through; the
 * operation that a gate waits for. */
void hl_timeline_gates_init(hl_timeline_engine *self);
void hl_timeline_gates_add(hl_timeline_engine *self, uint32_t op);
bool hl_timeline_gates_passed(hl_timeline_engine *self, uint32_t actor);
void hl_timeline_gates_mark(hl_timeline_engine *self, uint32_t device);
bool hl_timeline_gates_open(hl_timeline_engine *self);
uint32_t hl_timeline_gate_blocker(const hl_timeline_engine *self, uint32_t device,
                                  hl_timeline_gate_kind kind);

/* In speeds.c: a copy goes over its device's link from now on, or no longer. */
void hl_timeline_copy_joins(hl_timeline_engine *self, uint32_t actor);
void hl_timeline_copy_leaves(hl_timeline_engine *self, uint32_t actor);

/* The duration of the host's own work at the speed of this run's host. */
static inline int64_t hl_timeline_host_ns(const haul_timeline_options *options, int64_t recorded_ns)
{
    const double most_ns = 9e18; /* less than an integer holds: the engine refuses it */
    const double ns = options->host_time * (double)recorded_ns;
    return options->host_time > 0 ? (int64_t)(ns < most_ns ? ns : most_ns) : recorded_ns;
}

/* How long a call takes in this run; a wait is not the host's own. */
static inline int64_t hl_timeline_call_ns(const haul_timeline_options *options,
                                          const haul_workload *workload, uint32_t op)
{
    const int64_t recorded_ns = hl_workload_call_dur_ns(&workload->ops[op]);
    if (options->call_durations_ns)
        return options->call_durations_ns[op];
    return workload->ops[op].kind == HAUL_OP_SYNC ? recorded_ns
                                                  : hl_timeline_host_ns(options, recorded_ns);
}

/* When a thread makes the call after `last`, which was called at `called_ns` and returned at
 * `returned_ns`: after the recorded time between the two. A call within another keeps its distance
 * from the start of the outer one. */
static inline int64_t hl_timeline_due_ns(const haul_timeline_options *options, const haul_op *last,
                                         const haul_op *next, int64_t called_ns,
                                         int64_t returned_ns)
{
    const int64_t was_called_ns = hl_timeline_called_ns(last),
                  next_ns = hl_timeline_called_ns(next);
    const int64_t had_returned_ns = was_called_ns + hl_workload_call_dur_ns(last);
    if (next_ns < was_called_ns)
        return called_ns;
    if (next_ns < had_returned_ns)
        return hl_base_end_of(called_ns, hl_timeline_host_ns(options, next_ns - was_called_ns));
    return hl_base_end_of(returned_ns, hl_timeline_host_ns(options, next_ns - had_returned_ns));
}

/* The places for blocks that an operation needs. */
static inline hl_timeline_need hl_timeline_occupancy_need(const hl_timeline_engine *self,
                                                          uint32_t op)
{
    if (!self->needs || self->workload->ops[op].kind != HAUL_OP_KERNEL)
        return (hl_timeline_need){0, 0, 1};
    const size_t shapes = self->workload->shape_count;
    const uint32_t shape = self->workload->ops[op].shape;
    return self->needs[shape < shapes ? shape : shapes];
}

#endif
