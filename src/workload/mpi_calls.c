#include "workload/mpi_calls.h"

#include <stdlib.h>

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

typedef struct placed_rank {
    uint32_t rank;
    uint32_t host;
} placed_rank;

/* Each rank once; hosts are counted by comparing all with all, of which there are few. */
hl_workload_mpi_layout hl_workload_mpi_layout_of(const haul_workload *workload, uint32_t comm)
{
    const hl_workload_owned_workload *const of = (const hl_workload_owned_workload *)workload;
    hl_workload_mpi_layout made = {0};
    hl_base_records ranks = {.size = sizeof(placed_rank)}, hosts = {.size = sizeof(uint32_t)};
    for (size_t i = 0; i < of->mpi_call_count; i++)
        if (of->mpi_calls[i].comm == comm) {
            const placed_rank one = {(uint32_t)of->mpi_calls[i].rank, of->mpi_calls[i].host};
            (void)hl_base_records_add(&ranks, &one);
            (void)hl_base_records_add(&hosts, &one.host);
        }
    size_t *const on = calloc(hosts.count + 1, sizeof *on);
    for (size_t i = 0; on && i < ranks.count; i++) {
        const uint32_t host =
            hl_base_records_find(&hosts, &((const placed_rank *)ranks.items)[i].host);
        if (host == HAUL_NONE)
            continue;
        on[host]++;
        made.most = on[host] > made.most ? on[host] : made.most;
    }
    made.ranks = on ? ranks.count : 0;
    made.hosts = hosts.count;
    free(on);
    hl_base_records_release(&ranks);
    hl_base_records_release(&hosts);
    return made;
}
