/* Arrays: their layout in memory, their regions, and the host's access to them. Planes follow each
 * other without ghost planes between regions: neighbours share their edge planes, so that an array
 * takes no more memory than its cells and its own edges. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_parts.h"

/* Bytes of a cache line and of a page. */
enum { LINE = 64, PAGE = 4096 };

static int64_t rounded_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

/* Indices, also those of cells beyond the edges, are ints: half of INT_MAX leaves room for sums of
 * two. */
static haul_status check_spec(const haul_array_spec *spec, haul_error *error)
{
    for (int d = 0; d < 3; d++) {
        const int64_t whole = (int64_t)spec->size[d] + 2 * (int64_t)spec->ghost[d];
        if (spec->size[d] < 0 || spec->ghost[d] < 0 || whole > INT_MAX / 2)
            return haul_fail(
                error, HAUL_USAGE,
                "an array of size %d with %d cells beyond each edge: together they are "
                "0 to %d",
                spec->size[d], spec->ghost[d], INT_MAX / 2);
        if (d && spec->size[d] && !spec->size[d - 1])
            return haul_fail(error, HAUL_USAGE,
                             "an array of size %d in dimension %d has size 0 in dimension %d",
                             spec->size[d], d, d - 1);
        if ((unsigned)spec->boundary[d] > HAUL_BOUNDARY_PERIODIC)
            return haul_fail(error, HAUL_USAGE, "unknown boundary %d", (int)spec->boundary[d]);
        if (spec->boundary[d] == HAUL_BOUNDARY_PERIODIC && spec->size[d] < spec->ghost[d])
            return haul_fail(error, HAUL_USAGE,
                             "a periodic array of size %d has %d cells beyond its edges",
                             spec->size[d], spec->ghost[d]);
    }
    if (spec->region < 0)
        return haul_fail(error, HAUL_USAGE, "a region of %d planes", spec->region);
    return HAUL_OK;
}

/* Rows begin at a cache line. The cells left and right of neighbouring rows of a plane share the
 * gap between them. A plane ends with a gap of its own: planes are copied by themselves. */
static bool lay_out(haul_field *self)
{
    const int64_t unit = LINE % self->element ? 1 : LINE / (int64_t)self->element;
    const int64_t gap = rounded_up(2 * (int64_t)self->ghost[0], unit);
    const int *size = self->size, *ghost = self->ghost;
    self->row = gap + rounded_up(size[0], unit) + (self->dims == 2 ? gap : 0);
    if (self->row * (int64_t)self->element % PAGE == 0)
        self->row +=
            unit; /* rows of a multiple of a page would fall on the same lines of a cache */
    if (self->dims == 1) {
        self->plane = 1;
        self->lead = 0;
    } else if (self->dims == 2) {
        self->plane = self->row;
        self->lead = gap;
    } else {
        if (__builtin_mul_overflow(self->row, (int64_t)size[1] + 2 * (int64_t)ghost[1],
                                   &self->plane) ||
            __builtin_add_overflow(self->plane, gap, &self->plane))
            return false;
        self->lead = gap + ghost[1] * self->row;
        self->gap = gap;
    }
    const uint64_t planes = (uint64_t)self->length + 2 * (uint64_t)self->edge;
    return !__builtin_mul_overflow((uint64_t)self->plane, self->element, &self->plane_bytes) &&
           !__builtin_mul_overflow(planes, self->plane_bytes, &self->host_bytes) &&
           self->host_bytes < INT64_MAX / 2;
}

/* A new or empty file becomes the array's, full of zeros. One of another size is refused: it is
 * most likely another array's. */
static haul_status map_file(haul_field *self, const char *path, haul_error *error)
{
    struct stat found;
    self->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (self->file < 0 || fstat(self->file, &found))
        return haul_fail_open(error, path);
    const bool is_new = !found.st_size;
    if (!is_new && (uint64_t)found.st_size != self->host_bytes)
        return haul_fail(error, HAUL_BAD_INPUT, "'%.200s' has %lld bytes, its array %llu", path,
                         (long long)found.st_size, (unsigned long long)self->host_bytes);
    /* a page that the disk has no room for would end the program when it is first written */
    const int result = posix_fallocate(self->file, 0, (off_t)self->host_bytes);
    if (result && is_new)
        (void)!ftruncate(self->file, 0);
    errno = result;
    return result ? haul_fail_extend(error, path) : HAUL_OK;
}

