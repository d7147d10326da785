/* The bounds of kernels: launches and arithmetic. */
#include <math.h>
#include <stdio.h>

#include "measure/half_kernel.h"
#include "measure/kernel_runs.h"
#include "measure/rate_kernels.h"
#include "measure/session.h"

/* Steps and lanes: enough work for the clock, and as many threads as a GPU holds several times, so
 * that a last wave that is not full costs little. */
enum {
    LANES = 1 << 16,
    GPU_LANES = 8192, /* of a multiprocessor: four times what it holds */
    STEP_FLOPS = 2 * 128,
    SMALL_STEPS = 1 << 14,
    TOGETHER = HL_MEASURE_SESSION_EVENTS,
    ROW = 64,      /* kernels */
    ROW_HOLDS = 6, /* of some 40 us each: a launch takes the host some 3 us */
    FILLED = 64,   /* bytes */
};

/* Two kernels that take this part of one's time or less run at once. */
static const double at_once = 1.5;

/* With the event of the stream's number. */
static haul_status launch_on(hl_measure_session *session, const hl_measure_run *self, int stream,
                             haul_error *error)
{
    return hl_measure_run_launch(session, self, stream, session->events[stream], error);
}

/* From the first one's start to the last one's end, the host's calls hidden. */
static haul_status try_row(hl_measure_session *session, const void *what, double *seconds,
                           haul_error *error)
{
    for (int i = 0; i < ROW_HOLDS; i++)
        HAUL_TRY(hl_measure_session_hold(session, 0, error));
    for (int i = 0; i < ROW; i++) {
        haul_event *event = i == 0 ? session->events[0] : i == ROW - 1 ? session->events[1] : NULL;
        HAUL_TRY(hl_measure_run_launch(session, what, 0, event, error));
    }
    HAUL_TRY(haul_event_wait(session->events[1], error));
    return haul_event_seconds(session->events[0], session->events[1], seconds, error);
}

/* The smallest filling: nearly all of its time is starting and ending. */
static haul_status queue_filling(hl_measure_session *session, haul_event *event, haul_error *error)
{
    const haul_filling filling = {session->on_device[0], 0, FILLED, 0};
    return haul_stream_fill(session->streams[0], &filling, event, error);
}

static haul_status try_filling(hl_measure_session *session, const void *what, double *seconds,
                               haul_error *error)
{
    haul_event *event = session->events[0];
    (void)what;
    HAUL_TRY(hl_measure_session_hold(session, 0, error));
    HAUL_TRY(queue_filling(session, event, error));
    HAUL_TRY(haul_event_wait(event, error));
    return haul_event_seconds(event, event, seconds, error);
}

/* As try_row, kernels and fillings in turns. */
static haul_status try_turns(hl_measure_session *session, const void *what, double *seconds,
                             haul_error *error)
{
    for (int i = 0; i < ROW_HOLDS; i++)
        HAUL_TRY(hl_measure_session_hold(session, 0, error));
    for (int i = 0; i < ROW; i += 2) {
        HAUL_TRY(hl_measure_run_launch(session, what, 0, i ? NULL : session->events[0], error));
        HAUL_TRY(queue_filling(session, i + 2 < ROW ? NULL : session->events[1], error));
    }
    HAUL_TRY(haul_event_wait(session->events[1], error));
    return haul_event_seconds(session->events[0], session->events[1], seconds, error);
}

/* Pauses around fillings, as those between kernels. A CPU's are function calls. */
static haul_status measure_memory_gap(hl_measure_session *self, const hl_measure_run *empty,
                                      double launch_s, haul_error *error)
{
    hl_measure_point_measured alone, turns;
    if (haul_device_describe(self->device)->is_host)
        return HAUL_OK;
    HAUL_TRY(hl_measure_session_point(self, "a small filling", try_filling, NULL, &alone, error));
    HAUL_TRY(hl_measure_session_point(self, "empty kernels and small fillings in turns", try_turns,
                                      empty, &turns, error));
    const double both_s = fmin(launch_s + alone.seconds, 2 * turns.seconds / ROW);
    self->machine.gpu.memory_gap_s =
        hl_measure_session_found(self, (turns.seconds - 0.5 * ROW * both_s) / (ROW - 1), &turns);
    return HAUL_OK;
}

/* A kernel of one index: nearly all of its time is launching and ending. Time that kernels in a row
 * take beyond theirs is the gaps between them. In CUDA the time between the events of one kernel
 * holds some of the events' own: it takes no longer than one of a row. */
static haul_status measure_empty(hl_measure_session *self, const hl_measure_run *run,
                                 haul_error *error)
{
    hl_measure_point_measured alone, row;
    HAUL_TRY(
        hl_measure_session_point(self, "an empty kernel", hl_measure_run_try, run, &alone, error));
    HAUL_TRY(hl_measure_session_point(self, "empty kernels in a row", try_row, run, &row, error));
    const double launch_s = fmin(alone.seconds, row.seconds / ROW);
    const double gap_s = (row.seconds - ROW * launch_s) / (ROW - 1);
    self->machine.gpu.launch_latency_s = hl_measure_session_found(self, launch_s, &alone);
    self->machine.gpu.kernel_gap_s = hl_measure_session_found(self, gap_s, &row);
    return measure_memory_gap(self, run, launch_s, error);
}

