/* The work of the example, a picture filtered chunk by chunk, and the ways of doing it. */
#ifndef CONVOLUTION_JOB_H
#define CONVOLUTION_JOB_H

#include "event_tally.h"

typedef struct conv_job {
    size_t rows;
    size_t columns;
    size_t radius;     /* the filter has 2 * radius + 1 rows and columns */
    size_t chunk_rows; /* rows of the result that are computed at once */
    size_t frames;     /* how often the picture is filtered */
    float *filter;
    float *in;              /* (rows + 2 * radius) x (columns + 2 * radius), its edges repeated */
    float *out;             /* rows x columns */
    haul_buffer *pinned[2]; /* of a way that pins `in` and `out` */
    haul_device *device;
    haul_kernel *kernel;
    haul_error error;
    tally done;
} conv_job;

/* A way of doing it. `begin` makes room for `in` and `out`, `end` gives it back. */
typedef struct conv_way {
    const char *name;
    void (*begin)(conv_job *self);
    void (*run)(conv_job *self);
    void (*end)(conv_job *self);
} conv_way;

extern const conv_way way_plain;
extern const conv_way way_overlapped;

/* A chunk's place on the device. */
typedef struct conv_pass {
    haul_buffer *in, *filter, *out;
} conv_pass;

/* Opens the device, by its name or NULL, and compiles the kernel. What fails here and below ends
 * the program. */
void job_open(conv_job *self, const char *device);
void job_close(conv_job *self);

/* Of the device: a buffer, a stream, a copy that is counted, the kernel for `rows` rows. */
haul_buffer *job_buffer(conv_job *self, haul_buffer_kind kind, size_t bytes);
haul_stream *job_stream(conv_job *self);
haul_event *job_copy(conv_job *self, haul_stream *stream, made kind, haul_address to,
                     haul_address from, size_t bytes);
haul_event *job_convolve(conv_job *self, haul_stream *stream, const conv_pass *pass, size_t rows);

static inline size_t job_width(const conv_job *self)
{
    return 2 * self->radius + 1;
}

static inline size_t job_pitch(const conv_job *self)
{
    return self->columns + 2 * self->radius;
}

static inline size_t job_filter_bytes(const conv_job *self)
{
    return job_width(self) * job_width(self) * sizeof(float);
}

/* Bytes that `rows` rows of the result are computed from, and that they are. */
static inline size_t job_in_bytes(const conv_job *self, size_t rows)
{
    return (rows + 2 * self->radius) * job_pitch(self) * sizeof(float);
}

static inline size_t job_out_bytes(const conv_job *self, size_t rows)
{
    return rows * self->columns * sizeof(float);
}

/* Rows of the chunk that begins at `row`. */
static inline size_t job_rows_at(const conv_job *self, size_t row)
{
    const size_t left = self->rows - row;
    return left < self->chunk_rows ? left : self->chunk_rows;
}

#endif
