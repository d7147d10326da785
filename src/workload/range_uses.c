/* Operations by the named ranges in which they were called: one sweep over calls and ranges, thread
 * by thread in order of time. Sums run along a thread, and a name takes the difference between its
 * ranges' beginning and end: nesting, however deep, costs nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/intervals.h"
#include "haul/analysis.h"

/* In the order in which those of one time are met: a mark ends as it begins, and a range holds the
 * calls at its beginning, not those at its end. */
typedef enum event_kind { RANGE_BEGINS, RANGE_ENDS, CALL } event_kind;

typedef struct event {
    uint32_t thread;
    uint32_t number;
    int64_t time_ns;
    event_kind kind;
} event;

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
    size_t use_capacity;
    uint32_t *use_of; /* of each range */
    uint32_t *open; /* how many ranges of each name are open: nested ones of one name count once */
    sums so_far;
} sweep;

static int compare_events(const void *a, const void *b)
{
    const event *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int compare_uses(const void *a, const void *b)
{
    const haul_range_use *x = a, *y = b;
    const int64_t p = hl_base_add_ns(x->kernels_ns, x->copies_ns);
    const int64_t q = hl_base_add_ns(y->kernels_ns, y->copies_ns);
    if (p != q)
        return p < q ? 1 : -1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    return (x->name > y->name) - (x->name < y->name);
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

static void count_call(sweep *self, uint32_t number)
{
    const haul_op *const op = &self->workload->ops[number];
    const uint64_t dur_ns =
        (uint64_t)(self->durations_ns ? self->durations_ns[number] : op->dur_ns);
    self->so_far.ops++;
    if (op->kind == HAUL_OP_KERNEL)
        self->so_far.kernels_ns += dur_ns;
    if (op->kind == HAUL_OP_COPY)
        self->so_far.copies_ns += dur_ns;
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
            if (!hl_base_grow(&self->uses, &self->use_capacity, count + 1, sizeof *self->uses)) {
                free(number_of);
                return SIZE_MAX;
            }
            *number = (uint32_t)count;
            self->uses[count++] = (haul_range_use){.name = range->name};
        }
        self->use_of[r] = *number;
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there since the number was given
        self->uses[*number].count++;
        self->uses[*number].time_ns = hl_base_add_ns(self->uses[*number].time_ns, range->dur_ns);
    }
    free(number_of);
    return count;
}

/* The beginnings and ends of all ranges and all calls, in the sweep's order; returns how many. */
static size_t list_events(const haul_workload *workload, event *events)
{
    size_t count = 0;
    for (uint32_t r = 0; r < workload->range_count; r++) {
        const haul_named_range *const range = &workload->ranges[r];
        const int64_t end_ns = hl_base_end_of(range->start_ns, range->dur_ns);
        events[count++] = (event){range->thread, r, range->start_ns, RANGE_BEGINS};
        events[count++] = (event){range->thread, r, end_ns, RANGE_ENDS};
    }
    for (uint32_t i = 0; workload->range_count && i < workload->op_count; i++) {
        const haul_op *const op = &workload->ops[i];
        if (haul_op_on_device(op) && op->flags & HAUL_OP_HAS_CALL)
            events[count++] = (event){op->thread, i, op->call_ns, CALL};
    }
    if (count)
        qsort(events, count, sizeof *events, compare_events);
    return count;
}

static void count_events(sweep *self, const event *events, size_t count)
{
    for (size_t e = 0; e < count; e++) {
        const uint32_t number = events[e].number;
        if (events[e].kind == CALL)
            count_call(self, number);
        else if (events[e].kind == RANGE_BEGINS) {
            /* To keep nothing beside a name while its ranges are open, the sums so far are taken
             * from its own here, and added at the end: in between they have wrapped. In the end
             * they are right, for all durations of a workload together are at most 2^62. */
            if (!self->open[self->use_of[number]]++)
                add_so_far(self, &self->uses[self->use_of[number]], UINT64_MAX); /* -1 */
        } else if (!--self->open[self->use_of[number]])
            add_so_far(self, &self->uses[self->use_of[number]], 1);
    }
}

haul_status haul_range_uses(const haul_workload *workload, const int64_t *durations_ns,
                            haul_range_use **uses, size_t *count, haul_error *error)
{
    const size_t ranges = workload->range_count;
    const size_t most = ranges ? 2 * ranges + workload->op_count : 0;
    sweep self = {.workload = workload,
                  .durations_ns = durations_ns,
                  .use_of = malloc((ranges + 1) * sizeof *self.use_of)};
    event *const events = malloc((most + 1) * sizeof *events);
    const size_t names = self.use_of && events ? number_names(&self) : SIZE_MAX;
    if (names != SIZE_MAX)
        self.open = calloc(names + 1, sizeof *self.open);
    const bool ready = self.open != NULL;
    if (ready)
        count_events(&self, events, list_events(workload, events));
    if (ready && names)
        qsort(self.uses, names, sizeof *self.uses, compare_uses);
    free(self.use_of);
    free(self.open);
    free(events);
    if (!ready) {
        free(self.uses);
        return hl_base_fail_no_memory(error);
    }
    *uses = self.uses;
    *count = names;
    return HAUL_OK;
}
