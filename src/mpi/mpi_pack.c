/* Rows of device memory and their place in the host's: packed on the device by one kernel and moved
 * by one copy, or a copy for each where they are few or the device compiles no kernels. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "mpi/mpi_pack.kernel.h"
#include "mpi/mpi_parts.h"

/* The copies that packing takes itself: of the rows' table, of the packed bytes, and the launch. */
enum { COPIES_FEW = 3 };

/* Of a row in the table. */
enum { NUMBERS = 6 };

/* A device's copies know no rows that overlap or go backwards: these take a copy each. Planes are
 * of boxes alone. */
static bool is_box(const hl_mpi_rows *of)
{
    return of->planes > 1 || of->count == 1 || of->pitch >= (int64_t)of->row;
}

static uint64_t bytes_of(const hl_mpi_rows *of)
{
    return of->row * of->count * of->planes;
}

static hl_mpi_rows one_row(const hl_mpi_rows *of, uint64_t i)
{
    hl_mpi_rows row = *of;
    row.count = 1;
    row.offset += (int64_t)i * of->pitch;
    row.host += (int64_t)i * of->host_pitch;
    return row;
}

haul_status hl_mpi_pack_add(hl_mpi_packer *self, const hl_mpi_rows *rows, haul_error *error)
{
    hl_mpi_rows *last = self->count ? &self->items[self->count - 1] : NULL;
    hl_mpi_rows made = *rows;
    made.planes = made.planes ? made.planes : 1;
    self->bytes += bytes_of(&made);
    if (last && last->count * last->planes == 1 && made.count * made.planes == 1 &&
        last->offset + (int64_t)last->row == made.offset && last->host + last->row == made.host) {
        last->row += made.row;
        return HAUL_OK;
    }
    if (!hl_base_grow(&self->items, &self->capacity, self->count + 1, sizeof *self->items))
        return hl_base_fail_no_memory(error);
    self->copies += is_box(&made) ? 1 : made.count;
    self->items[self->count++] = made;
    return HAUL_OK;
}

/* `packed`: bytes before it. */
static haul_status queue_rows(haul_stream *stream, const hl_mpi_packer *self, const hl_mpi_rows *of,
                              uint64_t packed, bool to_device, haul_error *error)
{
    const haul_address host = self->packed ? haul_in_buffer(self->packed, self->packed_at + packed)
                                           : haul_in_host(of->host);
    const haul_address device =
        haul_in_buffer(self->at.buffer, self->at.offset + (uint64_t)of->offset);
    haul_transfer transfer = {.to = to_device ? device : host,
                              .from = to_device ? host : device,
                              .size = {of->row, of->count, of->planes}};
    uint64_t *const pitches[] = {to_device ? transfer.to_pitch : transfer.from_pitch,
                                 to_device ? transfer.from_pitch : transfer.to_pitch};
    if (of->count > 1) {
        pitches[0][0] = (uint64_t)of->pitch;
        pitches[1][0] = (uint64_t)of->host_pitch;
    }
    if (of->planes > 1) {
        pitches[0][1] = (uint64_t)of->plane_pitch;
        pitches[1][1] = of->row * of->count;
    }
    return haul_stream_copy(stream, &transfer, NULL, error);
}

static haul_status queue_copies(haul_stream *stream, const hl_mpi_packer *self, bool to_device,
                                haul_error *error)
{
    uint64_t packed = 0;
    for (size_t i = 0; i < self->count; i++) {
        const hl_mpi_rows *of = &self->items[i];
        if (is_box(of))
            HAUL_TRY(queue_rows(stream, self, of, packed, to_device, error));
        for (uint64_t k = 0; !is_box(of) && k < of->count; k++) {
            const hl_mpi_rows row = one_row(of, k);
            HAUL_TRY(queue_rows(stream, self, &row, packed + k * of->row, to_device, error));
        }
        packed += bytes_of(of);
    }
    return HAUL_OK;
}

/* --- by a kernel */

