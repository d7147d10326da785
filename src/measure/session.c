#include "measure/session.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/stats.h"
#include "measure/compute_kernel.h"
#include "measure/rate_kernels.h"

enum { ATTEMPTS_LEAST = 5, ATTEMPTS_USUAL = 101, ATTEMPTS_MOST = 303, PAGE = 4096 };

/* A CPU works on so much memory before a copy, in so many kernels at most: a program's copies
 * follow kernels of milliseconds on all cores, and those of 1 MiB then took a tenth longer than
 * behind one of 50 us (PoCL, two cores). */
enum { LAUNCHES = 32 };
static const uint64_t computed_bytes = UINT64_C(32) << 20;

/* Steps of the kernel that keeps a stream busy. One thread takes some 40 us for them on a GPU,
 * longer than the host takes for a few calls. */
enum { HOLD_STEPS = 512 };

/* Points whose median is surer than that, in percent, end at the usual number of attempts, or time;
 * others go on for up to three times as many. */
static const double sure_enough = 1;
static const double longest = 3;

/* Copies of 64 MiB are within 1 % of the asymptotic rate on PCIe, where L+o is about 10 us; those
 * within a GPU are four times its L2, up to 512 MiB. A machine has some hundred points, of 0.1 s
 * each. */
static const uint64_t usual_largest = UINT64_C(64) << 20, largest_most = UINT64_C(512) << 20;
static const double usual_point_s = 0.1;

/* Three buffers of a size are wanted on the device, and leave room for others. */
static haul_status choose_sizes(haul_session *self, haul_error *error)
{
    uint64_t room;
    const haul_status status = haul_device_room(self->device, &room, error);
    if (status && status != HAUL_ABSENT && status != HAUL_MISSING)
        return status;
    const haul_device_properties *device = haul_device_describe(self->device);
    if (!self->options.largest_bytes) {
        self->options.largest_bytes = usual_largest;
        while (!device->is_host && !device->is_simulated &&
               self->options.largest_bytes < 4 * device->l2_bytes &&
               self->options.largest_bytes < largest_most)
            self->options.largest_bytes *= 2;
    }
    if (self->options.largest_bytes < 1 << 20)
        return haul_fail(error, HAUL_USAGE, "copies of 1 MiB at least are measured");
    while (!status && self->options.largest_bytes > (1 << 20) &&
           self->options.largest_bytes > room / 8)
        self->options.largest_bytes /= 2;
    if (!(self->options.point_s > 0))
        self->options.point_s = usual_point_s;
    return HAUL_OK;
}

/* Both ends of every kind of copy, once: allocation is slow on GPUs, and page-locking slower. */
static haul_status allocate(haul_session *self, haul_error *error)
{
    const uint64_t bytes = self->options.largest_bytes;
    haul_status status = HAUL_OK;
    for (int i = 0; i < HAUL_SESSION_BUFFERS && !status; i++) {
        status =
            haul_buffer_new(self->device, HAUL_BUFFER_DEVICE, bytes, &self->on_device[i], error);
        if (!status)
            status =
                haul_buffer_new(self->device, HAUL_BUFFER_PINNED, bytes, &self->pinned[i], error);
        if (status)
            return status;
        self->pageable[i] = malloc(bytes);
        if (!self->pageable[i])
            return haul_fail_no_memory(error);
        void *pinned = haul_buffer_host(self->pinned[i]);
        if (!pinned || haul_device_describe(self->device)->is_simulated)
            continue;
        memset(pinned, i, bytes); /* so that its pages are there */
        memset(self->pageable[i], i, bytes);
    }
    for (size_t i = 0; i < self->options.peer_count && !status; i++)
        status = haul_buffer_new(self->options.peers[i], HAUL_BUFFER_DEVICE, bytes,
                                 &self->on_peers[i], error);
    return status;
}

/* On failure haul_session_end frees what was made: members that were not are NULL. */
haul_status haul_session_begin(haul_session *session, haul_device *device,
                               const haul_measure_options *options, haul_error *error)
{
    *session = (haul_session){.device = device, .options = *options};
    if (options->peer_count > HAUL_PEERS_MOST)
        return haul_fail(error, HAUL_USAGE, "at most %d peers are measured", HAUL_PEERS_MOST);
    haul_status status = choose_sizes(session, error);
    if (!status && options->journal)
        status = haul_journal_open(&session->journal, options->journal,
                                   haul_device_describe(device)->name, error);
    for (int i = 0; i < HAUL_SESSION_STREAMS && !status; i++)
        status = haul_stream_new(device, &session->streams[i], error);
    for (int i = 0; i < HAUL_SESSION_EVENTS && !status; i++)
        status = haul_event_new(device, &session->events[i], error);
    if (!status)
        status = allocate(session, error);
    const haul_device_properties *properties = haul_device_describe(device);
    if (!status && properties->is_host)
        status = haul_kernel_new(device, &count_up, &session->compute, error);
    else if (!status && !properties->is_simulated)
        status = haul_kernel_new(device, &chains_single, &session->hold, error);
    return status;
}

