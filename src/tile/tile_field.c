/* Arrays' memory: their layout, their files, and their share of the planes. Planes follow each
 * other without ghost planes between regions: neighbours share their edge planes, so that an array
 * takes no more memory than its cells and its own edges. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_field.h"

/* Bytes of a cache line, of a page, and of the alignment that suits all types. */
enum { LINE = 64, PAGE = 4096, ALIGNED = 16 };

static int64_t rounded_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

/* Rows begin at a cache line. The cells left and right of neighbouring rows of a plane share the
 * gap between them. A plane ends with a gap of its own: planes are copied by themselves. In the
 * program's memory cells follow each other. */
static bool lay_out(hl_tile_field *self)
{
    const int64_t unit = LINE % self->element ? 1 : LINE / (int64_t)self->element;
    const bool is_own = !self->is_lent && !self->is_wrapped;
    const int64_t gap = is_own ? rounded_up(2 * (int64_t)self->ghost[0], unit) : 0;
    const int *size = self->size, *ghost = self->ghost;
    self->row = gap + rounded_up(size[0], unit) + (self->dims == 2 ? gap : 0);
    if (!is_own)
        self->row = size[0] + 2 * (int64_t)ghost[0];
    else if (self->row * (int64_t)self->element % PAGE == 0)
        self->row +=
            unit; /* rows of a multiple of a page would fall on the same lines of a cache */
    if (self->dims == 1) {
        self->plane = 1;
        self->lead = 0;
    } else if (self->dims == 2) {
        self->plane = self->row;
        self->lead = is_own ? gap : ghost[0];
    } else {
        if (__builtin_mul_overflow(self->row, (int64_t)size[1] + 2 * (int64_t)ghost[1],
                                   &self->plane) ||
            __builtin_add_overflow(self->plane, gap, &self->plane))
            return false;
        self->lead = (is_own ? gap : ghost[0]) + ghost[1] * self->row;
        self->gap = gap;
    }
    const uint64_t planes = (uint64_t)self->length + 2 * (uint64_t)self->edge;
    return !__builtin_mul_overflow((uint64_t)self->plane, self->element, &self->plane_bytes) &&
           !__builtin_mul_overflow(planes, self->plane_bytes, &self->host_bytes) &&
           self->host_bytes < INT64_MAX / 2;
}

/* A new or empty file becomes the array's, full of zeros. One of another size is refused: it is
 * most likely another array's. */
static haul_status map_file(hl_tile_field *self, const char *path, haul_error *error)
{
    struct stat found;
    self->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (self->file < 0 || fstat(self->file, &found))
        return hl_base_fail_open(error, path);
    self->path = realpath(path, NULL); /* the program may go to another folder */
    if (!self->path)
        return hl_base_fail_open(error, path);
    const bool is_new = !found.st_size;
    if (!is_new && (uint64_t)found.st_size != self->host_bytes)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "'%.200s' has %lld bytes, its array %llu", path,
                              (long long)found.st_size, (unsigned long long)self->host_bytes);
    /* a page that the disk has no room for would end the program when it is first written */
    const int result = posix_fallocate(self->file, 0, (off_t)self->host_bytes);
    if (result && is_new)
        (void)!ftruncate(self->file, 0);
    errno = result;
    return result ? hl_base_fail_extend(error, path) : HAUL_OK;
}

/* Reserves address space; the system gives pages when they are first touched. Memory is page-locked
 * only where a device copies it. A file's pages are not: the system may write them out. */
static haul_status allocate(hl_tile_field *self, const char *path, haul_error *error)
{
    haul_device *device = self->memory->device;
    const bool is_empty = self->memory->without_data; /* addresses without memory behind them */
    if (!self->host_bytes)
        return HAUL_OK;
    if (self->is_borrowed) { /* page-locked for all devices of a kind */
        const hl_tile_field *lender = self->memory->lender;
        const bool is_alike = lender->memory->device->backend == device->backend;
        self->host = lender->host;
        self->pinned = is_alike ? lender->pinned : NULL;
        return HAUL_OK;
    }
    if (self->is_lent) {
        /* memory that cannot be page-locked is copied as it is */
        if (!self->memory->is_host && device->properties.can & HAUL_DEVICE_CAN_PIN &&
            !device->properties.is_host)
            (void)haul_buffer_pin(device, self->host, self->host_bytes, &self->pinned, NULL);
        return HAUL_OK;
    }
    if (!is_empty)
        HAUL_TRY(path ? map_file(self, path, error)
                      : hl_tile_memory_check(self->memory, self->host_bytes,
                                             "a `file` in an array's spec keeps it on a disk",
                                             error));
    void *host = mmap(NULL, self->host_bytes, is_empty ? PROT_NONE : PROT_READ | PROT_WRITE,
                      self->file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      self->file, 0);
    if (host == MAP_FAILED)
        return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "no memory for an array of %llu bytes",
                              (unsigned long long)self->host_bytes);
    self->host = host;
    if (!path) /* fewer misses of the TLB: 10 to 40 % on stencils */
        (void)madvise(host, self->host_bytes, MADV_HUGEPAGE);
    const bool is_pinned = !self->memory->is_host && !path &&
                           device->properties.can & HAUL_DEVICE_CAN_PIN &&
                           !device->properties.is_host;
    return is_pinned ? haul_buffer_pin(device, host, self->host_bytes, &self->pinned, error)
                     : HAUL_OK;
}

