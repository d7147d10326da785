#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#include "board.h"

enum { PLATFORMS = 16, SOURCE_BYTES = 65536 };

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;

static void must(cl_int status, const char *call)
{
    if (status == CL_SUCCESS)
        return;
    fprintf(stderr, "kernels: %s failed with %d\n", call, (int)status);
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

static void read_source(char *text)
{
    FILE *file = fopen(KERNELS_CL, "r");
    if (!file) {
        fprintf(stderr, "kernels: cannot open '%s'\n", KERNELS_CL);
        exit(1);
    }
    text[fread(text, 1, SOURCE_BYTES - 1, file)] = '\0';
    fclose(file);
}

static void build(void)
{
    static char source[SOURCE_BYTES], log[SOURCE_BYTES];
    const char *text = source;
    cl_int status;
    read_source(source);
    program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
    must(status, "clCreateProgramWithSource");
    status = clBuildProgram(program, 1, &device, "", NULL, NULL);
    if (status != CL_SUCCESS) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fprintf(stderr, "%s\n", log);
    }
    must(status, "clBuildProgram");
}

const char *board_open(void)
{
    static char name[256];
    cl_int status;
    device = find(CL_DEVICE_TYPE_GPU);
    if (!device)
        device = find(CL_DEVICE_TYPE_ALL);
    if (!device) {
        fputs("kernels: no OpenCL device (pocl-opencl-icd makes the CPU one)\n", stderr);
        exit(4);
    }
    must(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL), "clGetDeviceInfo");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    must(status, "clCreateContext");
    queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status);
    must(status, "clCreateCommandQueue");
    build();
    return name;
}

void board_close(void)
{
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

static cl_mem buffer_of(size_t bytes, const void *data)
{
    cl_int status;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    must(status, "clCreateBuffer");
    if (data)
        must(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL),
             "clEnqueueWriteBuffer");
    return buffer;
}

static double run_once(cl_kernel kernel, cl_uint dimensions, const size_t *global,
                       const size_t *local)
{
    cl_ulong start = 0, end = 0;
    cl_event event;
    must(clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, global, local, 0, NULL, &event),
         "clEnqueueNDRangeKernel");
    must(clWaitForEvents(1, &event), "clWaitForEvents");
    must(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL),
         "clGetEventProfilingInfo");
    must(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
         "clGetEventProfilingInfo");
    clReleaseEvent(event);
    return (double)(end - start) * 1e-9;
}

static cl_kernel kernel_of(const char *name, const cl_mem *buffers, cl_uint count, cl_int n)
{
    cl_int status;
    cl_kernel kernel = clCreateKernel(program, name, &status);
    must(status, "clCreateKernel");
    for (cl_uint i = 0; i < count; i++)
        must(clSetKernelArg(kernel, i, sizeof buffers[i], &buffers[i]), "clSetKernelArg");
    must(clSetKernelArg(kernel, count, sizeof n, &n), "clSetKernelArg");
    return kernel;
}

static void release(cl_kernel kernel, const cl_mem *buffers, int count)
{
    clReleaseKernel(kernel);
    for (int i = 0; i < count; i++)
        clReleaseMemObject(buffers[i]);
}

void board_matmul(int variant, int n, const float *a, const float *b, float *c, int repetitions,
                  double *seconds)
{
    static const char *const names[MATMULS] = {"matmul_global_uncoalesced", "matmul_global",
                                               "matmul_shared_uncoalesced", "matmul_shared"};
    const size_t bytes = sizeof *a * (size_t)n * (size_t)n;
    const size_t side = (size_t)(n + BOARD_TILE - 1) / BOARD_TILE * BOARD_TILE;
    const size_t global[2] = {side, side}, local[2] = {BOARD_TILE, BOARD_TILE};
    const cl_mem buffers[3] = {buffer_of(bytes, a), buffer_of(bytes, b), buffer_of(bytes, NULL)};
    cl_kernel kernel = kernel_of(names[variant], buffers, 3, n);
    (void)run_once(kernel, 2, global, local);
    for (int i = 0; i < repetitions; i++)
        seconds[i] = run_once(kernel, 2, global, local);
    must(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, bytes, c, 0, NULL, NULL),
         "clEnqueueReadBuffer");
    release(kernel, buffers, 3);
}

void board_max_subarray(int n, const int *x, int *results, int repetitions, double *seconds)
{
    const size_t global = (size_t)BOARD_BLOCKS * BOARD_WIDTH, local = BOARD_WIDTH;
    const size_t bytes = sizeof *results * BOARD_RESULTS * global;
    const cl_mem buffers[2] = {buffer_of(sizeof *x * (size_t)n, x), buffer_of(bytes, NULL)};
    cl_kernel kernel = kernel_of("max_subarray", buffers, 2, n);
    (void)run_once(kernel, 1, &global, &local);
    for (int i = 0; i < repetitions; i++)
        seconds[i] = run_once(kernel, 1, &global, &local);
    must(clEnqueueReadBuffer(queue, buffers[1], CL_TRUE, 0, bytes, results, 0, NULL, NULL),
         "clEnqueueReadBuffer");
    release(kernel, buffers, 2);
}
