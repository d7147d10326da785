/* When the data moves. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "device/sim_device.h"

static void do_work(haul_sim_node *node, size_t at)
{
    haul_sim_work *work = &node->works[at];
    work->is_done = true;
    node->undone--;
    switch (work->kind) {
    case HAUL_SIM_COPY:
        if (work->copy.to && work->copy.from)
            haul_host_copy(work->copy.to, work->copy.from, &work->copy.shape);
        break;
    case HAUL_SIM_FILL:
        if (work->fill.at)
            memset(work->fill.at, work->fill.value, work->fill.bytes);
        break;
    case HAUL_SIM_CALL:
        work->call.function(work->call.state);
        break;
    case HAUL_SIM_KERNEL:
        haul_host_call_run(&work->kernel);
        haul_host_call_release(&work->kernel);
        break;
    case HAUL_SIM_NOTHING:
        break;
    }
}

typedef struct moment {
    int64_t start_ns;
    size_t at;
} moment;

static int by_start(const void *a, const void *b)
{
    const moment *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* All that has ended, in the order of starts: an operation starts when what it depends on has
 * ended. */
static haul_status in_time(haul_sim_node *self, haul_error *error)
{
    if (!self->undone)
        return HAUL_OK;
    moment *moments = malloc(self->undone * sizeof *moments);
    if (!moments)
        return haul_fail_no_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < self->timed; i++)
        if (!self->works[i].is_done && self->spans[i].end_ns <= self->now_ns)
            moments[count++] = (moment){self->spans[i].start_ns, i};
    qsort(moments, count, sizeof *moments, by_start);
    for (size_t i = 0; i < count; i++)
        do_work(self, moments[i].at);
    free(moments);
    return HAUL_OK;
}

static size_t edge_end(const haul_sim_node *self, size_t at)
{
    return at + 1 < self->count ? self->works[at + 1].edge_begin : self->edge_count;
}

/* The target and what it depends on, nothing else. All of that was queued before it. */
static haul_status late(haul_sim_node *self, size_t target, haul_error *error)
{
    bool *needed = calloc(target + 1, sizeof *needed);
    if (!needed)
        return haul_fail_no_memory(error);
    needed[target] = true;
    for (size_t at = target + 1; at-- > 0;) {
        if (!needed[at] || self->works[at].is_done)
            continue;
        if (self->ops[at].stream_prev != HAUL_NONE)
            needed[self->ops[at].stream_prev] = true;
        for (size_t e = self->works[at].edge_begin; e < edge_end(self, at); e++)
            needed[self->edges[e].before] = true;
    }
    for (size_t at = 0; at <= target; at++)
        if (needed[at] && !self->works[at].is_done)
            do_work(self, at);
    free(needed);
    return HAUL_OK;
}

static bool is_ready(const haul_sim_node *self, size_t at)
{
    const uint32_t before = self->ops[at].stream_prev;
    bool ready = !self->works[at].is_done && (before == HAUL_NONE || self->works[before].is_done);
    for (size_t e = self->works[at].edge_begin; ready && e < edge_end(self, at); e++)
        ready = self->works[self->edges[e].before].is_done;
    return ready;
}

/* xorshift64*: Vigna, An experimental exploration of Marsaglia's xorshift generators, 2016 */
static uint64_t next_random(haul_sim_node *self)
{
    self->random ^= self->random >> 12;
    self->random ^= self->random << 25;
    self->random ^= self->random >> 27;
    return self->random * 0x2545f4914f6cdd1d;
}

/* Any operation that may run, one after another, until the target has. */
static void at_random(haul_sim_node *self, size_t target)
{
    while (!self->works[target].is_done) {
        size_t chosen = target, ready = 0;
        for (size_t at = 0; at < self->count; at++)
            if (is_ready(self, at) && next_random(self) % ++ready == 0)
                chosen = at;
        do_work(self, chosen);
    }
}

haul_status haul_sim_work_off(haul_sim_node *node, size_t target, haul_error *error)
{
    if (node->order == HAUL_ORDER_USUAL)
        return in_time(node, error);
    if (node->order == HAUL_ORDER_LATE)
        return late(node, target, error);
    at_random(node, target);
    return HAUL_OK;
}
