/* haul-mpi analyze: the profiles of a job's ranks, read by the processes of an MPI program. */
#ifndef HAUL_MPI_ANALYZE_RANKS_H
#define HAUL_MPI_ANALYZE_RANKS_H

#include <mpi.h>

#include "haul/document.h"

typedef struct hl_mpi_analyze_request {
    const char *const *paths; /* files, and folders of them */
    size_t count;
    haul_format format;
    const char *output; /* NULL: standard output */
    bool verbose;
} hl_mpi_analyze_request;

/* Collective. Each process reads its share of the files, one after the other, by their sizes, and
 * keeps a row of each; the first one writes one report of all. Returns BAD_INPUT in all processes
 * where a file could not be read, after the report of the others; `error` names the first. */
haul_status hl_mpi_analyze_ranks(MPI_Comm of, const hl_mpi_analyze_request *given,
                                 haul_error *error);

#endif
