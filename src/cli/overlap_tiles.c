/* haul overlap --tiles: products and stencils in tiles. */
#include "cli/overlap_tiles.h"

#include "cli/csv_rows.h"

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
    HAUL_TRY(haul_blocked_costs_of(self->machine, &tile, &tile, &report->costs, error));
    return haul_blocked_workload(&product, &report->costs, workload, device, error);
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

haul_status cli_overlap_tiles(const overlap_request *self, haul_error *error)
{
    haul_tiles_report report = {.machine = self->machine,
                                .kind = self->is_stencil ? "stencil" : "product",
                                .queue_depth = (uint32_t)self->queue_depth};
    haul_workload *workload = NULL;
    haul_timeline *timeline = NULL;
    haul_timeline_device device;
    haul_status status =
        (self->is_stencil ? make_stencil : make_product)(self, &report, &workload, &device, error);
    if (!status)
        status = haul_blocked_run(workload, &device, &timeline, error);
    report.workload = workload;
    report.timeline = timeline;
    if (!status) {
        char title[300];
        const haul_drawn drawn = {.label = "predicted",
                                  .workload = report.workload,
                                  .spans = report.timeline->ops,
                                  .named = true,
                                  .critical = report.timeline->critical,
                                  .critical_count = report.timeline->critical_count};
        (void)snprintf(title, sizeof title, "A %s in tiles on %.250s", report.kind,
                       self->machine->name);
        cli_answer answer = {.report = haul_report_tiles(&report),
                             .page = {.title = title, .timelines = &drawn, .timeline_count = 1},
                             .machines = {self->machine}};
        status = cli_answer_write(&self->given.results, &answer, error);
    }
    haul_timeline_free(timeline);
    haul_workload_free(workload);
    return status;
}

enum {
    M,
    N,
    K,
    TILE,
    KERNEL_S,
    NEEDED,
    IN_S = NEEDED,
    IN_BUSY_S,
    OUT_S,
    OUT_BUSY_S,
    A_ON_HOST,
    B_ON_HOST,
    C_ON_HOST,
    EDGE_ALONE,
    OUT_AFTER_IN,
    COLUMNS
};

/* Times that the table does not give are the machine's. */
static haul_status find_costs(const overlap_request *self, const double *values,
                              haul_blocked_costs *out, haul_error *error)
{
    const uint64_t side = (uint64_t)values[TILE];
    const haul_blocked_tile tile = {side, side * self->element, (uint64_t)values[N] * self->element,
                                    values[KERNEL_S]};
    *out = (haul_blocked_costs){values[IN_S],       values[IN_BUSY_S], values[OUT_S],
                                values[OUT_BUSY_S], values[KERNEL_S],  0};
    if (values[IN_S] > 0 && values[OUT_S] > 0)
        return HAUL_OK;
    if (!self->machine)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "a tile's copies need in_s and out_s, or --machine M");
    return haul_blocked_costs_of(self->machine, &tile, &tile, out, error);
}

/* The request that all rows of a table share. */
typedef struct product_rows {
    const overlap_request *asked;
} product_rows;

static haul_status time_product(void *rows, const char *const *fields, size_t turn,
                                cli_csv_cell *cells, size_t *wrong, haul_error *error)
{
    const overlap_request *self = ((const product_rows *)rows)->asked;
    double values[COLUMNS] = {[A_ON_HOST] = 1, [B_ON_HOST] = 1, [C_ON_HOST] = 1};
    haul_blocked_costs costs;
    (void)turn;
    for (size_t i = 0; i < COLUMNS; i++) {
        *wrong = i;
        if (i >= NEEDED && !*fields[i])
            continue;
        HAUL_TRY(cli_csv_number(fields[i], i <= TILE ? 1 : 0, &values[i], error));
        if (values[i] > INT32_MAX)
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected at most %d, not %g",
                                  INT32_MAX, values[i]);
    }
    values[IN_BUSY_S] = *fields[IN_BUSY_S] ? values[IN_BUSY_S] : values[IN_S];
    values[OUT_BUSY_S] = *fields[OUT_BUSY_S] ? values[OUT_BUSY_S] : values[OUT_S];
    *wrong = IN_S;
    HAUL_TRY(find_costs(self, values, &costs, error));
    const haul_blocked_product product = {.m = (uint64_t)values[M],
                                          .n = (uint64_t)values[N],
                                          .k = (uint64_t)values[K],
                                          .tile = (uint64_t)values[TILE],
                                          .a_on_host = values[A_ON_HOST] > 0,
                                          .b_on_host = values[B_ON_HOST] > 0,
                                          .c_on_host = values[C_ON_HOST] > 0,
                                          .edge_alone = values[EDGE_ALONE],
                                          .out_after_in = values[OUT_AFTER_IN] > 0,
                                          .queue_depth = (unsigned)self->queue_depth,
                                          .back_at_once = self->back_at_once};
    *wrong = M;
    return haul_blocked_time(&product, &costs, &cells[0].number, error);
}

haul_status cli_overlap_products(const overlap_request *self, haul_error *error)
{
    static const char *const columns[] = {
        "m",         "n",         "k",          "tile",         "kernel_s",
        "in_s",      "in_busy_s", "out_s",      "out_busy_s",   "a_on_host",
        "b_on_host", "c_on_host", "edge_alone", "out_after_in", NULL};
    static const char *const added[] = {"seconds", NULL};
    product_rows rows = {self};
    const cli_csv_job job = {columns, NEEDED, added, 1, time_product, &rows};
    return cli_csv_answer(self->csv, &self->given.results, &job, error);
}
