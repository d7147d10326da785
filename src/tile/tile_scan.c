/* Compaction by a scan, on the device that has the arrays, else by the host's threads: groups count
 * the cells that are kept, the host adds up the groups' counts, and the groups move their cells to
 * where those before them end. */
#include <limits.h>
#include <stdlib.h>

#include "base/fail.h"
#include "device/host_work.h"
#include "haul/device_backend.h"
#include "tile/tile_calls.h"
#include "tile/tile_scan.kernel.h"

/* All of it, so that nothing is brought. */
static bool is_on_device(const hl_tile_field *field)
{
    bool is_there =
        field->ring && field->part_count && !field->is_stuck && hl_tile_field_is_all_there(field);
    for (int i = 0; i < field->part_count; i++)
        is_there = is_there && field->parts[i].on_device;
    return is_there;
}

/* Whether rings for all arrays can be had without others being brought home. */
static bool has_room(const hl_tile_memory *memory)
{
    uint64_t needed = 0;
    for (const hl_tile_field *field = memory->fields; field; field = field->next)
        needed += field->is_wrapped ? 0 : field->host_bytes;
    return needed <= memory->budget;
}

static haul_status can_scan(haul_array *from, haul_array *flags, haul_array *to, bool *can,
                            haul_error *error)
{
    haul_context *context = from->context;
    *can = !context->memory.is_host && !context->is_checked && is_on_device(from->field) &&
           is_on_device(flags->field);
    if (!to || !*can)
        return HAUL_OK;
    if (!to->field->ring && has_room(&context->memory))
        HAUL_TRY(hl_tile_rings_ensure(context, NULL, 0, NULL, error));
    *can = to->field->ring && to->field->part_count && !to->field->is_stuck &&
           hl_tile_field_is_all_there(to->field) && is_on_device(from->field) &&
           is_on_device(flags->field);
    return HAUL_OK;
}

static scan_place place_of(const hl_tile_field *field)
{
    return (scan_place){
        .first = field->edge * field->plane + field->lead,
        .plane = field->dims > 1 ? field->plane : 0,
        .row = field->dims == 3 ? field->row : 0,
        .length = field->dims > 1 ? field->size[0] : field->length,
        .rows = field->dims == 3 ? field->size[1] : 1,
    };
}

static int unit_of(const hl_tile_field *field)
{
    return field->element % 4 == 0 ? 4 : 1;
}

haul_status hl_tile_scan_check_room(const hl_tile_field *to, uint64_t found, haul_error *error)
{
    const uint64_t room = (uint64_t)hl_tile_field_cells(to);
    return found > room
               ? haul_error_set(error, HAUL_STATUS_USAGE,
                                "%llu cells are kept, more than the %llu of the array for them",
                                (unsigned long long)found, (unsigned long long)room)
               : HAUL_OK;
}

/* The arrays, and where both kernels find them: in rings, or in the host's memory, which then has
 * the form of buffers. */
typedef struct scan {
    haul_context *context;
    haul_array *flags, *from, *to; /* the last NULL: cells are counted alone */
    bool is_host;
    scan_shape shape;
    haul_buffer *buffers[4]; /* of flags, from, to, and the groups' counts */
    haul_buffer of_host[4];  /* of the host */
    long *counts;            /* of groups; then the kept cells of those before each */
    int groups;
} scan;

enum { FLAGS, FROM, TO, COUNTS };

/* Needs: on the host, that it has the cells, so many of the array's first. */
static haul_status take_array(scan *self, int which, haul_array *array, haul_use use,
                              uint64_t cells, haul_error *error)
{
    hl_tile_field *field = array->field;
    if (!self->is_host) {
        HAUL_TRY(hl_tile_failure_take(&field->failure, error));
        HAUL_TRY(hl_tile_field_lend(field, use, error));
        self->buffers[which] = field->ring;
        return HAUL_OK;
    }
    const uint64_t plane = (uint64_t)(field->dims > 1 ? field->size[0] : 1) *
                           (uint64_t)(field->dims == 3 ? field->size[1] : 1);
    haul_region region = {.end = 0};
    for (int i = 0; (uint64_t)region.end * plane < cells; i++)
        HAUL_TRY(haul_array_access(array, i, use, &region, error));
    self->of_host[which].host = field->host;
    return HAUL_OK;
}

static void *address_on_host(const haul_buffer *buffer)
{
    return buffer->host;
}

static haul_status launch_groups(const scan *self, const haul_kernel_source *kernel,
                                 const haul_launch *launch, haul_error *error)
{
    hl_device_host_task task;
    if (!self->is_host)
        return hl_tile_launch(self->context, kernel, launch, error);
    HAUL_TRY(hl_device_host_task_kernel(kernel, launch, address_on_host, &task, error));
    hl_device_host_task_run(&task);
    return HAUL_OK;
}

static haul_status count_groups(const scan *self, haul_error *error)
{
    static const haul_kernel_source *const kernels[] = {&hl_tile_scan_count_1,
                                                        &hl_tile_scan_count_4};
    const haul_argument arguments[] = {{.buffer = self->buffers[FLAGS]},
                                       {.buffer = self->buffers[COUNTS]},
                                       {.value = &self->shape}};
    const haul_launch launch = {
        .box = {{0}, {self->groups, 1, 1}},
        .arguments = arguments,
        .argument_count = 3,
        .bytes = (double)self->shape.cells * (double)self->flags->field->element,
    };
    const haul_transfer transfer = {.to = haul_in_host(self->counts),
                                    .from = haul_in_buffer(self->buffers[COUNTS], 0),
                                    .size = {(uint64_t)self->groups * sizeof(long)}};
    HAUL_TRY(launch_groups(self, kernels[unit_of(self->flags->field) == 4], &launch, error));
    if (self->is_host)
        return HAUL_OK;
    HAUL_TRY(hl_tile_copy(self->context, self->context->streams.run, &transfer, error));
    return hl_tile_host_wait(self->context, self->context->streams.run, error);
}

