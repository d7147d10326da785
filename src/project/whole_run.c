#include "project/whole_run.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "haul/units.h"
#include "timeline/replay.h"

/* With no call at all there are no threads to simulate. */
static haul_release release_of(const haul_workload *workload)
{
    for (size_t i = 0; i < workload->op_count; i++)
        if (haul_op_on_device(&workload->ops[i]) && workload->ops[i].thread != HAUL_NONE)
            return HAUL_RELEASE_HOST;
    return HAUL_RELEASE_RECORDED;
}

/* The target's parameters; copy engines that it does not give are the source GPU's. */
static haul_status device_of(const haul_whole_run *self, const haul_timeline_device *recording,
                             haul_timeline_device *device, haul_error *error)
{
    haul_machine target = *self->target;
    if (!target.gpu.copy_engines.provenance) {
        target.gpu.copy_engines =
            (haul_parameter){.value = recording->copy_engines, .provenance = HAUL_SCALED};
        haul_notes_add(
            self->notes,
            "'%s' does not say how many copy engines its GPU has: %u assumed, as on the source GPU",
            target.name, recording->copy_engines);
    }
    return haul_timeline_device_of(&target, device, error);
}

/* Bidirectional contention as the profile shows it, where the target does not say it. */
static void take_contention(const haul_whole_run *self, haul_timeline_device *device)
{
    for (int d = 0; d < 2 && device->copy_engines > 1; d++) {
        const haul_copy_curve *curve =
            haul_machine_curve(self->target, (haul_direction)d, HAUL_PINNED, HAUL_NEAR);
        const double loss = self->contention->loss[d][HAUL_PINNED];
        if ((curve && curve->busy_rate_Bps.provenance) || loss <= 0)
            continue;
        device->busy_speed[d] = 1 - loss;
        haul_notes_add(self->notes,
                       "'%s' does not say how fast %s copies are while the other direction is "
                       "busy: %.3g %% of their speed assumed, as in the profile",
                       self->target->name, haul_direction_text((haul_direction)d),
                       100 * device->busy_speed[d]);
    }
}

/* Occupancy counts where that of both GPUs is known: where the source GPU's is not, its kernels may
 * have no shape. */
static void find_occupancy(const haul_timeline_device *recording, haul_timeline_device *device)
{
    if (device->occupancy.multiprocessors && recording->occupancy.multiprocessors)
        return;
    device->kernels = recording->kernels;
    device->occupancy = recording->occupancy;
}

/* Where the recorded launch queue is not known, neither is how the host waited for it. The target's
 * holds at least what the program had in flight; where the recorded queue delayed calls, the
 * target's does. */
static void find_queue(const haul_timeline_device *recording, bool is_delayed,
                       haul_timeline_device *device)
{
    if (!recording->queue_depth)
        device->queue_depth = 0;
    else if ((device->queue_depth || is_delayed) && recording->queue_depth > device->queue_depth)
        device->queue_depth = recording->queue_depth;
}

/* The target's device; times from call to start as recorded. */
static haul_status find_device(const haul_whole_run *self, bool is_delayed, haul_projection *out,
                               haul_error *error)
{
    const haul_timeline_device *recording = &out->replay.device;
    haul_timeline_device device;
    const haul_status status = device_of(self, recording, &device, error);
    if (status)
        return status;
    take_contention(self, &device);
    find_occupancy(recording, &device);
    find_queue(recording, is_delayed, &device);
    for (int kind = 0; kind < HAUL_OP_KINDS; kind++) {
        device.issue_ns[kind] = recording->issue_ns[kind];
        device.issue_on_return[kind] = recording->issue_on_return[kind];
    }
    device.migrations = recording->migrations;
    out->device = device;
    return HAUL_OK;
}

