/* Checks of a workload and a device before they are scheduled. The engine trusts what passed: its
 * sums cannot overflow, and its indices exist. */
#include "base/fail.h"
#include "timeline/engine_parts.h"

/* Slower ones are a slip of the unit. */
static const double slowest_host = 1000;

/* Times may be before the profile's zero. */
static bool in_range(int64_t time_ns)
{
    return time_ns >= -hl_timeline_time_limit_ns && time_ns <= hl_timeline_time_limit_ns;
}

static bool is_duration(int64_t dur_ns)
{
    return dur_ns >= 0 && dur_ns <= hl_timeline_time_limit_ns;
}

haul_status hl_timeline_engine_check_op(hl_timeline_engine *self, uint32_t i)
{
    const haul_workload *workload = self->workload;
    const haul_op *op = &workload->ops[i];
    if (op->kind >= HAUL_OP_KINDS)
        return hl_timeline_engine_fail(self, HAUL_STATUS_BAD_INPUT, i, "is of no kind");
    if (op->stream != HAUL_NONE && op->stream >= workload->stream_count)
        return hl_timeline_engine_fail(self, HAUL_STATUS_BAD_INPUT, i,
                                       "is on a stream that does not exist");
    if (op->thread != HAUL_NONE && op->thread >= workload->thread_count)
        return hl_timeline_engine_fail(self, HAUL_STATUS_BAD_INPUT, i,
                                       "is of a thread that does not exist");
    if (!is_duration(op->dur_ns) || !is_duration(op->call_dur_ns))
        return hl_timeline_engine_fail(self, HAUL_STATUS_BAD_INPUT, i,
                                       "has a duration that is negative or beyond 2^61 ns");
    if (!in_range(op->start_ns) || !in_range(op->call_ns))
        return hl_timeline_engine_fail(self, HAUL_STATUS_BAD_INPUT, i, "has a time beyond 2^61 ns");
    if (self->options->call_durations_ns && !is_duration(self->options->call_durations_ns[i]))
        return hl_timeline_engine_fail(
            self, HAUL_STATUS_BAD_INPUT, i,
            "is given a call's duration that is negative or beyond 2^61 ns");
    self->has_faults |= hl_timeline_is_fault(self, op);
    return HAUL_OK;
}

/* These come from machine files and from callers of the library: HAUL_STATUS_USAGE, not BAD_INPUT.
 */
static haul_status check_options(hl_timeline_engine *self)
{
    const haul_timeline_device *device = &self->options->device;
    for (int i = 0; i < 2; i++)
        if (!(device->busy_speed[i] > 0 && device->busy_speed[i] <= 1))
            return haul_error_set(self->error, HAUL_STATUS_USAGE,
                                  "a busy speed lies in (0, 1], not at %g", device->busy_speed[i]);
    if (!(device->link_copies >= 0))
        return haul_error_set(self->error, HAUL_STATUS_USAGE, "a link carries no %g copies",
                              device->link_copies);
    if (!(self->options->host_time >= 0 && self->options->host_time <= slowest_host))
        return haul_error_set(self->error, HAUL_STATUS_USAGE,
                              "a host does not take %g times as long", self->options->host_time);
    if (!is_duration(device->kernel_gap_ns) || !is_duration(device->memory_gap_ns))
        return haul_error_set(self->error, HAUL_STATUS_USAGE,
                              "a gap between operations is negative or beyond 2^61 ns");
    for (size_t d = 0; d < self->options->delay_count; d++) {
        const haul_start_delay *delay = &self->options->delays[d];
        if (delay->op >= self->workload->op_count || !in_range(delay->delay_ns) ||
            (d && delay->op <= delay[-1].op))
            return haul_error_set(self->error, HAUL_STATUS_USAGE,
                                  "delay %zu is out of order, or beyond 2^61 ns", d);
    }
    for (int i = 0; i < 2; i++)
        if (!is_duration(device->chained_ns[i]) || !is_duration(device->latency_ns[i]))
            return haul_error_set(self->error, HAUL_STATUS_USAGE,
                                  "a copy's latency, or what a chained copy saves, is negative or "
                                  "beyond 2^61 ns");
    for (int i = 0; i < HAUL_OP_KINDS; i++)
        if (!is_duration(device->issue_ns[i]))
            return haul_error_set(self->error, HAUL_STATUS_USAGE,
                                  "the time of an issue is negative or beyond 2^61 ns");
    return HAUL_OK;
}

haul_status hl_timeline_engine_check(hl_timeline_engine *self)
{
    const haul_workload *workload = self->workload;
    HAUL_TRY(check_options(self));
    if (workload->op_count >= HAUL_NONE || workload->edge_count >= HAUL_NONE ||
        workload->stream_count + workload->thread_count >= HAUL_NONE - 2 ||
        workload->device_count >= HAUL_NONE / HAUL_RESOURCES - 1)
        return haul_error_set(self->error, HAUL_STATUS_BAD_INPUT,
                              "a workload of more than 2^32 things");
    for (size_t s = 0; s < workload->stream_count; s++)
        if (workload->streams[s].device != HAUL_NONE &&
            workload->streams[s].device >= workload->device_count)
            return haul_error_set(self->error, HAUL_STATUS_BAD_INPUT,
                                  "stream %zu is of a device that does not exist", s);
    return HAUL_OK;
}
