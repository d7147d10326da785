/* The host's access to arrays. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "tile/tile_calls.h"

/* A file and the program's memory outlive their array: what only the other side has goes there. */
void hl_tile_field_close(hl_tile_field *field)
{
    haul_error failure = {.status = HAUL_OK};
    haul_status status = HAUL_OK;
    const bool is_kept = field->file >= 0 || field->is_lent;
    for (int i = 0; is_kept && field->parts && i < field->part_count; i++)
        if (hl_tile_part_fetch(field, i, true, &failure))
            hl_tile_failure_keep(&field->context->queue, &failure);
    if (field->is_wrapped && field->planes_stale)
        status = hl_tile_planes_wrap(field, &failure);
    if (field->is_wrapped && !status)
        status = hl_tile_field_bring(field, &failure);
    if (field->is_wrapped && !status)
        status = hl_tile_field_settle(field, &failure);
    if (status)
        hl_tile_failure_keep(&field->context->queue, &failure);
    hl_tile_field_free(field);
}

static void free_members(haul_array *self)
{
    for (int rank = 0; rank < hl_tile_team_count(self->context->team); rank++)
        if (self->of[rank]) {
            hl_tile_field_free(self->of[rank]->field);
            free(self->of[rank]);
        }
    free(self->of);
}

static haul_status new_members(haul_array *self, const haul_array_spec *spec, haul_error *error)
{
    const int count = hl_tile_team_count(self->context->team);
    haul_array_spec own = *spec;
    haul_status status = HAUL_OK;
    HAUL_TRY(hl_tile_spec_check(spec, error));
    if (spec->file || spec->cells || spec->device_cells)
        return haul_error_set(
            error, HAUL_STATUS_USAGE,
            "an array over several devices cannot be kept in a file, or in memory "
            "of the program's");
    self->spec = *spec;
    self->spec.name = NULL; /* the program's: its arrays have it */
    self->of = calloc((size_t)count, sizeof(haul_array *));
    if (!self->of)
        return hl_base_fail_no_memory(error);
    own.on_all = self->on_all = !hl_tile_array_can_divide(self);
    self->is_blank = true;
    self->exchange_steps = hl_tile_team_context(self->context->team, 0)->options.exchange_steps;
    for (int rank = 0; rank < count; rank++)
        hl_tile_team_context(self->context->team, rank)->memory.exchange_steps =
            self->exchange_steps;
    for (int rank = 0; rank < count && !status; rank++)
        status = haul_array_new(hl_tile_team_context(self->context->team, rank), &own,
                                &self->of[rank], error);
    int made = 0; /* arrays, of all devices as many */
    for (int rank = 0; rank < count; rank++) {
        const int one = hl_tile_team_context(self->context->team, rank)->memory.fields_made;
        made = one > made ? one : made;
    }
    for (int rank = 0; rank < count; rank++)
        hl_tile_team_context(self->context->team, rank)->memory.fields_made = made;
    if (status)
        free_members(self);
    else
        self->field = self->of[0]->field;
    return status;
}

/* An array is a name for a field: haul_array_swap exchanges the fields alone. */
haul_status haul_array_new(haul_context *context, const haul_array_spec *spec, haul_array **array,
                           haul_error *error)
{
    haul_array *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->context = context;
    const haul_status status =
        context->team ? new_members(self, spec, error)
                      : hl_tile_field_new(context, &context->memory, spec, &self->field, error);
    if (status)
        free(self);
    else
        *array = self;
    return status;
}

/* Until no stream of the device uses the host's memory or the ring. */
static haul_status wait_for_streams(haul_context *context, haul_error *error)
{
    haul_stream *const streams[] = {context->streams.up, context->streams.run,
                                    context->streams.down, context->streams.home};
    haul_status status = HAUL_OK;
    for (int i = 0; i < 4; i++)
        if (streams[i]) {
            const haul_status one = haul_stream_wait(streams[i], status ? NULL : error);
            status = status ? status : one;
        }
    return status;
}

/* A failure is the job's. The first device's memory, which others may have borrowed, goes when they
 * have: here it only runs what they may wait for. */
static haul_status free_one(haul_context *context, int rank, void *state, haul_error *error)
{
    const haul_array *array = state;
    if (!rank)
        return hl_tile_queue_run(context, error);
    haul_array_free(array->of[rank]);
    return hl_tile_failure_take(&context->queue.failure, error);
}