/* The program's memory in the place of the array's own. */
static haul_status take_memory(hl_tile_field *self, const haul_array_spec *spec, haul_error *error)
{
    const hl_tile_memory *memory = self->memory;
    self->is_lent = spec->cells;
    self->is_wrapped = spec->device_cells;
    if (!self->is_lent && !self->is_wrapped)
        return HAUL_OK;
    if (spec->file || (self->is_lent && self->is_wrapped) || memory->without_data ||
        memory->is_team || hl_tile_is_divided(self))
        return haul_error_set(
            error, HAUL_STATUS_USAGE,
            "an array in memory of the program's is neither divided nor in a file "
            "or in two memories, and its device has data");
    if (self->is_wrapped && memory->is_host)
        return haul_error_set(error, HAUL_STATUS_ABSENT,
                              "the host has no device memory: `cells` takes memory of the host");
    const uint64_t aligned = self->element & -self->element; /* at least as its type asks */
    if ((uintptr_t)spec->cells % (aligned < ALIGNED ? aligned : ALIGNED))
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "memory for an array that is not aligned for its elements");
    self->host = spec->cells;
    self->starts_on_device = self->is_wrapped;
    return HAUL_OK;
}

/* Device memory of the program's holds the whole array. */
static haul_status wrap_memory(hl_tile_field *self, void *memory, haul_error *error)
{
    if (!self->is_wrapped || !self->host_bytes)
        return HAUL_OK;
    self->planes = self->length + 2 * self->edge;
    return haul_buffer_wrap(self->memory->device, memory, self->host_bytes, &self->ring, error);
}

int hl_tile_share_first(const hl_tile_memory *memory, int whole, int rank)
{
    const int count = memory->processes->count;
    if (!memory->before || rank == count)
        return (int)((int64_t)whole * rank / count);
    return (int)((double)whole * memory->before[rank] + 0.5);
}

/* Planes of neighbours for loops between exchanges, as far as all processes have so many. Beyond
 * periodic edges indices are others, and a boundary's kernel sets planes of its own. */
static int choose_depth(const hl_tile_field *field)
{
    const hl_tile_memory *memory = field->memory;
    const int count = memory->processes->count;
    int least = field->whole;
    if (field->is_ring || field->boundary_kernel || memory->exchange_steps < 2)
        return 0;
    for (int rank = 0; rank < count; rank++) {
        const int planes = hl_tile_share_first(memory, field->whole, rank + 1) -
                           hl_tile_share_first(memory, field->whole, rank);
        least = planes < least ? planes : least;
    }
    const int64_t asked =
        (int64_t)(memory->exchange_steps - 1) * (field->edge > 0 ? field->edge : 1);
    return least <= field->edge          ? 0
           : asked < least - field->edge ? (int)asked
                                         : least - field->edge;
}

/* Takes this process's share of the planes; the edges that other processes have are fixed. */
static haul_status take_share(hl_tile_field *field, bool on_all, haul_error *error)
{
    const haul_processes *processes = field->memory->processes;
    const int outer = field->dims - 1, whole = field->length;
    bool is_cell = true;
    for (int d = 0; d < field->dims; d++)
        is_cell = is_cell && field->size[d] == 1;
    field->whole = whole;
    if (!processes || processes->count < 2 || on_all || is_cell)
        return HAUL_OK;
    if (field->memory->without_data && !field->memory->is_team)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "a device without data has no cells to exchange");
    if (whole / processes->count < (field->edge ? field->edge : 1))
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "an array of %d planes, %d beyond each edge, is too small for %d "
                              "processes; `on_all` gives it to each",
                              whole, field->edge, processes->count);
    if (field->boundary_kernel && field->boundary_kernel->parameters[0].halo > field->edge)
        return haul_error_set(
            error, HAUL_STATUS_USAGE,
            "boundary kernel '%s' reads %d planes around its own of an array that "
            "is divided over processes, and has %d beyond its edges",
            field->boundary_kernel->name, field->boundary_kernel->parameters[0].halo, field->edge);
    field->first = hl_tile_share_first(field->memory, whole, processes->rank);
    field->length = hl_tile_share_first(field->memory, whole, processes->rank + 1) - field->first;
    field->size[outer] = field->length;
    field->is_ring = field->boundary[outer] == HAUL_BOUNDARY_PERIODIC && !field->boundary_kernel;
    const bool has_edge = !field->first || field->first + field->length == whole;
    if (field->is_ring || !has_edge)
        field->boundary[outer] = HAUL_BOUNDARY_FIXED;
    field->depth = choose_depth(field);
    field->edge += field->depth;
    field->known = field->edge; /* zeros everywhere */
    return HAUL_OK;
}

