#include "haul/project.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "haul/units.h"
#include "project/carried.h"
#include "project/device_work.h"
#include "project/notes.h"
#include "project/price.h"
#include "project/recording.h"
#include "project/reference.h"
#include "project/self_check.h"
#include "project/whole_run.h"

/* A projection with what it owns and what making it needs. */
typedef struct projector {
    haul_projection out; /* first: haul_projection_free gets its address */
    haul_arena arena;
    haul_notes notes;
    const haul_workload *workload;
    const haul_projection_options *options;
    haul_size_class alike;
    haul_contention_fit collisions;
    haul_machine *gpu; /* of the recording machine, where that is not given; NULL where unknown */
    haul_error gpu_unknown;
    haul_machine *fitted; /* the recording machine, where none is given */
    haul_machine *target; /* completed from the recording machine */
    haul_work_scales scales;
} projector;

static const haul_machine *recording_of(const projector *self)
{
    return self->options->from ? self->options->from : self->fitted;
}

/* The identity check once more, as it is for those who know no collisions; it says the errors
 * alone. */
static haul_status check_alone(projector *self, const haul_self_check_inputs *known,
                               haul_error *error)
{
    const haul_contention_fit none = {0};
    haul_machine *fitted = NULL;
    haul_status status = HAUL_OK;
    if (!self->options->from)
        status = haul_recording_fit(self->workload, &self->alike, &none, self->gpu, &fitted, error);
    haul_self_check_inputs inputs = *known;
    inputs.collisions = &none;
    inputs.recording = fitted ? fitted : known->recording;
    haul_self_check alone, *identity = &self->out.self_check;
    if (!status)
        status = haul_self_check_run(&inputs, &self->arena, &alone, error);
    haul_machine_free(fitted);
    if (status)
        return status;
    identity->of.wape_without_contention = alone.of.score.wape;
    for (size_t i = 0; i < identity->row_count; i++)
        identity->rows[i].of.wape_without_contention = alone.rows[i].of.score.wape;
    return HAUL_OK;
}

/* With a given machine by the asked model; a fitted one has curves and nothing else, which `auto`
 * reads. */
static haul_status check_identity(projector *self, haul_error *error)
{
    const haul_copy_model *asked = self->options->from ? self->options->model : NULL;
    const haul_self_check_inputs inputs = {self->workload, &self->alike, &self->collisions,
                                           recording_of(self), asked};
    const haul_status status =
        haul_self_check_run(&inputs, &self->arena, &self->out.self_check, error);
    self->out.self_check.fitted = !self->options->from;
    if (status || !self->collisions.share)
        return status;
    return check_alone(self, &inputs, error);
}

/* The time that the fitted slowdowns explain. */
static double collision_cost_s(const projector *self)
{
    double cost_ns = 0;
    for (size_t c = 0; c < self->alike.class_count; c++) {
        const haul_size_class_key *alike_class = &self->alike.classes[c];
        for (size_t k = 0; k < alike_class->count; k++) {
            const uint32_t op = self->alike.ops[alike_class->first + k];
            const double time_ns = (double)self->workload->ops[op].dur_ns;
            cost_ns += time_ns * (1 - haul_contention_speed(&self->collisions, alike_class, op));
        }
    }
    return 1e-9 * cost_ns;
}

/* The chosen model, then every other that haul has. */
static haul_status list_models(projector *self, haul_price_list *list, haul_error *error)
{
    const size_t count = haul_copy_model_count();
    const haul_copy_model *chosen =
        self->options->model ? self->options->model : haul_copy_model_at(0);
    list->models = haul_arena_alloc(&self->arena, (count + 1) * sizeof(const haul_copy_model *));
    if (!list->models)
        return haul_fail_no_memory(error);
    list->models[list->model_count++] = chosen;
    for (size_t i = 0; i < count; i++)
        if (haul_copy_model_at(i) != chosen)
            list->models[list->model_count++] = haul_copy_model_at(i);
    return HAUL_OK;
}

enum { SECONDS_TEXT = 32, COUNT_TEXT = 32 };

static const char *seconds_text(double seconds, char *text)
{
    return haul_quantity_format(seconds, HAUL_DIM_SECONDS, 3, text, SECONDS_TEXT);
}

static const char *count_text(uint64_t count, char *text)
{
    return haul_count_format(count, text, COUNT_TEXT);
}

static void note_carried(projector *self)
{
    haul_carried_text figures;
    if (haul_carried_describe(self->options->to, self->target, &self->alike, &figures))
        haul_notes_add(
            &self->notes, &self->arena,
            "'%s' lacks these parameters, which are taken from the recording machine: %s",
            self->options->to->name, figures.text);
}