/* The largest number that divides all places and lengths. */
static unsigned unit_of(const hl_mpi_packer *self)
{
    uint64_t all = (uint64_t)(uintptr_t)haul_buffer_native(self->at.buffer);
    if (self->packed)
        all |= (uint64_t)(uintptr_t)haul_buffer_native(self->packed) | self->packed_at;
    for (size_t i = 0; i < self->count; i++) {
        const hl_mpi_rows *of = &self->items[i];
        all |= (self->at.offset + (uint64_t)of->offset) | of->row;
        all |= of->count > 1 ? (uint64_t)of->pitch : 0;
        all |= of->planes > 1 ? (uint64_t)of->plane_pitch : 0;
    }
    return all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;
}

static haul_status reserve(haul_device *device, haul_buffer **buffer, haul_buffer_kind kind,
                           uint64_t bytes, haul_error *error)
{
    uint64_t size = 4096;
    while (size < bytes)
        size *= 2;
    if (*buffer && haul_buffer_bytes(*buffer) >= bytes)
        return HAUL_OK;
    haul_buffer_free(*buffer);
    *buffer = NULL;
    return haul_buffer_new(device, kind, size, buffer, error);
}

/* All that may fail before anything is queued. */
static haul_status prepare(haul_comm *comm, hl_mpi_packer *self, haul_kernel **kernel,
                           const haul_kernel_source *source, haul_error *error)
{
    const uint64_t table = self->count * NUMBERS * sizeof(long);
    if (!*kernel) {
        const haul_status status = haul_kernel_new(comm->device, source, kernel, error);
        comm->packs_not = status != HAUL_OK;
        HAUL_TRY(status);
    }
    HAUL_TRY(reserve(comm->device, &self->buffers[0], HAUL_BUFFER_PINNED, table, error));
    HAUL_TRY(reserve(comm->device, &self->buffers[1], HAUL_BUFFER_DEVICE, table, error));
    if (self->packed)
        return HAUL_OK;
    HAUL_TRY(reserve(comm->device, &self->buffers[2], HAUL_BUFFER_DEVICE, self->bytes, error));
    return self->is_apart
               ? reserve(comm->device, &self->buffers[3], HAUL_BUFFER_PINNED, self->bytes, error)
               : HAUL_OK;
}

static haul_status queue_table(haul_stream *stream, hl_mpi_packer *self, unsigned unit,
                               haul_error *error)
{
    long *next = haul_buffer_host(self->buffers[0]);
    uint64_t packed = self->packed_at;
    if (self->has_table)
        return HAUL_OK;
    for (size_t i = 0; i < self->count; i++) {
        const hl_mpi_rows *of = &self->items[i];
        *next++ = (long)(packed / unit);
        *next++ = ((int64_t)self->at.offset + of->offset) / (int)unit;
        *next++ = (long)(of->row / unit);
        *next++ = of->pitch / (int)unit;
        *next++ = (long)of->count;
        *next++ = of->plane_pitch / (int)unit;
        packed += bytes_of(of);
    }
    const haul_transfer transfer = {.to = haul_in_buffer(self->buffers[1], 0),
                                    .from = haul_in_buffer(self->buffers[0], 0),
                                    .size = {self->count * NUMBERS * sizeof(long)}};
    const haul_status status = haul_stream_copy(stream, &transfer, NULL, error);
    self->has_table = !status;
    return status;
}

static haul_status launch_kernel(haul_stream *stream, const hl_mpi_packer *self,
                                 const haul_kernel *kernel, unsigned unit, haul_error *error)
{
    const int count = (int)self->count, first = (int)(self->packed_at / unit);
    const haul_argument arguments[] = {{.buffer = self->packed ? self->packed : self->buffers[2]},
                                       {.buffer = self->at.buffer},
                                       {.buffer = self->buffers[1]},
                                       {.value = &count}};
    const haul_launch launch = {.box = {{first, 0, 0}, {first + (int)(self->bytes / unit), 1, 1}},
                                .arguments = arguments,
                                .argument_count = 4,
                                .bytes = 2.0 * (double)self->bytes +
                                         NUMBERS * 8.0 * (double)self->count};
    return haul_stream_launch(stream, kernel, &launch, NULL, error);
}

