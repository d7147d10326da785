/* haul overlap --tiles: products and stencils in tiles. */
#include "cli/overlap_tiles.h"

static haul_status make_product(const overlap_request *self, haul_tiles_report *report,
                                haul_workload **workload, haul_timeline_device *device,
                                haul_error *error)
{
    const uint64_t side = self->tile.side[0];
    const haul_blocked_tile tile = {side, side * self->element, self->size.side[1] * self->element,
                                    self->work.kernel_s};
    const haul_blocked_product product = {
        .m = self->size.side[0],
        .n = self->size.side[1],
        .k = self->size.side[2],
        .tile = side,
        .a_on_host = true,
        .b_on_host = true,
        .c_on_host = true,
        .queue_depth = (unsigned)self->queue_depth,
        .back_at_once = self->back_at_once,
    };
    const haul_status status =
        haul_blocked_costs_of(self->machine, &tile, &tile, &report->costs, error);
    return status ? status
                  : haul_blocked_workload(&product, &report->costs, workload, device, error);
}

static haul_status make_stencil(const overlap_request *self, haul_tiles_report *report,
                                haul_workload **workload, haul_timeline_device *device,
                                haul_error *error)
{
    const uint64_t rows = self->tile.side[0], columns = self->tile.side[1];
    const uint64_t pitch = (self->size.side[1] + 2 * self->halo) * self->element;
    const haul_blocked_tile out = {rows, columns * self->element,
                                   columns == self->size.side[1] ? columns * self->element : pitch,
                                   self->work.kernel_s};
    const haul_blocked_tile in = {rows + 2 * self->halo, (columns + 2 * self->halo) * self->element,
                                  pitch, self->work.kernel_s};
    const haul_blocked_stencil stencil = {
        .rows = self->size.side[0],
        .columns = self->size.side[1],
        .tile_rows = rows,
        .tile_columns = columns,
        .queue_depth = (unsigned)self->queue_depth,
        .back_at_once = self->back_at_once,
    };
    const haul_status status =
        haul_blocked_costs_of(self->machine, &in, &out, &report->costs, error);
    return status
               ? status
               : haul_blocked_stencil_workload(&stencil, &report->costs, workload, device, error);
}

static haul_status write_answer(const overlap_request *self, const haul_tiles_report *report,
                                haul_error *error)
{
    char title[300];
    const haul_drawn drawn = {.label = "predicted",
                              .workload = report->workload,
                              .spans = report->timeline->ops,
                              .named = true,
                              .critical = report->timeline->critical,
                              .critical_count = report->timeline->critical_count};
    (void)snprintf(title, sizeof title, "A %s in tiles on %.250s", report->kind,
                   self->machine->name);
    cli_answer answer = {.report = haul_report_tiles(report),
                         .page = {.title = title, .timelines = &drawn, .timeline_count = 1},
                         .machines = {self->machine}};
    return cli_answer_write(&self->given.results, &answer, error);
}

haul_status cli_overlap_tiles(const overlap_request *self, haul_error *error)
{
    haul_tiles_report report = {.machine = self->machine,
                                .kind = self->is_stencil ? "stencil" : "product",
                                .queue_depth = (uint32_t)self->queue_depth};
    haul_workload *workload = NULL;
    haul_timeline *timeline = NULL;
    haul_timeline_options run = {.release = HAUL_RELEASE_HOST};
    haul_status status = (self->is_stencil ? make_stencil : make_product)(self, &report, &workload,
                                                                          &run.device, error);
    if (!status)
        status = haul_timeline_run(workload, &run, &timeline, error);
    report.workload = workload;
    report.timeline = timeline;
    if (!status)
        status = write_answer(self, &report, error);
    haul_timeline_free(timeline);
    haul_workload_free(workload);
    return status;
}
