/* The parts of the library that stands before the MPI. */
#ifndef HAUL_MPI_PRELOAD_PARTS_H
#define HAUL_MPI_PRELOAD_PARTS_H

#include "haul/mpi.h"

/* One side of the program's call; `counts` NULL: `count` for each. */
typedef struct hl_mpi_given {
    void *at;
    const int *counts, *displacements;
    int count;
    MPI_Datatype type;
} hl_mpi_given;

/* One side of a call as bytes. */
typedef struct hl_mpi_side {
    void *at;     /* packed here, or where the program has it */
    char *packed; /* NULL: the program's memory is as MPI would send it */
    size_t *counts, *displacements;
    size_t bytes; /* in all */
} hl_mpi_side;

/* Whether haul can tell what the side is; else the MPI is to say what is wrong with it. */
bool hl_mpi_side_check(const hl_mpi_given *given, int peers);

/* False without memory. */
bool hl_mpi_side_make(hl_mpi_side *self, const hl_mpi_given *given, int peers);
void hl_mpi_side_free(hl_mpi_side *self);

/* Packs what is sent, or unpacks what has come, where the side is packed. Returns MPI's code. */
int hl_mpi_side_pack(const hl_mpi_side *self, const hl_mpi_given *given, int peers, MPI_Comm comm);
int hl_mpi_side_unpack(const hl_mpi_side *self, const hl_mpi_given *given, int peers,
                       MPI_Comm comm);

#endif
