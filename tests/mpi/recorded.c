/* A program that knows nothing of haul and whose messages are known: which calls, how many bytes,
 * who is late. It checks what it gets, for a recorder must not change that. Ranks 0 and 1 matter
 * most, any number may run. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LARGE = 1 << 20, SMALL = 1000, STEPS = 5, LATE_MS = 30 };

static int rank, size, wrong;
static char from[LARGE], to[LARGE];

static void be_late(void)
{
    const struct timespec span = {.tv_nsec = LATE_MS * 1000000L};
    (void)nanosleep(&span, NULL);
}

static void expect(int is_right, const char *what)
{
    if (!is_right)
        (void)fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
    wrong += !is_right;
}

/* The sender is late; the receiver does not say from whom. */
static void send_late(void)
{
    MPI_Status status;
    if (!rank) {
        be_late();
        memset(from, 42, LARGE);
        MPI_Send(from, LARGE, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(to, LARGE, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        expect(status.MPI_SOURCE == 0 && status.MPI_TAG == 7 && to[LARGE - 1] == 42,
               "late message");
    }
}

/* The receiver is late, and the message too large to be sent before it asks. */
static void receive_late(void)
{
    if (!rank) {
        MPI_Ssend(from, LARGE, MPI_CHAR, 1, 8, MPI_COMM_WORLD);
    } else if (rank == 1) {
        be_late();
        MPI_Recv(to, LARGE, MPI_CHAR, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Around the ring without waiting, by a communicator of its own, whose ranks run the other way. */
static void go_around(MPI_Comm ring)
{
    int me;
    MPI_Request requests[2];
    MPI_Comm_rank(ring, &me);
    memset(from, me, SMALL);
    MPI_Irecv(to, SMALL, MPI_CHAR, (me + size - 1) % size, 1, ring, &requests[0]);
    MPI_Isend(from, SMALL, MPI_CHAR, (me + 1) % size, 1, ring, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(to[0] == (char)((me + size - 1) % size), "ring");
}

/* Requests that are started again and again. */
static void start_again(void)
{
    MPI_Request requests[2];
    // NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): it knows neither MPI_Startall nor
    // MPI_Ibarrier
    MPI_Recv_init(to, SMALL, MPI_CHAR, (rank + 1) % size, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(from, SMALL, MPI_CHAR, (rank + size - 1) % size, 2, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < STEPS; i++) {
        int done = 0;
        memset(from, rank + i, SMALL);
        MPI_Startall(2, requests);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        while (!done)
            MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
        expect(to[SMALL - 1] == (char)((rank + 1) % size + i), "started message");
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void meet(void)
{
    double one = 1, sum = 0;
    MPI_Request request;
    if (rank == size - 1)
        be_late();
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == size, "sum");
    MPI_Alltoall(from, SMALL, MPI_CHAR, to, SMALL, MPI_CHAR, MPI_COMM_WORLD);
    if (!rank)
        be_late();
    MPI_Bcast(from, SMALL, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    // NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)
    MPI_Sendrecv(from, 100, MPI_CHAR, (rank + 1) % size, 3, to, 100, MPI_CHAR,
                 (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Comm ring;
    int all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &ring);
    for (int i = 0; i < STEPS; i++) {
        send_late();
        receive_late();
        go_around(ring);
        meet();
    }
    start_again();
    MPI_Comm_free(&ring);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        (void)printf("%d wrong\n", all);
    MPI_Finalize();
    return wrong != 0;
}
