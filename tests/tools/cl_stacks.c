/* A program whose copies two functions make, one of them from two places: what their call stacks
 * are is known.
 *
 * usage: cl_stacks; exits 77 where there is no device. */
#define CL_TARGET_OPENCL_VERSION 120

#include <CL/cl.h>
#include <stdlib.h>

enum { SIZE = 4096 };

static char data[SIZE];

/* The file names them, without debugging information too. */
int upload(cl_command_queue queue, cl_mem buffer);
int download(cl_command_queue queue, cl_mem buffer);
int step(cl_command_queue queue, cl_mem buffer);

__attribute__((noinline)) int upload(cl_command_queue queue, cl_mem buffer)
{
    return clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, SIZE, data, 0, NULL, NULL);
}

__attribute__((noinline)) int download(cl_command_queue queue, cl_mem buffer)
{
    return clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, SIZE, data, 0, NULL, NULL);
}

__attribute__((noinline)) int step(cl_command_queue queue, cl_mem buffer)
{
    const int failed = upload(queue, buffer);
    return failed + download(queue, buffer);
}

int main(void)
{
    enum { STEPS = 5 };
    cl_platform_id platform;
    cl_device_id device;
    int failed = 0;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 77;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, SIZE, NULL, NULL);
    for (int i = 0; i < STEPS; i++)
        failed |= step(queue, buffer);
    failed |= upload(queue, buffer);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return failed != 0;
}
