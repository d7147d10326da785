#include "project/whole_run.h"

#include "base/fail.h"

/* With no call at all there are no threads to simulate. */
static haul_release release_of(const haul_workload *workload)
{
    for (size_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind <= HAUL_OP_KERNEL && workload->ops[i].thread != HAUL_NONE)
            return HAUL_RELEASE_HOST;
    return HAUL_RELEASE_RECORDED;
}

/* The target's figures, or in place of engines that it does not say the recording's. */
static haul_status device_of(const haul_whole_run *self, const haul_timeline_device *recording,
                             haul_timeline_device *device, haul_error *error)
{
    haul_machine target = *self->target;
    if (!target.gpu.copy_engines.provenance) {
        target.gpu.copy_engines =
            (haul_figure){.value = recording->copy_engines, .provenance = HAUL_CARRIED};
        haul_notes_add(self->notes, self->arena,
                       "'%s' does not say how many copy engines its GPU has: as many as the "
                       "recording's, %u",
                       target.name, recording->copy_engines);
    }
    return haul_timeline_device_of(&target, device, error);
}

/* What copies keep of their speed while they meet, where the target does not say it. */
static void carry_collisions(const haul_whole_run *self, haul_timeline_device *device)
{
    for (int d = 0; d < 2; d++) {
        const haul_copy_curve *curve =
            haul_machine_curve(self->target, (haul_direction)d, HAUL_PINNED, HAUL_NEAR);
        const double loss = self->collisions->loss[d][HAUL_PINNED];
        if ((curve && curve->busy_rate_Bps.provenance) || loss <= 0)
            continue;
        device->busy_speed[d] = 1 - loss;
        haul_notes_add(self->notes, self->arena,
                       "'%s' does not say how fast %s copies are while the other direction is "
                       "busy: they keep %.3g %% of their speed, as in the recording",
                       self->target->name, haul_direction_text((haul_direction)d),
                       100 * device->busy_speed[d]);
    }
}

/* The target's device; kernels together and from call to start as recorded. */
static haul_status find_device(const haul_whole_run *self, haul_projection *out, haul_error *error)
{
    const haul_timeline_device *recording = &out->identity_replay.device;
    haul_timeline_device device;
    const haul_status status = device_of(self, recording, &device, error);
    if (status)
        return status;
    carry_collisions(self, &device);
    device.kernels = recording->kernels;
    for (int kind = HAUL_OP_COPY; kind <= HAUL_OP_KERNEL; kind++) {
        device.issue_ns[kind] = recording->issue_ns[kind];
        device.issue_on_return[kind] = recording->issue_on_return[kind];
    }
    out->device = device;
    return HAUL_OK;
}

static haul_status schedule(const haul_whole_run *self, haul_projection *out, haul_error *error)
{
    const haul_workload *workload = self->times.workload;
    int64_t *durations_ns =
        haul_arena_alloc(self->arena, (workload->op_count + 1) * sizeof *durations_ns);
    if (!durations_ns)
        return haul_fail_no_memory(error);
    haul_target_times_fill(&self->times, HAUL_LIKELY, durations_ns);
    const haul_timeline_options options = {
        .device = out->device, .release = out->release, .durations_ns = durations_ns};
    haul_timeline *timeline = NULL;
    const haul_status status = haul_timeline_run(workload, &options, &timeline, error);
    if (status)
        return status;
    out->durations_ns = durations_ns;
    out->timeline = timeline;
    return HAUL_OK;
}

static haul_status make(const haul_whole_run *self, haul_projection *out, haul_error *error)
{
    out->release = release_of(self->times.workload);
    haul_status status =
        haul_timeline_replay(self->times.workload, out->release, &out->identity_replay, error);
    if (!status)
        status = find_device(self, out, error);
    return status ? status : schedule(self, out, error);
}

/* What is not there or cannot be scheduled leaves the rest of a projection as it is. */
haul_status haul_whole_run_make(const haul_whole_run *self, haul_projection *out, haul_error *error)
{
    haul_error cause = {0};
    const haul_status status = make(self, out, &cause);
    if (status == HAUL_BAD_INPUT || status == HAUL_ABSENT || status == HAUL_MISSING) {
        out->run_missing = haul_arena_string(self->arena, cause.text);
        return out->run_missing ? HAUL_OK : haul_fail_no_memory(error);
    }
    if (status && error)
        *error = cause;
    return status;
}
