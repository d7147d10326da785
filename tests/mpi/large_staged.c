/* A broadcast of more than 2^31 bytes of device memory, whose pieces MPI can count. */
#include <stdio.h>

#include "haul/mpi.h"

enum { COUNT = 600000000, PLACES = 5 };

/* Four bytes at `offset` of the buffer, to it or from it. */
static haul_status move_int(haul_stream *stream, haul_buffer *buffer, uint64_t offset, int *value,
                            bool to_device, haul_error *error)
{
    const haul_address device = haul_in_buffer(buffer, offset), host = haul_in_host(value);
    const haul_transfer transfer = {.to = to_device ? device : host,
                                    .from = to_device ? host : device,
                                    .size = {sizeof *value}};
    const haul_status status = haul_stream_copy(stream, &transfer, NULL, error);
    return status ? status : haul_stream_wait(stream, error);
}

int main(int argc, char **argv)
{
    const uint64_t bytes = (uint64_t)COUNT * sizeof(int);
    /* the ends, of a piece too, and about 2^31 */
    const uint64_t places[PLACES] = {0, 1048572, 2147483640, 2147483652, bytes - sizeof(int)};
    haul_device *device = NULL;
    haul_comm *comm = NULL;
    haul_buffer *buffer = NULL;
    haul_stream *stream = NULL;
    haul_error error = {.status = HAUL_OK};
    int rank, wrong = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    haul_status status = haul_device_open("sim:lassen", NULL, &device, &error);
    const haul_comm_options options = {.device = device};
    if (!status)
        status = haul_comm_new(MPI_COMM_WORLD, &options, &comm, &error);
    if (!status)
        status = haul_buffer_new(device, HAUL_BUFFER_DEVICE, bytes, &buffer, &error);
    if (!status)
        status = haul_stream_new(device, &stream, &error);
    for (int i = 0; i < PLACES && !status; i++) {
        int value = rank ? 0 : i + 7;
        status = move_int(stream, buffer, places[i], &value, true, &error);
    }
    const haul_call call = {
        .kind = HAUL_CALL_BCAST,
        .receive = {.at = haul_in_buffer(buffer, 0), .count = COUNT, .type = MPI_INT}};
    if (!status)
        status = haul_call_run(comm, &call, &error);
    for (int i = 0; i < PLACES && !status; i++) {
        int value = 0;
        status = move_int(stream, buffer, places[i], &value, false, &error);
        wrong += value != i + 7;
    }
    if (status) {
        fprintf(stderr, "rank %d: %s\n", rank, error.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    haul_stream_free(stream);
    haul_buffer_free(buffer);
    haul_comm_free(comm);
    haul_device_close(device);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%llu bytes: %d of %d places wrong\n", (unsigned long long)bytes, all, 2 * PLACES);
    MPI_Finalize();
    return all > 0;
}
