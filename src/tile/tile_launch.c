/* A step's launches on the device: its loop, or the setting of cells beyond edges, for some planes.
 */
#include <stdio.h>

#include "haul/device_backend.h"
#include "tile/tile_pass.h"

/* Sets cells beyond the edges of planes [first, end), and the planes beyond the edges that are like
 * one of them. */
static haul_status run_ghosts(hl_tile_field *field, int first, int end, haul_error *error)
{
    const int last = field->length - 1;
    const bool is_copy = field->boundary[field->dims - 1] == HAUL_BOUNDARY_COPY;
    int low = first, high = end;
    hl_tile_ghost_range(field, field->dims - 1, &low, &high);
    haul_status status =
        hl_tile_ghosts_on_device(field, (hl_tile_planes){low, high, 0}, false, error);
    for (int k = 1; k <= field->ghost[field->dims - 1] && is_copy && !status; k++) {
        if (!first && hl_tile_has_edge(field, false))
            status = hl_tile_plane_copy_within(field, -k, 0, error);
        if (!status && end == field->length && hl_tile_has_edge(field, true))
            status = hl_tile_plane_copy_within(field, last + k, last, error);
    }
    return status;
}

/* A launch and its arguments. */
typedef struct call {
    haul_launch launch;
    haul_argument arguments[2 * HL_TILE_USES + HL_TILE_VALUE_BYTES / 16];
    haul_view views[HL_TILE_USES];
    haul_rows places[HL_TILE_USES];
    haul_box box; /* of a reduction */
    haul_fused fused;
} call;

/* An array's ring, and its view from the lowest plane that the launch uses. */
static void give_field(call *self, const hl_tile_step *step, unsigned use, hl_tile_planes run,
                       haul_argument *at)
{
    const hl_tile_field_use *of = &step->uses[use];
    const hl_tile_field *field = of->field;
    const bool is_along = hl_tile_is_along(step, of);
    const int shift = is_along ? run.shift : 0;
    /* fused steps read planes beyond the edges of both arrays */
    const int fused = step->fused.steps ? step->uses[0].halo : 0;
    const int halo = of->halo > fused ? of->halo : fused;
    const int lowest = is_along ? run.first + shift - halo : -field->edge;
    self->views[use] =
        hl_tile_field_view(field, lowest < -field->edge ? -field->edge : lowest, true);
    const int last = is_along ? run.end + shift + halo : field->length + field->edge;
    if (last - self->views[use].base <= field->planes)
        self->views[use].ring = 0;
    self->views[use].base += (is_along ? step->first : 0) - shift;
    at[0] =
        (haul_argument){.buffer = field->ring, .offset = (uint64_t)field->lead * field->element};
    at[1] = (haul_argument){.value = &self->views[use]};
    self->launch.bytes += (double)field->element * (of->reads + of->writes);
}

static void give_arguments(call *self, const hl_tile_step *step, hl_tile_planes run)
{
    size_t value = 0;
    unsigned use = 0;
    for (unsigned i = 0; i < step->source->parameter_count - step->source->reduces; i++) {
        const haul_kernel_parameter *parameter = &step->source->parameters[i];
        if (parameter->halo < 0) {
            self->arguments[i] = (haul_argument){.value = step->values + value};
            value += hl_tile_value_bytes(parameter);
        } else if (step->uses[use].reduction) {
            uint64_t rows;
            self->places[use] = hl_tile_rows_of(step, &step->uses[use], &rows);
            self->arguments[i] = (haul_argument){.buffer = step->uses[use].field->rows};
            self->arguments[++i] = (haul_argument){.value = &self->places[use++]};
        } else {
            give_field(self, step, use++, run, &self->arguments[i++]);
        }
    }
}

static haul_status launch_fused(haul_context *context, call *self, const hl_tile_step *step,
                                haul_error *error)
{
    hl_tile_work work;
    haul_launch *launch = &self->launch;
    launch->box = hl_tile_fused_launch(&context->choice, step, &launch->box, &self->fused, &work);
    launch->bytes = work.bytes;
    launch->flops = work.flops;
    launch->shared_bytes = work.shared_bytes;
    self->arguments[launch->argument_count++] = (haul_argument){.value = &self->fused};
    context->last.fused = self->fused;
    return hl_tile_launch(context, hl_tile_fused_source(&context->choice, step->source), launch,
                          error);
}

/* A step's planes. */
static haul_status run_step(haul_context *context, const hl_tile_step *step, hl_tile_planes run,
                            haul_error *error)
{
    const int first = run.first, end = run.end;
    if (!step->source && run.shift)
        return hl_tile_ghosts_on_device(step->uses[0].field, run, false, error);
    if (!step->source)
        return run_ghosts(step->uses[0].field, first, end, error);
    call self = {.launch = {.box = step->box, .is_double = true}};
    haul_launch *launch = &self.launch;
    double cells = end - first;
    for (int d = 0; d < step->outer; d++)
        cells *= step->box.hi[d] - step->box.lo[d];
    if (cells <= 0)
        return HAUL_OK; /* a column without rows */
    give_arguments(&self, step, run);
    launch->arguments = self.arguments;
    launch->argument_count = step->source->parameter_count;
    launch->bytes *= cells;
    launch->flops = step->flops * cells;
    launch->box.lo[step->outer] = first;
    launch->box.hi[step->outer] = end;
    if (step->fused.steps)
        return launch_fused(context, &self, step, error);
    self.box = launch->box = hl_tile_box_moved(launch->box, step->outer, step->first);
    if (step->source->reduces) {
        self.arguments[launch->argument_count - 1] = (haul_argument){.value = &self.box};
        launch->box = hl_tile_row_groups(&self.box, step->outer + 1);
    }
    return hl_tile_launch(context, step->source, launch, error);
}

haul_status hl_tile_step_run(haul_context *context, const hl_tile_step *step, hl_tile_planes run,
                             haul_error *error)
{
    const int lo = step->box.lo[step->outer], hi = step->box.hi[step->outer];
    run.first = run.first > lo ? run.first : lo;
    run.end = run.end < hi ? run.end : hi;
    if (run.first >= run.end)
        return HAUL_OK;
    const haul_status status = run_step(context, step, run, error);
    if (status && error) {
        /* Which loop it was, before what the device said. */
        char text[sizeof error->text];
        snprintf(text, sizeof text, "%s", error->text);
        snprintf(error->text, sizeof error->text, "kernel '%.60s', planes %d to %d: %.380s",
                 step->source ? step->source->name : "edges", run.first, run.end - 1, text);
    }
    return status;
}
