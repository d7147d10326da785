#include "haul/workload.h"

#include <stdlib.h>

#include "workload/builder.h"

/* A workload that shares another's parts owns its operations, edges and streams alone. */
void haul_workload_free(haul_workload *workload)
{
    if (!workload)
        return;
    hl_workload_owned_workload *owned = (hl_workload_owned_workload *)workload;
    free((void *)workload->ops);
    free((void *)workload->operators);
    free((void *)workload->lines);
    free((void *)workload->stacks);
    free((void *)workload->edges);
    free((void *)workload->streams);
    if (owned->shares) {
        free(owned);
        return;
    }
    free((void *)workload->threads);
    free((void *)workload->devices);
    free((void *)workload->shapes);
    free((void *)workload->ranges);
    free((void *)workload->collectives);
    free((void *)workload->operands);
    free((void *)workload->missing);
    free((void *)workload->repairs);
    free((void *)workload->losses);
    free(owned->mpi_calls);
    hl_base_arena_release(&owned->arena);
    hl_base_strings_release(&owned->strings);
    free(owned);
}

const char *haul_workload_string(const haul_workload *workload, uint32_t id)
{
    const hl_workload_owned_workload *owned = (const hl_workload_owned_workload *)workload;
    /* a workload made by hand has no strings behind it */
    return id != HAUL_NONE && id < owned->strings.count ? owned->strings.texts[id] : "";
}