static void free_on_all(haul_array *array)
{
    haul_error failure;
    if (hl_tile_team_call(array->context->team, free_one, array, &failure))
        hl_tile_failure_keep(&array->context->queue, &failure);
    haul_array_free(array->of[0]);
    free(array->of);
    free(array);
}

/* Runs the queue where a loop in it uses the array. */
void haul_array_free(haul_array *array)
{
    if (!array)
        return;
    if (array->of) {
        free_on_all(array);
        return;
    }
    haul_context *context = array->context;
    haul_error failure = {.status = HAUL_OK};
    /* processes' queues differ: where one runs its own, all do, for it may wait for them */
    bool is_used = context->options.processes && context->options.processes->count > 1;
    for (size_t i = 0; i < context->queue.count; i++)
        is_used = is_used || hl_tile_step_uses(&context->queue.steps[i], array->field);
    if (is_used && hl_tile_queue_run(context, &failure))
        hl_tile_failure_keep(&context->queue, &failure);
    if (wait_for_streams(context, &failure) && !context->has_failed)
        hl_tile_failure_keep(&context->queue, &failure);
    hl_tile_field_close(array->field);
    free(array);
}

static bool is_same_shape(const hl_tile_field *x, const hl_tile_field *y)
{
    bool is_same = x->context == y->context && x->element == y->element && x->dims == y->dims &&
                   x->whole == y->whole && x->is_ring == y->is_ring &&
                   (x->element_kind == y->element_kind || !x->element_kind || !y->element_kind);
    for (int d = 0; d < 3; d++)
        is_same = is_same && x->size[d] == y->size[d] && x->ghost[d] == y->ghost[d] &&
                  x->boundary[d] == y->boundary[d];
    return is_same;
}

static haul_status rename_file(const char *from, const char *to, haul_error *error)
{
    return rename(from, to) ? haul_error_set(error, HAUL_STATUS_IO,
                                             "cannot rename '%.200s' to '%.200s'", from, to)
                            : HAUL_OK;
}

/* Contents stay in memory that their file is mapped to; the files get each other's names. */
static haul_status swap_files(hl_tile_field *x, hl_tile_field *y, haul_error *error)
{
    if (!x->path != !y->path)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "an array in the file '%.200s' and one in memory cannot be exchanged",
                              x->path ? x->path : y->path);
    if (!x->path || !strcmp(x->path, y->path))
        return HAUL_OK;
    const size_t size = strlen(x->path) + 32;
    char *between = malloc(size);
    if (!between)
        return hl_base_fail_no_memory(error);
    snprintf(between, size, "%s.%ld-swapped", x->path, (long)getpid());
    haul_status status = rename_file(x->path, between, error);
    if (!status) {
        status = rename_file(y->path, x->path, error);
        const haul_status last =
            rename_file(between, status ? x->path : y->path, status ? NULL : error);
        status = status ? status : last;
    }
    free(between);
    if (!status) {
        char *path = x->path;
        x->path = y->path;
        y->path = path;
    }
    return status;
}

/* The arrays are divided alike first. */
static haul_status swap_on_all(haul_array *a, haul_array *b, haul_error *error)
{
    const bool on_all = !hl_tile_array_can_divide(a) || !hl_tile_array_can_divide(b);
    if (a->on_all != b->on_all || a->is_relayed != b->is_relayed) {
        HAUL_TRY(hl_tile_array_spread(a, error));
        HAUL_TRY(hl_tile_array_spread(b, error));
        HAUL_TRY(hl_tile_array_place(a, on_all, error));
        HAUL_TRY(hl_tile_array_place(b, on_all, error));
    }
    for (int rank = 0; rank < hl_tile_team_count(a->context->team); rank++)
        HAUL_TRY(haul_array_swap(a->of[rank], b->of[rank], error));
    const haul_array old = *a;
    a->spec = b->spec;
    a->is_given = b->is_given;
    a->is_blank = b->is_blank;
    a->exchange_steps = b->exchange_steps;
    b->spec = old.spec;
    b->is_given = old.is_given;
    b->is_blank = old.is_blank;
    b->exchange_steps = old.exchange_steps;
    b->spec.boundary_kernel = a->spec.boundary_kernel;
    a->spec.boundary_kernel = old.spec.boundary_kernel;
    a->field = a->of[0]->field;
    b->field = b->of[0]->field;
    return HAUL_OK;
}

