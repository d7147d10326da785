/* The whole run on the target: the recorded operations and calls, with the target's durations, on
 * its resources. Whatever the profile alone can tell, such as the time from a call to its
 * operation, stays as recorded; what the target's file does not say is assumed as in the profile,
 * with a note. */
#include "project/whole_run.h"
#include "project/host_turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/intervals.h"
#include "haul/units.h"
#include "machine/gpu_names.h"
#include "project/soundness.h"
#include "project/stream_pauses.h"
#include "timeline/replay.h"

static const char *seconds_text(double ns, char text[32])
{
    return haul_quantity_format(1e-9 * ns, HAUL_DIM_SECONDS, 3, text, 32);
}

/* Bidirectional contention as the profile shows it, where the target does not say it. */
static void take_contention(const hl_project_whole_run *self, haul_timeline_device *device)
{
    for (int d = 0; d < 2 && device->copy_engines > 1; d++) {
        const haul_copy_curve *curve = haul_machine_curve(self->target, (haul_direction)d,
                                                          HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
        const double loss = self->contention->loss[d][HAUL_MEMORY_PINNED];
        if ((curve && curve->busy_rate_Bps.provenance) || loss <= 0)
            continue;
        device->busy_speed[d] = 1 - loss;
        hl_project_notes_add(
            self->notes,
            "'%s' does not say how fast %s copies are while the other direction is "
            "busy: %.3g %% of their speed assumed, as in the profile",
            self->target->name, haul_direction_text((haul_direction)d),
            100 * device->busy_speed[d]);
    }
}

/* A gap between operations as the profile shows it, where the GPU is the same, or the target does
 * not say it. */
static int64_t choose_gap(const hl_project_whole_run *self, const haul_parameter *gap,
                          const char *where, int64_t recorded_ns, int64_t targets_ns)
{
    char text[32];
    const bool is_same = self->from && hl_machine_gpu_same(&self->from->gpu, &self->target->gpu) &&
                         !haul_parameter_is_set(gap);
    if (!is_same && gap->provenance)
        return targets_ns;
    if (!is_same && recorded_ns)
        hl_project_notes_add(self->notes,
                             "'%s' does not say how long its GPU takes %s: %s assumed, as in the "
                             "profile",
                             self->target->name, where, seconds_text((double)recorded_ns, text));
    return recorded_ns;
}

/* The target's device: its own parameters, and as in the profile what it does not give. Occupancy
 * counts where that of both GPUs is known, for without a known GPU its kernels may have no shape.
 */
static haul_status find_device(const hl_project_whole_run *self, bool is_delayed,
                               haul_projection *out, haul_error *error)
{
    const haul_timeline_device *recording = &out->replay.device;
    haul_machine target = *self->target;
    haul_timeline_device device;
    if (!target.gpu.copy_engines.provenance) {
        target.gpu.copy_engines = (haul_parameter){.value = recording->copy_engines,
                                                   .provenance = HAUL_PROVENANCE_SCALED};
        hl_project_notes_add(
            self->notes,
            "'%s' does not say how many copy engines its GPU has: %u assumed, as on the source GPU",
            target.name, recording->copy_engines);
    }
    HAUL_TRY(haul_timeline_device_of(&target, &device, error));
    take_contention(self, &device);
    if (!device.occupancy.multiprocessors || !recording->occupancy.multiprocessors) {
        device.kernels = recording->kernels;
        device.occupancy = recording->occupancy;
    }
    /* The launch queue is the driver's: the target's where its file gives it, else as deep as the
     * profile shows, which delays calls where that one did. Where the recorded one is not known,
     * neither is how the host waited for it. */
    const bool is_given = self->target->gpu.queue_depth.provenance != HAUL_PROVENANCE_NOT_GIVEN;
    if (!recording->queue_depth)
        device.queue_depth = 0;
    else if (!is_given &&
             (is_delayed || (device.queue_depth && recording->queue_depth > device.queue_depth)))
        device.queue_depth = recording->queue_depth;
    memcpy(device.issue_ns, recording->issue_ns, sizeof device.issue_ns);
    memcpy(device.issue_on_return, recording->issue_on_return, sizeof device.issue_on_return);
    device.migrations = recording->migrations;
    const haul_gpu *gpu = &self->target->gpu;
    device.kernel_gap_ns = choose_gap(self, &gpu->kernel_gap_s, "from one kernel to the next",
                                      recording->kernel_gap_ns, device.kernel_gap_ns);
    device.memory_gap_ns =
        choose_gap(self, &gpu->memory_gap_s, "around memsets and copies within it",
                   recording->memory_gap_ns, device.memory_gap_ns);
    out->device = device;
    return HAUL_OK;
}

/* A wait without an edge takes its recorded time on any target. */
static void note_waits(const hl_project_whole_run *self)
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
        hl_project_notes_add(
            self->notes,
            "the recorded time, %s, is kept for %s of the host that the profile does not tell the "
            "cause of",
            seconds_text(time_ns, text),
            haul_number_of(count, "wait", NULL, number, sizeof number));
}

