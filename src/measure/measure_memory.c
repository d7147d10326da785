/* How fast kernels read and write the device's memory, and read its L2. */
#include <stdio.h>

#include "measure/kernel_runs.h"
#include "measure/rate_kernels.h"
#include "measure/session.h"

/* An array of the triad is TIMES_L2 as large as L2: of half of it, which a launch has too, L2 keeps
 * little. */
enum {
    SMALLEST_TRIAD = 1 << 14, /* elements */
    HELD_THREADS = 2048,      /* by a multiprocessor */
    LEAST_WORDS = 1024,
    TIMES_L2 = 8,
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Three arrays of so many bytes. */
typedef struct arrays {
    haul_argument at[3];
    uint64_t bytes;
    haul_buffer *own; /* NULL: they lie in the session's buffers */
} arrays;

/* Larger than a GPU's L2, where it has room for them. */
static haul_status make_larger(hl_measure_session *self, arrays *to, haul_error *error)
{
    const uint64_t bytes =
        (haul_device_describe(self->device)->l2_bytes / 4096 + 1) * 4096 * TIMES_L2;
    const haul_status status =
        haul_buffer_new(self->device, HAUL_BUFFER_DEVICE, 3 * bytes, &to->own, error);
    if (status)
        return status == HAUL_STATUS_DEVICE_FULL ? HAUL_OK : status;
    to->bytes = bytes;
    for (uint64_t i = 0; i < 3; i++)
        to->at[i] = (haul_argument){.buffer = to->own, .offset = i * bytes};
    const haul_filling filling = {to->own, 0, 3 * bytes, 0};
    return haul_stream_fill(self->streams[0], &filling, NULL, error);
}

/* The triad at each size, its launch with it. */
static haul_status measure_triads(hl_measure_session *self, const hl_measure_run *whole,
                                  haul_error *error)
{
    haul_measurement *made = &self->made;
    haul_status status = HAUL_OK;
    for (int count = SMALLEST_TRIAD; count <= whole->count && !status; count *= 2) {
        char name[64];
        hl_measure_point_measured point;
        hl_measure_run run = *whole;
        run.count = count;
        const double bytes = whole->bytes * count / whole->count;
        snprintf(name, sizeof name, "triad of %.0f bytes", bytes);
        status = hl_measure_session_point(self, name, hl_measure_run_try, &run, &point, error);
        if (status || !(point.seconds > 0) || made->triad_count == HAUL_MEASURE_TRIAD_MOST)
            continue;
        made->triad[made->triad_count++] =
            (haul_triad_rate){(uint64_t)bytes, bytes / point.seconds};
    }
    return status;
}

/* Reads within half of L2. Steps by the golden ratio of the array spread a multiprocessor's reads
 * evenly, so that it reads a word again only after it has read more than its L1 holds. */
static haul_status measure_l2(hl_measure_session *self, haul_error *error)
{
    const haul_device_properties *device = haul_device_describe(self->device);
    const uint64_t most = smaller(device->l2_bytes / 2, self->options.largest_bytes);
    const uint64_t threads = (uint64_t)device->multiprocessors * HELD_THREADS;
    haul_kernel *kernel;
    int words = LEAST_WORDS;
    while (2 * (uint64_t)words * sizeof(float) <= most)
        words *= 2;
    const int mask = words - 1, stride = (int)(0.618 * words) / 32 * 32;
    const haul_argument arguments[] = {{.buffer = self->on_device[0]},
                                       {.buffer = self->on_device[1]},
                                       {.value = NULL},
                                       {.value = &stride},
                                       {.value = &mask}};
    hl_measure_run each = {
        .arguments = arguments,
        .argument_count = sizeof arguments / sizeof *arguments,
        .count = (int)smaller(threads, self->options.largest_bytes / sizeof(float)),
        .rate = &self->machine.gpu.l2_Bps,
    };
    each.bytes = (double)each.count * sizeof(float);
    if (most < LEAST_WORDS * sizeof(float))
        return HAUL_OK;
    HAUL_TRY(haul_kernel_new(self->device, &reread, &kernel, error));
    each.kernel = kernel;
    const haul_status status = hl_measure_run_steps(self, "reads within L2", &each, 2, error);
    haul_kernel_free(kernel);
    return status;
}

/* The triad with four indices a thread: the faster of the two is what the memory sustains. */
static haul_status measure_wide(hl_measure_session *self, const arrays *used, haul_error *error)
{
    enum { INDICES = 4 };
    haul_parameter rate = {0};
    haul_kernel *kernel;
    HAUL_TRY(haul_kernel_new(self->device, &triad_of_four, &kernel, error));
    const int apart = (int)(used->bytes / sizeof(float) / INDICES), half_apart = apart / 2;
    haul_argument whole_arguments[] = {used->at[0], used->at[1], used->at[2], {.value = &apart}};
    haul_argument half_arguments[] = {
        used->at[0], used->at[1], used->at[2], {.value = &half_apart}};
    const hl_measure_run whole = {
        .kernel = kernel,
        .arguments = whole_arguments,
        .argument_count = 4,
        .count = apart,
        .bytes = 3.0 * INDICES * sizeof(float) * apart,
        .rate = &rate,
    };
    hl_measure_run half = whole;
    half.arguments = half_arguments;
    half.count = half_apart;
    half.bytes /= 2;
    const haul_status status = hl_measure_run_slope(self, "triad of four", &whole, &half, error);
    haul_kernel_free(kernel);
    if (!status && rate.value > self->machine.gpu.memory_bandwidth_Bps.value)
        self->machine.gpu.memory_bandwidth_Bps = rate;
    return status;
}

/* STREAM's triad over arrays larger than the caches: three words an index, one of them written. */
haul_status hl_measure_memory(hl_measure_session *session, haul_error *error)
{
    haul_kernel *kernel;
    arrays used;
    HAUL_TRY(haul_kernel_new(session->device, &triad, &kernel, error));
    /* Half a buffer each: three arrays in the two buffers that copies use, so that nothing more is
     * allocated on a small device. */
    const uint64_t bytes = session->options.largest_bytes / 2;
    used = (arrays){.at = {{.buffer = session->on_device[0]},
                           {.buffer = session->on_device[0], .offset = bytes},
                           {.buffer = session->on_device[1]}},
                    .bytes = bytes};
    const bool is_small = bytes < TIMES_L2 * haul_device_describe(session->device)->l2_bytes;
    haul_status status =
        is_small && hl_measure_is_gpu(session) ? make_larger(session, &used, error) : HAUL_OK;
    const hl_measure_run whole = {
        .kernel = kernel,
        .arguments = used.at,
        .argument_count = 3,
        .count = (int)(used.bytes / sizeof(float)),
        .bytes = 3.0 * (double)used.bytes,
        .rate = &session->machine.gpu.memory_bandwidth_Bps,
    };
    hl_measure_run half = whole;
    half.count /= 2;
    half.bytes /= 2;
    if (!status)
        status = hl_measure_run_slope(session, "triad", &whole, &half, error);
    if (!status && hl_measure_is_gpu(session))
        status = measure_triads(session, &whole, error);
    if (!status && hl_measure_is_gpu(session))
        status = measure_wide(session, &used, error);
    if (!status && hl_measure_is_gpu(session))
        status = measure_l2(session, error);
    session->machine.gpu.stream_Bps = session->machine.gpu.memory_bandwidth_Bps;
    haul_buffer_free(used.own);
    haul_kernel_free(kernel);
    return status;
}
