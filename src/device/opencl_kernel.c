/* Kernels: compiled, kept on disk and launched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "device/compile_log.h"
#include "device/kernel_cache.h"
#include "device/kernel_given.h"
#include "device/opencl_device.h"

/* On a CPU a work-item does a row, which PoCL can vectorise (haul/kernel_source.h). */
static const char *options_of(const hl_device_cl_device *self)
{
    return self->is_cpu ? "-DHAUL_ROWS" : "";
}

/* NULL for a binary that is not there or that the driver does not take: the text is compiled
 * then. */
static cl_program build_binary(const hl_device_cl_device *self, const char *key)
{
    size_t size;
    unsigned char *bytes = hl_device_kernel_cache_read(self->base.options.cache_folder, key, &size);
    if (!bytes)
        return NULL;
    cl_int code;
    const unsigned char *binary = bytes;
    cl_program program = self->api.clCreateProgramWithBinary(self->node->context, 1, &self->id,
                                                             &size, &binary, NULL, &code);
    free(bytes);
    if (code != CL_SUCCESS)
        return NULL;
    if (self->api.clBuildProgram(program, 1, &self->id, options_of(self), NULL, NULL) == CL_SUCCESS)
        return program;
    self->api.clReleaseProgram(program);
    return NULL;
}

/* A program of a context of parts has one binary a device, all but the own of no use. All failures
 * are silent: the cache only saves time. */
static void keep_binary(const hl_device_cl_device *self, cl_program program, const char *key)
{
    size_t sizes[HL_DEVICE_CL_PARTS] = {0};
    unsigned char *binaries[HL_DEVICE_CL_PARTS] = {NULL};
    cl_device_id devices[HL_DEVICE_CL_PARTS];
    size_t which = 0;
    const cl_uint count = self->node->count;
    if (self->api.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof devices, devices, NULL) ||
        self->api.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, NULL))
        return;
    while (which < count && devices[which] != self->id)
        which++;
    if (which == count || !sizes[which] || !(binaries[which] = malloc(sizes[which])))
        return;
    if (self->api.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binaries, binaries, NULL) ==
        CL_SUCCESS)
        hl_device_kernel_cache_write(self->base.options.cache_folder, key, binaries[which],
                                     sizes[which]);
    free(binaries[which]);
}

static haul_status build_text(const hl_device_cl_device *self, const haul_kernel_source *source,
                              const char *text, cl_program *program, haul_error *error)
{
    cl_int code;
    *program = self->api.clCreateProgramWithSource(self->node->context, 1, &text, NULL, &code);
    if (code != CL_SUCCESS)
        return hl_device_cl_fail(code, "clCreateProgramWithSource", error);
    code = self->api.clBuildProgram(*program, 1, &self->id, options_of(self), NULL, NULL);
    if (code == CL_SUCCESS)
        return HAUL_OK;
    char log[16384] = "";
    self->api.clGetProgramBuildInfo(*program, self->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log,
                                    NULL);
    const haul_status status = hl_device_fail_compile(source, log, error);
    self->api.clReleaseProgram(*program);
    return status;
}

/* Without memory for a key it compiles without the cache. */
static haul_status build(const hl_device_cl_device *self, const haul_kernel_source *source,
                         cl_program *program, haul_error *error)
{
    char *text;
    HAUL_TRY(haul_kernel_text(source, &text, error));
    haul_status status = HAUL_OK;
    /* A compiled kernel is good for its text, its options, and the device with its driver. */
    const size_t size = strlen(text) + strlen(self->name) + strlen(self->version) + 64;
    char *key = malloc(size);
    if (key)
        snprintf(key, size, "opencl\n%s\n%s\n%s\n%s", self->name, self->version, options_of(self),
                 text);
    *program = key ? build_binary(self, key) : NULL;
    if (!*program) {
        status = build_text(self, source, text, program, error);
        if (!status && key)
            keep_binary(self, *program, key);
    }
    free(key);
    free(text);
    return status;
}

