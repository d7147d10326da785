/* How much of a copy's time the other direction was busy: by the union of that direction's copies
 * on each device, whose spans are sorted because operations are. */
#include "project/traffic.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "workload/op_class.h"

/* A part of the union of a device's copies in one direction. */
typedef struct span {
    int64_t start_ns;
    int64_t end_ns;
    uint64_t before_ns; /* the length of the device's earlier spans */
} span;

typedef struct device_spans {
    span *spans; /* ascending, disjoint */
    size_t count;
    size_t cursor; /* the first span that starts after the operation looked at last */
} device_spans;

typedef struct traffic {
    const haul_workload *workload;
    device_spans *devices; /* the last one stands for "unknown" */
    span *spans;           /* of all */
} traffic;

static bool is_copy(const haul_op *op, haul_direction direction)
{
    return op->kind == HAUL_OP_COPY && op->direction == direction;
}

/* Any two times, the second not before the first. */
static uint64_t length(int64_t start_ns, int64_t end_ns)
{
    return (uint64_t)end_ns - (uint64_t)start_ns;
}

/* Gives each device as many spans as it has copies, and fills them. */
static bool fill_spans(traffic *self, haul_direction direction)
{
    const haul_workload *workload = self->workload;
    size_t total = 0;
    for (size_t i = 0; i < workload->op_count; i++)
        if (is_copy(&workload->ops[i], direction)) {
            self->devices[hl_workload_device_of(workload, &workload->ops[i])].count++;
            total++;
        }
    self->spans = malloc((total + 1) * sizeof *self->spans);
    if (!self->spans)
        return false;
    span *next = self->spans;
    for (size_t d = 0; d <= workload->device_count; d++) {
        self->devices[d].spans = next;
        next += self->devices[d].count;
        self->devices[d].count = 0;
    }
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        device_spans *of = &self->devices[hl_workload_device_of(workload, op)];
        const int64_t end_ns = hl_base_end_of(op->start_ns, op->dur_ns);
        span *last = of->count ? &of->spans[of->count - 1] : NULL;
        if (!is_copy(op, direction))
            continue;
        if (last && op->start_ns <= last->end_ns)
            last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
        else
            of->spans[of->count++] =
                (span){op->start_ns, end_ns,
                       last ? last->before_ns + length(last->start_ns, last->end_ns) : 0};
    }
    return true;
}

/* The first span from `at` on that starts after a time: most are near, so steps double until one is
 * too long; then the step is halved. */
static size_t span_after(const device_spans *self, size_t at, int64_t time_ns)
{
    size_t step = 1;
    while (step <= self->count - at && self->spans[at + step - 1].start_ns <= time_ns) {
        at += step;
        step *= 2;
    }
    for (; step; step /= 2)
        if (step <= self->count - at && self->spans[at + step - 1].start_ns <= time_ns)
            at += step;
    return at;
}

/* The length of the spans before a time; `after` is the first that starts after it. */
static uint64_t busy_until(const device_spans *self, size_t after, int64_t time_ns)
{
    if (!after)
        return 0;
    const span *last = &self->spans[after - 1];
    return last->before_ns +
           length(last->start_ns, time_ns < last->end_ns ? time_ns : last->end_ns);
}

/* Linear in all but the steps of the search, which are few: spans follow the operations' order. */
haul_status hl_project_traffic_shares(const haul_workload *workload, haul_direction direction,
                                      haul_direction opposite, float *share, haul_error *error)
{
    traffic self = {.workload = workload,
                    .devices = calloc(workload->device_count + 1, sizeof *self.devices)};
    const bool ready = self.devices && fill_spans(&self, opposite);
    for (size_t i = 0; ready && i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (!is_copy(op, direction))
            continue;
        device_spans *of = &self.devices[hl_workload_device_of(workload, op)];
        const int64_t end_ns = hl_base_end_of(op->start_ns, op->dur_ns);
        of->cursor = span_after(of, of->cursor, op->start_ns); /* starts do not decrease */
        const uint64_t before_ns = busy_until(of, of->cursor, op->start_ns);
        const uint64_t until_ns = busy_until(of, span_after(of, of->cursor, end_ns), end_ns);
        share[i] =
            op->dur_ns > 0 ? (float)((double)(until_ns - before_ns) / (double)op->dur_ns) : 0;
    }
    free(self.spans);
    free(self.devices);
    return ready ? HAUL_OK : hl_base_fail_no_memory(error);
}
