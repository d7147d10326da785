/* Titles of a schedule's operations. */
#include <inttypes.h>
#include <stdio.h>

#include "simulate/plan.h"

/* A name of the file, else the number as errors and tables count, from 1 on. */
const char *haul_schedule_op(const haul_schedule *schedule, uint32_t op, char *buffer, size_t size)
{
    const haul_workload *workload = schedule->workload;
    if (workload->ops[op].name != HAUL_NONE)
        return haul_workload_string(workload, workload->ops[op].name);
    snprintf(buffer, size, "#%" PRIu32, op + 1);
    return buffer;
}

char *hl_simulate_schedule_quote(const haul_schedule *self, uint32_t op, char *buffer, size_t size)
{
    char number[24];
    const bool is_named = self->workload->ops[op].name != HAUL_NONE;
    const char *quote = is_named ? "'" : "";
    snprintf(buffer, size, "%s%.60s%s", quote, haul_schedule_op(self, op, number, sizeof number),
             quote);
    return buffer;
}