/* Durations of operations and of calls; NULL for calls where these are as recorded. */
typedef struct durations {
    const hl_project_target_times *times;
    int64_t *of_ops_ns;
    int64_t *of_calls_ns;
    const int64_t *own_calls_ns; /* recorded, without waits for a place in a queue; or NULL */
    haul_host_time host;
    /* Pauses of streams without calls, as recorded; they are the host's, or nobody's that is known,
     * and take as much longer as the host may. NULL: delays stay as recorded. */
    const haul_start_delay *pauses;
    haul_start_delay *scaled;
} durations;

static void scale_pauses(const durations *self, haul_timeline_options *options)
{
    for (size_t i = 0; i < options->delay_count; i++)
        self->scaled[i] = (haul_start_delay){
            self->pauses[i].op,
            llround(fmin((double)self->pauses[i].delay_ns * options->host_time, 1e18))};
    options->delays = self->scaled;
}

/* Calls come second: a staged copy's call is as much longer as its copy. */
static void set_durations(void *state, hl_timeline_bound bound, haul_timeline_options *options)
{
    const durations *self = state;
    options->host_time = bound == HL_TIMELINE_LOW    ? self->host.low
                         : bound == HL_TIMELINE_HIGH ? self->host.high
                                                     : self->host.likely;
    hl_project_target_times_fill(self->times, bound, self->of_ops_ns);
    if (self->of_calls_ns)
        hl_project_target_times_calls(self->times->workload, self->of_ops_ns, self->own_calls_ns,
                                      options->host_time, self->of_calls_ns);
    options->durations_ns = self->of_ops_ns;
    options->call_durations_ns = self->of_calls_ns;
    if (self->pauses)
        scale_pauses(self, options);
}

/* One array serves the low, the high and the likely run in turn. It is the arena's, for the caller
 * reads the likely durations from it. */
static haul_status schedule(const hl_project_whole_run *self, hl_timeline_recorded_waits *found,
                            haul_release release, haul_projection *out, int64_t *least_ns,
                            haul_error *error)
{
    const haul_workload *workload = self->times.workload;
    const size_t bytes = (workload->op_count + 1) * sizeof(int64_t);
    const bool has_pauses = release != out->release;
    const bool calls_change = found->call_durations_ns || hl_project_target_times_stages(workload);
    durations made = {
        .times = &self->times,
        .of_ops_ns = hl_base_arena_alloc(self->notes->arena, bytes),
        .of_calls_ns = calls_change ? hl_base_arena_alloc(self->notes->arena, bytes) : NULL,
        .own_calls_ns = found->call_durations_ns,
        .host = out->host,
    };
    if (has_pauses) {
        made.pauses = found->delays;
        made.scaled =
            hl_base_arena_alloc(self->notes->arena, (found->delay_count + 1) * sizeof *made.scaled);
    }
    if (!made.of_ops_ns || (calls_change && !made.of_calls_ns) || (has_pauses && !made.scaled))
        return hl_base_fail_no_memory(error);
    const haul_timeline_options options = {.device = out->device,
                                           .release = release,
                                           .delays = found->delays,
                                           .delay_count = found->delay_count};
    const hl_timeline_run_bounds bounds = {set_durations, &made};
    hl_timeline_predicted_run run;
    HAUL_TRY(hl_timeline_predicted_run_make(workload, &options, &bounds, &run, error));
    out->timeline = run.timeline;
    out->low_ns = run.low_ns;
    out->high_ns = run.high_ns;
    *least_ns = run.bound.least_ns;
    out->durations_ns = made.of_ops_ns;
    out->call_durations_ns = made.of_calls_ns;
    return HAUL_OK;
}

