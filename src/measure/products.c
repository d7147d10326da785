/* Large matrix products by the vendor's library: what the device sustains. */
#include <stdio.h>
#include <string.h>

#include "device/vendor_product.h"
#include "measure/session.h"

enum { SIDE_LEAST = 256, SIDE_MOST = 16384 };

/* The matrices take so much of the device's free memory at most. */
enum { PART_OF_ROOM = 8 };

/* A product that takes so long is large enough. */
static const double long_enough_s = 10e-3;

typedef struct multiplication {
    haul_vendor *vendor;
    haul_vendor_product of;
} multiplication;

static const struct precision_of {
    const char *text;
    haul_precision precision;
    unsigned bytes, exponent_at;
    uint64_t half; /* 0.5 */
} precisions[] = {
    {"double", HAUL_PRECISION_FP64, 8, 52, UINT64_C(0x3fe) << 52},
    {"single", HAUL_PRECISION_FP32, 4, 23, UINT64_C(0x7e) << 23},
    {"half", HAUL_PRECISION_FP16, 2, 10, UINT64_C(0xe) << 10},
};

/* Numbers from 0.5 to 1 of either sign, at random: an H200 multiplies zeros 13 % faster. */
static haul_status fill(haul_session *session, const struct precision_of *of, haul_buffer *buffer,
                        uint64_t bytes, haul_error *error)
{
    char *const block = haul_buffer_host(session->pinned[0]);
    const uint64_t largest = session->options.largest_bytes;
    const uint64_t mantissa = (UINT64_C(1) << of->exponent_at) - 1;
    const unsigned sign_at = 8 * of->bytes - 1;
    uint64_t random = 1;
    haul_status status = HAUL_OK;
    for (uint64_t at = 0; at + of->bytes <= largest; at += of->bytes) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint64_t bits = of->half | (random >> 12 & mantissa) | random >> 63 << sign_at;
        memcpy(block + at, &bits, of->bytes);
    }
    for (uint64_t at = 0; at < bytes && !status; at += largest) {
        const haul_transfer part = {.to = haul_in_buffer(buffer, at),
                                    .from = haul_in_buffer(session->pinned[0], 0),
                                    .size = {bytes - at < largest ? bytes - at : largest}};
        status = haul_stream_copy(session->streams[0], &part, NULL, error);
    }
    return status ? status : haul_stream_wait(session->streams[0], error);
}

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

static void free_matrices(multiplication *all)
{
    haul_buffer_free(all->of.a);
    haul_buffer_free(all->of.b);
    haul_buffer_free(all->of.c);
    all->of.a = all->of.b = all->of.c = NULL;
}

/* Matrices of a side, filled; DEVICE_FULL where they would take too much of the device's memory. */
static haul_status make_matrices(haul_session *self, multiplication *all,
                                 const struct precision_of *of, int side, haul_error *error)
{
    const uint64_t bytes = (uint64_t)side * (uint64_t)side * of->bytes;
    haul_buffer **const made[] = {&all->of.a, &all->of.b, &all->of.c};
    uint64_t room;
    haul_status status = haul_device_room(self->device, &room, error);
    if (status && !haul_is_lacking(status))
        return status;
    if (!status && 3 * bytes > room / PART_OF_ROOM)
        return haul_fail(error, HAUL_DEVICE_FULL, "no room for products of side %d", side);
    free_matrices(all);
    status = HAUL_OK;
    for (int i = 0; i < 3 && !status; i++)
        status = haul_buffer_new(self->device, HAUL_BUFFER_DEVICE, bytes, made[i], error);
    for (int i = 0; i < 2 && !status; i++)
        status = fill(self, of, *made[i], bytes, error);
    all->of.side = side;
    return status;
}

/* Doubles the side until a product takes long enough, as far as its matrices fit. The first of each
 * side is not timed: the library loads its kernels then. */
static haul_status choose_side(haul_session *self, multiplication *all,
                               const struct precision_of *of, haul_error *error)
{
    double seconds = 0;
    HAUL_TRY(make_matrices(self, all, of, SIDE_LEAST, error));
    for (;;) {
        HAUL_TRY(try_product(self, all, &seconds, error));
        HAUL_TRY(try_product(self, all, &seconds, error));
        const int side = all->of.side;
        if (seconds >= long_enough_s || side == SIDE_MOST)
            return HAUL_OK;
        const haul_status status = make_matrices(self, all, of, 2 * side, error);
        if (status == HAUL_DEVICE_FULL)
            return all->of.c ? HAUL_OK : make_matrices(self, all, of, side, error);
        HAUL_TRY(status);
    }
}

/* What the library or the device lacks is left out. */
static haul_status measure_product(haul_session *self, multiplication *all,
                                   const struct precision_of *of, haul_error *error)
{
    char name[96];
    haul_point_measured point;
    all->of.precision = of->precision;
    haul_status status = choose_side(self, all, of, error);
    if (status)
        return haul_is_lacking(status) ? HAUL_OK : status;
    const double n = all->of.side;
    (void)snprintf(name, sizeof name, "%s product, %s, of side %d", haul_vendor_name(all->vendor),
                   of->text, all->of.side);
    status = haul_session_point(self, name, try_product, all, &point, error);
    if (!status && point.seconds > 0)
        self->machine.gpu.product_flops[of->precision] =
            haul_session_found(self, 2 * n * n * n / point.seconds, &point);
    return status;
}

haul_status haul_measure_products(haul_session *session, haul_error *error)
{
    multiplication all = {.vendor = NULL};
    HAUL_TRY(haul_vendor_open(session->device, &all.vendor, error));
    haul_status status = HAUL_OK;
    for (size_t i = 0; i < sizeof precisions / sizeof *precisions && !status; i++)
        status = measure_product(session, &all, &precisions[i], error);
    free_matrices(&all);
    haul_vendor_close(all.vendor);
    return status;
}
