/* All-to-alls between the memories of simulated GPUs, in every way, beside MPI's own of the host.
 * An MPI that does not know the device faults when it is handed its memory. usage: devices
 * [trapped] */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "haul/mpi.h"
#include "moved.h"

enum { BYTES = 5000 };

static int rank, size;
static unsigned long failures;

typedef struct setup {
    haul_way way;
    bool is_aware, with_helpers;
} setup;

static void fail(const setup *of, const char *what, const haul_error *error)
{
    failures++;
    fprintf(stderr, "rank %d, way %s: %s: %s\n", rank, haul_way_text(of->way, HAUL_MEMORY_DEVICE),
            what, error ? error->text : "differs");
}

/* `bytes` bytes between a buffer of the device and the host. */

static void exchange(const setup *of, haul_comm *comm, haul_device *device, MPI_Comm owners,
                     bool in_place)
{
    const size_t count = (size_t)haul_comm_size(comm), bytes = count * BYTES;
    unsigned char *send = malloc(bytes), *got = malloc(bytes), *expected = malloc(bytes);
    haul_buffer *from = NULL, *to = NULL;
    haul_error error;
    for (size_t i = 0; i < bytes; i++)
        send[i] = (unsigned char)(i * 7 + (size_t)rank * 31 + (i >> 8));
    MPI_Alltoall(send, BYTES, MPI_BYTE, expected, BYTES, MPI_BYTE, owners);
    haul_status status = haul_buffer_new(device, HAUL_BUFFER_DEVICE, bytes, &from, &error);
    if (!status)
        status = haul_buffer_new(device, HAUL_BUFFER_DEVICE, bytes, &to, &error);
    if (!status)
        status = move(device, in_place ? to : from, send, bytes, true, &error);
    if (!status)
        status = haul_comm_alltoall(comm, in_place ? haul_in_place() : haul_in_buffer(from, 0),
                                    haul_in_buffer(to, 0), BYTES, &error);
    if (!status)
        status = move(device, to, got, bytes, false, &error);
    if (status)
        fail(of, in_place ? "in place" : "all-to-all", &error);
    else if (memcmp(got, expected, bytes) != 0)
        fail(of, in_place ? "in place" : "all-to-all", NULL);
    haul_buffer_free(from);
    haul_buffer_free(to);
    free(send);
    free(got);
    free(expected);
}

static void try_way(const setup *of)
{
    const bool is_helper = of->with_helpers && rank % 2;
    const haul_device_options how = {.is_shareable = true, .is_host_visible = of->is_aware};
    haul_device *device = NULL;
    haul_comm *comm = NULL;
    haul_machine *machine = NULL;
    MPI_Comm owners;
    haul_error error;
    const haul_address none = {NULL, 0, NULL};
    MPI_Comm_split(MPI_COMM_WORLD, is_helper ? MPI_UNDEFINED : 0, rank, &owners);
    if (haul_device_open("sim:lassen", &how, &device, &error) ||
        haul_machine_load("lassen", &machine, &error)) {
        fail(of, "opening", &error);
        return;
    }
    const haul_comm_options options = {.machine = machine,
                                       .way = of->way,
                                       .ranks_per_node = 2,
                                       .is_helper = is_helper,
                                       .device = device,
                                       .piece_bytes = 3000,
                                       .is_device_aware = of->is_aware};
    if (haul_comm_new(MPI_COMM_WORLD, &options, &comm, &error)) {
        fail(of, "haul_comm_new", &error);
    } else if (is_helper) {
        if (haul_comm_alltoall(comm, none, none, 0, &error))
            fail(of, "helping", &error);
    } else {
        const bool can_in_place =
            of->way != HAUL_WAY_PLAIN && of->way != HAUL_WAY_DUPLICATE_POINTER;
        exchange(of, comm, device, owners, false);
        if (can_in_place && !of->with_helpers)
            exchange(of, comm, device, owners, true);
    }
    haul_comm_free(comm);
    haul_machine_free(machine);
    haul_device_close(device);
    if (owners != MPI_COMM_NULL)
        MPI_Comm_free(&owners);
}

static void on_fault(int signal)
{
    static const char text[] = "the device's memory faulted\n";
    (void)signal;
    (void)!write(STDOUT_FILENO, text, sizeof text - 1);
    _exit(9);
}

/* As a program does that hands device memory to an MPI which does not know it. */
static void hand_over_unaware(void)
{
    haul_device *device = NULL;
    haul_buffer *buffer = NULL;
    haul_error error;
    if (haul_device_open("sim:lassen", NULL, &device, &error) ||
        haul_buffer_new(device, HAUL_BUFFER_DEVICE, BYTES, &buffer, &error))
        MPI_Abort(MPI_COMM_WORLD, 1);
    signal(SIGSEGV, on_fault);
    MPI_Sendrecv(haul_buffer_pointer(buffer), 64, MPI_BYTE, (rank + 1) % size, 0,
                 (char *)haul_buffer_pointer(buffer) + 100, 64, MPI_BYTE, (rank + size - 1) % size,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    static const setup setups[] = {
        {HAUL_WAY_DIRECT, true, false},        {HAUL_WAY_PLAIN, true, false},
        {HAUL_WAY_THREE_STEP, false, false},   {HAUL_WAY_CHUNKED, false, false},
        {HAUL_WAY_BRUCK, false, false},        {HAUL_WAY_AGGREGATED, false, false},
        {HAUL_WAY_CHOSEN, false, false},       {HAUL_WAY_CHOSEN, true, false},
        {HAUL_WAY_EXTRA_MESSAGE, false, true}, {HAUL_WAY_DUPLICATE_POINTER, false, true},
    };
    unsigned long all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && !strcmp(argv[1], "trapped"))
        hand_over_unaware();
    for (size_t i = 0; i < sizeof setups / sizeof *setups; i++)
        try_way(&setups[i]);
    MPI_Allreduce(&failures, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%d processes: %lu failures\n", size, all);
    MPI_Finalize();
    return all > 0;
}
