/* The same done well: the pictures lie in pinned memory, the filter is sent once, and three streams
 * and as many sets of buffers let a chunk come in, another be computed and a third go out at once.
 * Only events order them; the host queues everything and waits at the end. */
#include "job.h"

enum { SLOTS = 3, IN = 0, OUT };

/* A chunk's place on the device, and its last operations, which the next chunk here waits for. */
typedef struct conv_slot {
    conv_pass pass;
    haul_event *computed;
    haul_event *fetched;
} conv_slot;

typedef struct conv_lanes {
    haul_stream *up, *compute, *down;
    conv_slot slots[SLOTS];
} conv_lanes;

static float *pin(conv_job *self, int which, size_t bytes)
{
    self->pinned[which] = job_buffer(self, HAUL_BUFFER_PINNED, bytes);
    return haul_buffer_host(self->pinned[which]);
}

static void begin(conv_job *self)
{
    self->in = pin(self, IN, job_in_bytes(self, self->rows));
    self->out = pin(self, OUT, job_out_bytes(self, self->rows));
}

static void end(conv_job *self)
{
    for (int i = 0; i < 2; i++)
        haul_buffer_free(self->pinned[i]);
}

static void open_lanes(conv_job *self, conv_lanes *lanes, haul_buffer *filter)
{
    lanes->up = job_stream(self);
    lanes->compute = job_stream(self);
    lanes->down = job_stream(self);
    for (int i = 0; i < SLOTS; i++)
        lanes->slots[i] = (conv_slot){
            .pass = {.in =
                         job_buffer(self, HAUL_BUFFER_DEVICE, job_in_bytes(self, self->chunk_rows)),
                     .filter = filter,
                     .out = job_buffer(self, HAUL_BUFFER_DEVICE,
                                       job_out_bytes(self, self->chunk_rows))},
        };
}

static void close_lanes(conv_lanes *lanes)
{
    for (int i = 0; i < SLOTS; i++) {
        haul_buffer_free(lanes->slots[i].pass.in);
        haul_buffer_free(lanes->slots[i].pass.out);
    }
    haul_stream_free(lanes->up);
    haul_stream_free(lanes->compute);
    haul_stream_free(lanes->down);
}

static void follow(conv_job *self, haul_stream *stream, haul_event *event)
{
    if (event)
        must(haul_stream_wait_event(stream, event, &self->error), &self->error);
}

/* A slot's input is free when it has been computed from, its output when it has been fetched. */
static void run_chunk(conv_job *self, conv_lanes *lanes, conv_slot *slot, size_t row)
{
    const size_t rows = job_rows_at(self, row);
    follow(self, lanes->up, slot->computed);
    haul_event *sent =
        job_copy(self, lanes->up, MADE_HTOD_PINNED, haul_in_buffer(slot->pass.in, 0),
                 haul_in_buffer(self->pinned[IN], row * job_pitch(self) * sizeof(float)),
                 job_in_bytes(self, rows));
    follow(self, lanes->compute, sent);
    follow(self, lanes->compute, slot->fetched);
    slot->computed = job_convolve(self, lanes->compute, &slot->pass, rows);
    follow(self, lanes->down, slot->computed);
    slot->fetched = job_copy(self, lanes->down, MADE_DTOH_PINNED,
                             haul_in_buffer(self->pinned[OUT], row * self->columns * sizeof(float)),
                             haul_in_buffer(slot->pass.out, 0), job_out_bytes(self, rows));
}

static void run(conv_job *self)
{
    conv_lanes lanes;
    size_t chunk = 0;
    haul_buffer *filter = job_buffer(self, HAUL_BUFFER_DEVICE, job_filter_bytes(self));
    open_lanes(self, &lanes, filter);
    job_copy(self, lanes.compute, MADE_HTOD, haul_in_buffer(filter, 0), haul_in_host(self->filter),
             job_filter_bytes(self));
    for (size_t frame = 0; frame < self->frames; frame++)
        for (size_t row = 0; row < self->rows; row += self->chunk_rows)
            run_chunk(self, &lanes, &lanes.slots[chunk++ % SLOTS], row);
    must(haul_stream_wait(lanes.down, &self->error), &self->error);
    haul_buffer_free(filter);
    close_lanes(&lanes);
}

const conv_way way_overlapped = {"overlapped", begin, run, end};
