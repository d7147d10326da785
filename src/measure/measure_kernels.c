/* What bounds kernels: launches, memory, arithmetic. */
#include <stdio.h>

#include "measure/rate_kernels.h"
#include "measure/session.h"

enum { LANES = 1 << 16, STEPS = 64, STEP_FLOPS = 2 * 128, SMALL_STEPS = 1 << 14 };

/* Two kernels that take this part of one's time or less run at once. */
static const double at_once = 1.5;

/* A launch over `count` indices. */
typedef struct run_of {
    const haul_kernel *kernel;
    const haul_argument *arguments;
    size_t argument_count;
    int count;
    double bytes;
    double flops;
    bool is_double;
    haul_parameter *rate; /* that it measures: either bytes or flops are 0 */
} run_of;

/* On a stream, with the event of that number. */
static haul_status launch_on(haul_session *session, const run_of *self, int stream,
                             haul_error *error)
{
    const haul_launch launch = {
        .box = {.hi = {self->count}},
        .arguments = self->arguments,
        .argument_count = self->argument_count,
        .bytes = self->bytes,
        .flops = self->flops,
        .is_double = self->is_double,
    };
    return haul_stream_launch(session->streams[stream], self->kernel, &launch,
                              session->events[stream], error);
}

static haul_status try_kernel(haul_session *session, const void *what, double *seconds,
                              haul_error *error)
{
    haul_event *event = session->events[0];
    haul_status status = launch_on(session, what, 0, error);
    if (!status)
        status = haul_event_wait(event, error);
    return status ? status : haul_event_seconds(event, event, seconds, error);
}

static haul_status zero(haul_session *self, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int i = 0; i < HAUL_SESSION_BUFFERS && !status; i++) {
        const haul_filling filling = {self->on_device[i], 0, self->options.largest_bytes, 0};
        status = haul_stream_fill(self->streams[0], &filling, NULL, error);
    }
    return status ? status : haul_stream_wait(self->streams[0], error);
}

static haul_status measure_launch(haul_session *self, haul_error *error)
{
    haul_kernel *kernel;
    haul_point_measured point;
    haul_status status = haul_kernel_new(self->device, &nothing, &kernel, error);
    if (status)
        return status;
    const haul_argument argument = {.buffer = self->on_device[0]};
    const run_of run = {.kernel = kernel, .arguments = &argument, .argument_count = 1, .count = 1};
    status = haul_session_point(self, "an empty kernel", try_kernel, &run, &point, error);
    if (!status)
        self->machine.gpu.launch_latency_s = haul_session_found(self, point.seconds, &point);
    haul_kernel_free(kernel);
    return status;
}

/* The rate between a launch and one of half its work. */
static haul_status measure_slope(haul_session *self, const char *name, const run_of *whole,
                                 const run_of *half, haul_error *error)
{
    char half_name[64];
    haul_point_measured all, part;
    snprintf(half_name, sizeof half_name, "%s, half", name);
    haul_status status = haul_session_point(self, name, try_kernel, whole, &all, error);
    if (!status)
        status = haul_session_point(self, half_name, try_kernel, half, &part, error);
    if (!status && all.seconds > part.seconds)
        *whole->rate = haul_session_found(
            self, (whole->bytes + whole->flops) / 2 / (all.seconds - part.seconds), &all);
    return status;
}

/* Two arrays lie in the first buffer, the third in the other. */
static haul_status measure_memory(haul_session *self, haul_error *error)
{
    haul_kernel *kernel;
    haul_status status = haul_kernel_new(self->device, &triad, &kernel, error);
    if (status)
        return status;
    const uint64_t bytes = self->options.largest_bytes / 2;
    const haul_argument arguments[] = {{.buffer = self->on_device[0]},
                                       {.buffer = self->on_device[0], .offset = bytes},
                                       {.buffer = self->on_device[1]}};
    const run_of whole = {
        .kernel = kernel,
        .arguments = arguments,
        .argument_count = 3,
        .count = (int)(bytes / sizeof(float)),
        .bytes = 3.0 * (double)bytes,
        .rate = &self->machine.gpu.memory_bandwidth_Bps,
    };
    run_of half = whole;
    half.count /= 2;
    half.bytes /= 2;
    status = measure_slope(self, "triad", &whole, &half, error);
    haul_kernel_free(kernel);
    return status;
}

