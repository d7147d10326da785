/* Operations by the named ranges in which they were called: one sweep over calls and ranges, thread
 * by thread in order of time. Sums run along a thread, and a name takes the difference between its
 * ranges' beginning and end: nesting, however deep, costs nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"
#include "base/intervals.h"
#include "base/order.h"
#include "base/waiting.h"
#include "haul/analysis.h"
#include "workload/range_track.h"

/* Of a thread's operations so far. The times may wrap: their differences stay right. */
typedef struct sums {
    uint64_t ops;
    uint64_t kernels_ns;
    uint64_t copies_ns;
} sums;

typedef struct sweep {
    const haul_workload *workload;
    const int64_t *durations_ns;
    haul_range_use *uses; /* by name: in most profiles far fewer than ranges */
    size_t name_count;
    uint32_t *use_of; /* by the name's string id, the last for none */
    size_t id_count;
    uint32_t *open; /* how many ranges of each name are open: nested ones of one name count once */
    hl_base_waiting ends; /* of those that are open */
    sums so_far;
    bool failed;
} sweep;

static int compare_uses(const void *a, const void *b)
{
    const haul_range_use *x = a, *y = b;
    const int64_t p = hl_base_add_ns(x->kernels_ns, x->copies_ns);
    const int64_t q = hl_base_add_ns(y->kernels_ns, y->copies_ns);
    if (p != q)
        return p < q ? 1 : -1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    return hl_base_compare_unsigned(x->name, y->name);
}

static int64_t add_wrapping(int64_t to, uint64_t more)
{
    return (int64_t)((uint64_t)to + more);
}

static void add_so_far(const sweep *self, haul_range_use *use, uint64_t times)
{
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there since the number was given
    use->ops += times * self->so_far.ops;
    use->kernels_ns = add_wrapping(use->kernels_ns, times * self->so_far.kernels_ns);
    use->copies_ns = add_wrapping(use->copies_ns, times * self->so_far.copies_ns);
}

static uint32_t *number_of(const sweep *self, const haul_named_range *range)
{
    return &self->use_of[range->name < self->id_count ? range->name : self->id_count];
}

/* Numbers the names of ranges in order of appearance, by the largest string id that they have. */
static void number_names(sweep *self)
{
    const haul_workload *workload = self->workload;
    for (size_t r = 0; r < workload->range_count; r++)
        if (workload->ranges[r].name != HAUL_NONE && workload->ranges[r].name >= self->id_count)
            self->id_count = (size_t)workload->ranges[r].name + 1;
    self->use_of = malloc((self->id_count + 1) * sizeof *self->use_of);
    self->failed |= !self->use_of;
    if (self->failed)
        return;
    memset(self->use_of, 0xff, (self->id_count + 1) * sizeof *self->use_of);
    for (size_t r = 0; r < workload->range_count; r++) {
        uint32_t *const number = number_of(self, &workload->ranges[r]);
        if (*number == UINT32_MAX)
            *number = (uint32_t)self->name_count++;
    }
}

static void count_ranges(sweep *self)
{
    const haul_workload *workload = self->workload;
    self->uses = calloc(self->name_count + 1, sizeof *self->uses);
    self->open = calloc(self->name_count + 1, sizeof *self->open);
    self->failed |= !self->uses || !self->open;
    for (size_t r = 0; !self->failed && r < workload->range_count; r++) {
        const haul_named_range *range = &workload->ranges[r];
        haul_range_use *const use = &self->uses[*number_of(self, range)];
        use->name = range->name;
        use->count++;
        use->time_ns = hl_base_add_ns(use->time_ns, range->dur_ns);
    }
}

/* Numbers of the operations of devices that have a call, by its thread, then by its time. */
static uint32_t *list_calls(const haul_workload *workload, size_t *first)
{
    uint32_t *const calls = malloc((workload->op_count + 1) * sizeof *calls);
    size_t count = 0;
    if (!calls)
        return NULL;
    for (uint32_t i = 0; i < workload->op_count; i++)
        if (haul_op_on_device(&workload->ops[i]) && workload->ops[i].flags & HAUL_OP_HAS_CALL)
            calls[count++] = i;
    const haul_op *const ops = workload->ops;
    const hl_base_keys times = {ops ? &ops->call_ns : NULL, sizeof *ops, HL_KEYS_SIGNED};
    uint32_t *const by_thread =
        hl_base_order_sort(calls, count, &times)
            ? hl_workload_order_by_thread(ops ? &ops->thread : NULL, sizeof *ops, calls, count,
                                          first, workload->thread_count)
            : NULL;
    free(calls);
    return by_thread;
}

