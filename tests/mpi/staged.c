/* Calls of device memory in pieces: copies up and down overlap, and an error on one process ends
 * the call on all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/mpi.h"

enum { BYTES = 1 << 24, PROCESSES_MOST = 8 };

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

/* In one piece the copies follow each other; in many they take about as long as those of one
 * direction. */
static void copies_overlap(haul_call_kind kind)
{
    const double whole_s = seconds_of(kind, 4 * BYTES), pieces_s = seconds_of(kind, BYTES / 16);
    if (!rank)
        printf("in 1 piece %.0f us, in 16 %.0f us\n", whole_s * 1e6, pieces_s * 1e6);
    expect(pieces_s < 0.65 * whole_s, "copies do not overlap", NULL);
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
    copies_overlap(HAUL_CALL_ALLTOALL);
    copies_overlap(HAUL_CALL_ALLREDUCE);
    error_ends_all();
    wrong_calls();
    MPI_Allreduce(&failures, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%d processes: %lu failures\n", size, all);
    MPI_Finalize();
    return all > 0;
}
