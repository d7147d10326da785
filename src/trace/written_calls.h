/* Ids in a workload that is written to a file: operations that one call issued share a correlation
 * id, and a wait names what it waits for. */
#ifndef HAUL_TRACE_WRITTEN_CALLS_H
#define HAUL_TRACE_WRITTEN_CALLS_H

#include "haul/workload.h"

typedef struct hl_trace_written_calls {
    uint32_t *ids;    /* of each operation, from 1; 0 where it has no call */
    uint32_t *first;  /* the operation that stands for call number `id` - 1 */
    uint32_t count;   /* of calls */
    uint32_t *waited; /* of each wait an operation that it waits for, else HAUL_NONE */
} hl_trace_written_calls;

/* Returns NO_MEMORY. */
haul_status hl_trace_written_calls_make(hl_trace_written_calls *self, const haul_workload *workload,
                                        haul_error *error);
void hl_trace_written_calls_release(hl_trace_written_calls *self);

/* The name of an operation's call: kernels have names of their own. */
const char *hl_trace_written_call_name(const haul_workload *workload, const haul_op *op);

#endif
