/* Copies, fills and calls of the host. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { CHUNK = 1 << 16 };

driver_copy driver_copy_flat(driver_address to, driver_address from, uint64_t bytes)
{
    return (driver_copy){
        .to = {.at = to}, .from = {.at = from}, .bytes = bytes, .rows = 1, .planes = 1};
}

static driver_address row_of(const driver_side *side, uint64_t plane, uint64_t row)
{
    return side->at + plane * side->plane + row * side->pitch;
}

static bool is_empty(const driver_copy *copy)
{
    return !copy->bytes || !copy->rows || !copy->planes;
}

static bool side_fits(const driver_copy *copy, const driver_side *side)
{
    const uint64_t end = row_of(side, copy->planes - 1, copy->rows - 1) + copy->bytes;
    return driver_holds(side->at, end - side->at);
}

/* Pageable memory of the host is copied from when the call is made, or, as the guide lets it,
 * later: in random order it is one or the other; with `stage` it is always when the call is made.
 */
static bool stages_now(const driver_copy *copy)
{
    if (driver_memory_at(copy->from.at) != DRIVER_PAGEABLE)
        return false;
    return driver.options.stages || driver.options.order == DRIVER_EAGER ||
           (driver.options.order == DRIVER_RANDOM && driver_draw(2));
}

static void stage(driver_copy *copy)
{
    char *to = copy->staged = driver_new(copy->bytes * copy->rows * copy->planes);
    for (uint64_t plane = 0; plane < copy->planes; plane++)
        for (uint64_t row = 0; row < copy->rows; row++, to += copy->bytes)
            memcpy(to, (const void *)(uintptr_t)row_of(&copy->from, plane, row), copy->bytes);
}

static int check_copy(driver_stream **stream, void *handle, const driver_copy *copy)
{
    const int result = driver_stream_of(stream, handle);
    if (result || is_empty(copy))
        return result;
    if (!side_fits(copy, &copy->to) || !side_fits(copy, &copy->from))
        return DRIVER_INVALID_VALUE;
    return DRIVER_OK;
}

int driver_copy_queue(void *handle, const driver_copy *copy)
{
    driver_stream *stream;
    const int result = check_copy(&stream, handle, copy);
    if (result || is_empty(copy))
        return result;
    driver_op op = {.kind = DRIVER_COPY, .copy = *copy};
    if (stages_now(copy))
        stage(&op.copy);
    driver_queue(stream, &op);
    return DRIVER_OK;
}

int driver_copy_bytes(driver_address to, driver_address from, uint64_t bytes, void *handle)
{
    const driver_copy flat = driver_copy_flat(to, from, bytes);
    return driver_copy_queue(handle, &flat);
}

/* From pageable memory it may return before the bytes are on the device, where another stream could
 * miss them; between places of the device it does not wait at all. */
int driver_copy_now(const driver_copy *copy)
{
    driver_stream *stream;
    const int result = check_copy(&stream, NULL, copy);
    if (result || is_empty(copy))
        return result;
    driver_op op = {.kind = DRIVER_COPY, .copy = *copy};
    const driver_memory from = driver_memory_at(copy->from.at);
    const driver_memory to = driver_memory_at(copy->to.at);
    if (from == DRIVER_PAGEABLE)
        stage(&op.copy);
    driver_queue(stream, &op);
    if (to == DRIVER_DEVICE && (from == DRIVER_PAGEABLE || from == DRIVER_DEVICE))
        return DRIVER_OK;
    return driver_wait_for((driver_need){stream, stream->queued});
}

int driver_fill_queue(void *handle, const driver_fill *fill)
{
    driver_stream *stream;
    const int result = driver_stream_of(&stream, handle);
    if (result || !fill->count)
        return result;
    if (driver_memory_at(fill->at) == DRIVER_PAGEABLE ||
        !driver_holds(fill->at, fill->count * fill->width))
        return DRIVER_INVALID_VALUE;
    driver_queue(stream, &(driver_op){.kind = DRIVER_FILL, .fill = *fill});
    return DRIVER_OK;
}

int driver_call_queue(void *handle, void (*function)(void *state), void *state)
{
    driver_stream *stream;
    const int result = driver_stream_of(&stream, handle);
    if (!result)
        driver_queue(stream, &(driver_op){.kind = DRIVER_CALL,
                                          .call = {.function = function, .state = state}});
    return result;
}

/* --- doing it */

/* A device's memory goes through a buffer, for no address of it is open. */
static bool copy_row(driver_address to, driver_address from, uint64_t bytes)
{
    char chunk[CHUNK];
    for (uint64_t at = 0; at < bytes; at += CHUNK) {
        const uint64_t part = bytes - at < CHUNK ? bytes - at : CHUNK;
        if (!driver_read(chunk, from + at, part) || !driver_write(to + at, chunk, part))
            return false;
    }
    return true;
}

bool driver_copy_run(const driver_copy *copy)
{
    const char *staged = copy->staged;
    for (uint64_t plane = 0; plane < copy->planes; plane++)
        for (uint64_t row = 0; row < copy->rows; row++) {
            const driver_address to = row_of(&copy->to, plane, row);
            const bool done = staged ? driver_write(to, staged, copy->bytes)
                                     : copy_row(to, row_of(&copy->from, plane, row), copy->bytes);
            if (!done)
                return false;
            staged = staged ? staged + copy->bytes : NULL;
        }
    return true;
}

bool driver_fill_run(const driver_fill *fill)
{
    char chunk[CHUNK];
    const uint64_t bytes = fill->count * fill->width;
    for (uint64_t i = 0; i < CHUNK; i += fill->width)
        memcpy(chunk + i, &fill->value, fill->width);
    for (uint64_t at = 0; at < bytes; at += CHUNK)
        if (!driver_write(fill->at + at, chunk, bytes - at < CHUNK ? bytes - at : CHUNK))
            return false;
    return true;
}
