/* The machine that recorded a trace, from the trace itself. */
#ifndef HAUL_PROJECT_RECORDING_H
#define HAUL_PROJECT_RECORDING_H

#include "haul/fit.h"
#include "project/contention.h"

/* Fits a curve to the copies of each direction and memory, freed of their collisions: through the
 * medians where there are few sizes, else through a point for every eight copies (four figures'
 * worth of evidence a figure), at least four and at most HAUL_CURVE_POINTS. `gpu`, which may be
 * NULL, is what is known besides. The caller owns *machine. */
haul_status haul_recording_fit(const haul_workload *workload, const haul_size_class *alike,
                               const haul_contention_fit *collisions, const haul_machine *gpu,
                               haul_machine **machine, haul_error *error);

/* The GPU that ran a trace: by its name from the catalogue, else as the trace's device table
 * describes it. Returns MISSING, with what to give, where neither knows it or where the
 * trace's GPUs differ. The caller owns *machine, which has a GPU and nothing else. */
haul_status haul_recording_gpu(const haul_workload *workload, haul_machine **machine,
                               haul_error *error);

/* The name of the trace's GPU where it is known and another than that of `machine`, else NULL. */
const char *haul_recording_other_gpu(const haul_workload *workload, const haul_machine *machine);

#endif