/* The replay's error is the schedule's own: the interval holds it too. A change within it is no
 * change that the profile can tell; it is counted from the replay, which errs as the prediction
 * does. */
static haul_status add_replay_error(const hl_project_whole_run *self, int64_t least_ns,
                                    haul_projection *out, haul_error *error)
{
    const haul_replay *replay = &out->replay;
    const double miss = fabs(replay->error) / 100, replayed_ns = (double)replay->replayed_ns;
    const double change = 100 * ((double)out->target_run.makespan_ns / replayed_ns - 1);
    const double said = fabs(change) < 0.005 ? 0 : change; /* never "-0.00" */
    char text[32], other[48];
    if (replayed_ns > 0 && fabs(said) <= 100 * miss)
        hl_project_notes_add(
            self->notes,
            "the makespan changes by %+.2f %%, and the replay error is %+.2f %%: the "
            "change is within the error",
            said, replay->error);
    if (replay->delayed)
        hl_project_notes_add(
            self->notes,
            "%s later than %s explain, by %s in all, as when a kernel is compiled at its first "
            "launch: such delays are kept",
            haul_number_of(replay->delayed, "operation starts", "operations start", other,
                           sizeof other),
            replay->delayed == 1 ? "its call, stream and resource"
                                 : "their calls, streams and resources",
            seconds_text((double)replay->delays_ns, text));
    /* the replay may err, but no stream or engine is busy for less than its work takes */
    out->low_ns = (int64_t)fmax((double)out->low_ns * fmax(0, 1 - miss), (double)least_ns);
    out->high_ns = (int64_t)fmin((double)out->high_ns * (1 + miss), 9e18);
    const haul_soundness judged = hl_project_soundness_of(replay);
    if (judged.is_sound)
        return HAUL_OK;
    out->unsound = hl_base_arena_string(self->notes->arena, judged.why);
    return out->unsound ? HAUL_OK : hl_base_fail_no_memory(error);
}

/* How much longer, or shorter, what bounds the run may take: the host, the kernels and memsets, the
 * copies. */
static double off_of(double ns, double likely, double end)
{
    return ns > 0 && likely > 0 ? ns * fabs(end / likely - 1) : 0;
}

/* Of the distance from the likely run to one at an end of all intervals: what is left of it where
 * host, kernels and copies err apart, the root of the sum of squares by the sum (the propagation of
 * independent errors, JCGM 100:2008, 5.1.2). */
static double share_apart(const haul_projection *of, bool is_high)
{
    const haul_critical_path *path = &of->critical;
    double copies_ns = 0, sum = 0, squares = 0;
    for (int d = 0; d < HAUL_DIRECTIONS; d++)
        copies_ns += (double)path->copies_ns[d];
    const double off_ns[] = {
        off_of((double)path->host_ns, of->host.likely, is_high ? of->host.high : of->host.low),
        off_of((double)path->kernels_ns + (double)path->memsets_ns, of->kernels.seconds,
               is_high ? of->kernels.high_s : of->kernels.low_s),
        off_of(copies_ns, of->copies.seconds, is_high ? of->copies.high_s : of->copies.low_s)};
    for (int i = 0; i < 3; i++) {
        sum += off_ns[i];
        squares += off_ns[i] * off_ns[i];
    }
    return sum > 0 ? sqrt(squares) / sum : 1;
}