haul_status hl_device_cl_kernel_new(haul_device *device, const haul_kernel_source *source,
                                    haul_kernel **kernel, haul_error *error)
{
    const hl_device_cl_device *owner = (hl_device_cl_device *)device;
    cl_program program;
    cl_int code;
    hl_device_cl_kernel *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    haul_status status = build(owner, source, &program, error);
    if (status) {
        free(self);
        return status;
    }
    /* the kernel keeps its program alive: it is released at once */
    self->kernel = owner->api.clCreateKernel(program, source->name, &code);
    owner->api.clReleaseProgram(program);
    if (code != CL_SUCCESS) {
        free(self);
        return hl_device_cl_fail(code, "clCreateKernel", error);
    }
    *kernel = &self->base;
    return HAUL_OK;
}

void hl_device_cl_kernel_free(haul_kernel *kernel)
{
    ((hl_device_cl_device *)kernel->device)
        ->api.clReleaseKernel(((hl_device_cl_kernel *)kernel)->kernel);
    free(kernel);
}

/* --- the program's kernels */

/* Setting nothing, or zeros, of each argument's size tells whether the kernel has one of that size.
 */
static haul_status check_parameters(const hl_device_cl_device *owner, cl_kernel kernel,
                                    const haul_kernel_source *source, haul_error *error)
{
    static const unsigned char zeros[1024];
    hl_device_slot slots[HL_DEVICE_SLOTS];
    cl_context context = NULL;
    cl_uint has = 0;
    const unsigned count = hl_device_slots_of(source, true, slots);
    cl_int code =
        owner->api.clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof(cl_context), &context, NULL);
    if (code == CL_SUCCESS)
        code = owner->api.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof has, &has, NULL);
    if (code != CL_SUCCESS)
        return hl_device_cl_fail(code, "clGetKernelInfo", error);
    if (context != owner->node->context)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "kernel '%s' is of another OpenCL context than device '%s': open it "
                              "with a queue of the kernel's",
                              source->name, owner->base.name);
    if (has != count)
        return hl_device_slots_fail(source, count, error);
    for (unsigned i = 0; i < count; i++)
        if (slots[i].bytes <= sizeof zeros &&
            owner->api.clSetKernelArg(kernel, i, slots[i].bytes, zeros) == CL_INVALID_ARG_SIZE)
            return hl_device_slot_fail(source, slots, i, error);
    return HAUL_OK;
}

haul_status hl_device_cl_kernel_wrap(haul_device *device, const haul_kernel_source *source,
                                     void *native, haul_kernel **kernel, haul_error *error)
{
    const hl_device_cl_device *owner = (hl_device_cl_device *)device;
    HAUL_TRY(check_parameters(owner, native, source, error));
    hl_device_cl_kernel *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->kernel = native;
    owner->api.clRetainKernel(self->kernel);
    *kernel = &self->base;
    return HAUL_OK;
}

static haul_status build_image(const hl_device_cl_device *self, const haul_kernel_source *source,
                               const unsigned char *image, size_t bytes, cl_program *program,
                               haul_error *error)
{
    cl_int code, taken = CL_SUCCESS;
    *program = self->api.clCreateProgramWithBinary(self->node->context, 1, &self->id, &bytes,
                                                   &image, &taken, &code);
    if (code == CL_SUCCESS) {
        code = taken != CL_SUCCESS
                   ? taken
                   : self->api.clBuildProgram(*program, 1, &self->id, "", NULL, NULL);
        if (code == CL_SUCCESS)
            return HAUL_OK;
        self->api.clReleaseProgram(*program);
    }
    return hl_device_image_fail(source, "the driver does not take it for the device", error);
}

