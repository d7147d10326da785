/* Operations by the named ranges in which they were called: one sweep over calls and ranges, thread
 * by thread in order of time, with the stack of the ranges that are open. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "haul/analysis.h"

/* A range begins, or an operation is called; ranges come first where times are equal. */
typedef struct event {
    uint32_t thread;
    uint32_t number;
    int64_t time_ns;
    bool is_call;
} event;

typedef struct sweep {
    const haul_workload *workload;
    const int64_t *durations_ns;
    haul_range_use *uses; /* by name */
    uint32_t *use_of;     /* of each range */
    uint32_t *last_op;    /* counted for each name, so that nested ranges of a name count once */
    uint32_t *open;       /* ranges */
    size_t depth;
} sweep;

static int compare_events(const void *a, const void *b)
{
    const event *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->is_call != y->is_call)
        return x->is_call ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

static int compare_uses(const void *a, const void *b)
{
    const haul_range_use *x = a, *y = b;
    const int64_t p = haul_add_ns(x->kernels_ns, x->copies_ns);
    const int64_t q = haul_add_ns(y->kernels_ns, y->copies_ns);
    if (p != q)
        return p < q ? 1 : -1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    return (x->name > y->name) - (x->name < y->name);
}

/* A range that ended is closed when something of its thread comes after it. */
static void close_ranges(sweep *self, const event *at)
{
    size_t left = 0;
    for (size_t i = 0; i < self->depth; i++) {
        const haul_named_range *range = &self->workload->ranges[self->open[i]];
        if (range->thread == at->thread &&
            haul_end_of(range->start_ns, range->dur_ns) > at->time_ns)
            self->open[left++] = self->open[i];
    }
    self->depth = left;
}

static void count_call(sweep *self, uint32_t number)
{
    const haul_op *op = &self->workload->ops[number];
    const int64_t dur_ns = self->durations_ns ? self->durations_ns[number] : op->dur_ns;
    for (size_t i = 0; i < self->depth; i++) {
        const uint32_t name = self->use_of[self->open[i]];
        haul_range_use *use = &self->uses[name];
        if (self->last_op[name] == number)
            continue;
        self->last_op[name] = number;
        use->ops++;
        if (op->kind == HAUL_OP_KERNEL)
            use->kernels_ns = haul_add_ns(use->kernels_ns, dur_ns);
        if (op->kind == HAUL_OP_COPY)
            use->copies_ns = haul_add_ns(use->copies_ns, dur_ns);
    }
}

/* Numbers the names of ranges in order of appearance, by the largest string id that they have. */
static size_t number_names(sweep *self)
{
    const haul_workload *workload = self->workload;
    size_t most = 0, count = 0;
    for (size_t r = 0; r < workload->range_count; r++)
        if (workload->ranges[r].name != HAUL_NONE && workload->ranges[r].name >= most)
            most = (size_t)workload->ranges[r].name + 1;
    uint32_t *number_of = malloc((most + 1) * sizeof *number_of);
    if (!number_of)
        return SIZE_MAX;
    memset(number_of, 0xff, (most + 1) * sizeof *number_of);
    for (size_t r = 0; r < workload->range_count; r++) {
        const haul_named_range *range = &workload->ranges[r];
        uint32_t *number = &number_of[range->name < most ? range->name : most];
        if (*number == UINT32_MAX) {
            *number = (uint32_t)count;
            self->uses[count++] = (haul_range_use){.name = range->name};
        }
        self->use_of[r] = *number;
        self->uses[*number].count++;
        self->uses[*number].time_ns = haul_add_ns(self->uses[*number].time_ns, range->dur_ns);
    }
    free(number_of);
    return count;
}

haul_status haul_range_uses(const haul_workload *workload, const int64_t *durations_ns,
                            haul_range_use **uses, size_t *count, haul_error *error)
{
    const size_t ranges = workload->range_count;
    const size_t most = ranges ? ranges + workload->op_count : 0;
    sweep self = {.workload = workload,
                  .durations_ns = durations_ns,
                  .uses = calloc(ranges + 1, sizeof *self.uses),
                  .use_of = malloc((ranges + 1) * sizeof *self.use_of),
                  .last_op = malloc((ranges + 1) * sizeof *self.last_op),
                  .open = malloc((ranges + 1) * sizeof *self.open)};
    event *events = malloc((most + 1) * sizeof *events);
    size_t event_count = 0, names = SIZE_MAX;
    if (self.uses && self.use_of && self.last_op && self.open && events)
        names = number_names(&self);
    const bool ready = names != SIZE_MAX;
    if (ready)
        memset(self.last_op, 0xff, (ranges + 1) * sizeof *self.last_op);
    for (uint32_t r = 0; ready && r < ranges; r++)
        events[event_count++] =
            (event){workload->ranges[r].thread, r, workload->ranges[r].start_ns, false};
    for (uint32_t i = 0; ready && ranges && i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (haul_op_on_device(op) && op->flags & HAUL_OP_HAS_CALL)
            events[event_count++] = (event){op->thread, i, op->call_ns, true};
    }
    if (event_count)
        qsort(events, event_count, sizeof *events, compare_events);
    for (size_t e = 0; e < event_count; e++) {
        close_ranges(&self, &events[e]);
        if (events[e].is_call)
            count_call(&self, events[e].number);
        else
            self.open[self.depth++] = events[e].number;
    }
    if (ready && names)
        qsort(self.uses, names, sizeof *self.uses, compare_uses);
    free(self.use_of);
    free(self.last_op);
    free(self.open);
    free(events);
    if (!ready) {
        free(self.uses);
        return haul_fail_no_memory(error);
    }
    *uses = self.uses;
    *count = names;
    return HAUL_OK;
}
