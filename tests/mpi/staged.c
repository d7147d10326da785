/* Calls of device memory in pieces: copies up and down overlap, and an error on one process ends
 * the call on all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/mpi.h"

enum { BYTES = 1 << 24, PROCESSES_MOST = 8, ROWS = 1000, MOVED = 1 << 18 };

static int rank, size;
static unsigned long failures;

static void expect(bool is_right, const char *what, const haul_error *error)
{
    if (is_right)
        return;
    failures++;
    fprintf(stderr, "rank %d of %d: %s: %s\n", rank, size, what, error ? error->text : "wrong");
}

typedef struct setup {
    haul_device *device;
    haul_comm *comm;
    haul_buffer *send, *receive;
} setup;

static setup open_setup(uint64_t piece_bytes, bool is_aware)
{
    setup made = {.comm = NULL};
    haul_error error;
    const haul_device_options how = {.is_host_visible = is_aware};
    haul_status status = haul_device_open("sim:k40", &how, &made.device, &error);
    const haul_comm_options options = {
        .device = made.device, .piece_bytes = piece_bytes, .is_device_aware = is_aware};
    if (!status)
        status = haul_comm_new(MPI_COMM_WORLD, &options, &made.comm, &error);
    if (!status)
        status = haul_buffer_new(made.device, HAUL_BUFFER_DEVICE, BYTES, &made.send, &error);
    if (!status)
        status = haul_buffer_new(made.device, HAUL_BUFFER_DEVICE, BYTES, &made.receive, &error);
    if (status) {
        fprintf(stderr, "%s\n", error.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return made;
}

static void close_setup(setup *of)
{
    haul_buffer_free(of->send);
    haul_buffer_free(of->receive);
    haul_comm_free(of->comm);
    haul_device_close(of->device);
}

static haul_call call_of(const setup *of, haul_call_kind kind, int count)
{
    const haul_call_side send = {
        .at = haul_in_buffer(of->send, 0), .count = count, .type = MPI_INT};
    haul_call call = {.kind = kind, .send = send, .receive = send, .op = MPI_SUM};
    call.receive.at = haul_in_buffer(of->receive, 0);
    return call;
}

/* The simulated host's seconds, in which messages take no time: copies alone count. */
static double seconds_of(haul_call_kind kind, uint64_t piece_bytes)
{
    const int all = BYTES / (int)sizeof(int);
    setup of = open_setup(piece_bytes, false);
    haul_error error;
    const haul_call call = call_of(&of, kind, kind == HAUL_CALL_ALLTOALL ? all / size : all);
    (void)haul_call_run(of.comm, &call, &error); /* makes the memory for staging */
    const int64_t since = haul_device_now(of.device);
    expect(!haul_call_run(of.comm, &call, &error), "a call in pieces", &error);
    const double seconds = (double)(haul_device_now(of.device) - since) * 1e-9;
    close_setup(&of);
    return seconds;
}

/* The same over processes that share no haul_comm: each has its own, of no other process. */
static double seconds_over_world(haul_call_kind kind, uint64_t piece_bytes)
{
    const int all = BYTES / (int)sizeof(int);
    setup of = open_setup(0, false);
    haul_comm *own = NULL;
    haul_error error;
    const haul_comm_options options = {.device = of.device};
    haul_pieces pieces = {.piece_bytes = piece_bytes};
    haul_call call = call_of(&of, kind, kind == HAUL_CALL_ALLTOALL ? all / size : all);
    call.over = MPI_COMM_WORLD;
    int64_t since = 0;
    expect(!haul_comm_new(MPI_COMM_SELF, &options, &own, &error), "an own haul_comm", &error);
    for (int i = 0; i < 2; i++) { /* the first makes the memory for staging */
        since = haul_device_now(of.device);
        expect(!haul_call_run_in_pieces(own, &call, &pieces, &error), "a call in pieces", &error);
        expect(pieces.gains == (piece_bytes <= BYTES / 2) && pieces.is_made == pieces.gains,
               "whether pieces gain", NULL);
        if (!pieces.is_made)
            expect(!haul_call_run(own, &call, &error), "a whole call", &error);
    }
    const double seconds = (double)(haul_device_now(of.device) - since) * 1e-9;
    haul_comm_free(own);
    close_setup(&of);
    return seconds;
}

/* In one piece the copies follow each other; in many they take about as long as those of one
 * direction. */
static void copies_overlap(haul_call_kind kind, double seconds(haul_call_kind, uint64_t))
{
    const double whole_s = seconds(kind, 4 * BYTES), pieces_s = seconds(kind, BYTES / 16);
    if (!rank)
        printf("in 1 piece %.0f us, in 16 %.0f us\n", whole_s * 1e6, pieces_s * 1e6);
    expect(pieces_s < 0.65 * whole_s, "copies do not overlap", NULL);
}

