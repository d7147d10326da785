/* When the data moves. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "device/sim_device.h"

/* Moves the data of one operation, once. */
static void do_work(hl_device_sim_node *node, uint32_t at)
{
    hl_device_sim_work *work = &node->works[at];
    hl_device_sim_stream *on = node->streams[node->live.ops[at].stream];
    if (work->is_done)
        return;
    work->is_done = true;
    node->undone--;
    hl_device_host_task_run(&work->task);
    if (on->undone == at)
        on->undone = work->next;
}

/* The operation to be done first: the one before it on its stream, else one that
 * it waits for, else HAUL_NONE. */
static uint32_t obstacle_of(const hl_device_sim_node *self, uint32_t at)
{
    const uint32_t before = self->live.ops[at].stream_prev;
    const uint32_t *edges = &self->live.engine.edge_begin[at];
    if (before != HAUL_NONE && !self->works[before].is_done)
        return before;
    for (uint32_t e = edges[0]; e < edges[1]; e++)
        if (!self->works[self->live.edges[e].before].is_done)
            return self->live.edges[e].before;
    return HAUL_NONE;
}

/* The target and what it depends on, nothing else. */
static haul_status late(hl_device_sim_node *self, uint32_t target, haul_error *error)
{
    uint32_t *stack = NULL;
    size_t count = 0, capacity = 0;
    for (uint32_t at = target;;) {
        const uint32_t obstacle = self->works[at].is_done ? HAUL_NONE : obstacle_of(self, at);
        if (obstacle == HAUL_NONE) {
            do_work(self, at);
            if (!count)
                break;
            at = stack[--count];
            continue;
        }
        if (!hl_base_grow(&stack, &capacity, count + 1, sizeof *stack)) {
            free(stack);
            return hl_base_fail_no_memory(error);
        }
        stack[count++] = at;
        at = obstacle;
    }
    free(stack);
    return HAUL_OK;
}

/* xorshift64*: Vigna, An experimental exploration of Marsaglia's xorshift generators, 2016 */
static uint64_t next_random(hl_device_sim_node *self)
{
    self->random ^= self->random >> 12;
    self->random ^= self->random << 25;
    self->random ^= self->random >> 27;
    return self->random * 0x2545f4914f6cdd1d;
}

haul_status hl_device_sim_work_off(hl_device_sim_node *node, uint32_t target, haul_error *error)
{
    if (node->order == HAUL_ORDER_LATE)
        return late(node, target, error);
    if (node->order == HAUL_ORDER_RANDOM) {
        /* Any operation that may run, one after another, until the target has: each stream's first.
         */
        while (!node->works[target].is_done) {
            uint32_t chosen = target, ready = 0;
            for (size_t i = 0; i < node->stream_count; i++) {
                const uint32_t at = node->streams[i] ? node->streams[i]->undone : HAUL_NONE;
                if (at != HAUL_NONE && obstacle_of(node, at) == HAUL_NONE &&
                    next_random(node) % ++ready == 0)
                    chosen = at;
            }
            do_work(node, chosen);
        }
    } else {
        /* All that has ended, in the order of ends: an operation starts when what it depends on has
         * ended.
         */
        while (node->settled < node->live.engine.finished)
            do_work(node, node->live.engine.ended[node->settled++]);
    }
    return HAUL_OK;
}