haul_status hl_device_cl_kernel_load(haul_device *device, const haul_kernel_source *source,
                                     const void *image, size_t bytes, haul_kernel **kernel,
                                     haul_error *error)
{
    const hl_device_cl_device *owner = (hl_device_cl_device *)device;
    cl_program program;
    cl_int code;
    HAUL_TRY(build_image(owner, source, image, bytes, &program, error));
    cl_kernel found = owner->api.clCreateKernel(program, source->name, &code);
    owner->api.clReleaseProgram(program);
    if (code != CL_SUCCESS)
        return hl_device_image_fail(source, "no kernel of that name is in it", error);
    const haul_status status = hl_device_cl_kernel_wrap(device, source, found, kernel, error);
    owner->api.clReleaseKernel(found);
    return status;
}

/* Work-items and groups of a launch: how haul/kernel_source.h divides a box. */
typedef struct shape {
    cl_uint dimensions;
    size_t global[3];
    size_t local[3];
} shape;

static size_t extent(const haul_box *box, int d)
{
    return (size_t)box->hi[d] - (size_t)box->lo[d];
}

static size_t rounded_up(size_t value, size_t to)
{
    return (value + to - 1) / to * to;
}

/* A power of two, so that PoCL, which compiles a kernel for each size of a group, soon has all. */
static size_t power_below(size_t value, size_t most)
{
    size_t power = 1;
    while (power * 2 <= value && power * 2 <= most)
        power *= 2;
    return power;
}

enum { GROUPS = 256, GROUPS_LEAST = 16, ROW_LEAST = 64 };

/* A row per work-item; of one dimension parts of the row. A thread of PoCL takes 32 groups for each
 * core at once, or its share of what is left where that is less (POCL_PTHREAD_MIN_WGS of its
 * pthread_scheduler.c): with fewer groups than these a core that is slower has half of them for
 * itself, and a kernel took up to 1.7 times as long. A group costs some 10 ns: parts of a row are
 * not so short that this is what they take. */
static shape shape_of_rows(const hl_device_cl_device *self, unsigned dimensions,
                           const haul_box *box)
{
    const size_t cores = self->base.properties.multiprocessors;
    const size_t n = extent(box, 0), least = GROUPS_LEAST * cores, most = GROUPS * cores;
    const size_t whole = n / ROW_LEAST;
    const size_t wanted = whole < least ? least : whole < most ? whole : most;
    const size_t rows = dimensions > 1 ? extent(box, 1) : n < wanted ? n : wanted;
    const size_t planes = dimensions > 2 ? extent(box, 2) : 1;
    const size_t group = power_below(rows * planes / (GROUPS * cores), 64);
    const size_t local = power_below(rows, group);
    return (shape){2, {rounded_up(rows, local), planes}, {local, 1}};
}

static shape shape_of(const hl_device_cl_device *self, const haul_kernel *kernel,
                      const haul_box *box)
{
    const haul_kernel_source *source = kernel->source;
    if (source->group[0])
        return (shape){
            3,
            {extent(box, 0) * source->group[0], extent(box, 1) * source->group[1], extent(box, 2)},
            {source->group[0], source->group[1], 1}};
    if (self->is_cpu && !kernel->is_given)
        return shape_of_rows(self, source->dimensions, box);
    const size_t most = self->group_most < 256 ? self->group_most : 256;
    const size_t width = source->dimensions > 1 ? power_below(most, 32) : power_below(most, 256);
    const size_t height = source->dimensions > 1 ? power_below(most / width, 8) : 1;
    return (shape){
        3,
        {rounded_up(extent(box, 0), width), rounded_up(extent(box, 1), height), extent(box, 2)},
        {width, height, 1}};
}

