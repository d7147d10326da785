/* haul_loop_queue: a loop becomes a step of the queue. */
#include <stdlib.h>

#include "base/fail.h"
#include "tile/tile_calls.h"

/* The results of a loop over no cells. */
static haul_status set_no_rows(const hl_tile_step *step, haul_error *error)
{
    haul_status status = hl_tile_step_note_empty(step, error);
    for (unsigned u = 0; u < step->use_count && !status; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        haul_array result = {.context = use->field->context, .field = use->field};
        haul_region region;
        if (!use->reduction)
            continue;
        status = haul_array_access(&result, 0, HAUL_USE_WRITE, &region, error);
        if (!status && region.cells)
            hl_tile_fold_set_identity(use, region.cells);
    }
    return status;
}

/* A loop over several devices. */
typedef struct shared_loop {
    haul_context *context;
    const hl_tile_asked_loop *asked;
    hl_tile_step *steps; /* on each device */
} shared_loop;

/* The loop on one device: its arrays there, and the same values. Needs: arguments that fit. */
static haul_status make_on(const shared_loop *self, int rank, haul_error *error)
{
    const haul_kernel_source *kernel = self->asked->kernel;
    const void *own[HL_TILE_USES + HL_TILE_VALUE_BYTES / 16];
    hl_tile_asked_loop loop = *self->asked;
    size_t given = 0;
    for (unsigned i = 0; i < kernel->parameter_count - kernel->reduces; i++) {
        const void *argument = loop.arguments[given];
        const bool is_field = kernel->parameters[i].halo >= 0;
        own[given++] = is_field ? ((const haul_array *)argument)->of[rank] : argument;
        i += is_field; /* its view or place */
    }
    loop.arguments = own;
    const haul_context *context = hl_tile_team_context(self->context->team, rank);
    HAUL_TRY(hl_tile_step_make(&self->steps[rank], context, &loop, error));
    hl_tile_step_ask_region(&self->steps[rank]);
    return hl_tile_step_check_shares(&self->steps[rank], error);
}

/* The loop's arrays, in the order of its uses. */
static void list_arrays(const shared_loop *self, haul_array *arrays[HL_TILE_USES])
{
    const haul_kernel_source *kernel = self->asked->kernel;
    size_t given = 0, count = 0;
    for (unsigned i = 0; i < kernel->parameter_count - kernel->reduces; i++, given++)
        if (kernel->parameters[i].halo >= 0) {
            arrays[count++] = (haul_array *)self->asked->arguments[given];
            i++;
        }
}

/* Checks the loop as the first device has it, places its arrays, and makes it for all. Arrays that
 * are made anew have other fields: the loop, which has their addresses, is made again. */
static haul_status make_on_all(const shared_loop *self, haul_error *error)
{
    const haul_context *first = hl_tile_team_context(self->context->team, 0);
    haul_array *arrays[HL_TILE_USES];
    HAUL_TRY(hl_tile_step_make(&self->steps[0], first, self->asked, error));
    list_arrays(self, arrays);
    if (self->steps[0].region_asked)
        HAUL_TRY(hl_tile_queue_run(self->context, error));
    HAUL_TRY(hl_tile_arrays_place(arrays, &self->steps[0], error));
    HAUL_TRY(hl_tile_step_make(&self->steps[0], first, self->asked, error));
    HAUL_TRY(hl_tile_arrays_deepen(arrays, &self->steps[0], error));
    for (int rank = 0; rank < hl_tile_team_count(self->context->team); rank++)
        HAUL_TRY(make_on(self, rank, error));
    return HAUL_OK;
}

static haul_status set_no_rows_on(haul_context *context, int rank, void *state, haul_error *error)
{
    (void)context;
    return set_no_rows(&((const shared_loop *)state)->steps[rank], error);
}

/* Failures are told before any device has the loop: all have it, or none. */
static haul_status push_on_all(const shared_loop *self, haul_error *error)
{
    const hl_tile_team *team = self->context->team;
    haul_status status = HAUL_OK;
    bool is_full = false;
    for (int rank = 0; rank < hl_tile_team_count(team); rank++) {
        const haul_status one =
            hl_tile_step_check_failures(&self->steps[rank], status ? NULL : error);
        status = status ? status : one;
    }
    for (int rank = 0; rank < hl_tile_team_count(team) && !status; rank++) {
        haul_context *context = hl_tile_team_context(team, rank);
        status = hl_tile_queue_step(&context->queue, &self->steps[rank], error);
        context->counts.loops++;
        is_full = is_full || context->queue.count >= HL_TILE_STEPS_QUEUED;
    }
    return status || !is_full ? status : hl_tile_queue_run(self->context, error);
}

static haul_status queue_on_all(haul_context *context, const hl_tile_asked_loop *asked,
                                haul_error *error)
{
    const size_t count = (size_t)hl_tile_team_count(context->team);
    shared_loop self = {context, asked, calloc(count, sizeof(hl_tile_step))};
    if (!self.steps)
        return hl_base_fail_no_memory(error);
    haul_status status = make_on_all(&self, error);
    const hl_tile_step *first = &self.steps[0];
    if (!status && hl_tile_step_is_empty(first) && first->length == first->whole)
        status = hl_tile_on_all(context, set_no_rows_on, &self, error);
    else if (!status)
        status = push_on_all(&self, error);
    free(self.steps);
    return status;
}

/* Loops need not say that edges are set before they are read. The queue is run when it is full. */
haul_status hl_tile_loop_queue(haul_context *context, const hl_tile_asked_loop *loop,
                               haul_error *error)
{
    const haul_kernel_source *kernel = loop->kernel;
    hl_tile_queue *queue = &context->queue;
    hl_tile_step step;
    if (!kernel->dimensions || (kernel->group[0] && !kernel->reduces))
        return haul_error_set(error, HAUL_STATUS_USAGE, "kernel '%s' is no loop", kernel->name);
    HAUL_TRY(hl_tile_types_check(loop, error));
    HAUL_TRY(hl_tile_failure_take(&queue->failure, error));
    if (context->team)
        return queue_on_all(context, loop, error);
    HAUL_TRY(hl_tile_step_make(&step, context, loop, error));
    HAUL_TRY(hl_tile_step_check_shares(&step, error));
    if (step.region_asked) { /* loops that are queued may use the array beside others */
        HAUL_TRY(hl_tile_queue_run(context, error));
        hl_tile_step_ask_region(&step);
    }
    const bool is_divided = step.length != step.whole;
    if (hl_tile_step_is_empty(&step) && !is_divided)
        return set_no_rows(&step, error);
    HAUL_TRY(hl_tile_queue_step(queue, &step, error));
    context->counts.loops++;
    return queue->count < HL_TILE_STEPS_QUEUED ? HAUL_OK : hl_tile_queue_run(context, error);
}

haul_status haul_loop_queue(haul_context *context, const haul_kernel_source *kernel,
                            const void *const *arguments, size_t count,
                            const haul_loop_options *options, haul_error *error)
{
    const hl_tile_asked_loop loop = {
        .kernel = kernel, .arguments = arguments, .count = count, .options = options};
    return hl_tile_loop_queue(context, &loop, error);
}
