/* Names of collective operations and of their kernels. */
#ifndef HAUL_WORKLOAD_COLLECTIVE_NAME_H
#define HAUL_WORKLOAD_COLLECTIVE_NAME_H

#include "haul/collective.h"

/* Whether a kernel of this name moves data between GPUs: NCCL's, RCCL's, NVSHMEM's, vLLM's. */
bool hl_workload_is_collective_name(const char *name);

/* The operation that a name tells: a kernel's, PyTorch's ("_allgather_base"), NVTX's
 * ("ncclAllReduce"). */
haul_collective_kind hl_workload_collective_named(const char *name);

#endif