/* Reserves address space; the system gives pages when they are first touched. Memory is page-locked
 * only where a device copies it. A file's pages are not: the system may write them out. */
static haul_status allocate(haul_field *self, const char *path, haul_error *error)
{
    haul_device *device = self->context->device;
    const bool is_empty = self->context->without_data; /* addresses without memory behind them */
    if (!self->host_bytes)
        return HAUL_OK;
    haul_status status = path && !is_empty ? map_file(self, path, error) : HAUL_OK;
    if (status)
        return status;
    void *host = mmap(NULL, self->host_bytes, is_empty ? PROT_NONE : PROT_READ | PROT_WRITE,
                      self->file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      self->file, 0);
    if (host == MAP_FAILED)
        return haul_fail(error, HAUL_NO_MEMORY, "no memory for an array of %llu bytes",
                         (unsigned long long)self->host_bytes);
    self->host = host;
    if (!path) /* fewer misses of the TLB: 10 to 40 % on stencils */
        (void)madvise(host, self->host_bytes, MADV_HUGEPAGE);
    const bool is_pinned = !self->context->is_host && !path &&
                           device->properties.can & HAUL_CAN_PIN && !device->properties.is_host;
    return is_pinned ? haul_buffer_pin(device, host, self->host_bytes, &self->pinned, error)
                     : HAUL_OK;
}

/* A periodic or copied edge begins stale, so that the first loop that reads it sets it. On failure
 * what was made is freed here. */