/* The box, then of each buffer the memory and the offset, of each value itself. */
static cl_int set_arguments(const hl_device_cl_device *device, hl_device_cl_kernel *self,
                            const haul_launch *launch)
{
    const haul_kernel_parameter *parameters = self->base.source->parameters;
    cl_uint at = 1;
    cl_int code = CL_SUCCESS;
    if (self->base.is_given) /* the program may have set others */
        self->set.frees = 0;
    if (self->set.frees != device->frees ||
        memcmp(&self->set.box, &launch->box, sizeof launch->box) != 0)
        code = device->api.clSetKernelArg(self->kernel, 0, sizeof launch->box, &launch->box);
    for (size_t i = 0; i < launch->argument_count && code == CL_SUCCESS; i++) {
        const haul_argument *argument = &launch->arguments[i];
        if (argument->buffer) {
            /* The memory of a buffer and its offset, as far as they are not set already. */
            cl_mem mem = ((const hl_device_cl_buffer *)argument->buffer)->mem;
            const cl_ulong offset = argument->offset;
            const bool is_new = self->set.frees != device->frees;
            code = CL_SUCCESS;
            if (is_new || self->set.buffers[i].mem != mem)
                code = device->api.clSetKernelArg(self->kernel, at, sizeof(cl_mem), &mem);
            if (code == CL_SUCCESS && (is_new || self->set.buffers[i].offset != offset))
                code = device->api.clSetKernelArg(self->kernel, at + 1, sizeof offset, &offset);
            self->set.buffers[i].mem = mem;
            self->set.buffers[i].offset = offset;
        } else
            code =
                device->api.clSetKernelArg(self->kernel, at, parameters[i].bytes, argument->value);
        at += argument->buffer ? 2 : 1;
    }
    self->set.box = launch->box;
    self->set.frees = code == CL_SUCCESS ? device->frees : 0;
    return code;
}

/* Hands the launch's mapped buffers, which the host holds otherwise, to the device while the kernel
 * runs. */
static cl_int give_mapped(hl_device_cl_stream *self, const haul_launch *launch, bool to_device)
{
    const hl_device_cl_device *device = hl_device_cl_device_of(&self->base);
    cl_int code = CL_SUCCESS;
    for (size_t i = 0; i < launch->argument_count && code == CL_SUCCESS; i++) {
        hl_device_cl_buffer *buffer = (hl_device_cl_buffer *)launch->arguments[i].buffer;
        if (!buffer || !buffer->mapped)
            continue;
        bool is_first = true;
        for (size_t j = 0; j < i; j++)
            is_first = is_first && launch->arguments[j].buffer != &buffer->base;
        if (!is_first)
            continue;
        if (to_device)
            code = device->api.clEnqueueUnmapMemObject(self->queue, buffer->mem, buffer->mapped,
                                                       self->wait_count, hl_device_cl_waits(self),
                                                       NULL);
        else
            (void)device->api.clEnqueueMapBuffer(self->queue, buffer->mem, CL_FALSE,
                                                 CL_MAP_READ | CL_MAP_WRITE, 0, buffer->base.bytes,
                                                 0, NULL, NULL, &code);
    }
    return code;
}

haul_status hl_device_cl_launch(haul_stream *stream, const haul_kernel *kernel,
                                const haul_launch *launch, haul_event *event, haul_error *error)
{
    hl_device_cl_stream *self = (hl_device_cl_stream *)stream;
    const hl_device_cl_device *device = hl_device_cl_device_of(stream);
    hl_device_cl_kernel *compiled = (hl_device_cl_kernel *)kernel; /* it remembers its arguments */
    const shape made = shape_of(device, kernel, &launch->box);
    cl_event ran = NULL;
    cl_int code = set_arguments(device, compiled, launch);
    if (code == CL_SUCCESS)
        code = give_mapped(self, launch, true);
    if (code == CL_SUCCESS)
        code = device->api.clEnqueueNDRangeKernel(self->queue, compiled->kernel, made.dimensions,
                                                  NULL, made.global, made.local, self->wait_count,
                                                  hl_device_cl_waits(self), event ? &ran : NULL);
    if (code == CL_SUCCESS)
        code = give_mapped(self, launch, false);
    if (code != CL_SUCCESS)
        return hl_device_cl_fail(code, "launching a kernel", error);
    hl_device_cl_queued(self, event, ran, ran);
    return HAUL_OK;
}
