/* A launch queue holds so many operations; a call into a full one waits, and its recorded duration
 * is then no cost of the call. Two walks over the profile: how full the queues were, then which
 * calls found theirs full. */
#include "timeline/recorded_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "timeline/device_of.h"
#include "workload/op_class.h"

/* The operations of a stream that have not ended, the oldest first: places [oldest, end) of the
 * stream's own part of `order`, which begins at `first`. */
typedef struct queue {
    size_t first;
    size_t oldest;
    size_t end;
} queue;

typedef struct walk {
    const haul_workload *workload;
    queue *queues;      /* by stream, and one for operations without */
    uint32_t *order;    /* operations, stream by stream */
    int64_t *latest_ns; /* the last end of its stream up to each place */
} walk;

/* Operations without a stream have a queue of their own, the last. */
static queue *queue_of(const walk *self, const haul_op *op)
{
    const size_t streams = self->workload->stream_count;
    return &self->queues[op->stream < streams ? op->stream : streams];
}

/* Empty queues, each at the begin of its stream's part. */
static void begin_walk(walk *self)
{
    const size_t streams = self->workload->stream_count;
    memset(self->queues, 0, (streams + 1) * sizeof *self->queues);
    for (size_t i = 0; i < self->workload->op_count; i++)
        if (haul_op_on_device(&self->workload->ops[i]))
            queue_of(self, &self->workload->ops[i])->end++;
    size_t first = 0;
    for (size_t i = 0; i <= streams; i++) {
        const size_t count = self->queues[i].end;
        self->queues[i] = (queue){first, first, first};
        first += count;
    }
}

/* The queue of an operation's stream as its call found it, with itself the newest, without the
 * operations that had ended by then; NULL for an operation of the host, or without a call. */
static queue *come_to(walk *self, uint32_t i)
{
    const haul_op *ops = self->workload->ops, *op = &ops[i];
    if (!haul_op_on_device(op))
        return NULL;
    queue *of = queue_of(self, op);
    const int64_t end_ns = haul_end_of(op->start_ns, op->dur_ns);
    const bool is_last = of->end == of->first || self->latest_ns[of->end - 1] < end_ns;
    self->order[of->end] = i;
    self->latest_ns[of->end] = is_last ? end_ns : self->latest_ns[of->end - 1];
    of->end++;
    if (op->thread == HAUL_NONE)
        return NULL;
    for (; of->end - of->oldest > 1; of->oldest++) {
        const haul_op *oldest = &ops[self->order[of->oldest]];
        if (haul_end_of(oldest->start_ns, oldest->dur_ns) > op->call_ns)
            break;
    }
    return of;
}

/* From the last end in its queue during a call to the call's return; the whole call where nothing
 * ended. Found by halving: thousands of threads may call into one full queue. */
static int64_t since_end_ns(const walk *self, const queue *of, const haul_op *called)
{
    const int64_t returned_ns = haul_end_of(called->call_ns, called->call_dur_ns);
    size_t low = of->oldest, high = of->end - 1; /* without the newest, which was called */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (self->latest_ns[middle] > returned_ns)
            high = middle;
        else
            low = middle + 1;
    }
    const bool any = low > of->oldest && self->latest_ns[low - 1] > called->call_ns;
    return any ? returned_ns - self->latest_ns[low - 1] : called->call_dur_ns;
}

/* Both walks need the queues from their beginning; the second only where a queue was ever full. */
static bool find(walk *self, haul_recorded_waits *found)
{
    const size_t count = self->workload->op_count;
    begin_walk(self);
    for (uint32_t i = 0; i < count; i++) {
        const queue *of = come_to(self, i);
        if (of && of->end - of->oldest > found->most)
            found->most = (uint32_t)(of->end - of->oldest);
    }
    if (!count || found->most < HAUL_CUDA_QUEUE)
        return true;
    int64_t *calls_ns = malloc(count * sizeof *calls_ns);
    const uint32_t full = found->most - found->most / 16;
    bool any = false;
    begin_walk(self);
    for (uint32_t i = 0; calls_ns && i < count; i++) {
        const haul_op *op = &self->workload->ops[i];
        const queue *of = come_to(self, i);
        /* the call of a pageable copy fills the driver's buffer, whatever the queue */
        const bool is_staged = op->kind == HAUL_OP_COPY && op->detail == HAUL_PAGEABLE;
        calls_ns[i] = haul_call_dur_ns(op);
        if (!of || of->end - of->oldest < full || op->flags & HAUL_OP_BLOCKS || is_staged)
            continue;
        calls_ns[i] = since_end_ns(self, of, op);
        any |= calls_ns[i] < op->call_dur_ns;
    }
    found->call_durations_ns = any ? calls_ns : NULL;
    if (!any)
        free(calls_ns);
    return calls_ns != NULL;
}

haul_status haul_recorded_waits_find(const haul_workload *workload, haul_recorded_waits *found,
                                     haul_error *error)
{
    walk self = {
        .workload = workload,
        .queues = calloc(workload->stream_count + 1, sizeof *self.queues),
        .order = calloc(workload->op_count + 1, sizeof *self.order),
        .latest_ns = calloc(workload->op_count + 1, sizeof *self.latest_ns),
    };
    *found = (haul_recorded_waits){0};
    const bool done = self.queues && self.order && self.latest_ns && find(&self, found);
    free(self.order);
    free(self.latest_ns);
    free(self.queues);
    return done ? HAUL_OK : haul_fail_no_memory(error);
}

void haul_recorded_waits_release(haul_recorded_waits *self)
{
    free(self->call_durations_ns);
    free(self->delays);
    free(self->critical);
    *self = (haul_recorded_waits){0};
}
