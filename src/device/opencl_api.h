/* The functions of OpenCL's loader, which is looked for at run time: a program that uses libhaul
 * starts without one. */
#ifndef HAUL_DEVICE_OPENCL_API_H
#define HAUL_DEVICE_OPENCL_API_H

#define CL_TARGET_OPENCL_VERSION 120

#include <CL/cl.h>

#include "haul/status.h"

#define HL_DEVICE_CL_LIST(X)                                                                       \
    X(clBuildProgram)                                                                              \
    X(clCreateBuffer)                                                                              \
    X(clCreateCommandQueue)                                                                        \
    X(clCreateContext)                                                                             \
    X(clCreateKernel)                                                                              \
    X(clCreateProgramWithBinary)                                                                   \
    X(clCreateProgramWithSource)                                                                   \
    X(clCreateSubDevices)                                                                          \
    X(clCreateUserEvent)                                                                           \
    X(clEnqueueCopyBuffer)                                                                         \
    X(clEnqueueCopyBufferRect)                                                                     \
    X(clEnqueueFillBuffer)                                                                         \
    X(clEnqueueMapBuffer)                                                                          \
    X(clEnqueueMarkerWithWaitList)                                                                 \
    X(clEnqueueNDRangeKernel)                                                                      \
    X(clEnqueueReadBuffer)                                                                         \
    X(clEnqueueReadBufferRect)                                                                     \
    X(clEnqueueUnmapMemObject)                                                                     \
    X(clEnqueueWriteBuffer)                                                                        \
    X(clEnqueueWriteBufferRect)                                                                    \
    X(clFinish)                                                                                    \
    X(clFlush)                                                                                     \
    X(clGetCommandQueueInfo)                                                                       \
    X(clGetDeviceIDs)                                                                              \
    X(clGetDeviceInfo)                                                                             \
    X(clGetEventInfo)                                                                              \
    X(clGetEventProfilingInfo)                                                                     \
    X(clGetKernelInfo)                                                                             \
    X(clGetMemObjectInfo)                                                                          \
    X(clGetPlatformIDs)                                                                            \
    X(clGetPlatformInfo)                                                                           \
    X(clGetProgramBuildInfo)                                                                       \
    X(clGetProgramInfo)                                                                            \
    X(clReleaseCommandQueue)                                                                       \
    X(clReleaseContext)                                                                            \
    X(clReleaseDevice)                                                                             \
    X(clReleaseEvent)                                                                              \
    X(clReleaseKernel)                                                                             \
    X(clReleaseMemObject)                                                                          \
    X(clReleaseProgram)                                                                            \
    X(clRetainCommandQueue)                                                                        \
    X(clRetainContext)                                                                             \
    X(clRetainEvent)                                                                               \
    X(clRetainKernel)                                                                              \
    X(clRetainMemObject)                                                                           \
    X(clSetEventCallback)                                                                          \
    X(clSetKernelArg)                                                                              \
    X(clSetUserEventStatus)                                                                        \
    X(clWaitForEvents)

typedef struct hl_device_cl_api {
#define HL_DEVICE_CL_MEMBER(name) __typeof__(name) *name;
    HL_DEVICE_CL_LIST(HL_DEVICE_CL_MEMBER)
#undef HL_DEVICE_CL_MEMBER
} hl_device_cl_api;

/* Fills `api`. Returns ABSENT where there is no loader, naming the package. */
haul_status hl_device_cl_load(hl_device_cl_api *api, haul_error *error);

/* The failure of `call`: DEVICE_FULL, DEVICE_FAILED or NO_MEMORY, with OpenCL's own name for it. */
haul_status hl_device_cl_fail(cl_int code, const char *call, haul_error *error);

#endif