static haul_status price_on_target(projector *self, haul_error *error)
{
    char text[SECONDS_TEXT], count[COUNT_TEXT];
    haul_status status =
        haul_machine_carry(self->options->to, recording_of(self), &self->target, error);
    if (status)
        return status;
    note_carried(self);
    haul_price_list list = {.target = self->target, .alike = &self->alike, .arena = &self->arena};
    status = list_models(self, &list, error);
    if (!status)
        status = haul_price_all(&list, &self->out, error);
    if (!status && list.replaced)
        haul_notes_add(&self->notes, &self->arena, "%s copies are predicted by 'auto': %s",
                       count_text(list.replaced, count), list.why_replaced);
    if (!status && list.kept)
        haul_notes_add(&self->notes, &self->arena,
                       "%s copies of unknown direction or within the host's memory keep their "
                       "recorded time, %s: no model predicts them",
                       count_text(list.kept, count), seconds_text(list.kept_s, text));
    return status;
}

/* What a model makes of each class of copies, NaN where it cannot. */
static double *prices_of(const projector *self, size_t model)
{
    double *prices = malloc((self->out.size_count + 1) * sizeof *prices);
    for (size_t s = 0; prices && s < self->out.size_count; s++)
        prices[s] = self->out.sizes[s].model_s[model];
    return prices;
}

/* The rows in `rows` cover the classes in order; those for all sizes cover them once more. */
static haul_status score_rows(const projector *self, const haul_reference *pairs,
                              const double *prices, haul_error *error)
{
    haul_status status = HAUL_OK;
    size_t next = 0;
    for (size_t r = 0; !status && r < self->out.row_count; r++) {
        haul_projection_row *row = &self->out.rows[r];
        const bool all = row->decade == HAUL_DECADES;
        haul_class_range range = {next, next};
        for (uint64_t left = row->count; left; range.end++)
            left -= self->out.sizes[range.end].count;
        status = haul_reference_score(pairs, &self->alike, range, prices, &row->score, error);
        next = all ? next : range.end;
    }
    for (size_t s = 0; !status && s < self->out.size_count; s++) {
        const haul_class_range one = {s, s + 1};
        status = haul_reference_score(pairs, &self->alike, one, prices, &self->out.sizes[s].score,
                                      error);
    }
    return status;
}

static haul_status score_models(projector *self, const haul_reference *pairs, haul_error *error)
{
    const haul_class_range everything = {0, self->alike.class_count};
    haul_status status = HAUL_OK;
    for (size_t m = 0; !status && m < self->out.model_count; m++) {
        if (self->out.models[m].missing)
            continue;
        double *prices = prices_of(self, m);
        if (!prices)
            return haul_fail_no_memory(error);
        status = haul_reference_score(pairs, &self->alike, everything, prices,
                                      &self->out.models[m].score, error);
        if (!status && !m)
            status = score_rows(self, pairs, prices, error);
        free(prices);
    }
    return status;
}

/* What was predicted of each class of copies, beside the mean of those of the truth. */
static haul_status list_truth_pairs(projector *self, const haul_reference *pairs, haul_error *error)
{
    const haul_size_class *alike = &self->alike;
    haul_copy_pair *list = haul_arena_alloc(&self->arena, (alike->class_count + 1) * sizeof *list);
    if (!list)
        return haul_fail_no_memory(error);
    self->out.reference_pairs = list;
    for (size_t c = 0; c < alike->class_count; c++) {
        const haul_projection_row *size = &self->out.sizes[c];
        haul_copy_pair pair = {.direction = size->direction,
                               .memory = size->memory,
                               .bytes = size->copy_bytes,
                               .predicted_s = size->predicted.seconds / (double)size->count};
        double sum_ns = 0;
        for (uint32_t k = 0; k < alike->classes[c].count; k++) {
            const int64_t partner_ns = pairs->partner_ns[alike->ops[alike->classes[c].first + k]];
            pair.count += partner_ns != HAUL_NO_PARTNER;
            sum_ns += partner_ns != HAUL_NO_PARTNER ? (double)partner_ns : 0;
        }
        pair.measured_s = 1e-9 * sum_ns / (double)pair.count;
        if (pair.count)
            list[self->out.reference_pair_count++] = pair;
    }
    return HAUL_OK;
}

static void note_pairs(projector *self, const haul_reference *pairs)
{
    char count[COUNT_TEXT];
    for (int d = 0; d < HAUL_DIRECTIONS; d++)
        if (pairs->any_memory[d])
            haul_notes_add(&self->notes, &self->arena,
                           "%s copies were paired with the reference by size alone: a profile does "
                           "not say which kind of host memory they use",
                           haul_direction_text((haul_direction)d));
    if (!pairs->matched)
        haul_notes_add(&self->notes, &self->arena,
                       "no copy of the reference has the direction, memory and size of a copy of "
                       "the profile: is it the same program?");
    else if (pairs->unmatched)
        haul_notes_add(
            &self->notes, &self->arena,
            "%s copies of the two profiles have no partner in the other and are not scored",
            count_text(pairs->unmatched, count));
}

