/* The way that is written first: ordinary memory, one queue, each copy waited for, and the filter
 * sent with every chunk. The device waits while the host copies and the host while it computes. */
#include <stdio.h>
#include <stdlib.h>

#include "job.h"

static void begin(conv_job *self)
{
    self->in = malloc(job_in_bytes(self, self->rows));
    self->out = malloc(job_out_bytes(self, self->rows));
    if (!self->in || !self->out) {
        fputs("convolution: out of memory\n", stderr);
        exit(1);
    }
}

static void end(conv_job *self)
{
    free(self->in);
    free(self->out);
}

static void send(conv_job *self, cl_command_queue queue, cl_mem to, size_t bytes, const void *from)
{
    cl_event event;
    must(clEnqueueWriteBuffer(queue, to, CL_TRUE, 0, bytes, from, 0, NULL, &event),
         "clEnqueueWriteBuffer");
    tally_add(&self->done, MADE_HTOD, bytes, event);
}

static void run_chunk(conv_job *self, cl_command_queue queue, conv_pass *pass, size_t row)
{
    cl_event event;
    pass->rows = job_rows_at(self, row);
    send(self, queue, pass->filter, job_filter_bytes(self), self->filter);
    send(self, queue, pass->in, job_in_bytes(self, pass->rows), self->in + row * job_pitch(self));
    tally_add(&self->done, MADE_KERNEL, 0, setup_convolve(&self->device, queue, pass, 0, NULL));
    must(clEnqueueReadBuffer(queue, pass->out, CL_TRUE, 0, job_out_bytes(self, pass->rows),
                             self->out + row * self->columns, 0, NULL, &event),
         "clEnqueueReadBuffer");
    tally_add(&self->done, MADE_DTOH, job_out_bytes(self, pass->rows), event);
}

static void run(conv_job *self)
{
    const conv_setup *device = &self->device;
    cl_command_queue queue = setup_queue(device);
    conv_pass pass = {
        .in = setup_buffer(device, CL_MEM_READ_ONLY, job_in_bytes(self, self->chunk_rows)),
        .filter = setup_buffer(device, CL_MEM_READ_ONLY, job_filter_bytes(self)),
        .out = setup_buffer(device, CL_MEM_WRITE_ONLY, job_out_bytes(self, self->chunk_rows)),
        .columns = self->columns,
        .radius = self->radius,
    };
    for (size_t frame = 0; frame < self->frames; frame++)
        for (size_t row = 0; row < self->rows; row += self->chunk_rows)
            run_chunk(self, queue, &pass, row);
    must(clFinish(queue), "clFinish");
    clReleaseMemObject(pass.in);
    clReleaseMemObject(pass.filter);
    clReleaseMemObject(pass.out);
    clReleaseCommandQueue(queue);
}

const conv_way way_plain = {"plain", begin, run, end};