/* A range holds the calls at its beginning, not those at its end. */
static void end_ranges(sweep *self, int64_t until_ns)
{
    while (self->ends.count && self->ends.heap[0].time_ns <= until_ns) {
        const uint32_t name = hl_base_waiting_take(&self->ends).op;
        if (!--self->open[name])
            add_so_far(self, &self->uses[name], 1);
    }
}

/* Of those that begin until a call, the ones that have ended by then hold no call: only the others
 * are kept, in room for as many as are open at once. */
static size_t begin_ranges(sweep *self, const uint32_t *order, size_t next, size_t end,
                           int64_t until_ns)
{
    for (; next < end && self->workload->ranges[order[next]].start_ns <= until_ns; next++) {
        const haul_named_range *const range = &self->workload->ranges[order[next]];
        const int64_t end_ns = hl_base_end_of(range->start_ns, range->dur_ns);
        const hl_base_waiting_item item = {end_ns, *number_of(self, range), 0};
        if (end_ns <= until_ns)
            continue;
        /* To keep nothing beside a name while its ranges are open, the sums so far are taken from
         * its own here, and added at the end: in between they have wrapped. In the end they are
         * right, for all durations of a workload together are at most 2^62. */
        if (!self->open[item.op]++)
            add_so_far(self, &self->uses[item.op], UINT64_MAX); /* -1 */
        self->failed |= !hl_base_waiting_add(&self->ends, item);
    }
    return next;
}

static void sweep_threads(sweep *self)
{
    const haul_workload *const workload = self->workload;
    const size_t threads = workload->thread_count;
    size_t *const first = malloc(2 * (threads + 2) * sizeof *first);
    size_t *const first_call = first ? first + threads + 2 : NULL;
    uint32_t *const order =
        first ? hl_workload_order_by_thread(&workload->ranges->thread, sizeof *workload->ranges,
                                            NULL, workload->range_count, first, threads)
              : NULL;
    uint32_t *const calls = order ? list_calls(workload, first_call) : NULL;
    self->failed |= !calls;
    for (size_t t = 0; !self->failed && t <= threads; t++) {
        size_t next = first[t];
        for (size_t c = first_call[t]; !self->failed && c < first_call[t + 1]; c++) {
            const int64_t call_ns = workload->ops[calls[c]].call_ns;
            end_ranges(self, call_ns);
            next = begin_ranges(self, order, next, first[t + 1], call_ns);
            const haul_op *const op = &self->workload->ops[calls[c]];
            const uint64_t dur_ns =
                (uint64_t)(self->durations_ns ? self->durations_ns[calls[c]] : op->dur_ns);
            self->so_far.ops++;
            if (op->kind == HAUL_OP_KERNEL)
                self->so_far.kernels_ns += dur_ns;
            if (op->kind == HAUL_OP_COPY)
                self->so_far.copies_ns += dur_ns;
        }
        end_ranges(self, INT64_MAX);
    }
    free(calls);
    free(order);
    free(first);
}

haul_status haul_range_uses(const haul_workload *workload, const int64_t *durations_ns,
                            haul_range_use **uses, size_t *count, haul_error *error)
{
    sweep self = {.workload = workload, .durations_ns = durations_ns};
    number_names(&self);
    if (!self.failed)
        count_ranges(&self);
    if (!self.failed && workload->range_count)
        sweep_threads(&self);
    free(self.use_of);
    free(self.open);
    free(self.ends.heap);
    if (self.failed) {
        free(self.uses);
        return hl_base_fail_no_memory(error);
    }
    hl_base_order_in_place(self.uses, self.name_count, sizeof *self.uses, compare_uses);
    *uses = self.uses;
    *count = self.name_count;
    return HAUL_OK;
}