static haul_status measure_peak(haul_session *self, bool is_double, haul_parameter *out,
                                haul_error *error)
{
    haul_kernel *kernel;
    haul_status status =
        haul_kernel_new(self->device, is_double ? &chains_double : &chains_single, &kernel, error);
    if (status)
        return status;
    const int steps[] = {STEPS, STEPS / 2};
    const haul_argument all[] = {{.buffer = self->on_device[0]}, {.value = &steps[0]}};
    const haul_argument part[] = {{.buffer = self->on_device[0]}, {.value = &steps[1]}};
    const run_of whole = {
        .kernel = kernel,
        .arguments = all,
        .argument_count = 2,
        .count = LANES,
        .flops = (double)LANES * STEPS * STEP_FLOPS,
        .is_double = is_double,
        .rate = out,
    };
    run_of half = whole;
    half.arguments = part;
    half.flops /= 2;
    status = measure_slope(self, is_double ? "multiply-adds, double" : "multiply-adds, single",
                           &whole, &half, error);
    haul_kernel_free(kernel);
    return status;
}

/* A kernel on each stream, and between the two in the order of calls a copy behind the first. */
typedef struct pair_of {
    run_of runs[2];
    bool has_copy;
} pair_of;

static haul_status try_pair(haul_session *session, const void *what, double *seconds,
                            haul_error *error)
{
    const pair_of *self = what;
    const haul_way back = {HAUL_DTOH, HAUL_PINNED};
    double forward = 0, backward = 0;
    haul_status status = launch_on(session, &self->runs[0], 0, error);
    if (!status && self->has_copy)
        status = haul_session_copy(session, back, 1, 0, session->events[2], error);
    if (!status)
        status = launch_on(session, &self->runs[1], 1, error);
    if (!status)
        status = haul_session_wait(session, error);
    if (!status)
        status = haul_event_seconds(session->events[0], session->events[1], &forward, error);
    if (!status)
        status = haul_event_seconds(session->events[1], session->events[0], &backward, error);
    *seconds = forward > backward ? forward : backward;
    return status;
}

/* A device that synchronises streams by itself does not start a kernel after such a copy before the
 * kernel before it has ended (CCGrid 2014, section III). Where two small kernels do not run at once
 * anyway it cannot be told, and is left open. */
static haul_status find_sync(haul_session *self, pair_of *pair, haul_error *error)
{
    haul_point_measured one, two, checked;
    haul_status status =
        haul_session_point(self, "a small kernel", try_kernel, &pair->runs[0], &one, error);
    if (!status)
        status = haul_session_point(self, "two small kernels", try_pair, pair, &two, error);
    if (status || two.seconds > at_once * one.seconds)
        return status;
    pair->has_copy = true;
    status = haul_session_point(self, "a copy between two small kernels", try_pair, pair, &checked,
                                error);
    if (!status)
        self->machine.gpu.implicit_sync = (haul_parameter){
            checked.seconds > at_once * one.seconds, HAUL_MEASURED,
            "haul measure: whether two small kernels overlap with a copy between them"};
    return status;
}

static haul_status measure_sync(haul_session *self, haul_error *error)
{
    haul_kernel *kernel;
    haul_status status = haul_kernel_new(self->device, &chains_single, &kernel, error);
    if (status)
        return status;
    const int steps = SMALL_STEPS;
    const haul_argument first[] = {{.buffer = self->on_device[0]}, {.value = &steps}};
    const haul_argument second[] = {{.buffer = self->on_device[1]}, {.value = &steps}};
    const run_of run = {
        .kernel = kernel,
        .arguments = first,
        .argument_count = 2,
        .count = 1,
        .flops = (double)SMALL_STEPS * STEP_FLOPS,
    };
    pair_of pair = {.runs = {run, run}};
    pair.runs[1].arguments = second;
    status = find_sync(self, &pair, error);
    haul_kernel_free(kernel);
    return status;
}

static bool is_lacking(haul_status status)
{
    return status == HAUL_ABSENT || status == HAUL_MISSING;
}

haul_status haul_measure_kernels(haul_session *session, haul_error *error)
{
    haul_gpu *gpu = &session->machine.gpu;
    haul_status status = zero(session, error);
    if (!status)
        status = measure_launch(session, error);
    if (!status)
        status = measure_memory(session, error);
    if (status && !is_lacking(status))
        return status;
    const haul_status single = measure_peak(session, false, &gpu->fp32_flops, error);
    if (single && !is_lacking(single))
        return single;
    const haul_status sync = measure_sync(session, error);
    if (sync && !is_lacking(sync))
        return sync;
    /* devices without doubles do not compile them */
    const haul_status twice = measure_peak(session, true, &gpu->fp64_flops, error);
    return is_lacking(twice) || twice == HAUL_BAD_INPUT ? status : twice ? twice : status;
}
