/* The machine that changes are tried on: the recorded one as the profile shows it, a given one, or
 * a target that the profile is projected to first. Notes name what had to be borrowed or could not
 * be predicted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advisor.h"
#include "project/target_times.h"
#include "workload/op_class.h"

/* The recording machine's device is that of the replay; contention that only a change causes is the
 * machine's. */
static haul_status take_recorded(hl_advise_advisor *self, const haul_machine *from,
                                 haul_error *error)
{
    bool no_memory;
    haul_timeline_device known;
    self->study.machine = from;
    self->study.call_durations_ns = self->waits.call_durations_ns;
    self->device = self->out.replay.device;
    /* Where copies of both directions run at once on a device, their recorded times hold the
     * contention. */
    int64_t *ends = calloc(2 * (self->workload->device_count + 1), sizeof *ends);
    bool meet = false;
    no_memory = !ends;
    for (size_t i = 0; ends && i < 2 * (self->workload->device_count + 1); i++)
        ends[i] = INT64_MIN;
    for (size_t i = 0; ends && i < self->workload->op_count; i++) {
        const haul_op *op = &self->workload->ops[i];
        if (!haul_op_crosses_link(op))
            continue;
        int64_t *of = &ends[2 * hl_workload_device_of(self->workload, op)];
        meet |= of[!op->direction] > op->start_ns;
        const int64_t end_ns = op->start_ns + op->dur_ns;
        of[op->direction] = end_ns > of[op->direction] ? end_ns : of[op->direction];
    }
    free(ends);
    if (meet || haul_timeline_device_of(from, &known, NULL))
        return no_memory ? hl_base_fail_no_memory(error) : HAUL_OK;
    memcpy(self->device.busy_speed, known.busy_speed, sizeof known.busy_speed);
    return HAUL_OK;
}

/* Advice for a run on another machine begins with its projection: durations, calls and device are
 * those of the prediction. */
static haul_status take_target(hl_advise_advisor *self, const haul_machine *from, haul_error *error)
{
    const haul_projection_options options = {.to = self->options->on,
                                             .from = self->options->from,
                                             .host_speed = self->options->host_speed};
    HAUL_TRY(haul_projection_make(self->workload, &options, &self->projection, error));
    if (!self->projection->timeline)
        HAUL_TRY(haul_error_set(
            error, HAUL_STATUS_MISSING, "the run on '%.100s' cannot be predicted: %.300s",
            self->options->on->name,
            self->projection->run_missing ? self->projection->run_missing : ""));
    HAUL_TRY(haul_machine_complete(self->options->on, from, &self->target, error));
    self->study.machine = self->target;
    self->study.durations_ns = self->projection->durations_ns;
    self->study.call_durations_ns = self->projection->call_durations_ns;
    if (!self->study.call_durations_ns && self->projection->host.likely != 1) {
        /* Changed runs take all calls' times from a list, at the target host's speed as well. */
        const size_t bytes = (self->workload->op_count + 1) * sizeof(int64_t);
        int64_t *calls_ns = hl_base_arena_alloc(&self->arena, bytes);
        if (!calls_ns)
            return hl_base_fail_no_memory(error);
        hl_project_target_times_calls(self->workload, self->study.durations_ns, NULL,
                                      self->projection->host.likely, calls_ns);
        self->study.call_durations_ns = calls_ns;
    }
    self->device = self->projection->device;
    self->out.baseline_low_ns = self->projection->low_ns;
    self->out.baseline_high_ns = self->projection->high_ns;
    self->out.host = self->projection->host;
    return HAUL_OK;
}

