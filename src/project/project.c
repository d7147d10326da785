/* A profile on another machine, in the order in which the answer is built: what the profile tells
 * of its machine, whether that predicts the profile's own copies, the copies and kernels on the
 * target, and the whole run. */
#include "haul/project.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "cost/collective_check.h"
#include "cost/complete.h"
#include "haul/units.h"
#include "machine/architectures.h"
#include "project/assumed_host.h"
#include "project/copy_times.h"
#include "project/device_work.h"
#include "project/message_scale.h"
#include "project/own_slot.h"
#include "project/recording.h"
#include "project/reference.h"
#include "project/self_check.h"
#include "project/staging.h"
#include "project/taken_over.h"
#include "project/whole_run.h"

/* A projection with what it owns and what making it needs. */
typedef struct projector {
    haul_projection out; /* first: haul_projection_free gets its address */
    hl_base_arena arena;
    hl_project_notes notes;
    const haul_workload *workload;
    const haul_projection_options *options;
    hl_project_recording recording;
    uint32_t *staged_ns; /* of each class of the recording's copies: see hl_project_staging_find */
    haul_machine *slotted; /* the target in the slot of the recording machine, which has its GPU */
    haul_machine *target;  /* completed from the recording machine */
    hl_project_work_scales scales;
} projector;

enum { SECONDS_TEXT = 32, COUNT_TEXT = 48 };

static const char *seconds_text(double seconds, char *text)
{
    return haul_quantity_format(seconds, HAUL_DIM_SECONDS, 3, text, SECONDS_TEXT);
}

static const char *copies_text(uint64_t count, char *text)
{
    return haul_number_of(count, "copy", "copies", text, COUNT_TEXT);
}

/* A given machine goes before one fitted to the profile: whoever gives it knows more than the
 * profile. */
static const haul_machine *recording_of(const projector *self)
{
    return self->options->from ? self->options->from : self->recording.machine;
}

/* --- the self-check */

/* The self-check by the asked model on a given machine; a fitted machine has curves and nothing
 * else, which `auto` reads. With contention it is made once more without that, for its errors
 * alone. */
static haul_status check_self(projector *self, haul_error *error)
{
    const hl_project_contention none = {0};
    haul_machine *fitted = NULL;
    haul_self_check without, *check = &self->out.self_check;
    hl_project_self_check_inputs inputs = {
        self->workload,     &self->recording.classes,
        self->staged_ns,    &self->recording.contention,
        recording_of(self), self->options->from ? self->options->model : NULL};
    haul_status status = hl_project_self_check_run(&inputs, &self->arena, check, error);
    check->fitted = !self->options->from;
    if (status || !inputs.contention->share)
        return status;
    if (check->fitted)
        status = hl_project_recording_fit(self->workload, inputs.classes, &none,
                                          self->recording.gpu, &fitted, error);
    inputs.contention = &none;
    inputs.recording = fitted ? fitted : inputs.recording;
    if (!status)
        status = hl_project_self_check_run(&inputs, &self->arena, &without, error);
    haul_machine_free(fitted);
    if (status)
        return status;
    check->of.wape_without_contention = without.of.score.wape;
    for (size_t i = 0; i < check->row_count; i++)
        check->rows[i].of.wape_without_contention = without.rows[i].of.score.wape;
    return HAUL_OK;
}

/* The part of the recorded time that the fitted contention explains. */
static double contention_s(const projector *self)
{
    const hl_project_size_classes *classes = &self->recording.classes;
    double sum_ns = 0;
    for (size_t c = 0; c < classes->count; c++)
        for (size_t k = 0; k < classes->items[c].count; k++) {
            const uint32_t op = classes->ops[classes->items[c].first + k];
            const double speed =
                hl_project_contention_speed(&self->recording.contention, &classes->items[c], op);
            sum_ns += (double)self->workload->ops[op].dur_ns * (1 - speed);
        }
    return 1e-9 * sum_ns;
}

static void note_recording(projector *self)
{
    char text[SECONDS_TEXT], count[COUNT_TEXT];
    const haul_machine *from = self->options->from;
    const char *other = from ? hl_project_recording_other_gpu(self->workload, from) : NULL;
    if (other)
        hl_project_notes_add(
            &self->notes,
            "the profile was recorded on a '%s', but the machine '%s' has a '%s': is it "
            "the one that recorded it?",
            other, from->name, from->gpu.name);
    if (self->recording.is_family)
        hl_project_notes_add(
            &self->notes,
            "the GPU is taken for that of '%s', of the same family, but for what the "
            "profile tells of it",
            self->recording.like->name);
    if (self->recording.like)
        hl_project_assumed_host_note_slow_link(&self->recording, &self->notes);
    if (self->recording.impossible)
        hl_project_notes_add(
            &self->notes,
            "the recorded time is kept, and the rate not used, for %s that ran faster "
            "than any link "
            "moves bytes: they moved none, as maps of host memory may",
            copies_text(self->recording.impossible, count));
    if (self->out.self_check.unpredicted > self->recording.impossible)
        hl_project_notes_add(
            &self->notes, "not in the self-check: %s without a prediction on the recording machine",
            copies_text(self->out.self_check.unpredicted - self->recording.impossible, count));
    if (self->out.contention_s > 0)
        hl_project_notes_add(
            &self->notes,
            "bidirectional contention explains %s of the recorded time; on the target "
            "each copy is predicted alone, and the whole run adds the contention",
            seconds_text(self->out.contention_s, text));
}

