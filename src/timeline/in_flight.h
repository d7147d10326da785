/* How deep a recording's launch queues were. */
#ifndef HAUL_TIMELINE_IN_FLIGHT_H
#define HAUL_TIMELINE_IN_FLIGHT_H

#include "haul/workload.h"

/* The most operations of one stream that had been called and had not ended, when one of them was
 * called: a queue of the machine that recorded them holds as many at least. Needs 4 bytes an
 * operation while it runs. Returns NO_MEMORY. */
haul_status haul_in_flight_most(const haul_workload *workload, uint32_t *most, haul_error *error);

#endif
