/* A launch queue holds so many operations; a call into a full one waits, and its recorded duration
 * is then no cost of the call. How many it holds shows in the profile: the calls that return as an
 * operation of their stream ends found as many of them in flight. */
#include "timeline/recorded_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "base/stats.h"
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

/* The queue of an operation's stream as its call found it, with itself the newest, without the
 * operations that had ended by then; NULL for an operation of the host, or without a call. */
static queue *come_to(walk *self, uint32_t i)
{
    const haul_op *ops = self->workload->ops, *op = &ops[i];
    if (!haul_op_on_device(op))
        return NULL;
    queue *of = queue_of(self, op);
    const int64_t end_ns = hl_base_end_of(op->start_ns, op->dur_ns);
    const bool is_last = of->end == of->first || self->latest_ns[of->end - 1] < end_ns;
    self->order[of->end] = i;
    self->latest_ns[of->end] = is_last ? end_ns : self->latest_ns[of->end - 1];
    of->end++;
    if (op->thread == HAUL_NONE)
        return NULL;
    for (; of->end - of->oldest > 1; of->oldest++) {
        const haul_op *oldest = &ops[self->order[of->oldest]];
        if (hl_base_end_of(oldest->start_ns, oldest->dur_ns) > op->call_ns)
            break;
    }
    return of;
}

/* A waiting call returns soon after the operation ends that made room: 4 to 6 us in two public
 * profiles by nsys and 531 calls of one by PyTorch, 10 to 42 us in a training on two H100; one to
 * five operations had ended by then. A call that many operations outlast does something else. */
enum { RETURN_NS = 50000, MOST_ENDED = 8 };

/* If the call returned soon after an operation of its full queue had ended, the time from that end
 * to the return; else -1. Found by halving: thousands of threads may call into one queue. */
static int64_t since_room_ns(const walk *self, const queue *of, const haul_op *called)
{
    const int64_t returned_ns = hl_base_end_of(called->call_ns, called->call_dur_ns);
    size_t low = of->oldest, high = of->end - 1; /* without the newest, which was called */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (self->latest_ns[middle] > returned_ns)
            high = middle;
        else
            low = middle + 1;
    }
    const size_t ended = low - of->oldest;
    if (!ended || ended > MOST_ENDED || self->latest_ns[low - 1] <= called->call_ns)
        return -1;
    const int64_t since_ns = returned_ns - self->latest_ns[low - 1];
    return since_ns <= RETURN_NS ? since_ns : -1;
}

/* Of each call of a device's operation: how many operations of its stream it found in flight, and
 * the call's duration without a wait for the end of one of them; -1 where it shows none. */
typedef struct met_queue {
    uint32_t *before; /* HAUL_NONE: no call, or one that takes its time for other reasons */
    int64_t *since_ns;
} met_queue;

/* The call of a pageable copy fills the driver's buffer, and one that blocks waits for its own
 * operation, whatever the queue. */
static void meet_queues(walk *self, const met_queue *met, hl_timeline_recorded_waits *found)
{
    /* Empty queues, each at the begin of its stream's part. */
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
    for (uint32_t i = 0; i < self->workload->op_count; i++) {
        const haul_op *op = &self->workload->ops[i];
        const queue *of = come_to(self, i);
        const bool is_staged = op->kind == HAUL_OP_COPY && op->detail == HAUL_MEMORY_PAGEABLE;
        met->before[i] = HAUL_NONE;
        met->since_ns[i] = -1;
        if (!of)
            continue;
        const uint32_t before = (uint32_t)(of->end - of->oldest - 1);
        found->most = before + 1 > found->most ? before + 1 : found->most;
        if (op->flags & HAUL_OP_BLOCKS || is_staged)
            continue;
        met->before[i] = before;
        met->since_ns[i] = since_room_ns(self, of, op);
    }
}

/* Calls into a queue this short return at once whatever their stream does: no launch queue of
 * public profiles holds fewer than 1022. Fewer waiting calls, or a smaller share of the calls
 * that return as an operation ends, may be chance: half of all calls of 5 us behind kernels of 10
 * us see one end, at any depth. */
enum { LEAST_DEPTH = 64, LEAST_WAITS = 8, OF_ENDS_SEEN = 4, WINDOW = 16 };

