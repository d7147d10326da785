/* libcuda.so.1: what is queued, and waited for. */
#include "driver_names.h"

typedef driver_address address;

/* --- copies and fills */

static int copy_now(address to, address from, size_t bytes)
{
    const driver_copy flat = driver_copy_flat(to, from, bytes);
    return driver_copy_now(&flat);
}

static int fill(address at, unsigned value, unsigned width, size_t count, void *stream)
{
    return driver_fill_queue(
        stream, &(driver_fill){.at = at, .count = count, .value = value, .width = width});
}

/* CUDA_MEMCPY2D and 3D: each side is what its type says. */
enum { HOST = 1, DEVICE = 2, UNIFIED = 4 };

typedef struct copy_2d {
    size_t from_x, from_y;
    unsigned from_type;
    const void *from_host;
    address from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    unsigned to_type;
    void *to_host;
    address to_device;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
} copy_2d;

typedef struct copy_3d {
    size_t from_x, from_y, from_z, from_level;
    unsigned from_type;
    const void *from_host;
    address from_device;
    void *from_array, *from_reserved;
    size_t from_pitch, from_height;
    size_t to_x, to_y, to_z, to_level;
    unsigned to_type;
    void *to_host;
    address to_device;
    void *to_array, *to_reserved;
    size_t to_pitch, to_height;
    size_t width, height, depth;
} copy_3d;

static address side(unsigned type, const void *host, address device)
{
    return type == HOST ? (uintptr_t)host : device;
}

static int queue_2d(const copy_2d *c, void *stream)
{
    if (c->from_pitch < c->width || c->to_pitch < c->width)
        return DRIVER_INVALID_VALUE;
    return driver_copy_queue(
        stream, &(driver_copy){.to = {.at = side(c->to_type, c->to_host, c->to_device) + c->to_x +
                                            c->to_y * c->to_pitch,
                                      .pitch = c->to_pitch},
                               .from = {.at = side(c->from_type, c->from_host, c->from_device) +
                                              c->from_x + c->from_y * c->from_pitch,
                                        .pitch = c->from_pitch},
                               .bytes = c->width,
                               .rows = c->height,
                               .planes = 1});
}

static int queue_3d(const copy_3d *c, void *stream)
{
    const driver_side to = {.pitch = c->to_pitch, .plane = c->to_pitch * c->to_height};
    const driver_side from = {.pitch = c->from_pitch, .plane = c->from_pitch * c->from_height};
    if (from.pitch < c->width || to.pitch < c->width ||
        (c->depth > 1 && (c->from_height < c->height || c->to_height < c->height)))
        return DRIVER_INVALID_VALUE;
    driver_copy made = {to, from, c->width, c->height, c->depth, NULL};
    made.to.at = side(c->to_type, c->to_host, c->to_device) + c->to_x + c->to_y * to.pitch +
                 c->to_z * to.plane;
    made.from.at = side(c->from_type, c->from_host, c->from_device) + c->from_x +
                   c->from_y * from.pitch + c->from_z * from.plane;
    return driver_copy_queue(stream, &made);
}

CALL(cuMemcpyAsync, (address to, address from, size_t bytes, void *stream),
     driver_copy_bytes(to, from, bytes, stream))
CALL(cuMemcpyHtoDAsync_v2, (address to, const void *from, size_t bytes, void *stream),
     driver_copy_bytes(to, (uintptr_t)from, bytes, stream))
CALL(cuMemcpyDtoHAsync_v2, (void *to, address from, size_t bytes, void *stream),
     driver_copy_bytes((uintptr_t)to, from, bytes, stream))
CALL(cuMemcpyDtoDAsync_v2, (address to, address from, size_t bytes, void *stream),
     driver_copy_bytes(to, from, bytes, stream))
CALL(cuMemcpy, (address to, address from, size_t bytes), copy_now(to, from, bytes))
CALL(cuMemcpyHtoD_v2, (address to, const void *from, size_t bytes),
     copy_now(to, (uintptr_t)from, bytes))
CALL(cuMemcpyDtoH_v2, (void *to, address from, size_t bytes), copy_now((uintptr_t)to, from, bytes))
CALL(cuMemcpy2DAsync_v2, (const copy_2d *what, void *stream), queue_2d(what, stream))
CALL(cuMemcpy3DAsync_v2, (const copy_3d *what, void *stream), queue_3d(what, stream))
CALL(cuMemsetD8Async, (address to, unsigned char value, size_t count, void *stream),
     fill(to, value, 1, count, stream))
CALL(cuMemsetD32Async, (address to, unsigned value, size_t count, void *stream),
     fill(to, value, 4, count, stream))
/* Where managed memory lies is not seen here. */
CALL(cuMemPrefetchAsync, (address at, size_t bytes, int device, void *stream),
     driver_memory_at(at) == DRIVER_MANAGED && bytes && device >= -1 && stream
         ? DRIVER_OK
         : DRIVER_INVALID_VALUE)

/* --- streams and events */

CALL(cuStreamCreate, (driver_stream * *stream, unsigned flags),
     flags > 1 ? DRIVER_INVALID_VALUE : driver_stream_new(stream, !flags))
CALL(cuStreamDestroy_v2, (driver_stream * stream), driver_stream_destroy(stream))
CALL(cuStreamSynchronize, (void *stream), driver_stream_wait(stream))
CALL(cuStreamQuery, (void *stream), driver_stream_query(stream))
CALL(cuStreamWaitEvent, (void *stream, driver_event *event, unsigned flags),
     flags ? DRIVER_INVALID_VALUE : driver_stream_wait_event(stream, event))
CALL(cuLaunchHostFunc, (void *stream, void (*function)(void *state), void *state),
     function ? driver_call_queue(stream, function, state) : DRIVER_INVALID_VALUE)
CALL(cuEventCreate, (driver_event * *event, unsigned flags), driver_event_new(event, flags))
CALL(cuEventDestroy_v2, (driver_event * event), driver_event_destroy(event))
CALL(cuEventRecord, (driver_event * event, void *stream), driver_event_record(event, stream))
CALL(cuEventQuery, (driver_event * event), driver_event_query(event))
CALL(cuEventSynchronize, (driver_event * event), driver_event_wait(event))
CALL(cuEventElapsedTime, (float *ms, driver_event *from, driver_event *to),
     driver_event_elapsed(ms, from, to))

/* --- kernels */

CALL(cuModuleLoadData, (driver_module * *module, const void *image),
     driver_module_load(module, image))
CALL(cuModuleUnload, (driver_module * module), driver_module_unload(module))
CALL(cuModuleGetFunction, (driver_function * *function, driver_module *module, const char *name),
     driver_module_function(function, module, name))
CALL(cuFuncSetAttribute, (driver_function * function, int attribute, int value),
     driver_function_set(function, attribute, value))
CALL(cuFuncGetParamInfo, (driver_function * function, size_t index, size_t *offset, size_t *bytes),
     driver_function_parameter(function, index, offset, bytes))
CALL(cuLaunchKernel,
     (driver_function * function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
      unsigned bz, unsigned shared, void *stream, void **values, void **extra),
     extra ? DRIVER_INVALID_VALUE
           : driver_launch_queue(function, (unsigned[]){gx, gy, gz, bx, by, bz, shared}, stream,
                                 values))
