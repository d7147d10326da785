/* Why no device works. */
#ifndef HAUL_WORKLOAD_IDLE_H
#define HAUL_WORKLOAD_IDLE_H

#include "haul/analysis.h"

/* Divides the time in which no device works among its causes, those of the most time first: they
 * add up to haul_analysis.idle_ns. Sets *causes, which the caller frees, to *count of them. Returns
 * NO_MEMORY. */
haul_status hl_workload_idle_causes(const haul_workload *workload, haul_idle_cause **causes,
                                    size_t *count, haul_error *error);

/* A cause in the words of a report's sentence. */
const char *hl_workload_idle_phrase(haul_idle_kind kind);

#endif