/* A waiting call takes longer than one that found room, by half at least. */
static bool waits_are_longer(const haul_workload *workload, const met_queue *met, uint32_t full,
                             double *durs_ns)
{
    double medians_ns[2];
    for (int waits = 0; waits < 2; waits++) {
        size_t count = 0;
        for (size_t i = 0; i < workload->op_count; i++)
            if (met->before[i] != HAUL_NONE &&
                (waits ? met->before[i] >= full && met->since_ns[i] >= 0 : met->before[i] < full))
                durs_ns[count++] = (double)workload->ops[i].call_dur_ns;
        medians_ns[waits] = count ? hl_base_median_of_many(durs_ns, count) : 0;
    }
    return medians_ns[1] > 1.5 * medians_ns[0];
}

/* The depth that waiting calls agree on: the median of what those found that found nearly the most.
 * Copies and events take other shares of a queue than kernels, so that counts differ by a few.
 * Sets *full to the least of them; 0 where none agree, as where calls find as many and do not wait.
 */
static uint32_t agreed_depth(const haul_workload *workload, const met_queue *met, double *counts,
                             uint32_t *full)
{
    uint32_t top = 0;
    size_t seen = 0, waits = 0, calls = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        if (met->since_ns[i] < 0 || met->before[i] < LEAST_DEPTH)
            continue;
        seen++;
        top = met->before[i] > top ? met->before[i] : top;
    }
    *full = top - top / WINDOW;
    for (size_t i = 0; top && i < workload->op_count; i++) {
        if (met->before[i] == HAUL_NONE || met->before[i] < *full)
            continue;
        calls++;
        if (met->since_ns[i] >= 0)
            counts[waits++] = met->before[i];
    }
    if (waits < LEAST_WAITS || OF_ENDS_SEEN * waits < seen || 2 * waits < calls)
        return 0;
    const uint32_t depth = (uint32_t)hl_base_median_of_many(counts, waits);
    return waits_are_longer(workload, met, *full, counts) ? depth : 0;
}

static bool find_waits(walk *self, hl_timeline_recorded_waits *found)
{
    const size_t count = self->workload->op_count;
    const met_queue met = {.before = malloc((count + 1) * sizeof *met.before),
                           .since_ns = malloc((count + 1) * sizeof *met.since_ns)};
    double *room = malloc((count + 1) * sizeof *room);
    const bool ready = met.before && met.since_ns && room;
    uint32_t full;
    if (ready) {
        meet_queues(self, &met, found);
        found->depth = agreed_depth(self->workload, &met, room, &full);
        if (found->depth) {
            /* Without waits for a place: of calls into a full queue that returned as an operation
             * ended, the time since then; of others their own. */
            found->most = 0;
            for (size_t i = 0; i < self->workload->op_count; i++) {
                const bool waited = met.since_ns[i] >= 0 && met.before[i] >= full;
                if (!waited)
                    met.since_ns[i] = hl_workload_call_dur_ns(&self->workload->ops[i]);
                if (!waited && met.before[i] != HAUL_NONE && met.before[i] >= found->most)
                    found->most = met.before[i] + 1;
            }
            found->call_durations_ns = met.since_ns;
        }
    }
    if (!ready || !found->depth)
        free(met.since_ns);
    free(met.before);
    free(room);
    return ready;
}

haul_status hl_timeline_recorded_waits_find(const haul_workload *workload,
                                            hl_timeline_recorded_waits *found, haul_error *error)
{
    walk self = {
        .workload = workload,
        .queues = calloc(workload->stream_count + 1, sizeof *self.queues),
        .order = calloc(workload->op_count + 1, sizeof *self.order),
        .latest_ns = calloc(workload->op_count + 1, sizeof *self.latest_ns),
    };
    *found = (hl_timeline_recorded_waits){0};
    const bool done = self.queues && self.order && self.latest_ns && find_waits(&self, found);
    free(self.order);
    free(self.latest_ns);
    free(self.queues);
    return done ? HAUL_OK : hl_base_fail_no_memory(error);
}

void hl_timeline_recorded_waits_release(hl_timeline_recorded_waits *self)
{
    free(self->call_durations_ns);
    free(self->delays);
    free(self->critical);
    haul_timeline_free(self->replay);
    *self = (hl_timeline_recorded_waits){0};
}
