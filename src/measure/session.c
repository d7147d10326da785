#include "measure/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "haul/device_backend.h"
#include "measure/compute_kernel.h"
#include "measure/rate_kernels.h"

enum { PAGE = 4096 };

/* A CPU works on so much memory before a copy, in so many kernels at most: a program's copies
 * follow kernels of milliseconds on all cores, and those of 1 MiB then took a tenth longer than
 * behind one of 50 us (PoCL, two cores). */
enum { LAUNCHES = 32 };
static const uint64_t computed_bytes = UINT64_C(32) << 20;

/* Steps of the kernel that keeps a stream busy. One thread takes some 40 us for them on a GPU,
 * longer than the host takes for a few calls. */
enum { HOLD_STEPS = 512 };

/* Copies of 64 MiB are within 1 % of the asymptotic rate on PCIe, where L+o is about 10 us. Copies
 * within a GPU show its memory beyond its L2, and pageable ones the host's beyond its last level:
 * the largest are four times either, up to 512 MiB. A machine has some hundred points, of 0.1 s
 * each. */
static const uint64_t usual_largest = UINT64_C(64) << 20, largest_most = UINT64_C(512) << 20;
static const double usual_point_s = 0.1;

/* Peers are other devices of the same node; a copy of a device to itself is none between peers. */
static haul_status check_peers(const hl_measure_session *self, haul_error *error)
{
    const haul_measure_options *options = &self->options;
    if (options->peer_count > HAUL_MEASURE_PEERS_MOST)
        return haul_error_set(error, HAUL_STATUS_USAGE, "at most %d peers are measured",
                              HAUL_MEASURE_PEERS_MOST);
    for (size_t i = 0; i < options->peer_count; i++) {
        const haul_device *peer = options->peers[i];
        bool is_known = hl_measure_is_same_device(peer, self->device);
        for (size_t j = 0; j < i; j++)
            is_known = is_known || hl_measure_is_same_device(peer, options->peers[j]);
        if (is_known)
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "'%.100s' is no peer: it is measured already", peer->name);
    }
    return HAUL_OK;
}

/* The larger of the device's L2 and the host's last level. Of a simulated machine, whose copies
 * take no time, it may be as large as any. */
uint64_t hl_measure_caches_of(const haul_device_properties *device)
{
    const long host = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const uint64_t last = host > 0 ? (uint64_t)host : 0;
    if (device->is_simulated)
        return largest_most;
    return last > device->l2_bytes ? last : device->l2_bytes;
}

/* Three buffers of a size are wanted on the device, and leave room for others. */
static haul_status choose_sizes(hl_measure_session *self, haul_error *error)
{
    uint64_t room;
    const haul_status status = haul_device_room(self->device, &room, error);
    if (status && status != HAUL_STATUS_ABSENT && status != HAUL_STATUS_MISSING)
        return status;
    const haul_device_properties *device = haul_device_describe(self->device);
    if (!self->options.largest_bytes) {
        const uint64_t cache = hl_measure_caches_of(device);
        self->options.largest_bytes = usual_largest;
        while (!device->is_host && self->options.largest_bytes < 4 * cache &&
               self->options.largest_bytes < largest_most)
            self->options.largest_bytes *= 2;
    }
    if (self->options.largest_bytes < 1 << 20)
        return haul_error_set(error, HAUL_STATUS_USAGE, "copies of 1 MiB at least are measured");
    while (!status && self->options.largest_bytes > (1 << 20) &&
           self->options.largest_bytes > room / 8)
        self->options.largest_bytes /= 2;
    if (!(self->options.point_s > 0))
        self->options.point_s = usual_point_s;
    return HAUL_OK;
}

