/* Launches as they are read: counters that a table does not have are NaN, which no profiler
 * prints. */
#include "kernel/kernel_records.h"

#include <math.h>

#include "base/grow.h"

bool haul_kernel_record_tells(const haul_kernel_record *record)
{
    for (int i = HAUL_COUNTER_SECONDS; i < HAUL_COUNTER_COUNT; i++)
        if (!isnan(record->counters.values[i]))
            return true;
    return false;
}

haul_kernel_record *haul_kernel_records_new(haul_kernel_records *records)
{
    if (!haul_grow(&records->items, &records->capacity, records->count + 1, sizeof *records->items))
        return NULL;
    haul_kernel_record *made = &records->items[records->count++];
    *made = (haul_kernel_record){0};
    haul_counters_clear(&made->counters);
    return made;
}