/* A wait without an edge takes its recorded time on any target. */
static void note_waits(const haul_whole_run *self)
{
    const haul_workload *workload = self->times.workload;
    uint64_t count = 0;
    double time_ns = 0;
    char number[40], text[32];
    size_t edge = 0;
    for (uint32_t i = 0; i < workload->op_count; i++) {
        while (edge < workload->edge_count && workload->edges[edge].after < i)
            edge++;
        const haul_op *op = &workload->ops[i];
        if (op->kind != HAUL_OP_SYNC || op->detail == HAUL_SYNC_STREAM_WAIT || !op->dur_ns ||
            (edge < workload->edge_count && workload->edges[edge].after == i))
            continue;
        count++;
        time_ns += (double)op->dur_ns;
    }
    if (count)
        haul_notes_add(
            self->notes,
            "the recorded time, %s, is kept for %s of the host that the profile does not tell the "
            "cause of",
            haul_quantity_format(1e-9 * time_ns, HAUL_DIM_SECONDS, 3, text, sizeof text),
            haul_number_of(count, "wait", NULL, number, sizeof number));
}

static void note_devices(const haul_whole_run *self)
{
    const double there = self->target->gpu.count.value;
    const size_t used = self->times.workload->device_count;
    if (there > 0 && (double)used > there)
        haul_notes_add(
            self->notes,
            "the profile uses %zu GPUs, '%s' has %.0f: the whole run uses as many as the profile",
            used, self->target->name, there);
}

static void note_kernels(const haul_whole_run *self, const haul_projection *out)
{
    if (out->kernels_missing && out->recorded_kernels_s + out->recorded_memsets_s > 0)
        haul_notes_add(
            self->notes,
            "kernels and memsets could not be scaled to '%s': in the whole run they keep their "
            "recorded times, and its interval holds the uncertainty of the copies alone",
            self->target->name);
}

/* Durations of operations and of calls; NULL for calls where these are as recorded. */
typedef struct durations {
    const haul_target_times *times;
    int64_t *of_ops_ns;
    int64_t *of_calls_ns;
    const int64_t *own_calls_ns; /* recorded, without waits for a place in a queue; or NULL */
} durations;

static void set_durations(void *state, haul_bound bound, haul_timeline_options *options)
{
    const durations *self = state;
    haul_target_times_fill(self->times, bound, self->of_ops_ns);
    if (self->of_calls_ns)
        haul_target_times_calls(self->times->workload, self->of_ops_ns, self->own_calls_ns,
                                self->of_calls_ns);
    options->durations_ns = self->of_ops_ns;
    options->call_durations_ns = self->of_calls_ns;
}

static haul_status schedule(const haul_whole_run *self, haul_recorded_waits *found,
                            haul_projection *out, haul_error *error)
{
    const haul_workload *workload = self->times.workload;
    const size_t bytes = (workload->op_count + 1) * sizeof(int64_t);
    const bool calls_change = found->call_durations_ns || haul_target_times_stages(workload);
    durations made = {
        .times = &self->times,
        .of_ops_ns = haul_arena_alloc(self->notes->arena, bytes),
        .of_calls_ns = calls_change ? haul_arena_alloc(self->notes->arena, bytes) : NULL,
        .own_calls_ns = found->call_durations_ns,
    };
    if (!made.of_ops_ns || (calls_change && !made.of_calls_ns))
        return haul_fail_no_memory(error);
    const haul_timeline_options options = {.device = out->device,
                                           .release = out->release,
                                           .delays = found->delays,
                                           .delay_count = found->delay_count};
    const haul_run_bounds bounds = {set_durations, &made};
    haul_predicted_run run;
    const haul_status status = haul_predicted_run_make(workload, &options, &bounds, &run, error);
    if (status)
        return status;
    out->timeline = run.timeline;
    out->low_ns = run.low_ns;
    out->high_ns = run.high_ns;
    out->durations_ns = made.of_ops_ns;
    out->call_durations_ns = made.of_calls_ns;
    return HAUL_OK;
}

/* A change within the replay's error is no change that the profile can tell. It is one from the
 * replay, which errs as the prediction does. */
static void note_change(const haul_whole_run *self, const haul_projection *out)
{
    const double replayed_ns = (double)out->replay.replayed_ns;
    const double change = 100 * ((double)out->target_run.makespan_ns / replayed_ns - 1);
    if (replayed_ns > 0 && fabs(change) <= fabs(out->replay.error))
        haul_notes_add(self->notes,
                       "the makespan changes by %+.2f %%, and the replay error is %+.2f %%: the "
                       "change is within the error",
                       change, out->replay.error);
}

