/* A layer of the OpenCL loader as a user may have one of their own: it changes nothing, but where
 * LAYER_HIDES_TIMES is N only one event in N gives its times; where LAYER_SLOW_US is N markers, and
 * the first call that enqueues, return N us late, as on a busy machine. Where LAYER_COUNTS names a
 * file, each process adds a line to it with how many copies, fills and kernels it enqueued: a count
 * of its own beside haul's. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <CL/cl_layer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static cl_icd_dispatch layer;
static cl_icd_dispatch below;
static unsigned long hides;

static cl_int get_times(cl_event event, cl_profiling_info what, size_t size, void *value,
                        size_t *size_given)
{
    static unsigned long asked;
    if (what == CL_PROFILING_COMMAND_START &&
        __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) % hides)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    return below.clGetEventProfilingInfo(event, what, size, value, size_given);
}

static unsigned long counted;
static unsigned slow_us;

static void be_slow(void)
{
    const struct timespec late = {.tv_nsec = 1000L * slow_us};
    if (slow_us)
        nanosleep(&late, NULL);
}

static cl_int count(cl_int result)
{
    static unsigned long before;
    if (!__atomic_fetch_add(&before, 1, __ATOMIC_RELAXED))
        be_slow();
    if (result == CL_SUCCESS)
        __atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED);
    return result;
}

#define WAITS cl_uint wait_count, const cl_event *waits, cl_event *event
#define WAITS_GIVEN wait_count, waits, event

/* name, parameters before the waits, the same as arguments */
#define COUNTED(X)                                                                                 \
    X(clEnqueueReadBuffer,                                                                         \
      (cl_command_queue q, cl_mem m, cl_bool b, size_t at, size_t n, void *to, WAITS),             \
      (q, m, b, at, n, to, WAITS_GIVEN))                                                           \
    X(clEnqueueWriteBuffer,                                                                        \
      (cl_command_queue q, cl_mem m, cl_bool b, size_t at, size_t n, const void *from, WAITS),     \
      (q, m, b, at, n, from, WAITS_GIVEN))                                                         \
    X(clEnqueueCopyBuffer,                                                                         \
      (cl_command_queue q, cl_mem a, cl_mem b, size_t i, size_t k, size_t n, WAITS),               \
      (q, a, b, i, k, n, WAITS_GIVEN))                                                             \
    X(clEnqueueFillBuffer,                                                                         \
      (cl_command_queue q, cl_mem m, const void *p, size_t k, size_t at, size_t n, WAITS),         \
      (q, m, p, k, at, n, WAITS_GIVEN))                                                            \
    X(clEnqueueNDRangeKernel,                                                                      \
      (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g,               \
       const size_t *l, WAITS),                                                                    \
      (q, k, d, o, g, l, WAITS_GIVEN))                                                             \
    X(clEnqueueTask, (cl_command_queue q, cl_kernel k, WAITS), (q, k, WAITS_GIVEN))                \
    X(clEnqueueReadBufferRect,                                                                     \
      (cl_command_queue q, cl_mem m, cl_bool b, const size_t *f, const size_t *t, const size_t *r, \
       size_t fr, size_t fs, size_t tr, size_t ts, void *to, WAITS),                               \
      (q, m, b, f, t, r, fr, fs, tr, ts, to, WAITS_GIVEN))                                         \
    X(clEnqueueWriteBufferRect,                                                                    \
      (cl_command_queue q, cl_mem m, cl_bool b, const size_t *f, const size_t *t, const size_t *r, \
       size_t fr, size_t fs, size_t tr, size_t ts, const void *from, WAITS),                       \
      (q, m, b, f, t, r, fr, fs, tr, ts, from, WAITS_GIVEN))                                       \
    X(clEnqueueCopyBufferRect,                                                                     \
      (cl_command_queue q, cl_mem m, cl_mem n, const size_t *f, const size_t *t, const size_t *r,  \
       size_t fr, size_t fs, size_t tr, size_t ts, WAITS),                                         \
      (q, m, n, f, t, r, fr, fs, tr, ts, WAITS_GIVEN))                                             \
    X(clEnqueueReadImage,                                                                          \
      (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *r, size_t row,      \
       size_t slice, void *to, WAITS),                                                             \
      (q, m, b, o, r, row, slice, to, WAITS_GIVEN))                                                \
    X(clEnqueueWriteImage,                                                                         \
      (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *r, size_t row,      \
       size_t slice, const void *from, WAITS),                                                     \
      (q, m, b, o, r, row, slice, from, WAITS_GIVEN))                                              \
    X(clEnqueueCopyImage,                                                                          \
      (cl_command_queue q, cl_mem m, cl_mem n, const size_t *f, const size_t *t, const size_t *r,  \
       WAITS),                                                                                     \
      (q, m, n, f, t, r, WAITS_GIVEN))                                                             \
    X(clEnqueueCopyImageToBuffer,                                                                  \
      (cl_command_queue q, cl_mem m, cl_mem n, const size_t *o, const size_t *r, size_t at,        \
       WAITS),                                                                                     \
      (q, m, n, o, r, at, WAITS_GIVEN))                                                            \
    X(clEnqueueCopyBufferToImage,                                                                  \
      (cl_command_queue q, cl_mem m, cl_mem n, size_t at, const size_t *o, const size_t *r,        \
       WAITS),                                                                                     \
      (q, m, n, at, o, r, WAITS_GIVEN))                                                            \
    X(clEnqueueFillImage,                                                                          \
      (cl_command_queue q, cl_mem m, const void *c, const size_t *o, const size_t *r, WAITS),      \
      (q, m, c, o, r, WAITS_GIVEN))                                                                \
    X(clEnqueueSVMMemcpy,                                                                          \
      (cl_command_queue q, cl_bool b, void *to, const void *from, size_t n, WAITS),                \
      (q, b, to, from, n, WAITS_GIVEN))                                                            \
    X(clEnqueueSVMMemFill,                                                                         \
      (cl_command_queue q, void *m, const void *p, size_t k, size_t n, WAITS),                     \
      (q, m, p, k, n, WAITS_GIVEN))