/* An int of every few, at distances that no copy knows. */
static MPI_Datatype scattered(MPI_Datatype of)
{
    static int places[ROWS];
    MPI_Datatype type;
    for (int i = 0, at = 0; i < ROWS; i++, at += 2 + i * i % 7)
        places[i] = at;
    MPI_Type_create_indexed_block(ROWS, 1, places, of, &type);
    MPI_Type_commit(&type);
    return type;
}

/* The simulated host's seconds for a call with ROWS rows for each process, or as many ints that lie
 * one behind the other. */
static double rows_seconds(bool is_scattered, bool is_started)
{
    setup of = open_setup(0, false);
    MPI_Datatype type = scattered(MPI_INT);
    haul_error error;
    haul_call call = call_of(&of, HAUL_CALL_ALLTOALL, is_scattered ? 1 : ROWS);
    if (is_scattered)
        call.send.type = call.receive.type = type;
    int64_t since = 0;
    for (int i = 0; i < 2; i++) { /* the first makes the memory for staging */
        haul_request *request = NULL;
        since = haul_device_now(of.device);
        if (is_started)
            expect(!haul_request_new(of.comm, &call, &request, &error) &&
                       !haul_request_start(request, &error) &&
                       !haul_request_finish(request, &error),
                   "a started call of rows", &error);
        else
            expect(!haul_call_run(of.comm, &call, &error), "a call of rows", &error);
        haul_request_free(request);
    }
    const double seconds = (double)(haul_device_now(of.device) - since) * 1e-9;
    MPI_Type_free(&type);
    close_setup(&of);
    return seconds;
}

/* Packing is a copy of the rows' table and a launch more for each direction; a copy for each row
 * takes hundreds of times as long. */
static void rows_are_packed(bool is_started)
{
    const double joined_s = rows_seconds(false, is_started);
    const double scattered_s = rows_seconds(true, is_started);
    if (!rank)
        printf("%d rows apart %.0f us, joined %.0f us\n", ROWS, scattered_s * 1e6, joined_s * 1e6);
    expect(scattered_s < 4 * joined_s, "rows are copied one by one", NULL);
}

static void move_bytes(const setup *of, haul_buffer *buffer, char *host, bool to_device)
{
    const haul_address device = haul_in_buffer(buffer, 0), here = haul_in_host(host);
    const haul_transfer transfer = {
        .to = to_device ? device : here, .from = to_device ? here : device, .size = {MOVED}};
    haul_stream *stream = NULL;
    haul_error error;
    expect(!haul_stream_new(of->device, &stream, &error) &&
               !haul_stream_copy(stream, &transfer, NULL, &error) &&
               !haul_stream_wait(stream, &error),
           "a copy", &error);
    haul_stream_free(stream);
}

/* Rows of items of one, four and eight bytes, as MPI moves those of the host, from `unit` bytes on.
 */
static void rows_are_right(MPI_Datatype item, uint64_t unit, bool is_started)
{
    static char sent[MOVED], received[MOVED], expected[MOVED];
    setup of = open_setup(3000, false);
    MPI_Datatype type = scattered(item);
    haul_request *request = NULL;
    haul_error error;
    haul_call call = call_of(&of, HAUL_CALL_ALLTOALL, 1);
    call.send.type = call.receive.type = type;
    call.send.at.offset = unit;
    call.receive.at.offset = 3 * unit;
    for (int i = 0; i < MOVED; i++) {
        sent[i] = (char)(i * 7 + i / 251 + rank);
        expected[i] = received[i] = (char)(i * 5);
    }
    move_bytes(&of, of.send, sent, true);
    move_bytes(&of, of.receive, received, true);
    MPI_Alltoall(sent + unit, 1, type, expected + 3 * unit, 1, type, MPI_COMM_WORLD);
    if (is_started)
        expect(!haul_request_new(of.comm, &call, &request, &error) &&
                   !haul_request_start(request, &error) && !haul_request_finish(request, &error),
               "a started call of rows", &error);
    else
        expect(!haul_call_run(of.comm, &call, &error), "a call of rows", &error);
    haul_request_free(request);
    move_bytes(&of, of.receive, received, false);
    expect(!memcmp(received, expected, MOVED), "rows differ", NULL);
    MPI_Type_free(&type);
    close_setup(&of);
}

static void error_ends_all(void)
{
    int counts[PROCESSES_MOST], places[PROCESSES_MOST];
    setup of = open_setup(0, false);
    haul_error error = {.status = HAUL_OK};
    for (int i = 0; i < size; i++) {
        counts[i] = 100;
        places[i] = i * 100;
    }
    places[0] = rank ? 0 : BYTES;
    haul_call call = call_of(&of, HAUL_CALL_ALLTOALL_V, 0);
    call.send.counts = call.receive.counts = counts;
    call.send.places = call.receive.places = places;
    for (int i = 0; i < 2; i++) {
        const haul_status status = haul_call_run(of.comm, &call, &error);
        expect(status == HAUL_STATUS_USAGE && strstr(error.text, "outside its buffer"),
               "a block outside its buffer", &error);
    }
    close_setup(&of);
}

