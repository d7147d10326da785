#include "trace/nsys_mpi.h"
#include "trace/sqlite_rows.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/order.h"

/* Columns of all tables; those behind the name are of messages and collectives. */
enum {
    START,
    END,
    THREAD,
    NAME,
    COMM,
    TAG,
    PEER,
    BYTES,
    REQUEST,
    WAY,
    COMM_SIZE,
    RANK,
};

static hl_trace_nsys_mpi_row row_of(hl_trace_nsys_mpi *self, const hl_trace_rows *rows)
{
    const uint64_t global = (uint64_t)hl_trace_rows_int(rows, THREAD), low = UINT64_C(0xffffff);
    const haul_workload_thread thread = {.process = global & ~low, .id = global & low};
    const int64_t start_ns = hl_trace_rows_int(rows, START);
    hl_trace_nsys_mpi_row made = {
        .call = {.way = HL_WORKLOAD_MPI_WAYS, .host = HAUL_NONE, .blocks = true},
        .process = thread.process,
        .name = HAUL_NONE,
    };
    made.call.post.start_ns = start_ns;
    made.call.post.dur_ns = hl_trace_duration(start_ns, hl_trace_rows_int(rows, END));
    made.call.post.dur_ns = made.call.post.dur_ns < 0 ? 0 : made.call.post.dur_ns;
    made.call.post.thread = hl_workload_builder_thread(&self->builder->built, &thread);
    made.call.done = made.call.post;
    if (hl_trace_rows_is_int(rows, NAME))
        made.name = hl_trace_name(self->builder,
                                  (uint64_t)hl_trace_rows_int(rows, NAME) & (INT64_MAX >> 1));
    return made;
}

static void keep(hl_trace_nsys_mpi *self, hl_trace_nsys_mpi_row **rows, size_t *count,
                 size_t *capacity, const hl_trace_nsys_mpi_row *row)
{
    if (hl_workload_builder_grow(&self->builder->built, rows, capacity, *count + 1, sizeof **rows))
        (*rows)[(*count)++] = *row;
}

static void take_other(void *reader, const hl_trace_rows *rows)
{
    hl_trace_nsys_mpi *const self = reader;
    const hl_trace_nsys_mpi_row row = row_of(self, rows);
    if (hl_trace_rows_is_int(rows, START))
        keep(self, &self->rows, &self->row_count, &self->row_capacity, &row);
}

static int32_t small(const hl_trace_rows *rows, int column)
{
    const int64_t value = hl_trace_rows_int_or(rows, column, -1);
    return value >= INT32_MIN && value <= INT32_MAX ? (int32_t)value : -1;
}

/* Of Nsight's own, whose peers are ranks of communicators, the times alone are of use. */
static void take_met(void *reader, const hl_trace_rows *rows)
{
    hl_trace_nsys_mpi *const self = reader;
    const int64_t way = hl_trace_rows_int_or(rows, WAY, -1), bytes = hl_trace_rows_int(rows, BYTES);
    const int32_t request = small(rows, REQUEST), rank = small(rows, RANK),
                  size = small(rows, COMM_SIZE);
    hl_trace_nsys_mpi_row row = row_of(self, rows);
    if (!hl_trace_rows_is_int(rows, START))
        return;
    if (way >= 0 && way < HL_WORKLOAD_MPI_WAYS && rank >= 0 && size > 0) {
        row.call.way = (hl_workload_mpi_way)way;
        row.call.rank = rank;
        row.call.peer = small(rows, PEER);
        row.call.tag = small(rows, TAG);
        row.call.bytes = bytes > 0 ? (uint64_t)bytes : 0;
        row.call.comm = (uint32_t)hl_trace_rows_int(rows, COMM);
        row.call.comm_size = (uint32_t)size;
        row.request = request > 0 ? (uint32_t)request : 0;
    }
    keep(self, &self->rows, &self->row_count, &self->row_capacity, &row);
}

/* A call that completes several requests has a row for each. */
static void take_wait(void *reader, const hl_trace_rows *rows)
{
    enum { WAIT_REQUEST = 4 };
    hl_trace_nsys_mpi *const self = reader;
    hl_trace_nsys_mpi_row row = row_of(self, rows);
    const int32_t request = small(rows, WAIT_REQUEST);
    if (!hl_trace_rows_is_int(rows, START))
        return;
    row.request = request > 0 ? (uint32_t)request : 0;
    keep(self, &self->waits, &self->wait_count, &self->wait_capacity, &row);
}

