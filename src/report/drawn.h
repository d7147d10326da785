/* What every drawing of a timeline asks of an operation. */
#ifndef HAUL_REPORT_DRAWN_H
#define HAUL_REPORT_DRAWN_H

#include "haul/report.h"

/* Whether a change took the operation away: it keeps its place on its stream, with no time. */
static inline bool haul_drawn_leaves_out(const haul_drawn *drawn, uint32_t op)
{
    return drawn->changed && drawn->spans && haul_op_on_device(&drawn->workload->ops[op]) &&
           drawn->spans[op].start_ns == drawn->spans[op].end_ns;
}

#endif
