/* Steps that all parts of the engine take: an actor gets its event, waits for an end or is woken by
 * one, and the engine stops at the first failure. */
#include <inttypes.h>
#include <stdio.h>

#include "timeline/engine_parts.h"

hl_timeline_op_title hl_timeline_engine_name(const hl_timeline_engine *self, uint32_t op)
{
    hl_timeline_op_title title;
    if (self->options->name)
        self->options->name(self->options->name_state, op, title.text, sizeof title.text);
    else
        snprintf(title.text, sizeof title.text, "%" PRIu32, op);
    return title;
}

/* Names the operation as its caller knows it: a schedule's has a name. */
haul_status hl_timeline_engine_fail(hl_timeline_engine *self, haul_status status, uint32_t op,
                                    const char *text)
{
    const uint8_t kind = self->workload->ops[op].kind;
    return haul_error_set(self->error, status, "operation %s, %s%s, %s",
                          hl_timeline_engine_name(self, op).text, kind < HAUL_OP_KINDS ? "a " : "",
                          haul_op_kind_text((haul_op_kind)kind), text);
}

void hl_timeline_engine_stop(hl_timeline_engine *self, haul_status status)
{
    if (!self->status)
        self->status = status;
}

/* The refusal keeps every sum of times within 63 bits, so that the loop need not check each. */
void hl_timeline_engine_schedule(hl_timeline_engine *self, uint32_t actor, int64_t time_ns)
{
    if (time_ns > 2 * hl_timeline_time_limit_ns && !self->status) {
        hl_timeline_engine_stop(self, hl_timeline_engine_fail(self, HAUL_STATUS_BAD_INPUT,
                                                              self->actors[actor].op,
                                                              "takes the timeline beyond 2^62 ns"));
        return;
    }
    self->actors[actor].due_ns = time_ns;
    hl_timeline_event_queue_set(&self->events, actor, time_ns);
}

/* Waiting actors form a list through the place of the end that is not known yet: no memory is
 * needed, however many wait. */
bool hl_timeline_engine_passed(hl_timeline_engine *self, uint32_t actor, uint32_t before)
{
    hl_timeline_actor *waiting = &self->actors[actor];
    hl_timeline_progress *of = &self->progress[before];
    const bool is_known = hl_timeline_end_is_known(of);
    if (is_known && of->end_ns <= self->now_ns)
        return true;
    waiting->state = HL_TIMELINE_ACTOR_WAITS;
    waiting->blocker = waiting->cause = before;
    if (is_known) {
        hl_timeline_engine_schedule(self, actor, of->end_ns);
        return false;
    }
    waiting->next_in_list = hl_timeline_first_waiter(of);
    hl_timeline_set_first_waiter(of, actor);
    return false;
}

/* Edges that ended are not looked at again: the actor remembers how far it came. */
bool hl_timeline_engine_edges_passed(hl_timeline_engine *self, uint32_t actor)
{
    hl_timeline_actor *waiting = &self->actors[actor];
    if (!self->edge_begin)
        return true;
    if (waiting->edge == HAUL_NONE)
        waiting->edge = self->edge_begin[waiting->op];
    while (waiting->edge < self->edge_begin[waiting->op + 1]) {
        if (!hl_timeline_engine_passed(self, actor, self->workload->edges[waiting->edge].before))
            return false;
        waiting->edge++;
    }
    return true;
}

static void extend(hl_timeline_extent *self, const hl_timeline_progress *by, uint32_t op)
{
    self->start_ns = by->start_ns < self->start_ns ? by->start_ns : self->start_ns;
    if (by->end_ns < self->end_ns || (by->end_ns == self->end_ns && op > self->last))
        return;
    self->end_ns = by->end_ns;
    self->last = op;
}

/* Actors that wait are woken at the present instant: those of an end in the future look at it then.
 */
void hl_timeline_engine_end(hl_timeline_engine *self, uint32_t op, haul_op_place place,
                            int64_t end_ns)
{
    hl_timeline_progress *of = &self->progress[op];
    uint32_t actor = hl_timeline_first_waiter(of);
    of->end_ns = end_ns;
    extend(&self->extents[place], of, op);
    if (self->ended)
        self->ended[self->finished] = op;
    self->finished++;
    for (; actor != HAUL_NONE; actor = self->actors[actor].next_in_list)
        hl_timeline_engine_schedule(self, actor, self->now_ns);
}

/* Delays are few and sorted by operation: most runs have none. */
int64_t hl_timeline_delay_of(const haul_timeline_options *options, uint32_t op)
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
