/* The rates of a device's copies and kernels, in a few lines, for machines where only the device
 * interface can be built: check_devices. `haul measure` does it better. Exit code 4 where there is
 * no such device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/device.h"
#include "measure/rate_kernels.h"

enum { TIMES = 11, LAUNCHES = 100 };

/* How much is copied and computed. */
typedef struct amount {
    uint64_t bytes;
    int threads, steps;
} amount;

static const amount usual = {64 << 20, 1 << 20, 512}, quick = {1 << 20, 1 << 10, 1};

typedef struct bench {
    amount much;
    haul_device *device;
    haul_stream *stream;
    haul_event *event;
    haul_buffer *on_device[3];
    haul_buffer *on_host[3]; /* pinned, write-combined, mapped */
    char *pageable;
    haul_error error;
} bench;

static void must(const bench *self, haul_status status)
{
    char text[1024];
    if (!status)
        return;
    fprintf(stderr, "device_rates: %s\n", haul_error_format(&self->error, text, sizeof text));
    exit(status == HAUL_STATUS_ABSENT ? 4 : 1);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void prepare(bench *self, const char *name)
{
    static const haul_buffer_kind kinds[] = {HAUL_BUFFER_PINNED, HAUL_BUFFER_WRITE_COMBINED,
                                             HAUL_BUFFER_MAPPED};
    haul_error *error = &self->error;
    must(self, haul_device_open(name, NULL, &self->device, error));
    must(self, haul_stream_new(self->device, &self->stream, error));
    must(self, haul_event_new(self->device, &self->event, error));
    for (int i = 0; i < 3; i++) {
        haul_buffer **made = &self->on_device[i];
        must(self,
             haul_buffer_new(self->device, HAUL_BUFFER_DEVICE, self->much.bytes, made, error));
        const haul_filling zero = {*made, 0, self->much.bytes, 0};
        must(self, haul_stream_fill(self->stream, &zero, NULL, error));
        if (haul_buffer_new(self->device, kinds[i], self->much.bytes, &self->on_host[i], error))
            self->on_host[i] = NULL;
        else
            memset(haul_buffer_host(self->on_host[i]), 1, self->much.bytes);
    }
    self->pageable = malloc(self->much.bytes);
    if (!self->pageable)
        exit(1);
    memset(self->pageable, 1, self->much.bytes);
    must(self, haul_stream_wait(self->stream, error));
}

static void release(bench *self)
{
    for (int i = 0; i < 3; i++) {
        haul_buffer_free(self->on_device[i]);
        haul_buffer_free(self->on_host[i]);
    }
    haul_event_free(self->event);
    haul_stream_free(self->stream);
    haul_device_close(self->device);
    free(self->pageable);
}

/* The median of some copies, in seconds; the first does not count. */
static double copy(bench *self, haul_address to, haul_address from, uint64_t bytes)
{
    double seconds[TIMES + 1];
    const haul_transfer transfer = {.to = to, .from = from, .size = {bytes}};
    for (int i = 0; i <= TIMES; i++) {
        must(self, haul_stream_copy(self->stream, &transfer, self->event, &self->error));
        must(self, haul_event_wait(self->event, &self->error));
        must(self, haul_event_seconds(self->event, self->event, &seconds[i], &self->error));
    }
    qsort(seconds + 1, TIMES, sizeof *seconds, compare);
    return seconds[1 + TIMES / 2];
}

static void print_copy(bench *self, const char *words, haul_address to, haul_address from)
{
    printf("%-24s %8.2f us %8.2f GB/s\n", words, 1e6 * copy(self, to, from, 1),
           1e-9 * (double)self->much.bytes / copy(self, to, from, self->much.bytes));
}

static void print_copies(bench *self)
{
    static const char *const names[] = {"pinned", "write-combined", "mapped"};
    const haul_address there = haul_in_buffer(self->on_device[0], 0);
    const haul_address pageable = haul_in_host(self->pageable);
    char words[64];
    printf("%-24s %11s %10.0f MiB\n", "copy", "one byte", (double)self->much.bytes / (1 << 20));
    for (int i = 0; i < 3; i++) {
        if (!self->on_host[i])
            continue;
        snprintf(words, sizeof words, "HtoD %s", names[i]);
        print_copy(self, words, there, haul_in_buffer(self->on_host[i], 0));
        snprintf(words, sizeof words, "DtoH %s", names[i]);
        print_copy(self, words, haul_in_buffer(self->on_host[i], 0), there);
    }
    print_copy(self, "HtoD pageable", there, pageable);
    print_copy(self, "DtoH pageable", pageable, there);
    print_copy(self, "DtoD", haul_in_buffer(self->on_device[1], 0), there);
}

/* The median of some launches, in seconds; the first does not count. */
static double launch(bench *self, const haul_kernel_source *source, const haul_argument *arguments,
                     size_t count, int threads)
{
    double seconds[TIMES + 1];
    haul_kernel *kernel;
    const haul_launch what = {
        .box = {{0}, {threads}}, .arguments = arguments, .argument_count = count};
    must(self, haul_kernel_new(self->device, source, &kernel, &self->error));
    for (int i = 0; i <= TIMES; i++) {
        must(self, haul_stream_launch(self->stream, kernel, &what, self->event, &self->error));
        must(self, haul_event_wait(self->event, &self->error));
        must(self, haul_event_seconds(self->event, self->event, &seconds[i], &self->error));
    }
    haul_kernel_free(kernel);
    qsort(seconds + 1, TIMES, sizeof *seconds, compare);
    return seconds[1 + TIMES / 2];
}

static void print_kernels(bench *self)
{
    const double bytes = (double)self->much.bytes;
    const int none = 0;
    haul_argument arrays[3] = {{NULL}};
    for (int i = 0; i < 3; i++)
        arrays[i].buffer = self->on_device[i];
    haul_argument chains[2] = {{.buffer = self->on_device[0]}, {.value = &none}};
    const double nothing = launch(self, &chains_single, chains, 2, 1);
    printf("%-24s %8.2f us\n", "kernel of one thread", 1e6 * nothing);
    printf("%-24s %21.2f GB/s\n", "triad of three such",
           3e-9 * bytes / launch(self, &triad, arrays, 3, (int)(bytes / 4)));
    chains[1].value = &self->much.steps;
    const double flops = 2.0 * 128 * self->much.steps * self->much.threads;
    printf("%-24s %18.3f Tflop/s\n", "fp64",
           1e-12 * flops / launch(self, &chains_double, chains, 2, self->much.threads));
    printf("%-24s %18.3f Tflop/s\n", "fp32",
           1e-12 * flops / launch(self, &chains_single, chains, 2, self->much.threads));
}

/* The host's time of a call, which a launch queue takes in. */
static void print_calls(bench *self)
{
    const int none = 0;
    const haul_argument arguments[2] = {{.buffer = self->on_device[0]}, {.value = &none}};
    const haul_launch what = {.box = {{0}, {1}}, .arguments = arguments, .argument_count = 2};
    haul_kernel *kernel;
    must(self, haul_kernel_new(self->device, &chains_single, &kernel, &self->error));
    const int64_t begin = haul_device_now(self->device);
    for (int i = 0; i < LAUNCHES; i++)
        must(self, haul_stream_launch(self->stream, kernel, &what, NULL, &self->error));
    const int64_t end = haul_device_now(self->device);
    must(self, haul_stream_wait(self->stream, &self->error));
    printf("%-24s %8.2f us\n", "call that launches", 1e-3 * (double)(end - begin) / LAUNCHES);
    haul_kernel_free(kernel);
}

int main(int argc, char **argv)
{
    bench self = {.device = NULL};
    if (argc < 2 || argc > 3) {
        fputs("usage: device_rates DEVICE [quick]\n", stderr);
        return 2;
    }
    self.much = argc > 2 ? quick : usual;
    prepare(&self, argv[1]);
    const haul_device_properties *is = haul_device_describe(self.device);
    printf("device   %s\n", is->name);
    printf("memory   %.2f GiB, %.0f GB/s\n", (double)is->memory_bytes / (1 << 30),
           1e-9 * is->memory_bandwidth_Bps);
    printf("clock    %.0f MHz, %u multiprocessors, %u copy engines, compute %u.%u\n\n",
           1e-6 * is->clock_Hz, is->multiprocessors, is->copy_engines, is->compute_major,
           is->compute_minor);
    print_copies(&self);
    print_kernels(&self);
    print_calls(&self);
    release(&self);
    return 0;
}