/* Both ends were scheduled with all of the host, of the kernels and of the copies at that end.
 * Within each of the three operations err alike, but the speed of the CPU, the rates of the GPU and
 * the slot have nothing to do with each other: all three at one end are as rare as a run beyond the
 * interval. */
static void let_causes_err_apart(haul_projection *out)
{
    const double likely_ns = (double)out->target_run.makespan_ns;
    const double low_ns = likely_ns - (double)out->low_ns;
    const double high_ns = (double)out->high_ns - likely_ns;
    out->low_ns = llround(likely_ns - fmax(low_ns, 0) * share_apart(out, false));
    out->high_ns = llround(fmin(likely_ns + fmax(high_ns, 0) * share_apart(out, true), 9e18));
}

/* Without calls the host is not seen. Where the device bounds the program, each operation follows
 * the one before it on its stream as it did; where the host does, none starts earlier than
 * recorded. The first is the likely run; the interval holds both. */
static haul_status schedule_uncalled(const hl_project_whole_run *self,
                                     hl_timeline_recorded_waits *found, haul_projection *out,
                                     int64_t *least_ns, haul_error *error)
{
    hl_timeline_recorded_waits no_pauses = {0};
    haul_projection as_recorded = *out;
    /* the pauses hold what the GPU takes between operations */
    out->device.kernel_gap_ns = out->device.memory_gap_ns = 0;
    HAUL_TRY(schedule(self, &no_pauses, HAUL_RELEASE_RECORDED, &as_recorded, least_ns, error));
    haul_timeline_free(as_recorded.timeline);
    HAUL_TRY(hl_project_stream_pauses(self->times.workload, found, error));
    HAUL_TRY(schedule(self, found, HAUL_RELEASE_HOST, out, least_ns, error));
    out->low_ns = as_recorded.low_ns < out->low_ns ? as_recorded.low_ns : out->low_ns;
    out->high_ns = as_recorded.high_ns > out->high_ns ? as_recorded.high_ns : out->high_ns;
    return HAUL_OK;
}

/* A kernel's name, which is one text of the workload, and its row. */
typedef struct named_row {
    const char *name;
    haul_kernel_row *row;
} named_row;

static int by_name(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const named_row *)a)->name;
    const uintptr_t y = (uintptr_t)((const named_row *)b)->name;
    return (x > y) - (x < y);
}

/* NULL where the operation is no kernel. */
static haul_kernel_row *row_of(const haul_workload *workload, uint32_t op, const named_row *rows,
                               size_t count)
{
    const haul_op *at = &workload->ops[op];
    const bool is_named = at->kind == HAUL_OP_KERNEL && at->name != HAUL_NONE;
    const named_row sought = {.name = is_named ? haul_workload_string(workload, at->name) : NULL};
    const named_row *found = is_named ? bsearch(&sought, rows, count, sizeof *rows, by_name) : NULL;
    return found ? found->row : NULL;
}

/* Finds each kernel's time on the critical paths of the replay and of the predicted run: which of
 * them enter it on the target, and which leave it. */
static haul_status add_critical(const hl_project_whole_run *self,
                                const hl_timeline_recorded_waits *found, haul_projection *out,
                                haul_error *error)
{
    const haul_workload *workload = self->times.workload;
    const haul_timeline *timeline = out->timeline;
    const size_t count = out->kernel_row_count;
    named_row *rows = malloc((count + 1) * sizeof *rows);
    if (!rows)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < count; i++)
        rows[i] = (named_row){out->kernel_rows[i].name, &out->kernel_rows[i]};
    qsort(rows, count, sizeof *rows, by_name);
    for (size_t i = 0; i < found->critical_count; i++) {
        haul_kernel_row *row = row_of(workload, found->critical[i], rows, count);
        if (row)
            row->critical_recorded_ns += workload->ops[found->critical[i]].dur_ns;
    }
    for (size_t i = 0; i < timeline->critical_count; i++) {
        haul_kernel_row *row = row_of(workload, timeline->critical[i], rows, count);
        if (row)
            row->critical_ns =
                hl_base_add_ns(row->critical_ns, out->durations_ns[timeline->critical[i]]);
    }
    free(rows);
    return HAUL_OK;
}

