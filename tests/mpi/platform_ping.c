/* A ping-pong on a platform that `haul comm platform` wrote: SimGrid reads the file, and a message
 * between two nodes takes what the machine's messages say, within 10 %.
 * usage: platform_ping MACHINE BYTES... */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "comm/message_cost.h"

/* Many: the processes leave the barrier apart. */
enum { ROUNDS = 100 };

int main(int argc, char **argv)
{
    int rank, is_wrong = 0;
    double measured;
    haul_machine *machine = NULL;
    haul_error error;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3 || haul_machine_load(argv[1], &machine, &error))
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int a = 2; a < argc; a++) {
        const int bytes = atoi(argv[a]);
        char *message = calloc((size_t)bytes, 1);
        const haul_message_protocol *of = hl_comm_message_protocol_of(
            machine, HAUL_MEMORY_HOST, HAUL_REACH_BETWEEN_NODES, bytes, &measured);
        const double expected =
            of->latency_s.value + (of->rate_Bps.value > 0 ? bytes / of->rate_Bps.value : 0);
        MPI_Barrier(MPI_COMM_WORLD);
        const double since = MPI_Wtime();
        for (int round = 0; round < ROUNDS; round++) {
            if (!rank)
                MPI_Send(message, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(message, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank)
                MPI_Send(message, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        const double took = (MPI_Wtime() - since) / (2 * ROUNDS);
        if (!rank)
            printf("%8d B: simulated %.3f us, by the machine %.3f us\n", bytes, took * 1e6,
                   expected * 1e6);
        is_wrong |= !rank && fabs(took / expected - 1) > 0.1;
        free(message);
    }
    haul_machine_free(machine);
    MPI_Finalize();
    return is_wrong;
}
