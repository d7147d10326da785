/* The end of a test program of several processes. */
#ifndef ALL_FAILURES_H
#define ALL_FAILURES_H

#include <mpi.h>
#include <stdio.h>

/* Prints the failures of all processes and ends MPI; returns the exit code. */
static inline int all_failures(int failures)
{
    int all = 0, rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%d failures\n", all);
    MPI_Finalize();
    return all > 0;
}

#endif