/* The notes before the run tell what it assumes, those after it how far to trust it. */
static haul_status make_run(const hl_project_whole_run *self, hl_timeline_recorded_waits *found,
                            haul_projection *out, haul_error *error)
{
    const haul_workload *workload = self->times.workload;
    const double there = self->target->gpu.count.value;
    int64_t least_ns = 0;
    bool has_turns = false;
    out->release = hl_project_release_of(workload);
    HAUL_TRY(hl_timeline_replay_with(workload, out->release, found, &out->replay, error));
    HAUL_TRY(find_device(self, found->depth != 0, out, error));
    note_waits(self);
    HAUL_TRY(hl_project_host_turns_note(workload, self->notes, &has_turns, error));
    if (there > 0 && (double)workload->device_count > there)
        hl_project_notes_add(
            self->notes,
            "the profile uses %zu GPUs, '%s' has %.0f: the whole run uses as many as the profile",
            workload->device_count, self->target->name, there);
    if (out->kernels_missing && out->recorded_kernels_s + out->recorded_memsets_s > 0)
        hl_project_notes_add(
            self->notes,
            "kernels and memsets could not be scaled to '%s': in the whole run they keep their "
            "recorded times, and its interval holds the uncertainty of the copies alone",
            self->target->name);
    out->host = hl_project_host_time(self);
    const bool is_called = out->release == HAUL_RELEASE_HOST;
    HAUL_TRY((is_called ? schedule(self, found, out->release, out, &least_ns, error)
                        : schedule_uncalled(self, found, out, &least_ns, error)));
    HAUL_TRY(add_critical(self, found, out, error));
    HAUL_TRY(haul_breakdown_make(workload, NULL, &out->recorded_run, error));
    HAUL_TRY(haul_breakdown_make(workload, out->timeline->ops, &out->target_run, error));
    if (self->reference)
        HAUL_TRY(haul_breakdown_make(self->reference, NULL, &out->reference_run, error));
    const haul_timeline_options likely = {.host_time = out->host.likely,
                                          .call_durations_ns = out->call_durations_ns};
    HAUL_TRY(haul_critical_path_make(workload, out->timeline, &likely, &out->critical, error));
    if (is_called)
        let_causes_err_apart(out);
    HAUL_TRY(add_replay_error(self, least_ns, out, error));
    if (!out->target_run.makespan_ns) { /* the schedule may be of the host's operations alone */
        out->low_ns = 0;
        out->critical = (haul_critical_path){0};
    }
    const int64_t host_ns = out->critical.host_ns + (is_called ? 0 : out->critical.gaps_ns);
    const bool host_decides = host_ns > out->target_run.makespan_ns / 4;
    out->host.is_assumed = host_decides && !out->host.is_known;
    out->host.has_turns = host_decides && has_turns;
    return HAUL_OK;
}

/* A workload that cannot be scheduled leaves the rest of the projection as it is. */
haul_status hl_project_whole_run_make(const hl_project_whole_run *self, haul_projection *out,
                                      haul_error *error)
{
    haul_error cause = {0};
    hl_timeline_recorded_waits found;
    haul_status status = hl_timeline_recorded_waits_find(self->times.workload, &found, &cause);
    if (!status) {
        status = make_run(self, &found, out, &cause);
        hl_timeline_recorded_waits_release(&found);
    }
    if (status == HAUL_STATUS_BAD_INPUT || status == HAUL_STATUS_ABSENT ||
        status == HAUL_STATUS_MISSING) {
        out->low_ns = out->high_ns = 0;
        out->run_missing = hl_base_arena_string(self->notes->arena, cause.text);
        return out->run_missing ? HAUL_OK : hl_base_fail_no_memory(error);
    }
    if (status && error)
        *error = cause;
    return status;
}
