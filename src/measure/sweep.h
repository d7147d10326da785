/* Copies of all sizes, kind by kind: what curves are fitted to. */
#ifndef HAUL_MEASURE_SWEEP_H
#define HAUL_MEASURE_SWEEP_H

#include "haul/fit.h"
#include "measure/session.h"

/* A kind of copies at all sizes: `first` is the point of one byte, L+o, with the sweep's usual
 * spread. */
typedef struct hl_measure_sweep {
    size_t count; /* 0: the device lacks the kind */
    haul_sample samples[HL_MEASURE_SWEEP_SIZES];
    double tolerance; /* by how much a median may be off, in percent */
    hl_measure_point_measured first;
    hl_measure_fresh fresh; /* sizes between, where copies are verified */
    haul_status status;     /* of the device, where it lacks the kind */
} hl_measure_sweep;

/* Sweeps `count` kinds of copies, at most HL_MEASURE_WAYS, in rounds. Keeps each size for a plot,
 * too. Kinds that the device lacks have a status and no samples: `error` tells of the last. */
haul_status hl_measure_sweeps(hl_measure_session *session, const hl_measure_way *ways, size_t count,
                              hl_measure_sweep *sweeps, haul_error *error);

#endif
