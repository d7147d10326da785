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

static void push(walk *self, queue *to, uint32_t i)
{
    const haul_op *op = &self->workload->ops[i];
    const int64_t end_ns = haul_end_of(op->start_ns, op->dur_ns);
    const bool is_last = to->end == to->first || self->latest_ns[to->end - 1] < end_ns;
    self->order[to->end] = i;
    self->latest_ns[to->end] = is_last ? end_ns : self->latest_ns[to->end - 1];
    to->end++;
}

/* Removes the operations that had ended when the newest was called. */
static void drop_ended(const walk *self, queue *of)
{
    const haul_op *ops = self->workload->ops;
    const int64_t called_ns = ops[self->order[of->end - 1]].call_ns;
    while (of->end - of->oldest > 1) {
        const haul_op *op = &ops[self->order[of->oldest]];
        if (haul_end_of(op->start_ns, op->dur_ns) > called_ns)
            break;
        of->oldest++;
    }
}

/* The queue of an operation's stream as its call found it, with itself the newest; NULL for an
 * operation of the host, or without a call. */
static queue *come_to(walk *self, uint32_t i)
{
    const haul_op *op = &self->workload->ops[i];
    if (!haul_op_on_device(op))
        return NULL;
    queue *of = queue_of(self, op);
    push(self, of, i);
    if (op->thread == HAUL_NONE)
        return NULL;
    drop_ended(self, of);
    return of;
}

static void find_most(walk *self, haul_recorded_waits *found)
{
    begin_walk(self);
    for (uint32_t i = 0; i < self->workload->op_count; i++) {
        const queue *of = come_to(self, i);
        if (of && of->end - of->oldest > found->most)
            found->most = (uint32_t)(of->end - of->oldest);
    }
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

/* The call of a pageable copy fills the driver's buffer, whatever the queue. */
static bool may_wait(const haul_op *op)
{
    return !(op->flags & HAUL_OP_BLOCKS) &&
           !(op->kind == HAUL_OP_COPY && op->detail == HAUL_PAGEABLE);
}

/* How many calls waited. */
static uint64_t find_waits(walk *self, uint32_t most, int64_t *call_durations_ns)
{
    const uint32_t full = most - most / 16;
    uint64_t waited = 0;
    for (uint32_t i = 0; i < self->workload->op_count; i++) {
        const haul_op *op = &self->workload->ops[i];
        const queue *of = come_to(self, i);
        call_durations_ns[i] = haul_call_dur_ns(op);
        if (!of || of->end - of->oldest < full || !may_wait(op))
            continue;
        call_durations_ns[i] = since_end_ns(self, of, op);
        waited += call_durations_ns[i] < op->call_dur_ns;
    }
    return waited;
}

static bool find(walk *self, haul_recorded_waits *found)
{
    find_most(self, found);
    if (found->most < HAUL_CUDA_QUEUE)
        return true;
    begin_walk(self);
    int64_t *calls_ns = malloc(self->workload->op_count * sizeof *calls_ns);
    if (!calls_ns)
        return false;
    if (find_waits(self, found->most, calls_ns))
        found->call_durations_ns = calls_ns;
    else
        free(calls_ns);
    return true;
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
    *self = (haul_recorded_waits){0};
}