/* --- copies on the target */

/* The GPU that recorded, asked about as a machine of the catalogue, is in the slot that the
 * profile's own copies show, unless the caller has given another. */
static haul_status find_slot(projector *self, haul_error *error)
{
    const haul_machine *to = self->options->to;
    const hl_project_recording *recording = &self->recording;
    const bool is_same = recording->has_slot && to->gpu.name && recording->like->gpu.name &&
                         !strcmp(to->gpu.name, recording->like->gpu.name);
    if (!is_same || to->link.generation.provenance != HAUL_PROVENANCE_DATASHEET)
        return HAUL_OK;
    HAUL_TRY(hl_project_own_slot(to, &recording->classes, &self->slotted, error));
    if (self->slotted)
        self->out.own_slot_generation = (int)self->slotted->link.generation.value;
    return HAUL_OK;
}

static haul_status predict_copies(projector *self, haul_error *error)
{
    char text[SECONDS_TEXT], count[COUNT_TEXT];
    HAUL_TRY(find_slot(self, error));
    const haul_machine *to = self->slotted ? self->slotted : self->options->to;
    const hl_project_size_classes *classes = &self->recording.classes;
    HAUL_TRY(haul_machine_complete(to, recording_of(self), &self->target, error));
    self->out.is_in_own_slot = hl_cost_is_board(to);
    if (self->out.is_in_own_slot)
        hl_project_notes_add(&self->notes,
                             "'%s' is a board alone: it is taken to be in the slot of the machine "
                             "that recorded the profile",
                             to->name);
    const char *taken = hl_project_taken_over_text(to, self->target, classes, &self->arena);
    if (taken)
        hl_project_notes_add(
            &self->notes,
            "'%s' lacks these parameters, which are taken from the recording machine: "
            "%s",
            to->name, taken);
    hl_project_copy_times times = {.target = self->target,
                                   .model = self->options->model ? self->options->model
                                                                 : haul_copy_model_at(0),
                                   .classes = classes,
                                   .staged_ns = self->staged_ns,
                                   .arena = &self->arena};
    HAUL_TRY(hl_project_copy_times_make(&times, &self->out, error));
    if (!self->out.is_in_own_slot) /* a board's slot is not assumed, but the recording machine's */
        HAUL_TRY(
            hl_project_assumed_host_find(self->target, times.model, classes, &self->out, error));
    uint64_t kept = 0;
    double kept_s = 0;
    for (size_t s = 0; s < self->out.size_count; s++)
        if (self->out.sizes[s].unpredicted && !classes->items[s].impossible) {
            kept += self->out.sizes[s].unpredicted;
            kept_s += self->out.sizes[s].recorded_s;
        }
    if (times.replaced)
        hl_project_notes_add(&self->notes, "predicted by 'auto': %s: %s",
                             copies_text(times.replaced, count), times.why_replaced);
    if (kept)
        hl_project_notes_add(
            &self->notes,
            "no model predicts %s of unknown direction or within the host's memory: "
            "their recorded time, %s, is kept",
            copies_text(kept, count), seconds_text(kept_s, text));
    return HAUL_OK;
}

static haul_status check_collectives(projector *self, haul_error *error)
{
    haul_collective_check *rows = NULL;
    size_t count = 0;
    haul_status status =
        hl_cost_collective_check_make(self->workload, &rows, &count, &self->out.collectives, error);
    haul_collective_check *kept =
        status ? NULL : hl_base_arena_alloc(&self->arena, (count + 1) * sizeof *kept);
    if (kept && count)
        memcpy(kept, rows, count * sizeof *kept);
    else if (!status && !kept)
        status = hl_base_fail_no_memory(error);
    self->out.collective_rows = kept;
    self->out.collective_row_count = kept ? count : 0;
    free(rows);
    if (!status && self->out.keeps_collectives)
        hl_project_notes_add(
            &self->notes, "collectives keep their recorded time: links alone predict them worse");
    if (!status && self->out.collectives_missing)
        hl_project_notes_add(&self->notes, "collectives keep their recorded time where %s",
                             self->out.collectives_missing);
    return status;
}

static haul_status find_staging(projector *self, haul_error *error)
{
    const hl_project_size_classes *classes = &self->recording.classes;
    int64_t free_call_ns;
    HAUL_TRY(hl_project_free_call(self->workload, &free_call_ns, error));
    self->staged_ns =
        hl_base_arena_alloc(&self->arena, (classes->count + 1) * sizeof *self->staged_ns);
    if (!self->staged_ns)
        return hl_base_fail_no_memory(error);
    return hl_project_staging_find(self->workload, classes, free_call_ns, self->staged_ns, error);
}