/* Between packed memory of the host and rows apart there. */
static void move_on_host(const hl_mpi_packer *self, char *packed, bool to_rows)
{
    for (size_t i = 0; i < self->count; i++)
        for (uint64_t k = 0; k < self->items[i].count; k++) {
            const hl_mpi_rows row = one_row(&self->items[i], k);
            memcpy(to_rows ? row.host : packed, to_rows ? packed : row.host, row.row);
            packed += row.row;
        }
}

static haul_status queue_packed(haul_stream *stream, hl_mpi_packer *self, const haul_kernel *kernel,
                                unsigned unit, bool to_device, haul_error *error)
{
    if (self->packed) {
        HAUL_TRY(queue_table(stream, self, unit, error));
        return launch_kernel(stream, self, kernel, unit, error);
    }
    char *host = self->is_apart ? haul_buffer_host(self->buffers[3]) : self->items[0].host;
    const haul_address device = haul_in_buffer(self->buffers[2], 0), at = haul_in_host(host);
    const haul_transfer transfer = {
        .to = to_device ? device : at, .from = to_device ? at : device, .size = {self->bytes}};
    HAUL_TRY(queue_table(stream, self, unit, error));
    if (to_device && self->is_apart)
        move_on_host(self, host, false);
    if (to_device)
        HAUL_TRY(haul_stream_copy(stream, &transfer, NULL, error));
    HAUL_TRY(launch_kernel(stream, self, kernel, unit, error));
    if (to_device)
        return HAUL_OK;
    HAUL_TRY(haul_stream_copy(stream, &transfer, NULL, error));
    if (!self->is_apart)
        return HAUL_OK;
    HAUL_TRY(haul_stream_wait(stream, error));
    move_on_host(self, host, true);
    return HAUL_OK;
}

haul_status hl_mpi_pack_queue(haul_comm *comm, hl_mpi_packer *self, bool to_device,
                              haul_error *error)
{
    static const haul_kernel_source *const sources[2][3] = {
        {&hl_mpi_pack_8, &hl_mpi_pack_4, &hl_mpi_pack_1},
        {&hl_mpi_unpack_8, &hl_mpi_unpack_4, &hl_mpi_unpack_1},
    };
    haul_stream *stream = comm->streams[to_device];
    if (self->copies > (self->packed ? 1 : COPIES_FEW) && !comm->packs_not) {
        const unsigned unit = unit_of(self);
        const int which = unit == 8 ? 0 : unit == 4 ? 1 : 2;
        haul_kernel **kernel = &comm->pack_kernels[to_device][which];
        haul_error why; /* copies need none of this */
        if ((self->packed_at + self->bytes) / unit <= INT_MAX && self->count <= INT_MAX &&
            !prepare(comm, self, kernel, sources[to_device][which], &why))
            return queue_packed(stream, self, *kernel, unit, to_device, error);
    }
    return queue_copies(stream, self, to_device, error);
}

void hl_mpi_pack_begin(hl_mpi_packer *self, haul_address at, bool is_apart)
{
    self->at = at;
    self->is_apart = is_apart;
    self->packed = NULL;
    self->has_table = false;
    self->count = self->copies = 0;
    self->bytes = self->packed_at = 0;
}

void hl_mpi_packer_free(hl_mpi_packer *self)
{
    for (size_t k = 0; k < HL_MPI_PACK_BUFFERS; k++)
        haul_buffer_free(self->buffers[k]);
    free(self->items);
}

void hl_mpi_packers_free(haul_comm *comm)
{
    for (int i = 0; i < 4; i++)
        hl_mpi_packer_free(&comm->packers[i / 2][i % 2]);
    for (int i = 0; i < 6; i++)
        haul_kernel_free(comm->pack_kernels[i / 3][i % 3]);
}
