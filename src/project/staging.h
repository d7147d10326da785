/* The host's share of pageable copies that a profile's device records leave out. */
#ifndef HAUL_PROJECT_STAGING_H
#define HAUL_PROJECT_STAGING_H

#include "haul/cost.h"
#include "project/size_class.h"

/* How long the call of an operation that returns at once takes: the median of the workload's own
 * such copies of pinned or device memory, else of its small pageable copies to the device, else of
 * its launches. Returns NO_MEMORY. */
haul_status hl_project_free_call(const haul_workload *workload, int64_t *call_ns,
                                 haul_error *error);

/* Of each class of pageable copies, the time that one call stages bytes while the device records no
 * copy, in staged_ns[classes->count]; 0 of other classes. CUPTI records the DMA alone: to the
 * device it starts when the first bytes are staged, to the host the call copies the last bytes out
 * when it has ended. That time is the class's median, less `free_call_ns` that any call takes, and
 * at most what the slowest host copies the bytes in: a call that takes longer did something else,
 * such as allocating memory. All 0 where `free_call_ns` is: then nothing tells staging from the
 * call itself. Returns NO_MEMORY. */
haul_status hl_project_staging_find(const haul_workload *workload,
                                    const hl_project_size_classes *classes, int64_t free_call_ns,
                                    uint32_t *staged_ns, haul_error *error);

/* The share of a pageable copy's predicted time that the profile's device would record. Times that
 * a program measured on a machine hold the staging, which the recorded calls hold already; figures
 * from elsewhere are of the device's clock (docs/models.md). `staged_ns` is that of the class, of
 * one copy. 1 of other copies. */
double hl_project_staging_device_share(const hl_project_size_class *one, uint32_t staged_ns,
                                       const haul_estimate *predicted);

#endif