/* Moves no contents: loops that are queued keep the fields that they were given. Files and boundary
 * kernels stay the arrays'. */
haul_status haul_array_swap(haul_array *a, haul_array *b, haul_error *error)
{
    if (a->of && b->of && a->context == b->context)
        return swap_on_all(a, b, error);
    if (!is_same_shape(a->field, b->field))
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "arrays of different shapes cannot be exchanged");
    if (a->field->is_lent != b->field->is_lent || a->field->is_wrapped != b->field->is_wrapped)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "an array in the program's memory and one that is not cannot be "
                              "exchanged");
    HAUL_TRY(swap_files(a->field, b->field, error));
    hl_tile_field *field = a->field, *other = b->field;
    const haul_kernel_source *kernel = field->boundary_kernel;
    /* Cells beyond the edges are the array's own kernel's: set again before they are read. */
    if (kernel != other->boundary_kernel) {
        field->boundary_kernel = other->boundary_kernel;
        other->boundary_kernel = kernel;
        hl_tile_field_given(field);
        hl_tile_field_given(other);
    }
    a->field = other;
    b->field = field;
    return HAUL_OK;
}

/* The last queued step that uses the array copies nothing back; where there is none, what the host
 * has will do. Cells beyond the edges that a loop wrote are only on the device: they stay. */
void haul_array_discard(haul_array *array)
{
    for (int rank = 0; array->of && rank < hl_tile_team_count(array->context->team); rank++)
        haul_array_discard(array->of[rank]);
    if (array->of)
        return;
    haul_context *context = array->context;
    hl_tile_field *field = array->field;
    if (field->ghosts_written)
        return;
    field->is_discarded = context->is_checked;
    for (size_t i = context->queue.count; i > 0; i--) {
        hl_tile_step *step = &context->queue.steps[i - 1];
        for (unsigned u = 0; u < step->use_count; u++)
            if (step->uses[u].field == field)
                step->uses[u].is_last = true;
        if (hl_tile_step_uses(step, field))
            return;
    }
    field->is_doubtful = true;
    for (int i = 0; field->parts && i < field->part_count; i++)
        field->parts[i].on_host = true;
}

/* Runs what is queued. A failure that concerns the array has been told then, and is not again. */
static haul_status run_for(haul_array *array, bool is_read, haul_error *error)
{
    hl_tile_field *field = array->field;
    const haul_status status = hl_tile_queue_run(array->context, error);
    if (!status)
        return is_read ? hl_tile_failure_take(&field->failure, error) : HAUL_OK;
    if (is_read)
        field->failure.status = HAUL_OK;
    return status;
}

/* A call on all devices' arrays. */
typedef struct array_call {
    haul_array *array;
    haul_use use;
    void *cells;
} array_call;

static haul_status divide_one(haul_context *context, int rank, void *state, haul_error *error)
{
    const array_call *call = state;
    HAUL_TRY(run_for(call->array->of[rank], call->use & HAUL_USE_READ, error));
    return hl_tile_fields_divide(&context->memory, error);
}

/* The devices that have a part of the array. */
static int owners_of(const haul_array *array)
{
    return array->on_all ? 1 : hl_tile_team_count(array->context->team);
}

static int count_regions(const haul_array *array)
{
    int regions = 0;
    for (int rank = 0; rank < owners_of(array); rank++)
        regions += array->of[rank]->field->part_count;
    return regions;
}

static int regions_of_all(haul_array *array)
{
    haul_error failure;
    array_call call = {.array = array};
    if (hl_tile_on_all(array->context, divide_one, &call, &failure)) {
        hl_tile_failure_keep(&array->context->queue, &failure);
        return 0;
    }
    return count_regions(array);
}

int haul_array_regions(haul_array *array)
{
    haul_error failure = {.status = HAUL_OK};
    if (array->of)
        return regions_of_all(array);
    if (hl_tile_queue_run(array->context, &failure) ||
        hl_tile_fields_divide(&array->context->memory, &failure)) {
        hl_tile_failure_keep(&array->context->queue, &failure);
        return 0;
    }
    return array->field->part_count;
}

