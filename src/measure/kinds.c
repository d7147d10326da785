/* Copies of other kinds than the curves': from write-combined memory, and of rows with a pitch. */
#include <stdio.h>

#include "measure/copies.h"

/* Rows of 64 bytes are a sector of a GPU's cache; from some KiB on a row is a copy like others. */
enum { ROW_LEAST = 64, ROW_MOST = 16 << 10, ROW_STEP = 16, ROWS_BYTES = 8 << 20 };

static haul_status measure_combined(hl_measure_session *self, haul_error *error)
{
    hl_measure_way way = {HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, NULL};
    HAUL_TRY(haul_buffer_new(self->device, HAUL_BUFFER_WRITE_COMBINED, self->options.largest_bytes,
                             &way.host, error));
    haul_status status = hl_measure_copies_find_rate(self, way, "write-combined", error);
    if (!status)
        status =
            hl_measure_copies_find_rate(self, hl_measure_way_back(way), "write-combined", error);
    haul_buffer_free(way.host);
    return status;
}

/* So many rows, twice as far apart on the host as they are long, one behind another on the
 * device. */
typedef struct rows {
    haul_direction direction;
    uint64_t row_bytes;
    uint64_t count;
} rows;

static haul_status try_rows(hl_measure_session *session, const void *what, double *seconds,
                            haul_error *error)
{
    const rows *self = what;
    haul_event *event = session->events[0];
    const haul_address device = haul_in_buffer(session->on_device[0], 0);
    const haul_address host = haul_in_buffer(session->pinned[0], 0);
    haul_transfer transfer = {.size = {self->row_bytes, self->count}};
    if (self->direction == HAUL_DIRECTION_HTOD) {
        transfer.to = device;
        transfer.from = host;
        transfer.from_pitch[0] = 2 * self->row_bytes;
    } else {
        transfer.to = host;
        transfer.from = device;
        transfer.to_pitch[0] = 2 * self->row_bytes;
    }
    HAUL_TRY(haul_stream_copy(session->streams[0], &transfer, event, error));
    HAUL_TRY(haul_event_wait(event, error));
    return haul_event_seconds(event, event, seconds, error);
}

static haul_status time_rows(hl_measure_session *self, const rows *of,
                             hl_measure_point_measured *point, haul_error *error)
{
    char name[96];
    (void)snprintf(name, sizeof name, "%s %llu rows of %llu bytes",
                   haul_direction_text(of->direction), (unsigned long long)of->count,
                   (unsigned long long)of->row_bytes);
    return hl_measure_session_point(self, name, try_rows, of, point, error);
}

/* The rate is that between a number of rows and half of them, so that L+o is not in it. */
static haul_status measure_rows(hl_measure_session *self, haul_direction direction,
                                uint64_t row_bytes, haul_error *error)
{
    const uint64_t most = self->options.largest_bytes / 2;
    const uint64_t bytes = most < ROWS_BYTES ? most : ROWS_BYTES;
    const rows whole = {direction, row_bytes, bytes / row_bytes};
    const rows half = {direction, row_bytes, whole.count / 2};
    hl_measure_point_measured all, part;
    haul_status status = time_rows(self, &whole, &all, error);
    if (!status)
        status = time_rows(self, &half, &part, error);
    if (!status && all.seconds > part.seconds)
        hl_measure_session_tell(
            self, HAUL_DIM_RATE,
            (double)((whole.count - half.count) * row_bytes) / (all.seconds - part.seconds), &all,
            "%s rows of %llu bytes", haul_direction_text(direction), (unsigned long long)row_bytes);
    return status;
}

haul_status hl_measure_kinds(hl_measure_session *session, haul_error *error)
{
    haul_status status = measure_combined(session, error);
    if (hl_measure_is_lacking(status))
        status = HAUL_OK;
    for (uint64_t row_bytes = ROW_LEAST; row_bytes <= ROW_MOST && !status; row_bytes *= ROW_STEP) {
        status = measure_rows(session, HAUL_DIRECTION_HTOD, row_bytes, error);
        if (!status)
            status = measure_rows(session, HAUL_DIRECTION_DTOH, row_bytes, error);
    }
    return status;
}
