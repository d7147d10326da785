#include "measure/kernel_runs.h"

#include <stdio.h>
#include <string.h>

/* GPU_STEPS are doubled. */
enum { STEPS = 64, GPU_STEPS = HL_MEASURE_GPU_STEPS, MOST_STEPS = 1 << 20, ARGUMENTS_MOST = 5 };

/* Shorter kernels are timed badly by a GPU's events. */
static const double long_enough_s = 1e-3;

haul_status hl_measure_run_launch(hl_measure_session *session, const hl_measure_run *self,
                                  int stream, haul_event *event, haul_error *error)
{
    const haul_launch launch = {
        .box = {.hi = {self->count}},
        .arguments = self->arguments,
        .argument_count = self->argument_count,
        .bytes = self->bytes,
        .flops = self->flops,
        .is_double = self->is_double,
    };
    return haul_stream_launch(session->streams[stream], self->kernel, &launch, event, error);
}

haul_status hl_measure_run_try(hl_measure_session *session, const void *what, double *seconds,
                               haul_error *error)
{
    haul_event *event = session->events[0];
    HAUL_TRY(hl_measure_session_hold(session, 0, error));
    HAUL_TRY(hl_measure_run_launch(session, what, 0, event, error));
    HAUL_TRY(haul_event_wait(event, error));
    return haul_event_seconds(event, event, seconds, error);
}

bool hl_measure_is_gpu(const hl_measure_session *self)
{
    const haul_device_properties *device = haul_device_describe(self->device);
    return !device->is_host && !device->is_simulated;
}

haul_status hl_measure_run_slope(hl_measure_session *self, const char *name,
                                 const hl_measure_run *whole, const hl_measure_run *half,
                                 haul_error *error)
{
    char half_name[64];
    hl_measure_point_measured all, part;
    snprintf(half_name, sizeof half_name, "%s, half", name);
    haul_status status =
        hl_measure_session_point(self, name, hl_measure_run_try, whole, &all, error);
    if (!status)
        status = hl_measure_session_point(self, half_name, hl_measure_run_try, half, &part, error);
    if (!status && all.seconds > part.seconds)
        *whole->rate = hl_measure_session_found(
            self, (whole->bytes + whole->flops) / 2 / (all.seconds - part.seconds), &all);
    return status;
}

haul_status hl_measure_run_choose_steps(hl_measure_session *self, const hl_measure_run *run,
                                        int *steps, haul_error *error)
{
    double seconds = 0;
    haul_status status = HAUL_OK;
    if (haul_device_describe(self->device)->is_simulated)
        return HAUL_OK;
    while (!(status = hl_measure_run_try(self, run, &seconds, error)) && seconds < long_enough_s &&
           *steps < MOST_STEPS)
        *steps *= 2;
    return status;
}

/* Steps are doubled on GPUs only as far as the clock needs: a fixed number that suits a large one
 * would take seconds on a small one. The work is in the point's name, so that a journal's point is
 * used only for the same work. */
haul_status hl_measure_run_steps(hl_measure_session *self, const char *text,
                                 const hl_measure_run *each, size_t at, haul_error *error)
{
    int steps[2] = {hl_measure_is_gpu(self) ? GPU_STEPS : STEPS};
    haul_argument all[ARGUMENTS_MOST], part[ARGUMENTS_MOST];
    memcpy(all, each->arguments, each->argument_count * sizeof *all);
    memcpy(part, each->arguments, each->argument_count * sizeof *part);
    all[at] = (haul_argument){.value = &steps[0]};
    part[at] = (haul_argument){.value = &steps[1]};
    hl_measure_run whole = *each;
    whole.arguments = all;
    HAUL_TRY(hl_measure_run_choose_steps(self, &whole, &steps[0], error));
    steps[1] = steps[0] / 2;
    whole.flops *= steps[0];
    whole.bytes *= steps[0];
    hl_measure_run half = whole;
    half.arguments = part;
    half.flops /= 2;
    half.bytes /= 2;
    char name[64];
    snprintf(name, sizeof name, "%s, %.4g %s", text, whole.flops + whole.bytes,
             whole.flops > 0 ? "flop" : "bytes");
    return hl_measure_run_slope(self, name, &whole, &half, error);
}