/* Runs what is queued, but waits only for the region's own work. A write makes the device's copy
 * stale, and with it all cells beyond the edges. */
static haul_status access_part(haul_array *array, int index, haul_use use, bool is_compared,
                               haul_region *region, haul_error *error)
{
    hl_tile_field *field = array->field;
    if (use < HAUL_USE_READ || use > HAUL_USE_BOTH)
        return haul_error_set(error, HAUL_STATUS_USAGE, "unknown use %d of a region", (int)use);
    haul_status status = run_for(array, use & HAUL_USE_READ, error);
    if (!status && field->is_stuck)
        status = haul_error_set(error, HAUL_STATUS_DEVICE_FAILED,
                                "the array is lost: a loop that ran out of time still uses it");
    if (!status)
        status = hl_tile_fields_divide(&array->context->memory, error);
    if (!status && (index < 0 || index >= field->part_count))
        status = haul_error_set(error, HAUL_STATUS_USAGE, "there is no region %d: the array has %d",
                                index, field->part_count);
    if (!status && field->planes_stale)
        status = hl_tile_planes_wrap(field, error);
    if (!status)
        status = hl_tile_part_fetch(field, index, use & HAUL_USE_READ, error);
    if (!status && is_compared && (use & HAUL_USE_READ))
        status = hl_tile_checked_compare(field, index, error);
    array->context->has_failed = array->context->has_failed || status > HAUL_STATUS_ABSENT;
    if (status)
        return status;
    const int first = hl_tile_shown_begin(field, index);
    if (use & HAUL_USE_WRITE) {
        field->parts[index].on_host = true;
        field->parts[index].on_device = false;
        hl_tile_field_given(field);
        field->frame_stale = true;
        field->parts[index].is_given = true;
        field->is_discarded = false;
    }
    const uint64_t offset =
        hl_tile_field_offset(field, first) + (uint64_t)field->lead * field->element;
    *region = (haul_region){
        .cells = array->context->memory.without_data ? NULL : field->host + offset,
        .row = field->row,
        .plane = field->plane,
        .first = field->first + first,
        .end = field->first + hl_tile_shown_end(field, index),
        .owner = array->context->options.processes
                     ? (unsigned)array->context->options.processes->rank
                     : 0,
    };
    return HAUL_OK;
}

/* Planes of neighbours are none of a device's own regions. */
static void hide_neighbours(const haul_array *array, int rank, int part, haul_region *region)
{
    const hl_tile_field *field = array->of[rank]->field;
    const int owners = owners_of(array), ghost = field->ghost[field->dims - 1];
    if (rank && !part) {
        region->first += ghost;
        if (region->cells)
            region->cells = (char *)region->cells + (uint64_t)ghost * field->plane_bytes;
    }
    if (rank + 1 < owners && part + 1 == field->part_count)
        region->end -= ghost;
    region->owner = 0;
}

/* All devices have run what was queued: the region's own does the rest. Cells that the host sets
 * are then sent to the neighbours, which all have to know. */
static haul_status access_on_one(haul_array *array, int index, haul_use use, haul_region *region,
                                 haul_error *error)
{
    array_call call = {.array = array, .use = use};
    int rank = 0, part = index;
    HAUL_TRY(hl_tile_on_all(array->context, divide_one, &call, error));
    if (index < 0 || index >= count_regions(array))
        return haul_error_set(error, HAUL_STATUS_USAGE, "there is no region %d: the array has %d",
                              index, count_regions(array));
    while (part >= array->of[rank]->field->part_count)
        part -= array->of[rank++]->field->part_count;
    const haul_status status = access_part(array->of[rank], part, use, true, region, error);
    hl_tile_team_join_clocks(array->context->team);
    if (status)
        return status;
    hide_neighbours(array, rank, part, region);
    array->is_blank = array->is_blank && !(use & HAUL_USE_WRITE);
    for (int i = 0; i < owners_of(array) && (use & HAUL_USE_WRITE); i++) {
        hl_tile_field_given(array->of[i]->field);
        array->of[i]->field->is_discarded = false;
    }
    array->is_given = array->is_given || (array->on_all && (use & HAUL_USE_WRITE));
    return HAUL_OK;
}

haul_status haul_array_access(haul_array *array, int index, haul_use use, haul_region *region,
                              haul_error *error)
{
    if (array->of)
        return access_on_one(array, index, use, region, error);
    return access_part(array, index, use, true, region, error);
}

