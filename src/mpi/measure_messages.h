/* Messages measured between the processes of an MPI program. */
#ifndef HAUL_MPI_MEASURE_MESSAGES_H
#define HAUL_MPI_MEASURE_MESSAGES_H

#include <stdio.h>

#include "haul/device.h"
#include "haul/message.h"
#include "mpi/mpi_parts.h"

/* Times of one row, in seconds, of the slowest process of each repetition. */
typedef struct hl_mpi_row {
    size_t count;
    double min_s, median_s, p90_s;
} hl_mpi_row;

/* Pairs of processes: sender i to `each` receivers of `receivers`. */
typedef struct hl_mpi_pattern {
    const int *senders; /* ranks; the first is rank 0 */
    int sender_count;
    const int *receivers; /* sender_count * each ranks */
    int each;
    uint64_t bytes;
    bool is_one_way;    /* many messages and one answer; else a message each way, halved */
    haul_memory memory; /* HAUL_MEMORY_DEVICE: of `device`, which the MPI knows */
    double seconds;     /* to spend, about */
} hl_mpi_pattern;

/* Collective over `world`; the row is of rank 0. Processes that take no part sleep. */
haul_status hl_mpi_measure(MPI_Comm world, haul_device *device, const hl_mpi_pattern *pattern,
                           hl_mpi_row *row, haul_error *error);

/* Copies of `bytes` by each of the first `processes` processes, at once. */
typedef struct hl_mpi_copies {
    haul_direction direction;
    int processes;
    uint64_t bytes;
    double seconds; /* to spend, about */
} hl_mpi_copies;

haul_status hl_mpi_measure_copies(MPI_Comm world, haul_device *device, const hl_mpi_copies *copies,
                                  hl_mpi_row *row, haul_error *error);

#endif