/* A periodic or copied edge begins stale, so that the first loop that reads it sets it. On failure
 * what was made is freed here. */
haul_status hl_tile_field_new(haul_context *context, hl_tile_memory *memory,
                              const haul_array_spec *spec, hl_tile_field **field, haul_error *error)
{
    HAUL_TRY(hl_tile_spec_check(spec, error));
    hl_tile_field *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    *self = (hl_tile_field){
        .memory = memory,
        .context = context,
        .element = spec->element_bytes ? spec->element_bytes : sizeof(double),
        .element_kind = spec->element_bytes ? spec->element : HAUL_ELEMENT_FLOATING,
        .boundary_kernel = spec->boundary_kernel,
        .region = spec->region ? spec->region : memory->region_given,
        .region_asked = spec->region ? spec->region : memory->region_given,
        .file = -1,
        .frame_stale = true,
    };
    if (spec->name)
        snprintf(self->name, sizeof self->name, "%s", spec->name);
    self->dims = spec->size[2] ? 3 : spec->size[1] ? 2 : 1;
    for (int d = 0; d < 3; d++) {
        self->size[d] = d < self->dims ? spec->size[d] : 1;
        self->ghost[d] = d < self->dims ? spec->ghost[d] : 0;
        self->boundary[d] = spec->boundary[d];
    }
    self->length = self->size[self->dims - 1];
    self->edge = self->ghost[self->dims - 1];
    self->ghosts_stale = true;
    self->number = memory->fields_made++;
    self->is_borrowed = memory->lender;
    haul_status status = take_share(self, spec->on_all, error);
    if (!status)
        status = take_memory(self, spec, error);
    if (!status && !lay_out(self))
        status = haul_error_set(error, HAUL_STATUS_USAGE, "an array larger than any memory");
    self->slot_bytes = self->plane_bytes;
    if (!status)
        status = allocate(self, spec->file, error);
    if (!status)
        status = wrap_memory(self, spec->device_cells, error);
    if (status) {
        hl_tile_field_free(self);
        return status;
    }
    self->next = memory->fields;
    memory->fields = self;
    memory->host_bytes += self->is_borrowed ? 0 : self->host_bytes;
    *field = self;
    return HAUL_OK;
}

/* Fields that are half made are not in the list. */
void hl_tile_field_free(hl_tile_field *field)
{
    hl_tile_memory *memory = field->memory;
    for (hl_tile_field **at = &memory->fields; *at; at = &(*at)->next)
        if (*at == field) {
            *at = field->next;
            memory->host_bytes -= field->is_borrowed ? 0 : field->host_bytes;
            break;
        }
    if (field->ring && !field->is_wrapped)
        memory->device_bytes -= haul_buffer_bytes(field->ring);
    if (field->aside)
        memory->device_bytes -= haul_buffer_bytes(field->aside);
    haul_buffer_free(field->ring);
    haul_buffer_free(field->frame);
    haul_buffer_free(field->aside);
    haul_buffer_free(field->sent_host);
    haul_buffer_free(field->rows);
    haul_buffer_free(field->ghost_list);
    if (!field->is_borrowed)
        haul_buffer_free(field->pinned);
    if (field->host && !field->is_stuck && !field->is_lent && !field->is_borrowed)
        munmap(field->host, field->host_bytes);
    if (field->shadow)
        munmap(field->shadow, field->host_bytes);
    if (field->file >= 0)
        close(field->file);
    free(field->path);
    hl_tile_parts_free(field);
    if (!field->is_stuck)
        free(field);
}

/* Kernels count planes from base on, and go round after `planes` of them; on the host none does. */
haul_view hl_tile_field_view(const hl_tile_field *field, int first, bool on_device)
{
    const int planes = on_device ? field->planes : field->length + 2 * field->edge;
    int base = -field->edge;
    if (on_device) { /* where the ring begins, not above `first` */
        const int ahead = hl_tile_ring_place(field, first);
        base = first - ahead;
    }
    if (!on_device || !field->window_rows)
        return (haul_view){(long)field->plane, (long)field->row, base, on_device ? planes : 0, 0};
    const long plane = (long)(field->slot_bytes / field->element);
    return (haul_view){plane, (long)field->row, base, planes, (long)hl_tile_window_origin(field)};
}