/* Of a piece that MPI refuses on one process alone the others are not told, and wait for the next
 * ones. */
static void error_does_not_hang(void)
{
    enum { INTS = 1 << 16 };
    setup of = open_setup(0, false);
    haul_comm *own = NULL;
    haul_error error;
    MPI_Comm world;
    const haul_comm_options options = {.device = of.device};
    haul_pieces pieces = {.piece_bytes = 4096};
    haul_call call = call_of(&of, HAUL_CALL_BCAST, rank ? INTS - 1 : INTS);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    call.over = world;
    expect(!haul_comm_new(MPI_COMM_SELF, &options, &own, &error), "an own haul_comm", &error);
    for (int i = 0; i < 2; i++) {
        int class = MPI_SUCCESS;
        const haul_status status = haul_call_run_in_pieces(own, &call, &pieces, &error);
        expect(pieces.is_made, "an error before the pieces", NULL);
        MPI_Error_class(pieces.mpi_error, &class);
        expect((status == HAUL_OK) == (class == MPI_SUCCESS) &&
                   (rank && !i ? class == MPI_ERR_TRUNCATE : class == MPI_SUCCESS),
               "the error's class", &error);
        call.receive.count = INTS;
    }
    MPI_Comm_free(&world);
    haul_comm_free(own);
    close_setup(&of);
}

/* Local errors, told before a process waits for another. */
static void wrong_calls(void)
{
    const int sizes[] = {8, 8}, blocks[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    const int processes[] = {2, 1};
    MPI_Datatype type;
    setup of = open_setup(0, false);
    haul_error error = {.status = HAUL_OK};
    haul_request *request = NULL;
    haul_call call = call_of(&of, HAUL_CALL_ALLTOALL_W, 1);
    expect(haul_request_new(of.comm, &call, &request, &error) == HAUL_STATUS_USAGE &&
               strstr(error.text, "without counts"),
           "a call without counts", &error);
    MPI_Type_create_darray(2, 0, 2, sizes, blocks, arguments, processes, MPI_ORDER_C, MPI_INT,
                           &type);
    MPI_Type_commit(&type);
    call = call_of(&of, HAUL_CALL_ALLGATHER, 1);
    call.send.type = type;
    expect(haul_request_new(of.comm, &call, &request, &error) == HAUL_STATUS_ABSENT,
           "a distributed array", &error);
    MPI_Type_free(&type);
    call = call_of(&of, HAUL_CALL_ALLGATHER, -1);
    expect(haul_request_new(of.comm, &call, &request, &error) == HAUL_STATUS_USAGE,
           "a negative count", &error);
    call = call_of(&of, HAUL_CALL_ALLREDUCE, 10);
    expect(!haul_request_new(of.comm, &call, &request, &error), "a request", &error);
    expect(haul_request_finish(request, &error) == HAUL_STATUS_USAGE, "finished before it started",
           &error);
    expect(!haul_request_start(request, &error), "a start", &error);
    expect(haul_request_start(request, &error) == HAUL_STATUS_USAGE, "started twice", &error);
    haul_request_free(request); /* waits */
    const void *from;
    void *to;
    expect(!haul_request_new(of.comm, &call, &request, &error) &&
               !haul_request_copy_down(request, &from, &to, &error) &&
               !MPI_Allreduce(from, to, 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD) &&
               !haul_request_copy_up(request, &error),
           "a call of the program's own", &error);
    haul_request_free(request);
    close_setup(&of);
}

int main(int argc, char **argv)
{
    unsigned long all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    copies_overlap(HAUL_CALL_ALLTOALL, seconds_of);
    copies_overlap(HAUL_CALL_ALLREDUCE, seconds_of);
    copies_overlap(HAUL_CALL_ALLTOALL, seconds_over_world);
    copies_overlap(HAUL_CALL_ALLREDUCE, seconds_over_world);
    error_does_not_hang();
    for (int is_started = 0; is_started < 2; is_started++) {
        rows_are_packed(is_started);
        rows_are_right(MPI_CHAR, 1, is_started);
        rows_are_right(MPI_INT, 4, is_started);
        rows_are_right(MPI_DOUBLE, 8, is_started);
        rows_are_right(MPI_DOUBLE, 3, is_started);
    }
    error_ends_all();
    wrong_calls();
    MPI_Allreduce(&failures, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%d processes: %lu failures\n", size, all);
    MPI_Finalize();
    return all > 0;
}
