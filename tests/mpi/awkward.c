/* Calls that MPI allows and few programs make: with the preloaded library they do the same.
 * usage: awkward [large] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "all_failures.h"

enum { BLOCK = 50, COMMS = 150 };

static int rank, size, failures;

static void expect(int is_right, const char *what)
{
    if (is_right)
        return;
    failures++;
    fprintf(stderr, "rank %d: %s\n", rank, what);
}

/* Blocks in reverse from the end of the array on: every displacement is negative. */
static void negative_displacements(int is_derived)
{
    const int items = size * BLOCK;
    int *send = malloc((size_t)items * sizeof *send), *got = malloc((size_t)items * sizeof *got);
    int counts[64], places[64];
    MPI_Datatype type = MPI_INT;
    if (is_derived) {
        MPI_Type_vector(1, 1, 1, MPI_INT, &type);
        MPI_Type_commit(&type);
    }
    for (int i = 0; i < items; i++) {
        send[i] = rank * 100000 + i;
        got[i] = -1;
    }
    for (int i = 0; i < size; i++) {
        counts[i] = BLOCK;
        places[i] = -(i + 1) * BLOCK;
    }
    MPI_Alltoallv(send + items, counts, places, type, got + items, counts, places, type,
                  MPI_COMM_WORLD);
    for (int from = 0; from < size; from++)
        for (int i = 0; i < BLOCK; i++)
            expect(got[items - (from + 1) * BLOCK + i] ==
                       from * 100000 + items - (rank + 1) * BLOCK + i,
                   "negative displacements");
    if (is_derived)
        MPI_Type_free(&type);
    free(send);
    free(got);
}

/* One process expects less than is sent to it: it is told so by MPI's class of error, and the next
 * calls are made as if nothing had been. MPI promises nothing after an error, and Open MPI's own
 * calls of more than two processes hang then. */
static void returned_errors(void)
{
    int send[64 * 4], got[64 * 4], counts[64], receives[64], places[64];
    int class = MPI_SUCCESS;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < size; i++) {
        counts[i] = receives[i] = 4;
        places[i] = i * 4;
        for (int k = 0; k < 4; k++)
            send[i * 4 + k] = rank * 1000 + i * 10 + k;
    }
    if (rank == 1)
        receives[0] = 1;
    const int code =
        MPI_Alltoallv(send, counts, places, MPI_INT, got, receives, places, MPI_INT, comm);
    MPI_Error_class(code, &class);
    if (rank == 1)
        expect(class == MPI_ERR_TRUNCATE, "the class of an error");
    for (int round = 0; round < 20; round++) {
        memset(got, 0, sizeof got);
        expect(!MPI_Alltoallv(send, counts, places, MPI_INT, got, counts, places, MPI_INT, comm),
               "a call after an error");
        for (int from = 0; from < size; from++)
            for (int k = 0; k < 4; k++)
                expect(got[from * 4 + k] == from * 1000 + rank * 10 + k, "data after an error");
    }
    expect(MPI_Alltoall(send, -1, MPI_INT, got, -1, MPI_INT, comm) != MPI_SUCCESS,
           "a negative count");
    MPI_Comm_free(&comm);
}

static void many_communicators(void)
{
    MPI_Comm comms[COMMS];
    int send[64], got[64];
    for (int i = 0; i < size; i++)
        send[i] = rank * 64 + i;
    for (int c = 0; c < COMMS; c++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
        MPI_Alltoall(send, 1, MPI_INT, got, 1, MPI_INT, comms[c]);
        for (int from = 0; from < size; from++)
            expect(got[from] == from * 64 + rank, "one of many communicators");
    }
    for (int c = 0; c < COMMS; c++)
        MPI_Comm_free(&comms[c]);
}

/* A block of a derived type beyond 2 GiB, from the first process to the second. */
static void large_block(void)
{
    enum { ITEM = 4096 };
    const int items = (int)(((1LL << 31) + (1 << 20)) / ITEM);
    MPI_Datatype type;
    MPI_Type_vector(ITEM / 8, 8, 8, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    char *at = rank < 2 ? calloc((size_t)items, ITEM) : NULL;
    int sends[64] = {0}, receives[64] = {0}, places[64] = {0};
    if (rank == 0) {
        sends[1] = items;
        for (size_t i = 0; i < (size_t)items; i++)
            at[i * ITEM + i % ITEM] = (char)(i % 100 + 1);
    }
    if (rank == 1)
        receives[0] = items;
    MPI_Alltoallv(rank == 0 ? at : NULL, sends, places, type, rank == 1 ? at : NULL, receives,
                  places, type, MPI_COMM_WORLD);
    for (size_t i = 0; rank == 1 && i < (size_t)items; i++)
        if (at[i * ITEM + i % ITEM] != (char)(i % 100 + 1)) {
            expect(0, "a block beyond 2 GiB");
            break;
        }
    free(at);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        large_block();
    } else {
        negative_displacements(0);
        negative_displacements(1);
        many_communicators();
        if (size == 2)
            returned_errors();
    }
    return all_failures(failures);
}
