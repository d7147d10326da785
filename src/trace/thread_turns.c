/* A profile has no record of one thread waiting for another: PyTorch's main thread sleeps while the
 * autograd engine's thread calls for the backward pass, and that one between two passes. Taken for
 * work of its own, neither's sleep would end earlier on a GPU that is faster, and the critical path
 * would find the host wherever one thread waits for the other. */
#include "trace/thread_turns.h"

#include "base/intervals.h"

/* A thread that makes no call for so long does something else, or waits. */
static const int64_t pause_ns = 1000000;

/* Turns: each thread calls in this share of the run at least, both at once in this share of the
 * shorter's time at most, and the turn comes back to the first at least. Threads that do not know
 * of each other would be at once in as large a share as the longer has of the run. In four public
 * traces of training by PyTorch the two threads never call at once; the other public profiles have
 * one thread that calls for nearly all, or threads that call side by side. */
static const double least_of_run = 0.1, most_together = 0.05;
enum { LEAST_CHANGES = 2 };

/* A time in which a thread made calls without pause, and where its next one begins. */
typedef struct activity {
    const hl_workload_builder *built;
    const uint32_t *order;
    size_t next;
    size_t end;
    int64_t begin_ns;
    int64_t end_ns;
    double total_ns;
} activity;

static int64_t end_of_call(const haul_op *op)
{
    return hl_base_end_of(op->call_ns, haul_op_on_host(op) ? op->dur_ns : op->call_dur_ns);
}

/* Goes on to the next such time; false where there is none. */
static bool go_on(activity *self)
{
    const haul_op *ops = self->built->ops;
    if (self->next == self->end)
        return false;
    const haul_op *op = &ops[self->order[self->next++]];
    self->begin_ns = op->call_ns;
    self->end_ns = end_of_call(op);
    for (; self->next < self->end; self->next++) {
        op = &ops[self->order[self->next]];
        if (op->call_ns > hl_base_end_of(self->end_ns, pause_ns))
            break;
        const int64_t end_ns = end_of_call(op);
        self->end_ns = end_ns > self->end_ns ? end_ns : self->end_ns;
    }
    self->total_ns += (double)self->end_ns - (double)self->begin_ns;
    return true;
}

/* The two threads that call for the most operations of devices; false where there are no two. */
static bool find_two(const hl_workload_builder *built, const uint32_t *order, const size_t *ends,
                     uint32_t two[2])
{
    size_t calls[2] = {0, 0};
    for (uint32_t t = 0; built->threads.count > 1 && t < built->threads.count; t++) {
        const size_t begin = t ? ends[t - 1] : 0;
        size_t count = 0;
        for (size_t i = begin; ends[t] - begin > calls[1] && i < ends[t]; i++)
            count += haul_op_on_device(&built->ops[order[i]]);
        if (count > calls[0]) {
            calls[1] = calls[0];
            two[1] = two[0];
            calls[0] = count;
            two[0] = t;
        } else if (count > calls[1]) {
            calls[1] = count;
            two[1] = t;
        }
    }
    return calls[1] > 0;
}

/* When each thread called, gone through in order of time. */
typedef struct turns {
    int64_t begin_ns;
    int64_t end_ns;
    double together_ns;
    int last;    /* whose turn it was last; -1: nobody's yet */
    int changes; /* of turns */
} turns;

bool hl_trace_threads_take_turns(const hl_workload_builder *built, const uint32_t *order,
                                 const size_t *ends, uint32_t two[2])
{
    const haul_workload_thread *threads = built->threads.items;
    if (!find_two(built, order, ends, two) || threads[two[0]].process != threads[two[1]].process)
        return false;
    turns sum = {.end_ns = INT64_MIN, .last = -1};
    int64_t ends_ns[2] = {INT64_MIN, INT64_MIN};
    activity of[2];
    bool has[2];
    for (int i = 0; i < 2; i++) {
        of[i] = (activity){.built = built, .order = order, .end = ends[two[i]]};
        of[i].next = two[i] ? ends[two[i] - 1] : 0;
        has[i] = go_on(&of[i]);
    }
    while (has[0] || has[1]) {
        const int first = !has[0] || (has[1] && of[1].begin_ns < of[0].begin_ns);
        const int64_t others_end_ns = ends_ns[!first];
        const int64_t until_ns =
            others_end_ns < of[first].end_ns ? others_end_ns : of[first].end_ns;
        if (sum.last < 0)
            sum.begin_ns = of[first].begin_ns;
        else if (until_ns > of[first].begin_ns)
            sum.together_ns += (double)until_ns - (double)of[first].begin_ns;
        sum.end_ns = of[first].end_ns > sum.end_ns ? of[first].end_ns : sum.end_ns;
        sum.changes += sum.last >= 0 && sum.last != first;
        sum.last = first;
        ends_ns[first] = of[first].end_ns;
        has[first] = go_on(&of[first]);
    }
    const double run_ns = (double)sum.end_ns - (double)sum.begin_ns;
    const double less_ns = of[0].total_ns < of[1].total_ns ? of[0].total_ns : of[1].total_ns;
    return sum.changes >= LEAST_CHANGES && less_ns >= least_of_run * run_ns &&
           sum.together_ns <= most_together * less_ns;
}