#define DEFINED(name, parameters, arguments)                                                       \
    static cl_int CL_API_CALL counted_##name parameters                                            \
    {                                                                                              \
        return count(below.name arguments);                                                        \
    }
COUNTED(DEFINED)

static cl_int CL_API_CALL slow_marker(cl_command_queue queue, cl_event *event)
{
    const cl_int result = below.clEnqueueMarker(queue, event);
    be_slow();
    return result;
}

__attribute__((destructor)) static void write_count(void)
{
    const char *path = getenv("LAYER_COUNTS");
    FILE *out = path && counted ? fopen(path, "a") : NULL;
    if (!out)
        return;
    fprintf(out, "%lu\n", counted);
    fclose(out);
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value,
                                               size_t *size_given)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (what != CL_LAYER_API_VERSION || (value && size < sizeof version))
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, &version, sizeof version);
    if (size_given)
        *size_given = sizeof version;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch *target,
                                            cl_uint *count_given, const cl_icd_dispatch **given)
{
    const char *text = getenv("LAYER_HIDES_TIMES");
    const size_t known = sizeof layer / sizeof(void *);
    memcpy(&below, target, (count < known ? count : known) * sizeof(void *));
    layer = below;
    hides = text ? strtoul(text, NULL, 10) : 0;
    if (hides)
        layer.clGetEventProfilingInfo = get_times;
    const char *slow = getenv("LAYER_SLOW_US");
    slow_us = slow ? (unsigned)strtoul(slow, NULL, 10) : 0;
    if (slow_us)
        layer.clEnqueueMarker = slow_marker;
    if (slow_us || getenv("LAYER_COUNTS")) {
#define INSTALLED(name, parameters, arguments) layer.name = counted_##name;
        COUNTED(INSTALLED)
    }
    *count_given = (cl_uint)(count < known ? count : known);
    *given = &layer;
    return CL_SUCCESS;
}
