/* The same done well: the pictures lie in pinned memory, the filter is sent once, and three queues
 * and as many sets of buffers let a chunk come in, another be computed and a third go out at once.
 * Only events order them; the host enqueues everything and waits at the end. */
#include <stdlib.h>

#include "job.h"

enum { SLOTS = 3 };

/* A chunk's place on the device, and its last operations, which the next chunk here waits for. */
typedef struct conv_slot {
    conv_pass pass;
    cl_event computed;
    cl_event fetched;
} conv_slot;

typedef struct conv_lanes {
    cl_command_queue up, compute, down;
    conv_slot slots[SLOTS];
} conv_lanes;

static float *pin(conv_job *self, int which, size_t bytes)
{
    cl_int status;
    cl_event event;
    self->pinned[which] =
        setup_buffer(&self->device, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes);
    float *host =
        clEnqueueMapBuffer(self->held, self->pinned[which], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                           bytes, 0, NULL, &event, &status);
    must(status, "clEnqueueMapBuffer");
    tally_add(&self->done, MADE_MAP, bytes, event);
    return host;
}

static void unpin(conv_job *self, int which, void *host, size_t bytes)
{
    cl_event event;
    must(clEnqueueUnmapMemObject(self->held, self->pinned[which], host, 0, NULL, &event),
         "clEnqueueUnmapMemObject");
    tally_add(&self->done, MADE_UNMAP, bytes, event);
    must(clFinish(self->held), "clFinish");
    clReleaseMemObject(self->pinned[which]);
}

static void begin(conv_job *self)
{
    self->held = setup_queue(&self->device);
    self->in = pin(self, PINNED_IN, job_in_bytes(self, self->rows));
    self->out = pin(self, PINNED_OUT, job_out_bytes(self, self->rows));
}

static void end(conv_job *self)
{
    unpin(self, PINNED_IN, self->in, job_in_bytes(self, self->rows));
    unpin(self, PINNED_OUT, self->out, job_out_bytes(self, self->rows));
    clReleaseCommandQueue(self->held);
}

static void open_lanes(conv_job *self, conv_lanes *lanes, cl_mem filter)
{
    lanes->up = setup_queue(&self->device);
    lanes->compute = setup_queue(&self->device);
    lanes->down = setup_queue(&self->device);
    for (int i = 0; i < SLOTS; i++)
        lanes->slots[i] = (conv_slot){
            .pass = {.in = setup_buffer(&self->device, CL_MEM_READ_ONLY,
                                        job_in_bytes(self, self->chunk_rows)),
                     .filter = filter,
                     .out = setup_buffer(&self->device, CL_MEM_WRITE_ONLY,
                                         job_out_bytes(self, self->chunk_rows)),
                     .columns = self->columns,
                     .radius = self->radius},
        };
}

static void close_lanes(conv_lanes *lanes)
{
    for (int i = 0; i < SLOTS; i++) {
        clReleaseMemObject(lanes->slots[i].pass.in);
        clReleaseMemObject(lanes->slots[i].pass.out);
    }
    clReleaseCommandQueue(lanes->up);
    clReleaseCommandQueue(lanes->compute);
    clReleaseCommandQueue(lanes->down);
}

/* A slot's input is free when it has been computed from, its output when it has been fetched. */
static void run_chunk(conv_job *self, conv_lanes *lanes, conv_slot *slot, size_t row)
{
    const cl_uint used = slot->computed ? 1 : 0;
    cl_event sent, waits[2];
    slot->pass.rows = job_rows_at(self, row);
    const size_t in_bytes = job_in_bytes(self, slot->pass.rows);
    const size_t out_bytes = job_out_bytes(self, slot->pass.rows);
    must(clEnqueueWriteBuffer(lanes->up, slot->pass.in, CL_FALSE, 0, in_bytes,
                              self->in + row * job_pitch(self), used, used ? &slot->computed : NULL,
                              &sent),
         "clEnqueueWriteBuffer");
    tally_add(&self->done, MADE_HTOD_PINNED, in_bytes, sent);
    waits[0] = sent;
    waits[1] = slot->fetched;
    slot->computed = setup_convolve(&self->device, lanes->compute, &slot->pass, 1 + used, waits);
    tally_add(&self->done, MADE_KERNEL, 0, slot->computed);
    must(clEnqueueReadBuffer(lanes->down, slot->pass.out, CL_FALSE, 0, out_bytes,
                             self->out + row * self->columns, 1, &slot->computed, &slot->fetched),
         "clEnqueueReadBuffer");
    tally_add(&self->done, MADE_DTOH_PINNED, out_bytes, slot->fetched);
    clFlush(lanes->up);
    clFlush(lanes->compute);
    clFlush(lanes->down);
}

static void run(conv_job *self)
{
    conv_lanes lanes;
    cl_event sent;
    size_t chunk = 0;
    cl_mem filter = setup_buffer(&self->device, CL_MEM_READ_ONLY, job_filter_bytes(self));
    open_lanes(self, &lanes, filter);
    must(clEnqueueWriteBuffer(lanes.compute, filter, CL_TRUE, 0, job_filter_bytes(self),
                              self->filter, 0, NULL, &sent),
         "clEnqueueWriteBuffer");
    tally_add(&self->done, MADE_HTOD, job_filter_bytes(self), sent);
    for (size_t frame = 0; frame < self->frames; frame++)
        for (size_t row = 0; row < self->rows; row += self->chunk_rows)
            run_chunk(self, &lanes, &lanes.slots[chunk++ % SLOTS], row);
    must(clFinish(lanes.down), "clFinish");
    clReleaseMemObject(filter);
    close_lanes(&lanes);
}

const conv_way way_overlapped = {"overlapped", begin, run, end};
