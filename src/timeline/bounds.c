/* Sums by stream and by resource, and the longest chain: operations in the order of their starts,
 * each no earlier than its call, its stream and its edges allow, whatever the resources. Contention
 * and delays only lengthen a run, so they are left out. */
#include "timeline/bounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "base/order.h"
#include "haul/units.h"
#include "timeline/engine_parts.h"
#include "workload/chains.h"
#include "workload/op_class.h"

/* A thread's last call: the operation, when it was called at the earliest, and the next. */
typedef struct caller {
    uint32_t op; /* HAUL_NONE: none yet */
    uint32_t next;
    int64_t called_ns;
} caller;

typedef struct bounds {
    const haul_workload *workload;
    const haul_timeline_options *options;
    const haul_timeline *timeline;
    int64_t *ends_ns;     /* the earliest end of each operation; 0: not known yet */
    uint32_t *next_call;  /* of the operation's thread */
    uint32_t *order;      /* of starts */
    size_t count;         /* of operations of devices */
    uint32_t *edge_begin; /* NULL: no edges */
    uint32_t *chain_of;   /* of each thread: where in `callers` its chain of calls is */
    caller *callers;
    int64_t *stream_ends_ns;
    int64_t *stream_sums_ns;
    int64_t *sums_ns; /* HAUL_RESOURCES a device */
} bounds;

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A copy behind another saves the latency at most. */
static int64_t least_dur_ns(const bounds *self, uint32_t i)
{
    const haul_op *op = &self->workload->ops[i];
    const int64_t dur_ns =
        self->options->durations_ns ? self->options->durations_ns[i] : op->dur_ns;
    const int64_t saved_ns =
        haul_op_crosses_link(op) ? self->options->device.chained_ns[op->direction] : 0;
    return later(dur_ns - saved_ns, 0);
}

/* The latest of what an operation's edges name. */
static int64_t edges_end_ns(const bounds *self, uint32_t i)
{
    int64_t end_ns = 0;
    for (uint32_t e = self->edge_begin ? self->edge_begin[i] : 0;
         self->edge_begin && e < self->edge_begin[i + 1]; e++)
        end_ns = later(end_ns, self->ends_ns[self->workload->edges[e].before]);
    return end_ns;
}

/* When the call that the thread made last returns at the earliest. */
static int64_t return_ns(const bounds *self, const caller *thread)
{
    const haul_op *op = &self->workload->ops[thread->op];
    const bool has_edges =
        self->edge_begin && self->edge_begin[thread->op] < self->edge_begin[thread->op + 1];
    if (op->kind == HAUL_OP_SYNC && has_edges)
        return later(thread->called_ns, edges_end_ns(self, thread->op));
    if (haul_op_on_device(op) && op->flags & HAUL_OP_BLOCKS)
        return later(thread->called_ns, self->ends_ns[thread->op]);
    return hl_base_end_of(thread->called_ns,
                          hl_timeline_call_ns(self->options, self->workload, thread->op));
}

/* The thread makes its calls up to that of an operation: each so long after the one before it as
 * recorded, as the engine's threads do. */
static int64_t call_ns(const bounds *self, uint32_t op)
{
    caller *thread = &self->callers[self->chain_of[self->workload->ops[op].thread]];
    while (thread->op != op && thread->next != HAUL_NONE) {
        const haul_op *next = &self->workload->ops[thread->next];
        int64_t due_ns = hl_timeline_called_ns(next) - self->timeline->origin_ns;
        if (thread->op != HAUL_NONE) {
            const haul_op *last = &self->workload->ops[thread->op];
            const int64_t returned_ns = return_ns(self, thread);
            if (haul_op_on_host(last))
                self->ends_ns[thread->op] = returned_ns;
            due_ns = hl_timeline_due_ns(self->options, last, next, thread->called_ns, returned_ns);
        }
        *thread = (caller){thread->next, self->next_call[thread->next], later(due_ns, 0)};
    }
    return thread->op == op ? thread->called_ns : 0;
}

