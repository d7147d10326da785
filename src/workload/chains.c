/* Which threads call as one. */
#include "workload/chains.h"

void hl_workload_chain_threads(const haul_workload *workload, uint32_t *of)
{
    const haul_op *ops = workload->ops;
    for (uint32_t t = 0; t < workload->thread_count; t++)
        of[t] = HAUL_NONE;
    for (size_t i = 0; i < workload->op_count; i++)
        if (ops[i].thread != HAUL_NONE && ops[i].thread_prev == HAUL_NONE)
            of[ops[i].thread] = ops[i].thread;
    for (size_t i = 0; i < workload->op_count; i++)
        if (ops[i].thread != HAUL_NONE && of[ops[i].thread] == HAUL_NONE)
            of[ops[i].thread] = of[ops[ops[i].thread_prev].thread];
    for (uint32_t t = 0; t < workload->thread_count; t++)
        of[t] = of[t] == HAUL_NONE ? t : of[t];
}
