/* A copy between a buffer and the host's memory that is waited for. */
#ifndef MOVED_H
#define MOVED_H

#include "haul/device.h"

static inline haul_status move(haul_device *device, haul_buffer *buffer, void *host, uint64_t bytes,
                               bool to_device, haul_error *error)
{
    haul_stream *stream = NULL;
    const haul_address there = haul_in_buffer(buffer, 0), here = haul_in_host(host);
    const haul_transfer transfer = {
        .to = to_device ? there : here, .from = to_device ? here : there, .size = {bytes}};
    haul_status status = haul_stream_new(device, &stream, error);
    if (!status)
        status = haul_stream_copy(stream, &transfer, NULL, error);
    if (!status)
        status = haul_stream_wait(stream, error);
    haul_stream_free(stream);
    return status;
}

#endif