/* Both ends of every kind of copy, once: allocation is slow on GPUs, and page-locking slower. */
static haul_status allocate_buffers(hl_measure_session *self, haul_error *error)
{
    const uint64_t bytes = self->options.largest_bytes;
    for (int i = 0; i < HL_MEASURE_SESSION_BUFFERS; i++) {
        HAUL_TRY(
            haul_buffer_new(self->device, HAUL_BUFFER_DEVICE, bytes, &self->on_device[i], error));
        HAUL_TRY(haul_buffer_new(self->device, HAUL_BUFFER_PINNED, bytes, &self->pinned[i], error));
        self->pageable[i] = malloc(bytes);
        if (!self->pageable[i])
            return hl_base_fail_no_memory(error);
        void *pinned = haul_buffer_host(self->pinned[i]);
        if (!pinned || haul_device_describe(self->device)->is_simulated)
            continue;
        memset(pinned, i, bytes); /* so that its pages are there */
        memset(self->pageable[i], i, bytes);
    }
    for (size_t i = 0; i < self->options.peer_count; i++)
        HAUL_TRY(haul_buffer_new(self->options.peers[i], HAUL_BUFFER_DEVICE, bytes,
                                 &self->on_peers[i], error));
    return HAUL_OK;
}

/* On failure hl_measure_session_end frees what was made: members that were not are NULL. */
haul_status hl_measure_session_begin(hl_measure_session *session, haul_device *device,
                                     const haul_measure_options *options, haul_error *error)
{
    *session = (hl_measure_session){.device = device, .options = *options};
    session->begin_s = hl_base_clock_s();
    haul_status status = check_peers(session, error);
    if (!status)
        status = choose_sizes(session, error);
    if (!status && options->journal)
        status = hl_measure_open_journal(session, error);
    for (int i = 0; i < HL_MEASURE_SESSION_STREAMS && !status; i++)
        status = haul_stream_new(device, &session->streams[i], error);
    for (int i = 0; i < HL_MEASURE_SESSION_EVENTS && !status; i++)
        status = haul_event_new(device, &session->events[i], error);
    if (!status)
        status = allocate_buffers(session, error);
    const haul_device_properties *properties = haul_device_describe(device);
    const bool has_kernels = device->backend->kernel_new;
    if (!status && has_kernels && properties->is_host)
        status = haul_kernel_new(device, &count_up, &session->compute, error);
    else if (!status && has_kernels && !properties->is_simulated)
        status = haul_kernel_new(device, &chains_single, &session->hold, error);
    if (!status && !properties->is_simulated && options->time_limit_s > 0)
        hl_base_load_wait(options->time_limit_s / 4);
    session->load = hl_base_load_now();
    return status;
}

void hl_measure_session_end(hl_measure_session *session)
{
    haul_kernel_free(session->compute);
    haul_kernel_free(session->hold);
    for (int i = 0; i < HL_MEASURE_SESSION_EVENTS; i++)
        haul_event_free(session->events[i]);
    for (int i = 0; i < HL_MEASURE_SESSION_STREAMS; i++)
        haul_stream_free(session->streams[i]);
    for (int i = 0; i < HL_MEASURE_SESSION_BUFFERS; i++) {
        haul_buffer_free(session->on_device[i]);
        haul_buffer_free(session->pinned[i]);
        free(session->pageable[i]);
    }
    for (size_t i = 0; i < session->options.peer_count && i < HAUL_MEASURE_PEERS_MOST; i++)
        haul_buffer_free(session->on_peers[i]);
    hl_measure_journal_close(&session->journal);
    hl_base_arena_release(&session->arena);
}

static haul_address host_end(const hl_measure_session *self, hl_measure_way way, int stream,
                             uint64_t at)
{
    if (way.host)
        return haul_in_buffer(way.host, at);
    return way.memory == HAUL_MEMORY_PINNED ? haul_in_buffer(self->pinned[stream], at)
                                            : haul_in_host(self->pageable[stream] + at);
}

