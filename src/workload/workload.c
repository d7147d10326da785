#include "haul/workload.h"

#include <stdlib.h>

#include "workload/builder.h"

/* A workload that shares another's parts owns its operations, edges and streams alone. */
void haul_workload_free(haul_workload *workload)
{
    if (!workload)
        return;
    haul_owned_workload *owned = (haul_owned_workload *)workload;
    free((void *)workload->ops);
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
    haul_arena_release(&owned->arena);
    haul_strings_release(&owned->strings);
    free(owned);
}

const char *haul_workload_string(const haul_workload *workload, uint32_t id)
{
    const haul_owned_workload *owned = (const haul_owned_workload *)workload;
    return id < owned->strings.count ? owned->strings.texts[id] : "";
}
