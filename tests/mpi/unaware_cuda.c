/* A program that knows nothing of haul and hands a GPU's memory to MPI, which need not take it:
 * with the preloaded library each call gives what it gives on the host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "all_failures.h"
#include "cuda_memory.h"

enum { BLOCK = 40, MOST = 8, INTS = 4 * MOST * BLOCK };

static int rank, size, failures;
static int *host[2], *device[2]; /* to send, to receive */
static int expected[INTS];
static MPI_Comm ring;
static MPI_Datatype column; /* every other int of BLOCK */

typedef void a_call(const void *send, void *receive);

static void alltoall(const void *send, void *receive)
{
    MPI_Alltoall(send, BLOCK, MPI_INT, receive, BLOCK, MPI_INT, MPI_COMM_WORLD);
}

static void alltoall_columns(const void *send, void *receive)
{
    MPI_Alltoall(send, BLOCK, MPI_INT, receive, 1, column, MPI_COMM_WORLD);
}

static void alltoall_v(const void *send, void *receive)
{
    int counts[MOST], places[MOST];
    for (int i = 0; i < size; i++) {
        counts[i] = (i + rank) % 3 * 10;
        places[i] = i * BLOCK;
    }
    MPI_Alltoallv(send, counts, places, MPI_INT, receive, counts, places, MPI_INT, MPI_COMM_WORLD);
}

static void alltoall_w(const void *send, void *receive)
{
    int counts[MOST], places[MOST], columns[MOST];
    MPI_Datatype ints[MOST], types[MOST];
    for (int i = 0; i < size; i++) {
        counts[i] = BLOCK;
        columns[i] = 1;
        places[i] = 0;
        if (size > 1)
            places[i] = i * 2 * BLOCK * (int)sizeof(int);
        ints[i] = MPI_INT;
        types[i] = column;
    }
    MPI_Alltoallw(send, counts, places, ints, receive, columns, places, types, MPI_COMM_WORLD);
}

static void allgather(const void *send, void *receive)
{
    MPI_Allgather(send, BLOCK, MPI_INT, receive, 1, column, MPI_COMM_WORLD);
}

static void allgather_v(const void *send, void *receive)
{
    int counts[MOST], places[MOST];
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        places[i] = 3 * i * BLOCK;
    }
    MPI_Allgatherv(send, rank + 1, MPI_INT, receive, counts, places, MPI_INT, MPI_COMM_WORLD);
}

static void allreduce(const void *send, void *receive)
{
    MPI_Allreduce(send, receive, BLOCK, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void allreduce_in_place(const void *send, void *receive)
{
    (void)send;
    MPI_Allreduce(MPI_IN_PLACE, receive, BLOCK, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
}

static void bcast(const void *send, void *receive)
{
    (void)send;
    MPI_Bcast(receive, 1, column, size - 1, MPI_COMM_WORLD);
}

static void neighbours(const void *send, void *receive)
{
    MPI_Neighbor_alltoall(send, BLOCK, MPI_INT, receive, 1, column, ring);
}

static void neighbours_v(const void *send, void *receive)
{
    int counts[] = {7, 7}, places[] = {0, BLOCK};
    MPI_Neighbor_alltoallv(send, counts, places, MPI_INT, receive, counts, places, MPI_INT, ring);
}

static void neighbours_w(const void *send, void *receive)
{
    int counts[] = {7, 7};
    MPI_Aint places[] = {4, BLOCK * (MPI_Aint)sizeof(int)};
    MPI_Datatype types[] = {MPI_INT, MPI_INT};
    MPI_Neighbor_alltoallw(send, counts, places, types, receive, counts, places, types, ring);
}

/* Once from and to the host's memory, once the GPU's; on every other process, of `mixed` calls, the
 * host's again. */
static void try_call(const char *name, a_call *call, int mixed)
{
    const size_t bytes = INTS * sizeof(int);
    const int on_host = mixed && rank % 2;
    for (int i = 0; i < INTS; i++) {
        host[0][i] = rank * 10000 + i;
        host[1][i] = -i;
    }
    memcpy(expected, host[1], bytes);
    call(host[0], expected);
    if (on_host) {
        call(host[0], host[1]);
    } else {
        cuda_memory_write(device[0], host[0], bytes);
        cuda_memory_write(device[1], host[1], bytes);
        call(device[0], device[1]);
        cuda_memory_read(host[1], device[1], bytes);
    }
    if (!memcmp(host[1], expected, bytes))
        return;
    failures++;
    fprintf(stderr, "rank %d: %s%s differs\n", rank, name, mixed ? ", mixed" : "");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        a_call *call;
    } calls[] = {{"alltoall", alltoall},
                 {"alltoall of columns", alltoall_columns},
                 {"alltoallv", alltoall_v},
                 {"alltoallw", alltoall_w},
                 {"allgather", allgather},
                 {"allgatherv", allgather_v},
                 {"allreduce", allreduce},
                 {"allreduce in place", allreduce_in_place},
                 {"bcast", bcast},
                 {"neighbor_alltoall", neighbours},
                 {"neighbor_alltoallv", neighbours_v},
                 {"neighbor_alltoallw", neighbours_w}};
    int is_ring = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!cuda_memory_open())
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Type_vector(BLOCK, 1, 2, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, 2 * BLOCK * (MPI_Aint)sizeof(int), &column);
    MPI_Type_commit(&column);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_ring, 0, &ring);
    for (int i = 0; i < 2; i++) {
        host[i] = malloc(INTS * sizeof(int));
        device[i] = cuda_memory_new(INTS * sizeof(int));
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int mixed = 0; mixed < 2; mixed++)
            try_call(calls[i].name, calls[i].call, mixed);
    for (int i = 0; i < 2; i++) {
        cuda_memory_free(device[i]);
        free(host[i]);
    }
    MPI_Comm_free(&ring);
    MPI_Type_free(&column);
    return all_failures(failures);
}
