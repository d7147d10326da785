/* Strategies of overlap as workloads on a timeline. */
#ifndef HAUL_OVERLAP_SCHEDULE_H
#define HAUL_OVERLAP_SCHEDULE_H

#include "haul/overlap.h"

/* The device for haul_overlap_workload: the engines and synchronisation of the kind of device,
 * kernels one at a time, and the speed of copies that meet others, such that a copy in a row that
 * meets others from begin to end takes g and the G of a busy link. hybrid has two engines on every
 * device, for mapped memory crosses the link whatever they do (the paper's section VII). */
void hl_overlap_schedule_device(const haul_overlap_case *self, haul_strategy strategy,
                                uint32_t streams, haul_timeline_device *device);

#endif