static haul_status compare_with_truth(projector *self, haul_error *error)
{
    if (!self->options->reference)
        return HAUL_OK;
    haul_reference pairs = {0};
    haul_status status =
        haul_reference_pair(self->workload, self->options->reference, &pairs, error);
    if (status)
        return status;
    self->out.matched = pairs.matched;
    self->out.unmatched = pairs.unmatched;
    note_pairs(self, &pairs);
    status = score_models(self, &pairs, error);
    if (!status)
        status = list_truth_pairs(self, &pairs, error);
    haul_reference_release(&pairs);
    return status;
}

static void note_recording(projector *self)
{
    const haul_machine *from = self->options->from;
    const char *other = from ? haul_recording_other_gpu(self->workload, from) : NULL;
    if (other)
        haul_notes_add(&self->notes, &self->arena,
                       "the profile was recorded on a '%s', but the machine '%s' has a '%s': is it "
                       "the one that recorded it?",
                       other, from->name, from->gpu.name);
}

static void note_identity(projector *self)
{
    char text[SECONDS_TEXT], count[COUNT_TEXT];
    const haul_self_check *identity = &self->out.self_check;
    if (identity->unpredicted)
        haul_notes_add(
            &self->notes, &self->arena,
            "%s copies cannot be predicted on the recording machine and are not in the self-check",
            count_text(identity->unpredicted, count));
    if (self->out.contention_s > 0)
        haul_notes_add(&self->notes, &self->arena,
                       "bidirectional contention explains %s of the recorded time; on the target "
                       "each copy is predicted alone, and the whole run adds the contention",
                       seconds_text(self->out.contention_s, text));
}

/* The recording machine, where none is given: its link fitted, its GPU as far as it is known. */
static haul_status find_recording(projector *self, haul_error *error)
{
    if (self->options->from)
        return HAUL_OK;
    const haul_status status = haul_recording_gpu(self->workload, &self->gpu, &self->gpu_unknown);
    if (status && status != HAUL_MISSING) {
        if (error)
            *error = self->gpu_unknown;
        return status;
    }
    return haul_recording_fit(self->workload, &self->alike, &self->collisions, self->gpu,
                              &self->fitted, error);
}

static haul_status carry_device_work(projector *self, haul_error *error)
{
    const haul_machine *from = self->options->from ? self->options->from : self->gpu;
    if (from && from->gpu.name)
        self->out.gpu = haul_arena_string(&self->arena, from->gpu.name);
    const haul_carry_gpus gpus = {
        .from = from, .unknown = self->gpu_unknown.text, .to = self->options->to};
    return haul_device_work_carry(self->workload, &gpus, &self->arena, &self->out, &self->scales,
                                  error);
}

static haul_status run_on_target(projector *self, haul_error *error)
{
    const haul_whole_run run = {
        .times = {self->workload, &self->alike, self->out.sizes, &self->scales},
        .target = self->target,
        .reference = self->options->reference,
        .collisions = &self->collisions,
        .arena = &self->arena,
        .notes = &self->notes};
    return haul_whole_run_make(&run, &self->out, error);
}

static haul_status make(projector *self, haul_error *error)
{
    haul_status status = haul_size_class_make(self->workload, NULL, &self->alike, error);
    if (!status)
        status = haul_contention_fit_find(self->workload, &self->alike, &self->collisions, error);
    if (!status)
        status = find_recording(self, error);
    if (!status)
        status = check_identity(self, error);
    if (status)
        return status;
    self->out.contention_s = collision_cost_s(self);
    note_recording(self);
    note_identity(self);
    status = price_on_target(self, error);
    if (!status)
        status = compare_with_truth(self, error);
    if (!status)
        status = carry_device_work(self, error);
    return status ? status : run_on_target(self, error);
}

static void release_work(projector *self)
{
    haul_size_class_release(&self->alike);
    haul_contention_fit_release(&self->collisions);
    haul_machine_free(self->fitted);
    haul_machine_free(self->target);
    haul_machine_free(self->gpu);
}

haul_status haul_project(const haul_workload *workload, const haul_projection_options *options,
                         haul_projection **projection, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    projector *self = calloc(1, sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    self->workload = workload;
    self->options = options;
    haul_status status = make(self, error);
    if (!status && self->notes.failed)
        status = haul_fail_no_memory(error);
    release_work(self);
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
    haul_arena_release(&self->arena);
    free(self);
}