/* Returns the cells that are kept; `groups` are as many as have some, up to the last of those. */
static uint64_t add_up(scan *self)
{
    uint64_t found = 0;
    int last = 0;
    for (int i = 0; i < self->groups; i++) {
        const long kept = self->counts[i];
        last = kept ? i + 1 : last;
        self->counts[i] = (long)found;
        found += (uint64_t)kept;
    }
    self->groups = last;
    return found;
}

static haul_status move_cells(scan *self, uint64_t found, haul_error *error)
{
    static const haul_kernel_source *const kernels[2][2] = {
        {&hl_tile_scan_move_1_1, &hl_tile_scan_move_1_4},
        {&hl_tile_scan_move_4_1, &hl_tile_scan_move_4_4}};
    const bool flag_by_4 = unit_of(self->flags->field) == 4, by_4 = unit_of(self->from->field) == 4;
    const int64_t end = (int64_t)self->groups * GROUP;
    HAUL_TRY(take_array(self, FROM, self->from, HAUL_USE_READ,
                        (uint64_t)(end < self->shape.cells ? end : self->shape.cells), error));
    HAUL_TRY(take_array(self, TO, self->to, HAUL_USE_BOTH, found, error));
    self->shape.to = place_of(self->to->field);
    if (!self->is_host)
        HAUL_TRY(hl_tile_upload(self->context, self->buffers[COUNTS], self->counts,
                                (uint64_t)self->groups * sizeof(long), error));
    const haul_argument arguments[] = {{.buffer = self->buffers[FLAGS]},
                                       {.buffer = self->buffers[FROM]},
                                       {.buffer = self->buffers[TO]},
                                       {.buffer = self->buffers[COUNTS]},
                                       {.value = &self->shape}};
    const haul_launch launch = {
        .box = {{0}, {self->groups, 1, 1}},
        .arguments = arguments,
        .argument_count = 5,
        .bytes = (double)self->shape.cells * (double)self->flags->field->element +
                 2.0 * (double)found * (double)self->from->field->element,
    };
    HAUL_TRY(launch_groups(self, kernels[flag_by_4][by_4], &launch, error));
    return self->is_host ? HAUL_OK
                         : hl_tile_host_wait(self->context, self->context->streams.run, error);
}

static haul_status run_scan(scan *self, uint64_t *found, haul_error *error)
{
    const hl_tile_field *flags = self->flags->field, *from = self->from->field;
    HAUL_TRY(
        take_array(self, FLAGS, self->flags, HAUL_USE_READ, (uint64_t)self->shape.cells, error));
    self->shape.flags = place_of(flags);
    self->shape.from = place_of(from);
    self->shape.flag_units = (int)(flags->element / (unsigned)unit_of(flags));
    self->shape.units = (int)(from->element / (unsigned)unit_of(from));
    HAUL_TRY(count_groups(self, error));
    *found = add_up(self);
    if (!self->to || !*found)
        return HAUL_OK;
    HAUL_TRY(hl_tile_scan_check_room(self->to->field, *found, error));
    return move_cells(self, *found, error);
}

/* Where the device has no memory for the counts, the host does it. */
static haul_status choose_side(scan *self, uint64_t bytes, haul_error *error)
{
    bool can;
    haul_status status = can_scan(self->from, self->flags, self->to, &can, error);
    if (!status && can)
        status = haul_buffer_new(self->context->memory.device, HAUL_BUFFER_DEVICE, bytes,
                                 &self->buffers[COUNTS], error);
    if (status && status != HAUL_STATUS_DEVICE_FULL)
        return status;
    self->is_host = !can || status;
    for (int i = 0; i < 4 && self->is_host; i++)
        self->buffers[i] = &self->of_host[i];
    self->of_host[COUNTS].host = self->counts;
    return HAUL_OK;
}

haul_status hl_tile_scan(haul_array *from, haul_array *flags, haul_array *to, int64_t cells,
                         uint64_t *found, haul_error *error)
{
    const int64_t groups = (cells + GROUP - 1) / GROUP;
    const uint64_t bytes = (uint64_t)groups * sizeof(long);
    scan self = {.context = from->context,
                 .flags = flags,
                 .from = from,
                 .to = to,
                 .shape = {.cells = (long)cells},
                 .groups = (int)groups};
    *found = 0;
    if (!cells)
        return HAUL_OK;
    if (groups > INT_MAX)
        return haul_error_set(error, HAUL_STATUS_USAGE, "%lld cells are too many to compact",
                              (long long)cells);
    self.counts = malloc(bytes);
    if (!self.counts)
        return hl_base_fail_no_memory(error);
    haul_status status = choose_side(&self, bytes, error);
    if (!status)
        status = run_scan(&self, found, error);
    self.context->has_failed = self.context->has_failed || status > HAUL_STATUS_ABSENT;
    if (!self.is_host)
        haul_buffer_free(self.buffers[COUNTS]);
    free(self.counts);
    return status;
}
