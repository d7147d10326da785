/* Calls of MPI in Nsight Systems' tables. Those of `haul record --mpi` tell more than Nsight's own:
 * which calls of other processes each met (workload/mpi_calls.h). */
#ifndef HAUL_TRACE_NSYS_MPI_H
#define HAUL_TRACE_NSYS_MPI_H

#include "trace/sqlite_source.h"
#include "trace/trace_builder.h"
#include "workload/mpi_calls.h"

/* A call that the profile tells. */
typedef struct hl_trace_nsys_mpi_row {
    hl_workload_mpi_call call; /* of HL_WORKLOAD_MPI_WAYS: of none that others met */
    uint64_t process;
    uint32_t name;
    uint32_t request;
} hl_trace_nsys_mpi_row;

/* Zero, but for the builder, is a reader. */
typedef struct hl_trace_nsys_mpi {
    hl_trace_builder *builder;
    hl_trace_nsys_mpi_row *rows, *waits; /* calls, and what completed requests */
    size_t row_count, row_capacity, wait_count, wait_capacity;
} hl_trace_nsys_mpi;

/* Reads the tables, so that names are known as met. */
haul_status hl_trace_nsys_mpi_read(hl_trace_nsys_mpi *self, hl_trace_source *source,
                                   haul_error *error);

/* Adds the calls, once operations are there. */
void hl_trace_nsys_mpi_join(hl_trace_nsys_mpi *self);

void hl_trace_nsys_mpi_release(hl_trace_nsys_mpi *self);

#endif
