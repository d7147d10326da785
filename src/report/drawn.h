/* Questions that every drawing of a timeline asks of an operation. */
#ifndef HAUL_REPORT_DRAWN_H
#define HAUL_REPORT_DRAWN_H

#include "haul/report.h"

/* Whether a change took the operation away: it keeps its place on its stream or thread, with no
 * time. */
static inline bool hl_report_drawn_leaves_out(const haul_drawn *drawn, uint32_t op)
{
    const haul_op *of = &drawn->workload->ops[op];
    return drawn->changed && drawn->spans && of->kind != HAUL_OP_SYNC &&
           drawn->spans[op].start_ns == drawn->spans[op].end_ns;
}

#endif