static void note_delays(const haul_whole_run *self, const haul_replay *replay)
{
    char count[32], text[32];
    if (replay->delayed)
        haul_notes_add(
            self->notes,
            "%s operation%s later than its call, stream and resource explain, by %s in "
            "all, as when a kernel is compiled at its first launch: such delays are kept",
            haul_count_format(replay->delayed, count, sizeof count),
            replay->delayed == 1 ? " starts" : "s start",
            haul_quantity_format(1e-9 * (double)replay->delays_ns, HAUL_DIM_SECONDS, 3, text,
                                 sizeof text));
}

/* The replay's error is the schedule's own: the interval holds it too. */
static haul_status add_replay_error(const haul_whole_run *self, haul_projection *out,
                                    haul_error *error)
{
    const double miss = fabs(out->replay.error) / 100;
    out->low_ns = (int64_t)((double)out->low_ns * fmax(0, 1 - miss));
    out->high_ns = (int64_t)fmin((double)out->high_ns * (1 + miss), 9e18);
    if (haul_replay_is_sound(&out->replay))
        return HAUL_OK;
    char replayed[32], recorded[32];
    out->unsound = haul_arena_format(
        self->notes->arena, "replaying the profile's own durations gives %s, not the recorded %s",
        haul_quantity_format(1e-9 * (double)out->replay.replayed_ns, HAUL_DIM_SECONDS, 3, replayed,
                             sizeof replayed),
        haul_quantity_format(1e-9 * (double)out->replay.recorded_ns, HAUL_DIM_SECONDS, 3, recorded,
                             sizeof recorded));
    return out->unsound ? HAUL_OK : haul_fail_no_memory(error);
}

static haul_status describe(const haul_whole_run *self, haul_projection *out, haul_error *error)
{
    const haul_workload *workload = self->times.workload;
    haul_status status = haul_breakdown_make(workload, NULL, &out->recorded_run, error);
    if (!status)
        status = haul_breakdown_make(workload, out->timeline->ops, &out->target_run, error);
    if (!status && self->reference)
        status = haul_breakdown_make(self->reference, NULL, &out->reference_run, error);
    if (status)
        return status;
    note_change(self, out);
    note_delays(self, &out->replay);
    status = add_replay_error(self, out, error);
    if (status)
        return status;
    return haul_critical_path_make(workload, out->timeline, &out->critical, error);
}

static haul_status make_with(const haul_whole_run *self, haul_recorded_waits *found,
                             haul_projection *out, haul_error *error)
{
    out->release = release_of(self->times.workload);
    haul_status status =
        haul_timeline_replay_with(self->times.workload, out->release, found, &out->replay, error);
    if (!status)
        status = find_device(self, found->call_durations_ns != NULL, out, error);
    if (status)
        return status;
    note_waits(self);
    note_devices(self);
    note_kernels(self, out);
    status = schedule(self, found, out, error);
    return status ? status : describe(self, out, error);
}

static haul_status make(const haul_whole_run *self, haul_projection *out, haul_error *error)
{
    haul_recorded_waits found;
    haul_status status = haul_recorded_waits_find(self->times.workload, &found, error);
    if (status)
        return status;
    status = make_with(self, &found, out, error);
    haul_recorded_waits_release(&found);
    return status;
}

/* A workload that cannot be scheduled leaves the rest of the projection as it is. */
haul_status haul_whole_run_make(const haul_whole_run *self, haul_projection *out, haul_error *error)
{
    haul_error cause = {0};
    const haul_status status = make(self, out, &cause);
    if (status == HAUL_BAD_INPUT || status == HAUL_ABSENT || status == HAUL_MISSING) {
        out->low_ns = out->high_ns = 0;
        out->run_missing = haul_arena_string(self->notes->arena, cause.text);
        return out->run_missing ? HAUL_OK : haul_fail_no_memory(error);
    }
    if (status && error)
        *error = cause;
    return status;
}