/* The rows of a region's cells, one after another, to or from `cells`. */
static void copy_rows(const hl_tile_field *field, const haul_region *region, char *cells,
                      bool to_array)
{
    const uint64_t row = (uint64_t)(field->dims > 1 ? field->size[0] : 1) * field->element;
    const int rows = field->dims == 3 ? field->size[1] : 1;
    const int own_end = field->first + field->length;
    const int last = region->end < own_end ? region->end : own_end;
    for (int z = region->first < field->first ? field->first : region->first; z < last; z++)
        for (int y = 0; y < rows; y++) {
            char *at =
                (char *)region->cells +
                ((z - region->first) * region->plane + y * region->row) * (int64_t)field->element;
            char *other = cells + ((uint64_t)z * (uint64_t)rows + (uint64_t)y) * row;
            memcpy(to_array ? at : other, to_array ? other : at, row);
        }
}

/* All cells but those beyond the edges will be set. Where those are lost with a device, which then
 * copies nothing more, they are as the host last had them. */
static haul_status access_to_set(haul_array *array, int index, haul_region *region,
                                 haul_error *error)
{
    hl_tile_field *field = array->field;
    hl_tile_part *part = &field->parts[index];
    part->on_host = part->on_host || !part->on_device;
    const haul_status status = access_part(array, index, HAUL_USE_BOTH, false, region, error);
    if (status != HAUL_STATUS_DEVICE_FAILED || field->is_stuck)
        return status;
    part->on_host = true;
    part->on_device = part->is_leaving = field->planes_stale = false;
    return access_part(array, index, HAUL_USE_WRITE, false, region, error);
}

/* Region by region: the copy of one needs no other to be on the host. */
static haul_status copy_all(haul_array *array, char *cells, haul_use use, haul_error *error)
{
    const bool is_written = use & HAUL_USE_WRITE;
    haul_region region;
    array->context->choice.wanted = is_written ? NULL : array->field;
    haul_status status = run_for(array, !is_written, error);
    array->context->choice.wanted = NULL;
    if (is_written && !status)
        array->field->failure.status = array->field->is_doubtful =
            HAUL_OK; /* what it was to hold is of no use */
    const int count = status ? 0 : haul_array_regions(array);
    for (int i = 0; i < count && !status; i++) {
        status = is_written ? access_to_set(array, i, &region, error)
                            : haul_array_access(array, i, use, &region, error);
        if (!status && region.cells)
            copy_rows(array->field, &region, cells, use & HAUL_USE_WRITE);
    }
    if (!status && !(use & HAUL_USE_WRITE) && hl_tile_is_divided(array->field))
        status = hl_tile_planes_gather(array->field, cells, error);
    return status;
}

/* Each device's planes go to or from the same memory. Of an array that all have the first one's are
 * read: the host may have set them. */
static haul_status copy_one(haul_context *context, int rank, void *state, haul_error *error)
{
    const array_call *call = state;
    haul_array *array = call->array->of[rank];
    (void)context;
    if (rank >= owners_of(call->array) &&
        (!(call->use & HAUL_USE_WRITE) || call->array->is_relayed))
        return run_for(array, true, error);
    return copy_all(array, call->cells, call->use, error);
}

static haul_status copy_on_all(haul_array *array, void *cells, haul_use use, haul_error *error)
{
    array_call call = {array, use, cells};
    if (use & HAUL_USE_WRITE)
        HAUL_TRY(hl_tile_array_spread(array, error));
    array->is_blank = array->is_blank && !(use & HAUL_USE_WRITE);
    array->is_given = array->is_given || (array->is_relayed && (use & HAUL_USE_WRITE));
    return hl_tile_on_all(array->context, copy_one, &call, error);
}

haul_status haul_array_read(haul_array *array, void *cells, haul_error *error)
{
    if (array->of)
        return copy_on_all(array, cells, HAUL_USE_READ, error);
    return copy_all(array, cells, HAUL_USE_READ, error);
}

haul_status haul_array_write(haul_array *array, const void *cells, haul_error *error)
{
    if (array->of)
        return copy_on_all(array, (void *)cells, HAUL_USE_BOTH, error);
    return copy_all(array, (char *)cells, HAUL_USE_BOTH, error); /* ghosts stay */
}
