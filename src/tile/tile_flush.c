/* Running the queue. */
#include "tile/tile_calls.h"

/* Failures that contexts have kept are taken before a job: one that returned it would not do what
 * the others wait for. */
static haul_status take_kept(haul_context *context, haul_error *error)
{
    haul_status status = hl_tile_failure_take(&context->queue.failure, error);
    for (int rank = 0; rank < hl_tile_team_count(context->team); rank++) {
        hl_tile_queue *queue = &hl_tile_team_context(context->team, rank)->queue;
        const haul_status one = hl_tile_failure_take(&queue->failure, status ? NULL : error);
        status = status ? status : one;
    }
    return status;
}

void hl_tile_stretch_end(haul_context *context)
{
    hl_tile_relay *first = &hl_tile_team_context(context->team, 0)->relay;
    if (first->pays_from && context->relay.stretch >= first->pays_from) {
        context->relay.era++;
        first->short_runs = 0;
    }
    context->relay.stretch = 0;
}

haul_status hl_tile_on_all(haul_context *context, hl_tile_job job, void *state, haul_error *error)
{
    hl_tile_stretch_end(context);
    HAUL_TRY(take_kept(context, error));
    HAUL_TRY(hl_tile_team_call(context->team, job, state, error));
    return take_kept(context, error);
}

static haul_status run_one(haul_context *context, int rank, void *state, haul_error *error)
{
    (void)rank;
    (void)state;
    return hl_tile_queue_run(context, error);
}

/* After an error the queue is empty as well: what is left would compute on lost data. */
haul_status hl_tile_queue_run(haul_context *context, haul_error *error)
{
    const haul_processes *processes = context->options.processes;
    haul_error own = {.status = HAUL_OK};
    error = error ? error : &own;
    if (context->team)
        return hl_tile_on_all(context, run_one, NULL, error);
    HAUL_TRY(hl_tile_failure_take(&context->queue.failure, error));
    if (!context->queue.count)
        return HAUL_OK;
    haul_status status = hl_tile_fields_divide(&context->memory, error);
    /* loops that are queued may have asked for regions of another size */
    for (hl_tile_field *field = context->memory.fields; field && !status; field = field->next)
        status = hl_tile_field_divide_anew(field, error);
    if (!status)
        status = hl_tile_checked_run(context, error);
    if (!status)
        status =
            processes && processes->count > 1
                ? hl_tile_processes_run(context, context->queue.steps, context->queue.count, error)
                : hl_tile_steps_run(context, context->queue.steps, context->queue.count, error);
    error->status = status;
    context->has_failed = context->has_failed || status;
    if (status) {
        /* Arrays that the steps were to set, all or some of which they have not. */
        for (size_t i = 0; i < context->queue.count; i++)
            for (unsigned u = 0; u < context->queue.steps[i].use_count; u++)
                if (context->queue.steps[i].uses[u].writes) {
                    context->queue.steps[i].uses[u].field->failure = *error;
                    context->queue.steps[i].uses[u].field->is_doubtful = true;
                }
    }
    context->queue.count = 0;
    return status;
}