haul_status hl_measure_session_compute(hl_measure_session *session, uint64_t bytes,
                                       haul_error *error)
{
    if (!session->compute)
        return HAUL_OK;
    const int width = PAGE / sizeof(float), rows = (int)(bytes / PAGE);
    const haul_argument arguments[] = {{.buffer = session->on_device[0]}, {.value = &width}};
    const haul_launch launch = {.box = {.hi = {width, rows ? rows : 1}},
                                .arguments = arguments,
                                .argument_count = sizeof arguments / sizeof *arguments};
    haul_status status = HAUL_OK;
    for (uint64_t i = 0; i < LAUNCHES && i * bytes < computed_bytes && !status; i++)
        status = haul_stream_launch(session->streams[0], session->compute, &launch, NULL, error);
    return status;
}

haul_status hl_measure_session_hold(hl_measure_session *session, int stream, haul_error *error)
{
    if (!session->hold)
        return HAUL_OK;
    const int steps = HOLD_STEPS;
    const haul_argument arguments[] = {{.buffer = session->on_device[1]}, {.value = &steps}};
    const haul_launch launch = {.box = {.hi = {1}},
                                .arguments = arguments,
                                .argument_count = sizeof arguments / sizeof *arguments};
    return haul_stream_launch(session->streams[stream], session->hold, &launch, NULL, error);
}

haul_status hl_measure_session_copy(hl_measure_session *session, hl_measure_way way, uint64_t bytes,
                                    int stream, haul_event *event, haul_error *error)
{
    haul_transfer transfer = {.size = {bytes}};
    /* Where a copy begins: behind the one before, at a page, or at the front where it does not fit.
     */
    const uint64_t largest = session->options.largest_bytes;
    const uint64_t at =
        bytes <= largest && session->cursor <= largest - bytes ? session->cursor : 0;
    session->cursor = (at + bytes + PAGE) / PAGE * PAGE;
    const haul_address device = haul_in_buffer(session->on_device[stream], 0);
    switch (way.direction) {
    case HAUL_DIRECTION_HTOD:
        transfer.to = device;
        transfer.from = host_end(session, way, stream, at);
        break;
    case HAUL_DIRECTION_DTOH:
        transfer.to = host_end(session, way, stream, at);
        transfer.from = device;
        break;
    case HAUL_DIRECTION_PTOP:
        transfer.to = haul_in_buffer(session->on_peers[0], at);
        transfer.from = device;
        break;
    default:
        transfer.to = haul_in_buffer(session->on_device[1 - stream], at);
        transfer.from = device;
    }
    return haul_stream_copy(session->streams[stream], &transfer, event, error);
}

haul_status hl_measure_session_wait(hl_measure_session *session, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int i = 0; i < HL_MEASURE_SESSION_STREAMS && !status; i++)
        status = haul_stream_wait(session->streams[i], error);
    return status;
}

haul_status hl_measure_session_pair_seconds(hl_measure_session *session, double *seconds,
                                            haul_error *error)
{
    haul_event *const *events = session->events;
    double forward = 0, backward = 0;
    haul_status status = hl_measure_session_wait(session, error);
    if (!status)
        status = haul_event_seconds(events[0], events[1], &forward, error);
    if (!status)
        status = haul_event_seconds(events[1], events[0], &backward, error);
    *seconds = forward > backward ? forward : backward;
    return status;
}

/* The source says how sure the value is; it goes into the machine's file. */
haul_parameter hl_measure_session_found(hl_measure_session *session, double value,
                                        const hl_measure_point_measured *point)
{
    const char *source = hl_base_arena_format(
        &session->arena, "haul measure, median of %u, spread %.2g %%", point->count, point->spread);
    return (haul_parameter){value, HAUL_PROVENANCE_MEASURED, source};
}

void hl_measure_session_tell(hl_measure_session *session, haul_dimension dimension, double value,
                             const hl_measure_point_measured *point, const char *format, ...)
{
    haul_measurement *made = &session->made;
    if (made->finding_count == HAUL_MEASURE_FINDINGS_MOST)
        return;
    haul_finding *finding = &made->findings[made->finding_count++];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(finding->what, sizeof finding->what, format, arguments);
    va_end(arguments);
    finding->dimension = dimension;
    finding->value = value;
    finding->spread = point->spread;
}
