/* A device, a context and the kernel. What fails here ends the program, with a word why: exit code
 * 4 where there is no device, 1 otherwise. */
#ifndef CONVOLUTION_OPENCL_SETUP_H
#define CONVOLUTION_OPENCL_SETUP_H

#include <CL/cl.h>

typedef struct conv_setup {
    cl_device_id id;
    cl_context context;
    cl_program program;
    cl_kernel kernel;
} conv_setup;

/* The first GPU of the first platform that has one, else the first device. */
void setup_begin(conv_setup *self);
void setup_end(conv_setup *self);

/* In order, with profiling on. */
cl_command_queue setup_queue(const conv_setup *self);
cl_mem setup_buffer(const conv_setup *self, cl_mem_flags flags, size_t bytes);

/* Enqueues the kernel for `rows` rows of `columns` pixels. */
typedef struct conv_pass {
    cl_mem in, filter, out;
    size_t rows, columns, radius;
} conv_pass;
cl_event setup_convolve(const conv_setup *self, cl_command_queue queue, const conv_pass *pass,
                        cl_uint wait_count, const cl_event *waits);

/* Ends the program where `status` is a failure of `call`. */
void must(cl_int status, const char *call);

#endif