static void add_op(bounds *self, uint32_t i)
{
    const haul_workload *workload = self->workload;
    const haul_op *op = &workload->ops[i];
    const size_t stream = op->stream == HAUL_NONE ? workload->stream_count : op->stream;
    const size_t device = hl_workload_device_of(workload, op);
    const int64_t dur_ns = least_dur_ns(self, i);
    int64_t issued_ns = 0;
    if (self->options->release == HAUL_RELEASE_RECORDED)
        issued_ns = hl_timeline_called_ns(op) - self->timeline->origin_ns;
    else if (op->thread != HAUL_NONE)
        issued_ns = call_ns(self, i);
    int64_t start_ns = later(issued_ns, edges_end_ns(self, i));
    start_ns = later(start_ns, self->stream_ends_ns[stream]);
    self->ends_ns[i] = self->stream_ends_ns[stream] = hl_base_end_of(start_ns, dur_ns);
    int64_t *sum_ns = &self->sums_ns[device * HAUL_RESOURCES +
                                     hl_timeline_resource_of(op, &self->options->device)];
    *sum_ns = hl_base_add_ns(*sum_ns, dur_ns);
    self->stream_sums_ns[stream] = hl_base_add_ns(self->stream_sums_ns[stream], dur_ns);
}

/* Threads' calls by what follows them, edges by the operation that waits. */
static void link_all(bounds *self)
{
    const haul_workload *workload = self->workload;
    uint32_t edge = 0;
    hl_workload_chain_threads(workload, self->chain_of);
    for (size_t t = 0; t < workload->thread_count; t++)
        self->callers[t] = (caller){.op = HAUL_NONE, .next = HAUL_NONE};
    memset(self->next_call, 0xff, (workload->op_count + 1) * sizeof *self->next_call);
    for (uint32_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->thread == HAUL_NONE)
            continue;
        if (op->thread_prev == HAUL_NONE)
            self->callers[op->thread].next = i;
        else
            self->next_call[op->thread_prev] = i;
    }
    for (uint32_t i = 0; self->edge_begin && i <= workload->op_count; i++) {
        while (edge < workload->edge_count && workload->edges[edge].after < i)
            edge++;
        self->edge_begin[i] = edge;
    }
}

/* A resource of so many places is busy for at least the sum over its places. */
static int64_t places(const haul_timeline_device *device, haul_resource_kind kind)
{
    if (kind == HAUL_RESOURCE_KERNEL_SLOTS)
        return device->kernels;
    if (kind == HAUL_RESOURCE_MIGRATION)
        return device->migrations;
    if (kind == HAUL_RESOURCE_ENGINE_PEER)
        return device->copy_engines > 2 ? device->copy_engines - 2 : 1;
    return kind == HAUL_RESOURCE_NOWHERE ? 0 : 1;
}

static void raise_bound(hl_run_bound *bound, int64_t ns, const char *what, uint64_t number)
{
    if (ns <= bound->least_ns)
        return;
    bound->least_ns = ns;
    (void)snprintf(bound->what, sizeof bound->what, "%s %llu", what, (unsigned long long)number);
}

static hl_run_bound largest(const bounds *self)
{
    const haul_workload *workload = self->workload;
    hl_run_bound bound = {.start_ns = self->timeline->start_ns, .what = ""};
    /* Those of no duration hold the places of operations that are left out. */
    for (size_t i = 0; i < self->count; i++)
        if (least_dur_ns(self, self->order[i]) > 0) {
            bound.start_ns = self->timeline->ops[self->order[i]].start_ns;
            break;
        }
    int64_t end_ns = 0;
    for (size_t s = 0; s <= workload->stream_count; s++) {
        raise_bound(&bound, self->stream_sums_ns[s], "stream",
                    s < workload->stream_count ? workload->streams[s].id : 0);
        end_ns = later(end_ns, self->stream_ends_ns[s]);
    }
    for (size_t r = 0; r < (workload->device_count + 1) * HAUL_RESOURCES; r++) {
        const haul_resource_kind kind = (haul_resource_kind)(r % HAUL_RESOURCES);
        const int64_t count = places(&self->options->device, kind);
        if (count)
            raise_bound(&bound, self->sums_ns[r] / count,
                        kind == HAUL_RESOURCE_KERNEL_SLOTS ? "kernels of device"
                                                           : "a copy engine of device",
                        r / HAUL_RESOURCES);
    }
    if (end_ns - bound.start_ns > bound.least_ns)
        bound = (hl_run_bound){end_ns - bound.start_ns, bound.start_ns, "the critical path"};
    return bound;
}

