#include "device/host_work.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "haul/device_backend.h"

#ifdef _OPENMP
#include <omp.h>
#endif

haul_status hl_device_host_kernel_new(const haul_kernel_source *source, bool runs,
                                      haul_kernel **kernel, haul_error *error)
{
    if (runs && !source->host)
        return haul_error_set(error, HAUL_STATUS_ABSENT, "kernel '%s' has no function for the host",
                              source->name);
    haul_kernel *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    *kernel = self;
    return HAUL_OK;
}

void hl_device_host_kernel_free(haul_kernel *kernel)
{
    free(kernel);
}

/* Values are aligned as any type needs. */
static size_t rounded(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

/* Copies the values: the caller's may be gone when the kernel runs. */
haul_status hl_device_host_task_kernel(const haul_kernel_source *source, const haul_launch *launch,
                                       void *(*address_of)(const haul_buffer *buffer),
                                       hl_device_host_task *task, haul_error *error)
{
    size_t bytes = 0;
    for (size_t i = 0; i < launch->argument_count; i++)
        if (!launch->arguments[i].buffer)
            bytes += rounded(source->parameters[i].bytes);
    hl_device_host_call call = {.source = source, .box = launch->box};
    if (bytes && !(call.values = malloc(bytes)))
        return hl_base_fail_no_memory(error);
    char *value = call.values;
    for (size_t i = 0; i < launch->argument_count; i++) {
        const haul_argument *argument = &launch->arguments[i];
        if (argument->buffer) {
            call.arguments[i] = (char *)address_of(argument->buffer) + argument->offset;
            continue;
        }
        if (value) /* else no value has a byte */
            memcpy(value, argument->value, source->parameters[i].bytes);
        call.arguments[i] = value;
        value += rounded(source->parameters[i].bytes);
    }
    *task = (hl_device_host_task){.kind = HL_DEVICE_TASK_KERNEL, .kernel = call};
    return HAUL_OK;
}

/* Rows `first` to `last` of the box's direction d. */
static void run_rows(const hl_device_host_call *call, int d, int64_t first, int64_t last)
{
    haul_box box = call->box;
    box.lo[d] = (int)first;
    box.hi[d] = (int)last;
    if (first < last)
        call->source->host(&box, &call->box, call->arguments);
}

/* Most rows in one part a thread, in order: a thread meets the same rows in every launch over the
 * same box. The last ones of each part go to the thread that is free: cores are not equally fast.
 */
static void run_kernel(const hl_device_host_call *call)
{
    enum { PIECES = 8, FREE = 2 }; /* a part's pieces, of which FREE are anyone's */
    /* the outermost direction that has something to divide: rows stay whole for the vectoriser */
    int d = 2;
    while (d > 0 && call->box.hi[d] - call->box.lo[d] <= 1)
        d--;
    const int64_t first = call->box.lo[d], length = (int64_t)call->box.hi[d] - first;
#ifdef _OPENMP
    const int64_t parts = omp_get_max_threads();
#else
    const int64_t parts = 1;
#endif
    const int64_t pieces = parts * PIECES;
#ifdef _OPENMP
#pragma omp parallel
#endif
    {
#ifdef _OPENMP
#pragma omp for schedule(static) nowait
#endif
        for (int64_t part = 0; part < parts; part++)
            run_rows(call, d, first + length * (part * PIECES) / pieces,
                     first + length * (part * PIECES + PIECES - FREE) / pieces);
#ifdef _OPENMP
#pragma omp for schedule(dynamic)
#endif
        for (int64_t i = 0; i < parts * FREE; i++) {
            const int64_t piece = i / FREE * PIECES + PIECES - FREE + i % FREE;
            run_rows(call, d, first + length * piece / pieces,
                     first + length * (piece + 1) / pieces);
        }
    }
}

/* Touches each page, unless that would use up the memory: a first copy would else pay for the page
 * faults. */
void *hl_device_host_pages(uint64_t bytes)
{
    const long page = sysconf(_SC_PAGESIZE), there = sysconf(_SC_AVPHYS_PAGES);
    void *data = NULL;
    if (page <= 0 || posix_memalign(&data, (size_t)page, bytes))
        return NULL;
    if (there > 0 && bytes / (uint64_t)page < (uint64_t)there)
        for (uint64_t at = 0; at < bytes; at += (uint64_t)page)
            ((char *)data)[at] = 0;
    return data;
}

void hl_device_host_copy(void *to, const void *from, const haul_transfer *shape)
{
    const uint64_t *size = shape->size;
    if (!size[0] || !to || !from)
        return;
    for (uint64_t z = 0; z < size[2]; z++)
        for (uint64_t y = 0; y < size[1]; y++)
            memcpy((char *)to + z * shape->to_pitch[1] + y * shape->to_pitch[0],
                   (const char *)from + z * shape->from_pitch[1] + y * shape->from_pitch[0],
                   size[0]);
}

void hl_device_host_task_run(hl_device_host_task *task)
{
    switch (task->kind) {
    case HL_DEVICE_TASK_COPY:
        hl_device_host_copy(task->copy.to, task->copy.from, &task->copy.shape);
        break;
    case HL_DEVICE_TASK_FILL:
        if (task->fill.at)
            memset(task->fill.at, task->fill.value, task->fill.bytes);
        break;
    case HL_DEVICE_TASK_CALL:
        task->call.function(task->call.state);
        break;
    case HL_DEVICE_TASK_KERNEL:
        run_kernel(&task->kernel);
        break;
    case HL_DEVICE_TASK_NOTHING:
        break;
    }
    hl_device_host_task_release(task);
}

void hl_device_host_task_release(hl_device_host_task *task)
{
    if (task->kind == HL_DEVICE_TASK_KERNEL)
        free(task->kernel.values);
    task->kind = HL_DEVICE_TASK_NOTHING;
}
