/* The queue of loops, and of the edges that they read. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "tile/tile_queue.h"

void hl_tile_failure_keep(hl_tile_queue *queue, const haul_error *failure)
{
    if (!queue->failure.status)
        queue->failure = *failure;
}

haul_status hl_tile_failure_take(haul_error *failure, haul_error *error)
{
    const haul_status status = failure->status;
    if (status && error)
        *error = *failure;
    failure->status = HAUL_OK;
    return status;
}

/* Arrays that the step overwrites need no right values. */
haul_status hl_tile_step_check_failures(const hl_tile_step *step, haul_error *error)
{
    for (unsigned i = 0; i < step->use_count; i++) {
        hl_tile_field *field = step->uses[i].field;
        if (hl_tile_step_overwrites(step, field))
            field->failure.status = HAUL_OK;
        if (field->is_discarded && step->uses[i].reads)
            return haul_error_set(
                error, HAUL_STATUS_USAGE, "kernel '%s' reads '%.*s', whose values were discarded",
                step->source->name, (int)hl_tile_name_length(step, i), hl_tile_name_of(step, i));
        if (!hl_tile_step_is_empty(step))
            field->is_discarded = field->is_discarded && !step->uses[i].writes;
        HAUL_TRY(hl_tile_failure_take(&field->failure, error));
    }
    return HAUL_OK;
}

/* No two cells of the loops change the same one: each writes its own cell, or row, of arrays that
 * have the loop's dimensions. Writes with a halo are left out, as their cells may lie in the other
 * loop's box. */
static bool is_apart(const hl_tile_step *step)
{
    bool is_one = true;
    for (unsigned i = 0; i < step->use_count; i++)
        if (step->uses[i].writes)
            is_one = is_one && !step->uses[i].halo && !step->uses[i].is_all &&
                     step->uses[i].field->dims > step->outer;
    return is_one;
}

static bool is_same_loop(const hl_tile_step *a, const hl_tile_step *b)
{
    if (!a->source || !b->source || a->source->reduces || a->source != b->source ||
        a->on_host != b->on_host || a->use_count != b->use_count || a->length != b->length ||
        a->flops != b->flops || a->others != b->others ||
        memcmp(a->values, b->values, sizeof a->values) != 0)
        return false;
    for (unsigned i = 0; i < a->use_count; i++)
        if (a->uses[i].field != b->uses[i].field)
            return false;
    return true;
}

/* A loop that goes on where the one before it ends is part of it, if no cell can tell: so loops
 * over tiles become one. */
static bool join(hl_tile_step *self, const hl_tile_step *next)
{
    int differs = -1;
    if (!is_same_loop(self, next) || !is_apart(self))
        return false;
    for (int d = 0; d <= self->outer; d++)
        if (self->box.lo[d] != next->box.lo[d] || self->box.hi[d] != next->box.hi[d]) {
            if (differs >= 0)
                return false;
            differs = d;
        }
    if (differs < 0 || self->box.hi[differs] != next->box.lo[differs])
        return false;
    self->box.hi[differs] = next->box.hi[differs];
    for (unsigned i = 0; i < self->use_count; i++)
        self->uses[i].is_last = next->uses[i].is_last;
    return true;
}

static haul_status push_step(hl_tile_queue *self, const hl_tile_step *step, haul_error *error)
{
    if (!hl_base_grow(&self->steps, &self->capacity, self->count + 1, sizeof *self->steps))
        return hl_base_fail_no_memory(error);
    self->steps[self->count++] = *step;
    return HAUL_OK;
}

static haul_status push_exchange(hl_tile_queue *self, hl_tile_field *field, unsigned turn,
                                 haul_error *error)
{
    const hl_tile_step step = {.use_count = 1,
                               .uses = {{.field = field}},
                               .is_exchange = true,
                               .turn = turn,
                               .is_untold = field->is_untold};
    return push_step(self, &step, error);
}

/* A face's cells. */
static haul_box face_of(const hl_tile_field *field, int d, int side)
{
    haul_box box = {{0}, {0}};
    for (int e = 0; e < field->dims; e++) {
        const int more = e < d ? field->ghost[e] : 0;
        box.lo[e] = -more;
        box.hi[e] = field->size[e] + more;
    }
    box.lo[d] = side ? field->size[d] : -field->ghost[d];
    box.hi[d] = side ? field->size[d] + field->ghost[d] : 0;
    return box;
}

/* The user's kernel over the cells beyond each face: later faces take the corners. One that reads
 * neighbours reads other processes' planes, too, and the cells that their faces have set. */
