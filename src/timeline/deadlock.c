/* Why the engine stopped before the end: actors wait for each other in a cycle. */

#include "base/fail.h"
#include "timeline/engine_parts.h"

/* The operation that an actor waits for. */
static uint32_t blocker_of(const hl_timeline_engine *self, const hl_timeline_actor *actor)
{
    switch (actor->state) {
    case HL_TIMELINE_ACTOR_UNCALLED:
        return actor->op;
    case HL_TIMELINE_ACTOR_WAITS:
        return actor->blocker;
    case HL_TIMELINE_ACTOR_GATED:
        return hl_timeline_gate_blocker(self, actor->device, HL_TIMELINE_GATE_STARTS);
    case HL_TIMELINE_ACTOR_HELD:
        return hl_timeline_gate_blocker(self, actor->device, HL_TIMELINE_GATE_CHECKS);
    default:
        return HAUL_NONE;
    }
}

/* No actor waits, yet operations are left: their calls cannot be reached from their thread's first.
 */
static haul_status first_unfinished(hl_timeline_engine *self)
{
    uint32_t op = 0;
    while (hl_timeline_end_is_known(&self->progress[op]))
        op++;
    return hl_timeline_engine_fail(
        self, HAUL_STATUS_BAD_INPUT, op,
        "is never called: the calls before it on its thread form a cycle");
}

/* After as many steps as there are actors, twice, every further one is on the cycle. An operation
 * that is not called yet waits for its thread, every other for its stream. */
haul_status hl_timeline_engine_explain(hl_timeline_engine *self)
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
        at = hl_timeline_stream_actor(self, waited);
        if (haul_op_on_host(waited) || (self->actors[at].op == blocker &&
                                        self->actors[at].state == HL_TIMELINE_ACTOR_UNCALLED)) {
            /* The thread that makes the call, which may be that of one that it takes turns with:
             * the one that begins the chain. */
            uint32_t op = blocker;
            const haul_op *ops = self->workload->ops;
            for (size_t i = 0; i < self->workload->op_count && ops[op].thread_prev != HAUL_NONE;
                 i++)
                op = ops[op].thread_prev;
            at = hl_timeline_thread_actor(self, &ops[op]);
        }
    }
    const uint32_t blocker = blocker_of(self, &self->actors[at]);
    if (blocker == HAUL_NONE)
        return first_unfinished(self);
    const hl_timeline_op_title waiting = hl_timeline_engine_name(self, self->actors[at].op);
    return haul_error_set(
        self->error, HAUL_STATUS_BAD_INPUT,
        "operation %s waits, through its dependencies, its stream and its thread, for "
        "operation %s, which waits for it: a cycle",
        waiting.text, hl_timeline_engine_name(self, blocker).text);
}
