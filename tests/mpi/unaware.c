/* A program that knows nothing of haul: sums of what its all-to-alls give, the same with and
 * without the preloaded library. */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

enum { ROUNDS = 3, BLOCK = 100 };

static unsigned long sum(const int *values, int count)
{
    unsigned long all = 0;
    for (int i = 0; i < count; i++)
        all = all * 31 + (unsigned long)values[i];
    return all;
}

int main(int argc, char **argv)
{
    int rank, size;
    unsigned long all = 0, worlds = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int count = size * BLOCK * 2;
    int *send = malloc((size_t)count * sizeof *send),
        *receive = calloc((size_t)count, sizeof *send);
    int *counts = malloc(2 * (size_t)size * sizeof *counts), *places = counts + size;
    MPI_Datatype every_other;
    MPI_Comm half;
    MPI_Type_vector(BLOCK, 1, 2, MPI_INT, &every_other);
    MPI_Type_create_resized(every_other, 0, 2 * BLOCK * (MPI_Aint)sizeof(int), &every_other);
    MPI_Type_commit(&every_other);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < count; i++)
            send[i] = i * 7 + rank * 1001 + round;
        MPI_Alltoall(send, BLOCK, MPI_INT, receive, BLOCK, MPI_INT, MPI_COMM_WORLD);
        all += sum(receive, count);
        MPI_Alltoall(send, BLOCK, MPI_INT, receive, 1, every_other, MPI_COMM_WORLD);
        all += sum(receive, count);
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, receive, 1, every_other, half);
        all += sum(receive, count);
        for (int i = 0; i < size; i++) {
            counts[i] = (i + rank) % 3 * 10; /* symmetric: what is sent is received */
            places[i] = i * BLOCK;
        }
        MPI_Alltoallv(send, counts, places, MPI_INT, receive, counts, places, MPI_INT,
                      MPI_COMM_WORLD);
        all += sum(receive, count);
    }
    MPI_Reduce(&all, &worlds, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("%lu\n", worlds);
    MPI_Type_free(&every_other);
    MPI_Comm_free(&half);
    MPI_Finalize();
    free(send);
    free(receive);
    free(counts);
    return 0;
}
