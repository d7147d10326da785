#include "board.h"

#include <stdio.h>
#include <stdlib.h>

#include "board_kernels.h"

static haul_device *device;
static haul_stream *stream;
static haul_event *event;
static haul_error error;

static void must(haul_status status)
{
    if (status == HAUL_OK)
        return;
    char text[1024];
    fprintf(stderr, "kernels: %s\n", haul_error_format(&error, text, sizeof text));
    exit(status == HAUL_STATUS_ABSENT || status == HAUL_STATUS_USAGE ? haul_status_exit_code(status)
                                                                     : 1);
}

const char *board_open(const char *name)
{
    must(haul_device_open(name, NULL, &device, &error));
    must(haul_stream_new(device, &stream, &error));
    must(haul_event_new(device, &event, &error));
    return haul_device_describe(device)->name;
}

void board_close(void)
{
    haul_event_free(event);
    haul_stream_free(stream);
    haul_device_close(device);
}

static void copy(haul_address to, haul_address from, size_t bytes)
{
    const haul_transfer transfer = {.to = to, .from = from, .size = {bytes}};
    must(haul_stream_copy(stream, &transfer, NULL, &error));
    must(haul_stream_wait(stream, &error));
}

static haul_buffer *buffer_of(size_t bytes, const void *data)
{
    haul_buffer *buffer;
    must(haul_buffer_new(device, HAUL_BUFFER_DEVICE, bytes, &buffer, &error));
    if (data)
        copy(haul_in_buffer(buffer, 0), haul_in_host(data), bytes);
    return buffer;
}

/* Times launches: one that does not count, then the others. */
static void time_launches(const haul_kernel_source *source, const haul_launch *launch,
                          int repetitions, double *seconds)
{
    haul_kernel *kernel;
    must(haul_kernel_new(device, source, &kernel, &error));
    for (int i = -1; i < repetitions; i++) {
        double took;
        must(haul_stream_launch(stream, kernel, launch, event, &error));
        must(haul_event_wait(event, &error));
        must(haul_event_seconds(event, event, &took, &error));
        if (i >= 0)
            seconds[i] = took;
    }
    haul_kernel_free(kernel);
}

void board_matmul(int variant, int n, const float *a, const float *b, float *c, int repetitions,
                  double *seconds)
{
    static const haul_kernel_source *const kernels[MATMULS] = {
        &matmul_global_uncoalesced, &matmul_global, &matmul_shared_uncoalesced, &matmul_shared};
    const size_t bytes = sizeof *a * (size_t)n * (size_t)n;
    const int tiles = (n + BOARD_TILE - 1) / BOARD_TILE;
    const haul_argument arguments[] = {{.buffer = buffer_of(bytes, a)},
                                       {.buffer = buffer_of(bytes, b)},
                                       {.buffer = buffer_of(bytes, NULL)},
                                       {.value = &n}};
    const haul_launch launch = {
        .box = {.hi = {tiles, tiles}}, .arguments = arguments, .argument_count = 4};
    time_launches(kernels[variant], &launch, repetitions, seconds);
    copy(haul_in_host(c), haul_in_buffer(arguments[2].buffer, 0), bytes);
    for (int i = 0; i < 3; i++)
        haul_buffer_free(arguments[i].buffer);
}

void board_max_subarray(int n, const int *x, int *results, int repetitions, double *seconds)
{
    const size_t bytes = sizeof *results * BOARD_RESULTS * BOARD_BLOCKS * BOARD_WIDTH;
    const haul_argument arguments[] = {{.buffer = buffer_of(sizeof *x * (size_t)n, x)},
                                       {.buffer = buffer_of(bytes, NULL)},
                                       {.value = &n}};
    const haul_launch launch = {
        .box = {.hi = {BOARD_BLOCKS}}, .arguments = arguments, .argument_count = 3};
    time_launches(&max_subarray, &launch, repetitions, seconds);
    copy(haul_in_host(results), haul_in_buffer(arguments[1].buffer, 0), bytes);
    for (int i = 0; i < 2; i++)
        haul_buffer_free(arguments[i].buffer);
}