haul_status hl_advise_advisor_machine(hl_advise_advisor *self, haul_error *error)
{
    const haul_machine *from = self->options->from, *on = self->options->on;
    static const hl_advise_loan no_loan = {.from = NULL};
    self->study.is_fitted = !from && !on;
    self->study.loan = on ? &no_loan : &self->loan;
    self->out.host = (haul_host_time){.likely = 1, .low = 1, .high = 1, .is_known = true};
    if (from) {
        self->study.given_link_Bps = haul_link_peak(&from->link).value;
    } else {
        HAUL_TRY(hl_advise_recorded_machine(self->workload, &self->arena, &self->recorded,
                                            &self->loan, error));
        from = self->recorded;
    }
    HAUL_TRY(on ? take_target(self, from, error) : take_recorded(self, from, error));
    const haul_machine *machine = on ? on : from;
    self->out.machine = hl_base_arena_string(&self->arena, machine->name);
    self->out.gpu =
        machine->gpu.name ? hl_base_arena_string(&self->arena, machine->gpu.name) : NULL;
    return self->out.machine ? HAUL_OK : hl_base_fail_no_memory(error);
}

/* Several changes want for the same parameter: one note names them all. */
static bool are_of_one_parameter(const hl_advise_gap *a, const hl_advise_gap *b)
{
    return a->direction == b->direction && a->memory == b->memory &&
           !strcmp(a->parameter, b->parameter);
}

/* A row for each missing parameter, with all changes that ask for it. */
static haul_status list_untried(hl_advise_advisor *self, haul_error *error)
{
    const hl_advise_study *study = &self->study;
    haul_advice_untried *rows =
        hl_base_arena_alloc(&self->arena, (study->gap_count + 1) * sizeof *rows);
    size_t count = 0;
    for (size_t first = 0; rows && first < study->gap_count; first++) {
        const hl_advise_gap *gap = &study->gaps[first];
        size_t same = 0;
        uint64_t copies = 0;
        const char *changes = NULL;
        while (!are_of_one_parameter(&study->gaps[same], gap))
            same++;
        if (same < first)
            continue;
        for (size_t g = first; g < study->gap_count; g++)
            if (are_of_one_parameter(&study->gaps[g], gap)) {
                changes = changes ? hl_base_arena_format(&self->arena, "%s, %s", changes,
                                                         study->gaps[g].change)
                                  : study->gaps[g].change;
                copies = study->gaps[g].copies > copies ? study->gaps[g].copies : copies;
            }
        /* The part that the catalogue lacks says more than the name of the parameter. */
        const bool asked = !self->options->from && !self->options->on;
        rows[count++] = (haul_advice_untried){
            .changes = changes,
            .copies = copies,
            .direction = gap->direction,
            .memory = gap->memory,
            .why = asked && self->loan.why_none ? self->loan.why_none : gap->parameter};
    }
    self->out.not_tried = rows;
    self->out.not_tried_count = count;
    return rows ? HAUL_OK : hl_base_fail_no_memory(error);
}

/* In order of weight: what was borrowed and what was left out. */
haul_status hl_advise_advisor_note(hl_advise_advisor *self, haul_error *error)
{
    const haul_advice_list *out = &self->out;
    HAUL_TRY(list_untried(self, error));
    if (self->rests_on_loan)
        hl_project_notes_add(
            &self->notes,
            "kinds of copies that the profile lacks are predicted as on %s%s; --from "
            "gives yours",
            self->loan.from, self->loan.slower ? ", or on an older PCIe" : "");
    if (self->study.impossible)
        hl_project_notes_add(
            &self->notes,
            "copies faster than any link moves bytes (%" PRIu64
            ") moved none, as maps of host memory may: they are left as they are, and "
            "their rate is not used",
            self->study.impossible);
    if (out->replay.unissued)
        hl_project_notes_add(&self->notes,
                             "operations without a call in the profile (%" PRIu64 " of %" PRIu64
                             ") start as soon as their stream is free",
                             out->replay.unissued, out->replay.ops);
    if (out->untried)
        hl_project_notes_add(&self->notes,
                             "changes with the least to save (%" PRIu64
                             ") were not tried after %" PRIu64
                             " operations had been scheduled; --limit allows more",
                             out->untried, self->scheduled);
    return HAUL_OK;
}