void haul_session_end(haul_session *session)
{
    haul_kernel_free(session->compute);
    haul_kernel_free(session->hold);
    for (int i = 0; i < HAUL_SESSION_EVENTS; i++)
        haul_event_free(session->events[i]);
    for (int i = 0; i < HAUL_SESSION_STREAMS; i++)
        haul_stream_free(session->streams[i]);
    for (int i = 0; i < HAUL_SESSION_BUFFERS; i++) {
        haul_buffer_free(session->on_device[i]);
        haul_buffer_free(session->pinned[i]);
        free(session->pageable[i]);
    }
    for (size_t i = 0; i < session->options.peer_count && i < HAUL_PEERS_MOST; i++)
        haul_buffer_free(session->on_peers[i]);
    haul_journal_close(&session->journal);
    haul_arena_release(&session->arena);
}

/* Spent time is that of the host, which bounds how long a user waits; durations are the
 * device's. */
static double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A trial while it is measured. */
typedef struct running {
    double seconds[ATTEMPTS_MOST];
    unsigned count;
    double spent_s;
    bool is_kept; /* the journal has it */
} running;

static haul_status try_once(haul_session *self, const haul_trial *trial, running *run,
                            haul_error *error)
{
    const double begin_s = clock_s();
    const haul_status status = trial->attempt(self, trial->what, &run->seconds[run->count], error);
    run->spent_s += clock_s() - begin_s;
    run->count++;
    return status;
}

/* The median and the quartiles: one attempt that the system interrupted does not move them. Sorts
 * the attempts, whose order does not count. */
static haul_point_measured outcome_of(running *run)
{
    haul_sort_doubles(run->seconds, run->count);
    const double range = haul_quantile_sorted(run->seconds, run->count, 0.75) -
                         haul_quantile_sorted(run->seconds, run->count, 0.25);
    const double median = haul_quantile_sorted(run->seconds, run->count, 0.5);
    return (haul_point_measured){
        .seconds = median,
        .spread = median > 0 ? 100 * range / median : 0,
        .count = run->count,
    };
}

/* A quartile of normal noise is 0.67 of its deviation away, and a median's own deviation 1.25 of
 * that over the root of the count. */
double haul_median_error(const haul_point_measured *point)
{
    return 1.25 * point->spread / (2 * 0.67) / sqrt(point->count);
}

static bool goes_on(running *run, double point_s)
{
    if (run->is_kept || run->count >= ATTEMPTS_MOST)
        return false;
    if (run->count < ATTEMPTS_LEAST || (run->count < ATTEMPTS_USUAL && run->spent_s < point_s))
        return true;
    if (run->spent_s >= longest * point_s)
        return false;
    const haul_point_measured so_far = outcome_of(run);
    return haul_median_error(&so_far) > sure_enough;
}

/* In turns, there and back, so that none always follows the largest. The first attempt warms up
 * what is lazy: pages, caches, drivers. */
static haul_status try_in_turns(haul_session *self, const haul_trial *trials, running *runs,
                                size_t count, haul_error *error)
{
    const bool is_exact = haul_device_describe(self->device)->is_simulated;
    haul_status status = HAUL_OK;
    for (size_t i = 0; i < count && !status; i++) {
        if (!runs[i].is_kept && self->options.progress)
            self->options.progress(self->options.progress_state, trials[i].name);
        if (!runs[i].is_kept && !is_exact)
            status = try_once(self, &trials[i], &runs[i], error);
        runs[i].count = 0;
        runs[i].spent_s = 0;
    }
    bool has_more = true;
    for (unsigned round = 0; has_more && !status; round++) {
        has_more = false;
        for (size_t i = 0; i < count && !status; i++) {
            const size_t at = round % 2 ? count - 1 - i : i;
            running *run = &runs[at];
            if (is_exact ? run->is_kept || run->count : !goes_on(run, self->options.point_s))
                continue;
            has_more = true;
            status = try_once(self, &trials[at], run, error);
        }
    }
    return status;
}

static haul_status take_outcome(haul_session *self, haul_trial *trial, running *run,
                                haul_error *error)
{
    trial->point = outcome_of(run);
    trial->point.name = trial->name;
    return haul_journal_add(&self->journal, &trial->point, error);
}

