/* Kernels of CUDA and HIP: compiled, kept on disk and launched. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "device/cuda_compiler.h"
#include "device/cuda_device.h"
#include "device/host_work.h"
#include "device/kernel_cache.h"
#include "device/kernel_given.h"

/* Blocks of 256 threads; in two dimensions rows of a warp, so that accesses along x coalesce. Grids
 * have at most 65535 blocks in y and z (CUDA C++ Programming Guide, compute capabilities). */
enum { WIDTH_1D = 256, WIDTH = 32, HEIGHT = 8, MOST_BLOCKS = 65535 };

typedef struct cu_kernel {
    haul_kernel base;
    hl_device_cu module; /* NULL: the program's */
    hl_device_cu function;
} cu_kernel;

/* --- compiling */

/* The inputs of a compilation. */
typedef struct build {
    const hl_device_cu_device *device;
    const haul_kernel_source *source;
    hl_device_cu_compiler compiler;
    char *text;
    char *key; /* for the kept ones; NULL: none */
} build;

static haul_status build_init(build *self, const haul_device *device,
                              const haul_kernel_source *source, haul_error *error)
{
    const haul_device_properties *is = &device->properties;
    int version = 0;
    *self = (build){.device = (const hl_device_cu_device *)device, .source = source};
    self->device->api.version(&version);
    HAUL_TRY(hl_device_cu_compiler_load(&self->compiler, self->device->api.is_hip, version / 1000,
                                        error));
    HAUL_TRY(hl_device_cu_compiler_aim(&self->compiler,
                                       (int)(10 * is->compute_major + is->compute_minor), error));
    HAUL_TRY(haul_kernel_text(source, &self->text, error));
    /* A compiled kernel is good for its text, its compiler and its GPU. */
    int driver = 0;
    const hl_device_cu_compiler *compiler = &self->compiler;
    const size_t size =
        strlen(self->text) + sizeof self->device->title + sizeof compiler->file + 128;
    char *key = malloc(size);
    self->device->api.version(&driver);
    if (key)
        snprintf(key, size, "%s %d.%d\n%s\n%s %s\n%s %d\n%s", compiler->is_hip ? "hip" : "cuda",
                 compiler->major, compiler->minor, compiler->file, compiler->rounding,
                 compiler->option, compiler->is_hip ? self->device->title : "",
                 compiler->is_hip ? driver : 0, self->text);
    self->key = key;
    return HAUL_OK;
}

/* A kept image that does not load any more is compiled again. */
static bool load_kept(const build *self, hl_device_cu *module)
{
    size_t size;
    void *image = self->key ? hl_device_kernel_cache_read(self->device->base.options.cache_folder,
                                                          self->key, &size)
                            : NULL;
    const bool loaded = image && !self->device->api.module_load(module, image);
    free(image);
    return loaded;
}

/* Keeping the image is an attempt: kernels run without a cache as well. */
static haul_status compile(const build *self, hl_device_cu *module, haul_error *error)
{
    hl_device_cu_image image;
    HAUL_TRY(hl_device_cu_compile(&self->compiler, self->source, self->text, &image, error));
    const int result = self->device->api.module_load(module, image.bytes);
    if (!result && self->key)
        hl_device_kernel_cache_write(self->device->base.options.cache_folder, self->key,
                                     image.bytes, image.size);
    free(image.bytes);
    return result ? hl_device_cu_fail(&self->device->api, result, "loading a kernel", error)
                  : HAUL_OK;
}

haul_status hl_device_cu_kernel_new(haul_device *device, const haul_kernel_source *source,
                                    haul_kernel **kernel, haul_error *error)
{
    const hl_device_cu_device *owner = (const hl_device_cu_device *)device;
    hl_device_cu module;
    HL_DEVICE_CU_VISIT(owner);
    HAUL_TRY(hl_device_cu_enter(owner, error));
    build made;
    haul_status status = build_init(&made, device, source, error);
    if (!status && !load_kept(&made, &module))
        status = compile(&made, &module, error);
    free(made.text);
    free(made.key);
    HAUL_TRY(status);
    cu_kernel *self = calloc(1, sizeof *self);
    if (!self) {
        owner->api.module_free(module);
        return hl_base_fail_no_memory(error);
    }
    self->module = module;
    int result = owner->api.module_function(&self->function, module, source->name);
    if (!result && source->fused_bytes && !owner->api.is_hip)
        result = owner->api.cuda_set(self->function, HL_DEVICE_CUDA_MOST_DYNAMIC,
                                     (int)source->fused_bytes);
    if (result) {
        owner->api.module_free(module);
        free(self);
        return hl_device_cu_fail(&owner->api, result, "preparing the kernel", error);
    }
    *kernel = &self->base;
    return HAUL_OK;
}

void hl_device_cu_kernel_free(haul_kernel *kernel)
{
    const hl_device_cu_device *owner = (const hl_device_cu_device *)kernel->device;
    hl_device_cu module = ((cu_kernel *)kernel)->module;
    HL_DEVICE_CU_VISIT(owner);
    if (hl_device_cu_settle(owner) && module)
        owner->api.module_free(module);
    free(kernel);
}

/* --- the program's kernels */

/* Newer drivers of CUDA tell a kernel's parameters. One with others would read what is not there.
 */
