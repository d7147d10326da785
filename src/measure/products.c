/* Large matrix products by the vendor's library: what the device sustains. */
#include <stdio.h>

#include "device/vendor_product.h"
#include "measure/session.h"

enum { SIDE_LEAST = 256 };

/* A product that takes so long is large enough. */
static const double long_enough_s = 10e-3;

typedef struct multiplication {
    haul_vendor *vendor;
    haul_vendor_product of;
} multiplication;

/* Between two points of the stream: the library may launch several kernels. */
static haul_status try_product(haul_session *session, const void *what, double *seconds,
                               haul_error *error)
{
    const multiplication *self = what;
    haul_stream *stream = session->streams[0];
    haul_event *from = session->events[0], *to = session->events[1];
    HAUL_TRY(haul_stream_record(stream, from, error));
    HAUL_TRY(haul_vendor_multiply(self->vendor, stream, &self->of, error));
    HAUL_TRY(haul_stream_record(stream, to, error));
    HAUL_TRY(haul_event_wait(to, error));
    return haul_event_seconds(from, to, seconds, error);
}

/* Doubles the side until a product takes long enough, as far as its matrices fit. The first of each
 * side is not timed: the library loads its kernels then. */
static haul_status choose_side(haul_session *self, multiplication *all, haul_error *error)
{
    const uint64_t most = self->options.largest_bytes / sizeof(double);
    double seconds = 0;
    haul_status status = try_product(self, all, &seconds, error);
    while (!status && seconds < long_enough_s) {
        status = try_product(self, all, &seconds, error);
        const uint64_t next = 2 * (uint64_t)all->of.side;
        if (status || seconds >= long_enough_s || next * next > most)
            break;
        all->of.side = (int)next;
        status = try_product(self, all, &seconds, error);
    }
    return status;
}

/* What the library or the device lacks is left out. */
static haul_status measure_product(haul_session *self, multiplication *all, const char *text,
                                   haul_precision precision, haul_error *error)
{
    char name[96];
    haul_point_measured point;
    all->of.precision = precision;
    all->of.side = SIDE_LEAST;
    haul_status status = choose_side(self, all, error);
    if (status)
        return haul_is_lacking(status) ? HAUL_OK : status;
    const double n = all->of.side;
    (void)snprintf(name, sizeof name, "%s product, %s, of side %d", haul_vendor_name(all->vendor),
                   text, all->of.side);
    status = haul_session_point(self, name, try_product, all, &point, error);
    if (!status && point.seconds > 0)
        self->machine.gpu.product_flops[precision] =
            haul_session_found(self, 2 * n * n * n / point.seconds, &point);
    return status;
}

haul_status haul_measure_products(haul_session *session, haul_error *error)
{
    multiplication all = {.of = {.a = session->on_device[0], .b = session->on_device[1]}};
    HAUL_TRY(haul_vendor_open(session->device, &all.vendor, error));
    haul_status status = haul_buffer_new(session->device, HAUL_BUFFER_DEVICE,
                                         session->options.largest_bytes, &all.of.c, error);
    if (!status)
        status = measure_product(session, &all, "double", HAUL_PRECISION_FP64, error);
    if (!status)
        status = measure_product(session, &all, "single", HAUL_PRECISION_FP32, error);
    if (!status)
        status = measure_product(session, &all, "half", HAUL_PRECISION_FP16, error);
    haul_buffer_free(all.of.c);
    haul_vendor_close(all.vendor);
    return status;
}
