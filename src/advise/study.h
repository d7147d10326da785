/* Making the study that the changes read. */
#ifndef HAUL_ADVISE_STUDY_H
#define HAUL_ADVISE_STUDY_H

#include "advise/change.h"
#include "base/fail.h"

/* Fills classes, waits and limits, with memory for times and gaps; the caller has filled the rest.
 */
haul_status haul_study_init(haul_study *self, haul_error *error);
void haul_study_release(haul_study *self);

/* The machine that recorded the workload, to predict changed copies on: its link fitted to the
 * profile's copies, the rest of the first machine of the catalogue with the same GPU, whose name is
 * then in *borrowed (the arena's), else NULL. The caller owns *machine. */
haul_status haul_recorded_machine(const haul_workload *workload, haul_arena *arena,
                                  haul_machine **machine, const char **borrowed, haul_error *error);

#endif
