/* GPUs whose clock differs from the host's by a constant, as some files of nvprof have it, by a
 * day: nothing that joins calls to operations could be told from such times. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/intervals.h"
#include "trace/trace_builder.h"

/* The times from call to start of a device's operations. */
typedef struct device_lags {
    int64_t least_ns;
    int64_t most_ns;
    int64_t since_return_ns; /* the least from a call's return */
    uint64_t count;
    bool is_doubted;
} device_lags;

/* From the first call to the last return. */
typedef struct host_span {
    int64_t first_ns;
    int64_t last_ns;
} host_span;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The device of an operation or event by its stream, HAUL_NONE where it has none. */
static uint32_t device_of(const hl_trace_builder *self, uint32_t stream)
{
    const haul_workload_stream *streams = self->built.streams.items;
    const uint32_t device = stream == HAUL_NONE ? HAUL_NONE : streams[stream].device;
    return device < self->built.device_count ? device : HAUL_NONE;
}

/* No operation starts before its call: where all do, by more than clocks that agree ever differ, or
 * all start a minute or more after their calls returned, the clock is off. */
static const int64_t early_ns = 1000000, late_ns = INT64_C(60000000000);

/* Whether each device that has streams has an operation that starts in time: nearly always the
 * first operations show it, and the others need not be gone through. */
static bool are_right(const hl_trace_builder *self, device_lags *lags)
{
    size_t left = 0;
    for (uint32_t s = 0; s < self->built.streams.count; s++) {
        const uint32_t device = device_of(self, s);
        left += device != HAUL_NONE && !lags[device].is_doubted;
        if (device != HAUL_NONE)
            lags[device].is_doubted = true;
    }
    for (size_t i = 0; left && i < self->built.op_count; i++) {
        const haul_op *op = &self->built.ops[i];
        const bool is_called = haul_op_on_device(op) && op->flags & HAUL_OP_HAS_CALL;
        const uint32_t device = is_called ? device_of(self, op->stream) : HAUL_NONE;
        const int64_t after_ns = op->start_ns - op->call_ns;
        if (device == HAUL_NONE || !lags[device].is_doubted || after_ns < -early_ns ||
            after_ns - op->call_dur_ns > late_ns)
            continue;
        lags[device].is_doubted = false;
        left--;
    }
    return !left;
}

static host_span measure_lags(const hl_trace_builder *self, device_lags *lags)
{
    host_span host = {INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < self->built.op_count; i++) {
        const haul_op *op = &self->built.ops[i];
        if (!(op->flags & HAUL_OP_HAS_CALL))
            continue;
        const int64_t returned_ns = op->call_ns + op->call_dur_ns;
        host.first_ns = least(host.first_ns, op->call_ns);
        host.last_ns = most(host.last_ns, returned_ns);
        const uint32_t device = haul_op_on_device(op) ? device_of(self, op->stream) : HAUL_NONE;
        if (device == HAUL_NONE)
            continue;
        device_lags *of = &lags[device];
        const int64_t lag_ns = op->start_ns - op->call_ns;
        of->least_ns = of->count ? least(of->least_ns, lag_ns) : lag_ns;
        of->most_ns = of->count ? most(of->most_ns, lag_ns) : lag_ns;
        of->since_return_ns = of->count ? least(of->since_return_ns, op->start_ns - returned_ns)
                                        : op->start_ns - returned_ns;
        of->count++;
    }
    return host;
}

/* Operations without a call are by the same clock, unless it is among the host's times already. */
static bool is_off(host_span host, bool has_call, int64_t time_ns)
{
    return has_call || time_ns < host.first_ns || time_ns > host.last_ns;
}

/* A time that would leave those that a workload has stays: it is of no such clock. */
static bool is_movable(int64_t time_ns, int64_t by_ns)
{
    return hl_base_is_recorded_time(time_ns - by_ns);
}

static void move_device(hl_trace_builder *self, uint32_t device, host_span host, int64_t by_ns)
{
    uint64_t moved = 0;
    char text[160];
    for (size_t i = 0; i < self->built.op_count; i++) {
        haul_op *op = &self->built.ops[i];
        if (!haul_op_on_device(op) || device_of(self, op->stream) != device ||
            !is_off(host, op->flags & HAUL_OP_HAS_CALL, op->start_ns) ||
            !is_movable(op->start_ns, by_ns))
            continue;
        op->start_ns -= by_ns;
        moved++;
    }
    for (size_t i = 0; i < self->event_count; i++) {
        hl_trace_event_mark *event = &self->events[i];
        if (!event->has_call && event->time_ns && device_of(self, event->stream) == device &&
            is_off(host, false, event->time_ns) && is_movable(event->time_ns, by_ns))
            event->time_ns -= by_ns;
    }
    (void)snprintf(text, sizeof text,
                   "operations moved, since the clock of device %" PRIu64 " is %.6g s %s the "
                   "host's",
                   self->built.devices[device].id, 1e-9 * (double)llabs(by_ns),
                   by_ns < 0 ? "behind" : "ahead of");
    hl_trace_repaired(self, moved, text);
}

/* The operation that started soonest starts at its call. */
void hl_trace_device_clocks_set(hl_trace_builder *self)
{
    const size_t count = self->built.device_count;
    if (!self->calls)
        return;
    device_lags *lags = calloc(count + 1, sizeof *lags);
    self->built.failed |= !lags;
    if (lags && !are_right(self, lags)) {
        const host_span host = measure_lags(self, lags);
        for (uint32_t d = 0; d < count; d++) {
            const device_lags *const of = &lags[d];
            const bool is_off = of->most_ns < -early_ns || of->since_return_ns > late_ns;
            /* lags that differ by more than the host's own time are of no constant */
            const int64_t spread_ns = of->count && is_off ? of->most_ns - of->least_ns : INT64_MAX;
            if (spread_ns <= most(host.last_ns - host.first_ns, early_ns) && of->least_ns)
                move_device(self, d, host, of->least_ns);
        }
    }
    free(lags);
}
