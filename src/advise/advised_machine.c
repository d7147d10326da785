/* The machine that changes are tried on: the recorded one as the profile shows it, a given one, or
 * a target that the profile is projected to first. Notes name what had to be borrowed or could not
 * be predicted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advisor.h"
#include "workload/op_class.h"

/* Whether copies of both directions run at once on a device: then their recorded times hold the
 * contention. */
static bool copies_meet(const haul_workload *workload, bool *no_memory)
{
    int64_t *ends = calloc(2 * (workload->device_count + 1), sizeof *ends);
    bool meet = false;
    *no_memory = !ends;
    for (size_t i = 0; ends && i < 2 * (workload->device_count + 1); i++)
        ends[i] = INT64_MIN;
    for (size_t i = 0; ends && i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (!haul_op_crosses_link(op))
            continue;
        int64_t *of = &ends[2 * haul_device_of(workload, op)];
        meet |= of[!op->direction] > op->start_ns;
        const int64_t end_ns = op->start_ns + op->dur_ns;
        of[op->direction] = end_ns > of[op->direction] ? end_ns : of[op->direction];
    }
    free(ends);
    return meet;
}

/* The recording machine's device is that of the replay; contention that only a change causes is the
 * machine's. */
static haul_status take_recorded(haul_advisor *self, const haul_machine *from, haul_error *error)
{
    bool no_memory;
    haul_timeline_device known;
    self->study.machine = from;
    self->study.call_durations_ns = self->waits.call_durations_ns;
    self->device = self->out.replay.device;
    if (copies_meet(self->workload, &no_memory) || haul_timeline_device_of(from, &known, NULL))
        return no_memory ? haul_fail_no_memory(error) : HAUL_OK;
    memcpy(self->device.busy_speed, known.busy_speed, sizeof known.busy_speed);
    return HAUL_OK;
}

/* Advice for a run on another machine begins with its projection: durations, calls and device are
 * those of the prediction. */
static haul_status take_target(haul_advisor *self, const haul_machine *from, haul_error *error)
{
    const haul_projection_options options = {.to = self->options->on, .from = self->options->from};
    HAUL_TRY(haul_project(self->workload, &options, &self->projection, error));
    if (!self->projection->timeline)
        HAUL_TRY(haul_fail(error, HAUL_MISSING, "the run on '%.100s' cannot be predicted: %.300s",
                           self->options->on->name,
                           self->projection->run_missing ? self->projection->run_missing : ""));
    HAUL_TRY(haul_machine_complete(self->options->on, from, &self->target, error));
    self->study.machine = self->target;
    self->study.durations_ns = self->projection->durations_ns;
    self->study.call_durations_ns = self->projection->call_durations_ns;
    self->device = self->projection->device;
    return HAUL_OK;
}

haul_status haul_advisor_machine(haul_advisor *self, haul_error *error)
{
    const haul_machine *from = self->options->from, *on = self->options->on;
    haul_status status = HAUL_OK;
    self->study.is_fitted = !from && !on;
    if (from) {
        self->study.given_link_Bps = haul_link_peak(&from->link).value;
    } else {
        status = haul_recorded_machine(self->workload, &self->arena, &self->recorded,
                                       &self->borrowed, error);
        from = self->recorded;
    }
    if (!status)
        status = on ? take_target(self, from, error) : take_recorded(self, from, error);
    if (status)
        return status;
    const haul_machine *machine = on ? on : from;
    self->out.machine = haul_arena_string(&self->arena, machine->name);
    self->out.gpu = machine->gpu.name ? haul_arena_string(&self->arena, machine->gpu.name) : NULL;
    return self->out.machine ? HAUL_OK : haul_fail_no_memory(error);
}

/* Several changes want for the same parameter: one note names them all. */
static bool are_of_one_parameter(const haul_gap *a, const haul_gap *b)
{
    return a->direction == b->direction && a->memory == b->memory &&
           !strcmp(a->parameter, b->parameter);
}

/* One note a missing parameter, with all changes that ask for it. */
static void note_gaps(haul_advisor *self)
{
    const haul_study *study = &self->study;
    for (size_t first = 0; first < study->gap_count; first++) {
        const haul_gap *gap = &study->gaps[first];
        char changes[256] = "";
        size_t used = 0, same = 0;
        while (!are_of_one_parameter(&study->gaps[same], gap))
            same++;
        if (same < first)
            continue;
        for (size_t g = first; g < study->gap_count && used < sizeof changes; g++)
            if (are_of_one_parameter(&study->gaps[g], gap))
                used += (size_t)snprintf(changes + used, sizeof changes - used,
                                         "%s'%s' of %" PRIu64, used ? ", " : "",
                                         study->gaps[g].change, study->gaps[g].copies);
        haul_notes_add(
            &self->notes,
            "%s copies cannot be predicted as %s (%s), so these changes were not tried: %s; %s",
            haul_direction_text(gap->direction), haul_memory_text(gap->memory), gap->parameter,
            changes,
            self->options->on ? "give it in the machine's file"
                              : "give the machine that recorded the profile with --from");
    }
}

/* In order of weight: what was borrowed, what was left out, what could not be tried. */
void haul_advisor_note(haul_advisor *self)
{
    const haul_advice_list *out = &self->out;
    if (self->borrowed)
        haul_notes_add(&self->notes,
                       "copies of kinds that the profile does not have are predicted as on %s; "
                       "if your machine has another link, give it with --from",
                       self->borrowed);
    if (self->study.impossible)
        haul_notes_add(&self->notes,
                       "copies faster than any link moves bytes (%" PRIu64
                       ") moved none, as maps of host memory may: they are left as they are, and "
                       "their rate is not used",
                       self->study.impossible);
    if (out->replay.unissued)
        haul_notes_add(&self->notes,
                       "operations without a call in the profile (%" PRIu64 " of %" PRIu64
                       ") start as soon as their stream is free",
                       out->replay.unissued, out->replay.ops);
    note_gaps(self);
    if (out->untried)
        haul_notes_add(&self->notes,
                       "changes with the least to save (%" PRIu64 ") were not tried after %" PRIu64
                       " operations had been scheduled; --limit allows more",
                       out->untried, self->scheduled);
}
