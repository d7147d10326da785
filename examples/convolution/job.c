#include "job.h"

#include "convolve.kernel.h"

void job_open(conv_job *self, const char *device)
{
    must(haul_device_open(device, NULL, &self->device, &self->error), &self->error);
    must(haul_kernel_new(self->device, &convolve, &self->kernel, &self->error), &self->error);
}

void job_close(conv_job *self)
{
    haul_kernel_free(self->kernel);
    haul_device_close(self->device);
}

haul_buffer *job_buffer(conv_job *self, haul_buffer_kind kind, size_t bytes)
{
    haul_buffer *buffer;
    must(haul_buffer_new(self->device, kind, bytes, &buffer, &self->error), &self->error);
    return buffer;
}

haul_stream *job_stream(conv_job *self)
{
    haul_stream *stream;
    must(haul_stream_new(self->device, &stream, &self->error), &self->error);
    return stream;
}

haul_event *job_copy(conv_job *self, haul_stream *stream, made kind, haul_address to,
                     haul_address from, size_t bytes)
{
    haul_event *event = tally_add(&self->done, self->device, kind, bytes);
    const haul_transfer transfer = {.to = to, .from = from, .size = {bytes}};
    must(haul_stream_copy(stream, &transfer, event, &self->error), &self->error);
    return event;
}

haul_event *job_convolve(conv_job *self, haul_stream *stream, const conv_pass *pass, size_t rows)
{
    const int columns = (int)self->columns, radius = (int)self->radius;
    haul_event *event = tally_add(&self->done, self->device, MADE_KERNEL, 0);
    const haul_argument arguments[] = {{.buffer = pass->in},
                                       {.buffer = pass->filter},
                                       {.buffer = pass->out},
                                       {.value = &columns},
                                       {.value = &radius}};
    const double pixels = (double)rows * (double)self->columns;
    const double taps = (double)(job_width(self) * job_width(self));
    const haul_launch launch = {
        .box = {.hi = {columns, (int)rows}},
        .arguments = arguments,
        .argument_count = sizeof arguments / sizeof *arguments,
        .bytes = (double)(job_in_bytes(self, rows) + job_out_bytes(self, rows)),
        .flops = 2 * taps * pixels,
    };
    must(haul_stream_launch(stream, self->kernel, &launch, event, &self->error), &self->error);
    return event;
}