/* Points that the journal has count as measured, but only those of an earlier run as kept: a point
 * that is asked for twice in one run is in the journal too. */
haul_status haul_session_trials(haul_session *session, haul_trial *trials, size_t count,
                                haul_error *error)
{
    running *runs = calloc(count, sizeof *runs);
    if (!runs)
        return haul_fail_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        const haul_point_measured *kept = haul_journal_find(&session->journal, trials[i].name);
        session->made.points++;
        runs[i].is_kept = kept != NULL;
        if (!kept)
            continue;
        trials[i].point = *kept;
        session->made.points_kept +=
            (size_t)(kept - session->journal.points) < session->journal.from_file;
    }
    haul_status status = try_in_turns(session, trials, runs, count, error);
    for (size_t i = 0; i < count && !status; i++)
        if (!runs[i].is_kept)
            status = take_outcome(session, &trials[i], &runs[i], error);
    free(runs);
    return status;
}

haul_status haul_session_point(haul_session *session, const char *name, haul_attempt attempt,
                               const void *what, haul_point_measured *point, haul_error *error)
{
    haul_trial trial = {.attempt = attempt, .what = what};
    snprintf(trial.name, sizeof trial.name, "%s", name);
    const haul_status status = haul_session_trials(session, &trial, 1, error);
    if (!status)
        *point = trial.point;
    return status;
}

static haul_address host_end(const haul_session *self, haul_way way, int stream, uint64_t at)
{
    if (way.host)
        return haul_in_buffer(way.host, at);
    return way.memory == HAUL_PINNED ? haul_in_buffer(self->pinned[stream], at)
                                     : haul_in_host(self->pageable[stream] + at);
}

/* Where a copy begins: behind the one before, at a page, or at the front where it does not fit. */
static uint64_t next_place(haul_session *self, uint64_t bytes)
{
    const uint64_t largest = self->options.largest_bytes;
    const uint64_t at = bytes <= largest && self->cursor <= largest - bytes ? self->cursor : 0;
    self->cursor = (at + bytes + PAGE) / PAGE * PAGE;
    return at;
}

haul_status haul_session_compute(haul_session *session, uint64_t bytes, haul_error *error)
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

haul_status haul_session_hold(haul_session *session, int stream, haul_error *error)
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

haul_status haul_session_copy(haul_session *session, haul_way way, uint64_t bytes, int stream,
                              haul_event *event, haul_error *error)
{
    haul_transfer transfer = {.size = {bytes}};
    const uint64_t at = next_place(session, bytes);
    const haul_address device = haul_in_buffer(session->on_device[stream], 0);
    switch (way.direction) {
    case HAUL_HTOD:
        transfer.to = device;
        transfer.from = host_end(session, way, stream, at);
        break;
    case HAUL_DTOH:
        transfer.to = host_end(session, way, stream, at);
        transfer.from = device;
        break;
    case HAUL_PTOP:
        transfer.to = haul_in_buffer(session->on_peers[0], at);
        transfer.from = device;
        break;
    default:
        transfer.to = haul_in_buffer(session->on_device[1 - stream], at);
        transfer.from = device;
    }
    return haul_stream_copy(session->streams[stream], &transfer, event, error);
}

haul_status haul_session_wait(haul_session *session, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int i = 0; i < HAUL_SESSION_STREAMS && !status; i++)
        status = haul_stream_wait(session->streams[i], error);
    return status;
}

haul_status haul_session_pair_seconds(haul_session *session, double *seconds, haul_error *error)
{
    haul_event *const *events = session->events;
    double forward = 0, backward = 0;
    haul_status status = haul_session_wait(session, error);
    if (!status)
        status = haul_event_seconds(events[0], events[1], &forward, error);
    if (!status)
        status = haul_event_seconds(events[1], events[0], &backward, error);
    *seconds = forward > backward ? forward : backward;
    return status;
}

/* The source says how sure the value is; it goes into the machine's file. */
haul_parameter haul_session_found(haul_session *session, double value,
                                  const haul_point_measured *point)
{
    const char *source = haul_arena_format(
        &session->arena, "haul measure, median of %u, spread %.2g %%", point->count, point->spread);
    return (haul_parameter){value, HAUL_MEASURED, source};
}

void haul_session_tell(haul_session *session, haul_dimension dimension, double value,
                       const haul_point_measured *point, const char *format, ...)
{
    haul_measurement *made = &session->made;
    if (made->finding_count == HAUL_FINDINGS_MOST)
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
