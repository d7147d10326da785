/* The way that is written first: ordinary memory, one stream, each copy waited for, and the filter
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

static void send(conv_job *self, haul_stream *stream, haul_buffer *to, size_t bytes,
                 const void *from)
{
    job_copy(self, stream, MADE_HTOD, haul_in_buffer(to, 0), haul_in_host(from), bytes);
    must(haul_stream_wait(stream, &self->error), &self->error);
}

static void run_chunk(conv_job *self, haul_stream *stream, const conv_pass *pass, size_t row)
{
    const size_t rows = job_rows_at(self, row);
    send(self, stream, pass->filter, job_filter_bytes(self), self->filter);
    send(self, stream, pass->in, job_in_bytes(self, rows), self->in + row * job_pitch(self));
    job_convolve(self, stream, pass, rows);
    job_copy(self, stream, MADE_DTOH, haul_in_host(self->out + row * self->columns),
             haul_in_buffer(pass->out, 0), job_out_bytes(self, rows));
    must(haul_stream_wait(stream, &self->error), &self->error);
}

static void run(conv_job *self)
{
    haul_stream *stream = job_stream(self);
    const conv_pass pass = {
        .in = job_buffer(self, HAUL_BUFFER_DEVICE, job_in_bytes(self, self->chunk_rows)),
        .filter = job_buffer(self, HAUL_BUFFER_DEVICE, job_filter_bytes(self)),
        .out = job_buffer(self, HAUL_BUFFER_DEVICE, job_out_bytes(self, self->chunk_rows)),
    };
    for (size_t frame = 0; frame < self->frames; frame++)
        for (size_t row = 0; row < self->rows; row += self->chunk_rows)
            run_chunk(self, stream, &pass, row);
    haul_buffer_free(pass.in);
    haul_buffer_free(pass.filter);
    haul_buffer_free(pass.out);
    haul_stream_free(stream);
}

const conv_way way_plain = {"plain", begin, run, end};
