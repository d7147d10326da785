/* A part of a profile: a range that the program named, a device, a window of time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"
#include "base/intervals.h"
#include "base/nearest.h"
#include "base/order.h"
#include "haul/trace.h"
#include "workload/join.h"

/* The ranges of one name on a thread, or on all, in order of start; `until_ns` is the latest end of
 * those so far, so that the last to begin before a time tells whether any holds it. */
typedef struct span {
    uint32_t thread;
    int64_t start_ns;
    int64_t until_ns;
} span;

typedef struct spans {
    span *items;
    size_t count;
} spans;

static int compare_spans(const void *a, const void *b)
{
    const span *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return hl_base_compare_signed(x->start_ns, y->start_ns);
}

/* Each range once with its thread and once, as HAUL_NONE, for operations without one. */
static bool find_spans(const haul_workload *workload, const char *name, spans *out)
{
    out->items = malloc((2 * workload->range_count + 1) * sizeof *out->items);
    for (size_t r = 0; out->items && r < workload->range_count; r++) {
        const haul_named_range *range = &workload->ranges[r];
        const int64_t end_ns = hl_base_end_of(range->start_ns, range->dur_ns);
        if (strcmp(haul_workload_string(workload, range->name), name) != 0)
            continue;
        out->items[out->count++] = (span){HAUL_NONE, range->start_ns, end_ns};
        if (range->thread != HAUL_NONE)
            out->items[out->count++] = (span){range->thread, range->start_ns, end_ns};
    }
    if (!out->items)
        return false;
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, compare_spans);
    for (size_t i = 1; i < out->count; i++)
        if (out->items[i].thread == out->items[i - 1].thread &&
            out->items[i].until_ns < out->items[i - 1].until_ns)
            out->items[i].until_ns = out->items[i - 1].until_ns;
    return true;
}

static bool holds(const spans *self, uint32_t thread, int64_t time_ns)
{
    const span sought = {thread, time_ns, 0};
    const hl_base_sorted sorted = {self->items, self->count, sizeof sought, compare_spans};
    const size_t before = hl_base_sorted_before(sorted, &sought, true);
    const span *last = before ? &self->items[before - 1] : NULL;
    return last && last->thread == thread && last->until_ns > time_ns;
}

static haul_status fail_range(const haul_workload *workload, const char *name, haul_error *error)
{
    const char *near = NULL;
    size_t least = SIZE_MAX;
    for (size_t r = 0; r < workload->range_count; r++) {
        const char *other = haul_workload_string(workload, workload->ranges[r].name);
        const size_t distance = hl_base_edit_distance(name, other);
        if (distance < least && hl_base_is_near(name, other)) {
            least = distance;
            near = other;
        }
    }
    return haul_error_set(error, HAUL_STATUS_MISSING, "the profile has no range '%.100s'%s%.100s%s",
                          name, near ? "; did you mean '" : "; 'haul analyze' lists them",
                          near ? near : "", near ? "'?" : "");
}

/* The host's own operations belong to every device. */
static bool is_on(const haul_workload *workload, const haul_op *op, uint64_t device)
{
    if (op->stream == HAUL_NONE || haul_op_on_host(op))
        return true;
    const uint32_t number = workload->streams[op->stream].device;
    return number != HAUL_NONE && workload->devices[number].id == device;
}

static haul_status fail_empty(const haul_workload *workload, const haul_selection *selection,
                              haul_error *error)
{
    bool is_there = !selection->by_device;
    for (size_t d = 0; d < workload->device_count; d++)
        is_there |= workload->devices[d].id == selection->device;
    if (is_there)
        return haul_error_set(error, HAUL_STATUS_MISSING,
                              "no operation of a device is in that part of the profile");
    return haul_error_set(error, HAUL_STATUS_MISSING,
                          "the profile has no device %" PRIu64 "; 'haul analyze -v' lists them",
                          selection->device);
}

haul_status haul_trace_select(const haul_workload *workload, const haul_selection *selection,
                              haul_workload **part, haul_error *error)
{
    const int64_t limit = INT64_C(1) << 61; /* of times */
    size_t on_device = 0;
    while (on_device < workload->op_count && !haul_op_on_device(&workload->ops[on_device]))
        on_device++;
    /* Times of a window count from where reports and pages begin: the device's first start. */
    const int64_t first = on_device < workload->op_count ? workload->ops[on_device].start_ns : 0;
    uint64_t orphaned;
    hl_workload_part of = {.of = workload, .from_ns = -limit, .to_ns = limit};
    if (selection->from_ns < 0 || selection->from_ns > limit || selection->to_ns > limit ||
        (selection->to_ns && selection->to_ns <= selection->from_ns))
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "expected times of a window, the second after the first");
    if (selection->from_ns)
        of.from_ns = first + selection->from_ns;
    if (selection->to_ns)
        of.to_ns = first + selection->to_ns;
    spans named = {NULL};
    bool *kept = calloc(workload->op_count + 1, sizeof *kept);
    if (!kept)
        return hl_base_fail_no_memory(error);
    haul_status status = HAUL_OK;
    if (selection->range && !find_spans(workload, selection->range, &named))
        status = hl_base_fail_no_memory(error);
    else if (selection->range && !named.count)
        status = fail_range(workload, selection->range, error);
    size_t count = 0;
    for (size_t i = 0; !status && i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        const int64_t time_ns = op->flags & HAUL_OP_HAS_CALL ? op->call_ns : op->start_ns;
        kept[i] = (!selection->range || holds(&named, op->thread, time_ns)) &&
                  (!selection->by_device || is_on(workload, op, selection->device));
        count += kept[i] && haul_op_on_device(op) && op->start_ns >= of.from_ns &&
                 op->start_ns < of.to_ns;
    }
    if (!status && !count)
        status = fail_empty(workload, selection, error);
    of.kept = kept;
    if (!status)
        status = hl_workload_join_one(&of, &orphaned, part, error);
    free(named.items);
    free(kept);
    return status;
}