haul_status haul_field_new(haul_context *context, const haul_array_spec *spec, haul_field **field,
                           haul_error *error)
{
    haul_status status = check_spec(spec, error);
    if (status)
        return status;
    haul_field *self = calloc(1, sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    *self = (haul_field){
        .context = context,
        .element = spec->element_bytes ? spec->element_bytes : sizeof(double),
        .boundary_kernel = spec->boundary_kernel,
        .region = spec->region ? spec->region : context->options.region,
        .region_given = spec->region || context->options.region,
        .file = -1,
        .frame_stale = true,
    };
    self->dims = spec->size[2] ? 3 : spec->size[1] ? 2 : 1;
    for (int d = 0; d < 3; d++) {
        self->size[d] = d < self->dims ? spec->size[d] : 1;
        self->ghost[d] = d < self->dims ? spec->ghost[d] : 0;
        self->boundary[d] = spec->boundary[d];
    }
    self->length = self->size[self->dims - 1];
    self->edge = self->ghost[self->dims - 1];
    self->ghosts_stale = true;
    self->number = context->fields_made++;
    status = haul_field_share(self, spec->on_all, error);
    if (!status && !lay_out(self))
        status = haul_fail(error, HAUL_USAGE, "an array larger than any memory");
    self->slot_bytes = self->plane_bytes;
    if (!status)
        status = allocate(self, spec->file, error);
    if (status) {
        haul_field_free(self);
        return status;
    }
    self->next = context->fields;
    context->fields = self;
    context->counts.host_bytes += self->host_bytes;
    *field = self;
    return HAUL_OK;
}

/* Needs: no queued work uses the field. Also frees fields that are half made, which are not in the
 * list. */
void haul_field_free(haul_field *field)
{
    haul_context *context = field->context;
    for (haul_field **at = &context->fields; *at; at = &(*at)->next)
        if (*at == field) {
            *at = field->next;
            context->counts.host_bytes -= field->host_bytes;
            break;
        }
    if (field->ring)
        context->counts.device_bytes -= haul_buffer_bytes(field->ring);
    haul_buffer_free(field->ring);
    haul_buffer_free(field->frame);
    haul_buffer_free(field->rows);
    haul_buffer_free(field->ghost_list);
    haul_buffer_free(field->pinned);
    if (field->host)
        munmap(field->host, field->host_bytes);
    if (field->file >= 0)
        close(field->file);
    free(field->parts);
    free(field);
}

/* An array is a name for a field: haul_swap exchanges the fields alone. */
haul_status haul_array_new(haul_context *context, const haul_array_spec *spec, haul_array **array,
                           haul_error *error)
{
    haul_array *self = calloc(1, sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    self->context = context;
    const haul_status status = haul_field_new(context, spec, &self->field, error);
    if (status)
        free(self);
    else
        *array = self;
    return status;
}

/* Waits only where a queued loop uses it or the device may. */
void haul_array_free(haul_array *array)
{
    if (!array)
        return;
    haul_context *context = array->context;
    bool is_used = false;
    for (size_t i = 0; i < context->step_count; i++)
        is_used = is_used || haul_step_uses(&context->steps[i], array->field);
    if (is_used)
        (void)haul_context_wait(context, NULL);
    else if (context->run)
        (void)haul_stream_wait(context->run, NULL);
    haul_field_free(array->field);
    free(array);
}

/* Costs nothing: loops that are queued keep the fields that they were given. */
haul_status haul_swap(haul_array *a, haul_array *b, haul_error *error)
{
    const haul_field *x = a->field, *y = b->field;
    bool is_same = a->context == b->context && x->element == y->element && x->dims == y->dims;
    for (int d = 0; d < 3; d++)
        is_same = is_same && x->size[d] == y->size[d] && x->ghost[d] == y->ghost[d] &&
                  x->boundary[d] == y->boundary[d];
    is_same = is_same && x->whole == y->whole && x->is_ring == y->is_ring;
    if (!is_same)
        return haul_fail(error, HAUL_USAGE, "arrays of different shapes cannot be exchanged");
    haul_field *field = a->field;
    a->field = b->field;
    b->field = field;
    return HAUL_OK;
}

/* Tells that the contents are of no use any more: they are not copied back. */
void haul_array_discard(haul_array *array)
{
    array->field->is_discarded = true;
}

int haul_array_regions(haul_array *array)
{
    if (haul_queue_run(array->context, NULL) || haul_fields_divide(array->context, NULL))
        return 0;
    return array->field->part_count;
}

/* Runs what is queued, but waits only for the region's own work. A write makes the device's copy
 * stale, and with it all cells beyond the edges. */
haul_status haul_array_access(haul_array *array, int index, haul_use use, haul_region *region,
                              haul_error *error)
{
    haul_field *field = array->field;
    haul_status status = haul_queue_run(array->context, error);
    if (!status)
        status = haul_fields_divide(array->context, error);
    if (!status && (index < 0 || index >= field->part_count))
        status = haul_fail(error, HAUL_USAGE, "there is no region %d: the array has %d", index,
                           field->part_count);
    if (!status && field->planes_stale)
        status = haul_planes_wrap(field, error);
    if (!status)
        status = haul_part_fetch(field, index, use & HAUL_USE_READ, error);
    if (status)
        return status;
    const int first = haul_part_begin(field, index);
    if (use & HAUL_USE_WRITE) {
        field->parts[index].on_host = true;
        field->parts[index].on_device = false;
        field->ghosts_stale = field->frame_stale = true;
        field->is_discarded = false;
    }
    const uint64_t offset =
        haul_field_offset(field, first) + (uint64_t)field->lead * field->element;
    *region = (haul_region){
        .cells = array->context->without_data ? NULL : field->host + offset,
        .row = field->row,
        .plane = field->plane,
        .first = field->first + first,
        .end = field->first + haul_part_end(field, index),
        .owner = array->context->options.processes
                     ? (unsigned)array->context->options.processes->rank
                     : 0,
    };
    return HAUL_OK;
}

/* The rows of a region's cells, one after another, to or from `cells`. */
static void copy_rows(const haul_field *field, const haul_region *region, char *cells,
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

/* Region by region: the copy of one needs no other to be on the host. */
static haul_status copy_all(haul_array *array, char *cells, haul_use use, haul_error *error)
{
    haul_region region;
    array->context->wanted = use & HAUL_USE_WRITE ? NULL : array->field;
    haul_status status = haul_queue_run(array->context, error);
    array->context->wanted = NULL;
    const int count = status ? 0 : haul_array_regions(array);
    for (int i = 0; i < count && !status; i++) {
        status = haul_array_access(array, i, use, &region, error);
        if (!status && region.cells)
            copy_rows(array->field, &region, cells, use & HAUL_USE_WRITE);
    }
    if (!status && !(use & HAUL_USE_WRITE) && haul_is_divided(array->field))
        status = haul_planes_gather(array->field, cells, error);
    return status;
}

haul_status haul_array_read(haul_array *array, void *cells, haul_error *error)
{
    return copy_all(array, cells, HAUL_USE_READ, error);
}

haul_status haul_array_write(haul_array *array, const void *cells, haul_error *error)
{
    return copy_all(array, (char *)cells, HAUL_USE_BOTH, error); /* ghosts stay */
}
