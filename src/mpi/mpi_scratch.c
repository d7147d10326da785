/* Host memory for staging, kept between calls: page-locking costs more than many exchanges. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "mpi/mpi_parts.h"

enum { LEAST_BYTES = 4096 };

/* Sizes are powers of two, so that what one exchange gave back serves others of about its size. */
haul_status hl_mpi_scratch_take(haul_comm *self, uint64_t bytes, hl_mpi_scratch *scratch,
                                haul_error *error)
{
    uint64_t size = LEAST_BYTES;
    while (size < bytes && size < UINT64_C(1) << 62)
        size *= 2;
    for (size_t i = 0; i < self->scratch_count; i++)
        if (!self->scratch[i].is_used && self->scratch[i].bytes == size) {
            self->scratch[i].is_used = true;
            *scratch = self->scratch[i];
            return HAUL_OK;
        }
    if (!hl_base_grow(&self->scratch, &self->scratch_capacity, self->scratch_count + 1,
                      sizeof *self->scratch))
        return hl_base_fail_no_memory(error);
    hl_mpi_scratch made = {.bytes = size, .is_used = true};
    if (self->device)
        HAUL_TRY(haul_buffer_new(self->device, HAUL_BUFFER_PINNED, size, &made.buffer, error));
    made.at = made.buffer ? haul_buffer_host(made.buffer) : malloc(size);
    if (!made.at)
        return hl_base_fail_no_memory(error);
    *scratch = self->scratch[self->scratch_count++] = made;
    return HAUL_OK;
}

void hl_mpi_scratch_give(haul_comm *self, const hl_mpi_scratch *scratch)
{
    for (size_t i = 0; i < self->scratch_count; i++)
        if (self->scratch[i].at == scratch->at)
            self->scratch[i].is_used = false;
}

void hl_mpi_scratch_free(haul_comm *self)
{
    for (size_t i = 0; i < self->scratch_count; i++)
        if (self->scratch[i].buffer)
            haul_buffer_free(self->scratch[i].buffer);
        else
            free(self->scratch[i].at);
    free(self->scratch);
}
