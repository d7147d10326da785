/* Streams and events of CUDA and HIP. */
#ifndef HAUL_DEVICE_CUDA_QUEUE_H
#define HAUL_DEVICE_CUDA_QUEUE_H

#include "haul/device.h"

haul_status hl_device_cu_stream_new(haul_device *device, haul_stream **stream, haul_error *error);
haul_status hl_device_cu_stream_wrap(haul_device *device, void *queue, haul_stream **stream,
                                     haul_error *error);
void hl_device_cu_stream_free(haul_stream *stream);
haul_status hl_device_cu_stream_wait(haul_stream *stream, haul_error *error);
haul_status hl_device_cu_event_new(haul_device *device, haul_event **event, haul_error *error);
void hl_device_cu_event_free(haul_event *event);
haul_status hl_device_cu_event_wait(haul_event *event, haul_error *error);
haul_status hl_device_cu_event_done(haul_event *event, bool *done, haul_error *error);
haul_status hl_device_cu_event_seconds(haul_event *from, haul_event *to, double *seconds,
                                       haul_error *error);
haul_status hl_device_cu_call(haul_stream *stream, void (*function)(void *state), void *state,
                              haul_event *event, haul_error *error);
haul_status hl_device_cu_record(haul_stream *stream, haul_event *event, haul_error *error);
haul_status hl_device_cu_wait_event(haul_stream *stream, haul_event *event, haul_error *error);

#endif