haul_status hl_trace_nsys_mpi_read(hl_trace_nsys_mpi *self, hl_trace_source *source,
                                   haul_error *error)
{
    static const hl_trace_scan scans[] = {
        {"MPI_P2P_EVENTS",
         take_met,
         {"start", "end", "globalTid", "textId", "commHandle", "tag", "remoteRank", "size",
          "requestHandle", "haulWay", "haulCommSize", "haulRank"},
         false},
        {"MPI_COLLECTIVES_EVENTS",
         take_met,
         {"start", "end", "globalTid", "textId", "commHandle", NULL, "rootRank", "size",
          "requestHandle", "haulWay", "haulCommSize", "haulRank"},
         false},
        {"MPI_START_WAIT_EVENTS",
         take_wait,
         {"start", "end", "globalTid", "textId", "requestHandle"},
         false},
        {"MPI_OTHER_EVENTS", take_other, {"start", "end", "globalTid", "textId"}, false},
    };
    return hl_trace_source_scan(source, "", scans, sizeof scans / sizeof *scans, self, error);
}

/* --- requests */

static int compare_times(const hl_trace_nsys_mpi_row *x, const hl_trace_nsys_mpi_row *y)
{
    const hl_workload_mpi_moment *const a = &x->call.post, *const b = &y->call.post;
    int order = hl_base_compare_unsigned(a->thread, b->thread);
    if (!order && a->start_ns != b->start_ns)
        order = a->start_ns < b->start_ns ? -1 : 1;
    return order ? order : hl_base_compare_signed(a->dur_ns, b->dur_ns);
}

static int compare_waits(const void *a, const void *b)
{
    return compare_times(a, b);
}

static int compare_requests(const void *a, const void *b)
{
    const hl_trace_nsys_mpi_row *x = a, *y = b;
    const int order = hl_base_compare_unsigned(x->process, y->process);
    return order ? order : hl_base_compare_unsigned(x->request, y->request);
}

/* --- the calls */

static void add_call(hl_trace_nsys_mpi *self, const hl_trace_nsys_mpi_row *row)
{
    hl_trace_call(self->builder, &(hl_trace_host_call){.start_ns = row->call.post.start_ns,
                                                       .dur_ns = row->call.post.dur_ns,
                                                       .name = row->name,
                                                       .thread = row->call.post.thread});
}

/* Each once. */
static void add_waits(hl_trace_nsys_mpi *self)
{
    hl_base_order_items(self->waits, self->wait_count, sizeof *self->waits, compare_waits);
    for (size_t i = 0; i < self->wait_count; i++)
        if (!i || compare_times(&self->waits[i - 1], &self->waits[i]))
            add_call(self, &self->waits[i]);
    hl_base_order_items(self->waits, self->wait_count, sizeof *self->waits, compare_requests);
}

void hl_trace_nsys_mpi_join(hl_trace_nsys_mpi *self)
{
    hl_workload_builder *const built = &self->builder->built;
    const uint32_t host = built->host && *built->host
                              ? hl_workload_builder_string(built, built->host, strlen(built->host))
                              : HAUL_NONE;
    add_waits(self);
    for (size_t i = 0; i < self->row_count && !built->failed; i++) {
        hl_trace_nsys_mpi_row *const row = &self->rows[i];
        add_call(self, row);
        if (row->call.way == HL_WORKLOAD_MPI_WAYS)
            continue;
        row->call.host = host;
        if (row->request) {
            const hl_base_sorted in = {self->waits, self->wait_count, sizeof *self->waits,
                                       compare_requests};
            const size_t at = hl_base_sorted_before(in, row, false);
            const bool is_there = at < self->wait_count && !compare_requests(&self->waits[at], row);
            row->call.blocks = false;
            row->call.done.thread = HAUL_NONE;
            if (is_there)
                row->call.done = self->waits[at].call.post;
        }
        hl_workload_mpi_call_add(built, &row->call);
    }
}

void hl_trace_nsys_mpi_release(hl_trace_nsys_mpi *self)
{
    free(self->rows);
    free(self->waits);
}
