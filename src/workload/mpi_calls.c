#include "workload/mpi_calls.h"

void hl_workload_mpi_call_add(hl_workload_builder *self, const hl_workload_mpi_call *call)
{
    if (hl_workload_builder_grow(self, &self->mpi_calls, &self->mpi_call_capacity,
                                 self->mpi_call_count + 1, sizeof *self->mpi_calls))
        self->mpi_calls[self->mpi_call_count++] = *call;
}

bool hl_workload_mpi_has_ranks(const haul_workload *workload)
{
    const hl_workload_owned_workload *const of = (const hl_workload_owned_workload *)workload;
    for (size_t i = 1; i < of->mpi_call_count; i++)
        if (of->mpi_calls[i].rank != of->mpi_calls[0].rank)
            return true;
    return false;
}
