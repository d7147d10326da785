/* The times of kernels that a workload names by fitted kernel files: 'haul kernel fit -o FILE'. */
#ifndef HAUL_SIMULATE_FITTED_KERNELS_H
#define HAUL_SIMULATE_FITTED_KERNELS_H

#include "haul/kernel.h"
#include "haul/machine.h"

typedef struct hl_simulate_fitted_kernel hl_simulate_fitted_kernel;

typedef struct hl_simulate_fitted_kernels {
    const haul_machine *machine;
    const char *beside; /* the workload's file: names of files are from its folder on */
    hl_simulate_fitted_kernel *first; /* each is loaded once; NULL to begin with */
} hl_simulate_fitted_kernels;

/* The time of a kernel at a size on the machine, by the first of haul's kernel models. `id` stands
 * for `name`. Returns what is wrong with the file, MISSING where it has no measured times. */
haul_status hl_simulate_fitted_kernels_time(hl_simulate_fitted_kernels *self, uint32_t id,
                                            const char *name, double size, haul_estimate *out,
                                            haul_error *error);

void hl_simulate_fitted_kernels_release(hl_simulate_fitted_kernels *self);

#endif