/* In order of start; of equal ones by number, as a stream's are. */
static bool order_by_start(bounds *self)
{
    const hl_base_keys starts = {&self->timeline->ops->start_ns, sizeof *self->timeline->ops,
                                 HL_KEYS_SIGNED};
    for (uint32_t i = 0; i < self->workload->op_count; i++)
        if (haul_op_on_device(&self->workload->ops[i]))
            self->order[self->count++] = i;
    return hl_base_order_sort(self->order, self->count, &starts);
}

static void release(bounds *self)
{
    free(self->ends_ns);
    free(self->next_call);
    free(self->order);
    free(self->edge_begin);
    free(self->chain_of);
    free(self->callers);
    free(self->stream_ends_ns);
    free(self->stream_sums_ns);
    free(self->sums_ns);
}

haul_status hl_timeline_bound_find(const haul_workload *workload,
                                   const haul_timeline_options *options,
                                   const haul_timeline *timeline, hl_run_bound *bound,
                                   haul_error *error)
{
    const size_t ops = workload->op_count + 1, streams = workload->stream_count + 1;
    *bound = (hl_run_bound){.what = ""};
    if (options->duration || !workload->op_count)
        return HAUL_OK;
    bounds self = {
        .workload = workload,
        .options = options,
        .timeline = timeline,
        .ends_ns = calloc(ops, sizeof *self.ends_ns),
        .next_call = malloc(ops * sizeof *self.next_call),
        .order = malloc(ops * sizeof *self.order),
        .edge_begin = workload->edge_count ? malloc(ops * sizeof *self.edge_begin) : NULL,
        .chain_of = calloc(workload->thread_count + 1, sizeof *self.chain_of),
        .callers = calloc(workload->thread_count + 1, sizeof *self.callers),
        .stream_ends_ns = calloc(streams, sizeof *self.stream_ends_ns),
        .stream_sums_ns = calloc(streams, sizeof *self.stream_sums_ns),
        .sums_ns = calloc((workload->device_count + 1) * HAUL_RESOURCES, sizeof *self.sums_ns),
    };
    const bool ready = self.ends_ns && self.next_call && self.order &&
                       (self.edge_begin || !workload->edge_count) && self.chain_of &&
                       self.callers && self.stream_ends_ns && self.stream_sums_ns && self.sums_ns;
    const haul_status status =
        ready && order_by_start(&self) ? HAUL_OK : hl_base_fail_no_memory(error);
    if (!status && self.count) {
        link_all(&self);
        for (size_t i = 0; i < self.count; i++)
            add_op(&self, self.order[i]);
        *bound = largest(&self);
    }
    release(&self);
    return status;
}

haul_status hl_timeline_bound_check(const hl_run_bound *bound, int64_t run_ns, haul_error *error)
{
    char run[32], least[32];
    if (run_ns >= bound->least_ns)
        return HAUL_OK;
    haul_quantity_format(1e-9 * (double)run_ns, HAUL_DIM_SECONDS, 6, run, sizeof run);
    haul_quantity_format(1e-9 * (double)bound->least_ns, HAUL_DIM_SECONDS, 6, least, sizeof least);
    return haul_error_set(error, HAUL_STATUS_INTERNAL,
                          "a run of %s is predicted, and %s cannot take less than %s", run,
                          bound->what, least);
}
