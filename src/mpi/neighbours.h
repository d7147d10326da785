/* Neighbours by a communicator's topology, for the library and for the one before the MPI, which
 * shares no functions with it. */
#ifndef HAUL_MPI_NEIGHBOURS_H
#define HAUL_MPI_NEIGHBOURS_H

#include <mpi.h>
#include <stdbool.h>

/* Processes that this one receives from and sends to, with those beyond a grid's edges, who are
 * none. False, and none, where there is no topology, or where MPI fails. */
static inline bool hl_mpi_neighbours(MPI_Comm mpi, int *in, int *out)
{
    int topology = MPI_UNDEFINED, is_weighted = 0, rank = 0;
    int code = PMPI_Topo_test(mpi, &topology);
    *in = *out = 0;
    if (!code && topology == MPI_DIST_GRAPH)
        return !PMPI_Dist_graph_neighbors_count(mpi, in, out, &is_weighted);
    if (!code && topology == MPI_GRAPH)
        code = PMPI_Comm_rank(mpi, &rank) || PMPI_Graph_neighbors_count(mpi, rank, in);
    else if (!code && topology == MPI_CART)
        code = PMPI_Cartdim_get(mpi, in);
    *in *= topology == MPI_CART ? 2 : 1;
    *out = *in;
    return !code && topology != MPI_UNDEFINED;
}

#endif
