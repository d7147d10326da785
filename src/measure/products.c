/* Matrix products by the vendor's library: large ones, which tell what the device sustains, and
 * others of many shapes, whose tiles and slices are the library's choice. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "device/vendor_product.h"
#include "measure/session.h"

enum { SIDE_LEAST = 256, SIDE_MOST = 16384 };

/* The matrices take so much of the device's free memory at most. */
enum { PART_OF_ROOM = 8 };

/* A product that takes so long is large enough. */
static const double long_enough_s = 10e-3;

typedef struct multiplication {
    hl_device_vendor *vendor;
    hl_device_vendor_product of;
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
static haul_status fill_at_random(hl_measure_session *session, const struct precision_of *of,
                                  haul_buffer *buffer, uint64_t bytes, haul_error *error)
{
    char *const block = haul_buffer_host(session->pinned[0]);
    const uint64_t largest = session->options.largest_bytes;
    const uint64_t mantissa = (UINT64_C(1) << of->exponent_at) - 1;
    const unsigned sign_at = 8 * of->bytes - 1;
    uint64_t random = 1;
    for (uint64_t at = 0; at + of->bytes <= largest; at += of->bytes) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint64_t bits = of->half | (random >> 12 & mantissa) | random >> 63 << sign_at;
        memcpy(block + at, &bits, of->bytes);
    }
    for (uint64_t at = 0; at < bytes; at += largest) {
        const haul_transfer part = {.to = haul_in_buffer(buffer, at),
                                    .from = haul_in_buffer(session->pinned[0], 0),
                                    .size = {bytes - at < largest ? bytes - at : largest}};
        HAUL_TRY(haul_stream_copy(session->streams[0], &part, NULL, error));
    }
    return haul_stream_wait(session->streams[0], error);
}

/* Between two points of the stream: the library may launch several kernels. */
static haul_status try_product(hl_measure_session *session, const void *what, double *seconds,
                               haul_error *error)
{
    const multiplication *self = what;
    haul_stream *stream = session->streams[0];
    haul_event *from = session->events[0], *to = session->events[1];
    HAUL_TRY(haul_stream_record(stream, from, error));
    HAUL_TRY(hl_device_vendor_multiply(self->vendor, stream, &self->of, error));
    HAUL_TRY(haul_stream_record(stream, to, error));
    HAUL_TRY(haul_event_wait(to, error));
    return haul_event_seconds(from, to, seconds, error);
}

typedef struct shape {
    int rows, columns, inner;
} shape;

static shape square(int side)
{
    return (shape){side, side, side};
}

static void free_matrices(multiplication *all)
{
    haul_buffer_free(all->of.a);
    haul_buffer_free(all->of.b);
    haul_buffer_free(all->of.c);
    all->of.a = all->of.b = all->of.c = NULL;
}

/* Matrices of a product, filled; DEVICE_FULL where they would take too much of the device's memory.
 */
static haul_status make_matrices(hl_measure_session *self, multiplication *all,
                                 const struct precision_of *of, shape size, haul_error *error)
{
    const uint64_t rows = (uint64_t)size.rows, columns = (uint64_t)size.columns;
    const uint64_t inner = (uint64_t)size.inner;
    const uint64_t bytes[] = {rows * inner * of->bytes, inner * columns * of->bytes,
                              rows * columns * of->bytes};
    haul_buffer **const made[] = {&all->of.a, &all->of.b, &all->of.c};
    uint64_t room;
    haul_status status = haul_device_room(self->device, &room, error);
    if (status && !hl_measure_is_lacking(status))
        return status;
    if (!status && bytes[0] + bytes[1] + bytes[2] > room / PART_OF_ROOM)
        return haul_error_set(error, HAUL_STATUS_DEVICE_FULL,
                              "no room for products of %d x %d by %d x %d", size.rows, size.inner,
                              size.inner, size.columns);
    free_matrices(all);
    status = HAUL_OK;
    for (int i = 0; i < 3 && !status; i++)
        status = haul_buffer_new(self->device, HAUL_BUFFER_DEVICE, bytes[i], made[i], error);
    for (int i = 0; i < 2 && !status; i++)
        status = fill_at_random(self, of, *made[i], bytes[i], error);
    all->of.rows = size.rows;
    all->of.columns = size.columns;
    all->of.inner = size.inner;
    return status;
}

/* Doubles the side until a product takes long enough, as far as its matrices fit. The first of each
 * side is not timed: the library loads its kernels then. */
static haul_status choose_side(hl_measure_session *self, multiplication *all,
                               const struct precision_of *of, haul_error *error)
{
    double seconds = 0;
    HAUL_TRY(make_matrices(self, all, of, square(SIDE_LEAST), error));
    for (;;) {
        HAUL_TRY(try_product(self, all, &seconds, error));
        HAUL_TRY(try_product(self, all, &seconds, error));
        const int side = all->of.rows;
        if (seconds >= long_enough_s || side == SIDE_MOST)
            return HAUL_OK;
        const haul_status status = make_matrices(self, all, of, square(2 * side), error);
        if (status == HAUL_STATUS_DEVICE_FULL)
            return all->of.c ? HAUL_OK : make_matrices(self, all, of, square(side), error);
        HAUL_TRY(status);
    }
}

