/* The functions of the engine's parts that other parts call. */
#ifndef HAUL_TIMELINE_ENGINE_PARTS_H
#define HAUL_TIMELINE_ENGINE_PARTS_H

#include "timeline/engine.h"

/* Gives an actor its event; a time beyond what a timeline holds stops the engine. */
void haul_engine_schedule(haul_engine *self, uint32_t actor, int64_t time_ns);

/* Keeps the first failure. */
void haul_engine_stop(haul_engine *self, haul_status status);

/* Whether an operation has ended; else the actor will be woken when it has. */
bool haul_engine_passed(haul_engine *self, uint32_t actor, uint32_t before);

/* Whether all edges of an operation have ended; else the actor waits for the next of them. */
bool haul_engine_edges_passed(haul_engine *self, uint32_t actor);

/* Of the options' delays, an operation's; 0 where it has none. */
int64_t haul_delay_of(const haul_timeline_options *options, uint32_t op);

/* Sets the end of an operation, now or later, and wakes the actors that wait for it. */
void haul_engine_end(haul_engine *self, uint32_t op, int64_t end_ns);

/* A thread's event. In host.c. */
void haul_thread_step(haul_engine *self, uint32_t actor);

/* In servers.c: the head of a stream comes to its resource; all operations that may start do; an
 * operation that ran leaves. */
void haul_server_enter(haul_engine *self, uint32_t actor);
void haul_server_start(haul_engine *self);
void haul_server_leave(haul_engine *self, uint32_t actor);

/* Refuses options and operations that are out of range. In input_check.c. */
haul_status haul_engine_check(haul_engine *self);

/* In setup.c: an actor that does nothing. */
haul_actor haul_actor_idle(uint32_t device);

/* In gates.c, where there are gates: makes their lists; puts an operation behind the others of its
 * device; whether the head of a stream may come to its resource, else it waits; an operation of the
 * device has started or ended; opens the gates, and whether that let an operation through; the
 * operation that a gate waits for. */
void haul_gates_init(haul_engine *self);
void haul_gates_add(haul_engine *self, uint32_t op);
bool haul_gates_passed(haul_engine *self, uint32_t actor);
void haul_gates_mark(haul_engine *self, uint32_t device);
bool haul_gates_open(haul_engine *self);
uint32_t haul_gate_blocker(const haul_engine *self, uint32_t device, haul_gate_kind kind);

/* In speeds.c: a copy goes over its device's link from now on, or no longer. */
void haul_copy_joins(haul_engine *self, uint32_t actor);
void haul_copy_leaves(haul_engine *self, uint32_t actor);

/* The places for blocks that an operation needs. */
static inline haul_need haul_occupancy_need(const haul_engine *self, uint32_t op)
{
    if (!self->needs || self->workload->ops[op].kind != HAUL_OP_KERNEL)
        return (haul_need){0, 0, 1};
    const size_t shapes = self->workload->shape_count;
    const uint32_t shape = self->workload->ops[op].shape;
    return self->needs[shape < shapes ? shape : shapes];
}

#endif
