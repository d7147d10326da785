#include "project/traffic.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/intervals.h"

static size_t device_of(const haul_workload *workload, const haul_op *op)
{
    const uint32_t device =
        op->stream < workload->stream_count ? workload->streams[op->stream].device : HAUL_NONE;
    return device < workload->device_count ? device : workload->device_count;
}

static bool is_copy(const haul_op *op, haul_direction direction)
{
    return op->kind == HAUL_OP_COPY && op->direction == direction;
}

/* Any two times, the second not before the first. */
static uint64_t length(int64_t start_ns, int64_t end_ns)
{
    return (uint64_t)end_ns - (uint64_t)start_ns;
}

/* Operations come in order of start, so a copy extends its device's last span or begins one. */
static void add_span(haul_traffic *self, size_t device, const haul_op *op)
{
    const int64_t end = haul_end_of(op->start_ns, op->dur_ns);
    haul_traffic_span *next = self->spans + self->first[device] + self->count[device];
    if (self->count[device] && op->start_ns <= next[-1].end_ns) {
        if (end > next[-1].end_ns)
            next[-1].end_ns = end;
        return;
    }
    *next = (haul_traffic_span){op->start_ns, end, 0};
    if (self->count[device])
        next->before_ns = next[-1].before_ns + length(next[-1].start_ns, next[-1].end_ns);
    self->count[device]++;
}

static void fill(const haul_workload *workload, haul_direction direction, haul_traffic *self)
{
    for (size_t i = 0; i < workload->op_count; i++)
        if (is_copy(&workload->ops[i], direction))
            add_span(self, device_of(workload, &workload->ops[i]), &workload->ops[i]);
}

haul_status haul_traffic_make(const haul_workload *workload, haul_direction direction,
                              haul_traffic *traffic, haul_error *error)
{
    const size_t devices = workload->device_count + 1;
    haul_traffic made = {.first = calloc(devices + 1, sizeof *made.first),
                         .count = calloc(devices, sizeof *made.count)};
    if (!made.first || !made.count)
        goto release;
    for (size_t i = 0; i < workload->op_count; i++)
        if (is_copy(&workload->ops[i], direction))
            made.first[device_of(workload, &workload->ops[i]) + 1]++;
    for (size_t d = 0; d < devices; d++)
        made.first[d + 1] += made.first[d];
    made.spans = malloc((made.first[devices] + 1) * sizeof *made.spans);
    if (!made.spans)
        goto release;
    fill(workload, direction, &made);
    *traffic = made;
    return HAUL_OK;
release:
    haul_traffic_release(&made);
    return haul_fail_no_memory(error);
}

void haul_traffic_release(haul_traffic *traffic)
{
    free(traffic->spans);
    free(traffic->first);
    free(traffic->count);
    *traffic = (haul_traffic){0};
}

/* The length of the spans of a device that lies before `time_ns`. */
static uint64_t busy_until(const haul_traffic_span *spans, size_t count, int64_t time_ns)
{
    size_t low = 0, high = count; /* the first span that starts after it */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (spans[middle].start_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return 0;
    const haul_traffic_span *span = &spans[low - 1];
    return span->before_ns +
           length(span->start_ns, time_ns < span->end_ns ? time_ns : span->end_ns);
}

double haul_traffic_share(const haul_workload *workload, const haul_traffic *traffic,
                          const haul_op *op)
{
    const size_t device = device_of(workload, op);
    const haul_traffic_span *spans = traffic->spans + traffic->first[device];
    const size_t count = traffic->count[device];
    if (!count || op->dur_ns <= 0)
        return 0;
    const int64_t end_ns = haul_end_of(op->start_ns, op->dur_ns);
    if (spans[0].start_ns >= end_ns || spans[count - 1].end_ns <= op->start_ns)
        return 0;
    const uint64_t both_ns =
        busy_until(spans, count, end_ns) - busy_until(spans, count, op->start_ns);
    return (double)both_ns / (double)op->dur_ns;
}