/* Products that the library or the device lacks are left out. */
static haul_status measure_product(hl_measure_session *self, multiplication *all,
                                   const struct precision_of *of, haul_error *error)
{
    char name[96];
    hl_measure_point_measured point;
    all->of.precision = of->precision;
    haul_status status = choose_side(self, all, of, error);
    if (status)
        return hl_measure_is_lacking(status) ? HAUL_OK : status;
    const double n = all->of.rows;
    (void)snprintf(name, sizeof name, "%s product, %s, of side %d",
                   hl_device_vendor_name(all->vendor), of->text, all->of.rows);
    status = hl_measure_session_point(self, name, try_product, all, &point, error);
    if (!status && point.seconds > 0)
        self->machine.gpu.product_flops[of->precision] =
            hl_measure_session_found(self, 2 * n * n * n / point.seconds, &point);
    return status;
}

/* Products of other shapes, as far as one takes no longer than this at the sustained rate. */
static const double longest_s = 50e-3;

static const int rows_tried[] = {256, 1024, 4096};
static const int columns_tried[] = {1024, 4096};
static const int inner_tried[] = {256, 1024, 4096, 16384};

#define COUNT(list) (sizeof(list) / sizeof *(list))
enum { SHAPES = COUNT(rows_tried) * COUNT(columns_tried) * COUNT(inner_tried) };

/* The library loads its kernels at the first product, which is not timed. */
static haul_status measure_shape(hl_measure_session *self, multiplication *all,
                                 const struct precision_of *of, shape size, haul_product_time *into,
                                 haul_error *error)
{
    char name[96];
    double seconds;
    hl_measure_point_measured point;
    HAUL_TRY(make_matrices(self, all, of, size, error));
    HAUL_TRY(try_product(self, all, &seconds, error));
    (void)snprintf(name, sizeof name, "%s product, %s, of %d x %d by %d x %d",
                   hl_device_vendor_name(all->vendor), of->text, size.rows, size.inner, size.inner,
                   size.columns);
    HAUL_TRY(hl_measure_session_point(self, name, try_product, all, &point, error));
    if (point.seconds > 0)
        *into =
            (haul_product_time){.precision = of->precision,
                                .batch = hl_measure_session_found(self, 1, &point),
                                .rows = hl_measure_session_found(self, size.rows, &point),
                                .columns = hl_measure_session_found(self, size.columns, &point),
                                .inner = hl_measure_session_found(self, size.inner, &point),
                                .time_s = hl_measure_session_found(self, point.seconds, &point)};
    return HAUL_OK;
}

/* Adds the products of one precision, behind the machine's others. */
static haul_status measure_shapes(hl_measure_session *self, multiplication *all,
                                  const struct precision_of *of, haul_product_time *products,
                                  haul_error *error)
{
    const double rate = self->machine.gpu.product_flops[of->precision].value;
    all->of.precision = of->precision;
    haul_status status = HAUL_OK;
    for (size_t i = 0; i < SHAPES && !status && rate > 0; i++) {
        const shape size = (shape){rows_tried[i % COUNT(rows_tried)],
                                   columns_tried[i / COUNT(rows_tried) % COUNT(columns_tried)],
                                   inner_tried[i / COUNT(rows_tried) / COUNT(columns_tried)]};
        haul_product_time *into = &products[self->machine.product_count];
        if (2.0 * size.rows * size.columns * size.inner / rate > longest_s)
            continue;
        *into = (haul_product_time){.precision = HAUL_PRECISION_NONE};
        status = measure_shape(self, all, of, size, into, error);
        if (hl_measure_is_lacking(status))
            status = HAUL_OK;
        self->machine.product_count += into->precision != HAUL_PRECISION_NONE;
    }
    return status;
}

/* In single and half precision: a machine file has room for 64. */
static haul_status measure_all_shapes(hl_measure_session *self, multiplication *all,
                                      haul_error *error)
{
    haul_product_time *products =
        hl_base_arena_alloc(&self->arena, COUNT(precisions) * SHAPES * sizeof *products);
    if (!products)
        return hl_base_fail_no_memory(error);
    self->machine.products = products;
    haul_status status = HAUL_OK;
    for (size_t i = 0; i < COUNT(precisions) && !status; i++)
        if (precisions[i].precision != HAUL_PRECISION_FP64)
            status = measure_shapes(self, all, &precisions[i], products, error);
    return status;
}

haul_status hl_measure_products(hl_measure_session *session, haul_error *error)
{
    multiplication all = {.vendor = NULL};
    HAUL_TRY(hl_device_vendor_open(session->device, &all.vendor, error));
    haul_status status = HAUL_OK;
    for (size_t i = 0; i < sizeof precisions / sizeof *precisions && !status; i++)
        status = measure_product(session, &all, &precisions[i], error);
    if (!status)
        status = measure_all_shapes(session, &all, error);
    free_matrices(&all);
    hl_device_vendor_close(all.vendor);
    return status;
}
