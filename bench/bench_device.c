/* The time that the device interface adds to OpenCL's own calls: copies and launches, queued by a
 * hand-written loop and through haul/device.h, in turns. Prints the time of a call in each, the
 * least of many rounds. */
#define CL_TARGET_OPENCL_VERSION 120

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#include <time.h>

#include "touch_kernel.h"

enum { CALLS = 500, ROUNDS = 60, BYTES = 64 };

typedef struct native {
    cl_command_queue queue;
    cl_mem buffer;
    cl_kernel kernel;
} native;

typedef struct own {
    haul_device *device;
    haul_stream *stream;
    haul_buffer *buffer;
    haul_kernel *kernel;
    haul_event *event;
} own;

static char host[BYTES];

static void check(cl_int code, const char *what)
{
    if (code == CL_SUCCESS)
        return;
    fprintf(stderr, "bench_device: %s: %d\n", what, (int)code);
    exit(1);
}

static void must(haul_status status, const haul_error *error)
{
    if (status == HAUL_OK)
        return;
    fprintf(stderr, "bench_device: %s\n", error->text);
    exit(status == HAUL_STATUS_ABSENT ? 77 : 1);
}

static native native_begin(void)
{
    static const char *source = "kernel void touch(global int *x) { x[get_global_id(0)] += 1; }";
    native self;
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check(code, "clCreateContext");
    self.queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    check(code, "clCreateCommandQueue");
    self.buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &code);
    check(code, "clCreateBuffer");
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
    check(code, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    self.kernel = clCreateKernel(program, "touch", &code);
    check(code, "clCreateKernel");
    return self;
}

static own own_begin(void)
{
    own self;
    haul_error error;
    must(haul_device_open("opencl:0", NULL, &self.device, &error), &error);
    must(haul_stream_new(self.device, &self.stream, &error), &error);
    must(haul_event_new(self.device, &self.event, &error), &error);
    must(haul_buffer_new(self.device, HAUL_BUFFER_DEVICE, BYTES, &self.buffer, &error), &error);
    must(haul_kernel_new(self.device, &touch, &self.kernel, &error), &error);
    return self;
}

static void native_copy(const native *self, bool with_event)
{
    cl_event event = NULL;
    check(clEnqueueWriteBuffer(self->queue, self->buffer, CL_FALSE, 0, BYTES, host, 0, NULL,
                               with_event ? &event : NULL),
          "clEnqueueWriteBuffer");
    if (event)
        clReleaseEvent(event);
}

static void own_copy(const own *self, bool with_event)
{
    haul_error error;
    const haul_transfer transfer = {
        .to = haul_in_buffer(self->buffer, 0), .from = haul_in_host(host), .size = {BYTES}};
    must(haul_stream_copy(self->stream, &transfer, with_event ? self->event : NULL, &error),
         &error);
}

static void native_launch(const native *self, bool with_event)
{
    const size_t global = BYTES / sizeof(int), local = 1;
    cl_event event = NULL;
    check(clSetKernelArg(self->kernel, 0, sizeof self->buffer, &self->buffer), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(self->queue, self->kernel, 1, NULL, &global, &local, 0, NULL,
                                 with_event ? &event : NULL),
          "clEnqueueNDRangeKernel");
    if (event)
        clReleaseEvent(event);
}

static void own_launch(const own *self, bool with_event)
{
    haul_error error;
    const haul_argument argument = {.buffer = self->buffer};
    const haul_launch launch = {
        .box = {.hi = {BYTES / sizeof(int)}}, .arguments = &argument, .argument_count = 1};
    must(haul_stream_launch(self->stream, self->kernel, &launch, with_event ? self->event : NULL,
                            &error),
         &error);
}

typedef struct pair {
    const char *name;
    void (*native)(const native *self, bool with_event);
    void (*own)(const own *self, bool with_event);
    bool with_event;
} pair;

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static void run(const pair *calls, const native *by_hand, const own *through)
{
    double least[2] = {1e30, 1e30};
    haul_error error;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_us();
        for (int i = 0; i < CALLS; i++)
            calls->native(by_hand, calls->with_event);
        double took = (now_us() - begin) / CALLS;
        least[0] = took < least[0] ? took : least[0];
        clFinish(by_hand->queue);
        begin = now_us();
        for (int i = 0; i < CALLS; i++)
            calls->own(through, calls->with_event);
        took = (now_us() - begin) / CALLS;
        least[1] = took < least[1] ? took : least[1];
        must(haul_stream_wait(through->stream, &error), &error);
    }
    printf("%-22s %8.3f us %8.3f us %+8.3f us\n", calls->name, least[0], least[1],
           least[1] - least[0]);
}

int main(void)
{
    static const pair pairs[] = {
        {"copy", native_copy, own_copy, false},
        {"copy with an event", native_copy, own_copy, true},
        {"kernel", native_launch, own_launch, false},
        {"kernel with an event", native_launch, own_launch, true},
    };
    const own through = own_begin();
    const native by_hand = native_begin();
    printf("%-22s %11s %11s %11s\n", "", "by hand", "haul", "more");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        run(&pairs[i], &by_hand, &through);
    return 0;
}