static haul_status measure_launch(hl_measure_session *self, haul_error *error)
{
    haul_kernel *kernel;
    HAUL_TRY(haul_kernel_new(self->device, &nothing, &kernel, error));
    const haul_argument argument = {.buffer = self->on_device[0]};
    const hl_measure_run run = {
        .kernel = kernel, .arguments = &argument, .argument_count = 1, .count = 1};
    const haul_status status = measure_empty(self, &run, error);
    haul_kernel_free(kernel);
    return status;
}

/* A kind of number that multiply-adds are measured of. */
typedef struct peak_of {
    const haul_kernel_source *source;
    const char *text;
    bool is_double;
} peak_of;

static haul_status measure_peak(hl_measure_session *self, const peak_of *of, haul_parameter *out,
                                haul_error *error)
{
    haul_kernel *kernel;
    HAUL_TRY(haul_kernel_new(self->device, of->source, &kernel, error));
    const haul_argument arguments[] = {{.buffer = self->on_device[0]}, {.value = NULL}};
    /* As many threads as keep a GPU busy, and the buffer has numbers for. */
    const uint64_t most = self->options.largest_bytes / sizeof(double);
    const uint64_t wanted =
        (uint64_t)haul_device_describe(self->device)->multiprocessors * GPU_LANES;
    hl_measure_run each = {
        .kernel = kernel,
        .arguments = arguments,
        .argument_count = sizeof arguments / sizeof *arguments,
        .count = !hl_measure_is_gpu(self) || wanted < LANES ? LANES
                                                            : (int)(wanted < most ? wanted : most),
        .is_double = of->is_double,
        .rate = out,
    };
    each.flops = (double)each.count * STEP_FLOPS;
    char text[32];
    snprintf(text, sizeof text, "multiply-adds, %s", of->text);
    const haul_status status = hl_measure_run_steps(self, text, &each, 1, error);
    haul_kernel_free(kernel);
    return status;
}

/* Precisions that not every device has: one without them does not compile the kernel. */
static haul_status measure_other_peaks(hl_measure_session *self, haul_error *error)
{
    const peak_of twice = {&chains_double, "double", true}, half = {&chains_half, "half", false};
    haul_parameter rate = {.provenance = HAUL_PROVENANCE_NOT_GIVEN};
    haul_status status = measure_peak(self, &twice, &self->machine.gpu.fp64_flops, error);
    if (status && !hl_measure_is_lacking(status) && status != HAUL_STATUS_BAD_INPUT)
        return status;
    if (!hl_measure_is_gpu(self))
        return HAUL_OK;
    status = measure_peak(self, &half, &rate, error);
    if (status)
        return hl_measure_is_lacking(status) || status == HAUL_STATUS_BAD_INPUT ? HAUL_OK : status;
    if (rate.provenance)
        hl_measure_session_tell(self, HAUL_DIM_FLOPS, rate.value,
                                &(hl_measure_point_measured){.count = 1},
                                "multiply-adds in half precision");
    return HAUL_OK;
}

/* Kernels of one thread, each on a stream of its own, from the start of the first to the end of the
 * last. */
typedef struct together {
    hl_measure_run one;
    haul_stream *streams[TOGETHER];
} together;

static haul_status try_together(hl_measure_session *session, const void *what, double *seconds,
                                haul_error *error)
{
    const together *self = what;
    const haul_launch launch = {.box = {.hi = {1}},
                                .arguments = self->one.arguments,
                                .argument_count = self->one.argument_count};
    haul_status status = HAUL_OK;
    *seconds = 0;
    for (int i = 0; i < TOGETHER && !status; i++)
        status = haul_stream_launch(self->streams[i], self->one.kernel, &launch, session->events[i],
                                    error);
    for (int i = 0; i < TOGETHER && !status; i++) {
        double until_s = 0;
        status = haul_event_wait(session->events[i], error);
        if (!status)
            status = haul_event_seconds(session->events[0], session->events[i], &until_s, error);
        *seconds = until_s > *seconds ? until_s : *seconds;
    }
    return status;
}

/* Of one thread each, so that the GPU has room for all of them: what is found is how many it
 * runs at once. */
