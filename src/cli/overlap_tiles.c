#include "cli/overlap_tiles.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "haul/overlap.h"
#include "haul/units.h"

/* The options, read. */
typedef struct plan {
    bool is_stencil;
    bool back_at_once;
    uint64_t size[3];
    uint64_t tile[2];
    uint64_t element;
    uint64_t halo;
    uint64_t queue_depth;
    double kernel_s;
} plan;

/* "4096x1024": `count` numbers from 1 to 2^31. */
static haul_status read_sizes(const char *option, const char *text, uint64_t *sizes, int count,
                              haul_error *error)
{
    const char *at = text ? text : "";
    for (int i = 0; i < count; i++) {
        char *end = NULL;
        const unsigned long long size = strtoull(at, &end, 10);
        const bool is_last = i + 1 == count;
        if (*at < '0' || *at > '9' || !size || size > INT32_MAX || *end != (is_last ? '\0' : 'x'))
            return haul_fail(error, HAUL_USAGE, "--%s: expected %s, not '%.40s'", option,
                             count == 3   ? "three numbers such as 4096x4096x4096"
                             : count == 2 ? "two numbers such as 4096x1024"
                                          : "a number from 1 on",
                             text ? text : "");
        sizes[i] = size;
        at = end + 1;
    }
    return HAUL_OK;
}

static haul_status read_count(const char *option, const char *text, uint64_t *count,
                              haul_error *error)
{
    if (text && !strcmp(text, "0")) {
        *count = 0;
        return HAUL_OK;
    }
    return text ? read_sizes(option, text, count, 1, error) : HAUL_OK;
}

/* One of two words; `is_second` stays where none is given. */
static haul_status read_word(const char *option, const char *text, const char *const words[2],
                             bool *is_second, haul_error *error)
{
    if (text && strcmp(text, words[0]) != 0 && strcmp(text, words[1]) != 0)
        return haul_fail(error, HAUL_USAGE, "--%s: expected %s or %s, not '%.40s'", option,
                         words[0], words[1], text);
    if (text)
        *is_second = !strcmp(text, words[1]);
    return HAUL_OK;
}

static haul_status read_plan(const tiles_options *options, plan *self, haul_error *error)
{
    static const char *const kinds[] = {"product", "stencil"};
    static const char *const orders[] = {"breadth", "depth"};
    *self = (plan){.element = 8, .halo = 1};
    haul_status status = read_word("tiles", options->tiles, kinds, &self->is_stencil, error);
    if (!status)
        status = read_word("order", options->order, orders, &self->back_at_once, error);
    if (!status)
        status = read_sizes("size", options->size, self->size, self->is_stencil ? 2 : 3, error);
    if (!status)
        status = read_sizes("tile", options->tile, self->tile, self->is_stencil ? 2 : 1, error);
    if (!status)
        status = read_count("element", options->element, &self->element, error);
    if (!status)
        status = read_count("halo", options->halo, &self->halo, error);
    if (!status)
        status = read_count("queue", options->queue, &self->queue_depth, error);
    if (!status && haul_quantity_parse(options->kernel, HAUL_DIM_SECONDS, &self->kernel_s, error))
        status = error->status = HAUL_USAGE;
    return status;
}

static haul_status make_product(const plan *self, const haul_machine *machine,
                                haul_tiles_report *report, haul_workload **workload,
                                haul_timeline_device *device, haul_error *error)
{
    const uint64_t side = self->tile[0];
    const haul_blocked_tile tile = {side, side * self->element, self->size[1] * self->element,
                                    self->kernel_s};
    const haul_blocked_product product = {
        .m = self->size[0],
        .n = self->size[1],
        .k = self->size[2],
        .tile = side,
        .a_on_host = true,
        .b_on_host = true,
        .c_on_host = true,
        .queue_depth = (unsigned)self->queue_depth,
        .back_at_once = self->back_at_once,
    };
    const haul_status status = haul_blocked_costs_of(machine, &tile, &tile, &report->costs, error);
    return status ? status
                  : haul_blocked_workload(&product, &report->costs, workload, device, error);
}

static haul_status make_stencil(const plan *self, const haul_machine *machine,
                                haul_tiles_report *report, haul_workload **workload,
                                haul_timeline_device *device, haul_error *error)
{
    const uint64_t rows = self->tile[0], columns = self->tile[1];
    const uint64_t pitch = (self->size[1] + 2 * self->halo) * self->element;
    const haul_blocked_tile out = {rows, columns * self->element,
                                   columns == self->size[1] ? columns * self->element : pitch,
                                   self->kernel_s};
    const haul_blocked_tile in = {rows + 2 * self->halo, (columns + 2 * self->halo) * self->element,
                                  pitch, self->kernel_s};
    const haul_blocked_stencil stencil = {
        .rows = self->size[0],
        .columns = self->size[1],
        .tile_rows = rows,
        .tile_columns = columns,
        .queue_depth = (unsigned)self->queue_depth,
        .back_at_once = self->back_at_once,
    };
    const haul_status status = haul_blocked_costs_of(machine, &in, &out, &report->costs, error);
    return status
               ? status
               : haul_blocked_stencil_workload(&stencil, &report->costs, workload, device, error);
}

haul_status cli_overlap_tiles(const tiles_options *options, const haul_machine *machine,
                              const cli_results *results, haul_error *error)
{
    plan self;
    haul_status status = read_plan(options, &self, error);
    if (status)
        return status;
    haul_tiles_report report = {.machine = machine,
                                .kind = self.is_stencil ? "stencil" : "product",
                                .queue_depth = (uint32_t)self.queue_depth};
    haul_workload *workload = NULL;
    haul_timeline *timeline = NULL;
    haul_timeline_options run = {.release = HAUL_RELEASE_HOST};
    status = (self.is_stencil ? make_stencil : make_product)(&self, machine, &report, &workload,
                                                             &run.device, error);
    if (!status)
        status = haul_timeline_run(workload, &run, &timeline, error);
    report.workload = workload;
    report.timeline = timeline;
    if (!status)
        status = cli_report(results, haul_report_tiles(&report), error);
    haul_timeline_free(timeline);
    haul_workload_free(workload);
    return status;
}
