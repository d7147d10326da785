/* Copies between a device and packed host memory. */
#include <time.h>

#include "mpi/mpi_parts.h"

void hl_mpi_pace_keep(const haul_comm *self, int64_t since_ns)
{
    if (!self->takes_simulated_time || !haul_device_describe(self->device)->is_simulated)
        return;
    const int64_t took = haul_device_now(self->device) - since_ns;
    const struct timespec pause = {.tv_sec = (time_t)(took / 1000000000),
                                   .tv_nsec = (long)(took % 1000000000)};
    (void)nanosleep(&pause, NULL);
}

haul_status hl_mpi_copies_queue(haul_stream *stream, const hl_mpi_copying *what, haul_error *error)
{
    uint64_t at = 0;
    for (size_t i = 0; i < what->count;) {
        const uint64_t first = what->items[i].offset;
        uint64_t bytes = what->items[i++].bytes;
        while (i < what->count && what->items[i].offset == first + bytes)
            bytes += what->items[i++].bytes;
        if (!bytes)
            continue;
        const haul_address device = haul_in_buffer(what->buffer, first);
        const haul_address host = haul_in_host(what->packed + at);
        const haul_transfer transfer = {.to = what->to_device ? device : host,
                                        .from = what->to_device ? host : device,
                                        .size = {bytes}};
        HAUL_TRY(haul_stream_copy(stream, &transfer, NULL, error));
        at += bytes;
    }
    return HAUL_OK;
}

haul_status hl_mpi_copy(haul_comm *self, const hl_mpi_copying *what, haul_error *error)
{
    const int64_t since = haul_device_now(self->device);
    haul_stream *stream = self->streams[what->to_device];
    HAUL_TRY(hl_mpi_copies_queue(stream, what, error));
    HAUL_TRY(haul_stream_wait(stream, error));
    hl_mpi_pace_keep(self, since);
    return HAUL_OK;
}
