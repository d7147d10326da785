/* A program of two threads, each with a communicator of its own, that hands MPI large pieces of a
 * GPU's memory: the preloaded library holds neither up while the other waits. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mpi.h>

#include "all_failures.h"
#include "cuda_memory.h"

enum { THREADS = 2, INTS = 30000, CALLS = 12 };
static const size_t bytes = INTS * sizeof(int);

typedef struct worker {
    MPI_Comm comm;
    pthread_t thread;
    int *device[2], *host, number;
} worker;

static int rank, size;

/* A thread of the first process comes late to its calls, the other one's of the last process to
 * its: a lock that was held while MPI runs would let each wait for the other. */
static void *run(void *of)
{
    worker *self = of;
    const int is_late = self->number ? rank == size - 1 : !rank;
    for (int i = 0; i < CALLS; i++) {
        if (is_late)
            nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
        MPI_Allreduce(self->device[0], self->device[1], INTS, MPI_INT, MPI_SUM, self->comm);
        MPI_Bcast(self->device[0], INTS, MPI_INT, 0, self->comm);
    }
    return NULL;
}

/* After the first calls all processes have the first one's numbers. */
static int count_wrong(const worker *self)
{
    int wrong = 0;
    cuda_memory_read(self->host, self->device[1], bytes);
    for (int i = 0; i < INTS; i++)
        wrong += self->host[i] != size * (i * (self->number + 1));
    return wrong > 0;
}

int main(int argc, char **argv)
{
    static worker workers[THREADS];
    int level, failures = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (level < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 77;
    }
    if (!cuda_memory_open())
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int t = 0; t < THREADS; t++) {
        worker *of = &workers[t];
        of->number = t;
        of->host = malloc(bytes);
        for (int i = 0; i < INTS; i++)
            of->host[i] = i * (t + 1) + rank;
        for (int k = 0; k < 2; k++)
            of->device[k] = cuda_memory_new(bytes);
        cuda_memory_write(of->device[0], of->host, bytes);
        MPI_Comm_dup(MPI_COMM_WORLD, &of->comm);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_create(&workers[t].thread, NULL, run, &workers[t]);
    for (int t = 0; t < THREADS; t++) {
        worker *of = &workers[t];
        pthread_join(of->thread, NULL);
        failures += count_wrong(of);
        MPI_Comm_free(&of->comm);
        for (int k = 0; k < 2; k++)
            cuda_memory_free(of->device[k]);
        free(of->host);
    }
    return all_failures(failures);
}