static haul_status check_parameters(const hl_device_cu_device *owner, hl_device_cu function,
                                    const haul_kernel_source *source, haul_error *error)
{
    hl_device_slot slots[HL_DEVICE_SLOTS];
    const unsigned count = hl_device_slots_of(source, false, slots);
    size_t offset, bytes;
    if (!owner->api.cuda_parameter)
        return HAUL_OK;
    for (unsigned i = 0; i <= count; i++) {
        const bool is_there = !owner->api.cuda_parameter(function, i, &offset, &bytes);
        if (is_there != (i < count))
            return hl_device_slots_fail(source, count, error);
        if (is_there && bytes != slots[i].bytes)
            return hl_device_slot_fail(source, slots, i, error);
    }
    return HAUL_OK;
}

haul_status hl_device_cu_kernel_wrap(haul_device *device, const haul_kernel_source *source,
                                     void *native, haul_kernel **kernel, haul_error *error)
{
    const hl_device_cu_device *owner = (const hl_device_cu_device *)device;
    HL_DEVICE_CU_VISIT(owner);
    HAUL_TRY(hl_device_cu_enter(owner, error));
    HAUL_TRY(check_parameters(owner, native, source, error));
    cu_kernel *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->function = native;
    *kernel = &self->base;
    return HAUL_OK;
}

static haul_status find_in_module(const hl_device_cu_device *owner, hl_device_cu module,
                                  const haul_kernel_source *source, haul_kernel **kernel,
                                  haul_error *error)
{
    hl_device_cu function;
    const int result = owner->api.module_function(&function, module, source->name);
    if (result)
        return hl_device_image_fail(source, "no kernel of that name is in it", error);
    HAUL_TRY(hl_device_cu_kernel_wrap(&((hl_device_cu_device *)owner)->base, source, function,
                                      kernel, error));
    ((cu_kernel *)*kernel)->module = module;
    return HAUL_OK;
}

/* PTX ends with a NUL, which the program's text need not have. */
haul_status hl_device_cu_kernel_load(haul_device *device, const haul_kernel_source *source,
                                     const void *image, size_t bytes, haul_kernel **kernel,
                                     haul_error *error)
{
    const hl_device_cu_device *owner = (const hl_device_cu_device *)device;
    hl_device_cu module;
    HL_DEVICE_CU_VISIT(owner);
    HAUL_TRY(hl_device_cu_enter(owner, error));
    char *copy = malloc(bytes + 1);
    if (!copy)
        return hl_base_fail_no_memory(error);
    memcpy(copy, image, bytes);
    copy[bytes] = '\0';
    const int result = owner->api.module_load(&module, copy);
    free(copy);
    if (result == HL_DEVICE_CU_OUT_OF_MEMORY)
        return hl_device_cu_fail(&owner->api, result, "loading a kernel", error);
    if (result)
        return hl_device_image_fail(source, hl_device_cu_word(&owner->api, result), error);
    const haul_status status = find_in_module(owner, module, source, kernel, error);
    if (status)
        owner->api.module_free(module);
    return status;
}

/* --- launching */

typedef struct shape {
    unsigned grid[3];
    unsigned block[2];
} shape;

/* A thread an index of a loop; groups are blocks. Returns false where there are more blocks than a
 * GPU takes, or, of HIP, more threads in a row than 32 bits count (ROCm CLR, hip_module.cpp). */
static bool shape_of(const haul_kernel_source *source, const haul_box *box, bool is_hip, shape *out)
{
    static const unsigned most[3] = {INT_MAX, MOST_BLOCKS, MOST_BLOCKS};
    const bool has_groups = source->group[0];
    out->block[0] = has_groups ? source->group[0] : source->dimensions > 1 ? WIDTH : WIDTH_1D;
    out->block[1] = has_groups ? source->group[1] : source->dimensions > 1 ? HEIGHT : 1;
    for (int d = 0; d < 3; d++) {
        const unsigned extent = (unsigned)box->hi[d] - (unsigned)box->lo[d];
        const unsigned threads = has_groups || d == 2 ? 1 : out->block[d];
        out->grid[d] = extent / threads + (extent % threads != 0);
        if (out->grid[d] > most[d])
            return false;
    }
    return !is_hip || (uint64_t)out->grid[0] * out->block[0] <= UINT32_MAX;
}

haul_status hl_device_cu_launch(haul_stream *stream, const haul_kernel *kernel,
                                const haul_launch *launch, haul_event *event, haul_error *error)
{
    const hl_device_cu_device *owner = hl_device_cu_owner(stream);
    hl_device_cu_address addresses[HL_DEVICE_ARGUMENTS];
    haul_box box = launch->box;
    void *values[HL_DEVICE_ARGUMENTS + 1] = {&box};
    shape made;
    if (!shape_of(kernel->source, &box, owner->api.is_hip, &made))
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "kernel '%s' is launched over too large a box", kernel->source->name);
    for (size_t i = 0; i < launch->argument_count; i++) {
        const haul_argument *argument = &launch->arguments[i];
        if (argument->buffer)
            addresses[i] = ((hl_device_cu_buffer *)argument->buffer)->at + argument->offset;
        values[i + 1] = argument->buffer ? (void *)&addresses[i] : (void *)argument->value;
    }
    HL_DEVICE_CU_VISIT(hl_device_cu_owner(stream));
    HAUL_TRY(hl_device_cu_begin(stream, event, error));
    const int result = owner->api.launch(((const cu_kernel *)kernel)->function, made.grid[0],
                                         made.grid[1], made.grid[2], made.block[0], made.block[1],
                                         1, kernel->source->fused_bytes,
                                         ((hl_device_cu_stream *)stream)->handle, values, NULL);
    return hl_device_cu_end(stream, event, result, "launching a kernel", error);
}