static haul_status push_faces(hl_tile_queue *self, hl_tile_field *field, haul_error *error)
{
    const int halo = field->boundary_kernel->parameters[0].halo;
    for (int d = 0; d < field->dims; d++) {
        if (halo && field->ghost[d] && hl_tile_is_divided(field))
            HAUL_TRY(push_exchange(self, field, 0, error));
        for (int side = 0; side < 2 && field->ghost[d]; side++) {
            const bool is_inner = /* another process's planes are there */
                d + 1 == field->dims &&
                (side ? field->first + field->length < field->whole : field->first > 0);
            const hl_tile_step step = {
                .source = field->boundary_kernel,
                .box = face_of(field, d, side),
                .use_count = 1,
                .uses = {{.field = field, .reads = true, .writes = true, .halo = halo}},
                .outer = field->dims - 1,
                .length = field->length,
                .first = field->first,
                .whole = field->whole,
            };
            field->ghosts_written = true;
            if (!is_inner)
                HAUL_TRY(push_step(self, &step, error));
        }
    }
    return HAUL_OK;
}

/* Cells with fixed values need no step: they keep them. */
static haul_status push_ghosts(hl_tile_queue *self, hl_tile_field *field, haul_error *error)
{
    bool is_set = field->boundary_kernel != NULL;
    for (int d = 0; d < field->dims; d++)
        is_set = is_set || (field->ghost[d] && field->boundary[d] != HAUL_BOUNDARY_FIXED);
    field->ghosts_stale = false;
    if (!is_set)
        return HAUL_OK;
    if (field->boundary_kernel)
        return push_faces(self, field, error);
    hl_tile_step step = {
        .use_count = 1,
        .uses = {{.field = field, .reads = true, .writes = true}},
        .box = {{0}, {field->size[0], field->size[1], field->size[2]}},
        .outer = field->dims - 1,
        .length = field->length,
        .first = field->first,
        .whole = field->whole,
    };
    const int margin = field->depth ? field->known : 0;
    step.box.lo[step.outer] -= hl_tile_has_edge(field, false) ? 0 : margin;
    step.box.hi[step.outer] += hl_tile_has_edge(field, true) ? 0 : margin;
    return push_step(self, &step, error);
}

/* Whether the step may read cells beyond the array's edges: neighbours, cells of a box that goes on
 * there, any of a row or plane, or, of an array of fewer dimensions, any. */
static bool reads_beyond(const hl_tile_step *step, const hl_tile_field_use *use)
{
    const hl_tile_field *field = use->field;
    bool is_beyond = use->halo || use->is_all || field->dims != step->outer + 1;
    for (int d = 0; d < field->dims && field->dims == step->outer + 1; d++)
        is_beyond =
            is_beyond || step->box.lo[d] < 0 || step->box.hi[d] > hl_tile_field_size(field, d);
    return use->reads && is_beyond;
}

/* Cells that the step reads around those of its box: first all that this process sets. */
static haul_status push_edges(hl_tile_queue *self, const hl_tile_step *step, int *margin,
                              haul_error *error)
{
    bool is_sent[HL_TILE_USES] = {false}, is_any = false;
    for (unsigned i = 0; i < step->use_count; i++) {
        hl_tile_field *field = step->uses[i].field;
        const bool is_stale = field->ghosts_stale && reads_beyond(step, &step->uses[i]);
        const bool is_unknown = step->uses[i].reads && hl_tile_is_along(step, &step->uses[i]) &&
                                field->known < step->uses[i].halo;
        is_sent[i] =
            hl_tile_is_divided(field) && field->edge && (field->depth ? is_unknown : is_stale);
        if (is_stale)
            HAUL_TRY(push_ghosts(self, field, error));
    }
    *margin = hl_tile_margin_choose(step, is_sent);
    for (unsigned i = 0; i < step->use_count; i++) {
        hl_tile_field *field = step->uses[i].field;
        if (!is_sent[i] || (field->depth && field->known == field->edge && !field->is_untold))
            continue;
        HAUL_TRY(push_exchange(self, field, self->turns + 1, error));
        is_any = true;
        field->known = field->edge;
        field->is_untold = false;
    }
    self->turns += is_any;
    return HAUL_OK;
}

/* Notes the kind of the array's elements and its name, where nothing said so yet, and whether it
 * has to be on a device as a whole. */
