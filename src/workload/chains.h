/* Chains of calls: a thread's, or those of two threads that take turns (haul_op.thread_prev). */
#ifndef HAUL_WORKLOAD_CHAINS_H
#define HAUL_WORKLOAD_CHAINS_H

#include "haul/workload.h"

/* Sets of[t] for each thread to the one whose first call begins the chain of t's calls: itself
 * where it takes turns with none. `of` has room for all threads. */
void hl_workload_chain_threads(const haul_workload *workload, uint32_t *of);

#endif