static haul_status measure_together(hl_measure_session *self, haul_error *error)
{
    haul_kernel *kernel;
    HAUL_TRY(haul_kernel_new(self->device, &chains_single, &kernel, error));
    int steps = HL_MEASURE_GPU_STEPS;
    const haul_argument arguments[] = {{.buffer = self->on_device[0]}, {.value = &steps}};
    together all = {
        .one = {.kernel = kernel, .arguments = arguments, .argument_count = 2, .count = 1}};
    haul_status status = hl_measure_run_choose_steps(self, &all.one, &steps, error);
    if (!status) {
        /* How many kernels run at once: the work of all over the time that they took, which is
         * TOGETHER at most. */
        hl_measure_point_measured one, many;
        for (int i = 0; i < TOGETHER && !status; i++)
            status = haul_stream_new(self->device, &all.streams[i], error);
        if (!status)
            status = hl_measure_session_point(self, "a kernel of one thread", hl_measure_run_try,
                                              &all.one, &one, error);
        if (!status)
            status = hl_measure_session_point(self, "64 of them at once", try_together, &all, &many,
                                              error);
        if (!status && many.seconds > 0)
            self->made.kernels_at_once = (unsigned)(TOGETHER * one.seconds / many.seconds + 0.5);
        for (int i = 0; i < TOGETHER; i++)
            haul_stream_free(all.streams[i]);
    }
    haul_kernel_free(kernel);
    return status;
}

/* A kernel on each stream, and between the two in the order of calls a copy behind the first. */
typedef struct pair_of {
    hl_measure_run runs[2];
    bool has_copy;
} pair_of;

/* From the start of whichever began first to the end of whichever ended last. */
static haul_status try_pair(hl_measure_session *session, const void *what, double *seconds,
                            haul_error *error)
{
    const pair_of *self = what;
    const hl_measure_way back = {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, NULL};
    HAUL_TRY(launch_on(session, &self->runs[0], 0, error));
    if (self->has_copy)
        HAUL_TRY(hl_measure_session_copy(session, back, 1, 0, session->events[2], error));
    HAUL_TRY(launch_on(session, &self->runs[1], 1, error));
    return hl_measure_session_pair_seconds(session, seconds, error);
}

/* A device that synchronises streams by itself does not start a kernel after such a copy before the
 * kernel before it has ended (CCGrid 2014, section III). Where two small kernels do not run at once
 * anyway it cannot be told, and is left open. */
static haul_status find_sync(hl_measure_session *self, pair_of *pair, haul_error *error)
{
    hl_measure_point_measured one, two, checked;
    haul_status status = hl_measure_session_point(self, "a small kernel", hl_measure_run_try,
                                                  &pair->runs[0], &one, error);
    if (!status)
        status = hl_measure_session_point(self, "two small kernels", try_pair, pair, &two, error);
    if (status || two.seconds > at_once * one.seconds)
        return status;
    pair->has_copy = true;
    status = hl_measure_session_point(self, "a copy between two small kernels", try_pair, pair,
                                      &checked, error);
    if (!status)
        self->machine.gpu.implicit_sync = (haul_parameter){
            checked.seconds > at_once * one.seconds, HAUL_PROVENANCE_MEASURED,
            "haul measure: whether two small kernels overlap with a copy between them"};
    return status;
}

/* A kernel of one thread leaves room for the other on any GPU: if they still do not overlap, it is
 * not for lack of multiprocessors. */
static haul_status measure_sync(hl_measure_session *self, haul_error *error)
{
    haul_kernel *kernel;
    HAUL_TRY(haul_kernel_new(self->device, &chains_single, &kernel, error));
    const int steps = SMALL_STEPS;
    const haul_argument first[] = {{.buffer = self->on_device[0]}, {.value = &steps}};
    const haul_argument second[] = {{.buffer = self->on_device[1]}, {.value = &steps}};
    const hl_measure_run run = {
        .kernel = kernel,
        .arguments = first,
        .argument_count = 2,
        .count = 1,
        .flops = (double)SMALL_STEPS * STEP_FLOPS,
    };
    pair_of pair = {.runs = {run, run}};
    pair.runs[1].arguments = second;
    haul_status status = find_sync(self, &pair, error);
    haul_kernel_free(kernel);
    return status;
}

/* Each rate stands by itself: one that a device lacks does not take the others with it. */
haul_status hl_measure_kernels(hl_measure_session *session, haul_error *error)
{
    haul_gpu *gpu = &session->machine.gpu;
    /* Fresh device memory may hold denormals or NaN, which slow arithmetic on some CPUs. */
    haul_status status = HAUL_OK;
    for (int i = 0; i < HL_MEASURE_SESSION_BUFFERS && !status; i++) {
        const haul_filling filling = {session->on_device[i], 0, session->options.largest_bytes, 0};
        status = haul_stream_fill(session->streams[0], &filling, NULL, error);
    }
    status = status ? status : haul_stream_wait(session->streams[0], error);
    if (!status)
        status = measure_launch(session, error);
    if (!status)
        status = hl_measure_memory(session, error);
    if (status && !hl_measure_is_lacking(status))
        return status;
    const haul_status single =
        measure_peak(session, &(peak_of){&chains_single, "single", false}, &gpu->fp32_flops, error);
    if (single && !hl_measure_is_lacking(single))
        return single;
    const haul_status sync = measure_sync(session, error);
    if (sync && !hl_measure_is_lacking(sync))
        return sync;
    if (!single && hl_measure_is_gpu(session))
        HAUL_TRY(measure_together(session, error));
    status = hl_measure_queue(session, error);
    if (!status)
        status = hl_measure_products(session, error);
    if (status && !hl_measure_is_lacking(status))
        return status;
    return measure_other_peaks(session, error);
}