static void note_uses(const hl_tile_step *step)
{
    unsigned use = 0;
    for (unsigned i = 0; use < step->use_count; i++) {
        const haul_kernel_parameter *parameter = &step->source->parameters[i];
        if (parameter->halo < 0)
            continue;
        hl_tile_field *field = step->uses[use].field;
        if (field->element_kind == HAUL_ELEMENT_ANY && parameter->access < HAUL_ACCESS_SHARED)
            field->element_kind = parameter->element;
        if (!field->name[0])
            snprintf(field->name, sizeof field->name, "%.*s", (int)hl_tile_name_length(step, use),
                     parameter->name);
        field->is_needed_whole =
            field->is_needed_whole || !hl_tile_is_along(step, &step->uses[use]);
        use++;
    }
}

haul_status hl_tile_step_note_empty(const hl_tile_step *step, haul_error *error)
{
    HAUL_TRY(hl_tile_step_check_failures(step, error));
    note_uses(step);
    return HAUL_OK;
}

/* A loop of fewer dimensions goes over the last ones. */
bool hl_tile_step_goes_beyond(const hl_tile_step *step, const hl_tile_field *field)
{
    const int fewer = field->dims - step->outer - 1;
    bool is_beyond = false;
    for (int d = 0; d <= step->outer && fewer >= 0; d++)
        is_beyond = is_beyond || step->box.lo[d] < 0 ||
                    step->box.hi[d] > hl_tile_field_size(field, d + fewer);
    return is_beyond;
}

/* Cells beyond the edges of written arrays are stale from now on, or are written themselves. */
static void note_writes(const hl_tile_step *step)
{
    for (unsigned i = 0; i < step->use_count; i++) {
        hl_tile_field *field = step->uses[i].field;
        if (!step->uses[i].writes || step->uses[i].reduction)
            continue;
        field->ghosts_stale = true;
        field->ghosts_written = field->ghosts_written ||
                                (!step->uses[i].is_all && hl_tile_step_goes_beyond(step, field));
    }
}

/* Before the step uses results of which processes have parts, all are put together, by an exchange
 * of one that is not divided. */
static haul_status push_results(hl_tile_queue *self, const hl_tile_step *step, haul_error *error)
{
    const bool has_parts = step->source->reduces && step->length != step->whole;
    for (unsigned i = 0; i < step->use_count; i++) {
        hl_tile_field *field = step->uses[i].field;
        const bool is_part = has_parts && step->uses[i].reduction;
        if (field->is_partial && !is_part) {
            for (hl_tile_field *one = field->memory->fields; one; one = one->next)
                one->is_partial = false;
            HAUL_TRY(push_exchange(self, field, 0, error));
        }
    }
    for (unsigned i = 0; i < step->use_count && has_parts; i++)
        step->uses[i].field->is_partial =
            step->uses[i].field->is_partial || step->uses[i].reduction;
    return HAUL_OK;
}

/* Whether queued step number `i` sets results alone that the next step sets again, and nothing
 * between them uses. */
static bool is_void(const hl_tile_queue *self, size_t i, const hl_tile_step *next)
{
    const hl_tile_step *step = &self->steps[i];
    bool is_one = step->source && step->source->reduces;
    for (unsigned u = 0; u < step->use_count && is_one; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        bool is_set = false;
        for (unsigned v = 0; v < next->use_count; v++)
            is_set = is_set || (next->uses[v].reduction && next->uses[v].field == use->field);
        is_one = !use->writes || (use->reduction && is_set);
        for (size_t j = i + 1; j < self->count && is_one && use->writes; j++)
            is_one = !hl_tile_step_uses(&self->steps[j], use->field);
    }
    return is_one;
}

/* Programs need not say that edges are set. */
haul_status hl_tile_queue_step(hl_tile_queue *queue, hl_tile_step *step, haul_error *error)
{
    HAUL_TRY(hl_tile_step_check_failures(step, error));
    int margin;
    HAUL_TRY(push_results(queue, step, error));
    HAUL_TRY(push_edges(queue, step, &margin, error));
    note_uses(step);
    note_writes(step);
    hl_tile_margin_note(step, margin);
    hl_tile_step_localise(step, margin);
    if (hl_tile_step_is_relayed(step))
        step->others = queue->others;
    else
        queue->others++;
    if (hl_tile_step_is_empty(step) && !step->source->reduces)
        return HAUL_OK;
    /* A reduction whose result nothing reads would end the pass of the loops before it. */
    for (size_t i = step->source->reduces && !queue->keeps_all ? queue->count : 0; i-- > 0;)
        if (is_void(queue, i, step)) {
            queue->count--;
            memmove(&queue->steps[i], &queue->steps[i + 1],
                    (queue->count - i) * sizeof *queue->steps);
        }
    HAUL_TRY(push_step(queue, step, error));
    while (queue->count > 1 &&
           join(&queue->steps[queue->count - 2], &queue->steps[queue->count - 1]))
        queue->count--;
    return HAUL_OK;
}
