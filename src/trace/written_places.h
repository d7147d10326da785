/* Numbers of devices and processes in a file that is written. In a workload of several profiles two
 * devices may have one id, and the processes of threads and of streams are told apart by numbers of
 * each profile's own, which a file that has one number for both cannot hold. */
#ifndef HAUL_TRACE_WRITTEN_PLACES_H
#define HAUL_TRACE_WRITTEN_PLACES_H

#include "haul/workload.h"

typedef struct hl_trace_written_places {
    const haul_workload *workload;
    bool own_devices;    /* ids of devices differ; else their places are their ids */
    uint32_t *processes; /* numbers from 1 on: of the streams, then of the threads */
} hl_trace_written_places;

/* Processes whose thread issued work to a stream, or waited for it, are one. Returns NO_MEMORY. */
haul_status hl_trace_written_places_make(hl_trace_written_places *self,
                                         const haul_workload *workload, haul_error *error);
void hl_trace_written_places_release(hl_trace_written_places *self);

/* The id of the device at place `device` of the workload's. */
static inline uint64_t hl_trace_written_device(const hl_trace_written_places *self, size_t device)
{
    return self->own_devices ? self->workload->devices[device].id : device;
}

static inline uint32_t hl_trace_written_process_of_stream(const hl_trace_written_places *self,
                                                          size_t stream)
{
    return self->processes[stream];
}

static inline uint32_t hl_trace_written_process_of_thread(const hl_trace_written_places *self,
                                                          size_t thread)
{
    return self->processes[self->workload->stream_count + thread];
}

/* Whether the stream is a default one, and how a note of kind HL_TRACE_NOTE_DEFAULT names it. */
#define HL_TRACE_STREAM_TEXT 64
bool hl_trace_written_default(const hl_trace_written_places *self, size_t stream,
                              char text[HL_TRACE_STREAM_TEXT]);

#endif
