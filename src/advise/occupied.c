/* How much of the run before changes an operation, its call and the waits for it take: no change of
 * it can save more. Recorded times do not tell that of another machine, on which slower kernels
 * make calls wait longer. */
#include <stdlib.h>
#include <string.h>

#include "advise/advisor.h"
#include "timeline/engine_parts.h"

typedef struct occupied {
    const haul_workload *workload;
    const haul_timeline *timeline;
    const haul_timeline_options *options;
    int64_t *held_ns;
    int64_t *ready_ns; /* when the operation could start, but for its engine */
} occupied;

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* When a call returned that was made at `called_ns`; blocking ones so long after the end of their
 * operation as recorded, as the engine has it. */
static int64_t return_ns(const occupied *self, uint32_t i, int64_t called_ns)
{
    const haul_op *op = &self->workload->ops[i];
    const int64_t end_ns = self->timeline->ops[i].end_ns;
    if (haul_op_on_host(op))
        return later(called_ns, end_ns);
    if (!(op->flags & HAUL_OP_BLOCKS))
        return hl_base_end_of(called_ns, hl_timeline_call_ns(self->options, self->workload, i));
    const int64_t since_ns = op->call_ns + op->call_dur_ns - (op->start_ns + op->dur_ns);
    return later(called_ns,
                 hl_base_end_of(end_ns, hl_timeline_host_ns(self->options, later(since_ns, 0))));
}

/* Follows one thread. Waits for a full queue are left out, so that a call may be taken for earlier
 * than it was made, and longer, until the next wait. */
static void follow(occupied *self, const uint32_t *next, uint32_t first)
{
    int64_t called_ns =
        hl_timeline_called_ns(&self->workload->ops[first]) - self->timeline->origin_ns;
    for (uint32_t i = first; i != HAUL_NONE; i = next[i]) {
        const haul_op *op = &self->workload->ops[i];
        if (haul_op_on_host(op))
            called_ns = self->timeline->ops[i].start_ns;
        const int64_t returned_ns = return_ns(self, i, called_ns);
        self->held_ns[i] = returned_ns - called_ns;
        self->ready_ns[i] = later(called_ns, 0);
        if (next[i] != HAUL_NONE)
            called_ns = hl_timeline_due_ns(self->options, op, &self->workload->ops[next[i]],
                                           called_ns, returned_ns);
    }
}

/* From when the stream, its call and its edges let an operation start to its end: its stream is
 * free so much sooner without it. The host's waits for it may go with it. */
static void end_streams(occupied *self, int64_t *device_ns)
{
    const haul_workload *workload = self->workload;
    const haul_span *spans = self->timeline->ops;
    for (size_t e = 0; e < workload->edge_count; e++) {
        int64_t *ready_ns = &self->ready_ns[workload->edges[e].after];
        *ready_ns = later(*ready_ns, spans[workload->edges[e].before].end_ns);
    }
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (haul_op_on_device(op) && op->stream_prev != HAUL_NONE)
            self->ready_ns[i] = later(self->ready_ns[i], spans[op->stream_prev].end_ns);
        device_ns[i] = haul_op_on_device(op) ? later(spans[i].end_ns - self->ready_ns[i], 0) : 0;
    }
    for (size_t e = 0; e < workload->edge_count; e++) {
        const haul_edge *edge = &workload->edges[e];
        if (workload->ops[edge->after].kind == HAUL_OP_SYNC)
            device_ns[edge->before] =
                hl_base_add_ns(device_ns[edge->before], self->held_ns[edge->after]);
    }
}

haul_status hl_advise_occupied_find(hl_advise_advisor *self, haul_error *error)
{
    const haul_workload *workload = self->workload;
    const size_t count = workload->op_count + 1;
    const haul_timeline_options options = {.release = HAUL_RELEASE_HOST,
                                           .call_durations_ns = self->study.call_durations_ns,
                                           .host_time =
                                               self->baselines[HL_TIMELINE_LIKELY].host_time};
    uint32_t *next = malloc(count * sizeof *next);
    self->held_ns = calloc(count, sizeof *self->held_ns);
    self->device_ns = calloc(count, sizeof *self->device_ns);
    if (!next || !self->held_ns || !self->device_ns) {
        free(next);
        return hl_base_fail_no_memory(error);
    }
    memset(next, 0xff, count * sizeof *next); /* HAUL_NONE */
    for (uint32_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].thread != HAUL_NONE && workload->ops[i].thread_prev != HAUL_NONE)
            next[workload->ops[i].thread_prev] = i;
    /* the times at which they are ready become those that they take, each in its place */
    occupied found = {workload, self->before, &options, self->held_ns, self->device_ns};
    for (uint32_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].thread != HAUL_NONE && workload->ops[i].thread_prev == HAUL_NONE)
            follow(&found, next, i);
    end_streams(&found, self->device_ns);
    free(next);
    self->study.held_ns = self->held_ns;
    self->study.device_ns = self->device_ns;
    return HAUL_OK;
}