/* The source GPU as the profile names it, as other commands do; the catalogue may have it by
 * another name. */
static const char *recorded_name(const haul_workload *workload, const char *otherwise)
{
    for (size_t i = 0; i < workload->device_count; i++)
        if (workload->devices[i].name && *workload->devices[i].name)
            return workload->devices[i].name;
    return otherwise;
}

/* A program runs on another maker's GPU only where it was built for it. */
static const char *other_maker(const haul_machine *from, const haul_machine *to)
{
    const char *of = from ? hl_machine_gpu_maker(&from->gpu) : NULL;
    const char *there = hl_machine_gpu_maker(&to->gpu);
    return of && there && strcmp(of, there) != 0 ? there : NULL;
}

/* The link, and the speed that contention leaves of it, as another profile of the machine has them;
 * which copies contend is the profile's own. */
static haul_status take_link(projector *self, haul_error *error)
{
    hl_project_recording *recording = &self->recording, other = {0};
    const haul_status status =
        hl_project_recording_learn(self->options->link_of, NULL, &other, error);
    if (!status) {
        haul_machine *own = recording->machine;
        recording->machine = other.machine;
        other.machine = own;
        memcpy(recording->contention.loss, other.contention.loss, sizeof other.contention.loss);
    }
    hl_project_recording_release(&other);
    return status;
}

static haul_status make_projection(projector *self, haul_error *error)
{
    hl_project_recording *recording = &self->recording;
    const haul_projection_options *options = self->options;
    HAUL_TRY(hl_project_recording_learn(self->workload, options->from, recording, error));
    if (!options->from && options->link_of)
        HAUL_TRY(take_link(self, error));
    HAUL_TRY(find_staging(self, error));
    HAUL_TRY(check_self(self, error));
    self->out.contention_s = contention_s(self);
    note_recording(self);
    HAUL_TRY(predict_copies(self, error));
    const hl_project_comparison with = {self->workload, options->reference, &recording->classes,
                                        &self->notes};
    if (with.reference)
        HAUL_TRY(hl_project_reference_compare(&with, &self->out, error));
    const hl_project_device_work work = {.workload = self->workload,
                                         .classes = self->options->classes,
                                         .counters = self->options->counters,
                                         .tf32 = self->options->tf32,
                                         .reference = self->options->reference,
                                         .from = options->from ? options->from : recording->gpu,
                                         .unknown = recording->gpu_unknown.text,
                                         .to = options->to,
                                         .arena = &self->arena};
    if (work.from && work.from->gpu.name)
        self->out.gpu =
            hl_base_arena_string(&self->arena, recorded_name(self->workload, work.from->gpu.name));
    self->out.other_maker = other_maker(work.from, options->to);
    HAUL_TRY(hl_project_device_work_scale(&work, &self->out, &self->scales, error));
    if (options->counters && !self->out.counters_match)
        hl_project_notes_add(&self->notes,
                             "no row of the counters has the name and the launch of a "
                             "kernel of the profile, and its flops or bytes");
    HAUL_TRY(check_collectives(self, error));
    hl_project_message_note(work.from, self->target, self->workload, &self->notes);
    const hl_project_whole_run run = {.times = {self->workload, &recording->classes,
                                                self->out.sizes, &self->scales, work.from,
                                                self->target},
                                      .from = work.from,
                                      .recorded_on = options->from,
                                      .host_speed = options->host_speed,
                                      .target = self->target,
                                      .reference = options->reference,
                                      .contention = &recording->contention,
                                      .notes = &self->notes};
    return hl_project_whole_run_make(&run, &self->out, error);
}

/* Notes are the arena's, their list is the heap's until the projection is freed. */
haul_status haul_projection_make(const haul_workload *workload,
                                 const haul_projection_options *options,
                                 haul_projection **projection, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    projector *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->workload = workload;
    self->options = options;
    self->notes.arena = &self->arena;
    haul_status status = make_projection(self, error);
    if (!status && (self->notes.failed || self->arena.failed))
        status = hl_base_fail_no_memory(error);
    hl_project_work_scales_release(&self->scales);
    hl_project_recording_release(&self->recording);
    haul_machine_free(self->target);
    haul_machine_free(self->slotted);
    if (status) {
        haul_projection_free(&self->out);
        return status;
    }
    self->out.notes = self->notes.items;
    self->out.note_count = self->notes.count;
    *projection = &self->out;
    return HAUL_OK;
}

void haul_projection_free(haul_projection *projection)
{
    if (!projection)
        return;
    projector *self = (projector *)projection;
    free(self->notes.items);
    haul_timeline_free(self->out.timeline);
    hl_base_arena_release(&self->arena);
    free(self);
}
