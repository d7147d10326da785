#include "opencl_setup.h"

#include <stdio.h>
#include <stdlib.h>

enum { PLATFORMS = 16 };

static const char source[] =
    "kernel void convolve(global const float *in, constant float *filter, global float *out,\n"
    "                     uint columns, uint radius)\n"
    "{\n"
    "    const size_t x = get_global_id(0), y = get_global_id(1);\n"
    "    const size_t width = 2 * radius + 1, pitch = columns + 2 * radius;\n"
    "    float sum = 0;\n"
    "    for (size_t i = 0; i < width; i++)\n"
    "        for (size_t j = 0; j < width; j++)\n"
    "            sum += in[(y + i) * pitch + x + j] * filter[i * width + j];\n"
    "    out[y * columns + x] = sum;\n"
    "}\n";

void must(cl_int status, const char *call)
{
    if (status == CL_SUCCESS)
        return;
    fprintf(stderr, "convolution: %s failed with %d\n", call, (int)status);
    exit(1);
}

static cl_device_id find(cl_device_type type)
{
    cl_platform_id platforms[PLATFORMS];
    cl_uint count = 0;
    if (clGetPlatformIDs(PLATFORMS, platforms, &count) != CL_SUCCESS)
        return NULL;
    for (cl_uint i = 0; i < count && i < PLATFORMS; i++) {
        cl_device_id id;
        if (clGetDeviceIDs(platforms[i], type, 1, &id, NULL) == CL_SUCCESS)
            return id;
    }
    return NULL;
}

static void build(conv_setup *self)
{
    const char *text = source;
    char log[4096] = "";
    cl_int status;
    self->program = clCreateProgramWithSource(self->context, 1, &text, NULL, &status);
    must(status, "clCreateProgramWithSource");
    status = clBuildProgram(self->program, 1, &self->id, "", NULL, NULL);
    if (status != CL_SUCCESS) {
        clGetProgramBuildInfo(self->program, self->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log,
                              NULL);
        fprintf(stderr, "%s\n", log);
    }
    must(status, "clBuildProgram");
    self->kernel = clCreateKernel(self->program, "convolve", &status);
    must(status, "clCreateKernel");
}

void setup_begin(conv_setup *self)
{
    cl_int status;
    self->id = find(CL_DEVICE_TYPE_GPU);
    if (!self->id)
        self->id = find(CL_DEVICE_TYPE_ALL);
    if (!self->id) {
        fputs("convolution: no OpenCL device (pocl-opencl-icd makes the CPU one)\n", stderr);
        exit(4);
    }
    self->context = clCreateContext(NULL, 1, &self->id, NULL, NULL, &status);
    must(status, "clCreateContext");
    build(self);
}

void setup_end(conv_setup *self)
{
    clReleaseKernel(self->kernel);
    clReleaseProgram(self->program);
    clReleaseContext(self->context);
}

cl_command_queue setup_queue(const conv_setup *self)
{
    cl_int status;
    cl_command_queue queue =
        clCreateCommandQueue(self->context, self->id, CL_QUEUE_PROFILING_ENABLE, &status);
    must(status, "clCreateCommandQueue");
    return queue;
}

cl_mem setup_buffer(const conv_setup *self, cl_mem_flags flags, size_t bytes)
{
    cl_int status;
    cl_mem buffer = clCreateBuffer(self->context, flags, bytes, NULL, &status);
    must(status, "clCreateBuffer");
    return buffer;
}

cl_event setup_convolve(const conv_setup *self, cl_command_queue queue, const conv_pass *pass,
                        cl_uint wait_count, const cl_event *waits)
{
    const cl_uint columns = (cl_uint)pass->columns, radius = (cl_uint)pass->radius;
    const size_t global[2] = {pass->columns, pass->rows};
    cl_event event;
    must(clSetKernelArg(self->kernel, 0, sizeof pass->in, &pass->in), "clSetKernelArg");
    must(clSetKernelArg(self->kernel, 1, sizeof pass->filter, &pass->filter), "clSetKernelArg");
    must(clSetKernelArg(self->kernel, 2, sizeof pass->out, &pass->out), "clSetKernelArg");
    must(clSetKernelArg(self->kernel, 3, sizeof columns, &columns), "clSetKernelArg");
    must(clSetKernelArg(self->kernel, 4, sizeof radius, &radius), "clSetKernelArg");
    must(clEnqueueNDRangeKernel(queue, self->kernel, 2, NULL, global, NULL, wait_count, waits,
                                &event),
         "clEnqueueNDRangeKernel");
    return event;
}
