/* Why the engine stopped before the end: actors wait for each other in a cycle. */

#include "base/fail.h"
#include "timeline/engine_parts.h"

/* The operation that an actor waits for. */
static uint32_t blocker_of(const haul_engine *self, const haul_actor *actor)
{
    switch (actor->state) {
    case HAUL_ACTOR_UNCALLED:
        return actor->op;
    case HAUL_ACTOR_WAITS:
        return actor->blocker;
    case HAUL_ACTOR_GATED:
        return haul_gate_blocker(self, actor->device, HAUL_GATE_STARTS);
    case HAUL_ACTOR_HELD:
        return haul_gate_blocker(self, actor->device, HAUL_GATE_CHECKS);
    default:
        return HAUL_NONE;
    }
}

/* No actor waits, yet operations are left: their calls cannot be reached from their thread's first.
 */
static haul_status first_unfinished(haul_engine *self)
{
    uint32_t op = 0;
    while (haul_end_is_known(&self->progress[op]))
        op++;
    return haul_engine_fail(self, HAUL_BAD_INPUT, op,
                            "is never called: the calls before it on its thread form a cycle");
}

/* After as many steps as there are actors, twice, every further one is on the cycle. An operation
 * that is not called yet waits for its thread, every other for its stream. */
haul_status haul_engine_explain(haul_engine *self)
{
    uint32_t at = 0;
    while (at < self->actor_count && blocker_of(self, &self->actors[at]) == HAUL_NONE)
        at++;
    if (at == self->actor_count)
        return first_unfinished(self);
    for (uint32_t step = 0; step < 2 * self->actor_count; step++) {
        const uint32_t blocker = blocker_of(self, &self->actors[at]);
        if (blocker == HAUL_NONE)
            return first_unfinished(self);
        const haul_op *waited = &self->workload->ops[blocker];
        at = haul_stream_actor(self, waited);
        if (haul_op_on_host(waited) ||
            (self->actors[at].op == blocker && self->actors[at].state == HAUL_ACTOR_UNCALLED))
            at = haul_thread_actor(self, waited);
    }
    const uint32_t blocker = blocker_of(self, &self->actors[at]);
    if (blocker == HAUL_NONE)
        return first_unfinished(self);
    const haul_op_title waiting = haul_engine_name(self, self->actors[at].op);
    return haul_fail(self->error, HAUL_BAD_INPUT,
                     "operation %s waits, through its dependencies, its stream and its thread, for "
                     "operation %s, which waits for it: a cycle",
                     waiting.text, haul_engine_name(self, blocker).text);
}
